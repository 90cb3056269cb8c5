"""Many tool calls in one turn, as opencode, codex and Claude Code send them, against a real llama.cpp.

The model is thin (`window_tiny`), so that fifty calls take minutes; the vocabulary is SmolLM2's.

What is looked at is what llama.cpp gets: whether pairs are whole, whether what left the window is summarised,
whether the task and what it forbids are there, and how much of each prompt is cached by its own timings.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from evals.window_checks import orphans
from evals.window_loop_traffic import CLIENTS, TASK, LoopClient, Round, output, path_of
from evals.window_rows import Row, none_of, progress
from evals.window_serving import Relay, llamacpp, serving
from evals.window_tiny import write_tiny
from evals.window_traffic import MODEL
from holdfast.protocols import openai_chat

PART = "loops"
WINDOW = 8192
_TARGET = 80.0
_FIND, _FORBIDDEN = TASK.split(" Never")[0], "Never change anything under vendor/."
_SUMMARY = "Summary of the conversation so far:"
# A prompt of a full window takes minutes where two cores are shared.
_PATIENCE = 1800.0


@dataclass
class LoopTally:
    """What became of the requests of one turn."""

    requests: int = 0
    refused: int = 0
    orphans: int = 0
    dropped: int = 0
    without_task: int = 0
    without_prohibition: int = 0
    without_result: int = 0
    prompt: int = 0
    cached: int = 0
    largest: int = 0
    notes: list[str] = field(default_factory=list)

    def hear(self, number: int, asked: dict[str, Any], timings: dict[str, Any]) -> None:
        """Count one request as llama.cpp got it, after `number` calls and their results."""
        messages = openai_chat.parse_request({"model": MODEL, "messages": asked["messages"]}).messages
        text = "\n".join(message.text for message in messages)
        calls = sum(len(message.tool_calls) for message in messages)
        prompt = timings["cache_n"] + timings["prompt_n"]
        lone = orphans(messages)
        self.requests += 1
        self.orphans += len(lone)
        self.dropped += calls < number and _SUMMARY not in text
        self.without_task += _FIND not in text
        self.without_prohibition += _FORBIDDEN not in text
        self.without_result += bool(number) and output(number) not in text
        self.prompt += prompt
        self.cached += timings["cache_n"]
        self.largest = max(self.largest, prompt)
        self.notes += lone

    def rows(self, case: str) -> Iterator[Row]:
        of = f"of {self.requests} requests"
        yield none_of(PART, "refused", case, self.refused, of)
        yield none_of(PART, "orphans", case, self.orphans, of)
        yield none_of(PART, "calls left out without a summary", case, self.dropped, of)
        yield none_of(PART, "without the task", case, self.without_task, of)
        yield none_of(PART, "without the prohibition", case, self.without_prohibition, of)
        yield none_of(PART, "without the newest result", case, self.without_result, of)
        share = 100 * self.cached / max(1, self.prompt)
        yield Row(PART, "from the cache", case, share, "%", f"at least {_TARGET:.0f} %", share >= _TARGET)
        yield Row(PART, "largest prompt", case, self.largest, "tokens")


def run_turn(client: LoopClient, calls: int, url: str, relay: Relay) -> LoopTally:
    """Have the client make so many calls in one turn, and count what llama.cpp got for it."""
    tally, rounds = LoopTally(), list[Round]()
    with httpx.Client(base_url=url, timeout=_PATIENCE, trust_env=False) as http:
        for number in range(calls):
            path = path_of(number + 1)
            function = {"name": "read", "arguments": f'{{"path": "{path}"}}'}
            relay.calls = [{"id": f"call_{number}", "type": "function", "function": function}]
            before = len(relay.seen)
            body = {"model": MODEL, **client.body(rounds)}
            answer = http.post(client.path, json=body, headers=client.headers)
            if answer.status_code != 200:
                tally.refused += 1
                tally.notes.append(answer.text[:200])
                break
            rounds.append(Round(client.call(answer.json()), path, output(number + 1)))
            for asked, timings in relay.seen[before:]:
                if asked.get("tools"):
                    tally.hear(number, asked, timings)
                    progress(
                        f"  {client.name}, call {number + 1}: {timings['cache_n']} cached, "
                        f"{timings['prompt_n']} read, {answer.headers['x-holdfast-prefix']}"
                    )
    return tally


def rows(calls: int, weights: Path, clients: Sequence[LoopClient] = CLIENTS) -> Iterator[Row]:
    for client in clients:
        case = f"{client.name}, {WINDOW:,}"
        progress(f"{PART}: {case}, {calls} calls in one turn")
        with (
            tempfile.TemporaryDirectory() as folder,
            llamacpp(
                write_tiny(weights, Path(folder) / "tiny.gguf", WINDOW), Path(folder) / "llamacpp", WINDOW
            ) as (upstream, relay),
            serving(Path(folder) / "home", upstream, embedder="off") as door,
        ):
            tally = run_turn(client, calls, door.url, relay)
        progress(f"{PART}: {case}: {tally.notes[:5]}")
        yield from tally.rows(case)
