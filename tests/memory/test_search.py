"""Search finds by word and by meaning, says how, and never shows what is gone."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.errors import ConfigError, EmbedderError
from holdfast.memory.embedder_choice import EMBEDDED, ChosenEmbedder, EmbedderOptions
from holdfast.memory.embedder_local import HashingEmbedder
from holdfast.memory.embedders import EmbedderIdentity
from holdfast.memory.folder import FolderWorkspace
from holdfast.memory.index import ExtraPaths, Index
from holdfast.memory.ranking import MEASURED, OPENCLAW, parse_weights, rank_rows
from holdfast.memory.search import Search
from holdfast.memory.semantic import SemanticIndex
from holdfast.memory.vectors import QuestionKind
from holdfast.memory.workspace import InMemoryWorkspace
from holdfast.messages import Message, Scope
from holdfast.store import NewMessage, Store, open_store
from holdfast.text.questions import read_question, split_question
from tests.contract.conftest import missing

ME = Scope()


class Kit:
    """A store, a folder with notes, and a search over both."""

    def __init__(self, store: Store, folder: Path, embedder=None, **options) -> None:
        self.store, self.folder, self.embedder = store, folder, embedder
        extra = options.pop("extra", None)
        self.index = Index(store, FolderWorkspace(folder), extra=extra)
        self.meaning = SemanticIndex(store, lambda: self.embedder)
        self.search_in = Search(store, self.index, self.meaning, **{"budget": 60.0, **options})

    def write(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def say(self, *texts: str, scope: Scope = ME) -> str:
        conversation = self.store.log.create(scope)
        messages = [NewMessage(Message.of("user", text)) for text in texts]
        self.store.log.append(conversation.id, messages, parent=None, expect=None)
        return conversation.id

    def search(self, query: str, scope: Scope = ME, **options):
        return self.search_in.search(query, scope, **options)

    def snippets(self, query: str, scope: Scope = ME, **options) -> list[str]:
        return [hit.snippet for hit in self.search(query, scope, **options).hits]


@pytest.fixture
def store():
    with open_store("sqlite://") as opened:
        yield opened


@pytest.fixture
def kit(store, tmp_path) -> Kit:
    return Kit(store, tmp_path / "workspace", HashingEmbedder())


def test_a_note_is_found_with_its_lines_and_says_why(kit):
    kit.write("default/MEMORY.md", "# Memory\n\nintro\n\n## Hosts\n\nThe gateway runs on the Mac Studio.\n")
    answer = kit.search("Mac Studio gateway host")
    (first, *_) = answer.hits
    assert (first.kind, first.path, first.lines) == ("note", "default/MEMORY.md", (5, 7))
    assert first.citation == "default/MEMORY.md#5"
    assert 0 < first.score < 1
    assert {"words", "meaning"} <= first.parts.keys()
    assert answer.engines == ("fts5", "vectors")
    assert answer.model == str(kit.embedder.identity)
    assert (answer.degraded, answer.empty, answer.freshness.files) == ((), "", 1)


def test_what_is_written_anew_while_it_is_looked_for_is_found(tmp_path):
    with open_store(f"sqlite:///{tmp_path / 'a.db'}") as store:
        kit = Kit(store, tmp_path / "workspace")
        kit.write("default/MEMORY.md", "The kestrel nests on the tower.\n")
        begun, done = threading.Semaphore(0), threading.Semaphore(0)

        def writing() -> None:
            for number in range(60):
                begun.acquire()
                # As a whole, so that nobody finds it empty.
                kit.write(".new", f"The kestrel nests on the tower, it was said {number} times.\n")
                (kit.folder / ".new").replace(kit.folder / "default/MEMORY.md")
                kit.index.refresh(ME, 60.0)
                done.release()

        with ThreadPoolExecutor(1) as pool:
            written = pool.submit(writing)
            results = []
            for _ in range(60):
                begun.release()
                results.append(kit.snippets("Where does the kestrel nest?", within="notes"))
                done.acquire()
            written.result()
    assert all(results)


def test_messages_are_found_with_their_conversation(kit):
    name = kit.say("We meet in Kiel on Friday.", "Bring the blue folder.")
    (hit, *_) = kit.search("blue folder").hits
    assert (hit.kind, hit.path, hit.lines, hit.role) == ("message", name, None, "user")
    assert kit.snippets("blue folder", within="notes") == []


def test_a_commit_is_found_exactly_whatever_the_score(kit):
    kit.write("default/memory/2026-02-24.md", "Fixed in a828e60, after a long day.\n")
    for number in range(30):
        kit.write(f"default/note-{number}.md", f"We fixed the long day of number {number}.\n")
    answer = kit.search("long day fixed a828e60", min_score=0.99)
    assert [hit.snippet for hit in answer.hits] == ["Fixed in a828e60, after a long day."]
    assert answer.hits[0].exact


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Datenbankwahl", "Zur Wahl der Datenbank: wir nehmen SQLite."),
        ("Wahl der Datenbank", "Die Datenbankwahl fiel auf SQLite."),
        ("Strasse", "Die Straße ist gesperrt."),
        ("Straße", "Die Strasse ist gesperrt."),
        ("Ubersicht Mueller", "Übersicht für Müller"),
    ],
)
def test_german_words_meet(kit, question, text):
    kit.embedder = None
    kit.write("default/a.md", text)
    kit.write("default/b.md", "Etwas ganz anderes steht hier.")
    assert kit.snippets(question)[0] == text


def test_a_date_that_is_not_in_the_words_is_found(kit):
    kit.write("default/memory/2026-02-24.md", "Lunch with Ada.\n")
    kit.write("default/memory/2026-03-11.md", "Lunch with Bob.\n")
    assert kit.snippets("who was lunch with on 11 March?")[0] == "Lunch with Bob."


def test_externally_edited_note_is_found_with_current_text(kit):
    kit.write("default/a.md", "The password is swordfish.")
    assert kit.snippets("password") == ["The password is swordfish."]
    kit.write("default/a.md", "The password is dolphin now.")
    assert kit.snippets("password") == ["The password is dolphin now."]
    (kit.folder / "default/a.md").unlink()
    answer = kit.search("password")
    assert (answer.hits, answer.empty) == ((), "There is nothing here to search yet.")
    kit.write("default/a.md", "The password is swordfish.")
    assert kit.snippets("password") == ["The password is swordfish."]


@pytest.mark.slow
def test_two_thousand_notes_edited_deleted_and_restored(kit):
    kit.embedder = None
    for number in range(2_000):
        kit.write(f"default/notes/{number}.md", f"Note about subject{number} and everything.")
    seen = []
    assert kit.index.sync(lambda done, total: seen.append((done, total))).files == 2_000
    assert seen[-1] == (2_000, 2_000)
    for number in range(0, 2_000, 100):
        kit.write(f"default/notes/{number}.md", f"Now about topic{number}.")
        (kit.folder / f"default/notes/{number + 1}.md").unlink()
    assert kit.snippets("topic300")[0] == "Now about topic300."
    for gone in ("subject300", "subject301"):
        assert not any(f"{gone} " in snippet for snippet in kit.snippets(gone, limit=100))
    kit.write("default/notes/301.md", "Note about subject301 and everything.")
    assert kit.snippets("subject301")[0] == "Note about subject301 and everything."


def test_without_time_the_answer_says_how_many_files_are_stale(store, tmp_path):
    kit = Kit(store, tmp_path, budget=0.0)
    kit.write("default/a.md", "swordfish")
    answer = kit.search("swordfish")
    assert (answer.freshness.stale, answer.hits) == (1, ())
    assert "1 changed files are not read again yet." in answer.degraded
    kit.index.sync()
    assert kit.search("swordfish").freshness.stale == 0
    (tmp_path / "default/a.md").unlink()
    assert kit.search("swordfish").hits == ()


@pytest.mark.parametrize("query", ["", "   ", "?!… --- ***", "the and of"])
def test_question_without_words_is_answered_by_meaning_or_not_at_all(kit, query):
    kit.write("default/a.md", "swordfish")
    assert kit.search(query) is not None
    kit.embedder = None
    answer = kit.search(query)
    assert answer.hits == ()
    assert answer.empty


def test_a_question_of_a_hundred_thousand_characters_is_no_trouble(kit):
    kit.write("default/a.md", "swordfish in the sea")
    assert kit.snippets("swordfish " + "lorem ipsum dolor " * 6_000)[0] == "swordfish in the sea"


def test_what_cannot_be_read_is_said_and_the_rest_is_found(kit):
    kit.write("default/a.md", "swordfish")
    (kit.folder / "default/binary.md").write_bytes(b"\x00\x01swordfish")
    with (kit.folder / "default/large.md").open("wb") as file:
        file.truncate(50_000_000)
    (kit.folder / "default/loop.md").symlink_to(kit.folder / "default/loop.md")
    (kit.folder / "default/bad.md").write_bytes(b"swordfish \xff\xfe latin")
    answer = kit.search("swordfish")
    assert {hit.path for hit in answer.hits} == {"default/a.md", "default/bad.md"}
    assert sorted(answer.freshness.skipped) == ["default/binary.md", "default/large.md"]
    assert "no text" in answer.freshness.skipped["default/binary.md"]


@pytest.mark.parametrize(
    "other",
    [
        Scope(user="eve"),
        Scope(project="elsewhere"),
        Scope(kind="group"),
        Scope("eve", "p"),
        Scope("x", "g", "group"),
    ],
)
def test_nothing_is_found_across_a_border(kit, other):
    kit.write("default/projects/p/MEMORY.md", "swordfish of the project")
    kit.write("groups/team/MEMORY.md", "swordfish of the group")
    kit.write("eve/MEMORY.md", "swordfish of eve")
    kit.say("swordfish said in p", scope=Scope(project="p"))
    snippets = kit.snippets("swordfish", other, limit=20)
    assert snippets == (["swordfish of eve"] if other.user == "eve" else [])


def test_project_sees_personal_and_own_notes_but_group_only_its_own(kit):
    kit.write("default/MEMORY.md", "swordfish of mine")
    kit.write("default/projects/p/MEMORY.md", "swordfish of the project")
    kit.write("groups/team/MEMORY.md", "swordfish of the group")
    assert sorted(kit.snippets("swordfish", Scope(project="p"))) == [
        "swordfish of mine",
        "swordfish of the project",
    ]
    assert kit.snippets("swordfish", Scope(project="team", kind="group")) == ["swordfish of the group"]
    assert kit.snippets("swordfish") == ["swordfish of mine"]


def test_archived_notes_are_not_searched(kit):
    kit.write("default/archive/MEMORY.md", "swordfish, archived")
    assert kit.snippets("swordfish") == []


def test_summaries_are_found_in_the_project_they_were_made_in(kit):
    kit.write("default/conversations/c_1/summary.md", "swordfish, summarised")
    kit.write("default/projects/garden/conversations/c_2/summary.md", "swordfish of the garden")
    assert kit.snippets("swordfish") == ["swordfish, summarised"]
    assert kit.snippets("swordfish", Scope(project="garden")) == ["swordfish of the garden"]


def test_outdated_memory_is_returned_with_its_end_date(kit):
    kit.write(
        "default/MEMORY.md",
        '- The swordfish swims here.\n  <!-- holdfast {"id":"y_1","kind":"fact","superseded_by":"y_2",'
        '"valid_until":"2026-03-01T10:00:00+00:00"} -->\n',
    )
    assert kit.snippets("swordfish") == ["The swordfish swims here. (… 2026-03-01)"]


def test_unreadable_file_is_named_in_answer_and_rest_is_found(kit):
    kit.write("default/MEMORY.md", "- The gateway runs on the Mac Studio.\n")
    (kit.folder / "default" / os.fsdecode(b"gr\xfc\xdfe.md")).write_text("lost")
    assert kit.index.refresh(ME, 0.0).skipped.keys() == {"default/gr\\xfc\\xdfe.md"}, "before any is read"
    answer = kit.search("gateway")
    assert len(answer.hits) == 1
    assert answer.degraded == answer.freshness.left_out
    assert answer.degraded[0].startswith("Left out: default/gr\\xfc\\xdfe.md: Its name is no text")
    for number in range(4):
        (kit.folder / "default" / f"blob{number}.md").write_bytes(b"\0")
    answer = kit.search("gateway")
    assert len(answer.hits) == 1
    assert answer.degraded[0] == "Left out: default/blob0.md is no text."
    assert answer.degraded[-1] == "2 more files are left out."
    assert len(answer.freshness.skipped) == 5


def test_extra_paths_are_searched_for_owner_without_following_links(store, tmp_path):
    docs = tmp_path / "docs"
    (docs / "deep").mkdir(parents=True)
    (docs / "deep" / "a.md").write_text("swordfish elsewhere")
    (docs / "deep" / "b.txt").write_text("swordfish in no Markdown")
    (docs / "deep" / "loop").symlink_to(docs)
    (docs / "link.md").symlink_to(docs / "deep" / "a.md")
    kit = Kit(store, tmp_path / "workspace", extra=ExtraPaths([Path("docs")], tmp_path))
    (hit,) = kit.search("swordfish").hits
    assert hit.path == str(docs / "deep" / "a.md")
    assert kit.search("swordfish", Scope(user="eve")).hits == ()
    assert kit.search("swordfish", Scope(kind="group")).hits == ()


def test_memories_can_be_asked_for_by_kind(kit):
    kit.write(
        "default/MEMORY.md",
        '- We use SQLite.\n  <!-- holdfast {"id":"y_1","kind":"decision"} -->\n'
        '- SQLite is small.\n  <!-- holdfast {"id":"y_2","kind":"fact"} -->\n',
    )
    kit.say("SQLite!")
    answer = kit.search("SQLite", kinds=["decision"])
    assert [(hit.id, hit.memory_kind) for hit in answer.hits] == [("y_1", "decision")]


def test_a_snippet_is_short_and_around_what_was_asked(kit):
    filler = "Nothing to see here, really nothing at all. " * 200
    kit.say(f"{filler}The swordfish is in the freezer. {filler}")
    (snippet,) = kit.snippets("swordfish freezer", within="conversations")
    assert len(snippet) <= 702
    assert "The swordfish is in the freezer." in snippet


class Broken(HashingEmbedder):
    identity = EmbedderIdentity("broken", "none", 4)

    def embed(self, texts):
        raise EmbedderError("It is out of order.", hint="Mend it.")

    def close(self):
        pass


def test_a_broken_embedder_costs_quality_and_not_the_search(kit):
    kit.embedder = Broken()
    kit.write("default/a.md", "swordfish")
    answer = kit.search("swordfish")
    assert [hit.snippet for hit in answer.hits] == ["swordfish"]
    assert answer.engines == ("fts5",)
    assert any("out of order" in reason for reason in answer.degraded)


def test_without_an_embedder_the_answer_says_so(kit):
    kit.embedder = None
    kit.write("default/a.md", "swordfish")
    answer = kit.search("swordfish")
    assert answer.model == ""
    assert answer.degraded == ("Only words were compared: There is no embedder.",)


def test_word_search_serves_alone_until_new_vectors_are_ready(store, tmp_path):
    kit = Kit(store, tmp_path, HashingEmbedder(64), budget=0.0)
    kit.write("default/a.md", "swordfish in the sea")
    kit.index.sync()
    kit.meaning.catch_up()
    old, kit.embedder = kit.embedder, HashingEmbedder(32)
    answer = kit.search("swordfish")
    assert answer.engines == ("fts5",)
    assert "0% of the vectors" in answer.degraded[0]
    kit.meaning.catch_up()
    answer = kit.search("swordfish")
    assert (answer.model, answer.degraded) == (str(kit.embedder.identity), ())
    # Another process may still use the old one, so its vectors are not dropped at once.
    kit.embedder = old
    assert kit.search("swordfish").engines == ("fts5", "vectors")


def test_old_vectors_serve_until_new_ones_are_ready_if_embedder_responds(store, tmp_path):
    kit = Kit(store, tmp_path, HashingEmbedder(64), budget=0.0)
    kit.write("default/a.md", "swordfish in the sea")
    kit.index.sync()
    kit.meaning.catch_up()
    old, new = kit.embedder, HashingEmbedder(32)
    former = [old]
    meaning = SemanticIndex(store, lambda: kit.embedder, former=lambda: former[0])
    kit.search_in = Search(store, kit.index, meaning, budget=0.0)
    for current in (new, Broken()):
        kit.embedder = current
        answer = kit.search("swordfish")
        assert (answer.engines, answer.model) == (("fts5", "vectors"), str(old.identity))
        text = f"Vectors of {old.identity} were compared: 0% of the vectors of {current.identity} are made."
        assert text in answer.degraded
    kit.embedder, former[0] = new, Broken()
    assert kit.search("swordfish").engines == ("fts5",), "an old one that is out of order is no help"
    former[0] = old
    meaning.catch_up()
    answer = kit.search("swordfish")
    assert (answer.model, answer.degraded) == (str(new.identity), ())


def test_only_the_embedder_inside_is_asked_once_another_is_named(tmp_path):
    named = ChosenEmbedder(EmbedderOptions("ollama+http://127.0.0.1:9", log=tmp_path / "log"))
    with closing(named), closing(named.former) as former:
        embedder = former.current()
        assert embedder.identity.provider == EMBEDDED
    for location in ("auto", "off", EMBEDDED):
        assert ChosenEmbedder(EmbedderOptions(location)).former is None


def test_forgotten_memory_is_hidden_before_its_file_is_reindexed(store, tmp_path):
    kit = Kit(store, tmp_path, budget=0.0)
    first = '- The swordfish swims.\n  <!-- holdfast {"id":"y_1","kind":"fact"} -->\n'
    second = '- The swordfish sleeps.\n  <!-- holdfast {"id":"y_2","kind":"fact"} -->\n'
    kit.write("default/MEMORY.md", first + second)
    kit.index.sync()
    kit.write("default/MEMORY.md", second)
    kit.index.forget(["y_1"])
    assert kit.snippets("swordfish") == ["The swordfish sleeps."]
    # One that only changed is found again as soon as its file is read, though the file is as it was.
    kit.index.sync()
    kit.index.forget(["y_2"])
    assert (kit.snippets("swordfish"), kit.index.refresh(ME, 0.0).stale) == ([], 1)
    kit.index.sync()
    assert kit.snippets("swordfish") == ["The swordfish sleeps."]


class Slow(InMemoryWorkspace):
    """A workspace where reading a file takes a second."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds, self.was_read = 0.0, []

    def read(self, path):
        self.seconds += 1
        self.was_read.append(str(path))
        return super().read(path)


