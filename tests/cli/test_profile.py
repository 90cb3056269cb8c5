"""`holdfast profile`: shown, set, edited without losing anything, and taught."""

import json
import shlex
from pathlib import Path

import pytest

from holdfast.errors import BadRequest, Conflict, NotFound
from tests.cli.test_conversations import fails


@pytest.fixture
def hold(hold, monkeypatch):
    monkeypatch.setenv("HOLDFAST_EMBEDDER", "off")
    return hold


@pytest.fixture
def file(home):
    return home / "workspace" / "default" / "profile.yaml"


def text_in(error):
    """What somebody wrote, from the place that the error names."""
    place = Path(str(error).rsplit("What you wrote is in ", 1)[1].rstrip("."))
    text = place.read_text()
    place.unlink()
    return text


def test_fields_are_set_shown_and_taken_away(hold, monkeypatch):
    assert "no profile yet" in hold("profile", "show")
    hold("profile", "set", "name", "Anna", "Muster")
    hold("profile", "set", "team_size", "25")
    hold("profile", "set", "products", "[pumps, valves]")
    hold("profile", "set", "preferences.answer_length", "short")
    data = json.loads(hold("profile", "show", "--json"))
    assert data["fields"] == {
        "name": "Anna Muster",
        "team_size": 25,
        "products": ["pumps", "valves"],
        "preferences": {"answer_length": "short"},
    }
    assert json.loads(hold("profile", "set", "team_size", "", "--json"))["fields"].keys() == {
        "name",
        "products",
        "preferences",
    }
    fails(hold("profile", "set", "a.b.c", "x", whole=True), BadRequest, "a.b.c")
    monkeypatch.setenv("HOLDFAST_LANGUAGE", "de")
    assert "name: Anna Muster" in hold("profile", "show")


def test_comments_survive_and_dates_are_shown(hold, file):
    file.parent.mkdir(parents=True)
    file.write_text("# Who I am\nname: Anna  # really\nsince: 2020-02-29\n")
    assert "# really" in hold("profile", "set", "location", "Bonn")
    assert file.read_text() == "# Who I am\nname: Anna  # really\nsince: 2020-02-29\nlocation: Bonn\n"
    assert json.loads(hold("profile", "show", "--json"))["fields"]["since"] == "2020-02-29"


def test_a_broken_file_is_shown_with_its_trouble_and_left_alone(hold, file):
    file.parent.mkdir(parents=True)
    file.write_text("name: [Anna\nage: 3\n")
    shown = hold("profile", "show", whole=True)
    assert (shown.exit_code, shown.stdout) == (0, "name: [Anna\nage: 3\n")
    assert "line 2" in shown.stderr
    fails(hold("profile", "set", "name", "Bea", whole=True), BadRequest, "line 2")
    assert file.read_text() == "name: [Anna\nage: 3\n"


def test_the_editor_works_on_a_copy_that_is_put_back(hold, file, monkeypatch):
    hold("profile", "set", "name", "Anna")
    monkeypatch.setenv("EDITOR", "sed -i s/Anna/Bea/")
    assert "name: Bea" in hold("profile", "edit")
    assert "Nothing was changed" in hold("profile", "edit")
    assert file.read_text() == "name: Bea\n"


def test_what_is_no_profile_is_not_put_back_and_not_lost(hold, file, monkeypatch):
    hold("profile", "set", "name", "Anna")
    monkeypatch.setenv("EDITOR", "sed -i s/Anna/[Bea/")
    result = hold("profile", "edit", whole=True)
    fails(result, BadRequest, "line 2", "What you wrote is in")
    assert text_in(result.exception) == "name: [Bea\n"
    assert file.read_text() == "name: Anna\n"


def test_who_edits_while_another_writes_loses_nothing(hold, file, monkeypatch, tmp_path):
    hold("profile", "set", "name", "Anna")
    editor = tmp_path / "editor.sh"
    editor.write_text(f"printf 'name: Cleo\\n' > {shlex.quote(str(file))}\nsed -i s/Anna/Bea/ \"$1\"\n")
    monkeypatch.setenv("EDITOR", f"sh {shlex.quote(str(editor))}")
    result = hold("profile", "edit", whole=True)
    fails(result, Conflict, "somebody else", "What you wrote is in")
    assert text_in(result.exception) == "name: Bea\n"
    assert file.read_text() == "name: Cleo\n"


def test_what_was_said_is_proposed_and_decided_on(hold):
    assert "Nothing is proposed" in hold("profile", "proposals")
    hold("memory", "add", "Please answer in German", "--kind", "preference")
    (proposal,) = json.loads(hold("profile", "proposals", "--json"))
    assert (proposal["field"], proposal["value"]) == ("language", "German")
    assert "Please answer in German" in hold("profile", "proposals")
    assert "1 proposed" in hold("profile", "show")
    assert "Set: language = German" in hold("profile", "accept", proposal["id"])
    assert json.loads(hold("profile", "show", "--json"))["fields"] == {"language": "German"}
    hold("memory", "add", "Please answer in English", "--kind", "preference")
    (other,) = json.loads(hold("profile", "proposals", "--json"))
    assert json.loads(hold("profile", "dismiss", other["id"], "--json"))["status"] == "dismissed"
    assert "Nothing is proposed" in hold("profile", "proposals")
    fails(hold("profile", "accept", "o_none", whole=True), NotFound, "o_none")
