"""When an earlier finding answers a question: asked for the same, still holding; never for something else."""

import os
from dataclasses import replace
from datetime import date, timedelta
from importlib.util import find_spec

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from holdfast.memory.embedder_local import ENCODER_PACKAGE, UniversalSentenceEncoder
from holdfast.memory.semantic import REFERENCE_NEARNESS, UNRELATED, mean_nearness, rescale
from holdfast.research.matching import (
    asks_same,
    find_same,
    group_same,
    may_be_translation,
    merge_findings,
    parse_question,
)
from tests.research.builders import DAY, NOW, finding, source
from tests.research.translations import CASES

TODAY = date(2026, 11, 15)

# Two ways of asking one thing, on one day.
SAME = [
    ("Wie wird das Wetter morgen in Kassel?", "Wetter Kassel morgen"),
    ("Wie wird das Wetter in Kassel?", "weather in Kassel"),
    ("Wettervorhersage Kassel", "Wie wird das Wetter in Kassel?"),
    ("Wetter am Wochenende in Kassel", "weather Kassel this weekend"),
    ("Wetter Kassel am 16.11.2026", "Wetter Kassel morgen"),
    ("Wetter Kassel heute", "Wetter Kassel"),
    ("weather in Kassel in 3 days", "weather in Kassel 2026-11-18"),
    ("Wie steht der Bitcoin Kurs?", "Bitcoin-Kurs"),
    ("Bitcoinkurs", "Bitcoin Kurs"),
    ("Bitcoin price today", "current Bitcoin price"),
    ("Was kostet eine Wärmepumpe?", "Wie teuer ist eine Wärmepumpe?"),
    ("What is the capital of France?", "capital of France"),
    ("Wer hat das Telefon erfunden?", "Von wem wurde das Telefon erfunden?"),
    ("Öffnungszeiten Herkules Kassel", "Wann ist der Herkules in Kassel geöffnet?"),
    ("What is the tallest mountain in Germany?", "Please tell me the highest mountain in Germany"),
    ("Bitcoin price right now", "What is the current Bitcoin price?"),
    ("this year's taxes", "taxes 2026"),
    ("What is a mutex?", "mutex"),
    ("How can I install Python on Debian?", "install Python on Debian"),
    ("Kannst du herausfinden, wer das Telefon erfunden hat?", "Wer hat das Telefon erfunden?"),
    ("Kosten für 3.500 kWh Strom", "Preis von 3500 kWh Strom"),
    ("What is .NET?", "what is .net"),
    ("5 % rule", "5% rule"),
    ("zwei Zimmer Wohnung Kassel", "2 Zimmer Wohnung Kassel"),
]
# What is near, by words or by meaning, and still something else.
DIFFERENT = [
    ("Wetter Kassel", "Wetter Köln"),
    ("wetter kassel", "wetter köln"),
    ("weather Berlin", "weather Hamburg"),
    ("Bitcoin Kurs", "Ethereum Kurs"),
    ("Wahl 2025", "Wahl 2026"),
    ("Wetter Kassel heute", "Wetter Kassel morgen"),
    ("Wetter Kassel letzten Samstag", "Wetter Kassel nächsten Samstag"),
    ("7 Tage Wetter Kassel", "8 Tage Wetter Kassel"),
    ("Python 3.11 release", "Python 3.12 release"),
    ("iPhone 15 Preis", "iPhone 16 Preis"),
    ("iPhone 15 Preis", "iPhone 15 Pro Preis"),
    ("Zug von Kassel nach Köln", "Zug von Köln nach Kassel"),
    ("Zug Kassel Köln", "Zug Köln Kassel"),
    ("tickets to Berlin", "tickets from Berlin"),
    ("C++ tutorial", "C# tutorial"),
    ("C tutorial", "C++ tutorial"),
    ("Vitamin C", "Vitamin D"),
    ("IT jobs", "jobs"),
    ("Wetter 🇩🇪", "Wetter 🇫🇷"),
    ("5 € in Dollar", "5 $ in Dollar"),
    ("-5 Grad", "5 Grad"),
    ("Is coffee healthy?", "Is coffee unhealthy?"),
    ("Is coffee healthy?", "Is coffee not healthy?"),
    ("How to install Python on Debian", "How to uninstall Python on Debian"),
    ("Ist Kaffee gesund?", "Ist entkoffeinierter Kaffee gesund?"),
    ("Gute Restaurants in Kassel", "Gute vegane Restaurants in Kassel"),
    ("What does an electric bike cost?", "What does a used electric bike cost?"),
    ("Wer gewann den Weltkrieg?", "Wer gewann den ersten Weltkrieg?"),
    ("What is the largest lake in Germany?", "What is the smallest lake in Germany?"),
    ("restaurants in Kassel", "restaurants in Kassel Wilhelmshöhe"),
    ("1 23", "12 3"),
    ("Wer hat das Telefon erfunden?", "Wann wurde das Telefon erfunden?"),
    ("Wo ist der Weihnachtsmarkt in Kassel?", "Wann ist der Weihnachtsmarkt in Kassel?"),
    ("What are Python decorators?", "How do Python decorators work?"),
    ("How long is the Nile?", "Where is the Nile?"),
    ("Warum ist Kaffee gesund?", "Ist Kaffee gesund?"),
    ("Should I eat raw mushrooms?", "Must I eat raw mushrooms?"),
    ("search engine market share", "engine market share"),
    ("show tickets Berlin", "tickets Berlin"),
    ("information theory", "theory"),
    ("electric current", "electric"),
    ("How to turn on the camera", "How to turn off the camera"),
    ("Wie schalte ich die Kamera ein?", "Wie schalte ich die Kamera aus?"),
    ("films before 1990", "films after 1990"),
    ("Filme nach 1990", "Filme 1990"),
    ("Wie war das Wetter in Kassel?", "Wie wird das Wetter in Kassel?"),
    ("Yoga Kurs Kassel", "Yoga Preis Kassel"),
    ("teure Restaurants in Kassel", "Restaurants in Kassel Preise"),
    ("most expensive car", "expensive car"),
    ("rights of tenants", "tenants"),
    ("What is .NET?", "What is net?"),
    ("5% rule", "5 rule"),
    ("AT&T price", "AT T price"),
    ("polish rules", "Polish rules"),
    ("Arzt in Frankfurt am Main", "Arzt in Frankfurt an der Oder"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_ways_of_asking_one_thing_are_the_same(one, other):
    assert asks_same(parse_question(one, TODAY), parse_question(other, TODAY))
    assert asks_same(parse_question(other, TODAY), parse_question(one, TODAY))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_only_looks_alike_is_something_else(one, other):
    assert not asks_same(parse_question(one, TODAY), parse_question(other, TODAY))
    assert not asks_same(parse_question(other, TODAY), parse_question(one, TODAY))


TEMPLATES = [
    "Wie wird das Wetter in {}?",
    "wetter {}",
    "What does {} cost?",
    "Zug von {} nach Hause",
    "Wer ist der Chef von {}?",
    "news about {} please",
    "{}",
]
letters = st.text("abcdefghijklmnoprstuwzäöü", min_size=4, max_size=9)
entities = st.one_of(
    st.sampled_from(
        ["Kassel", "Köln", "Berlin", "Paris", "Bitcoin", "Ethereum", "Anna", "C++", "C#", "R", "3.5"]
    ),
    letters.map(str.capitalize),
    st.integers(0, 5_000).map(str),
    st.dates(date(2020, 1, 1), date(2030, 1, 1)).map(date.isoformat),
)


def read_name(name):
    """What a name, number or date is to a question."""
    value = parse_question(name, TODAY)
    return value.terms, value.dates


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(TEMPLATES), st.sampled_from(TEMPLATES), entities, entities)
def test_questions_about_differing_names_numbers_or_dates_never_match(first, second, one, other):
    nothing = frozenset(), frozenset()
    assume(read_name(one) != read_name(other) and nothing not in (read_name(one), read_name(other)))
    assert not asks_same(
        parse_question(first.format(one), TODAY), parse_question(second.format(other), TODAY)
    )


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(TEMPLATES), entities)
def test_a_question_is_the_same_as_itself_however_it_is_typed(template, name):
    question = template.format(name)
    assume(parse_question(question, TODAY).terms)
    assert asks_same(parse_question(question, TODAY), parse_question(f"  {question.rstrip('?')} ", TODAY))


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(
        [
            "morgen",
            "heute",
            "tomorrow",
            "am Samstag",
            "am Wochenende",
            "nächste Woche",
            "in 3 Tagen",
            "yesterday",
        ]
    ),
    st.integers(8, 400),
)
def test_a_relative_day_asked_on_another_day_is_another_day(when, later):
    question = f"Wetter Kassel {when}"
    assert not asks_same(parse_question(question, TODAY), parse_question(question, TODAY + timedelta(later)))


