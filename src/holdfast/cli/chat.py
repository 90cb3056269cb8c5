"""`holdfast chat`: an interactive chat, or one driven by a script. Each line is a message or a command.

The display is in `chat_screen`.
"""

import asyncio
import difflib
import logging
import os
import re
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol

import typer
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.styles import Style

from holdfast.cli.ask import (
    ChatSession,
    ConversationOption,
    ModelOption,
    SystemOption,
    choose_model,
    clean,
)
from holdfast.cli.chat_screen import ChatScreen, format_meter, print_stopped
from holdfast.cli.shared import (
    ProjectOption,
    console,
    current_scope,
    find_conversation,
    format_time,
    load,
    print_error,
    print_headline,
    print_table,
    write,
)
from holdfast.cli.window import speaker_label
from holdfast.config import HISTORY, Settings
from holdfast.errors import BadRequest, HoldfastError, NotFound, explain_os_error
from holdfast.files.references import Reference, format_reference
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
    console.print(_("From here on: {known}").format(known=known))


async def save_to_file(chat: ChatContext, name: str) -> None:

    require_argument(name, "/save", lazy("a file"))
    place = save_markdown(chat.session.engine.store, chat.row, name)
    console.print(_("Written: {place}").format(place=place))


async def quit_chat(_: ChatContext, __: str) -> None:
    raise EOFError


