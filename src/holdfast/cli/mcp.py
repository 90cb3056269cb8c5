"""`holdfast mcp`: offer memory, conversations and research as tools to an MCP host.

Speaks the protocol on standard input and output for the folder it is started in; with `--http` it starts the
server and prints the address of its MCP endpoint.
"""

import asyncio
import signal
import sys
from typing import Annotated

import typer

from holdfast.cli.options import ProjectOption, current_scope
from holdfast.cli.output import load, print_error
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
    project: ProjectOption = None,
    group: Annotated[
        str | None, typer.Option(help="A group, instead of a project: only what belongs to it is seen.")
    ] = None,
) -> None:
    """Offer memory, conversations and research to an MCP host, such as Claude Desktop, Cursor or Zed."""
    if http:
        serve_http(context, host, port, whose=(user, project, group))
        return
    if host is not None or port is not None:
        raise BadRequest(
            say("Nothing is listened on without --http.", "Ohne --http wird nirgends gehört."),
            hint=say("Add --http.", "--http angeben."),
        )
    settings, scope = load(context).settings, scope_for(user, project, group)
    if sys.stdin.isatty():
        print_error(
            say(
                "This is for an MCP host, which starts it itself; see docs/mcp.md. Ctrl-C ends it.",
                "Das ist für ein MCP-Programm, das es selbst startet; siehe docs/mcp.md. Strg-C beendet es.",
            )
        )
    # A thread blocked on input would not see Ctrl-C otherwise. The store is consistent at any moment.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from holdfast.mcp.server import serve_stdio

    asyncio.run(serve_stdio(settings, scope))


def scope_for(user: str, project: str | None, group: str | None) -> Scope:
    """Return the scope that the options name, or that of the current folder."""
    for name in (user, project, group):
        # Skip the import for the default user, as the host waits for the first answer.
        if name is not None and name != Scope().user:
            check_name(name)
    if group is None:
        return Scope(user, current_scope(project).project)
    if project is not None:
        raise BadRequest(
            say("A group has no projects.", "Eine Gruppe hat keine Projekte."),
            hint=say("Give --project or --group.", "--project oder --group angeben."),
        )
    return Scope(user, group, "group")


def check_name(name: str) -> None:
    """Reject a name that could not be used over HTTP, where the same rules hold as for keys."""
    from holdfast.store.access import is_name

    if not is_name(name):
        raise BadRequest(
            say(f"{name!r} is no name here.", f"{name!r} ist hier kein Name."),
            hint=say(
                "Up to 99 letters, digits, spaces, and . @ + - _; a letter or digit first.",
                "Bis zu 99 Buchstaben, Ziffern, Leerzeichen und . @ + - _; zuerst Buchstabe oder Ziffer.",
            ),
        )


def serve_http(
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

    def read_config() -> Config:
        return load(context, host=host, port=port, mcp=True)

    # On the error stream, like everything but answers.
    run(read_config, lambda address: print_error(say("MCP is ready: ", "MCP ist bereit: ") + address + PATH))
