"""How the demonstration is displayed: live on a terminal, as lines elsewhere, as JSON for programs."""

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
from holdfast.demo.events import (
    AnswerEvent,
    DemoEvent,
    EndEvent,
    LevelEvent,
    MemoryEvent,
    Origin,
    RecallEvent,
    TurnEvent,
    serialize_event,
)
from holdfast.demo.model import QUOTED
from holdfast.i18n import say
from holdfast.window import sentences

# The width that texts are shortened to.
_WIDTH = 96
_STYLES: dict[type, str] = {LevelEvent: "bold yellow", MemoryEvent: "magenta", RecallEvent: "cyan"}
# Without a terminal, the meter is printed every so many turns.
_METER_EVERY = 20


class Show(Protocol):
    def __call__(self, event: DemoEvent) -> None: ...


def print_json_line(event: DemoEvent) -> None:
    sys.stdout.write(json.dumps(serialize_event(event), ensure_ascii=False) + "\n")
    sys.stdout.flush()


@contextmanager
def show_lines(console: Console, *, keep: bool) -> Iterator[Show]:
    """Print a few plain lines for the events."""
    print_lines(console, opening_lines())

    def show(event: DemoEvent) -> None:
        if isinstance(event, TurnEvent):
            if event.turn % _METER_EVERY == 0:
                print_lines(console, [describe_meter(event)])
        else:
            print_event(console, event, keep=keep)

    yield show


@contextmanager
def show_live(console: Console, *, keep: bool) -> Iterator[Show]:
    """Keep the newest turn and its window at the bottom, with the events scrolling above."""
    print_lines(console, [*opening_lines(), ""])
    with Live(console=console, auto_refresh=False, transient=True) as live:

        def show(event: DemoEvent) -> None:
            if isinstance(event, TurnEvent):
                live.update(render_frame(event, console.width), refresh=True)
            elif isinstance(event, EndEvent):
                live.stop()
                print_event(console, event, keep=keep)
            else:
                print_event(live.console, event, keep=keep)

        yield show


def print_event(console: Console, event: DemoEvent, *, keep: bool) -> None:
    if isinstance(event, AnswerEvent):
        style = "bold green" if event.right else "bold red"
        print_lines(console, ["", *describe_answer(event), ""], style)
    elif isinstance(event, EndEvent):
        print_end(console, event, keep=keep)
    elif text := describe_event(event):
        print_lines(console, [text], _STYLES.get(type(event), ""))


def print_end(console: Console, end: EndEvent, *, keep: bool) -> None:
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in final_figures(end):
        table.add_row(Text(name), Text(value, style="bold"))
    console.print(table)
    console.print()
    print_lines(console, closing_lines(end, keep=keep))


def render_frame(turned: TurnEvent, width: int) -> Group:
    """Render the window as a bar with the names of its sections, and the turn below it."""
    free = max(0, turned.window - sum(turned.sections.values()))
    rows = [*turned.sections.items(), ("free", free)]
    names = Text()
    for name, tokens in rows:
        # Sections too small to be seen in the bar are not named.
        if tokens * width >= turned.window:
            fill, style = FILLS[name]
            known = say("free", "frei") if name == "free" else sentences.section(name)
            names.append(f"{fill} ", style=style)
            names.append(f"{known} {sentences.number(tokens)}   ", style="dim")
    texts = ((say("You", "Sie"), turned.said), (say("Model", "Modell"), turned.answer))
    speech = [Text(shorten(f"{who}: {text}", width - 1)) for who, text in texts]
    header = Text(describe_meter(turned), style="bold")
    return Group(Text(), header, draw_bar(rows, turned.window, max(20, width - 2)), names, *speech)


def print_lines(console: Console, lines: list[str], style: str = "") -> None:
    console.print(Text("\n".join(lines), style=style))


