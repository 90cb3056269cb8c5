"""From the bytes of a file to its text: decoded, or read out of a PDF, Word document or web page.

Documents are read by the program `reader` in a child process: a crafted file can keep a parser busy for
hours, and a thread cannot be stopped, but a process can. Only a few run at a time.
"""

import asyncio
import codecs
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from holdfast.errors import BadRequest, Stopped, TooLarge
from holdfast.files.digests import kind_by_name
from holdfast.i18n import gettext as _
from holdfast.i18n import lazy
from holdfast.text.patterns import late

DocumentKind = Literal["pdf", "docx", "page"]

# How long one document may take, and all documents of one message.
DOCUMENT_SECONDS, MESSAGE_SECONDS = 10.0, 20.0
# How many readers run at a time, and how long a document waits for one of them.
_MOST_READERS, _QUEUE_SECONDS = 3, 10.0

_READER_COMMAND = (sys.executable, "-P", "-m", "holdfast.files.reader")
_threads = ThreadPoolExecutor(_MOST_READERS, "holdfast-document")


@dataclass(frozen=True, slots=True)
class DocumentText:
    title: str
    text: str


class TooSlow(BadRequest):
    """A document takes too long to read."""


def read_document(
    kind: DocumentKind, name: str, data: bytes, seconds: float = DOCUMENT_SECONDS
) -> DocumentText:
    """Read a document in a child process and wait for it.

    Raises `BadRequest` if it cannot be read, `TooSlow` if it takes longer than `seconds`.
    """
    with start_reader(kind, name, data, seconds) as work:
        try:
            ended = work.result(seconds + _QUEUE_SECONDS)
        except TimeoutError:
            raise too_slow_error(name) from None
    return parse_result(name, ended)


async def read_document_async(
    kind: DocumentKind, name: str, data: bytes, seconds: float = DOCUMENT_SECONDS
) -> DocumentText:
    """`read_document` without blocking. If it is cancelled, the process is ended."""
    try:
        with start_reader(kind, name, data, seconds) as work:
            async with asyncio.timeout(seconds + _QUEUE_SECONDS):
                ended = await asyncio.wrap_future(work)
    except TimeoutError:
        raise too_slow_error(name) from None
    finally:
        await asyncio.wait([asyncio.wrap_future(work)])
    return parse_result(name, ended)


def stop_readers() -> None:
    """End all readers; those who wait for one get `Stopped`."""
    for child in list(_children):
        child.stop()


@contextmanager
def start_reader(
    kind: DocumentKind, name: str, data: bytes, seconds: float
) -> Iterator["Future[_ReaderResult]"]:
    """Start a reader that is ended with the block, finished or not."""
    if seconds <= 0:
        raise too_slow_error(name)
    child = _ReaderProcess(kind, name, data, seconds)
    work = _threads.submit(child.run)
    _children.add(child)
    try:
        yield work
    finally:
        work.cancel()
        child.stop()
        _children.discard(child)


@dataclass(frozen=True, slots=True)
class _ReaderResult:
    """How a reader ended. `answer` is empty if it crashed."""

    answer: bytes = b""
    slow: bool = False
    stopped: bool = False


class _ReaderProcess:
    """The process that reads one document. `run` blocks one thread; `stop` may be called from any."""

    def __init__(self, kind: DocumentKind, name: str, data: bytes, seconds: float) -> None:
        self._kind = kind
        self._given = json.dumps(name).encode() + b"\n" + data
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self._lock = threading.Lock()

    def run(self) -> _ReaderResult:
        with self._lock:
            if self._stopped:
                return _ReaderResult(stopped=True)
            self._process = subprocess.Popen(
                (*_READER_COMMAND, self._kind, str(os.getpid())),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # The environment may hold keys; the reader needs only the path of the libraries.
                env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                # Ctrl-C in a terminal is for the parent only.
                start_new_session=True,
            )
        with self._process as process:
            return self.wait(process)

    def wait(self, process: subprocess.Popen[bytes]) -> _ReaderResult:
        try:
            answer, _ = process.communicate(self._given, self._seconds)
        except subprocess.TimeoutExpired:
            return _ReaderResult(slow=True)
        finally:
            process.kill()
        return _ReaderResult(answer if process.returncode == 0 else b"", stopped=self._stopped)

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()


