"""The index of everything that is searched: chunks of notes beside the messages of conversations.

Stores the chunks of files and the list of indexed files, and finds the rows that have some terms. Callers
decide how a file is cut and how rows are ranked further.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from sqlalchemy import Column, Connection, bindparam, delete, func, select, update

from holdfast.messages import Scope
from holdfast.store import fulltext
from holdfast.store.database import (
    Database,
    Listed,
    PreparedStatement,
    Repository,
    batches,
    reads,
    upsert,
    writes,
)
from holdfast.store.fulltext import ContainerList, IdRange, NotesFolder, SearchPlace, file_table, row_table
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
    PassageRow,
    add_rows,
    piece_digest,
    row_details,
    split_pieces,
    stored_text,
    tokenize,
)
from holdfast.text.dates import mark_day
from holdfast.text.questions import Trait, traits_of

# Candidates of a search: rows with the rarest terms; common terms only order them. With fewer, engines take
# longer: looking for common terms among some rows costs more than fetching all that have them.
_CANDIDATES = 20_000
NOTE = "note"

_OUTLINES = PreparedStatement(
    select(
        row_table.c.id,
        row_table.c.length,
        row_table.c.at,
        row_table.c.role,
        row_table.c.branch,
        row_table.c.traits,
    )
    .where(row_table.c.id.between(bindparam("low"), bindparam("high")))
    .order_by(row_table.c.id)
)

_TEXTS = PreparedStatement(
    select(row_table.c.id, row_table.c.role, row_table.c.body, messages.c.body.label("said"))
    .join(messages, messages.c.id == row_table.c.passage, isouter=True)
    .where(Listed(row_table.c.id, "ids"))
)

_ROWS_OF = PreparedStatement(select(row_table.c.id).where(row_table.c.passage == bindparam("passage")))


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as it was when it was read; `trouble` says why it could not be."""

    container: str
    path: str
    tag: str
    version: int
    indexed_at: float
    trouble: str = ""


_FILES = PreparedStatement(
    select(*(file_table.c[field.name] for field in fields(FileState))).where(
        file_table.c.scope == bindparam("key")
    )
)


@dataclass(frozen=True, slots=True)
class NewPassage:
    """A part of a file to index. `about` are words it is found by that are not in it.

    `kind` is that of a memory, empty for any other part.
    """

    name: str
    text: str
    first: int
    last: int
    at: float
    about: str = ""
    kind: str = ""
    # Whether it still holds; a superseded memory is found, but not shown to the model.
    holds: bool = True


@dataclass(frozen=True, slots=True)
class PassageMatches:
    """The rows that have each token of a search, and what is needed to score them.

    `worth` is the most that each term can contribute, including terms that no row has.
    """

    having: Mapping[TermQuery, set[int]]
    rarity: Mapping[TermQuery, float]
    worth: Mapping[str, float]
    containers: ContainerList
    engine: str

    def without(self, rows: Collection[int]) -> "PassageMatches":
        """Return the same as if these rows had no token."""
        if not rows:
            return self
        return replace(self, having={token: having.difference(rows) for token, having in self.having.items()})


