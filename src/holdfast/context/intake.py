"""Takes requests in: finds the conversation of each, and keeps what is new in it before anything is asked.

Knows the log and what in a person's words outlives their message. What becomes of the request is decided
later.
"""

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.compaction.persistence import enqueue_memory_requests
from holdfast.context import message_state
from holdfast.context.loading import Kept, stored_in
from holdfast.conversations import (
    Hints,
    Placement,
    RecentConversation,
    RecentConversationCache,
    Recorder,
    SideRequestCache,
    locate,
    locate_at_end,
    locate_in_memory,
)
from holdfast.conversations.hints import RESEARCH_SETTING
from holdfast.errors import Conflict, NotFound
from holdfast.messages import ChatRequest, Message, Scope
from holdfast.store import Conversation, Store, Stored


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request, whose it is, and what it says about itself.

    `continues` names a conversation whose history the client leaves to us.
    """

    request: ChatRequest
    scope: Scope
    hints: Hints
    continues: str | None = None
    memory: bool = True


class Intake:
    """With `memory` off nothing that is said is noted down beyond the log."""

    def __init__(self, store: Store, *, memory: bool = True) -> None:
        self._store = store
        self._memory = memory
        self._asides = SideRequestCache()
        self._standings = RecentConversationCache()

    async def keep(self, incoming: Incoming) -> Kept | None:
        """Finds the conversation and appends what is new in the request. Side requests are not kept.

        None if the conversation is switched off.
        """
        run, store = self._store.run, self._store
        placement = self._at_hand(incoming)
        if placement is not None:
            try:
                return await run(store.atomically, self._kept_at_hand, incoming, placement)
            except (Conflict, NotFound):
                # The conversation has moved on since, is gone, or is not the only one: the log knows.
                self._standings.forget(placement.conversation or "")
        try:
            placement = await run(store.at_once, self._placed, incoming)
            return await run(store.atomically, self._kept, incoming, placement)
        except Conflict:
            # Somebody else went on with the conversation in between: now nobody can.
            return await run(store.atomically, self._placed_and_kept, incoming)

    def answering(self, incoming: Incoming, kept: Kept) -> Callable[[Stored | None], None]:
        """To be told of the message that the answer became: then the next request is known at once."""

        def answered(answer: Stored | None) -> None:
            path = stored_in(incoming.request, kept)
            if kept.conversation is None or not path:
                return
            row = kept.conversation
            standing = RecentConversation(
                row.id, row.client, row.external_id, (*path, answer) if answer else path
            )
            self._standings.add(incoming.scope, standing)

        return answered

    def note_aside(self, incoming: Incoming, kept: Kept, recorder: Recorder) -> None:
        """A side request's answer is remembered for a while: the client may come back with it."""
        side, beside = kept.placement.side, kept.placement.beside
        sender = incoming.hints.sender
        self._asides.add(incoming.scope, side, recorder.answer, sender=sender, conversation=beside)

    def _at_hand(self, incoming: Incoming) -> Placement | None:
        if incoming.continues is not None:
            return None
        return locate_in_memory(
            incoming.scope, incoming.request, incoming.hints, self._asides, self._standings
        )

    def _kept_at_hand(self, incoming: Incoming, placement: Placement) -> Kept | None:
        if self._store.database.on_server and self._has_twin(incoming.scope, placement):
            raise Conflict("Another conversation has the same history.", hint="See which one is meant.")
        return self._kept(incoming, placement)

    def _has_twin(self, scope: Scope, placement: Placement) -> bool:
        """We remember what was said to us; the same may have been said, and answered, at another server."""
        path = [one for one in placement.matched if one is not None]
        if not path or path[-1].message.role != "assistant":
            return False
        ends = {one.anchor for one in (path[0], path[-1]) if one.anchor}
        found: dict[str, set[str]] = {}
        for hit in self._store.log.find_anchors(scope, sorted(ends)):
            found.setdefault(hit.tree, set()).add(hit.anchor)
        return any(has == ends for tree, has in found.items() if tree != path[0].tree)

    def _placed_and_kept(self, incoming: Incoming) -> Kept | None:
        """Both in one transaction: slower for others, but sure."""
        return self._kept(incoming, self._placed(incoming))

    def _placed(self, incoming: Incoming) -> Placement:
        scope, request = incoming.scope, incoming.request
        if incoming.continues is not None:
            return locate_at_end(self._store, scope, request, incoming.continues)
        return locate(self._store, scope, request, incoming.hints, self._asides)

    def _kept(self, incoming: Incoming, placement: Placement) -> Kept | None:
        """One transaction: conversation, new messages, the prompt as sent, and the job."""
        store, request = self._store, incoming.request
        if placement.kind == "side":
            job = store.jobs.start(incoming.scope, kind="side", model=request.model)
            return Kept(job.id, placement)
        row = store.log.taken(placement.conversation) if placement.conversation else None
        if row is not None and row.off:
            return None
        row, appended = self._appended(incoming, placement, row)
        parent = appended[-1].id if appended else placement.parent
        if appended:
            message_state.note(store, appended)
            if self._memory and row.memory:
                enqueue_memory_requests(store, row, appended)
        elif parent != placement.head:
            # An answer is wanted once more: until it comes, the conversation ends at its question.
            row = store.log.set_head(row.id, parent, expect=placement.head)
        elif row.head != placement.head:
            raise Conflict(f"Conversation {row.id} moved on.", hint="Read it again and repeat.")
        research = row.settings.get(RESEARCH_SETTING, "") if appended else ""
        if research:
            row = store.log.update_settings(row.id, {RESEARCH_SETTING: None})
        system = [message for message in request.messages if message.role == "system"]
        prompt = store.prompts.keep(system, request.tools)
        job = store.jobs.start(
            incoming.scope, kind="main", model=request.model, conversation=row.id, prompt=prompt
        )
        # From here on a crash leaves a trace of the answer that was wanted.
        store.drafts.save(job.id, row.id, parent, Message("assistant", ()), request.model)
        return Kept(job.id, placement, row, parent, tuple(appended), prompt, research)

    def _appended(
        self, incoming: Incoming, placement: Placement, row: Conversation | None
    ) -> tuple[Conversation, list[Stored]]:
        log, forgets = self._store.log, not incoming.memory
        if row is None:
            return log.begin(
                incoming.scope,
                placement.new,
                title=title_of(placement.messages),
                client=placement.client,
                external_id=placement.external_id,
                settings={"memory": False} if forgets else {},
            )
        if row.memory and forgets:
            row = log.update_settings(row.id, {"memory": False})
        if not placement.new:
            return row, []
        tip = next((one for one in placement.matched if one and one.id == placement.parent), placement.parent)
        return log.extend(row, placement.new, parent=tip, expect=placement.head)


def title_of(messages: tuple[Message, ...], length: int = 80) -> str:
    """A conversation is called by the first line a person said in it, until somebody renames it."""
    said = next((message.text for message in messages if message.role == "user" and message.text.strip()), "")
    line = " ".join(said.strip().splitlines()[0].split()) if said else ""
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"
