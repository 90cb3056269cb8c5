"""A client in a home of its own: how it is run, and how it is typed to in a terminal."""

import os
import select
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# A client may fetch its own parts when it first runs.
LIMIT_SECONDS = 600
# A terminal in which nothing moves for so long waits for the person.
_QUIET_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class Session:
    """A client in a home of its own, in a folder with a repository."""

    command: Sequence[str]
    home: Path
    folder: Path
    variables: Mapping[str, str]

    def run(self, *arguments: str, typed: str | None = None) -> str:
        """Run it once and return what it printed; what it says on the error stream is for the log."""
        done = subprocess.run(
            [*self.command, *arguments],
            cwd=self.folder,
            env=self.environment,
            input=typed or "",
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
        )
        if done.returncode:
            raise RuntimeError(
                f"{self.command[0]} ended with {done.returncode}: {(done.stderr or done.stdout)[-600:]}"
            )
        return done.stdout

    @property
    def environment(self) -> dict[str, str]:
        # opencode works in the folder that the shell names, and not in the one it is started in; and it
        # installs a package for plugins that ours does not need.
        surroundings = {"PWD": str(self.folder), "npm_config_offline": "true"}
        return {**os.environ, "HOME": str(self.home), **surroundings, **self.variables}


@dataclass
class Terminal:
    """A program in a terminal of its own; what it prints is read and thrown away."""

    descriptor: int

    @classmethod
    @contextmanager
    def open(cls, session: Session, arguments: Sequence[str]) -> Iterator["Terminal"]:
        outer, inner = os.openpty()
        termios.tcsetwinsize(inner, (50, 160))
        command = [*session.command, *arguments]
        environment = {**session.environment, "TERM": "xterm-256color"}
        with subprocess.Popen(
            command,
            cwd=session.folder,
            env=environment,
            start_new_session=True,
            stdin=inner,
            stdout=inner,
            stderr=inner,
        ) as process:
            os.close(inner)
            terminal = cls(outer)
            try:
                # Its first sign of life may take long.
                select.select([outer], [], [], LIMIT_SECONDS)
                terminal.wait()
                yield terminal
            finally:
                process.terminate()
                os.close(outer)

    def write(self, text: str) -> None:
        os.write(self.descriptor, text.encode())
        self.wait()

    def wait(self) -> None:
        """Read until nothing was printed for some seconds."""
        deadline = time.monotonic() + LIMIT_SECONDS
        while time.monotonic() < deadline and select.select([self.descriptor], [], [], _QUIET_SECONDS)[0]:
            try:
                printed = os.read(self.descriptor, 65_536)
            except OSError:
                return
            if b"\x1b[6n" in printed:
                # It asks where the cursor is, and waits for the answer.
                os.write(self.descriptor, b"\x1b[1;1R")
