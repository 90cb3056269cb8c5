"""What was asked in a conversation is neither found nor told as something that is known."""

from pathlib import PurePosixPath

import pytest

from holdfast.compaction.compactor import SummaryBody
from holdfast.compaction.ledger import Ledger, LedgerEntry
from holdfast.compaction.summary import HEADINGS, Summary
from holdfast.memory.index import passages_of
from holdfast.memory.workspace import NoteEntry
from holdfast.text.questions import is_wish_heading, without_ledger, without_wishes

SUMMARY = {
    "de": Summary(
        ("Beschreib den Leuchtturm",), ("Ein Führer",), ("arion hört auf Port 4711",), language="de"
    ),
    "en": Summary(("Describe the lighthouse",), ("A guide",), ("arion listens on port 4711",), language="en"),
}


@pytest.mark.parametrize("language", ["de", "en"])
def test_only_requests_and_goals_are_wishes(language):
    wishes = {name for name, title in HEADINGS[language].items() if is_wish_heading(title)}
    assert wishes == {"requests", "goal"}


@pytest.mark.parametrize("language", ["de", "en"])
def test_a_summary_is_indexed_and_told_without_its_wishes(language):
    text = SUMMARY[language].render()
    report = without_wishes(text)
    entry = NoteEntry(
        PurePosixPath("default/conversations/c_1/summary.md"), size=len(text), mtime=1.0, tag="t"
    )
    results = " ".join(passage.text for passage in passages_of(entry, text))
    for shown in (report, results):
        assert "4711" in shown
        assert not any(wish in shown for wish in (*SUMMARY[language].requests, *SUMMARY[language].goal))


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_ledger_of_a_summary_is_neither_indexed_nor_told(language):
    ledger = Ledger((LedgerEntry("amount", "38,000 euros", context="budget"),))
    body = SummaryBody(SUMMARY[language], ledger, language).full_text
    entry = NoteEntry(
        PurePosixPath("default/conversations/c_1/summary.md"), size=len(body), mtime=1.0, tag="t"
    )
    assert "38,000 euros" in body
    for shown in (without_ledger(body), " ".join(part.text for part in passages_of(entry, body))):
        assert "4711" in shown
        assert "38,000" not in shown
