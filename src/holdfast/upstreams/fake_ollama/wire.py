"""How the fake Ollama writes an answer: natively, or the way Ollama's `/v1` imitates OpenAI.

Knows nothing of where the answer comes from. Field order and habits (a role in every delta, an `id` from a
small range) are those of the real server.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

from holdfast.messages import canonical
from holdfast.upstreams.fake_ollama.runner import AnswerPiece, Generation

_LOAD_NS, _QUICK_NS, _TOKEN_NS = 500_000_000, 10_000_000, 1_000_000


class AnswerWriter(Protocol):
    media_type: str

    def piece(self, piece: AnswerPiece) -> bytes: ...

    def error(self, message: str) -> bytes: ...

    def end(self, generation: Generation) -> bytes: ...

    def whole(self, pieces: Iterable[AnswerPiece], generation: Generation) -> dict[str, Any]: ...


def timestamp() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def join_pieces(pieces: Iterable[AnswerPiece]) -> tuple[str, str, list[tuple[str, Mapping[str, Any]]]]:
    all_pieces = list(pieces)
    text = "".join(piece.text for piece in all_pieces)
    thinking = "".join(piece.thinking for piece in all_pieces)
    return text, thinking, [piece.call for piece in all_pieces if piece.call is not None]


class NativeWriter:
    """Lines of JSON for `/api/chat` or `/api/generate`; newer servers tell how much was `cached`."""

    media_type = "application/x-ndjson"

    def __init__(
        self, model: str, *, generate: bool = False, context: Sequence[int] = (), cached: bool = True
    ) -> None:
        self._model = model
        self._generate = generate
        self._context = context
        self._cached = cached

    def line(self, pieces: Sequence[AnswerPiece] = (), **rest: Any) -> dict[str, Any]:
        text, thinking, calls = join_pieces(pieces)
        said: dict[str, Any] = {"thinking": thinking} if thinking else {}
        if calls:
            said["tool_calls"] = [
                {"function": {"name": name, "arguments": dict(arguments)}} for name, arguments in calls
            ]
        line: dict[str, Any] = {"model": self._model, "created_at": timestamp()}
        if self._generate:
            return line | {"response": text, **said, **rest}
        return line | {"message": {"role": "assistant", "content": text, **said}, **rest}

    def piece(self, piece: AnswerPiece) -> bytes:
        return _json_line(self.line([piece], done=False, **piece.fields))

    def error(self, message: str) -> bytes:
        return _json_line({"error": message})

    def end(self, generation: Generation) -> bytes:
        return _json_line(self.line(**self._metrics(generation)))

    def whole(self, pieces: Iterable[AnswerPiece], generation: Generation) -> dict[str, Any]:
        said = list(pieces)
        # Lists like `logprobs` go on from piece to piece.
        lists: dict[str, Any] = {}
        for name, value in (item for piece in said for item in piece.fields.items()):
            lists[name] = [*lists.get(name, ()), *value]
        return self.line(said, **self._metrics(generation), **lists)

    def _metrics(self, generation: Generation) -> dict[str, Any]:
        load = _LOAD_NS if generation.loaded else _QUICK_NS
        read = _TOKEN_NS * (generation.prompt - generation.cached)
        write = _TOKEN_NS * generation.count
        return {
            "done_reason": generation.reason,
            "done": True,
            **({"context": list(self._context)} if self._context else {}),
            "total_duration": load + read + write,
            "load_duration": load,
            "prompt_eval_count": generation.prompt,
            **({"prompt_eval_cached_count": generation.cached} if self._cached else {}),
            "prompt_eval_duration": read,
            "eval_count": generation.count,
            "eval_duration": write,
        }


class OpenAIStyleWriter:
    """Events for `/v1/chat/completions`."""

    media_type = "text/event-stream"

    def __init__(self, model: str, *, include_usage: bool) -> None:
        self._include_usage = include_usage
        self._base = {
            "id": "chatcmpl-326",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": model,
            "system_fingerprint": "fp_ollama",
        }
        self._called = False

    def piece(self, piece: AnswerPiece) -> bytes:
        return self._event(self._message([piece]), None)

    def error(self, message: str) -> bytes:
        return f"data: {canonical(openai_error(message))}\n\n".encode()

    def end(self, generation: Generation) -> bytes:
        events = self._event({"role": "assistant", "content": ""}, self._reason(generation))
        if self._include_usage:
            usage = {**self._base, "choices": [], "usage": _usage(generation)}
            events += f"data: {canonical(usage)}\n\n".encode()
        return events + b"data: [DONE]\n\n"

    def whole(self, pieces: Iterable[AnswerPiece], generation: Generation) -> dict[str, Any]:
        message = self._message(list(pieces))
        choice = {"index": 0, "message": message, "finish_reason": self._reason(generation)}
        return {
            **self._base,
            "object": "chat.completion",
            "choices": [choice],
            "usage": _usage(generation),
        }

    def _event(self, delta: dict[str, Any], reason: str | None) -> bytes:
        event = {**self._base, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        return f"data: {canonical(event)}\n\n".encode()

    def _reason(self, generation: Generation) -> str:
        return "tool_calls" if self._called and generation.reason == "stop" else generation.reason

    def _message(self, pieces: Sequence[AnswerPiece]) -> dict[str, Any]:
        text, thinking, calls = join_pieces(pieces)
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if thinking:
            message["reasoning"] = thinking
        if calls:
            self._called = True
            message["tool_calls"] = [
                {
                    "id": f"call_{index}",
                    "index": index,
                    "type": "function",
                    "function": {"name": name, "arguments": canonical(arguments)},
                }
                for index, (name, arguments) in enumerate(calls)
            ]
        return message


def openai_error(message: str) -> dict[str, Any]:
    """An error in OpenAI's shape."""
    return {"error": {"message": message, "type": "api_error", "param": None, "code": None}}


def _usage(generation: Generation) -> dict[str, int]:
    prompt, completion = generation.prompt, generation.count
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _json_line(value: Mapping[str, Any]) -> bytes:
    return f"{canonical(value)}\n".encode()
