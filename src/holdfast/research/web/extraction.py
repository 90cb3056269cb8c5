"""From the bytes of a page to its title and the text a reader came for, at most so much of it.

What understands pages runs in a process of its own, which is ended when it takes too long; then, and when it
finds nothing, the page's text without its tags has to do. Knows nothing of where a page came from.
"""

import asyncio
import re
from typing import Literal

from holdfast.errors import BadRequest, FetchFailed
from holdfast.files.documents import DOCUMENT_SECONDS, DocumentText, read_document_async
from holdfast.i18n import say
from holdfast.research.texts import cut
from holdfast.research.web.charsets import decoded
from holdfast.research.web.markup import one_line, stripped, tidy, title_in

Kind = Literal["html", "xml", "text", "pdf"]

_PDF = b"%PDF-"
_PAGE = re.compile(r"\s*(?:<!--[^>]*-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_GLANCE = 1_024
# Texts hardly have these.
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")


async def read(
    data: bytes, kind: Kind, *, charset: str = "", seconds: float = DOCUMENT_SECONDS
) -> DocumentText:
    """Title and text; FetchFailed if there is none. What `data` looks like counts more than its `kind`."""
    if _PDF in data[:_GLANCE]:
        found = await _by_reader("pdf", data, seconds)
        if not found.text:
            raise FetchFailed(say("the PDF cannot be read", "das PDF lässt sich nicht lesen"))
    else:
        markup = await asyncio.to_thread(decoded, data, charset)
        if _is_binary(markup[:_GLANCE]):
            raise FetchFailed(
                say("it is no text, whatever it says", "sie ist kein Text, was immer sie behauptet")
            )
        if kind == "html" or (kind != "xml" and _PAGE.match(markup[:_GLANCE])):
            found = await _by_reader("page", markup.encode("utf-8", "replace"), seconds)
            if not found.text:
                found = await asyncio.to_thread(_plain, markup)
        else:
            found = await asyncio.to_thread(_plain, markup) if kind == "xml" else DocumentText("", markup)
    text = await asyncio.to_thread(tidy, found.text)
    if not text:
        raise FetchFailed(say("there is no text on it", "es steht kein Text darauf"))
    return DocumentText(one_line(found.title), cut(text))


def _is_binary(beginning: str) -> bool:
    return "\0" in beginning or len(_CONTROL.findall(beginning)) * 100 > len(beginning)


def _plain(markup: str) -> DocumentText:
    return DocumentText(title_in(markup), stripped(markup))


async def _by_reader(kind: Literal["pdf", "page"], data: bytes, seconds: float) -> DocumentText:
    """What the reader makes of it; nothing if it fell over it or took too long."""
    try:
        return await read_document_async(kind, "", data, seconds)
    except BadRequest:
        return DocumentText("", "")
