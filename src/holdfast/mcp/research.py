"""The tool about research: what was found out before, with its sources and its age. Nothing is fetched.

Which findings bear on a question is known in `research`. Knows no protocol.
"""

from typing import Any

from holdfast.mcp.arguments import LONGEST_QUERY, Values
from holdfast.mcp.parts import Caller, Parts, words_only
from holdfast.mcp.told import Told, few, fitting, moment, notices, shortened
from holdfast.research.finding import Finding, ResearchSource
from holdfast.research.matching import RelatedFinding
from holdfast.research.repository import path_of_note

HITS = 6
_SUMMARY = 1_500
_SOURCES, _ADDRESS = 10, 300


def search(parts: Parts, caller: Caller, given: Values) -> Told:
    caller.check_memory()
    research, scope, query = parts.research, caller.scope, given["query"][:LONGEST_QUERY]
    troubles: list[str] = []
    every, now = research.list(scope, troubles=troubles), research.clock()
    found = research.find_related(scope, query, HITS)
    past = [] if found else research.find_outdated(scope, query, [one.id for one in every])[:HITS]
    hits = fitting([*found, *(RelatedFinding(one, 0.0) for one in past)], lambda one: _hit(one, now))
    body = "\n\n".join(_hit(one, now) for one in hits)
    if not hits:
        body = f"Nothing that was found out bears on this ({len(every)} findings here)."
    else:
        body += "\n\nAll of a finding: memory_get with its path."
    notes = few(troubles, 3, lambda more: f"{more} more findings cannot be read.")
    if past:
        notes.append("these no longer hold; only the person can have it looked up again.")
    notes += words_only(parts)
    data = {
        "findings": [_data(one, now) for one in hits],
        "total": len(every),
        "left_out": len(found) + len(past) - len(hits),
        "degraded": notes,
    }
    return Told(body + notices(notes), data)


def _hit(one: RelatedFinding, now: float) -> str:
    finding = one.finding
    state = "expired" if finding.is_expired(now) else "holds"
    sources = ", ".join(finding.names) or "no source could be read"
    trace = f"id {finding.id}, found {moment(finding.created_at)}, {state}, score {one.score:g}"
    summary = shortened(finding.summary, _SUMMARY)
    return f"{finding.question} ({trace})\n{summary}\nSources: {sources}. Path: {path_of_note(finding)}"


def _data(one: RelatedFinding, now: float) -> dict[str, Any]:
    finding: Finding = one.finding
    told = finding.to_json(now, whole=False)
    kept = ("id", "question", "created_at", "expires_at", "expired", "age", "volatility", "mode")
    return {
        **{name: told[name] for name in kept},
        "summary": shortened(finding.summary, _SUMMARY),
        "sources": [_source(one) for one in finding.sources[:_SOURCES]],
        "more_sources": max(0, len(finding.sources) - _SOURCES),
        "path": str(path_of_note(finding)),
        "score": one.score,
    }


def _source(source: ResearchSource) -> dict[str, Any]:
    return {
        "url": shortened(source.url, _ADDRESS),
        "title": shortened(source.title, _ADDRESS),
        "at": source.at,
        "trouble": shortened(source.trouble, _ADDRESS) or None,
    }
