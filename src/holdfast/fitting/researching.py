"""What of research goes into a window: the sources for this question, and what earlier ones came to.

Finding is done in `research`, how it is written in `window`; here it is decided if and how much. Sources stay
whole only for the question they were looked up for: when new ones come, the older ones become notes.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from holdfast.errors import NotFound
from holdfast.fitting.case import FINDINGS, Case
from holdfast.fitting.noting import Noting
from holdfast.messages import Scope
from holdfast.research.finding import Finding, ResearchSource
from holdfast.research.library import Research
from holdfast.research.matching import is_old
from holdfast.research.summary import defuse
from holdfast.store import new_id
from holdfast.text.excerpts import excerpts
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
from holdfast.words import language_of

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


class Researching:
    def __init__(self, research: Research, noting: Noting) -> None:
        self.noting = noting
        self._research = research

    async def found(self, scope: Scope, name: str, *, sure: bool = True) -> Finding | None:
        """The finding of this name; where it is not `sure` that there still is one, None if there is not."""
        if not name:
            return None
        try:
            return await asyncio.to_thread(self._research.get, scope, name)
        except NotFound:
            if sure:
                raise
            return None

    def along(self, view: View, question: Item, finding: Finding | None, scope: Scope) -> View:
        """With the sources for the question, and what is known by now of those for earlier ones."""
        quoted = [one for one in _shown(view) if one.short]
        if quoted and (finding is not None or view.history >= view.thresholds.prune):
            view = view.knowing(notes=self._notes(scope, quoted))
        if finding is None or any(one.name == finding.id for one in _shown(view, question)):
            return view
        view = view.having(*shrink_findings(view))
        made = _quoted(view, question, finding, self._research.clock())
        more = {"cut": made.cut} if made.cut else {}
        # What is a note already cannot become one.
        short = "" if made.is_note else note_of(finding)
        return view.having(
            propose_addition(
                view, question, SECTION, made.text, new_id("d"), name=finding.id, short=short, **more
            )
        )

    def notices(self, view: View, finding: Finding | None) -> list[str]:
        """What there was no room for of the sources that the question came with."""
        question = view.question
        if finding is None or question is None:
            return []
        brought = (one for one in view.decisions if one.kind == "add" and question.id in one.messages)
        made = next((one for one in brought if one.data.get("name") == finding.id), None)
        if made is None:
            return []
        there = next((one.text for one in _shown(view, question) if one.name == finding.id), "")
        if not there:
            return ["sources_missing"]
        cut = made.data.get("cut") or ("" if there == made.data["text"] else "sources_cut")
        return [cut] if cut else []

    def beside(self, view: View, case: Case) -> list[Proposal]:
        """What earlier findings say to the question, where they bear on it and the window lacks them; of what
        it has, that it holds no longer.
        """
        question = view.question
        if question is None or question is not view.shown[-1].item or not case.tells:
            return []
        if any(one.name and not one.short for one in _shown(view, question)):
            return []
        return [*self._outdated(view, question, case.scope), *self._bearing(view, question, case.scope)]

    def _outdated(self, view: View, question: Item, scope: Scope) -> list[Proposal]:
        """A line for each finding further up that has expired since; once, and what is there stays."""
        here = {one.name for one in _shown(view, question)}
        above = [one for one in _shown(view) if one.name and one.name not in here]
        names, said = {one.name for one in above}, {one.text for one in above}
        if not names:
            return []
        made = []
        for one in self._research.find_outdated(scope, question.message.text, names)[:_PAST]:
            text = format_expired(one.language, one.created_at, one.question, one.expires_at)
            if text not in said:
                made.append(tell_finding(view, question, one.id, text, "it no longer holds"))
        return made

    def _bearing(self, view: View, question: Item, scope: Scope) -> list[Proposal]:
        shown = _shown(view)
        notes = [one for one in shown if one.name and not one.short]
        left = min(_TOKENS, int(view.draft.budget.window * _SHARE))
        left -= sum(view.text_tokens(one.text) for one in notes)
        most = _MOST - len(notes)
        if left < _LEAST or most < 1:
            return []
        known = {one.name for one in shown if one.name}
        made = []
        for bearing in self._research.find_related(scope, question.message.text, most, without=known):
            text = note_of(bearing.finding, brief=bearing.brief)
            cost = view.text_tokens(text)
            if cost <= left:
                left -= cost
                made.append(tell_finding(view, question, bearing.finding.id, text))
        return made

    def _notes(self, scope: Scope, quoted: Sequence[Addition]) -> Mapping[str, str]:
        """What the findings whose sources stand in a window come to by now."""
        names = {one.name for one in quoted}
        known = {name: one for one in self._research.list(scope) for name in (one.id, *one.merged)}
        return {name: note_of(known[name]) for name in names if name in known}


def live_notes(research: Research | None, scope: Scope) -> dict[str, str]:
    """What stands in a window for each finding that a scope sees and that holds, by its name."""
    if research is None:
        return {}
    now = research.clock()
    there = [finding for finding in research.list(scope) if not finding.is_expired(now)]
    return {finding.id: note_of(finding, brief=is_old(finding, now)) for finding in there}


def note_of(finding: Finding, *, brief: bool = False) -> str:
    """What stands for a finding in a window; of one that is very old, only that there was one."""
    summary = "" if brief else defuse(finding.summary)
    return format_finding(finding.language, finding.created_at, finding.question, summary, finding.expires_at)


def tell_finding(view: View, question: Item, name: str, text: str, reason: str = _BEARS) -> Proposal:
    """The decision that puts what stands for a finding behind a question."""
    return propose_addition(
        view, question, SECTION, text, new_id("d"), rule=FINDINGS, reason=reason, name=name
    )


def _shown(view: View, item: Item | None = None) -> list[Addition]:
    return [
        one
        for shown in view.shown
        if item is None or shown.item is item
        for one in shown.additions
        if one.section == SECTION
    ]


def room_for_sources(view: View) -> int:
    """What research may have, and what history does not need."""
    # History must stay so far from its levels that nothing of it has to leave for this.
    free = view.room - view.fixed_cost.high - int(view.history * _HISTORY)
    return max(view.draft.budget.research, int(free * _BORROWED))


def _quoted(view: View, question: Item, finding: Finding, now: float) -> _Quoted:
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
    (said,) = excerpts(asked, [finding.summary], room - view.text_tokens(brief), view.text_tokens)
    return f"{brief}\n{defuse(said)}" if said else brief


def _heading(number: int, source: ResearchSource) -> str:
    date = f"{datetime.fromtimestamp(source.at, UTC).astimezone():%Y-%m-%d}"
    named = _begun(source.title, _TITLE), _begun(source.url, _ADDRESS), date
    return f"[{number}] " + ", ".join(filter(None, named))


def _begun(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
