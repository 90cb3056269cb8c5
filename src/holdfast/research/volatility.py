"""How soon an answer is out of date, by the words of the question and of its sources, German and English.

Rules alone; a model's word for it is read here too, in a strict vocabulary. Knows no finding and no clock.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from holdfast.patterns import late
from holdfast.research.finding import Volatility

_HOUR, _DAY = 3_600.0, 86_400.0
_HOLDS: dict[Volatility, float] = {
    "hourly": _HOUR,
    "daily": _DAY,
    "weekly": 7 * _DAY,
    "monthly": 30 * _DAY,
}
# What neither the question nor its sources tell anything about.
_DEFAULT: Volatility = "weekly"

_WEATHER = (
    r"(?:wetter\w*|weather|temperatur\w*|regnet|regen\w*|rain\w*|schneit|snow\w*|sunny|sonnig\w*|wind\w{0,4})"
)
_NOW = r"(?:jetzt|gerade|momentan\w*|derzeit\w*|im moment|aktuell\w*|live|now|currently|at the moment)"

# The first that fits decides, so what changes fastest stands first.
_RULES: tuple[tuple[Volatility, re.Pattern[str]], ...] = (
    (
        "hourly",
        late(
            rf"\b{_WEATHER}\b.*\b{_NOW}\b|\b{_NOW}\b.*\b{_WEATHER}\b"
            r"|\b(?!nobel|friedens|literatur|film)\w*(?:preise?|kurse?)n?\b|\bkostet\b|\bprices?\b"
            r"|\b(?:stocks?|share price|exchange rate|wechselkurs|börse|aktien?|dax|nasdaq|bitcoin|ethereum"
            r"|crypto\w*|krypto\w*)\b"
            r"|\b(?:live ?ticker|spielstand|zwischenstand|live scores?|scores?|steht es|stau\w*|verkehrslage"
            r"|traffic|verspätung\w*|delays?|departures?|abfahrt\w*)\b",
            re.IGNORECASE | re.DOTALL,
        ),
    ),
    (
        "daily",
        late(
            rf"\b{_WEATHER}\b|\b(?:\w*vorhersage|forecast|nachrichten|news|schlagzeilen|headlines|heute|today"
            r"|tonight|morgen|tomorrow|gestern|yesterday|wochenende|weekend|pollenflug|pollen|wasserstand"
            r"|umfragewerte|polls?|tabelle|standings|fixtures|kinoprogramm|tv-programm)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "weekly",
        late(
            r"\b(?:öffnungszeiten|opening hours|opening times|fahrplan|timetable|diese woche|this week"
            r"|neueste\w*|latest|newest|aktuell\w*|current\w*|recent\w*|kürzlich|release dates?|erscheint"
            r"|angebote?|termine?|events?|veranstaltung\w*|konzerte?|concerts?)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "permanent",
        late(
            r"\b(?:geschichte|history|historisch\w*|historical\w*|when (?:was|did|were)"
            r"|wann (?:wurde|war|starb|fand|endete|begann)"
            r"|wer (?:hat .{0,40}erfunden|erfand|schrieb|war|malte|komponierte|entdeckte)"
            r"|who (?:invented|wrote|was|painted|composed|discovered)"
            r"|erfunden|invented|geboren|born|gestorben|died|definition|define|bedeutet|bedeutung|meaning of"
            r"|means|etymolog\w*|beweis\w*|proof|theorem|satz des|formel|formula|gleichung|equation"
            r"|hauptstadt|capital of|quadratwurzel|square root|periodensystem|wie hoch ist der"
            r"|how (?:high|tall|far|deep) is|was ist (?:ein|eine|der unterschied)"
            r"|what is (?:an?|the difference)|was sind|what are|rfc ?\d+|spezifikation|specification)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "monthly",
        late(
            r"\b(?:beste[nrs]?|best|vergleich\w*|comparison|compare|versus|vs|test|review\w*|empfehl\w*"
            r"|recommend\w*|hotels?|restaurants?|wer ist|who is|einwohner\w*|population|gesetz\w*|laws?"
            r"|steuer\w*|tax\w*|anleitung|how to|wie (?:kann|installier\w*|mache?|geht)|tutorial"
            r"|wikipedia)\b",
            re.IGNORECASE,
        ),
    ),
)
# A version that is named does not change any more, whatever is written about it.
_FIXED = late(r"\b(?:version\s*|v)?\d+\.\d+(?:\.\d+)*\b")
_DOCUMENTED = late(
    r"\b(?:dokument\w*|docs?|documentation|changelog|release notes|api|funktion\w*|functions?|parameter\w*"
    r"|syntax|changes|änderung\w*)\b",
    re.IGNORECASE,
)
_YEAR = late(r"(?<![\d.,])(1[0-9]{3}|20[0-9]{2})(?![\d.,]*\d|\s?(?:%|€|\$|eur|usd|euro))", re.IGNORECASE)

_WORDS: dict[str, Volatility] = {
    "hourly": "hourly",
    "stündlich": "hourly",
    "daily": "daily",
    "täglich": "daily",
    "weekly": "weekly",
    "wöchentlich": "weekly",
    "monthly": "monthly",
    "monatlich": "monthly",
    "permanent": "permanent",
    "dauerhaft": "permanent",
}


def estimate_volatility(question: str, sources: Iterable[str] = (), at: float = 0.0) -> Volatility:
    """How soon what was found for a question no longer holds; `sources` are their titles and addresses.

    What was asked about a year that was over at the time `at` holds for good.
    """
    if _is_past(question, at) or (_FIXED.search(question) and _DOCUMENTED.search(question)):
        return "permanent"
    return _match_rule(question) or _match_rule("\n".join(sources)) or _DEFAULT


def expiry_time(volatility: Volatility, at: float) -> float:
    """Until when what was found at a time holds; 0 for what holds for good."""
    return at + _HOLDS[volatility] if volatility in _HOLDS else 0.0


def parse_volatility(word: str) -> Volatility | None:
    """A model's or a person's word for it; nothing but one of the ten words counts."""
    return _WORDS.get(word.strip().strip("\"'`*._[]()„“").lower())


def _match_rule(text: str) -> Volatility | None:
    return next((volatility for volatility, pattern in _RULES if pattern.search(text)), None)


def _is_past(question: str, at: float) -> bool:
    years = [int(year) for year in _YEAR.findall(question)]
    return bool(years and at) and max(years) < datetime.fromtimestamp(at, UTC).year
