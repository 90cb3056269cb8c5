"""What of the evidence stands in a request, where, and what it cost. Knows texts only, and no server."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from evals.evidence_data import Question
from evals.evidence_upstream import Json, count_tokens, text_of
from evals.retrieval_data import Doc

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_GRAM = 5
# A text is there when so much of it is; one with fewer words only when it is there whole.
_ENOUGH, _SHORT = 0.6, 8
# A quote was cut out of a text that has so much of the quote.
_CUT_OUT = 0.5
# Above what was recalled, in both languages.
_HEADING = re.compile(
    r"^(?:\[(?:From earlier|Von weiter oben|Aus früheren)[^\]]*\]"
    r"|(?:Relevant memories|Relevante Erinnerungen)[^\n]*:)\s*$",
    re.MULTILINE,
)
_SPEAKERS = "user|assistant|tool|Nutzer|Assistent|Werkzeug"
_LABELLED = re.compile(rf"^- (?=(?:\d{{4}}-\d\d-\d\d[,:]|(?:{_SPEAKERS}): ))", re.MULTILINE)
_BULLET = re.compile(r"^- ", re.MULTILINE)
_LABEL = re.compile(rf"^(?:\d{{4}}-\d\d-\d\d(?:, [^:\n]{{1,40}})?|{_SPEAKERS}): ")


class Passage:
    """A text in which others are looked for, whatever their case and punctuation."""

    def __init__(self, text: str) -> None:
        self.words = _WORD.findall(text.casefold().replace("’", "'"))

    @cached_property
    def flat(self) -> str:
        return f" {' '.join(self.words)} "

    @cached_property
    def grams(self) -> set[tuple[str, ...]]:
        return {tuple(self.words[at : at + _GRAM]) for at in range(len(self.words) - _GRAM + 1)}

    def has(self, other: "Passage") -> bool:
        if not other.words:
            return False
        return other.flat in self.flat if len(other.words) < _SHORT else self.share_of(other) >= _ENOUGH

    def share_of(self, other: "Passage") -> float:
        """How much of another text is in this one."""
        if not other.grams:
            return float(bool(other.words) and other.flat in self.flat)
        return len(self.grams & other.grams) / len(other.grams)


@dataclass(frozen=True, slots=True)
class Parts:
    """A request, taken apart. `added` is what stands around the question in its own message."""

    system: str
    history: str
    added: str
    snippets: Sequence[str]

    @property
    def places(self) -> Mapping[str, str]:
        return {"history": self.history, "system": self.system, "added": self.added}


def take_apart(messages: Sequence[Json], question: str) -> Parts:
    system = "\n".join(text_of(message) for message in messages if message["role"] == "system")
    talk = [text_of(message) for message in messages if message["role"] != "system"]
    added = talk[-1].replace(question, "", 1) if talk else ""
    return Parts(system, "\n".join(talk[:-1]), added, list(_snippets(added)))


def _snippets(added: str) -> Iterator[str]:
    """What was recalled, without dates and speakers, which tell snippets from lists inside of them."""
    headings = [*_HEADING.finditer(added)]
    ends = [*(heading.start() for heading in headings), len(added)]
    for heading, end in zip(headings, ends[1:], strict=True):
        block = added[heading.end() : end].strip()
        border = _LABELLED if _LABELLED.match(block) else _BULLET
        yield from (_LABEL.sub("", item.strip()) for item in border.split(block) if item.strip())


@dataclass(frozen=True, slots=True)
class Score:
    """What became of one question."""

    corpus: str
    id: str
    kind: str
    question: str
    # Where each piece of evidence is: "history", "system", "added", in "several" of them, or "" for nowhere.
    places: tuple[str, ...]
    # Share of it that is there, also where only a piece was cut out.
    touched: float
    # An outdated value is told, and the one that holds is not told with or after it.
    stale: bool
    tokens: int
    # Tokens around the question, and the quotes and memories among them.
    added: int
    snippets: int
    milliseconds: float
    error: str = ""
    # What was put there, for whoever wants to know why.
    brought: str = ""

    @property
    def gold(self) -> float:
        return sum(map(bool, self.places)) / len(self.places) if self.places else 0.0

    @property
    def whole(self) -> bool:
        return bool(self.places) and all(self.places)


def judge(
    corpus: str,
    question: Question,
    docs: Mapping[str, Doc],
    messages: Sequence[Json],
    tokens: int,
    milliseconds: float,
    error: str = "",
) -> Score:
    """No messages are a question that did not reach the model."""
    parts = take_apart(messages, question.text)
    texts = [Passage(docs[name].text) for name in question.gold]
    # Where words of an answer are known, they must be there; otherwise most of the message that has it.
    evidence = [Passage(answer) for answer in question.answers] or texts
    places = tuple(_place(parts, wanted, as_phrase=bool(question.answers)) for wanted in evidence)
    cut = [any(text.share_of(Passage(snippet)) >= _CUT_OUT for snippet in parts.snippets) for text in texts]
    touched = [bool(place) or piece for place, piece in zip(places, cut, strict=True)]
    return Score(
        corpus,
        question.id,
        question.kind,
        question.text,
        places,
        sum(touched) / len(touched) if touched else 0.0,
        bool(question.stale) and _tells_stale(parts, question),
        tokens,
        count_tokens(parts.added),
        len(parts.snippets),
        milliseconds,
        error,
        parts.added.strip(),
    )


def _place(parts: Parts, wanted: Passage, *, as_phrase: bool) -> str:
    def has(text: str) -> bool:
        passage = Passage(text)
        return wanted.flat in passage.flat if as_phrase else passage.has(wanted)

    for place, text in parts.places.items():
        if has(text):
            return place
    return "several" if has("\n".join((parts.system, parts.history, parts.added))) else ""


def _tells_stale(parts: Parts, question: Question) -> bool:
    """By lines: "no longer X but Y" tells Y, and so does X with Y further down."""
    stale, current = Passage(question.stale).flat, [Passage(answer).flat for answer in question.answers]
    last_stale = last_current = -1
    lines = [
        (place, line) for place in ("system", "history", "added") for line in parts.places[place].splitlines()
    ]
    for at, (place, line) in enumerate(lines):
        flat = Passage(line).flat
        # What stands in the history as it was said is not told by anybody else.
        if place != "history" and stale in flat:
            last_stale = at
        if any(answer in flat for answer in current):
            last_current = at
    return last_stale > last_current
