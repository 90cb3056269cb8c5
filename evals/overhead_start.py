"""How long it takes until somebody can be asked, and what it costs to have it there unasked."""

import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from evals.overhead_client import Contestant, RunningProxy, chat_of, holdfast, running
from evals.overhead_latency import TURNS, WORDS
from evals.window_rows import Row, progress

PART = "start"
_MOST_SECONDS, _MOST_MEGABYTES = 1.5, 150.0
_OURS = "Holdfast"
# Enough is said in them to have something to do afterwards.
_CHATS = 3
# Seconds without a request, in which idleness is looked at.
IDLE = 10.0


def rows(
    peers: Sequence[Contestant], settings: Mapping[str, str], *, tries: int, idle: float = IDLE
) -> Iterator[Row]:
    """The first start has to make what later ones find; protocols make no difference here."""
    contestants = [holdfast(settings=settings)[0], *peers]
    seconds: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for number in range(tries + 1):
            progress(f"{PART}: {number + 1} of {tries + 1}")
            for contestant in contestants:
                home = Path(folder) / contestant.name
                home.mkdir(exist_ok=True)
                with running(contestant, words=WORDS, home=home) as server:
                    seconds[contestant.case].append(server.ready)
        for contestant in contestants:
            first, *again = seconds[contestant.case]
            yield from _start_rows(contestant, first, again)
            with running(contestant, words=WORDS, home=Path(folder) / contestant.name) as server:
                yield from _idle(contestant, server, idle)


def _start_rows(contestant: Contestant, first: float, again: Sequence[float]) -> Iterator[Row]:
    ours = contestant.name == _OURS
    usual = median(again)
    target, met = (f"under {_MOST_SECONDS} s", usual < _MOST_SECONDS) if ours else ("", None)
    yield Row(PART, "until it can be asked", contestant.name, usual, "s", target, met)
    yield Row(PART, "the very first time", contestant.name, first, "s")


def _idle(contestant: Contestant, item: RunningProxy, idle: float) -> Iterator[Row]:
    time.sleep(idle)
    usage = item.usage()
    yield _memory("idle after its start", contestant, usage.rss, usage.children_rss)
    with item.line() as line:
        for number in range(_CHATS):
            for messages in chat_of(number, TURNS, WORDS):
                line.chat(contestant.path, messages, WORDS)
    # Longer: what is done when nobody asks any more begins late, and may need processes of its own.
    time.sleep(_CHATS * idle)
    before = item.usage()
    yield _memory(f"idle after {_CHATS * TURNS} requests", contestant, before.rss, before.children_rss)
    time.sleep(idle)
    after = item.usage()
    used = after.own + after.children - before.own - before.children
    yield Row(PART, "processor while idle", contestant.name, 1000 * used / idle, "ms a second")


def _memory(what: str, contestant: Contestant, own: float, children: float) -> Row:
    ours = contestant.name == _OURS
    case = f"{contestant.name}, {children:,.0f} MB in children" if children else contestant.name
    target, met = (
        (f"under {_MOST_MEGABYTES:.0f} MB", own + children < _MOST_MEGABYTES) if ours else ("", None)
    )
    return Row(PART, what, case, own + children, "MB", target, met)
