"""LM Studio: OpenAI's API for chats, and its own lists of models with their windows.

Newer versions have `/api/v1/models`, all have `/api/v0/models`.
"""

from typing import Any

from holdfast.errors import ModelMissing, UpstreamError
from holdfast.i18n import lazy
from holdfast.messages import JsonObject
from holdfast.upstreams.base import ModelInfo
from holdfast.upstreams.http import Connection
from holdfast.upstreams.openai import NO_SUCH_ROUTE, OpenAI


class LMStudio(OpenAI):
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
