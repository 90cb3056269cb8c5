"""Another window size is another lane, which has decided nothing yet: what belongs to questions goes along.

Files and sources that were put behind questions in the window that was used last stand behind them in this
one too, as they stand there now. What of it there is room for is decided as ever.
"""

from dataclasses import replace

from holdfast.conversations import lanes
from holdfast.fitting.case import recalls
from holdfast.store import Decision, Store, new_id
from holdfast.window.decisions import Add, Proposal, read_decision
from holdfast.window.view import View

_SECTIONS = ("files", "research")


def taken_over(store: Store, view: View, lane: lanes.Lane) -> list[Proposal]:
    """What a lane that is new has from the one before it; nothing where the conversation is new as well."""
    before = next((one for one in store.lanes.of(lane.conversation) if one.id != lane.id), None)
    if before is None:
        return []
    made = store.decisions.of(before.id)
    instead: dict[str, str] = {}
    for one in made:
        instead |= one.data.get("instead", {})
    there = {shown.item.id for shown in view.shown}
    return [
        _proposed(view, one, instead.get(one.id))
        for one in made
        if one.kind == "add"
        and one.data["section"] in _SECTIONS
        # What bears on the question is looked for anew, for whoever may be told.
        and not recalls(one)
        and there.issuperset(one.messages)
        and instead.get(one.id) != ""
    ]


def _proposed(view: View, made: Decision, instead: str | None) -> Proposal:
    add = read_decision(made)
    assert isinstance(add, Add)
    if instead is not None:
        add = replace(add, text=instead, short="")
    tokens, reason = view.text_tokens(add.text), "it stood in another window"
    return replace(add, tokens_before=0, tokens_after=tokens, reason=reason, id=new_id("d"))
