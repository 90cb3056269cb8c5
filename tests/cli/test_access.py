"""Letting people in from the command line: keys, the password, and what containers need."""

import json
import os
import subprocess
import sys
import time

import httpx
import pytest
from typer.testing import CliRunner

from holdfast.cli import app
from holdfast.errors import BadRequest, ConfigError
from holdfast.messages import Message, Scope
from holdfast.server.system import DOCKER_HOST, bridge_address, docker_key, docker_options, interface_address
from holdfast.store import Key, NewMessage, open_store
from holdfast.store.access import is_password
from tests.fakes.ollama import FakeOllama


@pytest.fixture
def store(home):
    def open_home_store():
        return open_store(f"sqlite:///{home / 'holdfast.db'}")

    return open_home_store


def test_a_key_is_made_shown_once_listed_and_revoked(hold, store):
    secret = hold("keys", "create", "--name", "laptop", "--user", "ada", "--rate", "60/min").splitlines()[-1]
    with store() as opened:
        key = opened.keys.holder(secret)
    assert (key.name, key.user, key.rate, key.memory, key.admin) == ("laptop", "ada", 60, True, False)
    listed = hold("keys", "list")
    assert key.id in listed
    assert secret.split("_", 2)[2] not in listed
    (row,) = json.loads(hold("keys", "list", "--json"))
    assert (row["id"], row["used_at"]) == (key.id, None)
    assert "digest" not in row
    assert key.id in hold("keys", "revoke", key.id)
    assert "No keys yet" in hold("keys", "list")


def test_every_switch_of_a_key_is_kept(hold, store):
    words = (
        "--project",
        "garden",
        "--forwarder",
        "--off",
        "--memory-off",
        "--files",
        "--admin",
        "--rate",
        "5",
        "--json",
    )
    data = json.loads(hold("keys", "create", *words))
    with store() as opened:
        key = opened.keys.holder(data["secret"])
    assert key.to_json() == data["key"]
    assert key.files
    assert (key.project, key.forwarder, key.off, key.memory, key.admin, key.rate) == (
        "garden",
        True,
        True,
        False,
        True,
        5,
    )
    assert json.loads(hold("keys", "revoke", key.id, "--json"))["revoked"]["id"] == key.id


def test_a_key_that_may_point_at_files_is_listed_as_one(hold):
    hold("keys", "create", "--files")
    assert "read files" in hold("keys", "list")


@pytest.mark.parametrize("words", [("--rate", "often"), ("--user", "a/b")])
def test_a_key_that_makes_no_sense_is_refused(hold, words):
    failed = hold("keys", "create", *words, whole=True)
    assert isinstance(failed.exception, BadRequest)
    assert failed.exception.hint


def test_the_password_is_set_from_a_pipe_and_taken_away(hold, store):
    done = CliRunner().invoke(app, ["password", "--stdin"], input="correct horse\n")
    assert done.exit_code == 0, done.output
    assert "correct horse" not in done.output
    with store() as opened:
        assert is_password("correct horse", opened.sessions.password("default"))
    short = CliRunner().invoke(app, ["password", "--stdin"], input="short\n")
    assert isinstance(short.exception, BadRequest)
    assert isinstance(hold("password", whole=True).exception, BadRequest)
    assert json.loads(hold("password", "--remove", "--json")) == {"password": False}
    with store() as opened:
        assert opened.sessions.password("default") is None


# Old conversations


@pytest.fixture
def talks(store):
    """Two old conversations, one of them of another project, and a new one: their ids."""
    with store() as opened:

        def make_conversation(days, project="default"):
            row = opened.log.create(Scope(project=project), title=f"{days} days", now=0.0)
            message = NewMessage(Message.of("user", "Hello"))
            opened.log.append(row.id, [message], parent=None, expect=None, now=time.time() - days * 86_400)
            return row.id

        return make_conversation(100), make_conversation(100, "garden"), make_conversation(10)


