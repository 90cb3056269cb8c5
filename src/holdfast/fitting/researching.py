"""What of research goes into a window: the sources for this question, and what earlier ones came to.

Finding is done in `research`, how it is written in `window`; here it is decided if and how much. Sources stay
whole only for the question they were looked up for: when new ones come, the older ones become notes.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from holdfast.errors import NotFound
from holdfast.fitting.case import Case
from holdfast.fitting.noting import Noting
from holdfast.messages import Scope
from holdfast.research.excerpts import excerpts
from holdfast.research.finding import Finding, Source
from holdfast.research.library import Research
from holdfast.store import new_id
from holdfast.window.additions import addition, found, sources
from holdfast.window.brought import earlier_findings
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
        view = view.having(*earlier_findings(view))
        text = _text(view, question, finding)
        if not text:
            return view
        note = note_of(finding)
        return view.having(addition(view, question, SECTION, text, new_id("d"), name=finding.id, short=note))

    def beside(self, view: View, case: Case) -> list[Proposal]:
        """What earlier findings say to the question, where they bear on it and the window lacks them."""
        question = view.question
        if question is None or question is not view.shown[-1].item or not case.tells:
            return []
        if any(one.name and not one.short for one in _shown(view, question)):
            return []
        shown = _shown(view)
        notes = [one for one in shown if one.name and not one.short]
        left = min(_TOKENS, int(view.draft.budget.window * _SHARE))
        left -= sum(view.text_tokens(one.text) for one in notes)
        most = _MOST - len(notes)
        if left < _LEAST or most < 1:
            return []
        known = {one.name for one in shown if one.name}
        made = []
        for bearing in self._research.bearing_on(case.scope, question.message.text, most, without=known):
            text = note_of(bearing.finding, brief=bearing.brief)
            cost = view.text_tokens(text)
            if cost <= left:
                left -= cost
                reason = "it bears on the question"
                made.append(
                    addition(
                        view,
                        question,
                        SECTION,
                        text,
                        new_id("d"),
                        rule="findings",
                        reason=reason,
                        name=bearing.finding.id,
                    )
                )
        return made

    def _notes(self, scope: Scope, quoted: Sequence[Addition]) -> Mapping[str, str]:
        """What the findings whose sources stand in a window come to by now."""
        names = {one.name for one in quoted}
        known = {name: one for one in self._research.list(scope) for name in (one.id, *one.merged)}
        return {name: note_of(known[name]) for name in names if name in known}


def note_of(finding: Finding, *, brief: bool = False) -> str:
    """What stands for a finding in a window; of one that is very old, only that there was one."""
    language = language_of(f"{finding.question} {finding.summary}") or "en"
    return found(language, finding.created_at, finding.question, "" if brief else finding.summary)


def _shown(view: View, item: Item | None = None) -> list[Addition]:
    return [
        one
        for shown in view.shown
        if item is None or shown.item is item
        for one in shown.additions
        if one.section == SECTION
    ]


def _text(view: View, question: Item, finding: Finding) -> str:
    """The sources as far as there is room: what research may have, and what history does not need."""
    usable = finding.usable
    # History must stay so far from its levels that nothing of it has to leave for this.
    free = view.room - view.fixed.high - int(view.history * _HISTORY)
    room = max(view.draft.budget.research, int(free * _BORROWED))
    headings = [_heading(number, source) for number, source in enumerate(usable, 1)]
    room -= view.text_tokens(sources(question.message, headings))
    asked = f"{finding.question}\n{question.message.text}"
    bodies = excerpts(asked, [source.text for source in usable], room, view.text_tokens)
    texts = [f"{heading}\n{body}" for heading, body in zip(headings, bodies, strict=True) if body]
    return sources(question.message, texts) if texts else ""


def _heading(number: int, source: Source) -> str:
    date = f"{datetime.fromtimestamp(source.at, UTC):%Y-%m-%d}"
    return f"[{number}] " + ", ".join(filter(None, (source.title, source.url, date)))
