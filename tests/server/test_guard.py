"""Who may come in, by which door, and as whom; and that nothing secret is written down on the way."""

import asyncio
import json
import logging

import httpx
import pytest

from holdfast.config import Settings
from holdfast.errors import ConfigError
from holdfast.messages import Scope
from holdfast.server.app import LineFormatter, create_app
from holdfast.server.guard import COOKIE, LoginThrottle, Origins
from holdfast.server.system import docker_key
from holdfast.store import Key, open_store
from holdfast.store.access import password_digest
from holdfast.testing.provider import ScriptedProvider
from holdfast.transfer.users import _lock_out
from holdfast.turn import TurnEngine
from holdfast.upstreams.base import Provider
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams

ASK = {"model": "scripted", "messages": [{"role": "user", "content": "Hello there"}], "stream": False}
PASSWORD = "correct horse battery"


def bearer(secret):
    return {"Authorization": f"Bearer {secret}"}


def key_for(holdfast, **wanted):
    """The headers of a new key, and its id."""
    result, secret = holdfast.store.keys.create(Key(**wanted))
    return bearer(secret), result.id


@pytest.fixture
def elsewhere(tmp_path):
    """Asks an app as somebody does who came to an address that others can reach, too."""

    async def find() -> Provider:
        return ScriptedProvider()

    store = open_store(f"sqlite:///{tmp_path / 'holdfast.db'}")
    engine = TurnEngine(store, Upstreams(find, ScriptedProvider()), ModelRegistry(store, tmp_path / "cache"))

    class Elsewhere:
        def __init__(self):
            self.store, self.settings, self.scheme = store, {}, "http"

        @property
        def app(self):
            return create_app(engine, Settings(home=tmp_path, **self.settings))

        def ask(self, *requests):
            """The answers to requests, one after the other, of one client that keeps its cookies."""
            app = self.app

            async def work():
                transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=("192.0.2.9", 1))
                address = f"{self.scheme}://192.0.2.7:11435"
                async with httpx.AsyncClient(transport=transport, base_url=address) as client:
                    return [await client.request(method, path, **more) for method, path, more in requests]

            return asyncio.run(work())

        def get(self, path, **headers):
            return self.ask(("GET", path, {"headers": headers}))[0]

    yield Elsewhere()
    store.close()


# Keys


def test_a_key_gives_its_user_and_project_in_every_dialect(serve):
    holdfast = serve(require_key=True)
    result, secret = holdfast.store.keys.create(Key(user="ada", project="garden"))
    headers = bearer(secret)
    for path, sent in (("/api/chat", headers), ("/v1/chat/completions", {"x-api-key": secret})):
        assert holdfast.client.post(path, json=ASK).status_code == 401
        assert holdfast.client.post(path, json=ASK, headers=sent).status_code == 200
    assert len(holdfast.store.log.recent(Scope("ada", "garden"))) == 2
    assert holdfast.store.keys.all()[0].used_at is not None
    other = {**headers, "X-Holdfast-Project": "house"}
    assert holdfast.client.get("/api/chats", headers=other).status_code == 403
    admin, _ = key_for(holdfast, admin=True)
    assert holdfast.client.delete(f"/api/keys/{result.id}", headers=admin).status_code == 204
    assert holdfast.client.get("/api/chats", headers=headers).status_code == 401


def test_loopback_accepts_any_key_except_revoked_keys(serve):
    holdfast = serve()
    headers, name = key_for(holdfast)
    for word in ("ollama", "sk-something", "hf_abcdefghijklmnopqrstuvwxyzabcdefgh"):
        assert holdfast.client.get("/api/chats", headers=bearer(word)).status_code == 200
    holdfast.store.keys.revoke(name)
    assert holdfast.client.get("/api/chats", headers=headers).status_code == 401
    assert holdfast.client.get("/api/chats").status_code == 200


