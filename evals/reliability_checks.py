"""What was acknowledged beside what is found: the checker of `evals.reliability`, values in and findings out.

An exchange is acknowledged when its answer was received to the end, a memory when its 201 was. Whatever else
was sent may be there or not: nobody was promised anything. Knows nothing of servers and how they end.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from evals.window_rows import Row

FindingKind = Literal[
    "lost", "doubled", "out of order", "stray", "not searchable", "damaged", "refused", "ended by itself"
]
# Exchanges of a talk, at most.
_LONGEST_TALK = 12
# The role and the text of a message.
Line = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PartResult:
    """What a part of the campaign measured, and what it found wrong."""

    rows: Sequence[Row]
    findings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that must not be, and where it was seen."""

    kind: FindingKind
    what: str
    where: str


@dataclass(slots=True)
class Talk:
    """One conversation as its client has it; `sent` counts how often each question went out."""

    door: str
    name: str
    conversation: str = ""
    exchanges: list[tuple[str, str]] = field(default_factory=list)
    sent: Counter[str] = field(default_factory=Counter)
    # A question that has no answer yet: it may be asked again, or left.
    pending: str = ""
    # Ids of responses, for the door that has them, each with its answer.
    responses: dict[str, str] = field(default_factory=dict)
    summaries: list[str] = field(default_factory=list)

    def copy(self) -> "Talk":
        """Return the talk as it is now; the client goes on with its own."""
        return replace(
            self,
            exchanges=list(self.exchanges),
            sent=Counter(self.sent),
            responses=dict(self.responses),
            summaries=list(self.summaries),
        )

    @property
    def is_over(self) -> bool:
        return len(self.exchanges) >= _LONGEST_TALK

    @property
    def lines(self) -> list[Line]:
        return [
            line
            for question, answer in self.exchanges
            for line in (("user", question), ("assistant", answer))
        ]


def check_talk(talk: Talk, path: Sequence[Line]) -> Iterator[Finding]:
    """Compare a client's conversation with the messages that the server lists for it.

    After the last acknowledged answer there may be a question that was not answered, and what was written of
    its answer; before it there may be nothing else.
    """
    places: dict[Line, list[int]] = {}
    for place, line in enumerate(path):
        places.setdefault(line, []).append(place)
    last = -1
    for line in talk.lines:
        here = places.get(line, [])
        if not here:
            yield Finding("lost", line[1], f"{talk.door} {talk.conversation}")
            continue
        if len(here) > 1:
            yield Finding("doubled", line[1], f"{talk.door} {talk.conversation}")
        if here[0] < last:
            yield Finding("out of order", line[1], f"{talk.door} {talk.conversation}")
        last = max(last, here[0])
    expected = set(talk.lines)
    for line in path[: last + 1]:
        if line not in expected:
            yield Finding("stray", line[1], f"{talk.door} {talk.conversation}")


def check_copies(talks: Iterable[Talk], paths: Mapping[str, Sequence[Line]]) -> Iterator[Finding]:
    """Find questions that stand in more conversations than they were sent."""
    copies = Counter(text for path in paths.values() for role, text in path if role == "user")
    for talk in talks:
        for question, times in talk.sent.items():
            if copies[question] > times:
                yield Finding("doubled", question, f"{talk.door}: {copies[question]}, sent {times}")


def check_memories(acknowledged: Iterable[str], texts: Sequence[str], where: str) -> Iterator[Finding]:
    """Compare acknowledged memories with the texts of all that are there: each once, however often sent."""
    copies = Counter(texts)
    for text in acknowledged:
        if not copies[text]:
            yield Finding("lost", text, where)
        elif copies[text] > 1:
            yield Finding("doubled", text, where)
