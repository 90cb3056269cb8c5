"""`holdfast models`: what can be asked, and the small model that needs no server."""

import asyncio
from typing import Annotated

import typer

from holdfast.cli.output import console, load, print_json, print_table
from holdfast.language import say

app = typer.Typer(help="The models that can be asked.", invoke_without_command=True)

Json = Annotated[bool, typer.Option("--json", help="As JSON.")]


@app.callback()
def models(context: typer.Context, as_json: Json = False) -> None:
    """List the models of the model server that is in use."""
    if context.invoked_subcommand is not None:
        return
    settings = load(context).settings

    async def found() -> tuple[str, list[dict[str, object]]]:
        from holdfast.wiring import build_upstreams

        upstreams = build_upstreams(settings)
        try:
            provider = await upstreams.main()
            rows: list[dict[str, object]] = [
                {
                    "name": model.name,
                    "family": model.family or None,
                    "parameters": model.parameter_size or None,
                    "quantization": model.quantization or None,
                    "trained_window": model.trained_window,
                    "running_window": model.running_window,
                }
                for model in await provider.models()
            ]
            return f"{provider.name} {provider.location}", rows
        finally:
            await upstreams.aclose()

    server, rows = asyncio.run(found())
    if as_json:
        print_json({"server": server, "models": rows})
        return
    console.print(server, style="dim")
    columns = (
        say("name", "Name"),
        say("family", "Familie"),
        say("size", "Größe"),
        say("quantization", "Quantisierung"),
        say("window: trained", "Fenster: trainiert"),
        say("running", "läuft mit"),
    )
    print_table(columns, [tuple(row.values()) for row in rows])


@app.command()
def get(
    context: typer.Context,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Say something only when there is something to do.")
    ] = False,
) -> None:
    """Fetch SmolLM2, the small model that runs inside Holdfast (98 MB, once)."""
    settings = load(context).settings
    from rich.progress import Progress

    from holdfast.providers.weights import fetch, installed

    path = installed(settings.models_dir)
    if path is not None:
        if not quiet:
            console.print(say(f"Already there: {path}", f"Schon da: {path}"))
        return
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(say("Fetching SmolLM2", "SmolLM2 wird geholt"), total=None)
        path = fetch(
            settings.models_dir, lambda _, done, total: bar.update(task, completed=done, total=total)
        )
    console.print(say(f"Fetched: {path}", f"Geholt: {path}"))
