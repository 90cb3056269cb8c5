"""Files and pictures that somebody puts to a question, as parts of its message, and found in one again.

A file becomes text that every model can read, fenced so that nobody takes it for the person's own words.
Where it came from is not known here.
"""

import asyncio
import base64
import binascii
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from holdfast.errors import BadRequest
from holdfast.files.reading import SECONDS, TOGETHER
from holdfast.files.references import harmless
from holdfast.messages import OURS, Image, Message, Part, Text
from holdfast.protocols.openai_chat import image_type

_FENCES = re.compile(r"^[ \t]*(`{3,})", re.MULTILINE)
# Pictures that browsers show, and that cannot do anything else.
SHOWN = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp")


@dataclass(frozen=True, slots=True)
class Attached:
    """A file in a message: its name, and how many characters of text it came to."""

    name: str
    characters: int

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "characters": self.characters}


async def file_parts(files: Iterable[tuple[str, str]], together: float = TOGETHER) -> list[Text]:
    """Files given by name and base64. Documents are read out; what has no text is refused.

    All of them may take so many seconds `together`.
    """
    parts = []
    until = time.monotonic() + together
    for name, data in files:
        parts.append(await _file_part(name, data, min(SECONDS, until - time.monotonic())))
    return parts


async def _file_part(name: str, data: str, seconds: float) -> Text:
    # Late: few questions bring a file along.
    from holdfast.files.texts import text_from

    name = " ".join(name.split())[:200] or "file"
    raw = await asyncio.to_thread(_bytes, name, data)
    text = (await text_from(name, raw, seconds)).text
    return await asyncio.to_thread(_fenced, name, text)


def _bytes(name: str, data: str) -> bytes:
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        raise BadRequest(f"the file {name!r} is not valid base64", param="files") from None


def _fenced(name: str, text: str) -> Text:
    longest = max((len(found) for found in _FENCES.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    # What a file is called points at no other file.
    said = f"\n\n[file {harmless(name)}]\n{fence}\n{text.rstrip(chr(10))}\n{fence}"
    return Text(said, extra={OURS: {"file": name, "characters": len(text)}})


def image_part(data: str) -> Image:
    data = "".join(data.split())
    return Image(data=data, media_type=image_type(data))


def question(text: str, parts: Iterable[Part] = ()) -> Message:
    return Message("user", (*((Text(text),) if text else ()), *parts))


def added_to(message: Message) -> tuple[Part, ...]:
    """What was put to a message, beside its words."""
    return tuple(part for part in message.parts if isinstance(part, Image) or _file(part) is not None)


def files_in(message: Message) -> list[Attached]:
    found = (_file(part) for part in message.parts)
    return [one for one in found if one is not None]


def words_of(message: Message) -> str:
    """What was said, without the files."""
    if not files_in(message):
        return message.text
    return Message(message.role, tuple(part for part in message.parts if _file(part) is None)).text


def _file(part: Part) -> Attached | None:
    ours = part.extra.get(OURS, {}) if isinstance(part, Text) else {}
    return Attached(str(ours["file"]), int(ours["characters"])) if "file" in ours else None
