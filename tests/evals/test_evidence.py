"""The measure of evidence: it finds what is in a request, and all four sets go through a real server."""

import json
import socket
import struct

import httpx
import pytest

from evals import evidence
from evals.compaction_scripts import extractive
from evals.evidence_baselines import NEWEST, RANKED, Bm25
from evals.evidence_checks import judge, take_apart
from evals.evidence_data import Question, choose, read_set
from evals.evidence_upstream import MODEL, Upstream, count_tokens
from evals.retrieval_data import Doc

EXCHANGES = [
    ("The lighthouse at Skerry Point gets a new lamp, the Ortega 310.", "A good lamp. Who will put it in?"),
    ("My cousin Ilse climbs up there in March with two helpers.", "I hope the wind is kind to all three."),
    ("The old lens weighs eighty kilograms and goes to the museum.", "They will be glad to have it there."),
    ("We paint the door green this year, nobody liked the grey one.", "Green suits a house by the sea."),
    ("The ferry from Brannock leaves at ten past seven now.", "Early, but then you have the whole day."),
    ("Our boat is called Sandpiper and needs a new rudder.", "A rudder is no small thing to replace."),
    ("The rudder comes from a yard in Dunmore, four weeks from now.", "Until then the boat stays on land."),
    ("Bread is baked on Mondays, so bring flour from the mainland.", "I shall put flour on the list."),
    ("The keeper before us was Tobias Renn, he stayed for nine years.", "Nine winters are a long time."),
    ("In the cellar there are twelve barrels of paraffin left.", "That will do for the stove until spring."),
    ("The radio works on channel sixteen, the spare one does not.", "The spare one should be looked at."),
    ("Ilse is afraid of gulls since one took her sandwich.", "Gulls take whatever they can carry."),
    ("The well has sweet water, but only as long as it rains.", "Then a tank would be a good idea."),
    ("I keep the log in pencil because ink runs when it is damp.", "Pencil it is, and it can be corrected."),
    ("Supper is at six, and whoever comes late washes up.", "A fair rule, and a reason to be there."),
    ("The generator drinks two litres an hour under load.", "Then it should not run all night."),
]
GERMAN = [
    ("Unser Hofladen in Altenried öffnet freitags um neun Uhr.", "Schön, und was wird dort verkauft?"),
    ("Vor allem Käse von Familie Brandl und Honig aus dem Moor.", "Das klingt nach einer guten Auswahl."),
    ("Die Kühltheke hat die Firma Lindwurm geliefert.", "Dann ist sie hoffentlich recht leise."),
    ("Im Winter bleibt der Laden bis Ende Februar geschlossen.", "Eine Pause tut sicher allen gut."),
    ("Die Kasse zählt jeden Abend meine Schwester Vroni.", "Sie hat bestimmt ein gutes Auge dafür."),
    ("Für das Brot kommt der Bäcker aus Niederau vorbei.", "Frisches Brot zieht viele Leute an."),
    ("Der Parkplatz ist klein, sechs Autos haben dort Platz.", "Mit dem Fahrrad geht es also leichter."),
    ("Ab jetzt öffnet der Hofladen freitags erst um zehn Uhr.", "Ich merke mir zehn Uhr für den Freitag."),
]
# Enough of it that no window of this test holds all.
WEATHER = [
    (
        f"Entry {day}: the barometer stands at {980 + day}, the sea is calm, {day} sails went to the west.",
        f"Entry {day} is in the book, with the sails and the barometer.",
    )
    for day in range(1, 25)
]
LIGHT = [*EXCHANGES[:8], *WEATHER, *EXCHANGES[8:]]
WINDOW = 2048


def turn_with(words, exchanges=LIGHT):
    texts = [text for exchange in exchanges for text in exchange]
    return next(at for at, text in enumerate(texts) if words in text)


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def write_docs(folder, people, *, sessions):
    texts = [text for exchange in LIGHT for text in exchange]
    docs = [
        {
            "corpus": "light",
            "id": str(at),
            "session": f"s{at * sessions // len(texts)}",
            "date": f"{1 + at * sessions // len(texts)} May, 2023",
            "role": people[at % 2],
            "text": text,
        }
        for at, text in enumerate(texts)
    ]
    questions = [("lamp", "Which lamp does the lighthouse at Skerry Point get?", "Ortega")]
    questions += [("engine", "How much does the generator drink under load?", "generator")]
    rows = [
        {
            "corpus": "light",
            "id": name,
            "question": text,
            "kind": name,
            "answer": words,
            "gold": [str(turn_with(words))],
        }
        for name, text, words in questions
    ]
    write_lines(folder / "docs.jsonl", docs)
    write_lines(folder / "queries.jsonl", rows)


