"""The log keeps its promises on every backend: a tree of messages, heads that move, scopes that hold."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from holdfast.errors import BadRequest, Conflict, NotFound, StoreError
from holdfast.messages import (
    File,
    Image,
    Message,
    Opaque,
    Scope,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from holdfast.store import NewMessage, Store

SCOPE = Scope()


def user_messages(*texts: str) -> list[NewMessage]:
    return [NewMessage(Message.of("user", words)) for words in texts]


def words(messages) -> list[str]:
    return [message.message.text for message in messages]


def talk(store: Store, *texts: str, scope: Scope = SCOPE, **fields):
    """A conversation that consists of these messages."""
    conversation = store.log.create(scope, **fields)
    messages = store.log.append(conversation.id, user_messages(*texts), parent=None, expect=None)
    return store.log.get(conversation.id), messages


def count(store: Store, table: str) -> int:
    return store.database.read(lambda connection: connection.scalar(text(f"SELECT count(*) FROM {table}")))


def test_what_is_appended_is_read_back_in_order(store):
    conversation, messages = talk(store, "one", "two", "three")
    assert words(store.log.path(conversation.head)) == ["one", "two", "three"]
    assert store.log.path(conversation.head) == messages
    assert [message.depth for message in messages] == [0, 1, 2]
    assert [message.parent for message in messages] == [None, messages[0].id, messages[1].id]
    assert store.log.message(messages[1].id) == messages[1]


def test_every_kind_of_part_and_every_field_comes_back(store):
    message = Message(
        "assistant",
        (
            Thinking("hm"),
            Text("hello", {"openai": {"annotations": []}}),
            Image(data="aGk=", media_type="image/png"),
            File("a.txt", data="aGk="),
            ToolCall("look", '{"a": 1}', "call_1"),
            ToolResult((Text("found"),), call_id="call_1", error=True),
            Opaque("openai", {"type": "refusal", "n": [1, 2.5, None]}),
        ),
        form="parts",
        extra={"ollama": {"x": "y"}},
    )
    new = NewMessage(message, anchor="key", model="llama", finish="stop", job="j_1")
    conversation = store.log.create(SCOPE)
    (kept,) = store.log.append(conversation.id, [new], parent=None, expect=None, now=12.5)
    assert store.log.message(kept.id) == kept
    assert (kept.message, kept.anchor, kept.model, kept.finish, kept.job, kept.created_at) == (
        message,
        "key",
        "llama",
        "stop",
        "j_1",
        12.5,
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)
@given(texts=st.lists(st.text(max_size=30), min_size=1, max_size=5))
def test_any_text_survives(store, texts):
    conversation, _ = talk(store, *texts, title="".join(texts))
    assert [message.message for message in store.log.path(conversation.head)] == [
        Message.of("user", words) for words in texts
    ]
    assert "\x00" not in store.log.get(conversation.id).title


def test_nul_and_emoji_survive_in_messages_and_become_harmless_in_names(store):
    conversation, (message,) = talk(store, "a\x00b 🎈 e\u0301 \u2028", title="t\x00🎈", client="c\x00")
    assert message.message.text == "a\x00b 🎈 e\u0301 \u2028"
    assert (conversation.title, conversation.client) == ("t\ufffd🎈", "c\ufffd")
    with pytest.raises(NotFound):
        store.log.get("c_\x00")
    with pytest.raises(NotFound):
        store.log.message("\ud800")


def test_names_that_cannot_be_stored_stay_apart(store):
    store.log.create(Scope("eve"))
    assert store.log.recent(Scope("eve\x00")) == []


def test_appending_again_changes_nothing(store):
    conversation = store.log.create(SCOPE)
    first = store.log.append(conversation.id, user_messages("a", "b"), parent=None, expect=None)
    before = store.log.get(conversation.id)
    assert store.log.append(conversation.id, user_messages("a", "b"), parent=None, expect=None) == first
    assert store.log.get(conversation.id) == before
    assert count(store, "messages") == 2


def test_appending_writes_only_what_is_new(store):
    conversation, (a, b) = talk(store, "a", "b")
    longer = store.log.append(conversation.id, user_messages("a", "b", "c"), parent=None, expect=b.id)
    assert longer[:2] == [a, b]
    assert store.log.get(conversation.id).head == longer[2].id
    assert count(store, "messages") == 3


def test_the_same_words_twice_in_a_row_are_two_messages(store):
    conversation, messages = talk(store, "again", "again")
    assert len({message.id for message in messages}) == 2
    assert words(store.log.path(conversation.head)) == ["again", "again"]


def test_a_head_that_moved_is_a_conflict_and_nothing_is_written(store):
    conversation, (a, b) = talk(store, "a", "b")
    with pytest.raises(Conflict):
        store.log.append(conversation.id, user_messages("late"), parent=a.id, expect=a.id)
    assert store.log.get(conversation.id) == conversation
    assert count(store, "messages") == 2
    assert words(store.log.path(b.id)) == ["a", "b"]


def test_a_conflict_does_not_hide_behind_words_that_are_already_there(store):
    conversation, (_a, b) = talk(store, "a", "b")
    with pytest.raises(Conflict):
        store.log.append(conversation.id, user_messages("a"), parent=None, expect=None)
    assert store.log.get(conversation.id).head == b.id


def test_each_move_of_the_head_raises_the_version(store):
    conversation, (a, b) = talk(store, "a", "b")
    assert conversation.version == 1
    moved = store.log.set_head(conversation.id, a.id, expect=b.id, now=99.0)
    assert (moved.head, moved.version, moved.updated_at) == (a.id, 2, 99.0)
    assert store.log.set_head(conversation.id, a.id, expect=b.id) == moved
    with pytest.raises(Conflict):
        store.log.set_head(conversation.id, None, expect=b.id)


def test_a_side_branch_leaves_the_head_alone(store):
    conversation, (a, b) = talk(store, "a", "b")
    (side,) = store.log.append(
        conversation.id, user_messages("other"), parent=a.id, expect=None, move_head=False
    )
    assert store.log.get(conversation.id) == conversation
    assert store.log.children(a.id) == [b, side]
    assert words(store.log.path(side.id)) == ["a", "other"]


def test_moving_to_a_known_answer_writes_no_message(store):
    conversation, (a, b) = talk(store, "a", "b")
    (c,) = store.log.append(conversation.id, user_messages("c"), parent=a.id, expect=b.id)
    assert store.log.append(conversation.id, user_messages("b"), parent=a.id, expect=c.id) == [b]
    assert store.log.get(conversation.id).head == b.id
    assert (count(store, "messages"), count(store, "branches")) == (3, 2)


def test_appending_nothing_does_nothing(store):
    conversation, (a,) = talk(store, "a")
    assert store.log.append(conversation.id, [], parent=a.id, expect=None) == []
    assert store.log.get(conversation.id) == conversation


def test_a_parent_from_another_tree_is_not_found(store):
    conversation, _ = talk(store, "a")
    _, (elsewhere,) = talk(store, "b")
    with pytest.raises(NotFound):
        store.log.append(conversation.id, user_messages("c"), parent=elsewhere.id, expect=conversation.head)
    with pytest.raises(NotFound):
        store.log.set_head(conversation.id, elsewhere.id, expect=conversation.head)
    with pytest.raises(NotFound):
        store.log.fork(conversation.id, elsewhere.id)


def test_what_is_missing_is_not_found(store):
    for call in (store.log.get, store.log.message, store.log.path, store.log.delete):
        with pytest.raises(NotFound):
            call("c_00000000000000000000000000")
    with pytest.raises(NotFound):
        store.log.append("c_missing", user_messages("a"), parent=None, expect=None)
    assert store.log.children("m_missing") == []


def test_a_stored_message_cannot_be_changed(store):
    _, (a,) = talk(store, "a")
    with pytest.raises((StoreError, Conflict), match="never changed"):
        store.database.write(lambda connection: connection.execute(text("UPDATE messages SET body = 'x'")))
    assert store.log.message(a.id) == a


def test_a_fork_shares_every_message_and_goes_its_own_way(store):
    conversation, (a, b, c) = talk(store, "a", "b", "c", title="first", client="cli")
    store.log.update_settings(conversation.id, {"memory": "off"})
    fork = store.log.fork(conversation.id, b.id, "second")
    assert (fork.tree, fork.head, fork.scope, fork.title) == (conversation.tree, b.id, SCOPE, "second")
    assert fork.settings == {"memory": "off"}
    assert count(store, "messages") == 3
    (d,) = store.log.append(fork.id, user_messages("d"), parent=b.id, expect=b.id)
    assert store.log.path(d.id) == [a, b, d]
    assert store.log.path(c.id) == [a, b, c]
    assert [one.id for one in store.log.conversations_of(conversation.tree)] == [conversation.id, fork.id]


def test_two_heads_can_grow_the_same_branch_in_turn(store):
    conversation, (a,) = talk(store, "a")
    fork = store.log.fork(conversation.id, a.id)
    (b,) = store.log.append(conversation.id, user_messages("b"), parent=a.id, expect=a.id)
    (c,) = store.log.append(fork.id, user_messages("c"), parent=a.id, expect=a.id)
    assert (b.branch, b.depth) == (a.branch, 1)
    assert c.branch != a.branch
    assert words(store.log.path(c.id)) == ["a", "c"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=15)
@given(seed=st.integers(0, 2**32), size=st.integers(1, 60), bushiness=st.floats(0, 1))
def test_the_path_is_what_walking_from_parent_to_parent_gives(store, seed, size, bushiness):
    chance = random.Random(seed)
    conversation = store.log.create(SCOPE)
    tree = {}
    tip = None
    for number in range(size):
        parent = chance.choice([None, *tree]) if chance.random() < bushiness else tip
        run = user_messages(*(f"{number}.{step}" for step in range(chance.randint(1, 3))))
        grown = store.log.append(conversation.id, run, parent=parent, expect=None, move_head=False)
        tree |= {message.id: message for message in grown}
        tip = grown[-1].id
    for message in chance.sample(list(tree.values()), min(25, len(tree))):
        walked = [message]
        while walked[-1].parent is not None:
            walked.append(tree[walked[-1].parent])
        walked.reverse()
        assert store.log.path(message.id) == walked
        limit = chance.randint(0, len(walked) + 1)
        assert store.log.tail(message.id, limit) == walked[len(walked) - min(limit, len(walked)) :]


def test_a_conversation_of_five_thousand_messages(store):
    conversation = store.log.create(SCOPE)
    head = None
    for start in range(0, 5_000, 500):
        batch = user_messages(*(f"message {number}" for number in range(start, start + 500)))
        head = store.log.append(conversation.id, batch, parent=head, expect=head)[-1].id
    path = store.log.path(head)
    assert words(path) == [f"message {number}" for number in range(5_000)]
    assert store.log.tail(head, 3) == path[-3:]
    counts = {message.id: message.depth for message in path}
    store.log.set_tokens("exact", counts)
    assert store.log.tokens("exact", list(counts) * 2) == counts
    assert count(store, "branches") == 1


def test_a_beginning_of_the_id_is_enough_if_it_is_clear(store):
    conversation, _ = talk(store, "a")
    assert store.log.get(conversation.id[:-1]) == conversation
    assert store.log.get(conversation.id[:-1].upper()) == conversation
    with pytest.raises(NotFound):
        store.log.get(conversation.id[:7])
    others = [store.log.create(SCOPE) for _ in range(3)]
    with pytest.raises(BadRequest):
        store.log.get(others[0].id[:8])


def test_other_scopes_do_not_exist(store):
    mine, _ = talk(store, "secret", external_id="x")
    strangers = [Scope("eve"), Scope(project="other"), Scope(kind="group")]
    for scope in strangers:
        for name in (mine.id, mine.id[:-2]):
            with pytest.raises(NotFound) as theirs:
                store.log.get(name, scope)
            assert str(theirs.value) == f"conversation '{name}' not found"
        assert store.log.recent(scope) == []
        assert store.log.by_external_id(scope, "x") == []
    assert store.log.get(mine.id, SCOPE) == mine
    # Someone else's conversation must not make an id ambiguous either.
    store.log.create(strangers[0])
    assert store.log.get(mine.id[:12], SCOPE) == mine


def test_anchors_are_found_in_their_own_scope_newest_first(store):
    def append_anchors(scope, *anchors, now):
        conversation = store.log.create(scope)
        new = [NewMessage(Message.of("user", anchor), anchor=anchor) for anchor in anchors]
        return store.log.append(conversation.id, new, parent=None, expect=None, now=now)

    old = append_anchors(SCOPE, "a", "b", now=1.0)
    new = append_anchors(SCOPE, "a", now=2.0)
    for scope in (Scope("eve"), Scope(project="other"), Scope(kind="group")):
        append_anchors(scope, "a", "b", now=3.0)
    hits = store.log.find_anchors(SCOPE, ["a", "b", "a", "nothing"])
    assert [(hit.anchor, hit.message, hit.depth) for hit in hits] == [
        ("a", new[0].id, 0),
        ("b", old[1].id, 1),
        ("a", old[0].id, 0),
    ]
    assert (hits[0].tree, hits[0].created_at) == (new[0].tree, 2.0)
    assert store.log.find_anchors(SCOPE, ["a", "b"], limit=1) == hits[:1]
    assert store.log.find_anchors(SCOPE, []) == []
    many = [f"none {number}" for number in range(12_000)]
    assert store.log.find_anchors(SCOPE, [*many, "a", "b"]) == hits


def test_conversations_are_listed_page_by_page_newest_first(store):
    made = [store.log.create(SCOPE, title=str(number), now=float(number // 2)) for number in range(7)]
    store.log.create(Scope("eve"))
    pages, before = [], None
    while page := store.log.recent(SCOPE, 3, before):
        pages.append([conversation.title for conversation in page])
        before = (page[-1].updated_at, page[-1].id)
    assert pages == [["6", "5", "4"], ["3", "2", "1"], ["0"]]
    store.log.append(made[0].id, user_messages("hello"), parent=None, expect=None, now=50.0)
    assert store.log.recent(SCOPE, 1)[0].id == made[0].id


def test_user_sees_only_own_conversations_and_their_scopes(store):
    garden, chess = Scope(project="garden"), Scope(project="chess", kind="group")
    made = [store.log.create(scope) for scope in (Scope(), garden, garden, chess, Scope("eve", "secret"))]
    names = [row.id for row in made]
    assert {row.id for row in store.log.of_user("default", [*names, "c_gone"])} == set(names[:4])
    assert store.log.of_user("default", []) == []
    assert set(store.log.scopes("default")) == {Scope(), garden, chess}
    assert len(store.log.scopes("default")) == 3


def test_an_id_of_another_tool_finds_its_conversations(store):
    first = store.log.create(SCOPE, external_id="chat-1", now=1.0)
    second = store.log.create(SCOPE, external_id="chat-1", now=2.0)
    store.log.create(SCOPE)
    assert store.log.by_external_id(SCOPE, "chat-1") == [second, first]
    assert store.log.by_external_id(SCOPE, "") == []


def test_title_and_settings_change_without_moving_the_conversation(store):
    conversation, _ = talk(store, "a")
    assert store.log.rename(conversation.id, "new").title == "new"
    store.log.update_settings(conversation.id, {"memory": "off", "deep": {"a": [1]}})
    changed = store.log.update_settings(conversation.id, {"memory": None, "x": 1})
    assert changed.settings == {"named": True, "deep": {"a": [1]}, "x": 1}
    assert (changed.version, changed.updated_at) == (conversation.version, conversation.updated_at)


def test_token_counts_are_kept_for_each_counter(store):
    _, (a, b) = talk(store, "a", "b")
    store.log.set_tokens("qwen", {a.id: 3, b.id: 4})
    store.log.set_tokens("llama", {a.id: 9})
    store.log.set_tokens("qwen", {a.id: 5})
    store.log.set_tokens("qwen", {})
    assert store.log.tokens("qwen", [a.id, b.id, "m_missing"]) == {a.id: 5, b.id: 4}
    assert store.log.tokens("llama", [a.id, b.id]) == {a.id: 9}
    with pytest.raises(Conflict):
        store.log.set_tokens("qwen", {"m_missing": 1})
