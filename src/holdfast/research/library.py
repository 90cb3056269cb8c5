"""Everything research can do: store, reuse, merge, rank and prune findings, and gather new ones."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Protocol

from holdfast.errors import BadRequest, EmbedderError
from holdfast.i18n import lazy
from holdfast.memory.semantic import REFERENCE_NEARNESS, UNRELATED, mean_nearness, rescale
from holdfast.memory.service import MemoryService
from holdfast.messages import Scope
from holdfast.research.finding import (
    Finding,
    Mode,
    ProgressCallback,
    ResearchSource,
    SummaryBy,
    Volatility,
    estimate_volatility,
    expiry_time,
    ignore_progress,
)
from holdfast.research.matching import (
    RelatedFinding,
    ReusedFinding,
    find_same,
    group_same,
    merge_findings,
    rank_related,
)
from holdfast.research.repository import (
    MOST_SOURCES,
    FindingRepository,
    Troubles,
    clean_finding,
    collect_names,
    find_addresses,
    folder_of,
)
from holdfast.research.summary import extract_summary
from holdfast.store.values import new_id

log = logging.getLogger("holdfast.research")

# Expired findings are removed after this many seconds.
KEEP_EXPIRED = 30 * 86_400.0
_LONGEST_QUESTION = 2_000


class SourceGatherer(Protocol):
    """Fetches sources: from the addresses given, or else from a search."""

    def __call__(
        self, question: str, mode: Mode, *, addresses: Sequence[str] = (), tell: ProgressCallback = ...
    ) -> Awaitable[Sequence[ResearchSource]]: ...


@dataclass(frozen=True, slots=True)
class ResearchAnswer:
    """The finding for a question; `reused` if it was known already, `age` seconds ago."""

    finding: Finding
    reused: bool = False
    age: float = 0.0


@dataclass(frozen=True, slots=True)
class PrunedFindings:
    """Ids of the findings removed as too old, of those merged into others, and of leftovers of crashes."""

    removed: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


class Research:
    """The findings of all scopes. Without `gather`, callers must supply sources themselves."""

    def __init__(
        self,
        remembering: MemoryService,
        gather: SourceGatherer | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.findings = FindingRepository(remembering.workspace)
        self.clock = clock
        self._remembering = remembering
        self._gather = gather
        # How near unrelated questions are to each other, by the name of an embedder.
        self._usual: dict[str, float] = {}
        # Called with each finding that was deleted.
        self.listeners: list[Callable[[Finding], None]] = []

    async def answer(
        self,
        scope: Scope,
        question: str,
        mode: Mode = "quick",
        *,
        addresses: Sequence[str] = (),
        fresh: bool = False,
        conversation: str = "",
        tell: ProgressCallback = ignore_progress,
    ) -> ResearchAnswer:
        """Return an earlier finding that is still valid, unless `fresh` is set, or else gather a new one.

        Sources come from the addresses given, the pages that the question names, or a search.
        """
        check_input(question)
        if not fresh and not addresses:
            known = await asyncio.to_thread(self.find_known, scope, question, mode)
            if known is not None:
                return known
        sources = await self.gather(question, mode, addresses or find_addresses(question), tell)
        finding = await asyncio.to_thread(self.add, scope, question, sources, mode, conversation)
        return ResearchAnswer(finding)

    async def gather(
        self,
        question: str,
        mode: Mode,
        addresses: Sequence[str] = (),
        tell: ProgressCallback = ignore_progress,
    ) -> Sequence[ResearchSource]:
        """Fetch sources for a question, from the addresses given or from a search."""
        if self._gather is None:
            raise BadRequest(
                lazy("Nothing can be fetched here."), hint=lazy("Bring the sources along, with their texts.")
            )
        return await self._gather(question, mode, addresses=addresses, tell=tell)

    def find_known(self, scope: Scope, question: str, mode: Mode = "quick") -> ResearchAnswer | None:
        """Return an earlier valid finding that answers the question, with its texts."""
        check_input(question)
        known = self.findings.list(scope)
        match: ReusedFinding | None = find_same(
            question, known, now=self.clock(), mode=mode, nearness=self._nearness_with_embedding
        )
        if match is None:
            return None
        return ResearchAnswer(self.findings.get(scope, match.finding.id), reused=True, age=match.age)

    def add(
        self,
        scope: Scope,
        question: str,
        sources: Sequence[ResearchSource],
        mode: Mode = "quick",
        conversation: str = "",
    ) -> Finding:
        """Store what was found for a question, with an extractive summary.

        Valid findings of the same scope for the same question are merged into it.
        """
        check_input(question, sources)
        now = self.clock()
        titles = [f"{source.title} {source.url}" for source in sources]
        volatility = estimate_volatility(question, titles, now)
        new = clean_finding(
            Finding(
                id=new_id("r"),
                scope=scope,
                question=question,
                mode=mode,
                sources=tuple(sources),
                summary="",
                volatility=volatility,
                created_at=now,
                expires_at=expiry_time(volatility, now),
                conversation=conversation,
            )
        )
        check_input(new.question, new.sources)
        finding = self._merge_new(new, self.findings.list(scope, own=True), now)
        self._embed([finding])
        return finding

    def get(self, scope: Scope, name: str) -> Finding:
        return self.findings.get(scope, name)

    def list(self, scope: Scope, *, own: bool = False, troubles: Troubles | None = None) -> list[Finding]:
        return self.findings.list(scope, own=own, troubles=troubles)

    def search(
        self, scope: Scope, text: str, *, own: bool = False, troubles: Troubles | None = None
    ) -> Sequence[Finding]:
        """Return the findings that have this text in their question or summary."""
        wanted = text.casefold()
        findings = self.findings.list(scope, own=own, troubles=troubles)
        return [
            finding for finding in findings if wanted in f"{finding.question}\n{finding.summary}".casefold()
        ]

    def forget(self, scope: Scope, name: str) -> Finding:
        """Delete a finding from the files and from the index."""
        gone = self.findings.forget(scope, name)
        # A refresh without a time budget only removes entries of deleted files.
        self._remembering.index.refresh(gone.scope, 0.0)
        for listener in self.listeners:
            listener(gone)
        return gone

    def set_summary(
        self, scope: Scope, name: str, summary: str, by: SummaryBy, volatility: Volatility | None = None
    ) -> Finding:
        return self.findings.set_summary(scope, name, summary, by, volatility)

    def find_related(
        self, scope: Scope, question: str, limit: int = 10, without: Collection[str] = ()
    ) -> Sequence[RelatedFinding]:
        """Return earlier findings related to a question; computes no vectors, since it runs in a turn."""
        findings = self.findings.list(scope)
        if not findings:
            return []
        return rank_related(
            question, findings, limit, now=self.clock(), nearness=self._nearness, without=without
        )

    def find_outdated(self, scope: Scope, question: str, names: Collection[str]) -> Sequence[Finding]:
        """Return those of these findings that are related to a question and have expired."""
        now, wanted = self.clock(), frozenset(names)
        past = [
            finding
            for finding in self.findings.list(scope)
            if finding.is_expired(now) and wanted & {*collect_names([finding])}
        ]
        return (
            [finding.finding for finding in rank_related(question, past, now=now, expired=True)]
            if past
            else []
        )

    def prune(
        self, now: float, scope: Scope | None = None, stop: Callable[[], bool] = lambda: False
    ) -> PrunedFindings:
        """Remove long expired findings and leftovers of crashes, and merge findings for the same question.

        In all scopes, or only in the folder of one.
        """
        removed, joined, left = dict[str, None](), dict[str, None](), dict[str, None]()
        for place in self.findings.folders() if scope is None else [folder_of(scope)]:
            if stop():
                break
            left |= dict.fromkeys(self.findings.remove_leftovers(place, now))
            findings = self.findings.list_folder(place)
            for finding in findings:
                if 0 < finding.expires_at < now - KEEP_EXPIRED:
                    self.findings.remove(place, finding.id)
                    removed[finding.id] = None
            for group in group_same([other for other in findings if other.id not in removed], now=now):
                joined |= dict.fromkeys(self._merge_group(place, group))
        if removed or joined:
            log.info("%d findings were removed, %d became part of others", len(removed), len(joined))
            self._remembering.index.sync(stop=stop)
        return PrunedFindings(tuple(removed), tuple(joined), tuple(left))

    def embed_questions(self, stop: Callable[[], bool] = lambda: False) -> None:
        """Compute missing vectors for the questions of findings; run it when idle."""
        now = self.clock()
        for place in self.findings.folders():
            if stop():
                return
            self._embed(
                [finding for finding in self.findings.list_folder(place) if not finding.is_expired(now)]
            )

    def _merge_new(self, new: Finding, known: Sequence[Finding], now: float) -> Finding:
        """Store the new finding, merged with those for the same question."""
        group = next((finding for finding in group_same([new, *known], now=now) if new in finding), [new])
        old = [finding for finding in group if finding is not new]
        whole = [new, *(self.findings.get(new.scope, finding.id) for finding in old)]
        stored = self.findings.add(add_summary(merge_findings(whole) if old else new))
        for finding in old:
            self.findings.remove(folder_of(stored.scope), finding.id)
        return stored

    def _merge_group(self, place: PurePosixPath, group: Sequence[Finding]) -> tuple[str, ...]:
        """Merge several findings of a folder; returns the names of those that became part of another."""
        newest, *old = [self.findings.load_texts(place, finding) for finding in group]
        self.findings.write(place, add_summary(merge_findings([newest, *old])))
        for finding in old:
            self.findings.remove(place, finding.id)
        return collect_names(old)

    def _embed(self, findings: Sequence[Finding]) -> None:
        if self._remembering.embedder.ready() is None or not findings:
            return
        try:
            self._remembering.meaning.vectors_of([finding.question for finding in findings])
            self._measure_usual()
        except EmbedderError as error:
            log.info("what findings mean cannot be compared: %s", error)

    def _nearness(self, question: str, texts: Mapping[str, str]) -> Mapping[str, float]:
        """Compare by vectors that exist already."""
        try:
            near = self._remembering.meaning.nearness(question, texts)
        except EmbedderError:
            return {}
        embedder = self._remembering.embedder.ready()
        usual = (
            self._usual.get(str(embedder.identity), REFERENCE_NEARNESS) if embedder else REFERENCE_NEARNESS
        )
        return {name: rescale(score, usual) for name, score in near.items()}

    def _nearness_with_embedding(self, question: str, texts: Mapping[str, str]) -> Mapping[str, float]:
        """Compare by vectors computed for it, which takes a while; empty without an embedder."""
        try:
            vectors = self._remembering.meaning.vectors_of([question, *texts.values()])
            usual = self._measure_usual()
        except EmbedderError as error:
            log.info("what questions mean cannot be compared: %s", error)
            return {}
        if vectors is None:
            return {}
        return {
            name: rescale(float(vector @ vectors[0]), usual)
            for name, vector in zip(texts, vectors[1:], strict=True)
        }

    def _measure_usual(self) -> float:
        """Return the usual nearness of unrelated questions for this embedder; measured once."""
        embedder = self._remembering.embedder.ready()
        if embedder is None:
            return REFERENCE_NEARNESS
        name = str(embedder.identity)
        if name not in self._usual:
            vectors = self._remembering.meaning.vectors_of(UNRELATED)
            self._usual[name] = REFERENCE_NEARNESS if vectors is None else mean_nearness(vectors)
        return self._usual[name]


def add_summary(finding: Finding) -> Finding:
    """Add an extractive summary until a model writes another; a person's own summary stays."""
    if finding.summary_by == "person":
        return finding
    return replace(finding, summary=extract_summary(finding), summary_by="text")


def check_input(question: str, sources: Sequence[ResearchSource] | None = None) -> None:
    """Raise BadRequest for a question or sources that cannot be stored."""
    if not question.strip():
        raise BadRequest(
            lazy("There is no question."), hint=lazy("Say what is to be found out."), param="question"
        )
    if len(question) > _LONGEST_QUESTION:
        raise BadRequest(
            lazy(
                "A question has at most {longest_question:,} characters; this has {number:,}.",
                longest_question=_LONGEST_QUESTION,
                number=len(question),
            ),
            hint=lazy("Ask shorter; texts go into the sources."),
            param="question",
        )
    if sources is None:
        return
    if len(sources) > MOST_SOURCES:
        raise BadRequest(
            lazy(
                "A finding has at most {most_sources} sources; these are {number}.",
                most_sources=MOST_SOURCES,
                number=len(sources),
            ),
            hint=lazy("Leave out those that say least."),
            param="sources",
        )
    if not any(source.text.strip() and not source.trouble for source in sources):
        troubles = "; ".join(f"{source.url}: {source.trouble or 'no text'}" for source in sources)
        raise BadRequest(
            f"None of the sources could be read. {troubles}".strip(),
            hint=lazy("Name other addresses, or bring the texts along."),
            param="sources",
        )
