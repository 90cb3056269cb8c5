"""Creates, checks and restores backups.

A backup is a zip with a manifest that lists every member with its size and digest; it is checked as if a
stranger had made it. `create` runs beside a running server: it copies the store first, then notes,
settings and prompts, so that a memory written in between is still in the outbox of the copied store.
Models, caches and logs are not included. `restore` unpacks everything beside its target and writes a
plan; a barrier database keeps other processes out while files are swapped, and after a crash `finish`
completes or drops the plan.
"""

import hashlib
import json
import os
import shutil
import sqlite3
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any
from urllib.parse import quote

from holdfast import __version__
from holdfast.config import FILE, PAGE
from holdfast.errors import BadRequest, Conflict, HoldfastError, NotFound, StoreError, explain_os_error
from holdfast.i18n import gettext as _
from holdfast.i18n import translate
from holdfast.memory.workspace import Workspace, WorkspaceUnreachable
from holdfast.store import open_store
from holdfast.store.migrate import SHIPPED
from holdfast.store.sqlite_file import exclusive_lock, open_for_reading, sync_folder, version_of
from holdfast.transfer.migrate import TABLES, copy_rows, count_rows
from holdfast.transfer.staging import (
    KEPT,
    PROMPTS,
    REPLACED,
    RESTORED,
    STAGE,
    WORKSPACE,
    DataFolder,
    ProgressCallback,
    hard_link,
    ignore_progress,
    put_in_place,
    remove_path,
    staging_folder,
)

MANIFEST, STORE = "manifest.json", "store.db"
# What says how a server behaves: it comes from a backup only if its owner wants it.
OF_OWNER = (FILE, PAGE, PROMPTS)
# By which writers of notes take turns; it says nothing, and is never in a backup.
LOCK = ".lock"
KIND, FORMAT = "holdfast backup", 1

_BLOCK = 1 << 20
_LARGEST_MANIFEST = 100 << 20
# The year 9000: a calendar can show every moment before it, in every zone.
_LATEST = 221_845_392_000
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, KeyError),
    # Names and places in a zip that cannot be.
    *(ValueError, OverflowError),
)


@dataclass(frozen=True, slots=True)
class Member:
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of a backup: `schema` is the database version, `counts` the rows of each table."""

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012

    version: str
    schema: str
    created_at: float
    counts: Mapping[str, int]
    members: Mapping[str, Member]
    # What could not be taken along, each with the reason.
    left_out: tuple[str, ...] = ()
    format: int = FORMAT
    kind: str = KIND

    @property
    def size(self) -> int:
        return sum(member.size for member in self.members.values())

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class ArchiveWriter:
    """Adds files to a zip and collects their sizes and digests for the manifest."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.members: dict[str, Member] = {}

    def add(self, name: str, source: IO[bytes]) -> None:
        digest, size = hashlib.sha256(), 0
        with self._archive.open(_zip_info(name), "w", force_zip64=True) as target:
            while piece := source.read(_BLOCK):
                digest.update(piece)
                size += len(piece)
                target.write(piece)
        self.members[name] = Member(size, digest.hexdigest())

    def close(self, manifest: Manifest) -> None:
        text = json.dumps(manifest.to_json(), ensure_ascii=False, indent=1)
        self._archive.writestr(_zip_info(MANIFEST), text)


def _zip_info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    return info


