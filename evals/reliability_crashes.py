"""Is anything lost when the server is killed? `holdfast serve`, with everything as it is by default (or,
which costs less, without the process that computes vectors: `--embedder off`), on SQLite (or on
PostgreSQL: `--store postgresql`), stands in front of the public fake of Ollama. Clients work
through several doors at once: chats that stream through `/api/chat`, `/v1/chat/completions`, `/v1/messages`
and `/v1/responses` (there by the id of the answer before), memories that are added, chats that are compacted,
the index of notes made anew, chats of another tool brought in by `holdfast import` beside the server. At a
random moment the server, and often the import, is ended by SIGKILL, sometimes also while the server starts,
and the server is started again on the same data. Clients whose answer broke off ask again, or ask something
else. Nine of ten processes begin with their modules loaded (`evals/forked.py`), which makes a start
fourteen times cheaper; every tenth start is the command as people have it, and those alone are timed.

Before some of the starts, the schema is set back to the one of the release before, so that the start migrates
it; or all is backed up and restored, and the restore is killed and finished.

Before clients go on, what was acknowledged since the start before (an answer received to its end, a memory's
201, an import that ended) is compared with what the server tells over REST: nothing lost, doubled, out of
order or in between, each new memory and message found by search. After every tenth start all memories are,
over REST and in the notes on the disk, and after the last kill everything is. Moments and words come from the
seed; which request a kill hits depends on the machine.
"""

import argparse
import contextlib
import math
import sqlite3
import subprocess
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
from sqlalchemy import NullPool, create_engine
from sqlalchemy import text as sql

from evals.backends import postgres
from evals.reliability_checks import (
    Finding,
    FindingKind,
    Line,
    PartResult,
    Talk,
    check_copies,
    check_memories,
    check_talk,
)
from evals.reliability_clients import (
    DOORS,
    Client,
    Compacter,
    Importer,
    Json,
    Ledger,
    Rememberer,
    Unanswered,
    make_answers,
    make_clients,
)
from evals.reliability_server import Server, ServerEnded, Start
from evals.window_rows import Row, none_of, progress
from holdfast.memory.notes import Notes
from holdfast.messages import Scope
from tests.fakes.ollama import FakeOllama

PART = "crashes"
KILLS = 60
# Seconds: a start may take, clients work at most between two starts, a search may need to be whole again.
_START_LIMIT, _LONGEST_WORK, _REPAIR = 5.0, 20.0, 60.0
# Answers that clients get before a kill, at most, and seconds after them.
_ANSWERS, _WAIT = 16, 0.3
# A start is killed after a part of the time that the start before took.
_STARTING = 1.2
# How often a server is also killed while it starts, and what is done before a start.
_KILLED_STARTING, _AGED, _RESTORED = 0.4, 0.1, 0.05
# Every so many starts, a server is started by its command, and everything in its memory is looked at.
_WHOLE = 10
# How often an import goes with the server; else it goes on alone.
_IMPORT_KILLED = 0.5
# Seconds after which a restore is killed, at most.
_RESTORING = 1.5
# The schema before the newest, where nothing is in it that only the newest can hold.
_NEWEST, _OLDER = "0009", "0008"
_NOT_OLDER = "SELECT count(*) FROM conversations WHERE pinned OR archived OR folder <> ''"
_AGE = (
    *(f"ALTER TABLE conversations DROP COLUMN {name}" for name in ("pinned", "archived", "folder")),
    *(f"DROP TABLE {name}" for name in ("saved_prompts", "presets")),
    f"UPDATE alembic_version SET version_num = '{_OLDER}'",
)