def test_indexing_reads_memories_first_large_files_last_until_deadline(store):
    slow = Slow()
    for place in ("default", "default/projects/p"):
        for name in ("large", "small", "memory/2026-02-24", "MEMORY"):
            slow.write(f"{place}/{name}.md", "swordfish " * (20_000 if name == "large" else 1))
    index = Index(store, slow, clock=lambda: slow.seconds)
    assert index.refresh(Scope(project="p"), 5.0).stale == 3
    assert {path.rpartition("/")[2] for path in slow.was_read[:4]} == {"MEMORY.md", "2026-02-24.md"}
    assert slow.was_read[4].endswith("small.md")
    assert index.refresh(Scope(project="p"), 60.0).stale == 0
    assert [path.rpartition("/")[2] for path in slow.was_read[5:]] == ["small.md", "large.md", "large.md"]


def test_one_brings_the_index_up_to_date_and_stops_when_told(kit):
    for number in range(50):
        kit.write(f"default/{number}.md", "swordfish")
    others = []
    first = kit.index.sync(lambda *_: others.append(kit.index.sync().stale), stop=lambda: len(others) == 3)
    assert (first.stale, others) == (10, [50, 30, 10])
    assert kit.index.sync().stale == 0


def test_forgetting_the_words_forgets_their_vectors(kit):
    name = kit.say("the secret swordfish")
    kit.write("default/a.md", "the secret dolphin")
    kit.search("secret")
    assert kit.meaning.waiting() == 0
    kit.store.log.delete(name)
    (kit.folder / "default/a.md").unlink()
    kit.search("secret")
    rows = kit.store.database.read(
        lambda connection: connection.exec_driver_sql("SELECT count(*) FROM embeddings").scalar()
    )
    assert rows == 0


