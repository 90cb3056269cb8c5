"""Patterns that are compiled when they are first used, or when there is time: no start waits for hundreds.

Knows none of the patterns, and nothing of what they are for.
"""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any, cast

# Those that were not compiled yet, and some that were, by whoever used them.
_later: "list[Late]" = []


def late(text: str, flags: int = 0) -> re.Pattern[str]:
    """The same as `re.compile`, only later; what is wrong with a pattern is told later, too."""
    return cast("re.Pattern[str]", Late(text, flags))


def compiling() -> Iterator[None]:
    """Compiles those that were left for later, one with each step."""
    while _later:
        _ = _later.pop().compiled
        yield


class Late:
    """Stands for a pattern. Whatever it is asked for is the pattern's own, and stays here from then on."""

    def __init__(self, text: str, flags: int = 0) -> None:
        self._text = text
        self._flags = flags
        _later.append(self)

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self._text, self._flags)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.compiled, name)
        setattr(self, name, found)
        return found
