"""The script of the demonstration, and its performance through the engine that `holdfast serve` uses.

A script is a text file per language. Turns are separated by a blank line. `> ` marks what the user says,
other lines are the answer to it. `? ` marks a question that has no answer in the script, and `= ` what its
answer must contain. The pasted logs, tables and data are generated; later questions ask for single lines of
them.
"""

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from holdfast.compaction.compactor import SummaryBody
from holdfast.config import Config, Settings
from holdfast.context.summaries import SummaryOptions
from holdfast.errors import EmbedderError, UpstreamError
from holdfast.events import Event
from holdfast.i18n import Language
from holdfast.messages import Answer, ChatRequest, Message
from holdfast.store import open_store
from holdfast.testing.provider import Script, ScriptedProvider
from holdfast.text.analyser import sentences, terms
from holdfast.turn import Ask, TurnEngine
from holdfast.upstreams.base import ModelInfo
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams
from holdfast.window.presets import preset_named
from holdfast.wiring import build_remembering

_FOLDER = Path(__file__).parent
_INSTRUCTIONS = {
    "en": "You help with the work of a small office. Answer briefly, from what you were told.",
    "de": "Du hilfst bei der Arbeit eines kleinen Büros. Antworte kurz, aus dem, was dir gesagt wurde.",
}
# Asked at the end, in a conversation of its own.
_AFTERWARDS = {
    "en": ("Did we decide to rent or to buy the scanner?", "rent the scanner for three months"),
    "de": ("Haben wir entschieden, den Scanner zu mieten oder zu kaufen?", "für drei Monate zu mieten"),
}


@dataclass(frozen=True, slots=True)
class ScriptLine:
    """One turn. The answer to a question must contain `sought`; any other turn has its answer here."""

    said: str
    answer: str = ""
    sought: str = ""


@dataclass(frozen=True, slots=True)
class DemoScript:
    language: Language
    instructions: str
    lines: tuple[ScriptLine, ...]
    afterwards: ScriptLine


def load_script(language: Language) -> DemoScript:
    question, sought = _AFTERWARDS[language]
    text = (_FOLDER / f"talk.{language}.txt").read_text(encoding="utf-8")
    return DemoScript(
        language, _INSTRUCTIONS[language], tuple(parse_lines(text)), ScriptLine(question, sought=sought)
    )


def parse_lines(text: str) -> Iterator[ScriptLine]:
    for block in text.strip().split("\n\n"):
        by_mark: dict[str, list[str]] = {">": [], "?": [], "=": [], "": []}
        for line in block.splitlines():
            mark = line[0] if line[:2] in ("> ", "? ", "= ") else ""
            by_mark[mark].append(line[2:] if mark else line)
        speech = "\n".join(PASTES.get(line, line) for line in (*by_mark[">"], *by_mark["?"]))
        yield ScriptLine(speech, "\n".join(by_mark[""]), "\n".join(by_mark["="]))


_WARNINGS = {9: "dust on roller 2", 31: "double feed, repeated", 47: "dust on roller 1"}


def make_log(day: str, boxes: range, failing: int | None) -> str:
    lines = []
    for at, box in enumerate(boxes):
        moment = f"{day} {1 + at // 12:02}:{at * 5 % 60:02}:{at * 7 % 60:02}"
        pages = 180 + box * 37 % 140
        if box == failing:
            lines.append(f"{moment} ERROR box {box}: feeder jammed, error E-4471, 112 pages lost, stopped")
        elif at in _WARNINGS:
            lines.append(f"{moment} WARN  box {box}: {_WARNINGS[at]}, {pages} pages")
        else:
            lines.append(f"{moment} INFO  box {box}: {pages} pages, {pages * 2 - at % 3} images, ok")
    return "\n".join(lines)


