"""Digests of text: Markdown and documents by headings, logs by patterns and errors, plain text by its ends.

A heading comes with the first sentence below it. A log is described by its time span, the number of lines per
level, the most frequent patterns and every distinct error. `digest_plain` works for any text.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.files.digests.base import (
    Digest,
    ElementLocation,
    LineIndex,
    finish_digest,
    plural,
    shorten_line,
)
from holdfast.text.analyser import sentences
from holdfast.text.lang import any_of, words_of
from holdfast.text.patterns import late
from holdfast.tokens.estimate import UNKNOWN, estimate

_HEADING = late(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t\r]*$")
_UNDERLINE = late(r"([=\-~^\"'`*+.#_:])\1{2,}[ \t\r]*$")
_FENCE = late(r" {0,3}(`{3,}|~{3,})")
# Lines that are not prose: tables, code, pictures, comments, link targets.
_NO_PROSE = late(r"\s*(?:\||<|!\[|\[!\[|```|~~~|:?-{3,}|\.\. |\[[^\]]+\]:)")
_MARKS = late(r"[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}|\[([^\[\]]*)\]\([^()]*\)")
_LONGEST_HEADING = 120
_LONGEST_PARAGRAPH = 600
# A heading takes at least these tokens.
_LEAST_HEADING_TOKENS = 3
# Lines of a section that are searched for its first sentence.
_SECTION_LINES = 12
# (length of a sentence, levels of headings), each smaller than the one before.
_HEADING_STEPS = ((200, 6), (120, 6), (70, 6), (0, 6), (70, 2), (0, 3), (0, 2), (0, 1))


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading at `line` with its text from line `body` on, both counted from zero."""

    level: int
    text: str
    line: int
    body: int


