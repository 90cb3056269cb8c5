"""A store for the tests of this package, and a scope of its own in it for every test."""

import itertools

import pytest

from holdfast.messages import Scope
from holdfast.store import open_store
from tests.conversations.builders import Talk

_numbers = itertools.count()


@pytest.fixture(scope="module")
def store():
    with open_store("sqlite://") as opened:
        yield opened


@pytest.fixture
def talk(store):
    return Talk(store, Scope(user=f"u{next(_numbers)}"))
