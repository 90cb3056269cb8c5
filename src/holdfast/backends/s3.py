"""Notes in an S3 bucket: a workspace for several machines at once.

The server compares its entity tags on every write, so that no writer overwrites another's changes. Changes by
others are seen within half a minute. Most requests use a list and a cache on this machine: a list that is not
quite fresh is used while a new one is fetched in the background, and if that fails, the old one is used with
a warning. Deleting the cache loses nothing. Errors of the library are translated here.
"""

import hashlib
import os
import re
import secrets
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    InvalidPathError,
    PreconditionError,
)
from obstore.store import S3Store

from holdfast.errors import BadRequest, ConfigError, Conflict, HoldfastError, NotFound, StoreError
from holdfast.memory.folder import S3Options
from holdfast.memory.workspace import (
    ABSENT,
    EVERY_NOTE,
    LARGEST,
    Note,
    NoteEntry,
    WorkspaceUnreachable,
    check_path,
    check_readable,
    check_size,
    conflict_error,
    decode_note,
    missing_error,
)

if TYPE_CHECKING:
    from obstore import ObjectMeta, PutMode
    from obstore.store import ClientConfig, RetryConfig, S3Config

_CHECKSUM = 32
# A file that is being written, and after how many seconds it is one that a crash left behind.
_PIECE, _WRITING = ".new", 3_600.0


class ObjectCache:
    """Contents of objects in `folder`, one file with a checksum for each object and tag.

    Without a folder nothing is cached. A damaged file is ignored.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def get(self, name: str, tag: str) -> bytes | None:
        if self._folder is None:
            return None
        try:
            stored = (self._folder / cache_file_name(name, tag)).read_bytes()
        except OSError:
            return None
        checksum, content = stored[:_CHECKSUM], stored[_CHECKSUM:]
        return content if hashlib.sha256(content).digest() == checksum else None

    def keep(self, name: str, tag: str, content: bytes) -> None:
        """Store a content; errors of the disk are ignored, since they only cost time."""
        if self._folder is None:
            return
        piece = self._folder / f"{secrets.token_hex(8)}{_PIECE}"
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                with os.fdopen(os.open(piece, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
                    opened.write(hashlib.sha256(content).digest() + content)
                piece.replace(self._folder / cache_file_name(name, tag))
            finally:
                piece.unlink(missing_ok=True)

    def drop(self, name: str, tag: str) -> None:
        if self._folder is not None:
            with suppress(OSError):
                (self._folder / cache_file_name(name, tag)).unlink()

    def keep_only(self, names: Iterable[tuple[str, str]]) -> None:
        """Drop all but these names and tags: notes forgotten elsewhere must not stay here."""
        if self._folder is None:
            return
        wanted = {cache_file_name(name, tag) for name, tag in names}
        with suppress(OSError):
            for file in list(os.scandir(self._folder)):
                with suppress(OSError):
                    # A piece may be somebody's who is writing it just now.
                    writing = file.name.endswith(_PIECE) and file.stat().st_mtime > time.time() - _WRITING
                    if file.name not in wanted and not writing:
                        Path(file.path).unlink()


def cache_file_name(name: str, tag: str) -> str:
    return hashlib.sha256(f"{name}\0{tag}".encode(errors="surrogateescape")).hexdigest()


# Seconds for which a list is taken as it is; and after which nobody goes on without a newer one.
FRESH, OLDEST = 10.0, 30.0
# Seconds for which a server that did not answer is left alone: others have waited in vain just now.
REST = 5.0

Look = Callable[[], Iterable[NoteEntry]]
OnChange = Callable[[Iterable[NoteEntry]], None]


class ObjectList:
    """The list of a bucket as last fetched, with our own writes since then.

    `look` fetches all entries; `on_change` is called with them whenever they differ from before.
    """

    def __init__(self, look: Look, on_change: OnChange, clock: Callable[[], float] = time.monotonic) -> None:
        self._list_server = look
        self._on_change = on_change
        self._clock = clock
        self._entries: dict[PurePosixPath, NoteEntry] | None = None
        # The paths in order, with signs that sort folders as paths do; None after a change.
        self._order: tuple[list[str], list[NoteEntry]] | None = None
        # What we wrote while a list was being fetched, which may not have it yet.
        self._own_writes: dict[PurePosixPath, NoteEntry | None] = {}
        self._fetched_at = self._failed_at = float("-inf")
        self._error: HoldfastError | None = None
        self._lock = threading.Lock()
        self._fetch_lock = threading.Lock()

    def list_below(self, place: PurePosixPath) -> list[NoteEntry]:
        """List the entries under a folder, by path, with a warning if the list could not be renewed."""
        self._renew()
        with self._lock:
            if self._order is None:
                self._order = sort_entries(self._entries or {})
            keys, entries = self._order
            key = sort_key(place)
            # Nothing comes between a path and what is below it: no sign is smaller than the first.
            listed = entries[bisect_left(keys, key) : bisect_left(keys, key + "\1")] if key else list(entries)
            error = self._error
        return listed if error is None else [*listed, _stale_entry(place, str(error))]

    def find(self, path: PurePosixPath) -> NoteEntry | None:
        self._renew()
        with self._lock:
            return (self._entries or {}).get(path)

    def tag(self, path: PurePosixPath) -> str:
        """Return the tag of a path as far as it is known here; the server is not asked."""
        with self._lock:
            return self._tag(path)

    def record(self, path: PurePosixPath, entry: NoteEntry | None, before: str) -> bool:
        """Record the server's answer about a path, None if it is gone; return whether it was used.

        `before` is the tag the path had here when the server was asked. If it has another one by now, a later
        request was answered sooner, and its answer is newer.
        """
        with self._lock:
            self._error = None
            if self._tag(path) != before:
                return False
            self._own_writes[path] = entry
            if self._entries is not None:
                _put(self._entries, path, entry)
                self._order = None
            return True

    def _tag(self, path: PurePosixPath) -> str:
        entry = (self._own_writes if self._entries is None else self._entries).get(path)
        return ABSENT if entry is None else entry.tag

    def fail(self, error: HoldfastError) -> None:
        """Record that the server did not answer."""
        with self._lock:
            self._error, self._failed_at = error, self._clock()

    def check(self) -> None:
        """Raise the last error if it is too soon to try again."""
        with self._lock:
            if self._error is not None and self._is_resting():
                raise self._error

    def _renew(self) -> None:
        with self._lock:
            age, resting = self._clock() - self._fetched_at, self._is_resting()
        if age > OLDEST and not resting:
            with self._fetch_lock:
                # Somebody may have done it while we waited.
                if self._clock() - self._fetched_at > OLDEST and not self._is_resting():
                    self._fetch()
        elif age > FRESH and not resting and not self._fetch_lock.locked():
            threading.Thread(target=self._fetch_in_background, name="holdfast-listing").start()
        with self._lock:
            # Without any list there is nothing to go on with.
            if self._entries is None and self._error is not None:
                raise self._error

    def _is_resting(self) -> bool:
        return self._error is not None and self._clock() - self._failed_at < REST

    def _fetch_in_background(self) -> None:
        if self._fetch_lock.acquire(blocking=False):
            try:
                self._fetch()
            finally:
                self._fetch_lock.release()

    def _fetch(self) -> None:
        with self._lock:
            began, self._own_writes = self._clock(), {}
        try:
            entries = {entry.path: entry for entry in self._list_server()}
        except HoldfastError as error:
            self.fail(error)
            return
        with self._lock:
            for path, entry in self._own_writes.items():
                _put(entries, path, entry)
            changed = self._entries is None or _tags(entries) != _tags(self._entries)
            self._entries, self._order, self._error, self._fetched_at = entries, None, None, began
        if changed:
            self._on_change(entries.values())


def _put(entries: dict[PurePosixPath, NoteEntry], path: PurePosixPath, entry: NoteEntry | None) -> None:
    if entry is None:
        entries.pop(path, None)
    else:
        entries[path] = entry


def _tags(entries: Mapping[PurePosixPath, NoteEntry]) -> dict[PurePosixPath, str]:
    return {path: entry.tag for path, entry in entries.items()}


def sort_key(path: PurePosixPath) -> str:
    return "\0".join(path.parts)


def sort_entries(entries: Mapping[PurePosixPath, NoteEntry]) -> tuple[list[str], list[NoteEntry]]:
    pairs = sorted((sort_key(path), entry) for path, entry in entries.items())
    return [key for key, _ in pairs], [entry for _, entry in pairs]


def _stale_entry(place: PurePosixPath, error: str) -> NoteEntry:
    return NoteEntry(place / EVERY_NOTE, 0, 0.0, error, f"Others' changes are not seen just now. {error}")


_CODE = re.compile(r"<Code>(\w+)</Code>")
_STATUS = re.compile(r"status code: (\d{3})")

_KEYS = "See that s3_key and s3_secret are those of this server, and that they may read, write and list here."
_LATER = "Nothing is lost: what is to be written waits, and is tried again every minute."


class ServerUnreachable(WorkspaceUnreachable):
    """No answer came, so it is unknown whether the server did what it was asked."""


# What the codes mean, and the next step. The bucket is named in front.
_EXPLANATIONS = {
    "NoSuchBucket": ("There is no such bucket.", "Make it, or name another one in the setting workspace."),
    "InvalidBucketName": ("No bucket can have this name.", "Name another one in the setting workspace."),
    "InvalidAccessKeyId": ("The server does not know the key.", _KEYS),
    "SignatureDoesNotMatch": ("The server does not accept the secret of the key.", _KEYS),
    "AccessDenied": ("The key does not reach so far.", _KEYS),
    "ExpiredToken": ("The key is no longer valid.", _KEYS),
    "RequestTimeTooSkewed": (
        "The clock of this machine and that of the server differ too much.",
        "Set the clock: most systems do so by themselves when network time is switched on.",
    ),
    "AuthorizationHeaderMalformed": ("The bucket is in another region.", "Set s3_region."),
    "PermanentRedirect": ("The bucket is in another region.", "Set s3_region, or s3_endpoint."),
    "SlowDown": ("The server asks for fewer requests.", _LATER),
    "TooManyRequests": ("The server asks for fewer requests.", _LATER),
    "ServiceUnavailable": ("The server is busy or starts just now.", _LATER),
    "InternalError": ("The server has trouble of its own.", _LATER),
    "XMinioStorageFull": ("The disk of the server is full.", "Make room there."),
}
# For answers without such a code.
_BY_STATUS = {
    "301": "PermanentRedirect",
    "403": "AccessDenied",
    "429": "TooManyRequests",
    "500": "InternalError",
    "503": "ServiceUnavailable",
}


def error_code(message: str) -> str:
    """Return the server's code in an error of the library; empty if it was not reached."""
    if match := _CODE.search(message):
        return match[1]
    status = _STATUS.search(message)
    return _BY_STATUS.get(status[1], f"HTTP {status[1]}") if status else ""


