"""An Ollama server, spoken to in its native API.

Never through its `/v1`: there it cuts long prompts silently and takes no window. Knows no policy about
windows; `num_ctx` is sent when the request has one.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from holdfast.errors import BadRequest, ConfigError
from holdfast.messages import ChatRequest, Chunk, JsonObject, canonical
from holdfast.protocols import ollama
from holdfast.protocols.requests import add_tool_names
from holdfast.protocols.wire import iter_ndjson, parse_json
from holdfast.tokens.gguf import VocabularyError
from holdfast.tokens.vocabulary import Vocabulary
from holdfast.upstreams.base import (
    Dialect,
    EmbeddingResponse,
    ForwardedResponse,
    ModelInfo,
    error_from_response,
    iter_chunks,
    unreadable_response,
)
from holdfast.upstreams.http import Connection

# How Ollama writes times in words, such as 30m or 1h30m.
_DURATION = re.compile(r"-?(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+")
# In the text that /api/show calls parameters, one to a line.
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)\s*$", re.MULTILINE)
# A name without a tag means this one.
_DEFAULT_TAG = ":latest"


# Seconds, or a time in words; below zero for ever, 0 not at all.
KeepAlive = int | str | None


def parse_keep_alive(setting: str) -> KeepAlive:
    """How long a model stays in memory, as Ollama is told it; None leaves it to Ollama."""
    told = setting.strip()
    if not told:
        return None
    if re.fullmatch(r"-?\d{1,9}", told):
        # Ollama takes seconds as a number only.
        return int(told)
    if _DURATION.fullmatch(told):
        return told
    raise ConfigError(
        f"keep_alive is {setting!r}.", hint="Write it like 30m, 2h, 300 (seconds), -1 (for ever) or 0."
    )


class Ollama:
    name = "ollama"
    dialect: Dialect = "ollama"
    paths = frozenset({"/api/", "/v1/"})

    def __init__(self, connection: Connection, *, keep_alive: KeepAlive = None) -> None:
        """`keep_alive` goes with every request that has none of its own; None leaves it to the server."""
        self._http = connection
        self._always: JsonObject = {} if keep_alive is None else {"keep_alive": keep_alive}
        self.location = connection.location
        # None until it is known whether this version shows what it renders.
        self._renders: bool | None = None

    async def aclose(self) -> None:
        await self._http.aclose()

    async def chat(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        body = {**self._always, **ollama.serialize_request(add_tool_names(request))}
        # Left to itself, Ollama drops what does not fit and says so only in its log. `shift` is part of what
        # makes it reload a model, so it is the same in every request of ours.
        body |= {"stream": True, "truncate": False, "shift": False}
        called = False
        async with self._http.stream("/api/chat", body, model=request.model) as incoming:
            if "json" not in incoming.content_type:
                raise unreadable_response(self.location)
            payloads = iter_ndjson(incoming.stream)
            async for chunk in iter_chunks(payloads, ollama.parse_chunk, where=self.location):
                # The calls come in a line of their own, before the one that says why the answer ended.
                called = called or bool(chunk.calls)
                yield replace(chunk, finish="tool_calls") if called and chunk.finish == "stop" else chunk

    async def models(self) -> list[ModelInfo]:
        listed, running = await asyncio.gather(self._list("/api/tags"), self._list("/api/ps"))
        return [parse_listing(item, find_running_window(running, str(item.get("name")))) for item in listed]

    async def describe(self, model: str) -> ModelInfo:
        shown, listed, running = await asyncio.gather(
            self._http.post("/api/show", {"model": model}, model=model),
            self._list("/api/tags"),
            self._list("/api/ps"),
        )
        if not isinstance(shown, dict):
            raise unreadable_response(self.location)
        item: JsonObject = next((item for item in listed if is_same_model(str(item.get("name")), model)), {})
        said = {name: shown[name] for name in ("details", "modified_at", "capabilities") if shown.get(name)}
        known = parse_listing({**item, **said, "name": model}, find_running_window(running, model))
        facts = shown.get("model_info") or {}
        asked = _NUM_CTX.search(shown.get("parameters") or "")
        return replace(
            known,
            trained_window=facts.get(f"{facts.get('general.architecture')}.context_length")
            or known.trained_window,
            default_num_ctx=int(asked[1]) if asked else None,
            raw=shown,
        )

    async def embed(self, model: str, texts: Sequence[str]) -> EmbeddingResponse:
        # Half a text has another meaning than the whole one: rather an error than that.
        body = {**self._always, "model": model, "input": list(texts), "truncate": False}
        answer = await self._http.post("/api/embed", body, model=model)
        match answer:
            case {"embeddings": list(vectors)} if len(vectors) == len(texts):
                return EmbeddingResponse(tuple(map(tuple, vectors)), answer.get("prompt_eval_count"))
            case _:
                raise unreadable_response(self.location)

    async def count(self, request: ChatRequest) -> int | None:  # noqa: ARG002
        """Ollama has no route for this."""
        return None

    async def render(self, request: ChatRequest) -> str | None:
        if self._renders is False:
            return None
        # Older versions do not know the word and would answer: one token of that is enough.
        body = {
            **self._always,
            **ollama.serialize_request(add_tool_names(request).with_options(max_tokens=1)),
        }
        body |= {"stream": False, "truncate": False, "shift": False, "_debug_render_only": True}
        answer = await self._http.post("/api/chat", body, model=request.model)
        shown = answer.get("_debug_info") if isinstance(answer, dict) else None
        text = shown.get("rendered_template") if isinstance(shown, dict) else None
        self._renders = isinstance(text, str)
        return text if isinstance(text, str) else None

    async def tokenize(self, model: str, text: str) -> list[int] | None:  # noqa: ARG002
        """Ollama has no route for this either: its vocabulary is the way."""
        return None

    async def detokenize(self, model: str, tokens: Sequence[int]) -> str | None:  # noqa: ARG002
        return None

    async def vocabulary(self, model: str) -> Vocabulary | None:
        # Some megabytes of JSON: read in a thread, or every other answer would stall meanwhile.
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


def parse_vocabulary(shown: bytes) -> Vocabulary:
    """The vocabulary in the answer to a verbose `/api/show`."""
    try:
        value = parse_json(shown)
    except BadRequest:
        value = None
    facts = value.get("model_info") if isinstance(value, dict) else None
    if not isinstance(facts, dict):
        raise VocabularyError("the server's description of the model has no facts in it")
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
    """The window in force; older servers name what runs without saying how large it is."""
    return next(
        (item.get("context_length") for item in running if is_same_model(str(item.get("name")), model)), None
    )


def is_same_model(one: str, other: str) -> bool:
    return _add_default_tag(one) == _add_default_tag(other)


def _add_default_tag(name: str) -> str:
    return name if ":" in name.rpartition("/")[2] else name + _DEFAULT_TAG