def opening_lines() -> list[str]:
    return [
        say(
            "A talk of 120 turns, in a window of 8,192 tokens: all of it real but the model.",
            "Ein Gespräch von 120 Zügen, in einem Fenster von 8.192 Token: alles echt außer dem Modell.",
        ),
        say(
            "That is scripted. What the script has no answer for, it can only find in what it is sent.",
            "Das spielt ein Skript. Was dort nicht steht, kann es nur in dem finden, was es bekommt.",
        ),
        say(
            "It writes no summaries and no memories: both are made by rules, without a model.",
            "Zusammenfassungen und Erinnerungen schreibt es nicht: Beides entsteht nach Regeln, ohne Modell.",
        ),
    ]


def describe_event(event: DemoEvent) -> str:
    """Describe an event in one line; empty for those that are drawn instead."""
    match event:
        case LevelEvent():
            return describe_level(event)
        case MemoryEvent():
            return prefix_turn(event.turn, f"{change_label(event.change)}: {event.text}")
        case RecallEvent():
            return prefix_turn(event.turn, describe_recall(event))
        case _:
            return ""


def describe_meter(turned: TurnEvent) -> str:
    """Describe how full the window is."""
    number = sentences.number
    share = f"{turned.tokens / turned.room:.0%}"
    return say(
        f"turn {turned.turn} of {turned.turns}: {number(turned.tokens)} of {number(turned.room)} tokens "
        f"({share}), {sentences.level(turned.level)}; all that was said: {number(turned.whole)}",
        f"Zug {turned.turn} von {turned.turns}: {number(turned.tokens)} von {number(turned.room)} Token "
        f"({share}), {sentences.level(turned.level)}; alles Gesagte: {number(turned.whole)}",
    )


def describe_answer(event: AnswerEvent) -> list[str]:
    """Describe a question, its answer, and where that came from."""
    asked = say("Turn", "Zug") + f" {event.turn}" if event.turn else say("New conversation", "Neues Gespräch")
    verdict = say("known", "gewusst") if event.right else say("NOT known", "NICHT gewusst")
    return [
        f"{asked}: {event.question}",
        f"  → {event.answer}",
        f"  {verdict}, {describe_origin(event.origin)}",
    ]


def describe_origin(origin: Origin) -> str:
    said_in = say(f"said in turn {origin.turn}", f"gesagt in Zug {origin.turn}")
    match origin.place:
        case "window":
            return say(f"word for word in the window, {said_in}", f"wörtlich im Fenster, {said_in}")
        case "rule":
            return say("a rule, kept word for word", "eine Regel, wörtlich bewahrt")
        case "decision":
            return say("a decision, kept word for word", "eine Entscheidung, wörtlich bewahrt")
        case "ledger":
            return say("the ledger of the summary", "das Verzeichnis der Zusammenfassung")
        case "summary":
            return say("the summary", "die Zusammenfassung")
        case "log":
            return say(f"brought back from the log, {said_in}", f"aus dem Protokoll geholt, {said_in}")
        case "memory":
            return say(f"a memory, {origin.note}", f"eine Erinnerung, {origin.note}")
        case "nowhere":
            return say("nothing it was sent says so", "nichts, was es bekam, sagt es")


def final_figures(end: EndEvent) -> list[tuple[str, str]]:
    """Return the totals as names and values."""
    number = sentences.number
    left = end.messages - end.cut
    return [
        (say("turns", "Züge"), number(end.turns)),
        (say("tokens said in all", "Token insgesamt gesagt"), number(end.said)),
        (
            say("window, less the reserve for the answer", "Fenster, ohne die Reserve für die Antwort"),
            f"{number(end.window)}, {number(end.room)}",
        ),
        (say("largest request", "größte Anfrage"), number(end.largest)),
        (
            say("tokens sent in all", "Token insgesamt gesendet"),
            say(
                f"{number(end.sent)}; everything every time would be {number(end.resent)}",
                f"{number(end.sent)}; jedes Mal alles wären {number(end.resent)}",
            ),
        ),
        (
            say("shortened, left out, summarised", "gekürzt, weggelassen, zusammengefasst"),
            " · ".join(f"{end.levels.get(level, 0)}×" for level in (1, 2, 3)),
        ),
        (say("memories written", "Erinnerungen geschrieben"), number(end.memories)),
        (say("turns with something brought back", "Züge, zu denen etwas geholt wurde"), number(end.recalls)),
        (
            say("questions about earlier things, known", "Fragen nach Früherem, gewusst"),
            say(f"{end.right} of {end.asked}", f"{end.right} von {end.asked}"),
        ),
        (
            say("without Holdfast", "ohne Holdfast"),
            say(
                f"the oldest {end.cut} of {end.messages} messages would have been cut, {left} kept",
                f"die ältesten {end.cut} von {end.messages} Nachrichten wären abgeschnitten, {left} noch da",
            ),
        ),
        (say("seconds", "Sekunden"), f"{end.seconds:g}"),
    ]


