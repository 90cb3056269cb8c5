"""`holdfast import`: what a person sees of it, and what a program does."""

import json
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parent.parent / "transfer" / "samples"


def test_what_it_is_can_be_seen_and_is_brought_in_once(hold):
    data = json.loads(hold("import", str(SAMPLES / "openclaw"), "--json"))
    assert data["kind"] == "openclaw"
    assert data["after"]["conversations"] == 1
    again = json.loads(hold("import", "openclaw", str(SAMPLES / "openclaw"), "--json"))
    assert again["before"] == again["after"] == data["after"]
    assert again["conversations"] == {"new": 0, "grown": 0, "known": 1}


def test_a_person_sees_numbers_and_what_could_not_be_read(hold):
    slot = hold("import", "chatgpt", str(SAMPLES / "chatgpt.json"), "--user", "ada", "--dry-run", whole=True)
    assert slot.exit_code == 0
    assert "Nothing was changed" in slot.stdout
    assert "chatgpt → ada/default" in slot.stdout
    assert "it has no table of messages" in slot.stderr
    assert json.loads(hold("users", "list", "--json")) == {"users": []}


def test_it_speaks_german(hold, monkeypatch):
    monkeypatch.setenv("HOLDFAST_LANGUAGE", "de")
    assert "Notizdateien" in hold("import", str(SAMPLES / "markdown"), "--memories")


@pytest.mark.parametrize(
    "words",
    [
        *(("chatgpt",), ("no such thing",), ("chatgpt", "a", "b")),
        *((str(SAMPLES / "markdown"), "--user", name) for name in ("", "../eve", "a\nb", "web:ada")),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_next_step(words, hold):
    result = hold("import", *words, whole=True)
    assert result.exit_code == 1
    assert result.exception.hint


def test_a_source_of_which_nothing_can_be_read_ends_with_one(hold, tmp_path):
    file = tmp_path / "conversations.json"
    file.write_text('[{"mapping": ')
    assert hold("import", "chatgpt", str(file), whole=True).exit_code == 1
