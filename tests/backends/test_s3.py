"""Notes in a bucket of a real server: shared with others, cached for speed only, safe when it goes away."""

import asyncio
import socket
from pathlib import PurePosixPath
from urllib.parse import urlsplit

import pytest

from holdfast.backends.s3 import FRESH, OLDEST, REST, ObjectCache, S3Client, S3Workspace
from holdfast.background.projector import Projector
from holdfast.errors import Conflict, NotFound, StoreError, TooLarge
from holdfast.memory.base import MEMORY_TOPIC, Memory
from holdfast.memory.embedder_local import HashingEmbedder
from holdfast.memory.folder import S3Options, open_workspace
from holdfast.memory.index import Index
from holdfast.memory.notes import Notes
from holdfast.memory.search import Search
from holdfast.memory.semantic import SemanticIndex
from holdfast.memory.workspace import ABSENT, LARGEST, update_file
from holdfast.messages import Scope
from holdfast.store import open_store
from tests.buckets import IN_ONE_WORKER, Relay

pytestmark = [pytest.mark.real, IN_ONE_WORKER]


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def place(s3_server):
    return s3_server.new_place()


@pytest.fixture
def open_machine(s3_server, place, clock, tmp_path):
    """Opens the place as a machine of its own: one name, one cache."""

    def machine(name="here", options=s3_server.options):
        return S3Workspace(S3Client(place, options), ObjectCache(tmp_path / name), clock)

    return machine


@pytest.fixture
def relay(s3_server):
    relay = Relay(s3_server.options.endpoint)
    yield relay
    relay.close()


def through(relay, options):
    return S3Options(relay.endpoint, key=options.key, secret=options.secret)


def paths(workspace, prefix=""):
    return [str(entry.path) for entry in workspace.entries(prefix)]


def test_what_others_write_is_seen_once_the_list_is_old(open_machine, clock):
    ours, theirs = open_machine("ours"), open_machine("theirs")
    ours.write("a/one.md", "one")
    assert (paths(theirs), theirs.read("a/one.md").text) == (["a/one.md"], "one")
    ours.write("a/one.md", "changed")
    ours.write("a/two.md", "two")
    assert (paths(theirs), theirs.read("a/one.md").text) == (["a/one.md"], "one")
    clock.now += OLDEST + 1
    assert (paths(theirs), theirs.read("a/one.md").text) == (["a/one.md", "a/two.md"], "changed")
    ours.remove("a/two.md")
    clock.now += OLDEST + 1
    with pytest.raises(NotFound):
        theirs.read("a/two.md")


def test_slightly_stale_listing_is_refreshed_in_background(open_machine, clock):
    ours, theirs = open_machine("ours"), open_machine("theirs")
    assert paths(theirs) == []
    ours.write("a.md", "one")
    clock.now += FRESH + 1
    # The list of before, if the new one is not there yet; that comes soon, without any more time passing.
    while not paths(theirs):
        pass
    assert paths(theirs) == ["a.md"]


def test_who_read_something_old_cannot_write_over_what_is_new(open_machine):
    ours, theirs = open_machine("ours"), open_machine("theirs")
    ours.write("day.md", "one\n")
    old = theirs.read("day.md")
    ours.write("day.md", "one\ntwo\n")
    with pytest.raises(Conflict):
        theirs.write("day.md", "one\nthree\n", old.tag)
    assert update_file(theirs, "day.md", lambda text: text + "three\n")
    assert theirs.read("day.md").text == "one\ntwo\nthree\n"


def test_the_cache_is_only_a_cache(open_machine, tmp_path):
    open_machine("writer").write("a.md", "the words")
    assert open_machine().read("a.md").text == "the words"
    (record,) = (tmp_path / "here").iterdir()
    record.write_bytes(record.read_bytes()[:-1] + b"!")
    assert open_machine().read("a.md").text == "the words"
    record.unlink()
    assert open_machine().read("a.md").text == "the words"


def test_what_is_cached_is_not_fetched_again(open_machine, s3_server, relay):
    options = through(relay, s3_server.options)
    workspace = open_machine(options=options)
    workspace.write("a.md", "the words")
    assert paths(workspace) == ["a.md"]
    relay.cut()
    assert workspace.read("a.md").text == "the words"


