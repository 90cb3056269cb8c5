"""Side requests: what a client program asks for itself (a title, tags, a summary), not what a person says.

The signatures are a table. A row must show that a program speaks: a person who wants a title for a novel or a
commit message for a diff stays in the conversation. Clients that shorten their own history ask for a summary
in a side request and later send it in place of what they left out; `SideRequestCache` remembers the last
answers, in memory only, to recognise it.
"""

import re
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from holdfast.conversations.alignment import call_ids, comparable_text, strip_additions
from holdfast.conversations.hints import Hints
from holdfast.messages import ChatRequest, Message, Scope
from holdfast.text.lang import any_phrase
from holdfast.text.patterns import late

# Where a signature is looked for: in the system messages of a request without tools, or also with them (an
# agent); in the newest user message; in the only message that a request has; or in what such an only message
# says about a transcript that it carries.
Where = Literal["system", "agent", "last", "only", "task"]

COMPACTION = "compaction"

# A request is larger than what tells it apart: the ends of its question, the beginning of its instructions.
_HEAD, _TAIL, _OPENING = 3000, 1500, 800

_TALK = any_phrase("TALKS")
# The conversation in which this is said, and none that somebody tells of.
_OUR_TALK = (
    rf"(?:{any_phrase('OUR_TALK_POINTERS')} (?:\w+ ){{0,2}}{_TALK}|{any_phrase('OUR_TALKS')})"
    rf"\b(?! {any_phrase('TALK_OF_OTHERS')}\b)"
)
_MAKE = any_phrase("MAKE_VERBS")
_TASK_LABEL = any_phrase("TASK_LABELS")
_TITLE = any_phrase("TITLE_NAMES")
_NAME = any_phrase("TITLE_NAMES", "DESCRIPTION_NAMES")
_FEW = rf"\b(?:(?:[1-9]|10|{any_phrase('FEW_NUMBERS')})\b[ -]*{any_phrase('FEW_UNITS')})"
_ONLY = any_phrase("NOTHING_ELSE")
_SUMMARY = any_phrase("SUMMARISE")
_SUCCESSOR = rf"{any_phrase('SUCCESSORS')} (?:llm|modell?|(?:assist[ae]nt|agent|instan)\w{{0,20}})"
# Instructions that a program gives are longer than the same wish of a person.
_AT_LENGTH = r"^.{200}"
_GO_ON = any_phrase("CONTINUE")
# name, where, and what must all be found there. Of several rows the first counts.
_SIGNATURES: tuple[tuple[str, Where, tuple[str, ...]], ...] = (
    ("title", "system", (rf"{_MAKE} .{{0,80}}\b{_TITLE}\b.{{0,160}}\b{_OUR_TALK}",)),
    ("title", "system", (rf"\b{_TITLE}[ -]?gener\w+\b.{{0,80}}\b{_TALK}",)),
    ("title", "system", (rf"short {_TITLE} .{{0,60}}first message .{{0,60}}{_TALK}",)),
    ("title", "system", (rf"{_SUMMARY} .{{0,60}}\b{_TALK} into a (?:short )?{_TITLE}\b",)),
    ("title", "system", (rf"{_SUMMARY} the user'?s? (?:request|message|query) .{{0,60}}{_FEW}",)),
    ("title", "system", (r"titles? for (?:\w+ )?conversations",)),
    ("topic", "system", (r"indicates a new (?:conversation )?topic",)),
    ("tool choice", "system", (r"choose and return the correct tool\S* from the list of available tools",)),
    (COMPACTION, "system", (rf"^{_SUMMARY} (?:the|this|our) {_TALK} briefly in \d+ words",)),
    ("memory", "system", (r"personal information organizer|smart memory manager",)),
    ("memory", "agent", (r"memory (?:extraction|consolidation) (?:sub)?agent",)),
    ("title", "last", (rf"{_MAKE} .{{0,80}}\b{_NAME}\b.{{0,160}}\b{_OUR_TALK}", _FEW, _ONLY)),
    ("title", "last", (rf"\b{_OUR_TALK}.{{0,40}}\b{_NAME}\b", _FEW, rf"\b{_ONLY} .{{0,40}}{_NAME}")),
    ("title", "last", (rf"phrase as a (?:{_TITLE}|header) for the (?:previous|following) query", _FEW)),
    ("queries", "last", (r"rephrase the follow[- ]?up \w+.{0,120}standalone|\bstandalone question: ?$",)),
    ("queries", "last", (r"rewrite the (?:message|question) to be a standalone question",)),
    (COMPACTION, "last", (r"context checkpoint compaction|\bprior to compaction\b|\bcompaction summary\b",)),
    (COMPACTION, "last", (r"text only\b.{0,60}not call any tools?\b.*<summary>",)),
    (COMPACTION, "last", (r"scratchpad.{0,60}<state_snapshot>",)),
    (COMPACTION, "last", (rf"{_SUMMARY} of .{{0,20}}{_OUR_TALK} so far\b", _GO_ON, _AT_LENGTH)),
    (COMPACTION, "last", (rf"{_SUMMARY} .{{0,40}}{_OUR_TALK}", _SUCCESSOR, _GO_ON, _AT_LENGTH)),
    (COMPACTION, "last", (rf"^{_SUMMARY} {_OUR_TALK} so far, as described in",)),
    ("next speaker", "last", (r"who should logically speak next",)),
    ("emoji", "only", (r"^your task is to reflect .{0,80}\bemoji\b",)),
    ("merged answer", "only", (r"^you have been provided with a set of responses from various models",)),
    ("command check", "only", (r"^your task is to process bash commands that an ai coding agent",)),
    ("enhanced prompt", "only", (r"^generate an enhanced version of this prompt\b.{0,60}\bonly\b",)),
    (
        COMPACTION,
        "only",
        (rf"^#+ ?{_TASK_LABEL}:? .{{0,40}}{_SUMMARY}.{{0,120}}\bcompacted\b",),
    ),
    ("autocompletion", "task", (any_phrase("COMPLETE_TASKS"),)),
    ("image prompt", "task", (any_phrase("IMAGE_TASKS"),)),
    ("queries", "task", (any_phrase("QUERY_TASKS"),)),
    ("follow-ups", "task", (any_phrase("FOLLOW_UP_TASKS"),)),
    ("tags", "task", (rf"\b{any_phrase('TAG_TASKS')}\b",)),
    ("title", "task", (rf"\b{_NAME}\b",)),
    (COMPACTION, "task", (_SUMMARY,)),
)
_TABLE = tuple(
    (name, where, tuple(late(pattern, re.IGNORECASE) for pattern in patterns))
    for name, where, patterns in _SIGNATURES
)

# A transcript of a conversation inside a message, as programs copy it there: in a tag, or line by line.
_TRANSCRIPT = late(
    r"<(?:chat_?history|conversation(?:_history)?|session|transcript|messages)>"
    r"|(?:^|\n)[^\w\n]*(?P<user>user)\b\W",
    re.IGNORECASE,
)
_ANSWERED = late(r"\n[^\w\n]*(?:assistant|response)\b", re.IGNORECASE)
_TASK = late(r"\s*#+\s*(?:task|aufgabe)\b", re.IGNORECASE)
_HISTORY_END = late(
    r"</(?:chat_?history|conversation(?:_history)?|session|transcript|messages)>", re.IGNORECASE
)
# How much may follow the transcript: what is to be completed, the language to answer in.
_AFTERTHOUGHT = 400

# Of all conversations, or of the one that follows: what was answered in it is in the request then.
_SUMMARISER = late(rf"{_SUMMARY}.{{0,120}}\b(?:{_TALK}|history)\b", re.IGNORECASE)
_OUR_SUMMARISER = late(
    rf"{_SUMMARY}\W.{{0,60}}(?:{_OUR_TALK}|\b(?:internal|the|this|our) (?:\w+ )?history\b)", re.IGNORECASE
)
_COMMITTER = late(r"\bcommit[ -]?(?:messages?|nachricht\w*)\b", re.IGNORECASE)
_DIFF = late(r"(?:^|\n)(?:diff --git |--- |\+\+\+ |@@ |# Diffs?:)")

