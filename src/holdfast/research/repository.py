"""Stores findings as Markdown notes: `research/ID.md` in the folder of their scope, texts in `ID.txt`.

The note is for people to read and edit; a question or summary written by a person is kept:

    <!-- holdfast {"id":"r_1","kind":"finding","mode":"quick","volatility":"daily", … } -->

    # How will the weather be?

    Rain at the weekend. Sources: example.org.

    ## Sources

    - Forecast · https://example.org/kassel · 2026-11-14 10:00

The texts of all sources are in one file, separated by form feeds, since every turn lists the files there are.
Texts are written first and the note last, so a crash leaves no half finding; leftovers are removed later.
"""

import hashlib
import re
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from holdfast.errors import HoldfastError, NotFound, StoreError
from holdfast.i18n import lazy
from holdfast.memory.base import format_time, parse_time
from holdfast.memory.items import BEGINNING, COMMENT, normalise, read_comment, read_comments, write_comment
from holdfast.memory.private import redact
from holdfast.memory.scopes import check_writable, folder, may_write, owner, visible
from holdfast.memory.workspace import (
    NoteEntry,
    Workspace,
    WorkspaceUnreachable,
    check_path,
    read_or_empty,
    update_file,
)
from holdfast.messages import Scope
from holdfast.research.finding import (
    MODES,
    VOLATILITIES,
    Finding,
    ResearchSource,
    SummaryBy,
    Volatility,
    expiry_time,
)
from holdfast.store.values import new_id
from holdfast.text.lang import by_language
from holdfast.text.patterns import late

KIND = "finding"

_HEADINGS = by_language("RESEARCH_SOURCES")
_QUESTION = late(r"^#[ \t]+(\S.*)$", re.MULTILINE)
_SOURCES = late(rf"^##[ \t]+(?:{'|'.join(_HEADINGS.values())})[ \t]*$", re.MULTILINE | re.IGNORECASE)
_BY: dict[object, SummaryBy] = {"model": "model", "text": "text"}


@dataclass(frozen=True, slots=True)
class _NoteLayout:
    """The positions of the parts of a note."""

    fields: Mapping[str, Any]
    question: re.Match[str]
    sources: re.Match[str]

    def summary(self, text: str) -> str:
        return normalise(text[self.question.end() : self.sources.start()])


def to_plain_line(text: str) -> str:
    """Put a text on one line in which nothing can be mistaken for a comment of ours."""
    return " ".join(normalise(text).split()).replace("<!--", "< !--")


def format_note(finding: Finding) -> str:
    """Format the note of a finding, whose question and summary are plain lines."""
    header = write_comment(note_fields(finding))
    sources = "\n".join(format_source(number, source) for number, source in enumerate(finding.sources, 1))
    summary = f"{finding.summary}\n\n" if finding.summary else ""
    return f"{header}\n# {finding.question}\n\n{summary}## {_HEADINGS[finding.language]}\n\n{sources}\n"


def parse_note(text: str, name: str, scope: Scope) -> Finding:
    """Parse a note into a finding without the texts of its sources; StoreError if it is none."""
    places = find_layout(text, name)
    fields, summary = places.fields, places.summary(text)
    mode, volatility = fields.get("mode"), fields.get("volatility")
    if mode not in MODES or volatility not in VOLATILITIES:
        raise StoreError(
            lazy("The finding {name} has an unknown mode or volatility.", name=name),
            hint=lazy(
                "Modes are {names}; volatilities {names_2}.",
                names=", ".join(MODES),
                names_2=", ".join(VOLATILITIES),
            ),
        )
    created = parse_time(fields.get("created"))
    merged = fields.get("merged")
    return Finding(
        id=name,
        scope=scope,
        question=places.question[1].rstrip(),
        mode=mode,
        sources=tuple(parse_sources(text[places.sources.end() :])),
        summary=summary,
        volatility=volatility,
        created_at=created,
        expires_at=parse_time(fields.get("expires")) or expiry_time(volatility, created),
        summary_by=summary_author(fields, summary),
        conversation=str(fields.get("conversation", "")),
        merged=tuple(map(str, merged)) if isinstance(merged, list) else (),
    )


