"""A real llama.cpp whose model uses tools and thinks, which SmolLM2 does not do by itself.

Every prompt goes through llama.cpp as it came: rendered, counted, refused if it is too long. The model file
gets a template that writes tools down. A relay in front of the server replaces the words of single answers by
the calls a script asks for, and puts thinking before others. It knows nothing of Holdfast.
"""

import asyncio
import contextlib
import json
import struct
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import httpx

from holdfast.upstreams.embedded import EmbeddedProcess, default_threads

_CHAT = "/v1/chat/completions"
_KEY = b"tokenizer.chat_template"
# What follows a file's metadata is aligned to this many bytes, and must stay so when a text in it grows.
_ALIGNMENT = 32

# ChatML, as SmolLM2 knows it, with places for tools, calls and results.
_TEMPLATE = """
{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0].role == 'system' %}
        {{- messages[0].content + '\\n\\n' }}
    {%- endif %}
    {{- 'Tools:' }}
    {%- for tool in tools %}
        {{- '\\n' }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- '\\nA call: <tool_call>\\n{"name": NAME, "arguments": ARGUMENTS}\\n</tool_call><|im_end|>\\n' }}
{%- elif messages[0].role == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'assistant' %}
        {{- '<|im_start|>assistant\\n' }}
        {%- if message.content %}
            {{- message.content }}
        {%- endif %}
        {%- if message.tool_calls %}
            {%- for call in message.tool_calls %}
                {{- '\\n<tool_call>\\n{"name": "' }}
                {{- call.function.name }}
                {{- '", "arguments": ' }}
                {{- call.function.arguments | tojson }}
                {{- '}\\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == 'tool' %}
        {{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}
    {%- elif message.role == 'user' or not loop.first %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}"""


def with_tools(weights: Path, copy: Path) -> Path:
    """A copy of the model file whose template has a place for tools."""
    data = weights.read_bytes()
    # Behind the key stand the type of its value (four bytes), the length, and the text.
    at = data.index(_KEY) + len(_KEY) + 4
    (length,) = struct.unpack_from("<Q", data, at)
    template = _TEMPLATE.encode()
    gap = (length - len(template) - len("{##}")) % _ALIGNMENT
    template = b"{#" + b" " * gap + b"#}" + template
    copy.write_bytes(
        b"".join((data[:at], struct.pack("<Q", len(template)), template, data[at + 8 + length :]))
    )
    return copy


class Relay:
    """What the next answers are to be. `calls` is for the next request that offers tools.

    `seen` are the streamed requests with llama.cpp's own timings of each.
    """

    def __init__(self, child: EmbeddedProcess) -> None:
        self.calls: Sequence[dict[str, Any]] = ()
        self.beside = ""
        self.thinking = ""
        self.seen: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self._http = httpx.Client(
            base_url=child.url,
            headers={"authorization": f"Bearer {child.key}"},
            timeout=None,
            trust_env=False,
        )

    def close(self) -> None:
        self._http.close()

    def pass_on(self, method: str, path: str, body: bytes) -> httpx.Response:
        return self._http.request(method, path, content=body, headers={"content-type": "application/json"})

    def chat(self, body: bytes) -> tuple[int, str, bytes]:
        """One chat request: status, content type, and the answer, made over where a script asks for it."""
        asked = json.loads(body)
        wanted = self.calls if asked.get("tools") else ()
        if wanted:
            # The prompt is read as ever; of the answer only its end is needed.
            body = json.dumps({**asked, "max_tokens": 1}).encode()
        answer = self.pass_on("POST", _CHAT, body)
        kind = answer.headers.get("content-type", "")
        if answer.status_code != 200 or not kind.startswith("text/event-stream"):
            return answer.status_code, kind, answer.content
        events = [
            line.removeprefix("data: ") for line in answer.text.split("\n") if line.startswith("data: {")
        ]
        pieces = [json.loads(event) for event in events]
        self.seen.append((asked, next((each["timings"] for each in pieces if "timings" in each), {})))
        if wanted:
            self.calls = ()
            pieces = _calling(pieces, self.beside, wanted)
        elif self.thinking:
            pieces.insert(1, _piece(pieces[0], {"reasoning_content": self.thinking}))
        lines = [f"data: {json.dumps(piece)}\n\n" for piece in pieces]
        return 200, kind, "".join([*lines, "data: [DONE]\n\n"]).encode()


def _calling(pieces: Sequence[Any], beside: str, calls: Sequence[dict[str, Any]]) -> list[Any]:
    """The answer with calls in the place of its words; counts and timings stay."""
    first = pieces[0]
    numbered = [{"index": at, **call} for at, call in enumerate(calls)]
    result = [first, _piece(first, {"content": beside})] if beside else [first]
    result.append(_piece(first, {"tool_calls": numbered}))
    result.append(_piece(first, {}, finish="tool_calls"))
    return [*result, *(piece for piece in pieces if not piece.get("choices"))]


def _piece(like: Any, delta: dict[str, Any], finish: str | None = None) -> Any:
    return {**like, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    relay: ClassVar[Relay]

    def do_GET(self) -> None:
        answer = self.relay.pass_on("GET", self.path, b"")
        self._send(answer.status_code, answer.headers.get("content-type", ""), answer.content)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == _CHAT:
            self._send(*self.relay.chat(body))
            return
        answer = self.relay.pass_on("POST", self.path, body)
        self._send(answer.status_code, answer.headers.get("content-type", ""), answer.content)

    def _send(self, status: int, kind: str, content: bytes) -> None:
        # Whoever asked may have left: then there is nobody to tell.
        with contextlib.suppress(ConnectionError):
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


@contextlib.contextmanager
def llamacpp(weights: Path, folder: Path, window: int) -> Iterator[tuple[str, Relay]]:
    """The server behind its relay: the relay's address, and the relay."""
    folder.mkdir(parents=True, exist_ok=True)
    model = with_tools(weights, folder / "with-tools.gguf")
    child = asyncio.run(
        EmbeddedProcess.start(
            model, ctx=window, threads=default_threads(), log=folder / "llamacpp.log", seconds=300
        )
    )
    relay = Relay(child)
    handler = type("Handler", (_Handler,), {"relay": relay})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"llamacpp+http://127.0.0.1:{server.server_port}", relay
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        relay.close()
        asyncio.run(child.stop())
        model.unlink()
