"""Estimates the tokens of a text in microseconds, with an interval, where the model's vocabulary is missing.

Every byte of a text has a price, by model family; a few corrections see what single bytes do not show: runs
of blanks, and text that is mostly capitals and digits. It knows no messages, no requests, and learns nothing.
"""

from math import sqrt
from typing import NamedTuple
from zlib import adler32

from holdfast.tokens.families import OFFSET, UNIT, Family

# Denser text than this has digits worth looking at, and then capitals; prose is below, and done.
_DENSE, _DENSER = 0.3, 0.35
# One for what is to be counted, zero for the rest. (Deleting the rest is slow where nobody can guess what is
# next, and that is just where this is for.)
_DIGITS = bytes(chr(byte) in "0123456789" for byte in range(256))
_CAPITALS = bytes(chr(byte) in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" for byte in range(256))
_SUM = 65_520

_BLANKS = b" " * 8
# Vocabularies have tokens for runs of blanks, the longest for 16 to 128 of them.
_RUN = 32


class Estimate(NamedTuple):
    tokens: int
    low: int
    high: int


def estimate(text: str, family: Family) -> Estimate:
    """The likely tokens of `text`; for one text in a hundred the true number may be out of bounds."""
    # A lone surrogate has no bytes; servers put another character in its place.
    data = text.encode("utf-8", "replace")
    size = len(data)
    if not size:
        return Estimate(0, 0, 0)
    blanks = data.count(_BLANKS)
    if 16 * blanks > size:
        tokens, doubt = price_blank_text(data, blanks, family), 4.0
    else:
        tokens, doubt = price_text(data, size, blanks, family), 1.0
    # Short texts err more: few words have less chance to average out.
    slack = 1.0 + sqrt(tokens)
    low = int(tokens * (1.0 - doubt * family.under) - slack)
    high = int(tokens * (1.0 + doubt * family.over) + slack) + 1
    # There is no token without a byte, and SentencePiece may put a blank in front.
    most = size + 1
    return Estimate(int(tokens + 0.5) or 1, low if low > 0 else 1, high if high < most else most)


def price_text(data: bytes, size: int, blanks: int, family: Family) -> float:
    total = sum_bytes(data.translate(family.prices), family.piece)
    tokens = (total - OFFSET * size) / UNIT + family.blanks * blanks
    if tokens > _DENSE * size:
        # The digits of long numbers share tokens; capitals and digits in a mixture (base64, keys) do not.
        digits = sum_bytes(data.translate(_DIGITS), _SUM)
        if tokens > _DENSER * size:
            mixed = digits + sum_bytes(data.translate(_CAPITALS), _SUM) - size / 3
            if mixed > 0:
                tokens += family.mixed * mixed
        tokens += family.digits * digits * digits / size
    # Letters that make text cheaper must not make it free.
    least = size / 32
    if tokens < least:
        return least
    return tokens if tokens < size else float(size)


def sum_bytes(values: bytes, piece: int) -> int:
    """The sum of the bytes: the lower half of Adler-32, modulo 65,521. Nothing at hand adds faster."""
    if len(values) <= piece:
        return adler32(values, 0) & 0xFFFF
    return sum([adler32(values[at : at + piece], 0) & 0xFFFF for at in range(0, len(values), piece)])


def price_blank_text(data: bytes, blanks: int, family: Family) -> float:
    """Wide tables and deep indentation: what is between the blanks, and a token for each run of them."""
    words = b" ".join(data.split())
    runs = min(blanks, words.count(b" ") + data.count(b"\n")) + len(data) / _RUN
    return (price_text(words, len(words), 0, family) if words else 0.0) + runs
