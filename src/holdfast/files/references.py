"""Which files somebody points at: `@./a.py`, `@src/a.py:Class.method`, `@"./my file.md":full`.

Pure: text in, places in it out. Whether there is such a file is not known here; a path that does not look
like one on its own (`@types/node`, `@pytest.fixture`) is marked as one that counts only if it exists.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Literal

# Without a mode a file is whole while it is small, and a digest from then on; a folder is a tree.
Mode = Literal["", "full", "summary", "element", "lines", "list", "tree", "search"]

_QUOTES = {'"': '"', "'": "'", "„": "“”", "“": "”", "‚": "‘’", "‘": "’", "«": "»", "»": "«"}
# What cannot be in a path without quotes: it ends there.
_ENDS = r"\s\x00-\x1f\x7f\"'`<>|,;„“”‚‘’«»…，。；！？）"
# Before an `@` that begins a reference stands nothing that would make it part of a mail address or a URL.
_BEGINS = re.compile(rf"(?<![\w@./\\+\-%~#&=?$])@(?:(?=[\w./~])|(?P<quote>[{''.join(_QUOTES)}]))")
_RUN = re.compile(rf"[^{_ENDS}]{{1,500}}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LONGEST = 1_000
# Messages with so many signs that might begin a reference are no messages of people: the rest is not read.
_SIGNS = 5_000
# So many colons of a path are tried as part of a file's name.
_COLONS = 4
# Said outright to be a path: from here, from above, from the top, from home, from a drive.
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
    """`text[start:end]` is how it was written.

    `what` is the element or the word to search for; `first` and `last` are lines, `last` 0 for the end. One
    that is not `sure` is a reference only if its file exists.
    """

    start: int
    end: int
    path: str
    mode: Mode = ""
    what: str = ""
    first: int = 0
    last: int = 0
    sure: bool = True
    # What was written behind the first colon, where that might be part of the path.
    behind: str = field(default="", compare=False, repr=False)


def references_in(text: str) -> list[Reference]:
    """All that a message points at, in its order; what is inside code is left alone."""
    if "@" not in text:
        return []
    code = _code_in(text)
    starts = [start for start, _ in code]
    found, done = [], 0
    for begin in islice(_BEGINS.finditer(text), _SIGNS):
        at = begin.start()
        before = bisect_right(starts, at) - 1
        if at < done or (before >= 0 and at < code[before][1]):
            continue
        reference = _quoted_at(text, begin) if begin["quote"] else _bare_at(text, at)
        if reference is not None:
            found.append(reference)
            done = reference.end
    return found


def reference_from(text: str) -> Reference:
    """One reference that stands alone, as an argument of a command: with or without `@`, spaces and all."""
    alone = text.strip()
    shift = 1 if alone.startswith("@") else 0
    if alone[shift : shift + 1] in _QUOTES:
        whole = f"@{alone[shift:]}"
        begin = _BEGINS.match(whole)
        reference = begin and _quoted_at(whole, begin)
        if reference:
            return replace(reference, start=0, end=len(text), sure=True)
    path, suffix = _split(alone[shift:])
    return replace(_made(0, len(text), path, suffix, None, sure=True), behind=suffix)


def with_colons(reference: Reference) -> Iterator[Reference]:
    """How else it may be meant: `./a:b.py` is a file of this name, where there is one, and else b.py in a."""
    parts = reference.behind.split(":")
    for number in range(1, min(len(parts), _COLONS) + 1 if reference.behind else 1):
        path = ":".join([reference.path, *parts[:number]])
        yield _made(reference.start, reference.end, path, ":".join(parts[number:]), None, sure=reference.sure)


def harmless(text: str) -> str:
    """The text with a backslash before whatever could begin a reference."""
    return _BEGINS.sub(r"\\\g<0>", text)


def suffix_for(name: str) -> str:
    """How an element is asked for: `:turn`, or `:name:full` where `:full` would mean something else."""
    text = f"@./x:{name}"
    short = [(one.end, one.what) for one in references_in(text) if one.mode == "element"]
    return f":{name}" if short == [(len(text), name)] else suffix_of(Reference(0, 0, "", "element", name))


def suffix_of(reference: Reference) -> str:
    """What is wanted of a file, as it is written behind its path."""
    if reference.mode == "lines":
        return f":lines:{reference.first}-{reference.last or ''}"
    if reference.mode in ("element", "search"):
        kind = "name" if reference.mode == "element" else "search"
        return f":{kind}:{_in_quotes(reference.what)}"
    return f":{reference.mode}" if reference.mode else ""


def written(path: str, reference: Reference) -> str:
    """A reference to this path that asks for the same, without its `@`; it is read again as it was meant."""
    return f"{_in_quotes(path)}{suffix_of(reference)}"


def _in_quotes(text: str) -> str:
    """As it is where that is clear, else in quotes that are not in it."""
    if _PLAIN.fullmatch(text) and not text.endswith(("..", ".")):
        return text
    pair = next((pair for pair in ('""', "''", "«»", "„“") if not set(pair) & set(text)), '""')
    return f"{pair[0]}{text}{pair[1]}"


def _quoted_at(text: str, begin: re.Match[str]) -> Reference | None:
    """`@"./my file.md":full`: the path is what stands in the quotes, letter by letter."""
    held = _held(text, begin.end() - 1)
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
        value = _held(text, value_at) if suffix == "" or suffix.endswith(":") else None
        if value is None:
            suffix = _trimmed(suffix, "")
            # A colon that nothing follows belongs to the sentence.
            end = end + 1 + len(suffix) if suffix else end
        else:
            end = value[1]
    return _made(begin.start(), end, path, suffix, value and value[0], sure=bool(outright))


def _bare_at(text: str, at: int) -> Reference | None:
    run = _RUN.match(text, at + 1)
    if run is None:
        return None
    written = run[0]
    value = _held(text, run.end()) if written.endswith(":") else None
    before = text[at - 1 : at] if at else ""
    kept = written if value else _trimmed(written, before)
    path, suffix = _split(kept)
    outright = _OUTRIGHT.match(path)
    if not (outright or (_LIKE_A_PATH.search(path) and path.strip("./"))):
        return None
    # `from "@/components/button"` is how some write an import.
    sure = outright is not None and not (path.startswith("/") and before in ('"', "'"))
    end = value[1] if value else at + 1 + len(kept)
    made = _made(at, end, path, suffix, value and value[0], sure=sure)
    return made if value else replace(made, behind=suffix)


def _held(text: str, at: int) -> tuple[str, int] | None:
    """What stands in the quotes that open at a place, and where it goes on behind them."""
    start = at + 1
    ends = [text.find(mark, start, start + _LONGEST) for mark in _QUOTES.get(text[at:start], "")]
    end = min((place for place in ends if place > start), default=0)
    return (text[start:end], end + 1) if end and not _CONTROL.search(text, start, end) else None


def _trimmed(run: str, before: str) -> str:
    """A run of letters without what belongs to the sentence around it: brackets, emphasis, the full stop."""
    run = run[: _balanced(run)]
    if before == "*":
        run = run.rstrip("*" + _SENTENCE_ENDS)
    kept = run.rstrip(_SENTENCE_ENDS)
    if kept.endswith("/") and run[len(kept) :].startswith(".."):
        return f"{kept}.."
    return kept


def _balanced(run: str) -> int:
    """How far a run goes until a bracket that it did not open, or did not close."""
    opened: list[int] = []
    for index, letter in enumerate(run):
        if letter in "([{":
            opened.append(index)
        elif letter in ")]}":
            if not opened:
                return index
            opened.pop()
    return opened[0] if opened else len(run)


def _split(run: str) -> tuple[str, str]:
    """The path, and what is wanted of it: the colon of a drive is part of the path."""
    drive = _DRIVE.match(run)
    colon = run.find(":", drive.end() if drive else 0)
    return (run, "") if colon < 0 else (run[:colon], run[colon + 1 :])


def _made(start: int, end: int, path: str, suffix: str, value: str | None, *, sure: bool) -> Reference:
    """`value` is what stood in quotes behind the suffix."""
    kind, colon, rest = suffix.partition(":")
    given = value if value is not None else rest
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


def _code_in(text: str) -> list[tuple[int, int]]:
    """Where code stands: fences, one that nobody closed up to the end, and spans within a line."""
    if "`" not in text and "~~~" not in text:
        return []
    found: list[tuple[int, int]] = []
    done = 0
    opened: re.Match[str] | None = None
    for line in _FENCE.finditer(text):
        if opened is None:
            if line[1][0] == "`" and "`" in line[0].strip().lstrip("`"):
                continue
            found += _spans(text, done, line.start())
            opened = line
        elif line[1].startswith(opened[1]) and line[0].strip() == line[1]:
            found.append((opened.start(), line.end()))
            done, opened = line.end(), None
    if opened is not None:
        return [*found, (opened.start(), len(text))]
    return found + _spans(text, done, len(text))


def _spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    return [span.span() for span in _SPAN.finditer(text, start, end)]
