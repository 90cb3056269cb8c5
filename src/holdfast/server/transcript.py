"""A conversation as the pages show it: page by page from its end, with what belongs to each answer."""

import base64
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from holdfast.context.message_state import Part, WindowReading, banners_of, load_reading
from holdfast.conversations.lanes import get_message
from holdfast.conversations.recorder import follow_to_end, without_deleted
from holdfast.errors import BadRequest, NotFound
from holdfast.i18n import lazy
from holdfast.memory.base import Memory
from holdfast.memory.scopes import is_summary
from holdfast.messages import Text
from holdfast.server.files import (
    BROWSER_IMAGE_TYPES,
    files_in,
    image_part,
    message_file,
    text_without_files,
    unfence,
)
from holdfast.server.pages.markdown import render_html
from holdfast.store import ConversationRecord, Decision, JobRecord, MessageRecord, Store
from holdfast.thinking import without_thinking
from holdfast.turn import TurnEngine

# Characters of the longest message that is rendered; longer ones are slow in browsers and shown as text.
_MAX_RENDERED = 400_000
# The line above a group of sentences; in Markdown it would belong to the list before it.
_GROUP_START = re.compile(r"\n(?=[^\n-][^\n]*:\n- )")
# Characters of a note that are shown as a quote.
_QUOTE_LENGTH = 300


@dataclass(frozen=True, slots=True)
class QuestionContext:
    """The ids of the memories and findings that were added to a question, each once."""

    memories: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()

    def with_decision(self, decision: Decision) -> "QuestionContext":
        data = decision.data
        named = (data["name"],) if data.get("section") == "research" and data.get("name") else ()
        return QuestionContext(
            tuple(dict.fromkeys((*self.memories, *data.get("memories", ())))),
            tuple(dict.fromkeys((*self.findings, *named))),
        )


_NO_CONTEXT = QuestionContext()


def serialize_messages(
    engine: TurnEngine, row: ConversationRecord, part: Part, *, html: bool
) -> dict[str, Any]:
    """Serialize a part of a conversation; `next` and `newer` are where the adjoining parts begin."""
    store = engine.store
    reading = load_reading(store, row, part)
    payload = reading.to_json()
    if part.limit is not None:
        payload |= {"next": reading.older, "newer": reading.newer, "banners": serialize_banners(store, row)}
    if html:
        shown = {stored.id: stored for stored in reading.path}
        brought, learned = context_by_question(store, row), memories_by_message(engine, row)
        memories = memory_ids(engine, row) if brought else frozenset()
        for entry in payload["messages"]:
            if (stored := shown.get(entry["id"] or "")) is not None:
                entry |= page_fields(store, reading, stored, brought, memories)
                if stored.message.role == "assistant":
                    entry["kept"] = [*learned.get(stored.parent or "", ()), *learned.get(stored.id, ())]
            elif entry.get("finish") == "writing":
                entry["html"] = render_answer(entry["content"])
        last = payload["messages"][-1] if payload["messages"] and reading.newer is None else {}
        if last.get("role") == "user" and (trouble := last_trouble(store, row)):
            last["trouble"] = trouble
    return payload


def last_trouble(store: Store, row: ConversationRecord) -> str:
    """Return why the last question of a conversation was not answered; empty if that is not known."""
    jobs = store.jobs.recent(5, conversation=row.id)
    return next((job.error for job in jobs if job.kind == "main"), "")


def page_entries(engine: TurnEngine, row: ConversationRecord, names: Collection[str]) -> list[dict[str, Any]]:
    """Serialize some of the last messages of a conversation, as they are listed for the page."""
    entries = serialize_messages(engine, row, Part(len(names)), html=True)["messages"]
    return [entry for entry in entries if entry["id"] in names]


