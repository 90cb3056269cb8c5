"""Digests of data: JSON, JSON lines and TOML by their shape, YAML by its keys, CSV and TSV by their columns.

`locate_keys` finds the keys of JSON, TOML and YAML as `a.b`. YAML is read by patterns, which is fast and
enough for an outline. Numbers and dates in tables may be German or English.
"""

import csv
import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from holdfast.files.digests.base import (
    Digest,
    ElementLocation,
    LineIndex,
    finish_digest,
    nest_names,
    plural,
    shorten_line,
)
from holdfast.text.patterns import late
from holdfast.tokens.estimate import UNKNOWN, estimate

_BLANK = late(r"[ \t\r\n]*")
_TOML_TABLE = late(r"\[\[?([^\[\]\n]+)\]\]?[ \t\r]*(?:#.*)?$")
_TOML_KEY = late(r"([\w.\"-]+)[ \t]*=")
_YAML_LINE = late(
    r"(?P<dash>(?:-[ \t]+)*)"
    r"(?P<key>\"[^\"\n]{1,200}\"|'[^'\n]{1,200}'|[^\s#&*!|>%@`\"'{}\[\],-][^\n:#]{0,200}?)"
    r"[ \t]*:(?:[ \t]+(?P<value>.*))?$"
)
# How deep keys of JSON can be named.
_DEEPEST_KEY = 4
# A key takes at least these tokens.
_LEAST_KEY_TOKENS = 2
# (depth, length of a value), each smaller than the one before.
_YAML_STEPS = ((9, 60), (5, 40), (3, 30), (2, 20), (2, 0), (1, 0))


def locate_keys(kind: str, text: str) -> Iterator[ElementLocation]:
    if kind == "toml":
        return locate_toml_keys(text)
    return locate_yaml_keys(text) if kind == "yaml" else locate_json_keys(text)


def locate_json_keys(text: str) -> Iterator[ElementLocation]:
    try:
        yield from list(walk_members(text, 0, "", json.JSONDecoder(), 1))
    except (ValueError, IndexError, RecursionError):
        return


def walk_members(
    text: str, at: int, before: str, decoder: json.JSONDecoder, depth: int
) -> Iterator[ElementLocation]:
    at = skip_blanks(text, at)
    if text[at] != "{":
        return
    at = skip_blanks(text, at + 1)
    while text[at] == '"':
        key, end = decoder.raw_decode(text, at)
        inner = skip_blanks(text, skip_blanks(text, end) + 1)
        value, end = decoder.raw_decode(text, inner)
        yield ElementLocation(f"{before}{key}", at, end)
        if isinstance(value, dict) and depth < _DEEPEST_KEY:
            yield from walk_members(text, inner, f"{before}{key}.", decoder, depth + 1)
        at = skip_blanks(text, end)
        if text[at] != ",":
            return
        at = skip_blanks(text, at + 1)


def skip_blanks(text: str, at: int) -> int:
    blanks = _BLANK.match(text, at)
    return blanks.end() if blanks else at


def locate_toml_keys(text: str) -> Iterator[ElementLocation]:
    """Yield tables and their keys. A key reaches to the next one, which includes values of several lines."""
    lines = LineIndex(text)
    keys: list[tuple[str, int, bool]] = []
    table = ""
    for number, line in enumerate(lines.all):
        head = _TOML_TABLE.match(line)
        key = None if head else _TOML_KEY.match(line)
        if head:
            table = head[1].strip()
            keys.append((table, number, True))
        elif key:
            keys.append((f"{table}.{key[1]}" if table else key[1], number, False))
    locations: list[ElementLocation] = []
    next_key = next_table = len(lines.all)
    for name, first, is_table in reversed(keys):
        locations.append(lines.locate(name, first, (next_table if is_table else next_key) - 1))
        next_key = first
        next_table = first if is_table else next_table
    yield from reversed(locations)


class _YamlKey(NamedTuple):
    """A key of YAML. `repeated`: it is in a list, after the first item."""

    indent: int
    name: str
    value: str
    line: int
    dash: bool
    repeated: bool


def locate_yaml_keys(text: str) -> Iterator[ElementLocation]:
    lines = LineIndex(text)
    keys = [(key.indent, key.name, key.line) for key in read_yaml_keys(lines.all) if not key.repeated]
    for name, first, last in nest_names(keys, len(lines.all) - 1):
        yield lines.locate(name, first, last)