_children: set[_ReaderProcess] = set()


def parse_result(name: str, ended: _ReaderResult) -> DocumentText:
    if ended.slow:
        raise too_slow_error(name)
    if ended.stopped and not ended.answer:
        raise Stopped(_("Holdfast is stopping"))
    if not ended.answer:
        raise BadRequest(
            _("'{name}' cannot be read: it is damaged").format(name=name),
            hint=document_hint(),
        )
    answer = json.loads(ended.answer)
    if "refused" in answer:
        raise (TooLarge if answer["large"] else BadRequest)(answer["refused"], hint=answer["hint"])
    return DocumentText(answer["title"], answer["text"])


def too_slow_error(name: str) -> TooSlow:
    message = _("'{name}' takes too long to read").format(name=name)
    return TooSlow(message, hint=document_hint())


def document_hint() -> str:
    return _("Save its text alone, or a part of it.")


# Byte order marks and their encodings. The longer ones come first.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Encodings that texts have which are neither Unicode nor Western.
_LEGACY_ENCODINGS = [
    *("cp1251", "koi8_r", "cp1253", "cp1255", "cp1256"),
    *("shift_jis", "euc_jp", "gb18030", "big5", "euc_kr"),
]
# With fewer bytes that are not ASCII, nothing can be detected.
_LEAST_SIGNS = 16
_ASCII = bytes(range(128))
_SIGNATURES = (
    (b"\x89PNG", lazy("a PNG picture")),
    (b"\xff\xd8\xff", lazy("a JPEG picture")),
    (b"GIF8", lazy("a GIF picture")),
    (b"PK\x03\x04", lazy("a ZIP archive")),
    (b"\x1f\x8b", lazy("a gzip archive")),
    (b"\x7fELF", lazy("a program")),
    (b"MZ", lazy("a program")),
    (b"SQLite format 3\0", lazy("an SQLite database")),
    (b"GGUF", lazy("a model's weights")),
    (b"BZh", lazy("a bzip2 archive")),
    (b"\xfd7zXZ", lazy("an xz archive")),
    (b"7z\xbc\xaf", lazy("a 7z archive")),
    (b"OggS", lazy("sound")),
    (b"ID3", lazy("sound")),
    (b"\xd0\xcf\x11\xe0", lazy("an old Office document")),
    (b"\xca\xfe\xba\xbe", lazy("a compiled class")),
    (b"\0asm", lazy("a WebAssembly module")),
)
_SAMPLE_BYTES = 65_536
# Control characters that do not occur in text, unlike tabs, line ends and terminal colours.
_CONTROL = bytes(range(32)).translate(None, b"\b\t\n\v\f\r\x1b")
_BINARY_SHARE = 0.01
_BINARY_HINT = lazy("Name a text file, a PDF or a Word document (.docx).")
_NEWLINES = late(r"\r\n?")


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a file, its lines ended by line feeds. `kind` is `text`, `html`, `pdf` or `docx`.

    For HTML it is the source; `formats.html_to_text` extracts the words.
    """

    text: str
    kind: str


def extract_text(name: str, data: bytes, seconds: float = DOCUMENT_SECONDS) -> FileText:
    """Return the text of a file, decoded or read out of a document; blocks for documents.

    Raises `BadRequest` if it is not text or cannot be read, `TooSlow` if a document takes over `seconds`.
    """
    kind = detect_document(name, data)
    if kind is None:
        return decode_file(name, data)
    return FileText(normalize_newlines(read_document(kind, name, data, seconds).text), kind)


async def extract_text_async(name: str, data: bytes, seconds: float = DOCUMENT_SECONDS) -> FileText:
    """`extract_text` without blocking."""
    kind = detect_document(name, data)
    if kind is None:
        return await asyncio.to_thread(decode_file, name, data)
    document = await read_document_async(kind, name, data, seconds)
    return FileText(normalize_newlines(document.text), kind)


def detect_document(name: str, data: bytes) -> Literal["pdf", "docx"] | None:
    """Return the kind of document, or None for plain text. First bytes are more reliable than names."""
    if b"%PDF-" in data[:1024]:
        return "pdf"
    return "docx" if data.startswith(b"PK\x03\x04") and is_word_document(name, data) else None


def decode_file(name: str, data: bytes) -> FileText:
    text = normalize_newlines(decode(name, data))
    return FileText(text, "html" if kind_by_name(name) == "html" or is_html(text) else "text")


def is_word_document(name: str, data: bytes) -> bool:
    return (
        name.casefold().endswith((".docx", ".docm", ".dotx")) or b"word/document.xml" in data[:_SAMPLE_BYTES]
    )


def is_html(text: str) -> bool:
    return text[:200].lstrip().casefold().startswith(("<!doctype html", "<html"))


def decode(name: str, data: bytes) -> str:
    if (marked := decode_marked(data)) is not None:
        return marked
    sign = next((description for beginning, description in _SIGNATURES if data.startswith(beginning)), "")
    if sign and (sign != "a program" or is_binary(data)):
        raise BadRequest(lazy("'{name}' is {sign}, not a text", name=name, sign=sign), hint=_BINARY_HINT)
    wide = detect_utf16(data)
    if wide:
        return data.decode(wide, "replace")
    if is_binary(data):
        raise BadRequest(lazy("'{name}' is binary, not a text", name=name), hint=_BINARY_HINT)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return decode_legacy(data)


def decode_marked(data: bytes) -> str | None:
    """Decode what begins with a byte order mark; None without one."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace").removeprefix("\ufeff")
    return None


