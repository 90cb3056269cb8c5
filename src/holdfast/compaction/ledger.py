"""The ledger: names, numbers, commands and errors of a span, carried on verbatim beside the summary.

Summaries lose these first, so code collects them and no model is asked. Failed tool calls stay in the ledger
until the same call succeeds.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import log2
from typing import Any

from holdfast.compaction.ledger_patterns import KINDS, EntryKind
from holdfast.compaction.ledger_reading import (
    FAILURE_SEPARATOR,
    entry_key,
    failed_call,
    find_error_lines,
    fold_text,
    get_command,
    occurs_in,
    parse_arguments,
    read_message,
    read_text,
    shorten,
)
from holdfast.messages import ToolCall, ToolResult
from holdfast.text.analyser import terms
from holdfast.text.patterns import late
from holdfast.text.slots import compare, tells_change
from holdfast.tokens.budget import largest_fitting
from holdfast.window.items import Item, match_results

# Characters at the beginning and end of an output in which a program reports how it went.
_RESULT_END = 600
_FAILURE = late(
    r"(?im)^[^\S\n]*(?:Error|Fehler|fatal|Exception|Traceback \(most recent|panic|npm ERR!)\b[:! (]"
    r"|^[^\S\n]*\{\s*\"?error\"?\s*:(?!\s*(?:null|false|\"\"))"
    r"|\b(?:exit(?:ed)?(?: with)?|return(?:ed)?)(?: code| status):? ?[1-9]\d{0,2}\b"
    r"|: command not found\b|^\w*(?:Error|Exception): |\b[1-9]\d* (?:failed|errors?)\b|^FAILED\b"
)


def find_open_failures(items: Sequence[Item]) -> list[tuple[str, int]]:
    """Returns the calls that failed and did not succeed later, each with the depth of its result."""
    failed: dict[str, tuple[str, int]] = {}
    for call, result, depth in _pair_calls(items):
        name = describe_call(call)
        # Moved to the end: a repeated failure is the newest one.
        failed.pop(name, None)
        if looks_failed(result):
            failed[name] = (f"{name}{FAILURE_SEPARATOR}{_summarise_error(result.text)}", depth)
    return list(failed.values())


def describe_call(call: ToolCall) -> str:
    """Returns a short name for a call: its shell command, or the tool and its first short argument."""
    command = get_command(call)
    if command:
        return command
    values = [
        value for value in parse_arguments(call).values() if isinstance(value, str | int) and value != ""
    ]
    about = next((str(value) for value in values if 0 < len(str(value)) <= 80 and "\n" not in str(value)), "")
    return f"{call.name}({about})"


def looks_failed(result: ToolResult) -> bool:
    text = result.text
    return result.error or bool(_FAILURE.search(text[:_RESULT_END]) or _FAILURE.search(text[-_RESULT_END:]))


def _summarise_error(text: str) -> str:
    """Returns the last error line, or the first line if there is none."""
    lines = [line for line, _ in find_error_lines(text)]
    if lines:
        return lines[-1]
    return shorten(next((" ".join(line.split()) for line in text.split("\n") if line.strip()), ""))


def _pair_calls(items: Sequence[Item]) -> Iterator[tuple[ToolCall, ToolResult, int]]:
    """Yields each call with its result and the depth of the result, in the order of results."""
    at = 0
    while at < len(items):
        end = at + 1
        while end < len(items) and items[end].message.tool_results:
            end += 1
        answers = [item.message for item in items[at + 1 : end]]
        depths = {
            id(result): item.depth for item in items[at + 1 : end] for result in item.message.tool_results
        }
        for result, call in match_results(items[at].message, answers):
            if call is not None:
                yield call, result, depths[id(result)]
        at = end


# More entries than are ever shown; the rest is still in the log.
LIMIT = 500

_OWN_FACTOR = 4.0
# With so many context terms it is clear what a number is the value of.
_FEWEST_CONTEXT_TERMS = 2
_DIGITS = late(r"\d[\d.,:]*")
# For numbers without context, or too short to identify anything.
_UNCLEAR_FACTOR = 0.3
_NEEDS_CONTEXT = ("amount", "date")
_SHORTEST_NUMBER = 4
# For names in code, which can be looked up again.
_PLAIN_NAME_FACTOR = 0.5
# After so many messages recency is worth half; the oldest entry still has some worth.
_HALF_WORTH_AGE = 60
# After so many characters of a kind the next entry counts half, so that no kind takes all the room.
_HALF_WORTH_LENGTH = 200


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """A verbatim item. `count` is the number of messages that have it, `last` the depth of the newest."""

    kind: EntryKind
    text: str
    count: int = 1
    last: int = 0
    # Up to six words that describe a number or name.
    context: str = ""
    # Whether the user said it, not only a program or a model.
    own: bool = False
    # Whether it was said with words for a change: "now", "no longer".
    changes: bool = False

    @property
    def key(self) -> tuple[EntryKind, str]:
        return self.kind, entry_key(self.kind, self.text)

    def join(self, newer: "LedgerEntry") -> "LedgerEntry":
        return replace(
            newer,
            count=self.count + newer.count,
            last=max(self.last, newer.last),
            context=newer.context or self.context,
            own=self.own or newer.own,
        )

    def render(self) -> str:
        text = f"`{self.text}`" if self.kind == "command" else self.text
        return f"{text} ({self.context})" if self.context else text


@dataclass(frozen=True, slots=True)
class Ledger:
    """Ledger entries, the most important first."""

    entries: tuple[LedgerEntry, ...] = ()

    def merge(self, newer: "Ledger") -> "Ledger":
        """Returns both combined. A failed command that succeeded later is no open failure any more."""
        ran = {key for kind, key in map(_key, newer.entries) if kind == "command"}
        older = (
            entry
            for entry in self.entries
            if entry.kind != "failure" or entry_key("command", failed_call(entry.text)) not in ran
        )
        return Ledger(_rank(_join_entries(chain(older, newer.entries))))

    def limit(self, count: Callable[[str], int], tokens: int, language: str) -> "Ledger":
        """Returns as many of the best entries as `render` can show in `tokens`."""
        entries = _drop_covered_names(self.entries)
        fits = largest_fitting(
            len(entries), lambda number: count(Ledger(entries[:number]).render(language)) <= tokens
        )
        return Ledger(entries[:fits])

    def render(self, language: str) -> str:
        """Returns the entries grouped by kind, one line per group; sentences get a line each."""
        groups: dict[EntryKind, list[str]] = defaultdict(list)
        for entry in _drop_covered_names(self.entries):
            groups[entry.kind].append(entry.render())
        lines: list[str] = []
        for kind, form in KINDS.items():
            heading = form.headings[language == "de"]
            if form.own_line:
                lines += [f"{heading}: {text}" for text in groups[kind]]
            elif groups[kind]:
                lines.append(f"{heading}: {', '.join(groups[kind])}")
        return "\n".join(lines)

    def missing_in(self, text: str) -> "Ledger":
        """Returns the entries that the text does not have in any spelling."""
        known = {(mention.kind, entry_key(mention.kind, mention.text)) for mention in read_text(text)}
        plain = fold_text(text)
        return Ledger(
            tuple(
                entry
                for entry in self.entries
                if entry.key not in known and not occurs_in(entry.kind, entry.text, plain)
            )
        )

    def to_json(self) -> list[Any]:
        return [
            [entry.kind, entry.text, entry.count, entry.last, entry.context, entry.own, entry.changes]
            for entry in self.entries
        ]

    @classmethod
    def from_json(cls, value: Iterable[Sequence[Any]]) -> "Ledger":
        return cls(tuple(LedgerEntry(*row) for row in value))


def build_ledger(items: Sequence[Item]) -> Ledger:
    """Returns the ledger of a span.

    Messages are read one by one, so merging the ledgers of parts gives the same.
    """
    failures = (LedgerEntry("failure", text, last=depth) for text, depth in find_open_failures(items))
    return Ledger(_rank(_join_entries(chain(chain.from_iterable(map(_read_entries, items)), failures))))


def _read_entries(item: Item) -> Iterator[LedgerEntry]:
    changes = item.message.role == "user" and tells_change(item.message.text)
    for mention in read_message(item.message):
        yield LedgerEntry(
            mention.kind,
            mention.text,
            last=item.depth,
            context=mention.context,
            own=mention.own,
            changes=changes and mention.own,
        )


def _key(entry: LedgerEntry) -> tuple[EntryKind, str]:
    return entry.key


def _join_entries(entries: Iterable[LedgerEntry]) -> list[LedgerEntry]:
    """Joins entries of the same thing, older to newer; of a value that changed only the newest stays."""
    by_key: dict[tuple[EntryKind, str], LedgerEntry] = {}
    for entry in entries:
        known = by_key.get(entry.key)
        by_key[entry.key] = known.join(entry) if known else entry
    return _drop_outdated(list(by_key.values()))


def _drop_outdated(entries: Sequence[LedgerEntry]) -> list[LedgerEntry]:
    """Drops decisions replaced by newer ones, and older values of numbers that the user changed."""
    decisions = [entry for entry in entries if entry.kind == "decision"]
    newest: dict[tuple[EntryKind, str, frozenset[str]], int] = {}
    for entry in entries:
        slot = _slot(entry)
        # One word beside a number may be that of several things, unless a change was told.
        if slot is not None and (len(slot[2]) >= _FEWEST_CONTEXT_TERMS or entry.changes):
            newest[slot] = max(newest.get(slot, 0), entry.last)
    return [entry for entry in entries if not _is_outdated(entry, decisions, newest)]


def _is_outdated(
    entry: LedgerEntry,
    decisions: Sequence[LedgerEntry],
    newest: Mapping[tuple[EntryKind, str, frozenset[str]], int],
) -> bool:
    if entry.kind == "decision":
        later = (other for other in decisions if other.last > entry.last)
        return any(compare(other.text, entry.text) == "replaces" for other in later)
    slot = _slot(entry)
    return slot is not None and newest.get(slot, entry.last) > entry.last


def _slot(entry: LedgerEntry) -> tuple[EntryKind, str, frozenset[str]] | None:
    """Returns what a user's number is the value of, by the words beside it; None if unclear."""
    about = frozenset(terms(entry.context))
    if not entry.own or entry.kind not in _NEEDS_CONTEXT or not about:
        return None
    return entry.kind, _DIGITS.sub("#", entry.text), about


