"""What Holdfast asks of model servers on its own: in the log of jobs and in the statistics, like any request.

Such a job belongs to a person and to no conversation: it is none of the turns in it. Knows store and events;
what is asked is none of its business.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from holdfast.background.progress import TurnProgress
from holdfast.conversations import Recorder
from holdfast.errors import HoldfastError
from holdfast.events import Events
from holdfast.messages import ChatRequest, Chunk, Scope
from holdfast.store import Store
from holdfast.upstreams.base import Provider
from holdfast.upstreams.health import LabelledProvider


@dataclass(frozen=True, slots=True)
class CallLog:
    store: Store
    events: Events

    def over(self, provider: Provider, scope: Scope, window: int | None = None) -> Provider:
        """The same server; chats with it are written down as background work of this scope."""
        return _Logged(self, provider, scope, window)


class _Logged(LabelledProvider):
    def __init__(self, log: CallLog, provider: Provider, scope: Scope, window: int | None) -> None:
        super().__init__(provider)
        self._log = log
        self._scope = scope
        self._window = window

    async def chat(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        store, model = self._log.store, request.model
        job = await store.run(lambda: store.jobs.start(self._scope, kind="background", model=model))
        recorder = Recorder(store, job=job.id, model=model, conversation=None, parent=None)
        recorder.upstream, recorder.window = self.location, self._window
        about = {"job": job.id, "conversation": None, "kind": "background", "model": model}
        progress = TurnProgress(self._log.events, self._scope, about)
        progress.report_running(self.location)
        trouble: BaseException | None = None
        try:
            async with aclosing(recorder.record(self.provider.chat(request))) as chunks:
                async for chunk in chunks:
                    progress.note_chunk(chunk)
                    yield chunk
        except (HoldfastError, GeneratorExit, asyncio.CancelledError) as error:
            trouble = error
            raise
        finally:
            progress.finish(trouble, answered=bool(recorder.answer.parts))
