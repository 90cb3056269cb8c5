"""Shortening without a model: what is too large when it comes in, and one batch over everything older.

Each function looks at a view and proposes decisions. When they are asked is decided in `fit`.
"""

import base64
import binascii
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import log

from holdfast.messages import File, Image, Message, Opaque, Part, Text, ToolResult
from holdfast.thinking import spoken
from holdfast.tokens.budget import Budget
from holdfast.window.additions import MENTIONED_IN, WORTH, drop_quotes, shrink_files, shrink_research
from holdfast.window.decisions import Proposal, as_json, places_of
from holdfast.window.items import Item, Unit, match_results, units_of
from holdfast.window.shorten import marker, shorten, shorten_result
from holdfast.window.view import ShownMessage, View
from holdfast.words import terms

# A tool result that alone would take more of the window than this is shortened before it is ever sent.
ENTRY_SHARE = 0.30
# What is left of a tool result, of a message over LONG tokens, and of a file that came with a message.
RESULT, LONG, LONG_LEFT, FILE = 200, 500, 300, 200
# So many tool results, the newest, stay whole.
RESULTS_KEPT = 2
# A repeat shorter than this is not worth a marker.
REPEAT = 50

_NO_MEDIA = "[attachment left out]"

Shortener = Callable[[str, int, Callable[[str], int]], str]


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a message in the window. Decisions are on originals; `now` is the text it has at present."""

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


def shorten_at_entry(view: View) -> list[Proposal]:
    """Tool results that come in larger than any one should be."""
    limit = int(view.draft.budget.window * ENTRY_SHARE)
    spared = view.draft.seen | view.pins | view.vetoed("shorten")
    new = [piece for piece in text_parts(view, ToolResult) if piece.item.id not in spared]
    return propose_cuts(view, new, "entry", limit, shorten_result, limit)


def shorten_older(view: View) -> list[Proposal]:
    """One batch over everything older: tool results, files, repeats, long messages, earlier research."""
    spared = view.pins | view.vetoed("shorten") | {item.id for item in view.newest}
    spared |= {view.question.id} if view.question is not None else set()
    free = [piece for piece in text_parts(view) if piece.item.id not in spared]
    proposals: list[Proposal] = []
    for rule in (_repeats, _old_results, _files, _long_messages):
        taken = {
            (name, int(at)) for made in proposals for name, cut in made.data["parts"].items() for at in cut
        }
        proposals += rule(view, [piece for piece in free if piece.key not in taken])
    return [*proposals, *shrink_files(view), *shrink_research(view), *drop_quotes(view)]


def _repeats(view: View, free: Sequence[TextPart]) -> list[Proposal]:
    """Of the same words, and of the results of the same call, only the newest stays."""
    may = {piece.key for piece in free}
    asked = _call_texts(view)
    seen: set[str] = set()
    again: list[TextPart] = []
    for piece in reversed(text_parts(view)):
        if len(piece.now) < REPEAT:
            continue
        names = {piece.original, asked.get(id(piece.part), piece.original)}
        if names & seen and piece.key in may:
            again.append(piece)
        seen |= names
    again.reverse()
    return propose_cuts(view, again, "repeat", 0, lambda text, _, count: marker(count(text)), REPEAT)


def _old_results(view: View, free: Sequence[TextPart]) -> list[Proposal]:
    kept = {piece.key for piece in text_parts(view, ToolResult)[-RESULTS_KEPT:]}
    old = [piece for piece in free if isinstance(piece.part, ToolResult) and piece.key not in kept]
    made = propose_cuts(view, old, "tool_result", RESULT, shorten_result, RESULT)
    cut = {(name, int(at)) for one in made for name, parts in one.data["parts"].items() for at in parts}
    return made + _media(view, [piece for piece in old if piece.key not in cut])


def _media(view: View, old: Sequence[TextPart]) -> list[Proposal]:
    """Screenshots and the like in old results whose text is short."""
    cuts: dict[str, dict[int, str]] = {}
    before = after = 0
    for piece in old:
        if has_media(piece.part) and not piece.now.endswith(_NO_MEDIA):
            # What stands there now may be shorter than what came in.
            text = f"{piece.now}{_NO_MEDIA}"
            cuts.setdefault(piece.item.id, {})[piece.at] = text
            before += view.tokens(Message("tool", (piece.part,)))
            after += view.text_tokens(text)
    return (
        [Proposal("shorten", "tool_result", tuple(cuts), before, after, data=as_json(cuts))] if cuts else []
    )


def _files(view: View, free: Sequence[TextPart]) -> list[Proposal]:
    talk = " ".join(shown.message.text for shown in view.shown[-MENTIONED_IN:])
    old = [piece for piece in free if isinstance(piece.part, File) and piece.part.name not in talk]
    return propose_cuts(view, old, "file", FILE, partial(digest_file, view), FILE)


def digest_file(view: View, text: str, limit: int, count: Callable[[str], int]) -> str:
    """What a file comes to; a large one may take a tenth of what it took."""
    name, _, body = text.partition("\n")
    digest = f"{name}\n{view.draft.digest(name, body)}" if view.draft.digest else text
    return shorten(digest, max(limit, count(text) // 10), count)


def _long_messages(view: View, free: Sequence[TextPart]) -> list[Proposal]:
    """The answer that is being replied to stays whole: the question is about it."""
    ids = [shown.item.id for shown in view.shown]
    asked = ids.index(view.question.id) if view.question is not None else len(ids)
    replied_to = set(ids[max(0, asked - 1) : asked])
    long = [piece for piece in free if isinstance(piece.part, Text) and piece.item.id not in replied_to]
    return propose_cuts(view, long, "long", LONG_LEFT, shorten, LONG)


def propose_cuts(
    view: View, pieces: Iterable[TextPart], rule: str, limit: int, how: Shortener, over: int
) -> list[Proposal]:
    """One decision for all of these pieces that have more than `over` tokens and get smaller by a tenth."""
    cuts: dict[str, dict[int, str]] = {}
    before = after = 0
    for piece in pieces:
        # A token is a byte at least, so most texts need not be counted.
        if len(piece.now) * 4 <= over or len(piece.now.encode("utf-8", "replace")) <= over:
            continue
        tokens = view.text_tokens(piece.now)
        if tokens <= over:
            continue
        short = how(piece.original, limit, view.text_tokens)
        if rule != "entry" and has_media(piece.part):
            short += _NO_MEDIA
        left = view.text_tokens(short)
        if left < tokens * WORTH:
            cuts.setdefault(piece.item.id, {})[piece.at] = short
            before, after = before + tokens, after + left
    return [Proposal("shorten", rule, tuple(cuts), before, after, data=as_json(cuts))] if cuts else []


def text_parts(view: View, *kinds: type) -> list[TextPart]:
    """The texts in the window that could be shortened, in order."""
    cuts = view.rendered.cuts
    found = []
    for shown in view.shown:
        cut = cuts.get(shown.item.id, {})
        # A piece of thinking without its end would take the answer behind it along, later.
        for at, part in enumerate(spoken(shown.item.message).parts):
            if kinds and not isinstance(part, kinds):
                continue
            now = cut[at].text if at in cut else text_of(part)
            if now is not None:
                found.append(TextPart(shown.item, at, part, now))
    return found


def text_of(part: Part) -> str | None:
    """The text of a part that could be shortened; None for what is no text."""
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
    """Whether a part is, or brings along, something that is no text."""
    if isinstance(part, ToolResult):
        return any(not isinstance(inner, Text) for inner in part.parts)
    return isinstance(part, Image | File | Opaque) and text_of(part) is None


def media_placeholder(part: Part) -> str:
    """What is said in the place of media."""
    return f"{part.text}{_NO_MEDIA}" if isinstance(part, ToolResult) else _NO_MEDIA


def _call_texts(view: View) -> dict[int, str]:
    """For each result, what had been asked of the tool."""
    messages = [shown.item.message for shown in view.shown]
    asked: dict[int, str] = {}
    for at, message in enumerate(messages):
        if message.tool_calls:
            end = at + 1
            while end < len(messages) and messages[end].tool_results:
                end += 1
            for result, call in match_results(message, messages[at + 1 : end]):
                if call is not None:
                    asked[id(result)] = f"{call.name} {call.arguments}"
    return asked


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