def test_what_a_proxy_on_this_machine_passes_on_needs_a_key(serve):
    client = serve().client
    for header in ("X-Forwarded-For", "Forwarded", "Via", "X-Real-IP", "X-Forwarded-Host"):
        assert client.get("/api/chats", headers={header: "203.0.113.5"}).status_code == 401


def test_strangers_cannot_send_much(elsewhere):
    (large,) = elsewhere.ask(("POST", "/api/login", {"content": b"x" * 20_000}))
    assert large.status_code == 413


def test_keys_are_made_listed_and_revoked_by_administrators_only(serve):
    holdfast = serve(require_key=True)
    admin, _ = key_for(holdfast, admin=True, name="boss")
    plain, _ = key_for(holdfast, name="plain")
    wanted = {"name": "phone", "user": "ada", "rate": 5, "memory": False}
    refused = holdfast.client.post("/api/keys", json=wanted, headers=plain)
    assert refused.status_code == 403
    assert "--admin" in refused.json()["error"]
    response = holdfast.client.post("/api/keys", json=wanted, headers=admin)
    assert response.status_code == 201
    assert response.headers["cache-control"] == "no-store"
    secret, id_ = response.json()["secret"], response.json()["key"]["id"]
    assert holdfast.client.get("/api/chats", headers=bearer(secret)).status_code == 200
    listed = holdfast.client.get("/api/keys", headers=admin)
    assert [key["name"] for key in listed.json()["keys"]] == ["boss", "plain", "phone"]
    assert "digest" not in listed.text
    assert secret.split("_", 2)[2] not in listed.text
    for bad in ({"user": "a/b"}, {"rate": -1}, {"nonsense": 1}):
        assert holdfast.client.post("/api/keys", json=bad, headers=admin).status_code == 400
    assert holdfast.client.delete(f"/api/keys/{id_}", headers=plain).status_code == 403
    assert holdfast.client.delete(f"/api/keys/{id_}", headers=admin).status_code == 204
    assert holdfast.client.delete(f"/api/keys/{id_}", headers=admin).status_code == 404
    assert holdfast.client.get("/api/chats", headers=bearer(secret)).status_code == 401


def test_rate_limited_key_gets_retry_after(serve):
    holdfast = serve()
    for path, kind in (("/api/chat", str), ("/v1/chat/completions", dict), ("/v1/messages", dict)):
        headers, _ = key_for(holdfast, rate=2)
        for _ in range(2):
            assert holdfast.client.get("/api/version", headers=headers).status_code == 200
        refused = holdfast.client.post(path, json=ASK, headers=headers)
        assert refused.status_code == 429
        assert 0 < int(refused.headers["retry-after"]) <= 30
        assert isinstance(refused.json()["error"], kind)


def test_a_key_without_memory_neither_reads_nor_writes_any(serve):
    holdfast = serve()
    headers, _ = key_for(holdfast, memory=False)
    for method, path in (
        ("GET", "/api/memory/list"), ("POST", "/api/memory"), ("POST", "/api/memory/import"),
        ("GET", "/api/memory/profile"), ("GET", "/api/notes"), ("PUT", "/api/settings/company-context"),
    ):  # fmt: skip
        answer = holdfast.client.request(method, path, json={}, headers=headers)
        assert (answer.status_code, "no memory" in answer.text) == (403, True), path
    assert holdfast.client.post("/api/chat", json=ASK, headers=headers).status_code == 200


# Streams


@pytest.mark.parametrize("end", ["revoked", "signed out", "deleted"])
def test_a_stream_ends_when_its_credentials_do(serve, monkeypatch, end):
    monkeypatch.setattr("holdfast.server.app._RECHECK_SECONDS", 0.05)
    monkeypatch.setattr("holdfast.server.guard._CACHE_SECONDS", 0.0)
    holdfast = serve(require_key=True)
    headers, name = key_for(holdfast, user="ada")
    if end == "signed out":
        token = holdfast.store.sessions.open("default", 60.0)
        headers = {"Cookie": f"{COOKIE}={token}"}
    with holdfast.client.stream("GET", "/api/events", headers=headers) as stream:
        assert stream.status_code == 200
        if end == "revoked":
            holdfast.store.keys.revoke(name)
        elif end == "signed out":
            holdfast.store.sessions.close(token)
        else:
            holdfast.store.database.write(lambda connection: _lock_out(connection, "ada"))
        with pytest.raises(httpx.RemoteProtocolError):
            stream.read()
    assert holdfast.client.get("/api/events", headers=headers).status_code == 401


