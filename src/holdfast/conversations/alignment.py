"""Lays the history that a client resends beside a stored one, and says what is the same and what is new.

Pure: two sequences in, an `Alignment` out. It knows neither stores nor conversations; whether an alignment is
evidence enough is decided in `identity`. The work grows with the length of both sequences, not their product.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from holdfast.conversations.likeness import (
    DISTINCTIVE_LENGTH,
    Likeness,
    anchor,
    call_ids,
    comparable_text,
    compare_messages,
    is_beginning_or_end,
)
from holdfast.messages import Message

__all__ = ["Alignment", "Pair", "StoredMessage", "align", "anchor", "is_own"]

# At how many places one answer is looked for when the two sequences part, and how far such a place is tried.
_PLACES = 4
_TRIAL = 8


class StoredMessage(Protocol):
    """A stored message, as far as this module cares; `store.Stored` is one."""

    @property
    def message(self) -> Message: ...
    @property
    def anchor(self) -> str | None: ...
    @property
    def model(self) -> str: ...
    @property
    def job(self) -> str: ...
    @property
    def finish(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Pair:
    """A resent message and the stored one it is."""

    sent: int
    stored: int
    like: Likeness
    # The stored message is an answer of ours, and what it answers was resent as well.
    own: bool


@dataclass(frozen=True, slots=True)
class Alignment:
    """What a resent history has in common with a stored one.

    `sent` in the pairs counts all messages of the request, system messages included. `start` is where the new
    part of the request begins; `reach` says how many of the stored messages it follows.
    """

    pairs: tuple[Pair, ...]
    start: int
    reach: int
    # Before `start`: resent messages that the log does not have, beside stored ones that were not resent.
    inserted: int
    skipped: int
    # Messages a program wrote anew at their old place (a map of the repository, a clock).
    rewritten: int
    # Whether somewhere more was inserted than left out: a history that grew in the middle is another one.
    grown: bool
    compared: int

    @property
    def own(self) -> int:
        return sum(pair.own for pair in self.pairs)

    @property
    def proven(self) -> int:
        """How many of our own answers came back in our own words."""
        return sum(pair.own and pair.like >= Likeness.PART for pair in self.pairs)

    @property
    def exact(self) -> int:
        """How many messages came back word for word."""
        return sum(pair.like is Likeness.EXACT for pair in self.pairs)

    @property
    def regular(self) -> bool:
        """Nothing cut off in front, nothing inserted: the request is the stored history and more."""
        return not self.inserted and bool(self.pairs) and self.pairs[0].stored == 0


def is_own(kept: StoredMessage) -> bool:
    """Whether a stored assistant message was answered through us, and not brought along by a client."""
    return kept.message.role == "assistant" and bool(kept.job or kept.model or kept.finish)


def align(
    stored: Sequence[StoredMessage], sent: Sequence[Message], keys: Sequence[str | None] | None = None
) -> Alignment:
    """Find the stored messages again among those sent. System messages are passed over wherever they are.

    `keys` are the anchors of what was sent, for who has them already.
    """
    walk = _Aligner(stored, sent, [anchor(message) for message in sent] if keys is None else keys)
    walk.run()
    return walk.result()


class _Aligner:
    """Both sequences and how far they have been walked: `i` in what was sent, `j` in what is stored."""

    def __init__(
        self, stored: Sequence[StoredMessage], sent: Sequence[Message], keys: Sequence[str | None]
    ) -> None:
        self.stored = stored
        self.sent = [(index, message) for index, message in enumerate(sent) if message.role != "system"]
        self.total = len(sent)
        self.sent_keys = [keys[index] for index, _ in self.sent]
        self.stored_keys = [kept.anchor or anchor(kept.message) for kept in stored]
        self.answers: dict[str, list[int]] = defaultdict(list)
        for place, key in enumerate(self.stored_keys):
            if key is not None and stored[place].message.role == "assistant":
                self.answers[key].append(place)
        self.i = self.j = self.reach = 0
        self.pairs: list[Pair] = []
        self.last = (-1, -1)
        self.inserted = self.skipped = self.rewritten = self.compared = 0
        self.grown = False

    def run(self) -> None:
        while self.i < len(self.sent) and self.j < len(self.stored):
            if like := self.step():
                self.pair(self.i, self.j, like)
            elif self.is_rewritten():
                self.rewritten += 1
                self.i, self.j = self.i + 1, self.j + 1
            elif not self.resume():
                break

    def result(self) -> Alignment:
        behind = self.last[0] + 1
        return Alignment(
            pairs=tuple(self.pairs),
            start=self.sent[behind][0] if behind < len(self.sent) else self.total,
            reach=self.reach,
            inserted=self.inserted,
            skipped=self.skipped,
            rewritten=self.rewritten,
            grown=self.grown,
            compared=self.compared,
        )

    def like(self, i: int, j: int) -> Likeness:
        self.compared += 1
        stored, sent = self.stored[j].message, self.sent[i][1]
        key = self.sent_keys[i]
        # Equal keys say it all, but for tool calls: there the ids count as well.
        if key is not None and key == self.stored_keys[j] and not sent.tool_calls:
            return Likeness.EXACT
        return compare_messages(stored, sent)

    def step(self) -> Likeness:
        """How alike the two next messages are. What is only similar must be held in place by a neighbour."""
        i, j = self.i, self.j
        like = self.like(i, j)
        if not like or like is Likeness.EXACT:
            return like
        if self.sent[i][1].role == "user":
            # The same words in another dress, but only if the same answer follows: otherwise it is an edit.
            return like if self.answers_follow(i, j) else Likeness.DIFFERENT
        return like if self.last == (i - 1, j - 1) else Likeness.DIFFERENT

    def answers_follow(self, i: int, j: int) -> bool:
        """Whether both next messages are the same answer."""
        if i + 1 >= len(self.sent) or j + 1 >= len(self.stored):
            return False
        return self.sent[i + 1][1].role == "assistant" and bool(self.like(i + 1, j + 1))

    def is_rewritten(self) -> bool:
        """Whether a program wrote this user message anew: other words, but in front of the same answer."""
        i, j = self.i, self.j
        return (
            self.sent[i][1].role == self.stored[j].message.role == "user"
            and i + 1 < len(self.sent)
            and j + 1 < len(self.stored)
            and self.sent[i + 1][1].role == "assistant"
            and self.like(i + 1, j + 1) is Likeness.EXACT
        )

    def is_replaced(self, i: int, j: int) -> bool:
        """Whether up to here a program put other exchanges of its own in the place of those it had there."""
        roles = [message.role for _, message in self.sent[self.i : i]]
        replaced = self.stored[self.j : j]
        return roles == [kept.message.role for kept in replaced] and not any(map(is_own, replaced))

    def pair(self, i: int, j: int, like: Likeness) -> None:
        kept, message = self.stored[j], self.sent[i][1]
        held = self.last == (i - 1, j - 1) or bool(call_ids(message) & call_ids(kept.message))
        self.pairs.append(Pair(self.sent[i][0], j, like, held and is_own(kept)))
        if like is Likeness.PART and message.role == "assistant":
            j = self.glued(comparable_text(message), j)
        self.last = (i, j)
        self.i, self.j, self.reach = i + 1, j + 1, j + 1

    def glued(self, said: str, j: int) -> int:
        """The last of the stored answers that this one was glued together from ("continue")."""
        part = comparable_text(self.stored[j].message)
        while said.startswith(part) and j + 1 < len(self.stored):
            said = said.removeprefix(part)
            part = comparable_text(self.stored[j + 1].message)
            if self.stored[j + 1].message.role != "assistant" or not part or not said.startswith(part):
                break
            j += 1
        return j

    def resume(self) -> bool:
        """Go on behind a gap, at the next answer that both have together with its question."""
        for i in range(self.i, self.i + 1 if self.is_contradicted() else len(self.sent)):
            for j in self.places(i):
                if start := self.confirmed(i, j):
                    self.jump(*start)
                    self.pair(*start, self.like(*start))
                    return True
        elsewhere = self.hung_elsewhere()
        if elsewhere is not None:
            self.jump(self.i, elsewhere)
            self.pair(self.i, elsewhere, Likeness.PART)
        return elsewhere is not None

    def is_contradicted(self) -> bool:
        """Whether another answer stands where ours was given: there the two histories part for good."""
        i, j = self.i, self.j
        same_question = bool(self.pairs) and self.last == (i - 1, j - 1)
        return same_question and self.sent[i][1].role == "assistant" and is_own(self.stored[j])

    def places(self, i: int) -> list[int]:
        """Where a sent answer is stored, the likeliest place first."""
        if self.sent[i][1].role != "assistant":
            return []
        found = self.answers.get(self.sent_keys[i] or "", [])
        ahead = found[bisect_left(found, self.j) :]
        if self.pairs or len(ahead) == 1:
            return ahead[:_PLACES]
        # Where a shortened history takes up: at the place from which it can be followed the furthest.
        ends = {*ahead[:_PLACES], *ahead[-_PLACES:]}
        return sorted(ends, key=lambda j: (self.followed(i, j), j), reverse=True)

    def followed(self, i: int, j: int) -> int:
        """For how many messages both sequences are the same from here on, as far as is tried."""
        steps = min(_TRIAL, len(self.sent) - i, len(self.stored) - j)
        return next((step for step in range(1, steps) if not self.like(i + step, j + step)), steps)

    def confirmed(self, i: int, j: int) -> tuple[int, int] | None:
        """Where the common stretch around this answer begins, if it is no coincidence."""
        if (i, j) == (self.i, self.j):
            return None
        if i > self.i and j > self.j and self.like(i - 1, j - 1):
            i, j = i - 1, j - 1
            while i > self.i and j > self.j and self.like(i - 1, j - 1) is Likeness.EXACT:
                i, j = i - 1, j - 1
            return i, j
        stored, sent = self.stored[j], self.sent[i][1]
        if call_ids(sent) & call_ids(stored.message):
            return i, j
        # The client hung an answer of ours under an earlier question: it was made with a hint in between.
        moved = (
            i == self.i
            and bool(self.pairs)
            and is_own(stored)
            and len(comparable_text(sent)) >= DISTINCTIVE_LENGTH
        )
        return (i, j) if moved else None

    def hung_elsewhere(self) -> int | None:
        """A stored answer close by that this one begins or ends with, although other words stand between."""
        message = self.sent[self.i][1]
        if message.role != "assistant" or not self.pairs:
            return None
        for j in range(self.j + 1, min(self.j + 1 + _PLACES, len(self.stored))):
            self.compared += 1
            if is_own(self.stored[j]) and is_beginning_or_end(
                comparable_text(self.stored[j].message), comparable_text(message)
            ):
                return j
        return None

    def jump(self, i: int, j: int) -> None:
        inserted, skipped = i - self.i, j - self.j
        if inserted and self.is_replaced(i, j):
            self.rewritten += inserted
            return
        self.inserted += inserted
        self.skipped += skipped
        self.grown |= inserted > skipped
