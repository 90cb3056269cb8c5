"""Fits a draft into its window: which levels work, in which order, and when it is enough.

Pure: the same draft gives the same window, and fitting it again under its own decisions changes nothing.

The last resort works without a model until the request fits: the oldest messages go first, then texts are
cut, the least needed kind first. Pins and vetoes yield in the end. Only tools that are too large by
themselves cannot be handled.
"""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate

from holdfast.errors import Overflow
from holdfast.i18n import lazy
from holdfast.messages import File, Message, Text, Thinking, ToolCall, ToolResult
from holdfast.thinking import spoken
from holdfast.tokens.budget import NEVER, largest_fitting
from holdfast.tokens.estimate import Estimate
from holdfast.window.decisions import LAST, Addition, LeaveOut, Proposal, Replace, Shorten, level_of
from holdfast.window.items import Unit, units_of
from holdfast.window.levels import (
    Shortener,
    has_media,
    leave_out,
    media_placeholder,
    propose_leaving_out,
    shorten_at_entry,
    shorten_older,
    text_of,
)
from holdfast.window.shorten import cut_middle, shorten_result
from holdfast.window.view import NO_FEATURES, Draft, View

# A level works again only after history has grown by this share since it last did.
GROWTH = 0.10
# The least share of history that a batch must free to be worth the lost prefix; level 1 alone must free more,
# and end this far below its threshold.
LEAST_FREED, FREED_ALONE, WELL_BELOW = 0.10, 0.20, 0.80
# In a tool loop a summary is due at the same mark: a batch that frees less than this share only puts it off.
FREED_IN_LOOP = 0.30

STRATEGIES = {0: "entry", 1: "prune", 2: "relevance", 3: "summary", LAST: "last"}


@dataclass(frozen=True, slots=True)
class Batch:
    """What one level did for one window."""

    level: int
    strategy: str
    proposals: tuple[Proposal, ...]
    tokens_before: int
    tokens_after: int

    @property
    def messages(self) -> int:
        return len({name for proposal in self.proposals for name in proposal.messages})


@dataclass(frozen=True, slots=True)
class FittedWindow:
    """A window, and the decisions that were needed for it."""

    view: View
    batches: tuple[Batch, ...]
    fired: dict[int, int]
    # The view before the last resort took something out; None if it was not needed.
    whole: View | None = None

    def before_last_resort(self) -> "FittedWindow":
        """The window as the levels left it: too large, if the last resort was needed."""
        batches = tuple(batch for batch in self.batches if batch.level != LAST)
        return self if self.whole is None else FittedWindow(self.whole, batches, self.fired)

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.view.messages

    @property
    def total(self) -> Estimate:
        return self.view.total

    @property
    def level(self) -> int:
        """The highest level that had an effect on this window."""
        names = {shown.item.id for shown in self.view.shown} | self.view.rendered.out.keys()
        return level_of(
            decision
            for decision in self.view.decisions
            if names.intersection(decision.messages)
            or not decision.messages
            or decision.id == self.view.rendered.summarised
        )


def fit(
    draft: Draft,
    proposals: Iterable[Proposal] = (),
    *,
    levels: bool = True,
    every_turn: bool = False,
    at_least: int = 0,
) -> FittedWindow:
    """Fit a draft, with what is proposed already. Without `levels` only the last resort may work."""
    return fit_view(View(draft, proposals), levels=levels, every_turn=every_turn, at_least=at_least)