class PassageIndex(Repository):
    """Chunks of notes and messages as rows of one full-text index."""

    __slots__ = ("_messages",)

    def __init__(self, database: Database, messages: MessageIndex) -> None:
        super().__init__(database)
        self._messages = messages

    def ensure_ready(self) -> None:
        self._messages.prepare()

    @reads
    def files(self, connection: Connection, notes: NotesFolder) -> dict[str, FileState]:
        """Return the indexed files of a folder, by the name of their container."""
        return {row.container: FileState(*row) for row in _FILES.all(connection, key=notes.key)}

    @reads
    def paths(self, connection: Connection) -> list[str]:
        """Return the paths of all indexed files, of all users."""
        return list(connection.scalars(select(file_table.c.path)))

    def replace(
        self,
        notes: NotesFolder,
        passages: Mapping[FileState, Sequence[NewPassage]],
        also: Callable[[], None] = lambda: None,
    ) -> None:
        """Replace the passages of files and call `also`, in one transaction."""
        # Tokenized on the caller's thread: the writer is for writing.
        rows = {
            file: [_note_row(file.container, place, passage) for place, passage in enumerate(new)]
            for file, new in passages.items()
        }
        self._replace(notes, rows, also)

    @writes
    def remove(
        self, connection: Connection, names: Collection[str], also: Callable[[], None] = lambda: None
    ) -> None:
        """Remove files from the index, with their passages, and call `also`, in one transaction."""
        fulltext.lock_index(connection)
        for name in sorted(names):
            connection.execute(delete(row_table).where(row_table.c.container == name))
            connection.execute(delete(file_table).where(file_table.c.container == name))
        also()

    @reads
    def notes_in(self, connection: Connection, files: Collection[str]) -> dict[str, dict[str, str]]:
        """Return the indexed notes of each file: their texts by name."""
        return _note_bodies(connection, sorted(files), row_table.c.container, row_table.c.passage)

    @reads
    def files_of(self, connection: Connection, names: Collection[str]) -> dict[str, dict[str, str]]:
        """Return the files that contain each of these notes: the note's text by file."""
        return _note_bodies(connection, sorted(names), row_table.c.passage, row_table.c.container)

    @writes
    def forget(self, connection: Connection, names: Collection[str]) -> None:
        """Remove notes from the index immediately; their files count as changed."""
        fulltext.lock_index(connection)
        for batch in batches(sorted(names)):
            notes = row_table.c.passage.in_(batch), row_table.c.role == NOTE
            changed = connection.scalars(select(row_table.c.container).where(*notes).distinct()).all()
            connection.execute(
                update(file_table).where(file_table.c.container.in_(changed)).values(version=-1)
            )
            connection.execute(delete(row_table).where(*notes))

    @writes
    def distrust_files(self, connection: Connection) -> None:
        """Mark every file as changed. Its indexed passages are used until it is read again."""
        fulltext.lock_index(connection)
        connection.execute(update(file_table).values(version=-1))

    @reads
    def containers(self, connection: Connection, places: Collection[SearchPlace] | None) -> ContainerList:
        """Return the containers in these places, all for None."""
        if places is None:
            return fulltext.list_every_container(connection)
        return self._messages.list_containers(connection, places)

    def catch_up(
        self, places: Collection[SearchPlace], limit: int | None = None, *, without: str = ""
    ) -> bool:
        """Index the messages that wait in these places, each at most `limit` and without one of them.

        Return whether that was all.
        """
        scopes = [place for place in places if isinstance(place, Scope)]
        return limit not in [self._messages.catch_up(limit, where=each, without=without) for each in scopes]

    @reads
    def matches(
        self,
        connection: Connection,
        places: Collection[SearchPlace],
        terms: Sequence[str],
        parts: Sequence[str],
    ) -> PassageMatches:
        """Find the rows in these places that have some of the terms; waiting messages are not found."""
        engine = self._messages.prepare()
        containers = self._messages.list_containers(connection, places)
        total = containers.rows
        lookup = TokenLookup(connection, engine, containers.ranges)
        wanted = term_queries(terms, parts, about=True)
        pairs = lookup.all_pairs(wanted) if total <= _CANDIDATES else {}
        counts = {query: len(rows) for query, rows in pairs.items()} or lookup.counts(wanted)
        rarest_first = sorted(counts, key=lambda query: (counts[query], -query.weight))
        if pairs:
            having = count_once(limit_to_rarest(pairs, rarest_first, _CANDIDATES))
        else:
            having = count_once(lookup.pairs(rarest_first, counts, _CANDIDATES))
        rarity = {query: inverse_frequency(total, count) for query, count in counts.items()}
        worth = dict.fromkeys(terms[:TERMS], 0.0)
        for query, value in rarity.items():
            if query.term in worth:
                worth[query.term] = max(worth[query.term], query.weight * value)
        unheard = inverse_frequency(total, 0)
        worth = {term: value or unheard for term, value in worth.items()}
        return PassageMatches(having, rarity, worth, containers, engine.name)

    @reads
    def rows(self, connection: Connection, ids: Collection[int]) -> dict[int, PassageRow]:
        return row_details(connection, ids)

    @reads
    def rows_of(self, connection: Connection, message: str) -> frozenset[int]:
        """Return the rows of one message."""
        return frozenset(row.id for row in _ROWS_OF.all(connection, passage=message))

    @reads
    def outlines(self, connection: Connection, ranges: Sequence[IdRange]) -> list[tuple[Any, ...]]:
        """Return id, length, time, role, branch and traits of every row in these ranges, by id."""
        return [
            row for first, last in sorted(ranges) for row in _OUTLINES.all(connection, low=first, high=last)
        ]

    @reads
    def texts(self, connection: Connection, ids: Collection[int]) -> dict[int, str]:
        """Return the words of rows; deleted ones are missing."""
        return {
            row: stored_text(said) if said is not None else body
            for row, role, body, said in _TEXTS.all(connection, ids=sorted(ids))
            if said is not None or role == NOTE
        }

    @writes
    def _replace(
        self,
        connection: Connection,
        notes: NotesFolder,
        rows: Mapping[FileState, Sequence[dict[str, object]]],
        also: Callable[[], None],
    ) -> None:
        fulltext.lock_index(connection)
        ours = row_table.c.container.in_([file.container for file in rows])
        newest = (
            select(row_table.c.container, func.max(row_table.c.id))
            .where(ours)
            .group_by(row_table.c.container)
        )
        old = connection.execute(newest).all()
        # The new ones come first, so that the vectors of words that stay never lose their last row.
        new = [row for file_rows in rows.values() for row in file_rows]
        if new:
            add_rows(connection, new, notes.key)
        for name, last in old:
            connection.execute(delete(row_table).where(row_table.c.container == name, row_table.c.id <= last))
        upsert(connection, file_table, [{"scope": notes.key, **asdict(file)} for file in rows])
        also()


def _note_bodies(
    connection: Connection, names: Sequence[str], by: Column[str], then: Column[str]
) -> dict[str, dict[str, str]]:
    """Return the words of notes by one column, which has one of the names, and then by another."""
    bodies: dict[str, dict[str, str]] = {}
    for batch in batches(names):
        query = select(by, then, row_table.c.body).where(by.in_(batch), row_table.c.role == NOTE)
        for first, second, body in connection.execute(query):
            bodies.setdefault(first, {})[second] = body
    return bodies


def _note_row(container: str, place: int, passage: NewPassage) -> dict[str, object]:
    tokens, length = tokenize(passage.text, passage.about)
    return {
        "passage": passage.name,
        "container": container,
        # Files do not branch; the column holds the kind of the note instead.
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