def test_question_vector_is_made_once_and_retried_only_after_failure(kit):
    class Moody(HashingEmbedder):
        asked, broken = 0, False

        def _vectors(self, texts):
            self.asked += "which river" in texts
            if self.broken:
                raise EmbedderError("It is out of order.", hint="Mend it.")
            return super()._vectors(texts)

    kit.embedder = moody = Moody()
    kit.write("default/a.md", "The Weser flows through Bremen.\n")
    assert "vectors" in kit.search("a town").engines
    moody.broken = True
    assert "out of order" in kit.search("which river").degraded[0]
    moody.broken = False
    for _ in range(2):
        assert "vectors" in kit.search("which river").engines
    assert moody.asked == 2


class Picky(HashingEmbedder):
    """Has no numbers for poison, and a fragile one has none for anything after it."""

    def __init__(self, fragile: bool = False) -> None:
        super().__init__()
        self.fragile, self.broken, self.asked = fragile, False, 0

    def _vectors(self, texts):
        self.asked += 1
        vectors = super()._vectors(texts)
        bad = ["poison" in text for text in texts]
        self.broken |= self.fragile and any(bad)
        vectors[[self.broken or item for item in bad]] = float("nan")
        return vectors


def test_a_text_that_the_embedder_cannot_do_holds_up_no_other(kit):
    kit.embedder = Picky()
    for number in range(3):
        kit.write(f"default/{number}.md", f"swordfish number {number}")
    kit.write("default/bad.md", "swordfish with poison")
    answer = kit.search("swordfish")
    assert (answer.engines, len(answer.hits)) == (("fts5", "vectors"), 4)
    assert answer.degraded == (f"1 texts have no vector: {kit.embedder.identity} cannot do them.",)
    assert kit.meaning.waiting() == 0
    asked = kit.embedder.asked
    assert kit.meaning.catch_up() == 0
    assert kit.embedder.asked == asked
    kit.write("default/bad.md", "swordfish without")
    assert kit.search("swordfish").degraded == ()


