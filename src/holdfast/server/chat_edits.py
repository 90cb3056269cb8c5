"""Changes to conversations over REST: several at once, folders, imports, and single messages."""

import asyncio
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from starlette.requests import Request

from holdfast.conversations.lanes import get_message
from holdfast.conversations.recorder import delete_message, replace_message, restore_message
from holdfast.errors import BadRequest, NotFound
from holdfast.i18n import gettext as _
from holdfast.i18n import lazy, speak
from holdfast.messages import Message, Text, Thinking
from holdfast.server.chats import PLACE, Folder, spans_projects, write_chat
from holdfast.server.detached import DetachedTurns
from holdfast.server.endpoint import RequestBody, engine_of, scope_of
from holdfast.server.files import attachments_of, build_question
from holdfast.server.pages.site import language_of
from holdfast.store import ConversationRecord, ListFilter, MessageRecord, Store
from holdfast.transfer.formats import open_source
from holdfast.transfer.imports import Importer
from holdfast.transfer.projects import move_to_project

router = APIRouter(prefix="/api/chats", tags=["Conversations"])


class BatchChanges(BaseModel):
    """What happens to some conversations; `delete` says what becomes of memories made from them."""

    model_config = ConfigDict(extra="forbid", strict=True)

    chats: Annotated[list[str], Field(min_length=1, max_length=500)]
    pinned: bool | None = None
    archived: bool | None = None
    folder: Folder | None = None
    project: str | None = None
    delete: Literal["keep", "forget"] | None = None

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        place = any(getattr(self, name) is not None for name in PLACE)
        if [place, self.project is not None, self.delete is not None].count(True) != 1:
            raise ValueError("give either delete, or project, or one of pinned, archived, folder")
        return self


