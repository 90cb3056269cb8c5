"""A Holdfast whose model answers when a test lets it, and that tells the test how its jobs get on."""

import asyncio
import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from holdfast.config import Settings
from holdfast.server.app import create_app
from holdfast.store import Store, open_store
from holdfast.testing.provider import ScriptedProvider, serve_app
from holdfast.turn import TurnEngine
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams
from tests.server.conftest import AT_REST

PATIENCE = 60


class Gated(ScriptedProvider):
    """Says one word of an answer for every `let`, and the rest after `open`; an echo of the question."""

    def __init__(self) -> None:
        super().__init__(fallback=lambda request: f"You said {request.messages[-1].text}")
        self.asked: list[str] = []
        # One for every request that is being answered, and one for every answer nobody waits for any more.
        self.began, self.gave_up = threading.Semaphore(0), threading.Semaphore(0)
        self._words = 0
        self._open = False
        self._news = asyncio.Event()
        self.loop: asyncio.AbstractEventLoop | None = None

    async def chat(self, request):
        self.loop = asyncio.get_running_loop()
        self.asked.append(request.messages[-1].text)
        self.began.release()
        try:
            async for chunk in super().chat(request):
                while chunk.text and not self._words and not self._open:
                    self._news.clear()
                    await self._news.wait()
                self._words -= bool(chunk.text)
                yield chunk
        except (GeneratorExit, asyncio.CancelledError):
            self.gave_up.release()
            raise

    def let(self, words: int = 1) -> None:
        self._words += words
        if self.loop is not None:
            self.loop.call_soon_threadsafe(self._news.set)

    def open(self) -> None:
        self._open = True
        self.let()


@dataclass
class Lined:
    url: str
    client: httpx.Client
    engine: TurnEngine
    store: Store
    provider: Gated
    people: ThreadPoolExecutor
    told: "queue.Queue[dict[str, Any]]"
    seen: list[dict[str, Any]] = field(default_factory=list)

    def wait_for(self, status: str, times: int = 1) -> list[dict[str, Any]]:
        """The next job events with this status; others that come meanwhile are kept in `seen`."""
        results = []
        while len(results) < times:
            data = self.told.get(timeout=PATIENCE)
            self.seen.append(data)
            if data["status"] == status:
                results.append(data)
        return results

    def ask(self, user: str, text: str, *, path: str = "/api/chat", **fields: Any):
        """Somebody asks, in a thread of their own; a future of the response."""
        body = {"model": "scripted", "messages": [{"role": "user", "content": text}], "stream": False}
        headers = {"X-OpenWebUI-User-Id": user}
        return self.people.submit(self.client.post, path, json={**body, **fields}, headers=headers)

    def inside(self, work: Callable[[], Any]) -> Any:
        """The result of `work`, done on the server's event loop."""

        async def done() -> Any:
            return work()

        return asyncio.run_coroutine_threadsafe(done(), self.provider.loop).result(PATIENCE)


@contextmanager
def lined(folder: Path, **settings: Any) -> Iterator[Lined]:
    store, provider = open_store(f"sqlite:///{folder / 'holdfast.db'}"), Gated()

    async def find() -> Gated:
        return provider

    engine = TurnEngine(
        store,
        Upstreams(find, ScriptedProvider()),
        ModelRegistry(store, folder / "cache"),
        AT_REST,
        parallel=1,
    )
    report: queue.Queue[dict[str, Any]] = queue.Queue()
    engine.events.listeners.append(lambda event: report.put(event.data) if event.kind == "job" else None)
    app = create_app(engine, Settings(home=folder, trust_forwarded_users=True, **settings))
    with (
        ThreadPoolExecutor(8) as people,
        serve_app(app) as url,
        httpx.Client(base_url=url, timeout=PATIENCE, trust_env=False) as client,
    ):
        yield Lined(url, client, engine, store, provider, people, report)
