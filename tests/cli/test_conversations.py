"""`holdfast conversations`: what was kept can be found, named, forked, pinned, brought back and deleted."""

import json
import os
import pty
import subprocess
import sys

import pytest

from holdfast.errors import BadRequest, NotFound
from holdfast.messages import Message, Scope
from holdfast.store import open_store
from tests.talks import long_talk, store_talk


@pytest.fixture
def chat(home):
    return store_talk(home)


@pytest.fixture
def short(home):
    return store_talk(home, Message.of("user", "The kestrel nests on the tower"))


def messages_of(hold, chat):
    return json.loads(hold("conversations", "show", chat, "--json"))["messages"]


def fails(result, kind, *words):
    """The command ended with this error, and its sentence has these words."""
    assert result.exit_code == 1
    assert isinstance(result.exception, kind), result.output or result.exception
    assert all(word in str(result.exception) for word in words), result.exception


def test_show_gives_numbers_and_ids_that_other_commands_take(hold, short):
    shown = hold("conversations", "show", short)
    first, second = (message["id"] for message in messages_of(hold, short))
    assert f"1 · {first}" in shown
    assert f"2 · {second}" in shown
    assert "pinned" not in shown
    hold("conversations", "pin", short, "2")
    assert f"2 · {second} · pinned" in hold("conversations", "show", short)
    assert [message.get("pinned") for message in messages_of(hold, short)] == [None, True]


def test_search_finds_words_and_says_where(hold, short):
    shown = hold("conversations", "search", "kestrel", "tower")
    assert short in shown
    assert "The kestrel nests on the tower" in shown
    (hit,) = json.loads(hold("conversations", "search", "kestrel", "--json"))["hits"]
    assert hit["conversation"] == short


def test_a_search_without_hits_says_why(hold, short):
    assert "Nothing found" in hold("conversations", "search", "albatross")
    assert "rarer" in hold("conversations", "search", "the")
    assert json.loads(hold("conversations", "search", "albatross", "--json"))["empty"] == "nothing found"


def test_rename_gives_another_title(hold, short):
    assert "Birds of [the] city" in hold("conversations", "rename", short, "Birds", "of", "[the]", "city")
    assert json.loads(hold("conversations", "list", "--json"))[0]["title"] == "Birds of [the] city"
    renamed = hold("conversations", "rename", short, "Other", "--json")
    assert json.loads(renamed)["title"] == "Other"
    fails(hold("conversations", "rename", short, "  ", whole=True), BadRequest, "title")


def test_move_takes_a_conversation_to_another_project(hold, short):
    assert "garden" in hold("conversations", "move", short, "garden")
    assert short in hold("conversations", "list", "--project", "garden")
    fails(hold("conversations", "show", short, whole=True), NotFound, short)
    back = json.loads(hold("conversations", "move", short, "default", "--project", "garden", "--json"))
    assert (back["id"], back["project"]) == (short, "default")
    fails(hold("conversations", "move", short, "a/b", "--project", "default", whole=True), BadRequest, "a/b")


def test_without_a_terminal_deleting_needs_a_yes(hold, short):
    fails(hold("conversations", "delete", short, whole=True), BadRequest, "--yes")
    assert short in hold("conversations", "list")
    assert short in hold("conversations", "delete", short, "--yes")
    assert "No conversations" in hold("conversations", "list")


def test_delete_as_json_names_what_is_gone(hold, short):
    gone = json.loads(hold("conversations", "delete", short, "--yes", "--json"))
    assert (gone["deleted"]["id"], gone["forgotten"]) == (short, 0)


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "status"), [("n", 1), ("y", 0)])
def test_on_a_terminal_deleting_asks_first(hold, home, answer, status):
    chat = store_talk(home, Message.of("user", "The \x1b[35mkestrel"))
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "holdfast", "conversations", "delete", chat]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=os.environ)
    os.close(theirs)
    text = b""
    while b"?" not in text:
        text += os.read(ours, 1024)
    os.write(ours, f"{answer}\n".encode())
    # What somebody once typed does not steer the terminal.
    assert b"kestrel" in text
    assert b"\x1b[35m" not in text
    assert process.wait(60) == status
    os.close(ours)
    assert (chat in hold("conversations", "list")) is (answer == "n")


def test_a_fork_shares_the_beginning(hold, short):
    data = json.loads(hold("conversations", "fork", short, "1", "--title", "Second try", "--json"))
    assert data["title"] == "Second try"
    assert messages_of(hold, data["id"]) == messages_of(hold, short)[:1]
    assert "Go on with" in hold("conversations", "fork", short)
    fails(hold("conversations", "fork", short, "9", whole=True), NotFound, "2 messages")


def test_pins_come_and_go(hold, short):
    assert json.loads(hold("conversations", "pin", short, "1", "--json"))["pinned"] is True
    assert "No longer pinned" in hold("conversations", "unpin", short, "1")
    fails(hold("conversations", "unpin", short, "1", whole=True), BadRequest, "not pinned")
    fails(hold("conversations", "pin", short, "m_nothing", whole=True), NotFound, "m_nothing")


