"""Batch jobs and files of a fake server: how far each job is, and what came of its lines.

Knows no protocol.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

FakeJobState = Literal["running", "done", "failed", "expired", "cancelled"]


@dataclass(slots=True)
class FakeJob:
    input: str
    state: FakeJobState = "running"
    output: str = ""
    errors: str = ""


@dataclass(slots=True)
class FakeJobs:
    """A job runs until somebody has looked at it `looks` times, and `ends` as it is told.

    `fails` says of which texts a line fails. One that expires has done every second line.
    """

    looks: int = 0
    ends: FakeJobState = "done"
    fails: Callable[[str], bool] = lambda _text: False
    files: dict[str, bytes] = field(default_factory=dict)
    jobs: dict[str, FakeJob] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def keep(self, content: bytes, before: str) -> str:
        name = f"{before}{next(self._numbers)}"
        self.files[name] = content
        return name

    def create(self, file: str, before: str) -> str:
        name = f"{before}{next(self._numbers)}"
        self.jobs[name] = FakeJob(file)
        return name

    def look(
        self, name: str, done: Callable[[Any], Any], failed: Callable[[Any], Any], before: str
    ) -> FakeJob:
        """The job, a step further. `done` and `failed` make the line of an answer from that of a request."""
        job = self.jobs[name]
        if job.state == "running":
            if self.looks:
                self.looks -= 1
            else:
                self._end(job, done, failed, before)
        return job

    def cancel(self, name: str) -> None:
        self.jobs[name].state = "cancelled"

    def _end(
        self, job: FakeJob, done: Callable[[Any], Any], failed: Callable[[Any], Any], before: str
    ) -> None:
        job.state = self.ends
        if self.ends not in ("done", "expired"):
            return
        asked = [json.loads(line) for line in self.files[job.input].splitlines()]
        if self.ends == "expired":
            asked = asked[::2]
        good = [done(line) for line in asked if not self.fails(json.dumps(line))]
        bad = [failed(line) for line in asked if self.fails(json.dumps(line))]
        # In another order than they were asked for.
        job.output = self.keep(_lines(good[::-1]), before) if good else ""
        job.errors = self.keep(_lines(bad), before) if bad else ""


def _lines(values: Sequence[Any]) -> bytes:
    return "".join(json.dumps(value) + "\n" for value in values).encode()