def test_no_text_is_blamed_for_an_embedder_that_fails(kit):
    kit.embedder = Picky(fragile=True)
    kit.write("default/a.md", "swordfish with poison")
    kit.index.sync()
    with pytest.raises(EmbedderError):
        kit.meaning.catch_up()
    assert kit.meaning.waiting() == 1
    kit.embedder = HashingEmbedder()
    assert kit.search("swordfish").degraded == ()


def test_vector_creation_stops_on_request_and_respects_time_limit(kit):
    for number in range(40):
        kit.write(f"default/{number}.md", f"swordfish number {number}")
    kit.index.sync()
    assert kit.meaning.catch_up(stop=lambda: True) == 0
    asked, answer = threading.Event(), threading.Event()

    class WaitingEmbedder(HashingEmbedder):
        def _vectors(self, texts):
            asked.set()
            assert answer.wait(60)
            return super()._vectors(texts)

    kit.embedder = WaitingEmbedder()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(kit.meaning.catch_up, 20, stop=answer.is_set)
        assert asked.wait(60)
        assert kit.meaning.catch_up(until=time.monotonic() + 0.01) == 0
        answer.set()
        assert first.result() == 16
    assert kit.meaning.waiting() == 24


def test_texts_get_one_vector_each_from_the_cache_the_second_time(kit):
    texts = ["swordfish " * 100, "dolphin", ""]
    first = kit.meaning.vectors_of(texts)
    assert first.shape == (3, kit.embedder.identity.dimensions)
    kit.embedder = type("Named", (Broken,), {"identity": kit.embedder.identity})()
    assert (kit.meaning.vectors_of(texts) == first).all()
    kit.embedder = None
    assert kit.meaning.vectors_of(texts) is None


