"""How often somebody may come: requests a minute of a key, and wrong passwords from one address.

Counts in memory, for this process. Knows neither keys nor passwords.
"""

import ipaddress
import time
from collections.abc import Callable

# So many wrong tries cost nothing; from then on each doubles the pause, up to this many seconds.
_FREE, _LONGEST = 4, 300.0
# Addresses that are remembered, and for how long after their last try.
_ADDRESSES, _REMEMBERED = 10_000, 86_400.0
# A household has a whole network of these addresses.
_NETWORK = 64


class Rates:
    """A bucket for each key, which fills evenly: a minute's worth can be had at once, then as it comes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, name: str, per_minute: int) -> float:
        """Seconds until another request may come; 0 if this one may, which then counts."""
        if not per_minute:
            return 0.0
        now, each = self._clock(), 60.0 / per_minute
        there, at = self._buckets.get(name, (float(per_minute), now))
        there = min(float(per_minute), there + (now - at) / each)
        if there < 1.0:
            return (1.0 - there) * each
        self._buckets[name] = there - 1.0, now
        return 0.0


class Tries:
    """Wrong tries make their own address wait, longer each time, and nobody else."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # How many tries were wrong in a row, and when the next one is looked at; the last one last.
        self._wrong: dict[str, tuple[int, float]] = {}

    def begin(self, address: str) -> float:
        """Seconds to wait; 0 if the try may be made. It counts as wrong until it was right."""
        name, now = _network(address), self._clock()
        count, until = self._wrong.get(name, (0, 0.0))
        if now < until:
            return until - now
        if now - until > _REMEMBERED:
            count = 0
        pause = min(_LONGEST, 2.0 ** (count - _FREE)) if count >= _FREE else 0.0
        self._wrong.pop(name, None)
        self._wrong[name] = count + 1, now + pause
        if len(self._wrong) > _ADDRESSES:
            del self._wrong[next(iter(self._wrong))]
        return 0.0

    def right(self, address: str) -> None:
        self._wrong.pop(_network(address), None)


def _network(address: str) -> str:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None:
        return str(ipaddress.ip_network((found, _NETWORK), strict=False))
    return str(found)
