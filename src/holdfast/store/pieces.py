"""Cutting a text into short pieces: what one vector can stand for.

A long text has many subjects, and one vector of it all is near to none of them. Knows texts only.
"""

import hashlib
from collections.abc import Iterator

# In characters. Longer pieces blur, shorter ones lose what they are about.
PIECE_SIZE = 400
# A text of enormous size is found by the words of the rest; its vectors are those of its beginning.
MAX_PIECES = 300

# Where a text may be cut, the best first.
_BORDERS = ("\n\n", "\n", ". ", "? ", "! ", "; ", ", ", " ")


def split_pieces(text: str) -> list[str]:
    return [piece for piece, _ in zip(_cut(text), range(MAX_PIECES), strict=False)]


def piece_digest(text: str) -> str:
    """A name for the words of a piece, the same wherever they stand."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]


def _cut(text: str) -> Iterator[str]:
    start, end = 0, len(text)
    while start < end:
        stop = end if end - start <= PIECE_SIZE else start + _border(text[start : start + PIECE_SIZE])
        piece = text[start:stop].strip()
        if piece:
            yield piece
        start = stop


def _border(window: str) -> int:
    for sign in _BORDERS:
        found = window.rfind(sign, PIECE_SIZE // 2)
        if found >= 0:
            return found + len(sign)
    return len(window)
