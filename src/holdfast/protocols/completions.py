"""OpenAI's older completions: a bare prompt to be continued, and the answer to it.

No conversation and no roles. Knows nothing of HTTP or of which model is asked.
"""

import secrets
import time
from typing import Any

from holdfast.errors import BadRequest
from holdfast.messages import Answer, ChatRequest, Chunk, FinishReason, JsonObject, Message
from holdfast.protocols.openai import NAME
from holdfast.protocols.requests import check_options
from holdfast.protocols.wire import expect, keep_fields, without

_COMPLETION_OPTIONS = (
    "temperature", "top_p", "top_k", "min_p", "seed", "stop", "max_tokens",
    "presence_penalty", "frequency_penalty", "repeat_penalty",
)  # fmt: skip
# What a model server that only continues one prompt at a time cannot give.
_SINGLE_ONLY = ("n", "best_of")
_COMPLETION_REASONS: dict[FinishReason, str] = {"length": "length", "content_filter": "content_filter"}


def parse_completion_request(body: JsonObject) -> ChatRequest:
    """A client's `/v1/completions` body, its prompt as the only message."""
    rest = without(body, "model", "prompt", "stream")
    for name in _SINGLE_ONLY:
        if rest.get(name) not in (None, 1):
            raise unsupported_field(name, "give several answers at once")
    if rest.get("logprobs") is not None:
        raise unsupported_field("logprobs", "say how likely its tokens are")
    options = {name: rest.pop(name) for name in _COMPLETION_OPTIONS if rest.get(name) is not None}
    check_options(options)
    return ChatRequest(
        model=expect(body.get("model"), str, "model"),
        messages=(Message.of("user", parse_prompt(body.get("prompt"))),),
        options=options,
        stream=body.get("stream") is not None and expect(body["stream"], bool, "stream"),
        extra=keep_fields(NAME, rest),
    )


def parse_prompt(value: Any) -> str:
    match value:
        case str() | [str()]:
            return value if isinstance(value, str) else str(value[0])
        case _:
            raise BadRequest(
                "prompt must be a string, or a list of one string",
                hint="Send several prompts one after the other, and text instead of tokens.",
                param="prompt",
            )


def unsupported_field(name: str, what: str) -> BadRequest:
    return BadRequest(
        f"{name} is not possible here: the model server behind Holdfast cannot {what} for a prompt",
        hint=f"Leave {name} out, or ask in several requests.",
        param=name,
    )


class CompletionsWriter:
    """`echo` is what the answer begins with: the prompt, if the client wants it back."""

    def __init__(self, model: str, *, echo: str = "", include_usage: bool = False) -> None:
        self._model = model
        self._echo = echo
        self._include_usage = include_usage
        self._id = f"cmpl-{secrets.token_hex(12)}"
        self._created = int(time.time())
        self._answer = Answer()
        self._started = False

    def chunk(self, chunk: Chunk) -> list[dict[str, Any]]:
        """The events a streaming client gets for this chunk."""
        self._answer.add(chunk)
        text = chunk.text if self._started else self._echo + chunk.text
        self._started = True
        return [self._object(text, None)] if text else []

    def end(self) -> list[dict[str, Any]]:
        """What is left to say when the last chunk is through; the closing `[DONE]` is the door's."""
        events = [self._object("", self._reason())]
        if self._include_usage:
            events.append(self._object("", None) | {"choices": [], "usage": self._usage()})
        return events

    def write_error(self, error: dict[str, Any]) -> list[dict[str, Any]]:
        return [error]

    def whole(self) -> dict[str, Any]:
        """The answer as one object, after every chunk and the end were written."""
        text = self._echo + self._answer.message.text
        return self._object(text, self._reason()) | {"usage": self._usage()}

    def _object(self, text: str, finish: str | None) -> dict[str, Any]:
        choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": finish}
        return {
            "id": self._id,
            "object": "text_completion",
            "created": self._created,
            "model": self._model,
            "choices": [choice],
        }

    def _reason(self) -> str:
        return _COMPLETION_REASONS.get(self._answer.finish or "stop", "stop")

    def _usage(self) -> dict[str, int]:
        usage = self._answer.usage
        prompt, completion = usage.prompt or 0, usage.completion or 0
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }
