"""Processes of our own that are talked to by pipes: how they begin, how they end, and what they said last.

Knows nothing of what is talked about. They leave when their pipes are closed, so also when we die.
"""

import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

_STOP_SECONDS = 5.0
_LOG_BYTES = 1_000_000


def start_process(command: Sequence[str], log: Path, *, text: bool) -> subprocess.Popen[Any]:
    """Begins a process whose stderr goes to the end of `log`, which begins anew when it is large."""
    log.parent.mkdir(parents=True, exist_ok=True)
    fresh = not log.exists() or log.stat().st_size > _LOG_BYTES
    with log.open("wb" if fresh else "ab") as stderr:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=text,
            # Ctrl-C in a terminal is for us; the child leaves when we do.
            start_new_session=True,
        )


def stop_process(process: subprocess.Popen[Any]) -> int:
    """Closes the pipes, by which a process knows that it may go, and waits until it has gone."""
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
    """The last lines of a log, to be shown under an error."""
    last = log.read_text("utf-8", "replace").splitlines()[-lines:]
    return "".join(f"\n  {line}" for line in last)
