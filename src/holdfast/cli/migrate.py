"""`holdfast migrate`: move everything to another database, or the notes to another location.

The work is done in `transfer`; this prints which settings to change afterwards.
"""

from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer
from rich.text import Text

from holdfast.cli.options import JsonOption
from holdfast.cli.output import console, load, print_error, print_json, print_table, show_progress_bar
from holdfast.config import Config, Settings, keep_page, set_on_page, shown_value
from holdfast.errors import BadRequest
from holdfast.i18n import gettext as _

if TYPE_CHECKING:
    from holdfast.memory.workspace import Workspace
    from holdfast.transfer.migrate import MigrationResult

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
            console.print(Text(f'  {name} = "{shown_value(name, value)}"'))
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
