"""Level 3: which messages a summary replaces, and when it is time for one.

Reads a view and proposes one decision. The text of the summary is written elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.window.additions import remove_additions
from holdfast.window.decisions import Proposal, Summarise
from holdfast.window.items import Item, Unit, units_of
from holdfast.window.levels import sentences_to_keep
from holdfast.window.view import ShownMessage, View, block

# The number of newest exchanges that stay word for word, where possible.
EXCHANGES = 2
# The number of rounds that stay in a tool loop, however long the exchange is.
_ROUNDS = 2
# The share of its possible size that history has at most after a summary, where that can be reached.
TARGET = 0.40
# The share of the threshold that it has at most, where a preset begins early.
BELOW_MARK = 0.6
# A summary with its rules and decisions has at most this share of what it replaces.
SHARE_OF_SPAN = 0.15
# A window that gets smaller by less than this is not worth the lost prefix.
LEAST_SAVED = 0.10
# The share of its possible size by which history must have grown since the last time.
GROWTH = 0.10
# The number of attempts without success after which history has to grow before the next one.
FRUITLESS = 2
# The share of the summary's room that rules and decisions may take word for word.
_SENTENCES = 1 / 3


@dataclass(frozen=True, slots=True)
class SummaryAttempts:
    """When summarising last succeeded, at which depth, and how often it failed since."""

    at: float = 0.0
    depth: int = -1
    talk: int = 0
    fruitless: int = 0


@dataclass(frozen=True, slots=True)
class Cooldown:
    """What has to pass after a summary before the next one."""

    seconds: float = 30.0
    messages: int = 2

    def holds(self, tried: SummaryAttempts, now: float, depth: int) -> bool:
        """Whether it is too early: both have to pass since a success."""
        if tried.depth < 0:
            return False
        return now - tried.at < self.seconds or depth - tried.depth < self.messages


@dataclass(frozen=True, slots=True)
class Border:
    """Up to `through` all messages leave except `keep`; `gone` are those of them in the window now."""

    through: str
    depth: int
    keep: tuple[str, ...]
    gone: tuple[str, ...]


def talk(view: View) -> int:
    """Return the tokens of all messages in the window, without the quotes that were added."""
    return max(0, view.total.high - view.cost(()).high - view.evidence_tokens(view.shown))


def is_due(view: View, left: int) -> bool:
    """Whether it is time to summarise ahead of need; `left` are the tokens left out since the last summary.

    They count because the summary has to replace them, too; leaving out would put it off forever otherwise.
    """
    marks = view.thresholds_beside(view.cost(()).high)
    return talk(view) + left >= marks.ahead


def border(view: View, upto: int | None = None, *, fills: bool = True) -> Border | None:
    """Return the last message a summary should replace, no deeper than `upto`; None if nothing has to leave.

    Whole exchanges go, oldest first, until the others have their share of the window; without `fills`, all
    but the last two. When one exchange alone fills the window, its rounds of tools go.
    """
    items = [shown.item for shown in view.shown]
    units = units_of(items)
    if not units:
        return None
    free = [unit for unit in units if upto is None or all(item.depth <= upto for item in unit.items)]
    newest = {item.id for item in view.newest}
    staying = view.pins | view.list_vetoes("summarise") | newest
    last = units[-1].exchange
    most = int(
        min(TARGET * view.thresholds.full, BELOW_MARK * min(view.thresholds.ahead, view.thresholds.summarise))
    )
    result: Border | None = None
    fitting = _exchanges_within(view, units, most) if fills else EXCHANGES
    if fitting > last:
        return None
    for exchanges in range(max(fitting, EXCHANGES), -1, -1):
        gone = [
            unit
            for unit in free
            if unit.exchange <= last - max(exchanges, 1) or (exchanges == 0 and _is_old_round(unit, units))
        ]
        result = _border_after(items, gone, staying) or result
        if _remaining(view, result) <= most:
            break
    return result


def _exchanges_within(view: View, units: Sequence[Unit], most: int) -> int:
    """Return how many of the newest exchanges, the open one included, have at most so many tokens."""
    by_id = {shown.item.id: shown for shown in view.shown}
    fixed = {item.id for item in view.newest}
    left, number = most, 0
    for exchange in range(units[-1].exchange, -1, -1):
        items = (item for unit in units if unit.exchange == exchange for item in unit.items)
        left -= sum(view.own_tokens(by_id[item.id]) for item in items if item.id not in fixed)
        if left < 0:
            break
        number += 1
    return number


def _is_old_round(unit: Unit, units: Sequence[Unit]) -> bool:
    rounds = [other for other in units if other.exchange == unit.exchange and not other.is_frame]
    return not unit.is_frame and unit in rounds[:-_ROUNDS]


def _border_after(
    items: Sequence[Item], units: Sequence[Unit], staying: frozenset[str] | set[str]
) -> Border | None:
    leaving = [item for unit in units for item in unit.items if item.depth >= 0]
    if not leaving:
        return None
    # A message that must stay keeps its unit and its question: no call without its result.
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


def _remaining(view: View, border: Border | None) -> int:
    away = {item.id for item in view.newest} | set(border.gone if border else ())
    staying = [shown for shown in view.shown if shown.item.id not in away]
    lent = view.evidence_tokens(staying)
    return max(0, view.cost(shown.message for shown in staying).high - view.cost(()).high - lent)


def may_try(view: View, tried: SummaryAttempts, cooldown: Cooldown, now: float, depth: int) -> bool:
    """Whether enough has happened since the last time."""
    if cooldown.holds(tried, now, depth):
        return False
    if tried.depth < 0 and tried.fruitless < FRUITLESS:
        return True
    return talk(view) >= tried.talk + GROWTH * view.thresholds.full


def room_for_text(view: View, border: Border, span: int) -> tuple[int, tuple[str, ...]]:
    """Return the tokens for the summary beside rules and decisions, and these, which stay word for word.

    `span` are the tokens it replaces: a summary is to be much shorter than that.
    """
    leaving = _leaving(view, border)
    carried = sentences_to_keep(view, leaving)
    groups = (carried["rules"], carried["agreed"], carried["forbidden"])
    sentences = tuple(sentence for group in groups for _, sentence in group)
    most = view.draft.budget.summary
    span = max(span, sum(view.tokens(shown.message) for shown in leaving))
    most = min(most, max(most * 3 // 4, int(span * SHARE_OF_SPAN)))
    # Prohibitions have room of their own.
    beside = view.text_tokens(block("", carried["rules"], carried["agreed"]))
    return max(int(most * (1 - _SENTENCES)), most - beside), sentences


def propose_summary(view: View, border: Border, text: str, summary: str, reason: str) -> Summarise:
    """Return the decision that puts a summary in the place of what leaves.

    Both figures count what stands in the window, with the sentences that are kept word for word: before it
    the messages and the previous summary, after it the new one.
    """
    leaving = _leaving(view, border)
    carried = sentences_to_keep(view, leaving)
    previous = block(view.rendered.summary, view.rules, view.agreed, view.forbidden)
    return Summarise(
        "summary",
        border.gone,
        sum(view.tokens(shown.message) for shown in leaving)
        + (view.text_tokens(previous) if previous else 0),
        view.text_tokens(block(text, **carried)),
        through=border.through,
        depth=border.depth,
        keep=border.keep,
        at=(border.through, border.depth),
        text=text,
        summary=summary,
        reason=reason,
        **carried,
    )


def clear_quotes(view: View, border: Border) -> list[Proposal]:
    """Remove the quotes for earlier questions with it: their prefix is lost in any case."""
    away = {item.id for item in view.newest} | set(border.gone)
    quotes = [
        (shown.item.id, addition)
        for shown in view.shown
        if shown.item.id not in away
        for addition in shown.additions
        if addition.is_evidence
    ]
    return remove_additions(view, quotes, "recalled_old", "a summary was made")


def _leaving(view: View, border: Border) -> list[ShownMessage]:
    gone = set(border.gone)
    return [shown for shown in view.shown if shown.item.id in gone]
