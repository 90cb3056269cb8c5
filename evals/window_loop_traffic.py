"""A turn of many tool calls, as opencode, codex and Claude Code send it: all of it again each time."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from evals.window_traffic import Wire

SYSTEM = "You are an agent for software engineering.\n<env>\n  Platform: linux\n</env>"
TASK = "Find out why the harbour importer drops rows, file by file. Never change anything under vendor/."
FUNCTION = {
    "name": "read",
    "description": "Reads a file.",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
}


@dataclass(frozen=True)
class Round:
    """One call as the model step it, under the id it got, and what the tool gave for it."""

    name: str
    path: str
    text: str


def path_of(number: int) -> str:
    return f"src/harbour/part_{number:02}.py"


def output(number: int) -> str:
    """A file of some 300 tokens, different for each number."""
    rows = (
        f"def row_{number}_{line}(ship, berth): return ship.at(berth + {number * line})" for line in range(14)
    )
    return "\n".join(rows)


def opencode_body(rounds: Sequence[Round]) -> Wire:
    messages: list[Wire] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": TASK}]
    for step in rounds:
        function = {"name": "read", "arguments": json.dumps({"path": step.path})}
        calls = [{"id": step.name, "type": "function", "function": function}]
        messages.append({"role": "assistant", "content": "", "tool_calls": calls})
        messages.append({"role": "tool", "tool_call_id": step.name, "content": step.text})
    return {"messages": messages, "tools": [{"type": "function", "function": FUNCTION}], "stream": False}


def codex_item(role: str, text: str) -> Wire:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


def codex_body(rounds: Sequence[Round]) -> Wire:
    where = "<environment_context>\n<date>2026-11-15</date>\n</environment_context>"
    items = [codex_item("developer", SYSTEM), codex_item("user", where), codex_item("user", TASK)]
    for step in rounds:
        arguments = json.dumps({"path": step.path})
        items.append({"type": "function_call", "name": "read", "arguments": arguments, "call_id": step.name})
        items.append({"type": "function_call_output", "call_id": step.name, "output": step.text})
    return {"input": items, "tools": [{"type": "function", **FUNCTION}], "stream": False, "store": False}


def claude_body(rounds: Sequence[Round]) -> Wire:
    reminder = "<system-reminder>\nToday's date is 2026-11-15.\n</system-reminder>\n"
    first = [{"type": "text", "text": text} for text in (reminder, TASK)]
    messages: list[Wire] = [{"role": "user", "content": first}]
    for step in rounds:
        use = {"type": "tool_use", "id": step.name, "name": "read", "input": {"path": step.path}}
        result = {"type": "tool_result", "tool_use_id": step.name, "content": step.text}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    tools = [{"name": "read", "description": "Reads a file.", "input_schema": FUNCTION["parameters"]}]
    return {
        "system": [{"type": "text", "text": SYSTEM}],
        "messages": messages,
        "tools": tools,
        "max_tokens": 1024,
    }


def opencode_call(answer: Wire) -> str:
    (result,) = answer["choices"][0]["message"]["tool_calls"]
    return str(result["id"])


def codex_call(answer: Wire) -> str:
    (result,) = [item for item in answer["output"] if item["type"] == "function_call"]
    return str(result["call_id"])


def claude_call(answer: Wire) -> str:
    (result,) = [block for block in answer["content"] if block["type"] == "tool_use"]
    return str(result["id"])


@dataclass(frozen=True)
class LoopClient:
    """A client: what it sends after some rounds, and the id of the call in what it gets."""

    name: str
    path: str
    headers: dict[str, str]
    body: Callable[[Sequence[Round]], dict[str, Any]]
    call: Callable[[Wire], str]


CLIENTS = (
    LoopClient(
        "opencode", "/v1/chat/completions", {"x-session-id": "ses_loop"}, opencode_body, opencode_call
    ),
    LoopClient(
        "codex", "/v1/responses", {"session-id": "th-loop", "thread-id": "th-loop"}, codex_body, codex_call
    ),
    LoopClient(
        "claude-code", "/v1/messages", {"x-claude-code-session-id": "cc-loop"}, claude_body, claude_call
    ),
)
