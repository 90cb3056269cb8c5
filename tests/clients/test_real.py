"""Clients that are programs of their own, with a real model behind Holdfast: a short talk each.

The libraries for Python talk to it in `tests/test_end_to_end.py` and `tests/server/test_real_clients.py`.
"""

import os
import subprocess
import sys

import pytest

from holdfast.messages import Scope
from holdfast.upstreams.embedded import EmbeddedProvider
from holdfast.upstreams.routing import Upstreams
from tests.server.conftest import running

pytestmark = [pytest.mark.slow, pytest.mark.real, pytest.mark.xdist_group("embedded")]


@pytest.fixture(scope="module")
def holdfast(weights, tmp_path_factory):
    folder = tmp_path_factory.mktemp("real")
    embedded = EmbeddedProvider(weights, log=folder / "log", ctx=2048)

    async def find():
        return embedded

    with running(folder, Upstreams(find, embedded)) as server:
        yield server


def test_llm_asks_and_goes_on(holdfast, tmp_path):
    environment = {**os.environ, "OLLAMA_HOST": holdfast.url, "LLM_USER_PATH": str(tmp_path)}
    short = ["-o", "num_predict", "6", "-o", "temperature", "0"]

    def llm(*arguments):
        command = [sys.executable, "-m", "llm", *arguments, *short]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, input="")
        assert done.returncode == 0, done.stderr
        return done.stdout.removesuffix("\n")

    first = llm("-m", "ollama/embedded", "Name a colour.")
    second = llm("-c", "Name another one.", "--no-stream")
    (row,) = holdfast.store.log.recent(Scope())
    assert [item.message.text for item in holdfast.store.log.path(row.head)] == [
        "Name a colour.",
        first,
        "Name another one.",
        second,
    ]
    assert first.strip()


def test_both_libraries_for_javascript_ask_and_go_on(holdfast, node):
    seen = node("talk_short.mjs", url=holdfast.url, model="embedded", headers={"X-Holdfast-Project": "node"})
    rows = holdfast.store.log.recent(Scope(project="node"))
    record = [
        [
            {"role": item.message.role, "content": item.message.text}
            for item in holdfast.store.log.path(row.head)
        ]
        for row in reversed(rows)
    ]
    assert record == seen
    assert all(message["content"].strip() for talk in seen for message in talk)
