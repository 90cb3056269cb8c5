"""What can be searched as a whole: chunks of notes beside the messages of conversations, as rows alike.

Keeps the chunks of files and the list of files they are of, and says which rows have which words. How a file
is cut and how rows are ranked by more than their words is decided by those who call it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Column, Connection, bindparam, delete, func, select, update

from holdfast.messages import Message, Scope
from holdfast.store import fulltext, tree
from holdfast.store.database import Database, PreparedStatement, Repository, reads, upsert, writes
from holdfast.store.fulltext import Container, IdRange, NotesFolder, SearchPlace, file_table
from holdfast.store.ranking import (
    TERMS,
    TermQuery,
    TokenLookup,
    count_once,
    inverse_frequency,
    limit_to_rarest,
    term_queries,
)
from holdfast.store.schema import messages
from holdfast.store.texts import (
    MessageIndex,
    add_rows,
    piece_digest,
    row_details,
    searchable_text,
    split_pieces,
    tokenize,
)
from holdfast.text.dates import mark_day
from holdfast.text.questions import Trait, traits_of

# Rows looked at for a question: those with the rarest of its terms, which common terms then only order. With
# fewer, engines take longer: to look for common terms among some rows costs more than to fetch all that have
# them.
_CANDIDATES = 20_000
# Places whose containers are held in memory; those not asked for longest go.
_HELD = 8
NOTE = "note"

_rows = fulltext.row_table
_OUTLINES = PreparedStatement(
    select(_rows.c.id, _rows.c.length, _rows.c.at, _rows.c.role, _rows.c.branch, _rows.c.traits)
    .where(_rows.c.id.between(bindparam("low"), bindparam("high")))
    .order_by(_rows.c.id)
)
_FILES = PreparedStatement(
    select(
        file_table.c.container,
        file_table.c.path,
        file_table.c.tag,
        file_table.c.version,
        file_table.c.indexed_at,
        file_table.c.trouble,
    ).where(file_table.c.scope == bindparam("key"))
)


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as it was when it was read; `trouble` says why it could not be."""

    container: str
    path: str
    tag: str
    version: int
    indexed_at: float
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class NewPassage:
    """A part of a file to be found. `about` are words it is found by and that are not in it.

    `kind` is that of a memory; a part that is none has no kind.
    """

    name: str
    text: str
    first: int
    last: int
    at: float
    about: str = ""
    kind: str = ""
    # Whether it still holds; what another memory took the place of is found, but not told.
    holds: bool = True


@dataclass(frozen=True, slots=True)
class PassageRow:
    """Where a row is: a message in its tree, or a chunk in its file, with its first and last line."""

    id: int
    passage: str
    container: str
    branch: str
    place: int
    role: str
    at: float
    length: int
    first: int
    last: int
    traits: int = 0


@dataclass(frozen=True, slots=True)
class PassageMatches:
    """Which rows have which of the tokens asked for, and what is needed to weigh them.

    `worth` is the most that each term of the question can give, of those too that nothing has.
    """

    having: Mapping[TermQuery, set[int]]
    rarity: Mapping[TermQuery, float]
    worth: Mapping[str, float]
    containers: Sequence[Container]
    engine: str

    @property
    def average(self) -> float:
        total = sum(one.rows for one in self.containers)
        return max(1.0, sum(one.length for one in self.containers) / max(1, total))


def _do_nothing() -> None:
    """There is nothing else to do."""


