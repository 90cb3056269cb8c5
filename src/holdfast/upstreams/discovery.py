"""From a location to a provider, and the search for a server that is already running.

A location is an address (what it speaks is found out by asking), an address with the kind of server before it
(`ollama+http://…`, never asked), `embedded`, or `embedded:/path/to/model.gguf`. Knows no settings: what a
provider needs beside its location comes in as `Options`.
"""

import asyncio
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from holdfast.errors import ConfigError, CutOff, Unreachable, UpstreamError
from holdfast.upstreams.base import Provider
from holdfast.upstreams.embedded import EmbeddedProvider
from holdfast.upstreams.http import Connection, Patience, redact_url
from holdfast.upstreams.llamacpp import LlamaCpp
from holdfast.upstreams.lmstudio import LMStudio
from holdfast.upstreams.model_file import SMOLLM2
from holdfast.upstreams.ollama import KeepAlive, Ollama
from holdfast.upstreams.openai import OpenAI, split_url

Kind = Literal["ollama", "openai", "llamacpp", "lmstudio"]
KINDS: tuple[Kind, ...] = get_args(Kind)

EMBEDDED = "embedded"

_KIND = re.compile(r"\A([a-z]+)\+(?=https?://)")

# What llama.cpp answers to everything until it has read its model.
_LOADING = "Loading model"

# By this word in the answer to `/api/version` a Holdfast is known; one that asks another goes in circles.
_OURS = "holdfast"

# Where the servers listen unless somebody told them otherwise, in the order in which they are preferred.
CANDIDATES = ("http://127.0.0.1:11434", "http://127.0.0.1:8080", "http://127.0.0.1:1234")

# The question that each kind of server alone answers so. LM Studio says 200 to every question.
_PROBES: tuple[tuple[Kind, str, Callable[[Any], bool]], ...] = (
    ("ollama", "/api/version", lambda answer: answer.keys() == {"version"}),
    ("llamacpp", "/props", lambda answer: "default_generation_settings" in answer or is_router(answer)),
    ("lmstudio", "/api/v0/models", lambda answer: isinstance(answer.get("data"), list)),
    ("lmstudio", "/api/v1/models", lambda answer: isinstance(answer.get("models"), list)),
    ("openai", "/v1/models", lambda answer: isinstance(answer.get("data"), list)),
)


@dataclass(frozen=True, slots=True)
class Options:
    """What providers need beside their location. The last five are the embedded model's.

    `keep_alive` is how long an Ollama keeps models in memory.
    """

    key: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    patience: Patience = field(default_factory=Patience)
    keep_alive: KeepAlive = None
    models_dir: Path = Path("models")
    log: Path = Path("embedded.log")
    window: int = 8192
    threads: int | None = None
    model_file: Path | None = None


@dataclass(frozen=True, slots=True)
class DiscoveredServer:
    """What a search found, and what happened at each place it looked."""

    provider: Provider | None
    tried: Sequence[tuple[str, str]]


def parse_location(location: str) -> tuple[Kind | None, str]:
    """The kind of server, if the location names it, and its address."""
    location = location.strip()
    named = _KIND.match(location)
    kind = next((known for known in KINDS if named and known == named[1]), None)
    if named and kind is None:
        raise ConfigError(
            f"{named[1]} is no kind of server we know.",
            hint=f"Known are {', '.join(KINDS)} and {EMBEDDED}; or give the address alone.",
        )
    url = location[named.end() :] if named else location
    if "://" not in url:
        url = f"http://{url}"
    if not is_address(url):
        raise ConfigError(
            f"{url.rpartition('@')[2]} is no address of a model server.",
            hint="Write it like http://127.0.0.1:11434.",
        )
    return kind, url.rstrip("/")


def parse_upstreams(text: str) -> dict[str, str]:
    """The locations in `NAME=LOCATION, LOCATION, …` by name; one without is called by its host and port."""
    found: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        before, equals, after = part.partition("=")
        named = bool(equals) and "/" not in before
        location = after.strip() if named else part
        host = host_of(location)
        name = before.strip() if named else host
        if not name or not location or name in found:
            raise ConfigError(
                f"upstreams cannot be read at {part.rpartition('@')[2]!r}.",
                hint="Write it like gpu=http://10.0.0.5:11434, http://127.0.0.1:8080, every name once.",
            )
        found[name] = location
    return found


