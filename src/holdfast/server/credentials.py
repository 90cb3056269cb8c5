"""Routes for credentials: logging in and out, the password of the pages, and the keys of programs.

A login is a session cookie that no script can read and no other page can use. The guard checks sessions and
keys; the store keeps them.
"""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import Field, StringConstraints
from starlette.requests import Request

from holdfast.errors import BadRequest, Conflict, Forbidden, TooMany, Unauthorized
from holdfast.i18n import lazy
from holdfast.messages import Scope
from holdfast.server.endpoint import RequestBody, engine_of, require_admin
from holdfast.server.guard import COOKIE, RequestGuard, access_of, is_loopback, is_same_origin
from holdfast.store import Key
from holdfast.store.access import is_password, password_digest

login_router = APIRouter(prefix="/api", tags=["Access"])

# There is one password: that of the person who set up the server.
_OWNER = Scope().user
_SESSION_SECONDS = 30 * 86_400


class Login(RequestBody):
    password: str = Field(max_length=1_000, repr=False)


@login_router.get("/login")
async def show_login(request: Request) -> dict[str, Any]:
    """Return who this is, how they were identified, and whether a password is set."""
    access, store = access_of(request), engine_of(request).store
    known = access.how != "nobody"
    return {
        "how": access.how,
        "user": access.user if known else None,
        "project": access.project or None,
        "admin": access.admin,
        "password": await store.run(store.sessions.password, _OWNER) is not None,
    }


@login_router.post("/login")
async def login(request: Request, response: Response, given: Login) -> dict[str, Any]:
    """Log in with the password. Wrong passwords make their own address wait, longer each time."""
    if any(name in request.headers for name in ("sec-fetch-site", "origin")) and not is_same_origin(
        request.headers
    ):
        raise Forbidden(
            lazy("another page may not do this in your name"), hint=lazy("Use Holdfast's own page.")
        )
    store = engine_of(request).store
    digest = await store.run(store.sessions.password, _OWNER)
    if digest is None:
        raise BadRequest(lazy("no password is set"), hint=lazy("Set one with `holdfast password`."))
    guard: RequestGuard = request.app.state.guard
    sender = addresses_of(request)
    if wait := guard.tries.begin(*sender):
        raise TooMany(
            lazy("too many wrong passwords from here"), retry_after=wait, hint=lazy("Wait, then try again.")
        )
    if not await asyncio.to_thread(is_password, given.password, digest):
        raise Unauthorized(lazy("this is not the password"), hint=lazy("`holdfast password` sets another."))
    guard.tries.succeed(*sender)
    await start_session(request, response)
    return {"user": _OWNER, "seconds": _SESSION_SECONDS}


def addresses_of(request: Request) -> tuple[str, str]:
    """Return the address of the client, and the one that the connection comes from."""
    return request.client.host if request.client else "", getattr(request.state, "peer", "")


async def start_session(request: Request, response: Response) -> None:
    """Open a session for the sender of this request, and set its cookie."""
    store = engine_of(request).store
    token = await store.run(store.sessions.open, _OWNER, _SESSION_SECONDS)
    response.set_cookie(
        COOKIE,
        token,
        max_age=_SESSION_SECONDS,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )


@login_router.post("/logout", status_code=204)
async def logout(request: Request, response: Response) -> None:
    """Log out: the session ends for everyone who has its cookie."""
    store = engine_of(request).store
    if token := request.cookies.get(COOKIE):
        await store.run(store.sessions.close, token)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")


password_router = APIRouter(prefix="/api/password", tags=["Access"])

MIN_PASSWORD_LENGTH = 8


class PasswordChange(RequestBody):
    """A new password. Without an administrator's key, `current` must be the password in use."""

    password: str = Field(max_length=1_000, repr=False)
    current: str = Field(default="", max_length=1_000, repr=False)


class PasswordRemoval(RequestBody):
    current: str = Field(default="", max_length=1_000, repr=False)


