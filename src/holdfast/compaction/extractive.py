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
    deeds = find_tool_effects(items)
    found = sort_sentences(items)
    _add_tool_effects(found, deeds, before)
    if not (found.requests or found.done or found.open or found.must_not):
        found.done = found.rest
    summary = _merge(found, _drop_resolved(before, found, deeds), count, tokens)
    if not summary:
        summary = replace(summary, requests=_fallback_line(items))
    return summary.trim(count, tokens)


def _add_tool_effects(found: SortedSentences, deeds: Sequence[ToolEffect], before: Summary) -> None:
    for number, deed in enumerate(list_failures(deeds)[-_MOST_FAILURES:]):
        found.open.append(ScoredSentence.of(f"{deed.label}: {deed.error}", _AFTER_ALL + number, _TOOL_WEIGHT))
    files = list_changed_files(deeds)
    known = [file for line in before.done for file in _parse_changed_files(line) if file not in files]
    # The newest, as many as a line has room for.
    text = ""
    for file in reversed([*known, *files]):
        if len(text) + len(file) > LONGEST_LINE:
            break
        text = f"{file}, {text}" if text else file
    if text:
        found.done.append(
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


def _drop_resolved(before: Summary, found: SortedSentences, deeds: Sequence[ToolEffect]) -> Summary:
    """The last summary without what has been answered, made good or reported done since."""
    mended = list_successes(deeds)
    reports = [line.terms for line in found.done if line.factor >= REPORT_WEIGHT]

    def is_open(line: str) -> bool:
        if found.answered and any(asked.startswith(line.removesuffix("…")) for asked in before.requests):
            return False
        if any(line.startswith(f"{what}: ") for what in mended):
            return False
        terms = set(words.terms(line))
        return not terms or all(5 * len(terms & report) < 4 * len(terms) for report in reports)

    return replace(
        before,
        open=tuple(line for line in before.open if is_open(line)),
        # The line of changed files is written anew, with what was in it.
        done=tuple(line for line in before.done if not line.startswith(tuple(_CHANGED_FILES.values()))),
    )


def _merge(found: SortedSentences, before: Summary, count: Count, tokens: int) -> Summary:
    def cost(text: str) -> int:
        return count(f"- {text}\n")

    every = [*found.requests, *found.done, *found.open, *found.must_not]
    weights = SalienceWeights(line.terms for line in every)
    size = max(_SHORTEST_LINE, min(LONGEST_LINE, int(tokens * _LINE_SHARE)))
    chosen: dict[str, tuple[str, ...]] = {}
    taken: set[str] = set()
    left = tokens
    for name, share in _SHARES.items():
        always = [shorten_line(line, size) for line in _fixed_lines(name, found, before)]
        room = min(left, int(tokens * share)) - sum(map(cost, always))
        lines = [*_fade(before.section(name)), *_candidates(name, found)]
        short = (replace(line, text=shorten_line(line.text, size)) for line in lines)
        fresh = [line for line in short if line.text not in taken and line.text not in always]
        best = choose_sentences(fresh, weights, set(words.terms(" ".join(always))), cost, room)
        chosen[name] = tuple(dict.fromkeys([*always[:1], *(line.text for line in best), *always[1:]]))
        # The goal is often the first request, and stands in both places.
        taken.update(chosen[name] if name != "goal" else ())
        left -= sum(map(cost, chosen[name]))
    return Summary.of(chosen, before.language)


def _fixed_lines(name: str, found: SortedSentences, before: Summary) -> list[str]:
    """The lines that stay whatever else is said: the first and the newest of what a person wants."""
    if name == "goal":
        first, newest = found.aims[:1] or found.requests[:1], found.goals[-1:]
    elif name == "requests":
        first, newest = found.requests[:1], found.requests[-1:]
    else:
        # In few words: it stands among the requests too.
        return [shorten_line(found.unanswered, _SHORTEST_LINE)] if name == "open" and found.unanswered else []
    known = before.section(name)
    ends = [*(known[:1] or _texts(first)), *(_texts(newest) or known[1:][-1:])]
    return list(dict.fromkeys(ends))


def _candidates(name: str, found: SortedSentences) -> list[ScoredSentence]:
    by_section = {
        "requests": found.requests,
        "done": found.done,
        "open": found.open,
        "must_not": found.must_not,
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
