"""Fetches pages: guarded, limited and polite. Whatever goes wrong is named in the source.

The guard checks each socket, so it sees the address that is really connected to. Bodies are unpacked only up
to the limit, since a few thousand bytes can stand for gigabytes. One request at a time goes to a site, a few
sites at once, and only for what robots.txt allows; every redirect is checked like any other address.
"""

import asyncio
import re
import socket
import time
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from types import TracebackType
from typing import Self
from urllib.parse import unquote
from weakref import WeakValueDictionary

import aiohttp
from aiohttp.abc import AbstractResolver
from protego import Protego
from yarl import URL

from holdfast import __version__
from holdfast.errors import ConfigError, FetchFailed
from holdfast.i18n import gettext as _
from holdfast.i18n import lazy
from holdfast.research.extract import ContentKind, decode_page, extract_text
from holdfast.research.finding import ResearchSource

_Number = IPv4Address | IPv6Address
_Network = IPv4Network | IPv6Network
# A network, and the one port in it that is meant; 0 for all of them.
_AllowedNetwork = tuple[_Network, int]

# IPv4 that is not the public web: what the registry of special addresses lists, multicast, the future, and
# one address that looks public but is the host of a virtual machine in a large cloud. The lists of Python's
# own `ipaddress` change from version to version.
_SPECIAL = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
        "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
    )
)  # fmt: skip
# Of IPv6 only this is handed out to the public web, except what tunnels, tests and examples use.
_PUBLIC_V6 = IPv6Network("2000::/3")
_SPECIAL_V6 = tuple(
    IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)
# A translator makes IPv4 of the last four bytes.
_TRANSLATED = IPv6Network("64:ff9b::/96")
_EVERYWHERE: tuple[_AllowedNetwork, ...] = ((IPv4Network("0.0.0.0/0"), 0), (IPv6Network("::/0"), 0))

_ODD = re.compile(r"[\x00-\x20\x7f\\]")
_NUMERIC = re.compile(r"(?:\d+|0x[0-9a-f]*)", re.IGNORECASE)
_PORT = re.compile(r"(?P<host>\[[^\]]*\]|[^:\[\]]+):(?P<port>\d{1,5})")


@dataclass(frozen=True, slots=True)
class AddressGuard:
    """`private` are the networks outside the public web that may be reached; `own_port` never may."""

    private: tuple[_AllowedNetwork, ...] = ()
    own_port: int = 0

    @classmethod
    def from_setting(cls, text: str, *, own_port: int = 0) -> "AddressGuard":
        """Read the setting: `off`, `on`, or places like `192.168.1.0/24, 10.0.0.5:8080, [::1]:8080`."""
        word = text.strip().lower()
        if word in ("", "off"):
            return cls(own_port=own_port)
        if word == "on":
            return cls(_EVERYWHERE, own_port)
        places = tuple(parse_network(part.strip()) for part in text.split(",") if part.strip())
        return cls(places, own_port)

    @classmethod
    def allow_all(cls) -> "AddressGuard":
        """Return a guard for a server that the user configured."""
        return cls(_EVERYWHERE)

    def allows(self, host: str, port: int) -> bool:
        """Whether a connection may be made to this IP address."""
        try:
            number = unwrap_ipv4(ip_address(host))
        except ValueError:
            return False
        if is_public(number):
            return True
        if self.own_port and port == self.own_port:
            return False
        return any(number in network and wanted in (0, port) for network, wanted in self.private)


def parse_url(text: str) -> URL:
    """Parse an address of any kind; ValueError if it is none."""
    try:
        return URL(text)
    except (TypeError, IndexError) as error:
        # Brackets before an @ are too much for the library.
        raise ValueError(text) from error


def parse_address(text: str) -> URL:
    """Normalise a web address; FetchFailed says what is wrong with it."""
    text = text.strip()
    if _ODD.search(text):
        raise bad_address_error(_("it has characters that no address has"))
    try:
        url = parse_url(text)
        # Reading these is what finds bad ports and hosts.
        host, port, user, password = url.raw_host, url.port, url.user, url.password
    except ValueError:
        raise bad_address_error(_("it cannot be read")) from None
    if url.scheme not in ("http", "https"):
        raise bad_address_error(_("only http and https are fetched"))
    if user is not None or password is not None:
        raise bad_address_error(_("it has a user or a password in it"))
    if not host or not port or "%" in host:
        raise bad_address_error(_("it names no server"))
    if is_odd_number(host):
        raise bad_address_error(_("its server is a number in an odd spelling"))
    return url.with_fragment(None) if url.fragment else url


