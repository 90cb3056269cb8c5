"""The memory flush: finds what should outlive a conversation before its messages leave the window.

Rules always extract memories; a model adds more where one is available, in lines such as `FACT: …` or
`ENTSCHEIDUNG: …`. The lines are parsed leniently and kept only where the messages support them.
"""

import asyncio
import json
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from holdfast.compaction.extraction import ExtractedMemory, extract
from holdfast.compaction.requests import MemoryKind, read_memory_requests
from holdfast.compaction.summariser import PromptTemplates, SummaryModel, is_hopeless
from holdfast.compaction.transcript import fence, split_portions
from holdfast.errors import Overflow, ProviderError
from holdfast.i18n import Language
from holdfast.text.analyser import telling, terms
from holdfast.text.lang import any_phrase, by_language
from holdfast.text.patterns import late
from holdfast.text.statements import denies, is_doubtful, statements_in
from holdfast.thinking import without_thinking
from holdfast.window.items import Item
from holdfast.window.rules import own_sentences

_MOST_LINES = 30
_LONGEST_LINE = 500
# The grammar allows one sentence: no single word, no paragraph.
_SHORTEST_WRITTEN = 12
_LONGEST_WRITTEN = 300

_KINDS: dict[MemoryKind, str] = {
    kind: "|".join(forms[kind] for forms in by_language("MEMORY_LABEL_FORMS").values())
    for kind in ("fact", "decision", "preference")
}
_LABEL = "|".join(f"(?P<{kind}>{words})" for kind, words in _KINDS.items())
_SIGNS = r"[\s>*_#+•–\-\"'`(\[{]"
_LINE = late(
    rf"{_SIGNS}{{0,20}}(?:\d{{1,2}}[.):]{_SIGNS}{{0,5}})?(?:{_LABEL})\b"
    r"[*_\"'`\])]{0,4}\s{0,2}(?:[(#]{0,2}\d{1,2}[).]{0,2})?[*_\"'`\])]{0,4}\s{0,2}[:：]"
    rf"(?P<text>.*)",
    re.IGNORECASE,
)
# Several on one line: only where the label is spelled exactly as asked for.
_NEXT = late(rf"(?<=[\s\"'}}\]|;,])(?=(?:[\"'{{]{{0,2}}){any_phrase('MEMORY_LABEL_EXACT')}[\"']?:)")
_NONE = late(rf"\W*{any_phrase('NO_MEMORIES')}\b\W*", re.IGNORECASE)
_NOTHING = late(rf"\W*{any_phrase('NO_MEMORY')}?\W*", re.IGNORECASE)
_PLACEHOLDER = late(r"\[[^\[\]]{0,80}\]|<[^<>]{0,80}>|\{[^{}]{0,80}\}")
_FENCE = late(r"^[^\S\n]*(?:```|~~~)\w*[^\S\n]*$", re.MULTILINE)
# What broken JSON leaves after its last string.
_TRAIL = late(r"[\"'][\]}\s,]{0,20}$")
_DECORATION = " \"'`*_,;|"
_LETTERS = late(r"[^\W\d_]")

_LABELS: dict[str, tuple[str, str, str, str]] = by_language("MEMORY_LABELS")


def parse_memory_lines(answer: str, prompt: str = "") -> list[tuple[MemoryKind, str]]:
    """Returns the memories in an answer, in order; everything else is skipped.

    Lines that are also in `prompt` are repeated examples and are skipped.
    """
    if says_none(answer):
        return []
    echoes = {_line_key(text) for _, text in _parse_labelled(prompt)} if prompt else set()
    memories: dict[str, tuple[MemoryKind, str]] = {}
    for kind, text in _parse_labelled(without_thinking(answer)):
        key = _line_key(text)
        if key and key not in echoes and not _is_placeholder(text):
            memories.setdefault(key, (kind, _cut_line(text)))
        if len(memories) == _MOST_LINES:
            break
    return list(memories.values())


def says_none(answer: str) -> bool:
    """Whether the answer begins by saying that there is nothing to remember."""
    return bool(_NONE.match(_FENCE.sub("", without_thinking(answer))))


def line_grammar(language: Language) -> str:
    """Returns a llama.cpp grammar that allows only memory lines, or the line that says there are none."""
    fact, decision, preference, none = _LABELS[language]
    length = f"{{{_SHORTEST_WRITTEN - 1},{_LONGEST_WRITTEN - 1}}}"
    return (
        f'root ::= "{none}" | line ("\\n" line){{0,{_MOST_LINES - 1}}}\n'
        f'line ::= ("{fact}" | "{decision}" | "{preference}") ": " first rest{length}\n'
        # A bracket at the beginning would be the unfilled placeholder of the example.
        "first ::= [^ \\t\\r\\n<>{}.\\x5B\\x5D]\n"
        "rest ::= [^\\r\\n]\n"
    )


