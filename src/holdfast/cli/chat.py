"""`holdfast chat`: an interactive chat, or one driven by a script. Each line is a message or a command.

Terminal input is in `chat_terminal`, the display in `chat_screen`, the slash commands in `chat_commands`.
"""

import asyncio
import logging
import signal
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol

import typer
from rich.text import Text

from holdfast.cli import chat_commands
from holdfast.cli.chat_commands import ChatContext
from holdfast.cli.chat_screen import ChatScreen, format_meter, print_stopped
from holdfast.cli.options import ProjectOption, current_scope, find_conversation
from holdfast.cli.output import console, load, print_error, print_headline
from holdfast.cli.session import ChatSession, ConversationOption, ModelOption, SystemOption, choose_model
from holdfast.config import HISTORY
from holdfast.errors import HoldfastError
from holdfast.i18n import gettext as _

if TYPE_CHECKING:
    from holdfast.store import ConversationRecord


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
        console.print(Text(f"{chat.session.model}. {greeting}", style="dim"))
    while (line := await lines.next()) is not None:
        chat.screen.print_updates()
        if line.strip() and not await handle_line(chat, line.strip()):
            break
    if chat.session.conversation:
        go_on = f"holdfast chat -c {chat.session.conversation}"
        print_error(_("Go on with: {go_on}").format(go_on=go_on))


def open_terminal(chat: ChatContext, row: "ConversationRecord | None") -> LineSource:
    from holdfast.cli.chat_terminal import TerminalLines

    lanes = chat.session.engine.store.lanes.of(row.id) if row else []
    before = lanes[0].report if lanes else {}
    return TerminalLines(
        chat.settings.home / HISTORY,
        chat_commands.command_help,
        lambda: format_meter(chat.session.report or before or {}, chat.session.model),
    )


async def handle_line(chat: ChatContext, line: str) -> bool:
    """Send a line or run it as a command; report errors. Return whether the chat goes on."""
    work = (
        chat_commands.run_command(chat, line) if chat_commands.is_command(line) else chat.screen.answer(line)
    )
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
