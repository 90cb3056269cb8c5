"""Memories and the files they are kept in (notes), over REST.

Memories can be added, listed, searched, corrected, forgotten, exported and imported. Notes are read and
written as whole files, only in the scope of the request and never over a version that the writer has not seen
(ETag and If-Match). The index is built anew in a job of its own.
"""

import asyncio
import logging
import threading
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from holdfast.config import Config
from holdfast.errors import BadRequest, Conflict, HoldfastError, NotFound
from holdfast.events import Events
from holdfast.i18n import lazy
from holdfast.memory.base import Memory
from holdfast.memory.exchange import ImportCounts, dump_memories, load_memories
from holdfast.memory.items import check_kind, check_listed_kind
from holdfast.memory.library import Aside
from holdfast.memory.notes import MARKDOWN, check_note_path, note_at, notes_of
from holdfast.memory.private import redact_file
from holdfast.memory.scopes import (
    check_writable,
    folder,
    is_summary,
    may_see,
    profile_file,
    visible,
)
from holdfast.memory.search import SearchHit, cites
from holdfast.memory.service import MemoryService
from holdfast.memory.workspace import ABSENT, check_path, check_size, missing_error, read_or_empty
from holdfast.messages import Scope
from holdfast.server.endpoint import engine_of, read_body, scope_of
from holdfast.server.guard import Access, access_of
from holdfast.store import Store


def conversations_of(store: Store, access: Access, memories: Iterable[Memory]) -> dict[str, Any]:
    """Return the source conversations of memories by id; None for deleted ones and those that are closed."""
    names = sorted({source.conversation for memory in memories for source in memory.sources})
    conversations: dict[str, Any] = dict.fromkeys(names)
    for row in store.log.of_user(access.user, names):
        if access.project not in ("", row.scope.project):
            continue
        conversations[row.id] = {"title": row.title, "project": row.scope.project, "kind": row.scope.kind}
    return conversations


def scopes_of(store: Store, remembering: MemoryService, user: str) -> list[Scope]:
    """Return the scopes of a user: their own first, then projects, then groups."""
    mine = Scope(user)
    # Folders do not show unusual project names as they are; the conversations do.
    named = {Scope(user, name) for name in remembering.list_projects(user)}
    shared = {*named, *store.log.scopes(user)} - {mine}
    return [mine, *sorted(shared, key=lambda one: (one.kind == "group", one.project))]


def memories_in_hits(remembering: MemoryService, scope: Scope, hits: Sequence[SearchHit]) -> list[Memory]:
    """Return the memories among the hits of a search, reading only the files with a hit."""
    paths = {hit.id: PurePosixPath(hit.path) for hit in hits if hit.memory_kind}
    owners = remembering.index.owners(scope, list(paths))
    memories_by_id: dict[str, Memory] = {}
    for whose in set(owners.values()):
        files = {paths[name] for name, owner in owners.items() if owner == whose}
        for _, memories in remembering.library.notes.iterate_files(sorted(files), whose, []):
            memories_by_id.update((memory.id, memory) for memory in memories if memory.id in paths)
    return list(memories_by_id.values())


router = APIRouter(prefix="/api/memory", tags=["Memory"])

Whose = Literal["user", "project"]
Importance = Annotated[float, Field(ge=0, le=1)]


class NewMemory(BaseModel):
    """A memory to add, for the user or for the project of the request."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str
    kind: str = "fact"
    importance: Importance = 0.8
    pinned: bool = False
    scope: Whose | None = None


class MemoryChanges(BaseModel):
    """Changes to a memory; what is left out stays."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str | None = None
    kind: str | None = None
    importance: Importance | None = None
    pinned: bool | None = None


def remembering_of(request: Request) -> MemoryService:
    """Return the memory of this server; raise `NotFound` if it has none."""
    remembering = engine_of(request).remembering
    if remembering is None:
        raise NotFound(
            lazy("Nothing is remembered here."), hint=lazy("This server was started without a memory.")
        )
    return remembering


