"""A backup as a file: a zip with a manifest that says what must be in it, to the last byte.

A zip, since every system opens one, each member can be read alone, and one that was cut short has no end and
so is none. It is checked as if a stranger had made it. Knows neither who makes backups nor who restores.
"""

import hashlib
import json
import os
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from holdfast.config import FILE, PAGE
from holdfast.errors import BadRequest, HoldfastError, StoreError
from holdfast.language import say
from holdfast.store.migrate import SHIPPED
from holdfast.store.sqlite_file import version_of
from holdfast.transfer.copying import TABLES
from holdfast.transfer.places import PROMPTS, WORKSPACE
from holdfast.transfer.telling import Tell, untold

MANIFEST, STORE = "manifest.json", "store.db"
# By which writers of notes take turns; it says nothing, and is never in a backup.
LOCK = ".lock"
KIND, FORMAT = "holdfast backup", 1

_PIECE = 1 << 20
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
    """What a backup holds: `schema` is the version of its database, `counts` the rows of each table."""

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


class Writer:
    """Adds files to a zip, and remembers what they were."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.members: dict[str, Member] = {}

    def add(self, name: str, source: IO[bytes]) -> None:
        digest, size = hashlib.sha256(), 0
        with self._archive.open(_info(name), "w", force_zip64=True) as target:
            while piece := source.read(_PIECE):
                digest.update(piece)
                size += len(piece)
                target.write(piece)
        self.members[name] = Member(size, digest.hexdigest())

    def close(self, manifest: Manifest) -> None:
        text = json.dumps(manifest.to_json(), ensure_ascii=False, indent=1)
        self._archive.writestr(_info(MANIFEST), text)


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    return info


@contextmanager
def new_zip(piece: Path) -> Iterator[zipfile.ZipFile]:
    """A new zip for its owner's eyes only, on the disk for good when all is in it."""
    with os.fdopen(os.open(piece, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as opened:
        with zipfile.ZipFile(opened, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
            yield archive
        opened.flush()
        os.fsync(opened.fileno())


def check(file: Path, into: Path | None = None, tell: Tell = untold) -> Manifest:
    """See that a backup is whole: every member there is named and has its digest, and the database is sound.

    Its members are written `into` a folder where one is named.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = _manifest(archive)
            _check_names(archive, manifest)
            with tempfile.TemporaryDirectory(prefix="holdfast-") as spare:
                base = into or Path(spare)
                for number, (name, member) in enumerate(manifest.members.items()):
                    tell(say("checking", "prüfen"), number, len(manifest.members))
                    target = base / name if into is not None or name == STORE else None
                    _check_member(archive, name, member, target)
                check_database(base / STORE, manifest)
    except _BROKEN as error:
        raise _broken(str(error)) from error
    except OSError as error:
        why = error.strerror or str(error)
        raise StoreError(say(f"{file} cannot be read: {why}.", f"{file} ist nicht lesbar: {why}.")) from error
    return manifest


def check_database(file: Path, manifest: Manifest) -> None:
    """The database of a backup: sound, of the version it claims, and with the rows it claims."""
    try:
        schema = version_of(file)
    except StoreError as error:
        # Its words name a place of ours that is gone by the time they are read.
        raise _broken(say("its database is none", "die Datenbank ist keine")) from error
    if schema != manifest.schema:
        raise _broken(say(f"its database has version {schema}", f"die Datenbank hat Version {schema}"))
    with closing(sqlite3.connect(file)) as connection:
        try:
            (verdict,) = connection.execute("PRAGMA integrity_check").fetchone()
            orphans = connection.execute("PRAGMA foreign_key_check").fetchall()
            counts = counts_in(connection)
        except sqlite3.DatabaseError as error:
            raise _broken(str(error)) from error
    if verdict != "ok" or orphans:
        raise _broken(f"{verdict}, {len(orphans)}")
    if counts != dict(manifest.counts):
        raise _broken(say("other numbers of rows than it claims", "andere Zeilenzahlen als angegeben"))


def counts_in(connection: sqlite3.Connection) -> dict[str, int]:
    """The rows of each table there is; an older database has fewer tables."""
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    names = [table.name for table in TABLES if table.name in there]
    return {
        name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]  # noqa: S608
        for name in names
    }


def _manifest(archive: zipfile.ZipFile) -> Manifest:
    try:
        info = archive.getinfo(MANIFEST)
        if info.file_size > _LARGEST_MANIFEST:
            raise _broken(say("its manifest is too large", "das Verzeichnis ist zu groß"))
        told = json.loads(archive.read(info))
        if told["kind"] != KIND:
            raise _no_backup()
        if told["format"] > FORMAT:
            raise _newer(str(told["version"]))
        members = {name: Member(**member) for name, member in told["members"].items()}
        made = Manifest(**{**told, "members": members, "left_out": tuple(told["left_out"])})
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        raise _no_backup() from error
    if not _makes_sense(made):
        raise _no_backup()
    return made


def _makes_sense(made: Manifest) -> bool:
    """Whether everything in a manifest is of its kind: what somebody wrote into a file may be anything."""
    numbers = [*made.counts.values()] if isinstance(made.counts, dict) else [None]
    numbers += [member.size for member in made.members.values()]
    texts = [made.version, made.schema, *made.left_out, *(one.sha256 for one in made.members.values())]
    return (
        type(made.format) is int
        and type(made.created_at) in (int, float)
        and 0 <= made.created_at < _LATEST
        and all(type(number) is int and number >= 0 for number in numbers)
        and all(isinstance(text, str) for text in texts)
        and made.version.isprintable()
    )


def _check_names(archive: zipfile.ZipFile, manifest: Manifest) -> None:
    there = [info.filename for info in archive.infolist()]
    if sorted(there) != sorted((*manifest.members, MANIFEST)) or STORE not in manifest.members:
        raise _broken(say("its list of files is not right", "die Liste der Dateien stimmt nicht"))
    folders = {str(parent) for name in there for parent in PurePosixPath(name).parents}
    for name in there:
        path = PurePosixPath(name)
        unsafe = path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name or str(path) != name
        # A backup has these and nothing else, each a folder or a file as it is.
        ours = name in (MANIFEST, STORE, FILE, PAGE) or (
            len(path.parts) > 1 and path.parts[0] in (WORKSPACE, PROMPTS)
        )
        if unsafe or not ours or name in folders or LOCK in path.parts:
            raise _broken(say(f"{name!r} is no path in a backup", f"{name!r} ist kein Pfad einer Sicherung"))


def _check_member(archive: zipfile.ZipFile, name: str, member: Member, target: Path | None) -> None:
    digest, left = hashlib.sha256(), member.size
    with archive.open(name) as source, _written(target) as written:
        # Not a byte more than it claims is read, however much comes out of it.
        while piece := source.read(min(_PIECE, left + 1)):
            left -= len(piece)
            if left < 0:
                break
            digest.update(piece)
            if written is not None:
                written.write(piece)
    if left or digest.hexdigest() != member.sha256:
        raise _broken(say(f"{name} is not what it was", f"{name} ist nicht mehr, was es war"))


@contextmanager
def _written(target: Path | None) -> Iterator[IO[bytes] | None]:
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
            say(
                f"This backup was made by Holdfast {manifest.version}, which is newer than this one.",
                f"Diese Sicherung stammt von Holdfast {manifest.version}, das neuer ist als dieses.",
            ),
            hint=say(
                "Restore it with that version or a later one; nothing was changed.",
                "Mit jener oder einer späteren Fassung zurückspielen; nichts wurde geändert.",
            ),
        )


def _newer(version: str) -> HoldfastError:
    return HoldfastError(
        say(
            f"This backup was made by a newer Holdfast ({version!r}).",
            f"Diese Sicherung stammt von einem neueren Holdfast ({version!r}).",
        ),
        hint=say("Restore it with that one.", "Mit jenem zurückspielen."),
    )


def _no_backup() -> BadRequest:
    return BadRequest(
        say("This is no backup of Holdfast.", "Das ist keine Sicherung von Holdfast."),
        hint=say("Name a file that `holdfast backup create` made.", "Eine von `backup create` nennen."),
    )


def _broken(why: str) -> StoreError:
    return StoreError(
        say(f"The backup is damaged: {why}.", f"Die Sicherung ist beschädigt: {why}."),
        hint=say("Use another one; nothing was changed.", "Eine andere nehmen; nichts wurde geändert."),
    )
