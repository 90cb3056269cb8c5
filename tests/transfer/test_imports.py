"""What comes in from other tools: all of it, once, with its times and branches."""

import base64
import io
import json
import os
import string
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.errors import BadRequest
from holdfast.memory.library import Library
from holdfast.memory.notes import Notes
from holdfast.memory.workspace import InMemoryWorkspace
from holdfast.messages import Message, Scope
from holdfast.store import NewMessage, open_store
from holdfast.transfer.formats import chatgpt, open_source, openclaw
from holdfast.transfer.imports import (
    ImportedConversation,
    ImportedMemory,
    ImportedMessage,
    ImportedNote,
    Importer,
    ImportSource,
    UnreadableItem,
    parse_time,
)
from tests.transfer.conftest import SAMPLES, SCOPE, ollama_prompt

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def only(store, title=None, scope=SCOPE):
    return next(row for row in store.log.recent(scope) if title in (None, row.title))


def messages_of(store, row):
    return [(item.message.role, item.message.text) for item in store.log.path(row.head)]


def texts(memory, scope=SCOPE):
    return {item.text for item in memory.library.page(scope, limit=1_000).memories}


def test_a_chatgpt_export_comes_in_with_its_branches_and_times(memory, bring_in):
    report = bring_in("chatgpt", "chatgpt.json")
    log = memory.store.log
    row = only(memory.store, "Sailing in the north")
    path = log.path(row.head)
    assert [item.message.role for item in path] == [
        *("user", "assistant", "user", "assistant", "tool", "assistant", "assistant", "tool", "assistant")
    ]
    first = {log.message(name).message.text for name in log.roots(row.tree)}
    assert first == {"Where can I moor in Kiel?", "Where can I moor in Flensburg?"}
    assert path[1].created_at == 1700000052
    assert path[1].model == "gpt-4o"
    assert (row.created_at, row.updated_at) == (1700000000, 1700000100)
    assert report.conversations["new"] == 2
    assert report.after.conversations == 2
    assert report.after.messages == report.messages


def test_thinking_goes_with_its_answer_and_tools_are_pairs(memory, bring_in):
    bring_in("chatgpt", "chatgpt.json")
    row = only(memory.store, "Sailing in the north")
    (kiel,) = [
        name
        for name in memory.store.log.roots(row.tree)
        if "Kiel" in memory.store.log.message(name).message.text
    ]
    (answer,) = memory.store.log.children(kiel)
    assert answer.message.thinking == "Harbours\nThink of the fjord."
    path = memory.store.log.path(row.head)
    call, result = path[3].message.tool_calls[0], path[4].message.tool_results[0]
    assert (call.name, result.text) == ("python", "7.5 m")
    assert call.id == result.call_id
    assert json.loads(call.arguments) == {"input": "measure(boat)"}


def test_what_chatgpt_remembered_becomes_a_memory_with_its_conversation(memory, bring_in):
    bring_in("chatgpt", "chatgpt.json")
    (results,) = memory.library.page(SCOPE).memories
    assert results.text == "User owns a folkboat."
    assert results.conversation == only(memory.store, "Sailing in the north").id


def test_broken_parts_of_an_export_are_reported_and_lose_nothing_else(memory, bring_in):
    report = bring_in("chatgpt", "chatgpt.json")
    text = "\n".join(report.unreadable)
    assert "lost" in text
    assert "chatgpt.json, 3" in text
    row = only(memory.store, "Broken")
    every = {memory.store.log.message(name).message.text for name in memory.store.log.roots(row.tree)}
    assert "An answer whose question is missing." in every
    assert report.messages == 11 + 4


def test_pictures_come_along_out_of_the_zip(memory, tmp_path):
    file = tmp_path / "export.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.write(SAMPLES / "chatgpt.json", "conversations.json")
        archive.writestr("file-Boat1-boat.png", PIXEL)
        archive.writestr("../../outside.png", PIXEL)
        archive.writestr("memories.json", json.dumps([{"content": "Sails in winter, too."}]))
    report = Importer(memory.store, memory.library, SCOPE).take(open_source([file]))
    question = memory.store.log.path(only(memory.store, "Sailing in the north").head)[2].message
    assert base64.b64decode(question.images[0].data) == PIXEL
    assert "[log.pdf]" in question.text
    assert report.memories["new"] == 2
    assert not (tmp_path.parent / "outside.png").exists()


