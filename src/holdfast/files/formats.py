"""Extract the text of web pages, Word documents and PDF files.

The libraries are imported when they are needed, and `reader` runs these functions in a process of its own:
only `html_to_text` is safe on any input.
"""

import logging
import re
import time
import zlib
from html import unescape
from io import BytesIO
from xml.parsers import expat
from zipfile import BadZipFile, ZipFile

from holdfast.errors import BadRequest, TooLarge
from holdfast.i18n import lazy
from holdfast.text.lang import any_word, word_set
from holdfast.text.patterns import late

# Long chains of these take the library quadratic time, and they carry no meaning.
_SPAN = late(r"</?(?:span|font)(?:\s[^<>]*)?>", re.IGNORECASE)
_MANY_SPANS = 2_000


def extract_article(markup: str) -> tuple[str, str]:
    """Return title and main text of a web page, each empty if there is none. Thorough but slow."""
    import trafilatura

    if len(_SPAN.findall(markup)) > _MANY_SPANS:
        markup = _SPAN.sub("", markup)
    article = trafilatura.bare_extraction(markup, with_metadata=True, include_comments=False)
    if article is None or isinstance(article, dict):
        return "", ""
    return article.title or "", article.text or ""


_DOCX_PART = "word/document.xml"
_LARGEST_DOCX = 40_000_000
_MOST_CHARACTERS = 4_000_000
_CHUNK_BYTES = 65_536
_WORD_NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_STRICT_NAMESPACE = "http://purl.oclc.org/ooxml/wordprocessingml/main"
# Raised for archives and XML that are truncated, damaged, encrypted or packed by an unknown method.
_DOCX_ERRORS = (
    BadZipFile, EOFError, KeyError, NotImplementedError, OSError, RuntimeError, ValueError, expat.ExpatError,
    zlib.error,
)  # fmt: skip


def extract_docx(name: str, data: bytes) -> str:
    """Return the text of a Word document: paragraphs, headings as in Markdown, tables row by row."""
    reader = _DocxReader(name)
    try:
        with ZipFile(BytesIO(data)) as archive, archive.open(_DOCX_PART) as part:
            while piece := part.read(_CHUNK_BYTES):
                reader.feed(piece)
            reader.feed(b"", last=True)
    except _DOCX_ERRORS as error:
        raise BadRequest(
            lazy(
                "'{name}' cannot be read as a Word document ({reason})",
                name=name,
                reason=type(error).__name__,
            ),
            hint=lazy("If it needs a password, save a copy without one; else save it as text."),
        ) from error
    return reader.text()


class _DocxReader:
    """Reads the main part of a document as a stream, with limits on what it may expand to.

    A document type declaration, which can define entities, is refused: Word writes none.
    """

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
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype

    def feed(self, piece: bytes, *, last: bool = False) -> None:
        self._read += len(piece)
        if self._read > _LARGEST_DOCX:
            raise TooLarge(
                lazy(
                    "'{name}' unpacks to more than {number} MB",
                    name=self._name,
                    number=_LARGEST_DOCX // 1_000_000,
                ),
                hint=lazy("Save its text alone."),
            )
        self._parser.Parse(piece, last)

    def text(self) -> str:
        return "\n\n".join(self._blocks)

    def _refuse_doctype(self, *_: object) -> None:
        raise BadRequest(
            lazy("'{name}' declares a document type, which Word does not do", name=self._name),
            hint=lazy("Open it in a word processor and save it again."),
        )

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        space, _, local = tag.rpartition(" ")
        if space not in (_WORD_NAMESPACE, _STRICT_NAMESPACE):
            return
        if local == "t":
            self._in_text = True
        elif local in ("tab", "br", "cr"):
            self._words.append("\t" if local == "tab" else "\n")
        elif local == "pStyle":
            self._level = heading_level(attributes.get(f"{space} val", ""))
        elif local == "tr":
            self._row = []

    def _end(self, tag: str) -> None:
        space, _, local = tag.rpartition(" ")
        if space not in (_WORD_NAMESPACE, _STRICT_NAMESPACE):
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
        text = "".join(self._words).strip()
        level, self._level, self._words = self._level, 0, []
        if text and self._row is not None:
            self._cell.append(" ".join(text.split()))
        elif text:
            self._blocks.append(f"{'#' * level} {' '.join(text.split())}" if level else text)