def translate_error(place: str, error: Exception) -> WorkspaceUnreachable:
    message = str(error)
    code = error_code(message)
    if code in _EXPLANATIONS:
        sentence, hint = _EXPLANATIONS[code]
        return WorkspaceUnreachable(f"The notes in {place} cannot be reached: {sentence}", hint=hint)
    if code:
        return WorkspaceUnreachable(
            f"The notes in {place} cannot be reached: the server answered {code}.",
            hint="Its log says more.",
        )
    # Behind the first line stands what the library was made of.
    first = message.partition("\n")[0].rpartition(" - ")[2]
    return ServerUnreachable(
        f"The notes in {place} cannot be reached: {first.strip()[:300]}.",
        hint=f"See that the server runs and that s3_endpoint is its address. {_LATER}",
    )


def unlistable_error(place: str, error: Exception) -> WorkspaceUnreachable:
    """Return the error for an object of somebody else whose name is not a path."""
    first = str(error).partition("Debug source:")[0].strip()
    return WorkspaceUnreachable(
        f"{place} has an object whose name is no path, so nothing there can be listed: {first[:300]!r}",
        hint="Rename it or move it out of the prefix; nothing was changed.",
    )


# A server gives a thousand names at most in one answer.
_PAGE = 1_000
# Somebody may be waiting: a server that is busy is asked again for some seconds, not for minutes.
_PATIENCE: "ClientConfig" = {"connect_timeout": timedelta(seconds=3), "timeout": timedelta(seconds=10)}
_AGAIN: "RetryConfig" = {
    "max_retries": 3,
    "retry_timeout": timedelta(seconds=6),
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=2), "base": 2},
}
# The library does not repeat what changes something when a connection breaks, as MinIO's do after a refusal.
# Here that is safe: the server compares tags, and deleting twice is deleting.
_PAUSES = (0.0, 0.1)
# A tag that no object has.
_NO_ONES = "0" * 32
_PATHLESS = ("NoSuchBucket", "InvalidBucketName")


