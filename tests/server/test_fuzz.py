"""Every route with what it does not expect: no internal error, no hang, always JSON in the protocol's shape.

Routes that describe their input are driven by that description; those that read bodies themselves get bodies
that are nearly right. Few examples, always the same; `FUZZ_EXAMPLES=200` asks for more, and new ones.
"""

import json
import os
from functools import cache
from urllib.parse import urlsplit

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.config import Settings
from holdfast.memory.embedder_choice import ChosenEmbedder, EmbedderOptions
from holdfast.memory.folder import FolderWorkspace
from holdfast.memory.service import MemoryService
from holdfast.research.library import Research
from holdfast.server.app import create_app
from holdfast.store import open_store
from holdfast.testing.provider import ScriptedProvider, serve_app
from holdfast.turn import TurnEngine
from holdfast.upstreams.http import Connection
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.ollama import Ollama
from holdfast.upstreams.routing import Upstreams
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel, FakeReply
from tests.server.conftest import AT_REST

pytestmark = [
    pytest.mark.slow,
    # The server runs in this process, and its threads may draw lots at any time.
    pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies"),
]

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0"))
# What may be told beside a refusal: this server cannot do it, or the one behind it is away.
MEANT = {501, 502, 503}


def some(examples):
    """The same few examples in every run, unless more are asked for."""
    return settings(
        max_examples=EXAMPLES or examples,
        derandomize=not EXAMPLES,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(scope="module", params=["ollama", "scripted"])
def client(request, tmp_path_factory):
    """Holdfast with everything it has, before an Ollama and before a server that speaks none of it."""
    folder = tmp_path_factory.mktemp("fuzz")
    answer = FakeReply("It is ", thinking="Hm.", calls=[("look", {"path": "a"})])
    models = [FakeModel("fake:latest"), FakeModel("scripted:latest")]
    with FakeOllama(lambda _: answer, models=models).served() as upstream:
        behind = Ollama(Connection(upstream)) if request.param == "ollama" else ScriptedProvider()

        async def find():
            return behind

        store = open_store(f"sqlite:///{folder / 'holdfast.db'}")
        chosen = ChosenEmbedder(EmbedderOptions("off", log=folder / "embedder.log"))
        remembering = MemoryService(store, FolderWorkspace(folder / "workspace"), chosen)
        engine = TurnEngine(
            store,
            Upstreams(find, ScriptedProvider()),
            ModelRegistry(store, folder / "cache"),
            AT_REST,
            remembering=remembering,
            research=Research(remembering),
        )
        app = create_app(engine, Settings(home=folder))
        with serve_app(app) as url, httpx.Client(base_url=url, timeout=120, trust_env=False) as result:
            yield result


def check(path, status, content_type, text):
    """Whatever came in, this may come out."""
    assert status < 500 or status in MEANT, (path, status, text)
    if status < 400 or not text:
        return
    assert "json" in content_type, (path, status, text)
    data = json.loads(text)
    if path.startswith("/v1/messages"):
        assert (data["type"], set(data["error"])) == ("error", {"type", "message"})
    elif path.startswith("/v1/"):
        assert {"message", "type", "param", "code"} <= set(data["error"])
    else:
        assert isinstance(data["error"], str), data


# Switched off, a server's own words come through; so says an Ollama that does not know a route.
NOT_THERE = "404 page not found"
# What is endless by its nature is not waited for.
ENDLESS = {"/api/events"}
# Whoever adds or removes model servers at random leaves none that answers the rest.
SERVERS = {"/api/upstreams", "/api/upstreams/{name}"}


def test_every_route_by_its_own_description(client):
    known = _operations(client.get("/openapi.json").text)
    assert len(known) > 60
    for path, cases in known:
        if path not in ENDLESS | SERVERS:
            _drive(client, path, cases)


@cache
def _operations(description):
    """The paths of a description and what may be asked of each: making it is most of the work."""
    schema = schemathesis.openapi.from_dict(json.loads(description))
    operations = [all_operation.ok() for all_operation in schema.get_all_operations()]
    return [(operation.path, operation.as_strategy()) for operation in operations]


def _drive(client, path, cases):
    value = _made(client) if "{" in path else {}

    @some(4)
    @given(cases, st.booleans())
    def try_it(case, known):
        if known:
            # Most names that are made up lead nowhere: these lead to something.
            case.path_parameters |= {name: value[name] for name in case.path_parameters if name in value}
        answer = case.call(base_url=str(client.base_url).rstrip("/"), timeout=120)
        path = urlsplit(answer.request.url).path
        check(path, answer.status_code, answer.headers.get("content-type", [""])[0], answer.text)

    try_it()


def _made(client):
    """Things that are there, by the names that paths have for them."""
    text = {"model": "scripted", "stream": False, "messages": [{"role": "user", "content": "Hello"}]}
    chat = client.post("/api/chat", json=text).headers["x-holdfast-conversation"]
    fact = client.post("/api/memory", json={"text": f"The ferry {chat} leaves at noon."}).json()
    return {"conversation": chat, "message": "1", "memory": fact["memory"]["id"], "path": "MEMORY.md"}


# Values of every kind, in places where another kind is expected.
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["", "scripted", "use-multilingual", "user", "assistant", "tool", "system", "\x00", "𝄞"]),
    st.just([]),
    st.just({}),
    st.lists(st.one_of(st.none(), st.text(max_size=3), st.just({})), max_size=2),
    st.dictionaries(st.sampled_from(["type", "role", "content", "x"]), st.text(max_size=3), max_size=2),
)


