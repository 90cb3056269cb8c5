"""What windows are made of, on every backend: lanes, marks, and parts of a path."""

import pytest

from holdfast.errors import Conflict, NotFound
from holdfast.messages import Message, Scope
from holdfast.store import NewMessage


def new_messages(*texts):
    return [NewMessage(Message.of(("user", "assistant")[at % 2], text)) for at, text in enumerate(texts)]


@pytest.fixture
def talk(store):
    """A conversation of six messages, with an edited third one beside it."""
    conversation = store.log.create(Scope())
    first = store.log.append(conversation.id, new_messages(*"abcdef"), parent=None, expect=None)
    beside = store.log.append(
        conversation.id, new_messages("C", "D"), parent=first[1].id, expect=first[-1].id, move_head=False
    )
    return conversation, first, beside


def test_path_part_contains_its_end_and_named_messages(store, talk):
    _, first, beside = talk
    part = store.log.part(first[-1].id, below=3, keep=[first[0].id, first[5].id, beside[0].id])
    assert [stored.message.text for stored in part] == ["a", "e", "f"]
    assert store.log.part(beside[-1].id, below=-1) == [*first[:2], *beside]
    with pytest.raises(NotFound):
        store.log.part("m_missing", below=0)


def test_sizes_are_known_without_reading_the_messages(store, talk):
    _, first, beside = talk
    sizes = store.log.sizes(first[-1].id, 3)
    assert sizes == [
        (item.id, item.depth, item.message.role, len(item.message.encode())) for item in first[:2:-1]
    ]
    assert [name for name, *_ in store.log.sizes(beside[-1].id, 9)][:1] == [beside[-1].id]
    assert store.log.path_ids(beside[-1].id) == [entry.id for entry in (*first[:2], *beside)]


def test_marks_are_those_on_the_way_to_a_message(store, talk):
    conversation, first, beside = talk
    store.marks.put(first[4].id, "pin")
    store.marks.put(first[0].id, "rule", ["Never.", "Always."])
    store.marks.put(beside[0].id, "pin")
    marks = store.marks.of(first[-1].id)
    assert [(mark.message, mark.kind, mark.text, mark.depth) for mark in marks] == [
        (first[0].id, "rule", "Never.", 0),
        (first[0].id, "rule", "Always.", 0),
        (first[4].id, "pin", "", 4),
    ]
    assert [mark.message for mark in store.marks.of(beside[-1].id)] == [first[0].id] * 2 + [beside[0].id]
    store.marks.put(first[0].id, "rule", ["Never."])
    assert [mark.text for mark in store.marks.of(first[0].id)] == ["Never."]
    assert store.marks.remove(first[0].id, "rule")
    assert not store.marks.remove(first[0].id, "rule")
    store.log.delete(conversation.id)
    with pytest.raises(NotFound):
        store.marks.put(first[4].id, "pin")


def lane(store, conversation, expect, **changes):
    fields = {"window": 8192, "state": {"sent": []}, "report": {}}
    store.lanes.put("a:8192", conversation.id, **{**fields, **changes}, expect=expect)


def test_lane_update_requires_current_version(store, talk):
    conversation, *_ = talk
    assert store.lanes.get("a:8192") is None
    lane(store, conversation, 0, now=5.0)
    with pytest.raises(Conflict):
        lane(store, conversation, 0)
    lane(store, conversation, 1, state={"sent": [["m", "d", 3]]}, report={"level": 2}, now=6.0)
    with pytest.raises(Conflict):
        lane(store, conversation, 1)
    (record,) = store.lanes.of(conversation.id)
    assert (record.version, record.window, record.state, record.report, record.updated_at) == (
        2, 8192, {"sent": [["m", "d", 3]]}, {"level": 2}, 6.0,
    )  # fmt: skip
    store.log.delete(conversation.id)
    assert store.lanes.get("a:8192") is None


def test_decisions_are_found_by_name_unless_they_were_undone(store, talk):
    conversation, *_ = talk
    fields = {"kind": "shorten", "rule": "long", "messages": ["m"], "tokens_before": 9, "tokens_after": 3}
    first = store.decisions.record("a:8192", conversation.id, **fields, batch="k_1", name="d_mine")
    second = store.decisions.record("a:8192", conversation.id, **fields)
    assert (first.id, first.batch, second.batch) == ("d_mine", "k_1", "")
    assert store.decisions.get_many([second.id, "d_mine", "d_missing"]) == [first, second]
    store.decisions.remove(second.id)
    assert store.decisions.get_many([second.id, "d_mine"]) == [first]
    assert store.decisions.get_many([]) == []


def test_what_quotes_a_memory_is_found_and_rewritten_undone_or_not(store, talk):
    conversation, first, _ = talk
    figures = {"rule": "recalled", "messages": [first[0].id], "tokens_before": 0, "tokens_after": 9}

    def quote(*names):
        data = {"text": "told", "memories": list(names)}
        return store.decisions.record("lane", conversation.id, kind="add", data=data, **figures)

    item, two, other = quote("y_1", "h_%"), quote("y_2"), quote("y_12", "h_x")
    store.decisions.remove(two.id)
    asked = [("y_1",), ("y_1", "y_2"), ("h_%",), ("none",), (), [f"y_{number}" for number in range(100)]]
    ids = [[result.id for result in store.decisions.quoting(names)] for names in asked]
    assert ids == [[item.id], [item.id, two.id], [item.id], [], [], [item.id, two.id, other.id]]
    store.decisions.rewrite(item.id, data={"text": "", "memories": []}, tokens_after=0)
    assert store.decisions.quoting(["y_1"]) == []
    assert store.decisions.get_many([item.id])[0].tokens_after == 0


def test_replacing_report_leaves_lane_unchanged(store, talk):
    conversation, *_ = talk
    store.lanes.put("lane", conversation.id, window=8, state={"a": 1}, report={"old": True}, expect=0)
    before = store.lanes.get("lane")
    store.lanes.replace_report("lane", {"new": True})
    after = store.lanes.get("lane")
    assert (after.report, after.version, after.state) == ({"new": True}, before.version, before.state)