def scope_for(request: Request, whose: Whose | None) -> Scope:
    """Return the scope of the request, narrowed to the user or the project."""
    scope = scope_of(request)
    if whose is None:
        return scope
    if scope.kind == "group":
        raise BadRequest(lazy("A group has one scope only."), hint=lazy("Leave `scope` out."), param="scope")
    if whose == "user":
        return replace(scope, project=Scope().project)
    if scope == Scope(scope.user):
        raise BadRequest(
            lazy("No project is named."), hint=lazy("Name it in X-Holdfast-Project."), param="scope"
        )
    return scope


@router.get("/list")
async def list_memories(
    request: Request,
    kind: str | None = None,
    type: str | None = None,  # noqa: A002
    scope: Whose | None = None,
    text: str = "",
    history: bool = False,
    only: Aside | None = None,
    limit: int = Query(50, ge=1, le=500),
    offset: int = Query(0, ge=0),
) -> dict[str, Any]:
    """List memories, newest first; with `history` also those that no longer hold. `type` is the same as
    `kind`.

    The kind `summary` lists the newest summary of each conversation of this scope; summaries are changed in
    their conversation. `only` lists memories that no longer hold (`former`) or were archived (`archived`)
    instead. `conversations` are their sources, null for deleted ones.
    """
    library, where = remembering_of(request).library, scope_for(request, scope)
    named = kind if kind is not None else type
    wanted = None if named is None else check_listed_kind(named)
    page = await asyncio.to_thread(
        library.page,
        where,
        kind=wanted,
        text=text,
        limit=limit,
        offset=offset,
        history=history,
        only=only,
        own=scope is not None,
    )
    return {
        "memories": [memory.to_json() for memory in page.memories],
        "conversations": await source_conversations(request, page.memories),
        "total": page.total,
        "troubles": list(page.troubles),
    }


@router.get("/scopes")
async def list_scopes(request: Request) -> dict[str, Any]:
    """List the scopes in which this user may have memories: their own, their projects and their groups."""
    engine, remembering, access = engine_of(request), remembering_of(request), access_of(request)
    if access.project:
        return {"scopes": [asdict(Scope(access.user, access.project))]}
    known_scopes = await asyncio.to_thread(scopes_of, engine.store, remembering, access.user)
    return {"scopes": [asdict(scope) for scope in known_scopes]}


@router.get("/search")
async def search_memories(
    request: Request,
    q: str,
    kind: Annotated[list[str] | None, Query()] = None,
    scope: Whose | None = None,
    within: Literal["notes", "conversations", "all"] = "notes",
    limit: int = Query(6, ge=1, le=50),
    min_score: float = Query(0.0, ge=0, le=1),
    citations: Literal["on", "off", "auto"] | None = None,
    whole: bool = False,
) -> dict[str, Any]:
    """Search notes and memories by words and meaning, best first, with how each was found.

    `citations` overrides the setting. With `whole` the memories among the hits are returned in full, with the
    conversations that they come from.
    """
    remembering, where = remembering_of(request), scope_for(request, scope)
    kinds = [check_kind(name) for name in kind or ()]
    results = await asyncio.to_thread(
        remembering.search.search,
        q,
        where,
        within=within,
        kinds=kinds,
        limit=limit,
        min_score=min_score,
        own=scope is not None,
    )
    config: Config = request.app.state.config
    payload = results.to_json(cited=cites(citations or config.settings.citations, where))
    if whole:
        memories = await asyncio.to_thread(memories_in_hits, remembering, where, results.hits)
        payload["memories"] = {memory.id: memory.to_json() for memory in memories}
        payload["conversations"] = await source_conversations(request, memories)
    return payload


@router.get("/stats")
async def show_stats(request: Request, scope: Whose | None = None) -> dict[str, Any]:
    """Return how much is remembered, the state of the index, and which embedder made its vectors.

    `confirm` is the word that deleting all memories asks for.
    """
    remembering, where = remembering_of(request), scope_for(request, scope)
    reindexing: ReindexJob = request.app.state.reindexing
    statistics = await asyncio.to_thread(collect_stats, remembering, where)
    return {**statistics, "reindex": reindexing.state.to_json()}


