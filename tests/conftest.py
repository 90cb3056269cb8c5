"""What many tests share: the weights of the embedded model, and Holdfast as a process of its own."""

import atexit
import contextlib
import gc
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import certifi
import httpx
import pytest
from hypothesis import HealthCheck, settings

from evals.forked import ForkedProcess
from holdfast import recall
from holdfast.config import default_home
from holdfast.context import evidence
from holdfast.errors import FetchFailed
from holdfast.i18n import speak
from holdfast.memory.search import Search
from holdfast.upstreams.model_file import fetch_model_file
from tests.buckets import s3_server  # noqa: F401  # a fixture
from tests.waiting import PATIENCE, wait_until

# Every run has other examples, so few of them see much in the end. `--hypothesis-profile=thorough` asks for
# more.
# On a busy machine making examples takes long; that says nothing about what is tested.
_BUSY = [HealthCheck.too_slow]
settings.register_profile("usual", max_examples=50, deadline=None, suppress_health_check=_BUSY)
settings.register_profile("thorough", max_examples=1_000, deadline=None, suppress_health_check=_BUSY)
settings.load_profile("usual")

# Thousands of small databases wait for the disk most of their time. Where there is a folder in memory with
# room enough, they are made in it: what a killed process leaves behind is there too.
_IN_MEMORY, _ROOM = Path("/dev/shm"), 4 << 30
if os.access(_IN_MEMORY, os.W_OK) and shutil.disk_usage(_IN_MEMORY).free > _ROOM:
    os.environ["TMPDIR"] = tempfile.tempdir = str(_IN_MEMORY)

# Each of the processes that tests start would compile all of Holdfast again where nothing compiled is kept.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Every client of HTTP reads the certificates of the world, 40 ms of work, and nobody here goes out into it.
_ONE_CERTIFICATE = Path(tempfile.mkstemp(suffix=".pem")[1])
_ONE_CERTIFICATE.write_text(
    certifi.contents().split("-----END CERTIFICATE-----")[0] + "-----END CERTIFICATE-----\n"
)
certifi.where = lambda: str(_ONE_CERTIFICATE)
atexit.register(_ONE_CERTIFICATE.unlink, missing_ok=True)

# An answer waits a second or so for memory, and a search for its index. How busy this machine is must not
# decide what a test sees, so here they wait; whoever tests the waiting makes it short.
evidence._PATIENCE = recall._PATIENCE = 60.0
Search.__init__.__kwdefaults__["budget"] = 60.0

# Nor may a client give up after httpx's five seconds: so long a busy machine may need for a first answer.
for _way in (httpx.Client.__init__, httpx.AsyncClient.__init__, httpx.request, httpx.stream.__wrapped__):
    _way.__kwdefaults__["timeout"] = httpx.Timeout(PATIENCE)
for _way in (httpx.get, httpx.head, httpx.options, httpx.post, httpx.put, httpx.patch, httpx.delete):
    _way.__kwdefaults__["timeout"] = httpx.Timeout(PATIENCE)


# Tests of the whole, through an engine, a server, a command or an index, and of processes of their own: they
# are left out of `make check`.
_WHOLE = (
    "backends/test_hosted_embedders.py",
    "backends/test_qmd",
    "cli",
    "compaction/test_summariser.py",
    "contract",
    "conversations/test_branches.py",
    "conversations/test_forks.py",
    "demo",
    "deploy",
    "docs",
    "evals",
    "files/test_reading.py",
    "context",
    "library",
    "mcp",
    "memory/test_embedder_process.py",
    "memory/test_index_crash.py",
    "memory/test_remote_vectors.py",
    "memory/test_search.py",
    "memory/test_stored_vectors.py",
    "memory/workspace/test_s3",
    "models/test_vocabularies.py",
    "transfer",
    "research/test_extraction.py",
    "research/test_fetching.py",
    "server",
    "store/test_opening.py",
    "test_end_to_end.py",
    "test_engine.py",
    "text/test_patterns.py",
    "test_private.py",
    "test_release.py",
    "background/test_watching.py",
)


# Modules, items and thousands of parameters stay until the end: looking through them for garbage again and
# again is a sixth of all the work.
_RARELY = (50_000, 20, 20)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(*_RARELY)
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.relative_to(here).as_posix().startswith(_WHOLE):
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log):
    from tests.distribution import ByFile

    return ByFile(config, log, _WHOLE) if config.getvalue("dist") == "loadgroup" else None


# Starting the embedder takes seconds: those who want it ask for it.
_PLAIN = {"HOLDFAST_LANGUAGE": "en", "HOLDFAST_EMBEDDER": "off"}


@pytest.fixture(autouse=True)
def english() -> None:
    """Whatever language an earlier test in this process spoke."""
    speak("en")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The loop that the server runs in; no other is supported."""
    return "asyncio"


@pytest.fixture(scope="session")
def weights() -> Path:
    """The model file of SmolLM2, fetched if it is not there yet."""
    try:
        return fetch_model_file(default_home() / "models")
    except FetchFailed as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"no weights for the embedded model: {error}")


@dataclass
class Process:
    """`holdfast serve` as a process of its own. `output` is the file with what it says."""

    process: ForkedProcess
    output: Path
    url: str = ""

    def wait_until_ready(self, times: int = 1) -> str:
        """Return its address once it said that it is ready, after a restart for the second time."""

        def addresses() -> list[str]:
            assert self.process.poll() is None, self.output.read_text()
            return _READY.findall(self.output.read_text())

        wait_until(lambda: len(addresses()) >= times)
        return addresses()[-1]

    def kill(self) -> None:
        """As a power cut would: no handler runs, nothing is flushed."""
        self.process.kill()
        self.process.wait(60)


_READY = re.compile(r"ready: (http://\S+)\n")


@pytest.fixture
def holdfast_serve(tmp_path):
    """Starts `holdfast serve` on a free port, on the same data folder every time."""
    with contextlib.ExitStack() as stack:

        def start(upstream: str, **environment: str) -> Process:
            return stack.enter_context(_serving(tmp_path / "home", upstream, environment))

        yield start


@contextlib.contextmanager
def _serving(home: Path, upstream: str, environment: dict[str, str]) -> Iterator[Process]:
    output = Path(tempfile.mkstemp(prefix="serve-", dir=home.parent)[1])
    process = ForkedProcess(
        ["serve", "--port", "0", "--upstream", upstream],
        {**os.environ, **_PLAIN, "HOLDFAST_HOME": str(home), **environment},
        Path.cwd(),
        output,
        output,
    )
    try:
        server = Process(process, output)
        server.url = server.wait_until_ready()
        yield server
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(20)
        process.kill()
        process.wait()


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=120, trust_env=False) as client:
        yield client
