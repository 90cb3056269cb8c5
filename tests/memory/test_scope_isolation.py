"""Nobody sees, finds, changes or forgets across a border, through any operation."""

from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from holdfast.errors import BadRequest, NotFound
from holdfast.memory.base import Memory, SummaryNote
from holdfast.memory.exchange import dump_memories, load_memories
from holdfast.memory.library import Library
from holdfast.memory.notes import Notes
from holdfast.memory.profile import Profile
from holdfast.memory.scopes import may_see, summary_file
from holdfast.memory.workspace import InMemoryWorkspace
from holdfast.messages import Scope
from holdfast.store import open_store

ANNA, ANNAS_GARDEN, ANNAS_HOUSE = Scope("anna"), Scope("anna", "garden"), Scope("anna", "house")
BEN, BENS_GARDEN = Scope("ben"), Scope("ben", "garden")
CHESS, OF_BEN = Scope("anna", "chess", "group"), Scope("ben", "chess", "group")
GARDEN_GROUP = Scope("anna", "garden", "group")
EVERYONE = (ANNA, ANNAS_GARDEN, ANNAS_HOUSE, BEN, BENS_GARDEN, CHESS, GARDEN_GROUP)

# Who can see whose; everything else is a border.
SEES = {
    ANNA: {ANNA},
    ANNAS_GARDEN: {ANNA, ANNAS_GARDEN},
    ANNAS_HOUSE: {ANNA, ANNAS_HOUSE},
    BEN: {BEN},
    BENS_GARDEN: {BEN, BENS_GARDEN},
    CHESS: {CHESS},
    GARDEN_GROUP: {GARDEN_GROUP},
}
BORDERS = [(who, whose) for who in EVERYONE for whose in EVERYONE if whose not in SEES[who]]


def name_of(scope):
    return f"{scope.user}-{scope.project}-{scope.kind}"


@pytest.fixture
def workspace():
    return InMemoryWorkspace()


@pytest.fixture
def store():
    with open_store("sqlite://") as opened:
        yield opened


@pytest.fixture
def library(workspace, store):
    return filled(workspace, store)


@pytest.fixture(scope="module")
def standing():
    """The same, for tests that change nothing."""
    with open_store("sqlite://") as opened:
        yield filled(InMemoryWorkspace(), opened)


def filled(workspace, store):
    library = Library(Notes(workspace), store.recollections)
    for scope in EVERYONE:
        library.write([Memory(name_of(scope), "fact", f"Secret word {name_of(scope)}.", scope)])
        library.write(
            [Memory(f"n-{name_of(scope)}", "note", f"Note {name_of(scope)}.", scope, valid_from=9e8)]
        )
    library.archive(BEN, library.add(BEN, "Archived of Ben.").memory.id)
    return library


def owners(memories):
    return {scope for scope in EVERYONE for memory in memories if name_of(scope) in memory.text}


@pytest.mark.parametrize("who", EVERYONE, ids=name_of)
def test_everyone_sees_what_is_theirs_and_nothing_else(standing, who):
    library = standing
    assert owners(library.page(who).memories) == SEES[who]
    assert owners(library.page(who, text="secret").memories) == SEES[who]
    assert owners(library.list_useful(who, 9e8)) == SEES[who]
    assert owners(library.list_all(who)[0]) == SEES[who]
    assert library.page(who).total == len(library.page(who, history=True).memories) == 2 * len(SEES[who])
    assert library.stats(who).active == 2
    for form in ("json", "markdown"):
        out = dump_memories(library, who, form).text
        assert {scope for scope in EVERYONE if f"word {name_of(scope)}." in out} == SEES[who]
        assert ("Archived" in out) == (form == "json" and BEN in SEES[who])


@pytest.mark.parametrize(("who", "whose"), BORDERS, ids=lambda scope: name_of(scope))
def test_an_id_opens_no_border(standing, who, whose):
    library = standing
    for name in (name_of(whose), f"n-{name_of(whose)}"):
        for call in (library.get, library.find_file, library.forget, library.archive):
            with pytest.raises(NotFound):
                call(who, name)
        with pytest.raises(NotFound):
            library.edit(who, name, text="Mine now.")
        assert library.get(whose, name).scope == whose or whose.kind == "group"


