"""`holdfast demo`: run the demonstration of `holdfast.demo` in a language and at a pace, and display it."""

import asyncio
import json
import logging
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, aclosing, contextmanager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from holdfast.cli.shared import JsonOption, console, load
from holdfast.cli.window import FILLS, draw_bar
from holdfast.demo.performance import (
    QUOTED,
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
from holdfast.i18n import Language, pgettext
from holdfast.i18n import gettext as _
from holdfast.window import sentences

if TYPE_CHECKING:
    from holdfast.demo.performance import DemoEvent


# Seconds of pause after each kind of event, and the limit for all pauses.
_PAUSES = {"turn": 0.25, "level": 0.8, "memory": 0.3, "recall": 0.4, "answer": 1.5}
_MAX_SECONDS = 70.0
_PREFIX = "holdfast-demo-"


class DemoLanguage(StrEnum):
    en = "en"
    de = "de"


def demo(
    context: typer.Context,
    language: Annotated[
        DemoLanguage | None, typer.Option(help="The language of the talk, instead of your own.")
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="No pauses to look at it.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the data folder, and say where it is.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Watch a talk of 120 turns in a window of 8,192 tokens; exit code 1 if something was forgotten.

    Nothing is needed for it, and nothing of it is left behind. The model is scripted, all else is real.
    """
    settings = load(context, language=language).settings
    # Only the built-in embedder: a demonstration contacts no server.
    embedder = "off" if settings.embedder == "off" else "embedded"
    watched = sys.stdout.isatty() and not as_json
    with temporary_home(keep=keep) as home, open_show(as_json=as_json, watched=watched, keep=keep) as show:
        well = asyncio.run(run_demo(home, embedder, show, make_pacer() if watched and not fast else no_pause))
    if not well:
        raise typer.Exit(1)


async def run_demo(home: Path, embedder: str, show: "Show", pause: "Callable[[DemoEvent], float]") -> bool:
    """Run the demonstration; return whether everything was remembered and fitted."""
    from holdfast.demo.performance import EndEvent, load_script, perform

    well = False
    with mute_compaction_warnings():
        async with aclosing(perform(load_script(current_language()), home, embedder)) as events:
            async for event in events:
                show(event)
                well = isinstance(event, EndEvent) and event.well
                await asyncio.sleep(pause(event))
    return well


def current_language() -> Language:
    return "de" if _("en") == "de" else "en"


def open_show(*, as_json: bool, watched: bool, keep: bool) -> "AbstractContextManager[Show]":

    if as_json:
        return nullcontext(print_json_line)
    if not watched:
        return show_lines(console, keep=keep)
    # A live display has to wrap its lines itself.
    from rich.console import Console

    return show_live(Console(highlight=False, emoji=False), keep=keep)


@contextmanager
def temporary_home(*, keep: bool) -> Iterator[Path]:
    """Yield a data folder for the demonstration, deleted afterwards unless it is to be kept."""
    if keep:
        yield Path(tempfile.mkdtemp(prefix=_PREFIX))
        return
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@contextmanager
def mute_compaction_warnings() -> Iterator[None]:
    """Silence warnings about missing summaries: the scripted model declines them on purpose."""
    log = logging.getLogger("holdfast.compaction")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


def make_pacer(clock: Callable[[], float] = time.monotonic) -> "Callable[[DemoEvent], float]":
    """Return a function that gives the pause after an event in seconds, within a limit for all of them."""
    from holdfast.demo.performance import event_name

    began = clock()

    def rest(event: "DemoEvent") -> float:
        left = began + _MAX_SECONDS - clock()
        return max(0.0, min(_PAUSES.get(event_name(event), 0.0), left))

    return rest


def no_pause(_: "DemoEvent") -> float:
    return 0.0


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
            known = _("free") if name == "free" else sentences.section(name)
            names.append(f"{fill} ", style=style)
            names.append(f"{known} {sentences.number(tokens)}   ", style="dim")
    texts = ((_("You"), turned.said), (_("Model"), turned.answer))
    speech = [Text(shorten(f"{who}: {text}", width - 1)) for who, text in texts]
    header = Text(describe_meter(turned), style="bold")
    return Group(Text(), header, draw_bar(rows, turned.window, max(20, width - 2)), names, *speech)


def print_lines(console: Console, lines: list[str], style: str = "") -> None:
    console.print("\n".join(lines), style=style)


def opening_lines() -> list[str]:
    return [
        _("A talk of 120 turns, in a window of 8,192 tokens: all of it real but the model."),
        _("That is scripted. What the script has no answer for, it can only find in what it is sent."),
        _("It writes no summaries and no memories: both are made by rules, without a model."),
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
    return _(
        "turn {turn} of {turns}: {tokens} of {room} tokens ({share}), {level}; all that was said: {whole}"
    ).format(
        turn=turned.turn,
        turns=turned.turns,
        tokens=number(turned.tokens),
        room=number(turned.room),
        share=share,
        level=sentences.level(turned.level),
        whole=number(turned.whole),
    )


def describe_answer(event: AnswerEvent) -> list[str]:
    """Describe a question, its answer, and where that came from."""
    asked = _("Turn") + f" {event.turn}" if event.turn else _("New conversation")
    verdict = _("known") if event.right else _("NOT known")
    return [
        f"{asked}: {event.question}",
        f"  → {event.answer}",
        f"  {verdict}, {describe_origin(event.origin)}",
    ]


def describe_origin(origin: Origin) -> str:
    said_in = _("said in turn {turn}").format(turn=origin.turn)
    match origin.place:
        case "window":
            return _("word for word in the window, {said_in}").format(said_in=said_in)
        case "rule":
            return _("a rule, kept word for word")
        case "decision":
            return _("a decision, kept word for word")
        case "ledger":
            return _("the ledger of the summary")
        case "summary":
            return _("the summary")
        case "log":
            return _("brought back from the log, {said_in}").format(said_in=said_in)
        case "memory":
            return _("a memory, {note}").format(note=origin.note)
        case "nowhere":
            return _("nothing it was sent says so")


def final_figures(end: EndEvent) -> list[tuple[str, str]]:
    """Return the totals as names and values."""
    number = sentences.number
    left = end.messages - end.cut
    return [
        (_("turns"), number(end.turns)),
        (_("tokens said in all"), number(end.said)),
        (_("window, less the reserve for the answer"), f"{number(end.window)}, {number(end.room)}"),
        (_("largest request"), number(end.largest)),
        (
            _("tokens sent in all"),
            _("{sent}; everything every time would be {resent}").format(
                sent=number(end.sent), resent=number(end.resent)
            ),
        ),
        (
            _("shortened, left out, summarised"),
            " · ".join(f"{end.levels.get(level, 0)}×" for level in (1, 2, 3)),
        ),
        (_("memories written"), number(end.memories)),
        (_("turns with something brought back"), number(end.recalls)),
        (
            _("questions about earlier things, known"),
            _("{right} of {asked}").format(right=end.right, asked=end.asked),
        ),
        (
            _("without Holdfast"),
            _("the oldest {cut} of {messages} messages would have been cut, {left} kept").format(
                cut=end.cut, messages=end.messages, left=left
            ),
        ),
        (_("seconds"), f"{end.seconds:g}"),
    ]


def closing_lines(end: EndEvent, *, keep: bool) -> list[str]:
    """Return the verdict, and which commands to try next."""
    trouble = []
    if end.largest > end.room:
        trouble.append(_("A request was too large."))
    if end.right < end.asked:
        trouble.append(_("Not everything was remembered."))
    well = _("Every request fitted, and everything that was asked for was there.")
    look = (
        (f"holdfast --home {end.home} memory list --project default", _("what was kept"))
        if keep
        else ("holdfast doctor", _("whether all is well here"))
    )
    commands = (
        ("holdfast serve", _("a page, and a server for your clients")),
        ("holdfast chat", _("talk with a model of your own")),
        look,
    )
    width = max(len(command) for command, _unused in commands)
    return [
        *(trouble or [well]),
        "",
        _("What next:"),
        *(f"  {command:<{width}}  {about}" for command, about in commands),
    ]


def shorten(text: str, width: int = _WIDTH) -> str:
    """Return a text as one line of limited width."""
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1].rstrip()}…"


def describe_level(worked: LevelEvent) -> str:
    number = sentences.number
    tokens = f"{number(worked.before)} → {number(worked.after)} " + _("tokens")
    action = {1: _("shortened"), 2: _("left out"), 3: _("summarised")}.get(
        worked.level, sentences.level(worked.level)
    )
    way = f" ({sentences.way(worked.way)})" if worked.way else ""
    plural = worked.messages != 1
    messages = f"{worked.messages} " + (_("messages") if plural else _("message"))
    return prefix_turn(worked.turn, f"{_('level')} {worked.level}, {action}: {messages}, {tokens}{way}")


def describe_recall(recalled: RecallEvent) -> str:
    """Describe the first line that was recalled, and where everything recalled came from."""
    places = ", ".join(dict.fromkeys(origin_label(origin) for origin in recalled.origins))
    first = next((row for row in recalled.text.splitlines() if row.startswith("- ")), recalled.text)
    return _("brought back") + f" ({places}): {QUOTED.sub('', first)}"


def origin_label(origin: Origin) -> str:
    return _("turn") + f" {origin.turn}" if origin.turn else origin.note


def change_label(name: str) -> str:
    changes = {
        "added": _("remembered"),
        "updated": pgettext("memory", "brought up to date"),
        "superseded": _("no longer true"),
    }
    return changes.get(name, name)


def prefix_turn(turn: int, text: str) -> str:
    return shorten(_("turn {turn:>3}").format(turn=turn) + f"  {text}")
