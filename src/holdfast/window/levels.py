"""Levels 1 and 2, both without a model: shortening old texts, and leaving out the least relevant turns.

Each function reads a view and proposes decisions; `fit` calls them when they are due. At level 2 whole units
go, so that pairs stay together, and the rules and decisions in them are kept as sentences. Words decide what
is relevant, and meaning where that is known.
"""

import base64
import binascii
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import log

from holdfast.messages import File, Image, Message, Opaque, Part, Text, ToolResult
from holdfast.text.analyser import language_of, terms
from holdfast.thinking import spoken
from holdfast.tokens.budget import Budget
from holdfast.window.additions import MENTIONED_IN, WORTH, drop_quotes, shrink_files, shrink_research
from holdfast.window.decisions import CarriedSentences, LeaveOut, Proposal, Sentences, Shorten, places_of
from holdfast.window.items import Item, Unit, match_results, units_of
from holdfast.window.shorten import Count, marker, shorten, shorten_result
from holdfast.window.view import ShownMessage, View

# A tool result that alone would take more of the window than this is shortened before it is ever sent.
ENTRY_SHARE = 0.30
# What is left of a tool result, of a message over LONG tokens, and of a file that came with a message.
RESULT, LONG, LONG_LEFT, FILE = 200, 500, 300, 200
# The number of newest tool results that stay whole.
RESULTS_KEPT = 2
# A repeat shorter than this is not worth a marker.
REPEAT = 50

_NO_MEDIA = "[attachment left out]"

# The number of newest messages that always stay at level 2.
LAST_KEPT = 5
# The share of the tokens of older turns that stays: the most relevant half.
KEPT_SHARE = 0.5
# The share of its possible size that history has at most after level 2, so that it is not due again at once.
TARGET = 0.40
# The tokens for sentences of each kind whose messages are out, or a share of the room if that is more.
SENTENCE_TOKENS = 200
_RULES_SHARE, _FORBIDDEN_SHARE = 1 / 4, 1 / 5

# The topic is the words of the question and, with less weight, of this many messages before it.
_TOPIC, _TOPIC_WEIGHT = 3, 0.4
_TOPIC_CHARACTERS = 2_000
_CODE = re.compile(r"```|\b(?:def|class|function|import|SELECT|return)\b")
_FILE = re.compile(r"\b[\w-]+\.[a-z]{1,5}\b|(?:/[\w.-]+){2,}")
_NUMBER = re.compile(r"\d{2,}|\d[.,]\d")
# What makes a turn worth keeping whatever the topic is, in shares of the best match.
_BONUS = ((_CODE, 0.10), (_FILE, 0.10), (_NUMBER, 0.05))
_MARKED = 0.25

