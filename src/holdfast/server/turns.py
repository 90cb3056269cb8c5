"""Turns for the page: started over REST, followed as server-sent events, and finished if the page is closed.

A question continues a conversation, replaces an earlier question, or has its answer regenerated. Earlier
versions are kept; if a turn fails, the conversation ends where it did before.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter, Depends, Header
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.requests import Request

from holdfast.context.titles import PAGE, title_of
from holdfast.conversations.alignment import anchor
from holdfast.conversations.identity import find_answer
from holdfast.conversations.lanes import get_message
from holdfast.conversations.recorder import DELETED
from holdfast.conversations.serialization import serialize_conversation
from holdfast.errors import BadRequest, Conflict, NotFound
from holdfast.i18n import gettext as _
from holdfast.i18n import lazy, speak
from holdfast.messages import ChatRequest, JsonObject, Message, Scope, Text, Thinking, canonical
from holdfast.server.chat_options import OPTIONS_SETTING, ChatOptions
from holdfast.server.detached import DetachedTurn, DetachedTurns, PublishedEvent
from holdfast.server.endpoint import (
    adapt_thinking,
    engine_of,
    is_off,
    names_project,
    scope_of,
    scope_of_conversation,
)
from holdfast.server.files import attachments_of, build_question, file_parts, image_part, roots_for
from holdfast.server.guard import access_of
from holdfast.server.pages.site import language_of
from holdfast.server.transcript import context_by_question, memories_for, page_entries, serialize_banners
from holdfast.store import ConversationRecord, MessageRecord, NewMessage, Store
from holdfast.thinking import spoken
from holdfast.turn import Ask, Turn, TurnEngine

router = APIRouter(prefix="/api/chats/turns", tags=["Conversations"])


class UploadedFile(BaseModel):
    """A file in base64; `media_type` is what the browser claims, and is not relied on."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = Field(max_length=1_000)
    data: str
    media_type: str = Field("", max_length=200)


