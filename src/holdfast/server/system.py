"""The set-up and the server itself over REST: progress of the set-up, addresses, restart.

Also what clients in Docker containers need: an address that they can reach, and a key.
"""

import asyncio
import socket
import struct
import sys
import time
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.requests import Request

from holdfast.config import Config
from holdfast.errors import ConfigError, Conflict, HoldfastError
from holdfast.i18n import Language, lazy
from holdfast.messages import Scope
from holdfast.server.endpoint import RequestBody, engine_of, require_admin, require_memory, scope_of
from holdfast.server.guard import is_loopback
from holdfast.server.memories import remembering_of
from holdfast.server.profiles import SetupForm, setup_answers
from holdfast.store import Key, Store

# What containers call the machine they run on.
DOCKER_HOST = "host.docker.internal"

_KEY_NAME = "docker"
_BRIDGE = "docker0"
# Linux: asks the kernel for the address of a network interface.
_GET_ADDRESS = 0x8915


@dataclass(frozen=True, slots=True)
class DockerKey:
    """The key of containers. The secret is empty if the key existed before."""

    key: Key
    secret: str = ""


def bridge_address() -> str | None:
    """Return where containers reach this machine; None if by loopback, as on macOS and Windows."""
    if sys.platform != "linux":
        return None
    address = interface_address(_BRIDGE)
    if address is None:
        raise ConfigError(
            lazy("There is no {bridge} here, Docker's usual way to this machine.", bridge=_BRIDGE),
            hint=lazy("Start Docker, or name the address that containers reach with --host."),
        )
    return address


def interface_address(interface: str) -> str | None:
    """Return the IPv4 address of a network interface on Linux; None if there is none."""
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        asked = struct.pack("256s", interface.encode()[:15])
        try:
            answer = fcntl.ioctl(probe.fileno(), _GET_ADDRESS, asked)
        except OSError:
            return None
    return socket.inet_ntoa(answer[20:24])


def docker_key(store: Store) -> DockerKey:
    """Return the key for containers, which may name the people they speak for; it is created if missing."""
    key = next((key for key in store.keys.all() if key.name == _KEY_NAME and key.forwarder), None)
    return DockerKey(key) if key else DockerKey(*store.keys.create(Key(name=_KEY_NAME, forwarder=True)))


def docker_options(port: int, secret: str) -> list[str]:
    """Return the options with which an Open WebUI container finds us and names its people."""
    return [
        f"--add-host={DOCKER_HOST}:host-gateway",
        f"-e OPENAI_API_BASE_URL=http://{DOCKER_HOST}:{port}/v1",
        f"-e OPENAI_API_KEY={secret}",
        "-e ENABLE_FORWARD_USER_INFO_HEADERS=true",
    ]


router = APIRouter(prefix="/api/system", tags=["Server"])

# Numbered from 1; 0 is before the first.
STEPS = ("welcome", "profile", "password", "network", "models", "summary")

# Each is a setting of its own, so that one tab does not overwrite what another stored.
_SETUP_DEFAULTS = {"step": 0, "completed": None, "skipped": None}
_ANY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104 - compared, not listened on
# Seconds before a restart, so that the response is sent first.
_RESTART_DELAY = 0.2


class SetupStep(RequestBody):
    step: Annotated[int, Field(ge=0, le=len(STEPS))]


class SetupCompletion(RequestBody):
    """Answers that were not stored before; `skipped` if the set-up was skipped."""

    ai_profile: Annotated[SetupForm | None, Field(alias="aiProfile")] = None
    skipped: bool = False


@router.get("/setup-status")
async def show_setup(request: Request) -> dict[str, Any]:
    """Return the progress of the set-up. `needed`: it was neither done nor skipped, and nothing was said yet.

    `aiProfile` has the answers that are in the profile.
    """
    store = engine_of(request).store
    state = await store.run(setup_state, store)
    answers, trouble = await load_answers(request)
    return {
        **state,
        "steps": list(STEPS),
        "needed": await store.run(is_setup_needed, store),
        "aiProfile": answers,
        "trouble": trouble,
    }


