"""Where a person's own words end and words of others begin that they pass on as plain text.

Marks around such words (quotes over several lines), sentences that hand them over ("summarise this:", "the
page says:"), tasks on a text above or below, and lists of search results. What is between is nobody's
instruction, and nothing that the person stated.
"""

from collections.abc import Iterator

from holdfast.text.lang import any_word
from holdfast.text.patterns import late
from holdfast.window.shorten import Span

# Quotes that may enclose several lines, and what ends them; a sign that also opens quotes, or stands for
# inches, ends one at the end of a line only. Without an end, those of three go on to the end of the text.
_OPENING = late(r"(?m)(?:(?:^|:)[ \t]*|[.!?][ \t]+)(\"{3}|'{3}|[\"“„»«])")
_CLOSING = {
    opening: late(rf"(?m){closing}")
    for opening, closing in {
        '"""': '"{3}', "'''": "'{3}", '"': r'"[.,;!?]?[ \t]*$', "“": "”", "„": "[“”]", "»": "«", "«": "»",
    }.items()
}  # fmt: skip
# Characters; a shorter quote within a line is part of its sentence.
_LONG_QUOTE = 400
# A sentence that hands over the text behind it. One that holds for the future is a rule, whatever its verb.
_HANDS_OVER = late(rf"(?im)(?:^|[.!?,]\s)[^:.!?\n]{{0,60}}?\b{any_word('TEXT_TASKS')}\b[^:\n]{{0,80}}:(?=\s)")
# Lines that say whose the words below them are. Of a person who quotes or asks about themselves they are own.
_NAMES_SOURCE = late(rf"(?im)\b{any_word('DOCUMENTS', 'RECEIVED')}\b[^:\n]{{0,60}}:[ \t]*$")
_REPORTS_SPEECH = late(rf"(?im)\b{any_word('READING_TASKS', 'REPORTS_SPEECH')}\b[^:\n]{{0,60}}:[ \t]*$")
_HOLDS = late(rf"(?i)\b{any_word('STANDING')}\b")
_HOLDS_OR_OWN = late(rf"(?i)\b{any_word('STANDING', 'FIRST_PERSON_SPEAKERS')}\b")
# A short paragraph that asks for something to be done with the text above or below it.
_TASK_ON_TEXT = late(
    rf"(?i)\b{any_word('TEXT_TASKS')}\b[^\n]{{0,60}}\b{any_word('TEXT_POINTERS')}\b"
    rf"|\b{any_word('TEXT_POINTERS')}\b[^\n]{{0,60}}\b{any_word('TEXT_TASKS')}\b"
)
_POINTS_UP = late(rf"(?i)\b{any_word('POINTS_UP')}\b")
_LONGEST_TASK = 200
_BLANK_LINES = late(r"\n(?:[ \t\r]*\n)+")
# A result of a search: an address alone on its line, or behind a title in a list.
_RESULT = late(
    r"(?m)^[ \t]*(?:(?:[-*•]|\(?\d{1,3}[.)\]]|\[\d{1,3}\])[ \t].{0,200}?https?://\S"
    r"|\[[^\]\n]{1,200}\]\(https?://[^)\n]{1,500}\)[ \t]*$|(?:\w+:[ \t]*)?<?https?://\S+>?[ \t]*$)"
)


def foreign_spans(text: str) -> Iterator[Span]:
    """Yield the spans of others' words; they may overlap."""
    yield from _find_results(text)
    begin = min(_find_handover(text), _find_source(text))
    if begin < len(text):
        yield begin, len(text)
    else:
        yield from _find_text_of_task(text)


def quote_blocks(text: str) -> Iterator[Span]:
    """Yield quotes over several lines, and long ones, from the opening sign to the closing one."""
    done, unclosed = 0, set()
    for opening in _OPENING.finditer(text):
        mark, start = opening[1], opening.start(1)
        if start < done or mark in unclosed:
            continue
        closing = _CLOSING[mark].search(text, opening.end())
        if closing is None:
            unclosed.add(mark)
            if len(mark) == 3:
                yield start, len(text)
                return
            continue
        done = closing.end()
        quoted = text[opening.end() : closing.start()]
        # Two short quotes with a person's own words between them are no long one.
        if "\n" in quoted or (len(quoted) > _LONG_QUOTE and mark not in quoted):
            yield start, done


def _find_handover(text: str) -> int:
    """Return where the text begins that a sentence asks to do something with; the end if none does."""
    ends = (match.end() for match in _HANDS_OVER.finditer(text) if not _HOLDS.search(match[0]))
    return next(ends, len(text))


def _find_source(text: str) -> int:
    """Return the end of the first line that says where the words behind it are from."""
    ends = [len(text)]
    for pattern, exception in ((_NAMES_SOURCE, _HOLDS), (_REPORTS_SPEECH, _HOLDS_OR_OWN)):
        for match in pattern.finditer(text):
            begin = max(match.start() - _LONGEST_TASK, text.rfind("\n", 0, match.start()) + 1)
            if not exception.search(text, begin, match.end()):
                ends.append(match.end())
                break
    return min(ends)


def _find_text_of_task(text: str) -> Iterator[Span]:
    """Yield what the first paragraph with a task is about: the text below it, or above it if it says so or
    nothing follows.
    """
    breaks = list(_BLANK_LINES.finditer(text.rstrip()))
    starts = [0, *(gap.end() for gap in breaks)]
    ends = [*(gap.start() for gap in breaks), len(text)]
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        if not breaks or not _is_task(text[start:end]):
            continue
        is_last = number == len(breaks)
        if number and (is_last or _POINTS_UP.search(text, start, end)):
            yield 0, ends[number - 1]
        else:
            yield starts[number + 1], len(text)
        return


def _is_task(paragraph: str) -> bool:
    return (
        len(paragraph) <= _LONGEST_TASK
        and _TASK_ON_TEXT.search(paragraph) is not None
        and not _HOLDS.search(paragraph)
    )


def _find_results(text: str) -> Iterator[Span]:
    """Yield each result of a search with the lines below it, and all between the first and the last."""
    results = list(_RESULT.finditer(text))
    if not results:
        return
    end = _BLANK_LINES.search(text, results[-1].end())
    yield results[0].start(), end.start() if end else len(text)
