"""`holdfast window`: what a model was last shown of a conversation, and why.

Draws the report; what is in it is worked out in `window`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from holdfast.cli.changes import (
    describe_decision,
    describe_summary_method,
    format_message_count,
    format_token_change,
)
from holdfast.cli.kept import ConversationId, JsonOption, open_conversation, print_headline
from holdfast.cli.output import console, format_time, load, print_json, print_table, write
from holdfast.cli.project import ProjectOption
from holdfast.i18n import say

if TYPE_CHECKING:
    from holdfast.store import Compaction, Conversation, Decision, Store

_WIDTH = 64
# Each section has a fill of its own, so that the bar can be read without colours.
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
# More than these is for programs to read.
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
    from holdfast.fitting.account import window_account

    with open_conversation(load(context).settings, conversation, project) as (store, row):
        report = window_account(store, row, size)
        if summary:
            print_summary(report, as_json=as_json)
        elif as_json:
            print_json(report)
        else:
            print_window(store, row, report)


def print_window(store: "Store", row: "Conversation", report: Report) -> None:
    """The whole account of a window, drawn."""
    from holdfast.fitting.account import lane_of, standings

    lane = lane_of(store, row, report["window"])
    found = standings(store, row, lane)
    decisions, vetoes = store.decisions.of(lane.id), store.decisions.vetoes(lane.id)
    batches = [batch for batch in store.compactions.of(row.id) if batch.lane == lane.id]
    print_headline(row.title, row.id)
    print_sections(report)
    print_level(report)
    print_messages(report, left_out=sum(one.state == "out" for one in found))
    print_sentences(report)
    print_recall(report.get("recall") or {})
    print_prefix(report["prefix"])
    print_decisions(say("In force", "In Kraft"), decisions)
    print_decisions(say("Undone, not to be done again", "Rückgängig, nicht wieder zu tun"), vetoes)
    print_batches(batches)


def print_recall(recall: Report) -> None:
    """What was searched for the last question, how likely anything answers it, what came and just missed."""
    if not recall.get("searched"):
        return
    brought, missed = len(recall["brought"]), len(recall["missed"])
    console.print(
        say(
            f"Recall: {recall['likely']:.0%} likely answered · {brought} brought, {missed} just missed",
            f"Rückgriff: zu {recall['likely']:.0%} beantwortet · {brought} geholt, {missed} knapp verfehlt",
        )
    )
    for question in recall["searched"]:
        console.print(Text(f"  ? {question}", style="dim"))
    for row in recall["brought"]:
        parts = ", ".join(f"{name} {value:+.1f}" for name, value in row["parts"].items())
        console.print(Text(f"  {row['score']:4.0%}  {row['id']}  {parts}", style="dim"))


def print_summary(report: Report, *, as_json: bool) -> None:
    text = report["summary"]
    if as_json:
        print_json({"conversation": report["conversation"], "window": report["window"], "summary": text})
    elif text:
        write(f"{text}\n")
    else:
        console.print(
            say("Nothing is summarised in this window.", "In diesem Fenster ist nichts zusammengefasst.")
        )


def print_sections(report: Report) -> None:
    from holdfast.window import sentences

    size = report["window"]
    rows = [(section["name"], section["tokens"]) for section in report["sections"]]
    free = size - sum(tokens for _, tokens in rows)
    if free > 0:
        rows.append(("free", free))
    console.print(draw_bar(rows, size))
    names = {"free": say("free", "frei")}
    print_table(
        ("", say("section", "Abschnitt"), "Tokens", "%"),
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
    """One line in which every section has its share; what rounds to nothing is not seen."""
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
    used, room = number(report["tokens"]), number(report["room"])
    how = f"{sentences.method(report['method'])}, {report['counted_by']}"
    spread = f"{number(report['at_least'])}–{number(report['at_most'])}"
    said, full = number(report["history"]["tokens"]), number(report["history"]["full"])
    lines = [
        say(
            f"{used} of {room} tokens used ({report['utilisation']:.0%}; {how}: {spread})",
            f"{used} von {room} Token belegt ({report['utilisation']:.0%}; {how}: {spread})",
        ),
        sentences.level(report["level"]),
        say(
            f"history, counted high: {said} of {full} tokens",
            f"Verlauf, hoch gezählt: {said} von {full} Token",
        ),
        *(
            f"  {number(tokens):>9}  {sentences.mark(name)}"
            for name, tokens in report["history"]["marks"].items()
        ),
        *(f"! {sentences.notice(name)}" for name in report.get("notices", ())),
    ]
    if model := report.get("model"):
        lines.insert(
            0,
            say(
                f"window of {number(report['window'])} tokens, {model}",
                f"Fenster von {number(report['window'])} Token, {model}",
            ),
        )
    console.print(Text("\n".join(lines)))


def print_messages(report: Report, left_out: int) -> None:
    states = [message["state"] for message in report["messages"]]
    whole, short = states.count("in"), states.count("shortened")
    console.print(
        say(
            f"messages: {whole} whole, {short} shortened, {left_out} left out",
            f"Nachrichten: {whole} ganz, {short} gekürzt, {left_out} weggelassen",
        )
    )
    if short or left_out:
        told = say("the originals: ", "die Originale: ")
        console.print(Text(f"  {told}holdfast conversations expand {report['conversation']}", style="dim"))
    if report["summary"]:
        told = say("the summary: ", "die Zusammenfassung: ")
        console.print(Text(f"  {told}holdfast window {report['conversation']} --summary", style="dim"))


def print_sentences(report: Report) -> None:
    headings = (
        ("forbidden", say("Must not be done", "Nicht zu tun")),
        ("rules", say("Rules carried along", "Mitgeführte Regeln")),
        ("agreed", say("Decisions carried along", "Mitgeführte Entscheidungen")),
        ("pins", say("Pinned", "Angeheftet")),
    )
    for name, heading in headings:
        if report.get(name):
            console.print(Text(f"{heading}:", style="bold"))
            write("".join(f"  {sentence}\n" for sentence in report[name]))


def print_prefix(prefix: Report) -> None:
    from holdfast.window import sentences

    shared, before = sentences.number(prefix["shared_bytes"]), sentences.number(prefix["previous_bytes"])
    if prefix["kept"]:
        told = say(
            f"prefix kept: the request begins with all {before} bytes of the one before",
            f"Präfix gehalten: die Anfrage beginnt mit allen {before} Bytes der vorigen",
        )
    elif prefix["previous_bytes"]:
        why = sentences.cause(prefix["cause"])
        told = say(
            f"prefix lost after {shared} of {before} bytes: {why}",
            f"Präfix verloren nach {shared} von {before} Bytes: {why}",
        )
    else:
        told = sentences.cause(prefix["cause"])
    console.print(Text(told))


def print_decisions(heading: str, decisions: Sequence["Decision"]) -> None:
    if not decisions:
        return
    console.print(Text(f"\n{heading}:", style="bold"))
    if earlier := len(decisions[:-_NEWEST]):
        told = say(f"… {earlier} earlier ones: --json", f"… {earlier} frühere: --json")
        console.print(Text(f"  {told}", style="dim"))
    for made in decisions[-_NEWEST:]:
        console.print(Text(f"  {describe_decision(made)}"))


def print_batches(batches: Sequence["Compaction"]) -> None:
    from holdfast.window import sentences

    if not batches:
        return
    console.print(Text(f"\n{say('Last batches', 'Letzte Durchgänge')}:", style="bold"))
    for batch in batches[-_LAST_BATCHES:]:
        came_to = f"{format_message_count(batch.messages)}, {format_token_change(batch.tokens_before, batch.tokens_after)}"
        level, when = sentences.level(batch.level), format_time(batch.created_at)
        how = f" · {describe_summary_method(batch.path, batch.model, batch.memories)}" if batch.path else ""
        console.print(Text(f"  {when} · {level} · {came_to} · {batch.duration_ms} ms{how}"))