def test_a_truncated_export_gives_its_whole_conversations(memory, tmp_path):
    whole = (SAMPLES / "chatgpt.json").read_text()
    file = tmp_path / "conversations.json"
    file.write_text(whole[: whole.index('"talk-2"') + 200])
    report = Importer(memory.store, memory.library, SCOPE).take(open_source([file], "chatgpt"))
    assert report.conversations["new"] == 1
    assert len(report.unreadable) == 1


def test_a_bomb_is_not_unpacked(memory, tmp_path):
    file = tmp_path / "bomb.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b" " * (20 << 20))
    report = Importer(memory.store, memory.library, SCOPE).take(open_source([file]))
    assert len(report.unreadable) == 1
    assert not report.messages


def test_both_versions_of_ollama_prompt_come_in(memory, tmp_path):
    history = [
        {"role": "user", "content": "What is a lease?", "timestamp": "2025-12-10T10:00:00"},
        {"role": "assistant", "content": "A right for a time.", "timestamp": "2025-12-10T10:00:01"},
    ]
    file = ollama_prompt(
        tmp_path / "sessions.db",
        [
            {
                "session_id": "one",
                "history_json": json.dumps({"messages": history}),
                "system_prompt": "Be brief.",
            },
            {"session_id": "list", "history_json": json.dumps(history[:1]), "model_name": "llama3"},
            {
                "session_id": "cut",
                "history_json": '{"mess',
                "context": "User: Still here?\n\nAssistant: Yes.",
            },
            {"session_id": "two", "history_json": json.dumps({"messages": history})},
        ],
        [
            ("two", "user", "What is a lease?", "2025-12-10T10:00:00", 0),
            ("two", "system", "They spoke of leases.", "2025-12-10T10:00:05", 1),
            ("two", "user", "And a lock?", "2025-12-10T10:00:06", 0),
        ],
    )
    report = Importer(memory.store, memory.library, SCOPE).take(open_source([file]))
    rows = {row.external_id: messages_of(memory.store, row) for row in memory.store.log.recent(SCOPE)}
    assert rows["ollama-prompt:one"] == [("user", "What is a lease?"), ("assistant", "A right for a time.")]
    assert rows["ollama-prompt:list"] == [("user", "What is a lease?")]
    assert rows["ollama-prompt:cut"] == [("user", "Still here?"), ("assistant", "Yes.")]
    # What the tool's own migration lost is taken from the blob.
    assert [text for _, text in rows["ollama-prompt:two"]] == [
        "What is a lease?",
        "A right for a time.",
        "And a lock?",
    ]
    assert texts(memory) == {"They spoke of leases."}
    assert len(report.unreadable) == 1
    assert "Be brief." not in str(report.left_out)


def test_an_unreadable_session_is_reported_and_stops_nothing(memory, tmp_path):
    file = ollama_prompt(
        tmp_path / "sessions.db",
        [
            {"session_id": "gone", "history_json": "{broken", "context": ""},
            {"session_id": "good", "history_json": '[{"role": "user", "content": "Still here?"}]'},
        ],
    )
    report = Importer(memory.store, memory.library, SCOPE).take(open_source([file]))
    assert messages_of(memory.store, only(memory.store)) == [("user", "Still here?")]
    assert "gone" in report.unreadable[0]


def test_a_database_whose_names_are_no_text_is_reported(memory, tmp_path):
    file = ollama_prompt(tmp_path / "sessions.db", [{"session_id": "s", "context": "User: Hi"}])
    file.write_bytes(file.read_bytes().replace(b"last_used TIMESTAMP", b"last_us\xd2\xff TIMESTAMP"))
    report = Importer(memory.store, memory.library, SCOPE).take(open_source([file]))
    assert "sessions.db" in report.unreadable[0]


