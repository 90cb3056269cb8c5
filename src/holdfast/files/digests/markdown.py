"""Texts with headings: Markdown, reStructuredText and what was read out of documents.

The digest is the headings with the first sentence under each. Knows no other marks.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.files.digests.values import Digest, Lines, Place, cut, ended, plural
from holdfast.patterns import late
from holdfast.tokens.estimate import UNKNOWN, estimate
from holdfast.words import sentences

_HEADING = late(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t\r]*$")
_UNDERLINE = late(r"([=\-~^\"'`*+.#_:])\1{2,}[ \t\r]*$")
_FENCE = late(r" {0,3}(`{3,}|~{3,})")
# What is no sentence: tables, quotes of code, pictures, comments, marks of lists alone.
_NO_PROSE = late(r"\s*(?:\||<|!\[|\[!\[|```|~~~|:?-{3,}|\.\. |\[[^\]]+\]:)")
_MARKS = late(r"[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}|\[([^\[\]]*)\]\([^()]*\)")
_LONGEST_HEADING = 120
_LONGEST_SAID = 600
# A heading takes at least these tokens.
_LEAST = 3
# Of a section this many lines are looked at for its first sentence.
_GLANCE = 12
# (how long a sentence, how deep the headings), each leaner than the one before.
_STEPS = ((200, 6), (120, 6), (70, 6), (0, 6), (70, 2), (0, 3), (0, 2), (0, 1))


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    text: str
    line: int
    """Counted from zero; what belongs to it begins at `body`."""
    body: int


def digest(text: str, most: int) -> Digest | None:
    lines = text.split("\n")
    found = _headings(lines)
    if not found:
        return None
    opening = _sentence(lines, _opening(lines), found[0].line)
    top = min(each.level for each in found)
    said: dict[int, str] = {}
    body: list[str] = []
    told = found
    for longest, deepest in _STEPS:
        told = [each for each in found if each.level < top + deepest]
        # Where the headings alone are too much, nobody looks for sentences.
        if deepest > 1 and _LEAST * len(told) > most:
            continue
        body = [opening] if opening else []
        for each in told:
            body.append("#" * each.level + " " + cut(each.text, _LONGEST_HEADING))
            if longest:
                if each.body not in said:
                    said[each.body] = _sentence(lines, each.body, each.body + _GLANCE)
                body += [cut(said[each.body], longest)] if said[each.body] else []
        if estimate("\n".join(body), UNKNOWN).tokens <= most:
            return ended("markdown", body, _left_out(len(lines), len(body), len(found) - len(told)))
    # Headings without end: as many as there is room for.
    while len(body) > 1 and estimate("\n".join(body), UNKNOWN).tokens > most:
        del body[max(1, 3 * len(body) // 4) :]
    return ended("markdown", body, _left_out(len(lines), len(body), len(found) - len(body)))


def places(text: str) -> Iterator[Place]:
    """Each heading with what is under it, down to the next one that is not deeper."""
    lines = Lines(text)
    found = _headings(lines.all)
    open_: list[tuple[_Heading, int]] = []
    ends = [len(lines.all) - 1] * len(found)
    for number, each in enumerate(found):
        while open_ and open_[-1][0].level >= each.level:
            ends[open_.pop()[1]] = each.line - 1
        open_.append((each, number))
    for each, end in zip(found, ends, strict=True):
        yield lines.place(_plain(each.text), each.line, max(end, each.line))


def _left_out(lines: int, told: int, headings: int) -> str:
    gone = f"{max(lines - told, 0):,} of {plural(lines, 'line')} left out"
    return f"{gone}, {plural(headings, 'heading')} among them" if headings > 0 else gone


def _headings(lines: list[str]) -> list[_Heading]:
    found: list[_Heading] = []
    underlines: dict[str, int] = {"=": 1, "-": 2}
    fence = ""
    for number in range(_opening(lines), len(lines)):
        line = lines[number]
        # Most lines are neither, and one look at their first letter tells.
        first = line.lstrip(" ")[:1]
        if not first or first not in "#`~=-^\"'*+.:_":
            continue
        opened = None if _is_underline(lines, number) else _FENCE.match(line)
        if opened and (not fence or (opened[1].startswith(fence) and not line.strip(" \t\r`~"))):
            fence = "" if fence else opened[1]
        elif not fence:
            found += _heading(lines, number, underlines)
    return found


def _is_underline(lines: list[str], number: int) -> bool:
    """Whether a row of tildes, which may be a fence, stands under a title that is as long."""
    title = lines[number - 1].strip() if number else ""
    return bool(title) and len(title) <= len(lines[number].strip()) and not lines[number].strip(" \t\r~")


def _heading(lines: list[str], number: int, underlines: dict[str, int]) -> Iterator[_Heading]:
    line = lines[number]
    marked = _HEADING.match(line)
    if marked:
        if marked[2]:
            yield _Heading(len(marked[1]), marked[2].strip(), number, number + 1)
        return
    ruled = _UNDERLINE.match(line)
    title = lines[number - 1].strip() if number else ""
    if not ruled or not title or len(line.rstrip()) < min(len(title), 8) or _NO_PROSE.match(title):
        return
    before = lines[number - 2].strip() if number > 1 else ""
    # A line over the title, too, or none: a rule under a whole paragraph is only a rule.
    if (not before or before == line.strip()) and len(title) <= _LONGEST_HEADING and title[0] not in "-*|>":
        level = underlines.setdefault(ruled[1], min(len(underlines) + 1, 6))
        yield _Heading(level, title, number - 2 if before else number - 1, number + 1)


def _opening(lines: list[str]) -> int:
    """Where the text begins: behind what generators of pages want to know."""
    if lines[0].rstrip() in ("---", "+++"):
        for number in range(1, min(len(lines), 60)):
            if lines[number].rstrip() == lines[0].rstrip():
                return number + 1
    return 0


def _sentence(lines: list[str], first: int, end: int) -> str:
    """The first sentence of a section, before the next heading."""
    said: list[str] = []
    for line in lines[first:end]:
        line = line[:_LONGEST_SAID].strip()
        if _HEADING.match(line):
            break
        if said and _UNDERLINE.match(line):
            # What looked like a sentence is the next heading.
            return ""
        if not line and said:
            break
        if line and not _NO_PROSE.match(line):
            said.append(line)
    found = sentences(_MARKS.sub(r"\1", " ".join(said)[:_LONGEST_SAID]))
    return found[0] if found else ""


def _plain(heading: str) -> str:
    return re.sub(r"\s+", " ", _MARKS.sub(r"\1", heading)).strip()
