"""Summarises without a model: chooses sentences of the span verbatim and merges them with the last summary.

Sentences are sorted into sections by who said them and by their cues, and chosen by the weight of their
terms, their age and what other sentences already say. Changed files and failed calls are read from tool
calls. Deterministic and linear.
"""

import heapq
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from holdfast.compaction.summary import Summary, is_statement, shorten_line
from holdfast.messages import ToolCall
from holdfast.text import analyser
from holdfast.text.lang import any_word, by_language
from holdfast.text.patterns import late
from holdfast.text.slots import compare, tells_change, touches
from holdfast.text.statements import statements_in
from holdfast.window.items import Item, match_results
from holdfast.window.rules import own_sentences
from holdfast.window.shorten import fences

_WORD = late(r"[\w'-]+")
# Characters of a sentence that are read.
_GLANCE = 300
_QUESTION = late(r"\?[\"'”“)*_ ]*$")


@dataclass(frozen=True, slots=True)
class Cues:
    """The words of a sentence in lower case, with one space before each and one at the end.

    `length` does not count numbers.
    """

    plain: str
    length: int
    is_question: bool

    @classmethod
    def of(cls, sentence: str) -> "Cues":
        tokens = _WORD.findall(sentence[:_GLANCE].lower().replace("’", "'"))
        length = sum(word[0].isalpha() for word in tokens)
        return cls(f" {' '.join(tokens)} ", length, bool(_QUESTION.search(sentence[-_GLANCE:])))

    @property
    def asks(self) -> bool:
        return self.is_question or self.commands or bool(_ASKS.search(self.plain))

    @property
    def aims(self) -> bool:
        return bool(_AIMS.search(self.plain))

    @property
    def names_goal(self) -> bool:
        """Whether the sentence names a goal explicitly; it may replace an earlier goal."""
        return not self.is_question and bool(_GOAL.search(self.plain))

    @property
    def commands(self) -> bool:
        return bool(_COMMANDS.match(self.plain))

    @property
    def reports(self) -> bool:
        return bool(_REPORTS.search(self.plain) or _REPORTED.match(self.plain))

    @property
    def leaves_open(self) -> bool:
        return not self.is_question and bool(_OPEN.search(self.plain))

    @property
    def tells_failure(self) -> bool:
        return not self.is_question and bool(_FAILED.search(self.plain))

    @property
    def forbids(self) -> bool:
        """Whether the sentence forbids something this once; lasting rules are found by `window.rules`."""
        return not self.is_question and bool(_FORBIDS.match(self.plain) or _FORBIDDEN.search(self.plain))

    @property
    def is_idle(self) -> bool:
        """Whether the sentence is mere politeness or an announcement."""
        return bool(_IDLE.match(self.plain))


def _any(name: str, before: str = " ") -> re.Pattern[str]:
    """Returns a pattern for the phrases of a list, in any language.

    All begin with a space, which makes searching a long span fast.
    """
    return late(rf"{before}{any_word(name)}(?= )")


_OPENING = f" (?:{any_word('OPENERS')} ){{0,3}}"
_COMMANDS = _any("COMMANDS", _OPENING)
_ASKS = _any("ASKS")
_AIMS = _any("AIMS")
_GOAL = _any("GOALS")
_REPORTS = _any("REPORTS")
_REPORTED = _any("REPORT_OPENINGS")
_OPEN = _any("OPEN_POINTS")
_FAILED = _any("FAILURES")
_FORBIDS = _any("PROHIBITION_OPENINGS", _OPENING)
_FORBIDDEN = _any("PROHIBITIONS")
_IDLE = _any("COURTESIES")


