"""What is done when nobody waits: it gives way to people, survives what breaks, and is never done twice."""

import asyncio
import json
import threading
import time
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from holdfast.background.jobs import REST, BackgroundJobs
from holdfast.compaction.compactor import CompactionTask, Compactor
from holdfast.compaction.summariser import PromptTemplates
from holdfast.context.loading import item_of
from holdfast.context.summaries import SummaryModels, SummaryOptions
from holdfast.errors import ConfigError, Unreachable
from holdfast.memory.embedder_choice import ChosenEmbedder, EmbedderOptions
from holdfast.memory.embedder_local import HashingEmbedder
from holdfast.messages import Scope
from tests.context.engine_client import Client
from tests.context.memory_engine import remembering
from tests.context.summary_engine import (
    EAGER,
    FACTS,
    FIRST,
    GOOD,
    RULE,
    SECRET,
    WINDOW,
    RequestScripts,
    Turns,
    chain,
    check_chain,
    decided,
    everything_kept,
    memories_in,
    notes_in,
    said,
    shown,
    summing,
    talked,
)
from tests.context.test_compacting import asked

pytestmark = pytest.mark.anyio


# So early that ten turns are enough.
EARLY = replace(EAGER, levels=replace(EAGER.levels, prune=None, leave_out=None, ahead=0.15, summarise=0.8))


async def test_user_request_interrupts_idle_summary_which_resumes_afterwards(tmp_path):
    silence = asyncio.Event()
    server = RequestScripts(summary=Turns([silence], GOOD))
    async with summing(server, tmp_path, preset=EARLY) as engine:
        client = Client(engine, "You are a gardener.")
        await client.say(FIRST)
        for at in range(1, 9):
            await client.say(said(at))
        await asked(server)
        assert (server.aborted, chain(engine, client)) == (0, [])
        await client.say("Are you there?")
        assert server.aborted == 1
        assert texts_end(server) == "Are you there?"
        await engine.background.idle.wait_until_idle()
        assert [row.path for row in check_chain(engine, client)] == ["model"]
        await client.say("And now?")
        assert "The towns are still to be described" in shown(server)
        assert client.report["prefix"]["cause"] == "level 3"


def texts_end(server):
    return server.asked("talk")[-1].messages[-1].text


async def quiet_or_asked(engine, server, kind):
    """Waits until nothing is left to do, or the server was asked and does not answer."""
    ends = {
        asyncio.ensure_future(engine.background.idle.wait_until_idle()),
        asyncio.ensure_future(asked(server, kind)),
    }
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    for end in ends:
        end.cancel()
    await asyncio.gather(*ends, return_exceptions=True)


async def test_the_new_window_is_read_ahead_and_that_too_gives_way(tmp_path):
    server = RequestScripts()
    server.scripts["warm"] = [asyncio.Event()]
    async with summing(server, tmp_path, preset=EARLY) as engine:
        client = Client(engine, "You are a gardener.")
        await client.say(FIRST)
        for at in range(1, 12):
            await client.say(said(at))
            await quiet_or_asked(engine, server, "warm")
            if server.asked("warm"):
                break
        await client.say("Are you there?")
        assert server.aborted == 1
        sent, ahead = server.asked("talk")[-1].messages, server.asked("warm")[0].messages
        assert sent[: len(ahead)] == ahead


async def test_notes_that_cannot_be_written_stay_promised_and_are_written_later(tmp_path):
    (tmp_path / "notes").write_text("a file where a folder should be")
    server = RequestScripts()
    async with summing(server, tmp_path) as engine:
        client = await talked(engine, first=f"{FIRST} Remember that my sister is called Ottilie.")
        await engine.compaction.compact(client.conversation)
        await client.say("And now?")
        assert "The towns are still to be described" in shown(server), "the talk does not wait for notes"
        await engine.background.idle.wait_until_idle()
        waiting = engine.store.outbox.pending()
        assert {item.topic for item in waiting} == {"memory", "summary"}
        assert all(item.attempts and "notes" in item.error for item in waiting)
        assert "notes" in engine.background.idle.waiting, "it is tried again"
        (tmp_path / "notes").unlink()
        engine.background.start()
        await engine.background.idle.wait_until_idle()
        assert engine.store.outbox.pending() == []
    assert "Ottilie" in notes_in(tmp_path)
    assert "listens on port 4711" in notes_in(tmp_path)


