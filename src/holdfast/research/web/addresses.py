"""Decides which addresses may be fetched: the public web, allowed private networks, and robots.txt.

Host names are not judged, since anybody can point a name anywhere: the guard checks the IP address that a
connection is really made to. robots.txt is read as RFC 9309 defines it: the longest matching rule decides,
with `*` and `$`, which the parser in Python's library does not support, but Protego does.
"""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from protego import Protego
from yarl import URL

from holdfast.errors import ConfigError, FetchFailed
from holdfast.i18n import gettext as _

_Number = IPv4Address | IPv6Address
_Network = IPv4Network | IPv6Network
# A network, and the one port in it that is meant; 0 for all of them.
_AllowedNetwork = tuple[_Network, int]

# IPv4 that is not the public web: what the registry of special addresses lists, multicast, the future, and
# one address that looks public but is the host of a virtual machine in a large cloud. The lists of Python's
# own `ipaddress` change from version to version.
_SPECIAL = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
        "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
    )
)  # fmt: skip
# Of IPv6 only this is handed out to the public web, except what tunnels, tests and examples use.
_PUBLIC_V6 = IPv6Network("2000::/3")
_SPECIAL_V6 = tuple(
    IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)
# A translator makes IPv4 of the last four bytes.
_TRANSLATED = IPv6Network("64:ff9b::/96")
_EVERYWHERE: tuple[_AllowedNetwork, ...] = ((IPv4Network("0.0.0.0/0"), 0), (IPv6Network("::/0"), 0))

_ODD = re.compile(r"[\x00-\x20\x7f\\]")
_NUMERIC = re.compile(r"(?:\d+|0x[0-9a-f]*)", re.IGNORECASE)
_PORT = re.compile(r"(?P<host>\[[^\]]*\]|[^:\[\]]+):(?P<port>\d{1,5})")


@dataclass(frozen=True, slots=True)
class AddressGuard:
    """`private` are the networks outside the public web that may be reached; `own_port` never may."""

    private: tuple[_AllowedNetwork, ...] = ()
    own_port: int = 0

    @classmethod
    def from_setting(cls, text: str, *, own_port: int = 0) -> "AddressGuard":
        """Read the setting: `off`, `on`, or places like `192.168.1.0/24, 10.0.0.5:8080, [::1]:8080`."""
        word = text.strip().lower()
        if word in ("", "off"):
            return cls(own_port=own_port)
        if word == "on":
            return cls(_EVERYWHERE, own_port)
        places = tuple(parse_network(part.strip()) for part in text.split(",") if part.strip())
        return cls(places, own_port)

    @classmethod
    def allow_all(cls) -> "AddressGuard":
        """Return a guard for a server that the user configured."""
        return cls(_EVERYWHERE)

    def allows(self, host: str, port: int) -> bool:
        """Whether a connection may be made to this IP address."""
        try:
            number = unwrap_ipv4(ip_address(host))
        except ValueError:
            return False
        if is_public(number):
            return True
        if self.own_port and port == self.own_port:
            return False
        return any(number in network and wanted in (0, port) for network, wanted in self.private)


def parse_address(text: str) -> URL:
    """Normalise a web address; FetchFailed says what is wrong with it."""
    text = text.strip()
    if _ODD.search(text):
        raise bad_address_error(_("it has characters that no address has"))
    try:
        url = URL(text)
        # Reading these is what finds bad ports and hosts.
        host, port, user, password = url.raw_host, url.port, url.user, url.password
    except (ValueError, TypeError):
        raise bad_address_error(_("it cannot be read")) from None
    if url.scheme not in ("http", "https"):
        raise bad_address_error(_("only http and https are fetched"))
    if user is not None or password is not None:
        raise bad_address_error(_("it has a user or a password in it"))
    if not host or not port or "%" in host:
        raise bad_address_error(_("it names no server"))
    if is_odd_number(host):
        raise bad_address_error(_("its server is a number in an odd spelling"))
    return url.with_fragment(None) if url.fragment else url


def host_name(url: URL) -> str:
    """Return the server's name without a trailing dot."""
    return (url.raw_host or "").rstrip(".").lower()


def bad_address_error(why: str) -> FetchFailed:
    return FetchFailed(_("this is no address to fetch: {why}").format(why=why))


def is_odd_number(host: str) -> bool:
    """Whether a host is an IP address in an unusual notation (2130706433, 0x7f.1, 127.1), likely a trick."""
    if not _NUMERIC.fullmatch(host.rstrip(".").rpartition(".")[2]):
        return False
    try:
        return str(IPv4Address(host)) != host
    except ValueError:
        return True


def unwrap_ipv4(number: _Number) -> _Number:
    """Return the IPv4 address inside a mapped or translated IPv6 address."""
    if isinstance(number, IPv6Address):
        if number.ipv4_mapped is not None:
            return number.ipv4_mapped
        if number in _TRANSLATED:
            return IPv4Address(int(number) & 0xFFFF_FFFF)
    return number


def is_public(number: _Number) -> bool:
    if isinstance(number, IPv4Address):
        return not any(number in network for network in _SPECIAL)
    inside = number in _PUBLIC_V6 and number.scope_id is None
    return inside and not any(number in network for network in _SPECIAL_V6)


def parse_network(text: str) -> _AllowedNetwork:
    match = _PORT.fullmatch(text)
    host, port = (match["host"], int(match["port"])) if match else (text, 0)
    try:
        return ip_network(host.strip("[]"), strict=False), port
    except ValueError:
        raise ConfigError(
            f"research_private names a place that cannot be read: {text}.",
            hint="Write off, on, or addresses and networks like 192.168.1.0/24, 10.0.0.5:8080.",
        ) from None


# As much of a line of robots.txt as is looked at.
_LONGEST = 2_000
# A line that names a robot, in every spelling that Protego takes, and the robot's product token.
_AGENT = re.compile(r"\s*user(?:-|\s+)?agent(?:\s*:|\s)\s*(\*|[a-z_-]*)", re.IGNORECASE)


class RobotsRules:
    """What one robot may read of one site. Without any rule, everything.

    Protego compares names of robots by their beginning, and copies each rule for each name of a group, which
    takes quadratic time where a site names thousands. So it sees three names at the most: ours, `*` for
    everybody, and `-` for all others.
    """

    def __init__(self, text: str, robot: str) -> None:
        self._robot = robot.lower()
        lines = (self._simplify(line[:_LONGEST]) for line in text.removeprefix("\ufeff").splitlines())
        self._rules = Protego.parse("\n".join(lines))

    def _simplify(self, line: str) -> str:
        agent = _AGENT.match(line)
        if agent is None:
            return line
        name = agent[1].lower()
        return f"User-agent: {name if name in (self._robot, '*') else '-'}"

    def allows(self, path: str) -> bool:
        """Whether this path, with its query, may be read."""
        # With a host before it, a path that begins with two slashes is not taken for one.
        return self._rules.can_fetch(f"http://site{path}", self._robot)


ALLOW_ALL = RobotsRules("", "*")
DISALLOW_ALL = RobotsRules("User-agent: *\nDisallow: /", "*")
