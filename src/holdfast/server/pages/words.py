"""Translations for the scripts of the pages, which have their sentences in English.

Names in reports (rules, sections, levels) are described here too, as the command line describes them.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from holdfast.compaction.summariser import METHODS
from holdfast.i18n import CONTEXT_END, current_language, gettext, lazy, pgettext, translate
from holdfast.window import sentences
from holdfast.window.decisions import LEVEL_OF

LEVELS = sorted(set(LEVEL_OF.values()))
SECTIONS = (
    "tools", "system", "profile", "summary", "history", "question", "files", "recalled", "research",
    "reserve",
)  # fmt: skip
# What only pages show of a window.
PAGE_SECTIONS = {"free": lazy("free"), "draft": lazy("your draft"), "clock": lazy("time")}
MARKS = ("1", "2", "3 ahead", "3")
RULES = (*LEVEL_OF, "thinking", "banner", "unreadable", "orphan")
CAUSES = (
    "first", "tools", "system", "profile", "decisions", "history", "horizon", "recall", "file", "research",
    "thinking", *(f"level {number}" for number in LEVELS),
)  # fmt: skip
NOTICES = (
    "not_searched", "not_noted", "not_recalled", "recalled_in_part", "recalled_by_words", "held_back",
    "profile_broken",
    "files_missing", "context_cut", "sources_cut", "sources_noted", "sources_missing",
    "not_kept", "not_smaller",
)  # fmt: skip

# A call of `_`, `ngettext` or `pgettext` in a script, as far as its one or two literals.
_TEXT = r'"(?:[^"\\]|\\.)*"'
_CALL = re.compile(rf"(?<![\w.$])(_|ngettext|pgettext)\(\s*({_TEXT})(?:\s*,\s*({_TEXT}))?")
_IMPORT = re.compile(r'(?:from|import\() ?"\./([\w-]+\.js)"')


def find_messages(script: str) -> Iterator[tuple[str, str]]:
    """Find the sentences of a script, each with its context, '' for none."""
    for function, first, second in _CALL.findall(script):
        if function == "pgettext":
            yield json.loads(first), json.loads(second)
        else:
            yield "", json.loads(first)
        if function == "ngettext":
            yield "", json.loads(second)


def words_of(page: str) -> dict[str, Any]:
    """Return what the scripts of a page need to speak the language of this context."""
    messages: dict[str, str] = {}
    if current_language() != "en":
        for context, english in _messages_of(page):
            key = f"{context}{CONTEXT_END}{english}" if context else english
            messages[key] = pgettext(context, english) if context else gettext(english)
    return {"messages": messages, "names": describe_names()}


def describe_names() -> dict[str, dict[Any, str]]:
    """Describe the names that reports and decisions use, by kind."""
    kinds: dict[str, tuple[Callable[[Any], str], Iterable[Any]]] = {
        "section": (sentences.section, SECTIONS),
        "level": (sentences.level, LEVELS),
        "mark": (sentences.mark, MARKS),
        "rule": (sentences.rule, RULES),
        "cause": (sentences.cause, CAUSES),
        "notice": (sentences.notice, NOTICES),
        "state": (sentences.state, ("in", "shortened", "out")),
        "method": (sentences.method, ("exact", "estimate")),
        "way": (sentences.way, (*METHODS, "in passing", "reused")),
    }
    names = {kind: {name: describe(name) for name in known} for kind, (describe, known) in kinds.items()}
    names["section"] |= {name: translate(text) for name, text in PAGE_SECTIONS.items()}
    return names


@cache
def _messages_of(page: str) -> tuple[tuple[str, str], ...]:
    """Return the sentences of a page's scripts: of its own, and of those that they import."""
    folder = files("holdfast.server.pages") / "static"
    scripts: dict[str, str] = {}
    waiting = ["core.js", f"{page}.js"]
    while waiting:
        name = waiting.pop()
        file = folder / name
        if name not in scripts and file.is_file():
            scripts[name] = file.read_text("utf-8")
            waiting += _IMPORT.findall(scripts[name])
    return tuple(dict.fromkeys(message for text in scripts.values() for message in find_messages(text)))
