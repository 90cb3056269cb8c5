"""The sentences of a span, sorted by what they are for: asked, aimed at, done, left open, forbidden.

Who said a sentence and its cues decide. How much of it all there is room for is not known here.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from holdfast import words
from holdfast.compaction.cues import Cues
from holdfast.compaction.salience import ScoredSentence
from holdfast.compaction.summary import shorten_line
from holdfast.patterns import late
from holdfast.text.statements import statements_in
from holdfast.window.borders import fences
from holdfast.window.items import Item
from holdfast.window.own_words import own_sentences

LONGEST_LINE = 240
_LONGEST_REQUEST = 180
_FEWEST_WORDS = 4
_FEWEST_TERMS = 3
_SENTENCE_LENGTH = 8
# `own_sentences` gives no longer ones, and of longer messages only the ends.
_LONGEST_OWN = 200
_LONG_MESSAGE = 2_000
# A line's ends tell whether it is prose.
_LINE_END = 200

# What speaks for a sentence beside its words.
REPORT_WEIGHT = 1.5
_USER_WEIGHT = 1.5
_PASTE_WEIGHT = 0.5
_ANSWER_WEIGHT = 0.6
_RULE_WEIGHT = 3.0
# The last sentence of a span has so much more than the first.
_RECENCY_BONUS = 0.5

_LIST_MARKER = late(r"^(?:[-*•–+>] +|\(?\d{1,2}[.)] +|\*\*(?=\d))+")
# "**Test**: run the suite" is a point of a lecture.
_LECTURE_POINT = late(r"\*\*[^*\n]{2,80}\*\*:?(?: |$)")
# A line break where an editor wrapped.
_WRAPPED_LINE = late(r"^([^\n]{50,120}[\w,])\n(?=[^\W\d_])", re.MULTILINE)
# Tables, markup, code, JSON, rulers, output of programs.
_NO_PROSE = late(r"^[#|<{}\[$@=]|[{};,]$|\.{5}|[-=_#*]{5}|^\W*$|\x1b|^(?>.*?\w\().*\)$|^(?>.*? = ).*\(")


@dataclass(slots=True)
class SortedSentences:
    """What a span says, by section; `rest` is what is better than nothing.

    `unanswered` is the request nobody has answered yet, `answered` whether anybody answered anything.
    """

    requests: list[ScoredSentence] = field(default_factory=list)
    aims: list[ScoredSentence] = field(default_factory=list)
    goals: list[ScoredSentence] = field(default_factory=list)
    done: list[ScoredSentence] = field(default_factory=list)
    open: list[ScoredSentence] = field(default_factory=list)
    must_not: list[ScoredSentence] = field(default_factory=list)
    rest: list[ScoredSentence] = field(default_factory=list)
    unanswered: str = ""
    answered: bool = False


def sort_sentences(items: Sequence[Item]) -> SortedSentences:
    result = SortedSentences()
    place = 0
    for number, item in enumerate(items):
        recent = 1 + _RECENCY_BONUS * (number + 1) / len(items)
        text = item.message.text
        if item.is_question:
            result.unanswered = _sort_user_message(result, text, place, recent) or result.unanswered
        elif item.message.role == "assistant":
            _sort_answer(result, text, place, recent)
            result.answered, result.unanswered = True, ""
        elif item.message.role != "system":
            result.rest += (_score_sentence(sentence, place, recent) for sentence in _prose_sentences(text))
        # Places only have to rise; no message has more sentences than characters.
        place += len(text) + 1
    return result


def _sort_user_message(result: SortedSentences, text: str, place: int, recent: float) -> str:
    """Sorts what a person said; gives back what they asked for."""
    own = dict.fromkeys(sentence for sentence, _ in own_sentences(text))
    section_of = _classify_statements(text)
    asks: list[ScoredSentence] = []
    aims: list[ScoredSentence] = []
    for sentence in [*own, *(other for other in _prose_sentences(text) if other not in own)]:
        place += 1
        line, cue = _score_sentence(sentence, place, recent), Cues.of(sentence)
        kind = section_of.get(sentence, "")
        if kind == "must_not":
            result.must_not.append(replace(line, factor=_RULE_WEIGHT * recent))
            continue
        if kind == "done" and not cue.aims and not cue.names_goal:
            result.done.append(replace(line, factor=_USER_WEIGHT * recent))
            continue
        if cue.length < _FEWEST_WORDS or (cue.is_idle and not cue.asks) or not _is_prose(sentence):
            continue
        # A long sentence is not among a person's own, and theirs all the same unless the text is a paste.
        if sentence not in own and (len(sentence) < _LONGEST_OWN or len(text) > _LONG_MESSAGE):
            result.done.append(replace(line, factor=_PASTE_WEIGHT * recent))
            continue
        wish = replace(line, text=shorten_line(line.text, _LONGEST_REQUEST))
        if cue.aims:
            result.aims.append(wish)
        if cue.names_goal:
            result.goals.append(wish)
        if cue.asks or cue.aims:
            (asks if cue.asks else aims).append(wish)
        elif cue.tells_failure or cue.forbids:
            result.must_not.append(line)
        elif cue.leaves_open:
            result.open.append(line)
        elif not sentence.endswith(":"):
            result.done.append(replace(line, factor=_USER_WEIGHT * recent))
    # Who says what they are after, and no more, wants something done about it. "Can you check again?" says
    # nothing once its occasion is gone.
    requests = [line for line in asks or aims[:1] if len(line.terms) > 1]
    result.requests += requests
    return requests[-1].text if requests else ""


def _classify_statements(text: str) -> dict[str, str]:
    """The sections of the sentences that state something: what binds, and what is known or decided."""
    sentences = list(own_sentences(text))
    sections: dict[str, str] = {}
    for statement in statements_in([masked for _, masked in sentences]):
        sentence = sentences[statement.sentence][0]
        binds = statement.kind in ("rule", "prohibition", "failure") or sentence.endswith("?")
        if binds and (statement.lasting or statement.kind != "preference"):
            sections[sentence] = "must_not"
        elif 2 * (statement.end - statement.start) > len(sentence):
            # Where a wish is most of the sentence, it is a request.
            sections.setdefault(sentence, "done")
    return sections


def _sort_answer(result: SortedSentences, text: str, place: int, recent: float) -> None:
    for sentence in _prose_sentences(text):
        place += 1
        line, cue = _score_sentence(sentence, place, recent), Cues.of(sentence)
        too_short = len(line.terms) < _FEWEST_TERMS or cue.length <= _FEWEST_WORDS
        if too_short or cue.is_question or cue.is_idle or sentence.endswith(":"):
            result.rest.append(line)
        elif cue.asks or _LECTURE_POINT.match(sentence):
            # What a model tells people to do is advice: neither done nor open.
            result.rest.append(line)
        elif cue.tells_failure:
            result.must_not.append(replace(line, factor=_ANSWER_WEIGHT * recent))
        elif cue.leaves_open:
            result.open.append(line)
        else:
            worth = REPORT_WEIGHT if cue.reports else _ANSWER_WEIGHT
            # A line of a form says little without the others.
            result.done.append(replace(line, factor=recent * worth * min(1.0, cue.length / _SENTENCE_LENGTH)))


def _prose_sentences(text: str) -> Iterator[str]:
    """The sentences outside code, tables and headings, without the signs of a list."""
    done = 0
    for start, end in [*fences(text), (len(text), len(text))]:
        for sentence in words.sentences(_WRAPPED_LINE.sub(r"\1 ", text[done:start])):
            bare = _LIST_MARKER.sub("", sentence)
            if bare and _is_prose(bare):
                yield bare
        done = end


def _is_prose(line: str) -> bool:
    ends = line if len(line) <= 2 * _LINE_END else f"{line[:_LINE_END]} {line[-_LINE_END:]}"
    return not _NO_PROSE.search(ends)


def _score_sentence(sentence: str, place: int, factor: float) -> ScoredSentence:
    # Longer than a line by what may be white space and signs in it.
    plain = " ".join(sentence[: 2 * LONGEST_LINE].replace("**", "").split())
    return ScoredSentence.of(shorten_line(plain, LONGEST_LINE), place, factor)
