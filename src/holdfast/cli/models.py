"""`holdfast models` and `holdfast count`: list, configure and fetch models; count tokens for one."""

import asyncio
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.shared import (
    JsonOption,
    console,
    load,
    print_error,
    print_json,
    print_table,
    show_progress_bar,
    translate_source,
)
from holdfast.errors import BadRequest, ModelMissing, explain_os_error
from holdfast.i18n import gettext as _
from holdfast.i18n import lazy, localize_number, translate

if TYPE_CHECKING:
    from holdfast.upstreams.base import ModelInfo
    from holdfast.upstreams.windows import Windows


app = typer.Typer(help="The models that can be asked.", invoke_without_command=True)

Row = dict[str, Any]


@app.callback()
def models(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the models of the model server that is in use, with their windows."""
    if context.invoked_subcommand is None:
        list_(context, as_json)


@app.command("list")
def list_(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the models of the model server that is in use, with their windows."""
    settings = load(context).settings

    async def look() -> tuple[str, list[Row]]:
        from holdfast.wiring import running_engine

        async with running_engine(settings) as engine:
            upstreams = engine.upstreams
            rows = []
            for model in await upstreams.models():
                provider = await upstreams.route(model.name)
                rows.append(serialize_model(model, await engine.models.windows(provider, model.name)))
            servers = await upstreams.servers()
            return ", ".join(f"{server.name} {server.location}" for server in servers), rows

    server, rows = asyncio.run(look())
    if as_json:
        print_json({"server": server, "models": rows})
        return
    console.print(server, style="dim")
    columns = (
        _("name"),
        _("size"),
        _("trained for"),
        _("running with"),
        _("recommended"),
        _("used by Holdfast"),
    )
    figures = ("trained_window", "running_window", "recommended_window", "used_window")
    print_table(
        columns,
        [(row["name"], row["parameters"], *(format_cell(row[name]) for name in figures)) for row in rows],
    )
    for row in rows:
        for warning in row["warnings"]:
            print_error(f"{row['name']}: {translate(warning)}")


def serialize_model(model: "ModelInfo", windows: "Windows") -> Row:
    """Serialize a model for `--json`: every figure with its source."""
    shown = {
        f"{name}_window": {"tokens": figure.tokens, "source": figure.source} if figure else None
        for name, figure in (
            ("trained", windows.trained),
            ("running", windows.running),
            ("recommended", windows.recommended),
            ("used", windows.used),
        )
    }
    return {
        "name": model.name,
        "family": model.family or None,
        "parameters": model.parameter_size or None,
        "quantization": model.quantization or None,
        **shown,
        "warnings": list(windows.warnings),
    }


def format_cell(figure: dict[str, Any] | None) -> str:
    """Format a figure with its source below it, to keep the table narrow."""
    return f"{format_tokens(figure)}\n{translate_source(figure['source'])}" if figure else "–"


def format_figure(figure: dict[str, Any] | None) -> str:
    return f"{format_tokens(figure)} ({translate_source(figure['source'])})" if figure else "–"


def format_tokens(figure: dict[str, Any]) -> str:
    return localize_number(f"{figure['tokens']:,}")


@app.command()
def show(
    context: typer.Context,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model's name.")],
    as_json: JsonOption = False,
) -> None:
    """Show a model's windows, how its window is shared out, and how its tokens are counted."""
    settings = load(context).settings

    async def look() -> Row:
        from holdfast.wiring import running_engine

        async with running_engine(settings) as engine:
            provider = await engine.upstreams.route(model)
            info = await provider.describe(model)
            windows = await engine.models.windows(provider, model)
            budget = engine.fitter.preset.budget(windows.used.tokens, thinks=windows.thinks)
            count = await engine.models.counters.count_text(provider, model, "Holdfast", info.family)
            return {
                **serialize_model(info, windows),
                "budget": {
                    **{name: getattr(budget, name) for name in _SECTIONS},
                    "history": budget.for_history(0),
                    "levels": asdict(budget.levels),
                },
                "counting": {"method": count.method, "by": count.by},
            }

    row = asyncio.run(look())
    if as_json:
        print_json(row)
        return
    from holdfast.window import sentences

    titles = {
        "trained_window": _("trained for"),
        "running_window": _("running with"),
        "recommended_window": _("recommended"),
        "used_window": _("used by Holdfast"),
    }
    lines = [(title, format_figure(row[name])) for name, title in titles.items()]
    budget = row["budget"]
    opening = {"beginning": _("memories at the beginning")}
    lines += [
        (f"  {opening.get(name) or sentences.section(name)}", sentences.number(budget[name]))
        for name in (*_SECTIONS[1:], "history")
    ]
    counting = row["counting"]
    lines.append((_("counted"), f"{sentences.method(counting['method'])} ({translate(counting['by'])})"))
    print_table((model, ""), lines)


_SECTIONS = ("window", "reserve", "profile", "beginning", "recalled", "summary", "research")


@app.command("set")
def set_(
    context: typer.Context,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model's name.")],
    num_ctx: Annotated[
        int | None,
        typer.Option("--num-ctx", min=0, help="Its window in tokens; 0 leaves it to Holdfast again."),
    ] = None,
    recommended: Annotated[
        int | None, typer.Option(min=0, help="The window recommended for it; 0 for the usual one.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Fix the window of a model; every request to it then carries the same one."""
    settings = load(context).settings

    async def change() -> Row:
        from holdfast.wiring import running_engine

        async with running_engine(settings) as engine:
            provider = await engine.upstreams.route(model)
            check_listed(model, [info.name for info in await provider.models()])
            windows = await engine.models.set_window(
                provider, model, num_ctx=num_ctx, recommended=recommended
            )
            return serialize_model(await provider.describe(model), windows)

    row = asyncio.run(change())
    if as_json:
        print_json(row)
    else:
        console.print(f"{model}: {format_figure(row['used_window'])}")


def check_listed(model: str, names: list[str]) -> None:
    """Refuse a model that its server does not list; a tag or the server's name may be left out."""
    known = {*names, *(name.partition(":")[0] for name in names)}
    if names and not known & {model, model.partition("/")[2]}:
        raise ModelMissing(model, hint=lazy("`holdfast models` lists what the server has."))


@app.command()
def get(
    context: typer.Context,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Say something only when there is something to do.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Fetch SmolLM2, the small model that runs inside Holdfast (98 MB, once)."""
    settings = load(context).settings
    from holdfast.upstreams.model_file import fetch_model_file, find_model_file

    path = find_model_file(settings.models_dir)
    if path is not None:
        if as_json:
            print_json({"path": str(path), "fetched": False})
        elif not quiet:
            console.print(_("Already there: {path}").format(path=path))
        return
    with show_progress_bar() as tell:
        label = _("Fetching SmolLM2")
        path = fetch_model_file(settings.models_dir, lambda _, done, total: tell(label, done, total))
    if as_json:
        print_json({"path": str(path), "fetched": True})
    else:
        console.print(_("Fetched: {path}").format(path=path))


def count(
    context: typer.Context,
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Files to count; - for standard input.")],
    model: Annotated[str | None, typer.Option("--model", "-m", help="The model to count for.")] = None,
    upstream: Annotated[str | None, typer.Option(help="Model server, instead of the one found.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Count the tokens of texts, by the model's own vocabulary where there is one."""
    settings = load(context, model=model, upstream=upstream).settings
    texts = {name: read_text(name) for name in files}

    async def count_files() -> tuple[list[dict[str, Any]], str]:
        from holdfast.cli.ask import choose_model
        from holdfast.wiring import running_engine

        async with running_engine(settings) as engine:
            name = await choose_model(engine, settings.model)
            provider = await engine.upstreams.route(name)
            family = (await provider.describe(name)).family
            rows = []
            for file, text in texts.items():
                result = await engine.models.counters.count_text(provider, name, text, family)
                rows.append(
                    {
                        "file": file,
                        "model": name,
                        "tokens": result.tokens,
                        "method": result.method,
                        "low": result.low,
                        "high": result.high,
                        "by": result.by,
                    }
                )
            return rows, engine.models.vocabularies.why_not(provider, name)

    rows, why_not = asyncio.run(count_files())
    if as_json:
        print_json(rows)
        return
    columns = ("file", "tokens", "method", "low", "high")
    titles = (_("file"), _("Tokens"), _("method"), _("least"), _("most"))
    print_table(titles, [[row[name] for name in columns] for row in rows])
    if why_not and any(row["method"] == "estimate" for row in rows):
        print_error(_("Estimated: {why_not}.").format(why_not=why_not))


def read_text(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise BadRequest(
            _("{name} cannot be read: {strerror}.").format(
                name=name, strerror=translate(explain_os_error(error))
            ),
            hint=_("Name a file, or - for a pipe."),
        ) from None
    return data.decode("utf-8", "replace")
