"""`holdfast memory search` and `reindex`: finding what is remembered, and the index that makes it quick.

Shows what the search says about itself: how it was found, what did not run and why, how far the index is.
"""

from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from holdfast.cli.kept import JsonOption, print_headline
from holdfast.cli.output import console, format_time, load, print_error, print_json, write
from holdfast.cli.project import ProjectOption
from holdfast.cli.remembered import WhoseOption, kind_label, narrow_scope, open_memory, show_progress_bar
from holdfast.i18n import say

if TYPE_CHECKING:
    from holdfast.memory.searching.hits import Answer


class SearchTarget(StrEnum):
    notes = "notes"
    conversations = "conversations"
    all = "all"


class CitationMode(StrEnum):
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
    within: Annotated[SearchTarget, typer.Option(help="Where to look.")] = SearchTarget.notes,
    citations: Annotated[
        CitationMode | None, typer.Option(help="Whether each hit names its source.", show_default=False)
    ] = None,
    whose: WhoseOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find notes and memories by their words and by their meaning."""
    from holdfast.memory.searching.hits import cites
    from holdfast.memory.workspace.checks import checked_kind

    settings, scope = load(context).settings, narrow_scope(whose, project)
    wanted = [checked_kind(kind) for kind in kinds or ()]
    with open_memory(settings) as parts:
        found = parts.search.search(
            " ".join(words), scope, within=within.value, kinds=wanted, limit=limit, own=whose is not None
        )
    cited = cites(citations.value if citations else settings.citations, scope)
    if as_json:
        print_json(found.to_json(cited=cited))
    else:
        print_search_answer(found, cited)


def print_search_answer(found: "Answer", cited: bool) -> None:
    if found.weak:
        console.print(
            say("Nothing here fits well. The closest there is:", "Nichts hier passt gut. Am nächsten kommt:")
        )
    for hit in found.hits:
        kind = kind_label(hit.memory_kind) if hit.memory_kind else hit.kind
        date = format_time(hit.at)[:10] if hit.at else ""
        exact = say("word for word", "wörtlich") if hit.exact else ""
        parts = ", ".join(f"{name} {value:.2f}" for name, value in hit.parts.items())
        print_headline(
            "", " · ".join(filter(None, (hit.id, kind, date, f"{hit.score:.2f} ({parts})", exact)))
        )
        write(f"{hit.snippet}\n")
        if cited:
            console.print(Text(say("Source: ", "Quelle: ") + hit.citation, style="dim"))
        write("\n")
    if found.empty:
        console.print(Text(explain_empty(found.empty)))
    engines = ", ".join((*found.engines, *filter(None, (found.compared, found.model))))
    console.print(Text(say("Compared by: ", "Verglichen mit: ") + engines, style="dim"))
    console.print(Text(describe_index(asdict(found.freshness)), style="dim"))
    for reason in found.degraded:
        print_error(reason)


def explain_empty(reason: str) -> str:
    reasons = {
        "Nothing was asked.": "Es wurde nichts gefragt.",
        "There is nothing here to search yet.": "Hier gibt es noch nichts zu durchsuchen.",
        "There is no word in the question that could be looked for.": "Die Frage hat kein Wort zum Suchen.",
        "What was found is below the minimum score.": "Was gefunden wurde, ist zu schwach.",
        "Nothing has any of these words.": "Nichts enthält eins dieser Wörter.",
    }
    return say(reason, reasons.get(reason, reason))


def reindex(context: typer.Context, as_json: JsonOption = False) -> None:
    """Build the index anew from the notes: their words, then their vectors."""
    settings, scope = load(context).settings, narrow_scope(None, "default")
    named = {
        "files": say("Reading notes", "Notizen werden gelesen"),
        "vectors": say("Making vectors", "Vektoren"),
    }
    with open_memory(settings) as parts:
        with show_progress_bar() as tell:
            fresh, trouble = parts.rebuild(lambda phase, done, total: tell(named[phase], done, total))
        state = {**parts.state(scope), "index": asdict(fresh)}
    if as_json:
        print_json({**state, "trouble": trouble or None})
        return
    print_index_state(state)
    if trouble:
        print_error(trouble)


def print_index_state(state: dict[str, Any]) -> None:
    console.print(Text(describe_index(state["index"])))
    vectors = state["vectors"]
    if vectors["embedder"]:
        left = vectors["waiting"]
        waiting = say(f", {left} still to be made", f", {left} noch zu machen") if left else ""
        console.print(Text(say("vectors: ", "Vektoren: ") + vectors["embedder"] + waiting))
    else:
        console.print(say("vectors: none, words alone are compared", "Vektoren: keine, nur Wörter zählen"))
    if vectors["trouble"]:
        print_error(vectors["trouble"])
    print_engine(vectors.get("engine") or {})
    print_batches(vectors.get("batches") or {})
    print_backend(state.get("backend") or {})
    for path, reason in state["index"]["skipped"].items():
        print_error(f"{path}: {reason}")


def print_engine(told: dict[str, Any]) -> None:
    """Who compares vectors, where that is left to somebody else."""
    if not told:
        return
    line = say("compared by: ", "verglichen von: ") + f"{told['engine']}"
    if told["engine"] == told["wanted"]:
        line += f", {told['location']}"
    if told["behind"]:
        line += say(f", {told['behind']} still to be handed over", f", {told['behind']} noch zu übergeben")
    console.print(Text(line))
    if told["trouble"]:
        print_error(told["trouble"])


def print_backend(told: dict[str, Any]) -> None:
    """Who answers searches, where that is not our own search alone."""
    if not told:
        return
    what = " ".join(filter(None, (told["name"], told["version"], told["mode"])))
    at = format_time(told["updated_at"]) if told["updated_at"] else say("never", "nie")
    number = told["collections"]
    read = say(f"{number} collections, last read {at}", f"{number} Sammlungen, zuletzt gelesen {at}")
    console.print(Text(say("backend: ", "Suche: ") + f"{what} ({read})"))
    if told["answered_by"]:
        why = f": {told['because']}" if told["because"] else ""
        console.print(Text(say("last answer by ", "letzte Antwort von ") + told["answered_by"] + why))
    if not told["found"]:
        print_error(
            say(f"There is no program {told['command']}.", f"Es gibt kein Programm {told['command']}.")
        )
    if told["trouble"]:
        print_error(told["trouble"])


def print_batches(told: dict[str, Any]) -> None:
    if told.get("jobs"):
        jobs, texts = told["jobs"], told["texts"]
        under_way = say(
            f"batch jobs: {jobs} with {texts} texts; their vectors are taken in when they are done",
            f"Batch-Jobs: {jobs} mit {texts} Texten; ihre Vektoren kommen dazu, sobald sie fertig sind",
        )
        console.print(Text(under_way))
    if told.get("trouble"):
        print_error(told["trouble"])


def describe_index(fresh: dict[str, Any]) -> str:
    files, stale, at = fresh["files"], fresh["stale"], fresh["indexed_at"]
    read = say(f", last read {format_time(at)}", f", zuletzt gelesen {format_time(at)}") if at else ""
    behind = say(f", {stale} changed since", f", {stale} seitdem geändert") if stale else ""
    return say(f"index: {files} files", f"Index: {files} Dateien") + read + behind
