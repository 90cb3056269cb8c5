"""Long chats with things planted in them: generated ones, and real ones from the shared data.

The same seed gives the same chat. What becomes of it is none of this module's business.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Literal

from evals.window_agents import Transcript, transcripts
from holdfast.messages import Message


@dataclass(frozen=True, slots=True)
class Template:
    """How something planted is said, and how somebody asks for it later. `kind` picks what the value is."""

    kind: str
    said: str
    asked: str


@dataclass(frozen=True, slots=True)
class Vocabulary:
    things: tuple[str, ...]
    owners: tuple[str, ...]
    # How a thing and whose it is make a name.
    named: str
    templates: tuple[Template, ...]
    # Twice as many as a chat has: one half to look at while something is made better, one to confirm it.
    rules: tuple[str, ...]
    decisions: tuple[str, ...]
    subjects: tuple[str, ...]
    deeds: tuple[str, ...]
    endings: tuple[str, ...]
    # Numbers nobody will ask for; `{number}` is filled in.
    asides: tuple[str, ...]
    asks: tuple[str, ...]
    idle: str
    system: str


_ENGLISH = Vocabulary(
    things=(
        "boiler", "cold store", "delivery van", "front door", "invoice printer", "cash register",
        "website", "mail server", "backup disk", "alarm system", "solar roof", "oven", "water meter",
        "label machine", "loading ramp", "forklift", "coffee grinder", "ventilation", "time clock",
        "card reader", "greenhouse", "packing table", "router", "scale",
    ),
    owners=(
        "Lindner bakery", "Okafor workshop", "Brandt nursery", "Castellano dairy", "Hvidberg brewery",
        "Marchetti print shop", "Osei warehouse", "Petrov laundry", "Quint pharmacy", "Rasmussen farm",
        "Sandoval school", "Takeda garage", "Ulrich hotel", "Varga museum", "Weller cinema",
    ),
    named="the {thing} of the {owner}",
    templates=(
        Template("order", "The order for {about} went out as {value}.",
                 "Under which order number did we order {about}?"),
        Template("serial", "The serial number of {about} is {value}.",
                 "What is the serial number of {about}?"),
        Template("file", "The settings of {about} are in {value}.",
                 "In which file are the settings of {about}?"),
        Template("port", "The controller of {about} listens on port {value}.",
                 "On which port does the controller of {about} listen?"),
        Template("price", "Repairing {about} costs {value}.", "What does it cost to repair {about}?"),
        Template("date", "The inspection of {about} is on {value}.", "When is the inspection of {about}?"),
        Template("version", "The firmware of {about} is at {value} now.",
                 "Which firmware version does {about} have?"),
        Template("degrees", "The limit for {about} is {value}.", "What limit did we set for {about}?"),
        Template("url", "The manual of {about} is at {value}.", "Where is the manual of {about}?"),
        Template("address", "In the network {about} has {value}.",
                 "Which network address does {about} have?"),
        Template("code", "This morning {about} showed error {value}.", "Which error did {about} show?"),
        Template("count", "For {about} we need {value}.", "How many filters do we need for {about}?"),
        Template("commit", "The change for {about} is in commit {value}.",
                 "In which commit is the change for {about}?"),
        Template("ticket", "Somebody opened {value} about {about}.", "Which ticket is there about {about}?"),
    ),
    rules=(
        "Never push directly to the main branch.",
        "Always ask me before you send an email.",
        "Don't delete anything in the archive folder.",
        "From now on, use metric units.",
        "Please keep every answer under five paragraphs.",
        "Use British spelling in all letters.",
        "Do not mention the Hartmann project to anyone.",
        "Write dates with the month as a word.",
        "Never suggest paid software.",
        "Always name the person who is responsible.",
        "Never quote prices without tax.",
        "Answer with bullet points only.",
        "Don't use the word cheap in letters to customers.",
        "Always check the calendar before you suggest a date.",
        "Keep the tone friendly with the neighbours.",
        "Do not call anybody before nine in the morning.",
        "From now on, number the open points.",
        "Leave the signature as it is.",
        "Always put the urgent things first.",
        "Never share the floor plan with visitors.",
    ),
    decisions=(
        "We decided to move the archive to the cellar.",
        "Let's go with the blue paint for all doors.",
        "We agreed to close on Mondays in winter.",
        "We decided against the leasing contract because it binds us too long.",
        "Let's use paper forms until the new system runs.",
        "We decided to keep the old supplier for flour.",
        "We agreed that the night shift gets its own key.",
        "We decided to switch to the smaller pallets.",
    ),
    subjects=(
        "the foreman", "the accountant", "our neighbour", "the new apprentice", "the night shift",
        "the supplier", "the town council", "the electrician", "the driver", "the owner's daughter",
        "a customer", "the insurance", "the cleaning crew", "the plumber", "the team in the office",
    ),
    deeds=(
        "would like to see a sketch first", "asked about the colour of the labels",
        "thinks the corridor is too dark", "wants the tools back on the wall",
        "prefers a plan that everybody understands", "said the noise has become better",
        "is unhappy about the draught near the gate", "has found a better place for the ladders",
        "talks about a second entrance for visitors", "hopes for a quieter compressor",
        "put the old shelves beside the window", "remembers how it was done years ago",
        "brought samples of the floor covering", "would rather wait until the rain stops",
        "has doubts about the shape of the roof", "looked after the plants in the yard",
    ),
    endings=(
        "and nobody objected", "which made the others smile", "although the budget is small",
        "because the light is better there", "so we should come back to it", "as far as I know",
        "and that is how it usually goes", "while the rest can stay as it is", "if the weather allows it",
        "and it did not take long", "though opinions differ", "which is no surprise to anybody",
    ),
    asides=(
        "It took about {number} minutes.", "There were {number} people in the room.",
        "That was roughly {number} steps from the gate.", "We had coffee at half past {number}.",
    ),
    asks=(
        "How would you put that in a few sentences?", "What should we think about next?",
        "Could you sort these thoughts a little?", "What do you make of that?",
        "Is there something we forgot?",
    ),
    idle="Thank you, that was helpful. Let us go on with something else now.",
    system="You are a patient assistant of a small firm that looks after buildings.",
)  # fmt: skip

_GERMAN = Vocabulary(
    things=(
        "Heizkessel", "Kühlraum", "Lieferwagen", "Haustür", "Rechnungsdrucker", "Kasse", "Webseite",
        "Mailserver", "Sicherungsplatte", "Alarmanlage", "Solardach", "Backofen", "Wasserzähler",
        "Etikettiermaschine", "Laderampe", "Gabelstapler", "Kaffeemühle", "Lüftung", "Stechuhr",
        "Kartenleser", "Gewächshaus", "Packtisch", "Router", "Waage",
    ),
    owners=(
        "Bäckerei Lindner", "Werkstatt Okafor", "Gärtnerei Brandt", "Molkerei Castellano",
        "Brauerei Hvidberg", "Druckerei Marchetti", "Spedition Osei", "Wäscherei Petrov",
        "Apotheke Quint", "Hofladen Rasmussen", "Schule Sandoval", "Garage Takeda", "Pension Ulrich",
        "Museum Varga", "Kino Weller",
    ),
    named="{thing} ({owner})",
    templates=(
        Template("order", "Die Bestellung für {about} ging als {value} hinaus.",
                 "Unter welcher Nummer lief die Bestellung für {about}?"),
        Template("serial", "Die Seriennummer von {about} lautet {value}.",
                 "Wie lautet die Seriennummer von {about}?"),
        Template("file", "Die Einstellungen von {about} stehen in {value}.",
                 "In welcher Datei stehen die Einstellungen von {about}?"),
        Template("port", "Die Steuerung von {about} hört auf Port {value}.",
                 "Auf welchem Port hört die Steuerung von {about}?"),
        Template("price", "Die Reparatur von {about} kostet {value}.",
                 "Was kostet die Reparatur von {about}?"),
        Template("date", "Die Prüfung von {about} ist am {value}.", "Wann ist die Prüfung von {about}?"),
        Template("version", "Die Firmware von {about} steht jetzt bei {value}.",
                 "Welche Firmware hat {about} jetzt?"),
        Template("degrees", "Der Grenzwert für {about} liegt bei {value}.",
                 "Welchen Grenzwert haben wir für {about}?"),
        Template("url", "Das Handbuch von {about} liegt unter {value}.",
                 "Wo liegt das Handbuch von {about}?"),
        Template("address", "Im Netz hat {about} die {value}.", "Welche Adresse im Netz hat {about}?"),
        Template("code", "Heute früh zeigte {about} den Fehler {value}.", "Welchen Fehler zeigte {about}?"),
        Template("count", "Für {about} brauchen wir {value}.", "Wie viele Filter brauchen wir für {about}?"),
        Template("commit", "Die Änderung für {about} ist in Commit {value}.",
                 "In welchem Commit ist die Änderung für {about}?"),
        Template("ticket", "Jemand hat wegen {about} das Ticket {value} geöffnet.",
                 "Welches Ticket gibt es wegen {about}?"),
    ),
    rules=(
        "Schicke niemals etwas ohne meine Freigabe ab.",
        "Antworte immer in ganzen Sätzen.",
        "Ab jetzt rechnest du alle Preise netto.",
        "Lösche nichts im Ordner Archiv.",
        "Verwende bitte überall metrische Einheiten.",
        "Nenne den Namen Hartmann nie in einem Brief.",
        "Frag mich immer, bevor du etwas bestellst.",
        "Benutze keine Abkürzungen.",
        "Schlage mir niemals kostenpflichtige Programme vor.",
        "Schreibe den Monat immer aus.",
        "Nenne Preise nie ohne Steuer.",
        "Antworte nur in Stichpunkten.",
        "Schreib Kunden niemals das Wort billig.",
        "Sieh immer zuerst in den Kalender, bevor du einen Termin vorschlägst.",
        "Bleib im Ton freundlich gegenüber den Nachbarn.",
        "Ruf niemanden vor neun Uhr an.",
        "Ab sofort nummerierst du die offenen Punkte.",
        "Lass die Unterschrift so, wie sie ist.",
        "Stell das Dringende immer an den Anfang.",
        "Gib den Grundriss nie an Besucher weiter.",
    ),
    decisions=(
        "Wir haben entschieden, das Archiv in den Keller zu bringen.",
        "Wir nehmen für alle Türen die blaue Farbe.",
        "Wir haben uns darauf geeinigt, im Winter montags zu schließen.",
        "Wir haben uns gegen den Leasingvertrag entschieden, weil er zu lange bindet.",
        "Wir bleiben bei Papierformularen, bis das neue System läuft.",
        "Wir haben beschlossen, den alten Mehllieferanten zu behalten.",
        "Wir haben vereinbart, dass die Nachtschicht einen eigenen Schlüssel bekommt.",
        "Wir haben entschieden, auf die kleineren Paletten umzusteigen.",
    ),
    subjects=(
        "der Vorarbeiter", "die Buchhalterin", "unser Nachbar", "der neue Lehrling", "die Nachtschicht",
        "der Lieferant", "der Stadtrat", "die Elektrikerin", "der Fahrer", "die Tochter des Besitzers",
        "ein Kunde", "die Versicherung", "die Putzkolonne", "der Klempner", "das Team im Büro",
    ),
    deeds=(
        "möchte zuerst eine Skizze sehen", "fragte nach der Farbe der Etiketten",
        "findet den Flur zu dunkel", "will die Werkzeuge wieder an der Wand haben",
        "mag lieber einen Plan, den jeder versteht", "sagte, der Lärm sei besser geworden",
        "ärgert sich über den Luftzug am Tor", "hat einen besseren Platz für die Leitern gefunden",
        "spricht von einem zweiten Eingang für Besucher", "hofft auf einen leiseren Kompressor",
        "stellte die alten Regale ans Fenster", "weiß noch, wie es vor Jahren gemacht wurde",
        "brachte Muster vom Bodenbelag mit", "würde lieber warten, bis der Regen aufhört",
        "zweifelt an der Form des Daches", "kümmerte sich um die Pflanzen im Hof",
    ),
    endings=(
        "und niemand widersprach", "worüber die anderen lächelten", "obwohl das Geld knapp ist",
        "weil das Licht dort besser ist", "also sollten wir darauf zurückkommen", "soweit ich weiß",
        "und so läuft es meistens", "während der Rest so bleiben kann", "wenn das Wetter mitspielt",
        "und lange hat es nicht gedauert", "auch wenn die Meinungen auseinandergehen",
        "was niemanden überrascht",
    ),
    asides=(
        "Das dauerte etwa {number} Minuten.", "Es waren {number} Leute im Raum.",
        "Vom Tor waren es ungefähr {number} Schritte.", "Kaffee gab es um halb {number}.",
    ),
    asks=(
        "Wie würdest du das in ein paar Sätzen sagen?", "Woran sollten wir als Nächstes denken?",
        "Kannst du diese Gedanken ein wenig ordnen?", "Was hältst du davon?",
        "Gibt es etwas, das wir vergessen haben?",
    ),
    idle="Danke, das hat geholfen. Machen wir jetzt mit etwas anderem weiter.",
    system="Du bist ein geduldiger Assistent einer kleinen Firma, die Gebäude betreut.",
)  # fmt: skip

VOCABULARIES: Mapping[str, Vocabulary] = {"en": _ENGLISH, "de": _GERMAN}


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