def chat_row(language, exchanges, questions):
    turns = [
        {"role": role, "text": text}
        for exchange in exchanges
        for role, text in zip(("user", "assistant"), exchange, strict=True)
    ]
    keys = ("kind", "question", "answers", "stale", "new_conversation")
    rows = [dict(zip(keys, question, strict=True)) for question in questions]
    asked = [{**row, "turns": [turn_with(words, exchanges) for words in row["answers"]]} for row in rows]
    return {"id": f"chat-{language}", "lang": language, "turns": turns, "questions": asked}


@pytest.fixture
def folder(tmp_path):
    """All four sets, small."""
    write_docs(tmp_path / "locomo", ("Mara", "Finn"), sessions=2)
    write_docs(tmp_path / "beam100k", ("user", "assistant"), sessions=1)
    write_docs(tmp_path / "longmemeval", ("user", "assistant"), sessions=4)
    english = [
        ("single", "Which lamp does the lighthouse at Skerry Point get?", ["Ortega 310"], None, False),
        ("compound", "Where is the rudder from, who was keeper?", ["Dunmore", "Renn"], None, True),
        ("unrelated", "Who painted the Mona Lisa?", [], None, False),
    ]
    german = [
        ("updated", "Wann öffnet der Hofladen freitags?", ["zehn Uhr"], "neun Uhr", False),
        ("unrelated", "Wie hoch ist der Eiffelturm?", [], None, False),
    ]
    chats = [chat_row("en", LIGHT, english), chat_row("de", GERMAN, german)]
    write_lines(tmp_path / "knowing" / "chats.jsonl", chats)
    return tmp_path


