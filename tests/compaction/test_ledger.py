"""The ledger carries names, numbers and errors verbatim, whatever the summary makes of them."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.compaction.ledger import LIMIT, Ledger, LedgerEntry, build_ledger
from holdfast.messages import Message, Text, ToolCall, ToolResult
from holdfast.window.items import Item


def span(*messages, start=0):
    return [Item(f"m{place}", message, place) for place, message in enumerate(messages, start)]


def user(text):
    return Message.of("user", text)


def answer(text):
    return Message.of("assistant", text)


def call(id_, name="bash", **arguments):
    return Message("assistant", (ToolCall(name, json.dumps(arguments), id_),))


def result(id_, text, *, error=False):
    return Message("tool", (ToolResult((Text(text),), id_, error=error),))


def texts(ledger, kind=None):
    return [entry.text for entry in ledger.entries if kind in (None, entry.kind)]


def entry_of(ledger, text):
    return next(entry for entry in ledger.entries if entry.text == text)


def words(text):
    return len(text.split())


SENTENCES = [
    ("file", "src/holdfast/turn.py", "Please open {} and look at the top."),
    ("file", "README.md", "Steht das in der {}?"),
    ("file", "/etc/nginx/nginx.conf", "The setting is in {}, I think."),
    ("file", r"C:\Users\anna\report.docx", "Ich habe es unter {} gespeichert."),
    ("file", "Angebot Müller 2026.pdf", 'Die Zahlen stehen in "{}", Seite 3.'),
    ("file", "tests/unit/test_login.py:42", "It fails at {} every time."),
    ("file", ".env", "Die Werte kommen aus der {} im Ordner."),
    ("command", "git rebase -i HEAD~3", "I ran {} and it broke."),
    ("command", "npm run build:prod", "Ich starte immer `{}` vorher."),
    ("command", "docker compose up -d", "$ {}"),
    ("url", "https://docs.example.com/a?b=1#c", "See {}."),
    ("url", "git@github.com:acme/shop.git", "Clone {} first."),
    ("url", "api.acme.io/v2/orders", "Der Endpunkt ist {} und sonst nichts."),
    ("id", "123e4567-e89b-12d3-a456-426614174000", "The user is {}."),
    ("id", "PROJ-123", "Das gehört zu {}."),
    ("id", "KD-2024-0815", "Meine Kundennummer ist {}."),
    ("id", "DE89 3704 0044 0532 0130 00", "Überweise es an {}, bitte."),
    ("id", "req_8f3a9c2d11", "The request {} timed out."),
    ("id", "9fceb02", "Seit Commit {} geht es nicht mehr."),
    ("id", "db-2.internal:5432", "Die Datenbank hört auf {}."),
    ("id", "anna.schmidt@example.org", "Write to {} when done."),
    ("id", "HOLDFAST_HOME", "Setz die Variable {} vorher."),
    ("id", "MAX_RETRIES=7", "We need {} in the file."),
    ("id", "UserService.load()", "The method `{}` is slow."),
    ("id", "get_user_by_id", "Why does {} return nothing?"),
    ("id", "10.0.4.17", "Der Rechner hat die Adresse {}."),
    ("id", "+49 30 1234567", "Meine Nummer ist {}."),
    ("id", "8443", "The port of the staging server is {}."),
    ("id", "4711", "Der Code für das Tor lautet {}."),
    ("id", "LH 454", "Ich fliege mit {} nach Boston."),
    ("id", "Lindenstraße 14", "Wir wohnen in der {} in Köln."),
    ("id", "8812-XL", "Artikel {} ist ausverkauft."),
    ("id", "feature/login-42", "Der Branch heißt {}."),
    ("id", "lr=3e-4", "With {} it diverged."),
    ("id", "135/85", "Der Blutdruck war {}."),
    ("version", "Python 3.11.7", "We are on {} here."),
    ("version", "PostgreSQL 16", "Wir setzen {} ein."),
    ("version", "v1.2.3", "Since {} it is slow."),
    ("version", "fastapi==0.111.0", "I pinned {} yesterday."),
    ("version", "react@18.2.0", "Wir haben {} installiert."),
    ("amount", "1.250,00 €", "Das kostet {} im Monat."),
    ("amount", "$4,500", "The budget is {} per month."),
    ("amount", "17 Nm", "Das Anzugsmoment ist {}."),
    ("amount", "12 ms", "The p95 went to {} after that."),
    ("amount", "30 %", "Etwa {} der Nutzer brechen ab."),
    ("amount", "4 GB", "The machine has {} of memory."),
    ("amount", "-18 °C", "Es muss bei {} lagern."),
    ("amount", "2,5 Mio. Euro", "Der Umsatz lag bei {}, sagt sie."),
    ("amount", "35 Mitarbeiter", "Die Firma hat {} in Köln."),
    ("date", "24.02.2026", "Die Abgabe ist am {}, nicht später."),
    ("date", "2026-02-24", "The release is on {} at noon."),
    ("date", "March 3rd", "We meet on {} again."),
    ("date", "3. März 2026", "Am {} ist Schluss."),
    ("date", "24.02", "Bis zum {}. muss es fertig sein."),
    ("date", "14:30 Uhr", "Wir treffen uns um {} dort."),
    ("date", "9:15 am", "The call is at {} sharp."),
    ("error", "TypeError: x is not a function", "I get {}. What now?"),
    ("error", "fatal: not a git repository", "{}"),
    ("error", "E   assert 3 == 4", "{}"),
    ("decision", "Let's use Redis for the queue.", "{}"),
    ("decision", "Wir nehmen SQLite.", "{}"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "sentence"), SENTENCES, ids=[text for _, text, _ in SENTENCES])
def test_what_a_person_says_is_found_verbatim(kind, text, sentence):
    results = texts(build_ledger(span(user(sentence.format(text)))), kind)
    assert " ".join(text.split()) in results


PLAIN = [
    "I think we should talk about this and/or that, e.g. tomorrow.",
    "Das war z.B. gestern, d.h. es ist schon vorbei.",
    "1. First we look. 2. Then we decide what to do.",
    "Node.js is nice, and so is UTF-8.",
    "In 1984 he wrote a book about 2020.",
    "Call console.log and self.key as you like.",
    "Step 2.1 follows section 4.2, see Table 3.1.",
    "Make sure to find a way to go on.",
    "There were 0 errors and no failures.",
    "Error handling is important in every program.",
]


@pytest.mark.parametrize("text", PLAIN)
def test_plain_talk_leaves_nothing(text):
    assert build_ledger(span(user(text))).entries == ()


@pytest.mark.parametrize(
    ("sentence", "text", "context"),
    [
        ("The port of the staging server is 8443.", "8443", "port of the staging server"),
        ("Das Anzugsmoment der Radschrauben beträgt 110 Nm.", "110 Nm", "Anzugsmoment der Radschrauben"),
        ("Budget: 1.250,00 €", "1.250,00 €", "Budget"),
        ("30 % Rabatt für Stammkunden.", "30 %", "Rabatt für Stammkunden"),
        ("We paid $40, $50 and 12 ms was the latency.", "$50", ""),
        ("Wir kommen. 12 km", "12 km", ""),
    ],
)
def test_a_number_comes_with_the_words_that_name_it(sentence, text, context):
    assert entry_of(build_ledger(span(user(sentence))), text).context == context


def test_a_value_in_json_comes_with_its_name():
    output = '{"status": "ok", "reservation_id": "4BMN53", "total": 3}'
    ledger = build_ledger(span(call("1", command="x y"), result("1", output)))
    assert entry_of(ledger, "4BMN53").context == "reservation_id"


def test_commands_and_files_come_from_the_arguments_of_tools():
    ledger = build_ledger(
        span(
            call("1", command="pytest -x tests/store"),
            result("1", "ok"),
            call("2", command=["bash", "-lc", "make lint"]),
            result("2", "ok"),
            call("3", name="write_file", path="src/app/main.py", content="x = 1\n" * 500),
            result("3", "ok"),
            call("4", command="ls -la"),
            result("4", "ok"),
        )
    )
    assert set(texts(ledger, "command")) == {"pytest -x tests/store", "make lint"}
    assert "src/app/main.py" in texts(ledger, "file")


def test_key_line_of_traceback_and_log_is_kept_without_timestamp():
    trace = "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nKeyError: 'orion'\n"
    log = "2026-02-11 10:11:12,113 INFO start\n2026-02-11 10:11:13,001 ERROR pool exhausted\n"
    ledger = build_ledger(span(call("1"), result("1", trace), call("2"), result("2", log)))
    assert {"KeyError: 'orion'", "ERROR pool exhausted"} <= set(texts(ledger, "error"))


def test_a_failed_call_stays_open_until_it_goes_well():
    failed = span(call("1", command="npm test"), result("1", "Error: 2 tests failed"))
    mended = span(call("2", command="npm test"), result("2", "all good"), start=2)
    other = span(call("3", command="npm start"), result("3", "listening"), start=2)
    assert texts(build_ledger(failed), "failure") == ["npm test → Error: 2 tests failed"]
    assert texts(build_ledger([*failed, *mended]), "failure") == []
    assert len(texts(build_ledger([*failed, *other]), "failure")) == 1


def test_result_marked_as_error_counts_as_failure_regardless_of_text():
    ledger = build_ledger(span(call("1", name="read", path="a.txt"), result("1", "nope", error=True)))
    assert texts(ledger, "failure") == ["read(a.txt) → nope"]


def test_failure_is_closed_when_command_succeeds_in_later_span():
    failed = build_ledger(span(call("1", command="npm test"), result("1", "Error: 2 failed")))
    mended = build_ledger(span(call("2", command="npm test"), result("2", "ok"), start=2))
    again = build_ledger(span(call("2", command="npm test"), result("2", "Error: 1 failed"), start=2))
    assert texts(failed.merge(mended), "failure") == []
    assert texts(failed.merge(again), "failure") == ["npm test → Error: 1 failed"]


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("file", "src/App/main.py", "./src/app/main.py"),
        ("file", r"src\app\main.py", "src/app/main.py:12"),
        ("amount", "1.250,00 €", "1,250.00 Euro"),
        ("amount", "€1250", "1.250 €"),
        ("amount", "30 %", "30 Prozent"),
        ("date", "24.02.2026", "February 24, 2026"),
        ("date", "2026-02-24", "24. Februar 2026"),
        ("date", "24.02.2026 14:30 Uhr", "2026-02-24 14:30"),
        ("version", "v1.2.3", "1.2.3"),
        ("id", "PROJ-123", "proj-123"),
        ("url", "https://a.example.com/x/", "https://a.example.com/x"),
        ("decision", "We use  Redis.", "we use redis."),
    ],
)
def test_two_spellings_of_one_thing_are_one_entry(kind, one, other):
    merged = Ledger((LedgerEntry(kind, one, last=1),)).merge(Ledger((LedgerEntry(kind, other, last=5),)))
    assert merged.entries == (LedgerEntry(kind, other, count=2, last=5),)


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("amount", "1.250,00 €", "125,00 €"),
        ("amount", "10 mW", "10 MW"),
        ("amount", "1,5 GB", "15 GB"),
        ("date", "24.02.2026", "02.04.2026"),
        ("version", "1.2.3", "1.2.30"),
        ("id", "user", "User"),
    ],
)
def test_two_different_things_stay_two(kind, one, other):
    assert len(Ledger((LedgerEntry(kind, one),)).merge(Ledger((LedgerEntry(kind, other),))).entries) == 2


def test_long_log_does_not_displace_user_entries():
    log = "\n".join(
        f"2026-02-11 10:00:00 INFO job {n} took {n} ms in /srv/data/x{n}/y.txt" for n in range(2_000)
    )
    items = span(user("Der Port ist 8443."), call("1"), result("1", log), answer("Done."))
    ledger = build_ledger(items)
    assert len(ledger.entries) < 60
    assert ledger.entries[0].text == "8443"


PASTES = (
    "Three offers came in:\n"
    + json.dumps(
        [{"vat": 0.19, "amount": 171.0 + at, "day": f"2026-04-0{at}"} for at in range(1, 9)], indent=1
    ),
    "\n".join(["The log:", *(f"2026-02-26 01:0{at}:07 INFO box 6{at}: 19{at} pages, ok" for at in range(9))]),
    "\n".join(["My list:", *(f"rolls from the market: {at} pieces, {at}.40 EUR" for at in range(3, 12))]),
)


def test_user_named_file_outlives_pasted_numbers():
    text = [user("Our inventory is the file cellar_2019_v3.xlsx."), answer("Good.")]
    for paste in PASTES * 4:
        text += [user(paste), answer("I see.")]
    ledger = build_ledger(span(*text))
    assert texts(ledger)[0] == "cellar_2019_v3.xlsx"
    assert not [entry for entry in ledger.entries if entry.own and entry.text != "cellar_2019_v3.xlsx"]
    assert "cellar_2019_v3.xlsx" in ledger.limit(words, 4, "en").render("en")


def test_what_is_both_pasted_and_said_is_the_persons_own():
    trace = 'Traceback (most recent call last):\n  File "/srv/valve.py", line 3\nValueError: E-4471 in valve'
    ledger = build_ledger(span(user(f"{trace}\n\nIs that E-4471 again?")))
    assert entry_of(ledger, "E-4471").own
    assert not entry_of(ledger, "ValueError: E-4471 in valve").own


@pytest.mark.parametrize("heading", ["Fehler: ", "Errors: ", "Error: Fehler: "])
def test_error_quoted_from_ledger_counts_as_same_error(heading):
    line = "ERROR box 17: feeder jammed, stopped"
    text = [user(f"The log:\n2026-02-11 02:20:52 {line}"), answer(f"{heading}{line}")]
    ledger = build_ledger(span(*text))
    assert texts(ledger, "error") == [line]
    assert entry_of(ledger, line).count == 2
    assert ledger.render("de").count("Fehler: ") == 1


def test_the_one_other_name_in_a_log_is_kept():
    lines = [f"read /srv/data/x{n}/y.txt" for n in range(100)]
    lines.insert(50, "wrote backup_orion.sql")
    ledger = build_ledger(span(call("1"), result("1", "\n".join(lines))))
    assert "backup_orion.sql" in texts(ledger, "file")


def test_recent_repeated_and_personal_things_come_first():
    old, new = LedgerEntry("file", "old.py", last=0), LedgerEntry("file", "new.py", last=200)
    often = LedgerEntry("file", "often.py", count=9, last=200)
    own = LedgerEntry("file", "own.py", last=200, own=True)
    assert texts(Ledger((old, new)).merge(Ledger((often, own)))) == [
        "own.py",
        "often.py",
        "new.py",
        "old.py",
    ]


def test_a_number_with_a_meaning_comes_before_one_without():
    bare, named = LedgerEntry("amount", "12 ms"), LedgerEntry("amount", "17 Nm", context="Anzugsmoment")
    assert texts(Ledger((bare,)).merge(Ledger((named,)))) == ["17 Nm", "12 ms"]


def test_a_ledger_never_grows_beyond_its_limit():
    many = Ledger(tuple(LedgerEntry("file", f"a{n}.py", last=n) for n in range(LIMIT)))
    more = Ledger(tuple(LedgerEntry("file", f"b{n}.py", last=LIMIT + n) for n in range(LIMIT)))
    merged = many.merge(more)
    assert len(merged.entries) == LIMIT
    assert f"b{LIMIT - 1}.py" in texts(merged)


def test_it_is_rendered_in_groups_in_the_language_asked_for():
    ledger = Ledger(
        (
            LedgerEntry("amount", "17 Nm", context="Anzugsmoment"),
            LedgerEntry("file", "a.py"),
            LedgerEntry("file", "b.py"),
            LedgerEntry("command", "make test"),
        )
    )
    assert ledger.render("de") == "Dateien: a.py, b.py\nBefehle: `make test`\nMengen: 17 Nm (Anzugsmoment)"
    assert ledger.render("en") == "Files: a.py, b.py\nCommands: `make test`\nAmounts: 17 Nm (Anzugsmoment)"
    assert Ledger().render("de") == ""


def test_a_file_name_is_not_shown_beside_its_whole_path():
    ledger = Ledger((LedgerEntry("file", "main.py"), LedgerEntry("file", "src/app/main.py")))
    assert ledger.render("en") == "Files: src/app/main.py"


def test_what_is_capped_fits_and_is_the_best_of_it():
    ledger = build_ledger(span(*(user(sentence.format(text)) for _, text, sentence in SENTENCES)))
    for tokens in range(81):
        capped = ledger.limit(words, tokens, "de")
        assert words(capped.render("de")) <= tokens
        assert capped.entries == ledger.entries[: len(capped.entries)]
        one_more = Ledger(ledger.entries[: len(capped.entries) + 1])
        assert one_more == capped or words(one_more.render("de")) > tokens


def test_what_a_summary_kept_is_not_missing_in_any_spelling():
    ledger = build_ledger(
        span(user("Budget: 1.250,00 € bis 24.02.2026, siehe src/app.py, Port 8443, Anzugsmoment 17 Nm."))
    )
    text = "We have 1250 Euro until February 24, 2026 (see ./src/app.py)."
    assert set(texts(ledger.missing_in(text))) == {"8443", "17 Nm"}
    assert ledger.missing_in("117 Nm on port 18443").entries == ledger.entries
    assert ledger.missing_in(ledger.render("de")).entries == ()


def test_nothing_found_is_missing_in_its_own_rendering():
    for kind, text, sentence in SENTENCES:
        ledger = build_ledger(span(user(sentence.format(text))))
        assert ledger.missing_in(ledger.render("en")).entries == (), (kind, text)


def test_it_survives_storage():
    ledger = build_ledger(span(*(user(sentence.format(text)) for _, text, sentence in SENTENCES)))
    assert Ledger.from_json(json.loads(json.dumps(ledger.to_json()))) == ledger


_messages = st.lists(
    st.builds(
        lambda role, parts: Message.of(role, " ".join(parts)),
        st.sampled_from(["user", "assistant", "tool"]),
        st.lists(
            st.one_of(
                st.sampled_from([sentence.format(text) for _, text, sentence in SENTENCES]),
                st.sampled_from(
                    ["```python\nx = 1\n```\n", "./README.MD", "1250 Euro", "30 Prozent", "\n\n"]
                ),
                st.text(max_size=30),
            ),
            max_size=4,
        ),
    ),
    max_size=8,
)


@settings(deadline=None)
@given(_messages, st.integers(0, 8))
def test_a_span_read_in_two_parts_and_merged_gives_the_same(messages, cut):
    items = span(*messages)
    assert build_ledger(items[:cut]).merge(build_ledger(items[cut:])) == build_ledger(items)


@settings(deadline=None)
@given(_messages, _messages, _messages)
def test_merging_does_not_depend_on_where_the_cuts_were(one, two, three):
    items = span(*one, *two, *three)
    first, second = len(one), len(one) + len(two)
    a, b, c = (build_ledger(part) for part in (items[:first], items[first:second], items[second:]))
    assert a.merge(b).merge(c) == a.merge(b.merge(c))


def test_a_hundred_merges_keep_what_a_person_said_first():
    ledger = build_ledger(span(user("Meine Kundennummer ist KD-2024-0815.")))
    for turn in range(100):
        ledger = ledger.merge(
            build_ledger(span(answer(f"I changed src/part{turn}.py and src/other{turn}.py."), start=turn + 1))
        )
    assert "KD-2024-0815" in texts(ledger.limit(words, 40, "en"))


@pytest.mark.parametrize(
    "text",
    ["a" * 300_000, "1" * 300_000, "a_" * 150_000, "1." * 150_000, "/a" * 150_000, "a-1" * 100_000,
     "`" * 9_999, "a@" * 150_000, "Error" * 60_000, "1 " * 150_000, "A1 " * 100_000, "x: " * 100_000,
     "\n" * 300_000],
    ids=lambda text: repr(text[:3]),
)  # fmt: skip
def test_endless_text_of_any_kind_is_read(text):
    assert len(build_ledger(span(user(text), Message.of("tool", text))).entries) < 100


@pytest.mark.parametrize(
    ("old", "new", "amounts"),
    [
        (
            "Unser Budget beträgt 38.000 Euro.",
            "Korrektur: das Budget beträgt jetzt 42.500 Euro.",
            ["42.500 Euro"],
        ),
        (
            "Our budget is 38,000 euros.",
            "Correction: the budget is now 42,500 euros.",
            ["42,500 euros"],
        ),
        # No change is told: there may be two of them.
        ("Our budget is 38,000 euros.", "Their budget is 42,500 euros.", ["38,000 euros", "42,500 euros"]),
    ],
)
def test_only_the_current_amount_is_shown_after_a_change(old, new, amounts):
    items = span(user(old), answer("Noted."), user(new))
    assert sorted(texts(build_ledger(items), "amount")) == amounts
    merged = build_ledger(items[:2]).merge(build_ledger(items[2:]))
    assert sorted(texts(Ledger.from_json(merged.to_json()), "amount")) == amounts
