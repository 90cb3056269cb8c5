"""Access: keys of programs, passwords and sessions of people. Only digests of secrets are stored.

A client sends a key as `hf_ID_SECRET`: it is found by its id and checked by the digest of its secret. Random
secrets are long enough for a plain digest; passwords are chosen by people, so they get a slow one.
"""

import base64
import hashlib
import hmac
import re
import secrets
import time
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, delete, exists, insert, select, update

from holdfast.errors import BadRequest, NotFound
from holdfast.i18n import lazy
from holdfast.store.database import Repository, reads, upsert, writes
from holdfast.store.schema import keys, passwords, sessions
from holdfast.store.values import short_id

# About a twentieth of a second and 32 MB for one try.
_COST, _BLOCK, _PARALLELISM = 2**15, 8, 1
_MEMORY = 64 << 20
_SALT = 16


def new_secret() -> str:
    """Return 256 random bits as text."""
    return secrets.token_urlsafe(32)


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


def is_secret(given: str, digest: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(digest_of(given), digest)


def password_digest(password: str) -> str:
    """Return a salted digest that names its parameters, so that these can change later."""
    salt = secrets.token_bytes(_SALT)
    hashed = _scrypt(password, salt, _COST, _BLOCK, _PARALLELISM)
    numbers = (str(number) for number in (_COST, _BLOCK, _PARALLELISM))
    return "$".join(("scrypt", *numbers, _text(salt), _text(hashed)))


def is_password(given: str, digest: str) -> bool:
    _, cost, block, lanes, salt, expected = digest.split("$")
    actual = _scrypt(given, base64.b64decode(salt), int(cost), int(block), int(lanes))
    return hmac.compare_digest(actual, base64.b64decode(expected))


def _scrypt(password: str, salt: bytes, cost: int, block: int, lanes: int) -> bytes:
    words = password.encode(errors="surrogatepass")
    return hashlib.scrypt(words, salt=salt, n=cost, r=block, p=lanes, maxmem=_MEMORY)


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()


KEY_PREFIX = "hf"

_TOKEN = re.compile(rf"{KEY_PREFIX}_(?P<id>[0-9a-z]{{8}})_(?P<secret>[A-Za-z0-9_-]{{43}})")
# A name that people may have to type. No colon: that separates the names of forwarded people.
_NAME = re.compile(r"\w[\w.@+ -]{0,98}")
# The last use of a key is recorded at most this often, in seconds: each time would cost too much.
_USE_PRECISION = 3_600.0


@dataclass(frozen=True, slots=True)
class Key:
    """The rights of a program: a user, in one project or (empty) in the one the client names.

    A forwarder speaks for the people it names. `rate` is requests a minute, 0 for no limit. With `files`,
    requests may refer to files on this machine.
    """

    id: str = ""
    name: str = ""
    user: str = "default"
    project: str = ""
    admin: bool = False
    forwarder: bool = False
    off: bool = False
    memory: bool = True
    rate: int = 0
    created_at: float = 0.0
    used_at: float | None = None
    files: bool = False
    digest: str = field(default="", repr=False)

    def to_json(self) -> dict[str, Any]:
        """Return all fields but the digest."""
        return {name: getattr(self, name) for name in _PUBLIC_FIELDS}


_PUBLIC_FIELDS = tuple(name for name in Key.__dataclass_fields__ if name != "digest")


class KeyRepository(Repository):
    """Keys by id."""

    __slots__ = ()

    @writes
    def create(self, connection: Connection, template: Key, now: float | None = None) -> tuple[Key, str]:
        """Create a key like `template`; also return its token, which can never be shown again."""
        _check(template)
        secret = new_secret()
        key = replace(
            template,
            id=short_id(),
            digest=digest_of(secret),
            created_at=time.time() if now is None else now,
            used_at=None,
        )
        connection.execute(insert(keys).values(**key.to_json(), digest=key.digest))
        return key, f"{KEY_PREFIX}_{key.id}_{secret}"

    @reads
    def holder(self, connection: Connection, token: str) -> Key | None:
        """Return the key with this token, None for any other text."""
        match = _TOKEN.fullmatch(token)
        row = match and connection.execute(select(keys).where(keys.c.id == match["id"])).first()
        if not match or not row or not is_secret(match["secret"], row.digest):
            return None
        return Key(**row._mapping)

    @reads
    def all(self, connection: Connection) -> list[Key]:
        """Return all keys, oldest first."""
        rows = connection.execute(select(keys).order_by(keys.c.created_at, keys.c.id))
        return [Key(**row._mapping) for row in rows]

    @reads
    def any(self, connection: Connection) -> bool:
        return bool(connection.scalar(select(exists().select_from(keys))))

    @writes
    def record_use(self, connection: Connection, key: Key, now: float | None = None) -> None:
        now = time.time() if now is None else now
        connection.execute(update(keys).where(keys.c.id == key.id).values(used_at=now))

    @writes
    def revoke(self, connection: Connection, name: str) -> Key:
        row = connection.execute(select(keys).where(keys.c.id == name)).first()
        if row is None:
            raise NotFound(
                lazy("There is no key {name}.", name=name), hint=lazy("`holdfast keys list` has their ids.")
            )
        connection.execute(delete(keys).where(keys.c.id == name))
        return Key(**row._mapping)


def is_token(text: str) -> bool:
    """Whether the text has the form of our keys: most programs send some word or other as a key."""
    return _TOKEN.fullmatch(text) is not None


def is_name(text: str) -> bool:
    """Whether a user or a project can have this name."""
    return _NAME.fullmatch(text) is not None


def is_stale(key: Key, now: float) -> bool:
    """Whether the last use of a key should be recorded again."""
    return key.used_at is None or now - key.used_at > _USE_PRECISION


def _check(key: Key) -> None:
    for field_name, name in (("user", key.user), ("project", key.project)):
        if (name or field_name == "user") and not is_name(name):
            raise BadRequest(
                lazy("{name!r} is no name for a {field_name}.", name=name, field_name=field_name),
                hint=lazy("Up to 99 letters, digits, spaces, and . @ + - _; a letter or digit first."),
                param=field_name,
            )
    if key.rate < 0:
        raise BadRequest(lazy("A rate is at least 0."), hint=lazy("0 means no limit."), param="rate")


class SessionRepository(Repository):
    """Passwords of people and the sessions they opened. A session expires by itself."""

    __slots__ = ()

    @writes
    def set_password(
        self, connection: Connection, user: str, digest: str | None, now: float | None = None
    ) -> None:
        """Set a user's password, None to remove it, and close their sessions."""
        now = time.time() if now is None else now
        if digest is None:
            connection.execute(delete(passwords).where(passwords.c.user == user))
        else:
            upsert(connection, passwords, {"user": user, "digest": digest, "changed_at": now})
        connection.execute(delete(sessions).where(sessions.c.user == user))

    @reads
    def password(self, connection: Connection, user: str) -> str | None:
        """Return the digest of the user's password, None if they have none."""
        return connection.scalar(select(passwords.c.digest).where(passwords.c.user == user))

    @writes
    def open(self, connection: Connection, user: str, seconds: float, now: float | None = None) -> str:
        """Open a session for so many seconds, return its token, and delete expired sessions."""
        now = time.time() if now is None else now
        connection.execute(delete(sessions).where(sessions.c.expires_at <= now))
        token = new_secret()
        row = {"digest": digest_of(token), "user": user, "created_at": now, "expires_at": now + seconds}
        connection.execute(insert(sessions).values(row))
        return token

    @reads
    def holder(self, connection: Connection, token: str, now: float | None = None) -> str | None:
        """Return the user of this session, None if it is unknown or expired."""
        now = time.time() if now is None else now
        # Looked up by a digest of 256 random bits, so the time it takes reveals nothing.
        mine = (sessions.c.digest == digest_of(token), sessions.c.expires_at > now)
        return connection.scalar(select(sessions.c.user).where(*mine))

    @writes
    def close(self, connection: Connection, token: str) -> None:
        connection.execute(delete(sessions).where(sessions.c.digest == digest_of(token)))
