"""The processes that tests or Holdfast have started."""

from contextlib import suppress

import psutil


def readers(of: int | None = None) -> list[psutil.Process]:
    """The processes that read documents for this process, or for another one.

    Those that end while they are looked at are none.
    """
    results = []
    for child in psutil.Process(of).children():
        with suppress(psutil.NoSuchProcess):
            if "holdfast.files.reader" in child.cmdline():
                results.append(child)
    return results
