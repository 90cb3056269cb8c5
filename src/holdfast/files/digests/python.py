"""Python sources: their outline by `ast`, and by patterns where that cannot read them.

Knows what is public in Python; how much of an outline is told is decided elsewhere.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from holdfast.files.digests.logical import places, skeleton, statements
from holdfast.files.digests.outline import Entry, Outline, written
from holdfast.files.digests.quiet import unwarned
from holdfast.files.digests.values import Digest, Lines, cut

__all__ = ["digest", "outline_of", "places"]

_SHORT_VALUE = 60

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_BLOCKS = (ast.If, ast.Try, ast.TryStar, ast.With, ast.For, ast.While)


def digest(text: str, most: int) -> Digest | None:
    found = outline_of(text)
    return written(found, most) if found.entries or found.imports else None


def outline_of(text: str) -> Outline:
    tree = _parsed(skeleton(text))
    try:
        return _by_pattern(text) if tree is None else _Reader(text).outline(tree)
    except RecursionError:
        # A thousand `elif` are a tree a thousand levels deep.
        return _by_pattern(text)


def _parsed(source: str) -> ast.Module | None:
    # The parser has its opinion of somebody's escapes.
    with unwarned():
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


class _Reader:
    """One source with what it says of itself in `__all__`."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._exported: list[str] = []

    def outline(self, tree: ast.Module) -> Outline:
        body = list(_flat(tree.body))
        self._exported = [name for node in body for name in _exported(node)]
        entries = tuple(chain.from_iterable(self._entries(node, inside=False) for node in body))
        defined = {entry.name for entry in entries}
        passed_on = dict.fromkeys(name for name in self._exported if name not in defined)
        return Outline(
            "python",
            len(self._lines),
            (*entries, *(Entry("constant", name, (name,)) for name in passed_on)),
            _doc(tree),
            tuple(dict.fromkeys(chain.from_iterable(map(_imported, body)))),
            complete=True,
        )

    def _entries(self, node: ast.stmt, *, inside: bool) -> Iterator[Entry]:
        if isinstance(node, _Function):
            yield self._function(node)
        elif isinstance(node, ast.ClassDef):
            yield self._class(node)
        else:
            for name in dict.fromkeys(_assigned(node)):
                if name != "__all__":
                    head = self._source(node) if node.lineno == node.end_lineno else name
                    heads = (head if head.startswith(name) else name, name)
                    # Fields are told where there is room, and are no names of the module.
                    yield Entry("constant", name, heads, "", not inside and self._is_public(name))

    def _function(self, node: _Function) -> Entry:
        word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
        returns = f" -> {self._piece(node.returns)}" if node.returns else ""
        typed = ", ".join(self._arguments(node.args, types=True))
        heads = (
            f"{word} {node.name}({typed}){returns}",
            f"{word} {node.name}({', '.join(self._arguments(node.args, types=False))})",
            f"{word} {node.name}",
        )
        return Entry("function", node.name, heads, _doc(node), self._is_public(node.name))

    def _class(self, node: ast.ClassDef) -> Entry:
        bases = [self._piece(base) for base in (*node.bases, *(word.value for word in node.keywords))]
        head = f"class {node.name}({', '.join(bases)})" if bases else f"class {node.name}"
        inside = chain.from_iterable(self._entries(part, inside=True) for part in _flat(node.body))
        public = self._is_public(node.name)
        return Entry("class", node.name, (head, head, head), _doc(node), public, _merged(inside, public))

    def _arguments(self, args: ast.arguments, *, types: bool) -> Iterator[str]:
        plain = [*args.posonlyargs, *args.args]
        given = len(plain) - len(args.defaults)
        for place, argument in enumerate(plain):
            yield self._argument(argument, place >= given, types)
            if place + 1 == len(args.posonlyargs):
                yield "/"
        if args.vararg:
            yield "*" + self._argument(args.vararg, False, types)
        elif args.kwonlyargs:
            yield "*"
        for argument, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            yield self._argument(argument, default is not None, types)
        if args.kwarg:
            yield "**" + self._argument(args.kwarg, False, types)

    def _argument(self, argument: ast.arg, optional: bool, types: bool) -> str:
        kind = f": {self._piece(argument.annotation)}" if types and argument.annotation else ""
        return f"{argument.arg}{kind}{'=…' if optional else ''}"

    def _is_public(self, name: str) -> bool:
        return not name.startswith("_") or name in self._exported

    def _source(self, node: ast.stmt) -> str:
        return cut(self._lines[node.lineno - 1].partition("  #")[0], _SHORT_VALUE)

    def _piece(self, node: ast.expr) -> str:
        """The source of an expression; what goes over several lines is told by its first."""
        line = self._lines[node.lineno - 1]
        end = node.end_col_offset if node.end_lineno == node.lineno else None
        if line.isascii():
            return cut(line[node.col_offset : end], _SHORT_VALUE)
        # Offsets of the parser count bytes.
        data = line.encode("utf-8", "replace")[node.col_offset : end]
        return cut(data.decode("utf-8", "replace"), _SHORT_VALUE)


