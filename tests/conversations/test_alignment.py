from hypothesis import given
from hypothesis import strategies as st

from holdfast.conversations.alignment import Likeness, align
from holdfast.messages import ToolCall
from tests.conversations.builders import Row, answer, result, rows, system, user

Q1, A1 = user("Which herbs like shade?"), answer("Woodruff and mint do, most of the time.")
Q2, A2 = user("How often do I water them?"), answer("Whenever the soil feels dry to the finger.")
Q3, A3 = user("And in winter?"), answer("Half as much, and only in the morning.")


def test_a_history_that_goes_on_is_matched_to_its_end():
    lined_up = align(rows(Q1, A1, Q2, A2), [Q1, A1, Q2, A2, Q3])
    assert (lined_up.start, lined_up.reach, lined_up.own, lined_up.proven) == (4, 4, 2, 2)
    assert lined_up.regular


def test_system_messages_are_passed_over_wherever_they_stand():
    sent = [system("It is 10:00."), Q1, system("Tools changed."), A1, Q2, system("Be brief.")]
    lined_up = align(rows(Q1, A1), sent)
    assert (lined_up.start, lined_up.reach, lined_up.proven) == (4, 2, 1)


def test_an_edited_question_ends_the_match_before_it():
    lined_up = align(rows(Q1, A1, Q2, A2, Q3, A3), [Q1, A1, user("How much light do they need?")])
    assert (lined_up.start, lined_up.reach) == (2, 2)


def test_question_extended_by_a_line_is_treated_as_edit():
    lined_up = align(rows(Q1, A1, Q2, A2), [Q1, A1, user("How often do I water them?\nIn July, I mean.")])
    assert (lined_up.start, lined_up.reach) == (2, 2)


def test_a_dressed_question_is_the_same_when_the_same_answer_follows():
    page = user("### Task:\nUse these pages.\n<pages/>\n\nWhich herbs like shade?")
    lined_up = align(rows(page, A1), [Q1, A1, Q2])
    assert (lined_up.start, lined_up.reach, lined_up.proven) == (2, 2, 1)
    assert lined_up.pairs[0].like is Likeness.PART


def test_a_repeated_question_is_matched_and_nothing_is_new():
    lined_up = align(rows(Q1, A1, Q2, A2), [Q1, A1, Q2])
    assert (lined_up.start, lined_up.reach) == (3, 3)


def test_another_answer_to_the_same_question_parts_the_histories():
    lined_up = align(rows(Q1, A1, Q2, A2, Q3, A3), [Q1, answer("Ferns."), Q2, A2, Q3])
    assert (lined_up.start, lined_up.reach, lined_up.proven) == (1, 1, 0)


def test_a_history_that_lacks_its_beginning_is_found_at_its_end():
    lined_up = align(rows(Q1, A1, Q2, A2), [Q2, A2, Q3])
    assert (lined_up.start, lined_up.reach, lined_up.skipped, lined_up.proven) == (2, 4, 2, 1)
    assert not lined_up.regular


def test_shortened_history_of_repeated_words_aligns_at_right_place():
    again, ok = user("continue"), answer("Done, and the next step is ready for you.")
    stored = rows(Q1, A1, again, ok, again, ok, again, ok)
    lined_up = align(stored, [again, ok, again, ok, Q3])
    assert (lined_up.start, lined_up.reach) == (4, 8)


def test_rewritten_client_message_at_same_position_is_skipped():
    old, new, ok = user("Files:\na.py: 1"), user("Files:\na.py: 2\nb.py: 1"), answer("Ok, I see the files.")
    stored = [Row(old), Row(ok), *rows(Q1, A1)]
    lined_up = align(stored, [new, ok, Q1, A1, Q2])
    assert (lined_up.start, lined_up.reach, lined_up.rewritten, lined_up.inserted) == (4, 4, 1, 0)


