"""Recorded traffic of real clients, line by line: what was asked and answered, and what it really was.

Knows the files' format and nothing of how requests are told apart.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from holdfast.messages import ChatRequest, Message, Part, Text, Thinking, ToolCall, canonical
from holdfast.protocols import anthropic, ollama, openai_chat, openai_responses

DATA = Path(__file__).parents[2] / "shared" / "data" / "clients"

_DIALECTS = {
    "/api/chat": ollama,
    "/v1/chat/completions": openai_chat,
    "/v1/responses": openai_responses,
    "/v1/messages": anthropic,
}
_SAME = ("same_as_line", "$same_as_line")
_CALL = re.compile(r"\n?\[tool_call (\S+) (\{.*\})\]\s*$")
# What the recording calls a request that belongs to a conversation. A subagent has a conversation of its own.
_MAIN = re.compile(r"main|chat|subagent")


@dataclass(frozen=True, slots=True)
class Line:
    """One recorded request. `truths` are the conversations it may belong to: one, but for a few lines."""

    file: str
    number: int
    kind: str
    label: str
    truths: frozenset[str]
    headers: Mapping[str, str]
    request: ChatRequest
    answer: Message | None
    # The recording has this from an earlier answer that it names.
    continues: bool

    @property
    def place(self) -> Literal["main", "side"]:
        return "main" if _MAIN.match(self.kind) else "side"


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jsonl"))


def read(path: Path) -> list[Line]:
    """The requests of one file that ask a model for an answer, in order."""
    rows = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines() if text.strip()]
    lines = [_line(path.stem, number, _resolve(rows, row)) for number, row in enumerate(rows, 1)]
    return _with_call_ids([line for line in lines if line is not None])


def _line(file: str, number: int, row: Mapping[str, Any]) -> Line | None:
    dialect = _DIALECTS.get(str(row["path"]).partition("?")[0])
    body = row.get("request")
    if dialect is None or not isinstance(body, dict):
        return None
    truth = str(row.get("session_truth") or row.get("conversation") or "-")
    return Line(
        file=file,
        number=number,
        kind=str(row["kind"]),
        label=str(row.get("turn_label", "")),
        truths=frozenset(f"{file}: {name}" for name in truth.split(" or ")),
        headers={name.lower(): str(value) for name, value in row["headers"].items()},
        request=dialect.parse_request(body),
        answer=_answer(row),
        continues=bool(body.get("previous_response_id")),
    )


def _resolve(rows: Sequence[Any], value: Any, path: tuple[str | int, ...] = ()) -> Any:
    """The value with every "same as in line N" replaced by what stands there, at the same place."""
    if isinstance(value, dict):
        if len(value) == 1 and (name := next(iter(value))) in _SAME:
            row = rows[value[name] - 1]
            for step in path:
                row = row[step]
            return _resolve(rows, row, path)
        return {name: _resolve(rows, item, (*path, name)) for name, item in value.items()}
    if isinstance(value, list):
        return [_resolve(rows, item, (*path, index)) for index, item in enumerate(value)]
    return value


def _answer(row: Mapping[str, Any]) -> Message | None:
    """What the model said; None if the server refused."""
    text = str(row.get("response_text") or "")
    if text.startswith("HTTP "):
        return None
    calls: list[Part] = []
    while results := _CALL.search(text):
        calls.insert(0, ToolCall(results[1], results[2]))
        text = text[: results.start()]
    calls += [
        ToolCall(call["name"], canonical(call.get("arguments") or {}))
        for call in row.get("response_tool_calls") or ()
    ]
    thinking: list[Part] = [Thinking(row["response_thinking"])] if row.get("response_thinking") else []
    content: list[Part] = [Text(text)] if text else []
    return Message("assistant", (*thinking, *content, *calls)) if content or calls else None


def _with_call_ids(lines: Sequence[Line]) -> list[Line]:
    """The lines, with the ids that the servers gave their tool calls.

    The recording has the text of an answer only. The ids are known from the next request of the conversation,
    in which the client sends the answer back as the newest one.
    """
    restored: list[Line] = []
    taken: set[str] = set()
    for at, line in enumerate(lines):
        answer = line.answer
        if answer is not None and answer.tool_calls:
            sent_back = (
                message
                for later in lines[at + 1 :]
                if later.truths & line.truths
                for message in reversed(later.request.messages)
            )
            ids = _ids(answer, sent_back, taken)
            taken |= set(ids)
            answer = _identify(answer, ids)
        restored.append(replace(line, answer=answer))
    return restored


def _ids(answer: Message, sent_back: Iterable[Message], taken: set[str]) -> list[str]:
    for message in sent_back:
        ids = [call.id for call in message.tool_calls]
        if all(ids) and _calls(message) == _calls(answer) and not taken & set(ids):
            return ids
    return []


def _calls(message: Message) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments or "{}")) for call in message.tool_calls]


def _identify(answer: Message, ids: Sequence[str]) -> Message:
    left = iter(ids)
    parts = (
        replace(part, id=next(left, "")) if isinstance(part, ToolCall) else part for part in answer.parts
    )
    return replace(answer, parts=tuple(parts))


def interleave(files: Sequence[Sequence[Line]]) -> Iterator[Line]:
    """The lines of several files as if all clients were used at once, each file in its own order."""
    for turn in range(max(map(len, files), default=0)):
        yield from (lines[turn] for lines in files if turn < len(lines))
