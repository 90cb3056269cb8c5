"""How findings are put before a person, and how the command line reads files for them."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from rich.text import Text

from holdfast.cli.files import roots_here
from holdfast.cli.output import console, moment, print_table, write
from holdfast.errors import TooLarge
from holdfast.i18n import say

if TYPE_CHECKING:
    from holdfast.research.finding import Finding
    from holdfast.research.web import ReadLocal

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


class ModeName(StrEnum):
    quick = "quick"
    deep = "deep"


def reader_here() -> "ReadLocal":
    """Reads files from the folder one is in, whatever one may read; secrets only by other ways."""

    def read(name: str) -> tuple[str, bytes]:
        roots = roots_here()
        found = roots.find(name)
        data = roots.read(found, whole=roots.limits.document)
        if not data.whole:
            raise TooLarge(
                say(
                    f"{name} has more than {roots.limits.document:,} bytes.",
                    f"{name} hat mehr als {roots.limits.document:,} Bytes.",
                ),
                hint=say("Name the part of it that matters.", "Den Teil nennen, auf den es ankommt."),
            )
        return PurePath(found.path).name, data.head

    return read


def address_of(named: str) -> str:
    """A page as it is, a file by its whole path: who looks at it later may be in another folder."""
    if named.lower().startswith(("http://", "https://")):
        return named
    return str(Path(named).expanduser().absolute())


def age_of(seconds: float) -> str:
    """How long ago, in the largest unit that says enough."""
    if seconds < _HOUR:
        minutes = round(seconds / _MINUTE)
        return say(f"{minutes} min", f"{minutes} Min.")
    if seconds < 2 * _DAY:
        hours = round(seconds / _HOUR)
        return say(f"{hours} h", f"{hours} Std.")
    days = round(seconds / _DAY)
    return say(f"{days} days", f"{days} Tagen")


def finding_json(finding: "Finding", now: float, *, texts: bool) -> dict[str, Any]:
    from holdfast.research.repository import path_of_note

    return {**finding.to_json(now, whole=texts), "path": str(path_of_note(finding))}


def print_findings(page: Sequence["Finding"], now: float, offset: int, total: int) -> None:
    if not total:
        console.print(
            say(
                "Nothing was found out here yet. `holdfast research ask QUESTION` begins.",
                "Hier wurde noch nichts recherchiert. `holdfast research ask FRAGE` fängt an.",
            )
        )
        return
    columns = (
        say("id", "Id"),
        say("found", "gefunden"),
        say("holds until", "gilt bis"),
        say("question", "Frage"),
        say("sources", "Quellen"),
    )
    print_table(
        columns,
        [
            (one.id, moment(one.created_at), holds(one, now), one.question, ", ".join(one.names))
            for one in page
        ],
    )
    last = offset + len(page)
    more = say(f" · more with --offset {last}", f" · weiter mit --offset {last}") if last < total else ""
    first = min(offset + 1, last)
    told = say(f"{first}–{last} of ", f"{first}–{last} von ") + f"{total}{more}"
    console.print(Text(told, style="dim"))


def print_finding(finding: "Finding", now: float, *, texts: bool) -> None:
    """One finding in full, with all that is known of it."""
    from holdfast.research.repository import path_of_note

    write(f"{finding.question}\n\n{finding.summary}\n\n")
    by = {
        "model": say("a model", "ein Modell"),
        "text": say("the sources' own words", "Sätze der Quellen"),
        "person": say("you", "du"),
    }
    rows = [
        ("id", finding.id),
        (say("found", "gefunden"), moment(finding.created_at)),
        (say("holds until", "gilt bis"), holds(finding, now)),
        (say("mode", "Art"), finding.mode),
        (say("summary by", "Zusammenfassung"), by.get(finding.summary_by, "")),
        (say("asked in", "gefragt in"), finding.conversation),
        (say("took in", "enthält"), ", ".join(finding.merged)),
        (say("file", "Datei"), str(path_of_note(finding))),
    ]
    for name, value in rows:
        if value:
            console.print(Text(f"  {name}: {value}", style="dim"))
    write("\n")
    print_sources(finding, now)
    for number, source in finding.usable_with_numbers if texts else ():
        write(f"\n[{number}] {source.title or source.name}\n\n{source.text}\n")


def print_sources(finding: "Finding", now: float) -> None:
    """The sources with their age, those that could not be read with the reason."""
    for number, source in enumerate(finding.sources, 1):
        age = say(f"{age_of(now - source.at)} ago", f"vor {age_of(now - source.at)}")
        told = " · ".join(filter(None, (source.title, source.url, source.trouble or age)))
        console.print(Text(f"[{number}] {told}", style="dim"))


def holds(finding: "Finding", now: float) -> str:
    if finding.is_expired(now):
        return say("expired", "abgelaufen")
    return moment(finding.expires_at) if finding.expires_at else say("for good", "dauerhaft")
