"""What of the past goes into a window: the profile, what a conversation begins with, evidence for a
question.

Finding is done in `recall`, how it is written in `window`; here it is decided if, how much, and to whom it
may be told. Nobody waits long for it.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import cache
from itertools import islice, takewhile
from typing import Any, ParamSpec, TypeVar

from holdfast.context.findings import SECTION, tell_finding
from holdfast.context.loading import FitRequest, LoadedLane
from holdfast.errors import HoldfastError, StoreError
from holdfast.memory.library import is_rule
from holdfast.memory.profile import ProfileExcerpt
from holdfast.memory.service import MemoryService
from holdfast.messages import Message, Scope
from holdfast.recall import Evidence, Need, Recall, Snippet
from holdfast.store import Store, new_id, searchable_text
from holdfast.text.questions import asks, names_in_prompt
from holdfast.tokens.budget import largest_fitting
from holdfast.window.additions import (
    PlacedAddition,
    Quote,
    earlier_evidence,
    format_quotes,
    propose_addition,
    remove_additions,
    split_quotes,
)
from holdfast.window.decisions import BEGINNING, Add, Proposal
from holdfast.window.report import Link, chain_of, count_shared_links
from holdfast.window.rules import typed_text
from holdfast.window.view import View

log = logging.getLogger("holdfast.memory")

P = ParamSpec("P")
R = TypeVar("R")

# So many questions can be looked up at once.
_THREADS = 4
# So much of a question tells what it is about.
_ABOUT = 2_000
# With less room than this nothing is brought.
_LEAST = 40
# What the date and the bullet take beside each memory, about.
_AROUND = 12
# Evidence stands in pieces of about this part of its share, so that a part of it can leave.
_PIECE = 0.5
# Seconds that an answer waits for memory, at most. Usual are a few hundredths; on a busy machine a search
# takes seconds, and an answer without evidence would be worse than a late one.
_PATIENCE = 10.0


class RecallService:
    """`remembering` is None where there is nothing but the log: then only this conversation is searched."""

    def __init__(self, store: Store, recall: Recall, remembering: MemoryService | None = None) -> None:
        self._store = store
        self._recall = recall
        self._memory = remembering
        # Threads of its own: a search that hangs must not hold up what everybody else does.
        self._pool = ThreadPoolExecutor(_THREADS, "holdfast-recall")
        self._busy = threading.BoundedSemaphore(_THREADS)
        # What a profile comes to, by its owner: it is read for every request and seldom changes.
        self._profiles: dict[Scope, tuple[object, ProfileExcerpt]] = {}

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def has_any(self, case: FitRequest) -> bool:
        """Whether there is anything that could be remembered in this conversation."""
        return self._memory is not None and case.remembers and not self._memory.index.is_empty(case.scope)

    def profile(self, case: FitRequest) -> ProfileExcerpt:
        """What the model is told of the person who asks."""
        scope = case.scope
        if self._memory is None or scope.kind == "group" or not case.may_read_memory:
            return ProfileExcerpt()
        try:
            state = self._memory.profile.show(scope).tag, case.budget.profile, id(case.counter)
            known = self._profiles.get(scope)
            if known is None or known[0] != state:
                excerpt = self._memory.profile.render(scope, case.budget.profile, case.count)
                known = self._profiles[scope] = state, excerpt
        except HoldfastError as error:
            return ProfileExcerpt(trouble=str(error))
        return known[1]

    def nearness(self, view: View) -> dict[str, float]:
        """How close what was said is to the question by its meaning, as far as that is known by now."""
        if self._memory is None or view.question is None:
            return {}
        texts = {shown.item.id: searchable_text(shown.item.message) for shown in view.shown}
        question = view.question.message.text[:_ABOUT]
        work = self._submit(self._memory.meaning.nearness, question, texts)
        if work is None or wait({work}, _PATIENCE).not_done:
            return {}
        if (error := work.exception()) is not None:
            # Whatever is wrong with memory, the window is made.
            log.info("what was said is compared by words alone: %r", error)
            return {}
        return work.result()

    def count(self, case: FitRequest, names: Sequence[str]) -> None:
        """Has it counted that these went into a window; nobody waits for it."""
        self._submit(self._used, case.scope, names)

    async def bring(
        self,
        view: View,
        case: FitRequest,
        loaded: LoadedLane,
        fit: Callable[[Sequence[Proposal], Evidence], R],
    ) -> tuple[R | None, Evidence, list[str]]:
        """What `fit` makes of the decisions that put evidence behind the question, what was looked for, and
        what did not go well. None where nothing was looked for.
        """
        if not asks_anew(view):
            return None, Evidence(), []
        has_all = loaded.is_whole and len(_whole(view)) == len(loaded.items)
        if has_all and not self._may_have_earlier(case):
            held_back = self._memory is not None and case.remembers and not case.may_read_memory
            return None, Evidence(), ["held_back"] if held_back else []

        def look_and_fit() -> tuple[R, Evidence, list[str]]:
            proposals, evidence, notices = self._look(view, case, loaded)
            return fit(proposals, evidence), evidence, notices

        return await self.in_time(look_and_fit) or (None, Evidence(), ["not_recalled"])

    async def in_time(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R | None:
        """What comes of work in a thread of memory's own; None where it fails, or nobody can wait for it."""
        begun = self._submit(work, *args, **kwargs)
        if begun is None:
            return None
        waiting = asyncio.wrap_future(begun)
        # What goes wrong after nobody waits any more is nobody's trouble.
        waiting.add_done_callback(lambda late: late.cancelled() or late.exception())
        await asyncio.wait({waiting}, timeout=_PATIENCE)
        if not begun.done():
            return None
        if isinstance(error := begun.exception(), StoreError):
            raise error
        if error is not None:
            # Whatever is wrong with memory, the question is asked.
            log.error("what was said earlier could not be looked through", exc_info=error)
            return None
        return begun.result()

    def _submit(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> "Future[R] | None":
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
            if self._memory is not None:
                self._memory.note_used(scope, names)
        except HoldfastError as error:
            log.info("that memories were of use could not be counted: %s", error)

    def _may_have_earlier(self, case: FitRequest) -> bool:
        return self._memory is not None and case.remembers and case.may_read_memory

    def _look(
        self, view: View, case: FitRequest, loaded: LoadedLane
    ) -> tuple[list[Proposal], Evidence, list[str]]:
        opening = self._begin(view, case)
        view = view.having(*opening) if opening else view
        # As if what is added were counted exactly; where it is not, some of it goes again.
        room = view.room - view.total.high
        need = self._need(view, case, loaded)
        share = view.draft.budget.recalled
        evidence = Evidence()
        if room >= _LEAST:
            evidence = self._recall.bring(need, room, view.likely_tokens, share)
        notices = [] if case.may_read_memory or not case.remembers else ["held_back"]
        if self._by_words_alone(evidence):
            notices.append("recalled_by_words")
        if evidence.partial:
            notices.append("recalled_in_part")
        proposals, snippets = _as_much_as_fits(view, evidence.snippets)
        return [*opening, *proposals], replace(evidence, snippets=snippets), notices

    def _begin(self, view: View, case: FitRequest) -> list[Proposal]:
        """What a private conversation begins with, where the window does not have it (any more)."""
        if case.scope.kind != "private" or not case.may_read_memory:
            return []
        if any(each.name == BEGINNING for shown in view.shown for each in shown.additions):
            return []
        # Where it left with its message it is told again; a conversation that began without it goes on so.
        assert view.question is not None
        has_begun = any(
            decision.data.get("name") == BEGINNING for decision in view.decisions if decision.kind == "add"
        )
        if (view.question.depth > 0 and not has_begun) or not self.has_any(case):
            return []
        assert self._memory is not None
        share, free = case.budget.beginning, view.room - view.total.high
        # Rules may also have the share of the summary, while there is none.
        most = share if view.rendered.summary else share + case.budget.summary
        quotes, names, spent = [], [], 0
        for memory in self._memory.library.list_opening(case.scope):
            text = " ".join(memory.text.split())
            cost = view.likely_tokens(text) + _AROUND
            if spent + cost <= min(free, most if is_rule(memory) else share):
                spent += cost
                quotes.append(Quote("memory", memory.date, "", text))
                names.append(memory.id)
        proposal = _addition(view, quotes, name=BEGINNING, memories=tuple(names))
        return [proposal] if quotes and view.having(proposal).fits else []

    def _need(self, view: View, case: FitRequest, loaded: LoadedLane) -> Need:
        question, conversation = view.question, case.question.conversation
        assert question is not None
        assert conversation is not None
        before = [item.id for item in loaded.items if 0 <= item.depth < question.depth]
        earlier = [shown.item.message for shown in view.shown if shown.item is not question]
        exchange = [message.text for message in earlier[-2:] if message.role in ("user", "assistant")]
        prompt = "\n".join(message.text for message in loaded.system)
        return Need(
            question=about(question.message).text,
            scope=case.scope,
            tree=conversation.tree,
            head=before[-1] if before else None,
            conversation=conversation.id,
            before=[text[:_ABOUT] for text in exchange],
            names=names_in_prompt(prompt),
            present=_whole(view),
            known={*memories_in(view), *_findings_in(view)},
            # As it is shown: of what was shortened, the rest can be brought back.
            said=[shown.message.text for shown in view.shown if shown.item is not question],
            remembers=self._may_have_earlier(case),
            at=question.at,
            message=question.id,
        )

    def keep_earlier(self, view: View, case: FitRequest, loaded: LoadedLane, evidence: Evidence) -> View:
        """Returns the view with as much of the evidence for earlier questions as still fits.

        All of it left before anything was decided (`drop_evidence`): what the question needs comes first.
        What stays need not be read again by the server, and what it says is not brought twice.
        """
        leaving = leaving_evidence(view)
        if leaving is None:
            return view
        others = [each for each in view.proposals if each is not leaving]
        before = View(view.draft, others, view)
        placed = list(earlier_evidence(before))
        useful = self._list_useful(before, placed, case, loaded)
        rest = [each for each in others if not (isinstance(each, Add) and each.is_evidence)]
        quotes = [each for each in evidence.snippets if each.origin != "research"]

        @cache
        def keep(count: int) -> View:
            texts = "\n".join(addition.text for _, addition in useful[:count])
            removal = remove_additions(before, placed[count:], leaving.rule, leaving.reason)
            kept = View(view.draft, [*removal, *rest], view)
            more = [each for each in quotes if each.text not in texts]
            return kept.having(*_propose(kept, more)) if more else kept

        count = largest_fitting(len(useful), lambda count: keep(count).fits)
        return keep(count) if count else view

    def _list_useful(
        self, view: View, placed: Sequence[PlacedAddition], case: FitRequest, loaded: LoadedLane
    ) -> list[PlacedAddition]:
        """Returns the evidence that the server has read at its place and that may still be told.

        Behind the first message that changed everything is read again: there it would only take room.
        """
        chain = chain_of(view)
        shared = count_shared_links([Link(*link) for link in loaded.lane.state.sent], chain)
        known = {link.name for link in chain[:shared]}
        names = {addition.decision for _, addition in placed}
        sources = {
            each.id: [source["message"] for source in each.sources or ()]
            for each in view.decisions
            if isinstance(each, Add) and each.id in names
        }
        trees = self._store.log.trees_of({name for several in sources.values() for name in several})
        shareable = self._list_shareable(set(trees.values()), case)

        def is_useful(pair: PlacedAddition) -> bool:
            message, addition = pair
            return message in known and all(
                trees.get(source) in shareable for source in sources[addition.decision]
            )

        return list(takewhile(is_useful, placed))

    def _list_shareable(self, trees: set[str], case: FitRequest) -> set[str]:
        """Returns those of the trees of messages that this conversation may be told from."""
        assert case.question.conversation is not None
        own = case.question.conversation.tree
        others = trees - {own}
        if not others or not self._may_have_earlier(case):
            return {own}
        talks = self._store.log.conversations_on(others)
        return {own, *(tree for tree in others if any(talk.memory for talk in talks[tree]))}

    def _by_words_alone(self, evidence: Evidence) -> bool:
        if self._memory is None or self._memory.embedder.off or self._memory.embedder.starting:
            # While it starts, words do for a moment: nothing is wrong.
            return False
        return bool(evidence.degraded) and "vectors" not in evidence.engines and bool(evidence.engines)


def _as_much_as_fits(view: View, snippets: Sequence[Snippet]) -> tuple[list[Proposal], tuple[Snippet, ...]]:
    """The decisions that put evidence behind the question, and what they tell: only the whole request tells
    what it really takes.
    """
    staying = list(snippets)
    while staying:
        proposals = _propose(view, staying)
        over = view.having(*proposals).total.high - view.room
        if over <= 0:
            return proposals, tuple(staying)
        # Those that were chosen last go, as many as it takes.
        for snippet in sorted(staying, key=lambda each: -each.rank):
            staying.remove(snippet)
            over -= view.text_tokens(snippet.text)
            if over <= 0:
                break
    return [], ()


def _propose(view: View, snippets: Sequence[Snippet]) -> list[Proposal]:
    """The decisions that put these snippets behind the question.

    Memories stand apart from what was said, since they are rewritten where they are corrected or forgotten;
    findings each for itself, since they expire.
    """
    memories = [each for each in snippets if each.origin == "memory"]
    findings = [each for each in snippets if each.origin == "research"]
    messages = [each for each in snippets if each.origin in ("earlier", "here")]
    assert view.question is not None
    proposals = [tell_finding(view, view.question, each.id, each.text) for each in findings]
    if memories:
        names = tuple(each.id for each in memories)
        proposals.append(_addition(view, [_quote_of(each) for each in memories], memories=names))
    # In the order in which they are written.
    waiting = iter(sorted(messages, key=lambda each: each.origin != "earlier"))
    most = view.draft.budget.recalled * _PIECE
    quotes = [_quote_of(each) for each in messages]
    for text, number in split_quotes(view.question.message, quotes, most, view.likely_tokens):
        sources = tuple({"message": each.id, "why": f"{each.score:.0%}"} for each in islice(waiting, number))
        proposals.append(_add_quotes(view, text, sources=sources))
    return proposals


def _addition(view: View, quotes: Sequence[Quote], **more: Any) -> Proposal:
    """The decision that puts memories behind the question, below those that the conversation begins with."""
    question = view.question
    assert question is not None
    text = format_quotes(question.message, quotes, question.at)
    if any(
        each.name == BEGINNING for shown in view.shown if shown.item is question for each in shown.additions
    ):
        # They stand under the same heading.
        text = text.partition("\n")[2]
    return _add_quotes(view, text, **more)


def _add_quotes(view: View, text: str, **more: Any) -> Proposal:
    assert view.question is not None
    return propose_addition(view, view.question, "recalled", text, new_id("d"), **more)


def _quote_of(snippet: Snippet) -> Quote:
    return Quote(snippet.origin, snippet.at, snippet.role, snippet.text)


def memories_in(view: View) -> Iterator[str]:
    """The memories that stand in the window already."""
    decisions = {addition.decision for shown in view.shown for addition in shown.additions}
    for decision in view.decisions:
        if decision.kind == "add" and decision.id in decisions:
            yield from decision.data.get("memories", ())


def _findings_in(view: View) -> Iterator[str]:
    for shown in view.shown:
        yield from (each.name for each in shown.additions if each.section == SECTION and each.name)


def leaving_evidence(view: View) -> Proposal | None:
    """The decision that takes the evidence for earlier questions out of the window."""
    return next((each for each in view.proposals if each.rule == "recalled_full"), None)


def asks_anew(view: View) -> bool:
    """Whether the newest message is a question for which nothing was brought yet: not inside a tool loop."""
    # Claude Code puts a system message behind the question now and then.
    talk = (shown for shown in reversed(view.shown) if shown.item.message.role != "system")
    question, newest = view.question, next(talk, None)
    if question is None or question.depth < 0 or newest is None or newest.item is not question:
        return False
    return all(addition.section != "recalled" for addition in newest.additions)


def about(question: Message) -> Message:
    """What points at something: of a statement only what was typed, for what is pasted with it is news."""
    text = typed_text(question.text).strip()
    return question if not text or asks(text) else Message.of("user", text)


def _whole(view: View) -> set[str]:
    return {shown.item.id for shown in view.shown if not shown.rules or shown.rules == ("thinking",)}
