"""What a page shows of a window: each message, each turn, and the request as it was sent."""

import asyncio

import pytest

from holdfast.testing.provider import serve_app
from holdfast.upstreams.discovery import connect
from tests.context.engine_client import filler
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel
from tests.server.conftest import running
from tests.server.test_chats import ELSEWHERE, found, refused

TURNS = 12
TOOLS = [{"type": "function", "function": {"name": "water", "description": "Waters.", "parameters": {}}}]


@pytest.fixture(scope="module")
def talk(tmp_path_factory):
    """A conversation that outgrew its window, by a client that leaves its history to us."""
    fake = FakeOllama(models=[FakeModel("small", num_ctx=1_024, trained_window=1_024)])
    with serve_app(fake) as url:
        provider = asyncio.run(connect(f"ollama+{url}"))
        with running(tmp_path_factory.mktemp("context"), provider) as server:
            text = [{"role": "system", "content": "Be kind."}]
            for at in range(TURNS):
                text.append({"role": "user", "content": filler(at)})
                body = {"model": "small", "messages": text, "tools": TOOLS, "stream": False}
                answer = server.client.post("/api/chat", json=body)
                assert answer.status_code == 200, answer.text
                text.append(answer.json()["message"])
            yield server.client, f"/api/chats/{answer.headers['x-holdfast-conversation']}", fake


def test_the_request_is_the_one_that_the_server_got(talk):
    client, chat, fake = talk
    report = found(client.get(f"{chat}/request"))
    got = [body for path, body in fake.requests if path == "/api/chat"][-1]
    assert (report["exact"], report["differs"], report["missing"]) == (True, [], [])
    assert (report["dialect"], report["window"]) == ("ollama", 1_024)
    assert report["body"]["messages"] == got["messages"]
    assert report["body"]["tools"] == got["tools"]
    assert report["body"]["model"] == got["model"]
    assert "options" in report["not_kept"]


def test_every_message_says_how_it_stands_and_why(talk):
    client, chat, _ = talk
    whole = found(client.get(f"{chat}/window/messages"))
    report = found(client.get(f"{chat}/window"))
    assert whole["counts"]["out"] > 0
    assert sum(whole["counts"].values()) == len(whole["messages"]) == 2 * TURNS
    assert whole["next"] is None
    assert [row["id"] for row in whole["messages"] if row["state"] != "out"][1:] == [
        row["id"] for row in reversed(report["messages"])
    ]
    for row in whole["messages"]:
        assert (row["state"] == "out") == bool(row["decisions"] and row["tokens"] is None)
        assert row["rules"] or row["state"] == "in"
    out = found(client.get(f"{chat}/window/messages", params={"state": "out"}))["messages"]
    assert {row["state"] for row in out} == {"out"}
    assert filler(0).startswith(out[-1]["beginning"])


def test_messages_come_in_pages(talk):
    client, chat, _ = talk
    whole = found(client.get(f"{chat}/window/messages"))["messages"]
    rows, before = [], None
    while True:
        more = {"before": before} if before else {}
        page = found(client.get(f"{chat}/window/messages", params={"limit": 5, **more}))
        rows += page["messages"]
        if (before := page["next"]) is None:
            break
    assert rows == whole
    refused(client.get(f"{chat}/window/messages", params={"before": "m_none"}), 400, "before")


def test_a_pinned_message_is_marked(talk):
    client, chat, _ = talk
    rows = found(client.get(f"{chat}/window/messages"))["messages"]
    short = min(rows, key=lambda row: len(row["beginning"]))["id"]
    found(client.post(f"{chat}/messages/{short}/pin"))
    rows = found(client.get(f"{chat}/window/messages"))["messages"]
    assert [row["id"] for row in rows if row["pinned"]] == [short]
    found(client.delete(f"{chat}/messages/{short}/pin"))


def test_turns_tell_tokens_times_and_the_prefix(talk):
    client, chat, _ = talk
    report = found(client.get(f"{chat}/turns"))
    assert len(report["turns"]) == TURNS
    assert report["window"] == 1_024
    for turn in report["turns"]:
        assert turn["tokens"]["prompt"] > 0
        assert turn["seconds"] >= turn["first_token_seconds"] >= 0
        assert turn["prefix"]["kept"] == (turn["prefix"]["cause"] == "")
    assert report["turns"][0]["prefix"]["cause"] == "first"
    assert report["turns"][-1]["prefix"] == found(client.get(f"{chat}/window"))["prefix"]
    assert {turn["prefix"]["cause"] for turn in report["turns"]} & {"level 1", "level 2"}
    assert report["compactions"]
    assert not any(row["undone"] for row in report["compactions"])
    assert len(found(client.get(f"{chat}/turns", params={"limit": 3}))["turns"]) == 3


@pytest.mark.parametrize("route", ["request", "turns", "window/messages"])
def test_nobody_sees_the_windows_of_others(talk, route):
    client, chat, _ = talk
    refused(client.get(f"{chat}/{route}", headers=ELSEWHERE), 404)
    refused(client.get(f"{chat}/{route}", params={"window": 512}), 404, "1024")
