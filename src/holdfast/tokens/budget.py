"""How a window is divided: a reserve for the answer, a cap for each section, the remainder for history."""

import sys
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from math import log2
from typing import Literal

from holdfast.errors import BadRequest
from holdfast.i18n import lazy

# What a level's share refers to: the room for history, the window without the reserve, or the whole window.
SharesOf = Literal["history", "room", "window"]

# The threshold of a disabled level: no history is ever that long.
NEVER = sys.maxsize


@dataclass(frozen=True, slots=True)
class Levels:
    """The share from which each level acts on history. `ahead` is level 3 while idle; None disables one."""

    prune: float | None = 0.50
    leave_out: float | None = 0.65
    ahead: float | None = 0.70
    summarise: float | None = 0.80


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The levels of one request in tokens of history."""

    prune: int
    leave_out: int
    ahead: int
    summarise: int
    full: int


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens for one model and window. A section's number is a cap: history gets what is not used."""

    window: int
    reserve: int
    profile: int
    # The start of a conversation: rules, preferences, memories and the notes of the last days.
    beginning: int
    summary: int
    research: int
    # Evidence recalled for a question; it may also use what history leaves free.
    recalled: int = 0
    levels: Levels = field(default_factory=Levels)
    shares_of: SharesOf = "history"
    # The size of a request below which nothing is summarised.
    floor: int = 0

    @property
    def memory(self) -> int:
        """The cap of all memory sections together."""
        return self.profile + self.beginning + self.summary

    @property
    def room(self) -> int:
        """The maximum size of a request: the window without the reserve."""
        return self.window - self.reserve

    @property
    def history(self) -> int:
        """What is left for history and question when every other section is full."""
        return max(0, self.room - self.memory - self.research - self.recalled)

    def for_evidence(self, fixed: int) -> int:
        """Returns the tokens reserved for evidence: its share of what `fixed` leaves."""
        return self.recalled * max(0, self.room - fixed) // self.room if self.room else 0

    def for_history(self, fixed: int, evidence: int | None = None) -> int:
        """Returns the room for history beside `fixed` (system prompt, tools, newest message) and evidence.

        `evidence` are the tokens of it where it is known that no more comes.
        """
        share = self.for_evidence(fixed)
        return max(0, self.room - fixed - (share if evidence is None else min(share, evidence)))

    def thresholds(self, fixed: int, evidence: int | None = None) -> Thresholds:
        """Returns the levels in tokens. An enabled level acts at the latest when history is full.

        Work ahead keeps its distance from summarising. `evidence` is as in `for_history`.
        """
        full = self.for_history(fixed, evidence)

        def tokens(share: float | None, floor: int = 0) -> int:
            if share is None:
                return NEVER
            if self.shares_of == "history":
                wanted = int(full * share)
            else:
                # These shares are of a whole request, fixed cost included.
                whole = self.room if self.shares_of == "room" else self.window
                wanted = int(whole * share) - fixed
            return min(full, max(0, wanted, floor - fixed))

        prune, leave_out = tokens(self.levels.prune), tokens(self.levels.leave_out)
        summarise = tokens(self.levels.summarise, self.floor)
        ahead = tokens(self.levels.ahead, self.floor)
        if NEVER > ahead >= summarise and self.levels.summarise and self.levels.ahead:
            earlier = [mark for mark in (prune, leave_out) if mark < NEVER]
            distance = int(self.room * (self.levels.summarise - self.levels.ahead))
            ahead = min(summarise, max(0, summarise - distance, *earlier))
        return Thresholds(prune=prune, leave_out=leave_out, ahead=ahead, summarise=summarise, full=full)

    def for_answer(self, prompt: int, asked: int | None = None) -> int:
        """Returns the limit for an answer after `prompt` tokens: what was asked for, as far as it fits."""
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
# Window size, and the share of its room for evidence; the first and last rows apply beyond the table.
_EVIDENCE = ((4_096, 0.30), (8_192, 0.25), (16_384, 0.20))
# A smaller window is too small for a conversation.
SMALLEST = 512


def budget_for(window: int, *, thinks: bool = False, levels: Levels | None = None) -> Budget:
    """Returns the default budget of a window. Thinking uses the reserve, so it is larger with `thinks`."""
    if window < SMALLEST:
        raise BadRequest(
            lazy("a window of {tokens} tokens holds no conversation", tokens=window),
            hint=lazy("Set num_ctx to at least {smallest}.", smallest=SMALLEST),
        )
    reserve, profile, beginning, summary, research = default_caps(window)
    if thinks:
        reserve = min(reserve + reserve // 2, window // 3)
    recalled = int((window - reserve) * evidence_share(window))
    return Budget(window, reserve, profile, beginning, summary, research, recalled, levels or Levels())


def evidence_share(window: int) -> float:
    """Returns the default share of the room for evidence."""
    for (start, high), (end, low) in pairwise(_EVIDENCE):
        if window <= end:
            return high + (low - high) * max(0.0, log2(window / start)) / log2(end / start)
    return _EVIDENCE[-1][1]


def default_caps(window: int) -> tuple[int, ...]:
    """Returns the caps of the sections: interpolated in the table, extrapolated by a rule beyond it."""
    if window < _TABLE[0][0]:
        return small_window_caps(window)
    for (start, *low), (end, *high) in pairwise(_TABLE):
        if window <= end:
            share = (window - start) / (end - start)
            return tuple(int(a + (b - a) * share) for a, b in zip(low, high, strict=True))
    return large_window_caps(window)


def small_window_caps(window: int) -> tuple[int, ...]:
    """Returns caps in proportion to the table's first row, with a fixed share for memory."""
    first, reserve, *_, research = _TABLE[0]
    # 1:2:3 for profile, beginning and summary.
    sixth = int(window * _MEMORY_SHARE) // 6
    return window * reserve // first, sixth, 2 * sixth, 3 * sixth, window * research // first


def large_window_caps(window: int) -> tuple[int, ...]:
    """Returns caps that grow slower than the window: a doubling adds what the table's last doubling added."""
    before, (last, *caps, research) = _TABLE[-2], _TABLE[-1]
    doublings = log2(window / last)
    grown = (int(cap + (cap - earlier) * doublings) for earlier, cap in zip(before[1:-1], caps, strict=True))
    return (*grown, window * research // last)


def largest_fitting(most: int, fits: Callable[[int], bool], least: int = 0) -> int:
    """Returns the largest number from `least` to `most` that fits, `least` if no larger one does.

    Whatever fits must fit for every smaller number, too: it is searched by bisection.
    """
    return least + bisect_left(range(least + 1, most + 1), True, key=lambda number: not fits(number))
