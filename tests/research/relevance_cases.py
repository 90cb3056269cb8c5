"""A labelled list: earlier findings, and which of them bear on what somebody says next, German and English.

`need` must be found, `may` can be; any other is one too many. The thresholds of `research.matching` come from
`KNOWN`; `UNSEEN` was written afterwards and nothing was changed for it.
"""

from dataclasses import dataclass

from tests.research.builders import NOW, finding

_FINDINGS = {
    "weather": (
        "Wie wird das Wetter in Niestetal?",
        """
        7-Tage-Wettervorhersage Niestetal (14.11.-20.11.2026): Temperaturen zwischen 2°C nachts und
        9°C tagsüber. Regnerisch am Wochenende (Samstag/Sonntag) mit 65-90%
        Niederschlagswahrscheinlichkeit. Beste Wetterlage Dienstag/Mittwoch. Quellen: wetter.com,
        wetter.de.
        """,
        "daily",
    ),
    "bitcoin": (
        "Wie steht der Bitcoin Kurs?",
        """
        Bitcoin liegt bei 67.000 USD, ein Anstieg um 5% in 24 Stunden. Analysten nennen Zuflüsse in
        ETFs als Grund. Quellen: coindesk.com, finanzen.net.
        """,
        "hourly",
    ),
    "python": (
        "What is new in Python 3.14?",
        """
        Python 3.14 brings free-threaded builds, template strings and deferred annotations. It was
        released in October 2025. Sources: docs.python.org, realpython.com.
        """,
        "permanent",
    ),
    "pump": (
        "Was kostet eine Wärmepumpe?",
        """
        Eine Luft-Wärmepumpe kostet mit Einbau 27.000 bis 40.000 Euro, die Förderung deckt bis zu 70
        % davon. Quellen: verbraucherzentrale.de, adac.de.
        """,
        "monthly",
    ),
    "restaurants": (
        "Welche Restaurants in Kassel sind gut?",
        """
        Empfohlen werden das Voit in der Friedrich-Ebert-Straße und das Mondi im Zentrum von Kassel,
        beide abends geöffnet, Montag Ruhetag. Quellen: tripadvisor.de, hna.de.
        """,
        "monthly",
    ),
    "tax": (
        "When is the German tax return due?",
        """
        The tax return for 2025 is due on 31 July 2026; with an adviser by 28 February 2027.
        Sources: elster.de, bundesfinanzministerium.de.
        """,
        "monthly",
    ),
    "marathon": (
        "How long does a marathon take to prepare?",
        """
        Beginners need 16 to 20 weeks of training, running three to four times a week with one long
        run. Sources: runnersworld.com.
        """,
        "monthly",
    ),
    "train": (
        "Zug von Kassel nach München am Freitag",
        """
        Der ICE fährt stündlich ab Kassel-Wilhelmshöhe und braucht 3 Stunden 20 Minuten;
        Freitagnachmittag sind viele Züge ausgebucht. Quellen: bahn.de.
        """,
        "weekly",
    ),
    "harz": (
        "Is the Harz good for hiking in spring?",
        """
        The Harz has 8,000 km of marked trails; in spring snow can lie above 800 m until April.
        Sources: harzinfo.de.
        """,
        "monthly",
    ),
    "sourdough": (
        "How do I keep a sourdough starter alive?",
        """
        Feed it with equal weights of flour and water once a week in the fridge, daily at room
        temperature. Sources: kingarthurbaking.com.
        """,
        "monthly",
    ),
}
FINDINGS = [
    finding(question, id=name, summary=" ".join(summary.split()), volatility=volatility, created_at=NOW - 60)
    for name, (question, summary, volatility) in _FINDINGS.items()
]


@dataclass(frozen=True)
class Case:
    question: str
    need: frozenset[str]
    may: frozenset[str]


def _case(question: str, need: str = "", may: str = "") -> Case:
    return Case(question, frozenset(need.split()), frozenset(may.split()))