# Only so many best lines are considered; a choice never needs nearly as many.
_MOST_CANDIDATES = 240
# A line of which a smaller share is new is redundant.
_LEAST_NOVELTY = 0.4
_NAME_SIGNS = frozenset("./\\:@#_-0123456789")
_NAME_WEIGHT = 1.6
# Keeps short lines from winning by one rare word, and long ones by their number of words.
_LENGTH_SMOOTHING = 4


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence and its place; `factor` is its weight apart from its terms."""

    text: str
    place: int
    factor: float = 1.0
    terms: frozenset[str] = field(default=frozenset(), compare=False)

    @classmethod
    def of(cls, text: str, place: int, factor: float = 1.0) -> "ScoredSentence":
        return cls(text, place, factor, frozenset(analyser.terms(text)))


class SalienceWeights:
    """The weight of each term, computed from all lines of a span."""

    def __init__(self, lines: Iterable[Collection[str]]) -> None:
        known: Counter[str] = Counter()
        total = 0
        for terms in lines:
            known.update(terms)
            total += 1
        self._weights = {term: self._weigh(term, number, total) for term, number in known.items()}
        self._unknown = math.log(1 + total) if total else 1.0

    @staticmethod
    def _weigh(term: str, number: int, total: int) -> float:
        # Terms that occur more than once but not everywhere are what the conversation is about.
        weight = math.log(1 + number) * math.log(1 + total / number)
        return weight * _NAME_WEIGHT if not _NAME_SIGNS.isdisjoint(term) else weight

    def total(self, terms: Iterable[str]) -> float:
        return sum(self._weights.get(term, self._unknown) for term in terms)

    def gain(self, line: ScoredSentence, covered: Collection[str]) -> float:
        """Returns how much a line adds to the terms in `covered`."""
        new = self.total(term for term in line.terms if term not in covered)
        return line.factor * new / math.sqrt(_LENGTH_SMOOTHING + len(line.terms))


def choose_sentences(
    lines: Sequence[ScoredSentence],
    weights: SalienceWeights,
    covered: set[str],
    cost: Callable[[str], int],
    room: int,
) -> list[ScoredSentence]:
    """Returns the lines that add the most within the room, ordered by place.

    Their terms are added to `covered`.
    """
    best = heapq.nlargest(_MOST_CANDIDATES, lines, key=lambda line: (weights.gain(line, ()), line.place))
    whole = {line: weights.gain(line, ()) for line in best}
    chosen: list[ScoredSentence] = []
    # Gains only shrink as more is covered, so the first whose gain equals its heap entry is the best.
    heap = [(-whole[line], number) for number, line in enumerate(best)]
    heapq.heapify(heap)
    while heap and room > 0:
        expected, number = heapq.heappop(heap)
        line = best[number]
        gain = weights.gain(line, covered)
        if gain < _LEAST_NOVELTY * whole[line] or gain <= 0:
            continue
        if gain < -expected - 1e-9:
            heapq.heappush(heap, (-gain, number))
            continue
        tokens = cost(line.text)
        if tokens <= room:
            room -= tokens
            chosen.append(line)
            covered |= line.terms
    return sorted(chosen, key=lambda line: line.place)


LONGEST_LINE = 240
_LONGEST_REQUEST = 180
_FEWEST_WORDS = 4
_FEWEST_TERMS = 3
_SENTENCE_LENGTH = 8
# Limits of `own_sentences`: the longest sentence, and the message of which only the ends are read.
_LONGEST_OWN = 200
_LONG_MESSAGE = 2_000
# Characters at each end of a line that show whether it is prose.
_LINE_END = 200

# Weights of a sentence apart from its terms.
REPORT_WEIGHT = 1.5
_USER_WEIGHT = 1.5
_PASTE_WEIGHT = 0.5
_ANSWER_WEIGHT = 0.6
_RULE_WEIGHT = 3.0
# What the user stated outweighs what a model reports.
_STATEMENT_WEIGHT = 4.0
# How much more the newest sentence of a span weighs than the oldest.
_RECENCY_BONUS = 0.5

_LIST_MARKER = late(r"^(?:[-*•–+>] +|\(?\d{1,2}[.)] +|\*\*(?=\d))+")
# "**Test**: run the suite" is an item of a lecture.
_LECTURE_POINT = late(r"\*\*[^*\n]{2,80}\*\*:?(?: |$)")
# A line break inserted by an editor.
_WRAPPED_LINE = late(r"^([^\n]{50,120}[\w,])\n(?=[^\W\d_])", re.MULTILINE)
# Tables, markup, code, JSON, rulers, output of programs.
_NO_PROSE = late(r"^[#|<{}\[$@=]|[{};,]$|\.{5}|[-=_#*]{5}|^\W*$|\x1b|^(?>.*?\w\().*\)$|^(?>.*? = ).*\(")


@dataclass(slots=True)
class SortedSentences:
    """The sentences of a span by section; `rest` is used if there is nothing else.

    `unanswered` is the last request without an answer, `match_results` whether there was any answer.
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
        # Places only have to increase; no message has more sentences than characters.
        place += len(text) + 1
    return result