_INFILLING = late(
    r"\s*(?:<\|?fim_(?:prefix|begin|suffix)\|?>|<｜fim▁(?:begin|hole)｜>|\[SUFFIX\]|<PRE> ).*"
    r"(?:<\|?fim_(?:middle|end)\|?>|<｜fim▁end｜>|\[PREFIX\]|<MID>)",
    re.IGNORECASE | re.DOTALL,
)
_RAW_FIELDS = ("raw", "suffix", "template", "input_suffix")


@dataclass(frozen=True, slots=True)
class _RequestTexts:
    """A request as the signatures see it: each text cut to its ends, white space folded."""

    # How the system messages begin.
    system: tuple[str, ...]
    tools: bool
    # The newest user message, if nothing follows it; and the same with its line breaks, wherever it stands.
    last: str
    lines: str
    alone: bool
    # What a request says that is nothing but a task about a transcript.
    task: str

    def texts_at(self, where: Where) -> tuple[str, ...]:
        match where:
            case "system":
                return () if self.tools else self.system
            case "agent":
                return self.system
            case "last":
                return (self.last,) if self.last else ()
            case "only":
                return (self.last,) if self.alone else ()
            case "task":
                return (self.task,) if self.task else ()


def classify_side_request(request: ChatRequest, hints: Hints | None = None) -> str | None:
    """Return the kind of side request; None if it is part of a conversation."""
    if any(fields.get(name) for fields in request.extra.values() for name in _RAW_FIELDS):
        return "completion"
    if hints and "compact" in hints.kind:
        return COMPACTION
    looks = read_request(request)
    if _INFILLING.match(looks.lines):
        return "completion"
    for name, where, patterns in _TABLE:
        if any(all(pattern.search(text) for pattern in patterns) for text in looks.texts_at(where)):
            return name
    return classify_by_shape(request, looks)


def classify_by_shape(request: ChatRequest, looks: _RequestTexts) -> str | None:
    """Classify requests with the instructions in the system message and the matter in the user's."""
    answered = any(message.role == "assistant" for message in request.messages)
    system = looks.texts_at("system")
    summariser = _OUR_SUMMARISER if answered else _SUMMARISER
    carries_history = answered or find_transcript(looks.lines) is not None
    if carries_history and any(summariser.search(text) for text in system):
        return COMPACTION
    if not answered and _DIFF.search(looks.lines) and any(_COMMITTER.search(text) for text in system):
        return "commit message"
    return "task" if looks.task else None


def read_request(request: ChatRequest) -> _RequestTexts:
    talk = [message for message in request.messages if message.role != "system"]
    users = [message for message in talk if message.role == "user"]
    lines = cut_middle(users[-1]) if users else ""
    alone = len(talk) == 1 and bool(users)
    return _RequestTexts(
        system=tuple(
            fold_spaces(message.text[:_OPENING]) for message in request.messages if message.role == "system"
        ),
        tools=bool(request.tools),
        last=fold_spaces(lines) if users and talk[-1] is users[-1] else "",
        lines=lines,
        alone=alone,
        task=fold_spaces(find_task(lines, request.stream)) if alone else "",
    )


def find_transcript(text: str) -> int | None:
    """Return where a transcript begins: at a tag, or where a user speaks and is answered later."""
    answers = list(_ANSWERED.finditer(text))
    last = answers[-1].start() if answers else -1
    starts = (
        match.start() for match in _TRANSCRIPT.finditer(text) if not match["user"] or match.end() - 1 <= last
    )
    return next(starts, None)