@given(st.text(max_size=80))
@settings(max_examples=50, deadline=None)
def test_any_text_can_be_asked(text):
    parse_question(text, TODAY)


# In two languages


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["Wie wird das Wetter in {}?", "Was kostet ein Haus in {}?", "Wer regiert in {}?"]),
    st.sampled_from(["What is the weather in {}?", "What does a house in {} cost?", "Who governs {}?"]),
    st.sampled_from(["Kassel", "Köln", "Berlin", "Paris", "Wien", "Oslo"]),
    st.sampled_from(["Kassel", "Hamburg", "Berlin", "Paris", "Rome", "Oslo"]),
)
def test_another_name_is_never_a_translation(german, english, one, other):
    assume(one != other)
    questions = parse_question(german.format(one), TODAY), parse_question(english.format(other), TODAY)
    assert not may_be_translation(*questions)
    assert not may_be_translation(*questions[::-1])


def test_in_another_language_meaning_decides_and_only_if_it_is_sure():
    known = [finding("Was kostet eine Wärmepumpe?")]
    asked_in_english = "How much does a heat pump cost?"
    assert find_same(asked_in_english, known, now=NOW) is None, "nobody knows what they mean"
    for near, expected in ((0.9, "r_1"), (0.7, None)):
        same = find_same(asked_in_english, known, now=NOW, nearness=lambda _, texts, near=near: {"r_1": near})
        assert (same.finding.id if same else None) == expected
    german = "Was kostet eine gebrauchte Wärmepumpe?"
    same = find_same(german, known, now=NOW, nearness=lambda _, texts: dict.fromkeys(texts, 1.0))
    assert same is None, "in one language words decide"


