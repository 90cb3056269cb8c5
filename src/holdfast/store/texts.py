"""The full-text index of messages: keeping it up to date, and finding messages by terms.

Indexing is lazy: a message waits until somebody searches or `catch_up` is called, so a turn pays nothing for
it, and a search never misses what is in the log. All branches are indexed, those that were edited away too;
`head` narrows a search to the path to one message. A long text has many subjects, so vectors are made of its
short pieces.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import Connection, Integer, Text, bindparam, delete, func, insert, select, type_coerce

from holdfast.i18n import without_banners
from holdfast.messages import Message, Scope
from holdfast.store import fulltext, log, tree
from holdfast.store.database import Database, Listed, PreparedStatement, Repository, reads, writes
from holdfast.store.fulltext import ContainerCache, ContainerList, SearchPlace, TextEngine, encode
from holdfast.store.ranking import (
    CandidateScores,
    TextSearchResult,
    TokenLookup,
    inverse_frequency,
    term_queries,
)
from holdfast.store.schema import branches, conversations, messages
from holdfast.store.values import MessageRecord, uses_memory
from holdfast.text import analyser
from holdfast.text.dates import MONTH_NAMES, mark_day
from holdfast.text.questions import traits_of
from holdfast.thinking import without_thinking

# In characters. Vectors of longer pieces blur, shorter pieces lose their subject.
PIECE_SIZE = 400
# Only the beginning of an enormous text has vectors; the rest is found by its words.
MAX_PIECES = 300

# Where a text may be cut, best first.
_BORDERS = ("\n\n", "\n", ". ", "? ", "! ", "; ", ", ", " ")


def split_pieces(text: str) -> list[str]:
    """Cut a text into pieces short enough for one vector each."""
    return [piece for piece, _ in zip(_cut(text), range(MAX_PIECES), strict=False)]


def piece_digest(text: str) -> str:
    """Return a key for the words of a piece, the same wherever they stand."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]


def _cut(text: str) -> Iterator[str]:
    start, end = 0, len(text)
    while start < end:
        stop = end if end - start <= PIECE_SIZE else start + _border(text[start : start + PIECE_SIZE])
        piece = text[start:stop].strip()
        if piece:
            yield piece
        start = stop


