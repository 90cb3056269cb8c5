"""The tools about memory: finding notes, reading them, writing and forgetting what is remembered.

All of it is done by `memory`; here it is only asked for and told. Knows no protocol.
"""

import re
from collections.abc import Sequence

from holdfast.mcp.arguments import LONGEST_QUERY, Values
from holdfast.mcp.notes import note_at
from holdfast.mcp.parts import Caller, Parts
from holdfast.mcp.told import Told, date, excerpt, fitting, notices, shortened
from holdfast.memory.private import MARK
from holdfast.memory.searching.hits import Answer, Hit, cites
from holdfast.memory.workspace.checks import checked_kind
from holdfast.memory.workspace.items import PART

# Files that cannot be read, and memories that gave way: so many of them, and so much of each.
_NAMED, _OLD = 10, 500
# A hit is cited as FILE#LINE, and so it comes back.
_CITED = re.compile(r"\A(.+\.(?:md|markdown))#(\d{1,7})", re.IGNORECASE | re.DOTALL)


def search(parts: Parts, caller: Caller, given: Values) -> Told:
    caller.check_memory()
    query = given["query"]
    found = parts.remembering.search.search(query, caller.scope, within="notes", limit=given["limit"])
    hits = fitting(found.hits, lambda hit: _hit(0, hit))
    left = len(found.hits) - len(hits)
    lines = [_hit(number, hit) for number, hit in enumerate(hits, 1)]
    body = "\n".join(lines) or f"Nothing found. {found.empty}"
    if found.weak:
        body = f"Nothing here fits well. The closest there is:\n{body}"
    if left:
        body += f"\n{left} more hits were left out: ask with fewer or rarer words."
    if hits:
        body += "\nRead more of a hit: memory_get with its path and from_line."
    told = found.to_json(cited=cites(parts.citations, caller.scope))
    told["hits"] = told["hits"][: len(hits)]
    told["left_out"] = left
    skipped = found.freshness.skipped
    told["freshness"]["skipped"] = dict(sorted(skipped.items())[:_NAMED])
    told["freshness"]["more_skipped"] = max(0, len(skipped) - _NAMED)
    return Told(body + _how(found) + notices([*found.degraded, *_cut(query)]), told)


def _hit(number: int, hit: Hit) -> str:
    lines = f" lines {hit.lines[0]}-{hit.lines[1]}" if hit.lines else ""
    name = "" if hit.id.startswith(PART) else f", id {hit.id}"
    kind = f", {hit.memory_kind}" if hit.memory_kind else ""
    made_of = " + ".join(f"{part} {value:g}" for part, value in hit.parts.items())
    score = f"score {hit.score:g}" + (f" = {made_of}" if made_of else "")
    return f"{number}. {hit.path}{lines} ({date(hit.at)}{kind}{name}, {score})\n{hit.snippet}"


def _how(found: Answer) -> str:
    """Which engines ran, and how far the index is behind the files."""
    fresh = found.freshness
    state = "up to date" if not fresh.stale else f"{fresh.stale} files behind"
    return f"\nSearched by {', '.join(found.engines)}; index {state} ({fresh.files} files)."


def _cut(query: str) -> Sequence[str]:
    if len(query) <= LONGEST_QUERY:
        return ()
    return (f"only the first {LONGEST_QUERY:,} characters of the query were looked for.",)


def get(parts: Parts, caller: Caller, given: Values) -> Told:
    caller.check_memory()
    path, first = given["path"].strip(), given["from_line"]
    if (cited := _CITED.fullmatch(path)) is not None:
        path, first = cited[1], max(first, int(cited[2]))
    note = note_at(parts, caller.scope, path)
    told = excerpt(note.text, first, given["lines"])
    shown, last, total = told["first"], told["last"], told["lines"]
    if shown > total:
        return Told(f"{path} has {total} lines. Call again with a smaller from_line.", {"path": path, **told})
    head = f"{path}, lines {shown}-{last} of {total}"
    more = f"\nMore: memory_get with path {path} and from_line {told['next']}." if told["next"] else ""
    notice = f"line {last} is cut; the file itself has the rest." if told["cut"] else ""
    return Told(f"{head}\n\n{told['text']}{more}{notices([notice])}", {"path": path, **told})


def write(parts: Parts, caller: Caller, given: Values) -> Told:
    caller.check_memory()
    library, kind = parts.remembering.library, checked_kind(given["kind"])
    made = library.add(caller.scope, given["text"], kind)
    memory = made.memory
    path = str(library.place(caller.scope, memory.id))
    done = {"updated": "Known already, brought up to date", "known": "Known already"}
    lines = [f"{done.get(made.action, 'Remembered')} as {memory.id} in {path}: {memory.text}"]
    replaced = [{"id": old.id, "text": shortened(old.text, _OLD)} for old in made.others[:_NAMED]]
    lines += [f"In place of {old['id']}: {old['text']}" for old in replaced]
    secret = "secrets or private parts were taken out before it was kept." if MARK in memory.text else ""
    data = {
        "action": made.action,
        "memory": memory.to_json(),
        "path": path,
        "replaced": replaced,
    }
    return Told("\n".join(lines) + notices([secret]), data)


def forget(parts: Parts, caller: Caller, given: Values) -> Told:
    caller.check_memory()
    gone = parts.remembering.library.forget(caller.scope, given["id"].strip())
    text = f"Forgotten for good: {gone.text} ({gone.id}). It is not learned again from where it came from."
    return Told(text, {"forgotten": gone.to_json()})