def _rank(entries: Sequence[LedgerEntry]) -> tuple[LedgerEntry, ...]:
    """Returns at most `LIMIT` entries, the most important first, with the kinds mixed."""
    newest = max((entry.last for entry in entries), default=0)
    worth = {entry.key: _worth(entry, newest) for entry in entries}
    ranked = sorted(entries, key=lambda entry: (-worth[entry.key], entry.key))
    room: dict[EntryKind, int] = defaultdict(int)
    mixed: list[tuple[float, LedgerEntry]] = []
    for entry in ranked:
        mixed.append((worth[entry.key] / (1 + room[entry.kind] / _HALF_WORTH_LENGTH), entry))
        room[entry.kind] += len(entry.render())
    mixed.sort(key=lambda pair: -pair[0])
    return tuple(entry for _, entry in mixed[:LIMIT])


def _worth(entry: LedgerEntry, newest: int) -> float:
    recency = 1 / (1 + (newest - entry.last) / _HALF_WORTH_AGE)
    worth = KINDS[entry.kind].weight * (1 + log2(entry.count) / 2) * (0.3 + 0.7 * recency)
    if entry.own:
        worth *= _OWN_FACTOR
    if _is_unclear(entry):
        worth *= _UNCLEAR_FACTOR
    elif entry.kind == "id" and not any(map(str.isdigit, entry.text)):
        worth *= _PLAIN_NAME_FACTOR
    return worth


def _is_unclear(entry: LedgerEntry) -> bool:
    if entry.kind == "id":
        return len(entry.text) < _SHORTEST_NUMBER and not any(map(str.isalpha, entry.text))
    return entry.kind in _NEEDS_CONTEXT and not entry.context


def _drop_covered_names(entries: Sequence[LedgerEntry]) -> tuple[LedgerEntry, ...]:
    """Drops file names that are the end of a path in another entry."""
    ends = {end for entry in entries if entry.kind == "file" for end in _path_suffixes(entry.key[1])}
    return tuple(entry for entry in entries if entry.kind != "file" or entry.key[1] not in ends)


def _path_suffixes(path: str) -> Iterator[str]:
    """Yields the path without its first directory, its first two, and so on."""
    while "/" in path:
        path = path.partition("/")[2]
        yield path
