"""The five sections of a summary as models write them: which line is a heading, which lines stand under it.

Lenient in form, since small models seldom keep to what they were asked for. It does not know what a summary
is good for, and judges nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.patterns import late

SECTIONS = ("requests", "goal", "done", "open", "must_not")

HEADINGS = {
    "en": {"requests": "Requests", "goal": "Goal", "done": "Done", "open": "Open", "must_not": "Must not"},
    "de": {
        "requests": "Anfragen",
        "goal": "Ziel",
        "done": "Erledigt",
        "open": "Offen",
        "must_not": "Nicht tun",
    },
}

# What else models call them.
_NAMES = {
    "requests": (
        r"(?:the )?(?:user(?:['’]?s)?|stated|original|key|main|explicit)? ?(?:requests?|questions?|asks?)"
        r"|requested|what (?:the user|was) asked"
        r"|(?:die )?(?:nutzer|benutzer|user)?-?(?:anfragen?|anliegen|wünsche|aufträge|bitten|fragen)"
        r"|anforderungen|auftrag|gewünscht"
    ),
    "goal": (
        r"(?:the )?(?:overall|main|final|current|primary|end)? ?(?:goals?|objectives?|aims?|purpose)"
        r"|(?:das )?(?:gesamt|haupt)?-?(?:ziele?|zielsetzung|zweck|absicht)"
    ),
    "done": (
        r"(?:what (?:was|has been|is)|work|tasks?|already)? ?(?:done|completed|accomplished|finished)"
        r"|accomplishments|progress|completed (?:work|tasks|steps|items)|changes(?: made)?|files changed"
        r"|(?:was |bereits |schon )?(?:erledigte?s?|fertig|abgeschlossene?s?|umgesetzt|getan|gemacht)"
        r"|fortschritt|geänderte dateien|änderungen"
    ),
    "open": (
        r"(?:what(?: is|'s|’s) )?(?:still )?(?:open|remaining|pending|outstanding|unresolved|unfinished)"
        r"(?: (?:items?|tasks?|questions?|points?|issues?|work|topics?))?"
        r"|(?:next|further) steps|to-?\s?dos?(?: list)?|left to do"
        r"|(?:was )?(?:noch )?(?:offene?s?|ausstehende?s?|unerledigte?s?)"
        r"(?: (?:punkte|fragen|aufgaben|themen))?"
        r"|nächste schritte|zu erledigen"
    ),
    "must_not": (
        r"(?:what )?(?:you )?(?:must|should) not(?: (?:do|be done|happen))?|must-nots?|mustn['’]?ts?"
        r"|do not(?: do)?|don['’]?ts?|not to do|constraints?|restrictions?|prohibit(?:ed|ions)|forbidden"
        r"|things to avoid|avoid|rules|never"
        r"|(?:what was )?tried (?:and|but) failed|failed attempts|what (?:failed|did not work|didn['’]t work)"
        r"|(?:was )?nicht (?:zu )?(?:tun|machen|erlaubt|gewünscht|getan werden (?:darf|soll))"
        r"|(?:was )?(?:darf|soll) nicht(?: (?:getan|gemacht) werden)?|verbote?n?|verbotenes|tabus?"
        r"|zu vermeiden|vermeiden|einschränkungen|regeln|fehlversuche|fehlgeschlagen(?:es|e versuche)?"
    ),
}
# "Done (with the files changed)", "Must not / tried and failed": what else a heading says.
_MORE = r"(?: *(?:[(/&,–—-]|and |und |with |mit |so far|as |of |by |bisher|wie |des |der |vom )[^:\n]{0,80})?"
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

# A longer line is no heading, whatever stands in it.
_LONGEST_HEADING = 300
# Below so many headings in their usual form, also list items are taken for them.
_FEW = 2


@dataclass(frozen=True, slots=True)
class SectionHeading:
    """A heading; `section` is empty for one we do not know. `rest` is what stands behind it on its line."""

    section: str
    rest: str = ""
    depth: int = 0


def list_sections(text: str) -> list[str]:
    """The sections that have a heading in this text, in order, each once, empty ones too."""
    return list(dict.fromkeys(section for section, _ in lines_by_section(text)))


def lines_by_section(text: str) -> Iterator[tuple[str, str]]:
    """Each line with the section it stands in; a heading itself gives what stands behind it, maybe nothing.

    What stands before the first heading, or under one that is none of ours, is left out.
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
    """What a stripped line is the heading of, None if it is none."""
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
