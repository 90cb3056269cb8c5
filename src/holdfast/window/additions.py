"""Texts that are put behind a question: quotes, sources, files, the time; and what becomes of them later.

Each is one decision on that message, so it is written once and does not change. For later questions files,
sources and quotes are replaced by shorter texts or removed. Pure: the texts are made elsewhere.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby, zip_longest
from typing import Any

from holdfast.i18n import current_language
from holdfast.messages import Message
from holdfast.text.analyser import language_of
from holdfast.text.lang import UPPER, any_word, by_language
from holdfast.text.patterns import late
from holdfast.window.decisions import Add, Addition, Proposal, Replace, Section, Tell
from holdfast.window.items import Item
from holdfast.window.rules import typed_text
from holdfast.window.shorten import shorten
from holdfast.window.view import View

# What is left of sources that have no summary.
SOURCE_TOKENS = 100
# A text that does not get smaller by a tenth is left as it is.
WORTH = 0.9
# A file stays whole while one of this many newest messages mentions it.
MENTIONED_IN = 3

# The headings above quotes, by where they are from.
_QUOTE_HEADINGS = by_language("QUOTE_HEADINGS")
# In words that stay true: a note stays in the window as long as the conversation goes on.
_FINDING = by_language("FINDING_HEADING")
_UNTIL = by_language("FINDING_UNTIL")
_SOURCES = by_language("CONTEXT_HEADING")
_PAGES = by_language("SOURCES_HEADING")
_EXPIRED = by_language("FINDING_EXPIRED")
_OUTDATED: dict[str, str] = by_language("FINDING_OUTDATED")
_SPEAKER = by_language("QUOTED_SPEAKERS")
# Longer questions are quoted by their beginning.
_QUESTION = 200
# The number of characters of sources that is enough to detect their language.
_SAMPLE = 2_000
# The reason for an addition to a section, where none is given.
_REASONS = {
    "clock": "the time in the instructions went on",
    "research": "it came with the question",
    "files": "the question names it",
}
# The rule for an addition to a section, where it is not named like the section.
_RULES = {"research": "context"}

# The suffix of the name of a part of a file (a name, lines, a search), or of a folder listing.
_PART = re.compile(r":(?=(?:name|lines|search):|(?:list|tree)$)")
# A text behind an earlier question, with the id of its message.
PlacedAddition = tuple[str, Addition]


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote from the past: where it is from, when it was said, by whom, and its words."""

    origin: str
    at: float
    role: str
    text: str


# Adding


def propose_addition(
    view: View,
    question: Item,
    section: Section,
    text: str,
    decision: str,
    *,
    rule: str = "",
    reason: str = "",
    **more: Any,
) -> Add:
    """Return the decision that puts a text behind a question; `more` are further fields of `Add`."""
    return Add(
        rule or _RULES.get(section, section),
        (question.id,),
        0,
        view.text_tokens(text),
        section,
        text,
        reason=reason or _REASONS.get(section, ""),
        id=decision,
        **more,
    )


def propose_profile(view: View, profile: str) -> list[Proposal]:
    """Put the profile at the end of the instructions, if it is not there already."""
    before = view.rendered.profile
    if profile == before:
        return []
    then, now = (view.text_tokens(text) if text else 0 for text in (before, profile))
    reason = "the profile changed" if before else "there is a profile"
    return [Tell("profile", (), then, now, profile, reason=reason)]


def format_quotes(question: Message, quotes: Sequence[Quote], at: float = 0.0) -> str:
    """Return the quotes for a question: memories, then earlier conversations, then this one.

    `at` is when it is asked: memories that are all of that day have no date.
    """
    return "\n\n".join("\n".join((heading, *lines)) for heading, lines in quote_blocks(question, quotes, at))


