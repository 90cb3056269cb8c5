"""Labelled questions over chats and documents: the format that `evals.retrieval` reads.

`docs.jsonl` has one message or paragraph a line, in order, `queries.jsonl` the questions. Knows no search.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

_YEAR_FIRST = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:\D+(\d{1,2}):(\d{2}))?")
_NAMED = re.compile(r"(?:(\d{1,2})[ .]+)?([A-Z][a-z]{2,8})[ .,-]+(?:(\d{1,2})[ .,-]+)?(\d{4})")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


@dataclass(frozen=True, slots=True)
class Doc:
    corpus: str
    id: str
    session: str
    at: float | None
    role: str
    text: str
    # As the set writes it.
    date: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """`gold` is empty where the answer is not told."""

    corpus: str
    id: str
    question: str
    kind: str
    gold: tuple[str, ...]
    # When it is asked, where the set says so.
    at: float | None = None


def read_docs(folder: Path) -> list[Doc]:
    return [
        Doc(
            str(line["corpus"]),
            str(line["id"]),
            str(line.get("session") or ""),
            seconds_of(line.get("date") or ""),
            str(line.get("role") or "document"),
            str(line["text"]),
            str(line.get("date") or ""),
        )
        for line in read_lines(folder / "docs.jsonl")
    ]


def read_queries(folder: Path) -> list[Query]:
    return [
        Query(
            str(line["corpus"]),
            str(line["id"]),
            str(line["question"]),
            str(line.get("kind") or ""),
            tuple(map(str, line.get("gold") or ())),
            seconds_of(line.get("date") or ""),
        )
        for line in read_lines(folder / "queries.jsonl")
    ]


def seconds_of(date: str) -> float | None:
    """When something was said, from the ways the sets write it: 2023/04/10 (Mon) 17:50, 8 May, 2023, …"""
    if results := _YEAR_FIRST.search(date):
        year, month, day, hour, minute = (int(part or 0) for part in results.groups())
    elif results := _NAMED.search(date):
        before, name, after, report = results.groups()
        if name[:3].lower() not in _MONTHS:
            return None
        year, month, day = int(report), _MONTHS.index(name[:3].lower()) + 1, int(before or after or 1)
        hour, minute = 12, 0
    else:
        return None
    try:
        return datetime(year, month, day, hour, minute).astimezone().timestamp()
    except ValueError:
        return None


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)
