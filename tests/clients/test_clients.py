"""Each client's traffic ends as the conversations a person would see: no titles, no fork that nobody made."""

import pytest

from evals.identity import Judge, Replay
from evals.recordings import interleave
from holdfast.conversations.alignment import is_own
from holdfast.conversations.identity import has_user_text
from holdfast.messages import Scope
from holdfast.store import Store, open_store
from tests.clients import CLIENTS, Client, lines_of

pytestmark = pytest.mark.slow

ONE_AT_A_TIME = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)


@pytest.fixture(scope="module")
def store():
    with open_store("sqlite://") as opened:
        yield opened


@pytest.fixture
def through(store, request):
    """A replay of its own: what other tests sent is out of its scope."""
    return Replay(store, Scope(user=request.node.name))


def seen(store: Store, head: str) -> list[str]:
    """What a person reads: their own words and the answers, without tools and what programs said."""
    report = []
    for stored in store.log.path(head):
        message = stored.message
        if is_own(stored) or (message.role == "user" and has_user_text(message)):
            report.append(message.text.strip())
    return [text for text in report if text]


def same(expected: tuple[str, ...], report: list[str]) -> bool:
    """Whether the expected words are what was told; programs may have put pages around a question."""
    left = iter(report)
    return all(any(words.strip() in text for text in left) for words in expected)


def replayed(through: Replay, client: Client) -> dict[str, str]:
    """The conversation that each chat of the client went into."""
    placed = {}
    for line, sent in zip(lines_of(client), client.traffic, strict=True):
        _, conversation = through.send(line)
        if sent.chat is not None:
            placed[sent.chat] = conversation
    return placed


@ONE_AT_A_TIME
def test_every_chat_becomes_one_conversation_and_nothing_else_does(store, through, client):
    placed = replayed(through, client)
    assert placed.keys() == client.conversations.keys()
    known = {conversation.id for conversation in store.log.recent(through.scope, 100)}
    assert known == set(placed.values())
    assert len(known) == len(client.conversations)


@ONE_AT_A_TIME
def test_a_conversation_ends_with_what_the_person_saw_last(store, through, client):
    placed = replayed(through, client)
    for chat, expected in client.conversations.items():
        report = seen(store, store.log.get(placed[chat]).head)
        assert same(expected, report), (chat, report)
        assert report[-1] == expected[-1].strip()
        answers = {words.strip() for words in expected}
        assert sum(text in answers for text in report) <= len(expected), "something is there twice"


@ONE_AT_A_TIME
def test_main_and_side_requests_are_distinguished_and_only_users_fork(through, client):
    judge = Judge()
    for line in lines_of(client):
        judge.hear(line, *through.send(line))
    score = judge.scores[client.name]
    assert score.notes == []
    assert (score.right, score.recognised) == (score.main, score.side)


@ONE_AT_A_TIME
def test_asking_again_forks_where_the_person_wanted_it(through, client):
    for line, sent in zip(lines_of(client), client.traffic, strict=True):
        placement, _ = through.send(line)
        assert placement.forks == sent.by_hand, (line.number, placement.reason)


def test_all_clients_at_once_stay_apart(through):
    judge = Judge()
    for line in interleave([lines_of(client) for client in CLIENTS]):
        judge.hear(line, *through.send(line))
    assert [note for score in judge.scores.values() for note in score.notes] == []