class PassageIndex(Repository):
    __slots__ = ("_held", "_texts")

    def __init__(self, database: Database, texts: MessageIndex) -> None:
        super().__init__(database)
        self._texts = texts
        # The containers of places that were asked for, as they were at a state of theirs.
        self._held: dict[tuple[SearchPlace, ...], tuple[object, list[Container]]] = {}

    def files(self, notes: NotesFolder) -> dict[str, FileState]:
        """The files of a folder that are in the index, by the name of their container."""
        self._texts.prepare()
        return self._files(notes)

    def paths(self) -> list[str]:
        """The paths of all files that are in the index, whosever they are."""
        self._texts.prepare()
        return self._paths()

    def replace(
        self,
        notes: NotesFolder,
        passages: Mapping[FileState, Sequence[NewPassage]],
        also: Callable[[], None] = _do_nothing,
    ) -> None:
        """Make these the passages of files, and do something `also`, in one step."""
        self._texts.prepare()
        rows = {
            file: [_note_row(file.container, place, one) for place, one in enumerate(several)]
            for file, several in passages.items()
        }
        self._replace(notes, rows, also)

    def remove(self, names: Collection[str], also: Callable[[], None] = _do_nothing) -> None:
        """Take files out of the index, with all that was made of them, and do something `also`."""
        self._texts.prepare()
        self._remove(sorted(names), also)

    def notes_in(self, files: Collection[str]) -> dict[str, dict[str, str]]:
        """The notes of files as the index has them: for each file, the words by name."""
        self._texts.prepare()
        return self._notes_in(sorted(files))

    def files_of(self, names: Collection[str]) -> dict[str, dict[str, str]]:
        """Where the notes of these names stand: for each name, the words by file."""
        self._texts.prepare()
        return self._files_of(sorted(names))

    def forget(self, names: Collection[str]) -> None:
        """Take notes out of the index at once; the files they were found in count as changed."""
        self._texts.prepare()
        self._forget(sorted(names))

    def distrust_files(self) -> None:
        """Let every file count as changed. What is in the index of it serves until it is read again."""
        self._texts.prepare()
        self._distrust_files()

    def containers(self, places: Collection[SearchPlace] | None) -> list[Container]:
        """Those in these places, everywhere for None."""
        self._texts.prepare()
        return self._containers(places)

    def matches(
        self, places: Collection[SearchPlace], terms: Sequence[str], parts: Sequence[str]
    ) -> PassageMatches:
        """Which rows in these places have which of the terms. Messages still waiting are indexed first."""
        self.catch_up(places)
        return self._matches(places, terms, parts)

    def catch_up(self, places: Collection[SearchPlace]) -> None:
        """Index the messages that wait in these places."""
        self._texts.prepare()
        for place in places:
            if isinstance(place, Scope):
                self._texts.catch_up(where=place)

    @reads
    def rows(self, connection: Connection, ids: Collection[int]) -> dict[int, PassageRow]:
        return {
            number: PassageRow(
                number,
                it.passage,
                it.container,
                it.branch,
                it.place,
                it.role,
                it.at,
                it.length,
                it.first,
                it.last,
                it.traits,
            )
            for number, it in row_details(connection, ids).items()
        }

    @reads
    def outlines(self, connection: Connection, ranges: Sequence[IdRange]) -> list[tuple[Any, ...]]:
        """The id, length, time, role, branch and traits of every row in these ranges, by id."""
        return [
            row for first, last in sorted(ranges) for row in _OUTLINES.all(connection, low=first, high=last)
        ]

    @reads
    def texts(self, connection: Connection, ids: Collection[int]) -> dict[int, str]:
        """The words of rows; of one that was deleted meanwhile there are none."""
        wanted = sorted(ids)
        table = fulltext.row_table
        query = (
            select(table.c.id, table.c.role, table.c.body, messages.c.body.label("said"))
            .join(messages, messages.c.id == table.c.passage, isouter=True)
            .where(table.c.id.in_(wanted))
        )
        return {
            row.id: searchable_text(Message.decode(row.said)) if row.said is not None else row.body
            for row in connection.execute(query)
            if row.said is not None or row.role == NOTE
        }

    @reads
    def _files(self, connection: Connection, notes: NotesFolder) -> dict[str, FileState]:
        return {row.container: FileState(*row) for row in _FILES.all(connection, key=notes.key)}

    @reads
    def _paths(self, connection: Connection) -> list[str]:
        return list(connection.scalars(select(file_table.c.path)))

    @reads
    def _containers(self, connection: Connection, places: Collection[SearchPlace] | None) -> list[Container]:
        return (
            fulltext.list_containers(connection, None)
            if places is None
            else self._load_containers(connection, places)
        )

    def _load_containers(self, connection: Connection, places: Collection[SearchPlace]) -> list[Container]:
        """The containers in these places: a question asks for them several times, and most stay the same."""
        key = tuple(places)
        state = fulltext.fingerprint(connection, key)
        held = self._held.pop(key, None)
        if held is None or held[0] != state:
            held = state, fulltext.list_containers(connection, key)
        self._held[key] = held
        for oldest in [*self._held][:-_HELD]:
            self._held.pop(oldest, None)
        return held[1]

    @writes
    def _replace(
        self,
        connection: Connection,
        notes: NotesFolder,
        rows: Mapping[FileState, Sequence[dict[str, object]]],
        also: Callable[[], None],
    ) -> None:
        fulltext.lock_index(connection)
        table = fulltext.row_table
        ours = table.c.container.in_([file.container for file in rows])
        newest = select(table.c.container, func.max(table.c.id)).where(ours).group_by(table.c.container)
        old = connection.execute(newest).all()
        # The new ones come first, so that the vectors of words that stay never lose their last row.
        new = [row for several in rows.values() for row in several]
        if new:
            add_rows(connection, new, notes.key)
        for name, last in old:
            connection.execute(delete(table).where(table.c.container == name, table.c.id <= last))
        upsert(connection, file_table, [{"scope": notes.key, **asdict(file)} for file in rows])
        also()

    @writes
    def _remove(self, connection: Connection, names: Sequence[str], also: Callable[[], None]) -> None:
        fulltext.lock_index(connection)
        for name in names:
            connection.execute(delete(fulltext.row_table).where(fulltext.row_table.c.container == name))
            connection.execute(delete(file_table).where(file_table.c.container == name))
        also()

    @reads
    def _notes_in(self, connection: Connection, names: Sequence[str]) -> dict[str, dict[str, str]]:
        return _note_bodies(connection, names, fulltext.row_table.c.container, fulltext.row_table.c.passage)

    @reads
    def _files_of(self, connection: Connection, names: Sequence[str]) -> dict[str, dict[str, str]]:
        return _note_bodies(connection, names, fulltext.row_table.c.passage, fulltext.row_table.c.container)

    @writes
    def _forget(self, connection: Connection, names: Sequence[str]) -> None:
        fulltext.lock_index(connection)
        table = fulltext.row_table
        for portion in tree.batches(names):
            ours = table.c.passage.in_(portion), table.c.role == NOTE
            found = connection.scalars(select(table.c.container).where(*ours).distinct()).all()
            connection.execute(update(file_table).where(file_table.c.container.in_(found)).values(version=-1))
            connection.execute(delete(table).where(*ours))

    @writes
    def _distrust_files(self, connection: Connection) -> None:
        fulltext.lock_index(connection)
        connection.execute(update(file_table).values(version=-1))

    @reads
    def _matches(
        self,
        connection: Connection,
        places: Collection[SearchPlace],
        terms: Sequence[str],
        parts: Sequence[str],
    ) -> PassageMatches:
        engine = self._texts.prepare()
        among = self._load_containers(connection, places)
        total = sum(one.rows for one in among)
        looked_up = TokenLookup(connection, engine, fulltext.id_ranges(among))
        wanted = term_queries(terms, parts, about=True)
        pairs = looked_up.all_pairs(wanted) if total <= _CANDIDATES else {}
        counts = {asked: len(rows) for asked, rows in pairs.items()} or looked_up.counts(wanted)
        rarest_first = sorted(counts, key=lambda asked: (counts[asked], -asked.weight))
        if pairs:
            having = count_once(limit_to_rarest(pairs, rarest_first, _CANDIDATES))
        else:
            having = count_once(looked_up.pairs(rarest_first, counts, _CANDIDATES))
        rarity = {asked: inverse_frequency(total, count) for asked, count in counts.items()}
        worth = dict.fromkeys(terms[:TERMS], 0.0)
        for asked, value in rarity.items():
            if asked.term in worth:
                worth[asked.term] = max(worth[asked.term], asked.weight * value)
        unheard = inverse_frequency(total, 0)
        worth = {term: value or unheard for term, value in worth.items()}
        return PassageMatches(having, rarity, worth, among, engine.name)


def _note_bodies(
    connection: Connection, names: Sequence[str], by: Column[str], then: Column[str]
) -> dict[str, dict[str, str]]:
    """The words of notes by one column, which has one of the names, and then by another."""
    found: dict[str, dict[str, str]] = {}
    for portion in tree.batches(names):
        query = select(by, then, fulltext.row_table.c.body).where(
            by.in_(portion), fulltext.row_table.c.role == NOTE
        )
        for first, second, body in connection.execute(query):
            found.setdefault(first, {})[second] = body
    return found


def _note_row(container: str, place: int, passage: NewPassage) -> dict[str, object]:
    tokens, length = tokenize(passage.text, passage.about)
    return {
        "passage": passage.name,
        "container": container,
        # Files do not branch; what kind of note it is stands here instead.
        "branch": passage.kind,
        "place": place,
        "role": NOTE,
        "at": passage.at,
        "length": length,
        "traits": int(traits_of(passage.text) | (Trait(0) if passage.holds else Trait.SUPERSEDED))
        | mark_day(passage.text, passage.at),
        "tokens": " ".join(tokens),
        "body": passage.text,
        "first": passage.first,
        "last": passage.last,
        "pieces": [piece_digest(piece) for piece in split_pieces(passage.text)],
    }