def _merged(inside: Iterator[Entry], public: bool) -> tuple[Entry, ...]:
    """What a class has. Constructors are told with the class; what a private class has is private, too."""
    return tuple(
        entry if public and (entry.public or entry.name == "__init__") else replace(entry, public=False)
        for entry in inside
    )


def _flat(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements in their order, those in blocks that are run when a module or class is made included."""
    for node in body:
        if isinstance(node, _BLOCKS):
            for part in ("body", "handlers", "orelse", "finalbody"):
                for each in getattr(node, part, ()):
                    yield from _flat(each.body if isinstance(each, ast.ExceptHandler) else [each])
        elif isinstance(node, ast.Match):
            for case in node.cases:
                yield from _flat(case.body)
        else:
            yield node


def _assigned(node: ast.stmt) -> Iterator[str]:
    targets: Sequence[ast.expr] = ()
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    elif type(node).__name__ == "TypeAlias":
        # A statement since Python 3.12.
        targets = [getattr(node, "name")]  # noqa: B009
    for target in targets:
        yield from _names(target)


def _names(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from _names(part)
    elif isinstance(target, ast.Starred):
        yield from _names(target.value)


def _exported(node: ast.stmt) -> Iterator[str]:
    """What a statement puts into `__all__`, as far as it is written out."""
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if isinstance(target, ast.Name) and target.id == "__all__" and node.value is not None:
            for part in ast.walk(node.value):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


def _imported(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
        yield "." * node.level + (node.module or "")


def _doc(node: ast.Module | ast.ClassDef | _Function) -> str:
    """The first line of the documentation."""
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        text = first.value.value
        return text.strip().partition("\n")[0].strip() if isinstance(text, str) else ""
    return ""


def _by_pattern(text: str) -> Outline:
    """For what is no Python that we know: what stands where a definition would."""
    lines = Lines(text)
    stack: list[tuple[int, list[Entry], Entry | None]] = [(-1, [], None)]
    for each in statements(text, lines):
        while len(stack) > 1 and each.indent <= stack[-1][0]:
            _close(stack)
        if each.defines:
            is_class = each.code.startswith("class")
            head = cut(" ".join(lines.all[each.first : each.first + 4]), 120).partition("):")
            told = head[0] + (")" if head[1] else "")
            public = not each.defines.startswith("_")
            entry = Entry("class" if is_class else "function", each.defines, (told, told), "", public)
            stack.append((each.indent, [], entry))
    while len(stack) > 1:
        _close(stack)
    return Outline("python", len(lines.all), tuple(stack[0][1]), complete=True)


def _close(stack: list[tuple[int, list[Entry], Entry | None]]) -> None:
    """Puts what was read last into what it stands in; what functions have inside is theirs alone."""
    _, inside, entry = stack.pop()
    assert entry is not None
    if stack[-1][2] is None or stack[-1][2].kind == "class":
        kept = tuple(inside) if entry.kind == "class" else ()
        stack[-1][1].append(replace(entry, inside=kept))
