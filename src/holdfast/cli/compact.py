"""`holdfast conversations compact`: have the older part of a conversation become a summary now.

Shows how far it is, and what it came to; how it is done is known in `fitting` and `compaction`.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.text import Text

from holdfast.cli.changes import describe_summary_method, format_message_count
from holdfast.cli.kept import ConversationId, JsonOption, find_conversation
from holdfast.cli.output import console, load, print_error, print_json
from holdfast.cli.project import ProjectOption, current_scope
from holdfast.i18n import say

if TYPE_CHECKING:
    from holdfast.engine import Engine
    from holdfast.events import Event
    from holdfast.store import Conversation

# Told the phase, and how much is done in per cent.
PhaseCallback = Callable[[str, int], None]


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

    made = asyncio.run(run())
    if as_json:
        print_json(made)
    else:
        print_summary_result(made)


async def compact_conversation(engine: "Engine", row: "Conversation") -> dict[str, Any]:
    """Has it done, with a word on how far it is; gives the account of it."""
    from holdfast.fitting.account import summary_account

    with show_progress() as tell:
        following = asyncio.create_task(follow_progress(engine.events.follow(row.scope), row.id, tell))
        try:
            await engine.compacting.compact(row.id)
        finally:
            following.cancel()
    return summary_account(engine.store, row)


async def follow_progress(
    events: AsyncGenerator["Event", None], conversation: str, tell: PhaseCallback
) -> None:
    async with aclosing(events):
        async for event in events:
            if event.kind == "compaction" and event.data["conversation"] == conversation:
                tell(event.data["phase"], event.data["percent"])


@contextmanager
def show_progress() -> Iterator[PhaseCallback]:
    """A bar on a terminal, lines elsewhere; beside the result, which a program may want to read."""
    from rich.progress import Progress

    if not sys.stderr.isatty():
        yield lambda phase, percent: print_error(f"{phase_label(phase)}: {percent} %")
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(phase_label("started"), total=100)
        yield lambda phase, percent: bar.update(task, description=phase_label(phase), completed=percent)


def phase_label(name: str) -> str:
    phases = {
        "started": say("Reading what was said", "Gesagtes wird gelesen"),
        "working": say("Summarising", "Zusammenfassen"),
        "done": say("Done", "Fertig"),
        "failed": say("Failed", "Fehlgeschlagen"),
    }
    return phases.get(name, name)


def print_summary_result(made: dict[str, Any]) -> None:
    came_by = describe_summary_method(made["path"], made["model"], made["memories"])
    seconds = f"{made['duration_ms'] / 1000:.1f} s"
    console.print(Text(made["banner"], style="bold"))
    console.print(
        Text(
            f"  {format_message_count(made['messages'])} · {came_by} · {say(seconds, seconds.replace('.', ','))}"
        )
    )
    undo = f"holdfast conversations undo {made['conversation']}"
    summary = f"holdfast window {made['conversation']} --summary"
    console.print(Text(f"  {say('to read it', 'zum Lesen')}: {summary}", style="dim"))
    console.print(Text(f"  {say('to take it back', 'zurücknehmen')}: {undo}", style="dim"))
