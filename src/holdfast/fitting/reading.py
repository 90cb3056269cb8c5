"""A conversation as people read it: its messages, and a banner where the older part became a summary.

Reads log, decisions and summaries of the window that was last used. A banner is made from its decision each
time; it is no message of the log.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.conversations.shown import conversation_out, draft_out, message_out
from holdfast.fitting.account import pins_of
from holdfast.fitting.lot import item_of
from holdfast.store import Conversation, Decision, Draft, Store, Stored
from holdfast.window import sentences
from holdfast.window.decisions import Applied


@dataclass(frozen=True, slots=True)
class Banner:
    """Where a summary took over. It stands for the first `covers` messages of the conversation."""

    decision: Decision
    covers: int
    tokens_before: int
    tokens_after: int

    @property
    def text(self) -> str:
        return sentences.banner(self.tokens_before, self.tokens_after)

    def to_json(self) -> dict[str, Any]:
        return {
            "id": None,
            "role": "system",
            "type": "compaction",
            "content": self.text,
            "decision": self.decision.id,
            "covers": self.covers,
            "tokens_before": self.tokens_before,
            "tokens_after": self.tokens_after,
            "created_at": self.decision.created_at,
        }


@dataclass(frozen=True, slots=True)
class Reading:
    """`banners` are named by the message they stand behind; `summary` is the text that is in force now."""

    conversation: Conversation
    path: tuple[Stored, ...]
    drafts: tuple[Draft, ...]
    pins: frozenset[str]
    banners: Mapping[str, tuple[Banner, ...]]
    summary: str

    def to_json(self) -> dict[str, Any]:
        entries: list[dict[str, Any]] = []
        for stored in self.path:
            entries.append(message_out(stored, self.pins))
            entries += [banner.to_json() for banner in self.banners.get(stored.id, ())]
        entries += [draft_out(draft) for draft in self.drafts]
        return {
            "chat": conversation_out(self.conversation),
            "messages": entries,
            "compaction_summary": self.summary or None,
        }


def reading_of(store: Store, conversation: Conversation) -> Reading:
    path = store.log.path(conversation.head) if conversation.head else []
    used = store.lanes.of(conversation.id)
    decisions = store.decisions.of(used[0].id) if used else []
    ways = {stored.id for stored in path}
    banners: dict[str, tuple[Banner, ...]] = {}
    for made in decisions:
        # What was summarised before an edit further up was never said in what is read now.
        if made.kind == "summarise" and (through := made.data["through"]) in ways:
            banners[through] = (*banners.get(through, ()), _banner(store, made))
    return Reading(
        conversation,
        tuple(path),
        tuple(store.drafts.of(conversation.id)),
        frozenset(pins_of(store, conversation)),
        banners,
        Applied.of(decisions, [item_of(stored) for stored in path]).summary,
    )


def _banner(store: Store, made: Decision) -> Banner:
    """Not from the statistics, which are forgotten one day: what is said here stays the same."""
    summary = store.summaries.get(made.data["summary"])
    before = max(made.tokens_before, summary.tokens if summary else 0)
    return Banner(made, made.data["depth"] + 1, before, made.tokens_after)