def test_a_transcript_that_ends_like_a_zip_is_told_of(memory, tmp_path):
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    folder = tmp_path / "claw" / "sessions"
    folder.mkdir(parents=True)
    said = {"type": "message", "id": "a", "message": {"role": "user", "content": "Still here?"}}
    (folder / "s.jsonl").write_bytes(json.dumps(said).encode() + b"\n" + empty.getvalue())
    report = Importer(memory.store, memory.library, SCOPE).take(open_source([folder.parent]))
    assert "s.jsonl" in report.unreadable[0]


@pytest.mark.parametrize("calls", [-1, True, {"name": "f"}, [None, {"name": None}]])
def test_a_saved_chat_with_odd_tool_calls_is_read(memory, tmp_path, calls):
    said = {"role": "assistant", "content": "Hello", "tool_calls": calls}
    chat = {"chat": {"id": "c", "title": "Birds"}, "messages": [{"role": "user", "content": "Hi"}, said]}
    (tmp_path / "chat.json").write_text(json.dumps(chat))
    Importer(memory.store, memory.library, SCOPE).take(open_source([tmp_path / "chat.json"]))
    assert messages_of(memory.store, only(memory.store)) == [("user", "Hi"), ("assistant", "Hello")]


def test_how_far_it_is_can_be_told_of_a_chatgpt_export():
    assert open_source([SAMPLES / "chatgpt.json"], "chatgpt").steps == 2


@pytest.mark.parametrize(
    "told",
    [
        *("9999-12-31T23:59:59-14:00", "9999-12-31", "0001-01-01T00:00:00+14:00", "1900-01-01", "soon", ""),
        *(10**400, -1, 1e300, float("nan"), float("inf"), True, None, []),
    ],
)
def test_a_moment_that_no_calendar_shows_is_none(told):
    assert parse_time(told, 5.0) == 5.0


def test_moments_are_seconds_milliseconds_or_dates():
    assert parse_time(1_700_000_000) == parse_time(1_700_000_000_000) == 1_700_000_000
    assert parse_time("2023-11-14T22:13:20Z") == 1_700_000_000


def test_an_openclaw_workspace_comes_in_with_its_transcripts(memory, bring_in):
    report = bring_in("openclaw", "openclaw")
    kinds = {item.text: item.kind for item in memory.library.page(SCOPE).memories}
    assert kinds["Prefers short answers."] == "preference"
    assert kinds["Hives: The third hive swarmed in May."] == "fact"
    assert kinds["Ordered twelve frames."] == "note"
    assert not any("sesam" in text for text in kinds)
    row = only(memory.store)
    assert messages_of(memory.store, row) == [
        ("user", "How many frames are left?"),
        ("assistant", ""),
        ("tool", "4"),
        ("assistant", "Four."),
    ]
    assert any("sess-1.jsonl:7" in line for line in report.unreadable)
    assert any("SOUL.md" in line for line in report.left_out)
    paths = {str(entry.path) for entry in memory.workspace.entries("ada")}
    assert {"ada/memory/2026-02-24.md", "ada/notes/openclaw/memory/varroa.md"} <= paths
    assert "Ada keeps bees" in memory.workspace.read("ada/notes/openclaw/memory.md").text


def test_markdown_stays_files_or_becomes_memories(memory, bring_in):
    assert bring_in("markdown", "markdown").notes["new"] == 2
    assert "geheim" not in memory.workspace.read("ada/notes/markdown/markdown/chat.md").text
    hits = memory.search.search("heavy soil", SCOPE).hits
    assert hits
    assert "garden.md" in str(hits[0])
    report = bring_in("markdown", "markdown", scope=Scope("eve"), memories=True)
    assert texts(memory, Scope("eve")) == {"Tomatoes: Sow in March.", "Tomatoes: Water in the morning."}
    assert report.notes["new"] == 2


def test_links_and_hidden_files_among_markdown_are_told_of(memory, tmp_path):
    (tmp_path / "notes" / ".trash").mkdir(parents=True)
    (tmp_path / "notes" / "good.md").write_text("Brot")
    (tmp_path / "notes" / ".trash" / "old.md").write_text("Alt")
    (tmp_path / "notes" / ".trash" / "old.png").touch()
    (tmp_path / "notes" / "link.md").symlink_to("good.md")
    (tmp_path / "notes" / "folder").symlink_to(".")
    os.mkfifo(tmp_path / "notes" / "pipe.md")
    report = Importer(memory.store, memory.library, SCOPE).take(open_source([tmp_path / "notes"]))
    assert report.notes["new"] == 1
    assert report.left_out == [
        "notes/.trash/old.md: hidden",
        "notes/folder: a link",
        "notes/link.md: a link",
        "notes/pipe.md: no plain file",
    ]


