"""Texts that a client found for a question: all of them where there is room, else those that bear on it most.

Like sources of research they have a share of the window, so that the talk stays. What is missing is counted.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.fitting.researching import READABLE, room_for_sources
from holdfast.messages import canonical
from holdfast.store import new_id
from holdfast.text.excerpts import bearing, excerpts
from holdfast.window.additions import SOURCE_TOKENS, format_sources, propose_addition
from holdfast.window.decisions import Proposal
from holdfast.window.items import Item
from holdfast.window.shorten import marker
from holdfast.window.view import View

# A text with this share of what the best one has to say bears on the question, too.
_BEARS = 0.35


@dataclass(frozen=True, slots=True)
class _Choice:
    """What is shown of each text, by its place; what is not there is left out."""

    shown: dict[int, str]
    left_out: int


def context_for(view: View, question: Item, texts: Sequence[str]) -> list[Proposal]:
    """The decision that puts these texts behind a question; none where that was done before."""
    tag = hashlib.sha256(canonical(list(texts)).encode()).hexdigest()[:16]
    there = (one for shown in view.shown if shown.item is question for one in shown.additions)
    if not texts or any(one.section == "research" and one.tag == tag for one in there):
        return []
    text, cut = _text(view, question, texts, room_for_sources(view))
    # When the talk has gone on, a few lines of it are enough.
    short, _ = _text(view, question, texts, SOURCE_TOKENS)
    more = {"cut": "context_cut"} if cut else {}
    return [propose_addition(view, question, "research", text, new_id("d"), tag=tag, short=short, **more)]


def _text(view: View, question: Item, texts: Sequence[str], room: int) -> tuple[str, bool]:
    """The texts within so many tokens, and whether anything of them is missing."""
    whole = format_sources(question.message, texts)
    if (tokens := view.text_tokens(whole)) <= room:
        return whole, False
    frame = view.text_tokens(format_sources(question.message, [marker(tokens)]))
    choice = _chosen(view, question.message.text, texts, room - frame)
    shown = [text for _, text in sorted(choice.shown.items())]
    return format_sources(question.message, [*shown, marker(choice.left_out)]), True


def _chosen(view: View, asked: str, texts: Sequence[str], room: int) -> _Choice:
    """Whole texts first, those that bear on the question most; passages of what is too long for that."""
    count = view.text_tokens
    # Each is parted from the next by an empty line.
    costs = [count(f"{text}\n\n") for text in texts]
    worth = bearing(asked, texts)
    ranked = sorted(range(len(texts)), key=lambda at: (-worth[at], at))
    about = [at for at in ranked if worth[at] and worth[at] >= _BEARS * worth[ranked[0]]]
    shown: dict[int, str] = {}
    left = room

    def quote(at: int, most: int) -> None:
        nonlocal left
        (text,) = excerpts(asked, [texts[at]], most, count)
        if text:
            shown[at] = text
            left -= count(f"{text}\n\n")

    def show_whole(places: Sequence[int]) -> None:
        nonlocal left
        for at in places:
            if at not in shown and costs[at] <= left:
                shown[at] = texts[at]
                left -= costs[at]

    if costs[ranked[0]] > room:
        # The best of them is not left out because it is long; where it is all there is, it may have all.
        quote(ranked[0], room // 2 if len(about) > 1 else room)
    show_whole(about)
    for at in about:
        if at not in shown and left >= READABLE:
            quote(at, left)
    show_whole(ranked)
    return _Choice(shown, max(1, sum(costs) - (room - left)))
