"""Which files a pattern names: `./src/*.py`, `./docs/**/*.md`.

Looks only where `Roots` lets it, and not for ever; hidden files and secrets have to be named outright. A link
that fits is one of the names, and whether it may be read is decided when it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.files.ignoring import NOISE, matches
from holdfast.files.roots import Found, Roots
from holdfast.files.secrets import is_secret
from holdfast.files.trouble import Trouble

MAGIC = frozenset("*?[")
# Entries that are looked at for one pattern.
_ENTRIES = 20_000


@dataclass(frozen=True, slots=True)
class Matches:
    """The first files that fit, how many there are, and whether there was no time to look at all."""

    names: tuple[str, ...]
    number: int
    gave_up: bool = False


def is_pattern(name: str) -> bool:
    return any(letter in MAGIC for letter in name)


def files_like(roots: Roots, pattern: str, most: int) -> Matches:
    """The files that a pattern names, by their names."""
    steps = pattern.split("/")
    plain = next(index for index, step in enumerate(steps) if is_pattern(step))
    # What stands before the first star is a folder like any other.
    start = roots.find("/".join(steps[:plain]) or ("/" if plain else "."))
    rest = [step for step in steps[plain:] if step]
    found: list[str] = []
    number = 0
    for looked, (entry, path) in enumerate(_walk(roots, start, rest)):
        if looked >= _ENTRIES:
            return Matches(tuple(found), number, gave_up=True)
        if entry.kind in ("file", "link") and matches(rest, path):
            number += 1
            if len(found) < most:
                found.append(f"{'/'.join(steps[:plain])}{'/' if plain else ''}{'/'.join(path)}")
    return Matches(tuple(found), number)


def _walk(roots: Roots, start: Found, steps: list[str]) -> Iterator[tuple[Found, tuple[str, ...]]]:
    """Every entry that may fit, no deeper than the pattern goes."""
    deep = "**" in steps
    hidden = any(step.startswith(".") for step in steps)
    waiting: list[tuple[Found, tuple[str, ...]]] = [(start, ())]
    while waiting:
        folder, path = waiting.pop()
        try:
            entries = roots.entries(folder)
        except Trouble:
            continue
        inner = []
        for entry in entries:
            name = entry.steps[-1]
            if is_secret((name,)) or (name.startswith(".") and not hidden):
                continue
            here = (*path, name)
            yield entry, here
            if entry.kind == "folder" and (name not in NOISE if deep else _leads_on(steps, here)):
                inner.append((entry, here))
        waiting += reversed(inner)


def _leads_on(steps: list[str], path: tuple[str, ...]) -> bool:
    return len(path) < len(steps) and matches(steps[: len(path)], path)
