"""A model server in this process that looks like llama.cpp: keeps what it is sent and says what it is told.

Counts tokens by a rule of thumb and refuses what is longer than its window. What Holdfast asks on the side is
answered by an extractive script. Whether a request is a good one is the business of others.
"""

import contextlib
import json
import math
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from evals.compaction_scripts import asks_on_the_side, extractive

Json = dict[str, Any]

MODEL = "talker"
_PIECE = re.compile(r"[^\W\d_]+|\d|[^\w\s]|_|\n+")
# Letters of a word that are one token, and of each piece of a longer one.
_SHORT, _PIECE_LETTERS = 8, 6
# What a template writes around a message, and before the answer.
_AROUND, _BEFORE = 4, 3
# A request for so many tokens only warms the server's cache.
_WARMING = (0, 1)


def count_tokens(text: str) -> int:
    """About what vocabularies of 50,000 to 150,000 tokens make of chats: 1.3 tokens a word."""
    return sum(
        1 if len(piece) <= _SHORT else math.ceil(len(piece) / _PIECE_LETTERS)
        for piece in _PIECE.findall(text)
    )


def text_of(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def request_tokens(messages: Sequence[Mapping[str, Any]]) -> int:
    return _BEFORE + sum(_AROUND + count_tokens(text_of(message)) for message in messages)


@dataclass(frozen=True, slots=True)
class Request:
    """What a person's question became."""

    messages: Sequence[Json]
    tokens: int


class Upstream:
    """`answer` is what it says next; `requests` are those of persons, `refusals` those over the window."""

    def __init__(self, window: int, port: int = 0) -> None:
        self.window = window
        self.answer = "Okay."
        self.requests: list[Request] = []
        self.refusals = 0
        self.side_requests = 0
        # Seconds in which it had a request, so that they are not counted as somebody else's.
        self.seconds = 0.0
        self._lock = threading.Lock()
        upstream = self

        class Handler(_Handler):
            def chat(self, body: Json) -> tuple[int, Json]:
                return upstream._chat(body)

            def props(self) -> Json:
                return {"default_generation_settings": {"n_ctx": upstream.window}, "total_slots": 1}

        try:
            self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        except OSError:
            # Somebody else has it by now.
            self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _chat(self, body: Json) -> tuple[int, Json]:
        began = time.perf_counter()
        messages = body.get("messages") or [{}]
        tokens, last = request_tokens(messages), text_of(messages[-1])
        side = len(messages) == 1 and asks_on_the_side(last)
        warming = body.get("max_tokens") in _WARMING
        with self._lock:
            self.side_requests += side
            self.refusals += tokens > self.window
            if not side and not warming:
                self.requests.append(Request(messages, tokens))
        if tokens > self.window:
            return 400, {"error": _refusal(tokens, self.window)}
        answer = extractive(last) if side else "" if warming else self.answer
        with self._lock:
            self.seconds += time.perf_counter() - began
        return 200, _completion(answer, tokens)


class _Handler(BaseHTTPRequestHandler):
    """HTTP, and the few pages of llama.cpp's server that are asked for."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def chat(self, body: Json) -> tuple[int, Json]:
        raise NotImplementedError

    def props(self) -> Json:
        raise NotImplementedError

    def handle(self) -> None:
        # Idle work is given up when a person comes, and its connection with it.
        with contextlib.suppress(ConnectionError):
            super().handle()

    def do_GET(self) -> None:
        path, props = self.path.partition("?")[0], self.props()
        window = props["default_generation_settings"]["n_ctx"]
        meta = {"n_ctx_train": window, "n_ctx": window}
        model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "llamacpp", "meta": meta}
        pages = {
            "/props": props,
            "/health": {"status": "ok"},
            "/v1/models": {"object": "list", "data": [model]},
        }
        self._send(200, pages[path]) if path in pages else self._send(404, _MISSING)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        if self.path != "/v1/chat/completions":
            self._send(404, _MISSING)
            return
        status, answer = self.chat(body)
        if status == 200 and body.get("stream"):
            self._send(200, _events(answer), "text/event-stream")
        else:
            self._send(status, answer)

    def _send(self, status: int, page: Json | bytes, kind: str = "application/json") -> None:
        content = page if isinstance(page, bytes) else json.dumps(page).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nobody reads a log of it."""


_MISSING = {"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}}


def _refusal(tokens: int, window: int) -> Json:
    return {
        "code": 400,
        "message": f"request ({tokens} tokens) exceeds the available context size ({window} tokens)",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": tokens,
        "n_ctx": window,
    }


def _completion(answer: str, tokens: int) -> Json:
    text = {"index": 0, "message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}
    completion = count_tokens(answer)
    usage = {
        "prompt_tokens": tokens,
        "completion_tokens": completion,
        "total_tokens": tokens + completion,
    }
    common = {"id": "x", "object": "chat.completion", "created": 0, "model": MODEL}
    return {**common, "choices": [text], "usage": usage}


def _events(completion: Json) -> bytes:
    """The same answer as a stream of two pieces and the count."""
    message = completion["choices"][0]["message"]
    event = {**completion, "object": "chat.completion.chunk", "usage": None}
    pieces = (
        {**event, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**event, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {**event, "choices": [], "usage": completion["usage"]},
    )
    return (
        b"".join(b"data: " + json.dumps(piece).encode() + b"\n\n" for piece in pieces) + b"data: [DONE]\n\n"
    )