@password_router.put("")
async def change_password(request: Request, response: Response, wanted: PasswordChange) -> dict[str, Any]:
    """Set the password. All other browsers that are logged in have to log in again."""
    await check_current_password(request, wanted.current)
    if len(wanted.password) < MIN_PASSWORD_LENGTH:
        raise BadRequest(
            lazy(
                "a password has at least {min_password_length} characters",
                min_password_length=MIN_PASSWORD_LENGTH,
            ),
            hint=lazy("Several words are good."),
            param="password",
        )
    store = engine_of(request).store
    digest = await asyncio.to_thread(password_digest, wanted.password)
    await store.run(store.sessions.set_password, _OWNER, digest)
    if is_same_origin(request.headers):
        await start_session(request, response)
    return {"password": True}


@password_router.delete("")
async def remove_password(request: Request, removal: PasswordRemoval | None = None) -> dict[str, Any]:
    """Remove the password, unless it is the only way to get in."""
    await check_current_password(request, removal.current if removal else "")
    store, settings = engine_of(request).store, request.app.state.config.settings
    closed = settings.require_key or not is_loopback(settings.host)
    if closed and not settings.key and not await store.run(store.keys.any):
        raise Conflict(
            lazy("this password is the only way to sign in"),
            hint=lazy("Make a key first: `holdfast keys create --admin`."),
        )
    await store.run(store.sessions.set_password, _OWNER, None)
    return {"password": False}


async def check_current_password(request: Request, current: str) -> None:
    """Require an administrator who has a key or knows the password in use.

    A browser that somebody left open, or an address on this machine, does not prove who is asking.
    """
    access, store = access_of(request), engine_of(request).store
    require_admin(request)
    digest = await store.run(store.sessions.password, _OWNER)
    if access.how == "key" or digest is None:
        return
    guard: RequestGuard = request.app.state.guard
    sender = addresses_of(request)
    if wait := guard.tries.begin(*sender):
        raise TooMany(
            lazy("too many wrong passwords from here"), retry_after=wait, hint=lazy("Wait, then try again.")
        )
    if not await asyncio.to_thread(is_password, current, digest):
        raise Forbidden(
            lazy("this is not the password in use"), hint=lazy("`holdfast password` sets another without it.")
        )
    guard.tries.succeed(*sender)


keys_router = APIRouter(prefix="/api/keys", tags=["Keys"])

Name = Annotated[str, StringConstraints(strip_whitespace=True, max_length=99)]


class NewKey(RequestBody):
    """Whose key it is and what it may do. Without a project its clients name one; `rate` is per minute."""

    name: Name = ""
    user: Name = "default"
    project: Name = ""
    admin: bool = False
    forwarder: bool = False
    off: bool = False
    memory: bool = True
    rate: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    files: bool = False


@keys_router.get("")
async def list_keys(request: Request) -> dict[str, Any]:
    """List all keys without their secrets. `several_people`: more than one person uses it without being
    named.
    """
    store = engine_of(request).store
    guard: RequestGuard = request.app.state.guard
    rows = await store.run(store.keys.all)
    return {
        "keys": [
            {**key.to_json(), "several_people": key.id in guard.keys_with_several_people} for key in rows
        ]
    }


@keys_router.post("", status_code=201)
async def create_key(request: Request, response: Response, wanted: NewKey) -> dict[str, Any]:
    """Create a key. Its secret is in this answer and cannot be read again.

    This takes a session or an administrator's key: being on this machine is not enough.
    """
    if access_of(request).how == "here":
        raise Forbidden(
            lazy("a key is made by who knows the password"),
            hint=lazy("Sign in first, or use `holdfast keys create`."),
        )
    store = engine_of(request).store
    key, secret = await store.run(store.keys.create, Key(**wanted.model_dump()))
    response.headers["Cache-Control"] = "no-store"
    return {"key": key.to_json(), "secret": secret}


@keys_router.delete("/{key}", status_code=204)
async def revoke_key(request: Request, key: str) -> None:
    """Revoke a key: it is not accepted any more."""
    store = engine_of(request).store
    await store.run(store.keys.revoke, key)
    guard: RequestGuard = request.app.state.guard
    guard.forget_keys()
