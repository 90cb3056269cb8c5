"""Conversations: heads on the tree of messages, and whose they are.

Appending moves a head by compare-and-swap and can be repeated safely. Which conversation a request belongs to
is decided elsewhere, with the anchors stored here. The functions take a connection, so that other
repositories can use them in their transactions.
"""

import re
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, fields, replace
from itertools import islice
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal,
    select,
    tuple_,
    update,
)

from holdfast.errors import BadRequest, Conflict, NotFound
from holdfast.i18n import lazy
from holdfast.messages import BoundScope, Scope
from holdfast.store import tree
from holdfast.store.database import Listed, PreparedStatement, Repository, batches, reads, upsert, writes
from holdfast.store.schema import branches, conversations, jobs, message_tokens, messages, prompts
from holdfast.store.values import (
    AnchorHit,
    ConversationRecord,
    ListFilter,
    MessageRecord,
    NewMessage,
    new_id,
)

# An id may be abbreviated when typed, but not so far that it matches many.
_BEGINNING = re.compile(r"c_[0-9a-z]{6,25}")

_TREE_OF_CONVERSATION = (
    select(conversations.c.tree).where(conversations.c.id == bindparam("id")).scalar_subquery()
)
_LOCK_TREE = PreparedStatement(
    select(conversations)
    .where(conversations.c.tree == _TREE_OF_CONVERSATION)
    .order_by(conversations.c.id)
    .with_for_update(key_share=True)
)
_LOCK_TREES = PreparedStatement(
    select(conversations.c.id)
    .where(Listed(conversations.c.tree, "trees"))
    .order_by(conversations.c.id)
    .with_for_update(key_share=True)
)
_TREES_OF = PreparedStatement(select(messages.c.id, messages.c.tree).where(Listed(messages.c.id, "ids")))
_MOVE_HEAD = PreparedStatement(
    update(conversations)
    .where(conversations.c.id == bindparam("moved"))
    .values(
        head=bindparam("head"),
        version=bindparam("version"),
        updated_at=bindparam("updated_at"),
    )
)
_CONVERSATION_BY_ID = PreparedStatement(select(conversations).where(conversations.c.id == bindparam("id")))
_CONVERSATIONS_ON = PreparedStatement(
    select(conversations)
    .where(Listed(conversations.c.tree, "trees"))
    .order_by(conversations.c.created_at, conversations.c.id)
)
_NEW_CONVERSATION = PreparedStatement(insert(conversations), conversations.columns.keys())
_NEWEST_FIRST = (conversations.c.updated_at.desc(), conversations.c.id.desc())
_ALL = ListFilter()
# Fields that are columns of the same name.
_PLAIN_FIELDS = [field.name for field in fields(ConversationRecord) if field.name != "scope"]


def read_conversation(row: Row[Any]) -> ConversationRecord:
    shape = BoundScope if row.settings.get("bound") is True else Scope
    scope = shape(row.user, row.project, row.kind)
    return ConversationRecord(scope=scope, **{name: getattr(row, name) for name in _PLAIN_FIELDS})


def in_scope(scope: Scope) -> ColumnElement[bool]:
    return and_(
        conversations.c.user == scope.user,
        conversations.c.project == scope.project,
        conversations.c.kind == scope.kind,
    )


def _conditions(scope: Scope, which: ListFilter) -> list[ColumnElement[bool]]:
    whose = [conversations.c.user == scope.user, conversations.c.kind == scope.kind]
    if not which.every_project:
        whose.append(conversations.c.project == scope.project)
    wanted = {"pinned": which.pinned, "archived": which.archived, "folder": which.folder}
    return [*whose, *(conversations.c[name] == value for name, value in wanted.items() if value is not None)]


def _find_titles(
    connection: Connection, wanted: Sequence[ColumnElement[bool]], part: str, limit: int
) -> list[str]:
    """Return the ids of the newest conversations whose title has this part.

    Not in SQL: databases do not agree on upper and lower case beyond ASCII.
    """
    part = part.casefold()
    query = select(conversations.c.id, conversations.c.title).where(*wanted).order_by(*_NEWEST_FIRST)
    names = (name for name, title in connection.execute(query) if part in title.casefold())
    return list(islice(names, limit))


