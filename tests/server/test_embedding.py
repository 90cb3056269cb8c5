"""Embeddings: three shapes, three kinds of model behind them, and the encoder that is always there."""

import base64
import struct

import ollama
import openai
import pytest

from holdfast.testing.provider import ScriptedProvider
from holdfast.upstreams.http import Connection
from holdfast.upstreams.ollama import Ollama
from holdfast.upstreams.openai import OpenAI
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel
from tests.upstreams.fake_servers import server

OURS = "use-multilingual"


def length(vector):
    return sum(value * value for value in vector) ** 0.5


def near(item, other):
    return item == pytest.approx(other, abs=1e-6)


@pytest.fixture
def fake():
    return FakeOllama(models=[FakeModel("small:latest", trained_window=8)])


def test_an_ollama_client_gets_an_ollamas_own_answer(serve, fake):
    body = {"model": "small", "input": ["one two", "three"], "dimensions": 4, "keep_alive": "1m", "new": 1}
    with fake.served() as address:
        client = serve(Ollama(Connection(address))).client
        answer = client.post("/api/embed", json=body).json()
        assert len(answer["embeddings"]) == 2
        assert fake.requests[-1] == ("/api/embed", body)
        older = client.post("/api/embeddings", json={"model": "small", "prompt": "three"}).json()
        assert near(older["embedding"], answer["embeddings"][1])
        assert client.post("/api/embed", json={"model": "nobody", "input": "x"}).status_code == 404
        long = {"model": "small", "input": "w " * 20, "truncate": False}
        assert "exceeds the context length" in client.post("/api/embed", json=long).json()["error"]


def test_an_openai_client_uses_an_ollama_in_its_own_way(serve, fake):
    with fake.served() as address:
        client = serve(Ollama(Connection(address))).client
        with openai.OpenAI(base_url=f"{client.base_url}/v1", api_key="x", max_retries=0) as asked:
            embedding = asked.embeddings.create(model="small", input=["one two", "three"])
            shorter = asked.embeddings.create(model="small", input="three", dimensions=4)
            with pytest.raises(openai.BadRequestError, match="context"):
                asked.embeddings.create(model="small", input="w " * 20)
            with pytest.raises(openai.NotFoundError):
                asked.embeddings.create(model="nobody", input="x")
        direct = client.post("/api/embed", json={"model": "small", "input": ["one two", "three"]}).json()
    for row, expected in zip(embedding.data, direct["embeddings"], strict=True):
        assert near(row.embedding, expected)
    assert embedding.usage.prompt_tokens == 3
    assert len(shorter.data[0].embedding) == 4
    assert length(shorter.data[0].embedding) == pytest.approx(1, abs=1e-6)
    assert {path for path, _ in fake.requests} <= {"/api/embed", "/api/show"}


def test_an_ollama_client_uses_an_openai_compatible_server(serve):
    def vectors(body):
        rows = [{"index": at, "embedding": [3.0, 4.0, 0.0]} for at, _ in enumerate(body["input"])]
        return {"object": "list", "data": rows, "usage": {"prompt_tokens": 7}}

    with server({"/v1/embeddings": vectors}) as known:
        client = serve(OpenAI(Connection(known.url))).client
        with ollama.Client(str(client.base_url), trust_env=False) as asked:
            answer = asked.embed("small", ["one", "two"], dimensions=2)
            older = asked.embeddings("small", "one")
        assert list(answer.embeddings[1]) == pytest.approx([0.6, 0.8])
        assert answer.prompt_eval_count == 7
        assert list(older.embedding) == [3.0, 4.0, 0.0]
        given = {"model": "small", "input": [1, 2, 3], "encoding_format": "base64", "user": "u"}
        client.post("/v1/embeddings", json=given)
        assert known.asked("/v1/embeddings")[-1] == given


def test_what_is_no_text_is_refused_in_the_clients_shape(serve):
    client = serve(ScriptedProvider()).client
    for given in ([1, 2], [[1], [2]], {"a": 1}, [1, "a"], 7):
        response = client.post("/v1/embeddings", json={"model": "scripted", "input": given})
        assert (response.status_code, response.json()["error"]["param"]) == (400, "input")
        assert isinstance(
            client.post("/api/embed", json={"model": "scripted", "input": given}).json()["error"], str
        )
    wrong = (
        {"input": ""},
        {"input": []},
        {"input": "a", "encoding_format": "x"},
        {"input": "a", "dimensions": -1},
        {"input": "a", "dimensions": "two"},
        {"input": "a", "model": ""},
    )
    for fields in wrong:
        assert client.post("/v1/embeddings", json={"model": "scripted", **fields}).status_code == 400
    assert client.post("/api/embed", json={"model": "scripted"}).json()["embeddings"] == []
    assert client.post("/api/embeddings", json={"model": "scripted"}).json() == {"embedding": []}


def test_built_in_encoder_is_listed_and_serves_every_embedding_format(serve):
    client = serve(ScriptedProvider()).client
    assert OURS in [row["name"] for row in client.get("/api/tags").json()["models"]]
    assert OURS in [row["id"] for row in client.get("/v1/models").json()["data"]]
    assert client.get(f"/v1/models/{OURS}").status_code == 200
    assert client.post("/api/show", json={"model": OURS}).json()["capabilities"] == ["embedding"]
    refused = client.post(
        "/api/chat", json={"model": OURS, "messages": [{"role": "user", "content": "Hello"}]}
    )
    assert (refused.status_code, "does not support chat" in refused.json()["error"]) == (400, True)

    texts = ["The dog sleeps.", "Der Hund schläft.", "Interest rates rose again."]
    rows = client.post("/api/embed", json={"model": OURS, "input": texts}).json()["embeddings"]
    assert [len(row) for row in rows] == [512] * 3
    alike, unlike = (sum(a * b for a, b in zip(rows[0], rows[n], strict=True)) for n in (1, 2))
    assert alike > 0.6 > unlike
    body = {"model": OURS, "input": texts[0], "encoding_format": "base64"}
    (row,) = client.post("/v1/embeddings", json=body).json()["data"]
    assert near(list(struct.unpack("<512f", base64.b64decode(row["embedding"]))), rows[0])
    older = client.post("/api/embeddings", json={"model": f"{OURS}:latest", "prompt": texts[0]}).json()
    assert near(older["embedding"], rows[0])
    short = client.post("/api/embed", json={"model": OURS, "input": texts[0], "dimensions": 64}).json()
    assert length(short["embeddings"][0]) == pytest.approx(1)
    assert client.post("/api/embed", json={"model": OURS, "input": []}).json()["embeddings"] == []
    long = {"model": OURS, "input": "word " * 1000}
    assert client.post("/api/embed", json=long).status_code == 200
    assert client.post("/api/embed", json={**long, "truncate": False}).status_code == 400
