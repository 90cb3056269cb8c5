"""Writes one answer the way Anthropic's messages would: as the events of its blocks, or as one message.

Knows nothing of where the chunks come from.
"""

from collections.abc import Callable, Iterable
from typing import Any

from holdfast.messages import Chunk, FinishReason
from holdfast.protocols.ollama import parse_arguments
from holdfast.protocols.wire import Block, BlockBuilder, BlockKind, BlockStep

Json = dict[str, Any]

_REASONS: dict[FinishReason, str] = {
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}
# What is added to each kind of block, and the field it is in.
_DELTAS: dict[BlockKind, tuple[str, str]] = {
    "text": ("text_delta", "text"),
    "thinking": ("thinking_delta", "thinking"),
    "call": ("input_json_delta", "partial_json"),
}


class AnthropicWriter:
    """`expected` says how large the request should be, for clients that want to know before it is counted."""

    def __init__(self, model: str, name: str, expected: Callable[[], int] = lambda: 0) -> None:
        self._model = model
        self._name = name
        self._expected = expected
        self._blocks = BlockBuilder()
        self._started = False

    def chunk(self, chunk: Chunk) -> list[Json]:
        """The events a streaming client gets for this chunk."""
        return self._write_start() + self._write_steps(self._blocks.add(chunk))

    def end(self) -> list[Json]:
        """What is left to say when the last chunk is through."""
        delta = {"stop_reason": self._reason(), "stop_sequence": None}
        return [
            *self._write_start(),
            *self._write_steps(self._blocks.end()),
            {"type": "message_delta", "delta": delta, "usage": self._usage()},
            {"type": "message_stop"},
        ]

    def write_error(self, error: Json) -> list[Json]:
        """The end of an answer that broke off."""
        return [error]

    def whole(self) -> Json:
        """The answer as one message, after every chunk and the end were written."""
        return self._message(
            [serialize_block(block) for block in self._blocks.all], self._reason(), self._usage()
        )

    def _write_start(self) -> list[Json]:
        if self._started:
            return []
        self._started = True
        usage = {"input_tokens": self._expected(), "output_tokens": 0}
        return [{"type": "message_start", "message": self._message([], None, usage)}, {"type": "ping"}]

    def _write_steps(self, steps: Iterable[BlockStep]) -> list[Json]:
        events: list[Json] = []
        for step, block, text in steps:
            match step:
                case "open":
                    event: Json = {"type": "content_block_start", "content_block": serialize_block(block)}
                case "add":
                    kind, field = _DELTAS[block.kind]
                    event = {"type": "content_block_delta", "delta": {"type": kind, field: text}}
                case "close":
                    event = {"type": "content_block_stop"}
            events.append({**event, "index": block.index})
        return events

    def _reason(self) -> str:
        finish = self._blocks.answer.finish
        reason = _REASONS.get(finish, "end_turn") if finish else "end_turn"
        return "tool_use" if self._blocks.calls and reason == "end_turn" else reason

    def _usage(self) -> Json:
        usage = self._blocks.answer.usage
        prompt = self._expected() if usage.prompt is None else usage.prompt
        cached = min(usage.cached or 0, prompt)
        return {
            "input_tokens": prompt - cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": cached,
            "output_tokens": usage.completion or 0,
        }

    def _message(self, blocks: list[Json], reason: str | None, usage: Json) -> Json:
        return {
            "id": self._name,
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": blocks,
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": usage,
        }


def serialize_block(block: Block) -> Json:
    """A block as it is in a whole message; one that was just opened is empty."""
    match block.kind:
        case "text":
            return {"type": "text", "text": block.text}
        case "thinking":
            # A signature proves to Anthropic that the thinking is theirs.
            return {"type": "thinking", "thinking": block.text, "signature": ""}
        case "call":
            said = "" if block.open else block.call.arguments
            given = (parse_arguments(said) if said else None) or {}
            name = block.call.id or f"toolu_{block.index}"
            return {"type": "tool_use", "id": name, "name": block.call.name, "input": given}
