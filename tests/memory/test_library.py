"""What can be done with memories, on real files: kept once, found, corrected, forgotten, and never lost."""

import json
import os
from dataclasses import replace
from functools import partial

import pytest

from holdfast.background.projector import Projector
from holdfast.compaction.compactor import enqueue_memory_requests
from holdfast.errors import BadRequest, Conflict, NotFound
from holdfast.memory.base import CORRECTION, Memory, MemorySource
from holdfast.memory.exchange import dump_memories, load_memories
from holdfast.memory.folder import FolderWorkspace
from holdfast.memory.items import blank_items, parse_item
from holdfast.memory.library import Library
from holdfast.memory.notes import Notes
from holdfast.messages import Message, Scope
from holdfast.store import NewMessage, open_store

ME = Scope()
GARDEN = Scope(project="garden")
NOW = 1_771_900_000.0


@pytest.fixture(scope="module")
def store():
    with open_store("sqlite://") as opened:
        yield opened


class Clock:
    """Time that passes only when told to, a second with every look."""

    def __init__(self):
        self.now = NOW

    def __call__(self):
        self.now += 1
        return self.now


class World:
    """A library of a user of its own, so that one database serves all tests."""

    count = 0

    def __init__(self, folder, store):
        World.count += 1
        self.me = Scope(f"user{World.count}")
        self.home = folder / self.me.user
        self.changes = []
        self.clock = Clock()
        self.store = store
        self.folder = folder
        self.library = self.another()

    def another(self, **options):
        return Library(
            Notes(FolderWorkspace(self.folder)),
            self.store.recollections,
            on_change=lambda memories, change: self.changes.extend(
                (change, memory.text) for memory in memories
            ),
            clock=self.clock,
            **options,
        )

    def found(self, text, name="x_1", **changes):
        memory = Memory(name, "fact", text, self.me, conversation="c_1", messages=("n_1",), valid_from=NOW)
        return replace(memory, **changes)

    def texts(self, **options):
        return [memory.text for memory in self.library.page(self.me, **options).memories]


@pytest.fixture
def world(tmp_path, store):
    return World(tmp_path / "workspace", store)


# Keeping


def test_a_correction_is_kept_only_behind_what_it_corrects(world):
    correction = world.found("Nee warte, nicht 418, es sind 481.", "y_2", may_replace=CORRECTION)
    world.library.write([correction])
    assert world.texts() == []
    world.library.add(world.me, "Der Server heißt arion.")
    world.library.add(world.me, "Die Weiterleitungen stehen in der Karte, das sind 418 Stück.")
    world.library.write([replace(correction, id="y_3", valid_from=NOW + 60)])
    told = "Die Weiterleitungen stehen in der Karte, das sind 418 Stück."
    assert set(world.texts()) == {"Der Server heißt arion.", f"{told} {correction.text}"}


def test_a_correction_of_several_things_replaces_none(world):
    texts = ["Im Lager liegen 418 Kisten.", "Im Lager liegen 418 Dosen."]
    for text in texts:
        world.library.add(world.me, text)
    correction = world.found("Im Lager, nicht 418, es sind 481.", may_replace=CORRECTION, valid_from=NOW + 60)
    world.library.write([correction])
    assert set(world.texts()) == set(texts)


def test_each_kind_goes_where_it_belongs(world):
    garden = replace(world.me, project="garden")
    world.library.add(garden, "Roses need water.")
    world.library.add(garden, "I like short answers.", "preference")
    world.library.add(garden, "Planted a rose.", "note")
    world.library.add(world.me, "We meet on Mondays.", "decision")
    files = {str(path.relative_to(world.home)) for path in world.home.rglob("*.md")}
    (day,) = (world.home / "projects/garden/memory").iterdir()
    assert files == {"MEMORY.md", "projects/garden/MEMORY.md", f"projects/garden/memory/{day.name}"}
    assert "I like short answers." in (world.home / "MEMORY.md").read_text()
    assert day.read_text().startswith(f"# {day.stem}\n\n## Notes\n\n- Planted a rose.\n")


