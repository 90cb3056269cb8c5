"""The memory as a whole: library, profile, index and search on one store, one workspace and one embedder.

Other packages use memory through `MemoryService` and add listeners for its changes.
"""

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from typing import Any, Literal

from holdfast.errors import EmbedderError, HoldfastError
from holdfast.memory.base import Memory, MemoryNews
from holdfast.memory.embedder_choice import ChosenEmbedder
from holdfast.memory.index import Freshness, Index, NoteFiles
from holdfast.memory.library import Change, Library
from holdfast.memory.notes import Notes
from holdfast.memory.profile import Profile
from holdfast.memory.ranking import MEASURED, RankingWeights
from holdfast.memory.remote_vectors import OpenVectors
from holdfast.memory.scopes import folder, safe_name, summary_file
from holdfast.memory.search import OpenSearchBackend, Search, Searcher
from holdfast.memory.semantic import BatchQueue, SemanticIndex
from holdfast.memory.tidy import LIMIT
from holdfast.memory.vectors import StoredVectors
from holdfast.memory.workspace import Workspace
from holdfast.messages import Scope
from holdfast.store import Store

# What is being made anew.
Phase = Literal["files", "vectors"]

# Rows whose vectors are made between two looks at how far it is.
_PORTION = 64
# After these nothing of the old words may be found, however long it takes until the file is read again.
_LEAVES_INDEX: frozenset[Change] = frozenset({"forgotten", "edited", "superseded", "archived"})
# After these it must not be told as it was; of what is in the archive the words still hold.
_NEWS: frozenset[Change] = frozenset({"forgotten", "edited", "superseded"})
# Pieces of what was said that are worth waking the embedder for: about fifty messages.
_ENOUGH = 50
# What has none of the words is about a question only if that is likely.
_MEANT = 0.5
# The vector index belongs to an embedder.
_NOT_UPDATED = "No embedder is configured, so the vector index was not updated."

log = logging.getLogger("holdfast.memory")