@dataclass(frozen=True, slots=True)
class S3Object:
    """An object in a list. `tag` is the server's entity tag."""

    name: str
    size: int
    mtime: float
    tag: str


class S3Client:
    """Reads and writes the objects at `location`, which is `s3://bucket/prefix`."""

    def __init__(self, location: str, options: S3Options) -> None:
        parts = urlsplit(location)
        if parts.scheme != "s3" or not parts.netloc or parts.query or parts.fragment or "@" in parts.netloc:
            raise ConfigError(
                f"{location!r} names no bucket.", hint="It looks like s3://bucket or s3://bucket/prefix."
            )
        self.place = location.rstrip("/")
        prefix = parts.path.strip("/")
        try:
            self._store = S3Store(
                parts.netloc,
                prefix=prefix or None,
                config=build_config(parts.netloc, options),
                client_options={**_PATIENCE, "allow_http": options.endpoint.startswith("http://")},
                retry_config=_AGAIN,
            )
        except (BaseError, ValueError) as error:
            raise translate_error(self.place, error) from error

    def list_objects(self) -> Iterator[S3Object]:
        """Yield all objects, fetched in pages."""
        with self._translate_errors():
            try:
                for page in self._store.list(chunk_size=_PAGE):
                    yield from map(to_object, page)
            except InvalidPathError as error:
                raise unlistable_error(self.place, error) from error

    def get(self, name: str, largest: int) -> tuple[S3Object, bytes | None]:
        """Return an object, with its content unless it is larger than `largest`; NotFound if missing."""
        with self._translate_errors():
            answer = self._store.get(name)
            item = to_object(answer.meta)
            return item, bytes(answer.bytes()) if item.size <= largest else None

    def put(self, name: str, content: bytes, expect: str | None = None) -> str:
        """Write a whole object and return its tag; Conflict if its tag is not the expected one."""
        broken = False
        for pause in _PAUSES:
            try:
                return self._put(name, content, expect)
            except ServerUnreachable:
                broken = True
                time.sleep(pause)
            except Conflict:
                # After a connection that broke it may have been ourselves who were quicker.
                if broken and (tag := self._tag_of(name, content)):
                    return tag
                raise
        return self._put(name, content, expect)

    def delete(self, name: str) -> None:
        """Delete an object in any state; a missing one is fine."""
        for pause in _PAUSES:
            with suppress(ServerUnreachable):
                return self._delete(name)
            time.sleep(pause)
        return self._delete(name)

    def prove(self) -> None:
        """Check that the server compares tags on writes; StoreError if it does not."""
        # A hidden name, so nobody takes it for a note.
        name = f".proof-{secrets.token_hex(8)}"
        self.put(name, b"?", ABSENT)
        try:
            for expect in (ABSENT, _NO_ONES):
                try:
                    self.put(name, b"!", expect)
                except Conflict:
                    continue
                raise StoreError(
                    f"The server of {self.place} lets writers write over each other: it does not compare tags"
                    " (If-Match, If-None-Match), so notes could be lost. Nothing was written.",
                    hint="Update it: AWS, and MinIO and SeaweedFS of 2025 and later, do.",
                )
        finally:
            self.delete(name)

    def _put(self, name: str, content: bytes, expect: str | None) -> str:
        mode: PutMode = "overwrite"
        if expect is not None:
            mode = "create" if expect == ABSENT else {"e_tag": f'"{expect}"'}
        try:
            with self._translate_errors():
                result = self._store.put(
                    name,
                    content,
                    mode=mode,
                    # In one piece: what breaks off was never there.
                    use_multipart=False,
                    attributes={"Content-Type": "text/markdown; charset=utf-8"},
                )
        except (AlreadyExistsError, PreconditionError, NotFound) as error:
            raise Conflict(f"{name} in {self.place} is another one by now.") from error
        return strip_tag(result["e_tag"])

    def _delete(self, name: str) -> None:
        with suppress(NotFound), self._translate_errors():
            self._store.delete(name)

    def _tag_of(self, name: str, content: bytes) -> str:
        """Return the tag of an object if it has exactly this content, else an empty string."""
        try:
            item, stored = self.get(name, len(content))
        except NotFound:
            return ""
        return item.tag if stored == content else ""

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except (AlreadyExistsError, PreconditionError, InvalidPathError):
            # These are answers.
            raise
        except FileNotFoundError as error:
            if error_code(str(error)) in _PATHLESS:
                raise translate_error(self.place, error) from error
            raise NotFound(f"There is no such object in {self.place}.") from error
        except (BaseError, OSError) as error:
            raise translate_error(self.place, error) from error


