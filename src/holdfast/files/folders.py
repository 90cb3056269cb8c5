"""Folders as text: a tree, a list, or the lines that contain a word; and the files that match a pattern.

Every result says what it left out: hidden files, folders of tools, and what `.gitignore` excludes (as people
write it; rare corners of its syntax are not supported). Links are named, but not followed. Patterns like
`./docs/**/*.md` skip hidden files and secrets, and a matching link is checked when it is read.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path

from holdfast.files.digests.base import plural
from holdfast.files.problems import FileProblem
from holdfast.files.roots import MOST_ENTRIES, FileEntry, Roots, is_secret, printable

TOOL_FOLDERS = frozenset(
    (
        "node_modules",
        "__pycache__",
        "__pypackages__",
        "bower_components",
        "venv",
        "virtualenv",
        "site-packages",
    )
)
# A folder that contains this file is a virtual environment.
VENV_MARKER = "pyvenv.cfg"
GITIGNORE = ".gitignore"

# Limits of an ignore file; nobody writes more by hand.
_MOST_IGNORE_LINES, _LONGEST_IGNORE_LINE = 2_000, 300


@dataclass(frozen=True, slots=True)
class IgnorePattern:
    """A line of an ignore file: `steps` relative to its folder, where `**` is any number of steps."""

    steps: tuple[str, ...]
    folders_only: bool
    keeps: bool

    def fits(self, path: Sequence[str], *, folder: bool) -> bool:
        return (folder or not self.folders_only) and path_matches(self.steps, path)


@dataclass(frozen=True, slots=True)
class IgnoreFile:
    """The patterns of a `.gitignore` that lies `depth` steps below the root."""

    depth: int
    patterns: tuple[IgnorePattern, ...]


def parse_ignore_file(depth: int, text: str) -> IgnoreFile:
    lines = text.splitlines()[:_MOST_IGNORE_LINES]
    return IgnoreFile(
        depth, tuple(pattern for line in lines if (pattern := parse_ignore_line(line)) is not None)
    )


def is_ignored(rules: Sequence[IgnoreFile], path: Sequence[str], *, folder: bool) -> bool:
    """Whether a path is ignored: the last matching line decides, deeper files after those above."""
    ignored = False
    for rule in rules:
        below = path[rule.depth :]
        for pattern in rule.patterns:
            if pattern.fits(below, folder=folder):
                ignored = not pattern.keeps
    return ignored


def path_matches(steps: Sequence[str], path: Sequence[str]) -> bool:
    """Whether a path matches a pattern step by step, where `**` is any number of steps."""
    # fits[n]: whether the pattern so far matches the first n steps of the path.
    fits = [True, *[False] * len(path)]
    for step in steps:
        if step == "**":
            reached = False
            for index, here in enumerate(fits):
                reached = reached or here
                fits[index] = reached
        else:
            fits = [False, *[fits[index] and fnmatchcase(name, step) for index, name in enumerate(path)]]
    return fits[-1]


def parse_ignore_line(line: str) -> IgnorePattern | None:
    line = line.rstrip("\r\n ")
    if not line or line.startswith("#") or len(line) > _LONGEST_IGNORE_LINE:
        return None
    keeps = line.startswith("!")
    line = line[keeps:].removeprefix("\\")
    folders_only = line.endswith("/")
    line = line.rstrip("/")
    anchored = "/" in line
    steps = tuple(step.replace("[^", "[!") for step in line.strip("/").split("/") if step)
    if not steps:
        return None
    return IgnorePattern(steps if anchored else ("**", *steps), folders_only, keeps)


# Lines of a tree or a list, and levels of a tree.
MOST_LINES, MOST_LEVELS = 200, 5
# Limits of a search: lines found, files read, bytes of a file and of all files.
MOST_HITS, MOST_FILES, LARGEST_FILE, MOST_BYTES = 100, 5_000, 1_000_000, 50_000_000
_LINE_WIDTH = 200
_IGNORE_FILE_BYTES = 64_000


@dataclass(frozen=True, slots=True)
class FolderListing:
    """A folder as text. `about` describes it in one line, `left_out` says what is missing, if anything is."""

    about: str
    text: str
    left_out: str = ""


@dataclass(slots=True)
class _OmittedCount:
    ignored: int = 0
    deeper: int = 0
    unread: int = 0
    skipped: int = 0
    huge: int = 0

    def describe(self, *more: str) -> str:
        parts = [
            *more,
            f"{self.ignored:,} hidden or ignored" if self.ignored else "",
            f"{plural(self.deeper, 'folder')} not gone into" if self.deeper else "",
            f"{self.unread:,} that cannot be read" if self.unread else "",
            f"all beyond the first {MOST_ENTRIES:,} entries of {plural(self.huge, 'folder')}"
            if self.huge
            else "",
            f"{plural(self.skipped, 'file')} too large, binary or secret" if self.skipped else "",
        ]
        omitted = ", ".join(part for part in parts if part)
        return f"[left out: {omitted}]" if omitted else ""


@dataclass(slots=True)
class _Node:
    entry: FileEntry
    rules: tuple[IgnoreFile, ...] = ()
    # The folder that was asked for is shown even if it would be ignored.
    top: bool = False
    below: list["_Node"] = field(default_factory=list)
    # Number of entries without room.
    more: int = 0

    @property
    def depth(self) -> int:
        return len(self.entry.steps)


def render_tree(roots: Roots, folder: FileEntry) -> FolderListing:
    """Show the folders below as a tree, filled level by level so that no large folder hides the others."""
    count = _OmittedCount()
    top = top_node(roots, folder)
    waiting = deque([top])
    room, files, folders = MOST_LINES, 0, 0
    while waiting:
        node = waiting.popleft()
        if node.depth - top.depth >= MOST_LEVELS or not room:
            count.deeper += 1
            continue
        for child in list_children(roots, node, count):
            if not room:
                node.more += 1
                continue
            room -= 1
            node.below.append(child)
            if child.entry.kind == "folder":
                folders += 1
                waiting.append(child)
            else:
                files += 1
    missing = sum(node.more for node in walk_nodes(top))
    left_out = count.describe(plural(missing, "more entry", "more entries") if missing else "")
    return FolderListing(
        f"{plural(files, 'file')}, {plural(folders, 'folder')}", "\n".join(draw_nodes(top, "")), left_out
    )


def list_folder(roots: Roots, folder: FileEntry) -> FolderListing:
    """List the entries of one folder with sizes and dates."""
    count = _OmittedCount()
    rows = [child.entry for child in list_children(roots, top_node(roots, folder), count)]
    lines = []
    for row in rows[:MOST_LINES]:
        size = f"{row.size:,}" if row.kind == "file" else ""
        day = datetime.fromtimestamp(row.changed_at, UTC).strftime("%Y-%m-%d %H:%M")
        lines.append(f"{size:>14}  {day}  {format_entry(row)}")
    more = len(rows) - len(lines)
    left_out = count.describe(plural(more, "more entry", "more entries") if more else "")
    return FolderListing(f"{plural(len(rows), 'entry', 'entries')}, times in UTC", "\n".join(lines), left_out)


def search_files(roots: Roots, place: FileEntry, word: str) -> FolderListing:
    """Find the lines with a word, case-insensitively, in the files of a folder or in one file."""
    count = _OmittedCount()
    wanted = word.casefold()
    lines: list[str] = []
    hits = looked = read = 0
    files = walk_files(roots, place, count) if place.kind == "folder" else iter((place,))
    for file in files:
        if looked >= MOST_FILES or read >= MOST_BYTES:
            count.skipped += 1
            continue
        text = read_searchable(roots, file, whole=None if file is place else LARGEST_FILE)
        if text is None:
            count.skipped += 1
            continue
        looked += 1
        read += len(text)
        name = printable(file.name if file is place else file.name[len(place.name.rstrip("/")) + 1 :])
        for number, line in enumerate(text.split("\n"), 1):
            if wanted in line.casefold():
                hits += 1
                if len(lines) < MOST_HITS:
                    lines.append(f"{name}:{number}: {excerpt_around(line.strip(), wanted)}")
    more = hits - len(lines)
    left_out = count.describe(plural(more, "more line") if more else "")
    return FolderListing(f"{plural(hits, 'line')} in {plural(looked, 'file')}", "\n".join(lines), left_out)


def top_node(roots: Roots, folder: FileEntry) -> _Node:
    """Return the node of a folder with the ignore rules above it, up to the root of the repository."""
    rules: list[IgnoreFile] = []
    steps = folder.steps
    while not (is_repository := is_repository_root(folder.root, steps)) and steps:
        steps = steps[:-1]
        rules[:0] = read_ignore_rules(roots, replace(folder, steps=steps))
    return _Node(folder, tuple(rules) if is_repository else (), top=True)


def is_repository_root(root: str, steps: tuple[str, ...]) -> bool:
    return Path(root, *steps, ".git").exists()


def read_ignore_rules(roots: Roots, folder: FileEntry) -> tuple[IgnoreFile, ...]:
    text = read_searchable(roots, folder.child(GITIGNORE, "file"), whole=_IGNORE_FILE_BYTES)
    return (parse_ignore_file(len(folder.steps), text),) if text else ()


def walk_files(roots: Roots, folder: FileEntry, count: _OmittedCount) -> Iterator[FileEntry]:
    waiting = [top_node(roots, folder)]
    gone_into = 0
    while waiting:
        node = waiting.pop()
        gone_into += 1
        if gone_into > MOST_FILES:
            count.deeper += 1
            continue
        children = list(list_children(roots, node, count))
        yield from (child.entry for child in children if child.entry.kind == "file")
        waiting += [child for child in reversed(children) if child.entry.kind == "folder"]


def list_children(roots: Roots, node: _Node, count: _OmittedCount) -> Iterator[_Node]:
    """Yield the entries of a folder that are not ignored; adds the folder's own rules to `node`."""
    try:
        entries = roots.entries(node.entry)
    except FileProblem:
        if node.top:
            raise
        count.unread += 1
        return
    count.huge += len(entries) >= MOST_ENTRIES
    names = {entry.steps[-1] for entry in entries}
    if VENV_MARKER in names and not node.top:
        count.ignored += len(entries)
        return
    if GITIGNORE in names:
        node.rules = (*node.rules, *read_ignore_rules(roots, node.entry))
    for entry in entries:
        name, is_folder = entry.steps[-1], entry.kind == "folder"
        noise = name.startswith(".") or (is_folder and name in TOOL_FOLDERS)
        if noise or is_ignored(node.rules, entry.steps, folder=is_folder):
            count.ignored += 1
        else:
            yield _Node(entry, node.rules)