def get_conversation(
    connection: Connection, conversation_id: str, scope: Scope | None = None
) -> ConversationRecord:
    row = _CONVERSATION_BY_ID.first(connection, id=conversation_id)
    if row is not None and (scope is None or read_conversation(row).scope == scope):
        return read_conversation(row)
    query = select(conversations)
    if scope is not None:
        query = query.where(in_scope(scope))
    beginning = conversation_id.lower()
    if not _BEGINNING.fullmatch(beginning):
        raise _not_found(conversation_id)
    starts = func.substr(conversations.c.id, 1, len(beginning)) == beginning
    rows = connection.execute(query.where(starts).limit(2)).all()
    if not rows:
        raise _not_found(conversation_id)
    if len(rows) > 1:
        raise BadRequest(
            lazy("Several conversations begin with '{beginning}'.", beginning=conversation_id),
            hint=lazy("Give more of the id."),
        )
    return read_conversation(rows[0])


def conversations_on(connection: Connection, trees: Collection[str]) -> list[ConversationRecord]:
    """Return the conversations on these trees, oldest first; few enough trees for one statement."""
    return [read_conversation(row) for row in _CONVERSATIONS_ON.all(connection, trees=sorted(trees))]


def lock_conversation(connection: Connection, conversation_id: str) -> ConversationRecord:
    """Return the conversation, locked with its tree until the transaction ends.

    SQLite has only one writer anyway. On PostgreSQL all heads of the tree are locked, in one order, since two
    conversations may append to the same branch.
    """
    for row in _LOCK_TREE.all(connection, id=conversation_id):
        if row.id == conversation_id:
            return read_conversation(row)
    raise _not_found(conversation_id)


def lock_trees(connection: Connection, trees: Collection[str]) -> None:
    """Lock these trees until the transaction ends, in the same order as `lock_conversation`."""
    _LOCK_TREES.all(connection, trees=sorted(trees))


def insert_conversation(
    connection: Connection,
    scope: Scope,
    tree: str,
    *,
    head: str | None = None,
    version: int = 0,
    title: str = "",
    client: str = "",
    external_id: str = "",
    settings: Mapping[str, Any] | None = None,
    folder: str = "",
    now: float | None = None,
) -> ConversationRecord:
    """Create a conversation on a tree of messages."""
    now = time.time() if now is None else now
    new = ConversationRecord(
        new_id("c"), tree, scope, title, head, version, client, external_id, dict(settings or {}), now, now,
        folder=folder,
    )  # fmt: skip
    row = {name: getattr(new, name) for name in _PLAIN_FIELDS}
    _NEW_CONVERSATION.run(connection, {**row, **asdict(scope)})
    return new


def change_conversation(connection: Connection, conversation_id: str, **values: Any) -> ConversationRecord:
    connection.execute(update(conversations).where(conversations.c.id == conversation_id).values(**values))
    return get_conversation(connection, conversation_id)


def update_head(
    connection: Connection, moved: ConversationRecord, head: str | None, now: float
) -> ConversationRecord:
    values: dict[str, Any] = {"head": head, "version": moved.version + 1, "updated_at": now}
    _MOVE_HEAD.run(connection, {"moved": moved.id, **values})
    return replace(moved, **values)


def _not_found(conversation_id: str) -> NotFound:
    return NotFound(lazy("conversation '{conversation}' not found", conversation=conversation_id))


def remove_conversation(connection: Connection, gone: ConversationRecord) -> None:
    """Delete a conversation and the messages that no other conversation shares."""
    siblings = [other for other in conversations_on(connection, [gone.tree]) if other.id != gone.id]
    _forget_prompts(connection, gone)
    # Drafts, decisions and compactions go with the conversation, token counts with their messages.
    connection.execute(delete(conversations).where(conversations.c.id == gone.id))
    if any(other.head for other in siblings):
        _remove_unshared_messages(connection, gone, siblings)
    else:
        connection.execute(delete(messages).where(messages.c.tree == gone.tree))
        connection.execute(delete(branches).where(branches.c.tree == gone.tree))


