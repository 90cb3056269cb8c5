"""Authentication and authorisation of every request.

`RequestGuard.admit` turns a request into an `Access`: programs come with a key, browsers with a session
cookie, and on a loopback address no credentials are needed unless the settings require them. Here are also
the checks of Host and Origin (`Origins`), the token of our own pages (`PageToken`), rate limits, and users
that a client forwards.
"""

import hmac
import ipaddress
import logging
import re
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection
from starlette.responses import Response

from holdfast.config import Settings
from holdfast.errors import BadRequest, ConfigError, Forbidden, StoreError, TooLarge, TooMany, Unauthorized
from holdfast.events import Events
from holdfast.i18n import lazy
from holdfast.messages import Scope
from holdfast.store import Key, Store
from holdfast.store.access import digest_of, is_stale, is_token, new_secret

AccessMethod = Literal["nobody", "here", "key", "session"]


@dataclass(frozen=True, slots=True)
class Access:
    """Who sent a request, and what they may do. With an empty project, the client may name one."""

    how: AccessMethod = "nobody"
    user: str = "default"
    project: str = ""
    admin: bool = False
    off: bool = False
    memory: bool = True
    # The id of the key that was used; empty for the one in the settings.
    key: str = ""
    # Whether messages may reference files on this machine.
    files: bool = False


ANONYMOUS = Access()


def access_of(caller: HTTPConnection) -> Access:
    """Return what the guard found out about a request."""
    access = caller.state.access
    assert isinstance(access, Access)
    return access


# What containers and virtual machines call the machine they run on.
_HOST_NAMES = (
    "host.docker.internal", "gateway.docker.internal", "host.containers.internal", "host.lima.internal",
)  # fmt: skip
# URL schemes of desktop programs that show pages of their own.
_APP_SCHEMES = ("app", "file", "tauri", "vscode-webview", "vscode-file", "capacitor")
_ANY_ORIGIN = re.compile(r"(https?://)?\*+(:.*)?|\*+://.*")


def is_own_host(name: str) -> bool:
    """Whether a client on this machine, or in a container on it, may call the server by this name.

    Endings such as `.local` and `.internal` prove nothing: whoever answers a network's name queries can point
    any of them here.
    """
    return is_loopback(name) or name in _HOST_NAMES or name in own_host_names()


@lru_cache
def own_host_names() -> frozenset[str]:
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
    """The host names and page origins that are accepted: those of this machine and of the settings."""

    def __init__(self, settings: Settings) -> None:
        self._hosts = tuple(name.lower() for name in split_list(settings.allowed_hosts))
        patterns = [origin_pattern(origin) for origin in split_list(settings.cors_origins)]
        self.pages = "|".join(patterns)
        self._only_here = is_loopback(settings.host)

    def check(self, headers: Mapping[str, str], address: str) -> None:
        """Refuse unknown host names and origins, because a page on the web can point a name of its own here.

        Where other machines can reach the server, a key is needed, which no page has; there, names are only
        checked if `allowed_hosts` is set.
        """
        if not self._hosts and not (self._only_here and is_loopback(address)):
            return
        host, origin = headers.get("host", ""), headers.get("origin", "")
        if host and not self._allows_host(host_in(f"//{host}")):
            raise BadRequest(
                lazy("this server does not answer to the name {host!r}", host=host),
                hint=lazy("Use 127.0.0.1, or add the name to allowed_hosts."),
            )
        if origin and not self._allows_origin(origin):
            raise BadRequest(
                lazy("pages of {origin} may not use this server", origin=origin),
                hint=lazy("Add them to cors_origins if they should."),
            )

    def is_trusted_host(self, headers: Mapping[str, str]) -> bool:
        """Whether the Host header is a configured name, or one that nobody else can point at this machine.

        A hostile network can answer for our host name and for the names that containers use.
        """
        host = headers.get("host", "")
        name = host_in(f"//{host}")
        return not host or is_loopback(name) or self._is_configured_host(name)

    def is_configured_origin(self, origin: str) -> bool:
        """Whether the settings name this origin."""
        return bool(self.pages) and re.fullmatch(self.pages, origin) is not None

    def _allows_origin(self, origin: str) -> bool:
        if self.is_configured_origin(origin):
            return True
        return is_app_origin(origin) or self._allows_host(host_in(origin))

    def _allows_host(self, name: str) -> bool:
        return is_own_host(name) or self._is_configured_host(name)

    def _is_configured_host(self, name: str) -> bool:
        return any(name == host or (host.startswith(".") and name.endswith(host)) for host in self._hosts)


