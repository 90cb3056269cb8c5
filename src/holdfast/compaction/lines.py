"""The line format in which a model names memories: `FACT: …`, `ENTSCHEIDUNG: …`, or that there are none.

Read leniently, since small models decorate everything, and written as a grammar for servers that can hold a
model to it. It does not know what a memory is for, nor whether what it says is true.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from holdfast.compaction.asked import MemoryKind
from holdfast.i18n import Language
from holdfast.patterns import late
from holdfast.thinking import without_thinking

_MOST_LINES = 30
_LONGEST_LINE = 500
# What comes out of the grammar is one sentence: no single word, no paragraph.
_SHORTEST_WRITTEN = 12
_LONGEST_WRITTEN = 300

_KINDS: dict[MemoryKind, str] = {
    "fact": r"FAKT(?:EN)?|FACTS?",
    "decision": r"ENTSCHEIDUNG(?:EN)?|DECISIONS?",
    "preference": r"PR(?:Ä|AE|A)FERENZ(?:EN)?|PREFERENCES?",
}
_LABEL = "|".join(f"(?P<{kind}>{words})" for kind, words in _KINDS.items())
_SIGNS = r"[\s>*_#+•–\-\"'`(\[{]"
_LINE = late(
    rf"{_SIGNS}{{0,20}}(?:\d{{1,2}}[.):]{_SIGNS}{{0,5}})?(?:{_LABEL})\b"
    r"[*_\"'`\])]{0,4}\s{0,2}(?:[(#]{0,2}\d{1,2}[).]{0,2})?[*_\"'`\])]{0,4}\s{0,2}[:：]"
    rf"(?P<text>.*)",
    re.IGNORECASE,
)
# Several on one line: only where the label is spelled as it was asked for.
_NEXT = late(
    r"(?<=[\s\"'}\]|;,])(?=(?:[\"'{]{0,2})(?:FAKT|ENTSCHEIDUNG|PR(?:Ä|AE)FERENZ|FACT|DECISION|PREFERENCE)[\"']?:)"
)
_NONE = late(r"\W*(?:KEINE|NO)[\s_-]?MEMOR(?:IES|Y|IEN)\b\W*", re.IGNORECASE)
_NOTHING = late(
    r"\W*(?:(?:KEINE|NO)[\s_-]?MEMOR\w+|keine?|none|nothing|nichts|n/?a|unknown|unbekannt|null)?\W*",
    re.IGNORECASE,
)
_PLACEHOLDER = late(r"\[[^\[\]]{0,80}\]|<[^<>]{0,80}>|\{[^{}]{0,80}\}")
_FENCE = late(r"^[^\S\n]*(?:```|~~~)\w*[^\S\n]*$", re.MULTILINE)
# What broken JSON leaves behind its last string.
_TRAIL = late(r"[\"'][\]}\s,]{0,20}$")
_DECORATION = " \"'`*_,;|"
_LETTERS = late(r"[^\W\d_]")

_LABELS: dict[Language, tuple[str, str, str, str]] = {
    "de": ("FAKT", "ENTSCHEIDUNG", "PRAEFERENZ", "KEINE_MEMORIES"),
    "en": ("FACT", "DECISION", "PREFERENCE", "NO_MEMORIES"),
}


def parse_memory_lines(answer: str, prompt: str = "") -> list[tuple[MemoryKind, str]]:
    """The memories an answer names, in its order; everything else in it is passed over.

    Lines that `prompt` has as well are its own examples come back, and count for nothing.
    """
    if says_none(answer):
        return []
    echoes = {_line_key(text) for _, text in _parse_labelled(prompt)} if prompt else set()
    memories: dict[str, tuple[MemoryKind, str]] = {}
    for kind, text in _parse_labelled(without_thinking(answer)):
        key = _line_key(text)
        if key and key not in echoes and not _is_placeholder(text):
            memories.setdefault(key, (kind, _cut_line(text)))
        if len(memories) == _MOST_LINES:
            break
    return list(memories.values())


def says_none(answer: str) -> bool:
    """Whether the answer says, before anything else, that there is nothing to remember."""
    return bool(_NONE.match(_FENCE.sub("", without_thinking(answer))))


def line_grammar(language: Language) -> str:
    """The format for llama.cpp to hold a model to: such lines, or that there are none, and nothing else."""
    fact, decision, preference, none = _LABELS[language]
    length = f"{{{_SHORTEST_WRITTEN - 1},{_LONGEST_WRITTEN - 1}}}"
    return (
        f'root ::= "{none}" | line ("\\n" line){{0,{_MOST_LINES - 1}}}\n'
        f'line ::= ("{fact}" | "{decision}" | "{preference}") ": " first rest{length}\n'
        # A bracket at the beginning would be the gap of the example, filled with nothing.
        "first ::= [^ \\t\\r\\n<>{}.\\x5B\\x5D]\n"
        "rest ::= [^\\r\\n]\n"
    )


def _parse_labelled(answer: str) -> Iterator[tuple[MemoryKind, str]]:
    for line in _unfold(answer):
        match = _LINE.match(line)
        if match is None:
            continue
        kind = next(kind for kind in _KINDS if match[kind])
        yield kind, _TRAIL.sub("", " ".join(match["text"].split())).strip(_DECORATION)


def _unfold(answer: str) -> Iterator[str]:
    """The lines of an answer, also where it came as JSON."""
    bare = _FENCE.sub("", answer).strip()
    if bare.startswith(("[", "{")):
        with suppress(ValueError, RecursionError):
            yield from _flatten_json(json.loads(bare))
            return
    for line in bare.splitlines():
        yield from _NEXT.split(line)


def _flatten_json(value: Any, label: str = "") -> Iterator[str]:
    """Strings are lines as they are; a key or a field of its own may say which kind of line."""
    if isinstance(value, str):
        yield f"{label}: {value}" if label else value
    elif isinstance(value, list):
        for item in value:
            yield from _flatten_json(item, label)
    elif isinstance(value, dict):
        kind = next(
            (value[key] for key in ("kind", "type", "category") if isinstance(value.get(key), str)), ""
        )
        texts = (
            value[key] for key in ("text", "content", "value", "memory") if isinstance(value.get(key), str)
        )
        if kind:
            yield from (f"{kind}: {text}" for text in texts)
        else:
            for key, item in value.items():
                yield from _flatten_json(item, key if _LINE.match(f"{key}: x") else "")


def _is_placeholder(text: str) -> bool:
    return bool(_NOTHING.fullmatch(text)) or len(_LETTERS.findall(_PLACEHOLDER.sub("", text))) < 3


def _line_key(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _cut_line(text: str) -> str:
    if len(text) <= _LONGEST_LINE:
        return text
    return text[: _LONGEST_LINE - 1].rsplit(" ", 1)[0] + "…"
