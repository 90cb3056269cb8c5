"""An answer that is no usable summary is refused with the reason that helps most; a usable one never is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.compaction.summariser import find_problem, strip_answer
from holdfast.compaction.summary import Summary
from tests.compaction.answers import ANSWERS, GOOD_DE, GOOD_EN, SOURCE_EN, Answer

CODES = ("", "empty", "tool_markup", "cut_off", "echo", "larger", "language", "sections", "loops")


def tokens(text: str) -> int:
    return (len(text) + 3) // 4


def judged(answer: str, source: str = SOURCE_EN, language: str = "en", finish: str | None = "stop") -> str:
    return find_problem(answer, source, language, finish=finish, room=600, count=tokens)


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: f"{answer.language}: {answer.name}")
def test_each_answer_is_judged_rightly(answer: Answer):
    assert judged(answer.text, answer.source, answer.language, answer.finish) == answer.trouble


@pytest.mark.parametrize(
    "answer", [answer for answer in ANSWERS if not answer.trouble], ids=lambda answer: answer.name
)
def test_what_may_be_used_can_be_read(answer: Answer):
    read = Summary.parse(strip_answer(answer.text), answer.language)
    assert read is not None
    assert read.requests or read.goal


def test_every_reason_has_an_example():
    assert {answer.trouble for answer in ANSWERS} == set(CODES)


def test_summary_quoting_source_verbatim_is_not_an_echo():
    quotes = [line for line in SOURCE_EN.replace("\n", " ").split(". ") if line]
    sections = ("Requests", "Goal", "Done", "Open", "Must not")
    text = "\n".join(
        f"## {name}\n- {quote.partition(': ')[2] or quote}"
        for name, quote in zip(sections, quotes[3:8], strict=True)
    )
    assert judged(text) == ""


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "<think>hm</think>{}",
        "hm, five sections\n</think>\n\n{}",
        "<thinking>\nlong\n</thinking>\n{}",
        "Sure!\n\nHere is the summary:\n\n{}",
        "```\n{}\n```",
        "Here you go:\n```markdown\n{}\n```",
        "```md\n{}",
        "Zusammenfassung:\n\n{}",
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>",
        "{}<|im_end|>",
    ],
)
@pytest.mark.parametrize("summary", [GOOD_EN.strip(), GOOD_DE.strip()], ids=["en", "de"])
def test_what_models_put_around_an_answer_is_taken_off(around, summary):
    assert strip_answer(around.format(summary)) == summary


def test_code_within_an_answer_stays():
    text = "```sh\nmake deploy\n```\nis what failed, then\n```sh\nmake test\n```"
    assert strip_answer(text) == text


def test_an_answer_before_its_thinking_is_kept():
    assert strip_answer(f"{GOOD_EN}<think>was that all?") == GOOD_EN.strip()


# What an answer of 50,000 tokens may be made of, to make a careless pattern go over it again and again.
ENDLESS = {
    "line breaks": "\n" * 200_000,
    "spaces": "## Goal\n" + " " * 200_000 + "x",
    "open tags": "<think>" * 30_000,
    "closed tags": "</think>" * 25_000,
    "fences": "```\n" * 50_000,
    "backticks": "`" * 200_000,
    "quotes": '"' * 200_000,
    "one word": "a" * 200_000,
    "stars": "*" * 200_000,
    "hashes": "# " * 100_000,
    "announcements": "sure " * 40_000,
    "braces": '{"name":' * 25_000,
    "lines": "- a line of the list\n" * 10_000,
    "words": " ".join(f"word{number}" for number in range(25_000)),
    "labels": "user: \n" * 30_000,
}


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS.keys())
def test_endless_answer_is_rejected_without_repeated_scanning(text):
    # Each takes milliseconds; with a pattern that is quadratic this would not end.
    assert judged(text, source=text) in CODES[1:]


@given(st.text(), st.text(), st.sampled_from(("de", "en")), st.sampled_from(("stop", "length", None)))
def test_any_answer_gets_a_known_code(answer, source, language, finish):
    assert find_problem(answer, source, language, finish=finish, room=100, count=tokens) in CODES
