"""Scripts of the pages in the language of the reader: their sentences stand in them in English.

Names in reports (rules, sections, levels) are described here too, as the command line describes them.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from holdfast.compaction.summariser import METHODS
from holdfast.i18n import Language, in_language, lazy, lazy_context, translate
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

# What describes the names of a kind, and which there are.
NAMES: dict[str, tuple[Callable[[Any], str], Iterable[Any]]] = {
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

# A call of `_`, `ngettext` or `pgettext` in a script, as far as its one or two literals.
_TEXT = r'"(?:[^"\\]|\\.)*"'
_CALL = re.compile(rf"(?<![\w.$])(_|ngettext|pgettext)\(\s*({_TEXT})(?:\s*,\s*({_TEXT}))?")


def find_messages(script: str) -> Iterator[tuple[str, str]]:
    """Find the sentences of a script, each with its context, '' for none."""
    for call in _CALL.finditer(script):
        yield from _read_call(call)


def translate_script(script: str, language: Language) -> str:
    """Put the sentences of a language in the place of the English ones."""

    def replace_call(call: re.Match[str]) -> str:
        texts = [in_language(lazy_context(context, text), language) for context, text in _read_call(call)]
        literals = [json.dumps(text, ensure_ascii=False) for text in texts]
        if call[1] == "pgettext":
            literals.insert(0, call[2])
        return f"{call[1]}({', '.join(literals)}"

    return script if language == "en" else _CALL.sub(replace_call, script)


def _read_call(call: re.Match[str]) -> list[tuple[str, str]]:
    texts = [json.loads(text) for text in call.groups()[1:] if text]
    return [(texts[0], texts[1])] if call[1] == "pgettext" else [("", text) for text in texts]


def describe_names(kind: str) -> dict[Any, str]:
    """Describe the names of a kind that reports and decisions use."""
    describe, known = NAMES[kind]
    names = {name: describe(name) for name in known}
    if kind == "section":
        names |= {name: translate(text) for name, text in PAGE_SECTIONS.items()}
    return names


def names_of(page: str) -> dict[str, dict[Any, str]]:
    """Describe the names that a page shows; only that of the context shows more than the meter."""
    kinds = NAMES if page == "context" else ("section", "level", "mark")
    return {kind: describe_names(kind) for kind in kinds}
