"""The measurement finds what it looks for: what is added, used, lost or grows is told as such."""

import os
import socketserver
import threading
import time
from datetime import UTC, datetime
from itertools import pairwise

import psutil
import pytest

from evals.overhead import peers
from evals.overhead_client import (
    OLLAMA,
    OPENAI,
    Contestant,
    Faulty,
    Line,
    Measured,
    RunningProxy,
    Took,
    chat_of,
    running,
)
from evals.overhead_latency import beside, growing, single
from evals.overhead_latency import judge as judged_latency
from evals.overhead_memory import Look, growth
from evals.overhead_memory import judge as judged_memory
from evals.overhead_recall import judge as judged_recall
from evals.overhead_recall import memories, questions
from evals.overhead_stream import CHUNKS
from evals.overhead_stream import judge as judged_stream
from evals.overhead_upstream import Answers, speak

WORDS = 12
HELLO = [{"role": "user", "content": "Hello"}]


@pytest.fixture(scope="module")
def upstream():
    with running(Contestant("direct", OLLAMA), words=WORDS, apart=True) as server:
        yield server


@pytest.mark.parametrize("path", [OLLAMA, OPENAI])
def test_every_word_comes_back_over_one_connection(upstream, path):
    with upstream.line() as line:
        took = [line.chat(path, messages, WORDS) for messages in chat_of(1, 3, WORDS)]
    assert [item.words for item in took] == [WORDS] * 3
    assert all(0 < entry.first <= entry.whole for entry in took)


def test_an_answer_with_fewer_words_than_were_said_is_no_answer(upstream):
    with upstream.line() as line, pytest.raises(Faulty, match=f"{WORDS} of {WORDS + 1} words"):
        line.chat(OLLAMA, HELLO, WORDS + 1)


def test_a_refusal_is_no_answer(upstream):
    with upstream.line() as line, pytest.raises(Faulty, match="404 Not Found"):
        line.chat("/nowhere", HELLO, WORDS)