def fit_view(view: View, *, levels: bool = True, every_turn: bool = False, at_least: int = 0) -> FittedWindow:
    """Fit a view.

    `at_least` is a level that must work whatever the numbers say, because a server refused the request; with
    `every_turn` old text is shortened on every turn.
    """
    batches: list[Batch] = []
    due: set[int] = set()
    if levels:
        view, batches = _apply_level(view, [], 0, shorten_at_entry)
        due = {level for level, mark in _marks(view) if level <= at_least or _is_due(view, level, mark)}
        if every_turn:
            due.add(1)
        view, batches = _apply_batch(view, batches, due, forced=every_turn or at_least > 0)
    whole = None
    if not view.fits:
        whole = view
        before, known = view.total.high, len(view.proposals)
        view = last_resort(view).because(known, f"the request had {before:,} of {view.room:,} tokens")
        if proposals := view.proposals[known:]:
            batches.append(Batch(LAST, STRATEGIES[LAST], proposals, before, view.total.high))
    # What another level or an edit removed need not grow back before a level may work again. A negative
    # number says that the level was undone: from here on history has to grow.
    fired = {
        level: view.history if tokens < 0 else min(tokens, view.history)
        for level, tokens in view.draft.fired.items()
    }
    return FittedWindow(view, tuple(batches), fired | dict.fromkeys(due, view.history), whole)


def _apply_batch(
    view: View, batches: list[Batch], due: set[int], *, forced: bool
) -> tuple[View, list[Batch]]:
    """Apply levels 1 and 2 together, if that is worth the lost prefix."""
    if not due:
        return view, batches
    marks = dict(_marks(view))
    low = int(min(marks.values()) * WELL_BELOW)
    after, longer = view, batches
    if 1 in due or marks[1] < NEVER:
        # Shortening comes first where a preset has it: less has to be left out then.
        after, longer = _apply_level(after, longer, 1, shorten_older)
    if 2 in due and (forced or after.history > low):
        after, longer = _apply_level(after, longer, 2, leave_out)
    share = LEAST_FREED if 2 in due else FREED_ALONE
    if view.in_loop and view.history >= view.thresholds.summarise:
        share = FREED_IN_LOOP
    enough = view.history - int(view.thresholds.full * share)
    if 2 not in due:
        # Alone, level 1 must free much and end well below its threshold, or it would soon be due again.
        enough = min(low, enough)
    return (after, longer) if forced or after.history <= enough else (view, batches)


def _apply_level(
    view: View, batches: list[Batch], level: int, propose: Callable[[View], list[Proposal]]
) -> tuple[View, list[Batch]]:
    reason = f"history had {view.history:,} of {view.thresholds.full:,} tokens"
    proposals = tuple(replace(proposal, reason=reason) for proposal in propose(view))
    if not proposals:
        return view, batches
    after = view.having(*proposals)
    return after, [*batches, Batch(level, STRATEGIES[level], proposals, view.total.high, after.total.high)]


def _marks(view: View) -> tuple[tuple[int, int], ...]:
    return (1, view.thresholds.prune), (2, view.thresholds.leave_out)


def _is_due(view: View, level: int, threshold: int) -> bool:
    if view.history < threshold:
        return False
    last = view.draft.fired.get(level)
    return last is None or (last >= 0 and view.history >= last + view.thresholds.full * GROWTH)


# History is reduced to this share, so that the next turn does not need the last resort again.
TARGET = 0.65
# A text is not cut below this while anything else can be cut; below it, it is removed.
_LEAST = 32

# Sections that are cut rather than removed, and in which order.
_SPARED = {"research": 1, "files": 2}

