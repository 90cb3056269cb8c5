"""The sentences of a span, sorted by what they are for: asked, aimed at, done, left open, forbidden.

Who said a sentence and its cues decide. How much of it all there is room for is not known here.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from holdfast import words
from holdfast.compaction.cues import Cues
from holdfast.compaction.salience import Line
from holdfast.compaction.summary import shortened
from holdfast.patterns import late
from holdfast.text.statements import statements_in
from holdfast.window.borders import fences
from holdfast.window.items import Item
from holdfast.window.own_words import own_sentences

LONGEST_LINE = 240
_LONGEST_REQUEST = 180
_FEWEST_WORDS = 4
_FEWEST_TERMS = 3
_WHOLE_SENTENCE = 8
# `own_sentences` gives no longer ones, and of longer messages only the ends.
_LONGEST_OWN = 200
_LONG_MESSAGE = 2_000
# A line's ends tell whether it is prose.
_GLANCE = 200

# What speaks for a sentence beside its words.
REPORTED = 1.5
_OF_A_PERSON = 1.5
_PASTED = 0.5
_SAID = 0.6
_RULE = 3.0
# The last sentence of a span has so much more than the first.
_NEWEST = 0.5

_LISTED = late(r"^(?:[-*•–+>] +|\(?\d{1,2}[.)] +|\*\*(?=\d))+")
# "**Test**: run the suite" is a point of a lecture.
_LECTURE = late(r"\*\*[^*\n]{2,80}\*\*:?(?: |$)")
# A line break where an editor wrapped.
_WRAPPED = late(r"^([^\n]{50,120}[\w,])\n(?=[^\W\d_])", re.MULTILINE)
# Tables, markup, code, JSON, rulers, output of programs.
_NO_PROSE = late(r"^[#|<{}\[$@=]|[{};,]$|\.{5}|[-=_#*]{5}|^\W*$|\x1b|^(?>.*?\w\().*\)$|^(?>.*? = ).*\(")


@dataclass(slots=True)
class Sorted:
    """What a span says, by section; `rest` is what is better than nothing.

    `unanswered` is the request nobody has answered yet, `answered` whether anybody answered anything.
    """

    requests: list[Line] = field(default_factory=list)
    aims: list[Line] = field(default_factory=list)
    goals: list[Line] = field(default_factory=list)
    done: list[Line] = field(default_factory=list)
    open: list[Line] = field(default_factory=list)
    must_not: list[Line] = field(default_factory=list)
    rest: list[Line] = field(default_factory=list)
    unanswered: str = ""
    answered: bool = False


def sort(items: Sequence[Item]) -> Sorted:
    found = Sorted()
    place = 0
    for number, item in enumerate(items):
        recent = 1 + _NEWEST * (number + 1) / len(items)
        text = item.message.text
        if item.is_question:
            found.unanswered = _sort_person(found, text, place, recent) or found.unanswered
        elif item.message.role == "assistant":
            _sort_model(found, text, place, recent)
            found.answered, found.unanswered = True, ""
        elif item.message.role != "system":
            found.rest += (_line(sentence, place, recent) for sentence in _prose(text))
        # Places only have to rise; no message has more sentences than characters.
        place += len(text) + 1
    return found


def _sort_person(found: Sorted, text: str, place: int, recent: float) -> str:
    """Sorts what a person said; gives back what they asked for."""
    own = dict.fromkeys(sentence for sentence, _ in own_sentences(text))
    stated = _stated(text)
    asks: list[Line] = []
    aims: list[Line] = []
    for sentence in [*own, *(other for other in _prose(text) if other not in own)]:
        place += 1
        line, cue = _line(sentence, place, recent), Cues.of(sentence)
        kind = stated.get(sentence, "")
        if kind == "must_not":
            found.must_not.append(replace(line, factor=_RULE * recent))
            continue
        if kind == "done" and not cue.aims and not cue.names_goal:
            found.done.append(replace(line, factor=_OF_A_PERSON * recent))
            continue
        if cue.length < _FEWEST_WORDS or (cue.is_idle and not cue.asks) or not _is_prose(sentence):
            continue
        # A long sentence is not among a person's own, and theirs all the same unless the text is a paste.
        if sentence not in own and (len(sentence) < _LONGEST_OWN or len(text) > _LONG_MESSAGE):
            found.done.append(replace(line, factor=_PASTED * recent))
            continue
        wish = replace(line, text=shortened(line.text, _LONGEST_REQUEST))
        if cue.aims:
            found.aims.append(wish)
        if cue.names_goal:
            found.goals.append(wish)
        if cue.asks or cue.aims:
            (asks if cue.asks else aims).append(wish)
        elif cue.tells_failure or cue.forbids:
            found.must_not.append(line)
        elif cue.leaves_open:
            found.open.append(line)
        elif not sentence.endswith(":"):
            found.done.append(replace(line, factor=_OF_A_PERSON * recent))
    # Who says what they are after, and no more, wants something done about it. "Can you check again?" says
    # nothing once its occasion is gone.
    requests = [line for line in asks or aims[:1] if len(line.terms) > 1]
    found.requests += requests
    return requests[-1].text if requests else ""


def _stated(text: str) -> dict[str, str]:
    """The sections of the sentences that state something: what binds, and what is known or decided."""
    sentences = list(own_sentences(text))
    found: dict[str, str] = {}
    for one in statements_in([masked for _, masked in sentences]):
        sentence = sentences[one.sentence][0]
        binds = one.kind in ("rule", "prohibition", "failure") or sentence.endswith("?")
        if binds and (one.lasting or one.kind != "preference"):
            found[sentence] = "must_not"
        elif 2 * (one.end - one.start) > len(sentence):
            # Where a wish is most of the sentence, it is a request.
            found.setdefault(sentence, "done")
    return found


def _sort_model(found: Sorted, text: str, place: int, recent: float) -> None:
    for sentence in _prose(text):
        place += 1
        line, cue = _line(sentence, place, recent), Cues.of(sentence)
        too_short = len(line.terms) < _FEWEST_TERMS or cue.length <= _FEWEST_WORDS
        if too_short or cue.is_question or cue.is_idle or sentence.endswith(":"):
            found.rest.append(line)
        elif cue.asks or _LECTURE.match(sentence):
            # What a model tells people to do is advice: neither done nor open.
            found.rest.append(line)
        elif cue.tells_failure:
            found.must_not.append(replace(line, factor=_SAID * recent))
        elif cue.leaves_open:
            found.open.append(line)
        else:
            worth = REPORTED if cue.reports else _SAID
            # A line of a form says little without the others.
            found.done.append(replace(line, factor=recent * worth * min(1.0, cue.length / _WHOLE_SENTENCE)))


def _prose(text: str) -> Iterator[str]:
    """The sentences outside code, tables and headings, without the signs of a list."""
    done = 0
    for start, end in [*fences(text), (len(text), len(text))]:
        for sentence in words.sentences(_WRAPPED.sub(r"\1 ", text[done:start])):
            bare = _LISTED.sub("", sentence)
            if bare and _is_prose(bare):
                yield bare
        done = end


def _is_prose(line: str) -> bool:
    ends = line if len(line) <= 2 * _GLANCE else f"{line[:_GLANCE]} {line[-_GLANCE:]}"
    return not _NO_PROSE.search(ends)


def _line(sentence: str, place: int, factor: float) -> Line:
    # Longer than a line by what may be white space and signs in it.
    plain = " ".join(sentence[: 2 * LONGEST_LINE].replace("**", "").split())
    return Line.of(shortened(plain, LONGEST_LINE), place, factor)
