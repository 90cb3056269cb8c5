"""German: words for values, by their kind: days, dates, times, sums, languages, numbers. Data only."""

from holdfast.text.lang.de.words import MONTHS
from holdfast.text.lang.shape import any_of, cue

DAY = r"(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag)"
DAYS = rf"(?:{DAY}(?:s|e|en|abend|abends|früh|mittag|nachmittag)?)"
MONTH = f"(?:{'|'.join(MONTHS).lower()})"
_NUMBER = any_of(
    "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig fünfzig hundert tausend"
    " zweit dritt viert fünft sechst siebt acht neunt zehnt dutzend anderthalb"
)
SEASON = r"(?:sommer|herbst|winter|frühjahr|frühling|quartal|jahresende|neujahr|ostern|pfingsten|weihnachten)"

VALUES = {
    "weekday": cue(DAYS, r"(?:unter der woche|werktags|wochenende|wochenends|feiertags)"),
    "date": cue(
        rf"\d{{1,2}}\. ?{MONTH}(?: \d{{4}})?",
        rf"(?:im |ende |anfang |mitte |seit |bis "
        rf"|ab )?{MONTH}(?: \d{{4}})?",
        r"\d{1,2}\.\d{1,2}\.(?:\d{2,4})?",
        r"\d{4}-\d\d-\d\d",
        rf"(?:im|zum|ab dem|nächsten|nächstes|in diesem) {SEASON}",
        r"(?:ab|seit"
        r"|bis|im jahr|anno) (?:19|20)\d\d",
        r"monats(?:ende|letzte[nr]?|erste[nr]?|anfang|mitte)|ende des monats|jahresende|(?:19|20)\d\d",
    ),
    "time": cue(
        r"\d{1,2}(?::\d\d)? ?uhr",
        r"\d{1,2}:\d\d",
        rf"(?:um|ab|bis|gegen|vor|nach) (?:halb "
        rf"|viertel (?:vor |nach )?)?(?:\d{{1,2}}|{_NUMBER}|eins|neun|mittags|mitternacht)",
        rf"halb (?:\d{{1,2}}|{_NUMBER}|eins)",
        r"mittags|mitternacht|abends|morgens|nachts|vormittags"
        r"|nachmittags",
    ),
    "money": cue(r"\d[\d.,]*\s?(?:€|euro|eur|cent|dollar|franken|chf|usd|k)|(?:€|\$)\s?\d[\d.,]*"),
    "frequency": cue(
        r"täglich|wöchentlich|monatlich|jährlich|stündlich|halbjährlich|vierteljährlich|quartalsweise"
        r"|alle (?:\w+ )?(?:tage|wochen|monate|jahre|stunden|minuten)"
        r"|jede[nrs]? (?:\w+ )?(?:tag|woche|monat|jahr|nacht|stunde|morgen|abend|wochenende)|(?:einmal"
        r"|zweimal|dreimal) (?:pro|im|die|am)"
    ),
    "language": cue(
        r"deutsch\w*|englisch\w*|französisch\w*|spanisch\w*|italienisch\w*|polnisch\w*|türkisch\w*"
        r"|niederländisch\w*|portugiesisch\w*|russisch\w*"
    ),
    "number": cue(rf"(?:zu |mit )?{_NUMBER}(?! oder)"),
}
