"""The models of the fake Ollama: how prompts are rendered and cut, and how an answer is generated.

Loads and prompts, as the model saw them after all cuts, are recorded for tests.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.messages import canonical

Tokenize = Callable[[str], list[str]]

# What Ollama takes a picture for while it makes a chat fit.
IMAGE_TOKENS = 768
NUM_KEEP = 4

_WORDS = re.compile(r"\w+|[^\w\s]")

_PIECE = re.compile(r"\s*\S+|\s+$")


def split_words(text: str) -> list[str]:
    """The fakes' own tokenizer: a token is a word or a sign; white space is none."""
    return _WORDS.findall(text)


class DoesNotFit(Exception):
    """The prompt is too long, and cutting it was not allowed."""

    def __init__(self, tokens: int, window: int) -> None:
        problem = f"request ({tokens} tokens) exceeds the available context size ({window} tokens)"
        super().__init__(f"{problem}, try increasing it")


@dataclass(frozen=True, slots=True)
class PromptLimits:
    """The window, and what may be done to a prompt that is larger.

    Servers from `before_llama_server`, with a runner of their own, fill the whole window when they cut, where
    newer ones leave half of it free; and they know no `truncate`.
    """

    window: int
    truncate: bool = True
    keep: int = NUM_KEEP
    before_llama_server: bool = False


def render_tokens(
    messages: Sequence[Mapping[str, Any]], tools: Sequence[Any], tokenize: Tokenize
) -> list[str]:
    """A chat as tokens: one for the role and one for the end of each message, one for the model to begin."""
    tokens = tokenize(canonical(tools)) if tools else []
    for message in messages:
        content = str(message.get("content") or "")
        if calls := message.get("tool_calls"):
            content += canonical(calls)
        pictures = ["<image>"] * (IMAGE_TOKENS * len(message.get("images") or ()))
        tokens += [f"<{message.get('role')}>", *pictures, *tokenize(content), "<end>"]
    return [*tokens, "<assistant>"]


def render_text(messages: Sequence[Mapping[str, Any]], tools: Sequence[Any]) -> str:
    """The same chat as text, with ChatML's marks for the role and the end of each message."""
    text = canonical(tools) if tools else ""
    for message in messages:
        content = str(message.get("content") or "")
        if calls := message.get("tool_calls"):
            content += canonical(calls)
        text += f"<|im_start|>{content}<|im_end|>"
    return f"{text}<|im_start|>"


def chat_tokens(
    messages: Sequence[Mapping[str, Any]], tools: Sequence[Any], tokenize: Tokenize, limits: PromptLimits
) -> list[str]:
    """The tokens a chat is answered from. First whole messages go, the oldest first, then tokens.

    System messages and the last one stay; a tool's result may lose its call. Where
    there are pictures, no tokens are taken out.
    """
    left = list(messages)
    tokens = render_tokens(left, tools, tokenize)
    if limits.truncate or limits.before_llama_server:
        while len(tokens) > limits.window and (oldest := find_oldest(left)) is not None:
            del left[oldest]
            tokens = render_tokens(left, tools, tokenize)
    if any(message.get("images") for message in left):
        limits = replace(limits, truncate=False)
    return cut_prompt(tokens, limits)


def find_oldest(messages: Sequence[Mapping[str, Any]]) -> int | None:
    candidates = range(len(messages) - 1)
    return next((index for index in candidates if messages[index].get("role") != "system"), None)


def cut_prompt(tokens: list[str], limits: PromptLimits) -> list[str]:
    """Takes the middle out of a prompt that is too long: a few tokens at the front stay, and the end."""
    window = limits.window
    if limits.before_llama_server:
        if len(tokens) <= window:
            return tokens
        size = window
    elif limits.truncate:
        if len(tokens) <= window:
            return tokens
        size = window - (window - limits.keep) // 2
    elif len(tokens) < window:
        return tokens
    else:
        raise DoesNotFit(len(tokens), window)
    return tokens[: limits.keep] + tokens[len(tokens) - (size - limits.keep) :]


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
    # The text again and again, until a limit is reached or the client leaves.
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
        cached = min(common_length(seen, call.prompt), len(call.prompt) - 1)
        return Generation(split_reply(reply), len(call.prompt), max(cached, 0), loaded, reply, limit)


def split_reply(reply: FakeReply) -> Iterator[AnswerPiece]:
    yield from (AnswerPiece(thinking=part) for part in _PIECE.findall(reply.thinking))
    texts = _PIECE.findall(reply.text)
    for part in itertools.cycle(texts) if reply.endless else texts:
        yield AnswerPiece(text=part, fields=reply.fields)
    for call in reply.calls:
        yield AnswerPiece(call=call)


def common_length(first: Sequence[str], second: Sequence[str]) -> int:
    return next(
        (index for index, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )
