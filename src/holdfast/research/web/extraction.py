"""From the bytes of a page to its title and the text a reader came for, at most so much of it.

What understands pages runs in a process of its own, which is ended when it takes too long; then, and when it
finds nothing, the page's text without its tags has to do. Knows nothing of where a page came from.
"""

import asyncio
import re
from typing import Literal

from holdfast.errors import BadRequest, FetchFailed
from holdfast.files.reading import SECONDS, Read, reading
from holdfast.i18n import say
from holdfast.research.texts import limit_text
from holdfast.research.web.charsets import decode_page
from holdfast.research.web.markup import find_title, one_line, strip_tags, tidy

ContentKind = Literal["html", "xml", "text", "pdf"]

_PDF = b"%PDF-"
_PAGE = re.compile(r"\s*(?:<!--[^>]*-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_GLANCE = 1_024
# Texts hardly have these.
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")


async def extract_text(
    data: bytes, kind: ContentKind, *, charset: str = "", seconds: float = SECONDS
) -> Read:
    """Title and text; FetchFailed if there is none. What `data` looks like counts more than its `kind`."""
    if _PDF in data[:_GLANCE]:
        found = await _run_reader("pdf", data, seconds)
        if not found.text:
            raise FetchFailed(say("the PDF cannot be read", "das PDF lässt sich nicht lesen"))
    else:
        markup = await asyncio.to_thread(decode_page, data, charset)
        if _is_binary(markup[:_GLANCE]):
            raise FetchFailed(
                say("it is no text, whatever it says", "sie ist kein Text, was immer sie behauptet")
            )
        if kind == "html" or (kind != "xml" and _PAGE.match(markup[:_GLANCE])):
            found = await _run_reader("page", markup.encode("utf-8", "replace"), seconds)
            if not found.text:
                found = await asyncio.to_thread(_strip_page, markup)
        else:
            found = await asyncio.to_thread(_strip_page, markup) if kind == "xml" else Read("", markup)
    text = await asyncio.to_thread(tidy, found.text)
    if not text:
        raise FetchFailed(say("there is no text on it", "es steht kein Text darauf"))
    return Read(one_line(found.title), limit_text(text))


def _is_binary(beginning: str) -> bool:
    return "\0" in beginning or len(_CONTROL.findall(beginning)) * 100 > len(beginning)


def _strip_page(markup: str) -> Read:
    return Read(find_title(markup), strip_tags(markup))


async def _run_reader(kind: Literal["pdf", "page"], data: bytes, seconds: float) -> Read:
    """What the reader makes of it; nothing if it fell over it or took too long."""
    try:
        return await reading(kind, "", data, seconds)
    except BadRequest:
        return Read("", "")