def collect_stats(remembering: MemoryService, scope: Scope) -> dict[str, Any]:
    library = remembering.library
    entries = remembering.workspace.entries(folder(visible(scope)[0]))
    sizes = [entry.size for entry in entries if may_see(scope, entry.path)]
    return {
        **asdict(library.stats(scope)),
        **remembering.state(scope),
        "notes": {"files": len(sizes), "bytes": sum(sizes)},
        "confirm": library.confirmation(scope),
    }


async def source_conversations(request: Request, memories: Sequence[Memory]) -> dict[str, Any]:
    store = engine_of(request).store
    return await store.run(conversations_of, store, access_of(request), memories)


@router.post("", status_code=201)
async def add_memory(request: Request, new: NewMemory) -> dict[str, Any]:
    """Add a memory. One that says the same is updated, one that it contradicts is replaced."""
    library, scope = remembering_of(request).library, scope_for(request, new.scope)
    outcome = await asyncio.to_thread(
        library.add,
        scope,
        new.text,
        check_kind(new.kind),
        **new.model_dump(exclude={"text", "kind", "scope"}),
    )
    replaced = [old.to_json() for old in outcome.others]
    return {
        "action": outcome.action,
        "memory": outcome.memory.to_json(),
        "replaced": replaced,
        "archived": [old.to_json() for old in outcome.archived],
    }


@router.post("/reindex", status_code=202)
async def start_reindex(request: Request, wait: bool = False) -> Response:
    """Rebuild the index from the notes in the background; events `memory` report the progress."""
    remembering, scope = remembering_of(request), scope_of(request)
    reindexing: ReindexJob = request.app.state.reindexing
    reindexing.start(remembering, scope)
    if wait:
        await reindexing.wait()
    state = await asyncio.to_thread(remembering.state, scope)
    payload = {**reindexing.state.to_json(), "index": state["index"]}
    return JSONResponse(payload, 200 if wait else 202)


@router.post("/export")
async def export_memories(request: Request, format: Literal["json", "markdown"] = "json") -> Response:  # noqa: A002
    """Export all memories as a file; JSON includes their history and the archive, and what was left out."""
    library = remembering_of(request).library
    exported_memories = await asyncio.to_thread(dump_memories, library, scope_of(request), format)
    media, name = ("application/json", "json") if format == "json" else ("text/markdown", "md")
    head = {"Content-Disposition": f'attachment; filename="memories.{name}"'}
    if exported_memories.left_out:
        head["X-Holdfast-Left-Out"] = str(len(exported_memories.left_out))
    return Response(exported_memories.text.encode("utf-8", "replace"), media_type=media, headers=head)


@router.post(
    "/import",
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/json": {}, "text/markdown": {}}}
    },
)
async def import_memories(request: Request) -> dict[str, Any]:
    """Import memories from an export. Existing memories stay as they are."""
    library, scope = remembering_of(request).library, scope_of(request)
    text = (await read_body(request)).decode("utf-8", "replace")
    taken: ImportCounts = await asyncio.to_thread(load_memories, library, scope, text)
    return asdict(taken)


@router.delete("/all")
async def clear_memories(request: Request, confirm: str = "", scope: Whose | None = None) -> dict[str, Any]:
    """Forget all memories of a scope; `confirm` is the name that the refusal mentions."""
    library, where = remembering_of(request).library, scope_for(request, scope)
    return {"forgotten": await asyncio.to_thread(library.clear, where, confirm)}


@router.get("/proposals")
async def list_proposals(request: Request) -> dict[str, Any]:
    """List memories that may replace an older one, each with that one: both hold until somebody decides."""
    library, scope = remembering_of(request).library, scope_of(request)
    pairs = await asyncio.to_thread(library.list_rivals, scope)
    return {"proposals": [{"newer": new.to_json(), "older": old.to_json()} for new, old in pairs]}


@router.post("/{memory}/replace")
async def replace_memory(request: Request, memory: str) -> dict[str, Any]:
    """Decide that a memory replaces the older one that it was proposed to replace."""
    return await decide_proposal(request, memory, replaces=True)


