"""Writes one answer the way OpenAI's chat completions would, as stream events or as one object.

Knows nothing of where the chunks come from but the dialect their payloads are in.
"""

import secrets
import time
from collections.abc import Iterable
from typing import Any

from holdfast.messages import Answer, Chunk, FinishReason, JsonObject
from holdfast.protocols.openai import NAME, parse_chunk, serialize_call

_FINISH_REASONS: dict[FinishReason, str] = {"load": "stop", "unload": "stop", "cut": "stop"}


class OpenAIChatWriter:
    """What came from a server of this dialect goes out as it came; the rest is put into its words."""

    def __init__(self, model: str, *, include_usage: bool = False) -> None:
        self._model = model
        self._include_usage = include_usage
        self._id = f"chatcmpl-{secrets.token_hex(12)}"
        self._created = int(time.time())
        self._answer = Answer()
        self._payloads: list[JsonObject] = []
        self._started = False

    def chunk(self, chunk: Chunk) -> list[dict[str, Any]]:
        """The events a streaming client gets for this chunk."""
        seen = len(self._answer.calls)
        self._answer.add(chunk)
        if chunk.wire is not None and chunk.wire[0] == NAME:
            return self._relay(chunk.wire[1])
        delta: dict[str, Any] = {}
        if chunk.text:
            delta["content"] = chunk.text
        if chunk.thinking:
            delta["reasoning_content"] = chunk.thinking
        if chunk.calls:
            delta["tool_calls"] = [
                {
                    "index": seen + position if piece.index is None else piece.index,
                    "id": piece.id,
                    "type": "function",
                    "function": {"name": piece.name, "arguments": piece.arguments},
                }
                for position, piece in enumerate(chunk.calls)
            ]
        events = [self._event(delta, logprobs=find_ollama_logprobs(chunk))] if delta else []
        if chunk.finish is not None:
            events.append(self._event({}, _FINISH_REASONS.get(chunk.finish, chunk.finish)))
        return events

    def end(self) -> list[dict[str, Any]]:
        """What is left to say when the last chunk is through; the closing `[DONE]` is the door's."""
        events = []
        if self._answer.finish is None:
            events.append(self._event({}, "stop"))
        reported = any(payload.get("usage") for payload in self._payloads)
        if self._include_usage and not reported:
            events.append(self._envelope() | {"choices": [], "usage": self._usage()})
        return events

    def write_error(self, error: dict[str, Any]) -> list[dict[str, Any]]:
        """The end of an answer that broke off."""
        return [error]

    def whole(self) -> dict[str, Any]:
        """The answer as one object, after every chunk and the end were written."""
        envelope = dict(self._payloads[-1]) if self._payloads else self._envelope()
        choices: dict[int, dict[str, Any]] = {}
        for payload in self._payloads:
            for choice in payload.get("choices") or ():
                merge_choice(choices.setdefault(choice.get("index", 0), {}), choice)
        for index, choice in choices.items():
            choice |= {"index": index, "finish_reason": choice.get("finish_reason") or "stop"}
        envelope |= {
            "object": "chat.completion",
            "choices": [choices[index] for index in sorted(choices)],
            "usage": envelope.get("usage") or self._usage(),
        }
        return envelope

    def _relay(self, payload: JsonObject) -> list[dict[str, Any]]:
        """The server's own event. We always ask for usage; a client that did not is not shown it."""
        event = dict(payload)
        self._payloads.append(event)
        if self._include_usage or "usage" not in event:
            return [event]
        if not event.get("choices"):
            return []
        return [{name: value for name, value in event.items() if name != "usage"}]

    def _event(
        self, delta: dict[str, Any], finish: str | None = None, logprobs: list[Any] | None = None
    ) -> dict[str, Any]:
        if not self._started:
            delta = {"role": "assistant", "content": "", **delta}
            self._started = True
        choice: dict[str, Any] = {"index": 0, "delta": delta, "finish_reason": finish}
        if logprobs:
            choice["logprobs"] = {"content": logprobs}
        event = self._envelope() | {"choices": [choice]}
        self._payloads.append(event)
        return event

    def _envelope(self) -> dict[str, Any]:
        return {
            "id": self._id,
            "object": "chat.completion.chunk",
            "created": self._created,
            "model": self._model,
            "system_fingerprint": "fp_holdfast",
        }

    def _usage(self) -> dict[str, Any]:
        usage = self._answer.usage
        prompt, completion = usage.prompt or 0, usage.completion or 0
        counts: dict[str, Any] = {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }
        if usage.cached is not None:
            counts["prompt_tokens_details"] = {"cached_tokens": usage.cached}
        return counts


def find_ollama_logprobs(chunk: Chunk) -> list[Any] | None:
    """Those of an Ollama server, which are like OpenAI's without the wrapping."""
    given = chunk.wire[1].get("logprobs") if chunk.wire is not None else None
    return given if isinstance(given, list) else None


def merge_choice(into: dict[str, Any], choice: JsonObject) -> None:
    """Adds one streamed choice to the whole one: texts are joined, lists continued, the rest replaced."""
    message = into.setdefault("message", {"role": "assistant", "content": None})
    for name, value in (choice.get("delta") or {}).items():
        if name == "tool_calls":
            message["tool_calls"] = add_call_pieces(message.get("tool_calls") or [], value or ())
        elif isinstance(value, str) and name != "role":
            message[name] = (message.get(name) or "") + value
        elif value is not None:
            message[name] = value
    if choice.get("finish_reason"):
        into["finish_reason"] = choice["finish_reason"]
    logprobs = choice.get("logprobs")
    if logprobs:
        known = into.setdefault("logprobs", {})
        for name, values in logprobs.items():
            known[name] = [*(known.get(name) or []), *values] if isinstance(values, list) else values


def add_call_pieces(calls: list[dict[str, Any]], pieces: Iterable[JsonObject]) -> list[dict[str, Any]]:
    """The tool calls so far, with the pieces of this event in their places."""
    answer = Answer()
    known = [{"index": index, **call} for index, call in enumerate(calls)]
    for piece in (*known, *pieces):
        answer.add(parse_chunk({"choices": [{"delta": {"tool_calls": [piece]}}]}))
    return [serialize_call(call) for call in answer.message.tool_calls]
