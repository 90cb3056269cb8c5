"""Many at once, and clients hard to tell apart: every turn is kept once, in order, in its own place."""

import asyncio
from collections import Counter
from contextlib import ExitStack
from itertools import count

import httpx
import pytest

from holdfast.errors import Unreachable
from holdfast.messages import Scope
from holdfast.store import Key
from holdfast.testing.provider import ScriptedProvider
from holdfast.upstreams.base import ModelInfo
from tests.server import crowd
from tests.server.conftest import running

MODELS = [ModelInfo(name, running_window=8192) for name in (crowd.MODEL, "other")]


def answer(request):
    """The words of the newest question, and which model was asked."""
    text = request.messages[-1].text
    if text.startswith("Fail"):
        return Unreachable("the model server is away")
    again = sum(message.text == text for message in request.messages)
    return f"{request.model} heard {text!r}{'!' * again}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("many")


@pytest.fixture(scope="module")
def servers(folder):
    """Two processes would be two of these: all they share is the file of the store."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(running(folder, ScriptedProvider(fallback=answer, models=MODELS)))
            for _ in range(2)
        ]


@pytest.fixture(scope="module")
def numbers():
    return count()


@pytest.fixture
def tab(servers, numbers):
    """Opens tabs: clients of one project that know no id, on either server."""
    project = f"p{next(numbers)}"

    def opened(server=0, **headers):
        return Tab(servers[server], project, headers)

    return opened


class Tab:
    """A client that resends what is on its screen."""

    def __init__(self, server, project, headers):
        self.server, self.project = server, project
        self.headers = {"X-Holdfast-Project": project, **headers}
        self.screen = []

    def say(self, words, *, model=crowd.MODEL, sent=None, **rest):
        """One turn; `sent` is what goes over the wire if that is not just what is on the screen."""
        self.screen.append(("user", words))
        body = {"model": model, "stream": False, "messages": sent or self.messages(), **rest}
        response = self.server.client.post("/api/chat", json=body, headers=self.headers)
        if response.status_code == 200:
            self.screen.append(("assistant", response.json()["message"]["content"]))
        return response

    def back(self, turns=1):
        """Takes back the last turns, as somebody does who edits a message or wants another answer."""
        del self.screen[-2 * turns :]

    def messages(self):
        return [{"role": role, "content": words} for role, words in self.screen]

    def kept(self):
        """All conversations of the project, as their people would read them."""
        log = self.server.store.log
        rows = log.recent(Scope(project=self.project), 500)
        return Counter(
            tuple((item.message.role, item.message.text) for item in log.path(row.head)) for row in rows
        )

    def chats(self):
        return self.server.client.get("/api/chats", headers=self.headers).json()["chats"]


def screens(*tabs):
    return Counter(tuple(tab.screen) for tab in tabs)


def test_twelve_clients_of_five_protocols_talk_at_once(tmp_path):
    provider = ScriptedProvider(fallback=crowd.answer)
    with running(tmp_path, provider) as holdfast:
        keys = {user: holdfast.store.keys.create(Key(user=user))[1] for user in crowd.USERS}
        people = crowd.people(12, keys)
        asyncio.run(crowd.talk(holdfast.url, people, 6))
        assert crowd.kept(holdfast.client, people) == crowd.seen(people)
        assert crowd.mixed(provider.requests) == []
        assert {job.status for job in holdfast.store.jobs.recent(500)} == {"done"}


def test_tabs_with_the_same_words_stay_tabs(tab):
    """They part at the second question; until then nobody could tell them apart."""
    tabs = [tab() for _ in range(3)]
    for item in tabs:
        item.say("Hello!")
    for number, item in enumerate(tabs):
        item.say(f"I am number {number}.")
    for item in reversed(tabs):
        item.say("What is my number?")
    assert tabs[0].kept() == screens(*tabs)


def test_a_question_that_waits_for_its_answer_keeps_its_place(tab):
    """Two tabs are the same so far; in one of them somebody has just asked, and nothing came yet."""
    waiting, other = tab(), tab()
    for item in (waiting, other):
        item.say("Hello!")
    assert waiting.say("Fail, please.").status_code == 503
    other.say("Tell me of ferries.")
    assert other.kept() == screens(waiting, other)


def test_tabs_with_identical_messages_stay_separate_conversations(tab):
    tabs = [tab() for _ in range(3)]
    for words in ("Hello!", "And now?", "And then?"):
        for item in tabs:
            item.say(words)
    assert tabs[0].kept() == screens(*tabs)


@pytest.mark.anyio
async def test_questions_at_once_in_one_conversation_lose_nothing(tab):
    """A client that asks three things at the same time: one conversation, three ways to go on."""
    item = tab()
    item.say("Hello!")
    asked = [f"Question {number}?" for number in range(3)]
    async with httpx.AsyncClient(base_url=item.server.url, timeout=60, trust_env=False) as client:
        bodies = [
            {
                "model": crowd.MODEL,
                "stream": False,
                "messages": [*item.messages(), {"role": "user", "content": words}],
            }
            for words in asked
        ]
        answers = await asyncio.gather(
            *(client.post("/api/chat", json=body, headers=item.headers) for body in bodies)
        )
    assert [answer.status_code for answer in answers] == [200] * 3
    log = item.server.store.log
    (row,) = log.recent(Scope(project=item.project), 10)
    hello = log.path(row.head)[1]
    ways = {question.message.text: log.children(question.id) for question in log.children(hello.id)}
    assert ways.keys() == set(asked)
    for answer, words in zip(answers, asked, strict=True):
        assert [text.message.text for text in ways[words]] == [answer.json()["message"]["content"]]


def test_two_models_side_by_side_are_one_conversation(tab):
    chat = {"X-OpenWebUI-Chat-Id": "side-by-side"}
    left, right = tab(**chat), tab(**chat)
    left.say("Hello!")
    right.say("Hello!", model="other")
    left.say("Who are you?")
    right.say("Who are you?", model="other")
    (row,) = left.chats()
    log = left.server.store.log
    assert tuple(left.kept()) == (tuple(right.screen),), "the last answer is where it ends"
    (question,) = {path[0].id for path in [log.path(log.get(row["id"]).head)]}
    answers = {item.message.text for item in log.children(question)}
    assert answers == {left.screen[1][1], right.screen[1][1]}


def test_regenerated_answer_and_edited_question_stay_in_same_conversation(tab):
    item = tab()
    for words in ("Hello!", "Tell me of ferries.", "And of harbours?"):
        item.say(words)
    item.back()
    item.say("And of harbours?")
    assert item.kept() == screens(item)
    item.back(2)
    item.say("Tell me of lighthouses.")
    item.say("And of harbours?")
    assert item.kept() == screens(item)


CLOCK = "You are helpful. It is {}:00 o'clock."


def dressed(screen, turn, long=""):
    """What clients make of the history on a screen before they send it."""
    sent = [{"role": "system", "content": CLOCK.format(turn)}]
    for role, words in screen:
        if role == "assistant":
            words = f"\n{words}  \n" if turn % 2 else f"<think>\nHm.\n</think>\n\n{words}"
        sent.append({"role": role, "content": words})
    pages = f"<context>\nPage {turn}: {long}\n</context>\n"
    sent.append({"role": "user", "content": f"{pages}Question {turn}?"})
    return sent


def test_clocks_pages_thinking_and_white_space_do_not_make_another_conversation(tab):
    item = tab()
    for turn in range(5):
        # Of what was found for a question the history keeps nothing; the thinking comes back or does not.
        item.say(f"Question {turn}?", sent=dressed(item.screen, turn, "Ferries run at noon. " * 20))
    (record,) = item.kept()
    assert [role for role, _ in record] == ["user", "assistant"] * 5
    assert [words.rpartition("\n")[2] for _, words in record[::2]] == [f"Question {n}?" for n in range(5)]


def test_a_history_that_its_client_trims_goes_on(tab):
    item = tab()
    for turn in range(8):
        question = {"role": "user", "content": f"Question {turn}?"}
        item.say(f"Question {turn}?", sent=[*item.messages()[-4:], question])
    assert item.kept() == screens(item)


def test_retried_question_after_failure_is_recorded_once(tab):
    item = tab()
    item.say("Hello!")
    for _ in range(3):
        assert item.say("Fail, please.").status_code == 503
        assert item.kept() == screens(item)
        item.screen.pop()
    item.say("Now?")
    assert item.kept() == screens(item)
    log = item.server.store.log
    (row,) = log.recent(Scope(project=item.project), 10)
    hello = log.path(row.head)[1]
    assert [way.message.text for way in log.children(hello.id)] == ["Fail, please.", "Now?"]


def test_a_fork_from_the_page_and_the_client_goes_on(tab):
    item = tab()
    item.say("Hello!")
    item.say("Tell me of ferries.")
    before = tuple(item.screen)
    (row,) = item.chats()
    response = item.server.client.post(f"/api/chats/{row['id']}/fork", json={}, headers=item.headers)
    assert response.status_code == 201
    item.say("And of harbours?")
    assert item.kept() == Counter([before, tuple(item.screen)]), "one of the two goes on, the other stays"
    named = {**item.headers, "X-Holdfast-Conversation": response.json()["id"]}
    body = {
        "model": crowd.MODEL,
        "stream": False,
        "messages": [{"role": "user", "content": "Of lighthouses?"}],
    }
    assert item.server.client.post("/api/chat", json=body, headers=named).status_code == 200
    assert sum(item.kept().values()) == 2


@pytest.mark.parametrize("other", [0, 1], ids=["the same server", "another server"])
def test_a_conversation_that_was_deleted_does_not_come_back(tab, servers, other):
    item = tab()
    item.say("Hello!")
    item.say("Tell me of ferries.")
    (row,) = item.chats()
    assert servers[other].client.delete(f"/api/chats/{row['id']}", headers=item.headers).status_code == 204
    assert item.kept() == Counter()
    item.say("And of harbours?")
    assert item.kept() == screens(item), "its client has it on the screen: it begins anew with that"
    assert row["id"] not in {chat["id"] for chat in item.chats()}


@pytest.mark.parametrize("other", [0, 1], ids=["the same server", "another server"])
def test_a_conversation_that_was_switched_off_is_not_kept_any_more(tab, servers, other):
    item = tab()
    item.say("Hello!")
    before = screens(item)
    (row,) = item.chats()
    off = servers[other].client.patch(f"/api/chats/{row['id']}", json={"off": True}, headers=item.headers)
    assert off.status_code == 200
    item.say("Is this kept?")
    assert item.kept() == before


def test_two_servers_on_one_store_take_turns(tab):
    item, same = tab(0), tab(1)
    for turn in range(6):
        here, value = (item, same) if turn % 2 else (same, item)
        here.say(f"Question {turn}?")
        value.screen = list(here.screen)
    assert item.kept() == screens(item)


def test_stale_cache_of_first_server_yields_to_log_of_second(tab):
    item, other = tab(0), tab(1)
    item.say("Hello!")
    other.screen = list(item.screen)
    # The second server goes on, the first does not know of it and is asked something else at the same place.
    other.say("Tell me of ferries.")
    item.say("Tell me of harbours.")
    (row,) = item.chats()
    log = item.server.store.log
    hello = log.path(log.get(row["id"]).head)[1]
    assert {way.message.text for way in log.children(hello.id)} == {
        "Tell me of ferries.",
        "Tell me of harbours.",
    }
    # Both go on, each behind its own words.
    other.say("Thanks.")
    assert tuple(other.screen) in other.kept()
    item.say("Thanks.")
    assert tuple(item.screen) in item.kept()


def test_the_same_words_in_other_scopes_meet_nowhere(servers, numbers):
    project = f"p{next(numbers)}"
    keys = [servers[0].store.keys.create(Key(user=user))[1] for user in ("ada", "bob")]
    tabs = [Tab(servers[0], project, {"Authorization": f"Bearer {key}"}) for key in keys]
    for words in ("Hello!", "And now?", "And then?"):
        for tab in tabs:
            tab.say(words)
    for user in ("ada", "bob"):
        rows = servers[0].store.log.recent(Scope(user, project), 10)
        (record,) = [[text.message.text for text in servers[0].store.log.path(row.head)] for row in rows]
        assert record == [words for _, words in tabs[0].screen]
