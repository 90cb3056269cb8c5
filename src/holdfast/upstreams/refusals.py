"""What a model server's refusal means: an HTTP status and a body, to one of our errors.

Pure. Knows the shapes in which servers write their errors, not how the request was sent.
"""

import json
from typing import Any

from holdfast.errors import HoldfastError, ModelMissing, UpstreamError
from holdfast.messages import JsonObject, canonical
from holdfast.protocols.wire import classify_overflow

_HINTS = {
    401: "Check the key for this server.",
    403: "Check the key for this server.",
    429: "The server has too much to do: try again later.",
    501: "This server cannot do that.",
    503: "The server may still be loading the model: try again in a moment.",
}


def error_from_response(
    status: int, content: bytes, *, where: str, model: str = "", retry_after: float | None = None
) -> HoldfastError:
    """The error for an answer with `status` and `content`, to a request for `model` if it named one."""
    text = content.decode("utf-8", "replace")
    if overflow := classify_overflow(status, text):
        return overflow
    body = parse_error_body(text)
    said = find_error_message(body)
    if status == 404 and model and "model" in said.lower():
        return ModelMissing(model, hint="`holdfast models` lists what the server has.")
    if 300 <= status < 400:
        return UpstreamError(
            f"{where} sends requests elsewhere ({status}).", status=502, hint="Give the new address."
        )
    told = f": {said}" if said else "."
    return UpstreamError(
        f"{where} refused the request ({status}){told}",
        status=status,
        body=body,
        hint=_HINTS.get(status, ""),
        retry_after=retry_after,
    )


def error_from_payload(payload: JsonObject, *, where: str) -> HoldfastError:
    """The error for a payload that came instead of the first piece of an answer."""
    error = payload.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else 500
    return error_from_response(status, canonical(payload).encode(), where=where)


def unreadable_response(where: str) -> UpstreamError:
    return UpstreamError(
        f"{where} answered with something that is no answer of a model server.",
        status=502,
        hint="Check that the address is that of a model server.",
    )


def find_error_message(body: JsonObject | None) -> str:
    """The sentence in a server's error, whichever way it wraps it."""
    match body:
        case {"error": {"message": str(message)}} | {"error": str(message)} | {"message": str(message)}:
            return message
        case {"detail": str(message)}:
            return message
        case _:
            return ""


def parse_error_body(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
