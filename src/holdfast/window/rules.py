"""Rules, prohibitions and decisions in what a person typed, word for word.

Pasted text (code, logs, tables, data, mails) and quotes do not count. Lines are recognised as pasted by their
shape; what a sentence states is decided by its grammar.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from holdfast.text.analyser import terms
from holdfast.text.lang import LOWER, UPPER, any_word
from holdfast.text.patterns import late
from holdfast.text.slots import renews_value
from holdfast.text.statements import Statement, statements_in
from holdfast.window.shorten import Span, fences

# This many lines of one shape are not typed by hand.
_MANY = 8
# The number of other lines that may stand between two of them, like errors in a log.
_BETWEEN = 6

# Lines that are not typed by hand: quotes, tables, diffs, logs, stack traces, prompts of a shell, code.
PASTED_LINE = late(
    r"^\s*(?:>|\||\+{1,3}\s?\S|@@|---\s\S|\$\s|#!|//|/\*|\*/|at\s\S+\(|File \"|Traceback|Caused by:|E {2,}\S"
    r"|\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|\[?(?:ERROR|WARN|WARNING|INFO|DEBUG|TRACE|FATAL)\b"
    r"|\w+(?:Error|Exception)\b|(?:def|class|import|from|return|public|private|static|const|let|var"
    r"|function)\s\S.*[({;:=]"
    r"|#{1,6}\s)"
    r"|[;{}]\s*$|\t.*\t|\S\s*\|\s*\S.*\|"
)
# The begin of somebody else's words.
MAIL = late(
    rf"^\s*{any_word('MAIL_HEADERS')}:\s\S"
    rf"|^\s*(?:-{{2,}}\s*{any_word('MAIL_SEPARATORS')})"
    rf"|^\s*{any_word('MAIL_QUOTE_OPENINGS')} .{{4,80}}{any_word('MAIL_QUOTE_VERBS')}.{{0,60}}:\s*$"
    rf"|^\s*{any_word('MAIL_GREETINGS')} [{UPPER}][\w .]{{1,40}},\s*$"
)
_TAG = late(r"<(\w[\w-]{0,40})(?:\s[^<>\n]{0,200})?>")
_LETTERS = late(r"[^\W\d_]+(?: +[^\W\d_]+)*")
_DIGITS = late(r"\d+")
# What the shape of a line of data has: prose has words and commas.
_OF_DATA = late(r"[0;:{}\[\]=\"|\t]")


def stretches(text: str) -> Iterator[tuple[int, int, bool]]:
    """Return the parts of a text in order: start, end, and whether it was pasted."""
    done = 0
    for start, end in _merge_spans([*fences(text), *tag_spans(text), *pasted_lines(text)]):
        if start > done:
            yield done, start, False
        yield start, end, True
        done = end
    if done < len(text):
        yield done, len(text), False


def typed_text(text: str) -> str:
    """Return only what was typed."""
    return "".join(text[start:end] for start, end, pasted in stretches(text) if not pasted)


def tag_spans(text: str) -> Iterator[Span]:
    """Return the spans from a tag to its end."""
    done, unclosed = 0, set()
    for tag in _TAG.finditer(text):
        if tag.start() < done or tag[1] in unclosed:
            continue
        closing = text.find(f"</{tag[1]}>", tag.end())
        if closing < 0:
            unclosed.add(tag[1])
            continue
        done = closing + len(tag[1]) + 3
        yield tag.start(), done


def pasted_lines(text: str) -> list[Span]:
    """Return the lines that were pasted, by their shape."""
    lines = text.splitlines(keepends=True)
    spans, at = [], 0
    for line in lines:
        spans.append((at, at + len(line)))
        at += len(line)
    mail = next((number for number, line in enumerate(lines) if MAIL.match(line)), len(lines))
    shapes = [_shape(line) for line in lines[:mail]]
    often = {shape for shape, count in Counter(shapes).items() if shape and count >= _MANY}
    alike = [number for number, shape in enumerate(shapes) if shape in often]
    pasted = {number for number in range(mail) if PASTED_LINE.search(lines[number].rstrip("\n"))}
    pasted |= _fill_gaps(alike) | set(range(mail, len(lines)))
    return [spans[number] for number in sorted(pasted)]


def _shape(line: str) -> str:
    """Return the line with words and numbers replaced by a character each; empty for possible sentences."""
    shape = _DIGITS.sub("0", _LETTERS.sub("a", line.strip()))
    return shape if _OF_DATA.search(shape) else ""


def _fill_gaps(alike: Sequence[int]) -> set[int]:
    """Return these lines with those in small gaps between them."""
    numbers: set[int] = set()
    for before, after in pairwise(alike):
        if after - before <= _BETWEEN + 1:
            numbers.update(range(before, after + 1))
    return numbers


def _merge_spans(spans: Sequence[Span]) -> Iterator[Span]:
    last: Span | None = None
    for span in sorted(spans):
        if last is None:
            last = span
        elif span[0] <= last[1]:
            last = last[0], max(last[1], span[1])
        else:
            yield last
            last = span
    if last is not None:
        yield last


# A longer text is a pasted document; a person's own words stand before or after it.
_LONG_TEXT = 2_000
_LONG_PARAGRAPH = 700
_LONGEST_SENTENCE = 200
_END_READ = 10_000

# The mask has the length of what it hides, and matches no pattern.
_HIDDEN = "\x00"
_NOT_NEWLINE = late(r"[^\n]")

_INLINE = late(r"`[^`\n]+`")
_QUOTED = late(
    r"\"[^\"\n]{2,400}\"|“[^“”\n]{2,400}”|„[^„“”\"\n]{2,400}[“”\"]|»[^»«\n]{2,400}«|«[^«»\n]{2,400}»"
    r"|(?<![\w'])'[^'\n]{2,400}'(?!\w)|‚[^‚‘\n]{2,400}‘|‘[^‘’\n]{2,400}’(?!\w)"
)
_BULLET = late(r"^\s*(?:[-*•–]|\(?\d{1,2}[.)]|[a-z]\))\s+")
_ABBREVIATION = late(rf"\b(?:[A-Za-z]|{any_word('DOTTED')})\.$")
_BEFORE_NUMBER = late(r"(?i)\b(?:no|nos|fig|vol|ch|sec|para)\.$")
# "Am 15. November", "die 10. Staffel": the dot after a number does not end the sentence.
_ORDINAL = late(r"\b\d{1,2}\.$")
_DEFINITE_ORDINAL = late(rf"\b{any_word('DEFINITE_WORDS')}\s\d{{1,2}}\.$", re.IGNORECASE)
_GOES_ON = late(rf"\s+(?:[{LOWER}]|{any_word('MONTHS_AFTER_DAY')})")
# Longer texts are not cached.
_OFTEN_READ = 4_000
_END = late(r"(?<![.!?…])[.!?…]+[\"'”“)\]]*(?=\s|$)")


def drop_middle(text: str) -> str:
    """Drop the middle of a very long message, which is pasted text."""
    return text if len(text) <= 2 * _END_READ else f"{text[:_END_READ]}\n{text[-_END_READ:]}"


def own_sentences(text: str, longest: int = _LONGEST_SENTENCE) -> Sequence[tuple[str, str]]:
    """Return each sentence as written, white space collapsed, and the same with quotes and code masked."""
    return _split_again(text, longest) if len(text) <= _OFTEN_READ else tuple(_split(text, longest))


def _split(text: str, longest: int) -> Iterator[tuple[str, str]]:
    for paragraph, masked in _paragraphs(text):
        start = 0
        for match in _END.finditer(masked):
            # The last few characters are enough; the whole sentence would be read again and again.
            before = masked[max(start, match.end() - 12) : match.end()]
            if _ABBREVIATION.search(before):
                continue
            if _BEFORE_NUMBER.search(before) and masked[match.end() :].lstrip()[:1].isdigit():
                continue
            if _ORDINAL.search(before) and _GOES_ON.match(masked, match.end()):
                continue
            if _DEFINITE_ORDINAL.search(before):
                continue
            yield from _sentence(paragraph, masked, start, match.end(), longest)
            start = match.end()
        yield from _sentence(paragraph, masked, start, len(masked), longest)


# Every window reads the same messages again.
@lru_cache(maxsize=2_048)
def _split_again(text: str, longest: int) -> Sequence[tuple[str, str]]:
    return tuple(_split(text, longest))


def _sentence(text: str, masked: str, start: int, end: int, longest: int) -> Iterator[tuple[str, str]]:
    written, hidden = (" ".join(part[start:end].split()) for part in (text, masked))
    if written and len(written) < longest:
        yield written, hidden


def _paragraphs(text: str) -> Iterator[tuple[str, str]]:
    """Return lines that belong together, as written and masked; each item of a list is on its own."""
    masked = _mask_quotes(text)
    blocks = list(_blocks(text, masked))
    if len(text) > _LONG_TEXT:
        ends = [*blocks[:2], *blocks[-2:]] if len(blocks) > 4 else blocks
        blocks = [block for block in ends if len(block[0]) <= _LONG_PARAGRAPH]
    for written, hidden in blocks:
        yield from _split_lines(written.split("\n"), hidden.split("\n"))


def _mask_quotes(text: str) -> str:
    for spans in (fences, tag_spans, quote_blocks, _inline, _quoted, foreign_spans):
        pieces, done = [], 0
        for start, end in _merge_spans(list(spans(text))):
            pieces += [text[done:start], _NOT_NEWLINE.sub(_HIDDEN, text[start:end])]
            done = end
        text = "".join([*pieces, text[done:]])
    return text


def _inline(text: str) -> Iterator[Span]:
    return (match.span() for match in _INLINE.finditer(text))


def _quoted(text: str) -> Iterator[Span]:
    return (match.span() for match in _QUOTED.finditer(text))


def _blocks(text: str, masked: str) -> Iterator[tuple[str, str]]:
    """Return the paragraphs before somebody else's words begin."""
    written: list[str] = []
    hidden: list[str] = []
    for line, mask in zip(text.split("\n"), masked.split("\n"), strict=True):
        if MAIL.match(mask):
            break
        if mask.strip() and not PASTED_LINE.search(mask) and mask.strip(_HIDDEN + " \t\r"):
            written.append(line)
            hidden.append(mask)
        elif written:
            yield "\n".join(written), "\n".join(hidden)
            written, hidden = [], []
    if written:
        yield "\n".join(written), "\n".join(hidden)


