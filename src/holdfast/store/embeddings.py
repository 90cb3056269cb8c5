"""Vectors of the pieces of texts, and the cache of those that no row of the index needs.

A vector belongs to its words and to the embedder that made it. It is deleted with the last row that has those
words; one that was requested without a row stays while it is used.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Connection,
    String,
    and_,
    bindparam,
    delete,
    exists,
    false,
    func,
    or_,
    select,
    update,
)

from holdfast.store.database import Database, PreparedStatement, Repository, batches, reads, upsert, writes
from holdfast.store.fulltext import IdRange, piece_table
from holdfast.store.schema import embeddings
from holdfast.store.texts import MessageIndex

CACHED = 50_000
# The last use is recorded at most this often, in seconds, so that reading rarely means writing.
_COARSE = 3600.0
# Stored in place of a vector when the embedder refused the text.
REFUSED = b""
# Another process may use another embedder; after a day without use it is taken for gone.
_UNUSED = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many pieces there are, how many have no vector yet, and how many the embedder `refused`."""

    pieces: int
    missing: int
    refused: int = 0

    @property
    def share(self) -> float:
        return 1 - self.missing / self.pieces if self.pieces else 1.0


class EmbeddingRepository(Repository):
    """Vectors by the digest of their words and the key of their embedder (`model`)."""

    __slots__ = ("_messages", "times_kept")

    def __init__(self, database: Database, messages: MessageIndex) -> None:
        super().__init__(database)
        self._messages = messages
        # How often this process has saved vectors: whoever caches some knows by it when to load more.
        self.times_kept = 0

    def ensure_ready(self) -> None:
        self._messages.prepare()

    @reads
    def coverage(
        self, connection: Connection, model: str, ranges: Sequence[IdRange] | None = None
    ) -> Coverage:
        """Count pieces with and without vectors in these ranges of row ids, everywhere for None."""
        missing = func.count().filter(embeddings.c.digest.is_(None))
        refused = func.count().filter(func.length(embeddings.c.vector) == 0)
        join = piece_table.outerjoin(embeddings, _vector_of_piece(model))
        query = select(func.count(), missing, refused).select_from(join)
        return Coverage(*connection.execute(query.where(_within(ranges))).one())

    @reads
    def waiting(
        self, connection: Connection, model: str, limit: int, ranges: Sequence[IdRange] | None = None
    ) -> list[int]:
        """Return rows with pieces that have no vector yet, newest first."""
        has_vector = exists().where(embeddings.c.digest == piece_table.c.digest, embeddings.c.model == model)
        query = select(piece_table.c.row).where(~has_vector, _within(ranges)).distinct()
        return list(connection.scalars(query.order_by(piece_table.c.row.desc()).limit(limit)))

    @reads
    def load(
        self, connection: Connection, model: str, ranges: Sequence[IdRange]
    ) -> list[tuple[int, bytes | None]]:
        """Return the vectors of the rows in these ranges in order, None for a piece without one."""
        return [
            (row, None if vector is None else bytes(vector))
            # Range by range: there may be more of them than one statement takes.
            for first, last in ranges
            for row, vector in _VECTORS.all(connection, model=model, first=first, last=last)
        ]

    @reads
    def split_ranges(self, connection: Connection, ranges: Sequence[IdRange], most: int) -> list[IdRange]:
        """Return the same rows in ranges of about so many pieces at most."""
        portions: list[IdRange] = []
        for first, last in ranges:
            begin = first
            while (cut := _CUT.first(connection, first=begin, last=last, most=most)) is not None:
                portions.append((begin, cut.row - 1))
                begin = cut.row
            portions.append((begin, last))
        return portions

    @reads
    def list_pieces(
        self, connection: Connection, model: str, ranges: Sequence[IdRange]
    ) -> list[tuple[int, int, str, int | None]]:
        """Return row, number, digest and size of the vector in bytes of the pieces in these ranges."""
        return [
            tuple(row)
            for first, last in ranges
            for row in _SIZES.all(connection, model=model, first=first, last=last)
        ]

    @reads
    def of_rows(self, connection: Connection, model: str, rows: Collection[int]) -> list[tuple[int, bytes]]:
        """Return the vectors of these rows (or REFUSED), by row."""
        query = select(piece_table.c.row, embeddings.c.vector).join(embeddings, _vector_of_piece(model))
        return [
            (row, bytes(vector))
            for batch in batches(sorted(rows))
            for row, vector in connection.execute(query.where(piece_table.c.row.in_(batch)))
        ]

    def get_vectors(self, model: str, digests: Collection[str], now: float | None = None) -> dict[str, bytes]:
        """Return the known vectors (or REFUSED) by digest, and mark them as used."""
        now = time.time() if now is None else now
        vectors = self._get_vectors(model, sorted(digests))
        old = [digest for digest, (_, used_at) in vectors.items() if used_at < now - _COARSE]
        if old:
            self._touch(model, old, now)
        return {digest: vector for digest, (vector, _) in vectors.items()}

    def keep(self, model: str, vectors: Mapping[str, bytes], now: float | None = None) -> None:
        if vectors:
            self._keep(model, vectors, now)
            self.times_kept += 1

    @writes
    def _keep(
        self, connection: Connection, model: str, vectors: Mapping[str, bytes], now: float | None
    ) -> None:
        now = time.time() if now is None else now
        rows = [
            {"digest": digest, "model": model, "vector": vector, "used_at": now}
            # Sorted, so that two processes that save the same vectors do not deadlock.
            for digest, vector in sorted(vectors.items())
        ]
        upsert(connection, embeddings, rows)

    @writes
    def trim(self, connection: Connection, most: int = CACHED) -> int:
        """Keep at most `most` vectors that no row needs, those used last; return how many were removed."""
        needed = exists().where(piece_table.c.digest == embeddings.c.digest)
        unneeded = select(embeddings.c.digest, embeddings.c.model).where(~needed)
        newest_first = (embeddings.c.used_at.desc(), embeddings.c.digest, embeddings.c.model)
        # SQLite knows no offset without a limit.
        surplus = connection.execute(unneeded.order_by(*newest_first).offset(most).limit(10 * CACHED)).all()
        for row in surplus:
            same = embeddings.c.digest == row.digest, embeddings.c.model == row.model
            connection.execute(delete(embeddings).where(*same))
        return len(surplus)

    @writes
    def drop_others(self, connection: Connection, model: str, now: float | None = None) -> int:
        """Delete the vectors of other embedders that were not used for a day."""
        recent = (time.time() if now is None else now) - _UNUSED
        column = embeddings.c.model
        other_models = connection.scalars(select(column).where(column != model).distinct()).all()
        used = (exists().where(column == other, embeddings.c.used_at >= recent) for other in other_models)
        idle = [
            other
            for other, lately in zip(other_models, used, strict=True)
            if not connection.scalar(select(lately))
        ]
        return connection.execute(delete(embeddings).where(column.in_(idle))).rowcount if idle else 0

    @reads
    def _get_vectors(
        self, connection: Connection, model: str, digests: Sequence[str]
    ) -> dict[str, tuple[bytes, float]]:
        vectors: dict[str, tuple[bytes, float]] = {}
        for batch in batches(digests):
            query = select(embeddings.c.digest, embeddings.c.vector, embeddings.c.used_at).where(
                embeddings.c.model == model, embeddings.c.digest.in_(batch)
            )
            vectors.update(
                {row.digest: (bytes(row.vector), row.used_at) for row in connection.execute(query)}
            )
        return vectors

    @writes
    def _touch(self, connection: Connection, model: str, digests: Sequence[str], now: float) -> None:
        for batch in batches(digests):
            ours = embeddings.c.model == model, embeddings.c.digest.in_(batch)
            connection.execute(update(embeddings).where(*ours).values(used_at=now))


