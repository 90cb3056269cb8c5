"""Aligns the history that a client resends with a stored one: what is the same, and what is new.

First single messages are compared (`compare_messages`): clients do not resend byte for byte, so thinking,
white space and blocks that a program added are ignored. Then `align` walks both sequences. Everything is
pure; the work grows with the sum of both lengths, not their product. Whether an alignment is evidence enough
is decided in `candidates`.
"""

import hashlib
import json
import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from holdfast.messages import Message, ToolCall, ToolResult

# What a model wrote for itself inside its answer; clients move it, re-space it or drop it.
_THINKING = ("think", "thinking", "thought", "reasoning")
# What a program wrote into a user's message; it ticks with the clock and comes and goes.
_REMINDERS = (
    "system-reminder",
    "system_reminder",
    "environment_context",
    "environment_details",
    "user_instructions",
    "attached_files",
    "memory_context",
    "local-command-caveat",
    "local-command-stdout",
)
_OPENING_TAG = re.compile(r"<([A-Za-z][\w-]*)(?:\s[^<>]*)?>")
_REASONING_DETAILS = re.compile(r"<details\s[^<>]*type=\"reasoning\"")
_WORD = re.compile(r"\w+")

# Answers shorter than this are said in every second conversation ("Ok.", "Done!"): they prove nothing alone.
DISTINCTIVE_LENGTH = 20
# Two answers at the same place that share this much of their words are one answer, edited or reformatted.
_OVERLAP = 0.7
# As much of a text as is looked at word by word.
_GLANCE = 4000


class Likeness(IntEnum):
    """How alike two messages are, in rising order."""

    DIFFERENT = 0
    # Similar enough for a place where the same message is expected, but no proof of anything.
    LOOSE = 1
    # The same words, with others before or behind them.
    PART = 2
    EXACT = 3


def anchor(message: Message) -> str | None:
    """Return a lookup key that survives a resend: `u:` for user messages, `a:` for answers.

    None for messages without content and for roles that are never looked up.
    """
    if message.role == "user":
        text = comparable_text(message) or "".join(image.data or image.url for image in message.images)
        return f"u:{_digest(text)}" if text else None
    if message.role == "assistant":
        text = comparable_calls(message) or comparable_text(message)
        return f"a:{_digest(text)}" if text else None
    return None


def comparable_text(message: Message) -> str:
    """Return the text of a message without thinking, reminders and white space."""
    return strip_whitespace(strip_additions(message))


def strip_whitespace(text: str) -> str:
    """Return the text without any white space."""
    return "".join(text.split())


def strip_additions(message: Message) -> str:
    """Return the text of a message without thinking and without blocks that a program added."""
    text = unicodedata.normalize("NFC", message.text)
    if message.role == "assistant":
        text = remove_blocks(text, _THINKING)
        if _REASONING_DETAILS.search(text):
            text = remove_blocks(text, ("details",))
        # Some templates open the thinking themselves, so that the answer only closes it.
        return text.rpartition("</think>")[2]
    if message.role == "user" and "</" in text:
        # A message that is nothing but a reminder is compared as it is: something must tell it from others.
        return remove_blocks(text, _REMINDERS) or text
    return text


def remove_blocks(text: str, names: tuple[str, ...]) -> str:
    """Remove the elements with these names. Linear in the text, even when they are never closed."""
    parts: list[str] = []
    done = 0
    unclosed: set[str] = set()
    for opening in _OPENING_TAG.finditer(text):
        name = opening[1]
        if opening.start() < done or name not in names or name in unclosed:
            continue
        closing = f"</{name}>"
        end = text.find(closing, opening.end())
        if end < 0:
            unclosed.add(name)
            continue
        parts.append(text[done : opening.start()])
        done = end + len(closing)
    parts.append(text[done:])
    return "".join(parts).strip()


def compare_messages(stored: Message, sent: Message) -> Likeness:
    """Compare a stored message with the resent one expected in its place."""
    if stored.role != sent.role:
        return Likeness.DIFFERENT
    match sent.role:
        case "user":
            return compare_questions(stored, sent)
        case "assistant":
            return compare_answers(stored, sent)
        case "tool":
            return compare_results(stored.tool_results, sent.tool_results)
        case "system":
            return Likeness.LOOSE


def compare_questions(stored: Message, sent: Message) -> Likeness:
    if anchor(stored) == anchor(sent):
        return Likeness.EXACT
    return Likeness.PART if is_wrapped(strip_additions(stored), strip_additions(sent)) else Likeness.DIFFERENT


def is_wrapped(first: str, second: str) -> bool:
    """Whether one text consists of whole lines of the other, such as a question inside a page."""
    shorter, longer = sorted((comparable_lines(first), comparable_lines(second)), key=len)
    return len(shorter) > 2 and shorter in longer


