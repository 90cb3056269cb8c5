"""What a tool is called with: one description of each argument, for the schema and for checking what came.

Models get names and types slightly wrong; what is meant beyond doubt is taken, the rest is said in a sentence
that tells how to call again. Knows no tool.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from holdfast.errors import BadRequest

Values = Mapping[str, Any]

# Of a question, no more is looked for.
LONGEST_QUERY = 2_000
# A number that is spelled with more of them is none that anybody means.
_DIGITS = 20


@dataclass(frozen=True, slots=True)
class Argument:
    """What has a `default` may be left out. `most` bounds a number; `choices` are the only words taken."""

    name: str
    about: str = ""
    default: str | int | None = None
    most: int = 1_000_000
    choices: tuple[str, ...] = ()

    @property
    def required(self) -> bool:
        return self.default is None

    @property
    def kind(self) -> Literal["string", "integer"]:
        return "integer" if isinstance(self.default, int) else "string"

    def schema(self) -> dict[str, Any]:
        # Every word here is read by a model in every conversation.
        told: dict[str, Any] = {"type": self.kind}
        if self.about:
            told["description"] = self.about
        if self.choices:
            told["enum"] = list(self.choices)
        if self.default:
            told["default"] = self.default
        return told

    def read(self, value: Any) -> Any:
        if self.kind == "integer":
            return self._number(value)
        if not isinstance(value, str):
            raise self._wrong("text")
        if self.required and not value.strip():
            raise self._wrong("some text, not an empty one")
        if self.choices and value not in self.choices:
            raise self._wrong(f"one of {', '.join(self.choices)}")
        return value

    def _number(self, value: Any) -> int:
        if isinstance(value, str) and value.strip().isdecimal() and len(value) <= _DIGITS:
            value = int(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= self.most:
            raise self._wrong(f"a whole number from 1 to {self.most:,}")
        return value

    def _wrong(self, wanted: str) -> BadRequest:
        return BadRequest(
            f"`{self.name}` is no such thing.", hint=f"It must be {wanted}. Call again.", param=self.name
        )


def schema_of(arguments: Sequence[Argument]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "type": "object",
        "properties": {one.name: one.schema() for one in arguments},
    }
    if required := [one.name for one in arguments if one.required]:
        told["required"] = required
    return told


def checked(arguments: Sequence[Argument], given: Values | None) -> dict[str, Any]:
    """A value for every argument, as it is meant or by default; null is as good as left out."""
    known = {one.name: one for one in arguments}
    values = {name: value for name, value in (given or {}).items() if value is not None}
    takes = f"It takes {', '.join(map(_spelled, arguments))}."
    for name in values:
        if name not in known:
            raise BadRequest(f"There is no argument `{name[:50]}`.", hint=takes, param=name)
    for one in arguments:
        if one.required and one.name not in values:
            raise BadRequest(f"`{one.name}` is missing.", hint=takes, param=one.name)
    return {one.name: one.read(values[one.name]) if one.name in values else one.default for one in arguments}


def _spelled(argument: Argument) -> str:
    return f"`{argument.name}`" if argument.required else f"`{argument.name}` (optional)"
