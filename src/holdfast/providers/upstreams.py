"""Which model server answers for which model: the one that was named, else one that runs here, else our own.

Knows providers by their protocol only; how they are found and made is handed in.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

from holdfast.errors import ModelMissing
from holdfast.providers.base import ModelInfo, Provider
from holdfast.providers.discovery import EMBEDDED

# With nothing but the embedded model, we look this often (in seconds) whether a server was started meanwhile.
LOOK_AGAIN = 10.0


class Upstreams:
    """`find` looks for a server and gives None if there is none; `embedded` stands in until there is one."""

    def __init__(
        self,
        find: Callable[[], Awaitable[Provider | None]],
        embedded: Provider,
        *,
        look_again: float = LOOK_AGAIN,
    ) -> None:
        self._find = find
        self._look_again = look_again
        self._embedded = embedded
        self._found: Provider | None = None
        self._looked_at = float("-inf")
        self._looking = asyncio.Lock()

    async def main(self) -> Provider:
        """The server that answers for every model but the embedded one."""
        async with self._looking:
            if self._found is None and time.monotonic() - self._looked_at > self._look_again:
                self._found = await self._find()
                self._looked_at = time.monotonic()
        return self._found or self._embedded

    async def route(self, model: str) -> Provider:
        """The server for `model`. Whether it really has that model is for the server to say."""
        if model in (EMBEDDED, f"{EMBEDDED}:latest"):
            return self._embedded
        main = await self.main()
        if main is self._embedded:
            raise ModelMissing(
                model,
                hint=f"No model server was found; the only model here is '{EMBEDDED}'.",
            )
        return main

    async def models(self) -> list[ModelInfo]:
        return await (await self.main()).models()

    async def describe(self, model: str) -> ModelInfo:
        return await (await self.route(model)).describe(model)

    async def aclose(self) -> None:
        await self._embedded.aclose()
        if self._found is not None and self._found is not self._embedded:
            await self._found.aclose()