def host_name(url: URL) -> str:
    """Return the server's name without a trailing dot."""
    return (url.raw_host or "").rstrip(".").lower()


def bad_address_error(why: str) -> FetchFailed:
    return FetchFailed(_("this is no address to fetch: {why}").format(why=why))


def is_odd_number(host: str) -> bool:
    """Whether a host is an IP address in an unusual notation (2130706433, 0x7f.1, 127.1), likely a trick."""
    if not _NUMERIC.fullmatch(host.rstrip(".").rpartition(".")[2]):
        return False
    try:
        return str(IPv4Address(host)) != host
    except ValueError:
        return True


def unwrap_ipv4(number: _Number) -> _Number:
    """Return the IPv4 address inside a mapped or translated IPv6 address."""
    if isinstance(number, IPv6Address):
        if number.ipv4_mapped is not None:
            return number.ipv4_mapped
        if number in _TRANSLATED:
            return IPv4Address(int(number) & 0xFFFF_FFFF)
    return number


def is_public(number: _Number) -> bool:
    if isinstance(number, IPv4Address):
        return not any(number in network for network in _SPECIAL)
    inside = number in _PUBLIC_V6 and number.scope_id is None
    return inside and not any(number in network for network in _SPECIAL_V6)


def parse_network(text: str) -> _AllowedNetwork:
    match = _PORT.fullmatch(text)
    host, port = (match["host"], int(match["port"])) if match else (text, 0)
    try:
        return ip_network(host.strip("[]"), strict=False), port
    except ValueError:
        raise ConfigError(
            lazy("research_private names a place that cannot be read: {text}.", text=text),
            hint=lazy("Write off, on, or addresses and networks like 192.168.1.0/24, 10.0.0.5:8080."),
        ) from None


# As much of a line of robots.txt as is looked at.
_LONGEST = 2_000
# A line that names a robot, in every spelling that Protego takes, and the robot's product token.
_AGENT = re.compile(r"\s*user(?:-|\s+)?agent(?:\s*:|\s)\s*(\*|[a-z_-]*)", re.IGNORECASE)


class RobotsRules:
    """What one robot may read of one site. Without any rule, everything.

    Protego compares names of robots by their beginning, and copies each rule for each name of a group, which
    takes quadratic time where a site names thousands. So it sees three names at the most: ours, `*` for
    everybody, and `-` for all others.
    """

    def __init__(self, text: str, robot: str) -> None:
        self._robot = robot.lower()
        lines = (self._simplify(line[:_LONGEST]) for line in text.removeprefix("\ufeff").splitlines())
        self._rules = Protego.parse("\n".join(lines))

    def _simplify(self, line: str) -> str:
        agent = _AGENT.match(line)
        if agent is None:
            return line
        name = agent[1].lower()
        return f"User-agent: {name if name in (self._robot, '*') else '-'}"

    def allows(self, path: str) -> bool:
        """Whether this path, with its query, may be read."""
        # With a host before it, a path that begins with two slashes is not taken for one.
        return self._rules.can_fetch(f"http://site{path}", self._robot)


ALLOW_ALL = RobotsRules("", "*")
DISALLOW_ALL = RobotsRules("User-agent: *\nDisallow: /", "*")


# Content encodings requested; others are refused.
ENCODINGS = "gzip, deflate"

_GZIP, _ZLIB, _BARE = 31, 15, -15