def _sort_user_message(result: SortedSentences, text: str, place: int, recent: float) -> str:
    """Sorts the sentences of a user message; returns its last request."""
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
            result.done.append(replace(line, factor=_STATEMENT_WEIGHT * recent))
            continue
        if cue.length < _FEWEST_WORDS or (cue.is_idle and not cue.asks) or not _is_prose(sentence):
            continue
        # `own_sentences` skips long sentences; they count as the user's own unless the text is a paste.
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
    # An aim without a question is a request, too. "Can you check again?" means nothing without its occasion.
    requests = [line for line in asks or aims[:1] if len(line.terms) > 1]
    result.requests += requests
    return requests[-1].text if requests else ""


def _classify_statements(text: str) -> dict[str, str]:
    """Maps sentences that state something to `must_not` (rules) or `done` (facts and decisions)."""
    sentences = list(own_sentences(text))
    sections: dict[str, str] = {}
    for statement in statements_in(tuple(masked for _, masked in sentences)):
        sentence = sentences[statement.sentence][0]
        binds = statement.kind in ("rule", "prohibition", "failure") or sentence.endswith("?")
        if binds and (statement.lasting or statement.kind != "preference"):
            sections[sentence] = "must_not"
        elif 2 * (statement.end - statement.start) > len(sentence):
            # A statement that is only a small part of its sentence does not decide the section.
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
            # What a model tells the user to do is advice: neither done nor open.
            result.rest.append(line)
        elif cue.tells_failure:
            result.must_not.append(replace(line, factor=_ANSWER_WEIGHT * recent))
        elif cue.leaves_open:
            result.open.append(line)
        else:
            worth = REPORT_WEIGHT if cue.reports else _ANSWER_WEIGHT
            # A short line, as of a form, says little on its own.
            result.done.append(replace(line, factor=recent * worth * min(1.0, cue.length / _SENTENCE_LENGTH)))


def _prose_sentences(text: str) -> Iterator[str]:
    """Yields the sentences outside of code, tables and headings, without list markers."""
    done = 0
    for start, end in [*fences(text), (len(text), len(text))]:
        for sentence in analyser.sentences(_WRAPPED_LINE.sub(r"\1 ", text[done:start])):
            bare = _LIST_MARKER.sub("", sentence)
            if bare and _is_prose(bare):
                yield bare
        done = end


def _is_prose(line: str) -> bool:
    ends = line if len(line) <= 2 * _LINE_END else f"{line[:_LINE_END]} {line[-_LINE_END:]}"
    return not _NO_PROSE.search(ends)


def _score_sentence(sentence: str, place: int, factor: float) -> ScoredSentence:
    # Twice the length, since white space and markup are removed.
    plain = " ".join(sentence[: 2 * LONGEST_LINE].replace("**", "").split())
    return ScoredSentence.of(shorten_line(plain, LONGEST_LINE), place, factor)


_WRITING_TOOL = late(
    r"(?i)(?:write|edit|create|patch|replace|insert|append|update|delete|remove|rename|move|save|modify)"
)
_FILE_KEYS = (
    "path",
    "file_path",
    "filepath",
    "filePath",
    "file",
    "filename",
    "target_file",
    "absolute_path",
    "notebook_path",
)
_COMMAND_KEYS = ("command", "cmd", "script", "query", "url")
_PATCHED_FILE = late(r"\*\*\* (?:Update|Add|Delete) File: ([^\n\\\"]{1,200})")
_ERROR = late(
    r"(?i)^\W*(?:error\b|fatal\b|traceback|exception\b|fehler\b|failed\b|failure\b|\w*(?:error|exception):"
    r"|(?:command|process) (?:failed|exited with)|exit (?:code|status):? [1-9]|permission denied|no such file"
    r"|not found\b|cannot |could not |unable to )|\bcommand not found\b|\bexit(?:ed with)? code:? [1-9]"
)
_ERROR_LINE = late(r"(?i)(?:(?:error|exception|fehler)\b|fatal|failed|denied|not found|cannot|could not)")
# A failed program reports it at the beginning or the end of its output.
_RESULT_END = 400
_LONGEST_TARGET = 80
_LONGEST_REASON = 140