def test_secrets_and_private_words_are_not_kept(world):
    memory = world.library.add(world.me, "The key is sk-abc123def456ghi789jkl0 for the shop.").memory
    assert "abc123" not in memory.text
    with pytest.raises(BadRequest, match="nothing left to remember"):
        world.library.add(world.me, "<private>My salary is 5000.</private>")
    assert "abc123" not in (world.home / "MEMORY.md").read_text()
    edited = world.library.edit(world.me, memory.id, text="It is sk-abc123def456ghi789jkl0 now.")
    assert "abc123" not in edited.text


def test_said_again_is_one_memory_with_both_sources(world):
    world.library.write([world.found("The server is called arion.")])
    again = world.found(
        "Server is called arion", "x_2", conversation="c_2", messages=("n_9",), valid_from=NOW + 9
    )
    world.library.write([again])
    world.library.write([again])
    (memory,) = world.library.page(world.me).memories
    assert (memory.id, memory.date) == ("x_1", NOW + 9)
    assert memory.sources == (MemorySource("c_1", ("n_1",)), MemorySource("c_2", ("n_9",)))
    assert [change for change, _ in world.changes] == ["added", "updated"]


def test_what_no_longer_holds_is_history_and_still_there(world):
    old = world.library.add(world.me, "We use Postgres.").memory
    new = world.library.add(world.me, "We switched to SQLite.", "decision")
    assert new.action == "superseded"
    assert world.texts() == ["We switched to SQLite."]
    assert world.texts(history=True) == ["We switched to SQLite.", "We use Postgres."]
    before = world.library.get(world.me, old.id)
    assert (before.superseded_by, before.valid_until) == (new.memory.id, new.memory.valid_from)
    assert "We use Postgres." in (world.home / "MEMORY.md").read_text()
    assert ("superseded", "We use Postgres.") in world.changes


def test_a_persons_own_item_is_marked_and_its_words_stay(world):
    world.home.mkdir(parents=True)
    file = world.home / "MEMORY.md"
    file.write_text("# Mine\n\n* The database runs\n  on port 5432.\n\nOther words.\n")
    world.library.add(world.me, "The database runs on port 5433.")
    assert file.read_text().startswith(
        "# Mine\n\n* ~~The database runs~~\n  ~~on port 5432.~~"
        " → 2026-02-24: The database runs on port 5433.\n  <!-- holdfast {"
    )
    assert world.texts() == ["The database runs on port 5433."]
    assert len(world.texts(history=True)) == 2


def test_the_least_useful_make_room_in_the_archive(world):
    small = world.another(limit=3)
    for number, importance in enumerate((0.9, 0.1, 0.8, 0.7, 0.2)):
        small.add(world.me, f"Fact number {number}.", importance=importance)
    assert set(world.texts()) == {"Fact number 0.", "Fact number 2.", "Fact number 3."}
    (month,) = (world.home / "archive").iterdir()
    assert month.read_text().startswith(f"# {month.stem}\n")
    assert (small.stats(world.me).active, small.stats(world.me).archived) == (3, 2)
    archived = next(memory for memory in small.list_all(world.me)[1] if memory.text == "Fact number 1.")
    assert small.get(world.me, archived.id) == archived
    assert ("archived", "Fact number 1.") in world.changes


# Looking


def test_lists_are_newest_first_and_can_be_narrowed(world):
    world.library.add(world.me, "Die Datenbank heißt arion.")
    world.library.add(world.me, "Anna likes tea.", "preference")
    world.library.add(world.me, "Die Katze heißt Mia.")
    assert world.texts() == ["Die Katze heißt Mia.", "Anna likes tea.", "Die Datenbank heißt arion."]
    assert world.texts(kind="preference") == ["Anna likes tea."]
    assert world.texts(text="datenbanken") == ["Die Datenbank heißt arion."]
    assert world.texts(text="ANNA li") == ["Anna likes tea."]
    assert world.texts(limit=1, offset=1) == ["Anna likes tea."]
    assert world.library.page(world.me, limit=0).total == 3
    for wrong in ({"limit": -1}, {"offset": -1}, {"kind": "rumour"}):
        with pytest.raises(BadRequest):
            world.library.page(world.me, **wrong)


def test_a_conversation_begins_with_what_matters_then_the_last_two_days(world):
    world.library.add(world.me, "Less.", importance=0.2)
    world.library.add(world.me, "More.", importance=0.9)
    for days, name in ((3, "long ago"), (1, "yesterday"), (0, "today")):
        world.library.write([world.found(f"Note {name}.", name, kind="note", valid_from=NOW - days * 86_400)])
    texts = [memory.text for memory in world.library.list_useful(world.me, NOW)]
    assert texts == ["More.", "Less.", "Note today.", "Note yesterday."]


