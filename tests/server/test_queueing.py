"""Waiting for a model server, seen from outside: who is next, who leaves, what those who wait are sent."""

import json
import socket
import threading
from contextlib import contextmanager

import anthropic
import httpx
import ollama
import openai
import pytest

from holdfast.memory.base import Memory
from holdfast.messages import Scope
from tests.server.queued_server import PATIENCE, lined


@pytest.fixture
def holdfast(tmp_path):
    with lined(tmp_path) as running:
        yield running


def text_of(response):
    return response.json()["message"]["content"]


@contextmanager
def stream_until_left(holdfast, text):
    """A client that asks for a stream and hangs up at the end of the context."""
    body = json.dumps({"model": "scripted", "messages": [{"role": "user", "content": text}]})
    head = f"POST /api/chat HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n"
    address = httpx.URL(holdfast.url)
    with socket.create_connection((address.host, address.port), timeout=PATIENCE) as connection:
        connection.sendall((head + body).encode())
        yield connection


def test_people_take_turns_and_each_is_answered_in_order(holdfast):
    asked = [holdfast.ask("ann", "ann 1")]
    holdfast.wait_for("running")
    for user, number in (("ann", 2), ("ann", 3), ("bob", 1), ("bob", 2)):
        asked.append(holdfast.ask(user, f"{user} {number}"))
        (waits,) = holdfast.wait_for("queued")
        assert waits["upstream"] == "scripted:"
    rows = holdfast.client.get("/api/jobs", params={"status": "queued"}).json()["jobs"]
    assert sorted((row["user"], row["position"]) for row in rows) == [
        ("default:ann", 2),
        ("default:ann", 4),
        ("default:bob", 1),
        ("default:bob", 3),
    ]
    assert holdfast.provider.asked == ["ann 1"]
    holdfast.provider.open()
    assert [text_of(item.result(PATIENCE)) for item in asked] == [
        f"You said {text}" for text in ("ann 1", "ann 2", "ann 3", "bob 1", "bob 2")
    ]
    assert holdfast.provider.asked == ["ann 1", "bob 1", "ann 2", "bob 2", "ann 3"]
    assert {job.status for job in holdfast.store.jobs.recent()} == {"done"}
    waited = [job for job in holdfast.store.jobs.recent() if job.started_at > job.queued_at]
    assert len(waited) == 4


def test_who_leaves_while_waiting_frees_the_place(holdfast):
    first = holdfast.ask("ann", "first")
    holdfast.wait_for("running")
    with stream_until_left(holdfast, "never mind"):
        holdfast.wait_for("queued")
    (left,) = holdfast.wait_for("failed")
    assert left["reason"] == "Gone"
    last = holdfast.ask("bob", "last")
    (waits,) = holdfast.wait_for("queued")
    assert waits["position"] == 1
    holdfast.provider.open()
    assert text_of(first.result(PATIENCE)) == "You said first"
    assert text_of(last.result(PATIENCE)) == "You said last"
    assert holdfast.provider.asked == ["first", "last"]


def test_who_leaves_while_being_answered_frees_the_model(holdfast):
    with stream_until_left(holdfast, "long story") as connection:
        holdfast.wait_for("running")
        last = holdfast.ask("bob", "last")
        holdfast.wait_for("queued")
        holdfast.provider.let()
        assert b"200 OK" in connection.recv(1_000)
    assert holdfast.provider.gave_up.acquire(timeout=PATIENCE)
    holdfast.provider.open()
    assert text_of(last.result(PATIENCE)) == "You said last"
    cut = next(job for job in holdfast.store.jobs.recent() if job.status == "cut")
    assert "went away" in cut.error


@pytest.mark.parametrize("stream", [True, False])
def test_job_can_be_cancelled_while_running_or_queued(holdfast, stream):
    running = holdfast.ask("ann", "runs", stream=stream)
    (item,) = holdfast.wait_for("running")
    assert holdfast.provider.began.acquire(timeout=PATIENCE)
    waiting = holdfast.ask("ann", "waits", stream=stream)
    (two,) = holdfast.wait_for("queued")
    for job in (two["job"], item["job"]):
        assert holdfast.client.delete(f"/api/jobs/{job}").json() == {"cancelled": job}
    for answer in (running, waiting):
        assert answer.result(PATIENCE).status_code == 400
        assert "cancelled" in answer.result(PATIENCE).json()["error"]
    assert holdfast.provider.gave_up.acquire(timeout=PATIENCE)
    assert holdfast.provider.asked == ["runs"]
    assert {(job.status, job.error) for job in holdfast.store.jobs.recent()} == {
        ("failed", "this request was cancelled")
    }
    again = holdfast.client.delete(f"/api/jobs/{item['job']}")
    assert again.status_code == 409
    assert holdfast.client.delete("/api/jobs/j_none").status_code == 404


