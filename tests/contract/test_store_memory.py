"""What is known of memories beside their files is kept by scope, on every backend."""

import pytest

from holdfast.errors import NotFound
from holdfast.messages import Scope
from holdfast.store import MemoryUse, Tombstone

ME, OTHER, GROUP = Scope(), Scope(project="garden"), Scope(kind="group")


def test_use_is_counted_in_its_scope(store):
    store.recollections.record_uses(ME, ["m_1", "m_2", "m_1"], now=5.0)
    store.recollections.record_uses(ME, ["m_1"], now=9.0)
    store.recollections.record_uses(OTHER, ["m_1"], now=7.0)
    store.recollections.record_uses(ME, [])
    assert store.recollections.uses(ME) == {"m_1": MemoryUse(2, 9.0), "m_2": MemoryUse(1, 5.0)}
    assert store.recollections.uses(OTHER)["m_1"].recalls == 1
    assert store.recollections.uses(GROUP) == {}


def test_forgotten_memory_leaves_tombstone_in_its_scope_until_lifted(store):
    store.recollections.record_uses(ME, ["m_1"])
    store.recollections.record_uses(OTHER, ["m_1"])
    for now in (3.0, 4.0):
        stone = Tombstone("m_1", frozenset({"b", "a"}), frozenset({"n_1"}), now)
        store.recollections.forget(ME, [stone])
    assert store.recollections.find_forgotten(ME, ["m_1", "m_2"]) == {"m_1"}
    assert (
        store.recollections.find_forgotten(OTHER, ["m_1"])
        == store.recollections.find_forgotten(ME, [])
        == set()
    )
    assert store.recollections.uses(ME) == {}
    assert "m_1" in store.recollections.uses(OTHER)
    (stone,) = store.recollections.list_tombstones(ME)
    assert (stone.memory, stone.words, stone.messages, stone.created_at) == ("m_1", {"a", "b"}, {"n_1"}, 4.0)
    assert store.recollections.list_tombstones(OTHER) == []
    store.recollections.lift(OTHER, ["m_1"])
    assert store.recollections.list_tombstones(ME) == [stone]
    store.recollections.lift(ME, ["m_1"])
    assert store.recollections.list_tombstones(ME) == []


def test_a_proposal_is_made_once_and_decided_by_its_user(store):
    response = store.proposals.put(
        "anna", "language", "German", text="In German.", messages=("n_1",), now=1.0
    )
    assert store.proposals.put("anna", "language", "German", text="Again in German.") is None
    assert store.proposals.put("ben", "language", "German", text="In German.") is not None
    later = store.proposals.put("anna", "name", "Anna", text="I am Anna.", now=2.0)
    assert store.proposals.open("anna") == [response, later]
    assert store.proposals.get("anna", response.id) == response
    assert store.proposals.decide("anna", response.id, "dismissed").status == "dismissed"
    assert store.proposals.open("anna") == [later]
    assert store.proposals.put("anna", "language", "German", text="Once more.") is None
    store.proposals.decide("anna", response.id, "accepted")
    assert store.proposals.put("anna", "language", "German", text="Wanted once before.") is not None
    for call in (store.proposals.get, lambda user, name: store.proposals.decide(user, name, "accepted")):
        with pytest.raises(NotFound, match="no proposal"):
            call("ben", later.id)
