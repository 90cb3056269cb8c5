"""Commands somebody ran and lines that say an error, in texts, code fences and arguments of tools.

It knows no messages; which call failed, and whether it was mended, is told elsewhere.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from holdfast.compaction.ledger_patterns import blank_out
from holdfast.messages import ToolCall
from holdfast.patterns import late
from holdfast.window.borders import fences

# More is no command and no telling line any more, but a program or a dump.
_LONGEST_LINE = 160

_PROGRAM = (
    r"(?:sudo )?(?:npm|npx|pnpm|yarn|bun|deno|node|pip3?|pipx|uv|poetry|conda|python3?|pytest|tox|ruff"
    r"|mypy|alembic"
    r"|uvicorn|gunicorn|flask|git|gh|docker|docker-compose|podman|kubectl|helm|terraform"
    r"|ansible(?:-playbook)?|make"
    r"|cmake|cargo|rustc|go|mvn|\./\w[\w./-]*|gradle|dotnet|java|javac|gcc|php|composer|rails|bundle|rake"
    r"|curl|wget"
    r"|ssh|scp|rsync|chmod|chown|apt(?:-get)?|brew|dnf|systemctl|service|journalctl|psql|pg_dump|mysql"
    r"|sqlite3"
    r"|redis-cli|aws|az|gcloud|ollama|llama-server|tar|unzip|openssl|export|source|sed|awk|grep|rg|find|rm"
    r"|mv|cp"
    r"|mkdir|ln|kill|crontab|ffmpeg|aider|code|nohup|screen|tmux|holdfast)"
)
_IN_QUOTES = late(rf"`({_PROGRAM} [^`\n]{{1,{_LONGEST_LINE}}})`")
_PROMPT = late(rf"(?m)^[ \t]*(?:[\w@.~/:-]{{0,40}}\$|PS [^>\n]{{0,60}}>) (\S[^\n]{{1,{_LONGEST_LINE}}})$")
_ALONE = late(rf"(?m)^[ \t]*({_PROGRAM} [^\n`]{{1,{_LONGEST_LINE}}})$")
# In a sentence only arguments that cannot be words of it.
_ARGUMENT = r"(?:-{1,2}[\w=./:-]+|(?:[^\W\d_]|\+)*+[./~^:=@_\d-][\w./~^:=@+-]*\w)"
_IN_SENTENCE = late(
    r"(?<![\w./-])((?:(?:npm|pnpm|yarn) (?:run [\w:-]+|test|install|ci|start|build)|git (?:add|commit|push"
    r"|pull|merge"
    r"|rebase|reset|checkout|switch|stash|cherry-pick|revert|clone|fetch|tag|bisect|log|diff|status)"
    r"|docker(?: |-)"
    r"compose (?:up|down|build|logs|restart)|docker (?:build|run|ps|logs|exec|pull|push)|kubectl (?:get"
    r"|apply|delete"
    r"|logs|rollout \w+|describe|exec)|terraform (?:init|plan|apply|destroy)|cargo (?:build|test|run|check)"
    r"|(?:pip3?|uv pip) install|alembic (?:upgrade|downgrade|revision)|make [a-z][a-z-]+(?=[ .,;:!?]*$)"
    r"|pytest"
    rf"|python3?|ollama (?:run|pull|serve|list))(?: {_ARGUMENT}| (?:origin|main|head|up)\b){{0,6}})(?!\w)",
    re.MULTILINE,
)
_SHELL = late(r"[ \t]*(?:```|~~~)[ \t]*(?:bash|sh|shell|console|zsh|powershell|ps1|cmd|terminal)\b[^\n]*\n")
_NO_COMMAND = late(
    r"(?:cd|ls|ll|pwd|cat|head|tail|echo|which|clear|exit|less|more|whoami|true|wc)\b[^|&;]*"
    r"|.*(?:[.?!]|\w,) [A-ZÄÖÜ].*|export (?:default|const|class|function|async|type|interface|let|\{).*"
    r"|(?:make|find|go|code|service|source|node|export|screen|kill|flask|java|python3?|pytest|git|docker)"
    r"(?: (?:sure|a|an|the|to|it|them|this|that|for|is|and|or|of|in|with|your|you|ahead|on|back|down|up"
    r"|out)\b.*)?"
)
_ARGUMENT_NAMES = ("command", "cmd", "script", "shell", "bash", "commands")
_WRAPPER = late(r"(?:/bin/)?(?:bash|sh|zsh) -\w*c\s+")

_ERROR_LINE = late(
    r"^[\s>*-]{0,8}(?:(?P<stamp>\[?\d{4}-\d\d-\d\d[T ][\d:.,]+Z?\]?|\[?\d\d:\d\d:\d\d[\d.,]*\]?)\s+)?"
    r"(?P<it>(?:[\w.$]{1,80}\.)?(?:[A-Z]\w{0,60})?(?:Error|Exception|Failure|Interrupt|NotFound|Timeout"
    r"|Warning): ?\S.*"
    r"|E {2,}\S.*"
    r"|(?:fatal|error|ERROR|FATAL|CRITICAL|SEVERE|panic|npm ERR!|FAILED|FAIL|Fehler"
    r"|FEHLER)(?:\[\w{1,12}\])?[:!\]]?\s+\S.*"
    r"|\[(?:ERROR|error|FATAL|CRITICAL|FAIL)\].*"
    r"|\S{1,40}\s(?:\S{1,40}\s)?(?:ERROR|FATAL|CRITICAL)\b.*"
    r"|\S{1,120}: (?:error(?: TS\d+)?|fatal error):? .*"
    r"|.{0,100}(?:: command not found|Permission denied|No such file or directory|Segmentation fault"
    r"|[Cc]onnection refused|[Tt]imed out|Zugriff verweigert|exit(?:ed)?(?: with)? (?:code"
    r"|status):? [1-9]\d{0,2}\b).*"
    r"|.{0,120}HTTP/\d(?:\.\d)?\"? [45]\d\d\b.*"
    r"|(?:HTTP )?[45]\d\d (?:Bad Request|Unauthorized|Forbidden|Not Found|Conflict|Unprocessable"
    r"|Too Many Requests"
    r"|Internal Server Error|Bad Gateway|Service Unavailable|Gateway Timeout)\b.*)"
)
_ERROR_LABEL = late(r"(?:(?:Errors?|Fehler): +)+")
_QUOTED_ERROR = late(
    r"(?<![\w.])(?:[A-Za-z]{2,40}(?:Error|Exception)|[Ff]ehlermeldung|[Ee]rror message"
    r"|(?:HTTP|[Ss]tatus(?: code)?)(?=:? [45]\d\d\b)):? "
    r"(?!(?:is|was|if|when|and|or|for|in|ist|und|wird|as|with|to|indicates|says|that|you|I|from|occurs)\b)"
    r"[\"'„“`]?[^\s`][^\n`]{2,160}"
)
# Lines without any of these need no closer look.
_ERROR_SIGNS = (
    "err", "exception", "fail", "fatal", "panic", "fehler", "refused", "denied", "timed", "timeout", "fault",
    "no such", "not found", "http", "e   ", "critical", "severe", "exit", "interrupt", "verweigert",
    "warning:", "40", "42", "50",
)  # fmt: skip
_QUOTED_ERROR_SIGNS = ("error", "exception", "fehlermeldung", "http", "status")
_NO_ERROR = late(
    r"(?i)\b(?:0|no|zero|without|keine|ohne) (?:\w+ )?(?:errors?|failures?|failed|fehler)\b"
    r"|errors?[\"']?: ?(?:0|null"
    r"|none|\[\]|\"\"|false)\b|error(?:s)? (?:handling|handler|boundary|message is)\b|[{(]\s*$"
    r"|\{\w{1,20}\}|[\"']\)|^\s*\w+Error: (?:If|When|Raised)\b"
)


def find_commands(text: str) -> Iterator[tuple[str, int]]:
    """The shell lines of a text with their places: in a fence, after a prompt, in quotes, in a sentence."""
    openings = [(_SHELL.match(text, start, end), end) for start, end in fences(text)]
    shells = [(opening.end(), end) for opening, end in openings if opening]
    for start, end in shells:
        yield from _shell_commands(text, start, end)
    text = blank_out(text, shells)
    for pattern in (_PROMPT, _IN_QUOTES, _ALONE, _IN_SENTENCE):
        matches = [(match[1], match.span(1)) for match in pattern.finditer(text)]
        yield from ((command, span[0]) for line, span in matches if (command := _tidy_command(line)))
        # A command is not looked for in another one.
        text = blank_out(text, [span for _, span in matches])


def get_command(call: ToolCall) -> str:
    """The shell line that a call ran; empty if it did something else."""
    arguments = parse_arguments(call)
    for name in _ARGUMENT_NAMES:
        value = arguments.get(name)
        if isinstance(value, list) and all(isinstance(word, str) for word in value):
            value = value[-1] if len(value) == 3 and value[1].startswith("-") else " ".join(value)
        if isinstance(value, str) and value.strip():
            return shorten(_WRAPPER.sub("", value.strip(), count=1).split("\n")[0].strip())
    return ""


def is_worth_keeping(command: str) -> bool:
    """Looking around is not: the files it looked at are told on their own."""
    return len(command) > 2 and not _NO_COMMAND.fullmatch(command)


def parse_arguments(call: ToolCall) -> Mapping[str, Any]:
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return arguments if isinstance(arguments, dict) else {}


def find_error_lines(text: str) -> Iterator[tuple[str, int]]:
    """The lines of an output that say what went wrong, without their time stamps."""
    for start, end in _lines_containing(text, _ERROR_SIGNS):
        match = _ERROR_LINE.match(text[start : min(end, start + 400)])
        if match and not _NO_ERROR.search(match[0]):
            label = _label_length(match["it"])
            yield shorten(" ".join(match["it"][label:].split())), start + match.start("it") + label


def _label_length(line: str) -> int:
    """Where the error begins in a line that only names it first, as a quote of a ledger does."""
    label = _ERROR_LABEL.match(line)
    return label.end() if label and _ERROR_LINE.match(line[label.end() :]) else 0


def find_quoted_errors(text: str) -> Iterator[tuple[str, int]]:
    """Errors quoted inside a sentence."""
    for start, end in _lines_containing(text, _QUOTED_ERROR_SIGNS):
        for match in _QUOTED_ERROR.finditer(text, start, end):
            if not _NO_ERROR.search(match[0]):
                yield _first_sentence(match[0]), match.start()


def _lines_containing(text: str, signs: Sequence[str]) -> list[tuple[int, int]]:
    """Start and end of the lines that have one of these signs, in their order; few lines have."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text  # places would be others
    lines: dict[int, int] = {}
    for sign in signs:
        at = lowered.find(sign)
        while at >= 0:
            end = lowered.find("\n", at + 1)
            end = end if end >= 0 else len(text)
            lines[lowered.rfind("\n", 0, at + 1) + 1] = end
            at = lowered.find(sign, end)
    return sorted(lines.items())


def shorten(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1].rstrip() + "…"


def _first_sentence(text: str) -> str:
    end = re.search(r"[.!?](?:\s+[A-ZÄÖÜ]|\s*$)|[\"”“]\s", text)
    return (text[: end.start()] if end else text).strip(" \"'„“`*")


def _shell_commands(text: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    for line in re.finditer(r"[^\n]+", text[start:end]):
        command = _tidy_command(line[0])
        if command and not command.startswith(("#", "```", "~~~", "//", "<", ">", "}", "{", ")", "-")):
            yield command, start + line.start()


def _tidy_command(line: str) -> str:
    command = re.sub(r"^(?:\$|>) ", "", line.strip()).split(" # ")[0].rstrip(" \\`*:;,")
    command = command.rstrip(".") if re.search(r"[a-zA-Z]{2}\.$", command) else command
    return command if is_worth_keeping(command) and len(command) <= _LONGEST_LINE else ""