async def test_what_somebody_asks_to_be_remembered_is_promised_with_their_message(tmp_path):
    server = RequestScripts(talk=Unreachable("nobody is there"))
    async with summing(server, tmp_path, memories=False) as engine:
        client = Client(engine)
        with pytest.raises(Unreachable):
            await client.say("Merk dir bitte, dass meine Schwester in Husum wohnt. Was meinst du?")
        (item,) = engine.store.outbox.pending()
        (memory,) = item.payload["memories"]
        assert "Husum" in memory["text"]
        assert memory["language"] == "de"


async def test_requested_memory_is_not_flushed_again_when_leaving_window(tmp_path):
    wish = "Remember that my sister is called Ottilie."
    server = RequestScripts(flush="FACT: My sister is called Ottilie")
    async with summing(server, tmp_path) as engine:
        client = await talked(engine, first=f"{FIRST} {wish}")
        await engine.compaction.compact(client.conversation)
        await engine.compaction.at_rest(client.conversation)
    assert len([memory for memory in memories_in(tmp_path) if "Ottilie" in memory.text]) == 1


async def test_with_memory_off_nothing_is_taken_and_the_window_is_summarised(tmp_path):
    server = RequestScripts()
    async with summing(server, tmp_path, memory=False, flush=False) as engine:
        client = await talked(engine, first=f"{FIRST} Remember that my sister is called Ottilie.")
        await engine.compaction.compact(client.conversation)
        await engine.background.idle.wait_until_idle()
        assert server.asked("flush") == []
        assert [row.path for row in check_chain(engine, client)] == ["model"]
    assert memories_in(tmp_path) == []


async def test_without_the_flush_only_what_was_asked_for_is_remembered(tmp_path):
    server = RequestScripts(flush="FACT: The garden server listens on port 4711")
    async with summing(server, tmp_path, flush=False) as engine:
        client = await talked(engine, first=f"{FIRST} Remember that my sister is called Ottilie.")
        await engine.compaction.compact(client.conversation)
        await engine.background.idle.wait_until_idle()
        assert server.asked("flush") == []
    assert [memory.text for memory in memories_in(tmp_path)] == ["My sister is called Ottilie."]


async def test_another_model_sums_up_and_remembers_if_one_is_named(tmp_path):
    server = RequestScripts(window={"small": WINDOW, "tiny": WINDOW})
    async with summing(server, tmp_path, helper="tiny") as engine:
        client = await talked(engine)
        await engine.compaction.compact(client.conversation)
        (row,) = check_chain(engine, client)
    assert row.model == "tiny"
    asked = {kind: {request.model for request in server.asked(kind)} for kind in ("summary", "flush", "talk")}
    assert asked == {"summary": {"tiny"}, "flush": {"tiny"}, "talk": {"small"}}


async def test_statistics_are_forgotten_after_thirty_days(tmp_path):
    async with summing(RequestScripts(), tmp_path) as engine:
        chat, now = engine.store.log.create(Scope()).id, time.time()
        report = {"lane": "l", "level": 1, "strategy": "prune", "messages": 1}
        for days in (31, 29):
            at = now - days * 86_400
            engine.store.compactions.record(chat, **report, tokens_before=9, tokens_after=days % 9, now=at)
        engine.background.start()
        await engine.background.idle.wait_until_idle()
        assert [row.tokens_after for row in engine.store.compactions.of(chat)] == [29 % 9]


async def test_at_rest_everything_is_covered_once_and_the_window_stays(tmp_path):
    server = RequestScripts()
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)
        before = shown(server)
        assert await engine.compaction.at_rest(client.conversation)
        (row,) = check_chain(engine, client)
        assert (row.path, row.depth) == ("model", 19)
        number = len(server.requests)
        assert not await engine.compaction.at_rest(client.conversation)
        assert (len(server.requests), len(chain(engine, client))) == (number, 1)
        assert decided(engine, client) == []
        await client.say("And now?")
        assert shown(server) == before
        await engine.compaction.compact(client.conversation)
        assert [result.data["summary"] for result in decided(engine, client)] == [row.id], "it is used again"


