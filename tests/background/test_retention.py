"""How long conversations are kept: what is old goes, with or without what was learned, and nothing else."""

import asyncio
import time

import pytest

from holdfast.background.retention import DAY, Retention
from holdfast.config import load
from holdfast.errors import NotFound
from holdfast.memory.base import Memory, SummaryNote
from holdfast.memory.embedder_choice import ChosenEmbedder, EmbedderOptions
from holdfast.memory.folder import FolderWorkspace
from holdfast.memory.scopes import summary_file
from holdfast.memory.service import MemoryService
from holdfast.messages import Message, Scope
from holdfast.store import NewMessage, open_store
from holdfast.wiring import build_engine

NOW = 1_000 * DAY
ADA, BOB = Scope("ada"), Scope("bob", "garden")


@pytest.fixture
def store(tmp_path):
    with open_store(f"sqlite:///{tmp_path / 'holdfast.db'}") as store:
        yield store


@pytest.fixture
def parts(store, tmp_path):
    chosen = ChosenEmbedder(EmbedderOptions("off", log=tmp_path / "embedder.log"))
    service = MemoryService(store, FolderWorkspace(tmp_path / "workspace"), chosen)
    yield service
    service.close()


def talk_in(store, scope, days_ago):
    """A conversation in which somebody last spoke so many days ago."""
    at = NOW - days_ago * DAY
    row = store.log.create(scope, now=at - 500 * DAY)
    message = NewMessage(Message.of("user", f"Words {row.id}"))
    store.log.append(row.id, [message], parent=None, expect=None, now=at)
    return row.id


def left(store):
    return {row.id for row in store.log.list_used_since(0.0)}


def test_only_what_nobody_spoke_in_for_so_long_goes(store):
    old = [talk_in(store, scope, days) for scope in (ADA, BOB) for days in (91, 400)]
    spokens = [talk_in(store, scope, days) for scope in (ADA, BOB) for days in (0, 89)]
    gone = Retention(store, days=90).prune(NOW)
    assert {row.id for row, _ in gone} == set(old)
    assert left(store) == set(spokens)
    for row, _ in gone:
        with pytest.raises(NotFound):
            store.log.message(row.head)


def test_nothing_goes_without_a_limit(store):
    talk_in(store, ADA, 900)
    assert Retention(store).prune(NOW) == []
    assert len(left(store)) == 1


def test_single_scope_can_be_pruned_in_more_than_one_batch(store):
    for _ in range(60):
        talk_in(store, ADA, 100)
    bobs = talk_in(store, BOB, 100)
    assert len(Retention(store, days=90).prune(NOW, ADA)) == 60
    assert left(store) == {bobs}


def test_it_stops_when_it_is_told_to(store):
    for _ in range(3):
        talk_in(store, ADA, 100)
    report = iter((False, True))
    assert len(Retention(store, days=90).prune(NOW, stop=lambda: next(report))) == 1
    assert len(left(store)) == 2


@pytest.mark.parametrize("forget", [False, True])
def test_memories_stay_or_go_and_the_summary_goes(store, parts, forget):
    chat = talk_in(store, ADA, 100)
    memory = Memory("y_1", "fact", "The tower is tall.", ADA, conversation=chat, messages=("n_1",))
    parts.library.write([memory])
    parts.library.write_summary(SummaryNote("s_1", chat, "T", "All of it.", ADA, 1, "n_1", "n_1", NOW, "en"))
    place = summary_file(ADA, chat)
    assert parts.workspace.read(place)
    ((_, forgotten),) = Retention(store, parts, 90, forget).prune(NOW)
    assert forgotten == int(forget)
    assert parts.library.page(ADA).total == int(not forget)
    assert place not in [entry.path for entry in parts.workspace.entries(place.parent.parent)]


def test_a_server_prunes_when_it_starts_and_again_later(tmp_path):
    given = {"home": tmp_path, "embedder": "off", "upstream": "embedded", "retention_days": 30}

    async def work():
        engine = build_engine(load(given, {}).settings)
        row = engine.store.log.create(ADA, now=time.time() - 31 * DAY)
        log = engine.store.log.create(ADA)
        engine.background.start()
        await engine.background.idle.wait_until_idle()
        value = left(engine.store)
        waiting = engine.background.idle.waiting
        await engine.close()
        return row.id in value, log.id in value, "retention" in waiting

    assert asyncio.run(work()) == (False, True, True)


def test_a_clock_that_leapt_ahead_deletes_nothing_at_once(tmp_path):
    given = {"home": tmp_path, "embedder": "off", "upstream": "embedded", "retention_days": 30}

    async def work(days):
        engine = build_engine(load(given, {}).settings)
        engine.background._clock = lambda: time.time() + days * DAY
        engine.background.start()
        await engine.background.idle.wait_until_idle()
        value = left(engine.store)
        await engine.close()
        return value

    with open_store(load(given, {}).settings.store) as store:
        log = store.log.create(ADA)
    assert log.id in asyncio.run(work(0))
    assert log.id in asyncio.run(work(40))
    # An hour later it still says so, and is believed.
    assert log.id not in asyncio.run(work(40.05))
