"""What a folder becomes: a tree, a list, or the lines in which a word is found. Each says what it left out.

Goes into a folder only as `Roots` lets it; links are named and not followed. Knows no references.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from holdfast.files.digests.values import plural
from holdfast.files.ignoring import ENVIRONMENT, GITIGNORE, NOISE, Ignored, ignored_by, is_ignored
from holdfast.files.roots import MANY, Found, Roots, plain
from holdfast.files.secrets import is_secret
from holdfast.files.trouble import Trouble

# Lines of a tree or a list, and how deep a tree goes.
LINES, DEPTH = 200, 5
# Lines that a search tells, files it looks into, and bytes of each and of all.
HITS, FILES, LARGEST, ALL = 100, 5_000, 1_000_000, 50_000_000
_WIDTH = 200
_IGNORE_FILE = 64_000


@dataclass(frozen=True, slots=True)
class Shown:
    """`about` is one line that says what it is, `left_out` one that says what is missing, if anything is."""

    about: str
    text: str
    left_out: str = ""


@dataclass(slots=True)
class _Count:
    ignored: int = 0
    deeper: int = 0
    unread: int = 0
    skipped: int = 0
    huge: int = 0

    def said(self, *more: str) -> str:
        parts = [
            *more,
            f"{self.ignored:,} hidden or ignored" if self.ignored else "",
            f"{plural(self.deeper, 'folder')} not gone into" if self.deeper else "",
            f"{self.unread:,} that cannot be read" if self.unread else "",
            f"all beyond the first {MANY:,} entries of {plural(self.huge, 'folder')}" if self.huge else "",
            f"{plural(self.skipped, 'file')} too large, binary or secret" if self.skipped else "",
        ]
        told = ", ".join(part for part in parts if part)
        return f"[left out: {told}]" if told else ""


@dataclass(slots=True)
class _Node:
    found: Found
    rules: tuple[Ignored, ...] = ()
    # The folder that was asked for: it is shown, whatever it is.
    top: bool = False
    below: list["_Node"] = field(default_factory=list)
    # Entries for which there was no more room.
    more: int = 0

    @property
    def depth(self) -> int:
        return len(self.found.steps)


def tree(roots: Roots, folder: Found) -> Shown:
    """Folders level by level while there is room, so that one large folder does not hide the others."""
    count = _Count()
    top = _top(roots, folder)
    waiting = deque([top])
    room, files, folders = LINES, 0, 0
    while waiting:
        node = waiting.popleft()
        if node.depth - top.depth >= DEPTH or not room:
            count.deeper += 1
            continue
        for child in _children(roots, node, count):
            if not room:
                node.more += 1
                continue
            room -= 1
            node.below.append(child)
            if child.found.kind == "folder":
                folders += 1
                waiting.append(child)
            else:
                files += 1
    missing = sum(node.more for node in _nodes(top))
    left_out = count.said(plural(missing, "more entry", "more entries") if missing else "")
    return Shown(
        f"{plural(files, 'file')}, {plural(folders, 'folder')}", "\n".join(_drawn(top, "")), left_out
    )


def listed(roots: Roots, folder: Found) -> Shown:
    """The entries of one folder: names, sizes, dates."""
    count = _Count()
    rows = [child.found for child in _children(roots, _top(roots, folder), count)]
    lines = []
    for row in rows[:LINES]:
        size = f"{row.size:,}" if row.kind == "file" else ""
        day = datetime.fromtimestamp(row.changed_at, UTC).strftime("%Y-%m-%d %H:%M")
        lines.append(f"{size:>14}  {day}  {_named(row)}")
    more = len(rows) - len(lines)
    left_out = count.said(plural(more, "more entry", "more entries") if more else "")
    return Shown(f"{plural(len(rows), 'entry', 'entries')}, times in UTC", "\n".join(lines), left_out)


def search(roots: Roots, place: Found, word: str) -> Shown:
    """Every line with the word, whatever its case, in the files of a folder or in one file."""
    count = _Count()
    wanted = word.casefold()
    lines: list[str] = []
    hits = looked = read = 0
    files = _files(roots, place, count) if place.kind == "folder" else iter((place,))
    for file in files:
        if looked >= FILES or read >= ALL:
            count.skipped += 1
            continue
        text = _text(roots, file, whole=None if file is place else LARGEST)
        if text is None:
            count.skipped += 1
            continue
        looked += 1
        read += len(text)
        name = plain(file.name if file is place else file.name[len(place.name.rstrip("/")) + 1 :])
        for number, line in enumerate(text.split("\n"), 1):
            if wanted in line.casefold():
                hits += 1
                if len(lines) < HITS:
                    lines.append(f"{name}:{number}: {_around(line.strip(), wanted)}")
    more = hits - len(lines)
    left_out = count.said(plural(more, "more line") if more else "")
    return Shown(f"{plural(hits, 'line')} in {plural(looked, 'file')}", "\n".join(lines), left_out)


def _top(roots: Roots, folder: Found) -> _Node:
    """The folder that is shown, with the rules of the folders above it, up to the repository's own."""
    rules: list[Ignored] = []
    steps = folder.steps
    while not (is_repository := _is_repository(folder.root, steps)) and steps:
        steps = steps[:-1]
        rules[:0] = _rules_in(roots, replace(folder, steps=steps))
    return _Node(folder, tuple(rules) if is_repository else (), top=True)


