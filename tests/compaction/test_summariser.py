"""Models that are of no use, through a real engine: there is a summary in any case, never a worse one."""

import asyncio
import re

import pytest

from holdfast.compaction.compactor import SummaryBody
from holdfast.compaction.summariser import MessageSpan, PromptTemplates, Summariser
from holdfast.compaction.summary import Summary
from holdfast.errors import CutOff, Overflow, Unreachable, UpstreamError
from holdfast.messages import Message, Thinking, ToolCall
from holdfast.testing.provider import count_words
from holdfast.tokens.budget import budget_for
from tests.compaction.summary_models import helper_of
from tests.context.summary_engine import (
    FACTS,
    FIRST,
    GOOD,
    RULE,
    SECRET,
    RequestScripts,
    Turns,
    chain,
    check_chain,
    said,
    shown,
    summing,
    talked,
)
from tests.window.talks import items_of

pytestmark = pytest.mark.anyio


def transcript_of(request):
    return re.findall(r"=====\n(.*?)\n=====", request.messages[-1].text, re.DOTALL)[-1]


GERMAN = """Anfragen
- Der Nutzer möchte, dass der Server für den Garten in deploy/config.yaml eingerichtet wird
Ziel
- Ein Server für den Garten, der auf Port 4711 hört
Erledigt
- Der Port 4711 wurde in deploy/config.yaml gesetzt
Offen
- Die Städte sind noch zu beschreiben
Nicht tun
- Nie auf main pushen"""
HALF = GOOD[: GOOD.index("The towns")] + "The towns are still to be described by the"
NONE = "Requests\n- none\nGoal\n- none\nDone\n- none\nOpen\n- none\nMust not\n- none"
INVENTED = (
    "Requests\n- Book flights to Lisbon for Amelia\nGoal\n- Holidays in Portugal with surfing lessons\n"
    "Done\n- Hotel Miramar reserved, voucher QX-991\nOpen\n- Passport renewal\nMust not\n- Miss breakfast"
)
ENDLESS = " ".join(f"item{number}" for number in range(50_000))

BAD = {
    "nothing": "",
    "only thinking": [Thinking("I should write the minutes. " * 30)],
    "a tool call": [ToolCall("read_file", '{"path": "deploy/config.yaml"}', id="call_1")],
    "the transcript again": transcript_of,
    "50,000 tokens": ENDLESS,
    "another language": GERMAN,
    "half a sentence": HALF,
    "headings with nothing in them": NONE,
    "what nobody spoke of": INVENTED,
    "an error in the middle": ["Requests\n- Set up the", CutOff("the server went away")],
    "an error at once": Unreachable("nobody is there"),
    "an error of the server": UpstreamError("out of memory", status=500),
    "too large, whatever is asked": Overflow("too large"),
}
REPAIRABLE = [name for name in BAD if "error" not in name and "too large" not in name]


def check_window(server):
    """What must be there whatever the model did."""
    message = shown(server)
    assert RULE in message
    assert all(fact in message for fact in FACTS)
    assert SECRET not in message
    return message


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
async def test_summary_is_made_without_usable_model(tmp_path, bad):
    server = RequestScripts(summary=bad, flush=bad)
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)
        await engine.compaction.compact(client.conversation)
        (row,) = check_chain(engine, client)
        assert (row.path, row.model) == ("extractive", "")
        assert SummaryBody.from_json(row.body).summary
        assert len(server.asked()) <= 4, "it is not asked for ever"
        await client.say("And now?")
        check_window(server)
        assert len(server.asked("talk")[-1].messages) < 8


@pytest.mark.parametrize("name", REPAIRABLE)
async def test_what_a_model_got_wrong_once_it_may_mend_once(tmp_path, name):
    server = RequestScripts(summary=Turns(BAD[name], GOOD))
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)
        await engine.compaction.compact(client.conversation)
        (row,) = check_chain(engine, client)
        assert (row.path, row.model) == ("repaired", "small")
        first, second = (request.messages[-1].text for request in server.asked())
        assert "could not be used" in second
        assert "could not be used" not in first
        await client.say("And now?")
        assert "The towns are still to be described" in check_window(server)


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
async def test_an_old_summary_is_never_overwritten_by_a_worse_one(tmp_path, bad):
    server = RequestScripts(summary=Turns(GOOD, bad))
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)
        await engine.compaction.compact(client.conversation)
        for at in range(20, 30):
            await client.say(said(at))
        await engine.compaction.compact(client.conversation)
        first, second = check_chain(engine, client)
        assert (first.path, second.path) == ("model", "extractive")
        assert SummaryBody.from_json(first.body).summary.goal == (
            "A garden server that listens on port 4711",
        )
        assert "A garden server that listens on port 4711" in SummaryBody.from_json(second.body).summary.goal
        await client.say("And now?")
        assert "A garden server that listens on port 4711" in check_window(server)


async def test_silent_model_that_never_ends_is_abandoned(tmp_path):
    silence = asyncio.Event()
    server = RequestScripts(summary=["Requests\n", silence], flush=[silence])
    async with summing(server, tmp_path, stall=0.05) as engine:
        client = await talked(engine)
        await engine.compaction.compact(client.conversation)
        (row,) = check_chain(engine, client)
        assert row.path == "extractive"
        assert server.aborted == len(server.asked()) + len(server.asked("flush"))
        await client.say("And now?")
        check_window(server)


async def test_a_model_that_does_not_stop_is_stopped(tmp_path):
    server = RequestScripts(summary=ENDLESS)
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)
        await engine.compaction.compact(client.conversation)
        assert server.aborted == len(server.asked())
        assert chain(engine, client)[0].path == "extractive"


