"""How the command line speaks: tables for people, JSON for programs, trouble on the error stream.

Knows nothing of what is said.
"""

import json
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from holdfast import config
from holdfast.config import Config
from holdfast.language import speak

console = Console(highlight=False, soft_wrap=True)


def load(context: typer.Context, **given: Any) -> Config:
    """The settings for this command, its own options on top of the common ones."""
    overrides = {**(context.obj or {}), **{name: value for name, value in given.items() if value is not None}}
    loaded = config.load(overrides)
    speak(loaded.settings.language)
    return loaded


def complain(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*("" if value is None else str(value) for value in row))
    console.print(table)


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")