# Elsewhere


def test_no_route_is_open_to_others_without_a_key(elsewhere):
    elsewhere.settings = {"host": "0.0.0.0"}
    routes = [
        (method, route.path.replace("{path:path}", "a.md").replace("{", "").replace("}", ""))
        for route in _routes(elsewhere.app)
        for method in route.methods
    ]
    assert {"/api/keys", "/api/notes", "/api/memory/list", "/api/events", "/openapi.json"} <= {
        path for _, path in routes
    }
    answers = elsewhere.ask(*((method, path, {}) for method, path in routes))
    asked = zip(routes, answers, strict=True)
    assert {route for route, answer in asked if answer.status_code != 401} == {
        ("GET", "/health"),
        ("GET", "/login"),
        ("GET", "/static/version/a.md"),
        ("GET", "/api/login"),
        ("POST", "/api/login"),
    }


def _routes(app):
    results, waiting = [], list(app.router.routes)
    while waiting:
        route = waiting.pop()
        if getattr(route, "methods", None):
            results.append(route)
        inner = getattr(route, "original_router", route)
        waiting += getattr(inner, "routes", None) or []
    return results


def test_an_administrators_route_is_closed_to_other_keys(elsewhere):
    _, secret = elsewhere.store.keys.create(Key())
    for path in ("/api/keys", "/api/keys/", "/metrics", "/api/config", "/api/upstreams"):
        assert elsewhere.get(path, **bearer(secret)).status_code == 403, path


def test_a_second_address_needs_a_key_while_this_machine_does_not(elsewhere, serve):
    # As with --for-docker: the settings name loopback, and the request came to another address.
    assert elsewhere.get("/api/chats", host="host.docker.internal:11435").status_code == 401
    _, secret = elsewhere.store.keys.create(Key())
    named = {"host": "host.docker.internal:11435", **bearer(secret)}
    assert elsewhere.get("/api/chats", **named).status_code == 200
    assert serve().client.get("/api/chats").status_code == 200


def test_health_says_little_to_strangers(elsewhere):
    _, secret = elsewhere.store.keys.create(Key(admin=True))
    stranger = elsewhere.get("/health", host="evil.example")
    assert stranger.status_code == 200
    assert stranger.json().keys() == {"status", "name", "version"}
    assert elsewhere.get("/health", **bearer(secret)).json()["warnings"] == []
    assert elsewhere.get("/health", **bearer("hf_00000000_" + "a" * 43)).status_code == 200


# Names and pages


def test_more_names_can_be_allowed(elsewhere, serve):
    client = serve(allowed_hosts="chat.example.com, .home.example").client
    for host, status in (
        ("chat.example.com", 200),
        ("Chat.Example.com:80", 200),
        ("a.home.example", 200),
        ("evilhome.example", 400),
        ("chat.example.com.evil.example", 400),
    ):
        assert client.get("/api/chats", headers={"host": host}).status_code == status, host
    elsewhere.settings = {"host": "0.0.0.0", "allowed_hosts": "chat.example.com", "key": "s3cret"}
    assert elsewhere.get("/api/chats", host="chat.example.com", **bearer("s3cret")).status_code == 200
    assert elsewhere.get("/api/chats", host="evil.example", **bearer("s3cret")).status_code == 400


PREFLIGHT = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type,x-stainless-os",
    "access-control-request-private-network": "true",
}


def test_pages_elsewhere_get_nothing_unless_they_are_named(serve):
    client = serve().client
    refused = client.options("/api/chat", headers={"origin": "https://chat.example.com", **PREFLIGHT})
    assert refused.status_code >= 400
    assert "access-control-allow-origin" not in refused.headers
    own = client.get("/api/tags", headers={"origin": "http://localhost:3000"})
    assert "access-control-allow-origin" not in own.headers


