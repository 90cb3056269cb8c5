"""`holdfast window`, and the subcommands of `conversations` that change a window.

Shows what a model was last sent of a conversation and why; `compact`, `pin`, `unpin`, `undo` and `expand`
summarise, protect and restore messages.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from holdfast.cli.shared import (
    ConversationId,
    JsonOption,
    MessageId,
    ProjectOption,
    console,
    current_scope,
    find_conversation,
    format_time,
    load,
    open_conversation,
    print_headline,
    print_json,
    print_table,
    show_progress_bar,
    write,
)
from holdfast.i18n import gettext as _
from holdfast.i18n import localize_number, ngettext, pgettext

if TYPE_CHECKING:
    from holdfast.context.message_state import MessageState
    from holdfast.events import Event
    from holdfast.store import Compaction, ConversationRecord, Decision, Store
    from holdfast.transfer.staging import ProgressCallback
    from holdfast.turn import TurnEngine

_WIDTH = 64
# Each section has a fill of its own, so that the bar is readable without colours.
FILLS = {
    "tools": ("▒", "magenta"),
    "system": ("▓", "blue"),
    "profile": ("▦", "bright_magenta"),
    "summary": ("▥", "bright_blue"),
    "history": ("█", "green"),
    "question": ("▚", "yellow"),
    "files": ("▧", "bright_yellow"),
    "recalled": ("▞", "cyan"),
    "research": ("▤", "bright_cyan"),
    "reserve": ("░", "bright_black"),
    "free": ("·", "dim"),
}
# How many decisions and batches are printed; --json has all.
_NEWEST, _LAST_BATCHES = 20, 5

Report = dict[str, Any]


def window(
    context: typer.Context,
    conversation: ConversationId,
    size: Annotated[
        int | None, typer.Option("--window", min=1, help="The window of this size, not the newest.")
    ] = None,
    summary: Annotated[
        bool, typer.Option("--summary", help="Only the summary that stands for what is out.")
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a model was last shown of a conversation: section by section, and what is out and why."""
    from holdfast.context.message_state import window_account

    with open_conversation(load(context).settings, conversation, project) as (store, row):
        report = window_account(store, row, size)
        if summary:
            print_summary(report, as_json=as_json)
        elif as_json:
            print_json(report)
        else:
            print_window(store, row, report)


def print_window(store: "Store", row: "ConversationRecord", report: Report) -> None:
    from holdfast.context.message_state import lane_of, load_states

    lane = lane_of(store, row, report["window"])
    states = load_states(store, row, lane)
    decisions, vetoes = store.decisions.of(lane.id), store.decisions.vetoes(lane.id)
    batches = [batch for batch in store.compactions.of(row.id) if batch.lane == lane.id]
    print_headline(row.title, row.id)
    print_sections(report)
    print_level(report)
    print_messages(report, left_out=sum(state.state == "out" for state in states))
    print_sentences(report)
    print_recall(report.get("recall") or {})
    print_prefix(report["prefix"])
    print_decisions(_("In force"), decisions)
    print_decisions(pgettext("command line", "Undone, not to be done again"), vetoes)
    print_batches(batches)


def print_recall(recall: Report) -> None:
    """Print what was searched for the last question, how likely it is answered, what was recalled (+), and
    what just missed (-).
    """
    if not recall.get("searched"):
        return
    brought, missed = len(recall["brought"]), len(recall["missed"])
    console.print(
        _("Recall: {likely:.0%} likely answered · {brought} brought, {missed} just missed").format(
            likely=recall["likely"], brought=brought, missed=missed
        )
    )
    for question in recall["searched"]:
        console.print(f"  ? {question}", style="dim")
    for sign, rows in (("+", recall["brought"]), ("-", recall["missed"])):
        for row in rows:
            parts = ", ".join(f"{name} {value:+.1f}" for name, value in row["parts"].items())
            console.print(f"  {sign} {row['score']:4.0%}  {row['id']}  {parts}", style="dim")


def print_summary(report: Report, *, as_json: bool) -> None:
    text = report["summary"]
    if as_json:
        print_json({"conversation": report["conversation"], "window": report["window"], "summary": text})
    elif text:
        write(f"{text}\n")
    else:
        console.print(_("Nothing is summarised in this window."))


