"""Imports conversations, memories and notes of other tools.

The readers in `formats` turn a source into the values below, with size limits on everything they read, and
`Importer` writes those values to the store and the notes. Importing the same source twice changes nothing.
"""

import codecs
import hashlib
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any, TypeVar

from sqlalchemy import Connection, func, select

from holdfast.conversations.alignment import anchor
from holdfast.errors import BadRequest, Conflict, HoldfastError, explain_os_error
from holdfast.i18n import gettext as _
from holdfast.i18n import translate
from holdfast.memory.base import Kind, Memory
from holdfast.memory.items import normalise
from holdfast.memory.library import Library
from holdfast.memory.notes import Notes
from holdfast.memory.private import redact
from holdfast.memory.scopes import folder, owner, visible
from holdfast.memory.workspace import ABSENT, InMemoryWorkspace, Workspace, read_or_empty
from holdfast.messages import Message, Part, Scope, Text, ToolCall, ToolResult
from holdfast.store import ConversationRecord, MessageRecord, NewMessage, Store, tree
from holdfast.store.schema import conversations, messages
from holdfast.text.analyser import language_of
from holdfast.transfer.staging import ProgressCallback, ignore_progress


@dataclass(frozen=True, slots=True)
class ImportedMessage:
    """A message with its id in the source; `parent` is the message it follows, None for the first."""

    key: str
    parent: str | None
    message: Message
    at: float
    model: str = ""


@dataclass(frozen=True, slots=True)
class ImportedConversation:
    """A conversation as a tree of messages, parents first; `head` is the active leaf."""

    key: str
    title: str
    turns: tuple[ImportedMessage, ...]
    head: str
    created_at: float
    updated_at: float


@dataclass(frozen=True, slots=True)
class ImportedMemory:
    """A memory of the source; `talk` is the key of its conversation, if known."""

    text: str
    kind: Kind = "fact"
    at: float = 0.0
    talk: str = ""


@dataclass(frozen=True, slots=True)
class ImportedNote:
    """A text that becomes a note, under its path in the source."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class SkippedItem:
    """Something that was skipped on purpose, and why."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class UnreadableItem:
    """Something that could not be read, and why."""

    place: str
    reason: str


Item = ImportedConversation | ImportedMemory | ImportedNote | SkippedItem | UnreadableItem


@dataclass(frozen=True, slots=True)
class ImportSource:
    """An open source. `steps` is the least number of items, for a progress bar; 0 if unknown."""

    kind: str
    items: Iterator[Item]
    steps: int = 0


