"""`python -m evals.reliability [--part crashes] [--kills N] [--minutes M] [--seed S] [--json] [--write]`

Is anything lost when the server is killed? `holdfast serve`, with everything as it is by default and SQLite
in a folder of its own, stands in front of the public fake of Ollama. Clients work through several doors at
once: chats that stream through `/api/chat`, `/v1/chat/completions`, `/v1/messages` and `/v1/responses` (there
by the id of the answer before), memories that are added, chats that are compacted. At a random moment the
server is ended by SIGKILL, sometimes also while it starts, and is started again on the same folder. Clients
whose answer broke off ask again, or ask something else.

Before they go on, what was acknowledged (an answer received to its end, a memory's 201) is compared with what
the server tells over REST and with the notes on the disk: nothing lost, doubled, out of order or in between,
each new memory and message found by search. After the last kill everything is compared once more. Moments and
words come from the seed; which request a kill hits depends on the machine too.
"""

import argparse
import contextlib
import math
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median
from typing import get_args

import httpx
import psutil  # type: ignore[import-untyped]

from evals.reliability_checks import (
    Finding,
    FindingKind,
    Line,
    Talk,
    check_copies,
    check_memories,
    check_talk,
)
from evals.reliability_clients import (
    DOORS,
    Client,
    Compacter,
    Json,
    Ledger,
    Rememberer,
    Unanswered,
    make_answers,
    make_clients,
)
from evals.window_rows import Row, none_of, print_rows, progress, table
from holdfast.memory.notes import Notes
from holdfast.messages import Scope
from holdfast.testing.ollama import FakeOllama