def make_inventory() -> str:
    kinds = ("orders", "invoices", "delivery notes", "wages", "drawings", "letters")
    rows = [
        f"F-{at:04};{kinds[at % 6]};{2009 + at * 5 % 14};cabinet {1 + at // 14};shelf {at % 5 + 1}"
        for at in range(1, 61)
    ]
    return "\n".join(("folder;kind;year;place;shelf", *rows))


def make_offers() -> str:
    firms = (
        ("Reisswolf Nord", 214.0, "lorry in the yard"),
        ("Nordlicht Shredding", 189.5, "sealed container"),
        ("Papier Petersen", 171.0, "bags"),
    )
    offers = [
        {
            "firm": firm,
            "method": method,
            "price": {"amount": amount, "currency": "EUR", "vat": 0.19, "stairs": 28.0 if at == 2 else 0.0},
            "security": {"standard": "DIN 66399", "level": f"P-{3 + at % 2}", "certificate": True},
            "collection": {"days": 2 + at, "from": "07:30", "until": "16:00", "people": 2, "lift": at != 2},
            "steps": [{"what": f"check {step}", "minutes": 5 * step + at} for step in range(1, 9)],
        }
        for at, (firm, amount, method) in enumerate(firms)
    ]
    return json.dumps(offers, indent=1)


def make_boxes(boxes: range) -> str:
    contents = ("invoices", "catalogues", "delivery notes", "frames", "advertising", "time sheets", "samples")
    rows = [
        f"box {box}, layer {layer}: {contents[(box * 3 + layer) % 7]}, {1998 + (box + layer) % 19}, "
        f"{4 + box * layer % 9} folders, {'damp' if (box + layer) % 11 == 0 else 'dry'}"
        for box in boxes
        for layer in range(1, 12)
    ]
    return "\n".join(rows)


def make_shopping_list() -> str:
    things = ("sausages", "cheese", "rolls", "potato salad", "lemonade", "beer", "plates", "ice")
    shops = ("market", "butcher", "wholesale")
    return "\n".join(
        f"{things[at % 8]} from the {shops[at % 3]}: {3 + at * 7 % 20} pieces, {1.9 + at * 1.3 % 9:.2f} EUR"
        for at in range(60)
    )


def make_share_listing() -> str:
    folders = ("offers", "orders", "drawings", "photos", "letters")
    return "\n".join(
        f"drwxr-x--- {folders[at % 5]}/{2009 + at // 4} {120 + at * 53 % 900} entries {at * 37 % 800} MB"
        for at in range(70)
    )


def make_calendar() -> str:
    people = ("Jonas", "Aylin", "Piet", "Yilmaz", "Brandt")
    days = [
        {"day": f"2026-04-{1 + at:02}", "early": people[at % 5], "late": people[(at + 2) % 5]}
        for at in range(30)
    ]
    return json.dumps(days, indent=1)


def make_labels() -> str:
    colours = ("green", "red", "yellow")
    rows = [
        f"0.14;cabinet {1 + at // 8};shelf {1 + at % 5};crate {at + 1:03};{colours[at % 3]};{2009 + at % 15}"
        for at in range(72)
    ]
    return "\n".join(("room;cabinet;shelf;crate;colour;year", *rows))


def make_plan() -> str:
    people = ("Jonas", "Aylin", "Piet", "Hansen 1", "Hansen 2")
    return "\n".join(
        f"{7 + slot // 6:02}:{slot % 6}0 {people[slot % 5]}: crates {1 + slot * 2} and {2 + slot * 2}, "
        f"cellar, cabinet {1 + slot // 5}, to room 0.14, place {'LR'[slot % 2]}{1 + slot % 7}"
        for slot in range(60)
    )


PASTES = {
    "{night log}": make_log("2026-02-11", range(1, 61), 17),
    "{first boxes}": make_boxes(range(1, 7)),
    "{grill}": make_shopping_list(),
    "{inventory}": make_inventory(),
    "{share}": make_share_listing(),
    "{offers}": make_offers(),
    "{second log}": make_log("2026-02-26", range(61, 117), None),
    "{calendar}": make_calendar(),
    "{more boxes}": make_boxes(range(7, 13)),
    "{labels}": make_labels(),
    "{plan}": make_plan(),
}


