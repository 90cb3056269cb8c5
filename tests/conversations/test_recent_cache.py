"""The shortcut for histories that come back word for word: it finds those, and nothing that is in doubt."""

from dataclasses import replace

import pytest

from holdfast.conversations import Hints, RecentConversation, RecentConversationCache
from holdfast.messages import File, Image, Message, Opaque, Scope, Text, Thinking
from holdfast.store import MessageRecord

ME = Scope()
Q1, A1 = Message.of("user", "Which herbs like shade?"), Message.of("assistant", "Woodruff and mint.")
Q2, A2 = Message.of("user", "How often do I water them?"), Message.of("assistant", "When the soil is dry.")
HINTS = Hints(client="curl")


def path(*message: Message) -> tuple[MessageRecord, ...]:
    return tuple(
        MessageRecord(f"m_{at}", "t_1", "b_1", at, f"m_{at - 1}" if at else None, item, None, "", "", "", 0.0)
        for at, item in enumerate(message)
    )


def standing(*message: Message, conversation: str = "c_1") -> RecentConversation:
    return RecentConversation(conversation, "curl", "", path(*message))


@pytest.fixture
def standings():
    known = RecentConversationCache()
    known.add(ME, standing(Q1, A1))
    return known


def test_a_history_that_came_back_is_known_at_once(standings):
    assert standings.find(ME, HINTS, [Q1, A1, Q2]) == standing(Q1, A1)
    padded = Message.of("assistant", f"\n{A1.text} ")
    assert standings.find(ME, HINTS, [Q1, padded, Q2]) == standing(Q1, A1)


def test_thinking_that_a_client_leaves_out_makes_no_difference(standings):
    thought = Message("assistant", (Thinking("Dry or wet?"), Text(A2.text)))
    standings.add(ME, standing(Q1, A1, Q2, thought))
    assert standings.find(ME, HINTS, [Q1, A1, Q2, A2, Q1]) is not None


@pytest.mark.parametrize(
    ("scope", "hints", "messages"),
    [
        (Scope("anna"), HINTS, [Q1, A1, Q2]),
        (Scope(project="garden"), HINTS, [Q1, A1, Q2]),
        (ME, replace(HINTS, client="browser"), [Q1, A1, Q2]),
        (ME, replace(HINTS, external_id="open-webui:chat"), [Q1, A1, Q2]),
        (ME, HINTS, [Q1, A2, Q2]),
        (ME, HINTS, [Q2, A1, Q2]),
        (ME, HINTS, [A1, Q2]),
        (ME, HINTS, [Q1, A1]),
        (ME, HINTS, [Q1, A1, Q2, A2, Q1]),
        (ME, HINTS, [Q1]),
        (ME, HINTS, []),
    ],
    ids=["user", "project", "client", "chat", "answer", "question", "cut", "again", "more", "first", "none"],
)
def test_whatever_is_in_doubt_is_left_to_the_log(standings, scope, hints, messages):
    assert standings.find(scope, hints, messages) is None


@pytest.mark.parametrize(
    "part", [File("b.txt", data="Yg=="), Image(data="Yg=="), Opaque("openai", {"type": "audio", "n": 2})]
)
def test_another_file_picture_or_recording_is_another_question(part):
    known, text = RecentConversationCache(), Text("Summarise this.")
    first = {File: File("a.txt", data="YQ=="), Image: Image(data="YQ=="), Opaque: Opaque("openai", {"n": 1})}
    known.add(ME, standing(Message("user", (text, first[type(part)]))))
    assert known.find(ME, HINTS, [Message("user", (text, first[type(part)]))]) is not None
    assert known.find(ME, HINTS, [Message("user", (text, part))]) is None


def test_identical_conversations_are_resolved_by_the_log(standings):
    standings.add(ME, standing(Q1, A1, conversation="c_2"))
    assert standings.find(ME, HINTS, [Q1, A1, Q2]) is None
    standings.add(ME, standing(Q1, A1, Q2, A2, conversation="c_2"))
    assert standings.find(ME, HINTS, [Q1, A1, Q2, A2, Q1]).conversation == "c_2"


def test_unanswered_question_is_recognised_when_asked_again(standings):
    standings.add(ME, standing(Q1, A1, Q2))
    assert standings.find(ME, HINTS, [Q1, A1, Q2]) in (standing(Q1, A1), standing(Q1, A1, Q2))
    standings.add(ME, standing(Q2, conversation="c_3"))
    assert standings.find(ME, HINTS, [Q2]).conversation == "c_3"
    assert standings.find(ME, HINTS, [Q2, A2, Q1]) is None


def test_a_conversation_can_be_forgotten(standings):
    standings.forget("c_1")
    assert standings.find(ME, HINTS, [Q1, A1, Q2]) is None


def test_only_the_last_ones_are_remembered(standings):
    for number in range(300):
        standings.add(ME, standing(Message.of("user", f"Question {number}"), A1, conversation=f"c_{number}"))
    assert standings.find(ME, HINTS, [Q1, A1, Q2]) is None
    assert standings.find(ME, HINTS, [Message.of("user", "Question 299"), A1, Q2]) is not None


def test_very_long_histories_are_remembered_too(standings):
    messages = [message for _ in range(2_000) for message in (Q1, A1)]
    standings.add(ME, standing(*messages))
    assert standings.find(ME, HINTS, [*messages, Q2]) == standing(*messages)


def test_much_text_makes_the_oldest_give_way(standings):
    large = Message.of("user", "x" * 5_000_000), A1
    standings.add(ME, standing(*large, conversation="c_2"))
    assert standings.find(ME, HINTS, [Q1, A1, Q2]) is not None
    standings.add(ME, standing(*large, Q2, A2, conversation="c_2"))
    assert standings.find(ME, HINTS, [Q1, A1, Q2]) is None
    assert standings.find(ME, HINTS, [*large, Q2, A2, Q1]) is not None
