"""Attach the files a message references: whole if short, else as a digest, or the part that was asked for.

A file that cannot be attached becomes a row with a problem: a message for the person and one line for the
model. Nothing here raises because of a file. All functions read from disk and block, except
`attach_files_async`.

A folder is attached as text: a tree, a list, or the lines that contain a word. Every such text says what it
left out: hidden files, folders of tools, and what `.gitignore` excludes (as people write it; rare corners of
its syntax are not supported). Links are named, but not followed. Patterns like `./docs/**/*.md` skip hidden
files and secrets, and a matching link is checked when it is read.
"""

import asyncio
import difflib
import re
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePath

from holdfast.errors import BadRequest
from holdfast.files import problems
from holdfast.files.digests import build_digest, find_element, list_elements
from holdfast.files.digests.base import plural
from holdfast.files.documents import DOCUMENT_SECONDS, TooSlow, extract_text
from holdfast.files.problems import FileProblem
from holdfast.files.references import (
    Reference,
    alternatives_with_colons,
    find_references,
    format_reference,
    format_suffix,
)
from holdfast.files.roots import MOST_ENTRIES, FileData, FileEntry, Roots, is_secret, printable

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
MOST_HITS, MOST_SEARCHED, LARGEST_FILE, MOST_BYTES = 100, 5_000, 1_000_000, 50_000_000
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
        if looked >= MOST_SEARCHED or read >= MOST_BYTES:
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
    while not (is_repository := Path(folder.root, *steps, ".git").exists()) and steps:
        steps = steps[:-1]
        rules[:0] = read_ignore_rules(roots, replace(folder, steps=steps))
    return _Node(folder, tuple(rules) if is_repository else (), top=True)


def read_ignore_rules(roots: Roots, folder: FileEntry) -> tuple[IgnoreFile, ...]:
    text = read_searchable(roots, folder.child(GITIGNORE, "file"), whole=_IGNORE_FILE_BYTES)
    return (parse_ignore_file(len(folder.steps), text),) if text else ()


def walk_files(roots: Roots, folder: FileEntry, count: _OmittedCount) -> Iterator[FileEntry]:
    waiting = [top_node(roots, folder)]
    gone_into = 0
    while waiting:
        node = waiting.pop()
        gone_into += 1
        if gone_into > MOST_SEARCHED:
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


