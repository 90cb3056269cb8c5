"""The allowed folders and the only way to read from them: resolve a path, check it, open it step by step.

A path is resolved with all its links and must then lie in an allowed folder. The resolved path is opened from
a folder that is held open, without following links: if somebody puts a link in meanwhile, the step fails. So
what was checked is what is read. Files that look like secrets, by name, are refused unless they are named
outright.
"""

import difflib
import errno
import hashlib
import os
import stat
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import translate
from itertools import islice
from pathlib import Path, PurePath
from typing import Literal

from holdfast.errors import ConfigError
from holdfast.files import problems
from holdfast.files.documents import MESSAGE_SECONDS
from holdfast.i18n import lazy
from holdfast.text.patterns import late

# With O_PATH, folders on the way need not be readable.
_OPEN_STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a pipe would wait for a writer.
_OPEN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY

_CHUNK_BYTES = 1 << 18
# Bytes kept of each end of a large file.
END_BYTES = 64_000


class NotRegular(OSError):
    """A device, a pipe, a socket or a folder instead of a regular file."""


class TooManyBytes(OSError):
    """More bytes than may be read."""


@dataclass(frozen=True, slots=True)
class FileData:
    """The content of a file when it was read. If it is too large, `head` and `tail` are its ends."""

    head: bytes
    size: int
    lines: int
    hash: str
    tail: bytes | None = None

    @property
    def whole(self) -> bool:
        return self.tail is None


@contextmanager
def open_folder(root: str, steps: Sequence[str], *, to_list: bool = False) -> Iterator[int]:
    """Open the folder `steps` below `root` and yield its descriptor; `to_list` needs read permission."""
    here = os.open(root, _OPEN_FOLDER if to_list and not steps else _OPEN_STEP)
    try:
        for index, step in enumerate(steps, 1):
            next_folder = os.open(
                step, _OPEN_FOLDER if to_list and index == len(steps) else _OPEN_STEP, dir_fd=here
            )
            os.close(here)
            here = next_folder
        yield here
    finally:
        os.close(here)


@contextmanager
def open_file(root: str, steps: Sequence[str]) -> Iterator[int]:
    """Open the regular file `steps` below `root` and yield its descriptor."""
    if not steps:
        raise NotRegular
    with open_folder(root, steps[:-1]) as folder:
        # Opening a device can have effects, so it is checked before; the check that counts is the one after.
        check_regular(os.stat(steps[-1], dir_fd=folder, follow_symlinks=False))
        file = os.open(steps[-1], _OPEN_FILE, dir_fd=folder)
    try:
        check_regular(os.fstat(file))
        yield file
    finally:
        os.close(file)


def check_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISLNK(status.st_mode):
        raise NotRegular


def read_open_file(file: int, whole: int, largest: int) -> FileData:
    """Read a file once from its beginning; keep up to `whole` bytes, or both ends of a larger one.

    The size in the file's status may be wrong or change meanwhile, so the bytes read are counted.
    """
    if os.fstat(file).st_size > largest:
        raise TooManyBytes
    digest, size, lines, last = hashlib.sha256(), 0, 0, b""
    chunks: list[bytes] = []
    ends: deque[bytes] = deque()
    held = 0
    while piece := os.read(file, _CHUNK_BYTES):
        digest.update(piece)
        size += len(piece)
        lines += piece.count(b"\n")
        last = piece[-1:]
        if size > largest:
            raise TooManyBytes
        if size - len(piece) <= whole:
            chunks.append(piece)
        ends.append(piece)
        held += len(piece)
        while held - len(ends[0]) >= END_BYTES:
            held -= len(ends.popleft())
    lines += last not in (b"", b"\n")
    if size <= whole:
        return FileData(b"".join(chunks), size, lines, digest.hexdigest())
    return FileData(
        b"".join(chunks)[:END_BYTES], size, lines, digest.hexdigest(), b"".join(ends)[-END_BYTES:]
    )


