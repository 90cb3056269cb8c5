"""The settings over REST: value, source and effect of each, and changing them.

Changes are the layer "page" of `config`: above the file, below environment and command line. Before they are
stored, the parts that use the settings check that the server could start with them.
"""

import asyncio
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Body, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse

from holdfast.config import (
    EVERYDAY,
    FILE,
    GROUPS,
    HIDDEN,
    PRESETS,
    Config,
    Settings,
    converted,
    field_named,
    group_of,
    keep_page,
    set_on_page,
    shown_value,
)
from holdfast.errors import BadRequest, ConfigError, HoldfastError
from holdfast.extras import load_backend
from holdfast.i18n import Language, lazy, speak, translate
from holdfast.memory.embedder_choice import parse_embedder_location, parse_headers
from holdfast.memory.embedders import parse_prompts
from holdfast.memory.private import MemoryGate
from holdfast.memory.ranking import parse_weights
from holdfast.memory.remote_vectors import choose_vectors
from holdfast.messages import Scope
from holdfast.server.endpoint import RequestBody, engine_of, require_admin
from holdfast.server.guard import Origins, access_of, is_loopback
from holdfast.server.pages.site import language_of
from holdfast.tokens.budget import NEVER, SMALLEST, Budget
from holdfast.upstreams.discovery import is_embedded, parse_keys, parse_location, parse_upstreams
from holdfast.upstreams.ollama import parse_keep_alive
from holdfast.upstreams.queue import parse_parallel
from holdfast.window.presets import Preset, preset_from, preset_named
from holdfast.wiring import build_upstreams, vector_options

# Which settings each check is about.
_CHECKS: tuple[tuple[tuple[str, ...], Callable[[Settings], object]], ...] = (
    (("level_1", "level_2", "level_3_ahead", "level_3", "preset"), preset_from),
    (("memory_gate",), lambda settings: MemoryGate.parse(settings.memory_gate)),
    (("upstream_parallel",), lambda settings: parse_parallel(settings.upstream_parallel)),
    (("keep_alive",), lambda settings: parse_keep_alive(settings.keep_alive)),
    (("embedder",), lambda settings: parse_embedder_location(settings.embedder)),
    (("vectors", "vectors_collection"), lambda settings: choose_vectors(vector_options(settings))),
    (("qmd_command", "qmd_paths", "qmd_scope"), lambda settings: load_backend("qmd")(settings)),
    (("embedder_headers",), lambda settings: parse_headers(settings.embedder_headers)),
    (("embedder_prompts",), lambda settings: parse_prompts(settings.embedder_prompts)),
    (("search_weights",), lambda settings: parse_weights(settings.search_weights)),
    (("allowed_hosts", "cors_origins"), Origins),
    (("upstream",), lambda settings: check_upstream(settings)),
    (("upstreams", "upstream_keys", "upstream"), lambda settings: check_upstreams(settings)),
    (("research_private",), lambda settings: check_private_hosts(settings)),
    (("searxng",), lambda settings: check_web_address(settings.searxng)),
)


def find_problems(settings: Settings, changed: Collection[str], *, password: bool) -> dict[str, str]:
    """Return what would prevent the next start, by the first changed setting that may cause it.

    `password` says whether one is set, so that browsers can log in.
    """
    parts = (
        *_CHECKS,
        (("host", "require_key", "key"), lambda settings: check_browser_access(settings, password)),
    )
    wrong: dict[str, str] = {}
    for names, look in parts:
        touched = [name for name in names if name in changed]
        if not touched:
            continue
        try:
            look(settings)
        except HoldfastError as error:
            wrong.setdefault(touched[0], str(error))
    return wrong


def check_browser_access(settings: Settings, password: bool) -> None:
    """Refuse a change that would lock out the browser that makes it."""
    if password or not (settings.key or settings.require_key or not is_loopback(settings.host)):
        return
    raise ConfigError(
        lazy("Then browsers need a password, and there is none: this page could not be opened again."),
        hint=lazy("Set a password first."),
    )


def check_upstream(settings: Settings) -> None:
    if settings.upstream and not is_embedded(settings.upstream):
        parse_location(settings.upstream)


def check_upstreams(settings: Settings) -> None:
    if not settings.upstreams:
        return
    locations = parse_upstreams(", ".join(filter(None, (settings.upstream, settings.upstreams))))
    parse_keys(settings.upstream_keys, locations)
    for location in locations.values():
        if not is_embedded(location):
            parse_location(location)


def check_private_hosts(settings: Settings) -> None:
    # Imported late: it loads everything for fetching.
    from holdfast.research.fetch import AddressGuard

    AddressGuard.from_setting(settings.research_private, own_port=settings.port)


def check_web_address(address: str) -> None:
    parts = urlsplit(address)
    if address and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise ConfigError(
            lazy("{address!r} is no address.", address=address),
            hint=lazy("It is like http://127.0.0.1:8080."),
        )


