"""A history under its decisions, measured: what goes out, what each section costs, and whether it fits.

Values in, numbers out. What to do when it does not fit is decided by the levels.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

from holdfast.i18n import without_banners
from holdfast.messages import JsonObject, Message, Part, Text, Thinking, ToolCall, ToolResult
from holdfast.thinking import spoken
from holdfast.tokens.budget import Budget, Thresholds
from holdfast.tokens.calibration import PromptFeatures
from holdfast.tokens.counter import Count
from holdfast.tokens.estimate import Estimate
from holdfast.window.decisions import Addition, AppliedDecisions, Cut, DecisionLike, Proposal
from holdfast.window.items import Item, newest_of, question_of, repair_arguments, repair_pairs
from holdfast.words import language_of


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message of the history as it goes out, and the rules that made it so."""

    item: Item
    message: Message
    rules: tuple[str, ...] = ()
    additions: tuple[Addition, ...] = ()


@dataclass(frozen=True, slots=True)
class RenderedHistory:
    shown: tuple[ShownMessage, ...]
    # The names of messages that are out, each with its rule.
    out: dict[str, str]
    # Sentences of left-out messages that bind what is said from now on, each with its message.
    rules: tuple[tuple[str, str], ...]
    agreed: tuple[tuple[str, str], ...]
    forbidden: tuple[tuple[str, str], ...]
    # By message and part, what stands for it.
    cuts: dict[str, dict[int, Cut]]
    system: dict[str, str]
    summary: str = ""
    summarised: str = ""
    profile: str = ""


def render(items: Sequence[Item], decisions: Iterable[DecisionLike]) -> RenderedHistory:
    applied = AppliedDecisions.of(decisions, items)
    out = applied.left_out(items)
    staying = [item for item in items if item.id not in out]
    question = question_of(staying)
    earlier = question is not None
    drafts: list[ShownMessage] = []
    for item in staying:
        earlier = earlier and item is not question
        drafts.append(_render_item(item, applied, earlier=earlier))
    mended = repair_pairs([draft.message for draft in drafts])
    shown: list[ShownMessage] = []
    for draft, message in zip(drafts, mended, strict=True):
        if message is None:
            out[draft.item.id] = "orphan"
        elif message is draft.message:
            shown.append(draft)
        else:
            shown.append(replace(draft, message=message, rules=(*draft.rules, "orphan")))
    return RenderedHistory(
        tuple(shown),
        out,
        tuple(applied.rules),
        tuple(applied.agreed),
        tuple(applied.forbidden),
        applied.cuts,
        applied.system,
        applied.summary,
        applied.summarised,
        applied.profile,
    )


def _render_item(item: Item, applied: AppliedDecisions, *, earlier: bool) -> ShownMessage:
    message, rules = item.message, []
    if cuts := applied.cuts.get(item.id):
        message = apply_cuts(message, cuts)
        rules += sorted({cut.rule for cut in cuts.values()})
    if message.tool_calls and (mended := repair_arguments(message)) is not message:
        message = mended
        rules.append("unreadable")
    if earlier and (answered := _without_thinking(message)) is not message:
        message = answered
        rules.append("thinking")
    if message.role == "assistant" and "⟦Holdfast: " in message.text:
        message = replace(message, parts=tuple(map(_without_banner, message.parts)))
        rules.append("banner")
    additions = tuple(applied.additions.get(item.id, ()))
    for addition in additions:
        message = append_text(message, addition.text)
    return ShownMessage(item, message, tuple(rules), additions)


def _without_thinking(message: Message) -> Message:
    """The message without what was thought, in parts of its own or in its text."""
    if message.thinking:
        parts = tuple(part for part in message.parts if not isinstance(part, Thinking))
        message = replace(message, parts=parts)
    return spoken(message)


def apply_cuts(message: Message, cuts: dict[int, Cut]) -> Message:
    parts = tuple(_cut_part(part, cuts[at]) if at in cuts else part for at, part in enumerate(message.parts))
    return replace(message, parts=tuple(part for part in parts if part is not None))


def _cut_part(part: Part, cut: Cut) -> Part | None:
    """What stands for a part: a tool call keeps its name, a result the call it belongs to."""
    text = cut.text
    match part:
        case ToolResult():
            # What comes in too large is text; a picture beside it is new, and somebody is to look at it.
            media = (
                [inner for inner in part.parts if not isinstance(inner, Text)] if cut.rule == "entry" else []
            )
            return replace(part, parts=((Text(text),) if text else ()) + tuple(media))
        case ToolCall():
            return replace(part, arguments=text)
        case Text():
            return replace(part, text=text)
    return Text(text) if text else None


def append_text(message: Message, text: str) -> Message:
    """The message with a text at its end, in its last text where it has one: strict servers want a string."""
    for at in range(len(message.parts) - 1, -1, -1):
        part = message.parts[at]
        if isinstance(part, Text):
            longer = replace(part, text=f"{part.text}\n\n{text}" if part.text else text)
            return replace(message, parts=(*message.parts[:at], longer, *message.parts[at + 1 :]))
    form = "text" if message.form in ("null", "absent") else message.form
    return replace(message, parts=(*message.parts, Text(text)), form=form)


