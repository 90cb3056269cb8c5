"""The models of the fake Ollama: which are loaded, with what window, and how they come by an answer.

Knows nothing of HTTP or JSON. Everything a test may want to know is kept: loads, and prompts as the model saw
them after all cuts.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.upstreams.fake_ollama.prompt import Tokenize

_PIECE = re.compile(r"\s*\S+|\s+$")


@dataclass(frozen=True, slots=True)
class FakeModel:
    """A model as `/api/show` tells of it. `num_ctx` is its Modelfile's; `facts` go into `model_info`."""

    name: str = "fake:latest"
    family: str = "fake"
    parameter_size: str = "1.0B"
    quantization: str = "Q4_K_M"
    trained_window: int = 32768
    num_ctx: int | None = None
    capabilities: tuple[str, ...] = ("completion", "tools", "thinking", "vision", "embedding", "insert")
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FakeReply:
    """What the model says. After the text it may end in an `error` line, or break off without any end."""

    text: str = ""
    thinking: str = ""
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    error: str = ""
    breaks: bool = False
    # The text again and again, until a limit is reached or nobody listens.
    endless: bool = False
    # Fields that come with every piece, as `logprobs` do.
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One generation, as the model sees it: `prompt` are the tokens that were left of the request."""

    model: str
    prompt: Sequence[str]
    body: Mapping[str, Any]

    @property
    def said(self) -> str:
        """The newest message of a chat, or the prompt of a completion."""
        messages = self.body.get("messages")
        return str(messages[-1].get("content") or "") if messages else str(self.body.get("prompt") or "")


AnswerFunction = Callable[[ModelCall], str | FakeReply]


def echo(call: ModelCall) -> str:
    return f"You said: {call.said}"


@dataclass(frozen=True, slots=True)
class ModelLoad:
    model: str
    num_ctx: int
    shift: bool


@dataclass(frozen=True, slots=True)
class AnswerPiece:
    """A token of the answer, or a tool call."""

    text: str = ""
    thinking: str = ""
    call: tuple[str, Mapping[str, Any]] | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Generation:
    """An answer in the making; `reason` and `count` are final when `pieces` has been read to its end."""

    pieces: Iterator[AnswerPiece]
    prompt: int
    cached: int
    loaded: bool
    reply: FakeReply
    limit: int | None
    count: int = 0

    def __iter__(self) -> Iterator[AnswerPiece]:
        for piece in self.pieces:
            if self.limit is not None and self.count >= self.limit:
                return
            self.count += 1
            yield piece

    @property
    def reason(self) -> str:
        return "length" if self.limit is not None and self.count >= self.limit else "stop"


class Runner:
    def __init__(
        self, models: Sequence[FakeModel], answer: AnswerFunction, tokenize: Tokenize, default: int
    ) -> None:
        self.models = {model.name: model for model in models}
        self.tokenize = tokenize
        self.loads: list[ModelLoad] = []
        self.calls: list[ModelCall] = []
        self.running: dict[str, ModelLoad] = {}
        self._answer = answer
        self._default = default
        self._seen: dict[str, Sequence[str]] = {}

    def find(self, name: str) -> FakeModel | None:
        return self.models.get(name) or self.models.get(f"{name}:latest")

    def window(self, model: FakeModel, asked: int | None) -> int:
        return min(asked or model.num_ctx or self._default, model.trained_window)

    def load(self, model: FakeModel, num_ctx: int, *, shift: bool) -> bool:
        """Loads the model unless it runs as asked for; a model loaded anew has forgotten what it had read."""
        wanted = ModelLoad(model.name, num_ctx, shift)
        if self.running.get(model.name) == wanted:
            return False
        self.loads.append(wanted)
        self.running[model.name] = wanted
        self._seen[model.name] = ()
        return True

    def unload(self, model: FakeModel) -> None:
        self.running.pop(model.name, None)

    def generate(self, call: ModelCall, *, loaded: bool, limit: int | None) -> Generation:
        self.calls.append(call)
        given = self._answer(call)
        reply = FakeReply(given) if isinstance(given, str) else given
        seen, self._seen[call.model] = self._seen[call.model], call.prompt
        cached = min(_common_length(seen, call.prompt), len(call.prompt) - 1)
        return Generation(_split_reply(reply), len(call.prompt), max(cached, 0), loaded, reply, limit)


def _split_reply(reply: FakeReply) -> Iterator[AnswerPiece]:
    yield from (AnswerPiece(thinking=part) for part in _PIECE.findall(reply.thinking))
    texts = _PIECE.findall(reply.text)
    for part in itertools.cycle(texts) if reply.endless else texts:
        yield AnswerPiece(text=part, fields=reply.fields)
    for call in reply.calls:
        yield AnswerPiece(call=call)


def _common_length(one: Sequence[str], other: Sequence[str]) -> int:
    return next(
        (index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
