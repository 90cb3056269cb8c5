"""Coming in with a password, for browsers: a cookie that no script can read and no other page can use.

Knows cookies; passwords and sessions are kept by the store, and looked at by the guard.
"""

import asyncio
from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from holdfast.errors import BadRequest, Forbidden, TooMany, Unauthorized
from holdfast.messages import Scope
from holdfast.server.door import engine_of
from holdfast.server.guard import COOKIE, Guard, access_of, is_same_origin
from holdfast.store.secrecy import is_password

login_router = APIRouter(prefix="/api", tags=["Access"])

# The password is that of whoever set this up.
_USER = Scope().user
_SECONDS = 30 * 86_400


class Login(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    password: str = Field(max_length=1_000, repr=False)


@login_router.get("/login")
async def who(request: Request) -> dict[str, Any]:
    """Who this is, how they came in, and whether there is a password to come in with."""
    access, store = access_of(request), engine_of(request).store
    known = access.how != "nobody"
    return {
        "how": access.how,
        "user": access.user if known else None,
        "project": access.project or None,
        "admin": access.admin,
        "password": await store.run(store.sessions.password, _USER) is not None,
    }


@login_router.post("/login")
async def login(request: Request, response: Response, given: Login) -> dict[str, Any]:
    """Come in. Wrong passwords make their own address wait, longer each time."""
    if any(name in request.headers for name in ("sec-fetch-site", "origin")) and not is_same_origin(
        request.headers
    ):
        raise Forbidden("another page may not do this in your name", hint="Use Holdfast's own page.")
    store = engine_of(request).store
    kept = await store.run(store.sessions.password, _USER)
    if kept is None:
        raise BadRequest("no password is set", hint="Set one with `holdfast password`.")
    guard: Guard = request.app.state.guard
    address = request.client.host if request.client else ""
    if wait := guard.tries.begin(address):
        raise TooMany("too many wrong passwords from here", retry_after=wait, hint="Wait, then try again.")
    if not await asyncio.to_thread(is_password, given.password, kept):
        raise Unauthorized("this is not the password", hint="`holdfast password` sets another.")
    guard.tries.right(address)
    await come_in(request, response)
    return {"user": _USER, "seconds": _SECONDS}


async def come_in(request: Request, response: Response) -> None:
    """A new session for whoever sent this request, with its cookie."""
    store = engine_of(request).store
    token = await store.run(store.sessions.open, _USER, _SECONDS)
    response.set_cookie(
        COOKIE,
        token,
        max_age=_SECONDS,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )


@login_router.post("/logout", status_code=204)
async def logout(request: Request, response: Response) -> None:
    """Go out again: the session is over, whoever has its cookie."""
    store = engine_of(request).store
    if token := request.cookies.get(COOKIE):
        await store.run(store.sessions.close, token)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
