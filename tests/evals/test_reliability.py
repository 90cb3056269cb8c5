"""The campaign finds what was lost, doubled, moved or slipped in; and a quick part of each of its parts."""

from random import Random

import pytest

from evals.reliability_checks import Talk, check_copies, check_memories, check_talk
from evals.reliability_clients import DOORS, Ledger, make_answers
from evals.reliability_crashes import run_campaign
from evals.reliability_faults import try_faults
from evals.reliability_load import Followers, LoadClient, answer, run_round
from evals.reliability_server import Server
from evals.reliability_storage import Life, fill_disk, try_damage
from evals.reliability_upstream import DIALECTS, FAULTS, Stage
from holdfast.upstreams.http import Connection, Patience
from holdfast.upstreams.ollama import Ollama
from holdfast.upstreams.openai import OpenAI
from tests.fakes.ollama import FakeOllama

# Faults that were mended here, and others by chance.
MENDED = ("text that is null", "tool calls with deep arguments", "an error as the answer")

A, B, C = ("user", "a?"), ("user", "b?"), ("user", "c?")
A1, B1, CUT = ("assistant", "a."), ("assistant", "b."), ("assistant", "c, that is")


def make_talk():
    talk = Talk("/api/chat", "one", "c_1", exchanges=[("a?", "a."), ("b?", "b.")], pending="c?")
    talk.sent.update({"a?": 1, "b?": 2, "c?": 1})
    return talk


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ([A, A1, B, B1], []),
        # Nobody was promised what comes after the last acknowledged answer.
        ([A, A1, B, B1, C, CUT], []),
        ([A, A1, B], [("lost", "b.")]),
        ([], [("lost", "a?"), ("lost", "a."), ("lost", "b?"), ("lost", "b.")]),
        ([A, A1, B, B1, B, B1], [("doubled", "b?"), ("doubled", "b.")]),
        ([B, B1, A, A1], [("out of order", "b?"), ("out of order", "b.")]),
        ([A, A1, C, CUT, B, B1], [("stray", "c?"), ("stray", "c, that is")]),
        ([A, ("assistant", "another."), B, B1], [("lost", "a."), ("stray", "another.")]),
    ],
)
def test_a_talk_is_compared_message_by_message(path, expected):
    assert [(finding.kind, finding.what) for finding in check_talk(make_talk(), path)] == expected


def test_a_question_stands_in_no_more_chats_than_it_was_sent():
    paths = {"c_1": [A, A1, B, B1], "c_2": [A, B]}
    findings = list(check_copies([make_talk()], paths))
    assert [(finding.kind, finding.what) for finding in findings] == [("doubled", "a?")]


def test_every_acknowledged_memory_is_there_once():
    findings = list(check_memories(["kept", "gone", "twice"], ["kept", "twice", "twice", "other"], "notes"))
    assert [(finding.kind, finding.what) for finding in findings] == [("lost", "gone"), ("doubled", "twice")]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_faults_of_a_model_server_are_answered_in_every_protocol(serve, dialect):
    random, stage = Random(24), Stage(dialect)
    mended = [fault for fault in FAULTS if fault.name in MENDED]
    assert len(mended) == len(MENDED)
    # Those that keep silent are left to tests of their own: here nobody waits for them.
    others = [fault for fault in FAULTS if "silent" not in fault.name and "endless error" not in fault.name]
    faults = [*mended * 3, *random.sample(others, 30)]
    with stage.served() as url:
        patience = Patience(connect=10.0, stall=30.0, tries=1, largest=1_000_000)
        connection = Connection(url.partition("+")[2].removesuffix("/v1"), patience=patience)
        server = serve(Ollama(connection) if dialect == "ollama" else OpenAI(connection))
        tried = list(try_faults(server.client, stage, faults, random, doors=1))
    assert [problem for problem in tried if problem[1]] == []


def test_damaged_databases_are_opened_or_say_the_way_back(tmp_path):
    tried = list(try_damage(tmp_path, Random(24), 12))
    assert [problems for _, problems in tried if problems] == []
    assert {outcome for outcome, _ in tried} >= {"opened", "refused, and salvaged"}


def test_many_clients_at_once_get_their_own_answers_in_order(serve):
    clients = [LoadClient(number, DOORS[number % len(DOORS)], Random(number)) for number in range(8)]
    with FakeOllama(answer).served() as upstream:
        server = serve(Ollama(Connection(upstream)))
        followers = Followers(server.url, 50)
        run_round(clients, server.url, 3)
        assert followers.gone == 0
        followers.close()
        assert [problem for client in clients for problem in client.check(server.client)] == []
    assert all(len(client.talk.exchanges) == 3 for client in clients)


def test_a_killed_server_loses_nothing_and_a_full_disk_neither(tmp_path):
    home, ledger = tmp_path / "home", Ledger()
    home.mkdir()
    with FakeOllama(make_answers(24)).served() as upstream:
        server = Server(home, upstream, {"HOLDFAST_EMBEDDER": "off"})
        try:
            campaign = run_campaign(server, 1, 1, 24, ledger)
            assert campaign.findings == []
            server.start()
            life = Life(server)
            fill_disk(life)
            life.check("after it")
            assert life.problems == []
            assert life.talks
            assert life.memories
        finally:
            server.kill()
