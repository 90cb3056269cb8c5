"""One measured number beside what was promised, and the table of them.

Knows nothing of how anything is measured.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass

_HEAD = "| part | what | case | reached | target | met |\n|---|---|---|---|---|---|"


@dataclass(frozen=True, slots=True)
class Row:
    """`met` is None where nothing was promised: a number for comparison."""

    part: str
    what: str
    case: str
    value: float
    unit: str = ""
    target: str = ""
    met: bool | None = None

    @property
    def figure(self) -> str:
        number = f"{self.value:,.0f}" if self.value == int(self.value) else f"{self.value:,.2f}"
        return f"{number} {self.unit}".rstrip()


def none_of(part: str, what: str, case: str, results: int, of: str = "") -> Row:
    """Something that must not happen at all."""
    return Row(part, what, case, results, of, "0", results == 0)


def table(rows: Sequence[Row]) -> str:
    words = {True: "yes", False: "**no**", None: "–"}
    lines = [
        f"| {row.part} | {row.what} | {row.case} | {row.figure} | {row.target or '–'} | {words[row.met]} |"
        for row in rows
    ]
    return "\n".join([_HEAD, *lines])


def print_rows(rows: Sequence[Row], *, as_json: bool) -> int:
    """Prints the rows; 1 if something promised was not kept, for the shell."""
    print(json.dumps([asdict(row) for row in rows], ensure_ascii=False, indent=2) if as_json else table(rows))
    return int(any(row.met is False for row in rows))


def progress(text: str) -> None:
    """What is going on, for whoever waits: on stderr, so that the table stays clean."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