Shortener = Callable[[str, int, Callable[[str], int]], str]


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a message in the window. Decisions refer to originals; `now` is its current text."""

    item: Item
    at: int
    part: Part
    now: str

    @property
    def key(self) -> tuple[str, int]:
        return self.item.id, self.at

    @property
    def original(self) -> str:
        return text_of(self.part) or ""


# Level 1


def shorten_at_entry(view: View) -> list[Proposal]:
    """Shorten new tool results that are larger than any one should be."""
    limit = int(view.draft.budget.window * ENTRY_SHARE)
    spared = view.draft.seen | view.pins | view.list_vetoes("shorten")
    new = [part for part in text_parts(view, ToolResult) if part.item.id not in spared]
    return [*propose_cuts(view, new, "entry", limit, shorten_result, limit)]


def shorten_older(view: View) -> list[Proposal]:
    """Shorten all that is older in one batch: tool results, files, repeats, long messages, research."""
    spared = view.pins | view.list_vetoes("shorten") | {item.id for item in view.newest}
    spared |= {view.question.id} if view.question is not None else set()
    free = [part for part in text_parts(view) if part.item.id not in spared]
    cuts: list[Shorten] = []
    for rule in (shorten_repeats, shorten_old_results, shorten_files, shorten_long_messages):
        taken = cut_keys(cuts)
        cuts += rule(view, [part for part in free if part.key not in taken])
    return [*cuts, *shrink_files(view), *shrink_research(view), *drop_quotes(view)]


def cut_keys(cuts: Iterable[Shorten]) -> set[tuple[str, int]]:
    """Return message and number of all parts that these decisions cut."""
    return {(name, at) for cut in cuts for name, parts in cut.parts.items() for at in parts}


def shorten_repeats(view: View, free: Sequence[TextPart]) -> list[Shorten]:
    """Keep only the newest of equal texts, and of the results of equal calls."""
    may = {part.key for part in free}
    calls = _call_texts(view)
    seen: set[str] = set()
    repeats: list[TextPart] = []
    for part in reversed(text_parts(view)):
        if len(part.now) < REPEAT:
            continue
        names = {part.original, calls.get(id(part.part), part.original)}
        if names & seen and part.key in may:
            repeats.append(part)
        seen |= names
    repeats.reverse()
    return propose_cuts(view, repeats, "repeat", 0, _mark_repeat, REPEAT)


def _mark_repeat(text: str, _: int, count: Count) -> str:
    return marker(count(text), language_of(text) or "en")


def shorten_old_results(view: View, free: Sequence[TextPart]) -> list[Shorten]:
    """Shorten old tool results; media in results whose text is short is left out, too."""
    newest = {part.key for part in text_parts(view, ToolResult)[-RESULTS_KEPT:]}
    old = [part for part in free if isinstance(part.part, ToolResult) and part.key not in newest]
    proposals = propose_cuts(view, old, "tool_result", RESULT, shorten_result, RESULT)
    taken = cut_keys(proposals)
    cuts: dict[str, dict[int, str]] = {}
    before = after = 0
    for part in old:
        if part.key not in taken and has_media(part.part) and not part.now.endswith(_NO_MEDIA):
            # The current text may be shorter than the original.
            text = f"{part.now}{_NO_MEDIA}"
            cuts.setdefault(part.item.id, {})[part.at] = text
            before += view.tokens(Message("tool", (part.part,)))
            after += view.text_tokens(text)
    return [*proposals, Shorten("tool_result", tuple(cuts), before, after, cuts)] if cuts else proposals


def shorten_files(view: View, free: Sequence[TextPart]) -> list[Shorten]:
    """Replace files that the newest messages do not mention by their digests."""
    talk = " ".join(shown.message.text for shown in view.shown[-MENTIONED_IN:])
    old = [part for part in free if isinstance(part.part, File) and part.part.name not in talk]
    return propose_cuts(view, old, "file", FILE, partial(digest_file, view), FILE)


def digest_file(view: View, text: str, limit: int, count: Callable[[str], int]) -> str:
    """Return the digest of a file; that of a large one may have a tenth of its tokens."""
    name, _, body = text.partition("\n")
    digest = f"{name}\n{view.draft.digest(name, body)}" if view.draft.digest else text
    return shorten(digest, max(limit, count(text) // 10), count)


def shorten_long_messages(view: View, free: Sequence[TextPart]) -> list[Shorten]:
    """Shorten long messages, except the answer that the question replies to."""
    ids = [shown.item.id for shown in view.shown]
    asked = ids.index(view.question.id) if view.question is not None else len(ids)
    replied_to = set(ids[max(0, asked - 1) : asked])
    long = [part for part in free if isinstance(part.part, Text) and part.item.id not in replied_to]
    return propose_cuts(view, long, "long", LONG_LEFT, shorten, LONG)


def propose_cuts(
    view: View, parts: Iterable[TextPart], rule: str, limit: int, shortener: Shortener, over: int
) -> list[Shorten]:
    """Return one decision for all parts with more than `over` tokens that get smaller by a tenth."""
    cuts: dict[str, dict[int, str]] = {}
    before = after = 0
    for part in parts:
        # A token is a byte at least, so most texts need not be counted.
        if len(part.now) * 4 <= over or len(part.now.encode("utf-8", "replace")) <= over:
            continue
        tokens = view.text_tokens(part.now)
        if tokens <= over:
            continue
        short = shortener(part.original, limit, view.text_tokens)
        if rule != "entry" and has_media(part.part):
            short += _NO_MEDIA
        left = view.text_tokens(short)
        if left < tokens * WORTH:
            cuts.setdefault(part.item.id, {})[part.at] = short
            before, after = before + tokens, after + left
    return [Shorten(rule, tuple(cuts), before, after, cuts)] if cuts else []


def text_parts(view: View, *kinds: type) -> list[TextPart]:
    """Return the texts in the window that could be shortened, in order."""
    cuts = view.rendered.cuts
    texts = []
    for shown in view.shown:
        cut = cuts.get(shown.item.id, {})
        # Without thinking: a part of it without its end would later hide the answer after it.
        for at, part in enumerate(spoken(shown.item.message).parts):
            if kinds and not isinstance(part, kinds):
                continue
            now = cut[at].text if at in cut else text_of(part)
            if now is not None:
                texts.append(TextPart(shown.item, at, part, now))
    return texts


def text_of(part: Part) -> str | None:
    """Return the text of a part that could be shortened; None if it is not text."""
    match part:
        case Text(text):
            return text
        case ToolResult():
            return part.text
        case File() if part.data and part.media_type.startswith("text/"):
            try:
                raw = base64.b64decode("".join(part.data.split()), validate=True)
            except binascii.Error:
                return None
            return f"{part.name}\n{raw.decode('utf-8', 'replace')}"
    return None


def has_media(part: Part) -> bool:
    """Whether a part is, or contains, something that is not text."""
    if isinstance(part, ToolResult):
        return any(not isinstance(inner, Text) for inner in part.parts)
    return isinstance(part, Image | File | Opaque) and text_of(part) is None


def media_placeholder(part: Part) -> str:
    """Return the text that replaces media."""
    return f"{part.text}{_NO_MEDIA}" if isinstance(part, ToolResult) else _NO_MEDIA


def _call_texts(view: View) -> dict[int, str]:
    """Return name and arguments of the call of each result, by the result's identity."""
    messages = [shown.item.message for shown in view.shown]
    calls: dict[int, str] = {}
    for at, message in enumerate(messages):
        if message.tool_calls:
            end = at + 1
            while end < len(messages) and messages[end].tool_results:
                end += 1
            for result, call in match_results(message, messages[at + 1 : end]):
                if call is not None:
                    calls[id(result)] = f"{call.name} {call.arguments}"
    return calls