def is_app_origin(origin: str) -> bool:
    """Whether a desktop program says that a page of its own made this request."""
    return origin.partition(":")[0] in _APP_SCHEMES


def is_json(headers: Mapping[str, str]) -> bool:
    return headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


def is_from_page(headers: Mapping[str, str]) -> bool:
    """Whether a browser says that a page made this request; programs send neither header."""
    return "origin" in headers or "sec-fetch-site" in headers


def is_navigation(headers: Mapping[str, str]) -> bool:
    """Whether a browser shows the response in a window of its own, where no other page can read it."""
    return headers.get("sec-fetch-mode") == "navigate" and "origin" not in headers


def is_browser(headers: Mapping[str, str]) -> bool:
    """Whether the client may be a browser: over plain HTTP, some of their requests carry no Fetch headers."""
    language = headers.get("accept-language", "*")
    return (
        is_from_page(headers)
        or "referer" in headers
        or language != "*"
        or "mozilla/" in headers.get("user-agent", "").lower()
    )


def is_same_origin(headers: Mapping[str, str]) -> bool:
    """Whether a browser says that one of our own pages made the request."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        # "none": a person typed the address.
        return site in ("same-origin", "none")
    origin = headers.get("origin", "")
    return bool(origin) and origin.partition("://")[2].lower() == headers.get("host", "").lower()


def split_list(value: str) -> list[str]:
    return [item.strip() for item in value.split(",") if item.strip()]


def origin_pattern(origin: str) -> str:
    """Turn an origin of the settings into a regular expression; a star stands for any name."""
    if _ANY_ORIGIN.fullmatch(origin):
        raise ConfigError(
            lazy("cors_origins would let every page on the web in ({origin}).", origin=origin),
            hint=lazy("Name the pages: https://chat.example.com, app://obsidian.md, vscode-webview://*."),
        )
    return re.escape(origin.rstrip("/")).replace(r"\*", r"[^/@]*")


def host_in(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").lower()
    except ValueError:
        return ""


_TOKEN_SETTING = "page.token"  # noqa: S105 - the name of a setting, not a secret


class PageToken:
    """The token that our own pages use instead of a password where none is needed.

    A browser gets it as a cookie with the page and sends it back; other pages can neither read it nor have it
    sent. It is stored, so pages that are open survive a restart.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    async def is_sent_by(self, caller: HTTPConnection) -> bool:
        """Whether the request carries the token."""
        given = caller.cookies.get(page_cookie_name(caller), "")
        token: str = await self._store.run(self._store.settings.get, _TOKEN_SETTING, "")
        return bool(token) and hmac.compare_digest(given.encode(), token.encode())

    async def set_cookie(self, caller: HTTPConnection, response: Response) -> None:
        """Send the token along with a page."""
        token = await self._store.run(self._store.settings.get, _TOKEN_SETTING)
        if token is None:
            token = new_secret()
            await self._store.run(self._store.settings.set, _TOKEN_SETTING, token)
        secure = caller.url.scheme == "https"
        response.set_cookie(page_cookie_name(caller), token, httponly=True, samesite="strict", secure=secure)


def page_cookie_name(caller: HTTPConnection) -> str:
    """Return a name with the port in it: browsers do not separate cookies by port."""
    server: tuple[str, int] | None = caller.scope.get("server")
    return f"holdfast_page_{server[1] if server else 0}"


