"""Which days a text speaks of, German and English: "tomorrow" is a date for who knows when it was said.

What is no date here stays in the text, and counts as words. Knows no findings and no messages.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from holdfast.text.lang import any_word, merged_table, rows_of, words_of
from holdfast.text.patterns import late

# The names of each month in all languages, as they are written out.
MONTH_NAMES = rows_of("MONTHS")
MONTHS: dict[str, int] = {
    name: number
    for number, names in enumerate(zip(MONTH_NAMES, rows_of("MONTH_ABBREVIATIONS"), strict=True), 1)
    for name in " ".join(names).lower().split()
}
DAYS: dict[str, int] = {
    name: number for number, names in enumerate(rows_of("WEEKDAYS")) for name in names.lower().split()
}
NUMBERS: dict[str, int] = {
    name: number
    for number, names in enumerate((words_of("ONE_OF_UNITS"), *rows_of("NUMBER_WORDS")[2:]), 1)
    for name in names.split()
}
# The month that each season begins with; all last three.
_SEASONS: dict[str, int] = merged_table("SEASONS")
_RELATIVE: dict[str, int] = merged_table("RELATIVE_DAYS")
_LENGTH: dict[str, int] = merged_table("UNIT_DAYS")
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_WHICH = (
    rf"(?:(?P<next>{any_word('NEXT_ONE')})|(?P<last>{any_word('LAST_ONE')})|(?P<this>{any_word('THIS_ONE')}))"
)
_COUNT = (
    rf"(?P<count>\d{{1,3}}|{'|'.join(NUMBERS)}|an?)\s+"
    rf"(?P<unit>{'|'.join(_LENGTH)})(?:en|e|s|n)?"
)

_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_OF_YEAR = r"(?:,?\s+(?P<year>\d{4}))?"

# The beginning of a text is read for dates it names: what stands far down in a long one is a detail.
_LONGEST = 2_000

# What `mark_day` gives: the ordinal of the day from this bit on, and a bit for a text that begins with it.
DAY_SHIFT = 32
HEADED = 1 << 31

_Match = re.Match[str]


@dataclass(frozen=True, slots=True)
class Period:
    """The days from `first` to `last`, by their ordinals.

    With `yearly` no year was named: the same days of other years may be meant.
    """

    first: int
    last: int
    yearly: bool = False


@dataclass(frozen=True, slots=True)
class Today:
    """When a text was said. With `back` it speaks of the past: "on Tuesday" is then the last one."""

    day: date
    back: bool = False


@dataclass(frozen=True, slots=True)
class _Span:
    """`name` tells equal days of two texts; `relative` says that its words mean nothing on another day."""

    name: str
    first: date
    last: date
    yearly: bool = False
    relative: bool = False


_Read = Callable[[_Match, Today], _Span]


def dates_in(text: str, today: date) -> tuple[frozenset[str], str]:
    """The days, weeks, months and years a text speaks of, and the text without those words."""
    spans, rest = _spans_in(text, Today(today), lambda _: True)
    return frozenset(span.name for span in spans), rest


def periods_in(text: str, today: date) -> tuple[tuple[Period, ...], str]:
    """The times that a question about the past speaks of, and the question without the words for them that
    mean other days each time they are said.
    """
    spans, rest = _spans_in(text, Today(today, back=True), lambda span: span.relative)
    periods = (Period(span.first.toordinal(), span.last.toordinal(), span.yearly) for span in spans)
    return tuple(dict.fromkeys(periods)), rest


def day_at(seconds: float) -> date:
    """The day it was where the person is."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().date()


def headed_by(text: str) -> date | None:
    """The day with its year that a text begins with, as in a transcript: `[8 May 2023] Hello!`."""
    heading = _HEADING.match(text[:_LONGEST].lower())
    return _first_day(heading[1], date.min) if heading else None


def mark_day(text: str, said: float) -> int:
    """The first day that a text names, packed for an index with other flags; 0 for none.

    `said` is when it was said, in seconds. A mark tells whether the text begins with that day.
    """
    heading = headed_by(text)
    day = heading or _first_day(text[:_LONGEST].lower(), day_at(said))
    return 0 if day is None else day.toordinal() << DAY_SHIFT | (HEADED if heading else 0)


def _first_day(text: str, today: date) -> date | None:
    """The day of a month that a text in small letters names first."""
    if _DIGIT.search(text) is None:
        return None
    matches = filter(None, (pattern.search(text) for pattern in _DAY_NAMES))
    first = min(matches, key=lambda match: match.start(), default=None)
    try:
        return None if first is None else _read_day(first, Today(today)).first
    except ValueError:
        # The 31st of February is none.
        return None


