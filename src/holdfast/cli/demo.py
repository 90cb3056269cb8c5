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

from holdfast.cli.kept import Json
from holdfast.cli.output import console, load
from holdfast.i18n import Language, say

if TYPE_CHECKING:
    from holdfast.demo.happening import Happening
    from holdfast.demo.showing import Show

# Seconds to look at what happened, and when there is no more time for looking.
_PAUSES = {"turn": 0.25, "level": 0.8, "memory": 0.3, "recall": 0.4, "answer": 1.5}
_PATIENCE = 70.0
_PREFIX = "holdfast-demo-"


class Tongue(StrEnum):
    en = "en"
    de = "de"


def demo(
    context: typer.Context,
    language: Annotated[
        Tongue | None, typer.Option(help="The language of the talk, instead of your own.")
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="No pauses to look at it.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the data folder, and say where it is.")] = False,
    as_json: Json = False,
) -> None:
    """Watch a talk of 120 turns in a window of 8,192 tokens; exit code 1 if something was forgotten.

    Nothing is needed for it, and nothing of it is left behind. The model is scripted, all else is real.
    """
    settings = load(context, language=language).settings
    # Nothing but the embedder in this package: a demonstration asks no server.
    embedder = "off" if settings.embedder == "off" else "embedded"
    watched = sys.stdout.isatty() and not as_json
    with _home(keep=keep) as home, _shown(as_json=as_json, watched=watched, kept=keep) as show:
        well = asyncio.run(_performed(home, embedder, show, paced() if watched and not fast else _at_once))
    if not well:
        raise typer.Exit(1)


async def _performed(home: Path, embedder: str, show: "Show", rest: "Callable[[Happening], float]") -> bool:
    """Whether it ended well."""
    from holdfast.demo.happening import Ended
    from holdfast.demo.performing import perform
    from holdfast.demo.talk import talk_in

    well = False
    with _as_meant():
        async with aclosing(perform(talk_in(_spoken()), home, embedder)) as happenings:
            async for happening in happenings:
                show(happening)
                well = isinstance(happening, Ended) and happening.well
                await asyncio.sleep(rest(happening))
    return well


def _spoken() -> Language:
    return "de" if say("en", "de") == "de" else "en"


def _shown(*, as_json: bool, watched: bool, kept: bool) -> "AbstractContextManager[Show]":
    from holdfast.demo.showing import alive, in_json, in_lines

    if as_json:
        return nullcontext(in_json)
    if not watched:
        return in_lines(console, kept=kept)
    # A picture that is drawn anew has to know where its lines end.
    from rich.console import Console

    return alive(Console(highlight=False, emoji=False), kept=kept)


@contextmanager
def _home(*, keep: bool) -> Iterator[Path]:
    """A data folder for this alone."""
    if keep:
        yield Path(tempfile.mkdtemp(prefix=_PREFIX))
        return
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@contextmanager
def _as_meant() -> Iterator[None]:
    """That the scripted model declines to help is meant, and said at the beginning: it is no warning."""
    log = logging.getLogger("holdfast.compaction")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


def paced(clock: Callable[[], float] = time.monotonic) -> "Callable[[Happening], float]":
    """Seconds to look at what happened, as long as there is time."""
    from holdfast.demo.happening import name_of

    began = clock()

    def rest(happening: "Happening") -> float:
        left = began + _PATIENCE - clock()
        return max(0.0, min(_PAUSES.get(name_of(happening), 0.0), left))

    return rest


def _at_once(_: "Happening") -> float:
    return 0.0