def test_summary_replacing_old_exchanges_counts_as_inserted():
    lined_up = align(rows(Q1, A1, Q2, A2, Q3, A3), [user("Earlier: herbs."), answer("Noted."), Q3, A3, Q1])
    assert (lined_up.inserted, lined_up.skipped, lined_up.grown) == (2, 4, False)
    assert lined_up.reach == 6


def test_more_in_the_middle_than_there_was_is_growth():
    strange = [user("Who won?"), answer("The reds."), user("By how much?"), answer("By two goals.")]
    assert align(rows(Q1, A1, Q2, A2), [Q1, A1, *strange, Q2, A2]).grown


def test_answers_glued_together_cover_both_that_they_were_made_of():
    stored = rows(Q1, A1, answer("And sweet woodruff, which is another thing."))
    glued = answer(A1.text + "And sweet woodruff, which is another thing.")
    lined_up = align(stored, [Q1, glued, Q2])
    assert (lined_up.start, lined_up.reach, lined_up.proven) == (2, 3, 1)


def test_answer_moved_before_a_hint_is_still_aligned():
    stored = rows(Q1, A1, user("Add details"), answer("Woodruff, mint, and most of the ferns, too."))
    lined_up = align(stored, [Q1, answer("Woodruff, mint, and most of the ferns, too."), Q2])
    assert (lined_up.start, lined_up.reach, lined_up.skipped) == (2, 4, 2)


def test_an_answer_hung_elsewhere_may_have_gone_on_as_well():
    longer, rest = "Woodruff, mint, and most of the ferns, too.", "Moss does not count as a herb."
    stored = rows(Q1, A1, user("Add details"), answer(longer), answer(rest))
    lined_up = align(stored, [Q1, answer(longer + rest), Q2])
    assert (lined_up.start, lined_up.reach) == (2, 5)


def test_an_answer_that_a_client_brought_along_is_not_our_own():
    stored = [Row(Q1), Row(A1), *rows(Q2, A2)]
    lined_up = align(stored, [Q1, A1, Q2, A2, Q3])
    assert (lined_up.own, len(lined_up.pairs)) == (1, 4)


def test_the_ids_of_calls_tell_equal_tool_loops_apart():
    def loop(name):
        return [Q1, answer("", ToolCall("ls", "{}", name)), result(name, f"output of {name}")]

    assert align(rows(*loop("one")), [*loop("one"), A1]).proven == 1
    assert align(rows(*loop("one")), [*loop("two"), A1]).proven == 0


def test_nothing_against_nothing_is_no_match():
    assert align([], []).pairs == ()
    assert align([], [Q1]).start == 0
    assert align(rows(Q1), []).reach == 0


few_words = st.sampled_from(["a", "b", "continue", "Ok.", "a\nb", "a long enough sentence about nothing"])
messages = st.lists(
    st.tuples(st.booleans(), few_words).map(lambda one: (user if one[0] else answer)(one[1])), max_size=120
)


@given(messages, messages)
def test_the_work_grows_with_the_length_and_not_with_its_square(stored, sent):
    lined_up = align(rows(*stored), sent)
    assert lined_up.compared <= 40 * (len(stored) + len(sent)) + 40


@given(messages, messages)
def test_pairs_go_forward_in_both_and_lie_before_the_new_part(stored, sent):
    lined_up = align(rows(*stored), sent)
    for item, other in zip(lined_up.pairs, lined_up.pairs[1:], strict=False):
        assert item.sent < other.sent
        assert item.stored < other.stored
    assert all(pair.sent < lined_up.start for pair in lined_up.pairs)
    assert all(pair.stored < lined_up.reach for pair in lined_up.pairs)


@given(messages)
def test_a_history_is_always_its_own_beginning(stored):
    lined_up = align(rows(*stored), [*stored, user("something new, never said before")])
    assert lined_up.reach == len(stored)
    assert lined_up.start == len(stored)