def title_from(turns: tuple[ImportedMessage, ...], longest: int = 60) -> str:
    """A title for a conversation without one: the beginning of its first question."""
    question = next((turn.message.text for turn in turns if turn.message.role == "user"), "")
    line = " ".join(question.split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


# The history of some years is some hundred megabytes.
LARGEST = 1 << 30
# A picture that is larger was not sent to a model.
LARGEST_PICTURE = 20 << 20
# Text shrinks to a tenth in a zip; what shrinks more was made to.
_SHRUNK = 200
# The year 9000. No source is from then, and a calendar that ends with 9999 has every zone of the time before.
_LATEST = 221_845_392_000.0
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class Unreadable(Exception):
    """One part of a source cannot be read; the other parts may be fine."""


class SourceFiles:
    """The files of a folder or a zip, or a single file, by path."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._zip: zipfile.ZipFile | None = None
        if not place.exists():
            raise BadRequest(
                _("There is no {place}.").format(place=place),
                hint=_("See how it is spelled."),
            )
        if place.is_file() and _begins_as_zip(place) and zipfile.is_zipfile(place):
            try:
                self._zip = zipfile.ZipFile(place)
            except zipfile.BadZipFile as error:
                raise BadRequest(
                    _("{place} is a broken zip: {error}.").format(place=place, error=error),
                    hint=_("Fetch it again."),
                ) from error

    def close(self) -> None:
        if self._zip is not None:
            self._zip.close()

    def names(self) -> list[str]:
        """The paths of all files, sorted, without links and hidden files."""
        if self._zip is not None:
            return sorted(info.filename for info in self._zip.infolist() if not info.is_dir())
        if self.place.is_file():
            return [self.place.name]
        return sorted(
            path.relative_to(self.place).as_posix()
            for path in self.place.rglob("*")
            if path.is_file() and not path.is_symlink() and not _is_hidden(path, self.place)
        )

    def left_alone(self) -> Iterator[tuple[str, str]]:
        """The files that `names` skips, with the reason: links, hidden files, special files."""
        for path in sorted(self.place.rglob("*")) if self.place.is_dir() else ():
            name = path.relative_to(self.place).as_posix()
            if path.is_symlink():
                yield name, _("a link")
            elif path.is_file() and _is_hidden(path, self.place):
                yield name, _("hidden")
            elif not path.is_file() and not path.is_dir():
                yield name, _("no plain file")

    def read(self, name: str, most: int = LARGEST) -> bytes:
        try:
            if self._zip is not None:
                return _from_zip(self._zip, name, most)
            path = self.place if self.place.is_file() else self.place / name
            with path.open("rb") as opened:
                return _at_most(opened, most)
        except OSError as error:
            raise Unreadable(translate(explain_os_error(error))) from error


def _begins_as_zip(path: Path) -> bool:
    """Tell a zip from a text that ends like one."""
    with path.open("rb") as opened:
        return opened.read(2) == b"PK"


def _is_hidden(path: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root).parts)


def _from_zip(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    info = archive.getinfo(name)
    if info.file_size > most:
        raise Unreadable(_too_large(info.file_size, most))
    if info.file_size > _SHRUNK * max(info.compress_size, 1 << 16):
        raise Unreadable(_("it is packed as no text is"))
    try:
        with archive.open(info) as opened:
            return _at_most(opened, most)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        # What is encrypted is a RuntimeError to this library.
        raise Unreadable(str(error)) from error


def _at_most(opened: IO[bytes], most: int) -> bytes:
    content = opened.read(most + 1)
    if len(content) > most:
        raise Unreadable(_too_large(len(content), most))
    return content


def _too_large(size: int, most: int) -> str:
    return _("{size:,} bytes are more than the {most:,} that are read").format(size=size, most=most)


def decode_text(content: bytes) -> str:
    """Decodes UTF-8, or UTF-16 with a byte order mark; raises Unreadable."""
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(_("no UTF-8, from byte {start:,} on").format(start=error.start)) from error
    if "\0" in text:
        raise Unreadable(_("it is no text"))
    return text


def parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(_("no JSON: {error}").format(error=error)) from error


def iter_json_list(text: str) -> Iterator[Any]:
    """Yields the elements of a JSON list one by one, so that a truncated file loses only its end."""
    decoder = json.JSONDecoder()
    at = _after_space(text, 0)
    if text[at : at + 1] != "[":
        raise Unreadable(_("no list in JSON"))
    at = _after_space(text, at + 1)
    while text[at : at + 1] != "]":
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise Unreadable(_("it breaks off or is broken here: {error}").format(error=error)) from error
        yield value
        at = _after_space(text, at)
        if text[at : at + 1] == ",":
            at = _after_space(text, at + 1)


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def clean_text(text: object) -> str:
    """Replaces lone surrogates, which cannot be stored; returns "" for anything but text."""
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else ""


def parse_time(moment: object, otherwise: float = 0.0) -> float:
    """Parses seconds or milliseconds since 1970, or an ISO date. Without a zone it is
    local time.
    """
    value = 0.0
    with suppress(ValueError, OverflowError, OSError):
        if isinstance(moment, int | float) and not isinstance(moment, bool):
            value = float(moment) / (1000 if moment > 1e11 else 1)
        elif isinstance(moment, str) and moment.strip():
            value = datetime.fromisoformat(moment.strip()).timestamp()
    return value if 0 < value < _LATEST else otherwise


def noon_of(day: str) -> float:
    """Noon of an ISO date in local time; 0 if it is not a date."""
    return parse_time(f"{day}T12:00")


def modified_at(path: Path) -> float:
    """The modification time of a file; now, if it cannot be read."""
    now = datetime.now(UTC).timestamp()
    try:
        return parse_time(int(path.stat().st_mtime), now)
    except OSError:
        return now


def file_name(name: str) -> str:
    return PurePosixPath(name).name


def order_parents_first(parents: Mapping[str, str | None], broken: list[str]) -> dict[str, str | None]:
    """Orders nodes parents first. A node with an unknown parent, or in a cycle, becomes a root.

    Such nodes are appended to `broken`.
    """
    ordered: dict[str, str | None] = {}
    for start in parents:
        way: dict[str, None] = {}
        at: str | None = start
        while at is not None and at not in ordered and at not in way:
            way[at] = None
            above = parents[at]
            if above is not None and above not in parents:
                broken.append(at)
                above = None
            at = above
        for key in reversed(way):
            above = parents[key]
            if above is not None and above not in ordered:
                # Its parent is further up in a circle, or nowhere.
                if above in parents:
                    broken.append(key)
                above = None
            ordered[key] = above
    return ordered


def reparent(order: Mapping[str, str | None], keep: Iterable[str]) -> dict[str, str | None]:
    """Maps each node in `keep` to its nearest ancestor that is in `keep`, too."""
    wanted = set(keep)
    nearest: dict[str, str | None] = {}
    for key, parent in order.items():
        nearest[key] = parent if parent is None or parent in wanted else nearest[parent]
    return {key: nearest[key] for key in order if key in wanted}


def pair_tool_calls(turns: Iterable[ImportedMessage]) -> tuple[ImportedMessage, ...]:
    """Turns tool calls without a result, and results without a call, into plain text.

    Model servers refuse a history for good in which a result has no call, or a call no result.
    """
    every = tuple(turns)
    calls = {call.id for turn in every for call in turn.message.tool_calls}
    results = {result.call_id for turn in every for result in turn.message.tool_results}
    both = (calls & results) - {""}
    return tuple(replace(turn, message=_orphans_to_text(turn.message, both)) for turn in every)


def _orphans_to_text(message: Message, both: set[str]) -> Message:
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolCall) and part.id not in both:
            parts.append(Text(f"[{part.name}] {part.arguments}"))
        elif isinstance(part, ToolResult) and part.call_id not in both:
            parts.append(Text(f"[{part.name or 'tool'}] {part.text}"))
        else:
            parts.append(part)
    if tuple(parts) == message.parts:
        return message
    alone = message.role == "tool" and not any(isinstance(part, ToolResult) for part in parts)
    return Message("assistant" if alone else message.role, tuple(parts), message.form, message.extra)


T = TypeVar("T")

NOTES = "notes"
# Sayings that are kept together: each is compared with all that are there.
_PORTION = 200
_ODD, _LONGEST = re.compile(r"[^\w. +@-]"), 100
# Lines of a report; what is beyond is counted.
_LINES = 1_000


@dataclass(frozen=True, slots=True)
class ScopeCounts:
    """How much is stored in a scope."""

    conversations: int = 0
    messages: int = 0
    memories: int = 0


@dataclass(slots=True)
class ImportReport:
    """The result of an import. In a dry run nothing was written."""

    kind: str
    dry_run: bool
    before: ScopeCounts = field(default_factory=ScopeCounts)
    after: ScopeCounts = field(default_factory=ScopeCounts)
    conversations: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("new", "grown", "known"), 0))
    messages: int = 0
    memories: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("new", "updated", "known", "refused"), 0)
    )
    notes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("new", "known"), 0))
    left_out: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    more_lines: int = 0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def note(self, item: SkippedItem | UnreadableItem) -> None:
        lines = self.unreadable if isinstance(item, UnreadableItem) else self.left_out
        if len(lines) < _LINES:
            lines.append(f"{item.place}: {item.reason}")
        else:
            self.more_lines += 1


class _DryRunResult(Exception):
    """Rolls back the transaction of a dry run and carries its result."""

    def __init__(self, result: object) -> None:
        self.result = result


class Importer:
    """Imports sources into one scope. A dry run does the same work and rolls it back."""

    def __init__(
        self,
        store: Store,
        library: Library,
        scope: Scope,
        *,
        dry_run: bool = False,
        tell: ProgressCallback = ignore_progress,
    ) -> None:
        self._store = store
        self._scope = scope
        self._dry = dry_run
        self._tell = tell
        self._library = _temporary_library(library, scope, store) if dry_run else library
        self._workspace: Workspace = self._library.notes.workspace
        # The conversations that talks became, for what was remembered in them.
        self._became: dict[str, str] = {}

    def take(self, source: ImportSource) -> ImportReport:
        report = ImportReport(source.kind, self._dry, before=self._count())
        sayings: list[ImportedMemory] = []
        for number, item in enumerate(source.items, 1):
            self._tell(source.kind, number, max(source.steps, number))
            match item:
                case ImportedConversation():
                    self._talk(source.kind, item, report)
                case ImportedMemory():
                    sayings.append(item)
                case ImportedNote():
                    self._page(source.kind, item, report)
                case SkippedItem() | UnreadableItem():
                    report.note(item)
        self._sayings(sayings, report)
        report.after = self._count()
        if self._dry:
            grown = report.before.conversations + report.conversations["new"]
            message_count = report.before.messages + report.messages
            report.after = replace(report.after, conversations=grown, messages=message_count)
        return report

    def _count(self) -> ScopeCounts:
        memories = self._library.page(self._scope, limit=0, history=True).total
        numbers = self._store.database.read(lambda connection: _count_messages(connection, self._scope))
        return ScopeCounts(*numbers, memories)

    def _talk(self, kind: str, talk: ImportedConversation, report: ImportReport) -> None:
        try:
            name, known, added = self._in_one_step(lambda: self._keep(f"{kind}:{talk.key}", kind, talk))
        except Conflict as error:
            report.note(UnreadableItem(talk.title or talk.key, str(error)))
            return
        self._became[talk.key] = name
        report.messages += added
        report.conversations["new" if not known else "grown" if added else "known"] += 1

    def _in_one_step(self, work: Callable[[], T]) -> T:
        def undone() -> T:
            raise _DryRunResult(work())

        try:
            return self._store.atomically(undone if self._dry else work)
        except _DryRunResult as end:
            result: T = end.result  # type: ignore[assignment]
            return result

    def _keep(self, name: str, client: str, talk: ImportedConversation) -> tuple[str, bool, int]:
        """The conversation's id, whether it was known, and how many messages are new."""
        log = self._store.log
        existing = log.by_external_id(self._scope, name)
        row = (
            existing[0]
            if existing
            else log.create(
                self._scope, title=talk.title, client=client, external_id=name, now=talk.created_at
            )
        )
        # Nobody else changes it until this transaction ends.
        row = log.lock(row.id)
        places, added = self._store.database.write(
            lambda connection: _append_turns(connection, row.tree, talk)
        )
        self._stand(row, places[talk.head], talk.updated_at)
        return row.id, bool(existing), added

    def _stand(self, row: ConversationRecord, head: str, now: float) -> None:
        """Moves the head to that of the source, unless the conversation was continued here."""
        behind = row.head is None or row.head in self._store.log.path_ids(head)
        if behind and row.head != head:
            self._store.log.set_head(row.id, head, expect=row.head, now=max(now, row.updated_at))

    def _sayings(self, sayings: list[ImportedMemory], report: ImportReport) -> None:
        current, archived = self._library.list_all(self._scope)
        known = {memory.id for memory in (*current, *archived)}
        fresh: dict[str, Memory] = {}
        for saying in sayings:
            memory = self._memory(saying)
            if memory.id in known:
                report.memories["known"] += 1
            else:
                # Said twice in one source it counts once, from when it was said first.
                fresh.setdefault(memory.id, memory)
        # The old before the new, or nothing could take the place of anything.
        ordered = sorted(fresh.values(), key=lambda memory: memory.valid_from)
        names = {"added": "new", "superseded": "new"}
        for start in range(0, len(ordered), _PORTION):
            self._tell(_("memories"), start, len(ordered))
            for outcome in self._library.keep(ordered[start : start + _PORTION]):
                report.memories[names.get(outcome.action, outcome.action)] += 1

    def _memory(self, saying: ImportedMemory) -> Memory:
        words = normalise(redact(saying.text))
        digest = hashlib.sha256(" ".join(words.split()).encode()).hexdigest()[:16]
        return Memory(
            id=f"i_{digest}",
            kind=saying.kind,
            text=words,
            scope=owner(self._scope, saying.kind),
            valid_from=round(saying.at, 6),
            language=language_of(words),
            conversation=self._became.get(saying.talk, ""),
        )

    def _page(self, kind: str, page: ImportedNote, report: ImportReport) -> None:
        place, text = self._place(kind, page.path), redact(page.text)
        digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:8]
        # What somebody changed, here or there, stays, and the other version stands beside it.
        beside = place.with_name(f"{place.stem}-{digest}{place.suffix}")
        try:
            notes = {path: read_or_empty(self._workspace, path) for path in (place, beside)}
            if any(note.tag != ABSENT and note.text == text for note in notes.values()):
                report.notes["known"] += 1
                return
            target = place if notes[place].tag == ABSENT else beside
            self._workspace.write(target, text, expect=notes[target].tag)
            report.notes["new"] += 1
        except HoldfastError as error:
            report.note(UnreadableItem(page.path, error.message))

    def _place(self, kind: str, path: str) -> PurePosixPath:
        """A path inside the notes of the scope, whatever the source's path is."""
        parts = [name for part in path.replace("\\", "/").split("/") if (name := _safe_file_name(part))]
        return (folder(owner(self._scope)) / NOTES / kind).joinpath(*parts)


