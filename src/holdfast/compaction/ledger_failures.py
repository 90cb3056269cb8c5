"""Which tool calls failed and were not mended: the same call did not come again and go well.

Looks at pairs of calls and results only; what else a result says is none of its business.
"""

from collections.abc import Iterator, Sequence

from holdfast.compaction.ledger_lines import find_error_lines, get_command, parse_arguments, shorten
from holdfast.compaction.ledger_spelling import FAILURE_SEPARATOR
from holdfast.messages import ToolCall, ToolResult
from holdfast.patterns import late
from holdfast.window.items import Item, answered

# Where a program says at the very beginning or end how it went.
_RESULT_END = 600
_FAILURE = late(
    r"(?im)^[^\S\n]*(?:Error|Fehler|fatal|Exception|Traceback \(most recent|panic|npm ERR!)\b[:! (]"
    r"|^[^\S\n]*\{\s*\"?error\"?\s*:(?!\s*(?:null|false|\"\"))"
    r"|\b(?:exit(?:ed)?(?: with)?|return(?:ed)?)(?: code| status):? ?[1-9]\d{0,2}\b"
    r"|: command not found\b|^\w*(?:Error|Exception): |\b[1-9]\d* (?:failed|errors?)\b|^FAILED\b"
)


def find_open_failures(items: Sequence[Item]) -> list[tuple[str, int]]:
    """What failed last and was not repeated with success, each with the depth of its result."""
    failed: dict[str, tuple[str, int]] = {}
    for call, result, depth in _pair_calls(items):
        name = describe_call(call)
        # Put at the end again: what failed anew is the newest trouble.
        failed.pop(name, None)
        if looks_failed(result):
            failed[name] = (f"{name}{FAILURE_SEPARATOR}{_summarise_error(result.text)}", depth)
    return list(failed.values())


def describe_call(call: ToolCall) -> str:
    """What was called, short enough to read: the shell line, or the tool and what it was about."""
    command = get_command(call)
    if command:
        return command
    values = [
        value for value in parse_arguments(call).values() if isinstance(value, str | int) and value != ""
    ]
    about = next((str(value) for value in values if 0 < len(str(value)) <= 80 and "\n" not in str(value)), "")
    return f"{call.name}({about})"


def looks_failed(result: ToolResult) -> bool:
    text = result.text
    return result.error or bool(_FAILURE.search(text[:_RESULT_END]) or _FAILURE.search(text[-_RESULT_END:]))


def _summarise_error(text: str) -> str:
    """The line that says why: the last error line, else the first line there is."""
    lines = [line for line, _ in find_error_lines(text)]
    if lines:
        return lines[-1]
    return shorten(next((" ".join(line.split()) for line in text.split("\n") if line.strip()), ""))


def _pair_calls(items: Sequence[Item]) -> Iterator[tuple[ToolCall, ToolResult, int]]:
    """Each call that was answered, in the order of the answers."""
    at = 0
    while at < len(items):
        end = at + 1
        while end < len(items) and items[end].message.tool_results:
            end += 1
        answers = [item.message for item in items[at + 1 : end]]
        depths = {
            id(result): item.depth for item in items[at + 1 : end] for result in item.message.tool_results
        }
        for result, call in answered(items[at].message, answers):
            if call is not None:
                yield call, result, depths[id(result)]
        at = end
