"""The fenced blocks of README.md and docs/, each with its place, its language and whether it is to be run.

Knows Markdown's fences and our mark above a block that cannot be run here; not what is in a block.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>[\w+-]*)[^`]*$")
_MARK = re.compile(r"^ *<!-- not run: (?P<reason>.+) -->$")


@dataclass(frozen=True, slots=True)
class Block:
    """`reason` says why it is not run; empty for those that are."""

    page: str
    line: int
    language: str
    text: str
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def pages() -> list[Path]:
    """Everything that people write; what is generated is compared with its source elsewhere."""
    written = [page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "reference"]
    return [ROOT / "README.md", *written]


def blocks() -> list[Block]:
    return [block for page in pages() for block in blocks_of(page)]


def blocks_of(page: Path) -> Iterator[Block]:
    name, lines = page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        if not (opened := _FENCE.match(lines[number])):
            number += 1
            continue
        end = next(at for at in range(number + 1, len(lines)) if lines[at].strip() == opened["fence"])
        indent = len(opened["indent"])
        text = "\n".join(line[indent:] for line in lines[number + 1 : end])
        marked = _MARK.match(lines[number - 1]) if number else None
        yield Block(name, number + 1, opened["language"], text, marked["reason"] if marked else "")
        number = end + 1
