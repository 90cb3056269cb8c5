"""`holdfast config`: every setting, its value, and where it came from."""

from typing import Annotated

import typer

from holdfast.cli.output import load, print_json, print_table
from holdfast.i18n import say


def config(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Show every setting, its value and where it came from."""
    rows = load(context).shown()
    if as_json:
        print_json(rows)
        return
    columns = (
        say("name", "Name"),
        say("value", "Wert"),
        say("from", "Quelle"),
        say("what it is", "Bedeutung"),
    )
    print_table(columns, [(row["name"], row["value"], row["source"], row["help"]) for row in rows])
