"""Memories as Markdown files of a workspace, for people to read and edit, and who may read which note.

`items` defines how a memory looks in a file, `scopes` which file it belongs to, `workspace` how files are
written. A file of another scope is reported as missing, whether it exists or not.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath

from holdfast.errors import HoldfastError, StoreError
from holdfast.memory.base import Memory, SummaryNote, format_time, parse_time
from holdfast.memory.folder import FolderWorkspace
from holdfast.memory.index import split_chunks
from holdfast.memory.items import (
    COMMENT,
    PART,
    add_items,
    normalise,
    read_comment,
    read_memories,
    remove_items,
    replace_item,
    write_comment,
)
from holdfast.memory.scopes import (
    archive,
    day,
    days,
    folder,
    is_summary,
    may_see,
    memory_file,
    summaries,
    summary_file,
    visible,
)
from holdfast.memory.workspace import (
    Note,
    NoteEntry,
    Workspace,
    check_path,
    missing_error,
    read_or_empty,
    update_file,
)
from holdfast.messages import Scope
from holdfast.text.analyser import plain_words

# Files whose memories are held in memory: what conversations begin with is asked for all the time, and who
# looks through a list goes through the days of a year with every page of it.
_HELD = 400


class Notes:
    """The notes of a workspace; a path stands for the workspace in that folder."""

    def __init__(self, place: Workspace | Path) -> None:
        self.workspace: Workspace = FolderWorkspace(place) if isinstance(place, Path) else place
        # What was read of files, with the tags they had.
        self._cache: dict[tuple[PurePosixPath, Scope], tuple[str, list[Memory]]] = {}
        self._lock = threading.Lock()

    def allow(self, memories: Sequence[Memory]) -> None:
        """Do nothing: files have no tombstones."""

    def withdraw(self, scope: Scope, conversation: str, sentence: str) -> None:
        """Do nothing: files alone do not show which memory a sentence is about."""

    def write(self, memories: Sequence[Memory]) -> None:
        """Add the memories that are not there yet; what is there stays, whoever wrote it."""
        for file, group in group_by_file(memories).items():
            self.change(file, partial(add, memories=group))

    def write_summary(self, note: SummaryNote) -> None:
        """Make this the summary of its conversation, unless the present one is newer."""

        def keep_newest(text: str) -> str:
            fields = read_comment(text)
            newer = _age(fields.get("at"), fields.get("id", "")) < _age(format_time(note.at), note.id)
            return format_summary(note) if newer else text

        self.change(summary_file(note.scope, note.conversation), keep_newest)

    def read(self, scope: Scope) -> list[Memory]:
        """Return the memories of MEMORY.md that this scope can see, without handwritten ones."""
        return [
            memory
            for whose in visible(scope)
            for memory in read_memories(self._read_text(memory_file(whose)), whose)
        ]

    def list_memories(
        self, scope: Scope, troubles: list[str] | None = None
    ) -> dict[PurePosixPath, list[Memory]]:
        """Return a scope's own memories by file, with its days, without its archive.

        Files that cannot be read are described in `troubles`, if the caller gives a list.
        """
        return dict(self.iterate_files(self.list_files(scope, troubles), scope, troubles))

    def list_archived(
        self, scope: Scope, troubles: list[str] | None = None
    ) -> dict[PurePosixPath, list[Memory]]:
        return dict(self.iterate_files(self._list_paths(archive(scope), troubles), scope, troubles))

    def list_summaries(
        self, scope: Scope, troubles: list[str] | None = None
    ) -> dict[PurePosixPath, list[Memory]]:
        """Return the newest summary of each of a scope's own conversations."""
        memories: dict[PurePosixPath, list[Memory]] = {}
        for file in filter(is_summary, self._list_paths(summaries(scope), troubles)):
            with collect_problems(troubles):
                memories[file] = [*parse_summary(self._read_text(file), scope)]
        return memories

    def iterate_files(
        self, files: Iterable[PurePosixPath], scope: Scope, troubles: list[str] | None = None
    ) -> Iterator[tuple[PurePosixPath, list[Memory]]]:
        """Yield the memories of these files, each read when it is asked for."""
        for file in files:
            with collect_problems(troubles):
                yield file, self._load(file, scope)

    def list_files(self, scope: Scope, troubles: list[str] | None = None) -> list[PurePosixPath]:
        """Return the files with a scope's own memories: the curated one, then its days."""
        return [memory_file(scope), *self._list_paths(days(scope), troubles)]

    def read_prose(self, file: PurePosixPath, scope: Scope, at: float = 0.0) -> list[Memory]:
        """Return the text of a file beside its memories, in parts with the ids of the index."""
        parts = split_chunks(self._read_text(file), by_hand=is_curated(file))
        return [
            Memory(f"{PART}{part.digest}", "note", part.text, scope, valid_from=at)
            for part in parts
            if not part.memory
            and any(line.strip() and not line.startswith("#") for line in part.text.splitlines())
        ]

    def revise(
        self,
        file: PurePosixPath,
        name: str,
        scope: Scope,
        work: Callable[[Memory], Memory],
        *,
        successor: str = "",
    ) -> Memory | None:
        """Change one item from its state at the moment of writing; None if it is not there.

        `successor` is the text of what replaces it, for people who read the file.
        """
        new: Memory | None = None

        def revise_text(text: str) -> str:
            nonlocal new
            old = next((memory for memory in self._parse(text, file, scope) if memory.id == name), None)
            new = None if old is None else work(old)
            return (
                text
                if new is None
                else replace_item(text, new, by_hand=is_curated(file), successor=successor)
            )

        self.change(file, revise_text)
        return new

    def remove(self, file: PurePosixPath, names: Collection[str], scope: Scope) -> bool:
        """Remove the items of these ids; return whether there were any."""
        return self.change(file, lambda text: remove_items(text, names, scope, by_hand=is_curated(file)))

    def drop_from_summaries(self, memories: Sequence[Memory], scopes: Sequence[Scope]) -> None:
        """Remove the lines that say the same as these memories from summaries of their conversations."""
        texts = list(filter(None, (plain_words(memory.text) for memory in memories)))

        def says_that(line: str) -> bool:
            # A line that says much besides stays.
            words = plain_words(line)
            return any(text in words and 2 * len(text) >= len(words) for text in texts)

        def drop_lines(summary: str) -> str:
            return "".join(line for line in summary.splitlines(keepends=True) if not says_that(line))

        for conversation in {source.conversation for memory in memories for source in memory.sources}:
            for scope in scopes:
                self.change(summary_file(scope, conversation), drop_lines)

    def remove_unchanged(self, file: PurePosixPath, memories: Sequence[Memory], scope: Scope) -> list[Memory]:
        """Remove memories that are as they were read; return those that somebody changed meanwhile."""
        stay: list[Memory] = []

        def remove_text(text: str) -> str:
            nonlocal stay
            current = {memory.id: memory for memory in self._parse(text, file, scope)}
            stay = [memory for memory in memories if current.get(memory.id, memory) != memory]
            names = {memory.id for memory in memories} - {memory.id for memory in stay}
            return remove_items(text, names, scope, by_hand=is_curated(file))

        self.change(file, remove_text)
        return stay

    def change(self, file: PurePosixPath, work: Callable[[str], str]) -> bool:
        return update_file(self.workspace, file, work)

    def _list_paths(self, place: PurePosixPath, troubles: list[str] | None) -> list[PurePosixPath]:
        entries: list[NoteEntry] = []
        with collect_problems(troubles):
            entries = self.workspace.entries(place)
        notes = [entry for entry in entries if entry.path.suffix == ".md"]
        if troubles is not None:
            troubles += [f"{entry.path}: {entry.trouble}" for entry in notes if entry.trouble]
        return [entry.path for entry in notes if not entry.trouble]

    def _load(self, file: PurePosixPath, scope: Scope) -> list[Memory]:
        """Return the memories of a file, parsed again only if the file has changed."""
        note = read_or_empty(self.workspace, file)
        with self._lock:
            tag, memories = self._cache.pop((file, scope), (None, []))
        if tag != note.tag:
            memories = self._parse(note.text, file, scope)
        with self._lock:
            self._cache[file, scope] = note.tag, memories
            while len(self._cache) > _HELD:
                del self._cache[next(iter(self._cache))]
        return list(memories)

    def _parse(self, text: str, file: PurePosixPath, scope: Scope) -> list[Memory]:
        return read_memories(text, scope, by_hand=is_curated(file))

    def _read_text(self, file: PurePosixPath) -> str:
        return read_or_empty(self.workspace, file).text


