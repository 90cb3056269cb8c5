"""How a window is shared out: a reserve for the answer, a cap for each section, the rest for history.

Numbers in, numbers out. It knows no messages and does not decide what leaves: it says how much room there is.
"""

import sys
from dataclasses import dataclass, field
from itertools import pairwise
from math import log2
from typing import Literal

from holdfast.errors import BadRequest

# What a level's share is a share of: what history can have, the window without the reserve, or all of it.
SharesOf = Literal["history", "room", "window"]

# The threshold of a level that is not there: no history is ever that long.
NEVER = sys.maxsize


@dataclass(frozen=True, slots=True)
class Levels:
    """From which share on something is done about history. `ahead` is level 3 while idle; None is never."""

    prune: float | None = 0.50
    leave_out: float | None = 0.65
    ahead: float | None = 0.70
    summarise: float | None = 0.80


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The same in tokens of history, for one request, whatever the shares are of."""

    prune: int
    leave_out: int
    ahead: int
    summarise: int
    full: int


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens for one model and window. A section's number is a cap, not a claim: history has what is left."""

    window: int
    reserve: int
    profile: int
    # What a conversation begins with: rules, preferences, memories and the last days' notes.
    beginning: int
    summary: int
    research: int
    # What may be brought back for a question; it may take what history leaves free besides.
    recalled: int = 0
    levels: Levels = field(default_factory=Levels)
    shares_of: SharesOf = "history"
    # What a request must have in all before it is summarised, ahead or in line.
    floor: int = 0

    @property
    def memory(self) -> int:
        """What memory may take as a whole."""
        return self.profile + self.beginning + self.summary

    @property
    def room(self) -> int:
        """What a request may be at most: everything but the reserve."""
        return self.window - self.reserve

    @property
    def history(self) -> int:
        """What is sure to be left for history and question when every other section is full."""
        return max(0, self.room - self.memory - self.research - self.recalled)

    def for_evidence(self, fixed: int) -> int:
        """What is held free for what a question brings back: its share of what `fixed` leaves."""
        return self.recalled * max(0, self.room - fixed) // self.room if self.room else 0

    def for_history(self, fixed: int) -> int:
        """What history can have beside `fixed` (system prompt, tools, newest message) and the evidence."""
        return max(0, self.room - fixed - self.for_evidence(fixed))

    def thresholds(self, fixed: int) -> Thresholds:
        """At the latest, a level that is there comes when history is full; work ahead keeps its distance."""
        full = self.for_history(fixed)

        def tokens(share: float | None, floor: int = 0) -> int:
            if share is None:
                return NEVER
            if self.shares_of == "history":
                asked = int(full * share)
            else:
                # These shares are of a whole request, fixed cost included.
                whole = self.room if self.shares_of == "room" else self.window
                asked = int(whole * share) - fixed
            return min(full, max(0, asked, floor - fixed))

        prune, leave_out = tokens(self.levels.prune), tokens(self.levels.leave_out)
        summarise = tokens(self.levels.summarise, self.floor)
        ahead = tokens(self.levels.ahead, self.floor)
        if NEVER > ahead >= summarise and self.levels.summarise and self.levels.ahead:
            earlier = [mark for mark in (prune, leave_out) if mark < NEVER]
            distance = int(self.room * (self.levels.summarise - self.levels.ahead))
            ahead = min(summarise, max(0, summarise - distance, *earlier))
        return Thresholds(
            prune=prune,
            leave_out=leave_out,
            ahead=ahead,
            summarise=summarise,
            full=full,
        )

    def for_answer(self, prompt: int, asked: int | None = None) -> int:
        """The limit to send for an answer after `prompt` tokens: what was asked for, as far as it fits."""
        left = max(0, self.window - prompt)
        return left if asked is None else min(left, asked)


# Window, then reserve, profile, beginning, summary, research.
_TABLE = (
    (4_096, 1_024, 100, 200, 300, 700),
    (8_192, 2_048, 200, 400, 600, 1_500),
    (16_384, 3_072, 200, 600, 600, 4_000),
    (32_768, 4_096, 200, 1_200, 1_200, 8_000),
)
_MEMORY_SHARE = 0.15
# Window, and the share of its room that evidence for a question has; smaller and larger ones have the ends'.
_EVIDENCE = ((4_096, 0.30), (8_192, 0.25), (16_384, 0.20))
# A smaller window holds no conversation.
SMALLEST = 512


def budget_for(window: int, *, thinks: bool = False, levels: Levels | None = None) -> Budget:
    """The defaults for a window of this size. Thinking takes its tokens from the reserve, so it is larger."""
    if window < SMALLEST:
        raise BadRequest(
            f"a window of {window} tokens holds no conversation", hint=f"Set num_ctx to at least {SMALLEST}."
        )
    reserve, profile, beginning, summary, research = default_caps(window)
    if thinks:
        reserve = min(reserve + reserve // 2, window // 3)
    recalled = int((window - reserve) * evidence_share(window))
    return Budget(window, reserve, profile, beginning, summary, research, recalled, levels or Levels())


def evidence_share(window: int) -> float:
    """The share of the room that what is brought back for a question has by default."""
    for (start, high), (end, low) in pairwise(_EVIDENCE):
        if window <= end:
            return high + (low - high) * max(0.0, log2(window / start)) / log2(end / start)
    return _EVIDENCE[-1][1]


def default_caps(window: int) -> tuple[int, ...]:
    """The table's row; between two rows in proportion, above and below it by a rule."""
    if window < _TABLE[0][0]:
        return small_window_caps(window)
    for (start, *low), (end, *high) in pairwise(_TABLE):
        if window <= end:
            share = (window - start) / (end - start)
            return tuple(int(a + (b - a) * share) for a, b in zip(low, high, strict=True))
    return large_window_caps(window)


def small_window_caps(window: int) -> tuple[int, ...]:
    first, reserve, *_, research = _TABLE[0]
    # 1:2:3 for profile, beginning and summary.
    sixth = int(window * _MEMORY_SHARE) // 6
    return window * reserve // first, sixth, 2 * sixth, 3 * sixth, window * research // first


def large_window_caps(window: int) -> tuple[int, ...]:
    """Answers and memories do not grow like windows: a doubling adds what the last one in the table did."""
    before, (last, *caps, research) = _TABLE[-2], _TABLE[-1]
    doublings = log2(window / last)
    grown = (int(cap + (cap - earlier) * doublings) for earlier, cap in zip(before[1:-1], caps, strict=True))
    return (*grown, window * research // last)