# Level 2


def leave_out(view: View) -> list[Proposal]:
    """Leave out the units that have the least to do with the topic."""
    items = [shown.item for shown in view.shown]
    staying = {item.id for item in (*items[-LAST_KEPT:], *view.newest)}
    staying |= view.pins | view.list_vetoes("leave_out")
    if view.question is not None:
        staying.add(view.question.id)
    units = units_of(items)
    # A frame stays with anything in its exchange that stays: no answer without its question.
    held = {unit.exchange for unit in units if unit.has(staying)}
    free = [unit for unit in units if not unit.has(staying) and not (unit.is_frame and unit.exchange in held)]
    gone = least_relevant(view, free)
    return [propose_leaving_out(view, gone, "relevance")] if gone else []


def propose_leaving_out(view: View, gone: Sequence[Unit], rule: str) -> LeaveOut:
    """Return the decision to leave these units out, with the sentences in them that must not be lost."""
    ids = {item.id for unit in gone for item in unit.items}
    leaving = [shown for shown in view.shown if shown.item.id in ids]
    tokens = sum(view.tokens(shown.message) for shown in leaving)
    places = places_of(view.draft.items)
    return LeaveOut(
        rule,
        tuple(shown.item.id for shown in leaving),
        tokens,
        0,
        **sentences_to_keep(view, leaving),
        at=(places[max(places)], max(places)) if places else None,
    )


