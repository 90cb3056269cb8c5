"""Whatever people say, and however clients mangle it: what belongs together stays together, nothing else."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.messages import Message, Scope
from holdfast.store import open_store
from tests.conversations.builders import Talk, answer, system, user

pytestmark = pytest.mark.slow

# A fixture of the module is the same store for every example; a scope of its own keeps them apart.
often = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
sometimes = settings(often, max_examples=10)
_numbers = itertools.count()

said = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=60).filter(
    lambda text: bool(text.strip())
)
# Questions may be the same ones again and again; answers are as different as those of a model.
questions = st.one_of(st.sampled_from(["continue", "Warum?", "And now?", "ok"]), said)


@pytest.fixture(scope="module")
def shared():
    with open_store("sqlite://") as opened:
        yield opened


def fresh(store) -> Talk:
    return Talk(store, Scope(user=f"p{next(_numbers)}"))


def unique(number: int) -> str:
    return f"Answer {number}: the tide at pier {number} turns {number} minutes later than the day before."


def spaced(message: Message, noise: int) -> Message:
    """The message as a careless client sends it back."""
    text = message.text
    if noise & 1:
        text = f"\n {text}\n\n"
    if noise & 2:
        text = text.replace(" ", "  ")
    if message.role == "assistant" and noise & 4:
        text = f"<think>\nHm, {noise}.\n</think>\n\n{text}"
    if message.role == "user" and noise & 8:
        text = f"<system-reminder>\nIt is day {noise}.\n</system-reminder>\n{text}"
    return Message.of(message.role, text)


@often
@given(
    st.lists(questions, min_size=1, max_size=5),
    st.lists(st.integers(0, 15), min_size=12, max_size=12),
    questions,
)
def test_a_resent_history_always_finds_its_conversation(shared, asked, noises, newest):
    talk, history = fresh(shared), []
    for number, question in enumerate(asked):
        sent = [spaced(item, noises[i % 12]) for i, item in enumerate(history)]
        placement, conversation = talk.say(*sent, user(question), answered=unique(number))
        assert [new.message.text for new in placement.new] == [question]
        history += [user(question), answer(unique(number))]
    sent = [spaced(entry, noises[i % 12]) for i, entry in enumerate(history)]
    placement = talk.place(system("It is 11:59:59."), *sent, user(newest))
    assert placement.conversation == conversation
    assert [new.message.text for new in placement.new] == [newest]
    assert len(talk.conversations()) == 1


@often
@given(
    questions,
    st.lists(st.tuples(st.integers(0, 3), questions, st.integers(0, 15)), min_size=2, max_size=12),
)
def test_conversations_with_the_same_first_question_never_merge(shared, first, turns):
    talk, numbers = fresh(shared), itertools.count()
    histories: dict[int, list[Message]] = {}
    homes: dict[int, str] = {}
    for who, question, noise in turns:
        history = histories.setdefault(who, [])
        asked = user(question if history else first)
        reply = unique(next(numbers))
        _, conversation = talk.say(*(spaced(item, noise) for item in history), asked, answered=reply)
        assert homes.setdefault(who, conversation) == conversation
        history += [asked, answer(reply)]
    assert len(set(homes.values())) == len(homes)
    for who, conversation in homes.items():
        assert talk.told(conversation) == [entry.text for entry in histories[who]]


@often
@given(st.lists(questions, min_size=2, max_size=5), st.data())
def test_an_edit_anywhere_forks_right_there(shared, asked, data):
    talk, history = fresh(shared), []
    for number, question in enumerate(asked):
        _, conversation = talk.say(*history, user(question), answered=unique(number))
        history += [user(question), answer(unique(number))]
    at = data.draw(st.integers(1, len(asked) - 1))
    edited = user("Entirely different words, at this place.")
    placement = talk.place(*history[: 2 * at], edited)
    assert (placement.conversation, placement.forks) == (conversation, True)
    assert talk.store.log.message(placement.parent).message == history[2 * at - 1]
    assert [new.message for new in placement.new] == [edited]


@sometimes
@given(st.integers(4, 8), st.data())
def test_a_history_cut_in_front_is_found_among_others(shared, length, data):
    talk = fresh(shared)
    homes, histories = [], []
    for who in range(3):
        history: list[Message] = []
        for number in range(length):
            question = user(f"Question {number}, as everybody asks it.")
            reply = unique(100 * who + number)
            _, conversation = talk.say(*history, question, answered=reply)
            history += [question, answer(reply)]
        homes.append(conversation)
        histories.append(history)
    who = data.draw(st.integers(0, 2))
    keep = data.draw(st.integers(1, length))
    placement = talk.place(*histories[who][-2 * keep :], user("And what now?"))
    assert placement.conversation == homes[who]
    assert [new.message.text for new in placement.new] == ["And what now?"]


@often
@given(st.lists(questions, min_size=1, max_size=4))
def test_sending_a_request_twice_changes_nothing(shared, asked):
    talk, history = fresh(shared), []
    for number, question in enumerate(asked):
        sent = [*history, user(question)]
        _, conversation = talk.say(*sent, answered=unique(number))
        if number:
            again = talk.place(*sent)
            assert (again.conversation, again.new) == (conversation, ())
            assert talk.store.log.message(again.parent).message == user(question)
        history = [*sent, answer(unique(number))]
