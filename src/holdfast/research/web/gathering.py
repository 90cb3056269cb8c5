"""From a question to sources: pages that a search finds, or pages and files that somebody named.

Says how far it is, and may be cancelled at any time. Knows nothing of what the sources are for.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from holdfast.errors import BadRequest, FetchFailed, HoldfastError
from holdfast.files.formats.html import readable
from holdfast.files.texts import text_of
from holdfast.i18n import say
from holdfast.research.finding import Mode, ResearchSource
from holdfast.research.telling import ProgressCallback, ignore_progress
from holdfast.research.texts import limit_text
from holdfast.research.web.fetching import Fetcher
from holdfast.research.web.markup import one_line
from holdfast.research.web.searching import WebResult, search_web

# So many sources are wanted.
SOURCES: dict[Mode, int] = {"quick": 3, "deep": 7}
# So many may be named.
MOST_ADDRESSES = 20
# Of so many it is told why none could be read.
_SHOWN = 10
# A page that fails is replaced by the next one, but not for ever.
_TRIES = 3

_Item = TypeVar("_Item")

# The name and the bytes of a file that somebody named; errors say why not.
ReadLocal = Callable[[str], tuple[str, bytes]]


async def gather(
    question: str,
    mode: Mode,
    *,
    fetcher: Fetcher,
    searxng: str = "",
    addresses: Sequence[str] = (),
    read_local: ReadLocal | None = None,
    tell: ProgressCallback = ignore_progress,
) -> list[ResearchSource]:
    """Sources in their order, those that failed among them with their `trouble`; never all of them failed.

    Named `addresses` are all taken; what does not begin with http:// or https:// is a file, for which
    `read_local` is needed. Without any, `searxng` is asked.
    """
    if addresses:
        sources = await _fetch_addresses(addresses, fetcher, read_local, tell)
    elif searxng:
        sources = await _fetch_results(question, mode, fetcher, searxng, tell)
    else:
        raise BadRequest(
            say("there is nothing to look in for sources.", "es gibt nichts, worin Quellen zu suchen wären."),
            hint=say(
                "Put the address of a SearXNG into the setting searxng, or name pages or files.",
                "Tragen Sie die Adresse eines SearXNG als searxng ein, oder nennen Sie Seiten oder Dateien.",
            ),
        )
    if all(source.trouble for source in sources):
        raise _no_source_error(sources)
    return sources


async def _fetch_addresses(
    addresses: Sequence[str], fetcher: Fetcher, read_local: ReadLocal | None, tell: ProgressCallback
) -> list[ResearchSource]:
    wanted = list(dict.fromkeys(address.strip() for address in addresses))
    if len(wanted) > MOST_ADDRESSES:
        raise BadRequest(
            say(f"{len(wanted)} sources are too many.", f"{len(wanted)} Quellen sind zu viele."),
            hint=say(f"Name at most {MOST_ADDRESSES}.", f"Nennen Sie höchstens {MOST_ADDRESSES}."),
        )
    done = 0

    async def taken(address: str) -> ResearchSource:
        nonlocal done
        if address.lower().startswith(("http://", "https://")):
            source = await fetcher.fetch(address)
        else:
            source = await asyncio.to_thread(_read_file, address, read_local, fetcher.clock())
        done += 1
        tell(done, len(wanted), address)
        return source

    return await _run_together(taken, wanted)


async def _fetch_results(
    question: str, mode: Mode, fetcher: Fetcher, searxng: str, tell: ProgressCallback
) -> list[ResearchSource]:
    """Pages are fetched until there are enough: for every one that failed, the next one found."""
    wanted = SOURCES[mode]
    tell(0, wanted, say("searching", "Suche läuft"))
    results = await search_web(question, searxng, limits=fetcher.limits, agent=fetcher.agent)
    texts: set[str] = set()

    async def taken(result: WebResult) -> ResearchSource:
        source = _once(await fetcher.fetch(result.url, title=one_line(result.title)), texts)
        tell(len(texts), wanted, result.url)
        return source

    sources: list[ResearchSource] = []
    left = results[: wanted * _TRIES]
    while left and len(texts) < wanted:
        missing = wanted - len(texts)
        sources += await _run_together(taken, left[:missing])
        left = left[missing:]
    return sources


def _once(source: ResearchSource, texts: set[str]) -> ResearchSource:
    """News travel: the same text from two sites is one source."""
    if source.trouble:
        return source
    if source.text in texts:
        again = say("it has the same text as another source", "sie hat denselben Text wie eine andere Quelle")
        return replace(source, text="", trouble=again)
    texts.add(source.text)
    return source


async def _run_together(
    take: Callable[[_Item], Awaitable[ResearchSource]], items: Sequence[_Item]
) -> list[ResearchSource]:
    """All at once, as far as whoever takes them allows; whoever cancels this cancels all of them."""
    tasks = [asyncio.ensure_future(take(item)) for item in items]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()


def _read_file(path: str, read_local: ReadLocal | None, at: float) -> ResearchSource:
    if read_local is None:
        trouble = say("files are not read here", "Dateien werden hier nicht gelesen")
        return ResearchSource(path, "", "", at, trouble)
    try:
        name, data = read_local(path)
        content = text_of(name, data)
        # Who points at a page in a message may want to edit it; who reads it here wants what it says.
        text = readable(content.text) if content.kind == "html" else content.text
    except HoldfastError as error:
        return ResearchSource(path, "", "", at, error.message)
    if not text.strip():
        return ResearchSource(path, name, "", at, say("there is no text in it", "es steht kein Text darin"))
    return ResearchSource(path, name, limit_text(text), at)


def _no_source_error(sources: Sequence[ResearchSource]) -> FetchFailed:
    named = "; ".join(f"{source.url}: {source.trouble}" for source in sources[:_SHOWN])
    return FetchFailed(
        say(f"no source could be read. {named}", f"keine Quelle war lesbar. {named}"),
        hint=say("Name other pages or files.", "Nennen Sie andere Seiten oder Dateien."),
    )