@pytest.mark.parametrize("kind", ["chatgpt", "openclaw", "markdown"])
def test_a_dry_run_counts_all_and_changes_nothing(kind, memory, bring_in, places):
    source = {"chatgpt": "chatgpt.json"}.get(kind, kind)
    dry = bring_in(kind, source, dry_run=True)
    assert not memory.store.log.recent(SCOPE)
    assert not memory.workspace.entries()
    real = bring_in(kind, source)
    assert (dry.after, dry.conversations, dry.memories, dry.notes, dry.messages) == (
        real.after,
        real.conversations,
        real.memories,
        real.notes,
        real.messages,
    )


def test_a_grown_source_adds_only_what_is_new(memory, tmp_path):
    turns = tuple(
        ImportedMessage(
            str(n),
            str(n - 1) if n else None,
            Message.of("assistant" if n % 2 else "user", f"word {n}"),
            n + 1.0,
        )
        for n in range(6)
    )

    def take(count):
        talk = ImportedConversation("t", "Words", turns[:count], str(count - 1), 1.0, float(count))
        return Importer(memory.store, memory.library, SCOPE).take(ImportSource("test", iter([talk])))

    take(2)
    assert take(4).conversations == {"new": 0, "grown": 1, "known": 0}
    row = only(memory.store)
    assert len(messages_of(memory.store, row)) == 4
    memory.store.log.append(
        row.id, [NewMessage(Message.of("user", "my own way"))], parent=row.head, expect=row.head
    )
    assert take(6).messages == 2
    assert messages_of(memory.store, only(memory.store))[-1] == ("user", "my own way")


def test_what_was_forgotten_here_stays_forgotten(memory, bring_in):
    bring_in("chatgpt", "chatgpt.json")
    (results,) = memory.library.page(SCOPE).memories
    memory.library.forget(SCOPE, results.id)
    assert bring_in("chatgpt", "chatgpt.json").memories["refused"] == 1
    assert not texts(memory)


def test_a_path_of_a_source_cannot_lead_out_of_the_notes(memory):
    pages = [
        ImportedNote("../../etc/passwd.md", "x"),
        ImportedNote("/abs.md", "y"),
        ImportedNote(".hidden/.a.md", "z"),
    ]
    Importer(memory.store, memory.library, SCOPE).take(ImportSource("test", iter(pages)))
    assert {str(entry.path) for entry in memory.workspace.entries()} == {
        "ada/notes/test/etc/passwd.md",
        "ada/notes/test/abs.md",
        "ada/notes/test/hidden/a.md",
    }


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("ollama-prompt", b"SQLite format 3\x00 and then nothing"),
        ("ollama-prompt", b"no database"),
        ("openclaw", b""),
        ("", b"\x00\x01\x02"),
        ("chatgpt", b"PK\x03\x04 no zip"),
    ],
)
def test_what_is_not_of_its_kind_is_refused_in_words(kind, content, tmp_path):
    file = tmp_path / "thing.bin"
    file.write_bytes(content)
    with pytest.raises(BadRequest) as refused:
        open_source([file], kind)
    assert refused.value.hint


def test_what_is_no_text_is_told_with_its_place(memory, tmp_path):
    (tmp_path / "latin.md").write_bytes("Käse".encode("latin-1"))
    (tmp_path / "good.md").write_text("Brot")
    report = Importer(memory.store, memory.library, SCOPE).take(open_source([tmp_path], "markdown"))
    assert report.notes["new"] == 1
    assert "latin.md" in report.unreadable[0]
    assert "UTF-8" in report.unreadable[0]


anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def about(*names):
    """A table that has some of these names, with anything under them."""
    return st.fixed_dictionaries({}, optional=dict.fromkeys(names, anything))


