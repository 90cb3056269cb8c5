"""Holdfast running on loopback, for the quick parts of the campaign."""

from tests.server.conftest import serve  # noqa: F401  # a fixture