async def test_a_statement_is_remembered_before_the_conversation_rests(tmp_path):
    server = RequestScripts()
    async with remembering(server, tmp_path) as engine:
        client = Client(engine)

        def known():
            current, _ = engine.remembering.library.list_all(Scope())
            return {memory.text: memory.active for memory in current}

        for text in ("We deploy on Thursdays.", "Correction: we deploy on Mondays now.", "What is left?"):
            await client.say(text)
            assert engine.background.idle.is_waiting(f"memories of {client.conversation}")
            await engine.compaction.remember(client.conversation)
            engine.background.after_compaction(client.conversation)
            await engine.background.idle.wait_until_idle()
        assert server.asked() == server.asked("flush") == []
        before = known()
        assert before == {"We deploy on Thursdays.": False, "We deploy on Mondays now.": True}
        # What it finds again when it rests changes nothing.
        await engine.compaction.at_rest(client.conversation, ask=False)
        engine.background.after_compaction(client.conversation)
        await engine.background.idle.wait_until_idle()
        assert known() == before


async def test_what_an_edited_message_states_is_remembered(tmp_path):
    async with remembering(RequestScripts(), tmp_path) as engine:
        client = Client(engine)

        async def tell(text):
            await client.say(text)
            await engine.compaction.remember(client.conversation)
            engine.background.after_compaction(client.conversation)
            await engine.background.idle.wait_until_idle()
            current, _ = engine.remembering.library.list_all(Scope())
            return {memory.text for memory in current if memory.active}

        await tell("Our garden server is called arion.")
        assert "Our office is in Kiel." in await tell("Our office is in Kiel.")
        # The same question in other words, on a branch of its own.
        del client.history[2:]
        assert "My sister Wiebke runs the archive." in await tell("My sister Wiebke runs the archive.")


async def test_at_rest_memories_are_written_while_no_server_answers(tmp_path):
    server = RequestScripts()
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)
        server.stop()
        assert await engine.compaction.at_rest(client.conversation)
        (row,) = check_chain(engine, client)
        assert row.path == "extractive"
    assert any(RULE in memory.text for memory in memories_in(tmp_path))


async def test_shutdown_saves_notes_and_memories_without_model(tmp_path):
    server = RequestScripts()
    async with summing(server, tmp_path) as engine:
        await talked(engine)
        assert notes_in(tmp_path) == ""
    assert server.asked() == server.asked("flush") == []
    assert any(RULE in memory.text for memory in memories_in(tmp_path))
    assert all(fact in notes_in(tmp_path) for fact in FACTS)
    async with summing(server, tmp_path) as engine:
        number = len(engine.store.summaries.of(engine.store.log.recent(Scope())[0].head))
    async with summing(server, tmp_path) as engine:
        assert len(engine.store.summaries.of(engine.store.log.recent(Scope())[0].head)) == number == 1


async def test_single_short_exchange_gets_note_only_when_continued(tmp_path):
    server = RequestScripts()
    async with summing(server, tmp_path) as engine:
        client = await talked(engine, turns=1, first="Remember that the gateway listens on port 4711.")
    assert "summary.md" not in notes_in(tmp_path), "it would be longer than what was said"
    assert any("4711" in memory.text for memory in memories_in(tmp_path))
    async with summing(server, tmp_path) as engine:
        client.engine = engine
        await client.say(said(1))
    assert "summary.md" in notes_in(tmp_path)


async def test_at_the_end_no_model_server_is_needed(tmp_path):
    server = RequestScripts()
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)
        server.stop()  # as on a computer that is shut down
        name = client.conversation
    async with summing(server, tmp_path, memories=False) as engine:
        assert engine.store.summaries.of(engine.store.log.get(name).head)


async def test_what_takes_long_is_left_for_the_next_start(tmp_path):
    server = RequestScripts()
    async with summing(server, tmp_path) as engine:
        client = await talked(engine, turns=1)
        await client.say("A pasted log: " + f"{'.' * 200}\n" * 2_100)
        name = client.conversation
    async with summing(server, tmp_path) as engine:
        head = engine.store.log.get(name).head
        # The turn itself may have summarised what the log left no room for.
        before = engine.store.summaries.of(head)
        later = BackgroundJobs(engine.store, engine.compaction, None, clock=lambda: time.time() + REST)
        later.start()
        await later.idle.wait_until_idle()
        assert len(engine.store.summaries.of(head)) > len(before)
        await later.close()


