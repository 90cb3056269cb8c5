"""Long chats with things planted in them: generated ones, and real ones from the shared data.

The same seed gives the same chat. What becomes of it is none of this module's business.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Literal

from evals.compaction_words import VOCABULARIES, Vocabulary
from evals.window_agents import Transcript, transcripts
from holdfast.messages import Message

Kind = Literal["value", "rule", "decision"]

DATA = Path(__file__).parents[2] / "shared" / "data"
_MONTHS = {
    "en": ("January", "March", "May", "June", "August", "October"),
    "de": ("Januar", "März", "Mai", "Juni", "August", "Oktober"),
}
# Of all turns this share has something planted; of that so much is said by the model.
_PLANTED, _BY_MODEL = 0.7, 0.3
# Sentences of a question and of an answer.
_QUESTION, _ANSWER = (3, 7), (8, 16)
_ASIDE = 0.12
# As many rules as are promised to be kept.
_RULES = 10


@dataclass(frozen=True, slots=True)
class Planted:
    """Something that must not be lost: where `said` stands, `value` is it, and `question` asks for it."""

    kind: Kind
    value: str
    said: str
    question: str = ""
    # What sort of value it is, and who said it.
    sort: str = ""
    by: str = "user"


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a client adds to the conversation, what is answered, and what was planted in both."""

    asked: tuple[Message, ...]
    answer: Message
    planted: tuple[Planted, ...] = ()


@dataclass(frozen=True, slots=True)
class Chat:
    name: str
    language: str
    exchanges: tuple[Exchange, ...]
    system: str

    @property
    def idle(self) -> str:
        """Something to say that points at nothing."""
        return VOCABULARIES[self.language].idle


class Planter:
    """Values that were never there before, each about something of its own."""

    def __init__(self, language: str, random: Random, seed: int = 1) -> None:
        self._random = random
        self._half = 1 - seed % 2
        self._language = language
        self._words = VOCABULARIES[language]
        self._abouts = [*product(self._words.things, self._words.owners)]
        random.shuffle(self._abouts)
        self._given: set[str] = set()
        self._number = 0

    @property
    def is_empty(self) -> bool:
        return not self._abouts

    def value(self, by: str = "user") -> Planted:
        template = self._words.templates[self._number % len(self._words.templates)]
        self._number += 1
        thing, owner = self._abouts.pop()
        about = self._words.named.format(thing=thing, owner=owner)
        value = self._fresh(template.kind)
        text = template.said.format(about=about, value=value)
        return Planted("value", value, text, template.asked.format(about=about), template.kind, by)

    def sentences(self) -> list[Planted]:
        """Ten rules, other ones for every other seed, and decisions, mixed."""
        rules = self._words.rules[_RULES * self._half :][:_RULES]
        facts = [Planted("rule", rule, rule) for rule in rules]
        facts += [Planted("decision", decision, decision) for decision in self._words.decisions]
        self._random.shuffle(facts)
        return facts

    def _fresh(self, kind: str) -> str:
        while True:
            value = self._make(kind)
            # No value may be part of another one, or finding one would be finding both.
            if not any(value in other or other in value for other in self._given):
                self._given.add(value)
                return value

    def _make(self, kind: str) -> str:
        random, german = self._random, self._language == "de"
        letters = "".join(random.choice("ABCDEFGHKLMNPRSTUVWXYZ") for _ in range(3))
        match kind:
            case "order":
                return f"{letters}-{random.randint(10_000, 99_999)}"
            case "serial":
                return f"{letters}{random.randint(10, 99)}X{random.randint(1000, 9999)}"
            case "file":
                return f"configs/{letters.lower()}/unit_{random.randint(100, 999)}.yaml"
            case "port":
                return str(random.randint(20_000, 60_000))
            case "price":
                euros, cents = random.randint(1000, 9999), random.randint(10, 99)
                written = f"{euros:,}"
                return f"{written.replace(',', '.')},{cents} EUR" if german else f"{written}.{cents} EUR"
            case "date":
                day, month = random.randint(1, 28), random.choice(_MONTHS[self._language])
                return f"{day}{'.' if german else ''} {month} {random.randint(2027, 2033)}"
            case "version":
                return f"{random.randint(2, 19)}.{random.randint(10, 99)}.{random.randint(1, 30)}"
            case "degrees":
                number = f"{random.randint(100, 999)}.{random.randint(1, 9)}"
                return f"{number.replace('.', ',') if german else number} °C"
            case "url":
                return f"https://docs.example/{letters.lower()}/{random.randint(1000, 9999)}"
            case "address":
                return f"10.{random.randint(10, 250)}.{random.randint(1, 250)}.{random.randint(1, 250)}"
            case "code":
                return f"E{random.randint(1000, 9999)}"
            case "count":
                return f"{random.randint(21, 980)} {'Filter' if german else 'filters'}"
            case "commit":
                return "".join(random.choice("0123456789abcdef") for _ in range(7)) + "4e"
        return f"#{random.randint(10_000, 99_999)}"


