"""Everything people do with notes, on a bucket: a second machine sees it, and doctor says what is wrong."""

import json

import pytest

from holdfast.errors import StoreError
from tests.buckets import IN_ONE_WORKER, Relay
from tests.cli.test_conversations import fails
from tests.cli.test_memory import keep, list_texts

pytestmark = [pytest.mark.real, IN_ONE_WORKER]


@pytest.fixture
def bucket(hold, s3_server, monkeypatch):
    """The commands with their notes in a bucket."""
    place = s3_server.new_place()
    monkeypatch.setenv("HOLDFAST_WORKSPACE", place)
    monkeypatch.setenv("HOLDFAST_S3_ENDPOINT", s3_server.options.endpoint)
    monkeypatch.setenv("HOLDFAST_S3_KEY", s3_server.options.key)
    monkeypatch.setenv("HOLDFAST_S3_SECRET", s3_server.options.secret)
    return place


def notes_in(hold):
    findings = json.loads(hold("doctor", "--json", whole=True).stdout)
    return next(finding for finding in findings if finding["about"] == "notes")


def test_memories_are_kept_corrected_found_forgotten_and_moved(hold, bucket, home, tmp_path, monkeypatch):
    name = keep(hold, "The kestrel nests on the tower")
    keep(hold, "We chose SQLite", "--kind", "decision")
    monkeypatch.setenv("EDITOR", "sed -i s/kestrel/falcon/")
    assert "The falcon nests" in hold("memory", "edit", name)
    assert "falcon" in hold("memory", "search", "tower")
    hold("profile", "set", "name", "Anna")
    # Another machine: the same notes, nothing else.
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "other"))
    assert sorted(list_texts(hold)) == ["The falcon nests on the tower", "We chose SQLite"]
    assert "falcon" in hold("memory", "search", "tower")
    assert "Anna" in hold("profile", "show")
    hold("memory", "forget", name, "--yes")
    exported = hold("memory", "export")
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    assert list_texts(hold) == ["We chose SQLite"]
    assert "We chose SQLite" in exported
    assert "falcon" not in exported
    assert (notes_in(hold)["state"], notes_in(hold)["found"]) == ("ok", bucket)
    assert not (home / "workspace").exists()


def test_doctor_says_what_is_wrong_with_the_place_of_notes(hold, bucket, s3_server, monkeypatch):
    monkeypatch.setenv("HOLDFAST_WORKSPACE", "s3://nobodys-bucket")
    notes = notes_in(hold)
    assert notes["state"] == "bad"
    assert "no such bucket" in notes["found"]
    assert notes["remedy"].startswith("Make it")
    relay = Relay(s3_server.options.endpoint)
    relay.close()
    monkeypatch.setenv("HOLDFAST_WORKSPACE", bucket)
    monkeypatch.setenv("HOLDFAST_S3_ENDPOINT", relay.endpoint)
    assert "s3_endpoint is its address" in notes_in(hold)["remedy"]
    fails(hold("memory", "add", "something", whole=True), StoreError, "cannot be reached")
