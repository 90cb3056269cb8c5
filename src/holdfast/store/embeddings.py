"""Vectors of the pieces of texts, and the cache of those that no row of the index needs.

A vector belongs to the words it was made from and to the embedder that made it. It goes with the last row
that has those words; one that was asked for without any row stays while it is of use. Knows bytes only.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, func, or_, select, update

from holdfast.store import tree
from holdfast.store.database import Database, Topic, reads, upsert, writes
from holdfast.store.fulltext import Ids, pieces
from holdfast.store.schema import embeddings
from holdfast.store.texts import Texts

CACHED = 50_000
# When something was last used is noted this coarsely, in seconds: reading must not mean writing.
_COARSE = 3600.0


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many pieces there are, and how many of them have no vector yet."""

    pieces: int
    missing: int

    @property
    def share(self) -> float:
        return 1 - self.missing / self.pieces if self.pieces else 1.0


class Embeddings(Topic):
    __slots__ = ("_texts",)

    def __init__(self, database: Database, texts: Texts) -> None:
        super().__init__(database)
        self._texts = texts

    def coverage(self, model: str, ranges: Sequence[Ids] | None = None) -> Coverage:
        """For rows with ids in these ranges; None means everywhere."""
        self._texts.prepared()
        return self._coverage(model, ranges)

    def waiting(self, model: str, limit: int, ranges: Sequence[Ids] | None = None) -> list[int]:
        """Rows with pieces that have no vector yet, the newest first."""
        self._texts.prepared()
        return self._waiting(model, limit, ranges)

    def load(self, model: str, ids: Ids) -> list[tuple[int, bytes | None]]:
        """The vectors of the rows in a range, in their order, None for a piece that has none yet."""
        self._texts.prepared()
        return self._load(model, ids)

    def known(self, model: str, digests: Collection[str], now: float | None = None) -> dict[str, bytes]:
        """The vectors that are there; those in the cache count as used now."""
        now = time.time() if now is None else now
        found = self._known(model, sorted(digests))
        old = [digest for digest, (_, used_at) in found.items() if used_at < now - _COARSE]
        if old:
            self._touch(model, old, now)
        return {digest: vector for digest, (vector, _) in found.items()}

    @writes
    def keep(
        self, connection: Connection, model: str, vectors: Mapping[str, bytes], now: float | None = None
    ) -> None:
        now = time.time() if now is None else now
        rows = [
            {"digest": digest, "model": model, "vector": vector, "used_at": now}
            for digest, vector in vectors.items()
        ]
        if rows:
            upsert(connection, embeddings, rows)

    def trim(self, most: int = CACHED) -> int:
        """Leave no more than `most` vectors that no row needs, the ones used last; says how many went."""
        self._texts.prepared()
        return self._trim(most)

    @writes
    def drop_others(self, connection: Connection, model: str) -> int:
        """Forget the vectors of every other embedder."""
        return connection.execute(delete(embeddings).where(embeddings.c.model != model)).rowcount

    @reads
    def _coverage(self, connection: Connection, model: str, ranges: Sequence[Ids] | None) -> Coverage:
        there = exists().where(embeddings.c.digest == pieces.c.digest, embeddings.c.model == model)
        query = select(func.count(), func.count().filter(~there)).select_from(pieces)
        total, missing = connection.execute(query.where(_within(ranges))).one()
        return Coverage(total, missing)

    @reads
    def _waiting(
        self, connection: Connection, model: str, limit: int, ranges: Sequence[Ids] | None
    ) -> list[int]:
        there = exists().where(embeddings.c.digest == pieces.c.digest, embeddings.c.model == model)
        query = select(pieces.c.row).where(~there, _within(ranges)).distinct()
        return list(connection.scalars(query.order_by(pieces.c.row.desc()).limit(limit)))

    @reads
    def _load(self, connection: Connection, model: str, ids: Ids) -> list[tuple[int, bytes | None]]:
        same = and_(embeddings.c.digest == pieces.c.digest, embeddings.c.model == model)
        query = select(pieces.c.row, embeddings.c.vector).join(embeddings, same, isouter=True)
        rows = connection.execute(query.where(_within([ids])).order_by(pieces.c.row, pieces.c.number))
        return [(row.row, None if row.vector is None else bytes(row.vector)) for row in rows]

    @reads
    def _known(
        self, connection: Connection, model: str, digests: Sequence[str]
    ) -> dict[str, tuple[bytes, float]]:
        found: dict[str, tuple[bytes, float]] = {}
        for portion in tree.portions(digests):
            query = select(embeddings.c.digest, embeddings.c.vector, embeddings.c.used_at).where(
                embeddings.c.model == model, embeddings.c.digest.in_(portion)
            )
            found.update({row.digest: (bytes(row.vector), row.used_at) for row in connection.execute(query)})
        return found

    @writes
    def _touch(self, connection: Connection, model: str, digests: Sequence[str], now: float) -> None:
        for portion in tree.portions(digests):
            ours = embeddings.c.model == model, embeddings.c.digest.in_(portion)
            connection.execute(update(embeddings).where(*ours).values(used_at=now))

    @writes
    def _trim(self, connection: Connection, most: int) -> int:
        needed = exists().where(pieces.c.digest == embeddings.c.digest)
        cached = select(embeddings.c.digest, embeddings.c.model).where(~needed)
        newest_first = (embeddings.c.used_at.desc(), embeddings.c.digest, embeddings.c.model)
        # SQLite knows no offset without a limit.
        surplus = connection.execute(cached.order_by(*newest_first).offset(most).limit(10 * CACHED)).all()
        for row in surplus:
            same = embeddings.c.digest == row.digest, embeddings.c.model == row.model
            connection.execute(delete(embeddings).where(*same))
        return len(surplus)


def _within(ranges: Sequence[Ids] | None) -> ColumnElement[bool]:
    if ranges is None:
        return pieces.c.row >= 0
    return or_(pieces.c.row < 0, *(pieces.c.row.between(first, last) for first, last in ranges))
