"""The password of the page, set and taken away over REST. For administrators.

Knows what a browser has to show for it; how a password is kept is the store's business.
"""

import asyncio
from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from holdfast.errors import BadRequest, Conflict, Forbidden, TooMany
from holdfast.messages import Scope
from holdfast.server.door import engine_of
from holdfast.server.guard import Guard, access_of, is_loopback, is_same_origin
from holdfast.server.login import come_in
from holdfast.store.secrecy import is_password, password_digest

password_router = APIRouter(prefix="/api/password", tags=["Access"])

SHORTEST = 8
_USER = Scope().user


class PasswordChange(BaseModel):
    """A new password. Who has no administrator's key shows that they know the one there is, as `current`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    password: str = Field(max_length=1_000, repr=False)
    current: str = Field(default="", max_length=1_000, repr=False)


class PasswordRemoval(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    current: str = Field(default="", max_length=1_000, repr=False)


@password_router.put("")
async def change_password(request: Request, response: Response, wanted: PasswordChange) -> dict[str, Any]:
    """Set the password. Every browser that is signed in has to do it again, but for this one."""
    await _check_current_password(request, wanted.current)
    if len(wanted.password) < SHORTEST:
        raise BadRequest(
            f"a password has at least {SHORTEST} characters", hint="Several words are good.", param="password"
        )
    store = engine_of(request).store
    digest = await asyncio.to_thread(password_digest, wanted.password)
    await store.run(store.sessions.set_password, _USER, digest)
    if is_same_origin(request.headers):
        await come_in(request, response)
    return {"password": True}


@password_router.delete("")
async def remove_password(request: Request, removal: PasswordRemoval | None = None) -> dict[str, Any]:
    """Have no password any more, unless it is all that anybody can come in with."""
    await _check_current_password(request, removal.current if removal else "")
    store, settings = engine_of(request).store, request.app.state.config.settings
    closed = settings.require_key or not is_loopback(settings.host)
    if closed and not settings.key and not await store.run(store.keys.any):
        raise Conflict(
            "without it nobody could come in any more",
            hint="Make a key first: `holdfast keys create --admin`.",
        )
    await store.run(store.sessions.set_password, _USER, None)
    return {"password": False}


async def _check_current_password(request: Request, current: str) -> None:
    """Neither a browser that somebody left open nor this machine's address is proof of who asks."""
    access, store = access_of(request), engine_of(request).store
    if not access.admin:
        raise Forbidden("only an administrator may do this", hint="Use a key made with --admin.")
    kept = await store.run(store.sessions.password, _USER)
    if access.how == "key" or kept is None:
        return
    guard: Guard = request.app.state.guard
    address = request.client.host if request.client else ""
    if wait := guard.tries.begin(address):
        raise TooMany("too many wrong passwords from here", retry_after=wait, hint="Wait, then try again.")
    if not await asyncio.to_thread(is_password, current, kept):
        raise Forbidden(
            "this is not the password in use", hint="`holdfast password` sets another without it."
        )
    guard.tries.right(address)
