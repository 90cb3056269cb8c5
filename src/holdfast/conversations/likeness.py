"""Whether two messages are the same one, said twice: exactly, in another dress, or not at all.

Clients do not resend what they were given byte for byte, so everything here looks past thinking, white space
and the blocks that a program wraps around a person's words. It knows single messages, no order and no store.
"""

import hashlib
import json
import re
import unicodedata
from enum import IntEnum

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
    DIFFERENT = 0
    # Similar enough for a place where the same message is expected, but no proof of anything.
    LOOSE = 1
    # The same words, with others before or behind them.
    PART = 2
    EXACT = 3


def anchor(message: Message) -> str | None:
    """An opaque key that survives a resend: `u:` for what a user said, `a:` for what an assistant answered.

    None for what has nothing to be found by, and for roles that are not looked up.
    """
    if message.role == "user":
        said = comparable_text(message) or "".join(image.data or image.url for image in message.images)
        return f"u:{_digest(said)}" if said else None
    if message.role == "assistant":
        said = _comparable_calls(message) or comparable_text(message)
        return f"a:{_digest(said)}" if said else None
    return None


def comparable_text(message: Message) -> str:
    """What the message says, without thinking, reminders and white space."""
    return strip_whitespace(strip_additions(message))


def strip_whitespace(text: str) -> str:
    """The text without white space."""
    return "".join(text.split())


def strip_additions(message: Message) -> str:
    """The text of a message without what a program or a model's thinking added to it."""
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
    """`text` without the elements of these names. Linear in the text, also when they are never closed."""
    kept: list[str] = []
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
        kept.append(text[done : opening.start()])
        done = end + len(closing)
    kept.append(text[done:])
    return "".join(kept).strip()


def compare_messages(stored: Message, sent: Message) -> Likeness:
    """How alike a stored message and a resent one are, at a place where one is expected to be the other."""
    if stored.role != sent.role:
        return Likeness.DIFFERENT
    match sent.role:
        case "user":
            return _compare_questions(stored, sent)
        case "assistant":
            return _compare_answers(stored, sent)
        case "tool":
            return _compare_results(stored.tool_results, sent.tool_results)
        case "system":
            return Likeness.LOOSE


def _compare_questions(stored: Message, sent: Message) -> Likeness:
    if anchor(stored) == anchor(sent):
        return Likeness.EXACT
    return Likeness.PART if is_wrapped(strip_additions(stored), strip_additions(sent)) else Likeness.DIFFERENT


def is_wrapped(one: str, other: str) -> bool:
    """Whether one text is whole lines of the other: a question inside a page, a reminder under a question."""
    shorter, longer = sorted((_comparable_lines(one), _comparable_lines(other)), key=len)
    return len(shorter) > 2 and shorter in longer


def _comparable_lines(text: str) -> str:
    lines = map(strip_whitespace, text.splitlines())
    return "\n" + "\n".join(line for line in lines if line) + "\n"


def _compare_answers(stored: Message, sent: Message) -> Likeness:
    if stored.tool_calls and sent.tool_calls:
        if _comparable_calls(stored) != _comparable_calls(sent):
            return Likeness.DIFFERENT
        known, given = call_ids(stored), call_ids(sent)
        return Likeness.LOOSE if known and given and known != given else Likeness.EXACT
    said, resent = comparable_text(stored), comparable_text(sent)
    if said == resent:
        same_kind = bool(stored.tool_calls) == bool(sent.tool_calls)
        return Likeness.EXACT if same_kind else Likeness.PART if said else Likeness.DIFFERENT
    if stored.tool_calls or sent.tool_calls:
        return Likeness.PART if _is_written_out(stored, sent) else Likeness.DIFFERENT
    if is_beginning_or_end(said, resent):
        return Likeness.PART
    return Likeness.LOOSE if _overlaps(stored, sent) else Likeness.DIFFERENT


def _is_written_out(stored: Message, sent: Message) -> bool:
    """Whether one has as text what the other has as calls: small models write calls into their answer."""
    calling, writing = (sent, stored) if sent.tool_calls else (stored, sent)
    said = writing.text
    return comparable_text(writing).startswith(comparable_text(calling)) and all(
        call.name in said for call in calling.tool_calls
    )


def is_beginning_or_end(said: str, resent: str) -> bool:
    """Whether one answer begins or ends the other.

    A continued answer comes back glued to its first half; an old one comes back cut short, with dots.
    """
    shorter, longer = sorted((said, resent), key=len)
    shorter = shorter.rstrip(".…")
    return len(shorter) >= DISTINCTIVE_LENGTH and (longer.startswith(shorter) or longer.endswith(shorter))


def _overlaps(stored: Message, sent: Message) -> bool:
    one = set(_WORD.findall(strip_additions(stored)[:_GLANCE].lower()))
    other = set(_WORD.findall(strip_additions(sent)[:_GLANCE].lower()))
    return bool(one and other) and len(one & other) >= _OVERLAP * len(one | other)


def _compare_results(stored: tuple[ToolResult, ...], sent: tuple[ToolResult, ...]) -> Likeness:
    known, given = {result.call_id for result in stored}, {result.call_id for result in sent}
    identified = all(known) and all(given)
    if identified and known == given:
        return Likeness.EXACT
    if _result_text(stored) == _result_text(sent):
        return Likeness.LOOSE if identified else Likeness.EXACT
    # Without ids a result can only be known by its place; clients shorten old ones.
    return Likeness.DIFFERENT if identified else Likeness.LOOSE


def _result_text(results: tuple[ToolResult, ...]) -> str:
    return strip_whitespace("".join(result.text for result in results))


def call_ids(message: Message) -> frozenset[str]:
    return frozenset(call.id for call in message.tool_calls if call.id)


def _comparable_calls(message: Message) -> str:
    return "".join(f"{call.name}\0{_comparable_arguments(call)}\0" for call in message.tool_calls)


def _comparable_arguments(call: ToolCall) -> str:
    try:
        return json.dumps(json.loads(call.arguments or "{}"), sort_keys=True)
    except ValueError:
        return strip_whitespace(call.arguments)


def _digest(said: str) -> str:
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
