"""The last resort: shortens until it fits, whatever came in, and without asking anybody.

First the oldest goes, then what is left is cut, the least needed kind of text first. Pins and vetoes give way
in the end. Only when the tools alone are too large is there nothing to be done.
"""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate

from holdfast.errors import Overflow
from holdfast.messages import File, Message, Part, Text, Thinking, ToolCall, ToolResult
from holdfast.thinking import spoken
from holdfast.tokens.calibration import PromptFeatures
from holdfast.window.decisions import Addition, Proposal, as_json
from holdfast.window.items import Item, Unit, units_of
from holdfast.window.levels import Shortener, has_media, media_placeholder, propose_leaving_out, text_of
from holdfast.window.shorten import cut_middle, shorten_result
from holdfast.window.view import View

# When history is the trouble it goes down to this share, so that the next turn does not come here again.
TARGET = 0.65
# A text is not cut to less than this while anything else can be; below it, it goes altogether.
_LEAST = 32

# What is cut rather than taken out, and in which order.
_SPARED = {"research": 1, "files": 2}

Step = Callable[[View], View]


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of text that can be cut, and how."""

    parts: tuple[type, ...]
    cut: Shortener


def last_resort(view: View) -> View:
    """The view with as much taken out as it takes; Overflow if even that is not enough."""
    _check_tools(view)
    quarter = view.room // 4
    steps: tuple[Step, ...] = (
        _leave_out_oldest,
        _cut_additions,
        _drop_thinking,
        _drop_media,
        *(partial(_cut_texts, kind=kind, least=_LEAST) for kind in (_RESULTS, _CALLS, _FILES)),
        _drop_newest_results,
        partial(_cut_texts, kind=_WORDS, least=quarter),
        _cut_summary,
        _drop_sentences,
        partial(_cut_system, least=quarter),
        partial(_cut_texts, kind=_WORDS, least=_LEAST),
        partial(_cut_system, least=_LEAST),
    )
    for step in steps:
        if view.fits:
            return view
        view = step(view)
    # Before the first answers much is only guessed: what probably fits is not refused for a doubt.
    if view.total.tokens > view.room:
        raise _too_large(view, view.total.tokens, "what cannot be left out takes")
    return view


def _check_tools(view: View) -> None:
    alone = view.draft.gauge.estimate(view.draft.gauge.tool_features(view.draft.tools)).tokens
    if view.draft.tools and alone + 2 * _LEAST > view.room:
        raise _too_large(view, alone, "the tools alone take")


def _too_large(view: View, tokens: int, what: str) -> Overflow:
    budget, tools = view.draft.budget, len(view.draft.tools)
    fewer = f"Send fewer or smaller tools than these {tools}, or give" if tools else "Give"
    return Overflow(
        f"{what} about {tokens:,} tokens, and the window has {view.room:,} for a request"
        f" ({budget.window:,}, less {budget.reserve:,} for the answer)",
        hint=f"{fewer} the model a larger window: holdfast models set MODEL --num-ctx N.",
        prompt_tokens=tokens,
        window=budget.window,
    )


# Leaving out


def _leave_out_oldest(view: View) -> View:
    """The oldest units go; pinned and vetoed ones only if all the others were not enough."""
    newest = {item.id for item in view.newest}
    if view.question is not None:
        newest.add(view.question.id)
    units = units_of([shown.item for shown in view.shown])
    free = [unit for unit in units if not unit.has(newest)]
    protected = view.pins | view.vetoed("leave_out")
    held = {unit.exchange for unit in free if unit.has(protected)}
    spared = [unit for unit in free if unit.has(protected) or (unit.is_frame and unit.exchange in held)]
    ordinary = [unit for unit in free if unit not in spared]
    gone = _enough(view, ordinary, view.fixed.high + int(view.thresholds.full * TARGET))
    if len(gone) == len(ordinary) and spared:
        gone += _enough(view, spared, view.room, already=gone)
    frames = {unit.exchange for unit in gone if unit.is_frame}
    whole = [unit for unit in free if unit in gone or (unit.exchange in frames and not unit.is_frame)]
    return view.having(*propose_leaving_out(view, whole, "last")) if whole else view


def _enough(view: View, units: Sequence[Unit], target: int, already: Sequence[Unit] = ()) -> list[Unit]:
    """The first of these units, as many as must go for the rest to reach the target."""
    parts = {shown.item.id: view.parts(shown.message) for shown in view.shown}
    gone = {item.id for unit in (*already, *units) for item in unit.items}
    rest = _sum(cost for name, cost in parts.items() if name not in gone)
    costs = [_sum(parts[item.id] for item in unit.items) for unit in reversed(units)]
    # staying[k] is the request with the last k of the units in it.
    staying = list(accumulate(costs, initial=view.frame + rest))
    low, high = 0, len(units)
    while low < high:
        middle = (low + high + 1) // 2
        if view.draft.gauge.estimate(staying[middle]).high <= target:
            low = middle
        else:
            high = middle - 1
    return list(units[: len(units) - low])


def _sum(parts: Iterable[PromptFeatures]) -> PromptFeatures:
    return sum(parts, PromptFeatures(text=0, messages=0))


def _drop_newest_results(view: View) -> View:
    """Of a hundred results at once the oldest go; rendering takes out the calls they answered."""
    results = [item for item in view.newest if item.message.tool_results]
    low, high = 1, len(results) - 1
    if high < low:
        return view
    while low < high:
        middle = (low + high) // 2
        if view.having(_leave_out_items(view, results[:middle])).fits:
            high = middle
        else:
            low = middle + 1
    return view.having(_leave_out_items(view, results[:low]))


def _leave_out_items(view: View, gone: Sequence[Item]) -> Proposal:
    tokens = sum(view.tokens(item.message) for item in gone)
    return Proposal("leave_out", "last", tuple(item.id for item in gone), tokens, 0)


def _cut_summary(view: View) -> View:
    """What stands for messages that are gone is cut before the rules in them go."""
    if not view.rendered.summary:
        return view
    tokens = view.text_tokens(view.rendered.summary)
    return _apply_largest(0, tokens, partial(_with_less_summary, view, tokens))


def _with_less_summary(view: View, tokens: int, limit: int) -> View:
    text = cut_middle(view.rendered.summary, limit, view.text_tokens) if limit >= _LEAST else ""
    return view.having(Proposal("leave_out", "last", (), tokens, min(limit, tokens), data={"text": text}))


def _drop_sentences(view: View) -> View:
    """Rules and decisions of messages that are gone; what is forbidden goes after them."""
    for names in (("rules", "agreed"), ("forbidden",)):
        carried = [said for name in names for _, said in getattr(view, name)]
        if carried and not view.fits:
            tokens = sum(map(view.text_tokens, carried))
            data: dict[str, object] = {name: [] for name in names}
            view = view.having(Proposal("leave_out", "last", (), tokens, 0, data=data))
    return view


# Cutting


def _cut_additions(view: View) -> View:
    """What was brought in beside the conversation: recalled text goes, sources are cut to what is left.

    So are files of which even the digest is too much.
    """
    added = [(shown.item.id, addition) for shown in view.shown for addition in shown.additions]
    for name, addition in sorted(added, key=lambda pair: _SPARED.get(pair[1].section, 0)):
        if view.fits:
            break
        tokens = view.text_tokens(addition.text)
        if addition.section == "files" and addition.short:
            addition = replace(addition, text=addition.short, short="")
            view = _with_less(view, name, addition, tokens, tokens)
            if view.fits:
                break
        most = view.text_tokens(addition.text) if addition.section in _SPARED else 0
        view = _apply_largest(0, most, partial(_with_less, view, name, addition, tokens))
    return view


def _with_less(view: View, name: str, addition: Addition, tokens: int, limit: int) -> View:
    text = cut_middle(addition.text, limit, view.text_tokens) if limit >= _LEAST else ""
    data = {"instead": {addition.decision: text}}
    return view.having(Proposal("replace", "last", (name,), tokens, min(limit, tokens), data=data))


def _apply_largest(least: int, most: int, made: Callable[[int], View]) -> View:
    """What is made with the largest limit that fits, to about a hundredth; with the least if none does."""
    best, low, high = None, least, most - 1
    while low <= high:
        middle = (low + high) // 2
        tried = made(middle)
        if tried.fits:
            best, low = tried, middle + 1 + middle // 128
        else:
            high = middle - 1
    return best or made(least)


def _drop_thinking(view: View) -> View:
    """What was thought goes, also that of the turn that is not over yet."""
    thoughts = {
        shown.item.id: _thoughts(shown.item.message, view.rendered.cuts.get(shown.item.id, {}))
        for shown in view.shown
        if shown.message.thinking or spoken(shown.message) is not shown.message
    }
    if not thoughts:
        return view
    return view.having(Proposal("shorten", "last", tuple(thoughts), 0, 0, data=as_json(thoughts)))


def _thoughts(message: Message, cuts: Collection[int]) -> dict[int, str]:
    """The parts of a message in which something was thought, each with what stands there without it.

    What was cut before has none of it any more.
    """
    pairs = enumerate(zip(message.parts, spoken(message).parts, strict=True))
    return {
        at: said.text if isinstance(said, Text) else ""
        for at, (part, said) in pairs
        if at not in cuts and (isinstance(part, Thinking) or part != said)
    }


def _drop_media(view: View) -> View:
    """Pictures and other attachments go, the oldest first, until it fits."""
    cuts = view.rendered.cuts
    media = [
        (shown.item.id, at, part)
        for shown in view.shown
        for at, part in enumerate(shown.item.message.parts)
        if has_media(part) and at not in cuts.get(shown.item.id, {})
    ]
    for name, at, part in media:
        if view.fits:
            break
        data = as_json({name: {at: media_placeholder(part)}})
        view = view.having(Proposal("shorten", "last", (name,), 0, 0, data=data))
    return view


def _arguments(text: str, limit: int, count: Callable[[str], int]) -> str:
    """Arguments that are still JSON: a template that cannot read them refuses the whole request."""
    short = shorten_result(text, limit, count)
    try:
        json.loads(short)
    except ValueError:
        return "{}"
    return short


_RESULTS = _Kind((ToolResult,), shorten_result)
_CALLS = _Kind((ToolCall,), _arguments)
_FILES = _Kind((File,), cut_middle)
_WORDS = _Kind((Text,), cut_middle)


def _cut_texts(view: View, *, kind: _Kind, least: int) -> View:
    """Every text of this kind down to one limit: the largest with which it all fits."""
    cuts = view.rendered.cuts
    texts: dict[tuple[str, int], str] = {}
    for shown in view.shown:
        cut = cuts.get(shown.item.id, {})
        for at, part in enumerate(spoken(shown.item.message).parts):
            if isinstance(part, kind.parts):
                texts[shown.item.id, at] = cut[at].text if at in cut else _cuttable(part)
    sizes = {key: view.text_tokens(text) for key, text in texts.items() if text}
    most = max(sizes.values(), default=0)
    if most <= least:
        return view

    def made(limit: int) -> View:
        parts: dict[str, dict[int, str]] = {}
        before = after = 0
        for (name, at), size in sizes.items():
            if size > limit:
                parts.setdefault(name, {})[at] = kind.cut(texts[name, at], limit, view.text_tokens)
                before, after = before + size, after + limit
        return view.having(Proposal("shorten", "last", tuple(parts), before, after, data=as_json(parts)))

    return _apply_largest(least, most, made)


def _cuttable(part: Part) -> str:
    return part.arguments if isinstance(part, ToolCall) else text_of(part) or ""


def _cut_system(view: View, *, least: int) -> View:
    """Even the instructions are cut in the middle before a request is refused."""
    for message in view.draft.system:
        if view.fits:
            break
        tokens = view.text_tokens(view.rendered.system.get(message.digest, message.text))
        if tokens > least:
            view = _apply_largest(least, tokens, partial(_with_short, view, message, tokens))
    return view


def _with_short(view: View, message: Message, tokens: int, limit: int) -> View:
    short = cut_middle(message.text, limit, view.text_tokens)
    data = {"parts": {}, "system": {message.digest: short}}
    return view.having(Proposal("shorten", "last", (), tokens, limit, data=data))
