"""The next summary of a conversation: all that was said since the last one, merged with it.

Reads the log and has the summary made. Whether a window needs it, and what leaves for it, is not known here.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from holdfast.compaction.compactor import CompactionTask, Compactor, SummaryBody
from holdfast.compaction.persistence import CompactionRecord
from holdfast.context.helpers import Helpers, SummaryOptions
from holdfast.context.loading import Case, item_of
from holdfast.messages import Message
from holdfast.store import Conversation, Store, Stored, Summarised, new_id

# How a summary was made that was only written because the end had come.
_IN_PASSING = "in passing"
# A span shorter than so many summaries is not worth a model's time.
_SHORT = 2


@dataclass(frozen=True, slots=True)
class Written:
    """A summary that is there, new or from before; `keeping` is what is still to be kept of it."""

    id: str
    depth: int
    body: SummaryBody
    tokens: int
    keeping: CompactionRecord | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """What is to be summarised: all after the latest summary, up to a message."""

    conversation: Conversation
    latest: Summarised | None
    through: str
    target: int
    count: Callable[[str], int]


class Summing:
    def __init__(self, store: Store, compactor: Compactor, helpers: Helpers, options: SummaryOptions) -> None:
        self._store = store
        self._compactor = compactor
        self._helpers = helpers
        self._options = options

    async def made(
        self, span: Span, case: Case | None, tell: Callable[[float], None] = lambda _: None
    ) -> Written:
        """A new summary. Without a case no model is asked."""
        latest, row = span.latest, span.conversation
        said = await self._store.run(self._store.log.part, span.through, below=latest.depth if latest else -1)
        tokens = await asyncio.to_thread(lambda: sum(span.count(_words(stored.message)) for stored in said))
        wanted = case if tokens > _SHORT * span.target else None
        helper = (
            await self._helpers.choose(wanted.request.model, wanted.provider, row.scope) if wanted else None
        )
        tell(0.0)
        before, again = await self._store.run(self._known, latest) if helper else (latest, [])
        task = CompactionTask(
            tuple(item_of(stored) for stored in said),
            SummaryBody.from_json(before.body) if before else None,
            span.target,
            span.count,
            flush=self._options.flush and row.memory,
            again=tuple(item_of(stored) for stored in again),
            ledger=SummaryBody.from_json(latest.body).ledger if latest else None,
        )
        made = await self._compactor.compact(task, helper, tell)
        if helper is not None:
            self._helpers.judge(helper, useful=made.method != "extractive", why=", ".join(made.problems))
        if case is None:
            made = replace(made, method=_IN_PASSING)
        keeping = CompactionRecord(
            new_id("s"),
            row,
            latest.id if latest else None,
            tuple(said),
            made,
            tokens,
            writes_notes=self._options.memory and row.memory,
        )
        return Written(keeping.id, said[-1].depth, made.body, tokens, keeping)

    def _known(self, latest: Summarised | None) -> tuple[Summarised | None, list[Stored]]:
        """The last summary somebody took time for, and what was said since: a model reads that once more."""
        before = latest
        while before is not None and before.path == _IN_PASSING:
            before = self._store.summaries.get(before.previous) if before.previous else None
        if latest is None or before is latest:
            return latest, []
        return before, self._store.log.part(latest.through, below=before.depth if before else -1)


def _words(message: Message) -> str:
    return " ".join((message.text, *(call.arguments for call in message.tool_calls)))
