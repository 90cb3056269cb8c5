"""Markdown files and folders of them: each stays a note of its own, or its list items become memories.

A folder of chats saved as Markdown is notes, too: nobody can tell what in it was whose words. Knows no store.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path, PurePosixPath

from holdfast.errors import BadRequest
from holdfast.i18n import gettext as _
from holdfast.memory.base import KINDS, Kind
from holdfast.memory.items import locate_items, remove_items
from holdfast.memory.workspace import LARGEST
from holdfast.messages import Scope
from holdfast.text.lang import word_set
from holdfast.transfer.imports import (
    ImportedMemory,
    ImportedNote,
    ImportSource,
    Item,
    SkippedItem,
    SourceFiles,
    Unreadable,
    UnreadableItem,
    decode_text,
    modified_at,
    parse_time,
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


def read(paths: Sequence[Path], *, memories: bool = False) -> ImportSource:
    """`memories` makes memories of list items; what is left of a file stays a note."""
    opened = [(path, SourceFiles(path)) for path in paths]
    notes = [(path, files, name) for path, files in opened for name in files.names() if _is_ours(name)]
    skipped = [
        SkippedItem(_place(path, name), reason)
        for path, files in opened
        for name, reason in files.left_alone()
        if _is_ours(name) or (path / name).is_symlink()
    ]
    if not notes:
        raise BadRequest(
            _("There is no Markdown."),
            hint=_("Name files that end in .md, or folders."),
        )
    return ImportSource(KIND, chain(skipped, _items(notes, memories)), len(skipped) + len(notes))


def _is_ours(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in SUFFIXES


def _place(path: Path, name: str) -> str:
    """A folder gives its notes its name; a file alone is just that."""
    return name if path.is_file() else f"{path.resolve().name}/{name}"


def _items(notes: Sequence[tuple[Path, SourceFiles, str]], memories: bool) -> Iterator[Item]:
    for path, files, name in notes:
        place = _place(path, name)
        try:
            text = decode_text(files.read(name, LARGEST))
        except Unreadable as error:
            yield UnreadableItem(place, str(error))
            continue
        if memories:
            file = path if path.is_file() else path / name
            yield from split(place, text, at=modified_at(file))
        else:
            yield ImportedNote(place, text)


def split(place: str, text: str, *, at: float = 0.0, kind: Kind | None = None) -> Iterator[Item]:
    """List items as sayings; the rest as a page, if anything is said in it."""
    items = locate_items(text, _ANYBODY, by_hand=True)
    for item in items:
        memory_kind = kind or item.memory.kind
        about = _heading_above(text, item.first)
        words = item.memory.text
        named = about and about.casefold() not in words.casefold() and kind is None
        yield ImportedMemory(
            f"{about}: {words}" if named else words, memory_kind, parse_time(item.memory.valid_from, at)
        )
    remainder = remove_items(text, {item.memory.id for item in items}, _ANYBODY, by_hand=True)
    if any(sign.isalnum() for sign in _HEADING.sub("", remainder)):
        yield ImportedNote(place, remainder)


def _name_of(heading: str) -> str:
    """A heading without the signs that may stand behind it."""
    return heading.rstrip().rstrip("#").strip().rstrip(":")


def _heading_above(text: str, line: int) -> str:
    """What an item is about, where that stands above it and says more than what kind of thing it is."""
    headings = [
        (text.count("\n", 0, match.start()) + 1, len(match[1]), _name_of(match[2]))
        for match in _HEADING.finditer(text)
    ]
    above = bisect_left(headings, line, key=lambda heading: heading[0])
    if not above:
        return ""
    _, depth, name = headings[above - 1]
    return "" if depth == 1 or name.casefold() in _KINDS else name


_KINDS = {
    *KINDS,
    *(f"{kind}s" for kind in KINDS),
    *word_set("KIND_HEADINGS"),
}
