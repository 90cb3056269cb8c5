"""Events over HTTP, on a real server: shape on the wire, coming back, filters, and clients that leave."""

import json
import signal
import threading
from contextlib import contextmanager

import fastapi.routing
import httpx
import pytest

from holdfast.config import Settings
from holdfast.errors import Unreachable
from holdfast.events import Events
from holdfast.messages import Scope
from holdfast.server.app import create_app
from holdfast.store import open_store
from holdfast.testing.provider import serve_app
from tests.fakes.ollama import FakeOllama


class Watched(Events):
    """Events that tell a test when somebody came or left, so that it need not look again and again."""

    def __init__(self):
        super().__init__()
        self.came, self.left = threading.Semaphore(0), threading.Semaphore(0)

    async def _follow(self, scope, seen):
        self.came.release()
        try:
            async for event in super()._follow(scope, seen):
                yield event
        finally:
            self.left.release()


class Inside:
    """As much of an engine as the server needs to start, with events in it."""

    def __init__(self, events):
        self.events = events
        self.upstreams = self
        self.store = open_store("sqlite://")
        self.remembering = None

    async def main(self):
        raise Unreachable("no model server here")

    async def start(self):
        pass

    async def close(self):
        self.events.close()
        self.store.close()


@pytest.fixture
def events():
    return Watched()


@pytest.fixture
def client(events, tmp_path):
    app = create_app(Inside(events), Settings(home=tmp_path))
    with serve_app(app) as url, httpx.Client(base_url=url, timeout=120, trust_env=False) as client:
        yield client


@contextmanager
def following(client, events, headers=None, **params):
    """The lines of the stream, from a moment at which its follower is there."""
    with client.stream("GET", "/api/events", headers=headers, params=params) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        assert events.came.acquire(timeout=60)
        yield response.iter_lines()


def next_event(lines):
    fields = {}
    for line in lines:
        if not line and fields:
            return {**fields, "data": json.loads(fields["data"])}
        name, _, value = line.partition(": ")
        if name:
            fields[name] = value
    return None


def test_an_event_has_its_id_kind_and_data_on_the_wire(client, events):
    with following(client, events) as lines:
        sent = events.publish("compaction", {"phase": "done", "text": "gespart:\n90 %"}, now=12.5)
        assert next_event(lines) == {
            "id": str(sent.id),
            "event": "compaction",
            "data": {"phase": "done", "text": "gespart:\n90 %", "at": 12.5},
        }


def test_a_client_that_comes_back_goes_on_where_it_was(client, events):
    ids = [events.publish("step", {"n": n}).id for n in range(4)]
    with following(client, events, after=ids[0]) as lines:
        assert [next_event(lines)["data"]["n"] for _ in range(3)] == [1, 2, 3]
    # What the header says is newer than the address that a browser repeats.
    with following(client, events, headers={"Last-Event-ID": str(ids[2])}, after=ids[0]) as lines:
        assert next_event(lines)["data"]["n"] == 3


def test_events_can_be_filtered_by_conversation_and_still_report_lag(client, events):
    with following(client, events, conversation="c_1", after=1) as lines:
        assert next_event(lines)["event"] == "lagged"
        events.publish("compaction", {"conversation": "c_2"})
        events.publish("notice", {})
        events.publish("compaction", {"conversation": "c_1"})
        assert next_event(lines)["data"]["conversation"] == "c_1"


def test_a_project_hears_only_its_own(client, events):
    with following(client, events, headers={"X-Holdfast-Project": "garden"}) as lines:
        events.publish("step", {"n": 1})
        events.publish("step", {"n": 2}, Scope(project="garden"))
        assert next_event(lines)["data"]["n"] == 2


def test_a_client_that_leaves_is_gone_at_once(client, events):
    with following(client, events):
        pass
    # Nothing is published, and no heartbeat is due: only the closed connection can have told.
    assert events.left.acquire(timeout=60)
    assert events.followers == 0


def test_the_end_of_events_ends_the_stream(client, events):
    with following(client, events) as lines:
        events.publish("step", {"n": 1})
        events.close()
        assert next_event(lines)["data"]["n"] == 1
        assert next_event(lines) is None


def test_silence_is_broken_by_comments(client, events, monkeypatch):
    # The framework's own pause is 15 seconds, too long to wait for here.
    assert fastapi.routing._PING_INTERVAL == 15
    monkeypatch.setattr(fastapi.routing, "_PING_INTERVAL", 0.05)
    with following(client, events) as lines:
        assert next(line for line in lines if line).startswith(":")
        events.publish("step", {"n": 1})
        assert next(line for line in lines if line.startswith("event")) == "event: step"


@pytest.mark.parametrize(
    ("headers", "params"),
    [({}, {"after": "soon"}), ({"Last-Event-ID": "soon"}, {}), ({"X-Holdfast-Kind": "club"}, {})],
)
def test_what_makes_no_sense_is_refused_before_the_stream_begins(client, events, headers, params):
    refused = client.get("/api/events", headers=headers, params=params)
    assert refused.status_code == 400
    assert refused.json()["error"]
    assert events.followers == 0


@pytest.mark.slow
def test_a_follower_does_not_hold_up_the_end_of_the_server(holdfast_serve):
    with FakeOllama().served() as upstream:
        server = holdfast_serve(upstream)
        with httpx.stream("GET", f"{server.url}/api/events", timeout=60, trust_env=False) as response:
            lines = response.iter_lines()
            server.process.terminate()
            # Ended in good order, not cut off when the server's patience was over.
            assert next_event(lines) is None
        assert server.process.wait(60) in (0, -signal.SIGTERM)
