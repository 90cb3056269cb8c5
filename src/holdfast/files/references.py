"""Find file references in a message: `@./a.py`, `@src/a.py:Class.method`, `@"./my file.md":full`.

Pure text processing. What may be something else (`@types/node`, `@pytest.fixture`) is marked as not `sure`:
it counts only if the file exists.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Literal

# Without a mode a small file is attached whole, a larger one as a digest, a folder as a tree.
Mode = Literal["", "full", "summary", "element", "lines", "list", "tree", "search"]

_QUOTES = {'"': '"', "'": "'", "„": "“”", "“": "”", "‚": "‘’", "‘": "’", "«": "»", "»": "«"}
# Characters that end a path without quotes.
_ENDS = r"\s\x00-\x1f\x7f\"'`<>|,;„“”‚‘’«»…，。；！？）"
# An `@` begins a reference unless the character before makes it part of a mail address or a URL.
_BEGINS = re.compile(rf"(?<![\w@./\\+\-%~#&=?$])@(?:(?=[\w./~])|(?P<quote>[{''.join(_QUOTES)}]))")
_RUN = re.compile(rf"[^{_ENDS}]{{1,500}}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LONGEST = 1_000
# How many `@` of a message are looked at; nobody writes more by hand.
_SIGNS = 5_000
# How many colons are tried as part of a file name.
_COLONS = 4
# Certainly a path: relative, absolute, in the home folder or on a drive.
_OUTRIGHT = re.compile(r"\.\.?/|/(?=[^/])|~/|[A-Za-z]:[\\/]")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_LIKE_A_PATH = re.compile(r"/|\.\w")
_LINES = re.compile(r"(?:lines:)?([0-9]{1,9})(?:[-–]([0-9]{0,9}))?")
_WORDS: dict[str, Mode] = {"full": "full", "summary": "summary", "list": "list", "tree": "tree"}
_SENTENCE_ENDS = ".!?:"
_PLAIN = re.compile(r"[\w./~+-]+")

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_SPAN = re.compile(r"(?<!`)(`+)(?!`)[^\n]*?[^`\n]\1(?!`)")


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference, written as `text[start:end]`.

    `what` is the element or the word to search for; `first` and `last` are lines, with `last` 0 for the end.
    If it is not `sure`, it is a reference only if the file exists.
    """

    start: int
    end: int
    path: str
    mode: Mode = ""
    what: str = ""
    first: int = 0
    last: int = 0
    sure: bool = True
    # The text after the first colon, if that may be part of the path.
    behind: str = field(default="", compare=False, repr=False)


def find_references(text: str) -> list[Reference]:
    """Return the references in a message in their order, except those inside code."""
    if "@" not in text:
        return []
    code = find_code(text)
    starts = [start for start, _ in code]
    references, done = [], 0
    for begin in islice(_BEGINS.finditer(text), _SIGNS):
        at = begin.start()
        before = bisect_right(starts, at) - 1
        if at < done or (before >= 0 and at < code[before][1]):
            continue
        reference = parse_quoted(text, begin) if begin["quote"] else parse_bare(text, at)
        if reference is not None:
            references.append(reference)
            done = reference.end
    return references


def parse_reference(text: str) -> Reference:
    """Parse a single reference, as an argument of a command: with or without `@`, spaces allowed."""
    alone = text.strip()
    shift = 1 if alone.startswith("@") else 0
    if alone[shift : shift + 1] in _QUOTES:
        whole = f"@{alone[shift:]}"
        begin = _BEGINS.match(whole)
        reference = begin and parse_quoted(whole, begin)
        if reference:
            return replace(reference, start=0, end=len(text), sure=True)
    path, suffix = split_path(alone[shift:])
    return replace(build_reference(0, len(text), path, suffix, None, sure=True), behind=suffix)


def alternatives_with_colons(reference: Reference) -> Iterator[Reference]:
    """Yield the readings with colons in the path: `./a:b.py` may be a file, not the element b.py of a."""
    parts = reference.behind.split(":")
    for number in range(1, min(len(parts), _COLONS) + 1 if reference.behind else 1):
        path = ":".join([reference.path, *parts[:number]])
        yield build_reference(
            reference.start, reference.end, path, ":".join(parts[number:]), None, sure=reference.sure
        )


def escape_references(text: str) -> str:
    """Put a backslash before everything that could begin a reference."""
    return _BEGINS.sub(r"\\\g<0>", text)


def element_suffix(name: str) -> str:
    """Return the suffix for an element: `:turn`, or `:name:full` because `:full` means something else."""
    text = f"@./x:{name}"
    short = [
        (reference.end, reference.what) for reference in find_references(text) if reference.mode == "element"
    ]
    return f":{name}" if short == [(len(text), name)] else format_suffix(Reference(0, 0, "", "element", name))


def format_suffix(reference: Reference) -> str:
    """Return the suffix that asks for the same part of a file."""
    if reference.mode == "lines":
        return f":lines:{reference.first}-{reference.last or ''}"
    if reference.mode in ("element", "search"):
        kind = "name" if reference.mode == "element" else "search"
        return f":{kind}:{quote_if_needed(reference.what)}"
    return f":{reference.mode}" if reference.mode else ""


def format_reference(path: str, reference: Reference) -> str:
    """Write a reference to `path` for the same part, without `@`, so that it is parsed as it was meant."""
    return f"{quote_if_needed(path)}{format_suffix(reference)}"


