"""The index of notes: which files belong to it, how they are cut into passages, and how it follows them.

The files are the truth and the index can be rebuilt from them. Every file is compared by the tag its
workspace gives it: files that are gone are removed at once, changed ones are read again, those with memories
first, as many as there is time for.
"""

import hashlib
import os
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, lru_cache, partial
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Protocol

from holdfast.errors import HoldfastError, NotFound, StoreError
from holdfast.i18n import lazy
from holdfast.memory import scopes
from holdfast.memory.base import Memory, MemoryNews
from holdfast.memory.items import COMMENT, PART, has_content_id, locate_items, read_ids
from holdfast.memory.scopes import CONVERSATIONS
from holdfast.memory.workspace import (
    EVERY_NOTE,
    LARGEST,
    Note,
    NoteEntry,
    WorkspaceUnreachable,
    name_problem,
    printable_name,
)
from holdfast.messages import Scope
from holdfast.store import FileState, NewPassage, Store
from holdfast.store.fulltext import NotesFolder
from holdfast.store.texts import PIECE_SIZE as PIECE
from holdfast.store.texts import date_words
from holdfast.text.questions import Trait, is_wish_heading, traits_of, without_ledger

# What was put away on purpose.
_IGNORED_FOLDERS = frozenset({"archive"})
_SUFFIXES = frozenset({".md", ".markdown"})
# Paths are asked about again with every request.
_CACHED_PATHS = 20_000

# A change of how texts are cut needs a new number: files are then read again.
CHUNK_VERSION = 4
# In characters, four to a token.
CHUNK_SIZE = 1_600
OVERLAP = 320
# A block of code that is larger is data: it is cut between lines.
_LARGEST_FENCE = 16_000
_LINE_END = re.compile(r"\r\n|\r|\n")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)$")
# The words of notes by their names, for each file.
_FileTexts = Mapping[str, Mapping[str, str]]
# Called with how many of how many files are done.
Progress = Callable[[int, int], None]
Stop = Callable[[], bool]
# Files that are put into the index in one step, and how many bytes of them: each step waits for the disk
# and cannot be stopped in the middle.
_FILES_IN_STEP = 20
_BYTES_IN_STEP = 100_000
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_CURATED = "MEMORY.md"
# Files that cannot be read are named one by one up to here.
_NAMED_FILES = 3


class NoteFiles(Protocol):
    """What the index needs of a workspace."""

    def entries(self, prefix: PurePosixPath | str = "") -> list[NoteEntry]: ...
    def read(self, path: PurePosixPath | str) -> Note: ...


@lru_cache(_CACHED_PATHS)
def folder_of(path: PurePosixPath) -> str | None:
    """Return the folder whose notes a file belongs to; None if it is not searched."""
    parts = path.parts
    depth = 2 if parts[0] == "groups" else 3 if parts[1:2] == ("projects",) else 1
    inner = parts[depth:]
    if not inner or inner[0] in _IGNORED_FOLDERS or path.suffix.lower() not in _SUFFIXES:
        return None
    # Projects see the notes of their person, but not what was said in other conversations.
    return "/".join(parts[: depth + 1 if inner[0] == CONVERSATIONS else depth])


def parse_paths(text: str) -> list[Path]:
    """The paths in a setting, separated as in PATH."""
    return [Path(part).expanduser() for part in text.split(os.pathsep) if part.strip()]


# The folder of the days in a workspace of OpenClaw, which has no folders by user.
_BARE_FOLDER = "memory"


def find_bare_notes(workspace: Path | None) -> Path | None:
    """Return a folder if notes lie in it as in a workspace of OpenClaw: MEMORY.md, memory/ with its days."""
    if workspace is None:
        return None
    days = (workspace / _BARE_FOLDER).glob("*.md")
    return (
        workspace
        if (workspace / _CURATED).is_file() or any(map(_DAY.match, (day.name for day in days)))
        else None
    )


