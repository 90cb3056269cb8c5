"""Reads one message for the ledger: all that a person said, of a program's output only the most telling.

Each message is read on its own, so that a span read in parts gives the same. It keeps no counts and no order.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdfast.compaction.ledger_lines import (
    find_commands,
    find_error_lines,
    find_quoted_errors,
    get_command,
    is_worth_keeping,
    parse_arguments,
)
from holdfast.compaction.ledger_patterns import find_matches
from holdfast.compaction.ledger_spelling import entry_key, find_context, needs_context
from holdfast.compaction.ledger_table import EntryKind, LedgerMatch
from holdfast.messages import Message, Text, ToolCall
from holdfast.patterns import late
from holdfast.window.borders import Span, fences
from holdfast.window.pasted import stretches
from holdfast.window.rules import decisions_in

# How many of a kind one message may give: a person's words, an answer, code, a program's output.
_LIMITS: Mapping[EntryKind, tuple[int, int, int]] = {
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
_USER, _ANSWER, _OUTPUT = range(3)
# In a longer message a person pasted something, of whatever shape; their own words stand around it.
_PASTE = 4_000
_PASTE_MARGIN = 1_200
# Of an output beyond this, beginning and end are read for names; its error lines are read in full.
_LONG_OUTPUT = 24_000
# A longer argument is the content of a file, not a name.
_LONG_ARGUMENT = 300
_ALPHANUMERIC = late(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class LedgerMention:
    kind: EntryKind
    text: str
    context: str = ""
    own: bool = False


def read_message(message: Message) -> list[LedgerMention]:
    """What a message says, each thing once."""
    if message.role == "system":
        return []
    mentions: list[LedgerMention] = []
    text = "".join(part.text for part in message.parts if isinstance(part, Text))
    if message.role == "user":
        mentions += _read_user_text(text)
    elif message.role == "assistant":
        mentions += _read_prose(text, _ANSWER)
    else:
        mentions += _read_output(text)
    for call in message.tool_calls:
        mentions += _read_call(call)
    for result in message.tool_results:
        mentions += _read_output(result.text)
    return _deduplicate(mentions)


def read_text(text: str) -> list[LedgerMention]:
    """Everything a text has, without any limit."""
    return [LedgerMention(match.kind, match.text) for match in _find_all(text, own=True)]


def _read_user_text(text: str) -> Iterator[LedgerMention]:
    for decision in decisions_in(text)[: _LIMITS["decision"][_USER]]:
        yield LedgerMention("decision", decision, own=True)
    long = len(text) > _PASTE
    for start, end, pasted in stretches(text):
        piece = text[start:end]
        if pasted:
            yield from _read_output(piece) if long else _read_prose(piece, _OUTPUT)
        elif long and len(piece) > 2 * _PASTE_MARGIN:
            yield from _read_typed_text(piece[:_PASTE_MARGIN])
            yield from _read_output(piece[_PASTE_MARGIN:-_PASTE_MARGIN])
            yield from _read_typed_text(piece[-_PASTE_MARGIN:])
        else:
            yield from _read_typed_text(piece)


def _read_typed_text(text: str) -> Iterator[LedgerMention]:
    return (replace(mention, own=True) for mention in _read_prose(text, _USER))


def _read_prose(text: str, who: int) -> list[LedgerMention]:
    return _choose(text, _find_all(text, own=who == _USER), who)


def _find_all(text: str, *, own: bool) -> list[LedgerMatch]:
    """Commands and errors first: what they are made of is found in them again, and may stay."""
    matches = [LedgerMatch("command", command, at, at + len(command)) for command, at in find_commands(text)]
    matches += [
        LedgerMatch("error", line, at, at + len(line))
        for line, at in (*find_error_lines(text), *find_quoted_errors(text))
    ]
    for start, end, code in _split_code(text, fences(text)):
        for match in find_matches(text[start:end], code=code, own=own and not code):
            matches.append(replace(match, start=match.start + start, end=match.end + start))
    return matches


def _split_code(text: str, blocks: Sequence[Span]) -> Iterator[tuple[int, int, bool]]:
    """Prose and code in turns."""
    done = 0
    for start, end in blocks:
        yield done, start, False
        yield start, end, True
        done = end
    yield done, len(text), False


def _read_output(text: str) -> list[LedgerMention]:
    errors = [LedgerMatch("error", line, at, at + len(line)) for line, at in find_error_lines(text)]
    mentions = _choose(text, errors, _OUTPUT)
    if len(text) > _LONG_OUTPUT:
        text = f"{text[: _LONG_OUTPUT // 2]}\n\n{text[-_LONG_OUTPUT // 2 :]}"
    return mentions + _choose(text, find_matches(text, code=True), _OUTPUT)


def _read_call(call: ToolCall) -> list[LedgerMention]:
    command = get_command(call)
    mentions = [LedgerMention("command", command)] if command and is_worth_keeping(command) else []
    text = "\n".join(_argument_lines(parse_arguments(call)))
    return mentions + _choose(text, find_matches(text, code=True), _ANSWER)


def _argument_lines(value: Any, name: str = "") -> Iterator[str]:
    """The arguments as lines that say what is what; of a long one its start, where a patch names files."""
    if isinstance(value, Mapping):
        for inner, item in value.items():
            yield from _argument_lines(item, str(inner))
    elif isinstance(value, list):
        for item in value:
            yield from _argument_lines(item, name)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield f"{name}: {str(value)[:_LONG_ARGUMENT]}"


def _choose(text: str, matches: Iterable[LedgerMatch], who: int) -> list[LedgerMention]:
    groups: dict[EntryKind, dict[str, list[LedgerMatch]]] = {}
    for match in matches:
        groups.setdefault(match.kind, {}).setdefault(entry_key(match.kind, match.text), []).append(match)
    chosen: list[LedgerMatch] = []
    for kind, same in groups.items():
        most = _LIMITS[kind][who]
        ranked = list(same.values())
        if len(ranked) > most:
            ranked = _first_and_last(ranked, most) if kind == "error" else _rank_by_shape(ranked)[:most]
        chosen += [group[0] for group in ranked]
    return [_to_mention(text, match) for match in chosen]


def _first_and_last(groups: list[list[LedgerMatch]], most: int) -> list[list[LedgerMatch]]:
    """The cause tends to stand first and the outcome last."""
    return [*groups[: most // 2], *groups[len(groups) - (most - most // 2) :]]


def _mask_number(match: re.Match[str]) -> str:
    """A word with a digit by its length alone; any other as it is."""
    return str(len(match[0])) if any(sign.isdigit() for sign in match[0]) else match[0]


def _rank_by_shape(groups: list[list[LedgerMatch]]) -> list[list[LedgerMatch]]:
    """One of each shape first, then by count: a thousand numbered paths leave room for the one other name."""
    seen: Counter[str] = Counter()
    ranked: list[tuple[int, int, list[LedgerMatch]]] = []
    for same in sorted(groups, key=len, reverse=True):
        shape = _ALPHANUMERIC.sub(_mask_number, same[0].text)
        ranked.append((seen[shape], -len(same), same))
        seen[shape] += 1
    return [same for *_, same in sorted(ranked, key=lambda entry: entry[:2])]


def _to_mention(text: str, match: LedgerMatch) -> LedgerMention:
    context = find_context(text, match.start, match.end) if needs_context(match.kind, match.text) else ""
    return LedgerMention(match.kind, match.text, context)


def _deduplicate(mentions: Sequence[LedgerMention]) -> list[LedgerMention]:
    unique: dict[tuple[EntryKind, str], LedgerMention] = {}
    for mention in mentions:
        key = (mention.kind, entry_key(mention.kind, mention.text))
        known = unique.get(key)
        if known is not None:
            mention = replace(known, context=known.context or mention.context, own=known.own or mention.own)
        unique[key] = mention
    return list(unique.values())
