"""A brief: what binds comes first and whole, the rest within its share, nothing of other projects."""

import pytest

from holdfast.brief import build_brief, estimate_tokens
from holdfast.memory.library import Library
from holdfast.memory.notes import Notes
from holdfast.messages import Message, Scope, Text, ToolCall, ToolResult
from holdfast.store import NewMessage, open_store
from holdfast.tokens.budget import budget_for

HERE = Scope(project="tides-1")


@pytest.fixture
def parts(tmp_path):
    with open_store(f"sqlite:///{tmp_path / 'db'}") as store:
        yield store, Library(Notes(tmp_path / "notes"), store.recollections)


def say(store, scope, *messages, title="Tides"):
    return store.log.begin(scope, [NewMessage(message) for message in messages], title=title)[0]


def texts(brief, name):
    return [line.text for line in brief.sections[name]]


def test_memories_stand_where_they_belong(parts):
    store, library = parts
    library.add(HERE, "Never push to main.", "decision")
    library.add(HERE, "We use PostgreSQL for the tide tables.", "decision")
    library.add(HERE, "The staging port is 8443.")
    library.add(HERE, "I prefer short answers.", "preference")
    library.add(Scope(), "My cat is called Minka.")
    library.add(Scope(project="lamps-2"), "Never touch the lamp module.", "decision")
    brief = build_brief(store, library, HERE)
    assert texts(brief, "forbidden") == ["Never push to main."]
    assert texts(brief, "rules") == ["I prefer short answers."]
    assert texts(brief, "decided") == ["We use PostgreSQL for the tide tables."]
    assert texts(brief, "known") == ["The staging port is 8443."]
    text = brief.render()
    assert text.index("Never push") < text.index("short answers") < text.index("PostgreSQL")
    assert "Minka" not in text
    assert "lamp" not in text


def test_the_last_conversations_leave_what_is_open_failed_and_forbidden(parts):
    store, library = parts
    failed = ToolResult((Text("error: could not connect to db"),), call_id="c1", error=True)
    row = say(
        store,
        HERE,
        Message.of("user", "Do not touch the legacy importer. <private>Klara pays.</private>"),
        Message("assistant", (ToolCall("bash", '{"command":"make migrate"}', id="c1"),)),
        Message("tool", (failed,)),
        Message.of("assistant", "The tests of the parser still need to be written."),
        Message.of("user", "We decided to store the tables as Parquet."),
    )
    say(store, Scope(project="lamps-2"), Message.of("user", "Do not use the red lamp."))
    brief = build_brief(store, library, HERE)
    assert any("legacy importer" in line for line in texts(brief, "forbidden"))
    assert any("make migrate" in line for line in texts(brief, "failed"))
    assert any("parser" in line for line in texts(brief, "open"))
    assert any("Parquet" in line for line in texts(brief, "decided"))
    assert {line.source for lines in brief.sections.values() for line in lines} == {row.id}
    assert row.id in brief.last
    assert "Klara" not in brief.render()
    assert "lamp" not in brief.render()


@pytest.mark.parametrize("window", [2_048, 8_192, 32_768])
def test_a_brief_keeps_its_share_and_rules_go_last(parts, window):
    store, library = parts
    for number in range(60):
        library.add(HERE, f"Buoy number {number} lies at harbour mark {1000 + number * 7}.")
    library.add(HERE, "Never delete the raw tide records of 1907.", "decision")
    brief = build_brief(store, library, HERE, window=window)
    budget = budget_for(window)
    assert estimate_tokens(brief.render()) <= budget.beginning + budget.summary
    assert texts(brief, "forbidden") == ["Never delete the raw tide records of 1907."]


def test_there_is_no_brief_where_nothing_is_known(parts):
    store, library = parts
    library.add(Scope(), "The person's own fact is no news of a project.")
    brief = build_brief(store, library, HERE)
    assert not brief
    assert brief.render() == ""
    assert brief.to_json(estimate_tokens)["tokens"] == 0
