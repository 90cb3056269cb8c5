"""`holdfast demo`: a long talk in a small window, and what is known of it at the end.

Chooses language, pace and way of showing; what happens is in `holdfast.demo`.
"""

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
from holdfast.i18n import Language, say

if TYPE_CHECKING:
    from holdfast.demo.events import DemoEvent
    from holdfast.demo.show import Show

# Seconds to look at what happened, and when there is no more time for looking.
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
    # Nothing but the embedder in this package: a demonstration asks no server.
    embedder = "off" if settings.embedder == "off" else "embedded"
    watched = sys.stdout.isatty() and not as_json
    with temporary_home(keep=keep) as home, open_show(as_json=as_json, watched=watched, keep=keep) as show:
        well = asyncio.run(run_demo(home, embedder, show, make_pacer() if watched and not fast else no_pause))
    if not well:
        raise typer.Exit(1)


async def run_demo(home: Path, embedder: str, show: "Show", pause: "Callable[[DemoEvent], float]") -> bool:
    """Whether it ended well."""
    from holdfast.demo.events import EndEvent
    from holdfast.demo.performance import perform
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
    return "de" if say("en", "de") == "de" else "en"


def open_show(*, as_json: bool, watched: bool, keep: bool) -> "AbstractContextManager[Show]":
    from holdfast.demo.show import print_json_line, show_lines, show_live

    if as_json:
        return nullcontext(print_json_line)
    if not watched:
        return show_lines(console, keep=keep)
    # A picture that is drawn anew has to know where its lines end.
    from rich.console import Console

    return show_live(Console(highlight=False, emoji=False), keep=keep)


@contextmanager
def temporary_home(*, keep: bool) -> Iterator[Path]:
    """A data folder for this alone."""
    if keep:
        yield Path(tempfile.mkdtemp(prefix=_PREFIX))
        return
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@contextmanager
def mute_compaction_warnings() -> Iterator[None]:
    """That the scripted model declines to help is meant, and said at the beginning: it is no warning."""
    log = logging.getLogger("holdfast.compaction")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


def make_pacer(clock: Callable[[], float] = time.monotonic) -> "Callable[[DemoEvent], float]":
    """Seconds to look at what happened, as long as there is time."""
    from holdfast.demo.events import event_name

    began = clock()

    def rest(event: "DemoEvent") -> float:
        left = began + _MAX_SECONDS - clock()
        return max(0.0, min(_PAUSES.get(event_name(event), 0.0), left))

    return rest


def no_pause(_: "DemoEvent") -> float:
    return 0.0
