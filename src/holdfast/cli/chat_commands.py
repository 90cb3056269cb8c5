"""The slash commands of a chat (`/help`, `/window`, ...) as a table.

Each does what the command of the same name does on the command line, with the same functions.
"""

import asyncio
import difflib
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from holdfast.cli.chat_screen import ChatScreen
from holdfast.cli.output import console, format_time, print_table, write
from holdfast.cli.session import ChatSession, clean
from holdfast.cli.window import speaker_label
from holdfast.config import Settings
from holdfast.errors import BadRequest, HoldfastError, NotFound
from holdfast.i18n import gettext as _
from holdfast.i18n import lazy, translate

if TYPE_CHECKING:
    from holdfast.context.message_state import WindowReading
    from holdfast.memory.service import MemoryService
    from holdfast.store import ConversationRecord, Store

# Does not match a path like /etc/hosts.
_COMMAND = re.compile(r"/([\w?-]+)(?:\s+(.*))?", re.DOTALL)
_LIST_LIMIT = 10


@dataclass(frozen=True, slots=True)
class ChatContext:
    """What a slash command works on."""

    session: ChatSession
    screen: ChatScreen
    settings: Settings

    @property
    def row(self) -> "ConversationRecord":
        if self.session.conversation is None:
            raise BadRequest(_("Nothing was said yet."))
        return self.session.engine.store.log.get(self.session.conversation, self.session.scope)

    @property
    def memory(self) -> "MemoryService":
        assert self.session.engine.remembering is not None
        return self.session.engine.remembering


@dataclass(frozen=True, slots=True)
class ChatCommand:
    """A slash command: `takes` names its argument and `about` describes it."""

    do: Callable[[ChatContext, str], Awaitable[None]]
    takes: str
    about: str


async def show_help(_chat: ChatContext, _text: str) -> None:
    rows = [
        (f"{name} {translate(command.takes)}".rstrip(), translate(command.about))
        for name, command in CHAT_COMMANDS.items()
    ]
    print_table(("", ""), rows)
    console.print(
        _(
            "Several lines: Alt-Enter, or a backslash at the end of a line. @./file.py brings a file along."
            " Ctrl-C stops an answer, Ctrl-D ends."
        ),
        style="dim",
    )


async def show_window(chat: ChatContext, _: str) -> None:
    from holdfast.cli.window import print_window
    from holdfast.context.message_state import window_account

    store, row = chat.session.engine.store, chat.row
    print_window(store, row, window_account(store, row))


async def compact_now(chat: ChatContext, _: str) -> None:
    from holdfast.cli.window import compact_conversation, print_summary_result

    print_summary_result(await compact_conversation(chat.session.engine, chat.row))
    chat.screen.clear_updates()


async def undo_last(chat: ChatContext, decision: str) -> None:
    from holdfast.cli.window import print_undo_result, undo_decisions

    print_undo_result(*undo_decisions(chat.session.engine.store, chat.row, decision or None))


async def remember(chat: ChatContext, text: str) -> None:
    from holdfast.cli.memory import print_outcome

    require_argument(text, "/remember", lazy("what is to be remembered"))
    print_outcome(await asyncio.to_thread(chat.memory.library.add, chat.session.scope, clean(text)))


async def forget(chat: ChatContext, name: str) -> None:
    require_argument(name, "/forget", lazy("a memory's id"))
    chat.screen.notebook.expect_drop(name)
    try:
        gone = await asyncio.to_thread(chat.memory.library.forget, chat.session.scope, name)
    except NotFound as error:
        raise NotFound(error.message, hint=_("/memory WORDS shows ids.")) from error
    write(_("Forgotten: {text}\n").format(text=gone.text))


async def correct(chat: ChatContext, text: str) -> None:
    from holdfast.cli.chat_screen import BOTH, FORGET, REPLACE, UNDO

    notebook, library, scope = chat.screen.notebook, chat.memory.library, chat.session.scope
    # In a script nothing printed the new memories, so catch up with them first.
    notebook.catch_up()
    if text == UNDO:
        await asyncio.to_thread(notebook.undo, library, scope)
    elif text == FORGET:
        await asyncio.to_thread(notebook.forget, library, scope)
    elif text in (REPLACE, BOTH):
        await asyncio.to_thread(notebook.decide, library, scope, replaces=text == REPLACE)
    elif text:
        await asyncio.to_thread(notebook.correct, library, scope, clean(text))
    else:
        await asyncio.to_thread(notebook.show, library, scope)


async def show_memories(chat: ChatContext, query: str) -> None:
    from holdfast.cli.memory import print_page, print_search_answer

    scope, memory = chat.session.scope, chat.memory
    if query:
        print_search_answer(await asyncio.to_thread(memory.search.search, clean(query), scope), cited=True)
    else:
        print_page(await asyncio.to_thread(memory.library.page, scope, limit=_LIST_LIMIT), 0)


async def research(chat: ChatContext, question: str) -> None:
    from holdfast.cli.research import gather_sources, print_sources

    require_argument(question, "/research", lazy("what is to be found out"))
    research_answer = await gather_sources(chat.session, chat.settings, clean(question))
    await chat.screen.answer(question, research_answer.finding.id)
    print_sources(research_answer.finding, time.time())


