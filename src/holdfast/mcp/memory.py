"""The tools about memory and research: search and read notes, write and forget memories, search findings.

The work is done by the packages `memory` and `research`; this module formats their results. Notes are the
Markdown files of the workspace and of `notes_paths`; profiles are not notes.
"""

import re
from collections.abc import Sequence
from typing import Any

from holdfast.brief import build_brief, estimate_tokens
from holdfast.errors import BadRequest
from holdfast.mcp.tools import (
    LONGEST_QUERY,
    Caller,
    McpServices,
    ToolReply,
    excerpt_lines,
    explain_word_search,
    format_date,
    format_moment,
    format_notices,
    limit_items,
    shorten,
    take_fitting,
)
from holdfast.memory.base import Memory
from holdfast.memory.items import PART, check_kind
from holdfast.memory.notes import note_at, notes_of
from holdfast.memory.private import MARK
from holdfast.memory.scopes import extra_notes_name, place_memory
from holdfast.memory.search import WEAK, SearchHit, SearchResult, cites
from holdfast.memory.workspace import Note, NoteEntry
from holdfast.messages import Scope
from holdfast.research.finding import Finding
from holdfast.research.matching import RelatedFinding
from holdfast.research.repository import path_of_note
from holdfast.store import NotesFolder


def find_note(services: McpServices, scope: Scope, path: str) -> Note:
    """Return the note at a path, if this scope may read it."""
    qmd, extra = services.remembering.qmd, services.remembering.extra
    if qmd is not None and (note := qmd.resolve(scope, path)) is not None:
        return note
    if path.startswith("/") and extra is not None and can_read_extra(services, scope):
        # It reads only files that a walk through the configured folders would reach.
        return extra.read(path)
    return note_at(services.remembering.workspace, scope, path)


def list_notes(services: McpServices, scope: Scope) -> Sequence[NoteEntry]:
    """Return all notes that this scope can read: the workspace by path, then those of `notes_paths`."""
    notes = notes_of(services.remembering.workspace, scope)
    extra = services.remembering.extra
    if extra is not None and can_read_extra(services, scope):
        notes += extra.entries()
    return [entry for entry in notes if not entry.trouble]


def can_read_extra(services: McpServices, scope: Scope) -> bool:
    """Whether this scope may read the notes of `notes_paths`; the index knows their owner."""
    return NotesFolder(extra_notes_name(scope.user)) in services.remembering.index.places(scope)


# Limits for lists of unreadable files and replaced memories, and for the text of each.
_MOST_NAMED, _LONGEST_OLD_TEXT = 10, 500
# Tokens of the profile as a model reads it.
_PROFILE_TOKENS = 600
# The id of a memory, whoever wrote it.
_MEMORY_ID = re.compile(r"[yhm]_\w{6,60}")
# Hits are cited as FILE#LINE, so models pass such paths back.
_CITATION = re.compile(r"\A(.+\.(?:md|markdown))#(\d{1,7})", re.IGNORECASE | re.DOTALL)


def search_notes(services: McpServices, caller: Caller, query: str, limit: int) -> ToolReply:
    caller.check_memory()
    answer = services.remembering.search.search(query, caller.scope, within="notes", limit=limit)
    fitting = [hit for hit in answer.hits if fits_well(hit, answer)]
    # What was replaced is told only where nothing is known that holds, and as such.
    fitting = [hit for hit in fitting if not hit.former] or fitting
    hits = take_fitting(fitting, lambda hit: format_note_hit(0, hit, cited=True))
    left = len(fitting) - len(hits)
    cited = cites(services.citations, caller.scope)
    lines = [format_note_hit(number, hit, cited=cited) for number, hit in enumerate(hits, 1)]
    body = "\n".join(lines) or explain_no_hits(answer)
    if left:
        body += f"\n{left} more hits were left out: ask with fewer or rarer words."
    if hits:
        body += "\nMore of a hit: memory_get with its path and line, or its id."
    if hits and cited:
        body += " Name the source of what you use."
    data = answer.to_json(cited=cited)
    kept = {hit.id for hit in hits}
    data["hits"] = [hit for hit in data["hits"] if hit["id"] in kept]
    data["left_out"] = left
    skipped = answer.freshness.skipped
    data["freshness"]["skipped"] = dict(sorted(skipped.items())[:_MOST_NAMED])
    data["freshness"]["more_skipped"] = max(0, len(skipped) - _MOST_NAMED)
    return ToolReply(
        body + describe_search(answer) + format_notices([*answer.degraded, *query_notice(query)]), data
    )


def fits_well(hit: SearchHit, answer: SearchResult) -> bool:
    """Whether a hit is worth a model's attention; one with a rare name of the query always is."""
    # A backend that does not say how likely an answer is has chosen its hits itself.
    return hit.exact or answer.likely == 1.0 or (not answer.weak and hit.score >= WEAK)


def explain_no_hits(answer: SearchResult) -> str:
    if not answer.hits:
        return f"Nothing found. {answer.empty}"
    best = max(hit.score for hit in answer.hits)
    return f"Nothing fits well (best score {best:.2f}): it is most likely not known here. Ask the user."


