"""An Ollama server by its native API.

Its `/v1` is not used: it silently truncates long prompts and has no `num_ctx`.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from holdfast.errors import BadRequest, ConfigError
from holdfast.i18n import lazy
from holdfast.messages import ChatRequest, Chunk, JsonObject, canonical
from holdfast.protocols import ollama
from holdfast.protocols.wire import add_tool_names, iter_lines, parse_json
from holdfast.tokens.vocabulary import Vocabulary, VocabularyError
from holdfast.upstreams.base import (
    Ability,
    AnswerReader,
    Dialect,
    EmbeddingResponse,
    ForwardedResponse,
    ModelInfo,
    error_from_response,
    unreadable_response,
)
from holdfast.upstreams.http import Connection

# Durations in Ollama's format, such as 30m or 1h30m.
_DURATION = re.compile(r"-?(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+")
# A line of the text that /api/show returns as `parameters`.
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)\s*$", re.MULTILINE)
# The tag of a name without one.
_DEFAULT_TAG = ":latest"


# Seconds or a duration; negative for ever, 0 not at all.
KeepAlive = int | str | None


def parse_keep_alive(setting: str) -> KeepAlive:
    """Parses the setting for how long a model stays in memory; None leaves it to Ollama."""
    value = setting.strip()
    if not value:
        return None
    if re.fullmatch(r"-?\d{1,9}", value):
        # Ollama accepts seconds only as a number.
        return int(value)
    if _DURATION.fullmatch(value):
        return value
    raise ConfigError(
        lazy("keep_alive is {setting!r}.", setting=setting),
        hint=lazy("Write it like 30m, 2h, 300 (seconds), -1 (for ever) or 0."),
    )


class Ollama:
    name = "ollama"
    dialect: Dialect = "ollama"
    abilities: frozenset[Ability] = frozenset({"continuation"})
    paths = frozenset({"/api/", "/v1/"})

    def __init__(self, connection: Connection, *, keep_alive: KeepAlive = None) -> None:
        """`keep_alive` is sent with every request that has none of its own; None leaves it to the server."""
        self._http = connection
        self._always: JsonObject = {} if keep_alive is None else {"keep_alive": keep_alive}
        self.location = connection.location
        # Whether this version can render without answering; None until it was tried.
        self._renders: bool | None = None

    async def aclose(self) -> None:
        await self._http.aclose()

    async def chat(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        body = {**self._always, **ollama.serialize_request(add_tool_names(request))}
        # By default, Ollama drops what does not fit and only logs it. A different `shift` makes it reload the
        # model, so it is the same in every request.
        body |= {"stream": True, "truncate": False, "shift": False}
        has_calls = False
        async with self._http.stream("/api/chat", body, model=request.model) as incoming:
            if "json" not in incoming.content_type:
                raise unreadable_response(self.location)
            with AnswerReader(ollama.parse_chunk, where=self.location) as reader:
                async for line in iter_lines(incoming.stream):
                    chunk = reader.read(line)
                    # Calls come in a line of their own, before the line with the finish reason.
                    has_calls = has_calls or bool(chunk.calls)
                    yield (
                        replace(chunk, finish="tool_calls") if has_calls and chunk.finish == "stop" else chunk
                    )

    async def models(self) -> list[ModelInfo]:
        listed, running = await asyncio.gather(self._list("/api/tags"), self._list("/api/ps"))
        return [parse_listing(item, find_running_window(running, str(item.get("name")))) for item in listed]

    async def describe(self, model: str) -> ModelInfo:
        details, listed, running = await asyncio.gather(
            self._http.post("/api/show", {"model": model}, model=model),
            self._list("/api/tags"),
            self._list("/api/ps"),
        )
        if not isinstance(details, dict):
            raise unreadable_response(self.location)
        item: JsonObject = next((item for item in listed if is_same_model(str(item.get("name")), model)), {})
        fields = ("details", "modified_at", "capabilities")
        newer = {name: details[name] for name in fields if details.get(name)}
        info = parse_listing({**item, **newer, "name": model}, find_running_window(running, model))
        facts = details.get("model_info") or {}
        num_ctx = _NUM_CTX.search(details.get("parameters") or "")
        return replace(
            info,
            trained_window=facts.get(f"{facts.get('general.architecture')}.context_length")
            or info.trained_window,
            default_num_ctx=int(num_ctx[1]) if num_ctx else None,
            raw=details,
        )

    async def embed(self, model: str, texts: Sequence[str]) -> EmbeddingResponse:
        # The vector of a truncated text would be wrong: an error is better.
        body = {**self._always, "model": model, "input": list(texts), "truncate": False}
        answer = await self._http.post("/api/embed", body, model=model)
        match answer:
            case {"embeddings": list(vectors)} if len(vectors) == len(texts):
                return EmbeddingResponse(tuple(map(tuple, vectors)), answer.get("prompt_eval_count"))
            case _:
                raise unreadable_response(self.location)

    async def count(self, request: ChatRequest) -> int | None:  # noqa: ARG002
        """Returns None: Ollama has no route for this."""
        return None

    async def render(self, request: ChatRequest) -> str | None:
        if self._renders is False:
            return None
        # Older versions ignore `_debug_render_only` and would answer: one token is enough.
        body = {
            **self._always,
            **ollama.serialize_request(add_tool_names(request).with_options(max_tokens=1)),
        }
        body |= {"stream": False, "truncate": False, "shift": False, "_debug_render_only": True}
        answer = await self._http.post("/api/chat", body, model=request.model)
        info = answer.get("_debug_info") if isinstance(answer, dict) else None
        text = info.get("rendered_template") if isinstance(info, dict) else None
        self._renders = isinstance(text, str)
        return text if isinstance(text, str) else None

    async def tokenize(self, model: str, text: str) -> list[int] | None:  # noqa: ARG002
        """Returns None: Ollama has no route for this; its vocabulary is used instead."""
        return None

    async def detokenize(self, model: str, tokens: Sequence[int]) -> str | None:  # noqa: ARG002
        return None

    async def vocabulary(self, model: str) -> Vocabulary | None:
        # Some megabytes of JSON: parsed in a thread, to keep the event loop free.
        body = canonical({"model": model, "verbose": True}).encode()
        answer = await self._http.forward("POST", "/api/show", {"content-type": "application/json"}, body)
        content = b"".join([data async for data in answer.stream])
        if answer.status != 200:
            raise error_from_response(answer.status, content, model=model, where=self.location)
        return await asyncio.to_thread(parse_vocabulary, content)

    async def forward(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | AsyncIterable[bytes] = b""
    ) -> ForwardedResponse:
        return await self._http.forward(method, path, headers, body)

    async def _list(self, path: str) -> list[dict[str, Any]]:
        match await self._http.get(path):
            case {"models": None}:
                return []
            case {"models": list(items)} if all(isinstance(item, dict) for item in items):
                return items
            case _:
                raise unreadable_response(self.location)


def parse_vocabulary(body: bytes) -> Vocabulary:
    """Returns the vocabulary in the answer to a verbose `/api/show`."""
    try:
        value = parse_json(body)
    except BadRequest:
        value = None
    facts = value.get("model_info") if isinstance(value, dict) else None
    if not isinstance(facts, dict):
        raise VocabularyError(lazy("the server's description of the model has no facts in it"))
    return Vocabulary.from_metadata(facts)


def parse_listing(item: JsonObject, running_window: int | None) -> ModelInfo:
    details = item.get("details") or {}
    return ModelInfo(
        name=str(item.get("name", "")),
        family=details.get("family") or "",
        parameter_size=details.get("parameter_size") or "",
        quantization=details.get("quantization_level") or "",
        size=item.get("size"),
        digest=item.get("digest") or "",
        modified_at=item.get("modified_at") or "",
        trained_window=details.get("context_length"),
        running_window=running_window,
        capabilities=tuple(item.get("capabilities") or ()),
        raw=item,
    )


def find_running_window(running: Sequence[JsonObject], model: str) -> int | None:
    """Returns the window of a loaded model; older servers do not report it."""
    return next(
        (item.get("context_length") for item in running if is_same_model(str(item.get("name")), model)), None
    )


def is_same_model(name: str, other: str) -> bool:
    return _add_default_tag(name) == _add_default_tag(other)


def _add_default_tag(name: str) -> str:
    return name if ":" in name.rpartition("/")[2] else name + _DEFAULT_TAG