def _without_banner(part: Part) -> Part:
    return replace(part, text=without_banners(part.text)) if isinstance(part, Text) else part


_NOTHING = PromptFeatures(text=0, messages=0)
_HEADINGS = {
    "forbidden": {
        "en": "Must not, as said earlier in this conversation:",
        "de": "Nicht tun, wie weiter oben gesagt:",
    },
    "rules": {"en": "Rules given earlier in this conversation:", "de": "Regeln von weiter oben im Gespräch:"},
    "agreed": {"en": "Decided earlier in this conversation:", "de": "Weiter oben im Gespräch entschieden:"},
}


class Gauge(Protocol):
    """What counts for one model; the counters of `tokens` do."""

    def count_text(self, text: str) -> Count: ...
    def message_features(self, message: Message) -> PromptFeatures: ...
    def tool_features(self, tools: Sequence[JsonObject]) -> PromptFeatures: ...
    def estimate(self, parts: PromptFeatures) -> Estimate: ...
    def predict(self, parts: PromptFeatures) -> float: ...


@dataclass(frozen=True, slots=True)
class Draft:
    """Everything a window is made of.

    `decisions` hold, `vetoes` were undone by somebody; `pins` are protected messages. `seen` names what was
    sent before, and `fired` says how many tokens history had when a level last did something. `nearness` is
    how close messages are to the question by their meaning, where that is known; `notes` are what findings
    come to by now, by their names, and `digest` makes less of a file's name and text.
    """

    items: tuple[Item, ...]
    budget: Budget
    gauge: Gauge
    system: tuple[Message, ...] = ()
    tools: tuple[JsonObject, ...] = ()
    decisions: tuple[DecisionLike, ...] = ()
    vetoes: tuple[DecisionLike, ...] = ()
    pins: frozenset[str] = frozenset()
    # Sentences that bind what is said later, by the message they stand in.
    rules: Mapping[str, Sequence[str]] = field(default_factory=dict)
    agreed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    forbidden: Mapping[str, Sequence[str]] = field(default_factory=dict)
    seen: frozenset[str] = frozenset()
    fired: Mapping[int, int] = field(default_factory=dict)
    nearness: Mapping[str, float] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    digest: Callable[[str, str], str] | None = None


