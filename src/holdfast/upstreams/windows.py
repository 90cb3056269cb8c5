"""The window that is really there: what a model was trained for, what runs, what is recommended, what we use.

Pure: a server's words and our own memory in, figures with their sources out. Fetching and remembering is
somebody else's business.
"""

import re
from dataclasses import dataclass, field

from holdfast.messages import Usage
from holdfast.tokens.budget import SMALLEST
from holdfast.upstreams.base import ModelInfo, Provider
from holdfast.upstreams.health import LabelledProvider

# For more no model was ever trained: such a number is a mistake, as one is that holds no conversation.
_LARGEST = 100_000_000
_LAST_RESORT = 4096
_SET = "set by you"

# Beginnings of model names, with the window they were trained for and the one we recommend for them.
_CATALOGUE: tuple[tuple[str, int, int], ...] = (
    ("qwen3", 32_768, 16_384),
    ("llama3.1", 131_072, 8_192),
    ("mistral", 32_768, 8_192),
    ("gemma2", 8_192, 8_192),
    ("deepseek-coder", 16_384, 8_192),
)
# Up to so many parameters, such a window: what a machine that runs the model can usually hold beside it.
_BY_SIZE: tuple[tuple[float, int], ...] = ((9e9, 8_192), (20e9, 16_384), (float("inf"), 32_768))
_PARAMETERS = re.compile(r"\A\s*(?:(\d+)\s*x\s*)?(\d+(?:\.\d+)?)\s*([KMBT])", re.IGNORECASE)
_UNITS = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of tokens, and where it comes from."""

    tokens: int
    source: str


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What we know about a model beyond its server's words: what a user set, and what was settled before."""

    num_ctx: int | None = None
    recommended: int | None = None
    settled: Figure | None = None


@dataclass(frozen=True, slots=True)
class Windows:
    """`used` is the window that requests are made to fit, and the `num_ctx` of every request we send."""

    used: Figure
    recommended: Figure
    trained: Figure | None = None
    running: Figure | None = None
    warnings: tuple[str, ...] = field(default=())
    # Whether the model thinks before it answers, as far as its server says.
    thinks: bool = False


def resolve_windows(
    model: ModelInfo, memory: ModelFacts | None = None, asked: int | None = None, *, fixed: bool = False
) -> Windows:
    """All figures for one model; `asked` is the window that a client named in its request.

    `fixed`: the server alone decides its window when it starts, so what it runs with is what there is.
    """
    memory = memory or ModelFacts()
    warnings: list[str] = []
    trained = find_trained_window(model, warnings)
    # A window that nobody can change is true however small it is: then there is an error to be told of.
    least = 1 if fixed else SMALLEST
    running = check_window(model.running_window, "the running server", "running window", warnings, least)
    modelfile = check_window(model.default_num_ctx, "the Modelfile", "num_ctx", warnings)
    client = check_window(asked, "the client", "num_ctx", warnings)
    recommended = recommend_window(model, memory, trained)
    candidates = (
        Figure(memory.num_ctx, _SET) if memory.num_ctx else None,
        memory.settled if memory.settled and memory.settled.tokens >= SMALLEST else None,
        client,
        running,
        modelfile,
        recommended,
    )
    used = next(figure for figure in candidates if figure is not None)
    if fixed and running is not None:
        used = used if used.source == _SET and used.tokens < running.tokens else running
    elif trained and used.tokens > trained.tokens:
        used = Figure(trained.tokens, f"{used.source}, but trained for no more")
    thinks = "thinking" in model.capabilities
    return Windows(used, recommended, trained, running, tuple(warnings), thinks)


def find_trained_window(model: ModelInfo, warnings: list[str]) -> Figure | None:
    said = check_window(model.trained_window, "the model itself", "trained window", warnings)
    if said is not None:
        return said
    row = find_catalogue_row(model)
    return Figure(row[1], f"known of {row[0]}") if row else None


def recommend_window(model: ModelInfo, memory: ModelFacts, trained: Figure | None) -> Figure:
    if memory.recommended:
        return Figure(memory.recommended, _SET)
    row, size = find_catalogue_row(model), parse_parameters(model.parameter_size)
    if row is not None:
        figure = Figure(row[2], f"known of {row[0]}")
    elif size is not None:
        tokens = next(tokens for most, tokens in _BY_SIZE if size <= most)
        figure = Figure(tokens, f"usual for {model.parameter_size} parameters")
    else:
        figure = Figure(_LAST_RESORT, "nothing is known of this model")
    if trained is not None and trained.tokens < figure.tokens:
        return Figure(trained.tokens, "trained for no more")
    return figure


def find_catalogue_row(model: ModelInfo) -> tuple[str, int, int] | None:
    name = model.name.rpartition("/")[2].lower()
    return next((row for row in _CATALOGUE if name.startswith(row[0])), None)


def check_window(
    value: object, source: str, what: str, warnings: list[str], least: int = SMALLEST
) -> Figure | None:
    """The figure, or a warning: servers and files say zero, words, and numbers nobody could mean."""
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= _LARGEST:
        return Figure(value, source)
    warnings.append(f"{source} gives {value!r:.40} as the {what}: that is left out")
    return None


def parse_parameters(text: str) -> float | None:
    """How many parameters `7.6B`, `135M` or `8x7B` are."""
    found = _PARAMETERS.match(text)
    if found is None:
        return None
    return int(found[1] or 1) * float(found[2]) * _UNITS[found[3].upper()]


def has_fixed_window(provider: Provider) -> bool:
    """Only Ollama takes a window with a request; the others have the one they were started with."""
    return provider.dialect != "ollama"


def full_name(provider: Provider, model: str) -> str:
    """The one name of a model, without its server's: to Ollama, a name without a tag means the latest."""
    model = provider.plain(model) if isinstance(provider, LabelledProvider) else model
    tagged = provider.dialect != "ollama" or ":" in model.rpartition("/")[2]
    return model if tagged else f"{model}:latest"


def was_loaded(usage: Usage) -> bool:
    """Whether the server had to load the model first; finding one that is in memory takes no second."""
    nanoseconds = usage.timings.get("load_duration")
    return isinstance(nanoseconds, int) and nanoseconds > 1_000_000_000
