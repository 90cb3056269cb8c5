"""The objects of a bucket below a prefix: listed, read, and written only over what the writer has read.

The one module that knows the library. Errors come in our words. Knows nothing of notes, and keeps nothing.
"""

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    InvalidPathError,
    PreconditionError,
)
from obstore.store import S3Store

from holdfast.errors import ConfigError, Conflict, NotFound, StoreError
from holdfast.memory.workspace.base import ABSENT
from holdfast.memory.workspace.choice import S3Options
from holdfast.memory.workspace.s3.troubles import (
    ServerUnreachable,
    error_code,
    translate_error,
    unlistable_error,
)

if TYPE_CHECKING:
    from obstore import ObjectMeta, PutMode
    from obstore.store import ClientConfig, RetryConfig, S3Config

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
    """An object in a list. `tag` is what the server calls its entity tag."""

    name: str
    size: int
    mtime: float
    tag: str


class S3Client:
    """Those at `location`, which is `s3://bucket/prefix`."""

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
                config=_config(parts.netloc, options),
                client_options={**_PATIENCE, "allow_http": options.endpoint.startswith("http://")},
                retry_config=_AGAIN,
            )
        except (BaseError, ValueError) as error:
            raise translate_error(self.place, error) from error

    def every(self) -> Iterator[S3Object]:
        """All objects, fetched in pages."""
        with self._in_our_words():
            try:
                for page in self._store.list(chunk_size=_PAGE):
                    yield from map(_to_object, page)
            except InvalidPathError as error:
                raise unlistable_error(self.place, error) from error

    def get(self, name: str, largest: int) -> tuple[S3Object, bytes | None]:
        """An object, with its content unless that is larger than wanted. NotFound where there is none."""
        with self._in_our_words():
            answer = self._store.get(name)
            found = _to_object(answer.meta)
            return found, bytes(answer.bytes()) if found.size <= largest else None

    def put(self, name: str, content: bytes, expect: str | None = None) -> str:
        """Put a whole object in place and give its tag; a Conflict where it has another than expected."""
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
        """Take an object away, whatever it has become; one that is not there is no trouble."""
        for pause in _PAUSES:
            with suppress(ServerUnreachable):
                return self._delete(name)
            time.sleep(pause)
        return self._delete(name)

    def prove(self) -> None:
        """See that the server keeps writers from writing over each other; one that does not is not used."""
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
            with self._in_our_words():
                made = self._store.put(
                    name,
                    content,
                    mode=mode,
                    # In one piece: what breaks off was never there.
                    use_multipart=False,
                    attributes={"Content-Type": "text/markdown; charset=utf-8"},
                )
        except (AlreadyExistsError, PreconditionError, NotFound) as error:
            raise Conflict(f"{name} in {self.place} is another one by now.") from error
        return _strip_tag(made["e_tag"])

    def _delete(self, name: str) -> None:
        with suppress(NotFound), self._in_our_words():
            self._store.delete(name)

    def _tag_of(self, name: str, content: bytes) -> str:
        """The tag of an object with exactly this content; empty where it is another one."""
        try:
            there, kept = self.get(name, len(content))
        except NotFound:
            return ""
        return there.tag if kept == content else ""

    @contextmanager
    def _in_our_words(self) -> Iterator[None]:
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


def _config(bucket: str, options: S3Options) -> "S3Config":
    """What is not named is left to the library, which knows AWS."""
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
    """Where requests go: the bucket is in their path, or in front of the server's name."""
    parts = urlsplit(options.endpoint)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigError(
            f"s3_endpoint is {options.endpoint!r}.", hint="It looks like https://minio.example.com:9000."
        )
    host = parts.netloc if options.path_style else f"{bucket}.{parts.netloc}"
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))


def _to_object(meta: "ObjectMeta") -> S3Object:
    return S3Object(meta["path"], meta["size"], meta["last_modified"].timestamp(), _strip_tag(meta["e_tag"]))


def _strip_tag(tag: str | None) -> str:
    if not tag:
        raise StoreError(
            "The S3 server gives no entity tags, so nobody could tell whether a note has changed.",
            hint="Use another server.",
        )
    return tag.strip('"')
