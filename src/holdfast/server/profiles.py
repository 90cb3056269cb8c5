"""The profile of a person over REST: its file, its fields, and proposals for them. Groups have none.

The company context and the answers of the set-up are views of fields of the same file.
"""

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Response
from pydantic import Field
from starlette.requests import Request

from holdfast.errors import BadRequest, Conflict, HoldfastError, TooLarge
from holdfast.i18n import Language, lazy
from holdfast.memory.profile import (
    LARGEST,
    InvalidProfile,
    Profile,
    ProfileExcerpt,
    detect_language,
    get_field,
    label_of,
    render_for_model,
)
from holdfast.messages import Scope
from holdfast.server.endpoint import RequestBody, scope_of
from holdfast.server.memories import etag, remembering_of, tag_to_match, version_conflict
from holdfast.server.pages.site import language_of
from holdfast.tokens.budget import SMALLEST, budget_for
from holdfast.tokens.estimate import UNKNOWN, estimate

router = APIRouter(prefix="/api/memory/profile", tags=["Memory"])


class ProfileText(RequestBody):
    """A whole profile, as YAML."""

    text: str


class ProfileDraft(RequestBody):
    """A profile that is being written, and the window of the model that would get it."""

    text: str
    window: Annotated[int, Field(ge=SMALLEST, le=10_000_000)] = 8192


class SetupForm(RequestBody):
    """The questions of the set-up; products as a list, or separated by commas."""

    company_name: Annotated[str | None, Field(alias="companyName")] = None
    industry: str | None = None
    team_size: Annotated[str | int | None, Field(alias="teamSize")] = None
    products: list[str] | str | None = None
    preferences: dict[str, Any] | list[str] | str | None = None


@router.get("")
async def show_profile(request: Request, response: Response) -> dict[str, Any]:
    """Return the file, its fields, and what is wrong with it if it cannot be read."""
    profile, scope = remembering_of(request).profile, scope_of(request)
    return await apply_and_show(response, profile, scope)


@router.post("/preview")
async def preview_profile(request: Request, draft: ProfileDraft) -> dict[str, Any]:
    """Return what a model with this window would get of a profile, by an estimate; nothing is stored.

    If it is no valid profile, `trouble` says why and `line` where.
    """
    scope = scope_of(request)
    if scope.kind == "group":
        raise BadRequest(lazy("A group has no profile."), hint=lazy("A profile belongs to one person."))
    cap = budget_for(draft.window).profile
    return await asyncio.to_thread(preview_text, draft.text, cap)


def preview_text(text: str, cap: int) -> dict[str, Any]:
    shown, line, trouble = ProfileExcerpt(), 0, None
    try:
        shown = render_for_model(text, cap, count_tokens, detect_language(text))
    except InvalidProfile as error:
        line, trouble = error.line, str(error)
    except TooLarge as error:
        trouble = str(error)
    return {
        "text": shown.text,
        "tokens": count_tokens(shown.text),
        "cap": cap,
        "left_out": list(shown.left_out),
        "bytes": len(text.encode(errors="replace")),
        "largest": LARGEST,
        "trouble": trouble,
        "line": line or None,
    }


def count_tokens(text: str) -> int:
    return estimate(text, UNKNOWN).tokens


@router.put("")
async def replace_profile(request: Request, response: Response, whole: ProfileText) -> dict[str, Any]:
    """Replace the profile if the text is a valid one; with `If-Match` only the version it names."""
    profile, scope = remembering_of(request).profile, scope_of(request)

    def work() -> None:
        expect = tag_to_match(request, profile.show(scope).tag, needed=False)
        try:
            profile.replace(scope, whole.text, expect)
        except Conflict as error:
            raise version_conflict() from error

    return await apply_and_show(response, profile, scope, work)


@router.post("")
async def fill_profile(
    request: Request,
    response: Response,
    form: SetupForm,
    language: Annotated[Language, Query()] = "en",
) -> dict[str, Any]:
    """Store the answers of the set-up; other fields of the file stay."""
    profile, scope = remembering_of(request).profile, scope_of(request)
    answers = form.model_dump(by_alias=True, exclude_none=True)
    return await apply_and_show(response, profile, scope, lambda: profile.fill(scope, answers, language))


