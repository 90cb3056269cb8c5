"""One request the way a client would send it, through Holdfast and back; nothing of it is kept."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from holdfast.clients.base import Endpoint, Protocol
from holdfast.errors import Unreachable, UpstreamError
from holdfast.i18n import lazy
from holdfast.upstreams.base import ModelInfo

# A model may have to be loaded first.
_LIMIT_SECONDS = 300.0
_QUESTION = "Say only: connected"
_MAX_TOKENS = 32


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """The answer to the request, and how long it took."""

    path: str
    model: str
    answer: str
    seconds: float


def list_chat_models(endpoint_url: str, key: str) -> tuple[str, ...]:
    """Return the models that can be talked with, in Holdfast's order; raise an error if nothing answers."""
    try:
        answer = httpx.get(f"{endpoint_url}/api/tags", headers=_key_headers(key), timeout=30.0)
        answer.raise_for_status()
        listed = answer.json()["models"]
    except httpx.HTTPStatusError as error:
        raise _refusal(endpoint_url, error.response) from None
    except (httpx.HTTPError, ValueError, KeyError):
        raise Unreachable(
            lazy("No Holdfast answers at {url}.", url=endpoint_url),
            hint=lazy("Start it with `holdfast serve`, or say where it is with --url."),
        ) from None
    models = (
        ModelInfo(
            row["name"],
            family=(row.get("details") or {}).get("family") or "",
            capabilities=tuple(row.get("capabilities") or ()),
        )
        for row in listed
    )
    return tuple(model.name for model in models if model.can_chat)


def prove(endpoint: Endpoint, protocol: Protocol) -> RoundTrip:
    """Ask one question in the client's protocol, streamed; raise an error if no answer comes."""
    path, body, headers = _request(endpoint, protocol)
    headers |= {**_key_headers(endpoint.key), **endpoint.headers}
    began, words, conversation = time.perf_counter(), [], ""
    try:
        with httpx.stream(
            "POST", endpoint.url + path, json=body, headers=headers, timeout=_LIMIT_SECONDS
        ) as answer:
            if answer.is_error:
                answer.read()
                raise _refusal(endpoint.url, answer)
            conversation = answer.headers.get("X-Holdfast-Conversation", "")
            words = [_read_words(event, protocol) for event in _read_events(answer)]
        if conversation:
            httpx.delete(f"{endpoint.url}/api/chats/{conversation}", headers=headers, timeout=30.0)
    except httpx.HTTPError as error:
        raise Unreachable(
            lazy("No answer came from {url}: {reason}", url=endpoint.url + path, reason=str(error)),
            hint=lazy("`holdfast doctor` looks at the model server."),
        ) from None
    return RoundTrip(path, endpoint.model, "".join(words).strip(), time.perf_counter() - began)


def _key_headers(key: str) -> dict[str, str]:
    return {} if key == "none" else {"Authorization": f"Bearer {key}"}


def _request(endpoint: Endpoint, protocol: Protocol) -> tuple[str, dict[str, Any], dict[str, str]]:
    message = {"role": "user", "content": _QUESTION}
    common: dict[str, Any] = {"model": endpoint.model, "stream": True}
    match protocol:
        case "chat":
            body = {**common, "messages": [message], "max_tokens": _MAX_TOKENS}
            return "/v1/chat/completions", body, {}
        case "responses":
            item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": _QUESTION}]}
            body = {**common, "input": [item], "store": False, "max_output_tokens": _MAX_TOKENS}
            return "/v1/responses", body, {}
        case "messages":
            body = {**common, "messages": [message], "max_tokens": _MAX_TOKENS}
            return "/v1/messages", body, {"anthropic-version": "2023-06-01"}
        case "ollama":
            return "/api/chat", {**common, "messages": [message]}, {}


def _read_events(answer: httpx.Response) -> Iterator[dict[str, Any]]:
    for line in answer.iter_lines():
        text = line.removeprefix("data:").strip()
        if text.startswith("{"):
            yield json.loads(text)


def _read_words(event: dict[str, Any], protocol: Protocol) -> str:
    """Return the text of an event; thinking counts, as it shows that the model answers."""
    match protocol:
        case "chat":
            delta = event["choices"][0].get("delta", {}) if event.get("choices") else {}
            return str(delta.get("content") or delta.get("reasoning_content") or "")
        case "responses":
            return str(event["delta"]) if str(event.get("type", "")).endswith("text.delta") else ""
        case "messages":
            delta = event.get("delta") or {}
            return str(delta.get("text") or delta.get("thinking") or "")
        case "ollama":
            message = event.get("message") or {}
            return str(message.get("content") or message.get("thinking") or "")


def _refusal(url: str, answer: httpx.Response) -> UpstreamError:
    return UpstreamError(
        lazy(
            "{url} answered {status}: {text}",
            url=url,
            status=str(answer.status_code),
            text=answer.text[:300],
        ),
        status=answer.status_code,
    )
