"""Names for stored things: short, lower case, and sorted by the time they were made.

It knows nothing of what is named: `c_01j…` is a conversation only because the caller said `c`.
"""

import secrets
import threading
import time

# Crockford's base 32: no i, l, o or u, so a name can be read aloud.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_LENGTH = 26
_RANDOM_BITS = 80

_lock = threading.Lock()
_last = 0


def new_id(prefix: str) -> str:
    """A new name: 48 bits of milliseconds, then 80 random ones.

    Names made by one process always rise, also within a millisecond and when the clock is set back, so they
    settle the order of rows that carry the same time.
    """
    global _last
    with _lock:
        drawn = int(time.time() * 1000) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
        _last = max(_last + 1, drawn)
        number = _last
    letters = [_ALPHABET[number >> shift & 31] for shift in range(5 * (_LENGTH - 1), -1, -5)]
    return f"{prefix}_{''.join(letters)}"


def short_id(length: int = 8) -> str:
    """A new name to be typed by hand: random letters alone, for things of which there are few."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))
