"""`holdfast serve` as users start it, and a client that looks at nothing but what comes over HTTP.

Knows both chat protocols as far as answers go. Then a real llama.cpp to stand behind it: every prompt goes
through it as it came, and a relay puts thinking and the calls of a script into its answers.
"""

import asyncio
import contextlib
import json
import os
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

import httpx

from evals.forked import ForkedProcess
from holdfast.config import default_home
from holdfast.upstreams.embedded import EmbeddedProcess, default_threads
from holdfast.upstreams.model_file import find_model_file

OPENAI, OLLAMA = "/v1/chat/completions", "/api/chat"
MODEL = "embedded"

# A prompt of a full window takes minutes where two cores are shared.
_PATIENCE = 1800.0
# Whether servers begin with their modules loaded: for tests, which measure nothing.
fork_servers = False

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a client got. None where the server said nothing, `error` empty where all went well."""

    status: int
    conversation: str = ""
    level: str = ""
    # "kept", or why the request does not begin with the one before.
    prefix: str = ""
    text: str = ""
    thinking: str = ""
    calls: Sequence[Json] = ()
    finish: str = ""
    prompt: int | None = None
    cached: int | None = None
    error: str = ""
    timings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def answered(self) -> bool:
        return not self.error and bool(self.finish) and bool(self.text.strip() or self.calls)


class Door:
    """Talks to one server. Every answer becomes a `Reply`, refusals too."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._http = httpx.Client(base_url=url, timeout=_PATIENCE, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def chat(self, path: str, body: Json, headers: Mapping[str, str] | None = None) -> Reply:
        try:
            answer = self._http.post(path, json=body, headers=dict(headers or {}))
        except httpx.HTTPError as error:
            return Reply(0, error=f"{type(error).__name__}: {error}")
        if answer.status_code == 200:
            collect = _from_ollama if path == OLLAMA else _from_openai
            reply = collect(_pieces(answer.text))
        else:
            reply = Reply(answer.status_code, error=answer.text[:500])
        return replace(
            reply,
            conversation=answer.headers.get("x-holdfast-conversation", ""),
            level=answer.headers.get("x-holdfast-level", ""),
            prefix=answer.headers.get("x-holdfast-prefix", ""),
        )

    def get(self, path: str) -> Json:
        """A page of the API; nothing if it is not there."""
        answer = self._http.get(path)
        return dict(answer.json()) if answer.status_code == 200 else {}

    def messages(self, conversation: str) -> list[Json]:
        """The conversation as it stands; nothing if it is not there."""
        answer = self._http.get(f"/api/chats/{conversation}/messages")
        return list(answer.json()["messages"]) if answer.status_code == 200 else []

    def message(self, conversation: str, name: str) -> Json | None:
        """One message, on whichever branch it is; None if it is not there."""
        answer = self._http.get(f"/api/chats/{conversation}/messages/{name}")
        results = answer.json() if answer.status_code == 200 else {}
        text = results.get("message", results)
        return text if isinstance(text, dict) and text.get("id") == name else None

    def batches(self, conversation: str) -> int:
        """How often a level shortened the conversation; what is done at entry changes nothing sent before."""
        answer = self._http.get(f"/api/chats/{conversation}/compactions")
        compactions = answer.json()["compactions"] if answer.status_code == 200 else []
        return sum(compaction["level"] > 0 for compaction in compactions)


def _pieces(text: str) -> list[Json]:
    """The answer's JSON objects: one, one a line, or one an event; signs of life among them say nothing."""
    lines = (line.removeprefix("data: ").strip() for line in text.split("\n"))
    return [json.loads(line) for line in lines if line and line != "[DONE]" and not line.startswith(":")]


def _from_openai(pieces: Sequence[Json]) -> Reply:
    text, thinking, finish, error = "", "", "", ""
    calls: dict[int, Json] = {}
    usage: Json = {}
    timings: Json = {}
    for piece in pieces:
        usage, timings = piece.get("usage") or usage, piece.get("timings") or timings
        error = json.dumps(piece["error"]) if "error" in piece else error
        for choice in piece.get("choices", ()):
            delta = choice.get("delta") or choice.get("message") or {}
            text += delta.get("content") or ""
            thinking += delta.get("reasoning_content") or ""
            finish = choice.get("finish_reason") or finish
            for at, call in enumerate(delta.get("tool_calls") or ()):
                _join(calls.setdefault(call.get("index", at), {}), call)
    return Reply(
        200,
        text=text,
        thinking=thinking,
        calls=[call for _, call in sorted(calls.items())],
        finish=finish,
        prompt=usage.get("prompt_tokens"),
        cached=timings.get("cache_n", (usage.get("prompt_tokens_details") or {}).get("cached_tokens")),
        error=error,
        timings=timings,
    )


def _join(known: Json, piece: Json) -> None:
    function = piece.get("function") or {}
    known.setdefault("type", "function")
    known["id"] = known.get("id") or piece.get("id", "")
    had = known.setdefault("function", {"name": "", "arguments": ""})
    had["name"] += function.get("name") or ""
    had["arguments"] += function.get("arguments") or ""


def _from_ollama(pieces: Sequence[Json]) -> Reply:
    messages = [piece.get("message") or {} for piece in pieces]
    last = pieces[-1] if pieces else {}
    return Reply(
        200,
        text="".join(message.get("content") or "" for message in messages),
        thinking="".join(message.get("thinking") or "" for message in messages),
        calls=[call for message in messages for call in message.get("tool_calls") or ()],
        finish=last.get("done_reason", "") if last.get("done") else "",
        prompt=last.get("prompt_eval_count"),
        error=str(last.get("error", "")),
    )


def weights() -> Path | None:
    """The embedded model's file, if somebody fetched it."""
    return find_model_file(default_home() / "models")


@contextlib.contextmanager
def serving(home: Path, upstream: str = "embedded", **settings: str) -> Iterator[Door]:
    """A server with a data folder of its own, on a free port; `settings` by their names in the table."""
    given = {f"HOLDFAST_{name.upper()}": value for name, value in settings.items()}
    home.mkdir(parents=True, exist_ok=True)
    environment = {
        **os.environ,
        "HOLDFAST_HOME": str(home),
        "HOLDFAST_LANGUAGE": "en",
        "HOLDFAST_MODELS_DIR": str(default_home() / "models"),
        "HOLDFAST_STALL_TIMEOUT": str(_PATIENCE),
        **given,
    }
    output, log = home / "serve.out", home / "serve.log"
    for file in (output, log):
        file.write_bytes(b"")
    process = _launch(["serve", "--port", "0", "--upstream", upstream], environment, output, log)
    try:
        while not (ready := output.read_text()).endswith("\n"):
            if process.poll() is not None:
                raise RuntimeError(f"holdfast did not start; see {log}")
            time.sleep(0.02)
        with Door(ready.split()[-1]) as door:
            yield door
    finally:
        _stop(process)


def _launch(
    words: Sequence[str], environment: Mapping[str, str], output: Path, log: Path
) -> subprocess.Popen[bytes] | ForkedProcess:
    if fork_servers:
        return ForkedProcess(words, environment, Path.cwd(), output, log)
    with output.open("wb") as out, log.open("wb") as errors:
        command = [sys.executable, "-m", "holdfast", *words]
        return subprocess.Popen(command, env=environment, stdout=out, stderr=errors)


def _stop(process: subprocess.Popen[bytes] | ForkedProcess) -> None:
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(20)
    process.kill()
    process.wait()


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
