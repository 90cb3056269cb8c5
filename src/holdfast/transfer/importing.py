"""Takes in what a source holds: talks into the log, sayings into memory, pages beside the notes.

Doing it again changes nothing, and a source that has grown adds what is new: a talk is known by the name its
source gives it, a message by its words and its place, a saying by its words. Each talk is one transaction.
Knows no format.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, TypeVar

from sqlalchemy import Connection, func, select

from holdfast.conversations.likeness import anchor
from holdfast.errors import Conflict, HoldfastError
from holdfast.language import say
from holdfast.memory.base import Memory
from holdfast.memory.keeping.library import Library
from holdfast.memory.private import redacted
from holdfast.memory.scopes import folder, owner, visible
from holdfast.memory.workspace.base import ABSENT, Transient, Workspace, look
from holdfast.memory.workspace.items import spelled
from holdfast.memory.workspace.notes import Notes
from holdfast.messages import Scope
from holdfast.store import Conversation, NewMessage, Store, Stored, tree
from holdfast.store.schema import conversations, messages
from holdfast.transfer.sources import Page, Saying, Skipped, Source, Talk, Trouble
from holdfast.transfer.telling import Tell, untold
from holdfast.words import language_of

T = TypeVar("T")

NOTES = "notes"
# Sayings that are kept together: each is compared with all that are there.
_PORTION = 200
_ODD, _LONGEST = re.compile(r"[^\w. +@-]"), 100
# Lines of a report; what is beyond is counted.
_LINES = 1_000


@dataclass(frozen=True, slots=True)
class Counts:
    """How much a scope has."""

    conversations: int = 0
    messages: int = 0
    memories: int = 0


@dataclass(slots=True)
class Report:
    """What an import came to. In a dry run nothing of it has happened."""

    kind: str
    dry_run: bool
    before: Counts = field(default_factory=Counts)
    after: Counts = field(default_factory=Counts)
    conversations: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("new", "grown", "known"), 0))
    messages: int = 0
    memories: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("new", "updated", "known", "refused"), 0)
    )
    notes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("new", "known"), 0))
    left_out: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    more_lines: int = 0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def note(self, item: Skipped | Trouble) -> None:
        lines = self.unreadable if isinstance(item, Trouble) else self.left_out
        if len(lines) < _LINES:
            lines.append(f"{item.place}: {item.reason}")
        else:
            self.more_lines += 1


class _Undone(Exception):
    """Ends a transaction of a dry run; what it came to is in it."""

    def __init__(self, result: object) -> None:
        self.result = result


class Importing:
    """Into one scope. A dry run does all there is to do, and leaves no trace of it."""

    def __init__(
        self,
        store: Store,
        library: Library,
        scope: Scope,
        *,
        dry_run: bool = False,
        tell: Tell = untold,
    ) -> None:
        self._store = store
        self._scope = scope
        self._dry = dry_run
        self._tell = tell
        self._library = _rehearsal(library, scope, store) if dry_run else library
        self._workspace: Workspace = self._library.notes.workspace
        # The conversations that talks became, for what was remembered in them.
        self._became: dict[str, str] = {}

    def take(self, source: Source) -> Report:
        report = Report(source.kind, self._dry, before=self._counted())
        sayings: list[Saying] = []
        for number, item in enumerate(source.items, 1):
            self._tell(source.kind, number, max(source.steps, number))
            match item:
                case Talk():
                    self._talk(source.kind, item, report)
                case Saying():
                    sayings.append(item)
                case Page():
                    self._page(source.kind, item, report)
                case Skipped() | Trouble():
                    report.note(item)
        self._sayings(sayings, report)
        report.after = self._counted()
        if self._dry:
            grown = report.before.conversations + report.conversations["new"]
            said = report.before.messages + report.messages
            report.after = replace(report.after, conversations=grown, messages=said)
        return report

    def _counted(self) -> Counts:
        memories = self._library.page(self._scope, limit=0, history=True).total
        numbers = self._store.database.read(lambda connection: _numbers(connection, self._scope))
        return Counts(*numbers, memories)

    def _talk(self, kind: str, talk: Talk, report: Report) -> None:
        try:
            name, known, added = self._in_one_step(lambda: self._keep(f"{kind}:{talk.key}", kind, talk))
        except Conflict as error:
            report.note(Trouble(talk.title or talk.key, str(error)))
            return
        self._became[talk.key] = name
        report.messages += added
        report.conversations["new" if not known else "grown" if added else "known"] += 1

    def _in_one_step(self, work: Callable[[], T]) -> T:
        def undone() -> T:
            raise _Undone(work())

        try:
            return self._store.atomically(undone if self._dry else work)
        except _Undone as end:
            result: T = end.result  # type: ignore[assignment]
            return result

    def _keep(self, name: str, client: str, talk: Talk) -> tuple[str, bool, int]:
        """The conversation's id, whether it was known, and how many messages are new."""
        log = self._store.log
        found = log.by_external_id(self._scope, name)
        row = (
            found[0]
            if found
            else log.create(
                self._scope, title=talk.title, client=client, external_id=name, now=talk.created_at
            )
        )
        # Nobody else changes it until this transaction ends.
        row = log.taken(row.id)
        places, added = self._store.database.write(lambda connection: _grown(connection, row.tree, talk))
        self._stand(row, places[talk.head], talk.updated_at)
        return row.id, bool(found), added

    def _stand(self, row: Conversation, head: str, now: float) -> None:
        """Move the head to where the source has it, unless somebody went on here in another direction."""
        behind = row.head is None or row.head in self._store.log.path_ids(head)
        if behind and row.head != head:
            self._store.log.set_head(row.id, head, expect=row.head, now=max(now, row.updated_at))

    def _sayings(self, sayings: list[Saying], report: Report) -> None:
        kept, archived = self._library.everything(self._scope)
        known = {memory.id for memory in (*kept, *archived)}
        fresh: dict[str, Memory] = {}
        for saying in sayings:
            memory = self._memory(saying)
            if memory.id in known:
                report.memories["known"] += 1
            else:
                # Said twice in one source it counts once, from when it was said first.
                fresh.setdefault(memory.id, memory)
        # The old before the new, or nothing could take the place of anything.
        ordered = sorted(fresh.values(), key=lambda memory: memory.valid_from)
        names = {"added": "new", "superseded": "new"}
        for start in range(0, len(ordered), _PORTION):
            self._tell(say("memories", "Erinnerungen"), start, len(ordered))
            for outcome in self._library.keep(ordered[start : start + _PORTION]):
                report.memories[names.get(outcome.action, outcome.action)] += 1

    def _memory(self, saying: Saying) -> Memory:
        words = spelled(redacted(saying.text))
        digest = hashlib.sha256(" ".join(words.split()).encode()).hexdigest()[:16]
        return Memory(
            id=f"i_{digest}",
            kind=saying.kind,
            text=words,
            scope=owner(self._scope, saying.kind),
            valid_from=round(saying.at, 6),
            language=language_of(words),
            conversation=self._became.get(saying.talk, ""),
        )

    def _page(self, kind: str, page: Page, report: Report) -> None:
        place, text = self._place(kind, page.path), redacted(page.text)
        digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:8]
        # What somebody changed, here or there, stays, and the other version stands beside it.
        beside = place.with_name(f"{place.stem}-{digest}{place.suffix}")
        try:
            there = {one: look(self._workspace, one) for one in (place, beside)}
            if any(note.tag != ABSENT and note.text == text for note in there.values()):
                report.notes["known"] += 1
                return
            target = place if there[place].tag == ABSENT else beside
            self._workspace.write(target, text, expect=there[target].tag)
            report.notes["new"] += 1
        except HoldfastError as error:
            report.note(Trouble(page.path, error.message))

    def _place(self, kind: str, path: str) -> PurePosixPath:
        """A path in the notes of the scope that no path of a source can lead out of."""
        parts = [name for part in path.replace("\\", "/").split("/") if (name := _usable(part))]
        return (folder(owner(self._scope)) / NOTES / kind).joinpath(*parts)


