"""Memories as Markdown files of a workspace, for people to read and edit.

How a memory looks in a file is in `items`, which file it belongs to in `scopes`, how files are written in
`workspace`. Knows no index, no search, and does not judge what is worth keeping.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath

from holdfast.errors import HoldfastError
from holdfast.memory.base import Memory, SummaryNote
from holdfast.memory.index import split_chunks
from holdfast.memory.scopes import (
    archive,
    day,
    days,
    is_summary,
    memory_file,
    summaries,
    summary_file,
    visible,
)
from holdfast.memory.workspace.base import Entry, Workspace, change, look
from holdfast.memory.workspace.comments import COMMENT, comment, first_comment, moment, seconds_of
from holdfast.memory.workspace.folder import Folder
from holdfast.memory.workspace.items import (
    PART,
    memories_in,
    spelled,
    with_changed,
    with_memories,
    without,
)
from holdfast.messages import Scope

# Files whose memories are held in memory: what conversations begin with is asked for all the time, and who
# looks through a list goes through the days of a year with every page of it.
_HELD = 400


class Notes:
    """The notes in a workspace; a path alone stands for the workspace in that folder."""

    def __init__(self, place: Workspace | Path) -> None:
        self.workspace: Workspace = Folder(place) if isinstance(place, Path) else place
        # What was read of files, with the tags they had.
        self._known: dict[tuple[PurePosixPath, Scope], tuple[str, list[Memory]]] = {}
        self._noting = threading.Lock()

    def allow(self, memories: Sequence[Memory]) -> None:
        """Files alone do not know what was forgotten."""

    def withdraw(self, scope: Scope, conversation: str, sentence: str) -> None:
        """Files alone do not know which memory a sentence is about."""

    def write(self, memories: Sequence[Memory]) -> None:
        """Add those memories that are not there yet. What is there stays, whoever wrote it."""
        for file, group in by_file(memories).items():
            self.change(file, partial(added, memories=group))

    def write_summary(self, note: SummaryNote) -> None:
        """Make this the summary of its conversation, unless the one that is there is newer."""

        def newest(text: str) -> str:
            there = first_comment(text)
            newer = _age(there.get("at"), there.get("id", "")) < _age(moment(note.at), note.id)
            return _summary(note) if newer else text

        self.change(summary_file(note.scope, note.conversation), newest)

    def read(self, scope: Scope) -> list[Memory]:
        """All memories of MEMORY.md this scope can see, those of a person's own hand not among them."""
        return [
            memory
            for whose in visible(scope)
            for memory in memories_in(self._text(memory_file(whose)), whose)
        ]

    def of(self, scope: Scope, troubles: list[str] | None = None) -> dict[PurePosixPath, list[Memory]]:
        """A scope's own memories by file, as they stand there now, its days included, its archive not.

        A file that cannot be read is told in `troubles`, where the caller has a list for them.
        """
        return dict(self.each(self.files(scope, troubles), scope, troubles))

    def archived(self, scope: Scope, troubles: list[str] | None = None) -> dict[PurePosixPath, list[Memory]]:
        return dict(self.each(self._listed(archive(scope), troubles), scope, troubles))

    def summaries(self, scope: Scope, troubles: list[str] | None = None) -> dict[PurePosixPath, list[Memory]]:
        """The newest summary of each of a scope's own conversations; a file that is none is left out."""
        found: dict[PurePosixPath, list[Memory]] = {}
        for file in filter(is_summary, self._listed(summaries(scope), troubles)):
            with _telling(troubles):
                found[file] = [*_summarised(self._text(file), scope)]
        return found

    def each(
        self, files: Iterable[PurePosixPath], scope: Scope, troubles: list[str] | None = None
    ) -> Iterator[tuple[PurePosixPath, list[Memory]]]:
        """The memories of these files of a scope, one file after the other, none before it is asked for."""
        for file in files:
            with _telling(troubles):
                yield file, self._there(file, scope)

    def files(self, scope: Scope, troubles: list[str] | None = None) -> list[PurePosixPath]:
        """The files with a scope's own memories: the curated one, then its days."""
        return [memory_file(scope), *self._listed(days(scope), troubles)]

    def prose(self, file: PurePosixPath, scope: Scope, at: float = 0.0) -> list[Memory]:
        """What somebody wrote into a file beside the memories in it, as parts with the names the index
        gives.
        """
        parts = split_chunks(self._text(file), by_hand=by_hand(file))
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
        """Change one item, from what it is at the moment of writing; None where it is not there.

        `successor` are the words of what takes its place, for people who read the file.
        """
        new: Memory | None = None

        def revised(text: str) -> str:
            nonlocal new
            old = next((memory for memory in self._in(text, file, scope) if memory.id == name), None)
            new = None if old is None else work(old)
            return (
                text if new is None else with_changed(text, new, by_hand=by_hand(file), successor=successor)
            )

        self.change(file, revised)
        return new

    def take(self, file: PurePosixPath, names: Collection[str], scope: Scope) -> bool:
        """Remove the items of these ids; whether there were any."""
        return self.change(file, lambda text: without(text, names, scope, by_hand=by_hand(file)))

    def take_unchanged(self, file: PurePosixPath, memories: Sequence[Memory], scope: Scope) -> list[Memory]:
        """Remove those that still are what was read; the others, which somebody changed meanwhile."""
        stay: list[Memory] = []

        def taken(text: str) -> str:
            nonlocal stay
            there = {memory.id: memory for memory in self._in(text, file, scope)}
            stay = [memory for memory in memories if there.get(memory.id, memory) != memory]
            names = {memory.id for memory in memories} - {memory.id for memory in stay}
            return without(text, names, scope, by_hand=by_hand(file))

        self.change(file, taken)
        return stay

    def change(self, file: PurePosixPath, work: Callable[[str], str]) -> bool:
        return change(self.workspace, file, work)

    def _listed(self, place: PurePosixPath, troubles: list[str] | None) -> list[PurePosixPath]:
        found: list[Entry] = []
        with _telling(troubles):
            found = self.workspace.entries(place)
        notes = [entry for entry in found if entry.path.suffix == ".md"]
        if troubles is not None:
            troubles += [f"{entry.path}: {entry.trouble}" for entry in notes if entry.trouble]
        return [entry.path for entry in notes if not entry.trouble]

    def _there(self, file: PurePosixPath, scope: Scope) -> list[Memory]:
        """The memories of a file as it is now; one that did not change is not taken apart again."""
        note = look(self.workspace, file)
        with self._noting:
            tag, memories = self._known.pop((file, scope), (None, []))
        if tag != note.tag:
            memories = self._in(note.text, file, scope)
        with self._noting:
            self._known[file, scope] = note.tag, memories
            while len(self._known) > _HELD:
                del self._known[next(iter(self._known))]
        return list(memories)

    def _in(self, text: str, file: PurePosixPath, scope: Scope) -> list[Memory]:
        return memories_in(text, scope, by_hand=by_hand(file))

    def _text(self, file: PurePosixPath) -> str:
        return look(self.workspace, file).text


