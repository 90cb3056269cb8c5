"""What should outlive a talk: by rules always, by a model only what was really said, each once."""

import asyncio

import pytest

from holdfast.compaction.flush import MemoryFlush
from holdfast.compaction.summariser import PromptTemplates
from holdfast.errors import CutOff, Overflow
from holdfast.messages import Message, Thinking, ToolCall
from holdfast.testing.provider import count_words
from tests.compaction.summary_models import helper_of
from tests.context.summary_engine import RequestScripts
from tests.window.talks import items_of

pytestmark = pytest.mark.anyio


TALK = (
    Message.of(
        "user", "Our mail server mx.example.org runs on port 2525. From now on always answer in German."
    ),
    Message.of("assistant", "Understood."),
    Message.of("user", "We decided to use PostgreSQL 16 because of the replication. Anna leads the project."),
    Message.of("assistant", "Fine."),
)


async def memories(flush, talk=TALK, window=4_096, language="en", **more):
    server = RequestScripts(flush=flush, window=window)
    helper = helper_of(server, window, **more)
    flushed = await MemoryFlush(PromptTemplates()).collect(items_of(talk), language, count_words, helper)
    results = list(flushed.memories)
    return server, results


async def by_rules(talk=TALK):
    return list(
        (await MemoryFlush(PromptTemplates()).collect(items_of(talk), "en", count_words, None)).memories
    )


async def test_without_a_model_rules_find_decisions_and_preferences():
    results = {item.kind: item for item in await by_rules()}
    assert "PostgreSQL 16" in results["decision"].text
    assert "answer in German" in results["preference"].text
    assert results["decision"].messages == ("m_2",)


@pytest.mark.parametrize(
    "flush",
    [
        "",
        "NO_MEMORIES",
        [Thinking("FACT: thinking")],
        [ToolCall("remember", '{"text": "x"}', id="c1")],
        CutOff("gone"),
        ["FACT: Our mail", CutOff("gone")],
        Overflow("too large"),
        "Sure! I would be happy to help you with that. What do you need?",
    ],
    ids=["nothing", "none", "thinking", "tools", "error", "dies", "overflow", "talks"],
)
async def test_a_model_of_no_use_takes_nothing_away(flush):
    _, results = await memories(flush)
    assert results == await by_rules()


async def test_a_model_that_hangs_is_given_up():
    server, results = await memories([asyncio.Event()], stall=0.02)
    assert results == await by_rules()
    assert server.aborted == 1


async def test_memory_found_by_model_keeps_its_source_message():
    _, results = await memories(
        "FACT: The mail server mx.example.org runs on port 2525\nFACT: Anna leads the project"
    )
    facts = {result.text: result for result in results if result.kind == "fact"}
    (mail,) = [item for text, item in facts.items() if "2525" in text]
    (anna,) = [entry for text, entry in facts.items() if "Anna" in text]
    assert mail.messages == ("m_0",)
    assert anna.messages[:1] == ("m_2",)


@pytest.mark.parametrize(
    "line",
    [
        "FACT: The mail server runs on port 9999",
        "FACT: The mail server is managed by Bartholomew",
        "DECISION: We use MongoDB because of sharding",
        "FACT: Paris is the capital of France",
    ],
)
async def test_what_nobody_said_is_not_remembered(line):
    _, results = await memories(line)
    assert results == await by_rules()


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("We will not use Kafka for the events.", "DECISION: We will use Kafka for the events"),
        ("Should we use Kafka for the events?", "DECISION: We use Kafka for the events"),
        ("What if we used Kafka for the events?", "FACT: We used Kafka for the events"),
        ("Maybe we'll use Kafka for the events.", "DECISION: We'll use Kafka for the events"),
        ("We used to run Kafka for the events.", "FACT: We run Kafka for the events"),
        ("Nothing about Kafka is decided.", "DECISION: Kafka is decided"),
        ("Nonsense, no Kafka for the events.", "DECISION: Kafka for the events"),
    ],
)
async def test_model_cannot_turn_denials_questions_or_suppositions_into_memories(said, line):
    talk = (Message.of("user", said), Message.of("assistant", "Kafka for the events, I see."))
    _, results = await memories(line, talk)
    assert results == await by_rules(talk)


async def test_what_both_find_is_there_once():
    _, results = await memories("DECISION: We decided to use PostgreSQL 16 because of the replication")
    assert len([result for result in results if "PostgreSQL" in result.text]) == 1


async def test_what_somebody_asked_to_be_remembered_was_written_before():
    talk = (
        Message.of("user", "Remember that my sister is called Ottilie."),
        Message.of("assistant", "Sure."),
    )
    _, results = await memories("FACT: My sister is called Ottilie", talk)
    assert results == []


async def test_tool_and_assistant_text_does_not_become_user_rule():
    talk = (
        Message.of("user", "What is in the file?"),
        Message.of("assistant", "It says: from now on always use tabs. I prefer spaces."),
    )
    assert await by_rules(talk) == []


async def test_a_long_talk_is_read_in_portions_that_fit():
    talk = [
        Message.of("assistant" if at % 2 else "user", f"Step {at}. " + "more words here " * 30)
        for at in range(60)
    ]
    server, _ = await memories("NO_MEMORIES", talk, window=2_048)
    prompts = [request.messages[-1].text for request in server.requests]
    assert len(prompts) > 2
    assert all(count_words(prompt) + 600 <= 2_048 for prompt in prompts)
    assert all(sum(f"Step {at}." in prompt for prompt in prompts) == 1 for at in range(60))


async def test_a_window_too_small_to_read_anything_is_not_asked():
    server, results = await memories("FACT: x", window=512)
    assert server.requests == []
    assert results == await by_rules()
