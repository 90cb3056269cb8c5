"""Hundreds of turns as Open WebUI and opencode send them, several chats at once, against a real llama.cpp.

Everything is looked at from outside, over HTTP; what must hold is in `window_checks`.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from evals.window_checks import KINDS, Watch
from evals.window_rows import Row, none_of, progress
from evals.window_serving import OLLAMA, OPENAI, Door, Relay, Reply, llamacpp, serving
from evals.window_traffic import OpenCode, OpenWebUI, Step, Talker, Words, take_turns
from holdfast.tokens.budget import budget_for

PART = "clients"
WINDOWS = (4096, 8192)
_SEED = 4
_GREETING = "Have a look at the repository, please."
# One main request in so many is told on stderr.
_TOLD = 10

Begin = Callable[[Random, Words, int], Callable[[int], Talker]]


@dataclass(frozen=True, slots=True)
class Run:
    """One client at one window, and what became of its turns."""

    client: str
    window: int
    watch: Watch
    batches: int

    def rows(self) -> Iterator[Row]:
        watch, case = self.watch, f"{self.client}, {self.window:,}"
        turns = f"of {watch.main} turns, {watch.side} side requests"
        for kind in KINDS:
            yield none_of(PART, kind, case, watch.count_faults(kind), turns)
        yield Row(PART, "conversations", case, len(watch.conversations))
        yield Row(PART, "batches of levels", case, self.batches)
        yield Row(PART, "largest prompt", case, watch.largest, "tokens")


def open_webui(random: Random, words: Words, window: int) -> Callable[[int], Talker]:
    """Every second chat sends its id, every third begins with the same words, every fourth has a clock."""

    def begin(number: int) -> Talker:
        ids = number % 2 == 0
        return OpenWebUI(
            f"chat-{number}",
            random,
            words,
            path=OPENAI if number % 3 == 1 else OLLAMA,
            ids=ids,
            clock=number % 4 < 2,
            window=window,
            first=_GREETING if ids else "",
        )

    return begin


def opencode(random: Random, words: Words, window: int) -> Callable[[int], Talker]:
    def begin(number: int) -> Talker:
        return OpenCode(f"ses_{number}", random, words, window, _GREETING if number % 2 else "")

    return begin


CLIENTS: dict[str, Begin] = {"Open WebUI": open_webui, "opencode": opencode}


def run(client: str, window: int, turns: int, weights: Path, folder: Path) -> Run:
    """One client's turns against a server with this window; `folder` is for the files of both servers."""
    random = Random(_SEED)
    watch = Watch(window, budget_for(window).room)
    with (
        llamacpp(weights, folder / "llamacpp", window) as (upstream, relay),
        serving(folder / "home", upstream) as door,
    ):
        send = _sender(door, relay, watch, f"{client}, {window:,}", turns)
        talkers = take_turns(CLIENTS[client](random, Words(random), window), send, random, turns=turns)
        watch.finish(_with_children(talkers), door.messages, lambda *where: _text(door, *where))
        batches = sum(door.batches(conversation) for conversation in watch.conversations)
    return Run(client, window, watch, batches)


def _sender(door: Door, relay: Relay, watch: Watch, case: str, turns: int) -> Callable[[Step], Reply]:
    def send(step: Step) -> Reply:
        relay.calls, relay.beside, relay.thinking = step.calls, step.beside, step.thinking
        reply = door.chat(step.path, step.body, step.headers)
        messages = door.messages(reply.conversation) if reply.conversation and step.chat else []
        before = len(watch.faults)
        watch.hear(step, reply, [row for row in messages if row["id"]])
        for fault in watch.faults[before:]:
            progress(f"  {case}, turn {fault.turn}, {fault.chat}: {fault.kind}: {fault.note}")
        if step.chat and watch.main % _TOLD == 0:
            progress(f"  {case}: {watch.main} of {turns} turns, {len(watch.faults)} faults")
        return reply

    return send


def _with_children(talkers: Sequence[Talker]) -> list[Talker]:
    """Subagents are conversations too."""
    return [item for talker in talkers for item in (talker, *getattr(talker, "children", ()))]


def _text(door: Door, conversation: str, name: str) -> str | None:
    message = door.message(conversation, name)
    return None if message is None else str(message["content"])


def rows(
    turns: int, weights: Path, windows: Sequence[int] = WINDOWS, clients: Sequence[str] = tuple(CLIENTS)
) -> Iterator[Row]:
    for window in windows:
        for client in clients:
            progress(f"{PART}: {client}, a window of {window:,}, {turns} turns")
            with tempfile.TemporaryDirectory() as folder:
                yield from run(client, window, turns, weights, Path(folder)).rows()
