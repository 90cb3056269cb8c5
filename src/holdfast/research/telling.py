"""How gathering says how far it is. Knows nothing of what is gathered."""

from collections.abc import Callable

# Told how many sources of how many are there, and which one it is about.
ProgressCallback = Callable[[int, int, str], None]


def ignore_progress(done: int, total: int, what: str) -> None:
    """Nobody follows it."""
