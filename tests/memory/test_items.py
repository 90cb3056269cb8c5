"""One item among a person's words is changed or taken out, and every other byte stays."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.memory.base import Memory, MemorySource
from holdfast.memory.items import (
    add_items,
    locate_items,
    normalise,
    read_memories,
    remove_items,
    replace_item,
)
from holdfast.messages import Scope

ME = Scope()
FULL = Memory(
    id="m_1",
    kind="decision",
    text="We stay with SQLite.",
    scope=ME,
    importance=0.0,
    conversation="c_1",
    messages=("n_1",),
    valid_from=1_771_900_000.0,
    language="en",
    also=(MemorySource("c_2", ("n_7", "n_8")), MemorySource("c_3")),
    seen=1_771_990_000.0,
    superseded_by="m_2",
    valid_until=1_771_999_000.0,
    pinned=True,
)


def test_all_that_is_known_of_a_memory_is_read_back():
    text = add_items("", [FULL])
    assert read_memories(text, ME) == [FULL]
    assert Memory.from_json(FULL.to_json()) == FULL
    assert [source.conversation for source in FULL.sources] == ["c_1", "c_2", "c_3"]
    assert not FULL.active


def test_lines_are_told_as_editors_count_them():
    text = add_items("My own.\n", [FULL, replace(FULL, id="m_3", text="Two\nlines.")])
    lines = text.splitlines()
    for item in locate_items(text, ME):
        assert lines[item.first - 1].startswith(f"- ~~{item.memory.text.splitlines()[0]}~~")
        assert lines[item.last - 1].startswith("  <!-- holdfast")


# By hand


BY_HAND = """---
tags:
- private
---
# Memory

- The cat is called Mia.

## Vorlieben

* Tee ohne Zucker
  und ohne Milch.
