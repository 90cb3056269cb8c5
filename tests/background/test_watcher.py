"""A folder is watched: who asked is told of changes, and an end is an end."""

import asyncio

import pytest

from holdfast.background.jobs import FolderWatcher
from holdfast.errors import StoreError

pytestmark = pytest.mark.anyio


async def test_a_change_below_the_folder_is_told(tmp_path):
    report, watching, folder = asyncio.Event(), FolderWatcher(), tmp_path / "workspace"
    watching.watch(folder, report.set)
    async with asyncio.timeout(60):
        while not report.is_set():
            # Until it looks, nothing is noticed: it is written until it is.
            if folder.exists():
                (folder / "a").mkdir(exist_ok=True)
                with (folder / "a" / "note.md").open("a") as file:
                    file.write("more\n")
            await asyncio.sleep(0.05)
            if folder.exists() and not report.is_set():
                await asyncio.wait({asyncio.ensure_future(report.wait())}, timeout=2)
    await watching.close()
    await watching.close()


async def test_what_cannot_be_watched_is_no_trouble(tmp_path):
    (tmp_path / "file").write_text("in the way")
    watching = FolderWatcher()
    watching.watch(tmp_path / "file" / "workspace", pytest.fail)
    await watching.close()


async def test_non_folder_state_is_polled_and_reported_after_changes_and_errors():
    looks, watching, ended = [], FolderWatcher(), asyncio.Event()
    states = ["1", "1", "2", "2", "away", "2", "2", "3"]
    loop = asyncio.get_running_loop()

    def state():
        if not states:
            loop.call_soon_threadsafe(ended.set)
            return "3"
        looks.append(states.pop(0))
        if looks[-1] == "away":
            raise StoreError("It is away.")
        return looks[-1]

    report = []
    watching.poll(state, lambda: report.append(len(looks)), every=0)
    async with asyncio.timeout(60):
        await ended.wait()
    await watching.close()
    await watching.close()
    # After the third look, the first one that went well again, and the last.
    assert report == [3, 6, 8]


async def test_closing_what_never_began_is_harmless():
    await FolderWatcher().close()
