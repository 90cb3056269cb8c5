"""A conversation as people read it: its messages, and a banner where the older part became a summary.

Reads log, decisions and summaries of the window that was last used. A banner is made from its decision each
time; it is no message of the log.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.conversations.serialization import serialize_conversation, serialize_draft, serialize_message
from holdfast.errors import NotFound
from holdfast.fitting.account import pins_of
from holdfast.fitting.lot import item_of
from holdfast.store import Conversation, Decision, Draft, Store, Stored
from holdfast.window import sentences
from holdfast.window.decisions import AppliedDecisions


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
    # The first and the last message of `path`, if there are older or newer ones that were not read.
    older: str | None = None
    newer: str | None = None

    def to_json(self) -> dict[str, Any]:
        entries: list[dict[str, Any]] = []
        for stored in self.path:
            entries.append(serialize_message(stored, self.pins))
            entries += [banner.to_json() for banner in self.banners.get(stored.id, ())]
        entries += [serialize_draft(draft) for draft in self.drafts]
        return {
            "chat": serialize_conversation(self.conversation),
            "messages": entries,
            "compaction_summary": self.summary or None,
        }


@dataclass(frozen=True, slots=True)
class Part:
    """Which messages of a conversation: the last `limit`, or those before, after or around one; or all.

    Around: as many as fit before and after, so that it can be read on in both directions.
    """

    limit: int | None = None
    before: str | None = None
    after: str | None = None
    around: str | None = None

    @property
    def at_end(self) -> bool:
        return not (self.before or self.after or self.around)


def reading_of(store: Store, conversation: Conversation, part: Part = Part()) -> Reading:  # noqa: B008 - frozen
    path = _read(store, conversation, part)
    decisions = _decisions(store, conversation)
    ways = {stored.id for stored in path}
    summary = (
        AppliedDecisions.of(decisions, [item_of(stored) for stored in path]).summary if part.at_end else ""
    )
    ends = not path or path[-1].id == conversation.head
    return Reading(
        conversation,
        tuple(path),
        tuple(store.drafts.of(conversation.id)) if ends else (),
        frozenset(pins_of(store, conversation)),
        _banners(store, decisions, ways),
        summary,
        path[0].id if path and path[0].parent is not None else None,
        None if ends else path[-1].id,
    )


def banners_of(store: Store, conversation: Conversation) -> dict[str, tuple[Banner, ...]]:
    """All banners of a conversation, however long it is, by the message they stand behind."""
    decisions = [made for made in _decisions(store, conversation) if made.kind == "summarise"]
    if not decisions or conversation.head is None:
        return {}
    return _banners(store, decisions, set(store.log.path_ids(conversation.head)))


def _read(store: Store, conversation: Conversation, part: Part) -> list[Stored]:
    if conversation.head is None:
        return []
    if part.limit is None:
        return store.log.path(conversation.head)
    if part.at_end:
        return store.log.tail(conversation.head, part.limit)
    ids = store.log.path_ids(conversation.head)
    first, end = _between(conversation, part, ids, part.limit)
    return store.log.tail(ids[end - 1], end - first) if end > first else []


def _between(conversation: Conversation, part: Part, ids: Sequence[str], limit: int) -> tuple[int, int]:
    """Where a part begins and ends on the way."""
    name = part.before or part.after or part.around or ""
    try:
        at = ids.index(name)
    except ValueError:
        raise NotFound(f"message '{name}' does not lead to the end of {conversation.id}") from None
    if part.before:
        return max(0, at - limit), at
    if part.after:
        return at + 1, min(len(ids), at + 1 + limit)
    end = min(len(ids), at + (limit + 1) // 2)
    return max(0, end - limit), end


def _decisions(store: Store, conversation: Conversation) -> list[Decision]:
    """Those of the window that was last used."""
    used = store.lanes.of(conversation.id)
    return store.decisions.of(used[0].id) if used else []


def _banners(
    store: Store, decisions: Iterable[Decision], ways: Container[str]
) -> dict[str, tuple[Banner, ...]]:
    banners: dict[str, tuple[Banner, ...]] = {}
    for made in decisions:
        # What was summarised before an edit further up was never said in what is read now.
        if made.kind == "summarise" and (through := made.data["through"]) in ways:
            banners[through] = (*banners.get(through, ()), _banner(store, made))
    return banners


def _banner(store: Store, made: Decision) -> Banner:
    """Not from the statistics, which are forgotten one day: what is said here stays the same."""
    before = made.tokens_before
    if not made.messages and (summary := store.summaries.get(made.data["summary"])):
        # All of it was out of the window already: the summary stands for what was said.
        before = summary.tokens
    return Banner(made, made.data["depth"] + 1, before, made.tokens_after)