def test_a_pin_that_is_too_large_is_refused(hold, home):
    chat = store_talk(home, Message.of("user", "word " * 4000))
    fails(hold("conversations", "pin", chat, "1", whole=True), BadRequest, "quarter", "Unpin")


def test_pinning_restores_left_out_message_and_explains_undoing_shortened_message(hold, chat):
    decisions = json.loads(hold("window", chat, "--json"))["decisions"]
    out = next(decision for decision in decisions if decision["kind"] == "leave_out")
    assert "is back" in hold("conversations", "pin", chat, out["messages"][0])
    cut = next(item for item in decisions if item["kind"] == "shorten")
    left = next(name for name in cut["messages"] if name not in out["messages"])
    assert f"holdfast conversations undo {chat} {cut['id']}" in hold("conversations", "pin", chat, left)


def test_undo_says_in_words_what_was_taken_back(hold, chat):
    assert "left out: matters least" in hold("conversations", "undo", chat)
    (undone,) = json.loads(hold("conversations", "undo", chat, "--json"))["undone"]
    assert undone["rule"] == "long"
    fails(hold("conversations", "undo", chat, whole=True), NotFound, "nothing")


def test_undo_takes_one_decision_by_its_id(hold, chat):
    decisions = json.loads(hold("window", chat, "--json"))["decisions"]
    first, second = (decision for decision in decisions if not decision["rule"].startswith("recalled"))
    assert first["id"] in hold("conversations", "undo", chat, first["id"])
    left = json.loads(hold("window", chat, "--json"))["decisions"]
    assert [result["id"] for result in left if not result["rule"].startswith("recalled")] == [second["id"]]
    fails(hold("conversations", "undo", chat, "d_nothing", whole=True), NotFound, "holdfast window")


def test_expand_shows_every_original_with_its_rule(hold, chat):
    shown = hold("conversations", "expand", chat)
    listed = json.loads(hold("conversations", "expand", chat, "--json"))
    assert {item["state"] for item in listed} == {"shortened", "out"}
    assert all(entry["content"] in shown and entry["id"] in shown for entry in listed)
    assert "old message over 500 tokens" in shown
    assert "left out: matters least" in shown
    texts = {message.text for message in long_talk()}
    assert {value["content"] for value in listed} < texts


def test_expand_shows_one_message_whether_or_not_it_was_touched(hold, chat):
    assert long_talk()[1].text in hold("conversations", "expand", chat, "2")
    (newest,) = json.loads(hold("conversations", "expand", chat, "29", "--json"))
    assert (newest["state"], newest["content"]) == ("in", "And now something else entirely?")


def test_expand_of_a_window_that_has_everything_says_so(hold, short):
    assert "word for word" in hold("conversations", "expand", short)


def test_expand_of_what_was_never_sent_says_so(hold, home):
    home.mkdir()
    with open_store(f"sqlite:///{home / 'holdfast.db'}") as store:
        chat = store.log.create(Scope()).id
    fails(hold("conversations", "expand", chat, whole=True), NotFound, "nothing", "asked")


def test_all_of_it_is_said_in_german_too(hold, chat, monkeypatch):
    monkeypatch.setenv("HOLDFAST_LANGUAGE", "de")
    assert "Angeheftet" in hold("conversations", "pin", chat, "1")
    assert "angeheftet" in hold("conversations", "show", chat)
    assert "Rückgängig: weggelassen" in hold("conversations", "undo", chat)
    assert "alte Nachricht über 500 Token" in hold("conversations", "expand", chat)
    assert "Nichts gefunden" in hold("conversations", "search", "albatross")
    fails(hold("conversations", "delete", chat, whole=True), BadRequest, "nicht gelöscht")


@pytest.mark.parametrize(
    "words",
    [
        ("conversations", "show"),
        ("conversations", "rename", "{}", "Mine"),
        ("conversations", "delete", "{}", "--yes"),
        ("conversations", "fork"),
        ("conversations", "pin", "{}", "1"),
        ("conversations", "unpin", "{}", "1"),
        ("conversations", "undo"),
        ("conversations", "expand"),
        ("conversations", "compact"),
        ("window",),
    ],
    ids=" ".join,
)
def test_a_conversation_of_another_project_is_not_there(hold, home, words):
    chat = store_talk(home, Message.of("user", "Secret"), scope=Scope(project="other"))
    named = [word.format(chat) for word in words] if "{}" in words else [*words, chat]
    fails(hold(*named, whole=True), NotFound, chat)
    assert chat in hold("conversations", "list", "--project", "other")
    assert chat not in hold("conversations", "list")


def test_a_conversation_of_another_project_is_named_with_its_project(hold, chat):
    fails(hold("conversations", "show", chat, "--project", "elsewhere", whole=True), NotFound, "--project")
