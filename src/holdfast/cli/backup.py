"""`holdfast backup`: create, check and restore backups of the data folder. The work is done in `transfer`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.shared import (
    JsonOption,
    console,
    format_time,
    load,
    print_error,
    print_json,
    show_progress_bar,
)
from holdfast.config import Settings
from holdfast.errors import Conflict
from holdfast.i18n import gettext as _
from holdfast.i18n import localize_number, ngettext

if TYPE_CHECKING:
    from holdfast.transfer.backup import Manifest
    from holdfast.transfer.staging import DataFolder

app = typer.Typer(help="Everything in one file, and back again.", no_args_is_help=True)

BackupFile = Annotated[Path, typer.Argument(metavar="FILE", help="A backup.")]


def data_folder(settings: Settings) -> "DataFolder":
    from holdfast.transfer.staging import DataFolder

    return DataFolder(settings.home, settings.store)


@app.command()
def create(
    context: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Where to; else a name with the date, right here.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write store, notes, settings and prompts into one file, and check it. A server may go on running."""
    from holdfast.memory.folder import build_workspace
    from holdfast.transfer import backup

    settings = load(context).settings
    target = (file or Path(backup.default_name())).expanduser().absolute()
    notes = build_workspace(settings) if external_notes_location(settings) else None
    with show_progress_bar() as tell:
        manifest = backup.create(data_folder(settings), target, tell, notes)
    print_manifest(manifest, target, as_json, _("Written and checked"))


@app.command()
def check(context: typer.Context, file: BackupFile, as_json: JsonOption = False) -> None:
    """See that a backup is whole: every file in it, and the database."""
    from holdfast.transfer import backup

    load(context)
    with show_progress_bar() as tell:
        manifest = backup.check(file.expanduser(), tell=tell)
    print_manifest(manifest, file, as_json, _("Whole"))


@app.command()
def restore(
    context: typer.Context,
    file: BackupFile,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Let it take the place of what is there.")
    ] = False,
    with_settings: Annotated[
        bool | None,
        typer.Option(
            "--settings/--no-settings", help="Whether its settings and prompts come, too; else asked."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Put a backup in place. Refused where there is something already, and while a server runs."""
    from holdfast.transfer import backup

    settings = load(context).settings
    if place := external_notes_location(settings):
        raise Conflict(
            _("The notes of this data folder lie in {place}.").format(place=place),
            hint=_("Restore into another data folder (--home), then `holdfast migrate --notes`."),
        )
    brings_settings = backup.has_settings(file.expanduser())
    if brings_settings and with_settings is None and sys.stdin.isatty() and not as_json:
        question = _("Shall its settings and prompts come, too? They say which servers and folders are used.")
        with_settings = typer.confirm(question, default=False, err=True)
    with show_progress_bar() as tell:
        manifest = backup.restore(
            data_folder(settings),
            file.expanduser(),
            overwrite=overwrite,
            settings=bool(with_settings),
            tell=tell,
        )
    print_manifest(manifest, settings.home, as_json, _("Restored"))
    if brings_settings and not with_settings:
        print_error(_("Its settings and prompts were left out; add --settings if it is your own backup."))
    restored = load(context).settings
    if restored.store != settings.store:
        print_error(_("The restored settings name another database: what was restored is not in it."))

    if place := external_notes_location(restored):
        print_error(
            _(
                "The restored settings look for notes in {place}; those of the backup are in"
                " {workspace}. `holdfast migrate --notes` moves them."
            ).format(place=place, workspace=data_folder(settings).workspace)
        )


def external_notes_location(settings: Settings) -> str:
    """Return where notes are stored if that is outside the data folder, else an empty string."""
    from holdfast.memory.folder import notes_location

    place = notes_location(settings)
    return "" if place == str(data_folder(settings).workspace) else place


@app.command()
def finish(context: typer.Context, as_json: JsonOption = False) -> None:
    """Finish a restore that broke off in the middle; one that had changed nothing yet is dropped."""
    from holdfast.transfer.backup import RestoreOutcome
    from holdfast.transfer.backup import finish as finish_

    settings = load(context).settings
    with show_progress_bar() as tell:
        ending = finish_(data_folder(settings), tell)
    if as_json:
        print_json({"finished": ending is RestoreOutcome.FINISHED, "ending": ending})
        return
    messages = {
        RestoreOutcome.FINISHED: _("The restore is complete now."),
        RestoreOutcome.DROPPED: _(
            "The restore had changed nothing yet. All is as it was; begin again if you want it."
        ),
        RestoreOutcome.NONE: _("No restore was broken off."),
    }
    console.print(messages[ending])


@app.command()
def salvage(context: typer.Context, as_json: JsonOption = False) -> None:
    """Save what can be read of a damaged database into a new one. The damaged one stays beside it."""
    from holdfast.transfer import salvage as salvaging

    settings = load(context).settings
    with show_progress_bar() as tell:
        report = salvaging.salvage(data_folder(settings), tell)
    if as_json:
        print_json(report)
        return
    chats, messages = report.rows.get("conversations", 0), report.rows.get("messages", 0)
    console.print(
        _("Saved: {conversations}, {messages}. The damaged file is {aside} now.").format(
            conversations=ngettext("1 conversation", "{number} conversations", chats).format(number=chats),
            messages=ngettext("1 message", "{number} messages", messages).format(number=messages),
            aside=report.aside,
        )
    )
    for name, number in report.lost.items():
        print_error(_("{number} rows of {name} could not be read.").format(number=number, name=name))
    console.print(_("The index of notes is made anew: holdfast memory reindex"))


def print_manifest(manifest: "Manifest", place: Path, as_json: bool, done: str) -> None:
    if as_json:
        print_json(serialize_manifest(manifest, place))
        return
    chats, messages = manifest.counts.get("conversations", 0), manifest.counts.get("messages", 0)
    files = len(manifest.members) - 1
    contents = ", ".join(
        (
            ngettext("1 conversation", "{number} conversations", chats).format(number=chats),
            ngettext("1 message", "{number} messages", messages).format(number=messages),
            ngettext("{n} file", "{n} files", files).format(n=files),
            _("{size} bytes").format(size=localize_number(f"{manifest.size:,}")),
        )
    )
    created = format_time(manifest.created_at)
    console.print(f"{done}: {place}", style="bold")
    console.print(
        _("  of {created_at}: {contents}").format(created_at=created, contents=contents), style="dim"
    )
    for line in manifest.left_out:
        print_error(_("Left out: {line}").format(line=line))


def serialize_manifest(manifest: "Manifest", place: Path) -> dict[str, Any]:
    fields = manifest.to_json()
    return {**fields, "members": len(manifest.members), "size": manifest.size, "place": str(place)}
