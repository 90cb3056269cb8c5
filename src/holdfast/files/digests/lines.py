"""Outlines of source code by patterns, for languages without a grammar and for very large files.

A line is matched from its beginning; a line in a string or a comment may be taken for a definition.
"""

from collections.abc import Iterator

from holdfast.files.digests.base import Digest, ElementLocation, LineIndex, nest_names
from holdfast.files.digests.code import CodeOutline, OutlineEntry, write_outline
from holdfast.text.patterns import late

_MODIFIERS = (
    r"(?:(?:public|private|protected|internal|static|final|abstract|sealed|open|override|async|virtual|partial|data|"
    r"inline|suspend|export|local|readonly|const|fileprivate|mutating)\s+)*"
)
_BLOCKS = late(
    rf"\s*{_MODIFIERS}(?:def\s+(?:self\.)?|fun(?:c|ction)?\s+(?:[\w<>]+\.)?|sub\s+|proc\s+|class\s+|module\s+|object\s+|"
    r"interface\s+|trait\s+|struct\s+|enum\s+|record\s+|protocol\s+|extension\s+|namespace\s+|package\s+|defmodule\s+|"
    r"defp?\s+)(?P<name>[\w.:?!]+)"
)
_SCRIPT = late(
    r"(?:export\s+)?(?:default\s+)?(?:const|let|var)\s+(?P<name>[\w$]+)"
    r"|\s*(?:(?:export|default|declare|abstract|async)\s+)*"
    r"(?:function\*?|class|interface|enum|namespace|type)\s+(?P<thing>[\w$]+)"
    r"|\s+(?:(?:async|static|get|set|public|private|protected|readonly)\s+)*"
    r"(?!(?:if|for|while|switch|catch|function|return|with)\b)(?P<method>[\w$#]+)\s*\([^;]*\)[^;={]*\{\s*$"
)
_C = late(
    r"#\s*define\s+(?P<name>\w+)|\s*(?:typedef\s+)?(?:class|struct|enum|union|namespace)\s+(?P<thing>\w+)\s*[^;]*$"
    r"|(?!(?:if|for|while|switch|else|return)\b)[A-Za-z_][\w\s*&:<>,]{0,80}?\b(?P<method>[\w:~]+)\s*\([^;]*$"
)
# Languages with a grammar are included for files that are too large for it.
PATTERNS = {
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "go": late(r"(?:func(?: \([^)]*\))?|type|var|const) (?P<name>\w+)"),
    "rust": late(
        r"\s*(?:pub(?:\([^)]*\))?\s+)?(?:(?:async|unsafe|const|extern|\"C\")\s+)*"
        r"(?:fn|struct|enum|trait|mod|type|static|union|impl(?:<[^>]*>)?)\s+(?P<name>\w+)"
    ),
    "java": late(
        r"\s*(?:(?:public|private|protected|static|final|abstract|synchronized|default|sealed)\s+)*"
        r"(?:(?:class|interface|enum|record|@interface)\s+(?P<name>\w+)"
        r"|(?!(?:return|new|else|throw)\b)[\w<>\[\],?.]+\s+(?P<method>\w+)\s*\([^;]*\{\s*$)"
    ),
    "c": _C,
    "cpp": _C,
    "toml": late(r"\[\[?(?P<name>[^\[\]\n]+)\]"),
    "ruby": _BLOCKS,
    "php": _BLOCKS,
    "kotlin": _BLOCKS,
    "swift": _BLOCKS,
    "scala": _BLOCKS,
    "lua": _BLOCKS,
    "perl": _BLOCKS,
    "elixir": _BLOCKS,
    "csharp": late(
        rf"\s*{_MODIFIERS}(?:(?:class|interface|struct|enum|record|namespace)\s+(?P<name>[\w.]+)"
        r"|(?:[\w<>\[\],?.]+\s+)(?P<method>[A-Z]\w*)\s*(?:<[^>\n]*>)?\([^;\n]*$)"
    ),
    "shell": late(r"\s*(?:function\s+(?P<name>[\w:-]+)|(?P<method>[\w:-]+)\s*\(\)\s*\{?)"),
    "sql": late(
        r"(?i)\s*CREATE\s+(?:OR\s+REPLACE\s+)?(?:TEMP(?:ORARY)?\s+|UNIQUE\s+|VIRTUAL\s+|MATERIALIZED\s+)*"
        r"(?:TABLE|VIEW|INDEX|FUNCTION|PROCEDURE|TRIGGER|TYPE)\s+(?:IF\s+NOT\s+EXISTS\s+)?(?P<name>[\w.\"`\[\]]+)"
    ),
    "css": late(r"(?P<name>[.#@\w][^{};/\n]{0,100}?)\s*\{"),
    "ini": late(r"\[(?P<name>[^\]\n]+)\]"),
    "makefile": late(r"(?P<name>[\w./%-]+)(?: [\w./% -]+)?::?(?!=)"),
    "r": late(r"(?P<name>[\w.]+)\s*(?:<-|=)\s*function\b"),
}
_PRIVATE = late(r"\s*(?:private|fileprivate|local|defp)\b")


def digest_by_lines(kind: str, text: str, most: int) -> Digest | None:
    lines = text.split("\n")
    entries = tuple(
        OutlineEntry(
            "name",
            name,
            (lines[line].strip().rstrip("{").rstrip(), name),
            "",
            not _PRIVATE.match(lines[line]),
        )
        for _, name, line in find_definitions(kind, lines)
    )
    return write_outline(CodeOutline(kind, len(lines), entries), most) if entries else None


def locate_by_lines(kind: str, text: str) -> Iterator[ElementLocation]:
    lines = LineIndex(text)
    for name, first, last in nest_names(find_definitions(kind, lines.all), len(lines.all) - 1):
        yield lines.locate(name, first, last)


def find_definitions(kind: str, lines: list[str]) -> Iterator[tuple[int, str, int]]:
    pattern = PATTERNS[kind]
    for number, line in enumerate(lines):
        # Nobody writes definitions in longer lines.
        match = pattern.match(line) if len(line) < 500 else None
        if match:
            name = match[match.lastgroup or 0]
            yield len(line) - len(line.lstrip()), name.strip(), number
