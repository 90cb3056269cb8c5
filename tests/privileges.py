"""Tests of what may not be read or written, also where they are run by root."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

NOBODY = 65534


@contextmanager
def without_privileges() -> Iterator[None]:
    """Root may do everything, so root becomes nobody for a moment."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
