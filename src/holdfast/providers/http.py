"""One model server over HTTP: when to wait, when to try again, and what its failures mean.

Knows no endpoint and no dialect. Bodies and keys are never logged.
"""

import asyncio
import random
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx

from holdfast.dialects.wire import parse_json
from holdfast.errors import BadRequest, ConfigError, CutOff, Unreachable
from holdfast.messages import canonical
from holdfast.providers.base import Forwarded
from holdfast.providers.refusals import garbled, refusal

# Answers that mean "not now": the same request may well succeed a moment later.
_BUSY = (502, 503, 504)
_TOO_MANY = 429

# These belong to one connection or to the one who asked, not to the request that is passed on. Keys are
# among them: the client's key is for Holdfast, and the server has its own.
_NOT_FORWARDED = frozenset(
    {
        "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te",
        "trailer", "transfer-encoding", "upgrade", "host", "content-length", "expect",
        "authorization", "x-api-key", "cookie", "set-cookie",
    }
)  # fmt: skip

_ERROR_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds to wait for what, and how often to try.

    A generation has no limit as a whole, only on silence: a long prompt on a slow machine says nothing for
    minutes and is still at work.
    """

    connect: float = 5.0
    answer: float = 30.0
    stall: float = 300.0
    tries: int = 3
    pause: float = 0.25
    longest_pause: float = 5.0


@dataclass(frozen=True, slots=True)
class Incoming:
    """A response whose body is still on its way."""

    content_type: str
    stream: AsyncIterator[bytes]


def shown(url: str) -> str:
    """The address without user and password."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


