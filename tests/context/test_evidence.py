"""What is brought in beside a talk, found for a question or quoted from earlier, and how it leaves again."""

import pytest

from holdfast.conversations import lanes
from holdfast.messages import Message
from holdfast.window.presets import preset_named
from tests.context.engine_client import Client, engine_with, filler, long_talk, provider, sent, texts

pytestmark = pytest.mark.anyio

# In a window of this size there is room for three quotes of such messages, and hardly any beside them.
QUOTING = 3_072
BUYERS = {"Okonkwo": "fence", "Lindqvist": "roof", "Marchetti": "bridge", "Papadaki": "cellar"}
FACTS = tuple(
    f"{who} got INV-700{at} for the {what}, with everything that belongs to it, the green paint, the posts of"
    " oak, the nails and the work of two long weeks in the rain."
    for at, (who, what) in enumerate(BUYERS.items())
)
PARROT = "The harbour master keeps a parrot in the old lighthouse."


def found(city):
    """What a client found for a question, as it sends it along."""
    facts = f"{city} is large. " + " ".join(f"Fact {at} of {city}." for at in range(40))
    return {"openai": {"metadata": {"context": [facts]}}}


async def asked_about_cities(client):
    for city in ("Lisbon", "Porto", "Braga"):
        await client.say(f"How large is {city}?", extra=found(city))


def rules_of(engine, client):
    lane = engine.store.lanes.of(client.conversation)[0]
    return [decision.rule for decision in engine.store.decisions.of(lane.id)]