router = APIRouter(prefix="/api/settings", tags=["Settings"])

# Where data is stored and which programs are run cannot be set on a page that is part of it.
_NOT_ON_PAGE = (
    "home", "store", "workspace", "s3_endpoint", "s3_region", "s3_key", "s3_secret", "s3_path_style",
    "vectors", "vectors_extension", "qmd_command", "qmd_paths",
)  # fmt: skip
# What opens folders of this machine, or the server itself, needs a login with the password.
_SESSION_ONLY = ("file_roots", "notes_paths", "models_dir", "embedded_model", "key")
# Which model servers are asked; a change is used for the next request.
_SERVERS = ("upstream", "upstream_key", "upstreams", "upstream_keys")
# Read by every command or applied at once; all others are read when the server starts.
_IMMEDIATE = ("model", "language", *_SERVERS)
_KINDS: Mapping[type, str] = {bool: "switch", int: "whole", float: "number", type(None): "share", str: "text"}
_WINDOWS = (4_096, 8_192, 16_384, 32_768)
_LEVELS = ("prune", "leave_out", "ahead", "summarise")

# One change at a time, since each reads what the previous one stored.
_change_lock = threading.Lock()

Share = Annotated[float | None, Field(gt=0, le=1)]


class PreviewRequest(RequestBody):
    """A preset, what differs from it, and the window to show."""

    preset: str | None = None
    level_1: Share = None
    recall_share: Share = None
    level_2: Share = None
    level_3_ahead: Share = None
    level_3: Share = None
    reserve: Annotated[int, Field(ge=0, le=10_000_000)] = 0
    window: Annotated[int, Field(ge=SMALLEST, le=10_000_000)] | None = None


@router.get("")
async def list_settings(
    request: Request, language: Annotated[Language | None, Query()] = None
) -> dict[str, Any]:
    """List every setting: value, default and source, what it is for, and whether it can be set here.

    `pending`: it is set, but the server uses `in_force` until it is restarted.
    """
    require_admin(request)
    speak(language or language_of(request))
    return await asyncio.to_thread(serialize_settings, request)


@router.put("", response_model=None)
async def change_settings(
    request: Request, wanted: Annotated[dict[str, Any], Body()]
) -> dict[str, Any] | JSONResponse:
    """Set these settings, and reset those that are null; all of them or none.

    A refusal has `wrong`: the problem with each setting.
    """
    require_admin(request)
    speak(language_of(request))
    return await put_settings(request, wanted)


async def put_settings(request: Request, wanted: Mapping[str, Any]) -> dict[str, Any] | JSONResponse:
    """Apply changes of an administrator; return all settings, or the refusal with what is wrong."""
    store = engine_of(request).store
    password = await store.run(store.sessions.password, Scope().user) is not None
    wrong = await asyncio.to_thread(apply_changes, request, wanted, password)
    if wrong:
        reasons = " ".join(f"{name}: {why}" for name, why in wrong.items())
        return JSONResponse({"error": f"Nothing was changed. {reasons}", "wrong": wrong}, 400)
    if any(name in wanted for name in _SERVERS):
        after = await asyncio.to_thread(next_config, request)
        engine_of(request).upstreams.adopt(build_upstreams(after.settings))
    return await asyncio.to_thread(serialize_settings, request)


@router.get("/presets")
async def list_presets(request: Request) -> dict[str, Any]:
    """List the presets in words and numbers; `current` is the one that is set."""
    speak(language_of(request))
    after = await asyncio.to_thread(next_config, request)
    rows = [preset_named(name) for name in PRESETS]
    return {
        "current": after.settings.preset,
        "presets": [
            {
                "name": preset.name,
                "title": translate(preset.title),
                "description": preset.description,
                "levels": asdict(preset.levels),
                "shares_of": preset.shares_of,
                "prune_every_turn": preset.prune_every_turn,
            }
            for preset in rows
        ],
    }


@router.post("/preview")
async def preview_windows(request: Request, wanted: PreviewRequest) -> dict[str, Any]:
    """Return how windows are divided now, and how they would be; nothing is changed.

    Thresholds are tokens of history if nothing else is in the window; null is a level that is never reached.
    """
    running: Config = request.app.state.config
    given = wanted.model_dump(exclude={"window"}, exclude_none=True)
    bare = {name: field_named(name).default for name in GROUPS["window"]}
    try:
        after = preset_from(replace(running.settings, **{**bare, "preset": running.settings.preset, **given}))
    except ConfigError as error:
        raise BadRequest(error.message, hint=error.hint) from None
    before = preset_from(running.settings)
    windows = [wanted.window] if wanted.window else _WINDOWS
    return {
        "before": before.name,
        "after": after.name,
        "windows": [
            {
                "window": window,
                "before": serialize_budget(before, window),
                "after": serialize_budget(after, window),
            }
            for window in windows
        ],
    }


