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
        helper: SummaryModel | None,
    ) -> FlushResult:
        """What is worth keeping of these clean messages, each once."""
        found, answers = await asyncio.to_thread(extract, items), True
        if helper is not None:
            try:
                found += await self._ask_model(items, language, count, helper)
            except Overflow as error:
                log.warning("no memories from %s: %s", helper.name, error)
            except ProviderError as error:
                log.warning("no memories from %s: %s", helper.name, error)
                answers = False
        return FlushResult(tuple(_deduplicate(found, told=_terms_of_requests(items))), answers)

    async def _ask_model(
        self, items: Sequence[Item], language: Language, count: Callable[[str], int], helper: SummaryModel
    ) -> list[ExtractedMemory]:
        prompt = self.prompts.render("flush", language, transcript="", lines=_MOST_LINES_PER_PORTION)
        window = helper.budget.window
        room = window - _MOST_TOKENS - count(prompt) - _MARGIN - window // 20
        if room < _LEAST_ROOM:
            return []
        found: list[ExtractedMemory] = []
        examples = prompt
        for portion in split_portions(items, language, count, room):
            prompt = self.prompts.render(
                "flush", language, transcript=fence(portion.text), lines=_MOST_LINES_PER_PORTION
            )
            said = await helper.ask(prompt, _MOST_TOKENS, line_grammar(language), hopeless=is_hopeless)
            found += _ground_lines(parse_memory_lines(said.text, examples), portion.items)
        return found


def _ground_lines(lines: Sequence[tuple[MemoryKind, str]], items: Sequence[Item]) -> list[ExtractedMemory]:
    """The lines that were really said, each with the messages it comes from."""
    spoken = [(item.id, set(terms(item.message.text))) for item in items]
    said = set().union(*(words for _, words in spoken))
    named = set().union(*(telling(item.message.text) for item in items))
    people = [
        sentence
        for item in items
        if item.message.role == "user"
        for sentence in _read_sentences(item.message.text)
    ]
    found = []
    for kind, text in lines:
        words = set(terms(text))
        # A name or number that nobody said makes a line worthless, however well the rest fits.
        if not words or len(words & said) < _LEAST_GROUNDED * len(words) or telling(text) - named - said:
            continue
        if not _is_supported(kind, text, words, people):
            continue
        best = max(len(words & other) for _, other in spoken)
        sources = tuple(name for name, other in spoken if len(words & other) >= max(1, best))[:3]
        found.append(ExtractedMemory(kind, text, _IMPORTANCE[kind], sources))
    return found


@dataclass(frozen=True, slots=True)
class _UserSentence:
    """A sentence of a person: its words, whether it denies something, states something, or leaves it open."""

    terms: frozenset[str]
    is_negated: bool
    states_something: bool
    is_doubtful: bool


def _read_sentences(text: str) -> list[_UserSentence]:
    masked = [hidden for _, hidden in own_sentences(text, _LONGEST_SENTENCE)]
    stating = {one.sentence for one in statements_in(masked)}
    return [
        _UserSentence(frozenset(terms(sentence)), denies(sentence), at in stating, is_doubtful(sentence))
        for at, sentence in enumerate(masked)
    ]


def _is_supported(kind: MemoryKind, text: str, words: set[str], people: Sequence[_UserSentence]) -> bool:
    """Whether the sentence of a person that a line comes nearest to says it, and does not deny it.

    A fact may be one that only a model sees; what somebody decided or wants shows in how they say it.
    """
    shared = [(len(words & one.terms), one) for one in people]
    best = max((size for size, _ in shared), default=0)
    if 2 * best < len(words):
        return False
    nearest = [one for size, one in shared if size == best]
    # The last word on it counts.
    last = nearest[-1]
    says = last.states_something or (kind == "fact" and not last.is_doubtful)
    return says and last.is_negated == denies(text)


def _terms_of_requests(items: Sequence[Item]) -> list[set[str]]:
    """What somebody asked to be remembered was written when they asked."""
    said = [item.message.text for item in items if item.message.role == "user"]
    wishes = (read_memory_requests(text, said[max(0, at - 2) : at]) for at, text in enumerate(said))
    return [set(terms(told)) for wish in wishes for _, told in wish]


def _deduplicate(found: Sequence[ExtractedMemory], told: Sequence[set[str]]) -> list[ExtractedMemory]:
    kept: list[tuple[ExtractedMemory, set[str]]] = []
    for one in found:
        words = set(terms(one.text))
        if any(_are_similar(words, other) for other in told):
            continue
        at = next((at for at, (_, other) in enumerate(kept) if _are_similar(words, other)), None)
        if at is None:
            kept.append((one, words))
        else:
            first, other = kept[at]
            sources = tuple(dict.fromkeys((*first.messages, *one.messages)))
            kept[at] = replace(first, messages=sources), other
    return [one for one, _ in kept]


def _are_similar(one: set[str], other: set[str]) -> bool:
    return bool(one and other) and len(one & other) >= _SIMILAR * min(len(one), len(other))
