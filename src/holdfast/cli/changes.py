"""`holdfast conversations pin|unpin|undo|expand`: what a window does to messages, seen and taken back.

Says it in words; what is done, and why, is known in `window`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from holdfast.cli.kept import Id, Json, MessageId, kept
from holdfast.cli.output import console, load, moment, print_json, write
from holdfast.cli.project import Project
from holdfast.i18n import say

if TYPE_CHECKING:
    from holdfast.fitting.account import Standing
    from holdfast.store import Conversation, Decision, Store


def speaker(role: str) -> str:
    names = {"user": say("You", "Sie"), "assistant": say("Model", "Modell"), "tool": say("Tool", "Werkzeug")}
    return names.get(role, role)


def pin(
    context: typer.Context,
    conversation: Id,
    message: MessageId,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Keep a message in the window as it is, whatever has to give way."""
    from holdfast.conversations.identity import find_message
    from holdfast.conversations.serialization import serialize_message
    from holdfast.fitting import marks
    from holdfast.window.presets import preset_from

    settings = load(context).settings
    with kept(settings, conversation, project) as (store, row):
        found = find_message(store, row, message)
        store.atomically(marks.pin, store, preset_from(settings), row, found.id)
        (standing,) = _standings(store, row, found.id)
    if as_json:
        print_json({**serialize_message(found), "pinned": True})
        return
    console.print(Text(say(f"Pinned: {found.id}", f"Angeheftet: {found.id}")))
    if any(made.kind == "keep" for made in standing.decisions):
        back = say("It had been left out, and is back.", "Sie war weggelassen und ist wieder da.")
        console.print(Text(back))
    # A pin protects from what comes; how a message was shortened before holds until it is undone.
    for made in standing.decisions:
        if made.kind == "shorten":
            told = say("Before that", "Vorher")
            bring_back = say("To bring it back", "Zurückholen")
            console.print(Text(f"{told}: {in_words(made)}"))
            console.print(Text(f"{bring_back}: holdfast conversations undo {row.id} {made.id}"))


def unpin(
    context: typer.Context,
    conversation: Id,
    message: MessageId,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Let a message be shortened or left out again."""
    from holdfast.conversations import lanes
    from holdfast.conversations.identity import find_message
    from holdfast.conversations.serialization import serialize_message

    with kept(load(context).settings, conversation, project) as (store, row):
        found = find_message(store, row, message)
        lanes.unpin(store, row, found.id)
    if as_json:
        print_json({**serialize_message(found), "pinned": False})
    else:
        console.print(Text(say(f"No longer pinned: {found.id}", f"Nicht mehr angeheftet: {found.id}")))


def undo(
    context: typer.Context,
    conversation: Id,
    decision: Annotated[
        str | None, typer.Argument(metavar="DECISION", help="A decision's id; else the last batch.")
    ] = None,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Take back what was shortened or left out; it is not done again before the last resort."""
    from holdfast.conversations.serialization import serialize_decision

    with kept(load(context).settings, conversation, project) as (store, row):
        undone, back = taken_back(store, row, decision)
    if as_json:
        print_json({"undone": [serialize_decision(made) for made in undone], "back": back})
    else:
        print_taken_back(undone, back)


def taken_back(
    store: "Store", row: "Conversation", decision: str | None = None
) -> tuple[Sequence["Decision"], list[str]]:
    """The decisions that no longer hold, and the messages that are back."""
    from holdfast.conversations import lanes
    from holdfast.conversations.identity import find_decision
    from holdfast.fitting.account import came_back

    name = None if decision is None else find_decision(store, row, decision)
    undone = store.atomically(lanes.undo, store, row, name)
    return undone, came_back(store, row, undone)


def print_taken_back(undone: Sequence["Decision"], back: Sequence[str]) -> None:
    for made in undone:
        console.print(Text(f"{say('Undone', 'Rückgängig')}: {in_words(made)}"))
    if back:
        told = say("sent again, as far as there is room", "wieder dabei, soweit Platz ist")
        console.print(Text(f"{messages(len(back))} {told}"))


def in_words(made: "Decision") -> str:
    """A decision as a sentence: what, how many messages, and what that came to."""
    from holdfast.window import sentences

    tokens = tokens_freed(made.tokens_before, made.tokens_after)
    what = f"{sentences.rule(made.rule)} ({messages(len(made.messages))}, {tokens})"
    return f"{what} · {made.id} · {moment(made.created_at)}"


def messages(number: int) -> str:
    return (
        say("1 message", "1 Nachricht") if number == 1 else say(f"{number} messages", f"{number} Nachrichten")
    )


def tokens_freed(before: int, after: int) -> str:
    from holdfast.window.sentences import number

    return say(
        f"{number(before)} to {number(after)} tokens",
        f"{number(before)} auf {number(after)} Token",
    )


def how_made(path: str | None, model: str | None, memories: int) -> str:
    """How a summary came about, and how many memories were taken before it."""
    from holdfast.window import sentences

    taken = (
        say("1 memory", "1 Erinnerung") if memories == 1 else f"{memories} {say('memories', 'Erinnerungen')}"
    )
    return " · ".join(filter(None, (sentences.way(path or ""), model, taken)))


def expand(
    context: typer.Context,
    conversation: Id,
    message: Annotated[
        str | None, typer.Argument(metavar="MESSAGE", help="One message, by number or id; else all.")
    ] = None,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Show the originals of what the window shortened or left out."""
    from holdfast.conversations.serialization import serialize_message

    with kept(load(context).settings, conversation, project) as (store, row):
        found = _standings(store, row, message)
    if as_json:
        print_json([{**serialize_message(one.stored), **one.to_json()} for one in found])
        return
    if not found:
        console.print(
            say("The window has everything, word for word.", "Das Fenster hat alles, Wort für Wort.")
        )
    for one in found:
        _print_original(one)


def _standings(store: "Store", row: "Conversation", message: str | None) -> Sequence["Standing"]:
    from holdfast.conversations.identity import find_message
    from holdfast.fitting.account import Standing, changed, lane_of, standings

    if message is None:
        return changed(standings(store, row, lane_of(store, row)))
    stored = find_message(store, row, message)
    # Its words are there to be read, whether or not a model was ever shown them.
    used = store.lanes.of(row.id)
    here = [one for one in standings(store, row, used[0]) if one.stored.id == stored.id] if used else []
    return here or [Standing(stored, "elsewhere" if used else "in")]


def _print_original(one: "Standing") -> None:
    from holdfast.window import sentences

    why = ", ".join(map(sentences.rule, one.rules))
    by = [f"{made.id}, {moment(made.created_at)}" for made in one.decisions]
    place = " · ".join((str(one.stored.depth + 1), one.stored.id, moment(one.stored.created_at)))
    console.print(Text(speaker(one.stored.message.role), style="bold"), Text(place, style="dim"))
    console.print(Text(why or sentences.state(one.state), style="italic"))
    for line in by:
        console.print(Text(line, style="dim"))
    write(f"{one.stored.message.text}\n")
    for call in one.stored.message.tool_calls:
        write(f"  → {call.name}({call.arguments})\n")
    write("\n")