class ExtraPaths:
    """Markdown files and folders outside of the workspace, read-only; symbolic links are not followed.

    Entries that cannot be read are listed with the reason. `bare` is a workspace of another tool, whose notes
    lie in the folder itself and in `memory/`, where ours are in folders by user.
    """

    def __init__(self, paths: Sequence[Path], base: Path, bare: Path | None = None) -> None:
        """Relative paths begin at `base`."""
        self._named = [base / path for path in paths]
        self._bare = bare

    @property
    def _paths(self) -> list[Path]:
        if self._bare is None:
            return self._named
        notes = [place for place in sorted(self._bare.glob("*")) if is_markdown(place.name)]
        return [*self._named, *notes, self._bare / _BARE_FOLDER]

    def entries(self, prefix: PurePosixPath | str = "") -> list[NoteEntry]:  # noqa: ARG002
        entries = {entry.path: entry for path in self._paths for entry in list_markdown(path)}
        return [entries[path] for path in sorted(entries)]

    def read(self, path: PurePosixPath | str) -> Note:
        file = Path(path)
        entry = stat_entry(file) if any(is_below(root, file) for root in self._paths) else None
        if entry is None:
            raise NotFound(lazy("There is no note {path}.", path=path))
        if entry.size > LARGEST:
            raise StoreError(f"{path} has {entry.size:,} bytes, more than the {LARGEST:,} a note may have.")
        try:
            content = file.read_bytes()
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {error.strerror}.") from error
        if b"\0" in content:
            raise StoreError(f"{path} is no text.")
        return Note(content.decode("utf-8", "surrogateescape"), entry.tag)


def stat_entry(file: Path) -> NoteEntry | None:
    try:
        status = file.stat()
    except OSError:
        return None
    tag = f"{status.st_ino:x}-{status.st_size:x}-{status.st_mtime_ns:x}"
    return NoteEntry(PurePosixPath(file.as_posix()), status.st_size, status.st_mtime, tag)


def _unreadable_entry(place: Path, why: str) -> NoteEntry:
    return NoteEntry(PurePosixPath(printable_name(place.as_posix())), 0, 0.0, why, why)


def list_markdown(path: Path) -> Iterator[NoteEntry]:
    if path.is_symlink():
        return
    if path.is_file():
        if (entry := stat_entry(path)) is not None:
            yield entry
        return
    troubles: list[OSError] = []
    for folder, names, files in os.walk(path, onerror=troubles.append):
        for name in filter(name_problem, names):
            yield _unreadable_entry(Path(folder, name, EVERY_NOTE), name_problem(name))
        names[:] = filter(_is_shown, names)
        for name in filter(is_markdown, files):
            file = Path(folder, name)
            if name_problem(name):
                yield _unreadable_entry(file, name_problem(name))
            elif not file.is_symlink() and (entry := stat_entry(file)) is not None:
                yield entry
    for error in troubles:
        yield _unreadable_entry(
            Path(error.filename, EVERY_NOTE), f"The folder cannot be read: {error.strerror}."
        )


def is_below(root: Path, file: Path) -> bool:
    """Whether a walk from the root would find this file. Only the way to it is looked at."""
    if file == root:
        return file.is_file() and not file.is_symlink()
    if root not in file.parents or not is_markdown(file.name) or name_problem(file.name):
        return False
    inner = file.relative_to(root).parts
    way = [root.joinpath(*inner[:depth]) for depth in range(len(inner) + 1)]
    return all(map(_is_shown, inner)) and file.is_file() and not any(step.is_symlink() for step in way)


def is_markdown(name: str) -> bool:
    return not name.startswith(".") and PurePosixPath(name).suffix.lower() in _SUFFIXES


def _is_shown(name: str) -> bool:
    return not name.startswith(".") and not name_problem(name)


