"""What a person's next turn has to wait for after a summary was made while idle, on a real llama.cpp.

Measured as the tokens llama.cpp evaluated anew, beside those that were new in the turn. The embedded model
answers, summarises and is warmed, all on its one slot, so everything that can spoil its cache does.
"""

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from evals.compaction_chats import generate_chat
from evals.compaction_replay import TokenCounter, engine_on
from evals.window_rows import Row, progress
from holdfast.messages import ChatRequest, Chunk, Message, Usage
from holdfast.turn import Ask, TurnEngine
from holdfast.upstreams.embedded import MODEL, EmbeddedProvider

PART = "waiting"
WINDOW = 4096
_ANSWER = 40
# What a template writes around a message and before an answer, and the token llama.cpp always reads again.
_AROUND = 16
_COMPACTIONS, _QUICK = 3, 1
_MOST_TURNS = 60


@dataclass(frozen=True, slots=True)
class Measured:
    """A turn: its prompt, what of it was read anew, what was new in it, what had been done before it."""

    prompt: int
    evaluated: int
    own: int
    after_summary: bool
    # A level worked in the turn itself: what it costs is not the summary's.
    batch: bool = False

    @property
    def beyond(self) -> int:
        return max(0, self.evaluated - self.own - _AROUND)


class Watched(EmbeddedProvider):
    """Remembers what it was asked last."""

    last: ChatRequest

    async def chat(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        self.last = request
        async with aclosing(super().chat(request)) as chunks:
            async for chunk in chunks:
                yield chunk


@dataclass
class Talk:
    engine: TurnEngine
    server: Watched
    history: list[Message]
    conversation: str = ""
    batch: bool = False

    async def say(self, *new: Message) -> Usage:
        self.history += new
        request = ChatRequest(MODEL, tuple(self.history), options={"max_tokens": _ANSWER, "temperature": 0.0})
        turn = await self.engine.turn(Ask(request))
        usage, text = Usage(), ""
        async for chunk in turn.chunks:
            text, usage = text + chunk.text, chunk.usage or usage
        self.history.append(Message.of("assistant", text))
        self.conversation = turn.conversation or ""
        self.batch = any(batch["level"] > 0 for batch in turn.report["batches"])
        return usage

    @property
    def summaries(self) -> int:
        return sum(row.level == 3 for row in self.engine.store.compactions.of(self.conversation))


async def measure(weights: Path, compactions: int, window: int = WINDOW) -> list[Measured]:
    counting, results = TokenCounter(weights), list[Measured]()
    chat = generate_chat("en", 1, _MOST_TURNS)
    with tempfile.TemporaryDirectory() as name:
        server = Watched(weights, log=Path(name) / "embedded.log", ctx=window)
        async with engine_on(Path(name), server, server, model=MODEL) as engine:
            talk = Talk(engine, server, [Message.of("system", chat.system)])
            done = before = 0
            for exchange in chat.exchanges:
                usage = await talk.say(*exchange.asked)
                own = counting.count(server.last.messages[-1].text)
                if usage.prompt is not None and usage.cached is not None:
                    turn = Measured(usage.prompt, usage.prompt - usage.cached, own, done > before, talk.batch)
                    results.append(turn)
                    progress(f"  {PART}, turn {len(results)}: {turn}")
                if done > before and done >= compactions:
                    break
                before = done
                await engine.background.idle.wait_until_idle()
                done = talk.summaries
    return results


def judge(case: str, measurements: Sequence[Measured]) -> Iterator[Row]:
    """The first turn has nothing before it, and a level that works in a turn has its own price."""
    after = [turn for turn in measurements if turn.after_summary and not turn.batch]
    usual = [turn for turn in measurements[1:] if not turn.after_summary and not turn.batch]
    for what, turns in (("after a summary", after), ("else", usual)):
        if turns:
            own, read = sum(turn.own for turn in turns), sum(turn.evaluated for turn in turns)
            of = f"tokens a turn, of {len(turns)} turns"
            yield Row(PART, f"new in the turn, {what}", case, own / len(turns), of)
            yield Row(PART, f"read anew, {what}", case, read / len(turns), of)
    if after:
        most = max(turn.beyond for turn in after)
        of = f"tokens at most, of prompts of {max(turn.prompt for turn in after):,}"
        yield Row(PART, "read anew beyond the turn's own, after a summary", case, most, of, "0", most == 0)


def rows(weights: Path, *, quick: bool = False) -> Iterator[Row]:
    result = asyncio.run(measure(weights, _QUICK if quick else _COMPACTIONS))
    yield from judge(f"embedded, {WINDOW:,}", result)
