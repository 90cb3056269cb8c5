"""How each real client is made to say something without a person in front of it, and to go on with it.

Knows command lines, and nothing of what is measured.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

from evals.clients_open_webui import say_on_page
from evals.clients_session import Session, Terminal


@dataclass(frozen=True, slots=True)
class Program:
    """`say` says all turns of a session, each in a process of its own where the client can go on."""

    name: str
    say: Callable[[Session, Sequence[str]], None]
    # A client that sends what was said and next to nothing of its own.
    plain: bool = False
    # It has our MCP server, and works in the folder in which it is started.
    has_projects: bool = False


def _say_each(first: Sequence[str], more: Sequence[str]) -> Callable[[Session, Sequence[str]], None]:
    def say(session: Session, turns: Sequence[str]) -> None:
        for at, turn in enumerate(turns):
            session.run(*(more if at else first), turn)

    return say


def _say_typed(*arguments: str, end: str) -> Callable[[Session, Sequence[str]], None]:
    def say(session: Session, turns: Sequence[str]) -> None:
        session.run(*arguments, typed="".join(f"{turn}\n" for turn in (*turns, end)))

    return say


def _say_in_terminal(*arguments: str) -> Callable[[Session, Sequence[str]], None]:
    """For a client that goes on only in front of a terminal: each turn is pasted when nothing moves."""

    def say(session: Session, turns: Sequence[str]) -> None:
        with Terminal.open(session, arguments) as terminal:
            # Whatever is announced at the start is closed; MCP servers come up meanwhile, unseen.
            for _ in range(3):
                terminal.write("\x1b")
            for turn in turns:
                terminal.write(f"\x1b[200~{turn}\x1b[201~")
                terminal.write("\r")

    return say


def _say_in_session(session: Session, turns: Sequence[str]) -> None:
    """OpenClaw goes on with the session that is named."""
    name = uuid4().hex
    for turn in turns:
        session.run("agent", "--local", "--session-id", name, "--message", turn)


_CODEX = (
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
    # The fake answers before a server of MCP is up.
    "-c",
    "mcp_servers.holdfast.required=true",
)
_CLAUDE = ("-p", "--allowedTools", "Read,mcp__holdfast", "--")
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
        Program("opencode", _say_each(("run",), ("run", "--continue")), has_projects=True),
        Program("claude-code", _say_each(_CLAUDE, ("-c", *_CLAUDE)), has_projects=True),
        Program(
            "codex", _say_each(("exec", *_CODEX), ("exec", "resume", "--last", *_CODEX)), has_projects=True
        ),
        Program("aider", _say_typed(*_AIDER, end="/exit")),
        Program("continue", _say_each(("-p", "--auto"), ("-p", "--auto", "--resume")), has_projects=True),
        Program("llm", _say_each((), ("-c",))),
        Program("cline", _say_in_terminal("--tui", "--compaction", "off"), has_projects=True),
        Program("open-webui", say_on_page, plain=True),
        Program("openclaw", _say_in_session),
    )
}