def read_yaml_keys(lines: list[str]) -> Iterator[_YamlKey]:
    """Yield the keys in their order. Deeper lines below a block scalar are its text."""
    block = -1
    # Indentation of each open list, and whether its first item is over.
    lists: list[tuple[int, bool]] = []
    for number, line in enumerate(lines):
        code = line.lstrip(" ")
        indent = len(line) - len(code)
        if not code.strip() or code[0] == "#" or (block >= 0 and indent > block):
            continue
        block = -1
        is_item = code[0] == "-" and code[1:2] in ("", " ", "\t", "\r")
        while lists and (indent < lists[-1][0] or (indent == lists[-1][0] and not is_item)):
            lists.pop()
        if is_item:
            known = bool(lists) and lists[-1][0] == indent
            if known:
                lists.pop()
            lists.append((indent, known))
        match = _YAML_LINE.match(code, 0, 2_000)
        if match is None:
            continue
        dash, key, value = match.groups("")
        place = indent + len(dash)
        if value[:1] in ("|", ">"):
            block = place
        repeated = bool(lists) and any(over for _, over in lists)
        yield _YamlKey(place, key.strip("\"'"), value, number, bool(dash), repeated)


def digest_yaml(text: str, most: int) -> Digest | None:
    """Return the digest of YAML: its keys, the first item of lists, the beginning of values."""
    lines = text.split("\n")
    keys = list(read_yaml_keys(lines))
    if not keys:
        return None
    leveled = list(add_levels(keys))
    body: list[str] = []
    for deepest, longest in _YAML_STEPS:
        if deepest > 1 and _LEAST_KEY_TOKENS * sum(level < deepest for level, _ in leveled) > most:
            continue
        body = [format_yaml_key(level, key, longest) for level, key in leveled if level < deepest]
        if estimate("\n".join(body), UNKNOWN).tokens <= most:
            break
    else:
        while len(body) > 1 and estimate("\n".join(body), UNKNOWN).tokens > most:
            del body[max(1, 3 * len(body) // 4) :]
    gone = f"{plural(len(keys) - len(body), 'key')} of {len(keys):,}"
    return finish_digest(
        "yaml", body, f"left out of {plural(len(lines), 'line')}: {gone}, long values, items after the first"
    )


def add_levels(keys: list[_YamlKey]) -> Iterator[tuple[int, _YamlKey]]:
    above: list[int] = []
    for key in keys:
        if key.repeated:
            continue
        while above and above[-1] >= key.indent:
            above.pop()
        yield len(above), key
        above.append(key.indent)


def format_yaml_key(level: int, key: _YamlKey, longest: int) -> str:
    sign = "- " if key.dash else ""
    value = f" {shorten_line(key.value, longest)}" if longest and key.value else ""
    return f"{'  ' * level}{sign}{shorten_line(key.name, 80)}:{value}"


_DELIMITERS = ",;\t|"
# Rows that are read to find the type of a column.
_SAMPLE_ROWS = 1_000
_INTEGER = late(r"[+-]?\d{1,18}")
_NUMBER = late(r"[+-]?(?:\d+|\d{1,3}(?:[.,' ]\d{3})+)(?:[.,]\d+)?(?:[eE][+-]?\d+)?\s?(?:%|€|\$|£|EUR|USD)?")
_GERMAN_NUMBER = late(
    r"[+-]?(?:\d{1,3}(?:\.\d{3})+,\d+|\d+,\d{1,2}|\d+,\d{4,})\b.*|[+-]?\d{1,3}(?:\.\d{3}){2,}"
)
_DATE = late(
    r"\d{4}-\d\d?-\d\d?(?:[T ]\d\d:\d\d.*)?|\d\d?\.\d\d?\.\d{2,4}(?: \d\d:\d\d.*)?"
    r"|\d\d?/\d\d?/\d{2,4}(?: .*)?"
)
_BOOLEAN_WORDS = frozenset({"true", "false", "yes", "no", "ja", "nein", "wahr", "falsch"})
# (sample rows, length of a cell, columns), each smaller than the one before.
_TABLE_STEPS = ((5, 60, 200), (3, 40, 100), (3, 24, 60), (2, 16, 40), (1, 12, 24), (0, 0, 24), (0, 0, 10))


def digest_table(text: str, most: int, sign: str = "") -> Digest | None:
    sign = sign or detect_delimiter(text)
    if not sign:
        return None
    try:
        rows = [row for row in csv.reader(text.split("\n"), delimiter=sign) if row]
    except csv.Error:
        return None
    if len(rows) < 2 or len(rows[0]) < 2:
        return None
    titled = is_header(rows)
    names = rows[0] if titled else [f"column {number + 1}" for number in range(len(rows[0]))]
    data = rows[1:] if titled else rows
    body: list[str] = []
    samples = 0
    for samples, longest, columns in _TABLE_STEPS:
        body = [
            f"{plural(len(data), 'row')}, {plural(len(names), 'column')}, parted by {delimiter_name(sign)}"
        ]
        body += describe_columns(names[:columns], data[:_SAMPLE_ROWS])
        if len(names) > columns:
            body.append(f"… {plural(len(names) - columns, 'column')} more")
        for row in data[:samples]:
            body.append("> " + f"{sign} ".join(shorten_line(cell, longest) for cell in row[:columns]))
        if estimate("\n".join(body), UNKNOWN).tokens <= most:
            break
    gone = len(data) - min(samples, len(data))
    return finish_digest("table", body, f"{gone:,} of {plural(len(data), 'row')} left out, long cells cut")


def detect_delimiter(text: str) -> str:
    """Return the character that most of the first lines have equally often, or ""."""
    lines = [line for line in text[:20_000].split("\n")[:30] if line.strip()]
    # The last line may be incomplete.
    lines = lines[:-1] if len(text) > 20_000 and len(lines) > 1 else lines
    best, most = "", 0
    for sign in _DELIMITERS:
        counts = Counter(strip_quoted(line).count(sign) for line in lines)
        number, often = counts.most_common(1)[0] if counts else (0, 0)
        if number and often >= max(2, 0.8 * len(lines)) and number * often > most:
            best, most = sign, number * often
    return best


def strip_quoted(line: str) -> str:
    """Return a line without its quoted parts."""
    return "".join(line.split('"')[::2]) if '"' in line else line


def is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is a header: no numbers or dates, and no name twice."""
    first = [cell.strip() for cell in rows[0]]
    return len(set(first)) == len(first) and not any(
        _NUMBER.fullmatch(cell) or _DATE.fullmatch(cell) for cell in first
    )


def describe_columns(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for place, name in enumerate(names):
        cells = [row[place].strip() for row in rows if len(row) > place]
        filled = [cell for cell in cells if cell]
        kind = column_type(filled)
        values = Counter(filled)
        if kind == "text" and len(values) <= 6 and len(filled) >= 4 * len(values):
            kind += ": " + ", ".join(shorten_line(value, 20) for value, _ in values.most_common())
        empty = len(rows) - len(filled)
        often = f", empty in {empty:,} of {len(rows):,}" if empty and filled else ""
        yield f"- {shorten_line(name, 60)}: {kind}{often}"


def column_type(cells: Sequence[str]) -> str:
    if not cells:
        return "empty"
    if all(cell.casefold() in _BOOLEAN_WORDS for cell in cells):
        return "yes or no"
    if all(map(_INTEGER.fullmatch, cells)):
        return format_range("whole number", [str(low) for low in extremes([int(cell) for cell in cells])])
    if all(map(_DATE.fullmatch, cells)):
        iso = all(cell[4:5] == "-" for cell in cells)
        return format_range("date", [min(cells), max(cells)] if iso else [cells[0], cells[-1]])
    if all(map(_NUMBER.fullmatch, cells)):
        return "number, written as in German" if any(map(_GERMAN_NUMBER.fullmatch, cells)) else "number"
    return "text"


def extremes(numbers: Sequence[int]) -> tuple[int, int]:
    return min(numbers), max(numbers)


def format_range(kind: str, ends: Sequence[str]) -> str:
    return f"{kind}, {ends[0]}" if ends[0] == ends[1] else f"{kind}, {ends[0]} to {ends[1]}"


def delimiter_name(sign: str) -> str:
    return {",": "commas", ";": "semicolons", "\t": "tabs"}.get(sign, sign)


# Items of a long list that are read to find their keys.
_SAMPLE_ITEMS = 500
# More keys than this, with values of one kind, are data themselves.
_MANY_KEYS = 24
# tomllib takes a minute for a key of a hundred thousand parts.
_ENDLESS_KEY = late(r"^[ \t\[]*+(?:[\w-]*+[ \t]*+\.[ \t]*+){60}", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _ShapeStep:
    """A level of detail: depth, keys of an object, length of a sample."""

    depth: int
    keys: int
    sample: int


_SHAPE_STEPS = (
    _ShapeStep(7, 60, 60),
    _ShapeStep(5, 40, 40),
    _ShapeStep(4, 30, 30),
    _ShapeStep(3, 20, 24),
    _ShapeStep(3, 12, 16),
    _ShapeStep(2, 12, 16),
    _ShapeStep(2, 8, 0),
    _ShapeStep(1, 12, 0),
    _ShapeStep(1, 5, 0),
)


def digest_values(kind: str, text: str, most: int) -> Digest | None:
    try:
        value: object = _PARSERS[kind](text)
    except (ValueError, RecursionError):
        return None
    return write_shape(kind, value, text, most) if isinstance(value, dict | list) and value else None


def write_shape(kind: str, value: object, text: str, most: int) -> Digest:
    size = f"{plural(text.count(chr(10)) + 1, 'line')} and {plural(len(text), 'character')}"
    body: list[str] = []
    for step in _SHAPE_STEPS:
        body = list(describe_value("", value, 0, step))
        if estimate("\n".join(body), UNKNOWN).tokens <= most:
            break
    deeper = (
        ""
        if step is _SHAPE_STEPS[0]
        else f", keys below level {step.depth} and past {step.keys} of an object"
    )
    return finish_digest(kind, body, f"values left out of {size}{deeper}")


def parse_json_lines(text: str) -> list[Any]:
    """Parse one value per line; an incomplete last line is ignored."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 2:
        raise ValueError("not several lines")
    values = [json.loads(line) for line in lines[:-1]]
    try:
        values.append(json.loads(lines[-1]))
    except ValueError:
        return values
    return values


def parse_toml(text: str) -> dict[str, Any]:
    if _ENDLESS_KEY.search(text):
        raise ValueError("a key of so many parts is no key")
    return tomllib.loads(text)


_PARSERS: dict[str, Callable[[str], Any]] = {
    "json": json.loads,
    "jsonl": parse_json_lines,
    "toml": parse_toml,
}


def describe_value(name: str, value: object, depth: int, step: _ShapeStep) -> Iterator[str]:
    before = "  " * (depth - 1) + (f"{shorten_line(name, 80)}: " if name else "")
    if isinstance(value, Mapping):
        yield f"{before}object, {plural(len(value), 'key')}"
        yield from describe_keys(value, depth, step)
    elif isinstance(value, list):
        yield f"{before}{describe_list(value, step)}"
        yield from describe_items(value, depth, step)
    else:
        yield before + describe_scalar(value, step)


def describe_keys(value: Mapping[str, Any], depth: int, step: _ShapeStep) -> Iterator[str]:
    if depth >= step.depth:
        return
    if len(value) > _MANY_KEYS and len({value_kind(part) for part in value.values()}) == 1:
        yield from describe_uniform_keys(value, depth, step)
        return
    for key in list(value)[: step.keys]:
        yield from describe_value(str(key) or '""', value[key], depth + 1, step)
    if len(value) > step.keys:
        yield "  " * depth + f"… {plural(len(value) - step.keys, 'key')} more"


def describe_uniform_keys(value: Mapping[str, Any], depth: int, step: _ShapeStep) -> Iterator[str]:
    names = [shorten_line(str(key), 40) for key in list(value)[:5]]
    yield "  " * depth + f"{', '.join(names)}, … each {value_kind(next(iter(value.values())))}, such as:"
    yield from describe_value(names[0] or '""', next(iter(value.values())), depth + 1, step)


def describe_list(value: Sequence[Any], step: _ShapeStep) -> str:
    if not value:
        return "empty list"
    kinds = Counter(map(value_kind, value[:_SAMPLE_ITEMS]))
    if len(kinds) > 1:
        named = ", ".join(kind for kind, _ in kinds.most_common())
        return f"list of {len(value):,} ({named})"
    kind = next(iter(kinds))
    sample = ""
    if kind in ("text", "number") and step.sample:
        sample = (
            ": "
            + ", ".join(format_sample(part, step.sample) for part in value[:3])
            + (", …" * (len(value) > 3))
        )
    return f"list of {plural(len(value), kind)}{sample}"


def describe_items(value: Sequence[Any], depth: int, step: _ShapeStep) -> Iterator[str]:
    """Describe the combined keys of the objects in a list, or the first of its lists."""
    objects = [part for part in value[:_SAMPLE_ITEMS] if isinstance(part, dict)]
    if not objects:
        if value and isinstance(value[0], list) and depth < step.depth:
            yield from describe_value("", value[0], depth + 1, step)
        return
    seen = Counter(key for part in objects for key in part)
    merged: dict[str, Any] = {}
    for part in objects:
        for key, inner in part.items():
            if merged.get(key) is None:
                merged[key] = inner
    named = {key if seen[key] == len(objects) else f"{key} (not in all)": merged[key] for key in merged}
    yield from describe_keys(named, depth, step)


def describe_scalar(value: object, step: _ShapeStep) -> str:
    kind = value_kind(value)
    if kind in ("null", "true or false") or not step.sample:
        return kind if kind != "true or false" else str(value).lower()
    return f"{kind} {format_sample(value, step.sample)}"


def format_sample(value: object, most: int) -> str:
    return f'"{shorten_line(value, most)}"' if isinstance(value, str) else shorten_line(str(value), most)


def value_kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, dict):
        return "object"
    return "list" if isinstance(value, list) else "text"