def decode_legacy(data: bytes) -> str:
    """Decode what is not UTF-8: as UTF-8 with damage, as Windows-1252, or as detected if it is not Western.

    Western texts are ASCII for the most part. Their encoding is not detected, since that is wrong too often
    for short texts with a few umlauts.
    """
    mended = data.decode("utf-8", "replace")
    beyond = len(data.translate(None, _ASCII))
    if beyond > 20 * mended.count("\ufffd"):
        return mended
    if beyond < _LEAST_SIGNS or 3 * beyond < len(data):
        return data.decode("cp1252", "replace")
    # Imported late: it takes a tenth of a second, and few texts need it.
    from charset_normalizer import from_bytes

    match = from_bytes(data, cp_isolation=_LEGACY_ENCODINGS).best()
    return data.decode(match.encoding if match else "cp1252", "replace")


def detect_utf16(data: bytes) -> str:
    """Detect UTF-16 without a mark by its zero bytes, as in Western texts; return the encoding or ""."""
    glance = data[: _SAMPLE_BYTES - _SAMPLE_BYTES % 2]
    half = len(glance) // 2
    if half < 8:
        return ""
    even, odd = glance[::2].count(0), glance[1::2].count(0)
    if odd > 0.7 * half and even < 0.05 * half:
        return "utf-16-le"
    return "utf-16-be" if even > 0.7 * half and odd < 0.05 * half else ""


def is_binary(data: bytes) -> bool:
    glance = data[:_SAMPLE_BYTES]
    # A single stray zero does not make a log binary.
    odd = len(glance) - len(glance.translate(None, _CONTROL))
    return odd > max(_BINARY_SHARE * len(glance), 2)


def normalize_newlines(text: str) -> str:
    return _NEWLINES.sub("\n", text) if "\r" in text else text
