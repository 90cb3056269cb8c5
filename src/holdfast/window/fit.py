"""From a draft to a window that fits: which level does something, in which order, and when it is enough.

Pure: the same draft gives the same window, and a window made again under its own decisions stays as it is.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from holdfast.messages import Message
from holdfast.tokens.estimate import Estimate
from holdfast.window.decisions import LAST, Proposal, level_of
from holdfast.window.last import last_resort
from holdfast.window.prune import at_entry, older
from holdfast.window.relevance import leave_out
from holdfast.window.view import Draft, View

# A level does something again only after history has grown by this share since it last did.
GROWTH = 0.10


@dataclass(frozen=True, slots=True)
class Batch:
    """What one level did in one go."""

    level: int
    strategy: str
    proposals: tuple[Proposal, ...]
    tokens_before: int
    tokens_after: int

    @property
    def messages(self) -> int:
        return len({name for proposal in self.proposals for name in proposal.messages})


@dataclass(frozen=True, slots=True)
class Fitted:
    """A window, and what had to be decided for it."""

    view: View
    batches: tuple[Batch, ...]
    fired: dict[int, int]

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.view.messages

    @property
    def total(self) -> Estimate:
        return self.view.total

    @property
    def level(self) -> int:
        """The highest level that has left its mark on this window."""
        names = {shown.item.id for shown in self.view.shown} | self.view.rendered.out.keys()
        return level_of(
            decision
            for decision in self.view.decisions
            if names.intersection(decision.messages) or not decision.messages
        )


def fit(
    draft: Draft,
    proposals: Iterable[Proposal] = (),
    *,
    levels: bool = True,
    every_turn: bool = False,
    at_least: int = 0,
) -> Fitted:
    """Makes the draft fit, with what is proposed already. Without `levels` only the last resort may work.

    `at_least` is a level that must do its work whatever the numbers say, because a server said otherwise;
    with `every_turn` old text is shortened on every turn.
    """
    view = View(draft, proposals)
    batches: list[Batch] = []
    due: set[int] = set()

    def work(level: int, strategy: str, does: Callable[[View], list[Proposal]]) -> None:
        nonlocal view
        made, before = does(view), view.total.high
        if made:
            view = view.having(*made)
            batches.append(Batch(level, strategy, tuple(made), before, view.total.high))

    if levels:
        work(0, "entry", at_entry)
        if every_turn or at_least >= 1 or _is_due(view, 1, view.thresholds.prune):
            due.add(1)
            work(1, "prune", older)
        if at_least >= 2 or _is_due(view, 2, view.thresholds.leave_out):
            due.add(2)
            work(2, "relevance", leave_out)
    if not view.fits:
        before, known = view.total.high, len(view.proposals)
        view = last_resort(view)
        if made := view.proposals[known:]:
            batches.append(Batch(LAST, "last", made, before, view.total.high))
    # What another level or an edit took away need not grow back before a level may work again. A negative
    # number says that somebody undid the level: from here on history has to grow.
    fired = {
        level: view.history if tokens < 0 else min(tokens, view.history)
        for level, tokens in draft.fired.items()
    }
    return Fitted(view, tuple(batches), fired | dict.fromkeys(due, view.history))


def _is_due(view: View, level: int, threshold: int) -> bool:
    if view.history < threshold:
        return False
    last = view.draft.fired.get(level)
    return last is None or (last >= 0 and view.history >= last + view.thresholds.full * GROWTH)