def comparable_lines(text: str) -> str:
    lines = map(strip_whitespace, text.splitlines())
    return "\n" + "\n".join(line for line in lines if line) + "\n"


def compare_answers(stored: Message, sent: Message) -> Likeness:
    if stored.tool_calls and sent.tool_calls:
        if comparable_calls(stored) != comparable_calls(sent):
            return Likeness.DIFFERENT
        known, given = call_ids(stored), call_ids(sent)
        return Likeness.LOOSE if known and given and known != given else Likeness.EXACT
    stored_text, sent_text = comparable_text(stored), comparable_text(sent)
    if stored_text == sent_text:
        same_kind = bool(stored.tool_calls) == bool(sent.tool_calls)
        return Likeness.EXACT if same_kind else Likeness.PART if stored_text else Likeness.DIFFERENT
    if stored.tool_calls or sent.tool_calls:
        return Likeness.PART if is_written_out(stored, sent) else Likeness.DIFFERENT
    if is_beginning_or_end(stored_text, sent_text):
        return Likeness.PART
    return Likeness.LOOSE if _overlaps(stored, sent) else Likeness.DIFFERENT


def is_written_out(stored: Message, sent: Message) -> bool:
    """Whether one message has as text what the other has as tool calls, as small models write them."""
    calling, writing = (sent, stored) if sent.tool_calls else (stored, sent)
    text = writing.text
    return comparable_text(writing).startswith(comparable_text(calling)) and all(
        call.name in text for call in calling.tool_calls
    )


def is_beginning_or_end(first: str, second: str) -> bool:
    """Whether one answer begins or ends with the other.

    A continued answer comes back joined to its first half; an old one may come back cut short, with dots.
    """
    shorter, longer = sorted((first, second), key=len)
    shorter = shorter.rstrip(".…")
    return len(shorter) >= DISTINCTIVE_LENGTH and (longer.startswith(shorter) or longer.endswith(shorter))


def _overlaps(stored: Message, sent: Message) -> bool:
    stored_words = set(_WORD.findall(strip_additions(stored)[:_GLANCE].lower()))
    sent_words = set(_WORD.findall(strip_additions(sent)[:_GLANCE].lower()))
    return bool(stored_words and sent_words) and len(stored_words & sent_words) >= _OVERLAP * len(
        stored_words | sent_words
    )


def compare_results(stored: tuple[ToolResult, ...], sent: tuple[ToolResult, ...]) -> Likeness:
    known, given = {result.call_id for result in stored}, {result.call_id for result in sent}
    identified = all(known) and all(given)
    if identified and known == given:
        return Likeness.EXACT
    if result_text(stored) == result_text(sent):
        return Likeness.LOOSE if identified else Likeness.EXACT
    # Without ids a result can only be known by its place; clients shorten old ones.
    return Likeness.DIFFERENT if identified else Likeness.LOOSE


def result_text(results: tuple[ToolResult, ...]) -> str:
    return strip_whitespace("".join(result.text for result in results))


def call_ids(message: Message) -> frozenset[str]:
    return frozenset(call.id for call in message.tool_calls if call.id)


def comparable_calls(message: Message) -> str:
    return "".join(f"{call.name}\0{comparable_arguments(call)}\0" for call in message.tool_calls)


def comparable_arguments(call: ToolCall) -> str:
    try:
        return json.dumps(json.loads(call.arguments or "{}"), sort_keys=True)
    except (ValueError, RecursionError):
        return strip_whitespace(call.arguments)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


__all__ = ["Alignment", "Pair", "StoredMessage", "align", "anchor", "is_own"]

# At how many places one answer is looked for when the two sequences part, and how far such a place is tried.
_PLACES = 4
_TRIAL = 8


