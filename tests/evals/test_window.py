"""The measurement finds what it looks for: planted faults are found, and a server without fault has none."""

import json
import struct
from dataclasses import replace
from itertools import count
from random import Random

import pytest

from evals.window_agents import Transcript, transcripts
from evals.window_cache import Measured, share
from evals.window_checks import KINDS, Watch, orphans
from evals.window_clients import CLIENTS, run
from evals.window_rows import Row, none_of, table
from evals.window_serving import Reply, with_tools
from evals.window_speed import Times, judge
from evals.window_talk import count_shared, read_talk
from evals.window_traffic import Words, take_turns
from holdfast.messages import Message, Text, ToolCall, ToolResult
from holdfast.tokens.vocabulary import encode_metadata, parse_metadata

WINDOW = 4096


class Server:
    """Answers at once and keeps everything, as the real one should; its faults are planted by name."""

    def __init__(self, fault="", every=7):
        self.fault = fault
        self.every = every
        self.numbers = count(1)
        self.turns = 0
        self.paths = {}
        self.branches = {}

    def answer(self, step):
        self.turns += step.chat is not None
        faulty = step.chat is not None and self.turns % self.every == 0
        if faulty and self.fault == "error":
            return Reply(500, error="out of order")
        name = f"c-{step.chat}" if step.chat else ""
        if faulty and self.fault == "wrong conversation":
            name = "c-another"
        text = "" if step.calls else f"Answer {next(self.numbers)}."
        if faulty and self.fault == "unanswered":
            text = ""
        prompt = WINDOW + 1 if faulty and self.fault == "above the window" else 100
        if faulty and self.fault == "into the reserve":
            prompt = WINDOW - 1
        finish = "tool_calls" if step.calls else "stop"
        return Reply(200, conversation=name, text=text, calls=step.calls, finish=finish, prompt=prompt)

    def keep(self, step, reply):
        """What is shown of the conversation afterwards: what of it came back, what is new, the answer."""
        talk = [message for message in step.body["messages"] if message["role"] != "system"]
        old = self.paths.get(reply.conversation, [])[: len(talk) - len(step.new)]
        if self.fault == "lost message" and self.turns % self.every == 0:
            old = old[:-2]
        rows = [(message["role"], message["content"]) for message in step.new]
        new = [
            {"id": f"m{next(self.numbers)}", "role": role, "content": text}
            for role, text in [*rows, ("assistant", reply.text)]
        ]
        self.paths[reply.conversation] = [*old, *new]
        self.branches |= {row["id"]: row["content"] for row in new if self.fault != "lost branch"}
        return self.paths[reply.conversation]


def traffic(client, server, turns=120):
    """So many turns of a client's traffic against a server of this test, and what the watch found."""
    random = Random(1)
    watch = Watch(WINDOW, WINDOW - 1024)

    def send(step):
        reply = server.answer(step)
        watch.hear(step, reply, server.keep(step, reply) if step.chat and not reply.error else ())
        return reply

    talkers = take_turns(CLIENTS[client](random, Words(random), WINDOW), send, random, turns=turns)
    watch.finish(
        talkers,
        lambda name: server.paths.get(name, []),
        lambda _, name: server.branches.get(name),
    )
    return watch


@pytest.mark.parametrize("client", CLIENTS)
def test_a_server_without_fault_has_none(client):
    watch = traffic(client, Server(), turns=300)
    assert watch.faults == []
    assert watch.main == 300
    assert watch.side > 0
    assert len(watch.conversations) >= 3


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_planted_fault_is_found(client, kind):
    watch = traffic(client, Server(fault=kind))
    assert watch.count_faults(kind) > 0, {fault.kind for fault in watch.faults}


def test_what_was_left_behind_by_an_edit_must_still_be_there():
    assert traffic("Open WebUI", Server(fault="lost branch")).count_faults("lost message") > 0


def test_a_side_request_that_is_kept_is_a_wrong_conversation():
    server = Server()
    answer = server.answer
    server.answer = lambda step: answer(step) if step.chat else replace(answer(step), conversation="c-1")
    watch = traffic("opencode", server, turns=3)
    assert watch.count_faults("wrong conversation") > 0


def test_the_traffic_has_everything_in_it():
    seen = {client: traffic(client, Server(), turns=300).labels for client in CLIENTS}
    assert seen["Open WebUI"].keys() == {"ask", "pages", "paste", "again", "edit", "task"}
    assert seen["opencode"].keys() == {"tools", "answer", "again", "title"}


def tool_calls(*names):
    return Message("assistant", tuple(ToolCall("read", "{}", name) for name in names))


def tool_result(name):
    return Message("tool", (ToolResult((Text("x"),), name),))


QUESTION, ANSWER = Message.of("user", "Why?"), Message.of("assistant", "Because.")


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        ([QUESTION, tool_calls("a", "b"), tool_result("b"), tool_result("a"), ANSWER], 0),
        ([QUESTION, tool_calls("a", "b"), tool_result("a"), ANSWER], 1),
        ([QUESTION, tool_calls("a")], 1),
        ([QUESTION, tool_result("a"), ANSWER], 1),
        ([QUESTION, tool_calls("a"), tool_result("a"), tool_result("a")], 1),
        ([QUESTION, tool_calls("a"), QUESTION, tool_result("a")], 2),
    ],
)
def test_orphans_are_found_in_both_directions(messages, found):
    assert len(orphans(messages)) == found


def test_the_share_from_the_cache_is_of_all_tokens():
    assert share([Measured(100, 0), Measured(300, 300)]) == 75.0
    assert share([]) == 0.0


def test_a_server_has_read_what_two_requests_begin_with():
    assert count_shared(["user", 1, 2, "end"], ["user", 1, 3, "end"]) == 2
    assert count_shared(["user", 1], ["user", 1, "end", "user", 4]) == 2
    assert count_shared([], ["user", 1]) == 0


def test_a_talk_asks_only_about_what_was_told_before(tmp_path):
    texts = [f"Fact {at}." if at % 5 else "And you?" for at in range(1, 20)]
    docs = [{"corpus": "a", "id": f"D{at}", "role": "Ann", "text": text} for at, text in enumerate(texts)]
    docs.append({"corpus": "b", "id": "E0", "role": "Bo", "text": "Another talk."})
    queries = [
        {"corpus": "a", "id": f"Q{at}", "question": f"What of {at}?", "kind": "", "gold": [f"D{at}"]}
        for at in range(0, 19, 2)
    ]
    for name, lines in (("docs", docs), ("queries", queries)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    turns = list(read_talk(tmp_path, 12))
    report = set()
    for turn, text in enumerate(turns):
        if text.startswith("What of"):
            assert turn % 3 == 2
            assert texts[int(text[8:-1])] in report
        else:
            report |= {line.removeprefix("Ann: ") for line in text.split("\n")}
    assert sum(text.startswith("What of") for text in turns) == 4
    assert not report & {"And you?", "Another talk."}


def test_growth_beyond_linear_does_not_pass():
    met = {
        (row.what, row.case): row.met
        for row in judge([Times(1_000, 1.0, 2.0, 1.0), Times(10_000, 9.0, 19.0, 90.0)])
    }
    assert met["a lane that is there", "10,000 messages"]
    assert met["growth, 1 is linear", "new, 1,000 to 10,000"]
    assert not met["growth, 1 is linear", "appended, 1,000 to 10,000"]


def test_a_transcript_is_replayed_request_by_request():
    system = Message.of("system", "Be kind.")
    transcript = Transcript(
        "x", (system, QUESTION, tool_calls("a"), tool_result("a"), ANSWER, QUESTION, ANSWER)
    )
    assert list(transcript.turns()) == [[QUESTION], [tool_calls("a"), tool_result("a")], [ANSWER, QUESTION]]


def test_transcripts_are_read(tmp_path):
    run_ = {"traj": [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]}
    (tmp_path / "tau-airline-30.json").write_text(f"[{str(run_).replace(chr(39), chr(34))}]")
    (tmp_path / "aider-history.md").write_text("> aider v1\n#### Do it\n#### now\n\nDone.\n\n> Applied.\n")
    *_, day, chat = transcripts(tmp_path)
    assert [message.role for message in day.messages] == ["system", "user"]
    assert [(message.role, message.text) for message in chat.messages] == [
        ("user", "> aider v1\nDo it\nnow"),
        ("assistant", "Done."),
        ("user", "> Applied."),
    ]


def test_a_model_file_gets_another_template_and_stays_aligned(tmp_path):
    metadata = {"general.name": "x", "tokenizer.chat_template": "{{ old }}", "general.size": 7}
    head = encode_metadata(metadata)
    (tmp_path / "old.gguf").write_bytes(head + b"tensors")
    result = with_tools(tmp_path / "old.gguf", tmp_path / "new.gguf").read_bytes()
    results = parse_metadata(result)
    assert "tool_call" in results["tokenizer.chat_template"]
    assert (results["general.name"], results["general.size"]) == ("x", 7)
    assert result.endswith(b"tensors")
    assert (len(result) - len(head + b"tensors")) % 32 == 0
    assert struct.unpack_from("<Q", result, 16) == struct.unpack_from("<Q", head, 16)


def test_the_table_says_what_was_promised_and_what_was_reached():
    rows = [none_of("clients", "errors", "x", 2, "of 9 turns"), Row("cache", "share", "x", 91.5, "%")]
    assert table(rows).splitlines()[2:] == [
        "| clients | errors | x | 2 of 9 turns | 0 | **no** |",
        "| cache | share | x | 91.50 % | – | – |",
    ]


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.xdist_group("embedded")
@pytest.mark.parametrize("client", CLIENTS)
def test_client_traffic_passes_small_window_without_faults(client, weights, tmp_path):
    watch = run(client, 2048, 2, weights, tmp_path).watch
    assert watch.faults == []
    assert watch.main == 2