def serialize_settings(request: Request) -> dict[str, Any]:
    running: Config = request.app.state.config
    after = next_config(request)
    helps = {row["name"]: row["help"] for row in after.shown()}
    rows = [
        {**serialize_setting(request, name, running, after), "help": helps[name]} for name in setting_names()
    ]
    return {
        "settings": rows,
        "groups": list(GROUPS),
        "restart": {
            "needed": any(row["pending"] for row in rows),
            "possible": request.app.state.restart is not None,
            "started": request.app.state.started,
        },
    }


def next_config(request: Request) -> Config:
    """Return the settings as they will be after the next start."""
    running: Config = request.app.state.config
    return running.with_page(set_on_page(running.settings.home))


def setting_names() -> list[str]:
    ordered = [name for names in GROUPS.values() for name in names]
    known = list(Settings.__dataclass_fields__)
    return [name for name in ordered if name in known] + [name for name in known if name not in ordered]


def serialize_setting(request: Request, name: str, running: Config, after: Config) -> dict[str, Any]:
    item, source = field_named(name), after.sources[name]
    value, now = getattr(after.settings, name), getattr(running.settings, name)
    pending = value != now and name not in _IMMEDIATE
    choices = item.metadata["choices"]
    return {
        "name": name,
        "group": group_of(name),
        "everyday": name in EVERYDAY,
        "value": shown_value(name, value),
        "default": shown_value(name, item.default),
        "source": source,
        "set_by": source_location(name, after),
        "kind": "choice" if choices else _KINDS.get(type(item.default), "path"),
        "choices": list(choices),
        "secret": item.metadata["secret"],
        "read_only": bool(why_read_only(request, name, after)),
        "sign_in": needs_session(request, name),
        "takes_effect": "now" if name in _IMMEDIATE else "restart",
        "pending": pending,
        "in_force": shown_value(name, now) if pending else None,
    }


def source_location(name: str, config: Config) -> str | None:
    match config.sources[name]:
        case "file":
            return str(config.settings.home / FILE)
        case "environment":
            return f"HOLDFAST_{name.upper()}"
        case "command line" as source:
            return source
        case _:
            return None


def why_read_only(request: Request, name: str, config: Config) -> str:
    """Return why a setting cannot be set here; empty if it can."""
    if name in _NOT_ON_PAGE:
        return f"It can only be set in {FILE}, the environment or on the command line."
    if config.sources[name] in ("environment", "command line"):
        return f"It is set by {source_location(name, config)}, which comes before the page."
    if needs_session(request, name):
        return f"It takes the password: sign in on the page, or use {FILE} or the environment."
    return ""


def needs_session(request: Request, name: str) -> bool:
    how = access_of(request).how
    return how != "session" and name in _SESSION_ONLY and not (name == "key" and how == "key")


def apply_changes(request: Request, wanted: Mapping[str, Any], password: bool) -> dict[str, str]:
    """Store the changes if they are valid; return the problems by setting."""
    running: Config = request.app.state.config
    with _change_lock:
        after = next_config(request)
        wrong: dict[str, str] = {}
        values = dict(set_on_page(running.settings.home))
        for name, value in wanted.items():
            if why := problem_with(request, name, value, after):
                wrong[name] = why
            elif value is None:
                values.pop(name, None)
            else:
                converted_value = converted(name, value, "page")
                values[name] = (
                    str(converted_value)
                    if isinstance(converted_value, Path)
                    else ""
                    if converted_value is None
                    else converted_value
                )
        if not wrong:
            wrong = find_problems(running.with_page(values).settings, set(wanted), password=password)
        if not wrong:
            keep_page(running.settings.home, values)
    return wrong


def problem_with(request: Request, name: str, value: Any, config: Config) -> str:
    """Return what is wrong with a value by itself; empty if nothing is."""
    if name not in Settings.__dataclass_fields__:
        return "There is no such setting. GET /api/settings lists all."
    if why := why_read_only(request, name, config):
        return why
    if isinstance(value, str) and HIDDEN in value:
        return "This is what stands in place of a secret; give the whole value."
    try:
        if value is not None:
            converted(name, value, "page")
    except HoldfastError as error:
        return str(error)
    return ""


def serialize_budget(preset: Preset, window: int) -> dict[str, Any]:
    budget: Budget = preset.budget(window)
    thresholds = budget.thresholds(0)
    return {
        "reserve": budget.reserve,
        "profile": budget.profile,
        "beginning": budget.beginning,
        "recalled": budget.recalled,
        "summary": budget.summary,
        "research": budget.research,
        "history": budget.history,
        "room": budget.room,
        "thresholds": {
            level: None if (tokens := getattr(thresholds, level)) == NEVER else tokens for level in _LEVELS
        },
    }
