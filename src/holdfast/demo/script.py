"""The script of the demonstration, read from a text file per language, and the texts pasted in it.

Turns are separated by a blank line. `> ` marks what the user says, other lines are the answer to it. `? `
marks a question that has no answer in the script, and `= ` what its answer must contain. The pasted logs,
tables and data are generated; later questions ask for single lines of them.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import UpstreamError
from holdfast.i18n import Language
from holdfast.messages import ChatRequest
from holdfast.testing.provider import Script, ScriptedProvider
from holdfast.text.analyser import sentences, terms
from holdfast.upstreams.base import ModelInfo

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
