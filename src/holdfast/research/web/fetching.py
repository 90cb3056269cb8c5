"""From an address to a source: guarded, limited, with the manners of a guest. What goes wrong is named in it.

A site is asked for one thing at a time, few sites at once, and only for what its robots.txt leaves open.
Every redirect is an address like any other: checked, guarded, its own site's rules asked for.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self
from urllib.parse import unquote
from weakref import WeakValueDictionary

from aiohttp.abc import AbstractResolver
from yarl import URL

from holdfast.errors import FetchFailed
from holdfast.i18n import say
from holdfast.research.finding import ResearchSource
from holdfast.research.web.addresses import AddressGuard, host_name, parse_address
from holdfast.research.web.charsets import decode_page
from holdfast.research.web.downloading import AGENT, ROBOT, Download, Downloader, DownloadLimits
from holdfast.research.web.extraction import ContentKind, extract_text
from holdfast.research.web.robots import DISALLOW_ALL, RobotsRules

_AT_ONCE = 4
# Each is a process that is busy.
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
    # Says nothing; the first bytes of what comes will.
    "application/octet-stream": "text",
    "binary/octet-stream": "text",
    "": "text",
}
_ENDINGS: tuple[tuple[str, ContentKind], ...] = (("+json", "text"), ("+xml", "xml"))
# A longer robots.txt is no robots.txt. What it says holds for so many seconds.
_ROBOTS_BYTES, _ROBOTS_HOLD = 512_000, 3_600.0
_ROBOTS_KEPT = 500


class Fetcher:
    """Use it as an async context, or `aclose` it. `clock` tells the time that a source was fetched."""

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
        self._places = asyncio.Semaphore(_AT_ONCE)
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
        """The page at `url`. Whatever goes wrong with it is the source's `trouble`, not an error.

        `title` is what others call it, for want of a title of its own.
        """
        try:
            at, answer = await self._page(parse_address(url))
            async with self._readers:
                found = await extract_text(
                    answer.body, _content_kind(answer.content_type), charset=answer.charset
                )
        except FetchFailed as error:
            return ResearchSource(url, title, "", self.clock(), str(error))
        return ResearchSource(url, found.title or title or _page_name(at), found.text, self.clock())

    async def _page(self, url: URL) -> tuple[URL, Download]:
        """What is at `url`, or at the end of its redirects, and where that is."""
        left = self.limits.whole
        seen: list[URL] = []
        while len(seen) <= self.limits.redirects:
            if url in seen:
                raise FetchFailed(
                    say("its redirects go round in circles", "ihre Weiterleitungen drehen sich im Kreis")
                )
            seen.append(url)
            async with self._turn(host_name(url)):
                began = time.monotonic()
                answer = await self._within(left, url)
                left -= time.monotonic() - began
            if not answer.location:
                return url, _check_status(answer)
            url = _follow_redirect(url, answer.location)
        raise FetchFailed(
            say(
                f"it has more than {self.limits.redirects} redirects",
                f"sie hat mehr als {self.limits.redirects} Weiterleitungen",
            )
        )

    async def _within(self, seconds: float, url: URL) -> Download:
        try:
            async with asyncio.timeout(seconds):
                await self._ask_robots(url)
                return await self._downloader.get(url, self._room, accept=_ACCEPT)
        except TimeoutError:
            most = f"{self.limits.whole:g}"
            raise FetchFailed(
                say(f"it took longer than {most} seconds", f"sie brauchte länger als {most} Sekunden")
            ) from None

    def _room(self, content_type: str) -> int:
        return self.limits.document if _content_kind(content_type) == "pdf" else self.limits.size

    @asynccontextmanager
    async def _turn(self, host: str) -> AsyncIterator[None]:
        """Waits until the host is free, and then for one of the places: whoever waits takes none."""
        lock = self._hosts.setdefault(host, asyncio.Lock())
        async with lock, self._places:
            yield

    async def _ask_robots(self, url: URL) -> None:
        """Raises FetchFailed where the site does not want to be read."""
        site = url.origin()
        rules, why, until = self._robots.get(site, (DISALLOW_ALL, "", 0.0))
        if until <= time.monotonic():
            rules, why = await self._rules(site)
            if len(self._robots) >= _ROBOTS_KEPT:
                self._robots.clear()
            self._robots[site] = rules, why, time.monotonic() + _ROBOTS_HOLD
        if not rules.allow(url.raw_path_qs):
            raise FetchFailed(why or say("its robots.txt forbids it", "ihre robots.txt verbietet es"))

    async def _rules(self, site: URL) -> tuple[RobotsRules, str]:
        """What a site allows, and why nothing if it did not say so itself.

        No robots.txt: everything. One that is kept from us, or that the site fails to give: nothing.
        """
        url = site.with_path("/robots.txt")
        for _ in range(self.limits.redirects + 1):
            answer = await self._downloader.get(url, lambda _: _ROBOTS_BYTES, accept="text/plain,*/*;q=0.5")
            if not answer.location:
                break
            url = _follow_redirect(url, answer.location)
        status = answer.status
        if 200 <= status < 300:
            return RobotsRules.of(decode_page(answer.body, answer.charset), ROBOT), ""
        if status in (401, 403, 429) or status >= 500:
            return DISALLOW_ALL, say(
                f"its robots.txt cannot be read ({status}), so it is left alone",
                f"ihre robots.txt ist nicht lesbar ({status}), also bleibt sie in Ruhe",
            )
        return RobotsRules(), ""


def _content_kind(content_type: str) -> ContentKind:
    kind = _KINDS.get(content_type) or next(
        (kind for ending, kind in _ENDINGS if content_type.endswith(ending) and "svg" not in content_type),
        None,
    )
    if kind is None:
        shown = content_type[:60]
        raise FetchFailed(say(f"it is no text ({shown})", f"sie ist kein Text ({shown})"))
    return kind


def _follow_redirect(url: URL, location: str) -> URL:
    try:
        return parse_address(str(url.join(URL(location))))
    except ValueError:
        raise FetchFailed(say("it redirects to nowhere", "sie leitet ins Nichts weiter")) from None


def _check_status(answer: Download) -> Download:
    match answer.status:
        case 401 | 403:
            said = say("it is not for everybody", "sie ist nicht für jeden")
        case 404 | 410:
            said = say("it is not there", "es gibt sie nicht")
        case 429:
            said = say("it is asked too often", "sie wird zu oft abgerufen")
        case status if status >= 500:
            said = say("its server is in trouble", "ihr Server hat Schwierigkeiten")
        case status if 200 <= status < 300:
            return answer
        case _:
            said = say("its server refused", "ihr Server lehnte ab")
    raise FetchFailed(f"{said} ({answer.status})")


def _page_name(url: URL) -> str:
    """What to call a page without a title: its last part, or its site."""
    last = unquote(url.raw_path.rstrip("/").rpartition("/")[2])
    return last if last.isprintable() and last else host_name(url)
