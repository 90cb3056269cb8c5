"""`python -m evals.scale [--sizes N,…] [--rounds N] [--json] [--write]`: does it stay quick as it grows?

A store of so many messages, a hundred to a conversation, is filled in process, and `holdfast serve` is
started on it in front of an upstream that answers at once. Measured from outside: a first message, a turn in
a chat, the list, a search, a request that resends a whole history, a memory that is added, and what the
process takes.
The embedder is off, so a size is messages and words; `evals.recall_speed` has vectors. `--write` puts the
table into results/ and a plot into docs/images/.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import count
from math import ceil, floor, log10
from pathlib import Path
from random import Random
from statistics import median
from urllib.parse import quote

from evals.overhead_client import OLLAMA, Faulty, Json, Line, RunningProxy, holdfast, running
from evals.overhead_latency import WORDS
from evals.overhead_upstream import speak
from evals.window_rows import Row, print_rows, progress, table
from holdfast.messages import Message, Role, Scope
from holdfast.store import NewMessage, Store, open_store

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _LEGEND = 760, 420, 70, 50, 20, 220
_COLOURS = ("#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#0891b2", "#4b5563", "#db2777")


@dataclass(frozen=True, slots=True)
class Series:
    """A named line through points (x, y), both above 0."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class _Axis:
    """A logarithmic axis over whole powers of ten, on so many pixels from `start`."""

    low: int
    high: int
    start: float
    length: float

    def place(self, value: float) -> float:
        return self.start + self.length * (log10(value) - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[float]:
        return [10.0**power for power in range(self.low, self.high + 1)]


def _axis(values: Sequence[float], start: float, length: float) -> _Axis:
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    return _Axis(low, max(high, low + 1), start, length)


def draw_plot(series: Sequence[Series], across: str, up: str) -> str:
    """Returns the picture; `across` and `up` name the axes."""
    points = [point for each in series for point in each.points if min(point) > 0]
    x = _axis([point[0] for point in points], _LEFT, _WIDTH - _LEFT - _LEGEND)
    y = _axis([point[1] for point in points], _HEIGHT - _BOTTOM, -(_HEIGHT - _BOTTOM - _TOP))
    right, bottom = _WIDTH - _LEGEND, _HEIGHT - _BOTTOM
    box = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="12"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box}>',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
    ]
    for tick in x.ticks:
        at = x.place(tick)
        lines.append(f'<path d="M{at:.1f} {_TOP}V{bottom}" stroke="#e5e7eb"/>')
        lines.append(f'<text x="{at:.1f}" y="{bottom + 18}" text-anchor="middle">{tick:,.0f}</text>')
    for tick in y.ticks:
        at = y.place(tick)
        lines.append(f'<path d="M{_LEFT} {at:.1f}H{right}" stroke="#e5e7eb"/>')
        lines.append(f'<text x="{_LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{tick:,g}</text>')
    for number, each in enumerate(series):
        colour = _COLOURS[number % len(_COLOURS)]
        places = [(x.place(a), y.place(b)) for a, b in each.points if min(a, b) > 0]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
        lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        lines += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in places]
        row = _TOP + 20 * number + 10
        lines.append(f'<rect x="{right + 15}" y="{row - 9}" width="12" height="12" fill="{colour}"/>')
        lines.append(f'<text x="{right + 33}" y="{row + 2}">{escape(each.name)}</text>')
    middle = (_LEFT + right) / 2
    lines.append(f'<text x="{middle:.0f}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(across)}</text>')
    lines.append(f'<text x="14" y="{_TOP - 6}">{escape(up)}</text>')
    return "\n".join([*lines, "</svg>", ""])


PART = "scale"
SIZES = (10_000, 100_000)
_ROUNDS = 20
_MESSAGES_A_CHAT = 100
_RESENT = 10_000
_RESULTS = Path(__file__).parent / "results"
_PLOT = Path(__file__).parents[1] / "docs" / "images" / "scale.svg"
# The most milliseconds, whatever the size; None where the smallest size is the measure.
_LIMITS: dict[str, float | None] = {
    "first message": None,
    "turn in a chat": None,
    "list of chats": None,
    "search": None,
    f"{_RESENT:,} messages resent": 150.0,
    "memory added": 50.0,
    "first answer after a start": 1_000.0,
}
# A larger store may take so many times as long as the smallest.
_GROWTH = 2.0

_WORDS = (
    *(
        "budget",
        "server",
        "garden",
        "invoice",
        "meeting",
        "printer",
        "ticket",
        "customer",
        "release",
        "backup",
    ),
    *("kitchen", "train", "hotel", "contract", "router", "report", "camera", "holiday", "bicycle", "teacher"),
    *(
        "Angebot",
        "Rechnung",
        "Termin",
        "Kunde",
        "Drucker",
        "Fahrrad",
        "Urlaub",
        "Vertrag",
        "Bericht",
        "Lager",
    ),
)


def make_texts(seed: int) -> Iterator[str]:
    """Sentences that people could have said, no two the same."""
    random = Random(seed)
    for number in count(1):
        first, second, third = random.sample(_WORDS, 3)
        yield (
            f"Number {number}: the {first} for case {random.randint(1, 99_999)} goes with the {second}, "
            f"and the {third} waits until week {random.randint(1, 52)}. Nobody has decided about it yet."
        )