def read_open_lines(file: int, first: int, last: int, whole: int, largest: int) -> FileData:
    """Read the lines from `first` to `last` (0: the end), up to `whole` bytes of them."""
    if os.fstat(file).st_size > largest:
        raise TooManyBytes
    digest, size, number, begins = hashlib.sha256(), 0, 0, True
    chunks: list[bytes] = []
    room = whole
    with os.fdopen(os.dup(file), "rb") as opened:
        # A very long line is read in pieces.
        while piece := opened.readline(_CHUNK_BYTES):
            digest.update(piece)
            size += len(piece)
            number += begins
            begins = piece.endswith(b"\n")
            if size > largest:
                raise TooManyBytes
            if first <= number and (not last or number <= last) and room > 0:
                chunks.append(piece[:room])
                room -= len(piece)
    return FileData(b"".join(chunks), size, number, digest.hexdigest())


# Lower case: names are compared case-insensitively, as some file systems do. Contents are never looked at.
_SECRET_FILES = (
    ".env*", "*.env",
    "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "identity",
    "*.pem", "*.key", "*.p12", "*.pfx", "*.p8", "*.ppk", "*.jks", "*.keystore", "*.keychain", "*.keychain-db",
    "*.kdb", "*.kdbx", "*.ovpn", "*.age", "wallet.dat",
    ".netrc", "_netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".pgpass", ".my.cnf", ".s3cfg", ".boto",
    ".git-credentials", ".htpasswd", ".dockercfg", ".vault-token", ".terraformrc", "*.tfstate", "*.tfstate.*",
    "*.tfvars", "kubeconfig", "credentials*", "client_secret*.json", "service-account*.json",
    "secrets.json", "secrets.toml", "secrets.yaml", "secrets.yml", "secrets.ini", "secrets.txt",
    "password.txt", "passwords", "passwords.csv", "passwords.json", "passwords.txt",
    "environ", "shadow", "gshadow", "shadow-", "gshadow-",
    ".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history", ".sqlite_history",
    "cookies", "cookies.sqlite", "cookies.txt", "logins.json", "key3.db", "key4.db", "login data",
)  # fmt: skip
_SECRET_FOLDERS = (
    ".ssh", ".aws", ".gnupg", ".gpg", ".azure", ".kube", ".gcloud", "gcloud", ".password-store",
    ".oci", ".chamber", "keychains", "keyrings", ".mozilla", ".thunderbird",
)  # fmt: skip
# Secret only in this folder: (folder, file).
_SECRET_PAIRS = (("gh", "hosts.yml"), (".docker", "config.json"), (".git", "config"))
# Samples and public keys hold no secrets.
_SAMPLE_FILES = (
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    "*.example",
    "*.sample",
    "*.pub",
)

# Every name in a folder is checked, so all names are one pattern.
_COPY_SUFFIXES = ("~", ".bak", ".backup", ".old", ".orig", ".save", ".swp")
_SECRET_FILE, _SAMPLE_FILE = (
    late("|".join(map(translate, names))) for names in (_SECRET_FILES, _SAMPLE_FILES)
)


def is_secret(parts: Iterable[str]) -> bool:
    """Whether a path, given by its parts, looks like a secret."""
    names = [unicodedata.normalize("NFKC", part).casefold() for part in parts]
    if not names:
        return False
    if any(name in _SECRET_FOLDERS for name in names):
        return True
    last, above = strip_copy_suffixes(names[-1]), names[-2] if len(names) > 1 else ""
    if _SAMPLE_FILE.match(last):
        return False
    return _SECRET_FILE.match(last) is not None or (above, last) in _SECRET_PAIRS


def strip_copy_suffixes(name: str) -> str:
    """Return the name without suffixes of backup copies."""
    end = len(name)
    while copy := next((ending for ending in _COPY_SUFFIXES if name.endswith(ending, 0, end)), ""):
        end -= len(copy)
    return name[:end]


EntryKind = Literal["file", "folder", "link", "other"]