@pytest.mark.parametrize("who", EVERYONE, ids=name_of)
def test_deleting_all_ends_at_the_border(library, who):
    library.clear(who, library.confirmation(who))
    for other in EVERYONE:
        assert library.page(other, own=True).total == (0 if other == who else 2)
    others = {library.confirmation(scope) for scope in EVERYONE if scope != who}
    for word in others:
        with pytest.raises(BadRequest):
            library.clear(who, word)


def test_forgetting_here_does_not_forbid_it_there(library):
    library.write([Memory("same", "fact", "The gate is green.", scope) for scope in (ANNA, BEN)])
    library.forget(ANNA, "same")
    assert library.get(BEN, "same").text == "The gate is green."
    library.note_used([library.get(BEN, "same")])
    assert (library.stats(ANNA).recalls, library.stats(BEN).recalls) == (0, 1)
    again = [Memory("again", "fact", "The gate is green.", scope) for scope in (ANNA, BENS_GARDEN)]
    assert [outcome.action for outcome in library.keep(again)] == ["refused", "added"]


def test_the_same_words_on_two_sides_stay_two_memories(library):
    for scope in EVERYONE:
        assert library.add(scope, "The gate is green.").action == "added"
    assert library.add(ANNA, "The gate is green.").action == "updated"


def test_a_group_is_one_whoever_speaks(library):
    assert library.page(OF_BEN).memories == library.page(CHESS).memories
    memory = library.add(OF_BEN, "We play on Fridays.", "preference").memory
    assert library.get(CHESS, memory.id) == memory
    assert memory.scope == replace(CHESS, user="default")


def test_an_import_stays_on_its_side(library):
    out = dump_memories(library, ANNAS_GARDEN).text
    load_memories(library, BEN, out)
    load_memories(library, CHESS, out)
    assert owners(library.page(ANNAS_HOUSE).memories) == SEES[ANNAS_HOUSE]
    assert ANNA in owners(library.page(BEN, own=True).memories)
    assert owners(library.page(GARDEN_GROUP).memories) == {GARDEN_GROUP}


def test_a_profile_is_one_persons(workspace, store):
    profile = Profile(workspace, store.proposals)
    profile.set(ANNAS_GARDEN, "name", "Anna")
    proposal = profile.propose(Memory("p", "preference", "I like short answers.", ANNAS_GARDEN))
    assert profile.fields(ANNA) == profile.fields(ANNAS_HOUSE) == {"name": "Anna"}
    assert profile.fields(BEN) == {}
    assert profile.proposals(BEN) == []
    for call in (profile.accept, profile.dismiss):
        with pytest.raises(NotFound):
            call(BEN, proposal.id)
    assert profile.render(CHESS, 200, len).text == ""
    assert profile.propose(Memory("p", "preference", "I like short answers.", CHESS)) is None
    for call in (profile.show, profile.proposals, profile.fields):
        with pytest.raises(BadRequest, match="group has no profile"):
            call(CHESS)


@pytest.mark.parametrize(
    ("scope", "path", "seen"),
    [
        (ANNA, "anna/MEMORY.md", True),
        (ANNA, "anna/projects/garden/MEMORY.md", False),
        (ANNA, "ben/MEMORY.md", False),
        (ANNA, "groups/chess/MEMORY.md", False),
        (ANNA, "anna", False),
        (ANNAS_GARDEN, "anna/memory/2026-01-01.md", True),
        (ANNAS_GARDEN, "anna/projects/garden/memory/2026-01-01.md", True),
        (ANNAS_GARDEN, "anna/projects/house/MEMORY.md", False),
        (ANNAS_GARDEN, "anna/projects/gardening/MEMORY.md", False),
        (CHESS, "groups/chess/MEMORY.md", True),
        (CHESS, "anna/MEMORY.md", False),
        (CHESS, "groups/garden/MEMORY.md", False),
    ],
)
def test_a_path_is_looked_at_only_by_those_it_belongs_to(scope, path, seen):
    assert may_see(scope, PurePosixPath(path)) is seen


def test_a_summary_tells_which_project_it_is_of(library, workspace):
    note = SummaryNote("s_1", "c_1", "Roses", "Cut them.", ANNAS_GARDEN, 2, "n_1", "n_2", 9e8, "en")
    library.write_summary(note)
    assert '"project":"garden"' in workspace.read(summary_file(ANNAS_GARDEN, "c_1")).text