def fill(store: Store, size: int) -> None:
    """Puts conversations with so many messages into a store, indexed."""
    texts = make_texts(7)
    roles: tuple[Role, Role] = ("user", "assistant")
    for _ in range(max(1, size // _MESSAGES_A_CHAT)):
        conversation = store.log.create(Scope())
        messages = [
            NewMessage(Message.of(role, next(texts))) for _ in range(_MESSAGES_A_CHAT // 2) for role in roles
        ]
        store.log.append(conversation.id, messages, parent=None, expect=None)
    store.texts.catch_up()


class Client:
    """Asks a running server, each question over a connection of its own, and takes the milliseconds."""

    def __init__(self, server: RunningProxy) -> None:
        self._server = server
        self._numbers = count(1)

    def send_first(self) -> float:
        number = next(self._numbers)
        return self._chat([_say(f"Letter {number}: what about the invoice of case {number * 7}?")])

    def send_turn(self, history: list[Json]) -> float:
        history.append(_say(f"And what about point {next(self._numbers)} of it?"))
        taken = self._chat(history)
        history.append({"role": "assistant", "content": "".join(speak(WORDS))})
        return taken

    def get(self, path: str) -> float:
        with self._server.line() as line:
            return _time(lambda: _expect_ok(line, path))

    def add_memory(self) -> float:
        number = next(self._numbers)
        with self._server.line() as line:
            return _time(lambda: line.post("/api/memory", {"text": f"The gate of hall {number} is green."}))

    def _chat(self, messages: Sequence[Json]) -> float:
        with self._server.line() as line:
            return line.chat(OLLAMA, messages, WORDS).first


def _say(text: str) -> Json:
    return {"role": "user", "content": text}


def _time(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - began)


def _expect_ok(line: Line, path: str) -> None:
    status, body = line.get(path)
    if status != 200:
        raise Faulty(f"{path}: {status} {body}")


def measure(size: int, rounds: int) -> tuple[dict[str, float], float]:
    """Returns the median milliseconds of each kind of request over a store of this size, and megabytes."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        progress(f"{PART}: {size:,} messages are put in")
        with open_store(f"sqlite:///{quote(str(home / 'holdfast.db'))}") as store:
            fill(store, size)
        contestant = next(each for each in holdfast(settings={"embedder": "off"}) if each.path == OLLAMA)
        progress(f"{PART}: {size:,} messages, {rounds} of each request")
        with running(contestant, words=WORDS, home=home) as server:
            client = Client(server)
            milliseconds = {"first answer after a start": client.send_first()}
            history: list[Json] = []
            long = [_say("Let us begin."), *_pairs(_RESENT // 2)]
            requests: dict[str, Callable[[], float]] = {
                "first message": client.send_first,
                "turn in a chat": lambda: client.send_turn(history),
                "list of chats": lambda: client.get("/api/chats?limit=50"),
                "search": lambda: client.get(f"/api/chats/search?q={quote('invoice of case 4711')}"),
                "memory added": client.add_memory,
                # Last, since the server has to think about such a chat in the background.
                f"{_RESENT:,} messages resent": lambda: client.send_turn(long),
            }
            for name, send in requests.items():
                send()
                milliseconds[name] = median(send() for _ in range(rounds))
            return milliseconds, server.usage().rss


def _pairs(number: int) -> Iterator[Json]:
    texts = make_texts(11)
    for _ in range(number):
        yield {"role": "assistant", "content": next(texts)}
        yield _say(next(texts))


def rows(sizes: Sequence[int], rounds: int) -> Iterator[Row]:
    smallest: dict[str, float] = {}
    for size in sizes:
        milliseconds, megabytes = measure(size, rounds)
        smallest = smallest or milliseconds
        for name, limit in _LIMITS.items():
            value, case = milliseconds[name], f"{size:,} messages"
            if limit is None:
                limit, goal = _GROWTH * smallest[name], f"at most twice that of {sizes[0]:,}"
            else:
                goal = f"under {limit:,.0f} ms"
            yield Row(PART, name, case, value, "ms", goal, value <= limit)
        yield Row(PART, "memory of the process", f"{size:,} messages", megabytes, "MB")


def write_results(measured: Sequence[Row], sizes: Sequence[int]) -> None:
    """Writes the table and the plot of growth."""
    head = (__doc__ or "").partition("\n\n")[2].strip()
    text = f"# Does it stay quick as it grows?\n\n`python -m evals.scale --write`. {head}\n\n"
    (_RESULTS / "scale.md").write_text(f"{text}{table(measured)}\n")
    series = [
        Series(name, [(float(size), row.value) for size in sizes for row in measured if _is(row, name, size)])
        for name in _LIMITS
    ]
    _PLOT.write_text(draw_plot(series, "messages in the store", "milliseconds"))


def _is(row: Row, name: str, size: int) -> bool:
    return row.what == name and row.case == f"{size:,} messages"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.scale", description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="messages in the store, by commas")
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help="how often each request is sent")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--write", action="store_true", help="also write results/scale.md and its plot")
    chosen = parser.parse_args(arguments)
    sizes = [int(size) for size in chosen.sizes.split(",")]
    measured = list(rows(sizes, chosen.rounds))
    if chosen.write:
        write_results(measured, sizes)
    return print_rows(measured, as_json=chosen.json)


if __name__ == "__main__":
    sys.exit(main())
