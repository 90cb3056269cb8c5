"""What of memory goes into a window: the profile, what a conversation begins with, what a question is about.

Finding is done in `memory`, how it is written in `window`; here it is decided if, how much, and to whom it
may be told. Nothing is said twice in one window, and nobody waits long for it.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import ParamSpec, TypeVar

from holdfast.conversations.passages import passage
from holdfast.errors import HoldfastError
from holdfast.fitting.case import Case
from holdfast.fitting.quotes import about, replayed
from holdfast.memory.profiles.text import Told
from holdfast.memory.remembering import Remembering
from holdfast.memory.scopes import is_finding, summary_file
from holdfast.messages import Scope
from holdfast.store import new_id, searchable
from holdfast.window.additions import addition, remembered
from holdfast.window.decisions import Proposal
from holdfast.window.view import View
from holdfast.words import terms

log = logging.getLogger("holdfast.memory")

P = ParamSpec("P")
R = TypeVar("R")

# So many questions can be looked up at once.
_THREADS = 4

# At most so many for one question, quotes from above included; and so many hits are looked at for them.
_AT_ONCE, _LOOKED_AT = 3, 8
# Of the room for what is recalled, what a conversation begins with has at most this share.
_BEGINNING = 0.5
# So much of a question tells what it is about.
_ABOUT = 2_000
# With less room than this nothing is told until something else has left.
_LEAST = 30
# What the date, the bullet and a share of the heading take beside each, about.
_AROUND = 15
# Seconds that an answer waits for memory, at most: an embedder that starts takes longer.
_PATIENCE = 1.0
# A hit must have so much of the question. Measured on two sets of chats: of what answers a question 79 % have
# it, of the best that chats about other things have to offer 4 and 7 %.
_RELEVANT = 0.7
# What the window has said already need not be remembered: so much of its words in one message is enough.
_SAID = 0.9


@dataclass(frozen=True, slots=True)
class _Known:
    """One thing that is remembered, as it would be told."""

    id: str
    at: float
    text: str


class Recalling:
    def __init__(self, remembering: Remembering) -> None:
        self._memory = remembering
        # Threads of its own: a search that hangs must not hold up what everybody else does.
        self._pool = ThreadPoolExecutor(_THREADS, "holdfast-recall")
        self._busy = threading.BoundedSemaphore(_THREADS)
        # What a profile comes to, by its owner: it is read for every request and seldom changes.
        self._profiles: dict[Scope, tuple[object, Told]] = {}

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def has_any(self, case: Case) -> bool:
        """Whether there is anything that could be remembered in this conversation."""
        return case.remembers and not self._memory.index.is_empty(case.scope)

    def profile(self, case: Case) -> Told:
        """What the model is told of the person who asks."""
        scope = case.scope
        if scope.kind == "group" or not case.tells:
            return Told()
        try:
            state = self._memory.profile.show(scope).tag, case.budget.profile, id(case.counter)
            known = self._profiles.get(scope)
            if known is None or known[0] != state:
                told = self._memory.profile.text(scope, case.budget.profile, case.count)
                known = self._profiles[scope] = state, told
        except HoldfastError as error:
            return Told(trouble=str(error))
        return known[1]

    def nearness(self, view: View) -> dict[str, float]:
        """How close what was said is to the question by its meaning, as far as that is known by now."""
        if view.question is None:
            return {}
        texts = {one.item.id: searchable(one.item.message) for one in view.shown}
        question = view.question.message.text[:_ABOUT]
        work = self._begun(self._memory.meaning.nearness, question, texts)
        if work is None or wait({work}, _PATIENCE).not_done:
            return {}
        if (error := work.exception()) is not None:
            # Whatever is wrong with memory, the window is made.
            log.info("what was said is compared by words alone: %r", error)
            return {}
        return work.result()

    def count(self, case: Case, names: Sequence[str]) -> None:
        """Has it counted that these went into a window; nobody waits for it."""
        self._begun(self._used, case.scope, names)

    async def beside(
        self, view: View, case: Case, quotes: list[Proposal]
    ) -> tuple[list[Proposal], list[str]]:
        """The quotes with what is remembered beside them, and what did not go well."""
        if not case.tells:
            return quotes, ["held_back"]
        number = _AT_ONCE - sum(len(one.data.get("sources", ())) for one in quotes)
        room = view.draft.budget.recalled - replayed(view) - sum(one.tokens_after for one in quotes)
        if not _asks_anew(view) or room < _LEAST or number < 1:
            return quotes, []
        answer = await self.in_time(self._told, view, case, room, number)
        if answer is None:
            return quotes, ["not_recalled"]
        found, notices = answer
        return [*quotes, *found], notices

    async def in_time(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R | None:
        """What comes of work in a thread of memory's own; None where it fails, or nobody can wait for it."""
        begun = self._begun(work, *args, **kwargs)
        if begun is None:
            return None
        waiting = asyncio.wrap_future(begun)
        # What goes wrong after nobody waits any more is nobody's trouble.
        waiting.add_done_callback(lambda late: late.cancelled() or late.exception())
        await asyncio.wait({waiting}, timeout=_PATIENCE)
        if not begun.done():
            return None
        if (error := begun.exception()) is not None:
            # Whatever is wrong with memory, the question is asked.
            log.error("memories could not be looked through", exc_info=error)
            return None
        return begun.result()

    def _begun(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> "Future[R] | None":
        """Work in a thread of memory's own; None where all of them are busy."""
        if not self._busy.acquire(blocking=False):
            return None
        try:
            future = self._pool.submit(work, *args, **kwargs)
        except RuntimeError:
            # It is being closed.
            self._busy.release()
            return None
        future.add_done_callback(lambda _: self._busy.release())
        return future

    def _used(self, scope: Scope, names: Sequence[str]) -> None:
        try:
            self._memory.used(scope, names)
        except HoldfastError as error:
            log.info("that memories were of use could not be counted: %s", error)

    def _told(self, view: View, case: Case, room: int, number: int) -> tuple[list[Proposal], list[str]]:
        question = view.question
        assert question is not None
        told = set(told_in(view))
        chosen: list[_Known] = []
        if question.depth == 0 and case.scope.kind == "private":
            foremost = self._memory.library.foremost(case.scope)
            beginning = (_Known(one.id, one.date, " ".join(one.text.split())) for one in foremost)
            chosen += _fitting(beginning, view, int(room * _BEGINNING))
            told.update(one.id for one in chosen)
        left = room - sum(view.text_tokens(one.text) + _AROUND for one in chosen)
        found, notices = self._found(view, case, told, left)
        chosen += _fitting(found, view, left, number)
        while chosen:
            text = remembered(question.message, [(one.at, one.text) for one in chosen])
            # Only the whole text tells what it really takes.
            if view.text_tokens(text) <= room:
                names = [one.id for one in chosen]
                return [addition(view, question, "recalled", text, new_id("d"), memories=names)], notices
            chosen.pop()
        return [], notices

    def _found(self, view: View, case: Case, told: set[str], room: int) -> tuple[list[_Known], list[str]]:
        assert view.question is not None
        question = about(view.question.message).text
        answer = self._memory.own.search(question, case.scope, within="notes", limit=_LOOKED_AT)
        conversation = case.kept.conversation
        # The window has the summary of its own conversation anyway.
        own = str(summary_file(case.scope, conversation.id)) if conversation else ""
        lacking = set(answer.degraded).difference(answer.freshness.left_out)
        by_words = lacking and "vectors" not in answer.engines and not self._memory.embedder.off
        notices = ["recalled_by_words"] if by_words else []
        weights = dict.fromkeys(terms(question), 1.0)
        said = _said(view) if answer.hits else []
        known = []
        for hit in answer.hits:
            # Findings are told by `researching`, with what is known of them.
            elsewhere = hit.path == own or is_finding(PurePosixPath(hit.path))
            if hit.id not in told and not elsewhere and (hit.exact or hit.relevance >= _RELEVANT):
                text = passage(hit.snippet, weights, room, view.text_tokens)
                known.append(_Known(hit.id, hit.at, " ".join(text.split())))
        return [one for one in known if one.text and not _is_said(said, one.text)], notices


def told_in(view: View) -> Iterator[str]:
    """The memories that stand in the window already."""
    there = {one.decision for shown in view.shown for one in shown.additions}
    for decision in view.decisions:
        if decision.kind == "add" and decision.id in there:
            yield from decision.data.get("memories", ())


def _asks_anew(view: View) -> bool:
    """Whether the newest message is a question for which nothing was recalled yet: not inside a tool loop."""
    question, newest = view.question, view.shown[-1] if view.shown else None
    if question is None or question.depth < 0 or newest is None or newest.item is not question:
        return False
    return all(one.section != "recalled" for one in newest.additions)


def _said(view: View) -> list[frozenset[str]]:
    """The words of every message in the window; what is asked is no statement."""
    return [frozenset(terms(one.message.text)) for one in view.shown if one.item is not view.question]


def _is_said(messages: Sequence[frozenset[str]], text: str) -> bool:
    """Whether one of the messages says so anyway."""
    sought = frozenset(terms(text))
    return any(len(sought & said) >= _SAID * len(sought) for said in messages)


def _fitting(known: Iterable[_Known], view: View, room: int, most: int | None = None) -> list[_Known]:
    chosen: list[_Known] = []
    for one in known:
        cost = view.text_tokens(one.text) + _AROUND
        if cost <= room:
            room -= cost
            chosen.append(one)
        if room < _LEAST or len(chosen) == most:
            break
    return chosen
