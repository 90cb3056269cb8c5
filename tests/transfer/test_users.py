"""One user's things: all of them go out in open formats, and all of them go away, and nobody else's."""

import base64
import json
import sqlite3
import zipfile
from contextlib import closing

import pytest

from holdfast.errors import NotFound
from holdfast.memory.base import MEMORY_TOPIC, Memory
from holdfast.messages import Image, Message, Scope, Text, ToolCall, ToolResult
from holdfast.research.finding import Finding, ResearchSource
from holdfast.research.repository import FindingRepository
from holdfast.store import Key, NewMessage, open_store
from holdfast.transfer.migrate import TABLES, count_rows
from holdfast.transfer.staging import DataFolder
from holdfast.transfer.users import export, list_users, remove, scrub
from tests.transfer.conftest import remembering_at

# A name and words that stand nowhere by chance.
NAME, WORD = "Zyxqvara", "Quimblefrotz"
PICTURE = base64.b64encode(b"no real picture").decode()


def live(memory, name, word):
    """Something of everything that a user can have."""
    store, scope = memory.store, Scope(name)
    row, record = store.log.begin(
        scope,
        [
            NewMessage(
                Message(
                    "user", (Text(f"{name} asks for {word}"), Image(data=PICTURE, media_type="image/png"))
                )
            ),
            NewMessage(Message("assistant", (ToolCall("look", '{"at":"it"}', "call_1"),))),
            NewMessage(Message("tool", (ToolResult((Text(f"{word} found"),), "call_1", "look"),))),
            NewMessage(Message.of("assistant", f"Here is {word}.")),
        ],
        title=f"{word} of {name}",
    )
    other = NewMessage(Message.of("assistant", f"Another {word}."))
    store.log.append(row.id, [other], parent=record[2].id, expect=None, move_head=False)
    fork = store.log.fork(row.id, record[0].id, f"Fork of {word}")
    in_project = Scope(name, f"{word} project")
    store.log.begin(in_project, [NewMessage(Message.of("user", word))])
    for whose in (scope, in_project):
        memory.library.add(whose, f"{name} likes {word}, in {whose.project}.")
    gone = memory.library.add(scope, f"{name} never eats {word} with {name}.").memory
    memory.library.forget(scope, gone.id)
    memory.workspace.write(f"{memory.library.confirmation(scope)}/profile.yaml", f"name: {name}\n")
    page = ResearchSource("https://example.org", "A page", f"About {word}.", 1.0)
    FindingRepository(memory.workspace).add(
        Finding("", scope, f"What is {word}?", "quick", (page,), f"It is {word}.", "permanent", 1.0, 0.0)
    )
    digest = store.prompts.keep([Message.of("system", f"You speak with {name} of {word}.")])
    store.jobs.start(scope, kind="side", model="m", prompt=digest)
    store.keys.create(Key(user=name, name=f"laptop of {name}"))
    store.sessions.set_password(name, "scrypt")
    store.sessions.open(name, 1e9)
    store.proposals.put(name, "language", word, text=word)
    store.presets.put(name, "Brief", {"system": f"{word}, briefly"})
    owed = Memory("o_1", "fact", f"{word} is owed", scope)
    store.outbox.put(MEMORY_TOPIC, {"memories": [owed.to_json()]})
    memory.library.note_used(memory.library.page(scope).memories)
    memory.index.sync()
    store.texts.catch_up()
    return row, fork


def test_all_who_have_anything_are_listed_with_how_much(memory):
    live(memory, NAME, WORD)
    memory.workspace.write("stranger/MEMORY.md", "- Was here.\n")
    results = {user.name: user for user in list_users(memory.store, memory.workspace)}
    assert set(results) == {NAME, "stranger"}
    mine = results[NAME]
    assert (mine.conversations, mine.messages, mine.memories) == (3, 6, 2)
    assert (mine.findings, mine.keys, mine.jobs) == (1, 1, 1)
    assert results["stranger"].memories == 1


def test_everything_goes_out_in_formats_that_need_no_holdfast(memory, places, tmp_path):
    row, fork = live(memory, NAME, WORD)
    live(memory, "Eve", "apples")
    file = tmp_path / "out.zip"
    export(memory.store, memory.workspace, places, NAME, file)
    assert file.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(file) as archive:
        texts = {name: archive.read(name) for name in archive.namelist()}
    assert not any(b"apples" in content for content in texts.values())
    lines = [json.loads(line) for line in texts[f"conversations/{row.tree}.jsonl"].splitlines()]
    heads = {line["id"]: line["head"] for line in lines if line["type"] == "conversation"}
    assert set(heads) == {row.id, fork.id}
    messages = {line["id"]: line for line in lines if line["type"] == "message"}
    assert len(messages) == 5
    assert all(line["parent"] in messages for line in messages.values() if line["parent"])
    picture = next(part for line in messages.values() for part in line["parts"] if part["type"] == "image")
    assert texts[picture["file"]] == b"no real picture"
    assert texts["notes/profile.yaml"] == f"name: {NAME}\n".encode()
    assert any(name.startswith("notes/research/") for name in texts)
    data = json.loads(texts["user.json"])
    assert data["key_list"][0]["name"] == f"laptop of {NAME}"
    assert "digest" not in data["key_list"][0]
    assert NAME in texts["README.md"].decode()
    assert len(texts["jobs.jsonl"].splitlines()) == 1