def _split_lines(lines: list[str], masks: list[str]) -> Iterator[tuple[str, str]]:
    written = hidden = ""
    for line, mask in zip(lines, masks, strict=True):
        bullet = _BULLET.match(mask)
        if written and (bullet or not _goes_on(hidden, mask)):
            yield written, hidden
            written = hidden = ""
        cut = bullet.end() if bullet else 0
        written, hidden = f"{written} {line[cut:]}", f"{hidden} {mask[cut:]}"
    if written:
        yield written, hidden


def _goes_on(before: str, line: str) -> bool:
    """Whether a line break was only inserted by an editor."""
    before, line = before.rstrip(), line.lstrip()
    if before.endswith((".", "!", "?", ":", ";")):
        return False
    return line[:1].islower() or len(before.rpartition("\n")[2]) > 60


def rules_in(text: str) -> tuple[str, ...]:
    """Return the sentences that say how to do things from now on, prohibitions included."""
    return select_sentences(
        text,
        lambda statement: (
            statement.lasting
            and (
                statement.kind in ("rule", "prohibition")
                or (statement.binding and statement.kind != "decision")
            )
        ),
    )


def forbidden_in(text: str) -> tuple[str, ...]:
    """Return the sentences that forbid something or say that it failed; doubtful ones count.

    "We won't do that again" comes with the sentence before it, which says what.
    """
    sentences = list(own_sentences(text))
    chosen: dict[int, str] = {}
    for statement in statements_in(tuple(masked for _, masked in sentences)):
        at = statement.sentence
        if statement.kind not in ("prohibition", "failure"):
            continue
        chosen[at] = sentences[at][0]
        few = statement.kind == "failure" and len(set(terms(chosen[at]))) <= 1
        if at and (few or statement.points):
            chosen[at] = f"{chosen.pop(at - 1, sentences[at - 1][0])} {chosen[at]}"
    return tuple(dict.fromkeys(chosen.values()))


def decisions_in(text: str) -> tuple[str, ...]:
    """Return the sentences that say what was decided, or what has another value from now on."""
    sentences = [masked for _, masked in own_sentences(text)]
    return select_sentences(
        text,
        lambda statement: (
            statement.kind == "decision"
            or (statement.kind == "fact" and renews_value(sentences[statement.sentence]))
        ),
    )


def select_sentences(text: str, wanted: Callable[[Statement], bool]) -> tuple[str, ...]:
    """Return the person's own sentences with a statement that is wanted, each once."""
    sentences = list(own_sentences(text))
    statements = statements_in(tuple(masked for _, masked in sentences))
    return tuple(
        dict.fromkeys(sentences[statement.sentence][0] for statement in statements if wanted(statement))
    )


# Where words of others begin that a person passes on as plain text: quotes over several lines, sentences that
# hand them over ("summarise this:", "the page says:"), tasks on a text above or below, search results.
# What is between is nobody's instruction, and nothing that the person stated.

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
