"""The text of a Word document: paragraphs, headings as in Markdown, tables row by row.

Reads the one part that has the text, as a stream, with limits on what it may grow to; a document type
declaration, with which entities are defined, ends the reading: Word writes none.
"""

import zlib
from io import BytesIO
from xml.parsers import expat
from zipfile import BadZipFile, ZipFile

from holdfast.errors import BadRequest, TooLarge

_PART = "word/document.xml"
_LARGEST = 40_000_000
_MOST_CHARACTERS = 4_000_000
_PIECE = 65_536
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
# What archives and their XML raise when they are cut off, damaged, locked or packed in a way nobody knows.
_BROKEN = (
    BadZipFile, EOFError, KeyError, NotImplementedError, OSError, RuntimeError, ValueError, expat.ExpatError,
    zlib.error,
)  # fmt: skip


def text_of_docx(name: str, data: bytes) -> str:
    reader = _Reader(name)
    try:
        with ZipFile(BytesIO(data)) as archive, archive.open(_PART) as part:
            while piece := part.read(_PIECE):
                reader.feed(piece)
            reader.feed(b"", last=True)
    except _BROKEN as error:
        raise BadRequest(
            f"'{name}' cannot be read as a Word document ({type(error).__name__})",
            hint="If it needs a password, save a copy without one; else save it as text.",
        ) from error
    return reader.text()


class _Reader:
    def __init__(self, name: str) -> None:
        self._name = name
        self._read = self._written = 0
        self._blocks: list[str] = []
        self._words: list[str] = []
        self._level = 0
        self._row: list[str] | None = None
        self._cell: list[str] = []
        self._in_text = False
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._declared

    def feed(self, piece: bytes, *, last: bool = False) -> None:
        self._read += len(piece)
        if self._read > _LARGEST:
            raise TooLarge(
                f"'{self._name}' unpacks to more than {_LARGEST // 1_000_000} MB", hint="Save its text alone."
            )
        self._parser.Parse(piece, last)

    def text(self) -> str:
        return "\n\n".join(self._blocks)

    def _declared(self, *_: object) -> None:
        raise BadRequest(
            f"'{self._name}' declares a document type, which Word does not do",
            hint="Open it in a word processor and save it again.",
        )

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        space, _, local = tag.rpartition(" ")
        if space not in (_WORD, _STRICT):
            return
        if local == "t":
            self._in_text = True
        elif local in ("tab", "br", "cr"):
            self._words.append("\t" if local == "tab" else "\n")
        elif local == "pStyle":
            self._level = _level(attributes.get(f"{space} val", ""))
        elif local == "tr":
            self._row = []

    def _end(self, tag: str) -> None:
        space, _, local = tag.rpartition(" ")
        if space not in (_WORD, _STRICT):
            return
        if local == "t":
            self._in_text = False
        elif local == "p":
            self._paragraph()
        elif local == "tc" and self._row is not None:
            self._row.append(" ".join(self._cell))
            self._cell = []
        elif local == "tr" and self._row is not None:
            self._blocks.append(f"| {' | '.join(self._row)} |")
            self._row = None

    def _characters(self, text: str) -> None:
        if self._in_text and self._written < _MOST_CHARACTERS:
            self._words.append(text)
            self._written += len(text)

    def _paragraph(self) -> None:
        said = "".join(self._words).strip()
        level, self._level, self._words = self._level, 0, []
        if said and self._row is not None:
            self._cell.append(" ".join(said.split()))
        elif said:
            self._blocks.append(f"{'#' * level} {' '.join(said.split())}" if level else said)


def _level(style: str) -> int:
    """`Heading1`, and `berschrift1` as a German Word writes it; `Title` is above them."""
    folded = style.casefold()
    if folded in ("title", "titel"):
        return 1
    named = folded.removeprefix("heading").removeprefix("überschrift").removeprefix("berschrift")
    return min(int(named), 6) if named != folded and named.isdecimal() and named != "0" else 0
