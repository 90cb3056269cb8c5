"""HTTP connection to one model server: timeouts, retries, and errors. Bodies and keys are never logged."""

import asyncio
import random
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import aiohttp
from yarl import URL

from holdfast.errors import BadRequest, ConfigError, CutOff, Unreachable
from holdfast.i18n import lazy
from holdfast.messages import canonical
from holdfast.protocols.wire import parse_json
from holdfast.upstreams.base import ForwardedResponse, error_from_response, unreadable_response

# Statuses after which the same request may succeed a moment later.
_BUSY = (502, 503, 504)
_TOO_MANY = 429

# Headers of a connection or of the client, not of the forwarded request. Keys are among them: the client's
# key is for Holdfast, and the server has its own.
_NOT_FORWARDED = frozenset(
    {
        "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te",
        "trailer", "transfer-encoding", "upgrade", "host", "content-length", "expect",
        "authorization", "x-api-key", "cookie", "set-cookie",
    }
)  # fmt: skip

# Paths of requests that change nothing on the server, so they may be repeated after it closed the connection
# without an answer (a restart, or an idle connection).
_REPEATABLE_PATHS = (
    "/chat", "/generate", "/embed", "/embeddings", "/show", "/chat/completions", "/completions", "/responses",
    "/messages",
)  # fmt: skip

_ERROR_BYTES = 64 * 1024
# Seconds between checks whether the connection to a silent server is still open.
_LOOK_EVERY = 2.0
# Larger bodies are sent in pieces, so that they do not block the event loop.
_LARGE_BODY = 500_000


@dataclass(frozen=True, slots=True)
class Patience:
    """Timeouts in seconds, and how often to try.

    A generation has no total limit, only one on silence: a long prompt on a slow machine takes minutes before
    the first token.
    """

    connect: float = 5.0
    answer: float = 30.0
    stall: float = 300.0
    tries: int = 3
    pause: float = 0.25
    longest_pause: float = 5.0
    # The largest answer, in bytes as they are sent.
    largest: int = 32_000_000


@dataclass(frozen=True, slots=True)
class UpstreamResponse:
    """A response whose body is still being received."""

    content_type: str
    stream: AsyncIterator[bytes]


@dataclass(frozen=True, slots=True)
class _Request:
    """One request; `read` is how many seconds the server may be silent."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes | AsyncIterable[bytes] | None
    read: float


def redact_url(url: str) -> str:
    """Returns the URL without user and password."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


# The longest wait that a server can ask for, in seconds: a client that believes more never comes back.
_LONGEST_WAIT = 3_600.0


def parse_retry_after(retry_after: str) -> float | None:
    """Returns the seconds to wait by a `Retry-After` header (seconds or a date), None if it is invalid."""
    if retry_after.isascii() and retry_after.isdecimal():
        return min(_LONGEST_WAIT, float(retry_after))
    try:
        date = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    # Dates in headers are GMT.
    aware = date if date.tzinfo else date.replace(tzinfo=UTC)
    return min(_LONGEST_WAIT, max(0.0, (aware - datetime.now(UTC)).total_seconds()))


def _cap_wait(retry_after: str) -> str:
    wait = parse_retry_after(retry_after)
    return retry_after if wait is None or wait < _LONGEST_WAIT else f"{_LONGEST_WAIT:.0f}"


