"""Reads one document, as a program of its own: `python -m holdfast.files.reader KIND PARENT`.

Its name, as one line of JSON, and its bytes come on stdin; title and text, or why there are none, go to
stdout as JSON. Loads nothing but what the document needs. Whoever starts it ends it: see `reading`.
"""

import json
import os
import resource
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from holdfast.errors import BadRequest, TooLarge

# Whoever started us ends us sooner. This is for when they cannot.
_SECONDS, _BYTES = 15, 3 << 30
# No document that anybody reads is longer.
_MOST_CHARACTERS = 4_000_000
_KINDER = 10
_LOOK = 0.5


def main(kind: str, parent: int) -> None:
    for limit, value in ((resource.RLIMIT_CPU, _SECONDS), (resource.RLIMIT_AS, _BYTES)):
        # Not every system has every limit.
        with suppress(ValueError, OSError):
            resource.setrlimit(limit, (value, value))
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()
    # Answers to people come first.
    with suppress(OSError):
        os.nice(_KINDER)
    name = json.loads(sys.stdin.buffer.readline())
    answer = _answer(kind, name, sys.stdin.buffer.read())
    sys.stdout.buffer.write(json.dumps(answer).encode())


def _leave_with(parent: int) -> None:
    """Nobody wants the text any more when whoever asked for it is gone, however that came."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)


def _answer(kind: str, name: str, data: bytes) -> dict[str, Any]:
    try:
        title, text = read(kind, name, data)
    except BadRequest as error:
        return {"refused": error.message, "hint": error.hint, "large": isinstance(error, TooLarge)}
    return {"title": title, "text": text[:_MOST_CHARACTERS]}


def read(kind: str, name: str, data: bytes) -> tuple[str, str]:
    """Title and text. Documents that are pages come in UTF-8."""
    if kind == "pdf":
        from holdfast.files.formats.pdf import text_of_pdf

        return "", text_of_pdf(name, data)
    if kind == "docx":
        from holdfast.files.formats.docx import text_of_docx

        return "", text_of_docx(name, data)
    from holdfast.files.formats.article import article_of

    return article_of(data.decode())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