NAME, WINDOW = "scripted", 8_192
# Tokens: pieces of words with up to six letters, and every other character.
_TOKEN = re.compile(r"\w{1,6}|[^\w\s]")
# The prefix of a list item, with the date and the speaker of a quote.
QUOTED = re.compile(
    r"^[-*] (?:(?:\d{4}-\d\d-\d\d(?:, \w+)?|user|assistant|tool|Nutzer|Assistent|Werkzeug): )?"
)
# The share of a question's terms that the answering sentence must have.
_MIN_SHARE = 0.5
# Longer sentences are not considered as answers.
_MAX_SENTENCE = 500
_UNKNOWN = {
    "en": "I do not know: nothing that I was sent says so.",
    "de": "Das weiß ich nicht: In dem, was ich bekommen habe, steht es nicht.",
}


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence that answers a question, and the index of the request's message it is in."""

    sentence: str
    message: int


def count_tokens(text: str) -> int:
    return len(_TOKEN.findall(text))


def count_request(request: ChatRequest) -> int:
    """Count the tokens of a request as this model does."""
    return sum(count_tokens(message.text) for message in request.messages)


class Player:
    """Answers for one script."""

    def __init__(self, script: DemoScript) -> None:
        self._script = script
        self._lines = {line.said: line.answer for line in script.lines if line.answer}

    def provider(self) -> ScriptedProvider:
        model = ModelInfo(NAME, running_window=WINDOW, trained_window=WINDOW)
        return ScriptedProvider(fallback=self.answer, models=[model], count=count_tokens)

    def answer(self, request: ChatRequest) -> Script:
        if not self.is_talk(request):
            return UpstreamError("the scripted model writes no summaries", status=501)
        newest = request.messages[-1]
        if newest.role != "user":
            # Holdfast warms up the prompt cache; no answer is needed.
            return ""
        line = next((line for line in self._lines if newest.text.startswith(line)), None)
        if line is not None:
            return self._lines[line]
        match = find_answer(request)
        return match.sentence if match else _UNKNOWN[self._script.language]

    def is_talk(self, request: ChatRequest) -> bool:
        """Return whether a request belongs to the conversation, and not to Holdfast's own work."""
        first = request.messages[0]
        return first.role == "system" and first.text.startswith(self._script.instructions)


def find_answer(request: ChatRequest) -> AnswerSentence | None:
    """Return the shortest sentence of a request that has most terms of its question, if it has enough."""
    # Holdfast adds what it recalls after the question and a blank line.
    question = request.messages[-1].text.partition("\n\n")[0]
    asked = set(terms(question))
    best, most = None, (_MIN_SHARE * len(asked), -_MAX_SENTENCE)
    for at, message in enumerate(request.messages if asked else ()):
        for sentence in sentences(message.text.removeprefix(question)):
            text = QUOTED.sub("", sentence)
            rank = len(asked.intersection(terms(text))), -len(text)
            # A question is no answer.
            if rank > most and not text.endswith("?"):
                best, most = AnswerSentence(text, at), rank
    return best