async def read_body(pieces: AsyncIterator[bytes], encoding: str, limit: int) -> bytes:
    """Read and unpack a body; FetchFailed if it exceeds `limit` bytes or cannot be unpacked."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        unpacker = None
    elif encoding in ("gzip", "x-gzip", "deflate"):
        unpacker = _Unpacker(bare=encoding == "deflate")
    else:
        raise FetchFailed(
            _("it is packed in a way that was not asked for ({encoding})").format(encoding=encoding[:40])
        )
    body = bytearray()
    received = 0
    async for piece in pieces:
        received += len(piece)
        room = limit - len(body)
        body += piece if unpacker is None else unpacker.unpack(piece, room)
        # Packed data may be endless and stand for nothing.
        if len(body) > limit or received > limit:
            raise too_large_error(limit)
    if unpacker is not None and not unpacker.complete:
        raise broken_off_error()
    return bytes(body)


def too_large_error(limit: int) -> FetchFailed:
    size = f"{limit / 1_000_000:g} MB"
    return FetchFailed(_("it is larger than {size}").format(size=size))


def broken_off_error() -> FetchFailed:
    return FetchFailed(_("it broke off in the middle"))


class _Unpacker:
    """Unpacks gzip and deflate. With `bare`, the data may lack zlib's header, as some servers send it."""

    def __init__(self, *, bare: bool) -> None:
        self._bits = _ZLIB if bare else _GZIP
        self._may_be_bare = bare
        self._stream = zlib.decompressobj(self._bits)
        self._started = False

    @property
    def complete(self) -> bool:
        return self._stream.eof or not self._started

    def unpack(self, data: bytes, room: int) -> bytes:
        """Unpack `data`, to at most one byte more than there is room for."""
        unpacked = b""
        while data and len(unpacked) <= room:
            if self._stream.eof:
                # Packed in several parts; after the last one, anything else is of no interest.
                if not data.startswith(b"\x1f\x8b"):
                    break
                self._stream = zlib.decompressobj(self._bits)
            self._started = True
            unpacked += self._decompress(data, room - len(unpacked) + 1)
            data = self._stream.unused_data
        return unpacked

    def _decompress(self, data: bytes, most: int) -> bytes:
        try:
            unpacked = self._stream.decompress(data, most)
        except zlib.error:
            if not self._may_be_bare:
                raise FetchFailed(_("what was sent packed cannot be unpacked")) from None
            self._may_be_bare = False
            self._bits = _BARE
            self._stream = zlib.decompressobj(_BARE)
            return self._decompress(data, most)
        self._may_be_bare = False
        return unpacked


ROBOT = "holdfast"
AGENT = f"Holdfast/{__version__} (for one person, who asked for this page)"

_REDIRECTS = (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True)
class DownloadLimits:
    """Bytes of a page and of a document; seconds in all, to connect, without a byte; redirects."""

    size: int = 2_000_000
    document: int = 10_000_000
    whole: float = 20.0
    connect: float = 5.0
    silence: float = 10.0
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class Download:
    """A server's response. The body is there only on success; `location` is the target of a redirect."""

    status: int
    content_type: str = ""
    charset: str = ""
    body: bytes = b""
    location: str = ""


# How many bytes of this type of content may be read; raises FetchFailed for what is not wanted.
SizeLimit = Callable[[str], int]


class _ConnectionBlocked(OSError):
    """The guard blocked a connection."""

    def __init__(self) -> None:
        super().__init__("not let through")


