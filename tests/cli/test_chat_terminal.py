"""`holdfast chat` at a real terminal: an answer as it comes, Ctrl-C, commands, the meter, the history."""

import os
import re
import select
import signal
import subprocess
import sys
import termios
import time

import pytest

from holdfast.messages import Scope
from holdfast.store import open_store
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeReply

pty = pytest.importorskip("pty", reason="there are no pseudo terminals here")

_STEERING = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-_])")
_PATIENCE = 60.0
# Ctrl-C reaches only those whose terminal it is: a new session, with what stands for the keyboard as its own.
_OWN = (
    "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)


class Terminal:
    """A program in a terminal of its own; what it shows is read without colours and movements."""

    def __init__(self, command, environment, folder):
        self._ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (40, 120))
        self.process = subprocess.Popen(
            [sys.executable, "-c", _OWN, *command],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment,
            cwd=folder,
        )
        os.close(theirs)
        self.shown = ""

    def type(self, text):
        self.shown = ""
        os.write(self._ours, text.encode())

    def sees(self, expected):
        """Reads until this was shown."""
        end = time.monotonic() + _PATIENCE
        while expected not in _STEERING.sub("", self.shown):
            left = end - time.monotonic()
            assert left > 0, f"{expected!r} was never shown, only: {self.shown[-2000:]!r}"
            if select.select([self._ours], [], [], left)[0]:
                read = os.read(self._ours, 65_536).decode(errors="replace")
                self.shown += read
                if "\x1b[6n" in read:
                    # Where the cursor is, as any terminal would say.
                    os.write(self._ours, b"\x1b[1;1R")

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait(_PATIENCE)
        os.close(self._ours)


def answer(call):
    if call.said == "count":
        return FakeReply("one ", endless=True)
    return FakeReply(f"You said: {call.said}", thinking="Let me see.")


@pytest.fixture
def terminal(tmp_path):
    with FakeOllama(answer).served() as address:
        plain = {"HOME": tmp_path / "home", "UPSTREAM": address, "LANGUAGE": "en", "EMBEDDER": "off"}
        environment = {
            **os.environ,
            **{f"HOLDFAST_{name}": str(value) for name, value in plain.items()},
            "TERM": "xterm",
        }
        opened = Terminal([sys.executable, "-m", "holdfast", "chat"], environment, tmp_path)
        try:
            yield opened
        finally:
            opened.close()


def test_a_talk_at_a_terminal(terminal, tmp_path):
    terminal.sees("/help says what can be done")
    terminal.sees("fake:latest")
    terminal.type("Hello\r")
    terminal.sees("Let me see.")
    terminal.sees("You said: Hello")
    terminal.sees("tokens/s")
    terminal.sees("% · level 0")

    terminal.type("count\r")
    terminal.sees("one one one")
    terminal.type("\x03")
    terminal.sees("Stopped; what came so far is kept.")

    # Ctrl-C on a line drops it, Alt-Enter and pasting make several lines of one message.
    terminal.sees("% · level 0")
    terminal.type("dropped\x03")
    terminal.type("first\x1b\rsecond \x1b[200~pasted\nlines\x1b[201~\r")
    terminal.sees("You said: first\r\nsecond pasted\r\nlines")
    terminal.type("/window\r")
    terminal.sees("messages: 4 whole")
    terminal.sees("% · level 0")
    terminal.type("\x04")
    terminal.sees("Go on with: holdfast chat -c c_")
    assert terminal.process.wait(_PATIENCE) == 0

    history = tmp_path / "home" / "chat_history"
    assert history.stat().st_mode & 0o777 == 0o600
    assert "dropped" not in history.read_text()
    with open_store(f"sqlite:///{tmp_path / 'home' / 'holdfast.db'}") as store:
        (row,) = store.log.recent(Scope())
        finishes = [item.finish for item in store.log.path(row.head) if item.message.role == "assistant"]
    assert finishes == ["stop", "cut", "stop"]


def test_what_was_remembered_is_told_beside_the_answer(terminal):
    terminal.sees("/help says what can be done")
    terminal.type("Remember that we deploy on Tuesdays.\r")
    terminal.sees("You said: Remember that we deploy on Tuesdays.")
    terminal.sees("Remembered: We deploy on Tuesdays. · wrong? /wrong")
    terminal.sees("% · level 0")
    terminal.type("/wrong We deploy on Mondays.\r")
    terminal.sees("Corrected: We deploy on Mondays.")
    terminal.sees("% · level 0")
    terminal.type("/wrong undo\r")
    terminal.sees("As before: We deploy on Tuesdays.")
    terminal.sees("% · level 0")
    terminal.type("Forget the Tuesdays thing.\r")
    terminal.sees("Not remembered any more: We deploy on Tuesdays. · /wrong undo")
    terminal.sees("% · level 0")
    terminal.type("/wrong undo\r")
    terminal.sees("As before: We deploy on Tuesdays.")
    terminal.sees("% · level 0")
    terminal.type("\x04")
    terminal.sees("Go on with: holdfast chat -c c_")
    assert terminal.process.wait(_PATIENCE) == 0