def quote_blocks(
    question: Message, quotes: Sequence[Quote], at: float = 0.0
) -> Iterator[tuple[str, list[str]]]:
    """Return the headings of the quotes for a question, each with its lines, one for a quote.

    Where a day has several quotes of what was said, its date stands once above them: on every line it would
    take as much room as a short message.
    """
    language = find_language(question, quotes)
    for origin, title in _QUOTE_HEADINGS[language].items():
        of_origin = [quote for quote in quotes if quote.origin == origin]
        days = {day_of(quote) for quote in of_origin}
        if not of_origin:
            continue
        if origin == "memory" or len(of_origin) < 2 * len(days):
            dated = origin != "memory" or not at or days != {format_day(at)}
            yield title, [format_quote(quote, language, dated=dated) for quote in of_origin]
            continue
        for day, same in groupby(of_origin, day_of):
            heading = title.replace("]", f", {day}]") if day else title
            yield heading, [format_quote(quote, language, dated=False) for quote in same]


def find_language(question: Message, quotes: Sequence[Quote]) -> str:
    """Return the language around quotes: the question's, else that of the quotes, else the reader's."""
    # What was typed comes first: a pasted text may have another language.
    return (
        language_of(typed_text(question.text))
        or language_of(question.text)
        or language_of("\n".join(quote.text for quote in quotes)[:_SAMPLE])
        or current_language()
    )


def split_quotes(
    question: Message, quotes: Sequence[Quote], most: float, count: Callable[[str], int]
) -> Iterator[tuple[str, int]]:
    """Return the quotes as texts of about `most` tokens, each with the number of its quotes.

    A heading is not repeated: a text stays no longer than those before it.
    """
    text, number, size = "", 0, 0
    for heading, lines in quote_blocks(question, quotes):
        text += f"\n\n{heading}" if text else heading
        for line in lines:
            text += f"\n{line}" if text else line
            number, size = number + 1, size + count(line)
            if size >= most:
                yield text, number
                text, number, size = "", 0, 0
    if number:
        yield text, number


def format_quote(quote: Quote, language: str, *, dated: bool = True) -> str:
    """Return a quote as one item of a list."""
    speaker = _SPEAKER[language].get(quote.role, "")
    origin = ", ".join(filter(None, (day_of(quote) if dated else "", speaker)))
    text = " ".join(quote.text.split()) if quote.origin == "memory" else quote.text
    return f"- {origin}: {text}" if origin else f"- {text}"


def day_of(quote: Quote) -> str:
    """Return the date of a quote; what somebody wrote by hand has none."""
    return format_day(quote.at) if quote.at else ""


