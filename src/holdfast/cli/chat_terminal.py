"""Terminal input for a chat: a multi-line editor with history, completion and a status line.

Apart from `chat`, because prompt_toolkit is slow to import and needed only at a terminal.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.styles import Style

from holdfast.files.references import Reference, format_reference

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
