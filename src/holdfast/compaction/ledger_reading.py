"""Reads one message for the ledger: all that a person said, of a program's output only the most telling.

Each message is read on its own, so that a span read in parts gives the same. It keeps no counts and no order.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdfast.compaction.ledger_lines import (
    arguments_of,
    command_of,
    commands_in,
    error_lines,
    errors_said,
    worth_keeping,
)
from holdfast.compaction.ledger_patterns import finds
from holdfast.compaction.ledger_spelling import context_of, key_of, needs_context
from holdfast.compaction.ledger_table import EntryKind, Find
from holdfast.messages import Message, Text, ToolCall
from holdfast.patterns import late
from holdfast.window.borders import Span, fences
from holdfast.window.pasted import stretches
from holdfast.window.rules import decisions_in

# How many of a kind one message may give: a person's words, an answer, code, a program's output.
_CAPS: Mapping[EntryKind, tuple[int, int, int]] = {
    "file": (40, 20, 12),
    "command": (20, 10, 4),
    "url": (20, 10, 6),
    "id": (40, 20, 12),
    "version": (20, 10, 5),
    "amount": (40, 15, 8),
    "date": (30, 12, 6),
    "error": (6, 4, 3),
    "decision": (6, 0, 0),
}
_OWN, _ANSWER, _DUMP = range(3)
# In a longer message a person pasted something, of whatever shape; their own words stand around it.
_PASTE = 4_000
_AROUND = 1_200
# Of an output beyond this, beginning and end are read for names; its error lines are read in full.
_LONG_OUTPUT = 24_000
# A longer argument is the content of a file, not a name.
_LONG_ARGUMENT = 300
_WORD = late(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Said:
    kind: EntryKind
    text: str
    context: str = ""
    own: bool = False


def said_by(message: Message) -> list[Said]:
    """What a message says, each thing once."""
    if message.role == "system":
        return []
    found: list[Said] = []
    text = "".join(part.text for part in message.parts if isinstance(part, Text))
    if message.role == "user":
        found += _said_by_person(text)
    elif message.role == "assistant":
        found += _spoken(text, _ANSWER)
    else:
        found += _put_out(text)
    for call in message.tool_calls:
        found += _called(call)
    for result in message.tool_results:
        found += _put_out(result.text)
    return _once(found)


def said_in(text: str) -> list[Said]:
    """Everything a text has, without any limit."""
    return [Said(find.kind, find.text) for find in _all_finds(text, own=True)]


def _said_by_person(text: str) -> Iterator[Said]:
    for decision in decisions_in(text)[: _CAPS["decision"][_OWN]]:
        yield Said("decision", decision, own=True)
    long = len(text) > _PASTE
    for start, end, pasted in stretches(text):
        piece = text[start:end]
        if pasted:
            yield from _put_out(piece) if long else _spoken(piece, _DUMP)
        elif long and len(piece) > 2 * _AROUND:
            yield from _typed(piece[:_AROUND])
            yield from _put_out(piece[_AROUND:-_AROUND])
            yield from _typed(piece[-_AROUND:])
        else:
            yield from _typed(piece)


def _typed(text: str) -> Iterator[Said]:
    return (replace(said, own=True) for said in _spoken(text, _OWN))


def _spoken(text: str, who: int) -> list[Said]:
    return _chosen(text, _all_finds(text, own=who == _OWN), who)


def _all_finds(text: str, *, own: bool) -> list[Find]:
    """Commands and errors first: what they are made of is found in them again, and may stay."""
    found = [Find("command", command, at, at + len(command)) for command, at in commands_in(text)]
    found += [
        Find("error", line, at, at + len(line)) for line, at in (*error_lines(text), *errors_said(text))
    ]
    for start, end, code in _stretches(text, fences(text)):
        for find in finds(text[start:end], code=code, own=own and not code):
            found.append(replace(find, start=find.start + start, end=find.end + start))
    return found


def _stretches(text: str, blocks: Sequence[Span]) -> Iterator[tuple[int, int, bool]]:
    """Prose and code in turns."""
    done = 0
    for start, end in blocks:
        yield done, start, False
        yield start, end, True
        done = end
    yield done, len(text), False


def _put_out(text: str) -> list[Said]:
    errors = [Find("error", line, at, at + len(line)) for line, at in error_lines(text)]
    found = _chosen(text, errors, _DUMP)
    if len(text) > _LONG_OUTPUT:
        text = f"{text[: _LONG_OUTPUT // 2]}\n\n{text[-_LONG_OUTPUT // 2 :]}"
    return found + _chosen(text, finds(text, code=True), _DUMP)


def _called(call: ToolCall) -> list[Said]:
    command = command_of(call)
    found = [Said("command", command)] if command and worth_keeping(command) else []
    text = "\n".join(_short_values(arguments_of(call)))
    return found + _chosen(text, finds(text, code=True), _ANSWER)


def _short_values(value: Any, name: str = "") -> Iterator[str]:
    """The arguments as lines that say what is what; of a long one its start, where a patch names files."""
    if isinstance(value, Mapping):
        for inner, item in value.items():
            yield from _short_values(item, str(inner))
    elif isinstance(value, list):
        for item in value:
            yield from _short_values(item, name)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield f"{name}: {str(value)[:_LONG_ARGUMENT]}"


def _chosen(text: str, found: Iterable[Find], who: int) -> list[Said]:
    groups: dict[EntryKind, dict[str, list[Find]]] = {}
    for find in found:
        groups.setdefault(find.kind, {}).setdefault(key_of(find.kind, find.text), []).append(find)
    chosen: list[Find] = []
    for kind, same in groups.items():
        most = _CAPS[kind][who]
        ranked = list(same.values())
        if len(ranked) > most:
            ranked = _ends(ranked, most) if kind == "error" else _most_telling(ranked)[:most]
        chosen += [finds_[0] for finds_ in ranked]
    return [_said(text, find) for find in chosen]


def _ends(found: list[list[Find]], most: int) -> list[list[Find]]:
    """The cause tends to stand first and the outcome last."""
    return [*found[: most // 2], *found[len(found) - (most - most // 2) :]]


def _length_of_number(match: re.Match[str]) -> str:
    """A word with a digit by its length alone; any other as it is."""
    return str(len(match[0])) if any(sign.isdigit() for sign in match[0]) else match[0]


def _most_telling(found: list[list[Find]]) -> list[list[Find]]:
    """One of each shape first, then by count: a thousand numbered paths leave room for the one other name."""
    seen: Counter[str] = Counter()
    ranked: list[tuple[int, int, list[Find]]] = []
    for same in sorted(found, key=len, reverse=True):
        shape = _WORD.sub(_length_of_number, same[0].text)
        ranked.append((seen[shape], -len(same), same))
        seen[shape] += 1
    return [same for *_, same in sorted(ranked, key=lambda entry: entry[:2])]


def _said(text: str, find: Find) -> Said:
    context = context_of(text, find.start, find.end) if needs_context(find.kind, find.text) else ""
    return Said(find.kind, find.text, context)


def _once(found: Sequence[Said]) -> list[Said]:
    kept: dict[tuple[EntryKind, str], Said] = {}
    for said in found:
        key = (said.kind, key_of(said.kind, said.text))
        known = kept.get(key)
        if known is not None:
            said = replace(known, context=known.context or said.context, own=known.own or said.own)
        kept[key] = said
    return list(kept.values())
