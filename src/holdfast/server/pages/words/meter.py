"""Words for the meter, which stands on several pages: sections, levels and marks as `window` says them."""

from collections.abc import Callable, Sequence
from typing import Any

from holdfast.i18n import lazy
from holdfast.window import sentences
from holdfast.window.decisions import LEVEL_OF

# What describes the names of a report, and which names there are, by the prefix of their words.
Names = dict[str, tuple[Callable[[Any], str], Sequence[Any]]]

SECTIONS = (
    "tools", "system", "profile", "summary", "history", "question", "files", "recalled", "research",
    "reserve",
)  # fmt: skip
MARKS = ("1", "2", "3 ahead", "3")


WORDS: dict[str, str] = {
    "meter": lazy("Window of {window} tokens, {used} used, {reserve} kept for the answer."),
    "section_free": lazy("free"),
    "section_draft": lazy("your draft"),
}
NAMES: Names = {
    "section": (sentences.section, SECTIONS),
    "level": (sentences.level, sorted(set(LEVEL_OF.values()))),
    "mark": (sentences.mark, MARKS),
}