class SavedFile(BaseModel):
    """A file that the chat page saved, as Markdown (`.md`) or JSON (`.json`)."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Annotated[str, StringConstraints(max_length=300, pattern=r"(?i)\.(md|json)$")]
    text: str


class SavedFiles(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    files: Annotated[list[SavedFile], Field(min_length=1, max_length=100)]


@router.get("/folders")
async def list_folders(request: Request, project: str | None = None) -> dict[str, Any]:
    """List the folders of conversations by name, with how many are in each; archived ones do not count."""
    store = engine_of(request).store
    scope = scope_of(request, project)
    which = ListFilter(every_project=spans_projects(request, project), archived=False)
    folders = await store.run(store.log.folders, scope, which)
    archived = ListFilter(every_project=which.every_project, archived=True)
    any_archived = await store.run(store.log.recent, scope, 1, None, archived)
    return {
        "folders": [{"name": name, "chats": count} for name, count in folders.items()],
        "archived": bool(any_archived),
    }


@router.post("/batch")
async def change_several(request: Request, wanted: BatchChanges) -> dict[str, Any]:
    """Pin, archive, move or delete several conversations: all of them, or none if one is not there.

    With `project` they move there, with their forks; what was learned in them stays where it was learned.
    """
    engine, scope, every = engine_of(request), scope_of(request), spans_projects(request)
    target = None if wanted.project is None else scope_of(request, wanted.project).project
    store = engine.store
    changes = wanted.model_dump(include=set(PLACE), exclude_none=True)

    def work() -> list[ConversationRecord]:
        rows = find_all(store, wanted.chats)
        if target is not None:
            return rows
        for row in rows:
            store.log.delete(row.id) if wanted.delete else store.log.arrange(row.id, changes)
        return rows

    def find_all(store: Store, names: list[str]) -> list[ConversationRecord]:
        known = {row.id: row for row in store.log.of_user(scope.user, names)}
        allowed = {
            name: row
            for name, row in known.items()
            if row.scope.kind == scope.kind and (every or row.scope == scope)
        }
        if missing := [name for name in names if name not in allowed]:
            raise NotFound(_("conversation '{conversation}' not found").format(conversation=missing[0]))
        return [allowed[name] for name in dict.fromkeys(names)]

    rows = await store.run(store.atomically, work)
    if target is not None:
        await store.run(move_to_project, store, engine.remembering, rows, target)
    if wanted.delete and engine.remembering is not None:
        for row in rows:
            await asyncio.to_thread(
                engine.remembering.remove_conversation, row.scope, row.id, forget=wanted.delete == "forget"
            )
    return {"chats": [row.id for row in rows]}


@router.post("/import")
async def import_chats(request: Request, saved: SavedFiles, project: str | None = None) -> dict[str, Any]:
    """Import conversations that the page saved as Markdown or JSON; what is there already is not doubled."""
    speak(language_of(request))
    engine, scope = engine_of(request), scope_of(request, project)
    remembering = engine.remembering
    if remembering is None:
        raise BadRequest(lazy("nothing can be imported without notes"))

    def work() -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            paths = [write_file(Path(folder), number, file) for number, file in enumerate(saved.files)]
            source = open_source(paths, "holdfast")
            return Importer(engine.store, remembering.library, scope).take(source).to_json()

    return await asyncio.to_thread(work)


# Characters that a file cannot be called by everywhere, and how long its name may be.
_ODD_IN_NAMES = re.compile(r"[^\w.() -]")
_LONGEST_NAME = 60


def write_file(folder: Path, number: int, file: SavedFile) -> Path:
    """Write a file under a name of our own, in a folder of its own so that errors can name it."""
    place = folder / str(number)
    place.mkdir()
    name = _ODD_IN_NAMES.sub("_", Path(file.name.replace("\\", "/")).name)[-_LONGEST_NAME:].strip(". ")
    path = place / (name or "chat")
    path.write_text(file.text, encoding="utf-8", errors="replace")
    return path


Revision = Callable[[Store, ConversationRecord, MessageRecord], ConversationRecord]


class NewText(RequestBody):
    """The text that a message has from now on; its attachments stay."""

    text: str = Field(min_length=1, max_length=4_000_000)


@router.put("/{conversation}/messages/{message}")
async def rewrite_message(
    request: Request, conversation: str, message: str, wanted: NewText
) -> dict[str, Any]:
    """Put a question or an answer into other words without asking the model; the earlier version stays.

    What follows it is repeated after the new version. `head` is where the conversation ends now, `message`
    what stands in this place.
    """
    if not wanted.text.strip():
        raise BadRequest(lazy("there is no text"), hint=lazy("To remove a message, delete it."), param="text")
    return await revise(
        request,
        conversation,
        message,
        lambda store, row, stored: replace_message(
            store, row, stored, change_text(stored.message, wanted.text)
        ),
    )


@router.delete("/{conversation}/messages/{message}")
async def remove_message(request: Request, conversation: str, message: str) -> dict[str, Any]:
    """Delete a single message: it leaves the list and every window; what follows stays.

    Memories that were made of it stay, too. It can be restored.
    """
    return await revise(request, conversation, message, delete_message)


@router.post("/{conversation}/messages/{message}/restore")
async def bring_back_message(request: Request, conversation: str, message: str) -> dict[str, Any]:
    """Bring back a message that was deleted: the conversation is as it was before."""
    return await revise(request, conversation, message, restore_message)


async def revise(request: Request, conversation: str, message: str, work: Revision) -> dict[str, Any]:
    turns: DetachedTurns = request.app.state.turns

    def write(store: Store, row: ConversationRecord) -> dict[str, Any]:
        turns.check_free(row.id)
        stored = get_message(store, row, message)
        moved = work(store, row, stored)
        path = store.log.path_ids(moved.head) if moved.head else []
        return {
            "conversation": moved.id,
            "head": moved.head,
            "message": path[stored.depth] if stored.depth < len(path) else None,
        }

    return await write_chat(request, conversation, write)


def change_text(message: Message, text: str) -> Message:
    """Return a message with another text and the same attachments; what was thought for the old one goes."""
    if message.role == "user":
        return build_question(text, attachments_of(message))
    others = tuple(part for part in message.parts if not isinstance(part, Text | Thinking))
    return Message(message.role, (Text(text), *others))
