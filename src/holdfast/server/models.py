"""The models that are installed, with the windows they were trained for, run with, and should have.

Knows the routes of our own REST interface; the protocols' own lists are at their doors.
"""

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request

from holdfast.server.door import engine_of

router = APIRouter(prefix="/api/models", tags=["Models"])


@router.get("/installed")
async def installed(request: Request) -> dict[str, Any]:
    engine = engine_of(request)
    rows = []
    for model in await engine.upstreams.models():
        provider = await engine.upstreams.route(model.name)
        windows = await engine.models.windows(provider, model.name)
        rows.append(
            {
                "name": model.name,
                "family": model.family or None,
                "parameter_size": model.parameter_size or None,
                "context_window": windows.trained.tokens if windows.trained else None,
                "recommended_ctx": windows.recommended.tokens,
                "running_ctx": windows.running.tokens if windows.running else None,
                "num_ctx": windows.used.tokens,
                "num_ctx_source": windows.used.source,
            }
        )
    return {"models": rows}
