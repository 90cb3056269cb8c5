"""How work that takes a while says how far it is. Knows nothing of what is done."""

from collections.abc import Callable

# Told what is being done, and how much of how much is.
Tell = Callable[[str, int, int], None]


def untold(what: str, done: int, total: int) -> None:
    """For those who do not want to hear how far it is."""