@contextmanager
def new_zip(piece: Path) -> Iterator[zipfile.ZipFile]:
    """Creates a zip that only its owner can read, synced to disk on exit."""
    with os.fdopen(os.open(piece, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as opened:
        with zipfile.ZipFile(opened, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
            yield archive
        opened.flush()
        os.fsync(opened.fileno())


def check(file: Path, into: Path | None = None, tell: ProgressCallback = ignore_progress) -> Manifest:
    """Verifies a backup: member list, digests, and the integrity of the database; raises StoreError.

    Extracts the members `into` a folder if one is given.
    """
    with _open_archive(file) as archive:
        manifest = _read_manifest(archive)
        _check_names(archive, manifest)
        with tempfile.TemporaryDirectory(prefix="holdfast-") as spare:
            base = into or Path(spare)
            for number, (name, member) in enumerate(manifest.members.items()):
                tell(_("checking"), number, len(manifest.members))
                target = base / name if into is not None or name == STORE else None
                _check_member(archive, name, member, target)
            check_database(base / STORE, manifest)
    return manifest


def read_manifest(file: Path) -> Manifest:
    """Returns what a backup says it has in it; raises an error if it is none."""
    with _open_archive(file) as archive:
        return _read_manifest(archive)


@contextmanager
def _open_archive(file: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with file.open("rb") as opened:
            if opened.read(2) != b"PK":
                raise _not_a_backup_error()
            with zipfile.ZipFile(opened) as archive:
                yield archive
    except zipfile.BadZipFile as error:
        raise _damaged_error(_("it is no zip file, or a part of it is missing")) from error
    except _BROKEN as error:
        raise _damaged_error(str(error)) from error
    except FileNotFoundError as error:
        raise BadRequest(
            _("There is no file {file}.").format(file=file),
            hint=_("Name a file that `holdfast backup create` made."),
        ) from error
    except OSError as error:
        why = translate(explain_os_error(error))
        raise StoreError(_("{file} cannot be read: {why}.").format(file=file, why=why)) from error


def check_database(file: Path, manifest: Manifest) -> None:
    """Checks integrity, schema version and row counts of the database of a backup."""
    try:
        schema = version_of(file)
    except StoreError as error:
        # Its words name a place of ours that is gone by the time they are read.
        raise _damaged_error(_("its database is none")) from error
    if schema != manifest.schema:
        raise _damaged_error(_("its database has version {schema}").format(schema=schema))
    with closing(sqlite3.connect(file)) as connection:
        try:
            (verdict,) = connection.execute("PRAGMA integrity_check").fetchone()
            orphans = connection.execute("PRAGMA foreign_key_check").fetchall()
            counts = count_rows_in(connection)
        except sqlite3.DatabaseError as error:
            raise _damaged_error(str(error)) from error
    if verdict != "ok" or orphans:
        raise _damaged_error(f"{verdict}, {len(orphans)}")
    if counts != dict(manifest.counts):
        raise _damaged_error(_("other numbers of rows than it claims"))


def count_rows_in(connection: sqlite3.Connection) -> dict[str, int]:
    """Row counts by table; an older database has fewer tables."""
    existing = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    names = [table.name for table in TABLES if table.name in existing]
    return {
        name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]  # noqa: S608
        for name in names
    }


def _read_manifest(archive: zipfile.ZipFile) -> Manifest:
    # Imported here, so that commands that read no backup do not wait for it.
    from pydantic import TypeAdapter

    try:
        info = archive.getinfo(MANIFEST)
        if info.file_size > _LARGEST_MANIFEST:
            raise _damaged_error(_("its manifest is too large"))
        text = archive.read(info)
        values = json.loads(text)
        if values["kind"] != KIND:
            raise _not_a_backup_error()
        if values["format"] > FORMAT:
            raise _newer_error(str(values["version"]))
        # Strictly, as the file may come from anywhere.
        manifest = TypeAdapter(Manifest).validate_json(text, strict=True)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _not_a_backup_error() from error
    numbers = (*manifest.counts.values(), *(member.size for member in manifest.members.values()))
    in_time = 0 <= manifest.created_at < _LATEST
    if not in_time or min(numbers, default=0) < 0 or not manifest.version.isprintable():
        raise _not_a_backup_error()
    return manifest


def _check_names(archive: zipfile.ZipFile, manifest: Manifest) -> None:
    file_names = [info.filename for info in archive.infolist()]
    if sorted(file_names) != sorted((*manifest.members, MANIFEST)) or STORE not in manifest.members:
        raise _damaged_error(_("its list of files is not right"))
    folders = {str(parent) for name in file_names for parent in PurePosixPath(name).parents}
    for name in file_names:
        path = PurePosixPath(name)
        unsafe = path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name or str(path) != name
        # A backup has these and nothing else, each a folder or a file as it is.
        ours = name in (MANIFEST, STORE, FILE, PAGE) or (
            len(path.parts) > 1 and path.parts[0] in (WORKSPACE, PROMPTS)
        )
        if unsafe or not ours or name in folders or LOCK in path.parts:
            raise _damaged_error(_("{name!r} is no path in a backup").format(name=name))


def _check_member(archive: zipfile.ZipFile, name: str, member: Member, target: Path | None) -> None:
    digest, left = hashlib.sha256(), member.size
    with archive.open(name) as source, _open_target(target) as written:
        # Not a byte more than it claims is read, however much comes out of it.
        while piece := source.read(min(_BLOCK, left + 1)):
            left -= len(piece)
            if left < 0:
                break
            digest.update(piece)
            if written is not None:
                written.write(piece)
    if left or digest.hexdigest() != member.sha256:
        raise _damaged_error(_("{name} is not what it was").format(name=name))


@contextmanager
def _open_target(target: Path | None) -> Iterator[IO[bytes] | None]:
    if target is None:
        yield None
        return
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
        yield opened
        opened.flush()
        os.fsync(opened.fileno())


def refuse_newer(manifest: Manifest) -> None:
    if manifest.schema > SHIPPED.newest:
        raise StoreError(
            _("This backup was made by Holdfast {version}, which is newer than this one.").format(
                version=manifest.version
            ),
            hint=_("Restore it with that version or a later one; nothing was changed."),
        )


def _newer_error(version: str) -> HoldfastError:
    return HoldfastError(
        _("This backup was made by a newer Holdfast ({version!r}).").format(version=version),
        hint=_("Restore it with that one."),
    )


def _not_a_backup_error() -> BadRequest:
    return BadRequest(
        _("This is no backup of Holdfast."),
        hint=_("Name a file that `holdfast backup create` made."),
    )


def _damaged_error(why: str) -> StoreError:
    return StoreError(
        _("The backup is damaged: {why}.").format(why=why),
        hint=_("Use another one; nothing was changed."),
    )


_PIECE = ".new"


def default_name(now: float | None = None) -> str:
    return time.strftime("holdfast-%Y-%m-%d-%H%M%S.zip", time.localtime(now))


def create(
    places: DataFolder, file: Path, tell: ProgressCallback = ignore_progress, notes: Workspace | None = None
) -> Manifest:
    """Writes a backup and verifies it before it gets its final name.

    `notes` is given where notes are stored outside of the data folder.
    """
    try:
        with staging_folder(file) as folder:
            piece = folder / file.name
            with new_zip(piece) as archive:
                # Beside the archive, where there has to be room for it anyway.
                manifest = _fill_archive(archive, places, folder / f".{STORE}", tell, notes)
            check(piece, tell=tell)
            put_in_place(piece, file)
    except sqlite3.Error as error:
        raise StoreError(
            _("The database cannot be copied: {error}.").format(error=error),
            hint=_("See that the disk has room."),
        ) from error
    return manifest


def _fill_archive(
    archive: zipfile.ZipFile, places: DataFolder, copy: Path, tell: ProgressCallback, notes: Workspace | None
) -> Manifest:
    writer, left_out = ArchiveWriter(archive), list[str]()
    _copy_store(places, copy, tell)
    with closing(sqlite3.connect(copy)) as connection:
        counts = count_rows_in(connection)
    schema = version_of(copy)
    with copy.open("rb") as database:
        writer.add(STORE, database)
    copy.unlink()
    here = KEPT if notes is None else [name for name in KEPT if name != WORKSPACE]
    if notes is not None:
        _add_notes(writer, notes, left_out, tell)
    files = [pair for name in here for pair in _files(places.home / name, name, left_out)]
    for number, (name, path) in enumerate(files, 1):
        tell(_("notes"), number, len(files))
        try:
            opened = path.open("rb")
        except FileNotFoundError:
            # Somebody took it away just now.
            continue
        except OSError as error:
            left_out.append(f"{name}: {translate(explain_os_error(error))}")
            continue
        with opened:
            writer.add(name, opened)
    manifest = Manifest(
        version=__version__,
        schema=schema or "",
        created_at=round(time.time(), 3),
        counts=counts,
        members=writer.members,
        left_out=tuple(left_out),
    )
    writer.close(manifest)
    return manifest


def _add_notes(writer: ArchiveWriter, notes: Workspace, left_out: list[str], tell: ProgressCallback) -> None:
    entries = notes.entries()
    for number, entry in enumerate(entries, 1):
        tell(_("notes"), number, len(entries))
        trouble = entry.trouble
        try:
            text = "" if trouble else notes.read(entry.path).text
        except NotFound:
            # Somebody took it away just now.
            continue
        except WorkspaceUnreachable:
            # Nothing can be read there: a backup without notes would be taken for one with them.
            raise
        except StoreError as error:
            trouble = str(error)
        if trouble:
            left_out.append(f"{entry.path}: {trouble}")
        else:
            writer.add(f"{WORKSPACE}/{entry.path}", BytesIO(text.encode("utf-8", "surrogateescape")))


def _copy_store(places: DataFolder, copy: Path, tell: ProgressCallback) -> None:
    """Copies the database into one file, as of one moment."""
    database = places.database
    # Opened as ever: it is made or brought up to date where it is not, and nobody migrates it meanwhile.
    with open_store(places.store) as store:
        if database is None:
            with open_store(f"sqlite:///{copy}") as target:
                copy_rows(store, target, tell=tell)
        else:
            tell(_("database"), 0, 1)
            os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            with closing(open_for_reading(database)) as old, closing(sqlite3.connect(copy)) as new:
                # All pages in one step: a writer cannot come in between, and does not have to wait.
                old.backup(new)
    with closing(sqlite3.connect(copy)) as connection:
        # One file, with no journal beside it.
        connection.execute("PRAGMA journal_mode = DELETE")


def _files(place: Path, name: str, left_out: list[str]) -> Iterator[tuple[str, Path]]:
    """Lists all files below a path with their names in the archive; links are reported and skipped."""
    if place.is_symlink():
        left_out.append(f"{name}: {_('a link')}")
    elif place.is_dir():
        for child in sorted(place.iterdir()):
            unfinished = child.name.startswith(".") and child.name.endswith(_PIECE)
            if child.name != LOCK and not unfinished:
                yield from _files(child, f"{name}/{child.name}", left_out)
    elif place.is_file():
        try:
            name.encode()
        except UnicodeEncodeError:
            shown = name.encode(errors="replace").decode()
            left_out.append(f"{shown}: {_('its name is no text')}")
            return
        yield name, place


PLAN = ".restore.json"
# Later than any version: whoever meets it refuses the file, and shows these words.
_UNFINISHED = "unfinished (run `holdfast backup finish`)"
_JOURNALS = ("-wal", "-shm", "-journal")
# Stands in a plan for a database on a server, which is no file to be moved.
_ON_SERVER = ".server"
# What comes by itself once a Holdfast runs, and can be had again.
_REBUILT_TABLES = frozenset({"models", "embeddings"})


class RestoreOutcome(StrEnum):
    """The result of `finish`: no restore was pending, it had not started, or it is complete now."""

    NONE = "none"
    DROPPED = "dropped"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class StagedMove:
    """A target that is replaced by the copy staged beside it, or removed if the backup has none."""

    target: Path
    comes: bool = True

    @property
    def staged_path(self) -> Path:
        return self.target.with_name(f".{self.target.name}{RESTORED}")

    @property
    def aside(self) -> Path:
        return self.target.with_name(f".{self.target.name}{REPLACED}")


def restore(
    places: DataFolder,
    file: Path,
    *,
    overwrite: bool = False,
    settings: bool = True,
    tell: ProgressCallback = ignore_progress,
) -> Manifest:
    """Restores a backup; existing data is only replaced with `overwrite`.

    Without `settings`, those of the backup and its prompts are left out, and what is there stays.
    """
    if is_pending(places):
        raise Conflict(
            _("A restore to {home} broke off.").format(home=places.home),
            hint=_("First run `holdfast backup finish`."),
        )
    # Whoever named the wrong file hears that first, not how to make room for it.
    refuse_newer(read_manifest(file))
    with _translate_errors(places), _exclusive_access(places.database):
        if not overwrite and _has_data(places):
            raise Conflict(
                _("There is something in {home} already.").format(home=places.home),
                hint=_(
                    "Add --overwrite to let the backup take its place (`holdfast backup create` keeps what"
                    " is there), or name another --home."
                ),
            )
        stage = places.home / STAGE
        remove_path(stage)
        stage.mkdir(mode=0o700, parents=True)
        try:
            manifest = check(file, stage, tell)
            refuse_newer(manifest)
            _bring_up_to_date(stage / STORE)
            moves = _stage_parts(places, stage, settings=settings)
        finally:
            remove_path(stage)
        _write_plan(places, moves)
        _carry_out(places, moves, tell)
    return manifest


def has_settings(file: Path) -> bool:
    """Whether a backup has settings or prompts in it; what is none is left to `check`."""
    try:
        with zipfile.ZipFile(file) as archive:
            return any(name.partition("/")[0] in OF_OWNER for name in archive.namelist())
    except (*_BROKEN, OSError):
        return False


def is_pending(places: DataFolder) -> bool:
    """Whether an interrupted restore has left a plan."""
    return (places.home / PLAN).exists()


def finish(places: DataFolder, tell: ProgressCallback = ignore_progress) -> RestoreOutcome:
    """Completes an interrupted restore.

    One that had not started is dropped, since the old data may have been used in the meantime.
    """
    plan = places.home / PLAN
    if not is_pending(places):
        return RestoreOutcome.NONE
    try:
        written = json.loads(plan.read_text(encoding="utf-8"))
        moves = [StagedMove(Path(target), comes) for target, comes in written]
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(_("{plan} cannot be read: {error}.").format(plan=plan, error=error)) from error
    # The settings may have come into place already, and name another database than the plan does.
    database = moves[-1]
    on_server = _is_on_server(database)
    with _translate_errors(places), _exclusive_access(None if on_server else database.target):
        if database.staged_path.exists() and not on_server and not _has_barrier(database.target):
            _clear(places, moves)
            return RestoreOutcome.DROPPED
        _carry_out(places, moves, tell)
    return RestoreOutcome.FINISHED


def _has_data(places: DataFolder) -> bool:
    """Whether a restore would replace data. A lock file or an empty database does not count."""
    if any(_has_content(places.home / name) for name in KEPT):
        return True
    if places.database is not None:
        return version_of(places.database) is not None and _is_used(_rows_in(places.database))
    with open_store(places.store) as store:
        return _is_used(count_rows(store))


def _has_content(place: Path) -> bool:
    return (
        any(not child.name.startswith(".") for child in place.iterdir()) if place.is_dir() else place.exists()
    )


def _rows_in(database: Path) -> dict[str, int]:
    with closing(sqlite3.connect(f"file:{quote(str(database))}?mode=ro", uri=True)) as connection:
        return count_rows_in(connection)


def _is_used(counts: Mapping[str, int]) -> bool:
    """Whether a database has user data, beyond what the first start creates."""
    return any(number for name, number in counts.items() if name not in _REBUILT_TABLES)


@contextmanager
def _translate_errors(places: DataFolder) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        why = translate(explain_os_error(error)) if isinstance(error, OSError) else str(error)
        raise StoreError(
            _("Restoring to {home} failed: {why}.").format(home=places.home, why=why),
            hint=_("See that it can be written to and has room, and begin again."),
        ) from error


@contextmanager
def _exclusive_access(database: Path | None) -> Iterator[None]:
    """Holds the lock of the database file. Databases on a server cannot be locked this way."""
    if database is None:
        yield
        return
    database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with exclusive_lock(database):
        yield


def _stage_parts(places: DataFolder, stage: Path, *, settings: bool) -> list[StagedMove]:
    """Moves each part beside its target, onto the same disk, so that the swap is one rename."""
    database = places.database or places.home / _ON_SERVER
    kept = [name for name in KEPT if settings or name not in OF_OWNER]
    parts = {stage / name: places.home / name for name in kept} | {stage / STORE: database}
    moves = [StagedMove(target, source.exists()) for source, target in parts.items()]
    for source, move in zip(parts, moves, strict=True):
        remove_path(move.staged_path)
        remove_path(move.aside)
        if move.comes:
            shutil.move(source, move.staged_path)
            _sync_tree(move.staged_path)
    return moves


def _bring_up_to_date(database: Path) -> None:
    """Upgrades the schema and folds the journal into the file."""
    open_store(f"sqlite:///{database}").close()
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA journal_mode = WAL")


def _write_plan(places: DataFolder, moves: list[StagedMove]) -> None:
    plan = places.home / PLAN
    piece = plan.with_suffix(".new")
    with piece.open("w", encoding="utf-8") as opened:
        json.dump([(str(move.target), move.comes) for move in moves], opened)
        opened.flush()
        os.fsync(opened.fileno())
    piece.replace(plan)
    sync_folder(places.home)


def _carry_out(places: DataFolder, moves: list[StagedMove], tell: ProgressCallback) -> None:
    """Swaps all staged parts in. Idempotent: what is no longer staged was moved already."""
    *files, database = moves
    step, steps = _("putting in place"), len(moves)
    tell(step, 0, steps)
    on_server, waits = _is_on_server(database), database.staged_path.exists()
    if waits and on_server:
        # One transaction there; should we be killed before the next line, it is done once more.
        with open_store(f"sqlite:///{database.staged_path}") as source, open_store(places.store) as target:
            copy_rows(source, target, replace=True, tell=tell)
        remove_path(database.staged_path)
    elif waits:
        _place_barrier(database)
    if waits or on_server:
        for number, move in enumerate(files, 1):
            _swap(move)
            tell(step, number, steps)
        if not on_server:
            for journal in _JOURNALS:
                Path(f"{database.target}{journal}").unlink(missing_ok=True)
            database.staged_path.replace(database.target)
            sync_folder(database.target.parent)
        tell(step, steps, steps)
    _clear(places, moves)


def _clear(places: DataFolder, moves: list[StagedMove]) -> None:
    """Removes staged and replaced files; the plan goes last, so that this can be repeated, too."""
    for move in moves:
        remove_path(move.aside)
        remove_path(move.staged_path)
    database = moves[-1]
    for journal in _JOURNALS:
        Path(f"{database.staged_path}{journal}").unlink(missing_ok=True)
        Path(f"{database.staged_path}.lock").unlink(missing_ok=True)
    (places.home / PLAN).unlink()
    sync_folder(places.home)


def _is_on_server(database: StagedMove) -> bool:
    return database.target.name == _ON_SERVER


def _place_barrier(database: StagedMove) -> None:
    """Replaces the database with one that every version refuses to open; the old one is kept."""
    target = database.target
    if _has_barrier(target):
        return
    barrier = target.with_name(f".{target.name}.barrier")
    barrier.unlink(missing_ok=True)
    with closing(sqlite3.connect(barrier)) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT NOT NULL)")
        connection.execute("INSERT INTO alembic_version VALUES (?)", (_UNFINISHED,))
        connection.commit()
    if target.exists():
        _checkpoint(target)
        if not database.aside.exists() and not hard_link(target, database.aside):
            shutil.copyfile(target, database.aside)
    for journal in _JOURNALS:
        Path(f"{target}{journal}").unlink(missing_ok=True)
    barrier.replace(target)
    sync_folder(target.parent)


def _has_barrier(database: Path) -> bool:
    try:
        return version_of(database) == _UNFINISHED
    except StoreError:
        # A file that is damaged is why somebody restores.
        return False


def _checkpoint(database: Path) -> None:
    """Folds the journal into the database: it must not be taken for that of the new file."""
    with closing(sqlite3.connect(database)) as connection:
        try:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            # There is no database in the file any more.
            return


def _swap(move: StagedMove) -> None:
    waits = move.staged_path.exists()
    # What came already is staged no longer, and stays.
    if move.target.exists() and (waits or not move.comes):
        move.target.replace(move.aside)
    if waits:
        move.staged_path.replace(move.target)
    sync_folder(move.target.parent)


def _sync_tree(path: Path) -> None:
    """Syncs folders to disk; the contents of files are synced when they are written."""
    for folder in (path, *(child for child in path.rglob("*") if child.is_dir())) if path.is_dir() else ():
        # For their owner alone, as they are made.
        folder.chmod(0o700)
        sync_folder(folder)
    sync_folder(path.parent)
