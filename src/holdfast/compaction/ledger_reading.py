"""Reads messages for the ledger: names, numbers, commands, error lines and decisions, with their context.

Everything a person typed is read; of program output only the most telling part. Each message is read on its
own, so a span read in parts gives the same result. `entry_key` makes different spellings of the same thing
equal: `./src/A.py` and `src\\a.py`, `1.250,00 €` and `1250 Euro`, `24.02.2026` and `February 24, 2026`.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from holdfast.compaction.ledger_patterns import KINDS, EntryKind, LedgerMatch, blank_out, find_matches
from holdfast.messages import Message, Text, ToolCall
from holdfast.text.analyser import terms
from holdfast.text.dates import MONTH_NAMES
from holdfast.text.lang import LOWER, UPPER, merged_rows, words_of
from holdfast.text.patterns import late
from holdfast.window.rules import decisions_in, stretches
from holdfast.window.shorten import Span, fences

# A longer line is a program or a dump rather than a command or an error.
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
# Within a sentence, only arguments that cannot be words of it.
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
    rf"|.*(?:[.?!]|\w,) [{UPPER}].*|export (?:default|const|class|function|async|type|interface|let|\{{).*"
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
# Lines without any of these are skipped.
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
    """Yields shell commands with their positions.

    In a code fence, after a prompt, in quotes, in a sentence.
    """
    openings = [(_SHELL.match(text, start, end), end) for start, end in fences(text)]
    shells = [(opening.end(), end) for opening, end in openings if opening]
    for start, end in shells:
        yield from _shell_commands(text, start, end)
    text = blank_out(text, shells)
    for pattern in (_PROMPT, _IN_QUOTES, _ALONE, _IN_SENTENCE):
        matches = [(match[1], match.span(1)) for match in pattern.finditer(text)]
        yield from ((command, span[0]) for line, span in matches if (command := _tidy_command(line)))
        # A command inside another one is not matched.
        text = blank_out(text, [span for _, span in matches])


def get_command(call: ToolCall) -> str:
    """Returns the shell command that a call ran; empty if it did something else."""
    arguments = parse_arguments(call)
    for name in _ARGUMENT_NAMES:
        value = arguments.get(name)
        if isinstance(value, list) and all(isinstance(word, str) for word in value):
            value = value[-1] if len(value) == 3 and value[1].startswith("-") else " ".join(value)
        if isinstance(value, str) and value.strip():
            return shorten(_WRAPPER.sub("", value.strip(), count=1).split("\n")[0].strip())
    return ""


def is_worth_keeping(command: str) -> bool:
    """Whether a command belongs in the ledger; those that only list or show files do not."""
    return len(command) > 2 and not _NO_COMMAND.fullmatch(command)


def parse_arguments(call: ToolCall) -> Mapping[str, Any]:
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return arguments if isinstance(arguments, dict) else {}


def find_error_lines(text: str) -> Iterator[tuple[str, int]]:
    """Yields the error lines of an output with their positions, without time stamps."""
    for start, end in _lines_containing(text, _ERROR_SIGNS):
        match = _ERROR_LINE.match(text[start : min(end, start + 400)])
        if match and not _NO_ERROR.search(match[0]):
            label = _label_length(match["it"])
            yield shorten(" ".join(match["it"][label:].split())), start + match.start("it") + label


def _label_length(line: str) -> int:
    """Returns the length of a leading "Error:" label, as a quoted ledger has, if an error follows it."""
    label = _ERROR_LABEL.match(line)
    return label.end() if label and _ERROR_LINE.match(line[label.end() :]) else 0


def find_quoted_errors(text: str) -> Iterator[tuple[str, int]]:
    """Yields errors quoted within a sentence, with their positions."""
    for start, end in _lines_containing(text, _QUOTED_ERROR_SIGNS):
        for match in _QUOTED_ERROR.finditer(text, start, end):
            if not _NO_ERROR.search(match[0]):
                yield _first_sentence(match[0]), match.start()


def _lines_containing(text: str, signs: Sequence[str]) -> list[tuple[int, int]]:
    """Returns start and end of the lines that contain one of the signs, in order."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text  # lower case would shift positions
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
    end = re.search(rf"[.!?](?:\s+[{UPPER}]|\s*$)|[\"”“]\s", text)
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


# Between a failed call and its error.
FAILURE_SEPARATOR = " → "

_MOST_CONTEXT_WORDS = 6
_LONGEST_CONTEXT = 48
# Characters around a number that may contain its context.
_REACH = 90