class NewTurn(BaseModel):
    """A question for a model, in a new conversation or at the end of one.

    `edit` names a question to ask in other words, `regenerate` an answer to generate again or a question
    without an answer, `extend` an answer that broke off and shall be continued; the earlier versions stay.
    Images are in base64; what is left out of an edit stays as it was. `research` names a finding for the
    question. With `beside`, another model may regenerate an answer while the first is still writing it.
    `project`, `options` and `memory` are for a new conversation,
    and saved with it: without `memory` nothing is recalled in it and nothing is remembered of it.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    model: str = Field(min_length=1, max_length=500)
    text: str = ""
    conversation: str | None = None
    images: Annotated[list[str], Field(max_length=20)] | None = None
    files: Annotated[list[UploadedFile], Field(max_length=50)] | None = None
    research: str = ""
    edit: str | None = None
    regenerate: str | None = None
    extend: str | None = None
    beside: bool = False
    kind: Literal["private", "group"] | None = None
    project: str | None = Field(None, min_length=1, max_length=100)
    system: str = ""
    options: ChatOptions | None = None
    memory: bool | None = None

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if (self.edit or self.regenerate or self.extend) and not self.conversation:
            raise ValueError("edit, regenerate and extend need a conversation")
        if self.conversation and any(
            value is not None for value in (self.options, self.memory, self.project)
        ):
            raise ValueError("project, options and memory are for a new conversation; an old one has its own")
        if self.beside and not self.regenerate:
            raise ValueError("beside is for regenerate: it names the question that two models answer")
        if sum(map(bool, (self.edit, self.regenerate, self.extend))) > 1:
            raise ValueError("edit, regenerate and extend are three things: one at a time")
        says = bool(self.text.strip() or self.images or self.files)
        if (self.regenerate or self.extend) and says:
            raise ValueError("an answer that is wanted once more has its question already")
        if not self.regenerate and not self.extend and not self.edit and not says:
            raise ValueError("there is no question: give a text, images or files")
        return self


@dataclass(frozen=True, slots=True)
class QuestionPlace:
    """Where a question goes: the conversation, and its previous head if that was moved."""

    conversation: ConversationRecord
    message: Message | None
    new: bool = False
    moved: bool = False
    before: str | None = None
    # The answer that is continued; without a message it is the last one of the request.
    extends: MessageRecord | None = None


def turns_of(request: Request) -> DetachedTurns:
    turns: DetachedTurns = request.app.state.turns
    return turns


async def begin_turn(request: Request, wanted: NewTurn) -> AsyncGenerator[PublishedEvent, None]:
    """Start a turn and return its events; runs before the response starts, so that errors get a status."""
    if is_off(request):
        raise BadRequest(
            lazy("this key is switched off"), hint=lazy("Use one for which Holdfast keeps what is said.")
        )
    speak(language_of(request))
    engine, turns, scope = engine_of(request), turns_of(request), scope_of(request, wanted.project)
    if wanted.conversation is not None:
        scope = await scope_of_conversation(request, wanted.conversation)
    if wanted.kind is not None:
        scope = replace(scope, kind=wanted.kind)
    store = engine.store
    given = await build_message(engine, wanted)
    async with turns.starting:
        place = await store.run(store.atomically, place_question, store, turns, scope, wanted, given)
        try:
            question = build_ask(request, wanted, scope, place)
            question = replace(question, request=await adapt_thinking(engine, question.request))
            job = await start_detached(engine, turns, place, question)
        except BaseException:
            await asyncio.shield(store.run(store.atomically, restore_head, store, place, None))
            raise
    return turns.follow(job, scope)


async def start_detached(engine: TurnEngine, turns: DetachedTurns, place: QuestionPlace, ask: Ask) -> str:
    """Start the turn in the background, and return its job."""
    store = engine.store
    # Followed from before the start, so that no event is missed.
    events = engine.events.follow(ask.scope)
    turn = await engine.turn(ask)
    if turn.off:
        await turn.chunks.aclose()
        raise Conflict(lazy("this conversation is switched off"), hint=lazy("Switch it on again first."))
    parent, row = await store.run(load_start, store, place, turn)
    ending = TurnResult(engine, ask.scope, place, turn, parent)
    detached = DetachedTurn(engine, ask.scope, turn, ending.load)
    shown = await store.run(show_start, engine, row, parent)
    start = {"conversation": row.id, "job": turn.job, "question": parent, **shown}
    detached.channel.publish("start", {**start, "chat": serialize_conversation(row)})
    turns.start(detached, events)
    return turn.job


@router.post("", response_class=EventSourceResponse)
async def ask(
    events: Annotated[AsyncGenerator[PublishedEvent, None], Depends(begin_turn)],
) -> AsyncIterable[ServerSentEvent]:
    """Ask a question and stream the events of its turn, which continues if nobody follows it any more."""
    async for event in send_events(events):
        yield event


def find_turn(
    request: Request, job: str, after: int = 0, last_event_id: Annotated[int | None, Header()] = None
) -> AsyncGenerator[PublishedEvent, None]:
    """Return the events of a turn; runs before the response starts, so that errors get a status."""
    place, scope, turns = (
        after if last_event_id is None else last_event_id,
        scope_of(request),
        turns_of(request),
    )
    if not names_project(request):
        scope = replace(scope, project=turns.project_of(job) or scope.project)
    return turns.follow(job, scope, place)


@router.get("/{job}", response_class=EventSourceResponse)
async def follow(
    events: Annotated[AsyncGenerator[PublishedEvent, None], Depends(find_turn)],
) -> AsyncIterable[ServerSentEvent]:
    """Follow a turn that is running or ended recently, from its beginning or after an event's id."""
    async for event in send_events(events):
        yield event


async def send_events(events: AsyncGenerator[PublishedEvent, None]) -> AsyncIterable[ServerSentEvent]:
    async with aclosing(events):
        async for event in events:
            yield ServerSentEvent(raw_data=canonical(event.data), event=event.kind, id=str(event.id))


async def build_message(engine: TurnEngine, wanted: NewTurn) -> Message | None:
    """Build the message of the question; None if it is in the conversation already."""
    if wanted.regenerate:
        return None
    if wanted.extend:
        provider = await engine.upstreams.route(wanted.model)
        return None if "continuation" in provider.abilities else ask_to_continue()
    files = await file_parts((file.name, file.data) for file in wanted.files or ())
    images = await asyncio.to_thread(lambda: [image_part(data) for data in wanted.images or ()])
    return build_question(wanted.text, [*files, *images])