# This many wrong tries cost nothing; then each doubles the pause, up to the longest (seconds).
_FREE_TRIES, _LONGEST_PAUSE = 4, 300.0
# The longest pause of all who come through one proxy.
_PROXY_PAUSE = 10.0
# How many addresses are remembered, and for how many seconds after their last try.
_MAX_ADDRESSES, _FORGET_AFTER = 10_000, 86_400.0
# A household has a whole IPv6 network of this prefix.
_IPV6_PREFIX = 64


class RateLimiter:
    """A token bucket for each key: a minute's worth at once, then refilled evenly. In memory, for this
    process.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, name: str, per_minute: int) -> float:
        """Return the seconds until the next request is allowed; 0 if this one is, which then counts."""
        if not per_minute:
            return 0.0
        now, each = self._clock(), 60.0 / per_minute
        tokens, at = self._buckets.get(name, (float(per_minute), now))
        tokens = min(float(per_minute), tokens + (now - at) / each)
        if tokens < 1.0:
            return (1.0 - tokens) * each
        self._buckets[name] = tokens - 1.0, now
        return 0.0


class LoginThrottle:
    """Makes an address wait after wrong passwords, longer each time, without affecting others."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # Wrong tries in a row, and when the next one is allowed; the most recent address last.
        self._wrong: dict[str, tuple[int, float]] = {}

    def begin(self, address: str, peer: str = "") -> float:
        """Return the seconds to wait; 0 if the try is allowed, which counts as wrong until `succeed`.

        `peer` is the proxy that names the address. It may name any, so all of its tries together wait, too,
        but not so long that one person could keep the others out.
        """
        wait = self._take(address, _LONGEST_PAUSE)
        return wait or (self._take(f"by {peer}", _PROXY_PAUSE) if peer not in ("", address) else 0.0)

    def _take(self, address: str, longest: float) -> float:
        name, now = network_of(address), self._clock()
        count, until = self._wrong.get(name, (0, 0.0))
        if now < until:
            return until - now
        if now - until > _FORGET_AFTER:
            count = 0
        pause = min(longest, 2.0 ** (count - _FREE_TRIES)) if count >= _FREE_TRIES else 0.0
        self._wrong.pop(name, None)
        self._wrong[name] = count + 1, now + pause
        if len(self._wrong) > _MAX_ADDRESSES:
            del self._wrong[next(iter(self._wrong))]
        return 0.0

    def succeed(self, address: str, peer: str = "") -> None:
        for name in (network_of(address), f"by {peer}"):
            self._wrong.pop(name, None)


def network_of(address: str) -> str:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is None:
        return str(ipaddress.ip_network((parsed, _IPV6_PREFIX), strict=False))
    return str(parsed)


# Headers in which clients such as Open WebUI name the person they speak for.
_PERSON_HEADERS = ("x-holdfast-user", "x-openwebui-user-id", "x-librechat-user-id")
_PERSON_ID = re.compile(r"\w[\w.@+-]{0,99}")
# Whom a forwarder speaks for when it names nobody; no person can have this id.
_UNNAMED_PERSON = "(unnamed)"


def find_person(headers: Mapping[str, str]) -> str:
    """Return the id of the person that a client speaks for; empty if it names none."""
    return next((headers[name].strip() for name in _PERSON_HEADERS if headers.get(name, "").strip()), "")


def user_for_person(owner: str, person: str) -> str:
    """Return the user for a person behind a client, distinct from all users of keys and of other clients."""
    # Headers are bytes; what people type into them is UTF-8.
    name = person.encode("latin-1").decode("utf-8", "replace")
    if not _PERSON_ID.fullmatch(name):
        raise BadRequest(
            lazy("the forwarded user id is no usable name"),
            hint=lazy("Up to 100 letters, digits, and . @ + - _; a letter or digit first."),
        )
    return f"{owner}:{name}"


