"""The model servers there are, and how each of them is, over REST.

Knows the routes; how servers are found and looked at is in `providers`.
"""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request

from holdfast.server.door import engine_of

router = APIRouter(prefix="/api/upstreams", tags=["Models"])


@router.get("")
async def upstreams(request: Request) -> dict[str, Any]:
    """Each model server: its kind, whether it is well, when it was last heard of and what it failed with."""
    known = engine_of(request).upstreams
    await known.look()
    return {"upstreams": [asdict(state) for state in known.states()]}
