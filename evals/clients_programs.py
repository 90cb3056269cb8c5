"""How each real client is made to say something without a person in front of it, and to go on with it.

Knows command lines, and nothing of what is measured.
"""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# A client may fetch its own parts when it first runs.
_LIMIT_SECONDS = 600


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
            env={**os.environ, "HOME": str(self.home), **self._surroundings, **self.variables},
            input=typed or "",
            capture_output=True,
            text=True,
            timeout=_LIMIT_SECONDS,
        )
        if done.returncode:
            raise RuntimeError(
                f"{self.command[0]} ended with {done.returncode}: {(done.stderr or done.stdout)[-600:]}"
            )
        return done.stdout

    @property
    def _surroundings(self) -> dict[str, str]:
        # opencode works in the folder that the shell names, and not in the one it is started in; and it
        # installs a package for plugins that ours does not need.
        return {"PWD": str(self.folder), "npm_config_offline": "true"}


@dataclass(frozen=True, slots=True)
class Program:
    """`say` says all turns of a session, each in a process of its own where the client can go on."""

    name: str
    say: Callable[[Session, Sequence[str]], None]
    # A client that can say only one thing at a time without a terminal.
    one_turn: bool = False


def _say_each(first: Sequence[str], more: Sequence[str]) -> Callable[[Session, Sequence[str]], None]:
    def say(session: Session, turns: Sequence[str]) -> None:
        for at, turn in enumerate(turns):
            session.run(*(more if at else first), turn)

    return say


def _say_typed(*arguments: str, end: str) -> Callable[[Session, Sequence[str]], None]:
    def say(session: Session, turns: Sequence[str]) -> None:
        session.run(*arguments, typed="".join(f"{turn}\n" for turn in (*turns, end)))

    return say


_CODEX = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")
_CLAUDE = ("-p", "--allowedTools", "Read", "--")
_AIDER = (
    "--no-pretty",
    "--no-fancy-input",
    "--yes-always",
    "--no-check-update",
    "--analytics-disable",
    "--no-git",
)

PROGRAMS: Mapping[str, Program] = {
    program.name: program
    for program in (
        Program("opencode", _say_each(("run",), ("run", "--continue"))),
        Program("claude-code", _say_each(_CLAUDE, ("-c", *_CLAUDE))),
        Program("codex", _say_each(("exec", *_CODEX), ("exec", "resume", "--last", *_CODEX))),
        Program("aider", _say_typed(*_AIDER, end="/exit")),
        Program("continue", _say_each(("-p",), ("-p", "--resume"))),
        Program("llm", _say_each((), ("-c",))),
        Program("cline", _say_each(("--json",), ()), one_turn=True),
    )
}
