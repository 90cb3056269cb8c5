"""Which days a question speaks of, German and English: "tomorrow" is a date for who knows when it was asked.

What is no date here stays in the text, and counts as words. Knows no findings.
"""

import re
from collections.abc import Callable
from datetime import date, timedelta

from holdfast.patterns import late

MONTHS: dict[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "januar january jan jänner",
            "februar february feb",
            "märz march mär mar",
            "april apr",
            "mai may",
            "juni june jun",
            "juli july jul",
            "august aug",
            "september sept sep",
            "oktober october okt oct",
            "november nov",
            "dezember december dez dec",
        ),
        1,
    )
    for name in names.split()
}
DAYS: dict[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "montag monday",
            "dienstag tuesday",
            "mittwoch wednesday",
            "donnerstag thursday",
            "freitag friday",
            "samstag sonnabend saturday",
            "sonntag sunday",
        )
    )
    for name in names.split()
}
NUMBERS: dict[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "einem einer one",
            "zwei two",
            "drei three",
            "vier four",
            "fünf five",
            "sechs six",
            "sieben seven",
            "acht eight",
            "neun nine",
            "zehn ten",
            "elf eleven",
            "zwölf twelve",
        ),
        1,
    )
    for name in names.split()
}
_RELATIVE = {
    "vorgestern": -2,
    "gestern": -1,
    "yesterday": -1,
    "heute": 0,
    "today": 0,
    "tonight": 0,
    "morgen": 1,
    "tomorrow": 1,
    "übermorgen": 2,
}
_LENGTH = {"tag": 1, "day": 1, "woche": 7, "week": 7}

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_NEXT = r"nächste[nrsm]?|kommende[nrsm]?|next|coming"
_LAST = r"letzte[nrsm]?|vergangene[nrsm]?|vorige[nrsm]?|last|past"
_THIS = r"diese[nrsm]?|this"
_WHICH = rf"(?:(?P<next>{_NEXT})|(?P<last>{_LAST})|(?P<this>{_THIS}))"
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(NUMBERS)})\s+(?P<unit>tag|day|woche|week)(?:en|e|s|n)?"

_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_OF_YEAR = r"(?:,?\s+(?P<year>\d{4}))?"

_Found = re.Match[str]


def dates_in(text: str, today: date) -> tuple[frozenset[str], str]:
    """The days, weeks, months and years a text speaks of, and the text without those words."""
    found: set[str] = set()
    for pattern, read in _READERS:

        def taken(match: _Found, read: Callable[[_Found, date], str] = read) -> str:
            try:
                found.add(read(match, today))
            except (ValueError, OverflowError):
                # The 31st of February is none.
                return match[0]
            return " "

        text = pattern.sub(taken, text)
    return frozenset(found), text


def _full(match: _Found, today: date) -> str:
    """A day of a month; without a year it is one of this year."""
    told = match.groupdict()
    name = told.get("name") or ""
    month = int(told["month"]) if told.get("month") else MONTHS[name.lower()]
    year = int(told["year"]) if told.get("year") else today.year
    return date(year + 2000 if year < 100 else year, month, int(told["day"])).isoformat()


def _month(match: _Found, today: date) -> str:
    return f"{match['year'] or today.year}-{MONTHS[match['name'].lower()]:02}"


def _year(match: _Found, _: date) -> str:
    return match[0]


def _ahead(match: _Found, today: date) -> str:
    return (today + timedelta(_length(match["count"], match["unit"]))).isoformat()


def _ago(match: _Found, today: date) -> str:
    days = _length(match["count"] or match["n"], match["unit"] or match["u"])
    return (today - timedelta(days)).isoformat()


def _span(match: _Found, today: date) -> str:
    days = _length(match["count"], match["unit"])
    return f"{today.isoformat()} {-days if match['last'] else days:+}"


def _length(count: str, unit: str) -> int:
    """Days in so many days or weeks."""
    return (NUMBERS.get(count.lower()) or int(count)) * _LENGTH[unit.lower()]


def _relative(match: _Found, today: date) -> str:
    return (today + timedelta(_RELATIVE[match[0].lower()])).isoformat()


def _beyond(match: _Found, today: date) -> str:
    return (today + timedelta(2 if match[0].lower().endswith("tomorrow") else -2)).isoformat()


def _this_morning(_: _Found, today: date) -> str:
    return f"{today.isoformat()} morning"


def _weekday(match: _Found, today: date) -> str:
    """The next one, today included; what somebody calls the next may also be the one after it."""
    ahead = (DAYS[match["name"].lower()] - today.weekday()) % 7
    if match["last"]:
        return (today + timedelta(ahead - 7)).isoformat()
    day = (today + timedelta(ahead)).isoformat()
    return f"next {day}" if match["next"] else day


def _weekend(match: _Found, today: date) -> str:
    saturday = today + timedelta(5 - today.weekday())
    return f"weekend {saturday + timedelta(7 * _step(match))}"


def _period(match: _Found, today: date) -> str:
    step = _step(match)
    match match["what"].lower()[:2]:
        case "wo" | "we":
            year, week, _ = (today + timedelta(7 * step)).isocalendar()
            return f"{year} week {week}"
        case "mo":
            months = today.year * 12 + today.month - 1 + step
            return f"{months // 12}-{months % 12 + 1:02}"
    return str(today.year + step)


def _step(match: _Found) -> int:
    return 1 if match["next"] else -1 if match["last"] else 0


def _reader(text: str, read: Callable[[_Found, date], str]) -> tuple[re.Pattern[str], Callable[..., str]]:
    return late(text, re.IGNORECASE), read


# What says most comes first: what was read is taken out of the text.
_READERS = (
    _reader(r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b", _full),
    _reader(r"(?<![\d.])(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4}|\d{2})?(?![\d.]*\d)", _full),
    _reader(rf"\b{_DAY}\.?\s+(?P<name>{_MONTH})\b{_OF_YEAR}", _full),
    _reader(rf"\b(?P<name>{_MONTH})\.?\s+{_DAY}\b{_OF_YEAR}", _full),
    _reader(rf"\b(?P<name>{_MONTH})\s+(?P<year>\d{{4}})\b", _month),
    _reader(rf"(?<=\bi[mn] )(?P<name>{_MONTH})\b(?P<year>)", _month),
    _reader(r"(?<![\d.,])(?:19|20)\d{2}(?![.,]?\d)", _year),
    _reader(rf"\b(?:vor\s+{_COUNT}|{_COUNT.replace('count', 'n').replace('unit', 'u')}\s+ago)\b", _ago),
    _reader(rf"\bin\s+{_COUNT}\b", _ahead),
    _reader(rf"\b{_WHICH}\s+{_COUNT}\b", _span),
    _reader(r"\bday (?:after tomorrow|before yesterday)\b", _beyond),
    _reader(r"\bheute (?:morgen|früh)\b|\bthis morning\b", _this_morning),
    _reader(rf"\b(?:{'|'.join(_RELATIVE)})\b", _relative),
    _reader(rf"\b(?:{_WHICH}\s+)?(?P<name>{'|'.join(DAYS)})s?\b", _weekday),
    _reader(rf"\b(?:{_WHICH}\s+)?(?:wochenendes?|weekend)\b", _weekend),
    _reader(rf"\b{_WHICH}\s+(?P<what>woche|week|monats?|month|jahr(?:es)?|year)\b", _period),
)
