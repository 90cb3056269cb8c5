"""The flush: what should outlive a conversation, found before its words leave the window.

By rules always, and by a model where one is of use; what a model says must have been said. It writes nothing.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from holdfast.compaction.asked import MemoryKind, read_memory_requests
from holdfast.compaction.asking import SummaryModel
from holdfast.compaction.checks import is_hopeless
from holdfast.compaction.extraction import ExtractedMemory, extract
from holdfast.compaction.lines import line_grammar, parse_memory_lines
from holdfast.compaction.prompts import PromptTemplates
from holdfast.compaction.transcript import fence, split_portions
from holdfast.errors import Overflow, ProviderError
from holdfast.i18n import Language
from holdfast.text.statements import denies, is_doubtful, statements_in
from holdfast.window.items import Item
from holdfast.window.own_words import own_sentences
from holdfast.words import telling, terms

log = logging.getLogger("holdfast.compaction")

# At most so many lines for one portion, with so many tokens.
_MOST_LINES_PER_PORTION, _MOST_TOKENS = 12, 600
# At least this share of a line's words must stand in what was said.
_LEAST_GROUNDED = 0.7
# Two lines with so much in common say the same.
_SIMILAR = 0.8
_IMPORTANCE = {"decision": 0.8, "preference": 0.7, "fact": 0.5}
_LEAST_ROOM, _MARGIN = 256, 64
_LONGEST_SENTENCE = 400


@dataclass(frozen=True, slots=True)
class FlushResult:
    """`answers` is False where the model did not: then there is no use in asking it for anything else."""

    memories: tuple[ExtractedMemory, ...]
    model_answers: bool


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
        """What is worth keeping of these clean messages, each once."""
        memories, model_answers = await asyncio.to_thread(extract, items), True
        if model is not None:
            try:
                memories += await self._ask_model(items, language, count, model)
            except Overflow as error:
                log.warning("no memories from %s: %s", model.name, error)
            except ProviderError as error:
                log.warning("no memories from %s: %s", model.name, error)
                model_answers = False
        return FlushResult(tuple(_deduplicate(memories, requests=_terms_of_requests(items))), model_answers)

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
    """The lines that were really said, each with the messages it comes from."""
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
        # A name or number that nobody said makes a line worthless, however well the rest fits.
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
    """A sentence of a person: its words, whether it denies something, states something, or leaves it open."""

    terms: frozenset[str]
    is_negated: bool
    states_something: bool
    is_doubtful: bool


def _read_sentences(text: str) -> list[_UserSentence]:
    masked = [hidden for _, hidden in own_sentences(text, _LONGEST_SENTENCE)]
    stating = {statement.sentence for statement in statements_in(masked)}
    return [
        _UserSentence(frozenset(terms(sentence)), denies(sentence), at in stating, is_doubtful(sentence))
        for at, sentence in enumerate(masked)
    ]


def _is_supported(kind: MemoryKind, text: str, words: set[str], sentences: Sequence[_UserSentence]) -> bool:
    """Whether the sentence of a person that a line comes nearest to says it, and does not deny it.

    A fact may be one that only a model sees; what somebody decided or wants shows in how they say it.
    """
    shared = [(len(words & sentence.terms), sentence) for sentence in sentences]
    best = max((size for size, _ in shared), default=0)
    if 2 * best < len(words):
        return False
    nearest = [sentence for size, sentence in shared if size == best]
    # The last word on it counts.
    last = nearest[-1]
    says = last.states_something or (kind == "fact" and not last.is_doubtful)
    return says and last.is_negated == denies(text)


def _terms_of_requests(items: Sequence[Item]) -> list[set[str]]:
    """What somebody asked to be remembered was written when they asked."""
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
