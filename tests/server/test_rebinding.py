"""What a page can do that is not ours: under a name that was pointed at this machine, and from beside us."""

import json
import re
from contextlib import contextmanager
from itertools import product

import httpx
import pytest

from holdfast.messages import Scope
from holdfast.store import Key
from holdfast.store.access import password_digest
from holdfast.testing.provider import ScriptedProvider
from tests.server.conftest import running

PASSWORD = "correct horse battery"
BROWSER = {
    "user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36",
    "accept": "*/*",
    "accept-language": "en-US,en;q=0.9",
}
# Names that somebody else can point at this machine, and that were never ours.
STRANGE = (
    "cafe.internal", "nas.local", "evil.example", "localhost.evil.example", "docker.internal", "0.0.0.0",
    "host.docker.internal.evil.example", "evil.host.docker.internal", "127.0.0.1.evil.example", "local",
    "internal",
)  # fmt: skip
# Names that containers use, and that a hostile network can point here just as well.
BELIEVED = (
    "host.docker.internal",
    "gateway.docker.internal",
    "host.containers.internal",
    "host.lima.internal",
)
READING = {"model": "scripted", "messages": [{"role": "user", "content": "See @place.txt"}], "stream": False}


def rebound(name, port, method):
    """The head of a request by a page of this name, after the name was pointed here.

    Over plain HTTP browsers add no `Sec-Fetch-Site`, and no `Origin` where a page reads from its own server.
    """
    plain = {**BROWSER, "host": f"{name}:{port}", "referer": f"http://{name}:{port}/"}
    return plain if method in ("GET", "HEAD") else {**plain, "origin": f"http://{name}:{port}"}


@pytest.fixture
def folder(tmp_path_factory):
    """A folder whose files may be named in messages."""
    opened = tmp_path_factory.mktemp("opened")
    (opened / "place.txt").write_text("The key lies under the mat.")
    return opened


@pytest.fixture
def here(serve, folder):
    return serve(ScriptedProvider(["Yes."] * 20), file_roots=str(folder), file_references=True)


