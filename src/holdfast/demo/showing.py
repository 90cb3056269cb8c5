"""How the demonstration is shown: alive on a terminal, as lines elsewhere, as JSON for programs.

What is said is in `telling`; here it is put where it is to be seen.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from holdfast.cli.window import FILLS, bar
from holdfast.demo.happening import Answered, Ended, Happening, Noted, Recalled, Turned, Worked, as_json
from holdfast.demo.telling import account, answered, closing, line, meter, opening, short
from holdfast.i18n import say
from holdfast.window import sentences

_STYLES: dict[type, str] = {Worked: "bold yellow", Noted: "magenta", Recalled: "cyan"}
# Where nobody watches, the meter is told now and then.
_EVERY = 20


class Show(Protocol):
    def __call__(self, happening: Happening) -> None: ...


def in_json(happening: Happening) -> None:
    sys.stdout.write(json.dumps(as_json(happening), ensure_ascii=False) + "\n")
    sys.stdout.flush()


@contextmanager
def in_lines(console: Console, *, kept: bool) -> Iterator[Show]:
    """A few plain lines for what happens."""
    _say_all(console, opening())

    def show(happening: Happening) -> None:
        if isinstance(happening, Turned):
            if happening.turn % _EVERY == 0:
                _say_all(console, [meter(happening)])
        else:
            _print(console, happening, kept=kept)

    yield show


@contextmanager
def alive(console: Console, *, kept: bool) -> Iterator[Show]:
    """The newest turn and its window stay below, what happened goes by above them."""
    _say_all(console, [*opening(), ""])
    with Live(console=console, auto_refresh=False, transient=True) as live:

        def show(happening: Happening) -> None:
            if isinstance(happening, Turned):
                live.update(_frame(happening, console.width), refresh=True)
            elif isinstance(happening, Ended):
                live.stop()
                _print(console, happening, kept=kept)
            else:
                _print(live.console, happening, kept=kept)

        yield show


def _print(console: Console, happening: Happening, *, kept: bool) -> None:
    if isinstance(happening, Answered):
        style = "bold green" if happening.right else "bold red"
        _say_all(console, ["", *answered(happening), ""], style)
    elif isinstance(happening, Ended):
        _print_end(console, happening, kept=kept)
    elif told := line(happening):
        _say_all(console, [told], _STYLES.get(type(happening), ""))


def _print_end(console: Console, end: Ended, *, kept: bool) -> None:
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in account(end):
        table.add_row(Text(name), Text(value, style="bold"))
    console.print(table)
    console.print()
    _say_all(console, closing(end, kept=kept))


def _frame(turned: Turned, width: int) -> Group:
    """The window as a bar with its sections by name, and the turn below it."""
    free = max(0, turned.window - sum(turned.sections.values()))
    rows = [*turned.sections.items(), ("free", free)]
    names = Text()
    for name, tokens in rows:
        # What is too little to be seen in the bar needs no name.
        if tokens * width >= turned.window:
            fill, style = FILLS[name]
            known = say("free", "frei") if name == "free" else sentences.section(name)
            names.append(f"{fill} ", style=style)
            names.append(f"{known} {sentences.number(tokens)}   ", style="dim")
    texts = ((say("You", "Sie"), turned.said), (say("Model", "Modell"), turned.answer))
    said = [Text(short(f"{who}: {text}", width - 1)) for who, text in texts]
    header = Text(meter(turned), style="bold")
    return Group(Text(), header, bar(rows, turned.window, max(20, width - 2)), names, *said)


def _say_all(console: Console, lines: list[str], style: str = "") -> None:
    console.print(Text("\n".join(lines), style=style))