def closing_lines(end: EndEvent, *, keep: bool) -> list[str]:
    """Return the verdict, and which commands to try next."""
    trouble = []
    if end.largest > end.room:
        trouble.append(say("A request was too large.", "Eine Anfrage war zu groß."))
    if end.right < end.asked:
        trouble.append(say("Not everything was remembered.", "Nicht alles wurde behalten."))
    well = say(
        "Every request fitted, and everything that was asked for was there.",
        "Jede Anfrage passte, und alles, wonach gefragt wurde, war da.",
    )
    look = (
        (f"holdfast --home {end.home} memory list --project default", say("what was kept", "was bleibt"))
        if keep
        else ("holdfast doctor", say("whether all is well here", "ob hier alles in Ordnung ist"))
    )
    commands = (
        ("holdfast serve", say("a page, and a server for your clients", "Seite, und Server für Programme")),
        ("holdfast chat", say("talk with a model of your own", "mit einem eigenen Modell sprechen")),
        look,
    )
    width = max(len(command) for command, _ in commands)
    return [
        *(trouble or [well]),
        "",
        say("What next:", "Wie weiter:"),
        *(f"  {command:<{width}}  {about}" for command, about in commands),
    ]


def shorten(text: str, width: int = _WIDTH) -> str:
    """Return a text as one line of limited width."""
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1].rstrip()}…"


def describe_level(worked: LevelEvent) -> str:
    number = sentences.number
    tokens = f"{number(worked.before)} → {number(worked.after)} " + say("tokens", "Token")
    action = {
        1: say("shortened", "gekürzt"),
        2: say("left out", "weggelassen"),
        3: say("summarised", "zusammengefasst"),
    }.get(worked.level, sentences.level(worked.level))
    way = f" ({sentences.way(worked.way)})" if worked.way else ""
    plural = worked.messages != 1
    messages = f"{worked.messages} " + (
        say("messages", "Nachrichten") if plural else say("message", "Nachricht")
    )
    return prefix_turn(
        worked.turn, f"{say('level', 'Stufe')} {worked.level}, {action}: {messages}, {tokens}{way}"
    )


def describe_recall(recalled: RecallEvent) -> str:
    """Describe the first line that was recalled, and where everything recalled came from."""
    places = ", ".join(dict.fromkeys(origin_label(origin) for origin in recalled.origins))
    first = next((row for row in recalled.text.splitlines() if row.startswith("- ")), recalled.text)
    return say("brought back", "geholt") + f" ({places}): {QUOTED.sub('', first)}"


def origin_label(origin: Origin) -> str:
    return say("turn", "Zug") + f" {origin.turn}" if origin.turn else origin.note


def change_label(name: str) -> str:
    changes = {
        "added": say("remembered", "gemerkt"),
        "updated": say("brought up to date", "auf den neuen Stand gebracht"),
        "superseded": say("no longer true", "gilt nicht mehr"),
    }
    return changes.get(name, name)


def prefix_turn(turn: int, text: str) -> str:
    return shorten(say(f"turn {turn:>3}", f"Zug {turn:>3}") + f"  {text}")