@contextmanager
def opened_page(holdfast):
    """A browser that has looked at our page: a client with cookies, and the head of what the page sends."""
    shown = {"accept": "text/html", "sec-fetch-site": "none", "sec-fetch-mode": "navigate"}
    with httpx.Client(base_url=holdfast.url, headers=BROWSER, trust_env=False) as browser:
        assert browser.get("/settings", headers=shown).status_code == 200
        yield browser, {"origin": holdfast.url, "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}


def was_shown_the_file(holdfast):
    sent = [message.text for request in holdfast.provider.requests for message in request.messages]
    return any("under the mat" in text for text in sent)


def all_routes(holdfast):
    """Every method and path of ours, but for whether we are alive, which anybody may ask."""
    paths = holdfast.client.get("/openapi.json").json()["paths"]
    routes = [(method.upper(), re.sub(r"{[^}]*}", "a", path)) for path in paths for method in paths[path]]
    return [("GET", "/"), ("GET", "/settings"), *(route for route in routes if route[1] != "/health")]


def test_under_a_strange_name_no_route_answers(here, tmp_path):
    port = httpx.URL(here.url).port
    routes = all_routes(here)
    assert {("PUT", "/api/settings"), ("POST", "/api/system/restart"), ("POST", "/api/keys")} <= set(routes)
    for name, (method, path) in product(STRANGE, routes):
        sent = rebound(name, port, method)
        for head in (sent, {**sent, "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate"}):
            answer = here.client.request(method, path, json=READING, headers=head)
            assert (answer.status_code, "set-cookie" in answer.headers) == (400, False), (name, method, path)
    assert here.store.keys.all() == []
    assert here.provider.requests == []
    assert not (tmp_path / "page.json").exists()


def test_under_a_name_of_containers_browsers_get_nothing_without_a_key(here, tmp_path):
    port = httpx.URL(here.url).port
    for name, (method, path) in product(BELIEVED, all_routes(here)):
        if path in ("/api/login", "/login"):
            continue
        answer = here.client.request(method, path, json=READING, headers=rebound(name, port, method))
        assert (answer.status_code, "set-cookie" in answer.headers) == (401, False), (name, method, path)
    for name in BELIEVED:
        shown = {**rebound(name, port, "GET"), "accept": "text/html"}
        assert here.client.get("/", headers=shown).headers["location"].startswith("/login")
        assert "set-cookie" not in here.client.get("/login", headers=shown).headers
    assert here.provider.requests == []
    assert not (tmp_path / "page.json").exists()


def test_container_host_name_allows_model_requests_but_no_administration(here):
    value = {"host": "host.docker.internal:11435"}
    assert here.client.post("/api/chat", json=READING, headers=value).status_code == 200
    assert not was_shown_the_file(here)
    # Clients written for Node.js say this of themselves.
    node = {**value, "user-agent": "node", "accept-language": "*", "sec-fetch-mode": "cors"}
    assert here.client.post("/v1/chat/completions", json=READING, headers=node).status_code == 200
    for method, path in (("PUT", "/api/settings"), ("POST", "/api/system/restart"), ("GET", "/api/keys")):
        assert here.client.request(method, path, json={}, headers=value).status_code == 403
    _, secret = here.store.keys.create(Key(admin=True))
    known = {**value, "authorization": f"Bearer {secret}"}
    assert here.client.get("/api/keys", headers=known).status_code == 200


def test_our_page_works_without_anybody_noticing_its_token(here):
    with opened_page(here) as (browser, head):
        (cookie,) = browser.cookies.jar
        assert cookie.has_nonstandard_attr("HttpOnly")
        assert cookie.get_nonstandard_attr("SameSite") == "strict"
        assert browser.put("/api/settings", json={"reserve": 900}, headers=head).status_code == 200
        assert browser.post("/api/chat", json=READING, headers=head).status_code == 200
    assert was_shown_the_file(here)


def test_the_token_of_a_page_outlives_a_restart(tmp_path):
    with running(tmp_path, ScriptedProvider()) as first, opened_page(first) as (browser, _):
        (token,) = browser.cookies.values()
    with running(tmp_path, ScriptedProvider()) as again:
        cookie = f"holdfast_page_{httpx.URL(again.url).port}={token}"
        head = {"origin": again.url, "cookie": cookie}
        assert again.client.put("/api/settings", json={"reserve": 900}, headers=head).status_code == 200
        made_up = {**head, "cookie": cookie[:-1] + "!"}
        assert again.client.put("/api/settings", json={"reserve": 900}, headers=made_up).status_code == 403


ORIGINS = ("http://localhost:3000", "http://127.0.0.1:3000", "app://obsidian.md", "file://")
SITES = ({}, *({"sec-fetch-site": site} for site in ("same-site", "cross-site", "same-origin")))


def test_another_page_of_this_machine_asks_models_and_changes_nothing(here, tmp_path):
    for origin, site in product(ORIGINS, SITES):
        attack_from(here, origin, site)
    assert not was_shown_the_file(here)
    assert not (tmp_path / "page.json").exists()


def attack_from(here, origin, site):
    """Do what another page can: all of it is refused, but for questions to a model."""
    # Browsers send a cookie to every port of its host; what another page claims is at worst this.
    with opened_page(here) as (browser, _):
        if site == {"sec-fetch-site": "same-origin"}:
            browser.cookies.clear()
        head, before = {"origin": origin, **site}, here.store.log.recent(Scope())
        for method, path in all_routes(here):
            if method == "GET" or path.startswith(MODEL_DOORS):
                continue
            answer = browser.request(
                method, path, content=b"{}", headers={**head, "content-type": "text/plain"}
            )
            assert answer.status_code == 403, (origin, site, method, path)
        assert browser.get("/api/keys", headers=head).status_code == 403
        assert browser.get("/api/settings", headers=head).status_code == 403
        # Nor does it plant words with what a browser sends without asking first.
        for kind in (
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "",
        ):
            for path in ("/v1/chat/completions", "/api/chat", "/api/generate", "/mcp"):
                sent = {"content": json.dumps(READING).encode(), "headers": {**head, "content-type": kind}}
                assert browser.post(path, **sent).status_code == 403, (path, kind)
        assert here.store.log.recent(Scope()) == before
        asked = browser.post("/v1/chat/completions", json=READING, headers=head)
        elsewhere = site == {"sec-fetch-site": "cross-site"} and origin.startswith("http")
        assert asked.status_code == (403 if elsewhere else 200), (origin, site)
        assert "access-control-allow-origin" not in asked.headers


MODEL_DOORS = (
    "/v1/", "/mcp", "/api/chat", "/api/generate", "/api/embed", "/api/show", "/api/tokenize",
    "/api/detokenize", "/api/login",
)  # fmt: skip


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded"])
def test_programs_may_send_json_under_any_name(here, kind):
    body = json.dumps(READING).encode()
    for path in ("/api/chat", "/v1/chat/completions"):
        assert here.client.post(path, content=body, headers={"content-type": kind}).status_code == 200


def test_a_page_that_is_named_changes_things_but_is_no_administrator(serve):
    holdfast = serve(cors_origins="https://chat.example.com")
    head = {"origin": "https://chat.example.com", "sec-fetch-site": "cross-site"}
    assert holdfast.client.post("/v1/chat/completions", json=READING, headers=head).status_code == 200
    (chat,) = holdfast.client.get("/api/chats", headers=head).json()["chats"]
    renamed = holdfast.client.patch(f"/api/chats/{chat['id']}", json={"title": "Mats"}, headers=head)
    assert renamed.status_code == 200
    assert holdfast.client.put("/api/settings", json={"reserve": 900}, headers=head).status_code == 403


def test_only_a_page_that_somebody_opened_brings_the_token(here):
    port = httpx.URL(here.url).port
    for head in (
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"},
        {"origin": "http://localhost:3000"},
        {"host": f"host.docker.internal:{port}"},
        {"x-forwarded-for": "203.0.113.5"},
    ):
        answer = here.client.get("/login", headers={"accept": "text/html", **head})
        assert "set-cookie" not in answer.headers, head
    assert "set-cookie" in here.client.get("/login", headers={"host": f"localhost:{port}"}).headers


def test_local_programs_need_no_token_but_password_for_keys_and_folders(serve, tmp_path):
    holdfast = serve()
    client = holdfast.client
    assert client.put("/api/settings", json={"reserve": 900}).status_code == 200
    refused = client.post("/api/keys", json={"admin": True})
    assert refused.status_code == 403
    assert "holdfast keys create" in refused.json()["error"]
    for name in ("file_roots", "notes_paths", "models_dir", "embedded_model", "key"):
        wrong = client.put("/api/settings", json={name: str(tmp_path)})
        assert "password" in wrong.json()["wrong"][name]
    holdfast.store.sessions.set_password("default", password_digest(PASSWORD))
    with opened_page(holdfast) as (browser, head):
        assert browser.post("/api/login", json={"password": PASSWORD}, headers=head).status_code == 200
        assert browser.get("/api/login", headers=head).json()["how"] == "session"
        assert (
            browser.put("/api/settings", json={"file_roots": str(tmp_path)}, headers=head).status_code == 200
        )
        assert browser.post("/api/keys", json={}, headers=head).status_code == 201
        # A session is for our own page: another page with its cookie is just another page.
        other = {"origin": "http://localhost:3000", "sec-fetch-site": "same-site"}
        assert browser.post("/api/keys", json={}, headers=other).status_code == 403