def _spans_in(text: str, today: Today, takes: Callable[[_Span], bool]) -> tuple[list[_Span], str]:
    """What was read, and the text without the words of what `takes` says yes to."""
    spans: list[_Span] = []
    hidden: list[str] = []
    text = text.replace("\x00", " ")
    for pattern, read in _READERS:

        def take(match: _Match, read: _Read = read) -> str:
            try:
                span = read(match, today)
            except (ValueError, OverflowError):
                # The 31st of February is none.
                return match[0]
            spans.append(span)
            if takes(span):
                return " "
            # What was read must not be read again in another way.
            hidden.append(match[0])
            return f"\x00{len(hidden) - 1}\x00"

        text = pattern.sub(take, text)
    return spans, _HIDDEN.sub(lambda match: hidden[int(match[1])], text) if hidden else text


def _single(day: date, *, yearly: bool = False, relative: bool = False) -> _Span:
    return _Span(day.isoformat(), day, day, yearly, relative)


def _read_day(match: _Match, today: Today) -> _Span:
    """A day of a month; without a year it is one of this year, or the last one that was."""
    groups = match.groupdict()
    name = groups.get("name") or ""
    month = int(groups["month"]) if groups.get("month") else MONTHS[name.lower()]
    year = int(groups["year"]) if groups.get("year") else today.day.year
    day = date(year + 2000 if year < 100 else year, month, int(groups["day"]))
    if today.back and not groups.get("year") and day > today.day:
        day = date(day.year - 1, day.month, day.day)
    return _single(day, yearly=not groups.get("year"))


def _read_month(match: _Match, today: Today) -> _Span:
    groups = match.groupdict()
    number = MONTHS[match["name"].lower()]
    year = int(groups["year"]) if groups.get("year") else today.day.year
    if groups.get("last") and number >= today.day.month:
        year -= 1
    elif groups.get("next") and number <= today.day.month:
        year += 1
    elif today.back and not (groups.get("year") or groups.get("next")) and number > today.day.month:
        year -= 1
    return _months(year, number, 1, yearly=not groups.get("year"))


def _read_season(match: _Match, today: Today) -> _Span:
    groups = match.groupdict()
    number = _SEASONS[match["name"].lower()]
    year = int(groups["year"]) if groups.get("year") else today.day.year
    span = _months(year, number, 3, yearly=not groups.get("year"))
    if not groups.get("year"):
        gone = groups.get("last") and span.last >= today.day
        if gone or (today.back and not groups.get("next") and span.first > today.day):
            span = _months(year - 1, number, 3, yearly=True)
        elif groups.get("next") and span.first <= today.day:
            span = _months(year + 1, number, 3, yearly=True)
    return span