def serialize_banners(store: Store, row: ConversationRecord) -> list[dict[str, Any]]:
    """Serialize the summaries of a conversation, each after the last message it covers."""
    return [
        {"after": name, **banner.to_json(), "html": render_html(_GROUP_START.sub("\n\n", banner.summary))}
        for name, banners in banners_of(store, row).items()
        for banner in banners
    ]


def memories_for(
    engine: TurnEngine, row: ConversationRecord, question: str, *, project: str
) -> list[dict[str, Any]]:
    """Return the memories that were recalled for a question with their sources, without forgotten ones.

    With a `project`, chats of other projects that memories came from have no title here.
    """
    names = context_by_question(engine.store, row).get(question, _NO_CONTEXT).memories
    if not names or engine.remembering is None:
        return []
    active, archived = engine.remembering.library.list_all(row.scope, [])
    entries = {
        memory.id: serialize_memory(engine.store, row, memory, project)
        for memory in (*archived, *active)
        if memory.id in names
    }
    others = [name for name in names if name not in entries]
    entries |= quote_passages(engine.store, row, others, project)
    return [entries[name] for name in names if name in entries]


def memories_by_message(engine: TurnEngine, row: ConversationRecord) -> dict[str, list[dict[str, Any]]]:
    """Return the active memories of a conversation, by the message they were last taken from."""
    by_message: dict[str, list[dict[str, Any]]] = {}
    if engine.remembering is None:
        return by_message
    memories, _ = engine.remembering.library.list_all(row.scope, [])
    for memory in memories:
        here = [source for source in memory.sources if source.conversation == row.id and source.messages]
        if memory.active and here:
            entry = {"id": memory.id, "kind": memory.kind, "text": memory.text}
            by_message.setdefault(here[-1].messages[-1], []).append(entry)
    return by_message


def memory_ids(engine: TurnEngine, row: ConversationRecord) -> frozenset[str]:
    """Return the ids of all memories of a scope, archived ones too."""
    if engine.remembering is None:
        return frozenset()
    active, archived = engine.remembering.library.list_all(row.scope, [])
    return frozenset(memory.id for memory in (*active, *archived))


def load_image(store: Store, row: ConversationRecord, message: str, number: int) -> tuple[bytes, str]:
    """Return an image of a message and its media type; only types that browsers can show safely."""
    images = get_message(store, row, message).message.images
    if not 0 <= number < len(images) or not images[number].data:
        raise NotFound(
            lazy("{message} has no picture number {number} of its own", message=message, number=number)
        )
    image = images[number]
    kind = image.media_type or image_part(image.data).media_type
    if kind not in BROWSER_IMAGE_TYPES:
        raise BadRequest(
            lazy("pictures of the kind {kind} are not shown", kind=kind),
            hint=lazy("PNG, JPEG, GIF and WebP are."),
        )
    return base64.b64decode("".join(image.data.split())), kind


def load_file(store: Store, row: ConversationRecord, message: str, number: int) -> str:
    """Return the text of a file that was attached to a message."""
    parts = get_message(store, row, message).message.parts
    files = [part for part in parts if isinstance(part, Text) and message_file(part) is not None]
    if not 0 <= number < len(files):
        raise NotFound(lazy("{message} has no file number {number}", message=message, number=number))
    return unfence(files[number])


def move_head(store: Store, row: ConversationRecord, message: str) -> ConversationRecord:
    """Move the head of a conversation to the newest end that follows a message."""
    return follow_to_end(store, row, get_message(store, row, message))


def page_fields(
    store: Store,
    reading: WindowReading,
    stored: MessageRecord,
    brought: Mapping[str, QuestionContext],
    memories: Collection[str],
) -> dict[str, Any]:
    message = stored.message
    fields: dict[str, Any] = {"text": text_without_files(message)}
    if message.role == "assistant":
        fields["html"] = render_answer(message.text)
        fields["text"] = without_thinking(fields["text"])
        fields["numbers"] = answer_numbers(store, stored.job)
        # The context was added to the question.
        context = brought.get(stored.parent or "", _NO_CONTEXT)
        count = sum(name in memories for name in context.memories)
        # What was recalled and is no memory is a passage of a note or of an earlier conversation.
        fields |= {"memories": count, "quotes": len(context.memories) - count}
        fields["findings"] = list(context.findings)
    if files := files_in(message):
        fields["files"] = [file.to_json() for file in files]
    versions = list_versions(store, reading.conversation, stored)
    if len(versions) > 1:
        fields["versions"] = versions
    return fields


