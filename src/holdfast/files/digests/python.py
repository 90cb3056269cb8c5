"""Python sources: outlines by `ast`, or by patterns if the parser fails; locations always by patterns.

The source is split into logical lines by patterns alone, so that broken, old and huge files can be read. Only
the source without function bodies is parsed: that takes a tenth of the time, and errors or Python 2 syntax
inside functions do not matter.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from holdfast.files.digests.base import (
    Digest,
    ElementLocation,
    LineIndex,
    nest_names,
    shorten_line,
    suppress_warnings,
)
from holdfast.files.digests.code import CodeOutline, OutlineEntry, write_outline
from holdfast.text.patterns import late

# Strings and comments. An unclosed one ends with its line, or with the text.
_OPAQUE = late(
    r"""\#[^\n]*
      | "{3} (?: [^"\\]++ | \\. | "(?!"") )*+ (?: "{3} | \\?\Z )
      | '{3} (?: [^'\\]++ | \\. | '(?!'') )*+ (?: '{3} | \\?\Z )
      | " (?: [^"\\\n]++ | \\. )*+ "?
      | ' (?: [^'\\\n]++ | \\. )*+ '?
    """,
    re.VERBOSE | re.DOTALL,
)
_NO_BRACKETS = late(r"[^()\[\]{}\n]+")
_DEFINES = late(r"(?:async[ \t]+def|def|class)[ \t]+(\w+)")
_ASSIGNS = late(r"(\w+)[ \t]*(?::[^=\n]*)?=(?!=)")
# All targets of an assignment.
_TARGETS = late(r"(?:[\w \t,()*.]+(?::[^=\n]+)?=(?!=)[ \t]*)+")
# An annotation over several lines, with the equals sign on a later line.
_ANNOTATED = late(r"(?!(?:else|try|finally)\b)(\w+)[ \t]*:")
_STRING = late(r"[rRuUbBfF]{0,2}[\"']")
# Longer statements are data or large calls, which an outline does not need.
_LONG_STATEMENT = 1_000


class LogicalLine(NamedTuple):
    """A logical line: its lines counted from zero, its indentation, and its first line without strings."""

    first: int
    last: int
    indent: int
    code: str
    opens: bool
    defines: str = ""


def split_logical_lines(text: str, lines: LineIndex) -> list[LogicalLine]:
    masked = _OPAQUE.sub(mask_opaque, text)
    brackets = _NO_BRACKETS.sub("", masked).split("\n")
    logical: list[LogicalLine] = []
    start, depth, wrapped = -1, 0, False
    for number, code in enumerate(masked.split("\n")):
        begins = depth == 0 and not wrapped
        if begins:
            if not code or code.isspace():
                continue
            start = number
        if brackets[number]:
            depth = bracket_depth(depth, brackets[number])
        wrapped = code.endswith(("\\", "\\\r"))
        if depth == 0 and not wrapped:
            logical.append(parse_logical_line(start, number, lines.all[start], code))
    if depth or wrapped:
        # An unclosed statement reaches to the end of the text.
        logical.append(parse_logical_line(start, len(lines.all) - 1, lines.all[start], ""))
    return logical


def locate_python(text: str) -> Iterator[ElementLocation]:
    """Yield functions, classes and methods with their decorators, and module-level assignments."""
    lines = LineIndex(text)
    names: list[tuple[int, str, int]] = []
    # Comments before a statement do not belong to the element that ends there.
    ends: dict[int, int] = {}
    decorated: LogicalLine | None = None
    last = 0
    for each in split_logical_lines(text, lines):
        if each.code.startswith("@"):
            decorated = decorated or each
            continue
        first = decorated.first if decorated and decorated.indent == each.indent else each.first
        # A statement without a name still ends the element before it.
        names.append((each.indent, each.defines or assignment_name(each), first))
        ends[first - 1] = last
        decorated, last = None, each.last
    ends[len(lines.all)] = last
    for name, first, end in nest_names(names, len(lines.all)):
        if not name.endswith(".") and name:
            yield lines.locate(".".join(filter(None, name.split("."))), first, ends[end])


def strip_bodies(text: str) -> str:
    """Return the source with the same line numbers, function bodies reduced to their docstrings."""
    lines = LineIndex(text)
    output = [""] * len(lines.all)
    within: LogicalLine | None = None
    pending = False
    for each in split_logical_lines(text, lines):
        if within is not None and each.indent > within.indent:
            if pending:
                pending = False
                keep_docstring(output, lines, each)
            continue
        close_function(output, within, pending)
        within, pending = None, False
        if each.defines and not each.code.startswith("class"):
            output[each.first : each.last + 1] = lines.all[each.first : each.last + 1]
            within, pending = (each, True) if each.opens else (None, False)
        else:
            keep_line(output, lines, each)
    close_function(output, within, pending)
    return "\n".join(output).replace("\0", " ").replace("\r", " ")


def assignment_name(each: LogicalLine) -> str:
    """Return the name that a module-level statement assigns or annotates, or ""."""
    if each.indent or each.opens:
        return ""
    match = _ASSIGNS.match(each.code) or _ANNOTATED.match(each.code)
    return match[1] if match else ""


def close_function(output: list[str], within: LogicalLine | None, pending: bool) -> None:
    """Add a body to a function that has none."""
    if within is not None and pending:
        output[within.last] += " ..."


def mask_opaque(match: re.Match[str]) -> str:
    """Replace a comment by nothing, a string by quotes, and a multi-line string by brackets that span it."""
    opaque = match[0]
    if opaque[0] == "#":
        return ""
    within = opaque.count("\n")
    return "(" + "\n" * within + ")" if within else '""'


def bracket_depth(depth: int, brackets: str) -> int:
    opened = brackets.count("(") + brackets.count("[") + brackets.count("{")
    return max(depth + 2 * opened - len(brackets), 0)


def parse_logical_line(first: int, last: int, line: str, ending: str) -> LogicalLine:
    code = line.lstrip()
    indent = len(line) - len(code)
    if "\t" in line[:indent]:
        indent = len(line[:indent].expandtabs())
    # A cheap check before the pattern: `async`, `class` and `def`.
    defined = _DEFINES.match(code) if code[:1] in ("a", "c", "d") else None
    return LogicalLine(
        first, last, indent, code, ending.rstrip().endswith(":"), defined[1] if defined else ""
    )


def keep_docstring(output: list[str], lines: LineIndex, each: LogicalLine) -> None:
    """Keep the first statement of a function if it is a string, else write `...` as its body."""
    if _STRING.match(each.code):
        output[each.first : each.last + 1] = lines.all[each.first : each.last + 1]
    else:
        output[each.first] = " " * each.indent + "..."


def keep_line(output: list[str], lines: LineIndex, each: LogicalLine) -> None:
    """Keep a statement outside of functions; of a long one without a block, only its targets."""
    size = sum(len(line) for line in lines.all[each.first : each.last + 1])
    named = each.code.startswith(("class ", "import ", "from ", "__all__", "@", "if ", "elif "))
    if size <= _LONG_STATEMENT or named or each.opens or _STRING.match(each.code):
        output[each.first : each.last + 1] = lines.all[each.first : each.last + 1]
        return
    assigned = _TARGETS.match(each.code[:_LONG_STATEMENT]) or _ANNOTATED.match(each.code)
    output[each.first] = " " * each.indent + (assigned[0] if assigned else "") + "..."


__all__ = ["digest_python", "locate_python", "outline_python"]

_SHORT_VALUE = 60

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_BLOCKS = (ast.If, ast.Try, ast.TryStar, ast.With, ast.For, ast.While)


def digest_python(text: str, most: int) -> Digest | None:
    outline = outline_python(text)
    return write_outline(outline, most) if outline.entries or outline.imports else None


def outline_python(text: str) -> CodeOutline:
    tree = parse_module(strip_bodies(text))
    try:
        return outline_by_pattern(text) if tree is None else _PythonReader(text).outline(tree)
    except RecursionError:
        # A thousand `elif` make a tree a thousand levels deep.
        return outline_by_pattern(text)


def parse_module(source: str) -> ast.Module | None:
    # The parser warns about invalid escapes.
    with suppress_warnings():
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


class _PythonReader:
    """Reads the outline of one source, with regard to its `__all__`."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._exported: list[str] = []

    def outline(self, tree: ast.Module) -> CodeOutline:
        body = list(flatten_body(tree.body))
        self._exported = [name for node in body for name in names_in_all(node)]
        entries = tuple(chain.from_iterable(self.read_statement(node, inside=False) for node in body))
        defined = {entry.name for entry in entries}
        passed_on = dict.fromkeys(name for name in self._exported if name not in defined)
        return CodeOutline(
            "python",
            len(self._lines),
            (*entries, *(OutlineEntry("constant", name, (name,)) for name in passed_on)),
            docstring_line(tree),
            tuple(dict.fromkeys(chain.from_iterable(map(import_names, body)))),
            complete=True,
        )

    def read_statement(self, node: ast.stmt, *, inside: bool) -> Iterator[OutlineEntry]:
        if isinstance(node, _Function):
            yield self.read_function(node)
        elif isinstance(node, ast.ClassDef):
            yield self.read_class(node)
        else:
            for name in dict.fromkeys(target_names(node)):
                if name != "__all__":
                    head = self.source_line(node) if node.lineno == node.end_lineno else name
                    heads = (head if head.startswith(name) else name, name)
                    # Fields of classes count as private: they are shown only if there is room.
                    yield OutlineEntry("constant", name, heads, "", not inside and self.is_public(name))

    def read_function(self, node: _Function) -> OutlineEntry:
        word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
        returns = f" -> {self.source_of(node.returns)}" if node.returns else ""
        typed = ", ".join(self.format_arguments(node.args, types=True))
        heads = (
            f"{word} {node.name}({typed}){returns}",
            f"{word} {node.name}({', '.join(self.format_arguments(node.args, types=False))})",
            f"{word} {node.name}",
        )
        return OutlineEntry("function", node.name, heads, docstring_line(node), self.is_public(node.name))

    def read_class(self, node: ast.ClassDef) -> OutlineEntry:
        bases = [self.source_of(base) for base in (*node.bases, *(word.value for word in node.keywords))]
        head = f"class {node.name}({', '.join(bases)})" if bases else f"class {node.name}"
        inside = chain.from_iterable(
            self.read_statement(part, inside=True) for part in flatten_body(node.body)
        )
        public = self.is_public(node.name)
        return OutlineEntry(
            "class", node.name, (head, head, head), docstring_line(node), public, mark_private(inside, public)
        )

    def format_arguments(self, args: ast.arguments, *, types: bool) -> Iterator[str]:
        plain = [*args.posonlyargs, *args.args]
        given = len(plain) - len(args.defaults)
        for place, argument in enumerate(plain):
            yield self.format_argument(argument, place >= given, types)
            if place + 1 == len(args.posonlyargs):
                yield "/"
        if args.vararg:
            yield "*" + self.format_argument(args.vararg, False, types)
        elif args.kwonlyargs:
            yield "*"
        for argument, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            yield self.format_argument(argument, default is not None, types)
        if args.kwarg:
            yield "**" + self.format_argument(args.kwarg, False, types)

    def format_argument(self, argument: ast.arg, optional: bool, types: bool) -> str:
        kind = f": {self.source_of(argument.annotation)}" if types and argument.annotation else ""
        return f"{argument.arg}{kind}{'=…' if optional else ''}"

    def is_public(self, name: str) -> bool:
        return not name.startswith("_") or name in self._exported

    def source_line(self, node: ast.stmt) -> str:
        return shorten_line(self._lines[node.lineno - 1].partition("  #")[0], _SHORT_VALUE)

    def source_of(self, node: ast.expr) -> str:
        """Return the source of an expression, or its first line."""
        line = self._lines[node.lineno - 1]
        end = node.end_col_offset if node.end_lineno == node.lineno else None
        if line.isascii():
            return shorten_line(line[node.col_offset : end], _SHORT_VALUE)
        # The parser's offsets count bytes.
        data = line.encode("utf-8", "replace")[node.col_offset : end]
        return shorten_line(data.decode("utf-8", "replace"), _SHORT_VALUE)


