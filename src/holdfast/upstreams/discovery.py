"""Creates the provider for a location, and searches for a server that is already running.

A location is an address (the kind of server is probed), an address with the kind of server in front
(`ollama+http://…`, never probed), `embedded`, or `embedded:/path/to/model.gguf`.
"""

import asyncio
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from holdfast.errors import ConfigError, CutOff, Unreachable, UpstreamError
from holdfast.i18n import lazy
from holdfast.upstreams.base import Provider
from holdfast.upstreams.embedded import EmbeddedProvider
from holdfast.upstreams.http import Connection, Patience, redact_url
from holdfast.upstreams.model_file import SMOLLM2
from holdfast.upstreams.ollama import KeepAlive, Ollama
from holdfast.upstreams.openai import LlamaCpp, LMStudio, OpenAI, split_url

Kind = Literal["ollama", "openai", "llamacpp", "lmstudio"]
KINDS: tuple[Kind, ...] = get_args(Kind)

EMBEDDED = "embedded"

_KIND = re.compile(r"\A([a-z]+)\+(?=https?://)")

# What llama.cpp answers to every request until its model is loaded.
_LOADING = "Loading model"

# This key in the answer to `/api/version` identifies a Holdfast, which must not use another as its upstream.
_OURS = "holdfast"

# The servers' default addresses, in order of preference.
CANDIDATES = ("http://127.0.0.1:11434", "http://127.0.0.1:8080", "http://127.0.0.1:1234")

# A request that identifies each kind of server by its answer. LM Studio answers 200 to every path.
_PROBES: tuple[tuple[Kind, str, Callable[[Any], bool]], ...] = (
    ("ollama", "/api/version", lambda answer: answer.keys() == {"version"}),
    ("llamacpp", "/props", lambda answer: "default_generation_settings" in answer or is_router(answer)),
    ("lmstudio", "/api/v0/models", lambda answer: isinstance(answer.get("data"), list)),
    ("lmstudio", "/api/v1/models", lambda answer: isinstance(answer.get("models"), list)),
    ("openai", "/v1/models", lambda answer: isinstance(answer.get("data"), list)),
)


@dataclass(frozen=True, slots=True)
class Options:
    """What providers need beside their location. The last five are for the embedded model.

    `keep_alive` is how long Ollama keeps models in memory.
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
    """The result of a search: the provider, and what happened at each location."""

    provider: Provider | None
    tried: Sequence[tuple[str, str]]


def parse_location(location: str) -> tuple[Kind | None, str]:
    """Returns the kind of server, if the location names it, and its address."""
    location = location.strip()
    match = _KIND.match(location)
    kind = next((candidate for candidate in KINDS if match and candidate == match[1]), None)
    if match and kind is None:
        raise ConfigError(
            lazy("{kind} is no kind of server we know.", kind=match[1]),
            hint=lazy(
                "Known are {names} and {embedded}; or give the address alone.",
                names=", ".join(KINDS),
                embedded=EMBEDDED,
            ),
        )
    url = location[match.end() :] if match else location
    if "://" not in url:
        url = f"http://{url}"
    if not is_address(url):
        raise ConfigError(
            lazy("{address} is no address of a model server.", address=url.rpartition("@")[2]),
            hint=lazy("Write it like http://127.0.0.1:11434."),
        )
    return kind, url.rstrip("/")


def parse_upstreams(text: str) -> dict[str, str]:
    """Parses `NAME=LOCATION, LOCATION, …` to locations by name; the default name is host and port."""
    locations: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        prefix, equals, suffix = part.partition("=")
        has_name = bool(equals) and "/" not in prefix
        location = suffix.strip() if has_name else part
        host = host_of(location)
        name = prefix.strip() if has_name else host
        if not name or not location or name in locations:
            raise ConfigError(
                lazy("upstreams cannot be read at {address!r}.", address=part.rpartition("@")[2]),
                hint=lazy("Write it like gpu=http://10.0.0.5:11434, http://127.0.0.1:8080, every name once."),
            )
        locations[name] = location
    return locations


def parse_keys(text: str, names: Collection[str]) -> dict[str, str]:
    """Parses `NAME=KEY, NAME=KEY` for the servers of these names."""
    pairs = [part.partition("=") for part in filter(None, (part.strip() for part in text.split(",")))]
    keys = {name.strip(): key.strip() for name, _, key in pairs}
    for name, key in keys.items():
        if name not in names or not key:
            # The error does not repeat the text, because it may be a key.
            raise ConfigError(
                lazy("upstream_keys has a key for a server that is not among the upstreams."),
                hint=lazy(
                    "Write it like NAME=KEY, several with commas; the names are {names}.",
                    names=", ".join(names),
                ),
            )
    return keys


def host_of(location: str) -> str:
    if is_embedded(location):
        return EMBEDDED
    return urlsplit(redact_url(parse_location(location)[1])).netloc


def is_embedded(location: str) -> bool:
    return location == EMBEDDED or location.startswith(f"{EMBEDDED}:")


def is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        # Encoding the host and reading the port validates them.
        (parts.hostname or "").encode("idna")
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


async def connect(location: str, options: Options | None = None) -> Provider:
    """Returns the provider for `location`. An address without a kind is probed, so a server must be there."""
    options = options or Options()
    if is_embedded(location):
        return open_embedded(location, options)
    kind, url = parse_location(location)
    if kind is None:
        kind = await probe(url, options)
    # A configured address is a model server: if the kind is unknown, it is taken as OpenAI-compatible.
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
    """Returns the embedded model: the file in the location, else the one in the options."""
    path = location.removeprefix(EMBEDDED).removeprefix(":")
    model_file = Path(path).expanduser() if path else options.model_file
    return EmbeddedProvider(
        model_file or options.models_dir / SMOLLM2.filename,
        log=options.log,
        ctx=options.window,
        threads=options.threads,
        patience=options.patience,
    )


async def probe(url: str, options: Options) -> Kind | None:
    """Returns the kind of server at `url`, None if it is unknown; raises Unreachable if there is none."""
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
    """Returns the first of `candidates` where a model server answers; all are probed at once.

    The key is not sent: it is meant for a configured server.
    """
    keyless = replace(options or Options(), key="", headers={})
    results = await asyncio.gather(*(try_location(location, keyless, seconds) for location in candidates))
    tried = [(redact_url(place), outcome) for place, (_, outcome) in zip(candidates, results, strict=True)]
    providers = [provider for provider, _ in results if provider is not None]
    for unused in providers[1:]:
        await unused.aclose()
    return DiscoveredServer(providers[0] if providers else None, tried)


async def try_location(location: str, options: Options, seconds: float) -> tuple[Provider | None, str]:
    _, url = parse_location(location)
    quick = Patience(connect=seconds, answer=seconds, tries=1)
    try:
        kind = await probe(url, replace(options, patience=quick))
    except Unreachable:
        return None, lazy("no server is listening")
    if kind is None:
        return None, lazy("something else is there, no model server")
    return build(kind, url, options), kind
