"""What people with a client in a container need: an address it can reach, and a key for it.

Knows Docker's usual names. It starts no container and needs no rights.
"""

import socket
import struct
import sys
from dataclasses import dataclass

from holdfast.errors import ConfigError
from holdfast.store import Key, Store

# What containers call the machine they run on.
HOST = "host.docker.internal"

_NAME = "docker"
_BRIDGE = "docker0"
# Linux: asks the kernel for the address of a network interface.
_GET_ADDRESS = 0x8915


@dataclass(frozen=True, slots=True)
class Pass:
    """A container's key. The secret is empty where it was made, and shown, before."""

    key: Key
    secret: str = ""


def bridge_address() -> str | None:
    """Where containers reach this machine; None where they reach it by loopback, as on macOS and Windows."""
    if sys.platform != "linux":
        return None
    address = address_of(_BRIDGE)
    if address is None:
        raise ConfigError(
            f"There is no {_BRIDGE} here, Docker's usual way to this machine.",
            hint="Start Docker, or name the address that containers reach with --host.",
        )
    return address


def address_of(interface: str) -> str | None:
    """The IPv4 address of a network interface of Linux; None if there is none."""
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        asked = struct.pack("256s", interface.encode()[:15])
        try:
            answer = fcntl.ioctl(probe.fileno(), _GET_ADDRESS, asked)
        except OSError:
            return None
    return socket.inet_ntoa(answer[20:24])


def pass_for_docker(store: Store) -> Pass:
    """The key for containers, which speaks for their people: the one there is, or a new one."""
    there = next((key for key in store.keys.all() if key.name == _NAME and key.forwarder), None)
    return Pass(there) if there else Pass(*store.keys.create(Key(name=_NAME, forwarder=True)))


def options_for(port: int, secret: str) -> list[str]:
    """What a container with Open WebUI is started with, to find us and to say for whom it asks."""
    return [
        f"--add-host={HOST}:host-gateway",
        f"-e OPENAI_API_BASE_URL=http://{HOST}:{port}/v1",
        f"-e OPENAI_API_KEY={secret}",
        "-e ENABLE_FORWARD_USER_INFO_HEADERS=true",
    ]