PART = "crashes"
KILLS, SEED = 60, 1
_RESULTS = Path(__file__).parent / "results" / "reliability.md"
# Seconds: a start may take, clients work at most between two starts, a search may need to be whole again.
_START_LIMIT, _LONGEST_WORK, _REPAIR = 5.0, 10.0, 20.0
# Answers that clients get before a kill, at most, and seconds after them; seconds of a start before a kill.
_ANSWERS, _WAIT, _STARTING = 40, 0.3, 1.5
_READY = re.compile(r"ready: (http://\S+)\n")
# How often a server is also killed while it starts.
_KILLED_STARTING = 0.2


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds until a server answered, and how many of them it had a processor: others may need that too."""

    seconds: float
    processor: float


class Server:
    """`holdfast serve` on one folder, on another port each time it is started."""

    def __init__(self, home: Path, upstream: str) -> None:
        self.home, self.url, self._log = home, "", home.parent / "serve.log"
        self._command = [sys.executable, "-m", "holdfast", "serve", "--port", "0", "--upstream", upstream]
        self._process: subprocess.Popen[bytes] | None = None

    def launch(self) -> None:
        with self._log.open("wb") as log:
            environment = {**os.environ, "HOLDFAST_HOME": str(self.home), "HOLDFAST_LANGUAGE": "en"}
            self._process = subprocess.Popen(self._command, env=environment, stdout=log, stderr=log)

    def start(self) -> Start:
        """Return how long it took until it answered."""
        began = time.perf_counter()
        self.launch()
        while (ready := _READY.search(self._log.read_text())) is None:
            self.expect_running()
            time.sleep(0.02)
        self.url = ready[1]
        with self.connect() as http:
            http.get("/api/chats?limit=1").raise_for_status()
        return Start(time.perf_counter() - began, self._processor())

    def expect_running(self) -> None:
        if self._process is None or self._process.poll() is not None:
            raise RuntimeError(f"holdfast serve ended by itself: {self._log.read_text()[-2000:]}")

    def connect(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=60, trust_env=False)

    def _processor(self) -> float:
        assert self._process is not None
        times = psutil.Process(self._process.pid).cpu_times()
        return float(times.user + times.system)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(60)


class Checker:
    """Asks a server that was started again for all that was acknowledged."""

    def __init__(self, server: Server, ledger: Ledger) -> None:
        self._server, self._ledger = server, ledger
        self._talks, self._memories = 0, 0
        self.slowest_repair = 0.0

    def check_recent(self) -> Iterator[Finding]:
        """What clients did since the last time."""
        recent = [talk for talk in self._ledger.talks[self._talks :] if talk.conversation]
        new = self._ledger.memories[self._memories :]
        self._memories = len(self._ledger.memories)
        # Of each client one talk goes on, and is looked at again.
        self._talks = next(at for at, talk in enumerate(self._ledger.talks) if not talk.is_over)
        with self._server.connect() as http:
            yield from self._check_talks(http, recent)
            yield from self._check_memories(http)
            for text in new:
                if text not in self._ledger.replaced:
                    yield from self._check_search(http, "/api/memory/search", text, "snippet", text)

    def check_all(self) -> Iterator[Finding]:
        with self._server.connect() as http:
            yield from self._check_talks(http, [talk for talk in self._ledger.talks if talk.conversation])
            yield from self._check_memories(http)
            paths = {row["id"]: self._path(http, row["id"]) for row in _list_chats(http)}
            yield from check_copies(self._ledger.talks, paths)

    def check_files(self) -> Iterator[Finding]:
        """The database and the notes as they lie on the disk, once nobody uses them."""
        with contextlib.closing(sqlite3.connect(self._server.home / "holdfast.db")) as database:
            (state,) = database.execute("pragma integrity_check").fetchone()
        if state != "ok":
            yield Finding("damaged", state, "holdfast.db")

    def _check_talks(self, http: httpx.Client, talks: Sequence[Talk]) -> Iterator[Finding]:
        for talk in talks:
            yield from check_talk(talk, self._path(http, talk.conversation))
            for name, text in talk.responses.items():
                response = http.get(f"/v1/responses/{name}")
                if response.status_code != 200 or text not in response.text:
                    yield Finding("lost", f"{name}: {response.status_code}", talk.door)
            rows = http.get(f"/api/chats/{talk.conversation}/compactions").json()["compactions"]
            known = {row["id"] for row in rows}
            yield from (Finding("lost", name, "summary") for name in talk.summaries if name not in known)
            question, _ = talk.exchanges[-1]
            chat = talk.conversation
            yield from self._check_search(http, "/api/chats/search", question, "conversation", chat)

    def _check_memories(self, http: httpx.Client) -> Iterator[Finding]:
        export = http.post("/api/memory/export").json()
        texts = [memory["text"] for memory in export["memories"]]
        yield from check_memories(self._ledger.memories, texts, "REST")
        problems: list[str] = [str(row) for row in export["left_out"]]
        notes = Notes(self._server.home / "workspace")
        files = {**notes.list_memories(Scope(), problems), **notes.list_archived(Scope(), problems)}
        notes.list_summaries(Scope(), problems)
        texts = [memory.text for memories in files.values() for memory in memories]
        yield from check_memories(self._ledger.memories, texts, "notes")
        yield from (Finding("damaged", problem, "notes") for problem in problems)

    def _check_search(
        self, http: httpx.Client, path: str, text: str, name: str, value: str
    ) -> Iterator[Finding]:
        """Search until a field of a hit has the value: an index may mend itself for some seconds."""
        began = time.perf_counter()
        while True:
            hits = http.get(path, params={"q": text, "limit": 10}).json()["hits"]
            if any(value in hit[name] for hit in hits):
                break
            if time.perf_counter() > began + _REPAIR:
                yield Finding("not searchable", text, path)
                return
            time.sleep(0.1)
        self.slowest_repair = max(self.slowest_repair, time.perf_counter() - began)

    def _path(self, http: httpx.Client, conversation: str) -> list[Line]:
        response = http.get(f"/api/chats/{conversation}/messages")
        entries = response.json()["messages"] if response.status_code == 200 else []
        # Between messages it is told where a summary stands for them.
        return [(row["role"], row["content"]) for row in entries if row.get("type") != "compaction"]


def _list_chats(http: httpx.Client) -> Iterator[Json]:
    page: Json = {"next": ""}
    while page["next"] is not None:
        before = {"before": page["next"]} if page["next"] else {}
        page = http.get("/api/chats", params={"limit": 100, **before}).json()
        yield from page["chats"]


def _work(client: Client, server: Server, ledger: Ledger, ended: threading.Event) -> None:
    """One client, until the server goes."""
    with server.connect() as http:
        try:
            while not ended.is_set():
                client.work(http)
        except (httpx.TransportError, Unanswered):
            ledger.unanswered[client.name] += 1


@dataclass(slots=True)
class Campaign:
    """What a run did and saw."""

    kills: int = 0
    kills_starting: int = 0
    starts: list[Start] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    repair: float = 0.0

    def add(self, findings: Iterable[Finding]) -> None:
        """Add what was not seen before, and say it at once."""
        for finding in findings:
            if finding not in self.findings:
                self.findings.append(finding)
                progress(f"{PART}: {finding.kind}: {finding.what[:300]} ({finding.where})")


def run(kills: int, minutes: float, seed: int, home: Path, ledger: Ledger) -> Campaign:
    """Kill the server so many times amid the work of its clients, and check after each start.

    When the minutes are over, no further kill follows.
    """
    limit = time.perf_counter() + 60 * minutes
    campaign, random, clients = Campaign(), Random(seed), make_clients(seed, ledger)
    with contextlib.ExitStack() as stack:
        server = Server(home, stack.enter_context(FakeOllama(make_answers(seed)).served()))
        checker = Checker(server, ledger)
        stack.callback(server.kill)
        campaign.starts.append(server.start())
        while campaign.kills < kills and time.perf_counter() < limit:
            _work_and_kill(server, clients, ledger, random)
            campaign.kills += 1
            while random.random() < _KILLED_STARTING and campaign.kills < kills:
                server.launch()
                time.sleep(random.uniform(0, _STARTING))
                server.kill()
                campaign.kills += 1
                campaign.kills_starting += 1
            campaign.starts.append(server.start())
            campaign.add(checker.check_recent())
            done = f"{ledger.exchanges} exchanges, {len(ledger.memories)} memories"
            took = f"started in {campaign.starts[-1].seconds:.1f} s"
            progress(f"{PART}: {campaign.kills} kills, {done}, {took}, {len(campaign.findings)} findings")
        campaign.add(checker.check_all())
        server.stop()
        campaign.add([*checker.check_files(), *ledger.refusals])
        campaign.repair = checker.slowest_repair
    return campaign


def _work_and_kill(server: Server, clients: Sequence[Client], ledger: Ledger, random: Random) -> None:
    """Let all clients work until a random number of answers came, and a moment longer."""
    ended = threading.Event()
    threads = [threading.Thread(target=_work, args=(client, server, ledger, ended)) for client in clients]
    enough, limit = ledger.answers + random.randint(0, _ANSWERS), time.perf_counter() + _LONGEST_WORK
    for thread in threads:
        thread.start()
    while ledger.answers < enough and time.perf_counter() < limit:
        time.sleep(0.01)
    time.sleep(random.uniform(0, _WAIT))
    try:
        server.expect_running()
    finally:
        server.kill()
        ended.set()
        for thread in threads:
            thread.join()


def rows(campaign: Campaign, ledger: Ledger) -> Iterator[Row]:
    case = f"{campaign.kills} kills, {campaign.kills_starting} of them while it started"
    exchanges = Counter({door.path: 0 for door in DOORS})
    for talk in ledger.talks:
        exchanges[talk.door] += len(talk.exchanges)
    for door, number in exchanges.items():
        yield Row(PART, "exchanges acknowledged", door, number)
    yield Row(PART, "memories acknowledged", Rememberer.name, len(ledger.memories))
    summaries = sum(len(talk.summaries) for talk in ledger.talks)
    yield Row(PART, "summaries acknowledged", Compacter.name, summaries)
    yield Row(PART, "requests that a kill cut off", "all clients", ledger.unanswered.total())
    kinds = Counter(finding.kind for finding in campaign.findings)
    for name in get_args(FindingKind):
        yield none_of(PART, name, case, kinds[name])
    seconds, case = [start.seconds for start in campaign.starts], f"{len(campaign.starts)} starts"
    slowest, target = max(seconds), f"under {_START_LIMIT:.0f} s"
    yield Row(PART, "slowest start", case, slowest, "s", target, slowest < _START_LIMIT)
    yield Row(PART, "median start", case, median(seconds), "s")
    processor = max(start.processor for start in campaign.starts)
    yield Row(PART, "slowest start, its processor", case, processor, "s")
    yield Row(PART, "longest until search had it", "after a start", campaign.repair, "s")


def write_results(measured: Sequence[Row], campaign: Campaign, seed: int) -> None:
    head = (__doc__ or "").partition("\n\n")[2].strip()
    command = f"python -m evals.reliability --kills {campaign.kills} --seed {seed} --write"
    listed = [f"- {finding.kind}: {finding.what[:200]} ({finding.where})" for finding in campaign.findings]
    found = "\n".join(listed) or "Nothing."
    parts = ("# Is anything lost?", "## Crashes", f"`{command}`", head, table(measured), "### Found", found)
    _RESULTS.write_text("\n\n".join(parts) + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m evals.reliability", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--part", choices=[PART], default=PART, help="what is tried")
    parser.add_argument("--kills", type=int, default=KILLS, help="how often the server is killed")
    parser.add_argument("--minutes", type=float, default=math.inf, help="no further kill after so many")
    parser.add_argument("--seed", type=int, default=SEED, help="of the moments and the words")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--write", action="store_true", help="also write results/reliability.md")
    chosen = parser.parse_args(arguments)
    ledger = Ledger()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder) / "home"
        home.mkdir()
        campaign = run(chosen.kills, chosen.minutes, chosen.seed, home, ledger)
    measured = list(rows(campaign, ledger))
    if chosen.write:
        write_results(measured, campaign, chosen.seed)
    return print_rows(measured, as_json=chosen.json)


if __name__ == "__main__":
    sys.exit(main())