class Checker:
    """Asks a server that was started again for all that was acknowledged."""

    def __init__(self, server: Server, ledger: Ledger) -> None:
        self._server, self._ledger = server, ledger
        self._talks, self._memories, self._imports = 0, 0, 0
        self.slowest_repair = 0.0

    def check_recent(self, *, whole: bool) -> Iterator[Finding]:
        """What clients did since the last time; if `whole`, also every memory there ever was."""
        recent = [talk for talk in self._ledger.talks[self._talks :] if talk.conversation]
        new = self._ledger.memories[self._memories :]
        imports = self._ledger.imports[self._imports :]
        self._memories, self._imports = len(self._ledger.memories), len(self._ledger.imports)
        # Of each client one talk goes on, and is looked at again.
        self._talks = next(at for at, talk in enumerate(self._ledger.talks) if not talk.is_over)
        with self._server.connect() as http:
            yield from self._check_talks(http, recent)
            yield from self._check_imports(http, imports)
            if whole:
                yield from self._check_memories(http)
            for text in new:
                if text not in self._ledger.replaced:
                    yield from self._check_search(http, "/api/memory/search", text, "snippet", text)

    def check_all(self) -> Iterator[Finding]:
        with self._server.connect() as http:
            yield from self._check_talks(http, [talk for talk in self._ledger.talks if talk.conversation])
            yield from self._check_imports(http, self._ledger.imports)
            yield from self._check_memories(http)
            paths = {row["id"]: self._path(http, row["id"]) for row in _list_chats(http)}
            yield from check_copies([*self._ledger.talks, *self._ledger.imports], paths)

    def check_settled(self) -> Iterator[Finding]:
        """After one more memory, every text stands once in all files, whatever a kill interrupted."""
        with self._server.connect() as http:
            http.post("/api/memory", json={"text": "The campaign ended in Bremen."}).raise_for_status()
        notes = Notes(self._server.home / "workspace")
        files = [*notes.list_memories(Scope()).values(), *notes.list_archived(Scope()).values()]
        texts = [memory.text for memories in files for memory in memories]
        yield from check_memories(self._ledger.memories, texts, "notes, in the end")

    def check_kept(self) -> Iterator[Finding]:
        """What was acknowledged is there in order; what came after it may be there, too."""
        with self._server.connect() as http:
            for talk in self._ledger.talks:
                if talk.exchanges:
                    path = self._path(http, talk.conversation)
                    last = next((at for at, line in enumerate(path) if line == talk.lines[-1]), len(path))
                    yield from check_talk(talk, path[: last + 1])
            yield from self._check_memories(http)

    def check_files(self) -> Iterator[Finding]:
        """The database as it lies on the disk, once nobody uses it."""
        if not (self._server.home / "holdfast.db").exists():
            return
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

    def _check_imports(self, http: httpx.Client, talks: Sequence[Talk]) -> Iterator[Finding]:
        """Chats that were brought in are known by their titles, each of which stands once."""
        if not talks:
            return
        chats: dict[str, list[str]] = {}
        for row in _list_chats(http):
            chats.setdefault(row["title"], []).append(row["id"])
        for talk in talks:
            match chats.get(talk.name, []):
                case [name]:
                    talk.conversation = name
                    yield from check_talk(talk, self._path(http, name))
                case names:
                    yield Finding("doubled" if names else "lost", talk.name, talk.door)

    def _check_memories(self, http: httpx.Client) -> Iterator[Finding]:
        export = http.post("/api/memory/export").json()
        texts = [memory["text"] for memory in export["memories"]]
        yield from check_memories(self._ledger.memories, texts, "REST")
        problems: list[str] = [str(row) for row in export["left_out"]]
        notes = Notes(self._server.home / "workspace")
        current = [row for rows in notes.list_memories(Scope(), problems).values() for row in rows]
        archived = [row for rows in notes.list_archived(Scope(), problems).values() for row in rows]
        notes.list_summaries(Scope(), problems)
        # What is put into the archive stands in both for a moment, and after a kill until the next is.
        names = {memory.id for memory in current}
        texts = [memory.text for memory in (*current, *(row for row in archived if row.id not in names))]
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


def work_client(client: Client, server: Server, ledger: Ledger, ended: threading.Event) -> None:
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
    migrations: int = 0
    restores: int = 0
    starts: list[Start] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    repair: float = 0.0

    @property
    def usual_start(self) -> float:
        """Seconds that a start with loaded modules takes in the middle."""
        return median([start.seconds for start in self.starts if start.loaded] or [1.0])

    def add(self, findings: Iterable[Finding]) -> None:
        """Add what was not seen before, and say it at once."""
        for finding in findings:
            if finding not in self.findings:
                self.findings.append(finding)
                progress(f"{PART}: {finding.kind}: {finding.what[:300]} ({finding.where})")


def run_campaign(server: Server, kills: int, minutes: float, seed: int, ledger: Ledger) -> Campaign:
    """Kill the server so many times amid the work of its clients, and check after each start.

    When the minutes are over, no further kill follows.
    """
    limit = time.perf_counter() + 60 * minutes
    campaign, random, clients = Campaign(), Random(seed), make_clients(seed, ledger, server)
    checker = Checker(server, ledger)
    campaign.starts.append(server.start())
    while campaign.kills < kills and time.perf_counter() < limit:
        try:
            _work_and_kill(server, clients, ledger, random)
        except ServerEnded as ended:
            campaign.add([Finding("ended by itself", str(ended), "while clients worked")])
        campaign.kills += 1
        whole = len(campaign.starts) % _WHOLE == 0
        server.loaded = True
        _disturb(server, campaign, random, kills)
        server.loaded = not whole
        campaign.starts.append(server.start())
        server.loaded = True
        campaign.add(checker.check_recent(whole=whole))
        done = f"{ledger.exchanges} exchanges, {len(ledger.memories)} memories, {len(ledger.imports)} imports"
        took = f"started in {campaign.starts[-1].seconds:.1f} s"
        progress(f"{PART}: {campaign.kills} kills, {done}, {took}, {len(campaign.findings)} findings")
    campaign.add(checker.check_all())
    campaign.add(checker.check_settled())
    server.stop()
    campaign.add([*checker.check_files(), *ledger.refusals])
    campaign.repair = checker.slowest_repair
    return campaign


