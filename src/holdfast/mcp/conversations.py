"""The tools about conversations: finding what was said, reading it in full, and what of it a model was shown.

The log keeps everything; what a window left out is read here. Knows no protocol.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from holdfast.conversations.search import MessageHit
from holdfast.conversations.search import search as find
from holdfast.conversations.serialization import serialize_results
from holdfast.errors import BadRequest, NotFound
from holdfast.fitting.account import changed, lane_of, standings
from holdfast.mcp.arguments import Values
from holdfast.mcp.parts import Caller, Parts, words_only
from holdfast.mcp.told import LONGEST, Told, fitting, moment, notices
from holdfast.messages import Scope
from holdfast.store import Conversation, Store, Stored

HITS = 10
# Of a conversation of which nothing was left out, so many of the last messages.
_NEWEST = 20

# ID, ID..ID, and either with how many characters were read already.
_ID = re.compile(r"([a-z]_\w{6,40})(?:\.\.(m_\w{6,40}))?(?:\+(\d{1,9}))?")


def search(parts: Parts, caller: Caller, given: Values) -> Told:
    query, scope, store = given["query"], caller.scope, parts.store
    near = parts.remembering.messages_near(scope, query)
    found = find(store, scope, query, limit=HITS, near=near)
    hits = fitting(found.hits, _hit)
    told = serialize_results(found)
    told |= {"hits": told["hits"][: len(hits)], "left_out": len(found.hits) - len(hits)}
    told["degraded"] = words_only(parts)
    body = "\n".join(map(_hit, hits)) or f"No conversation here has this: {found.empty}. Try other words."
    if hits:
        body += "\nA message in full: conversation_expand with its id."
    if len(hits) == HITS or told["left_out"]:
        body += " There may be more: ask with rarer words."
    return Told(f"{body}\nSearched by {found.engine}." + notices(told["degraded"]), told)


def _hit(hit: MessageHit) -> str:
    away = "" if hit.current else ", edited away"
    matched = f", has {', '.join(hit.matched)}" if hit.matched else ", by meaning"
    where = f"{hit.message} in {hit.conversation} “{hit.title}”"
    return f"{where} ({hit.role}, {moment(hit.at)}, score {hit.score:g}{matched}{away})\n{hit.snippet}"


@dataclass(frozen=True, slots=True)
class _Originals:
    """Messages that an id stands for, and what they are."""

    about: str
    messages: Sequence[Stored]


def expand(parts: Parts, caller: Caller, given: Values) -> Told:
    asked = _ID.fullmatch(given["id"].strip())
    if asked is None:
        raise BadRequest(
            f"{given['id'][:60]!r} is no id.",
            hint="Use one from conversation_search or context_report, like m_…, c_…, s_… or m_…..m_….",
            param="id",
        )
    name, last, start = asked[1], asked[2], int(asked[3] or 0)
    found = parts.store.at_once(_originals, parts.store, caller.scope, name, last)
    shown = list(_part(found.messages, start, LONGEST))
    whole = sum(len(_spelled(one)) for one in found.messages)
    rest = whole - start - LONGEST
    again = f"{name}..{last}" if last else name
    more = f"{again}+{start + LONGEST}" if rest > 0 else None
    body = "".join(text for _, text in shown) or "There is nothing more of it."
    end = f"\n[{rest:,} more characters: conversation_expand with id {more}]" if more else ""
    data = {
        "about": found.about,
        "messages": [_data(stored, text) for stored, text in shown],
        "total": len(found.messages),
        "next": more,
    }
    return Told(f"{found.about}\n\n{body.rstrip()}{end}", data)


def _originals(store: Store, scope: Scope, name: str, last: str | None) -> _Originals:
    """The messages behind an id. What belongs to another scope is as good as missing."""
    if last is not None or name.startswith("m_"):
        messages = _span(store, scope, name, last or name)
        return _Originals(f"{len(messages)} messages" if last else "One message in full", messages)
    if name.startswith("s_"):
        summary = store.summaries.get(name)
        if summary is None or not _is_here(store, scope, summary.tree):
            raise _missing(name)
        earlier = f"; what came before is in {summary.previous}" if summary.previous else ""
        return _Originals(f"What the summary {name} stands for{earlier}", _read(store, summary.covers))
    if name.startswith("d_"):
        for made in store.decisions.named([name]):
            store.log.get(made.conversation, scope)
            return _Originals(f"What {name} is about ({made.rule})", _read(store, made.messages))
        raise _missing(name)
    return _of_conversation(store, store.log.get(name, scope))


def _of_conversation(store: Store, row: Conversation) -> _Originals:
    """What its window shortened or left out; where that is nothing, what was said last."""
    used = [lane for lane in store.lanes.of(row.id) if lane.report]
    out = changed(standings(store, row, lane_of(store, row))) if used else []
    title = f"{row.id} “{row.title}”"
    if out:
        return _Originals(
            f"{title}: the originals of what its window shortened or left out", [one.stored for one in out]
        )
    newest = store.log.tail(row.head, _NEWEST) if row.head else []
    return _Originals(f"{title}: nothing was left out of its window; its last messages", newest)


def _span(store: Store, scope: Scope, first: str, last: str) -> Sequence[Stored]:
    """The messages from one to another that follows it."""
    try:
        end = store.log.message(last)
    except NotFound:
        raise _missing(last) from None
    if not _is_here(store, scope, end.tree):
        raise _missing(last)
    ids = store.log.path_ids(last)
    if first not in ids:
        raise _missing(first)
    return store.log.tail(last, len(ids) - ids.index(first))


def _is_here(store: Store, scope: Scope, tree: str) -> bool:
    return any(one.scope == scope for one in store.log.conversations_of(tree))


def _read(store: Store, names: Sequence[str]) -> Sequence[Stored]:
    found = store.texts.read(list(names))
    return [found[name] for name in names if name in found]


def _missing(name: str) -> NotFound:
    return NotFound(f"There is no {name} here.", hint="conversation_search gives ids of what was said.")


def _spelled(stored: Stored) -> str:
    """A message as it is read: who, when, the words, and what tools were called with."""
    message = stored.message
    calls = (f"→ {call.name}({call.arguments})" for call in message.tool_calls)
    said = "\n".join(chain(filter(None, (message.text,)), calls))
    return f"[{message.role} {stored.id} {moment(stored.created_at)}]\n{said}\n\n"


def _part(messages: Sequence[Stored], start: int, most: int) -> Iterator[tuple[Stored, str]]:
    """So many characters of messages one after the other, with the message that each piece is of."""
    place = -start
    for stored in messages:
        text = _spelled(stored)
        piece = text[max(0, -place) : max(0, most - place)]
        place += len(text)
        if piece:
            yield stored, piece


def _data(stored: Stored, text: str) -> dict[str, Any]:
    return {
        "id": stored.id,
        "role": stored.message.role,
        "created_at": stored.created_at,
        "text": text.rstrip(),
        "whole": text == _spelled(stored),
    }


def last_used(store: Store, scope: Scope, name: str) -> Conversation:
    """The conversation that is named, else the one that was used last."""
    if name.strip():
        return store.log.get(name.strip(), scope)
    recent = store.log.recent(scope, 1)
    if not recent:
        raise NotFound("There are no conversations here yet.", hint="Talk to a model through Holdfast first.")
    return recent[0]
