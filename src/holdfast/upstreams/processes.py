"""Starts and stops child processes that communicate by pipes; they exit when their pipes are closed."""

import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

_STOP_SECONDS = 5.0
_LOG_BYTES = 1_000_000


def start_process(command: Sequence[str], log: Path, *, text: bool) -> subprocess.Popen[Any]:
    """Starts a process whose stderr is appended to `log`, which is truncated when it is large."""
    log.parent.mkdir(parents=True, exist_ok=True)
    fresh = not log.exists() or log.stat().st_size > _LOG_BYTES
    with log.open("wb" if fresh else "ab") as stderr:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=text,
            # Ctrl-C in a terminal must not reach the child; it exits with its parent.
            start_new_session=True,
        )


def stop_process(process: subprocess.Popen[Any]) -> int:
    """Closes the pipes, which tells the process to exit, and waits for it; returns the exit code."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(BrokenPipeError):
        process.stdin.close()
    try:
        code = process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
    process.stdout.close()
    return code


def read_tail(log: Path, lines: int) -> str:
    """Returns the last lines of a log, for an error message."""
    last = log.read_text("utf-8", "replace").splitlines()[-lines:]
    return "".join(f"\n  {line}" for line in last)
