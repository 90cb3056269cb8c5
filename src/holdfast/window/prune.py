"""Shortening without a model: what is too large when it comes in, and one batch over everything older.

Each function looks at a view and proposes decisions. When they are asked is decided in `fit`.
"""

import base64
import binascii
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from holdfast.messages import File, Image, Message, Opaque, Part, Text, ToolResult
from holdfast.thinking import spoken
from holdfast.window.brought import MENTIONED_IN, WORTH, drop_quotes, shrink_files, shrink_research
from holdfast.window.decisions import Proposal, as_json
from holdfast.window.items import Item, match_results
from holdfast.window.shorten import marker, shorten, shorten_result
from holdfast.window.view import View

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
