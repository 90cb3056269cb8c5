"""Any server with OpenAI's chat completions: OpenAI itself, vLLM, and compatible ones.

Base of the more specific providers. vLLM is recognised by its window in the list of models, and has
`/tokenize`.
"""

from collections.abc import AsyncGenerator, AsyncIterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from holdfast.errors import ModelMissing, UpstreamError
from holdfast.i18n import lazy
from holdfast.messages import ChatRequest, Chunk, JsonObject
from holdfast.protocols import openai_chat
from holdfast.protocols.requests import add_call_ids
from holdfast.protocols.wire import iter_sse, parse_server_payload
from holdfast.tokens.vocabulary import Vocabulary
from holdfast.upstreams.base import (
    Ability,
    AnswerReader,
    Dialect,
    EmbeddingResponse,
    ForwardedResponse,
    ModelInfo,
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
                    yield reader.parse(parse_server_payload(whole))
                    return
                if incoming.content_type != "text/event-stream":
                    raise unreadable_response(self.location)
                async for data in iter_sse(incoming.stream):
                    if data.strip() == "[DONE]":
                        if (end := reader.end()) is not None:
                            yield end
                        return
                    yield reader.parse(parse_server_payload(data))

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