Step = Callable[[View], View]


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of text that can be cut, and the function that does it."""

    parts: tuple[type, ...]
    cut: Shortener


def last_resort(view: View) -> View:
    """Return the view with as much removed as needed; raises Overflow if even that is not enough."""
    alone = view.draft.gauge.estimate(view.draft.gauge.tool_features(view.draft.tools)).tokens
    if view.draft.tools and alone + 2 * _LEAST > view.room:
        raise overflow(view, alone, lazy("the tools alone"))
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
    # Estimates are rough before the first answers: what probably fits is not refused.
    if view.total.tokens > view.room:
        raise overflow(view, view.total.tokens, lazy("what cannot be left out"))
    return view


def overflow(view: View, tokens: int, subject: str) -> Overflow:
    """Return the error for a request that cannot fit."""
    budget, tools = view.draft.budget, len(view.draft.tools)
    larger = lazy("Give the model a larger window: holdfast models set MODEL --num-ctx N.")
    fewer = lazy(
        "Send fewer or smaller tools than these {tools}, or give the model a larger window:"
        " holdfast models set MODEL --num-ctx N.",
        tools=tools,
    )
    return Overflow(
        lazy(
            "{subject}: about {tokens:,} tokens, and the window has {room:,} for a request "
            "({window:,}, less {reserve:,} for the answer)",
            subject=subject,
            tokens=tokens,
            room=view.room,
            window=budget.window,
            reserve=budget.reserve,
        ),
        hint=fewer if tools else larger,
        prompt_tokens=tokens,
        window=budget.window,
    )


# Leaving out


def _leave_out_oldest(view: View) -> View:
    """Leave out the oldest units; pinned and vetoed ones only if the others are not enough."""
    newest = {item.id for item in view.newest}
    if view.question is not None:
        newest.add(view.question.id)
    units = units_of([shown.item for shown in view.shown])
    free = [unit for unit in units if not unit.has(newest)]
    protected = view.pins | view.list_vetoes("leave_out")
    held = {unit.exchange for unit in free if unit.has(protected)}
    spared = [unit for unit in free if unit.has(protected) or (unit.is_frame and unit.exchange in held)]
    ordinary = [unit for unit in free if unit not in spared]
    gone = _enough(view, ordinary, view.fixed_cost.high + int(view.thresholds.full * TARGET))
    if len(gone) == len(ordinary) and spared:
        gone += _enough(view, spared, view.room, already=gone)
    frames = {unit.exchange for unit in gone if unit.is_frame}
    whole = [unit for unit in free if unit in gone or (unit.exchange in frames and not unit.is_frame)]
    return view.having(propose_leaving_out(view, whole, "last")) if whole else view


def _enough(view: View, units: Sequence[Unit], target: int, already: Sequence[Unit] = ()) -> list[Unit]:
    """Return the first of these units, as many as must go for the others to reach the target."""
    parts = {shown.item.id: view.parts(shown.message) for shown in view.shown}
    gone = {item.id for unit in (*already, *units) for item in unit.items}
    others = (features for name, features in parts.items() if name not in gone)
    costs = (sum((parts[item.id] for item in unit.items), NO_FEATURES) for unit in reversed(units))
    # staying[k] is the request with the last k of the units in it.
    staying = list(accumulate(costs, initial=sum(others, view.frame)))
    number = largest_fitting(len(units), lambda last: view.draft.gauge.estimate(staying[last]).high <= target)
    return list(units[: len(units) - number])


def _drop_newest_results(view: View) -> View:
    """Leave out the oldest of many new results; rendering removes the calls they answered."""
    results = [item for item in view.newest if item.message.tool_results]
    if len(results) < 2:
        return view

    def with_newest(number: int) -> View:
        gone = results[: len(results) - number]
        tokens = sum(view.tokens(item.message) for item in gone)
        return view.having(LeaveOut("last", tuple(item.id for item in gone), tokens, 0))

    return with_newest(largest_fitting(len(results) - 1, lambda number: with_newest(number).fits, least=1))


def _cut_summary(view: View) -> View:
    """Cut the summary, before the rules of messages that are out are removed."""
    summary = view.rendered.summary
    if not summary:
        return view
    tokens = view.text_tokens(summary)

    def with_limit(limit: int) -> View:
        text = cut_middle(summary, limit, view.text_tokens) if limit >= _LEAST else ""
        return view.having(LeaveOut("last", (), tokens, min(limit, tokens), text=text))

    return _apply_largest(0, tokens, with_limit)


def _drop_sentences(view: View) -> View:
    """Remove the rules and decisions of messages that are out, and after them the prohibitions."""
    tokens = sum(view.text_tokens(sentence) for _, sentence in (*view.rules, *view.agreed))
    if view.rules or view.agreed:
        view = view.having(LeaveOut("last", (), tokens, 0, rules=(), agreed=()))
    if view.forbidden and not view.fits:
        tokens = sum(view.text_tokens(sentence) for _, sentence in view.forbidden)
        view = view.having(LeaveOut("last", (), tokens, 0, forbidden=()))
    return view


# Cutting


def _cut_additions(view: View) -> View:
    """Remove quotes, and cut sources and files to what is left.

    A file is replaced by its digest first.
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
    return view.having(Replace("last", (name,), tokens, min(limit, tokens), {addition.decision: text}))