def print_sections(report: Report) -> None:
    from holdfast.window import sentences

    size = report["window"]
    rows = [(section["name"], section["tokens"]) for section in report["sections"]]
    free = size - sum(tokens for _unused, tokens in rows)
    if free > 0:
        rows.append(("free", free))
    console.print(draw_bar(rows, size))
    names = {"free": _("free")}
    print_table(
        ("", _("section"), _("Tokens"), "%"),
        [
            (
                FILLS[name][0],
                names.get(name) or sentences.section(name),
                sentences.number(tokens),
                f"{tokens / size:.1%}",
            )
            for name, tokens in rows
            if tokens
        ],
    )


def draw_bar(rows: Sequence[tuple[str, int]], whole: int, width: int = _WIDTH) -> Text:
    """Draw all sections to scale in one line; those that round to nothing are left out."""
    drawn, so_far = Text(), 0
    for name, tokens in rows:
        before, so_far = so_far, so_far + tokens
        fill, style = FILLS[name]
        cells = round(min(so_far, whole) / whole * width) - round(min(before, whole) / whole * width)
        drawn.append(fill * cells, style=style)
    return drawn


def print_level(report: Report) -> None:
    from holdfast.window import sentences

    number = sentences.number
    used, window = number(report["tokens"]), number(report["window"])
    how = f"{sentences.method(report['method'])}, {sentences.reason(report['counted_by'])}"
    spread = f"{number(report['at_least'])}–{number(report['at_most'])}"
    used_history, full = number(report["history"]["tokens"]), number(report["history"]["full"])
    lines = [
        _("{used} of {window} tokens used ({share:.0%}; {how}: {spread})").format(
            used=used, window=window, share=report["tokens"] / report["window"], how=how, spread=spread
        ),
        sentences.level(report["level"]),
        _("history, counted high: {used_history} of {full} tokens").format(
            used_history=used_history, full=full
        ),
        *(
            f"  {number(tokens):>9}  {sentences.mark(name)}"
            for name, tokens in report["history"]["marks"].items()
        ),
        *(f"! {sentences.notice(name)}" for name in report.get("notices", ())),
    ]
    if model := report.get("model"):
        lines.insert(
            0, _("window of {window} tokens, {model}").format(window=number(report["window"]), model=model)
        )
    console.print("\n".join(lines))


def print_messages(report: Report, left_out: int) -> None:
    states = [message["state"] for message in report["messages"]]
    whole, short = states.count("in"), states.count("shortened")
    console.print(
        _("messages: {whole} whole, {short} shortened, {left_out} left out").format(
            whole=whole, short=short, left_out=left_out
        )
    )
    if short or left_out:
        label = _("the originals: ")
        console.print(f"  {label}holdfast conversations expand {report['conversation']}", style="dim")
    if report["summary"]:
        label = _("the summary: ")
        console.print(f"  {label}holdfast window {report['conversation']} --summary", style="dim")


def print_sentences(report: Report) -> None:
    headings = (
        ("forbidden", _("Must not be done")),
        ("rules", _("Rules carried along")),
        ("agreed", pgettext("command line", "Decisions carried along")),
        ("pins", _("Pinned")),
    )
    for name, heading in headings:
        if report.get(name):
            console.print(f"{heading}:", style="bold")
            write("".join(f"  {sentence}\n" for sentence in report[name]))


def print_prefix(prefix: Report) -> None:
    from holdfast.window import sentences

    shared, before = sentences.number(prefix["shared_bytes"]), sentences.number(prefix["previous_bytes"])
    if prefix["kept"]:
        sentence = _("prefix kept: the request begins with all {before} bytes of the one before").format(
            before=before
        )
    elif prefix["previous_bytes"]:
        why = sentences.cause(prefix["cause"])
        sentence = _("prefix lost after {shared} of {before} bytes: {why}").format(
            shared=shared, before=before, why=why
        )
    else:
        sentence = sentences.cause(prefix["cause"])
    console.print(sentence)


def print_decisions(heading: str, decisions: Sequence["Decision"]) -> None:
    if not decisions:
        return
    console.print(f"\n{heading}:", style="bold")
    if earlier := len(decisions[:-_NEWEST]):
        earlier_label = _("… {earlier} earlier ones: --json").format(earlier=earlier)
        console.print(f"  {earlier_label}", style="dim")
    for decision in decisions[-_NEWEST:]:
        console.print(f"  {describe_decision(decision)}")


