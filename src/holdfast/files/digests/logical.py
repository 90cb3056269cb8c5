"""Python source by its logical lines: which line begins a statement, how far it is indented, what it defines.

Reads by patterns alone, so that broken, old and huge sources are read as well. `skeleton` is the source
without what functions do: it is a tenth of the work for the parser, and what is wrong inside a function, or
was right in Python 2, is no longer in it.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.files.digests.values import Lines, Place, nested
from holdfast.patterns import late

# Strings and comments. Whatever is not closed goes on to the end of its line, or of the text.
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
# All that a statement assigns to, several at once included.
_TARGETS = late(r"(?:[\w \t,()*.]+(?::[^=\n]+)?=(?!=)[ \t]*)+")
# A type that goes over several lines has the sign far behind it.
_ANNOTATED = late(r"(?!(?:else|try|finally)\b)(\w+)[ \t]*:")
_STRING = late(r"[rRuUbBfF]{0,2}[\"']")
# A statement that is longer is data, or a call with a lot in it: neither is for an outline.
_LONG = 1_000


class Statement(NamedTuple):
    """A logical line: its lines counted from zero, its indentation, and its first line without strings."""

    first: int
    last: int
    indent: int
    code: str
    opens: bool
    defines: str = ""


def statements(text: str, lines: Lines) -> list[Statement]:
    masked = _OPAQUE.sub(_mask, text)
    brackets = _NO_BRACKETS.sub("", masked).split("\n")
    found: list[Statement] = []
    start, depth, wrapped = -1, 0, False
    for number, code in enumerate(masked.split("\n")):
        begins = depth == 0 and not wrapped
        if begins:
            if not code or code.isspace():
                continue
            start = number
        if brackets[number]:
            depth = _depth(depth, brackets[number])
        wrapped = code.endswith(("\\", "\\\r"))
        if depth == 0 and not wrapped:
            found.append(_statement(start, number, lines.all[start], code))
    if depth or wrapped:
        # What is never closed ends the text, and does not hide that it began.
        found.append(_statement(start, len(lines.all) - 1, lines.all[start], ""))
    return found


def places(text: str) -> Iterator[Place]:
    """Functions, classes, methods and what is assigned at the left margin, with decorators."""
    lines = Lines(text)
    found: list[tuple[int, str, int]] = []
    # Comments before a statement belong to it, and not to what ends there.
    ends: dict[int, int] = {}
    decorated: Statement | None = None
    last = 0
    for each in statements(text, lines):
        if each.code.startswith("@"):
            decorated = decorated or each
            continue
        first = decorated.first if decorated and decorated.indent == each.indent else each.first
        # A statement without a name still ends what stands before it.
        found.append((each.indent, each.defines or _assigned(each), first))
        ends[first - 1] = last
        decorated, last = None, each.last
    ends[len(lines.all)] = last
    for name, first, end in nested(found, len(lines.all)):
        if not name.endswith(".") and name:
            yield lines.place(".".join(filter(None, name.split("."))), first, ends[end])


def skeleton(text: str) -> str:
    """The source with the same lines, and in them no bodies of functions but their documentation."""
    lines = Lines(text)
    kept = [""] * len(lines.all)
    within: Statement | None = None
    pending = False
    for each in statements(text, lines):
        if within is not None and each.indent > within.indent:
            if pending:
                pending = False
                _keep_doc(kept, lines, each)
            continue
        _close(kept, within, pending)
        within, pending = None, False
        if each.defines and not each.code.startswith("class"):
            kept[each.first : each.last + 1] = lines.all[each.first : each.last + 1]
            within, pending = (each, True) if each.opens else (None, False)
        else:
            _keep(kept, lines, each)
    _close(kept, within, pending)
    return "\n".join(kept).replace("\0", " ").replace("\r", " ")


def _assigned(each: Statement) -> str:
    """The name that a statement at the left margin gives a value, or a type alone."""
    if each.indent or each.opens:
        return ""
    found = _ASSIGNS.match(each.code) or _ANNOTATED.match(each.code)
    return found[1] if found else ""


def _close(kept: list[str], within: Statement | None, pending: bool) -> None:
    """A function that never got a body does nothing."""
    if within is not None and pending:
        kept[within.last] += " ..."


def _mask(found: re.Match[str]) -> str:
    """Nothing for a comment, quotes for a string; one of several lines is a bracket that spans them."""
    opaque = found[0]
    if opaque[0] == "#":
        return ""
    within = opaque.count("\n")
    return "(" + "\n" * within + ")" if within else '""'


def _depth(depth: int, brackets: str) -> int:
    opened = brackets.count("(") + brackets.count("[") + brackets.count("{")
    return max(depth + 2 * opened - len(brackets), 0)


def _statement(first: int, last: int, line: str, ending: str) -> Statement:
    code = line.lstrip()
    indent = len(line) - len(code)
    if "\t" in line[:indent]:
        indent = len(line[:indent].expandtabs())
    # `async`, `class` and `def`; most lines begin otherwise.
    defined = _DEFINES.match(code) if code[:1] in ("a", "c", "d") else None
    return Statement(first, last, indent, code, ending.rstrip().endswith(":"), defined[1] if defined else "")


def _keep_doc(kept: list[str], lines: Lines, each: Statement) -> None:
    """The first statement of a function, if it is a string; the function does something, in any case."""
    if _STRING.match(each.code):
        kept[each.first : each.last + 1] = lines.all[each.first : each.last + 1]
    else:
        kept[each.first] = " " * each.indent + "..."


def _keep(kept: list[str], lines: Lines, each: Statement) -> None:
    """A statement outside of functions. Of a long one that makes no block, what it assigns to."""
    size = sum(len(line) for line in lines.all[each.first : each.last + 1])
    named = each.code.startswith(("class ", "import ", "from ", "__all__", "@", "if ", "elif "))
    if size <= _LONG or named or each.opens or _STRING.match(each.code):
        kept[each.first : each.last + 1] = lines.all[each.first : each.last + 1]
        return
    assigned = _TARGETS.match(each.code[:_LONG]) or _ANNOTATED.match(each.code)
    kept[each.first] = " " * each.indent + (assigned[0] if assigned else "") + "..."
