"""Commands on a data folder of their own, without a model server."""

import pytest
from typer.testing import CliRunner

from holdfast.cli import app


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def hold(home, tmp_path, monkeypatch):
    """Runs a command about what is kept; gives its output, or everything about it with `whole`."""
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    monkeypatch.setenv("HOLDFAST_LANGUAGE", "en")
    monkeypatch.setenv("HOLDFAST_EMBEDDER", "off")
    monkeypatch.chdir(tmp_path)

    def command(*words, whole=False):
        result = CliRunner().invoke(app, words)
        if whole:
            return result
        assert result.exit_code == 0, result.output or result.exception
        return result.stdout

    return command
