"""Recognises by its words what a sentence does: asks, names an aim, reports, leaves open, tells of a failure.

A sentence may do several of these, or none. The phrases are in `text.lang`.
"""

import re
from dataclasses import dataclass

from holdfast.text.lang import any_word
from holdfast.text.patterns import late

_WORD = late(r"[\w'-]+")
# Characters of a sentence that are read.
_GLANCE = 300
_QUESTION = late(r"\?[\"'”“)*_ ]*$")


@dataclass(frozen=True, slots=True)
class Cues:
    """The words of a sentence in lower case, with one space before each and one at the end.

    `length` does not count numbers.
    """

    plain: str
    length: int
    is_question: bool

    @classmethod
    def of(cls, sentence: str) -> "Cues":
        tokens = _WORD.findall(sentence[:_GLANCE].lower().replace("’", "'"))
        length = sum(word[0].isalpha() for word in tokens)
        return cls(f" {' '.join(tokens)} ", length, bool(_QUESTION.search(sentence[-_GLANCE:])))

    @property
    def asks(self) -> bool:
        return self.is_question or self.commands or bool(_ASKS.search(self.plain))

    @property
    def aims(self) -> bool:
        return bool(_AIMS.search(self.plain))

    @property
    def names_goal(self) -> bool:
        """Whether the sentence names a goal explicitly; it may replace an earlier goal."""
        return not self.is_question and bool(_GOAL.search(self.plain))

    @property
    def commands(self) -> bool:
        return bool(_COMMANDS.match(self.plain))

    @property
    def reports(self) -> bool:
        return bool(_REPORTS.search(self.plain) or _REPORTED.match(self.plain))

    @property
    def leaves_open(self) -> bool:
        return not self.is_question and bool(_OPEN.search(self.plain))

    @property
    def tells_failure(self) -> bool:
        return not self.is_question and bool(_FAILED.search(self.plain))

    @property
    def forbids(self) -> bool:
        """Whether the sentence forbids something this once; lasting rules are found by `window.rules`."""
        return not self.is_question and bool(_FORBIDS.match(self.plain) or _FORBIDDEN.search(self.plain))

    @property
    def is_idle(self) -> bool:
        """Whether the sentence is mere politeness or an announcement."""
        return bool(_IDLE.match(self.plain))


def _any(name: str, before: str = " ") -> re.Pattern[str]:
    """Returns a pattern for the phrases of a list, in any language.

    All begin with a space, which makes searching a long span fast.
    """
    return late(rf"{before}{any_word(name)}(?= )")


_OPENING = f" (?:{any_word('OPENERS')} ){{0,3}}"
_COMMANDS = _any("COMMANDS", _OPENING)
_ASKS = _any("ASKS")
_AIMS = _any("AIMS")
_GOAL = _any("GOALS")
_REPORTS = _any("REPORTS")
_REPORTED = _any("REPORT_OPENINGS")
_OPEN = _any("OPEN_POINTS")
_FAILED = _any("FAILURES")
_FORBIDS = _any("PROHIBITION_OPENINGS", _OPENING)
_FORBIDDEN = _any("PROHIBITIONS")
_IDLE = _any("COURTESIES")