def test_after_deletion_no_row_and_no_file_knows_the_user(places):
    with open_store(places.store) as store, closing(remembering_at(places, store)) as memory:
        live(memory, "Eve", "apples")
        before = count_rows(store)
        record = {entry.path: memory.workspace.read(entry.path).text for entry in memory.workspace.entries()}
        live(memory, NAME, WORD)
        remove(store, memory, places, NAME)
        assert count_rows(store) == before
        assert {
            entry.path: memory.workspace.read(entry.path).text for entry in memory.workspace.entries()
        } == record
        assert [user.name for user in list_users(store, memory.workspace)] == ["Eve"]
        assert memory.search.search("apples", Scope("Eve")).hits
        with pytest.raises(NotFound):
            remove(store, memory, places, NAME)
    assert scrub(places) == ""
    with closing(sqlite3.connect(places.database)) as connection:
        assert connection.execute("PRAGMA freelist_count").fetchone() == (0,)
    assert_nowhere(places, NAME, WORD)


def assert_nowhere(places, *words):
    for file in places.home.rglob("*"):
        content = file.read_bytes().lower() if file.is_file() else b""
        for word in words:
            assert word.lower().encode() not in content, f"{file} has {word}"
            assert word.lower() not in str(file).lower()


def test_typed_history_is_exported_and_removed(places, tmp_path):
    with open_store(places.store) as store, closing(remembering_at(places, store)) as memory:
        live(memory, "default", WORD)
        live(memory, "Eve", "apples")
        (places.home / "logs").mkdir()
        for name in ("chat_history", "logs/chat.log"):
            (places.home / name).write_text(f"{WORD} was typed")
        for name, value in (("Eve", False), ("default", True)):
            export(store, memory.workspace, places, name, tmp_path / f"{name}.zip")
            with zipfile.ZipFile(tmp_path / f"{name}.zip") as archive:
                assert ("terminal/chat_history" in archive.namelist()) is value
        remove(store, memory, places, "Eve")
        assert (places.home / "chat_history").exists()
        remove(store, memory, places, "default")
    assert scrub(places) == ""
    assert_nowhere(places, WORD)


def test_a_link_in_the_place_of_notes_leads_to_nobody_elses(memory, places, tmp_path):
    memory.library.add(Scope("alice"), f"Alice likes {WORD}.")
    memory.store.keys.create(Key(user="eve"))
    (places.workspace / "eve").symlink_to("alice")
    before = (places.workspace / "alice" / "MEMORY.md").read_bytes()
    result = export(memory.store, memory.workspace, places, "eve", tmp_path / "eve.zip")
    with zipfile.ZipFile(tmp_path / "eve.zip") as archive:
        assert not [name for name in archive.namelist() if name.startswith("notes/")]
    assert (result.notes, result.memories) == (0, 0)
    remove(memory.store, memory, places, "eve")
    assert not (places.workspace / "eve").is_symlink()
    assert (places.workspace / "alice" / "MEMORY.md").read_bytes() == before


def test_only_a_user_can_be_named_and_no_path(memory, places):
    team = Scope(project="Team A", kind="group")
    shared = memory.library.add(team, "Meets on Mondays.").memory
    mine = memory.library.add(Scope("alice", "Boat Yard"), "Opens in May.").memory
    folders = {str(entry.path.parent) for entry in memory.workspace.entries()}
    assert len(folders) == 2
    for name in (*folders, "groups", "../home", ".hidden~0", "a\\b~0"):
        with pytest.raises(NotFound):
            remove(memory.store, memory, places, name)
    assert memory.library.page(team).memories == (shared,)
    assert mine in memory.library.page(Scope("alice", "Boat Yard")).memories


@pytest.mark.real
def test_on_postgresql_nothing_is_left_either(postgres, tmp_path):
    places = DataFolder(tmp_path / "home", postgres.new_database())
    with open_store(places.store) as store, closing(remembering_at(places, store)) as memory:
        live(memory, "Eve", "apples")
        before = count_rows(store)
        live(memory, NAME, WORD)
        export(store, memory.workspace, places, NAME, tmp_path / "out.zip")
        remove(store, memory, places, NAME)
        assert count_rows(store) == before
        assert [user.name for user in list_users(store, memory.workspace)] == ["Eve"]
    assert scrub(places) == ""


def test_every_table_that_says_whose_a_row_is_is_emptied():
    """A new table that is about a user must say so in this way, or be thought of in `removing`."""
    known = {table.name for table in TABLES}
    by_conversation = {"branches", "messages", "message_tokens", "marks", "drafts", "lanes", "decisions"}
    by_conversation |= {"compactions", "summaries"}
    by_user = {
        "conversations",
        "jobs",
        "memory_uses",
        "tombstones",
        "presets",
        "proposals",
        "keys",
        "passwords",
        "saved_prompts",
        "sessions",
    }
    nobodys = {"models", "settings", "embeddings"}
    looked_through = {"outbox", "prompts"}
    assert known == by_conversation | by_user | nobodys | looked_through