@pytest.mark.parametrize("who", ["Ich bin Silke.", "I work as a nurse in Leeds."])
def test_a_conversation_begins_with_who_the_person_is(world, who):
    world.library.add(world.me, "I prefer short answers.", "preference", importance=0.9)
    world.library.add(world.me, "Mein Nachbar baut einen Carport.", importance=0.9)
    world.library.add(world.me, who, importance=0.1)
    texts = [memory.text for memory in world.library.list_opening(world.me, NOW)]
    assert texts == [who, "I prefer short answers.", "Mein Nachbar baut einen Carport."]


def test_a_conversation_begins_with_rules_whosever_they_are(world):
    project = Scope(world.me.user, "tides")
    world.library.add(project, "The port is 8443.", importance=1.0)
    world.library.add(project, "Never push to main.", "decision", importance=0.1)
    world.library.add(world.me, "I prefer short answers.", "preference", importance=0.1)
    texts = [memory.text for memory in world.library.list_opening(project, NOW)]
    assert set(texts[:2]) == {"Never push to main.", "I prefer short answers."}
    assert texts[2] == "The port is 8443."


def test_what_is_forbidden_comes_before_what_failed(world):
    failed = "We tried Redis, it did not work. We won't try that again."
    world.library.add(world.me, failed, "decision", importance=0.9)
    world.library.add(world.me, "Never touch the folder alt.", "preference", importance=0.1)
    texts = [memory.text for memory in world.library.list_opening(world.me, NOW)]
    assert texts == ["Never touch the folder alt.", failed]


def test_manual_file_change_is_visible_on_next_read(world):
    world.library.add(world.me, "Roses need water.")
    first = world.library.list_useful(world.me, NOW)
    assert [memory.text for memory in first] == ["Roses need water."]
    first.clear()
    assert [memory.text for memory in world.library.list_useful(world.me, NOW)] == ["Roses need water."]
    file = world.home / "MEMORY.md"
    file.write_text(file.read_text().replace("water", "light"))
    assert [memory.text for memory in world.library.list_useful(world.me, NOW)] == ["Roses need light."]


def test_use_is_counted_and_shown(world):
    memory = world.library.add(world.me, "Roses need water.").memory
    world.library.note_used([memory, memory])
    world.library.note_used([memory])
    stats = world.library.stats(world.me)
    assert (stats.recalls, stats.active, stats.kinds["fact"]) == (2, 1, 1)


def test_unreadable_file_is_reported_and_others_are_listed(world):
    world.library.add(world.me, "Roses need water.")
    days = world.home / "memory"
    days.mkdir()
    (days / "2026-01-01.md").write_bytes(b"\0\0")
    page = world.library.page(world.me)
    assert [memory.text for memory in page.memories] == ["Roses need water."]
    assert "2026-01-01.md is no text" in page.troubles[0]
    with pytest.raises(NotFound, match="is no text"):
        world.library.get(world.me, "nothing")


def test_undecodable_file_name_is_reported_in_stats_lists_and_exports(world):
    world.library.add(world.me, "Roses need water.")
    for place in (world.home / "memory", world.home / "archive"):
        place.mkdir()
        (place / os.fsdecode(b"gr\xfc\xdfe.md")).write_text("- Lost.\n")
    assert [memory.text for memory in world.library.page(world.me).memories] == ["Roses need water."]
    troubles = world.library.stats(world.me).troubles
    assert len(troubles) == 2
    assert all("gr\\xfc\\xdfe.md: Its name is no text" in trouble for trouble in troubles)
    for form in ("json", "markdown"):
        out = dump_memories(world.library, world.me, form)
        assert out.left_out == troubles
        assert "Roses need water." in out.text
    left_out = json.loads(dump_memories(world.library, world.me).text)["left_out"]
    assert left_out == list(troubles)
    again = load_memories(world.library, world.me, dump_memories(world.library, world.me).text)
    assert (again.known, again.bad) == (1, ())
    assert load_memories(world.library, world.me, dump_memories(world.library, world.me).text[:-2]).bad == ()