def print_batches(batches: Sequence["Compaction"]) -> None:
    from holdfast.window import sentences

    if not batches:
        return
    console.print(f"\n{_('Last batches')}:", style="bold")
    for batch in batches[-_LAST_BATCHES:]:
        change = format_token_change(batch.tokens_before, batch.tokens_after)
        came_to = f"{format_message_count(batch.messages)}, {change}"
        level, when = sentences.level(batch.level), format_time(batch.created_at)
        how = f" · {describe_summary_method(batch.path, batch.model, batch.memories)}" if batch.path else ""
        console.print(f"  {when} · {level} · {came_to} · {batch.duration_ms} ms{how}")


def compact(
    context: typer.Context,
    conversation: ConversationId,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Summarise the older part of a conversation, however much room there is."""
    settings = load(context).settings

    async def run() -> dict[str, Any]:
        from holdfast.wiring import running_engine

        async with running_engine(settings) as engine:
            return await compact_conversation(
                engine, find_conversation(engine.store, conversation, current_scope(project))
            )

    result = asyncio.run(run())
    if as_json:
        print_json(result)
    else:
        print_summary_result(result)


async def compact_conversation(engine: "TurnEngine", row: "ConversationRecord") -> dict[str, Any]:
    """Summarise a conversation with progress; return the report on the summary."""
    from holdfast.context.message_state import summary_account

    with show_progress_bar() as tell:
        following = asyncio.create_task(follow_progress(engine.events.follow(row.scope), row.id, tell))
        try:
            await engine.compaction.compact(row.id)
        finally:
            following.cancel()
    return summary_account(engine.store, row)


async def follow_progress(
    events: AsyncGenerator["Event", None], conversation: str, tell: "ProgressCallback"
) -> None:
    async with aclosing(events):
        async for event in events:
            if event.kind == "compaction" and event.data["conversation"] == conversation:
                tell(phase_label(event.data["phase"]), event.data["percent"], 100)


def phase_label(name: str) -> str:
    phases = {
        "started": _("Reading what was said"),
        "working": _("Summarising"),
        "done": _("Done"),
        "failed": _("Failed"),
    }
    return phases.get(name, name)


def print_summary_result(result: dict[str, Any]) -> None:
    came_by = describe_summary_method(result["path"], result["model"], result["memories"])
    seconds = f"{result['duration_ms'] / 1000:.1f} s"
    console.print(result["banner"], style="bold")
    console.print(
        " · ".join((f"  {format_message_count(result['messages'])}", came_by, localize_number(seconds)))
    )
    undo_command = f"holdfast conversations undo {result['conversation']}"
    summary_command = f"holdfast window {result['conversation']} --summary"
    console.print(f"  {_('to read it')}: {summary_command}", style="dim")
    console.print(f"  {_('to take it back')}: {undo_command}", style="dim")


def pin(
    context: typer.Context,
    conversation: ConversationId,
    message: MessageId,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Keep a message in the window as it is, whatever has to give way."""
    from holdfast.context import message_state
    from holdfast.conversations.identity import find_message
    from holdfast.conversations.serialization import serialize_message
    from holdfast.window.presets import preset_from

    settings = load(context).settings
    with open_conversation(settings, conversation, project) as (store, row):
        stored = find_message(store, row, message)
        store.atomically(message_state.pin, store, preset_from(settings), row, stored.id)
        (state,) = load_states(store, row, stored.id)
    if as_json:
        print_json({**serialize_message(stored), "pinned": True})
        return
    console.print(_("Pinned: {id}").format(id=stored.id))
    if any(decision.kind == "keep" for decision in state.decisions):
        back = _("It had been left out, and is back.")
        console.print(back)
    # A pin protects from now on; an earlier shortening stays until it is undone.
    for decision in state.decisions:
        if decision.kind == "shorten":
            label = _("Before that")
            bring_back = _("To bring it back")
            console.print(f"{label}: {describe_decision(decision)}")
            console.print(f"{bring_back}: holdfast conversations undo {row.id} {decision.id}")


def unpin(
    context: typer.Context,
    conversation: ConversationId,
    message: MessageId,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a message be shortened or left out again."""
    from holdfast.conversations import lanes
    from holdfast.conversations.identity import find_message
    from holdfast.conversations.serialization import serialize_message

    with open_conversation(load(context).settings, conversation, project) as (store, row):
        stored = find_message(store, row, message)
        lanes.unpin(store, row, stored.id)
    if as_json:
        print_json({**serialize_message(stored), "pinned": False})
    else:
        console.print(_("No longer pinned: {id}").format(id=stored.id))


def undo(
    context: typer.Context,
    conversation: ConversationId,
    decision: Annotated[
        str | None, typer.Argument(metavar="DECISION", help="A decision's id; else the last batch.")
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take back what was shortened or left out; it is not done again before the last resort."""
    from holdfast.conversations.serialization import serialize_decision

    with open_conversation(load(context).settings, conversation, project) as (store, row):
        undone, back = undo_decisions(store, row, decision)
    if as_json:
        print_json({"undone": [serialize_decision(decision) for decision in undone], "back": back})
    else:
        print_undo_result(undone, back)


def undo_decisions(
    store: "Store", row: "ConversationRecord", decision: str | None = None
) -> tuple[Sequence["Decision"], list[str]]:
    """Undo a decision or the last batch; return the decisions undone and the messages restored."""
    from holdfast.context.message_state import came_back
    from holdfast.conversations import lanes
    from holdfast.conversations.identity import find_decision

    name = None if decision is None else find_decision(store, row, decision)
    undone = store.atomically(lanes.undo, store, row, name)
    return undone, came_back(store, row, undone)


def print_undo_result(undone: Sequence["Decision"], back: Sequence[str]) -> None:
    for decision in undone:
        console.print(f"{_('Undone')}: {describe_decision(decision)}")
    if back:
        note = _("sent again, as far as there is room")
        console.print(f"{format_message_count(len(back))} {note}")


def expand(
    context: typer.Context,
    conversation: ConversationId,
    message: Annotated[
        str | None, typer.Argument(metavar="MESSAGE", help="One message, by number or id; else all.")
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the originals of what the window shortened or left out."""
    from holdfast.conversations.serialization import serialize_message

    with open_conversation(load(context).settings, conversation, project) as (store, row):
        states = load_states(store, row, message)
    if as_json:
        print_json([{**serialize_message(state.stored), **state.to_json()} for state in states])
        return
    if not states:
        console.print(_("The window has everything, word for word."))
    for state in states:
        print_original(state)


def load_states(store: "Store", row: "ConversationRecord", message: str | None) -> Sequence["MessageState"]:
    from holdfast.context.message_state import MessageState, changed_states, lane_of, load_states
    from holdfast.conversations.identity import find_message

    if message is None:
        return changed_states(load_states(store, row, lane_of(store, row)))
    stored = find_message(store, row, message)
    # A message can be shown even if no model ever received it.
    used = store.lanes.of(row.id)
    here = (
        [state for state in load_states(store, row, used[0]) if state.stored.id == stored.id] if used else []
    )
    return here or [MessageState(stored, "elsewhere" if used else "in")]


def print_original(state: "MessageState") -> None:
    from holdfast.window import sentences

    why = ", ".join(map(sentences.rule, state.rules))
    by = [f"{decision.id}, {format_time(decision.created_at)}" for decision in state.decisions]
    place = " · ".join((str(state.stored.depth + 1), state.stored.id, format_time(state.stored.created_at)))
    console.print(Text(speaker_label(state.stored.message.role), style="bold"), Text(place, style="dim"))
    console.print(why or sentences.state(state.state), style="italic")
    for line in by:
        console.print(line, style="dim")
    write(f"{state.stored.message.text}\n")
    for call in state.stored.message.tool_calls:
        write(f"  → {call.name}({call.arguments})\n")
    write("\n")


def speaker_label(role: str) -> str:
    names = {"user": _("You"), "assistant": _("Model"), "tool": _("Tool")}
    return names.get(role, role)


def describe_decision(decision: "Decision") -> str:
    """Describe a decision: the rule, how many messages, and the change in tokens."""
    from holdfast.window import sentences

    tokens = format_token_change(decision.tokens_before, decision.tokens_after)
    sentence = f"{sentences.rule(decision.rule)} ({format_message_count(len(decision.messages))}, {tokens})"
    return f"{sentence} · {decision.id} · {format_time(decision.created_at)}"


def format_message_count(number: int) -> str:
    return ngettext("1 message", "{number} messages", number).format(number=number)


def format_token_change(before: int, after: int) -> str:
    from holdfast.window.sentences import number

    return _("{before} to {after} tokens").format(before=number(before), after=number(after))


def describe_summary_method(path: str | None, model: str | None, memories: int) -> str:
    """Describe how a summary was written, and how many memories were saved before it."""
    from holdfast.window import sentences

    taken = ngettext("1 memory", "{memories} memories", memories).format(memories=memories)
    return " · ".join(filter(None, (sentences.way(path or ""), model, taken)))