def _work_and_kill(server: Server, clients: Sequence[Client], ledger: Ledger, random: Random) -> None:
    """Let all clients work until a random number of answers came, and a moment longer."""
    ended = threading.Event()
    threads = [
        threading.Thread(target=work_client, args=(client, server, ledger, ended)) for client in clients
    ]
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
        for client in clients:
            if isinstance(client, Importer) and random.random() < _IMPORT_KILLED:
                client.kill()
        for thread in threads:
            thread.join()


def _disturb(server: Server, campaign: Campaign, random: Random, kills: int) -> None:
    """What happens before a server is started again: an older schema, a restore, starts that are killed."""
    if random.random() < _AGED and age_schema(server):
        campaign.migrations += 1
    if random.random() < _RESTORED:
        campaign.add(_restore_and_kill(server, random))
        campaign.restores += 1
    while random.random() < _KILLED_STARTING and campaign.kills < kills:
        server.launch()
        time.sleep(random.uniform(0, _STARTING * campaign.usual_start))
        server.kill()
        campaign.kills += 1
        campaign.kills_starting += 1


def age_schema(server: Server) -> bool:
    """Set the schema back to the one before, unless something is in it that only the newest can hold."""
    store = server.environment.get("HOLDFAST_STORE") or f"sqlite:///{server.home / 'holdfast.db'}"
    engine = create_engine(store.replace("postgresql:", "postgresql+psycopg:"), poolclass=NullPool)
    with engine.begin() as connection:
        version = connection.scalar(sql("SELECT version_num FROM alembic_version"))
        if version != _NEWEST or connection.scalar(sql(_NOT_OLDER)):
            return False
        for statement in _AGE:
            connection.execute(sql(statement))
    return True


def _restore_and_kill(server: Server, random: Random) -> Iterator[Finding]:
    """Back everything up and restore it, killed at a random moment and finished, as often as it takes."""
    file = server.home.parent / f"backup-{random.randint(0, 10**9)}.zip"
    backup = server.run("backup", "create", str(file))
    if backup.returncode:
        yield Finding("refused", backup.stderr[-500:], "backup create")
        return
    restore = server.command("backup", "restore", str(file), "--overwrite", "--no-settings")
    with contextlib.suppress(subprocess.TimeoutExpired):
        restore.communicate(timeout=random.uniform(0.05, _RESTORING))
    restore.kill()
    restore.communicate()
    finish = server.run("backup", "finish")
    if finish.returncode:
        yield Finding("refused", finish.stderr[-500:], "backup finish")
    file.unlink()


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
    yield Row(PART, "chats brought in", Importer.name, len(ledger.imports))
    yield Row(PART, "older schemas migrated", "before a start", campaign.migrations)
    yield Row(PART, "restores killed and finished", "before a start", campaign.restores)
    yield Row(PART, "requests that a kill cut off", "all clients", ledger.unanswered.total())
    kinds = Counter(finding.kind for finding in campaign.findings)
    for name in get_args(FindingKind):
        yield none_of(PART, name, case, kinds[name])
    starts = [start for start in campaign.starts if not start.loaded]
    seconds, case = [start.seconds for start in starts], f"{len(starts)} starts by the command"
    slowest, target = max(seconds), f"under {_START_LIMIT:.0f} s"
    yield Row(PART, "slowest start", case, slowest, "s", target, slowest < _START_LIMIT)
    yield Row(PART, "median start", case, median(seconds), "s")
    processor = [start.processor for start in starts]
    yield Row(
        PART, "slowest start, its processor", case, max(processor), "s", target, max(processor) < _START_LIMIT
    )
    yield Row(PART, "median start, its processor", case, median(processor), "s")
    if loaded := [start for start in campaign.starts if start.loaded]:
        case = f"{len(loaded)} starts with modules loaded"
        yield Row(PART, "slowest start", case, max(start.seconds for start in loaded), "s")
        yield Row(PART, "slowest start, its processor", case, max(start.processor for start in loaded), "s")
    yield Row(PART, "longest until search had it", "after a start", campaign.repair, "s")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kills", type=int, default=KILLS, help="how often the server is killed")
    parser.add_argument("--minutes", type=float, default=math.inf, help="no further kill after so many")
    parser.add_argument(
        "--embedder", default="auto", help="off: no process beside the server that begins with it"
    )
    parser.add_argument("--store", choices=["sqlite", "postgresql"], default="sqlite", help="the database")


def run(options: argparse.Namespace, folder: Path) -> PartResult:
    ledger, home = Ledger(), folder / "home"
    home.mkdir()
    with contextlib.ExitStack() as stack:
        settings = {"HOLDFAST_EMBEDDER": options.embedder}
        if options.store == "postgresql":
            settings["HOLDFAST_STORE"] = stack.enter_context(postgres(folder / "postgres"))("holdfast")
        upstream = stack.enter_context(FakeOllama(make_answers(options.seed)).served())
        server = Server(home, upstream, settings)
        stack.callback(server.kill)
        campaign = run_campaign(server, options.kills, options.minutes, options.seed, ledger)
    lines = [f"{finding.kind}: {finding.what[:300]} ({finding.where})" for finding in campaign.findings]
    return PartResult(list(rows(campaign, ledger)), lines)