def replace_summary(text: str, name: str, summary: str, by: SummaryBy, volatility: Volatility | None) -> str:
    """Replace the summary in a note, unless a person wrote it; everything else stays."""
    places = find_layout(text, name)
    fields = dict(places.fields)
    if volatility is not None and volatility != fields.get("volatility"):
        fields["volatility"] = volatility
        fields["expires"] = format_time(expiry_time(volatility, parse_time(fields.get("created"))))
    if summary_author(fields, places.summary(text)) != "person":
        fields |= {"summary_by": by, "summary_of": _digest(summary)}
        text = f"{text[: places.question.end()]}\n\n{summary}\n\n{text[places.sources.start() :]}"
    header = write_comment(fields)
    return COMMENT.sub(lambda _: header, text, count=1)


def find_layout(text: str, name: str) -> _NoteLayout:
    fields, head = read_comment(text), COMMENT.search(text)
    if head is None or fields.get("kind") != KIND or fields.get("id") != name:
        raise _broken_note_error(name, lazy("the comment that says what it is"))
    question = _QUESTION.search(text, head.end())
    # The last one is ours: nothing but the list comes after it.
    headings = list(_SOURCES.finditer(text, question.end())) if question else []
    if question is None or not headings:
        raise _broken_note_error(
            name, lazy("the heading of its sources") if question else lazy("its question, the first heading")
        )
    end = headings[-1].end()
    if len(BEGINNING.findall(text, end)) != len(COMMENT.findall(text, end)) or not COMMENT.search(text, end):
        raise _broken_note_error(name, lazy("sources, or the end of one"))
    return _NoteLayout(fields, question, headings[-1])


def _broken_note_error(name: str, part: str) -> StoreError:
    return StoreError(
        lazy("The note of the finding {name} lacks {part}.", name=name, part=part),
        hint=lazy("Mend it, or take it away; it was not touched."),
    )


def note_fields(finding: Finding) -> dict[str, Any]:
    by_person = finding.summary_by == "person"
    return {
        "id": finding.id,
        "kind": KIND,
        "mode": finding.mode,
        "volatility": finding.volatility,
        "created": format_time(finding.created_at),
        "expires": format_time(finding.expires_at),
        "conversation": finding.conversation,
        "summary_by": "" if by_person else finding.summary_by,
        # By which it is known whether a person wrote another one since.
        "summary_of": "" if by_person else _digest(finding.summary),
        "merged": list(finding.merged),
    }


def summary_author(fields: Mapping[str, Any], summary: str) -> SummaryBy:
    if not summary:
        return ""
    return _BY.get(fields.get("summary_by"), "") if fields.get("summary_of") == _digest(summary) else "person"


def _digest(summary: str) -> str:
    return hashlib.sha256(" ".join(summary.split()).encode()).hexdigest()[:16] if summary else ""


def format_source(number: int, source: ResearchSource) -> str:
    fields = {
        "source": number,
        "url": source.url,
        "title": source.title,
        "at": format_time(source.at),
        "trouble": source.trouble,
    }
    when = datetime.fromtimestamp(source.at, UTC).astimezone().strftime("%Y-%m-%d %H:%M") if source.at else ""
    shown = [
        to_plain_line(value) for value in (source.title, source.url, when, source.trouble) if value.strip()
    ]
    return f"- {' · '.join(dict.fromkeys(shown)) or number}\n  {write_comment(fields)}"


def parse_sources(text: str) -> Iterator[ResearchSource]:
    for fields in read_comments(text):
        if "source" in fields:
            values = {name: str(fields.get(name, "")) for name in ("url", "title", "trouble")}
            yield ResearchSource(
                values["url"], values["title"], "", parse_time(fields.get("at")), values["trouble"]
            )


# In characters; and in bytes, so that what the most sources have fits into one file of a workspace.
LONGEST_TEXT = 60_000
_LONGEST_BYTES = 170_000
MOST_SOURCES = 20