def test_what_merely_means_the_same_is_not_merged_for_good():
    group = [finding("Was kostet eine Wärmepumpe?", id="r_1"), finding("heat pump price", id="r_2")]
    assert group_same(group, now=NOW) == []


@pytest.mark.real
def test_translations_are_told_from_what_nearly_is_one(tmp_path):
    if find_spec(ENCODER_PACKAGE) is None and os.environ.get("CI") != "true":
        pytest.skip("the sentence encoder is not installed")
    encoder = UniversalSentenceEncoder(log=tmp_path / "encoder.log")

    def nearness(question, texts):
        first, *others = encoder.embed([question, *texts.values()])
        return {name: float(vector @ first) for name, vector in zip(texts, others, strict=True)}

    try:
        assert mean_nearness(encoder.embed(list(UNRELATED))) == pytest.approx(REFERENCE_NEARNESS, abs=0.002)
        results = {True: 0, False: 0}
        for german, english, expected in CASES:
            for question, known in ((german, english), (english, german)):
                answered = find_same(question, [finding(known)], now=NOW, nearness=nearness)
                results[expected] += answered is not None
                assert expected or answered is None, (question, known)
        wanted = 2 * sum(expected for *_, expected in CASES)
        assert results[True] >= 0.6 * wanted
    finally:
        encoder.close()


@given(st.floats(0, 0.9), st.floats(-1, 1))
def test_every_embedder_is_measured_by_the_same_scale(usual, near):
    assert rescale(usual, usual) == pytest.approx(REFERENCE_NEARNESS)
    assert rescale(1.0, usual) == pytest.approx(1.0)
    assert rescale(near, REFERENCE_NEARNESS) == pytest.approx(near)


# Findings


def test_the_newest_that_holds_answers_with_its_age():
    known = [finding(id=f"r_{n}", created_at=NOW - n * 60, expires_at=NOW + DAY) for n in (3, 1, 2)]
    same = find_same("Wetter Kassel", known, now=NOW)
    assert (same.finding.id, same.age) == ("r_1", 60)


def test_expired_ones_and_those_without_a_source_answer_nothing():
    assert find_same("Wetter Kassel", [finding(expires_at=NOW - 1)], now=NOW) is None
    assert find_same("Wetter Kassel", [finding("Wetter Kassel", source(trouble="gone"))], now=NOW) is None


def test_who_asks_deep_is_not_answered_by_a_quick_look():
    quick, deep = finding(), finding(mode="deep")
    assert find_same("Wetter Kassel", [quick], now=NOW, mode="deep") is None
    assert find_same("Wetter Kassel", [deep], now=NOW, mode="deep") is not None
    assert find_same("Wetter Kassel", [deep], now=NOW) is not None


def test_alike_ones_are_one_with_the_sources_of_all_newest_first():
    old = finding(
        "Wetter in Kassel",
        source("https://a.example"),
        source("https://b.example"),
        id="r_1",
        merged=("r_0",),
    )
    new = finding(
        "Wie wird das Wetter in Kassel?",
        source("https://b.example", "Neu."),
        id="r_2",
        created_at=NOW + 60,
        mode="deep",
    )
    other = finding("Wetter in Köln", id="r_3")
    expired = finding(id="r_4", expires_at=NOW - 1)
    (group,) = group_same([old, other, new, expired], now=NOW)
    assert [item.id for item in group] == ["r_2", "r_1"]
    result = merge_findings(group)
    assert (result.id, result.mode, result.merged) == ("r_2", "deep", ("r_1", "r_0"))
    assert [(entry.url, entry.text) for entry in result.sources] == [
        ("https://b.example", "Neu."),
        ("https://a.example", source().text),
    ]
    assert result.summary == ""
    record = merge_findings([replace(new, summary="Von mir.", summary_by="person"), old])
    assert (record.summary, record.summary_by) == ("Von mir.", "person")