class SharedKeyDetector:
    """Notices when several people use a key that does not tell them apart."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self.several: set[str] = set()

    def notice(self, key: str, person: str) -> bool:
        """Return true once: for the person who is the second to use this key."""
        if key in self.several or self._first.setdefault(key, person) == person:
            return False
        self.several.add(key)
        return True


log = logging.getLogger("holdfast.server")

COOKIE = "holdfast_session"
HEALTH = "/health"
# Paths that need neither key nor session: logging in, and the health check.
_PUBLIC_PATHS = (HEALTH, "/api/login", "/login", "/static")
# Paths that concern the server and all of its users.
_ADMIN_PATHS = ("/api/keys", "/api/config", "/api/upstreams", "/api/memory/reindex", "/metrics")
# Paths that show or change what is remembered.
_MEMORY_PATHS = ("/api/memory", "/api/notes", "/api/settings/company-context")
# Paths that pages of other origins may post to on this machine without a key: the models.
_MODEL_PATHS = (
    "/v1", "/mcp", "/api/chat", "/api/generate", "/api/embed", "/api/embeddings", "/api/show",
    "/api/tokenize", "/api/detokenize",
)  # fmt: skip
# Model files are relayed as they arrive and never held in memory.
_UNLIMITED_PATHS = ("/api/blobs/",)
# The largest body without credentials: enough for a password.
_MAX_ANONYMOUS_BYTES = 10_000
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_BEARER = re.compile(r"^bearer\s+", re.IGNORECASE)
# Size and lifetime of the cache of keys. A key that another process revokes stays valid that long at most.
_CACHED_KEYS, _CACHE_SECONDS = 1_000, 2.0
# Headers that show that a proxy on this machine relays the request of somebody else.
_PROXY_HEADERS = (
    "forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip",
    "cf-connecting-ip", "true-client-ip",
)  # fmt: skip


def check_address(settings: Settings, *, keys: bool = False) -> None:
    """Refuse to listen where other machines can connect while there is neither a key nor a password."""
    if not is_loopback(settings.host) and not settings.key and not keys:
        raise ConfigError(
            lazy(
                "On {host} other machines can reach this server, and no key or password is set.",
                host=settings.host,
            ),
            hint=lazy("Make one (`holdfast keys create`, `holdfast password`), or listen on 127.0.0.1."),
        )


class RequestGuard:
    """Checks the headers of every request. `tries` throttles wrong passwords, for the login route."""

    def __init__(self, settings: Settings, store: Store, events: Events) -> None:
        self.origins = Origins(settings)
        self.tries = LoginThrottle()
        self.page_token = PageToken(store)
        self._store = store
        self._events = events
        self._key = settings.key
        self._open = is_loopback(settings.host) and not settings.key and not settings.require_key
        self._trusts = settings.trust_forwarded_users
        self._files = settings.file_references
        self._max_bytes = settings.max_request_mb * 1_000_000
        self._rates = RateLimiter()
        self._crowd = SharedKeyDetector()
        # Cached keys by the digest of their token, each with the time when the entry expires.
        self._known: dict[str, tuple[Key, float]] = {}

    @property
    def keys_with_several_people(self) -> frozenset[str]:
        """Ids of keys that several people share without being told apart; the empty id stands for no key."""
        return frozenset(self._crowd.several)

    @property
    def warnings(self) -> list[str]:
        """Return what an administrator should know."""
        return [describe_shared_key(key) for key in sorted(self._crowd.several)]

    async def admit(self, caller: HTTPConnection) -> Access:
        """Return who sent the request and what they may do; raise an error for those who are not let in."""
        path: str = caller.scope["path"]
        try:
            self.origins.check(caller.headers, server_address(caller))
            access = await self._identify(caller)
        except BadRequest:
            if path != HEALTH:
                raise
            access = None
        if access is None:
            if not is_below(path, _PUBLIC_PATHS):
                raise Unauthorized(
                    lazy("a key is needed here"),
                    hint=lazy("Send it as `Authorization: Bearer KEY`; `holdfast keys create` makes one."),
                    code="invalid_api_key",
                )
            return ANONYMOUS
        if not access.admin and is_below(path, _ADMIN_PATHS):
            raise Forbidden(
                lazy("only an administrator may do this"), hint=lazy("Use a key made with --admin.")
            )
        if not access.memory and is_below(path, _MEMORY_PATHS):
            raise Forbidden(
                lazy("this key has no memory"), hint=lazy("Use one that was made without --memory-off.")
            )
        return access

    async def still_admits(self, caller: HTTPConnection, access: Access) -> bool:
        """Whether the key or session that a request came with is still valid."""
        try:
            if access.how == "session":
                token = caller.cookies.get(COOKIE, "")
                return await self._store.run(self._store.sessions.holder, token) == access.user
            # The key of the settings has no id, and holds until a restart.
            return not access.key or await self._find_key(key_in(caller.headers)) is not None
        except StoreError:
            # A store that is busy says nothing about credentials.
            return True

    def check_size(self, path: str, size: int, access: Access) -> None:
        """Raise `TooLarge` if a body of this size is more than the sender may send."""
        if access is ANONYMOUS and size > _MAX_ANONYMOUS_BYTES:
            raise TooLarge(
                lazy(
                    "the request is larger than {max_anonymous_bytes:,} bytes",
                    max_anonymous_bytes=_MAX_ANONYMOUS_BYTES,
                ),
                hint=lazy("Log in first."),
            )
        if size > self._max_bytes and not path.startswith(_UNLIMITED_PATHS):
            raise TooLarge(
                lazy("the request is larger than {number} MB", number=self._max_bytes // 1_000_000),
                hint=lazy("Send less, or raise max_request_mb."),
            )

    async def _identify(self, caller: HTTPConnection) -> Access | None:
        headers = caller.headers
        given = key_in(headers)
        if self._key and hmac.compare_digest(given.encode(), self._key.encode()):
            return self._apply_forwarded_user(
                Access("key", admin=True, files=self._files), headers, self._trusts
            )
        # Anything else is ignored: most programs cannot be set up to send no key at all.
        if is_token(given):
            return await self._identify_by_key(given, headers)
        token = caller.cookies.get(COOKIE, "")
        user = await self._store.run(self._store.sessions.holder, token) if token else None
        own_page = caller.scope["method"] in _SAFE_METHODS or is_same_origin(headers)
        if user is not None and own_page:
            return Access("session", user, admin=True, files=self._files)
        if self._open and is_local(caller):
            here = await self._identify_local(caller)
            return here and self._apply_forwarded_user(here, headers, self._trusts)
        if user is not None:
            raise Forbidden(
                lazy("another page may not do this in your name"), hint=lazy("Use Holdfast's own page.")
            )
        return None

    async def _identify_local(self, caller: HTTPConnection) -> Access | None:
        """Return the access of a client on this machine: programs and our own pages may do everything.

        Other pages may only use the models. Under a host name that others could point here, programs are no
        administrators and browsers are not let in.
        """
        headers, safe = caller.headers, caller.scope["method"] in _SAFE_METHODS
        if not self.origins.is_trusted_host(headers):
            return None if is_browser(headers) else Access("here")
        if not is_from_page(headers) or (safe and is_navigation(headers)):
            return Access("here", admin=True, files=self._files)
        if is_same_origin(headers) and await self.page_token.is_sent_by(caller):
            return Access("here", admin=True, files=self._files)
        if not safe and not self._is_open_to_pages(caller):
            raise Forbidden(
                lazy("another page may not do this in your name"),
                hint=lazy(
                    "Use Holdfast's own page, and load it again; send a key; or name it in cors_origins."
                ),
            )
        return Access("here")

    def _is_open_to_pages(self, caller: HTTPConnection) -> bool:
        """Whether another page may send this request: one that the settings name, or one that asks a model.

        Any page can have a browser send a form or plain text unasked, and whatever a model is asked may be
        remembered. JSON it sends only where it may: that is asked first (CORS).
        """
        headers = caller.headers
        origin = headers.get("origin", "")
        if self.origins.is_configured_origin(origin):
            return True
        elsewhere = headers.get("sec-fetch-site") == "cross-site" and not is_app_origin(origin)
        asks_model = is_below(caller.scope["path"], (*_PUBLIC_PATHS, *_MODEL_PATHS))
        return asks_model and is_json(headers) and not elsewhere

    def may_get_page_token(self, caller: HTTPConnection) -> bool:
        """Whether the page that answers this request may act for its reader without a password."""
        headers = caller.headers
        shown = not is_from_page(headers) or is_navigation(headers)
        return self._open and is_local(caller) and self.origins.is_trusted_host(headers) and shown

    async def _identify_by_key(self, token: str, headers: Mapping[str, str]) -> Access:
        key = await self._find_key(token)
        if key is None:
            raise Unauthorized(
                lazy("this key is not known here"),
                hint=lazy("It may have been revoked; `holdfast keys create` makes another."),
                code="invalid_api_key",
            )
        if wait := self._rates.take(key.id, key.rate):
            raise TooMany(
                lazy("this key may ask {rate} times a minute", rate=key.rate),
                retry_after=wait,
                hint=lazy("Wait a little."),
            )
        access = Access("key", key.user, key.project, key.admin, key.off, key.memory, key.id, key.files)
        if key.forwarder and not find_person(headers):
            # It speaks for others, so it is not its owner: what nobody is named for has a user of its own.
            return replace(access, user=f"{access.user}:{_UNNAMED_PERSON}", admin=False)
        return self._apply_forwarded_user(access, headers, key.forwarder)

    async def _find_key(self, token: str) -> Key | None:
        name, now = digest_of(token), time.monotonic()
        known = self._known.get(name)
        if known is not None and now < known[1]:
            return known[0]
        key = await self._store.run(self._store.keys.holder, token)
        if key is not None:
            if is_stale(key, time.time()):
                await self._store.run(self._store.keys.record_use, key)
            if len(self._known) >= _CACHED_KEYS:
                self._known.clear()
            self._known[name] = key, now + _CACHE_SECONDS
        return key

    def forget_keys(self) -> None:
        """Drop the cached keys, because one was revoked."""
        self._known.clear()

    def _apply_forwarded_user(self, access: Access, headers: Mapping[str, str], trusted: bool) -> Access:
        """Return the access of the person that the client speaks for, if it is trusted to name one."""
        person = find_person(headers)
        if not person:
            return access
        if trusted:
            return replace(access, user=user_for_person(access.user, person), admin=False)
        if self._crowd.notice(access.key, person):
            log.warning("%s", describe_shared_key(access.key))
            scope = Scope(access.user, access.project or Scope().project)
            warning = {
                "about": "several_people",
                "key": access.key or None,
                "text": describe_shared_key(access.key),
            }
            self._events.publish("warning", warning, scope)
        return access


def key_in(headers: Mapping[str, str]) -> str:
    given = _BEARER.sub("", headers.get("authorization", "").strip())
    return given or headers.get("x-api-key", "").strip()


def is_local(caller: HTTPConnection) -> bool:
    """Whether the request came to a loopback address, and not through a proxy."""
    return is_loopback(server_address(caller)) and not any(name in caller.headers for name in _PROXY_HEADERS)


def server_address(caller: HTTPConnection) -> str:
    """Return the address of ours that the request came to; empty where there is no network in between."""
    server: tuple[str, int] | None = caller.scope.get("server")
    return server[0] if server else ""


def is_below(path: str, places: tuple[str, ...]) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in places)


def describe_shared_key(key: str) -> str:
    through, remedy = (
        (f"the key {key}", "make it one that speaks for its people: holdfast keys create --forwarder")
        if key
        else ("clients without a key of their own", "set trust_forwarded_users, or give them a key")
    )
    return f"several people come through {through}, and share one memory; {remedy}"