def find_task(text: str, stream: bool) -> str:
    """Return the instructions around a transcript, if the message is nothing but a task about it."""
    start = find_transcript(text)
    by_program = _TASK.match(text) or (not stream and ("_history>" in text or "json" in text.lower()))
    if start is None or not by_program:
        return ""
    ends = [end.end() for end in _HISTORY_END.finditer(text)]
    at_end = bool(ends) and len(text) - ends[-1] <= _AFTERTHOUGHT
    return text[:start] + text[ends[-1] :] if at_end else ""


def cut_middle(message: Message) -> str:
    text = message.text
    return text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}\n{text[-_TAIL:]}"


def fold_spaces(text: str) -> str:
    return " ".join(text.split())


# How a message, or a paragraph of a system message, begins that stands for what was left out.
_SUMMARY_OPENING = late(
    rf"^[^\S\n]*(?:<(?:conversation_summary|state_snapshot|summary)>|{any_phrase('SUMMARY_OPENINGS')})",
    re.IGNORECASE | re.MULTILINE,
)
# A question a client asks itself, so that the summary can be the answer to it.
_SELF_ASKED = late(r"\s*What did we do so far\?\s*", re.IGNORECASE)
# What a client lets the model say to a summary it was handed.
_ACKNOWLEDGED = late(r"\s*(?:Got it\.? )?Thanks for the additional context", re.IGNORECASE)

# Shorter answers to a side request could be anything.
_LEAST_SUMMARY = 40
# A summary is not found deeper in a message than this.
_SEARCHED_LENGTH = 100_000


def find_summaries(messages: Sequence[Message]) -> frozenset[int]:
    """Return the indexes of messages that look like a client's summary of what it left out."""
    indexes = {index for index, message in enumerate(messages) if is_summary(message)}
    for index, (question, answer) in enumerate(pairwise(messages)):
        exchange = question.role == "user" and answer.role == "assistant"
        if exchange and (
            _SELF_ASKED.fullmatch(strip_additions(question)) or _ACKNOWLEDGED.match(answer.text)
        ):
            indexes |= {index, index + 1}
    return frozenset(indexes)


def is_summary(message: Message) -> bool:
    if message.role == "system":
        return bool(_SUMMARY_OPENING.search(message.text))
    return message.role == "user" and bool(_SUMMARY_OPENING.match(strip_additions(message).lstrip()))


@dataclass(frozen=True, slots=True)
class SideAnswer:
    """An answer to a side request: its kind, and the conversation it was for."""

    scope: Scope
    name: str
    sender: str
    conversation: str | None
    text: str
    calls: frozenset[str]


class SideRequestCache:
    """The last answers to side requests. Thread-safe; lost when the process ends."""

    def __init__(self, limit: int = 256) -> None:
        self._recent: deque[SideAnswer] = deque(maxlen=limit)
        self._lock = threading.Lock()

    def add(
        self, scope: Scope, name: str, answer: Message, *, sender: str = "", conversation: str | None = None
    ) -> None:
        with self._lock:
            self._recent.append(
                SideAnswer(scope, name, sender, conversation, comparable_text(answer), call_ids(answer))
            )

    def find_by_results(self, scope: Scope, messages: Sequence[Message]) -> SideAnswer | None:
        """Find the side request whose tool calls these messages bring the results of."""
        if not messages or messages[-1].role != "tool":
            return None
        answer = next((message for message in reversed(messages) if message.role == "assistant"), None)
        calls = call_ids(answer) if answer else frozenset()
        return next((side_answer for side_answer in self._newest(scope) if side_answer.calls & calls), None)

    def find_summary(
        self, scope: Scope, sender: str, message: Message, *, inside: bool = False
    ) -> SideAnswer | None:
        """Find the side request whose answer this message is or, with `inside`, contains."""
        text = comparable_text(message)[:_SEARCHED_LENGTH]
        for side_answer in self._newest(scope):
            matches = side_answer.text in text if inside else side_answer.text == text
            if matches and side_answer.sender == sender and len(side_answer.text) >= _LEAST_SUMMARY:
                return side_answer
        return None

    def _newest(self, scope: Scope) -> list[SideAnswer]:
        with self._lock:
            return [side_answer for side_answer in reversed(self._recent) if side_answer.scope == scope]
