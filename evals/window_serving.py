"""`holdfast serve` as users start it, and a client that looks at nothing but what comes over HTTP.

Knows both chat protocols as far as answers go. What is asked, and whether an answer is right, is the business
of others.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from holdfast.config import default_home
from holdfast.upstreams.model_file import find_model_file

OPENAI, OLLAMA = "/v1/chat/completions", "/api/chat"
MODEL = "embedded"

# A prompt of a full window takes minutes where two cores are shared.
_PATIENCE = 1800.0

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
    with (home / "serve.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "holdfast", "serve", "--port", "0", "--upstream", upstream],
            env={
                **os.environ,
                "HOLDFAST_HOME": str(home),
                "HOLDFAST_LANGUAGE": "en",
                "HOLDFAST_MODELS_DIR": str(default_home() / "models"),
                "HOLDFAST_STALL_TIMEOUT": str(_PATIENCE),
                **given,
            },
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            assert process.stdout is not None
            ready = process.stdout.readline()
            if "ready" not in ready:
                raise RuntimeError(f"holdfast did not start; see {home / 'serve.log'}")
            with Door(ready.split()[-1]) as door:
                yield door
        finally:
            _stop(process)


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(20)
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