def _safe_file_name(name: str) -> str:
    """A file name that every file system accepts and that is not one of ours."""
    plain = _ODD.sub("-", name).strip(". -")
    if len(plain) > _LONGEST:
        plain = plain[: _LONGEST - 20] + PurePosixPath(plain).suffix[:20]
    # Under that name list items would count as memories.
    return plain.lower() if plain == "MEMORY.md" else plain


def _append_turns(
    connection: Connection, place: str, talk: ImportedConversation
) -> tuple[dict[str, str], int]:
    """Appends the messages that are new; returns the stored id of each key and the number added."""
    stored: dict[str, MessageRecord] = {}
    added = 0
    for turn in talk.turns:
        above = None if turn.parent is None else stored[turn.parent]
        new = [NewMessage(turn.message, anchor(turn.message), turn.model)]
        stored_messages = tree.find_existing(connection, place, above, new)
        if not stored_messages:
            stored_messages = tree.append(connection, place, above, new, turn.at)
            added += 1
        stored[turn.key] = stored_messages[0]
    return {key: message.id for key, message in stored.items()}, added


def _count_messages(connection: Connection, scope: Scope) -> tuple[int, int]:
    ours = (
        conversations.c.user == scope.user,
        conversations.c.project == scope.project,
        conversations.c.kind == scope.kind,
    )
    trees = select(conversations.c.tree).where(*ours).distinct()
    talks = connection.scalar(select(func.count()).select_from(conversations).where(*ours))
    message_count = connection.scalar(
        select(func.count()).select_from(messages).where(messages.c.tree.in_(trees))
    )
    return talks or 0, message_count or 0


def _temporary_library(library: Library, scope: Scope, store: Store) -> Library:
    """A copy of the memories in a temporary workspace, without unreadable notes."""
    stage = InMemoryWorkspace()
    places = dict.fromkeys(folder(listed) for listed in visible(scope))
    for entry in (listed for place in places for listed in library.notes.workspace.entries(place)):
        if not entry.trouble:
            try:
                stage.write(entry.path, library.notes.workspace.read(entry.path).text)
            except HoldfastError:
                continue
    return Library(Notes(stage), store.recollections, similar=library.similar)
