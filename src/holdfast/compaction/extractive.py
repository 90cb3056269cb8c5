"""The summary without any model: sentences of the span, word for word, merged with the last summary.

Deterministic and linear. What the talk was about is not understood here: what is kept follows from the terms
of a sentence, its age, and what other sentences said already.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from holdfast import words
from holdfast.compaction.deeds import (
    ToolEffect,
    find_tool_effects,
    list_changed_files,
    list_failures,
    list_successes,
)
from holdfast.compaction.salience import SalienceWeights, ScoredSentence, choose_sentences
from holdfast.compaction.sorting import LONGEST_LINE, REPORT_WEIGHT, SortedSentences, sort_sentences
from holdfast.compaction.summary import Summary, shorten_line
from holdfast.window.items import Item

Count = Callable[[str], int]

# The part of the room each section may use, in the order of choosing; what one leaves goes to the next.
_SHARES = {"goal": 0.12, "must_not": 0.18, "open": 0.16, "requests": 0.26, "done": 1.0}
# In a small room lines are shorter, so that there are still several: so many characters for each token.
_LINE_SHARE = 0.5
_SHORTEST_LINE = 100
_MOST_FAILURES = 3
_CHANGED_FILES = {"en": "Files changed: ", "de": "Geänderte Dateien: "}

# What tools did counts for more than what was said.
_TOOL_WEIGHT = 3.0
# The oldest line of the last summary has so much of its weight left.
_OLDEST_WEIGHT = 0.6
# After all sentences of a span.
_AFTER_ALL = 1 << 60


def extract_summary(
    items: Sequence[Item], previous: Summary | None, language: str, count: Count, tokens: int
) -> Summary:
    """The last summary and what this span adds to it, in at most so many tokens."""
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
    summary = _merge(sorted_sentences, _drop_resolved(before, sorted_sentences, effects), count, tokens)
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
    # The newest, as many as a line has room for.
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
    """The files of a line that `_add_tool_effects` wrote; one that was cut is none."""
    for prefix in _CHANGED_FILES.values():
        if line.startswith(prefix):
            files = line.removeprefix(prefix).split(", ")
            return files[:-1] if line.endswith("…") else files
    return []


def _drop_resolved(
    before: Summary, sorted_sentences: SortedSentences, effects: Sequence[ToolEffect]
) -> Summary:
    """The last summary without what has been answered, made good or reported done since."""
    mended = list_successes(effects)
    reports = [line.terms for line in sorted_sentences.done if line.factor >= REPORT_WEIGHT]

    def is_open(line: str) -> bool:
        if sorted_sentences.answered and any(
            request.startswith(line.removesuffix("…")) for request in before.requests
        ):
            return False
        if any(line.startswith(f"{label}: ") for label in mended):
            return False
        terms = set(words.terms(line))
        return not terms or all(5 * len(terms & report) < 4 * len(terms) for report in reports)

    return replace(
        before,
        open=tuple(line for line in before.open if is_open(line)),
        # The line of changed files is written anew, with what was in it.
        done=tuple(line for line in before.done if not line.startswith(tuple(_CHANGED_FILES.values()))),
    )


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
    left = tokens
    for name, share in _SHARES.items():
        always = [shorten_line(line, size) for line in _fixed_lines(name, sorted_sentences, before)]
        room = min(left, int(tokens * share)) - sum(map(cost, always))
        lines = [*_fade(before.section(name)), *_candidates(name, sorted_sentences)]
        short = (replace(line, text=shorten_line(line.text, size)) for line in lines)
        fresh = [line for line in short if line.text not in taken and line.text not in always]
        best = choose_sentences(fresh, weights, set(words.terms(" ".join(always))), cost, room)
        chosen[name] = tuple(dict.fromkeys([*always[:1], *(line.text for line in best), *always[1:]]))
        # The goal is often the first request, and stands in both places.
        taken.update(chosen[name] if name != "goal" else ())
        left -= sum(map(cost, chosen[name]))
    return Summary.of(chosen, before.language)


def _fixed_lines(name: str, sorted_sentences: SortedSentences, before: Summary) -> list[str]:
    """The lines that stay whatever else is said: the first and the newest of what a person wants."""
    if name == "goal":
        first, newest = (
            sorted_sentences.aims[:1] or sorted_sentences.requests[:1],
            sorted_sentences.goals[-1:],
        )
    elif name == "requests":
        first, newest = sorted_sentences.requests[:1], sorted_sentences.requests[-1:]
    else:
        # In few words: it stands among the requests too.
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
        "requests": sorted_sentences.requests,
        "done": sorted_sentences.done,
        "open": sorted_sentences.open,
        "must_not": sorted_sentences.must_not,
    }
    return by_section.get(name, [])


def _fade(lines: Sequence[str]) -> list[ScoredSentence]:
    """Lines of the last summary: the older, the less they count."""
    size = len(lines)
    return [
        ScoredSentence.of(line, place - size, _OLDEST_WEIGHT + (1 - _OLDEST_WEIGHT) * (place + 1) / size)
        for place, line in enumerate(lines)
    ]


def _texts(lines: Sequence[ScoredSentence]) -> tuple[str, ...]:
    return tuple(line.text for line in lines)


def _fallback_line(items: Sequence[Item]) -> tuple[str, ...]:
    """Something of a span that has no sentence worth the name."""
    texts = (" ".join(item.message.text.split()) for item in reversed(items))
    return next(((shorten_line(text, LONGEST_LINE),) for text in texts if text), ())
