"""What happens inside, as server-sent events: a page that follows sees it as it comes.

Knows the wire; what is published, and in whose scope, is decided where it happens.
"""

from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing
from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Header
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.requests import Request

from holdfast.events import LAGGED, Event
from holdfast.messages import canonical
from holdfast.server.endpoint import engine_of, scope_of

events_router = APIRouter(prefix="/api/events", tags=["Events"])


def _followed(
    request: Request,
    after: int | None = None,
    last_event_id: Annotated[int | None, Header()] = None,
    project: str | None = None,
    kind: Literal["private", "group"] | None = None,
) -> AsyncGenerator[Event, None]:
    """Found before the response begins, while a refusal can still be one."""
    # A client that reconnects repeats its first address, and says in the header how far it came.
    place = after if last_event_id is None else last_event_id
    # A browser's own follower sends no headers of ours, so project and kind can be in the address.
    scope = scope_of(request, project)
    return engine_of(request).events.follow(replace(scope, kind=kind) if kind else scope, place)


@events_router.get("", response_class=EventSourceResponse)
async def events(
    followed: Annotated[AsyncGenerator[Event, None], Depends(_followed)], conversation: str | None = None
) -> AsyncIterable[ServerSentEvent]:
    """Everything that happens in this scope, or in one conversation, from now on or after an event's id."""
    async with aclosing(followed):
        async for event in followed:
            if conversation is None or event.kind == LAGGED or event.data.get("conversation") == conversation:
                told = canonical({**event.data, "at": event.at})
                yield ServerSentEvent(raw_data=told, event=event.kind, id=str(event.id))
