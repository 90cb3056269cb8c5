"""What the commands about memory share: the parts of memory, whose it is, and how it is put before a person.

Opens the store and the notes only; no model server is needed to look at what is remembered.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from holdfast.cli.output import console, format_time, print_error, write
from holdfast.cli.project import current_scope
from holdfast.config import Settings
from holdfast.errors import BadRequest, HoldfastError
from holdfast.i18n import say
from holdfast.messages import Scope

if TYPE_CHECKING:
    from holdfast.memory.base import Memory
    from holdfast.memory.remembering import Remembering
    from holdfast.transfer.staging import ProgressCallback

# Lines that say how far something is, where no bar can be shown.
_STEPS = 10


class Whose(StrEnum):
    user = "user"
    project = "project"


WhoseOption = Annotated[
    Whose | None,
    typer.Option(
        "--scope", help="Only your own, or only the project's; else both, and new ones go to the project."
    ),
]
MemoryId = Annotated[str, typer.Argument(metavar="ID", help="Its id, as `memory list` has it.")]


@contextmanager
def open_memory(settings: Settings) -> Iterator["Remembering"]:
    from holdfast.store import open_store
    from holdfast.wiring import build_remembering

    with open_store(settings.store) as store:
        made = build_remembering(settings, store)
        try:
            yield made
        finally:
            made.close()


def narrow_scope(whose: Whose | None, project: str | None) -> Scope:
    """The scope of the folder or of the project that was named, narrowed to one side of it."""
    scope = current_scope(project)
    if whose is Whose.user:
        return Scope(scope.user)
    if whose is Whose.project and scope == Scope(scope.user):
        raise BadRequest(
            say("There is no project here.", "Hier ist kein Projekt."),
            hint=say(
                "Go to a folder under git, or name one with --project.",
                "In einen Ordner unter git gehen oder eins mit --project nennen.",
            ),
        )
    return scope


def ask_consent(question: str, otherwise: str) -> None:
    """Goes on only if somebody agrees; `otherwise` says why nothing is done where nobody can be asked."""
    if not sys.stdin.isatty():
        raise BadRequest(
            otherwise,
            hint=say("Add --yes to do it without a question.", "Mit --yes geschieht es ohne Frage."),
        )
    if not typer.confirm(question, default=False):
        console.print(say("Nothing was changed.", "Nichts wurde geändert."))
        raise typer.Exit(1)


def edit_text(text: str, extension: str) -> str | None:
    """What a person makes of a text in their editor; None if they left it as it was."""
    import click

    try:
        after = click.edit(text, extension=extension)
    except click.ClickException as error:
        raise HoldfastError(
            say(f"The editor failed: {error.message}", f"Der Editor ist gescheitert: {error.message}"),
            hint=say("Name another one in EDITOR.", "In EDITOR einen anderen nennen."),
        ) from error
    return None if after is None or after == text else after


@contextmanager
def show_progress_bar() -> Iterator["ProgressCallback"]:
    """A bar on a terminal, a few lines elsewhere; beside the result, which a program may want to read."""
    from rich.console import Console
    from rich.progress import Progress

    if not sys.stderr.isatty():
        yield _progress_lines()
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total)


def _progress_lines() -> "ProgressCallback":
    said: tuple[str, int] | None = None

    def tell(what: str, done: int, total: int) -> None:
        nonlocal said
        now = what, done * _STEPS // max(1, total)
        if now != said:
            said = now
            print_error(f"{what}: {done:,}/{total:,}")

    return tell


def kind_label(kind: str) -> str:
    kinds = {
        "fact": say("fact", "Fakt"),
        "decision": say("decision", "Entscheidung"),
        "preference": say("preference", "Vorliebe"),
        "note": say("note", "Notiz"),
    }
    return kinds.get(kind, kind)


def format_date(memory: "Memory") -> str:
    """When it was last said; what a person wrote by hand has no date."""
    return format_time(memory.date)[:10] if memory.date else "–"


def scope_label(memory: "Memory") -> str:
    mine = memory.scope == Scope(memory.scope.user)
    return say("yours", "eigene") if mine else memory.scope.project


def print_memory(memory: "Memory", path: str) -> None:
    """One memory in full, with all that is known of it."""
    write(f"{memory.text}\n")
    rows = [
        ("id", memory.id),
        (say("kind", "Art"), kind_label(memory.kind)),
        (say("belongs to", "gehört zu"), scope_label(memory)),
        (say("file", "Datei"), path),
        (say("since", "seit"), format_time(memory.valid_from) if memory.valid_from else ""),
        (say("last said", "zuletzt gesagt"), format_time(memory.seen) if memory.seen else ""),
        (say("importance", "Gewicht"), f"{memory.importance:g}"),
        (say("pinned", "angeheftet"), say("yes", "ja") if memory.pinned else ""),
        (say("said in", "gesagt in"), ", ".join(format_sources(memory))),
        (say("replaced by", "ersetzt durch"), memory.superseded_by),
        (say("valid until", "galt bis"), format_time(memory.valid_until) if memory.valid_until else ""),
    ]
    for name, value in rows:
        if value:
            console.print(Text(f"  {name}: {value}", style="dim"))


def format_sources(memory: "Memory") -> list[str]:
    return [" ".join((source.conversation, *source.messages)) for source in memory.sources]


def serialize_memory(memory: "Memory", path: str) -> dict[str, Any]:
    return {**memory.to_json(), "path": path}