def _vector_of_piece(model: str | BindParameter[str]) -> ColumnElement[bool]:
    return and_(embeddings.c.digest == piece_table.c.digest, embeddings.c.model == model)


def _within(ranges: Sequence[IdRange] | None) -> ColumnElement[bool]:
    if ranges is None:
        return piece_table.c.row >= 0
    if not ranges:
        return false()
    # Nothing but ranges: beside any other condition SQLite would look at every row.
    return or_(*(piece_table.c.row.between(first, last) for first, last in ranges))


def _pieces_with_vectors(*columns: ColumnElement[Any]) -> PreparedStatement:
    """Prepares the query for these columns of all pieces in a range of rows, with their vectors."""
    join = piece_table.outerjoin(embeddings, _vector_of_piece(bindparam("model", type_=String())))
    ids = bindparam("first", type_=BigInteger()), bindparam("last", type_=BigInteger())
    query = select(*columns).select_from(join).where(piece_table.c.row.between(*ids))
    return PreparedStatement(query.order_by(piece_table.c.row, piece_table.c.number))


# The row of the piece that so many others come before.
_CUT = PreparedStatement(
    select(piece_table.c.row)
    .where(piece_table.c.row.between(bindparam("first"), bindparam("last")))
    .order_by(piece_table.c.row)
    .limit(1)
    .offset(bindparam("most", type_=BigInteger))
)
_VECTORS = _pieces_with_vectors(piece_table.c.row, embeddings.c.vector)
_SIZES = _pieces_with_vectors(
    piece_table.c.row,
    piece_table.c.number,
    piece_table.c.digest,
    func.length(embeddings.c.vector).label("size"),
)
