"""One data folder for all tests of a module, each test in a project of its own."""

from itertools import count

import pytest

from holdfast import config
from holdfast.mcp.tools import open_services
from tests.mcp.host import Host

_NUMBERS = count()


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    home, elsewhere = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("elsewhere")
    given = {"home": home, "embedder": "off", "notes_paths": str(elsewhere)}
    return config.load(given, environ={}).settings


@pytest.fixture(scope="module")
def parts(settings):
    with open_services(settings) as services:
        yield services


@pytest.fixture
def host(parts):
    """Somebody with a project that nobody had before."""
    return Host(parts).of("default", f"p{next(_NUMBERS)}")


@pytest.fixture
def notes(settings):
    return settings.home / "workspace"
