"""QMD reads while nobody waits: at the start, after a change, and again after a while."""

import sys

import pytest

from holdfast.config import Settings
from holdfast.messages import Scope
from holdfast.wiring import running_engine
from tests.fakes import qmd as fake

pytestmark = pytest.mark.anyio


async def test_qmd_indexes_at_start_and_after_changes_without_delaying_recall(tmp_path):
    note = tmp_path / "workspace" / "default" / "MEMORY.md"
    note.parent.mkdir(parents=True)
    note.write_text("- The heron nests in the old mill.\n")
    settings = Settings(
        home=tmp_path,
        store="sqlite://",
        embedder="off",
        memory_backend="qmd",
        qmd_command=f"'{sys.executable}' -SP '{fake.__file__}'",
        qmd_timeout=60.0,
        qmd_debounce=0.0,
    )
    async with running_engine(settings) as engine:
        memory, idle = engine.remembering, engine.background.idle
        engine.background.start()
        await idle.wait_until_idle()
        assert memory.search.search("heron", Scope(), within="notes").engines == ("qmd",)
        assert memory.own.search("heron", Scope(), within="notes").engines == ("fts5",)
        assert idle.is_waiting("qmd")

        note.write_text("- The otter lives under the bridge.\n")
        engine.background.after_notes_change()
        await idle.wait_until_idle()
        answer = memory.search.search("otter", Scope(), within="notes")
        assert ([hit.snippet for hit in answer.hits], answer.degraded) == (
            ["The otter lives under the bridge."],
            (),
        )