def _border(window: str) -> int:
    for sign in _BORDERS:
        position = window.rfind(sign, PIECE_SIZE // 2)
        if position >= 0:
            return position + len(sign)
    return len(window)


# Messages indexed in one transaction, few enough not to block the writer for long.
_BATCH = 100
# Characters of a stored message up to which its decoded text is cached.
_SHORT = 2_000
# Messages of one exchange, and characters of them, that are indexed in the transaction that writes them.
_EXCHANGE, _LITTLE = 4, 10_000
# A row of tokens stays well under what PostgreSQL can hold in one.
_ROW_SIZE = 200_000


# Usually nothing waits, and every search asks several times.
_FIRST_WAITING = PreparedStatement(
    select(func.min(fulltext.waiting_table.c.id).label("id")).where(
        fulltext.waiting_table.c.message != bindparam("without")
    )
)

_WAITING_MESSAGES = (
    select(
        messages.c.id,
        messages.c.tree,
        messages.c.branch,
        messages.c.depth,
        messages.c.body,
        messages.c.created_at,
    )
    .join(fulltext.waiting_table, fulltext.waiting_table.c.message == messages.c.id)
    .order_by(fulltext.waiting_table.c.id)
    .limit(bindparam("limit", type_=Integer))
)
_WAITING = PreparedStatement(_WAITING_MESSAGES)
_WAITING_IN_TREE = PreparedStatement(
    _WAITING_MESSAGES.where(fulltext.waiting_table.c.tree == bindparam("tree"))
)
_WAITING_IN_SCOPE = PreparedStatement(
    _WAITING_MESSAGES.where(
        fulltext.waiting_table.c.tree.in_(
            select(conversations.c.tree).where(
                conversations.c.user == bindparam("user"),
                conversations.c.project == bindparam("project"),
                conversations.c.kind == bindparam("kind"),
            )
        )
    )
)
_CLAIM = PreparedStatement(
    delete(fulltext.waiting_table)
    .where(Listed(fulltext.waiting_table.c.message, "ids"))
    .returning(fulltext.waiting_table.c.message)
)
_SCOPES = PreparedStatement(
    select(conversations.c.tree, conversations.c.user, conversations.c.project, conversations.c.kind)
    .where(Listed(conversations.c.tree, "trees"))
    .distinct()
)
_NEW_ROW = PreparedStatement(insert(fulltext.row_table), fulltext.row_table.columns.keys())
_NEW_PIECE = PreparedStatement(insert(fulltext.piece_table), fulltext.piece_table.columns.keys())
_ENDS = PreparedStatement(
    select(messages.c.id, messages.c.tree, messages.c.branch, messages.c.depth).where(
        Listed(messages.c.id, "ids")
    )
)
# Where the conversations of some trees end.
_HEADS = PreparedStatement(
    select(
        conversations.c.tree,
        # As text, which is the same for nearly all.
        type_coerce(conversations.c.settings, Text).label("settings"),
        messages.c.branch,
        messages.c.depth,
    )
    .join(messages, messages.c.id == conversations.c.head)
    .where(Listed(conversations.c.tree, "trees"))
)
_FORKS = PreparedStatement(
    select(branches.c.id, branches.c.parent_branch, branches.c.fork_depth).where(
        Listed(branches.c.tree, "trees"), branches.c.parent_branch.is_not(None)
    )
)


class PassageRow(NamedTuple):
    """Where a row is: a message in its tree, or a chunk in its file, with its first and last line.

    A tuple, since every search makes a hundred of them.
    """

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


_ROWS = PreparedStatement(
    select(*(fulltext.row_table.c[name] for name in PassageRow._fields)).where(
        Listed(fulltext.row_table.c.id, "ids")
    ),
    row=PassageRow,
)


class MessageIndex(Repository):
    """Finds messages by their words. With `plain` no full-text engine is used, as on a SQLite without one."""

    __slots__ = ("_containers", "_engine", "_plain")

    def __init__(self, database: Database, *, plain: bool = False) -> None:
        super().__init__(database)
        self._plain = plain
        self._engine: TextEngine | None = None
        self._containers = ContainerCache()

    def catch_up(
        self, limit: int | None = None, *, where: Scope | str | None = None, without: str = ""
    ) -> int:
        """Index waiting messages, oldest first, at most `limit`; return how many were indexed.

        `where` narrows it to a scope or a tree; the message `without` goes on waiting. Texts are tokenized on
        the caller's thread.
        """
        self.prepare()
        if self.database.is_read_only:
            return 0
        done = 0
        while limit is None or done < limit:
            batch = _BATCH if limit is None else min(_BATCH, limit - done)
            waiting = self._waiting(where, batch, without)
            others = [message for message in waiting if message[0].id != without]
            if not others:
                break
            self._index([row for message in others for row in index_rows(*message)], others)
            done += len(others)
            if len(waiting) < batch:
                break
        return done

    def index_exchange(self, tree: str) -> None:
        """Index what waits in a tree, if that is little, in the transaction that wrote it.

        The next question finds it without waiting for it. A server locks the whole index until the
        transaction ends, so there it is left for later; and so is an index whose tables are not there yet:
        others must not use them before they are committed.
        """
        if self.database.on_server or self._engine is None:
            return
        waiting = self._waiting(tree, _EXCHANGE)
        if waiting and sum(len(row.body) for row, _ in waiting) <= _LITTLE:
            self._index([row for message in waiting for row in index_rows(*message)], waiting)

    def find(
        self,
        where: Scope | str,
        terms: Sequence[str],
        parts: Sequence[str] = (),
        *,
        head: str | None = None,
        without: Collection[str] = (),
        limit: int = 50,
    ) -> TextSearchResult:
        """Find the messages of a scope or a tree that have most of the rarest terms.

        `parts` are possible parts of compounds in the question. With `head`, only messages on the path to it
        are found; those in `without` never are.
        """
        self.catch_up(where=where)
        return self.rank(where, terms, parts, head=head, without=without, limit=limit)

    @reads
    def count_words(self, connection: Connection, where: Scope, limit: int = 4_000) -> Counter[str]:
        """Count the words of the newest messages of a scope, as terms."""
        rows = fulltext.row_table
        counts: Counter[str] = Counter()
        for first, last in self.list_containers(connection, [where]).ranges:
            newest = select(rows.c.tokens).where(rows.c.id.between(first, last)).order_by(rows.c.id.desc())
            for tokens in connection.scalars(newest.limit(limit)):
                counts.update(token for token in tokens.split() if token.isalnum())
        return counts

    @reads
    def read(self, connection: Connection, names: Sequence[str]) -> dict[str, MessageRecord]:
        """Return the messages with these ids; deleted ones are missing."""
        return tree.find(connection, names)

    @reads
    def ways_to(self, connection: Connection, messages: Collection[str]) -> dict[str, Mapping[str, int]]:
        """For each message, return the branches on its path and the depth up to which each is followed."""
        return paths_to(connection, messages)

    @reads
    def live_paths(
        self, connection: Connection, trees: Collection[str]
    ) -> dict[str, list[Mapping[str, int]]]:
        """For each tree, return the paths to the ends of its conversations, but for those without memory."""
        paths: dict[str, list[Mapping[str, int]]] = {name: [] for name in trees}
        if trees:
            listed = sorted(trees)
            forks = {row.id: row for row in _FORKS.all(connection, trees=listed)}
            for end in _HEADS.all(connection, trees=listed):
                if _allow_memory(end.settings):
                    paths[end.tree].append(_follow(end, forks) if forks else {end.branch: end.depth})
        return paths

    def list_containers(self, connection: Connection, places: Collection[SearchPlace]) -> ContainerList:
        """Return the containers in these places, from the cache where nothing has changed."""
        snapshot, key = self.database.snapshot_cache, tuple(places)
        if snapshot is None:
            return self._containers.list(connection, key)
        if key not in snapshot:
            snapshot[key] = self._containers.list(connection, key)
        containers: ContainerList = snapshot[key]
        return containers

    @property
    def engine(self) -> str:
        """The full-text engine in use: `fts5`, `tsvector`, or `scan` where there is nothing better."""
        return self.prepare().name

    def prepare(self) -> TextEngine:
        """Return the engine, after creating its tables where they are missing or outdated."""
        if self._engine is None:
            engine, ready = self._look()
            if not ready:
                self._build(engine)
            self._engine = engine
        return self._engine

    @reads
    def _look(self, connection: Connection) -> tuple[TextEngine, bool]:
        engine = fulltext.ScanEngine() if self._plain else fulltext.choose_engine(connection)
        return engine, fulltext.is_ready(connection, engine, analyser.VERSION)

    @writes
    def _build(self, connection: Connection, engine: TextEngine) -> None:
        # It locks before it looks: two processes that looked first would wait for each other.
        fulltext.build_index(connection, engine, analyser.VERSION)

    @reads
    def _waiting(
        self, connection: Connection, where: Scope | str | None, limit: int, without: str = ""
    ) -> list[Any]:
        if _FIRST_WAITING.first(connection, without=without).id is None:
            return []
        if isinstance(where, Scope):
            scope = {"user": where.user, "project": where.project, "kind": where.kind}
            rows = _WAITING_IN_SCOPE.all(connection, limit=limit, **scope)
        elif where is not None:
            rows = _WAITING_IN_TREE.all(connection, limit=limit, tree=where)
        else:
            rows = _WAITING.all(connection, limit=limit)
        scopes = _scopes(connection, {row.tree for row in rows}) if rows else {}
        return [(row, scopes.get(row.tree, "")) for row in rows]

    @writes
    def _index(self, connection: Connection, rows: list[dict[str, Any]], done: list[Any]) -> None:
        # Nobody may delete from these trees or number new containers meanwhile.
        log.lock_trees(connection, {row.tree for row, _ in done})
        fulltext.lock_index(connection)
        # A tree that was moved to another project meanwhile waits on.
        scopes = _scopes(connection, {row.tree for row, _ in done})
        ids = [row.id for row, scope in done if scopes.get(row.tree, "") == scope]
        # Only what still waits: it may have been deleted, or indexed by another process, meanwhile.
        ours = {row.message for row in _CLAIM.all(connection, ids=ids)}
        current = sorted((row for row in rows if row["passage"] in ours), key=itemgetter("scope"))
        for scope, group in groupby(current, key=itemgetter("scope")):
            add_rows(connection, list(group), scope)

    @writes
    def requeue(self, connection: Connection, tree: str) -> None:
        """Take the messages of a tree out of the index and let them wait for it: they have a new scope."""
        fulltext.lock_index(connection)
        waiting = fulltext.waiting_table
        connection.execute(delete(fulltext.row_table).where(fulltext.row_table.c.container == tree))
        connection.execute(delete(waiting).where(waiting.c.tree == tree))
        ordered = select(messages.c.id, messages.c.tree).where(messages.c.tree == tree)
        ordered = ordered.order_by(messages.c.created_at, messages.c.id)
        connection.execute(insert(waiting).from_select(["message", "tree"], ordered))

    @reads
    def rank(
        self,
        connection: Connection,
        where: Scope | str,
        terms: Sequence[str],
        parts: Sequence[str] = (),
        *,
        head: str | None = None,
        without: Collection[str] = (),
        limit: int = 50,
    ) -> TextSearchResult:
        """Find messages as `find` does, among those that are in the index by now."""
        engine = self.prepare()
        containers = self.list_containers(connection, [where])
        total = containers.rows
        lookup = TokenLookup(connection, engine, containers.ranges)
        counts = lookup.counts(term_queries(terms, parts))
        rarity = {query: inverse_frequency(total, count) for query, count in counts.items()}
        pairs = lookup.pairs(sorted(counts, key=lambda query: (counts[query], -query.weight)), counts)
        worth = CandidateScores(pairs, rarity)
        rows = row_details(connection, worth.best())
        if head is not None:
            on_path = paths_to(connection, [head]).get(head, {})
            rows = {
                row: details
                for row, details in rows.items()
                if details.place <= on_path.get(details.branch, -1)
            }
        rows = {row: details for row, details in rows.items() if details.passage not in without}
        hits = worth.rank(rows, containers.average, limit)
        weights = dict.fromkeys(terms, 0.0)
        for query, value in rarity.items():
            weights[query.term] = max(weights.get(query.term, 0.0), query.weight * value)
        return TextSearchResult(tuple(hits), weights, inverse_frequency(total, 1), engine.name)


def stored_text(body: str) -> str:
    """Return the text that a message is found by, given as it is stored.

    Those of short ones are cached: questions that follow each other look at the same.
    """
    return _decode_short(body) if len(body) <= _SHORT else searchable_text(Message.decode(body))


@lru_cache(2_048)
def _decode_short(body: str) -> str:
    return searchable_text(Message.decode(body))


def searchable_text(message: Message) -> str:
    """Return the text a message is found by: what was said, and what tools were called with.

    Without thinking, and without the banners that Holdfast adds to answers.
    """
    ours = message.role == "assistant"
    text = without_thinking(without_banners(message.text)) if ours else message.text
    calls = (f"{call.name} {call.arguments}" for call in message.tool_calls)
    return "\n".join((text, *calls)) if message.tool_calls else text


def _scopes(connection: Connection, trees: Collection[str]) -> dict[str, str]:
    """Return the scope of each tree. All conversations on a tree have the same one."""
    return {
        row.tree: fulltext.scope_key(Scope(row.user, row.project, row.kind))
        for row in _SCOPES.all(connection, trees=sorted(trees))
    }


def add_rows(connection: Connection, rows: Sequence[dict[str, Any]], scope: str) -> None:
    """Number the rows and insert them into the index, with their pieces."""
    new = fulltext.number_rows(connection, rows, scope)
    for row in new:
        _NEW_ROW.run(connection, row)
        for number, name in enumerate(row["pieces"]):
            _NEW_PIECE.run(connection, {"row": row["id"], "number": number, "digest": name})


def row_details(connection: Connection, ids: Collection[int]) -> dict[int, PassageRow]:
    """Return rows by id, without their words."""
    return {row.id: row for row in _ROWS.all(connection, ids=sorted(ids))}


def tokenize(text: str, about: str = "") -> tuple[Iterator[str], int]:
    """Return the tokens a text is found by, and how many terms it has.

    Parts of compounds and words that are `about` the text but not in it are marked.
    """
    terms = analyser.terms(text)
    parts = (f"~{part}" for part in analyser.parts(text))
    around = (f"@{term}" for term in analyser.terms(about))
    return map(encode, dict.fromkeys(chain(terms, parts, around))), len(terms)


def date_words(at: float) -> str:
    """Return a day as people ask for it, in both languages."""
    day = datetime.fromtimestamp(at, UTC).astimezone()
    return f"{day:%Y-%m-%d} {day.day} {MONTH_NAMES[day.month - 1]} {day.year}"


def paths_to(connection: Connection, ends: Collection[str]) -> dict[str, Mapping[str, int]]:
    """Return how far each branch belongs to the path to each of these messages; deleted ones are missing."""
    rows = _ENDS.all(connection, ids=sorted(ends))
    trees = sorted({end.tree for end in rows})
    forks = {row.id: row for row in _FORKS.all(connection, trees=trees)} if trees else {}
    return {end.id: _follow(end, forks) for end in rows}


@lru_cache
def _allow_memory(settings: str) -> bool:
    """Whether a conversation with these settings, as JSON, is remembered."""
    return uses_memory(json.loads(settings))


def _follow(end: Any, forks: Mapping[str, Any]) -> dict[str, int]:
    """Return the branches on the path to a message, and the depth up to which each is followed."""
    path = {end.branch: end.depth}
    fork = forks.get(end.branch)
    while fork is not None:
        path[fork.parent_branch] = fork.fork_depth
        fork = forks.get(fork.parent_branch)
    return path


def index_rows(row: Any, scope: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a message: its terms and parts of compounds, in sizes that engines can hold."""
    message = Message.decode(row.body)
    text = searchable_text(message)
    tokens, length = tokenize(text, date_words(row.created_at))
    values = {
        "passage": row.id,
        "container": row.tree,
        "scope": scope,
        "branch": row.branch,
        "place": row.depth,
        "role": message.role,
        "at": row.created_at,
        "length": length,
        "traits": int(traits_of(text)) | mark_day(text, row.created_at),
        "body": "",
        "first": 0,
        "last": 0,
    }
    for number, batch in enumerate(_split_tokens(tokens)):
        yield {
            **values,
            "tokens": batch,
            "pieces": [] if number else [piece_digest(piece) for piece in split_pieces(text)],
        }


def _split_tokens(tokens: Iterator[str]) -> Iterator[str]:
    size, batch = 0, list[str]()
    for token in tokens:
        batch.append(token)
        size += len(token) + 1
        if size >= _ROW_SIZE:
            yield " ".join(batch)
            size, batch = 0, []
    if batch:
        yield " ".join(batch)
