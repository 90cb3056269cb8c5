"""A span becomes a summary: by a model where one is of use, and in any case.

Portion by portion, each merged with what was written before. What a model says is checked, mended once, tried
again in smaller portions, and then done without it. It keeps nothing and decides nothing about the window.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from holdfast.compaction.asking import SummaryModel
from holdfast.compaction.checks import find_problem, is_hopeless, strip_answer
from holdfast.compaction.extractive import extract_summary
from holdfast.compaction.prompts import PromptTemplates
from holdfast.compaction.summary import SECTIONS, Summary
from holdfast.compaction.transcript import Portion, fence, split_portions
from holdfast.errors import Overflow, ProviderError
from holdfast.research.summary import carried
from holdfast.window.items import Item
from holdfast.words import terms

log = logging.getLogger("holdfast.compaction")

ProgressCallback = Callable[[float], None]

# How a summary came about, the best way first.
METHODS = ("model", "repaired", "smaller", "extractive")

# A model that was of no use this often in one span is not asked again in it.
_MOST_FAILURES = 2
# With less room than this for what is to be read, a model is of no use.
_LEAST_ROOM = 256
# What the prompt's own words may take at most beside what is counted.
_MARGIN = 64
# Tokens to words, and of those fewer, so that the limit is not what ends the answer.
_WORDS_PER_TOKEN = 0.6
# At least this share of what a summary speaks of must have been spoken of.
_LEAST_GROUNDED = 0.5


@dataclass(frozen=True, slots=True)
class MessageSpan:
    """What is to be summarised: clean messages, and the summary of all that came before them."""

    items: tuple[Item, ...]
    previous: Summary | None
    language: str
    # Tokens the summary should have.
    target: int
    count: Callable[[str], int]


@dataclass(slots=True)
class _SpanState:
    """How it is going with one span."""

    span: MessageSpan
    helper: SummaryModel
    method: str = METHODS[0]
    failures: int = 0
    # The messages that were read without a model: one that is in several portions is read once.
    read_ids: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)

    def note_method(self, way: str) -> None:
        self.method = max(self.method, way, key=METHODS.index)

    @property
    def has_given_up(self) -> bool:
        return self.failures >= _MOST_FAILURES


@dataclass(frozen=True, slots=True)
class SpanSummary:
    """A summary, how it came about, and what a model did wrong on the way."""

    summary: Summary
    method: str
    problems: tuple[str, ...] = ()


class Summariser:
    def __init__(self, prompts: PromptTemplates) -> None:
        self._prompts = prompts

    async def summarise(
        self, span: MessageSpan, model: SummaryModel | None, progress: ProgressCallback
    ) -> SpanSummary:
        room = self._room(span, model) if model else 0
        if model is None or room < _LEAST_ROOM:
            return SpanSummary(await _summarise_extractively(span, span.items, span.previous), "extractive")
        state = _SpanState(span, model)
        so_far, parts = span.previous, split_portions(span.items, span.language, span.count, room)
        for number, portion in enumerate(parts):
            so_far = await self._merge_portion(state, portion, so_far)
            progress((number + 1) / len(parts))
        if not so_far:
            so_far = await _summarise_extractively(span, span.items, span.previous)
            state.note_method("extractive")
        return SpanSummary(so_far, state.method, tuple(state.problems))

    async def _merge_portion(self, state: _SpanState, portion: Portion, so_far: Summary | None) -> Summary:
        span = state.span
        if not state.has_given_up and (summary := await self._try_model(state, portion, so_far)):
            return summary
        if state.failures < _MOST_FAILURES:
            smaller = so_far
            halves = portion.halve(span.language, span.count)
            for half in halves:
                summary = None if state.has_given_up else await self._try_model(state, half, smaller)
                if summary is None:
                    break
                smaller = summary
            else:
                if halves and smaller is not None:
                    state.note_method("smaller")
                    return smaller
        state.note_method("extractive")
        new = [item for item in portion.items if item.id not in state.read_ids]
        state.read_ids.update(item.id for item in new)
        return await _summarise_extractively(span, new, so_far) if new or so_far is None else so_far

    async def _try_model(self, state: _SpanState, portion: Portion, so_far: Summary | None) -> Summary | None:
        """What the model makes of it, on the second attempt at the latest; None if that is of no use."""
        problem = ""
        for attempt in ("model", "repaired"):
            try:
                summary, problem = await self._ask_model(state, portion, so_far, problem)
            except Overflow as error:
                # Asking the same again would be refused again; less of it may not be.
                state.problems.append(f"overflow: {error}")
                return None
            except ProviderError as error:
                log.warning("no summary from %s: %s", state.helper.name, error)
                state.problems.append(str(error))
                state.failures = _MOST_FAILURES
                return None
            if summary is not None:
                state.note_method(attempt)
                return summary
            state.problems.append(problem)
        state.failures += 1
        return None

    async def _ask_model(
        self, state: _SpanState, portion: Portion, so_far: Summary | None, last_problem: str
    ) -> tuple[Summary | None, str]:
        span, before = state.span, so_far.render() if so_far else ""
        prompt = self._prompts.render(
            "summary",
            span.language,
            previous=before,
            transcript=fence(portion.text),
            words=int(span.target * _WORDS_PER_TOKEN),
            trouble=last_problem,
        )
        reply = await state.helper.ask(prompt, 2 * span.target, hopeless=is_hopeless)
        source = f"{before}\n{portion.text}"
        room = max(span.count(source), span.target // 2)
        problem = find_problem(
            reply.text, source, span.language, finish=reply.finish, room=room, count=span.count
        )
        summary = None if problem else Summary.parse(strip_answer(reply.text), span.language)
        # Headings with nothing under them would wipe out what was written before.
        if not summary:
            return None, problem or "empty"
        if _grounded_share(summary, source) < _LEAST_GROUNDED:
            return None, "invented"
        ours = await _summarise_extractively(span, portion.items, so_far)
        summary = _with_prohibitions(summary, ours)
        if _count_carried_facts(summary, source) < _count_carried_facts(ours, source):
            # However well it reads, it says less than the sentences themselves.
            return None, "fewer"
        return summary, ""

    def _room(self, span: MessageSpan, model: SummaryModel) -> int:
        """What may be read at once: the window, less the answer, the prompt, and the longest summary."""
        prompt = self._prompts.render(
            "summary", span.language, previous="-", transcript="", words=span.target, trouble="sections"
        )
        return (
            model.budget.window - 4 * span.target - span.count(prompt) - _MARGIN - model.budget.window // 20
        )


async def _summarise_extractively(
    span: MessageSpan, items: Sequence[Item], previous: Summary | None
) -> Summary:
    return await asyncio.to_thread(extract_summary, items, previous, span.language, span.count, span.target)


def _with_prohibitions(summary: Summary, ours: Summary) -> Summary:
    """The summary with all that must not be done, whatever the model left out of it."""
    known = "\n".join(summary.must_not).casefold()
    missing = tuple(line for line in ours.must_not if line.casefold() not in known)
    return replace(summary, must_not=(*summary.must_not, *missing))


def _count_carried_facts(summary: Summary, source: str) -> int:
    """How many names and values of the source a summary has."""
    return len(carried(_plain_text(summary), source, summary.language))


def _plain_text(summary: Summary) -> str:
    return "\n".join(line for name in SECTIONS for line in summary.section(name))


def _grounded_share(summary: Summary, source: str) -> float:
    """The share of what the summary speaks of that the source speaks of too."""
    summary_terms = set(terms(_plain_text(summary)))
    return len(summary_terms.intersection(terms(source))) / len(summary_terms) if summary_terms else 1.0