@dataclass(frozen=True, slots=True)
class NoteChunk:
    """A part of a text with its lines, counted from 1, and the headings above it, outermost first.

    `memory` and `kind` name the memory that it is, and are empty for other text.
    """

    text: str
    first: int
    last: int
    headings: tuple[str, ...] = ()
    memory: str = ""
    kind: str = ""
    at: float = 0.0
    holds: bool = True

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode(errors="surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class _Unit:
    """A piece that is never cut: a line, a block of code, or a portion of an endless line."""

    text: str
    first: int
    last: int
    heading: bool = False
    fence: bool = False

    @property
    def size(self) -> int:
        return len(self.text) + 1


def split_chunks(text: str, *, by_hand: bool = False) -> list[NoteChunk]:
    """Split a text into chunks; with `by_hand`, list items without our comment are memories too."""
    lines = _LINE_END.split(text.removeprefix("\ufeff"))
    memories = {item.first - 1: item for item in locate_items(text, Scope(), by_hand=by_hand)}
    known = {item.memory.id: item.memory for item in memories.values()}
    parts: list[NoteChunk] = []
    above: list[tuple[int, str]] = []
    units: list[_Unit] = []
    at = 0

    def flush() -> None:
        parts.extend(pack_units(units, tuple(name for _, name in above)))
        units.clear()

    while at < len(lines):
        heading = _HEADING.match(lines[at])
        if at in memories:
            item = memories[at]
            if all(unit.heading or not unit.text.strip() for unit in units):
                # A heading alone says nothing that the memories under it do not know.
                units.clear()
            flush()
            names, memory = tuple(name for _, name in above), item.memory
            words = memory_text(memory, known)
            parts.append(
                NoteChunk(
                    words, item.first, item.last, names, memory.id, memory.kind, memory.date, memory.active
                )
            )
            at = item.last
        elif heading:
            if any(not unit.heading and unit.text.strip() for unit in units):
                flush()
            level = len(heading[1])
            above = [(depth, name) for depth, name in above if depth < level] + [
                (level, heading[2].rstrip(" \t#"))
            ]
            units.append(_Unit(lines[at], at, at, heading=True))
            at += 1
        else:
            end = find_fence_end(lines, at)
            units += split_units(lines[at:end], at)
            at = end
    flush()
    return parts


def memory_text(memory: Memory, known: Mapping[str, Memory]) -> str:
    """The text of a memory; for one that no longer holds, with the date until which it did and what does."""
    if memory.active:
        return memory.text
    until = f"{datetime.fromtimestamp(memory.valid_until, UTC):%Y-%m-%d}" if memory.valid_until else "?"
    successor, seen = memory, {memory.id}
    while (following := known.get(successor.superseded_by)) is not None and following.id not in seen:
        successor = following
        seen.add(successor.id)
    now = f" → {successor.text}" if successor is not memory and successor.active else ""
    return f"{memory.text} (… {until}{now})"


def read_successor(text: str) -> tuple[str, str]:
    """Return the text of a memory that no longer holds, and what holds now; empty if that is not known."""
    old, mark, until = text.rpartition(" (… ")
    return (old, until.removesuffix(")").partition(" → ")[2]) if mark else (text, "")


def find_fence_end(lines: Sequence[str], at: int) -> int:
    """Return the line after the block of code that begins here, or the next line if none does."""
    opening = _FENCE.match(lines[at])
    if not opening:
        return at + 1
    for end in range(at + 1, len(lines)):
        closing = _FENCE.match(lines[end])
        if closing and closing[1].startswith(opening[1]) and not lines[end][closing.end() :].strip():
            return end + 1
    return len(lines)


def split_units(lines: Sequence[str], first: int) -> Iterator[_Unit]:
    whole = "\n".join(lines)
    if len(lines) > 1 and len(whole) <= _LARGEST_FENCE:
        yield _Unit(whole, first, first + len(lines) - 1, fence=True)
        return
    for number, line in enumerate(lines, first):
        if len(line) <= CHUNK_SIZE:
            yield _Unit(line, number, number)
        else:
            for start in range(0, len(line), CHUNK_SIZE - PIECE):
                yield _Unit(line[start : start + CHUNK_SIZE - PIECE], number, number)


def pack_units(units: Sequence[_Unit], headings: tuple[str, ...]) -> Iterator[NoteChunk]:
    """Join units to chunks of the right size; each begins with the end of the one before."""
    current: list[_Unit] = []
    repeated = size = 0
    for unit in units:
        while len(current) > repeated and size + unit.size > CHUNK_SIZE:
            cut = max(find_border(current), repeated + 1)
            yield from build_chunk(current[:cut], headings)
            tail = find_overlap(current[:cut])
            current, repeated = [*tail, *current[cut:]], len(tail)
            size = sum(each.size for each in current)
        if len(current) == repeated and size + unit.size > CHUNK_SIZE:
            # There is no room for any overlap beside it.
            current, repeated, size = [], 0, 0
        current.append(unit)
        size += unit.size
    if len(current) > repeated:
        yield from build_chunk(current, headings)


def find_border(units: Sequence[_Unit]) -> int:
    """Where to cut: after the last empty line in the second half, else at the end."""
    size, best = 0, len(units)
    for number, unit in enumerate(units):
        size += unit.size
        if size > CHUNK_SIZE // 2 and not unit.text.strip():
            best = number + 1
    return best


def find_overlap(units: Sequence[_Unit]) -> list[_Unit]:
    """The last lines that fit into the overlap; a block of code is not repeated."""
    overlap: list[_Unit] = []
    for unit in reversed(units):
        if unit.fence or unit.heading or sum(each.size for each in overlap) + unit.size > OVERLAP:
            break
        overlap.insert(0, unit)
    return overlap


def build_chunk(units: Sequence[_Unit], headings: tuple[str, ...]) -> Iterator[NoteChunk]:
    """Make a chunk of these units; none if they contain no text."""
    first, last = 0, len(units)
    while first < last and not units[first].text.strip():
        first += 1
    while last > first and not units[last - 1].text.strip():
        last -= 1
    text = COMMENT.sub("", "\n".join(unit.text for unit in units[first:last]))
    if text.strip():
        yield NoteChunk(text.strip("\n"), units[first].first + 1, units[last - 1].last + 1, headings)


def find_news(
    store: Store, places: Mapping[NotesFolder, _FileTexts], unread: Callable[[], Collection[str]]
) -> dict[NotesFolder, list[MemoryNews]]:
    """Compare what the index has of files with what they say now, and return changed or removed memories.

    `unread` returns the memories in changed files that are not read yet: those have only moved.
    """
    now = {file: notes for files in places.values() for file, notes in files.items()}
    before = store.passages.notes_in(now.keys())
    news: dict[NotesFolder, list[MemoryNews]] = {}
    lost: dict[tuple[NotesFolder, str], str] = {}
    for place, files in places.items():
        for file, notes in files.items():
            for name, old in before.get(file, {}).items():
                if name not in notes:
                    lost[place, name] = old
                elif notes[name] != old:
                    news.setdefault(place, []).append(MemoryNews(name, place.folder, notes[name]))
    elsewhere = store.passages.files_of({name for _, name in lost}) if lost else {}
    for (place, name), old in lost.items():
        current = {file: words for file, words in elsewhere.get(name, {}).items() if file not in now}
        current |= {file: notes[name] for file, notes in now.items() if name in notes}
        words = next(_current_texts(name, place, current), "")
        waits = not words and name in unread()
        if words != old and not waits:
            news.setdefault(place, []).append(MemoryNews(name, place.folder, words))
    return news


def _current_texts(name: str, place: NotesFolder, texts: Mapping[str, str]) -> Iterator[str]:
    """Yield the texts that this name has now. An id made of words counts only in its own place."""
    for file, words in texts.items():
        if not has_content_id(name) or file.startswith(f"{place.key}:"):
            yield words


@dataclass(frozen=True, slots=True)
class Freshness:
    """How far the index is behind the files.

    `stale` files have changed and could not be read again in time; `skipped` ones cannot be read at all, each
    with the reason. `indexed_at` is when the last of them was read.
    """

    files: int = 0
    stale: int = 0
    skipped: Mapping[str, str] = field(default_factory=dict)
    indexed_at: float = 0.0

    @property
    def left_out(self) -> tuple[str, ...]:
        """Sentences that name the files that could not be read, and why; of many, the first ones."""
        reasons = [why if path in why else f"{path}: {why}" for path, why in sorted(self.skipped.items())]
        sentences = [f"Left out: {reason}" for reason in reasons[:_NAMED_FILES]]
        more = len(reasons) - len(sentences)
        return (*sentences, f"{more} more files are left out.") if more else tuple(sentences)


@dataclass(frozen=True, slots=True)
class _FolderWork:
    """The changes to make to one folder's part of the index."""

    notes: NotesFolder
    files: NoteFiles
    known: dict[str, FileState]
    gone: list[str]
    changed: list[NoteEntry]


_Portion = list[tuple[_FolderWork, NoteEntry]]


def _ignore_progress(done: int, total: int) -> None:
    """Default for callers that show no progress."""


def _never() -> bool:
    return False


class Index:
    """`extra` are files outside of the workspace, which belong to the user `owner`.

    `on_news` is called with memories that were changed or removed in the files, in the same transaction.
    """

    def __init__(
        self,
        store: Store,
        workspace: NoteFiles,
        *,
        extra: NoteFiles | None = None,
        owner: str = Scope().user,
        on_news: Callable[[Sequence[MemoryNews]], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._workspace = workspace
        self._extra = extra
        self._owner = owner
        # The place of the files outside of the workspace.
        self._elsewhere = NotesFolder(scopes.extra_notes_name(owner))
        self._on_news = on_news
        self._clock = clock
        self._syncing = threading.Lock()
        # Where there were notes when somebody looked.
        self._filled: set[NotesFolder] = set()

    def places(self, scope: Scope, *, own: bool = False) -> list[NotesFolder]:
        """The places with notes that this scope can see, or only its `own`."""
        seen = (scopes.owner(scope),) if own else scopes.visible(scope)
        places = [NotesFolder(str(scopes.folder(each))) for each in seen]
        places.append(NotesFolder(str(scopes.folder(scopes.owner(scope)) / scopes.CONVERSATIONS)))
        theirs = scope.kind == "private" and scope.user == self._owner
        # Files elsewhere are the person's, not a project's.
        if self._extra is not None and theirs and not (own and scope != Scope(self._owner)):
            places.append(self._elsewhere)
        return places

    def everywhere(self) -> list[NotesFolder]:
        """All places with notes, whoever can see them."""
        paths = {entry.path for entry in self._workspace.entries()}
        # Those of which every file is gone have something to take out.
        paths.update(
            path for path in map(PurePosixPath, self._store.passages.paths()) if path.parts[0] != "/"
        )
        folders = sorted({name for path in paths if (name := folder_of(path))})
        places = [NotesFolder(folder) for folder in folders]
        return places if self._extra is None else [*places, self._elsewhere]

    def is_empty(self, scope: Scope) -> bool:
        """Whether this scope can see no notes at all.

        Notes that were there at the last look count; a search finds out if they are gone.
        """
        places = self.places(scope)
        try:
            return self._filled.isdisjoint(places) and not any(self._list_files(places).values())
        except WorkspaceUnreachable:
            # The files cannot be listed now; a search will say so.
            return False

    def owners(self, scope: Scope, memories: Collection[str]) -> dict[str, Scope]:
        """The owner of each of these memories that this scope can see; others are left out."""
        owners: dict[str, Scope] = {}
        files = self._store.passages.files_of(memories)
        for whose in scopes.visible(scope):
            beginning = f"{NotesFolder(str(scopes.folder(whose))).key}:"
            for name, containers in files.items():
                if not name.startswith(PART) and any(file.startswith(beginning) for file in containers):
                    owners[name] = whose
        return owners

    def refresh(self, scope: Scope, seconds: float) -> Freshness:
        """Remove what is gone and read again what has changed, for so many seconds; with none, only look.

        The time is for reading: however long the comparison takes, some files are read.
        """
        places = self.places(scope)
        try:
            work = self._compare(places)
            until = self._clock() + seconds
            return self._carry_out(work, lambda: self._clock() >= until)
        except WorkspaceUnreachable as error:
            return self._unseen(places, error)

    def sync(self, progress: Progress = _ignore_progress, stop: Stop = _never) -> Freshness:
        """Bring the files of all scopes up to date, unless `stop` ends it early.

        Only one caller does it at a time: meanwhile others only get the state.
        """
        if not self._syncing.acquire(blocking=False):
            return self._carry_out(self._compare(self.everywhere()), lambda: True)
        try:
            return self._carry_out(self._compare(self.everywhere()), stop, progress)
        finally:
            self._syncing.release()

    def rebuild(self, progress: Progress = _ignore_progress, stop: Stop = _never) -> Freshness:
        """Read all files again, whatever the index has of them, after a sync under way has ended."""
        with self._syncing:
            self._store.passages.distrust_files()
            return self._carry_out(self._compare(self.everywhere()), stop, progress)

    def forget(self, memories: Collection[str]) -> None:
        """Remove memories from the index at once, before their files are read again.

        What still holds of them comes back when the file is read.
        """
        self._store.passages.forget(memories)

    def _list_files(self, places: Sequence[NotesFolder]) -> dict[NotesFolder, list[NoteEntry]]:
        """List the files in these places, each folder once."""
        listing: dict[NotesFolder, list[NoteEntry]] = {notes: [] for notes in places}
        if self._elsewhere in listing and self._extra is not None:
            listing[self._elsewhere] = self._extra.entries()
        folders = {notes.folder: entries for notes, entries in listing.items() if notes != self._elsewhere}
        for root in outermost_folders(folders):
            for entry in self._workspace.entries(root):
                if (folder := folder_of(entry.path)) in folders:
                    folders[folder].append(entry)
        self._filled.difference_update(places)
        self._filled.update(notes for notes, entries in listing.items() if entries)
        return listing

    def _compare(self, places: Sequence[NotesFolder]) -> list[_FolderWork]:
        work: list[_FolderWork] = []
        for notes, entries in self._list_files(places).items():
            files = self._extra if self._extra is not None and notes == self._elsewhere else self._workspace
            known = self._store.passages.files(notes)
            present = {container_name(notes, entry.path): entry for entry in entries}
            changed = [
                entry
                for name, entry in present.items()
                if name not in known or (known[name].tag, known[name].version) != (entry.tag, CHUNK_VERSION)
            ]
            work.append(_FolderWork(notes, files, known, sorted(known.keys() - present.keys()), changed))
        return work

    def _unseen(self, places: Sequence[NotesFolder], error: WorkspaceUnreachable) -> Freshness:
        """The state when the files cannot be listed: the index still answers, and says what it lacks."""
        states = [state for notes in places for state in self._store.passages.files(notes).values()]
        newest = max((state.indexed_at for state in states), default=0.0)
        skipped = {f"{notes.folder}/{EVERY_NOTE}": str(error) for notes in places[:1]}
        return Freshness(len(states), 0, skipped, newest)

    def _carry_out(
        self, work: Sequence[_FolderWork], stop: Stop, progress: Progress = _ignore_progress
    ) -> Freshness:
        waiting = [(folder, entry) for folder in work for entry in folder.changed]
        waiting.sort(key=lambda pair: _urgency(pair[1]))
        done = 0
        unread = cache(lambda: read_memory_ids(waiting[done:]))
        progress(done, len(waiting))
        for portion in split_portions(waiting):
            taken = self._take_in(portion, stop, unread)
            done += taken
            if taken < len(portion):
                break
            progress(done, len(waiting))
        # After the new ones, so that a file that was moved keeps its vectors.
        for folder in work:
            if folder.gone:
                nothing: Mapping[str, Mapping[str, str]] = {name: {} for name in folder.gone}
                news = find_news(self._store, {folder.notes: nothing}, unread)
                self._store.passages.remove(folder.gone, partial(self._tell, news.get(folder.notes, [])))
        states = [state for folder in work for name, state in folder.known.items() if name not in folder.gone]
        skipped = {str(entry.path): entry.trouble for _, entry in waiting if entry.trouble}
        skipped |= {state.path: state.trouble for state in states if state.trouble}
        newest = max((state.indexed_at for state in states), default=0.0)
        return Freshness(len(states), len(waiting) - done, skipped, newest)

    def _take_in(self, portion: _Portion, stop: Stop, unread: Callable[[], Collection[str]]) -> int:
        """Put files into the index, one transaction for each place, until `stop`; returns how many."""
        taken, read = 0, dict[NotesFolder, dict[FileState, list[NewPassage]]]()
        for work, entry in takewhile(lambda _: not stop(), portion):
            taken += 1
            if (content := self._read(work, entry)) is not None:
                state, passages = content
                work.known[state.container] = state
                read.setdefault(work.notes, {})[state] = passages
        # What an unreadable file says now is unknown.
        now = {
            notes: {
                state.container: {part.name: part.text for part in parts}
                for state, parts in files.items()
                if not state.trouble
            }
            for notes, files in read.items()
        }
        news = find_news(self._store, now, unread)
        for notes, files in read.items():
            self._store.passages.replace(notes, files, partial(self._tell, news.get(notes, [])))
        return taken

    def _tell(self, news: Sequence[MemoryNews]) -> None:
        if news:
            self._on_news(news)

    def _read(self, work: _FolderWork, entry: NoteEntry) -> tuple[FileState, list[NewPassage]] | None:
        """Read one file for the index. One that cannot be read is noted with the reason until it changes."""
        name, path, now = container_name(work.notes, entry.path), str(entry.path), time.time()
        if entry.trouble:
            return FileState(name, path, entry.tag, CHUNK_VERSION, now, entry.trouble), []
        try:
            note = work.files.read(entry.path)
        except NotFound:
            # It went away just now, and will be gone the next time.
            return None
        except WorkspaceUnreachable:
            # That says nothing of this file, which would otherwise be left out until it changes.
            raise
        except HoldfastError as error:
            return FileState(name, path, entry.tag, CHUNK_VERSION, now, error.message), []
        return FileState(name, path, note.tag, CHUNK_VERSION, now), passages_of(entry, note.text)


def outermost_folders(folders: Collection[str]) -> list[str]:
    """The folders that are not inside of another one."""
    return [
        folder
        for folder in folders
        if not any(str(parent) in folders for parent in PurePosixPath(folder).parents)
    ]


def _urgency(entry: NoteEntry) -> tuple[bool, bool, float]:
    """Sort key: files with memories first, large files last, newer before older."""
    memories = entry.path.name == _CURATED or _DAY.fullmatch(entry.path.stem)
    return not memories, entry.size > _BYTES_IN_STEP, -entry.mtime


def split_portions(waiting: _Portion) -> Iterator[_Portion]:
    portion: _Portion = []
    for work, entry in waiting:
        full = (
            len(portion) == _FILES_IN_STEP
            or sum(waits.size for _, waits in portion) + entry.size > _BYTES_IN_STEP
        )
        if portion and full:
            yield portion
            portion = []
        portion.append((work, entry))
    if portion:
        yield portion


def read_memory_ids(waiting: _Portion) -> set[str]:
    """The memories in files that are not read yet, so that a moved one does not count as removed."""
    ids: set[str] = set()
    for work, entry in waiting:
        try:
            ids |= read_ids(work.files.read(entry.path).text)
        except WorkspaceUnreachable:
            raise
        except HoldfastError:
            continue
    return ids


def container_name(notes: NotesFolder, path: PurePosixPath) -> str:
    return f"{notes.key}:{path}"


def passages_of(entry: NoteEntry, text: str) -> list[NewPassage]:
    """The passages of a file with this text, under stable names."""
    day = _DAY.search(entry.path.stem)
    date = parse_day(day[0]) if day else entry.mtime
    kind = "summary" if scopes.is_summary(entry.path) else ""
    passages: list[NewPassage] = []
    repeats: dict[str, int] = {}
    text = without_ledger(text) if kind else text
    for part in split_chunks(text, by_hand=entry.path.name == _CURATED):
        # Made of the words alone, so that it stays the same whatever is written above it.
        repeats[part.digest] = again = repeats.get(part.digest, -1) + 1
        name = part.memory or f"{PART}{part.digest}" + (f"_{again}" if again else "")
        at = part.at or date
        if kind and any(map(is_wish_heading, part.headings[-1:])):
            # What was asked for in a conversation says nothing about anything.
            continue
        if (part.kind or kind) and traits_of(part.text) & Trait.ONLY_ASKS:
            # A question that was noted down would come back as the answer to itself.
            continue
        about = " ".join((entry.path.stem, *part.headings, date_words(at)))
        passages.append(
            NewPassage(name, part.text, part.first, part.last, at, about, part.kind or kind, part.holds)
        )
    return passages


def parse_day(day: str) -> float:
    try:
        return datetime.fromisoformat(f"{day}T12:00").astimezone().timestamp()
    except ValueError:
        return 0.0