async def test_findings_of_earlier_questions_become_notes_in_one_batch(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await asked_about_cities(client)
        assert [(row["level"], row["messages"]) for row in client.report["batches"]] == [(1, 2)]
        assert client.report["prefix"]["cause"] == "level 1"
        lisbon, porto, braga = sent(server)[::2]
        for message, city in ((lisbon, "Lisbon"), (porto, "Porto")):
            assert message.text.startswith(
                f"How large is {city}?\n\n[Context for this question]\n\n{city} is"
            )
            assert "[shortened: " in message.text
            assert len(message.text) < len(texts(server, 0)) / 2
        assert "Fact 39 of Braga." in braga.text
        assert "[shortened: " not in braga.text
        await client.say("And Faro?")
        assert sent(server)[0] == lisbon, "it stays as it was noted down"
        assert sorted(rules_of(engine, client))[:3] == ["context"] * 3
        path = engine.store.log.path(engine.store.log.get(client.conversation).head)
        assert path[0].message.text == "How large is Lisbon?", "what was found is no part of what was said"


async def test_what_was_found_is_whole_again_when_that_is_undone(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await asked_about_cities(client)
        first = sent(server, 0)[0]
        assert sent(server)[0] != first
        (undone,) = lanes.undo(engine.store, engine.store.log.get(client.conversation))
        assert undone.rule == "research"
        await client.say("And Faro?")
        assert sent(server)[0] == first
        assert client.report["batches"] == []


async def talked(engine):
    """A client whose first words have left the window."""
    client = Client(engine)
    for fact in (*FACTS, PARROT):
        await client.say(fact)
    await long_talk(client, 60)
    return client


def quotes(client):
    """What is quoted in the window, in order."""
    added = [item for row in client.report["messages"] for item in row.get("added", ())]
    return [entry["text"].partition("user: ")[2] for entry in added if entry["section"] == "recalled"]


async def test_evidence_stays_for_the_next_questions_and_is_not_brought_twice(tmp_path):
    server = provider(window=2 * QUOTING)
    async with engine_with(server, tmp_path) as engine:
        client = await talked(engine)
        await client.say("Who got INV-7000?")
        assert "Okonkwo" in sent(server)[-1].text
        await client.say("Who got INV-7001?")
        assert client.report["prefix"]["kept"]
        assert "Okonkwo" in texts(server)
        await client.say("Once more: who got INV-7000, please?")
        assert texts(server).count(FACTS[0]) == 1
        assert client.report["prefix"]["kept"]
        before = quotes(client)
        await client.say("My list of today:\n" + "\n".join(f"parrot {at}: INV-7001; ok" for at in range(9)))
        assert quotes(client) == before, "what is pasted with news points at nothing"


def evidence_behind(server, at=-1):
    """How many lines of evidence stand behind each message that has any, the newest last."""
    counts = [message.text.count("\n- ") for message in sent(server, at)]
    return [count for count in counts if count]


async def test_evidence_for_the_question_comes_before_what_stayed(tmp_path):
    server = provider(window=QUOTING)
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        for at in range(40):
            for who, what in list(BUYERS.items())[:2]:
                await client.say(
                    f"Crate {at} of {who} holds the {what}, a lamp and a net. " + "It is wet. " * 6
                )
        await long_talk(client, 12)
        await client.say("What do the crates of Okonkwo hold?")
        (first,) = evidence_behind(server)
        assert first >= 10
        assert sent(server)[-1].text.count("[From earlier in this conversation") == 1, "one heading for all"
        await client.say("Thanks. " + "We walked on. " * 40)
        stayed = sum(evidence_behind(server))
        assert 0 < stayed < first, "the message needed room, a piece was enough"
        await client.say("What do the crates of Lindqvist hold?")
        assert evidence_behind(server)[-1] >= 0.8 * first, "as much as if nothing had stayed"
        assert client.report["at_most"] <= client.report["room"]


async def test_what_was_shortened_in_the_window_can_be_asked_for(tmp_path):
    server = provider(window=2 * QUOTING)
    lines = [f"02:{at:02} INFO box {at}: {180 + at * 37 % 140} pages" for at in range(60)]
    lines[31] = "02:31 ERROR box 31: the feeder jammed, error E-4471"
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("This is what the scanner wrote:\n" + "\n".join(lines))
        at = 0
        while "E-4471" in texts(server):
            await client.say(filler(at))
            at += 1
        assert lines[0] in texts(server), "it is still there, but shorter"
        await client.say("What was the error when the feeder jammed?")
        assert "E-4471" in sent(server)[-1].text


async def test_the_report_says_what_was_searched_brought_and_missed(tmp_path):
    server = provider(window=QUOTING)
    async with engine_with(server, tmp_path) as engine:
        client = await talked(engine)
        await client.say("Where does the harbour master keep a parrot?")
        recall = client.report["recall"]
        assert recall["searched"] == ["Where does the harbour master keep a parrot?"]
        path = engine.store.log.path(engine.store.log.get(client.conversation).head)
        text = {stored.id: stored.message.text for stored in path}
        assert any("parrot" in text[row["id"]] for row in recall["brought"])
        assert recall["likely"] > 0.4
        assert all(row["parts"] for row in recall["brought"])
        sections = {row["name"]: row for row in client.report["sections"]}
        assert sections["recalled"]["tokens"] > 0


def plan(at):
    return f"Plan {at}. " + f"Step of plan {at}. " * 250


async def test_arasul_shortens_on_every_turn_and_says_what_that_costs(tmp_path):
    server = provider(window=16_384)
    async with engine_with(server, tmp_path, preset_named("arasul")) as engine:
        client = Client(engine)
        for at in range(4):
            await client.say(plan(at))
            whole = [plan(item) for item in range(at + 1)]
            shown = [message.text for message in sent(server)[::2]]
            assert shown[-1] == whole[-1], "the newest question is whole"
            assert all("[shortened: " in text for text in shown[:-1])
            assert [text[:7] for text in shown] == [text[:7] for text in whole]
            if at:
                assert [row["level"] for row in client.report["batches"]] == [1]
                assert client.report["prefix"]["cause"] == "level 1"
                assert client.report["history"]["tokens"] < 0.5 * client.report["history"]["full"]
        assert sent(server)[0] == sent(server, -2)[0], "what was shortened once stays as it is"
        path = engine.store.log.path(engine.store.log.get(client.conversation).head)
        assert [stored.message.text for stored in path[::2]] == whole


async def test_the_usual_preset_leaves_the_same_talk_alone(tmp_path):
    server = provider(window=20_480)
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        for at in range(4):
            await client.say(plan(at))
            assert client.report["batches"] == []
        assert "[shortened: " not in texts(server)


async def test_arasul_fits_however_long_the_talk_is(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path, preset_named("arasul")) as engine:
        client = Client(engine)
        await long_talk(client, 30)
        assert client.report["at_most"] <= client.report["room"]
        levels = {row.level for row in engine.store.compactions.of(client.conversation)}
        assert levels, "something had to be done"
        assert not levels & {1, 2}, "but short texts are not shortened, and it has no level that leaves out"
        assert len(engine.store.log.path(engine.store.log.get(client.conversation).head)) == 60


async def test_a_system_message_may_stand_behind_the_question(tmp_path):
    server = provider(window=QUOTING)
    async with engine_with(server, tmp_path) as engine:
        client = await talked(engine)
        client.history += [
            Message.of("user", "Where does the harbour master keep a parrot?"),
            Message.of("system", "The list of tasks was not used lately; ignore this where it is no use."),
        ]
        await client.send()
        assert PARROT in texts(server)
