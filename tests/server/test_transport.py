"""Connections on which no request comes, heads without an end, and addresses that a proxy makes up."""

import socket
from contextlib import contextmanager

import httpx
import pytest

from holdfast.config import Settings
from holdfast.server import app as server
from holdfast.server.app import configure_server, create_app
from holdfast.store import open_store
from holdfast.store.access import password_digest
from holdfast.testing.provider import ScriptedProvider, serve_app
from holdfast.turn import TurnEngine
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams


@pytest.fixture
def url(tmp_path):
    async def find():
        return ScriptedProvider()

    store = open_store(f"sqlite:///{tmp_path / 'holdfast.db'}")
    store.sessions.set_password("default", password_digest("correct horse battery"))
    engine = TurnEngine(store, Upstreams(find, ScriptedProvider()), ModelRegistry(store, tmp_path / "cache"))
    app = create_app(engine, Settings(home=tmp_path))
    with serve_app(app, configure_server(app, timeout_graceful_shutdown=1)) as url:
        yield httpx.URL(url)


@contextmanager
def half_sent(url, more=b""):
    with socket.create_connection((url.host, url.port), timeout=60) as client:
        client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-More: " + more)
        yield client


def is_closed(client):
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


def test_a_head_that_does_not_end_is_given_up(url, monkeypatch):
    monkeypatch.setattr(server, "_HEAD_SECONDS", 0.2)
    with half_sent(url) as slow, socket.create_connection((url.host, url.port), timeout=60) as silent:
        assert is_closed(slow)
        assert is_closed(silent)
    assert server._waiting == {}


@pytest.mark.parametrize("end", [b"", b"\r\n\r\n"])
def test_a_large_head_is_refused_before_anything_else(url, end):
    with half_sent(url, b"x" * 100_000 + end) as client:
        assert client.recv(12) == b"HTTP/1.1 431"
    assert httpx.get(url.join("/health"), headers={"x-more": "x" * 50_000}).status_code == 200


def test_of_many_half_sent_heads_the_oldest_go(url, monkeypatch):
    monkeypatch.setattr(server, "_MAX_WAITING", 5)
    monkeypatch.setattr(server, "_GRACE", 0.0)
    with half_sent(url) as first, half_sent(url) as second:
        others = [socket.create_connection((url.host, url.port)) for _ in range(5)]
        assert is_closed(first)
        assert is_closed(second)
        assert httpx.get(url.join("/health")).status_code == 200
        for other in others:
            other.close()


def test_made_up_addresses_do_not_evade_the_wait_after_wrong_passwords(url):
    def sign_in(number):
        headers = {"X-Forwarded-For": f"203.0.113.{number}"}
        return httpx.post(url.join("/api/login"), json={"password": "guess"}, headers=headers)

    answers = [sign_in(number).status_code for number in range(12)]
    assert answers[:5] == [401] * 5
    assert 429 in answers
