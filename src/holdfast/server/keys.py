"""The keys that let programs in, over REST: which there are, making one, taking one back. For administrators.

That only they come here is the guard's business.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.requests import Request

from holdfast.errors import Forbidden
from holdfast.server.door import engine_of
from holdfast.server.guard import Guard, access_of
from holdfast.store import Key

keys_router = APIRouter(prefix="/api/keys", tags=["Keys"])

Name = Annotated[str, StringConstraints(strip_whitespace=True, max_length=99)]


class NewKey(BaseModel):
    """Whose it is and what it may do. Without a project, its clients name theirs; `rate` is a minute's."""

    model_config = ConfigDict(extra="forbid", strict=True)

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
    """All keys, without their secrets. `several_people`: more than one comes through it unannounced."""
    store = engine_of(request).store
    guard: Guard = request.app.state.guard
    rows = await store.run(store.keys.all)
    return {"keys": [{**key.to_json(), "several_people": key.id in guard.crowded} for key in rows]}


@keys_router.post("", status_code=201)
async def create_key(request: Request, response: Response, wanted: NewKey) -> dict[str, Any]:
    """A new key. Its secret is in this answer and can never be seen again.

    It takes a session or an administrator's key: to be on this machine is not enough.
    """
    if access_of(request).how == "here":
        raise Forbidden(
            "a key is made by who knows the password", hint="Sign in first, or use `holdfast keys create`."
        )
    store = engine_of(request).store
    made, secret = await store.run(store.keys.create, Key(**wanted.model_dump()))
    response.headers["Cache-Control"] = "no-store"
    return {"key": made.to_json(), "secret": secret}


@keys_router.delete("/{key}", status_code=204)
async def revoke_key(request: Request, key: str) -> None:
    """Take a key back: whoever has it cannot come in any more."""
    store = engine_of(request).store
    await store.run(store.keys.revoke, key)
    guard: Guard = request.app.state.guard
    guard.look_again()
