"""Under which names we are called, and by which pages: a page on the web must not pass for this machine.

Knows headers and names. Whether a page may read our answers is told to browsers by CORS, as it says here.
"""

import ipaddress
import re
import socket
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import urlsplit

from holdfast.config import Settings
from holdfast.errors import BadRequest, ConfigError

# What containers and virtual machines call the machine they run on.
_HOST_NAMES = (
    "host.docker.internal", "gateway.docker.internal", "host.containers.internal", "host.lima.internal",
)  # fmt: skip
# The schemes of programs that show pages of their own.
_APPS = ("app", "file", "tauri", "vscode-webview", "vscode-file", "capacitor")
_EVERYBODY = re.compile(r"(https?://)?\*+(:.*)?|\*+://.*")


def is_ours(name: str) -> bool:
    """Whether a client on this machine or in a container on it may call us by this name.

    Endings such as `.local` and `.internal` prove nothing: whoever answers a network's questions for names
    can point any of them here.
    """
    return is_loopback(name) or name in _HOST_NAMES or name in _own_names()


@lru_cache
def _own_names() -> frozenset[str]:
    own = socket.gethostname().lower()
    return frozenset((own, f"{own.partition('.')[0]}.local"))


@lru_cache
def is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Origins:
    """The names and pages of the settings beside those of this machine."""

    def __init__(self, settings: Settings) -> None:
        self._hosts = tuple(name.lower() for name in _several(settings.allowed_hosts))
        patterns = [_pattern(origin) for origin in _several(settings.cors_origins)]
        self.pages = "|".join(patterns)
        self._only_here = is_loopback(settings.host)

    def check(self, headers: Mapping[str, str], address: str) -> None:
        """A page on the web can reach this machine under a name of its own, so names are not believed.

        Where others can reach us too, they need a key, which no page has: there names matter if some are set.
        """
        if not self._hosts and not (self._only_here and is_loopback(address)):
            return
        host, origin = headers.get("host", ""), headers.get("origin", "")
        if host and not self._is_known(_name_in(f"//{host}")):
            raise BadRequest(
                f"this server does not answer to the name {host!r}",
                hint="Use 127.0.0.1, or add the name to allowed_hosts.",
            )
        if origin and not self._may_come_from(origin):
            raise BadRequest(
                f"pages of {origin} may not use this server", hint="Add them to cors_origins if they should."
            )

    def is_certain(self, headers: Mapping[str, str]) -> bool:
        """Whether we were called by a configured name, or by one that nobody else can point at this machine.

        A hostile network can answer for our host name and for those that containers use.
        """
        host = headers.get("host", "")
        name = _name_in(f"//{host}")
        return not host or is_loopback(name) or self._is_configured(name)

    def is_named(self, origin: str) -> bool:
        """Whether the settings name this page."""
        return bool(self.pages) and re.fullmatch(self.pages, origin) is not None

    def _may_come_from(self, origin: str) -> bool:
        if self.is_named(origin):
            return True
        return origin.partition(":")[0] in _APPS or self._is_known(_name_in(origin))

    def _is_known(self, name: str) -> bool:
        return is_ours(name) or self._is_configured(name)

    def _is_configured(self, name: str) -> bool:
        return any(name == host or (host.startswith(".") and name.endswith(host)) for host in self._hosts)


def is_from_page(headers: Mapping[str, str]) -> bool:
    """Whether a browser says that a page made this request. Programs say neither of both."""
    return "origin" in headers or "sec-fetch-site" in headers


def is_navigation(headers: Mapping[str, str]) -> bool:
    """Whether a browser shows the answer in a window of its own, where no other page can read it."""
    return headers.get("sec-fetch-mode") == "navigate" and "origin" not in headers


def is_browser(headers: Mapping[str, str]) -> bool:
    """Whether it may be a browser: over plain HTTP, those say of some requests nothing but who they are."""
    language = headers.get("accept-language", "*")
    return (
        is_from_page(headers)
        or "referer" in headers
        or language != "*"
        or "mozilla/" in headers.get("user-agent", "").lower()
    )


def is_same_origin(headers: Mapping[str, str]) -> bool:
    """Whether a browser says that its request was made by a page of ours."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        # "none": a person typed the address.
        return site in ("same-origin", "none")
    origin = headers.get("origin", "")
    return bool(origin) and origin.partition("://")[2].lower() == headers.get("host", "").lower()


def _several(value: str) -> list[str]:
    return [one.strip() for one in value.split(",") if one.strip()]


def _pattern(origin: str) -> str:
    """An origin as a regular expression; a star stands for any name."""
    if _EVERYBODY.fullmatch(origin):
        raise ConfigError(
            f"cors_origins would let every page on the web in ({origin}).",
            hint="Name the pages: https://chat.example.com, app://obsidian.md, vscode-webview://*.",
        )
    return re.escape(origin.rstrip("/")).replace(r"\*", r"[^/@]*")


def _name_in(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").lower()
    except ValueError:
        return ""