def format_note_hit(number: int, hit: SearchHit, *, cited: bool) -> str:
    name = "" if hit.id.startswith(PART) else f", id {hit.id}"
    kind = f"{hit.memory_kind}, " if hit.memory_kind else ""
    former = "no longer holds, " if hit.former else ""
    about = f"({former}{kind}{format_date(hit.at)}, score {hit.score:.2f}{name})"
    lines = f" lines {hit.lines[0]}-{hit.lines[1]}" if hit.lines else ""
    source = f"Source: {hit.citation}" if cited else f"In {hit.path}{lines}"
    return f"{number}. {hit.snippet} {about}\n{source}"


def describe_search(answer: SearchResult) -> str:
    """Say which engines ran and how far the index is behind the files."""
    fresh = answer.freshness
    state = "up to date" if not fresh.stale else f"{fresh.stale} files behind"
    return f"\nSearched by {', '.join(answer.engines)}; index {state} ({fresh.files} files)."


def query_notice(query: str) -> Sequence[str]:
    if len(query) <= LONGEST_QUERY:
        return ()
    return (f"only the first {LONGEST_QUERY:,} characters of the query were looked for.",)


def get_note(services: McpServices, caller: Caller, path: str, from_line: int, lines: int) -> ToolReply:
    caller.check_memory()
    path, first = path.strip(), from_line
    if _MEMORY_ID.fullmatch(path):
        return show_memory(services, caller, path)
    if (cited := _CITATION.fullmatch(path)) is not None:
        path, first = cited[1], max(first, int(cited[2]))
    note = find_note(services, caller.scope, path)
    part = excerpt_lines(note.text, first, lines, caller.scope)
    shown, last, total = part["first"], part["last"], part["lines"]
    if first > total:
        return ToolReply(
            f"{path} has {total} lines. Call again with a smaller from_line.", {"path": path, **part}
        )
    head = f"{path}, lines {shown}-{last} of {total}"
    more = f"\nMore: memory_get with path {path} and from_line {part['next']}." if part["next"] else ""
    notice = f"line {last} is cut; the file itself has the rest." if part["cut"] else ""
    return ToolReply(f"{head}\n\n{part['text']}{more}{format_notices([notice])}", {"path": path, **part})


def show_memory(services: McpServices, caller: Caller, name: str) -> ToolReply:
    """Return one memory: its words, where it stands, and what it stands in for."""
    library, scope = services.remembering.library, caller.scope
    newest, *former = library.history(scope, name)
    memory = library.get(scope, name)
    path = str(library.find_file(scope, memory.id))
    body = f"{memory.text} ({describe_memory(memory, scope)})\nSource: {path}"
    if memory.id != newest.id:
        body = f"No longer holds. Now: {newest.text} ({newest.id}). Before: {memory.text}"
    elif former:
        body += f"\nIn place of: {'; '.join(shorten(old.text, _LONGEST_OLD_TEXT) for old in former[:3])}"
    data = {"path": path, "memory": memory.to_json(), "current": newest.to_json()}
    return ToolReply(body, {**data, "text": memory.text})


def list_memories(
    services: McpServices, caller: Caller, kind: str, scope: str, limit: int, offset: int
) -> ToolReply:
    caller.check_memory()
    whose = caller.scope if scope == "all" else owner_named(caller.scope, scope)
    page = services.remembering.library.page(
        whose, kind=check_kind(kind) if kind else None, limit=limit, offset=offset, own=scope != "all"
    )
    memories = take_fitting(page.memories, lambda memory: format_memory(memory, caller.scope))
    body = "\n".join(format_memory(memory, caller.scope) for memory in memories) or "Nothing is remembered."
    following = offset + len(memories)
    if following < page.total:
        body += f"\n{page.total - following} more: memory_list with offset {following}."
    data = {"memories": [memory.to_json() for memory in memories], "total": page.total}
    return ToolReply(body + format_notices(page.troubles), data)


def format_memory(memory: Memory, scope: Scope) -> str:
    return f"- {shorten(memory.text, _LONGEST_OLD_TEXT)} ({describe_memory(memory, scope)})"


def describe_memory(memory: Memory, scope: Scope) -> str:
    whose = "project" if memory.scope == scope and scope != Scope(scope.user) else "user"
    return f"{memory.kind} of the {whose}, {format_date(memory.date)}, id {memory.id}"


def show_profile(services: McpServices, caller: Caller) -> ToolReply:
    caller.check_memory()
    profile, scope = services.remembering.profile, caller.scope
    fields = {} if scope.kind == "group" else profile.fields(scope)
    excerpt = profile.render(scope, _PROFILE_TOKENS, estimate_tokens)
    body = excerpt.text or "The profile is empty: the user fills it in on the page, or with holdfast profile."
    return ToolReply(body + format_notices([excerpt.trouble]), {"profile": fields})


def tell_brief(services: McpServices, caller: Caller, window: int) -> ToolReply:
    caller.check_memory()
    brief = build_brief(services.store, services.remembering.library, caller.scope, window=window)
    body = brief.render() or "Nothing is known of this project yet."
    return ToolReply(body, brief.to_json(estimate_tokens))


