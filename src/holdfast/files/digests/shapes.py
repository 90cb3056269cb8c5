"""JSON, TOML and lists of JSON lines by their shape: keys, types, lengths, a sample of values.

Knows values, not files; where their keys stand in the text is found in `keys`, and YAML is read by its lines.
"""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.files.digests.values import Digest, cut, ended, plural
from holdfast.patterns import late
from holdfast.tokens.estimate import UNKNOWN, estimate

# Of a long list this many items are looked at to tell which keys they have.
_GLANCE = 500
# Keys as many as these, of values all alike, are data themselves.
_MANY = 24
# The library takes a minute for a key of a hundred thousand parts.
_ENDLESS_KEY = late(r"^[ \t\[]*+(?:[\w-]*+[ \t]*+\.[ \t]*+){60}", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Step:
    """How deep, how many keys of each object, how long a sample may be."""

    depth: int
    keys: int
    sample: int


_STEPS = (
    _Step(7, 60, 60),
    _Step(5, 40, 40),
    _Step(4, 30, 30),
    _Step(3, 20, 24),
    _Step(3, 12, 16),
    _Step(2, 12, 16),
    _Step(2, 8, 0),
    _Step(1, 12, 0),
    _Step(1, 5, 0),
)


def digest(kind: str, text: str, most: int) -> Digest | None:
    try:
        value: object = _READERS[kind](text)
    except (ValueError, RecursionError):
        return None
    return _written(kind, value, text, most) if isinstance(value, dict | list) and value else None


def _written(kind: str, value: object, text: str, most: int) -> Digest:
    size = f"{plural(text.count(chr(10)) + 1, 'line')} and {plural(len(text), 'character')}"
    body: list[str] = []
    for step in _STEPS:
        body = list(_told("", value, 0, step))
        if estimate("\n".join(body), UNKNOWN).tokens <= most:
            break
    deeper = "" if step is _STEPS[0] else f", keys below level {step.depth} and past {step.keys} of an object"
    return ended(kind, body, f"values left out of {size}{deeper}")


def _lines_of_json(text: str) -> list[Any]:
    """One value a line, as logs and data sets have it; a line that was cut off is not counted."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 2:
        raise ValueError("not several lines")
    found = [json.loads(line) for line in lines[:-1]]
    try:
        found.append(json.loads(lines[-1]))
    except ValueError:
        return found
    return found


def _toml(text: str) -> dict[str, Any]:
    if _ENDLESS_KEY.search(text):
        raise ValueError("a key of so many parts is no key")
    return tomllib.loads(text)


_READERS: dict[str, Callable[[str], Any]] = {
    "json": json.loads,
    "jsonl": _lines_of_json,
    "toml": _toml,
}


def _told(name: str, value: object, depth: int, step: _Step) -> Iterator[str]:
    before = "  " * (depth - 1) + (f"{cut(name, 80)}: " if name else "")
    if isinstance(value, Mapping):
        yield f"{before}object, {plural(len(value), 'key')}"
        yield from _keys(value, depth, step)
    elif isinstance(value, list):
        yield f"{before}{_list(value, step)}"
        yield from _items(value, depth, step)
    else:
        yield before + _scalar(value, step)


def _keys(value: Mapping[str, Any], depth: int, step: _Step) -> Iterator[str]:
    if depth >= step.depth:
        return
    if len(value) > _MANY and len({_kind(part) for part in value.values()}) == 1:
        yield from _alike(value, depth, step)
        return
    for key in list(value)[: step.keys]:
        yield from _told(str(key) or '""', value[key], depth + 1, step)
    if len(value) > step.keys:
        yield "  " * depth + f"… {plural(len(value) - step.keys, 'key')} more"


def _alike(value: Mapping[str, Any], depth: int, step: _Step) -> Iterator[str]:
    names = [cut(str(key), 40) for key in list(value)[:5]]
    yield "  " * depth + f"{', '.join(names)}, … each {_kind(next(iter(value.values())))}, such as:"
    yield from _told(names[0] or '""', next(iter(value.values())), depth + 1, step)


def _list(value: Sequence[Any], step: _Step) -> str:
    if not value:
        return "empty list"
    kinds = Counter(map(_kind, value[:_GLANCE]))
    if len(kinds) > 1:
        named = ", ".join(kind for kind, _ in kinds.most_common())
        return f"list of {len(value):,} ({named})"
    kind = next(iter(kinds))
    sample = ""
    if kind in ("text", "number") and step.sample:
        sample = (
            ": " + ", ".join(_sample(part, step.sample) for part in value[:3]) + (", …" * (len(value) > 3))
        )
    return f"list of {plural(len(value), kind)}{sample}"


def _items(value: Sequence[Any], depth: int, step: _Step) -> Iterator[str]:
    """The keys of objects in a list, taken together; of lists in a list, the first."""
    objects = [part for part in value[:_GLANCE] if isinstance(part, dict)]
    if not objects:
        if value and isinstance(value[0], list) and depth < step.depth:
            yield from _told("", value[0], depth + 1, step)
        return
    seen = Counter(key for part in objects for key in part)
    merged: dict[str, Any] = {}
    for part in objects:
        for key, inner in part.items():
            if merged.get(key) is None:
                merged[key] = inner
    named = {key if seen[key] == len(objects) else f"{key} (not in all)": merged[key] for key in merged}
    yield from _keys(named, depth, step)


def _scalar(value: object, step: _Step) -> str:
    kind = _kind(value)
    if kind in ("null", "true or false") or not step.sample:
        return kind if kind != "true or false" else str(value).lower()
    return f"{kind} {_sample(value, step.sample)}"


def _sample(value: object, most: int) -> str:
    return f'"{cut(value, most)}"' if isinstance(value, str) else cut(str(value), most)


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, dict):
        return "object"
    return "list" if isinstance(value, list) else "text"