class StoredMessage(Protocol):
    """The part of a stored message that alignment needs; `store.Stored` implements it."""

    @property
    def message(self) -> Message: ...
    @property
    def anchor(self) -> str | None: ...
    @property
    def model(self) -> str: ...
    @property
    def job(self) -> str: ...
    @property
    def finish(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Pair:
    """A resent message and the stored message it corresponds to."""

    sent: int
    stored: int
    like: Likeness
    # The stored message is an answer of ours, and what it answers was resent as well.
    own: bool


@dataclass(frozen=True, slots=True)
class Alignment:
    """What a resent history has in common with a stored one.

    `sent` in the pairs counts all messages of the request, system messages included. `start` is the index
    where the new part of the request begins; `reach` is the number of stored messages it follows.
    """

    pairs: tuple[Pair, ...]
    start: int
    reach: int
    # Before `start`: resent messages that the log does not have, beside stored ones that were not resent.
    inserted: int
    skipped: int
    # Messages a program wrote anew at their old place (a map of the repository, a clock).
    rewritten: int
    # Whether somewhere more was inserted than left out: a history that grew in the middle is another one.
    grown: bool
    compared: int

    @property
    def own(self) -> int:
        """How many of our own answers came back."""
        return sum(pair.own for pair in self.pairs)

    @property
    def proven(self) -> int:
        """How many of our own answers came back in our own words."""
        return sum(pair.own and pair.like >= Likeness.PART for pair in self.pairs)

    @property
    def exact(self) -> int:
        """How many messages came back word for word."""
        return sum(pair.like is Likeness.EXACT for pair in self.pairs)

    @property
    def regular(self) -> bool:
        """Whether the request is the stored history from its beginning, with nothing inserted."""
        return not self.inserted and bool(self.pairs) and self.pairs[0].stored == 0


def is_own(stored: StoredMessage) -> bool:
    """Whether a stored assistant message was answered through Holdfast, not supplied by a client."""
    return stored.message.role == "assistant" and bool(stored.job or stored.model or stored.finish)


def align(
    stored: Sequence[StoredMessage], sent: Sequence[Message], keys: Sequence[str | None] | None = None
) -> Alignment:
    """Match the messages sent with the stored ones, ignoring system messages.

    `keys` are the anchors of the messages sent, if the caller has computed them already.
    """
    walk = _Aligner(stored, sent, [anchor(message) for message in sent] if keys is None else keys)
    walk.run()
    return walk.result()


class _Aligner:
    """The state of one alignment: `i` is the position in the messages sent, `j` in the stored ones."""

    def __init__(
        self, stored: Sequence[StoredMessage], sent: Sequence[Message], keys: Sequence[str | None]
    ) -> None:
        self.stored = stored
        self.sent = [(index, message) for index, message in enumerate(sent) if message.role != "system"]
        self.total = len(sent)
        self.sent_keys = [keys[index] for index, _ in self.sent]
        self.stored_keys = [message.anchor or anchor(message.message) for message in stored]
        self.answers: dict[str, list[int]] = defaultdict(list)
        for place, key in enumerate(self.stored_keys):
            if key is not None and stored[place].message.role == "assistant":
                self.answers[key].append(place)
        self.i = self.j = self.reach = 0
        self.pairs: list[Pair] = []
        self.last = (-1, -1)
        self.inserted = self.skipped = self.rewritten = self.compared = 0
        self.grown = False

    def run(self) -> None:
        while self.i < len(self.sent) and self.j < len(self.stored):
            if like := self.compare_next():
                self.add_pair(self.i, self.j, like)
            elif self.is_rewritten():
                self.rewritten += 1
                self.i, self.j = self.i + 1, self.j + 1
            elif not self.resume():
                break

    def result(self) -> Alignment:
        behind = self.last[0] + 1
        return Alignment(
            pairs=tuple(self.pairs),
            start=self.sent[behind][0] if behind < len(self.sent) else self.total,
            reach=self.reach,
            inserted=self.inserted,
            skipped=self.skipped,
            rewritten=self.rewritten,
            grown=self.grown,
            compared=self.compared,
        )

    def compare(self, i: int, j: int) -> Likeness:
        self.compared += 1
        stored, sent = self.stored[j].message, self.sent[i][1]
        key = self.sent_keys[i]
        # Equal keys say it all, but for tool calls: there the ids count as well.
        if key is not None and key == self.stored_keys[j] and not sent.tool_calls:
            return Likeness.EXACT
        return compare_messages(stored, sent)

    def compare_next(self) -> Likeness:
        """Compare the next two messages. A merely similar pair counts only next to a matching neighbour."""
        i, j = self.i, self.j
        like = self.compare(i, j)
        if not like or like is Likeness.EXACT:
            return like
        if self.sent[i][1].role == "user":
            # The same words in another dress, but only if the same answer follows: otherwise it is an edit.
            return like if self.answers_follow(i, j) else Likeness.DIFFERENT
        return like if self.last == (i - 1, j - 1) else Likeness.DIFFERENT

    def answers_follow(self, i: int, j: int) -> bool:
        """Whether the same answer follows on both sides."""
        if i + 1 >= len(self.sent) or j + 1 >= len(self.stored):
            return False
        return self.sent[i + 1][1].role == "assistant" and bool(self.compare(i + 1, j + 1))

    def is_rewritten(self) -> bool:
        """Whether a program rewrote this user message: other words before the same answer."""
        i, j = self.i, self.j
        return (
            self.sent[i][1].role == self.stored[j].message.role == "user"
            and i + 1 < len(self.sent)
            and j + 1 < len(self.stored)
            and self.sent[i + 1][1].role == "assistant"
            and self.compare(i + 1, j + 1) is Likeness.EXACT
        )

    def is_replaced(self, i: int, j: int) -> bool:
        """Whether a program replaced its own earlier exchanges with others up to these positions."""
        roles = [message.role for _, message in self.sent[self.i : i]]
        replaced = self.stored[self.j : j]
        return roles == [message.message.role for message in replaced] and not any(map(is_own, replaced))

    def add_pair(self, i: int, j: int, like: Likeness) -> None:
        stored, message = self.stored[j], self.sent[i][1]
        held = self.last == (i - 1, j - 1) or bool(call_ids(message) & call_ids(stored.message))
        self.pairs.append(Pair(self.sent[i][0], j, like, held and is_own(stored)))
        if like is Likeness.PART and message.role == "assistant":
            j = self.find_glued_end(comparable_text(message), j)
        self.last = (i, j)
        self.i, self.j, self.reach = i + 1, j + 1, j + 1

    def find_glued_end(self, text: str, j: int) -> int:
        """Return the last of the stored answers that this answer was joined from ("continue")."""
        part = comparable_text(self.stored[j].message)
        while text.startswith(part) and j + 1 < len(self.stored):
            text = text.removeprefix(part)
            part = comparable_text(self.stored[j + 1].message)
            if self.stored[j + 1].message.role != "assistant" or not part or not text.startswith(part):
                break
            j += 1
        return j

    def resume(self) -> bool:
        """Continue after a gap, at the next answer that both sides have together with its question."""
        for i in range(self.i, self.i + 1 if self.is_contradicted() else len(self.sent)):
            for j in self.find_positions(i):
                if start := self.find_stretch_start(i, j):
                    self.skip_to(*start)
                    self.add_pair(*start, self.compare(*start))
                    return True
        elsewhere = self.find_moved_answer()
        if elsewhere is not None:
            self.skip_to(self.i, elsewhere)
            self.add_pair(self.i, elsewhere, Likeness.PART)
        return elsewhere is not None

    def is_contradicted(self) -> bool:
        """Whether another answer stands where ours was given: the two histories part here for good."""
        i, j = self.i, self.j
        same_question = bool(self.pairs) and self.last == (i - 1, j - 1)
        return same_question and self.sent[i][1].role == "assistant" and is_own(self.stored[j])

    def find_positions(self, i: int) -> list[int]:
        """Return where a sent answer is stored, the likeliest position first."""
        if self.sent[i][1].role != "assistant":
            return []
        positions = self.answers.get(self.sent_keys[i] or "", [])
        ahead = positions[bisect_left(positions, self.j) :]
        if self.pairs or len(ahead) == 1:
            return ahead[:_PLACES]
        # Where a shortened history takes up: at the place from which it can be followed the furthest.
        ends = {*ahead[:_PLACES], *ahead[-_PLACES:]}
        return sorted(ends, key=lambda j: (self.common_length(i, j), j), reverse=True)

    def common_length(self, i: int, j: int) -> int:
        """Return for how many messages both sequences agree from here, up to a limit."""
        steps = min(_TRIAL, len(self.sent) - i, len(self.stored) - j)
        return next((step for step in range(1, steps) if not self.compare(i + step, j + step)), steps)

    def find_stretch_start(self, i: int, j: int) -> tuple[int, int] | None:
        """Return where the common stretch around this answer begins, or None if it is a coincidence."""
        if (i, j) == (self.i, self.j):
            return None
        if i > self.i and j > self.j and self.compare(i - 1, j - 1):
            i, j = i - 1, j - 1
            while i > self.i and j > self.j and self.compare(i - 1, j - 1) is Likeness.EXACT:
                i, j = i - 1, j - 1
            return i, j
        stored, sent = self.stored[j], self.sent[i][1]
        if call_ids(sent) & call_ids(stored.message):
            return i, j
        # The client hung an answer of ours under an earlier question: it was made with a hint in between.
        moved = (
            i == self.i
            and bool(self.pairs)
            and is_own(stored)
            and len(comparable_text(sent)) >= DISTINCTIVE_LENGTH
        )
        return (i, j) if moved else None

    def find_moved_answer(self) -> int | None:
        """Find a nearby stored answer that this one begins or ends with, despite text in between."""
        message = self.sent[self.i][1]
        if message.role != "assistant" or not self.pairs:
            return None
        for j in range(self.j + 1, min(self.j + 1 + _PLACES, len(self.stored))):
            self.compared += 1
            if is_own(self.stored[j]) and is_beginning_or_end(
                comparable_text(self.stored[j].message), comparable_text(message)
            ):
                return j
        return None

    def skip_to(self, i: int, j: int) -> None:
        inserted, skipped = i - self.i, j - self.j
        if inserted and self.is_replaced(i, j):
            self.rewritten += inserted
            return
        self.inserted += inserted
        self.skipped += skipped
        self.grown |= inserted > skipped
