"""Deleting a conversation removes all its words, and none of anybody else's."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.errors import NotFound
from holdfast.messages import Message
from tests.contract.test_store import SCOPE, count, talk, user_messages, words

pytestmark = pytest.mark.slow

TABLES = (
    "branches",
    "messages",
    "message_tokens",
    "conversations",
    "drafts",
    "decisions",
    "compactions",
    "prompts",
)


def test_deleting_a_conversation_leaves_nothing_of_it(store):
    conversation, (a, b) = talk(store, "a", "b")
    store.log.append(conversation.id, user_messages("side"), parent=a.id, expect=None, move_head=False)
    store.log.set_tokens("exact", {a.id: 1, b.id: 2})
    prompt = store.prompts.keep([Message.of("system", "you know that a said b")])
    job = store.jobs.start(SCOPE, conversation=conversation.id, prompt=prompt)
    store.drafts.save(job.id, conversation.id, b.id, Message.of("assistant", "well"))
    cut = {"messages": [a.id], "tokens_before": 2, "tokens_after": 1}
    store.decisions.record("lane", conversation.id, kind="cut", rule="r", **cut)
    store.compactions.record(
        conversation.id, lane="lane", level=1, strategy="s", messages=1, tokens_before=2, tokens_after=1
    )
    store.log.delete(conversation.id)
    assert {table: count(store, table) for table in TABLES} == dict.fromkeys(TABLES, 0)
    assert (store.jobs.get(job.id).conversation, store.jobs.get(job.id).prompt) == (None, None)
    with pytest.raises(NotFound):
        store.log.delete(conversation.id)


def test_a_prompt_that_others_sent_too_stays(store):
    mine, _ = talk(store, "a")
    other, _ = talk(store, "b")
    prompt = store.prompts.keep([Message.of("system", "be kind")])
    for conversation in (mine, other):
        store.jobs.start(SCOPE, conversation=conversation.id, prompt=prompt)
    store.log.delete(mine.id)
    assert store.prompts.get(prompt).system == (Message.of("system", "be kind"),)
    store.log.delete(other.id)
    with pytest.raises(NotFound):
        store.prompts.get(prompt)


def test_deleting_a_fork_removes_only_its_own_words(store):
    conversation, (_, b, c) = talk(store, "a", "b", "c")
    fork = store.log.fork(conversation.id, b.id)
    (d,) = store.log.append(fork.id, user_messages("mine alone"), parent=b.id, expect=b.id)
    (e,) = store.log.append(fork.id, user_messages("and its sibling"), parent=d.id, expect=d.id)
    store.log.append(fork.id, user_messages("another answer"), parent=d.id, expect=e.id)
    store.log.delete(fork.id)
    assert words(store.log.path(c.id)) == ["a", "b", "c"]
    assert (count(store, "messages"), count(store, "branches")) == (3, 1)


def test_deleting_the_origin_leaves_what_the_fork_shares(store):
    conversation, (_, b, _) = talk(store, "a", "b", "c")
    fork = store.log.fork(conversation.id, b.id)
    store.log.delete(conversation.id)
    assert words(store.log.path(b.id)) == ["a", "b"]
    assert count(store, "messages") == 2
    (d,) = store.log.append(fork.id, user_messages("d"), parent=b.id, expect=b.id)
    assert words(store.log.path(d.id)) == ["a", "b", "d"]
    store.log.delete(fork.id)
    assert (count(store, "messages"), count(store, "branches")) == (0, 0)


def test_deleting_one_of_two_equal_heads_removes_no_message(store):
    conversation, (_, b) = talk(store, "a", "b")
    fork = store.log.fork(conversation.id, b.id)
    store.log.delete(conversation.id)
    assert words(store.log.path(fork.head)) == ["a", "b"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=10)
@given(seed=st.integers(0, 2**32))
def test_whoever_is_deleted_the_others_keep_every_word(store, seed):
    chance = random.Random(seed)
    first, messages = talk(store, "root", "next")
    alive = {first.id: words(messages)}
    for number in range(12):
        name = chance.choice(list(alive))
        head = store.log.get(name).head
        path = store.log.path(head)
        if chance.random() < 0.5:
            point = chance.choice(path)
            fork = store.log.fork(name, point.id)
            alive[fork.id] = words(path[: point.depth + 1])
        else:
            parent = chance.choice(path)
            store.log.append(name, user_messages(f"word {number}"), parent=parent.id, expect=head)
            alive[name] = [*words(path[: parent.depth + 1]), f"word {number}"]
    for name in chance.sample(list(alive), len(alive)):
        store.log.delete(name)
        del alive[name]
        for other, expected in alive.items():
            assert words(store.log.path(store.log.get(other).head)) == expected
    assert store.log.conversations_of(first.tree) == []


def test_deleting_a_conversation_that_went_back_to_nothing_harms_no_other(store):
    conversation, (a, b) = talk(store, "a", "b")
    fork = store.log.fork(conversation.id, a.id)
    store.log.set_head(conversation.id, None, expect=b.id)
    store.log.delete(conversation.id)
    assert words(store.log.path(fork.head)) == ["a"]
