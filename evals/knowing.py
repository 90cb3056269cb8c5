"""`python -m evals.knowing DIR`: what of a talk is kept, replaced and carried on? See results/knowing.md.

DIR has `statements.jsonl`, and may have `updates.jsonl` and `chats.jsonl`: what has its files is measured.
`evals/knowing_data` has sentences of our own. Everything goes the way it goes for people: as messages of
conversations through the engine, whose notes are read when it is closed.
"""

import argparse
import asyncio
import json
import re
import sys
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from evals.compaction_scripts import asks_on_the_side, good
from evals.window_rows import progress
from evals.window_serving import weights
from holdfast.compaction.extractive import sort_sentences
from holdfast.context.summaries import SummaryOptions
from holdfast.errors import EmbedderError
from holdfast.memory.base import Memory
from holdfast.memory.embedder_choice import ChosenEmbedder, EmbedderOptions
from holdfast.memory.folder import FolderWorkspace
from holdfast.memory.service import MemoryService
from holdfast.messages import ChatRequest, Chunk, Message, Scope
from holdfast.store import open_store
from holdfast.testing.provider import Script, ScriptedProvider
from holdfast.turn import Ask, TurnEngine
from holdfast.upstreams.base import ModelInfo, Provider
from holdfast.upstreams.embedded import MODEL, EmbeddedProvider
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams
from holdfast.window.items import Item
from holdfast.window.presets import preset_named

LANGUAGES = ("de", "en")
MODELS = ("none", "good", "bad", "smollm2")
_MODEL = "talker"
_WINDOW = 4_096
# A memory has a span if it has so many of its words.
_COVERED = 0.6
_EXCHANGE = ("user", "assistant")
_WORD = re.compile(r"\w+")
# What a false decision is told without.
_BENDS = re.compile(
    r"[?!]|\b(?:not|no|nicht|keine?|nie|never|maybe|vielleicht|if|wenn|what|was)\b", re.IGNORECASE
)
# A model is asked about a conversation that has some length; so many statements make one.
_TOGETHER = 10
_LONG_ANSWER = "I see, and I will think about it as we go on with the other things that we have. " * 5
_PRESET = replace(preset_named("balanced"), cooldown_seconds=0.0)

Row = Mapping[str, Any]


@dataclass
class Tally:
    """How many of how many, by language and measure."""

    hits: dict[tuple[str, str], int] = field(default_factory=dict)
    of: dict[tuple[str, str], int] = field(default_factory=dict)
    misses: list[str] = field(default_factory=list)

    def count(self, language: str, measure: str, hit: bool, what: str = "") -> None:
        key = language, measure
        self.of[key] = self.of.get(key, 0) + 1
        self.hits[key] = self.hits.get(key, 0) + hit
        if what:
            self.misses.append(f"{measure} {language}: {what}")

    def percent(self) -> dict[str, dict[str, float]]:
        return {
            language: {
                measure: round(100 * self.hits[language, measure] / total, 1)
                for (spoken, measure), total in self.of.items()
                if spoken == language
            }
            for language in LANGUAGES
        }


def bad(prompt: str) -> Script:
    """A model that makes a decision of everything that was said, whatever it says, and invents numbers."""
    partitions = [
        line.partition(": ")[2] for line in prompt.splitlines() if line.startswith(("User: ", "Nutzer: "))
    ]
    lines = [f"DECISION: {_BENDS.sub(' ', partition).strip()}" for partition in partitions]
    return "\n".join([*lines, "FACT: The budget is 98,765"])


SCRIPTS: Mapping[str, Callable[[str], Script]] = {"good": good, "bad": bad}


class Server(ScriptedProvider):
    """Says `answer` to people, and what its script says to whoever asks about a conversation."""

    def __init__(self, model: str, window: int = 8_192) -> None:
        super().__init__(
            models=[ModelInfo(_MODEL, running_window=window, trained_window=window)], fallback=self._said
        )
        self.answer = "Ok."
        self._script = SCRIPTS.get(model)

    def _said(self, request: ChatRequest) -> Script:
        last = request.messages[-1].text
        if asks_on_the_side(last):
            return self._script(last) if self._script else ""
        return self.answer