@pytest.fixture
def late():
    """A server that sends its head at once and its only word later, in two pieces; and when it did so."""
    moments = []

    class Late(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(65_536)
            moments.append(time.perf_counter())
            self.request.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n")
            time.sleep(0.05)
            moments.append(time.perf_counter())
            for piece in (b"5\r\n wo", b"rd\r\n", b"0\r\n\r\n"):
                self.request.sendall(piece)

    with socketserver.TCPServer(("127.0.0.1", 0), Late) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", moments
        server.shutdown()


def test_the_first_word_is_what_counts_and_not_the_head(late):
    url, moments = late
    with Line(url) as line:
        took = line.chat(OLLAMA, HELLO, 1)
    heard, text = moments
    assert took.first >= 1000 * (text - heard)


def test_a_growing_chat_resends_all_that_was_said():
    turns = list(growing(3))
    assert [len(messages) for messages in turns] == list(range(1, 2 * len(turns), 2))
    assert all(later[: len(before)] == before for before, later in pairwise(turns))
    assert all(len(messages) == 1 for messages in single(3))


def test_no_two_rounds_ask_the_same():
    asked = [messages[0]["content"] for kind in (single, questions) for n in (1, 2) for messages in kind(n)]
    assert len(set(asked)) == len(asked)


def test_the_upstream_counts_what_it_is_sent():
    answers = Answers(WORDS)
    short, long = (answers.to(b"/api/chat", b"x" * length)[-1] for length in (60, 6_000))
    assert b'"prompt_eval_count":     10,' in short
    assert b'"prompt_eval_count":   1000,' in long
    assert len(short) == len(long)


def test_an_answer_is_sent_whole_or_word_by_word():
    assert len(Answers(WORDS).to(b"/api/chat", b"")) == 1
    apart = Answers(WORDS, apart=True).to(b"/api/chat", b"")
    assert len(apart) == WORDS + 1
    assert b"".join(apart) == Answers(WORDS).to(b"/api/chat", b"")[0]
    assert len(speak(WORDS)) == WORDS


def test_process_cpu_time_excludes_the_client(upstream):
    before, mine = upstream.usage(), time.process_time()
    while time.process_time() < mine + 0.3:
        pass
    used = upstream.usage().own - before.own
    assert used < 0.1
    me = RunningProxy(upstream.contestant, "", psutil.Process(os.getpid()), 0.0)
    assert me.usage().own >= 0.3


def test_what_children_take_is_counted_beside():
    me = RunningProxy(Contestant("me", OLLAMA), "", psutil.Process(os.getpid()), 0.0)
    with running(Contestant("direct", OLLAMA), words=1) as child:
        with_child = me.usage()
        assert with_child.children_rss >= child.usage().rss / 2
        assert with_child.children > 0
    assert me.usage().children_rss < with_child.children_rss


def measurement(first, own=1.0, children=0.0, whole=None):
    return Measured([Took(first, whole or first + 1, 20)] * 20, own, children)


PROXY = Contestant("Holdfast", OPENAI, lambda port, upstream, home: ([], {}))
PEER = Contestant("peer", OPENAI, PROXY.command)
DIRECT = Contestant("direct", OPENAI)


@pytest.mark.parametrize(("first", "own", "children", "met"), [(3.9, 2, 0.9, True), (4.1, 2, 1.1, False)])
def test_what_is_added_is_beside_the_upstream_and_children_count(first, own, children, met):
    results = {DIRECT.case: measurement(1.0), PROXY.case: measurement(first, own, children)}
    rows = list(judged_latency("x", PROXY, results))
    assert [row.met for row in rows if row.target] == [met, met]
    assert rows[0].value == pytest.approx(first - 1)


def test_peers_are_compared_by_what_they_add_and_not_judged():
    results = {
        DIRECT.case: measurement(1.0),
        PROXY.case: measurement(3.0, 2.0),
        PEER.case: measurement(5.0, 4.0),
    }
    assert [row.value for row in beside("x", [PEER], results)] == [pytest.approx(0.5), pytest.approx(0.5)]
    assert all(row.met is None for row in judged_latency("x", PEER, results))


@pytest.mark.parametrize(("seconds", "met"), [(0.9, True), (1.1, False)])
def test_a_slow_stream_does_not_pass(seconds, met):
    whole = 1000 * seconds
    results = {DIRECT.case: measurement(1.0), PROXY.case: measurement(1.0, whole=whole)}
    rows = list(judged_stream(PROXY, results))
    assert rows[0].value == pytest.approx(CHUNKS / seconds)
    assert rows[0].met is met


@pytest.mark.parametrize(("share", "first", "met"), [(100.0, 30.0, True), (95.0, 32.0, False)])
def test_quick_answers_without_anything_recalled_do_not_pass(share, first, met):
    results = {DIRECT.case: measurement(1.0), PROXY.case: measurement(first)}
    assert [row.met for row in judged_recall(PROXY, results, 10, share) if row.target] == [met, met]


def looks(per_request):
    """Caches that fill for two thousand requests, noise, and so much more with every request."""
    numbers = range(0, 10_500, 500)
    return [Look(n, 100 + min(n, 2_000) / 100 + per_request * n + (n // 500 % 2)) for n in numbers]


def test_a_leak_is_found_under_noise_and_filling_caches():
    assert growth(looks(0.0)) == pytest.approx(0, abs=1)
    assert [row.met for row in judged_memory(PROXY, looks(0.0)) if row.target] == [True]
    # A kilobyte with every request.
    assert growth(looks(1 / 1024)) == pytest.approx(5.4, abs=1)
    assert [row.met for row in judged_memory(PROXY, looks(1 / 1024)) if row.target] == [False]
    assert not any(row.target for row in judged_memory(PROXY, looks(0.0)[:3]))


def test_memories_are_different_and_about_what_is_asked():
    results = memories(2_000, datetime.now(UTC))
    assert len({memory.text for memory in results}) == len(results)
    assert len({memory.id for memory in results}) == len(results)
    content = " ".join(memory.text for memory in results)
    asked = [messages[0]["content"].rpartition("about ")[2].rstrip("?") for messages in questions(1)]
    assert all(part in content for text in asked for part in text.split(" and the "))


def test_peers_are_those_that_are_there(tmp_path):
    (tmp_path / "litellm").write_text("#!/bin/sh\n")
    (tmp_path / "litellm").chmod(0o755)
    results, missing = peers([tmp_path], ["other=serve --port {port} --to {upstream} '{home}/a b'"])
    assert [result.name for result in results if result.name != "context-guardian"] == ["litellm", "other"]
    assert "litellm" not in missing
    command, _ = results[-1].command(7, "http://up", tmp_path)
    assert command == ["serve", "--port", "7", "--to", "http://up", f"{tmp_path}/a b"]


def test_one_that_does_not_start_is_told_with_its_last_words():
    broken = Contestant("broken", OPENAI, lambda *_: (["sh", "-c", "echo out of order; exit 3"], {}))
    with pytest.raises(Faulty, match="out of order"), running(broken, words=1):
        pass
