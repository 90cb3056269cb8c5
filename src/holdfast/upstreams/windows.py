"""The context window of a model: trained, running, recommended, and the one that is used. Pure functions."""

import re
from dataclasses import dataclass, field

from holdfast.i18n import lazy
from holdfast.messages import Usage
from holdfast.tokens.budget import SMALLEST
from holdfast.upstreams.base import ModelInfo, Provider
from holdfast.upstreams.routing import LabelledProvider

# No model was trained for more: a larger number is a mistake.
_LARGEST = 100_000_000
_LAST_RESORT = 4096
_SET = lazy("set by you")

# Prefixes of model names, with their trained and their recommended window.
_CATALOGUE: tuple[tuple[str, int, int], ...] = (
    ("qwen3", 32_768, 16_384),
    ("llama3.1", 131_072, 8_192),
    ("mistral", 32_768, 8_192),
    ("gemma2", 8_192, 8_192),
    ("deepseek-coder", 16_384, 8_192),
)
# Recommended window up to a number of parameters: what usually fits in memory beside the model.
_BY_SIZE: tuple[tuple[float, int], ...] = ((9e9, 8_192), (20e9, 16_384), (float("inf"), 32_768))
_PARAMETERS = re.compile(r"\A\s*(?:(\d+)\s*x\s*)?(\d+(?:\.\d+)?)\s*([KMBT])", re.IGNORECASE)
_UNITS = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}


# The location of a server, and the full name of a model on it.
ModelKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of tokens, and where it comes from."""

    tokens: int
    source: str


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is stored about a model: what a user set, and the window that was settled."""

    num_ctx: int | None = None
    recommended: int | None = None
    settled: Figure | None = None


@dataclass(frozen=True, slots=True)
class Windows:
    """A model's windows. `used` is what requests are fitted to, and the `num_ctx` of every request."""

    used: Figure
    recommended: Figure
    trained: Figure | None = None
    running: Figure | None = None
    warnings: tuple[str, ...] = field(default=())
    # Whether the model thinks before it answers, as reported by its server.
    thinks: bool = False


def resolve_windows(
    model: ModelInfo, facts: ModelFacts | None = None, asked: int | None = None, *, fixed: bool = False
) -> Windows:
    """Resolves the windows of a model; `asked` is the window that a client named in its request.

    `fixed`: the server's window is set when it starts, so the running one is used.
    """
    facts = facts or ModelFacts()
    warnings: list[str] = []
    trained = find_trained_window(model, warnings)
    # A fixed window is valid however small it is; fitting then reports an error.
    least = 1 if fixed else SMALLEST
    running = check_window(
        model.running_window, lazy("the running server"), "running window", warnings, least
    )
    modelfile = check_window(model.default_num_ctx, lazy("the Modelfile"), "num_ctx", warnings)
    client = check_window(asked, lazy("the client"), "num_ctx", warnings)
    recommended = recommend_window(model, facts, trained)
    candidates = (
        Figure(facts.num_ctx, _SET) if facts.num_ctx else None,
        facts.settled if facts.settled and facts.settled.tokens >= SMALLEST else None,
        client,
        running,
        modelfile,
        recommended,
    )
    used = next(figure for figure in candidates if figure is not None)
    if fixed and running is not None:
        used = used if used.source == _SET and used.tokens < running.tokens else running
    elif trained and used.tokens > trained.tokens:
        used = Figure(trained.tokens, lazy("{source}, but trained for no more", source=used.source))
    thinks = "thinking" in model.capabilities
    return Windows(used, recommended, trained, running, tuple(warnings), thinks)


def find_trained_window(model: ModelInfo, warnings: list[str]) -> Figure | None:
    reported = check_window(model.trained_window, lazy("the model itself"), "trained window", warnings)
    if reported is not None:
        return reported
    row = find_catalogue_row(model)
    return Figure(row[1], lazy("known of {family}", family=row[0])) if row else None


def recommend_window(model: ModelInfo, facts: ModelFacts, trained: Figure | None) -> Figure:
    """Returns the window set by the user, of the catalogue, or by the model's size."""
    if facts.recommended:
        return Figure(facts.recommended, _SET)
    row, size = find_catalogue_row(model), parse_parameters(model.parameter_size)
    if row is not None:
        figure = Figure(row[2], lazy("known of {family}", family=row[0]))
    elif size is not None:
        tokens = next(tokens for most, tokens in _BY_SIZE if size <= most)
        figure = Figure(
            tokens, lazy("usual for {parameter_size} parameters", parameter_size=model.parameter_size)
        )
    else:
        figure = Figure(_LAST_RESORT, lazy("nothing is known of this model"))
    if trained is not None and trained.tokens < figure.tokens:
        return Figure(trained.tokens, lazy("trained for no more"))
    return figure


def find_catalogue_row(model: ModelInfo) -> tuple[str, int, int] | None:
    name = model.name.rpartition("/")[2].lower()
    return next((row for row in _CATALOGUE if name.startswith(row[0])), None)


def check_window(
    value: object, source: str, label: str, warnings: list[str], least: int = SMALLEST
) -> Figure | None:
    """Returns a plausible value as a figure; adds a warning for others, which servers and files do report."""
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= _LARGEST:
        return Figure(value, source)
    warnings.append(f"{source} gives {value!r:.40} as the {label}: that is left out")
    return None


def parse_parameters(text: str) -> float | None:
    """Parses a number of parameters such as `7.6B`, `135M` or `8x7B`."""
    match = _PARAMETERS.match(text)
    if match is None:
        return None
    return int(match[1] or 1) * float(match[2]) * _UNITS[match[3].upper()]


def has_fixed_window(provider: Provider) -> bool:
    """Whether the window cannot be set in a request; only Ollama supports that."""
    return provider.dialect != "ollama"


def full_name(provider: Provider, model: str) -> str:
    """Returns the canonical name of a model: without its server's label, and for Ollama with a tag."""
    model = provider.plain(model) if isinstance(provider, LabelledProvider) else model
    complete = provider.dialect != "ollama" or ":" in model.rpartition("/")[2]
    return model if complete else f"{model}:latest"


def model_key(provider: Provider, model: str) -> ModelKey:
    """Returns the name of a model among those of all servers."""
    return provider.location, full_name(provider, model)


def was_loaded(usage: Usage) -> bool:
    """Whether the server had to load the model first, which takes more than a second."""
    nanoseconds = usage.timings.get("load_duration")
    return isinstance(nanoseconds, int) and nanoseconds > 1_000_000_000
