"""The report of a window: what is in it, what is not and why, and how it continues the previous request.

Rules and causes are names here; `sentences` has their wording.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal, cast

from holdfast.messages import Message, canonical
from holdfast.thinking import spoken
from holdfast.tokens.budget import NEVER
from holdfast.tokens.calibration import PromptFeatures
from holdfast.window.decisions import LEVEL_OF, LeaveOut, Section, Tell
from holdfast.window.fit import FittedWindow
from holdfast.window.view import Gauge, ShownMessage, View, block

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SectionName = Literal[
    "tools",
    "system",
    "profile",
    "summary",
    "history",
    "question",
    "files",
    "recalled",
    "research",
    "reserve",
]
TOOLS, SYSTEM = "tools", "system"
# Rules outside any level that change what was sent before, and the cause that is reported for each.
_CAUSE_OF_RULE = {"recalled_full": "recall", "file_changed": "file", "research_new": "research"}


@dataclass(frozen=True, slots=True)
class Link:
    """One part of a request: the id of its message, a digest of its bytes, and their number."""

    name: str
    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class Prefix:
    """How much of the previous request this one begins with; `cause` says why it is not all of it."""

    shared_bytes: int
    previous_bytes: int
    cause: str

    @property
    def is_kept(self) -> bool:
        return not self.cause


@dataclass(frozen=True, slots=True)
class PrefixUse:
    """The prefix as the report has it."""

    kept: bool
    shared_bytes: int
    previous_bytes: int
    cause: str


@dataclass(frozen=True, slots=True)
class HistoryUse:
    """The tokens of history, how many it can have, and where each level begins."""

    tokens: int
    full: int
    marks: dict[str, int]


@dataclass(frozen=True, slots=True)
class SectionUse:
    """The tokens of a section of the request, and its limit where it has one."""

    name: SectionName
    tokens: int
    cap: int | None = None


@dataclass(frozen=True, slots=True)
class AddedText:
    """A text that was put behind a message; `name` is the file or the finding it is from."""

    section: Section
    text: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class MessageUse:
    """A message in the window; what does not apply to it is None."""

    id: str
    role: str
    state: Literal["in", "shortened"]
    tokens: int
    rules: tuple[str, ...] | None = None
    added: tuple[AddedText, ...] | None = None
    pinned: bool | None = None


@dataclass(frozen=True, slots=True)
class OutEntry:
    """The messages that one decision took out of the window."""

    decision: str
    rule: str
    level: int
    messages: tuple[str, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class BatchUse:
    """What one level did for this window."""

    level: int
    strategy: str
    messages: int
    tokens_before: int
    tokens_after: int


@dataclass(frozen=True, slots=True)
class WindowReport:
    """What a window holds. The order of the fields is that of the JSON object.

    `sure` is false where the upper estimate is over the room: with nothing left to take away, what probably
    fits is sent.
    """

    window: int
    reserve: int
    room: int
    tokens: int
    at_least: int
    at_most: int
    sure: bool
    method: str
    counted_by: str
    utilisation: float
    level: int
    history: HistoryUse
    sections: tuple[SectionUse, ...]
    messages: tuple[MessageUse, ...]
    out: tuple[OutEntry, ...]
    rules: tuple[str, ...]
    agreed: tuple[str, ...]
    forbidden: tuple[str, ...]
    pins: tuple[str, ...]
    batches: tuple[BatchUse, ...]
    prefix: PrefixUse

    def to_json(self) -> dict[str, Any]:
        """Return the report as it is stored and sent to clients; fields that are None are left out."""
        return cast(dict[str, Any], _adapter().dump_python(self, mode="json", exclude_none=True))


@cache
def _adapter() -> "TypeAdapter[WindowReport]":
    # Imported late: commands that show no window start faster without it.
    from pydantic import TypeAdapter

    return TypeAdapter(WindowReport)


def chain_of(view: View) -> tuple[Link, ...]:
    """Return the request part by part, in the order in which servers put it: tools, system, history."""
    links = [link_of(TOOLS, canonical(list(view.draft.tools)))] if view.draft.tools else []
    links += [link_of(SYSTEM, message.encode()) for message in view.system]
    return (*links, *(link_of(shown.item.id, shown.message.encode()) for shown in view.shown))


def link_of(name: str, text: str) -> Link:
    """Return the link of a text that belongs to this message, or to the system or tools."""
    raw = text.encode("utf-8", "surrogatepass")
    return Link(name, hashlib.blake2b(raw, digest_size=8).hexdigest(), len(raw))


def prefix_of(fitted: FittedWindow, before: Sequence[Link], now: Sequence[Link], summary: str = "") -> Prefix:
    """Compare two requests; `summary` is the decision whose summary was sent with the previous one."""
    same = count_shared_links(before, now)
    shared, size = sum(link.size for link in before[:same]), sum(link.size for link in before)
    if not before:
        return Prefix(0, 0, "first")
    if same == len(before):
        return Prefix(shared, size, "")
    if fitted.view.rendered.summarised != summary and before[same].name != TOOLS:
        return Prefix(shared, size, "level 3")
    return Prefix(shared, size, find_cause(fitted, before[same], now[same:]))


def count_shared_links(before: Sequence[Link], now: Sequence[Link]) -> int:
    """Return with how many parts of the previous request this one begins."""
    pairs = zip(before, now, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def find_cause(fitted: FittedWindow, lost: Link, now: Sequence[Link]) -> str:
    """Return why a request does not continue the previous one at `lost`."""
    view = fitted.view
    level = max((batch.level for batch in fitted.batches), default=0)
    rules = {proposal.rule for proposal in view.proposals}
    if lost.name == TOOLS or (now and now[0].name == TOOLS):
        return "tools"
    if "horizon" in rules:
        return "horizon"
    if level:
        return f"level {level}"
    if lost.name == SYSTEM or (now and now[0].name == SYSTEM):
        return "profile" if any(isinstance(proposal, Tell) for proposal in view.proposals) else "system"
    item = next((shown.item for shown in view.shown if shown.item.id == lost.name), None)
    if item is None:
        # Left out although no level worked now: the decisions were changed in between.
        return "decisions" if lost.name in view.rendered.out else "history"
    if now and now[0].name != lost.name:
        return "history"
    if cause := next((cause for rule, cause in _CAUSE_OF_RULE.items() if rule in rules), ""):
        return cause
    return "thinking" if item.message.thinking or spoken(item.message) is not item.message else "decisions"


def report_of(
    fitted: FittedWindow, prefix: Prefix, gauge: Gauge, names: Mapping[int, str] | None = None
) -> WindowReport:
    """Return the report of a window; `names` are the ids of new decisions, by the identity of each."""
    view, budget, total = fitted.view, fitted.view.draft.budget, fitted.total
    thresholds, counted = view.thresholds, gauge.count_text("")
    marks = {
        "1": thresholds.prune,
        "2": thresholds.leave_out,
        "3 ahead": thresholds.ahead,
        "3": thresholds.summarise,
    }
    marks = {name: tokens for name, tokens in marks.items() if tokens < NEVER}
    return WindowReport(
        window=budget.window,
        reserve=budget.reserve,
        room=budget.room,
        tokens=total.tokens,
        at_least=total.low,
        at_most=total.high,
        sure=view.fits,
        method=counted.method,
        counted_by=counted.by,
        utilisation=round(total.tokens / budget.room, 4) if budget.room else 1.0,
        level=fitted.level,
        history=HistoryUse(view.history, thresholds.full, marks),
        sections=sections(view),
        messages=tuple(_message(view, shown) for shown in view.shown),
        out=_left_out(view, names or {}),
        rules=tuple(sentence for _, sentence in view.rules),
        agreed=tuple(sentence for _, sentence in view.agreed),
        forbidden=tuple(sentence for _, sentence in view.forbidden),
        pins=tuple(sorted(view.pins)),
        batches=tuple(
            BatchUse(batch.level, batch.strategy, batch.messages, batch.tokens_before, batch.tokens_after)
            for batch in fitted.batches
        ),
        prefix=PrefixUse(prefix.is_kept, prefix.shared_bytes, prefix.previous_bytes, prefix.cause),
    )


def sections(view: View) -> tuple[SectionUse, ...]:
    """Return the tokens by section, in the order of the request; together they are the whole of it."""
    budget, gauge = view.draft.budget, view.draft.gauge
    newest = {item.id for item in view.newest}
    question = [shown for shown in view.shown if shown.item.id in newest]
    earlier = [shown for shown in view.shown if shown.item.id not in newest]
    steps = (
        sum_features(view, view.system),
        gauge.tool_features(view.draft.tools),
        sum_features(view, [shown.message for shown in earlier]),
        sum_features(view, [shown.message for shown in question]),
    )
    # What a template writes in any case counts as the system's.
    parts, before = replace(PromptFeatures(0, 0), unprompted=not view.system), 0
    tokens: list[int] = []
    for more in steps:
        parts += more
        now = gauge.estimate(parts).tokens
        tokens.append(max(0, now - before))
        before = now
    system, tools, history, asked = tokens
    blocks: list[SectionUse] = []
    summary = block(view.rendered.summary, view.rules, view.agreed, view.forbidden)
    texts: tuple[tuple[SectionName, str, int], ...] = (
        ("profile", view.rendered.profile, budget.profile),
        ("summary", summary, budget.summary),
    )
    for name, text, cap in texts:
        if text:
            blocks.append(SectionUse(name, min(gauge.count_text(text).tokens, system), cap))
            system -= blocks[-1].tokens
    additions: Counter[str] = Counter()
    for shown in question:
        for addition in shown.additions:
            additions[addition.section] += gauge.count_text(addition.text).tokens
    asked -= min(asked, additions["recalled"] + additions["research"] + additions["files"])
    # What was brought for earlier questions and stayed.
    quotes = (each.text for shown in earlier for each in shown.additions if each.is_evidence)
    stayed = min(history, sum(gauge.count_text(text).tokens for text in quotes))
    # Servers put tools first; profile and summary stand after the instructions.
    return (
        *([SectionUse("tools", tools)] if view.draft.tools else []),
        SectionUse("system", system),
        *blocks,
        SectionUse("history", history - stayed),
        SectionUse("question", asked),
        *([SectionUse("files", additions["files"])] if additions["files"] else []),
        SectionUse("recalled", additions["recalled"] + stayed, budget.recalled),
        SectionUse("research", additions["research"], budget.research),
        SectionUse("reserve", budget.reserve),
    )


def sum_features(view: View, messages: Sequence[Message]) -> PromptFeatures:
    """Return the features of these messages together."""
    return sum(map(view.parts, messages), PromptFeatures(0, 0))


def _message(view: View, shown: ShownMessage) -> MessageUse:
    added = (AddedText(each.section, each.text, each.name or None) for each in shown.additions)
    return MessageUse(
        shown.item.id,
        shown.message.role,
        "in" if shown.message is shown.item.message or not shown.rules else "shortened",
        view.tokens(shown.message),
        shown.rules or None,
        tuple(added) or None,
        shown.item.id in view.pins or None,
    )


def _left_out(view: View, names: Mapping[int, str]) -> tuple[OutEntry, ...]:
    """Return what is out, by decision; messages that a client never sent are not listed."""
    entries = [
        OutEntry(
            decision.id or names.get(id(decision), ""),
            decision.rule,
            LEVEL_OF.get(decision.rule, 0),
            decision.messages,
            decision.tokens_before,
        )
        for decision in view.decisions
        if isinstance(decision, LeaveOut) and decision.messages
    ]
    if orphans := tuple(name for name, rule in view.rendered.out.items() if rule == "orphan"):
        entries.append(OutEntry("", "orphan", 0, orphans, 0))
    return tuple(entries)