_HEADING_STYLE = late(rf"\A{any_word('HEADING_STYLES')}")


def heading_level(style: str) -> int:
    """Return the level of a style: `Heading1`, or `berschrift1` in German Word; `Title` is level 1."""
    folded = style.casefold()
    if folded in word_set("TITLE_STYLES"):
        return 1
    named = _HEADING_STYLE.sub("", folded, count=1)
    return min(int(named), 6) if named != folded and named.isdecimal() and named != "0" else 0


_HIDDEN = late(
    r"<!--.*?(?:-->|\Z)|<(script|style|noscript|template|svg|head)\b[^<>]*>.*?(?:</\1\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_TITLE = late(r"<title\b[^<>]*>([^<]*)", re.IGNORECASE)
_HEADING = late(r"<h([1-6])\b[^<>]*>", re.IGNORECASE)
_ITEM = late(r"<li\b[^<>]*>", re.IGNORECASE)
_BREAK = late(
    r"</?(?:p|div|br|hr|h[1-6]|ul|ol|dl|dt|dd|li|tr|table|section|article|header|footer|nav|main|aside|pre|blockquote|form"
    r"|figure|figcaption|address|option)\b[^<>]*>",
    re.IGNORECASE,
)
_CELL = late(r"</t[dh]\s*>", re.IGNORECASE)
_TAG = late(r"</?[a-zA-Z!?][^<>]*>")
_BLANKS = late(r"[ \t\r\f\v\xa0]+")
_GAPS = late(r"\n\s*\n\s*")


def html_to_text(page: str) -> str:
    """Turn HTML into text with Markdown headings in one pass, including navigation and the like."""
    title = _TITLE.search(page)
    text = _HIDDEN.sub(" ", page)
    text = _HEADING.sub(lambda match: "\n\n" + "#" * int(match[1]) + " ", text)
    text = _CELL.sub(" | ", _BREAK.sub("\n", _ITEM.sub("\n- ", text)))
    text = unescape(_TAG.sub("", text))
    lines = (_BLANKS.sub(" ", line).strip(" ") for line in text.split("\n"))
    body = _GAPS.sub("\n\n", "\n".join(lines)).strip()
    named = " ".join(unescape(title[1]).split()) if title else ""
    return f"{named}\n\n{body}" if named else body


_MOST_PAGES = 500
# Reading stops after this time with the pages so far; `documents` allows more for the whole process.
_PDF_SECONDS = 7.0


def extract_pdf(name: str, data: bytes, seconds: float = _PDF_SECONDS) -> str:
    """Return the text of a PDF with a heading for each page. Raises `BadRequest` if no page has text."""
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    # It logs every oddity of a file.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    # Everything that broken files were seen to raise inside the library.
    broken = (PyPdfError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
              OSError, NotImplementedError, AssertionError, MemoryError, zlib.error)  # fmt: skip
    try:
        reader = PdfReader(BytesIO(data), strict=False)
        count = len(reader.pages)
    except broken as error:
        raise BadRequest(
            lazy("'{name}' cannot be read as PDF ({reason})", name=name, reason=type(error).__name__),
            hint=lazy("If it needs a password, save a copy without one; else save it as text."),
        ) from error
    until = time.monotonic() + seconds
    pages: list[str] = []
    size = empty = 0
    for number in range(min(count, _MOST_PAGES)):
        try:
            page = reader.pages[number].extract_text().strip()
        except broken:
            page = ""
        empty += not page
        pages.append(f"## Page {number + 1}\n\n{page or '[no text on this page]'}")
        size += len(page)
        if size > _MOST_CHARACTERS or time.monotonic() > until:
            break
    if empty == len(pages):
        raise BadRequest(
            lazy("'{name}' has no text: its pages are pictures, or cannot be read", name=name),
            hint=lazy("Run it through a text recognition (OCR) first."),
        )
    if len(pages) < count:
        pages.append(f"[{count - len(pages):,} of {count:,} pages left out]")
    return "\n\n".join(pages)
