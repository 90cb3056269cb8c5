"""Conversations: heads on the tree of messages, and who may see them.

Appending moves a head by compare-and-swap and can be repeated safely. It does not know what a window is, nor
which conversation a request belongs to: that is found out elsewhere, with the anchors kept here.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, exists, select, tuple_

from holdfast.errors import Conflict
from holdfast.messages import Scope
from holdfast.store import heads, removal, tree
from holdfast.store.database import Repository, reads, upsert, writes
from holdfast.store.ids import new_id
from holdfast.store.schema import conversations, message_tokens, messages
from holdfast.store.values import AnchorHit, ConversationRecord, MessageRecord, NewMessage


class ConversationLog(Repository):
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
        """A new conversation without messages, on a tree of its own."""
        now = time.time() if now is None else now
        return heads.insert_conversation(
            connection,
            ConversationRecord(
                id=new_id("c"),
                tree=new_id("t"),
                scope=scope,
                title=title,
                head=None,
                version=0,
                client=client,
                external_id=external_id,
                settings={},
                created_at=now,
                updated_at=now,
            ),
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
        """A new conversation with its first messages."""
        now = time.time() if now is None else now
        place = new_id("t")
        grown = tree.append(connection, place, None, messages, now)
        conversation = ConversationRecord(
            id=new_id("c"),
            tree=place,
            scope=scope,
            title=title,
            head=grown[-1].id if grown else None,
            version=1,
            client=client,
            external_id=external_id,
            settings=dict(settings or {}),
            created_at=now,
            updated_at=now,
        )
        return heads.insert_conversation(connection, conversation), grown

    @writes
    def taken(self, connection: Connection, conversation_id: str) -> ConversationRecord:
        """The conversation, for changes in this transaction: until it ends nobody else can change it."""
        return heads.lock_conversation(connection, conversation_id)

    @reads
    def get(
        self, connection: Connection, conversation_id: str, scope: Scope | None = None
    ) -> ConversationRecord:
        """A conversation by its id or a clear beginning of it. One of another scope is as good as missing."""
        return heads.get_conversation(connection, conversation_id, scope)

    @reads
    def recent(
        self,
        connection: Connection,
        scope: Scope,
        limit: int = 50,
        before: tuple[float, str] | None = None,
    ) -> list[ConversationRecord]:
        """The last used conversations, newest first; `before` is (updated_at, id) of the last one seen."""
        order = tuple_(conversations.c.updated_at, conversations.c.id)
        query = select(conversations).where(heads.in_scope(scope))
        if before is not None:
            query = query.where(order < before)
        query = query.order_by(conversations.c.updated_at.desc(), conversations.c.id.desc()).limit(limit)
        return [heads.read_conversation(row) for row in connection.execute(query)]

    @reads
    def used_since(self, connection: Connection, at: float, limit: int = 100) -> list[ConversationRecord]:
        """The last used conversations of all scopes, newest first: for what is done for everybody."""
        query = select(conversations).where(conversations.c.updated_at >= at)
        query = query.order_by(conversations.c.updated_at.desc(), conversations.c.id.desc()).limit(limit)
        return [heads.read_conversation(row) for row in connection.execute(query)]

    @reads
    def unused_since(
        self, connection: Connection, at: float, scope: Scope | None = None, limit: int = 100
    ) -> list[ConversationRecord]:
        """Conversations in which nothing was said since then, of all scopes or of one; oldest first."""
        query = select(conversations).where(conversations.c.updated_at < at)
        if scope is not None:
            query = query.where(heads.in_scope(scope))
        query = query.order_by(conversations.c.updated_at, conversations.c.id).limit(limit)
        return [heads.read_conversation(row) for row in connection.execute(query)]

    @reads
    def of_user(self, connection: Connection, user: str, names: Sequence[str]) -> list[ConversationRecord]:
        """Those of a user's conversations that have one of these ids and are still there, of any project."""
        query = select(conversations).where(conversations.c.user == user, conversations.c.id.in_(names))
        return [heads.read_conversation(row) for row in connection.execute(query)]

    @reads
    def scopes(self, connection: Connection, user: str) -> list[Scope]:
        """Where a user has conversations."""
        places = (conversations.c.user, conversations.c.project, conversations.c.kind)
        query = select(*places).where(conversations.c.user == user).distinct().order_by(*places)
        return [Scope(*row) for row in connection.execute(query)]

    @reads
    def by_external_id(
        self, connection: Connection, scope: Scope, external_id: str
    ) -> list[ConversationRecord]:
        """The conversations another tool calls by this id, newest first; none for an empty id."""
        query = (
            select(conversations)
            .where(heads.in_scope(scope), conversations.c.external_id == external_id)
            .where(conversations.c.external_id != "")
            .order_by(conversations.c.updated_at.desc(), conversations.c.id.desc())
        )
        return [heads.read_conversation(row) for row in connection.execute(query)]

    @reads
    def conversations_of(self, connection: Connection, tree: str) -> list[ConversationRecord]:
        """All heads on one tree, oldest first."""
        return heads.conversations_on(connection, [tree])

    @reads
    def conversations_on(
        self, connection: Connection, trees: Collection[str]
    ) -> dict[str, list[ConversationRecord]]:
        """All heads on each of these trees, oldest first."""
        found: dict[str, list[ConversationRecord]] = {name: [] for name in trees}
        for portion in tree.batches(sorted(trees)):
            for conversation in heads.conversations_on(connection, portion):
                found[conversation.tree].append(conversation)
        return found

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
        """A second head on the same tree: it shares every message up to `message_id`, and copies none."""
        now = time.time() if now is None else now
        origin = heads.lock_conversation(connection, conversation_id)
        head = tree.get(connection, message_id, tree=origin.tree)
        return heads.insert_conversation(
            connection,
            ConversationRecord(
                id=new_id("c"),
                tree=origin.tree,
                scope=origin.scope,
                title=title or origin.title,
                head=head.id,
                version=0,
                client=origin.client,
                external_id="",
                settings=origin.settings,
                created_at=now,
                updated_at=now,
            ),
        )

    @writes
    def rename(self, connection: Connection, conversation_id: str, title: str) -> ConversationRecord:
        heads.lock_conversation(connection, conversation_id)
        return heads.change_conversation(connection, conversation_id, title=title)

    @writes
    def update_settings(
        self, connection: Connection, conversation_id: str, changes: Mapping[str, Any]
    ) -> ConversationRecord:
        """Change some settings of a conversation; one that becomes None is taken away."""
        known = heads.lock_conversation(connection, conversation_id).settings
        kept = {name: value for name, value in {**known, **changes}.items() if value is not None}
        return heads.change_conversation(connection, conversation_id, settings=kept)

    @writes
    def delete(self, connection: Connection, conversation_id: str) -> None:
        """Remove a conversation and all its words, except those that another conversation shares."""
        removal.remove_conversation(connection, heads.lock_conversation(connection, conversation_id))

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
        """Put messages after `parent` and move the head to the last of them, if the head still is `expect`.

        What is already there is not written again, so a call can be repeated. A head that moved meanwhile is
        a Conflict, and nothing is written. With `move_head` off the messages become a side branch.
        """
        conversation = heads.lock_conversation(connection, conversation_id)
        _, found = _extend(connection, conversation, messages, parent, expect, move_head, now)
        return found

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
        """The same for a conversation `taken` in this transaction, which comes back as it is then."""
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
        conversation = heads.lock_conversation(connection, conversation_id)
        if conversation.head == head:
            return conversation
        if conversation.head != expect:
            raise _head_conflict(conversation, expect)
        if head is not None:
            tree.get(connection, head, tree=conversation.tree)
        return heads.move_head(connection, conversation, head, time.time() if now is None else now)

    @reads
    def message(self, connection: Connection, message_id: str) -> MessageRecord:
        return tree.get(connection, message_id)

    @reads
    def answer(self, connection: Connection, tree_id: str, job: str) -> MessageRecord | None:
        """What came of a job in a tree; None if nothing did, or if the same words were there before."""
        return tree.answer(connection, tree_id, job)

    @reads
    def path(self, connection: Connection, message_id: str) -> list[MessageRecord]:
        """Every message from the root to this one, in order."""
        return tree.path(connection, message_id)

    @reads
    def tail(self, connection: Connection, message_id: str, limit: int) -> list[MessageRecord]:
        """The last `limit` messages of the path, in order."""
        return tree.path(connection, message_id, limit=limit)

    @reads
    def part(
        self, connection: Connection, message_id: str, *, below: int, keep: Sequence[str] = ()
    ) -> list[MessageRecord]:
        """Of the path: what is deeper than `below`, and those named in `keep`; in order."""
        return tree.part(connection, message_id, below=below, keep=keep)

    @reads
    def sizes(self, connection: Connection, message_id: str, limit: int) -> list[tuple[str, int, str, int]]:
        """The last `limit` messages of the path, newest first: id, depth, role, length; none is decoded."""
        return tree.sizes(connection, message_id, limit=limit)

    @reads
    def path_ids(self, connection: Connection, message_id: str) -> list[str]:
        """The names of the messages on the path, in order: the index is their depth."""
        return tree.path_ids(connection, message_id)

    @reads
    def children(self, connection: Connection, message_id: str) -> list[MessageRecord]:
        """What follows a message: more than one where an answer was repeated or a question edited."""
        return tree.children(connection, message_id)

    @reads
    def roots(self, connection: Connection, tree_id: str) -> list[str]:
        """The names of the first messages of a tree: more than one where the very first was edited."""
        first = select(messages.c.id).where(messages.c.tree == tree_id, messages.c.parent.is_(None))
        return list(connection.scalars(first.order_by(messages.c.created_at, messages.c.id)))

    @reads
    def find_anchors(
        self, connection: Connection, scope: Scope, anchors: Sequence[str], *, limit: int = 500
    ) -> list[AnchorHit]:
        """Messages with one of these anchors, in trees that belong to exactly this scope; newest first."""
        ours = exists().where(conversations.c.tree == messages.c.tree, heads.in_scope(scope))
        newest = (messages.c.created_at.desc(), messages.c.id.desc())
        names = ("anchor", "id", "tree", "depth", "created_at", "parent")
        columns = [messages.c[name] for name in names]
        query = select(*columns).where(ours).order_by(*newest).limit(limit)
        hits = [
            AnchorHit(*row)
            for portion in tree.batches(anchors)
            for row in connection.execute(query.where(messages.c.anchor.in_(portion)))
        ]
        return sorted(hits, key=lambda hit: (hit.created_at, hit.message), reverse=True)[:limit]

    # Token counts

    @writes
    def set_tokens(self, connection: Connection, counter: str, counts: Mapping[str, int]) -> None:
        """Keep how many tokens messages have, counted by `counter`."""
        if counts:
            upsert(
                connection,
                message_tokens,
                [{"message": message, "counter": counter, "tokens": n} for message, n in counts.items()],
            )

    @reads
    def tokens(self, connection: Connection, counter: str, messages: Sequence[str]) -> dict[str, int]:
        """The counts that are known; a message never counted is not in it."""
        found: dict[str, int] = {}
        for portion in tree.batches(messages):
            query = select(message_tokens.c.message, message_tokens.c.tokens).where(
                message_tokens.c.counter == counter, message_tokens.c.message.in_(portion)
            )
            found.update({row.message: row.tokens for row in connection.execute(query)})
        return found


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
    found = tree.find_existing(connection, conversation.tree, start, messages)
    repeated = len(found) == len(messages) and (not found or found[-1].id == conversation.head)
    if move_head and not repeated and conversation.head != expect:
        raise _head_conflict(conversation, expect)
    tip = found[-1] if found else start
    found += tree.append(connection, conversation.tree, tip, messages[len(found) :], now)
    if move_head and not repeated:
        conversation = heads.move_head(connection, conversation, found[-1].id, now)
    return conversation, found


def _head_conflict(conversation: ConversationRecord, expect: str | None) -> Conflict:
    return Conflict(
        f"Conversation {conversation.id} moved on: its head is {conversation.head}, not {expect}.",
        hint="Read it again and repeat.",
    )
