"""Outlines of source code: how they are written within a token budget, and read with tree-sitter grammars.

`GRAMMARS` says what the nodes of each language mean; `PATTERNS` serve languages without a grammar and very
large files, and may take a line in a string or a comment for a definition. `CodeOutline` and `write_outline`
serve all languages, including Python, which is read by `ast`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Literal

from holdfast.files.digests.base import (
    Digest,
    ElementLocation,
    LineIndex,
    finish_digest,
    nest_names,
    plural,
    shorten_line,
    suppress_warnings,
)
from holdfast.text.patterns import late
from holdfast.tokens.estimate import UNKNOWN, estimate

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser


# Deeply nested nonsense would take hours; real sources take a hundredth of this.
_PARSE_MICROSECONDS = 1_000_000

NodeSort = Literal["class", "function", "constant", "through", "import", "variables"]


@dataclass(frozen=True, slots=True)
class Grammar:
    """The grammar `entry` of `package`, and what its nodes are in an outline.

    A node of sort `through` is not shown itself, but its children are. A definition is private if its head
    has one of the words `private`, or none of the words `public` if there are any; with `capitals`, if its
    name begins with a small letter.
    """

    name: str
    package: str
    nodes: dict[str, NodeSort]
    entry: str = "language"
    private: frozenset[str] = frozenset()
    public: frozenset[str] = frozenset()
    capitals: bool = False


def node_sorts(**sorts: str) -> dict[str, NodeSort]:
    words: dict[str, NodeSort] = {
        "classes": "class",
        "functions": "function",
        "constants": "constant",
        "through": "through",
        "imports": "import",
        "variables": "variables",
    }
    return {node: words[sort] for sort, nodes in sorts.items() for node in nodes.split()}


_JAVASCRIPT_NODES = node_sorts(
    classes="class_declaration class",
    functions="function_declaration generator_function_declaration method_definition function_expression",
    constants="field_definition",
    through="export_statement expression_statement",
    imports="import_statement",
    variables="lexical_declaration variable_declaration assignment_expression",
)
_TYPESCRIPT_NODES = _JAVASCRIPT_NODES | node_sorts(
    classes="abstract_class_declaration interface_declaration enum_declaration internal_module module",
    functions="method_signature abstract_method_signature function_signature",
    constants="type_alias_declaration public_field_definition property_signature",
    through="ambient_declaration",
)
_C_NODES = node_sorts(
    classes="struct_specifier union_specifier enum_specifier",
    functions="function_definition preproc_function_def",
    constants="declaration type_definition preproc_def",
    through="preproc_ifdef preproc_if preproc_else preproc_elif preproc_elifdef linkage_specification "
    "declaration_list",
    imports="preproc_include",
)
_STATIC = frozenset({"static"})
_HIDDEN = frozenset({"private"})

GRAMMARS = {
    "javascript": Grammar("javascript", "tree_sitter_javascript", _JAVASCRIPT_NODES),
    "typescript": Grammar(
        "typescript", "tree_sitter_typescript", _TYPESCRIPT_NODES, "language_typescript", private=_HIDDEN
    ),
    "tsx": Grammar("tsx", "tree_sitter_typescript", _TYPESCRIPT_NODES, "language_tsx", private=_HIDDEN),
    "go": Grammar(
        "go",
        "tree_sitter_go",
        node_sorts(
            classes="type_spec type_alias",
            functions="function_declaration method_declaration",
            constants="const_spec var_spec",
            through="type_declaration const_declaration var_declaration var_spec_list",
            imports="import_declaration",
        ),
        capitals=True,
    ),
    "rust": Grammar(
        "rust",
        "tree_sitter_rust",
        node_sorts(
            classes="struct_item enum_item union_item trait_item impl_item mod_item",
            functions="function_item function_signature_item macro_definition",
            constants="const_item static_item type_item",
            through="foreign_mod_item",
            imports="use_declaration",
        ),
        public=frozenset({"pub", "impl", "macro_rules!"}),
    ),
    "java": Grammar(
        "java",
        "tree_sitter_java",
        node_sorts(
            classes="class_declaration interface_declaration enum_declaration record_declaration "
            "annotation_type_declaration",
            functions="method_declaration constructor_declaration compact_constructor_declaration",
            constants="field_declaration constant_declaration",
            through="enum_body_declarations",
            imports="import_declaration",
        ),
        private=_HIDDEN,
    ),
    "c": Grammar("c", "tree_sitter_c", _C_NODES, private=_STATIC),
    "cpp": Grammar(
        "cpp",
        "tree_sitter_cpp",
        _C_NODES
        | node_sorts(
            classes="class_specifier namespace_definition",
            constants="alias_declaration field_declaration concept_definition",
            through="template_declaration",
        ),
        private=_STATIC,
    ),
}


def create_parser(name: str) -> "Parser":
    """Return a new parser, since threads must not share one. It gives up after a second."""
    from tree_sitter import Parser

    # The timeout is deprecated in favour of a callback, which works only for sources read in pieces.
    with suppress_warnings():
        return Parser(load_language(name), timeout_micros=_PARSE_MICROSECONDS)


@cache
def load_language(name: str) -> "Language":
    from tree_sitter import Language

    grammar = GRAMMARS[name]
    return Language(getattr(import_module(grammar.package), grammar.entry)())


OutlineKind = Literal["class", "function", "constant", "name"]

_PACKAGE_SEPARATOR = late(r"[./:]")
_LONGEST_HEAD = 240
_LONGEST_DOC = 160
_LEAST_TOKENS = 2


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A named definition, with first and last line counted from zero if they are known.

    `heads` are its written forms, the richest first.
    """

    kind: OutlineKind
    name: str
    heads: tuple[str, ...]
    doc: str = ""
    public: bool = True
    inside: "tuple[OutlineEntry, ...]" = ()
    first: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True)