# A person at the files


def test_what_a_person_does_in_the_files_is_followed(world):
    memory = world.library.add(world.me, "Fact one.").memory
    two = world.library.add(world.me, "Fact two.").memory
    file = world.home / "MEMORY.md"
    file.write_text(file.read_text().replace("Fact one.", "Fact one, corrected."))
    assert world.library.get(world.me, memory.id).text == "Fact one, corrected."
    (world.home / "memory").mkdir()
    file.rename(world.home / "memory/2026-02-02.md")
    assert world.library.get(world.me, two.id).text == "Fact two."
    (world.home / "memory/2026-02-02.md").unlink()
    assert world.texts() == []


def test_what_a_person_wrote_by_hand_can_be_corrected_and_forgotten(world):
    world.home.mkdir(parents=True)
    file = world.home / "MEMORY.md"
    file.write_text("* The cat is called Mia.\n* The dog is called Rex.\n")
    cat, dog = sorted(world.library.page(world.me).memories, key=lambda memory: memory.text)
    edited = world.library.edit(world.me, cat.id, text="The cat is called Kim.")
    assert world.library.get(world.me, cat.id) == edited
    world.library.forget(world.me, dog.id)
    assert file.read_text().startswith("- The cat is called Kim.\n  <!-- holdfast {")
    assert "Rex" not in file.read_text()


def test_a_note_without_a_date_is_of_today(world):
    world.library.write([world.found("Wrote a mail.", kind="note", valid_from=0.0)])
    assert [memory.text for memory in world.library.list_useful(world.me, NOW)] == ["Wrote a mail."]


# Changing


def test_an_edit_changes_one_item(world):
    memory = world.library.add(world.me, "Fact one.").memory
    world.library.add(world.me, "Fact two.")
    before = (world.home / "MEMORY.md").read_text()
    edited = world.library.edit(world.me, memory.id, text="Fact 1.", importance=1, pinned=True)
    after = (world.home / "MEMORY.md").read_text()
    assert world.library.get(world.me, memory.id) == edited
    assert after.split("\n")[6:8] == before.split("\n")[6:8]
    assert [(old.text, old.superseded_by) for old in world.library.list_replaced(world.me, memory.id)] == [
        ("Fact one.", memory.id)
    ]
    assert world.changes[-1] == ("edited", "Fact 1.")
    for wrong in ({"text": " "}, {"text": "x" * 9_000}, {"importance": 2}, {"kind": "summary"}):
        with pytest.raises(BadRequest):
            world.library.edit(world.me, memory.id, **wrong)
    world.library.forget(world.me, memory.id)
    assert "Fact one." not in (world.home / "MEMORY.md").read_text()


def test_another_kind_may_mean_another_file(world):
    garden = replace(world.me, project="garden")
    memory = world.library.add(garden, "Short answers.").memory
    moved = world.library.edit(garden, memory.id, kind="preference")
    assert moved.scope == world.me
    assert memory.id in (world.home / "MEMORY.md").read_text()
    assert memory.id not in (world.home / "projects/garden/MEMORY.md").read_text()
    assert world.library.get(garden, memory.id) == moved


def test_what_is_forgotten_is_gone_everywhere_and_not_learned_again(world):
    world.library.write(
        [world.found("The dog is called Rex."), world.found("Tea is good.", "x_2", messages=("n_2",))]
    )
    file = world.home / "MEMORY.md"
    file.write_text(file.read_text() + "\n# Copy\n" + "\n".join(file.read_text().split("\n")[4:6]) + "\n")
    memory = world.library.get(world.me, "x_1")
    world.library.note_used([memory])
    world.library.forget(world.me, "x_1")
    assert "Rex" not in file.read_text()
    assert "Tea is good." in file.read_text()
    assert world.library.stats(world.me).recalls == 0
    assert world.changes[-1] == ("forgotten", "The dog is called Rex.")
    refused = [
        memory,
        world.found("the dog is called REX", "x_3", messages=("n_5",)),
        world.found("My dog is called Rex.", "x_4"),
    ]
    assert [outcome.action for outcome in world.library.keep(refused)] == ["refused"] * 3
    different = world.found("The dog is called Bello.", "x_5", messages=("n_5",))
    assert world.library.keep([different])[0].action == "added"
    with pytest.raises(NotFound, match="no memory 'x_1'"):
        world.library.forget(world.me, "x_1")


