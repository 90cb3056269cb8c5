"""The text of a PDF, a heading for each page. Pages that are pictures have none, and are said to be so.

Knows limits, since a small file may claim to be a large one; nothing of it is run or fetched.
"""

import logging
import time
import zlib
from io import BytesIO

from holdfast.errors import BadRequest

_MOST_PAGES = 500
_MOST_CHARACTERS = 4_000_000
# Whoever waits gets as many pages as can be had in this time: less than `reading` gives to the whole.
_SECONDS = 7.0


def text_of_pdf(name: str, data: bytes, seconds: float = _SECONDS) -> str:
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    # It tells a log what is odd in a file; people are told what could be read.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    # What a broken file does inside the library is nobody's guess: these are all the kinds seen.
    broken = (PyPdfError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
              OSError, NotImplementedError, AssertionError, MemoryError, zlib.error)  # fmt: skip
    try:
        reader = PdfReader(BytesIO(data), strict=False)
        count = len(reader.pages)
    except broken as error:
        raise _unreadable(name, error) from error
    until = time.monotonic() + seconds
    told: list[str] = []
    size = empty = 0
    for number in range(min(count, _MOST_PAGES)):
        try:
            page = reader.pages[number].extract_text().strip()
        except broken:
            page = ""
        empty += not page
        told.append(f"## Page {number + 1}\n\n{page or '[no text on this page]'}")
        size += len(page)
        if size > _MOST_CHARACTERS or time.monotonic() > until:
            break
    if empty == len(told):
        raise BadRequest(
            f"'{name}' has no text: its pages are pictures, or cannot be read",
            hint="Run it through a text recognition (OCR) first.",
        )
    if len(told) < count:
        told.append(f"[{count - len(told):,} of {count:,} pages left out]")
    return "\n\n".join(told)


def _unreadable(name: str, error: BaseException) -> BadRequest:
    return BadRequest(
        f"'{name}' cannot be read as PDF ({type(error).__name__})",
        hint="If it needs a password, save a copy without one; else save it as text.",
    )
