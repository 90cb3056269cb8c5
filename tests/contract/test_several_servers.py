"""Two servers on one PostgreSQL under load, one of them killed: nothing is lost, and nothing done twice."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import psycopg
import pytest

from holdfast.messages import Scope
from holdfast.store import open_store
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeReply
from tests.waiting import wait_until

pytestmark = pytest.mark.real

CLIENTS, TURNS, KILLED_AFTER = 4, 8, 4
ENDLESS = "Tell me of the sea."
# Memories that are alike would become one; these have next to nothing in common.
NAMES = ["Ottilie", "Bertram", "Kasimir", "Dorothea", "Emmerich", "Friedrun", "Gotthilf", "Hedwig"]
THINGS = ("ladder", "canoe", "violin", "kettle", "parrot", "lantern", "saddle", "telescope")
PLACES = ["Aachen", "Bremen", "Cottbus", "Dresden", "Erfurt", "Flensburg", "Gotha", "Halle"]
VERBS = ("bought", "painted", "lost", "repaired", "inherited", "borrowed", "hid", "sold")


def fact(client: int, turn: int) -> str:
    number = client * TURNS + turn
    name, thing = NAMES[number % 8], THINGS[(number // 8 + number) % 8]
    return (
        f"{name} {VERBS[(number * 3 + client) % 8]} a {thing} in {PLACES[(number * 5 + client) % 8]}{number}"
    )


class Model:
    """Answers at once, but for one question that it never comes to the end of, the first time."""

    def __init__(self) -> None:
        self.asked = threading.Event()

    def __call__(self, call):
        if ENDLESS in call.said and not self.asked.is_set():
            self.asked.set()
            return FakeReply("waves and ", endless=True)
        return f"Noted: {call.said[-40:]}"


class Client:
    """Resends what was said, to another server with every turn; asks the other again where one is gone."""

    def __init__(self, number: int, servers, ready: threading.Barrier) -> None:
        self.number, self.servers, self.ready = number, servers, ready
        self.history: list[dict[str, str]] = []

    def run(self) -> None:
        for turn in range(TURNS):
            if turn == KILLED_AFTER:
                self.ready.wait(60)
            self.say(f"Please remember that {fact(self.number, turn)}.", turn)

    def say(self, text: str, turn: int = 0) -> None:
        asked = [*self.history, {"role": "user", "content": text}]
        body = {"model": "fake", "messages": asked, "stream": False}
        order = (turn + self.number) % 2
        for server in (self.servers[order], self.servers[1]):
            try:
                answer = httpx.post(f"{server.url}/api/chat", json=body, timeout=120, trust_env=False)
            except httpx.TransportError:
                assert server is self.servers[0]
                continue
            assert answer.status_code == 200, answer.text
            self.history = [*asked, answer.json()["message"]]
            return
        raise AssertionError("nobody answered")


def pass_time(location: str) -> None:
    """As if it were a minute later: what a dead server held has run out, and it is silent for long."""
    with psycopg.connect(location, autocommit=True) as connection:
        connection.execute("UPDATE leases SET expires_at = expires_at - 60")
        connection.execute("UPDATE drafts SET beat_at = beat_at - 60")


def test_surviving_server_continues_shared_work_after_other_is_killed(postgres, holdfast_serve, tmp_path):
    location, model = postgres.new_database(), Model()
    with FakeOllama(model).served() as upstream, ThreadPoolExecutor(CLIENTS + 2) as pool:
        # On a database that is empty, both at once.
        environment = {"HOLDFAST_STORE": location, "HOLDFAST_PARALLEL": "0"}
        servers = list(pool.map(lambda _: holdfast_serve(upstream, **environment), range(2)))
        ready = threading.Barrier(CLIENTS + 1)
        clients = [Client(number, servers, ready) for number in range(CLIENTS)]
        running = [pool.submit(client.run) for client in clients]
        endless = pool.submit(ask_for_the_sea, servers[0])
        ready.wait(60)
        # In the middle of an answer, with notes to be written, while others ask.
        assert model.asked.wait(60)
        servers[0].kill()
        for item in running:
            item.result()
        endless.result()
        pass_time(location)
        # Whoever has something to note down looks for what others left, too.
        last = Client(CLIENTS, servers[1:] * 2, ready)
        last.say(f"{ENDLESS} Please remember that {fact(CLIENTS, 0)}.")
        with open_store(location) as store:
            wait_until(lambda: not store.outbox.pending() and drafts(location) == 0)
            check_conversations(store, clients)
    check_notes(tmp_path / "home" / "workspace", clients)


def ask_for_the_sea(server) -> None:
    body = {"model": "fake", "messages": [{"role": "user", "content": ENDLESS}]}
    with (
        pytest.raises(httpx.TransportError),
        httpx.stream("POST", f"{server.url}/api/chat", json=body, timeout=120, trust_env=False) as answer,
    ):
        for _ in answer.iter_lines():
            pass


def drafts(location: str) -> int:
    with psycopg.connect(location) as connection:
        return connection.execute("SELECT count(*) FROM drafts").fetchone()[0]


def check_conversations(store, clients) -> None:
    """Every acknowledged message is there once and in order, in one conversation for each client."""
    paths = [
        [(item.message.role, item.message.text) for item in store.log.path(row.head)]
        for row in store.log.recent(Scope(), 100)
    ]
    for client in clients:
        rows = [(entry["role"], entry["content"]) for entry in client.history]
        assert len(rows) == 2 * TURNS
        assert [path for path in paths if path[0] == rows[0]] == [rows]


def check_notes(workspace, clients) -> None:
    written = "\n".join(
        file.read_text() for file in sorted(workspace.rglob("*.md")) if "archive" not in file.parts
    )
    counter = Counter(
        (client.number, turn)
        for client in clients
        for turn in range(TURNS)
        for line in written.splitlines()
        if fact(client.number, turn) in line
    )
    assert counter == {(client.number, turn): 1 for client in clients for turn in range(TURNS)}