def read_searchable(roots: Roots, file: FileEntry, whole: int | None) -> str | None:
    """Return the text of a file to search in, or None if it is too large, binary, secret or unreadable."""
    if is_secret(file.steps) or (whole is not None and file.size > whole):
        return None
    try:
        data = roots.read(file, whole=whole)
    except FileProblem:
        return None
    if not data.whole or b"\0" in data.head:
        return None
    return data.head.decode("utf-8", "replace")


def excerpt_around(line: str, wanted: str) -> str:
    """Return a line, or the part around the word if it is long."""
    if len(line) <= _LINE_WIDTH:
        return line
    start = max(0, line.casefold().find(wanted) - _LINE_WIDTH // 2)
    return f"{'…' if start else ''}{line[start : start + _LINE_WIDTH]}…"


def walk_nodes(node: _Node) -> Iterator[_Node]:
    yield node
    for child in node.below:
        yield from walk_nodes(child)


def draw_nodes(node: _Node, indent: str) -> Iterator[str]:
    for child in node.below:
        yield f"{indent}{format_entry(child.entry)}"
        yield from draw_nodes(child, f"{indent}  ")
    if node.more:
        yield f"{indent}… {node.more:,} more"


def format_entry(entry: FileEntry) -> str:
    mark = {"file": "", "folder": "/", "link": " (link)", "other": " (no regular file)"}[entry.kind]
    return f"{printable(entry.steps[-1])}{mark}"


WILDCARDS = frozenset("*?[")
# How many entries are looked at for one pattern.
_MOST_CANDIDATES = 20_000


@dataclass(frozen=True, slots=True)
class GlobMatches:
    """The first files that match, their number, and whether the search was stopped early."""

    names: tuple[str, ...]
    number: int
    gave_up: bool = False


def is_pattern(name: str) -> bool:
    return any(letter in WILDCARDS for letter in name)


def match_files(roots: Roots, pattern: str, most: int) -> GlobMatches:
    """Return the files that match a pattern."""
    steps = pattern.split("/")
    plain = next(index for index, step in enumerate(steps) if is_pattern(step))
    # The steps before the first wildcard are a folder.
    start = roots.find("/".join(steps[:plain]) or ("/" if plain else "."))
    steps_left = [step for step in steps[plain:] if step]
    names: list[str] = []
    number = 0
    for looked, (entry, path) in enumerate(walk_candidates(roots, start, steps_left)):
        if looked >= _MOST_CANDIDATES:
            return GlobMatches(tuple(names), number, gave_up=True)
        if entry.kind in ("file", "link") and path_matches(steps_left, path):
            number += 1
            if len(names) < most:
                names.append(f"{'/'.join(steps[:plain])}{'/' if plain else ''}{'/'.join(path)}")
    return GlobMatches(tuple(names), number)


def walk_candidates(
    roots: Roots, start: FileEntry, steps: list[str]
) -> Iterator[tuple[FileEntry, tuple[str, ...]]]:
    """Yield the entries that may match, no deeper than the pattern goes."""
    deep = "**" in steps
    hidden = any(step.startswith(".") for step in steps)
    waiting: list[tuple[FileEntry, tuple[str, ...]]] = [(start, ())]
    while waiting:
        folder, path = waiting.pop()
        try:
            entries = roots.entries(folder)
        except FileProblem:
            continue
        inner = []
        for entry in entries:
            name = entry.steps[-1]
            if is_secret((name,)) or (name.startswith(".") and not hidden):
                continue
            here = (*path, name)
            yield entry, here
            if entry.kind == "folder" and (
                name not in TOOL_FOLDERS if deep else may_hold_matches(steps, here)
            ):
                inner.append((entry, here))
        waiting += reversed(inner)


def may_hold_matches(steps: list[str], path: tuple[str, ...]) -> bool:
    return len(path) < len(steps) and path_matches(steps[: len(path)], path)
