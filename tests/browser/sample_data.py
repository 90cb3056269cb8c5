"""A believable little life in a Holdfast, for the pictures: chats, a summary, memories, findings, busy days.

What is said stands in `lives/LANGUAGE.toml`. Nothing of it is made up while it runs, but for the time.
"""

import asyncio
import json
import time
import tomllib
from pathlib import Path
from typing import Any

from holdfast.messages import Message, Scope, Usage
from holdfast.store import NewMessage
from tests.browser.conftest import Server
from tests.browser.upstream import Upstream
from tests.fakes.ollama_runner import FakeModel, ModelCall

MODEL = "qwen3:4b"
MODELS = (
    FakeModel(MODEL, family="qwen3", parameter_size="4.0B", num_ctx=2048, trained_window=40960),
    FakeModel("gemma3:12b", family="gemma3", parameter_size="12.2B", num_ctx=8192, trained_window=131072),
)
DAY = 86_400
# Seconds for a word: about as fast as a usual machine writes.
PACE = 0.02
# How long, in seconds, notes may take that are written while nobody waits.
PATIENCE = 60


def lived(language: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "lives" / f"{language}.toml").read_text("utf-8"))


class Narrator(Upstream):
    """A model server that says to each question what the life has for it."""

    def __init__(self, life: dict[str, Any], pace: float = PACE) -> None:
        super().__init__(MODELS)
        self._pace = pace
        talks = [life["talk"]["turns"], life["talk"]["last"], *(chat["turns"] for chat in life["chats"])]
        self._said = [turn for talk in talks for turn in talk]
        self._memories, self._minutes = life["memories_found"].strip(), life["minutes"].strip()

    async def _turn(self) -> None:
        await asyncio.sleep(self._pace)

    def _answer(self, call: ModelCall) -> str:
        text = call.said
        if "=====" in text:
            return str(self._memories if "MEMORIES" in text else self._minutes)
        # What was recalled for a question stands after it, and may quote another one.
        return str(next((answer for question, answer in self._said if text.startswith(question)), "…"))


def live(server: Server, life: dict[str, Any]) -> str:
    """All of it, by the routes that programs use; only the past is written into the store. The chat's id."""
    _past(server, life)
    client = server.client
    client.put("/api/memory/profile", json={"text": life["profile"]}).raise_for_status()
    for memory in life["memories"]:
        client.post("/api/memory", json=memory).raise_for_status()
    for finding in life["findings"]:
        sources = [dict(zip(("url", "title", "text"), source, strict=True)) for source in finding["sources"]]
        response = client.post("/api/research", json={"question": finding["question"], "sources": sources})
        response.raise_for_status()
    client.put("/api/password", json={"password": "correct horse battery"}).raise_for_status()
    conversation = ""
    for question, _ in life["talk"]["turns"]:
        conversation = _asked(server, question, conversation)
    client.patch(f"/api/chats/{conversation}", json={"title": life["talk"]["title"]}).raise_for_status()
    client.post(f"/api/chats/{conversation}/compact").raise_for_status()
    _noted(server, life["noted"])
    for question, _ in life["talk"]["last"]:
        _asked(server, question, conversation)
    return conversation


def _noted(server: Server, text: str) -> None:
    """Waits until what was found worth knowing is among the memories."""
    end = time.monotonic() + PATIENCE
    while text not in server.client.get("/api/memory/list").text:
        if time.monotonic() > end:
            raise SystemExit(f"nobody wrote down: {text}")
        time.sleep(0.1)


def _asked(server: Server, question: str, conversation: str) -> str:
    """One turn of the page, to its end; the conversation it is in."""
    turn = {"model": MODEL, "text": question, "conversation": conversation or None}
    response = server.client.post("/api/chats/turns", json=turn)
    response.raise_for_status()
    events = [json.loads(line[5:]) for line in response.text.splitlines() if line.startswith("data:")]
    return str(next(event["conversation"] for event in events if "conversation" in event))


def _past(server: Server, life: dict[str, Any]) -> None:
    store, today = server.engine.store, time.time()
    for ago, chat in zip((1, 4, 5), life["chats"], strict=True):
        then = today - ago * DAY
        messages = [
            NewMessage(message)
            for question, answer in chat["turns"]
            for message in (Message.of("user", question), Message.of("assistant", answer))
        ]
        row, _ = store.log.begin(Scope(), messages, title=chat["title"], now=then)
    for ago in range(1, 30):
        then, busy = today - ago * DAY, (ago * 7) % 11
        for number in range(busy):
            begun = then + number * 60
            job = store.jobs.start(Scope(), model=MODELS[number % 3 == 2].name, now=begun)
            prompt, written = 900 + 90 * ((number * 5 + ago) % 9), 120 + 25 * (number % 5)
            first = begun + 0.4 + 0.1 * ((number + ago) % 7)
            store.jobs.end(
                job.id, "done", usage=Usage(prompt, written, int(prompt * 0.7)),
                first_token_at=first, now=first + written / 24,
            )  # fmt: skip
        for level in (1, 2, 3)[: busy // 3]:
            store.compactions.record(
                row.id, lane="past", level=level, strategy="", messages=4 + level,
                tokens_before=800 + 300 * level, tokens_after=260, now=then,
            )  # fmt: skip
