"""What is remembered goes into windows: within its room, once, to near servers only, gone when forgotten."""

import asyncio
import threading

import pytest

from holdfast.background.projector import Projector
from holdfast.context import evidence
from holdfast.memory.base import SUMMARY_TOPIC, SummaryNote
from holdfast.memory.embedder_choice import ChosenEmbedder, EmbedderOptions
from holdfast.memory.folder import FolderWorkspace
from holdfast.messages import ChatRequest, Message, Scope, ToolCall
from holdfast.store import NewMessage
from holdfast.turn import Ask
from tests.context.engine_client import Client, provider
from tests.context.memory_engine import last, remembering

pytestmark = pytest.mark.anyio

ME = Scope()
DATABASE = "We decided to use PostgreSQL for the billing service."
PORT = "The gateway listens on port 4711."


def sections(client):
    return {row["name"]: row for row in client.report["sections"]}


async def test_a_new_conversation_begins_with_what_matters_most(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        engine.remembering.library.add(ME, DATABASE, "decision")
        engine.remembering.library.add(ME, "I prefer short answers.", "preference", importance=0.9)
        client = Client(engine, "Be kind.")
        await client.say("Good morning!")
        text = last(server)[-1].text
        assert text.startswith("Good morning!\n\nRelevant memories from earlier conversations:\n- ")
        assert DATABASE in text
        assert "I prefer short answers." in text
        assert text.count("Relevant memories") == 1
        assert 0 < sections(client)["recalled"]["tokens"] <= sections(client)["recalled"]["cap"]
        await client.say("And now?")
        assert "memories" not in last(server)[-1].text, "it is told once"
        assert last(server)[1].text == text, "and stays as it was"
        assert client.report["prefix"]["kept"]


async def test_rules_have_the_room_of_the_summary_while_there_is_none(tmp_path):
    server = provider(window=4_096)
    rules = [f"Never touch the folder archive{number} before I have said so." for number in range(14)]
    facts = [f"The shed on plot {number} belongs to the neighbour with the tractor." for number in range(30)]
    async with remembering(server, tmp_path) as engine:
        for text in facts:
            engine.remembering.library.add(ME, text, importance=0.9)
        for text in rules:
            engine.remembering.library.add(ME, text, "preference", importance=0.6)
        client = Client(engine)
        await client.say("Good morning!")
        text = last(server)[-1].text
        assert [rule for rule in rules if rule not in text] == []
        assert not any(fact in text for fact in facts), "what only tells keeps to the share of the beginning"


async def test_only_relevant_memories_follow_the_question(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("Hello!")
        library = engine.remembering.library
        library.add(ME, DATABASE, "decision")
        library.add(ME, PORT)
        for name in ("Anna", "Ben", "Carla", "David"):
            library.add(ME, f"{name} likes cycling along the river.")
        await client.say("Which port does the gateway listen on?")
        text = last(server)[-1].text
        assert PORT in text
        assert "PostgreSQL" not in text
        assert "cycling" not in text
        await client.say("And how is the weather?")
        assert "memories" not in last(server)[-1].text
        await client.say("Again: which port does the gateway listen on?")
        assert sum(PORT in message.text for message in last(server)) == 1, "it stays, and comes only once"
        assert client.report["prefix"]["kept"]


async def test_earlier_conversation_is_recalled_except_private_text(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        await Client(engine).say(
            "The kestrel nests on the old tower. <private>The key is under stone nine.</private>"
        )
        await Client(engine).say("Where does the kestrel nest?")
        asked = last(server)[-1].text
        assert "[From earlier conversations]" in asked
        assert "The kestrel nests on the old tower." in asked
        assert "stone nine" not in asked
        other = Client(engine)
        await other.say("Where does the kestrel nest?", scope=Scope(user="eve"))
        assert last(server)[-1].text == "Where does the kestrel nest?", "it is nobody else's"


async def test_what_a_deleted_conversation_said_leaves_the_windows_that_quote_it(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        first, second = Client(engine), Client(engine)
        await first.say("The kestrel nests on the old tower.")
        await second.say("Where does the kestrel nest?")
        assert "on the old tower" in last(server)[-1].text
        await second.say("Thank you!")
        assert any("on the old tower" in message.text for message in last(server)), (
            "it stays while there is room"
        )
        engine.store.log.delete(first.conversation)
        await second.say("Good night!")
        assert not any("on the old tower" in message.text for message in last(server))


async def test_a_question_brings_all_memories_that_answer_it(tmp_path):
    server = provider(window=32_768)
    async with remembering(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("Hello!")
        for name in ("Anna", "Ben", "Carla", "David", "Eva"):
            engine.remembering.library.add(ME, f"{name} fährt mit dem Fahrrad zum Hafen.")
        await client.say("Wer fährt mit dem Fahrrad zum Hafen?")
        _, _, report = last(server)[-1].text.partition("Relevante Erinnerungen aus früheren Gesprächen:\n")
        assert report.count("- ") == report.count("Fahrrad") == 5


async def test_message_replaces_the_note_that_repeats_it(tmp_path):
    server = provider(window=2_048)
    async with remembering(server, tmp_path) as engine:
        client = Client(engine)
        await client.say(PORT)
        for number in range(14):
            await client.say(f"Part {number} of a long story. " + "Word after word. " * 40)
        engine.remembering.library.add(ME, PORT)
        await client.say("Which port does the gateway listen on?")
        assert last(server)[-1].text.count(PORT) == 1
        assert f", user: {PORT}" in last(server)[-1].text


async def test_evidence_is_brought_while_counts_are_still_rough(tmp_path):
    """More is chosen than is sure to fit: what was chosen last goes again, and not all of it."""
    server = provider(window=2_048)
    async with remembering(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("Hello!")
        for number in range(120):
            engine.remembering.library.add(
                ME, f"Locker {number} at the harbour belongs to {'ABCDEFGH'[number % 8]}."
            )
        await client.say("Who do our lockers at the harbour belong to?")
        assert last(server)[-1].text.count("at the harbour belongs to") > 5


async def test_the_profile_stands_at_the_end_of_the_instructions(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        engine.remembering.profile.set(ME, "company", "Muster GmbH")
        client = Client(engine, "Be kind.")
        await client.say("Hello!")
        first = last(server)[0].text
        assert first.startswith("Be kind.\n\n")
        assert "Muster GmbH" in first
        assert sections(client)["profile"]["tokens"] <= sections(client)["profile"]["cap"]
        await client.say("And now?")
        assert last(server)[0].text == first
        assert client.report["prefix"]["kept"]
        engine.remembering.profile.set(ME, "company", "Beispiel AG")
        await client.say("And then?")
        assert "Beispiel AG" in last(server)[0].text
        assert "Muster" not in last(server)[0].text
        assert client.report["prefix"]["cause"] == "profile"


async def test_a_broken_profile_is_told_of_and_left_out(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        (tmp_path / "workspace" / "default").mkdir(parents=True)
        (tmp_path / "workspace" / "default" / "profile.yaml").write_text("company: [unclosed\n")
        client = Client(engine, "Be kind.")
        await client.say("Hello!")
        assert last(server)[0].text == "Be kind."
        assert client.report["notices"] == ["profile_broken"]


async def test_what_was_forgotten_leaves_the_windows_that_quote_it(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        library = engine.remembering.library
        port = library.add(ME, PORT).memory
        library.add(ME, DATABASE, "decision")
        client = Client(engine)
        await client.say("Hello!")
        assert PORT in last(server)[0].text
        await asyncio.to_thread(library.edit, ME, port.id, text="The gateway listens on port 4712.")
        await client.say("And now?")
        assert "4711" not in last(server)[0].text
        assert "4712" in last(server)[0].text
        assert client.report["prefix"]["cause"] == "decisions"
        await asyncio.to_thread(library.forget, ME, port.id)
        await client.say("And then?")
        assert "gateway" not in last(server)[0].text
        assert DATABASE in last(server)[0].text
        for memory in list(library.page(ME).memories):
            await asyncio.to_thread(library.forget, ME, memory.id)
        await client.say("At last?")
        assert last(server)[0].text == "Hello!", "no heading is left alone"


@pytest.mark.parametrize(("gate", "told"), [("", False), ("api.example.com=on", True)])
async def test_a_server_elsewhere_is_told_nothing_unless_the_user_says_so(tmp_path, gate, told):
    server = provider(window=8_192)
    server.location = "https://api.example.com/v1"
    async with remembering(server, tmp_path, gate=gate) as engine:
        engine.remembering.library.add(ME, PORT)
        engine.remembering.profile.set(ME, "company", "Muster GmbH")
        client = Client(engine, "Be kind.")
        await client.say("Which port does the gateway listen on?")
        everything = "\n".join(message.text for message in last(server))
        assert (PORT in everything) == ("Muster" in everything) == told
        assert ("held_back" in client.report["notices"]) != told


async def test_what_was_told_at_home_is_not_told_elsewhere(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        engine.remembering.library.add(ME, PORT)
        client = Client(engine)
        await client.say("Which port does the gateway listen on?")
        assert PORT in last(server)[0].text
        server.location = "https://api.example.com/v1"
        await client.say("And now?")
        assert all("4711" not in message.text for message in last(server))
        server.location = "scripted:"
        await client.say("And at home?")
        assert PORT in last(server)[0].text, "it was never taken away there"


async def test_quotes_of_earlier_chats_stay_at_home(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        await Client(engine).say("The kestrel nests on the old tower.")
        client = Client(engine)
        await client.say("Where does the kestrel nest?")
        await client.say("Thank you!")
        assert "on the old tower" in last(server)[0].text
        server.location = "https://api.example.com/v1"
        await client.say("And now?")
        assert all("on the old tower" not in message.text for message in last(server))


class Odd(ChosenEmbedder):
    """An embedder with a fault that nobody thought of."""

    def current(self):
        raise ZeroDivisionError("nobody thought of this")

    ready = current


class HangingEmbedder(ChosenEmbedder):
    """An embedder that does not come back before `end`."""

    def __init__(self):
        super().__init__(EmbedderOptions("off"))
        self.begun, self.end = threading.Event(), threading.Event()
        self.asked = 0

    def current(self):
        self.asked += 1
        self.begun.set()
        self.end.wait(60)

    ready = current


async def test_whatever_is_wrong_with_memory_the_question_is_asked(tmp_path):
    server = provider(window=2_048)
    async with remembering(server, tmp_path, embedder=Odd(EmbedderOptions("off"))) as engine:
        (tmp_path / "workspace" / "default").mkdir(parents=True)
        (tmp_path / "workspace" / "default" / "MEMORY.md").write_text(f"- {PORT}\n")
        client = Client(engine)
        assert await client.say("Which port does the gateway listen on?") == "Noted."
        assert client.report["notices"] == ["not_recalled"]
        for number in range(14):
            await client.say(f"Part {number} of a long story. " + "Word after word. " * 40)
        assert client.report["level"] >= 2, "what is near is asked for, and does without"


async def test_an_embedder_that_hangs_holds_up_nobody(tmp_path, monkeypatch):
    monkeypatch.setattr(evidence, "_PATIENCE", 0.1)
    server, embedder = provider(window=8_192), HangingEmbedder()
    (tmp_path / "workspace" / "default").mkdir(parents=True)
    (tmp_path / "workspace" / "default" / "MEMORY.md").write_text("- The gateway listens on port 4711.\n")
    async with remembering(server, tmp_path, embedder=embedder) as engine:
        clients = [Client(engine) for _ in range(8)]
        async with asyncio.timeout(50):
            await asyncio.gather(*(client.say(f"Question {at}?") for at, client in enumerate(clients)))
        assert {tuple(client.report["notices"]) for client in clients} == {("not_recalled",)}
        # Those that gave up did not wait for their threads to begin.
        assert await asyncio.to_thread(embedder.begun.wait, 50)
        assert embedder.asked < len(clients), "not all of them wait in a thread"
        embedder.end.set()


async def test_a_question_does_not_wait_for_a_backlog_and_says_so(tmp_path):
    server = provider(window=4_096)
    async with remembering(server, tmp_path) as engine:
        store = engine.store
        talk = [NewMessage(Message.of("user", f"Buoy number {number} is red.")) for number in range(250)]
        store.log.begin(ME, talk)
        client = Client(engine)
        await client.say("Which colour has buoy number 240?")
        assert client.report["notices"] == ["recalled_in_part"]
        while store.texts.catch_up(64):
            pass
        await client.say("Which colour has buoy number 241?")
        assert client.report["notices"] == []
        assert "Buoy number 241 is red." in last(server)[-1].text


async def test_note_indexing_pauses_for_user_and_resumes_later(tmp_path):
    class Slow(FolderWorkspace):
        reads = 0
        begun, go, second = threading.Event(), threading.Event(), threading.Event()

        def read(self, path):
            self.reads += 1
            (self.second if self.reads > 1 else self.begun).set()
            self.go.wait(60)
            return super().read(path)

    slow = Slow(tmp_path / "workspace")
    (tmp_path / "workspace" / "default").mkdir(parents=True)
    for number in range(30):
        (tmp_path / "workspace" / "default" / f"n{number}.md").write_text(f"Note {number}.\n")
    async with remembering(provider(), tmp_path, workspace=slow) as engine:
        engine.background.after_notes_change()
        assert await asyncio.to_thread(slow.begun.wait, 20)
        with engine.background.pause():
            await asyncio.sleep(0)
            slow.go.set()
            assert not await asyncio.to_thread(slow.second.wait, 0.5), "it stops before the next file"
        await engine.background.idle.wait_until_idle()
        assert len(engine.store.passages.files(engine.remembering.index.places(ME)[0])) == 30


async def test_a_long_correction_is_left_to_the_next_search(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        port = engine.remembering.library.add(ME, PORT).memory
        client = Client(engine)
        await client.say("Hello!")
        longer = "The gateway listens on port 4712. " + "It is a long story. " * 60
        await asyncio.to_thread(engine.remembering.library.edit, ME, port.id, text=longer)
        await client.say("And now?")
        assert last(server)[0].text == "Hello!"


async def test_what_was_written_by_hand_has_no_date(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        (tmp_path / "workspace" / "default").mkdir(parents=True)
        (tmp_path / "workspace" / "default" / "MEMORY.md").write_text("- The lake is deep.\n")
        await Client(engine).say("Hello!")
        assert last(server)[0].text.endswith("conversations:\n- The lake is deep.")


async def test_a_german_profile_is_told_in_german_whatever_is_asked(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        engine.remembering.profile.replace(ME, "firma: Muster GmbH\nbranche: Pumpen\n")
        client = Client(engine)
        await client.say("What do you know about us?")
        assert last(server)[0].text.startswith("Du bist ein KI-Assistent")
        await client.say("Und was noch über die Firma und den Garten?")
        assert client.report["prefix"]["kept"]


async def test_deleting_conversation_removes_summary_and_memories_only_on_request(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("Remember that the lake is deep.")
        await client.say("And now?")
        await engine.compaction.at_rest(client.conversation, ask=False)
        await engine.background.idle.wait_until_idle()
        await engine.store.run(Projector(engine.store, engine.remembering.library).project)
        notes = tmp_path / "workspace" / "default"
        summary = notes / "conversations" / client.conversation / "summary.md"
        assert summary.exists()
        promised = engine.store.outbox.put(SUMMARY_TOPIC, note_of(client.conversation).to_json())
        engine.store.log.delete(client.conversation)
        assert engine.remembering.remove_conversation(ME, client.conversation) == 0
        await engine.store.run(Projector(engine.store, engine.remembering.library).project)
        assert promised not in [item.id for item in engine.store.outbox.pending(10)]
        assert not summary.exists(), "a promise does not bring it back"
        assert "lake is deep" in (notes / "MEMORY.md").read_text()
        assert engine.remembering.remove_conversation(ME, client.conversation, forget=True) > 0
        assert "lake is deep" not in (notes / "MEMORY.md").read_text()


def note_of(conversation):
    return SummaryNote("s_9", conversation, "Talk", "What was said", ME, 2, "m_1", "m_2", 9e9, "en")


async def test_what_was_forgotten_can_be_asked_for_again(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        library = engine.remembering.library
        await Client(engine).say("Remember that the lake is deep.")
        await engine.background.idle.wait_until_idle()
        (report,) = library.page(ME).memories
        library.forget(ME, report.id)
        await Client(engine).say("Please remember that the lake is deep.")
        await engine.background.idle.wait_until_idle()
        assert [memory.text for memory in library.page(ME).memories] == ["The lake is deep."]


async def test_what_is_forgotten_is_not_proposed_for_the_profile(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        memory = engine.remembering
        text = memory.library.add(ME, "I prefer short answers.", "preference").memory
        assert memory.profile.proposals(ME)
        memory.library.forget(ME, text.id)
        assert memory.profile.proposals(ME) == []


async def test_a_group_sees_its_own_memories_and_no_profile(tmp_path):
    server = provider(window=8_192)
    team = Scope(project="team", kind="group")
    async with remembering(server, tmp_path) as engine:
        engine.remembering.library.add(ME, PORT)
        engine.remembering.profile.set(ME, "company", "Muster GmbH")
        engine.remembering.library.add(team, "The team's gateway listens on port 9000.")
        question = Message.of("user", "Which port does the gateway listen on?")
        turn = await engine.turn(Ask(ChatRequest("small", (question,)), team))
        async for _ in turn.chunks:
            pass
        (report,) = last(server)
        assert "9000" in report.text
        assert "4711" not in report.text


async def test_memory_switched_off_tells_nothing(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path, memory=False) as engine:
        engine.remembering.library.add(ME, PORT)
        engine.remembering.profile.set(ME, "company", "Muster GmbH")
        client = Client(engine)
        await client.say("Which port does the gateway listen on?")
        assert [message.text for message in last(server)] == ["Which port does the gateway listen on?"]


async def test_inside_a_tool_loop_nothing_is_recalled_anew(tmp_path):
    call = ToolCall("look", '{"at": "gateway"}', id="call_1")
    server = provider([[call]], window=8_192)
    async with remembering(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("Have a look.")
        engine.remembering.library.add(ME, PORT)
        client.history[-1] = Message("assistant", (call,))
        client.history.append(
            Message("tool", Message.of("user", "Which port does the gateway listen on?").parts)
        )
        await client.send()
        assert all("memories" not in message.text for message in last(server))


async def test_notes_that_somebody_writes_are_read_when_it_is_quiet(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        folder = tmp_path / "workspace" / "default"
        folder.mkdir(parents=True)
        (folder / "hosts.md").write_text("# Hosts\n\nThe gateway runs on the machine arion.\n")
        engine.background.after_notes_change()
        await engine.background.idle.wait_until_idle()
        assert engine.store.passages.files(engine.remembering.index.places(ME)[0])
        client = Client(engine)
        await client.say("On which machine does the gateway run?")
        assert "arion" in last(server)[0].text


async def test_what_was_of_use_is_counted(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        library = engine.remembering.library
        port = library.add(ME, PORT).memory
        client = Client(engine)
        await client.say("Which port does the gateway listen on?")
        async with asyncio.timeout(60):
            while port.id not in (uses := await asyncio.to_thread(engine.store.recollections.uses, ME)):
                pass
        assert uses[port.id].recalls == 1


async def test_memory_use_is_counted_per_owner_without_reading_files(tmp_path):
    files = Watched(tmp_path / "workspace")
    work = Scope(project="work")
    async with remembering(provider(window=8_192), tmp_path, workspace=files) as engine:
        memory = engine.remembering
        mine, ours = memory.library.add(ME, PORT).memory, memory.library.add(work, DATABASE).memory
        (files.folder / "default" / "hosts.md").write_text("The gateway runs on the machine arion.\n")
        memory.index.refresh(work, 60.0)
        part = next(hit for hit in memory.search.search("arion", work).hits if hit.path.endswith("hosts.md"))
        files.seen.clear()
        memory.note_used(work, [mine.id, ours.id, part.id, "y_unknown"])
        assert files.seen == []
        uses = engine.store.recollections.uses
        assert {name: use.recalls for name, use in uses(ME).items()} == {mine.id: 1}
        assert {name: use.recalls for name, use in uses(work).items()} == {ours.id: 1}


async def test_question_lists_files_once_and_skips_unchanged_files(tmp_path):
    files = Watched(tmp_path / "workspace")
    async with remembering(provider(window=8_192), tmp_path, workspace=files) as engine:
        index, search = engine.remembering.index, engine.remembering.search
        engine.remembering.library.add(ME, PORT)
        assert search.search("gateway port", ME).hits
        files.seen.clear()
        assert not index.is_empty(ME)
        assert files.seen == []
        assert search.search("which port", ME).hits
        assert files.seen == [("entries", "default")]
        (files.folder / "default" / "MEMORY.md").unlink()
        assert search.search("which port", ME).hits == ()
        assert index.is_empty(ME), "what is gone is seen by the first who looks"


class Watched(FolderWorkspace):
    """Tells what was done with files."""

    def __init__(self, folder):
        super().__init__(folder)
        self.seen = []

    def entries(self, prefix=""):
        self.seen.append(("entries", str(prefix)))
        return super().entries(prefix)

    def read(self, path):
        self.seen.append(("read", str(path)))
        return super().read(path)


async def test_memories_never_take_more_than_their_room(tmp_path):
    server = provider(window=2_048)
    async with remembering(server, tmp_path) as engine:
        for number in range(40):
            engine.remembering.library.add(
                ME, f"The gateway of house {number} listens on port {5000 + number}."
            )
        counter = await engine.models.counters.counter(server, "small")
        client, most = Client(engine), 0
        for number in range(12):
            await client.say(f"Which port does the gateway of house {number} listen on?")
            texts = [item["text"] for row in client.report["messages"] for item in row.get("added", ())]
            most = max(most, sum(counter.count_text(text).high for text in texts))
            request = "\n".join(message.text for message in last(server))
            assert request.count(f"house {number} listens") == 1, "it stays from a question before, or comes"
            assert client.report["at_most"] <= client.report["room"]
        assert 0 < most < client.report["room"]