def test_a_stream_that_is_cancelled_ends_with_a_word(holdfast):
    holdfast.provider.let()
    with begun(holdfast, "/api/chat") as response:
        lines = response.iter_lines()
        assert json.loads(next(lines))["message"]["content"] == "You"
        (job,) = holdfast.wait_for("running")
        holdfast.client.delete(f"/api/jobs/{job['job']}")
        assert "cancelled" in json.loads([*lines][-1])["error"]
    holdfast.wait_for("cut")
    assert holdfast.store.jobs.get(job["job"]).status == "cut"


def test_what_is_switched_off_waits_its_turn_too(holdfast):
    first = holdfast.ask("ann", "first")
    holdfast.wait_for("running")
    headers = {"X-Holdfast": "off"}
    body = {"model": "scripted", "messages": [{"role": "user", "content": "second"}], "stream": False}
    passed = holdfast.people.submit(holdfast.client.post, "/api/chat", json=body, headers=headers)
    third = holdfast.ask("ann", "third")
    holdfast.wait_for("queued")
    holdfast.provider.open()
    assert text_of(passed.result(PATIENCE)) == "You said second"
    assert text_of(first.result(PATIENCE)) == "You said first"
    assert text_of(third.result(PATIENCE)) == "You said third"


def test_work_in_the_background_gives_way_to_those_who_wait(holdfast):
    holdfast.provider.open()
    holdfast.ask("ann", "first").result(PATIENCE)
    holdfast.wait_for("done")
    # Somebody has the place who is no person: only those who wait can be the reason.
    place = holdfast.inside(lambda: holdfast.engine.queue.enter("scripted:", "nobody"))
    waiting = holdfast.ask("bob", "second")
    holdfast.wait_for("queued")
    idle, begun = holdfast.engine.background.idle, threading.Event()

    async def work():
        begun.set()

    holdfast.inside(lambda: idle.schedule("work", work))
    assert holdfast.inside(lambda: (idle.running, "work" in idle.waiting)) == (None, True)
    holdfast.inside(place.leave)
    assert text_of(waiting.result(PATIENCE)) == "You said second"
    assert begun.wait(PATIENCE)


def test_when_the_server_stops_those_who_wait_are_told(tmp_path):
    with lined(tmp_path) as holdfast:
        holdfast.ask("ann", "first")
        holdfast.wait_for("running")
        waiting = holdfast.ask("bob", "second")
        (job,) = holdfast.wait_for("queued")
        holdfast.engine.prepare_stop()
        refused = waiting.result(PATIENCE)
        assert refused.status_code == 503
        assert "stopped" in refused.json()["error"]
        assert holdfast.store.jobs.get(job["job"]).status == "failed"
        late = holdfast.client.post(
            "/api/chat", json={"model": "scripted", "messages": [{"role": "user", "content": "late"}]}
        )
        assert late.status_code == 503
        holdfast.provider.open()


def begun(holdfast, path, **fields):
    """A stream that begins before the model says anything."""
    body = {"model": "scripted", "messages": [{"role": "user", "content": "wait"}], "stream": True}
    return holdfast.client.stream("POST", path, json={**body, **fields})


