"""The page about the library is its own test: every example is run as it stands there."""

import re
from pathlib import Path

import pytest

from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "library.md"
# An example, and what it prints if the page says so.
_EXAMPLE = re.compile(r"```python\n(.*?)```(?:\s*```text\n(.*?)```)?", re.DOTALL)
EXAMPLES = _EXAMPLE.findall(PAGE.read_text())


@pytest.fixture(scope="module")
def server():
    models = [FakeModel("qwen3:4b", num_ctx=8192)]
    with FakeOllama(lambda call: "Understood.", models=models).served() as url:
        yield url


def test_the_page_has_examples():
    assert len(EXAMPLES) >= 6
    assert sum(bool(printed) for _, printed in EXAMPLES) >= 3


@pytest.mark.parametrize("at", range(len(EXAMPLES)))
def test_an_example_runs_and_prints_what_the_page_says(at, server, tmp_path, monkeypatch, capsys):
    code, printed = EXAMPLES[at]
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.setenv("HOLDFAST_UPSTREAM", server)
    monkeypatch.setenv("HOLDFAST_EMBEDDER", "off")

    exec(compile(code, f"{PAGE.name}:{at}", "exec"), {"__name__": "__main__"})

    out = capsys.readouterr().out
    assert out.strip()
    if printed:
        assert out == printed