def places(value, way=()):
    """Every place in a body, the body itself first."""
    yield way
    for name, inner in value.items() if isinstance(value, dict) else ():
        yield from places(inner, (*way, name))
    for index, inner in enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*way, index))


def changed(value, way, new, *, drop):
    """A copy that is different at one place."""
    if not way:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    if drop and len(way) == 1:
        del copy[way[0]]
    else:
        copy[way[0]] = changed(copy[way[0]], way[1:], new, drop=drop)
    return copy


@st.composite
def nearly(draw, body):
    """A right body with one or two places that are not."""
    for _ in range(draw(st.integers(1, 2))):
        way = draw(st.sampled_from(list(places(body))))
        body = changed(body, way, draw(ODD), drop=bool(way) and draw(st.booleans()))
        if not isinstance(body, dict | list):
            break
    return body


MODEL = st.sampled_from(["fake", "scripted", "use-multilingual", "nobody", ""])
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
TOOL = {"type": "function", "function": {"name": "look", "description": "d", "parameters": SCHEMA}}
PICTURE = "iVBORw0KGgo="
HISTORY = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Look."},
    {
        "role": "assistant",
        "content": "Yes.",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"path":"a"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "empty"},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "And this?"},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}},
        ],
    },
]
OLLAMA = [
    {"role": "user", "content": "Look.", "images": [PICTURE]},
    {
        "role": "assistant",
        "content": "Yes.",
        "thinking": "Hm.",
        "tool_calls": [{"function": {"name": "look", "arguments": {"path": "a"}}}],
    },
    {"role": "tool", "tool_name": "look", "content": "empty"},
    {"role": "user", "content": "And?"},
]
BLOCKS = [
    {"role": "user", "content": [{"type": "text", "text": "Look.", "cache_control": {"type": "ephemeral"}}]},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "s"},
            {"type": "tool_use", "id": "t1", "name": "look", "input": {"path": "a"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "empty"}]},
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": PICTURE},
            },
        ],
    },
]
ITEMS = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look."}]},
    {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Hm."}]},
    {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "empty"},
    {"role": "user", "content": "And?"},
]
OPTIONS = {"num_ctx": 2048, "num_predict": 5, "temperature": 0.1, "stop": ["x"], "seed": 1}
ANTHROPIC = {
    "max_tokens": 50,
    "system": [{"type": "text", "text": "Be brief."}],
    "messages": BLOCKS,
    "tools": [{"name": "look", "input_schema": SCHEMA}],
    "tool_choice": {"type": "auto"},
    "thinking": {"type": "enabled", "budget_tokens": 1024},
    "metadata": {"user_id": "u"},
    "stop_sequences": ["x"],
}
RESPONSES = {
    "input": ITEMS,
    "instructions": "Be brief.",
    "tools": [{"type": "function", "name": "look", "parameters": SCHEMA}],
    "tool_choice": "auto",
    "reasoning": {"effort": "low", "summary": "auto"},
    "text": {"format": {"type": "json_schema", "name": "f", "schema": SCHEMA}},
    "max_output_tokens": 50,
    "metadata": {"conversation_id": "mine"},
    "include": ["reasoning.encrypted_content"],
    "store": True,
}
# For each route that reads its body itself, one that is right.
BODIES = {
    "/api/chat": {
        "messages": OLLAMA,
        "tools": [TOOL],
        "options": OPTIONS,
        "think": "low",
        "format": SCHEMA,
        "keep_alive": "1m",
        "logprobs": True,
        "top_logprobs": 2,
    },
    "/api/generate": {
        "prompt": "Hi",
        "system": "Be brief.",
        "context": [72, 70, 99, 95],
        "images": [PICTURE],
        "options": OPTIONS,
        "raw": False,
        "suffix": "",
        "format": "json",
    },
    "/api/embed": {"input": ["a", "b"], "dimensions": 4, "truncate": True},
    "/api/embeddings": {"prompt": "a"},
    "/api/show": {"verbose": False, "name": "fake"},
    "/api/tokenize": {"content": "Hello", "text": "Hello"},
    "/api/detokenize": {"tokens": [1, 2]},
    "/api/pull": {"insecure": False},
    "/api/copy": {"source": "fake", "destination": "copied"},
    "/api/create": {"from": "fake", "files": {"a": "sha256:b"}},
    "/v1/chat/completions": {
        "messages": HISTORY,
        "tools": [TOOL],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "response_format": {"type": "json_schema", "json_schema": {"name": "f", "schema": SCHEMA}},
        "stream_options": {"include_usage": True},
        "max_tokens": 50,
        "stop": ["x"],
        "reasoning_effort": "low",
        "logprobs": True,
        "top_logprobs": 2,
        "metadata": {"conversation_id": "mine", "context": ["a page"]},
        "n": 1,
    },
    "/v1/completions": {"prompt": "Hi", "suffix": "x", "max_tokens": 5, "echo": True, "logprobs": 1},
    "/v1/embeddings": {"input": ["a", "b"], "encoding_format": "base64", "dimensions": 4},
    "/v1/responses": RESPONSES,
    "/v1/responses/input_tokens": RESPONSES,
    "/v1/messages": ANTHROPIC,
    "/v1/messages/count_tokens": ANTHROPIC,
}
HEADERS = st.dictionaries(
    st.sampled_from(
        ["X-Holdfast", "X-Holdfast-Project", "X-Holdfast-Kind", "X-Holdfast-Conversation", "X-Session-Id"]
    ),
    st.sampled_from(["off", "group", "private", "..", "a/b", "c_" + "0" * 26, "ä", "x" * 200, "garden"]),
    max_size=2,
)


