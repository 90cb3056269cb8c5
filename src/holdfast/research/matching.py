"""Matches findings with a question: which one answers it, which belong together, which are related.

Words decide whether two questions are the same. Within one language vectors cannot: "healthy" and
"unhealthy", or with and without "used", are nearer to each other than many two ways of asking one thing.
Between two languages there are hardly any common words, so vectors may decide where names, numbers, dates and
negations agree. Merging, which is permanent, relies on words alone. Related findings are ranked by the words
of their questions and summaries, by the days both mention, and by vectors that exist already.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cache, lru_cache
from math import log

from holdfast.research.finding import Finding, Mode, ResearchSource
from holdfast.research.repository import MOST_SOURCES
from holdfast.text import analyser
from holdfast.text.dates import NUMBERS, dates_in
from holdfast.text.lang import UPPER, any_phrase, by_language, merged_rows, merged_table, word_set, words_of
from holdfast.text.patterns import late

_TOKEN = late(r"[-+−]?\d+(?:[.,]\d+)*|(?<!\S)\.[^\W\d_]\w*|\w+(?:\+\+|#|['’]\w+)?")
_GROUPED = late(r"\d{1,3}(?:[.,]\d{3})+")
_HYPHEN = late(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_SIGNS = frozenset({"So", "Sc", "Sm", "No"})
# Signs that tell two questions apart, as these kinds of signs do.
_TELLING_SIGNS = frozenset("%‰&§")


# What is something else with a capital letter.
_CAPITALS = frozenset(
    ("polish", "turkey", "china", "reading", "nice", "mobile", "bath", "cork", "java", "amazon", "apple",
     "orange", "swift", "rust", "windows", "word", "excel", "target", "visa", "shell", "essen")
)  # fmt: skip
# How somebody begins to ask.
_OPENING = late(rf"\A\s*{any_phrase('RESEARCH_OPENINGS')}\b[\s,:!]*", re.IGNORECASE)
# How a question is put, not what it asks for, wherever it stands.
_MANNER = word_set("MANNER_WORDS")
# The same, but only in German: a hat is no way of asking.
_GERMAN = word_set("MANNER_WORDS_ALONE")
_JUST_NOW = late(rf"\b{any_phrase('JUST_NOW')}\b", re.IGNORECASE)
# This is to ask for a price; whoever looks for expensive things does not.
_HOW_EXPENSIVE = late(rf"\b{any_phrase('HOW_EXPENSIVE')}\b", re.IGNORECASE)
# First of all words it says nothing, later it may be electric.
_CURRENT = "current"
# What is wanted of the thing that is asked about, by the first of such words.
_WANTED = late(
    r"\b(?:"
    + "|".join(
        f"(?P<{what}>{'|'.join(words[what] for words in by_language('WANTED').values())})"
        for what in ("many", "long", "often", "far", "who", "where", "when", "why", "how", "what")
    )
    + r")\b",
    re.IGNORECASE,
)
# What is wanted where only the thing is named: opening hours are asked for with when.
_IMPLIED = merged_table("IMPLIED_QUESTIONS")
# Words that ask for the same thing, in all languages; each is known by its first.
_SAME = tuple(f"{word} {others}" for word, others in merged_rows("SAME_SUBJECTS").items())
# What says nothing more beside another word.
_BESIDE = merged_rows("BESIDE_SUBJECTS")
# What the end of a compound asks for: the Bitcoinkurs is the price of Bitcoin.
_ENDS = tuple(words_of("COMPOUND_ENDS").split())
_SHORTEST = 3
# "One" is as often an article.
_NUMBERS = {word: str(number) for word, number in NUMBERS.items() if number > 1}
# Small words that turn what is asked around, which a search may leave out and this may not.
_TURNS = frozenset(words_of("TURNING_WORDS").split())
_PAST = {code: frozenset(verbs.split()) for code, verbs in by_language("PAST_VERBS").items()}
# German verbs leave these behind at the end of a sentence: what is switched on is not switched off.
_LEFT_BEHIND = word_set("LEFT_BEHIND")
# The same turn in all languages; where they are told apart by nothing else, it is the first of them.
_TURNED = tuple(f"{word} {others}" for word, others in merged_rows("SAME_TURNS").items())
# What is the most of something may be the least by its meaning, and what begins so may be its own opposite.
_MOST = late(any_phrase("SUPERLATIVES"), re.IGNORECASE)
_OPPOSITE = late(any_phrase("OPPOSITE_FORMS"), re.IGNORECASE)
# In English a capital letter inside a sentence begins a name; in German, where every noun has one, one behind
# a bare preposition does. Letters and digits mixed are names in both.
_NAME = {code: late(pattern) for code, pattern in by_language("ASKED_NAME").items()}
_MIXED = late(rf"\b(?=\w*[{UPPER}0-9])(?=\w*[a-zA-Z])\w+[{UPPER}0-9]\w*")
# Small words that say what the next word is to the question.
_LEADS = merged_table("LEADING_WORDS")


@dataclass(frozen=True, slots=True)
class _Terms:
    """The word lists above as terms: synonyms by their first word, redundant words, and implied wishes."""

    representative: Mapping[str, str]
    beside: Mapping[str, frozenset[str]]
    implied: Mapping[str, frozenset[str]]


@cache
def load_terms() -> _Terms:
    """Build the term tables once, for the first question."""
    rows = [analyser.terms(row) for row in _SAME]
    one_of = {term: row[0] for row in rows for term in row}
    beside = {analyser.terms(word)[0]: frozenset(analyser.terms(row)) for word, row in _BESIDE.items()}
    implied = {
        analyser.terms(word)[0]: frozenset(wanted.split()) | {"what", ""} for word, wanted in _IMPLIED.items()
    }
    return _Terms(one_of, beside, implied)


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """What a question asks for, on the day it was asked: its distinctive words in order, and negations."""

    wanted: str
    words: tuple[str, ...]
    topics: frozenset[str]
    dates: frozenset[str]
    turns: tuple[str, ...]
    leads: frozenset[tuple[str, str]]
    day: date
    language: str
    text: str

    @property
    def terms(self) -> frozenset[str]:
        return frozenset(self.words) | self.topics


def parse_question(question: str, day: date) -> ParsedQuestion:
    """Parse a question that was asked on this day."""
    dates, undated = dates_in(strip_opening(unicodedata.normalize("NFC", question)), day)
    language, shouted = analyser.language_of(question), undated.isupper()
    manner = _MANNER | _GERMAN if language == "de" else _MANNER
    past = _PAST.get(language, frozenset())
    wanted = _WANTED.search(undated)
    known = load_terms()
    distinctive: list[str] = []
    topics: set[str] = set()
    turns: list[str] = []
    leads: set[tuple[str, str]] = set()
    lead = ""
    tokens = _TOKEN.findall(_HYPHEN.sub(" ", undated))
    for place, token in enumerate(tokens):
        small = token.lower()
        if small in _TURNS or (small in _LEFT_BEHIND and place + 1 == len(tokens)):
            turns.append(small)
        elif small in past:
            turns.append("past")
        elif small in _LEADS and dates:
            # What it leads to may be the date, which is no longer there.
            turns.append(_LEADS[small])
        if small in manner:
            continue
        for term in distinctive_terms(token, first=place == 0, shouted=shouted):
            if term in known.representative:
                topics.add(known.representative[term])
            elif term not in distinctive:
                distinctive.append(term)
            if lead:
                leads.add((lead, known.representative.get(term, term)))
            lead = ""
        lead = _LEADS.get(small, lead)
    signs = (sign for sign in undated if unicodedata.category(sign) in _SIGNS or sign in _TELLING_SIGNS)
    if topics and distinctive[:1] == [_CURRENT]:
        distinctive = distinctive[1:]
    for topic, beside in known.beside.items():
        if topic in topics:
            topics -= beside
            distinctive = [term for term in distinctive if term not in beside]
    return ParsedQuestion(
        wanted=(wanted.lastgroup or "") if wanted else "",
        words=(*distinctive, *signs),
        topics=frozenset(topics),
        dates=dates,
        turns=tuple(turns),
        leads=frozenset(leads),
        day=day,
        language=language,
        text=undated,
    )


def may_be_translation(first: ParsedQuestion, second: ParsedQuestion) -> bool:
    """Whether one question could be a translation of the other; their meaning must be compared as well.

    All that can be compared across languages must agree: what is wanted, topics, numbers, dates, negations,
    and names, which are the same in both.
    """
    return (
        {first.language, second.language} == {"de", "en"}
        and first.topics == second.topics
        and same_wish(first, second)
        and number_terms(first) == number_terms(second)
        and normalise_turns(first) == normalise_turns(second)
        and same_dates(first, second)
        and not any(_MOST.search(question.text) for question in (first, second))
        and count_opposites(first) == count_opposites(second)
        and same_leads(first, second)
        and same_length(first, second)
        and has_names(first, second)
        and has_names(second, first)
    )


def asks_same(first: ParsedQuestion, second: ParsedQuestion) -> bool:
    """Whether both ask for the same, so that what was found for one answers the other."""
    return (
        bool(first.terms)
        and first.topics == second.topics
        and same_wish(first, second)
        and same_words(first.words, second.words)
        and first.turns == second.turns
        and same_dates(first, second)
        and same_leads(first, second)
    )


def number_terms(question: ParsedQuestion) -> frozenset[str]:
    return frozenset(term for term in question.words if not term.isalpha())


def normalise_turns(question: ParsedQuestion) -> list[str]:
    """Return the negations and similar words of a question, by their English word."""
    known = {word: row.split()[0] for row in _TURNED for word in row.split()}
    return sorted(known.get(turn, turn) for turn in question.turns)


def count_opposites(question: ParsedQuestion) -> int:
    return len(_OPPOSITE.findall(question.text))


def same_length(first: ParsedQuestion, second: ParsedQuestion) -> bool:
    """Whether the German question has no more words than the English one; German joins words."""
    german, english = (first, second) if first.language == "de" else (second, first)
    return len(german.words) <= len(english.words)


def has_names(question: ParsedQuestion, other: ParsedQuestion) -> bool:
    """Whether the question has every name of the other, alone or in a compound."""
    names = {*_NAME[other.language].findall(other.text), *_MIXED.findall(other.text)}
    text = question.text.casefold()
    return all(name.casefold() in text for name in names)


def same_wish(first: ParsedQuestion, second: ParsedQuestion) -> bool:
    """Whether both want the same (who, when, how many); it may be left out where the topic implies it."""
    wishes = {first.wanted, second.wanted}
    implied = load_terms().implied
    return (
        len(wishes) == 1
        or wishes == {"what", ""}
        or any(wishes <= implied.get(topic, frozenset()) for topic in first.topics)
    )


def strip_opening(question: str) -> str:
    """Remove the phrases with which people begin to ask."""
    while begun := _OPENING.match(question):
        question = question[begun.end() :]
    return _HOW_EXPENSIVE.sub("price", _JUST_NOW.sub(" ", question))


def same_words(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Compare in order: from Kassel to Cologne is not from Cologne to Kassel."""
    return first == second or (join_words(first) == join_words(second))


