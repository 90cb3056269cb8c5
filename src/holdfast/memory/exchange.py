"""Export and import of memories as JSON or Markdown. Importing the same again changes nothing.

Imported memories belong to the importing scope, whatever they say. Lines that cannot be read are reported,
and the rest is imported.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from holdfast.errors import BadRequest, TooLarge
from holdfast.i18n import lazy
from holdfast.memory.base import FIELD_FORMS, KINDS, Memory
from holdfast.memory.items import add_items, normalise, read_ids, read_memories
from holdfast.memory.library import Library
from holdfast.memory.scopes import may_write, owner
from holdfast.messages import Scope, canonical

ExportFormat = Literal["json", "markdown"]

_LARGEST = 20_000_000
_BAD_SHOWN = 100
# Each is compared with all that are there, so room is made in between.
_PORTION = 500
# The frame around the memories in JSON.
_BEGINS, _ENDS = '{"memories":[', '],"left_out":'


@dataclass(frozen=True, slots=True)
class ImportCounts:
    """How many memories were imported, how many made room for them, and the lines that could not be read."""

    added: int = 0
    updated: int = 0
    known: int = 0
    refused: int = 0
    archived: int = 0
    bad: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryExport:
    """The exported text; `left_out` are files that could not be read, each with the reason."""

    text: str
    left_out: tuple[str, ...] = ()


def dump_memories(library: Library, scope: Scope, form: ExportFormat = "json") -> MemoryExport:
    """Export all that a scope can see, with history; JSON also has the archive."""
    troubles: list[str] = []
    current, archived = library.list_all(scope, troubles)
    left_out = tuple(dict.fromkeys(troubles))
    if form == "markdown":
        return MemoryExport(add_items("", current), left_out)
    names = {memory.id for memory in current}
    rows = [canonical(memory.to_json()) for memory in current]
    rows += [
        canonical({**memory.to_json(), "archived": True}) for memory in archived if memory.id not in names
    ]
    # One a line, so that a line can be named, compared and taken out.
    text = "\n".join((_BEGINS, ",\n".join(rows), f"{_ENDS}{canonical(left_out)}}}", ""))
    return MemoryExport(text, left_out)


def load_memories(library: Library, scope: Scope, text: str) -> ImportCounts:
    """Import memories. Those that exist, under their id or in other words, stay as they are."""
    if len(text) > _LARGEST:
        raise TooLarge(
            lazy("An import has at most {largest:,} characters.", largest=_LARGEST),
            hint=lazy("Bring it in in parts."),
        )
    bad: list[str] = []
    shelved: list[Memory] = []
    fresh: list[Memory] = []
    current, archived = library.list_all(scope)
    known = {memory.id for memory in (*current, *archived)}
    known_count = 0
    for memory, in_archive in read_entries(text, scope, bad):
        if memory.id in known:
            known_count += 1
            continue
        if not may_write(scope, owner(memory.scope, memory.kind)):
            bad.append(f"{memory.id}: preferences are the person's, and this key writes to its project only")
            continue
        known.add(memory.id)
        (shelved if in_archive else fresh).append(memory)
    # The old before the new, or nothing could take the place of anything.
    fresh.sort(key=lambda memory: memory.valid_from)
    library.allow([*fresh, *shelved])
    outcomes, moved = library.add_archived(shelved), list[Memory]()
    for start in range(0, len(fresh), _PORTION):
        outcomes += library.keep(fresh[start : start + _PORTION], moved)
    actions = [outcome.action for outcome in outcomes]
    return ImportCounts(
        added=actions.count("added") + actions.count("superseded"),
        updated=actions.count("updated"),
        known=known_count + actions.count("known"),
        refused=actions.count("refused"),
        archived=len(moved),
        bad=tuple(bad[:_BAD_SHOWN]),
    )


def read_entries(text: str, scope: Scope, bad: list[str]) -> Iterator[tuple[Memory, bool]]:
    if not text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        marked = read_ids(text)
        for memory in read_memories(text, scope, by_hand=True):
            # What a person wrote elsewhere is an import here, and makes room like others.
            yield memory if memory.id in marked else replace(memory, id=f"i_{memory.id}"), False
        return
    for place, value in read_values(text.lstrip("\ufeff"), bad):
        try:
            yield parse_memory(value, scope), value.get("archived") is True
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            bad.append(f"{place}: {_reason(error)}")


def read_values(text: str, bad: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield the entries of one JSON document, or of one document a line."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        yield from read_lines(text, bad)
        return
    entries = whole.get("memories", [whole]) if isinstance(whole, dict) else whole
    if not isinstance(entries, list):
        raise BadRequest(
            lazy("These are no memories."), hint=lazy("Bring in what an export gave, or a list of them.")
        )
    for number, value in enumerate(entries, 1):
        yield f"entry {number}", value


def read_lines(text: str, bad: list[str]) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(text.splitlines(), 1):
        row = line.strip().removesuffix(",")
        # The frame of an export around its lines is no entry.
        if not row or row in (_BEGINS, "]}", "[", "]") or row.startswith(_ENDS):
            continue
        try:
            yield f"line {number}", json.loads(row)
        except (ValueError, RecursionError) as error:
            bad.append(f"line {number}: {_reason(error)}")


def parse_memory(value: Mapping[str, Any], into: Scope) -> Memory:
    text = value["text"]
    if not isinstance(text, str) or not normalise(text):
        raise ValueError("there are no words in it")
    kind = value.get("kind", "fact")
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is no kind of memory")
    digest = hashlib.sha256(normalise(text).encode()).hexdigest()[:16]
    # Which older one it may replace is judged anew among the memories that are here.
    loaded = {
        name: form.load(name, value[name])
        for name, form in FIELD_FORMS.items()
        if name in value and name != "may_replace"
    }
    scope = _scope(value.get("scope"), into)
    return Memory(str(value.get("id") or f"i_{digest}"), kind, normalise(text), scope, **loaded)


def _scope(source: object, into: Scope) -> Scope:
    """Keep the project of a memory if the target is a person's own scope; else use the target."""
    if into == Scope(into.user) and isinstance(source, dict) and source.get("kind", "private") == "private":
        return replace(into, project=str(source.get("project", into.project)))
    return into


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]}"
    return str(error) or type(error).__name__