def generate_chat(language: str, seed: int, turns: int) -> Chat:
    """People who talk about buildings and mention now and then what they will need again."""
    random = Random(f"{language}{seed}")
    words, planter = VOCABULARIES[language], Planter(language, random, seed)
    sentences = planter.sentences()
    exchanges = []
    for turn in range(turns):
        asked = [_sentence(words, random) for _ in range(random.randint(*_QUESTION))]
        answer = [_sentence(words, random) for _ in range(random.randint(*_ANSWER))]
        planted = []
        if random.random() < _PLANTED:
            by_model = random.random() < _BY_MODEL
            planted.append(planter.value("assistant" if by_model else "user"))
            where = answer if by_model else asked
            where.insert(random.randint(0, len(where)), planted[-1].said)
        if turn % 3 == 1 and sentences:
            planted.append(sentences.pop())
            asked.insert(random.randint(0, len(asked)), planted[-1].said)
        asked.append(random.choice(words.asks))
        exchanges.append(
            Exchange(
                (Message.of("user", " ".join(asked)),),
                Message.of("assistant", " ".join(answer)),
                tuple(planted),
            )
        )
    return Chat(f"generated {language}", language, tuple(exchanges), words.system)


def _sentence(words: Vocabulary, random: Random) -> str:
    if random.random() < _ASIDE:
        return random.choice(words.asides).format(number=random.randint(2, 11))
    text = f"{random.choice(words.subjects)} {random.choice(words.deeds)}"
    comma = "" if (ending := random.choice(words.endings)).startswith(("and ", "und ")) else ","
    return f"{text[0].upper()}{text[1:]}{comma} {ending}."


def plant_in(name: str, language: str, exchanges: Sequence[Exchange], seed: int, system: str = "") -> Chat:
    """A real chat, with values, rules and decisions at the end of some of its questions."""
    random = Random(f"{name}{seed}")
    planter = Planter(language, random, seed)
    sentences = planter.sentences()
    result = []
    for turn, exchange in enumerate(exchanges):
        last = exchange.asked[-1]
        planted: list[Planted] = []
        if last.role == "user" and not last.tool_results:
            if random.random() < _PLANTED and not planter.is_empty:
                planted.append(planter.value())
            if turn % 3 == 1 and sentences:
                planted.append(sentences.pop())
        if planted:
            text = f"{last.text}\n\n{' '.join(item.said for item in planted)}"
            asked = (*exchange.asked[:-1], Message.of("user", text))
            exchange = replace(exchange, asked=asked, planted=tuple(planted))
        result.append(exchange)
    return Chat(name, language, tuple(result), system or VOCABULARIES[language].system)


def load_shared(names: Sequence[str], seed: int) -> Iterator[Chat]:
    """The shared data as chats, as far as it is there."""
    for name in names:
        if name in ("airline", "aider"):
            if (DATA / "agent").is_dir():
                yield _agents(name, seed)
        elif (DATA / "eval" / name / "docs.jsonl").is_file():
            language = "de" if name.endswith("_de") else "en"
            yield plant_in(name, language, [*_exchanges(name, language)], seed)


SETS = ("beam100k", "longmemeval", "locomo", "xquad_de", "airline", "aider")


def _exchanges(name: str, language: str) -> Iterator[Exchange]:
    """Pairs of what a user and an assistant say; where roles do not alternate, messages take turns."""
    lines = (DATA / "eval" / name / "docs.jsonl").read_text(encoding="utf-8").splitlines()
    docs = [json.loads(line) for line in lines]
    # All of a set is one long chat: people come back to it day after day.
    texts = [(doc["role"], doc["text"]) for doc in docs if doc["text"]]
    if {role for role, _ in texts} >= {"user", "assistant"}:
        waiting: list[str] = []
        for role, text in texts:
            if role == "user":
                waiting.append(text)
            elif waiting:
                yield _pair("\n".join(waiting), text)
                waiting = []
        return
    ask = VOCABULARIES[language].asks[0]
    for at in range(0, len(texts) - 1, 2):
        item, other = texts[at][1], texts[at + 1][1]
        yield _pair(f"{item}\n\n{ask}" if name.startswith("xquad") else item, other)


def _pair(asked: str, answer: str) -> Exchange:
    return Exchange((Message.of("user", asked),), Message.of("assistant", answer))


def _agents(name: str, seed: int) -> Chat:
    *_, day, coding = transcripts(DATA / "agent")
    transcript: Transcript = day if name == "airline" else coding
    system = "\n".join(message.text for message in transcript.system)
    return plant_in(name, "en", [*_rounds(transcript.messages)], seed, system)


def _rounds(messages: Sequence[Message]) -> Iterator[Exchange]:
    """What comes between two answers, and the answer; two answers in a row are one."""
    asked: list[Message] = []
    for message in messages:
        if message.role == "system":
            continue
        if message.role != "assistant":
            asked.append(message)
        elif asked and (message.text or message.tool_calls):
            yield Exchange(tuple(asked), message)
            asked = []
