"""What real answers teach about counting for one model: how far estimates are off, what its template adds.

A value: `learn` gives a new one. It knows no server, no store and no messages, only numbers: what was
expected, in parts, and what the server reported.
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
    """The inverse, by elimination; `matrix` is positive definite, so no pivot is zero."""
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

    `tool_text` is what templates spell in their own way, or leave out: tools and the calls of them. `images`
    are tokens at a flat cost. The rest counts what a template writes something around: messages,
    tool calls and results, tools, and whether there is no system message (many templates then add one).
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
    """What a chat template adds, in tokens, as far as it is known before the first answer."""

    message: float = 5.0
    call: float = 12.0
    tool: float = 4.0
    tools: float = 80.0
    unprompted: float = 12.0
    start: float = 5.0


# By vocabulary family; most of them write a message between two or three special tokens and its role.
TEMPLATES: Mapping[str, Template] = {
    "llama2": Template(message=6.0, unprompted=0.0, start=2.0),
    "tekken": Template(message=3.0, unprompted=0.0, start=1.0),
    "deepseek": Template(message=2.0, unprompted=0.0, start=2.0),
    "gemma": Template(message=5.0, unprompted=0.0, start=4.0),
    "gpt-oss": Template(message=4.0, unprompted=0.0, start=70.0),
}

# How sure the first guess is: one standard deviation for text, tool text, message, call, tool, tools,
# unprompted, start. Exact counts know the text; how a template spells tools is for it to say.
_PRIOR_DEVIATIONS: Mapping[Method, tuple[float, ...]] = {
    "exact": (0.002, 0.5, 1.5, 8.0, 6.0, 60.0, 15.0, 15.0),
    "estimate": (0.15, 0.5, 1.5, 8.0, 6.0, 60.0, 15.0, 15.0),
}
# How much an answer may differ from the best fit without being strange, as a share of it.
_NOISE: Mapping[Method, float] = {"exact": 0.003, "estimate": 0.04}

# With and without tools are remembered apart, so that many of one kind do not make us forget the other.
_MAX_SAMPLES = 24
_ROUNDS = 4
_CERTAIN = 1e9
# An interval is three standard deviations to each side.
_WIDTH = 3.0
# What was learned from a few answers must not make us certain about texts of another kind: from so many on
# this
# share of the first doubt stays, and it shrinks as more of them agree.
_LEAST_DOUBT = 0.25
_MANY_SAMPLES = 8


@dataclass(frozen=True, slots=True)
class CountSample:
    parts: PromptFeatures
    reported: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """What one token of text and each thing a template adds costs, and how sure that is."""

    method: Method
    template: Template
    answers: tuple[CountSample, ...]
    costs: tuple[float, ...]
    covariance: Matrix
    spread: float

    @classmethod
    def fresh(cls, method: Method, family: str = "") -> Self:
        return cls._fit(method, TEMPLATES.get(family, Template()), ())

    @property
    def scale(self) -> float:
        """What a text's tokens are to be multiplied by; one for exact counts."""
        return self.costs[0] if self.method == "estimate" else 1.0

    @property
    def per_message(self) -> float:
        return max(0.0, self.costs[2])

    @property
    def per_call(self) -> float:
        return max(0.0, self.costs[3])

    def predict(self, parts: PromptFeatures) -> float:
        """The tokens of a whole request, without a word on how sure that is."""
        return max(dot_product(self.costs, parts.row) + parts.images, 1.0)

    def estimate(self, parts: PromptFeatures) -> Estimate:
        """The tokens of a whole request, with the least and the most it may be."""
        row = parts.row
        tokens = self.predict(parts)
        doubt, seen = parts.doubt / _WIDTH, self.spread * tokens
        if self.method == "exact":
            doubt = seen
        elif len(self.answers) >= _MANY_SAMPLES:
            doubt = min(doubt, max(seen, _LEAST_DOUBT * _MANY_SAMPLES / len(self.answers) * doubt))
        # Most requests have neither tools nor calls, and what is not there adds nothing.
        there = [(at, number) for at, number in enumerate(row) if number]
        unsure = sum(
            weight * sum([self.covariance[at][to] * number for to, number in there]) for at, weight in there
        )
        width = _WIDTH * sqrt(max(unsure, 0.0) + doubt * doubt + 1.0)
        return Estimate(round(tokens), max(1, int(tokens - width)), int(tokens + width) + 1)

    def learn(self, parts: PromptFeatures, reported: int, *, num_ctx: int | None = None) -> Self:
        """The same with one more answer, or itself where the numbers cannot belong together.

        `num_ctx` is the window the server ran with: an answer to a prompt that it cut short teaches nothing.
        """
        if not self.plausible(parts, reported):
            return self
        if num_ctx is not None and is_truncated(self.estimate(parts), reported, num_ctx):
            return self
        answers = [*self.answers, CountSample(parts, reported)]
        alike = [answer for answer in answers if bool(answer.parts.tools) == bool(parts.tools)]
        if len(alike) > _MAX_SAMPLES:
            answers.remove(alike[0])
        return self._fit(self.method, self.template, tuple(answers))

    def plausible(self, parts: PromptFeatures, reported: int) -> bool:
        """Whether a server could report this; judged by the first guess, not by what was learned since."""
        least = 0.5 if self.method == "estimate" else 0.9
        written = parts.text + parts.images
        guess = dot_product(prior_costs(self.template), parts.row) + parts.images
        return reported > 0 and least * written <= reported <= 2.0 * guess + 2_000

    def to_json(self) -> str:
        return json.dumps(
            {
                "method": self.method,
                "answers": [[*serialize_features(answer.parts), answer.reported] for answer in self.answers],
            },
            separators=(",", ":"),
        )

    @classmethod
    def from_json(cls, method: Method, family: str, text: str) -> Self:
        """What `to_json` wrote; whatever is broken or belongs to another method is left out."""
        fresh = cls.fresh(method, family)
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return fresh
        if not isinstance(value, dict) or value.get("method") != method:
            return fresh
        listed = value.get("answers")
        answers = map(parse_sample, listed[-2 * _MAX_SAMPLES :]) if isinstance(listed, list) else ()
        known = [
            answer
            for answer in answers
            if answer is not None and fresh.plausible(answer.parts, answer.reported)
        ]
        return cls._fit(method, fresh.template, tuple(known))

    @classmethod
    def _fit(cls, method: Method, template: Template, answers: tuple[CountSample, ...]) -> Self:
        """Regression on relative errors, beginning at the first guess; strange answers count for little."""
        guess, noise = prior_costs(template), _NOISE[method]
        certainty = [1.0 / (sure * sure) for sure in _PRIOR_DEVIATIONS[method]]
        weights = [1.0 / (1.0 + noise * answer.reported) ** 2 for answer in answers]
        costs, covariance, strange = (
            guess,
            invert(information_matrix(certainty, [], [])),
            [1.0] * len(answers),
        )
        for _ in range(_ROUNDS if answers else 0):
            rows = [answer.parts.row for answer in answers]
            weighed = [weight * odd for weight, odd in zip(weights, strange, strict=True)]
            covariance = invert(information_matrix(certainty, rows, weighed))
            pull = [sure * first for sure, first in zip(certainty, guess, strict=True)]
            for answer, row, weight in zip(answers, rows, weighed, strict=True):
                target = weight * (answer.reported - answer.parts.images)
                pull = [have + target * number for have, number in zip(pull, row, strict=True)]
            costs = tuple(dot_product(line, pull) for line in covariance)
            # Nothing a template writes costs less than nothing: what comes out so is pinned there.
            certainty = [_CERTAIN if cost < 0 else sure for cost, sure in zip(costs, certainty, strict=True)]
            guess = tuple(0.0 if cost < 0 else first for cost, first in zip(costs, guess, strict=True))
            strange = [
                1.0 / max(1.0, abs(residual(costs, answer)) * sqrt(weight))
                for answer, weight in zip(answers, weights, strict=True)
            ]
        errors = sorted(abs(residual(costs, answer)) / answer.reported for answer in answers)
        spread = 1.5 * errors[len(errors) * 2 // 3] if errors else 0.0
        return cls(method, template, answers, costs, covariance, spread)


class Bounds(Protocol):
    """A number of tokens with the least and the most it may be."""

    @property
    def tokens(self) -> int: ...

    @property
    def low(self) -> int: ...

    @property
    def high(self) -> int: ...


def is_truncated(expected: Bounds, reported: int, num_ctx: int, num_keep: int = 4) -> bool:
    """Whether a server that reports so few tokens has cut the prompt to fit its window, and told nobody.

    Ollama keeps a few tokens and the end of a prompt that is too long, and reports one of two lengths, by its
    version. Where the prompt may well have been as long as that, the length proves nothing.
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


def residual(costs: Sequence[float], answer: CountSample) -> float:
    return dot_product(costs, answer.parts.row) + answer.parts.images - answer.reported


def serialize_features(parts: PromptFeatures) -> list[float]:
    return [
        parts.text,
        parts.messages,
        parts.tool_text,
        parts.calls,
        parts.tools,
        int(parts.unprompted),
        parts.images,
        round(parts.doubt, 1),
    ]


def parse_sample(value: Any) -> CountSample | None:
    match value:
        case [*numbers] if len(numbers) == 9 and all(map(is_sane, numbers)):
            text, messages, tool_text, calls, tools, unprompted, images = map(int, numbers[:7])
            parts = PromptFeatures(
                text, messages, tool_text, calls, tools, bool(unprompted), images, float(numbers[7])
            )
            return CountSample(parts, int(numbers[8]))
    return None


def is_sane(number: Any) -> bool:
    return type(number) in (int, float) and 0 <= number < 1e9 and isfinite(number)
