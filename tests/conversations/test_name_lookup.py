"""Messages and decisions are found by what people type: an id, the beginning of one, a number."""

import pytest

from holdfast.conversations import lanes
from holdfast.conversations.identity import find_answer, find_decision, find_message
from holdfast.errors import BadRequest, NotFound
from holdfast.messages import Message, Scope
from holdfast.store import NewMessage


@pytest.fixture
def row(talk):
    log = talk.store.log
    result = log.create(talk.scope)
    messages = [NewMessage(Message.of("user", text)) for text in ("one", "two", "three")]
    log.append(result.id, messages, parent=None, expect=None)
    return log.get(result.id)


def test_a_message_goes_by_its_id_and_by_its_number(talk, row):
    ids = talk.store.log.path_ids(row.head)
    assert [find_message(talk.store, row, name).message.text for name in ids] == ["one", "two", "three"]
    assert [find_message(talk.store, row, number).id for number in ("1", "2", "3")] == ids


def test_a_beginning_is_enough_as_long_as_it_means_one(talk, row):
    ids = talk.store.log.path_ids(row.head)
    clear = next(n for n in range(8, 29) if sum(item.startswith(ids[0][:n]) for item in ids) == 1)
    assert find_message(talk.store, row, ids[0][:clear].upper()).id == ids[0]
    with pytest.raises(BadRequest, match="Give more of the id"):
        find_message(talk.store, row, ids[0][:8])


@pytest.mark.parametrize(
    "name", ["", "m_", "m_zzzzzzzzz", "0", "4", "99999999999999", "²", "m_%", "c_1234567"]
)
def test_unknown_message_name_raises_not_found_with_hint(talk, row, name):
    with pytest.raises(NotFound) as caught:
        find_message(talk.store, row, name)
    assert caught.value.hint


def test_a_message_that_was_edited_away_goes_by_its_whole_id(talk, row):
    log = talk.store.log
    ids = log.path_ids(row.head)
    edited = [NewMessage(Message.of("user", "other"))]
    log.append(row.id, edited, parent=ids[0], expect=row.head)
    moved = log.get(row.id)
    assert find_message(talk.store, moved, ids[2]).message.text == "three"
    assert find_message(talk.store, moved, "2").message.text == "other"


def test_a_message_of_another_conversation_is_not_found(talk, row):
    _, other = talk.say(Message.of("user", "elsewhere"), answered="Yes.")
    with pytest.raises(NotFound):
        find_message(talk.store, row, talk.store.log.get(other).head)


def test_active_decision_is_found_by_id_or_prefix(talk, row):
    store, lane = talk.store, lanes.lane_id(row.id, 4096)
    store.lanes.put(lane, row.id, window=4096, state={}, report={}, expect=0)
    result = store.decisions.record(
        lane, row.id, kind="leave_out", rule="relevance", messages=[row.head], tokens_before=5, tokens_after=0
    )
    assert find_decision(store, row, result.id) == result.id
    assert find_decision(store, row, result.id[:12]) == result.id
    store.decisions.remove(result.id)
    with pytest.raises(NotFound, match="in force"):
        find_decision(store, row, result.id)


def answered(talk, row, text, parent):
    """One more answer behind a message, as the engine keeps it; gives the name that a client gets."""
    job = talk.store.jobs.start(talk.scope, conversation=row.id)
    talk.store.drafts.save(job.id, row.id, parent, Message("assistant", ()), "model")
    talk.store.drafts.finish(job.id, NewMessage(Message.of("assistant", text), job=job.id))
    talk.store.jobs.end(job.id, "done")
    return f"resp_{job.id}"


def test_an_answer_goes_by_its_job_on_every_branch(talk, row):
    names = [answered(talk, row, text, row.head) for text in ("this", "that")]
    answers = [find_answer(talk.store, talk.scope, name) for name in names]
    assert [answer.answer.message.text for answer in answers] == ["this", "that"]
    assert {item.conversation.id for item in answers} == {row.id}


def test_repeated_answer_resolves_to_original_for_good(talk, row):
    first, again = (answered(talk, row, "the same", row.head) for _ in range(2))
    answered(talk, row, "another", row.head)
    same = [find_answer(talk.store, talk.scope, name).answer.id for name in (first, again)]
    assert same[0] == same[1]


def test_an_answer_without_a_conversation_or_of_somebody_else_is_missing(talk, row):
    side = talk.store.jobs.start(talk.scope, kind="side")
    theirs = answered(talk, row, "mine", row.head)
    for scope, name in (
        (talk.scope, f"resp_{side.id}"),
        (talk.scope, "resp_"),
        (talk.scope, "resp_j_nothing"),
        (Scope(user="somebody else"), theirs),
    ):
        with pytest.raises(NotFound, match="not found") as caught:
            find_answer(talk.store, scope, name)
        assert name in str(caught.value)