def test_forgotten_words_do_not_stay_in_any_cache(open_machine, tmp_path):
    ours, theirs = open_machine("ours"), open_machine("theirs")
    ours.write("a.md", "secret words")
    ours.write("b.md", "other words")
    assert [theirs.read(name).text for name in ("a.md", "b.md")] == ["secret words", "other words"]
    ours.write("a.md", "harmless")
    ours.remove("b.md")
    # The next process of the other machine looks at what there is.
    assert paths(open_machine("theirs")) == ["a.md"]
    for machine in ("ours", "theirs"):
        text = b"".join(file.read_bytes() for file in (tmp_path / machine).iterdir())
        assert b"secret" not in text
        assert b"other" not in text


def test_a_list_of_more_than_one_page_is_whole(open_machine, s3_server, place):
    names = [f"memory/{number:04}.md" for number in range(1_003)]

    async def fill():
        store, prefix = s3_server.store(), place.removeprefix(f"s3://{s3_server.bucket}/")
        await asyncio.gather(*(store.put_async(f"{prefix}/{name}", b"x") for name in names))

    asyncio.run(fill())
    assert paths(open_machine()) == names


def test_objects_of_other_programs_are_left_out_or_named(open_machine, s3_server, place):
    put = s3_server.put
    put(place, "a/folder", b"")
    put(place, "a/.hidden", b"x")
    put(place, "a/large.md", b"x" * (LARGEST + 1))
    put(place, "a/image.md", b"\x89PNG\0\0")
    put(place, f"a/{'long' * 60}.md", b"x")
    put(place, "a/notes.md", b"words")
    workspace = open_machine()
    value = {entry.path.name: entry.trouble for entry in workspace.entries("a")}
    assert value == {
        "large.md": "",
        "image.md": "",
        f"{'long' * 60}.md": "Its name cannot be used here: rename it.",
        "notes.md": "",
    }
    with pytest.raises(StoreError, match=r"a/large\.md has 4,000,001 bytes"):
        workspace.read("a/large.md")
    with pytest.raises(StoreError, match=r"a/image\.md is no text"):
        workspace.read("a/image.md")
    with pytest.raises(TooLarge, match="nothing was written"):
        workspace.write("a/mine.md", "x" * (LARGEST + 1))


def test_a_note_that_was_removed_can_be_made_again(open_machine):
    workspace = open_machine()
    tag = workspace.write("a.md", "one")
    workspace.remove("a.md", expect=tag)
    other = open_machine("other")
    assert (paths(workspace), paths(other)) == ([], [])
    workspace.remove("a.md", expect=ABSENT)
    assert other.write("a.md", "two", expect=ABSENT)
    with pytest.raises(Conflict):
        workspace.remove("a.md", expect=ABSENT)
    assert workspace.read("a.md").text == "two"


def test_concurrent_append_and_removal_lose_nothing_and_resurrect_nothing(open_machine):
    ours, theirs = open_machine("ours"), open_machine("theirs")
    old = ours.write("day.md", "one\n")
    update_file(ours, "day.md", lambda text: text + "two\n")
    with pytest.raises(Conflict):
        theirs.remove("day.md", expect=old)

    def work(text):
        if text:
            theirs.remove("day.md", expect=theirs.read("day.md").tag)
        return text + "three\n"

    assert update_file(ours, "day.md", work)
    assert open_machine("reader").read("day.md").text == "three\n"


def test_an_upload_that_broke_off_was_never_there(open_machine, s3_server, place):
    open_machine().write("a.md", "whole")
    url = urlsplit(s3_server.signed_put(place, "a.md"))
    with socket.create_connection((url.hostname, url.port)) as half:
        head = f"PUT {url.path}?{url.query} HTTP/1.1\r\nHost: {url.netloc}\r\nContent-Length: 1000\r\n\r\n"
        half.sendall(head.encode() + b"half of it")
    assert open_machine("other").read("a.md").text == "whole"


