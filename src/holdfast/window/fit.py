"""Fits a draft into its window: which levels work, in which order, and when it is enough.

Pure: the same draft gives the same window, and fitting it again under its own decisions changes nothing.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from holdfast.messages import Message
from holdfast.tokens.budget import NEVER
from holdfast.tokens.estimate import Estimate
from holdfast.window.decisions import LAST, Proposal, level_of
from holdfast.window.last_resort import last_resort
from holdfast.window.levels import leave_out, shorten_at_entry, shorten_older
from holdfast.window.view import Draft, View

# A level works again only after history has grown by this share since it last did.
GROWTH = 0.10
# The least share of history that a batch must free to be worth the lost prefix; level 1 alone must free more,
# and end this far below its threshold.
LEAST_FREED, FREED_ALONE, WELL_BELOW = 0.10, 0.20, 0.80
# In a tool loop a summary is due at the same mark: a batch that frees less than this share only puts it off.
FREED_IN_LOOP = 0.30

STRATEGIES = {0: "entry", 1: "prune", 2: "relevance", 3: "summary", LAST: "last"}


@dataclass(frozen=True, slots=True)
class Batch:
    """What one level did for one window."""

    level: int
    strategy: str
    proposals: tuple[Proposal, ...]
    tokens_before: int
    tokens_after: int

    @property
    def messages(self) -> int:
        return len({name for proposal in self.proposals for name in proposal.messages})


@dataclass(frozen=True, slots=True)
class FittedWindow:
    """A window, and the decisions that were needed for it."""

    view: View
    batches: tuple[Batch, ...]
    fired: dict[int, int]
    # The view before the last resort took something out; None if it was not needed.
    whole: View | None = None

    def before_last_resort(self) -> "FittedWindow":
        """The window as the levels left it: too large, if the last resort was needed."""
        batches = tuple(batch for batch in self.batches if batch.level != LAST)
        return self if self.whole is None else FittedWindow(self.whole, batches, self.fired)

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.view.messages

    @property
    def total(self) -> Estimate:
        return self.view.total

    @property
    def level(self) -> int:
        """The highest level that had an effect on this window."""
        names = {shown.item.id for shown in self.view.shown} | self.view.rendered.out.keys()
        return level_of(
            decision
            for decision in self.view.decisions
            if names.intersection(decision.messages)
            or not decision.messages
            or decision.id == self.view.rendered.summarised
        )


def fit(
    draft: Draft,
    proposals: Iterable[Proposal] = (),
    *,
    levels: bool = True,
    every_turn: bool = False,
    at_least: int = 0,
) -> FittedWindow:
    """Fit a draft, with what is proposed already. Without `levels` only the last resort may work."""
    return fit_view(View(draft, proposals), levels=levels, every_turn=every_turn, at_least=at_least)


def fit_view(view: View, *, levels: bool = True, every_turn: bool = False, at_least: int = 0) -> FittedWindow:
    """Fit a view.

    `at_least` is a level that must work whatever the numbers say, because a server refused the request; with
    `every_turn` old text is shortened on every turn.
    """
    batches: list[Batch] = []
    due: set[int] = set()
    if levels:
        view, batches = _apply_level(view, [], 0, shorten_at_entry)
        due = {level for level, mark in _marks(view) if level <= at_least or _is_due(view, level, mark)}
        if every_turn:
            due.add(1)
        view, batches = _apply_batch(view, batches, due, forced=every_turn or at_least > 0)
    whole = None
    if not view.fits:
        whole = view
        before, known = view.total.high, len(view.proposals)
        view = last_resort(view).because(known, f"the request had {before:,} of {view.room:,} tokens")
        if proposals := view.proposals[known:]:
            batches.append(Batch(LAST, STRATEGIES[LAST], proposals, before, view.total.high))
    # What another level or an edit removed need not grow back before a level may work again. A negative
    # number says that the level was undone: from here on history has to grow.
    fired = {
        level: view.history if tokens < 0 else min(tokens, view.history)
        for level, tokens in view.draft.fired.items()
    }
    return FittedWindow(view, tuple(batches), fired | dict.fromkeys(due, view.history), whole)


def _apply_batch(
    view: View, batches: list[Batch], due: set[int], *, forced: bool
) -> tuple[View, list[Batch]]:
    """Apply levels 1 and 2 together, if that is worth the lost prefix."""
    if not due:
        return view, batches
    marks = dict(_marks(view))
    low = int(min(marks.values()) * WELL_BELOW)
    after, longer = view, batches
    if 1 in due or marks[1] < NEVER:
        # Shortening comes first where a preset has it: less has to be left out then.
        after, longer = _apply_level(after, longer, 1, shorten_older)
    if 2 in due and (forced or after.history > low):
        after, longer = _apply_level(after, longer, 2, leave_out)
    share = LEAST_FREED if 2 in due else FREED_ALONE
    if view.in_loop and view.history >= view.thresholds.summarise:
        share = FREED_IN_LOOP
    enough = view.history - int(view.thresholds.full * share)
    if 2 not in due:
        # Alone, level 1 must free much and end well below its threshold, or it would soon be due again.
        enough = min(low, enough)
    return (after, longer) if forced or after.history <= enough else (view, batches)


def _apply_level(
    view: View, batches: list[Batch], level: int, propose: Callable[[View], list[Proposal]]
) -> tuple[View, list[Batch]]:
    reason = f"history had {view.history:,} of {view.thresholds.full:,} tokens"
    proposals = tuple(replace(proposal, reason=reason) for proposal in propose(view))
    if not proposals:
        return view, batches
    after = view.having(*proposals)
    return after, [*batches, Batch(level, STRATEGIES[level], proposals, view.total.high, after.total.high)]


def _marks(view: View) -> tuple[tuple[int, int], ...]:
    return (1, view.thresholds.prune), (2, view.thresholds.leave_out)


def _is_due(view: View, level: int, threshold: int) -> bool:
    if view.history < threshold:
        return False
    last = view.draft.fired.get(level)
    return last is None or (last >= 0 and view.history >= last + view.thresholds.full * GROWTH)
