"""`holdfast import` and `holdfast migrate`: data of other tools, and a move to another database."""

from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from holdfast.cli.shared import (
    JsonOption,
    ProjectOption,
    console,
    current_scope,
    load,
    open_memory,
    print_error,
    print_json,
    print_table,
    show_progress_bar,
)
from holdfast.config import Config, Settings, keep_page, set_on_page, shown_value
from holdfast.errors import BadRequest
from holdfast.i18n import gettext as _
from holdfast.messages import Scope

if TYPE_CHECKING:
    from holdfast.memory.workspace import Workspace
    from holdfast.store import Store
    from holdfast.transfer.imports import ImportReport
    from holdfast.transfer.migrate import MigrationResult


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
    console.print(f"{title} ({len(lines)}):", style="bold")
    for line in lines[:_MAX_LINES]:
        print_error(f"  {line}")
    if len(lines) > _MAX_LINES:
        print_error(_("  … and more; --json has all."))


_NOTES_SETTING = "workspace"


def migrate(
    context: typer.Context,
    to: Annotated[
        str | None, typer.Option(help="The new database: postgresql://… or sqlite:///PATH, an empty one.")
    ] = None,
    notes: Annotated[
        str | None, typer.Option(help="The new place for the notes: s3://BUCKET/PREFIX or a folder.")
    ] = None,
    switch: Annotated[bool, typer.Option("--switch", help="Use the new places from now on.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Move everything into another database or to another place; what there was stays as it was."""
    from holdfast.store import open_store
    from holdfast.transfer.migrate import Migration, refuse_while_used
    from holdfast.transfer.migrate import migrate as moved_by
    from holdfast.transfer.staging import DataFolder

    config = load(context)
    settings = config.settings
    changes = plan_changes(to, notes)
    refuse_same(settings, changes)
    refuse_while_used(DataFolder(settings.home, settings.store).database)
    with ExitStack() as stack:
        store = stack.enter_context(open_store(settings.store))
        move = Migration(
            store,
            open_workspace(settings),
            stack.enter_context(open_store(changes["store"])) if to else None,
            open_workspace(replace(settings, workspace=changes[_NOTES_SETTING])) if notes else None,
            str(shown_value("store", settings.store)),
            str(changes.get(_NOTES_SETTING, "")),
        )
        tell = stack.enter_context(show_progress_bar())
        moved = moved_by(move, tell)
    if switch:
        keep_page(settings.home, {**set_on_page(settings.home), **changes})
    if as_json:
        print_json(serialize_result(moved, changes, switch))
    else:
        print_result(moved)
        print_settings(config, changes, switch)
    for line in moved.notes.left_out if moved.notes else ():
        print_error(_("Left out: {line}").format(line=line))


def open_workspace(settings: Settings) -> "Workspace":
    from holdfast.memory.folder import build_workspace

    return build_workspace(settings)


def plan_changes(to: str | None, notes: str | None) -> dict[str, str]:
    """Return the settings to change; paths are absolute, so that they hold in every folder."""
    if not to and not notes:
        raise BadRequest(
            _("Nothing was said to be moved."),
            hint=_("Name a database (--to), a place for notes (--notes), or both."),
        )
    changes = {}
    if to:
        changes["store"] = absolute_location(to)
    if notes:
        changes[_NOTES_SETTING] = notes if "://" in notes else str(Path(notes).expanduser().absolute())
    return changes


def absolute_location(location: str) -> str:
    from holdfast.transfer.staging import DataFolder

    file = DataFolder(Path(), location).database
    return location if file is None else f"sqlite:///{quote(str(file.expanduser().absolute()))}"


def refuse_same(settings: Settings, changes: dict[str, str]) -> None:
    from holdfast.memory.folder import notes_location

    now = {"store": absolute_location(settings.store), _NOTES_SETTING: notes_location(settings)}
    for name, value in changes.items():
        if now[name] == value:
            raise BadRequest(
                _("{value} is where it is already.").format(value=value), hint=_("Name another place.")
            )


def print_result(moved: "MigrationResult") -> None:
    rows: list[tuple[str, int, int]] = [
        (name, number, moved.after[name]) for name, number in moved.before.items() if number
    ]
    if moved.notes is not None:
        rows.append((_("notes"), moved.notes.before, moved.notes.after))
    print_table(("", _("before"), _("after")), rows)
    console.print(_("Moved. What there was is as it was."), style="bold")


def print_settings(config: Config, changes: dict[str, str], switch: bool) -> None:
    if switch:
        console.print(_("From now on the new places are used."))
    else:
        console.print(_("To use it, set (in holdfast.toml, or with --switch):"))
        for name, value in changes.items():
            console.print(f'  {name} = "{shown_value(name, value)}"')
    for name in changes:
        if config.sources[name] in ("environment", "command line"):
            print_error(
                _("HOLDFAST_{name} is set and comes before it: change it there, too.").format(
                    name=name.upper()
                )
            )


def serialize_result(moved: "MigrationResult", changes: dict[str, str], switched: bool) -> dict[str, Any]:
    settings = {name: shown_value(name, value) for name, value in changes.items()}
    return {**asdict(moved), "settings": settings, "switched": switched}