def test_nearness_is_reported_only_for_texts_with_vectors(kit):
    texts = {"a": "swordfish in the lake", "b": "dolphin at sea", "c": "nobody has read this"}
    assert kit.meaning.nearness("swordfish", texts) == {}
    kit.meaning.vectors_of([texts["a"], texts["b"]])
    near = kit.meaning.nearness("the swordfish", texts)
    assert near.keys() == {"a", "b"}
    assert near["a"] > near["b"]
    kit.embedder = None
    assert kit.meaning.nearness("swordfish", texts) == {}


def test_no_embedder_is_opened_to_tell_how_near_texts_are(store):
    opened = []
    meaning = SemanticIndex(store, lambda: opened.append(1), ready=lambda: None)
    assert meaning.nearness("swordfish", {"a": "swordfish"}) == {}
    assert opened == []


@pytest.mark.parametrize("embedder", [HashingEmbedder(), None])
def test_what_answers_is_likely_and_nonsense_says_that_nothing_fits(kit, embedder):
    kit.embedder = embedder
    for number in range(60):
        kit.write(f"default/{number}.md", f"The heron number {number} stands by the river and fishes.\n")
    kit.write("default/wifi.md", "The wifi password of the cabin is swordfish.\n")
    good = kit.search("What is the wifi password of the cabin?")
    assert good.hits[0].path == "default/wifi.md"
    assert (good.weak, good.likely > 0.5) == (False, True)
    assert good.hits[0].score == good.likely
    nonsense = kit.search("zzzz quux blorb?")
    assert nonsense.weak or not nonsense.hits
    assert all(hit.score < 0.1 for hit in nonsense.hits)
    assert nonsense.to_json()["weak"] is nonsense.weak


