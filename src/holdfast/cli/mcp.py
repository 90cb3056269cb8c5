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
from holdfast.i18n import gettext as _
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
        raise BadRequest(_("Nothing is listened on without --http."), hint=_("Add --http."))
    settings, scope = load(context).settings, scope_for(user, project, group)
    if sys.stdin.isatty():
        print_error(_("This is for an MCP host, which starts it itself; see docs/mcp.md. Ctrl-C ends it."))
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
        raise BadRequest(_("A group has no projects."), hint=_("Give --project or --group."))
    return Scope(user, group, "group")


def check_name(name: str) -> None:
    """Reject a name that could not be used over HTTP, where the same rules hold as for keys."""
    from holdfast.store.access import is_name

    if not is_name(name):
        raise BadRequest(
            _("{name!r} is no name here.").format(name=name),
            hint=_("Up to 99 letters, digits, spaces, and . @ + - _; a letter or digit first."),
        )


def serve_http(
    context: typer.Context, host: str | None, port: int | None, whose: tuple[str, str | None, str | None]
) -> None:
    if whose != (Scope().user, None, None):
        raise BadRequest(
            _("Over HTTP the key says whose memory it is."),
            hint=_(
                "Make one with `holdfast keys create --user NAME`; the project goes into X-Holdfast-Project."
            ),
        )
    from holdfast.server.app import run
    from holdfast.server.mcp import PATH

    def read_config() -> Config:
        return load(context, host=host, port=port, mcp=True)

    # On the error stream, like everything but answers.
    run(read_config, lambda address: print_error(_("MCP is ready: ") + address + PATH))
