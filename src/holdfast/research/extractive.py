"""A summary made of the sources' own sentences: at most 100 words, something of every source, no model.

The sentences that have most of the question, of names, numbers and dates are taken, and what only repeats
another is not. Knows texts, no files.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

from holdfast import words
from holdfast.patterns import late
from holdfast.research.finding import Finding
from holdfast.research.quoting import is_instruction

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
_BOILERPLATE = late(
    r"\b(?:cookies?|datenschutz\w*|impressum|newsletter|abonnier\w*|subscribe|sign up|log ?in|anmelden"
    r"|einloggen|registrier\w*|privacy policy|terms of (?:use|service)|all rights reserved"
    r"|alle rechte vorbehalten|javascript|werbung|anzeige|advertis\w*|share this|teilen|folgen sie|follow us"
    r"|read more|weiterlesen|mehr erfahren|click here|hier klicken|copyright|©)",
    re.IGNORECASE,
)
_FIGURE = late(r"\d+(?:[.,:]\d+)*")
_DATE = late(
    r"\b\d{1,2}\.\s?(?:\d{1,2}\.|[A-ZÄ]\w{2,8})|\b\d{4}-\d{2}-\d{2}\b|\b(?:19|20)\d{2}\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|wochenende)\b",
    re.IGNORECASE,
)
_CAPITALISED = late(r"(?<=[a-zäöüß,] )[A-ZÄÖÜ][\w-]+")


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
    """Words, as people count them: what stands between spaces."""
    return len(text.split())


def name_sources(finding: Finding) -> str:
    """The sentence that names the sources; none where there are none."""
    told = "Quellen" if finding.language == "de" else "Sources"
    return f"{told}: {', '.join(finding.names)}." if finding.names else ""


def extract_summary(finding: Finding) -> str:
    """What the sources of a finding say about its question, in their own words, and their names."""
    tail = name_sources(finding)
    room = MOST_WORDS - count_words(tail)
    texts = [source.text for source in finding.usable]
    chosen = _choose(_score_all(finding.question, texts), len(texts), room)
    quotes = (_end_sentence(one.text) for one in sorted(chosen, key=lambda one: (one.source, one.place)))
    return " ".join(filter(None, (*quotes, tail)))


def _choose(sentences: Sequence[_Sentence], sources: int, room: int) -> list[_Sentence]:
    """First one of every source, within its share of the room; then the best of the rest."""
    best = sorted(sentences, key=lambda one: (-one.score, one.source, one.place))
    chosen: list[_Sentence] = []
    for source in range(sources):
        share = room // (sources - source)
        theirs = [one for one in best if one.source == source]
        first = _choose_first(theirs, chosen, share)
        if first is not None:
            chosen.append(first)
            room -= first.length
    for one in best:
        if one.length <= room and one.score > 0 and not _repeats(one, chosen):
            chosen.append(one)
            room -= one.length
    return chosen


def _choose_first(theirs: Sequence[_Sentence], chosen: Sequence[_Sentence], share: int) -> _Sentence | None:
    if not theirs or share < _LEAST:
        return None
    new = [one for one in theirs if not _repeats(one, chosen)]
    # What others say in other words still has its say; what they say word for word has had it.
    new = new or [one for one in theirs if not _is_quoted(one, chosen)]
    if not new:
        return None
    whole = next((one for one in new if one.length <= share), None)
    # A good sentence in part is worth more than a poor one whole.
    if whole is not None and 2 * whole.score >= new[0].score:
        return whole
    return _clip(new[0], share)


def _clip(sentence: _Sentence, most: int) -> _Sentence:
    told = sentence.text.split()
    text = sentence.text if len(told) <= most else f"{' '.join(told[:most]).rstrip(',;:–-')}…"
    return _Sentence(text, sentence.source, sentence.place, sentence.terms, sentence.score)


def _repeats(sentence: _Sentence, chosen: Sequence[_Sentence]) -> bool:
    return _is_quoted(sentence, chosen) or any(
        len(sentence.terms & one.terms) >= _ALIKE * max(1, min(len(sentence.terms), len(one.terms)))
        for one in chosen
    )


def _is_quoted(sentence: _Sentence, chosen: Sequence[_Sentence]) -> bool:
    """Word for word, or as far as the one that is there was cut."""
    return any(sentence.text.startswith(one.text.removesuffix("…")) for one in chosen)


def _score_all(question: str, texts: Sequence[str]) -> list[_Sentence]:
    asked = frozenset(words.terms(question))
    found = [one for source, text in enumerate(texts) for one in _read_sentences(text, source)]
    having = Counter(term for one in found for term in one.terms & asked)
    weights = {term: log(1 + len(found) / having[term]) for term in having}
    return [
        _Sentence(one.text, one.source, one.place, one.terms, _score_sentence(one, weights))
        for one in (_clip(one, _LONGEST) for one in found)
    ]


def _score_sentence(sentence: _Sentence, weights: Mapping[str, float]) -> float:
    text = sentence.text
    worth = sum(weights.get(term, 0.0) for term in sentence.terms)
    worth += 0.3 * min(3, len(_FIGURE.findall(text))) + 0.4 * bool(_DATE.search(text))
    worth += 0.15 * min(4, len(_CAPITALISED.findall(text)))
    worth += 0.5 / (1 + sentence.place / 5)
    # Lines of a menu end with no sign.
    if not text.endswith((".", "!", "?", "…", ":", ")", '"', "“", "”")):
        worth *= 0.5
    return worth / (1 + log(1 + sentence.length / 15))


def _read_sentences(text: str, source: int) -> Iterator[_Sentence]:
    place = 0
    for told in words.sentences(text[:_READ])[:_SENTENCES]:
        plain = _strip_marks(told)
        if count_words(plain) >= _FEWEST and not told.startswith(("```", "~~~")) and not _is_noise(plain):
            yield _Sentence(plain, source, place, frozenset(words.terms(plain)))
            place += 1
    # A source that has no sentence still has words.
    rest = " ".join(_strip_marks(told) for told in words.sentences(text[:2_000])) if not place else ""
    plain = " ".join(one for one in words.sentences(rest) if not is_instruction(one))
    if plain and not is_instruction(plain):
        yield _Sentence(plain, source, 0, frozenset(words.terms(plain)))


def _is_noise(sentence: str) -> bool:
    return bool(_BOILERPLATE.search(sentence)) or is_instruction(sentence)


def _strip_marks(text: str) -> str:
    without = _MARKS.sub("", text)
    shown = "".join(sign for sign in without if unicodedata.category(sign)[0] != "C" or sign.isspace())
    return " ".join(shown.split())


def _end_sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text.rstrip(',;:')}."
