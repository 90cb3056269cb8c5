"""The files of memory, over REST: which ones there are, reading them, and writing them back.

Only those of the request's own scope, and never over a version that the writer has not seen.
"""

import asyncio
from pathlib import PurePosixPath
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from holdfast.errors import BadRequest, Conflict
from holdfast.memory.private import redacted_file
from holdfast.memory.reading import MARKDOWN, note_at, notes_of, place_of
from holdfast.memory.remembering import Remembering
from holdfast.memory.scopes import is_summary, profile_file
from holdfast.memory.workspace.base import ABSENT, inside, look, not_there
from holdfast.memory.workspace.folder import check_size
from holdfast.messages import Scope
from holdfast.server.endpoint import body_of, scope_of
from holdfast.server.matching import changed, etag, expected, unchanged
from holdfast.server.memories import remembering_of

notes_router = APIRouter(prefix="/api/notes", tags=["Notes"])

# The profile is a file, too.
_SUFFIXES = MARKDOWN | {".yaml", ".yml"}


@notes_router.get("")
async def list_notes(request: Request) -> dict[str, Any]:
    """The files of this scope, each with the tag of its current version; and those that cannot be used."""
    workspace, scope = remembering_of(request).workspace, scope_of(request)
    found = await asyncio.to_thread(notes_of, workspace, scope, _SUFFIXES)
    return {
        "notes": [
            {"path": str(entry.path), "size": entry.size, "modified_at": entry.mtime, "tag": entry.tag}
            for entry in found
            if not entry.trouble
        ],
        "left_out": {str(entry.path): entry.trouble for entry in found if entry.trouble},
    }


@notes_router.get("/{path:path}", response_class=Response)
async def read_note(request: Request, path: str) -> Response:
    """A file as it is, byte for byte; its ETag is what a change of it has to name."""
    workspace, scope = remembering_of(request).workspace, scope_of(request)
    note = await asyncio.to_thread(note_at, workspace, scope, path, _SUFFIXES)
    headers = {"ETag": etag(note.tag), "X-Content-Type-Options": "nosniff"}
    if unchanged(request, note.tag):
        return Response(status_code=304, headers=headers)
    media = "text/markdown" if PurePosixPath(path).suffix.lower() in MARKDOWN else "text/plain"
    return Response(note.text.encode("utf-8", "surrogateescape"), headers=headers, media_type=media)


@notes_router.put(
    "/{path:path}", openapi_extra={"requestBody": {"required": True, "content": {"text/markdown": {}}}}
)
async def write_note(request: Request, path: str) -> Response:
    """Put a whole text in place of a file, whose version `If-Match` names, or make a new one.

    412 if it is another version by now, 428 if none was named. Secrets and private text are taken out.
    """
    remembering, scope = remembering_of(request), scope_of(request)
    content = await body_of(request)

    def work() -> tuple[str, bool]:
        place = _writable(scope, path)
        # Before anything looks for secrets in it, which takes its time.
        check_size(place, len(content))
        text = content.decode("utf-8", "surrogateescape")
        there = look(remembering.workspace, place).tag
        tag = _put(remembering, scope, place, text, expected(request, there))
        return tag, there == ABSENT

    tag, new = await asyncio.to_thread(work)
    told = {"path": str(inside(path)), "tag": tag}
    return JSONResponse(told, 201 if new else 200, {"ETag": etag(tag)})


@notes_router.delete("/{path:path}", status_code=204)
async def remove_note(request: Request, path: str) -> None:
    """Take away a file, whose version `If-Match` names. What stood in it is not remembered any more."""
    workspace, scope = remembering_of(request).workspace, scope_of(request)

    def work() -> None:
        place = _writable(scope, path)
        there = look(workspace, place).tag
        if there == ABSENT:
            raise not_there(place)
        try:
            workspace.remove(place, expected(request, there))
        except Conflict as error:
            raise changed() from error

    await asyncio.to_thread(work)


def _put(remembering: Remembering, scope: Scope, place: PurePosixPath, text: str, expect: str | None) -> str:
    if "\0" in text:
        raise BadRequest("This is no text.", hint="A note is Markdown.")
    try:
        if place == profile_file(scope):
            return remembering.profile.replace(scope, text, expect)
        return remembering.workspace.write(place, redacted_file(text), expect)
    except Conflict as error:
        raise changed() from error


def _writable(scope: Scope, path: str) -> PurePosixPath:
    place = place_of(scope, path, _SUFFIXES)
    if is_summary(place):
        raise BadRequest(
            "Summaries are written from their conversations.",
            hint="Undo one in its conversation; notes of your own go beside MEMORY.md.",
        )
    if place.suffix.lower() not in MARKDOWN and place != profile_file(scope):
        raise BadRequest("Notes are Markdown.", hint="Name a file that ends in .md.")
    return place