def test_what_is_forgotten_leaves_the_summary_of_its_conversation(world):
    world.library.write([world.found("The dog is called Rex.")])
    summary = world.home / "conversations/c_1/summary.md"
    summary.parent.mkdir(parents=True)
    much = "- The dog is called Rex. We moved to Leeds in May, and the budget is 4,200 euros.\n"
    summary.write_text(f"# Summary\n\n- By the way, the dog is called Rex!\n{much}- The roof leaks.\n")
    world.library.forget(world.me, "x_1")
    assert summary.read_text() == f"# Summary\n\n{much}- The roof leaks.\n"


def test_forgetting_what_has_no_words_leaves_a_summary_as_it_is(world):
    world.library.write([world.found("???")])
    summary = world.home / "conversations/c_1/summary.md"
    summary.parent.mkdir(parents=True)
    summary.write_text("# Summary\n\n- The roof leaks.\n")
    for memory in world.library.list_all(world.me)[0]:
        world.library.forget(world.me, memory.id)
    world.library.notes.drop_from_summaries([world.found("???")], [world.me])
    assert summary.read_text() == "# Summary\n\n- The roof leaks.\n"


def test_an_older_value_that_is_read_late_is_kept_as_history(world):
    world.library.write([world.found("The budget is now 3,650 euros.", valid_from=NOW)])
    late = world.found("The budget is 4,200 euros.", "x_2", messages=("n_2",), valid_from=NOW - 100)
    assert world.library.keep([late])[0].action == "known"
    assert world.texts() == ["The budget is now 3,650 euros."]
    assert [memory.text for memory in world.library.list_replaced(world.me, "x_1")] == [late.text]


def test_who_asks_for_it_gets_it_back(world):
    memory = world.library.add(world.me, "The dog is called Rex.").memory
    world.library.forget(world.me, memory.id)
    assert world.library.add(world.me, "The dog is called Rex.").action == "added"
    assert world.library.keep([world.found("The dog is called Rex.", "x_9")])[0].action == "updated"


def test_a_conversations_memories_can_go_with_it(world):
    world.library.write([world.found("Fact one."), world.found("Fact two.", "x_2", conversation="c_2")])
    world.library.write([world.found("Fact three.", "x_3", also=(MemorySource("c_2"),))])
    gone = world.library.forget_conversation(world.me, "c_1")
    assert [memory.id for memory in gone] == ["x_1"]
    assert set(world.texts()) == {"Fact two.", "Fact three."}


def test_deleting_all_needs_its_word_and_leaves_a_persons_prose(world):
    world.another(limit=1).add(world.me, "Fact one.")
    world.another(limit=1).add(world.me, "Fact two.")
    file = world.home / "MEMORY.md"
    file.write_text("My own prose.\n\n" + file.read_text())
    with pytest.raises(BadRequest, match="must be confirmed") as caught:
        world.library.clear(world.me, "yes")
    word = world.library.confirmation(world.me)
    assert word in caught.value.hint
    assert world.library.clear(world.me, word) == 2
    assert world.library.list_all(world.me) == ([], [])
    assert file.read_text().startswith("My own prose.\n")


def test_what_is_forgotten_together_is_told_together(world):
    world.library.write([world.found(f"Fact number {n} of area{n}.", f"x_{n}") for n in range(5)])
    report = []
    world.library.on_change = lambda memories, change: report.append((change, len(memories)))
    world.library.clear(world.me, world.library.confirmation(world.me))
    world.library.clear(world.me, world.library.confirmation(world.me))
    assert report == [("forgotten", 5)]


def test_what_was_corrected_does_not_come_back_from_where_it_came(world):
    world.library.write([world.found("The server is called arion.")])
    world.library.edit(world.me, "x_1", text="The server is called bree.")
    again = world.found("Server is called arion.", "x_2", valid_from=NOW + 99)
    assert world.library.keep([again])[0].action == "refused"
    assert world.texts() == ["The server is called bree."]
    elsewhere = replace(again, id="x_3", messages=("n_7",))
    assert world.library.keep([elsewhere])[0].action == "superseded"


