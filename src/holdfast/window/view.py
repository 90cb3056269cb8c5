"""A history rendered under its decisions and measured: what is sent, what it costs, and whether it fits.

This is the only place where a decision becomes text. The same history under the same decisions gives the same
bytes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

from holdfast.i18n import without_banners
from holdfast.messages import JsonObject, Message, Part, Text, Thinking, ToolCall, ToolResult
from holdfast.text.analyser import language_of
from holdfast.text.lang import by_language
from holdfast.thinking import spoken
from holdfast.tokens.budget import Budget, Thresholds
from holdfast.tokens.calibration import PromptFeatures
from holdfast.tokens.counter import Count
from holdfast.tokens.estimate import Estimate
from holdfast.window.decisions import (
    Addition,
    AppliedDecisions,
    Cut,
    DecisionLike,
    Proposal,
    Sentences,
    read_decision,
)
from holdfast.window.items import Item, newest_of, question_of, repair_arguments, repair_pairs


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message of the history as it is sent, and the rules that changed it."""

    item: Item
    message: Message
    rules: tuple[str, ...] = ()
    additions: tuple[Addition, ...] = ()


@dataclass(frozen=True, slots=True)
class RenderedHistory:
    """The messages that are sent, those that are out by rule, and the rest of what the decisions come to."""

    shown: tuple[ShownMessage, ...]
    out: dict[str, str]
    rules: Sentences
    agreed: Sentences
    forbidden: Sentences
    cuts: dict[str, dict[int, Cut]]
    system: dict[str, str]
    summary: str = ""
    summarised: str = ""
    profile: str = ""


def render(items: Sequence[Item], decisions: Iterable[DecisionLike]) -> RenderedHistory:
    """Return the history as the decisions leave it; calls and results without their counterpart are out."""
    applied = AppliedDecisions.of(decisions, items)
    out = applied.left_out(items)
    staying = [item for item in items if item.id not in out]
    question = question_of(staying)
    earlier = question is not None
    drafts: list[ShownMessage] = []
    for item in staying:
        earlier = earlier and item is not question
        drafts.append(render_item(item, applied, earlier=earlier))
    repaired = repair_pairs([draft.message for draft in drafts])
    shown: list[ShownMessage] = []
    for draft, message in zip(drafts, repaired, strict=True):
        if message is None:
            out[draft.item.id] = "orphan"
        elif message is draft.message:
            shown.append(draft)
        else:
            shown.append(replace(draft, message=message, rules=(*draft.rules, "orphan")))
    return RenderedHistory(
        tuple(shown),
        out,
        applied.rules,
        applied.agreed,
        applied.forbidden,
        applied.cuts,
        applied.system,
        applied.summary,
        applied.summarised,
        applied.profile,
    )


def render_item(item: Item, applied: AppliedDecisions, *, earlier: bool) -> ShownMessage:
    """Return one message as it is sent; `earlier` ones lose their thinking."""
    message, rules = item.message, []
    if cuts := applied.cuts.get(item.id):
        parts = (cut_part(part, cuts[at]) if at in cuts else part for at, part in enumerate(message.parts))
        message = replace(message, parts=tuple(part for part in parts if part is not None))
        rules += sorted({cut.rule for cut in cuts.values()})
    if message.tool_calls and (repaired := repair_arguments(message)) is not message:
        message = repaired
        rules.append("unreadable")
    if earlier and (answer := drop_thinking(message)) is not message:
        message = answer
        rules.append("thinking")
    if message.role == "assistant" and "⟦Holdfast: " in message.text:
        message = replace(
            message,
            parts=tuple(
                replace(part, text=without_banners(part.text)) if isinstance(part, Text) else part
                for part in message.parts
            ),
        )
        rules.append("banner")
    additions = tuple(applied.additions.get(item.id, ()))
    for addition in additions:
        message = append_text(message, addition.text)
    return ShownMessage(item, message, tuple(rules), additions)


def drop_thinking(message: Message) -> Message:
    """Return the message without its thinking, which may be parts of its own or inside the text."""
    if message.thinking:
        parts = tuple(part for part in message.parts if not isinstance(part, Thinking))
        message = replace(message, parts=parts)
    return spoken(message)


def cut_part(part: Part, cut: Cut) -> Part | None:
    """Return what replaces a part: a tool call keeps its name, a result the call it answers."""
    text = cut.text
    match part:
        case ToolResult():
            # Only the text of a new result is too large; an image beside it has not been looked at yet.
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
    """Append to the message's last text where it has one: strict servers want one string."""
    for at in range(len(message.parts) - 1, -1, -1):
        part = message.parts[at]
        if isinstance(part, Text):
            longer = replace(part, text=f"{part.text}\n\n{text}" if part.text else text)
            return replace(message, parts=(*message.parts[:at], longer, *message.parts[at + 1 :]))
    form = "text" if message.form in ("null", "absent") else message.form
    return replace(message, parts=(*message.parts, Text(text)), form=form)