class Connection:
    """Sends requests to one server. Errors call it by its `label`, by default its address without password.

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
        self.location = label or shown(self.url)
        self._patience = patience or Patience()
        self._sleep = sleep
        own = {**(headers or {}), **({"authorization": f"Bearer {key}"} if key else {})}
        for name, value in own.items():
            if not (value.isascii() and value.isprintable()):
                raise ConfigError(
                    f"the key or header '{name}' for {self.location} has characters that HTTP cannot carry.",
                    hint="Look for a line break or a special character in it.",
                )
        self._client = httpx.AsyncClient(
            headers=own,
            trust_env=False,
            timeout=self._timeout(self._patience.answer),
            # llama.cpp hangs up after five idle seconds: a connection that old is not worth the risk.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=4.0),
        )

    async def aclose(self) -> None:
        await self._client.aclose()

    async def get(self, path: str) -> Any:
        return await self._json("GET", path, None, self._patience.answer, "")

    async def post(self, path: str, body: Any, *, model: str = "") -> Any:
        """Posts something that may be repeated: a question about a model, texts to embed."""
        return await self._json("POST", path, body, self._patience.stall, model)

    @asynccontextmanager
    async def stream(self, path: str, body: Any, *, model: str) -> AsyncIterator[Incoming]:
        """Posts a chat. Leaving the context hangs up, and by that the server notices that nobody listens."""

        def build() -> httpx.Request:
            # Compressed streams arrive in lumps.
            return self._request("POST", path, body, self._patience.stall, {"accept-encoding": "identity"})

        response = await self._send(build, repeatable=True)
        try:
            await self._raise_for_status(response, model)
            yield Incoming(
                response.headers.get("content-type", "").partition(";")[0].strip().lower(),
                self._bytes(response, raw=False),
            )
        finally:
            await response.aclose()

    async def forward(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | AsyncIterable[bytes] = b""
    ) -> Forwarded:
        kept = httpx.Headers({"accept-encoding": "identity"})
        kept.update({name: value for name, value in headers.items() if _forwarded(name)})

        def build() -> httpx.Request:
            return self._client.build_request(
                method,
                self.url + path,
                headers=kept,
                content=body or None,
                timeout=self._timeout(self._patience.stall),
            )

        response = await self._send(build, repeatable=False, resend=isinstance(body, bytes))
        answered = [(name, value) for name, value in response.headers.multi_items() if _forwarded(name)]
        return Forwarded(
            response.status_code, answered, self._bytes(response, raw=True), close=response.aclose
        )

    def _request(
        self, method: str, path: str, body: Any, read: float, headers: Mapping[str, str] | None = None
    ) -> httpx.Request:
        content = None if body is None else canonical(body).encode()
        json_type = {} if content is None else {"content-type": "application/json"}
        return self._client.build_request(
            method,
            self.url + path,
            content=content,
            headers={**json_type, **(headers or {})},
            timeout=self._timeout(read),
        )

    def _timeout(self, read: float) -> httpx.Timeout:
        return httpx.Timeout(connect=self._patience.connect, read=read, write=read, pool=None)

    async def _json(self, method: str, path: str, body: Any, read: float, model: str) -> Any:
        response = await self._send(lambda: self._request(method, path, body, read), repeatable=True)
        try:
            await self._raise_for_status(response, model)
            content = b"".join([data async for data in self._bytes(response, raw=False)])
        finally:
            await response.aclose()
        try:
            value = parse_json(content)
        except BadRequest:
            raise garbled(self.location) from None
        if isinstance(value, dict) and value.keys() == {"error"}:
            # LM Studio says 200 to paths it does not have, and the error in the body.
            raise refusal(404, content, where=self.location)
        return value

    async def _raise_for_status(self, response: httpx.Response, model: str) -> None:
        if response.is_success:
            return
        content = b""
        async for data in self._bytes(response, raw=False):
            content += data
            if len(content) > _ERROR_BYTES:
                break
        raise refusal(response.status_code, content, model=model, where=self.location)

    async def _send(
        self, build: Callable[[], httpx.Request], *, repeatable: bool, resend: bool = True
    ) -> httpx.Response:
        """The response with its headers read, after as many tries as are safe.

        A connection that was never made may be tried again if the body can be sent anew (`resend`); after
        that, only requests that change nothing on the server are `repeatable`.
        """
        tries = self._patience.tries
        for attempt in range(1, tries + 1):
            last = attempt == tries
            wait = self._pause(attempt)
            try:
                response = await self._client.send(build(), stream=True)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                if last or not resend:
                    raise self._unreachable(error) from error
            except (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError) as error:
                if last or not repeatable:
                    raise self._unreachable(error) from error
            except (httpx.TransportError, httpx.InvalidURL) as error:
                raise self._unreachable(error) from error
            else:
                asked = self._asked_to_wait(response, wait)
                if last or not repeatable or asked is None:
                    return response
                await response.aclose()
                wait = asked
            await self._sleep(wait)
        raise AssertionError("the last try returns or raises")

    def _pause(self, attempt: int) -> float:
        """Doubles from try to try; the jitter keeps many waiting clients from coming back together."""
        longest: float = min(self._patience.pause * 2 ** (attempt - 1), self._patience.longest_pause)
        return longest * random.uniform(0.5, 1.0)  # noqa: S311 (nothing secret in it)

    def _asked_to_wait(self, response: httpx.Response, pause: float) -> float | None:
        """The seconds until another try makes sense, None if it makes none."""
        after = response.headers.get("retry-after", "")
        seconds = float(after) if after.isdecimal() else None
        if response.status_code == _TOO_MANY:
            # Without a word on when, too many stays too many.
            return seconds if seconds is not None and seconds <= self._patience.longest_pause else None
        if response.status_code in _BUSY:
            return min(seconds or pause, self._patience.longest_pause)
        return None

    async def _bytes(self, response: httpx.Response, *, raw: bool) -> AsyncIterator[bytes]:
        try:
            async for data in response.aiter_raw() if raw else response.aiter_bytes():
                yield data
        except httpx.ReadTimeout as error:
            raise CutOff(
                f"{self.location} stopped sending: silent for too long.",
                hint="Raise the stall timeout if the machine is just slow.",
            ) from error
        except httpx.HTTPError as error:
            raise CutOff(
                f"the connection to {self.location} broke in the middle of an answer.",
                hint="Look at the model server's log; it may have run out of memory.",
            ) from error
        finally:
            await response.aclose()

    def _unreachable(self, error: Exception) -> Unreachable:
        match error:
            case httpx.InvalidURL() | httpx.UnsupportedProtocol():
                return Unreachable(
                    f"{self.location} is no address of a server.",
                    hint="Write it like http://127.0.0.1:11434.",
                )
            case httpx.ConnectError() if "CERTIFICATE" in str(error):
                return Unreachable(
                    f"the certificate of {self.location} cannot be trusted.",
                    hint="Check the address, and the server's certificate.",
                )
            case httpx.ConnectError() | httpx.ConnectTimeout():
                return Unreachable(
                    f"no model server answers at {self.location}.", hint="Start it, or check the address."
                )
            case httpx.TimeoutException():
                return Unreachable(
                    f"{self.location} accepted the request and stayed silent for too long.",
                    hint="Look at the model server's log, or raise the stall timeout if it is just slow.",
                )
            case _:
                return Unreachable(
                    f"{self.location} hung up without an answer.", hint="Look at the model server's log."
                )


def _forwarded(name: str) -> bool:
    return name.lower() not in _NOT_FORWARDED and not name.lower().startswith("x-holdfast")