@dataclass(frozen=True, slots=True)
class ToolEffect:
    """A tool call with a result: its target, and the error line if it failed."""

    name: str
    file: str
    target: str
    error: str
    place: int

    @property
    def label(self) -> str:
        return f"{self.name} {self.target}".strip()


def find_tool_effects(items: Sequence[Item]) -> list[ToolEffect]:
    """Returns the calls of a span that have a result, in order."""
    effects: list[ToolEffect] = []
    for place, item in enumerate(items):
        if not item.message.tool_calls:
            continue
        answers = takewhile(lambda later: later.message.tool_results, items[place + 1 : place + 65])
        for result, call in match_results(item.message, [answer.message for answer in answers]):
            if call is not None:
                trouble = _find_error(result.text, flagged=result.error)
                effects += (
                    ToolEffect(call.name, file, target, trouble, place)
                    for file, target in _parse_targets(call)
                )
    return effects


def list_changed_files(effects: Sequence[ToolEffect]) -> list[str]:
    """Returns the files that were written, each once, the newest last."""
    changed = [
        effect.file
        for effect in effects
        if effect.file and not effect.error and _WRITING_TOOL.search(effect.name)
    ]
    return list(dict.fromkeys(reversed(changed)))[::-1]


def list_failures(effects: Sequence[ToolEffect]) -> list[ToolEffect]:
    """Returns the failed calls that did not succeed later, the newest of each."""
    last = {effect.label: effect for effect in effects}
    return [effect for effect in last.values() if effect.error]


def list_successes(effects: Sequence[ToolEffect]) -> set[str]:
    last = {effect.label: effect for effect in effects}
    return {label for label, effect in last.items() if not effect.error}


def _parse_targets(call: ToolCall) -> Iterator[tuple[str, str]]:
    if patched := _PATCHED_FILE.findall(call.arguments):
        yield from ((file.strip(), file.strip()) for file in patched)
        return
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        yield "", ""
        return
    texts = {key: value for key, value in arguments.items() if isinstance(value, str) and value.strip()}
    file = next((texts[key].strip() for key in _FILE_KEYS if key in texts), "")
    command = next((texts[key] for key in _COMMAND_KEYS if key in texts), "")
    target = file or command or next(iter(texts.values()), "")
    yield file[:200], " ".join(target[:200].split())[:_LONGEST_TARGET]


def _find_error(text: str, *, flagged: bool) -> str:
    """Returns the error line of a result, empty if the call did not fail."""
    ends = text if len(text) <= 2 * _RESULT_END else f"{text[:_RESULT_END]}\n{text[-_RESULT_END:]}"
    if not flagged and not _ERROR.search(ends[:_RESULT_END]):
        return ""
    lines = [" ".join(line.split()) for line in ends.splitlines() if line.strip()]
    telling = [line for line in lines if _ERROR_LINE.search(line) and not line.startswith("Traceback")]
    reason = (telling or lines or ["failed"])[-1]
    return reason[:_LONGEST_REASON]


Count = Callable[[str], int]

# The share of the room for each section, in the order of choosing; unused room goes to the next.
# `stated` is what the user stated of what is done, and chosen before what was asked and what is open.
_SHARES = {"goal": 0.12, "must_not": 0.18, "stated": 0.4, "open": 0.12, "requests": 0.2, "done": 1.0}
# Characters of a line for each token of room: in a small room lines are shorter, so that several fit.
_LINE_SHARE = 0.5
_SHORTEST_LINE = 100
_MOST_FAILURES = 3
# So many sentences that tell of a change are compared with what was said before them.
_MOST_CHANGES = 20
_CHANGED_FILES = by_language("CHANGED_FILES")

