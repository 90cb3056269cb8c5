"""Whether the settings as a whole would let the server start: asked of the parts that would read them.

One value can be fine by itself and not fit the others. Knows which part reads which settings.
"""

from collections.abc import Callable, Collection
from urllib.parse import urlsplit

from holdfast.background.queue import parallel_from
from holdfast.config import Settings
from holdfast.errors import ConfigError, HoldfastError
from holdfast.memory.embedders.choice import headers_from
from holdfast.memory.embedders.locations import located
from holdfast.memory.embedders.prompts import prompts_from
from holdfast.memory.gate import Gate
from holdfast.memory.searching.ranking import weights_from
from holdfast.memory.searching.vectors.choice import chosen
from holdfast.server.origins import Origins, is_loopback
from holdfast.upstreams.discovery import is_embedded, parse_keys, parse_location, parse_upstreams
from holdfast.upstreams.ollama import parse_keep_alive
from holdfast.window.presets import preset_from
from holdfast.wiring import qmd_options, vector_options

# Which settings each part looks at, and how it looks.
_PARTS: tuple[tuple[tuple[str, ...], Callable[[Settings], object]], ...] = (
    (("level_1", "level_2", "level_3_ahead", "level_3", "preset"), preset_from),
    (("memory_gate",), lambda settings: Gate.of(settings.memory_gate)),
    (("upstream_parallel",), lambda settings: parallel_from(settings.upstream_parallel)),
    (("keep_alive",), lambda settings: parse_keep_alive(settings.keep_alive)),
    (("embedder",), lambda settings: located(settings.embedder)),
    (("vectors", "vectors_collection"), lambda settings: chosen(vector_options(settings))),
    (("qmd_command", "qmd_paths", "qmd_scope"), qmd_options),
    (("embedder_headers",), lambda settings: headers_from(settings.embedder_headers)),
    (("embedder_prompts",), lambda settings: prompts_from(settings.embedder_prompts)),
    (("search_weights",), lambda settings: weights_from(settings.search_weights)),
    (("allowed_hosts", "cors_origins"), Origins),
    (("upstream",), lambda settings: _one_server(settings)),
    (("upstreams", "upstream_keys", "upstream"), lambda settings: _servers(settings)),
    (("research_private",), lambda settings: _private(settings)),
    (("searxng",), lambda settings: _page(settings.searxng)),
)


def wrong_in(settings: Settings, changed: Collection[str], *, password: bool) -> dict[str, str]:
    """What would hinder the next start, under the name of the first changed setting it may come from.

    `password`: browsers have something to come in with.
    """
    parts = (*_PARTS, (("host", "require_key", "key"), lambda settings: _closed(settings, password)))
    wrong: dict[str, str] = {}
    for names, look in parts:
        touched = [name for name in names if name in changed]
        if not touched:
            continue
        try:
            look(settings)
        except HoldfastError as error:
            wrong.setdefault(touched[0], str(error))
    return wrong


def _closed(settings: Settings, password: bool) -> None:
    """Whoever closes the door from inside a browser should be able to come in again."""
    if password or not (settings.key or settings.require_key or not is_loopback(settings.host)):
        return
    raise ConfigError(
        "Then browsers need a password, and there is none: this page could not be opened again.",
        hint="Set a password first.",
    )


def _one_server(settings: Settings) -> None:
    if settings.upstream and not is_embedded(settings.upstream):
        parse_location(settings.upstream)


def _servers(settings: Settings) -> None:
    if not settings.upstreams:
        return
    locations = parse_upstreams(", ".join(filter(None, (settings.upstream, settings.upstreams))))
    parse_keys(settings.upstream_keys, locations)
    for location in locations.values():
        if not is_embedded(location):
            parse_location(location)


def _private(settings: Settings) -> None:
    # Loaded when somebody sets it: it brings all of fetching along.
    from holdfast.research.web import Guard

    Guard.of(settings.research_private, own_port=settings.port)


def _page(address: str) -> None:
    parts = urlsplit(address)
    if address and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise ConfigError(f"{address!r} is no address.", hint="It is like http://127.0.0.1:8080.")
