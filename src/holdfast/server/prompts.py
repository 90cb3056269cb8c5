"""The prompt library of a person over REST: texts with variables that are asked with again."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import StringConstraints
from starlette.requests import Request

from holdfast.errors import BadRequest
from holdfast.server.endpoint import RequestBody, engine_of, scope_of

router = APIRouter(prefix="/api/prompts", tags=["Conversations"])

# More would make a list that nobody reads.
_MOST = 500

Name = Annotated[str, Path(pattern=r"^[\w-]{1,60}$")]


class PromptText(RequestBody):
    """What is inserted; each `{{word}}` in it is asked for then."""

    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100_000)]


@router.get("")
async def list_prompts(request: Request) -> dict[str, Any]:
    """List the saved prompts of the sender by name."""
    store, scope = engine_of(request).store, scope_of(request)
    return {"prompts": [asdict(saved) for saved in await store.run(store.saved_prompts.all, scope.user)]}


@router.put("/{name}")
async def save_prompt(request: Request, name: Name, prompt: PromptText) -> dict[str, Any]:
    """Save a prompt under a name of letters, digits and hyphens, in the place of one with the same name."""
    store, user = engine_of(request).store, scope_of(request).user
    names = {saved.name for saved in await store.run(store.saved_prompts.all, user)}
    if name not in names and len(names) >= _MOST:
        raise BadRequest(f"there are {_MOST} prompts already", hint="Delete those that nobody uses.")
    return asdict(await store.run(store.saved_prompts.put, user, name, prompt.text))


@router.delete("/{name}", status_code=204)
async def delete_prompt(request: Request, name: Name) -> None:
    """Delete a saved prompt."""
    store = engine_of(request).store
    await store.run(store.saved_prompts.delete, scope_of(request).user, name)
