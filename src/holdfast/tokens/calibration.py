"""Learns from reported token counts how far estimates are off for a model, and what its template adds.

A calibration is a value: `learn` returns a new one. Its samples are features of a prompt and the count that
the server reported for it; a small linear regression fits the costs.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Any, Literal, Protocol, Self

from holdfast.tokens.estimate import Estimate

Matrix = tuple[tuple[float, ...], ...]


def dot_product(left: Sequence[float], right: Sequence[float]) -> float:
    return sum([a * b for a, b in zip(left, right, strict=True)])


def invert(matrix: Matrix) -> Matrix:
    """Returns the inverse by elimination; `matrix` is positive definite, so no pivot is zero."""
    size = len(matrix)
    rows = [[*line, *(1.0 if i == j else 0.0 for j in range(size))] for i, line in enumerate(matrix)]
    for column in range(size):
        pivot = rows[column][column]
        head = rows[column] = [value / pivot for value in rows[column]]
        for index, line in enumerate(rows):
            if index != column and line[column]:
                factor = line[column]
                rows[index] = [value - factor * above for value, above in zip(line, head, strict=True)]
    return tuple(tuple(line[size:]) for line in rows)


Method = Literal["exact", "estimate"]


@dataclass(frozen=True, slots=True)
class PromptFeatures:
    """A request as numbers. `text` and `tool_text` are tokens, `doubt` is half the width of their interval.

    `tool_text` (tools and their calls) is separate because templates rewrite it or leave it out. `images`
    are tokens at a flat cost. The other fields count what a template wraps in tokens of its own: messages,
    tool calls and results, tools; `unprompted` means no system message (many templates then add one).
    """

    text: int
    messages: int
    tool_text: int = 0
    calls: int = 0
    tools: int = 0
    unprompted: bool = False
    images: int = 0
    doubt: float = 0.0

    def __add__(self, other: "PromptFeatures") -> "PromptFeatures":
        return PromptFeatures(
            self.text + other.text,
            self.messages + other.messages,
            self.tool_text + other.tool_text,
            self.calls + other.calls,
            self.tools + other.tools,
            self.unprompted or other.unprompted,
            self.images + other.images,
            self.doubt + other.doubt,
        )

    @property
    def row(self) -> tuple[float, ...]:
        """The features in the order of the costs."""
        return (
            self.text,
            self.tool_text,
            self.messages,
            self.calls,
            self.tools,
            1.0 if self.tools else 0.0,
            1.0 if self.unprompted else 0.0,
            1.0,
        )


@dataclass(frozen=True, slots=True)
class Template:
    """Tokens a chat template adds, as assumed before the first sample."""

    message: float = 5.0
    call: float = 12.0
    tool: float = 4.0
    tools: float = 80.0
    unprompted: float = 12.0
    start: float = 5.0


# By vocabulary family; most templates wrap a message in two or three special tokens and its role.
TEMPLATES: Mapping[str, Template] = {
    "llama2": Template(message=6.0, unprompted=0.0, start=2.0),
    "tekken": Template(message=3.0, unprompted=0.0, start=1.0),
    "deepseek": Template(message=2.0, unprompted=0.0, start=2.0),
    "gemma": Template(message=5.0, unprompted=0.0, start=4.0),
    "gpt-oss": Template(message=4.0, unprompted=0.0, start=70.0),
}

# Standard deviations of the prior for text, tool text, message, call, tool, tools, unprompted, start. With
# exact counts the text is certain, but not how the template writes tools.
_PRIOR_DEVIATIONS: Mapping[Method, tuple[float, ...]] = {
    "exact": (0.002, 0.2, 1.5, 8.0, 6.0, 60.0, 15.0, 15.0),
    "estimate": (0.15, 0.2, 1.5, 8.0, 6.0, 60.0, 15.0, 15.0),
}
# How far a sample may be from the fit, as a share of it, before it is treated as an outlier.
_NOISE: Mapping[Method, float] = {"exact": 0.003, "estimate": 0.04}

# The limit applies to samples with and without tools separately, so neither kind displaces the other.
_MAX_SAMPLES = 24
_ROUNDS = 4
_CERTAIN = 1e9
# An interval is three standard deviations to each side.
_WIDTH = 3.0
# A few samples say little about other kinds of text: from `_MANY_SAMPLES` on, at least this share of the
# original doubt stays, and it shrinks with more samples.
_LEAST_DOUBT = 0.25
_MANY_SAMPLES = 8


@dataclass(frozen=True, slots=True)
class CountSample:
    features: PromptFeatures
    reported: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """Costs of a token of text and of everything a template adds, with their covariance."""

    method: Method
    template: Template
    samples: tuple[CountSample, ...]
    costs: tuple[float, ...]
    covariance: Matrix
    spread: float

    @classmethod
    def fresh(cls, method: Method, family: str = "") -> Self:
        """Returns a calibration without samples, with the prior of a vocabulary family."""
        return cls._fit(method, TEMPLATES.get(family, Template()), ())

    @property
    def scale(self) -> float:
        """The factor for a text's tokens; 1 for exact counts."""
        return self.costs[0] if self.method == "estimate" else 1.0

    @property
    def per_message(self) -> float:
        return max(0.0, self.costs[2])

    @property
    def per_call(self) -> float:
        return max(0.0, self.costs[3])

    def predict(self, features: PromptFeatures) -> float:
        """Returns the tokens of a whole request, without bounds."""
        return max(dot_product(self.costs, features.row) + features.images, 1.0)

    def estimate(self, features: PromptFeatures) -> Estimate:
        """Returns the tokens of a whole request with lower and upper bounds."""
        row = features.row
        tokens = self.predict(features)
        doubt, observed = features.doubt / _WIDTH, self.spread * tokens
        if self.method == "exact":
            doubt = observed
        elif len(self.samples) >= _MANY_SAMPLES:
            doubt = min(doubt, max(observed, _LEAST_DOUBT * _MANY_SAMPLES / len(self.samples) * doubt))
        # Most requests have neither tools nor calls: zeros are skipped.
        nonzero = [(at, number) for at, number in enumerate(row) if number]
        variance = sum(
            weight * sum([self.covariance[at][to] * number for to, number in nonzero])
            for at, weight in nonzero
        )
        width = _WIDTH * sqrt(max(variance, 0.0) + doubt * doubt + 1.0)
        return Estimate(round(tokens), max(1, int(tokens - width)), int(tokens + width) + 1)

    def learn(self, features: PromptFeatures, reported: int, *, num_ctx: int | None = None) -> Self:
        """Returns a calibration with one more sample, or itself if the numbers are implausible.

        `num_ctx` is the window the server ran with: the count of a truncated prompt is not a valid sample.
        """
        if not self.plausible(features, reported):
            return self
        if num_ctx is not None and is_truncated(self.estimate(features), reported, num_ctx):
            return self
        samples = [*self.samples, CountSample(features, reported)]
        alike = [sample for sample in samples if bool(sample.features.tools) == bool(features.tools)]
        if len(alike) > _MAX_SAMPLES:
            samples.remove(alike[0])
        return self._fit(self.method, self.template, tuple(samples))

    def plausible(self, features: PromptFeatures, reported: int) -> bool:
        """Whether a server could report this count; judged by the prior, not by the samples."""
        least = 0.5 if self.method == "estimate" else 0.9
        text = features.text + features.images
        guess = dot_product(prior_costs(self.template), features.row) + features.images
        return reported > 0 and least * text <= reported <= 2.0 * guess + 2_000

    def to_json(self) -> str:
        return json.dumps(
            {
                "method": self.method,
                "answers": [
                    [*serialize_features(sample.features), sample.reported] for sample in self.samples
                ],
            },
            separators=(",", ":"),
        )

    @classmethod
    def from_json(cls, method: Method, family: str, text: str) -> Self:
        """Reads what `to_json` wrote; invalid samples and those of another method are dropped."""
        fresh = cls.fresh(method, family)
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return fresh
        if not isinstance(value, dict) or value.get("method") != method:
            return fresh
        listed = value.get("answers")
        samples = map(parse_sample, listed[-2 * _MAX_SAMPLES :]) if isinstance(listed, list) else ()
        plausible = [
            sample
            for sample in samples
            if sample is not None and fresh.plausible(sample.features, sample.reported)
        ]
        return cls._fit(method, fresh.template, tuple(plausible))

    @classmethod
    def _fit(cls, method: Method, template: Template, samples: tuple[CountSample, ...]) -> Self:
        """Fits the costs by regression on relative errors, starting at the prior; outliers weigh less."""
        guess, noise = prior_costs(template), _NOISE[method]
        certainty = [1.0 / (sure * sure) for sure in _PRIOR_DEVIATIONS[method]]
        weights = [1.0 / (1.0 + noise * sample.reported) ** 2 for sample in samples]
        costs, covariance = guess, invert(information_matrix(certainty, [], []))
        robustness = [1.0] * len(samples)
        for _ in range(_ROUNDS if samples else 0):
            rows = [sample.features.row for sample in samples]
            products = [weight * factor for weight, factor in zip(weights, robustness, strict=True)]
            covariance = invert(information_matrix(certainty, rows, products))
            pull = [sure * first for sure, first in zip(certainty, guess, strict=True)]
            for sample, row, weight in zip(samples, rows, products, strict=True):
                target = weight * (sample.reported - sample.features.images)
                pull = [have + target * number for have, number in zip(pull, row, strict=True)]
            costs = tuple(dot_product(line, pull) for line in covariance)
            # A cost cannot be negative: such costs are fixed at zero.
            certainty = [_CERTAIN if cost < 0 else sure for cost, sure in zip(costs, certainty, strict=True)]
            guess = tuple(0.0 if cost < 0 else first for cost, first in zip(costs, guess, strict=True))
            robustness = [
                1.0 / max(1.0, abs(residual(costs, sample)) * sqrt(weight))
                for sample, weight in zip(samples, weights, strict=True)
            ]
        errors = sorted(abs(residual(costs, sample)) / sample.reported for sample in samples)
        spread = 1.5 * errors[len(errors) * 2 // 3] if errors else 0.0
        return cls(method, template, samples, costs, covariance, spread)


class Bounds(Protocol):
    """A number of tokens with lower and upper bounds."""

    @property
    def tokens(self) -> int: ...

    @property
    def low(self) -> int: ...

    @property
    def high(self) -> int: ...


def is_truncated(expected: Bounds, reported: int, num_ctx: int, num_keep: int = 4) -> bool:
    """Whether a server that reports so few tokens has silently truncated the prompt to fit its window.

    Ollama keeps a few tokens and the end of a long prompt and, depending on its version, reports one of two
    lengths. If the prompt may really have had that length, the report proves nothing.
    """
    if reported <= 0 or num_ctx <= 0:
        return False
    halved = num_ctx - (num_ctx - num_keep) // 2
    signature = abs(reported - halved) <= 1 or reported == num_ctx
    too_long = expected.high >= num_ctx and expected.tokens > reported
    return (signature and too_long) or reported < 0.8 * expected.low


def prior_costs(template: Template) -> tuple[float, ...]:
    return (
        1.0,
        1.0,
        template.message,
        template.call,
        template.tool,
        template.tools,
        template.unprompted,
        template.start,
    )


def information_matrix(
    certainty: Sequence[float], rows: Sequence[Sequence[float]], weights: Sequence[float]
) -> Matrix:
    size = range(len(certainty))
    return tuple(
        tuple(
            sum(weight * row[i] * row[j] for row, weight in zip(rows, weights, strict=True))
            + (certainty[i] if i == j else 0.0)
            for j in size
        )
        for i in size
    )


def residual(costs: Sequence[float], sample: CountSample) -> float:
    return dot_product(costs, sample.features.row) + sample.features.images - sample.reported


def serialize_features(features: PromptFeatures) -> list[float]:
    return [
        features.text,
        features.messages,
        features.tool_text,
        features.calls,
        features.tools,
        int(features.unprompted),
        features.images,
        round(features.doubt, 1),
    ]


def parse_sample(value: Any) -> CountSample | None:
    match value:
        case [*numbers] if len(numbers) == 9 and all(map(is_sane, numbers)):
            text, messages, tool_text, calls, tools, unprompted, images = map(int, numbers[:7])
            features = PromptFeatures(
                text, messages, tool_text, calls, tools, bool(unprompted), images, float(numbers[7])
            )
            return CountSample(features, int(numbers[8]))
    return None


def is_sane(number: Any) -> bool:
    return type(number) in (int, float) and 0 <= number < 1e9 and isfinite(number)
