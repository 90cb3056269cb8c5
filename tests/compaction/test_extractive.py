"""Without a model, a summary still says what was wanted, done, left open and forbidden, merge after merge."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.compaction.extractive import extract_summary
from holdfast.compaction.summary import SECTIONS, Summary
from holdfast.messages import Message, Role, Text, ToolCall, ToolResult
from holdfast.window.items import Item


def tokens(text: str) -> int:
    return (len(text) + 3) // 4


def span(*messages: Message) -> list[Item]:
    return [Item(f"m{number}", message, number) for number, message in enumerate(messages)]


def user(text: str) -> Message:
    return Message.of("user", text)


def assistant(text: str) -> Message:
    return Message.of("assistant", text)


def called(name: str, result: str, *, error: bool = False, **arguments: str) -> tuple[Message, Message]:
    identity = f"{name}-{len(json.dumps(arguments))}"
    return (
        Message("assistant", (ToolCall(name, json.dumps(arguments), identity),)),
        Message("tool", (ToolResult((Text(result),), call_id=identity, name=name, error=error),)),
    )


def summarised(*messages: Message, previous: Summary | None = None, language: str = "en") -> Summary:
    return extract_summary(span(*messages), previous, language, tokens, 600)


ENGLISH = (
    user("I'm building a booking service for our sailing club. Can you set up the database schema?"),
    assistant(
        "Sure! Here is the plan:\n\n```sql\nCREATE TABLE boats (id int);\n```\n"
        "I have created the tables boats and bookings in schema.sql."
    ),
    user("Never store card numbers in our database. Please add an index on bookings.starts_at."),
    *called("edit_file", "ok", path="db/schema.sql"),
    assistant(
        "I've added the index idx_bookings_starts_at. "
        "The query over 40,000 rows now takes 12 ms instead of 850 ms."
    ),
    user("Try to partition the table by month."),
    *called(
        "run",
        "ERROR: unique constraint on partitioned table must include all columns",
        error=True,
        command="psql -f partition.sql",
    ),
    assistant(
        "Partitioning by month does not work with the unique constraint. "
        "We still need to decide how to archive old bookings."
    ),
    user("ok"),
    user("Then write the e-mail templates for the confirmation."),
)

GERMAN = (
    user(
        "Wir wollen unser Lager von Excel auf eine kleine Webanwendung umstellen. "
        "Kannst du mir ein Datenmodell vorschlagen?"
    ),
    assistant(
        "Gerne! Ich habe ein Modell mit den Tabellen artikel, lagerplatz und bewegung in modell.sql angelegt."
    ),
    user("Lösche nie Bewegungen, auch keine stornierten. Ergänze bitte ein Feld für die Chargennummer."),
    *called("write_file", "geschrieben", file_path="src/modell.sql"),
    assistant("Ich habe das Feld chargennummer ergänzt und 1.240 Artikel aus der alten Liste übernommen."),
    user("Der Import der Lieferanten hat nicht funktioniert, die Umlaute sind kaputt."),
    assistant(
        "Die Ursache war die Kodierung Windows-1252. Noch offen ist der Abgleich der doppelten Lieferanten."
    ),
    user("Schreib bitte als Nächstes den Abgleich, Schwellwert 0,85."),
)


def test_an_english_talk_is_sorted_into_the_sections():
    summary = summarised(*ENGLISH)
    assert "database schema" in summary.requests[0]
    assert summary.requests[-1] == "Then write the e-mail templates for the confirmation."
    assert summary.goal == ("I'm building a booking service for our sailing club.",)
    assert "I've added the index idx_bookings_starts_at." in summary.done
    assert any("12 ms instead of 850 ms" in line for line in summary.done)
    assert "Files changed: db/schema.sql" in summary.done
    assert any("archive old bookings" in line for line in summary.open)
    assert any(line.startswith("run psql -f partition.sql: ERROR: unique") for line in summary.open)
    assert "Then write the e-mail templates for the confirmation." in summary.open
    assert "Never store card numbers in our database." in summary.must_not
    assert "Partitioning by month does not work with the unique constraint." in summary.must_not


def test_a_german_talk_is_sorted_into_the_sections():
    summary = summarised(*GERMAN, language="de")
    assert "Datenmodell" in summary.requests[0]
    assert summary.requests[-1] == "Schreib bitte als Nächstes den Abgleich, Schwellwert 0,85."
    assert summary.goal == ("Wir wollen unser Lager von Excel auf eine kleine Webanwendung umstellen.",)
    assert any("1.240 Artikel" in line for line in summary.done)
    assert "Geänderte Dateien: src/modell.sql" in summary.done
    assert any("Abgleich der doppelten Lieferanten" in line for line in summary.open)
    assert "Lösche nie Bewegungen, auch keine stornierten." in summary.must_not
    assert any("nicht funktioniert" in line for line in summary.must_not)
    assert summary.render().startswith("## Anfragen\n")


def test_politeness_and_code_are_left_out():
    text = summarised(*ENGLISH).render()
    assert "Sure" not in text
    assert "CREATE TABLE" not in text
    assert "\n- ok\n" not in text


def test_every_line_was_said_by_somebody():
    text = " ".join(" ".join(message.text.split()) for message in ENGLISH)
    for name in SECTIONS:
        for line in summarised(*ENGLISH).section(name):
            if not line.startswith(("Files changed: ", "run ")):
                assert line.removesuffix("…") in text


def test_what_was_said_twice_is_kept_once():
    facts = [f"The pump {number} of hall B has 17 Nm torque." for number in (1, 1, 1)]
    lines = summarised(*map(assistant, [*facts, "The compressor in hall C was replaced on Monday."])).done
    assert len(lines) == 2


def test_a_request_that_was_answered_is_no_longer_open():
    first = summarised(user("Please rename the module parser to reader."))
    assert first.open == ("Please rename the module parser to reader.",)
    second = summarised(assistant("I have renamed it in all 12 places."), previous=first)
    assert second.open == ()
    assert second.requests == first.requests


def test_what_is_reported_done_is_no_longer_open():
    first = summarised(
        user("Hello there, my friend of old."), assistant("The migration of table invoices is still open.")
    )
    assert first.open == ("The migration of table invoices is still open.",)
    second = summarised(
        assistant("I have finished the migration of the table invoices, it is no longer open."),
        previous=first,
    )
    assert second.open == ()


def test_a_failed_call_is_open_until_it_succeeds():
    first = summarised(*called("run", "bash: make: command not found", error=True, command="make test"))
    assert first.open == ("run make test: bash: make: command not found",)
    again = summarised(user("Look at the other module first, please."), previous=first)
    assert first.open[0] in again.open
    mended = summarised(*called("run", "17 passed", command="make test"), previous=again)
    assert first.open[0] not in mended.open


def test_changed_files_accumulate_across_summaries_without_failed_edits():
    first = summarised(
        *called("write_file", "ok", path="a.py"), *called("edit", "no", error=True, path="broken.py")
    )
    second = summarised(*called("apply_patch", "ok", patch="*** Update File: b.py\n+x"), previous=first)
    assert second.done == ("Files changed: a.py, b.py",)


def test_new_goal_is_added_and_first_goal_is_kept():
    first = summarised(user("My goal is to learn Italian before the summer."))
    second = summarised(user("Our new goal is to pass the B1 exam in May."), previous=first)
    assert second.goal == (
        "My goal is to learn Italian before the summer.",
        "Our new goal is to pass the B1 exam in May.",
    )


@pytest.mark.parametrize(
    "messages",
    [
        (user("ok"),),
        (user("ok"), assistant("ok"), user("👍")),
        (user("x" * 400_000),),
        (user("Satz über die Pumpe 7. " * 20_000),),
        called("read", "line of a log with words\n" * 5_000, path="a.log"),
        called("read", '{"a": [1, 2, 3]}', path="a.json"),
        (user("```\n" + "code()\n" * 1_000 + "```"),),
        (assistant("\n" * 50_000 + "."),),
        (assistant("a(" * 100_000 + ")"), user("b = c " * 60_000 + "(")),
        (assistant("ich habe " * 40_000),),
    ],
    ids=[
        "ok",
        "nods",
        "one word",
        "one message",
        "results",
        "json",
        "code",
        "blank lines",
        "brackets",
        "one endless sentence",
    ],
)
def test_odd_spans_give_something_that_fits(messages):
    summary = extract_summary(span(*messages), None, "en", tokens, 300)
    assert summary
    assert tokens(summary.render()) <= 300


def test_a_span_of_nothing_leaves_the_last_summary_as_it_is():
    before = summarised(*ENGLISH)
    assert summarised(previous=before) == before
    assert extract_summary([], None, "en", tokens, 600) == Summary()


def test_the_hundredth_merge_still_knows_the_goal_and_the_first_request():
    summary = summarised(*ENGLISH)
    first, goal = summary.requests[0], summary.goal[0]
    for number in range(100):
        messages = (
            user(f"Please write report {number} about harbour {number * 37 % 101} and its week {number}."),
            assistant(
                f"I have written report_{number}.md with {number * 13} measurements. "
                f"Section {number} is still open."
            ),
            user(f"The colours of chart {number} did not work on the printer of office {number}."),
            assistant(f"I changed the palette to viridis{number} in charts/{number}.py."),
        )
        summary = extract_summary(span(*messages), summary, "en", tokens, 400)
        assert tokens(summary.render()) <= 400
        assert summary.requests[0] == first
        assert summary.goal[0] == goal
        assert any(f"report_{number}.md" in line or f"viridis{number}" in line for line in summary.done)
    assert "Never store card numbers in our database." in summary.must_not
    assert len(summary.done) > 3


def test_the_same_span_gives_the_same_summary():
    assert summarised(*ENGLISH) == summarised(*ENGLISH)


ROLES: st.SearchStrategy[Role] = st.sampled_from(("user", "assistant", "tool"))
TEXTS = st.one_of(st.text(max_size=200), st.sampled_from([message.text for message in (*ENGLISH, *GERMAN)]))
SPANS = st.lists(st.builds(Message.of, ROLES, TEXTS), max_size=12)


@settings(deadline=None)
@given(SPANS, SPANS, st.sampled_from(("de", "en")), st.integers(0, 600))
def test_any_two_spans_give_a_summary_that_fits(older, newer, language, room):
    before = extract_summary(span(*older), None, language, tokens, room)
    after = extract_summary(span(*newer), before, language, tokens, room)
    assert tokens(after.render()) <= room
    if room >= 100 and any(message.text.strip() for message in newer):
        assert after


@pytest.mark.parametrize(
    ("old", "new", "stale", "language"),
    [
        ("Our budget is 38,000 euros.", "Correction: the budget is now 42,500 euros.", "38,000", "en"),
        (
            "Unser Budget beträgt 38.000 Euro.",
            "Korrektur: das Budget beträgt jetzt 42.500 Euro.",
            "38.000",
            "de",
        ),
    ],
)
def test_a_replaced_value_is_in_no_later_summary(old, new, stale, language):
    first = summarised(user(old), assistant("Ok."), language=language)
    assert stale in first.render()
    for later in (
        summarised(user(new), assistant("Ok."), previous=first, language=language),
        summarised(user(old), assistant("Ok."), user(new), assistant("Ok."), language=language),
    ):
        assert stale not in later.render()
        assert "42" in later.render()


@pytest.mark.parametrize(
    ("language", "stated", "report", "changed"),
    [
        (
            "en",
            ["Ms Keller is the contact for photos.", "Our server runs on port 9080."],
            "I have connected the {} with the {} and tested both of them.",
            "The server runs on port 9443 now.",
        ),
        (
            "de",
            ["Ansprechpartnerin für Fotos ist Frau Keller.", "Unser Server läuft auf Port 9080."],
            "Ich habe {} mit {} verbunden und beides getestet.",
            "Der Server läuft jetzt auf Port 9443.",
        ),
    ],
)
def test_what_was_stated_outlives_reports_of_a_model(language, stated, report, changed):
    things = ["cart", "gallery", "search", "filter", "menu", "invoice", "stock", "voucher", "label", "form"]
    summary = None
    for turn in range(8):
        reports = " ".join(report.format(things[turn], thing) for thing in things)
        said = (user(stated[turn]),) if turn < len(stated) else ()
        summary = extract_summary(span(*said, assistant(reports)), summary, language, tokens, 150)
    assert set(stated) <= set(summary.done)
    assert set(stated) <= set(summary.trim(tokens, 40).done)
    # Where the window quotes another value, the old one is not told beside it.
    assert summary.without([changed]).done[0] == stated[0]
    assert stated[1] not in summary.without([changed]).done
