"""The library of memories: list, add, correct, replace, archive and forget, always inside a scope.

The files are the truth and are read anew each time, since a person may change them at any moment. The store
has only how often each memory was used and what was forgotten. An index is kept by whoever listens to
changes.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import PurePosixPath
from typing import Any, Literal, Unpack

from holdfast.errors import BadRequest, Conflict, HoldfastError, NotFound
from holdfast.i18n import lazy
from holdfast.memory.base import KINDS, Kind, Memory, SettableFields, SummaryNote
from holdfast.memory.items import (
    add_items,
    check_importance,
    check_kind,
    check_listed_kind,
    check_text,
    is_handwritten,
    normalise,
    remove_items,
)
from holdfast.memory.notes import Notes, add, group_by_file, is_curated
from holdfast.memory.private import MARK, redact
from holdfast.memory.scopes import (
    archive,
    archive_file,
    check_writable,
    day_file,
    folder,
    may_write,
    memory_file,
    owner,
    visible,
)
from holdfast.memory.tidy import (
    LIMIT,
    KnownMemories,
    Similar,
    WriteOutcome,
    hash_words,
    jaccard,
    least_useful,
    same_digests,
    tidy,
    usefulness,
)
from holdfast.messages import Scope
from holdfast.store import Tombstone, new_id
from holdfast.store.memories import MemoryUse, RecollectionRepository
from holdfast.text.analyser import language_of, terms
from holdfast.text.questions import Trait, traits_of, without_ledger, without_wishes
from holdfast.text.slots import introduces_speaker
from holdfast.text.statements import binds, named_share

_DAY = 86_400.0

# What is out of the way: what no longer holds, and what made room.
Aside = Literal["former", "archived"]


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """A part of a list. `troubles` describe files that could not be read."""

    memories: tuple[Memory, ...]
    total: int
    troubles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryStats:
    active: int = 0
    superseded: int = 0
    archived: int = 0
    forgotten: int = 0
    recalls: int = 0
    limit: int = LIMIT
    kinds: dict[str, int] = field(default_factory=dict)
    oldest: float = 0.0
    newest: float = 0.0
    troubles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LocatedMemory:
    """A memory and its file."""

    file: PurePosixPath
    memory: Memory


class Catalogue:
    """Reads memories: lists, single ones, statistics."""

    def __init__(
        self,
        notes: Notes,
        records: RecollectionRepository,
        *,
        limit: int = LIMIT,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.notes = notes
        self._records = records
        self._limit = limit
        self._clock = clock

    def page(
        self,
        scope: Scope,
        *,
        kind: Kind | None = None,
        text: str = "",
        limit: int = 50,
        offset: int = 0,
        history: bool = False,
        only: Aside | None = None,
        own: bool = False,
    ) -> MemoryPage:
        """List what a scope can see, or only its `own`, newest first; with `history` also former ones.

        With `only`, list what no longer holds or what is archived instead. Summaries are listed only if
        `kind` asks for them, and only the scope's own: a project must not see what was said elsewhere.
        """
        if limit < 0 or offset < 0:
            raise BadRequest(lazy("Limit and offset cannot be negative."), hint=lazy("Count from 0."))
        troubles: list[str] = []
        summaries = kind == "summary"
        scopes = (owner(scope),) if own or summaries else visible(scope)
        notes = self.notes
        read = notes.list_memories
        if summaries or only == "archived":
            read = notes.list_summaries if summaries else notes.list_archived
        memories = [
            item.memory for whose in scopes for item in unique_memories(read(whose, troubles).items())
        ]
        if only == "former":
            memories = [memory for memory in memories if not memory.active]
        elif only is None and not history:
            memories = [memory for memory in memories if memory.active]
        if kind is not None:
            memories = [memory for memory in memories if memory.kind == check_listed_kind(kind)]
        if text.strip():
            memories = [memory for memory in memories if mentions(memory.text, text)]
        memories.sort(key=lambda memory: (memory.date, memory.id), reverse=True)
        return MemoryPage(tuple(memories[offset : offset + limit]), len(memories), tuple(troubles))

    def get(self, scope: Scope, name: str) -> Memory:
        """Return a memory by its id, also one that no longer holds or is archived."""
        return self._find(scope, name).memory

    def list_replaced(self, scope: Scope, name: str) -> list[Memory]:
        """List what a memory replaced, directly and before, newest first."""
        current, archived = self.list_all(scope, [])
        former = {memory.id: memory for memory in (*archived, *current) if not memory.active}
        names, replaced = {name}, list[Memory]()
        while step := [memory for memory in former.values() if memory.superseded_by in names]:
            names = {memory.id for memory in step}
            replaced += [former.pop(identifier) for identifier in names]
        return sorted(replaced, key=lambda memory: memory.date, reverse=True)

    def history(self, scope: Scope, name: str) -> list[Memory]:
        """List all memories that stood in this one's place, up to the one that holds now, newest first."""
        newest = self.get(scope, name)
        seen = {newest.id}
        while newest.superseded_by and newest.superseded_by not in seen:
            try:
                newest = self.get(scope, newest.superseded_by)
            except NotFound:
                # Its successor was forgotten since.
                break
            seen.add(newest.id)
        return [newest, *self.list_replaced(scope, newest.id)]

    def list_rivals(self, scope: Scope) -> list[tuple[Memory, Memory]]:
        """List memories that may replace an older one, each with that one, newest first; both hold."""
        current, _ = self.list_all(scope)
        active = {memory.id: memory for memory in current if memory.active}
        pairs = [
            (memory, active[memory.may_replace]) for memory in active.values() if memory.may_replace in active
        ]
        return sorted(pairs, key=lambda pair: pair[0].date, reverse=True)

    def find_file(self, scope: Scope, name: str) -> PurePosixPath:
        """Return the file of a memory."""
        return self._find(scope, name).file

    def list_all(self, scope: Scope, troubles: list[str] | None = None) -> tuple[list[Memory], list[Memory]]:
        """List all memories a scope can see, history included, and the archived ones.

        Files that cannot be read are left out and described in `troubles`.
        """
        problems: list[str] = [] if troubles is None else troubles
        current = [where.memory for whose in visible(scope) for where in self._list_current(whose, problems)]
        archived = [
            memory
            for whose in visible(scope)
            for memories in self.notes.list_archived(whose, problems).values()
            for memory in memories
        ]
        return current, archived

    def list_useful(self, scope: Scope, now: float | None = None) -> list[Memory]:
        """List the most useful memories first, then the notes of today and yesterday."""
        moment = self._clock() if now is None else now
        curated: list[tuple[float, Memory]] = []
        recent: list[Memory] = []
        for whose in visible(scope):
            first = memory_file(whose)
            files = first, day_file(whose, moment), day_file(whose, moment - _DAY)
            by_file: dict[PurePosixPath, list[Memory]] = {file: [] for file in files}
            for where in unique_memories(self.notes.iterate_files(files, whose, [])):
                by_file[where.file].append(where.memory)
            active = [memory for memory in by_file.pop(first) if memory.active]
            uses = self._records.uses(whose, [memory.id for memory in active])
            curated += (
                (usefulness(memory, uses.get(memory.id, MemoryUse()), moment), memory) for memory in active
            )
            recent += chain.from_iterable(by_file.values())
        curated.sort(key=lambda rated: (rated[0], rated[1].date), reverse=True)
        recent.sort(key=lambda memory: memory.date, reverse=True)
        return [memory for _, memory in curated] + recent

    def list_opening(self, scope: Scope, now: float | None = None) -> list[Memory]:
        """List what a conversation begins with: who the person is, rules, the rest, two days, a summary."""
        moment = self._clock() if now is None else now
        known = [
            memory
            for memory in self.list_useful(scope, moment)
            if not traits_of(memory.text) & Trait.ONLY_ASKS
        ]
        # What a person wants and forbids goes before what was decided, or failed.
        first = sorted(filter(is_rule, known), key=lambda memory: memory.kind == "decision")
        prose: list[Memory] = []
        for whose in visible(scope):
            prose += self.notes.read_prose(memory_file(whose), whose)
        days: list[Memory] = []
        for whose in visible(scope):
            for at in (moment, moment - _DAY):
                days += self.notes.read_prose(day_file(whose, at), whose, at)
        summaries = chain.from_iterable(self.notes.list_summaries(owner(scope), []).values())
        newest = [
            replace(memory, text=text)
            for memory in sorted(summaries, key=lambda memory: memory.date)[-1:]
            if (text := without_wishes(without_ledger(memory.text)))
        ]
        others = [memory for memory in known if memory not in first]
        person = [memory for memory in others if introduces_speaker(memory.text)][:3]
        return [*dict.fromkeys([*person, *first, *others]), *prose, *days, *newest]

    def stats(self, scope: Scope) -> MemoryStats:
        """Count a scope's own memories."""
        mine = owner(scope)
        troubles: list[str] = []
        every = [where.memory for where in self._list_current(mine, troubles)]
        active = [memory for memory in every if memory.active]
        dates = [memory.date for memory in active if memory.date]
        return MemoryStats(
            active=len(active),
            superseded=len(every) - len(active),
            archived=sum(map(len, self.notes.list_archived(mine, troubles).values())),
            forgotten=len(self._records.list_tombstones(mine)),
            recalls=sum(use.recalls for use in self._records.uses(mine).values()),
            limit=self._limit,
            kinds={kind: sum(memory.kind == kind for memory in active) for kind in KINDS},
            oldest=min(dates, default=0.0),
            newest=max(dates, default=0.0),
            troubles=tuple(troubles),
        )

    def _find(self, scope: Scope, name: str) -> LocatedMemory:
        troubles: list[str] = []
        scopes = visible(scope)[::-1]
        # Most are in the curated files: those first, before all the days are read.
        curated = (self.notes.iterate_files([memory_file(whose)], whose, []) for whose in scopes)
        places = chain(
            (
                LocatedMemory(file, memory)
                for files in curated
                for file, memories in files
                for memory in memories
            ),
            (where for whose in scopes for where in self._list_copies(whose, troubles)),
        )
        match = next((where for where in places if where.memory.id == name), None)
        if match is None:
            hint = lazy("See the list for those there are.")
            raise NotFound(
                lazy("There is no memory {name!r} here.", name=name), hint=" ".join([*troubles, hint])
            )
        return match

    def _list_current(self, scope: Scope, troubles: list[str]) -> Iterator[LocatedMemory]:
        return unique_memories(self.notes.list_memories(scope, troubles).items())

    def _list_copies(self, scope: Scope, troubles: list[str] | None = None) -> Iterator[LocatedMemory]:
        """Yield every item of a scope, archive and copies included."""
        problems: list[str] = [] if troubles is None else troubles
        for read in (self.notes.list_memories, self.notes.list_archived):
            for file, memories in read(scope, problems).items():
                yield from (LocatedMemory(file, memory) for memory in memories)


