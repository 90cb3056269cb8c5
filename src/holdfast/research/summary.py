"""Summarises findings: extractively, or with a model, whose prompt is built and reply checked here.

A summary has at most 100 words, names every source, and holds no number, day or name that the sources lack. A
model's reply must carry at least as many of these facts as the extractive summary; otherwise, and without a
model, the extractive one is used. Pages are quoted, never obeyed: lines that look like our headings are
marked and instructions to a model are left out. Such patterns can be circumvented, so they are not the only
protection.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

from holdfast.research.finding import Finding, SummaryBy, Volatility, parse_volatility
from holdfast.research.repository import to_plain_line
from holdfast.text import analyser
from holdfast.text.dates import DAYS, MONTHS
from holdfast.text.excerpts import excerpts
from holdfast.text.lang import LOWER, UPPER, any_phrase, any_word
from holdfast.text.patterns import late

_BLANK = r"[\s\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]*"
_BRACKET = r"[\[［【]"
# How the headings begin that are written between messages; all but the last two stand in brackets.
_HEADINGS = any_phrase("HEADING_OPENINGS")
_LISTS = any_phrase("LIST_OPENINGS")
_LINE = late(rf"{_BLANK}(?:{_BRACKET}{_BLANK}\w|{_LISTS})", re.IGNORECASE)
_HEADING = late(rf"{_BRACKET}{_BLANK}{_HEADINGS}\b|{_LISTS}\b", re.IGNORECASE)

_ORDER = late(
    rf"{any_phrase('ORDERS_TO_MODELS')}|\A\W{{0,4}}{any_phrase('MODEL_ROLES')}(?:\s*:|\s*[\])>】］])",
    re.IGNORECASE,
)


def defuse(text: str) -> str:
    """Mark every line that begins like one of our headings, so that it cannot pass for one."""
    lines = text.splitlines(keepends=True)
    return "".join(f"| {line}" if _LINE.match(line) else line for line in lines)


def is_instruction(sentence: str) -> bool:
    """Whether a sentence addresses a model or passes for one of our headings."""
    return bool(_ORDER.search(sentence) or _HEADING.search(sentence))


MOST_WORDS = 100

# As much of a source as is read for it: what answers stands near the beginning.
_READ = 30_000
_SENTENCES = 400
# A sentence has this many words; of a longer one the beginning is taken.
_FEWEST, _LONGEST = 4, 45
# With less room than that a quote says nothing.
_LEAST = 4
# From here on a sentence says what another does.
_ALIKE = 0.6

_MARKS = late(
    r"^\s*(?:[#>*|•–-]+|\d{1,2}[.)])\s+|[*_`|]{1,3}|!?\[(?=[^\[\]]*\]\()|\]\([^()]*\)|<[^>\n]{0,200}>"
)
_BOILERPLATE = late(rf"\b(?:{any_phrase('BOILERPLATE')}|©)", re.IGNORECASE)
_NUMBER = late(r"\d+(?:[.,:]\d+)*")
_DATE = late(
    rf"\b\d{{1,2}}\.\s?(?:\d{{1,2}}\.|[{UPPER}]\w{{2,8}})|\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b(?:19|20)\d{{2}}\b"
    rf"|\b{any_word('WEEKDAYS', 'DATED_WEEKEND')}\b",
    re.IGNORECASE,
)
_CAPITALISED = late(rf"(?<=[{LOWER},] )[{UPPER}][\w-]+")


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    source: int
    place: int
    terms: frozenset[str]
    score: float = 0.0

    @property
    def length(self) -> int:
        return count_words(self.text)


def count_words(text: str) -> int:
    """Count words as people do: what stands between spaces."""
    return len(text.split())


def name_sources(finding: Finding) -> str:
    """Return the sentence that names the sources; empty if there are none."""
    label = "Quellen" if finding.language == "de" else "Sources"
    return f"{label}: {', '.join(finding.names)}." if finding.names else ""


def extract_summary(finding: Finding) -> str:
    """Summarise a finding in its sources' own sentences, followed by their names."""
    tail = name_sources(finding)
    room = MOST_WORDS - count_words(tail)
    texts = [source.text for source in finding.usable]
    chosen = choose(score_all(finding.question, texts), len(texts), room)
    quotes = (
        end_sentence(sentence.text)
        for sentence in sorted(chosen, key=lambda sentence: (sentence.source, sentence.place))
    )
    return " ".join(filter(None, (*quotes, tail)))


