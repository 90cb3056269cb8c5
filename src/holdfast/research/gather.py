"""Gathers sources for a question: pages that a SearXNG search finds, or pages and files that are named.

SearXNG is a server that the user configured, so it may be a local one. Progress is reported, and gathering
can be cancelled at any time.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from yarl import URL

from holdfast.errors import BadRequest, ConfigError, FetchFailed, HoldfastError
from holdfast.files.documents import extract_text
from holdfast.files.formats import html_to_text
from holdfast.i18n import gettext as _
from holdfast.research.extract import one_line
from holdfast.research.fetch import (
    AGENT,
    AddressGuard,
    Download,
    Downloader,
    DownloadLimits,
    Fetcher,
    host_name,
    parse_address,
    parse_url,
)
from holdfast.research.finding import Mode, ProgressCallback, ResearchSource, ignore_progress
from holdfast.research.repository import limit_text
from holdfast.text.analyser import language_of

# Longer questions are no queries; search engines refuse them or cut them.
_LONGEST = 400
_HOSTS_TWICE = 2
# With pages among it, and with languages, SearXNG's own limiter does not take us for a robot.
_ACCEPT = "application/json,text/html;q=0.1"
# Says where a link was found, not what it leads to.
_TRACKING = re.compile(r"utm_\w+|fbclid|gclid|mc_[ce]id")


@dataclass(frozen=True, slots=True)
class WebResult:
    """A page that a search found."""

    url: str
    title: str = ""


async def search_web(
    question: str, searxng: str, *, limits: DownloadLimits | None = None, agent: str = AGENT
) -> list[WebResult]:
    """Search with SearXNG; returns the best pages first, and no site more than twice before others."""
    url = search_url(searxng)
    shown = str(url.with_user(None).with_path(url.path.removesuffix("/search")))
    query = {"q": " ".join(question.split())[:_LONGEST], "format": "json"}
    if language := language_of(question):
        query["language"] = language
    limits = limits or DownloadLimits()
    downloader = Downloader(AddressGuard.allow_all(), limits, agent=agent)
    try:
        answer = await downloader.get(
            url.with_query(query), lambda _: limits.size, accept=_ACCEPT, languages=language or "en"
        )
    except FetchFailed as error:
        raise FetchFailed(
            _("SearXNG at {shown} cannot be asked: {message}.").format(shown=shown, message=error.message),
            hint=check_hint(),
        ) from error
    finally:
        await downloader.aclose()
    return spread_hosts(read_results(read_json(answer, shown), shown))


def search_url(text: str) -> URL:
    """Return the search address, however it was written: with or without `/search` and a query."""
    try:
        url = parse_url(text.strip())
        usable = url.scheme in ("http", "https") and bool(url.raw_host)
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(
            _("the setting searxng is no address."), hint=_("Write it like http://127.0.0.1:8080.")
        )
    path = url.path.rstrip("/").removesuffix("/search").rstrip("/")
    return url.with_path(f"{path}/search")


def check_hint() -> str:
    return _("Check that it runs, and the address in the setting searxng.")


def read_json(answer: Download, shown: str) -> dict[str, Any]:
    if answer.location:
        raise FetchFailed(
            _("SearXNG at {shown} sends requests elsewhere ({status}).").format(
                shown=shown, status=answer.status
            ),
            hint=_("Put the new address into the setting searxng."),
        )
    if not 200 <= answer.status < 300:
        raise FetchFailed(
            _("SearXNG at {shown} refused ({status}).").format(shown=shown, status=answer.status),
            hint=status_hint(answer.status),
        )
    try:
        value = json.loads(answer.body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise FetchFailed(
            _("{shown} answered with something that is no JSON.").format(shown=shown), hint=check_hint()
        )
    return value


def status_hint(status: int) -> str:
    match status:
        case 403:
            return _(
                "JSON is not among its formats: add json to search: formats: in its settings.yml and "
                "restart it."
            )
        case 429:
            return _(
                "Its limiter takes us for a robot: allow this machine in its limiter.toml, or set "
                "limiter: false."
            )
        case _:
            return check_hint()


def read_results(body: dict[str, Any], shown: str) -> list[WebResult]:
    listed = body.get("results")
    results: dict[tuple[str, str], WebResult] = {}
    for item in listed if isinstance(listed, list) else []:
        if isinstance(item, dict) and isinstance(url := item.get("url"), str):
            try:
                address = parse_address(url)
            except FetchFailed:
                continue
            title = item.get("title")
            results.setdefault(
                page_key(address), WebResult(str(address), title if isinstance(title, str) else "")
            )
    if not results:
        raise FetchFailed(
            _("SearXNG at {shown} found nothing{silent_engines}.").format(
                shown=shown, silent_engines=silent_engines(body)
            ),
            hint=_("Ask with other words, or name pages or files yourself."),
        )
    return list(results.values())


def silent_engines(body: dict[str, Any]) -> str:
    """Name the engines that did not respond, often the reason for an empty result."""
    listed = body.get("unresponsive_engines")
    pairs = [pair for pair in listed if isinstance(pair, list | tuple)] if isinstance(listed, list) else []
    named = ", ".join(": ".join(map(str, pair[:2])) for pair in pairs[:5])[:300]
    return _("; without an answer: {named}").format(named=named) if named else ""


def page_key(url: URL) -> tuple[str, str]:
    """Return a key that is equal for addresses of the same page."""
    query = sorted((name, value) for name, value in url.query.items() if not _TRACKING.fullmatch(name))
    return host_name(url).removeprefix("www."), f"{url.path.rstrip('/')}?{query}"


def spread_hosts(results: list[WebResult]) -> list[WebResult]:
    """Move pages of a site that appeared twice already to the end."""
    counts: dict[str, int] = {}
    first: list[WebResult] = []
    later: list[WebResult] = []
    for result in results:
        host = host_name(URL(result.url)).removeprefix("www.")
        counts[host] = counts.get(host, 0) + 1
        (first if counts[host] <= _HOSTS_TWICE else later).append(result)
    return first + later


# Number of sources wanted.
SOURCES: dict[Mode, int] = {"quick": 3, "deep": 7}
# Most addresses in one request.
MOST_ADDRESSES = 20
# Most failures named in the error message.
_SHOWN = 10
# Rounds in which failed pages are replaced by the next results.
_TRIES = 3

_Item = TypeVar("_Item")

# The name and the bytes of a file that somebody named; errors say why not.
ReadLocal = Callable[[str], tuple[str, bytes]]


async def gather_sources(
    question: str,
    mode: Mode,
    *,
    fetcher: Fetcher,
    searxng: str = "",
    addresses: Sequence[str] = (),
    read_local: ReadLocal | None = None,
    tell: ProgressCallback = ignore_progress,
) -> list[ResearchSource]:
    """Return sources in order; failed ones have their `trouble`. Raises FetchFailed if all failed.

    All `addresses` are fetched; one that does not begin with http:// or https:// is a file, for which
    `read_local` is needed. Without any, `searxng` is asked.
    """
    if addresses:
        sources = await fetch_addresses(addresses, fetcher, read_local, tell)
    elif searxng:
        sources = await fetch_results(question, mode, fetcher, searxng, tell)
    else:
        raise BadRequest(
            _("there is nothing to look in for sources."),
            hint=_("Put the address of a SearXNG into the setting searxng, or name pages or files."),
        )
    if all(source.trouble for source in sources):
        raise no_source_error(sources)
    return sources


async def fetch_addresses(
    addresses: Sequence[str], fetcher: Fetcher, read_local: ReadLocal | None, tell: ProgressCallback
) -> list[ResearchSource]:
    wanted = list(dict.fromkeys(address.strip() for address in addresses))
    if len(wanted) > MOST_ADDRESSES:
        raise BadRequest(
            _("{count} sources are too many.").format(count=len(wanted)),
            hint=_("Name at most {most_addresses}.").format(most_addresses=MOST_ADDRESSES),
        )
    done = 0

    async def fetch(address: str) -> ResearchSource:
        nonlocal done
        if address.lower().startswith(("http://", "https://")):
            source = await fetcher.fetch(address)
        else:
            source = await asyncio.to_thread(read_file, address, read_local, fetcher.clock())
        done += 1
        tell(done, len(wanted), address)
        return source

    return await run_together(fetch, wanted)


async def fetch_results(
    question: str, mode: Mode, fetcher: Fetcher, searxng: str, tell: ProgressCallback
) -> list[ResearchSource]:
    """Fetch pages until there are enough: for each one that failed, the next result."""
    wanted = SOURCES[mode]
    tell(0, wanted, _("searching"))
    results = await search_web(question, searxng, limits=fetcher.limits, agent=fetcher.agent)
    texts: set[str] = set()

    async def fetch(result: WebResult) -> ResearchSource:
        source = _once(await fetcher.fetch(result.url, title=one_line(result.title)), texts)
        tell(len(texts), wanted, result.url)
        return source

    sources: list[ResearchSource] = []
    left = results[: wanted * _TRIES]
    while left and len(texts) < wanted:
        missing = wanted - len(texts)
        sources += await run_together(fetch, left[:missing])
        left = left[missing:]
    return sources


def _once(source: ResearchSource, texts: set[str]) -> ResearchSource:
    """News travel: the same text from two sites is one source."""
    if source.trouble:
        return source
    if source.text in texts:
        again = _("it has the same text as another source")
        return replace(source, text="", trouble=again)
    texts.add(source.text)
    return source


async def run_together(
    take: Callable[[_Item], Awaitable[ResearchSource]], items: Sequence[_Item]
) -> list[ResearchSource]:
    """Run all at once; cancelling this cancels all of them."""
    tasks = [asyncio.ensure_future(take(item)) for item in items]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()


def read_file(path: str, read_local: ReadLocal | None, at: float) -> ResearchSource:
    if read_local is None:
        trouble = _("files are not read here")
        return ResearchSource(path, "", "", at, trouble)
    try:
        name, data = read_local(path)
        content = extract_text(name, data)
        # Who points at a page in a message may want to edit it; who reads it here wants what it says.
        text = html_to_text(content.text) if content.kind == "html" else content.text
    except HoldfastError as error:
        return ResearchSource(path, "", "", at, error.message)
    if not text.strip():
        return ResearchSource(path, name, "", at, _("there is no text in it"))
    return ResearchSource(path, name, limit_text(text), at)


def no_source_error(sources: Sequence[ResearchSource]) -> FetchFailed:
    named = "; ".join(f"{source.url}: {source.trouble}" for source in sources[:_SHOWN])
    return FetchFailed(
        _("no source could be read. {named}").format(named=named), hint=_("Name other pages or files.")
    )