_SPACE = late(r"\s+")
_LINE_NUMBER = late(r":\d+$")
_AMOUNT = late(r"([^\d]*?)(\d[\d.,'’\u202f\u00a0]*)\s*[\u202f-]?(.*)", re.DOTALL)
_UNIT_NAMES = {name: unit for unit, names in merged_rows("UNIT_NAMES").items() for name in names.split()}
_MONTHS = {
    name[:3].lower(): number for number, names in enumerate(MONTH_NAMES, 1) for name in names.split()
} | {"mrz": 3}
_ISO = late(r"(\d{4})[-/](\d\d)[-/](\d\d)(.*)", re.DOTALL)
_GERMAN = late(r"(\d{1,2})\.(\d{1,2})\.?(\d{4})?(.*)", re.DOTALL)
_NAMED_MONTH = late(
    rf"(?:(\d{{1,2}})\S*\s(?:of\s)?)?([A-Z{LOWER}]{{3}})[a-z.]*"
    r"(?:\s(\d{1,2})(?!\d)\w{0,2})?(?:,?\s(\d{4}))?(.*)",
    re.DOTALL,
)
_CLOCK = late(r"(\d{1,2}):(\d\d)")

# "total_price": 250, Port = 8443, **Budget:** 1.200 €
_LABEL = late(r"([^\W\d_][\w /'’-]{1,40})[\"'`*_)]{0,4}\s{0,2}[:=]\s{0,3}[\"'`*\[]{0,3}$")
_WORD = late(r"[^\W\d_]+(?:['’/_-][^\W\d_]+)*")
# An abbreviation does not end a clause.
_ABBREVIATION = late(r"(?i)(?:nr|no|ca|bzw|tel|abs|max|min|st|dr|mr|mrs|approx)\.")
_PUNCTUATION = ".,;:!?()[]{}<>\"'`*_|„“”«»=#~-–—"
# Words between a name and its number that carry no meaning.
_FILLER_WORDS = frozenset(words_of("FILLER_WORDS").split())


@lru_cache(maxsize=32_768)
def entry_key(kind: EntryKind, text: str) -> str:
    """Returns a key that is equal for all spellings of the same thing."""
    plain = _SPACE.sub(" ", text).strip()
    match kind:
        case "file":
            path = _LINE_NUMBER.sub("", plain.replace("\\", "/")).casefold()
            return path.removeprefix("./").rstrip("/")
        case "url":
            return plain.rstrip("/").casefold()
        case "id":
            return (
                plain.casefold().replace(" ", "")
                if any(map(str.isdigit, plain))
                else plain.removesuffix("()")
            )
        case "version":
            return re.sub(r"\bv(?=\d)|^[\^~]|version ", "", plain.casefold())
        case "amount":
            return _normalise_amount(plain)
        case "date":
            return _normalise_date(plain)
        case "failure":
            return failed_call(plain)
        case _:
            return plain.casefold()


def failed_call(failure: str) -> str:
    return failure.partition(FAILURE_SEPARATOR)[0]


def find_context(text: str, start: int, end: int) -> str:
    """Returns the few words before a match that describe it, or those after it; empty if there are none."""
    before = text[max(0, start - _REACH) : start]
    label = _LABEL.search(before)
    if label and (named := _trim_words(_WORD.findall(label[1])[-_MOST_CONTEXT_WORDS:])):
        return named
    named = _trim_words(_leading_words(before.split()[::-1], backwards=True)[::-1])
    if named:
        return named
    return _trim_words(
        _leading_words(text[end : end + _REACH].split("\n")[0].split())[: _MOST_CONTEXT_WORDS - 2]
    )


def _leading_words(tokens: Sequence[str], *, backwards: bool = False) -> list[str]:
    words: list[str] = []
    for token in tokens:
        word = token.strip(_PUNCTUATION)
        ends = token[-1] in ".,;:!?)" and not _ABBREVIATION.fullmatch(token)
        if (ends and backwards) or len(words) == _MOST_CONTEXT_WORDS or (word and not _WORD.fullmatch(word)):
            break
        if word:
            words.append(word)
        if ends:
            break
    return words


def _trim_words(words: list[str]) -> str:
    while words and (words[-1].casefold() in _FILLER_WORDS or not terms(words[-1])):
        words = words[:-1]
    while words and (words[0].casefold() in _FILLER_WORDS or not terms(words[0])):
        words = words[1:]
    while len(words) > 1 and len(" ".join(words)) > _LONGEST_CONTEXT:
        words = words[1:]
    return " ".join(words)[:_LONGEST_CONTEXT]


def _normalise_amount(text: str) -> str:
    match = _AMOUNT.fullmatch(text)
    if not match or re.search(r"\d", match[3]):
        return text.casefold()  # a range is not normalised
    sign, number, unit = match[1].strip(), match[2], match[3].strip()
    unit = _UNIT_NAMES.get((unit or sign).casefold(), unit or sign)
    return f"{'-' if sign in ('-', '−') else ''}{_normalise_number(number)} {unit}"


def _normalise_number(number: str) -> str:
    """Normalises German and English numbers.

    A last separator before three digits groups, any other is the point.
    """
    number = number.rstrip(".,")
    place = max(number.rfind("."), number.rfind(","))
    whole, fraction = (number[:place], number[place + 1 :]) if place >= 0 else (number, "")
    if len(fraction) == 3 and whole != "0":
        whole, fraction = whole + fraction, ""
    whole, fraction = re.sub(r"\D", "", whole), fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def _normalise_date(text: str) -> str:
    """Returns year, month and day, as far as they are given, and the time of day."""
    if match := _ISO.fullmatch(text):
        year, month, day, remainder = match.groups()
    elif match := _GERMAN.fullmatch(text):
        day, month, year, remainder = match.groups()
    elif (match := _NAMED_MONTH.fullmatch(text)) and match[2].casefold() in _MONTHS:
        day, month, year, remainder = (
            match[1] or match[3],
            str(_MONTHS[match[2].casefold()]),
            match[4],
            match[5],
        )
    else:
        return text.casefold().replace(" ", "")
    clock = _CLOCK.search(remainder)
    time = f" {int(clock[1]):02}:{clock[2]}" if clock else ""
    return f"{year or ''}-{int(month):02}-{int(day or 0):02}{time}"


def needs_context(kind: EntryKind, text: str) -> bool:
    """Whether a mention needs context; names that explain themselves do not."""
    if kind == "id":
        return sum(map(str.isdigit, text)) * 3 >= len(text) and "@" not in text and "=" not in text
    return kind in ("amount", "date")


def fold_text(text: str) -> str:
    return _SPACE.sub(" ", text).casefold()


def occurs_in(kind: EntryKind, text: str, plain: str) -> bool:
    """Whether a text made plain by `fold_text` has this word for word, and not inside a longer name."""
    if kind == "failure":
        call, _, why = text.partition(FAILURE_SEPARATOR)
        return occurs_in("command", call, plain) and occurs_in("error", why, plain)
    wanted = fold_text(text).strip().removesuffix("…")
    at = plain.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if not (
            _is_inside_word(plain[at - 1 : at + 1]) or _is_inside_word(plain[end - 1 : end + 1])
        ) and not (wanted[:1].isdigit() and re.search(r"\d[.,]$", plain[max(0, at - 2) : at])):
            return True
        at = plain.find(wanted, at + 1)
    return not wanted


def _is_inside_word(two: str) -> bool:
    return len(two) == 2 and two[0].isalnum() and two[1].isalnum()


