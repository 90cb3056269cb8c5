"""When two spellings mean the same thing, and which words near a number say what it is.

`./src/A.py` and `src\\a.py`, `1.250,00 €` and `1250 Euro`, `24.02.2026` and `February 24, 2026`. It knows no
messages and finds nothing itself.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from holdfast.compaction.ledger_table import EntryKind
from holdfast.patterns import late
from holdfast.words import terms


def _word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Between the call that failed and what it said.
FAILURE_SEPARATOR = " → "

_MOST_CONTEXT_WORDS = 6
_LONGEST_CONTEXT = 48
# How far from a number the words that name it may stand.
_REACH = 90

_SPACE = late(r"\s+")
_LINE_NUMBER = late(r":\d+$")
_AMOUNT = late(r"([^\d]*?)(\d[\d.,'’\u202f\u00a0]*)\s*[\u202f-]?(.*)", re.DOTALL)
_UNIT_NAMES = {
    **dict.fromkeys(("euro", "eur"), "€"),
    **dict.fromkeys(("dollar", "dollars", "usd"), "$"),
    **dict.fromkeys(("prozent", "percent"), "%"),
    **dict.fromkeys(("sek", "sek.", "sec", "secs", "second", "seconds", "sekunde", "sekunden"), "s"),
    **dict.fromkeys(("min", "mins", "minute", "minutes", "minuten"), "min"),
    **dict.fromkeys(("hr", "hrs", "hour", "hours", "std", "std.", "stunde", "stunden"), "h"),
    **dict.fromkeys(("day", "days", "tag", "tage", "tagen"), "d"),
}
_MONTHS = {
    name: number
    for number, names in enumerate(
        [
            "jan",
            "feb",
            "mär|mar|mrz",
            "apr",
            "mai|may",
            "jun",
            "jul",
            "aug",
            "sep",
            "okt|oct",
            "nov",
            "dez|dec",
        ],
        start=1,
    )
    for name in names.split("|")
}
_ISO = late(r"(\d{4})[-/](\d\d)[-/](\d\d)(.*)", re.DOTALL)
_GERMAN = late(r"(\d{1,2})\.(\d{1,2})\.?(\d{4})?(.*)", re.DOTALL)
_NAMED_MONTH = late(
    r"(?:(\d{1,2})\S*\s(?:of\s)?)?([A-Za-zä]{3})[a-z.]*(?:\s(\d{1,2})(?!\d)\w{0,2})?(?:,?\s(\d{4}))?(.*)",
    re.DOTALL,
)
_CLOCK = late(r"(\d{1,2}):(\d\d)")

# "total_price": 250, Port = 8443, **Budget:** 1.200 €
_LABEL = late(r"([^\W\d_][\w /'’-]{1,40})[\"'`*_)]{0,4}\s{0,2}[:=]\s{0,3}[\"'`*\[]{0,3}$")
_WORD = late(r"[^\W\d_]+(?:['’/_-][^\W\d_]+)*")
# An abbreviation ends nothing.
_ABBREVIATION = late(r"(?i)(?:nr|no|ca|bzw|tel|abs|max|min|st|dr|mr|mrs|approx)\.")
_PUNCTUATION = ".,;:!?()[]{}<>\"'`*_|„“”«»=#~-–—"
# Words that stand between a name and its number and tell nothing.
_FILLER_WORDS = _word_set(
    """
    ist sind war beträgt liegt lautet wird auf um am bei von mit ab bis ca etwa rund genau mindestens
    höchstens maximal kostet kosten für im der die das ein eine zu zum zur pro und oder als hat haben
    dauert gesetzt dann jetzt nur über unter wie es jahr jahre tage stunden minuten is are was were
    equals costs cost of at by from until about around exactly only for on in the a an to per and or
    than has have be been takes set using use uses also so then now up over under like it vs approx
    every oz lb lbs pounds minutes hours days weeks months years get got recently first last between
    """
)


@lru_cache(maxsize=32_768)
def entry_key(kind: EntryKind, text: str) -> str:
    """The same for every spelling of the same thing."""
    plain = _SPACE.sub(" ", text).strip()
    match kind:
        case "file":
            path = _LINE_NUMBER.sub("", plain.replace("\\", "/")).casefold()
            return path.removeprefix("./").rstrip("/")
        case "url":
            return plain.rstrip("/").casefold()
        case "id":
            return (
                plain.casefold().replace(" ", "")
                if any(map(str.isdigit, plain))
                else plain.removesuffix("()")
            )
        case "version":
            return re.sub(r"\bv(?=\d)|^[\^~]|version ", "", plain.casefold())
        case "amount":
            return _normalise_amount(plain)
        case "date":
            return _normalise_date(plain)
        case "failure":
            return failed_call(plain)
        case _:
            return plain.casefold()


def failed_call(failure: str) -> str:
    return failure.partition(FAILURE_SEPARATOR)[0]


def find_context(text: str, start: int, end: int) -> str:
    """The few words before a find that say what it is, or those after it; empty if there are none."""
    before = text[max(0, start - _REACH) : start]
    label = _LABEL.search(before)
    if label and (named := _trim_words(_WORD.findall(label[1])[-_MOST_CONTEXT_WORDS:])):
        return named
    named = _trim_words(_words_before(before))
    if named:
        return named
    return _trim_words(
        _leading_words(text[end : end + _REACH].split("\n")[0].split())[: _MOST_CONTEXT_WORDS - 2]
    )


def _words_before(before: str) -> list[str]:
    """The words that lead up to the end of this text, from another name or number or a clause's beginning."""
    return _leading_words(before.split()[::-1], backwards=True)[::-1]


