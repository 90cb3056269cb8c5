"""Sources of other languages than Python: their outline by tree-sitter.

Knows how a tree of nodes becomes an outline. What a node is in each language is in the table of grammars.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.files.digests.grammars import GRAMMARS, Grammar, Sort, parser_of
from holdfast.files.digests.outline import Entry, Kind, Outline, written
from holdfast.files.digests.values import Digest, Lines, Place, cut
from holdfast.patterns import late

if TYPE_CHECKING:
    from tree_sitter import Node

# Sources of more bytes are made by machines; trees of them take more memory than they are worth.
LARGEST = 3_000_000
# As deep as classes, modules and conditions are looked into.
_DEEPEST = 8
_SHORT = 300
_SIGNS = late(r"^[\s/*!#]+|[\s*/]+$")
_WORDS = late(r"[\w!]+")
_QUOTED = late(r"[\"'<]([^\"'>\n]+)[\"'>]")
_VALUES = frozenset({"arrow_function", "function_expression", "generator_function", "function"})


def digest(language: str, text: str, most: int) -> Digest | None:
    found = _read(language, text)
    if found is None or not found.entries:
        return None
    return written(replace(found, entries=_joined(found.entries)), most)


def places(language: str, text: str) -> Iterator[Place]:
    found = _read(language, text)
    if found is not None:
        yield from _placed(found.entries, Lines(text), "")


def _placed(entries: tuple[Entry, ...], lines: Lines, before: str) -> Iterator[Place]:
    for entry in entries:
        yield lines.place(before + entry.name, entry.first, entry.last)
        yield from _placed(entry.inside, lines, f"{before}{entry.name}.")


def _joined(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """What has one name several times, as `impl` in Rust, is told in one place."""
    found: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        known = found.get((entry.kind, entry.name))
        if known is None or entry.kind != "class":
            found[entry.kind, entry.name if entry.kind == "class" else f"{entry.name}:{len(found)}"] = entry
        else:
            public = known.public or entry.public
            both = (*known.inside, *entry.inside)
            found[entry.kind, entry.name] = replace(
                known, public=public, inside=both, doc=known.doc or entry.doc
            )
    return tuple(found.values())


def _read(language: str, text: str) -> Outline | None:
    data = text.encode("utf-8", "replace")
    if len(data) > LARGEST:
        return None
    try:
        tree = parser_of(language).parse(data)
    except ValueError:
        # It took too long.
        return None
    reader = _Reader(GRAMMARS[language], data)
    entries = tuple(reader.entries(tree.root_node, 0))
    return Outline(language, text.count("\n") + 1, entries, imports=tuple(dict.fromkeys(reader.imports)))


class _Reader:
    """One source while its tree is walked."""

    def __init__(self, grammar: Grammar, data: bytes) -> None:
        self._grammar = grammar
        self._data = data
        self.imports: list[str] = []

    def entries(self, node: "Node", depth: int) -> Iterator[Entry]:
        """What is inside a node, each with the comment right before it."""
        comment: Node | None = None
        row = -2
        for child in node.named_children:
            if "comment" in child.type:
                adjoining = comment is not None and child.start_point.row <= row + 1
                comment = comment if adjoining else child
            else:
                near = comment is not None and child.start_point.row <= row + 1
                yield from self._told(child, comment if near else None, depth)
                comment = None
            row = child.end_point.row

    def _told(self, node: "Node", comment: "Node | None", depth: int) -> Iterator[Entry]:
        sort = self._grammar.nodes.get(node.type)
        if sort is None or depth > _DEEPEST:
            return
        if sort == "import":
            self.imports += self._imported(node)
        elif sort == "through":
            for entry in self.entries(node, depth + 1):
                yield self._widened(entry, node, comment)
        elif sort == "variables":
            yield from self._variables(node, comment, depth)
        else:
            yield from self._entry(node, sort, comment, depth)

    def _entry(self, node: "Node", sort: Sort, comment: "Node | None", depth: int) -> Iterator[Entry]:
        body = node.child_by_field_name("body") or node.child_by_field_name("type")
        inside: tuple[Entry, ...] = ()
        if sort == "class" and body is not None:
            inside = tuple(self.entries(body, depth + 1))
        elif node.type in ("type_definition", "declaration", "field_declaration") and body is not None:
            # In C a type is often defined on the way to something else.
            yield from self._told(body, comment, depth + 1)
        name = self._name(node)
        if not name:
            return
        if sort == "constant" and self._declares(node):
            sort = "function"
        block = node.child_by_field_name("body")
        head = self._text(node, block.start_byte if block is not None else node.end_byte)
        if sort == "class":
            head = head.partition("{")[0].rstrip()
        kind: Kind = "class" if sort == "class" else "function" if sort == "function" else "constant"
        short = f"{name}()" if kind == "function" else name
        yield Entry(
            kind,
            name,
            (head, short, short),
            self._doc(comment),
            node.type == "function_signature_item" or self._is_public(head, name),
            inside,
            (comment or node).start_point.row,
            node.end_point.row,
        )

    def _variables(self, node: "Node", comment: "Node | None", depth: int) -> Iterator[Entry]:
        """What JavaScript assigns: a function if it is one, else a constant."""
        parts = [node] if node.type == "assignment_expression" else node.named_children
        for part in parts:
            named = part.child_by_field_name("left" if part is node else "name")
            value = part.child_by_field_name("value" if part is not node else "right")
            if named is None or (part is node and named.type != "member_expression"):
                continue
            name = self._text(named).rpartition(".")[2] if part is node else self._text(named)
            function = value is not None and value.type in _VALUES
            inside: tuple[Entry, ...] = ()
            if value is not None and value.type == "class":
                inside = tuple(self.entries(value.child_by_field_name("body") or value, depth + 1))
            block = value.child_by_field_name("body") if value is not None and (function or inside) else None
            end = block.start_byte if block is not None else min(part.end_byte, part.start_byte + 80)
            head = self._text(part, end).removesuffix("=>").rstrip()
            short = f"{name}()" if function else name
            yield Entry(
                "class" if inside else "function" if function else "constant",
                name,
                (head, short, short),
                self._doc(comment),
                not name.startswith(("_", "#")),
                inside,
                (comment or node).start_point.row,
                node.end_point.row,
            )

    def _widened(self, entry: Entry, node: "Node", comment: "Node | None") -> Entry:
        """What stands alone in an export or a template has that around it, and the comment before it."""
        alone = node.type in ("export_statement", "template_declaration", "ambient_declaration")
        if not alone and node.named_child_count != 1:
            return entry
        first = min((comment or node).start_point.row, entry.first)
        doc = entry.doc or self._doc(comment)
        return replace(entry, doc=doc, first=first, last=max(entry.last, node.end_point.row))

    def _name(self, node: "Node") -> str:
        named = node.child_by_field_name("name")
        if node.type == "impl_item":
            named = node.child_by_field_name("type")
        if named is None:
            named = self._declared(node)
        if named is None:
            return ""
        name = re.sub(r"<.*", "", self._text(named)).replace("::", ".")
        receiver = node.child_by_field_name("receiver")
        if receiver is not None:
            # Go: the type of what a method belongs to, its pointer and its parameters left away.
            owner = _WORDS.findall(self._text(receiver).partition("[")[0])
            name = f"{owner[-1]}.{name}" if owner else name
        return cut(name, 120)

    def _declared(self, node: "Node") -> "Node | None":
        """The innermost declarator, as in C: `int (*name[3])(void)`."""
        found = None
        inner = node.child_by_field_name("declarator")
        while inner is not None:
            found, inner = inner, inner.child_by_field_name("declarator")
        if found is not None and found.type == "variable_declarator":
            return found.child_by_field_name("name")
        return found

    def _declares(self, node: "Node") -> bool:
        inner = node.child_by_field_name("declarator")
        while inner is not None:
            if inner.type == "function_declarator":
                return True
            inner = inner.child_by_field_name("declarator")
        return False

    def _is_public(self, head: str, name: str) -> bool:
        grammar = self._grammar
        if grammar.capitals:
            return all(part[:1].isupper() for part in name.split("."))
        words = set(_WORDS.findall(head))
        if grammar.public:
            return bool(words & grammar.public)
        return not (words & grammar.private or name.startswith("#"))

    def _imported(self, node: "Node") -> Iterator[str]:
        text = self._text(node)
        quoted = _QUOTED.findall(text)
        if quoted:
            yield from quoted
        else:
            yield cut(text.removeprefix("use ").removeprefix("import ").rstrip("; "), 80)

    def _doc(self, comment: "Node | None") -> str:
        """The first line of a comment that says something."""
        if comment is None:
            return ""
        told = self._data[comment.start_byte : comment.end_byte][:_SHORT].decode("utf-8", "replace")
        lines = (_SIGNS.sub("", line) for line in told.split("\n"))
        return next(filter(None, lines), "")

    def _text(self, node: "Node", end: int | None = None) -> str:
        data = self._data[node.start_byte : node.end_byte if end is None else end]
        return cut(data[: 4 * _SHORT].decode("utf-8", "replace"), _SHORT)
