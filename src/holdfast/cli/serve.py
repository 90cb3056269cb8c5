"""`holdfast serve`: the server in the foreground, until it is told to stop."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from holdfast.cli.output import console, load, write
from holdfast.config import Config, Settings
from holdfast.i18n import say

if TYPE_CHECKING:
    from holdfast.server.system import DockerKey

# Whoever listens so is heard by containers, too.
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - compared, not listened on
# After so many new objects garbage is looked for among them, and after so many looks among older ones. A turn
# makes thousands that go by themselves.
_OFTEN = 20_000, 20, 20


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

    def loaded() -> Config:
        return load(context, host=None if for_docker else host, port=port, upstream=upstream)

    settings = loaded().settings
    with loading():
        from holdfast.server.app import run

    beside, made = _for_docker(settings, host) if for_docker else (None, None)

    def ready(address: str) -> None:
        console.print(say(f"Holdfast is ready: {address}", f"Holdfast ist bereit: {address}"))
        if made is not None:
            _tell(urlsplit(address).port or settings.port, made)

    run(loaded, ready, beside)


@contextmanager
def loading() -> Iterator[None]:
    """What is loaded now stays for ever: nobody looks for garbage in it, neither meanwhile nor later on."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(*_OFTEN)
        gc.enable()


def _for_docker(settings: Settings, host: str | None) -> tuple[str | None, "DockerKey"]:
    """Where containers are served, beside this machine, and what they come in with."""
    from holdfast.server.system import bridge_address, docker_key
    from holdfast.store import open_store

    address = None if settings.host in _EVERYWHERE else host or bridge_address()
    with open_store(settings.store) as store:
        return address, docker_key(store)


def _tell(port: int, made: "DockerKey") -> None:
    from holdfast.server.system import DOCKER_HOST, docker_options

    name = made.key.id
    if not made.secret:
        console.print(
            say(
                f"The key for containers ({name}) was made before, and a key is shown only once. For another"
                f" one: holdfast keys revoke {name}, then start again.",
                f"Den Schlüssel für Container ({name}) gibt es schon, und gezeigt wird er nur einmal. Für"
                f" einen neuen: holdfast keys revoke {name}, dann neu starten.",
            )
        )
    console.print(
        say("Start Open WebUI with these, beside your own:", "Open WebUI zusätzlich mit diesen starten:")
    )
    for option in docker_options(port, made.secret or f"hf_{name}_…"):
        write(f"  {option} \\\n")
    console.print(
        say(
            f"Or as an Ollama connection: OLLAMA_BASE_URL=http://{DOCKER_HOST}:{port}, and the key in"
            " Open WebUI under Settings ▸ Connections.",
            f"Oder als Ollama-Verbindung: OLLAMA_BASE_URL=http://{DOCKER_HOST}:{port}, und der Schlüssel in"
            " Open WebUI unter Einstellungen ▸ Verbindungen.",
        )
    )
