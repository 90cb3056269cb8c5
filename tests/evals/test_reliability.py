"""The checker of the crash campaign finds what was lost, doubled, moved or slipped in, and nothing else."""

import pytest

from evals.reliability_checks import Talk, check_copies, check_memories, check_talk

A, B, C = ("user", "a?"), ("user", "b?"), ("user", "c?")
A1, B1, CUT = ("assistant", "a."), ("assistant", "b."), ("assistant", "c, that is")


def make_talk():
    talk = Talk("/api/chat", "one", "c_1", exchanges=[("a?", "a."), ("b?", "b.")], pending="c?")
    talk.sent.update({"a?": 1, "b?": 2, "c?": 1})
    return talk


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ([A, A1, B, B1], []),
        # Nobody was promised what comes after the last acknowledged answer.
        ([A, A1, B, B1, C, CUT], []),
        ([A, A1, B], [("lost", "b.")]),
        ([], [("lost", "a?"), ("lost", "a."), ("lost", "b?"), ("lost", "b.")]),
        ([A, A1, B, B1, B, B1], [("doubled", "b?"), ("doubled", "b.")]),
        ([B, B1, A, A1], [("out of order", "b?"), ("out of order", "b.")]),
        ([A, A1, C, CUT, B, B1], [("stray", "c?"), ("stray", "c, that is")]),
        ([A, ("assistant", "another."), B, B1], [("lost", "a."), ("stray", "another.")]),
    ],
)
def test_a_talk_is_compared_message_by_message(path, expected):
    assert [(finding.kind, finding.what) for finding in check_talk(make_talk(), path)] == expected


def test_a_question_stands_in_no_more_chats_than_it_was_sent():
    paths = {"c_1": [A, A1, B, B1], "c_2": [A, B]}
    findings = list(check_copies([make_talk()], paths))
    assert [(finding.kind, finding.what) for finding in findings] == [("doubled", "a?")]


def test_every_acknowledged_memory_is_there_once():
    findings = list(check_memories(["kept", "gone", "twice"], ["kept", "twice", "twice", "other"], "notes"))
    assert [(finding.kind, finding.what) for finding in findings] == [("lost", "gone"), ("doubled", "twice")]