# How many entries of a folder are read.
MOST_ENTRIES = 20_000


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Limits in bytes: a text kept whole, a document kept whole, a file read at all.

    `seconds` is how long the documents of one message may take together.
    """

    whole: int = 2_000_000
    document: int = 20_000_000
    largest: int = 50_000_000
    seconds: float = MESSAGE_SECONDS


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A path in an allowed folder: `steps` below `root`, both without links. `name` is as written."""

    name: str
    root: str
    steps: tuple[str, ...]
    kind: EntryKind
    size: int = 0
    changed_at: float = 0.0

    def name_from(self, base: Path | None) -> str:
        """Return the same name for the same file however it was written: relative to `base` or the root."""
        path = PurePath(self.path)
        start = os.path.realpath(base or self.root)
        return str(path.relative_to(start)) if path.is_relative_to(start) else str(path)

    @property
    def path(self) -> str:
        """The resolved path, the same for every spelling."""
        return str(Path(self.root, *self.steps))

    def child(self, name: str, kind: EntryKind, size: int = 0, changed_at: float = 0.0) -> "FileEntry":
        """Return an entry of this folder."""
        shown = f"{self.name.rstrip('/')}/{name}"
        return FileEntry(shown, self.root, (*self.steps, name), kind, size, changed_at)


@dataclass(frozen=True, slots=True)
class Roots:
    """The folders that may be read, except those that are `closed`.

    Paths are relative to `base`, or without one to each folder in turn. With `secrets`, a secret can be read
    by asking for its full text. `pasted` is the end of the message that is not the person's own words;
    references in it are ignored.
    """

    folders: tuple[Path, ...]
    base: Path | None = None
    secrets: bool = False
    closed: tuple[Path, ...] = ()
    pasted: str = ""
    limits: ReadLimits = ReadLimits()

    def find(self, name: str, *, full: bool = False) -> FileEntry:
        """Return the file or folder of this name, else raise `FileProblem`. `full`: all of it is wanted."""
        allowed = False
        for path in self._candidate_paths(name):
            entry = self._resolve(name, path)
            if entry is None:
                continue
            secret = is_secret(PurePath(name).parts) or is_secret(PurePath(entry.path).parts)
            if secret and not (self.secrets and full):
                raise problems.secret(name, may=self.secrets)
            allowed = True
            if seen := look_up(entry):
                return seen
        raise problems.missing(name, self._suggest_names(name)) if allowed else problems.outside(name)

    def exists(self, name: str) -> bool:
        """Whether a readable path of this name exists, secret or not."""
        try:
            inside = [self._resolve(name, path) for path in self._candidate_paths(name)]
            return any(entry is not None and look_up(entry) is not None for entry in inside)
        except problems.FileProblem:
            return False

    def read(self, entry: FileEntry, *, whole: int | None = None) -> FileData:
        """Read a file once."""
        with translate_errors(entry), open_file(entry.root, entry.steps) as file:
            try:
                return read_open_file(file, whole or self.limits.whole, self.limits.largest)
            except TooManyBytes:
                raise problems.too_large(entry.name, self.limits.largest) from None

    def read_lines(self, entry: FileEntry, first: int, last: int) -> FileData:
        with translate_errors(entry), open_file(entry.root, entry.steps) as file:
            try:
                return read_open_lines(file, first, last, self.limits.whole, self.limits.largest)
            except TooManyBytes:
                raise problems.too_large(entry.name, self.limits.largest) from None

    def entries(self, folder_entry: FileEntry) -> list[FileEntry]:
        """Return up to `MOST_ENTRIES` entries by name, without closed folders; links are not followed."""
        with (
            translate_errors(folder_entry),
            open_folder(folder_entry.root, folder_entry.steps, to_list=True) as folder,
        ):
            rows = []
            with os.scandir(folder) as entries:
                for entry in islice(entries, MOST_ENTRIES):
                    status = status_of(entry)
                    if status is not None:
                        kind = kind_of(status)
                        row = folder_entry.child(entry.name, kind, status.st_size, status.st_mtime)
                        if kind != "folder" or not self._is_closed(row.path):
                            rows.append(row)
        return sorted(rows, key=lambda row: (row.steps[-1].casefold(), row.steps[-1]))

    def _candidate_paths(self, name: str) -> Iterator[str]:
        """Yield the paths a name may mean, before links are resolved."""
        if not name or "\0" in name:
            return
        if name.startswith("~/"):
            yield os.path.expanduser(name)  # noqa: PTH111 - a Path's fails where there is no home
        elif name.startswith("/"):
            yield name
        else:
            for start in (self.base,) if self.base else self.folders:
                yield f"{start}/{name}"

    def _resolve(self, name: str, path: str) -> FileEntry | None:
        """Return the resolved path if it lies in an allowed folder, whether or not it exists."""
        try:
            real = PurePath(os.path.realpath(path))
            if not os.path.lexists(real) and not name.isascii():
                real = PurePath(os.path.realpath(match_disk_spelling(path)))
        except ValueError:
            # Characters that no file system allows.
            return None
        except OSError:
            # The path was changed while it was resolved.
            raise problems.path_changed(name) from None
        if self._is_closed(str(real)):
            return None
        for folder in self.folders:
            root = os.path.realpath(folder)
            if real.is_relative_to(root):
                return FileEntry(name, root, real.relative_to(root).parts, "other")
        return None

    def _is_closed(self, path: str) -> bool:
        return any(PurePath(path).is_relative_to(os.path.realpath(folder)) for folder in self.closed)

    def _suggest_names(self, name: str) -> list[str]:
        """Return similar names in the same folder, in the spelling of `name`."""
        written = PurePath(name)
        for path in self._candidate_paths(str(written.parent)):
            folder = self._resolve(str(written.parent), path)
            seen = look_up(folder) if folder else None
            if seen is None or seen.kind != "folder" or is_secret(PurePath(seen.path).parts):
                continue
            try:
                names = [row.steps[-1] for row in self.entries(seen)]
            except problems.FileProblem:
                continue
            shown = [
                other
                for other in names
                if other.isprintable() and not other.startswith(".") and not is_secret((other,))
            ]
            before = name[: len(name) - len(written.name)]
            return [f"{before}{near}" for near in difflib.get_close_matches(written.name, shown, n=3)]
        return []