NO_FEATURES = PromptFeatures(text=0, messages=0)
_HEADINGS = by_language("WINDOW_HEADINGS")


class Gauge(Protocol):
    """Counts tokens for one model; the counters of `tokens` implement it."""

    def count_text(self, text: str) -> Count: ...
    def message_features(self, message: Message) -> PromptFeatures: ...
    def tool_features(self, tools: Sequence[JsonObject]) -> PromptFeatures: ...
    def estimate(self, parts: PromptFeatures) -> Estimate: ...
    def predict(self, parts: PromptFeatures) -> float: ...


@dataclass(frozen=True, slots=True)
class Draft:
    """All that a window is made from.

    `decisions` hold and `vetoes` were undone; `pins` are protected messages. `seen` has the ids of messages
    that were sent before, and `fired` how many tokens history had when a level last worked. `nearness` is the
    semantic similarity of messages to the question, where that is known; `notes` are the current short
    versions of findings, by name, and `digest` shortens a file by its name and text.
    """

    items: tuple[Item, ...]
    budget: Budget
    gauge: Gauge
    system: tuple[Message, ...] = ()
    tools: tuple[JsonObject, ...] = ()
    decisions: tuple[DecisionLike, ...] = ()
    vetoes: tuple[DecisionLike, ...] = ()
    pins: frozenset[str] = frozenset()
    # Sentences that stay valid when their message leaves, by message.
    rules: Mapping[str, Sequence[str]] = field(default_factory=dict)
    agreed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    forbidden: Mapping[str, Sequence[str]] = field(default_factory=dict)
    seen: frozenset[str] = frozenset()
    fired: Mapping[int, int] = field(default_factory=dict)
    nearness: Mapping[str, float] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    digest: Callable[[str, str], str] | None = None


