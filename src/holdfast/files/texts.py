"""From the bytes of a file to its text: decoded, or read out of a document in a process of its own.

Knows which bytes are no text. Where they came from, and what is done with the text, it does not know.
"""

import asyncio
import codecs
from dataclasses import dataclass
from typing import Literal

from holdfast.errors import BadRequest
from holdfast.files import reading
from holdfast.files.digests.kinds import named_kind
from holdfast.patterns import late

# With one of these at its beginning a text says how it is written. The longer ones come first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SIGNS = (
    (b"\x89PNG", "a PNG picture"), (b"\xff\xd8\xff", "a JPEG picture"), (b"GIF8", "a GIF picture"),
    (b"PK\x03\x04", "a ZIP archive"), (b"\x1f\x8b", "a gzip archive"), (b"\x7fELF", "a program"),
    (b"MZ", "a program"), (b"SQLite format 3\0", "an SQLite database"), (b"GGUF", "a model's weights"),
    (b"BZh", "a bzip2 archive"), (b"\xfd7zXZ", "an xz archive"), (b"7z\xbc\xaf", "a 7z archive"),
    (b"OggS", "sound"), (b"ID3", "sound"), (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"\xca\xfe\xba\xbe", "a compiled class"), (b"\0asm", "a WebAssembly module"),
)  # fmt: skip
_GLANCE = 65_536
# Control characters that texts do not have; tabs, line ends and colours of a terminal may be there.
_CONTROL = bytes(range(32)).translate(None, b"\b\t\n\v\f\r\x1b")
_FEW = 0.01
_BINARY_HINT = "Name a text file, a PDF or a Word document (.docx)."
_NEWLINES = late(r"\r\n?")


@dataclass(frozen=True, slots=True)
class Content:
    """`kind` says what the bytes were: `text`, `html`, `pdf` or `docx`. Lines end with a line feed.

    A page of HTML is its source; `files.formats.html.readable` gives its words.
    """

    text: str
    kind: str


def text_of(name: str, data: bytes, seconds: float = reading.SECONDS) -> Content:
    """Raises `BadRequest` for what is no text, or cannot be read as what it is.

    Waits for documents, at most so many `seconds`; what takes longer is `reading.TooSlow`.
    """
    kind = document_kind(name, data)
    if kind is None:
        return _text(name, data)
    return Content(_one_ending(reading.read(kind, name, data, seconds).text), kind)


async def text_from(name: str, data: bytes, seconds: float = reading.SECONDS) -> Content:
    """The same for those who cannot block."""
    kind = document_kind(name, data)
    if kind is None:
        return await asyncio.to_thread(_text, name, data)
    found = await reading.reading(kind, name, data, seconds)
    return Content(_one_ending(found.text), kind)


def document_kind(name: str, data: bytes) -> Literal["pdf", "docx"] | None:
    """Which document this is; None for what can be a text as it is. Names lie more often than first bytes."""
    if b"%PDF-" in data[:1024]:
        return "pdf"
    return "docx" if data.startswith(b"PK\x03\x04") and _is_word(name, data) else None


def _text(name: str, data: bytes) -> Content:
    text = _one_ending(_decoded(name, data))
    return Content(text, "html" if named_kind(name) == "html" or _is_page(text) else "text")


def _is_word(name: str, data: bytes) -> bool:
    return name.casefold().endswith((".docx", ".docm", ".dotx")) or b"word/document.xml" in data[:_GLANCE]


def _is_page(text: str) -> bool:
    return text[:200].lstrip().casefold().startswith(("<!doctype html", "<html"))


def _decoded(name: str, data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace").removeprefix("\ufeff")
    sign = next((what for beginning, what in _SIGNS if data.startswith(beginning)), "")
    if sign and (sign != "a program" or _is_binary(data)):
        raise BadRequest(f"'{name}' is {sign}, not a text", hint=_BINARY_HINT)
    wide = _wide(data)
    if wide:
        return data.decode(wide, "replace")
    if _is_binary(data):
        raise BadRequest(f"'{name}' is binary, not a text", hint=_BINARY_HINT)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _other(data)


def _other(data: bytes) -> str:
    """Not UTF-8: a file of an older Windows, unless only a few of its bytes are damaged."""
    mended = data.decode("utf-8", "replace")
    damaged = mended.count("\ufffd")
    beyond = sum(byte > 127 for byte in data[:_GLANCE])
    return mended if beyond > 20 * damaged else data.decode("cp1252", "replace")


def _wide(data: bytes) -> str:
    """UTF-16 without a mark: every other byte is zero, as Western texts have it."""
    glance = data[: _GLANCE - _GLANCE % 2]
    half = len(glance) // 2
    if half < 8:
        return ""
    even, odd = glance[::2].count(0), glance[1::2].count(0)
    if odd > 0.7 * half and even < 0.05 * half:
        return "utf-16-le"
    return "utf-16-be" if even > 0.7 * half and odd < 0.05 * half else ""


def _is_binary(data: bytes) -> bool:
    glance = data[:_GLANCE]
    # One stray zero does not make a log binary.
    odd = len(glance) - len(glance.translate(None, _CONTROL))
    return odd > max(_FEW * len(glance), 2)


def _one_ending(text: str) -> str:
    return _NEWLINES.sub("\n", text) if "\r" in text else text
