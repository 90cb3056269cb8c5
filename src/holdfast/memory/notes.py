"""Memories as Markdown files of a workspace, for people to read and edit.

How a memory looks in a file is in `items`, which file it belongs to in `scopes`, how files are written in
`workspace`. Knows no index, no search, and does not judge what is worth keeping.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path, PurePosixPath

from holdfast.errors import HoldfastError
from holdfast.memory.base import Memory, SummaryNote
from holdfast.memory.comments import comment, first_comment, moment, seconds_of
from holdfast.memory.folder import Folder
from holdfast.memory.items import memories_in, spelled, with_changed, with_memories, without
from holdfast.memory.scopes import archive, day, days, memory_file, summary_file, visible
from holdfast.memory.workspace import Workspace, change, look
from holdfast.messages import Scope


class Notes:
    """The notes in a workspace; a path alone stands for the workspace in that folder."""

    def __init__(self, place: Workspace | Path) -> None:
        self.workspace: Workspace = Folder(place) if isinstance(place, Path) else place

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
        found: dict[PurePosixPath, list[Memory]] = {}
        for file in self.files(scope):
            try:
                found[file] = memories_in(self._text(file), scope, by_hand=by_hand(file))
            except HoldfastError as error:
                if troubles is None:
                    raise
                troubles.append(str(error))
        return found

    def archived(self, scope: Scope) -> dict[PurePosixPath, list[Memory]]:
        files = self._listed(archive(scope))
        return {file: memories_in(self._text(file), scope) for file in files}

    def files(self, scope: Scope) -> list[PurePosixPath]:
        """The files with a scope's own memories: the curated one, then its days."""
        return [memory_file(scope), *self._listed(days(scope))]

    def put(self, file: PurePosixPath, memory: Memory) -> bool:
        """Change the item of this id; whether anything was written."""
        return self.change(file, lambda text: with_changed(text, memory, by_hand=by_hand(file)))

    def take(self, file: PurePosixPath, names: Sequence[str], scope: Scope) -> bool:
        """Remove the items of these ids; whether there were any."""
        return self.change(file, lambda text: without(text, names, scope, by_hand=by_hand(file)))

    def change(self, file: PurePosixPath, work: Callable[[str], str]) -> bool:
        return change(self.workspace, file, work)

    def _listed(self, place: PurePosixPath) -> list[PurePosixPath]:
        return [entry.path for entry in self.workspace.entries(place) if entry.path.suffix == ".md"]

    def _text(self, file: PurePosixPath) -> str:
        return look(self.workspace, file).text


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


def _age(at: object, name: object) -> tuple[float, str]:
    """Ids rise with time, so they settle what the clock does not."""
    return seconds_of(at), str(name)
