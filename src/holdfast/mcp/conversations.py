"""The tools about conversations: search messages, read originals in full, report what the window holds.

The log keeps every message, so `expand_originals` can return what a window shortened or left out.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from holdfast.context.message_state import changed_states, lane_of, load_states, window_account
from holdfast.conversations.search import MessageHit
from holdfast.conversations.search import search as find
from holdfast.conversations.serialization import serialize_conversation, serialize_results
from holdfast.errors import BadRequest, NotFound
from holdfast.mcp.tools import (
    LONGEST_REPLY,
    Caller,
    McpServices,
    ToolReply,
    explain_word_search,
    format_moment,
    format_notices,
    shorten,
    take_fitting,
)
from holdfast.memory.private import redact
from holdfast.memory.search import WEAK
from holdfast.messages import Scope
from holdfast.store import ConversationRecord, MessageRecord, Store
from holdfast.text.analyser import spelled
from holdfast.window import sentences

MOST_HITS = 10
# How many of the last messages are returned for a conversation whose window left nothing out.
_NEWEST_MESSAGES = 20

# ID or ID..ID, and optionally +N to continue after N characters.
_ID_PATTERN = re.compile(r"([a-z]_\w{6,40})(?:\.\.(m_\w{6,40}))?(?:\+(\d{1,9}))?")


def search_conversations(services: McpServices, caller: Caller, query: str) -> ToolReply:
    scope, store = caller.scope, services.store
    near = services.remembering.messages_near(scope, query)
    results = find(store, scope, query, limit=MOST_HITS, near=near, clean=redact)
    fitting = [hit for hit in results.hits if fits_well(hit, query, near)]
    hits = take_fitting(fitting, format_hit)
    data = serialize_results(replace(results, hits=tuple(hits)))
    data |= {"left_out": len(fitting) - len(hits), "weak": bool(results.hits) and not fitting}
    data["degraded"] = explain_word_search(services)
    body = "\n".join(map(format_hit, hits))
    if data["weak"]:
        body = "Nothing that was said fits well. Try other words, or ask the user."
    elif not hits:
        body = f"No conversation here has this: {results.empty}. Try other words."
    else:
        body += "\nA message in full: conversation_expand with its id."
    if len(hits) == MOST_HITS or data["left_out"]:
        body += " There may be more: ask with rarer words."
    return ToolReply(f"{body}\nSearched by {results.engine}." + format_notices(data["degraded"]), data)


def fits_well(hit: MessageHit, query: str, near: Mapping[str, float]) -> bool:
    """Whether a message likely is what was asked for, or has most of the words of the query."""
    if near and hit.score >= WEAK:
        return True
    return 2 * len(hit.matched) > len(spelled(query))


def format_hit(hit: MessageHit) -> str:
    away = ", edited away" if not hit.current else ""
    where = f"{hit.message} in {hit.conversation} “{hit.title}”"
    return f"{where} ({hit.role}, {format_moment(hit.at)}, score {hit.score:.2f}{away})\n{hit.snippet}"


@dataclass(frozen=True, slots=True)
class _Originals:
    """The messages that an id stands for, with a line that describes them."""

    about: str
    messages: Sequence[MessageRecord]


def expand_originals(services: McpServices, caller: Caller, reference: str) -> ToolReply:
    match = _ID_PATTERN.fullmatch(reference.strip())
    if match is None:
        raise BadRequest(
            f"{reference[:60]!r} is no id.",
            hint="Use one from conversation_search or context_report, like m_…, c_…, s_… or m_…..m_….",
            param="id",
        )
    name, last, start = match[1], match[2], int(match[3] or 0)
    originals = services.store.read_snapshot(find_originals, services.store, caller.scope, name, last)
    shown = list(slice_messages(originals.messages, start, LONGEST_REPLY))
    whole = sum(len(format_message(message)) for message in originals.messages)
    remaining = whole - start - LONGEST_REPLY
    again = f"{name}..{last}" if last else name
    more = f"{again}+{start + LONGEST_REPLY}" if remaining > 0 else None
    body = "".join(text for _, text in shown) or "There is nothing more of it."
    end = f"\n[{remaining:,} more characters: conversation_expand with id {more}]" if more else ""
    data = {
        "about": originals.about,
        "messages": [
            {
                "id": stored.id,
                "role": stored.message.role,
                "created_at": stored.created_at,
                "text": text.rstrip(),
                "whole": text == format_message(stored),
            }
            for stored, text in shown
        ],
        "total": len(originals.messages),
        "next": more,
    }
    return ToolReply(f"{originals.about}\n\n{body.rstrip()}{end}", data)


def find_originals(store: Store, scope: Scope, name: str, last: str | None) -> _Originals:
    """Return the messages that an id stands for. An id of another scope is treated as missing."""
    if last is not None or name.startswith("m_"):
        messages = read_span(store, scope, name, last or name)
        return _Originals(f"{len(messages)} messages" if last else "One message in full", messages)
    if name.startswith("s_"):
        summary = store.summaries.get(name)
        if summary is None or not is_in_scope(store, scope, summary.tree):
            raise missing_error(name)
        earlier = f"; what came before is in {summary.previous}" if summary.previous else ""
        return _Originals(
            f"What the summary {name} stands for{earlier}", read_messages(store, summary.covers)
        )
    if name.startswith("d_"):
        for decision in store.decisions.get_many([name]):
            store.log.get(decision.conversation, scope)
            return _Originals(
                f"What {name} is about ({decision.rule})", read_messages(store, decision.messages)
            )
        raise missing_error(name)
    return originals_of_window(store, store.log.get(name, scope))


def originals_of_window(store: Store, row: ConversationRecord) -> _Originals:
    """Return the messages that a window shortened or left out, or the last messages if there are none."""
    used = [lane for lane in store.lanes.of(row.id) if lane.report]
    out = changed_states(load_states(store, row, lane_of(store, row))) if used else []
    title = f"{row.id} “{redact(row.title)}”"
    if out:
        return _Originals(
            f"{title}: the originals of what its window shortened or left out",
            [state.stored for state in out],
        )
    newest = store.log.tail(row.head, _NEWEST_MESSAGES) if row.head else []
    return _Originals(f"{title}: nothing was left out of its window; its last messages", newest)


def read_span(store: Store, scope: Scope, first: str, last: str) -> Sequence[MessageRecord]:
    """Return the messages of one branch from `first` to `last`."""
    try:
        end = store.log.message(last)
    except NotFound:
        raise missing_error(last) from None
    if not is_in_scope(store, scope, end.tree):
        raise missing_error(last)
    ids = store.log.path_ids(last)
    if first not in ids:
        raise missing_error(first)
    return store.log.tail(last, len(ids) - ids.index(first))


def is_in_scope(store: Store, scope: Scope, tree: str) -> bool:
    return any(conversation.scope == scope for conversation in store.log.conversations_of(tree))


def read_messages(store: Store, names: Sequence[str]) -> Sequence[MessageRecord]:
    texts = store.texts.read(list(names))
    return [texts[name] for name in names if name in texts]


def missing_error(name: str) -> NotFound:
    return NotFound(f"There is no {name} here.", hint="conversation_search gives ids of what was said.")


def format_message(stored: MessageRecord) -> str:
    """Format a message with role, id, time, text and tool calls; without private parts and secrets."""
    message = stored.message
    calls = (f"→ {call.name}({call.arguments})" for call in message.tool_calls)
    body = redact("\n".join(chain(filter(None, (message.text,)), calls)))
    return f"[{message.role} {stored.id} {format_moment(stored.created_at)}]\n{body}\n\n"


def slice_messages(
    messages: Sequence[MessageRecord], start: int, most: int
) -> Iterator[tuple[MessageRecord, str]]:
    """Yield `most` characters of the formatted messages from offset `start`, by message."""
    place = -start
    for stored in messages:
        text = format_message(stored)
        piece = text[max(0, -place) : max(0, most - place)]
        place += len(text)
        if piece:
            yield stored, piece


def find_conversation(store: Store, scope: Scope, name: str) -> ConversationRecord:
    """Return the conversation with this id, or the most recently used one for an empty id."""
    if name.strip():
        return store.log.get(name.strip(), scope)
    recent = store.log.recent(scope, 1)
    if not recent:
        raise NotFound("There are no conversations here yet.", hint="Talk to a model through Holdfast first.")
    return recent[0]


# Only the newest decisions are returned; `holdfast window` shows all of them.
_MOST_DECISIONS = 10
_LONGEST_SUMMARY = 2_000
_ACCOUNT_FIELDS = (
    "conversation", "window", "reserve", "room", "tokens", "at_least", "at_most", "sure", "method",
    "counted_by", "utilisation", "level", "sections", "prefix", "updated_at", "windows", "model", "notices",
)  # fmt: skip


def report_window(services: McpServices, caller: Caller, conversation: str) -> ToolReply:
    account = services.store.read_snapshot(build_account, services.store, caller.scope, conversation)
    return ToolReply(format_account(account) + format_notices(list_warnings(account)), account)


def build_account(store: Store, scope: Scope, name: str) -> dict[str, Any]:
    row = find_conversation(store, scope, name)
    whole = window_account(store, row)
    decisions = whole["decisions"]
    states = Counter(message.state for message in load_states(store, row, lane_of(store, row)))
    return {
        **{name: whole[name] for name in _ACCOUNT_FIELDS if name in whole},
        "chat": serialize_conversation(replace(row, title=redact(row.title))),
        "messages": dict(states),
        "summary": shorten(whole["summary"], _LONGEST_SUMMARY) if whole["summary"] else None,
        "decisions": [shorten_decision(decision) for decision in decisions[-_MOST_DECISIONS:]],
        "earlier_decisions": max(0, len(decisions) - _MOST_DECISIONS),
    }


def shorten_decision(decision: dict[str, Any]) -> dict[str, Any]:
    fields = ("id", "kind", "rule", "tokens_before", "tokens_after", "created_at")
    return {**{name: decision[name] for name in fields}, "messages": len(decision["messages"])}


def format_account(account: dict[str, Any]) -> str:
    chat, number = account["chat"], sentences.number
    full = (
        f"{number(account['tokens'])} of {number(account['room'])} tokens used ({account['utilisation']:.0%})"
    )
    spread = f"{number(account['at_least'])}–{number(account['at_most'])}"
    sections = [
        f"{sentences.section(section['name'])} {number(section['tokens'])}"
        for section in account["sections"]
        if section["tokens"]
    ]
    lines = [
        f"{chat['id']} “{chat['title']}”, last sent {format_moment(account['updated_at'])}",
        f"{full}, window {number(account['window'])}, reserve {number(account['reserve'])}",
        f"counted: {sentences.method(account['method'])}, {account['counted_by']} ({spread})",
        sentences.level(account["level"]),
        f"sections: {', '.join(sections)}",
        "messages: " + ", ".join(f"{count} {state}" for state, count in account["messages"].items()),
    ]
    if account["decisions"]:
        lines.append("decided, newest last:")
        lines += [
            f"  {decision['id']}: {sentences.rule(decision['rule'])}, {decision['messages']} messages,"
            f" {number(decision['tokens_before'])} to {number(decision['tokens_after'])} tokens"
            for decision in account["decisions"]
        ]
        lines.append(f"The originals: conversation_expand with {chat['id']} or the id of a decision.")
    if account["earlier_decisions"]:
        lines.append(f"{account['earlier_decisions']} earlier ones: `holdfast window {chat['id']} --json`")
    if account["summary"]:
        lines.append(f"summary in the window:\n{account['summary']}")
    return "\n".join(lines)


def list_warnings(account: dict[str, Any]) -> list[str]:
    troubles = [sentences.notice(name) for name in account.get("notices", ())]
    if not account["sure"]:
        troubles.append("the count is not sure to fit.")
    return troubles
