"""No telemetry: a whole life of Holdfast, with every connection and every name looked up written down."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route

from holdfast.config import Settings
from holdfast.testing.provider import serve_app
from holdfast.upstreams.discovery import CANDIDATES
from tests.deploy.guard import Watched
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel

PAGE = "<html><head><title>Tides</title></head><body><main><h1>Tides</h1>{}</main></body></html>".format(
    "<p>The tide at Husum is highest at noon on Friday. Ships leave an hour later, as they always have.</p>"
    * 5
)
PAGES = Path(__file__).parents[1] / "src" / "holdfast" / "server" / "pages"
# Names that stand for something else: a namespace of SVG, and examples.
_NO_PLACES = ("www.w3.org", "example.com", "example.org", "localhost", "127.0.0.1", "0.0.0.0")


@pytest.fixture
def watched(tmp_path):
    return Watched(tmp_path)


def test_guard_detects_connections_and_lookups_in_nested_child_processes(watched):
    code = "import socket; s = socket.socket(); s.setblocking(False); s.connect_ex(('192.0.2.1', 9))"
    looked = "import socket; socket.getaddrinfo('192.0.2.7', 80)"
    nested = (
        f"import subprocess, sys; subprocess.run([sys.executable, '-P', '-c', {code!r}]); exec({looked!r})"
    )
    assert watched.run("-c", nested).returncode == 0
    assert [(how, host) for _, how, host, _ in watched.reached] == [
        ("connect", "192.0.2.1"),
        ("look up", "192.0.2.7"),
    ]


@pytest.mark.slow
@pytest.mark.real
def test_a_whole_life_reaches_nobody_but_the_servers_that_were_named(watched):
    pages = Starlette(routes=[Route("/{path:path}", lambda _: HTMLResponse(PAGE))])
    with (
        FakeOllama(models=[FakeModel("tiny", num_ctx=4096)]).served() as upstream,
        serve_app(pages) as page,
        watched.serve(upstream) as url,
        httpx.Client(base_url=url, timeout=60, trust_env=False) as client,
    ):
        _live(client, f"{page}/tides")
    named = {urlsplit(address).port for address in (upstream, page)}
    reached = watched.reached
    assert {port for _, how, _, port in reached if how == "connect"} == named
    assert watched.elsewhere == []


def _live(client: httpx.Client, page: str) -> None:
    """Pages, memory, research, three protocols, a search."""
    for path in ("/", "/settings/memory", "/research", "/settings"):
        assert client.get(path, headers={"Accept": "text/html"}, follow_redirects=True).status_code == 200
    assert client.post("/api/memory", json={"text": "The harbour is at Husum."}).is_success
    asked = {"question": "When is the tide highest at Husum?", "urls": [page], "fetch": True}
    response = client.post("/api/research", json=asked)
    assert "noon" in response.json()["summary"], response.text
    text = [{"role": "user", "content": "What do you know of the harbour?"}]
    body = {"model": "tiny", "messages": text, "stream": False}
    assert client.post("/api/chat", json=body).is_success
    assert client.post("/v1/chat/completions", json=body).is_success
    assert client.post("/v1/messages", json={**body, "max_tokens": 50}).is_success
    # By meaning, too: the embedder inside is started for it.
    hits = client.get("/api/memory/search", params={"q": "port", "within": "all"}).json()
    assert "engines" in hits


@pytest.mark.slow
@pytest.mark.real
def test_looking_around_reaches_this_machine_only(watched):
    assert watched.run("-m", "holdfast", "doctor", "--json", HOLDFAST_EMBEDDER="off").stdout
    usual = {urlsplit(place).port for place in CANDIDATES} | {Settings().port}
    assert {port for _, how, _, port in watched.reached if how == "connect"} <= usual
    assert watched.elsewhere == []


def test_no_page_names_a_place_to_load_something_from():
    results = {}
    for path in PAGES.rglob("*"):
        if path.suffix in (".html", ".js", ".css", ".svg"):
            hosts = re.findall(r"""(?:https?:|["'(])//([\w-]+(?:\.[\w-]+)+)""", path.read_text())
            # The libraries of others name the place of their source in comments.
            own = "vendor" not in path.parts
            strange = [
                host for host in hosts if not host.endswith(_NO_PLACES) and (own or host != "github.com")
            ]
            if strange:
                results[path.name] = strange
    assert results == {}
