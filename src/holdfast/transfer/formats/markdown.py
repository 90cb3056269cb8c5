"""Markdown files and folders of them: each stays a note of its own, or its list items become memories.

A folder of chats saved as Markdown is notes, too: nobody can tell what in it was whose words. Knows no store.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path, PurePosixPath

from holdfast.errors import BadRequest
from holdfast.language import say
from holdfast.memory.base import KINDS, Kind
from holdfast.memory.workspace.folder import LARGEST
from holdfast.memory.workspace.items import placed, without
from holdfast.messages import Scope
from holdfast.transfer.imports import (
    Files,
    Item,
    Page,
    Saying,
    Skipped,
    Source,
    Trouble,
    Unreadable,
    dated,
    seconds,
    text_of,
)

KIND = "markdown"

SUFFIXES = frozenset({".md", ".markdown"})

_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.+)$", re.MULTILINE)
# Only whose an item will be is decided later; here it only has to be read.
_ANYBODY = Scope()


def looks_like(path: Path) -> bool:
    if path.is_file():
        return path.suffix.lower() in SUFFIXES
    return path.is_dir() and any(child.suffix.lower() in SUFFIXES for child in path.rglob("*"))


def read(paths: Sequence[Path], *, memories: bool = False) -> Source:
    """`memories` makes memories of list items; what is left of a file stays a note."""
    opened = [(path, Files(path)) for path in paths]
    found = [(path, files, name) for path, files in opened for name in files.names() if _is_ours(name)]
    skipped = [
        Skipped(_place(path, name), reason)
        for path, files in opened
        for name, reason in files.left_alone()
        if _is_ours(name) or (path / name).is_symlink()
    ]
    if not found:
        raise BadRequest(
            say("There is no Markdown.", "Dort ist kein Markdown."),
            hint=say("Name files that end in .md, or folders.", "Dateien mit .md oder Ordner nennen."),
        )
    return Source(KIND, chain(skipped, _items(found, memories)), len(skipped) + len(found))


def _is_ours(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in SUFFIXES


def _place(path: Path, name: str) -> str:
    """A folder gives its notes its name; a file alone is just that."""
    return name if path.is_file() else f"{path.resolve().name}/{name}"


def _items(found: Sequence[tuple[Path, Files, str]], memories: bool) -> Iterator[Item]:
    for path, files, name in found:
        place = _place(path, name)
        try:
            text = text_of(files.read(name, LARGEST))
        except Unreadable as error:
            yield Trouble(place, str(error))
            continue
        if memories:
            file = path if path.is_file() else path / name
            yield from split(place, text, at=dated(file))
        else:
            yield Page(place, text)


def split(place: str, text: str, *, at: float = 0.0, kind: Kind | None = None) -> Iterator[Item]:
    """List items as sayings; the rest as a page, if anything is said in it."""
    items = placed(text, _ANYBODY, by_hand=True)
    for item in items:
        told = kind or item.memory.kind
        about = _heading_above(text, item.first)
        words = item.memory.text
        named = about and about.casefold() not in words.casefold() and kind is None
        yield Saying(f"{about}: {words}" if named else words, told, seconds(item.memory.valid_from, at))
    rest = without(text, {item.memory.id for item in items}, _ANYBODY, by_hand=True)
    if any(sign.isalnum() for sign in _HEADING.sub("", rest)):
        yield Page(place, rest)


def _name_of(heading: str) -> str:
    """A heading without the signs that may stand behind it."""
    return heading.rstrip().rstrip("#").strip().rstrip(":")


def _heading_above(text: str, line: int) -> str:
    """What an item is about, where that stands above it and says more than what kind of thing it is."""
    headings = [
        (text.count("\n", 0, found.start()) + 1, len(found[1]), _name_of(found[2]))
        for found in _HEADING.finditer(text)
    ]
    above = bisect_left(headings, line, key=lambda heading: heading[0])
    if not above:
        return ""
    _, depth, name = headings[above - 1]
    return "" if depth == 1 or name.casefold() in _KINDS else name


_KINDS = {
    *KINDS,
    *(f"{kind}s" for kind in KINDS),
    *("memories", "memory", "summaries", "gedächtnis", "fakten", "entscheidungen", "vorlieben", "notizen"),
}