def _apply_largest(least: int, most: int, apply: Callable[[int], View]) -> View:
    """Return the view with the largest limit below `most` that fits, to about a hundredth, else the least."""
    limits = [least]
    while (following := limits[-1] + 1 + limits[-1] // 128) < most:
        limits.append(following)
    views: dict[int, View] = {}

    def fits(number: int) -> bool:
        views[number] = apply(limits[number])
        return views[number].fits

    number = largest_fitting(len(limits) - 1, fits)
    return views[number] if number in views else apply(limits[number])


def _drop_thinking(view: View) -> View:
    """Remove all thinking, also that of the current turn."""
    thoughts = {
        shown.item.id: _thoughts(shown.item.message, view.rendered.cuts.get(shown.item.id, {}))
        for shown in view.shown
        if shown.message.thinking or spoken(shown.message) is not shown.message
    }
    return view.having(Shorten("last", tuple(thoughts), 0, 0, thoughts)) if thoughts else view


def _thoughts(message: Message, cuts: Collection[int]) -> dict[int, str]:
    """Return the parts of a message that hold thinking, each with its text without that.

    Parts that were cut before have none.
    """
    pairs = enumerate(zip(message.parts, spoken(message).parts, strict=True))
    return {
        at: plain.text if isinstance(plain, Text) else ""
        for at, (part, plain) in pairs
        if at not in cuts and (isinstance(part, Thinking) or part != plain)
    }


def _drop_media(view: View) -> View:
    """Remove images and other attachments, the oldest first, until it fits."""
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
        view = view.having(Shorten("last", (name,), 0, 0, {name: {at: media_placeholder(part)}}))
    return view


def shorten_arguments(text: str, limit: int, count: Callable[[str], int]) -> str:
    """Shorten arguments so that they are still JSON: a template refuses the whole request otherwise."""
    short = shorten_result(text, limit, count)
    try:
        json.loads(short)
    except (ValueError, RecursionError):
        return "{}"
    return short


_RESULTS = _Kind((ToolResult,), shorten_result)
_CALLS = _Kind((ToolCall,), shorten_arguments)
_FILES = _Kind((File,), cut_middle)
_WORDS = _Kind((Text,), cut_middle)


def _cut_texts(view: View, *, kind: _Kind, least: int) -> View:
    """Cut all texts of this kind to one limit: the largest with which the request fits."""
    cuts = view.rendered.cuts
    texts: dict[tuple[str, int], str] = {}
    for shown in view.shown:
        cut = cuts.get(shown.item.id, {})
        for at, part in enumerate(spoken(shown.item.message).parts):
            if isinstance(part, kind.parts):
                full = part.arguments if isinstance(part, ToolCall) else text_of(part) or ""
                texts[shown.item.id, at] = cut[at].text if at in cut else full
    sizes = {key: view.text_tokens(text) for key, text in texts.items() if text}
    most = max(sizes.values(), default=0)
    if most <= least:
        return view

    def with_limit(limit: int) -> View:
        parts: dict[str, dict[int, str]] = {}
        before = after = 0
        for (name, at), size in sizes.items():
            if size > limit:
                parts.setdefault(name, {})[at] = kind.cut(texts[name, at], limit, view.text_tokens)
                before, after = before + size, after + limit
        return view.having(Shorten("last", tuple(parts), before, after, parts))

    return _apply_largest(least, most, with_limit)


def _cut_system(view: View, *, least: int) -> View:
    """Cut the middle of the instructions, before a request is refused."""
    for message in view.draft.system:
        if view.fits:
            break
        tokens = view.text_tokens(view.rendered.system.get(message.digest, message.text))
        if tokens > least:
            view = _apply_largest(least, tokens, partial(_with_short, view, message, tokens))
    return view


def _with_short(view: View, message: Message, tokens: int, limit: int) -> View:
    short = cut_middle(message.text, limit, view.text_tokens)
    return view.having(Shorten("last", (), tokens, limit, system={message.digest: short}))
