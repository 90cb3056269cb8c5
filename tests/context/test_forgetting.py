"""What is gone from memory is gone from windows, reports and the database, whoever took it away, and how."""

import asyncio
import json
import sqlite3
from contextlib import closing

import pytest

from holdfast.memory.folder import FolderWorkspace
from holdfast.messages import Scope
from tests.context.engine_client import Client, provider
from tests.context.memory_engine import last, remembering

pytestmark = pytest.mark.anyio

ME = Scope()
DATABASE = "We decided to use PostgreSQL for the billing service."
PORT = "The gateway listens on port 4711."
OTHER_PORT = "The gateway listens on port 4712."


class Talk:
    """A conversation that has quoted two memories, and the files they stand in."""

    def __init__(self, engine, server, folder):
        self.engine, self.server = engine, server
        self.library, self.index = engine.remembering.library, engine.remembering.index
        self.home = folder / "workspace" / "default"
        self.database = folder / "db"
        self.file = self.home / "MEMORY.md"
        self.client = Client(engine)

    async def begin(self):
        self.port = self.library.add(ME, PORT).memory
        self.library.add(ME, DATABASE, "decision")
        self.index.sync()
        await self.client.say("Hello!")
        assert {f"- {PORT}", f"- {DATABASE}"} <= set(self.quoted.split("\n"))

    @property
    def quoted(self):
        """What is told behind the first question."""
        return last(self.server)[0].text

    def edit(self, file, old, new):
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    async def goes_on(self):
        self.index.sync()
        await self.client.say("And now?")
        return self.quoted

    async def stored(self):
        """All decisions and reports, as another program sees them in the database."""
        await self.engine.locks.settle(self.client.conversation)
        with closing(sqlite3.connect(self.database)) as opened:
            rows = opened.execute("select data from decisions").fetchall()
            rows += opened.execute("select report from lanes").fetchall()
        return "\n".join(row[0] for row in rows)


@pytest.fixture
async def talk(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        begun = Talk(engine, server, tmp_path)
        await begun.begin()
        yield begun


async def test_memory_corrected_in_file_is_quoted_with_new_text(talk):
    talk.edit(talk.file, PORT, OTHER_PORT)
    report = await talk.goes_on()
    assert OTHER_PORT in report
    assert "4711" not in report
    assert DATABASE in report
    assert "4711" not in await talk.stored()
    assert talk.client.report["prefix"]["cause"] == "decisions"


async def test_what_a_person_deletes_from_the_file_leaves_the_window(talk):
    first, rest = talk.file.read_text().split(PORT)
    talk.file.write_text(first.removesuffix("- ") + rest.split("-->", 1)[1].lstrip())
    report = await talk.goes_on()
    assert "gateway" not in report
    assert DATABASE in report
    talk.file.unlink()
    assert await talk.goes_on() == "Hello!"
    assert "gateway" not in await talk.stored()


async def test_what_a_person_moves_to_another_file_stays_in_the_window(talk):
    before = talk.quoted
    text = talk.file.read_text()
    days = talk.home / "memory"
    days.mkdir(exist_ok=True)
    # More files in between than are read in one step.
    for number in range(25):
        (days / f"2026-01-{number + 1:02}.md").write_text(f"Nothing happened {number}.\n")
    (talk.home / "elsewhere.md").write_text(text[text.index("- ") :])
    talk.file.write_text("# Empty\n")
    assert await talk.goes_on() == before
    (talk.home / "elsewhere.md").rename(days / "2026-02-24.md")
    assert await talk.goes_on() == before
    assert talk.client.report["prefix"]["kept"]


async def test_prose_quote_is_removed_only_when_its_text_is_removed(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        talk = Talk(engine, server, tmp_path)
        note = talk.home / "harbour.md"
        note.parent.mkdir(parents=True)
        note.write_text("# Harbour\n\nThe crane at quay seven lifts forty tons.\n")
        await talk.client.say("Which crane at quay seven lifts forty tons?")
        assert "forty tons.\n" in f"{talk.quoted}\n"
        note.write_text(f"# Paint\n\nAll is painted in spring.\n\n{note.read_text()}")
        engine.remembering.index.sync()
        assert "The crane at quay" in await talk.stored(), "other parts of the note are no concern of it"
        note.write_text("# Paint\n\nAll is painted in spring.\n")
        assert await talk.goes_on() == "Which crane at quay seven lifts forty tons?"
        assert "The crane at quay" not in await talk.stored()


async def test_the_same_words_of_somebody_else_are_theirs(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        files = [tmp_path / "workspace" / name / "MEMORY.md" for name in ("anna", "ben")]
        for file in files:
            file.parent.mkdir(parents=True)
            file.write_text(f"- {PORT}\n")
        scopes = [Scope("anna"), Scope("ben")]
        clients = [Client(engine) for _ in scopes]
        for client, scope in zip(clients, scopes, strict=True):
            await client.say("Hello!", scope=scope)
        engine.remembering.index.sync()
        files[0].write_text("- The sea is wide.\n")
        engine.remembering.index.sync()
        report = []
        for client, scope in zip(clients, scopes, strict=True):
            await client.say("And now?", scope=scope)
            report.append(PORT in last(server)[0].text)
        assert report == [False, True]


async def test_nothing_that_was_forgotten_can_be_read_in_the_database(talk):
    assert "4711" in await talk.stored()
    await asyncio.to_thread(talk.library.edit, ME, talk.port.id, text=OTHER_PORT)
    assert "4711" not in await talk.stored(), "before anything else is said"
    await asyncio.to_thread(talk.library.forget, ME, talk.port.id)
    stored = await talk.stored()
    assert "gateway" not in stored
    assert DATABASE in stored
    await talk.goes_on()
    rules = [decision.rule for decision in talk.engine.store.decisions.of(talk.client.report["lane"])]
    assert rules.count("forgotten") == 2, "that it was done is told"


async def test_what_was_undone_forgets_too(talk):
    lane = talk.client.report["lane"]
    (result,) = (decision for decision in talk.engine.store.decisions.of(lane) if decision.kind == "add")
    talk.engine.store.decisions.remove(result.id)
    await asyncio.to_thread(talk.library.forget, ME, talk.port.id)
    (undone,) = talk.engine.store.decisions.vetoes(lane)
    assert "gateway" not in json.dumps(undone.data)


class Interrupted(FolderWorkspace):
    """A folder in which something happens while a window is made: not when it is asked whether it is empty
    or has findings, but when its files are listed after that.
    """

    then = None
    listed = 0

    def entries(self, prefix=""):
        results = super().entries(prefix)
        self.listed += self.then is not None and not str(prefix).endswith("research")
        if self.listed == 2:
            then, self.then, self.listed = self.then, None, 0
            then()
        return results


async def test_memory_forgotten_during_fitting_is_not_saved_with_window(tmp_path):
    server, folder = provider(window=8_192), Interrupted(tmp_path / "workspace")
    async with remembering(server, tmp_path, workspace=folder) as engine:
        talk = Talk(engine, server, tmp_path)
        port = talk.library.add(ME, PORT).memory
        talk.library.add(ME, DATABASE, "decision")
        # After the memories to begin with are chosen, before anything of it is kept.
        folder.then = lambda: talk.library.forget(ME, port.id)
        await talk.client.say("Hello!")
        assert PORT in talk.quoted, "it was on its way"
        stored = await talk.stored()
        assert "gateway" not in stored
        assert DATABASE in stored
        assert "gateway" not in await talk.goes_on()
