"""Can one go back, and forth? `holdfast serve` works with chats through four protocols and memories that are
added.

Backups are made while clients work, restored into folders of their own and served: all that was acknowledged
before a backup began is there, once and in order, and nothing is damaged.

The release before the newest schema (taken from the history of this repository, where there is one) fills a
folder. While it runs, this Holdfast refuses the folder and changes nothing, and the older one goes on. Once
it is stopped, this one serves the folder with everything in it, and leaves a copy of the older database. The
older one then refuses the folder in words, without harm, and serves the copy.
"""

import argparse
import contextlib
import io
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from evals.reliability_checks import Finding, PartResult
from evals.reliability_clients import Client, Ledger, Rememberer, Talker, make_answers, make_clients
from evals.reliability_crashes import Checker, work_client
from evals.reliability_server import Server, ServerEnded
from evals.window_rows import Row, none_of, progress
from holdfast.store.migrate import SHIPPED
from tests.fakes.ollama import FakeOllama

PART = "recovery"
_ROOT = Path(__file__).parent.parent
# Answers that clients get between two steps.
_ANSWERS = 25


class Crowd:
    """Clients that work until they are told to stop."""

    def __init__(self, server: Server, ledger: Ledger, clients: Sequence[Client]) -> None:
        self._server, self._ledger, self._clients = server, ledger, clients
        self._ended = threading.Event()
        self._threads: list[threading.Thread] = []

    def begin(self) -> None:
        self._ended.clear()
        self._threads = [
            threading.Thread(target=work_client, args=(client, self._server, self._ledger, self._ended))
            for client in self._clients
        ]
        for thread in self._threads:
            thread.start()

    def wait(self, answers: int) -> None:
        """Wait until so many more answers came, as long as anybody works."""
        enough = self._ledger.answers + answers
        while self._ledger.answers < enough and any(thread.is_alive() for thread in self._threads):
            self._ended.wait(0.02)

    def end(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()


def snapshot(ledger: Ledger) -> Ledger:
    """What was acknowledged up to now; what comes after it may be there or not."""
    copied = Ledger(memories=list(ledger.memories), replaced=set(ledger.replaced))
    for talk in ledger.talks:
        copied.talks.append(talk.copy())
    return copied


def work_on(server: Server, seed: int, ledger: Ledger, answers: int) -> None:
    """Let clients work on a server that runs, for so many answers."""
    crowd = Crowd(server, ledger, choose_clients(seed, ledger, server))
    crowd.begin()
    crowd.wait(answers)
    crowd.end()


def choose_clients(seed: int, ledger: Ledger, server: Server) -> list[Client]:
    clients = make_clients(seed, ledger, server)
    return [client for client in clients if isinstance(client, Talker | Rememberer)]


def try_backups(folder: Path, upstream: str, seed: int, number: int) -> Iterator[str]:
    """Back up under load, and compare each restored backup with what was acknowledged before it."""
    ledger, home = Ledger(), folder / "live" / "home"
    home.mkdir(parents=True)
    taken: list[tuple[Path, Ledger]] = []
    with Server(home, upstream) as server:
        crowd = Crowd(server, ledger, choose_clients(seed, ledger, server))
        crowd.begin()
        for at in range(number):
            crowd.wait(_ANSWERS)
            known, file = snapshot(ledger), folder / f"backup-{at}.zip"
            ended = server.run("backup", "create", str(file))
            if ended.returncode:
                yield f"backup under load: {ended.stderr[-500:]}"
            else:
                taken.append((file, known))
        crowd.end()
        yield from (f"while it was backed up: {finding.what}" for finding in ledger.refusals)
    for at, (file, known) in enumerate(taken):
        home = folder / f"restored-{at}" / "home"
        home.mkdir(parents=True)
        server = Server(home, upstream)
        ended = server.run("backup", "restore", str(file), "--no-settings")
        if ended.returncode:
            yield f"restore: {ended.stderr[-500:]}"
            continue
        progress(f"{PART}: backup {at} with {known.exchanges} exchanges, {len(known.memories)} memories")
        with server:
            yield from describe(f"backup {at}", Checker(server, known).check_kept())


def describe(where: str, findings: Iterator[Finding]) -> Iterator[str]:
    for finding in findings:
        yield f"{where}: {finding.kind}: {finding.what[:200]} ({finding.where})"


def unpack_older(folder: Path) -> Path | None:
    """Put the source of the release before the newest schema into a folder; None without a history."""
    script = f"src/holdfast/store/migrations/versions/r{SHIPPED.newest}_*.py"
    added = ["git", "log", "--diff-filter=A", "--format=%H", "-1", "--", script]
    with contextlib.suppress(OSError):
        commit = subprocess.run(added, cwd=_ROOT, capture_output=True, text=True, check=False).stdout.strip()
        if commit:
            command = ["git", "archive", f"{commit}^", "src"]
            archive = subprocess.run(command, cwd=_ROOT, capture_output=True, check=False).stdout
            with tarfile.open(fileobj=io.BytesIO(archive)) as files:
                files.extractall(folder, filter="data")
            return folder / "src"
    return None


def refuse(server: Server, when: str, words: str) -> Iterator[str]:
    """Start a server that must refuse, in words."""
    try:
        server.start()
    except ServerEnded as ended:
        if words not in str(ended) or "Traceback" in str(ended):
            yield f"{when}: {str(ended)[-500:]}"
    else:
        yield f"{when}: it was not refused"
    finally:
        server.kill()


def try_older(folder: Path, upstream: str, seed: int, source: Path) -> Iterator[str]:
    """Another version of Holdfast on the same folder: at once, before, and after this one."""
    ledger, home = Ledger(), folder / "older" / "home"
    home.mkdir(parents=True)
    older, newer = Server(home, upstream, source=str(source)), Server(home, upstream)
    with older:
        work_on(older, seed, ledger, _ANSWERS)
        yield from refuse(newer, "two versions at once", "Stop every other Holdfast")
        work_on(older, seed + 1, ledger, _ANSWERS)
        yield from (f"beside the newer one: {finding.what}" for finding in ledger.refusals)
        older.stop()
    with newer:
        yield from describe("upgraded", Checker(newer, ledger).check_kept())
        work_on(newer, seed + 2, ledger, _ANSWERS)
        yield from describe("upgraded and used", Checker(newer, ledger).check_kept())
        newer.stop()
    before = (home / "holdfast.db").read_bytes()
    yield from refuse(older, "a downgrade", "newer")
    if (home / "holdfast.db").read_bytes() != before:
        yield "a downgrade: the database was changed"
    copies = sorted((home / "backups").glob("*.db"))
    if not copies:
        yield "an upgrade: no copy of the older database"
        return
    back = folder / "back" / "home"
    back.mkdir(parents=True)
    shutil.copy(copies[-1], back / "holdfast.db")
    with Server(back, upstream, source=str(source)) as again, again.connect() as http:
        if not http.get("/api/chats").json()["chats"]:
            yield "the older one on the copy: no chats"
    with newer:
        yield from describe("after the downgrade", Checker(newer, ledger).check_kept())


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--backups", type=int, default=3, help="how many are made under load")
    parser.add_argument("--only", choices=["backups", "older"], help="one of the two")


def run(options: argparse.Namespace, folder: Path) -> PartResult:
    rows: list[Row] = []
    findings: list[str] = []
    with FakeOllama(make_answers(options.seed)).served() as upstream:
        if options.only != "older":
            problems = list(try_backups(folder, upstream, options.seed, options.backups))
            rows.append(Row(PART, "backups under load, restored", "SQLite", options.backups))
            rows.append(none_of(PART, "wrong", "backups under load", len(problems)))
            findings += problems
        if options.only != "backups":
            source = unpack_older(folder / "source")
            problems = list(try_older(folder, upstream, options.seed, source)) if source else []
            case = f"from the schema before {SHIPPED.newest}" if source else "no history of the source here"
            rows.append(none_of(PART, "wrong", f"two versions, {case}", len(problems)))
            findings += problems
    for finding in findings:
        progress(f"{PART}: {finding[:400]}")
    return PartResult(rows, findings)
