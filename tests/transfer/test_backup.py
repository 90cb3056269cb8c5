"""Everything in one file and back: whole, verified, and never half, whatever happens on the way."""

import errno
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
import zipfile
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.config import FILE, PAGE
from holdfast.errors import BadRequest, Conflict, HoldfastError, StoreError
from holdfast.messages import Message, Scope
from holdfast.store import NewMessage, Tombstone, open_store
from holdfast.transfer import backup, migrate
from holdfast.transfer.staging import DataFolder, put_in_place, staging_folder

ADA = Scope("ada")


def fill(places, *line, notes=None):
    with open_store(places.store) as store:
        for text in line:
            store.log.begin(ADA, [NewMessage(Message.of("user", text))], title=text)
        counts = migrate.count_rows(store)
    for name, content in (notes or {}).items():
        file = places.workspace / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return counts


def state(places):
    """What a person would find: titles, and every file that is kept."""
    with open_store(places.store) as store:
        titles = sorted(row.title for row in store.log.recent(ADA))
    files = {
        str(file.relative_to(places.home)): file.read_bytes()
        for name in ("workspace", "prompts", FILE, PAGE)
        for file in [places.home / name, *(places.home / name).rglob("*")]
        if file.is_file() and not file.name.startswith(".")
    }
    return titles, files


def elsewhere(tmp_path, name="other"):
    return DataFolder(tmp_path / name, f"sqlite:///{tmp_path / name / 'holdfast.db'}")


