"""What is remembered of the last histories is only a shortcut: it says what the log would have said."""

import pytest

from evals.identity import Replay, without_ids
from evals.recordings import interleave
from holdfast.conversations import RecentConversation, RecentConversationCache, locate_in_cache, read_hints
from holdfast.messages import Scope
from holdfast.store import open_store
from tests.clients import CLIENTS, lines_of

pytestmark = pytest.mark.slow


class Compared(Replay):
    """A replay that asks the shortcut before the log, and remembers what it was told as the engine does."""

    def __init__(self, store, scope):
        super().__init__(store, scope)
        self.standings = RecentConversationCache()
        self.taken = 0

    def send(self, line):
        hints = read_hints(line.headers, line.request)
        short = None
        if not line.continues:
            short = locate_in_cache(self.scope, line.request, hints, self.asides, self.standings)
        if short is not None and short.conversation is not None and self._moved_on(short):
            # What it says is not kept then: the log is asked after all.
            short = None
        placement, conversation = super().send(line)
        if short is not None:
            self.taken += placement.conversation is not None
            assert _decided(short) == _decided(placement), (line.file, line.number, placement.reason)
        if conversation is not None and not placement.from_log:
            self._remember(line, placement, conversation)
        return placement, conversation

    def _moved_on(self, short):
        return self.store.log.get(short.conversation).head != short.head

    def _remember(self, line, placement, conversation):
        """The messages of the request as the log has them, and the answer behind them."""
        talk = [message for message in line.request.messages if message.role != "system"]
        known = [item for item in placement.matched if item is not None]
        row = self.store.log.get(conversation)
        path = self.store.log.path(row.head)
        behind = len(placement.new) + (line.answer is not None)
        noted = (*known, *(path[-behind:] if behind else ()))
        if len(noted) == len(talk) + (line.answer is not None):
            self.standings.add(self.scope, RecentConversation(row.id, row.client, row.external_id, noted))


def _decided(placement):
    matched = tuple(item.id if item else None for item in placement.matched)
    new = tuple(entry.message for entry in placement.new)
    return placement.kind, placement.conversation, placement.parent, placement.forks, matched, new


@pytest.fixture
def compared():
    with open_store("sqlite://") as store:
        yield Compared(store, Scope())


@pytest.mark.parametrize("ids", [True, False], ids=["with ids", "without ids"])
def test_recent_cache_agrees_with_log_for_all_client_traffic(compared, ids):
    lines = [lines_of(client) for client in CLIENTS]
    for line in interleave(lines if ids else [without_ids(some) for some in lines]):
        compared.send(line)
    assert compared.taken > 10, "it was asked, and knew"
