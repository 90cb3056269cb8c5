"""A finding as a Markdown note, for people to read and edit, and back.

    <!-- holdfast {"id":"r_1","kind":"finding","mode":"quick","volatility":"daily", … } -->
    # How will the weather be?

    Rain at the weekend. Sources: example.org.

    ## Sources

    - Forecast · https://example.org/kassel · 2026-11-14 10:00
      <!-- holdfast {"source":1,"url":"https://example.org/kassel", … } -->

What a person writes for a question or a summary holds. The texts of the sources are no part of it. Knows no
files.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from holdfast.errors import StoreError
from holdfast.memory.workspace.comments import (
    BEGINNING,
    COMMENT,
    comment,
    comments_in,
    first_comment,
    moment,
    seconds_of,
)
from holdfast.memory.workspace.items import spelled
from holdfast.messages import Scope
from holdfast.patterns import late
from holdfast.research.finding import MODES, VOLATILITIES, Finding, ResearchSource, SummaryBy, Volatility
from holdfast.research.volatility import expiry_time

KIND = "finding"

_HEADINGS = {"en": "Sources", "de": "Quellen"}
_QUESTION = late(r"^#[ \t]+(\S.*)$", re.MULTILINE)
_SOURCES = late(rf"^##[ \t]+(?:{'|'.join(_HEADINGS.values())})[ \t]*$", re.MULTILINE | re.IGNORECASE)
_BY: dict[object, SummaryBy] = {"model": "model", "text": "text"}


@dataclass(frozen=True, slots=True)
class _NoteLayout:
    """Where things stand in the text of a note."""

    fields: Mapping[str, Any]
    question: re.Match[str]
    sources: re.Match[str]

    def summary(self, text: str) -> str:
        return spelled(text[self.question.end() : self.sources.start()])


def to_plain_line(text: str) -> str:
    """Words on one line, in which nothing can be taken for a comment of ours."""
    return " ".join(spelled(text).split()).replace("<!--", "< !--")


def format_note(finding: Finding) -> str:
    """The note of a finding, whose question and summary are plain."""
    told = comment(_note_fields(finding))
    listed = "\n".join(_format_source(number, source) for number, source in enumerate(finding.sources, 1))
    summary = f"{finding.summary}\n\n" if finding.summary else ""
    return f"{told}\n# {finding.question}\n\n{summary}## {_HEADINGS[finding.language]}\n\n{listed}\n"


def parse_note(text: str, name: str, scope: Scope) -> Finding:
    """The finding of this name in its note, without the texts of its sources; StoreError if it is none."""
    places = _find_layout(text, name)
    fields, summary = places.fields, places.summary(text)
    mode, volatility = fields.get("mode"), fields.get("volatility")
    if mode not in MODES or volatility not in VOLATILITIES:
        raise StoreError(
            f"The finding {name} has an unknown mode or volatility.",
            hint=f"Modes are {', '.join(MODES)}; volatilities {', '.join(VOLATILITIES)}.",
        )
    created = seconds_of(fields.get("created"))
    merged = fields.get("merged")
    return Finding(
        id=name,
        scope=scope,
        question=places.question[1].rstrip(),
        mode=mode,
        sources=tuple(_parse_sources(text[places.sources.end() :])),
        summary=summary,
        volatility=volatility,
        created_at=created,
        expires_at=seconds_of(fields.get("expires")) or expiry_time(volatility, created),
        summary_by=_summary_author(fields, summary),
        conversation=str(fields.get("conversation", "")),
        merged=tuple(map(str, merged)) if isinstance(merged, list) else (),
    )


def replace_summary(text: str, name: str, summary: str, by: SummaryBy, volatility: Volatility | None) -> str:
    """The note with another summary, unless a person wrote the one that is there; all else stays."""
    places = _find_layout(text, name)
    fields = dict(places.fields)
    if volatility is not None and volatility != fields.get("volatility"):
        fields["volatility"] = volatility
        fields["expires"] = moment(expiry_time(volatility, seconds_of(fields.get("created"))))
    if _summary_author(fields, places.summary(text)) != "person":
        fields |= {"summary_by": by, "summary_of": _digest(summary)}
        text = f"{text[: places.question.end()]}\n\n{summary}\n\n{text[places.sources.start() :]}"
    told = comment(fields)
    return COMMENT.sub(lambda _: told, text, count=1)


def _find_layout(text: str, name: str) -> _NoteLayout:
    fields, head = first_comment(text), COMMENT.search(text)
    if head is None or fields.get("kind") != KIND or fields.get("id") != name:
        raise _broken_note_error(name, "the comment that says what it is")
    question = _QUESTION.search(text, head.end())
    # The last one is ours: nothing but the list comes after it.
    headings = list(_SOURCES.finditer(text, question.end())) if question else []
    if question is None or not headings:
        raise _broken_note_error(
            name, "the heading of its sources" if question else "its question, the first heading"
        )
    end = headings[-1].end()
    if len(BEGINNING.findall(text, end)) != len(COMMENT.findall(text, end)) or not COMMENT.search(text, end):
        raise _broken_note_error(name, "sources, or the end of one")
    return _NoteLayout(fields, question, headings[-1])


def _broken_note_error(name: str, what: str) -> StoreError:
    return StoreError(
        f"The note of the finding {name} lacks {what}.", hint="Mend it, or take it away; it was not touched."
    )


def _note_fields(finding: Finding) -> dict[str, Any]:
    by_person = finding.summary_by == "person"
    return {
        "id": finding.id,
        "kind": KIND,
        "mode": finding.mode,
        "volatility": finding.volatility,
        "created": moment(finding.created_at),
        "expires": moment(finding.expires_at),
        "conversation": finding.conversation,
        "summary_by": "" if by_person else finding.summary_by,
        # By which it is known whether a person wrote another one since.
        "summary_of": "" if by_person else _digest(finding.summary),
        "merged": list(finding.merged),
    }


def _summary_author(fields: Mapping[str, Any], summary: str) -> SummaryBy:
    if not summary:
        return ""
    return _BY.get(fields.get("summary_by"), "") if fields.get("summary_of") == _digest(summary) else "person"


def _digest(summary: str) -> str:
    return hashlib.sha256(" ".join(summary.split()).encode()).hexdigest()[:16] if summary else ""


def _format_source(number: int, source: ResearchSource) -> str:
    told = {
        "source": number,
        "url": source.url,
        "title": source.title,
        "at": moment(source.at),
        "trouble": source.trouble,
    }
    when = datetime.fromtimestamp(source.at, UTC).astimezone().strftime("%Y-%m-%d %H:%M") if source.at else ""
    shown = [to_plain_line(one) for one in (source.title, source.url, when, source.trouble) if one.strip()]
    return f"- {' · '.join(dict.fromkeys(shown)) or number}\n  {comment(told)}"


def _parse_sources(text: str) -> Iterator[ResearchSource]:
    for fields in comments_in(text):
        if "source" in fields:
            told = {name: str(fields.get(name, "")) for name in ("url", "title", "trouble")}
            yield ResearchSource(
                told["url"], told["title"], "", seconds_of(fields.get("at")), told["trouble"]
            )
