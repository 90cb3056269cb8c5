"""A model server that is down, restarting, busy or talks nonsense, as a client of Holdfast sees it."""

import json
import re
import threading
from contextlib import contextmanager

import pytest
import uvicorn

from holdfast.testing.provider import ScriptedProvider, serve_app
from holdfast.upstreams.discovery import Options, connect
from holdfast.upstreams.http import Connection, Patience
from holdfast.upstreams.ollama import Ollama
from holdfast.upstreams.openai import OpenAI
from holdfast.upstreams.routing import Upstreams, UpstreamSlot
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel, FakeReply
from tests.upstreams.hostile import END, SILENCE, begin_response, hostile, piece, response

ASK = {"model": "fake", "messages": [{"role": "user", "content": "Hello there"}], "stream": False}
LINE = b'{"model":"fake","message":{"role":"assistant","content":"Half"},"done":false}\n'


def quick(url, **patience):
    return Ollama(Connection(url, patience=Patience(connect=10.0, tries=1, **patience)))


@contextmanager
def listening(app, port):
    """`app` on one port, again and again: a server that is restarted."""
    config = uvicorn.Config(app, port=port, log_config=None, access_log=False, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        thread.join(0.01)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


def test_upstream_started_later_or_restarted_is_used_once_available(serve):
    with FakeOllama().served() as address:
        port = int(address.rpartition(":")[2])

    async def find():
        return await connect(address, Options(patience=Patience(tries=1)))

    client = serve(Upstreams(find, ScriptedProvider())).client
    assert client.get("/health").status_code == 200
    assert client.post("/api/chat", json=ASK).status_code == 503
    assert "Start it" in client.post("/v1/chat/completions", json=ASK).json()["error"]["message"]
    for _ in range(2):
        with listening(FakeOllama(), port):
            assert client.post("/api/chat", json=ASK).status_code == 200
            assert client.get("/api/upstreams").json()["upstreams"][0]["well"] is True
        assert client.post("/api/chat", json=ASK).status_code == 503
        (state,) = client.get("/api/upstreams").json()["upstreams"]
        assert (state["well"], state["kind"]) == (False, "ollama")
        assert state["last_seen"] <= state["last_failure"]


def test_upstream_lost_during_stream_leaves_partial_answer_and_notice(serve):
    with FakeOllama(lambda _: FakeReply("Half an answer", breaks=True)).served() as address:
        holdfast = serve(quick(address))
        lines = holdfast.client.post("/api/chat", json={**ASK, "stream": True}).text.splitlines()
        text = "".join(json.loads(line).get("message", {}).get("content", "") for line in lines)
        assert text == "Half an answer"
        assert json.loads(lines[-1]).keys() == {"error"}
        events = holdfast.client.post("/v1/chat/completions", json={**ASK, "stream": True}).text
        assert '"error"' in events.strip().splitlines()[-1]
        chat = holdfast.client.get("/api/chats").json()["chats"][0]["id"]
        messages = holdfast.client.get(f"/api/chats/{chat}/messages").json()["messages"]
        assert messages[-1]["content"].startswith("Half an answer")


# What a server does when it should chat, by the name of the model that is asked for.
NONSENSE = {
    "page": ([response(b"<html>hi</html>", content_type="text/html")], 502, "no answer of a model server"),
    "words": ([response(b"not json at all", content_type="application/x-ndjson")], 502, "not JSON"),
    "garbage": (
        [begin_response("application/x-ndjson"), piece(LINE), piece(b"garbage\n"), END],
        502,
        "not JSON",
    ),
    "cut": ([begin_response("application/x-ndjson"), piece(LINE)], 502, "broke"),
    "ended": ([begin_response("application/x-ndjson"), piece(LINE), END], 502, "stopped in the middle"),
    "silent": ([SILENCE], 503, "silent"),
    "stalled": ([begin_response("application/x-ndjson"), piece(LINE), SILENCE], 502, "silent"),
    "gone": ([], 503, "hung up"),
}


def well(request):
    """The answer to what is asked before a chat."""
    return response(b'{"models":[]}' if request.startswith(b"GET") else b'{"model_info":{}}')


def test_nonsense_and_silence_become_an_error_that_says_what_happened(serve):
    def play(request):
        if b"POST /api/chat" not in request:
            return [well(request)]
        return next(script for name, (script, _, _) in NONSENSE.items() if f'"{name}"'.encode() in request)

    with hostile(play) as server:
        client = serve(quick(server.url, stall=1.5, answer=30.0)).client
        for name, (_, status, word) in NONSENSE.items():
            answer = client.post("/api/chat", json={**ASK, "model": name})
            assert (name, answer.status_code, list(answer.json())) == (name, status, ["error"])
            assert word in answer.json()["error"]


# Values that no server should send, in the place of a count or of anything in an answer.
ODD = ['"many"', "-5", "NaN", "1e999", "1.5", "null", "true", "[1]", "{}", "9" * 400, "[" * 500 + "]" * 500]
OLLAMA = (
    '{{"model":"m","message":{{"role":"assistant","content":{content},"tool_calls":{calls}}},"done":true,'
    '"prompt_eval_count":{count},"eval_count":{count},"total_duration":{count}}}'
)
OPENAI = (
    '{{"id":{count},"choices":[{{"index":0,"delta":{{"content":{content},"tool_calls":{calls}}},'
    '"finish_reason":"stop"}}],"usage":{{"prompt_tokens":{count},"completion_tokens":{count},'
    '"prompt_tokens_details":{count}}},"timings":{count}}}'
)
PLAIN = {"content": '"Fine"', "calls": "[]", "count": "3"}
BAD_CHUNKS = [b"zz\r\n", b"-1\r\nabc", b"5\r\nab\r\n", b"\xff\xfe\r\n", b"ffffffffffffffffff\r\n"]


@pytest.mark.parametrize("kind", ["ollama", "openai"])
def test_whatever_a_server_sends_is_answered_without_an_internal_error(serve, kind, caplog):
    replies = [PLAIN | {name: odd} for odd in ODD for name in PLAIN]
    replies += [PLAIN | {"calls": f"[{odd}]"} for odd in ODD]
    replies += [PLAIN | {"calls": f'[{{"function":{{"name":{odd},"arguments":{odd}}}}}]'} for odd in ODD]
    stream, shape = ("application/x-ndjson", OLLAMA) if kind == "ollama" else ("text/event-stream", OPENAI)
    frame = "{}\n" if kind == "ollama" else "data: {}\n\n"
    scripts = [
        [begin_response(stream), piece(frame.format(shape.format(**reply)).encode()), END]
        for reply in replies
    ]
    good = piece(frame.format(shape.format(**PLAIN)).encode())
    scripts += [[begin_response(stream), bad] for bad in BAD_CHUNKS]
    scripts += [
        [begin_response(stream), good.replace(b'"stop"', b"null").replace(b"true", b"false"), bad]
        for bad in BAD_CHUNKS
    ]
    scripts += [[response(b"[" * 100_000, "500 Oh"), SILENCE], [response(b'{"error":' * 500, "400 No")]]

    def play(request):
        if b"/chat" not in request.split(b"\r\n")[0]:
            return [well(request) if kind == "ollama" else response(b'{"data":[]}')]
        return scripts[int(re.search(rb'"model":"n(\d+)"', request)[1])]

    with hostile(play) as server:
        connection = Connection(server.url, patience=Patience(connect=10.0, tries=1))
        client = serve(Ollama(connection) if kind == "ollama" else OpenAI(connection)).client
        for number in range(len(scripts)):
            for path, streams in (("/api/chat", True), ("/v1/chat/completions", False)):
                answer = client.post(path, json={**ASK, "model": f"n{number}", "stream": streams})
                assert answer.status_code in (200, 400, 500, 502, 503), (number, answer.text)
                assert "internal error" not in answer.text, (scripts[number], answer.text)
                assert "NaN" not in answer.text
                if number < len(replies) and replies[number] == PLAIN | {"count": replies[number]["count"]}:
                    deep = replies[number]["count"].startswith("[[")
                    assert deep or (answer.status_code == 200 and "Fine" in answer.text), answer.text
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize("kind", ["ollama", "openai"])
def test_what_comes_after_the_end_of_an_answer_nobody_gets(serve, kind):
    shape, frame = (OLLAMA, "{}\n") if kind == "ollama" else (OPENAI, "data: {}\n\n")
    lines = [frame.format(shape.format(**PLAIN | {"content": f'"{word}"'})) for word in ("First", "Second")]
    stream = "application/x-ndjson" if kind == "ollama" else "text/event-stream"

    def play(request):
        if b"/chat" not in request.split(b"\r\n")[0]:
            return [well(request) if kind == "ollama" else response(b'{"data":[]}')]
        return [begin_response(stream), *(piece(line.encode()) for line in lines), END]

    with hostile(play) as server:
        connection = Connection(server.url, patience=Patience(tries=1))
        client = serve(Ollama(connection) if kind == "ollama" else OpenAI(connection)).client
        for path in ("/api/chat", "/v1/chat/completions"):
            for streams in (True, False):
                answer = client.post(path, json={**ASK, "stream": streams})
                assert ("First" in answer.text, "Second" in answer.text) == (True, False), answer.text


def test_an_endless_answer_is_cut_off_and_what_came_is_kept(serve):
    def play(request):
        if b"POST /api/chat" not in request:
            return [well(request)]
        return [begin_response("application/x-ndjson"), *[piece(LINE * 100)] * 1_000]

    with hostile(play) as server:
        holdfast = serve(quick(server.url, largest=1_000_000))
        for body in ({}, {"stream": True}):
            answer = holdfast.client.post("/api/chat", json={**ASK, **body})
            assert "more than 1 MB" in answer.text.strip().splitlines()[-1]
            assert len(answer.content) < 2_000_000
        chat = holdfast.client.get("/api/chats").json()["chats"][0]["id"]
        messages = holdfast.client.get(f"/api/chats/{chat}/messages").json()["messages"]
        assert messages[-1]["content"].startswith("HalfHalf")


@pytest.mark.parametrize("named", ["2301457855", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_a_wait_of_years_is_not_passed_on(serve, named):
    def play(request):
        busy = b"POST /api/chat" in request
        return [response(b"{}", "429 Too Many Requests", Retry_After=named) if busy else well(request)]

    with hostile(play) as server:
        client = serve(quick(server.url)).client
        assert client.post("/api/chat", json=ASK).headers["retry-after"] == "3600"
        off = client.post("/api/chat", json=ASK, headers={"X-Holdfast": "off"})
        assert int(off.headers["retry-after"]) <= 3600


def test_a_busy_server_is_passed_on_with_the_time_it_names(serve):
    def play(request):
        if b"POST /api/chat" not in request:
            return [well(request)]
        status = "429 Too Many Requests" if b'"many"' in request else "503 Service Unavailable"
        return [response(b'{"error":"come back later"}', status, Retry_After="90")]

    with hostile(play) as server:
        client = serve(Ollama(Connection(server.url))).client
        for model, status in (("many", 429), ("loading", 503)):
            for path, headers in (
                ("/api/chat", {"X-Holdfast": "off"}),
                ("/api/chat", {}),
                ("/v1/chat/completions", {}),
            ):
                answer = client.post(path, json={**ASK, "model": model}, headers=headers)
                assert answer.status_code == status
                assert answer.headers["retry-after"] == "90"
                assert "come back later" in json.dumps(answer.json())


def test_a_short_wait_is_waited_for_and_the_client_notices_nothing(serve):
    fake = FakeOllama()
    busy = [2]

    async def app(scope, receive, send):
        if scope["type"] == "http" and scope["path"] == "/api/chat" and busy[0]:
            busy[0] -= 1
            head = [(b"retry-after", b"0"), (b"content-type", b"application/json")]
            await send({"type": "http.response.start", "status": 503, "headers": head})
            await send({"type": "http.response.body", "body": b'{"error":"loading"}'})
            return
        await fake(scope, receive, send)

    with serve_app(app) as address:
        client = serve(Ollama(Connection(address, patience=Patience(pause=0.01)))).client
        assert client.post("/api/chat", json=ASK).status_code == 200
    assert busy == [0]


def test_failover_replaces_unavailable_server_and_all_servers_are_listed(serve):
    gone = FakeOllama(models=[FakeModel("fake:latest"), FakeModel("only-here:latest")])
    here = FakeOllama(lambda _: "From the other.", models=[FakeModel("fake:latest", trained_window=2048)])

    def place(name, url):
        async def find():
            return quick(url)

        return UpstreamSlot(find, name=name, location=url)

    with here.served() as second:
        with gone.served() as first:
            both = Upstreams([place("one", first), place("two", second)], ScriptedProvider())
            holdfast = serve(both)
            client = holdfast.client
            names = [row["name"] for row in client.get("/api/tags").json()["models"]]
            assert names[:3] == ["fake:latest", "only-here:latest", "two/fake:latest"]
            assert client.post("/api/chat", json=ASK).status_code == 200
            assert client.post("/api/chat", json={**ASK, "model": "two/fake"}).status_code == 200
            assert {row["name"] for row in client.get("/api/ps").json()["models"]} == {"fake:latest"}
            assert len(client.get("/api/ps").json()["models"]) == 2
            assert client.post("/api/show", json={"model": "two/fake"}).status_code == 200
            off = client.post("/api/chat", json={**ASK, "model": "two/fake"}, headers={"X-Holdfast": "off"})
            assert off.json()["message"]["content"] == "From the other."
            client.post("/api/pull", json={"model": "two/pulled"})
            assert "pulled:latest" in [row["name"] for row in client.get("/api/tags").json()["models"]]
        answer = client.post("/api/chat", json=ASK)
        assert answer.json()["message"]["content"] == "From the other."
        assert answer.headers["x-holdfast-window"] == "2048"
        assert client.post("/api/chat", json={**ASK, "model": "only-here"}).status_code == 503
        assert client.post("/api/chat", json={**ASK, "model": "one/fake"}).status_code == 503
        item, two = client.get("/health").json()["upstreams"]
        assert (item["well"], two["well"]) == (False, True)
        assert item["error"]