@router.post("/{memory}/keep-both")
async def keep_both_memories(request: Request, memory: str) -> dict[str, Any]:
    """Decide that a memory and the one it was proposed to replace both hold."""
    return await decide_proposal(request, memory, replaces=False)


async def decide_proposal(request: Request, memory: str, *, replaces: bool) -> dict[str, Any]:
    library, scope = remembering_of(request).library, scope_of(request)
    newer, replaced = await asyncio.to_thread(library.decide, scope, memory, replaces=replaces)
    return {"memory": newer.to_json(), "replaced": replaced.to_json() if replaced else None}


@router.get("/{memory}")
async def show_memory(request: Request, memory: str) -> dict[str, Any]:
    """Return one memory, the file it is in, and its sources."""
    remembering, scope = remembering_of(request), scope_of(request)
    return await asyncio.to_thread(serialize_with_path, remembering, scope, memory)


@router.get("/{memory}/history")
async def show_history(request: Request, memory: str) -> dict[str, Any]:
    """Return a memory, what it replaced, and what replaced it; `slot` is all of these, newest first.

    `rival` is an older memory that it may replace, if somebody decides so.
    """
    library, scope = remembering_of(request).library, scope_of(request)

    def work() -> tuple[Memory, list[Memory], list[Memory]]:
        asked = library.get(scope, memory)
        return asked, library.list_replaced(scope, memory), library.history(scope, memory)

    asked, replaced, slot = await asyncio.to_thread(work)
    newer = next((memory_row for memory_row in slot if memory_row.id == asked.superseded_by), None)
    pairs = await asyncio.to_thread(library.list_rivals, scope) if asked.may_replace else []
    rival = next((old for new, old in pairs if new.id == asked.id), None)
    return {
        "memory": asked.to_json(),
        "replaced": [memory_row.to_json() for memory_row in replaced],
        "replaced_by": newer.to_json() if newer else None,
        "rival": rival.to_json() if rival else None,
        "slot": [memory_row.to_json() for memory_row in slot],
        "conversations": await source_conversations(request, slot),
    }


@router.post("/{memory}/take-back")
async def take_back_memory(request: Request, memory: str) -> dict[str, Any]:
    """Forget a memory that was wrong; what it replaced holds again."""
    library, scope = remembering_of(request).library, scope_of(request)
    wrong, restored = await asyncio.to_thread(library.take_back, scope, memory)
    return {"forgotten": wrong.to_json(), "restored": [memory_row.to_json() for memory_row in restored]}


@router.post("/{memory}/restore")
async def restore_memory(request: Request, memory: str) -> dict[str, Any]:
    """Take a memory out of the archive again; it is pinned, so that it stays."""
    remembering, scope = remembering_of(request), scope_of(request)
    await asyncio.to_thread(remembering.library.restore, scope, memory)
    return await asyncio.to_thread(serialize_with_path, remembering, scope, memory)


@router.put("/{memory}")
async def correct_memory(request: Request, memory: str, changes: MemoryChanges) -> dict[str, Any]:
    """Correct a memory in place."""
    remembering, scope = remembering_of(request), scope_of(request)
    kind = None if changes.kind is None else check_kind(changes.kind)

    def work() -> dict[str, Any]:
        remembering.library.edit(
            scope,
            memory,
            text=changes.text,
            kind=kind,
            **changes.model_dump(exclude={"text", "kind"}),
        )
        return serialize_with_path(remembering, scope, memory)

    return await asyncio.to_thread(work)


@router.delete("/{memory}", status_code=204)
async def forget_memory(request: Request, memory: str) -> None:
    """Forget a memory for good; it is not learned again from the same source."""
    library, scope = remembering_of(request).library, scope_of(request)
    await asyncio.to_thread(library.forget, scope, memory)


def serialize_with_path(remembering: MemoryService, scope: Scope, name: str) -> dict[str, Any]:
    memory: Memory = remembering.library.get(scope, name)
    return {**memory.to_json(), "path": str(remembering.library.find_file(scope, name))}


def etag(tag: str) -> str:
    return f'"{tag}"'