def test_the_setting_says_what_meaning_and_words_are_worth():
    assert (parse_weights(""), parse_weights("0.7:0.3")) == (MEASURED, OPENCLAW)
    weights = parse_weights("3:1")
    assert weights.features == {"density": 0.25, "nearness": 0.75}
    assert weights.recent == 0.0
    for wrong in ("0.7", "0:0", "-1:2", "inf:1", "nan:1", "much:little", "1:2:3"):
        with pytest.raises(ConfigError, match=r"0\.7:0\.3"):
            parse_weights(wrong)


def test_of_notes_that_say_nearly_the_same_the_newer_comes_first(kit):
    days = ["2026-02-24", "2025-11-11", "2025-03-01"]
    for day in days:
        kit.write(f"default/memory/{day}.md", "The nightly backup ran on the old server.\n")
    # The newest is a little longer, so that each word counts a little less.
    kit.write(f"default/memory/{days[0]}.md", "The nightly backup ran on the old server, soundly.\n")
    results = {}
    for recent in (0.0, MEASURED.recent):
        kit.search_in = Search(
            kit.store, kit.index, kit.meaning, weights=replace(MEASURED, recent=recent), budget=60.0
        )
        hits = kit.search("Where did the nightly backup run?").hits
        results[recent] = [Path(hit.path).stem for hit in hits]
    assert results == {0.0: [*days[1:], days[0]], MEASURED.recent: days}
    kit.write("default/memory/2024-01-01.md", "Restored invoices from tape seven after the flood.\n")
    assert kit.search("Which tape were the invoices restored from?").hits[0].path.endswith("2024-01-01.md")
    (first, *_) = kit.search("nightly backup").hits
    assert first.parts["recent"] == MEASURED.recent