async def test_private_text_and_secrets_are_in_nothing_that_is_kept(tmp_path):
    first = (
        f"My password is {SECRET} and the key is sk-abc123def456ghi789jkl012. {FIRST} "
        "<private>Never tell Bertram about the divorce.</private> We decided to use PostgreSQL 16."
    )
    flush = f"FACT: The password is {SECRET}\nDECISION: Bertram hears nothing about the divorce"
    server = RequestScripts(flush=flush)
    async with summing(server, tmp_path) as engine:
        client = await talked(engine, first=f"Good morning.\n{first}")
        await engine.compaction.compact(client.conversation)
        await engine.background.idle.wait_until_idle()
        record = everything_kept(engine, tmp_path)
        asked_for = [text for request in server.requests for text in [request.messages[-1].text]]
        helped = "\n".join(text for text in asked_for if "=====" in text)
    assert "PostgreSQL 16" in record
    for word in (SECRET, "sk-abc123", "Bertram", "divorce"):
        assert word not in record
        assert word not in helped, "whoever summarises does not see it"


async def test_secret_in_first_line_does_not_become_note_title(tmp_path):
    server = RequestScripts()
    async with summing(server, tmp_path) as engine:
        await talked(engine, first=f"My password is {SECRET} and I need help with the garden.")
    assert SECRET not in notes_in(tmp_path)


async def test_text_that_holdfast_put_in_is_never_taken_for_something_said(tmp_path):
    banner = "⟦Holdfast: We decided to use Zanzibar 77 for the archive⟧"
    server = RequestScripts(summary="", talk=Turns(f"{banner}\n\nFine.", "Noted."), window=2_048)
    async with summing(server, tmp_path) as engine:
        client = await talked(engine, turns=6)
        for at in range(20, 40):
            # Nothing that the first message has to do with: it would stay in the window for that.
            await client.say(f"Ship {at} brought steel, coal and grain for the cranes of the harbour. " * 4)
        await client.say("What was it with the garden server in deploy/config.yaml, which port?")
        assert "The garden server is set up" in server.asked("talk")[-1].messages[-1].text, "it is quoted"
        for at in range(40, 56):
            await client.say(said(at))
        await engine.background.idle.wait_until_idle()
        await engine.compaction.at_rest(client.conversation)
        await engine.background.idle.wait_until_idle()
        record = everything_kept(engine, tmp_path)
        helped = "".join(item.messages[-1].text for item in (*server.asked(), *server.asked("flush")))
    assert "Zanzibar" not in record + helped
    assert "which port?" in helped
    quoted = helped.count("The garden server is set up in deploy/config.yaml")
    assert quoted == helped.count("User: The garden server is set up in deploy/config.yaml") > 0


async def test_unusable_prompt_is_reported_without_stopping_turns(tmp_path):
    own = tmp_path / "prompts" / "en"
    own.mkdir(parents=True)
    (own / "summary.jinja").write_text("{{ nobody_knows }}")
    server = RequestScripts()
    async with summing(server, tmp_path, prompts=PromptTemplates(own.parent), preset=EARLY) as engine:
        client = await talked(engine, turns=12)
        with pytest.raises(ConfigError, match=r"en/summary\.jinja"):
            await engine.compaction.compact(client.conversation)
        assert await client.say("Are you there?") == "Noted, the garden is fine."
        assert chain(engine, client) == []
        # What is tried ahead of need fails as well.
        await engine.background.idle.wait_until_idle()
        (own / "summary.jinja").write_text("You write the minutes. Mine.\n{{ transcript }}")
        await engine.compaction.compact(client.conversation)
        assert server.asked()[-1].messages[-1].text.startswith("You write the minutes. Mine.")


