"""Getting and removing models through Holdfast: byte for byte, and nothing stale is left behind."""

import hashlib
import json
from contextlib import contextmanager

import httpx
import ollama
import pytest

from holdfast.testing.provider import ScriptedProvider
from holdfast.upstreams.http import Connection
from holdfast.upstreams.ollama import Ollama
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel
from tests.upstreams.hostile import begin_response, hostile, piece

NOBODYS = "sha256:" + "0" * 64
MANAGING = [
    ("POST", "/api/pull", {"model": "new"}),
    ("POST", "/api/pull", {"name": "old-spelling", "stream": False}),
    ("POST", "/api/push", {"model": "fake"}),
    ("POST", "/api/push", {"model": "nobody"}),
    ("POST", "/api/create", {"model": "mine", "from": "fake", "system": "Be brief."}),
    ("POST", "/api/create", {"model": "mine"}),
    ("POST", "/api/copy", {"source": "fake", "destination": "copied"}),
    ("POST", "/api/copy", {"source": "nobody", "destination": "copied"}),
    ("DELETE", "/api/delete", {"model": "nobody"}),
    ("DELETE", "/api/delete", {"model": "fake"}),
]


@pytest.fixture
def fake():
    return FakeOllama(models=[FakeModel(), FakeModel("other:latest")])


@contextmanager
def in_front_of(serve, fake):
    with fake.served() as address:
        yield serve(Ollama(Connection(address))).client


def names(client):
    return [row["name"] for row in client.get("/api/tags").json()["models"]]


def test_answers_are_the_servers_own_byte_for_byte(serve):
    with (
        FakeOllama().served() as direct,
        httpx.Client(base_url=direct, trust_env=False) as own,
        in_front_of(serve, FakeOllama()) as client,
    ):
        for method, path, body in MANAGING:
            expected, passed = (asked.request(method, path, json=body) for asked in (own, client))
            assert (passed.status_code, passed.content) == (expected.status_code, expected.content)
            assert passed.headers.get("content-type") == expected.headers.get("content-type")


def test_what_was_pulled_copied_and_deleted_is_known_at_once(serve, fake):
    with in_front_of(serve, fake) as client:
        client.post("/api/pull", json={"model": "new"})
        assert "new:latest" in names(client)
        assert client.post("/api/chat", json=ask("new")).status_code == 200
        client.post("/api/copy", json={"source": "new", "destination": "copied"})
        client.request("DELETE", "/api/delete", json={"model": "new"})
        assert "new:latest" not in names(client)
        gone = client.post("/api/chat", json=ask("new"))
        assert gone.status_code == 404
        assert gone.json()["error"].startswith('model "new" not found')


def test_replaced_model_with_same_name_is_described_again(serve, fake):
    with in_front_of(serve, fake) as client:
        windows = {row["name"]: row["context_window"] for row in installed(client)}
        assert windows["fake:latest"] == 32768
        client.request("DELETE", "/api/delete", json={"model": "fake"})
        client.post("/api/copy", json={"source": "other", "destination": "fake"})
        assert "fake:latest" in {row["name"] for row in installed(client)}


def installed(client):
    return client.get("/api/models/installed").json()["models"]


def ask(model):
    return {"model": model, "messages": [{"role": "user", "content": "Hello there"}], "stream": False}


def test_the_unmodified_client_manages_models(serve, fake, tmp_path):
    weights = tmp_path / "weights.gguf"
    weights.write_bytes(b"GGUF" * 1000)
    with in_front_of(serve, fake) as client, ollama.Client(str(client.base_url), trust_env=False) as asked:
        assert [part.status for part in asked.pull("new", stream=True)][-1] == "success"
        assert asked.pull("again").status == "success"
        digest = asked.create_blob(weights)
        result = asked.create("mine", files={"weights.gguf": digest}, stream=True)
        assert [part.status for part in result][-1] == "success"
        assert asked.copy("mine", "yours").status == "success"
        assert asked.delete("mine").status == "success"
        assert {"new:latest", "again:latest", "yours:latest"} <= {row.model for row in asked.list().models}
        with pytest.raises(ollama.ResponseError) as refused:
            asked.delete("mine")
        assert refused.value.status_code == 404
    assert fake.blobs == {digest: 4000}


