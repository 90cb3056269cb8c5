"""Processes that begin with all modules of Holdfast loaded, for campaigns and tests with many of them.

Nine tenths of the work of a start is loading modules, which is the same each time. A process that has loaded
them (the "fork server" of multiprocessing) is copied instead; the copy runs the command line, or a script, as
any other process, and is killed as any other.
"""

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["__main__", "evals.forked_modules"])


class ForkedProcess:
    """A command of Holdfast, or another target, with what is used of `subprocess.Popen`.

    What it writes goes into two files, which may be the same.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        output: Path,
        errors: Path,
        target: Callable[[], None] | None = None,
    ) -> None:
        self._output, self._errors = output, errors
        words = ["holdfast", *arguments]
        self._process = _CONTEXT.Process(
            target=_run, args=(target or run_command, words, dict(environment), folder, output, errors)
        )
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()

    def terminate(self) -> None:
        self._process.terminate()

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("holdfast", timeout or 0.0)
        return self._process.exitcode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for its end; return what it wrote."""
        self.wait(timeout)
        return self._output.read_text(errors="replace"), self._errors.read_text(errors="replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.wait()


def run_command() -> None:
    """Be the command line."""
    from holdfast.cli import main

    main()


def run_script() -> None:
    """Be `python -c`: the first argument is the script."""
    code = sys.argv.pop(1)
    exec(compile(code, "<script>", "exec"), {"__name__": "__main__"})


def run_forked(script: str, *arguments: str, limit: float = 120.0) -> subprocess.CompletedProcess[str]:
    """Run a script to its end as `python -c` does, with the modules loaded."""
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder, "output"), Path(folder, "errors")
        words = [script, *arguments]
        process = ForkedProcess(words, os.environ, Path.cwd(), *files, target=run_script)
        try:
            output, errors = process.communicate(limit)
        finally:
            process.kill()
        return subprocess.CompletedProcess(words, process.returncode or 0, output, errors)


def _run(
    target: Callable[[], None],
    words: list[str],
    environment: Mapping[str, str],
    folder: Path,
    output: Path,
    errors: Path,
) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for path, number in ((output, 1), (errors, 2)):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(file, number)
        os.close(file)
    sys.argv = words
    target()