def printable(name: str) -> str:
    """Replace unprintable characters, so that any file name is one line of text."""
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def parse_folders(setting: str) -> tuple[Path, ...]:
    """Parse the setting `file_roots`: absolute folders separated as in PATH."""
    folders = [Path(name.strip()).expanduser() for name in setting.split(os.pathsep) if name.strip()]
    for folder in folders:
        if not folder.is_absolute():
            raise ConfigError(
                lazy(
                    "file_roots names {folder}, which is another folder wherever one stands.", folder=folder
                ),
                hint=lazy("Write it from the top, like /home/me/projects or ~/projects."),
            )
    return tuple(folders)


def look_up(entry: FileEntry) -> FileEntry | None:
    """Return the entry with kind, size and time, or None if nothing is there."""
    try:
        status = os.lstat(entry.path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return None
        raise problems.unreadable(entry.name, error) from None
    return replace(entry, kind=kind_of(status), size=status.st_size, changed_at=status.st_mtime)


def status_of(entry: "os.DirEntry[str]") -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None


def kind_of(status: os.stat_result) -> EntryKind:
    if stat.S_ISREG(status.st_mode):
        return "file"
    if stat.S_ISDIR(status.st_mode):
        return "folder"
    return "link" if stat.S_ISLNK(status.st_mode) else "other"


def match_disk_spelling(path: str) -> str:
    """Return the path in the disk's Unicode form: an umlaut may be one character there, or two."""
    known = "/"
    for part in PurePath(path).parts[1:]:
        if not os.path.lexists(f"{known}/{part}"):
            try:
                names = [entry.name for entry in Path(known).iterdir()]
            except OSError:
                return path
            same = unicodedata.normalize("NFC", part)
            part = next((name for name in names if unicodedata.normalize("NFC", name) == same), part)
        known = f"{known}/{part}"
    return known


@contextmanager
def translate_errors(entry: FileEntry) -> Iterator[None]:
    """Turn errors of the operating system into `FileProblem`."""
    try:
        yield
    except NotRegular:
        raise problems.special(entry.name) from None
    except FileNotFoundError:
        raise problems.missing(entry.name) from None
    except OSError as error:
        # A link that was not there when the path was resolved, or one that leads to itself.
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENOTDIR):
            raise problems.path_changed(entry.name) from None
        raise problems.unreadable(entry.name, error) from None
