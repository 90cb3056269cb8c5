"""`holdfast serve`: the server in the foreground, until it is told to stop."""

from typing import Annotated

import typer

from holdfast.cli.output import console, load
from holdfast.language import say


def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
    upstream: Annotated[str | None, typer.Option(help="Model server, instead of the one found.")] = None,
) -> None:
    """Serve clients of Ollama and OpenAI, and keep what they say."""
    settings = load(context, host=host, port=port, upstream=upstream).settings
    from holdfast.server.run import run

    def ready(address: str) -> None:
        console.print(say(f"Holdfast is ready: {address}", f"Holdfast ist bereit: {address}"))

    run(settings, ready)