class View:
    """A draft with the proposals made so far.

    A view that is derived from another one (`base`) measures only the messages that are new in it.
    """

    def __init__(self, draft: Draft, proposals: Iterable[Proposal] = (), base: "View | None" = None) -> None:
        self.draft = draft
        self.proposals = tuple(proposals)
        # By identity, because rendering returns unchanged messages as they are.
        self._measured: dict[int, tuple[Message, PromptFeatures]] = base._measured if base else {}
        self._held: tuple[Proposal, ...] = base._held if base else tuple(map(read_decision, draft.decisions))
        self.rendered: RenderedHistory = render(draft.items, self.decisions)
        self.shown = self.rendered.shown
        # A sentence holds as long as its message is on this branch: an edited one loses its rules.
        self.rules = _valid_sentences(self.rendered.rules, draft.rules)
        self.agreed = _valid_sentences(self.rendered.agreed, draft.agreed)
        self.forbidden = _valid_sentences(self.rendered.forbidden, draft.forbidden)
        summary = block(self.rendered.summary, self.rules, self.agreed, self.forbidden)
        system = _shorten_system(draft.system, self.rendered.system)
        self.system = with_block(system, "\n\n".join(filter(None, (self.rendered.profile, summary))))
        self.newest = newest_of([shown.item for shown in self.shown])
        self.question = question_of([shown.item for shown in self.shown])

    def having(self, *proposals: Proposal) -> "View":
        """Return the view with more proposals."""
        return View(self.draft, (*self.proposals, *proposals), self)

    def knowing(
        self, *, nearness: Mapping[str, float] | None = None, notes: Mapping[str, str] | None = None
    ) -> "View":
        """Return the view with the similarity of messages to the question, or with the notes of findings."""
        draft = self.draft
        draft = replace(
            draft,
            nearness=draft.nearness if nearness is None else nearness,
            notes=draft.notes if notes is None else notes,
        )
        return View(draft, self.proposals, self)

    def because(self, start: int, reason: str) -> "View":
        """Return the view with a reason for the proposals from `start` on."""
        proposals = (replace(proposal, reason=reason) for proposal in self.proposals[start:])
        return View(self.draft, (*self.proposals[:start], *proposals), self)

    @property
    def decisions(self) -> tuple[Proposal, ...]:
        return (*self._held, *self.proposals)

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
            # Holding the message keeps its identity from being reused.
            known = self._measured[id(message)] = (message, self.draft.gauge.message_features(message))
        return known[1]

    def tokens(self, message: Message) -> int:
        """Return what a message adds to a request."""
        return round(self.draft.gauge.predict(self.parts(message)) - self._start)

    def own_tokens(self, shown: ShownMessage) -> int:
        """Return what a message adds to a request, without the quotes that were put behind it."""
        return max(0, self.tokens(shown.message) - self.evidence_tokens([shown]))

    def evidence_tokens(self, messages: Iterable[ShownMessage]) -> int:
        """Return the tokens of the quotes that were put behind these messages for one question each."""
        additions = (each for shown in messages for each in shown.additions)
        return sum(self.text_tokens(each.text) for each in additions if each.is_evidence)

    def text_tokens(self, text: str) -> int:
        """Return the upper estimate of a text's tokens."""
        return self.draft.gauge.count_text(text).high

    def likely_tokens(self, text: str) -> int:
        """Return the likeliest number: in a sum of many texts not all reach their upper estimate."""
        return self.draft.gauge.count_text(text).tokens

    @cached_property
    def _start(self) -> float:
        return self.draft.gauge.predict(NO_FEATURES)

    @cached_property
    def frame(self) -> PromptFeatures:
        """The cost of system messages and tools."""
        parts = sum(map(self.parts, self.system), self.draft.gauge.tool_features(self.draft.tools))
        return replace(parts, unprompted=not self.system)

    @cached_property
    def total(self) -> Estimate:
        """The cost of the whole request."""
        return self.cost(shown.message for shown in self.shown)

    @cached_property
    def fixed_cost(self) -> Estimate:
        """The cost of what cannot be left out: system, tools and the newest message."""
        newest = {item.id for item in self.newest}
        return self.cost(shown.message for shown in self.shown if shown.item.id in newest)

    @cached_property
    def history(self) -> int:
        """The tokens of history beside all that is fixed, without the quotes for questions."""
        newest = {item.id for item in self.newest}
        lent = self.evidence_tokens(shown for shown in self.shown if shown.item.id not in newest)
        return max(0, self.total.high - self.fixed_cost.high - lent)

    @cached_property
    def thresholds(self) -> Thresholds:
        """Where the levels begin. Quotes have a room of their own, so they move no threshold."""
        newest = {item.id for item in self.newest}
        lent = self.evidence_tokens(shown for shown in self.shown if shown.item.id in newest)
        return self.thresholds_beside(max(0, self.fixed_cost.high - lent))

    @cached_property
    def in_loop(self) -> bool:
        """Whether the model is in the middle of a tool loop: the newest message is a result."""
        talk = (item for item in reversed(self.draft.items) if item.message.role != "system")
        newest = next(talk, None)
        return newest is not None and newest.message.role == "tool"

    def thresholds_beside(self, fixed: int) -> Thresholds:
        """Where the levels begin beside `fixed` tokens.

        Inside a tool loop nothing more is recalled, so what evidence does not take is history's; and a
        summary comes before old results are shortened: each loses the prefix, and the summary frees more.
        """
        budget = self.draft.budget
        if not self.in_loop:
            return budget.thresholds(fixed)
        marks = budget.thresholds(fixed, self.evidence_tokens(self.shown))
        if budget.shares_of != "history" or budget.levels.summarise is None:
            return marks
        prune, leave_out = (max(mark, marks.summarise) for mark in (marks.prune, marks.leave_out))
        return replace(marks, prune=prune, leave_out=leave_out)

    def cost(self, messages: Iterable[Message]) -> Estimate:
        return self.draft.gauge.estimate(sum(map(self.parts, messages), self.frame))

    @cached_property
    def pins(self) -> frozenset[str]:
        """The pinned messages that are protected: the newest, up to a quarter of history."""
        left, protected = self.thresholds.full // 4, set()
        for item in reversed(self.draft.items):
            if item.id in self.draft.pins:
                left -= self.tokens(item.message)
                if left < 0:
                    break
                protected.add(item.id)
        return frozenset(protected)

    def list_vetoes(self, kind: str) -> frozenset[str]:
        """Return the messages to which this kind of decision must not be applied again."""
        undone = (veto for veto in self.draft.vetoes if veto.kind == kind)
        return frozenset(name for veto in undone for name in veto.messages)


def _shorten_system(system: tuple[Message, ...], cuts: Mapping[str, str]) -> tuple[Message, ...]:
    if not cuts:
        return system
    return tuple(
        replace(message, parts=(Text(cuts[message.digest]),)) if message.digest in cuts else message
        for message in system
    )


def _valid_sentences(sentences: Sentences, marked: Mapping[str, Sequence[str]]) -> Sentences:
    """Return each sentence once, if the message it stands in still has it."""
    valid = {sentence: name for name, sentence in sentences if sentence in marked.get(name, ())}
    return tuple((name, sentence) for sentence, name in valid.items())


def block(summary: str, rules: Sentences = (), agreed: Sentences = (), forbidden: Sentences = ()) -> str:
    """Return the text at the end of the instructions that stands for what is not in the window any more."""
    sentences = (sentence for _, sentence in (*forbidden, *rules, *agreed))
    language = language_of(" ".join((summary, *sentences))) or "en"
    lines = [
        line
        for name, group in (("forbidden", forbidden), ("rules", rules), ("agreed", agreed))
        if group
        for line in (_HEADINGS[language][name], *(f"- {sentence}" for _, sentence in group))
    ]
    return "\n\n".join(filter(None, (summary, "\n".join(lines))))


def with_block(system: tuple[Message, ...], text: str) -> tuple[Message, ...]:
    """Append a text to the last system message: strict templates accept no second one further on."""
    if not text:
        return system
    if not system:
        return (Message.of("system", text),)
    return (*system[:-1], append_text(system[-1], text))
