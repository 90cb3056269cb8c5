"""Waiting for what another thread or process does and nobody tells of."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Seconds. Only a failure takes as long: whoever waits goes on as soon as there is something.
PATIENCE = 60.0


def wait_until(look: Callable[[], T], seconds: float = PATIENCE) -> T:
    """What `look` returns, asked again until it is true."""
    end = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < end, f"it did not come in {seconds} seconds: {look}"
        time.sleep(0.01)
    return seen
