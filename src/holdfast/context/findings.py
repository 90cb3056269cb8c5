"""Brings findings of research into windows, and has a model summarise them."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from holdfast.compaction.summariser import PromptTemplates
from holdfast.context.loading import FINDINGS, FitRequest
from holdfast.context.summaries import SummaryModels
from holdfast.errors import ConfigError, HoldfastError, NotFound, ProviderError
from holdfast.events import Events
from holdfast.messages import Scope
from holdfast.research.finding import Finding, ResearchSource
from holdfast.research.library import Research
from holdfast.research.matching import is_old
from holdfast.research.summary import build_prompt, defuse, validate_summary
from holdfast.store import new_id
from holdfast.text.analyser import language_of
from holdfast.text.excerpts import excerpts
from holdfast.upstreams.base import Provider
from holdfast.window.additions import (
    format_expired,
    format_finding,
    format_pages,
    propose_addition,
    shrink_findings,
)
from holdfast.window.decisions import Addition, Proposal, Section
from holdfast.window.items import Item
from holdfast.window.view import View

log = logging.getLogger("holdfast.research")

# Tokens for a hundred words, and the line that says how long they hold.
_ANSWER = 400
# Characters of the sources for each token of the window that is left for them, to be on the safe side.
_CHARACTERS, _LEAST_TOKENS = 2, 2_000


class FindingSummariser:
    def __init__(
        self, research: Research, helpers: SummaryModels, prompts: PromptTemplates, events: Events
    ) -> None:
        self._research = research
        self._helpers = helpers
        self._prompts = prompts
        self._events = events

    def job_for(
        self, finding: Finding, model: str, provider: Provider
    ) -> Callable[[], Coroutine[Any, Any, None]]:
        """The work of summariser a finding down, for when there is time."""
        return partial(self.note, finding.scope, finding.id, model, provider)

    async def note(self, scope: Scope, name: str, model: str, provider: Provider) -> None:
        """Have a model write the summary of a finding, if none has yet and nobody wrote one by hand."""
        try:
            finding = await asyncio.to_thread(self._research.get, scope, name)
        except NotFound:
            return
        if finding.summary_by in ("model", "person"):
            return
        helper = await self._helpers.choose(model, provider, scope)
        if helper is None:
            return
        room = max(_LEAST_TOKENS, (helper.budget.room - 2 * _ANSWER) * _CHARACTERS)
        try:
            prompt = build_prompt(finding, self._prompts.render, room=room)
            reply = await helper.ask(prompt, _ANSWER)
        except (ProviderError, ConfigError) as error:
            log.warning("%s did not sum up %s: %s", helper.name, finding.id, error)
            return
        summary = validate_summary(finding, reply.text)
        # One that merely says less than the sources do may still be of use for other work.
        self._helpers.judge(helper, useful=summary.by == "model" or summary.carried > 0, why=summary.refused)
        if summary.by == "model":
            try:
                done = await asyncio.to_thread(
                    self._research.set_summary,
                    scope,
                    finding.id,
                    summary.summary,
                    summary.by,
                    summary.volatility,
                )
            except HoldfastError as error:
                log.warning("the summary of %s could not be written: %s", finding.id, error)
                return
            self._events.publish("research", {"id": done.id, "change": "summarised"}, scope)


SECTION: Section = "research"

# Earlier findings: so many at most, and so many tokens or this share of the window, whichever is less.
_MOST, _TOKENS, _SHARE = 10, 1_500, 0.10
# Of what nobody else needs, sources leave a little.
_BORROWED = 0.9
# For each token of history so many are left to it: the first level comes when half of them are used.
_HISTORY = 2.2
# With less room than this no finding is told.
_LEAST = 30
# A source with fewer tokens than these cannot be understood; where not even one has them, a note does better,
# and it gets so many.
READABLE, _NOTE = 40, 120
# So many characters of a source say whether it is shorter than that.
_GLANCE = 400
# Why a finding is told.
_BEARS = "it bears on the question"
# Findings of which it is said at once that they hold no longer.
_PAST = 3
# Titles and addresses may be as long as whoever made the page liked.
_TITLE, _ADDRESS = 100, 200


@dataclass(frozen=True, slots=True)
class _Quoted:
    """The text for a question, and the name of the notice that says what there was no room for."""

    text: str
    cut: str = ""

    @property
    def is_note(self) -> bool:
        return self.cut == "sources_noted"


class FindingAttacher:
    def __init__(self, research: Research, summariser: FindingSummariser) -> None:
        self.summariser = summariser
        self._research = research

    async def load(self, scope: Scope, name: str, *, missing_ok: bool = False) -> Finding | None:
        """Returns the finding of this name; None without a name, or with `missing_ok` if it is gone."""
        if not name:
            return None
        try:
            return await asyncio.to_thread(self._research.get, scope, name)
        except NotFound:
            if missing_ok:
                return None
            raise

    def attach(self, view: View, question: Item, finding: Finding | None, scope: Scope) -> View:
        """With the sources for the question, and what is known by now of those for earlier ones."""
        quoted = [addition for addition in _shown_findings(view) if addition.short]
        if quoted and (finding is not None or view.history >= view.thresholds.prune):
            view = view.knowing(notes=self._notes(scope, quoted))
        if finding is None or any(
            addition.name == finding.id for addition in _shown_findings(view, question)
        ):
            return view
        view = view.having(*shrink_findings(view))
        quoted_sources = _quote_sources(view, question, finding, self._research.clock())
        more = {"cut": quoted_sources.cut} if quoted_sources.cut else {}
        # What is a note already cannot become one.
        short = "" if quoted_sources.is_note else note_of(finding)
        return view.having(
            propose_addition(
                view,
                question,
                SECTION,
                quoted_sources.text,
                new_id("d"),
                name=finding.id,
                short=short,
                **more,
            )
        )

    def notices(self, view: View, finding: Finding | None) -> list[str]:
        """What there was no room for of the sources that the question came with."""
        question = view.question
        if finding is None or question is None:
            return []
        brought = (
            decision_
            for decision_ in view.decisions
            if decision_.kind == "add" and question.id in decision_.messages
        )
        decision = next(
            (decision_ for decision_ in brought if decision_.data.get("name") == finding.id), None
        )
        if decision is None:
            return []
        text = next(
            (decision_.text for decision_ in _shown_findings(view, question) if decision_.name == finding.id),
            "",
        )
        if not text:
            return ["sources_missing"]
        cut = decision.data.get("cut") or ("" if text == decision.data["text"] else "sources_cut")
        return [cut] if cut else []

    def find_related(self, view: View, case: FitRequest) -> list[Proposal]:
        """What earlier findings say to the question, where they bear on it and the window lacks them; of what
        it has, that it holds no longer.
        """
        question = view.question
        if question is None or question is not view.shown[-1].item or not case.may_read_memory:
            return []
        if any(addition.name and not addition.short for addition in _shown_findings(view, question)):
            return []
        return [
            *self._propose_outdated(view, question, case.scope),
            *self._propose_related(view, question, case.scope),
        ]

    def _propose_outdated(self, view: View, question: Item, scope: Scope) -> list[Proposal]:
        """A line for each finding further up that has expired since; once, and what is there stays."""
        here = {finding.name for finding in _shown_findings(view, question)}
        above = [finding for finding in _shown_findings(view) if finding.name and finding.name not in here]
        names, texts = {finding.name for finding in above}, {finding.text for finding in above}
        if not names:
            return []
        proposals = []
        for finding in self._research.find_outdated(scope, question.message.text, names)[:_PAST]:
            text = format_expired(finding.language, finding.created_at, finding.question, finding.expires_at)
            if text not in texts:
                proposals.append(tell_finding(view, question, finding.id, text, "it no longer holds"))
        return proposals

    def _propose_related(self, view: View, question: Item, scope: Scope) -> list[Proposal]:
        shown = _shown_findings(view)
        notes = [addition for addition in shown if addition.name and not addition.short]
        left = min(_TOKENS, int(view.draft.budget.window * _SHARE))
        left -= sum(view.text_tokens(addition.text) for addition in notes)
        most = _MOST - len(notes)
        if left < _LEAST or most < 1:
            return []
        known = {addition.name for addition in shown if addition.name}
        proposals = []
        for bearing in self._research.find_related(scope, question.message.text, most, without=known):
            text = note_of(bearing.finding, brief=bearing.brief)
            cost = view.text_tokens(text)
            if cost <= left:
                left -= cost
                proposals.append(tell_finding(view, question, bearing.finding.id, text))
        return proposals

    def _notes(self, scope: Scope, quoted: Sequence[Addition]) -> Mapping[str, str]:
        """What the findings whose sources stand in a window come to by now."""
        names = {addition.name for addition in quoted}
        known = {
            name: addition
            for addition in self._research.list(scope)
            for name in (addition.id, *addition.merged)
        }
        return {name: note_of(known[name]) for name in names if name in known}


def live_notes(research: Research | None, scope: Scope) -> dict[str, str]:
    """What stands in a window for each finding that a scope sees and that holds, by its name."""
    if research is None:
        return {}
    now = research.clock()
    current = [finding for finding in research.list(scope) if not finding.is_expired(now)]
    return {finding.id: note_of(finding, brief=is_old(finding, now)) for finding in current}


def note_of(finding: Finding, *, brief: bool = False) -> str:
    """What stands for a finding in a window; of one that is very old, only that there was one."""
    summary = "" if brief else defuse(finding.summary)
    return format_finding(finding.language, finding.created_at, finding.question, summary, finding.expires_at)


def tell_finding(view: View, question: Item, name: str, text: str, reason: str = _BEARS) -> Proposal:
    """The decision that puts what stands for a finding behind a question."""
    return propose_addition(
        view, question, SECTION, text, new_id("d"), rule=FINDINGS, reason=reason, name=name
    )


def _shown_findings(view: View, item: Item | None = None) -> list[Addition]:
    return [
        addition
        for shown in view.shown
        if item is None or shown.item is item
        for addition in shown.additions
        if addition.section == SECTION
    ]


def room_for_sources(view: View) -> int:
    """What research may have, and what history does not need."""
    # History must stay so far from its levels that nothing of it has to leave for this.
    free = view.room - view.fixed_cost.high - int(view.history * _HISTORY)
    return max(view.draft.budget.research, int(free * _BORROWED))


def _quote_sources(view: View, question: Item, finding: Finding, now: float) -> _Quoted:
    """The sources as far as there is room: what research may have, and what history does not need.

    The first ones come first, each only if enough of it can be shown to be understood.
    """
    room = room_for_sources(view)
    language = language_of(question.message.text) or finding.language
    held = finding.expires_at if finding.is_expired(now) else 0.0
    asked = f"{finding.question}\n{question.message.text}"
    headings = [_heading(number, source) for number, source in finding.usable_with_numbers]
    texts = [defuse(source.text) for source in finding.usable]
    needed = [min(READABLE, view.text_tokens(text[:_GLANCE])) for text in texts]
    for most in range(len(texts), 0, -1):
        left = room - view.text_tokens(format_pages(language, headings[:most], held))
        if left < sum(needed[:most]):
            continue
        bodies = excerpts(asked, texts[:most], left, view.text_tokens)
        # What was parted may begin a line now.
        shown = [f"{head}\n{defuse(body)}" for head, body in zip(headings, bodies, strict=False) if body]
        if shown:
            cut = "" if len(shown) == len(texts) else "sources_cut"
            return _Quoted(format_pages(language, shown, held), cut)
    return _Quoted(_note(view, asked, finding, max(room, _NOTE)), "sources_noted")


def _note(view: View, asked: str, finding: Finding, room: int) -> str:
    """The note of a finding, or what of it there is room for."""
    whole, brief = note_of(finding), note_of(finding, brief=True)
    if view.text_tokens(whole) <= room:
        return whole
    (excerpt,) = excerpts(asked, [finding.summary], room - view.text_tokens(brief), view.text_tokens)
    return f"{brief}\n{defuse(excerpt)}" if excerpt else brief


def _heading(number: int, source: ResearchSource) -> str:
    date = f"{datetime.fromtimestamp(source.at, UTC).astimezone():%Y-%m-%d}"
    named = _opening_line(source.title, _TITLE), _opening_line(source.url, _ADDRESS), date
    return f"[{number}] " + ", ".join(filter(None, named))


def _opening_line(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