def _usable(name: str) -> str:
    """A name that is none of ours and that every file system takes."""
    plain = _ODD.sub("-", name).strip(". -")
    if len(plain) > _LONGEST:
        plain = plain[: _LONGEST - 20] + PurePosixPath(plain).suffix[:20]
    # Under that name list items would count as memories.
    return plain.lower() if plain == "MEMORY.md" else plain


def _grown(connection: Connection, place: str, talk: Talk) -> tuple[dict[str, str], int]:
    """The talk in its tree: under which names its turns stand there now, and how many of them are new."""
    stored: dict[str, Stored] = {}
    added = 0
    for turn in talk.turns:
        above = None if turn.parent is None else stored[turn.parent]
        new = [NewMessage(turn.message, anchor(turn.message), turn.model)]
        found = tree.known(connection, place, above, new)
        if not found:
            found = tree.grow(connection, place, above, new, turn.at)
            added += 1
        stored[turn.key] = found[0]
    return {key: one.id for key, one in stored.items()}, added


def _numbers(connection: Connection, scope: Scope) -> tuple[int, int]:
    ours = (
        conversations.c.user == scope.user,
        conversations.c.project == scope.project,
        conversations.c.kind == scope.kind,
    )
    trees = select(conversations.c.tree).where(*ours).distinct()
    talks = connection.scalar(select(func.count()).select_from(conversations).where(*ours))
    said = connection.scalar(select(func.count()).select_from(messages).where(messages.c.tree.in_(trees)))
    return talks or 0, said or 0


def _rehearsal(library: Library, scope: Scope, store: Store) -> Library:
    """The same memories in a workspace that is gone afterwards. Notes that cannot be read are not in it."""
    stage = Transient()
    places = dict.fromkeys(folder(one) for one in visible(scope))
    for entry in (one for place in places for one in library.notes.workspace.entries(place)):
        if not entry.trouble:
            try:
                stage.write(entry.path, library.notes.workspace.read(entry.path).text)
            except HoldfastError:
                continue
    return Library(Notes(stage), store.recollections, similar=library.similar)
