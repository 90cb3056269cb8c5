"""Reads a text by the table of the ledger, from its first row to its last, sentence by sentence.

What an earlier row has taken, no later one sees. It knows neither messages nor who speaks.
"""

from collections.abc import Iterator
from functools import lru_cache

from holdfast.compaction.ledger_table import (
    COUNT,
    DEFINITION,
    NO_NUMBER,
    OTHER_NUMBER,
    TABLE,
    LedgerMatch,
    LedgerPattern,
)
from holdfast.patterns import late

_BLANK = "\x00"
# Pictures and keys written as text, and the numbers of a list: nobody looks for a name in these.
_NO_TEXT = late(r"[A-Za-z0-9+/=_-]{200,}|(?m:^)[ \t]*[#*-]{0,4}[ \t]?\d{1,2}[.)][ \t]")
# Nothing that is found goes across a line or the end of a sentence.
_PIECE_END = late(r"(?<=[a-zäöüß]{4})[.!?]\s+|\n")
_SIGNS = tuple(dict.fromkeys(sign for row in TABLE for sign in row.needs if sign != "0"))
_DIGIT = late(r"\d")
# In code a single digit is an index.
_NUMBER_IN_CODE = late(r"\d[\d.]|\d ?[A-Za-z%€]")


def find_matches(text: str, *, code: bool = False, own: bool = False) -> list[LedgerMatch]:
    """What stands in a text, in no particular order.

    `code` leaves out what means something only in prose; `own` takes every number, for a person's words have
    few and all are meant.
    """
    matches = (
        [LedgerMatch("id", match[1], *match.span(1)) for match in DEFINITION.finditer(text)] if code else []
    )
    text = blank_out(text, [match.span() for match in _NO_TEXT.finditer(text)])
    start = 0
    for end in _PIECE_END.finditer(text):
        matches += _find_in_piece(text[start : end.start()], start, code, own)
        start = end.end()
    matches += _find_in_piece(text[start:], start, code, own)
    return matches


def _find_in_piece(text: str, at: int, code: bool, own: bool) -> Iterator[LedgerMatch]:
    number = _NUMBER_IN_CODE if code else _DIGIT
    digits = number.search(text) is not None
    for row in _applicable_patterns(digits, tuple([sign in text for sign in _SIGNS])):
        if (row.prose and code) or (not digits and "0" in row.needs):
            continue
        new = list(row.find(text))
        if new:
            yield from (LedgerMatch(find.kind, find.text, find.start + at, find.end + at) for find in new)
            text = blank_out(text, [(find.start, find.end) for find in new])
            digits = digits and number.search(text) is not None
    if own and digits:
        yield from _find_other_numbers(text, at)


def _find_other_numbers(text: str, at: int) -> Iterator[LedgerMatch]:
    counted = list(COUNT.finditer(text))
    for match in counted:
        yield LedgerMatch("amount", match[0], match.start() + at, match.end() + at)
    for match in OTHER_NUMBER.finditer(blank_out(text, [match.span() for match in counted])):
        if match["it"] and not NO_NUMBER.fullmatch(match["it"]):
            yield LedgerMatch("id", match["it"], match.start("it") + at, match.end("it") + at)


@lru_cache(maxsize=4_096)
def _applicable_patterns(digits: bool, signs: tuple[bool, ...]) -> tuple[LedgerPattern, ...]:
    present = {sign for sign, is_there in zip(_SIGNS, signs, strict=True) if is_there} | (
        {"0"} if digits else set()
    )
    return tuple(row for row in TABLE if present.issuperset(row.needs))


def blank_out(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with these stretches blanked, so that places stay what they are."""
    pieces, done = [], 0
    for start, end in spans:
        pieces += [text[done:start], _BLANK * (end - start)]
        done = end
    return "".join([*pieces, text[done:]])