@router.patch("")
async def patch_profile(
    request: Request, response: Response, fields: Annotated[dict[str, Any], Body()]
) -> dict[str, Any]:
    """Set these fields and remove those that are null; all of them or none. Comments stay."""
    profile, scope = remembering_of(request).profile, scope_of(request)
    return await apply_and_show(response, profile, scope, lambda: profile.patch(scope, fields))


@router.get("/proposals")
async def list_proposals(request: Request) -> dict[str, Any]:
    """List proposals for the profile with the words they were taken from.

    `label` is the name of the field in the reader's language.
    """
    profile, scope = remembering_of(request).profile, scope_of(request)
    waiting = await asyncio.to_thread(profile.proposals, scope)
    language = language_of(request)
    return {
        "proposals": [
            {**asdict(proposal), "label": label_of(proposal.field, language)} for proposal in waiting
        ]
    }


@router.post("/proposals/{proposal}/accept")
async def accept_proposal(request: Request, proposal: str) -> dict[str, Any]:
    """Set the field to the proposed value."""
    profile, scope = remembering_of(request).profile, scope_of(request)
    return asdict(await asyncio.to_thread(profile.accept, scope, proposal))


@router.post("/proposals/{proposal}/dismiss")
async def dismiss_proposal(request: Request, proposal: str) -> dict[str, Any]:
    """Dismiss a proposal; it is not made again."""
    profile, scope = remembering_of(request).profile, scope_of(request)
    return asdict(await asyncio.to_thread(profile.dismiss, scope, proposal))


# What the form of the page asks for, by the names that `PATCH` takes.
_FORM = (
    "name", "language", "company", "industry", "team_size", "products",
    "preferences.answer_length", "preferences.formality", "preferences.style",
)  # fmt: skip


async def apply_and_show(
    response: Response, profile: Profile, scope: Scope, work: Callable[[], object] = lambda: None
) -> dict[str, Any]:
    """Do the work, and return the profile as it is afterwards."""

    def work_and_load() -> tuple[str, dict[str, Any]]:
        work()
        note = profile.show(scope)
        fields, trouble = None, None
        try:
            fields = profile.fields(scope)
        except HoldfastError as error:
            trouble = str(error)
        text = note.text.encode("utf-8", "replace").decode()
        form = {} if trouble else {name: get_field(text, name) for name in _FORM}
        return note.tag, {"text": text, "fields": fields, "form": form, "trouble": trouble, "tag": note.tag}

    tag, shown = await asyncio.to_thread(work_and_load)
    if tag:
        response.headers["ETag"] = etag(tag)
    return shown


company_router = APIRouter(prefix="/api/settings/company-context", tags=["Settings"])

_COMPANY = {"companyName": "company", "industry": "industry", "teamSize": "team_size", "products": "products"}
_PREFERENCES = {
    "answerLength": "preferences.answer_length",
    "formality": "preferences.formality",
    "style": "preferences.style",
}


class CompanyFields(RequestBody):
    """Fields of the company: what is left out stays, null removes it."""

    company_name: Annotated[str | None, Field(alias="companyName", max_length=200)] = None
    industry: Annotated[str | None, Field(max_length=200)] = None
    team_size: Annotated[str | int | None, Field(alias="teamSize")] = None
    products: list[str] | None = None


@company_router.get("")
async def show_company(request: Request) -> dict[str, Any]:
    """Return what models are told about the company; null for what is not set."""
    profile, scope = remembering_of(request).profile, scope_of(request)
    note = await asyncio.to_thread(profile.show, scope)
    return {name: get_field(note.text, field) for name, field in _COMPANY.items()}


@company_router.put("")
async def change_company(request: Request, company: CompanyFields) -> dict[str, Any]:
    """Set these fields in the profile."""
    profile, scope = remembering_of(request).profile, scope_of(request)
    given = company.model_dump(by_alias=True, exclude_unset=True)
    fields = {_COMPANY[name]: value if value not in ("", []) else None for name, value in given.items()}
    await asyncio.to_thread(profile.patch, scope, fields)
    return await show_company(request)


def setup_answers(text: str) -> dict[str, Any]:
    """Return the profile as answers to the set-up's questions; preferences in one line are the style."""
    answers = {name: get_field(text, field) for name, field in _COMPANY.items()}
    whole = get_field(text, "preferences")
    inner = {name: get_field(text, field) for name, field in _PREFERENCES.items()}
    if whole is not None and not isinstance(whole, dict):
        inner["style"] = ", ".join(map(str, whole)) if isinstance(whole, list) else str(whole)
    return {**answers, "preferences": inner}
