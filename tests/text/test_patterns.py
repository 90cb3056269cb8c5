"""Patterns that are compiled late: they do what others do, and none of them is broken."""

import gc
import importlib
import pkgutil
import re
import subprocess
import sys

import pytest

import holdfast
from holdfast.text.patterns import Late, compiling, late

# What the server has no use for before somebody asks for it, and what takes long to load.
_LATER = ("httpx", "jinja2", "alembic")


def test_it_finds_what_a_pattern_finds():
    early, later = re.compile(r"(?P<word>\w+)!", re.IGNORECASE), late(r"(?P<word>\w+)!", re.IGNORECASE)
    text = "Hallo! Oh, HELLO!"
    assert [item["word"] for item in later.finditer(text)] == [
        entry["word"] for entry in early.finditer(text)
    ]
    assert later.sub("?", text) == early.sub("?", text)
    assert (later.pattern, later.flags, later.groupindex) == (early.pattern, early.flags, early.groupindex)


def test_it_is_compiled_with_its_first_use_and_only_then():
    broken = late("(")
    with pytest.raises(re.error, match="unterminated"):
        broken.search("a")
    # It was the last one that was left for later.
    with pytest.raises(re.error, match="unterminated"):
        next(compiling())
    whole = late("a")
    whole.search("a")
    assert whole.search is whole.search, "the pattern's own method stands in its place"


def test_what_is_left_for_later_is_compiled_one_by_one():
    first, second = late("first"), late("second")
    assert "compiled" not in vars(first) | vars(second)
    steps = compiling()
    next(steps)
    assert ["compiled" in vars(item) for item in (first, second)] == [False, True]
    list(steps)
    assert "compiled" in vars(first)


def test_every_pattern_of_ours_can_be_compiled():
    for module in pkgutil.walk_packages(holdfast.__path__, "holdfast."):
        if module.name.startswith(("holdfast.window", "holdfast.compaction", "holdfast.conversations")):
            importlib.import_module(module.name)
    # What was loaded before is out of the collector's sight, and will be again.
    gc.unfreeze()
    patterns = [
        item for item in gc.get_objects() if isinstance(item, Late) and vars(item).get("_text") != "("
    ]
    gc.freeze()
    assert len(patterns) > 300
    assert all(pattern.pattern for pattern in patterns)


def test_the_server_is_loaded_without_what_it_may_never_need():
    program = f"import sys, holdfast.server.app; print(*(name for name in {_LATER} if name in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == []
