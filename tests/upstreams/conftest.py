"""The real llama.cpp for the tests that need one, started once and shared by all of them."""

import asyncio
from collections.abc import Iterator

import pytest

from holdfast.upstreams.embedded import EmbeddedProcess
from holdfast.upstreams.http import Connection
from holdfast.upstreams.openai import LlamaCpp

WINDOW = 2048


@pytest.fixture(scope="session")
def child(weights, tmp_path_factory) -> Iterator[EmbeddedProcess]:
    log = tmp_path_factory.mktemp("llamacpp") / "child.log"
    started = asyncio.run(EmbeddedProcess.start(weights, ctx=WINDOW, threads=1, log=log, seconds=120))
    yield started
    asyncio.run(started.stop())


@pytest.fixture
async def llamacpp(child):
    provider = LlamaCpp(Connection(child.url, key=child.key))
    yield provider
    await provider.aclose()