def test_named_pages_may_ask_and_read(serve):
    holdfast = serve(
        cors_origins="https://chat.example.com, app://obsidian.md, vscode-webview://*", require_key=True
    )
    client, (headers, _) = holdfast.client, key_for(holdfast)
    for origin in ("https://chat.example.com", "app://obsidian.md", "vscode-webview://1a2b"):
        may = client.options("/v1/chat/completions", headers={"origin": origin, **PREFLIGHT})
        assert may.status_code == 200
        assert may.headers["access-control-allow-origin"] == origin
        assert "POST" in may.headers["access-control-allow-methods"]
        assert "authorization" in may.headers["access-control-allow-headers"]
        assert may.headers["access-control-allow-private-network"] == "true"
        assert "access-control-allow-credentials" not in may.headers
        answer = client.post("/v1/chat/completions", json=ASK, headers={"origin": origin, **headers})
        assert answer.headers["access-control-allow-origin"] == origin
        assert "X-Holdfast-Conversation" in answer.headers["access-control-expose-headers"]
        # Refusals can be read, too, or nobody would know why.
        refused = client.post("/v1/chat/completions", json=ASK, headers={"origin": origin})
        assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, origin)
    evil = {"origin": "https://evil.example"}
    other = client.options("/api/chat", headers={**evil, **PREFLIGHT})
    assert "access-control-allow-origin" not in other.headers
    assert client.get("/api/chats", headers={**evil, **headers}).status_code == 400


@pytest.mark.parametrize("everybody", ["*", "https://*", "http://*:3000", "*://example.com"])
def test_not_every_page_can_be_let_in(everybody):
    with pytest.raises(ConfigError, match="every page"):
        Origins(Settings(cors_origins=everybody))


# Passwords


@pytest.fixture(scope="module")
def digest():
    return password_digest(PASSWORD)


@pytest.fixture
def page(elsewhere, digest):
    elsewhere.store.sessions.set_password("default", digest)
    return elsewhere


LOGIN = ("POST", "/api/login", {"json": {"password": PASSWORD}})
SAME = {"sec-fetch-site": "same-origin"}


def test_a_password_opens_a_session_that_a_browser_keeps_to_itself(page):
    before, login, who, chats, logout, after = page.ask(
        ("GET", "/api/login", {}),
        LOGIN,
        ("GET", "/api/login", {}),
        ("GET", "/api/keys", {}),
        ("POST", "/api/logout", {"headers": SAME}),
        ("GET", "/api/chats", {}),
    )
    assert before.json() == {"how": "nobody", "user": None, "project": None, "admin": False, "password": True}
    cookie = login.headers["set-cookie"].lower()
    assert cookie.startswith(COOKIE)
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "path=/" in cookie
    assert "secure" not in cookie
    assert who.json()["how"] == "session"
    assert chats.status_code == 200
    assert logout.status_code == 204
    assert after.status_code == 401


def test_over_https_the_cookie_never_travels_in_the_clear(page):
    page.scheme = "https"
    assert "secure" in page.ask(LOGIN)[0].headers["set-cookie"].lower()


