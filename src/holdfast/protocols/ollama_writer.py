"""Writes one answer the way an Ollama server would, streamed or whole, for `/api/chat` and `/api/generate`.

Knows nothing of where the chunks come from but the dialect their payloads are in.
"""

from datetime import UTC, datetime
from typing import Any

from holdfast.messages import Answer, Chunk, JsonObject, ToolCall
from holdfast.protocols.ollama import NAME, parse_arguments


def serialize_call_line(index: int, call: ToolCall) -> dict[str, Any]:
    arguments = parse_arguments(call.arguments or "{}")
    return {"id": call.id, "function": {"index": index, "name": call.name, "arguments": arguments}}


def find_openai_logprobs(chunk: Chunk) -> list[Any] | None:
    """Those in an event of OpenAI's dialect, out of their wrapping."""
    match chunk.wire:
        case (_, {"choices": [{"logprobs": {"content": list(given)}}, *_]}):
            return given
        case _:
            return None


class OllamaWriter:
    """Writes one answer for an Ollama client, `generate` in the shape of `/api/generate`.

    What came from an Ollama server goes out as it came; what came from another one is put into its words.
    """

    def __init__(self, model: str, *, generate: bool = False, context: list[int] | None = None) -> None:
        self._model = model
        self._generate = generate
        self._context = context
        self._answer = Answer()
        self._payloads: list[JsonObject] = []

    def chunk(self, chunk: Chunk) -> list[dict[str, Any]]:
        """The lines a streaming client gets for this chunk."""
        self._answer.add(chunk)
        if chunk.wire is not None and chunk.wire[0] == NAME:
            return [self._record(chunk.wire[1])]
        message: dict[str, Any] = {"role": "assistant", "content": chunk.text}
        if chunk.thinking:
            message["thinking"] = chunk.thinking
        if chunk.finish is not None and self._answer.calls:
            # Other servers send tool calls in pieces; an Ollama client expects each of them whole.
            calls = enumerate(self._answer.message.tool_calls)
            message["tool_calls"] = [serialize_call_line(index, call) for index, call in calls]
        if not chunk.text and len(message) == 2:
            return []
        line = self._line(message, done=False)
        if logprobs := find_openai_logprobs(chunk):
            line["logprobs"] = logprobs
        return [self._record(line)]

    def end(self) -> list[dict[str, Any]]:
        """The closing line, for an answer whose server does not speak Ollama's dialect."""
        if any(payload.get("done") for payload in self._payloads):
            return []
        reason = self._answer.finish or "stop"
        line = self._line({"role": "assistant", "content": ""}, done=True)
        line["done_reason"] = "stop" if reason in ("tool_calls", "content_filter", "cut") else reason
        usage = self._answer.usage
        counts = {"prompt_eval_count": usage.prompt, "eval_count": usage.completion}
        return [self._record(line | {name: count for name, count in counts.items() if count is not None})]

    def write_error(self, error: dict[str, Any]) -> list[dict[str, Any]]:
        """The end of an answer that broke off."""
        return [error]

    def whole(self) -> dict[str, Any]:
        """The answer as one object, after every chunk and the end were written."""
        last = dict(self._payloads[-1])
        merged: dict[str, Any] = {}
        for payload in self._payloads:
            for name, value in (payload if self._generate else payload.get("message", {})).items():
                if name in ("content", "thinking", "response") and isinstance(value, str):
                    merged[name] = merged.get(name, "") + value
                elif name == "tool_calls" and value:
                    merged[name] = [*merged.get(name, []), *value]
                elif name not in merged:
                    merged[name] = value
        logprobs = [item for payload in self._payloads for item in payload.get("logprobs") or ()]
        if logprobs:
            last["logprobs"] = logprobs
        if self._generate:
            texts = {name: merged[name] for name in ("response", "thinking", "tool_calls") if name in merged}
            return last | texts
        return last | {"message": merged}

    def _line(self, message: dict[str, Any], *, done: bool) -> dict[str, Any]:
        now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        return {"model": self._model, "created_at": now, "message": message, "done": done}

    def _record(self, payload: JsonObject) -> dict[str, Any]:
        line = dict(payload)
        if self._generate and "message" in line:
            message = line.pop("message") or {}
            done = line.pop("done", False)
            line |= {"response": message.get("content", ""), "done": done}
            line |= {name: message[name] for name in ("thinking", "tool_calls") if message.get(name)}
            if done and self._context is not None:
                line["context"] = self._context
        self._payloads.append(line)
        return line