def owner_named(scope: Scope, name: str) -> Scope:
    """Return the user's scope or the project's, as a caller names it."""
    if scope.kind == "group" or name == "project":
        if scope == Scope(scope.user) or (scope.kind == "group" and name == "user"):
            raise BadRequest(f"There is no {name} here.", hint="Leave scope out.", param="scope")
        return scope
    return Scope(scope.user)


def write_memory(services: McpServices, caller: Caller, text: str, kind: str, scope: str) -> ToolReply:
    caller.check_memory()
    library = services.remembering.library
    whose, known_as = place_memory(caller.scope, check_kind(kind), text)
    if scope != "auto":
        whose, known_as = owner_named(caller.scope, scope), check_kind(kind)
        if whose != Scope(whose.user) and kind == "preference":
            # Preferences are people's; what a project wants is a decision of it.
            known_as = "decision"
    change = library.add(whose, text, known_as)
    memory = change.memory
    path = str(library.find_file(caller.scope, memory.id))
    done = {"updated": "Known already, brought up to date", "known": "Known already"}
    about = f"{memory.id} in {path} ({describe_memory(memory, caller.scope)})"
    lines = [f"{done.get(change.action, 'Remembered')} as {about}: {memory.text}"]
    replaced = [
        {"id": old.id, "text": shorten(old.text, _LONGEST_OLD_TEXT)} for old in change.others[:_MOST_NAMED]
    ]
    lines += [f"In place of {old['id']}: {old['text']}" for old in replaced]
    secret = "secrets or private parts were taken out before it was kept." if MARK in memory.text else ""
    data = {"action": change.action, "memory": memory.to_json(), "path": path, "replaced": replaced}
    return ToolReply("\n".join(lines) + format_notices([secret]), data)


def forget_memory(services: McpServices, caller: Caller, memory: str) -> ToolReply:
    caller.check_memory()
    gone = services.remembering.library.forget(caller.scope, memory.strip())
    text = f"Forgotten for good: {gone.text} ({gone.id}). It is not learned again from where it came from."
    return ToolReply(text, {"forgotten": gone.to_json()})


MOST_FINDINGS = 6
_LONGEST_SUMMARY = 1_500
_MOST_SOURCES, _LONGEST_ADDRESS = 10, 300


def search_findings(services: McpServices, caller: Caller, query: str) -> ToolReply:
    caller.check_memory()
    research, scope, query = services.research, caller.scope, query[:LONGEST_QUERY]
    troubles: list[str] = []
    every, now = research.list(scope, troubles=troubles), research.clock()
    findings = research.find_related(scope, query, MOST_FINDINGS)
    ids = [finding.id for finding in every]
    past = [] if findings else research.find_outdated(scope, query, ids)[:MOST_FINDINGS]
    hits = take_fitting(
        [*findings, *(RelatedFinding(finding, 0.0) for finding in past)], lambda hit: format_finding(hit, now)
    )
    body = "\n\n".join(format_finding(hit, now) for hit in hits)
    if not hits:
        body = f"Nothing that was found out bears on this ({len(every)} findings here)."
    else:
        body += "\n\nAll of a finding: memory_get with its path."
    notes = limit_items(troubles, 3, lambda more: f"{more} more findings cannot be read.")
    if past:
        notes.append("these no longer hold; only the person can have it looked up again.")
    notes += explain_word_search(services)
    data = {
        "findings": [finding_data(hit, now) for hit in hits],
        "total": len(every),
        "left_out": len(findings) + len(past) - len(hits),
        "degraded": notes,
    }
    return ToolReply(body + format_notices(notes), data)


def format_finding(bearing: RelatedFinding, now: float) -> str:
    finding = bearing.finding
    state = "expired" if finding.is_expired(now) else "holds"
    sources = ", ".join(finding.names) or "no source could be read"
    trace = f"id {finding.id}, found {format_moment(finding.created_at)}, {state}, score {bearing.score:g}"
    summary = shorten(finding.summary, _LONGEST_SUMMARY)
    return f"{finding.question} ({trace})\n{summary}\nSources: {sources}. Path: {path_of_note(finding)}"


def finding_data(bearing: RelatedFinding, now: float) -> dict[str, Any]:
    finding: Finding = bearing.finding
    data = finding.to_json(now, whole=False)
    fields = ("id", "question", "created_at", "expires_at", "expired", "age", "volatility", "mode")
    return {
        **{name: data[name] for name in fields},
        "summary": shorten(finding.summary, _LONGEST_SUMMARY),
        "sources": [
            {
                "url": shorten(source.url, _LONGEST_ADDRESS),
                "title": shorten(source.title, _LONGEST_ADDRESS),
                "at": source.at,
                "trouble": shorten(source.trouble, _LONGEST_ADDRESS) or None,
            }
            for source in finding.sources[:_MOST_SOURCES]
        ],
        "more_sources": max(0, len(finding.sources) - _MOST_SOURCES),
        "path": str(path_of_note(finding)),
        "score": bearing.score,
    }