def choose(sentences: Sequence[_Sentence], sources: int, room: int) -> list[_Sentence]:
    """Choose a sentence of every source within its share of the room, then the best of all others."""
    best = sorted(sentences, key=lambda sentence: (-sentence.score, sentence.source, sentence.place))
    chosen: list[_Sentence] = []
    for source in range(sources):
        share = room // (sources - source)
        theirs = [sentence for sentence in best if sentence.source == source]
        first = choose_first(theirs, chosen, share)
        if first is not None:
            chosen.append(first)
            room -= first.length
    for sentence in best:
        if sentence.length <= room and sentence.score > 0 and not _repeats(sentence, chosen):
            chosen.append(sentence)
            room -= sentence.length
    return chosen


def choose_first(theirs: Sequence[_Sentence], chosen: Sequence[_Sentence], share: int) -> _Sentence | None:
    if not theirs or share < _LEAST:
        return None
    new = [sentence for sentence in theirs if not _repeats(sentence, chosen)]
    # What others say in other words still has its say; what they say word for word has had it.
    new = new or [sentence for sentence in theirs if not _is_quoted(sentence, chosen)]
    if not new:
        return None
    whole = next((sentence for sentence in new if sentence.length <= share), None)
    # A good sentence in part is worth more than a poor one whole.
    if whole is not None and 2 * whole.score >= new[0].score:
        return whole
    return clip(new[0], share)


def clip(sentence: _Sentence, most: int) -> _Sentence:
    tokens = sentence.text.split()
    text = sentence.text if len(tokens) <= most else f"{' '.join(tokens[:most]).rstrip(',;:–-')}…"
    return _Sentence(text, sentence.source, sentence.place, sentence.terms, sentence.score)


def _repeats(sentence: _Sentence, chosen: Sequence[_Sentence]) -> bool:
    return _is_quoted(sentence, chosen) or any(
        len(sentence.terms & other.terms) >= _ALIKE * max(1, min(len(sentence.terms), len(other.terms)))
        for other in chosen
    )


def _is_quoted(sentence: _Sentence, chosen: Sequence[_Sentence]) -> bool:
    """Whether the sentence is chosen already, word for word or as far as that one was cut."""
    return any(sentence.text.startswith(other.text.removesuffix("…")) for other in chosen)


def score_all(question: str, texts: Sequence[str]) -> list[_Sentence]:
    asked = frozenset(analyser.terms(question))
    sentences = [sentence for source, text in enumerate(texts) for sentence in read_sentences(text, source)]
    having = Counter(term for sentence in sentences for term in sentence.terms & asked)
    weights = {term: log(1 + len(sentences) / having[term]) for term in having}
    return [
        _Sentence(
            sentence.text, sentence.source, sentence.place, sentence.terms, score_sentence(sentence, weights)
        )
        for sentence in (clip(sentence, _LONGEST) for sentence in sentences)
    ]


def score_sentence(sentence: _Sentence, weights: Mapping[str, float]) -> float:
    text = sentence.text
    worth = sum(weights.get(term, 0.0) for term in sentence.terms)
    worth += 0.3 * min(3, len(_NUMBER.findall(text))) + 0.4 * bool(_DATE.search(text))
    worth += 0.15 * min(4, len(_CAPITALISED.findall(text)))
    worth += 0.5 / (1 + sentence.place / 5)
    # Lines of a menu end with no sign.
    if not text.endswith((".", "!", "?", "…", ":", ")", '"', "“", "”")):
        worth *= 0.5
    return worth / (1 + log(1 + sentence.length / 15))


def read_sentences(text: str, source: int) -> Iterator[_Sentence]:
    place = 0
    for sentence in analyser.sentences(text[:_READ])[:_SENTENCES]:
        plain = strip_marks(sentence)
        if count_words(plain) >= _FEWEST and not sentence.startswith(("```", "~~~")) and not is_noise(plain):
            yield _Sentence(plain, source, place, frozenset(analyser.terms(plain)))
            place += 1
    # A source that has no sentence still has words.
    beginning = (
        " ".join(strip_marks(sentence) for sentence in analyser.sentences(text[:2_000])) if not place else ""
    )
    plain = " ".join(part for part in analyser.sentences(beginning) if not is_instruction(part))
    if plain and not is_instruction(plain):
        yield _Sentence(plain, source, 0, frozenset(analyser.terms(plain)))


def is_noise(sentence: str) -> bool:
    return bool(_BOILERPLATE.search(sentence)) or is_instruction(sentence)


