"""What can be read off afterwards: what of the planted is there, and whether every message is accounted for.

Values in, findings out. Knows no engine and no model.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from evals.compaction_chats import Planted
from holdfast.store import SummaryRecord


@dataclass(frozen=True, slots=True)
class Retention:
    """What was left of the planted after so many compactions."""

    compactions: int
    # In the request as it goes out anyway, and only when somebody asks for it.
    window: tuple[Planted, ...]
    recalled: tuple[Planted, ...]
    lost: tuple[Planted, ...]
    rules: tuple[Planted, ...] = ()
    rules_lost: tuple[Planted, ...] = ()
    decisions: tuple[Planted, ...] = ()
    decisions_lost: tuple[Planted, ...] = ()
    # Tokens of all that stands for what was said before.
    standing: int = 0

    @property
    def values(self) -> int:
        return len(self.window) + len(self.recalled) + len(self.lost)

    def __str__(self) -> str:
        rules = len(self.rules) + len(self.rules_lost)
        return (
            f"{self.compactions} compactions, {len(self.window)} of {self.values} in the window, "
            f"{len(self.recalled)} recalled, {len(self.lost)} lost; rules {len(self.rules)} of {rules}"
        )


def share(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 100.0


def find_planted(text: str, planted: Sequence[Planted], compactions: int, standing: int) -> Retention:
    """What of the planted stands in a text; what does not is lost until somebody finds it."""

    def those(kind: str, *, there: bool) -> tuple[Planted, ...]:
        return tuple(item for item in planted if item.kind == kind and (item.value in text) == there)

    return Retention(
        compactions,
        window=those("value", there=True),
        recalled=(),
        lost=those("value", there=False),
        rules=those("rule", there=True),
        rules_lost=those("rule", there=False),
        decisions=those("decision", there=True),
        decisions_lost=those("decision", there=False),
        standing=standing,
    )


@dataclass(frozen=True, slots=True)
class Coverage:
    """Faults of a chain of summaries along the messages of a conversation."""

    lost: int = 0
    twice: int = 0
    out_of_order: int = 0
    # Summaries that do not name the one before them.
    broken: int = 0

    @property
    def faults(self) -> int:
        return self.lost + self.twice + self.out_of_order + self.broken


def check_coverage(summaries: Sequence[SummaryRecord], path: Sequence[str]) -> Coverage:
    """Every message up to the end of the last summary is to be covered once, and in order."""
    order = {name: at for at, name in enumerate(path)}
    named = [name for summary in summaries for name in summary.covers]
    end = max((order.get(summary.through, -1) for summary in summaries), default=-1)
    times = Counter(named)
    places = [order.get(name, -1) for name in named]
    chain = [None, *(summary.id for summary in summaries)]
    return Coverage(
        lost=sum(name not in times for name in path[: end + 1]),
        twice=sum(number - 1 for number in times.values()),
        out_of_order=sum(after <= before for before, after in pairwise(places)),
        broken=sum(summary.previous != before for summary, before in zip(summaries, chain[:-1], strict=True)),
    )


@dataclass
class Course:
    """How a replay went, turn by turn and at its end."""

    turns: int = 0
    above: int = 0
    waited: int = 0
    highest: float = 0.0
    overflows: int = 0
    kept: list[Retention] = field(default_factory=list)
    coverage: Coverage = Coverage()
    unlike: int = 0
    # Of each compaction: the tokens that left, and those that stand for them.
    sizes: list[tuple[int, int]] = field(default_factory=list)
    paths: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def hear(self, report: Mapping[str, Any]) -> None:
        """What was told of one request."""
        history = report["history"]
        self.turns += 1
        self.above += history["tokens"] >= history["marks"]["3"]
        self.waited += any(batch["level"] == 3 for batch in report["batches"])
        self.highest = max(self.highest, history["tokens"] / max(1, history["full"]))
        self.overflows += report["at_most"] > report["room"]


def unlike(text: Collection[tuple[str, str]], logged: Collection[tuple[str, str]]) -> int:
    """How many messages of a conversation are not in the log as they were said, or not in their place."""
    return sum(item != other for item, other in zip(text, logged, strict=False)) + abs(
        len(text) - len(logged)
    )