def join_words(terms: tuple[str, ...]) -> str:
    """Join the words without spaces, which people set differently; numbers stay apart."""
    return "".join(term if term.isalpha() else f" {term} " for term in terms)


def same_dates(first: ParsedQuestion, second: ParsedQuestion) -> bool:
    """Compare the dates; a question without one means the day on which it was asked."""
    if not first.dates and not second.dates:
        return True
    return (first.dates or {first.day.isoformat()}) == (second.dates or {second.day.isoformat()})


def same_leads(first: ParsedQuestion, second: ParsedQuestion) -> bool:
    """Whether no word has another preposition in one than in the other; it may be missing."""
    parts = dict[str, set[str]]()
    for lead, term in first.leads:
        parts.setdefault(term, set()).add(lead)
    return all(lead in parts.get(term, {lead}) for lead, term in second.leads)


def distinctive_terms(token: str, *, first: bool, shouted: bool) -> Iterator[str]:
    """Return the terms of a word that can tell two questions apart."""
    if token.lstrip("-+−")[:1].isdigit() and not any(sign.isalpha() for sign in token):
        yield token.replace("−", "-").lstrip("+") if not _GROUPED.fullmatch(token) else _digits(token)
        return
    small = token.lower()
    if small in _NUMBERS:
        yield _NUMBERS[small]
        return
    if small in _CAPITALS:
        # In doubt it is another question.
        yield token
        return
    sharp = token.endswith(("+", "#")) or token.startswith(".")
    terms = analyser.terms(token)
    if terms and not sharp:
        yield from split_compound(small) or terms[:1]
        return
    # Names that are shorter than a word, or spelled like a small one: C, C++, R, US, IT.
    letter = len(token) == 1 and token.isupper() and small != "i" and not (first and small == "a")
    if sharp or letter or (len(token) > 1 and token.isupper() and not shouted):
        yield small


def split_compound(word: str) -> list[str]:
    end = next((end for end in _ENDS if word.endswith(end)), "")
    return (
        analyser.terms(f"{word.removesuffix(end)} {end}") if end and len(word) > len(end) + _SHORTEST else []
    )


def _digits(token: str) -> str:
    return "".join(sign for sign in token if sign.isdigit())


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
    return datetime.fromtimestamp(at, UTC).astimezone().date()
