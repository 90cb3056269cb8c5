"""`holdfast backup`: made, looked at, and put back, from the command line."""

import json

import pytest

from holdfast.store import open_store


@pytest.fixture
def backup(hold, tmp_path):
    hold("memory", "add", "The boat is called Quimble.")
    file = tmp_path / "b.zip"
    hold("backup", "create", str(file))
    return file


def test_what_was_remembered_comes_back(backup, hold):
    assert json.loads(hold("backup", "check", str(backup), "--json"))["left_out"] == []
    hold("memory", "clear", "--confirm", "default")
    refused = hold("backup", "restore", str(backup), whole=True)
    assert refused.exit_code == 1
    assert "--overwrite" in refused.exception.hint
    assert "Restored" in hold("backup", "restore", str(backup), "--overwrite")
    assert "Quimble" in hold("memory", "list")
    assert json.loads(hold("backup", "finish", "--json")) == {"finished": False, "ending": "none"}


def test_interrupted_restore_is_reported_by_doctor_and_next_restore(backup, hold, home):
    (home / ".restore.json").write_text(json.dumps([[str(home / "workspace"), True]]))
    data = json.loads(hold("doctor", "--json", whole=True).stdout)
    assert "holdfast backup finish" in [finding["remedy"] for finding in data]
    refused = hold("backup", "restore", str(backup), "--overwrite", whole=True)
    assert "holdfast backup finish" in refused.exception.hint
    assert "complete" in hold("backup", "finish")


def test_how_far_a_restore_is_can_be_followed(backup, hold):
    slot = hold("backup", "restore", str(backup), "--overwrite", whole=True)
    assert "putting in place: 100 %" in slot.stderr


def test_a_backup_gets_a_name_with_the_date_where_one_stands(backup, hold, tmp_path):
    data = json.loads(hold("backup", "create", "--json"))
    assert data["place"].startswith(str(tmp_path / "holdfast-"))
    assert data["counts"]["conversations"] == 0


def test_while_somebody_has_the_store_open_nothing_is_restored(backup, hold, home):
    with open_store(f"sqlite:///{home / 'holdfast.db'}"):
        result = hold("backup", "restore", str(backup), "--overwrite", whole=True)
    assert result.exit_code == 1
    assert "running" in str(result.exception)


def test_settings_that_name_another_database_are_told_of(backup, hold, home, tmp_path):
    (home / "holdfast.toml").write_text(f'store = "sqlite:///{tmp_path / "elsewhere.db"}"\n')
    file = tmp_path / "c.zip"
    hold("backup", "create", str(file))
    (home / "holdfast.toml").unlink()
    slot = hold("backup", "restore", str(file), "--overwrite", "--settings", whole=True)
    assert "another database" in slot.stderr


def test_settings_of_a_backup_come_only_if_they_are_wanted(tmp_path, hold, home):
    mine, theirs = home / "holdfast.toml", tmp_path / "theirs.zip"
    home.mkdir(exist_ok=True)
    mine.write_text('upstream = "http://127.0.0.1:9"\n')
    hold("backup", "create", str(theirs))
    mine.write_text("reserve = 900\n")
    slot = hold("backup", "restore", str(theirs), "--overwrite", whole=True)
    assert "--settings" in slot.stderr
    assert mine.read_text() == "reserve = 900\n"
    hold("backup", "restore", str(theirs), "--overwrite", "--settings")
    assert "upstream" in mine.read_text()
