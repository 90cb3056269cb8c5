"""Messages and decisions are found by what people type: an id, the beginning of one, a number."""

import pytest

from holdfast.conversations import lanes
from holdfast.conversations.named import decision_named, message_named
from holdfast.errors import BadRequest, NotFound
from holdfast.messages import Message
from holdfast.store import NewMessage


@pytest.fixture
def row(talk):
    log = talk.store.log
    made = log.create(talk.scope)
    said = [NewMessage(Message.of("user", text)) for text in ("one", "two", "three")]
    log.append(made.id, said, parent=None, expect=None)
    return log.get(made.id)


def test_a_message_goes_by_its_id_and_by_its_number(talk, row):
    ids = talk.store.log.path_ids(row.head)
    assert [message_named(talk.store, row, name).message.text for name in ids] == ["one", "two", "three"]
    assert [message_named(talk.store, row, number).id for number in ("1", "2", "3")] == ids


def test_a_beginning_is_enough_as_long_as_it_means_one(talk, row):
    ids = talk.store.log.path_ids(row.head)
    clear = next(n for n in range(8, 29) if sum(one.startswith(ids[0][:n]) for one in ids) == 1)
    assert message_named(talk.store, row, ids[0][:clear].upper()).id == ids[0]
    with pytest.raises(BadRequest, match="Give more of the id"):
        message_named(talk.store, row, ids[0][:8])


@pytest.mark.parametrize(
    "name", ["", "m_", "m_zzzzzzzzz", "0", "4", "99999999999999", "²", "m_%", "c_1234567"]
)
def test_a_name_that_means_nothing_is_not_found_and_says_where_to_look(talk, row, name):
    with pytest.raises(NotFound) as caught:
        message_named(talk.store, row, name)
    assert caught.value.hint


def test_a_message_that_was_edited_away_goes_by_its_whole_id(talk, row):
    log = talk.store.log
    ids = log.path_ids(row.head)
    edited = [NewMessage(Message.of("user", "other"))]
    log.append(row.id, edited, parent=ids[0], expect=row.head)
    moved = log.get(row.id)
    assert message_named(talk.store, moved, ids[2]).message.text == "three"
    assert message_named(talk.store, moved, "2").message.text == "other"


def test_a_message_of_another_conversation_is_not_found(talk, row):
    _, other = talk.say(Message.of("user", "elsewhere"), answered="Yes.")
    with pytest.raises(NotFound):
        message_named(talk.store, row, talk.store.log.get(other).head)


def test_a_decision_goes_by_its_id_or_a_beginning_while_it_is_in_force(talk, row):
    store, lane = talk.store, lanes.lane_id(row.id, 4096)
    store.lanes.put(lane, row.id, window=4096, state={}, report={}, expect=0)
    made = store.decisions.record(
        lane, row.id, kind="leave_out", rule="relevance", messages=[row.head], tokens_before=5, tokens_after=0
    )
    assert decision_named(store, row, made.id) == made.id
    assert decision_named(store, row, made.id[:12]) == made.id
    store.decisions.remove(made.id)
    with pytest.raises(NotFound, match="in force"):
        decision_named(store, row, made.id)
