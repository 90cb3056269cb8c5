"""`/metrics` as Prometheus reads it: what happened, and how long the lines are now."""

from prometheus_client.parser import text_string_to_metric_families

from holdfast.errors import Overflow, Unreachable
from holdfast.messages import Chunk, Scope, Usage
from holdfast.testing.provider import ScriptedProvider
from tests.server.queued_server import PATIENCE, lined


def ask(client, text="Hello?", **fields):
    body = {"model": "scripted", "messages": [{"role": "user", "content": text}], "stream": False}
    return client.post("/api/chat", json={**body, **fields})


def samples(client):
    response = client.get("/metrics")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/plain; version=")
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


def test_requests_tokens_times_and_errors_are_counted(serve):
    usage = Usage(prompt=10, completion=1, cached=7)
    answers = [
        ["Yes.", Chunk(finish="stop", usage=usage)],
        Overflow("too long", prompt_tokens=9_000, window=8_192),
        ["Yes.", Chunk(finish="stop", usage=usage)],
        Unreachable("nobody there"),
    ]
    holdfast = serve(ScriptedProvider(answers))
    for number, status in enumerate((200, 200, 503)):
        assert ask(holdfast.client, f"Question {number}?").status_code == status
    assert holdfast.client.get("/no/such/path").status_code == 404
    results = samples(holdfast.client)
    assert results["holdfast_requests_total", "/api/chat", "200"] == 2
    assert results["holdfast_requests_total", "/api/chat", "503"] == 1
    assert results["holdfast_requests_total", "404", "none"] == 1
    assert results["holdfast_jobs_total", "done", "main"] == 2
    assert results["holdfast_jobs_total", "failed", "main"] == 1
    assert results["holdfast_errors_total", "Unreachable"] == 1
    assert results["holdfast_overflow_retries_total",] == 1
    assert results["holdfast_tokens_total", "prompt"] == 20
    assert results["holdfast_tokens_total", "cached"] == 14
    assert results["holdfast_tokens_total", "completion"] == 2
    for name in ("first_token", "job", "wait"):
        assert results[f"holdfast_{name}_seconds_count", "scripted:"] >= 2


def test_lines_are_as_long_as_they_are_now(tmp_path):
    with lined(tmp_path) as holdfast:
        answers = [holdfast.ask("ann", "one")]
        holdfast.wait_for("running")
        answers.append(holdfast.ask("bob", "two"))
        holdfast.wait_for("queued")
        results = samples(holdfast.client)
        assert (results["holdfast_running", "scripted:"], results["holdfast_waiting", "scripted:"]) == (1, 1)
        holdfast.provider.open()
        for answer in answers:
            answer.result(PATIENCE)
        holdfast.wait_for("done", 2)
        results = samples(holdfast.client)
        assert (results["holdfast_running", "scripted:"], results["holdfast_waiting", "scripted:"]) == (0, 0)


def test_compactions_and_memories_are_counted_by_their_events(tmp_path):
    with lined(tmp_path) as holdfast:
        publish = holdfast.engine.events.publish
        publish("window", {"batches": [{"level": 1}, {"level": 3}]}, Scope("ann"))
        publish("compaction", {"phase": "started"}, Scope("ann"))
        publish("compaction", {"phase": "done"}, Scope("ann"))
        publish("memory", {"change": "added"}, Scope("bob"))
        publish("memory", {"work": "reindex"}, Scope("bob"))
        results = samples(holdfast.client)
        assert results["holdfast_compactions_total", "1"] == 1
        assert results["holdfast_compactions_total", "3"] == 1
        assert results["holdfast_memories_total", "added"] == 1
