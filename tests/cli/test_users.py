"""`holdfast users`: who there is, and all that one of them has."""

import json
import zipfile

import pytest

from holdfast.store import Key, open_store


@pytest.fixture
def somebody(hold, home):
    """The person at this machine, and another who has a key."""
    hold("memory", "add", "The boat is called Quimble.")
    with open_store(f"sqlite:///{home / 'holdfast.db'}") as store:
        store.keys.create(Key(user="ada"))


def test_all_are_listed(somebody, hold):
    users = {user["name"]: user for user in json.loads(hold("users", "list", "--json"))["users"]}
    assert (users["default"]["memories"], users["ada"]["keys"]) == (1, 1)
    assert "default" in hold("users", "list")


def test_what_one_has_is_written_where_one_stands(somebody, hold, tmp_path):
    assert "Written" in hold("users", "export", "default")
    with zipfile.ZipFile(tmp_path / "default.zip") as archive:
        assert b"Quimble" in archive.read("notes/MEMORY.md")
    assert hold("users", "export", "default", whole=True).exit_code == 1
    assert hold("users", "export", "nobody", whole=True).exit_code == 1


def test_nobody_is_deleted_unasked(somebody, hold):
    result = hold("users", "delete", "default", whole=True)
    assert result.exit_code == 1
    assert "--yes" in result.exception.hint
    assert "Quimble" in hold("memory", "list")


def test_who_is_deleted_is_gone_and_old_copies_are_told_of(somebody, hold, home):
    copy = home / "backups" / "holdfast-0006.db"
    copy.parent.mkdir()
    copy.touch()
    data = json.loads(hold("users", "delete", "default", "--yes", "--json"))
    assert data["deleted"]["memories"] == 1
    assert data["scrubbed"] is True
    assert data["old_copies"] == [str(copy)]
    assert [user["name"] for user in json.loads(hold("users", "list", "--json"))["users"]] == ["ada"]
    hold("users", "delete", "ada", "--yes", "--backups")
    assert not copy.exists()


def test_what_broke_off_is_an_old_copy_too(somebody, hold, home):
    left = [home / ".restore", home / ".workspace.replaced", home / "backups" / ".holdfast-abc"]
    for folder in left:
        folder.mkdir(parents=True)
        (folder / "holdfast.lock").touch()
    slot = hold("users", "delete", "default", "--yes", "--json", "--backups", whole=True)
    assert "conversations" in slot.stderr or "notes" in slot.stderr
    assert not any(folder.exists() for folder in left)


def test_what_is_done_is_told_in_german(somebody, hold, monkeypatch):
    monkeypatch.setenv("HOLDFAST_LANGUAGE", "de")
    slot = hold("users", "export", "default", whole=True)
    assert "Notizen: 100 %" in slot.stderr
    assert "notes" not in slot.stderr
