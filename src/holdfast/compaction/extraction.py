"""Memories by rules, without a model: what a person said of their world, decided, and wants from now on.

From a person's own words only, never from tool results or pastes. Few and right rather than many: what is
stored wrongly comes back for ever. Which of it is known already is decided by memory itself.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from holdfast.compaction.asked import is_asked
from holdfast.compaction.lines import Kind
from holdfast.compaction.phrases import pattern
from holdfast.compaction.statements import OPENING, statement_in
from holdfast.messages import Message, Text
from holdfast.window.items import Item
from holdfast.window.own_words import own_sentences
from holdfast.window.rules import decisions_in, rules_in
from holdfast.words import telling, terms

_RULE = _DECISION = 0.8
_CONFIRMED = 0.7
_STRESSED = 0.1


@dataclass(frozen=True, slots=True)
class Extracted:
    """Something to remember, with how much it matters (0 to 1) and the messages it comes from."""

    kind: Kind
    text: str
    importance: float
    messages: tuple[str, ...]


def extract(items: Sequence[Item]) -> list[Extracted]:
    """What is worth remembering, in the order it was said.

    What the person asked to be remembered is left out: that was written at once.
    """
    found: dict[str, Extracted] = {}
    asked: Item | None = None
    for item in items:
        if item.message.role == "user" and _said(item.message).strip():
            asked = item
            memories = _from_person(item)
        elif item.message.role == "assistant" and asked is not None:
            memories = _confirmed(item, asked)
        else:
            continue
        for memory in memories:
            key = " ".join(re.findall(r"\w+", memory.text.casefold()))
            known = found.get(key)
            found[key] = _again(known, memory) if known else memory
    return list(found.values())


def _from_person(item: Item) -> Iterator[Extracted]:
    text = _said(item.message)
    rules, decisions = frozenset(rules_in(text)), frozenset(decisions_in(text))
    sentences = list(own_sentences(text))
    for place, (sentence, masked) in enumerate(sentences):
        statement = statement_in(masked)
        kind: Kind
        if sentence in rules and _stands_alone(sentence):
            kind, importance, told = "preference", _RULE, sentence
        elif sentence in decisions and _stands_alone(sentence) and not _HABIT.match(masked):
            kind, importance, told = "decision", _DECISION, sentence + _reason(sentences[place + 1 :])
        elif statement is not None and not any(_MADE_UP.match(other) for _, other in sentences):
            kind, importance = statement.kind, statement.importance
            # White space inside a quote is collapsed in the one and hidden in the other.
            told = sentence[statement.start : statement.end] if len(sentence) == len(masked) else sentence
        else:
            continue
        if not is_asked(masked):
            stress = _STRESSED if _IMPORTANT.search(masked) else 0.0
            yield Extracted(kind, _tidy(told), importance + stress, (item.id,))


def _confirmed(item: Item, asked: Item) -> Iterator[Extracted]:
    """A decision in an answer counts where the person named the thing themselves."""
    named = set(terms(_said(asked.message)))
    for sentence in decisions_in(_said(item.message)):
        if _SETTLED.search(sentence) and telling(sentence) & named and _stands_alone(sentence):
            yield Extracted("decision", _tidy(sentence), _CONFIRMED, (asked.id, item.id))


def _said(message: Message) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, Text))


def _stands_alone(sentence: str) -> bool:
    """Whether a sentence says what it means by itself: more than "let's take the second one"."""
    return not _POINTING.search(sentence) and len(set(terms(sentence))) >= 3


def _reason(following: Sequence[tuple[str, str]]) -> str:
    return "".join(f" {sentence}" for sentence, masked in following[:1] if _BECAUSE.match(masked))


def _again(known: Extracted, memory: Extracted) -> Extracted:
    messages = tuple(dict.fromkeys((*known.messages, *memory.messages)))
    return replace(known, importance=max(known.importance, memory.importance), messages=messages)


def _tidy(sentence: str) -> str:
    opening = OPENING.match(sentence)
    text = sentence[opening.end() if opening else 0 :].strip(" ,;–-*_")
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "…", ")", '"')) else f"{text}."


_IMPORTANT = pattern(r"\b(?:important|wichtig|crucial|for the record|merke|just so you know|zur info)\b")
# "Wir nutzen X" says what is, unless something marks it as new.
_HABIT = pattern(
    r"(?:\w+[,:] )?(?:wir|we) (?:nutzen|verwenden|benutzen|use|setzen)\b"
    r"(?!.*\b(?:jetzt|ab|künftig|now|from)\b)"
)
_SETTLED = pattern(
    r"\b(?:decided|decision|agreed|settled|entschieden|entscheidung|beschlossen"
    r"|vereinbart|abgemacht|festgelegt|geeinigt|es bleibt)\b"
)
_POINTING = pattern(
    r"\b(?:this (?:one|approach|code|version|plan|way|list|file|function|option)|that (?:one|approach|version"
    r"|plan|way|option)|(?:second|first|third|last|other|former|latter|original) (?:one|option|version"
    r"|approach|idea)|your (?:suggestion|approach|plan|version|advice|tips|recommendation)s?"
    r"|(?:with|do|use|try|like|take|stick to) (?:that|this|it|these|those)|above"
    r"|(?:die|der|das) (?:erste|zweite|dritte|letzte|andere)|dein\w* vorschl\w+|so machen wir)\b"
    r"|\boptions?(?: \w+)?\W*$"
)
_BECAUSE = pattern(
    r"(?:because|since|the reason|reason:|that way|this way|weil|denn|grund|der grund|damit|so that"
    r"|otherwise|sonst)\b"
)
# Somebody else's text, or nobody's: its "I" is not the person.
_MADE_UP = pattern(
    r"(?:please |can you |could you |bitte |kannst du )?(?:translate|rewrite|rephrase|proofread|paraphrase"
    r"|summari[sz]e|pretend|act as|imagine|role-?play|you are an?\b|let's play|I want you to (?:act|play|be)"
    r"|write (?:me |us )?(?:an?|the) (?:\w+ )?(?:story|poem|song|dialogue|scene|script|character|monologue"
    r"|speech|letter|novel)\b|übersetze?\b|korrigiere?\b|stell dir vor|(?:formuliere?|fasse?|schreibe?) .*"
    r" (?:um|zusammen)\b|spiele?n? (?:wir )?(?:eine?n?|die rolle)|schreibe? (?:mir |uns )?"
    r"(?:eine?n? )?(?:\w+ )?(?:geschichte|gedicht|dialog|szene|lied|brief|rede|märchen)\b)"
)
