"""The set-up's state, where clients find the server, its password, and a model's window over REST."""

import shutil

import httpx
import pytest

from holdfast.store import Key
from holdfast.store.access import is_password
from tests.server.memory_server import found, refused, remembering

STATUS, STEP, COMPLETE = "/api/system/setup-status", "/api/system/setup-step", "/api/system/setup-complete"
BROWSER = {"accept": "text/html"}
PASSWORD = "correct horse battery"
ASK = {"model": "scripted", "messages": [{"role": "user", "content": "Hello there"}], "stream": False}


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with remembering(tmp_path_factory.mktemp("system")) as made:
        yield made


@pytest.fixture
def door(running):
    """As if nobody had done anything yet."""
    shutil.rmtree(running.notes, ignore_errors=True)
    for name, before in (("step", 0), ("completed", None), ("skipped", None)):
        running.store.settings.set(f"setup.{name}", before)
    return running


@pytest.fixture
def client(door):
    return door.client


def test_chat_shows_its_first_run_until_setup_is_completed(client):
    assert "data-first-run" in client.get("/", headers=BROWSER).text
    assert client.get("/").text == "Ollama is running"
    found(client.put(STEP, json={"step": 3}))
    told = found(client.get(STATUS))
    assert (told["step"], told["needed"], len(told["steps"])) == (3, True, 6)
    found(client.post(COMPLETE, json={}))
    assert found(client.get(STATUS))["needed"] is False
    assert "data-first-run" not in client.get("/", headers=BROWSER).text


def test_who_skips_the_set_up_is_not_asked_again(client):
    found(client.post(COMPLETE, json={"skipped": True}))
    assert client.get("/", headers=BROWSER).status_code == 200
    told = found(client.get(STATUS))
    assert (told["needed"], told["completed"], bool(told["skipped"])) == (False, None, True)


def test_who_has_talked_already_is_not_asked(serve):
    client = serve().client
    assert found(client.get(STATUS))["needed"] is True
    found(client.post("/api/chat", json=ASK))
    assert client.get("/", headers=BROWSER).status_code == 200
    assert found(client.get(STATUS))["needed"] is False


@pytest.mark.parametrize("step", [-1, 7, "2", None, 1.5])
def test_there_are_six_steps_and_one_before_them(client, step):
    refused(client.put(STEP, json={"step": step}), 400, "step")


def test_what_was_answered_becomes_the_profile_and_is_found_again(client):
    answers = {
        "companyName": "Muster GmbH",
        "industry": "IT & Software",
        "teamSize": "6–20",
        "products": "Webseiten, Hosting",
        "preferences": {"antwortlaenge": "kurz", "style": "mit Beispielen"},
    }
    found(client.post(COMPLETE, json={"aiProfile": answers}, params={"language": "de"}))
    fields = found(client.get("/api/memory/profile"))["fields"]
    assert fields["firma"] == "Muster GmbH"
    assert fields["produkte"] == ["Webseiten", "Hosting"]
    told = found(client.get(STATUS))["aiProfile"]
    assert told["companyName"] == "Muster GmbH"
    assert told["preferences"] == {"answerLength": "kurz", "formality": None, "style": "mit Beispielen"}
    refused(client.post(COMPLETE, json={"aiProfile": {"shoeSize": 43}}), 400, "shoeSize")


def test_broken_profile_is_reported_without_blocking_setup(client, door):
    (door.notes / "default").mkdir(parents=True)
    (door.notes / "default" / "profile.yaml").write_text("name: [")
    told = found(client.get(STATUS))
    assert told["aiProfile"] is None
    assert "YAML" in told["trouble"]


def test_the_network_says_what_clients_are_told(client):
    told = found(client.get("/api/system/network"))
    assert told["addresses"] == [str(client.base_url).rstrip("/")]
    assert (told["only_here"], told["key_needed"], told["password"]) == (True, False, False)
    assert told["docker"].startswith("http://host.docker.internal:")


def test_a_server_that_somebody_else_started_does_not_start_itself_anew(client):
    refused(client.post("/api/system/restart"), 409, "holdfast serve")


def test_the_server_is_for_administrators(client, door):
    _, secret = door.store.keys.create(Key())
    plain = {"authorization": f"Bearer {secret}"}
    for method, path, body in (
        ("PUT", STEP, {"step": 1}),
        ("POST", COMPLETE, {}),
        ("GET", "/api/system/network", None),
        ("POST", "/api/system/restart", None),
        ("PUT", "/api/password", {"password": PASSWORD}),
        ("PUT", "/api/models/scripted", {"num_ctx": 4096}),
    ):
        refused(client.request(method, path, json=body, headers=plain), 403, "administrator")
    assert found(client.get(STATUS, headers=plain))["step"] == 0


# Password


def test_a_password_is_set_and_taken_away(client, door):
    refused(client.put("/api/password", json={"password": "short"}), 400, "8 characters")
    found(client.put("/api/password", json={"password": PASSWORD}))
    assert is_password(PASSWORD, door.store.sessions.password("default"))
    # To be on this machine is no proof of who it is.
    refused(client.put("/api/password", json={"password": "another good one"}), 403, "not the password")
    refused(client.request("DELETE", "/api/password"), 403, "not the password")
    found(client.request("DELETE", "/api/password", json={"current": PASSWORD}))
    assert door.store.sessions.password("default") is None


def test_password_change_requires_current_password_and_keeps_session(serve):
    holdfast = serve(require_key=True)
    _, secret = holdfast.store.keys.create(Key(admin=True))
    admin = {"authorization": f"Bearer {secret}"}
    found(holdfast.client.put("/api/password", json={"password": PASSWORD}, headers=admin))
    here = {"origin": holdfast.url}
    with httpx.Client(base_url=holdfast.url, trust_env=False, headers=here) as browser:
        found(browser.post("/api/login", json={"password": PASSWORD}))
        new = {"password": "another good one"}
        refused(browser.put("/api/password", json=new), 403, "not the password")
        found(browser.put("/api/password", json={**new, "current": PASSWORD}))
        assert found(browser.get("/api/login"))["how"] == "session"
        refused(browser.request("DELETE", "/api/password", json={"current": PASSWORD}), 403)


def test_the_last_way_in_is_not_taken_away(serve):
    holdfast = serve(require_key=True)
    made, secret = holdfast.store.keys.create(Key(admin=True))
    admin = {"authorization": f"Bearer {secret}"}
    found(holdfast.client.put("/api/password", json={"password": PASSWORD}, headers=admin))
    here = {"origin": holdfast.url}
    with httpx.Client(base_url=holdfast.url, trust_env=False, headers=here) as browser:
        found(browser.post("/api/login", json={"password": PASSWORD}))
        holdfast.store.keys.revoke(made.id)
        refused(
            browser.request("DELETE", "/api/password", json={"current": PASSWORD}),
            409,
            "the only way to sign in",
        )


# Models


def test_the_window_of_a_model_is_fixed_and_given_back(client):
    before = found(client.get("/api/models/installed"))["models"][0]
    name = before["name"]
    told = found(client.put(f"/api/models/{name}", json={"num_ctx": 2048}))
    assert (told["name"], told["num_ctx"], told["num_ctx_source"]) == (name, 2048, "set by you")
    assert found(client.put(f"/api/models/{name}", json={"num_ctx": 0}))["num_ctx"] == before["num_ctx"]
    refused(client.put(f"/api/models/{name}", json={"num_ctx": 5}), 400, "no conversation")
