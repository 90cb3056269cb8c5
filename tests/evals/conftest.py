"""Holdfast running on loopback, for the quick parts of the campaign, and as processes that begin quickly."""

import pytest

from evals import window_serving
from tests.server.conftest import serve  # noqa: F401  # a fixture


@pytest.fixture(autouse=True, scope="package")
def quick_servers():
    window_serving.fork_servers = True
    yield
    window_serving.fork_servers = False