def build_config(bucket: str, options: S3Options) -> "S3Config":
    """Build the library's configuration; what is not set is left to its defaults for AWS."""
    if bool(options.key) != bool(options.secret) or (options.endpoint and not options.key):
        raise ConfigError(
            "Notes on S3 need both s3_key and s3_secret.",
            hint="Only AWS without s3_endpoint goes without, where the machine has a role of its own.",
        )
    config: S3Config = {"virtual_hosted_style_request": not options.path_style, "disable_bulk_delete": True}
    if options.endpoint:
        config["endpoint"] = address(bucket, options)
    if options.region or options.endpoint:
        config["region"] = options.region or "us-east-1"
    if options.key:
        config["access_key_id"], config["secret_access_key"] = options.key, options.secret
    return config


def address(bucket: str, options: S3Options) -> str:
    """Return the address for requests: the bucket is in the path, or in front of the server's name."""
    parts = urlsplit(options.endpoint)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigError(
            f"s3_endpoint is {options.endpoint!r}.", hint="It looks like https://minio.example.com:9000."
        )
    host = parts.netloc if options.path_style else f"{bucket}.{parts.netloc}"
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))


def to_object(meta: "ObjectMeta") -> S3Object:
    return S3Object(meta["path"], meta["size"], meta["last_modified"].timestamp(), strip_tag(meta["e_tag"]))


def strip_tag(tag: str | None) -> str:
    if not tag:
        raise StoreError(
            "The S3 server gives no entity tags, so changes of a note cannot be detected.",
            hint="Use another server.",
        )
    return tag.strip('"')


