"""What is released: a wheel that installs where nothing else is and works there, licences that are known."""

import os
import re
import subprocess
from contextlib import contextmanager
from importlib.metadata import distributions

import httpx
import pytest
from packaging.specifiers import SpecifierSet

from holdfast import __version__
from tests.deploy import licences, wheel
from tests.deploy.guard import Watched
from tests.deploy.installed import plain, runtime
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel

# What is built and installed once serves all of them.
pytestmark = pytest.mark.xdist_group("release")

EVERY_MODULE = """
import importlib, pkgutil, holdfast
# What needs an extra is loaded by those who have it.
extras = {"obstore", "qdrant_client", "apsw", "sqlite_vec", "psycopg"}
names = [one.name for one in pkgutil.walk_packages(holdfast.__path__, "holdfast.", lambda name: None)]
for name in names:
    if not name.endswith("__main__"):
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name.partition(".")[0] not in extras:
                raise
print(len(names), holdfast.__file__)
"""


def test_nothing_that_is_pinned_needs_a_newer_python_than_holdfast_does():
    oldest = "3.11.0"
    needs = {
        distribution.name: distribution.metadata.get("Requires-Python") or ""
        for distribution in distributions()
    }
    assert {name for name, python in needs.items() if not SpecifierSet(python).contains(oldest)} == set()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    wheel.build(folder)
    return folder


@pytest.fixture(scope="module")
def holdfast(built, tmp_path_factory):
    """Runs a program of an environment in which there is nothing but the wheel, from a folder of its own."""
    (result,) = built.glob("*.whl")
    place = tmp_path_factory.mktemp("elsewhere")
    programs = wheel.install(result, place / "env")
    (place / "background").mkdir()
    record = {name: os.environ[name] for name in ("PATH", "TMPDIR", "LANG") if name in os.environ}
    environment = {
        **record,
        "HOME": str(place),
        "HOLDFAST_HOME": str(place / "data"),
        "HOLDFAST_LANGUAGE": "en",
        "HOLDFAST_EMBEDDER": "off",
    }

    def run(program, *words, **more):
        command = [programs / program, *words]
        return subprocess.run(
            command,
            cwd=place / "background",
            env={**environment, **more},
            capture_output=True,
            text=True,
            timeout=120,
        )

    @contextmanager
    def serve(upstream):
        command = [programs / "holdfast", "serve", "--port", "0", "--upstream", upstream]
        process = subprocess.Popen(
            command, cwd=place / "background", env=environment, stdout=subprocess.PIPE, text=True
        )
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()
            process.communicate(timeout=60)

    run.served = serve
    return run


@pytest.mark.slow
def test_wheel_contains_exactly_the_files_needed_at_runtime(built):
    assert wheel.check(built) == []


@pytest.mark.slow
def test_the_version_is_written_in_one_place():
    written = re.compile(rf"(?<![\d.]){re.escape(__version__)}(?![\d.])")
    places = ["pyproject.toml", "Dockerfile", "docker-compose.yml", *wheel.ROOT.joinpath("src").rglob("*.py")]
    strs = [str(place) for place in places if written.search((wheel.ROOT / place).read_text())]
    assert [name.rpartition("/")[2] for name in strs] == ["__init__.py"]


@pytest.mark.slow
@pytest.mark.real
def test_every_module_can_be_loaded_with_what_the_wheel_asks_for(holdfast):
    done = holdfast("python", "-W", "error::SyntaxWarning", "-c", EVERY_MODULE)
    assert done.returncode == 0, done.stderr
    number, place = done.stdout.split()
    assert int(number) > 200
    assert "site-packages" in place


@pytest.mark.slow
@pytest.mark.real
def test_a_new_user_asks_serves_and_chats_from_the_wheel_alone(holdfast):
    assert holdfast("holdfast", "--version").stdout == f"holdfast {__version__}\n"
    with FakeOllama(models=[FakeModel("tiny", num_ctx=2048)]).served() as upstream:
        asked = holdfast("holdfast", "--upstream", upstream, "ask", "Is anybody there?")
        assert asked.stdout == "You said: Is anybody there?\n", asked.stderr
        with (
            holdfast.served(upstream) as url,
            httpx.Client(base_url=url, timeout=120, trust_env=False) as client,
        ):
            body = {"model": "tiny", "messages": [{"role": "user", "content": "Hello."}], "stream": False}
            assert client.post("/api/chat", json=body).json()["message"]["content"] == "You said: Hello."
            page = client.get("/", headers={"Accept": "text/html"}, follow_redirects=True)
            assert page.status_code == 200
            files = re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text)
            assert files
            assert {client.get(file).status_code for file in files} == {200}
            assert client.post("/api/memory", json={"text": "The cat is called Mia."}).is_success
            hits = client.get("/api/memory/search", params={"q": "cat"}).json()["hits"]
            assert "Mia" in hits[0]["snippet"]


@pytest.mark.slow
@pytest.mark.real
def test_the_demonstration_runs_from_the_wheel_alone_and_reaches_nobody(holdfast, tmp_path):
    watched = Watched(tmp_path)
    more = {name: watched.environment[name] for name in ("PYTHONPATH", "WATCHED")}
    (tmp_path / "temporary").mkdir()
    more["TMPDIR"] = str(tmp_path / "temporary")
    shown = holdfast("holdfast", "demo", "--fast", "--language", "de", "--keep", **more)
    assert shown.returncode == 0, shown.stderr
    assert watched.elsewhere == []
    # In German all is as in English, which `demo/test_demo.py` looks at closely; and the folder stays.
    assert "Jede Anfrage passte" in shown.stdout
    assert "inventar_keller_2019_v3.xlsx" in shown.stdout
    assert "7 von 7" in shown.stdout
    assert "NICHT gewusst" not in shown.stdout
    (home,) = (tmp_path / "temporary").glob("holdfast-demo-*")
    notes = (home / "workspace" / "default" / "MEMORY.md").read_text(encoding="utf-8")
    assert "den Scanner für drei Monate zu mieten" in notes
    assert f"holdfast --home {home} memory list --project default" in shown.stdout.replace("\n", "")


def test_every_installed_dependency_is_listed_with_its_licence():
    listed = dict(re.findall(r"^\| (\S+) \| (.+) \|$", licences.PAGE.read_text(), re.MULTILINE))
    names = {plain(name) for name in listed}
    missing = [name for name in runtime() if name not in names]
    assert not missing, "not on the page of licences: run `make licences`"


def test_every_licence_is_one_that_was_chosen():
    others = {name: licences.licence_of(package) for name, package in runtime().items()}
    assert {name: item for name, item in others.items() if not licences.is_allowed(item)} == {}


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("MIT", True),
        ("Apache-2.0 OR GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("MPL-1.1 OR GPL-2.0-only OR LGPL-2.1-or-later", True),
        ("AGPL-3.0-only", False),
        ("unknown", False),
    ],
)
def test_licence_expression_is_allowed_if_required_parts_or_alternative_are(licence, allowed):
    assert licences.is_allowed(licence) is allowed
