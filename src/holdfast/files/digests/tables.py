"""Tables as text (CSV, TSV): columns with their types, how many rows there are, and a few of them.

Knows German and English numbers and dates. Which sign parts the columns is read from the text.
"""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence

from holdfast.files.digests.values import Digest, cut, ended, plural
from holdfast.patterns import late
from holdfast.tokens.estimate import UNKNOWN, estimate

_SIGNS = ",;\t|"
# Rows that are looked at for what is in a column.
_GLANCE = 1_000
_WHOLE = late(r"[+-]?\d{1,18}")
_NUMBER = late(r"[+-]?(?:\d+|\d{1,3}(?:[.,' ]\d{3})+)(?:[.,]\d+)?(?:[eE][+-]?\d+)?\s?(?:%|€|\$|£|EUR|USD)?")
_GERMAN = late(r"[+-]?(?:\d{1,3}(?:\.\d{3})+,\d+|\d+,\d{1,2}|\d+,\d{4,})\b.*|[+-]?\d{1,3}(?:\.\d{3}){2,}")
_DATE = late(
    r"\d{4}-\d\d?-\d\d?(?:[T ]\d\d:\d\d.*)?|\d\d?\.\d\d?\.\d{2,4}(?: \d\d:\d\d.*)?"
    r"|\d\d?/\d\d?/\d{2,4}(?: .*)?"
)
_TRUTH = frozenset({"true", "false", "yes", "no", "ja", "nein", "wahr", "falsch"})
# (sample rows, how long a cell, how many columns), each leaner than the one before.
_STEPS = ((5, 60, 200), (3, 40, 100), (3, 24, 60), (2, 16, 40), (1, 12, 24), (0, 0, 24), (0, 0, 10))


def digest(text: str, most: int, sign: str = "") -> Digest | None:
    sign = sign or sign_of(text)
    if not sign:
        return None
    try:
        rows = [row for row in csv.reader(text.split("\n"), delimiter=sign) if row]
    except csv.Error:
        return None
    if len(rows) < 2 or len(rows[0]) < 2:
        return None
    titled = _is_title(rows)
    names = rows[0] if titled else [f"column {number + 1}" for number in range(len(rows[0]))]
    data = rows[1:] if titled else rows
    body: list[str] = []
    samples = 0
    for samples, longest, columns in _STEPS:
        body = [f"{plural(len(data), 'row')}, {plural(len(names), 'column')}, parted by {_named(sign)}"]
        body += _columns(names[:columns], data[:_GLANCE])
        if len(names) > columns:
            body.append(f"… {plural(len(names) - columns, 'column')} more")
        for row in data[:samples]:
            body.append("> " + f"{sign} ".join(cut(cell, longest) for cell in row[:columns]))
        if estimate("\n".join(body), UNKNOWN).tokens <= most:
            break
    gone = len(data) - min(samples, len(data))
    return ended("table", body, f"{gone:,} of {plural(len(data), 'row')} left out, long cells cut")


def sign_of(text: str) -> str:
    """The sign that most lines at the beginning have equally often; none if there is no such sign."""
    lines = [line for line in text[:20_000].split("\n")[:30] if line.strip()]
    # The last of these may be cut in its middle.
    lines = lines[:-1] if len(text) > 20_000 and len(lines) > 1 else lines
    best, most = "", 0
    for sign in _SIGNS:
        counts = Counter(_outside(line).count(sign) for line in lines)
        number, often = counts.most_common(1)[0] if counts else (0, 0)
        if number and often >= max(2, 0.8 * len(lines)) and number * often > most:
            best, most = sign, number * often
    return best


def _outside(line: str) -> str:
    """A line without what stands in quotes."""
    return "".join(line.split('"')[::2]) if '"' in line else line


def _is_title(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: it has no numbers, and every name once."""
    first = [cell.strip() for cell in rows[0]]
    return len(set(first)) == len(first) and not any(
        _NUMBER.fullmatch(cell) or _DATE.fullmatch(cell) for cell in first
    )


def _columns(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for place, name in enumerate(names):
        cells = [row[place].strip() for row in rows if len(row) > place]
        filled = [cell for cell in cells if cell]
        told = _type(filled)
        values = Counter(filled)
        if told == "text" and len(values) <= 6 and len(filled) >= 4 * len(values):
            told += ": " + ", ".join(cut(value, 20) for value, _ in values.most_common())
        empty = len(rows) - len(filled)
        often = f", empty in {empty:,} of {len(rows):,}" if empty and filled else ""
        yield f"- {cut(name, 60)}: {told}{often}"


def _type(cells: Sequence[str]) -> str:
    if not cells:
        return "empty"
    if all(cell.casefold() in _TRUTH for cell in cells):
        return "yes or no"
    if all(map(_WHOLE.fullmatch, cells)):
        return _span("whole number", [str(low) for low in _ends([int(cell) for cell in cells])])
    if all(map(_DATE.fullmatch, cells)):
        iso = all(cell[4:5] == "-" for cell in cells)
        return _span("date", [min(cells), max(cells)] if iso else [cells[0], cells[-1]])
    if all(map(_NUMBER.fullmatch, cells)):
        return "number, written as in German" if any(map(_GERMAN.fullmatch, cells)) else "number"
    return "text"


def _ends(numbers: Sequence[int]) -> tuple[int, int]:
    return min(numbers), max(numbers)


def _span(kind: str, ends: Sequence[str]) -> str:
    return f"{kind}, {ends[0]}" if ends[0] == ends[1] else f"{kind}, {ends[0]} to {ends[1]}"


def _named(sign: str) -> str:
    return {",": "commas", ";": "semicolons", "\t": "tabs"}.get(sign, sign)
