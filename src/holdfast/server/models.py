"""The models that are installed, with the windows they were trained for, run with, and should have.

Knows the routes of our own REST interface; the protocols' own lists are at their doors.
"""

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from holdfast.errors import Forbidden
from holdfast.server.access import access_of
from holdfast.server.door import engine_of
from holdfast.upstreams.base import ModelInfo, Provider
from holdfast.upstreams.windows import Windows, has_fixed_window

router = APIRouter(prefix="/api/models", tags=["Models"])


Window = Annotated[int | None, Field(ge=0, le=100_000_000)]


class Fixed(BaseModel):
    """The window of a model, and the one recommended for it; 0 leaves it to Holdfast again."""

    model_config = ConfigDict(extra="forbid", strict=True)

    num_ctx: Window = None
    recommended: Window = None


@router.get("/installed")
async def installed(request: Request) -> dict[str, Any]:
    engine = engine_of(request)
    rows = []
    for model in await engine.upstreams.models():
        provider = await engine.upstreams.route(model.name)
        rows.append(_row(model, provider, await engine.models.windows(provider, model.name)))
    return {"models": rows}


@router.put("/{name:path}")
async def fix(request: Request, name: str, fixed: Fixed) -> dict[str, Any]:
    """Fix the window of a model: every request to it then carries the same one. For administrators."""
    if not access_of(request).admin:
        raise Forbidden("only an administrator may do this", hint="Use a key made with --admin.")
    engine = engine_of(request)
    provider = await engine.upstreams.route(name)
    windows = await engine.models.set_window(
        provider, name, num_ctx=fixed.num_ctx, recommended=fixed.recommended
    )
    return _row(await provider.describe(name), provider, windows)


def _row(model: ModelInfo, provider: Provider, windows: Windows) -> dict[str, Any]:
    """`fixed`: the server has the window it was started with, whatever a request says."""
    return {
        "name": model.name,
        "family": model.family or None,
        "parameter_size": model.parameter_size or None,
        "context_window": windows.trained.tokens if windows.trained else None,
        "recommended_ctx": windows.recommended.tokens,
        "running_ctx": windows.running.tokens if windows.running else None,
        "num_ctx": windows.used.tokens,
        "num_ctx_source": windows.used.source,
        "fixed": has_fixed_window(provider),
        "server": {"kind": provider.name, "location": provider.location},
    }