# The places of the limits of a kind.
_USER, _ANSWER, _OUTPUT = range(3)
# A longer message contains a paste; the user's own words stand around it.
_PASTE = 4_000
_PASTE_MARGIN = 1_200
# Of a longer output only both ends are read for names; its error lines are read in full.
_LONG_OUTPUT = 24_000
# A longer argument is file content rather than a name.
_LONG_ARGUMENT = 300
_ALPHANUMERIC = late(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class LedgerMention:
    kind: EntryKind
    text: str
    context: str = ""
    own: bool = False


def read_message(message: Message) -> list[LedgerMention]:
    """Returns the mentions of a message, each once."""
    if message.role == "system":
        return []
    mentions: list[LedgerMention] = []
    text = "".join(part.text for part in message.parts if isinstance(part, Text))
    if message.role == "user":
        mentions += _read_user_text(text)
    elif message.role == "assistant":
        mentions += _read_prose(text, _ANSWER)
    else:
        mentions += _read_output(text)
    for call in message.tool_calls:
        mentions += _read_call(call)
    for result in message.tool_results:
        mentions += _read_output(result.text)
    return _deduplicate(mentions)


def read_text(text: str) -> list[LedgerMention]:
    """Returns all mentions of a text, without any limit."""
    return [LedgerMention(match.kind, match.text) for match in _find_all(text, own=True)]


def _read_user_text(text: str) -> Iterator[LedgerMention]:
    for decision in decisions_in(text)[: KINDS["decision"].limits[_USER]]:
        yield LedgerMention("decision", decision, own=True)
    long = len(text) > _PASTE
    for start, end, pasted in stretches(text):
        piece = text[start:end]
        if pasted:
            yield from _read_output(piece) if long else _read_prose(piece, _OUTPUT)
        elif long and len(piece) > 2 * _PASTE_MARGIN:
            yield from _read_typed_text(piece[:_PASTE_MARGIN])
            yield from _read_output(piece[_PASTE_MARGIN:-_PASTE_MARGIN])
            yield from _read_typed_text(piece[-_PASTE_MARGIN:])
        else:
            yield from _read_typed_text(piece)


def _read_typed_text(text: str) -> Iterator[LedgerMention]:
    return (replace(mention, own=True) for mention in _read_prose(text, _USER))


def _read_prose(text: str, who: int) -> list[LedgerMention]:
    return _choose(text, _find_all(text, own=who == _USER), who)


def _find_all(text: str, *, own: bool) -> list[LedgerMatch]:
    """Returns all matches, commands and errors first; names inside of these are matched again."""
    matches = [LedgerMatch("command", command, at, at + len(command)) for command, at in find_commands(text)]
    matches += [
        LedgerMatch("error", line, at, at + len(line))
        for line, at in (*find_error_lines(text), *find_quoted_errors(text))
    ]
    for start, end, code in _split_code(text, fences(text)):
        for match in find_matches(text[start:end], code=code, own=own and not code):
            matches.append(replace(match, start=match.start + start, end=match.end + start))
    return matches


def _split_code(text: str, blocks: Sequence[Span]) -> Iterator[tuple[int, int, bool]]:
    """Yields (start, end, is code) for prose and code blocks in turn."""
    done = 0
    for start, end in blocks:
        yield done, start, False
        yield start, end, True
        done = end
    yield done, len(text), False


def _read_output(text: str) -> list[LedgerMention]:
    errors = [LedgerMatch("error", line, at, at + len(line)) for line, at in find_error_lines(text)]
    mentions = _choose(text, errors, _OUTPUT)
    if len(text) > _LONG_OUTPUT:
        text = f"{text[: _LONG_OUTPUT // 2]}\n\n{text[-_LONG_OUTPUT // 2 :]}"
    return mentions + _choose(text, find_matches(text, code=True), _OUTPUT)


def _read_call(call: ToolCall) -> list[LedgerMention]:
    command = get_command(call)
    mentions = [LedgerMention("command", command)] if command and is_worth_keeping(command) else []
    text = "\n".join(_argument_lines(parse_arguments(call)))
    return mentions + _choose(text, find_matches(text, code=True), _ANSWER)


def _argument_lines(value: Any, name: str = "") -> Iterator[str]:
    """Yields arguments as `name: value` lines; of a long value its start, where a patch names its files."""
    if isinstance(value, Mapping):
        for inner, item in value.items():
            yield from _argument_lines(item, str(inner))
    elif isinstance(value, list):
        for item in value:
            yield from _argument_lines(item, name)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield f"{name}: {str(value)[:_LONG_ARGUMENT]}"


def _choose(text: str, matches: Iterable[LedgerMatch], who: int) -> list[LedgerMention]:
    groups: dict[EntryKind, dict[str, list[LedgerMatch]]] = {}
    for match in matches:
        groups.setdefault(match.kind, {}).setdefault(entry_key(match.kind, match.text), []).append(match)
    chosen: list[LedgerMatch] = []
    for kind, same in groups.items():
        most = KINDS[kind].limits[who]
        ranked = list(same.values())
        if len(ranked) > most:
            ranked = _first_and_last(ranked, most) if kind == "error" else _rank_by_shape(ranked)[:most]
        chosen += [group[0] for group in ranked]
    return [_to_mention(text, match) for match in chosen]


def _first_and_last(groups: list[list[LedgerMatch]], most: int) -> list[list[LedgerMatch]]:
    """Returns the first and last groups: the cause tends to stand first and the outcome last."""
    return [*groups[: most // 2], *groups[len(groups) - (most - most // 2) :]]


def _mask_number(match: re.Match[str]) -> str:
    """Replaces a word that has a digit by its length."""
    return str(len(match[0])) if any(sign.isdigit() for sign in match[0]) else match[0]


def _rank_by_shape(groups: list[list[LedgerMatch]]) -> list[list[LedgerMatch]]:
    """Ranks one of each shape first, then by count.

    A thousand numbered paths leave room for other names that way.
    """
    seen: Counter[str] = Counter()
    ranked: list[tuple[int, int, list[LedgerMatch]]] = []
    for same in sorted(groups, key=len, reverse=True):
        shape = _ALPHANUMERIC.sub(_mask_number, same[0].text)
        ranked.append((seen[shape], -len(same), same))
        seen[shape] += 1
    return [same for *_, same in sorted(ranked, key=lambda entry: entry[:2])]


def _to_mention(text: str, match: LedgerMatch) -> LedgerMention:
    context = find_context(text, match.start, match.end) if needs_context(match.kind, match.text) else ""
    return LedgerMention(match.kind, match.text, context)


def _deduplicate(mentions: Sequence[LedgerMention]) -> list[LedgerMention]:
    unique: dict[tuple[EntryKind, str], LedgerMention] = {}
    for mention in mentions:
        key = (mention.kind, entry_key(mention.kind, mention.text))
        known = unique.get(key)
        if known is not None:
            mention = replace(known, context=known.context or mention.context, own=known.own or mention.own)
        unique[key] = mention
    return list(unique.values())
