"""Who may come in: programs with a key, browsers with a session, and on this machine alone anybody.

Says whose every request is (`access`); which names and pages are believed is in `origins`, how often somebody
may come in `rates`. Knows nothing of conversations.
"""

import hmac
import logging
import re
import time
from collections.abc import Mapping
from dataclasses import replace

from starlette.requests import HTTPConnection

from holdfast.config import Settings
from holdfast.errors import BadRequest, ConfigError, Forbidden, TooLarge, TooMany, Unauthorized
from holdfast.events import Events
from holdfast.messages import Scope
from holdfast.server.access import NOBODY, Access
from holdfast.server.origins import (
    Origins,
    is_browser,
    is_from_page,
    is_loopback,
    is_navigation,
    is_same_origin,
)
from holdfast.server.page_token import PageToken
from holdfast.server.people import Crowd, behind, person_in
from holdfast.server.rates import Rates, Tries
from holdfast.store import Key, Store
from holdfast.store.keys import is_stale, is_token
from holdfast.store.secrecy import digest_of

log = logging.getLogger("holdfast.server")

COOKIE = "holdfast_session"
HEALTH = "/health"
# What needs neither key nor session: how to get one, and whether we are alive.
_PUBLIC = (HEALTH, "/api/login", "/login", "/static")
# What is about the server and everybody who uses it.
_ADMINISTRATIVE = ("/api/keys", "/api/config", "/api/upstreams", "/api/memory/reindex", "/metrics")
# Where a page that is not ours may send something on this machine without a key: to models.
_MODEL_DOORS = (
    "/v1", "/mcp", "/api/chat", "/api/generate", "/api/embed", "/api/embeddings", "/api/show",
    "/api/tokenize", "/api/detokenize",
)  # fmt: skip
# Files of models, which are passed on as they come and held nowhere.
_UNLIMITED = ("/api/blobs/",)
# As many bytes may be sent by whoever has not come in yet: a password is shorter.
_STRANGERS = 10_000
_SAFE = ("GET", "HEAD", "OPTIONS")
_BEARER = re.compile(r"^bearer\s+", re.IGNORECASE)
# So many keys are known for so many seconds without looking: one that another process revokes is let in that
# long at most.
_KNOWN, _KNOWN_FOR = 1_000, 2.0
# Signs that somebody else stands behind whoever calls us from this machine.
_PROXIED = (
    "forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip",
    "cf-connecting-ip", "true-client-ip",
)  # fmt: skip


def check_address(settings: Settings, *, keys: bool = False) -> None:
    """Refuses to listen where others could reach us, as long as none of them has anything to come in with."""
    if not is_loopback(settings.host) and not settings.key and not keys:
        raise ConfigError(
            f"On {settings.host} others can reach this server, and nobody has a key or a password yet.",
            hint="Make one (`holdfast keys create`, `holdfast password`), or listen on 127.0.0.1.",
        )


