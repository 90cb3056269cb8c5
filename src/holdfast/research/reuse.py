"""When an earlier finding answers a question, and which findings are one: those that were asked for the same.

Words decide. In one language vectors cannot: "healthy" and "unhealthy", or with and without "used", are
nearer to each other by meaning than many two ways of asking one thing. Between two languages there are hardly
any words to compare: there they may decide, where names, numbers, dates and all that turns a question around
agree. What is merged for good is decided by words alone. Pure; knows no files.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from holdfast.research.finding import Finding, Mode, ResearchSource
from holdfast.research.questions import ParsedQuestion, asks_same, may_be_translation, parse_question
from holdfast.research.texts import MOST_SOURCES

# How near texts, each with its name, are to a question; those it knows nothing of are left out.
Nearness = Callable[[str, Mapping[str, str]], Mapping[str, float]]

# From here on a question in another language asks for the same; measured in tests/research/translations.py.
_SURE = 0.84


@dataclass(frozen=True, slots=True)
class ReusedFinding:
    """A finding that answers a question, and how many seconds old it is."""

    finding: Finding
    age: float


def find_same(
    question: str,
    findings: Sequence[Finding],
    *,
    now: float,
    mode: Mode = "quick",
    nearness: Nearness | None = None,
) -> ReusedFinding | None:
    """The newest finding that still holds and was asked for the same; who asks deep wants a deep one.

    With `nearness`, it may have been asked in another language.
    """
    wanted = _parse(question, now)
    holding = [
        (finding, _parse(finding.question, finding.created_at))
        for finding in findings
        if _is_valid(finding, now) and (finding.mode == "deep" or mode == "quick")
    ]
    fits = [finding for finding, theirs in holding if asks_same(wanted, theirs)]
    if not fits and nearness is not None:
        maybe = [finding for finding, theirs in holding if may_be_translation(wanted, theirs)]
        near = nearness(question, {one.id: one.question for one in maybe}) if maybe else {}
        fits = [finding for finding in maybe if near.get(finding.id, 0.0) >= _SURE]
    newest = max(fits, key=lambda finding: finding.created_at, default=None)
    return None if newest is None else ReusedFinding(newest, newest.age(now))


def group_same(findings: Sequence[Finding], *, now: float) -> list[list[Finding]]:
    """Findings of one scope that still hold and were asked for the same, two or more, newest first."""
    groups: list[tuple[ParsedQuestion, list[Finding]]] = []
    for finding in sorted(findings, key=lambda one: (one.created_at, one.id), reverse=True):
        if not _is_valid(finding, now):
            continue
        this = _parse(finding.question, finding.created_at)
        group = next((found for known, found in groups if asks_same(known, this)), None)
        if group is None:
            groups.append((this, [finding]))
        else:
            group.append(finding)
    return [group for _, group in groups if len(group) > 1]


def merge_findings(group: Sequence[Finding]) -> Finding:
    """One finding of several, under the name of the first, which is the newest; its summary is to be made.

    It has the sources of all, the newest first and each address once, and holds as long as the newest does.
    """
    newest, *others = group
    sources: dict[str, ResearchSource] = {}
    for number, source in enumerate(source for finding in group for source in finding.sources):
        key = source.url or f"{number} {source.title}"
        if key not in sources or sources[key].trouble:
            sources[key] = source
    names = dict.fromkeys(name for finding in others for name in (finding.id, *finding.merged))
    by_person = newest.summary_by == "person"
    return replace(
        newest,
        sources=tuple(sources.values())[:MOST_SOURCES],
        mode="deep" if any(finding.mode == "deep" for finding in group) else newest.mode,
        summary=newest.summary if by_person else "",
        summary_by="person" if by_person else "",
        merged=tuple(dict.fromkeys((*newest.merged, *names))),
    )


def _is_valid(finding: Finding, now: float) -> bool:
    return not finding.expired(now) and bool(finding.usable)


def _parse(question: str, at: float) -> ParsedQuestion:
    return parse_question(question, datetime.fromtimestamp(at, UTC).astimezone().date())
