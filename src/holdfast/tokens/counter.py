"""Counts texts, messages and whole requests for one model, exactly or by estimate, and says how sure it is.

What there is to count in a message is decided here, in one place. How a text becomes tokens, what a template
adds and what a server reports are known elsewhere.
"""

import base64
import binascii
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

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

# What Ollama takes an image for, and close to what most local vision models use: never the size of its data.
IMAGE_TOKENS = 768

# Parts we do not interpret are counted as the JSON they are, unless they are so long that they carry media.
_LONGEST_OPAQUE = 4_096
_CACHE_SIZE = 4_096


@dataclass(frozen=True, slots=True)
class Count:
    """Tokens, the least and the most it may be, and where the number comes from.

    Where too many tokens would do harm, `high` is the number to use.
    """

    tokens: int
    low: int
    high: int
    method: Literal["exact", "served", "estimate"]
    by: str

    @classmethod
    def from_server(cls, tokens: int, by: str) -> "Count":
        """A server's own count."""
        return cls(tokens, tokens, tokens, "served", by)


class Counter(Protocol):
    """Counts for one model."""

    def count_text(self, text: str) -> Count:
        """The text alone, without special tokens or a template."""

    def count_message(self, message: Message) -> Count:
        """A message and what the template writes around it."""

    def count_request(self, request: ChatRequest) -> Count:
        """All that goes to the model: messages, tools, template, the start of the answer."""


class TextTokenizer(Protocol):
    """What a tokenizer is good for here."""

    def count(self, text: str) -> int: ...


@dataclass(frozen=True, slots=True)
class _MessageSize:
    """What a message holds, before any template; `call_tokens` are those of its tokens that are tool calls."""

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
    """Takes requests apart and adds up; the two kinds of counter differ in how a text is measured.

    `calibration` may be replaced at any time by what was learned since.
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
        """With `thinking` if the model's own thoughts in it are sent again."""
        counted, learned = self._size_of(message, thinking), self.calibration
        around = learned.per_message + learned.per_call * counted.calls + counted.images
        texts = (counted.tokens, counted.low, counted.high)
        return self._count(*(round(number * learned.scale + around) for number in texts))

    def count_request(self, request: ChatRequest) -> Count:
        return self._count(*self.calibration.estimate(self.request_features(request)))

    def request_features(self, request: ChatRequest) -> PromptFeatures:
        """The request as numbers: what `Calibration.learn` wants beside the server's count."""
        sent = find_thinking_start(request.messages)
        total = self.tool_features(request.tools)
        for at, message in enumerate(request.messages):
            total += self.message_features(message, thinking=at >= sent)
        return replace(total, unprompted=all(message.role != "system" for message in request.messages))

    def message_features(self, message: Message, *, thinking: bool = True) -> PromptFeatures:
        """One message as numbers; those of a request are the sum of its messages' and its tools'."""
        counted = self._size_of(message, thinking)
        return PromptFeatures(
            text=counted.tokens - counted.call_tokens,
            messages=1,
            tool_text=counted.call_tokens,
            calls=counted.calls,
            images=counted.images,
            doubt=counted.doubt,
        )

    def tool_features(self, tools: Sequence[JsonObject]) -> PromptFeatures:
        counted = [self._tool(tool) for tool in tools]
        return PromptFeatures(
            text=0,
            messages=0,
            tool_text=sum(item.tokens for item in counted),
            tools=len(counted),
            doubt=sum(item.doubt for item in counted),
        )

    def estimate(self, parts: PromptFeatures) -> Estimate:
        """What these parts cost with all that was learned so far."""
        return self.calibration.estimate(parts)

    def predict(self, parts: PromptFeatures) -> float:
        """The same without its bounds, for where many small numbers are added up."""
        return self.calibration.predict(parts)

    def _size_of(self, message: Message, thinking: bool) -> _MessageSize:
        try:
            key = message.digest, thinking
        except UnicodeEncodeError:
            # Half a character, which JSON can carry, has no digest. It is counted all the same.
            return self._sum_parts(message.parts, thinking)
        # Taken out and put in again at the end: one step each, so that threads cannot get between.
        known = self._cache.pop(key, None) or self._sum_parts(message.parts, thinking)
        self._cache[key] = known
        while len(self._cache) > _CACHE_SIZE:
            self._cache.popitem(last=False)
        return known

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

    def _tool(self, tool: JsonObject) -> _MessageSize:
        return self._size_of(Message.of("system", canonical(tool)), False)

    def _count(self, tokens: int, low: int, high: int) -> Count:
        return Count(tokens, low, high, self.method, self._by)


class ExactCounter(_FeatureCounter):
    """Counts with the model's own vocabulary; what its template adds is a first guess, then learned."""

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
    """Counts by the kind of text, for a family or for a model's name; more surely after some answers."""

    method = "estimate"

    def __init__(
        self,
        model: Family | str,
        calibration: Calibration | None = None,
        *,
        image_tokens: int = IMAGE_TOKENS,
    ) -> None:
        family = family_of(model) if isinstance(model, str) else model

        def measure(text: str) -> Estimate:
            return estimate(text, family)

        learned = calibration or Calibration.fresh("estimate", family.name)
        by = "the usual prices of text" if family is UNKNOWN else f"the prices of {family.name}"
        super().__init__(measure, learned, by, image_tokens)


def find_thinking_start(messages: tuple[Message, ...]) -> int:
    """From which message on thinking is sent again: templates drop it before the newest question."""
    questions = [at for at, message in enumerate(messages) if message.role == "user"]
    return questions[-1] if questions else 0


def flatten_parts(parts: tuple[Part, ...]) -> Iterator[Part]:
    for part in parts:
        yield part
        if isinstance(part, ToolResult):
            yield from part.parts


def part_text(part: Part) -> str | None:
    """The text that stands for a part in a prompt; None for what has a flat cost."""
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