class Guard:
    """Looks at the head of every request. `tries` counts wrong passwords, for the door that takes them."""

    def __init__(self, settings: Settings, store: Store, events: Events) -> None:
        self.origins = Origins(settings)
        self.tries = Tries()
        self.page_token = PageToken(store)
        self._store = store
        self._events = events
        self._key = settings.key
        self._open = is_loopback(settings.host) and not settings.key and not settings.require_key
        self._trusts = settings.trust_forwarded_users
        self._files = settings.file_references
        self._max_bytes = settings.max_request_mb * 1_000_000
        self._rates = Rates()
        self._crowd = Crowd()
        # Keys that were looked up just now, by the digest of what was sent, and until when that holds.
        self._known: dict[str, tuple[Key, float]] = {}

    @property
    def crowded(self) -> frozenset[str]:
        """Keys through which several people come without being told apart; an empty id is no key at all."""
        return frozenset(self._crowd.several)

    @property
    def warnings(self) -> list[str]:
        """What an administrator should know."""
        return [_crowded(key) for key in sorted(self._crowd.several)]

    async def admit(self, caller: HTTPConnection) -> Access:
        """Whose request this is; whoever may not come in is told why."""
        path: str = caller.scope["path"]
        try:
            self.origins.check(caller.headers, _address(caller))
            access = await self._identified(caller)
        except BadRequest:
            if path != HEALTH:
                raise
            access = None
        if access is None:
            if not _is_below(path, _PUBLIC):
                raise Unauthorized(
                    "a key is needed here",
                    hint="Send it as `Authorization: Bearer KEY`; `holdfast keys create` makes one.",
                    code="invalid_api_key",
                )
            return NOBODY
        if not access.admin and _is_below(path, _ADMINISTRATIVE):
            raise Forbidden("only an administrator may do this", hint="Use a key made with --admin.")
        return access

    def check_size(self, path: str, size: int, access: Access) -> None:
        if access is NOBODY and size > _STRANGERS:
            raise TooLarge(f"the request is larger than {_STRANGERS:,} bytes", hint="Log in first.")
        if size > self._max_bytes and not path.startswith(_UNLIMITED):
            raise TooLarge(
                f"the request is larger than {self._max_bytes // 1_000_000} MB",
                hint="Send less, or raise max_request_mb.",
            )

    async def _identified(self, caller: HTTPConnection) -> Access | None:
        headers = caller.headers
        given = _key_in(headers)
        if self._key and hmac.compare_digest(given.encode(), self._key.encode()):
            return self._for_people(Access("key", admin=True, files=self._files), headers, self._trusts)
        # Other words are no keys of ours: most programs cannot be told to send none.
        if is_token(given):
            return await self._with_key(given, headers)
        token = caller.cookies.get(COOKIE, "")
        user = await self._store.run(self._store.sessions.holder, token) if token else None
        own_page = caller.scope["method"] in _SAFE or is_same_origin(headers)
        if user is not None and own_page:
            return Access("session", user, admin=True, files=self._files)
        if self._open and _is_here(caller):
            here = await self._here(caller)
            return here and self._for_people(here, headers, self._trusts)
        if user is not None:
            raise Forbidden("another page may not do this in your name", hint="Use Holdfast's own page.")
        return None

    async def _here(self, caller: HTTPConnection) -> Access | None:
        """Somebody on this machine: programs and our own page may do everything, other pages ask models.

        Under a name that others could point here, programs are no administrators, and browsers are nobody.
        """
        headers, safe = caller.headers, caller.scope["method"] in _SAFE
        if not self.origins.is_certain(headers):
            return None if is_browser(headers) else Access("here")
        if not is_from_page(headers) or (safe and is_navigation(headers)):
            return Access("here", admin=True, files=self._files)
        if is_same_origin(headers) and await self.page_token.is_in(caller):
            return Access("here", admin=True, files=self._files)
        if not safe and not self._is_open_to_pages(caller):
            raise Forbidden(
                "another page may not do this in your name",
                hint="Use Holdfast's own page, and load it again; or send a key.",
            )
        return Access("here")

    def _is_open_to_pages(self, caller: HTTPConnection) -> bool:
        named = self.origins.is_named(caller.headers.get("origin", ""))
        return named or _is_below(caller.scope["path"], (*_PUBLIC, *_MODEL_DOORS))

    def may_have_token(self, caller: HTTPConnection) -> bool:
        """Whether a page that we answer with may act for whoever sits before it, without a password."""
        headers = caller.headers
        shown = not is_from_page(headers) or is_navigation(headers)
        return self._open and _is_here(caller) and self.origins.is_certain(headers) and shown

    async def _with_key(self, token: str, headers: Mapping[str, str]) -> Access:
        key = await self._holder(token)
        if key is None:
            raise Unauthorized(
                "this key is not known here",
                hint="It may have been revoked; `holdfast keys create` makes another.",
                code="invalid_api_key",
            )
        if wait := self._rates.take(key.id, key.rate):
            raise TooMany(
                f"this key may ask {key.rate} times a minute", retry_after=wait, hint="Wait a little."
            )
        return self._for_people(_access(key), headers, key.forwarder)

    async def _holder(self, token: str) -> Key | None:
        name, now = digest_of(token), time.monotonic()
        known = self._known.get(name)
        if known is not None and now < known[1]:
            return known[0]
        key = await self._store.run(self._store.keys.holder, token)
        if key is not None:
            if is_stale(key, time.time()):
                await self._store.run(self._store.keys.used, key)
            if len(self._known) >= _KNOWN:
                self._known.clear()
            self._known[name] = key, now + _KNOWN_FOR
        return key

    def look_again(self) -> None:
        """A key was revoked: nobody is let in from memory any more."""
        self._known.clear()

    def _for_people(self, access: Access, headers: Mapping[str, str], trusted: bool) -> Access:
        """The person a client speaks for, if it may."""
        person = person_in(headers)
        if not person:
            return access
        if trusted:
            return replace(access, user=behind(access.user, person), admin=False)
        if self._crowd.saw(access.key, person):
            log.warning("%s", _crowded(access.key))
            scope = Scope(access.user, access.project or Scope().project)
            told = {"about": "several_people", "key": access.key or None, "text": _crowded(access.key)}
            self._events.publish("warning", told, scope)
        return access


def _access(key: Key) -> Access:
    return Access("key", key.user, key.project, key.admin, key.off, key.memory, key.id, key.files)


def _key_in(headers: Mapping[str, str]) -> str:
    given = _BEARER.sub("", headers.get("authorization", "").strip())
    return given or headers.get("x-api-key", "").strip()


def _is_here(caller: HTTPConnection) -> bool:
    """Whether it came to an address that only this machine can reach, and nobody passed it on."""
    return is_loopback(_address(caller)) and not any(name in caller.headers for name in _PROXIED)


def _address(caller: HTTPConnection) -> str:
    """The address of ours that it came to; none where there is no network between us."""
    server: tuple[str, int] | None = caller.scope.get("server")
    return server[0] if server else ""


def _is_below(path: str, places: tuple[str, ...]) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in places)


def _crowded(key: str) -> str:
    through, remedy = (
        (f"the key {key}", "make it one that speaks for its people: holdfast keys create --forwarder")
        if key
        else ("clients without a key of their own", "set trust_forwarded_users, or give them a key")
    )
    return f"several people come through {through}, and share one memory; {remedy}"