_ADDRESS = re.compile(r"https?://[^\s<>\"'“”„`|\\^{}]+", re.IGNORECASE)
_CUT = re.compile(r"\n\[cut: ([0-9,]{1,12}) more characters\]\Z")
_CUT_NOTE_LENGTH = 50
_PAGE = "\f"
# Form feeds inside of a text would part it.
_PARTING = str.maketrans({_PAGE: "\n", "\v": "\n"})


def find_addresses(text: str) -> list[str]:
    """Return the web addresses in a text, each once, without punctuation that ends a sentence."""
    return list(dict.fromkeys(trim_address(match) for match in _ADDRESS.findall(text)))


def trim_address(match: str) -> str:
    address = match.rstrip(".,;:!?*_")
    while address.endswith((")", "]")):
        opening = "(" if address.endswith(")") else "["
        if address.count(opening) >= address.count(address[-1]):
            break
        address = address[:-1].rstrip(".,;:!?*_")
    return address


def limit_text(text: str) -> str:
    """Cut a text to the stored length and note how much is missing; an earlier cut is counted in."""
    text = normalise(text.translate(_PARTING))
    before = _CUT.search(text, max(0, len(text) - _CUT_NOTE_LENGTH))
    whole = text[: before.start()] if before else text
    head = whole[:LONGEST_TEXT].encode()[:_LONGEST_BYTES].decode(errors="ignore")
    if len(head) == len(whole):
        return text
    missing = len(whole) - len(head) + (int(before[1].replace(",", "")) if before else 0)
    return f"{head.rstrip()}\n[cut: {missing:,} more characters]"


def join_texts(sources: Sequence[ResearchSource]) -> str:
    """Join the texts of these sources, already limited, into one file."""
    pages = (f"{number} {source.url}\n{source.text}\n" for number, source in enumerate(sources, 1))
    return _PAGE.join(pages)


def split_texts(text: str) -> dict[int, str]:
    """Split such a file into texts, by the number of their source."""
    texts: dict[int, str] = {}
    for page in text.split(_PAGE):
        head, _, words = page.partition("\n")
        number = head.partition(" ")[0]
        if number.isascii() and number.isdigit():
            texts[int(number)] = words.rstrip("\n")
    return texts


RESEARCH = "research"

# Collects notes that cannot be read, each with the reason.
Troubles = list[str]

# Texts without a note may belong to a finding that is being written; after so long nobody writes it.
_LEFT_BEHIND = 3_600.0
# Most notes cached in memory: every turn lists the findings.
_MOST_CACHED = 5_000
# Used when only the folder matters, not the scope.
_ANYBODY = Scope()
_GONE = "Its text is gone."


@dataclass(frozen=True, slots=True)
class _CachedNote:
    """A note as read when it had this tag: its finding, or the `trouble` with it."""

    tag: str
    finding: Finding | None = None
    trouble: str = ""