class CodeOutline:
    """The outline of a source file. If it is `complete`, no public name is ever left out."""

    kind: str
    lines: int
    entries: tuple[OutlineEntry, ...]
    doc: str = ""
    imports: tuple[str, ...] = ()
    complete: bool = False


@dataclass(frozen=True, slots=True)
class _Detail:
    """A level of detail. `docs` is for how many levels docstrings are shown, `head` which head is used."""

    without: str
    private: bool = False
    docs: int = 0
    head: int = 0
    imports: bool = False


# Each leaves out more than the one before.
_DETAILS = (
    _Detail("", private=True, docs=9, imports=True),
    _Detail("", docs=9, imports=True),
    _Detail("documentation of what is inside classes", docs=1, imports=True),
    _Detail("documentation", imports=True),
    _Detail("documentation, types, values", head=1, imports=True),
    _Detail("documentation, arguments, values", head=2, imports=True),
    _Detail("documentation, arguments, values, imports", head=2),
)


def write_outline(outline: CodeOutline, most: int) -> Digest:
    """Write the outline in at most `most` tokens, or its bare names if even those take more."""
    every = [entry.public for entry in walk_entries(outline.entries)]
    private = every.count(False)
    # Skip the attempts if the least that the lines can take is already too much.
    hopeless = _LEAST_TOKENS * (len(every) - private) > most
    for step in () if hopeless else _DETAILS:
        body = [*header_lines(outline, step), *entry_lines(outline.entries, step, 0)]
        if count_tokens(body) <= most:
            hidden = 0 if step.private else private
            return finish_digest(outline.kind, body, describe_omissions(outline, step.without, hidden))
    body = list(bare_names(outline))
    without = "documentation, arguments, values, imports, bases, order"
    if not outline.complete:
        body, gone = drop_names(body, most)
        if gone:
            without += f", {plural(gone, 'name')}"
    return finish_digest(outline.kind, body, describe_omissions(outline, without, private))


def describe_omissions(outline: CodeOutline, without: str, private: int) -> str:
    hidden = plural(private, "private name or field", "private names and fields") if private else ""
    gone = ", ".join(filter(None, ("bodies", hidden, without)))
    return f"left out of {plural(outline.lines, 'line')}: {gone}"


def header_lines(outline: CodeOutline, step: _Detail) -> Iterator[str]:
    if outline.doc:
        yield shorten_line(outline.doc, _LONGEST_DOC)
    if step.imports and outline.imports:
        yield "imports: " + shorten_line(", ".join(shorten_imports(outline.imports)), 3 * _LONGEST_DOC)


def shorten_imports(imports: tuple[str, ...]) -> tuple[str, ...]:
    """Replace modules by their packages if the list is long."""
    if sum(map(len, imports)) <= 2 * _LONGEST_DOC:
        return imports
    return tuple(
        dict.fromkeys(name if name[:1] in ".<" else _PACKAGE_SEPARATOR.split(name)[0] for name in imports)
    )


