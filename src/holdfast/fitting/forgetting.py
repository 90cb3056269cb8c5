"""A memory that was forgotten or corrected leaves every window that quotes it, or is told there as it is now.

A decision in each lane, like everything that changes a window. Knows the store and lanes; what a memory is
and where it stands in files is known in `memory`.
"""

import re
from dataclasses import replace

from holdfast.conversations import lanes
from holdfast.memory.base import Memory
from holdfast.memory.library import Change
from holdfast.store import Decision, Store

# How a line begins: with a date, unless somebody wrote it by hand.
_BEGINS = re.compile(r"- \d{4}-\d\d-\d\d: ")
# A correction may be so many characters longer than what it corrects; search finds the rest.
_MORE = 200

_CHANGES: frozenset[Change] = frozenset({"forgotten", "edited", "superseded"})


class Forgetting:
    """To be told of every change of a memory."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, memory: Memory, change: Change) -> None:
        if change in _CHANGES and self._store.decisions.quoting(memory.id):
            self._store.atomically(self._rewrite, memory, change)

    def _rewrite(self, memory: Memory, change: Change) -> None:
        for made in self._store.decisions.quoting(memory.id):
            text, lines = self._now(made)
            line = lines.get(memory.id)
            if line is None or line not in text.split("\n"):
                continue
            new = _corrected(line, memory) if change == "edited" else ""
            self._decide(made, _with(text, line, new), {**lines, memory.id: new})

    def _now(self, made: Decision) -> tuple[str, dict[str, str]]:
        """What is told by a decision now, and which line of it is which memory."""
        later = [
            one
            for one in self._store.decisions.of(made.lane)
            if one.kind == "replace" and made.id in one.data["instead"]
        ]
        text: str = later[-1].data["instead"][made.id] if later else made.data["text"]
        first: str = made.data["text"]
        lines = dict(zip(made.data["memories"], first.split("\n")[1:], strict=False))
        for one in later:
            lines |= one.data.get("lines", {})
        return text, lines

    def _decide(self, made: Decision, text: str, lines: dict[str, str]) -> None:
        kept = self._store.decisions.record(
            made.lane,
            made.conversation,
            kind="replace",
            rule="forgotten",
            messages=made.messages,
            tokens_before=made.tokens_after,
            tokens_after=made.tokens_after * len(text) // max(1, len(made.data["text"])),
            reason="a memory was forgotten or corrected",
            data={"instead": {made.id: text}, "lines": lines},
        )
        row = self._store.lanes.get(made.lane)
        state = lanes.State.from_json(row.state) if row else lanes.State()
        if row is not None and state.active is not None:
            lanes.put(self._store, row, replace(state, active=(*state.active, kept.id)))


def _corrected(line: str, memory: Memory) -> str:
    """The line with the words as they are now; none where they need much more room than there was."""
    begins = _BEGINS.match(line)
    new = f"{begins[0] if begins else '- '}{' '.join(memory.text.split())}"
    return new if len(new) <= len(line) + _MORE else ""


def _with(text: str, line: str, new: str) -> str:
    """The text with another line in the place of one; nothing where only the heading would be left."""
    left = [new if one == line else one for one in text.split("\n")]
    left = [one for one in left if one]
    return "\n".join(left) if len(left) > 1 else ""
