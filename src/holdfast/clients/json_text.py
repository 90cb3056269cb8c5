"""Edits JSON as a person would: only what changes is written, comments, order and layout stay.

JSON with comments, trailing commas and JSON5 are parts of JavaScript: its parser finds where things are.
"""

import json
import re
from functools import cache
from typing import Any

import tree_sitter_javascript
from tree_sitter import Language, Node, Parser

from holdfast.clients.base import Each, Step
from holdfast.errors import ConfigError
from holdfast.i18n import lazy

# Stands for a value that is not there; None is a value of JSON.
MISSING: Any = object()

_BOM = "\ufeff"
_ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|.)", re.DOTALL)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_NAMES = {"true": True, "false": False, "null": None, "undefined": None}


class JsonText:
    """A JSON document that is edited in place; `text` is how it stands now."""

    def __init__(self, text: str) -> None:
        self._bom = _BOM if text.startswith(_BOM) else ""
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._source = b""
        self._root: Node | None = None
        self._load(text.removeprefix(_BOM).encode())

    @property
    def text(self) -> str:
        return self._bom + self._source.decode()

    def value(self) -> Any:
        return None if self._root is None else read_value(self._root)

    def get(self, path: tuple[Step, ...]) -> Any:
        node = self._root
        for step in path:
            node = None if node is None else self._child(node, step)
        return MISSING if node is None else read_value(node)

    def set(self, path: tuple[Step, ...], value: Any) -> None:
        """Write a value; containers on the way are made if they are not there."""
        if self._root is None:
            empty = "[]" if isinstance(path[0], Each) else "{}"
            separator = b"" if not self._source or self._source.endswith(b"\n") else self._newline.encode()
            self._load(self._source + separator + empty.encode() + self._newline.encode())
        node = self._root
        assert node is not None
        for depth, step in enumerate(path):
            self._check_container(node, step)
            child = self._child(node, step, value)
            if child is None:
                self._insert(node, step, nest(path[depth + 1 :], value))
                return
            node = child
            rest = path[depth + 1 :]
            if rest and read_value(node) is None:
                self._replace(node, nest(rest, value))
                return
        if read_value(node) != value:
            self._replace(node, value)

    def delete(self, path: tuple[Step, ...], value: Any = MISSING) -> None:
        """Remove a pair or an element with its comma; nothing happens if it is not there."""
        node = self._root
        for step in path[:-1]:
            node = None if node is None else self._child(node, step)
        child = None if node is None else self._child(node, path[-1], value)
        if node is None or child is None:
            return
        item = child.parent if node.type == "object" else child
        assert item is not None
        commas = [child for child in node.children if child.type == ","]
        start, end = _span(item)
        start = len(self._source[:start].rstrip())
        after = next((comma for comma in commas if comma.start_byte >= item.end_byte), None)
        before = next((comma for comma in reversed(commas) if comma.end_byte <= item.start_byte), None)
        if after is not None:
            end = _span(after)[1]
        if (
            not self._source[_span(node)[0] + 1 : start].strip()
            and not self._source[end : _span(node)[1] - 1].strip()
        ):
            # Nothing else is inside.
            end = _span(node)[1] - 1
        source = self._source[:start] + self._source[end:]
        if after is None and before is not None:
            source = source[: _span(before)[0]] + source[_span(before)[1] :]
        self._load(source)

    def _load(self, source: bytes) -> None:
        # In parentheses, or an object would be a block; on a line of its own, as a comment may end the text.
        tree = _parser().parse(b"(" + source + b"\n)")
        self._source = source
        self._root = _find_root(tree.root_node, source)

    def _child(self, node: Node, step: Step, value: Any = MISSING) -> Node | None:
        if isinstance(step, str):
            pairs = [item for item in _items(node) if node.type == "object" and _key(item) == step]
            # The last of two pairs with one key counts.
            return pairs[-1].child_by_field_name("value") if pairs else None
        if node.type != "array":
            return None
        for item in _items(node):
            content = read_value(item)
            if step.key and isinstance(content, dict) and content.get(step.key) == step.name:
                return item
            if not step.key and value is not MISSING and content == value:
                return item
        return None

    def _check_container(self, node: Node, step: Step) -> None:
        wanted = "object" if isinstance(step, str) else "array"
        if node.type != wanted:
            raise ConfigError(
                lazy("There is something else where {step} should go.", step=str(getattr(step, "name", step)))
            )

    def _replace(self, node: Node, value: Any) -> None:
        start, end = _span(node)
        written = self._render(value, self._indent_of(start))
        self._load(self._source[:start] + written.encode() + self._source[end:])

    def _insert(self, container: Node, step: Step, value: Any) -> None:
        items = _items(container)
        head = f"{json.dumps(step, ensure_ascii=False)}: " if isinstance(step, str) else ""
        start, end = _span(container)
        if items and start_row(container) == end_row(container):
            written = f", {head}{json.dumps(value, ensure_ascii=False)}"
            at = _span(items[-1])[1]
            self._load(self._source[:at] + written.encode() + self._source[at:])
            return
        outer = self._indent_of(start)
        if not items:
            inner = outer + self._unit()
            kept = self._source[start + 1 : end - 1].decode().rstrip()
            written = f"{kept}{self._newline}{inner}{head}{self._render(value, inner)}{self._newline}{outer}"
            self._load(self._source[: start + 1] + written.encode() + self._source[end - 1 :])
            return
        inner = self._indent_of(_span(items[-1])[0])
        last, place, comma = _end_of_items(container, items[-1])
        written = f"{self._newline}{inner}{head}{self._render(value, inner)}{',' if comma else ''}"
        source = self._source[:place] + written.encode() + self._source[place:]
        self._load(source if comma else source[:last] + b"," + source[last:])

    def _indent_of(self, at: int) -> str:
        line = self._source[self._source.rfind(b"\n", 0, at) + 1 : at].decode()
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _unit(self) -> str:
        """Return one level of indentation as the document has it."""
        if self._root is not None and self._root.type == "object":
            for item in _items(self._root):
                if indent := self._indent_of(_span(item)[0]):
                    return indent
        return "  "

    def _render(self, value: Any, indent: str) -> str:
        unit = self._unit()
        text = json.dumps(value, ensure_ascii=False, indent="\t" if "\t" in unit else len(unit))
        return text.replace("\n", f"{self._newline}{indent}")