def test_openclaw_weights_still_find_exact_words(store, tmp_path):
    kit = Kit(store, tmp_path, HashingEmbedder(), weights=OPENCLAW)
    kit.write("default/a.md", "Fixed in a828e60.")
    for number in range(40):
        kit.write(f"default/{number}.md", f"Something else, number {number}.")
    assert kit.snippets("a828e60", min_score=0.35) == ["Fixed in a828e60."]


@pytest.mark.real
def test_other_words_for_the_same_thing_are_found_by_meaning(store, tmp_path):
    with closing(ChosenEmbedder(EmbedderOptions(EMBEDDED, log=tmp_path / "embedder.log"))) as chosen:
        if chosen.current() is None:
            missing("the embedded sentence encoder", EmbedderError(chosen.trouble))
        kit = Kit(store, tmp_path / "workspace", chosen.current())
        kit.write("default/a.md", "The machine the gateway runs on is in the cellar.")
        kit.write("default/b.md", "Die Katze schläft gern in der Sonne.")
        kit.write("default/c.md", "We paid the invoice of the landlord on Monday.")
        assert kit.snippets("Mac Studio gateway host")[0].startswith("The machine the gateway runs on")
        assert kit.snippets("Where does the pet like to nap?")[0].startswith("Die Katze")


def test_hard_part_of_question_gets_its_share_of_results(kit):
    """One that many texts answer well does not take them all."""
    kit.say(
        *(f"The budget of the harbour renovation has item {number}." for number in range(40)), "Jo paints."
    )
    whole = read_question("What is the budget of the harbour renovation, and who paints?")
    result = kit.search_in.retrieve([whole, *split_question(whole)], ME, limit=40)
    first = kit.store.passages.texts([each.row.id for each in result.candidates[:4]])
    assert "Jo paints." in first.values()


