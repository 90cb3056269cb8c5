"""`holdfast memory`: add, list, search, correct, export and forget memories, and rebuild their index."""

import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.shared import (
    JsonOption,
    MemoryId,
    ProjectOption,
    WhoseOption,
    YesOption,
    ask_consent,
    console,
    edit_text,
    find_memory,
    format_time,
    load,
    narrow_scope,
    open_memory,
    print_error,
    print_headline,
    print_json,
    print_table,
    show_progress_bar,
    write,
)
from holdfast.errors import BadRequest, HoldfastError, explain_os_error
from holdfast.i18n import gettext as _
from holdfast.i18n import localize_number, ngettext, pgettext, translate
from holdfast.messages import Scope

if TYPE_CHECKING:
    from holdfast.memory.base import Memory
    from holdfast.memory.exchange import ImportCounts
    from holdfast.memory.library import Library, MemoryPage, MemoryStats
    from holdfast.memory.search import SearchResult
    from holdfast.memory.service import MemoryService
    from holdfast.memory.tidy import WriteOutcome

app = typer.Typer(help="What is remembered beyond a conversation.", no_args_is_help=True)

KindOption = Annotated[str | None, typer.Option("--kind", help="fact, decision, preference or note.")]


class SearchTarget(StrEnum):
    notes = "notes"
    conversations = "conversations"
    all = "all"


class CitationMode(StrEnum):
    auto = "auto"
    on = "on"
    off = "off"


class ExportFormat(StrEnum):
    json = "json"
    markdown = "markdown"


