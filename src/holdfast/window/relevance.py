"""Leaving out the older turns that have the least to do with what is being talked about.

Whole units go, so pairs stay together; rules and decisions in them are kept as sentences. Looks at a view and
proposes one decision. How alike texts are is judged by their words, and by their meaning where it is known.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import log

from holdfast.messages import Message
from holdfast.tokens.budget import Budget
from holdfast.window.decisions import Proposal, places_of
from holdfast.window.items import Unit, units_of
from holdfast.window.render import ShownMessage
from holdfast.window.view import View
from holdfast.words import terms

# So many messages, the newest, always stay.
LAST_KEPT = 5
# Of the tokens of older turns, this share stays: the most relevant half.
KEPT_SHARE = 0.5
# After it, history has at most this share of what it can have, so that the next turn is not the next time.
TARGET = 0.40
# So many tokens of sentences of each kind outlive their messages, or a share of the room if that is more.
SENTENCE_TOKENS = 200
_RULES_SHARE, _FORBIDDEN_SHARE = 1 / 4, 1 / 5

# The question says what is talked about; the messages before it say it too, but less.
_TOPIC, _TOPIC_WEIGHT = 3, 0.4
_TOPIC_CHARACTERS = 2_000
_CODE = re.compile(r"```|\b(?:def|class|function|import|SELECT|return)\b")
_FILE = re.compile(r"\b[\w-]+\.[a-z]{1,5}\b|(?:/[\w.-]+){2,}")
_NUMBER = re.compile(r"\d{2,}|\d[.,]\d")
# What makes a turn worth keeping whatever is talked about, in shares of the best match.
_BONUS = ((_CODE, 0.10), (_FILE, 0.10), (_NUMBER, 0.05))
_MARKED = 0.25


def leave_out(view: View) -> list[Proposal]:
    items = [shown.item for shown in view.shown]
    staying = {item.id for item in (*items[-LAST_KEPT:], *view.newest)}
    staying |= view.pins | view.vetoed("leave_out")
    if view.question is not None:
        staying.add(view.question.id)
    units = units_of(items)
    # A frame stays for anything in its exchange that does: no answer without its question.
    held = {unit.exchange for unit in units if unit.has(staying)}
    free = [unit for unit in units if not unit.has(staying) and not (unit.is_frame and unit.exchange in held)]
    gone = _least_relevant(view, free)
    return propose_leaving_out(view, gone, "relevance") if gone else []


def propose_leaving_out(view: View, gone: Sequence[Unit], rule: str) -> list[Proposal]:
    """The decision to leave these units out, with the sentences in them that must not be lost."""
    left = {item.id for unit in gone for item in unit.items}
    shown = [one for one in view.shown if one.item.id in left]
    tokens = sum(view.tokens(one.message) for one in shown)
    data: dict[str, object] = {
        name: [list(one) for one in said] for name, said in sentences_to_keep(view, shown).items()
    }
    if places := places_of(view.draft.items):
        # How far the conversation had come: where it goes another way before that, this was never decided.
        data["at"] = [places[max(places)], max(places)]
    return [Proposal("leave_out", rule, tuple(one.item.id for one in shown), tokens, 0, data=data)]


def sentence_tokens(budget: Budget) -> dict[str, int]:
    """How many tokens the sentences of each kind may have; what is forbidden has the most."""
    return {
        # Where a summary has more room, so have rules: some models need twice the tokens for the same words.
        "rules": max(SENTENCE_TOKENS, budget.summary // 2, int(budget.room * _RULES_SHARE)),
        "agreed": SENTENCE_TOKENS,
        "forbidden": max(SENTENCE_TOKENS, int(budget.room * _FORBIDDEN_SHARE)),
    }


def sentences_to_keep(view: View, gone: Sequence[ShownMessage]) -> dict[str, tuple[tuple[str, str], ...]]:
    """The rules, the decisions and what is forbidden that bind on when these are gone, by kind."""
    left = {one.item.id for one in gone}
    staying = {one.item.id for one in view.shown if one.item.id not in left}
    draft, most = view.draft, sentence_tokens(view.draft.budget)
    marked = {"rules": draft.rules, "agreed": draft.agreed, "forbidden": draft.forbidden}
    return {
        name: limit_sentences(_sentences(said, staying), view.text_tokens, most[name])
        for name, said in marked.items()
    }


def _sentences(marked: Mapping[str, Sequence[str]], staying: Collection[str]) -> Iterator[tuple[str, str]]:
    """Those of all messages that are not in the window."""
    return ((name, said) for name, all_said in marked.items() if name not in staying for said in all_said)


def limit_sentences(
    sentences: Iterable[tuple[str, str]], count: Callable[[str], int], most: int = SENTENCE_TOKENS
) -> tuple[tuple[str, str], ...]:
    """When there are too many, the first ones and the last ones: what was said early and what holds now."""
    kept = [(name, said, count(said)) for said, name in {said: name for name, said in sentences}.items()]
    total = sum(tokens for *_, tokens in kept)
    while total > most:
        total -= kept.pop(len(kept) // 2)[2]
    return tuple((name, said) for name, said, _ in kept)


def _least_relevant(view: View, free: Sequence[Unit]) -> list[Unit]:
    """The units that do not belong to the best half; a frame takes the rounds inside it along."""
    scores = _scores(view, free)
    messages = {shown.item.id: shown.message for shown in view.shown}
    cost = [sum(view.tokens(messages[item.id]) for item in unit.items) for unit in free]
    # Where the best half is still too much, less of it stays: it must not be due again at once.
    # History is measured at its most, units at their likeliest.
    older, sure = sum(cost), view.total.tokens / view.total.high
    room = min(older * KEPT_SHARE, (TARGET * view.thresholds.full - view.history) * sure + older)
    kept: set[int] = set()
    # Of equal ones the newer is better.
    for at in sorted(range(len(free)), key=lambda at: (scores[at], at), reverse=True):
        if cost[at] <= room:
            room -= cost[at]
            kept.add(at)
    frames = {unit.exchange for at, unit in enumerate(free) if unit.is_frame and at not in kept}
    return [unit for at, unit in enumerate(free) if at not in kept or unit.exchange in frames]


def _scores(view: View, units: Sequence[Unit]) -> list[float]:
    messages = {shown.item.id: shown.message for shown in view.shown}
    texts = [" ".join(_read(messages[item.id]) for item in unit.items) for unit in units]
    bags = [Counter(terms(text)) for text in texts]
    weights = _topic(view)
    found = Counter(term for bag in bags for term in bag)
    rarity = {term: log(1 + (len(bags) + 1) / (found[term] + 0.5)) for term in weights}
    # As in BM25: a word said twice counts a little more, a long text no more for its length alone.
    matches = [
        sum(
            weight * rarity[term] * bag[term] / (bag[term] + 1.0)
            for term, weight in weights.items()
            if term in bag
        )
        for bag in bags
    ]
    best = max(matches, default=0.0) or 1.0
    near = [
        max((view.draft.nearness.get(item.id, 0.0) for item in unit.items), default=0.0) for unit in units
    ]
    nearest = max(near, default=0.0) or 1.0
    return [
        (match / best + max(0.0, close) / nearest) / (2 if view.draft.nearness else 1)
        + sum(worth for has, worth in _BONUS if has.search(text))
        + _MARKED * _is_marked(view, unit)
        for match, close, text, unit in zip(matches, near, texts, units, strict=True)
    ]


def _is_marked(view: View, unit: Unit) -> bool:
    draft = view.draft
    return any(unit.has(marked) for marked in (draft.rules, draft.agreed, draft.forbidden))


def _topic(view: View) -> dict[str, float]:
    """The words of the question, and with less weight those of the messages just before it."""
    items = [shown.item for shown in view.shown]
    asked = next((at for at, item in enumerate(items) if item is view.question), len(items))
    weights = {
        term: _TOPIC_WEIGHT
        for item in (*items[max(0, asked - _TOPIC) : asked], *items[asked + 1 :][-_TOPIC:])
        for term in terms(_read(item.message))
    }
    if view.question is not None:
        weights |= dict.fromkeys(terms(_read(view.question.message)), 1.0)
    return weights


def _read(message: Message) -> str:
    """What a message says, as much of it as is needed to know what it is about."""
    pieces = (message.text, *(call.arguments for call in message.tool_calls))
    return " ".join(islice((piece[:_TOPIC_CHARACTERS] for piece in pieces), 8))
