"""Texts are cut where they have borders, code stays whole, and lines can be cited."""

import re
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.memory.index import CHUNK_SIZE, OVERLAP, split_chunks

PARAGRAPH = "The quick brown fox jumps over the lazy dog, again and again and again. " * 6


def test_a_short_text_is_one_part():
    (one,) = split_chunks("# Title\n\nA sentence.\n")
    assert (one.text, one.first, one.last, one.headings) == ("# Title\n\nA sentence.", 1, 3, ("Title",))


def test_nothing_gives_nothing():
    assert split_chunks("") == split_chunks("\n \n\t\n") == []


def test_a_heading_begins_a_part_and_its_parents_are_known():
    found = split_chunks("# A\none\n## B\ntwo\n### C\nthree\n## D\nfour\n")
    assert [one.headings for one in found] == [("A",), ("A", "B"), ("A", "B", "C"), ("A", "D")]
    assert [one.first for one in found] == [1, 3, 5, 7]


def test_long_text_is_cut_between_paragraphs_with_some_overlap():
    text = "\n\n".join(f"{number}. {PARAGRAPH}" for number in range(12))
    found = split_chunks(text)
    assert len(found) > 3
    assert all(len(one.text) <= CHUNK_SIZE for one in found)
    for before, after in pairwise(found):
        assert after.first <= before.last + 2
    assert OVERLAP < CHUNK_SIZE / 2


def test_a_block_of_code_is_never_cut_unless_it_is_data():
    code = "```python\n" + "\n".join(f"line_{number} = {number}" for number in range(200)) + "\n```"
    found = [one for one in split_chunks(f"{PARAGRAPH}\n\n{code}\n\n{PARAGRAPH}") if "line_" in one.text]
    assert len(found) == 1
    assert code in found[0].text
    data = "```\n" + "0123456789\n" * 5_000 + "```"
    assert len(split_chunks(data)) > 20


def test_hash_in_code_is_no_heading_and_open_fence_ends_chunk():
    (one,) = split_chunks("```sh\n# not a heading\nls\n")
    assert one.headings == ()


def test_a_memory_is_a_part_of_its_own_without_its_comment():
    comment = '<!-- holdfast {"id":"y_1","kind":"fact"} -->'
    text = f"# Memory\n\n## Facts\n\n- Arion is in Kiel.\n  {comment}\n- By hand.\n"
    memory, plain = split_chunks(text)
    assert (memory.memory, memory.kind, memory.text) == ("y_1", "fact", "Arion is in Kiel.")
    assert (memory.first, memory.last, memory.headings) == (5, 6, ("Memory", "Facts"))
    assert (plain.memory, plain.text) == ("", "- By hand.")
    assert [one.memory[:2] for one in split_chunks(text, by_hand=True)] == ["y_", "h_"]


def test_one_endless_line_is_cut_too():
    found = split_chunks("x" * 20_000)
    assert len(found) > 10
    assert {(one.first, one.last) for one in found} == {(1, 1)}


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.sampled_from(["# h", "", "word " * 30, "- item", "```", "plain", "äöü " * 200, "x" * 2_000]),
        max_size=40,
    )
)
def test_no_word_is_lost_and_lines_are_right(lines):
    text = "\n".join(lines)
    found = split_chunks(text)
    said = {word for one in found for word in re.findall(r"[^\W_]+", one.text) if len(word) < 100}
    assert {word for word in re.findall(r"[^\W_]+", text) if len(word) < 100} <= said
    for one in found:
        assert 1 <= one.first <= one.last <= len(lines)
        assert one.text.splitlines()[0].strip() in lines[one.first - 1]
