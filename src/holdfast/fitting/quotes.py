"""Bringing back: what a new question points at and the window does not have, quoted behind it.

Finding is done in `conversations`, how quotes are written in `window`; here it is decided if to look, and
how much room there is.
"""

from collections.abc import Iterator, Sequence

from holdfast.conversations.recall import asks, bring_back
from holdfast.fitting.lot import Kept, Lot
from holdfast.messages import Message
from holdfast.store import Store, new_id
from holdfast.window.additions import addition, dropped_recall, quoted
from holdfast.window.decisions import Addition, Proposal
from holdfast.window.pasted import typed
from holdfast.window.view import View
from holdfast.words import telling, terms

# With less room than this nothing is brought back until something else has left.
_LEAST = 40
# So much of what is asked about makes a quote worth that.
_CLEAR = 0.5


def may_quote(view: View, lot: Lot) -> bool:
    """Whether there is a question that nothing was quoted for yet, and anything that the window lacks."""
    question = view.question
    if question is None or question.depth < 0 or question is not view.shown[-1].item:
        return False
    if any(one.section == "recalled" for one in view.shown[-1].additions):
        return False
    return not lot.is_whole or len(_whole(view)) != len(lot.items)


def _whole(view: View) -> set[str]:
    return {shown.item.id for shown in view.shown if not shown.rules or shown.rules == ("thinking",)}


def quotes_for(store: Store, view: View, kept: Kept, lot: Lot) -> list[Proposal]:
    """The decisions that put quotes behind the question; none where it points at nothing that is missing."""
    question = view.question
    if question is None or not may_quote(view, lot):
        return []
    # The question itself is no place to find what it asks for.
    before = [item.id for item in lot.items if 0 <= item.depth < question.depth]
    if not before:
        return []
    cap = view.draft.budget.recalled
    room = min(cap - replayed(view), cap // 2)
    leaving = dropped_recall(view) if room < _LEAST else []
    if leaving:
        room = cap - replayed(view) + sum(proposal.tokens_before for proposal in leaving)
    pointing = about(question.message)
    assert kept.conversation is not None
    found = bring_back(
        store,
        kept.conversation.tree,
        pointing,
        head=before[-1],
        within=_whole(view) - {question.id},
        room=room,
        count=view.text_tokens,
    )
    there = [one.text for one in _recalled(view) if one.decision not in _names(leaving)]
    found = [one for one in found if not any(one.text in text for text in there)]
    if leaving:
        # Making room costs the prefix: what is asked for by its name is worth that, or most of what is asked.
        named, clear = telling(pointing.text), _CLEAR if asks(pointing.text) else 1.0
        found = [one for one in found if one.share >= clear or named.intersection(terms(one.text))]
    if not found:
        return []
    text = quoted(question.message, [(one.at, one.role, one.text) for one in found])
    origin = [{"message": one.message, "why": one.why} for one in found]
    return [*leaving, addition(view, question, "recalled", text, new_id("d"), sources=origin)]


def about(question: Message) -> Message:
    """What points at something: of a statement only what was typed, for what is pasted with it is news."""
    said = typed(question.text).strip()
    return question if not said or asks(said) else Message.of("user", said)


def _names(leaving: Sequence[Proposal]) -> set[str]:
    """The quotes that leave."""
    return {name for proposal in leaving for name in proposal.data["instead"]}


def _recalled(view: View) -> Iterator[Addition]:
    return (one for shown in view.shown for one in shown.additions if one.section == "recalled")


def replayed(view: View) -> int:
    """Tokens of all that was brought back and is still in the window."""
    return sum(view.text_tokens(one.text) for one in _recalled(view))