@pytest.mark.parametrize(
    ("location", "changes", "words"),
    [
        ("s3://nobodys-bucket/x", {}, "There is no such bucket.*Make it"),
        (None, {"key": "nobody"}, "does not know the key.*s3_key"),
        (None, {"secret": "wrong"}, "does not accept the secret.*s3_secret"),
    ],
)
def test_what_cannot_work_says_what_to_do(s3_server, place, location, changes, words):
    given = s3_server.options
    options = S3Options(given.endpoint, **{"key": given.key, "secret": given.secret, **changes})
    for call in (
        lambda workspace: workspace.entries(),
        lambda workspace: workspace.read("a.md"),
        lambda workspace: workspace.write("a.md", "x"),
        lambda workspace: workspace.remove("a.md"),
    ):
        with pytest.raises(StoreError, match=words):
            call(open_workspace(location or place, options))


def test_unavailable_server_leaves_known_notes_readable_and_is_reported(
    open_machine, s3_server, relay, clock
):
    workspace = open_machine(options=through(relay, s3_server.options))
    workspace.write("default/MEMORY.md", "- The gate is green.\n")
    workspace.entries()
    relay.cut()
    clock.now += OLDEST + 1
    known, word = workspace.entries("default")
    assert (str(known.path), known.trouble) == ("default/MEMORY.md", "")
    assert word.path == PurePosixPath("default/*.md")
    assert "not seen just now" in word.trouble
    with pytest.raises(StoreError, match="cannot be reached"):
        workspace.write("default/MEMORY.md", "x")
    relay.mend()
    clock.now += REST + 1
    assert workspace.write("default/MEMORY.md", "- The gate is blue.\n")
    assert paths(workspace, "default") == ["default/MEMORY.md"]


def test_memories_wait_until_the_server_is_back(open_machine, s3_server, relay, clock):
    workspace = open_machine(options=through(relay, s3_server.options))
    with open_store("sqlite://") as store:
        for name in ("m_1", "m_2", "m_3"):
            memory = Memory(name, "fact", f"Fact {name}.", Scope())
            store.outbox.put(MEMORY_TOPIC, {"memories": [memory.to_json()]})
        projector = Projector(store, Notes(workspace))
        assert projector.project(limit=1) == 1
        relay.cut()
        assert projector.project() == 0
        assert "cannot be reached" in projector.problem
        assert projector.has_more
        relay.mend()
        clock.now += REST + 1
        assert projector.project() == 2
        assert (projector.problem, store.outbox.pending(9)) == ("", [])
    results = Notes(open_machine("elsewhere")).read(Scope())
    assert [memory.id for memory in results] == ["m_1", "m_2", "m_3"]


def test_index_resumes_and_answers_without_server(open_machine, s3_server, relay, clock):
    writer = open_machine("writer")
    for number in range(60):
        writer.write(f"default/memory/{number}.md", f"Harbour number {number}.\n" * 200)
    workspace = open_machine(options=through(relay, s3_server.options))
    with open_store("sqlite://") as store:
        index = Index(store, workspace)

        def cut(done, _):
            if done:
                relay.cut()

        with pytest.raises(StoreError, match="cannot be reached"):
            index.sync(cut)
        part = index.refresh(Scope(), 0.0)
        assert 0 < part.files < 60
        assert "cannot be reached" in part.left_out[0]
        relay.mend()
        clock.now += OLDEST + 1
        # A new process; the old one is gone.
        index = Index(store, open_machine(options=through(relay, s3_server.options)))
        again = index.sync()
        assert (again.files, again.stale, again.skipped) == (60, 0, {})
        relay.cut()
        index = Index(store, open_machine(options=through(relay, s3_server.options)))
        assert not index.is_empty(Scope())
        search = Search(store, index, SemanticIndex(store, HashingEmbedder), budget=60.0)
        answer = search.search("harbour number 7", Scope(), within="notes")
        assert "number 7" in answer.hits[0].snippet
        assert "cannot be reached" in answer.degraded[0]


def test_the_cache_of_one_place_is_not_that_of_another(s3_server, tmp_path):
    for words in ("one", "two"):
        open_workspace(s3_server.new_place(), s3_server.options, tmp_path).write("a.md", words)
    assert len(list(tmp_path.iterdir())) == 2