def is_rule(memory: Memory) -> bool:
    """Whether a memory says how things are to be done. A rule of a project is a decision of it."""
    return memory.kind == "preference" or (memory.kind == "decision" and binds(memory.text))


def unique_memories(files: Iterable[tuple[PurePosixPath, list[Memory]]]) -> Iterator[LocatedMemory]:
    """Yield every memory at its first place; a copy left by a crash is skipped."""
    seen: set[str] = set()
    for file, memories in files:
        for memory in memories:
            if memory.id not in seen:
                seen.add(memory.id)
                yield LocatedMemory(file, memory)


def mentions(text: str, asked: str) -> bool:
    wanted = set(terms(asked))
    return asked.strip().casefold() in text.casefold() or bool(wanted and wanted <= set(terms(text)))


log = logging.getLogger("holdfast.memory")

Change = Literal["added", "updated", "superseded", "edited", "archived", "forgotten"]
ChangeListener = Callable[[Sequence[Memory], Change], None]

# How the id of a memory begins that is another one before it was edited.
EDITED = "e_"
# What a person writes down by themselves matters to them.
_BY_REQUEST = 0.8
# Taken from the same message, so much is enough to be what was forgotten there.
_AGAIN = 0.6
# So much of what is taken back by name has to be in what was kept.
_NAMED = 0.5
# Among the digests of words this one belongs to no word, so no text has the same ones.
_CORRECTED = "=corrected"