def digest_markdown(text: str, most: int) -> Digest | None:
    lines = text.split("\n")
    sections = find_sections(lines)
    if not sections:
        return None
    opening = first_sentence(lines, skip_front_matter(lines), sections[0].line)
    top = min(each.level for each in sections)
    sentences_by_line: dict[int, str] = {}
    body: list[str] = []
    selected = sections
    for longest, deepest in _HEADING_STEPS:
        selected = [each for each in sections if each.level < top + deepest]
        # Skip the attempt if the headings alone are too much.
        if deepest > 1 and _LEAST_HEADING_TOKENS * len(selected) > most:
            continue
        body = [opening] if opening else []
        for each in selected:
            body.append("#" * each.level + " " + shorten_line(each.text, _LONGEST_HEADING))
            if longest:
                if each.body not in sentences_by_line:
                    sentences_by_line[each.body] = first_sentence(
                        lines, each.body, each.body + _SECTION_LINES
                    )
                body += (
                    [shorten_line(sentences_by_line[each.body], longest)]
                    if sentences_by_line[each.body]
                    else []
                )
        if estimate("\n".join(body), UNKNOWN).tokens <= most:
            return finish_digest(
                "markdown", body, describe_omissions(len(lines), len(body), len(sections) - len(selected))
            )
    # Too many headings: keep as many as fit.
    while len(body) > 1 and estimate("\n".join(body), UNKNOWN).tokens > most:
        del body[max(1, 3 * len(body) // 4) :]
    return finish_digest(
        "markdown", body, describe_omissions(len(lines), len(body), len(sections) - len(body))
    )


def locate_sections(text: str) -> Iterator[ElementLocation]:
    """Yield each heading with its text, up to the next heading that is not deeper."""
    lines = LineIndex(text)
    sections = find_sections(lines.all)
    open_: list[tuple[_Section, int]] = []
    ends = [len(lines.all) - 1] * len(sections)
    for number, each in enumerate(sections):
        while open_ and open_[-1][0].level >= each.level:
            ends[open_.pop()[1]] = each.line - 1
        open_.append((each, number))
    for each, end in zip(sections, ends, strict=True):
        yield lines.locate(strip_marks(each.text), each.line, max(end, each.line))


def describe_omissions(lines: int, shown: int, headings: int) -> str:
    gone = f"{max(lines - shown, 0):,} of {plural(lines, 'line')} left out"
    return f"{gone}, {plural(headings, 'heading')} among them" if headings > 0 else gone


def find_sections(lines: list[str]) -> list[_Section]:
    sections: list[_Section] = []
    underlines: dict[str, int] = {"=": 1, "-": 2}
    fence = ""
    for number in range(skip_front_matter(lines), len(lines)):
        line = lines[number]
        # Most lines are neither heading nor fence, which the first character shows.
        first = line.lstrip(" ")[:1]
        if not first or first not in "#`~=-^\"'*+.:_":
            continue
        opened = None if is_underline(lines, number) else _FENCE.match(line)
        if opened and (not fence or (opened[1].startswith(fence) and not line.strip(" \t\r`~"))):
            fence = "" if fence else opened[1]
        elif not fence:
            sections += parse_heading(lines, number, underlines)
    return sections


def is_underline(lines: list[str], number: int) -> bool:
    """Whether a row of tildes underlines a title that is not longer, and is not a fence."""
    title = lines[number - 1].strip() if number else ""
    return bool(title) and len(title) <= len(lines[number].strip()) and not lines[number].strip(" \t\r~")


def parse_heading(lines: list[str], number: int, underlines: dict[str, int]) -> Iterator[_Section]:
    line = lines[number]
    marked = _HEADING.match(line)
    if marked:
        if marked[2]:
            yield _Section(len(marked[1]), marked[2].strip(), number, number + 1)
        return
    ruled = _UNDERLINE.match(line)
    title = lines[number - 1].strip() if number else ""
    if not ruled or not title or len(line.rstrip()) < min(len(title), 8) or _NO_PROSE.match(title):
        return
    before = lines[number - 2].strip() if number > 1 else ""
    # A title has a rule or nothing above it; a rule below a paragraph is only a rule.
    if (not before or before == line.strip()) and len(title) <= _LONGEST_HEADING and title[0] not in "-*|>":
        level = underlines.setdefault(ruled[1], min(len(underlines) + 1, 6))
        yield _Section(level, title, number - 2 if before else number - 1, number + 1)


def skip_front_matter(lines: list[str]) -> int:
    """Return the line where the text begins, after the front matter."""
    if lines[0].rstrip() in ("---", "+++"):
        for number in range(1, min(len(lines), 60)):
            if lines[number].rstrip() == lines[0].rstrip():
                return number + 1
    return 0


def first_sentence(lines: list[str], first: int, end: int) -> str:
    """Return the first sentence of a section, before the next heading."""
    paragraph: list[str] = []
    for line in lines[first:end]:
        line = line[:_LONGEST_PARAGRAPH].strip()
        if _HEADING.match(line):
            break
        if paragraph and _UNDERLINE.match(line):
            # The line before is the next heading, not a sentence.
            return ""
        if not line and paragraph:
            break
        if line and not _NO_PROSE.match(line):
            paragraph.append(line)
    parts = sentences(_MARKS.sub(r"\1", " ".join(paragraph)[:_LONGEST_PARAGRAPH]))
    return parts[0] if parts else ""


def strip_marks(heading: str) -> str:
    return re.sub(r"\s+", " ", _MARKS.sub(r"\1", heading)).strip()


_MONTH = any_of(" ".join(name[:3] for name in words_of("MONTHS").split()))
_TIME = late(
    r"\[?(\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    rf"|{_MONTH} [ \d]\d \d\d:\d\d:\d\d|\d\d?/{_MONTH}/\d{{4}}:\d\d:\d\d:\d\d(?: [+-]\d{{4}})?"
    r"|\d\d\.\d\d\.\d{2,4},? \d\d:\d\d(?::\d\d)?(?:[.,]\d+)?|\d\d:\d\d:\d\d(?:[.,]\d+)?)\]?"
)
_LEVEL = late(
    r"\b(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|ERR|SEVERE|CRIT(?:ICAL)?|FATAL|PANIC|FEHLER|WARNUNG|KRITISCH)\b"
    r"|\b(trace|debug|info|notice|warn(?:ing)?|error|crit(?:ical)?|fatal|panic)\b(?=[\]:=|)]|\s*$)"
    r"|level=\"?(\w+)"
)
_LEVEL_ALIASES = {"WARNING": "WARN", "WARNUNG": "WARN", "ERR": "ERROR", "FEHLER": "ERROR", "CRIT": "CRITICAL",
         "KRITISCH": "CRITICAL"}  # fmt: skip
_ERROR_LEVELS = frozenset({"ERROR", "SEVERE", "CRITICAL", "FATAL", "PANIC"})
# The end of a traceback, and other signs of an error without a level.
_RAISED = late(
    r"(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Warning)\b(?::|$)|panic: |Caused by: |Segmentation fault"
)
_VARIABLE_PART = late(
    r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b|\b0x[0-9a-fA-F]+\b|\b(?=[a-f]*\d)[0-9a-f]{8,}\b"
    r"|\"[^\"]{0,200}\"|'[^']{0,200}'|\d+(?:[.,:]\d+)*"
)
_SAMPLE_LINES = 60
_LONGEST_LOG_LINE = 300
# (distinct errors, patterns, length of a line), each smaller than the one before.
_LOG_STEPS = (
    (60, 20, 300),
    (40, 15, 200),
    (25, 12, 160),
    (15, 10, 120),
    (10, 6, 100),
    (5, 5, 80),
    (3, 3, 60),
)


def is_log(text: str) -> bool:
    """Whether half of the first lines have a time near their beginning."""
    lines = [line[:120] for line in text[:20_000].split("\n") if line.strip()][:_SAMPLE_LINES]
    timed = sum(bool(_TIME.search(line[:60])) for line in lines)
    return len(lines) >= 3 and timed >= 0.5 * len(lines)


def digest_log(text: str, most: int) -> Digest | None:
    lines = [line for line in text.split("\n") if line.strip()]
    times: list[str] = []
    levels: Counter[str] = Counter()
    patterns: Counter[str] = Counter()
    errors: dict[str, str] = {}
    for line in lines:
        line = line[:_LONGEST_LOG_LINE]
        time = _TIME.search(line, 0, 80)
        if time:
            times.append(time[1])
            text_of_line = line[: time.start()] + line[time.end() :]
        else:
            text_of_line = line
        pattern = _VARIABLE_PART.sub("#", text_of_line.strip())
        patterns[pattern] += 1
        level = log_level(text_of_line)
        levels[level] += bool(level)
        if level in _ERROR_LEVELS or (not level and _RAISED.match(text_of_line.lstrip())):
            errors.setdefault(pattern, line.strip())
    if not (times or +levels):
        return None
    return write_log_digest(lines, times, levels, patterns, errors, most)


def write_log_digest(
    lines: list[str],
    times: list[str],
    levels: Counter[str],
    patterns: Counter[str],
    errors: dict[str, str],
    most: int,
) -> Digest:
    top = [f"{plural(len(lines), 'line')} of log"]
    if times:
        top[0] += f", {times[0]} to {times[-1]}"
    if +levels:
        top.append("levels: " + ", ".join(f"{name} {number:,}" for name, number in (+levels).most_common()))
    body: list[str] = []
    most_errors = most_patterns = 0
    for most_errors, most_patterns, longest in _LOG_STEPS:
        body = list(top)
        if errors:
            body.append(f"{plural(len(errors), 'distinct error')}, the first of each:")
            for pattern, line in list(errors.items())[:most_errors]:
                often = f"  ({patterns[pattern]:,} times)" if patterns[pattern] > 1 else ""
                body.append(shorten_line(line, longest) + often)
        body.append(f"{plural(len(patterns), 'pattern')}, the most frequent:")
        body += [
            f"{number:,} × {shorten_line(pattern, longest)}"
            for pattern, number in patterns.most_common(most_patterns)
        ]
        if estimate("\n".join(body), UNKNOWN).tokens <= most:
            break
    gone = [f"{len(lines) - min(most_errors, len(errors)):,} of {plural(len(lines), 'line')} left out"]
    if len(errors) > most_errors:
        gone.append(f"{plural(len(errors) - most_errors, 'distinct error')} among them")
    if len(patterns) > most_patterns:
        gone.append(plural(len(patterns) - most_patterns, "rarer pattern"))
    return finish_digest("log", body, ", ".join(gone))


def log_level(line: str) -> str:
    match = _LEVEL.search(line, 0, 160)
    if match is None:
        return ""
    name = (match[1] or match[2] or match[3]).upper()
    return _LEVEL_ALIASES.get(name, name)


_LONGEST_PLAIN_LINE = 200
_MOST_PLAIN_LINES = 40


def digest_plain(text: str, most: int) -> Digest:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    room = max(most - 20, 10)
    first = fit_lines(lines[:_MOST_PLAIN_LINES], 2 * room // 3)
    # The tail does not repeat lines of the head.
    remaining = lines[len(first) :][-_MOST_PLAIN_LINES:]
    last = fit_lines(remaining[::-1], room // 3)[::-1]
    gone = len(lines) - len(first) - len(last)
    size = f"{plural(len(lines), 'line')} and {plural(len(text), 'character')}"
    middle = [f"… {plural(gone, 'line')} …"] if gone else []
    whole = [*lines[: len(first)], *lines[len(lines) - len(last) :]]
    shorter = any(len(now) < len(was) for now, was in zip([*first, *last], whole, strict=True))
    left_out = f"{gone:,} of {size} left out" + (", long lines cut" if shorter else "")
    return finish_digest("text", [*first, *middle, *last], left_out)


def fit_lines(lines: list[str], most: int) -> list[str]:
    """Return the first lines that fit into `most` tokens, at least a part of one."""
    fitting: list[str] = []
    used = 0
    written = [shorten_line(line, _LONGEST_PLAIN_LINE) for line in lines]
    for line in written:
        used += estimate(line, UNKNOWN).tokens + 1
        if used > most:
            break
        fitting.append(line)
    return fitting or [shorten_line(line, max(2 * most, 20)) for line in written[:1]]