async def test_useless_model_is_paused_and_then_retried(tmp_path):
    now = [1_000.0]
    server = RequestScripts()
    async with summing(server, tmp_path) as engine:
        helpers = SummaryModels(engine.models, engine.upstreams, EAGER, SummaryOptions(), lambda: now[0])
        for _ in range(2):
            helper = await helpers.choose("small", server)
            assert helper is not None
            helpers.judge(helper, useful=False)
        assert await helpers.choose("small", server) is None
        now[0] += 601
        helper = await helpers.choose("small", server)
        assert helper is not None
        helpers.judge(helper, useful=True)
        helpers.judge(helper, useful=False)
        assert await helpers.choose("small", server) is not None, "one failure after a success is forgiven"


async def made_without_model(engine, client, case):
    path = engine.store.log.path(engine.store.log.get(client.conversation).head)
    task = CompactionTask(tuple(item_of(item) for item in path), None, 150, case.count)
    return await Compactor(PromptTemplates()).compact(task, None)


async def test_note_of_later_summary_states_start_of_whole_span(tmp_path):
    server = RequestScripts()
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)
        await engine.compaction.compact(client.conversation)
        for at in range(20, 28):
            await client.say(said(at))
        await engine.compaction.compact(client.conversation)
        first, second = check_chain(engine, client)
        engine.background.start()
        await engine.background.idle.wait_until_idle()
        lines = next(line for line in notes_in(tmp_path).splitlines() if '"kind":"summary"' in line)
        lines = json.loads(lines.removeprefix("<!-- holdfast ").removesuffix(" -->"))
        assert (lines["covers"], lines["first"], lines["last"]) == (
            len(first.covers) + len(second.covers),
            first.covers[0],
            second.through,
        )


async def test_resting_conversations_share_one_timer_and_are_processed_in_turn(tmp_path):
    server = RequestScripts()
    async with summing(server, tmp_path) as engine:
        clients = [await talked(engine, turns=2) for _ in range(3)]
        waiting = [name for name in engine.background.idle.waiting if name.startswith("rest")]
        assert len(waiting) == 1
        now = [time.time()]
        later = BackgroundJobs(engine.store, engine.compaction, None, clock=lambda: now[0])
        engine.store.log.delete(clients[0].conversation)
        for client in clients:
            later.after_answer(client.conversation, near=False)
        now[0] += REST
        later.start()
        await later.idle.wait_until_idle()
        assert all(chain(engine, client) for client in clients[1:])
        await later.close()


class Sleepy(HashingEmbedder):
    """An embedder that can rest; it says when it was woken."""

    def __init__(self):
        super().__init__()
        self.awake = threading.Event()
        self.embedded = 0

    def embed(self, texts):
        self.embedded += len(texts)
        self.awake.set()
        return super().embed(texts)

    def rest(self):
        value = self.awake.is_set()
        self.awake.clear()
        return value


class Chosen(ChosenEmbedder):
    """One that is told which embedder there is."""

    def __init__(self, embedder):
        super().__init__(EmbedderOptions("embedded"))
        self._opened = embedder


@asynccontextmanager
async def afterwards(engine):
    later = BackgroundJobs(engine.store, engine.compaction, None, remembering=engine.remembering)
    later.start()
    await later.idle.wait_until_idle()
    try:
        yield later
    finally:
        await later.close()


async def test_embedder_sleeps_when_indexed_and_wakes_for_full_window(tmp_path):
    embedder = Sleepy()
    async with remembering(RequestScripts(), tmp_path, embedder=Chosen(embedder)) as engine:
        client = Client(engine)
        for at in range(30):
            await client.say(said(at))
        async with afterwards(engine) as later:
            assert embedder.embedded > 0
            assert not embedder.awake.is_set()
            with later.pause():
                pass
            later.after_answer(client.conversation, near=False)
            assert not embedder.awake.is_set()
            later.after_answer(client.conversation, near=True)
            assert await asyncio.to_thread(embedder.awake.wait, 30)


async def test_embedder_stays_awake_with_notes_and_wakes_for_user_turn(tmp_path):
    embedder = Sleepy()
    async with remembering(RequestScripts(), tmp_path, embedder=Chosen(embedder)) as engine:
        engine.remembering.library.add(Scope(), "My sister is called Ottilie.")
        async with afterwards(engine) as later:
            assert embedder.awake.is_set()
            assert engine.remembering.embedder.rest()
            with later.pause():
                assert await asyncio.to_thread(embedder.awake.wait, 30)
