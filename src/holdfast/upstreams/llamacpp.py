"""llama.cpp's own server: OpenAI's API, exact counts, and the current window.

In router mode, models that are not loaded are not queried, because that would load them.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from holdfast.errors import UpstreamError
from holdfast.messages import ChatRequest, JsonObject
from holdfast.protocols import openai_chat
from holdfast.protocols.requests import add_call_ids
from holdfast.upstreams.base import Ability, ModelInfo, format_count
from holdfast.upstreams.http import Connection
from holdfast.upstreams.openai import NO_SUCH_ROUTE, OpenAI, get_number


class LlamaCpp(OpenAI):
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
