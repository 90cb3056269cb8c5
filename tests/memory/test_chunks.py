"""Texts are cut where they have borders, code stays whole, and lines can be cited."""

import re
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.memory.index import CHUNK_SIZE, OVERLAP, split_chunks

PARAGRAPH = "The quick brown fox jumps over the lazy dog, again and again and again. " * 6


def test_a_short_text_is_one_part():
    (item,) = split_chunks("# Title\n\nA sentence.\n")
    assert (item.text, item.first, item.last, item.headings) == ("# Title\n\nA sentence.", 1, 3, ("Title",))


def test_nothing_gives_nothing():
    assert split_chunks("") == split_chunks("\n \n\t\n") == []


def test_a_heading_begins_a_part_and_its_parents_are_known():
    chunks = split_chunks("# A\none\n## B\ntwo\n### C\nthree\n## D\nfour\n")
    assert [chunk.headings for chunk in chunks] == [("A",), ("A", "B"), ("A", "B", "C"), ("A", "D")]
    assert [item.first for item in chunks] == [1, 3, 5, 7]


def test_long_text_is_cut_between_paragraphs_with_some_overlap():
    text = "\n\n".join(f"{number}. {PARAGRAPH}" for number in range(12))
    chunks = split_chunks(text)
    assert len(chunks) > 3
    assert all(len(chunk.text) <= CHUNK_SIZE for chunk in chunks)
    for before, after in pairwise(chunks):
        assert after.first <= before.last + 2
    assert OVERLAP < CHUNK_SIZE / 2


def test_a_block_of_code_is_never_cut_unless_it_is_data():
    code = "```python\n" + "\n".join(f"line_{number} = {number}" for number in range(200)) + "\n```"
    results = [
        chunk for chunk in split_chunks(f"{PARAGRAPH}\n\n{code}\n\n{PARAGRAPH}") if "line_" in chunk.text
    ]
    assert len(results) == 1
    assert code in results[0].text
    data = "```\n" + "0123456789\n" * 5_000 + "```"
    assert len(split_chunks(data)) > 20


def test_hash_in_code_is_no_heading_and_open_fence_ends_chunk():
    (item,) = split_chunks("```sh\n# not a heading\nls\n")
    assert item.headings == ()


def test_a_memory_is_a_part_of_its_own_without_its_comment():
    comment = '<!-- holdfast {"id":"y_1","kind":"fact"} -->'
    text = f"# Memory\n\n## Facts\n\n- Arion is in Kiel.\n  {comment}\n- By hand.\n"
    memory, plain = split_chunks(text)
    assert (memory.memory, memory.kind, memory.text) == ("y_1", "fact", "Arion is in Kiel.")
    assert (memory.first, memory.last, memory.headings) == (5, 6, ("Memory", "Facts"))
    assert (plain.memory, plain.text) == ("", "- By hand.")
    assert [chunk.memory[:2] for chunk in split_chunks(text, by_hand=True)] == ["y_", "h_"]


def test_one_endless_line_is_cut_too():
    chunks = split_chunks("x" * 20_000)
    assert len(chunks) > 10
    assert {(chunk.first, chunk.last) for chunk in chunks} == {(1, 1)}


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.sampled_from(["# h", "", "word " * 30, "- item", "```", "plain", "äöü " * 200, "x" * 2_000]),
        max_size=40,
    )
)
def test_no_word_is_lost_and_lines_are_right(lines):
    text = "\n".join(lines)
    chunks = split_chunks(text)
    words = {word for item in chunks for word in re.findall(r"[^\W_]+", item.text) if len(word) < 100}
    assert {word for word in re.findall(r"[^\W_]+", text) if len(word) < 100} <= words
    for chunk in chunks:
        assert 1 <= chunk.first <= chunk.last <= len(lines)
        assert chunk.text.splitlines()[0].strip() in lines[chunk.first - 1]
