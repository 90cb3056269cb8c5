"""What is in a window, what is not, and why; and how much of the request before it begins with.

Reads what `fit` made. It changes nothing, and says nothing in any language: rules and causes are names.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdfast.messages import JsonObject, Message, canonical
from holdfast.thinking import spoken
from holdfast.tokens.budget import NEVER
from holdfast.tokens.calibration import PromptFeatures
from holdfast.window.decisions import GONE, LEVEL_OF, Addition
from holdfast.window.fit import FittedWindow
from holdfast.window.view import Gauge, ShownMessage, View, block

TOOLS, SYSTEM = "tools", "system"
# What is done beside any level that changes what was sent before, and the cause it is.
_BROUGHT = {"recalled_full": "recall", "file_changed": "file", "research_new": "research"}


@dataclass(frozen=True, slots=True)
class Link:
    """One piece of a request: whose it is, a fingerprint of its bytes, and how many there are."""

    name: str
    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class Prefix:
    """How much of the request before this one begins with; `cause` says why it is not all of it."""

    shared: int
    before: int
    cause: str

    @property
    def kept(self) -> bool:
        return not self.cause


def chain_of(view: View) -> tuple[Link, ...]:
    """The request piece by piece, in the order in which servers put it: tools, system, history."""
    links = [_link(TOOLS, canonical(list(view.draft.tools)))] if view.draft.tools else []
    links += [_link(SYSTEM, message.encode()) for message in view.system]
    return (*links, *(_link(shown.item.id, shown.message.encode()) for shown in view.shown))


def _link(name: str, text: str) -> Link:
    raw = text.encode("utf-8", "surrogatepass")
    return Link(name, hashlib.blake2b(raw, digest_size=8).hexdigest(), len(raw))


def prefix_of(fitted: FittedWindow, before: Sequence[Link], now: Sequence[Link], summary: str = "") -> Prefix:
    """`summary` is the decision whose summary went out with the request before."""
    same = 0
    while same < min(len(before), len(now)) and before[same] == now[same]:
        same += 1
    shared, size = sum(link.size for link in before[:same]), sum(link.size for link in before)
    if not before:
        return Prefix(0, 0, "first")
    if same == len(before):
        return Prefix(shared, size, "")
    if fitted.view.rendered.summarised != summary and before[same].name != TOOLS:
        return Prefix(shared, size, "level 3")
    return Prefix(shared, size, _cause(fitted, before[same], now[same:]))


def _cause(fitted: FittedWindow, lost: Link, now: Sequence[Link]) -> str:
    """Why the request does not go on as the one before did."""
    worked = max((batch.level for batch in fitted.batches), default=0)
    rules = {proposal.rule for proposal in fitted.view.proposals}
    if lost.name == TOOLS or (now and now[0].name == TOOLS):
        return "tools"
    if "horizon" in rules:
        return "horizon"
    if worked:
        return f"level {worked}"
    if lost.name == SYSTEM or (now and now[0].name == SYSTEM):
        told = any(one.kind == "tell" for one in fitted.view.proposals)
        return "profile" if told else "system"
    shown = next((one for one in fitted.view.shown if one.item.id == lost.name), None)
    if shown is None:
        # Left out without a level having worked now: somebody changed the decisions meanwhile.
        return "decisions" if lost.name in fitted.view.rendered.out else "history"
    if now and now[0].name != lost.name:
        return "history"
    brought = next((cause for rule, cause in _BROUGHT.items() if rule in rules), "")
    if brought:
        return brought
    message = shown.item.message
    return "thinking" if message.thinking or spoken(message) is not message else "decisions"


def report_of(
    fitted: FittedWindow, prefix: Prefix, gauge: Gauge, names: Mapping[int, str] | None = None
) -> dict[str, Any]:
    """The report as plain JSON; `names` are the ids that new decisions will be kept under, by identity."""
    view, budget, total = fitted.view, fitted.view.draft.budget, fitted.total
    thresholds, counted = view.thresholds, gauge.count_text("")
    marks = {
        "1": thresholds.prune,
        "2": thresholds.leave_out,
        "3 ahead": thresholds.ahead,
        "3": thresholds.summarise,
    }
    return {
        "window": budget.window,
        "reserve": budget.reserve,
        "room": budget.room,
        "tokens": total.tokens,
        "at_least": total.low,
        "at_most": total.high,
        # Not sure: with nothing left to take away, what probably fits is sent.
        "sure": view.fits,
        "method": counted.method,
        "counted_by": counted.by,
        "utilisation": round(total.tokens / budget.room, 4) if budget.room else 1.0,
        "level": fitted.level,
        "history": {
            "tokens": view.history,
            "full": thresholds.full,
            "marks": {name: tokens for name, tokens in marks.items() if tokens < NEVER},
        },
        "sections": sections(view),
        "messages": [_message(view, shown) for shown in view.shown],
        "out": _out(view, names or {}),
        "rules": [said for _, said in view.rules],
        "agreed": [said for _, said in view.agreed],
        "forbidden": [said for _, said in view.forbidden],
        "pins": sorted(view.pins),
        "batches": [
            {
                "level": batch.level,
                "strategy": batch.strategy,
                "messages": batch.messages,
                "tokens_before": batch.tokens_before,
                "tokens_after": batch.tokens_after,
            }
            for batch in fitted.batches
        ],
        "prefix": {
            "kept": prefix.kept,
            "shared_bytes": prefix.shared,
            "previous_bytes": prefix.before,
            "cause": prefix.cause,
        },
    }


def sections(view: View) -> list[dict[str, Any]]:
    """Tokens by section, in the order of the request; together they are the whole of it."""
    budget, gauge = view.draft.budget, view.draft.gauge
    newest = {item.id for item in view.newest}
    history = [shown.message for shown in view.shown if shown.item.id not in newest]
    question = [shown for shown in view.shown if shown.item.id in newest]
    # What a template writes in any case counts as the system's.
    steps = (
        ("system", _sum(view, view.system)),
        ("tools", gauge.tool_features(view.draft.tools)),
        ("history", _sum(view, history)),
        ("question", _sum(view, [shown.message for shown in question])),
    )
    rows: list[dict[str, Any]] = []
    parts, before = replace(PromptFeatures(0, 0), unprompted=not view.system), 0
    for name, more in steps:
        parts += more
        now = gauge.estimate(parts).tokens
        rows.append({"name": name, "tokens": max(0, now - before)})
        before = now
    told = []
    summary = block(view.rendered.summary, view.rules, view.agreed, view.forbidden)
    for name, text, cap in (
        ("profile", view.rendered.profile, budget.profile),
        ("summary", summary, budget.summary),
    ):
        if text:
            tokens = min(gauge.count_text(text).tokens, rows[0]["tokens"])
            rows[0]["tokens"] -= tokens
            told.append({"name": name, "tokens": tokens, "cap": cap})
    # Servers put tools first, and what is told of the person and of earlier after the instructions.
    system, tools, *talk = rows
    rows = [*([tools] if view.draft.tools else []), system, *told, *talk]
    added: Counter[str] = Counter()
    for shown in question:
        for addition in shown.additions:
            added[addition.section] += gauge.count_text(addition.text).tokens
    brought = added["recalled"] + added["research"] + added["files"]
    rows[-1]["tokens"] -= min(rows[-1]["tokens"], brought)
    rows += [
        *([{"name": "files", "tokens": added["files"]}] if added["files"] else []),
        {"name": "recalled", "tokens": added["recalled"], "cap": budget.recalled},
        {"name": "research", "tokens": added["research"], "cap": budget.research},
        {"name": "reserve", "tokens": budget.reserve},
    ]
    return rows


def _sum(view: View, messages: Sequence[Message]) -> PromptFeatures:
    return sum(map(view.parts, messages), PromptFeatures(0, 0))


def _message(view: View, shown: ShownMessage) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": shown.item.id,
        "role": shown.message.role,
        "state": "in" if shown.message is shown.item.message or not shown.rules else "shortened",
        "tokens": view.tokens(shown.message),
    }
    if shown.rules:
        row["rules"] = list(shown.rules)
    if shown.additions:
        row["added"] = [_added(one) for one in shown.additions]
    if shown.item.id in view.pins:
        row["pinned"] = True
    return row


def _added(addition: Addition) -> dict[str, str]:
    named = {"name": addition.name} if addition.name else {}
    return {"section": addition.section, "text": addition.text, **named}


def _out(view: View, names: Mapping[int, str]) -> list[JsonObject]:
    """What is out, by decision; what a client never sent is not ours to list."""
    out = view.rendered.out
    rows: list[JsonObject] = [
        {
            "decision": decision.id or names.get(id(decision), ""),
            "rule": decision.rule,
            "level": LEVEL_OF.get(decision.rule, 0),
            "messages": list(decision.messages),
            "tokens": decision.tokens_before,
        }
        for decision in view.decisions
        if decision.kind in GONE and decision.messages
    ]
    orphans = [name for name, rule in out.items() if rule == "orphan"]
    if orphans:
        rows.append({"decision": "", "rule": "orphan", "level": 0, "messages": orphans, "tokens": 0})
    return rows
