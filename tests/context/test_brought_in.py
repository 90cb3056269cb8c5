"""What is brought in beside a talk, found for a question or quoted from earlier, and how it leaves again."""

import pytest

from holdfast.context.evidence import make_way
from holdfast.conversations import lanes
from holdfast.messages import Message, Text, ToolCall, ToolResult
from holdfast.tokens.budget import budget_for
from holdfast.tokens.counter import ExactCounter
from holdfast.window.decisions import Add
from holdfast.window.presets import preset_named
from holdfast.window.view import Draft, View
from tests.context.talking import Client, engine_with, long_talk, provider, sent, texts
from tests.window.talks import Pennies, items_of

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
    return [made.rule for made in engine.store.decisions.of(lane.id)]


async def test_what_was_found_for_earlier_questions_is_noted_down_in_one_batch(tmp_path):
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
    added = [one for row in client.report["messages"] for one in row.get("added", ())]
    return [one["text"].partition("user: ")[2] for one in added if one["section"] == "recalled"]


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


def asked_again(quote_tokens, *messages, said="Who got it?"):
    """Two messages of a person, and so many tokens of evidence behind the first of them."""
    said = (Message.of("user", "Old"), Message.of("assistant", "Yes."), Message.of("user", said), *messages)
    draft = Draft(items_of(said), budget_for(4_096), ExactCounter(Pennies()))
    return View(draft, [Add("recalled", ("m_0",), 0, 0, "recalled", "and " * quote_tokens, id="d_0")])


async def test_evidence_for_earlier_questions_leaves_where_a_new_one_needs_the_room():
    empty = asked_again(0)
    free = empty.room - empty.total.high
    share = empty.draft.budget.for_evidence(empty.fixed_cost.high)
    assert make_way(asked_again(free - share)) == []
    (leaving,) = make_way(asked_again(free - share // 8))
    assert (leaving.rule, leaving.messages) == ("recalled_full", ("m_0",))
    assert make_way(asked_again(free - share // 8, said="I got it.")) == [], "that needs no room"
    call = Message("assistant", (ToolCall("look", "{}", id="c"),))
    result = Message("tool", (ToolResult((Text("Seen."),), call_id="c"),))
    assert make_way(asked_again(free - share // 8, call, result)) == [], "nothing is brought inside a loop"
    (leaving,) = make_way(asked_again(free + 20, said="I got it."))
    assert leaving.messages == ("m_0",), "it would not fit"


async def test_the_report_says_what_was_searched_brought_and_missed(tmp_path):
    server = provider(window=QUOTING)
    async with engine_with(server, tmp_path) as engine:
        client = await talked(engine)
        await client.say("Where does the harbour master keep a parrot?")
        told = client.report["recall"]
        assert told["searched"] == ["Where does the harbour master keep a parrot?"]
        path = engine.store.log.path(engine.store.log.get(client.conversation).head)
        said = {stored.id: stored.message.text for stored in path}
        assert any("parrot" in said[row["id"]] for row in told["brought"])
        assert told["likely"] > 0.4
        assert all(row["parts"] for row in told["brought"])
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
            whole = [plan(one) for one in range(at + 1)]
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
