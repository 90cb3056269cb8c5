"""Tests of the web run in an event loop of their own."""

import pytest


@pytest.fixture
def anyio_backend():
    return "asyncio"