def _leading_words(tokens: Sequence[str], *, backwards: bool = False) -> list[str]:
    words: list[str] = []
    for token in tokens:
        word = token.strip(_PUNCTUATION)
        ends = token[-1] in ".,;:!?)" and not _ABBREVIATION.fullmatch(token)
        if (ends and backwards) or len(words) == _MOST_CONTEXT_WORDS or (word and not _WORD.fullmatch(word)):
            break
        if word:
            words.append(word)
        if ends:
            break
    return words


def _trim_words(words: list[str]) -> str:
    while words and (words[-1].casefold() in _FILLER_WORDS or not terms(words[-1])):
        words = words[:-1]
    while words and (words[0].casefold() in _FILLER_WORDS or not terms(words[0])):
        words = words[1:]
    while len(words) > 1 and len(" ".join(words)) > _LONGEST_CONTEXT:
        words = words[1:]
    return " ".join(words)[:_LONGEST_CONTEXT]


def _normalise_amount(text: str) -> str:
    match = _AMOUNT.fullmatch(text)
    if not match or re.search(r"\d", match[3]):
        return text.casefold()  # a range: as it is
    sign, number, unit = match[1].strip(), match[2], match[3].strip()
    unit = _UNIT_NAMES.get((unit or sign).casefold(), unit or sign)
    return f"{'-' if sign in ('-', '−') else ''}{_normalise_number(number)} {unit}"


def _normalise_number(number: str) -> str:
    """One spelling for German and English: a last sign before three digits groups, any other is the point."""
    number = number.rstrip(".,")
    place = max(number.rfind("."), number.rfind(","))
    whole, fraction = (number[:place], number[place + 1 :]) if place >= 0 else (number, "")
    if len(fraction) == 3 and whole != "0":
        whole, fraction = whole + fraction, ""
    whole, fraction = re.sub(r"\D", "", whole), fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def _normalise_date(text: str) -> str:
    """Year, month and day, as far as they were said, and the time of day."""
    if match := _ISO.fullmatch(text):
        year, month, day, remainder = match.groups()
    elif match := _GERMAN.fullmatch(text):
        day, month, year, remainder = match.groups()
    elif (match := _NAMED_MONTH.fullmatch(text)) and match[2].casefold() in _MONTHS:
        day, month, year, remainder = (
            match[1] or match[3],
            str(_MONTHS[match[2].casefold()]),
            match[4],
            match[5],
        )
    else:
        return text.casefold().replace(" ", "")
    clock = _CLOCK.search(remainder)
    time = f" {int(clock[1]):02}:{clock[2]}" if clock else ""
    return f"{year or ''}-{int(month):02}-{int(day or 0):02}{time}"


def needs_context(kind: EntryKind, text: str) -> bool:
    """Names that speak for themselves do not."""
    if kind == "id":
        return sum(map(str.isdigit, text)) * 3 >= len(text) and "@" not in text and "=" not in text
    return kind in ("amount", "date")


def fold_text(text: str) -> str:
    return _SPACE.sub(" ", text).casefold()


def occurs_in(kind: EntryKind, text: str, plain: str) -> bool:
    """Whether a text made plain by `fold_text` has this word for word, and not inside a longer name."""
    if kind == "failure":
        call, _, why = text.partition(FAILURE_SEPARATOR)
        return occurs_in("command", call, plain) and occurs_in("error", why, plain)
    wanted = fold_text(text).strip().removesuffix("…")
    at = plain.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if not (
            _is_inside_word(plain[at - 1 : at + 1]) or _is_inside_word(plain[end - 1 : end + 1])
        ) and not (wanted[:1].isdigit() and re.search(r"\d[.,]$", plain[max(0, at - 2) : at])):
            return True
        at = plain.find(wanted, at + 1)
    return not wanted


def _is_inside_word(two: str) -> bool:
    return len(two) == 2 and two[0].isalnum() and two[1].isalnum()