def entry_lines(entries: tuple[OutlineEntry, ...], step: _Detail, depth: int) -> Iterator[str]:
    for entry in entries:
        if not (entry.public or step.private):
            continue
        heads = (*entry.heads[:2], entry.heads[2] if len(entry.heads) > 2 else entry.name)
        head = shorten_line(heads[min(step.head, len(heads) - 1)], _LONGEST_HEAD)
        doc = f"  # {shorten_line(entry.doc, _LONGEST_DOC)}" if entry.doc and depth < step.docs else ""
        yield f"{'  ' * depth}{head}{doc}"
        yield from entry_lines(entry.inside, step, depth + 1)


def bare_names(outline: CodeOutline) -> Iterator[str]:
    """Yield the names alone: a line for each kind, and one for each class with public members."""
    sorts = {"constant": "constants", "function": "functions", "class": "classes", "name": "names"}
    for kind, word in sorts.items():
        names = [entry.name for entry in outline.entries if entry.kind == kind and is_leaf(entry)]
        if names:
            yield f"{word}: {', '.join(dict.fromkeys(names))}"
    yield from names_by_class(outline.entries, "")


def names_by_class(entries: tuple[OutlineEntry, ...], before: str) -> Iterator[str]:
    for entry in entries:
        if entry.public and not is_leaf(entry):
            name = f"{before}{entry.name}"
            names = [part.name for part in entry.inside if is_leaf(part)]
            yield f"class {name}: {', '.join(dict.fromkeys(names))}".rstrip(": ")
            yield from names_by_class(entry.inside, f"{name}.")


def is_leaf(entry: OutlineEntry) -> bool:
    return entry.public and not any(part.public for part in entry.inside)


def drop_names(body: list[str], most: int) -> tuple[list[str], int]:
    """Return the lines shortened to the budget, and the number of dropped names."""
    room = 3 * most
    while count_tokens(remaining := truncate_lines(body, room)) > most and room > _LONGEST_DOC:
        room = 4 * room // 5
    return remaining, sum(line.count(",") + 1 for line in body) - sum(
        line.count(",") + 1 for line in remaining
    )


def truncate_lines(body: list[str], room: int) -> list[str]:
    lines: list[str] = []
    for line in body:
        if len(line) > room:
            # Names are not cut.
            lines += [line[:room].rpartition(",")[0]] if "," in line[:room] else []
            break
        lines.append(line)
        room -= len(line) + 1
    return lines or [shorten_line(line, _LONGEST_DOC) for line in body[:1]]


def walk_entries(entries: tuple[OutlineEntry, ...]) -> Iterator[OutlineEntry]:
    return chain.from_iterable((entry, *walk_entries(entry.inside)) for entry in entries)


def count_tokens(body: list[str]) -> int:
    return estimate("\n".join(body), UNKNOWN).tokens


# Larger sources are generated, and their trees take too much memory.
LARGEST_SOURCE = 3_000_000
# How deep nested definitions are read.
_DEEPEST = 8
_LONGEST_TEXT = 300
_COMMENT_SIGNS = late(r"^[\s/*!#]+|[\s*/]+$")
_WORDS = late(r"[\w!]+")
_QUOTED = late(r"[\"'<]([^\"'>\n]+)[\"'>]")
_FUNCTION_NODES = frozenset({"arrow_function", "function_expression", "generator_function", "function"})


def digest_code(language: str, text: str, most: int) -> Digest | None:
    outline = read_outline(language, text)
    if outline is None or not outline.entries:
        return None
    return write_outline(replace(outline, entries=merge_entries(outline.entries)), most)


def locate_code(language: str, text: str) -> Iterator[ElementLocation]:
    outline = read_outline(language, text)
    if outline is not None:
        yield from locate_entries(outline.entries, LineIndex(text), "")


def locate_entries(
    entries: tuple[OutlineEntry, ...], lines: LineIndex, prefix: str
) -> Iterator[ElementLocation]:
    for entry in entries:
        yield lines.locate(prefix + entry.name, entry.first, entry.last)
        yield from locate_entries(entry.inside, lines, f"{prefix}{entry.name}.")


def merge_entries(entries: tuple[OutlineEntry, ...]) -> tuple[OutlineEntry, ...]:
    """Merge classes of the same name, such as several `impl` blocks in Rust."""
    merged: dict[tuple[str, str], OutlineEntry] = {}
    for entry in entries:
        known = merged.get((entry.kind, entry.name))
        if known is None or entry.kind != "class":
            merged[entry.kind, entry.name if entry.kind == "class" else f"{entry.name}:{len(merged)}"] = entry
        else:
            public = known.public or entry.public
            both = (*known.inside, *entry.inside)
            merged[entry.kind, entry.name] = replace(
                known, public=public, inside=both, doc=known.doc or entry.doc
            )
    return tuple(merged.values())


