"""Where a summary takes over: which messages it may stand for, and when it is time.

Looks at a view and proposes one decision. What the summary says is written elsewhere; the clock is handed in.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.window.decisions import BEGINNING, Proposal
from holdfast.window.items import Item, Unit, units_of
from holdfast.window.levels import sentences_to_keep
from holdfast.window.view import View, block

# So many exchanges, the newest, stay as they were said at least, where that can be.
EXCHANGES = 2
# In a tool loop so many rounds stay, however long the exchange is.
_ROUNDS = 2
# After it history has at most this share of what it can have, where that can be reached.
TARGET = 0.40
# And this share of where summarising begins, where a preset begins early.
BELOW_MARK = 0.6
# With its rules and decisions, a summary has at most this share of what it stands for.
SHARE_OF_SPAN = 0.15
# A window that is not at least this much smaller was not worth its prefix.
LEAST_SAVED = 0.10
# Since the last time history must have grown by this share of what it can have.
GROWTH = 0.10
# After so many tries that came to nothing it has to grow before the next one.
FRUITLESS = 2
# Of the summary's room, rules and decisions word for word take at most this share.
_SENTENCES = 1 / 3


@dataclass(frozen=True, slots=True)
class SummaryAttempts:
    """How it went before: when it last succeeded, at which depth, and how often it came to nothing since."""

    at: float = 0.0
    depth: int = -1
    talk: int = 0
    fruitless: int = 0


@dataclass(frozen=True, slots=True)
class Cooldown:
    seconds: float = 30.0
    messages: int = 2

    def holds(self, tried: SummaryAttempts, now: float, depth: int) -> bool:
        """Whether it is too early: both have to pass, since a success."""
        if tried.depth < 0:
            return False
        return now - tried.at < self.seconds or depth - tried.depth < self.messages


@dataclass(frozen=True, slots=True)
class Border:
    """Up to `through` everything leaves but for `keep`; `gone` is what is in the window of it now."""

    through: str
    depth: int
    keep: tuple[str, ...]
    gone: tuple[str, ...]


def talk(view: View) -> int:
    """What is said in the window, the newest message included; evidence for a question is only lent."""
    return max(0, view.total.high - view.cost(()).high - view.recalled)


def is_due(view: View, left: int) -> bool:
    """Whether it is time to summarise ahead of need; `left` is what was left out since the last summary.

    That counts as well: it is what a summary has to stand for, and leaving out alone would put it off for
    ever.
    """
    marks = view.draft.budget.thresholds(view.cost(()).high)
    return talk(view) + left >= marks.ahead


def border(view: View, upto: int | None = None, *, fills: bool = True) -> Border | None:
    """The last message a summary should stand for, no deeper than `upto`; None if nothing has to leave.

    Exchanges go whole, oldest first, until the rest has its share of the window; without `fills`, all but the
    last two. When one alone fills the window, its rounds of tools go.
    """
    items = [shown.item for shown in view.shown]
    units = units_of(items)
    if not units:
        return None
    free = [unit for unit in units if upto is None or all(item.depth <= upto for item in unit.items)]
    newest = {item.id for item in view.newest}
    staying = view.pins | view.vetoed("summarise") | newest
    last = units[-1].exchange
    most = int(
        min(TARGET * view.thresholds.full, BELOW_MARK * min(view.thresholds.ahead, view.thresholds.summarise))
    )
    found: Border | None = None
    fitting = _exchanges_within(view, units, most) if fills else EXCHANGES
    if fitting > last:
        return None
    for exchanges in range(max(fitting, EXCHANGES), -1, -1):
        gone = [
            unit
            for unit in free
            if unit.exchange <= last - max(exchanges, 1) or (exchanges == 0 and _is_old_round(unit, units))
        ]
        found = _border(items, gone, staying) or found
        if _left(view, found) <= most:
            break
    return found


def _exchanges_within(view: View, units: Sequence[Unit], most: int) -> int:
    """How many of the newest exchanges, the open one included, have at most so many tokens."""
    shown = {one.item.id: one for one in view.shown}
    fixed = {item.id for item in view.newest}
    left, number = most, 0
    for exchange in range(units[-1].exchange, -1, -1):
        items = (item for unit in units if unit.exchange == exchange for item in unit.items)
        left -= sum(view.said_tokens(shown[item.id]) for item in items if item.id not in fixed)
        if left < 0:
            break
        number += 1
    return number


def _is_old_round(unit: Unit, units: Sequence[Unit]) -> bool:
    rounds = [one for one in units if one.exchange == unit.exchange and not one.is_frame]
    return not unit.is_frame and unit in rounds[:-_ROUNDS]


def _border(
    items: Sequence[Item], units: Sequence[Unit], staying: frozenset[str] | set[str]
) -> Border | None:
    leaving = [item for unit in units for item in unit.items if item.depth >= 0]
    if not leaving:
        return None
    # What must stay keeps the unit it stands in, and its question: no call without its result.
    with_held = {unit.exchange for unit in units if unit.has(staying)}
    held = {
        item.id
        for unit in units
        if unit.has(staying) or (unit.is_frame and unit.exchange in with_held)
        for item in unit.items
    }
    end = max(leaving, key=lambda item: item.depth)
    names = {item.id for item in leaving} - held
    if not names:
        return None
    keep = tuple(item.id for item in items if 0 <= item.depth <= end.depth and item.id not in names)
    return Border(end.id, end.depth, keep, tuple(item.id for item in items if item.id in names))


def _left(view: View, border: Border | None) -> int:
    gone = set(border.gone) if border else set()
    fixed = {item.id for item in view.newest}
    staying = [one for one in view.shown if one.item.id not in gone and one.item.id not in fixed]
    lent = view.recalled if any(one.item is view.question for one in staying) else 0
    return max(0, view.cost(one.message for one in staying).high - view.cost(()).high - lent)


def may_try(view: View, tried: SummaryAttempts, cooldown: Cooldown, now: float, depth: int) -> bool:
    """Whether enough has happened since the last time; the clock is the caller's."""
    if cooldown.holds(tried, now, depth):
        return False
    if tried.depth < 0 and tried.fruitless < FRUITLESS:
        return True
    return talk(view) >= tried.talk + GROWTH * view.thresholds.full