class View:
    """A draft with the proposals that were made so far. Making another one costs what is new in it."""

    def __init__(
        self,
        draft: Draft,
        proposals: Iterable[Proposal] = (),
        measured: dict[int, tuple[Message, PromptFeatures]] | None = None,
    ) -> None:
        self.draft = draft
        self.proposals = tuple(proposals)
        # By identity, because rendering hands an untouched message through as it is.
        self._measured = {} if measured is None else measured
        self.rendered: RenderedHistory = render(draft.items, self.decisions)
        # A sentence holds as long as its message is on the way: an edited one takes its rules along.
        self.rules = _sentences(self.rendered.rules, draft.rules)
        self.agreed = _sentences(self.rendered.agreed, draft.agreed)
        self.forbidden = _sentences(self.rendered.forbidden, draft.forbidden)
        summary = block(self.rendered.summary, self.rules, self.agreed, self.forbidden)
        told = (self.rendered.profile, summary)
        system = _shorten_system(draft.system, self.rendered.system)
        self.system = with_block(system, "\n\n".join(filter(None, told)))
        self.newest = newest_of([shown.item for shown in self.shown])
        self.question = question_of([shown.item for shown in self.shown])

    def having(self, *proposals: Proposal) -> "View":
        return View(self.draft, (*self.proposals, *proposals), self._measured)

    def knowing(
        self, *, nearness: Mapping[str, float] | None = None, notes: Mapping[str, str] | None = None
    ) -> "View":
        """The same, with what is known of how close messages are, or of what findings come to."""
        draft = self.draft
        draft = replace(
            draft,
            nearness=draft.nearness if nearness is None else nearness,
            notes=draft.notes if notes is None else notes,
        )
        return View(draft, self.proposals, self._measured)

    def because(self, start: int, reason: str) -> "View":
        """The same, with a reason given for the proposals from `start` on."""
        proposals = [
            *self.proposals[:start],
            *(replace(one, reason=reason) for one in self.proposals[start:]),
        ]
        return View(self.draft, proposals, self._measured)

    @property
    def decisions(self) -> tuple[DecisionLike, ...]:
        return (*self.draft.decisions, *self.proposals)

    @property
    def shown(self) -> tuple[ShownMessage, ...]:
        return self.rendered.shown

    @property
    def messages(self) -> tuple[Message, ...]:
        return (*self.system, *(shown.message for shown in self.shown))

    @property
    def room(self) -> int:
        return self.draft.budget.room

    @property
    def fits(self) -> bool:
        return self.total.high <= self.room

    def parts(self, message: Message) -> PromptFeatures:
        known = self._measured.get(id(message))
        if known is None:
            # The message is kept with its number, so that no other one can get its identity.
            known = self._measured[id(message)] = (message, self.draft.gauge.message_features(message))
        return known[1]

    def tokens(self, message: Message) -> int:
        """What a message adds to a request."""
        return round(self.draft.gauge.predict(self.parts(message)) - self._start)

    def said_tokens(self, shown: ShownMessage) -> int:
        """What a message adds to a request, without evidence that was put behind it."""
        lent = sum(self.text_tokens(each.text) for each in shown.additions if each.section == "recalled")
        return max(0, self.tokens(shown.message) - lent)

    def text_tokens(self, text: str) -> int:
        """The most a text may be."""
        return self.draft.gauge.count_text(text).high

    def likely_tokens(self, text: str) -> int:
        """What a text most likely is: for adding up many, of which not all can be at their most."""
        return self.draft.gauge.count_text(text).tokens

    @cached_property
    def _start(self) -> float:
        return self.draft.gauge.predict(_NOTHING)

    @cached_property
    def frame(self) -> PromptFeatures:
        """System and tools."""
        parts = sum(map(self.parts, self.system), self.draft.gauge.tool_features(self.draft.tools))
        return replace(parts, unprompted=not self.system)

    @cached_property
    def total(self) -> Estimate:
        """The whole request."""
        return self.cost(shown.message for shown in self.shown)

    @cached_property
    def fixed(self) -> Estimate:
        """System, tools and the newest message: what cannot be left out."""
        newest = {item.id for item in self.newest}
        return self.cost(shown.message for shown in self.shown if shown.item.id in newest)

    @cached_property
    def history(self) -> int:
        """What history takes beside all that is fixed, without what was brought back for the question."""
        newest = {item.id for item in self.newest}
        lent = 0 if self.question is None or self.question.id in newest else self.recalled
        return max(0, self.total.high - self.fixed.high - lent)

    @cached_property
    def recalled(self) -> int:
        """What was brought back for the question takes, in tokens."""
        additions = (each for shown in self.shown if shown.item is self.question for each in shown.additions)
        return sum(self.text_tokens(each.text) for each in additions if each.section == "recalled")

    @cached_property
    def thresholds(self) -> Thresholds:
        """What was brought back has a room of its own, so it moves no mark."""
        newest = {item.id for item in self.newest}
        lent = self.recalled if self.question is not None and self.question.id in newest else 0
        return self.draft.budget.thresholds(max(0, self.fixed.high - lent))

    def cost(self, messages: Iterable[Message]) -> Estimate:
        return self.draft.gauge.estimate(sum(map(self.parts, messages), self.frame))

    @cached_property
    def pins(self) -> frozenset[str]:
        """The pinned messages that are really protected: the newest, up to a quarter of history."""
        left, kept = self.thresholds.full // 4, set()
        for item in reversed(self.draft.items):
            if item.id in self.draft.pins:
                left -= self.tokens(item.message)
                if left < 0:
                    break
                kept.add(item.id)
        return frozenset(kept)

    def vetoed(self, kind: str) -> frozenset[str]:
        """The messages to which this must not be done again."""
        undone = (veto for veto in self.draft.vetoes if veto.kind == kind)
        return frozenset(name for veto in undone for name in veto.messages)


def _shorten_system(system: tuple[Message, ...], cuts: Mapping[str, str]) -> tuple[Message, ...]:
    if not cuts:
        return system
    return tuple(
        replace(message, parts=(Text(cuts[message.digest]),)) if message.digest in cuts else message
        for message in system
    )


def _sentences(
    kept: Sequence[tuple[str, str]], marked: Mapping[str, Sequence[str]]
) -> tuple[tuple[str, str], ...]:
    """Each sentence once, if the message it stands in still has it."""
    found = {said: name for name, said in kept if said in marked.get(name, ())}
    return tuple((name, said) for said, name in found.items())


def block(
    summary: str,
    rules: Sequence[tuple[str, str]] = (),
    agreed: Sequence[tuple[str, str]] = (),
    forbidden: Sequence[tuple[str, str]] = (),
) -> str:
    """What stands at the end of the instructions for all that is not in the window any more."""
    language = language_of(" ".join((summary, *(said for _, said in (*forbidden, *rules, *agreed))))) or "en"
    lines = [
        line
        for name, kept in (("forbidden", forbidden), ("rules", rules), ("agreed", agreed))
        if kept
        for line in (_HEADINGS[name][language], *(f"- {said}" for _, said in kept))
    ]
    return "\n\n".join(filter(None, (summary, "\n".join(lines))))


def with_block(system: tuple[Message, ...], text: str) -> tuple[Message, ...]:
    """The system messages with a text at their end: strict templates accept no second one further on."""
    if not text:
        return system
    if not system:
        return (Message.of("system", text),)
    return (*system[:-1], append_text(system[-1], text))
