"""`holdfast password`: what a browser needs to come in where a key or a password is asked for.

Knows the prompt; how a password is kept is the store's business.
"""

import sys
from typing import Annotated

import typer

from holdfast.cli.kept import JsonOption
from holdfast.cli.output import console, load, print_json
from holdfast.errors import BadRequest
from holdfast.i18n import say
from holdfast.messages import Scope

_MIN_LENGTH = 8


def password(
    context: typer.Context,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read it from standard input.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Have none any more.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Set the password of the page. Every browser that is signed in has to do it again."""
    from holdfast.store import open_store
    from holdfast.store.secrecy import password_digest

    settings = load(context).settings
    digest = None if remove else password_digest(read_password(stdin))
    with open_store(settings.store) as store:
        store.sessions.set_password(Scope().user, digest)
    if as_json:
        print_json({"password": digest is not None})
    elif remove:
        console.print(say("There is no password any more.", "Es gibt kein Passwort mehr."))
    else:
        console.print(say("The password is set.", "Das Passwort ist gesetzt."))


def read_password(stdin: bool) -> str:
    if stdin:
        given = sys.stdin.readline().rstrip("\r\n")
    elif sys.stdin.isatty():
        again = say("Again", "Noch einmal")
        given = typer.prompt(
            say("New password", "Neues Passwort"), hide_input=True, confirmation_prompt=again
        )
    else:
        raise BadRequest(
            say("Nobody is here to be asked for a password.", "Niemand ist da, der gefragt werden kann."),
            hint=say("Pipe it in with --stdin.", "Mit --stdin lässt es sich hineinreichen."),
        )
    if len(given) < _MIN_LENGTH:
        raise BadRequest(
            say(
                f"A password has at least {_MIN_LENGTH} characters.",
                f"Ein Passwort hat mindestens {_MIN_LENGTH} Zeichen.",
            ),
            hint=say("Several words are good.", "Mehrere Wörter sind gut."),
        )
    return given
