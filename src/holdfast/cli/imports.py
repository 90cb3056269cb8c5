"""`holdfast import`: import data of other tools; existing data stays. The formats are in `transfer`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from holdfast.cli.options import JsonOption, ProjectOption, current_scope, open_memory
from holdfast.cli.output import console, load, print_error, print_json, print_table, show_progress_bar
from holdfast.errors import BadRequest
from holdfast.i18n import say
from holdfast.messages import Scope

if TYPE_CHECKING:
    from holdfast.store import Store
    from holdfast.transfer.imports import ImportReport

_MAX_LINES = 20


def import_(
    context: typer.Context,
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="[ollama-prompt|chatgpt|openclaw|markdown] PATH...",
            help="What it is, unless it can be seen, and where: a file, a folder or a zip.",
        ),
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would come in.")] = False,
    memories: Annotated[
        bool, typer.Option("--memories", help="Markdown: make memories of list items; else files stay notes.")
    ] = False,
    user: Annotated[str, typer.Option(help="Whose it will be.")] = "default",
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring in what another tool has kept; exit code 1 if nothing of it could be read."""
    from holdfast.transfer.formats import FORMATS, open_source
    from holdfast.transfer.imports import Importer

    settings = load(context).settings
    kind = arguments[0] if arguments[0] in FORMATS else ""
    paths = [Path(path).expanduser() for path in (arguments[1:] if kind else arguments)]
    if not paths:
        raise BadRequest(
            say("There is no path.", "Es fehlt ein Pfad."),
            hint=say(f"holdfast import {kind} PATH", f"holdfast import {kind} PFAD"),
        )
    scope = Scope(user, current_scope(project).project)
    source = open_source(paths, kind, memories=memories)
    with open_memory(settings) as parts, show_progress_bar() as tell:
        check_user_name(user, parts.store)
        report = Importer(parts.store, parts.library, scope, dry_run=dry_run, tell=tell).take(source)
    if as_json:
        print_json({**report.to_json(), "user": scope.user, "project": scope.project})
    else:
        print_report(report, scope)
    if report.unreadable and not has_content(report):
        raise typer.Exit(1)


def check_user_name(user: str, store: "Store") -> None:
    """Reject an invalid name for a new user; existing users may have any name."""
    from holdfast.store.access import is_name
    from holdfast.transfer.users import user_names

    if not is_name(user) and user not in user_names(store):
        raise BadRequest(
            say(f"{user!r} is no name for a user.", f"{user!r} ist kein Name für einen Benutzer."),
            hint=say(
                "Up to 99 letters, digits, spaces, and . @ + - _; a letter or digit first.",
                "Bis zu 99 Buchstaben, Ziffern, Leerzeichen und . @ + - _; zuerst Buchstabe oder Ziffer.",
            ),
        )


def has_content(report: "ImportReport") -> bool:
    """Return whether anything could be read, new or not."""
    numbers = (*report.conversations.values(), *report.memories.values(), *report.notes.values())
    return any(numbers) or bool(report.left_out)


def print_report(report: "ImportReport", scope: Scope) -> None:
    if report.dry_run:
        console.print(say("Nothing was changed. It would be:", "Nichts wurde geändert. Es wäre:"))
    before, after = report.before, report.after
    talks, learned, notes = report.conversations, report.memories, report.notes
    rows = (
        (
            say("conversations", "Gespräche"),
            before.conversations,
            after.conversations,
            format_counts(talks, {"new": say("new", "neu"), "grown": say("grown", "gewachsen")}),
        ),
        (
            say("messages", "Nachrichten"),
            before.messages,
            after.messages,
            f"{report.messages} {say('new', 'neu')}",
        ),
        (
            say("memories", "Erinnerungen"),
            before.memories,
            after.memories,
            format_counts(
                learned,
                {
                    "new": say("new", "neu"),
                    "updated": say("brought up to date", "aufgefrischt"),
                    "refused": say(
                        "refused (secret, or forgotten here)", "abgelehnt (geheim, oder hier vergessen)"
                    ),
                },
            ),
        ),
        (say("note files", "Notizdateien"), None, None, format_counts(notes, {"new": say("new", "neu")})),
    )
    print_table(
        (
            f"{report.kind} → {scope.user}/{scope.project}",
            say("before", "vorher"),
            say("after", "nachher"),
            "",
        ),
        rows,
    )
    print_lines(say("Left out", "Ausgelassen"), report.left_out)
    print_lines(say("Could not be read", "Nicht lesbar"), report.unreadable)
    if report.more_lines:
        print_error(say(f"… and {report.more_lines} more.", f"… und {report.more_lines} weitere."))


def format_counts(numbers: dict[str, int], names: dict[str, str]) -> str:
    known = say("known already", "schon bekannt")
    parts = [f"{numbers[key]} {name}" for key, name in {**names, "known": known}.items() if numbers[key]]
    return ", ".join(parts)


def print_lines(title: str, lines: list[str]) -> None:
    if not lines:
        return
    console.print(Text(f"{title} ({len(lines)}):", style="bold"))
    for line in lines[:_MAX_LINES]:
        print_error(f"  {line}")
    if len(lines) > _MAX_LINES:
        print_error(say("  … and more; --json has all.", "  … und mehr; --json nennt alle."))
