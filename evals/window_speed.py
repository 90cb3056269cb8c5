"""How long it takes to build the window of a conversation of a thousand, ten and a hundred thousand messages.

From the store, with counts cached, without the client's own resend and without a model: in a lane that is
there, in a new one, and after a turn more. The numbers are medians on the machine that runs it.
"""

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import median

from evals.window_fitting import Product, product
from evals.window_rows import Row, progress
from evals.window_traffic import Words
from holdfast.messages import Message, Scope, Text, ToolCall, ToolResult
from holdfast.store import NewMessage, Store, open_store

PART = "speed"
SIZES = (1_000, 10_000, 100_000)
_QUICK_SIZES = (1_000, 10_000)
_WINDOW = 8192
_TARGET_AT, _TARGET_MS = 10_000, 10.0
# Ten times the messages may take ten times as long, and a little more for what a measurement wobbles.
_LINEAR = 1.15
_TRIES = 9
_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds for one length of conversation."""

    messages: int
    known: float
    new: float
    appended: float


def conversation(store: Store, length: int) -> str:
    """A conversation of this many messages, one in five with a tool call and its result."""
    words = Words(Random(length))
    name = store.log.create(Scope()).id
    head: str | None = None
    pending: list[NewMessage] = []
    for message in _talk(words, length):
        pending.append(NewMessage(message))
        if len(pending) == _AT_ONCE:
            head = store.log.append(name, pending, parent=head, expect=head)[-1].id
            pending = []
    if pending:
        store.log.append(name, pending, parent=head, expect=head)
    # The server makes what was said searchable after each answer, so a question finds it so.
    store.texts.catch_up()
    return name


def _talk(words: Words, length: int) -> Iterator[Message]:
    text = 0
    while text < length:
        exchange = _exchange(words, text)[: length - text]
        text += len(exchange)
        yield from exchange


def _exchange(words: Words, number: int) -> Sequence[Message]:
    asked, answered = Message.of("user", words.question()), Message.of("assistant", words.prose(80))
    if number % 5:
        return asked, answered
    identity = f"call_{number}"
    call = Message("assistant", (ToolCall("read", '{"path": "notes.md"}', identity),))
    result = Message("tool", (ToolResult((Text(words.code(200)),), identity, "read"),))
    return asked, call, result, answered


def times(weights: Path, length: int) -> Times:
    with (
        tempfile.TemporaryDirectory() as folder,
        open_store(f"sqlite:///{folder}/speed.db") as store,
        product(store, weights, _WINDOW) as fitting,
    ):
        name = conversation(store, length)
        # Once for the counts, which every later build finds.
        _took(fitting, name)
        known = [_took(fitting, name) for _ in range(_TRIES)]
        appended = []
        words = Words(Random(0))
        for _ in range(_TRIES):
            head = store.log.get(name).head
            text = Message.of("assistant", words.prose(40)), Message.of("user", words.question())
            store.log.append(name, [NewMessage(message) for message in text], parent=head, expect=head)
            store.texts.catch_up()
            appended.append(_took(fitting, name))
        # A new lane is one of another size.
        new = []
        for at in range(_TRIES):
            fitting.use(_WINDOW - 64 * (at + 1))
            new.append(_took(fitting, name))
    return Times(length, median(known), median(new), median(appended))


def _took(fitting: Product, name: str) -> float:
    began = time.perf_counter()
    fitting.build(name)
    took = 1000 * (time.perf_counter() - began)
    fitting.settle(name)
    return took


def judge(times: Sequence[Times]) -> Iterator[Row]:
    for row_times in times:
        case = f"{row_times.messages:,} messages"
        target, met = (
            (f"under {_TARGET_MS:.0f} ms", row_times.known < _TARGET_MS)
            if row_times.messages == _TARGET_AT
            else ("", None)
        )
        yield Row(PART, "a lane that is there", case, row_times.known, "ms", target, met)
        yield Row(PART, "a new lane", case, row_times.new, "ms")
        yield Row(PART, "a turn more", case, row_times.appended, "ms")
    for shorter, longer in pairwise(times):
        for what in ("known", "new", "appended"):
            times_longer = longer.messages / shorter.messages
            growth = getattr(longer, what) / getattr(shorter, what) / times_longer
            case = f"{what}, {shorter.messages:,} to {longer.messages:,}"
            yield Row(PART, "growth, 1 is linear", case, growth, "", f"at most {_LINEAR}", growth <= _LINEAR)


def rows(weights: Path, *, quick: bool = False) -> Iterator[Row]:
    results = []
    for length in _QUICK_SIZES if quick else SIZES:
        progress(f"{PART}: {length:,} messages")
        results.append(times(weights, length))
    yield from judge(results)
