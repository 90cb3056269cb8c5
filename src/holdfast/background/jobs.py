"""What is done when nobody waits: notes, index, summaries and titles, after answers and in idle time.

Folders with notes are watched as well.
"""

import asyncio
import contextvars
import heapq
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from watchfiles import awatch

from holdfast.background.projector import LEASE_SECONDS, Projector
from holdfast.background.retention import Retention
from holdfast.context.summaries import CompactionService
from holdfast.context.titles import TitleWriter
from holdfast.errors import HoldfastError, NotFound, ProviderError, StoreError
from holdfast.memory.service import MemoryService
from holdfast.memory.workspace import Workspace
from holdfast.research.library import Research
from holdfast.store import Store
from holdfast.text.patterns import compiling
from holdfast.transfer.rotation import BackupSchedule

Work = Callable[[], Coroutine[Any, Any, None]]

# Most stale heap entries before the heap is rebuilt.
_MOST_STALE = 100


@dataclass(frozen=True, slots=True, eq=False)
class _IdleTask:
    name: str
    work: Work
    due: float
    # Starts only after so many seconds without a user's request.
    calm: float = 0.0
    # Work runs in the context (and language) of whoever scheduled it.
    context: contextvars.Context = field(default_factory=contextvars.copy_context)


class IdleScheduler:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._foreground_requests = 0
        # When the last foreground request ended.
        self._last_activity = float("-inf")
        self._closed = False
        self._waiting: dict[str, _IdleTask] = {}
        # A heap of the same by due time; also has entries that were cancelled or replaced since.
        self._due: list[tuple[float, int, _IdleTask]] = []
        self._numbers = count()
        self._running: tuple[_IdleTask, asyncio.Task[None]] | None = None
        # Whether the running task was interrupted and should be started again later.
        self._interrupted = False
        self._timer: asyncio.TimerHandle | None = None
        self._changed = asyncio.Event()

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Interrupts the running task; nothing starts until the context (a user's request) ends."""
        self._foreground_requests += 1
        if self._running is not None:
            self._interrupted = True
            self._running[1].cancel()
        try:
            yield
        finally:
            self._foreground_requests -= 1
            self._last_activity = self._clock()
            self._advance()

    def schedule(self, name: str, work: Work, *, after: float = 0.0, calm: float = 0.0) -> None:
        """Schedules `work` in `after` seconds or later; replaces waiting work of the same name.

        With `calm`, it starts only after so many seconds without a user's request.
        """
        if self._closed:
            return
        self._enqueue(_IdleTask(name, work, self._clock() + after, calm))
        self._advance()

    def cancel(self, name: str) -> None:
        """Cancels the work of this name, waiting or running."""
        self._waiting.pop(name, None)
        if self._running is not None and self._running[0].name == name:
            self._interrupted = False
            self._running[1].cancel()
        self._advance()

    async def close(self) -> None:
        """Cancels everything; nothing is started any more."""
        self._closed = True
        self._waiting.clear()
        self._advance()
        if self._running is not None:
            task = self._running[1]
            task.cancel()
            await asyncio.wait({task})

    @property
    def waiting(self) -> tuple[str, ...]:
        """The names of waiting work, in the order in which it will run."""
        return tuple(piece.name for _, _, piece in sorted(self._due) if self._is_current(piece))

    def is_waiting(self, name: str) -> bool:
        return name in self._waiting

    @property
    def running(self) -> str | None:
        return None if self._running is None else self._running[0].name

    async def wait_until_idle(self) -> None:
        """Waits until nothing runs and nothing is due."""
        while self._running is not None or self._next_due() is not None:
            await self._changed.wait()

    async def wait_until_stopped(self) -> None:
        """Waits, inside `pause`, until the interrupted task has given back what it held."""
        while self._running is not None:
            await self._changed.wait()

    def _enqueue(self, task: _IdleTask) -> None:
        """Adds a task to the heap; tasks due at the same time run in the order they were added."""
        self._waiting[task.name] = task
        if len(self._due) > 2 * len(self._waiting) + _MOST_STALE:
            self._due = [entry for entry in self._due if self._is_current(entry[2])]
            heapq.heapify(self._due)
        heapq.heappush(self._due, (task.due, next(self._numbers), task))

    def _is_current(self, task: _IdleTask) -> bool:
        return self._waiting.get(task.name) is task

    def _next_task(self) -> _IdleTask | None:
        while self._due:
            task = self._due[0][2]
            quiet = self._last_activity + task.calm
            if not self._is_current(task):
                heapq.heappop(self._due)
            elif task.due <= self._clock() < quiet:
                self._enqueue(replace(task, due=quiet))
            else:
                return task
        return None

    def _next_due(self) -> _IdleTask | None:
        first = self._next_task()
        return first if first is not None and first.due <= self._clock() else None

    def _advance(self) -> None:
        """Starts the next task if possible. Called after every change, so there is no loop that could die."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        first = self._next_task()
        if first is not None and self._running is None and not self._foreground_requests:
            if first.due <= self._clock():
                self._begin(first)
            else:
                pause = first.due - self._clock()
                self._timer = asyncio.get_running_loop().call_later(pause, self._advance)
        self._changed.set()
        self._changed = asyncio.Event()

    def _begin(self, piece: _IdleTask) -> None:
        del self._waiting[piece.name]
        self._interrupted = False
        loop = asyncio.get_running_loop()
        task = loop.create_task(_run(piece), name=f"idle: {piece.name}", context=piece.context)
        self._running = piece, task
        task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[None]) -> None:
        assert self._running is not None
        piece, _ = self._running
        self._running = None
        error = None if task.cancelled() else task.exception()
        if self._interrupted and (task.cancelled() or error is not None):
            # An interruption may surface as any error. Work scheduled under this name since then is newer.
            if not self._closed and piece.name not in self._waiting:
                self._enqueue(piece)
        elif isinstance(error, HoldfastError):
            log.warning("%s: %s", piece.name, error)
        elif error is not None:
            log.error("%s failed", piece.name, exc_info=error)
        self._advance()


async def _run(task: _IdleTask) -> None:
    """Calls the work inside the task, so that an error in creating the coroutine is handled there, too."""
    await task.work()


log = logging.getLogger("holdfast.background")

R = TypeVar("R")

# A conversation that nobody went on with for so long is at rest.
REST = 15 * 60.0
# What is said within so many seconds is indexed together; who searches earlier has it indexed then.
_INDEX, _TOGETHER = "index", 1.0
_REST = "rest"
_VECTORS = "vectors elsewhere"
_QMD, _QMD_SOON = "qmd", "qmd after a change"
# So many messages hold the one writer up for no longer than somebody would notice.
_INDEXED_AT_ONCE = 64
# So many texts keep the embedder busy for some seconds, since to see what is to be done takes a while, too;
# who comes stops it sooner. And they wait until people were silent so long.
_UNDERSTOOD_AT_ONCE, _SETTLED = 256, 20.0
# An embedder that nobody asked for so long gives back its memory, which is more than the server's; and how
# often that is looked at.
_UNASKED, _LOOK = 5 * 60.0, 60.0
# By then the server answers.
_STARTED = 1.0
# So long after an answer what was stated is remembered: who takes it back at once has said so by then.
_REMEMBER_AFTER = 3.0
# Notes that could not be written are tried again after this; and those that another process promised, which
# may have died since, are looked for as often.
_AGAIN = 60.0
# Statistics, and promises that were kept, are forgotten after this.
_KEPT, _DAILY = 30 * 86_400.0, 86_400.0
# The setting with the time when it was last looked for old conversations, and the wait after a leap of the
# clock, in seconds.
_SEEN, _AFTER_JUMP = "retention.seen", 3_600.0
# When a backup may be made for the first time, and how often it is looked whether one is due.
_FIRST_BACKUP, _LOOK_FOR_BACKUP = 600.0, 3_600.0
# How far back a process looks for conversations that an earlier one did not put at rest.
_LEFT_BEHIND = 7 * 86_400.0


class BackgroundJobs:
    def __init__(
        self,
        store: Store,
        compacting: CompactionService,
        projector: Projector | None,
        pause: float = 0.0,
        remembering: MemoryService | None = None,
        research: Research | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.idle = IdleScheduler()
        # How long conversations are kept; None for ever.
        self.retention: Retention | None = None
        # Gives conversations a title; None if nobody does.
        self.titles: TitleWriter | None = None
        # The backups that are made by themselves; None for none.
        self.backups: BackupSchedule | None = None
        # Findings are out of date one day, most of them.
        self._research = research
        self._store = store
        self._compacting = compacting
        self._projector = projector
        self._pause = pause
        self._remembering = remembering
        self._watching = FolderWatcher()
        self._clock = clock
        # What had been promised when notes were last written.
        self._promised = 0
        # Conversations that were talked in and are not at rest yet.
        self._talked: set[str] = set()
        # When those that are to be put at rest were last talked in, the longest ago first.
        self._resting: dict[str, float] = {}
        # Whether there are notes, for which every question needs the embedder; and when it was last roused.
        self._notes = False
        self._roused_at = float("-inf")
        # Notes are written by one at a time: an answer's screen and the quiet after it may both want them.
        self._writing = asyncio.Lock()

    def notices(self) -> tuple[str, ...]:
        """What people should know of work that did not go well."""
        return ("not_noted",) if self._projector is not None and self._projector.problem else ()

    def pause(self) -> AbstractContextManager[None]:
        """Somebody is being served: whatever else is done stops."""
        if self._notes:
            self._rouse()
        return self.idle.pause()

    def start(self) -> None:
        """Takes up what an earlier process left behind."""
        self.idle.schedule(_INDEX, self._index)
        self.idle.schedule("notes", self._write_notes)
        self.idle.schedule("housekeeping", self._tidy)
        self.idle.schedule("patterns", self._prepare, after=_STARTED)
        self.idle.schedule("left behind", self._take_up)
        if self.retention is not None:
            self.idle.schedule("retention", partial(self._retire, self.retention))
        if self.backups is not None:
            self.idle.schedule("backup", partial(self._back_up, self.backups), after=_FIRST_BACKUP)
        if self._remembering is not None:
            self.idle.schedule("embedder", self._begin)
            self.idle.schedule("rest of the embedder", self._release, after=_LOOK)
            self.idle.schedule(_VECTORS, self._follow, after=_LOOK)
            self.after_notes_change()
            if self._remembering.qmd is not None:
                self.idle.schedule(_QMD, self._refresh_qmd)
            workspace = self._remembering.workspace
            if workspace.folder is not None:
                self._watching.watch(workspace.folder, self.after_notes_change)
            else:
                self._watching.poll(lambda: _tags(workspace), self.after_notes_change)

    def after_notes_change(self) -> None:
        """Notes have changed, or may have: they are read and understood when it is quiet."""
        self.idle.schedule("index of notes", self._index_notes)
        qmd = self._remembering.qmd if self._remembering is not None else None
        if qmd is not None and not self.idle.is_waiting(_QMD_SOON):
            self.idle.schedule(_QMD_SOON, self._refresh_qmd, after=qmd.debounce)

    def after_answer(self, conversation: str | None, *, near: bool = True) -> None:
        """An answer is kept: what follows from it is done as soon as it is quiet.

        `near` says whether it may be time for a summary.
        """
        if not self.idle.is_waiting(_INDEX):
            self.idle.schedule(_INDEX, self._index, after=_TOGETHER)
        if self._store.outbox.promised != self._promised:
            self.idle.schedule("notes", self._write_notes)
        if conversation is not None:
            self._talked.add(conversation)
            if near:
                # What is left out of a full window is chosen by its meaning, too.
                self._rouse()
                work = partial(self._ahead, conversation)
                self.idle.schedule(f"summary of {conversation}", work, after=self._pause)
            remember = partial(self._remember, conversation)
            self.idle.schedule(f"memories of {conversation}", remember, after=_REMEMBER_AFTER)
            if self.titles is not None:
                naming = partial(self.titles.write, conversation)
                self.idle.schedule(f"title of {conversation}", naming, after=self._pause, calm=_SETTLED)
            self._resting.pop(conversation, None)
            self._resting[conversation] = self._clock()
            if not self.idle.is_waiting(_REST):
                self._rest_later()

    def after_finding(self, name: str, work: Work) -> None:
        """An answer was given from a finding: what it comes to is written down, with a model's help."""
        self.idle.schedule(f"finding {name}", work, after=self._pause)

    def after_compaction(self, conversation: str) -> None:
        """Somebody had it summarised: its notes are written, and the server reads the new window."""
        self.idle.schedule("notes", self._write_notes)
        self.idle.schedule(f"reading of {conversation}", partial(self._compacting.warm, conversation))

    async def close(self) -> None:
        await self._watching.close()
        await self._end()

    async def _end(self) -> None:
        """Nobody knows when somebody comes back: what should be remembered is taken down, without a model."""
        await self.idle.close()
        for conversation in self._talked:
            try:
                await self._compacting.at_rest(conversation, ask=False)
            except NotFound:
                # Somebody deleted it.
                continue
            except HoldfastError as error:
                log.warning("what was said in %s could not be taken down: %s", conversation, error)
        try:
            await self._write_notes()
        except HoldfastError as error:
            log.warning("notes could not be written: %s", error)

    async def _remember(self, conversation: str) -> None:
        try:
            await self._compacting.remember(conversation)
            if self._store.outbox.promised != self._promised:
                await self._write_notes()
        except NotFound:
            self._talked.discard(conversation)

    async def _ahead(self, conversation: str) -> None:
        try:
            changed = await self._compacting.compact_ahead(conversation)
            if self._store.outbox.promised != self._promised:
                await self._write_notes()
            if changed:
                await self._compacting.warm(conversation)
        except NotFound:
            self._talked.discard(conversation)

    def _rest_later(self) -> None:
        """One piece for all of them, due when it is time for the one that was talked in longest ago."""
        last = next(iter(self._resting.values()), None)
        if last is not None:
            self.idle.schedule(_REST, self._rest, after=max(0.0, last + REST - self._clock()))

    async def _rest(self) -> None:
        """One conversation that nobody went on with is put at rest."""
        conversation, last = next(iter(self._resting.items()))
        if last + REST > self._clock():
            # Somebody went on with what would have been due.
            self._rest_later()
            return
        # Taken out first: one that fails must not keep others from their rest.
        del self._resting[conversation]
        self._rest_later()
        try:
            if not await self._went_on_elsewhere(conversation):
                await self._put_at_rest(conversation)
        except asyncio.CancelledError:
            if conversation not in self._resting:
                self._resting = {conversation: last, **self._resting}
            self._rest_later()
            raise

    async def _went_on_elsewhere(self, conversation: str) -> bool:
        """Another process may serve the same people: who talks there is not at rest here."""
        try:
            row = await self._store.run(self._store.log.get, conversation)
        except NotFound:
            self._talked.discard(conversation)
            return True
        went_on = row.updated_at + REST > self._clock()
        if went_on:
            self._rest_each({conversation: row.updated_at})
        return went_on

    async def _put_at_rest(self, conversation: str) -> None:
        try:
            await self._compacting.at_rest(conversation)
        except NotFound:
            pass
        except ProviderError as error:
            log.warning("%s at rest: %s", conversation, error)
            return
        self._talked.discard(conversation)
        await self._write_notes()

    async def _take_up(self, since: float = _LEFT_BEHIND) -> None:
        """What was talked about when another process ended is put at rest by this one, now and later on."""
        rows = await self._store.run(self._store.log.list_used_since, self._clock() - since)
        self._rest_each({row.id: row.updated_at for row in rows})
        self.idle.schedule("left behind", partial(self._take_up, 2 * REST), after=REST)

    def _rest_each(self, talked: Mapping[str, float]) -> None:
        """These were talked in elsewhere, at these times."""
        self._resting = dict(sorted({**talked, **self._resting}.items(), key=itemgetter(1)))
        self._rest_later()

    async def _prepare(self) -> None:
        """What was left for later to be quick at the start is done before somebody has to wait for it."""
        for _ in compiling():
            await asyncio.sleep(0)

    async def _index(self) -> None:
        """What was said becomes searchable now, so that no question has to wait for it.

        In portions: a backlog (an import, a search engine of a new version) must not keep anybody waiting.
        """
        try:
            indexed = await self._store.run(self._store.texts.catch_up, _INDEXED_AT_ONCE)
        except StoreError as error:
            log.warning("what was said could not be indexed: %s", error)
        else:
            if indexed == _INDEXED_AT_ONCE:
                self.idle.schedule(_INDEX, self._index)
            elif self._remembering is not None:
                # Most was indexed with its answer.
                self._understand_later()

    async def _index_notes(self) -> None:
        memory = self._remembering
        assert memory is not None
        try:
            await _stoppable(lambda stop: memory.index.sync(stop=stop))
        except HoldfastError as error:
            log.warning("notes could not be indexed: %s", error)
        self._understand_later()

    async def _begin(self) -> None:
        """To start the embedder and to read vectors takes seconds, and no first question should wait."""
        memory = self._remembering
        assert memory is not None
        self._notes = bool(await asyncio.to_thread(memory.index.everywhere))
        if self._notes:
            await asyncio.to_thread(self._wake)
        try:
            since = self._clock() - _LEFT_BEHIND
            for newest in await self._store.run(self._store.log.list_used_since, since, limit=1):
                await asyncio.to_thread(memory.own.load, newest.scope)
        except HoldfastError as error:
            log.warning("what was said could not be read in advance: %s", error)

    def _rouse(self) -> None:
        """Somebody is going to need the embedder, if not at once: nobody waits for it."""
        if self._remembering is not None and self._remembering.embedder.rests:
            self._roused_at = self._clock()
            asyncio.get_running_loop().run_in_executor(None, self._wake)

    def _wake(self) -> None:
        assert self._remembering is not None
        try:
            self._remembering.embedder.wake()
        except HoldfastError as error:
            log.warning("what was said is searched by words alone for now: %s", error)

    async def _release(self) -> None:
        """An embedder that is not asked any more gives back its memory, until somebody needs it."""
        assert self._remembering is not None
        await asyncio.to_thread(self._remembering.embedder.rest, _UNASKED)
        self.idle.schedule("rest of the embedder", self._release, after=_LOOK)

    async def _refresh_qmd(self) -> None:
        """QMD reads what has changed, now and again after a while."""
        assert self._remembering is not None
        assert self._remembering.qmd is not None
        qmd = self._remembering.qmd
        if trouble := await _stoppable(qmd.refresh):
            log.warning("QMD could not read all notes: %s", trouble)
        self.idle.schedule(_QMD, self._refresh_qmd, after=qmd.interval)

    async def _follow(self) -> None:
        """Who finds vectors elsewhere hears of what came and went, so that nothing forgotten stays there."""
        memory = self._remembering
        assert memory is not None
        try:
            await _stoppable(memory.meaning.follow)
        except HoldfastError as error:
            log.warning("vectors could not be handed on: %s", error)
        self.idle.schedule(_VECTORS, self._follow, after=_LOOK)

    def _understand_later(self) -> None:
        self.idle.schedule("meaning", self._understand, calm=_SETTLED)

    async def _understand(self) -> None:
        """What was written and said becomes findable by its meaning, a little at a time."""
        memory = self._remembering
        assert memory is not None
        try:
            more = await _stoppable(lambda stop: memory.understand(_UNDERSTOOD_AT_ONCE, stop))
            if more:
                self._understand_later()
            else:
                self._notes = bool(await asyncio.to_thread(memory.index.everywhere))
                # It stays a while for whoever has notes, or a full window.
                if self._research is not None and self._notes:
                    await _stoppable(self._research.embed_questions)
                if not self._notes and self._clock() - self._roused_at > _UNASKED:
                    await asyncio.to_thread(memory.embedder.rest)
                self.idle.schedule(_VECTORS, self._follow)
                due = await asyncio.to_thread(memory.meaning.batches_due)
                if due is not None:
                    self.idle.schedule("batches", self._understand, after=due)
        except HoldfastError as error:
            log.warning("what was said is searched by words alone for now: %s", error)

    async def write_notes(self) -> None:
        """Write what was promised to be remembered now, for whoever wants to show it."""
        if self._store.outbox.promised != self._promised:
            await self._write_notes()

    async def _write_notes(self) -> None:
        async with self._writing:
            await self._project()

    async def _project(self) -> None:
        if self._projector is not None:
            promised = self._store.outbox.promised
            await self._store.run(self._projector.project)
            self._promised = promised
            if not self.idle.is_waiting("notes"):
                pause = LEASE_SECONDS if self._projector.runs_elsewhere else _AGAIN
                self.idle.schedule("notes", self._write_notes, after=pause)

    async def _tidy(self) -> None:
        before = self._clock() - _KEPT
        await self._store.run(self._store.compactions.forget, before)
        await self._store.run(self._store.outbox.forget, before)
        await self._store.run(self._store.jobs.forget, before)
        if self._research is not None:
            await _stoppable(partial(_pruned, self._research, self._clock()))
        self.idle.schedule("housekeeping", self._tidy, after=_DAILY)

    async def _retire(self, retention: Retention) -> None:
        """What was kept long enough goes, unless the clock may be wrong."""
        if await self._store.run(self._has_clock_jumped):
            log.warning("the clock went far ahead or back: nothing old is deleted for an hour")
            self.idle.schedule("retention", partial(self._retire, retention), after=_AFTER_JUMP)
            return
        try:
            await _stoppable(lambda stop: retention.prune(self._clock(), stop=stop))
        except HoldfastError as error:
            log.warning("old conversations could not be deleted: %s", error)
        self.idle.schedule("retention", partial(self._retire, retention), after=_DAILY)

    def _has_clock_jumped(self) -> bool:
        """Whether it is days since this was last asked, or before it: a leap, or nobody was here."""
        now, settings = self._clock(), self._store.settings
        before = settings.get(_SEEN, now)
        settings.set(_SEEN, now)
        return not -_DAILY <= now - before <= 2 * _DAILY

    async def _back_up(self, backups: BackupSchedule) -> None:
        try:
            if (file := await asyncio.to_thread(backups.run_if_due)) is not None:
                log.info("a backup was made: %s", file)
        except HoldfastError as error:
            log.warning("no backup could be made: %s", error)
        self.idle.schedule("backup", partial(self._back_up, backups), after=_LOOK_FOR_BACKUP)


def _tags(workspace: Workspace) -> dict[PurePosixPath, str]:
    return {entry.path: entry.tag for entry in workspace.entries()}


def _pruned(research: Research, now: float, stop: Callable[[], bool]) -> None:
    try:
        research.prune(now, stop=stop)
    except HoldfastError as error:
        log.warning("old findings could not be removed: %s", error)


async def _stoppable(work: Callable[[Callable[[], bool]], R]) -> R:
    """Work in a thread, which is told when nobody waits for it any more: a thread cannot be interrupted."""
    stop = threading.Event()
    try:
        return await asyncio.to_thread(work, stop.is_set)
    finally:
        stop.set()


# Editors write a file in several steps: a change is reported after so many quiet milliseconds.
_DEBOUNCE_MILLISECONDS = 1_500
# Seconds between two checks of what cannot be watched.
_POLL_SECONDS = 15.0


class FolderWatcher:
    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()

    def watch(self, folder: Path, changed: Callable[[], None]) -> None:
        """Calls `changed` after every change below `folder`, which is created if it does not exist."""
        self._task = asyncio.create_task(self._watch(folder, changed))

    def poll(
        self, state: Callable[[], object], changed: Callable[[], None], every: float = _POLL_SECONDS
    ) -> None:
        """Calls `changed` whenever the result of `state` (which may be slow) changes or was unavailable."""
        self._task = asyncio.create_task(self._poll(state, changed, every))

    async def close(self) -> None:
        self._stop.set()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _poll(self, state: Callable[[], object], changed: Callable[[], None], every: float) -> None:
        known, before = False, None
        while True:
            try:
                now = await asyncio.to_thread(state)
            except HoldfastError as error:
                log.info("what is there could not be looked at: %s", error)
                # Changes may have been missed.
                known, before = True, None
            else:
                if known and now != before:
                    changed()
                known, before = True, now
            await asyncio.sleep(every)

    async def _watch(self, folder: Path, changed: Callable[[], None]) -> None:
        try:
            await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
            async for _ in awatch(
                folder, debounce=_DEBOUNCE_MILLISECONDS, stop_event=self._stop, recursive=True
            ):
                changed()
        except (OSError, RuntimeError) as error:
            # Some file systems cannot be watched; then changes are noticed at the next search.
            log.info("%s cannot be watched: %s", folder, error)
