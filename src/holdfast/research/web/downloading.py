"""One request to a server of the web, with every limit there is, and only where the guard lets it go.

The guard stands where sockets are made, so it sees the number that is really connected to: whatever a name
meant a moment ago, or means for somebody else, does not matter. Follows no redirects, keeps no cookies.
"""

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from holdfast import __version__
from holdfast.errors import FetchFailed
from holdfast.i18n import say
from holdfast.research.web import bodies
from holdfast.research.web.addresses import AddressGuard

ROBOT = "holdfast"
AGENT = f"Holdfast/{__version__} (for one person, who asked for this page)"

_REDIRECTS = (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True)
class DownloadLimits:
    """Bytes of a page and of a document; seconds in all, until connected, without a byte; redirects."""

    size: int = 2_000_000
    document: int = 10_000_000
    whole: float = 20.0
    connect: float = 5.0
    silence: float = 10.0
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class Download:
    """What a server said. The body is there only if it said yes; `location` is where it sends us instead."""

    status: int
    content_type: str = ""
    charset: str = ""
    body: bytes = b""
    location: str = ""


# How many bytes of this type of content may be read; raises FetchFailed for what is not wanted.
SizeLimit = Callable[[str], int]


class _ConnectionBlocked(OSError):
    """The guard did not let a connection be made."""

    def __init__(self) -> None:
        super().__init__("not let through")


class Downloader:
    """`resolver` finds the numbers of names, by default as the system does."""

    def __init__(
        self,
        guard: AddressGuard,
        limits: DownloadLimits,
        *,
        agent: str = AGENT,
        resolver: AbstractResolver | None = None,
    ) -> None:
        self._guard = guard
        self._limits = limits
        self._headers = {"user-agent": agent, "accept-encoding": bodies.ENCODINGS}
        self._resolver = resolver
        self._opened: aiohttp.ClientSession | None = None

    async def aclose(self) -> None:
        if self._opened is not None:
            await self._opened.close()

    async def get(self, url: URL, room: SizeLimit, *, accept: str = "*/*", languages: str = "") -> Download:
        """The answer to one request, or FetchFailed."""
        headers = {"accept": accept, **({"accept-language": languages} if languages else {})}
        try:
            async with self._session.get(url, headers=headers, allow_redirects=False) as response:
                return await self._read(response, room)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # ValueError: a name that DNS cannot take, such as one with a label of a hundred letters.
            raise self._failure(error, url) from error

    async def _read(self, response: aiohttp.ClientResponse, room: SizeLimit) -> Download:
        location = response.headers.get("location", "")
        if response.status in _REDIRECTS and location:
            return Download(response.status, location=location)
        if not 200 <= response.status < 300:
            return Download(response.status)
        content_type, _, parameters = response.headers.get("content-type", "").partition(";")
        content_type = content_type.strip().lower()
        limit = room(content_type)
        if (response.content_length or 0) > limit:
            raise bodies.too_large_error(limit)
        encoding = response.headers.get("content-encoding", "")
        body = await bodies.read_body(response.content.iter_any(), encoding, limit)
        return Download(response.status, content_type, _read_charset(parameters), body)

    @property
    def _session(self) -> aiohttp.ClientSession:
        """Opened when it is first needed: it belongs to the event loop that runs then."""
        if self._opened is None:
            limits = self._limits
            self._opened = aiohttp.ClientSession(
                headers=self._headers,
                connector=aiohttp.TCPConnector(
                    limit=0,
                    use_dns_cache=False,
                    resolver=self._resolver,
                    socket_factory=self._socket,
                    keepalive_timeout=5.0,
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(
                    total=limits.whole, connect=limits.connect, sock_read=limits.silence
                ),
                auto_decompress=False,
            )
        return self._opened

    def _socket(self, place: aiohttp.AddrInfoType) -> socket.socket:
        family, kind, protocol, _, number = place
        host, port = str(number[0]), int(number[1])
        if not self._guard.lets_pass(host, port):
            raise _ConnectionBlocked
        return socket.socket(family=family, type=kind, proto=protocol)

    def _failure(self, error: Exception, url: URL) -> FetchFailed:
        host = url.host or ""
        match error:
            case aiohttp.ClientConnectorDNSError() | UnicodeError():
                return FetchFailed(
                    say(f"there is no server called {host}", f"es gibt keinen Server namens {host}")
                )
            case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
                return FetchFailed(
                    say(
                        f"the certificate of {host} cannot be trusted",
                        f"dem Zertifikat von {host} ist nicht zu trauen",
                    )
                )
            case aiohttp.ClientConnectorError() if isinstance(error.os_error, _ConnectionBlocked):
                return _private_network_error(host)
            case aiohttp.ClientConnectorError() | aiohttp.ConnectionTimeoutError():
                return FetchFailed(say(f"{host} does not answer", f"{host} antwortet nicht"))
            case asyncio.TimeoutError():
                return FetchFailed(say(f"{host} was silent for too long", f"{host} schwieg zu lange"))
            case aiohttp.ServerDisconnectedError():
                return FetchFailed(say(f"{host} hung up without an answer", f"{host} legte ohne Antwort auf"))
            case aiohttp.ClientPayloadError() | ConnectionError() | aiohttp.ClientOSError():
                return bodies.broken_off_error()
            case _:
                return FetchFailed(
                    say(
                        f"{host} answers with something that is no HTTP",
                        f"{host} antwortet mit etwas, das kein HTTP ist",
                    )
                )


def _private_network_error(host: str) -> FetchFailed:
    return FetchFailed(
        say(
            f"{host} is on this machine or in a private network",
            f"{host} ist auf diesem Rechner oder in einem privaten Netz",
        ),
        hint=say(
            "The setting research_private allows single addresses or networks.",
            "Die Einstellung research_private erlaubt einzelne Adressen oder Netze.",
        ),
    )


def _read_charset(parameters: str) -> str:
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'")
    return ""
