"""Files in requests: which may be referenced, completing their names, and uploads attached to a question.

References need both folders in the settings and the permission of the key. An upload becomes fenced text that
every model can read.
"""

import asyncio
import base64
import binascii
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import HTTPConnection, Request

from holdfast.config import Settings
from holdfast.errors import BadRequest
from holdfast.files.documents import DOCUMENT_SECONDS, MESSAGE_SECONDS
from holdfast.files.problems import FileProblem
from holdfast.files.references import escape_references
from holdfast.files.roots import FileEntry, Roots, is_secret, parse_folders
from holdfast.i18n import lazy
from holdfast.messages import OURS, Image, Message, Part, Text
from holdfast.protocols.openai_chat import image_type
from holdfast.server.guard import access_of


def roots_in(settings: Settings) -> Roots | None:
    """Return the folders of the settings without our own data, which holds other users' conversations."""
    folders = parse_folders(settings.file_roots)
    return Roots(folders, closed=(settings.home,)) if folders else None


def roots_for(caller: HTTPConnection) -> Roots | None:
    """Return the folders that the sender may reference; None if they may reference none."""
    roots: Roots | None = caller.app.state.file_roots
    return roots if access_of(caller).files else None


_FENCES = re.compile(r"^[ \t]*(`{3,})", re.MULTILINE)
# Images that browsers show and that cannot run anything.
BROWSER_IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp")


@dataclass(frozen=True, slots=True)
class MessageFile:
    """A file in a message: its name, and the number of characters of its text."""

    name: str
    characters: int

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "characters": self.characters}


async def file_parts(files: Iterable[tuple[str, str]], together: float = MESSAGE_SECONDS) -> list[Text]:
    """Turn files, given by name and base64, into text parts; what has no text is refused.

    `together` is the time limit in seconds for all of them.
    """
    parts = []
    until = time.monotonic() + together
    for name, data in files:
        parts.append(await _file_part(name, data, min(DOCUMENT_SECONDS, until - time.monotonic())))
    return parts


async def _file_part(name: str, data: str, seconds: float) -> Text:
    # Imported late: few questions have a file.
    from holdfast.files.documents import extract_text_async

    name = " ".join(name.split())[:200] or "file"
    raw = await asyncio.to_thread(decode_upload, name, data)
    text = (await extract_text_async(name, raw, seconds)).text
    return await asyncio.to_thread(fence, name, text)


def decode_upload(name: str, data: str) -> bytes:
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        raise BadRequest(lazy("the file {name!r} is not valid base64", name=name), param="files") from None


def fence(name: str, text: str) -> Text:
    longest = max((len(run) for run in _FENCES.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    # A file's name must not become a reference to another file.
    fenced_text = f"\n\n[file {escape_references(name)}]\n{fence}\n{text.rstrip(chr(10))}\n{fence}"
    return Text(fenced_text, extra={OURS: {"file": name, "characters": len(text)}})


def unfence(part: Text) -> str:
    """Return the text of a file that was fenced."""
    _, _, rest = part.text.partition("]\n")
    first, _, inner = rest.partition("\n")
    return inner.removesuffix(f"\n{first}")


def image_part(data: str) -> Image:
    data = "".join(data.split())
    return Image(data=data, media_type=image_type(data))


def build_question(text: str, parts: Iterable[Part] = ()) -> Message:
    return Message("user", (*((Text(text),) if text else ()), *parts))


def attachments_of(message: Message) -> tuple[Part, ...]:
    """Return the images and files of a message, without its text."""
    return tuple(part for part in message.parts if isinstance(part, Image) or message_file(part) is not None)


def files_in(message: Message) -> list[MessageFile]:
    candidates = (message_file(part) for part in message.parts)
    return [file for file in candidates if file is not None]


def text_without_files(message: Message) -> str:
    if not files_in(message):
        return message.text
    return Message(message.role, tuple(part for part in message.parts if message_file(part) is None)).text


def message_file(part: Part) -> MessageFile | None:
    ours = part.extra.get(OURS, {}) if isinstance(part, Text) else {}
    return MessageFile(str(ours["file"]), int(ours["characters"])) if "file" in ours else None


router = APIRouter(prefix="/api/files", tags=["Files"])


@router.get("/complete")
async def complete_name(
    request: Request, q: str = Query("", max_length=1_000), limit: int = Query(20, ge=1, le=100)
) -> dict[str, Any]:
    """List files and folders whose path begins with `q`; `allowed` is false if none may be referenced."""
    roots = roots_for(request)
    if roots is None:
        return {"allowed": False, "files": []}
    completions = await asyncio.to_thread(complete_path, roots, q, limit)
    return {"allowed": True, "files": [{"path": path, "folder": folder} for path, folder in completions]}


def complete_path(roots: Roots, typed: str, limit: int) -> list[tuple[str, bool]]:
    """Return the entries of the folder typed so far: first those that begin with the rest, then those
    containing it.
    """
    before, slash, start = typed.rpartition("/")
    wanted, prefix = start.casefold(), f"{before}{slash}"
    rows = [(f"{prefix}{row.steps[-1]}", row) for row in list_entries(roots, f"{before}{slash}" or ".")]
    begins = [row for row in rows if row[1].steps[-1].casefold().startswith(wanted)]
    within = [row for row in rows if wanted in row[1].steps[-1].casefold()[1:] and row not in begins]
    return [
        (f"{path}/" if row.kind == "folder" else path, row.kind == "folder")
        for path, row in (*begins, *within)[:limit]
    ]


def list_entries(roots: Roots, folder: str) -> list[FileEntry]:
    try:
        folder_entry = roots.find(folder)
        rows = roots.entries(folder_entry) if folder_entry.kind == "folder" else []
    except FileProblem:
        return []
    return [
        row
        for row in rows
        if row.kind in ("file", "folder")
        and not row.steps[-1].startswith(".")
        and not is_secret(PurePath(row.path).parts)
    ]


class FileContent(BaseModel):
    """A file in base64."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = Field(max_length=1_000)
    data: str


@router.post("/check")
async def check_file(file: FileContent) -> dict[str, Any]:
    """Say how much text a file has before it is attached to a question; what has none is refused."""
    (part,) = await file_parts([(file.name, file.data)])
    attached = message_file(part)
    assert attached is not None
    return attached.to_json()
