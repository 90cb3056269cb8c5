"""Everything that can go wrong, as one small tree. Each error says what happened and what to do next.

    HoldfastError
    ├── BadRequest               the client sent something that makes no sense
    │   ├── TooLarge             … more of it than the server accepts
    │   ├── Unauthorized         … without the key this address needs
    │   ├── Forbidden            … with a key that does not reach so far
    │   └── TooMany              … more often than it may; says when it may again
    ├── NotFound                 a conversation, message or model that is not there
    │   └── ModelMissing
    ├── Conflict                 the conversation moved on meanwhile
    ├── ConfigError              a setting that cannot be used
    ├── StoreError               the database cannot be opened, read or written
    │   └── MigrationFailed
    ├── EmbedderError            texts could not be turned into vectors; search goes on by words
    ├── VectorsError             vectors could not be compared where they should be; search goes on without
    ├── FetchFailed              something to be downloaded did not come, or was not what it should be
    └── ProviderError            the model server
        ├── Unreachable          … does not answer
        ├── Overflow             … says that the request does not fit its window
        ├── CutOff               … stopped in the middle of an answer
        └── UpstreamError        … answered with an error of its own
            └── KeyRefused       … does not accept the key that Holdfast has for it

Endpoints turn these into what a client of their protocol expects; nothing below an endpoint knows our HTTP
status codes, only those that an upstream returned.
"""

import errno
from collections.abc import Mapping
from typing import Any

from holdfast.i18n import Language, LazyText, in_language, lazy

# What the operating system says in English whatever the reader's language is.
_OS_ERRORS = {
    errno.ENOENT: lazy("there is no such file or folder"),
    errno.EACCES: lazy("permission denied"),
    errno.EPERM: lazy("permission denied"),
    errno.EEXIST: lazy("it is there already"),
    errno.EISDIR: lazy("it is a folder"),
    errno.ENOTDIR: lazy("a part of the path is no folder"),
    errno.ENAMETOOLONG: lazy("the name is too long"),
    errno.ENOSPC: lazy("the disk is full"),
    errno.EROFS: lazy("it cannot be written to: the disk is read-only"),
    errno.EMFILE: lazy("too many files are open"),
    errno.EADDRINUSE: lazy("the address is in use already"),
    errno.EADDRNOTAVAIL: lazy("this machine does not have that address"),
    errno.ECONNREFUSED: lazy("nothing listens there"),
}


def explain_os_error(error: OSError) -> str:
    """Return why the operating system refused, translatable where it is one of the usual reasons."""
    return _OS_ERRORS.get(error.errno or 0) or error.strerror or str(error)


class ErrorText(LazyText):
    """The message of an error and its hint, as two sentences."""

    __slots__ = ("hint", "message")

    message: str
    hint: str

    def __new__(cls, message: str, hint: str) -> "ErrorText":
        text = super().__new__(cls, _sentences(message, hint), {})
        text.message, text.hint = message, hint
        return text

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.message, self.hint

    def in_language(self, language: Language) -> str:
        return _sentences(in_language(self.message, language), in_language(self.hint, language))


def _sentences(message: str, hint: str) -> str:
    if not hint:
        return message
    end = "" if message.endswith((".", "!", "?", ":", ")")) else "."
    return f"{message}{end} {hint}"


class HoldfastError(Exception):
    """Base of all errors. `hint` is the next step for the person who reads it.

    The text of an error is English for programs; `translate` gives it in the language of a reader, if its
    sentences are lazy.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return ErrorText(self.message, self.hint)


class BadRequest(HoldfastError):
    """`param` and `code` are what OpenAI's error shape has places for."""

    def __init__(
        self, message: str, *, hint: str = "", param: str | None = None, code: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.param = param
        self.code = code


class TooLarge(BadRequest):
    pass


class Unauthorized(BadRequest):
    pass


class Forbidden(BadRequest):
    pass


class TooMany(BadRequest):
    """`retry_after` is in seconds."""

    def __init__(self, message: str, *, retry_after: float, hint: str = "") -> None:
        super().__init__(message, hint=hint, code="rate_limit_exceeded")
        self.retry_after = retry_after


class NotFound(HoldfastError):
    pass


class ModelMissing(NotFound):
    def __init__(self, model: str, *, hint: str = "") -> None:
        super().__init__(lazy("model '{model}' not found", model=model), hint=hint)
        self.model = model


class Conflict(HoldfastError):
    pass


class ConfigError(HoldfastError):
    pass


class StoreError(HoldfastError):
    pass


class MigrationFailed(StoreError):
    pass


class EmbedderError(HoldfastError):
    pass


class VectorsError(HoldfastError):
    pass


class Stopped(HoldfastError):
    """Holdfast itself ends, and takes up nothing new."""


class FetchFailed(HoldfastError):
    pass


class ProviderError(HoldfastError):
    pass


class Unreachable(ProviderError):
    pass


class Overflow(ProviderError):
    """The request is larger than the window. The numbers are the server's, None where it gave none."""

    def __init__(
        self, message: str, *, hint: str = "", prompt_tokens: int | None = None, window: int | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.prompt_tokens = prompt_tokens
        self.window = window


class CutOff(ProviderError):
    pass


class UpstreamError(ProviderError):
    """The server refused. Its status and body are kept, so an endpoint of the same dialect can pass them on.

    `retry_after` are the seconds after which it wants to be asked again, None if it did not say.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        body: Mapping[str, Any] | None = None,
        hint: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.body = body
        self.retry_after = retry_after


class KeyRefused(UpstreamError):
    """The server did not accept the key of the settings; nothing is wrong with the client's own key."""