def _forget_prompts(connection: Connection, gone: ConversationRecord) -> None:
    """Delete the prompts of its jobs that no other job has sent: they may quote the conversation."""
    ours = jobs.c.conversation == gone.id
    sent = select(jobs.c.prompt).where(ours, jobs.c.prompt.is_not(None)).distinct()
    digests = list(connection.scalars(sent))
    connection.execute(update(jobs).where(ours).values(prompt=None))
    for batch in batches(digests):
        still_named = select(jobs.c.prompt).where(jobs.c.prompt.in_(batch))
        connection.execute(
            delete(prompts).where(prompts.c.digest.in_(batch), prompts.c.digest.not_in(still_named))
        )


def _remove_unshared_messages(
    connection: Connection, gone: ConversationRecord, siblings: list[ConversationRecord]
) -> None:
    """Delete the part of the path that no other head needs, with all that branches off it."""
    if gone.head is None:
        return
    shared = {name for other in siblings if other.head for name in tree.path_ids(connection, other.head)}
    own = [name for name in tree.path_ids(connection, gone.head) if name not in shared]
    if not own:
        return
    # No other head is below the first of them, or that one would be shared as well.
    doomed = select(literal(own[0]).label("id")).cte("doomed", recursive=True)
    doomed = doomed.union_all(select(messages.c.id).join(doomed, messages.c.parent == doomed.c.id))
    connection.execute(delete(messages).where(messages.c.id.in_(select(doomed.c.id))))
    words_left = exists().where(messages.c.branch == branches.c.id)
    connection.execute(delete(branches).where(branches.c.tree == gone.tree, ~words_left))


