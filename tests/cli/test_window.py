"""`holdfast window`: what a model was last shown, drawn for people and written for programs."""

import json

import pytest

from holdfast.cli.window import draw_bar
from holdfast.errors import NotFound
from holdfast.store import open_store
from tests.talks import store_talk


@pytest.fixture
def chat(home):
    return store_talk(home)


def test_the_report_names_sections_level_and_what_was_done(hold, chat):
    shown = hold("window", chat)
    report = json.loads(hold("window", chat, "--json"))
    for section in report["sections"]:
        if section["tokens"]:
            assert f"{section['tokens']:,}" in shown
    assert f"{report['tokens']:,} of {report['window']:,} tokens used" in shown
    assert "level 2 (what matters least is left out)" in shown
    assert "estimated" in shown
    assert all(decision["id"] in shown for decision in report["decisions"])
    assert "this is the first request" in shown
    states = [message["state"] for message in report["messages"]]
    gone = len(report["decisions"][-1]["messages"])
    whole, short = states.count("in"), states.count("shortened")
    assert f"{whole} whole, {short} shortened, {gone} left out" in shown


def test_the_bar_is_as_wide_as_the_window_is_large():
    assert draw_bar([("history", 50), ("reserve", 25), ("free", 25)], 100, 8).plain == "████░░··"
    assert draw_bar([("history", 1), ("free", 999)], 1000, 10).plain == "·" * 10
    # A request that was let through too large does not run out of its bar.
    assert len(draw_bar([("history", 150), ("reserve", 50)], 100, 8).plain) == 8


def test_what_was_undone_is_listed_apart(hold, chat):
    hold("conversations", "undo", chat)
    shown = hold("window", chat)
    in_force, undone = shown.split("Undone, not to be done again")
    assert "left out: matters least" not in in_force.split("In force")[1]
    assert "left out: matters least" in undone


def change_report(home, chat, **changes):
    """The last report, as if the last request had been another one."""
    with open_store(f"sqlite:///{home / 'holdfast.db'}") as store:
        (lane,) = store.lanes.of(chat)
        report = {**lane.report, **changes}
        store.lanes.put(
            lane.id, chat, window=lane.window, state=lane.state, report=report, expect=lane.version
        )


def test_what_outlives_its_messages_is_shown_word_for_word(hold, home, chat):
    rules, agreed = ["Never push to [main]."], ["We use PostgreSQL."]
    assert "carried along" not in hold("window", chat)
    change_report(home, chat, rules=rules, agreed=agreed, pins=["m_pinned"])
    shown = hold("window", chat)
    assert shown.index("Rules carried along") < shown.index(rules[0]) < shown.index(agreed[0])
    assert shown.index("Pinned:") < shown.index("m_pinned")


def test_what_was_searched_brought_and_just_missed_is_listed(hold, home, chat):
    def row(name: str, score: float) -> dict:
        return {"id": name, "from": "here", "score": score, "whole": True, "parts": {"words": score}}

    recall = {
        "searched": ["Who paints?"],
        "likely": 0.9,
        "brought": [row("m_one", 0.9)],
        "missed": [row("m_two", 0.3)],
    }
    change_report(home, chat, recall=recall)
    shown = hold("window", chat)
    assert shown.index("? Who paints?") < shown.index("+  90%  m_one") < shown.index("-  30%  m_two")


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        ("", "prefix kept: the request begins with all 1,234 bytes"),
        ("system", "prefix lost after 10 of 1,234 bytes: the instructions changed"),
        ("level 1", "prefix lost after 10 of 1,234 bytes: level 1 (old text is shortened) stepped in"),
    ],
)
def test_prefix_is_shown_as_kept_or_with_cause_of_loss(hold, home, chat, cause, told):
    prefix = {"kept": not cause, "shared_bytes": 10, "previous_bytes": 1234, "cause": cause}
    change_report(home, chat, prefix=prefix)
    assert told in hold("window", chat)


def test_a_window_of_another_size_is_named_with_those_there_are(hold, chat):
    assert json.loads(hold("window", chat, "--window", "8192", "--json"))["window"] == 8192
    result = hold("window", chat, "--window", "4711", whole=True)
    assert isinstance(result.exception, NotFound)
    assert "8192" in str(result.exception)


def test_the_report_is_german_where_that_is_spoken(hold, chat, monkeypatch):
    monkeypatch.setenv("HOLDFAST_LANGUAGE", "de")
    shown = hold("window", chat)
    for words in ("Verlauf", "Stufe 2", "weggelassen", "Letzte Durchgänge", "das ist die erste Anfrage"):
        assert words in shown
