"""Summaries on every backend: a chain along the way, no message covered twice, gone with their messages."""

import pytest

from holdfast.errors import Conflict, NotFound
from holdfast.messages import Message, Scope
from holdfast.store import NewMessage


def new_messages(*texts):
    return [NewMessage(Message.of(("user", "assistant")[at % 2], text)) for at, text in enumerate(texts)]


@pytest.fixture
def talk(store):
    """A conversation of eight messages, with another way beside it from the fifth on."""
    conversation = store.log.create(Scope())
    first = store.log.append(conversation.id, new_messages(*"abcdefgh"), parent=None, expect=None)
    beside = store.log.append(
        conversation.id, new_messages("E", "F"), parent=first[3].id, expect=first[-1].id, move_head=False
    )
    return conversation, first, beside


def put(store, covered, previous=None, **more):
    return store.summaries.put(
        covers=[item.id for item in covered], previous=previous, body={"said": len(covered)}, tokens=9, **more
    )


def test_a_summary_is_found_from_every_message_it_lies_before(store, talk):
    _, first, beside = talk
    response = put(store, first[:4], model="small", path="model", name="s_1", now=5.0)
    assert (response.id, response.depth, response.through, response.created_at) == (
        "s_1",
        3,
        first[3].id,
        5.0,
    )
    assert store.summaries.get("s_1") == response
    for message in (*first[3:], *beside):
        assert store.summaries.latest(message.id) == response
    for message in first[:3]:
        assert store.summaries.latest(message.id) is None, "it says what came later"
    assert store.summaries.get("s_none") is None


def test_each_summary_continues_its_predecessor_on_its_own_branch(store, talk):
    _, first, beside = talk
    response = put(store, first[:4])
    here, value = put(store, first[4:6], response.id), put(store, beside, response.id)
    assert store.summaries.of(first[-1].id) == [response, here]
    assert store.summaries.of(beside[-1].id) == [response, value]
    assert store.summaries.of(first[2].id) == []
    assert store.summaries.latest(first[-1].id) == here
    covered = [name for row in store.summaries.of(first[-1].id) for name in row.covers]
    assert covered == [message.id for message in first[:6]]


def test_who_comes_second_with_the_same_messages_is_told_so(store, talk):
    _, first, _ = talk
    response = put(store, first[:4])
    with pytest.raises(Conflict):
        put(store, first[:4])
    with pytest.raises(Conflict):
        put(store, first[:6])
    with pytest.raises(Conflict):
        put(store, first[2:4], response.id)
    put(store, first[4:6], response.id)
    with pytest.raises(Conflict):
        put(store, first[4:8], response.id)
    assert len(store.summaries.of(first[-1].id)) == 2


def test_summary_and_its_outbox_entries_are_saved_atomically(store, talk):
    _, first, _ = talk
    put(store, first[:4])

    def keep():
        store.outbox.put("summary", {"n": 1})
        put(store, first[:6])

    with pytest.raises(Conflict):
        store.atomically(keep)
    assert store.outbox.pending() == []


def test_shorter_summary_applies_beside_longer_summary_only_on_another_branch(store, talk):
    _, first, beside = talk
    far = put(store, first[:6])
    assert store.summaries.latest(beside[-1].id) is None, "it speaks of what was not said on this way"
    near = put(store, first[:4])
    assert store.summaries.latest(beside[-1].id) == near
    assert store.summaries.latest(first[-1].id) == far


def test_a_message_that_is_not_there_cannot_be_covered(store, talk):
    with pytest.raises(NotFound):
        store.summaries.put(covers=["m_missing"], previous=None, body={}, tokens=0)
    with pytest.raises(NotFound):
        store.summaries.latest("m_missing")


def test_they_are_forgotten_with_their_conversation(store, talk):
    conversation, first, _ = talk
    response = put(store, first[:4])
    two = put(store, first[4:6], response.id)
    store.log.delete(conversation.id)
    assert store.summaries.get(response.id) is None
    assert store.summaries.get(two.id) is None


def test_what_a_fork_shares_stays_for_it(store, talk):
    conversation, first, _ = talk
    fork = store.log.fork(conversation.id, first[5].id)
    response = put(store, first[:4])
    two = put(store, first[4:7], response.id)
    store.log.delete(conversation.id)
    assert store.summaries.latest(store.log.get(fork.id).head) == response
    assert store.summaries.get(two.id) is None, "it speaks of words that are gone"
