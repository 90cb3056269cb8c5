"""Log and decisions in, messages out: what a model is shown of a history.

The only place where a decision becomes text. The same history under the same decisions gives the same bytes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from holdfast.i18n import without_banners
from holdfast.messages import Message, Part, Text, Thinking, ToolCall, ToolResult
from holdfast.thinking import spoken
from holdfast.window.decisions import Addition, AppliedDecisions, Cut, DecisionLike
from holdfast.window.items import Item, question_of, repair_arguments, repair_pairs


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
