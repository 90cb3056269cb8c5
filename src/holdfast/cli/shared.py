"""What commands share: arguments and options and what they resolve to, tables, JSON, prompts, progress."""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from holdfast import config
from holdfast.config import Config, Settings
from holdfast.errors import BadRequest, HoldfastError, NotFound
from holdfast.i18n import current_language, lazy, speak, translate
from holdfast.i18n import gettext as _
from holdfast.messages import Scope
from holdfast.projects import project_name

if TYPE_CHECKING:
    from holdfast.memory.library import Library
    from holdfast.memory.service import MemoryService
    from holdfast.store import ConversationRecord, Store
    from holdfast.transfer.staging import ProgressCallback

# Without markup: what is printed may contain brackets.
console = Console(highlight=False, markup=False, soft_wrap=True, emoji=False)

# Control characters in text of models or strangers must not reach the terminal.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# The number of progress lines where no bar can be shown.
_STEPS = 10


def load(context: typer.Context, **given: Any) -> Config:
    """Load the settings, with this command's options on top of the common ones."""
    overrides = {**(context.obj or {}), **{name: value for name, value in given.items() if value is not None}}
    loaded = config.load(overrides)
    speak(loaded.settings.language, config.locale_name())
    return loaded


def write(text: str) -> None:
    """Write text to standard output; on a terminal without control characters."""
    shown = replace_control(text) if sys.stdout.isatty() else text
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(shown.encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()


def print_dim(text: str) -> None:
    """Print secondary text dimly, without control characters."""
    console.print(replace_control(text), style="dim", end="")


def print_warning(text: str) -> None:
    """Print a warning to the error stream in colour, so that it stands out in a chat."""
    shown = Text(f"! {replace_control(translate(text))}", style="yellow")
    Console(stderr=True, highlight=False, soft_wrap=True).print(shown)


def print_error(text: str) -> None:
    """Print an error to the error stream, without control characters that quoted text may contain."""
    sys.stderr.write(f"{replace_control(translate(text))}\n")


def print_json(value: Any) -> None:
    """Print a value as JSON; objects in it are serialised by their `to_json`."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=lambda item: item.to_json())
    sys.stdout.write(f"{text}\n")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*("" if value is None else replace_control(str(value)) for value in row))
    console.print(table)


def print_headline(title: str, more: str) -> None:
    """Print a title, which may contain anything, followed by details in bold."""
    write(f"{title} " if title else "")
    console.print(more, style="bold")


def ask_consent(question: str, otherwise: str) -> None:
    """Exit unless the user agrees; without a terminal raise an error with `otherwise` as its message."""
    if not sys.stdin.isatty():
        raise BadRequest(otherwise, hint=_("Add --yes to do it without a question."))
    if not typer.confirm(question, default=False):
        console.print(_("Nothing was changed."))
        raise typer.Exit(1)


def edit_text(text: str, extension: str) -> str | None:
    """Open text in the user's editor; return the new text, or None if it was not changed."""
    import click

    try:
        after = click.edit(text, extension=extension)
    except click.ClickException as error:
        raise HoldfastError(
            _("The editor failed: {message}").format(message=error.message),
            hint=_("Name another one in EDITOR."),
        ) from error
    return None if after is None or after == text else after


@contextmanager
def show_progress_bar() -> Iterator["ProgressCallback"]:
    """Show progress on the error stream: a bar on a terminal, a few lines elsewhere."""
    from rich.progress import Progress

    if not sys.stderr.isatty():
        yield _progress_lines()
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total)


def _progress_lines() -> "ProgressCallback":
    last: tuple[str, int] | None = None

    def tell(label: str, done: int, total: int) -> None:
        nonlocal last
        now = label, done * _STEPS // max(1, total)
        if now != last:
            last = now
            print_error(f"{label}: {100 * done // max(1, total)} %")

    return tell


def replace_control(text: str) -> str:
    return _CONTROL.sub("\ufffd", text)


def format_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


# Sentences of Typer, known by a pattern whose groups fill the message. Several may stand in one text.
_TYPER = (
    (r"^Error: ", lazy("Error: ")),
    (r"Try '(?P<command>.*)' for help\.", lazy("Try '{command}' for help.")),
    (r"No such command '(?P<name>.*?)'\.", lazy("No such command '{name}'.")),
    (r"No such option: (?P<option>\S+)", lazy("No such option: {option}")),
    (r"Did you mean (?:one of: )?(?P<names>.+?)\?", lazy("Did you mean {names}?")),
    (r"\(Possible options: (?P<names>.+?)\)", lazy("(Possible options: {names})")),
    (r"Missing (?:argument|option|parameter) (?P<name>'.*?')\.", lazy("Missing argument {name}.")),
    (
        r"Got unexpected extra argument(?:\(s\)|s)? \((?P<arguments>.*)\)",
        lazy("Got unexpected extra arguments ({arguments})"),
    ),
    (r"Option (?P<option>'.*?') requires an argument\.", lazy("Option {option} requires an argument.")),
    (r"Option (?P<option>'.*?') does not take a value\.", lazy("Option {option} does not take a value.")),
    (r"Invalid value for (?P<name>.+?): ", lazy("Invalid value for {name}: ")),
    (r"Input should be a valid integer.*", lazy("Input should be a valid integer")),
    (r"Input should be a valid number.*", lazy("Input should be a valid number")),
    (
        r"Input should be less than or equal to (?P<most>\S+)",
        lazy("Input should be less than or equal to {most}"),
    ),
    (
        r"Input should be greater than or equal to (?P<least>\S+)",
        lazy("Input should be greater than or equal to {least}"),
    ),
    (
        r"(?:Value error, )?(?P<value>'[^']*') is not one of (?P<choices>.+)\.",
        lazy("{value} is not one of {choices}."),
    ),
    (r"^Aborted!$", lazy("Aborted!")),
)
_BUT_TRAINED = ", but trained for no more"