def place_question(
    store: Store, turns: DetachedTurns, scope: Scope, wanted: NewTurn, given: Message | None
) -> QuestionPlace:
    if wanted.conversation is None:
        assert given is not None
        row = store.log.create(scope, title=title_of((given,)), client=PAGE)
        options = wanted.options.to_json() if wanted.options else None
        row = store.log.update_settings(row.id, {OPTIONS_SETTING: options or None, "memory": wanted.memory})
        return QuestionPlace(row, given, new=True)
    row = store.log.get(wanted.conversation, scope)
    if not (wanted.beside and answers_only(store, row, wanted.regenerate or "")):
        turns.check_free(row.id)
    if wanted.edit:
        assert given is not None
        return place_edit(store, row, wanted, given)
    if wanted.regenerate:
        return place_regeneration(store, row, wanted.regenerate)
    if wanted.extend:
        return place_extension(store, row, wanted.extend, given)
    return QuestionPlace(row, given)


def answers_only(store: Store, row: ConversationRecord, question: str) -> bool:
    """Whether one answer is being written in a conversation, and to this question."""
    return [draft.parent for draft in store.drafts.of(row.id)] == [question]


def place_edit(store: Store, row: ConversationRecord, wanted: NewTurn, given: Message) -> QuestionPlace:
    """Put an edited question in the place of the earlier one: the conversation continues before it."""
    asked = get_message(store, row, wanted.edit or "")
    if asked.message.role != "user":
        raise BadRequest(
            lazy("only a question can be edited"), hint=lazy("An answer can be regenerated."), param="edit"
        )
    if wanted.images is None and wanted.files is None:
        given = build_question(wanted.text, attachments_of(asked.message))
    if not given.parts:
        raise BadRequest(
            lazy("there is no question"), hint=lazy("Give a text, images or files."), param="text"
        )
    moved = store.log.set_head(row.id, asked.parent, expect=row.head)
    if not wanted.research and (finding := finding_behind(store, row, asked.id)):
        # A finding for the question is also for its edited version.
        store.log.update_settings(row.id, {"research": finding})
    return QuestionPlace(moved, given, moved=True, before=row.head)


def finding_behind(store: Store, row: ConversationRecord, question: str) -> str:
    """Return the id of the finding that was attached to a question; empty if there is none."""
    decisions = (
        decision for decision in store.decisions.by_rule(row.id, "context") if question in decision.messages
    )
    return next((decision.data["name"] for decision in decisions if decision.data.get("name")), "")


def place_regeneration(store: Store, row: ConversationRecord, name: str) -> QuestionPlace:
    message = get_message(store, row, name)
    asked = message.id if message.message.role in ("user", "tool") else message.parent
    if asked is None:
        raise BadRequest(lazy("there is no question before this answer"), param="regenerate")
    moved = store.log.set_head(row.id, asked, expect=row.head)
    return QuestionPlace(moved, None, moved=asked != row.head, before=row.head)


def ask_to_continue() -> Message:
    return Message.of("user", _("Continue your last answer exactly where it broke off. Repeat nothing."))


def has_thinking(message: Message) -> bool:
    return any(isinstance(part, Thinking) for part in message.parts) or spoken(message) != message


def place_extension(store: Store, row: ConversationRecord, name: str, given: Message | None) -> QuestionPlace:
    """Put the request to go on after the answer that broke off, if there has to be one."""
    answer = get_message(store, row, name)
    if answer.message.role != "assistant" or answer.finish not in ("length", "cut"):
        raise BadRequest(lazy("only an answer that broke off can be continued"), param="extend")
    if has_thinking(answer.message):
        # A model goes on by itself only with what it said; its thinking is not sent back to it.
        given = given or ask_to_continue()
    moved = store.log.set_head(row.id, answer.id, expect=row.head)
    return QuestionPlace(moved, given, moved=True, before=row.head, extends=answer)


