"""Extracts memories by rules, without a model: facts, decisions and lasting preferences of the user.

Reads only the user's own words, never tool results or pastes. Precision matters more than recall, since a
wrong memory keeps coming back. Duplicates of stored memories are handled by the memory package.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from holdfast.compaction.requests import MemoryKind, is_memory_request
from holdfast.memory.private import has_account_number
from holdfast.messages import Message, Text
from holdfast.text.analyser import telling, terms
from holdfast.text.patterns import late
from holdfast.text.slots import needs_context, tells_change, values_in
from holdfast.text.statements import is_about_speaker, is_meant, is_unreal, statements_in, takes_back
from holdfast.window.items import Item
from holdfast.window.rules import decisions_in, own_sentences

# The memory kind of a statement. Of failures only what shall never be tried again is remembered: others
# belong to their task.
MEMORY_KINDS: Mapping[str, MemoryKind] = {
    "rule": "preference",
    "prohibition": "preference",
    "decision": "decision",
    "preference": "preference",
    "fact": "fact",
    "failure": "decision",
}
_IMPORTANCE: Mapping[str, float] = {
    "rule": 0.8,
    "prohibition": 0.8,
    "decision": 0.8,
    "preference": 0.7,
    "fact": 0.5,
    "failure": 0.8,
}
# What is forbidden or failed is often named in the sentence before it.
_ABOUT_BEFORE = frozenset(("rule", "prohibition", "failure"))
_LONGEST = 300
# A withdrawal reaches back less than this many user messages.
_FAR = 5
_CONFIRMED_IMPORTANCE = 0.7
# "Agreed, John!" has fewer words than any decision that says what was decided.
_SHORTEST_DECISION = 3
_STRESS_BONUS = 0.1


@dataclass(frozen=True, slots=True)
class ExtractedMemory:
    """A memory candidate with its importance (0 to 1) and the messages it comes from.

    `at` is when it was said, 0 if that is not known. One that `corrects` is only kept if it gives another
    value to something that is known.
    """

    kind: MemoryKind
    text: str
    importance: float
    messages: tuple[str, ...]
    at: float = 0.0
    corrects: bool = False


def extract(items: Sequence[Item]) -> list[ExtractedMemory]:
    """Returns what is worth remembering, in the order it was said.

    Explicit requests to remember something are left out: those are stored at once.
    """
    memories_by_key: dict[str, ExtractedMemory] = {}
    question: Item | None = None
    for item in items:
        if item.message.role == "user" and _message_text(item.message).strip():
            question = item
            memories = _extract_from_user(item) or _extract_correction(item, memories_by_key, items)
            memories += _extract_changes(item, memories)
        elif item.message.role == "assistant" and question is not None:
            memories = list(_extract_confirmed(item, question))
        else:
            continue
        if item is question:
            _withdraw(memories_by_key, item, items)
        for memory in memories:
            key = " ".join(re.findall(r"\w+", memory.text.casefold()))
            known = memories_by_key.get(key)
            memories_by_key[key] = _merge_repeat(known, memory) if known else memory
    return list(memories_by_key.values())


def _extract_from_user(item: Item) -> list[ExtractedMemory]:
    sentences = list(own_sentences(_message_text(item.message), _LONGEST))
    memories: list[tuple[int, ExtractedMemory]] = []
    for statement in statements_in(tuple(masked for _, masked in sentences)):
        sentence, masked = sentences[statement.sentence]
        if has_account_number(sentence):
            # Private, if no secret: it is kept only where the person asks for it.
            continue
        kind = MEMORY_KINDS.get(statement.kind)
        if kind is None or not statement.lasting or is_memory_request(masked):
            continue
        # Lengths differ where white space in a quote was collapsed; then positions do not match.
        text = sentence[statement.start : statement.end] if len(sentence) == len(masked) else sentence
        if statement.points and memories and memories[-1][0] >= statement.sentence - 1:
            # "It" refers to the sentence just before: both become one memory.
            _, before = memories.pop()
            memories.append((statement.sentence, replace(before, text=f"{before.text} {_tidy(text)}")))
            continue
        context = sentences[statement.sentence - 1][0] if statement.sentence else ""
        points = statement.points or _THAT_AGAIN.search(text)
        tells = statement.points and statement.kind == "fact" and not is_unreal(context)
        if context and (needs_context(text) or (points and statement.kind in _ABOUT_BEFORE) or tells):
            # "We don't try that again" says of what in the sentence before.
            text = f"{_tidy(context)} {_tidy(text)}"
        elif not _stands_alone(text, statement.kind) or (statement.points and statement.kind == "fact"):
            continue
        if statement.kind == "decision" and len(text.split()) < _SHORTEST_DECISION:
            continue
        if statement.kind == "decision":
            text += _find_reason(sentences[statement.sentence + 1 :])
        stress = _STRESS_BONUS if _IMPORTANT.search(masked) else 0.0
        weight = _IMPORTANCE[statement.kind] + stress
        memories.append((statement.sentence, ExtractedMemory(kind, _tidy(text), weight, (item.id,))))
    return _with_successors([sentence for sentence, _ in sentences], memories, item.id)


def _extract_changes(item: Item, stated: Sequence[ExtractedMemory]) -> Iterator[ExtractedMemory]:
    """Yields what tells of another value and is no statement of its own: "make that 450 instead of 300"."""
    for sentence, masked in own_sentences(_message_text(item.message), _LONGEST):
        text = _tidy(sentence)
        if any(text in memory.text for memory in stated) or is_unreal(masked) or is_memory_request(masked):
            continue
        if tells_change(masked) and values_in(masked) and not has_account_number(sentence):
            yield ExtractedMemory("fact", text, _IMPORTANCE["fact"], (item.id,), corrects=True)


def _with_successors(
    sentences: Sequence[str], memories: list[tuple[int, ExtractedMemory]], message: str
) -> list[ExtractedMemory]:
    """Returns the memories, with who takes somebody's place: "Eva has cancelled. Tom steps in for her." """
    stated = {at for at, _ in memories}
    for at in range(1, len(sentences)):
        if at in stated or "name" not in values_in(sentences[at]) or not needs_context(sentences[at]):
            continue
        before = next((each for each in reversed(memories) if each[0] == at - 1), None)
        if before is not None:
            memories.remove(before)
        fact = ExtractedMemory("fact", _tidy(sentences[at - 1]), _IMPORTANCE["fact"], (message,))
        base = before[1] if before else fact
        memories.append((at, replace(base, text=f"{base.text} {_tidy(sentences[at])}")))
    return [memory for _, memory in sorted(memories, key=lambda each: each[0])]