@contextmanager
def _telling(troubles: list[str] | None) -> Iterator[None]:
    """What cannot be read is told, where there is a list to tell it in."""
    try:
        yield
    except HoldfastError as error:
        if troubles is None:
            raise
        troubles.append(str(error))


def by_file(memories: Sequence[Memory]) -> dict[PurePosixPath, list[Memory]]:
    files: dict[PurePosixPath, list[Memory]] = {}
    for memory in memories:
        files.setdefault(memory_file(memory.scope, memory.kind, memory.valid_from), []).append(memory)
    return files


def by_hand(file: PurePosixPath) -> bool:
    """In the curated file every item counts; elsewhere a list may be just a list."""
    return file.name == "MEMORY.md"


def added(text: str, memories: Sequence[Memory]) -> str:
    """The text of a file with memories that belong there; a day has its date for a title."""
    notes = memories[0].kind == "note"
    return with_memories(text, memories, day(memories[0].valid_from) if notes else "")


def _summary(note: SummaryNote) -> str:
    told = {
        "id": note.id,
        "kind": "summary",
        "conversation": note.conversation,
        # Summaries of all projects lie together: this is what tells whose they are.
        "project": note.scope.project if note.scope != Scope(note.scope.user) else "",
        "covers": note.covers,
        "first": note.first,
        "last": note.last,
        "at": moment(note.at),
        "language": note.language,
    }
    title = " ".join(spelled(note.title).split()) or note.conversation
    # The comment comes first, so that nothing in the words can be taken for it.
    return f"{comment(told)}\n# {title}\n\n{spelled(note.text)}\n"


def _summarised(text: str, scope: Scope) -> Iterator[Memory]:
    told, head = first_comment(text), COMMENT.match(text)
    if head is not None and told.get("kind") == "summary":
        yield Memory(
            id=str(told.get("id", "")),
            kind="summary",
            text=text[head.end() :].strip(),
            scope=scope,
            conversation=str(told.get("conversation", "")),
            valid_from=seconds_of(told.get("at")),
            language=str(told.get("language", "")),
        )


def _age(at: object, name: object) -> tuple[float, str]:
    """Ids rise with time, so they settle what the clock does not."""
    return seconds_of(at), str(name)
