"""The shape of a language's data: every cue is one pattern, and the same cues exist in every language.

Patterns are matched without regard to capitals. What a cue is worth is decided in `statements`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.text.patterns import late


def any_of(words: str) -> str:
    """A pattern for any of these words; an underscore is a space."""
    return rf"(?:{'|'.join(words.split()).replace('_', ' ')})"


@dataclass(frozen=True, slots=True)
class LanguageData:
    """`cues` are looked for anywhere in a clause, `begins` only at its beginning."""

    code: str
    cues: Mapping[str, re.Pattern[str]]
    begins: Mapping[str, re.Pattern[str]]
    # Little words before a clause proper, to be taken off.
    particles: re.Pattern[str]
    # Where a clause may end beside signs: a conjunction that begins a main clause of its own.
    joins: re.Pattern[str]
    # Words for values, each kind with the pattern of its words.
    values: Mapping[str, re.Pattern[str]]


def cue(*patterns: str) -> re.Pattern[str]:
    """A pattern for any of these, as whole words."""
    return late(rf"(?<![\w])(?:{'|'.join(patterns)})(?![\w])", re.IGNORECASE)


def begin(*patterns: str) -> re.Pattern[str]:
    return late(rf"(?:{'|'.join(patterns)})(?![\w])", re.IGNORECASE)


def opening(pattern: str) -> re.Pattern[str]:
    return late(pattern, re.IGNORECASE)