def test_archiving_twice_loses_nothing(world):
    memory = world.library.add(world.me, "Old news.").memory
    for _ in range(2):
        assert world.library.archive(world.me, memory.id) == memory
    assert world.library.list_all(world.me) == ([], [memory])
    edited = world.library.edit(world.me, memory.id, text="Older news.")
    assert world.library.list_all(world.me) == ([], [edited])


def test_a_move_cut_short_by_a_crash_leaves_one_memory(world):
    memory = world.library.add(world.me, "Fact one.").memory
    before = (world.home / "MEMORY.md").read_text()
    world.library.archive(world.me, memory.id)
    (world.home / "MEMORY.md").write_text(before)
    assert dump_memories(world.library, world.me).text.count("Fact one.") == 1
    assert '"archived"' not in dump_memories(world.library, world.me).text
    world.library.forget(world.me, memory.id)
    assert world.library.list_all(world.me) == ([], [])


# Going out and coming in


@pytest.fixture
def filled(world):
    garden = replace(world.me, project="garden")
    world.library.write([world.found("We use Postgres.")])
    world.library.add(world.me, "We switched to SQLite.", "decision", pinned=True)
    world.library.add(garden, "Roses need\nwater.")
    world.library.add(world.me, "Wrote a mail.", "note")
    world.library.archive(world.me, world.library.add(world.me, "Old news.").memory.id)
    return world


def test_an_export_comes_back_whole_after_everything_was_deleted(filled):
    garden = replace(filled.me, project="garden")
    record, archived = filled.library.list_all(garden)
    out = dump_memories(filled.library, garden).text
    for scope in (filled.me, garden):
        filled.library.clear(scope, filled.library.confirmation(scope))
    came = load_memories(filled.library, filled.me, out)
    assert (came.added, came.known, came.bad) == (5, 0, ())
    again = load_memories(filled.library, filled.me, out)
    assert (again.added, again.updated, again.known) == (0, 0, 5)
    assert filled.library.list_all(garden) == (record, archived)


def test_markdown_goes_out_and_in(filled, tmp_path, store):
    out = dump_memories(filled.library, filled.me, "markdown").text
    assert "- We switched to SQLite." in out
    other = World(tmp_path / "other", store)
    assert load_memories(other.library, other.me, out + "\n- Written by hand.\n").added == 4
    assert load_memories(other.library, other.me, out).known == 3
    assert "Written by hand." in other.texts()
    assert other.texts(history=True).count("We use Postgres.") == 1


def test_bad_lines_are_named_and_the_rest_comes_in(world):
    lines = [
        '{"text": "Good one."}',
        '{"text": ',
        '{"kind": "fact"}',
        '{"text": "x", "kind": "rumour"}',
        "[1]",
        '{"text": "Nan", "importance": NaN}',
    ]
    text = "\n".join(lines)
    came = load_memories(world.library, world.me, text)
    assert came.added == 1
    assert [bad.split(":")[0] for bad in came.bad] == ["line 2", "line 3", "line 4", "line 5", "line 6"]
    assert "no kind of memory" in came.bad[2]
    assert load_memories(world.library, world.me, '{"text": "Good one."}').known == 1
    with pytest.raises(BadRequest):
        load_memories(world.library, world.me, '{"memories": 7}')


def test_the_order_of_an_import_does_not_matter(world):
    rows = [
        '{"text": "The database runs on port 5433.", "valid_from": 2000}',
        '{"text": "The database runs on port 5432.", "valid_from": 1000}',
    ]
    assert load_memories(world.library, world.me, "\n".join(rows)).added == 2
    assert world.texts() == ["The database runs on port 5433."]


def test_what_comes_in_belongs_to_who_brings_it(world, tmp_path):
    row = '{"text": "Mine now.", "scope": {"user": "somebody", "project": "secret", "kind": "group"}}'
    load_memories(world.library, world.me, row)
    assert world.texts() == ["Mine now."]
    assert {path.name for path in (tmp_path / "workspace").iterdir() if path.is_dir()} == {world.me.user}


# What others do meanwhile, and what cannot be read


class Meddled(FolderWorkspace):
    """A workspace in which somebody else is quicker once: between a reading and its writing."""

    def __init__(self, folder):
        super().__init__(folder)
        self.meddle = None

    def write(self, path, text, expect=None):
        meddle, self.meddle = self.meddle, None
        if meddle:
            meddle()
        return super().write(path, text, expect)


