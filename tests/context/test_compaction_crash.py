"""A process that is killed at any step of a summary leaves the old state or the new one, and its notes."""

import asyncio
import signal

import pytest

from evals.forked import run_forked
from tests.context.engine_client import Client
from tests.context.summary_engine import (
    RequestScripts,
    check_chain,
    decided,
    execute,
    memories_in,
    notes_in,
    summing,
)

pytestmark = pytest.mark.anyio


CHILD = """if True:
    import asyncio, os, pathlib, signal, sys
    from sqlalchemy import event
    from tests.context.summary_engine import GOOD, RequestScripts, summing, talked
    from holdfast.memory.notes import Notes

    where, folder = sys.argv[1], pathlib.Path(sys.argv[2])

    def die(*_):
        os.kill(os.getpid(), signal.SIGKILL)

    class Writing(Notes):
        def write(self, memories):
            if where == "before the notes":
                die()
            super().write(memories)
            if where == "between two notes":
                die()

    async def main():
        server = RequestScripts(
            flush=die if where == "before the memories" else "FACT: The garden server has port 4711",
            summary=die if where == "before the summary" else GOOD,
        )
        async with summing(server, folder, memories=Writing(folder / "notes")) as engine:
            client = await talked(engine)
            print(client.conversation, flush=True)
            writing = engine.store.database._writing
            began = []

            @event.listens_for(writing, "before_cursor_execute")
            def see(connection, cursor, statement, *_):
                if statement.startswith("INSERT INTO summaries"):
                    began.append(statement)
                    if where == "before it is written":
                        die()
                if began and where == "before a promise is ticked off" and "UPDATE outbox" in statement:
                    die()

            def see_prepared(statement):
                if began and where == "half written" and statement.startswith("INSERT INTO decisions"):
                    die()

            # Prepared statements go to the driver, past the events of SQLAlchemy.
            engine.store.database._idle_writer[0].connection.driver_connection.set_trace_callback(see_prepared)

            @event.listens_for(writing, "commit")
            def end(connection):
                if began and where == "before the commit":
                    die()

            await engine.compaction.compact(client.conversation)
            if where == "after the commit":
                die()
            engine.background.start()
            await engine.background.idle.wait_until_idle()

    asyncio.run(main())
    """

BEFORE = (
    "before the memories",
    "before the summary",
    "before it is written",
    "half written",
    "before the commit",
)
AFTER = ("after the commit", "before the notes", "between two notes", "before a promise is ticked off")


@pytest.mark.slow
@pytest.mark.parametrize("where", [*BEFORE, *AFTER])
async def test_kill_at_any_step_leaves_old_or_new_state(tmp_path, where):
    child = await asyncio.to_thread(run_forked, CHILD, where, str(tmp_path))
    assert child.returncode == -signal.SIGKILL, child.stderr
    server = RequestScripts()
    async with summing(server, tmp_path) as engine:
        client = Client(engine, "You are a gardener.")
        client.conversation = child.stdout.strip()
        execute(engine, "UPDATE leases SET expires_at = 0")  # their owner is dead: time has passed
        rows, result = check_chain(engine, client), decided(engine, client)
        promised = {item.topic for item in engine.store.outbox.pending()}
        records = engine.store.compactions.of(client.conversation)
        if where in BEFORE:
            assert (rows, result, promised, records) == ([], [], set(), [])
            await engine.compaction.compact(client.conversation)
            rows, result = check_chain(engine, client), decided(engine, client)
        else:
            assert "summary" in promised
        assert [entry.data["summary"] for entry in result] == [row.id for row in rows]
        assert len(rows) == 1
        engine.background.start()
        await engine.background.idle.wait_until_idle()
        assert engine.store.outbox.pending() == []
        assert notes_in(tmp_path).count('"kind":"summary"') == 1
        names = [memory.id for memory in memories_in(tmp_path)]
        assert len(names) == len(set(names)) > 0
        texts = [memory.text for memory in memories_in(tmp_path)]
        assert len(texts) == len(set(texts)), "written once, however often it was tried"