class FindingRepository:
    """Reads and writes the findings of all scopes in a workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._cached: dict[tuple[PurePosixPath, Scope], _CachedNote] = {}
        self._lock = threading.Lock()

    def add(self, finding: Finding) -> Finding:
        """Store a finding, without private text, and return it as stored.

        A finding without an id gets one; a known id is overwritten.
        """
        owned = replace(finding, id=finding.id or new_id("r"), scope=owner(finding.scope))
        return self.write(folder_of(owned.scope), owned)

    def write(self, place: PurePosixPath, finding: Finding) -> Finding:
        """Store a finding in this folder, without private text."""
        clean = clean_finding(finding)
        self.workspace.write(texts_path(place, clean.id), join_texts(clean.sources))
        self.workspace.write(note_path(place, clean.id), format_note(clean))
        return clean

    def list(self, scope: Scope, *, own: bool = False, troubles: Troubles | None = None) -> list[Finding]:
        """List the findings a scope can see, or only its own, newest first, without their texts.

        Notes that cannot be read are added to `troubles`, if given.
        """
        scopes = (owner(scope),) if own else visible(scope)
        findings = [
            finding
            for folder_scope in scopes
            for finding in self.list_folder(folder_of(folder_scope), folder_scope, troubles)
        ]
        return sorted(findings, key=lambda finding: (finding.created_at, finding.id), reverse=True)

    def get(self, scope: Scope, name: str) -> Finding:
        """Return a finding with all its texts, by its id or that of one merged into it."""
        finding = self._find(scope, name)
        return self.load_texts(folder_of(finding.scope), finding)

    def load_texts(self, place: PurePosixPath, finding: Finding) -> Finding:
        """Return a finding of a folder with the texts of its sources."""
        pages = split_texts(read_or_empty(self.workspace, texts_path(place, finding.id)).text)
        sources = enumerate(finding.sources, 1)
        return replace(finding, sources=tuple(add_text(source, pages.get(n)) for n, source in sources))

    def forget(self, scope: Scope, name: str) -> Finding:
        """Delete a finding, note and texts."""
        finding = self._find(scope, name)
        check_writable(scope, finding.scope)
        self.remove(folder_of(finding.scope), finding.id)
        return finding

    def set_summary(
        self, scope: Scope, name: str, summary: str, by: SummaryBy, volatility: Volatility | None = None
    ) -> Finding:
        """Replace the summary in the note; one written by a person stays, and only the rest changes.

        A finding that was merged into another meanwhile is left alone.
        """
        finding = self._find(scope, name)
        if finding.id != name or not may_write(scope, finding.scope):
            return finding
        words, place = to_plain_line(redact(summary)), note_path(folder_of(finding.scope), finding.id)

        def update(text: str) -> str:
            # Somebody may have forgotten it meanwhile: then there is nothing to write.
            return replace_summary(text, finding.id, words, by, volatility) if text else ""

        update_file(self.workspace, place, update)
        return self._find(scope, name)

    def folders(self) -> Sequence[PurePosixPath]:
        """Return the folders of all scopes that contain findings or leftovers."""
        parents = {entry.path.parent for entry in self.workspace.entries()}
        return sorted(place for place in parents if place.name == RESEARCH and _is_findings_folder(place))

    def list_folder(
        self, place: PurePosixPath, scope: Scope = _ANYBODY, troubles: Troubles | None = None
    ) -> Sequence[Finding]:
        """List the findings in one folder, except those merged into others."""
        findings: list[Finding] = []
        for entry in self._list_entries(place, ".md", troubles):
            known = self._read(entry, scope)
            if known.finding is not None:
                findings.append(known.finding)
            elif troubles is not None and known.trouble:
                troubles.append(f"{entry.path}: {known.trouble}")
        merged = {name for finding in findings for name in finding.merged if name != finding.id}
        return [finding for finding in findings if finding.id not in merged]

    def remove(self, place: PurePosixPath, name: str) -> None:
        """Remove the note first: a crash in between leaves texts without a note, never the reverse."""
        self.workspace.remove(note_path(place, name))
        self.workspace.remove(texts_path(place, name))

    def remove_leftovers(self, place: PurePosixPath, now: float) -> Sequence[str]:
        """Remove leftovers of crashes: texts without a note, and notes merged into another."""
        current = {finding.id for finding in self.list_folder(place)}
        notes = {entry.path.stem: entry for entry in self._list_entries(place, ".md")}
        merged = {name for name, entry in notes.items() if name not in current and self._read(entry).finding}
        orphans = {
            entry.path.stem
            for entry in self._list_entries(place, ".txt")
            if entry.path.stem not in notes and entry.mtime < now - _LEFT_BEHIND
        }
        for name in sorted(merged | orphans):
            self.remove(place, name)
        return sorted(merged | orphans)

    def _find(self, scope: Scope, name: str) -> Finding:
        # Which folder it is in tells whose it is; a name that is no file name is nobody's.
        with suppress(HoldfastError):
            check_path(name)
            for finding in self._find_by_name(scope, name):
                return finding
        raise NotFound(
            lazy("There is no finding {name}.", name=name[:100]), hint=lazy("See which ones there are.")
        )

    def _find_by_name(self, scope: Scope, name: str) -> Iterator[Finding]:
        for visible_scope in visible(scope):
            entries = (
                self.workspace.entries(note_path(folder_of(visible_scope), name)) if "/" not in name else []
            )
            found = self._read(entries[0], visible_scope).finding if entries else None
            if found is not None:
                yield found
        for finding in self.list(scope):
            if name in finding.merged:
                yield finding

    def _list_entries(
        self, place: PurePosixPath, suffix: str, troubles: Troubles | None = None
    ) -> Sequence[NoteEntry]:
        matching = [
            entry
            for entry in self.workspace.entries(place)
            if entry.path.suffix == suffix and entry.path.parent == place
        ]
        if troubles is not None:
            troubles += [f"{entry.path}: {entry.trouble}" for entry in matching if entry.trouble]
        return [entry for entry in matching if not entry.trouble]

    def _read(self, entry: NoteEntry, scope: Scope = _ANYBODY) -> _CachedNote:
        """Read a note; one that did not change comes from the cache."""
        with self._lock:
            known = self._cached.get((entry.path, scope))
        if known is None or known.tag != entry.tag:
            try:
                text = self.workspace.read(entry.path).text
                known = _CachedNote(entry.tag, parse_note(text, entry.path.stem, scope))
            except NotFound:
                return _CachedNote(entry.tag)
            except WorkspaceUnreachable as error:
                # Not cached: the workspace is away, which says nothing about the note.
                return _CachedNote(entry.tag, trouble=str(error))
            except HoldfastError as error:
                known = _CachedNote(entry.tag, trouble=str(error))
            self._cache((entry.path, scope), known)
        return known

    def _cache(self, key: tuple[PurePosixPath, Scope], known: _CachedNote) -> None:
        with self._lock:
            self._cached[key] = known
            while len(self._cached) > _MOST_CACHED:
                del self._cached[next(iter(self._cached))]


def folder_of(scope: Scope) -> PurePosixPath:
    """Return the folder of a scope's own findings."""
    return folder(owner(scope)) / RESEARCH