@pytest.fixture
def meddled(world):
    world.library.notes.workspace = Meddled(world.folder)
    return world


def test_an_edit_keeps_what_another_edit_changed_meanwhile(meddled):
    memory = meddled.library.add(meddled.me, "The port is 4711.").memory
    other = meddled.another()
    meddled.library.notes.workspace.meddle = partial(
        other.edit, meddled.me, memory.id, text="The port is 9999."
    )
    edited = meddled.library.edit(meddled.me, memory.id, pinned=True)
    assert (edited.text, edited.pinned) == ("The port is 9999.", True)
    assert other.get(meddled.me, memory.id) == edited


def test_what_is_changed_while_it_moves_stays_where_it_is(meddled):
    memory = meddled.library.add(meddled.me, "The port is 4711.").memory
    other = meddled.another()
    moves = (
        lambda: meddled.library.archive(meddled.me, memory.id),
        lambda: meddled.library.edit(meddled.me, memory.id, kind="note"),
    )
    for number, move in enumerate(moves):
        text = f"The port is {number}."
        meddled.library.notes.workspace.meddle = partial(other.edit, meddled.me, memory.id, text=text)
        with pytest.raises(Conflict, match="meanwhile"):
            move()
        record, archived = other.list_all(meddled.me)
        assert ([item.text for item in record if item.active], archived) == ([text], [])
    moves[0]()
    assert [entry.text for entry in other.list_all(meddled.me)[1]] == ["The port is 1."]


@pytest.mark.parametrize("place", ["archive", "memory"])
@pytest.mark.parametrize("link", [False, True])
def test_a_place_that_cannot_be_read_blocks_nothing_else(world, tmp_path, place, link):
    memory = world.library.add(world.me, "Fact one.").memory
    if link:
        (tmp_path / "vault").mkdir()
        (world.home / place).symlink_to(tmp_path / "vault")
    else:
        (world.home / place).mkdir()
        (world.home / place / "img.md").write_bytes(b"\0\1")
    small = world.another(limit=1)
    assert small.add(world.me, "Fact two.").action == "added"
    assert world.library.edit(world.me, memory.id, pinned=True).pinned
    assert "Fact one." in dump_memories(world.library, world.me).text
    assert len(world.library.stats(world.me).troubles) == 1
    world.library.forget(world.me, memory.id)
    with pytest.raises(NotFound):
        world.library.get(world.me, memory.id)


def test_what_a_person_wrote_by_hand_is_never_archived_unasked(world):
    world.home.mkdir(parents=True)
    (world.home / "MEMORY.md").write_text("- Mine one.\n- Mine two.\n- Mine three.\n")
    small = world.another(limit=1)
    small.add(world.me, "Fact one.", importance=0.1)
    small.add(world.me, "Fact two.")
    assert set(world.texts()) == {"Mine one.", "Mine two.", "Mine three.", "Fact two."}
    assert load_memories(small, world.me, "- Theirs one.\n- Theirs two.\n").added == 2
    assert load_memories(small, world.me, "- Theirs one.\n- Theirs two.\n").known == 2
    assert len(world.texts()) == 4


class Counted(FolderWorkspace):
    """A workspace that knows which files were read and written."""

    def __init__(self, folder):
        super().__init__(folder)
        self.seen = []

    def read(self, path):
        self.seen.append(("read", path.name))
        return super().read(path)

    def write(self, path, text, expect=None):
        self.seen.append(("write", path.name))
        return super().write(path, text, expect)


def test_files_are_not_read_nor_written_without_need(world):
    curated = world.library.add(world.me, "Fact one.").memory
    days = [
        world.found(f"Note {day}.", f"d_{day}", kind="note", valid_from=NOW - day * 86_400)
        for day in range(5)
    ]
    world.library.write(days)
    shelved = [world.found(f"Old {number}.", f"o_{number}") for number in range(5)]
    counted = world.library.notes.workspace = Counted(world.folder)
    world.library.get(world.me, curated.id)
    assert counted.seen == [("read", "MEMORY.md")]
    counted.seen.clear()
    world.library.list_useful(world.me, NOW)
    assert len(counted.seen) == 3
    world.library.add_archived(shelved)
    world.library.add(world.me, "Fact two.")
    counted.seen.clear()
    assert world.library.clear(world.me, world.library.confirmation(world.me)) == 12
    assert sum(action == "write" for action, _ in counted.seen) == 7


