"""`holdfast count`: count the tokens of texts for a model, with the precision of the count."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from holdfast.cli.options import JsonOption
from holdfast.cli.output import load, print_error, print_json, print_table
from holdfast.errors import BadRequest
from holdfast.i18n import gettext as _


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
        from holdfast.cli.session import choose_model
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
    titles = (_("file"), "Tokens", _("method"), _("least"), _("most"))
    print_table(titles, [[row[name] for name in columns] for row in rows])
    if why_not and any(row["method"] == "estimate" for row in rows):
        print_error(_("Estimated: {why_not}.").format(why_not=why_not))


def read_text(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise BadRequest(
            _("{name} cannot be read: {strerror}.").format(name=name, strerror=error.strerror),
            hint=_("Name a file, or - for a pipe."),
        ) from None
    return data.decode("utf-8", "replace")