def tag_to_match(request: Request, current_tag: str, *, needed: bool = True) -> str | None:
    """Return the tag that a file must still have when it is written; None if any will do.

    `current_tag` is the tag it has now. To replace a file, If-Match must name the version that was read; a
    new file needs no condition.
    """
    if request.headers.get("if-none-match", "").strip() == "*":
        return ABSENT
    if_match = request.headers.get("if-match")
    if if_match is None:
        if needed and current_tag != ABSENT:
            raise HTTPException(
                428,
                "It is there already. Read it first, and send its ETag as If-Match.",
                {"ETag": etag(current_tag)},
            )
        return ABSENT if needed else None
    tags = [part.strip() for part in if_match.split(",")]
    if current_tag != ABSENT and ("*" in tags or etag(current_tag) in tags):
        return current_tag
    # An old version, or a tag that never existed.
    raise version_conflict(current_tag)


def is_current(request: Request, current_tag: str) -> bool:
    """Whether the client already has the current version."""
    tags = [part.strip().removeprefix("W/") for part in request.headers.get("if-none-match", "").split(",")]
    return "*" in tags or etag(current_tag) in tags


def version_conflict(current_tag: str = ABSENT) -> HTTPException:
    headers = {"ETag": etag(current_tag)} if current_tag != ABSENT else None
    return HTTPException(412, "It was changed by somebody else meanwhile. Read it again.", headers)


notes_router = APIRouter(prefix="/api/notes", tags=["Notes"])

# The profile is a YAML file beside the notes.
_NOTE_SUFFIXES = MARKDOWN | {".yaml", ".yml"}


@notes_router.get("")
async def list_notes(request: Request) -> dict[str, Any]:
    """List the files of this scope with the tags of their versions, and those that cannot be used."""
    workspace, scope = remembering_of(request).workspace, scope_of(request)
    entries = await asyncio.to_thread(notes_of, workspace, scope, _NOTE_SUFFIXES)
    return {
        "notes": [
            {"path": str(entry.path), "size": entry.size, "modified_at": entry.mtime, "tag": entry.tag}
            for entry in entries
            if not entry.trouble
        ],
        "left_out": {str(entry.path): entry.trouble for entry in entries if entry.trouble},
    }


@notes_router.get("/{path:path}", response_class=Response)
async def read_note(request: Request, path: str) -> Response:
    """Return a file byte for byte; to change it, its ETag has to be sent."""
    workspace, scope = remembering_of(request).workspace, scope_of(request)
    note = await asyncio.to_thread(note_at, workspace, scope, path, _NOTE_SUFFIXES)
    headers = {"ETag": etag(note.tag), "X-Content-Type-Options": "nosniff"}
    if is_current(request, note.tag):
        return Response(status_code=304, headers=headers)
    media = "text/markdown" if PurePosixPath(path).suffix.lower() in MARKDOWN else "text/plain"
    return Response(note.text.encode("utf-8", "surrogateescape"), headers=headers, media_type=media)


@notes_router.put(
    "/{path:path}", openapi_extra={"requestBody": {"required": True, "content": {"text/markdown": {}}}}
)
async def write_note(request: Request, path: str) -> Response:
    """Replace a file as a whole, with its version in `If-Match`, or create a new one.

    412 if the version is another by now, 428 if none was named. Secrets and private text are removed.
    """
    remembering, scope = remembering_of(request), scope_of(request)
    content = await read_body(request)

    def work() -> tuple[str, bool]:
        place = writable_path(scope, path)
        # Checked before the slow search for secrets.
        check_size(place, len(content))
        text = content.decode("utf-8", "surrogateescape")
        current_tag = read_or_empty(remembering.workspace, place).tag
        tag = put_note(remembering, scope, place, text, tag_to_match(request, current_tag))
        return tag, current_tag == ABSENT

    tag, new = await asyncio.to_thread(work)
    payload = {"path": str(check_path(path)), "tag": tag}
    return JSONResponse(payload, 201 if new else 200, {"ETag": etag(tag)})