# Perhaps another value


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Der Kurs kostet 120 Euro.", "Der Kurs in Bonn kostet 135 Euro."),
        ("The course costs 120 euros.", "The course in Bath costs 135 euros."),
    ],
)
def test_where_it_is_not_sure_both_hold_until_a_person_decides(world, old, new):
    world.library.write([world.found(old)])
    world.library.write([world.found(new, "x_2", valid_from=NOW + 1)])
    assert set(world.texts()) == {old, new}
    ((newer, older),) = world.library.list_rivals(world.me)
    assert (newer.text, older.text) == (new, old)
    _, replaced = world.library.decide(world.me, "x_2", replaces=True)
    assert replaced is not None
    assert replaced.superseded_by == "x_2"
    assert world.texts() == [new]
    assert f"~~{old}~~" in (world.home / "MEMORY.md").read_text()
    assert world.library.list_rivals(world.me) == []
    world.library.take_back(world.me, "x_2")
    assert world.texts() == [old]


def test_who_keeps_both_is_not_asked_again(world):
    world.library.write([world.found("Der Kurs kostet 120 Euro.")])
    world.library.write([world.found("Der Kurs in Bonn kostet 135 Euro.", "x_2", valid_from=NOW + 1)])
    world.library.decide(world.me, "x_2", replaces=False)
    assert len(world.texts()) == 2
    assert world.library.list_rivals(world.me) == []
    with pytest.raises(BadRequest):
        world.library.decide(world.me, "x_2", replaces=True)


# Taken back later


@pytest.mark.parametrize(
    ("said", "other", "sentence"),
    [
        ("Für Ereignisse nehmen wir Kafka.", "Der Gurkenpreis ist hoch.", "Vergiss Kafka wieder."),
        ("We use Kafka for events.", "The gate opens at ten.", "Forget the Kafka thing."),
    ],
)
def test_earlier_memory_is_retracted_by_message_that_says_so(world, said, other, sentence):
    store = world.store
    row = store.log.create(world.me)
    world.library.write([world.found(said, conversation=row.id)])
    world.library.write([world.found(other, "x_2", conversation=row.id)])
    world.library.write([world.found(said.replace(".", " too."), "x_3", conversation="c_other")])
    stored = store.log.append(row.id, [NewMessage(Message.of("user", sentence))], parent=None, expect=None)
    store.atomically(enqueue_memory_requests, store, store.log.get(row.id), stored)
    Projector(store, world.library).project()
    assert other in world.texts()
    assert said not in world.texts()


@pytest.mark.parametrize(
    ("said", "other", "sentence"),
    [
        (
            "Wir ziehen mit dem Laden nach Kiel.",
            "Der Laden öffnet um neun.",
            "Vergiss das mit dem Laden in Kiel.",
        ),
        (
            "The shop moves to Leeds.",
            "The shop opens at nine.",
            "Forget what I said about the shop in Leeds.",
        ),
    ],
)
def test_taken_back_is_what_has_most_of_the_names(world, said, other, sentence):
    world.library.write([world.found(said, conversation="c_1")])
    world.library.write([world.found(other, "x_2", conversation="c_1")])
    world.library.withdraw(world.me, "c_1", sentence)
    assert world.texts() == [other]


def test_a_word_in_common_takes_nothing_back(world):
    world.library.write([world.found("The shop opens at nine.", conversation="c_1")])
    world.library.withdraw(world.me, "c_1", "Forget the striped awning idea for the shop window.")
    assert world.texts() == ["The shop opens at nine."]


def test_adding_a_memory_reads_only_what_is_new(world):
    for number in range(60):
        world.library.add(world.me, f"The {number}th depot in the town of Kiel{number} has {number} gates.")
    parsed = parse_item.cache_info().misses
    world.library.add(world.me, "The kestrel nests on the tower.")
    assert parse_item.cache_info().misses - parsed <= 2
    headings = blank_items((world.home / "MEMORY.md").read_text().splitlines(keepends=True))
    assert headings.split() == ["#", "Memory", "##", "Facts"]