def nest(path: tuple[Step, ...], value: Any) -> Any:
    """Return the value inside the containers that a path leads through."""
    for step in reversed(path):
        value = {step: value} if isinstance(step, str) else [value]
    return value


def read_value(node: Node) -> Any:
    """Return what a literal stands for; raise an error for anything that is no literal."""
    text = (node.text or b"").decode()
    match node.type:
        case "object":
            return {_key(item): _pair_value(item) for item in _items(node)}
        case "array":
            return [read_value(item) for item in _items(node)]
        case "string":
            return _unquote(text)
        case "number" | "unary_expression":
            return _read_number(text)
        case _ if text in _NAMES:
            return _NAMES[text]
        case _:
            raise _unreadable(text)


def _pair_value(pair: Node) -> Any:
    value = pair.child_by_field_name("value")
    if value is None:
        raise _unreadable((pair.text or b"").decode())
    return read_value(value)


def _read_number(text: str) -> float | int:
    plain = text.replace(" ", "").removeprefix("+").replace("Infinity", "inf").replace("NaN", "nan")
    try:
        return int(plain, 0)
    except ValueError:
        try:
            return float(plain)
        except ValueError:
            raise _unreadable(text) from None


def _unquote(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return _ESCAPE.sub(_unescape, text[1:-1])


def _unescape(match: re.Match[str]) -> str:
    escape = match[1]
    if len(escape) > 1 and escape[0] in "ux":
        return chr(int(escape[1:].strip("{}"), 16))
    return "" if escape in ("\n", "\r\n") else _ESCAPED.get(escape, escape)


def _key(pair: Node) -> str:
    key = pair.child_by_field_name("key")
    if key is None:
        raise _unreadable((pair.text or b"").decode())
    text = (key.text or b"").decode()
    return _unquote(text) if key.type == "string" else text


def _items(container: Node) -> list[Node]:
    return [child for child in container.named_children if child.type != "comment"]


def _find_root(program: Node, source: bytes) -> Node | None:
    """Return the document's value; None if there are only comments and blanks."""
    if program.has_error and _is_blank(source):
        return None
    statement = next((child for child in program.named_children if child.type != "comment"), None)
    wrapped = statement.named_children if statement is not None else []
    inner = [
        child for part in wrapped if part.type == "parenthesized_expression" for child in part.named_children
    ]
    values = [child for child in inner if child.type != "comment"]
    if program.has_error or len(values) != 1 or values[0].type not in ("object", "array"):
        raise ConfigError(lazy("It is not the JSON that was expected."))
    try:
        read_value(values[0])
    except RecursionError:
        raise ConfigError(lazy("It is not the JSON that was expected.")) from None
    return values[0]


def _is_blank(source: bytes) -> bool:
    text = re.sub(rb"/\*.*?\*/", b"", source, flags=re.DOTALL)
    return not re.sub(rb"//[^\n]*", b"", text).strip()


def _span(node: Node) -> tuple[int, int]:
    """Return where a node is in the document, without the parenthesis that was put before it."""
    return node.start_byte - 1, node.end_byte - 1


def start_row(node: Node) -> int:
    return node.start_point[0]


def end_row(node: Node) -> int:
    return node.end_point[0]


def _end_of_items(container: Node, last: Node) -> tuple[int, int, bool]:
    """Return where a comma goes, where the next item goes, and whether a comma is there already.

    The next item goes after a comment that stands beside the last one, as that comment is about it.
    """
    comma, row, place = False, end_row(last), _span(last)[1]
    for child in container.children:
        if child.start_byte < last.end_byte:
            continue
        if child.type == ",":
            comma, row, place = True, start_row(child), _span(child)[1]
        elif child.type == "comment" and start_row(child) == row:
            place, row = _span(child)[1], end_row(child)
        else:
            break
    return _span(last)[1], place, comma


def _unreadable(text: str) -> ConfigError:
    return ConfigError(lazy("{text} is no value of JSON.", text=text[:60]))


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_javascript.language()))