def quote_if_needed(text: str) -> str:
    """Return the text unchanged if it is unambiguous, else in quotes that it does not contain."""
    if _PLAIN.fullmatch(text) and not text.endswith(("..", ".")):
        return text
    pair = next((pair for pair in ('""', "''", "«»", "„“") if not set(pair) & set(text)), '""')
    return f"{pair[0]}{text}{pair[1]}"


def parse_quoted(text: str, begin: re.Match[str]) -> Reference | None:
    """Parse `@"./my file.md":full`: the path is the verbatim text in the quotes."""
    held = read_quotes(text, begin.end() - 1)
    if held is None:
        return None
    path, end = held
    outright = _OUTRIGHT.match(path)
    if not path.strip() or not (outright or _LIKE_A_PATH.search(path)):
        return None
    suffix, value = "", None
    if text[end : end + 1] == ":":
        run = _RUN.match(text, end + 1)
        value_at = run.end() if run else end + 1
        suffix = text[end + 1 : value_at]
        value = read_quotes(text, value_at) if suffix == "" or suffix.endswith(":") else None
        if value is None:
            suffix = trim_run(suffix, "")
            # A colon with nothing after it belongs to the sentence.
            end = end + 1 + len(suffix) if suffix else end
        else:
            end = value[1]
    return build_reference(begin.start(), end, path, suffix, value and value[0], sure=bool(outright))


def parse_bare(text: str, at: int) -> Reference | None:
    run = _RUN.match(text, at + 1)
    if run is None:
        return None
    written = run[0]
    value = read_quotes(text, run.end()) if written.endswith(":") else None
    before = text[at - 1 : at] if at else ""
    trimmed = written if value else trim_run(written, before)
    path, suffix = split_path(trimmed)
    outright = _OUTRIGHT.match(path)
    if not (outright or (_LIKE_A_PATH.search(path) and path.strip("./"))):
        return None
    # `from "@/components/button"` is an import in JavaScript.
    sure = outright is not None and not (path.startswith("/") and before in ('"', "'"))
    end = value[1] if value else at + 1 + len(trimmed)
    reference = build_reference(at, end, path, suffix, value and value[0], sure=sure)
    return reference if value else replace(reference, behind=suffix)


def read_quotes(text: str, at: int) -> tuple[str, int] | None:
    """Return the text in the quotes that open at `at`, and the offset behind them."""
    start = at + 1
    ends = [text.find(mark, start, start + _LONGEST) for mark in _QUOTES.get(text[at:start], "")]
    end = min((place for place in ends if place > start), default=0)
    return (text[start:end], end + 1) if end and not _CONTROL.search(text, start, end) else None


def trim_run(run: str, before: str) -> str:
    """Remove what belongs to the sentence around a path: brackets, emphasis, the full stop."""
    run = run[: balanced_length(run)]
    if before == "*":
        run = run.rstrip("*" + _SENTENCE_ENDS)
    trimmed = run.rstrip(_SENTENCE_ENDS)
    if trimmed.endswith("/") and run[len(trimmed) :].startswith(".."):
        return f"{trimmed}.."
    return trimmed


def balanced_length(run: str) -> int:
    """Return the length up to the first unmatched bracket."""
    opened: list[int] = []
    for index, letter in enumerate(run):
        if letter in "([{":
            opened.append(index)
        elif letter in ")]}":
            if not opened:
                return index
            opened.pop()
    return opened[0] if opened else len(run)


def split_path(run: str) -> tuple[str, str]:
    """Split into path and suffix; the colon of a drive is part of the path."""
    drive = _DRIVE.match(run)
    colon = run.find(":", drive.end() if drive else 0)
    return (run, "") if colon < 0 else (run[:colon], run[colon + 1 :])


def build_reference(
    start: int, end: int, path: str, suffix: str, value: str | None, *, sure: bool
) -> Reference:
    """Build a reference from path and suffix; `value` is the quoted text after the suffix."""
    kind, colon, argument = suffix.partition(":")
    given = value if value is not None else argument
    if value is None and (lines := _LINES.fullmatch(suffix)):
        first = max(1, int(lines[1]))
        last = first if lines[2] is None else int(lines[2] or 0)
        if last and last < first:
            first, last = max(1, last), first
        return Reference(start, end, path, "lines", "", first, last, sure)
    if kind == "lines":
        return Reference(start, end, path, "lines", given, sure=sure)
    if value is None and suffix in _WORDS:
        return Reference(start, end, path, _WORDS[suffix], sure=sure)
    if kind == "search" and (colon or not value):
        return Reference(start, end, path, "search", given, sure=sure)
    name = given if kind == "name" and given else value if value is not None else suffix
    return Reference(start, end, path, "element" if name else "", name.removesuffix("()"), sure=sure)


def find_code(text: str) -> list[tuple[int, int]]:
    """Return the ranges of code: fences (an open one reaches to the end) and spans within a line."""
    if "`" not in text and "~~~" not in text:
        return []
    ranges: list[tuple[int, int]] = []
    done = 0
    opened: re.Match[str] | None = None
    for line in _FENCE.finditer(text):
        if opened is None:
            if line[1][0] == "`" and "`" in line[0].strip().lstrip("`"):
                continue
            ranges += code_spans(text, done, line.start())
            opened = line
        elif line[1].startswith(opened[1]) and line[0].strip() == line[1]:
            ranges.append((opened.start(), line.end()))
            done, opened = line.end(), None
    if opened is not None:
        return [*ranges, (opened.start(), len(text))]
    return ranges + code_spans(text, done, len(text))


def code_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    return [span.span() for span in _SPAN.finditer(text, start, end)]