def render_answer(text: str) -> str | None:
    return render_html(text) if len(text) <= _MAX_RENDERED else None


def list_versions(store: Store, row: ConversationRecord, stored: MessageRecord) -> list[str]:
    """Return the ids of a message and of its alternatives, in order of time.

    What was deleted is none, and where a question was deleted its answer is no version of another question.
    """
    if stored.parent is None:
        names = store.log.roots(row.tree)
        beside = [store.log.message(name) for name in names] if len(names) > 1 else []
    else:
        beside = store.log.children(stored.parent)
    beside = [version for version in beside if version.message.role == stored.message.role]
    return [version.id for version in (without_deleted(store, beside) if len(beside) > 1 else beside)]


def context_by_question(store: Store, row: ConversationRecord) -> dict[str, QuestionContext]:
    """Return what was added to windows, by the message it was added to, in order of time."""
    contexts: dict[str, QuestionContext] = {}
    for lane in store.lanes.of(row.id):
        for decision in store.decisions.of(lane.id):
            if decision.kind == "add":
                message = decision.messages[0]
                contexts[message] = contexts.get(message, _NO_CONTEXT).with_decision(decision)
    return contexts


def quote_passages(
    store: Store, row: ConversationRecord, names: Collection[str], project: str
) -> dict[str, dict[str, Any]]:
    """Serialize quoted passages of notes that are not memories: summaries and a person's own notes."""
    quotes: dict[str, dict[str, Any]] = {}
    for name, places in (store.passages.files_of(names) if names else {}).items():
        container, text = next(iter(places.items()))
        path = PurePosixPath(container.partition(":")[2])
        quotes[name] = {"id": name, "text": text[:_QUOTE_LENGTH], "kind": "passage", "path": str(path)}
        if is_summary(path):
            conversation = path.parent.name
            quotes[name]["source"] = {
                "conversation": conversation,
                "title": source_title(store, row, conversation, project),
            }
    return quotes


def serialize_memory(store: Store, row: ConversationRecord, memory: Memory, project: str) -> dict[str, Any]:
    source = memory.sources[-1] if memory.sources else None
    entry: dict[str, Any] = {"id": memory.id, "text": memory.text, "kind": memory.kind, "date": memory.date}
    if source is not None:
        entry["source"] = {
            "conversation": source.conversation,
            "title": source_title(store, row, source.conversation, project),
        }
    return entry


def source_title(store: Store, row: ConversationRecord, conversation: str, project: str) -> str | None:
    """Return the title of a conversation; None if it was deleted, or if it is not of the `project`."""
    sources = store.log.of_user(row.scope.user, [conversation])
    return next((source.title for source in sources if project in ("", source.scope.project)), None)


def answer_numbers(store: Store, name: str) -> dict[str, Any] | None:
    """Return duration, tokens and speed of an answer; None if its job is not known."""
    try:
        job: JobRecord = store.jobs.get(name)
    except NotFound:
        return None
    begun, end, first = job.queued_at, job.finished_at, job.first_token_at
    tokens = job.usage.completion
    writing = end - first if end is not None and first is not None else 0.0
    return {
        "tokens": tokens,
        "prompt_tokens": job.usage.prompt,
        "window": job.window,
        "seconds": round(end - begun, 2) if end is not None else None,
        "tokens_per_second": round(tokens / writing, 1) if tokens and writing > 0 else None,
    }