def parse_keys(text: str, names: Collection[str]) -> dict[str, str]:
    """The keys in `NAME=KEY, NAME=KEY` for the servers of these names."""
    pairs = [part.partition("=") for part in filter(None, (part.strip() for part in text.split(",")))]
    found = {name.strip(): key.strip() for name, _, key in pairs}
    for name, key in found.items():
        if name not in names or not key:
            # What cannot be read may be a key: it is not repeated.
            raise ConfigError(
                "upstream_keys has a key for a server that is not among the upstreams.",
                hint=f"Write it like NAME=KEY, several with commas; the names are {', '.join(names)}.",
            )
    return found


def host_of(location: str) -> str:
    if is_embedded(location):
        return EMBEDDED
    return urlsplit(redact_url(parse_location(location)[1])).netloc


def is_embedded(location: str) -> bool:
    return location == EMBEDDED or location.startswith(f"{EMBEDDED}:")


def is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        # Asking for the port is what checks it.
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


async def connect(location: str, options: Options | None = None) -> Provider:
    """The provider at `location`. Only an address without a kind is asked; that fails if nobody is there."""
    options = options or Options()
    if is_embedded(location):
        return open_embedded(location, options)
    kind, url = parse_location(location)
    if kind is None:
        try:
            kind = await probe(url, options)
        except Unreachable as error:
            direct = f"{KINDS[0]}+{redact_url(url)}"
            hint = f"Start it, check the address, or name its kind: {direct} is not asked first."
            raise Unreachable(error.message, hint=hint) from error
    # Whoever names an address means a model server: what says nothing of itself is taken for a plain one.
    return build(kind or "openai", url, options)


def build(kind: Kind, url: str, options: Options) -> Provider:
    root, prefix = split_url(url)
    connection = Connection(root, key=options.key, headers=options.headers, patience=options.patience)
    match kind:
        case "ollama":
            return Ollama(connection, keep_alive=options.keep_alive)
        case "llamacpp":
            return LlamaCpp(connection)
        case "lmstudio":
            return LMStudio(connection)
        case "openai":
            return OpenAI(connection, prefix)


def open_embedded(location: str, options: Options) -> EmbeddedProvider:
    """The embedded model: the one in the location if it names a file, else the one in the options."""
    path = location.removeprefix(EMBEDDED).removeprefix(":")
    given = Path(path).expanduser() if path else options.model_file
    return EmbeddedProvider(
        given or options.models_dir / SMOLLM2.filename,
        log=options.log,
        ctx=options.window,
        threads=options.threads,
        patience=options.patience,
    )


async def probe(url: str, options: Options) -> Kind | None:
    """What the server at `url` speaks, None if that cannot be told; Unreachable if nobody is there."""
    root, _ = split_url(url)
    connection = Connection(root, key=options.key, headers=options.headers, patience=options.patience)
    try:
        for kind, path, fits in _PROBES:
            try:
                answer = await connection.get(path)
                if isinstance(answer, dict) and _OURS in answer:
                    return None
            except CutOff:
                continue
            except UpstreamError as error:
                if error.status == 503 and _LOADING in error.message:
                    return "llamacpp"
                continue
            if isinstance(answer, dict) and fits(answer):
                return kind
    finally:
        await connection.aclose()
    return None


def is_router(props: Mapping[str, Any]) -> bool:
    return props.get("role") == "router"


async def discover(
    candidates: Sequence[str] = CANDIDATES, options: Options | None = None, *, seconds: float = 1.0
) -> DiscoveredServer:
    """The first of `candidates` where a model server answers; all are asked at once.

    The key stays at home: it is meant for a server that somebody named, not for whoever listens there.
    """
    keyless = replace(options or Options(), key="", headers={})
    results = await asyncio.gather(*(try_location(location, keyless, seconds) for location in candidates))
    tried = [(redact_url(location), told) for location, (_, told) in zip(candidates, results, strict=True)]
    found = [provider for provider, _ in results if provider is not None]
    for unused in found[1:]:
        await unused.aclose()
    return DiscoveredServer(found[0] if found else None, tried)


async def try_location(location: str, options: Options, seconds: float) -> tuple[Provider | None, str]:
    _, url = parse_location(location)
    quick = Patience(connect=seconds, answer=seconds, tries=1)
    try:
        kind = await probe(url, replace(options, patience=quick))
    except Unreachable:
        return None, "nobody there"
    if kind is None:
        return None, "something else is there, no model server"
    return build(kind, url, options), kind
