"""A model server that costs as little as one can: fixed bytes over plain sockets, in a process of its own.

`python -m evals.overhead_upstream PORT [--chunks N] [--apart]`. Speaks as much of Ollama's and OpenAI's
protocols as the measured proxies ask for. It thinks nothing, and keeps nothing.
"""

import argparse
import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Any

MODEL = "instant"
WORD = " word"
_HEAD = "HTTP/1.1 200 OK\r\nContent-Type: {type}\r\n{length}\r\n\r\n"
_INFO = {"general.architecture": "llama", "llama.context_length": 32768}
_DETAILS = {"format": "gguf", "family": "llama", "families": ["llama"], "parameter_size": "1B"}
_ROW = {"name": MODEL, "model": MODEL, "digest": "0" * 64, "size": 1, "modified_at": "2026-01-01T00:00:00Z"}
_MESSAGE: dict[str, Any] = {"model": MODEL, "created_at": "2026-01-01T00:00:00Z"}
_EVENT: dict[str, Any] = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
_END = b"0\r\n\r\n"
# Where the length of the prompt comes in, as wide as the number, so that the frame around it stays right. A
# server that counts far less than was sent looks as if it had cut the prompt.
_COUNT, _BLANK = 987_654, b"987654"
_BYTES_A_TOKEN = 6


def speak(words: int) -> list[str]:
    """What is said, chunk by chunk. Some proxies cut off whoever says the same again and again."""
    return [f"{WORD}{number % 10}" for number in range(words)]


def _ollama(words: int) -> list[bytes]:
    content = ({"role": "assistant", "content": text} for text in speak(words))
    lines = [_MESSAGE | {"message": message, "done": False} for message in content]
    counts = {"prompt_eval_count": _COUNT, "eval_count": words, "total_duration": 1, "eval_duration": 1}
    last = _MESSAGE | {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
    return [_chunk(json.dumps(line).encode() + b"\n") for line in [*lines, last | counts]]


def _openai(words: int) -> list[bytes]:
    deltas = ({"index": 0, "delta": {"content": text}, "finish_reason": None} for text in speak(words))
    events = [_EVENT | {"choices": [choice]} for choice in deltas]
    events.append(_EVENT | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    events.append(_EVENT | {"choices": [], "usage": _usage(words)})
    framed = [b"data: " + json.dumps(event).encode() + b"\n\n" for event in events]
    return [_chunk(frame) for frame in [*framed, b"data: [DONE]\n\n"]]


def _usage(words: int) -> dict[str, int]:
    return {"prompt_tokens": _COUNT, "completion_tokens": words, "total_tokens": _COUNT}


def _whole(words: int) -> dict[str, Any]:
    message = {"role": "assistant", "content": "".join(speak(words))}
    text = {"index": 0, "message": message, "finish_reason": "stop"}
    return {**_EVENT, "object": "chat.completion", "choices": [text], "usage": _usage(words)}


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def _stream(kind: str, chunks: Sequence[bytes]) -> list[bytes]:
    head = _HEAD.format(type=kind, length="Transfer-Encoding: chunked").encode()
    return [head + chunks[0], *chunks[1:-1], chunks[-1] + _END]


def _json(value: dict[str, Any]) -> list[bytes]:
    body = json.dumps(value).encode()
    return [_HEAD.format(type="application/json", length=f"Content-Length: {len(body)}").encode() + body]


class Answers:
    """All there is to say, made once. `apart` are answers of which every chunk is sent by itself."""

    def __init__(self, words: int, *, apart: bool = False) -> None:
        described = {"details": _DETAILS, "model_info": _INFO, "capabilities": ["completion"], "template": ""}
        running = _ROW | {"details": _DETAILS, "context_length": 32768, "size_vram": 0}
        pages = {
            b"/api/chat": _stream("application/x-ndjson", _ollama(words)),
            b"/v1/chat/completions": _stream("text/event-stream", _openai(words)),
            b"/api/version": _json({"version": "0.30.0"}),
            b"/api/tags": _json({"models": [_ROW | {"details": _DETAILS}]}),
            b"/api/ps": _json({"models": [running]}),
            b"/api/show": _json(described),
            b"/v1/models": _json({"object": "list", "data": [{"id": MODEL, "object": "model"}]}),
        }
        self._pages = pages if apart else {path: [b"".join(page)] for path, page in pages.items()}
        self._whole = _json(_whole(words))
        self._missing = [b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"]

    def to(self, path: bytes, body: bytes) -> list[bytes]:
        """The answer, in the pieces in which it is sent."""
        page = self._pages.get(path, self._missing)
        if path == b"/v1/chat/completions" and b'"stream":true' not in body.replace(b" ", b""):
            page = self._whole
        tokens = b"%6d" % max(1, len(body) // _BYTES_A_TOKEN)
        return [*page[:-1], page[-1].replace(_BLANK, tokens)]


class Instant(asyncio.Protocol):
    """Answers each request as soon as the last byte of it is there."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._read = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._read += data
        while (border := self._read.find(b"\r\n\r\n")) >= 0:
            head, rest = self._read[:border], self._read[border + 4 :]
            fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
            length = int(fields.get(b"content-length", b"0"))
            if len(rest) < length:
                return
            body, self._read = rest[:length], rest[length:]
            self._send(iter(self._answers.to(head.split(b" ", 2)[1], body)))

    def _send(self, pieces: Iterator[bytes]) -> None:
        piece = next(pieces, None)
        if piece is not None:
            self._transport.write(piece)
            # The loop turns in between: nothing is held back to go out with the next one.
            asyncio.get_running_loop().call_soon(self._send, pieces)


async def serve(port: int, answers: Answers) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Instant(answers), "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("--chunks", type=int, default=20)
    parser.add_argument("--apart", action="store_true", help="each chunk is sent by itself")
    chosen = parser.parse_args()
    asyncio.run(serve(chosen.port, Answers(chosen.chunks, apart=chosen.apart)))