class S3Workspace:
    """The workspace in a bucket.

    An object without content is no note: programs create such objects for folders. A note that must be
    unchanged is removed by writing an empty one, because many servers compare tags on writes but not on
    deletes.
    """

    folder = None

    def __init__(
        self, objects: S3Client, cache: ObjectCache, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._objects = objects
        self._cache = cache
        self._listing = ObjectList(self._list_server, self._prune_cache, clock)
        # Somebody else wrote these after the list was made: they are read from the server.
        self._doubted: set[PurePosixPath] = set()
        self._proved = False
        self._proof_lock = threading.Lock()

    def __str__(self) -> str:
        return self._objects.place

    def entries(self, prefix: PurePosixPath | str = "") -> list[NoteEntry]:
        return self._listing.list_below(check_path(prefix))

    def read(self, path: PurePosixPath | str) -> Note:
        place = check_path(path)
        if place in self._doubted:
            return self._fetch_note(place)
        entry = self._listing.find(place)
        if entry is None:
            raise missing_error(place)
        check_readable(place, entry.size)
        content = self._cache.get(str(place), entry.tag)
        return self._fetch_note(place) if content is None else decode_note(place, content, entry.tag)

    def write(self, path: PurePosixPath | str, text: str, expect: str | None = None) -> str:
        place = check_path(path)
        content = text.encode("utf-8", "surrogateescape")
        check_size(place, len(content))
        return self._put(place, content, expect)

    def remove(self, path: PurePosixPath | str, expect: str | None = None) -> None:
        place = check_path(path)
        if expect is None:
            before = self._listing.tag(place)
            with self._request():
                self._objects.delete(str(place))
            self._record(place, None, before)
        elif expect != ABSENT:
            self._put(place, b"", expect)
        elif self._is_there(place):
            raise conflict_error(place)

    def _put(self, place: PurePosixPath, content: bytes, expect: str | None) -> str:
        before = self._listing.tag(place)
        try:
            with self._request():
                self._prove()
                tag = self._put_over(place, content, expect)
        except Conflict as error:
            self._doubted.add(place)
            raise conflict_error(place) from error
        if self._record(place, S3Object(str(place), len(content), time.time(), tag), before) and content:
            self._cache.keep(str(place), tag, content)
        return tag

    def _put_over(self, place: PurePosixPath, content: bytes, expect: str | None) -> str:
        name = str(place)
        try:
            return self._objects.put(name, content, expect)
        except Conflict:
            if expect != ABSENT:
                raise
            try:
                item, _ = self._objects.get(name, 0)
            except NotFound:
                # Whoever was quicker took it away again.
                return self._objects.put(name, content, expect)
            if item.size:
                raise
            return self._objects.put(name, content, item.tag)

    def _fetch_note(self, place: PurePosixPath) -> Note:
        """Read a note from the server."""
        before = self._listing.tag(place)
        try:
            with self._request():
                item, content = self._objects.get(str(place), LARGEST)
        except NotFound as error:
            self._record(place, None, before)
            raise missing_error(place) from error
        is_news = self._record(place, item, before)
        if not item.size:
            raise missing_error(place)
        check_readable(place, item.size)
        assert content is not None
        note = decode_note(place, content, item.tag)
        if is_news:
            self._cache.keep(str(place), item.tag, content)
        return note

    def _is_there(self, place: PurePosixPath) -> bool:
        try:
            self._fetch_note(place)
        except NotFound:
            return False
        except StoreError:
            # What cannot be read may still be there.
            return self._listing.find(place) is not None
        return True

    def _record(self, place: PurePosixPath, item: S3Object | None, before: str) -> bool:
        now = to_entry(item) if item and item.size else None
        if not self._listing.record(place, now, before):
            # Two answers crossed: the next one settles it.
            self._doubted.add(place)
            return False
        self._doubted.discard(place)
        if now is None or now.tag != before:
            # What was forgotten must not live on in the cache.
            self._cache.drop(str(place), before)
        return True

    def _list_server(self) -> Iterator[NoteEntry]:
        return (
            to_entry(item) for item in self._objects.list_objects() if item.size and not is_hidden(item.name)
        )

    def _prune_cache(self, entries: Iterable[NoteEntry]) -> None:
        self._cache.keep_only((str(entry.path), entry.tag) for entry in entries)

    @contextmanager
    def _request(self) -> Iterator[None]:
        self._listing.check()
        try:
            yield
        except ServerUnreachable as error:
            self._listing.fail(error)
            raise

    def _prove(self) -> None:
        """Check the server once, before the first write."""
        with self._proof_lock:
            if not self._proved:
                self._objects.prove()
                self._proved = True


def to_entry(item: S3Object) -> NoteEntry:
    path = PurePosixPath(item.name)
    return NoteEntry(path, item.size, item.mtime, item.tag, _trouble(path))


def _trouble(path: PurePosixPath) -> str:
    """Return why a name given by another program cannot be used here."""
    try:
        check_path(path)
    except BadRequest:
        return "Its name cannot be used here: rename it."
    return ""


def is_hidden(name: str) -> bool:
    return name.startswith(".") or "/." in name


def open_bucket(location: str, options: S3Options, cache: Path | None = None) -> S3Workspace:
    """Open the workspace at `s3://bucket/prefix`; contents are cached in a folder below `cache`, if given."""
    client = S3Client(location, options)
    # Two buckets of the same name on two servers are two.
    own = hashlib.sha256(f"{options.endpoint}\0{client.place}".encode()).hexdigest()[:16]
    return S3Workspace(client, ObjectCache(cache / own if cache is not None else None))
