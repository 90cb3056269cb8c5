"""Python sources by `ast`; patterns serve what cannot be parsed, as they do for other languages."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from holdfast.files.digests.base import Digest, ElementLocation, LineIndex, shorten_line, suppress_warnings
from holdfast.files.digests.code import (
    CodeOutline,
    OutlineEntry,
    digest_by_lines,
    locate_by_lines,
    write_outline,
)

_SHORT_VALUE = 60
# So many lines that the parser rejects are left out; each costs another attempt.
_MOST_REJECTED = 30

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_BLOCKS = (ast.If, ast.Try, ast.TryStar, ast.With, ast.For, ast.While)


def digest_python(text: str, most: int) -> Digest | None:
    try:
        tree = parse_module(text)
        outline = _PythonReader(text).outline(tree) if tree else None
    except RecursionError:
        # A thousand `elif` make a tree a thousand levels deep.
        outline = None
    if outline is None:
        return digest_by_lines("python", text, most)
    return write_outline(outline, most) if outline.entries or outline.imports else None


def locate_python(text: str) -> Iterator[ElementLocation]:
    """Yield functions, classes and methods with their decorators, and module-level assignments."""
    lines = LineIndex(text)
    try:
        tree = parse_module(text)
        locations = list(locate_statements(tree.body, lines, "")) if tree else None
    except RecursionError:
        locations = None
    yield from locate_by_lines("python", text) if locations is None else locations


def locate_statements(body: Sequence[ast.stmt], lines: LineIndex, prefix: str) -> Iterator[ElementLocation]:
    for node in flatten_body(body):
        last = (node.end_lineno or node.lineno) - 1
        if isinstance(node, ast.ClassDef | _Function):
            first = min((node, *node.decorator_list), key=lambda part: part.lineno).lineno - 1
            yield lines.locate(prefix + node.name, first, last)
            yield from locate_statements(node.body, lines, f"{prefix}{node.name}.")
        elif not prefix and node in body:
            for name in target_names(node):
                yield lines.locate(name, node.lineno - 1, last)


def parse_module(text: str) -> ast.Module | None:
    """Parse a source, without some lines that the parser rejects; None if it cannot be parsed.

    Lines are those between line feeds, as everywhere in digests.
    """
    lines = text.replace("\r\n", "\n").replace("\r", " ").split("\n")
    # The parser warns about invalid escapes.
    with suppress_warnings():
        for _ in range(_MOST_REJECTED + 1):
            try:
                return ast.parse("\n".join(lines))
            except SyntaxError as error:
                # Old or half-written code inside a function need not hide all the others.
                at = (error.lineno or 0) - 1
                if not 0 <= at < len(lines) or lines[at].strip() in ("", "pass"):
                    return None
                lines[at] = lines[at][: len(lines[at]) - len(lines[at].lstrip())] + "pass"
            except (ValueError, RecursionError, MemoryError):
                return None
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
