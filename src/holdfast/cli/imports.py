"""`holdfast import`: import data of other tools; existing data stays. The formats are in `transfer`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from holdfast.cli.options import JsonOption, ProjectOption, current_scope, open_memory
from holdfast.cli.output import console, load, print_error, print_json, print_table, show_progress_bar
from holdfast.errors import BadRequest
from holdfast.i18n import gettext as _
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
            metavar="[holdfast|ollama-prompt|chatgpt|openclaw|markdown] PATH...",
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
            _("There is no path."),
            hint=_("holdfast import {kind} PATH").format(kind=kind),
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
            _("{user!r} is no name for a user.").format(user=user),
            hint=_("Up to 99 letters, digits, spaces, and . @ + - _; a letter or digit first."),
        )


def has_content(report: "ImportReport") -> bool:
    """Return whether anything could be read, new or not."""
    numbers = (*report.conversations.values(), *report.memories.values(), *report.notes.values())
    return any(numbers) or bool(report.left_out)


def print_report(report: "ImportReport", scope: Scope) -> None:
    if report.dry_run:
        console.print(_("Nothing was changed. It would be:"))
    before, after = report.before, report.after
    talks, learned, notes = report.conversations, report.memories, report.notes
    rows = (
        (
            _("conversations"),
            before.conversations,
            after.conversations,
            format_counts(talks, {"new": _("new"), "grown": _("grown")}),
        ),
        (
            _("messages"),
            before.messages,
            after.messages,
            f"{report.messages} {_('new')}",
        ),
        (
            _("memories"),
            before.memories,
            after.memories,
            format_counts(
                learned,
                {
                    "new": _("new"),
                    "updated": _("brought up to date"),
                    "refused": _("refused (secret, or forgotten here)"),
                },
            ),
        ),
        (_("note files"), None, None, format_counts(notes, {"new": _("new")})),
    )
    print_table(
        (
            f"{report.kind} → {scope.user}/{scope.project}",
            _("before"),
            _("after"),
            "",
        ),
        rows,
    )
    print_lines(_("Left out"), report.left_out)
    print_lines(_("Could not be read"), report.unreadable)
    if report.more_lines:
        print_error(_("… and {more_lines} more.").format(more_lines=report.more_lines))


def format_counts(numbers: dict[str, int], names: dict[str, str]) -> str:
    known = _("known already")
    parts = [f"{numbers[key]} {name}" for key, name in {**names, "known": known}.items() if numbers[key]]
    return ", ".join(parts)


def print_lines(title: str, lines: list[str]) -> None:
    if not lines:
        return
    console.print(Text(f"{title} ({len(lines)}):", style="bold"))
    for line in lines[:_MAX_LINES]:
        print_error(f"  {line}")
    if len(lines) > _MAX_LINES:
        print_error(_("  … and more; --json has all."))
