"""Adding model servers and taking them away over REST; each is a change of the settings, in force at once."""

import asyncio
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.requests import Request
from starlette.responses import JSONResponse

from holdfast.config import Settings
from holdfast.errors import BadRequest, ConfigError, NotFound
from holdfast.i18n import gettext as _
from holdfast.i18n import speak
from holdfast.server.endpoint import engine_of, require_admin
from holdfast.server.pages.site import language_of
from holdfast.server.settings import next_config, put_settings
from holdfast.upstreams.discovery import host_of, is_embedded, parse_keys, parse_upstreams

router = APIRouter(prefix="/api/upstreams", tags=["Models"])

# Commas separate servers and their keys in the settings.
Word = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[^,]*$")]


class NewServer(BaseModel):
    """Where a model server is, and the key it asks for; empty for none."""

    model_config = ConfigDict(extra="forbid", strict=True)

    location: Annotated[Word, Field(min_length=1, max_length=2_000)]
    key: Annotated[Word, Field(max_length=10_000)] = ""


@router.post("", response_model=None)
async def add_upstream(request: Request, server: NewServer) -> dict[str, Any] | JSONResponse:
    """Add a model server, or set the key of one that is there. For administrators.

    A server that was found by itself stays beside it.
    """
    require_admin(request)
    speak(language_of(request))
    settings = (await asyncio.to_thread(next_config, request)).settings
    located = [state.location for state in engine_of(request).upstreams.states() if state.kind]
    found = [location for location in located if not is_embedded(location)]
    try:
        wanted = add_server(settings, found, server)
    except ConfigError as error:
        raise BadRequest(error.message, hint=error.hint, param="location") from None
    return await put_settings(request, wanted)


@router.delete("/{name:path}", response_model=None)
async def remove_upstream(request: Request, name: str) -> dict[str, Any] | JSONResponse:
    """Take a model server away, by the name that it is listed with, and its key. For administrators."""
    require_admin(request)
    speak(language_of(request))
    settings = (await asyncio.to_thread(next_config, request)).settings
    return await put_settings(request, remove_server(settings, unquote(name)))


def add_server(settings: Settings, found: list[str], server: NewServer) -> dict[str, Any]:
    """Return the settings with which a server is used, beside those that were named or found."""
    host = host_of(server.location)
    if settings.upstream and host_of(settings.upstream) == host:
        return {"upstream": server.location, "upstream_key": server.key or None}
    before = parse_upstreams(settings.upstreams)
    if not settings.upstream and not before:
        before = {host_of(location): location for location in found}
        if not before or host in before:
            return {"upstream": server.location, "upstream_key": server.key or None}
    name = next((name for name, location in before.items() if host_of(location) == host), host)
    keys = read_keys(settings) | {name: server.key}
    return join_servers({**before, name: server.location}, keys)


def remove_server(settings: Settings, name: str) -> dict[str, Any]:
    """Return the settings without a server. Where none is left, one is looked for again."""
    before = parse_upstreams(settings.upstreams)
    if settings.upstream and name in (host_of(settings.upstream), settings.upstream):
        return {"upstream": None, "upstream_key": None}
    if name not in before:
        raise NotFound(_("There is no model server {name} in the settings.").format(name=name))
    rest = {other: location for other, location in before.items() if other != name}
    return join_servers(rest, read_keys(settings))


def read_keys(settings: Settings) -> dict[str, str]:
    named = ", ".join(filter(None, (settings.upstream, settings.upstreams)))
    return parse_keys(settings.upstream_keys, parse_upstreams(named))


def join_servers(locations: dict[str, str], keys: dict[str, str]) -> dict[str, Any]:
    """Return the two settings; null where nothing is left."""
    servers = ", ".join(
        location if name == host_of(location) else f"{name}={location}"
        for name, location in locations.items()
    )
    secrets = ", ".join(f"{name}={key}" for name, key in keys.items() if key and name in locations)
    return {"upstreams": servers or None, "upstream_keys": secrets or None}
