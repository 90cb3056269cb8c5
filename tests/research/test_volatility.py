"""How soon an answer is out of date, by rules that are the same in German and English."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.research.finding import VOLATILITIES, estimate_volatility, expiry_time, parse_volatility
from tests.research.builders import DAY, HOUR, NOW

CASES = {
    "hourly": [
        "Wie steht der Bitcoin Kurs?",
        "Tesla stock",
        "Was kostet Heizöl?",
        "Benzinpreise in Kassel",
        "Wie ist das Wetter gerade in Kassel?",
        "What is the temperature in Berlin right now?",
        "Wie steht es im Spiel Bayern gegen Dortmund?",
        "traffic on the A7",
    ],
    "daily": [
        "Wie wird das Wetter in Kassel?",
        "weather forecast Berlin",
        "Nachrichten aus Hessen",
        "What happened today?",
        "Regnet es am Wochenende?",
    ],
    "weekly": [
        "Öffnungszeiten Museum Kassel",
        "latest release of Django",
        "Welche Konzerte gibt es in Kassel?",
    ],
    "monthly": [
        "Beste Kopfhörer unter 100 Gramm",
        "hotels in Rome",
        "Wer ist Bürgermeister von Kassel?",
        "how to prune an apple tree",
    ],
    "permanent": [
        "Wann wurde Kassel gegründet?",
        "Who invented the telephone?",
        "Was ist ein Mutex?",
        "Wer bekam den Nobelpreis 1921?",
        "Wie hoch war der Bitcoin Kurs 2019?",
        "Beweis für den Satz des Pythagoras",
        "What is the capital of Peru?",
        "Dokumentation von Python 3.11 zu asyncio",
        "changes in Django 4.2",
    ],
}


@pytest.mark.parametrize(
    ("question", "volatility"), [(item, name) for name, items in CASES.items() for item in items]
)
def test_questions_are_as_volatile_as_what_they_ask_for(question, volatility):
    assert estimate_volatility(question, at=NOW) == volatility


def test_volatility_defaults_to_sources_then_to_one_week():
    assert estimate_volatility("Niestetal", ["7-Tage-Wetter https://wetter.com"]) == "daily"
    assert estimate_volatility("Niestetal", ["Niestetal – Wikipedia"]) == "monthly"
    assert estimate_volatility("Niestetal") == "weekly"
    assert estimate_volatility("Was ist ein Mutex?", ["News"]) == "permanent", "the question knows best"


def test_only_a_year_that_is_over_holds_for_good():
    assert estimate_volatility("Bitcoin Kurs 2026", at=NOW) == "hourly"
    assert estimate_volatility("Bitcoin Kurs 2025", at=NOW) == "permanent"


def test_each_holds_as_long_as_its_name_says():
    holds = {name: expiry_time(name, NOW) for name in VOLATILITIES}
    assert holds == {
        "hourly": NOW + HOUR,
        "daily": NOW + DAY,
        "weekly": NOW + 7 * DAY,
        "monthly": NOW + 30 * DAY,
        "permanent": 0.0,
    }


def test_a_models_word_counts_only_if_it_is_one_of_ours():
    assert parse_volatility(" **Daily**.") == "daily"
    assert parse_volatility("stündlich") == "hourly"
    for word in ("", "often", "daily or weekly", "dailyish", "never"):
        assert parse_volatility(word) is None


@given(st.text(max_size=200), st.lists(st.text(max_size=50), max_size=3))
def test_any_question_has_one(question, sources):
    assert estimate_volatility(question, sources, NOW) in VOLATILITIES
