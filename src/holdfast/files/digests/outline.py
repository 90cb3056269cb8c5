"""What a source file has, as names with their heads, and how it is told in fewer and fewer words.

Knows no language: the modules that read one make an `Outline`, and this writes it down within a budget.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from holdfast.files.digests.values import Digest, cut, ended, plural
from holdfast.patterns import late
from holdfast.tokens.estimate import UNKNOWN, estimate

Kind = Literal["class", "function", "constant", "name"]

_PACKAGE = late(r"[./:]")
_LONGEST_HEAD = 240
_LONGEST_DOC = 160
_LEAST = 2


@dataclass(frozen=True, slots=True)
class Entry:
    """Something with a name, and its first and last line counted from zero where they are known.

    `heads` are ways to write it down, the richest first; the name alone comes after them.
    """

    kind: Kind
    name: str
    heads: tuple[str, ...]
    doc: str = ""
    public: bool = True
    inside: "tuple[Entry, ...]" = ()
    first: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True)
class Outline:
    """A file of one language. In a `complete` outline no public name is ever left out."""

    kind: str
    lines: int
    entries: tuple[Entry, ...]
    doc: str = ""
    imports: tuple[str, ...] = ()
    complete: bool = False


@dataclass(frozen=True, slots=True)
class _Step:
    """How much is told. `docs` are for that many levels, `head` is which of the heads."""

    without: str
    private: bool = False
    docs: int = 0
    head: int = 0
    imports: bool = False


# Each leaves out a little more than the one before.
_STEPS = (
    _Step("", private=True, docs=9, imports=True),
    _Step("", docs=9, imports=True),
    _Step("documentation of what is inside classes", docs=1, imports=True),
    _Step("documentation", imports=True),
    _Step("documentation, types, values", head=1, imports=True),
    _Step("documentation, arguments, values", head=2, imports=True),
    _Step("documentation, arguments, values, imports", head=2),
)


def written(outline: Outline, most: int) -> Digest:
    """The outline in at most this many tokens; where even its bare names take more, the bare names."""
    every = [entry.public for entry in _all(outline.entries)]
    private = every.count(False)
    # What has a line takes at least these tokens: where that is too much already, nothing is tried.
    hopeless = _LEAST * (len(every) - private) > most
    for step in () if hopeless else _STEPS:
        body = [*_top(outline, step), *_told(outline.entries, step, 0)]
        if _tokens(body) <= most:
            hidden = 0 if step.private else private
            return ended(outline.kind, body, _left_out(outline, step.without, hidden))
    body = list(_bare(outline))
    without = "documentation, arguments, values, imports, bases, order"
    if not outline.complete:
        body, gone = _shortened(body, most)
        if gone:
            without += f", {plural(gone, 'name')}"
    return ended(outline.kind, body, _left_out(outline, without, private))


def _left_out(outline: Outline, without: str, private: int) -> str:
    hidden = plural(private, "private name or field", "private names and fields") if private else ""
    gone = ", ".join(filter(None, ("bodies", hidden, without)))
    return f"left out of {plural(outline.lines, 'line')}: {gone}"


def _top(outline: Outline, step: _Step) -> Iterator[str]:
    if outline.doc:
        yield cut(outline.doc, _LONGEST_DOC)
    if step.imports and outline.imports:
        yield "imports: " + cut(", ".join(_short(outline.imports)), 3 * _LONGEST_DOC)


def _short(imports: tuple[str, ...]) -> tuple[str, ...]:
    """Many modules are told by the packages they are in."""
    if sum(map(len, imports)) <= 2 * _LONGEST_DOC:
        return imports
    return tuple(dict.fromkeys(name if name[:1] in ".<" else _PACKAGE.split(name)[0] for name in imports))


def _told(entries: tuple[Entry, ...], step: _Step, depth: int) -> Iterator[str]:
    for entry in entries:
        if not (entry.public or step.private):
            continue
        heads = (*entry.heads[:2], _named(entry))
        head = cut(heads[min(step.head, len(heads) - 1)], _LONGEST_HEAD)
        doc = f"  # {cut(entry.doc, _LONGEST_DOC)}" if entry.doc and depth < step.docs else ""
        yield f"{'  ' * depth}{head}{doc}"
        yield from _told(entry.inside, step, depth + 1)


def _named(entry: Entry) -> str:
    """The last of the heads is the shortest that still tells what the thing is."""
    return entry.heads[2] if len(entry.heads) > 2 else entry.name


def _bare(outline: Outline) -> Iterator[str]:
    """Names alone: a line for each sort, and one for each class that has something inside."""
    sorts = {"constant": "constants", "function": "functions", "class": "classes", "name": "names"}
    for kind, word in sorts.items():
        names = [entry.name for entry in outline.entries if entry.kind == kind and _is_single(entry)]
        if names:
            yield f"{word}: {', '.join(dict.fromkeys(names))}"
    yield from _by_class(outline.entries, "")


def _by_class(entries: tuple[Entry, ...], before: str) -> Iterator[str]:
    for entry in entries:
        if entry.public and not _is_single(entry):
            name = f"{before}{entry.name}"
            names = [part.name for part in entry.inside if _is_single(part)]
            yield f"class {name}: {', '.join(dict.fromkeys(names))}".rstrip(": ")
            yield from _by_class(entry.inside, f"{name}.")


def _is_single(entry: Entry) -> bool:
    return entry.public and not any(part.public for part in entry.inside)


def _shortened(body: list[str], most: int) -> tuple[list[str], int]:
    """As many names as there is room for, and how many there is none for."""
    room = 3 * most
    while _tokens(kept := _cut_off(body, room)) > most and room > _LONGEST_DOC:
        room = 4 * room // 5
    return kept, sum(line.count(",") + 1 for line in body) - sum(line.count(",") + 1 for line in kept)


def _cut_off(body: list[str], room: int) -> list[str]:
    kept: list[str] = []
    for line in body:
        if len(line) > room:
            # A name is told whole, or not at all.
            kept += [line[:room].rpartition(",")[0]] if "," in line[:room] else []
            break
        kept.append(line)
        room -= len(line) + 1
    return kept or [cut(line, _LONGEST_DOC) for line in body[:1]]


def _all(entries: tuple[Entry, ...]) -> Iterator[Entry]:
    return chain.from_iterable((entry, *_all(entry.inside)) for entry in entries)


def _tokens(body: list[str]) -> int:
    return estimate("\n".join(body), UNKNOWN).tokens
