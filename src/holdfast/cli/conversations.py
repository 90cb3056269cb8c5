"""`holdfast conversations`: what was kept."""

from typing import Annotated

import typer
from rich.text import Text

from holdfast.cli.output import console, load, moment, print_json, print_table, write
from holdfast.cli.project import Project, scope_here
from holdfast.language import say

app = typer.Typer(help="The conversations that were kept.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="As JSON.")]


@app.command("list")
def list_(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """List conversations, the last used first."""
    from holdfast.conversations.shown import conversation_out
    from holdfast.store import open_store

    with open_store(load(context).settings.store) as store:
        rows = store.log.recent(scope_here(project), limit)
    if as_json:
        print_json([conversation_out(row) for row in rows])
    elif rows:
        columns = (say("id", "Id"), say("last used", "zuletzt"), say("title", "Titel"))
        print_table(columns, [(row.id, moment(row.updated_at), row.title) for row in rows])
    else:
        console.print(say("No conversations yet.", "Noch keine Gespräche."))


@app.command()
def show(
    context: typer.Context,
    conversation: Annotated[str, typer.Argument(help="Its id, or a clear beginning of it.")],
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Show a conversation from its first word to its last."""
    from holdfast.conversations.shown import conversation_out, draft_out, message_out
    from holdfast.store import open_store

    with open_store(load(context).settings.store) as store:
        row = store.log.get(conversation, scope_here(project))
        path = store.log.path(row.head) if row.head else []
        drafts = store.drafts.of(row.id)
    if as_json:
        written = [message_out(stored) for stored in path] + [draft_out(draft) for draft in drafts]
        print_json({"chat": conversation_out(row), "messages": written})
        return
    console.print(Text(row.title, style="bold"), row.id)
    for stored in path:
        _print_message(stored.message.role, stored.message.text, stored.finish)
        for call in stored.message.tool_calls:
            write(f"  → {call.name}({call.arguments})\n")
    for draft in drafts:
        _print_message("assistant", draft.message.text, "writing")


def _print_message(role: str, text: str, finish: str) -> None:
    names = {"user": say("You", "Sie"), "assistant": say("Model", "Modell"), "tool": say("Tool", "Werkzeug")}
    marks = {
        "cut": say(" (cut off)", " (abgebrochen)"),
        "writing": say(" (being written)", " (wird geschrieben)"),
    }
    console.print(f"\n[bold]{names.get(role, role)}[/bold]{marks.get(finish, '')}")
    write(f"{text}\n")