def strip_marks(text: str) -> str:
    without = _MARKS.sub("", text)
    shown = "".join(sign for sign in without if unicodedata.category(sign)[0] != "C" or sign.isspace())
    return " ".join(shown.split())


def end_sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text.rstrip(',;:')}."


# Fills in a prompt by its name and language, as `PromptTemplates.render` in `compaction.summariser` does.
FillPrompt = Callable[..., str]

PROMPT = "finding"

# How many characters of the sources a model is shown; a small window holds them.
_ROOM = 12_000
_FENCE = "====="
# A summary of fewer words says too little, unless its sources hardly say more.
_SHORTEST = 6

_VOLATILITY = late(
    rf"^[^\w\n]*{any_phrase('VOLATILITY_LABELS')}\W*[:=]\s*(?P<word>[^\n]{{0,60}})$",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL = late(rf"\A(?:\W*{any_phrase('FINDING_LABELS')}\W*:)\s*", re.IGNORECASE)
_SOURCES_LINE = late(rf"(?:^|\s)\(?{any_phrase('SOURCES_LABELS')}\s*:[^\n]*\Z", re.IGNORECASE)
_MARKUP = late(
    r"</?[a-z_|]{2,20}>|<\||\[/?TOOL_CALLS?\]|```|\A\s*[{\[]|\"(?:name|function|arguments)\"\s*:",
    re.IGNORECASE,
)
_GROUPED = late(r"\d{1,3}(?:[.,]\d{3})+")
_WHEN = late(
    r"(?<!\d)(?:3[01]|[12]\d|0?[1-9])\.(?:1[0-2]|0?[1-9])(?!\d)(?:\.(?:\d{4}|\d{2})(?!\d))?|(?<!\d)[0-2]?\d:[0-5]\d"
    r"|\b\d{4}-\d\d-\d\d\b"
)
_WORD = late(r"[^\W\d_]+")
_INSIDE = late(rf"(?<=[^.!?:…\s\"“„(] )[{UPPER}][\w'’-]+")


@dataclass(frozen=True, slots=True)
class ValidatedSummary:
    """A usable summary and its author; `refused` says why the model's reply was not used.

    `volatility` is the model's estimate, None if it gave none.
    """

    summary: str
    by: SummaryBy
    volatility: Volatility | None = None
    refused: str = ""
    # How many names and values of the sources the model's own words had.
    carried: int = 0


def build_prompt(finding: Finding, filled: FillPrompt, *, room: int = _ROOM, trouble: str = "") -> str:
    """Build the prompt, with the passages of every source that fit the question, fenced as data."""
    sources = finding.usable
    shown = excerpts(finding.question, [source.text for source in sources], room, len)
    passages = (
        remove_fence(f"{source.name}: {source.title}\n{text}")
        for source, text in zip(sources, shown, strict=True)
    )
    fenced = (f"{_FENCE}\n{passage}\n{_FENCE}" for passage in passages)
    return filled(
        PROMPT,
        finding.language,
        question=remove_fence(finding.question),
        sources="\n".join(fenced),
        count=len(sources),
        # Ours is the sentence that names the sources.
        words=MOST_WORDS - count_words(name_sources(finding)),
        trouble=trouble,
    )


def validate_summary(finding: Finding, reply: str) -> ValidatedSummary:
    """Check a model's reply, without thinking, and return it or the extractive summary instead."""
    match = _VOLATILITY.search(reply)
    volatility = parse_volatility(match["word"]) if match else None
    body = _LABEL.sub("", _VOLATILITY.sub("", reply).strip())
    refused = find_problem(finding, body)
    if refused:
        # Who invents things may also invent how long they hold.
        return ValidatedSummary(extract_summary(finding), "text", None, refused)
    body = to_plain_line(_SOURCES_LINE.sub("", body.strip()))
    tail, ours = name_sources(finding), extract_summary(finding)
    body_part = fit_sentences(body, MOST_WORDS - count_words(tail))
    if not body_part:
        return ValidatedSummary(ours, "text", volatility, "empty" if not body else "too long")
    mine, wanted = (
        len(shared_facts(text, source_texts(finding), finding.language, finding.question))
        for text in (body_part, ours.removesuffix(tail))
    )
    if mine < wanted:
        # However well it reads, it says less.
        return ValidatedSummary(ours, "text", volatility, f"{mine} of {wanted} names and values", mine)
    return ValidatedSummary(f"{body_part} {tail}".strip(), "model", volatility, carried=mine)


def find_problem(finding: Finding, body: str) -> str:
    """Return what is wrong with a reply in a few words; empty if nothing is."""
    if not _WORD.search(body):
        return "empty"
    if _MARKUP.search(body):
        return "markup"
    if any(map(is_instruction, (body, *analyser.sentences(body)))):
        return "an order"
    wanted, language = finding.language, analyser.language_of(body)
    if language and language != wanted:
        return "language"
    text = _SOURCES_LINE.sub("", body)
    invented = next(find_invented(text, f"{finding.question}\n{source_texts(finding)}", wanted), "")
    if invented:
        return f"not in the sources: {invented}"
    return (
        "too short" if count_words(text) < min(_SHORTEST, count_words(extract_summary(finding)) / 4) else ""
    )


def source_texts(finding: Finding) -> str:
    """Return all texts, titles and names of a finding's sources."""
    return "\n".join(
        f"{source.title}\n{source.url}\n{source.name}\n{source.text}" for source in finding.usable
    )


def shared_facts(text: str, known: str, language: str, question: str = "") -> set[str]:
    """Return the names, numbers, days and months that a text shares with the known texts, each once.

    Facts that the question has already do not count.
    """
    days = (find_calendar_words(text) & find_calendar_words(known)) - find_calendar_words(question)
    numbers = (find_numbers(text) & find_numbers(known)) - find_numbers(question)
    names = find_names(text, language) & frozenset(analyser.terms(known)) - frozenset(
        analyser.terms(question)
    )
    return {
        *(f"{kind} {number}" for kind, number in days),
        *numbers,
        *(name for name in names if not _has_digit(name)),
    }


def find_invented(text: str, known: str, language: str) -> Iterator[str]:
    """Yield numbers, days, months and names that the known texts do not have."""
    numbers, calendar = find_numbers(known), find_calendar_words(known)
    parts = {part for number in numbers for part in re.split(r"[.,:-]", number)} | {
        part.lstrip("0") or "0" for number in _NUMBER.findall(known) for part in re.split(r"[.,:]", number)
    }
    parts |= {str(month) for kind, month in calendar if kind == "month"}
    for number in _NUMBER.findall(_WHEN.sub(lambda when: drop_known_date(when[0], parts), text)):
        if normalise_number(number) not in numbers:
            yield number
    yield from (f"{kind} {index}" for kind, index in sorted(find_calendar_words(text) - calendar))
    known_terms = frozenset(analyser.terms(known))
    yield from sorted(name for name in find_names(text, language) - known_terms if not _has_digit(name))


def find_names(text: str, language: str) -> frozenset[str]:
    names = analyser.telling(text)
    if language == "en":
        # Every German noun has a capital letter.
        names |= {analyser.terms(name)[0] for name in _INSIDE.findall(text) if analyser.terms(name)}
    return names - frozenset(analyser.terms(" ".join((*DAYS, *MONTHS))))


def _has_digit(name: str) -> bool:
    return any(sign.isdigit() for sign in name)


def drop_known_date(when: str, parts: set[str]) -> str:
    """Remove a date or time whose parts are all in the sources, perhaps in another notation."""
    is_known = all((part.lstrip("0") or "0") in parts or part in parts for part in re.split(r"[.:-]", when))
    return " " if is_known else when


def find_numbers(text: str) -> set[str]:
    return {normalise_number(number) for number in _NUMBER.findall(text)}


def normalise_number(text: str) -> str:
    """Return one notation for a number: 67.000 and 67,000 are 67000, and 1,5 is 1.5."""
    if _GROUPED.fullmatch(text):
        return re.sub("[.,]", "", text)
    return text.replace(",", ".").lstrip("0") or "0"


def find_calendar_words(text: str) -> set[tuple[str, int]]:
    small = [word.lower() for word in _WORD.findall(text)]
    days = {("day", DAYS[word]) for word in small if word in DAYS}
    # "may", "mar" and "sep" are also other things.
    return days | {("month", MONTHS[word]) for word in small if word in MONTHS and len(word) > 3}


def fit_sentences(body: str, most: int) -> str:
    """Return as many whole sentences from the beginning as fit."""
    sentences: list[str] = []
    for sentence in analyser.sentences(body):
        if count_words(" ".join((*sentences, sentence))) > most:
            break
        sentences.append(sentence)
    return " ".join(sentences)


def remove_fence(text: str) -> str:
    return text.replace(_FENCE, "= = =")