contents = about("parts", "text", "thoughts", "content", "result", "model_set_context", "title") | anything
said_by = st.fixed_dictionaries(
    {"author": st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "tool", "system"])})},
    optional={
        "content": st.builds(
            lambda table, kind: {**table, "content_type": kind} if isinstance(table, dict) else table,
            contents,
            st.sampled_from(["text", "code", "multimodal_text", "thoughts", "tether_quote", "new"]),
        ),
        "recipient": st.sampled_from(["all", "bio", "python"]) | anything,
        "metadata": about("attachments", "model_slug", "is_visually_hidden_from_conversation") | anything,
        "create_time": anything,
    },
)
nodes = st.fixed_dictionaries(
    {"parent": st.sampled_from(["a", "b", "c", None]) | anything, "message": said_by | anything}
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from("abc"), nodes | anything), max_size=2))
def test_whatever_stands_in_an_export_it_is_read_or_told_of(mappings):
    items = [
        item
        for number, mapping in enumerate(mappings)
        for item in chatgpt.conversation(str(number), {"id": "x", "mapping": mapping}, lambda _: None)
    ]
    check_talks(items)


parts = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "thinking", "toolCall", "image"]) | anything},
    optional=dict.fromkeys(("text", "thinking", "arguments", "name", "id", "data"), anything),
)
entries = st.fixed_dictionaries(
    {"type": st.sampled_from(["message", "session", "compaction"])},
    optional={
        "id": st.sampled_from("abc") | anything,
        "parentId": st.sampled_from("abc") | anything,
        "timestamp": anything,
        "message": st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "assistant", "toolResult"]) | anything},
            optional={
                "content": st.lists(parts, max_size=2) | anything,
                **dict.fromkeys(("toolCallId", "toolName", "model", "timestamp"), anything),
            },
        )
        | anything,
    },
)


@settings(max_examples=60, deadline=None)
@given(st.lists(entries | anything, max_size=5))
def test_whatever_stands_in_a_transcript_it_is_read_or_told_of(lines):
    check_talks(openclaw.transcript("x.jsonl", "x", "\n".join(map(json.dumps, lines))))


def check_talks(results):
    """A talk is a tree, parents first, of messages that can be stored."""
    for talk in (item for item in results if isinstance(item, ImportedConversation)):
        seen = {None}
        for turn in talk.turns:
            assert turn.parent in seen
            assert Message.decode(turn.message.encode()) == turn.message
            seen.add(turn.key)
        assert talk.head in seen


words = st.text(string.ascii_letters + " äöü0123456789\n", min_size=1, max_size=40)


@st.composite
def talks(draw):
    count = draw(st.integers(1, 6))
    turns = [
        ImportedMessage(
            str(n),
            draw(st.sampled_from([None, *map(str, range(n))])),
            Message.of(draw(st.sampled_from(["user", "assistant"])), draw(words)),
            draw(st.floats(1, 2e9)),
        )
        for n in range(count)
    ]
    head = str(draw(st.integers(0, count - 1)))
    return ImportedConversation(draw(st.sampled_from("abc")), draw(words), tuple(turns), head, 1.0, 2.0)


items = st.one_of(
    talks(),
    st.builds(ImportedMemory, words, st.sampled_from(["fact", "note", "preference"]), st.floats(1, 2e9)),
    st.builds(ImportedNote, st.sampled_from(["a.md", "b/c.md", "b/C.md"]), words),
    st.just(UnreadableItem("there", "unreadable")),
)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(items, max_size=8))
def test_importing_twice_is_importing_once(found):
    with open_store("sqlite://") as store:
        workspace = InMemoryWorkspace()
        library = Library(Notes(workspace), store.recollections)

        def state():
            files = {entry.path: workspace.read(entry.path).text for entry in workspace.entries()}
            rows = [(row.id, row.head, row.updated_at) for row in store.log.recent(SCOPE)]
            return files, rows

        first = Importer(store, library, SCOPE).take(ImportSource("test", iter(found)))
        before = state()
        again = Importer(store, library, SCOPE).take(ImportSource("test", iter(found)))
        assert (
            again.messages == again.conversations["new"] == again.memories["new"] == again.notes["new"] == 0
        )
        assert again.before == again.after == first.after
        assert state() == before
