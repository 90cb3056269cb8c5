"""What is around the chats: models, kept conversations, the guard, and switching off."""

import json
import socket

import pytest

from holdfast.config import Settings
from holdfast.errors import ConfigError, Unreachable
from holdfast.messages import Scope
from holdfast.server.guard import check_address, is_loopback
from holdfast.testing.provider import ScriptedProvider
from holdfast.upstreams.http import Connection
from holdfast.upstreams.ollama import Ollama
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel

ASK = {"model": "scripted", "messages": [{"role": "user", "content": "Hello there"}], "stream": False}


def test_models_are_listed_in_both_shapes(serve):
    client = serve().client
    names = ["scripted", "use-multilingual"]
    assert [model["name"] for model in client.get("/api/tags").json()["models"]] == names
    assert [model["id"] for model in client.get("/v1/models").json()["data"]] == names
    assert client.get("/v1/models/scripted").json()["id"] == "scripted"
    assert client.get("/v1/models/nobody").status_code == 404
    assert client.get("/api/ps").json()["models"][0]["context_length"] == 8192
    assert client.post("/api/show", json={"model": "scripted"}).json()["capabilities"] == ["completion"]
    assert client.post("/api/show", json={"model": "nobody"}).status_code == 404
    assert client.post("/api/show", json={}).status_code == 400
    assert client.get("/api/version").json()["version"]


def test_installed_models_have_their_windows(serve):
    (model,) = serve().client.get("/api/models/installed").json()["models"]
    assert model["name"] == "scripted"
    assert model["context_window"] is None
    assert model["recommended_ctx"] == 4096
    assert model["num_ctx"] == 8192


def test_an_empty_chat_loads_the_model(serve):
    client = serve().client
    loaded = client.post("/api/chat", json={"model": "scripted"}).json()
    assert (loaded["done"], loaded["done_reason"]) == (True, "load")
    unloaded = client.post("/api/generate", json={"model": "scripted", "keep_alive": 0}).json()
    assert unloaded["done_reason"] == "unload"


def test_what_only_ollama_can_do_is_refused_clearly_by_other_servers(serve):
    response = serve().client.post("/api/generate", json={"model": "scripted", "prompt": "a", "suffix": "b"})
    assert response.status_code == 400
    assert "Ollama server" in response.json()["error"]


def test_forwarded_requests_use_configured_keep_alive_unless_client_sets_it(serve):
    fake = FakeOllama(models=[FakeModel("fake:latest")])
    raw = {"model": "fake:latest", "prompt": "a", "raw": True, "stream": False}
    with fake.served() as url:
        client = serve(Ollama(Connection(url)), keep_alive="2h").client
        client.post("/api/generate", json=raw)
        client.post("/api/generate", json={**raw, "keep_alive": "1m"})
        client.post("/api/chat", json={"model": "fake:latest"})
        client.post("/api/generate", json=raw, headers={"X-Holdfast": "off"})
    asked = [body.get("keep_alive") for path, body in fake.requests if path in ("/api/generate", "/api/chat")]
    assert asked == ["2h", "1m", "2h", None]


def test_ollama_clients_and_people_get_different_greetings(serve):
    client = serve().client
    assert client.get("/").text == "Ollama is running"
    assert client.head("/").status_code == 200
    german = {"accept": "text/html", "accept-language": "de-DE"}
    assert "data-first-run" in client.get("/", headers=german).text, "nobody has done anything yet"
    assert client.post("/api/chat", json=ASK).status_code == 200
    page = client.get("/", headers=german).text
    assert "data-first-run" not in page
    assert '<html lang="de"' in page
    assert "<script>" not in page, "none stands inside the page"
    assert '<html lang="en"' in client.get("/", headers={"accept": "text/html"}).text


def test_health_says_what_is_in_use(serve):
    health = serve().client.get("/health").json()
    assert health["status"] == "ok"
    assert health["upstream"]["kind"] == "scripted"


def test_kept_conversations_are_listed_in_pages_and_shown_whole(serve):
    client = serve(ScriptedProvider(fallback="Yes.")).client
    for n in range(5):
        body = {**ASK, "messages": [{"role": "user", "content": f"Question {n}"}]}
        assert client.post("/api/chat", json=body).status_code == 200
    first = client.get("/api/chats", params={"limit": 3}).json()
    rest = client.get("/api/chats", params={"limit": 3, "before": first["next"]}).json()
    titles = [chat["title"] for chat in first["chats"] + rest["chats"]]
    assert titles == [f"Question {n}" for n in (4, 3, 2, 1, 0)]
    assert rest["next"] is None
    shown = client.get(f"/api/chats/{first['chats'][0]['id']}/messages").json()
    assert [(message["role"], message["content"]) for message in shown["messages"]] == [
        ("user", "Question 4"),
        ("assistant", "Yes."),
    ]
    assert shown["compaction_summary"] is None
    assert client.get("/api/chats/c_nothing/messages").status_code == 404
    assert client.get("/api/chats", params={"limit": 0}).status_code == 400
    assert client.get("/api/chats", params={"before": "garbage"}).status_code == 400


