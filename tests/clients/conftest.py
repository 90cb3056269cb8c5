"""A real Node with the libraries of Ollama and OpenAI, for the tests of clients in JavaScript.

Node is no part of what Holdfast needs, so where it or its registry is missing they are left out, in CI too.
"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

LIBRARIES = ("ollama@0.6.4", "openai@6.49.0")


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    """A folder in which Node finds both libraries."""
    if not shutil.which("node") or not shutil.which("npm"):
        pytest.skip("no node and npm on the PATH")
    folder = tmp_path_factory.mktemp("node")
    quiet = ["--no-audit", "--no-fund", "--no-update-notifier", "--ignore-scripts", "--prefer-offline"]
    try:
        done = subprocess.run(
            ["npm", "install", "--prefix", folder, *quiet, *LIBRARIES],
            capture_output=True,
            text=True,
            timeout=120,
        )
    except subprocess.TimeoutExpired:
        pytest.skip("npm got no answer from its registry")
    if done.returncode != 0:
        pytest.skip(f"npm could not get the libraries: {done.stderr.strip()[-300:]}")
    return folder


@pytest.fixture
def node(libraries):
    """Runs a script beside the libraries with what it is given, and tells what it saw."""

    def run(script, **given):
        beside = shutil.copy(Path(__file__).with_name(script), libraries)
        command = ["node", beside, json.dumps(given)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run