class Connection:
    """Sends requests to one server. Errors name it by `label`, by default its address without password.

    `sleep` waits between two tries.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str = "",
        headers: Mapping[str, str] | None = None,
        patience: Patience | None = None,
        label: str = "",
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.url = url.rstrip("/")
        self.location = label or redact_url(self.url)
        self._patience = patience or Patience()
        self._sleep = sleep
        own = {**(headers or {}), **({"authorization": f"Bearer {key}"} if key else {})}
        for name, value in own.items():
            if not (value.isascii() and value.isprintable()):
                raise ConfigError(
                    lazy(
                        "the key or header '{name}' for {location} has characters that HTTP cannot carry.",
                        name=name,
                        location=self.location,
                    ),
                    hint=lazy("Look for a line break or a special character in it."),
                )
        self._headers = own
        self._opened: aiohttp.ClientSession | None = None

    async def aclose(self) -> None:
        if self._opened is not None:
            await self._opened.close()

    @property
    def _session(self) -> aiohttp.ClientSession:
        """The session; opened on first use, because it belongs to the running event loop."""
        if self._opened is None:
            self._opened = aiohttp.ClientSession(
                headers=self._headers,
                # llama.cpp closes connections after five idle seconds.
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=4.0),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._opened

    async def get(self, path: str) -> Any:
        return await self._json(_Request("GET", path, {}, None, self._patience.answer), "")

    async def post(self, path: str, body: Any, *, model: str = "") -> Any:
        """Posts a request that may be repeated: a question about a model, texts to embed."""
        return await self._json(self._posting(path, body, self._patience.stall), model)

    @asynccontextmanager
    async def stream(self, path: str, body: Any, *, model: str) -> AsyncIterator[UpstreamResponse]:
        """Posts a chat. Leaving the context closes the connection, which makes the server stop."""
        response = await self._send(self._posting(path, body, self._patience.stall), repeatable=True)
        try:
            await self._raise_for_status(response, model)
            content_type = response.headers.get("content-type", "")
            stream = self._bytes(response, self._patience.largest)
            yield UpstreamResponse(content_type.partition(";")[0].strip().lower(), stream)
        finally:
            response.close()

    async def forward(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | AsyncIterable[bytes] = b""
    ) -> ForwardedResponse:
        """Forwards a request with the headers that may be forwarded, and returns the response."""
        forwarded = {name: value for name, value in headers.items() if _is_forwarded_header(name)}
        resend = isinstance(body, bytes)
        request = _Request(method, path, forwarded, body or None, self._patience.stall)
        repeatable = resend and (
            method in ("GET", "HEAD") or path.partition("?")[0].endswith(_REPEATABLE_PATHS)
        )
        response = await self._send(request, repeatable=repeatable, resend=resend, passes_on=True)
        answered = [
            (name.lower(), _cap_wait(value) if name.lower() == "retry-after" else value)
            for name, value in response.headers.items()
            if _is_returned_header(name)
        ]

        async def close() -> None:
            response.close()

        return ForwardedResponse(response.status, answered, self._bytes(response), close=close)

    def _posting(self, path: str, body: Any, read: float) -> "_Request":
        content = canonical(body).encode()
        return _Request("POST", path, {"content-type": "application/json"}, content, read)

    async def _json(self, request: "_Request", model: str) -> Any:
        response = await self._send(request, repeatable=True)
        try:
            await self._raise_for_status(response, model)
            content = b"".join([data async for data in self._bytes(response, self._patience.largest)])
        finally:
            response.close()
        try:
            value = parse_json(content)
        except BadRequest:
            raise unreadable_response(self.location) from None
        if isinstance(value, dict) and value.keys() == {"error"}:
            # LM Studio answers unknown paths with 200 and an error in the body.
            raise error_from_response(404, content, where=self.location)
        return value

    async def _raise_for_status(self, response: aiohttp.ClientResponse, model: str) -> None:
        if 200 <= response.status < 300:
            return
        content = b""
        async for data in self._bytes(response):
            content += data
            if len(content) > _ERROR_BYTES:
                break
        raise error_from_response(
            response.status,
            content,
            model=model,
            where=self.location,
            retry_after=parse_retry_after(response.headers.get("retry-after", "")),
        )

    async def _send(
        self,
        request: "_Request",
        *,
        repeatable: bool,
        resend: bool = True,
        passes_on: bool = False,
    ) -> aiohttp.ClientResponse:
        """Returns the response with its headers read, after as many tries as are safe.

        A failed connection may be tried again if the body can be sent again (`resend`); once the request was
        sent, only if it changes nothing on the server (`repeatable`). With `passes_on`, the response is
        returned whatever its status.
        """
        tries = self._patience.tries
        for attempt in range(1, tries + 1):
            last = attempt == tries
            delay: float | None = None
            try:
                response = await self._start(request)
            except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
                if last or not resend:
                    raise self._unreachable(error) from error
            except (aiohttp.ServerTimeoutError, aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError) as error:
                raise self._unreachable(error) from error
            except (aiohttp.ClientError, OSError) as error:
                if last or not repeatable:
                    raise self._unreachable(error) from error
            else:
                if last or not repeatable or passes_on or response.status not in (*_BUSY, _TOO_MANY):
                    return response
                delay = parse_retry_after(response.headers.get("retry-after", ""))
                # Without `Retry-After`, another try after too many makes no sense.
                without = delay is None and response.status == _TOO_MANY
                if without or (delay or 0) > self._patience.longest_pause:
                    return response
                response.close()
            await self._sleep(delay or self._pause(attempt))
        raise AssertionError("the last try returns or raises")

    async def _start(self, request: "_Request") -> aiohttp.ClientResponse:
        timeout = aiohttp.ClientTimeout(sock_connect=self._patience.connect, sock_read=request.read)
        body = request.body
        return await self._session.request(
            request.method,
            # Not decoded: an escaped slash in a model's name must stay escaped.
            URL(self.url + request.path, encoded=True),
            # Compressed streams would arrive in large blocks.
            headers={"accept-encoding": "identity", **request.headers},
            data=BytesIO(body) if isinstance(body, bytes) and len(body) > _LARGE_BODY else body,
            timeout=timeout,
            allow_redirects=False,
        )

    def _pause(self, attempt: int) -> float:
        """Returns the pause after a try: it doubles each time, with jitter so that clients spread out."""
        longest: float = min(self._patience.pause * 2 ** (attempt - 1), self._patience.longest_pause)
        return longest * random.uniform(0.5, 1.0)  # noqa: S311 (nothing secret in it)

    async def _bytes(
        self, response: aiohttp.ClientResponse, largest: int | None = None
    ) -> AsyncIterator[bytes]:
        """Yields the data of a response; raises CutOff if it breaks off, or has more bytes than `largest`."""
        received = 0
        try:
            while data := await read_next(response):
                received += len(data)
                if largest is not None and received > largest:
                    raise CutOff(
                        lazy(
                            "{location} sent an answer of more than {number} MB.",
                            location=self.location,
                            number=largest // 1_000_000,
                        ),
                        hint=lazy("Limit the length of answers (max_tokens), or raise max_answer_mb."),
                    )
                yield data
        except aiohttp.ServerTimeoutError as error:
            raise CutOff(
                lazy("{location} stopped sending: silent for too long.", location=self.location),
                hint=lazy("Raise the stall timeout if the machine is just slow."),
            ) from error
        except (aiohttp.ClientError, OSError, RuntimeError) as error:
            # aiohttp raises RuntimeError where a connection is closed between two reads. Data that was
            # received before the failure may still be in the buffer.
            response.content.set_exception(None)  # type: ignore[arg-type]
            if buffered := response.content.read_nowait():
                yield buffered
            raise CutOff(
                lazy(
                    "the connection to {location} broke in the middle of an answer.", location=self.location
                ),
                hint=lazy("Look at the model server's log; it may have run out of memory."),
            ) from error
        finally:
            response.close()

    def _unreachable(self, error: Exception) -> Unreachable:
        match error:
            case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError():
                return Unreachable(
                    lazy("{location} is no address of a server.", location=self.location),
                    hint=lazy("Write it like http://127.0.0.1:11434."),
                )
            case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
                return Unreachable(
                    lazy("the certificate of {location} cannot be trusted.", location=self.location),
                    hint=lazy("Check the address, and the server's certificate."),
                )
            case aiohttp.ClientConnectorError() | aiohttp.ConnectionTimeoutError():
                return Unreachable(
                    lazy("no model server answers at {location}.", location=self.location),
                    hint=lazy("Start it, or check the address."),
                )
            case aiohttp.ServerTimeoutError():
                return Unreachable(
                    lazy(
                        "{location} accepted the request and stayed silent for too long.",
                        location=self.location,
                    ),
                    hint=lazy(
                        "Look at the model server's log, or raise the stall timeout if it is just slow."
                    ),
                )
            case _:
                return Unreachable(
                    lazy("{location} hung up without an answer.", location=self.location),
                    hint=lazy("Look at the model server's log."),
                )


async def read_next(response: aiohttp.ClientResponse) -> bytes:
    """Returns the next data, empty at the end. Polls: aiohttp does not always report a lost connection."""
    while True:
        waiting = asyncio.timeout(_LOOK_EVERY)
        try:
            async with waiting:
                return await response.content.readany()
        except TimeoutError:
            connection = response.connection
            transport = connection.transport if connection is not None else None
            if not waiting.expired() or transport is None or transport.is_closing():
                raise


def _is_returned_header(name: str) -> bool:
    """Whether a response header is returned: not encoding (bodies are decompressed) and CORS headers."""
    own = name.lower() == "content-encoding" or name.lower().startswith("access-control-")
    return _is_forwarded_header(name) and not own


def _is_forwarded_header(name: str) -> bool:
    return name.lower() not in _NOT_FORWARDED and not name.lower().startswith("x-holdfast")
