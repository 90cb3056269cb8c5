"""`holdfast conversations`: list, read, search, rename, move, fork, switch and delete stored conversations.

The subcommands about a conversation's window are in `cli/window.py`.
"""

import re
import sys
import time
from contextlib import closing
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.shared import (
    ConversationId,
    JsonOption,
    ProjectOption,
    YesOption,
    ask_consent,
    console,
    current_scope,
    format_time,
    load,
    open_conversation,
    print_headline,
    print_json,
    print_table,
    write,
)
from holdfast.cli.window import compact, expand, pin, speaker_label, undo, unpin
from holdfast.errors import BadRequest
from holdfast.i18n import gettext as _
from holdfast.messages import Scope

if TYPE_CHECKING:
    from holdfast.conversations.search import MessageResults
    from holdfast.messages import Message
    from holdfast.store import ConversationRecord

app = typer.Typer(help="The conversations that were kept.", no_args_is_help=True)

_AGE = re.compile(r"(\d{1,5})\s*([dwmy]?)")
_DAYS = {"": 1, "d": 1, "w": 7, "m": 30, "y": 365}
_MAX_PRUNED = 100_000


class MemoryPolicy(StrEnum):
    keep = "keep"
    forget = "forget"


@app.command("list")
def list_(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """List conversations, the last used first."""
    from holdfast.conversations.serialization import serialize_conversation
    from holdfast.store import open_store

    with open_store(load(context).settings.store) as store:
        rows = store.log.recent(current_scope(project), limit)
    if as_json:
        print_json([serialize_conversation(row) for row in rows])
    elif rows:
        columns = (_("id"), _("last used"), _("title"))
        print_table(columns, [(row.id, format_time(row.updated_at), row.title) for row in rows])
    else:
        console.print(_("No conversations yet."))


@app.command()
def show(
    context: typer.Context,
    conversation: ConversationId,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a conversation from its first word to its last."""
    from holdfast.context.message_state import load_reading

    with open_conversation(load(context).settings, conversation, project) as (store, row):
        reading = load_reading(store, row)
    if as_json:
        print_json(reading.to_json())
        return
    print_headline(row.title, row.id)
    pinned = _(" · pinned")
    for number, stored in enumerate(reading.path, 1):
        place = f"{number} · {stored.id}{pinned if stored.id in reading.pins else ''}"
        print_message(stored.message, stored.finish, place)
        for banner in reading.banners.get(stored.id, ()):
            console.print(f"\n── {banner.text} ──", style="italic", end=" ")
            console.print(banner.decision.id, style="dim")
    for draft in reading.drafts:
        print_message(draft.message, "writing", "")


def print_message(message: "Message", finish: str, place: str) -> None:
    """Print a message under its speaker, number and id."""
    marks = {
        "cut": _(" (cut off)"),
        "writing": _(" (being written)"),
    }
    console.print(f"\n{speaker_label(message.role)}{marks.get(finish, '')}", style="bold", end=" ")
    console.print(place, style="dim")
    write(f"{message.text}\n")
    for call in message.tool_calls:
        write(f"  → {call.name}({call.arguments})\n")


@app.command()
def search(
    context: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="WORD", help="What to look for; an exact phrase in quotes.")
    ],
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many at most.")] = 10,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find messages by their words, in all conversations; --project limits it to one project."""
    from holdfast.conversations.search import search_scopes
    from holdfast.conversations.serialization import serialize_results
    from holdfast.store import open_store

    with open_store(load(context).settings.store) as store:
        own = [scope for scope in store.log.scopes(Scope().user) if scope.kind == "private"]
        scopes = [current_scope(project)] if project else own
        results = search_scopes(store, scopes, " ".join(words), limit=limit)
    if as_json:
        print_json(serialize_results(results))
    else:
        print_results(results)


def print_results(results: "MessageResults") -> None:
    reasons = {
        "nothing to search for": _("These words are in every text; look for something rarer."),
        "nothing found": _("Nothing found. Fewer or other words may help."),
    }
    if results.empty:
        console.print(reasons.get(results.empty, results.empty))
    for hit in results.hits:
        edited = "" if hit.current else _(" · edited away")
        place = f" · {hit.project}" if hit.project != Scope().project else ""
        where = f"{hit.conversation}{place} · {format_time(hit.at)} · {speaker_label(hit.role)}{edited}"
        print_headline(hit.title, where)
        write(f"{hit.snippet}\n")
        console.print(f"{hit.message} · {', '.join(hit.matched)}\n", style="dim")


@app.command()
def rename(
    context: typer.Context,
    conversation: ConversationId,
    title: Annotated[list[str], typer.Argument(metavar="TITLE", help="What it is to be called.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a conversation another title."""
    from holdfast.conversations.serialization import serialize_conversation

    named = " ".join(" ".join(title).split())
    if not named:
        raise BadRequest(_("a title needs at least one character"))
    with open_conversation(load(context).settings, conversation, project) as (store, row):
        row = store.log.rename(row.id, named)
    if as_json:
        print_json(serialize_conversation(row))
    else:
        console.print(_("{id} is now called: {named}").format(id=row.id, named=named))


@app.command()
def move(
    context: typer.Context,
    conversation: ConversationId,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The project (`default`: none).")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Move a conversation and its forks to another project; what was learned in it stays."""
    from holdfast.conversations.serialization import serialize_conversation
    from holdfast.transfer.projects import move_to_project
    from holdfast.wiring import build_remembering

    if not target.strip(" .") or len(target) > 100 or any(sign in target for sign in "/\\\0"):
        raise BadRequest(
            _("'{name}' is no usable name of a project").format(name=target),
            hint=_("Up to 100 characters, without slashes."),
        )
    settings = load(context).settings
    with (
        open_conversation(settings, conversation, project) as (store, row),
        closing(build_remembering(settings, store)) as memory,
    ):
        (row,) = move_to_project(store, memory, [row], target.strip())
    if as_json:
        print_json(serialize_conversation(row))
    else:
        console.print(_("{id} is in the project {project} now.").format(id=row.id, project=row.scope.project))


@app.command()
def delete(
    context: typer.Context,
    conversation: ConversationId,
    yes: YesOption = False,
    forget: Annotated[
        bool, typer.Option("--forget", help="Forget what was learned in it, too; else that stays.")
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete a conversation and its words, except those that a fork shares."""
    from holdfast.conversations.serialization import serialize_conversation
    from holdfast.wiring import build_remembering

    settings = load(context).settings
    with open_conversation(settings, conversation, project) as (store, row):
        if not yes:
            confirm_deletion(row)
        store.log.delete(row.id)
        with closing(build_remembering(settings, store)) as memory:
            forgotten = memory.remove_conversation(row.scope, row.id, forget=forget)
    if as_json:
        print_json({"deleted": serialize_conversation(row), "forgotten": forgotten})
    else:
        console.print(_("Deleted: {id}").format(id=row.id))


def confirm_deletion(row: "ConversationRecord") -> None:
    """Ask before deleting a conversation; exit unless the user agrees."""
    if not sys.stdin.isatty():
        raise BadRequest(
            _("{id} was not deleted: there is no terminal on which to confirm it.").format(id=row.id),
            hint=_("Add --yes to delete it without a question."),
        )
    print_headline(row.title, row.id)
    if not typer.confirm(_("Delete it for good?"), default=False):
        console.print(_("Nothing was deleted."))
        raise typer.Exit(1)


@app.command()
def fork(
    context: typer.Context,
    conversation: ConversationId,
    message: Annotated[
        str | None,
        typer.Argument(metavar="MESSAGE", help="The last message to share, by number or id; else all."),
    ] = None,
    title: Annotated[str, typer.Option(help="What the fork is called; else as its origin.")] = "",
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Go on in a second conversation from any message; both share what came before it."""
    from holdfast.conversations import lanes
    from holdfast.conversations.identity import find_message
    from holdfast.conversations.serialization import serialize_conversation

    with open_conversation(load(context).settings, conversation, project) as (store, row):
        start = None if message is None else find_message(store, row, message).id
        copy = store.atomically(lanes.fork, store, row, start, title.strip())
    if as_json:
        print_json(serialize_conversation(copy))
    else:
        sentence = _("Forked: {id}. Go on with `holdfast chat -c {id}`.")
        console.print(sentence.format(id=copy.id))


@app.command()
def prune(
    context: typer.Context,
    older_than: Annotated[str, typer.Option(help="Time since the last message: 90d, 12w, 6m, 1y.")],
    memories: Annotated[
        MemoryPolicy, typer.Option(help="What becomes of what was learned in them.")
    ] = MemoryPolicy.keep,
    everywhere: Annotated[bool, typer.Option("--all", help="In all projects, of all people.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    yes: YesOption = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete conversations without a new message for a long time."""
    from holdfast.background.retention import DAY, Retention
    from holdfast.conversations.serialization import serialize_conversation
    from holdfast.store import open_store
    from holdfast.wiring import build_remembering

    settings, days, now = load(context).settings, parse_age(older_than), time.time()
    scope = None if everywhere else current_scope(project)
    with open_store(settings.store) as store:
        unused = store.log.list_unused_since(now - days * DAY, scope, _MAX_PRUNED)
        if dry_run or not unused:
            if as_json:
                print_json({"would_delete": [serialize_conversation(row) for row in unused]})
            else:
                print_unused(unused)
            return
        if not yes:
            print_unused(unused)
            confirm_prune(len(unused), memories)
        with closing(build_remembering(settings, store)) as remembering:
            forget = memories is MemoryPolicy.forget
            gone = Retention(store, remembering, days, forget).prune(now, scope)
    forgotten = sum(number for _unused, number in gone)
    if as_json:
        print_json(
            {"deleted": [serialize_conversation(row) for row, _unused in gone], "forgotten": forgotten}
        )
        return
    console.print(
        _("Deleted: {count} conversations, {forgotten} memories.").format(
            count=len(gone), forgotten=forgotten
        )
    )


def print_unused(rows: "list[ConversationRecord]") -> None:
    if not rows:
        console.print(_("Nothing is that old."))
        return
    columns = (_("id"), _("last used"), _("project"), _("title"))
    print_table(
        columns, [(row.id, format_time(row.updated_at), row.scope.project, row.title) for row in rows]
    )


def confirm_prune(number: int, memories: MemoryPolicy) -> None:
    learned = (
        _("what was learned in them is forgotten, too")
        if memories is MemoryPolicy.forget
        else _("what was learned in them stays")
    )
    ask_consent(
        _("Delete {number} conversations for good? ({learned})").format(number=number, learned=learned),
        _("Nothing was deleted: there is no terminal on which to confirm it."),
    )


def parse_age(text: str) -> int:
    match = _AGE.fullmatch(text.strip().lower())
    if match is None or int(match[1]) == 0:
        raise BadRequest(
            _("{text!r} is no age.").format(text=text),
            hint=_("Write 90d, 12w, 6m or 1y."),
        )
    return int(match[1]) * _DAYS[match[2]]


@app.command()
def switch(
    context: typer.Context,
    conversation: ConversationId,
    off: Annotated[
        bool | None, typer.Option("--off/--on", help="Only pass its requests through, and keep nothing more.")
    ] = None,
    memory: Annotated[
        bool | None,
        typer.Option("--memory/--no-memory", help="Whether anything is remembered in it and of it."),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Switch Holdfast off for one conversation, or only its memory."""
    from holdfast.conversations.serialization import serialize_conversation

    wanted = {name: value for name, value in (("off", off), ("memory", memory)) if value is not None}
    if not wanted:
        raise BadRequest(
            _("nothing to switch"),
            hint=_("Add --off, --on, --memory or --no-memory."),
        )
    with open_conversation(load(context).settings, conversation, project) as (store, row):
        row = store.log.update_settings(row.id, wanted)
    if as_json:
        print_json(serialize_conversation(row))
        return
    state = _("passed through, nothing is kept") if row.off else _("kept and made to fit")
    remembered = _("with memory") if row.memory else _("no memory")
    console.print(f"{row.id}: {state}, {remembered}")


app.command("compact")(compact)

app.command("pin")(pin)

app.command("unpin")(unpin)

app.command("undo")(undo)

app.command("expand")(expand)
