"""Which earlier findings bear on what is said now: those a person would think of, and no others."""

import inspect
import json.decoder
import os
from dataclasses import replace
from importlib.util import find_spec

import pytest

from holdfast.memory.embedder_local import ENCODER_PACKAGE, UniversalSentenceEncoder
from holdfast.messages import Scope
from holdfast.research.matching import OLD, rank_related
from tests.research.builders import DAY, HOUR, NOW, finding, researching, source
from tests.research.relevance_cases import FINDINGS, KNOWN, UNSEEN


def names(question, findings=FINDINGS, **more):
    return [item.finding.id for item in rank_related(question, findings, now=NOW, **more)]


def judge(cases, nearness=None):
    """How many that are needed are missing, and how many are there that have nothing to do with it."""
    rows = [(case, set(names(case.question, nearness=nearness))) for case in cases]
    return (
        sum(len(case.need - value) for case, value in rows),
        sum(len(place - case.need - case.may) for case, place in rows),
    )


def test_weather_bears_on_a_hike_and_not_on_a_program():
    assert names("Soll ich am Wochenende wandern gehen?")[0] == "weather"
    assert "weather" not in names("Wie sortiere ich eine Liste in Python?")


def test_by_words_alone_most_are_found_and_hardly_one_too_many():
    missing, extra = judge(KNOWN)
    assert missing <= 3
    assert extra == 0
    missing, extra = judge(UNSEEN)
    assert missing <= 1
    assert extra <= 3


def test_nothing_bears_on_nothing():
    assert names("") == names("  \n") == names("Wetter", []) == []


def test_expired_findings_and_those_already_in_window_are_excluded():
    expired = [replace(finding, expires_at=NOW - 1) for finding in FINDINGS]
    assert names("Wie ist das Wetter in Niestetal?", expired) == []
    assert "weather" not in names("Wie ist das Wetter in Niestetal?", without={"weather"})


def test_only_relevant_expired_findings_are_reported(tmp_path):
    with researching(tmp_path) as lab:
        page = [source(text="Bitcoin steht bei 67.000 USD.")]
        bitcoin = lab.research.add(Scope(), "Wie steht der Bitcoin-Kurs?", page)
        gold = lab.research.add(Scope(), "Was kostet Gold?", [source(text="Gold kostet 2.400 USD.")])
        names = {bitcoin.id, gold.id}
        assert lab.research.find_outdated(Scope(), "Bitcoin?", names) == []
        lab.clock.now += 2 * HOUR
        assert [item.id for item in lab.research.find_outdated(Scope(), "Bitcoin?", names)] == [bitcoin.id]
        assert lab.research.find_outdated(Scope(), "Bitcoin?", {gold.id}) == []
        assert lab.research.find_outdated(Scope(), "Und Fahrräder?", names) == []


def test_findings_are_ranked_by_similarity_then_age_within_limit():
    alike = [finding("Wetter in Kassel", id=f"r_{n}", created_at=NOW - n * 60) for n in range(12)]
    other = finding("Museen in Kassel", id="museum", created_at=NOW, volatility="monthly")
    results = names("Wetter in Kassel", [*alike, other])
    assert results == [f"r_{n}" for n in range(10)]
    assert names("Museen in Kassel", [*alike, other], limit=2)[0] == "museum"


def test_very_old_findings_are_shortened_unless_permanent():
    old = NOW - OLD - DAY
    kinds = {"monthly": True, "permanent": False}
    for volatility, brief in kinds.items():
        (item,) = rank_related(
            "Museen in Kassel",
            [finding("Museen in Kassel", created_at=old, volatility=volatility)],
            now=NOW,
        )
        assert item.brief is brief


def test_a_long_paste_does_not_bear_on_everything():
    paste = inspect.getsource(json.decoder)[:1_500]
    assert names(f"{paste}\nWhatever the weather, why does it fail?") == []


def test_days_are_those_that_were_meant_when_it_was_asked():
    weather = finding("Wetter am Samstag", created_at=NOW - 7 * DAY, volatility="daily")
    assert names("Was machen wir am Samstag?", [weather]) == [], "that Saturday is over"
    assert names("Was machen wir am Samstag?", [replace(weather, created_at=NOW - 60)]) == ["r_1"]


@pytest.mark.real
def test_by_meaning_too_even_less_is_missing(tmp_path):
    if find_spec(ENCODER_PACKAGE) is None and os.environ.get("CI") != "true":
        pytest.skip("the sentence encoder is not installed")
    encoder = UniversalSentenceEncoder(log=tmp_path / "encoder.log")

    def nearness(question, texts):
        first, *others = encoder.embed([question, *texts.values()])
        return {name: float(vector @ first) for name, vector in zip(texts, others, strict=True)}

    try:
        missing, extra = judge(KNOWN, nearness)
        assert missing <= 1
        assert extra == 0
        missing, extra = judge(UNSEEN, nearness)
        assert missing == 0
        assert extra <= 4
    finally:
        encoder.close()
