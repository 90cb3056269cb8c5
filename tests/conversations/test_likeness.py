import pytest

from holdfast.conversations.alignment import Likeness, anchor, compare_messages, is_wrapped, remove_blocks
from holdfast.messages import Image, Message, Text, Thinking, ToolCall, ToolResult
from tests.conversations.builders import answer, result, system, user

READ = ToolCall("read", '{"path": "a.py"}', "call_1")


def test_white_space_and_thinking_do_not_change_an_anchor():
    plain = anchor(answer("After thought: water in the morning."))
    assert (
        anchor(answer("<think>\nLet me see.\n</think>\n\nAfter thought:  water in the\nmorning.\n")) == plain
    )
    assert anchor(answer("\nAfter thought: water in the morning. ")) == plain
    assert anchor(answer("Let me see.\n</think>\nAfter thought: water in the morning.")) == plain
    moved = Message("assistant", (Thinking("Let me see."), Text("After thought: water in the morning.")))
    assert anchor(moved) == plain


def test_words_and_letter_case_do_change_an_anchor():
    assert anchor(user("Polish the table")) != anchor(user("polish the table"))
    assert anchor(user("Yes")) != anchor(answer("Yes"))


def test_reminders_of_a_program_do_not_change_an_anchor():
    text = "<system-reminder>\nToday is {}.\n</system-reminder>\n\nWhat is new?"
    assert (
        anchor(user(text.format("Monday")))
        == anchor(user(text.format("Tuesday")))
        == anchor(user("What is new?"))
    )


def test_message_with_only_a_reminder_has_its_own_anchor():
    item = user("<environment_context>\n<date>1</date>\n</environment_context>")
    other = user("<environment_context>\n<date>2</date>\n</environment_context>")
    assert anchor(item) is not None
    assert anchor(item) != anchor(other)


def test_what_nobody_looks_up_has_no_anchor():
    assert anchor(system("You are helpful.")) is None
    assert anchor(result("call_1", "ok")) is None
    assert anchor(answer("")) is None


def test_a_picture_without_words_is_known_by_the_picture():
    message = Message("user", (Image(data="aGk="),))
    assert anchor(message) == anchor(Message("user", (Image(data="aGk="),)))
    assert anchor(message) != anchor(Message("user", (Image(data="aG8="),)))


def test_tool_calls_match_by_content_regardless_of_formatting():
    spaced = ToolCall("read", '{ "path":"a.py" }', "other")
    assert anchor(answer("Let me look.", READ)) == anchor(answer("", spaced))
    assert anchor(answer("", READ)) != anchor(answer("", ToolCall("read", '{"path": "b.py"}')))


@pytest.mark.parametrize(
    ("bare", "worn"),
    [
        ("And about rosemary?", "### Task:\nUse this.\n<context>\npages\n</context>\n\nAnd about rosemary?"),
        ("Explain greet", "Explain greet\n\n# Rules:\n\n- Be exact.\n"),
        ("one\ntwo", "zero\n one \n\n two\nthree"),
    ],
)  # fmt: skip
def test_a_question_inside_a_page_is_the_same_question(bare, worn):
    assert is_wrapped(bare, worn)
    assert compare_messages(user(worn), user(bare)) is Likeness.PART
    assert compare_messages(user(bare), user(worn)) is Likeness.PART


def test_half_a_line_is_not_the_same_question():
    assert not is_wrapped("And now?", "What was it? And now?")
    assert not is_wrapped("", "anything")


def test_continued_or_truncated_answer_is_part_of_the_other():
    first, whole = "There are two common ways.", "There are two common ways. The first is enough."
    assert compare_messages(answer(first), answer(whole)) is Likeness.PART
    assert compare_messages(answer(whole), answer("There are two common ways. The …")) is Likeness.PART
    assert compare_messages(answer("Ok."), answer("Ok. Then we start.")) is Likeness.DIFFERENT


def test_answers_that_share_most_words_are_alike_and_others_are_not():
    plain = "Basil and mint grow well on a sunny windowsill in summer."
    assert (
        compare_messages(answer(plain), answer("**Basil** and *mint* grow well on a sunny windowsill."))
        is Likeness.LOOSE
    )
    assert (
        compare_messages(answer(plain), answer("Thyme forgives nearly everything but wet feet."))
        is Likeness.DIFFERENT
    )


def test_the_same_call_under_another_id_proves_nothing():
    assert compare_messages(answer("", READ), answer("", READ)) is Likeness.EXACT
    assert (
        compare_messages(answer("", READ), answer("", ToolCall("read", '{"path": "a.py"}'))) is Likeness.EXACT
    )
    assert (
        compare_messages(answer("", READ), answer("", ToolCall("read", '{"path": "a.py"}', "call_9")))
        is Likeness.LOOSE
    )
    assert (
        compare_messages(answer("", READ), answer("", ToolCall("write", "{}", "call_1")))
        is Likeness.DIFFERENT
    )


def test_call_written_into_answer_text_is_recognised_as_call():
    written = answer('Let me look.\n<tool_call>{"name": "read", "arguments": {"path": "a.py"}}</tool_call>')
    assert compare_messages(written, answer("Let me look.", READ)) is Likeness.PART
    assert compare_messages(answer("Something else."), answer("Let me look.", READ)) is Likeness.DIFFERENT


def test_results_are_known_by_their_call_even_when_shortened():
    assert compare_messages(result("call_1", "long output"), result("call_1", "[cleared]")) is Likeness.EXACT
    assert compare_messages(result("call_1", "same"), result("call_2", "same")) is Likeness.LOOSE
    assert compare_messages(result("call_1", "one"), result("call_2", "two")) is Likeness.DIFFERENT
    nameless = Message("tool", (ToolResult((Text("same"),)),))
    assert compare_messages(result("call_1", "same"), nameless) is Likeness.EXACT


def test_blocks_are_taken_out_and_what_is_never_closed_stays():
    assert remove_blocks("a <think>b</think> c", ("think",)) == "a  c"
    assert remove_blocks("a <think>b", ("think",)) == "a <think>b"
    assert remove_blocks("a <think x='1'>b</think><b>c</b>", ("think",)) == "a <b>c</b>"
    many = "<think>" * 200_000
    assert remove_blocks(many, ("think",)) == many