def mark_private(inside: Iterator[OutlineEntry], public: bool) -> tuple[OutlineEntry, ...]:
    """Return the members of a class; those of a private class are private, and `__init__` is never."""
    return tuple(
        entry if public and (entry.public or entry.name == "__init__") else replace(entry, public=False)
        for entry in inside
    )


def flatten_body(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements in their order, including those in blocks like `if` and `try`."""
    for node in body:
        if isinstance(node, _BLOCKS):
            for part in ("body", "handlers", "orelse", "finalbody"):
                for each in getattr(node, part, ()):
                    yield from flatten_body(each.body if isinstance(each, ast.ExceptHandler) else [each])
        elif isinstance(node, ast.Match):
            for case in node.cases:
                yield from flatten_body(case.body)
        else:
            yield node


def target_names(node: ast.stmt) -> Iterator[str]:
    targets: Sequence[ast.expr] = ()
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    elif type(node).__name__ == "TypeAlias":
        # New in Python 3.12.
        targets = [getattr(node, "name")]  # noqa: B009
    for target in targets:
        yield from unpack_names(target)


def unpack_names(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from unpack_names(part)
    elif isinstance(target, ast.Starred):
        yield from unpack_names(target.value)


def names_in_all(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement adds to `__all__` as literals."""
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if isinstance(target, ast.Name) and target.id == "__all__" and node.value is not None:
            for part in ast.walk(node.value):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


def import_names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
        yield "." * node.level + (node.module or "")


def docstring_line(node: ast.Module | ast.ClassDef | _Function) -> str:
    """Return the first line of the docstring."""
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        text = first.value.value
        return text.strip().partition("\n")[0].strip() if isinstance(text, str) else ""
    return ""


def outline_by_pattern(text: str) -> CodeOutline:
    """Return the outline of a source that cannot be parsed, from lines that look like definitions."""
    lines = LineIndex(text)
    stack: list[tuple[int, list[OutlineEntry], OutlineEntry | None]] = [(-1, [], None)]
    for each in split_logical_lines(text, lines):
        while len(stack) > 1 and each.indent <= stack[-1][0]:
            close_entry(stack)
        if each.defines:
            is_class = each.code.startswith("class")
            head = shorten_line(" ".join(lines.all[each.first : each.first + 4]), 120).partition("):")
            short_head = head[0] + (")" if head[1] else "")
            public = not each.defines.startswith("_")
            entry = OutlineEntry(
                "class" if is_class else "function", each.defines, (short_head, short_head), "", public
            )
            stack.append((each.indent, [], entry))
    while len(stack) > 1:
        close_entry(stack)
    return CodeOutline("python", len(lines.all), tuple(stack[0][1]), complete=True)


def close_entry(stack: list[tuple[int, list[OutlineEntry], OutlineEntry | None]]) -> None:
    """Move the last entry into the one around it; definitions inside functions are dropped."""
    _, inside, entry = stack.pop()
    assert entry is not None
    if stack[-1][2] is None or stack[-1][2].kind == "class":
        members = tuple(inside) if entry.kind == "class" else ()
        stack[-1][1].append(replace(entry, inside=members))