KNOWN = [
    _case("Soll ich am Wochenende wandern gehen?", "weather", "harz"),
    _case("Brauche ich morgen einen Regenschirm?", "weather"),
    _case("Should I sell my coins now?", "bitcoin"),
    _case("Lohnt sich jetzt ein Einstieg in Kryptowährungen?", "bitcoin"),
    _case("Schreib mir eine Python-Funktion, die eine Liste sortiert", "python"),
    _case("How do I use template strings?", "python"),
    _case("Wie schreibe ich eine Schleife in Python?", "python"),
    _case("Wir überlegen, die Heizung zu tauschen. Was meinst du?", "pump"),
    _case("Where could we have dinner tonight in Kassel?", "restaurants", "train weather"),
    _case("Reserviere einen Tisch für Samstag", "", "weather restaurants"),
    _case("Do I still have time to file my taxes?", "tax"),
    _case("I want to run a marathon in May. Am I too late?", "marathon"),
    _case("Wann fährt der Zug nach München?", "train"),
    _case("Lohnt sich ein Ausflug in den Harz?", "harz", "weather"),
    _case("My bread starter smells odd", "sourdough"),
    _case("Was ist eine Monade in Haskell?"),
    _case("Explain the difference between TCP and UDP"),
    _case("Fix this bug: IndexError in line 3"),
    _case("Danke, das war's für heute!"),
    _case("Schreibe ein Gedicht über die Liebe"),
    _case("What is 17 times 23?"),
    _case("Übersetze diesen Satz ins Englische: Der Hund schläft."),
    _case("Wie heißt die Hauptstadt von Peru?"),
    _case("Write unit tests for the parser"),
    _case("Can we have the garden party on Sunday?", "weather"),
    _case("Wird es am Samstag nass?", "weather"),
    _case("Wie viel ist mein halber Bitcoin wert?", "bitcoin"),
    _case("Refactor the class so that it has no global state"),
    _case("Summarise our conversation so far"),
    _case("Welche Förderung gibt es für eine neue Heizung?", "pump"),
]

UNSEEN = [
    _case("Können wir am Sonntag im Garten grillen?", "weather"),
    _case("Is it going to rain on Saturday?", "weather"),
    _case("Welche Temperaturen haben wir nachts?", "weather"),
    _case("What should I wear on Tuesday?", "weather"),
    _case("Sollte ich meine Bitcoins verkaufen?", "bitcoin"),
    _case("Why did the price of BTC go up?", "bitcoin"),
    _case("Does Python 3.14 still have the GIL?", "python"),
    _case("Wie hoch ist der Zuschuss für Wärmepumpen?", "pump"),
    _case("Was kostet der Einbau einer neuen Heizung?", "pump"),
    _case("Kennst du ein gutes Lokal in Kassel?", "restaurants", "train"),
    _case("Ist das Voit am Montag offen?", "restaurants"),
    _case("What is the deadline for my tax return?", "tax"),
    _case("Make me a training plan for a half marathon", "marathon"),
    _case("Wie lange dauert die Fahrt nach München?", "train"),
    _case("Ist der ICE am Freitag voll?", "train"),
    _case("Are the trails in the Harz free of snow in March?", "harz"),
    _case("How often should I feed my sourdough?", "sourdough"),
    _case("What is the capital of Australia?"),
    _case("Erkläre mir Rekursion mit einem Beispiel"),
    _case("Write a haiku about autumn leaves"),
    _case("Wie lautet die Ableitung von sin(x)?"),
    _case("Please shorten this paragraph: The committee met again and nothing was decided."),
    _case("Who painted the Mona Lisa?"),
    _case("Wie konfiguriere ich nginx als Proxy?"),
    _case("Schreib eine E-Mail an meinen Vermieter wegen der defekten Klingel"),
    _case("Convert 5 miles to kilometres"),
    _case("Was bedeutet das Wort Serendipität?"),
    _case("How do I exit vim?"),
    _case("Nenne drei Synonyme für schnell"),
    _case("Why is my SQL query slow?"),
]