def translate_usage(text: str) -> str:
    """Translate the sentences of Typer in a text; what is not known stays as it is."""
    if current_language() != "en":
        for pattern, message in _TYPER:
            text = re.sub(pattern, partial(_fill, translate(message)), text, flags=re.MULTILINE)
    return text


def _fill(form: str, match: re.Match[str]) -> str:
    return form.format(**match.groupdict())


def translate_source(source: str) -> str:
    """Translate where a model's window comes from; it may have been stored as plain text."""
    if source.endswith(_BUT_TRAINED):
        known = translate_source(source.removesuffix(_BUT_TRAINED))
        return _("{source}, but trained for no more").format(source=known)
    if family := re.fullmatch(r"known of (\S+)", source):
        return _("known of {family}").format(family=family[1])
    if size := re.fullmatch(r"usual for (\S+) parameters", source):
        return _("usual for {parameter_size} parameters").format(parameter_size=size[1])
    return translate(source)


ConversationId = Annotated[str, typer.Argument(metavar="ID", help="Its id, or a clear beginning of it.")]
MessageId = Annotated[
    str, typer.Argument(metavar="MESSAGE", help="A message's number or id, as `show` has them.")
]
MemoryId = Annotated[str, typer.Argument(metavar="ID", help="Its id, or a clear beginning of it.")]


class Whose(StrEnum):
    user = "user"
    project = "project"


WhoseOption = Annotated[
    Whose | None,
    typer.Option(
        "--scope", help="Only your own, or only the project's; else both, and new ones go to the project."
    ),
]
ProjectOption = Annotated[
    str | None, typer.Option(help="Whose project this belongs to, instead of the folder's (`default`: none).")
]
JsonOption = Annotated[bool, typer.Option("--json", help="As JSON.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def current_scope(project: str | None, folder: Path | None = None) -> Scope:
    return Scope(project=project or project_name(folder or Path.cwd()))


@contextmanager
def open_conversation(
    settings: Settings, conversation: str, project: str | None
) -> Iterator[tuple["Store", "ConversationRecord"]]:
    from holdfast.store import open_store

    with open_store(settings.store) as store:
        yield store, find_conversation(store, conversation, current_scope(project))


def find_conversation(store: "Store", conversation: str, scope: Scope) -> "ConversationRecord":
    """Return the conversation with this id or unique prefix; the error names the project it belongs to."""
    try:
        return store.log.get(conversation, scope)
    except NotFound as error:
        # Local users may learn which project it is in; the server never tells.
        try:
            elsewhere = store.log.get(conversation).scope.project
        except NotFound:
            hint = _("`holdfast conversations list` names those there are.")
            raise NotFound(error.message, hint=hint) from None
        raise NotFound(
            error.message,
            hint=_("It belongs to the project {elsewhere}: add --project {elsewhere}.").format(
                elsewhere=elsewhere
            ),
        ) from None


def find_memory(library: "Library", scope: Scope, name: str) -> str:
    """Return the id of the memory with this id or unique beginning of it."""
    active, archived = library.list_all(scope, [])
    ids = {memory.id for memory in (*active, *archived)}
    matches = [identifier for identifier in ids if identifier.startswith(name)] if len(name) > 2 else []
    if name in ids or not matches:
        return name
    if len(matches) > 1:
        raise BadRequest(
            lazy("{number} ids begin with '{beginning}'.", number=len(matches), beginning=name),
            hint=lazy("Give more of the id."),
        )
    return matches[0]


@contextmanager
def open_memory(settings: Settings) -> Iterator["MemoryService"]:
    from holdfast.store import open_store
    from holdfast.wiring import build_remembering

    with open_store(settings.store) as store:
        memory = build_remembering(settings, store)
        try:
            yield memory
        finally:
            memory.close()


def narrow_scope(whose: Whose | None, project: str | None) -> Scope:
    """Return the current scope, limited to the user's or the project's part of it if asked for."""
    scope = current_scope(project)
    if whose is Whose.user:
        return Scope(scope.user)
    if whose is Whose.project and scope == Scope(scope.user):
        raise BadRequest(
            _("There is no project here."), hint=_("Go to a folder under git, or name one with --project.")
        )
    return scope
