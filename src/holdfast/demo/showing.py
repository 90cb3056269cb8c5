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

from holdfast.cli.window import FILLS, draw_bar
from holdfast.demo.happening import (
    AnswerEvent,
    DemoEvent,
    EndEvent,
    LevelEvent,
    MemoryEvent,
    RecallEvent,
    TurnEvent,
    serialize_event,
)
from holdfast.demo.telling import (
    closing_lines,
    describe_answer,
    describe_event,
    describe_meter,
    final_figures,
    opening_lines,
    shorten,
)
from holdfast.i18n import say
from holdfast.window import sentences

_STYLES: dict[type, str] = {LevelEvent: "bold yellow", MemoryEvent: "magenta", RecallEvent: "cyan"}
# Where nobody watches, the meter is told now and then.
_METER_EVERY = 20


class Show(Protocol):
    def __call__(self, happening: DemoEvent) -> None: ...


def print_json_line(happening: DemoEvent) -> None:
    sys.stdout.write(json.dumps(serialize_event(happening), ensure_ascii=False) + "\n")
    sys.stdout.flush()


@contextmanager
def show_lines(console: Console, *, kept: bool) -> Iterator[Show]:
    """A few plain lines for what happens."""
    print_lines(console, opening_lines())

    def show(happening: DemoEvent) -> None:
        if isinstance(happening, TurnEvent):
            if happening.turn % _METER_EVERY == 0:
                print_lines(console, [describe_meter(happening)])
        else:
            print_event(console, happening, kept=kept)

    yield show


@contextmanager
def show_live(console: Console, *, kept: bool) -> Iterator[Show]:
    """The newest turn and its window stay below, what happened goes by above them."""
    print_lines(console, [*opening_lines(), ""])
    with Live(console=console, auto_refresh=False, transient=True) as live:

        def show(happening: DemoEvent) -> None:
            if isinstance(happening, TurnEvent):
                live.update(render_frame(happening, console.width), refresh=True)
            elif isinstance(happening, EndEvent):
                live.stop()
                print_event(console, happening, kept=kept)
            else:
                print_event(live.console, happening, kept=kept)

        yield show


def print_event(console: Console, happening: DemoEvent, *, kept: bool) -> None:
    if isinstance(happening, AnswerEvent):
        style = "bold green" if happening.right else "bold red"
        print_lines(console, ["", *describe_answer(happening), ""], style)
    elif isinstance(happening, EndEvent):
        print_end(console, happening, kept=kept)
    elif told := describe_event(happening):
        print_lines(console, [told], _STYLES.get(type(happening), ""))


def print_end(console: Console, end: EndEvent, *, kept: bool) -> None:
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in final_figures(end):
        table.add_row(Text(name), Text(value, style="bold"))
    console.print(table)
    console.print()
    print_lines(console, closing_lines(end, kept=kept))


def render_frame(turned: TurnEvent, width: int) -> Group:
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
    said = [Text(shorten(f"{who}: {text}", width - 1)) for who, text in texts]
    header = Text(describe_meter(turned), style="bold")
    return Group(Text(), header, draw_bar(rows, turned.window, max(20, width - 2)), names, *said)


def print_lines(console: Console, lines: list[str], style: str = "") -> None:
    console.print(Text("\n".join(lines), style=style))
