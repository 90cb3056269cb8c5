"""What is read in a question before anything is searched."""

import pytest

from holdfast.text.questions import read_question


@pytest.mark.parametrize(
    "question",
    [
        "Wie heiße ich?",
        "Wie oft war ich dieses Jahr beim Zahnarzt?",
        "Wie möchte ich angesprochen werden?",
        "What did we decide?",
        "What is my budget?",
    ],
)
def test_a_question_about_the_person_is_personal(question):
    assert read_question(question).personal


@pytest.mark.parametrize(
    "question",
    ["Wie sortiere ich eine Liste?", "Wie kann man Rost entfernen?", "How do I center a heading?"],
)
def test_a_question_how_a_thing_is_done_is_not_personal(question):
    assert not read_question(question).personal


@pytest.mark.parametrize(
    ("question", "definite"),
    [
        ("Wann kommt der Klempner?", 0.5),
        ("Who keeps the key of the cellar?", 1.0),
        ("Wie funktioniert Photosynthese?", 0.0),
        ("How far away is the moon?", 0.0),
        ("Was ist ein Transistor?", 0.0),
    ],
)
def test_things_that_both_sides_know_make_a_question_definite(question, definite):
    assert read_question(question).definite == definite


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("How long is the warranty?", ("warranti",)),
        ("Wie lange gilt die Garantie?", ("gilt", "garanti")),
        ("Wie hoch ist die Miete?", ("miet",)),
    ],
)
def test_a_word_of_measure_belongs_to_the_asking(question, terms):
    assert read_question(question).terms == terms
