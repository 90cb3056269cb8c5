"""Which model servers may be told what is remembered: those of this machine and of private networks.

Others only when the user says so for that server. Decides by the address alone: no name is looked up, since
that would ask somebody else.
"""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from holdfast.errors import ConfigError

# Names that never leave a local network.
_LOCAL_ENDINGS = (".local", ".lan", ".home.arpa", ".internal", ".localhost")


# A host, and a port where one is named.
_Address = tuple[str, int | None]


@dataclass(frozen=True, slots=True)
class MemoryGate:
    """`said` has what the user decided, by host and port; a host without one stands for all of its ports."""

    said: Mapping[_Address, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> "MemoryGate":
        """From the setting: `https://api.example.com=on, 192.168.1.5:11434=off`."""
        said: dict[_Address, bool] = {}
        for entry in filter(None, (part.strip() for part in text.split(","))):
            address, _, word = entry.rpartition("=")
            place = _parse_address(address if "//" in address else f"//{address}")
            if word.strip() not in ("on", "off") or place is None:
                raise ConfigError(
                    f"'{entry}' does not say which server may be told memories.",
                    hint="Write address=on or address=off, like https://api.example.com=on.",
                )
            said[place] = word.strip() == "on"
        return cls(said)

    def lets_pass(self, location: str) -> bool:
        """Whether memories may go to the server at this location. What has no address runs inside of us."""
        if "//" not in location:
            return True
        place = _parse_address(location)
        if place is None:
            return False
        host, _ = place
        return self.said.get(place, self.said.get((host, None), is_local_host(host)))


def _parse_address(address: str) -> _Address | None:
    try:
        parts = urlsplit(address.strip())
        port = parts.port
    except ValueError:
        return None
    return (parts.hostname, port) if parts.hostname else None


def is_local_host(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        # A name of one word is found on the local network only.
        return "." not in host or host.endswith(_LOCAL_ENDINGS)
    return address.is_loopback or address.is_private or address.is_link_local