def read_outline(language: str, text: str) -> CodeOutline | None:
    data = text.encode("utf-8", "replace")
    if len(data) > LARGEST_SOURCE:
        return None
    try:
        tree = create_parser(language).parse(data)
    except ValueError:
        # The parser timed out.
        return None
    reader = _TreeReader(GRAMMARS[language], data)
    entries = tuple(reader.entries(tree.root_node, 0))
    return CodeOutline(language, text.count("\n") + 1, entries, imports=tuple(dict.fromkeys(reader.imports)))


class _TreeReader:
    """Reads the outline of one source from its tree."""

    def __init__(self, grammar: Grammar, data: bytes) -> None:
        self._grammar = grammar
        self._data = data
        self.imports: list[str] = []

    def entries(self, node: "Node", depth: int) -> Iterator[OutlineEntry]:
        """Yield the definitions inside a node, each with the comment right before it."""
        comment: Node | None = None
        row = -2
        for child in node.named_children:
            if "comment" in child.type:
                adjoining = comment is not None and child.start_point.row <= row + 1
                comment = comment if adjoining else child
            else:
                near = comment is not None and child.start_point.row <= row + 1
                yield from self.read_node(child, comment if near else None, depth)
                comment = None
            row = child.end_point.row

    def read_node(self, node: "Node", comment: "Node | None", depth: int) -> Iterator[OutlineEntry]:
        sort = self._grammar.nodes.get(node.type)
        if sort is None or depth > _DEEPEST:
            return
        if sort == "import":
            self.imports += self.read_imports(node)
        elif sort == "through":
            for entry in self.entries(node, depth + 1):
                yield self.widen_entry(entry, node, comment)
        elif sort == "variables":
            yield from self.read_variables(node, comment, depth)
        else:
            yield from self.read_definition(node, sort, comment, depth)

    def read_definition(
        self, node: "Node", sort: NodeSort, comment: "Node | None", depth: int
    ) -> Iterator[OutlineEntry]:
        body = node.child_by_field_name("body") or node.child_by_field_name("type")
        inside: tuple[OutlineEntry, ...] = ()
        if sort == "class" and body is not None:
            inside = tuple(self.entries(body, depth + 1))
        elif node.type in ("type_definition", "declaration", "field_declaration") and body is not None:
            # In C a type is often defined within another declaration.
            yield from self.read_node(body, comment, depth + 1)
        name = self.name_of(node)
        if not name:
            return
        if sort == "constant" and self.declares_function(node):
            sort = "function"
        block = node.child_by_field_name("body")
        head = self.text_of(node, block.start_byte if block is not None else node.end_byte)
        if sort == "class":
            head = head.partition("{")[0].rstrip()
        kind: OutlineKind = "class" if sort == "class" else "function" if sort == "function" else "constant"
        short = f"{name}()" if kind == "function" else name
        yield OutlineEntry(
            kind,
            name,
            (head, short, short),
            self.first_comment_line(comment),
            node.type == "function_signature_item" or self.is_public(head, name),
            inside,
            (comment or node).start_point.row,
            node.end_point.row,
        )

    def read_variables(self, node: "Node", comment: "Node | None", depth: int) -> Iterator[OutlineEntry]:
        """Yield what an assignment in JavaScript defines: functions, classes or constants."""
        parts = [node] if node.type == "assignment_expression" else node.named_children
        for part in parts:
            named = part.child_by_field_name("left" if part is node else "name")
            value = part.child_by_field_name("value" if part is not node else "right")
            if named is None or (part is node and named.type != "member_expression"):
                continue
            name = self.text_of(named).rpartition(".")[2] if part is node else self.text_of(named)
            function = value is not None and value.type in _FUNCTION_NODES
            inside: tuple[OutlineEntry, ...] = ()
            if value is not None and value.type == "class":
                inside = tuple(self.entries(value.child_by_field_name("body") or value, depth + 1))
            block = value.child_by_field_name("body") if value is not None and (function or inside) else None
            end = block.start_byte if block is not None else min(part.end_byte, part.start_byte + 80)
            head = self.text_of(part, end).removesuffix("=>").rstrip()
            short = f"{name}()" if function else name
            yield OutlineEntry(
                "class" if inside else "function" if function else "constant",
                name,
                (head, short, short),
                self.first_comment_line(comment),
                not name.startswith(("_", "#")),
                inside,
                (comment or node).start_point.row,
                node.end_point.row,
            )

    def widen_entry(self, entry: OutlineEntry, node: "Node", comment: "Node | None") -> OutlineEntry:
        """Extend the only entry of an export or a template to the whole statement and its comment."""
        alone = node.type in ("export_statement", "template_declaration", "ambient_declaration")
        if not alone and node.named_child_count != 1:
            return entry
        first = min((comment or node).start_point.row, entry.first)
        doc = entry.doc or self.first_comment_line(comment)
        return replace(entry, doc=doc, first=first, last=max(entry.last, node.end_point.row))

    def name_of(self, node: "Node") -> str:
        named = node.child_by_field_name("name")
        if node.type == "impl_item":
            named = node.child_by_field_name("type")
        if named is None:
            named = self.innermost_declarator(node)
        if named is None:
            return ""
        name = re.sub(r"<.*", "", self.text_of(named)).replace("::", ".")
        receiver = node.child_by_field_name("receiver")
        if receiver is not None:
            # Go: the type that a method belongs to, without pointer and type parameters.
            owner = _WORDS.findall(self.text_of(receiver).partition("[")[0])
            name = f"{owner[-1]}.{name}" if owner else name
        return shorten_line(name, 120)

    def innermost_declarator(self, node: "Node") -> "Node | None":
        """Return the innermost declarator, as in C: `int (*name[3])(void)`."""
        declarator = None
        inner = node.child_by_field_name("declarator")
        while inner is not None:
            declarator, inner = inner, inner.child_by_field_name("declarator")
        if declarator is not None and declarator.type == "variable_declarator":
            return declarator.child_by_field_name("name")
        return declarator

    def declares_function(self, node: "Node") -> bool:
        inner = node.child_by_field_name("declarator")
        while inner is not None:
            if inner.type == "function_declarator":
                return True
            inner = inner.child_by_field_name("declarator")
        return False

    def is_public(self, head: str, name: str) -> bool:
        grammar = self._grammar
        if grammar.capitals:
            return all(part[:1].isupper() for part in name.split("."))
        words = set(_WORDS.findall(head))
        if grammar.public:
            return bool(words & grammar.public)
        return not (words & grammar.private or name.startswith("#"))

    def read_imports(self, node: "Node") -> Iterator[str]:
        text = self.text_of(node)
        quoted = _QUOTED.findall(text)
        if quoted:
            yield from quoted
        else:
            yield shorten_line(text.removeprefix("use ").removeprefix("import ").rstrip("; "), 80)

    def first_comment_line(self, comment: "Node | None") -> str:
        """Return the first line of a comment that has text."""
        if comment is None:
            return ""
        text = self._data[comment.start_byte : comment.end_byte][:_LONGEST_TEXT].decode("utf-8", "replace")
        lines = (_COMMENT_SIGNS.sub("", line) for line in text.split("\n"))
        return next(filter(None, lines), "")

    def text_of(self, node: "Node", end: int | None = None) -> str:
        data = self._data[node.start_byte : node.end_byte if end is None else end]
        return shorten_line(data[: 4 * _LONGEST_TEXT].decode("utf-8", "replace"), _LONGEST_TEXT)