def test_progress_comes_while_it_is_made_and_whoever_leaves_ends_it(serve, fake):
    with in_front_of(serve, fake) as client:
        with client.stream("POST", "/api/pull", json={"model": "endless"}) as progress:
            lines = progress.iter_lines()
            assert json.loads(next(lines))["completed"] == 1
            assert json.loads(next(lines))["completed"] == 2
        assert fake.abandoned.wait(60)


def test_upstream_failure_during_pull_is_reported_in_stream(serve):
    line = b'{"status":"pulling manifest"}\n'
    with hostile([begin_response("application/x-ndjson"), piece(line)]) as server:
        passed = serve(Ollama(Connection(server.url))).client.post("/api/pull", json={"model": "new"})
    assert passed.text.count("\n") == 2, passed.text
    first, last = passed.text.splitlines()
    assert first.encode() + b"\n" == line
    assert "broke" in json.loads(last)["error"]


def test_blobs_are_streamed_without_chat_size_limit(serve, fake):
    size, part = 3_000_000, b"x" * 100_000
    digest = "sha256:" + hashlib.sha256(b"x" * size).hexdigest()

    def pieces():
        for _ in range(size // len(part)):
            yield part

    with fake.served() as address:
        client = serve(Ollama(Connection(address)), max_request_mb=1).client
        assert client.head(f"/api/blobs/{digest}").status_code == 404
        assert client.post(f"/api/blobs/{digest}", content=pieces()).status_code == 201
        assert client.post(f"/api/blobs/{digest}", content=b"x" * size).status_code == 201
        assert client.head(f"/api/blobs/{digest}").status_code == 200
        assert client.post(f"/api/blobs/{NOBODYS}", content=b"abc").json() == {"error": "digest mismatch"}
        for nonsense in ("sha256:0", "..", "x%3Fy=1", f"{NOBODYS}%23"):
            assert client.post(f"/api/blobs/{nonsense}", content=b"abc").status_code in (400, 404)
    assert fake.blobs == {digest: size}


def test_a_server_that_is_no_ollama_is_named(serve):
    client = serve(ScriptedProvider()).client
    for method, path, body in MANAGING:
        named = {
            name: "scripted" if name in ("model", "name", "source") else item for name, item in body.items()
        }
        refused = client.request(method, path, json=named)
        assert refused.status_code == 501
        assert "Ollama" in refused.json()["error"]
    assert client.post(f"/api/blobs/{NOBODYS}", content=b"abc").status_code == 501


def test_a_request_without_a_model_is_refused(serve):
    client = serve().client
    for body in ({}, {"model": 7}, {"model": ""}, []):
        assert client.post("/api/pull", json=body).status_code == 400


def test_models_are_managed_by_administrators_only(serve, fake):
    with fake.served() as address:
        holdfast = serve(Ollama(Connection(address)), key="s3cret")
        answer = holdfast.client.post(
            "/api/keys", json={"name": "somebody"}, headers={"Authorization": "Bearer s3cret"}
        ).json()
        with_key = {"Authorization": f"Bearer {answer['secret']}"}
        for method, path, body in MANAGING:
            assert holdfast.client.request(method, path, json=body, headers=with_key).status_code == 403
        assert holdfast.client.post(f"/api/blobs/{NOBODYS}", headers=with_key).status_code == 403


def test_ollamas_clients_find_what_they_look_for_first(serve, fake):
    with in_front_of(serve, fake) as client:
        assert client.head("/").status_code == 200
        assert client.head("/api/version").status_code == 200
        assert client.get("/api/version").json()["version"] == "0.30.0"
        assert client.head("/api/tags").status_code == 200
