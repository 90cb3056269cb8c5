"""Where the keys of JSON, TOML and YAML stand in a text, `a.b` by their dots; and YAML told by its lines.

Reads YAML by patterns alone: every key has its line, and that is enough for an outline in no time.
"""

import json
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.files.digests.values import Digest, Lines, Place, cut, ended, nested, plural
from holdfast.patterns import late
from holdfast.tokens.estimate import UNKNOWN, estimate

_BLANK = late(r"[ \t\r\n]*")
_TABLE = late(r"\[\[?([^\[\]\n]+)\]\]?[ \t\r]*(?:#.*)?$")
_KEY_OF_TOML = late(r"([\w.\"-]+)[ \t]*=")
_YAML = late(
    r"(?P<dash>(?:-[ \t]+)*)"
    r"(?P<key>\"[^\"\n]{1,200}\"|'[^'\n]{1,200}'|[^\s#&*!|>%@`\"'{}\[\],-][^\n:#]{0,200}?)"
    r"[ \t]*:(?:[ \t]+(?P<value>.*))?$"
)
# As deep as keys of JSON can be named.
_DEEPEST = 4
# A key takes at least these tokens.
_LEAST = 2
# (how deep, how long a value), each leaner than the one before.
_STEPS = ((9, 60), (5, 40), (3, 30), (2, 20), (2, 0), (1, 0))


def places(kind: str, text: str) -> Iterator[Place]:
    if kind == "toml":
        return _of_toml(text)
    return _of_yaml(text) if kind == "yaml" else _of_json(text)


def _of_json(text: str) -> Iterator[Place]:
    try:
        yield from list(_members(text, 0, "", json.JSONDecoder(), 1))
    except (ValueError, IndexError, RecursionError):
        return


def _members(text: str, at: int, before: str, decoder: json.JSONDecoder, depth: int) -> Iterator[Place]:
    at = _skip(text, at)
    if text[at] != "{":
        return
    at = _skip(text, at + 1)
    while text[at] == '"':
        key, end = decoder.raw_decode(text, at)
        inner = _skip(text, _skip(text, end) + 1)
        value, end = decoder.raw_decode(text, inner)
        yield Place(f"{before}{key}", at, end)
        if isinstance(value, dict) and depth < _DEEPEST:
            yield from _members(text, inner, f"{before}{key}.", decoder, depth + 1)
        at = _skip(text, end)
        if text[at] != ",":
            return
        at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _of_toml(text: str) -> Iterator[Place]:
    """Tables and their keys. A key lasts until the next one, so that values of several lines are in it."""
    lines = Lines(text)
    found: list[tuple[str, int, bool]] = []
    table = ""
    for number, line in enumerate(lines.all):
        head = _TABLE.match(line)
        key = None if head else _KEY_OF_TOML.match(line)
        if head:
            table = head[1].strip()
            found.append((table, number, True))
        elif key:
            found.append((f"{table}.{key[1]}" if table else key[1], number, False))
    placed: list[Place] = []
    next_key = next_table = len(lines.all)
    for name, first, is_table in reversed(found):
        placed.append(lines.place(name, first, (next_table if is_table else next_key) - 1))
        next_key = first
        next_table = first if is_table else next_table
    yield from reversed(placed)


class _Key(NamedTuple):
    """A key of YAML. `repeated` says that it stands in an item after the first of a list."""

    indent: int
    name: str
    value: str
    line: int
    dash: bool
    repeated: bool


def _of_yaml(text: str) -> Iterator[Place]:
    lines = Lines(text)
    found = [(key.indent, key.name, key.line) for key in _keys(lines.all) if not key.repeated]
    for name, first, last in nested(found, len(lines.all) - 1):
        yield lines.place(name, first, last)


def _keys(lines: list[str]) -> Iterator[_Key]:
    """The keys in their order. What is deeper than a key with a block of text is that text."""
    block = -1
    # Indentations of lists that are open, and whether the first item is over.
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
        found = _YAML.match(code, 0, 2_000)
        if found is None:
            continue
        dash, key, value = found.groups("")
        place = indent + len(dash)
        if value[:1] in ("|", ">"):
            block = place
        repeated = bool(lists) and any(over for _, over in lists)
        yield _Key(place, key.strip("\"'"), value, number, bool(dash), repeated)


def digest(text: str, most: int) -> Digest | None:
    """YAML by its keys: of lists the first item, of values the beginning."""
    lines = text.split("\n")
    keys = list(_keys(lines))
    if not keys:
        return None
    told = list(_leveled(keys))
    body: list[str] = []
    for deepest, longest in _STEPS:
        if deepest > 1 and _LEAST * sum(level < deepest for level, _ in told) > most:
            continue
        body = [_line(level, key, longest) for level, key in told if level < deepest]
        if estimate("\n".join(body), UNKNOWN).tokens <= most:
            break
    else:
        while len(body) > 1 and estimate("\n".join(body), UNKNOWN).tokens > most:
            del body[max(1, 3 * len(body) // 4) :]
    gone = f"{plural(len(keys) - len(body), 'key')} of {len(keys):,}"
    return ended(
        "yaml", body, f"left out of {plural(len(lines), 'line')}: {gone}, long values, items after the first"
    )


def _leveled(keys: list[_Key]) -> Iterator[tuple[int, _Key]]:
    above: list[int] = []
    for key in keys:
        if key.repeated:
            continue
        while above and above[-1] >= key.indent:
            above.pop()
        yield len(above), key
        above.append(key.indent)


def _line(level: int, key: _Key, longest: int) -> str:
    sign = "- " if key.dash else ""
    value = f" {cut(key.value, longest)}" if longest and key.value else ""
    return f"{'  ' * level}{sign}{cut(key.name, 80)}:{value}"