# A file up to this size is attached whole without being asked for.
WHOLE_BYTES = 5 * 1024
# Limits of one message: files, files of one pattern, characters of all files together.
MOST_FILES, MOST_MATCHES, MOST_CHARACTERS = 30, 10, 4_000_000
# Limits of one message: folders that are walked, references that are looked up.
MOST_WALKS, MOST_LOOKUPS = 5, 1_000
# Characters kept of each end of a file that is too large to be read whole.
_END_CHARACTERS = 2_000
# How many element names are suggested when one does not exist.
_SUGGESTIONS = 8
# The text of these cannot be read from their ends, and its length has little to do with the file's size.
_DOCUMENTS = (".pdf", ".docx")
# Neither the store nor a model server accepts NUL and lone surrogates.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_threads = ThreadPoolExecutor(4, "holdfast-files")


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file, a folder or a part of one, as it is attached to a message.

    `path` is the resolved path; `hash` and `size` belong to the file as it was read. `text` is for the window
    and begins with a heading. `digest` may replace it later and is empty if nothing shorter exists. `trouble`
    is the problem for the person. `name` identifies the part of the file however it
    was written; `@` and `reference` attach it again.
    """

    path: str
    mode: str
    text: str
    digest: str = ""
    hash: str = ""
    size: int = 0
    trouble: str = ""
    name: str = ""
    reference: str = ""


@dataclass(frozen=True, slots=True)
class FileSource:
    """The text of a file, or of both ends of a large one."""

    entry: FileEntry
    data: FileData
    text: str

    @property
    def name(self) -> str:
        return self.entry.steps[-1]

    @property
    def lines(self) -> int:
        return self.text.count("\n") + (not self.text.endswith("\n") and self.text != "")


def attach_files(text: str, roots: Roots) -> list[AttachedFile]:
    """Attach everything a message references, in its order, each file once."""
    # If the pasted text cannot be separated from the person's own words, nothing counts as their own.
    own = text.removesuffix(roots.pasted) if text.endswith(roots.pasted) else ""
    return attach_references(find_references(own), roots)


async def attach_files_async(text: str, roots: Roots) -> list[AttachedFile]:
    """Run `attach_files` in a thread. It has its own pool, so slow documents delay only other attachments."""
    work = partial(copy_context().run, attach_files, text, roots)
    return await asyncio.get_running_loop().run_in_executor(_threads, work)


def attach_references(references: list[Reference], roots: Roots) -> list[AttachedFile]:
    attacher = _Attacher(roots, roots.limits.seconds)
    rows: list[AttachedFile] = []
    left = 0
    for reference in unique_references(references)[:MOST_LOOKUPS]:
        if attacher.is_full:
            left += reference.sure
        else:
            rows += attacher.attach(reference)
    if left:
        error = problems.and_more(left)
        rows.append(AttachedFile("", "", f"[{error.short}]", trouble=error.message))
    whole = {row.path for row in rows if row.mode == "full" and not row.trouble}
    unique: dict[tuple[str, ...], AttachedFile] = {}
    for row in rows:
        # A part is redundant if the whole file is attached.
        if row.path in whole and row.mode in ("summary", "element", "lines") and not row.trouble:
            continue
        unique.setdefault((row.path, row.mode, row.text), row)
    return list(unique.values())


def unique_references(references: list[Reference]) -> list[Reference]:
    return list({replace(reference, start=0, end=0): reference for reference in references}.values())


def load_source(roots: Roots, entry: FileEntry, seconds: float = DOCUMENT_SECONDS) -> FileSource:
    """Read a file and extract its text; a document may take `seconds`. Raises `FileProblem`."""
    document = PurePath(entry.name).suffix.lower() in _DOCUMENTS
    data = roots.read(entry, whole=roots.limits.document if document else None)
    if document and not data.whole:
        raise problems.too_large(entry.name, roots.limits.document)
    try:
        text = _UNSTORABLE.sub("\ufffd", extract_text(entry.steps[-1], data.head, seconds).text)
    except TooSlow:
        raise problems.too_slow(entry.name) from None
    except BadRequest as error:
        raise problems.no_text(entry.name, error) from None
    if data.tail is None:
        return FileSource(entry, data, text)
    head, tail = (
        text[:_END_CHARACTERS].rpartition("\n"),
        decode_fragment(data.tail)[-_END_CHARACTERS:].partition("\n"),
    )
    first, last = head[0] or head[2], tail[2] or tail[0]
    left = data.lines - first.count("\n") - last.count("\n") - 1
    gap = f"[{max(0, left):,} of {plural(data.lines, 'line')} left out; {data.size:,} bytes in all]"
    return FileSource(entry, data, f"{first}\n{gap}\n{last}")


def decode_fragment(data: bytes) -> str:
    """Decode bytes that may begin or end within a character."""
    return _UNSTORABLE.sub("\ufffd", data.decode("utf-8", "replace"))


@dataclass(slots=True)
class _Attacher:
    """Attaches the files of one message and keeps to its limits; each file is read once."""

    roots: Roots
    # Seconds left for documents.
    seconds_left: float
    sources: dict[str, FileSource] = field(default_factory=dict)
    files: int = 0
    characters: int = 0
    walks: int = 0

    @property
    def is_full(self) -> bool:
        return self.files >= MOST_FILES or self.characters > MOST_CHARACTERS

    def attach(self, reference: Reference) -> Iterator[AttachedFile]:
        """Yield what a reference attaches: nothing if it was none after all, several for a pattern."""
        exists = self.roots.exists(reference.path)
        if not exists and (other := next(self.with_existing_file(reference), None)):
            reference, exists = other, True
        name = reference.path
        if is_pattern(name) and not exists:
            self.files += 1
            try:
                self.count_walk(name)
                yield from self.attach_matches(reference, match_files(self.roots, name, MOST_MATCHES))
            except FileProblem as error:
                if reference.sure:
                    yield attach_problem(reference, name, error)
        elif exists or reference.sure:
            yield self.attach_path(reference, name, outright=True)

    def with_existing_file(self, reference: Reference) -> Iterator[Reference]:
        """Yield readings of the reference in which a colon is part of the name of an existing file."""
        return (other for other in alternatives_with_colons(reference) if self.roots.exists(other.path))

    def attach_matches(self, reference: Reference, matches: GlobMatches) -> Iterator[AttachedFile]:
        if not matches.names:
            raise problems.missing(reference.path)
        if matches.gave_up or matches.number > len(matches.names):
            error = problems.too_many(
                reference.path, matches.number, len(matches.names), more=matches.gave_up
            )
            yield attach_problem(reference, reference.path, error, "glob")
        for name in matches.names:
            yield self.attach_path(reference, name, outright=False)

    def attach_path(self, reference: Reference, name: str, *, outright: bool) -> AttachedFile:
        """Attach one path. `outright`: the message names this path itself, not a pattern."""
        self.files += 1
        try:
            full = reference.mode == "full" and outright
            entry = self.roots.find(name, full=full)
            row = (
                self.show_folder(reference, entry)
                if entry.kind == "folder"
                else self.show_file(reference, entry)
            )
        except FileProblem as error:
            return attach_problem(reference, name, error)
        self.characters += len(row.text)
        return row

    def count_walk(self, name: str) -> None:
        """Count a walk through folders, and raise `FileProblem` after too many: walks are slow."""
        self.walks += 1
        if self.walks > MOST_WALKS:
            raise problems.too_much(name)

    def show_folder(self, reference: Reference, entry: FileEntry) -> AttachedFile:
        if reference.mode in ("element", "lines"):
            raise problems.is_folder(entry.name)
        if reference.mode == "search":
            return self.show_search(reference, entry)
        self.count_walk(entry.name)
        mode = "list" if reference.mode == "list" else "tree"
        listing = (list_folder if mode == "list" else render_tree)(self.roots, entry)
        heading = f"[folder {self.display_name(entry)}, {mode}: {listing.about}]"
        return self.attach_listing(reference, entry, mode, heading, listing)

    def show_search(self, reference: Reference, entry: FileEntry) -> AttachedFile:
        if not reference.what:
            raise problems.no_word(entry.name)
        self.count_walk(entry.name)
        listing = search_files(self.roots, entry, reference.what)
        heading = f'[search in {self.display_name(entry)} for "{printable(reference.what)}": {listing.about}]'
        return self.attach_listing(reference, entry, "search", heading, listing)

    def attach_listing(
        self, reference: Reference, entry: FileEntry, mode: str, heading: str, listing: FolderListing
    ) -> AttachedFile:
        text = "\n".join(line for line in (heading, listing.text, listing.left_out) if line)
        return self.build_row(reference, entry, mode, text, heading if listing.text else "")

    def show_file(self, reference: Reference, entry: FileEntry) -> AttachedFile:
        if reference.mode in ("list", "tree"):
            raise problems.is_file(entry.name)
        if reference.mode == "search":
            return self.show_search(reference, entry)
        source = self.load(entry)
        if reference.mode == "lines":
            return self.show_lines(reference, source)
        if reference.mode == "element":
            return self.show_element(reference, source)
        return self.show_whole_or_digest(reference, source)

    def load(self, entry: FileEntry) -> FileSource:
        source = self.sources.get(entry.path)
        if source is None:
            began = time.monotonic()
            try:
                source = self.sources[entry.path] = load_source(
                    self.roots, entry, min(DOCUMENT_SECONDS, self.seconds_left)
                )
            finally:
                self.seconds_left -= time.monotonic() - began
        return source

    def show_lines(self, reference: Reference, source: FileSource) -> AttachedFile:
        if not reference.first:
            raise problems.which_lines(source.entry.name)
        first, last, total = reference.first, reference.last, source.lines
        if source.data.whole:
            text = "\n".join(source.text.split("\n")[first - 1 : last or None])
        else:
            data = self.roots.read_lines(source.entry, first, last)
            text, total = decode_fragment(data.head), data.lines
        if first > total:
            raise problems.so_few_lines(source.entry.name, total)
        label = f"lines {first:,} to {min(last or total, total):,} of {total:,}"
        return self.attach_part(reference, source, "lines", label, text.rstrip("\n"))

    def show_element(self, reference: Reference, source: FileSource) -> AttachedFile:
        span = find_element(source.name, source.text, reference.what)
        if span is None:
            names = list_elements(source.name, source.text)
            near = difflib.get_close_matches(reference.what, names, n=_SUGGESTIONS, cutoff=0.5)
            raise problems.no_element(source.entry.name, reference.what, near or names[:_SUGGESTIONS])
        label = f"{printable(reference.what)}, lines {span.first:,} to {span.last:,} of {source.lines:,}"
        return self.attach_part(reference, source, "element", label, span.text)

    def show_whole_or_digest(self, reference: Reference, source: FileSource) -> AttachedFile:
        if not source.data.whole:
            label = f"beginning and end of {plural(source.data.lines, 'line')}"
            row = self.attach_text(reference, source, "summary", label, source.text)
            if reference.mode != "full":
                return row
            problem = problems.only_ends(source.entry.name, source.data.size)
            return replace(row, trouble=problem.message)
        if reference.mode == "full" or (not reference.mode and len(source.text.encode()) <= WHOLE_BYTES):
            return self.attach_part(reference, source, "full", describe_whole(source), source.text)
        digest = build_digest(source.name, source.text).text
        if len(digest) >= len(source.text):
            return self.attach_part(reference, source, "full", describe_whole(source), source.text)
        return self.attach_text(
            reference, source, "summary", f"digest of {plural(source.lines, 'line')}", digest
        )

    def attach_part(
        self, reference: Reference, source: FileSource, mode: str, label: str, body: str
    ) -> AttachedFile:
        """Attach a file or a part of it verbatim, with the digest that may replace it later."""
        row = self.attach_text(reference, source, mode, label, body)
        digest = build_digest(source.name, body).text
        shorter = f"[file {self.display_name(source.entry)}, digest of {label}]\n{digest}"
        return replace(row, digest=shorter) if len(shorter) < len(row.text) else row

    def attach_text(
        self, reference: Reference, source: FileSource, mode: str, label: str, body: str
    ) -> AttachedFile:
        text = f"[file {self.display_name(source.entry)}, {label}]\n{body}"
        row = self.build_row(reference, source.entry, mode, text)
        return replace(row, hash=source.data.hash, size=source.data.size)

    def build_row(
        self, reference: Reference, entry: FileEntry, mode: str, text: str, digest: str = ""
    ) -> AttachedFile:
        part = mode in ("element", "lines", "search", "list")
        name = f"{self.display_name(entry)}{format_suffix(reference) if part else ''}"
        path = _UNSTORABLE.sub("\ufffd", entry.path)
        return AttachedFile(path, mode, text, digest, name=name, reference=format_reference(path, reference))

    def display_name(self, entry: FileEntry) -> str:
        """Return the name for headings, relative to the base folder."""
        return printable(entry.name_from(self.roots.base))


def describe_whole(source: FileSource) -> str:
    return f"whole, {plural(source.lines, 'line')}"


def attach_problem(reference: Reference, name: str, error: FileProblem, mode: str = "") -> AttachedFile:
    text = f"[{printable(name)}: {printable(error.short)}]"
    return AttachedFile(name, mode or reference.mode, text, "", "", 0, error.message, name=name)
