"""The command line: one module per command or group, listed in `cli/commands.py` and imported when used.

Exit codes: 0 success, 1 a failure that was explained, 2 a usage error, 3 no answer or only part of one,
130 interrupted.
"""

import os
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from holdfast import __version__
from holdfast.cli.commands import CommandGroup
from holdfast.config import load, locale_name
from holdfast.errors import ConfigError, HoldfastError, explain_os_error
from holdfast.i18n import gettext as _
from holdfast.i18n import speak, translate

app = typer.Typer(
    name="holdfast",
    cls=CommandGroup,
    help="A context keeper for language models with small windows.",
    epilog=(
        "Exit codes: 0 all went well; 1 something failed, and was explained; 2 a misspelt command; "
        "3 no answer, or only a part of one; 130 interrupted."
    ),
    no_args_is_help=True,
    # Plain help takes half the time to print, and is readable through a pipe.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"holdfast {__version__}")
        raise typer.Exit


@app.callback()
def set_common_options(
    context: typer.Context,
    home: Annotated[Path | None, typer.Option(help="Data folder, instead of the usual one.")] = None,
    upstream: Annotated[str | None, typer.Option(help="Model server, instead of the one found.")] = None,
    version: Annotated[
        bool,
        typer.Option("--version", help="Say the version and stop.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    del version
    context.obj = {"home": home, "upstream": upstream}


def main() -> None:
    """Run the command line; every failure ends in a message and an exit code, never in a traceback."""
    speak(_find_language(), locale_name())
    try:
        try:
            app(prog_name="holdfast")
        finally:
            # Flush while a failure can still be reported. There may be no standard output.
            if sys.stdout is not None:
                sys.stdout.flush()
    except HoldfastError as error:
        _exit_with(1, str(error))
    except KeyboardInterrupt:
        _exit_with(130, _("Interrupted."))
    except BrokenPipeError:
        # The reader closed the pipe (`holdfast … | head`).
        _discard_output()
        sys.exit(1)
    except OSError as error:
        _discard_output()
        why = translate(explain_os_error(error))
        if error.filename:
            _exit_with(
                1, _("{path} could not be read or written: {why}.").format(path=error.filename, why=why)
            )
        _exit_with(1, _("This could not be read or written: {why}.").format(why=why))


def _discard_output() -> None:
    """Redirect standard output to the null device, so that flushing it at exit does not fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _exit_with(code: int, text: str) -> NoReturn:
    # Imported late, because help does not need it and is faster without it.
    from holdfast.cli.shared import print_error

    print_error(text)
    sys.exit(code)


def _find_language() -> str:
    """Return the configured language, or `auto` if the settings cannot be read, as help must work."""
    try:
        return load().settings.language
    except ConfigError:
        return "auto"
