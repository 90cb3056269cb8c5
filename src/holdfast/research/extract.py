"""Extracts title and text from the bytes of a page.

The character set is detected, since pages do not always have the one they declare. The reader for HTML and
PDF runs in a process of its own with a time limit; if it fails or finds nothing, the tags are stripped by
code that reads the markup once, however it was crafted.
"""

import asyncio
import codecs
import re
from html import unescape
from typing import Literal

from holdfast.errors import BadRequest, FetchFailed
from holdfast.files.documents import (
    DOCUMENT_SECONDS,
    DocumentText,
    decode_legacy,
    decode_marked,
    read_document_async,
)
from holdfast.i18n import gettext as _
from holdfast.research.repository import limit_text

# A tag ends before the next one begins, so no sign is looked at twice.
_MARK = re.compile(r"<!--|-->|<!\[CDATA\[|\]\]>|<[/!?]?([a-zA-Z][\w:.-]*+)[^<>]*>|<[!?][^<>]*>")
# What is between these is not for readers.
_HIDDEN = frozenset({"script", "style", "template", "noscript", "svg", "head", "iframe", "object"})
# These stand in the middle of a line.
_INLINE = frozenset(
    [
        "a",
        "abbr",
        "b",
        "bdi",
        "bdo",
        "cite",
        "code",
        "data",
        "dfn",
        "em",
        "font",
        "i",
        "kbd",
        "label",
        "mark",
        "q",
        "s",
        "samp",
        "small",
        "span",
        "strong",
        "sub",
        "sup",
        "time",
        "tt",
        "u",
        "var",
        "wbr",
    ]
)
_TITLE = re.compile(r"<title[^<>]*>([^<]{1,2000})", re.IGNORECASE)
_BLANK = re.compile(r"[^\S\n]+")
_LONGEST_TITLE = 300


def strip_tags(markup: str) -> str:
    """Return the text of a page without its tags, each block on its own line."""
    parts: list[str] = []
    done = 0
    hidden = ""
    for mark in _MARK.finditer(markup):
        before, done = markup[done : mark.start()], mark.end()
        name = (mark[1] or "").lower()
        closes = mark[0].startswith("</")
        if hidden:
            if mark[0] == hidden or (closes and name == hidden):
                hidden = ""
            continue
        parts.append(before)
        if mark[0] == "<!--":
            hidden = "-->"
        elif name in _HIDDEN and not closes and not mark[0].endswith("/>"):
            hidden = name
        elif name and name not in _INLINE:
            parts.append("\n")
    if not hidden:
        parts.append(markup[done:])
    return tidy(unescape("".join(parts)))


def find_title(markup: str) -> str:
    match = _TITLE.search(markup)
    return one_line(unescape(match[1])) if match else ""


def one_line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_TITLE]


def tidy(text: str) -> str:
    """Remove blanks at the ends of lines, and repeated empty lines."""
    lines = (_BLANK.sub(" ", line).strip() for line in text.replace("\0", "").splitlines())
    result: list[str] = []
    for line in lines:
        if line or (result and result[-1]):
            result.append(line)
    return "\n".join(result).strip()


# As far into a page as it has to say so.
_HEAD = 4_096
_DECLARED = re.compile(
    rb"<(?:meta|\?xml)[^>]*?(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE
)
# Python knows codecs that are no character sets of pages, some of which fail on any bytes.
_OF_PAGES = re.compile(
    r"ascii|utf-(?:8|16|32)(?:-[bl]e)?|iso8859-\d+|cp\d{3,5}|koi8-[rut]|gb2312|gbk|gb18030|big5(?:hkscs)?"
    r"|euc_(?:jp|kr)|shift_jis|iso2022_(?:jp|kr)|mac-\w+|johab|hz|tis-620"
)
# These are what pages mean who say one of those.
_MEANT = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-9": "cp1254",
}


def decode_page(data: bytes, declared: str = "") -> str:
    """Decode a page. `declared` is the character set in the header, which the page may contradict."""
    if (marked := decode_marked(data)) is not None:
        return marked
    names = [name for label in (declared, find_charset(data)) if (name := normalise_charset(label))]
    wide = [name for name in names if name.startswith(("utf-16", "utf-32"))]
    if wide and b"\0" in data[:_HEAD]:
        return data.decode(wide[0], errors="replace")
    seven_bits = [name for name in names if name.startswith("iso2022") or name == "hz"]
    if seven_bits and data.isascii():
        return data.decode(seven_bits[0], errors="replace")
    try:
        # What can be read so was hardly ever written otherwise, whatever it says.
        return data.decode()
    except UnicodeDecodeError:
        legacy = [name for name in names if not name.startswith("utf-")]
        return data.decode(legacy[0], errors="replace") if legacy else decode_legacy(data)


def find_charset(data: bytes) -> str:
    match = _DECLARED.search(data[:_HEAD])
    return match[1].decode("ascii", errors="replace") if match else ""


def normalise_charset(label: str) -> str:
    try:
        name = codecs.lookup(label.strip()).name if label.isascii() and "\0" not in label else ""
    except LookupError:
        return ""
    return _MEANT.get(name, name) if _OF_PAGES.fullmatch(name) else ""


ContentKind = Literal["html", "xml", "text", "pdf"]

_PDF = b"%PDF-"
_PAGE = re.compile(r"\s*(?:<!--[^>]*-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_GLANCE = 1_024
# Texts hardly have these.
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")


async def extract_text(
    data: bytes, kind: ContentKind, *, charset: str = "", seconds: float = DOCUMENT_SECONDS
) -> DocumentText:
    """Return title and text; FetchFailed if there is none. The content counts more than its `kind`."""
    if _PDF in data[:_GLANCE]:
        content = await run_reader("pdf", data, seconds)
        if not content.text:
            raise FetchFailed(_("the PDF cannot be read"))
    else:
        markup = await asyncio.to_thread(decode_page, data, charset)
        if is_binary(markup[:_GLANCE]):
            raise FetchFailed(_("it is no text, whatever it says"))
        if kind == "html" or (kind != "xml" and _PAGE.match(markup[:_GLANCE])):
            content = await run_reader("page", markup.encode("utf-8", "replace"), seconds)
            if not content.text:
                content = await asyncio.to_thread(strip_page, markup)
        else:
            content = (
                await asyncio.to_thread(strip_page, markup) if kind == "xml" else DocumentText("", markup)
            )
    text = await asyncio.to_thread(tidy, content.text)
    if not text:
        raise FetchFailed(_("there is no text on it"))
    return DocumentText(one_line(content.title), limit_text(text))


def is_binary(beginning: str) -> bool:
    return "\0" in beginning or len(_CONTROL.findall(beginning)) * 100 > len(beginning)


def strip_page(markup: str) -> DocumentText:
    return DocumentText(find_title(markup), strip_tags(markup))


async def run_reader(kind: Literal["pdf", "page"], data: bytes, seconds: float) -> DocumentText:
    """Run the reader; an empty result if it failed or took too long."""
    try:
        return await read_document_async(kind, "", data, seconds)
    except BadRequest:
        return DocumentText("", "")