def measure(capsys, *arguments):
    assert evidence.main([*map(str, arguments), "--settle", "0", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    return {(row["set"], row["program"], row["kind"]): row for row in rows}


def test_all_four_sets_go_through_a_real_server(folder, capsys, monkeypatch):
    monkeypatch.setenv("HOLDFAST_EMBEDDER", "off")
    monkeypatch.setattr(evidence, "RESULTS", folder / "evidence.md")
    out = folder / "out.json"
    rows = measure(capsys, folder, "--window", WINDOW, "--kinds", "--out", out, "--write")
    labels = ("locomo", "beam100k", "longmemeval", "knowing, en", "knowing, de")
    assert {name for name, _, _ in rows} == set(labels)
    for name in labels:
        row = rows[name, evidence.HOLDFAST, "all"]
        assert (row["errors"], row["overflows"]) == (0, 0)
        assert 0 < row["tokens"] <= WINDOW
        assert rows[name, RANKED, "all"]["gold"] == 100
    # Asked in its own words, something of what was said first is recalled; the newest that fit lack it.
    for name in ("locomo", "beam100k"):
        assert rows[name, evidence.HOLDFAST, "lamp"]["snippets"] >= 1
        assert (rows[name, NEWEST, "lamp"]["gold"], rows[name, NEWEST, "engine"]["gold"]) == (0, 100)
    # A new chat has no history of its own.
    assert rows["longmemeval", NEWEST, "all"]["gold"] == 0
    assert rows["knowing, en", NEWEST, "compound"]["gold"] == 0
    assert rows["knowing, en", evidence.HOLDFAST, "unrelated"]["questions"] == 1
    assert rows["knowing, de", RANKED, "updated"]["stale"] == 0
    data = json.loads(out.read_text())
    assert {row["set"] for row in data} == set(labels)
    assert all(row["tokens"] and not row["error"] for row in data)
    assert "| locomo | 2,048 | Holdfast | all | 2 |" in evidence.RESULTS.read_text()


def test_chats_that_were_kept_are_not_told_again(folder, capsys, monkeypatch):
    monkeypatch.setenv("HOLDFAST_EMBEDDER", "off")
    command = [folder, "--set", "knowing", "--corpus", "de", "--window", WINDOW, "--fed", folder / "fed"]
    first = measure(capsys, *command)
    record = {path: path.stat().st_mtime_ns for path in (folder / "fed").rglob("*") if path.is_file()}
    again = measure(capsys, *command)
    name = ("knowing, de", evidence.HOLDFAST, "all")
    assert (again[name]["gold"], again[name]["questions"]) == (first[name]["gold"], 1)
    assert record
    assert {path: path.stat().st_mtime_ns for path in record} == record


def test_other_chats_have_another_digest(folder):
    (before,) = read_set("locomo", folder / "locomo")
    docs = folder / "locomo" / "docs.jsonl"
    assert read_set("locomo", folder / "locomo")[0].digest == before.digest
    docs.write_text(docs.read_text().replace("Ortega", "Almeida"))
    assert read_set("locomo", folder / "locomo")[0].digest != before.digest


def test_a_set_that_is_not_there_is_named(tmp_path, capsys):
    assert evidence.main([str(tmp_path), "--set", "locomo"]) == 1
    assert "locomo" in capsys.readouterr().err


LONG = "On the third of May we carried the old lens down eighty narrow steps to the boat"
DOCS = {
    "long": Doc("c", "long", "s", None, "user", LONG),
    "short": Doc("c", "short", "s", None, "user", "Green, of course!"),
}
QUESTION = "What did we carry, and which colour?"


def score(added="", history="", system="", **more):
    question = Question("q", "single", QUESTION, ("long", "short"), **more)
    messages = [
        {"role": "system", "content": system},
        {"role": "user", "content": history},
        {"role": "assistant", "content": "I see."},
        {"role": "user", "content": QUESTION + added},
    ]
    return judge("c", question, DOCS, messages, 100, 1.0)


@pytest.mark.parametrize(
    ("brought", "places"),
    [
        ({"history": LONG.upper() + "!"}, ("history", "")),
        ({"system": f"- {LONG}\n- GREEN of course"}, ("system", "system")),
        # Ten of thirteen 5-grams, and seven.
        ({"added": "\n\n" + " ".join(LONG.split()[:14])}, ("added", "")),
        ({"added": "\n\n" + " ".join(LONG.split()[:11])}, ("", "")),
        # Short texts count whole only, and as words of their own.
        ({"added": "\n\nof course"}, ("", "")),
        ({"added": "\n\nevergreen, of course"}, ("", "")),
        ({"system": " ".join(LONG.split()[:9]), "history": " ".join(LONG.split()[8:])}, ("several", "")),
        ({}, ("", "")),
    ],
)
def test_evidence_is_present_when_most_words_appear_in_order(brought, places):
    result = score(**brought)
    assert result.places == places
    assert result.gold == sum(map(bool, places)) / 2
    assert result.whole == all(places)


def test_a_quote_that_was_cut_out_touches_its_text():
    piece = " ".join(LONG.split()[4:11])
    result = score(added=f"\n\n[From earlier in this conversation]\n- 2026-05-03, user: … {piece} …")
    assert (result.gold, result.touched, result.snippets) == (0, 0.5, 1)
    assert result.added == count_tokens(
        f"\n\n[From earlier in this conversation]\n- 2026-05-03, user: … {piece} …"
    )
    assert score(added=f"\n\n{piece}").touched == 0


def test_snippets_are_told_from_lists_inside_of_them():
    heading = "[From earlier in this conversation]"
    quotes = f"{heading}\n- 2026-05-03, user: Buy\n- bread\n- salt\n- 2026-05-04, user: Go"
    same_day = "[From earlier in this conversation, 2026-05-05]\n- user: Take\n- rope\n- assistant: Yes"
    notes = "Relevante Erinnerungen aus früheren Gesprächen:\n- Brot am Montag\n- Salz am Dienstag"
    parts = take_apart([{"role": "user", "content": f"Now?\n\n{quotes}\n\n{same_day}\n\n{notes}"}], "Now?")
    text = ["Buy\n- bread\n- salt", "Go", "Take\n- rope", "Yes"]
    assert parts.snippets == [*text, "Brot am Montag", "Salz am Dienstag"]


@pytest.mark.parametrize(
    ("brought", "stale"),
    [
        ({"added": "\n\n- at seven\n- at eight"}, False),
        ({"added": "\n\n- at eight\n- at seven"}, True),
        ({"added": "\n\n- at eight, and no longer at seven"}, False),
        ({"system": "- at seven", "history": "make it at eight"}, False),
        ({"system": "- at seven"}, True),
        # Nobody but the person said so.
        ({"history": "at seven"}, False),
    ],
)
def test_value_is_stale_unless_newer_value_follows_it(brought, stale):
    question = Question("q", "updated", QUESTION, ("long",), ("at eight",), "at seven")
    messages = [
        {"role": "system", "content": brought.get("system", "")},
        {"role": "user", "content": brought.get("history", "")},
        {"role": "user", "content": QUESTION + brought.get("added", "")},
    ]
    result = judge("c", question, DOCS, messages, 100, 1.0)
    assert result.stale == stale
    assert result.whole == any("at eight" in text for text in brought.values())


def test_the_table_says_by_how_much_a_target_is_missed():
    scores = {evidence.HOLDFAST: [score(history=LONG), score(history=LONG, system="Green, of course")]}
    (row,) = evidence.rows_of("locomo", 8192, scores, evidence.Counts(), kinds=False)
    assert (row.gold, row.all, row.target) == (75, 50, "gold at least 82: **missed by 7.0**")
    (row,) = evidence.rows_of("locomo", 4096, scores, evidence.Counts(), kinds=False)
    assert row.target == "gold at least 72: met"


def test_a_question_that_never_arrived_has_nothing():
    question = Question("q", "single", QUESTION, ("long", "short"))
    result = judge("c", question, DOCS, (), 0, 1.0, "500: out of order")
    assert (result.gold, result.touched, result.added, result.error) == (0, 0, 0, "500: out of order")


def test_questions_are_chosen_evenly_by_kind_and_the_same_every_time():
    questions = [Question(f"{kind}{at:02}", kind, "?", ()) for kind in "ab" for at in range(20)]
    questions.append(Question("c00", "c", "?", ()))
    chosen = choose(questions, 7, seed=3)
    assert sorted(question.kind for question in chosen) == ["a", "a", "a", "b", "b", "b", "c"]
    assert chosen == choose(list(reversed(questions)), 7, seed=3)
    assert len(choose(questions, 100, seed=3)) == 41


def test_bm25_ranks_rare_words_first():
    texts = ["the lamp of the boat", "the boat", "the boat and the rudder"]
    assert Bm25(texts).rank("rudder of the boat")[0] == 2
    assert Bm25(texts).rank("a violin") == []


def test_the_model_server_refuses_counts_and_keeps_what_persons_ask():
    with Upstream(50) as upstream, httpx.Client(base_url=upstream.url, trust_env=False) as client:

        def ask(text, **more):
            body = {"model": MODEL, "messages": [{"role": "user", "content": text}], **more}
            return client.post("/v1/chat/completions", json=body)

        upstream.answer = "Hello yourself."
        answer = ask("Hello").json()
        assert answer["choices"][0]["message"]["content"] == "Hello yourself."
        assert answer["usage"]["prompt_tokens"] == upstream.requests[0].tokens == 3 + 4 + 1
        assert "Hello yourself." in ask("Hello", stream=True).text
        ask("Hello", max_tokens=1)
        ask("=====\nUser: I live in Bergen.\n=====\nAt most 50 words.")
        assert (len(upstream.requests), upstream.side_requests) == (2, 1)
        assert ask("word " * 60).status_code == 400
        assert upstream.refusals == 1
        assert client.get("/props").json()["default_generation_settings"]["n_ctx"] == 50
        assert client.get("/nowhere").status_code == 404


def test_a_request_that_is_given_up_is_nobody_s_trouble(capfd):
    with Upstream(50) as upstream:
        host, _, port = upstream.url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port))) as line:
            # Closed with a reset, as by somebody who does not wait for the answer.
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            line.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
        assert httpx.get(f"{upstream.url}/health", trust_env=False).status_code == 200
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("exchanges", [EXCHANGES, GERMAN])
def test_the_extractive_script_says_only_what_was_said(exchanges):
    german = exchanges is GERMAN
    speakers = ("Nutzer", "Assistent") if german else ("User", "Assistant")
    transcript = "\n".join(
        f"{speaker}: {text}"
        for exchange in exchanges
        for speaker, text in zip(speakers, exchange, strict=True)
    )
    limit = "Höchstens 60 Wörter." if german else "At most 60 words."
    heading = "Anfragen\n" if german else "Requests\n"
    minutes = extractive(f"Write.\n=====\n{transcript}\n=====\n{limit}\n{heading}")
    assert minutes.startswith(heading)
    assert 10 < len(minutes.split()) <= 70
    lines = [line[2:] for line in minutes.splitlines() if line.startswith("- ")]
    content = [line for line in lines if line not in ("none", "nichts")]
    assert content
    assert all(line in transcript and not line.endswith("?") for line in content)
    mark = "KEINE_MEMORIES" if german else "NO_MEMORIES"
    facts = extractive(f"Write.\n=====\n{transcript}\n=====\n2 lines, or {mark}").splitlines()
    assert len(facts) <= 2
    users = {exchange[0] for exchange in exchanges}
    assert {fact.partition(": ")[2] for fact in facts} <= users
