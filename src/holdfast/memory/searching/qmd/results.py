"""What QMD writes about what it found, as values. It may write other things before, and lies are refused.

Knows its spelling in JSON and its addresses, no file.
"""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from holdfast.memory.searching.qmd.command import QmdFailed

_ADDRESS = re.compile(r"\A(?:qmd://)?([A-Za-z0-9_-]+)/([^?#]+)")
# Where a snippet begins, and how many lines it has.
_PLACE = re.compile(r"@@ -(\d{1,9}),(\d{1,9}) @@[^\n]*\n?")
_LIST = re.compile(r"^\[(?=\s*[\]{])", re.MULTILINE)
_NO_RESULTS = "no results found"
_CUT_MARK = "..."
# A line that is shorter tells nothing about where it stands.
_SHORTEST_LINE = 3


@dataclass(frozen=True, slots=True)
class QmdHit:
    """A part of a document: the `line` that fits best, and the text around it as it was when QMD read it.

    `first` is where that text begins; its last line may be cut off.
    """

    collection: str
    path: str
    score: float
    line: int
    first: int
    lines: tuple[str, ...]

    def said_by(self, line: str) -> int | None:
        """Which of its lines this is, counted from one as in the document; None for none that tells much."""
        told = line.strip()
        for number, one in enumerate(self.lines, self.first):
            last = number == self.first + len(self.lines) - 1
            cut = one.strip().removesuffix(_CUT_MARK) if last and one.endswith(_CUT_MARK) else ""
            if len(told) >= _SHORTEST_LINE and (
                one.strip() == told or (len(cut) >= _SHORTEST_LINE and told.startswith(cut))
            ):
                return number
        return None

    @property
    def best(self) -> int | None:
        """The line that fits best, where it tells enough to be known again."""
        at = self.line - self.first
        return (
            self.line if 0 <= at < len(self.lines) and len(self.lines[at].strip()) >= _SHORTEST_LINE else None
        )


def parse_results(output: str) -> list[QmdHit]:
    """The results in an output; QmdFailed where there is nothing that makes sense."""
    told = _parse_list(output)
    found = [one for one in map(_parse_hit, told) if one is not None]
    if told and not found:
        raise QmdFailed(f"QMD gave {len(told)} results, and none of them makes sense.")
    return found


def _parse_list(output: str) -> Sequence[Any]:
    for place in _LIST.finditer(output):
        try:
            told, _ = json.JSONDecoder().raw_decode(output, place.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(told, list):
            return told
    if _NO_RESULTS in output.lower():
        return ()
    raise QmdFailed(f"QMD gave no JSON but {output.strip()[:80]!r}.")


def _parse_hit(told: Any) -> QmdHit | None:
    if not isinstance(told, dict) or not isinstance(told.get("file"), str):
        return None
    address, score = _ADDRESS.fullmatch(told["file"]), told.get("score")
    # Compared rather than converted: a whole number can be larger than any other.
    if address is None or not isinstance(score, int | float) or not -math.inf < score < math.inf:
        return None
    snippet = told.get("snippet")
    text = snippet if isinstance(snippet, str) else ""
    place = _PLACE.match(text)
    first = int(place[1]) if place else 1
    line = told.get("line")
    return QmdHit(
        address[1],
        unquote(address[2]) if "%" in address[2] else address[2],
        float(min(1, max(0, score))),
        line if isinstance(line, int) and line > 0 else 0,
        first,
        tuple((text[place.end() :] if place else text).split("\n")),
    )
