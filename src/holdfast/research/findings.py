"""Findings as notes of a workspace: `research/ID.md` in the folder of their scope, their texts beside them.

The files are the truth. Texts are written first and the note last, so a crash leaves no half finding; what it
does leave is cleared away later. Knows nothing of what findings are good for.
"""

import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from holdfast.errors import HoldfastError, NotFound
from holdfast.memory.private import redacted
from holdfast.memory.scopes import folder, owner, visible
from holdfast.memory.workspace.base import Away, Entry, Workspace, change, inside, look
from holdfast.messages import Scope
from holdfast.research import note
from holdfast.research.finding import Finding, ResearchSource, SummaryBy, Volatility
from holdfast.research.texts import MOST_SOURCES, join_texts, limit_text, split_texts
from holdfast.store.ids import new_id

RESEARCH = "research"

# Where notes that cannot be read are told, each with the reason.
Troubles = list[str]

# Texts without a note may belong to a finding that is being written; after so long nobody writes it.
_LEFT_BEHIND = 3_600.0
# Notes that are held in memory: every turn asks which findings there are.
_MOST_CACHED = 5_000
# For those who look at folders and do not mind whose they are.
_ANYBODY = Scope()
_GONE = "Its text is gone."


@dataclass(frozen=True, slots=True)
class _CachedNote:
    """What was read of a note when it had this tag; `trouble` instead of a finding if it is none."""

    tag: str
    finding: Finding | None = None
    trouble: str = ""


class FindingRepository:
    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._known: dict[tuple[PurePosixPath, Scope], _CachedNote] = {}
        self._noting = threading.Lock()

    def add(self, finding: Finding) -> Finding:
        """Write a finding down, without what is private in it; as it stands there now.

        One that has no name gets one. One that is known already is written over.
        """
        made = replace(finding, id=finding.id or new_id("r"), scope=owner(finding.scope))
        return self.put(folder_of(made.scope), made)

    def put(self, place: PurePosixPath, finding: Finding) -> Finding:
        """The same, into this folder."""
        made = clean_finding(finding)
        self.workspace.write(_texts_path(place, made.id), join_texts(made.sources))
        self.workspace.write(_note_path(place, made.id), note.format_note(made))
        return made

    def list(self, scope: Scope, *, own: bool = False, troubles: Troubles | None = None) -> list[Finding]:
        """The findings a scope can see, or only its own, newest first, without the texts of their sources.

        Notes that cannot be read are told in `troubles`, where the caller has a list for them.
        """
        seen = (owner(scope),) if own else visible(scope)
        found = [finding for one in seen for finding in self.at(folder_of(one), one, troubles)]
        return sorted(found, key=lambda finding: (finding.created_at, finding.id), reverse=True)

    def get(self, scope: Scope, name: str) -> Finding:
        """A finding with all its texts, by its name or that of one that became part of it."""
        found = self._find(scope, name)
        return self.whole(folder_of(found.scope), found)

    def whole(self, place: PurePosixPath, finding: Finding) -> Finding:
        """A finding of a folder with the texts of its sources."""
        pages = split_texts(look(self.workspace, _texts_path(place, finding.id)).text)
        sources = enumerate(finding.sources, 1)
        return replace(finding, sources=tuple(_add_text(source, pages.get(n)) for n, source in sources))

    def forget(self, scope: Scope, name: str) -> Finding:
        """Take a finding away, note and texts."""
        found = self._find(scope, name)
        self.take(folder_of(found.scope), found.id)
        return found

    def set_summary(
        self, scope: Scope, name: str, summary: str, by: SummaryBy, volatility: Volatility | None = None
    ) -> Finding:
        """Put another summary into the note; one that a person wrote holds, and only the rest is changed.

        What became part of another meanwhile is summed up there, with all that is in it.
        """
        found = self._find(scope, name)
        if found.id != name:
            return found
        words, place = note.to_plain_line(redacted(summary)), _note_path(folder_of(found.scope), found.id)

        def work(text: str) -> str:
            # Somebody may have forgotten it meanwhile: then there is nothing to write.
            return note.replace_summary(text, found.id, words, by, volatility) if text else ""

        change(self.workspace, place, work)
        return self._find(scope, name)

    def places(self) -> Sequence[PurePosixPath]:
        """The folders of all scopes in which there are findings, or what is left of some."""
        there = {entry.path.parent for entry in self.workspace.entries()}
        return sorted(place for place in there if place.name == RESEARCH and _is_findings_folder(place))

    def at(
        self,
        place: PurePosixPath,
        scope: Scope = _ANYBODY,
        troubles: Troubles | None = None,
    ) -> Sequence[Finding]:
        """The findings in one folder, those left out that became part of another."""
        found: list[Finding] = []
        for entry in self._entries(place, ".md", troubles):
            known = self._read(entry, scope)
            if known.finding is not None:
                found.append(known.finding)
            elif troubles is not None and known.trouble:
                troubles.append(f"{entry.path}: {known.trouble}")
        merged = {name for finding in found for name in finding.merged if name != finding.id}
        return [finding for finding in found if finding.id not in merged]

    def take(self, place: PurePosixPath, name: str) -> None:
        """The note goes first: a crash in between leaves texts that nobody finds, and no note without any."""
        self.workspace.remove(_note_path(place, name))
        self.workspace.remove(_texts_path(place, name))

    def clear(self, place: PurePosixPath, now: float) -> Sequence[str]:
        """Take away what a crash left: texts without a note, and notes that became part of another."""
        kept = {finding.id for finding in self.at(place)}
        notes = {entry.path.stem: entry for entry in self._entries(place, ".md")}
        merged = {name for name, entry in notes.items() if name not in kept and self._read(entry).finding}
        left = {
            entry.path.stem
            for entry in self._entries(place, ".txt")
            if entry.path.stem not in notes and entry.mtime < now - _LEFT_BEHIND
        }
        for name in sorted(merged | left):
            self.take(place, name)
        return sorted(merged | left)

    def _find(self, scope: Scope, name: str) -> Finding:
        # Which folder it is in tells whose it is; a name that is no file name is nobody's.
        with suppress(HoldfastError):
            inside(name)
            for finding in self._named(scope, name):
                return finding
        raise NotFound(f"There is no finding {name[:100]}.", hint="See which ones there are.")

    def _named(self, scope: Scope, name: str) -> Iterator[Finding]:
        for one in visible(scope):
            entries = self.workspace.entries(_note_path(folder_of(one), name)) if "/" not in name else []
            found = self._read(entries[0], one).finding if entries else None
            if found is not None:
                yield found
        for finding in self.list(scope):
            if name in finding.merged:
                yield finding

    def _entries(
        self, place: PurePosixPath, suffix: str, troubles: Troubles | None = None
    ) -> Sequence[Entry]:
        found = [
            entry
            for entry in self.workspace.entries(place)
            if entry.path.suffix == suffix and entry.path.parent == place
        ]
        if troubles is not None:
            troubles += [f"{entry.path}: {entry.trouble}" for entry in found if entry.trouble]
        return [entry for entry in found if not entry.trouble]

    def _read(self, entry: Entry, scope: Scope = _ANYBODY) -> _CachedNote:
        """A note as it is now; one that did not change is not read again."""
        with self._noting:
            known = self._known.get((entry.path, scope))
        if known is None or known.tag != entry.tag:
            try:
                text = self.workspace.read(entry.path).text
                known = _CachedNote(entry.tag, note.parse_note(text, entry.path.stem, scope))
            except NotFound:
                return _CachedNote(entry.tag)
            except Away as error:
                # It is tried again: this says nothing of the note.
                return _CachedNote(entry.tag, trouble=str(error))
            except HoldfastError as error:
                known = _CachedNote(entry.tag, trouble=str(error))
            self._hold((entry.path, scope), known)
        return known

    def _hold(self, key: tuple[PurePosixPath, Scope], known: _CachedNote) -> None:
        with self._noting:
            self._known[key] = known
            while len(self._known) > _MOST_CACHED:
                del self._known[next(iter(self._known))]


