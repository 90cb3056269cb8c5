"""A token for our own page on this machine: a browser gets it with the page, and sends it with its requests.

It takes the place of a password where none is needed, and nobody notices it. Other pages cannot read it, and
browsers do not send it for them. Which page may have it is decided by the guard.
"""

import hmac

from starlette.requests import HTTPConnection
from starlette.responses import Response

from holdfast.store import Store
from holdfast.store.secrecy import new_secret

_SETTING = "page.token"


class PageToken:
    """One token for this installation. It outlives a restart, so that pages which are open go on."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def is_in(self, caller: HTTPConnection) -> bool:
        """Whether a request brings the token along."""
        given = caller.cookies.get(_cookie_of(caller), "")
        token: str = await self._store.run(self._store.settings.get, _SETTING, "")
        return bool(token) and hmac.compare_digest(given.encode(), token.encode())

    async def give(self, caller: HTTPConnection, response: Response) -> None:
        """Sends the token along with a page."""
        token = await self._store.run(self._store.settings.get, _SETTING)
        if token is None:
            token = new_secret()
            await self._store.run(self._store.settings.set, _SETTING, token)
        secure = caller.url.scheme == "https"
        response.set_cookie(_cookie_of(caller), token, httponly=True, samesite="strict", secure=secure)


def _cookie_of(caller: HTTPConnection) -> str:
    """The cookie's name. Browsers keep cookies by host alone, and another server may be at another port."""
    server: tuple[str, int] | None = caller.scope.get("server")
    return f"holdfast_page_{server[1] if server else 0}"