class Downloader:
    """Makes single requests. `resolver` resolves names, by default as the system does."""

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
        self._headers = {"user-agent": agent, "accept-encoding": ENCODINGS}
        self._resolver = resolver
        self._client: aiohttp.ClientSession | None = None

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.close()

    async def get(self, url: URL, room: SizeLimit, *, accept: str = "*/*", languages: str = "") -> Download:
        """Make one request; FetchFailed if it fails. Follows no redirects and keeps no cookies."""
        headers = {"accept": accept, **({"accept-language": languages} if languages else {})}
        try:
            async with self._session.get(url, headers=headers, allow_redirects=False) as response:
                return await self._read(response, room)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # ValueError: a name that DNS cannot take, such as one with a label of a hundred letters.
            raise self._translate_error(error, url) from error

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
            raise too_large_error(limit)
        encoding = response.headers.get("content-encoding", "")
        body = await read_body(response.content.iter_any(), encoding, limit)
        return Download(response.status, content_type, read_charset(parameters), body)

    @property
    def _session(self) -> aiohttp.ClientSession:
        """The client session, opened on first use: it belongs to the event loop that runs then."""
        if self._client is None:
            limits = self._limits
            self._client = aiohttp.ClientSession(
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
        return self._client

    def _socket(self, place: aiohttp.AddrInfoType) -> socket.socket:
        family, kind, protocol, _, number = place
        host, port = str(number[0]), int(number[1])
        if not self._guard.allows(host, port):
            raise _ConnectionBlocked
        return socket.socket(family=family, type=kind, proto=protocol)

    def _translate_error(self, error: Exception, url: URL) -> FetchFailed:
        host = url.host or ""
        match error:
            case aiohttp.ClientConnectorDNSError() | UnicodeError():
                return FetchFailed(_("there is no server called {host}").format(host=host))
            case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
                return FetchFailed(_("the certificate of {host} cannot be trusted").format(host=host))
            case aiohttp.ClientConnectorError() if isinstance(error.os_error, _ConnectionBlocked):
                return FetchFailed(
                    _("{host} is on this machine or in a private network").format(host=host),
                    hint=_("The setting research_private allows single addresses or networks."),
                )
            case aiohttp.ClientConnectorError() | aiohttp.ConnectionTimeoutError():
                return FetchFailed(_("{host} does not answer").format(host=host))
            case asyncio.TimeoutError():
                return FetchFailed(_("{host} was silent for too long").format(host=host))
            case aiohttp.ServerDisconnectedError():
                return FetchFailed(_("{host} hung up without an answer").format(host=host))
            case aiohttp.ClientPayloadError() | ConnectionError() | aiohttp.ClientOSError():
                return broken_off_error()
            case _:
                return FetchFailed(_("{host} answers with something that is no HTTP").format(host=host))


def read_charset(parameters: str) -> str:
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'")
    return ""


_AT_ONCE = 4
# Each reader is a busy process.
_READ_AT_ONCE = 2
_ACCEPT = (
    "text/html,application/xhtml+xml,text/plain;q=0.9,text/markdown;q=0.9,application/pdf;q=0.8,*/*;q=0.5"
)
_KINDS: dict[str, ContentKind] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/plain": "text",
    "text/markdown": "text",
    "text/x-markdown": "text",
    "text/csv": "text",
    "application/json": "text",
    "text/xml": "xml",
    "application/xml": "xml",
    "application/pdf": "pdf",
    "application/x-pdf": "pdf",
    # Says nothing about the content; its first bytes decide.
    "application/octet-stream": "text",
    "binary/octet-stream": "text",
    "": "text",
}
_ENDINGS: tuple[tuple[str, ContentKind], ...] = (("+json", "text"), ("+xml", "xml"))
# A longer robots.txt is no robots.txt. What it says holds for so many seconds.
_ROBOTS_BYTES, _ROBOTS_HOLD = 512_000, 3_600.0
_ROBOTS_KEPT = 500


