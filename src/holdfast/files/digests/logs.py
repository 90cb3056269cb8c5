"""Logs: their span of time, levels counted, patterns by frequency, and every distinct error word for word.

Knows how lines of logs begin. Which program wrote them is nothing to it.
"""

from collections import Counter

from holdfast.files.digests.values import Digest, cut, ended, plural
from holdfast.patterns import late
from holdfast.tokens.estimate import UNKNOWN, estimate

_MONTH = r"(?:Jan|Feb|Mar|Mär|Apr|Ma[yi]|Jun|Jul|Aug|Sep|Oct|Okt|Nov|De[cz])"
_TIME = late(
    r"\[?(\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    rf"|{_MONTH} [ \d]\d \d\d:\d\d:\d\d|\d\d?/{_MONTH}/\d{{4}}:\d\d:\d\d:\d\d(?: [+-]\d{{4}})?"
    r"|\d\d\.\d\d\.\d{2,4},? \d\d:\d\d(?::\d\d)?(?:[.,]\d+)?|\d\d:\d\d:\d\d(?:[.,]\d+)?)\]?"
)
_LEVEL = late(
    r"\b(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|ERR|SEVERE|CRIT(?:ICAL)?|FATAL|PANIC|FEHLER|WARNUNG|KRITISCH)\b"
    r"|\b(trace|debug|info|notice|warn(?:ing)?|error|crit(?:ical)?|fatal|panic)\b(?=[\]:=|)]|\s*$)"
    r"|level=\"?(\w+)"
)
_SAME = {"WARNING": "WARN", "WARNUNG": "WARN", "ERR": "ERROR", "FEHLER": "ERROR", "CRIT": "CRITICAL",
         "KRITISCH": "CRITICAL"}  # fmt: skip
_BAD = frozenset({"ERROR", "SEVERE", "CRITICAL", "FATAL", "PANIC"})
# What ends a traceback, or says by itself that something went wrong.
_RAISED = late(
    r"(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Warning)\b(?::|$)|panic: |Caused by: |Segmentation fault"
)
_CHANGING = late(
    r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b|\b0x[0-9a-fA-F]+\b|\b(?=[a-f]*\d)[0-9a-f]{8,}\b"
    r"|\"[^\"]{0,200}\"|'[^']{0,200}'|\d+(?:[.,:]\d+)*"
)
_GLANCE = 60
_LONGEST_LINE = 300
# (distinct errors, patterns, how long a line), each leaner than the one before.
_STEPS = ((60, 20, 300), (40, 15, 200), (25, 12, 160), (15, 10, 120), (10, 6, 100), (5, 5, 80), (3, 3, 60))


def is_log(text: str) -> bool:
    """Whether most lines at the beginning have a time or a level where logs have it."""
    lines = [line[:120] for line in text[:20_000].split("\n") if line.strip()][:_GLANCE]
    timed = sum(bool(_TIME.search(line[:60])) for line in lines)
    return len(lines) >= 3 and timed >= 0.5 * len(lines)


def digest(text: str, most: int) -> Digest | None:
    lines = [line for line in text.split("\n") if line.strip()]
    times: list[str] = []
    levels: Counter[str] = Counter()
    patterns: Counter[str] = Counter()
    errors: dict[str, str] = {}
    for line in lines:
        line = line[:_LONGEST_LINE]
        time = _TIME.search(line, 0, 80)
        if time:
            times.append(time[1])
            rest = line[: time.start()] + line[time.end() :]
        else:
            rest = line
        pattern = _CHANGING.sub("#", rest.strip())
        patterns[pattern] += 1
        level = _level(rest)
        levels[level] += bool(level)
        if level in _BAD or (not level and _RAISED.match(rest.lstrip())):
            errors.setdefault(pattern, line.strip())
    if not (times or +levels):
        return None
    return _written(lines, times, levels, patterns, errors, most)


def _written(
    lines: list[str],
    times: list[str],
    levels: Counter[str],
    patterns: Counter[str],
    errors: dict[str, str],
    most: int,
) -> Digest:
    top = [f"{plural(len(lines), 'line')} of log"]
    if times:
        top[0] += f", {times[0]} to {times[-1]}"
    if +levels:
        top.append("levels: " + ", ".join(f"{name} {number:,}" for name, number in (+levels).most_common()))
    body: list[str] = []
    told = shown = 0
    for told, shown, longest in _STEPS:
        body = list(top)
        if errors:
            body.append(f"{plural(len(errors), 'distinct error')}, the first of each:")
            for pattern, line in list(errors.items())[:told]:
                often = f"  ({patterns[pattern]:,} times)" if patterns[pattern] > 1 else ""
                body.append(cut(line, longest) + often)
        body.append(f"{plural(len(patterns), 'pattern')}, the most frequent:")
        body += [f"{number:,} × {cut(pattern, longest)}" for pattern, number in patterns.most_common(shown)]
        if estimate("\n".join(body), UNKNOWN).tokens <= most:
            break
    gone = [f"{len(lines) - min(told, len(errors)):,} of {plural(len(lines), 'line')} left out"]
    if len(errors) > told:
        gone.append(f"{plural(len(errors) - told, 'distinct error')} among them")
    if len(patterns) > shown:
        gone.append(plural(len(patterns) - shown, "rarer pattern"))
    return ended("log", body, ", ".join(gone))


def _level(line: str) -> str:
    found = _LEVEL.search(line, 0, 160)
    if found is None:
        return ""
    name = (found[1] or found[2] or found[3]).upper()
    return _SAME.get(name, name)
