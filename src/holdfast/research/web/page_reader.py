"""Reads one page, as a program of its own: `python page_reader.py KIND`.

The page comes on stdin, in UTF-8 unless it is a document; title and text go to stdout as JSON.
Pages can be made to keep a parser busy for hours or to make it fall over, and a thread cannot be stopped; a
process can. Started by its path, so that nothing of Holdfast is loaded but what the page needs.
"""

import json
import re
import resource
import sys
from contextlib import suppress

# Whoever started us ends us sooner. This is for when they are gone.
_SECONDS, _BYTES = 30, 3 << 30
# Chains of these take the library a time that grows with their square, and say nothing about a text.
_SPAN = re.compile(r"</?(?:span|font)(?:\s[^<>]*)?>", re.IGNORECASE)
_MANY = 2_000


def main(kind: str) -> None:
    for limit, value in ((resource.RLIMIT_CPU, _SECONDS), (resource.RLIMIT_AS, _BYTES)):
        # Not every system has every limit.
        with suppress(ValueError, OSError):
            resource.setrlimit(limit, (value, value))
    data = sys.stdin.buffer.read()
    title, text = document(data) if kind == "pdf" else page(data.decode())
    sys.stdout.buffer.write(json.dumps([title, text]).encode())


def page(markup: str) -> tuple[str, str]:
    """Title and main text, empty where the library finds none."""
    import trafilatura

    if len(_SPAN.findall(markup)) > _MANY:
        markup = _SPAN.sub("", markup)
    found = trafilatura.bare_extraction(markup, with_metadata=True, include_comments=False)
    if found is None or isinstance(found, dict):
        return "", ""
    return found.title or "", found.text or ""


def document(data: bytes) -> tuple[str, str]:
    from holdfast.files.texts import text_of

    return "", text_of("document.pdf", data).text


if __name__ == "__main__":
    main(sys.argv[1])
