"""The measurement itself, and its targets on the recorded traffic where that is at hand."""

import json
from dataclasses import replace

import pytest

from evals.identity import Score, main, replay, table, without_ids
from evals.recordings import DATA, files, interleave, read
from tests.clients import CLIENTS, lines_of

pytestmark = pytest.mark.slow

RECORDED = files(DATA)
needs_data = pytest.mark.skipif(not RECORDED, reason=f"no recorded traffic in {DATA}")


@needs_data
@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_recorded_clients_are_told_apart(path):
    (score,) = replay(read(path)).values()
    assert score.merges == 0, score.notes
    assert score.recognised >= 0.99 * score.side, score.notes
    assert score.right >= (0.90 if path.stem == "aider" else 0.98) * score.main, score.notes
    assert score.forks == 0, score.notes


@needs_data
def test_recorded_clients_at_once_are_not_merged():
    scores = replay(interleave([read(path) for path in RECORDED])).values()
    assert sum(score.merges for score in scores) == 0


CHAT = "/v1/chat/completions"
ASKED = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": [{"type": "function"}]}


def row(request, answer, **fields):
    """A line of a recording."""
    report = {"turn_label": "t1", "session_truth": "s1", "kind": "main", "path": CHAT, **fields}
    return json.dumps(
        {**report, "headers": {"User-Agent": "x/1"}, "request": request, "response_text": answer}
    )


def test_a_recording_is_read_with_its_shortcuts_calls_and_errors(tmp_path):
    called = {"id": "call_7", "type": "function", "function": {"name": "ls", "arguments": '{"a": 1}'}}
    loop = [
        *ASKED["messages"],
        {"role": "assistant", "content": "Let me look.", "tool_calls": [called]},
        {"role": "tool", "tool_call_id": "call_7", "content": "a.py"},
    ]
    path = tmp_path / "x.jsonl"
    lines = [
        row(ASKED, 'Let me look.\n[tool_call ls {"a":1}]'),
        row({"model": "m", "messages": loop, "tools": {"same_as_line": 1}}, 'HTTP 400 {"error": "too long"}'),
        row(None, "", kind="poll", path="/api/tags"),
    ]
    path.write_text("\n".join(lines))
    item, two = read(path)
    assert item.answer.text == "Let me look."
    assert [call.id for call in item.answer.tool_calls] == ["call_7"]
    assert two.answer is None
    assert two.request.tools == item.request.tools


def test_mistakes_are_counted_as_what_they_are():
    """The same traffic, with the labels exchanged: everything that was right is wrong now."""
    lines = lines_of(CLIENTS[-1])
    odd = [replace(line, truths=frozenset({f"x{line.number % 2}"})) for line in lines if line.kind == "main"]
    (score,) = replay(odd).values()
    assert score.merges > 0
    swapped = [replace(line, kind="title") for line in lines]
    (score,) = replay(swapped).values()
    assert (score.main, score.recognised) == (0, 0)


def test_the_report_has_a_row_for_every_client(tmp_path, capsys):
    assert "| aider | 4 | 75.0 % | 0 | – | 1 | 0 | 2 |" in table([Score("aider", 4, 3, merges=1, forks=2)])
    (tmp_path / "x.jsonl").write_text(row(ASKED, "Hello!"))
    assert main(["--data", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["clients"][0]["right"] == 1
    assert main(["--data", str(tmp_path), "--notes"]) == 0
    assert "| x | 1 | 100.0 % |" in capsys.readouterr().out


def test_without_data_it_says_so_and_does_nothing(tmp_path, capsys):
    assert main(["--data", str(tmp_path)]) == 0
    assert "nothing to measure" in capsys.readouterr().err


def test_without_ids_nothing_is_left_of_them():
    (line, *_) = without_ids(lines_of(CLIENTS[0]))
    assert not any("chat-id" in name for name in line.headers)