def test_a_project_sees_only_its_own(serve):
    client = serve().client
    client.post("/api/chat", json=ASK, headers={"X-Holdfast-Project": "secret"})
    other = {"X-Holdfast-Project": "other"}
    assert client.get("/api/chats", headers=other).json()["chats"] == []
    (chat,) = client.get("/api/chats", headers={"X-Holdfast-Project": "secret"}).json()["chats"]
    assert client.get(f"/api/chats/{chat['id']}/messages", headers=other).status_code == 404
    # Who names no project sees their chats of all projects.
    assert client.get("/api/chats").json()["chats"] == [chat]
    assert (
        client.get("/api/chats", headers={"X-Holdfast-Kind": "group", "X-Holdfast-Project": "secret"}).json()[
            "chats"
        ]
        == []
    )
    assert client.get("/api/chats", headers={"X-Holdfast-Kind": "club"}).status_code == 400
    for name in ("../up", "..", ""):
        assert client.get("/api/chats", headers={"X-Holdfast-Project": name}).status_code == 400


def test_switched_off_nothing_is_kept(serve):
    holdfast = serve(ScriptedProvider(["Yes."]))
    response = holdfast.client.post("/v1/chat/completions", json=ASK, headers={"X-Holdfast": "off"})
    assert response.json()["choices"][0]["message"]["content"] == "Yes."
    assert "x-holdfast-conversation" not in response.headers
    assert holdfast.client.get("/api/chats").json()["chats"] == []
    assert holdfast.store.jobs.recent() == []


@pytest.mark.parametrize(
    "headers",
    [{"host": "evil.example"}, {"origin": "https://evil.example"}, {"host": "[::1"}, {"origin": "http://["}],
)
def test_a_page_on_the_web_gets_nothing(serve, headers):
    response = serve().client.get("/api/chats", headers=headers)
    assert response.status_code == 400


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://localhost:3000"},
        {"origin": "app://obsidian.md"},
        {"origin": "vscode-webview://a1b2"},
        {"host": "host.docker.internal:11435"},
        {"host": "host.containers.internal:11435"},
        {"host": f"{socket.gethostname()}:11435"},
        {"host": f"{socket.gethostname().partition('.')[0]}.local:11435"},
        {"host": "[::1]:11435"},
    ],
)
def test_programs_of_this_machine_and_its_containers_are_let_in(serve, headers):
    assert serve().client.get("/api/chats", headers=headers).status_code == 200


def test_with_a_key_nobody_comes_in_without_it(serve):
    client = serve(key="s3cret").client
    assert client.get("/health").status_code == 200
    assert client.get("/api/chats").status_code == 401
    refused = client.post("/v1/chat/completions", json=ASK, headers={"Authorization": "Bearer wrong"})
    assert refused.status_code == 401
    assert refused.json()["error"]["code"] == "invalid_api_key"
    assert "s3cret" not in json.dumps(refused.json())
    assert client.get("/api/chats", headers={"Authorization": "Bearer s3cret"}).status_code == 200


def test_another_address_needs_a_key():
    with pytest.raises(ConfigError, match="key"):
        check_address(Settings(host="0.0.0.0"))
    check_address(Settings(host="0.0.0.0", key="s3cret"))
    check_address(Settings(host="::1"))


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("localhost", True),
        ("::1", True),
        ("[::1]", True),
        ("10.0.0.1", False),
        ("localhost.evil.example", False),
        ("", False),
    ],
)
def test_loopback_is_told_from_the_rest(host, local):
    assert is_loopback(host) is local


def test_a_project_may_have_a_german_name(serve):
    holdfast = serve()
    holdfast.client.post("/api/chat", json=ASK, headers=[(b"X-Holdfast-Project", "Größe".encode())])
    assert len(holdfast.store.log.recent(Scope(project="Größe"))) == 1


def test_health_is_well_while_the_model_server_is_not(serve):
    holdfast = serve(Unreachable("nobody there"))
    health = holdfast.client.get("/health")
    assert health.status_code == 200
    assert "nobody there" in health.json()["upstream"]["error"]
    assert holdfast.client.post("/api/chat", json=ASK).status_code == 503


def test_load_and_raw_requests_use_same_window_as_chats(serve):
    fake = FakeOllama(models=[FakeModel(trained_window=8192)])
    with fake.served() as address:
        client = serve(Ollama(Connection(address))).client
        client.post("/api/chat", json={**ASK, "model": "fake"})
        client.post("/api/chat", json={"model": "fake"})
        client.post("/api/generate", json={"model": "fake:latest", "prompt": "a", "suffix": "b"})
        assert len(fake.loads) == 1