_NO_ARGUMENT = ""
CHAT_COMMANDS: dict[str, ChatCommand] = {
    "/help": ChatCommand(show_help, _NO_ARGUMENT, lazy("Say what can be done here.")),
    "/window": ChatCommand(
        show_window, _NO_ARGUMENT, lazy("Show what the model sees, and what is out and why.")
    ),
    "/compact": ChatCommand(
        compact_now, _NO_ARGUMENT, lazy("Summarise the older part of the conversation now.")
    ),
    "/undo": ChatCommand(undo_last, lazy("[DECISION]"), lazy("Take back the last shortening or summary.")),
    "/remember": ChatCommand(remember, lazy("TEXT"), lazy("Remember something beyond this conversation.")),
    "/forget": ChatCommand(forget, lazy("ID"), lazy("Forget a memory for good.")),
    "/wrong": ChatCommand(
        correct,
        lazy("[TEXT|forget|undo|replace|both]"),
        lazy("Open what was remembered last; correct it, forget it, undo that."),
    ),
    "/memory": ChatCommand(show_memories, lazy("[WORDS]"), lazy("List memories, or search them.")),
    "/research": ChatCommand(
        research, lazy("QUESTION"), lazy("Find something out, and answer with the sources.")
    ),
    "/model": ChatCommand(switch_model, lazy("[NAME]"), lazy("List models, or change to one.")),
    "/save": ChatCommand(
        save_to_file, lazy("FILE"), lazy("Write the conversation to a new file, as Markdown.")
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
            _("{place} is there already.").format(place=place), hint=_("Name another file.")
        ) from None
    except OSError as error:
        raise HoldfastError(
            _("{place} could not be written: {strerror}.").format(
                place=place, strerror=translate(explain_os_error(error))
            ),
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


_FILE = re.compile(r"(?:^|\s)@(?P<quote>[\"']?)(?P<path>[^\s\"']*)$")
# The most completions offered for a folder.
_MAX_COMPLETIONS = 200
_STYLE = Style.from_dict({"bottom-toolbar": "noreverse", "prompt": "bold"})


class TerminalLines:
    """Lines typed at a terminal. `commands` maps names to help; `meter` provides the status line."""

    def __init__(
        self, history: Path, commands: Callable[[], Mapping[str, str]], meter: Callable[[], tuple[str, str]]
    ) -> None:
        create_private_file(history)
        self._session: PromptSession[str] = PromptSession(
            history=FileHistory(str(history)),
            multiline=True,
            prompt_continuation="… ",
            completer=ChatCompleter(commands),
            complete_while_typing=True,
            bottom_toolbar=lambda: render_toolbar(*meter()),
            key_bindings=build_key_bindings(),
            style=_STYLE,
            enable_suspend=True,
        )

    async def next(self) -> str | None:
        while True:
            try:
                return await self._session.prompt_async([("class:prompt", "> ")])
            except KeyboardInterrupt:
                # Ctrl-C drops the line; Ctrl-D ends the chat.
                continue
            except EOFError:
                return None


def render_toolbar(colour: str, text: str) -> StyleAndTextTuples:
    return [(f"fg:{colour}" if colour else "", f" {text}")]


def create_private_file(path: Path) -> None:
    """Create a file that only its owner can read, as it will hold what was typed."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))


def build_key_bindings() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def send(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        chosen = buffer.complete_state and buffer.complete_state.current_completion
        if chosen:
            # The first return key accepts the completion, the next one sends.
            buffer.complete_state = None
        elif buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys


class ChatCompleter(Completer):
    """Completes commands at the beginning of a line, and file names after an @."""

    def __init__(self, commands: Callable[[], Mapping[str, str]]) -> None:
        self._commands = commands

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        del complete_event
        text = document.text_before_cursor
        if text.startswith("/") and not re.search(r"\s", text):
            for name, about in self._commands().items():
                if name.startswith(text):
                    yield Completion(name, start_position=-len(text), display_meta=about)
        elif match := _FILE.search(text):
            start = -len(match["quote"] + match["path"])
            for name in complete_paths(match["path"]):
                yield Completion(
                    format_reference(name, Reference(0, 0, name)), start_position=start, display=name
                )


def complete_paths(typed: str) -> Iterator[str]:
    """Yield paths that continue what was typed, spelled so that they are recognised as files."""
    folder, _, prefix = typed.rpartition("/")
    folder = f"{folder}/" if folder or typed.startswith("/") else "./"
    if not folder.startswith(("/", "~", ".")):
        folder = f"./{folder}"
    try:
        entries = sorted(os.scandir(Path(folder).expanduser()), key=lambda entry: entry.name)
    except OSError:
        return
    shown = (entry for entry in entries if entry.name.startswith(prefix))
    for number, entry in enumerate(entry for entry in shown if prefix or not entry.name.startswith(".")):
        if number == _MAX_COMPLETIONS:
            return
        yield f"{folder}{entry.name}{'/' if entry.is_dir() else ''}"


class LineSource(Protocol):
    async def next(self) -> str | None:
        """Return the next input, which may span several lines, or None at the end."""


class PipedLines:
    async def next(self) -> str | None:
        lines: list[str] = []
        if sys.stdin is not None and sys.stdin.isatty():
            # Input is typed while the answers go into a file.
            sys.stderr.write("> ")
            sys.stderr.flush()
        while (line := await read_line()) is not None:
            if not line.endswith("\\"):
                return "\n".join((*lines, line))
            lines.append(line.removesuffix("\\"))
        return "\n".join(lines) if lines else None


async def read_line() -> str | None:
    """Read a line in a daemon thread, so that Ctrl-C takes effect without a return key after it."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str | None] = loop.create_future()

    def read() -> None:
        data = sys.stdin.buffer.readline() if sys.stdin is not None else b""
        typed = data.decode("utf-8", "replace").rstrip("\r\n") if data else None
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(hand_over, typed)

    def hand_over(typed: str | None) -> None:
        if not line.done():
            line.set_result(typed)

    Thread(target=read, daemon=True).start()
    return await line


def chat(
    context: typer.Context,
    model: ModelOption = None,
    system: SystemOption = None,
    conversation: ConversationOption = None,
    project: ProjectOption = None,
) -> None:
    """Talk with a model; the conversation is kept and can be gone on with later."""
    settings = load(context, model=model).settings

    async def run() -> None:
        from holdfast.wiring import running_engine

        async with running_engine(settings) as engine:
            scope = current_scope(project)
            row = find_conversation(engine.store, conversation, scope) if conversation else None
            name = await choose_model(engine, settings.model)
            session = ChatSession(engine, name, scope, system, row.id if row else None)
            await run_chat(ChatContext(session, ChatScreen(engine.events, session), settings), row)

    with log_to_file(settings.home / "logs" / "chat.log"):
        asyncio.run(run())


@contextmanager
def log_to_file(path: Path) -> Iterator[None]:
    """Send log records to a file for the duration of the chat, so that they do not appear in it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    ours, file = logging.getLogger("holdfast"), logging.FileHandler(path, encoding="utf-8", delay=True)
    file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    ours.addHandler(file)
    try:
        yield
    finally:
        ours.removeHandler(file)
        file.close()


async def run_chat(chat: ChatContext, row: "ConversationRecord | None") -> None:
    terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    lines = open_terminal(chat, row) if terminal else PipedLines()
    if terminal:
        if row is not None:
            print_headline(row.title, row.id)
        greeting = _("/help says what can be done, Ctrl-D ends.")
        console.print(f"{chat.session.model}. {greeting}", style="dim")
    while (line := await lines.next()) is not None:
        chat.screen.print_updates()
        if line.strip() and not await handle_line(chat, line.strip()):
            break
    if chat.session.conversation:
        go_on = f"holdfast chat -c {chat.session.conversation}"
        print_error(_("Go on with: {go_on}").format(go_on=go_on))


def open_terminal(chat: ChatContext, row: "ConversationRecord | None") -> LineSource:

    lanes = chat.session.engine.store.lanes.of(row.id) if row else []
    before = lanes[0].report if lanes else {}
    return TerminalLines(
        chat.settings.home / HISTORY,
        command_help,
        lambda: format_meter(chat.session.report or before or {}, chat.session.model),
    )


async def handle_line(chat: ChatContext, line: str) -> bool:
    """Send a line or run it as a command; report errors. Return whether the chat goes on."""
    work = run_command(chat, line) if is_command(line) else chat.screen.answer(line)
    try:
        await run_until_interrupted(work)
    except EOFError:
        return False
    except HoldfastError as error:
        print_error(str(error))
    return True


async def run_until_interrupted(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine; Ctrl-C cancels it and leaves the chat running."""
    loop, task = asyncio.get_running_loop(), asyncio.create_task(work)
    interrupted = False

    def stop(*_: object) -> None:
        nonlocal interrupted
        interrupted = True
        loop.call_soon_threadsafe(task.cancel)

    before = signal.signal(signal.SIGINT, stop)
    try:
        await task
    except asyncio.CancelledError:
        if not interrupted:
            raise
        print_stopped()
    finally:
        signal.signal(signal.SIGINT, before)
