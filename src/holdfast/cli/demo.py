"""`holdfast demo`: choose language, pace and display of the demonstration in `holdfast.demo`, and run it."""

import asyncio
import logging
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, aclosing, contextmanager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.options import JsonOption
from holdfast.cli.output import console, load
from holdfast.i18n import Language
from holdfast.i18n import gettext as _

if TYPE_CHECKING:
    from holdfast.demo.performance import DemoEvent
    from holdfast.demo.show import Show

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
    from holdfast.demo.performance import EndEvent, perform
    from holdfast.demo.script import load_script

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
    from holdfast.demo.show import print_json_line, show_lines, show_live

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
