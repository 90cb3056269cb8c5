"""The process of the embedded model: starts it, learns its address, and makes sure that it goes.

Knows the handshake of `embedded_server` and nothing of requests.
"""

import asyncio
import json
import secrets
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from holdfast.errors import Unreachable
from holdfast.upstreams.processes import read_tail, start_process, stop_process

_TAIL_LINES = 12


@dataclass(slots=True)
class EmbeddedProcess:
    url: str
    key: str
    process: subprocess.Popen[str]

    @classmethod
    async def start(cls, model: Path, *, ctx: int, threads: int, log: Path, seconds: float) -> Self:
        """Starts the server and waits until it listens. Its stderr goes to the end of `log`."""
        key = secrets.token_urlsafe(24)
        process = await asyncio.to_thread(start_server, model, ctx, threads, log)
        line: str | None = None
        try:
            async with asyncio.timeout(seconds):
                line = await asyncio.to_thread(exchange_key, process, key)
        except TimeoutError:
            raise Unreachable(
                f"the embedded model did not start within {seconds:g} seconds.", hint=f"Its log is {log}."
            ) from None
        finally:
            if line is None:
                process.kill()
                stop_process(process)
        if not line:
            code = await asyncio.to_thread(stop_process, process)
            raise Unreachable(
                f"the embedded model did not start (exit code {code}).{read_tail(log, _TAIL_LINES)}\n",
                hint=f"Its log is {log}.",
            )
        return cls(json.loads(line)["url"], key, process)

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    async def stop(self) -> None:
        await asyncio.to_thread(stop_process, self.process)


def start_server(model: Path, ctx: int, threads: int, log: Path) -> subprocess.Popen[str]:
    # -P: a file called json.py in the current folder is none of our business.
    command = [sys.executable, "-P", "-m", "holdfast.upstreams.embedded_server"]
    command += ["--model", str(model), "--ctx", str(ctx), "--threads", str(threads)]
    return start_process(command, log, text=True)


def exchange_key(process: subprocess.Popen[str], key: str) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(key + "\n")
        process.stdin.flush()
    except BrokenPipeError:
        return ""
    return process.stdout.readline()
