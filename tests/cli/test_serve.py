"""How the server is loaded: nobody looks for garbage meanwhile, and somebody does afterwards."""

import gc

import pytest

from holdfast.cli.serve import skip_garbage_collection


def test_garbage_is_looked_for_again_when_all_is_loaded():
    before = gc.get_freeze_count()
    with skip_garbage_collection():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() > before, "what was loaded is not looked through again"


def test_garbage_is_looked_for_again_when_something_cannot_be_loaded():
    with pytest.raises(ImportError), skip_garbage_collection():
        raise ImportError("half of it is missing")
    assert gc.isenabled()