class ConversationLog(Repository):
    """Reads and writes conversations and their messages."""

    __slots__ = ()

    # Conversations

    @writes
    def create(
        self,
        connection: Connection,
        scope: Scope,
        *,
        title: str = "",
        client: str = "",
        external_id: str = "",
        now: float | None = None,
    ) -> ConversationRecord:
        """Create a conversation without messages, on a tree of its own."""
        return insert_conversation(
            connection, scope, new_id("t"), title=title, client=client, external_id=external_id, now=now
        )

    @writes
    def begin(
        self,
        connection: Connection,
        scope: Scope,
        messages: Sequence[NewMessage],
        *,
        title: str = "",
        client: str = "",
        external_id: str = "",
        settings: Mapping[str, Any] | None = None,
        now: float | None = None,
    ) -> tuple[ConversationRecord, list[MessageRecord]]:
        """Create a conversation with its first messages."""
        now = time.time() if now is None else now
        tree_id = new_id("t")
        records = tree.append(connection, tree_id, None, messages, now)
        conversation = insert_conversation(
            connection,
            scope,
            tree_id,
            head=records[-1].id if records else None,
            version=1,
            title=title,
            client=client,
            external_id=external_id,
            settings=settings,
            now=now,
        )
        return conversation, records

    @writes
    def lock(self, connection: Connection, conversation_id: str) -> ConversationRecord:
        """Return the conversation, locked until the transaction ends."""
        return lock_conversation(connection, conversation_id)

    @reads
    def get(
        self, connection: Connection, conversation_id: str, scope: Scope | None = None
    ) -> ConversationRecord:
        """Return a conversation by its id or a unique prefix of it. One of another scope is not found."""
        return get_conversation(connection, conversation_id, scope)

    @reads
    def recent(
        self,
        connection: Connection,
        scope: Scope,
        limit: int = 50,
        before: tuple[float, str] | None = None,
        which: ListFilter = _ALL,
    ) -> list[ConversationRecord]:
        """Return the last used conversations, newest first; `before`: (updated_at, id) of the last seen."""
        order = tuple_(conversations.c.updated_at, conversations.c.id)
        wanted = _conditions(scope, which)
        if before is not None:
            wanted.append(order < before)
        if which.title:
            wanted.append(conversations.c.id.in_(_find_titles(connection, wanted, which.title, limit)))
        query = select(conversations).where(*wanted).order_by(*_NEWEST_FIRST).limit(limit)
        return [read_conversation(row) for row in connection.execute(query)]

    @reads
    def folders(self, connection: Connection, scope: Scope, which: ListFilter = _ALL) -> dict[str, int]:
        """Return the names of the folders with conversations in them, and how many, by name."""
        count = select(conversations.c.folder, func.count()).where(*_conditions(scope, which))
        query = count.where(conversations.c.folder != "").group_by(conversations.c.folder)
        return dict(sorted((str(name), int(n)) for name, n in connection.execute(query)))

    @reads
    def list_used_since(
        self, connection: Connection, at: float, limit: int = 100
    ) -> list[ConversationRecord]:
        """Return the last used conversations of all scopes, newest first."""
        query = select(conversations).where(conversations.c.updated_at >= at)
        query = query.order_by(*_NEWEST_FIRST).limit(limit)
        return [read_conversation(row) for row in connection.execute(query)]

    @reads
    def list_unused_since(
        self, connection: Connection, at: float, scope: Scope | None = None, limit: int = 100
    ) -> list[ConversationRecord]:
        """Return conversations without a new message since `at`, of all scopes or of one; oldest first."""
        query = select(conversations).where(conversations.c.updated_at < at)
        if scope is not None:
            query = query.where(in_scope(scope))
        query = query.order_by(conversations.c.updated_at, conversations.c.id).limit(limit)
        return [read_conversation(row) for row in connection.execute(query)]

    @reads
    def of_user(self, connection: Connection, user: str, names: Sequence[str]) -> list[ConversationRecord]:
        """Return those of a user's conversations that have one of these ids, of any project."""
        query = select(conversations).where(conversations.c.user == user, conversations.c.id.in_(names))
        return [read_conversation(row) for row in connection.execute(query)]

    @reads
    def scopes(self, connection: Connection, user: str) -> list[Scope]:
        """Return the scopes in which a user has conversations."""
        places = (conversations.c.user, conversations.c.project, conversations.c.kind)
        query = select(*places).where(conversations.c.user == user).distinct().order_by(*places)
        return [Scope(*row) for row in connection.execute(query)]

    @reads
    def by_external_id(
        self, connection: Connection, scope: Scope, external_id: str
    ) -> list[ConversationRecord]:
        """Return the conversations with this id in another tool, newest first; none for an empty id."""
        query = (
            select(conversations)
            .where(in_scope(scope), conversations.c.external_id == external_id)
            .where(conversations.c.external_id != "")
            .order_by(*_NEWEST_FIRST)
        )
        return [read_conversation(row) for row in connection.execute(query)]

    @reads
    def conversations_of(self, connection: Connection, tree: str) -> list[ConversationRecord]:
        """Return all conversations on one tree, oldest first."""
        return conversations_on(connection, [tree])

    @reads
    def conversations_on(
        self, connection: Connection, trees: Collection[str]
    ) -> dict[str, list[ConversationRecord]]:
        """Return all conversations on each of these trees, oldest first."""
        by_tree: dict[str, list[ConversationRecord]] = {name: [] for name in trees}
        for batch in batches(sorted(trees)):
            for conversation in conversations_on(connection, batch):
                by_tree[conversation.tree].append(conversation)
        return by_tree

    @writes
    def fork(
        self,
        connection: Connection,
        conversation_id: str,
        message_id: str,
        title: str = "",
        *,
        now: float | None = None,
    ) -> ConversationRecord:
        """Create a second head on the same tree: it shares all messages up to `message_id`."""
        origin = lock_conversation(connection, conversation_id)
        return insert_conversation(
            connection,
            origin.scope,
            origin.tree,
            head=tree.get(connection, message_id, tree=origin.tree).id,
            title=title or origin.title,
            client=origin.client,
            settings=origin.settings,
            folder=origin.folder,
            now=now,
        )

    @writes
    def rename(
        self, connection: Connection, conversation_id: str, title: str, *, by_person: bool = True
    ) -> ConversationRecord:
        """Change the title. One that a person gave is never replaced by one that no person gave."""
        known = lock_conversation(connection, conversation_id)
        if known.named and not by_person:
            return known
        settings = {**known.settings, "named": True} if by_person else known.settings
        return change_conversation(connection, conversation_id, title=title, settings=settings)

    @writes
    def arrange(
        self, connection: Connection, conversation_id: str, changes: Mapping[str, bool | str]
    ) -> ConversationRecord:
        """Change `pinned`, `archived` or `folder` of a conversation: where it stands in the list."""
        known = lock_conversation(connection, conversation_id)
        return change_conversation(connection, conversation_id, **changes) if changes else known

    @writes
    def move(self, connection: Connection, tree: str, project: str) -> list[ConversationRecord]:
        """Move all conversations on a tree to another project; return them, oldest first.

        Search knows messages by their project: `TextRepository.requeue` belongs to it.
        """
        lock_trees(connection, [tree])
        connection.execute(update(conversations).where(conversations.c.tree == tree).values(project=project))
        return conversations_on(connection, [tree])

    @writes
    def update_settings(
        self, connection: Connection, conversation_id: str, changes: Mapping[str, Any]
    ) -> ConversationRecord:
        """Change some settings of a conversation; None removes one."""
        known = lock_conversation(connection, conversation_id).settings
        settings = {name: value for name, value in {**known, **changes}.items() if value is not None}
        return change_conversation(connection, conversation_id, settings=settings)

    @writes
    def delete(self, connection: Connection, conversation_id: str) -> None:
        """Delete a conversation and all its messages, except those that another conversation shares."""
        remove_conversation(connection, lock_conversation(connection, conversation_id))

    # Messages

    @writes
    def append(
        self,
        connection: Connection,
        conversation_id: str,
        messages: Sequence[NewMessage],
        *,
        parent: str | None,
        expect: str | None,
        move_head: bool = True,
        now: float | None = None,
    ) -> list[MessageRecord]:
        """Append messages after `parent` and move the head to the last one, if the head still is `expect`.

        Messages that exist are not written again, so a call can be repeated. A head that has moved is a
        Conflict, and nothing is written. With `move_head` off the messages become a side branch.
        """
        conversation = lock_conversation(connection, conversation_id)
        _, records = _extend(connection, conversation, messages, parent, expect, move_head, now)
        return records

    @writes
    def extend(
        self,
        connection: Connection,
        conversation: ConversationRecord,
        messages: Sequence[NewMessage],
        *,
        parent: MessageRecord | str | None,
        expect: str | None,
        now: float | None = None,
    ) -> tuple[ConversationRecord, list[MessageRecord]]:
        """Like `append` for a conversation locked in this transaction; returns it, too, as it is then."""
        return _extend(connection, conversation, messages, parent, expect, True, now)

    @writes
    def set_head(
        self,
        connection: Connection,
        conversation_id: str,
        head: str | None,
        *,
        expect: str | None,
        now: float | None = None,
    ) -> ConversationRecord:
        """Move the head to a message of the same tree, if it still is `expect` (or already is there)."""
        conversation = lock_conversation(connection, conversation_id)
        if conversation.head == head:
            return conversation
        if conversation.head != expect:
            raise _head_conflict(conversation, expect)
        if head is not None:
            tree.get(connection, head, tree=conversation.tree)
        return update_head(connection, conversation, head, time.time() if now is None else now)

    @reads
    def message(self, connection: Connection, message_id: str) -> MessageRecord:
        return tree.get(connection, message_id)

    @reads
    def answer(self, connection: Connection, tree_id: str, job: str) -> MessageRecord | None:
        """Return the message that a job wrote in a tree, None if it wrote none or repeated one."""
        return tree.answer(connection, tree_id, job)

    @reads
    def path(self, connection: Connection, message_id: str) -> list[MessageRecord]:
        """Return every message from the root to this one, in order."""
        return tree.path(connection, message_id)

    @reads
    def tail(self, connection: Connection, message_id: str, limit: int) -> list[MessageRecord]:
        """Return the last `limit` messages of the path, in order."""
        return tree.path(connection, message_id, limit=limit)

    @reads
    def part(
        self, connection: Connection, message_id: str, *, below: int, keep: Sequence[str] = ()
    ) -> list[MessageRecord]:
        """Return the messages of the path that are deeper than `below` or named in `keep`, in order."""
        return tree.part(connection, message_id, below=below, keep=keep)

    @reads
    def sizes(self, connection: Connection, message_id: str, limit: int) -> list[tuple[str, int, str, int]]:
        """Return id, depth, role and length of the last `limit` messages of the path, newest first."""
        return tree.sizes(connection, message_id, limit=limit)

    @reads
    def path_ids(self, connection: Connection, message_id: str) -> list[str]:
        """Return the ids of the messages on the path, in order: the index is their depth."""
        return tree.path_ids(connection, message_id)

    @reads
    def children(self, connection: Connection, message_id: str) -> list[MessageRecord]:
        """Return the messages after one: several where an answer was repeated or a question edited."""
        return tree.children(connection, message_id)

    @reads
    def roots(self, connection: Connection, tree_id: str) -> list[str]:
        """Return the ids of the first messages of a tree: several where the very first was edited."""
        first = select(messages.c.id).where(messages.c.tree == tree_id, messages.c.parent.is_(None))
        return list(connection.scalars(first.order_by(messages.c.created_at, messages.c.id)))

    @reads
    def find_anchors(
        self, connection: Connection, scope: Scope, anchors: Sequence[str], *, limit: int = 500
    ) -> list[AnchorHit]:
        """Return messages with one of these anchors in trees of exactly this scope, newest first."""
        ours = exists().where(conversations.c.tree == messages.c.tree, in_scope(scope))
        newest = (messages.c.created_at.desc(), messages.c.id.desc())
        names = ("anchor", "id", "tree", "depth", "created_at", "parent")
        columns = [messages.c[name] for name in names]
        query = select(*columns).where(ours).order_by(*newest).limit(limit)
        hits = [
            AnchorHit(*row)
            for batch in batches(anchors)
            for row in connection.execute(query.where(messages.c.anchor.in_(batch)))
        ]
        return sorted(hits, key=lambda hit: (hit.created_at, hit.message), reverse=True)[:limit]

    # Token counts

    @writes
    def set_tokens(self, connection: Connection, counter: str, counts: Mapping[str, int]) -> None:
        """Save how many tokens messages have, counted by `counter`."""
        if counts:
            upsert(
                connection,
                message_tokens,
                [{"message": message, "counter": counter, "tokens": n} for message, n in counts.items()],
            )

    @reads
    def trees_of(self, connection: Connection, ids: Collection[str]) -> dict[str, str]:
        """Return the tree of each of these messages; those that were deleted are missing."""
        return {row.id: row.tree for row in _TREES_OF.all(connection, ids=sorted(ids))}

    @reads
    def tokens(self, connection: Connection, counter: str, messages: Sequence[str]) -> dict[str, int]:
        """Return the known counts; a message that was never counted is missing."""
        counts: dict[str, int] = {}
        for batch in batches(messages):
            query = select(message_tokens.c.message, message_tokens.c.tokens).where(
                message_tokens.c.counter == counter, message_tokens.c.message.in_(batch)
            )
            counts.update({row.message: row.tokens for row in connection.execute(query)})
        return counts


def _extend(
    connection: Connection,
    conversation: ConversationRecord,
    messages: Sequence[NewMessage],
    parent: MessageRecord | str | None,
    expect: str | None,
    move_head: bool,
    now: float | None,
) -> tuple[ConversationRecord, list[MessageRecord]]:
    now = time.time() if now is None else now
    start = tree.get(connection, parent, tree=conversation.tree) if isinstance(parent, str) else parent
    records = tree.find_existing(connection, conversation.tree, start, messages)
    repeated = len(records) == len(messages) and (not records or records[-1].id == conversation.head)
    if move_head and not repeated and conversation.head != expect:
        raise _head_conflict(conversation, expect)
    tip = records[-1] if records else start
    records += tree.append(connection, conversation.tree, tip, messages[len(records) :], now)
    if move_head and not repeated:
        conversation = update_head(connection, conversation, records[-1].id, now)
    return conversation, records


def _head_conflict(conversation: ConversationRecord, expect: str | None) -> Conflict:
    return Conflict(
        lazy(
            "Conversation {id} moved on: its head is {head}, not {expect}.",
            id=conversation.id,
            head=conversation.head,
            expect=expect,
        ),
        hint=lazy("Read it again and repeat."),
    )