def join_answers(first: Message, rest: Message, *, asked: bool) -> Message:
    """Return the whole answer of its beginning and what a model continued it with.

    A model that was asked to go on begins with a word; one that goes on by itself may be within one.
    """
    text, more = first.text, rest.text.lstrip("…. ") if rest.text.startswith("…") else rest.text
    between = " " if asked and text[-1:].isalnum() and more[:1].isalnum() else ""
    thinking = tuple(part for part in first.parts if isinstance(part, Thinking))
    return Message("assistant", (*thinking, Text(text + between + more)))


def store_extension(store: Store, place: QuestionPlace, answer: MessageRecord) -> MessageRecord:
    """Store the answer and its continuation as one; the request to go on is no part of the conversation."""
    first = place.extends
    assert first is not None
    assert answer.parent is not None
    asked = place.message is not None
    joined = join_answers(first.message, answer.message, asked=asked)
    new = NewMessage(joined, anchor(joined), answer.model, answer.finish, answer.job)
    (stored,) = store.log.append(place.conversation.id, [new], parent=first.parent, expect=answer.id)
    if asked:
        store.marks.put(answer.parent, DELETED)
    return stored


def restore_head(store: Store, place: QuestionPlace, question: str | None) -> None:
    """Undo the placing of a failed question, unless somebody has continued the conversation since."""
    row = place.conversation
    try:
        if place.new and question is None:
            store.log.delete(row.id)
        elif place.moved:
            store.log.set_head(row.id, place.before, expect=row.head if question is None else question)
    except (Conflict, NotFound):
        pass


def build_ask(request: Request, wanted: NewTurn, scope: Scope, place: QuestionPlace) -> Ask:
    options = ChatOptions.of(place.conversation)
    system = (Message.of("system", wanted.system),) if wanted.system else options.instructions
    messages = (*system, *((place.message,) if place.message else ()))
    return Ask(
        ChatRequest(wanted.model, messages, options=options.model_options, think=options.think),
        scope,
        {"user-agent": PAGE},
        continues=place.conversation.id,
        research=wanted.research,
        files=roots_for(request),
        memory=access_of(request).memory,
    )


def load_start(store: Store, place: QuestionPlace, turn: Turn) -> tuple[str | None, ConversationRecord]:
    """Return the message that the answer will follow, and the conversation as it is now."""
    drafts = store.drafts.of(place.conversation.id)
    return next((draft.parent for draft in drafts if draft.job == turn.job), None), store.log.get(
        place.conversation.id
    )


def show_start(engine: TurnEngine, row: ConversationRecord, question: str | None) -> dict[str, Any]:
    """Return the question as the page shows it, and how many versions of its answer there will be."""
    entry = next(iter(page_entries(engine, row, [question or ""])), None)
    answers = engine.store.log.children(question) if question else []
    return {"entry": entry, "versions": len(answers) + 1}


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What came of a turn: the recorded answer, the recalled memories and findings, and the summaries."""

    engine: TurnEngine
    scope: Scope
    place: QuestionPlace
    turn: Turn
    question: str | None

    async def load(self) -> JsonObject | None:
        store = self.engine.store
        # The window's decisions are written at the same time as the answer.
        await self.engine.locks.settle(self.place.conversation.id)
        return await store.run(self._read)

    def _read(self) -> dict[str, Any] | None:
        store = self.engine.store
        answer = find_answer(store, self.scope, self.turn.job).answer
        if answer is None or answer.message.role != "assistant":
            store.atomically(restore_head, store, self.place, self.question)
            if self.place.extends is not None and self.place.message is not None and self.question:
                store.marks.put(self.question, DELETED)
            return None
        asked = self.question or ""
        if self.place.extends is not None:
            asked = self.place.extends.parent or ""
            answer = store.atomically(store_extension, store, self.place, answer)
        row = store.log.get(self.place.conversation.id)
        context = context_by_question(store, row).get(asked)
        return {
            "message": answer.id,
            "entries": page_entries(self.engine, row, [asked, answer.id]),
            # Others of the project may follow this turn, and need not know of chats elsewhere.
            "memories": memories_for(self.engine, row, asked, project=row.scope.project),
            "findings": list(context.findings) if context else [],
            "banners": serialize_banners(store, row),
            # Answers that are the same word for word are stored once.
            "repeated": answer.job != self.turn.job and self.place.extends is None,
        }
