"""Backups that are made by themselves: when, and which of them stay."""

import os

import pytest

from holdfast.background.jobs import BackgroundJobs
from holdfast.memory.folder import FolderWorkspace
from holdfast.messages import Scope
from holdfast.store import open_store
from holdfast.transfer import backup
from holdfast.transfer.rotation import BackupSchedule, find_superseded, list_backups
from holdfast.transfer.staging import DataFolder

pytestmark = pytest.mark.anyio

DAY, START = 86_400.0, 1_790_000_000.0


def test_changed_folder_is_backed_up_daily_and_old_backups_are_removed(tmp_path):
    places, now = DataFolder(tmp_path, f"sqlite:///{tmp_path / 'holdfast.db'}"), START
    schedule = BackupSchedule(places, 1.0, FolderWorkspace(places.workspace), clock=lambda: now)
    assert schedule.run_if_due() is None
    for day in range(40):
        now = START + day * DAY
        with open_store(places.store) as store:
            store.log.create(Scope(), title=f"day {day}")
        os.utime(places.database, (now, now))
        file = schedule.run_if_due()
        assert file is not None
        os.utime(file, (now, now))
        # Nothing is due again on the same day, nor when nothing changed.
        now += 0.5 * DAY
        assert schedule.run_if_due() is None
    now += 5 * DAY
    assert schedule.run_if_due() is None
    files = list_backups(tmp_path / "backups")
    ages = [round((START + 39 * DAY - file.stat().st_mtime) / DAY) for file in files]
    assert ages[:3] == [0, 1, 2]
    assert len(ages) == 7
    assert 14 < ages[-1] < 30
    assert backup.check(files[0]).counts["conversations"] == 40


async def test_backup_that_fails_is_tried_again(tmp_path):
    places = DataFolder(tmp_path, f"sqlite:///{tmp_path / 'holdfast.db'}")
    (tmp_path / "backups").write_text("somebody's file")
    schedule = BackupSchedule(places, 1.0, FolderWorkspace(places.workspace))
    with open_store(places.store) as store:
        jobs = BackgroundJobs(store, None, None)
        await jobs._back_up(schedule)
        assert jobs.idle.is_waiting("backup")
        (tmp_path / "backups").unlink()
        await jobs._back_up(schedule)
        assert len(list_backups(tmp_path / "backups")) == 1
        await jobs.idle.close()


def test_backups_made_by_hand_never_go(tmp_path):
    files = [tmp_path / f"auto-{number}.zip" for number in range(9)]
    for file in [*files, tmp_path / "monday.zip"]:
        file.touch()
    assert list_backups(tmp_path) != []
    assert tmp_path / "monday.zip" not in list_backups(tmp_path)
    assert len(find_superseded(list_backups(tmp_path))) == 5
