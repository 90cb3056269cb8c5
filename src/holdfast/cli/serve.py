"""`holdfast serve` and `holdfast mcp`: the server in the foreground, and tools for an MCP host.

`mcp` speaks the protocol on standard input and output for the folder it is started in; with `--http` it
starts the server and prints the address of its MCP endpoint.
"""

import asyncio
import gc
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from holdfast.cli.shared import ProjectOption, console, current_scope, load, print_error, write
from holdfast.config import Config, Settings
from holdfast.errors import BadRequest
from holdfast.i18n import gettext as _
from holdfast.messages import Scope

if TYPE_CHECKING:
    from holdfast.server.system import DockerKey


# Containers reach these addresses, too.
_ALL_ADDRESSES = ("0.0.0.0", "::")  # noqa: S104 - compared, not listened on
# Thresholds of the garbage collector: a turn makes thousands of objects that are freed by reference counting,
# so the defaults would run it too often.
_GC_THRESHOLDS = 20_000, 20, 20


def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
    upstream: Annotated[str | None, typer.Option(help="Model server, instead of the one found.")] = None,
    for_docker: Annotated[
        bool, typer.Option("--for-docker", help="Let clients in containers in, and say what they need.")
    ] = False,
) -> None:
    """Serve clients of Ollama and OpenAI, and keep what they say."""

    def read_config() -> Config:
        return load(context, host=None if for_docker else host, port=port, upstream=upstream)

    settings = read_config().settings
    with skip_garbage_collection():
        from holdfast.server.app import run

    beside, docker_pass = prepare_docker(settings, host) if for_docker else (None, None)

    def ready(address: str) -> None:
        console.print(_("Holdfast is ready: {address}").format(address=address))
        if docker_pass is not None:
            print_docker_help(urlsplit(address).port or settings.port, docker_pass)

    run(read_config, ready, beside)


@contextmanager
def skip_garbage_collection() -> Iterator[None]:
    """Disable garbage collection during imports and freeze what they loaded, as it stays for good."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(*_GC_THRESHOLDS)
        gc.enable()


def prepare_docker(settings: Settings, host: str | None) -> tuple[str | None, "DockerKey"]:
    """Return the address to serve containers on, if it is an additional one, and their key."""
    from holdfast.server.system import bridge_address, docker_key
    from holdfast.store import open_store

    address = None if settings.host in _ALL_ADDRESSES else host or bridge_address()
    with open_store(settings.store) as store:
        return address, docker_key(store)


def print_docker_help(port: int, docker_pass: "DockerKey") -> None:
    from holdfast.server.system import DOCKER_HOST, docker_options

    name = docker_pass.key.id
    if not docker_pass.secret:
        console.print(
            _(
                "The key for containers ({name}) was made before, and a key is shown only once. For another"
                " one: holdfast keys revoke {name}, then start again."
            ).format(name=name)
        )
    console.print(_("Start Open WebUI with these, beside your own:"))
    for option in docker_options(port, docker_pass.secret or f"hf_{name}_…"):
        write(f"  {option} \\\n")
    console.print(
        _(
            "Or as an Ollama connection: OLLAMA_BASE_URL=http://{docker_host}:{port}, and the key in"
            " Open WebUI under Settings ▸ Connections."
        ).format(docker_host=DOCKER_HOST, port=port)
    )


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
