"""What tools did in a span: the files that were changed, and the calls that failed and were not made good.

Read from calls and results alone, by names that agents commonly use. It does not know any one agent.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from holdfast.messages import ToolCall
from holdfast.patterns import late
from holdfast.window.items import Item, answered

_WRITING_TOOL = late(
    r"(?i)(?:write|edit|create|patch|replace|insert|append|update|delete|remove|rename|move|save|modify)"
)
_FILE_KEYS = (
    "path",
    "file_path",
    "filepath",
    "filePath",
    "file",
    "filename",
    "target_file",
    "absolute_path",
    "notebook_path",
)
_COMMAND_KEYS = ("command", "cmd", "script", "query", "url")
_PATCHED_FILE = late(r"\*\*\* (?:Update|Add|Delete) File: ([^\n\\\"]{1,200})")
_ERROR = late(
    r"(?i)^\W*(?:error\b|fatal\b|traceback|exception\b|fehler\b|failed\b|failure\b|\w*(?:error|exception):"
    r"|(?:command|process) (?:failed|exited with)|exit (?:code|status):? [1-9]|permission denied|no such file"
    r"|not found\b|cannot |could not |unable to )|\bcommand not found\b|\bexit(?:ed with)? code:? [1-9]"
)
_ERROR_LINE = late(r"(?i)(?:(?:error|exception|fehler)\b|fatal|failed|denied|not found|cannot|could not)")
# A program that failed says so at its beginning or its end.
_RESULT_END = 400
_LONGEST_TARGET = 80
_LONGEST_REASON = 140


@dataclass(frozen=True, slots=True)
class ToolEffect:
    """A call that was answered: what it was aimed at, and the line that says why it failed, if it did."""

    name: str
    file: str
    target: str
    error: str
    place: int

    @property
    def label(self) -> str:
        return f"{self.name} {self.target}".strip()


def find_tool_effects(items: Sequence[Item]) -> list[ToolEffect]:
    """The answered calls of a span in their order."""
    effects: list[ToolEffect] = []
    for place, item in enumerate(items):
        if not item.message.tool_calls:
            continue
        answers = takewhile(lambda later: later.message.tool_results, items[place + 1 : place + 65])
        for result, call in answered(item.message, [answer.message for answer in answers]):
            if call is not None:
                trouble = _find_error(result.text, flagged=result.error)
                effects += (
                    ToolEffect(call.name, file, target, trouble, place)
                    for file, target in _parse_targets(call)
                )
    return effects


def list_changed_files(effects: Sequence[ToolEffect]) -> list[str]:
    """Files that a call wrote to, each once, the newest last."""
    changed = [
        effect.file
        for effect in effects
        if effect.file and not effect.error and _WRITING_TOOL.search(effect.name)
    ]
    return list(dict.fromkeys(reversed(changed)))[::-1]


def list_failures(effects: Sequence[ToolEffect]) -> list[ToolEffect]:
    """Failed calls that were not made again with success, the newest of each."""
    last = {effect.label: effect for effect in effects}
    return [effect for effect in last.values() if effect.error]


def list_successes(effects: Sequence[ToolEffect]) -> set[str]:
    last = {effect.label: effect for effect in effects}
    return {label for label, effect in last.items() if not effect.error}


def _parse_targets(call: ToolCall) -> Iterator[tuple[str, str]]:
    if patched := _PATCHED_FILE.findall(call.arguments):
        yield from ((file.strip(), file.strip()) for file in patched)
        return
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        yield "", ""
        return
    texts = {key: value for key, value in arguments.items() if isinstance(value, str) and value.strip()}
    file = next((texts[key].strip() for key in _FILE_KEYS if key in texts), "")
    command = next((texts[key] for key in _COMMAND_KEYS if key in texts), "")
    target = file or command or next(iter(texts.values()), "")
    yield file[:200], " ".join(target[:200].split())[:_LONGEST_TARGET]


def _find_error(text: str, *, flagged: bool) -> str:
    """The line that tells what went wrong, empty if nothing did."""
    ends = text if len(text) <= 2 * _RESULT_END else f"{text[:_RESULT_END]}\n{text[-_RESULT_END:]}"
    if not flagged and not _ERROR.search(ends[:_RESULT_END]):
        return ""
    lines = [" ".join(line.split()) for line in ends.splitlines() if line.strip()]
    telling = [line for line in lines if _ERROR_LINE.search(line) and not line.startswith("Traceback")]
    reason = (telling or lines or ["failed"])[-1]
    return reason[:_LONGEST_REASON]
