"""The profile of a person, over REST: the file, its fields, and what is proposed for them.

Knows the wire; what a profile may be is known in `memory`. A group has none.
"""

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Query, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from holdfast.errors import BadRequest, Conflict, HoldfastError, TooLarge
from holdfast.memory.profiles.profile import Profile
from holdfast.memory.profiles.text import LARGEST, NoProfile, Told, label_of, language_in, told
from holdfast.messages import Scope
from holdfast.server.door import scope_of
from holdfast.server.matching import changed, etag, expected
from holdfast.server.memories import remembering_of
from holdfast.server.pages.site import language_of
from holdfast.tokens.budget import SMALLEST, budget_for
from holdfast.tokens.estimate import UNKNOWN, estimate

router = APIRouter(prefix="/api/memory/profile", tags=["Memory"])


class ProfileText(BaseModel):
    """A whole profile, as YAML."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str


class Draft(BaseModel):
    """A profile that somebody writes, and the window of the model that would be told."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str
    window: Annotated[int, Field(ge=SMALLEST, le=10_000_000)] = 8192


class SetupForm(BaseModel):
    """The questions of the setup; products as a list, or with commas between them."""

    model_config = ConfigDict(extra="forbid", strict=True)

    company_name: Annotated[str | None, Field(alias="companyName")] = None
    industry: str | None = None
    team_size: Annotated[str | int | None, Field(alias="teamSize")] = None
    products: list[str] | str | None = None
    preferences: dict[str, Any] | list[str] | str | None = None


@router.get("")
async def show(request: Request, response: Response) -> dict[str, Any]:
    """The file as it is, its fields, and what is wrong with it where it cannot be read."""
    profile, scope = remembering_of(request).profile, scope_of(request)
    return await _changed(response, profile, scope)


@router.post("/preview")
async def preview(request: Request, draft: Draft) -> dict[str, Any]:
    """What a model with such a window would be told of a profile, by an estimate; nothing is kept.

    Where it cannot be one, `trouble` says why and `line` where.
    """
    scope = scope_of(request)
    if scope.kind == "group":
        raise BadRequest("A group has no profile.", hint="A profile belongs to one person.")
    cap = budget_for(draft.window).profile
    return await asyncio.to_thread(_previewed, draft.text, cap)


def _previewed(text: str, cap: int) -> dict[str, Any]:
    shown, line, trouble = Told(), 0, None
    try:
        shown = told(text, cap, _tokens, language_in(text))
    except NoProfile as error:
        line, trouble = error.line, str(error)
    except TooLarge as error:
        trouble = str(error)
    return {
        "text": shown.text,
        "tokens": _tokens(shown.text),
        "cap": cap,
        "left_out": list(shown.left_out),
        "bytes": len(text.encode(errors="replace")),
        "largest": LARGEST,
        "trouble": trouble,
        "line": line or None,
    }


def _tokens(text: str) -> int:
    return estimate(text, UNKNOWN).tokens


@router.put("")
async def replace(request: Request, response: Response, whole: ProfileText) -> dict[str, Any]:
    """Put another text in place, if it is a profile; with `If-Match` only over the version it names."""
    profile, scope = remembering_of(request).profile, scope_of(request)

    def work() -> None:
        expect = expected(request, profile.show(scope).tag, needed=False)
        try:
            profile.replace(scope, whole.text, expect)
        except Conflict as error:
            raise changed() from error

    return await _changed(response, profile, scope, work)


@router.post("")
async def fill(
    request: Request,
    response: Response,
    form: SetupForm,
    language: Annotated[Literal["de", "en"], Query()] = "en",
) -> dict[str, Any]:
    """Take over what a setup asked; fields of the file that were not asked about stay."""
    profile, scope = remembering_of(request).profile, scope_of(request)
    answers = form.model_dump(by_alias=True, exclude_none=True)
    return await _changed(response, profile, scope, lambda: profile.fill(scope, answers, language))


@router.patch("")
async def patch(
    request: Request, response: Response, fields: Annotated[dict[str, Any], Body()]
) -> dict[str, Any]:
    """Set these fields and take those away that are null; all of it or nothing. Comments stay."""
    profile, scope = remembering_of(request).profile, scope_of(request)
    return await _changed(response, profile, scope, lambda: profile.patch(scope, fields))


@router.get("/proposals")
async def proposals(request: Request) -> dict[str, Any]:
    """What the profile might learn, each with the words it was taken from; `label` is what the reader calls
    the field."""
    profile, scope = remembering_of(request).profile, scope_of(request)
    waiting = await asyncio.to_thread(profile.proposals, scope)
    language = language_of(request)
    return {"proposals": [{**asdict(one), "label": label_of(one.field, language)} for one in waiting]}


@router.post("/proposals/{proposal}/accept")
async def accept(request: Request, proposal: str) -> dict[str, Any]:
    """Set the field to what is proposed."""
    profile, scope = remembering_of(request).profile, scope_of(request)
    return asdict(await asyncio.to_thread(profile.accept, scope, proposal))


@router.post("/proposals/{proposal}/dismiss")
async def dismiss(request: Request, proposal: str) -> dict[str, Any]:
    """Turn it down; it is not proposed again."""
    profile, scope = remembering_of(request).profile, scope_of(request)
    return asdict(await asyncio.to_thread(profile.dismiss, scope, proposal))


async def _changed(
    response: Response, profile: Profile, scope: Scope, work: Callable[[], object] = lambda: None
) -> dict[str, Any]:
    """Do the work, and tell the profile as it is after it."""

    def told() -> tuple[str, dict[str, Any]]:
        work()
        note = profile.show(scope)
        fields, trouble = None, None
        try:
            fields = profile.fields(scope)
        except HoldfastError as error:
            trouble = str(error)
        text = note.text.encode("utf-8", "replace").decode()
        return note.tag, {"text": text, "fields": fields, "trouble": trouble, "tag": note.tag}

    tag, shown = await asyncio.to_thread(told)
    if tag:
        response.headers["ETag"] = etag(tag)
    return shown