def test_another_page_cannot_act_in_a_sessions_name(page):
    # Names are not checked where a key is needed anyway, so this is the session's own protection.
    page.settings = {"host": "0.0.0.0"}
    expected = [
        (SAME, 201),
        ({"origin": "http://192.0.2.7:11435"}, 201),
        ({}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site", "origin": "http://192.0.2.7:11435"}, 403),
        ({"origin": "http://192.0.2.7:3000"}, 403),
        ({"origin": "null"}, 403),
    ]
    requests = [("POST", "/api/keys", {"json": {}, "headers": headers}) for headers, _ in expected]
    _, *answers = page.ask(LOGIN, *requests)
    assert [answer.status_code for answer in answers] == [status for _, status in expected]


def test_another_page_cannot_sign_somebody_in(page):
    page.settings = {"host": "0.0.0.0"}
    body = {"json": {"password": PASSWORD}, "headers": {"origin": "https://evil.example"}}
    assert page.ask(("POST", "/api/login", body))[0].status_code == 403


def test_wrong_passwords_are_refused_and_then_have_to_wait(page, monkeypatch):
    # No time passes: the first pause is a second, and a busy machine takes longer for a try.
    monkeypatch.setattr(LoginThrottle.__init__, "__defaults__", (lambda: 1_000.0,))
    wrong = ("POST", "/api/login", {"json": {"password": "wrong"}})
    *tries, right = page.ask(*[wrong] * 7, LOGIN)
    assert [answer.status_code for answer in tries] == [401] * 5 + [429] * 2
    # The right one is not even looked at: else guessing would go on meanwhile.
    assert right.status_code == 429
    assert int(right.headers["retry-after"]) >= 1
    assert "set-cookie" not in right.headers


def test_without_a_password_nobody_signs_in(elsewhere):
    answer = elsewhere.ask(LOGIN)[0]
    assert answer.status_code == 400
    assert "holdfast password" in answer.json()["error"]


def test_a_made_up_cookie_is_nobody(page):
    page.ask(LOGIN)
    assert page.get("/api/chats", cookie=f"{COOKIE}=made-up").status_code == 401


# Several people behind one client


def test_people_behind_a_forwarder_are_users_of_their_own(serve):
    holdfast = serve()
    headers, _ = key_for(holdfast, user="club", forwarder=True, admin=True)
    for person in ("ada", "bob"):
        text = {**headers, "X-OpenWebUI-User-Id": person, "X-OpenWebUI-User-Email": "ada@example.com"}
        assert holdfast.client.post("/api/chat", json=ASK, headers=text).status_code == 200
        assert len(holdfast.client.get("/api/chats", headers=text).json()["chats"]) == 1
        # Whoever is spoken for is no administrator, whatever the key is.
        assert holdfast.client.get("/api/keys", headers=text).status_code == 403
    assert holdfast.client.get("/api/chats", headers=headers).json()["chats"] == []
    assert len(holdfast.store.log.recent(Scope("club:ada"))) == 1
    odd = {**headers, "X-OpenWebUI-User-Id": "../bob"}
    assert holdfast.client.get("/api/chats", headers=odd).status_code == 400


def test_a_forwarder_that_names_nobody_is_not_its_owner(serve):
    holdfast = serve()
    holdfast.client.post("/api/chat", json=ASK)
    secret = docker_key(holdfast.store).secret
    admin, _ = key_for(holdfast, forwarder=True, admin=True)
    for headers in (bearer(secret), admin):
        assert holdfast.client.get("/api/login", headers=headers).json()["user"] == "default:(unnamed)"
        assert holdfast.client.get("/api/chats", headers=headers).json()["chats"] == []
        assert holdfast.client.get("/api/keys", headers=headers).status_code == 403
        assert holdfast.client.get("/api/tags", headers=headers).status_code == 200
    named = {**bearer(secret), "X-OpenWebUI-User-Id": "(unnamed)"}
    assert holdfast.client.get("/api/chats", headers=named).status_code == 400


def test_people_of_another_forwarder_and_keys_of_that_name_are_others(serve):
    holdfast = serve()
    club, _ = key_for(holdfast, user="club", forwarder=True)
    firm, _ = key_for(holdfast, user="firm", forwarder=True)
    holdfast.client.post("/api/chat", json=ASK, headers={**club, "X-OpenWebUI-User-Id": "ada"})
    seen = holdfast.client.get("/api/chats", headers={**firm, "X-OpenWebUI-User-Id": "ada"})
    assert seen.json()["chats"] == []
    own, _ = key_for(holdfast, user="ada")
    assert holdfast.client.get("/api/chats", headers=own).json()["chats"] == []


@pytest.mark.parametrize("with_key", [True, False])
def test_multiple_people_on_non_forwarding_key_trigger_single_warning(serve, caplog, with_key):
    holdfast = serve()
    headers, name = key_for(holdfast, user="club") if with_key else ({}, "")
    for person in ("ada", "ada", "bob", "eve"):
        text = {**headers, "X-OpenWebUI-User-Id": person}
        assert holdfast.client.post("/api/chat", json=ASK, headers=text).status_code == 200
        warned = sum("several people" in record.message for record in caplog.records)
        assert warned == (person in ("bob", "eve"))
    user = "club" if with_key else "default"
    assert len(holdfast.store.log.recent(Scope(user))) >= 1
    (warning,) = holdfast.client.get("/health").json()["warnings"]
    assert "several people" in warning
    listed = holdfast.client.get("/api/keys").json()["keys"]
    assert [key["several_people"] for key in listed] == [True] * with_key
    with holdfast.client.stream("GET", "/api/events", headers=headers, params={"after": 1}) as events:
        lines = events.iter_lines()
        assert next(line for line in lines if line == "event: warning")
        data = json.loads(next(line for line in lines if line.startswith("data: ")).removeprefix("data: "))
    assert (data["about"], data["key"]) == ("several_people", name or None)


def test_on_this_machine_people_are_told_apart_if_that_is_wanted(serve):
    holdfast = serve(trust_forwarded_users=True)
    holdfast.client.post("/api/chat", json=ASK, headers={"X-OpenWebUI-User-Id": "ada"})
    assert len(holdfast.store.log.recent(Scope("default:ada"))) == 1
    assert holdfast.client.get("/api/chats").json()["chats"] == []


# What is written down


def test_no_secret_and_nothing_that_was_said_is_logged(serve, caplog, digest):
    # The client of this test has a log of its own.
    caplog.set_level(logging.WARNING, "httpx")
    caplog.set_level(logging.INFO)
    holdfast = serve(key="static-s3cret", cors_origins="https://chat.example.com")
    holdfast.store.sessions.set_password("default", digest)
    headers, _ = key_for(holdfast, admin=True)
    secret = headers["Authorization"].split()[1]
    words = "the-quick-brown-secret"
    text = {**ASK, "messages": [{"role": "user", "content": words}]}
    client = holdfast.client
    for sent in (headers, bearer("static-s3cret"), bearer(secret[:-1] + "!"), {}):
        client.post("/v1/chat/completions", json=text, headers=sent)
        client.post("/api/chat", json={**text, "model": 7}, headers=sent)
        client.post("/api/chat", content=words, headers=sent)
        client.post("/api/keys", json={"name": words, "rate": words}, headers=sent)
        client.get("/api/nothing", params={"q": words}, headers=sent)
    result = client.post("/api/keys", json={}, headers=headers).json()["secret"]
    cookie = client.post("/api/login", json={"password": PASSWORD}).cookies[COOKIE]
    client.cookies.clear()
    assert client.post("/api/login", json={"password": "wrong-passphrase"}).status_code == 401
    assert caplog.text
    for hidden in (secret, secret[:-1], "static-s3cret", result, cookie, PASSWORD, "wrong-passphrase", words):
        assert hidden not in caplog.text


def test_line_break_in_path_cannot_forge_log_line(serve):
    record = logging.LogRecord(
        "holdfast.server", logging.INFO, "", 0, "GET %s", ("/a\n2026 INFO forged\x1b[1m",), None
    )
    (line,) = LineFormatter("%(levelname)s %(message)s").format(record).splitlines()
    assert line == "INFO GET /a\\n2026 INFO forged\\x1b[1m"


def test_answers_are_neither_guessed_at_nor_kept_by_browsers(serve):
    client = serve().client
    for path in ("/api/chats", "/api/tags", "/v1/models", "/health", "/api/nothing", "/metrics"):
        answer = client.get(path)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store", path
    asked = client.post("/api/chat", json={**ASK, "stream": True})
    assert (asked.headers["x-content-type-options"], asked.headers["cache-control"]) == (
        "nosniff",
        "no-store",
    )
