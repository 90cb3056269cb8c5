"""The summary: five sections of single lines, and how it is rendered, parsed and trimmed to a size.

Parsing accepts many forms of headings, since small models seldom keep to the format they are asked for.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.text import analyser
from holdfast.text.lang import any_phrase, by_language
from holdfast.text.patterns import late
from holdfast.text.slots import compare, tells_change, touches
from holdfast.text.statements import statements_in
from holdfast.tokens.budget import largest_fitting
from holdfast.window.shorten import whole_characters

SECTIONS = ("requests", "goal", "done", "open", "must_not")

HEADINGS = by_language("SECTION_HEADINGS")
# Other titles that models use for the sections.
_NAMES = {
    name: "|".join(titles[name] for titles in by_language("SECTION_TITLES").values()) for name in SECTIONS
}
# Additions to a title: "Done (with the files changed)", "Must not / tried and failed".
_MORE = rf"(?: *(?:[(/&,–—-]|{any_phrase('TITLE_ADDITIONS')})[^:\n]{{0,80}})?"
_SECTION_TITLE = late(
    "(?:" + "|".join(f"(?P<{name}>{words})" for name, words in _NAMES.items()) + rf"){_MORE}", re.IGNORECASE
)

_NUMBER = r"(?:\(?(?:\d{1,2}|[a-e]|[ivx]{1,4})[.):] *|§ *\d )?"
_BULLET = r"(?:[-*•–·▪◦‣+→✅❌☐☑✔✓🎯📌] *)?"
_HASH_HEADING = late(rf"(?P<hashes>#{{1,6}}) *{_NUMBER}(?P<title>.*)")
_BOLD = late(rf"{_BULLET}{_NUMBER}(?P<mark>\*\*|__)(?P<title>[^*_\n]{{2,90}})(?P=mark)(?P<rest>.*)")
_PLAIN = late(rf"{_NUMBER}(?P<title>[^:\n]{{2,90}}):(?P<rest>.*)")
_LIST_ITEM = late(rf"{_BULLET}{_NUMBER}(?P<title>[^:\n]{{2,90}}):(?P<rest>.*)")
_ALONE = late(rf"{_NUMBER}(?P<title>[^:\n]{{2,90}})")
_LEADING_NUMBER = late(_NUMBER)
_ORNAMENT = " \t*_:#=<>[]`✅❌⏳🎯📌📝🚫⚠️🔜"

# A longer line is never a heading.
_LONGEST_HEADING = 300
# With fewer headings in the usual form, list items are read as headings, too.
_FEW = 2


@dataclass(frozen=True, slots=True)
class SectionHeading:
    """A heading; `section` is empty for an unknown one, `rest` is the text after it on the same line."""

    section: str
    rest: str = ""
    depth: int = 0


def list_sections(text: str) -> list[str]:
    """Returns the sections that have a heading in the text, in order, each once, also empty ones."""
    return list(dict.fromkeys(section for section, _ in lines_by_section(text)))


def lines_by_section(text: str) -> Iterator[tuple[str, str]]:
    """Yields (section, line) pairs; for a heading the line is the text after it, possibly empty.

    Lines before the first heading or under an unknown one are skipped.
    """
    lines = [line.strip() for line in text.splitlines()]
    headings = [parse_heading(line) for line in lines]
    if len({heading.section for heading in headings if heading and heading.section}) < _FEW:
        headings = [
            heading or parse_list_heading(line) for heading, line in zip(headings, lines, strict=True)
        ]
    section, depth = "", 0
    for heading, line in zip(headings, lines, strict=True):
        if heading is None:
            if section:
                yield section, line
        elif heading.section:
            section, depth = heading.section, heading.depth
            yield section, heading.rest
        elif heading.depth <= depth or not depth:
            section = ""


def parse_heading(line: str) -> SectionHeading | None:
    """Parses a stripped line as a heading; None if it is not one."""
    if len(line) > _LONGEST_HEADING or not line:
        return None
    if hash_heading := _HASH_HEADING.fullmatch(line):
        title, colon, remainder = hash_heading["title"].partition(":")
        section = match_section(title)
        return SectionHeading(
            section, remainder.strip(_ORNAMENT) if colon and section else "", len(hash_heading["hashes"])
        )
    bold = _BOLD.fullmatch(line)
    if bold and (bold["title"].rstrip().endswith(":") or bold["rest"].lstrip()[:1] in ("", ":", "-", "–")):
        section = match_section(bold["title"])
        return SectionHeading(section, bold["rest"].strip().lstrip(":–- ")) if section else None
    if plain := _PLAIN.fullmatch(line):
        section = match_section(plain["title"])
        return SectionHeading(section, plain["rest"].strip()) if section else None
    alone = _ALONE.fullmatch(line)
    if alone and not alone["title"][:1].islower() and (section := match_section(alone["title"])):
        return SectionHeading(section)
    return None


def parse_list_heading(line: str) -> SectionHeading | None:
    if len(line) > _LONGEST_HEADING or not (item := _LIST_ITEM.fullmatch(line)):
        return None
    section = match_section(item["title"])
    return SectionHeading(section, item["rest"].strip(" *_")) if section else None


def match_section(title: str) -> str:
    match = _SECTION_TITLE.fullmatch(_LEADING_NUMBER.sub("", " ".join(title.strip(_ORNAMENT).split())))
    return match.lastgroup or "" if match else ""


__all__ = ["SECTIONS", "Summary", "shorten_line"]

Count = Callable[[str], int]

# Sections by how long they keep their last line, the longest first.
_SECTION_PRIORITY = ("goal", "must_not", "requests", "done", "open")
# Sections whose first line counts as much as the newest; elsewhere the newest line counts most.
_ENDS_MATTER = ("requests", "goal")
# One line may take at most this fraction of the room, so that others fit as well.
_LINE_SHARE = 2
# A line cut shorter than this is useless.
_SHORTEST = 24

_ITEM = late(r"(?:[-*•–·▪◦‣+→]|\(?\d{1,2}[.)])\s+(?:\[[ xX]?\]\s*)?|[•▪◦‣]")
_NOTHING = late(rf"[\W_]*{any_phrase('NOTHING')}?[\W_]*", re.IGNORECASE)
_FENCE = late(r"(?:```|~~~)[\w-]*")
_REMARK = late(any_phrase("REMARKS"), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary; each section is a tuple of lines, the oldest first."""

    requests: tuple[str, ...] = ()
    goal: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    language: str = "en"

    @classmethod
    def of(cls, sections: Mapping[str, Iterable[str]], language: str) -> "Summary":
        requests, goal, done, still_open, must_not = (tuple(sections.get(name, ())) for name in SECTIONS)
        return cls(requests, goal, done, still_open, must_not, language)

    def section(self, name: str) -> tuple[str, ...]:
        lines: tuple[str, ...] = getattr(self, name)
        return lines

    def __bool__(self) -> bool:
        return any(self.section(name) for name in SECTIONS)

    def without(self, quoted: Collection[str]) -> "Summary":
        """Returns the summary without lines that have one of these texts, or that it gives another value."""
        changes = [quote for quote in quoted if tells_change(quote)]

        def stays(line: str) -> bool:
            if any(quote in line for quote in quoted):
                return False
            return not any(touches(newer, line) and compare(newer, line) == "replaces" for newer in changes)

        return Summary.of({name: filter(stays, self.section(name)) for name in SECTIONS}, self.language)

    def render(self) -> str:
        """Returns Markdown with headings in the summary's language; empty sections are left out."""
        titles = HEADINGS["de" if self.language == "de" else "en"]
        lines_out: list[str] = []
        for name in SECTIONS:
            if lines := [f"- {' '.join(line.split())}" for line in self.section(name) if line.strip()]:
                lines_out += [f"## {titles[name]}", *lines]
        return "\n".join(lines_out)

    def to_json(self) -> dict[str, Any]:
        return {**{name: list(self.section(name)) for name in SECTIONS}, "language": self.language}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Summary":
        return cls.of(value, value.get("language", "en"))

    @classmethod
    def parse(cls, text: str, language: str) -> "Summary | None":
        """Parses a model's answer (without its thinking); None if it has none of the sections."""
        sections: dict[str, dict[str, None]] = {}
        after_gap = False
        for section, line in lines_by_section(text):
            lines = sections.setdefault(section, {})
            if not line or _FENCE.fullmatch(line):
                after_gap = True
                continue
            # After a blank line the model may be addressing its user.
            if not (after_gap and _REMARK.match(line)):
                lines.update(dict.fromkeys(_split_items(line)))
            after_gap = False
        return cls.of(sections, language) if sections else None

    def trim(self, count: Count, tokens: int) -> "Summary":
        """Returns as much of the summary as fits in `tokens`.

        Lines longer than half the room are cut first. Then whole lines are removed, the same number
        from every section: the newest stay longest, of what was done those that state something, and of
        requests and goal the first one as well. Only a last line is cut.
        """
        if count(self.render()) <= tokens:
            return self
        short = self._limit_lines(count, tokens)
        ranked = sorted(short._rank_lines())
        fits = largest_fitting(
            len(ranked), lambda number: count(short._select(ranked[:number]).render()) <= tokens
        )
        if fits:
            return short._select(ranked[:fits])
        return short._select(ranked[:1])._cut_lines(count, tokens) or Summary(language=self.language)

    def _limit_lines(self, count: Count, tokens: int) -> "Summary":
        room = tokens // _LINE_SHARE

        def short(line: str) -> str:
            # A character has at most four tokens, so most lines need no counting.
            if 4 * len(line) <= room or count(line) <= room:
                return line
            size = largest_fitting(len(line), lambda size: count(shorten_line(line, size)) <= room)
            return shorten_line(line, max(size, _SHORTEST))

        return self._map_lines(short)

    def _rank_lines(self) -> list[tuple[int, int, str, int]]:
        """Returns (rank, section priority, section, index) for every line; rank 0 stays longest."""
        ranked = []
        for name in SECTIONS:
            lines = self.section(name)
            places = sorted(range(len(lines)), reverse=True)
            if name in _ENDS_MATTER:
                places = [*places[-1:], *places[:-1]]
            elif name == "done":
                places.sort(key=lambda place: not is_statement(lines[place]))
            for rank, place in enumerate(places):
                ranked.append((rank, _SECTION_PRIORITY.index(name), name, place))
        return ranked

    def _select(self, ranked: Sequence[tuple[int, int, str, int]]) -> "Summary":
        sections: dict[str, list[str]] = {name: [] for name in SECTIONS}
        for _, _, name, place in sorted(ranked, key=lambda line: line[3]):
            sections[name].append(self.section(name)[place])
        return Summary.of(sections, self.language)

    def _map_lines(self, change: Callable[[str], str]) -> "Summary":
        return Summary.of({name: map(change, self.section(name)) for name in SECTIONS}, self.language)

    def _cut_lines(self, count: Count, tokens: int) -> "Summary | None":
        def cut(size: int) -> Summary:
            return self._map_lines(lambda line: shorten_line(line, size))

        longest = max(len(line) for name in SECTIONS for line in self.section(name))
        size = largest_fitting(longest, lambda size: count(cut(size).render()) <= tokens)
        return cut(size) if size >= max(1, min(_SHORTEST, longest)) else None


def is_statement(line: str) -> bool:
    """Whether a line says something that holds, as a person states it, and is not only a report."""
    return any(statement.kind in ("fact", "decision", "preference") for statement in statements_in((line,)))


def shorten_line(line: str, size: int) -> str:
    """Returns the line in at most `size` characters, cut between words if possible, with an ellipsis."""
    if len(line) <= size:
        return line
    end = whole_characters(line, max(size - 1, 0), -1)
    space = line.rfind(" ", end // 2, end + 1)
    start = line[: space if space > 0 else end].rstrip(" ,;:-–…")
    return f"{start}…" if start else ""


def _split_items(line: str) -> list[str]:
    """Returns the line without its bullet; prose is split into sentences, so that these can be trimmed."""
    item = _ITEM.match(line)
    pieces = [line[item.end() :]] if item else analyser.sentences(line)
    cleaned = (" ".join(piece.split()) for piece in pieces)
    return [piece for piece in cleaned if not _NOTHING.fullmatch(piece)]