@pytest.fixture
def backup_file(places, tmp_path):
    """A home with something of everything, and a backup of it."""
    return make_backup(places, tmp_path / "backup.zip")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Such a backup, for those who only read it."""
    folder = tmp_path_factory.mktemp("whole")
    return make_backup(elsewhere(folder), folder / "backup.zip")


def make_backup(places, file):
    fill(places, "first", "second", notes={"ada/MEMORY.md": b"- Likes tea.\n", "ada/research/r.md": b"# R\n"})
    (places.home / FILE).write_text('model = "qwen3"\n')
    (places.home / PAGE).write_text("{}")
    (places.home / "prompts").mkdir()
    (places.home / "prompts" / "summary.txt").write_text("Short.")
    (places.home / "models").mkdir()
    (places.home / "models" / "large.gguf").write_bytes(b"weights")
    backup.create(places, file)
    return file


def test_backup_contains_all_irreplaceable_data_and_is_private(places, backup_file):
    with zipfile.ZipFile(backup_file) as zipped:
        names = set(zipped.namelist())
    assert names == {
        *("manifest.json", "store.db", "holdfast.toml", "page.json", "prompts/summary.txt"),
        *("workspace/ada/MEMORY.md", "workspace/ada/research/r.md"),
    }
    assert backup_file.stat().st_mode & 0o777 == 0o600
    assert list(backup_file.parent.glob(".*")) == []
    manifest = backup.check(backup_file)
    assert manifest.counts["conversations"] == 2
    assert manifest.counts["messages"] == 2


def test_a_backup_comes_back_as_it_was(places, backup_file, tmp_path):
    other = elsewhere(tmp_path)
    backup.restore(other, backup_file)
    assert state(other) == state(places)
    assert not (other.home / backup.PLAN).exists()
    assert sorted(path.name for path in other.home.glob(".*")) == []
    assert (other.home / "workspace/ada/MEMORY.md").stat().st_mode & 0o777 == 0o600
    assert (other.home / "workspace").stat().st_mode & 0o777 == 0o700


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    said=st.lists(st.text(min_size=1, max_size=20), max_size=3),
    notes=st.dictionaries(st.sampled_from(["ada/MEMORY.md", "eve/a b.md"]), st.binary(max_size=50)),
)
def test_whatever_is_backed_up_has_the_same_rows_and_bytes_afterwards(tmp_path, said, notes):
    for name in ("from", "to"):
        shutil.rmtree(tmp_path / name, ignore_errors=True)
    (tmp_path / "any.zip").unlink(missing_ok=True)
    old, new = elsewhere(tmp_path, "from"), elsewhere(tmp_path, "to")
    counts = fill(old, *said, notes=notes)
    backup.create(old, tmp_path / "any.zip")
    backup.restore(new, tmp_path / "any.zip")
    with open_store(new.store) as store:
        assert migrate.count_rows(store) == counts
    assert state(new) == state(old)


def test_a_memory_that_is_written_down_meanwhile_is_in_no_gap(places, tmp_path):
    """Between store and notes a promise is kept: taken in the other order, it would be in neither."""
    fill(places, "before", notes={"ada/MEMORY.md": b""})
    with open_store(places.store) as store:
        promise = store.outbox.put("memory", {"memories": []})

        def project(what, done, total):
            if what == "notes":
                store.outbox.complete(promise)
                store.log.begin(ADA, [NewMessage(Message.of("user", "after"))], title="after")

        backup.create(places, tmp_path / "b.zip", project)
        assert not store.outbox.pending()
    restored = elsewhere(tmp_path)
    backup.restore(restored, tmp_path / "b.zip")
    with open_store(restored.store) as store:
        assert [item.id for item in store.outbox.pending()] == [promise]
        assert [row.title for row in store.log.recent(ADA)] == ["before"]


def test_nothing_is_written_over_unasked(places, backup_file, tmp_path):
    with pytest.raises(BadRequest):
        backup.create(places, backup_file)
    fill(places, "third")
    before = state(places)
    with pytest.raises(Conflict, match="--overwrite"):
        backup.restore(places, backup_file)
    assert state(places) == before
    backup.restore(places, backup_file, overwrite=True)
    assert state(places)[0] == ["first", "second"]
    assert (places.home / "models" / "large.gguf").exists()


def test_what_the_backup_does_not_have_is_gone_afterwards(places, backup_file, tmp_path):
    bare = elsewhere(tmp_path, "bare")
    fill(bare, "only")
    backup.create(bare, tmp_path / "bare.zip")
    backup.restore(places, tmp_path / "bare.zip", overwrite=True)
    assert state(places) == (["only"], {})


def test_a_restore_waits_for_nobody_who_has_the_database_open(places, backup_file):
    with open_store(places.store), pytest.raises(Conflict, match="running"):
        backup.restore(places, backup_file, overwrite=True)


def change_backup(result, tmp_path, change):
    """The same backup with something in it changed."""
    with zipfile.ZipFile(result) as old:
        members = {name: old.read(name) for name in old.namelist()}
    change(members)
    file = tmp_path / "changed.zip"
    with zipfile.ZipFile(file, "w") as new:
        for name, content in members.items():
            new.writestr(name, content)
    return file


def _manifest(files, /, **changes):
    value = {**json.loads(files["manifest.json"]), **changes}
    files["manifest.json"] = json.dumps(value).encode()


def _says(**changes):
    return lambda members: _manifest(members, **changes)


def _called(name):
    """A note under another name, with its digest."""

    def change(members):
        value = json.loads(members["manifest.json"])
        value["members"][name] = value["members"].pop("workspace/ada/MEMORY.md")
        members[name] = members.pop("workspace/ada/MEMORY.md")
        members["manifest.json"] = json.dumps(value).encode()

    return change


def _of_store(**changes):
    def change(members):
        files = json.loads(members["manifest.json"])["members"]
        files["store.db"].update(changes)
        _manifest(members, members=files)

    return change


def _no_database(members):
    members["store.db"] = b"garbage" * 100
    digest = hashlib.sha256(members["store.db"]).hexdigest()
    _of_store(size=700, sha256=digest)(members)


@pytest.mark.parametrize(
    "change",
    [
        lambda members: members.update({"workspace/ada/MEMORY.md": b"- Likes rum.\n"}),
        lambda members: members.update({"store.db": members["store.db"][:-4096]}),
        lambda members: members.update({"workspace/ada/more.md": b""}),
        lambda members: members.pop("page.json"),
        lambda members: members.pop("manifest.json"),
        lambda members: members.update({"manifest.json": b"{"}),
        lambda members: _manifest(members, counts={"messages": 5}),
        lambda members: _manifest(members, schema="0001"),
        lambda members: _manifest(members, format=99),
        *(_says(created_at=value) for value in ("x", 1e300, -1, True)),
        *(_says(counts=value) for value in ([], 3, {"messages": "x"})),
        *(_says(left_out=value) for value in ([1], 5)),
        *(_says(schema=value) for value in (None, 7)),
        *(_says(members=value) for value in ([], {"store.db": 1})),
        _says(extra=1),
        _says(version="\x1b[31m"),
        lambda members: members.update({"manifest.json": b"[" * 100_000}),
        *(_of_store(size=size) for size in ("x", -5, 1.5)),
        _of_store(sha256=None),
        *map(_called, ("../outside.md", "workspace", "workspace/ada/research", "store.db-wal")),
        *map(
            _called,
            (
                "models/a.gguf",
                "page.json/x",
                "store.db/x",
                "workspace//x",
                "/workspace/x",
                "workspace/.lock/x",
            ),
        ),
        _no_database,
    ],
)
def test_a_changed_backup_is_refused_and_changes_nothing(change, whole, tmp_path):
    file = change_backup(whole, tmp_path, change)
    other = elsewhere(tmp_path)
    with pytest.raises(HoldfastError) as refused:
        backup.restore(other, file)
    # Where it was unpacked for a moment is nobody's business.
    assert str(other.home) not in refused.value.message
    assert [path.name for path in other.home.glob("*") if path.suffix != ".lock"] == []
    assert not (tmp_path / "outside.md").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(None, "There is no file", id="missing"),
        pytest.param(b"hello", "no backup of Holdfast", id="no zip"),
        pytest.param(b"PK\x03\x04", "damaged", id="cut off"),
    ],
)
def test_the_wrong_file_is_said_before_what_is_there(memory, places, tmp_path, content, message):
    memory.library.add(Scope(), "The ferry leaves at noon.")
    memory.store.close()
    file = tmp_path / "wrong.zip"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(HoldfastError, match=message) as refused:
        backup.restore(places, file)
    assert "--overwrite" not in str(refused.value)


@pytest.mark.parametrize("cut", [0, 10, -30])
def test_a_backup_that_was_cut_short_is_refused(cut, whole, tmp_path):
    file = tmp_path / "cut.zip"
    file.write_bytes(whole.read_bytes()[:cut])
    with pytest.raises(HoldfastError):
        backup.check(file)


def test_newer_or_pre_release_backup_is_refused(backup_file, tmp_path):
    def with_database(change):
        def replace_store(members):
            file = tmp_path / "store.db"
            file.write_bytes(members["store.db"])
            schema = change(file)
            members["store.db"] = file.read_bytes()
            files = json.loads(members["manifest.json"])["members"]
            digest = hashlib.sha256(members["store.db"]).hexdigest()
            files["store.db"] = {"size": len(members["store.db"]), "sha256": digest}
            with closing(sqlite3.connect(file)) as connection:
                counts = backup.count_rows_in(connection)
            _manifest(members, schema=schema, members=files, counts=counts)

        return change_backup(backup_file, tmp_path, replace_store)

    def at_version(version):
        def change(file):
            with closing(sqlite3.connect(file)) as connection:
                connection.execute("UPDATE alembic_version SET version_num = ?", (version,))
                connection.commit()
            return version

        return with_database(change)

    other = elsewhere(tmp_path)
    for version, words in (("9000", "newer"), ("0003", r"from before Holdfast 0\.1")):
        with pytest.raises(StoreError, match=words):
            backup.restore(other, at_version(version))
    assert not other.database.exists()


KILL = textwrap.dedent("""
    import os, signal, sys
    from pathlib import Path
    from holdfast.transfer.staging import DataFolder
    from holdfast.transfer.backup import restore

    home, file, what, step = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])

    def tell(*told):
        if told[:2] == (what, step):
            os.kill(os.getpid(), signal.SIGKILL)

    restore(DataFolder(home, f"sqlite:///{home / 'holdfast.db'}"), file, overwrite=True, tell=tell)
