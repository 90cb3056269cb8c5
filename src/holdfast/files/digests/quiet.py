"""Libraries that warn of what is none of our business, kept from doing so.

Knows no library. Filters of warnings belong to the whole process, so one thread at a time changes them.
"""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_one = threading.Lock()


@contextmanager
def unwarned() -> Iterator[None]:
    with _one, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