def _is_repository(root: str, steps: tuple[str, ...]) -> bool:
    return Path(root, *steps, ".git").exists()


def _rules_in(roots: Roots, folder: Found) -> tuple[Ignored, ...]:
    text = _text(roots, folder.below(GITIGNORE, "file"), whole=_IGNORE_FILE)
    return (ignored_by(len(folder.steps), text),) if text else ()


def _files(roots: Roots, folder: Found, count: _Count) -> Iterator[Found]:
    waiting = [_top(roots, folder)]
    gone_into = 0
    while waiting:
        node = waiting.pop()
        gone_into += 1
        if gone_into > FILES:
            count.deeper += 1
            continue
        children = list(_children(roots, node, count))
        yield from (child.found for child in children if child.found.kind == "file")
        waiting += [child for child in reversed(children) if child.found.kind == "folder"]


def _children(roots: Roots, node: _Node, count: _Count) -> Iterator[_Node]:
    """What a folder holds and is worth showing; `node` learns the rules that hold in it."""
    try:
        entries = roots.entries(node.found)
    except Trouble:
        if node.top:
            raise
        count.unread += 1
        return
    count.huge += len(entries) >= MANY
    names = {entry.steps[-1] for entry in entries}
    if ENVIRONMENT in names and not node.top:
        count.ignored += len(entries)
        return
    if GITIGNORE in names:
        node.rules = (*node.rules, *_rules_in(roots, node.found))
    for entry in entries:
        name, is_folder = entry.steps[-1], entry.kind == "folder"
        noise = name.startswith(".") or (is_folder and name in NOISE)
        if noise or is_ignored(node.rules, entry.steps, folder=is_folder):
            count.ignored += 1
        else:
            yield _Node(entry, node.rules)


def _text(roots: Roots, file: Found, whole: int | None) -> str | None:
    """A file's text for looking through; None of what is too large, binary, secret or unreadable."""
    if is_secret(file.steps) or (whole is not None and file.size > whole):
        return None
    try:
        data = roots.read(file, whole=whole)
    except Trouble:
        return None
    if not data.whole or b"\0" in data.head:
        return None
    return data.head.decode("utf-8", "replace")


def _around(line: str, wanted: str) -> str:
    """A line, of a very long one the part with the word."""
    if len(line) <= _WIDTH:
        return line
    start = max(0, line.casefold().find(wanted) - _WIDTH // 2)
    return f"{'…' if start else ''}{line[start : start + _WIDTH]}…"


def _nodes(node: _Node) -> Iterator[_Node]:
    yield node
    for child in node.below:
        yield from _nodes(child)


def _drawn(node: _Node, indent: str) -> Iterator[str]:
    for child in node.below:
        yield f"{indent}{_named(child.found)}"
        yield from _drawn(child, f"{indent}  ")
    if node.more:
        yield f"{indent}… {node.more:,} more"


def _named(found: Found) -> str:
    mark = {"file": "", "folder": "/", "link": " (link)", "other": " (no regular file)"}[found.kind]
    return f"{plain(found.steps[-1])}{mark}"