class TestSignsOfLife:
    @pytest.fixture
    def holdfast(self, tmp_path):
        with lined(tmp_path, heartbeat=0.01) as running:
            yield running

    def test_each_protocol_has_its_own_and_the_answer_follows(self, holdfast):
        signs = {
            "/api/chat": b" ",
            "/v1/chat/completions": b": waiting\n\n",
            "/v1/messages": b'event: ping\ndata: {"type":"ping"}\n\n',
        }
        for path, sign in signs.items():
            with begun(holdfast, path, max_tokens=50) as response:
                assert response.status_code == 200
                assert response.headers["x-holdfast-conversation"]
                bytes_ = response.iter_raw()
                first = next(bytes_)
                assert first.startswith(sign)
                holdfast.wait_for("running")
                holdfast.provider.let(3)
                rest = b"".join(bytes_)
                assert b"You" in rest
                assert (first + rest).startswith(sign)

    def test_trouble_after_the_first_sign_is_told_in_the_stream(self, holdfast):
        with begun(holdfast, "/api/chat") as response:
            bytes_ = response.iter_raw()
            assert next(bytes_).strip() == b""
            (job,) = holdfast.wait_for("running")
            holdfast.client.delete(f"/api/jobs/{job['job']}")
            assert "cancelled" in json.loads(b"".join(bytes_))["error"]

    def test_who_leaves_after_the_first_sign_is_noticed(self, holdfast):
        with begun(holdfast, "/api/chat") as response:
            # Held: an iterator that nobody has any more closes the connection.
            bytes_ = response.iter_raw()
            next(bytes_)
            assert holdfast.provider.began.acquire(timeout=PATIENCE)
        assert holdfast.provider.gave_up.acquire(timeout=PATIENCE)
        (left,) = holdfast.wait_for("failed")
        assert left["reason"] == "Gone"
        assert holdfast.engine.queue.lengths["scripted:"].running == 0

    def test_the_real_clients_read_on_without_an_error(self, holdfast):
        """Each has the head of the response, and so a first sign, before the model says anything."""
        rest = {"api_key": "none", "max_retries": 0}
        text, let = [{"role": "user", "content": "wait"}], lambda _=None: holdfast.provider.let(3)
        hooks = {"response": [let]}
        with ollama.Client(holdfast.url, event_hooks=hooks, trust_env=False) as client:
            parts = client.chat("scripted", text, stream=True)
            assert "".join(part.message.content for part in parts) == "You said wait"
        with openai.OpenAI(base_url=f"{holdfast.url}/v1", **rest) as client:
            chat = client.chat.completions.create(model="scripted", messages=text, stream=True)
            let()
            assert "".join(part.choices[0].delta.content or "" for part in chat) == "You said wait"
            response = client.responses.create(model="scripted", input="wait", stream=True)
            let()
            deltas = [item.delta for item in response if item.type == "response.output_text.delta"]
            assert "".join(deltas) == "You said wait"
        with (
            anthropic.Anthropic(base_url=holdfast.url, **rest) as client,
            client.messages.stream(model="scripted", messages=text, max_tokens=50) as stream,
        ):
            let()
            assert "".join(stream.text_stream) == "You said wait"


def test_events_and_jobs_tell_the_same(holdfast):
    answer = holdfast.ask("ann", "hello")
    (running,) = holdfast.wait_for("running")
    holdfast.provider.open()
    answer.result(PATIENCE)
    (done,) = holdfast.wait_for("done")
    row = holdfast.client.get(f"/api/jobs/{running['job']}").json()
    assert row["tokens"]["completion"] == done["completion"] == 3
    assert (row["status"], row["upstream"], row["user"]) == ("done", "scripted:", "default:ann")
    assert "prompt" not in row
    assert done["waited"] <= done["first"] <= done["seconds"]
    headers = {"X-OpenWebUI-User-Id": "ann"}
    with holdfast.client.stream("GET", "/api/events", params={"after": 0}, headers=headers) as response:
        lines = response.iter_lines()
        report = {}
        while len(report) < 4:
            if (name := next(lines)).startswith("event: "):
                data = json.loads(next(lines).removeprefix("data: "))
                report[name.removeprefix("event: "), data.get("status")] = data
    assert [*report] == [("lagged", None), ("job", "running"), ("window", None), ("job", "done")]
    assert report["window", None]["conversation"] == row["conversation"]
    assert (report["window", None]["level"], report["window", None]["window"]) == (0, 8192)


def test_what_is_remembered_and_forgotten_is_told_in_its_scope(holdfast):
    heard = []
    holdfast.engine.events.listeners.append(heard.append)
    memory = Memory("m_1", "fact", "The shed is green.", Scope("ann", "garden"))
    for change in ("added", "forgotten"):
        holdfast.engine.publish_memory_change([memory], change)
    assert [(event.kind, event.data["change"], event.data["id"], event.scope) for event in heard] == [
        ("memory", "added", "m_1", memory.scope),
        ("memory", "forgotten", "m_1", memory.scope),
    ]


def test_others_neither_see_nor_end_a_job_but_an_administrator_does(holdfast):
    answer = holdfast.ask("ann", "hello")
    (running,) = holdfast.wait_for("running")
    assert [job["id"] for job in holdfast.client.get("/api/jobs").json()["jobs"]] == [running["job"]]
    bob = {"X-OpenWebUI-User-Id": "bob"}
    for method in ("GET", "DELETE"):
        refused = holdfast.client.request(method, f"/api/jobs/{running['job']}", headers=bob)
        assert refused.status_code in (403, 404)
    holdfast.provider.open()
    assert text_of(answer.result(PATIENCE)) == "You said hello"