@pytest.mark.parametrize("path", BODIES)
def test_bodies_that_are_nearly_right(client, path):
    @some(12)
    @given(nearly(BODIES[path]), MODEL, st.sampled_from([True, False]), HEADERS)
    def try_it(body, model, stream, headers):
        if isinstance(body, dict):
            body = {"model": model, "stream": stream, **body}
        _send(client, path, json.dumps(body).encode(), headers)

    try_it()


@pytest.mark.parametrize("path", ["/api/chat", "/v1/chat/completions", "/v1/responses", "/v1/messages"])
def test_bytes_that_are_no_body(client, path):
    whole = json.dumps({"model": "scripted", **BODIES[path]}).encode()

    @some(12)
    @given(
        st.one_of(st.binary(max_size=40), st.integers(0, len(whole)).map(lambda end: whole[:end])), HEADERS
    )
    def try_it(content, headers):
        _send(client, path, content, headers)

    try_it()
    deep = b'{"model":"scripted","messages":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    _send(client, path, deep, {})


def _send(client, path, content, headers):
    encoded = {name: value.encode() for name, value in headers.items()}
    answer = client.post(path, content=content, headers=encoded | {"content-type": b"application/json"})
    if answer.text == NOT_THERE and headers.get("X-Holdfast") == "off":
        return
    check(path, answer.status_code, answer.headers.get("content-type", ""), answer.text)


def test_events_with_odd_questions(client):
    for query in ("after=x", "after=-1", "conversation=c_nobody", "project=..", "project=a/b", "after=9e99"):
        with client.stream("GET", f"/api/events?{query}") as answer:
            if answer.status_code != 200:
                answer.read()
                kind = answer.headers.get("content-type", "")
                check("/api/events", answer.status_code, kind, answer.text)


def test_after_all_that_it_still_answers(client):
    question = {"messages": [{"role": "user", "content": "Still there?"}], "stream": False}
    assert client.post("/api/chat", json={"model": "scripted", **question}).status_code == 200
    assert client.get("/health").json()["status"] == "ok"
