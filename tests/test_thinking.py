"""What a model thought inside its text is told from what it said, whatever way it is marked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.messages import Message, Text, Thinking, ToolCall
from holdfast.thinking import spoken, without_thinking

WAYS = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ('<details type="reasoning" done="true" duration="3">', "</details>"),
]
MARKS = "<>/[]`~|\n thinkTHINK:◁▷"
# Words without marks: what is said, and what is thought.
PLAIN = st.text("abc äß.,!?\n", max_size=40)


@pytest.mark.parametrize(("begin", "end"), WAYS)
def test_every_way_to_mark_it_is_known(begin, end):
    assert without_thinking(f"{begin}\nFour? No.\n{end}\n\nIt is five.") == "It is five."
    assert without_thinking(f"Well. {begin}hm{end}Five.") == "Well. Five."
    assert without_thinking(f"{begin}Four?{end}Five.\n{begin}Sure?{end}Yes.") == "Five.\nYes."


@pytest.mark.parametrize(("begin", "end"), WAYS)
def test_answer_cut_off_while_thinking_has_no_visible_text(begin, end):
    assert without_thinking(f"{begin}Four, or") == ""
    assert without_thinking(f"Let me see.\n\n{begin}\nFour, or") == "Let me see."


@pytest.mark.parametrize(("begin", "end"), WAYS[:-1])
def test_what_the_template_opened_only_has_an_end(begin, end):
    assert without_thinking(f"Four? No.\n{end}\n\nFive.") == "Five."


@pytest.mark.parametrize(
    "text",
    [
        "The `<think>` tag begins it, and `</think>` ends it.",
        "Models write <think> first.",
        "A </think> in a sentence is one.",
        "```\n<think>\nx\n</think>\n```\nThat is how.",
        "~~~xml\n</think>\n~~~",
        "````md\n```\n<think>\n```\n````\nThat is how.",
        "```html\n<details>\n<think>",
        "I think, therefore I am.",
        "<details>\nmore\n</details>\nEnd.",
        "",
    ],
)
def test_what_is_no_thinking_stays_to_the_last_sign(text):
    assert without_thinking(text) == text


def test_thinking_may_have_code_in_it_that_is_never_closed():
    assert without_thinking("<think>\n```py\nprint(4)\n</think>\n\nFive.") == "Five."
    assert without_thinking("<think>use <think> here</think>\nFive.") == "Five."


SAID = st.tuples(st.just("said"), PLAIN)
CODE = st.tuples(st.just("code"), st.sampled_from([mark for way in WAYS for mark in way]))
THOUGHT = st.tuples(st.sampled_from(WAYS), PLAIN)


@given(st.lists(SAID | CODE | THOUGHT, max_size=8))
def test_all_that_was_said_stays_and_nothing_that_was_thought(pieces):
    text = content = ""
    for kind, words in pieces:
        if kind == "said":
            text, content = text + words, content + words
        elif kind == "code":
            block = f"\n```\n{words}\n```\n"
            text, content = text + block, content + block
        else:
            begin, end = kind
            text += f"{begin}SECRET{words}{end}"
    assert "SECRET" not in without_thinking(text)
    assert without_thinking(text).split() == content.split()


@given(st.text(MARKS, max_size=80))
def test_removing_thinking_keeps_remaining_characters_in_order(text):
    rest = iter(text)
    assert all(sign in rest for sign in without_thinking(text))


def test_only_answers_are_looked_at_and_parts_keep_their_places():
    thought = Text("<think>hm</think>Five.")
    call = ToolCall("c1", "add", "{}")
    answer = Message("assistant", (Thinking("own"), thought, call))
    assert spoken(answer).parts == (Thinking("own"), Text("Five."), call)
    question = Message("user", (thought,))
    assert spoken(question) is question
    plain = Message.of("assistant", "Five.")
    assert spoken(plain) is plain
