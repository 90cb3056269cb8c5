"""MCP over streamable HTTP, with the SDK's own client: guard and scopes are those of every other door."""

import ast
import asyncio
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

import holdfast
from holdfast import config
from holdfast.messages import Scope
from holdfast.server.app import create_app
from holdfast.store import Key, open_store
from holdfast.testing.provider import ScriptedProvider, serve_app
from holdfast.turn import TurnEngine
from holdfast.upstreams.base import Provider
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams
from holdfast.wiring import build_remembering, build_research
from mcp import Client

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
JSON = {"Accept": "application/json, text/event-stream"}


class McpServer:
    def __init__(self, url, store):
        self.url, self.store = f"{url}/mcp", store

    def call(self, *calls, mode="auto", **headers):
        """What calls of tools come to, one after the other, of one client."""

        async def asked():
            async with (
                create_mcp_http_client(headers=headers) as http,
                Client(streamable_http_client(self.url, http_client=http), mode=mode) as client,
            ):
                return [await client.call_tool(name, given) for name, given in calls]

        return asyncio.run(asked())

    def post(self, **headers):
        return httpx.post(self.url, json=LIST, headers=JSON | headers, trust_env=False)

    def key(self, **wanted):
        _, secret = self.store.keys.create(Key(**wanted))
        return {"Authorization": f"Bearer {secret}"}


@pytest.fixture(scope="module")
def serving(tmp_path_factory):
    with ExitStack() as stack:

        def start(**given):
            home = tmp_path_factory.mktemp("home")
            settings = config.load({"home": home, "embedder": "off", **given}, environ={}).settings
            store = open_store(settings.store)

            async def find() -> Provider:
                return ScriptedProvider()

            remembering = build_remembering(settings, store)
            engine = TurnEngine(
                store,
                Upstreams(find, ScriptedProvider()),
                ModelRegistry(store, home / "cache"),
                remembering=remembering,
                research=build_research(settings, remembering),
            )
            return McpServer(stack.enter_context(serve_app(create_app(engine, settings))), store)

        yield start


@pytest.fixture(scope="module")
def running(serving):
    return serving()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_host_writes_and_finds_through_the_running_server(running, mode):
    project = f"garden-{mode}"
    wrote, results, report = running.call(
        ("memory_write", {"text": "The beans grow behind the shed."}),
        ("memory_search", {"query": "beans"}),
        ("context_report", {}),
        mode=mode,
        **{"X-Holdfast-Project": project},
    )
    assert wrote.structured_content["memory"]["scope"]["project"] == project
    assert len(results.structured_content["hits"]) == 1
    assert report.is_error


def test_the_scope_comes_from_the_key_and_the_headers(running):
    anna, ben = running.key(user="anna"), running.key(user="ben", project="ponds")
    write = ("memory_write", {"text": "Anna keeps newts."})
    (wrote,) = running.call(write, **anna)
    assert wrote.structured_content["memory"]["scope"] == {
        "user": "anna",
        "project": "default",
        "kind": "private",
    }
    find = ("memory_search", {"query": "newts"})
    get = ("memory_get", {"path": wrote.structured_content["path"]})
    for headers in (ben, {}, {**anna, "X-Holdfast-Kind": "group"}):
        results, read = running.call(find, get, **headers)
        assert results.structured_content["hits"] == []
        assert read.is_error
    (mine,) = running.call(find, **anna)
    assert mine.structured_content["hits"]
    assert running.post(**ben, **{"X-Holdfast-Project": "other"}).status_code == 403
    assert running.post(**{"X-Holdfast-Kind": "crowd"}).status_code == 400


def test_a_key_without_memory_gets_none(running):
    (results,) = running.call(("memory_search", {"query": "newts"}), **running.key(memory=False))
    assert results.is_error
    assert "switched off" in results.content[0].text
    (passed,) = running.call(("memory_search", {"query": "newts"}), **{"X-Holdfast": "off"})
    assert passed.is_error


def test_the_guard_is_the_same_as_for_every_door(running):
    other = running.url.replace("/mcp", "/api/memory/list")
    wrong = {"Authorization": running.key()["Authorization"][:-4] + "0000"}
    assert running.post().status_code == 200
    for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}, wrong):
        refused = running.post(**headers)
        assert refused.status_code == httpx.get(other, headers=headers, trust_env=False).status_code >= 400
    slow = running.key(rate=1)
    assert [running.post(**slow).status_code for _ in range(2)] == [200, 429]


def test_there_is_nothing_to_listen_to_and_no_session_to_end(running):
    for method in ("GET", "DELETE"):
        answer = httpx.request(method, running.url, headers=JSON, trust_env=False)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert "mcp-session-id" not in running.post().headers


def test_where_a_key_is_needed_it_is_needed_here_too(serving):
    closed = serving(require_key=True)
    assert closed.post().status_code == 401
    assert closed.post(**closed.key()).status_code == 200


def test_it_can_be_switched_off(serving):
    off = serving(mcp=False)
    answer = off.post()
    assert answer.status_code == 404
    assert "mcp = true" in answer.text


def test_bad_requests_are_answered_in_the_protocol(running):
    for content in (b"{", b"[]", b'{"jsonrpc":"2.0","id":1,"method":"nonsense"}', b'"tea"'):
        answer = httpx.post(
            running.url,
            content=content,
            headers={**JSON, "Content-Type": "application/json"},
            trust_env=False,
        )
        assert answer.status_code < 500, answer.text
        assert "Traceback" not in answer.text


def test_what_is_remembered_here_is_seen_by_the_other_doors(running):
    running.call(("memory_write", {"text": "The well is nine metres deep."}))
    listed = httpx.get(running.url.replace("/mcp", "/api/memory/list"), trust_env=False).json()
    assert any("nine metres" in memory["text"] for memory in listed["memories"])
    assert running.store.log.recent(Scope()) == []


def test_nothing_loads_the_sdk_before_it_is_asked_for():
    package = Path(holdfast.__file__).parent
    for path in package.rglob("*.py"):
        text = path.read_text()
        if "mcp" in text and path.parent.name != "mcp":
            tops = {name.split(".")[0] for name in _imported(ast.parse(text).body)}
            assert tops.isdisjoint({"mcp", "mcp_types"}), path
            assert not any(name.startswith("holdfast.mcp") for name in _imported(ast.parse(text).body)), path


def _imported(statements):
    """What is imported when a module is."""
    for statement in statements:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            yield statement.module
            yield from (f"{statement.module}.{alias.name}" for alias in statement.names)
