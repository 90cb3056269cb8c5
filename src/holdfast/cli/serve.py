"""`holdfast serve`: run the server in the foreground until it is stopped."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from holdfast.cli.output import console, load, write
from holdfast.config import Config, Settings
from holdfast.i18n import gettext as _

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
