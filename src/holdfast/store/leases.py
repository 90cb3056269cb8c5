"""Who may do a piece of background work now: server, command line and MCP may all run at once.

A lease ends by itself when its owner dies, by the clock that all of them share. It does not know what the
work is.
"""

from sqlalchemy import Connection, delete, or_, update

from holdfast.store.database import Repository, database_time, upsert, writes
from holdfast.store.schema import leases


class LeaseRepository(Repository):
    __slots__ = ()

    @writes
    def take(
        self, connection: Connection, name: str, owner: str, ttl: float, now: float | None = None
    ) -> bool:
        """Get the lease for `ttl` seconds, if it is free, has run out, or is ours already."""
        now = database_time(connection) if now is None else now
        mine = {"name": name, "owner": owner, "expires_at": now + ttl}
        # Inserting first makes sure that there is a row, so that of two takers one waits for the other.
        upsert(connection, leases, mine, update=())
        free = or_(leases.c.owner == owner, leases.c.expires_at <= now)
        taken = update(leases).where(leases.c.name == name, free).values(mine)
        return connection.execute(taken).rowcount == 1

    @writes
    def renew(
        self, connection: Connection, name: str, owner: str, ttl: float, now: float | None = None
    ) -> bool:
        """Keep the lease for another `ttl` seconds. False: it has run out, and the work must stop."""
        now = database_time(connection) if now is None else now
        ours = leases.c.name == name, leases.c.owner == owner, leases.c.expires_at > now
        return connection.execute(update(leases).where(*ours).values(expires_at=now + ttl)).rowcount == 1

    @writes
    def release(self, connection: Connection, name: str, owner: str) -> None:
        connection.execute(delete(leases).where(leases.c.name == name, leases.c.owner == owner))
