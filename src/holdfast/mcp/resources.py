"""The notes as resources: a list in pages, and each note by its address, from a line on.

Which notes those are is decided in `notes`. Knows no protocol.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs, quote, unquote

from holdfast.errors import BadRequest, NotFound
from holdfast.mcp.parts import Caller, Parts
from holdfast.mcp.told import excerpt

SCHEME = "holdfast://notes/"
TEMPLATE = f"{SCHEME}{{+path}}{{?from_line}}"
MARKDOWN = "text/markdown"

_PAGE = 100
# A resource is put in front of a model whole, by a person's choice.
_LONGEST = 60_000
# No note has more lines than a number of so many digits.
_DIGITS = 7


@dataclass(frozen=True, slots=True)
class Resource:
    uri: str
    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Page:
    """A part of the list; `more` is what brings the next one."""

    resources: Sequence[Resource]
    more: str | None


def listed(parts: Parts, caller: Caller, cursor: str | None) -> Page:
    """The notes by path. What comes after a path is the next page, whatever was added meanwhile."""
    from holdfast.mcp.notes import notes_of

    caller.check_memory()
    found = sorted(notes_of(parts, caller.scope), key=lambda entry: str(entry.path))
    after = [entry for entry in found if cursor is None or str(entry.path) > cursor]
    page = [Resource(address(str(one.path)), str(one.path), one.size) for one in after[:_PAGE]]
    return Page(page, page[-1].name if len(after) > _PAGE else None)


def read(parts: Parts, caller: Caller, uri: str) -> str:
    from holdfast.mcp.notes import note_at

    caller.check_memory()
    path, first = _asked(uri)
    told = excerpt(note_at(parts, caller.scope, path).text, first, _LONGEST, _LONGEST)
    if told["next"] is None and not told["cut"]:
        return str(told["text"])
    rest = f"{address(path)}?from_line={told['next']}" if told["next"] else "the file itself"
    return f"{told['text']}\n\n[lines {first}-{told['last']} of {told['lines']}; the rest: {rest}]"


def address(path: str) -> str:
    return SCHEME + quote(path, safe="/", errors="replace")


def _asked(uri: str) -> tuple[str, int]:
    """The path that an address names, and the line to begin with."""
    if not uri.startswith(SCHEME):
        raise NotFound(f"There is no resource {uri[:100]!r}.", hint=f"Notes are at {TEMPLATE}.")
    path, _, query = uri.removeprefix(SCHEME).partition("?")
    first = parse_qs(query).get("from_line", ["1"])[-1]
    if not (first.isdecimal() and len(first) <= _DIGITS and int(first) > 0):
        raise BadRequest(f"{first[:20]!r} is no line.", hint="from_line is a number, 1 for the first line.")
    return unquote(path), int(first)