# Tool effects count more than sentences.
_TOOL_WEIGHT = 3.0
# The weight of the oldest line of the last summary.
_OLDEST_WEIGHT = 0.6
# A place after all sentences of a span.
_AFTER_ALL = 1 << 60


def extract_summary(
    items: Sequence[Item], previous: Summary | None, language: str, count: Count, tokens: int
) -> Summary:
    """Returns the last summary merged with what this span adds, in at most `tokens`."""
    before = replace(previous or Summary(), language=language)
    effects = find_tool_effects(items)
    sorted_sentences = sort_sentences(items)
    _add_tool_effects(sorted_sentences, effects, before)
    if not (
        sorted_sentences.requests
        or sorted_sentences.done
        or sorted_sentences.open
        or sorted_sentences.must_not
    ):
        sorted_sentences.done = sorted_sentences.rest
    resolved = _drop_replaced(_drop_resolved(before, sorted_sentences, effects), sorted_sentences)
    summary = _merge(sorted_sentences, resolved, count, tokens)
    if not summary:
        summary = replace(summary, requests=_fallback_line(items))
    return summary.trim(count, tokens)


def _add_tool_effects(
    sorted_sentences: SortedSentences, effects: Sequence[ToolEffect], before: Summary
) -> None:
    for number, effect in enumerate(list_failures(effects)[-_MOST_FAILURES:]):
        sorted_sentences.open.append(
            ScoredSentence.of(f"{effect.label}: {effect.error}", _AFTER_ALL + number, _TOOL_WEIGHT)
        )
    files = list_changed_files(effects)
    known = [file for line in before.done for file in _parse_changed_files(line) if file not in files]
    # The newest files, as many as fit in a line.
    text = ""
    for file in reversed([*known, *files]):
        if len(text) + len(file) > LONGEST_LINE:
            break
        text = f"{file}, {text}" if text else file
    if text:
        sorted_sentences.done.append(
            ScoredSentence.of(
                _CHANGED_FILES["de" if before.language == "de" else "en"] + text, _AFTER_ALL, _TOOL_WEIGHT
            )
        )


def _parse_changed_files(line: str) -> list[str]:
    """Returns the files of a line written by `_add_tool_effects`, without one that was cut."""
    for prefix in _CHANGED_FILES.values():
        if line.startswith(prefix):
            files = line.removeprefix(prefix).split(", ")
            return files[:-1] if line.endswith("…") else files
    return []


def _drop_resolved(
    before: Summary, sorted_sentences: SortedSentences, effects: Sequence[ToolEffect]
) -> Summary:
    """Returns the last summary without open lines that were answered, repaired or reported done since."""
    mended = list_successes(effects)
    reports = [line.terms for line in sorted_sentences.done if line.factor >= REPORT_WEIGHT]

    def is_open(line: str) -> bool:
        if sorted_sentences.answered and any(
            request.startswith(line.removesuffix("…")) for request in before.requests
        ):
            return False
        if any(line.startswith(f"{label}: ") for label in mended):
            return False
        terms = set(analyser.terms(line))
        return not terms or all(5 * len(terms & report) < 4 * len(terms) for report in reports)

    return replace(
        before,
        open=tuple(line for line in before.open if is_open(line)),
        # The line of changed files is rebuilt, including the files it had.
        done=tuple(line for line in before.done if not line.startswith(tuple(_CHANGED_FILES.values()))),
    )


def _drop_replaced(before: Summary, sorted_sentences: SortedSentences) -> Summary:
    """Returns the last summary, and leaves in the span, only what no later sentence gives another value."""
    newer_lines = sorted([*sorted_sentences.done, *sorted_sentences.must_not], key=lambda line: line.place)
    changes = [line for line in newer_lines if tells_change(line.text)][-_MOST_CHANGES:]

    def is_current(text: str, place: int) -> bool:
        later = (line.text for line in changes if line.place > place)
        return not any(touches(newer, text) and compare(newer, text) == "replaces" for newer in later)

    sorted_sentences.done = [line for line in sorted_sentences.done if is_current(line.text, line.place)]
    return replace(before, done=tuple(line for line in before.done if is_current(line, -1)))