class Fetcher:
    """Use it as an async context manager, or call `aclose`. `clock` gives the time of fetching."""

    def __init__(
        self,
        guard: AddressGuard | None = None,
        *,
        limits: DownloadLimits | None = None,
        agent: str = AGENT,
        resolver: AbstractResolver | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.limits = limits or DownloadLimits()
        self.agent = agent
        self.clock = clock
        self._downloader = Downloader(guard or AddressGuard(), self.limits, agent=agent, resolver=resolver)
        self._robots: dict[URL, tuple[RobotsRules, str, float]] = {}
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._readers = asyncio.Semaphore(_READ_AT_ONCE)
        self._hosts: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._downloader.aclose()

    async def fetch(self, url: str, *, title: str = "") -> ResearchSource:
        """Fetch the page at `url`. Whatever goes wrong is the source's `trouble`, not an error.

        `title` is used if the page has none of its own.
        """
        try:
            at, answer = await self._download(parse_address(url))
            async with self._readers:
                content = await extract_text(
                    answer.body, content_kind(answer.content_type), charset=answer.charset
                )
        except FetchFailed as error:
            return ResearchSource(url, title, "", self.clock(), str(error))
        return ResearchSource(url, content.title or title or page_name(at), content.text, self.clock())

    async def _download(self, url: URL) -> tuple[URL, Download]:
        """Download `url`, following redirects; returns the final address, too."""
        left = self.limits.whole
        seen: list[URL] = []
        while len(seen) <= self.limits.redirects:
            if url in seen:
                raise FetchFailed(_("its redirects go round in circles"))
            seen.append(url)
            async with self._host_slot(host_name(url)):
                began = time.monotonic()
                answer = await self._download_in_time(left, url)
                left -= time.monotonic() - began
            if not answer.location:
                return url, check_status(answer)
            url = follow_redirect(url, answer.location)
        raise FetchFailed(_("it has more than {redirects} redirects").format(redirects=self.limits.redirects))

    async def _download_in_time(self, seconds: float, url: URL) -> Download:
        try:
            async with asyncio.timeout(seconds):
                await self._check_robots(url)
                return await self._downloader.get(url, self._size_limit, accept=_ACCEPT)
        except TimeoutError:
            most = f"{self.limits.whole:g}"
            raise FetchFailed(_("it took longer than {most} seconds").format(most=most)) from None

    def _size_limit(self, content_type: str) -> int:
        return self.limits.document if content_kind(content_type) == "pdf" else self.limits.size

    @asynccontextmanager
    async def _host_slot(self, host: str) -> AsyncIterator[None]:
        """Wait until the host is free, then for a slot: whoever waits for a host takes no slot."""
        lock = self._hosts.setdefault(host, asyncio.Lock())
        async with lock, self._slots:
            yield

    async def _check_robots(self, url: URL) -> None:
        """Raise FetchFailed if the site's robots.txt forbids it."""
        site = url.origin()
        rules, why, until = self._robots.get(site, (DISALLOW_ALL, "", 0.0))
        if until <= time.monotonic():
            rules, why = await self._load_rules(site)
            if len(self._robots) >= _ROBOTS_KEPT:
                self._robots.clear()
            self._robots[site] = rules, why, time.monotonic() + _ROBOTS_HOLD
        if not rules.allows(url.raw_path_qs):
            raise FetchFailed(why or _("its robots.txt forbids it"))

    async def _load_rules(self, site: URL) -> tuple[RobotsRules, str]:
        """Load what a site allows, and the reason if everything is forbidden without its saying so.

        No robots.txt means everything is allowed; one that is refused or fails means nothing is.
        """
        url = site.with_path("/robots.txt")
        for _unused in range(self.limits.redirects + 1):
            answer = await self._downloader.get(url, lambda _: _ROBOTS_BYTES, accept="text/plain,*/*;q=0.5")
            if not answer.location:
                break
            url = follow_redirect(url, answer.location)
        status = answer.status
        if 200 <= status < 300:
            text = decode_page(answer.body, answer.charset)
            return await asyncio.to_thread(RobotsRules, text, ROBOT), ""
        if status in (401, 403, 429) or status >= 500:
            return DISALLOW_ALL, _("its robots.txt cannot be read ({status}), so it is left alone").format(
                status=status
            )
        return ALLOW_ALL, ""


def content_kind(content_type: str) -> ContentKind:
    kind = _KINDS.get(content_type) or next(
        (kind for ending, kind in _ENDINGS if content_type.endswith(ending) and "svg" not in content_type),
        None,
    )
    if kind is None:
        shown = content_type[:60]
        raise FetchFailed(_("it is no text ({shown})").format(shown=shown))
    return kind


def follow_redirect(url: URL, location: str) -> URL:
    try:
        return parse_address(str(url.join(parse_url(location))))
    except ValueError:
        raise FetchFailed(_("it redirects to nowhere")) from None


def check_status(answer: Download) -> Download:
    match answer.status:
        case 401 | 403:
            message = _("it is not for everybody")
        case 404 | 410:
            message = _("it is not there")
        case 429:
            message = _("it is asked too often")
        case status if status >= 500:
            message = _("its server is in trouble")
        case status if 200 <= status < 300:
            return answer
        case _:
            message = _("its server refused")
    raise FetchFailed(f"{message} ({answer.status})")


def page_name(url: URL) -> str:
    """Return a name for a page without a title: its last path segment, or its site."""
    last = unquote(url.raw_path.rstrip("/").rpartition("/")[2])
    return last if last.isprintable() and last else host_name(url)