def folder_of(scope: Scope) -> PurePosixPath:
    """The folder of a scope's own findings."""
    return folder(owner(scope)) / RESEARCH


def path_of_note(finding: Finding) -> PurePosixPath:
    """The file a finding stands in."""
    return _note_path(folder_of(finding.scope), finding.id)


def collect_names(findings: Collection[Finding]) -> tuple[str, ...]:
    """The names of findings and of all that became part of them."""
    return tuple(dict.fromkeys(name for one in findings for name in (one.id, *one.merged)))


def _is_findings_folder(place: PurePosixPath) -> bool:
    """Whether this is a folder of findings, and not a project or a folder of a person's of that name."""
    parts = place.parts
    depth = 2 if parts[0] == "groups" else 3 if parts[1:2] == ("projects",) else 1
    return len(parts) == depth + 1


def _note_path(place: PurePosixPath, name: str) -> PurePosixPath:
    return place / f"{name}.md"


def _texts_path(place: PurePosixPath, name: str) -> PurePosixPath:
    return place / f"{name}.txt"


def clean_finding(finding: Finding) -> Finding:
    """Without private text and secrets, and as long as it may be."""
    sources = (
        replace(
            source,
            url=note.to_plain_line(redacted(source.url)),
            title=note.to_plain_line(redacted(source.title)),
            text="" if source.trouble else limit_text(redacted(source.text)),
            at=round(source.at, 3),
            trouble=note.to_plain_line(source.trouble),
        )
        for source in finding.sources[:MOST_SOURCES]
    )
    return replace(
        finding,
        question=note.to_plain_line(redacted(finding.question)),
        summary=note.to_plain_line(redacted(finding.summary)),
        sources=tuple(sources),
        created_at=round(finding.created_at, 3),
        expires_at=round(finding.expires_at, 3),
    )


def _add_text(source: ResearchSource, text: str | None) -> ResearchSource:
    if source.trouble:
        return source
    return replace(source, text=text) if text else replace(source, trouble=_GONE)
