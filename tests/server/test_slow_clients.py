"""A client that reads nothing of what it is sent is given up, and whoever waits is served."""

import json
import socket

from holdfast.messages import Chunk, Usage
from holdfast.testing.provider import ScriptedProvider
from tests.server.queued_server import PATIENCE

LONG = [Chunk("x" * 10_000)] * 2_000 + [Chunk(finish="stop", usage=Usage(1, 1))]


def asked(url, words):
    """Sends a request, and gives the socket on which nobody reads."""
    body = json.dumps({"model": "scripted", "messages": [{"role": "user", "content": words}]}).encode()
    host, _, port = url.removeprefix("http://").partition(":")
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.connect((host, int(port)))
    line.sendall(
        b"POST /api/chat HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n" % (host.encode(), len(body))
    )
    line.sendall(body)
    return line


def test_whoever_does_not_read_makes_nobody_wait_for_ever(serve):
    holdfast = serve(ScriptedProvider([LONG, "Hello."]), parallel=1, unread=0.2)
    with asked(holdfast.url, "Tell me everything."):
        body = {"model": "scripted", "messages": [{"role": "user", "content": "Hello!"}], "stream": False}
        answer = holdfast.client.post("/api/chat", json=body, timeout=PATIENCE)
        assert answer.json()["message"]["content"] == "Hello."
    cut, done = sorted(job.status for job in holdfast.store.jobs.recent())
    assert (cut, done) == ("cut", "done")
