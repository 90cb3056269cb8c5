"""`holdfast mcp`: memory, conversations and research as tools of an MCP host.

By itself it speaks the protocol on standard input and output, for the folder that the host starts it in; with
`--http` it is `holdfast serve`, and says where MCP is.
"""

import asyncio
import signal
import sys
from typing import Annotated

import typer

from holdfast.cli.output import complain, load
from holdfast.cli.project import Project, scope_here
from holdfast.config import Config
from holdfast.errors import BadRequest
from holdfast.i18n import say
from holdfast.messages import Scope


def mcp(
    context: typer.Context,
    http: Annotated[
        bool, typer.Option("--http", help="Start the server, with MCP at /mcp, instead of standard input.")
    ] = False,
    host: Annotated[str | None, typer.Option(help="Address to listen on, with --http.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on, with --http.")] = None,
    user: Annotated[str, typer.Option(help="Whose memory it is.")] = Scope().user,
    project: Project = None,
    group: Annotated[
        str | None, typer.Option(help="A group, instead of a project: only what belongs to it is seen.")
    ] = None,
) -> None:
    """Offer memory, conversations and research to an MCP host, such as Claude Desktop, Cursor or Zed."""
    if http:
        _serve(context, host, port, whose=(user, project, group))
        return
    if host is not None or port is not None:
        raise BadRequest(
            say("Nothing is listened on without --http.", "Ohne --http wird nirgends gehört."),
            hint=say("Add --http.", "--http angeben."),
        )
    settings, scope = load(context).settings, scope_for(user, project, group)
    if sys.stdin.isatty():
        complain(
            say(
                "This is for an MCP host, which starts it itself; see docs/mcp.md. Ctrl-C ends it.",
                "Das ist für ein MCP-Programm, das es selbst startet; siehe docs/mcp.md. Strg-C beendet es.",
            )
        )
    # Whoever waits for input in a thread would not hear of it otherwise. What is kept is safe at any moment.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from holdfast.mcp.stdio import serve

    asyncio.run(serve(settings, scope))


def scope_for(user: str, project: str | None, group: str | None) -> Scope:
    """The scope of the folder it is started in, or the one that is named."""
    for name in (user, project, group):
        # The usual one needs no look, and the host its first answer soon.
        if name is not None and name != Scope().user:
            _check_name(name)
    if group is None:
        return Scope(user, scope_here(project).project)
    if project is not None:
        raise BadRequest(
            say("A group has no projects.", "Eine Gruppe hat keine Projekte."),
            hint=say("Give --project or --group.", "--project oder --group angeben."),
        )
    return Scope(user, group, "group")


def _check_name(name: str) -> None:
    """As for keys: whoever is named here must be reachable through the server, too."""
    from holdfast.store.keys import is_name

    if not is_name(name):
        raise BadRequest(
            say(f"{name!r} is no name here.", f"{name!r} ist hier kein Name."),
            hint=say(
                "Up to 99 letters, digits, spaces, and . @ + - _; a letter or digit first.",
                "Bis zu 99 Buchstaben, Ziffern, Leerzeichen und . @ + - _; zuerst Buchstabe oder Ziffer.",
            ),
        )


def _serve(
    context: typer.Context, host: str | None, port: int | None, whose: tuple[str, str | None, str | None]
) -> None:
    if whose != (Scope().user, None, None):
        raise BadRequest(
            say("Over HTTP the key says whose memory it is.", "Über HTTP sagt der Schlüssel, wessen es ist."),
            hint=say(
                "Make one with `holdfast keys create --user NAME`; the project goes into X-Holdfast-Project.",
                "Einen anlegen mit `holdfast keys create --user NAME`; das Projekt gehört in"
                " X-Holdfast-Project.",
            ),
        )
    from holdfast.server.app import run
    from holdfast.server.mcp import PATH

    def loaded() -> Config:
        return load(context, host=host, port=port, mcp=True)

    # On the error stream, like everything that is no answer.
    run(loaded, lambda address: complain(say("MCP is ready: ", "MCP ist bereit: ") + address + PATH))