def test_pruning_says_what_would_go_asks_and_then_deletes(hold, talks):
    old, elsewhere, new = talks
    data = json.loads(hold("conversations", "prune", "--older-than", "90d", "--dry-run", "--json"))
    assert [row["id"] for row in data["would_delete"]] == [old]
    asked = hold("conversations", "prune", "--older-than", "12w", whole=True)
    assert isinstance(asked.exception, BadRequest)
    assert "--yes" in asked.exception.hint
    done = json.loads(hold("conversations", "prune", "--older-than", "3m", "--yes", "--json"))
    assert [row["id"] for row in done["deleted"]] == [old]
    assert "Nothing is that old" in hold("conversations", "prune", "--older-than", "90d")
    assert "1 conversations" in hold("conversations", "prune", "--older-than", "90d", "--all", "-y")
    listed = json.loads(hold("conversations", "list", "--json"))
    assert [row["id"] for row in listed] == [new]
    assert elsewhere not in json.dumps(listed)


def test_one_conversation_can_be_switched_off_and_on(hold, talks):
    *_, new = talks
    done = json.loads(hold("conversations", "switch", new, "--off", "--no-memory", "--json"))
    assert (done["off"], done["memory"]) == (True, False)
    assert "no memory" in hold("conversations", "switch", new, "--on")
    assert isinstance(hold("conversations", "switch", new, whole=True).exception, BadRequest)


@pytest.mark.parametrize("age", ["soon", "0d", "-3d", ""])
def test_an_age_that_makes_no_sense_deletes_nothing(hold, talks, age):
    refused = hold("conversations", "prune", f"--older-than={age}", "--yes", whole=True)
    assert isinstance(refused.exception, BadRequest)
    assert len(json.loads(hold("conversations", "list", "--json"))) == 2


# Addresses


def test_others_are_not_listened_to_before_anybody_has_a_key(hold):
    # An address for documents: nobody can listen on it.
    refused = hold("serve", "--host", "192.0.2.1", whole=True).exception
    assert isinstance(refused, ConfigError)
    assert "holdfast keys create" in str(refused)
    hold("keys", "create")
    assert "cannot listen" in str(hold("serve", "--host", "192.0.2.1", whole=True).exception)


# Containers


def test_the_address_of_an_interface_is_found_without_any_rights():
    assert interface_address("lo") == "127.0.0.1"
    assert interface_address("nothing0") is None


def test_without_dockers_bridge_the_remedy_is_said():
    if interface_address("docker0") is not None:
        pytest.skip("this machine has Docker's bridge")
    with pytest.raises(ConfigError, match="--host"):
        bridge_address()


def test_containers_have_one_key_which_speaks_for_their_people(store, home):
    home.mkdir()
    with store() as opened:
        opened.keys.create(Key(name="docker"))
        first = docker_key(opened)
        again = docker_key(opened)
        assert first.key.forwarder
        assert not first.key.admin
        assert opened.keys.holder(first.secret) == first.key
        assert (again.key, again.secret) == (first.key, "")
    text = " ".join(docker_options(11435, first.secret))
    assert f"http://{DOCKER_HOST}:11435/v1" in text
    assert f"--add-host={DOCKER_HOST}:host-gateway" in text
    assert first.secret in text


@pytest.mark.slow
def test_one_command_serves_this_machine_and_containers(home, hold):
    """On Linux the whole of 127/8 is this machine, so another address of it stands for the bridge."""
    with FakeOllama().served() as upstream:
        command = ["serve", "--for-docker", "--host", "127.0.0.2", "--port", "0", "--upstream", upstream]
        process = subprocess.Popen(
            [sys.executable, "-m", "holdfast", *command], stdout=subprocess.PIPE, text=True, env=os.environ
        )
        try:
            url = process.stdout.readline().split()[-1]
            readlines = [process.stdout.readline() for _ in range(6)]
            port = httpx.URL(url).port
            for host in ("127.0.0.1", "127.0.0.2"):
                answer = httpx.get(f"http://{host}:{port}/api/version", trust_env=False)
                assert answer.status_code == 200
            secret = next(line.split("=")[1].split()[0] for line in readlines if "OPENAI_API_KEY" in line)
            headers = {"Authorization": f"Bearer {secret}", "X-OpenWebUI-User-Id": "ada"}
            who = httpx.get(f"{url}/api/login", headers=headers, trust_env=False).json()
            assert who["user"] == "default:ada"
        finally:
            process.terminate()
            process.wait(60)
            process.stdout.close()
    assert any(f"{DOCKER_HOST}:{port}" in line for line in readlines)