def _parse_labelled(answer: str) -> Iterator[tuple[MemoryKind, str]]:
    for line in _unfold(answer):
        match = _LINE.match(line)
        if match is None:
            continue
        kind = next(kind for kind in _KINDS if match[kind])
        yield kind, _TRAIL.sub("", " ".join(match["text"].split())).strip(_DECORATION)


def _unfold(answer: str) -> Iterator[str]:
    """Yields the lines of an answer, also of one in JSON."""
    bare = _FENCE.sub("", answer).strip()
    if bare.startswith(("[", "{")):
        with suppress(ValueError, RecursionError):
            yield from _flatten_json(json.loads(bare))
            return
    for line in bare.splitlines():
        yield from _NEXT.split(line)


def _flatten_json(value: Any, label: str = "") -> Iterator[str]:
    """Yields the strings of a JSON value as lines, labelled by their key or a field such as `kind`."""
    if isinstance(value, str):
        yield f"{label}: {value}" if label else value
    elif isinstance(value, list):
        for item in value:
            yield from _flatten_json(item, label)
    elif isinstance(value, dict):
        kind = next(
            (value[key] for key in ("kind", "type", "category") if isinstance(value.get(key), str)), ""
        )
        texts = (
            value[key] for key in ("text", "content", "value", "memory") if isinstance(value.get(key), str)
        )
        if kind:
            yield from (f"{kind}: {text}" for text in texts)
        else:
            for key, item in value.items():
                yield from _flatten_json(item, key if _LINE.match(f"{key}: x") else "")


def _is_placeholder(text: str) -> bool:
    return bool(_NOTHING.fullmatch(text)) or len(_LETTERS.findall(_PLACEHOLDER.sub("", text))) < 3


