"""The texts of a finding's sources in one file beside its note: a page each, parted by form feeds.

One file and no folder, since every turn lists the files there are, and forgetting takes away two of them.
Knows no files; how much of a text is kept is said here.
"""

import re
from collections.abc import Sequence

from holdfast.memory.workspace.items import spelled
from holdfast.research.finding import ResearchSource

# In characters; and in bytes, so that what the most sources have fits into one file of a workspace.
LONGEST_TEXT = 60_000
_LONGEST_BYTES = 170_000
MOST_SOURCES = 20

_ADDRESS = re.compile(r"https?://[^\s<>\"'“”„`|\\^{}]+", re.IGNORECASE)
_CUT = re.compile(r"\n\[cut: ([0-9,]{1,12}) more characters\]\Z")
_CUT_NOTE_LENGTH = 50
_PAGE = "\f"
# Form feeds inside of a text would part it.
_PARTING = str.maketrans({_PAGE: "\n", "\v": "\n"})


def find_addresses(text: str) -> list[str]:
    """The web pages that a text names, each once; signs that end a sentence are no part of an address."""
    return list(dict.fromkeys(_trim_address(found) for found in _ADDRESS.findall(text)))


def _trim_address(found: str) -> str:
    address = found.rstrip(".,;:!?*_")
    while address.endswith((")", "]")):
        opening = "(" if address.endswith(")") else "["
        if address.count(opening) >= address.count(address[-1]):
            break
        address = address[:-1].rstrip(".,;:!?*_")
    return address


def limit_text(text: str) -> str:
    """As much of a text as is kept, and how much is not; what was cut before is not cut again."""
    text = spelled(text.translate(_PARTING))
    before = _CUT.search(text, max(0, len(text) - _CUT_NOTE_LENGTH))
    whole = text[: before.start()] if before else text
    kept = whole[:LONGEST_TEXT].encode()[:_LONGEST_BYTES].decode(errors="ignore")
    if len(kept) == len(whole):
        return text
    missing = len(whole) - len(kept) + (int(before[1].replace(",", "")) if before else 0)
    return f"{kept.rstrip()}\n[cut: {missing:,} more characters]"


def join_texts(sources: Sequence[ResearchSource]) -> str:
    """The file for these sources, whose texts are cut."""
    pages = (f"{number} {source.url}\n{source.text}\n" for number, source in enumerate(sources, 1))
    return _PAGE.join(pages)


def split_texts(text: str) -> dict[int, str]:
    """The texts in such a file, each by the number of its source."""
    found: dict[int, str] = {}
    for page in text.split(_PAGE):
        head, _, words = page.partition("\n")
        number = head.partition(" ")[0]
        if number.isascii() and number.isdigit():
            found[int(number)] = words.rstrip("\n")
    return found