# Where an answer came from, nearest first.
OriginPlace = Literal["window", "rule", "decision", "ledger", "summary", "log", "memory", "nowhere"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an answer came from: `turn` is where it was said, 0 if unknown; `note` is a file and line."""

    place: OriginPlace
    turn: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class TurnEvent:
    """A turn and its request; `whole` is the tokens of everything said so far."""

    turn: int
    turns: int
    said: str
    answer: str
    level: int
    tokens: int
    room: int
    window: int
    whole: int
    sections: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class LevelEvent:
    """A compaction level was applied: level 3 is a summary, and `way` how it was written."""

    turn: int
    level: int
    messages: int
    before: int
    after: int
    way: str = ""


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """A memory was added, updated or replaced."""

    turn: int
    change: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class RecallEvent:
    """Something that was not in the window was added to the question."""

    turn: int
    text: str
    origins: tuple[Origin, ...]


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """A question without an answer in the script; turn 0 is in a conversation of its own."""

    turn: int
    question: str
    answer: str
    right: bool
    origin: Origin


@dataclass(frozen=True, slots=True)
class EndEvent:
    """The totals. `sent` is the tokens of all requests, `resent` what sending everything would take.

    `cut` is how many messages a client that drops the oldest would have lost by the end.
    """

    turns: int
    said: int
    window: int
    room: int
    largest: int
    sent: int
    resent: int
    # How often each level was applied.
    levels: Mapping[int, int]
    memories: int
    recalls: int
    asked: int
    right: int
    messages: int
    cut: int
    seconds: float
    home: str

    @property
    def well(self) -> bool:
        return self.right == self.asked and self.largest <= self.room


DemoEvent = TurnEvent | LevelEvent | MemoryEvent | RecallEvent | AnswerEvent | EndEvent

_NAMES: dict[type, str] = {
    TurnEvent: "turn",
    LevelEvent: "level",
    MemoryEvent: "memory",
    RecallEvent: "recall",
    AnswerEvent: "answer",
    EndEvent: "end",
}


def event_name(event: DemoEvent) -> str:
    return _NAMES[type(event)]


def serialize_event(event: DemoEvent) -> dict[str, Any]:
    fields = {"event": event_name(event), **asdict(event)}
    return fields | ({"well": event.well} if isinstance(event, EndEvent) else {})


Report = Mapping[str, Any]


async def perform(
    script: DemoScript, home: Path, embedder: str = "embedded"
) -> AsyncGenerator[DemoEvent, None]:
    """Run a script on an empty data folder; yield its events, the totals last."""
    tally, player = _Tally(time.monotonic()), Player(script)
    server = player.provider()
    async with open_engine(home, server, embedder) as engine:
        async for event in _Performance(script, engine, player, server, tally).run(home):
            yield event


@asynccontextmanager
async def open_engine(home: Path, server: ScriptedProvider, embedder: str) -> AsyncIterator[TurnEngine]:
    """Open the usual engine on a data folder, with the scripted server."""
    settings = Config.of(Settings(home=home, embedder=embedder)).settings
    store = open_store(settings.store)
    remembering = build_remembering(settings, store)

    async def find() -> ScriptedProvider:
        return server

    engine = TurnEngine(
        store,
        Upstreams(find, server),
        ModelRegistry(store, home / "cache"),
        # Without the cooldown: turns follow each other at once here, and a minute apart when people type.
        replace(preset_named("balanced"), cooldown_seconds=0.0),
        remembering=remembering,
        options=SummaryOptions(pause=0.0),
    )
    try:
        await engine.start()
        # Start the embedder now, so that results do not depend on how many seconds that takes.
        with suppress(EmbedderError):
            await asyncio.to_thread(remembering.embedder.wake)
        yield engine
    finally:
        await engine.close()


# On a busy machine the recall may time out; the last question is then repeated.
_MAX_TRIES = 3


@dataclass(slots=True)
class _Tally:
    """Totals collected during the run."""

    began: float
    # Tokens of every message, and of the requests.
    told: list[int] = field(default_factory=list)
    sent: int = 0
    resent: int = 0
    levels: Counter[int] = field(default_factory=Counter)
    memories: int = 0
    recalls: int = 0
    answers: list[AnswerEvent] = field(default_factory=list)


class _Performance:
    """One run of a script with one engine."""

    def __init__(
        self, script: DemoScript, engine: TurnEngine, player: Player, server: ScriptedProvider, tally: _Tally
    ) -> None:
        self._script, self._engine, self._player, self._server = script, engine, player, server
        self._tally = tally
        self._conversation: str | None = None
        self._report: dict[str, Any] = {}
        self._seen = 0
        self._changes: list[dict[str, Any]] = []
        engine.events.listeners.append(self._on_event)

    async def run(self, home: Path) -> AsyncGenerator[DemoEvent, None]:
        for number, line in enumerate(self._script.lines, 1):
            answer = await self._send(line)
            for event in await self._engine.store.run(self._turn_events, number, line, answer):
                yield event
        line = self._script.afterwards
        for _ in range(_MAX_TRIES):
            self._conversation = None
            answer = await self._send(line)
            if "not_recalled" not in self._report["notices"]:
                break
        yield await self._engine.store.run(self._answer_event, 0, line, answer)
        yield self._end_event(home)

    async def _send(self, line: ScriptLine) -> str:
        """Run one turn and the background work after it; return the answer."""
        messages = (Message.of("system", self._script.instructions), Message.of("user", line.said))
        turn = await self._engine.turn(Ask(ChatRequest(NAME, messages), continues=self._conversation))
        answer = Answer()
        async for chunk in turn.chunks:
            answer.add(chunk)
        self._conversation, self._report = turn.conversation, dict(turn.report)
        await self._engine.background.idle.wait_until_idle()
        return answer.message.text

    def _turn_events(self, number: int, line: ScriptLine, answer: str) -> list[DemoEvent]:
        """Collect the events of a turn; reads the store, so it runs in one of the store's threads."""
        tally, report = self._tally, self._report
        request = self._request()
        tally.told.append(count_tokens(line.said))
        whole = count_tokens(self._script.instructions) + sum(tally.told)
        tally.told.append(count_tokens(answer))
        tally.sent, tally.resent = tally.sent + count_request(request), tally.resent + whole
        sections = {row["name"]: row["tokens"] for row in report["sections"]}
        turn_event = TurnEvent(
            number,
            len(self._script.lines),
            line.said,
            answer,
            report["level"],
            report["tokens"],
            report["room"],
            report["window"],
            whole,
            sections,
        )
        events: list[DemoEvent] = [turn_event, *self._recall_events(number), *self._level_events(number)]
        events += self._memory_events(number)
        if line.sought:
            events.append(self._answer_event(number, line, answer))
        return events

    def _recall_events(self, number: int) -> list[RecallEvent]:
        newest = self._report["messages"][-1]
        texts = [added["text"] for added in newest.get("added", ()) if added["section"] == "recalled"]
        if not texts:
            return []
        self._tally.recalls += 1
        origins = find_recall_origins(self._engine, self._report, newest["id"])
        return [RecallEvent(number, "\n".join(texts), tuple(origins))]

    def _level_events(self, number: int) -> list[LevelEvent]:
        assert self._conversation is not None
        rows = self._engine.store.compactions.of(self._conversation)
        new, self._seen = rows[self._seen :], len(rows)
        self._tally.levels.update(row.level for row in new)
        return [
            LevelEvent(number, row.level, row.messages, row.tokens_before, row.tokens_after, row.path)
            for row in new
        ]

    def _memory_events(self, number: int) -> list[MemoryEvent]:
        changes, self._changes = self._changes, []
        self._tally.memories += sum(change["change"] == "added" for change in changes)
        return [MemoryEvent(number, change["change"], change["kind"], change["text"]) for change in changes]

    def _answer_event(self, number: int, line: ScriptLine, answer: str) -> AnswerEvent:
        right = line.sought in answer
        origin = find_origin(self._engine, self._report, find_answer(self._request()))
        answered = AnswerEvent(number, line.said, answer, right, origin)
        self._tally.answers.append(answered)
        return answered

    def _request(self) -> ChatRequest:
        """Return the last request that somebody waited for."""
        return next(request for request in reversed(self._requests()) if request.messages[-1].role == "user")

    def _requests(self) -> list[ChatRequest]:
        return [request for request in self._server.requests if self._player.is_talk(request)]

    def _end_event(self, home: Path) -> EndEvent:
        tally, room = self._tally, self._report["room"]
        cut = count_dropped(tally.told, room - count_tokens(self._script.instructions))
        return EndEvent(
            turns=len(self._script.lines),
            said=sum(tally.told),
            window=WINDOW,
            room=room,
            largest=max(map(count_request, self._requests())),
            sent=tally.sent,
            resent=tally.resent,
            levels=dict(sorted(tally.levels.items())),
            memories=tally.memories,
            recalls=tally.recalls,
            asked=len(tally.answers),
            right=sum(answer.right for answer in tally.answers),
            messages=len(tally.told),
            cut=cut,
            seconds=round(time.monotonic() - tally.began, 1),
            home=str(home),
        )

    def _on_event(self, event: Event) -> None:
        if event.kind == "memory":
            self._changes.append(dict(event.data))


def count_dropped(sizes: list[int], room: int) -> int:
    """Count the oldest messages that are lost where only the newest that fit are sent."""
    remaining = 0
    for tokens in reversed(sizes):
        room -= tokens
        if room < 0:
            break
        remaining += 1
    return len(sizes) - remaining


def find_origin(engine: TurnEngine, report: Report, answer: AnswerSentence | None) -> Origin:
    """Return where the sentence that the model answered with came from."""
    if answer is None:
        return Origin("nowhere")
    sentence = answer.sentence
    if answer.message == 0:
        if any(sentence in kept_sentence for kept_sentence in (*report["rules"], *report["forbidden"])):
            return Origin("rule")
        if any(sentence in kept_sentence for kept_sentence in report["agreed"]):
            return Origin("decision")
        return Origin("ledger" if is_in_ledger(engine, report, sentence) else "summary")
    row = report["messages"][answer.message - 1]
    if any(sentence in added["text"] for added in row.get("added", ())):
        return next(iter(find_recall_origins(engine, report, row["id"], sentence)), Origin("nowhere"))
    return Origin("window", turn_number(engine, row["id"]))


def find_recall_origins(engine: TurnEngine, report: Report, message: str, sentence: str = "") -> list[Origin]:
    """Return where the text added to a message came from: all of it, or what contains the sentence."""
    origins: list[Origin] = []
    for decision in engine.store.decisions.of(report["lane"]):
        if decision.rule != "recalled" or message not in decision.messages:
            continue
        origins += [
            Origin("log", turn_number(engine, source["message"]))
            for source in decision.data.get("sources", ())
            if sentence in engine.store.log.message(source["message"]).message.text
        ]
        for name in decision.data.get("memories", ()):
            origins += find_note_origins(engine, name, sentence)
    return origins


def is_in_ledger(engine: TurnEngine, report: Report, sentence: str) -> bool:
    """Return whether a sentence is an entry of the summary's ledger; a cut entry keeps its name."""
    summary = engine.store.summaries.latest(report["messages"][-1]["id"])
    if summary is None:
        return False
    body = SummaryBody.from_json(summary.body)
    lines = body.ledger.render(body.language).splitlines()
    return any(sentence.startswith(f"{name}:") for name in {line.partition(":")[0] for line in lines})


def find_note_origins(engine: TurnEngine, name: str, sentence: str) -> list[Origin]:
    """Return the files and lines of a memory that contains the sentence."""
    assert engine.remembering is not None
    folder = engine.remembering.workspace.folder
    assert folder is not None
    origins = []
    for container, text in engine.store.passages.files_of([name]).get(name, {}).items():
        path = container.rpartition(":")[2]
        sought = sentence or text.splitlines()[0]
        lines = (folder / path).read_text(encoding="utf-8").splitlines()
        at = next((at for at, line in enumerate(lines, 1) if sought in line), 0)
        if at:
            origins.append(Origin("memory", note=f"{path}:{at}"))
    return origins


def turn_number(engine: TurnEngine, message: str) -> int:
    """Return the turn of a message; a turn is a question and its answer."""
    return engine.store.log.message(message).depth // 2 + 1