def _line_key(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _cut_line(text: str) -> str:
    if len(text) <= _LONGEST_LINE:
        return text
    return text[: _LONGEST_LINE - 1].rsplit(" ", 1)[0] + "…"


log = logging.getLogger("holdfast.compaction")

# Limits for the answer about one portion.
_MOST_LINES_PER_PORTION, _MOST_TOKENS = 12, 600
# At least this share of a line's terms must occur in the messages.
_LEAST_GROUNDED = 0.7
# Two memories that share so many terms are the same.
_SIMILAR = 0.8
_IMPORTANCE = {"decision": 0.8, "preference": 0.7, "fact": 0.5}
_LEAST_ROOM, _MARGIN = 256, 64
_LONGEST_SENTENCE = 400


@dataclass(frozen=True, slots=True)
class FlushResult:
    """Extracted memories. `model_answers` is False if the model failed and should not be asked again."""

    memories: tuple[ExtractedMemory, ...]
    model_answers: bool


def collect_by_rules(items: Sequence[Item]) -> tuple[ExtractedMemory, ...]:
    """Returns what is worth remembering of these cleaned messages, without a model and duplicates."""
    memories = extract(items)
    return _finish(memories, items) if memories else ()


def _finish(memories: Sequence[ExtractedMemory], items: Sequence[Item]) -> tuple[ExtractedMemory, ...]:
    """Returns the memories without duplicates, each with the time at which it was said."""
    times = {item.id: item.at for item in items}
    return tuple(
        replace(memory, at=max((times.get(message, 0.0) for message in memory.messages), default=0.0))
        for memory in _deduplicate(memories, requests=_terms_of_requests(items))
    )


@dataclass(frozen=True, slots=True)
class MemoryFlush:
    prompts: PromptTemplates

    async def collect(
        self,
        items: Sequence[Item],
        language: Language,
        count: Callable[[str], int],
        model: SummaryModel | None,
    ) -> FlushResult:
        """Returns what is worth remembering of these cleaned messages, without duplicates."""
        memories, model_answers = await asyncio.to_thread(extract, items), True
        if model is not None:
            try:
                memories += await self._ask_model(items, language, count, model)
            except Overflow as error:
                log.warning("no memories from %s: %s", model.name, error)
            except ProviderError as error:
                log.warning("no memories from %s: %s", model.name, error)
                model_answers = False
        return FlushResult(_finish(memories, items), model_answers)

    async def _ask_model(
        self, items: Sequence[Item], language: Language, count: Callable[[str], int], model: SummaryModel
    ) -> list[ExtractedMemory]:
        prompt = self.prompts.render("flush", language, transcript="", lines=_MOST_LINES_PER_PORTION)
        window = model.budget.window
        room = window - _MOST_TOKENS - count(prompt) - _MARGIN - window // 20
        if room < _LEAST_ROOM:
            return []
        memories: list[ExtractedMemory] = []
        examples = prompt
        for portion in split_portions(items, language, count, room):
            prompt = self.prompts.render(
                "flush", language, transcript=fence(portion.text), lines=_MOST_LINES_PER_PORTION
            )
            reply = await model.ask(prompt, _MOST_TOKENS, line_grammar(language), hopeless=is_hopeless)
            memories += _ground_lines(parse_memory_lines(reply.text, examples), portion.items)
        return memories


def _ground_lines(lines: Sequence[tuple[MemoryKind, str]], items: Sequence[Item]) -> list[ExtractedMemory]:
    """Returns the lines that the messages support, each with the messages it comes from."""
    terms_by_message = [(item.id, set(terms(item.message.text))) for item in items]
    all_terms = set().union(*(words for _, words in terms_by_message))
    names = set().union(*(telling(item.message.text) for item in items))
    sentences = [
        sentence
        for item in items
        if item.message.role == "user"
        for sentence in _read_sentences(item.message.text)
    ]
    memories = []
    for kind, text in lines:
        words = set(terms(text))
        # A name or number that is in no message disqualifies a line, however well the rest fits.
        if (
            not words
            or len(words & all_terms) < _LEAST_GROUNDED * len(words)
            or telling(text) - names - all_terms
        ):
            continue
        if not _is_supported(kind, text, words, sentences):
            continue
        best = max(len(words & other) for _, other in terms_by_message)
        sources = tuple(name for name, other in terms_by_message if len(words & other) >= max(1, best))[:3]
        memories.append(ExtractedMemory(kind, text, _IMPORTANCE[kind], sources))
    return memories


@dataclass(frozen=True, slots=True)
class _UserSentence:
    """A sentence of the user: its terms, and whether it denies, states or doubts something."""

    terms: frozenset[str]
    is_negated: bool
    states_something: bool
    is_doubtful: bool


def _read_sentences(text: str) -> list[_UserSentence]:
    masked = [hidden for _, hidden in own_sentences(text, _LONGEST_SENTENCE)]
    stating = {statement.sentence for statement in statements_in(tuple(masked))}
    return [
        _UserSentence(frozenset(terms(sentence)), denies(sentence), at in stating, is_doubtful(sentence))
        for at, sentence in enumerate(masked)
    ]


def _is_supported(kind: MemoryKind, text: str, words: set[str], sentences: Sequence[_UserSentence]) -> bool:
    """Whether the user's sentence nearest to a line states it and does not deny it.

    A fact needs no statement found by rules; a decision or preference does.
    """
    shared = [(len(words & sentence.terms), sentence) for sentence in sentences]
    best = max((size for size, _ in shared), default=0)
    if 2 * best < len(words):
        return False
    nearest = [sentence for size, sentence in shared if size == best]
    # The newest sentence counts.
    last = nearest[-1]
    says = last.states_something or (kind == "fact" and not last.is_doubtful)
    return says and last.is_negated == denies(text)


def _terms_of_requests(items: Sequence[Item]) -> list[set[str]]:
    """Returns the terms of explicit memory requests, which were stored when they were made."""
    texts = [item.message.text for item in items if item.message.role == "user"]
    requests = (read_memory_requests(text, texts[max(0, at - 2) : at]) for at, text in enumerate(texts))
    return [set(terms(content)) for request in requests for _, content in request]


def _deduplicate(memories: Sequence[ExtractedMemory], requests: Sequence[set[str]]) -> list[ExtractedMemory]:
    unique: list[tuple[ExtractedMemory, set[str]]] = []
    for memory in memories:
        words = set(terms(memory.text))
        if any(_are_similar(words, other) for other in requests):
            continue
        at = next((at for at, (_, other) in enumerate(unique) if _are_similar(words, other)), None)
        if at is None:
            unique.append((memory, words))
        else:
            first, other = unique[at]
            sources = tuple(dict.fromkeys((*first.messages, *memory.messages)))
            unique[at] = replace(first, messages=sources), other
    return [memory for memory, _ in unique]


def _are_similar(first: set[str], second: set[str]) -> bool:
    return bool(first and second) and len(first & second) >= _SIMILAR * min(len(first), len(second))
