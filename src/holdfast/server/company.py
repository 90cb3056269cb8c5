"""The company of a person's profile, over REST, and the answers of the set-up that stand in a profile.

A view: the profile's file is what is kept, and every other field of it stays. Knows the names that the set-up
has for the fields.
"""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from holdfast.memory.profiles.text import value_of
from holdfast.server.endpoint import scope_of
from holdfast.server.memories import remembering_of

company_router = APIRouter(prefix="/api/settings/company-context", tags=["Settings"])

_COMPANY = {"companyName": "company", "industry": "industry", "teamSize": "team_size", "products": "products"}
_PREFERENCES = {
    "answerLength": "preferences.answer_length",
    "formality": "preferences.formality",
    "style": "preferences.style",
}


class Company(BaseModel):
    """What is not mentioned stays; null takes it away."""

    model_config = ConfigDict(extra="forbid", strict=True)

    company_name: Annotated[str | None, Field(alias="companyName", max_length=200)] = None
    industry: Annotated[str | None, Field(max_length=200)] = None
    team_size: Annotated[str | int | None, Field(alias="teamSize")] = None
    products: list[str] | None = None


@company_router.get("")
async def show_company(request: Request) -> dict[str, Any]:
    """What a model is told of the company; null for what is not said."""
    profile, scope = remembering_of(request).profile, scope_of(request)
    note = await asyncio.to_thread(profile.show, scope)
    return {name: value_of(note.text, field) for name, field in _COMPANY.items()}


@company_router.put("")
async def change_company(request: Request, company: Company) -> dict[str, Any]:
    """Set these, in the profile."""
    profile, scope = remembering_of(request).profile, scope_of(request)
    given = company.model_dump(by_alias=True, exclude_unset=True)
    fields = {_COMPANY[name]: value if value not in ("", []) else None for name, value in given.items()}
    await asyncio.to_thread(profile.patch, scope, fields)
    return await show_company(request)


def answers_in(text: str) -> dict[str, Any]:
    """The set-up's questions as a profile answers them; an answer in one line is a style."""
    answers = {name: value_of(text, field) for name, field in _COMPANY.items()}
    whole = value_of(text, "preferences")
    inner = {name: value_of(text, field) for name, field in _PREFERENCES.items()}
    if whole is not None and not isinstance(whole, dict):
        inner["style"] = ", ".join(map(str, whole)) if isinstance(whole, list) else str(whole)
    return {**answers, "preferences": inner}