@notes_router.delete("/{path:path}", status_code=204)
async def remove_note(request: Request, path: str) -> None:
    """Delete a file, with its version in `If-Match`. Its memories are forgotten."""
    workspace, scope = remembering_of(request).workspace, scope_of(request)

    def work() -> None:
        place = writable_path(scope, path)
        current_tag = read_or_empty(workspace, place).tag
        if current_tag == ABSENT:
            raise missing_error(place)
        try:
            workspace.remove(place, tag_to_match(request, current_tag))
        except Conflict as error:
            raise version_conflict() from error

    await asyncio.to_thread(work)


def put_note(
    remembering: MemoryService, scope: Scope, place: PurePosixPath, text: str, expect: str | None
) -> str:
    if "\0" in text:
        raise BadRequest(lazy("This is no text."), hint=lazy("A note is Markdown."))
    try:
        if place == profile_file(scope):
            return remembering.profile.replace(scope, text, expect)
        return remembering.workspace.write(place, redact_file(text), expect)
    except Conflict as error:
        raise version_conflict() from error


def writable_path(scope: Scope, path: str) -> PurePosixPath:
    place = check_note_path(scope, path, _NOTE_SUFFIXES)
    if folder(scope) not in place.parents:
        check_writable(scope, Scope(scope.user))
    if is_summary(place):
        raise BadRequest(
            lazy("Summaries are written from their conversations."),
            hint=lazy("Undo one in its conversation; notes of your own go beside MEMORY.md."),
        )
    if place.suffix.lower() not in MARKDOWN and place != profile_file(scope):
        raise BadRequest(lazy("Notes are Markdown."), hint=lazy("Name a file that ends in .md."))
    return place


log = logging.getLogger("holdfast.server")

Phase = Literal["idle", "files", "vectors", "done", "failed"]

# Percent between two events: few, since each scope keeps only its last ones.
_STEP = 5


@dataclass(frozen=True, slots=True)
class ReindexState:
    """The progress. `trouble` says why it failed, or why the index has no vectors."""

    phase: Phase = "idle"
    done: int = 0
    total: int = 0
    trouble: str = ""

    @property
    def percent(self) -> int:
        return 100 * self.done // self.total if self.total else 100

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "percent": self.percent, "trouble": self.trouble or None}


class ReindexJob:
    """Rebuilds the index on request, and publishes its progress to the scopes that asked for it."""

    def __init__(self, events: Events) -> None:
        self.state = ReindexState()
        self._events = events
        self._followers: set[Scope] = set()
        self._task: asyncio.Task[None] | None = None
        self._stop = threading.Event()

    def start(self, remembering: MemoryService, scope: Scope) -> None:
        """Start, unless it is running already; in both cases this scope gets its events."""
        if self._task is None or self._task.done():
            self._followers.clear()
            self.state = ReindexState("files")
            self._task = asyncio.create_task(asyncio.to_thread(self._work, remembering))
            self._task.add_done_callback(log_failure)
        self._followers.add(scope)

    async def wait(self) -> None:
        """Wait until the running job ends; cancelling the wait does not cancel the job."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def close(self) -> None:
        self._stop.set()
        await self.wait()

    def _work(self, remembering: MemoryService) -> None:
        ended = ReindexState("failed", trouble="It was broken off.")
        try:
            _, trouble = remembering.rebuild(self._tell, self._stop.is_set)
            if self._stop.is_set():
                log.info("the index was not finished; it is caught up with later")
            else:
                ended = ReindexState("done", trouble=trouble)
        except HoldfastError as error:
            ended = ReindexState("failed", trouble=str(error))
        finally:
            self._publish(ended)

    def _tell(self, phase: Phase, done: int, total: int) -> None:
        state = ReindexState(phase, done, total)
        if (phase, state.percent // _STEP) != (self.state.phase, self.state.percent // _STEP):
            self._publish(state)
        self.state = state

    def _publish(self, state: ReindexState) -> None:
        self.state = state
        for scope in tuple(self._followers):
            self._events.publish("memory", {"work": "reindex", **state.to_json()}, scope)


def log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("the index could not be built", exc_info=error)