@app.command()
def add(
    context: typer.Context,
    words: Annotated[list[str], typer.Argument(metavar="TEXT", help="What is to be remembered.")],
    kind: Annotated[str, typer.Option(help="fact, decision, preference or note.")] = "fact",
    importance: Annotated[float, typer.Option(help="How much it matters, from 0 to 1.")] = 0.8,
    pin: Annotated[bool, typer.Option("--pin", help="Never put it into the archive.")] = False,
    whose: WhoseOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remember something. What says the same is brought up to date, what contradicts it is replaced."""
    from holdfast.memory.items import check_kind

    settings, scope = load(context).settings, narrow_scope(whose, project)
    with open_memory(settings) as parts:
        outcome = parts.library.add(
            scope, " ".join(words), check_kind(kind), importance=importance, pinned=pin
        )
    if as_json:
        print_json(
            {
                "action": outcome.action,
                "memory": outcome.memory,
                "replaced": outcome.others,
                "archived": outcome.archived,
            }
        )
    else:
        print_outcome(outcome)
        if outcome.memory.scope.project != Scope().project:
            line = _("  for the project {project}; seen elsewhere with --project {project}")
            console.print(line.format(project=outcome.memory.scope.project), style="dim")


def print_outcome(outcome: "WriteOutcome") -> None:
    labels = {"updated": _("Known already, and brought up to date"), "known": _("Known already")}
    default = _("Remembered")
    console.print(f"{labels.get(outcome.action, default)}: {outcome.memory.id}")
    if outcome.memory.may_replace:
        console.print(_("  May replace an older one: holdfast memory proposals"), style="dim")
    for old in outcome.others:
        console.print(_("  in place of: ") + f"{old.text} ({old.id})", style="dim")
    print_archived(len(outcome.archived))


def print_archived(count: int) -> None:
    """Say how many memories made room, and what keeps them from doing so."""
    if count:
        line = ngettext(
            "{n} memory was moved to the archive to make room: raise memory_limit to keep more.",
            "{n} memories were moved to the archive to make room: raise memory_limit to keep more.",
            count,
        )
        console.print(line.format(n=count), style="yellow")


@app.command("list")
def list_(
    context: typer.Context,
    kind: Annotated[
        str | None, typer.Option("--kind", help="fact, decision, preference, note or summary.")
    ] = None,
    text: Annotated[str, typer.Option(help="Only those that speak of this.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    offset: Annotated[int, typer.Option(min=0, help="How many of the newest to pass over.")] = 0,
    history: Annotated[bool, typer.Option("--history", help="Also what no longer holds.")] = False,
    whose: WhoseOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """List memories, newest first."""
    from holdfast.memory.items import check_listed_kind

    settings, scope = load(context).settings, narrow_scope(whose, project)
    wanted = None if kind is None else check_listed_kind(kind)
    with open_memory(settings) as parts:
        page = parts.library.page(
            scope, kind=wanted, text=text, limit=limit, offset=offset, history=history, own=whose is not None
        )
        others = [] if as_json else count_elsewhere(parts, scope)
    if as_json:
        print_json({"memories": page.memories, "total": page.total, "troubles": page.troubles})
        return
    print_page(page, offset)
    print_projects(scope, others)
    for trouble in page.troubles:
        print_error(trouble)


def count_elsewhere(parts: "MemoryService", scope: Scope) -> list[tuple[str, int]]:
    """Count the memories in the projects that a list does not show."""
    counts = [
        (name, parts.library.stats(Scope(scope.user, name)).active)
        for name in parts.list_projects(scope.user)
        if name != scope.project
    ]
    return [(name, number) for name, number in counts if number]


def print_projects(scope: Scope, others: list[tuple[str, int]]) -> None:
    """Say which project a list is of, and where else something is remembered."""
    if scope.project != Scope().project:
        console.print(_("Project: {project}").format(project=scope.project), style="dim")
    if others:
        named = ", ".join(f"{name} ({number})" for name, number in others)
        line = _("In other projects: {named}. `--project NAME` shows them.").format(named=named)
        console.print(line, style="dim")


def print_page(page: "MemoryPage", offset: int) -> None:
    if not page.total:
        console.print(_("Nothing is remembered here yet. `holdfast memory add TEXT` begins."))
        return
    columns = (_("id"), _("date"), _("kind"), _("of"), _("text"))
    rows = [
        (memory.id, format_date(memory), kind_label(memory.kind), scope_label(memory), memory.text)
        for memory in page.memories
    ]
    print_table(columns, rows)
    last = offset + len(page.memories)
    more = _(" · more with --offset {last}").format(last=last) if last < page.total else ""
    first = min(offset + 1, last)
    console.print(_("{first}–{last} of ").format(first=first, last=last) + f"{page.total}{more}", style="dim")


@app.command()
def show(
    context: typer.Context, memory: MemoryId, project: ProjectOption = None, as_json: JsonOption = False
) -> None:
    """Show a memory: its words, where it stands, and where it comes from."""
    settings, scope = load(context).settings, narrow_scope(None, project)
    with open_memory(settings) as parts:
        memory = find_memory(parts.library, scope, memory)
        stored, path = parts.library.get(scope, memory), str(parts.library.find_file(scope, memory))
    if as_json:
        print_json(serialize_memory(stored, path))
    else:
        print_memory(stored, path)


def kind_label(kind: str) -> str:
    kinds = {
        "fact": _("fact"),
        "decision": _("decision"),
        "preference": _("preference"),
        "note": _("note"),
        "summary": _("summary"),
        "message": _("message"),
    }
    return kinds.get(kind, kind)


def decimal(value: float) -> str:
    return localize_number(f"{value:.2f}")


def part_label(name: str) -> str:
    """Name what a part of a hit's score comes from."""
    labels = {
        "words": _("Your words"),
        "beside": _("Close by"),
        "around": _("Same file"),
        "meaning": _("Meaning"),
        "person": _("In your notes"),
        "recent": _("Recent"),
        "time": _("Day"),
    }
    return labels.get(name, name)


def format_date(memory: "Memory") -> str:
    """Format when a memory was last mentioned; one written by hand has no date."""
    return format_time(memory.date)[:10] if memory.date else "–"


def scope_label(memory: "Memory") -> str:
    mine = memory.scope == Scope(memory.scope.user)
    return _("yours") if mine else memory.scope.project


def print_memory(memory: "Memory", path: str) -> None:
    write(f"{memory.text}\n")
    rows = [
        ("id", memory.id),
        (_("kind"), kind_label(memory.kind)),
        (_("belongs to"), scope_label(memory)),
        (_("file"), path),
        (_("since"), format_time(memory.valid_from) if memory.valid_from else ""),
        (_("last said"), format_time(memory.seen) if memory.seen else ""),
        (_("importance"), f"{memory.importance:g}"),
        (_("pinned"), _("yes") if memory.pinned else ""),
        (_("said in"), ", ".join(format_sources(memory))),
        (_("replaced by"), memory.superseded_by),
        (_("valid until"), format_time(memory.valid_until) if memory.valid_until else ""),
    ]
    for name, value in rows:
        if value:
            console.print(f"  {name}: {value}", style="dim")


def format_sources(memory: "Memory") -> list[str]:
    return [" ".join((source.conversation, *source.messages)) for source in memory.sources]


def serialize_memory(memory: "Memory", path: str) -> dict[str, Any]:
    return {**memory.to_json(), "path": path}


@app.command()
def edit(
    context: typer.Context,
    memory: MemoryId,
    words: Annotated[list[str] | None, typer.Argument(metavar="TEXT", help="Its new words.")] = None,
    kind: KindOption = None,
    importance: Annotated[float | None, typer.Option(help="How much it matters, from 0 to 1.")] = None,
    pin: Annotated[bool | None, typer.Option("--pin/--unpin", help="Never put it into the archive.")] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Correct a memory; without anything new its words are opened in your editor ($EDITOR)."""
    from holdfast.memory.items import check_kind

    settings, scope = load(context).settings, narrow_scope(None, project)
    text = " ".join(words) if words else None
    with open_memory(settings) as parts:
        memory = find_memory(parts.library, scope, memory)
        if text is None and kind is None and importance is None and pin is None:
            text = edit_text(parts.library.get(scope, memory).text, ".md")
        changed = parts.library.edit(
            scope,
            memory,
            text=text,
            kind=None if kind is None else check_kind(kind),
            importance=importance,
            pinned=pin,
        )
        path = str(parts.library.find_file(scope, memory))
    if as_json:
        print_json(serialize_memory(changed, path))
    else:
        print_memory(changed, path)


@app.command()
def forget(
    context: typer.Context,
    memory: MemoryId,
    yes: YesOption = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Forget a memory for good, and see that it is not learned again."""
    settings, scope = load(context).settings, narrow_scope(None, project)
    with open_memory(settings) as parts:
        memory = find_memory(parts.library, scope, memory)
        stored = parts.library.get(scope, memory)
        if not yes:
            write(f"{stored.text}\n")
            ask_consent(
                _("Forget it for good?"),
                _("{memory} was not forgotten: there is no terminal on which to confirm it.").format(
                    memory=memory
                ),
            )
        parts.library.forget(scope, memory)
    if as_json:
        print_json({"forgotten": stored})
    else:
        console.print(_("Forgotten: {memory}").format(memory=memory))


@app.command("history")
def show_history(
    context: typer.Context, memory: MemoryId, project: ProjectOption = None, as_json: JsonOption = False
) -> None:
    """Show what stood in a memory's place before, and what holds now, newest first."""
    settings, scope = load(context).settings, narrow_scope(None, project)
    with open_memory(settings) as parts:
        entries = parts.library.history(scope, find_memory(parts.library, scope, memory))
    if as_json:
        print_json(entries)
        return
    rows = [
        (entry.id, format_date(entry), _("holds") if entry.active else _("replaced"), entry.text)
        for entry in entries
    ]
    print_table((_("id"), _("date"), _("state"), _("text")), rows)


@app.command()
def undo(
    context: typer.Context, memory: MemoryId, project: ProjectOption = None, as_json: JsonOption = False
) -> None:
    """Take back a memory's last change: what it said or replaced before holds again."""
    settings, scope = load(context).settings, narrow_scope(None, project)
    with open_memory(settings) as parts:
        changed = undo_change(parts.library, scope, find_memory(parts.library, scope, memory))
    if as_json:
        print_json(changed)
        return
    for entry in changed:
        write(_("Holds again: {text}\n").format(text=entry.text))


def undo_change(library: "Library", scope: Scope, name: str) -> list["Memory"]:
    """Take back an edit of a memory, or that it replaced others; return what holds now."""
    from holdfast.memory.library import EDITED

    replaced = [memory for memory in library.list_replaced(scope, name) if memory.superseded_by == name]
    edits = [memory for memory in replaced if memory.id.startswith(EDITED)]
    if edits:
        last = max(edits, key=lambda memory: memory.valid_until)
        return [library.edit(scope, name, text=last.text)]
    if not replaced:
        library.get(scope, name)
        raise BadRequest(
            _("The memory {name!r} replaced nothing and was not changed.").format(name=name),
            hint=_("`holdfast memory forget ID` forgets it."),
        )
    return library.take_back(scope, name)[1]


@app.command()
def proposals(context: typer.Context, project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """List memories that may replace an older one; both hold until you decide."""
    settings, scope = load(context).settings, narrow_scope(None, project)
    with open_memory(settings) as parts:
        pairs = parts.library.list_rivals(scope)
    if as_json:
        print_json([{"newer": newer, "older": older} for newer, older in pairs])
    elif pairs:
        columns = (_("id"), _("newer"), _("instead of?"))
        print_table(columns, [(newer.id, newer.text, older.text) for newer, older in pairs])
        console.print("holdfast memory replace ID · holdfast memory keep-both ID", style="dim")
    else:
        console.print(_("There is nothing to decide."))


@app.command()
def replace(
    context: typer.Context, memory: MemoryId, project: ProjectOption = None, as_json: JsonOption = False
) -> None:
    """Let a memory take the place of the older one that `proposals` names."""
    decide_proposal(context, memory, project, as_json, replaces=True)


@app.command("keep-both")
def keep_both(
    context: typer.Context, memory: MemoryId, project: ProjectOption = None, as_json: JsonOption = False
) -> None:
    """Let a memory and the older one that `proposals` names both hold."""
    decide_proposal(context, memory, project, as_json, replaces=False)


def decide_proposal(
    context: typer.Context, memory: str, project: str | None, as_json: bool, *, replaces: bool
) -> None:
    settings, scope = load(context).settings, narrow_scope(None, project)
    with open_memory(settings) as parts:
        newer, replaced = parts.library.decide(scope, memory, replaces=replaces)
    if as_json:
        print_json({"memory": newer, "replaced": replaced})
    elif replaced is not None:
        console.print(_("Replaced: ") + replaced.text)
    else:
        console.print(_("Both hold: ") + newer.text)


@app.command()
def clear(
    context: typer.Context,
    confirm: Annotated[
        str, typer.Option(help="The name of what is to be emptied, instead of being asked.")
    ] = "",
    whose: WhoseOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Forget all memories of a project, or your own, the archive included. Other words in the files stay."""
    settings, scope = load(context).settings, narrow_scope(whose, project)
    with open_memory(settings) as parts:
        named = parts.library.confirmation(scope)
        if not confirm and sys.stdin.isatty():
            total = parts.library.page(scope, limit=0, history=True, own=True).total
            confirm = typer.prompt(
                _("To forget all {total} memories for good, type {named}").format(total=total, named=named),
                default="",
                show_default=False,
            )
        if confirm != named:
            raise BadRequest(
                _("Nothing was forgotten: it was not confirmed."),
                hint=_("Confirm with --confirm {named}.").format(named=named),
            )
        count = parts.library.clear(scope, confirm)
    if as_json:
        print_json({"forgotten": count})
    else:
        console.print(_("{count} memories forgotten.").format(count=count))


@app.command()
def stats(
    context: typer.Context,
    whose: WhoseOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say how much is remembered, and how far the index has come."""
    settings, scope = load(context).settings, narrow_scope(whose, project)
    with open_memory(settings) as parts:
        counted = parts.library.stats(scope)
        state = parts.state(scope)
    if as_json:
        print_json({**asdict(counted), **state})
        return
    print_stats(counted)
    print_index_state(state)


def print_stats(counted: "MemoryStats") -> None:
    kinds = ", ".join(f"{number} {kind_label(kind)}" for kind, number in counted.kinds.items() if number)
    rows = [
        (_("active"), f"{counted.active} / {counted.limit}" + (f" ({kinds})" if kinds else "")),
        (_("no longer valid"), counted.superseded),
        (_("archived"), counted.archived),
        (_("forgotten"), counted.forgotten),
        (_("recalled"), _("{recalls} times").format(recalls=counted.recalls)),
        (_("oldest"), format_time(counted.oldest) if counted.oldest else "–"),
        (_("newest"), format_time(counted.newest) if counted.newest else "–"),
    ]
    for name, value in rows:
        console.print(f"{name}: {value}")
    for trouble in counted.troubles:
        print_error(trouble)


@app.command()
def export(
    context: typer.Context,
    form: Annotated[
        ExportFormat, typer.Option("--format", help="For programs, or for reading.")
    ] = ExportFormat.json,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file, instead of the terminal.")
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write out all memories; JSON has their history and the archive too."""
    from holdfast.memory.exchange import dump_memories

    settings, scope = load(context).settings, narrow_scope(None, project)
    with open_memory(settings) as parts:
        result = dump_memories(parts.library, scope, (ExportFormat.json if as_json else form).value)
    for trouble in map(translate, result.left_out):
        print_error(_("Left out: {trouble}").format(trouble=trouble))
    if output is None:
        write(result.text)
        return
    try:
        output.write_text(result.text, encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise HoldfastError(
            _("{output} could not be written: {strerror}.").format(
                output=output, strerror=translate(explain_os_error(error))
            ),
            hint=_("Name another file with -o."),
        ) from error
    print_error(_("Written: {output}").format(output=output))


@app.command("import")
def import_(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE|-", help="What `export` gave, or - to read it from a pipe.")
    ],
    whose: WhoseOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring memories in, from JSON or Markdown. What is there already stays as it is."""
    from holdfast.memory.exchange import load_memories

    settings, scope = load(context).settings, narrow_scope(whose, project)
    text = read_export(file)
    with open_memory(settings) as parts:
        taken = load_memories(parts.library, scope, text)
    if as_json:
        print_json(asdict(taken))
        return
    print_import_result(taken)


def read_export(file: str) -> str:
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise HoldfastError(
            _("{file} cannot be read: {strerror}.").format(
                file=file, strerror=translate(explain_os_error(error))
            ),
            hint=_("Name a file that `holdfast memory export` wrote."),
        ) from error
    return content.decode("utf-8", "replace")


def print_import_result(taken: "ImportCounts") -> None:
    rows = (
        (taken.added, _("new")),
        (taken.updated, pgettext("memory", "brought up to date")),
        (taken.known, _("known already")),
        (taken.refused, _("left out (only secrets, or forgotten)")),
        (len(taken.bad), _("not readable")),
    )
    counts = ", ".join(f"{number} {label}" for number, label in rows if number)
    console.print(counts or _("There was nothing in it."))
    print_archived(taken.archived)
    for trouble in taken.bad:
        print_error(trouble)


@app.command()
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
    from holdfast.memory.items import check_kind
    from holdfast.memory.search import cites

    settings, scope = load(context).settings, narrow_scope(whose, project)
    wanted = [check_kind(kind) for kind in kinds or ()]
    with open_memory(settings) as parts:
        answer = parts.search.search(
            " ".join(words), scope, within=within.value, kinds=wanted, limit=limit, own=whose is not None
        )
    cited = cites(citations.value if citations else settings.citations, scope)
    if as_json:
        print_json(answer.to_json(cited=cited))
    else:
        print_search_answer(answer, cited)


def print_search_answer(answer: "SearchResult", cited: bool) -> None:
    if answer.weak:
        console.print(_("Nothing here fits well. The closest there is:"))
    for hit in answer.hits:
        kind = kind_label(hit.memory_kind or hit.kind)
        date = format_time(hit.at)[:10] if hit.at else ""
        exact = _("word for word") if hit.exact else ""
        parts = ", ".join(f"{part_label(name)} {decimal(value)}" for name, value in hit.parts.items())
        print_headline(
            "",
            " · ".join(filter(None, (hit.id, kind, date, f"{decimal(hit.score)} ({parts})", exact))),
        )
        write(f"{hit.snippet}\n")
        if cited:
            console.print(_("Source: ") + hit.citation, style="dim")
        write("\n")
    if answer.empty:
        console.print(translate(answer.empty))
    engines = ", ".join((*answer.engines, *filter(None, (answer.compared, answer.model))))
    console.print(_("Compared by: ") + engines, style="dim")
    console.print(describe_index(asdict(answer.freshness)), style="dim")
    for reason in answer.degraded:
        print_error(reason)


@app.command()
def reindex(context: typer.Context, as_json: JsonOption = False) -> None:
    """Rebuild the index from the notes: words first, then vectors."""
    settings, scope = load(context).settings, narrow_scope(None, "default")
    named = {"files": _("Reading notes"), "vectors": _("Making vectors")}
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
    console.print(describe_index(state["index"]))
    vectors = state["vectors"]
    if vectors["embedder"]:
        left = vectors["waiting"]
        waiting = _(", {left} still to be made").format(left=left) if left else ""
        console.print(_("vectors: ") + vectors["embedder"] + waiting)
    else:
        console.print(_("vectors: none, words alone are compared"))
    if vectors["trouble"]:
        print_error(vectors["trouble"])
    print_engine(vectors.get("engine") or {})
    print_batches(vectors.get("batches") or {})
    print_backend(state.get("backend") or {})
    for path, reason in state["index"]["skipped"].items():
        print_error(f"{path}: {translate(reason)}")


def print_engine(engine: dict[str, Any]) -> None:
    """Print the external vector backend, if there is one."""
    if not engine:
        return
    line = _("compared by: ") + f"{engine['engine']}"
    if engine["engine"] == engine["wanted"]:
        line += f", {engine['location']}"
    if engine["behind"]:
        line += _(", {behind} still to be handed over").format(behind=engine["behind"])
    console.print(line)
    if engine["trouble"]:
        print_error(engine["trouble"])


def print_backend(backend: dict[str, Any]) -> None:
    """Print the external search backend, if there is one."""
    if not backend:
        return
    label = " ".join(filter(None, (backend["name"], backend["version"], backend["mode"])))
    at = format_time(backend["updated_at"]) if backend["updated_at"] else _("never")
    number = backend["collections"]
    read = _("{number} collections, last read {at}").format(number=number, at=at)
    console.print(_("backend: ") + f"{label} ({read})")
    if backend["answered_by"]:
        why = f": {backend['because']}" if backend["because"] else ""
        console.print(_("last answer by ") + backend["answered_by"] + why)
    if not backend["found"]:
        print_error(_("There is no program {command}.").format(command=backend["command"]))
    if backend["trouble"]:
        print_error(backend["trouble"])


def print_batches(batches: dict[str, Any]) -> None:
    if batches.get("jobs"):
        jobs, texts = batches["jobs"], batches["texts"]
        under_way = _(
            "batch jobs: {jobs} with {texts} texts; their vectors are taken in when they are done"
        ).format(jobs=jobs, texts=texts)
        console.print(under_way)
    if batches.get("trouble"):
        print_error(batches["trouble"])


def describe_index(fresh: dict[str, Any]) -> str:
    files, stale, at = fresh["files"], fresh["stale"], fresh["indexed_at"]
    read = _(", last read {at}").format(at=format_time(at)) if at else ""
    behind = _(", {stale} changed since").format(stale=stale) if stale else ""
    return _("index: {files} files").format(files=files) + read + behind
