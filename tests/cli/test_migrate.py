"""`holdfast migrate`: what it does, what it refuses, and what it says is to be set."""

import json

import pytest

from holdfast.store import open_store
from tests.buckets import IN_ONE_WORKER
from tests.contract.test_store import talk


@pytest.fixture
def full_home(home):
    with open_store(f"sqlite:///{home / 'holdfast.db'}") as store:
        talk(store, "Hello?")
    note = home / "workspace" / "default" / "MEMORY.md"
    note.parent.mkdir(parents=True)
    note.write_text("- One.\n")
    return home


def test_it_moves_and_says_what_is_to_be_set(hold, full_home, tmp_path):
    slot = hold("migrate", "--to", f"sqlite:///{tmp_path / 'new.db'}", "--notes", str(tmp_path / "notes"))
    assert "conversations  1       1" in slot
    assert f'store = "sqlite:///{tmp_path / "new.db"}"' in slot
    assert f'workspace = "{tmp_path / "notes"}"' in slot
    assert (tmp_path / "notes" / "default" / "MEMORY.md").read_text() == "- One.\n"
    assert not (full_home / "page.json").exists(), "nothing is set unasked"


def test_it_switches_and_comes_back(hold, full_home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = hold("migrate", "--to", "sqlite:///new.db", "--notes", "notes", "--switch", "--json")
    out = json.loads(first)
    assert (out["before"], out["switched"], out["notes"]["after"]) == (out["after"], True, 1)
    assert out["settings"] == {
        "store": f"sqlite:///{tmp_path / 'new.db'}",
        "workspace": str(tmp_path / "notes"),
    }
    with open_store(f"sqlite:///{tmp_path / 'new.db'}") as store:
        talk(store, "Later?")
    (full_home / "holdfast.db").unlink()
    hold("migrate", "--to", f"sqlite:///{full_home / 'holdfast.db'}", "--switch")
    with open_store(f"sqlite:///{full_home / 'holdfast.db'}") as store:
        assert len(store.log.list_used_since(0.0)) == 2


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((), "Nothing was said to be moved"),
        (("--to", "mysql://there"), "no place for a database"),
        (("--to", "sqlite:///HOME/holdfast.db"), "already"),
        (("--notes", "HOME/workspace"), "already"),
    ],
)
def test_what_makes_no_sense_is_refused(hold, full_home, words, reason):
    result = hold("migrate", *(word.replace("HOME", str(full_home)) for word in words), whole=True)
    assert result.exit_code == 1
    assert reason in str(result.exception)


def test_it_waits_for_nobody_who_still_uses_the_database(hold, full_home, tmp_path):
    with open_store(f"sqlite:///{full_home / 'holdfast.db'}"):
        result = hold("migrate", "--to", f"sqlite:///{tmp_path / 'new.db'}", whole=True)
    assert "Stop the server" in str(result.exception)
    assert not (tmp_path / "new.db").exists()


def test_store_set_in_environment_must_be_changed_there(hold, full_home, tmp_path, monkeypatch):
    monkeypatch.setenv("HOLDFAST_STORE", f"sqlite:///{full_home / 'holdfast.db'}")
    result = hold("migrate", "--to", f"sqlite:///{tmp_path / 'new.db'}", "--switch", whole=True)
    assert (result.exit_code, "HOLDFAST_STORE is set" in result.stderr) == (0, True)


@pytest.mark.real
@IN_ONE_WORKER
def test_notes_migrate_to_bucket_and_back_and_foreign_notes_are_refused(
    hold, full_home, s3_server, tmp_path, monkeypatch
):
    options = s3_server.options
    for name, value in (("ENDPOINT", options.endpoint), ("KEY", options.key), ("SECRET", options.secret)):
        monkeypatch.setenv(f"HOLDFAST_S3_{name}", value)
    place, others = s3_server.new_place(), s3_server.new_place()
    (full_home / "workspace" / "default" / "MEMORY.md").write_bytes("- Grüße, \xff.\n".encode("latin-1"))
    data = json.loads(hold("migrate", "--notes", place, "--switch", "--json"))
    assert data["notes"] == {"before": 1, "after": 1, "left_out": []}
    # A second time it is where it is; and it finds its way back, every byte of it.
    assert "already" in str(hold("migrate", "--notes", place, whole=True).exception)
    hold("migrate", "--notes", str(tmp_path / "back"))
    assert (tmp_path / "back" / "default" / "MEMORY.md").read_bytes() == "- Grüße, \xff.\n".encode("latin-1")
    s3_server.put(others, "default/MEMORY.md", b"- Somebody else's.\n")
    assert "other notes" in str(hold("migrate", "--notes", others, whole=True).exception)
