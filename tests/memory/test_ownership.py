"""What is said in a project is the person's or the project's, told by the words alone."""

import pytest

from holdfast.memory.scopes import place_memory
from holdfast.messages import Scope

HERE = Scope("ada", "tides")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("fact", "My sister Klara lives in Kiel."),
        ("fact", "Ich wohne in Kiel."),
        ("fact", "User works as a surveyor."),
        ("preference", "I prefer tabs."),
        ("preference", "Always answer in German."),
        ("preference", "Der Nutzer bevorzugt kurze Antworten."),
    ],
)
def test_what_is_about_the_person_goes_with_them(kind, text):
    assert place_memory(HERE, kind, text) == (Scope("ada"), kind)


@pytest.mark.parametrize(
    ("kind", "text", "known_as"),
    [
        ("fact", "The staging port is 8443.", "fact"),
        ("fact", "The user table has a column for tides.", "fact"),
        ("decision", "We use PostgreSQL.", "decision"),
        ("preference", "Never push to main.", "decision"),
        ("preference", "Benutze niemals npm.", "decision"),
        ("preference", "In this repository I want no generated files.", "decision"),
        ("fact", 'The banner says "my harbour".', "fact"),
    ],
)
def test_what_is_about_the_repository_stays_with_it(kind, text, known_as):
    assert place_memory(HERE, kind, text) == (HERE, known_as)


def test_without_a_project_and_in_groups_nothing_changes():
    group = Scope("ada", "chess", "group")
    assert place_memory(Scope("ada"), "fact", "The port is 8443.") == (Scope("ada"), "fact")
    assert place_memory(group, "preference", "I prefer blitz.") == (
        Scope(project="chess", kind="group"),
        "preference",
    )