@contextmanager
def collect_problems(troubles: list[str] | None) -> Iterator[None]:
    """Collect errors as text in `troubles`, or raise them if there is no list."""
    try:
        yield
    except HoldfastError as error:
        if troubles is None:
            raise
        troubles.append(str(error))


def group_by_file(memories: Sequence[Memory]) -> dict[PurePosixPath, list[Memory]]:
    """Group memories by the file they belong to."""
    files: dict[PurePosixPath, list[Memory]] = {}
    for memory in memories:
        files.setdefault(memory_file(memory.scope, memory.kind, memory.valid_from), []).append(memory)
    return files


def is_curated(file: PurePosixPath) -> bool:
    """Tell whether every list item of a file is a memory; elsewhere a list may be just a list."""
    return file.name == "MEMORY.md"


def add(text: str, memories: Sequence[Memory]) -> str:
    """Return the text of a file with memories added; a day's file has its date as title."""
    notes = memories[0].kind == "note"
    return add_items(text, memories, day(memories[0].valid_from) if notes else "")


def format_summary(note: SummaryNote) -> str:
    fields = {
        "id": note.id,
        "kind": "summary",
        "conversation": note.conversation,
        # Summaries of all projects lie together: this is what tells whose they are.
        "project": note.scope.project if note.scope != Scope(note.scope.user) else "",
        "covers": note.covers,
        "first": note.first,
        "last": note.last,
        "at": format_time(note.at),
        "language": note.language,
    }
    title = " ".join(normalise(note.title).split()) or note.conversation
    # The comment comes first, so that nothing in the words can be taken for it.
    return f"{write_comment(fields)}\n# {title}\n\n{normalise(note.text)}\n"


