"""Servers with OpenAI's chat completions: OpenAI itself, vLLM and compatible ones, llama.cpp, and LM Studio.

vLLM is recognised by its window in the list of models, and has `/tokenize`.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlsplit

from holdfast.errors import ModelMissing, UpstreamError
from holdfast.i18n import lazy
from holdfast.messages import ChatRequest, Chunk, JsonObject
from holdfast.protocols import openai_chat
from holdfast.protocols.wire import add_call_ids, iter_sse
from holdfast.tokens.vocabulary import Vocabulary
from holdfast.upstreams.base import (
    Ability,
    AnswerReader,
    Dialect,
    EmbeddingResponse,
    ForwardedResponse,
    ModelInfo,
    format_count,
    unreadable_response,
)
from holdfast.upstreams.http import Connection

_VERSION = "/v1"
# The fields in which servers list a model's window.
_WINDOWS = ("max_model_len", "context_length", "context_window", "max_context_length")
# Statuses for a route that a server does not have.
NO_SUCH_ROUTE = (404, 405, 501)


def split_url(url: str) -> tuple[str, str]:
    """Returns the server's address and the prefix of `/chat/completions`.

    The prefix of a bare address is `/v1`; an address with another path is used unchanged, as in OpenAI's
    client.
    """
    url = url.rstrip("/")
    if url.endswith(_VERSION):
        return url.removesuffix(_VERSION), _VERSION
    return url, "" if urlsplit(url).path else _VERSION


class OpenAI:
    name = "openai"
    dialect: Dialect = "openai"
    abilities: frozenset[Ability] = frozenset()
    paths = frozenset({"/v1/"})

    def __init__(self, connection: Connection, prefix: str = _VERSION) -> None:
        self._http = connection
        self._prefix = prefix
        self.location = connection.location + prefix
        # Whether this server can count; None until it was tried.
        self._counts: bool | None = None

    async def aclose(self) -> None:
        await self._http.aclose()

    async def chat(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        body = openai_chat.serialize_request(add_call_ids(request))
        body |= {
            "stream": True,
            "stream_options": {**(body.get("stream_options") or {}), "include_usage": True},
        }
        path = f"{self._prefix}/chat/completions"
        async with self._http.stream(path, body, model=request.model) as incoming:
            with AnswerReader(openai_chat.parse_chunk, where=self.location) as reader:
                if incoming.content_type == "application/json":
                    # Not every server streams; then the answer comes as one object.
                    whole = b"".join([data async for data in incoming.stream])
                    yield reader.read(whole)
                    return
                if incoming.content_type != "text/event-stream":
                    raise unreadable_response(self.location)
                async for data in iter_sse(incoming.stream):
                    if data.strip() == "[DONE]":
                        if (end := reader.end()) is not None:
                            yield end
                        return
                    yield reader.read(data)

    async def models(self) -> list[ModelInfo]:
        return [parse_listing(item) for item in await self._list(f"{self._prefix}/models", "data")]

    async def describe(self, model: str) -> ModelInfo:
        for info in await self.models():
            if info.name == model:
                return info
        raise ModelMissing(model, hint=lazy("`holdfast models` lists what the server has."))

    async def embed(self, model: str, texts: Sequence[str]) -> EmbeddingResponse:
        body = {"model": model, "input": list(texts), "encoding_format": "float"}
        answer = await self._http.post(f"{self._prefix}/embeddings", body, model=model)
        match answer:
            case {"data": list(items)} if len(items) == len(texts):
                ordered = sorted(items, key=lambda item: item.get("index", 0))
                tokens = (answer.get("usage") or {}).get("prompt_tokens")
                return EmbeddingResponse(tuple(tuple(item["embedding"]) for item in ordered), tokens)
            case _:
                raise unreadable_response(self.location)

    async def count(self, request: ChatRequest) -> int | None:
        body = openai_chat.serialize_request(add_call_ids(request))
        fields = {name: value for name, value in body.items() if name in ("model", "messages", "tools")}
        return get_number(await self._from_vllm("/tokenize", fields), "count")

    async def render(self, request: ChatRequest) -> str | None:  # noqa: ARG002
        """Returns None: not needed, since servers with such a route can count."""
        return None

    async def tokenize(self, model: str, text: str) -> list[int] | None:
        body = {"model": model, "prompt": text, "add_special_tokens": False}
        answer = await self._from_vllm("/tokenize", body)
        return answer["tokens"] if isinstance(answer.get("tokens"), list) else None

    async def detokenize(self, model: str, tokens: Sequence[int]) -> str | None:
        answer = await self._from_vllm("/detokenize", {"model": model, "tokens": list(tokens)})
        return answer["prompt"] if isinstance(answer.get("prompt"), str) else None

    async def _from_vllm(self, path: str, body: JsonObject) -> dict[str, Any]:
        """Returns the answer of a route that only vLLM has; empty for other servers."""
        if self._counts is None:
            listed = await self._list(f"{self._prefix}/models", "data")
            self._counts = any("max_model_len" in item for item in listed)
        if not self._counts:
            return {}
        try:
            answer = await self._http.post(path, body, model=str(body["model"]))
        except UpstreamError as error:
            if error.status not in NO_SUCH_ROUTE:
                raise
            self._counts = False
            return {}
        return answer if isinstance(answer, dict) else {}

    async def vocabulary(self, model: str) -> Vocabulary | None:  # noqa: ARG002
        """Returns None: these servers do not publish it."""
        return None

    async def forward(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | AsyncIterable[bytes] = b""
    ) -> ForwardedResponse:
        if path.startswith(_VERSION + "/"):
            path = self._prefix + path.removeprefix(_VERSION)
        return await self._http.forward(method, path, headers, body)

    async def _list(self, path: str, field: str) -> list[dict[str, Any]]:
        answer = await self._http.get(path)
        items = answer.get(field) if isinstance(answer, dict) else None
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise unreadable_response(self.location)
        return items


def parse_listing(item: JsonObject) -> ModelInfo:
    window = next((item[name] for name in _WINDOWS if isinstance(item.get(name), int)), None)
    return ModelInfo(name=str(item.get("id", "")), running_window=window, raw=item)


def get_number(answer: Any, field: str) -> int | None:
    """Returns a count in a server's answer, None if it is missing."""
    value = answer.get(field) if isinstance(answer, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


class LlamaCpp(OpenAI):
    """llama.cpp's own server. In router mode, unloaded models are not queried, as that would load them."""

    name = "llamacpp"
    abilities: frozenset[Ability] = frozenset({"grammar", "prefill", "continuation"})
    paths = frozenset(
        {
            "/v1/", "/tokenize", "/detokenize", "/apply-template", "/completion", "/infill", "/embedding",
            "/rerank", "/reranking", "/props", "/slots", "/slots/", "/lora-adapters",
        }
    )  # fmt: skip

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.location = connection.location
        # Ways to count, best first; those that this server does not have are removed.
        self._counters = [self._count_input, self._count_rendered]

    async def models(self) -> list[ModelInfo]:
        listed = await self._list(f"{self._prefix}/models", "data")
        return list(await asyncio.gather(*(self._describe_item(item) for item in listed)))

    async def describe(self, model: str) -> ModelInfo:
        models = await self.models()
        # A server with one model accepts every name.
        return models[0] if len(models) == 1 else await super().describe(model)

    async def count(self, request: ChatRequest) -> int | None:
        for counter in tuple(self._counters):
            try:
                return await counter(request)
            except UpstreamError as error:
                if error.status not in NO_SUCH_ROUTE:
                    raise
                self._counters = [other for other in self._counters if other != counter]
        return None

    async def _count_input(self, request: ChatRequest) -> int | None:
        path = f"{self._prefix}/chat/completions/input_tokens"
        answer = await self._http.post(
            path, openai_chat.serialize_request(add_call_ids(request)), model=request.model
        )
        return get_number(answer, "input_tokens")

    async def _count_rendered(self, request: ChatRequest) -> int | None:
        """Counts the rendered prompt, for servers without `input_tokens`; impossible with images."""
        if any(message.images for message in request.messages):
            return None
        rendered = await self._http.post(
            "/apply-template", openai_chat.serialize_request(add_call_ids(request)), model=request.model
        )
        prompt = rendered.get("prompt") if isinstance(rendered, dict) else None
        if not isinstance(prompt, str):
            return None
        tokens = await self._tokens(request.model, prompt, special=True)
        return None if tokens is None else len(tokens)

    async def tokenize(self, model: str, text: str) -> list[int] | None:
        return await self._tokens(model, text, special=False)

    async def detokenize(self, model: str, tokens: Sequence[int]) -> str | None:
        answer = await self._http.post("/detokenize", {"model": model, "tokens": list(tokens)}, model=model)
        content = answer.get("content") if isinstance(answer, dict) else None
        return content if isinstance(content, str) else None

    async def _tokens(self, model: str, text: str, *, special: bool) -> list[int] | None:
        body = {"model": model, "content": text, "add_special": special, "parse_special": special}
        answer = await self._http.post("/tokenize", body, model=model)
        tokens = answer.get("tokens") if isinstance(answer, dict) else None
        return tokens if isinstance(tokens, list) else None

    async def _describe_item(self, item: dict[str, Any]) -> ModelInfo:
        meta = item.get("meta") or {}
        props = await self._props(item)
        settings = props.get("default_generation_settings") or {}
        parameters = meta.get("n_params")
        info = ModelInfo(
            name=str(item.get("id", "")),
            parameter_size=format_count(parameters) if parameters else "",
            quantization=meta.get("ftype") or props.get("model_ftype") or "",
            size=meta.get("size"),
            trained_window=meta.get("n_ctx_train"),
            running_window=settings.get("n_ctx"),
            capabilities=list_capabilities(props),
            raw=item,
        )
        return replace(info, raw={**item, "props": props}) if props else info

    async def _props(self, item: JsonObject) -> dict[str, Any]:
        """Returns the properties of a model, empty if it is not loaded."""
        path = "/props"
        if (status := item.get("status")) is not None:
            if not isinstance(status, dict) or status.get("value") != "loaded":
                return {}
            path = f"/props?model={quote(str(item.get('id')), safe='')}"
        try:
            props = await self._http.get(path)
        except UpstreamError as error:
            if error.status not in NO_SUCH_ROUTE:
                raise
            return {}
        return props if isinstance(props, dict) else {}


def list_capabilities(props: JsonObject) -> tuple[str, ...]:
    if not props:
        return ()
    template, modalities = props.get("chat_template_caps") or {}, props.get("modalities") or {}
    capabilities = {
        "completion": True,
        "tools": template.get("supports_tools"),
        "vision": modalities.get("vision"),
    }
    return tuple(name for name, present in capabilities.items() if present)


class LMStudio(OpenAI):
    """LM Studio. Newer versions have `/api/v1/models`, all have `/api/v0/models`."""

    name = "lmstudio"
    paths = frozenset({"/v1/", "/api/v0/", "/api/v1/"})

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.location = connection.location
        self._counts = False

    async def models(self) -> list[ModelInfo]:
        try:
            return [parse_v1_listing(item) for item in await self._list("/api/v1/models", "models")]
        except UpstreamError as error:
            if error.status not in NO_SUCH_ROUTE:
                raise
        return [parse_v0_listing(item) for item in await self._list("/api/v0/models", "data")]

    async def describe(self, model: str) -> ModelInfo:
        for info in await self.models():
            if model in (info.name, *list_instances(info.raw)):
                return info
        raise ModelMissing(model, hint=lazy("`holdfast models` lists what the server has."))


def parse_v0_listing(item: JsonObject) -> ModelInfo:
    kinds = {"llm": ("completion",), "vlm": ("completion", "vision"), "embeddings": ("embedding",)}
    tools = ("tools",) if "tool_use" in (item.get("capabilities") or ()) else ()
    return ModelInfo(
        name=str(item.get("id", "")),
        family=item.get("arch") or "",
        quantization=item.get("quantization") or "",
        trained_window=item.get("max_context_length"),
        running_window=item.get("loaded_context_length"),
        capabilities=kinds.get(str(item.get("type")), ()) + tools,
        raw=item,
    )


def parse_v1_listing(item: JsonObject) -> ModelInfo:
    listed = item.get("capabilities") or {}
    kind = "embedding" if item.get("type") == "embedding" else "completion"
    capabilities = {kind: True, "vision": listed.get("vision"), "tools": listed.get("trained_for_tool_use")}
    quantization: Any = item.get("quantization") or {}
    return ModelInfo(
        name=str(item.get("key", "")),
        family=item.get("architecture") or "",
        parameter_size=item.get("params_string") or "",
        quantization=quantization.get("name") or "" if isinstance(quantization, dict) else str(quantization),
        size=item.get("size_bytes"),
        trained_window=item.get("max_context_length"),
        running_window=smallest_loaded_window(item),
        capabilities=tuple(name for name, present in capabilities.items() if present),
        raw=item,
    )


def smallest_loaded_window(item: JsonObject) -> int | None:
    """Returns the smallest window of the loaded instances, since any of them may answer."""
    windows = [
        (loaded.get("config") or {}).get("context_length") for loaded in item.get("loaded_instances") or ()
    ]
    return min((window for window in windows if isinstance(window, int)), default=None)


def list_instances(item: JsonObject) -> list[str]:
    return [str(loaded.get("id")) for loaded in item.get("loaded_instances") or ()]