async def test_span_refused_as_too_large_is_retried_in_smaller_portions(tmp_path):
    most = 2_900

    def strict(request):
        return Overflow("too large") if len(request.messages[-1].text) > most else GOOD

    server = RequestScripts(summary=strict)
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)
        await engine.compaction.compact(client.conversation)
        (row,) = check_chain(engine, client)
        sizes = [len(request.messages[-1].text) for request in server.asked()]
        assert row.path == "smaller", sizes
        assert sizes[0] > most
        assert all(size <= most for size in sizes[1:])
        said_to_it = "\n".join(request.messages[-1].text for request in server.asked()[1:])
        assert all(f"garden of house {at} " in said_to_it for at in range(1, 8)), "nothing was passed over"


def span_of(turns, previous=None, target=150):
    said_so_far = [Message.of("user", FIRST)]
    for at in range(1, turns):
        said_so_far += [Message.of("assistant", "Noted."), Message.of("user", said(at))]
    return MessageSpan(items_of(said_so_far), previous, "en", target, count_words)


PREVIOUS = Summary(requests=("Describe the lighthouse",), goal=("A guide to Norderney",), language="en")


async def test_long_span_is_summarised_in_fitting_portions_and_merged():
    server = RequestScripts(window=2_048)
    helper = helper_of(server, 2_048)
    shares = []
    written = await Summariser(PromptTemplates()).summarise(span_of(60, PREVIOUS), helper, shares.append)
    assert written.method == "model"
    prompts = [request.messages[-1].text for request in server.requests]
    assert len(prompts) > 2
    assert all(count_words(prompt) + 300 <= 2_048 for prompt in prompts), "the answer has its room"
    assert "Describe the lighthouse" in prompts[0]
    assert all("Set up the server of the garden" in prompt for prompt in prompts[1:])
    read = "".join(prompts)
    assert all(read.count(f"garden of house {at} ") == 1 for at in range(1, 60)), "each message once"
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


async def test_empty_portion_summary_does_not_erase_earlier_portions():
    def merging(request):
        known = "A guide to Norderney" in request.messages[-1].text
        return GOOD.replace("Goal\n", "Goal\n- A guide to Norderney\n") if known else GOOD

    server = RequestScripts(summary=Turns(NONE, NONE, NONE, merging), window=2_048)
    written = await Summariser(PromptTemplates()).summarise(
        span_of(60, PREVIOUS), helper_of(server, 2_048), lambda _: None
    )
    assert "A guide to Norderney" in written.summary.render()


async def test_a_window_too_small_for_any_portion_is_not_asked():
    server = RequestScripts(window=512)
    written = await Summariser(PromptTemplates()).summarise(
        span_of(10), helper_of(server, 512), lambda _: None
    )
    assert written.method == "extractive"
    assert not server.requests
    assert written.summary


async def test_summary_request_allows_twice_the_target_in_usual_window():
    server = RequestScripts()
    await Summariser(PromptTemplates()).summarise(
        span_of(10, target=200), helper_of(server, 4_096), lambda _: None
    )
    (request,) = server.requests
    assert request.options == {"temperature": 0.3, "max_tokens": 400, "num_ctx": budget_for(4_096).window}


async def summarise_with(answer, said, language):
    """What comes of one exchange when the model answers so."""
    items = items_of([Message.of("user", said), Message.of("assistant", "Ok.")])
    span = MessageSpan(items, None, language, 300, count_words)
    server = RequestScripts(summary=lambda request: answer)
    return await Summariser(PromptTemplates()).summarise(span, helper_of(server, 4_096), lambda _: None)


@pytest.mark.parametrize(
    ("language", "said", "empty"),
    [
        (
            "de",
            "Der Server arion hört auf Port 4711. Frau Kröger prüft deploy/config.yaml. Push nie auf main.",
            (
                "Anfragen\n- Der Server\nZiel\n- Der Server hört\nErledigt\n- Der Server ist geprüft\n"
                "Offen\n- nichts\nNicht tun\n- keine"
            ),
        ),
        (
            "en",
            "The server arion listens on port 4711. Miriam checks deploy/config.yaml. Never push to main.",
            (
                "Requests\n- The server\nGoal\n- The server listens\nDone\n- The server is checked\n"
                "Open\n- none\nMust not\n- none"
            ),
        ),
    ],
)
async def test_model_summary_with_fewer_facts_than_extract_is_rejected(language, said, empty):
    written = await summarise_with(empty, said, language)
    assert written.method == "extractive"
    assert "fewer" in written.problems
    assert "4711" in written.summary.render()


@pytest.mark.parametrize(
    ("language", "said", "answer"),
    [
        (
            "de",
            "Der Server arion hört auf Port 4711. MongoDB nehmen wir nicht. Push nie auf main.",
            (
                "Anfragen\n- Der Server arion\nZiel\n- Der Server arion hört auf Port 4711\n"
                "Erledigt\n- Wir nehmen MongoDB\n- Das Budget ist 98.765 Euro\n- Server arion, Port 4711\n"
                "Offen\n- MongoDB\nNicht tun\n- Push nie auf main"
            ),
        ),
        (
            "en",
            "The server arion listens on port 4711. We are not using MongoDB. Never push to main.",
            (
                "Requests\n- The server arion\nGoal\n- The server arion listens on port 4711\n"
                "Done\n- We are using MongoDB\n- The budget is 98,765 euros\n- Server arion, port 4711\n"
                "Open\n- MongoDB\nMust not\n- Never push to main"
            ),
        ),
    ],
)
async def test_values_nobody_said_and_denied_decisions_leave_a_models_summary(language, said, answer):
    written = await summarise_with(answer, said, language)
    assert written.method != "extractive"
    assert written.summary.done == (answer.split("\n- ")[5].partition("\n")[0],)