def _merge(sorted_sentences: SortedSentences, before: Summary, count: Count, tokens: int) -> Summary:
    def cost(text: str) -> int:
        return count(f"- {text}\n")

    lines_of_span = [
        *sorted_sentences.requests,
        *sorted_sentences.done,
        *sorted_sentences.open,
        *sorted_sentences.must_not,
    ]
    weights = SalienceWeights(line.terms for line in lines_of_span)
    size = max(_SHORTEST_LINE, min(LONGEST_LINE, int(tokens * _LINE_SHARE)))
    chosen: dict[str, tuple[str, ...]] = {}
    taken: set[str] = set()
    places: dict[str, int] = {}
    left = tokens
    for name, share in _SHARES.items():
        always = [shorten_line(line, size) for line in _fixed_lines(name, sorted_sentences, before)]
        if name == "requests" and len(always) > 1 and always[0] in chosen["goal"]:
            # What was asked first is the goal already.
            del always[0]
        room = min(left, int(tokens * share)) - sum(map(cost, always))
        lines = [*_fade(name, before), *_candidates(name, sorted_sentences)]
        short = (replace(line, text=shorten_line(line.text, size)) for line in lines)
        fresh = [line for line in short if line.text not in taken and line.text not in always]
        best = choose_sentences(fresh, weights, set(analyser.terms(" ".join(always))), cost, room)
        chosen[name] = tuple(dict.fromkeys([*always[:1], *(line.text for line in best), *always[1:]]))
        places.update((line.text, line.place) for line in best)
        # The goal is often the only request; it may stand in both sections.
        taken.update(chosen[name] if name != "goal" else ())
        left -= sum(map(cost, chosen[name]))
    chosen["done"] = tuple(sorted((*chosen.pop("stated"), *chosen["done"]), key=lambda text: places[text]))
    return Summary.of(chosen, before.language)


def _fixed_lines(name: str, sorted_sentences: SortedSentences, before: Summary) -> list[str]:
    """Returns the lines that always stay: the first and the newest of what the user wants."""
    if name == "goal":
        first, newest = (
            sorted_sentences.aims[:1] or sorted_sentences.requests[:1],
            sorted_sentences.goals[-1:],
        )
    elif name == "requests":
        first, newest = sorted_sentences.requests[:1], sorted_sentences.requests[-1:]
    else:
        # Kept short, since it is among the requests, too.
        return (
            [shorten_line(sorted_sentences.unanswered, _SHORTEST_LINE)]
            if name == "open" and sorted_sentences.unanswered
            else []
        )
    known = before.section(name)
    ends = [*(known[:1] or _texts(first)), *(_texts(newest) or known[1:][-1:])]
    return list(dict.fromkeys(ends))


def _candidates(name: str, sorted_sentences: SortedSentences) -> list[ScoredSentence]:
    by_section = {
        "stated": [line for line in sorted_sentences.done if line.factor >= _STATEMENT_WEIGHT],
        "requests": sorted_sentences.requests,
        "done": sorted_sentences.done,
        "open": sorted_sentences.open,
        "must_not": sorted_sentences.must_not,
    }
    return by_section.get(name, [])


def _fade(name: str, before: Summary) -> list[ScoredSentence]:
    """Returns the lines of the last summary with weights that decrease with age."""
    lines: Sequence[str] = before.section("done" if name == "stated" else name)
    size = len(lines)
    return [
        ScoredSentence.of(line, place - size, _OLDEST_WEIGHT + (1 - _OLDEST_WEIGHT) * (place + 1) / size)
        for place, line in enumerate(lines)
        if name != "stated" or is_statement(line)
    ]


def _texts(lines: Sequence[ScoredSentence]) -> tuple[str, ...]:
    return tuple(line.text for line in lines)


def _fallback_line(items: Sequence[Item]) -> tuple[str, ...]:
    """Returns the newest text of a span that has no usable sentence."""
    texts = (" ".join(item.message.text.split()) for item in reversed(items))
    return next(((shorten_line(text, LONGEST_LINE),) for text in texts if text), ())
