"""`holdfast memory search` and `reindex`: finding what is remembered, and the index that makes it quick.

Shows what the search says about itself: how it was found, what did not run and why, how far the index is.
"""

from dataclasses import asdict, replace
from enum import StrEnum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from holdfast.cli.kept import Json, headline
from holdfast.cli.output import complain, console, load, moment, print_json, write
from holdfast.cli.project import Project
from holdfast.cli.remembered import Whose, WhoseOption, kind_named, progress, remembering, scope_for
from holdfast.errors import EmbedderError
from holdfast.language import say

if TYPE_CHECKING:
    from holdfast.memory.hits import Answer
    from holdfast.memory.index import Progress
    from holdfast.memory.remembering import Remembering
    from holdfast.messages import Scope

_WIDER = 8
# Rows whose vectors are made between two looks at how far it is.
_PORTION = 64


class Within(StrEnum):
    notes = "notes"
    conversations = "conversations"
    all = "all"


class Citations(StrEnum):
    auto = "auto"
    on = "on"
    off = "off"


def search(
    context: typer.Context,
    words: Annotated[list[str], typer.Argument(metavar="QUERY", help="What to look for, in your own words.")],
    kinds: Annotated[
        list[str] | None, typer.Option("--kind", help="Only memories of this kind; may be repeated.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=50, help="How many at most.")] = 6,
    within: Annotated[Within, typer.Option(help="Where to look.")] = Within.notes,
    citations: Annotated[Citations, typer.Option(help="Whether each hit names its source.")] = Citations.auto,
    whose: WhoseOption = None,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Find notes and memories by their words and by their meaning."""
    from holdfast.memory.checks import checked_kind

    settings, scope = load(context).settings, scope_for(whose, project)
    wanted = [checked_kind(kind) for kind in kinds or ()]
    # A project sees the person's too: of so many there are enough that are its own.
    asked = limit * _WIDER if whose is Whose.project else limit
    with remembering(settings) as parts:
        found = parts.search.search(" ".join(words), scope, within=within.value, kinds=wanted, limit=asked)
    if whose is Whose.project:
        found = _own(found, scope, limit)
    # In a group sources could name what is not the group's; the command line is always private.
    cited = citations is not Citations.off
    if as_json:
        print_json(_answer_out(found, cited))
    else:
        _print_answer(found, cited)


def _own(found: "Answer", scope: "Scope", limit: int) -> "Answer":
    """Only what is in the scope's own folder."""
    from holdfast.memory.scopes import folder

    place = folder(scope)
    hits = [hit for hit in found.hits if hit.kind == "message" or place in PurePosixPath(hit.path).parents]
    return replace(
        found,
        hits=tuple(hits[:limit]),
        empty="" if hits else found.empty or "Nothing has any of these words.",
    )


def _answer_out(found: "Answer", cited: bool) -> dict[str, Any]:
    told = found.to_json()
    for hit, out in zip(found.hits, told["hits"], strict=True):
        out["citation"] = f"Source: {hit.citation}" if cited else None
    return told


def _print_answer(found: "Answer", cited: bool) -> None:
    for hit in found.hits:
        kind = kind_named(hit.memory_kind) if hit.memory_kind else hit.kind
        date = moment(hit.at)[:10] if hit.at else ""
        exact = say("word for word", "wörtlich") if hit.exact else ""
        parts = ", ".join(f"{name} {value:.2f}" for name, value in hit.parts.items())
        headline("", " · ".join(filter(None, (hit.id, kind, date, f"{hit.score:.2f} ({parts})", exact))))
        write(f"{hit.snippet}\n")
        if cited:
            console.print(Text(say("Source: ", "Quelle: ") + hit.citation, style="dim"))
        write("\n")
    if found.empty:
        console.print(Text(_empty(found.empty)))
    engines = ", ".join((*found.engines, *filter(None, (found.model,))))
    console.print(Text(say("Compared by: ", "Verglichen mit: ") + engines, style="dim"))
    console.print(Text(_age(asdict(found.freshness)), style="dim"))
    for reason in found.degraded:
        complain(reason)


def _empty(reason: str) -> str:
    reasons = {
        "Nothing was asked.": "Es wurde nichts gefragt.",
        "There is nothing here to search yet.": "Hier gibt es noch nichts zu durchsuchen.",
        "There is no word in the question that could be looked for.": "Die Frage hat kein Wort zum Suchen.",
        "What was found is below the minimum score.": "Was gefunden wurde, ist zu schwach.",
        "Nothing has any of these words.": "Nichts enthält eins dieser Wörter.",
    }
    return say(reason, reasons.get(reason, reason))


def reindex(context: typer.Context, as_json: Json = False) -> None:
    """Build the index anew from the notes: their words, then their vectors."""
    settings, scope = load(context).settings, scope_for(None, "default")
    with remembering(settings) as parts:
        with progress() as tell:
            reading = say("Reading notes", "Notizen werden gelesen")
            fresh = parts.index.rebuild(lambda done, total: tell(reading, done, total))
            trouble = _vectors(
                parts, lambda done, total: tell(say("Making vectors", "Vektoren"), done, total)
            )
        state = {**index_state(parts, scope), "index": asdict(fresh)}
    if as_json:
        print_json({**state, "trouble": trouble or None})
        return
    print_state(state)
    if trouble:
        complain(trouble)


def _vectors(parts: "Remembering", tell: "Progress") -> str:
    """Make all vectors that are missing; what kept that from being done, if anything did."""
    total = parts.meaning.waiting()
    tell(0, total)
    try:
        while parts.meaning.catch_up(_PORTION):
            tell(max(0, total - parts.meaning.waiting()), total)
    except EmbedderError as error:
        return str(error)
    return ""


def index_state(parts: "Remembering", scope: "Scope") -> dict[str, Any]:
    """How far the index is behind the notes of a scope, and whose vectors it has."""
    # The time is up before it begins: nothing is read, and what has changed is only counted.
    fresh = parts.index.refresh(scope, 0.0)
    embedder = parts.embedder.current()
    return {
        "index": asdict(fresh),
        "vectors": {
            "embedder": str(embedder.identity) if embedder else None,
            "waiting": parts.meaning.waiting(),
            "trouble": parts.embedder.trouble or None,
        },
    }


def print_state(state: dict[str, Any]) -> None:
    console.print(Text(_age(state["index"])))
    vectors = state["vectors"]
    if vectors["embedder"]:
        left = vectors["waiting"]
        waiting = say(f", {left} still to be made", f", {left} noch zu machen") if left else ""
        console.print(Text(say("vectors: ", "Vektoren: ") + vectors["embedder"] + waiting))
    else:
        console.print(say("vectors: none, words alone are compared", "Vektoren: keine, nur Wörter zählen"))
    if vectors["trouble"]:
        complain(vectors["trouble"])
    for path, reason in state["index"]["skipped"].items():
        complain(f"{path}: {reason}")


def _age(fresh: dict[str, Any]) -> str:
    files, stale, at = fresh["files"], fresh["stale"], fresh["indexed_at"]
    read = say(f", last read {moment(at)}", f", zuletzt gelesen {moment(at)}") if at else ""
    behind = say(f", {stale} changed since", f", {stale} seitdem geändert") if stale else ""
    return say(f"index: {files} files", f"Index: {files} Dateien") + read + behind
