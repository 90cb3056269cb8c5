"""Counts texts, messages and whole requests for one model, exactly or by estimate, with bounds.

What is counted in a message is decided here, in one place.
"""

import base64
import binascii
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from holdfast.i18n import lazy
from holdfast.messages import (
    ChatRequest,
    File,
    Image,
    JsonObject,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    canonical,
)
from holdfast.tokens.calibration import Calibration, PromptFeatures
from holdfast.tokens.estimate import UNKNOWN, Estimate, Family, estimate, family_of

# The flat cost of an image in Ollama, close to that of most local vision models; independent of its size.
IMAGE_TOKENS = 768

# Uninterpreted parts are counted as JSON, unless they are so long that they must contain media.
_LONGEST_OPAQUE = 4_096
_CACHE_SIZE = 4_096


@dataclass(frozen=True, slots=True)
class Count:
    """A number of tokens with bounds, and who counted. Use `high` where too many tokens would do harm."""

    tokens: int
    low: int
    high: int
    method: Literal["exact", "served", "estimate"]
    by: str

    @classmethod
    def from_server(cls, tokens: int, by: str) -> "Count":
        return cls(tokens, tokens, tokens, "served", by)


class Counter(Protocol):
    """Counts for one model."""

    def count_text(self, text: str) -> Count:
        """Counts the text alone, without special tokens or a template."""

    def count_message(self, message: Message) -> Count:
        """Counts a message and what the template adds to it."""

    def count_request(self, request: ChatRequest) -> Count:
        """Counts all that the model gets: messages, tools, template, the start of the answer."""


class TextTokenizer(Protocol):
    """The part of a tokenizer that is used here."""

    def count(self, text: str) -> int: ...


@dataclass(frozen=True, slots=True)
class _MessageSize:
    """The size of a message without template; `call_tokens` is the share of `tokens` in tool calls."""

    tokens: int = 0
    low: int = 0
    high: int = 0
    images: int = 0
    calls: int = 0
    call_tokens: int = 0

    @property
    def doubt(self) -> int:
        return max(self.high - self.tokens, self.tokens - self.low)


class _FeatureCounter:
    """Base of both counters, which differ in how a text is measured.

    `calibration` may be replaced at any time by a newer one.
    """

    method: Literal["exact", "estimate"]

    def __init__(
        self, measure: Callable[[str], Estimate], calibration: Calibration, by: str, image_tokens: int
    ) -> None:
        self.calibration = calibration
        self._measure = measure
        self._by = by
        self._image_tokens = image_tokens
        self._cache: OrderedDict[tuple[str, bool], _MessageSize] = OrderedDict()

    def count_text(self, text: str) -> Count:
        measured, scale = self._measure(text), self.calibration.scale
        return self._count(*(round(number * scale) for number in measured))

    def count_message(self, message: Message, *, thinking: bool = False) -> Count:
        """Counts a message; `thinking` tells whether the model's thinking in it is sent again."""
        size, calibration = self._size_of(message, thinking), self.calibration
        overhead = calibration.per_message + calibration.per_call * size.calls + size.images
        texts = (size.tokens, size.low, size.high)
        return self._count(*(round(number * calibration.scale + overhead) for number in texts))

    def count_request(self, request: ChatRequest) -> Count:
        return self._count(*self.calibration.estimate(self.request_features(request)))

    def request_features(self, request: ChatRequest) -> PromptFeatures:
        """Returns the features of a request, for `Calibration.learn`."""
        thinking_start = find_thinking_start(request.messages)
        total = self.tool_features(request.tools)
        for at, message in enumerate(request.messages):
            total += self.message_features(message, thinking=at >= thinking_start)
        return replace(total, unprompted=all(message.role != "system" for message in request.messages))

    def message_features(self, message: Message, *, thinking: bool = True) -> PromptFeatures:
        """Returns the features of one message; those of a request are the sum over messages and tools."""
        size = self._size_of(message, thinking)
        return PromptFeatures(
            text=size.tokens - size.call_tokens,
            messages=1,
            tool_text=size.call_tokens,
            calls=size.calls,
            images=size.images,
            doubt=size.doubt,
        )

    def tool_features(self, tools: Sequence[JsonObject]) -> PromptFeatures:
        """Returns the features of a request's tools."""
        sizes = [self._size_of(Message.of("system", canonical(tool)), False) for tool in tools]
        return PromptFeatures(
            text=0,
            messages=0,
            tool_text=sum(size.tokens for size in sizes),
            tools=len(sizes),
            doubt=sum(size.doubt for size in sizes),
        )

    def estimate(self, features: PromptFeatures) -> Estimate:
        """Returns the tokens of these features by the current calibration, with bounds."""
        return self.calibration.estimate(features)

    def predict(self, features: PromptFeatures) -> float:
        """Returns the same without bounds, for sums of many small numbers."""
        return self.calibration.predict(features)

    def _size_of(self, message: Message, thinking: bool) -> _MessageSize:
        try:
            key = message.digest, thinking
        except UnicodeEncodeError:
            # A text with a lone surrogate (possible in JSON) has no digest, so it is not cached.
            return self._sum_parts(message.parts, thinking)
        # Removed and added again as the newest: each is one step, so it is safe between threads.
        size = self._cache.pop(key, None) or self._sum_parts(message.parts, thinking)
        self._cache[key] = size
        while len(self._cache) > _CACHE_SIZE:
            self._cache.popitem(last=False)
        return size

    def _sum_parts(self, parts: tuple[Part, ...], thinking: bool) -> _MessageSize:
        tokens = low = high = images = calls = call_tokens = 0
        for part in flatten_parts(parts):
            if isinstance(part, ToolCall | ToolResult):
                calls += 1
            if isinstance(part, Thinking) and not thinking:
                continue
            text = part_text(part)
            if text is None:
                images += self._image_tokens
            elif text:
                measured = self._measure(text)
                tokens, low, high = tokens + measured.tokens, low + measured.low, high + measured.high
                call_tokens += measured.tokens if isinstance(part, ToolCall) else 0
        return _MessageSize(tokens, low, high, images, calls, call_tokens)

    def _count(self, tokens: int, low: int, high: int) -> Count:
        return Count(tokens, low, high, self.method, self._by)