def test_the_message_that_asks_does_not_answer_itself(kit):
    question = "Which plumber repaired the dishwasher?"
    kit.say(*(f"The heron number {number} stands by the river." for number in range(30)))
    conversation = kit.store.log.create(ME)
    (asked,) = kit.store.log.append(
        conversation.id, [NewMessage(Message.of("user", question))], parent=None, expect=None
    )
    read = read_question(question)
    (own,) = kit.search_in.retrieve([read], ME, limit=1).candidates
    assert (own.row.passage, own.ranked.ranking.unheard) == (asked.id, 0.0)
    others = kit.search_in.retrieve([read], ME, asked=asked.id)
    assert others.candidates[0].ranked.ranking.unheard == 1.0
    assert others.likely < kit.search_in.retrieve([read], ME).likely / 4


def test_heard_part_of_a_compound_counts_as_heard(kit):
    kit.say(
        "Der Handwerker kommt am Montag.", *(f"Der Reiher {number} steht am Fluss." for number in range(9))
    )

    def unheard(text):
        return kit.search_in.rank(read_question(text), ME).ranking.unheard

    assert unheard("Wann kommt der Handwerker?") == 0.0
    assert 0.0 < unheard("Wann kommt der Sanitärhandwerker?") < unheard("Wann kommt der Schornsteinfeger?")


def test_general_question_is_nearer_to_general_examples_than_to_chat(kit):
    kit.say(*(f"The heron number {number} stands by the river." for number in range(30)))

    def worldly(question: str) -> float:
        return kit.search_in.rank(read_question(question), ME).ranking.worldly

    assert worldly("What is the capital of Bolivia?") > 0 > worldly("Which heron stands by the river?")


def test_question_about_own_affairs_is_likelier_than_a_general_one(kit):
    kit.say("The heron stands by the river.")
    ranked = kit.search_in.rank(read_question("Where does the heron stand?"), ME)

    def likely(kind: QuestionKind) -> float:
        rows, near = ranked.ranking.rows, ranked.near.rows
        return rank_rows(ranked.question, ranked.matches, rows, near, MEASURED, kind).likely()

    assert likely(QuestionKind(general=0.6, own=0.3)) < likely(QuestionKind(general=0.6, own=0.7))
    assert ranked.near.kind.general == ranked.near.kind.own, "hashed words cannot tell"


def test_of_many_rows_the_best_are_those_overall(kit):
    for herd in range(12):
        kit.say(*(f"Heron {herd}-{number} stands by the river." for number in range(20)))
    kit.say("Where is the plumber's key?", "It hangs in the boathouse, behind the door.")
    ranked = kit.search_in.rank(read_question("Where is the key of the plumber?"), ME)
    rows, near = ranked.ranking.rows, ranked.near.rows
    every, few = (
        rank_rows(ranked.question, ranked.matches, rows, near, closely=number) for number in (1_000, 4)
    )
    assert len(few.rows.ids) < len(every.rows.ids) / 4
    assert few.rows.ids[few.best(2)].tolist() == every.rows.ids[every.best(2)].tolist()
    assert few.likely() == pytest.approx(every.likely())
