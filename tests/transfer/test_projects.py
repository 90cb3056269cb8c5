"""Conversations that move to another project: what moves with them, what stays, and what holds them."""

from contextlib import closing

import pytest

from holdfast.config import load
from holdfast.errors import BadRequest, Conflict
from holdfast.memory.items import read_comment, write_comment
from holdfast.memory.scopes import summary_file
from holdfast.messages import Message, Scope
from holdfast.store import NewMessage, open_store
from holdfast.transfer.projects import move_to_project
from holdfast.wiring import build_remembering

OWN, GARDEN = Scope(), Scope(project="garden")


@pytest.fixture
def store(tmp_path):
    with closing(open_store(f"sqlite:///{tmp_path / 'holdfast.db'}")) as opened:
        yield opened


def begin(store, scope=OWN):
    return store.log.begin(scope, [NewMessage(Message.of("user", "Where is the kestrel?"))])[0]


def search(store, scope):
    return [hit.message for hit in store.texts.find(scope, ["kestrel"]).hits]


def test_messages_are_found_in_the_new_project_alone(store):
    row = begin(store)
    begin(store, GARDEN)
    assert len(search(store, Scope())) == 1
    (moved,) = move_to_project(store, None, [row], "garden")
    assert moved.scope == GARDEN
    assert (len(search(store, Scope())), len(search(store, GARDEN))) == (0, 2)
    # What comes later is found there, too.
    store.log.append(row.id, [NewMessage(Message.of("user", "A kestrel!"))], parent=row.head, expect=row.head)
    assert (len(search(store, Scope())), len(search(store, GARDEN))) == (0, 3)


def test_the_summary_lies_in_the_folder_of_the_new_project(store, tmp_path):
    settings = load({"home": str(tmp_path), "embedder": "off"}, environ={}).settings
    row = begin(store)
    with closing(build_remembering(settings, store)) as memory:
        text = write_comment({"id": "s_1", "kind": "summary", "project": ""}) + "\n# Birds\n"
        memory.workspace.write(summary_file(Scope(), row.id), text)
        move_to_project(store, memory, [row], "garden")
        note = memory.workspace.read(summary_file(GARDEN, row.id))
        assert read_comment(note.text)["project"] == "garden"
        assert note.text.endswith("\n# Birds\n")
        assert not [
            entry for entry in memory.workspace.entries() if entry.path == summary_file(Scope(), row.id)
        ]
        move_to_project(store, memory, [row], "default")
        assert memory.workspace.read(summary_file(Scope(), row.id)).text == text


def test_groups_and_answers_being_written_hold_a_conversation(store):
    with pytest.raises(BadRequest):
        move_to_project(store, None, [begin(store, Scope(kind="group"))], "garden")
    row = begin(store)
    job = store.jobs.start(Scope(), conversation=row.id, model="fake:latest")
    store.drafts.save(job.id, row.id, row.head, Message.of("assistant", "It is"))
    with pytest.raises(Conflict):
        move_to_project(store, None, [row], "garden")
    assert store.log.get(row.id).scope == Scope()