@router.put("/setup-step")
async def save_step(request: Request, wanted: SetupStep) -> dict[str, Any]:
    """Store the step that the person is at, so that they can continue there."""
    require_admin(request)
    return await save_setup(request, step=wanted.step)


@router.post("/setup-complete")
async def complete_setup(
    request: Request,
    completion: SetupCompletion,
    language: Annotated[Language, Query()] = "en",
) -> dict[str, Any]:
    """Mark the set-up as done or skipped: from now on the start page is the chat."""
    require_admin(request)
    if completion.ai_profile is not None:
        profile, scope = remembering_of(request).profile, scope_of(request)
        given = completion.ai_profile.model_dump(by_alias=True, exclude_none=True)
        await asyncio.to_thread(profile.fill, scope, given, language)
    now = time.time()
    if completion.skipped:
        return await save_setup(request, skipped=now)
    return await save_setup(request, step=len(STEPS), completed=now)


@router.get("/network")
async def show_network(request: Request) -> dict[str, Any]:
    """Return where the server listens, which addresses clients use, and whether they need a key."""
    require_admin(request)
    config: Config = request.app.state.config
    settings, store = config.settings, engine_of(request).store
    here = request.scope["server"] or (settings.host, settings.port)
    listening = request.app.state.listening or [here]
    port = listening[0][1]
    return {
        "listening": [f"{host}:{port}" for host, port in listening],
        "addresses": [f"http://{name}:{port}" for name in own_names(host for host, _ in listening)],
        "only_here": all(is_loopback(host) for host, _ in listening),
        "key_needed": bool(settings.require_key or settings.key or not is_loopback(listening[0][0])),
        "password": await store.run(store.sessions.password, Scope().user) is not None,
        "keys": len(await store.run(store.keys.all)),
        "docker": f"http://{DOCKER_HOST}:{port}",
    }


@router.post("/restart", status_code=202)
async def restart(request: Request) -> dict[str, Any]:
    """Restart the server with the settings as they are set; running answers get a moment to finish."""
    require_admin(request)
    again = request.app.state.restart
    if again is None:
        raise Conflict(
            lazy("this server was not started by `holdfast serve`"),
            hint=lazy("Restart the program that started it."),
        )
    asyncio.get_running_loop().call_later(_RESTART_DELAY, again)
    return {"restarting": True}


def is_setup_needed(store: Store) -> bool:
    state = setup_state(store)
    if state["completed"] or state["skipped"]:
        return False
    return not store.log.list_used_since(0.0, limit=1)


def setup_state(store: Store) -> dict[str, Any]:
    return {name: store.settings.get(f"setup.{name}", before) for name, before in _SETUP_DEFAULTS.items()}


async def save_setup(request: Request, **changes: Any) -> dict[str, Any]:
    store = engine_of(request).store

    for name, value in changes.items():
        await store.run(store.settings.set, f"setup.{name}", value)
    return await store.run(setup_state, store)


async def load_answers(request: Request) -> tuple[dict[str, Any] | None, str | None]:
    """Return the set-up's answers from the profile, or None and the reason why there is none."""
    try:
        require_memory(request)
        profile, scope = remembering_of(request).profile, scope_of(request)
        note = await asyncio.to_thread(profile.show, scope)
        return setup_answers(note.text), None
    except HoldfastError as error:
        return None, str(error)


def own_names(hosts: Any) -> list[str]:
    """Return the host names for URLs; a server that listens everywhere also has this machine's name."""
    names: list[str] = []
    for host in hosts:
        here = ["127.0.0.1", socket.gethostname()] if host in _ANY_ADDRESS else [host]
        names += [f"[{name}]" if ":" in name else name for name in here]
    return list(dict.fromkeys(names))