def _ignore_change(memories: Sequence[Memory], change: Change) -> None:
    """The listener of those who keep nothing beside the files."""


class Library(Catalogue):
    """Reads and changes memories in notes; `on_change` is called after each change is in the files."""

    def __init__(
        self,
        notes: Notes,
        records: RecollectionRepository,
        *,
        similar: Similar | None = None,
        on_change: ChangeListener = _ignore_change,
        limit: int = LIMIT,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(notes, records, limit=limit, clock=clock)
        self.similar = similar
        self.on_change = on_change
        # The memories of the file that was written to last, by their words.
        self._indexes: dict[PurePosixPath, KnownMemories] = {}

    def write(self, memories: Sequence[Memory]) -> None:
        self.keep(memories)

    def write_summary(self, note: SummaryNote) -> None:
        self.notes.write_summary(note)

    def keep(self, memories: Sequence[Memory], archived: list[Memory] | None = None) -> list[WriteOutcome]:
        """Store memories of conversations: without secrets, merged with known ones, no forgotten ones.

        Those that made room for them are added to `archived`.
        """
        outcomes: list[WriteOutcome] = []
        wanted: list[Memory] = []
        for memory, stones in self._match_tombstones(memories):
            if has_words(memory.text) and not stones:
                undated = memory.kind == "note" and not memory.valid_from
                wanted.append(replace(memory, valid_from=self._now()) if undated else memory)
            else:
                outcomes.append(WriteOutcome("refused", memory))
        for file, group in group_by_file(wanted).items():
            outcomes += self._keep(file, group)
        for scope in {memory.scope for memory in wanted}:
            try:
                moved = self.make_room(scope)
                if archived is not None:
                    archived += moved
            except HoldfastError as error:
                # What is kept is kept; the archive is told of in the numbers, too.
                log.warning("nothing could be put into the archive: %s", error)
        return outcomes

    def add(
        self,
        scope: Scope,
        text: str,
        kind: Kind = "fact",
        **fields: Unpack[SettableFields],
    ) -> WriteOutcome:
        """Store what a person asks for, even if it was forgotten once."""
        words = clean_text(text)
        memory = Memory(
            id=new_id("y"),
            kind=check_kind(kind),
            text=words,
            scope=owner(scope, kind),
            valid_from=self._now(),
            language=language_of(words),
            **_check_fields({"importance": _BY_REQUEST, **fields}),
        )
        check_writable(scope, memory.scope)
        self.allow([memory])
        archived: list[Memory] = []
        (outcome,) = self.keep([memory], archived)
        return replace(outcome, archived=tuple(archived))

    def add_each(self, scope: Scope, texts: Sequence[tuple[Kind, str]]) -> list[Memory]:
        """Store what a person accepted from a list, each beside the others: nothing is merged or replaced."""
        memories = [
            Memory(
                id=new_id("y"),
                kind=check_kind(kind),
                text=(words := clean_text(text)),
                scope=owner(scope, kind),
                importance=_BY_REQUEST,
                valid_from=self._now(),
                language=language_of(words),
            )
            for kind, text in texts
        ]
        self.allow(memories)
        self.notes.write(memories)
        if memories:
            self.on_change(memories, "added")
        return memories

    def allow(self, memories: Sequence[Memory]) -> None:
        """Lift the tombstones of these memories: a person wants them to be remembered."""
        for memory, stones in self._match_tombstones(memories):
            if stones:
                self._records.lift(memory.scope, [stone.memory for stone in stones])

    def withdraw(self, scope: Scope, conversation: str, sentence: str) -> None:
        """Take back the memory of a conversation that a sentence names; what it had replaced holds again.

        Of several it is the one with most of what is named, then the newest. If none has half of it, nothing
        is taken back.
        """
        current, _ = self.list_all(scope)
        named = [
            (share, memory.date, memory.id)
            for memory in current
            if memory.active
            and not memory.pinned
            and may_write(scope, memory.scope)
            and any(source.conversation == conversation for source in memory.sources)
            and (share := named_share(sentence, memory.text)) >= _NAMED
        ]
        if named:
            self.take_back(scope, max(named)[2])

    def take_back(self, scope: Scope, name: str) -> tuple[Memory, list[Memory]]:
        """Forget a wrong memory and restore what it had replaced; return it and the restored ones."""
        wrong = self.get(scope, name)
        check_writable(scope, wrong.scope)
        before = [
            memory
            for memory in self.list_replaced(scope, name)
            if memory.superseded_by == name and not memory.id.startswith(EDITED)
        ]
        restored = [self._restore(memory) for memory in before]
        self.forget(scope, name)
        return wrong, [memory for memory in restored if memory is not None]

    def _restore(self, memory: Memory) -> Memory | None:
        file = self.find_file(memory.scope, memory.id)
        restored = self.notes.revise(
            file, memory.id, memory.scope, lambda old: replace(old, superseded_by="", valid_until=0.0)
        )
        if restored is not None:
            self.on_change([restored], "updated")
        return restored

    def decide(self, scope: Scope, name: str, *, replaces: bool) -> tuple[Memory, Memory | None]:
        """Record whether a memory replaces its rival or both hold; return it and the replaced one."""
        newer = self.get(scope, name)
        older = next((pair[1] for pair in self.list_rivals(scope) if pair[0].id == name), None)
        if older is None:
            raise BadRequest(
                lazy("There is nothing to decide about the memory {name!r}.", name=name),
                hint=lazy("See which ones are open."),
            )
        for memory in (newer, older):
            check_writable(scope, memory.scope)
        replaced = None
        if replaces:
            until = newer.valid_from or newer.date
            replaced = self.notes.revise(
                self.find_file(scope, older.id),
                older.id,
                older.scope,
                lambda old: replace(old, superseded_by=newer.id, valid_until=until),
                successor=newer.text,
            )
            if replaced is not None:
                self.on_change([replaced], "superseded")
        decided = self.notes.revise(
            self.find_file(scope, name), name, newer.scope, lambda item: replace(item, may_replace="")
        )
        self.on_change([decided or newer], "updated")
        return decided or newer, replaced

    def make_room(self, scope: Scope) -> list[Memory]:
        """Move the least useful memories to the archive while there are more active ones than the limit."""
        file, now = memory_file(scope), self._clock()
        ((_, memories),) = self.notes.iterate_files([file], scope)
        # What a person wrote themselves stays where they put it.
        memories = [memory for memory in memories if not is_handwritten(memory)]
        active = [memory for memory in memories if memory.active]
        history = [memory for memory in memories if not memory.active]
        if max(len(active), len(history)) <= self._limit:
            return []
        leaving = least_useful(active, self._records.uses(scope), now, self._limit)
        history.sort(key=lambda memory: memory.valid_until)
        leaving += history[: max(0, len(history) - self._limit)]
        return self._move_to_archive(file, leaving, scope)

    def note_used(self, memories: Sequence[Memory], now: float | None = None) -> None:
        """Count that these went into a window."""
        for scope in {memory.scope for memory in memories}:
            self.note_recalled({memory.id: scope for memory in memories if memory.scope == scope}, now)

    def note_recalled(self, owners: Mapping[str, Scope], now: float | None = None) -> None:
        """Count the same for ids and their owners."""
        for scope in set(owners.values()):
            names = [name for name, whose in owners.items() if whose == scope]
            self._records.record_uses(scope, names, self._clock() if now is None else now)

    def edit(
        self,
        scope: Scope,
        name: str,
        *,
        text: str | None = None,
        kind: Kind | None = None,
        **fields: Unpack[SettableFields],
    ) -> Memory:
        """Correct a memory in place; one of another kind may move to another file.

        Other words leave the former ones as history, struck through.
        """
        changes = _check_fields(fields)
        if text is not None:
            changes["text"] = clean_text(text)
        if kind is not None:
            changes["kind"] = check_kind(kind)
        now = self._now()

        def correct(item: Memory) -> Memory:
            new = replace(item, **changes)
            if new.kind == item.kind:
                return new
            return replace(new, scope=owner(new.scope, new.kind), valid_from=new.valid_from or now)

        where = self._find(scope, name)
        old, new = where.memory, correct(where.memory)
        for memory in (old, new):
            check_writable(scope, memory.scope)
        if new.text != old.text and old.messages:
            # What was corrected must not come back from the message it was taken from; from others it may.
            words = hash_words(old.text) | {_CORRECTED}
            stone = Tombstone(new_id("z"), words, frozenset(old.messages), self._clock())
            self._records.bury(old.scope, stone)
        same_kind = new.kind == old.kind
        target = where.file if same_kind else memory_file(new.scope, new.kind, new.valid_from)
        if target != where.file:
            self._move(where, target, new)
        else:
            # From what stands there by then: others may have changed what is not asked for here.
            revised = self.notes.revise(target, name, old.scope, correct)
            if revised is None:
                raise _conflict(name)
            new = revised
        if text is not None and new.text != old.text:
            self._add_former(target, old, new)
        self.on_change([new], "edited")
        return new

    def _add_former(self, file: PurePosixPath, old: Memory, new: Memory) -> None:
        """Write down what a memory said before it was corrected; what is put aside needs no history."""
        if old.active and not is_handwritten(old) and archive(old.scope) not in file.parents:
            until = self._now()
            former = replace(old, id=new_id(EDITED[0]), superseded_by=new.id, valid_until=until, pinned=False)
            self.notes.change(file, lambda there: add(there, [replace(former, may_replace="")]))

    def archive(self, scope: Scope, name: str) -> Memory:
        """Move a memory to the archive, where it can still be found."""
        where = self._find(scope, name)
        memory = where.memory
        check_writable(scope, memory.scope)
        aside = archive(memory.scope) in where.file.parents
        if not aside and not self._move_to_archive(where.file, [memory], memory.scope):
            raise _conflict(name)
        return memory

    def restore(self, scope: Scope, name: str) -> Memory:
        """Take a memory out of the archive; it is pinned, or it would be the first to go there again."""
        where = self._find(scope, name)
        memory = replace(where.memory, pinned=True)
        check_writable(scope, memory.scope)
        if archive(memory.scope) in where.file.parents:
            self._move(where, memory_file(memory.scope, memory.kind, memory.valid_from), memory)
            self.on_change([memory], "added")
        return memory

    def add_archived(self, memories: Sequence[Memory]) -> list[WriteOutcome]:
        """Write memories straight into the archive, for an import."""
        scopes: dict[Scope, list[Memory]] = {}
        for memory in map(sanitise, memories):
            scopes.setdefault(memory.scope, []).append(memory)
        for scope, group in scopes.items():
            self._write_archive(group, scope)
        return [WriteOutcome("added", memory) for memory in memories]

    def forget(self, scope: Scope, name: str) -> Memory:
        """Remove a memory and its copies for good, and prevent that it is learned again."""
        memory = self._find(scope, name).memory
        check_writable(scope, memory.scope)
        # What it said before it was edited goes with it.
        edits = [old for old in self.list_replaced(memory.scope, name) if old.id.startswith(EDITED)]
        self._forget(memory.scope, [memory, *edits])
        self.notes.drop_from_summaries([memory, *edits], visible(scope))
        return memory

    def forget_conversation(self, scope: Scope, conversation: str) -> list[Memory]:
        """Forget what is known from this conversation alone."""
        gone: list[Memory] = []
        for whose in visible(scope):
            if not may_write(scope, whose):
                continue
            memories = {
                where.memory.id: where.memory
                for where in self._list_copies(whose)
                if {source.conversation for source in where.memory.sources} == {conversation}
            }
            self._forget(whose, list(memories.values()))
            gone += memories.values()
        return gone

    def confirmation(self, scope: Scope) -> str:
        """Return the text that confirms deleting everything of a scope."""
        return str(folder(owner(scope)))

    def clear(self, scope: Scope, confirm: str) -> int:
        """Forget all of a scope's own memories, archived ones too; other text in the files stays."""
        mine = owner(scope)
        check_writable(scope, mine)
        if confirm != self.confirmation(mine):
            raise BadRequest(
                lazy("Deleting all memories must be confirmed."),
                hint=lazy("Confirm with '{name}'.", name=self.confirmation(mine)),
                param="confirm",
            )
        memories = {where.memory.id: where.memory for where in self._list_copies(mine)}
        self._forget(mine, list(memories.values()))
        return len(memories)

    def _now(self) -> float:
        """Return the time with the precision of the files."""
        return round(self._clock(), 6)

    def _match_tombstones(self, memories: Sequence[Memory]) -> Iterator[tuple[Memory, list[Tombstone]]]:
        """Yield each memory as it would be stored, with the tombstones that forbid it."""
        every: dict[Scope, list[Tombstone]] = {}
        for memory in map(sanitise, memories):
            if memory.scope not in every:
                every[memory.scope] = self._records.list_tombstones(memory.scope)
            words = hash_words(memory.text)
            yield memory, [stone for stone in every[memory.scope] if _was_forgotten(memory, words, stone)]

    def _keep(self, file: PurePosixPath, group: Sequence[Memory]) -> list[WriteOutcome]:
        outcomes: list[WriteOutcome] = []

        def work(text: str) -> str:
            nonlocal outcomes
            by_hand = is_curated(file)
            text, outcomes = tidy(text, group, add, similar=self.similar, by_hand=by_hand, index=index)
            return text

        index = self._indexes.pop(file, KnownMemories())  # nobody else uses it meanwhile
        self.notes.change(file, work)
        self._indexes = {file: index}
        for outcome in outcomes:
            self._notify(outcome.others, "superseded")
            if outcome.action not in ("known", "refused"):
                self.on_change([outcome.memory], "updated" if outcome.action == "updated" else "added")
        return outcomes

    def _move(self, where: LocatedMemory, target: PurePosixPath, new: Memory) -> None:
        """Write to the target before removing: a crash in between leaves a copy and loses nothing."""
        self.notes.change(target, lambda there: add(there, [new]))
        if self.notes.remove_unchanged(where.file, [where.memory], where.memory.scope):
            self.notes.remove(target, [new.id], new.scope)
            raise _conflict(new.id)

    def _move_to_archive(self, file: PurePosixPath, memories: Sequence[Memory], scope: Scope) -> list[Memory]:
        """Archive memories; return those that moved. One that was changed meanwhile stays in its file."""
        month = self._write_archive(memories, scope)
        stay = self.notes.remove_unchanged(file, memories, scope)
        if stay:
            self.notes.remove(month, {memory.id for memory in stay}, scope)
        moved = [memory for memory in memories if memory not in stay]
        self._notify(moved, "archived")
        return moved

    def _write_archive(self, memories: Sequence[Memory], scope: Scope) -> PurePosixPath:
        month = archive_file(scope, self._clock())

        def replace_copies(text: str) -> str:
            # A copy that a crash left there may be an older one.
            text = remove_items(text, {memory.id for memory in memories}, scope)
            return add_items(text, memories, month.stem)

        self.notes.change(month, replace_copies)
        return month

    def _forget(self, scope: Scope, memories: Sequence[Memory]) -> None:
        # The stones first: should the rest fail, the memories are still there to be forgotten again.
        stones = [
            Tombstone(
                memory.id,
                hash_words(memory.text),
                frozenset(message for source in memory.sources for message in source.messages),
                self._clock(),
            )
            for memory in memories
        ]
        self._records.forget(scope, stones)
        names = {memory.id for memory in memories}
        for file in sorted({where.file for where in self._list_copies(scope) if where.memory.id in names}):
            self.notes.remove(file, names, scope)
        # Nobody was ever told what a memory said before it was edited.
        self._notify([memory for memory in memories if not memory.id.startswith(EDITED)], "forgotten")

    def _notify(self, memories: Sequence[Memory], change: Change) -> None:
        if memories:
            self.on_change(memories, change)


def sanitise(memory: Memory) -> Memory:
    return replace(memory, text=normalise(redact(memory.text)), scope=owner(memory.scope, memory.kind))


def clean_text(text: str) -> str:
    """Return the text without secrets; BadRequest if nothing is left.

    The size is checked first: looking for secrets takes time.
    """
    words = normalise(redact(check_text(text)))
    if not has_words(words):
        raise BadRequest(
            lazy("There is nothing left to remember once private text and secrets are taken out."),
            hint=lazy("Say it without the secret."),
            param="text",
        )
    return words


def _check_fields(fields: SettableFields) -> dict[str, Any]:
    """Check the given fields and return those that are set."""
    if (importance := fields.get("importance")) is not None:
        check_importance(importance)
    return {name: value for name, value in fields.items() if value is not None}


def _conflict(name: str) -> Conflict:
    return Conflict(
        lazy("The memory {name!r} was changed, moved or removed meanwhile.", name=name),
        hint=lazy("Look again."),
    )


def has_words(text: str) -> bool:
    return any(sign.isalnum() for sign in text.replace(MARK, ""))


def _was_forgotten(memory: Memory, words: frozenset[str], stone: Tombstone) -> bool:
    if set(memory.messages) & stone.messages and jaccard(words, stone.words) >= _AGAIN:
        return True
    return same_digests(words, stone.words)
