"""One place where a model server is, or may come to be: found when it is needed, looked at again while away.

Knows how to keep what was last heard from there; which place is asked for a model is decided in `upstreams`.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from holdfast.errors import ConfigError, HoldfastError, ProviderError
from holdfast.upstreams.base import ModelInfo, Provider
from holdfast.upstreams.watched import Health, LabelledProvider

# Where no server is, we look this often (in seconds) whether one was started meanwhile.
LOOK_AGAIN = 10.0

FindProvider = Callable[[], Awaitable[Provider | None]]


@dataclass(frozen=True, slots=True)
class UpstreamState:
    """How a place is, for people. Times are seconds since 1970, None for never; `well` None: never asked."""

    name: str
    location: str
    kind: str | None
    well: bool | None
    last_seen: float | None
    last_failure: float | None
    error: str
    models: int | None


class UpstreamSlot:
    """`find` gives the server, None while nobody is there, or raises what hinders."""

    def __init__(
        self, find: FindProvider, *, name: str = "", location: str = "", look_again: float = LOOK_AGAIN
    ) -> None:
        self.name = name
        self.health = Health()
        # The server that was found here, and the list it gave last; None if there was none yet.
        self.found: LabelledProvider | None = None
        self.listed: list[ModelInfo] | None = None
        self._location = location
        self._find = find
        self._look_again = look_again
        self._looked_at = self._listed_at = float("-inf")
        self._finding = asyncio.Lock()
        self._looking: asyncio.Task[None] | None = None

    async def server(self) -> LabelledProvider | None:
        async with self._finding:
            wanted = self.found is None or not self.health.well
            if wanted and time.monotonic() - self._looked_at > self._look_again:
                await (self._find_first() if self.found is None else self._find_again(self.found))
        return self.found

    async def _find_first(self) -> None:
        try:
            found = await self._find()
        except ProviderError as error:
            self.health.note(error)
            raise
        self._looked_at = time.monotonic()
        self.found = LabelledProvider(found, self.name, self.health) if found is not None else None

    async def _find_again(self, known: LabelledProvider) -> None:
        """Where a server went away, one of another kind may have come."""
        self._looked_at = time.monotonic()
        try:
            found = await self._find()
        except ProviderError:
            return
        if found is None or found is known.provider:
            return
        same = (found.name, found.location) == (known.name, known.location)
        if not same:
            self.found, self.listed = LabelledProvider(found, self.name, self.health), None
        await (found if same else known).aclose()

    async def models(self) -> list[ModelInfo]:
        """What the server has now; nothing where there is none."""
        server = await self.server()
        if server is None:
            return []
        self.listed = await server.models()
        self._listed_at = time.monotonic()
        return self.listed

    def has(self, model: str) -> bool:
        """Whether it listed `model`, as far as we know. A name without a tag means the latest."""
        return any(known.name in (model, f"{model}:latest") for known in self.listed or ())

    def look(self, older_than: float) -> "asyncio.Task[None] | None":
        """Asks for its list if what we have is older, once for all who want to know. A failure waits."""
        age = time.monotonic() - self._listed_at
        failed = self.health.failed
        resting = not self.health.well and failed is not None and time.time() - failed < self._look_again
        if self._looking is None and not resting and (age > older_than or not self.health.well):
            self._looking = asyncio.create_task(self._look())
        return self._looking

    def forget(self) -> None:
        """What it listed may be true no more."""
        self._listed_at = float("-inf")

    def state(self) -> UpstreamState:
        server, health = self.found, self.health
        return UpstreamState(
            self.name or "default",
            server.location if server else self._location,
            server.name if server else None,
            None if health.seen is None and health.failed is None else health.well,
            health.seen,
            health.failed,
            health.trouble,
            None if self.listed is None else len(self.listed),
        )

    async def aclose(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait({self._looking})
        if self.found is not None:
            await self.found.aclose()

    async def _look(self) -> None:
        try:
            await self.models()
        except ConfigError as error:
            self.health.trouble = str(error)
        except HoldfastError:
            # What a server said or failed to say was noted where that happened.
            pass
        finally:
            self._looking = None