class ExactCounter(_FeatureCounter):
    """Counts with the model's own vocabulary; what the template adds is learned."""

    method = "exact"

    def __init__(
        self,
        tokenizer: TextTokenizer,
        calibration: Calibration | None = None,
        *,
        by: str = "the model's vocabulary",
        image_tokens: int = IMAGE_TOKENS,
    ) -> None:
        def measure(text: str) -> Estimate:
            number = tokenizer.count(text)
            return Estimate(number, number, number)

        super().__init__(measure, calibration or Calibration.fresh("exact"), by, image_tokens)


class EstimatingCounter(_FeatureCounter):
    """Estimates by the prices of a vocabulary family (or of a model's name); better after some answers."""

    method = "estimate"

    def __init__(
        self, model: Family | str, calibration: Calibration | None = None, *, image_tokens: int = IMAGE_TOKENS
    ) -> None:
        family = family_of(model) if isinstance(model, str) else model

        def measure(text: str) -> Estimate:
            return estimate(text, family)

        calibration = calibration or Calibration.fresh("estimate", family.name)
        by = (
            lazy("the usual prices of text")
            if family is UNKNOWN
            else lazy("the prices of {family}", family=family.name)
        )
        super().__init__(measure, calibration, by, image_tokens)


def find_thinking_start(messages: tuple[Message, ...]) -> int:
    """Returns from which message on thinking is sent again: templates drop it before the newest question."""
    questions = [at for at, message in enumerate(messages) if message.role == "user"]
    return questions[-1] if questions else 0


def flatten_parts(parts: tuple[Part, ...]) -> Iterator[Part]:
    """Yields all parts, and those inside tool results."""
    for part in parts:
        yield part
        if isinstance(part, ToolResult):
            yield from part.parts


def part_text(part: Part) -> str | None:
    """Returns the text of a part in a prompt, or None for what has a flat cost."""
    match part:
        case Text(text) | Thinking(text):
            return text
        case ToolCall(name, arguments):
            return f"{name} {arguments}"
        case ToolResult():
            return part.name
        case File():
            return file_text(part)
        case Image():
            return None
        case Opaque():
            text = canonical(part.payload)
            return text if len(text) <= _LONGEST_OPAQUE else None


def file_text(file: File) -> str | None:
    if not file.data:
        return file.name
    if not file.media_type.startswith("text/"):
        return None
    try:
        raw = base64.b64decode("".join(file.data.split()), validate=True)
    except binascii.Error:
        return f"{file.name}\n{file.data}"
    return f"{file.name}\n{raw.decode('utf-8', 'replace')}"
