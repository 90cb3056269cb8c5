"""Matches findings with a question: which one answers it, which belong together, which are related.

Words decide whether two questions are the same. Within one language vectors cannot: "healthy" and
"unhealthy", or with and without "used", are nearer to each other than many two ways of asking one thing.
Between two languages there are hardly any common words, so vectors may decide where names, numbers, dates and
negations agree. Merging, which is permanent, relies on words alone. Related findings are ranked by the words
of their questions and summaries, by the days both mention, and by vectors that exist already.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cache, lru_cache
from math import log

from holdfast.research.finding import Finding, Mode, ResearchSource
from holdfast.research.questions import ParsedQuestion, asks_same, may_be_translation, parse_question
from holdfast.research.repository import MOST_SOURCES
from holdfast.text import analyser
from holdfast.text.dates import dates_in
from holdfast.text.lang import words_of

# Maps named texts to their nearness to a question; texts without a vector are left out.
Nearness = Callable[[str, Mapping[str, str]], Mapping[str, float]]

# From here on a question in another language asks for the same; measured in tests/research/translations.py.
_SURE = 0.84


@dataclass(frozen=True, slots=True)
class ReusedFinding:
    """A finding that answers a question, and its age in seconds."""

    finding: Finding
    age: float


def find_same(
    question: str,
    findings: Sequence[Finding],
    *,
    now: float,
    mode: Mode = "quick",
    nearness: Nearness | None = None,
) -> ReusedFinding | None:
    """Return the newest valid finding for the same question; a deep question needs a deep finding.

    With `nearness`, it may have been asked in another language.
    """
    wanted = parse_question(question, local_date(now))
    holding = [
        (finding, parse_question(finding.question, local_date(finding.created_at)))
        for finding in findings
        if _is_valid(finding, now) and (finding.mode == "deep" or mode == "quick")
    ]
    fits = [finding for finding, theirs in holding if asks_same(wanted, theirs)]
    if not fits and nearness is not None:
        maybe = [finding for finding, theirs in holding if may_be_translation(wanted, theirs)]
        near = nearness(question, {finding.id: finding.question for finding in maybe}) if maybe else {}
        fits = [finding for finding in maybe if near.get(finding.id, 0.0) >= _SURE]
    newest = max(fits, key=lambda finding: finding.created_at, default=None)
    return None if newest is None else ReusedFinding(newest, newest.age(now))


def group_same(findings: Sequence[Finding], *, now: float) -> list[list[Finding]]:
    """Group valid findings of one scope for the same question: two or more, newest first."""
    groups: list[tuple[ParsedQuestion, list[Finding]]] = []
    for finding in sorted(findings, key=lambda one: (one.created_at, one.id), reverse=True):
        if not _is_valid(finding, now):
            continue
        this = parse_question(finding.question, local_date(finding.created_at))
        group = next((members for known, members in groups if asks_same(known, this)), None)
        if group is None:
            groups.append((this, [finding]))
        else:
            group.append(finding)
    return [group for _, group in groups if len(group) > 1]


def merge_findings(group: Sequence[Finding]) -> Finding:
    """Merge findings under the id of the first, which is the newest; its summary is still to be written.

    It has the sources of all, newest first and each address once, and expires with the newest.
    """
    newest, *older = group
    sources: dict[str, ResearchSource] = {}
    for number, source in enumerate(source for finding in group for source in finding.sources):
        key = source.url or f"{number} {source.title}"
        if key not in sources or sources[key].trouble:
            sources[key] = source
    names = dict.fromkeys(name for finding in older for name in (finding.id, *finding.merged))
    by_person = newest.summary_by == "person"
    return replace(
        newest,
        sources=tuple(sources.values())[:MOST_SOURCES],
        mode="deep" if any(finding.mode == "deep" for finding in group) else newest.mode,
        summary=newest.summary if by_person else "",
        summary_by="person" if by_person else "",
        merged=tuple(dict.fromkeys((*newest.merged, *names))),
    )


def _is_valid(finding: Finding, now: float) -> bool:
    return not finding.is_expired(now) and bool(finding.usable)


_DAY = 86_400.0
# Findings older than this are shown in one line, unless they are permanent.
OLD = 7 * _DAY
# From here on two texts are about the same, by the encoder inside:
# tests/research/relevance_cases.py.
_NEAR = 0.45
# How much of a question must be in a finding: in the question it answered, or only in what it says.
_ASKED, _SAID = 0.12, 0.25
# A word of the summary tells less than one of the question.
_SUMMARY = 0.6
# Of a longer question (a pasted page) only the beginning and the end are used.
_LONGEST = 1_000


# What somebody plans may depend on something that neither names.
_DEPENDS = {words_of("WEATHER_WORDS"): words_of("WEATHER_PLANS")}


@dataclass(frozen=True, slots=True)
class RelatedFinding:
    """A finding related to a question, its score, and whether one line of it is enough."""

    finding: Finding
    score: float
    brief: bool = False


@dataclass(frozen=True, slots=True)
class _FindingTerms:
    """The terms and dates in a finding."""

    question_terms: frozenset[str]
    summary_terms: frozenset[str]
    dates: frozenset[str]

    @property
    def terms(self) -> frozenset[str]:
        return self.question_terms | self.summary_terms


def rank_related(
    question: str,
    findings: Sequence[Finding],
    limit: int = 10,
    *,
    now: float,
    nearness: Nearness | None = None,
    without: Collection[str] = (),
    expired: bool = False,
) -> list[RelatedFinding]:
    """Rank the findings related to a question, valid or `expired` ones, except those in `without`."""
    candidates = [
        finding for finding in findings if finding.is_expired(now) is expired and finding.id not in without
    ]
    if not candidates or not question.strip():
        return []
    excerpt = question if len(question) <= _LONGEST else f"{question[:_LONGEST]}\n{question[-_LONGEST:]}"
    days, undated = dates_in(excerpt, local_date(now))
    # Today says nothing: every question is asked today.
    days -= {local_date(now).isoformat()}
    asked = {term for term in stems(undated) if is_distinctive(term)}
    read = {
        finding.id: read_terms(finding.question, finding.summary, local_date(finding.created_at))
        for finding in candidates
    }
    known = Counter(term for entry in read.values() for term in entry.terms)
    weights = {term: log(1 + (1 + len(candidates)) / (0.5 + known[term])) for term in asked}
    near = (
        nearness(excerpt, {finding.id: finding.question for finding in candidates})
        if nearness is not None
        else {}
    )
    ranked = [
        RelatedFinding(finding, round(score, 4), is_old(finding, now))
        for finding in candidates
        if (score := _score(finding, read[finding.id], weights, days, near.get(finding.id, 0.0)))
    ]
    ranked.sort(key=lambda hit: (hit.score, hit.finding.created_at, hit.finding.id), reverse=True)
    return ranked[:limit]


def is_old(finding: Finding, now: float) -> bool:
    """Whether the finding is so old that one line of it is enough."""
    return finding.volatility != "permanent" and finding.age(now) > OLD


def _score(
    finding: Finding, read: _FindingTerms, weights: Mapping[str, float], days: frozenset[str], near: float
) -> float:
    """Return how strongly a finding is related to a question; 0 if not at all."""
    whole = sum(weights.values())
    in_question = sum(weight for term, weight in weights.items() if term in read.question_terms)
    in_summary = sum(
        weight for term, weight in weights.items() if term in read.summary_terms - read.question_terms
    )
    shared = (in_question + in_summary) / whole if whole else 0.0
    bears = (in_question and shared >= _ASKED) or (in_summary and shared >= _SAID) or near >= _NEAR
    # What changes from day to day bears on whatever is planned for those days.
    of_days = finding.volatility in ("hourly", "daily") and bool(days & read.dates)
    depends = any(on & read.terms and plans & weights.keys() for on, plans in _dependencies())
    if not (bears or of_days or depends):
        return 0.0
    by_words = (in_question + _SUMMARY * in_summary) / whole if whole else 0.0
    return by_words + max(0.0, near) + 0.5 * of_days + 0.5 * depends


def stems(text: str) -> frozenset[str]:
    return frozenset(analyser.terms(text))


@cache
def _weak_stems() -> frozenset[str]:
    return stems(words_of("WEAK_WORDS"))


@cache
def _dependencies() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    return tuple((stems(on), stems(plans)) for on, plans in _DEPENDS.items())


@lru_cache(1_024)
def read_terms(question: str, summary: str, day: date) -> _FindingTerms:
    """Read a finding's terms; cached, since every turn asks about the same findings."""
    days, _ = dates_in(f"{question}\n{summary}", day)
    return _FindingTerms(stems(question), stems(summary), days)


def is_distinctive(term: str) -> bool:
    return term not in _weak_stems() and not (term.isdigit() and len(term) < 3)


def local_date(at: float) -> date:
    """Return the local date of a time."""
    return datetime.fromtimestamp(at, UTC).astimezone().date()