def path_of_note(finding: Finding) -> PurePosixPath:
    return note_path(folder_of(finding.scope), finding.id)


def collect_names(findings: Collection[Finding]) -> tuple[str, ...]:
    """Return the ids of findings and of all that were merged into them."""
    return tuple(dict.fromkeys(name for finding in findings for name in (finding.id, *finding.merged)))


def _is_findings_folder(place: PurePosixPath) -> bool:
    """Whether this is a folder of findings, not a project or a user of that name."""
    parts = place.parts
    depth = 2 if parts[0] == "groups" else 3 if parts[1:2] == ("projects",) else 1
    return len(parts) == depth + 1


def note_path(place: PurePosixPath, name: str) -> PurePosixPath:
    return place / f"{name}.md"


def texts_path(place: PurePosixPath, name: str) -> PurePosixPath:
    return place / f"{name}.txt"


def clean_finding(finding: Finding) -> Finding:
    """Return the finding without private text and secrets, within the limits."""
    sources = (
        replace(
            source,
            url=to_plain_line(redact(source.url)),
            title=to_plain_line(redact(source.title)),
            text="" if source.trouble else limit_text(redact(source.text)),
            at=round(source.at, 3),
            trouble=to_plain_line(source.trouble),
        )
        for source in finding.sources[:MOST_SOURCES]
    )
    return replace(
        finding,
        question=to_plain_line(redact(finding.question)),
        summary=to_plain_line(redact(finding.summary)),
        sources=tuple(sources),
        created_at=round(finding.created_at, 3),
        expires_at=round(finding.expires_at, 3),
    )


def add_text(source: ResearchSource, text: str | None) -> ResearchSource:
    if source.trouble:
        return source
    return replace(source, text=text) if text else replace(source, trouble=_GONE)
