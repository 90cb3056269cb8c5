"""From a span to what is kept of it: the ledger whole, the language of the talk, never worse than before."""

import pytest

from holdfast.compaction.compactor import CompactionTask, Compactor, SummaryBody
from holdfast.compaction.ledger import Ledger
from holdfast.compaction.summariser import PromptTemplates
from holdfast.compaction.summary import Summary
from holdfast.messages import Message, Text, ToolCall, ToolResult
from holdfast.testing.provider import count_words
from tests.compaction.summary_models import helper_of
from tests.context.summary_engine import GOOD, SECRET, RequestScripts, said
from tests.window.talks import items_of

pytestmark = pytest.mark.anyio


def task_of(messages, previous=None, **more):
    return CompactionTask(items_of(messages), previous, 150, count_words, **more)


async def made_of(messages, previous=None, helper=None, **more):
    return await Compactor(PromptTemplates()).compact(task_of(messages, previous, **more), helper)


def talk(*first):
    messages = [Message.of("user", text) for text in first]
    for at in range(8):
        messages += [Message.of("assistant", "Noted."), Message.of("user", said(at))]
    return messages


async def test_the_ledger_has_what_the_model_left_out():
    server = RequestScripts(summary=GOOD)
    messages = talk("The garden server is in deploy/config.yaml with port 4711, invoice RE-2026-0815.")
    result = await made_of(messages, helper=helper_of(server))
    assert (result.method, result.model) == ("model", "small")
    text = result.body.text(count_words, 400)
    assert "RE-2026-0815" in text
    assert "RE-2026-0815" not in result.body.summary.render()


async def test_what_was_kept_before_is_merged_and_not_read_again():
    first = await made_of(talk("The key file is keys/old_4711.pem, version 2.4.1."))
    server = RequestScripts(summary="")
    second = await made_of(talk("The new one is keys/new_0815.pem."), first.body, helper_of(server))
    named = second.body.ledger.render("en")
    assert "keys/old_4711.pem" in named
    assert "keys/new_0815.pem" in named
    assert "keys/old_4711.pem" not in "".join(
        request.messages[-1].text.rpartition("What was said")[2] for request in server.requests
    )


async def test_german_conversation_keeps_german_summary_even_without_user_messages():
    german = [
        Message.of("user", "Bitte richte den Server für den Garten ein, er soll auf Port 4711 laufen."),
        Message.of("assistant", "Das habe ich in deploy/config.yaml gemacht, der Dienst läuft jetzt."),
    ] * 6
    server = RequestScripts(summary="")
    result = await made_of(german, helper=helper_of(server))
    assert result.body.language == result.body.summary.language == "de"
    assert server.asked()[0].messages[-1].text.startswith("Du schreibst das Protokoll")
    silent = [Message("tool", (ToolResult((Text("0 1 2 3"),), call_id="c1", name="run"),))]
    assert (await made_of(silent, result.body)).body.language == "de"


@pytest.mark.parametrize(
    "messages",
    [
        [
            Message("tool", (ToolResult((Text(f"ok {at}"),), call_id=f"c{at}", name="run"),))
            for at in range(9)
        ],
        [Message("assistant", (ToolCall("run", "{}", id="c1"),))],
        [Message.of("user", "")],
        [Message.of("user", "<private>all of it</private>")],
        [Message.of("user", "🙂" * 3_000)],
        [Message.of("user", "x" * 200_000)],
    ],
    ids=["tool results", "a call", "nothing", "private", "signs", "one word"],
)
@pytest.mark.parametrize("asks", [False, True])
async def test_uninformative_span_leaves_previous_summary_unchanged(messages, asks):
    before = SummaryBody(Summary(goal=("A garden server",), done=("Port 4711 was set",)), Ledger(), "en")
    result = await made_of(messages, before, helper_of(RequestScripts(summary="")) if asks else None)
    assert "A garden server" in result.body.summary.goal
    assert "Port 4711 was set" in result.body.summary.done
    assert count_words(result.body.text(count_words, 300)) <= 300
    assert len(str(result.body.to_json())) < 60_000


async def test_memories_are_taken_only_where_they_are_wanted():
    messages = talk("From now on always use metric units, please. We decided to use PostgreSQL 16.")
    server = RequestScripts()
    assert (await made_of(messages, helper=helper_of(server))).memories
    assert server.asked("flush")
    other = RequestScripts()
    assert (await made_of(messages, helper=helper_of(other), flush=False)).memories == ()
    assert other.asked("flush") == []


async def test_no_secret_is_in_summary_ledger_or_memories():
    first = f"The password for admin is {SECRET}. <private>Visit /srv/hidden/plan.txt</private> Port 4711."
    result = await made_of(
        talk(first), helper=helper_of(RequestScripts(summary="", flush=f"FACT: password {SECRET}"))
    )
    text = f"{result.body.to_json()} {result.memories}"
    assert "4711" in text
    assert SECRET not in text
    assert "hidden" not in text


async def test_it_says_how_far_it_is():
    shares = []
    await Compactor(PromptTemplates()).compact(
        task_of(talk("Hello.")), helper_of(RequestScripts()), shares.append
    )
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


async def test_the_same_span_gives_the_same_without_a_model():
    messages = talk("The garden server is in deploy/config.yaml with port 4711.")
    item, other = await made_of(messages), await made_of(messages)
    assert (item.body, item.memories) == (other.body, other.memories)


async def test_what_is_kept_comes_back_as_it_was():
    result = await made_of(talk("The garden server is in deploy/config.yaml with port 4711."))
    assert SummaryBody.from_json(result.body.to_json()) == result.body