""")


@pytest.mark.parametrize(
    ("what", "step", "ending"),
    [
        ("checking", 1, "none"),
        ("putting in place", 0, "dropped"),
        ("putting in place", 1, "finished"),
        ("putting in place", 5, "finished"),
    ],
)
def test_killed_on_the_way_there_is_the_old_or_the_new(what, step, ending, places, backup_file, tmp_path):
    new = state(places)
    shutil.rmtree(places.home)
    fill(places, "old", notes={"ada/MEMORY.md": b"- Old.\n", "eve/profile.yaml": b"name: Eve\n"})
    killed = subprocess.run(
        [sys.executable, "-c", KILL, places.home, backup_file, what, str(step)], check=False
    )
    assert killed.returncode == -signal.SIGKILL
    if ending == "dropped":
        # Nothing keeps anybody from going on with what is there, and that is not lost.
        fill(places, "since", notes={"ada/since.md": b"Since.\n"})
    if (step, ending) == (1, "finished"):
        # Between the two nobody can open it, and is told what to do.
        with pytest.raises(StoreError, match="backup finish"):
            open_store(places.store)
    else:
        old = state(places)
    if ending != "none":
        with pytest.raises(Conflict, match="backup finish"):
            backup.restore(places, backup_file)
    assert backup.finish(places) == ending
    assert state(places) == (new if ending == "finished" else old)
    assert not (places.home / backup.PLAN).exists()
    # Once more: what was left behind is in nobody's way.
    backup.restore(places, backup_file, overwrite=True)
    assert state(places) == new


def test_a_restore_is_finished_though_its_settings_name_another_database(places, backup_file, tmp_path):
    class Stopped(Exception):
        pass

    def stop(what, done, total):
        if (what, done) == ("putting in place", 4):
            raise Stopped

    expected = state(places)
    with pytest.raises(Stopped):
        backup.restore(places, backup_file, overwrite=True, tell=stop)
    now_named = DataFolder(places.home, f"sqlite:///{tmp_path / 'another.db'}")
    assert backup.finish(now_named) == "finished"
    assert state(places) == expected


def test_a_database_that_is_damaged_gives_way_to_a_backup(places, backup_file):
    expected = state(places)
    places.database.write_bytes(b"no database" * 1000)
    backup.restore(places, backup_file, overwrite=True)
    assert state(places) == expected


def test_a_password_or_something_forgotten_is_not_taken_for_nothing(whole, tmp_path):
    for name in ("password", "forgotten"):
        other = elsewhere(tmp_path, name)
        with open_store(other.store) as store:
            if name == "password":
                store.sessions.set_password("ada", "scrypt")
            else:
                store.recollections.bury(ADA, Tombstone("m_1", frozenset({"w"}), frozenset(), 1.0))
        with pytest.raises(Conflict, match="--overwrite"):
            backup.restore(other, whole)


KILLED_BACKUP = textwrap.dedent("""
    import os, signal, sys
    from pathlib import Path
    from holdfast.transfer.backup import create
    from holdfast.transfer.staging import DataFolder

    home, file = Path(sys.argv[1]), Path(sys.argv[2])

    def tell(what, done, total):
        if what == "notes":
            os.kill(os.getpid(), signal.SIGKILL)

    create(DataFolder(home, f"sqlite:///{home / 'holdfast.db'}"), file, tell)
