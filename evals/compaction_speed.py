"""How long the path without a model takes on a conversation of 100,000 tokens: summary, ledger, memories.

Once the pure part alone, and once as `compact` does it on a store, from the log to the commit.
"""

import asyncio
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from evals.compaction_chats import Chat, generate_chat, load_shared
from evals.compaction_replay import WINDOW, Client, Server, TokenCounter, engine_on
from evals.compaction_scripts import none
from evals.window_rows import Row, progress
from holdfast.compaction.compactor import CompactionTask, Compactor
from holdfast.compaction.summariser import PromptTemplates
from holdfast.messages import Message
from holdfast.window.items import Item

PART = "speed"
TOKENS = 100_000
_TARGET = 2.0
_TRIES = 3
_SUMMARY = 300


def long_chats(counting: TokenCounter, tokens: int) -> Iterator[tuple[str, list[Message]]]:
    chats = [generate_chat("en", 1, 400), generate_chat("de", 1, 250), *load_shared(["beam100k", "aider"], 1)]
    for chat in chats:
        yield chat.name, _first(chat, counting, tokens)


def _first(chat: Chat, counting: TokenCounter, tokens: int) -> list[Message]:
    """As many messages as have so many tokens."""
    results, size = [], 0
    for exchange in chat.exchanges:
        for message in (*exchange.asked, exchange.answer):
            size += counting.count(message.text)
            results.append(message)
        if size >= tokens:
            break
    return results


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds by the clock, and of the processor: on a machine that does nothing else they are the same."""

    clock: float
    processor: float


class Watch:
    def __init__(self) -> None:
        self._began = time.perf_counter(), time.process_time()

    @property
    def took(self) -> Took:
        return Took(time.perf_counter() - self._began[0], time.process_time() - self._began[1])


async def measure_plan(messages: list[Message], counting: TokenCounter) -> Took:
    """The pure part; texts were counted before, as those of a conversation are."""
    items = tuple(Item(f"m{at}", message, at) for at, message in enumerate(messages))
    task = CompactionTask(items, None, _SUMMARY, counting.count)
    watch = Watch()
    await Compactor(PromptTemplates()).compact(task, None)
    return watch.took


async def measure_compaction(messages: list[Message], counting: TokenCounter) -> Took:
    """The whole of it, of a conversation that was talked in once."""
    with tempfile.TemporaryDirectory() as name:
        server = Server(counting, none, WINDOW)
        async with engine_on(Path(name), server) as engine:
            client = Client(engine, "You are helpful.", [*messages])
            # Somebody is there all the time, so that idle work does not do it before.
            with engine.background.pause():
                await client.say(Message.of("user", "And what is next?"))
                await engine.locks.settle(client.conversation)
                watch = Watch()
                await engine.compaction.compact(client.conversation)
                return watch.took


def rows(weights: Path, *, quick: bool = False) -> Iterator[Row]:
    counting = TokenCounter(weights)
    for name, messages in long_chats(counting, TOKENS // 10 if quick else TOKENS):
        size = sum(counting.count(message.text) for message in messages)
        case = f"{name}, {size:,} tokens"
        for what, measure in (("pure part", measure_plan), ("log to commit", measure_compaction)):
            tries = [asyncio.run(measure(messages, counting)) for _ in range(1 if quick else _TRIES)]
            took = Took(median(item.clock for item in tries), median(entry.processor for entry in tries))
            progress(f"{PART}: {case}: {what} {took}")
            target, met = f"under {_TARGET:.0f} s", took.processor < _TARGET
            yield Row(PART, f"{what}, processor", case, took.processor, "s", target, met)
            yield Row(PART, f"{what}, by the clock of this machine", case, took.clock, "s")
