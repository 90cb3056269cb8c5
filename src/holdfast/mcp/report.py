"""The tool that tells what a model was last shown of a conversation: how full its window is, and what is out.

A short form of the report that `fitting` keeps for every window. Knows no protocol.
"""

from collections import Counter
from typing import Any

from holdfast.conversations.serialization import serialize_conversation
from holdfast.fitting.account import lane_of, standings, window_account
from holdfast.mcp.arguments import Values
from holdfast.mcp.conversations import last_used
from holdfast.mcp.parts import Caller, Parts
from holdfast.mcp.told import Told, moment, notices, shortened
from holdfast.messages import Scope
from holdfast.store import Store
from holdfast.window import sentences

# The newest of what was decided; more is for people, in `holdfast window`.
_DECISIONS = 10
_SUMMARY = 2_000
_KEPT = (
    "conversation", "window", "reserve", "room", "tokens", "at_least", "at_most", "sure", "method",
    "counted_by", "utilisation", "level", "sections", "prefix", "updated_at", "windows", "model", "notices",
)  # fmt: skip


def report(parts: Parts, caller: Caller, given: Values) -> Told:
    told = parts.store.at_once(_account, parts.store, caller.scope, given["id"])
    return Told(_text(told) + notices(_troubles(told)), told)


def _account(store: Store, scope: Scope, name: str) -> dict[str, Any]:
    row = last_used(store, scope, name)
    whole = window_account(store, row)
    decisions = whole["decisions"]
    return {
        **{name: whole[name] for name in _KEPT if name in whole},
        "chat": serialize_conversation(row),
        "messages": dict(Counter(one.state for one in standings(store, row, lane_of(store, row)))),
        "summary": shortened(whole["summary"], _SUMMARY) if whole["summary"] else None,
        "decisions": [_decision(one) for one in decisions[-_DECISIONS:]],
        "earlier_decisions": max(0, len(decisions) - _DECISIONS),
    }


def _decision(made: dict[str, Any]) -> dict[str, Any]:
    kept = ("id", "kind", "rule", "tokens_before", "tokens_after", "created_at")
    return {**{name: made[name] for name in kept}, "messages": len(made["messages"])}


def _text(told: dict[str, Any]) -> str:
    chat, number = told["chat"], sentences.number
    full = f"{number(told['tokens'])} of {number(told['room'])} tokens used ({told['utilisation']:.0%})"
    spread = f"{number(told['at_least'])}–{number(told['at_most'])}"
    sections = [
        f"{sentences.section(one['name'])} {number(one['tokens'])}"
        for one in told["sections"]
        if one["tokens"]
    ]
    lines = [
        f"{chat['id']} “{chat['title']}”, last sent {moment(told['updated_at'])}",
        f"{full}, window {number(told['window'])}, reserve {number(told['reserve'])}",
        f"counted: {sentences.method(told['method'])}, {told['counted_by']} ({spread})",
        sentences.level(told["level"]),
        f"sections: {', '.join(sections)}",
        "messages: " + ", ".join(f"{count} {state}" for state, count in told["messages"].items()),
    ]
    if told["decisions"]:
        lines.append("decided, newest last:")
        lines += [
            f"  {one['id']}: {sentences.rule(one['rule'])}, {one['messages']} messages,"
            f" {number(one['tokens_before'])} to {number(one['tokens_after'])} tokens"
            for one in told["decisions"]
        ]
        lines.append(f"The originals: conversation_expand with {chat['id']} or the id of a decision.")
    if told["earlier_decisions"]:
        lines.append(f"{told['earlier_decisions']} earlier ones: `holdfast window {chat['id']} --json`")
    if told["summary"]:
        lines.append(f"summary in the window:\n{told['summary']}")
    return "\n".join(lines)


def _troubles(told: dict[str, Any]) -> list[str]:
    troubles = [sentences.notice(name) for name in told.get("notices", ())]
    if not told["sure"]:
        troubles.append("the count is not sure to fit.")
    return troubles