def room_for_text(view: View, border: Border, span: int) -> tuple[int, tuple[str, ...]]:
    """What is left for the summary itself beside rules and decisions, and these, which stay word for word.

    `span` is what it stands for: a summary is to be much shorter than that.
    """
    carried = _carried_sentences(view, border)
    told = tuple(said for kept in carried.values() for _, said in kept)
    most = view.draft.budget.summary
    gone = set(border.gone)
    span = max(span, sum(view.tokens(one.message) for one in view.shown if one.item.id in gone))
    most = min(most, max(most * 3 // 4, int(span * SHARE_OF_SPAN)))
    # What is forbidden has room of its own.
    beside = view.text_tokens(block("", carried["rules"], carried["agreed"]))
    return max(int(most * (1 - _SENTENCES)), most - beside), told


def propose_summary(view: View, border: Border, text: str, summary: str, reason: str) -> Proposal:
    """The decision that puts a summary in the place of what leaves."""
    carried = _carried_sentences(view, border)
    gone = set(border.gone)
    tokens = sum(view.tokens(one.message) for one in view.shown if one.item.id in gone)
    if view.rendered.summary:
        # The last summary leaves as well.
        tokens += view.text_tokens(view.rendered.summary)
    data = {
        "through": border.through,
        "depth": border.depth,
        "keep": list(border.keep),
        "at": [border.through, border.depth],
        "text": text,
        "summary": summary,
        **{name: [list(one) for one in kept] for name, kept in carried.items()},
    }
    return Proposal("summarise", "summary", border.gone, tokens, view.text_tokens(text), reason, data)


def clear_quotes(view: View, border: Border) -> list[Proposal]:
    """Quotes brought in for earlier questions leave with it: their prefix is lost in any case."""
    gone, newest = set(border.gone), {item.id for item in view.newest}
    quotes = [
        (shown.item.id, one)
        for shown in view.shown
        if shown.item.id not in gone and shown.item.id not in newest
        for one in shown.additions
        if one.section == "recalled" and one.name != BEGINNING
    ]
    if not quotes:
        return []
    tokens = sum(view.text_tokens(one.text) for _, one in quotes)
    names = tuple(dict.fromkeys(name for name, _ in quotes))
    data = {"instead": {one.decision: "" for _, one in quotes}}
    return [Proposal("replace", "recalled_old", names, tokens, 0, "a summary was made", data)]


def _carried_sentences(view: View, border: Border) -> dict[str, tuple[tuple[str, str], ...]]:
    gone = set(border.gone)
    return sentences_to_keep(view, [one for one in view.shown if one.item.id in gone])