- Known. <!-- holdfast {"id":"m_1","kind":"fact"} -->
- Damaged. <!-- holdfast {"id":

```
- no item, only code
```
* * *
"""


def test_what_a_person_wrote_by_hand_is_a_memory_too():
    memories = read_memories(BY_HAND, ME, by_hand=True)
    assert [(memory.kind, memory.text) for memory in memories] == [
        ("fact", "The cat is called Mia."),
        ("preference", "Tee ohne Zucker\nund ohne Milch."),
        ("fact", "Known."),
    ]
    assert [memory.text for memory in read_memories(BY_HAND, ME)] == ["Known."]


def test_handwritten_item_keeps_id_when_moved_or_marked():
    first, *_ = read_memories(BY_HAND, ME, by_hand=True)
    moved = BY_HAND.replace("- The cat is called Mia.\n", "") + "- The  cat is called Mia.\n"
    assert first.id in {memory.id for memory in read_memories(moved, ME, by_hand=True)}
    marked = replace_item(BY_HAND, replace(first, superseded_by="m_9"), by_hand=True)
    again, *_ = read_memories(marked, ME, by_hand=True)
    assert again == replace(first, superseded_by="m_9")
    line = "- The cat is called Mia.\n"
    before, after = BY_HAND.split(line)
    assert marked.startswith(before + "- ~~The cat is called Mia.~~ → …\n  <!-- holdfast ")
    assert marked.endswith(after)


# Changing one


ODD = [
    "",
    "# Memory",
    "## Facts",
    "```",
    "- mine",
    "  more",
    "> quote",
    "1. one",
    "***",
    "words",
    "<!--",
    "\ttab",
]
around = st.lists(st.sampled_from(ODD), max_size=6)


@settings(max_examples=60)
@given(
    around,
    around,
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["New words.", "a\n\n- b\n# c", "-->"]),
)
def test_a_change_touches_one_item_and_taking_it_out_nothing_else(above, below, newline, words):
    head = newline.join([*above, "", ""])
    # A heading ends an item, whatever comes after it.
    tail = newline.join(["# End", *below])
    item = f"- Old words.{newline}  " + add_items("", [FULL]).splitlines()[-1].strip() + newline
    text = head + item + tail
    changed = replace_item(text, replace(FULL, text=words))
    assert changed.startswith(head)
    assert changed.endswith(tail)
    assert normalise(words) in {memory.text for memory in read_memories(changed, ME)}
    assert remove_items(changed, ["m_1"], ME) == remove_items(text, ["m_1"], ME) == head + tail


def test_metadata_change_preserves_text_and_unknown_fields():
    text = (
        '*   Old   words,\n    by hand. <!--  holdfast {"id":"m_1","kind":"fact","mine":[1]} --> \n  More.\n'
    )
    (memory,) = read_memories(text, ME)
    changed = replace_item(text, replace(memory, pinned=True))
    assert changed == text.replace(
        '<!--  holdfast {"id":"m_1","kind":"fact","mine":[1]} -->',
        '<!-- holdfast {"id":"m_1","kind":"fact","mine":[1],"importance":0.5,"pinned":true} -->',
    )
    assert read_memories(changed, ME) == [replace(memory, pinned=True)]
    unpinned = replace_item(changed, memory)
    assert "pinned" not in unpinned


def test_copies_of_an_item_are_read_once_and_go_together():
    text = add_items("", [FULL, replace(FULL, id="m_3", text="Other.")])
    copied = text + "\n# Copy\n" + "".join(text.splitlines(keepends=True)[4:6])
    assert [memory.id for memory in read_memories(copied, ME)] == ["m_1", "m_3"]
    assert [memory.id for memory in read_memories(remove_items(copied, ["m_1"], ME), ME)] == ["m_3"]


@pytest.mark.parametrize("field", ["[[[" * 2_000, "{}", '"x"'])
def test_strange_fields_do_no_harm(field):
    text = f'- A. <!-- holdfast {{"id":"m_1","kind":"fact","also":{field},"seen":7,"pinned":"yes"}} -->\n'
    for memory in read_memories(text, ME):
        assert (memory.also, memory.pinned) == ((), False)


@pytest.mark.parametrize("told", ["1" + "0" * 400, "NaN", "-Infinity", "1e999", "2", "-0.1", "true", '"x"'])
def test_an_importance_that_is_none_is_the_usual_one(told):
    text = f'- A. <!-- holdfast {{"id":"m_1","kind":"fact","importance":{told},"mine":{told}}} -->\n'
    (memory,) = read_memories(text, ME)
    assert memory.importance == 0.5
    (changed,) = read_memories(replace_item(text, replace(memory, pinned=True)), ME)
    assert (changed.importance, changed.pinned) == (0.5, True)


@pytest.mark.parametrize("told", ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+12:00", "1969-07-20"])
def test_every_date_can_be_written_again_and_shown_in_every_zone(told):
    text = f'- A. <!-- holdfast {{"id":"m_1","kind":"fact","valid_from":"{told}"}} -->\n'
    (memory,) = read_memories(text, ME)
    assert read_memories(add_items("", [memory]), ME) == [memory]
    for hours in (-14, 14):
        zone = timezone(timedelta(hours=hours))
        assert datetime.fromtimestamp(memory.valid_from, UTC).astimezone(zone).year in (1, 1969, 9999)


def test_many_items_go_at_once():
    count = 50
    text = "# Mine\n" + "".join(f"- Item {number}.\n" for number in range(count)) + "The end.\n"
    names = {memory.id for memory in read_memories(text, ME, by_hand=True)}
    assert len(names) == count
    # The line behind the last item is still of its paragraph.
    assert remove_items(text, names, ME, by_hand=True) == "# Mine\n"


def test_a_memory_struck_at_once_names_its_successor():
    newer = replace(FULL, id="m_2", text="We take PostgreSQL.", superseded_by="", valid_until=None)
    text = add_items("", [FULL, newer])
    assert "- ~~We stay with SQLite.~~ → 2026-02-25: We take PostgreSQL.\n" in text
    assert {memory.id: memory.text for memory in read_memories(text, ME)} == {
        "m_1": "We stay with SQLite.",
        "m_2": "We take PostgreSQL.",
    }