def parse_summary(text: str, scope: Scope) -> Iterator[Memory]:
    fields, head = read_comment(text), COMMENT.match(text)
    if head is not None and fields.get("kind") == "summary":
        yield Memory(
            id=str(fields.get("id", "")),
            kind="summary",
            text=text[head.end() :].strip(),
            scope=scope,
            conversation=str(fields.get("conversation", "")),
            valid_from=parse_time(fields.get("at")),
            language=str(fields.get("language", "")),
        )


def _age(at: object, name: object) -> tuple[float, str]:
    """Return a sort key; ids rise with time, so they decide between equal times."""
    return parse_time(at), str(name)


MARKDOWN = frozenset({".md", ".markdown"})
# Folders that decide whose a file is. Spelled otherwise they would be the same where case does not count.
_RESERVED = frozenset({"conversations", "projects", "groups"})


def check_note_path(scope: Scope, path: str, suffixes: Collection[str] = MARKDOWN) -> PurePosixPath:
    """Return the path of a file that this scope may read, else raise NotFound."""
    place = check_path(path)
    disguised = any(part.lower() in _RESERVED and part not in _RESERVED for part in place.parts)
    if disguised or place.suffix.lower() not in suffixes or not may_see(scope, place):
        raise missing_error(place)
    return place


def note_at(workspace: Workspace, scope: Scope, path: str, suffixes: Collection[str] = MARKDOWN) -> Note:
    """Read a note that this scope may read."""
    place = check_note_path(scope, path, suffixes)
    note = workspace.read(place)
    if is_summary(place) and not _is_of(scope, note):
        raise missing_error(place)
    return note


def notes_of(workspace: Workspace, scope: Scope, suffixes: Collection[str] = MARKDOWN) -> list[NoteEntry]:
    """List the files this scope can read, by path, also those with a problem."""
    return [
        entry
        for entry in workspace.entries(folder(visible(scope)[0]))
        if entry.path.suffix.lower() in suffixes
        and may_see(scope, entry.path)
        and (not is_summary(entry.path) or _is_summary_of(scope, workspace, entry.path))
    ]


def _is_summary_of(scope: Scope, workspace: Workspace, path: PurePosixPath) -> bool:
    try:
        return _is_of(scope, read_or_empty(workspace, path))
    except StoreError:
        # It cannot be read, so nobody can tell whose it is.
        return False


def _is_of(scope: Scope, summary: Note) -> bool:
    """Tell whose a summary is: those of all of a person's projects are in one folder."""
    if scope.kind == "group":
        return True
    return (read_comment(summary.text).get("project") or Scope().project) == scope.project