async def switch_model(chat: ChatContext, name: str) -> None:
    names = [model.name for model in await chat.session.engine.upstreams.models()]
    if not name:
        for candidate in names:
            write(f"{'▸' if candidate == chat.session.model else ' '} {candidate}\n")
        return
    known = next((candidate for candidate in names if candidate in (name, f"{name}:latest")), None)
    if known is None:
        raise NotFound(
            _("There is no model {name}.").format(name=name),
            hint=suggest_names(name, names) or _("/model lists them."),
        )
    chat.session.model = known
    console.print(Text(_("From here on: {known}").format(known=known)))


async def save_to_file(chat: ChatContext, name: str) -> None:

    require_argument(name, "/save", lazy("a file"))
    place = save_markdown(chat.session.engine.store, chat.row, name)
    console.print(Text(_("Written: {place}").format(place=place)))


async def quit_chat(_: ChatContext, __: str) -> None:
    raise EOFError


_NO_ARGUMENT = ""
CHAT_COMMANDS: dict[str, ChatCommand] = {
    "/help": ChatCommand(show_help, _NO_ARGUMENT, lazy("Say what can be done here.")),
    "/window": ChatCommand(
        show_window,
        _NO_ARGUMENT,
        lazy("Show what the model sees, and what is out and why."),
    ),
    "/compact": ChatCommand(
        compact_now,
        _NO_ARGUMENT,
        lazy("Summarise the older part of the conversation now."),
    ),
    "/undo": ChatCommand(
        undo_last,
        lazy("[DECISION]"),
        lazy("Take back the last shortening or summary."),
    ),
    "/remember": ChatCommand(
        remember,
        lazy("TEXT"),
        lazy("Remember something beyond this conversation."),
    ),
    "/forget": ChatCommand(forget, lazy("ID"), lazy("Forget a memory for good.")),
    "/wrong": ChatCommand(
        correct,
        lazy("[TEXT|forget|undo|replace|both]"),
        lazy("Open what was remembered last; correct it, forget it, undo that."),
    ),
    "/memory": ChatCommand(
        show_memories,
        lazy("[WORDS]"),
        lazy("List memories, or search them."),
    ),
    "/research": ChatCommand(
        research,
        lazy("QUESTION"),
        lazy("Find something out, and answer with the sources."),
    ),
    "/model": ChatCommand(
        switch_model,
        lazy("[NAME]"),
        lazy("List models, or change to one."),
    ),
    "/save": ChatCommand(
        save_to_file,
        lazy("FILE"),
        lazy("Write the conversation to a new file, as Markdown."),
    ),
    "/quit": ChatCommand(quit_chat, _NO_ARGUMENT, lazy("End; the conversation is kept.")),
}
_ALIASES = {"/exit": "/quit", "/bye": "/quit", "/?": "/help"}


def is_command(line: str) -> bool:
    return _COMMAND.fullmatch(line) is not None


async def run_command(chat: ChatContext, line: str) -> None:
    """Run the command on a line; raises EOFError if the chat is to end."""
    match = _COMMAND.fullmatch(line)
    assert match is not None
    name = f"/{match[1].lower()}"
    command = CHAT_COMMANDS.get(_ALIASES.get(name, name))
    if command is None:
        raise BadRequest(
            _("There is no {name}.").format(name=name),
            hint=suggest_names(name, CHAT_COMMANDS) or _("/help lists what there is."),
        )
    await command.do(chat, (match[2] or "").strip())


def command_help() -> dict[str, str]:
    return {name: translate(command.about) for name, command in CHAT_COMMANDS.items()}


def suggest_names(name: str, names: "list[str] | dict[str, ChatCommand]") -> str:
    near = " ".join(difflib.get_close_matches(name, names, n=3, cutoff=0.5))
    return _("Near it: {near}.").format(near=near) if near else ""


def require_argument(text: str, name: str, description: str) -> None:
    if not text:
        raise BadRequest(_("{name} needs {what}.").format(name=name, what=translate(description)))


def save_markdown(store: "Store", row: "ConversationRecord", name: str) -> Path:
    from holdfast.context.message_state import load_reading

    place = Path(name).expanduser()
    text = render_markdown(load_reading(store, row))
    try:
        with place.open("x", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except FileExistsError:
        raise BadRequest(
            _("{place} is there already.").format(place=place),
            hint=_("Name another file."),
        ) from None
    except OSError as error:
        raise HoldfastError(
            _("{place} could not be written: {strerror}.").format(place=place, strerror=error.strerror),
            hint=_("Name another file."),
        ) from None
    return place


def render_markdown(reading: "WindowReading") -> str:
    """Render a conversation as Markdown: who said what, and where older messages were summarised."""
    row = reading.conversation
    pieces = [f"# {row.title or row.id}", f"{row.id} · {format_time(row.created_at)}"]
    for stored in reading.path:
        message = stored.message
        cut = _(" (cut off)") if stored.finish == "cut" else ""
        pieces.append(f"## {speaker_label(message.role)}{cut}")
        if message.text:
            pieces.append(message.text)
        pieces += [f"`{call.name}({call.arguments})`" for call in message.tool_calls]
        pieces += [f"*{banner.text}*" for banner in reading.banners.get(stored.id, ())]
    return "\n\n".join(pieces) + "\n"
