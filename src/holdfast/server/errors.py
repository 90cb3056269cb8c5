"""HTTP status and body of an error in the format of each protocol."""

from collections.abc import Mapping
from typing import Any

from holdfast import errors
from holdfast.errors import HoldfastError

# The first class that matches decides.
_STATUS: tuple[tuple[type[HoldfastError], int], ...] = (
    (errors.TooLarge, 413),
    (errors.Unauthorized, 401),
    (errors.Forbidden, 403),
    (errors.TooMany, 429),
    (errors.BadRequest, 400),
    (errors.NotFound, 404),
    (errors.Conflict, 409),
    (errors.Overflow, 400),
    (errors.Unreachable, 503),
    (errors.Stopped, 503),
    (errors.CutOff, 502),
    (errors.ProviderError, 502),
    (errors.FetchFailed, 502),
    (errors.StoreError, 503),
)
_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    429: "rate_limit_error",
}

_ANTHROPIC_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def status_of(error: HoldfastError) -> int:
    if isinstance(error, errors.KeyRefused):
        # Our key, not the client's: with the status of the upstream a client would ask its user to sign in.
        return 502
    if isinstance(error, errors.UpstreamError):
        return error.status
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def passed_on(error: HoldfastError) -> Mapping[str, Any]:
    """Return the body of an upstream's error, for a client of the same protocol; empty for other errors."""
    if isinstance(error, errors.UpstreamError) and not isinstance(error, errors.KeyRefused):
        return error.body or {}
    return {}


def ollama_error(error: HoldfastError) -> tuple[int, dict[str, Any]]:
    if isinstance((body := passed_on(error)).get("error"), str):
        return status_of(error), dict(body)
    if isinstance(error, errors.ModelMissing):
        # Clients look for these words to offer pulling the model.
        missing = HoldfastError(f'model "{error.model}" not found, try pulling it first', hint=error.hint)
        return 404, {"error": str(missing)}
    code = {"code": "upstream_key"} if isinstance(error, errors.KeyRefused) else {}
    return status_of(error), {"error": str(error), **code}


def openai_error(error: HoldfastError) -> tuple[int, dict[str, Any]]:
    if isinstance((body := passed_on(error)).get("error"), dict):
        return status_of(error), dict(body)
    status = status_of(error)
    return status, {
        "error": {
            "message": str(error),
            "type": _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error"),
            "param": getattr(error, "param", None),
            "code": _code_of(error),
        }
    }


def anthropic_error(error: HoldfastError) -> tuple[int, dict[str, Any]]:
    """Return Anthropic's format; agents shorten their history when told that the prompt is too long."""
    status = status_of(error)
    message = f"prompt is too long: {error}" if isinstance(error, errors.Overflow) else str(error)
    kind = _ANTHROPIC_TYPES.get(status, "invalid_request_error" if status < 500 else "api_error")
    return status, {"type": "error", "error": {"type": kind, "message": message}}


def _code_of(error: HoldfastError) -> str | None:
    match error:
        case errors.Overflow():
            return "context_length_exceeded"
        case errors.ModelMissing():
            return "model_not_found"
        case errors.KeyRefused():
            return "upstream_key"
        case errors.Unauthorized():
            return "invalid_api_key"
        case errors.BadRequest():
            return error.code
        case _:
            return None
