"""From the bytes of a page to its title and the text a reader came for, at most so much of it.

What understands pages runs in a process of its own, which is ended when it takes too long; then, and when it
finds nothing, the page's text without its tags has to do. Knows nothing of where a page came from.
"""

import asyncio
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from holdfast.errors import FetchFailed
from holdfast.language import say
from holdfast.research.web.charsets import decoded
from holdfast.research.web.markup import one_line, stripped, tidy, title_in

Kind = Literal["html", "xml", "text", "pdf"]

_READER = Path(__file__).with_name("page_reader.py")
_LONGEST = 60_000
_SECONDS = 10.0
_PDF = b"%PDF-"
_PAGE = re.compile(r"\s*(?:<!--[^>]*-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_GLANCE = 1_024
# Texts hardly have these.
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True, slots=True)
class Read:
    title: str
    text: str


async def read(data: bytes, kind: Kind, *, charset: str = "", seconds: float = _SECONDS) -> Read:
    """Title and text; FetchFailed if there is none. What `data` looks like counts more than its `kind`."""
    if _PDF in data[:_GLANCE]:
        found = await _by_reader("pdf", data, seconds)
        if found is None:
            raise FetchFailed(say("the PDF cannot be read", "das PDF lässt sich nicht lesen"))
    else:
        markup = await asyncio.to_thread(decoded, data, charset)
        if _is_binary(markup[:_GLANCE]):
            raise FetchFailed(
                say("it is no text, whatever it says", "sie ist kein Text, was immer sie behauptet")
            )
        if kind == "html" or (kind != "xml" and _PAGE.match(markup[:_GLANCE])):
            found = await _by_reader("html", markup.encode("utf-8", "replace"), seconds)
            if found is None or not found.text:
                found = await asyncio.to_thread(_plain, markup)
        else:
            found = await asyncio.to_thread(_plain, markup) if kind == "xml" else Read("", markup)
    text = await asyncio.to_thread(tidy, found.text)
    if not text:
        raise FetchFailed(say("there is no text on it", "es steht kein Text darauf"))
    return Read(one_line(found.title), cut(text))


def _is_binary(beginning: str) -> bool:
    return "\0" in beginning or len(_CONTROL.findall(beginning)) * 100 > len(beginning)


def _plain(markup: str) -> Read:
    return Read(title_in(markup), stripped(markup))


def cut(text: str) -> str:
    """As much as is kept of one source, with a word on what is missing."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}\n[cut: the first {_LONGEST:,} of {len(text):,} characters]"


async def _by_reader(kind: str, data: bytes, seconds: float) -> Read | None:
    """What the reader makes of a page; None if it fell over it or took too long."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        str(_READER),
        kind,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # Ctrl-C in a terminal is for us.
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(seconds):
            answer, _ = await process.communicate(data)
    except TimeoutError:
        return None
    finally:
        # Also when nobody waits for it any more.
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        return None
    title, text = json.loads(answer)
    return Read(title, text)