def _months(year: int, month: int, count: int, *, yearly: bool = False, relative: bool = False) -> _Span:
    after = year * 12 + month - 1 + count
    name = f"{year}-{month:02}" if count == 1 else f"{year}-{month:02} +{count}"
    last = date(after // 12, after % 12 + 1, 1) - timedelta(1)
    return _Span(name, date(year, month, 1), last, yearly, relative)


def _read_year(match: _Match, _: Today) -> _Span:
    year = int(match[0])
    return _Span(match[0], date(year, 1, 1), date(year, 12, 31))


def _read_ahead(match: _Match, today: Today) -> _Span:
    return _single(today.day + timedelta(_length(match["count"], match["unit"])), relative=True)


def _read_ago(match: _Match, today: Today) -> _Span:
    """The day so long ago; in weeks and longer, about that day."""
    unit = match["unit"] or match["u"]
    day = today.day - timedelta(_length(match["count"] or match["n"], unit))
    about = timedelta(_LENGTH[unit.lower()] // 2)
    return _Span(day.isoformat(), day - about, day + about, relative=True)


def _read_stretch(match: _Match, today: Today) -> _Span:
    days = _length(match["count"], match["unit"])
    name = f"{today.day.isoformat()} {-days if match['last'] else days:+}"
    other = today.day + timedelta(-days if match["last"] else days)
    return _Span(name, min(today.day, other), max(today.day, other), relative=True)


def _length(count: str, unit: str) -> int:
    """Days in so many days, weeks, months or years."""
    number = 1 if count.lower() in ("a", "an") else NUMBERS.get(count.lower()) or int(count)
    return number * _LENGTH[unit.lower()]


def _read_relative(match: _Match, today: Today) -> _Span:
    return _single(today.day + timedelta(_RELATIVE[match[0].lower()]), relative=True)


def _read_beyond(match: _Match, today: Today) -> _Span:
    step = 2 if match[0].lower().endswith("tomorrow") else -2
    return _single(today.day + timedelta(step), relative=True)


def _read_this_morning(_: _Match, today: Today) -> _Span:
    return _Span(f"{today.day.isoformat()} morning", today.day, today.day, relative=True)


def _read_weekday(match: _Match, today: Today) -> _Span:
    """The next one, today included; what somebody calls the next may also be the one after it.

    Of the past it is the last one. What happens on Tuesdays happens on no day in particular.
    """
    ahead = (DAYS[match["name"].lower()] - today.day.weekday()) % 7
    if match["last"]:
        return _single(today.day + timedelta(ahead - 7))
    if today.back and match["many"]:
        raise ValueError(match[0])
    if today.back and not match["next"]:
        return _single(today.day + timedelta(ahead - 7 if ahead else 0))
    span = _single(today.day + timedelta(ahead))
    return _Span(f"next {span.name}", span.first, span.last) if match["next"] else span


def _read_weekend(match: _Match, today: Today) -> _Span:
    saturday = today.day + timedelta(5 - today.day.weekday())
    step = _step(match)
    if today.back and not (match["this"] or match["next"] or match["last"]) and saturday > today.day:
        step = -1
    saturday += timedelta(7 * step)
    return _Span(f"weekend {saturday}", saturday, saturday + timedelta(1))


def _read_period(match: _Match, today: Today) -> _Span:
    step = _step(match)
    match match["what"].lower()[:2]:
        case "wo" | "we":
            monday = today.day + timedelta(7 * step - today.day.weekday())
            year, week, _ = monday.isocalendar()
            return _Span(f"{year} week {week}", monday, monday + timedelta(6), relative=True)
        case "mo":
            months = today.day.year * 12 + today.day.month - 1 + step
            return _months(months // 12, months % 12 + 1, 1, relative=True)
    year = today.day.year + step
    return _Span(str(year), date(year, 1, 1), date(year, 12, 31), relative=True)


def _step(match: _Match) -> int:
    return 1 if match["next"] else -1 if match["last"] else 0


def _reader(text: str, read: _Read) -> tuple[re.Pattern[str], _Read]:
    return late(text, re.IGNORECASE), read


# Days of a month. In small letters where much is read: to ignore case takes several times as long.
_FULL = (
    r"\b(?P<year>\d{4})[-/](?P<month>\d{2})[-/](?P<day>\d{2})(?!\d)",
    r"(?<![\d.])(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4}|\d{2})?(?![\d.]*\d)",
    rf"\b{_DAY}\.?\s+(?:of\s+)?(?P<name>{_MONTH})\b{_OF_YEAR}",
    rf"\b(?P<name>{_MONTH})(?:\.?\s+|-){_DAY}\b(?:(?:,?\s+|-)(?P<year>\d{{4}}))?",
)
_DAY_NAMES = tuple(map(late, _FULL))
_DIGIT = re.compile(r"\d")
# What says most comes first: what was read is taken out of the text.
_READERS = (
    *(_reader(text, _read_day) for text in _FULL),
    _reader(rf"\b(?P<name>{_MONTH})\s+(?P<year>\d{{4}})\b", _read_month),
    _reader(rf"(?<=\bi[mn] )(?P<name>{_MONTH})\b(?P<year>)", _read_month),
    _reader(rf"\b{_WHICH}\s+(?P<name>{_MONTH})\b", _read_month),
    _reader(rf"\b(?P<name>{'|'.join(_SEASONS)})(?:\s+of)?\s+(?P<year>\d{{4}})\b", _read_season),
    _reader(rf"\b(?:{_WHICH}|im|in(?:\s+the)?)\s+(?P<name>{'|'.join(_SEASONS)})s?\b", _read_season),
    _reader(r"(?<![\d.,])(?:19|20)\d{2}(?![.,]?\d)", _read_year),
    _reader(rf"\b(?:vor\s+{_COUNT}|{_COUNT.replace('count', 'n').replace('unit', 'u')}\s+ago)\b", _read_ago),
    _reader(rf"\bin\s+{_COUNT}\b", _read_ahead),
    _reader(rf"\b{_WHICH}\s+{_COUNT}\b", _read_stretch),
    _reader(r"\bday (?:after tomorrow|before yesterday)\b", _read_beyond),
    _reader(rf"\b{any_word('THIS_MORNING')}\b", _read_this_morning),
    _reader(rf"\b(?:{'|'.join(_RELATIVE)})\b", _read_relative),
    _reader(rf"\b(?:{_WHICH}\s+)?(?P<name>{'|'.join(DAYS)})(?P<many>s)?\b", _read_weekday),
    _reader(rf"\b(?:{_WHICH}\s+)?{any_word('WEEKEND_FORMS')}\b", _read_weekend),
    _reader(rf"\b{_WHICH}\s+(?P<what>{any_word('PERIODS')})\b", _read_period),
)
_HIDDEN = late(r"\x00(\d{1,6})\x00")
# A day with its year in front of a text, maybe in brackets, behind the weekday or the time of day.
_HEADING = late(
    rf"[\s\[(#*]{{0,6}}(?:[\d:]{{3,8}}(?: ?[ap]m)?(?: on|,| -)? |\w{{2,10}},? )?"
    rf"(\d{{4}}[-/]\d{{2}}[-/]\d{{2}}|\d{{1,2}}\.\d{{1,2}}\.\d{{4}}"
    rf"|\d{{1,2}}(?:\.|st|nd|rd|th)? (?:{_MONTH})\b,? \d{{4}}"
    rf"|(?:{_MONTH})\b[ -]\d{{1,2}}(?:st|nd|rd|th)?[, -]{{1,2}}\d{{4}})(?!\d)"
)
