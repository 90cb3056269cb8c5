"""Who may come in: loopback only unless there is a key, and no web page that pretends to be this machine.

Knows requests, nothing of conversations.
"""

import hmac
import ipaddress
import socket
from collections.abc import Mapping
from urllib.parse import urlsplit

from holdfast.config import Settings
from holdfast.errors import BadRequest, ConfigError, TooLarge, Unauthorized

# Names that no web page can point at this machine from outside: the containers' name for their host, names of
# the local network, and the schemes of programs that show pages of their own.
_LOCAL_NAMES = (".internal", ".local")
_APPS = ("app", "file", "tauri", "vscode-webview", "vscode-file", "capacitor")


def is_ours(name: str) -> bool:
    """Whether a client on this machine or in a container on it may call us by this name."""
    return is_loopback(name) or name.endswith(_LOCAL_NAMES) or name == socket.gethostname().lower()


def is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_address(settings: Settings) -> None:
    """Refuses to listen where others could reach us, unless they need a key."""
    if not is_loopback(settings.host) and not settings.key:
        raise ConfigError(
            f"Listening on {settings.host} would let anyone on the network read your conversations.",
            hint="Set a key (HOLDFAST_KEY=… or `key` in holdfast.toml), or listen on 127.0.0.1.",
        )


class Guard:
    """Checks the head of every request. One static key serves everybody who may come in."""

    def __init__(self, settings: Settings) -> None:
        self._key = settings.key
        self._local = is_loopback(settings.host)
        self._max_bytes = settings.max_request_mb * 1_000_000

    def check(self, headers: Mapping[str, str]) -> None:
        self._check_host(headers)
        self._check_key(headers)
        length = headers.get("content-length", "")
        if length.isdigit():
            self.check_size(int(length))

    def check_size(self, size: int) -> None:
        if size > self._max_bytes:
            raise TooLarge(
                f"the request is larger than {self._max_bytes // 1_000_000} MB",
                hint="Send less, or raise max_request_mb.",
            )

    def _check_host(self, headers: Mapping[str, str]) -> None:
        """A page on the web can reach this address under a name of its own, so names are not believed."""
        if not self._local:
            return
        host, origin = headers.get("host", ""), headers.get("origin", "")
        if host and not is_ours(_name_in(f"//{host}")):
            raise BadRequest(f"this server does not answer to the name {host!r}", hint="Use 127.0.0.1.")
        if origin and origin.partition(":")[0] not in _APPS and not is_ours(_name_in(origin)):
            raise BadRequest(f"pages of {origin} may not use this server")

    def _check_key(self, headers: Mapping[str, str]) -> None:
        if not self._key:
            return
        given = headers.get("authorization", "").removeprefix("Bearer ").strip() or headers.get(
            "x-api-key", ""
        )
        if not hmac.compare_digest(given.encode(), self._key.encode()):
            raise Unauthorized(
                "a key is needed here", hint="Send it as `Authorization: Bearer KEY`.", code="invalid_api_key"
            )


def _name_in(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
