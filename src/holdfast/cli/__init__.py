"""The command line: one module a noun. Heavy parts are imported by the command that needs them.

Exit codes: 0 all went well, 1 something failed and was explained, 2 a misspelt command, 130 interrupted.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from holdfast import __version__
from holdfast.cli import (
    chat,
    config,
    conversations,
    count,
    doctor,
    files,
    jobs,
    keys,
    memory,
    migrate,
    models,
    password,
    profile,
    research,
    serve,
    window,
)
from holdfast.cli.output import complain
from holdfast.errors import HoldfastError
from holdfast.language import say, speak

app = typer.Typer(
    name="holdfast",
    help="A context keeper for language models with small windows.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("serve")(serve.serve)
app.command("ask")(chat.ask)
app.command("chat")(chat.chat)
app.command("count")(count.count)
app.command("window")(window.window)
app.command("jobs")(jobs.jobs)
app.command("doctor")(doctor.doctor)
app.command("config")(config.config)
app.command("migrate")(migrate.migrate)
app.command("password")(password.password)
app.add_typer(conversations.app, name="conversations")
app.add_typer(memory.app, name="memory")
app.add_typer(profile.app, name="profile")
app.add_typer(research.app, name="research")
app.add_typer(models.app, name="models")
app.add_typer(keys.app, name="keys")
app.add_typer(files.app, name="files")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"holdfast {__version__}")
        raise typer.Exit


@app.callback()
def common(
    context: typer.Context,
    home: Annotated[Path | None, typer.Option(help="Data folder, instead of the usual one.")] = None,
    upstream: Annotated[str | None, typer.Option(help="Model server, instead of the one found.")] = None,
    version: Annotated[
        bool, typer.Option("--version", help="Say the version and stop.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    del version
    context.obj = {"home": home, "upstream": upstream}


def main() -> None:
    """Runs the command line; every failure ends in a sentence and an exit code, never in a traceback."""
    speak("auto")
    try:
        app()
    except HoldfastError as error:
        complain(str(error))
        sys.exit(1)
    except KeyboardInterrupt:
        complain(say("Interrupted.", "Abgebrochen."))
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read our output has seen enough (`holdfast … | head`).
        sys.stderr.close()
        sys.exit(1)