def format_day(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


def format_sources(question: Message, texts: Sequence[str]) -> str:
    """Return the context that a client sent with a question."""
    language = language_of(question.text) or language_of(" ".join(texts)[:_SAMPLE]) or current_language()
    return "\n\n".join((_SOURCES[language], *texts))


def format_pages(language: str, texts: Sequence[str], held: float = 0.0) -> str:
    """Return the sources that were read for a question; `held` is when they expired, if they did."""
    heading = _PAGES[language]
    if held:
        heading += "\n" + _EXPIRED[language].format(until=format_time(held))
    return "\n\n".join((heading, *texts))


def format_finding(language: str, at: float, question: str, summary: str, until: float = 0.0) -> str:
    """Return the note of an earlier finding: when it was made, until when it holds, question and summary."""
    holds = _UNTIL[language].format(until=format_time(until)) if until else ""
    heading = _FINDING[language].format(at=format_time(at), until=holds, question=one_line(question))
    return f"{heading}\n{summary}" if summary else heading


def format_expired(language: str, at: float, question: str, until: float) -> str:
    """Return the note that an earlier finding, which the window shows, has expired."""
    return _OUTDATED[language].format(
        at=format_time(at), until=format_time(until), question=one_line(question)
    )


def format_time(at: float) -> str:
    """Return a time as local clocks show it."""
    return f"{datetime.fromtimestamp(at, UTC).astimezone():%Y-%m-%d %H:%M}"


def one_line(question: str) -> str:
    """Return a question on one line, cut if it is long."""
    line = " ".join(question.split())
    return line if len(line) <= _QUESTION else f"{line[: _QUESTION - 1].rstrip()}…"


# Replacing


def shrink_files(view: View) -> list[Proposal]:
    """Replace files that are not mentioned any more by digests, and repeats by a pointer to the newest."""
    placed = list(earlier_additions(view, "files"))
    talk = " ".join(shown.item.message.text for shown in view.shown[-MENTIONED_IN:])
    files = (addition for shown in view.shown for addition in shown.additions if addition.section == "files")
    newest = {file_of(addition.name): addition for addition in files}
    repeats = [pair for pair in placed if is_superseded(pair[1], newest[file_of(pair[1].name)])]
    old = [
        (name, addition)
        for name, addition in placed
        if addition.short and (name, addition) not in repeats and not is_mentioned(addition.name, talk)
    ]
    return [
        *point_further_down(view, repeats, "repeat"),
        *propose_replacement(view, old, {addition.decision: addition.short for _, addition in old}, "file"),
    ]


def shrink_research(view: View) -> list[Proposal]:
    """Replace the sources of earlier questions by notes."""
    return _propose_notes(view, list(earlier_additions(view, "research")), "research")


def shrink_findings(view: View) -> list[Proposal]:
    """Replace sources that have a note at once: new ones came, and two sets of them are seldom needed."""
    placed = [pair for pair in earlier_additions(view, "research") if pair[1].name]
    return _propose_notes(view, placed, "research_new")


def _propose_notes(view: View, placed: Sequence[PlacedAddition], rule: str) -> list[Proposal]:
    notes = {}
    for _, addition in placed:
        note = view.draft.notes.get(addition.name) or addition.short
        if not note and not addition.name:
            note = shorten(addition.text, SOURCE_TOKENS, view.text_tokens)
        notes[addition.decision] = note or addition.text
    return propose_replacement(view, placed, notes, rule)


def replace_outdated_files(view: View, tags: Mapping[str, str]) -> list[Proposal]:
    """Replace files whose tags say that they have changed: the question brings the new version."""
    placed = earlier_additions(view, "files")
    old = [pair for pair in placed if tags.get(file_of(pair[1].name), pair[1].tag) != pair[1].tag]
    return point_further_down(view, old, "file_changed")


def point_further_down(view: View, placed: Sequence[PlacedAddition], rule: str) -> list[Proposal]:
    """Replace files by a pointer to a newer version further down."""
    texts = {addition.decision: f"[{addition.name}: further down]" for _, addition in placed}
    return propose_replacement(view, placed, texts, rule)


def drop_quotes(view: View) -> list[Proposal]:
    """Remove the quotes for earlier questions as a part of a batch, which loses the prefix in any case."""
    return remove_additions(view, list(earlier_evidence(view)), "recalled_old")


def drop_evidence(view: View) -> list[Proposal]:
    """Remove the quotes for earlier questions; what has room in the end is put back."""
    return remove_additions(
        view, list(earlier_evidence(view)), "recalled_full", "it was for an earlier question"
    )


def earlier_evidence(view: View) -> Iterator[PlacedAddition]:
    """Return quotes for one earlier question each, without those for the whole conversation."""
    return (pair for pair in earlier_additions(view, "recalled") if pair[1].is_evidence)


def earlier_additions(view: View, section: Section) -> Iterator[PlacedAddition]:
    """Return the texts of a section, without those behind the current question."""
    vetoed = view.list_vetoes("replace")
    for shown in view.shown:
        if shown.item is not view.question and shown.item.id not in vetoed:
            for addition in shown.additions:
                if addition.section == section and addition.decision:
                    yield shown.item.id, addition


def propose_replacement(
    view: View, placed: Iterable[PlacedAddition], texts: Mapping[str, str], rule: str
) -> list[Proposal]:
    """Return one decision for all texts that get smaller by a tenth; `texts` is by decision."""
    names, instead, before, after = [], {}, 0, 0
    for name, addition in placed:
        text = texts[addition.decision]
        tokens, left = view.text_tokens(addition.text), view.text_tokens(text)
        if left < tokens * WORTH:
            instead[addition.decision] = text
            names.append(name)
            before, after = before + tokens, after + left
    return [Replace(rule, tuple(dict.fromkeys(names)), before, after, instead)] if instead else []


def remove_additions(
    view: View, placed: Sequence[PlacedAddition], rule: str, reason: str = ""
) -> list[Proposal]:
    """Return the decision that removes these texts."""
    if not placed:
        return []
    tokens = sum(view.text_tokens(addition.text) for _, addition in placed)
    names = tuple(dict.fromkeys(name for name, _ in placed))
    return [Replace(rule, names, tokens, 0, {addition.decision: "" for _, addition in placed}, reason=reason)]


def covers(addition: Addition, text: str) -> bool:
    """Whether a file's text is shown, also as part of the whole, or is the digest of what is shown."""
    body = _body(text)
    return body in addition.text or (bool(addition.short) and body == _body(addition.short))


def _body(text: str) -> str:
    """Return a text without its heading."""
    return text.partition("\n")[2] or text


def file_of(name: str) -> str:
    """Return the file of which something is a part."""
    return _PART.split(name, maxsplit=1)[0]


def is_superseded(addition: Addition, newest: Addition) -> bool:
    """Whether the newest text of a file is another version, or covers all of an older text."""
    return newest is not addition and (addition.tag != newest.tag or covers(newest, addition.text))


def is_mentioned(file: str, talk: str) -> bool:
    """Whether a file is mentioned, by its path or by its name alone."""
    # Disks and keyboards may encode the same letter differently.
    name, talk = (unicodedata.normalize("NFC", text) for text in (file_of(file), talk))
    alone = re.escape(name.rstrip("/").rpartition("/")[2])
    return bool(alone) and re.search(rf"(?<![\w.-]){alone}(?![\w-]|\.\w)", talk) is not None


# The clock: clients put the time into their system prompt; sent anew, it would cost the prefix cache.

_MONTHS = any_word("MONTHS", "MONTH_ABBREVIATIONS")
_WEEKDAYS = any_word("WEEKDAYS", "WEEKDAY_ABBREVIATIONS")
_ZONES = (
    r"(?:UTC|GMT)(?:[+-]\d{1,2}(?::?\d{2})?)?|CES?T|MES?Z|WES?T|EES?T|[ECMP][SD]T|BST|IST|JST|AES?T|AEDT|"
    r"(?:Africa|America|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc)/[A-Z]\w+(?:/[A-Z]\w+)?|"
    rf"{any_word('TIME_ZONES')}"
)
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_MONTH = r"(?:1[0-2]|0?[1-9])"
_YEAR = r"(?:19|20)\d\d"
_TIME = r"(?:2[0-4]|[01]?\d):[0-5]\d(?::[0-6]\d(?:[.,]\d+)?)?"
_OFFSET = r"(?:Z|[+-](?:0\d|1[0-4]):?[0-5]\d)"

# No number or dot may touch a date or time: 10.11.20.26 is an address and 1.2.2026.3 a version.
_ALONE, _ENDS = r"(?<![\w.,:/-])", r"(?![\w/]|[.,:-]\d)"

# How long something takes is no time of day, though it may look like one.
_DURATION = rf"(?i:\b{any_word('DURATIONS')}\b)[^\n\d]{{0,16}}\d[\d:.,]*"
_TIMES = late(
    rf"(?P<lasts>{_DURATION})"
    # 2026-11-15T10:42:07.123+01:00, 2026/11/15
    rf"|{_ALONE}{_YEAR}([-/]){_MONTH}\2{_DAY}(?:T{_TIME}{_OFFSET}?)?{_ENDS}"
    # 15.11.2026, 15.11.26 with a word that makes it a date, 11/15/2026
    rf"|{_ALONE}{_DAY}\.[ ]?{_MONTH}\.[ ]?{_YEAR}{_ENDS}"
    rf"|(?:(?<=\bam )|(?<=\bden )|(?<=\bvom )|(?<=, )){_DAY}\.{_MONTH}\.(?:\d\d)?{_ENDS}"
    rf"|{_ALONE}(?:{_MONTH}/{_DAY}|{_DAY}/{_MONTH})/(?:{_YEAR}|\d\d){_ENDS}"
    # November 15th, 2026; 15. November 2026; November 2026; November
    rf"|\b{_MONTHS}\b\.?(?:[ ]{_DAY}(?:st|nd|rd|th)?\b(?!:))?(?:,?[ ]{_YEAR}\b)?"
    rf"|{_ALONE}{_DAY}(?:st|nd|rd|th|\.)?[ ](?:of[ ])?{_MONTHS}\b\.?(?:,?[ ]{_YEAR}\b)?"
    rf"|\b{_WEEKDAYS}\b|\b{any_word('WEEKDAY_INITIALS')}\.?,(?=[ ]\d)"
    rf"|\b(?:year|Year|Jahr):?[ ]{_YEAR}\b|\b(?:KW|week|Week|Woche)[ ]?[0-5]?\d\b"
    # 10:42 AM, 14:05 Uhr, 7 pm, 14 Uhr
    rf"|{_ALONE}{_TIME}(?:[ ]?[AaPp]\.?[Mm]\b\.?)?(?:[ ]?Uhr\b)?(?:[ ]?{_OFFSET})?{_ENDS}"
    rf"|{_ALONE}(?:1[0-2]|[1-9])[ ]?[AaPp]\.?[Mm]\b\.?|{_ALONE}(?:2[0-4]|1?\d)[ ]Uhr\b(?:[ ][0-5]\d\b)?"
    rf"|\b(?:{_ZONES})\b(?:[ ]{_YEAR}\b)?|{_ALONE}[+-](?:0\d|1[0-4]):[0-5]\d\b"
    # Seconds or milliseconds since 1970, where something says so.
    r"|(?P<label>(?i:time|unix|epoch|now|zeit|stempel)\w{0,8}\W{1,12})1[5-9]\d{8}(?:\d{3})?(?:\.\d+)?(?!\d)"
)

# Shorter lines are repeated whole; of longer ones only the sentences that changed.
_WHOLE_LINE = 200
_SENTENCE_END = late(rf"(?<=[.!?])[ \t]+(?=[{UPPER}<\[(])")


def clock_for(before: Sequence[Message], now: Sequence[Message]) -> str | None:
    """Return what changed if only times in the instructions did; None if anything else changed."""
    if len(before) != len(now):
        return None
    changes = []
    for old, new in zip(before, now, strict=True):
        if not same_but_for_time(old.text, new.text):
            return None
        if old.text != new.text:
            changes.append(time_changes(old.text, new.text))
    return "\n".join(changes)


def same_but_for_time(before: str, now: str) -> bool:
    """Whether two texts differ in nothing but dates and times."""
    if before == now:
        return True
    # No time goes over the end of a line, so only lines that changed need a closer look.
    old, new = before.split("\n"), now.split("\n")
    return len(old) == len(new) and all(
        earlier == line or split_at_times(earlier) == split_at_times(line)
        for earlier, line in zip(old, new, strict=True)
    )


def time_changes(before: str, now: str) -> str:
    """Return the lines of `now` that differ from `before`, each once, in order."""
    changes: dict[str, None] = {}
    for old, new in zip_longest(before.split("\n"), now.split("\n")):
        if new is not None and new != old:
            for part in _split_changes(old or "", new):
                changes[part.strip()] = None
    return "\n".join(part for part in changes if part)


def split_at_times(line: str) -> list[str]:
    """Return the line around its dates and times."""
    pieces, start = [], 0
    for match in _TIMES.finditer(line):
        if match["lasts"] is None:
            pieces.append(line[start : max(match.start(), match.end("label"))])
            start = match.end()
    pieces.append(line[start:])
    return pieces


def _split_changes(old: str, new: str) -> list[str]:
    if len(new) <= _WHOLE_LINE:
        return [new]
    before, after = _SENTENCE_END.split(old), _SENTENCE_END.split(new)
    if len(before) != len(after):
        return [new]
    return [sentence for earlier, sentence in zip(before, after, strict=True) if earlier != sentence]