class RealModelServer(Server):
    """The same, but a real model answers who asks about a conversation."""

    def __init__(self, model: EmbeddedProvider) -> None:
        super().__init__("none")
        self._model = model

    async def chat(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        helps = asks_on_the_side(request.messages[-1].text)
        async for chunk in (
            self._model.chat(replace(request, model=MODEL)) if helps else super().chat(request)
        ):
            yield chunk


@asynccontextmanager
async def engine_on(folder: Path, server: Provider) -> AsyncIterator[TurnEngine]:
    async def find() -> Provider:
        return server

    store = open_store(f"sqlite:///{folder / 'db'}")
    embedder = ChosenEmbedder(EmbedderOptions(log=folder / "embedder.log"))
    remembering = MemoryService(store, FolderWorkspace(folder / "workspace"), embedder)
    try:
        await asyncio.to_thread(embedder.wake)
    except EmbedderError as error:
        progress(f"without an embedder: {error}")
    engine = TurnEngine(
        store,
        Upstreams(find, ScriptedProvider()),
        ModelRegistry(store, folder),
        _PRESET,
        remembering=remembering,
        options=SummaryOptions(stall=600.0, pause=0.0),
    )
    try:
        yield engine
    finally:
        await engine.close()


@dataclass
class Client:
    """Keeps its history and sends all of it again, as most clients do."""

    engine: TurnEngine
    scope: Scope
    history: list[Message] = field(default_factory=list)
    conversation: str = ""

    async def say(self, text: str) -> Mapping[str, Any]:
        self.history.append(Message.of("user", text))
        turn = await self.engine.turn(Ask(ChatRequest(_MODEL, tuple(self.history)), self.scope))
        content = "".join([chunk.text async for chunk in turn.chunks])
        self.history.append(Message.of("assistant", content))
        self.conversation = turn.conversation or ""
        return turn.report

    async def rest(self, *, ask: bool) -> None:
        await self.engine.compaction.at_rest(self.conversation, ask=ask)


async def talks(
    conversations: Mapping[str, Sequence[Sequence[str]]], model: str, answer: str = "Ok."
) -> dict[str, list[Memory]]:
    """What is remembered of each user, who has conversations one after the other."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server, embedded = Server(model), None
        if model == "smollm2" and (file := weights()) is not None:
            embedded = EmbeddedProvider(file, log=folder / "model.log")
            server = RealModelServer(embedded)
        server.answer = answer
        async with engine_on(folder, server) as engine:
            for user, items in conversations.items():
                for item in items:
                    client = Client(engine, Scope(user=user))
                    for text in item:
                        await client.say(text)
                    await client.rest(ask=model != "none")
            await engine.background.idle.wait_until_idle()
        if embedded is not None:
            await embedded.aclose()
        notes = MemoryService(
            open_store(f"sqlite:///{folder / 'db'}"),
            FolderWorkspace(folder / "workspace"),
            ChosenEmbedder(EmbedderOptions("off")),
        )
        results = {user: notes.library.notes.read(Scope(user=user)) for user in conversations}
        notes.close()
        notes.store.close()
        return {
            user: [
                memory
                for memory in memories
                if memory.active and memory.kind in ("fact", "decision", "preference")
            ]
            for user, memories in results.items()
        }


def has(memory: str, span: str) -> bool:
    wanted, value = _WORD.findall(span.casefold()), set(_WORD.findall(memory.casefold()))
    return sum(word in value for word in wanted) >= _COVERED * len(wanted)


def likeness(text: str, other: str) -> float:
    a, b = set(_WORD.findall(text.casefold())), set(_WORD.findall(other.casefold()))
    return len(a & b) / len(a | b)


async def statements(rows: Sequence[Row], tally: Tally, model: str) -> None:
    """Each in a conversation of its own; where a model is to be asked, several in one that is long enough."""
    if model == "none":
        known = await talks({row["id"]: [[row["text"]]] for row in rows}, model)
        for row in rows:
            _judge(row, known[row["id"]], tally)
        return
    for language in LANGUAGES:
        mine = [row for row in rows if row["lang"] == language]
        for start in range(0, len(mine), _TOGETHER):
            group = mine[start : start + _TOGETHER]
            known = await talks({"group": [[row["text"] for row in group]]}, model, _LONG_ANSWER)
            for row in group:
                _judge(row, [item for item in known["group"] if _is_from(item.text, row, group)], tally)


def _is_from(text: str, row: Row, group: Sequence[Row]) -> bool:
    return row is max(group, key=lambda other: likeness(text, other["text"]))


def _judge(row: Row, memories: Sequence[Memory], tally: Tally) -> None:
    texts = [memory.text for memory in memories]
    for item in row["keep"]:
        hit = any(has(text, item["span"]) for text in texts)
        tally.count(row["lang"], "kept", hit, "" if hit else f"{item['span']} <> {texts}")
    if not row["keep"]:
        tally.count(row["lang"], "false", bool(texts), f"{row['text']} <> {texts}" if texts else "")
        decided = [memory for memory in memories if memory.kind == "decision"]
        tally.count(row["lang"], "false_decisions", bool(decided))


async def updates(rows: Sequence[Row], tally: Tally, model: str) -> None:
    known = await talks({row["id"]: [[row["old"]], [row["new"]]] for row in rows}, model)
    for row in rows:
        texts = [memory.text for memory in known[row["id"]]]
        nearest = [max(("new", "old"), key=lambda name: likeness(text, row[name])) for text in texts]
        old, new = (
            any(near == which and has(text, row[which]) for text, near in zip(texts, nearest, strict=True))
            for which in ("old", "new")
        )
        hit = {
            "update": new and not old,
            "paraphrase": len(texts) == 1,
            "lookalike": old and new,
        }[row["type"]]
        report = "" if hit else f"{row['old']} | {row['new']} <> {texts}"
        tally.count(row["lang"], row["type"], hit, report)


async def rules(chats: Sequence[Row], rows: Sequence[Row], tally: Tally, model: str, window: int) -> None:
    """Rules among the turns of the chats of a language, which are one conversation.

    Each must be in every later request, word for word.
    """
    for language in LANGUAGES:
        spans = [
            (row["text"], item["span"])
            for row in rows
            if row["lang"] == language
            for item in row["keep"]
            if item["kind"] == "rule"
        ]
        turns = [turn for chat in chats if chat["lang"] == language for turn in chat["turns"]]
        exchanges = [
            (entry["text"], other["text"])
            for entry, other in pairwise(turns)
            if (entry["role"], other["role"]) == _EXCHANGE
        ]
        lost, level = await _carried(exchanges, spans, model, window)
        progress(
            f"rules {language}: {len(spans)} in {len(exchanges)} exchanges, level {level} of {window} tokens"
        )
        for text, span in spans:
            tally.count(language, "rules", span not in lost, f"{text} is lost" if span in lost else "")


async def _carried(
    exchanges: Sequence[tuple[str, str]], spans: Sequence[tuple[str, str]], model: str, window: int
) -> tuple[set[str], int]:
    """The spans that a later request had not, and the highest level that was reached."""
    content: list[str] = []
    lost: set[str] = set()
    level = 0
    every = max(1, len(exchanges) // (len(spans) + 1))
    with tempfile.TemporaryDirectory() as name:
        server = Server(model, window)
        async with engine_on(Path(name), server) as engine:
            client, waiting = Client(engine, Scope(user="rules")), list(spans)
            for number, (text, answer) in enumerate(exchanges):
                if waiting and number % every == 1:
                    rule, span = waiting.pop(0)
                    await client.say(rule)
                    content.append(span)
                server.answer = answer
                report = await client.say(text)
                server.answer = "Ok."
                level = max(level, int(report.get("level", 0)))
                asked = (
                    request
                    for request in reversed(server.requests)
                    if not asks_on_the_side(request.messages[-1].text)
                )
                sent = _plain(" ".join(message.text for message in next(asked).messages))
                lost |= {span for span in content if _plain(span) not in sent}
                await engine.background.idle.wait_until_idle()
    return lost, level


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("’", "'")


def sections(rows: Sequence[Row], tally: Tally) -> None:
    """Where the statements would stand in a summary that no model wrote."""
    right = {
        "rule": ("must_not",),
        "decision": ("done",),
        "fact": ("done",),
        "preference": ("must_not", "done"),
    }
    for row in rows:
        results = sort_sentences([Item("m", Message.of("user", row["text"]))])
        for item in row["keep"]:
            places = {
                name
                for name in ("requests", "aims", "done", "open", "must_not")
                for line in getattr(results, name)
                if has(line.text, item["span"])
            }
            hit = bool(places) and places <= {*right[item["kind"]]}
            tally.count(
                row["lang"],
                "sections",
                hit,
                "" if hit else f"{item['kind']} {item['span']} in {sorted(places)}",
            )


async def measure(folder: Path, model: str, parts: Sequence[str], limit: int) -> Tally:
    def read(name: str) -> list[Row]:
        with (folder / f"{name}.jsonl").open(encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.strip()]

    tally, lines = Tally(), read("statements")
    if limit:
        lines = [
            row
            for language in LANGUAGES
            for row in [line for line in lines if line["lang"] == language][:limit]
        ]
    if "statements" in parts:
        await statements(lines, tally, model)
    if "updates" in parts:
        await updates(read("updates"), tally, model)
    if "rules" in parts:
        await rules(read("chats"), lines, tally, model, _WINDOW)
    if "sections" in parts:
        sections(lines, tally)
    return tally


# Each part, and the files it reads.
PARTS = {
    "statements": ("statements",),
    "updates": ("updates",),
    "rules": ("chats", "statements"),
    "sections": ("statements",),
}


def _missing_files(folder: Path, names: Sequence[str]) -> list[str]:
    return [f"{name}.jsonl" for name in dict.fromkeys(names) if not (folder / f"{name}.jsonl").exists()]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.knowing", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="DIR", help="where the files are")
    parser.add_argument("--json", action="store_true", help="percent by language, as JSON")
    parser.add_argument("--model", choices=MODELS, default="none", help="what is asked to help")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument("--limit", type=int, default=0, help="only so many statements of each language")
    parser.add_argument("--misses", action="store_true", help="what was missed, on stderr")
    chosen = parser.parse_args(arguments)
    parts = chosen.part or [part for part, names in PARTS.items() if not _missing_files(chosen.folder, names)]
    missing = _missing_files(chosen.folder, ["statements", *(name for part in parts for name in PARTS[part])])
    if missing:
        progress(f"{chosen.folder} has no {', '.join(missing)}.")
        return 1
    if chosen.model == "smollm2" and weights() is None:
        progress("SmolLM2 is not there (`holdfast models get`): nothing can be measured.")
        return 1
    tally = asyncio.run(measure(chosen.folder, chosen.model, parts, chosen.limit))
    if chosen.misses:
        progress("\n".join(tally.misses))
    percent = tally.percent()
    if chosen.json:
        print(json.dumps(percent, ensure_ascii=False, indent=2))
        return 0
    measures = list(dict.fromkeys(measure for measured in percent.values() for measure in measured))
    print("| measure | German | English |\n|---|---|---|")
    for name in measures:
        print(f"| {name} | {percent['de'].get(name, '–')} | {percent['en'].get(name, '–')} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
