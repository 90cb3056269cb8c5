"""Passwords of people, and the sessions they opened with them. A session ends by itself.

Only digests are kept. Knows no cookies, and not who may try how often.
"""

import time

from sqlalchemy import Connection, delete, insert, select

from holdfast.store.database import Repository, reads, upsert, writes
from holdfast.store.schema import passwords, sessions
from holdfast.store.secrecy import digest_of, new_secret


class SessionRepository(Repository):
    __slots__ = ()

    @writes
    def set_password(
        self, connection: Connection, user: str, digest: str | None, now: float | None = None
    ) -> None:
        """Another password, None for no more; whoever came in with the old one has to come anew."""
        now = time.time() if now is None else now
        if digest is None:
            connection.execute(delete(passwords).where(passwords.c.user == user))
        else:
            upsert(connection, passwords, {"user": user, "digest": digest, "changed_at": now})
        connection.execute(delete(sessions).where(sessions.c.user == user))

    @reads
    def password(self, connection: Connection, user: str) -> str | None:
        """The digest of the user's password; None if they have none."""
        return connection.scalar(select(passwords.c.digest).where(passwords.c.user == user))

    @writes
    def open(self, connection: Connection, user: str, seconds: float, now: float | None = None) -> str:
        """A new session for so many seconds: what its browser has to send. Those that have ended go."""
        now = time.time() if now is None else now
        connection.execute(delete(sessions).where(sessions.c.expires_at <= now))
        token = new_secret()
        row = {"digest": digest_of(token), "user": user, "created_at": now, "expires_at": now + seconds}
        connection.execute(insert(sessions).values(row))
        return token

    @reads
    def holder(self, connection: Connection, token: str, now: float | None = None) -> str | None:
        """The user whose session this is; None if it is none, or none any more."""
        now = time.time() if now is None else now
        # Found by a digest of 256 random bits: how long that takes tells nobody anything.
        mine = (sessions.c.digest == digest_of(token), sessions.c.expires_at > now)
        return connection.scalar(select(sessions.c.user).where(*mine))

    @writes
    def close(self, connection: Connection, token: str) -> None:
        connection.execute(delete(sessions).where(sessions.c.digest == digest_of(token)))
