"""Texts that a client found for a question and sends along with it, beside the messages.

`metadata.context` in OpenAI's dialect, `context` in Ollama's chat: a text, a list of texts, or a list of
objects with a `text` and where it is from. It is not part of what was said, so it does not go into the log.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from holdfast.errors import BadRequest
from holdfast.messages import ChatRequest

_ORIGIN = ("title", "source", "url")


def split_context(request: ChatRequest) -> tuple[tuple[str, ...], ChatRequest]:
    """The texts, and the request without them: the model server is not sent them twice."""
    texts: list[str] = []
    extra: dict[str, Mapping[str, Any]] = {}
    for dialect, fields in request.extra.items():
        left = dict(fields)
        metadata = left.get("metadata")
        if isinstance(metadata, Mapping) and "context" in metadata:
            texts += _read_texts(metadata["context"], "metadata.context")
            left["metadata"] = {name: value for name, value in metadata.items() if name != "context"}
            if not left["metadata"]:
                del left["metadata"]
        if "context" in left and not _is_state(left["context"]):
            texts += _read_texts(left.pop("context"), "context")
        extra[dialect] = left
    return tuple(texts), request if extra == request.extra else replace(request, extra=extra)


def _is_state(value: Any) -> bool:
    """Ollama's own `context` is a list of numbers: what a model had read so far."""
    return isinstance(value, list) and bool(value) and all(isinstance(number, int) for number in value)


def _read_texts(value: Any, where: str) -> list[str]:
    if value is None:
        return []
    found = [_read_text(item) for item in (value if isinstance(value, list) else [value])]
    if any(text is None for text in found):
        raise BadRequest(
            f"{where} must be a text, a list of texts, or a list of objects with a text", param=where
        )
    return [text for text in found if text and text.strip()]


def _read_text(item: Any) -> str | None:
    if isinstance(item, str):
        return item
    if isinstance(item, Mapping) and isinstance(item.get("text"), str):
        origin = [str(item[name]) for name in _ORIGIN if isinstance(item.get(name), str) and item[name]]
        return "\n".join((", ".join(origin), item["text"])) if origin else str(item["text"])
    return None
