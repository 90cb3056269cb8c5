"""Asks a SearXNG for pages about a question. It is the server that the user named, so it may be a local one.

Knows how to ask and what its refusals mean; fetches none of the pages.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from yarl import URL

from holdfast.errors import ConfigError, FetchFailed
from holdfast.i18n import say
from holdfast.research.web.addresses import AddressGuard, host_name, parse_address
from holdfast.research.web.downloading import AGENT, Download, Downloader, DownloadLimits
from holdfast.words import language_of

# Longer questions are no queries; search engines refuse them or cut them.
_LONGEST = 400
_HOSTS_TWICE = 2
# With pages among it, and with languages, SearXNG's own limiter does not take us for a robot.
_ACCEPT = "application/json,text/html;q=0.1"
# Says where a link was found, not what it leads to.
_TRACKING = re.compile(r"utm_\w+|fbclid|gclid|mc_[ce]id")


@dataclass(frozen=True, slots=True)
class WebResult:
    url: str
    title: str = ""


async def search_web(
    question: str, searxng: str, *, limits: DownloadLimits | None = None, agent: str = AGENT
) -> list[WebResult]:
    """Pages in the order they should be tried: the best first, and no site more than twice before others."""
    url = _search_url(searxng)
    shown = str(url.with_user(None).with_path(url.path.removesuffix("/search")))
    query = {"q": " ".join(question.split())[:_LONGEST], "format": "json"}
    if language := language_of(question):
        query["language"] = language
    limits = limits or DownloadLimits()
    downloader = Downloader(AddressGuard.open(), limits, agent=agent)
    try:
        answer = await downloader.get(
            url.with_query(query), lambda _: limits.size, accept=_ACCEPT, languages=language or "en"
        )
    except FetchFailed as error:
        raise FetchFailed(
            say(
                f"SearXNG at {shown} cannot be asked: {error.message}.",
                f"SearXNG unter {shown} ist nicht erreichbar: {error.message}.",
            ),
            hint=_check_hint(),
        ) from error
    finally:
        await downloader.aclose()
    return _spread_hosts(_read_results(_read_json(answer, shown), shown))


def _search_url(text: str) -> URL:
    """The address to ask, from however people write it: with or without `/search` and a query."""
    try:
        url = URL(text.strip())
        usable = url.scheme in ("http", "https") and bool(url.raw_host)
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(
            say("the setting searxng is no address.", "die Einstellung searxng ist keine Adresse."),
            hint=say("Write it like http://127.0.0.1:8080.", "Schreiben Sie sie wie http://127.0.0.1:8080."),
        )
    path = url.path.rstrip("/").removesuffix("/search").rstrip("/")
    return url.with_path(f"{path}/search")


def _check_hint() -> str:
    return say(
        "Check that it runs, and the address in the setting searxng.",
        "Prüfen Sie, ob es läuft, und die Adresse in der Einstellung searxng.",
    )


def _read_json(answer: Download, shown: str) -> dict[str, Any]:
    if answer.location:
        raise FetchFailed(
            say(
                f"SearXNG at {shown} sends requests elsewhere ({answer.status}).",
                f"SearXNG unter {shown} leitet weiter ({answer.status}).",
            ),
            hint=say(
                "Put the new address into the setting searxng.",
                "Tragen Sie die neue Adresse als searxng ein.",
            ),
        )
    if not 200 <= answer.status < 300:
        raise FetchFailed(
            say(
                f"SearXNG at {shown} refused ({answer.status}).",
                f"SearXNG unter {shown} lehnte ab ({answer.status}).",
            ),
            hint=_status_hint(answer.status),
        )
    try:
        value = json.loads(answer.body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise FetchFailed(
            say(
                f"{shown} answered with something that is no JSON.",
                f"{shown} antwortete mit etwas anderem als JSON.",
            ),
            hint=_check_hint(),
        )
    return value


def _status_hint(status: int) -> str:
    match status:
        case 403:
            return say(
                "JSON is not among its formats: add json to search: formats: in its settings.yml and "
                "restart it.",
                "JSON gehört nicht zu seinen Formaten: Ergänzen Sie json unter search: formats: in seiner "
                "settings.yml und starten Sie es neu.",
            )
        case 429:
            return say(
                "Its limiter takes us for a robot: allow this machine in its limiter.toml, or set "
                "limiter: false.",
                "Sein Limiter hält uns für einen Roboter: Erlauben Sie diesen Rechner in seiner "
                "limiter.toml, oder setzen Sie limiter: false.",
            )
        case _:
            return _check_hint()


def _read_results(body: dict[str, Any], shown: str) -> list[WebResult]:
    listed = body.get("results")
    found: dict[tuple[str, str], WebResult] = {}
    for item in listed if isinstance(listed, list) else []:
        if isinstance(item, dict) and isinstance(url := item.get("url"), str):
            try:
                address = parse_address(url)
            except FetchFailed:
                continue
            title = item.get("title")
            found.setdefault(
                _page_key(address), WebResult(str(address), title if isinstance(title, str) else "")
            )
    if not found:
        raise FetchFailed(
            say(
                f"SearXNG at {shown} found nothing{_silent_engines(body)}.",
                f"SearXNG unter {shown} fand nichts{_silent_engines(body)}.",
            ),
            hint=say(
                "Ask with other words, or name pages or files yourself.",
                "Fragen Sie mit anderen Worten, oder nennen Sie selbst Seiten oder Dateien.",
            ),
        )
    return list(found.values())


def _silent_engines(body: dict[str, Any]) -> str:
    """The engines behind it that did not answer: often the reason why there is nothing."""
    listed = body.get("unresponsive_engines")
    pairs = [pair for pair in listed if isinstance(pair, list | tuple)] if isinstance(listed, list) else []
    named = ", ".join(": ".join(map(str, pair[:2])) for pair in pairs[:5])[:300]
    return say(f"; without an answer: {named}", f"; ohne Antwort: {named}") if named else ""


def _page_key(url: URL) -> tuple[str, str]:
    """The same for addresses of the same page."""
    kept = sorted((name, value) for name, value in url.query.items() if not _TRACKING.fullmatch(name))
    return host_name(url).removeprefix("www."), f"{url.path.rstrip('/')}?{kept}"


def _spread_hosts(results: list[WebResult]) -> list[WebResult]:
    """No site more than twice, until there is nothing else."""
    counts: dict[str, int] = {}
    first: list[WebResult] = []
    later: list[WebResult] = []
    for result in results:
        host = host_name(URL(result.url)).removeprefix("www.")
        counts[host] = counts.get(host, 0) + 1
        (first if counts[host] <= _HOSTS_TWICE else later).append(result)
    return first + later
