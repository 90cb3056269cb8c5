"""The model servers there are, and how each of them is, over REST.

Knows the routes; how servers are found and looked at is in `providers`.
"""

import asyncio
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request

from holdfast.memory.gate import Gate
from holdfast.server.door import engine_of
from holdfast.server.settings import coming

router = APIRouter(prefix="/api/upstreams", tags=["Models"])


@router.get("")
async def upstreams(request: Request) -> dict[str, Any]:
    """Each model server: its kind, whether it is well, when it was last heard of and what it failed with.

    `memory`: whether it may be told memories, as it is set now.
    """
    known = engine_of(request).upstreams
    await known.refresh()
    gate = Gate.of((await asyncio.to_thread(coming, request)).settings.memory_gate)
    return {
        "upstreams": [{**asdict(state), "memory": gate.lets_pass(state.location)} for state in known.states()]
    }