""")


def test_the_next_backup_removes_what_a_killed_one_left(places, backup_file):
    folder = places.home / "backups"
    file = folder / "b.zip"
    subprocess.run([sys.executable, "-c", KILLED_BACKUP, places.home, file], check=False)
    (left,) = folder.iterdir()
    assert left.stat().st_mode & 0o777 == 0o700
    assert places.old_copies == [left]
    with staging_folder(folder / "another.zip") as at_work:
        assert list(folder.iterdir()) == [at_work]
        assert places.old_copies == []
        # Whoever is still at it is left in peace.
        backup.create(places, file)
        assert set(folder.iterdir()) == {at_work, file}
    assert list(folder.iterdir()) == [file]


def test_a_file_gets_its_name_where_there_are_no_hard_links(tmp_path):
    def no_links(source, target):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    piece, file = tmp_path / "piece", tmp_path / "file"
    piece.write_text("whole")
    put_in_place(piece, file, no_links)
    assert file.read_text() == "whole"
    assert not piece.exists()
    piece.write_text("another")
    with pytest.raises(BadRequest):
        put_in_place(piece, file, no_links)
    assert file.read_text() == "whole"


def test_links_and_names_that_are_no_text_are_told_of(places, tmp_path):
    fill(places, notes={"ada/a.md": b"a"})
    (places.workspace / "ada" / "link.md").symlink_to("a.md")
    (places.workspace / "ada" / os.fsdecode(b"\xff.md")).touch()
    manifest = backup.create(places, tmp_path / "b.zip")
    assert len(manifest.left_out) == 2
    assert "workspace/ada/a.md" in manifest.members


@pytest.mark.real
def test_a_postgresql_store_is_backed_up_and_restored(postgres, tmp_path):
    old = DataFolder(tmp_path / "pg", postgres.new_database())
    fill(old, "first", "second", notes={"ada/MEMORY.md": b"- Likes tea.\n"})
    with open_store(old.store) as store:
        row = store.log.recent(ADA)[0]
        parent = store.log.append(
            row.id, [NewMessage(Message.of("assistant", "one"))], parent=row.head, expect=row.head
        )[0].parent
        store.log.append(
            row.id, [NewMessage(Message.of("assistant", "two"))], parent=parent, expect=None, move_head=False
        )
        counts = migrate.count_rows(store)
    backup.create(old, tmp_path / "pg.zip")
    on_disk = elsewhere(tmp_path)
    backup.restore(on_disk, tmp_path / "pg.zip")
    with open_store(on_disk.store) as store:
        assert migrate.count_rows(store) == counts
    on_server = DataFolder(tmp_path / "again", postgres.new_database())
    backup.restore(on_server, tmp_path / "pg.zip")
    with open_store(on_server.store) as store:
        assert migrate.count_rows(store) == counts
    with pytest.raises(Conflict):
        backup.restore(on_server, tmp_path / "pg.zip")
    fill(on_server, "third")
    backup.restore(on_server, tmp_path / "pg.zip", overwrite=True)
    assert state(on_server) == state(old)