def sentence_tokens(budget: Budget) -> dict[str, int]:
    """Return how many tokens the sentences of each kind may have."""
    return {
        # Where a summary has more room, so have rules: some models need twice the tokens for the same words.
        "rules": max(SENTENCE_TOKENS, budget.summary // 2, int(budget.room * _RULES_SHARE)),
        "agreed": SENTENCE_TOKENS,
        "forbidden": max(SENTENCE_TOKENS, int(budget.room * _FORBIDDEN_SHARE)),
    }


def sentences_to_keep(view: View, gone: Sequence[ShownMessage]) -> CarriedSentences:
    """Return the rules, decisions and prohibitions of all messages that are out once these are gone."""
    ids = {shown.item.id for shown in gone}
    staying = {shown.item.id for shown in view.shown if shown.item.id not in ids}
    draft, most = view.draft, sentence_tokens(view.draft.budget)

    def select(kind: str, marked: Mapping[str, Sequence[str]]) -> Sentences:
        outside = ((name, text) for name, texts in marked.items() if name not in staying for text in texts)
        return limit_sentences(outside, view.text_tokens, most[kind])

    return {
        "rules": select("rules", draft.rules),
        "agreed": select("agreed", draft.agreed),
        "forbidden": select("forbidden", draft.forbidden),
    }


def limit_sentences(
    sentences: Iterable[tuple[str, str]], count: Callable[[str], int], most: int = SENTENCE_TOKENS
) -> Sentences:
    """Drop the middle ones when there are too many: the first and the last matter most."""
    newest = {text: name for name, text in sentences}
    rows = [(name, text, count(text)) for text, name in newest.items()]
    total = sum(tokens for *_, tokens in rows)
    while total > most:
        total -= rows.pop(len(rows) // 2)[2]
    return tuple((name, text) for name, text, _ in rows)


def least_relevant(view: View, free: Sequence[Unit]) -> list[Unit]:
    """Return the units that are not in the best half; a frame takes its rounds along."""
    scores = score_units(view, free)
    messages = {shown.item.id: shown.message for shown in view.shown}
    cost = [sum(view.tokens(messages[item.id]) for item in unit.items) for unit in free]
    # Where the best half is still too much, less of it stays: it must not be due again at once.
    # History is measured by its upper estimate, units by their likeliest one.
    older, sure = sum(cost), view.total.tokens / view.total.high
    room = min(older * KEPT_SHARE, (TARGET * view.thresholds.full - view.history) * sure + older)
    staying: set[int] = set()
    # Of equal ones the newer is better.
    for at in sorted(range(len(free)), key=lambda at: (scores[at], at), reverse=True):
        if cost[at] <= room:
            room -= cost[at]
            staying.add(at)
    frames = {unit.exchange for at, unit in enumerate(free) if unit.is_frame and at not in staying}
    return [unit for at, unit in enumerate(free) if at not in staying or unit.exchange in frames]


def score_units(view: View, units: Sequence[Unit]) -> list[float]:
    """Return how relevant each unit is to the topic."""
    messages = {shown.item.id: shown.message for shown in view.shown}
    texts = [" ".join(_topic_text(messages[item.id]) for item in unit.items) for unit in units]
    bags = [Counter(terms(text)) for text in texts]
    weights = _topic(view)
    frequency = Counter(term for bag in bags for term in bag)
    rarity = {term: log(1 + (len(bags) + 1) / (frequency[term] + 0.5)) for term in weights}
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
    draft = view.draft
    near = [max((draft.nearness.get(item.id, 0.0) for item in unit.items), default=0.0) for unit in units]
    nearest = max(near, default=0.0) or 1.0
    marked = {*draft.rules, *draft.agreed, *draft.forbidden}
    return [
        (match / best + max(0.0, close) / nearest) / (2 if draft.nearness else 1)
        + sum(worth for pattern, worth in _BONUS if pattern.search(text))
        + _MARKED * unit.has(marked)
        for match, close, text, unit in zip(matches, near, texts, units, strict=True)
    ]


def _topic(view: View) -> dict[str, float]:
    """Return the words of the question, and with less weight those of the messages around it."""
    items = [shown.item for shown in view.shown]
    asked = next((at for at, item in enumerate(items) if item is view.question), len(items))
    weights = {
        term: _TOPIC_WEIGHT
        for item in (*items[max(0, asked - _TOPIC) : asked], *items[asked + 1 :][-_TOPIC:])
        for term in terms(_topic_text(item.message))
    }
    if view.question is not None:
        weights |= dict.fromkeys(terms(_topic_text(view.question.message)), 1.0)
    return weights


def _topic_text(message: Message) -> str:
    """Return as much of a message as is needed to know its topic."""
    texts = (message.text, *(call.arguments for call in message.tool_calls))
    return " ".join(islice((text[:_TOPIC_CHARACTERS] for text in texts), 8))