_MODIFIERS = (
    r"(?:(?:public|private|protected|internal|static|final|abstract|sealed|open|override|async|virtual|partial|data|"
    r"inline|suspend|export|local|readonly|const|fileprivate|mutating)\s+)*"
)
_BLOCKS = late(
    rf"\s*{_MODIFIERS}(?:def\s+(?:self\.)?|fun(?:c|ction)?\s+(?:[\w<>]+\.)?|sub\s+|proc\s+|class\s+|module\s+|object\s+|"
    r"interface\s+|trait\s+|struct\s+|enum\s+|record\s+|protocol\s+|extension\s+|namespace\s+|package\s+|defmodule\s+|"
    r"defp?\s+)(?P<name>[\w.:?!]+)"
)
_SCRIPT = late(
    r"(?:export\s+)?(?:default\s+)?(?:const|let|var)\s+(?P<name>[\w$]+)"
    r"|\s*(?:(?:export|default|declare|abstract|async)\s+)*"
    r"(?:function\*?|class|interface|enum|namespace|type)\s+(?P<thing>[\w$]+)"
    r"|\s+(?:(?:async|static|get|set|public|private|protected|readonly)\s+)*"
    r"(?!(?:if|for|while|switch|catch|function|return|with)\b)(?P<method>[\w$#]+)\s*\([^;]*\)[^;={]*\{\s*$"
)
_C = late(
    r"#\s*define\s+(?P<name>\w+)|\s*(?:typedef\s+)?(?:class|struct|enum|union|namespace)\s+(?P<thing>\w+)\s*[^;]*$"
    r"|(?!(?:if|for|while|switch|else|return)\b)[A-Za-z_][\w\s*&:<>,]{0,80}?\b(?P<method>[\w:~]+)\s*\([^;]*$"
)
# Languages with a parser are included for files that are too large or broken for it.
PATTERNS = {
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "go": late(r"(?:func(?: \([^)]*\))?|type|var|const) (?P<name>\w+)"),
    "rust": late(
        r"\s*(?:pub(?:\([^)]*\))?\s+)?(?:(?:async|unsafe|const|extern|\"C\")\s+)*"
        r"(?:fn|struct|enum|trait|mod|type|static|union|impl(?:<[^>]*>)?)\s+(?P<name>\w+)"
    ),
    "java": late(
        r"\s*(?:(?:public|private|protected|static|final|abstract|synchronized|default|sealed)\s+)*"
        r"(?:(?:class|interface|enum|record|@interface)\s+(?P<name>\w+)"
        r"|(?!(?:return|new|else|throw)\b)[\w<>\[\],?.]+\s+(?P<method>\w+)\s*\([^;]*\{\s*$)"
    ),
    "c": _C,
    "cpp": _C,
    "toml": late(r"\[\[?(?P<name>[^\[\]\n]+)\]"),
    "python": _BLOCKS,
    "ruby": _BLOCKS,
    "php": _BLOCKS,
    "kotlin": _BLOCKS,
    "swift": _BLOCKS,
    "scala": _BLOCKS,
    "lua": _BLOCKS,
    "perl": _BLOCKS,
    "elixir": _BLOCKS,
    "csharp": late(
        rf"\s*{_MODIFIERS}(?:(?:class|interface|struct|enum|record|namespace)\s+(?P<name>[\w.]+)"
        r"|(?:[\w<>\[\],?.]+\s+)(?P<method>[A-Z]\w*)\s*(?:<[^>\n]*>)?\([^;\n]*$)"
    ),
    "shell": late(r"\s*(?:function\s+(?P<name>[\w:-]+)|(?P<method>[\w:-]+)\s*\(\)\s*\{?)"),
    "sql": late(
        r"(?i)\s*CREATE\s+(?:OR\s+REPLACE\s+)?(?:TEMP(?:ORARY)?\s+|UNIQUE\s+|VIRTUAL\s+|MATERIALIZED\s+)*"
        r"(?:TABLE|VIEW|INDEX|FUNCTION|PROCEDURE|TRIGGER|TYPE)\s+(?:IF\s+NOT\s+EXISTS\s+)?(?P<name>[\w.\"`\[\]]+)"
    ),
    "css": late(r"(?P<name>[.#@\w][^{};/\n]{0,100}?)\s*\{"),
    "ini": late(r"\[(?P<name>[^\]\n]+)\]"),
    "makefile": late(r"(?P<name>[\w./%-]+)(?: [\w./% -]+)?::?(?!=)"),
    "r": late(r"(?P<name>[\w.]+)\s*(?:<-|=)\s*function\b"),
}
_PRIVATE = late(r"\s*(?:private|fileprivate|local|defp)\b")


def digest_by_lines(kind: str, text: str, most: int) -> Digest | None:
    lines = text.split("\n")
    entries = tuple(
        OutlineEntry(
            "name",
            name,
            (lines[line].strip().rstrip("{").rstrip(), name),
            "",
            not _PRIVATE.match(lines[line]),
        )
        for _, name, line in find_definitions(kind, lines)
    )
    return write_outline(CodeOutline(kind, len(lines), entries), most) if entries else None


def locate_by_lines(kind: str, text: str) -> Iterator[ElementLocation]:
    lines = LineIndex(text)
    for name, first, last in nest_names(find_definitions(kind, lines.all), len(lines.all) - 1):
        yield lines.locate(name, first, last)


def find_definitions(kind: str, lines: list[str]) -> Iterator[tuple[int, str, int]]:
    pattern = PATTERNS[kind]
    for number, line in enumerate(lines):
        # Nobody writes definitions in longer lines.
        match = pattern.match(line) if len(line) < 500 else None
        if match:
            name = match[match.lastgroup or 0]
            yield len(line) - len(line.lstrip()), name.strip(), number
