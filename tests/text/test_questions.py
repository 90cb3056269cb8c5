"""What is read in a question before anything is searched."""

import pytest

from holdfast.text.questions import asks, leans_back, read_question, split_question


@pytest.mark.parametrize(
    "question",
    [
        "Wie heiße ich?",
        "Wie oft war ich dieses Jahr beim Zahnarzt?",
        "Wie möchte ich angesprochen werden?",
        "What did we decide?",
        "What is my budget?",
        "How do we store times?",
        "Who should I call about my contract?",
    ],
)
def test_a_question_about_the_person_is_personal(question):
    assert read_question(question).personal


@pytest.mark.parametrize(
    "question",
    [
        "Wie sortiere ich eine Liste?",
        "Wie kann man Rost entfernen?",
        "How do I center a heading?",
        "How do I clean my keys?",
        "Can you tell me a joke?",
        "Kannst du mir einen Witz erzählen?",
        "Hast du ein gutes Rezept?",
    ],
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
        ("What is the boiling point of ethanol?", 0.0),
        ("What is the name of the landlord?", 1.0),
        ("Was ist die größte Insel?", 0.0),
        ("What is the latest version?", 0.5),
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


@pytest.mark.parametrize(
    "question",
    [
        "Und das zweite?",
        "Was kostet das?",
        "And the second one?",
        "Who was the last?",
        "How long does it take?",
    ],
)
def test_a_question_that_points_back_leans_on_the_exchange_before(question):
    assert leans_back(read_question(question))


@pytest.mark.parametrize(
    "question",
    [
        "Wie beugt man das Verb?",
        "Was wiegt das neue Rad?",
        "Was gehört zu einer Inspektion dazu?",
        "Wie viele Meere gibt es?",
        "Wer war der erste Kaiser?",
        "Who was the first emperor?",
        "How long does it take to boil rice?",
    ],
)
def test_a_question_that_names_its_subject_does_not(question):
    assert not leans_back(read_question(question))


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Who paints, and can he come on Friday?", ["Who paints", "can he come on Friday"]),
        ("Wer streicht und darf er freitags kommen?", ["Wer streicht", "darf er freitags kommen"]),
        ("When and where is the party?", ["When is the party?", "where is the party?"]),
        ("Wann und wo ist das Fest?", ["Wann ist das Fest?", "wo ist das Fest?"]),
        ("Do we need bread and butter?", []),
    ],
)
def test_a_compound_question_is_split_where_another_one_begins(question, parts):
    assert [part.text for part in split_question(read_question(question))] == parts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Remind me of the name.", True),
        ("That was fun. Wir waren vorhin beim Budget.", True),
        ("The flowers were part of the decor and always remind me of that day.", False),
        ("Das Haus am See steht noch wie damals.", False),
    ],
)
def test_going_back_to_something_counts_where_a_sentence_begins(text, expected):
    assert asks(text) is expected