class MemoryService:
    """Wires the parts of memory together.

    `extra` are notes outside of the workspace; `learns` lets the profile accept proposals by itself. With
    `batching`, many vectors at once are computed by batch jobs of the embedder's server, if it has them;
    `vectors` opens the vector index. With `qmd`, searches by people are answered by QMD. Without
    `conversations`, only notes are found by meaning; messages are still found by their words. `limit` is the
    number of memories that a scope has at most before some are archived.
    """

    def __init__(
        self,
        store: Store,
        workspace: Workspace,
        embedder: ChosenEmbedder,
        *,
        extra: NoteFiles | None = None,
        weights: RankingWeights = MEASURED,
        learns: bool = False,
        conversations: bool = True,
        batching: BatchQueue | None = None,
        vectors: OpenVectors = StoredVectors,
        qmd: OpenSearchBackend | None = None,
        limit: int = LIMIT,
    ) -> None:
        self.workspace = workspace
        self.store = store
        self._conversations = conversations
        self.embedder = embedder
        self._former = embedder.former
        self.extra = extra
        self._has_engine = vectors is not StoredVectors
        self.index = Index(store, workspace, extra=extra, on_news=self._publish)
        self.meaning = SemanticIndex(
            store,
            embedder.awake,
            ready=embedder.ready,
            former=self._former.current if self._former else None,
            why_none=lambda: embedder.trouble,
            batching=batching,
            vectors=vectors,
        )
        # Asked in every turn, in which nobody waits for a program to start.
        self.own = Search(store, self.index, self.meaning, weights=weights)
        self.qmd = qmd(workspace, self.own, self.index) if qmd is not None else None
        self.search: Searcher = self.qmd or self.own
        self.profile = Profile(workspace, store.proposals, automatic=learns)
        self.library = Library(
            Notes(workspace),
            store.recollections,
            similar=self._similar,
            on_change=self._on_change,
            limit=limit,
        )
        # Hear of memories that are gone or have other words, whoever did it, after it is in the files.
        self.listeners: list[Callable[[Sequence[MemoryNews]], None]] = []
        # Hear of every change that is made here, by what it was.
        self.followers: list[Callable[[Sequence[Memory], Change], None]] = []

    def list_projects(self, user: str) -> list[str]:
        """List the projects of a user that have notes, by name."""
        place = folder(Scope(user, "any")).parent
        names = {entry.path.relative_to(place).parts[0] for entry in self.workspace.entries(place)}
        # Unusual names are not shown by their folders as they are.
        return sorted(name for name in names if safe_name(name) == name)

    def close(self) -> None:
        if self.qmd is not None:
            self.qmd.close()
        self.meaning.close()
        self.embedder.close()
        if self._former is not None:
            self._former.close()

    def understand(self, limit: int, stop: Callable[[], bool]) -> bool:
        """Compute vectors of up to `limit` texts; return whether there is more to do.

        Notes come first, messages once there are enough of them.
        """
        if self.meaning.catch_up(limit, self.index.everywhere(), stop=stop):
            return True
        if not self._conversations or self.meaning.waiting() < _ENOUGH:
            return False
        return self.meaning.catch_up(limit, stop=stop) > 0

    def messages_near(self, scope: Scope, query: str, limit: int = 20) -> dict[str, float]:
        """Find messages of this scope's conversations that are about a question, with their scores."""
        candidates, by_meaning = self.own.find_messages(query, scope, limit)
        # What merely stands beside something that was found is no hit for a person.
        return {
            each.row.passage: round(each.score, 4)
            for each in candidates
            if any(not engine.startswith("vectors") for engine in each.engines)
            or (by_meaning and each.score >= _MEANT)
        }

    def note_used(self, scope: Scope, names: Collection[str]) -> None:
        """Count that these memories went into a window. The index knows their owners, so no file is read."""
        owners = self.index.owners(scope, names)
        if owners:
            self.store.atomically(self.library.note_recalled, owners)

    def rebuild(
        self, tell: Callable[[Phase, int, int], None], stop: Callable[[], bool] = lambda: False
    ) -> tuple[Freshness, str]:
        """Rebuild the index from the files, first words, then vectors; `tell` is called with the progress.

        Return the state of the index, and why there are no vectors, if so.
        """
        fresh = self.index.rebuild(lambda done, total: tell("files", done, total), stop)
        total = self.meaning.waiting()
        try:
            # Who asks for this would rather wait than have no vectors.
            self.embedder.wake()
            while not stop() and (
                self.meaning.catch_up(_PORTION, stop=stop) or self.meaning.wait_for_batches(stop)
            ):
                tell("vectors", max(0, total - self.meaning.waiting()), total)
            self.meaning.follow(stop)
            trouble = self.embedder.trouble or (self.meaning.engine() or {}).get("trouble") or ""
        except EmbedderError as error:
            trouble = str(error)
        if self.qmd is not None:
            trouble = " ".join(filter(None, (trouble, self.qmd.refresh(stop, embed=True))))
        return fresh, trouble

    def drop_copies(self) -> str:
        """Let vector index and QMD drop what was removed; return why they could not, if so."""
        troubles = [self.qmd.refresh()] if self.qmd is not None else []
        if self._has_engine:
            known = self.meaning.engine() is not None
            self.meaning.follow()
            state = self.meaning.engine() if known else None
            troubles.append(state["trouble"] or "" if state else self.embedder.trouble or _NOT_UPDATED)
        return " ".join(filter(None, troubles))

    def state(self, scope: Scope) -> dict[str, Any]:
        """Report how far the index is behind the notes of a scope, and its vectors. No file is read."""
        embedder, batches = self.embedder.current(), self.meaning.batches()
        engine = self.meaning.engine()
        return {
            "index": asdict(self.index.refresh(scope, 0.0)),
            "vectors": {
                "embedder": str(embedder.identity) if embedder else None,
                "waiting": self.meaning.waiting(),
                "trouble": self.embedder.trouble or None,
                **({"batches": batches} if batches is not None else {}),
                **({"engine": engine} if engine and engine["location"] else {}),
            },
            **({"backend": self.qmd.state()} if self.qmd is not None else {}),
        }

    def remove_conversation(self, scope: Scope, conversation: str, *, forget: bool = False) -> int:
        """Remove the summary of a deleted conversation, and with `forget` what was learned in it.

        Return how many memories were forgotten.
        """
        self.workspace.remove(summary_file(scope, conversation))
        return len(self.library.forget_conversation(scope, conversation)) if forget else 0

    def _similar(self, text: str, others: Sequence[str]) -> Sequence[float]:
        """Compare a text with others by meaning; all zero without an embedder, so that words decide."""
        try:
            vectors = self.meaning.vectors_of([text, *others])
        except EmbedderError as error:
            log.info("what memories mean could not be compared: %s", error)
            vectors = None
        if vectors is None:
            return [0.0] * len(others)
        return [float(number) for number in vectors[1:] @ vectors[0]]

    def _on_change(self, memories: Sequence[Memory], change: Change) -> None:
        if change in _LEAVES_INDEX:
            self.store.atomically(self._remove_from_index, memories, change)
        for memory in memories if change in ("added", "updated") else ():
            try:
                self.profile.propose(memory)
            except HoldfastError as error:
                # What was remembered is kept; the profile merely learns nothing from it.
                log.warning("nothing could be proposed for the profile: %s", error)
        # Last, so that whoever hears of it finds what was proposed because of it.
        for follower in self.followers:
            follower(memories, change)

    def _remove_from_index(self, memories: Sequence[Memory], change: Change) -> None:
        """Remove changed memories from the index and publish the news, in one transaction."""
        self.index.forget({memory.id for memory in memories})
        for memory in memories if change == "forgotten" else ():
            self.store.proposals.withdraw(memory.scope.user, memory.text)
        if change in _NEWS:
            self._publish(
                [
                    MemoryNews(
                        memory.id, str(folder(memory.scope)), memory.text if change == "edited" else ""
                    )
                    for memory in memories
                ]
            )

    def _publish(self, news: Sequence[MemoryNews]) -> None:
        for listener in self.listeners:
            listener(news)