def _extract_correction(
    item: Item, memories: Mapping[str, ExtractedMemory], items: Sequence[Item]
) -> list[ExtractedMemory]:
    """Returns a memory of the last few messages with the other value that this message gives to it.

    "No, I meant 9,200 euros" is understood only behind what it corrects, so both are one memory.
    """
    text = _message_text(item.message)
    sentences = [sentence for sentence, _ in own_sentences(text, _LONGEST)]
    if len(sentences) != 1 or not needs_context(text):
        return []
    kinds = values_in(text).keys()
    question_ids = [other.id for other in items if other.message.role == "user"]
    recent = question_ids[max(0, question_ids.index(item.id) - _FAR) : question_ids.index(item.id)]
    for memory in reversed(list(memories.values())):
        if memory.messages[-1] in recent and kinds & values_in(memory.text).keys():
            return [replace(memory, text=f"{memory.text} {_tidy(text)}", messages=(item.id,))]
    return []


def _extract_confirmed(item: Item, question: Item) -> Iterator[ExtractedMemory]:
    """Yields the decisions of an answer that name something the user mentioned."""
    named = set(terms(_message_text(question.message)))
    for sentence in decisions_in(_message_text(item.message)):
        if _AGREEMENT.search(sentence) and telling(sentence) & named and _stands_alone(sentence):
            yield ExtractedMemory("decision", _tidy(sentence), _CONFIRMED_IMPORTANCE, (question.id, item.id))


def _withdraw(memories: dict[str, ExtractedMemory], item: Item, items: Sequence[Item]) -> None:
    """Removes memories of the last few messages that the user withdraws in this one."""
    sentences = [masked for _, masked in own_sentences(_message_text(item.message)) if takes_back(masked)]
    if not sentences:
        return
    question_ids = [other.id for other in items if other.message.role == "user"]
    now = question_ids.index(item.id)
    for key, memory in list(memories.items()):
        distance = (
            now - question_ids.index(memory.messages[0]) if memory.messages[0] in question_ids else _FAR
        )
        if distance < _FAR and any(is_meant(sentence, memory.text, distance) for sentence in sentences):
            del memories[key]


def _message_text(message: Message) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, Text))


def _stands_alone(sentence: str, kind: str = "") -> bool:
    """Whether a sentence is understandable by itself, unlike "let's take the second one"."""
    # "I'm diabetic" has one word that counts, and who it is about; "No jQuery!" has what is not to be.
    own = kind in ("fact", "preference") and is_about_speaker(sentence)
    needed = 1 if kind == "prohibition" or own else 2
    return not _REFERENCE.search(sentence) and len(set(terms(sentence))) >= needed


def _find_reason(following: Sequence[tuple[str, str]]) -> str:
    return "".join(f" {sentence}" for sentence, masked in following[:1] if _REASON.match(masked))


def _merge_repeat(known: ExtractedMemory, memory: ExtractedMemory) -> ExtractedMemory:
    messages = tuple(dict.fromkeys((*known.messages, *memory.messages)))
    return replace(known, importance=max(known.importance, memory.importance), messages=messages)


def _tidy(sentence: str) -> str:
    text = sentence.strip(" ,;–-*_").rstrip("?")
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "…", ")", '"')) else f"{text}."


_IMPORTANT = late(r"(?i)\b(?:important|wichtig|crucial|for the record|merke|just so you know|zur info)\b")
_AGREEMENT = late(
    r"(?i)\b(?:decided|decision|agreed|settled|entschieden|entscheidung|beschlossen"
    r"|vereinbart|abgemacht|festgelegt|geeinigt|es bleibt)\b"
)
_REFERENCE = late(
    r"(?i)\b(?:this (?:one|approach|code|version|plan|way|list|file|function|option)|that (?:one|approach"
    r"|version|plan|way|option)|(?:second|first|third|last|other|former|latter|original) (?:one|option"
    r"|version|approach|idea)|your (?:suggestion|approach|plan|version|advice|tips|recommendation)s?"
    r"|(?:with|do|use|try|like|take|stick to) (?:that|this|it|these|those)(?=[.!]*$)|the above"
    r"|above(?=[.,!]|$)"
    r"|(?:die|der|das) (?:erste|zweite|dritte|letzte|andere)(?=[.,!]|$| option| variante"
    r"| version| idee)|dein\w* vorschl\w+|so machen wir)\b"
    r"|\boptions?(?: \w+)?\W*$"
)
_THAT_AGAIN = late(
    r"(?i)\b(?:that|this|it|das|es|so ?was)\b(?: \w+){0,3} (?:again|nochmal|noch ?mal|noch ?einmal|wieder)\b"
)
_REASON = late(
    r"(?i)(?:because|since|the reason|reason:|that way|this way|weil|denn|grund|der grund|damit|so that"
    r"|otherwise|sonst)\b"
)
