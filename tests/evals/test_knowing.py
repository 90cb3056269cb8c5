"""The measurement of what is kept goes through the engine, and tells kept from lost."""

import json

from evals.knowing import main

STATEMENTS = [
    {
        "id": "a",
        "lang": "en",
        "text": "Never paint the fence green.",
        "keep": [{"kind": "rule", "span": "Never paint the fence green"}],
    },
    {"id": "b", "lang": "de", "text": "Soll ich den Zaun streichen?", "keep": []},
    {
        "id": "c",
        "lang": "de",
        "text": "Unser Maler heißt Krause.",
        "keep": [{"kind": "fact", "span": "Unser Maler wohnt in Ulm an der Donau"}],
    },
]
UPDATES = [
    {"id": "u", "lang": "en", "type": "update", "old": "The fence is 20 metres long.", "new": "It rained."},
    {
        "id": "v",
        "lang": "en",
        "type": "lookalike",
        "old": "The front gate code is 4411.",
        "new": "The back gate code is 8822.",
    },
]
CHATS = [
    {
        "id": f"c-{language}",
        "lang": language,
        "turns": [
            {"role": role, "text": f"{role} says number {number}."}
            for number in range(4)
            for role in ("user", "assistant")
        ],
    }
    for language in ("de", "en")
]


def test_kept_and_lost_are_told_apart(tmp_path, capsys):
    for name, rows in (("statements", STATEMENTS), ("updates", UPDATES), ("chats", CHATS)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert main([str(tmp_path), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["en"] == {
        "kept": 100.0,
        "update": 0.0,
        "lookalike": 100.0,
        "rules": 100.0,
        "sections": 100.0,
    }
    assert (data["de"]["kept"], data["de"]["false"]) == (0.0, 0.0)


def test_a_folder_without_the_files_is_refused(tmp_path, capsys):
    assert main([str(tmp_path)]) == 1
    assert "statements.jsonl" in capsys.readouterr().err


def test_statements_alone_are_measured(tmp_path, capsys):
    (tmp_path / "statements.jsonl").write_text("\n".join(map(json.dumps, STATEMENTS)))
    assert main([str(tmp_path), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["en"] == {"kept": 100.0, "sections": 100.0}
