"""Research over REST: findings that are sent in or fetched, listed, read and forgotten.

Events `research` report the progress of what takes long. A finding that still holds is used again.
"""

import asyncio
import time
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from holdfast.conversations.hints import RESEARCH_SETTING
from holdfast.errors import BadRequest, HoldfastError, NotFound
from holdfast.i18n import lazy
from holdfast.messages import Scope
from holdfast.research.finding import Finding, Mode, ResearchSource
from holdfast.research.library import Research, ResearchAnswer
from holdfast.research.repository import path_of_note
from holdfast.server.endpoint import RequestBody, engine_of, scope_of, unless_disconnected
from holdfast.server.memories import Whose, scope_for

router = APIRouter(prefix="/api/research", tags=["Research"])

RESEARCH = "research"

# The longest text of a source, in characters; less of it is stored.
_MAX_TEXT = 2_000_000


class NewSource(RequestBody):
    """A source that the client has read: a URL or file name, its text, and the time in seconds."""

    url: str = Field("", max_length=2_000)
    file: str = Field("", max_length=2_000)
    title: str = Field("", max_length=1_000)
    text: str = Field(max_length=_MAX_TEXT)
    at: Annotated[float | None, Field(ge=0, le=250_000_000_000, allow_inf_nan=False)] = None

    def value(self, now: float) -> ResearchSource:
        return ResearchSource(
            self.url or self.file, self.title, self.text, now if self.at is None else self.at
        )


class NewFinding(RequestBody):
    """A question with `sources` that were read for it, `urls` to read, or `fetch` to find pages.

    `fetch` reads the pages that the question names, or else searches for some. With none of these, only a
    known finding is returned; `fresh` ignores known ones. `conversation` is the one whose next message is
    about it.
    """

    question: str
    mode: Mode = "quick"
    sources: list[NewSource] = Field(default=[], max_length=50)
    urls: list[str] = Field(default=[], max_length=50)
    fetch: bool = False
    fresh: bool = False
    conversation: str | None = None
    scope: Whose | None = None


def research_of(request: Request) -> Research:
    """Return the research of this server; raise `NotFound` if it has none."""
    research: Research | None = engine_of(request).research
    if research is None:
        raise NotFound(
            lazy("There is no research here."), hint=lazy("This server was started without a memory.")
        )
    return research


@router.get("")
async def list_findings(
    request: Request,
    text: str = "",
    mode: Mode | None = None,
    expired: bool | None = None,
    scope: Whose | None = None,
    limit: int = Query(50, ge=1, le=500),
    offset: int = Query(0, ge=0),
) -> dict[str, Any]:
    """List findings, newest first, without their texts; `expired` selects those that are, or are not."""
    research, where = research_of(request), scope_for(request, scope)
    troubles: list[str] = []
    findings = await asyncio.to_thread(research.search, where, text, own=scope is not None, troubles=troubles)
    now = research.clock()
    wanted = [
        finding
        for finding in findings
        if mode in (None, finding.mode) and expired in (None, finding.is_expired(now))
    ]
    page = [finding.to_json(now, whole=False) for finding in wanted[offset : offset + limit]]
    return {"findings": page, "total": len(wanted), "troubles": troubles}


@router.post("", status_code=201)
async def add_finding(request: Request, new: NewFinding) -> Response:
    """Store the sources for a question, fetch some, or return a known finding (200, `reused`)."""
    research, scope = research_of(request), scope_for(request, new.scope)
    store = engine_of(request).store
    # Checked before anything is fetched: it must be a conversation of this scope.
    row = await store.run(store.log.get, new.conversation, scope_of(request)) if new.conversation else None
    conversation = row.id if row else ""
    if new.sources:
        sources = [source.value(time.time()) for source in new.sources]
        finding = await asyncio.to_thread(research.add, scope, new.question, sources, new.mode, conversation)
        answered = ResearchAnswer(finding)
    elif new.fetch or new.urls:
        answered = await unless_disconnected(
            request, gather_finding(request, research, scope, new, conversation)
        )
    else:
        answered = await find_known(research, scope, new)
    if row is not None:
        await store.run(store.log.update_settings, row.id, {RESEARCH_SETTING: answered.finding.id})
    payload = answered.finding.to_json(research.clock(), whole=False)
    return JSONResponse({**payload, "reused": answered.reused}, 200 if answered.reused else 201)


async def find_known(research: Research, scope: Scope, new: NewFinding) -> ResearchAnswer:
    """Return a known finding that still holds; raise an error if there is none."""
    known = await asyncio.to_thread(research.find_known, scope, new.question, new.mode)
    if known is None or new.fresh:
        raise BadRequest(
            lazy("Nothing that still holds is known about this."),
            hint=lazy(
                "Send `sources` with their texts, `urls` to be read, or `fetch` to have some looked for."
            ),
            param="sources",
        )
    return known


async def gather_finding(
    request: Request, research: Research, scope: Scope, new: NewFinding, conversation: str
) -> ResearchAnswer:
    """Fetch sources for a question, and publish the progress to the scope."""
    local = next((url for url in new.urls if not url.lower().startswith(("http://", "https://"))), None)
    if local is not None:
        raise BadRequest(
            lazy("{local!r} is no web address.", local=local[:200]),
            hint=lazy("Files are read on the command line: `holdfast research add`."),
            param="urls",
        )
    events = engine_of(request).events

    def tell(phase: str, **more: Any) -> None:
        data = {"phase": phase, "question": new.question, "conversation": conversation or None, **more}
        events.publish(RESEARCH, data, scope_of(request))

    try:
        answered = await research.answer(
            scope,
            new.question,
            new.mode,
            addresses=new.urls,
            fresh=new.fresh,
            conversation=conversation,
            tell=lambda done, total, what: tell("gathering", done=done, total=total, what=what),
        )
    except HoldfastError as error:
        tell("failed", error=error.message)
        raise
    tell("done", id=answered.finding.id, reused=answered.reused)
    return answered


@router.post("/prune")
async def prune_findings(request: Request) -> dict[str, list[str]]:
    """Remove findings of this scope that expired long ago, and merge those that are alike."""
    research, scope = research_of(request), scope_of(request)
    pruned = await asyncio.to_thread(research.prune, research.clock(), scope)
    return {"removed": list(pruned.removed), "merged": list(pruned.merged), "left": list(pruned.left)}


@router.get("/{finding}")
async def show_finding(request: Request, finding: str, texts: Literal["on", "off"] = "on") -> dict[str, Any]:
    """Return one finding with its sources and the file it is in; without texts if `texts` is `off`."""
    research, scope = research_of(request), scope_of(request)
    row: Finding = await asyncio.to_thread(research.get, scope, finding)
    return {**row.to_json(research.clock(), whole=texts == "on"), "path": str(path_of_note(row))}


@router.delete("/{finding}", status_code=204)
async def forget_finding(request: Request, finding: str) -> None:
    """Forget a finding for good, with all its texts."""
    research, scope = research_of(request), scope_of(request)
    await asyncio.to_thread(research.forget, scope, finding)
