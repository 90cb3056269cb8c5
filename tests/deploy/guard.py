"""Watches whom Holdfast reaches, in processes of its own, children of children included.

In each of them Python tells of every connection before it is made. uvloop would connect without telling, so
it is not there: the same code runs on asyncio's own loop.
"""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

_LOOPBACK = ("127.0.0.1", "::1", "localhost", "None", "")

GUARD = """
import json, os, sys

sys.modules["uvloop"] = None


def _told(event, values):
    if event == "socket.connect" and isinstance(values[1], tuple):
        seen = ("connect", str(values[1][0]), values[1][1])
    elif event == "socket.sendto" and isinstance(values[1], tuple):
        seen = ("send", str(values[1][0]), values[1][1])
    elif event == "socket.getaddrinfo":
        seen = ("look up", str(values[0]), values[1])
    elif event in ("socket.gethostbyname", "socket.gethostbyaddr"):
        seen = ("look up", str(values[0]), None)
    else:
        return
    line = json.dumps([os.path.basename(sys.argv[0] if hasattr(sys, "argv") else ""), *seen], default=str)
    handle = os.open(os.environ["WATCHED"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, line.encode() + b"\\n")
    os.close(handle)


sys.addaudithook(_told)
"""


class Watched:
    """Runs Holdfast with a guard in every process, and knows what they reached."""

    def __init__(self, folder: Path) -> None:
        (folder / "guard").mkdir()
        (folder / "guard" / "sitecustomize.py").write_text(GUARD)
        self._log = folder / "watched"
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(folder / "guard"),
            "WATCHED": str(self._log),
            "HOLDFAST_HOME": str(folder / "home"),
            "HOLDFAST_LANGUAGE": "en",
            "HOLDFAST_RESEARCH_PRIVATE": "on",
        }

    def run(self, *command: str, **more: str) -> "subprocess.CompletedProcess[str]":
        words, environment = [sys.executable, *command], {**self.environment, **more}
        return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=170)

    @contextmanager
    def serve(self, upstream: str):
        command = [sys.executable, "-m", "holdfast", "serve", "--port", "0", "--upstream", upstream]
        process = subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, text=True)
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()
            process.communicate(timeout=60)

    @property
    def reached(self) -> list[tuple[str, str, str, int | None]]:
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        return [tuple(json.loads(line)) for line in lines]

    @property
    def elsewhere(self) -> list[tuple[str, str, str, int | None]]:
        """What was not on this machine."""
        return [item for item in self.reached if item[2] not in _LOOPBACK]
