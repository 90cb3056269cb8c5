"""The program that reads one document: `python -m holdfast.files.reader KIND PARENT`.

Stdin is the name as one line of JSON, then the bytes. Stdout is JSON with title and text, or with the error.
It imports only what the document needs, so that it starts fast. `documents` starts and ends it.
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

# The parent ends us sooner; these limits are for when it cannot.
_CPU_SECONDS, _MEMORY_BYTES = 15, 3 << 30
# Longer texts are cut.
_MOST_CHARACTERS = 4_000_000
_NICENESS = 10
_POLL_SECONDS = 0.5


def main(kind: str, parent: int) -> None:
    for limit, value in ((resource.RLIMIT_CPU, _CPU_SECONDS), (resource.RLIMIT_AS, _MEMORY_BYTES)):
        # Not every system has every limit.
        with suppress(ValueError, OSError):
            resource.setrlimit(limit, (value, value))
    threading.Thread(target=exit_with_parent, args=(parent,), daemon=True).start()
    # Serving requests is more urgent than reading documents.
    with suppress(OSError):
        os.nice(_NICENESS)
    name = json.loads(sys.stdin.buffer.readline())
    answer = read_as_json(kind, name, sys.stdin.buffer.read())
    sys.stdout.buffer.write(json.dumps(answer).encode())


def exit_with_parent(parent: int) -> None:
    """Exit as soon as the parent process is gone."""
    while os.getppid() == parent:
        time.sleep(_POLL_SECONDS)
    os._exit(1)


def read_as_json(kind: str, name: str, data: bytes) -> dict[str, Any]:
    try:
        title, text = read(kind, name, data)
    except BadRequest as error:
        return {"refused": error.message, "hint": error.hint, "large": isinstance(error, TooLarge)}
    return {"title": title, "text": text[:_MOST_CHARACTERS]}


def read(kind: str, name: str, data: bytes) -> tuple[str, str]:
    """Return title and text of a document. Web pages come in UTF-8."""
    if kind == "pdf":
        from holdfast.files.formats import extract_pdf

        return "", extract_pdf(name, data)
    if kind == "docx":
        from holdfast.files.formats import extract_docx

        return "", extract_docx(name, data)
    from holdfast.files.formats import extract_article

    return extract_article(data.decode())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
