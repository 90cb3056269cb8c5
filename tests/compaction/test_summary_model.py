"""Asking a model on the side: the same window as every other request, no thinking, no waiting for silence."""

import asyncio
from dataclasses import replace

import pytest

from holdfast.compaction.summariser import is_hopeless
from holdfast.errors import CutOff, Unreachable
from holdfast.messages import Thinking
from holdfast.testing.provider import ScriptedProvider
from holdfast.upstreams.base import ModelInfo
from tests.compaction.summary_models import helper_of

pytestmark = pytest.mark.anyio


def scripted(answer, name="small"):
    return ScriptedProvider([answer], models=[ModelInfo(name, running_window=4_096)])


class Llama(ScriptedProvider):
    """A server that takes grammars."""

    abilities = frozenset({"grammar"})


async def test_one_text_goes_in_and_one_comes_out():
    server = scripted([Thinking("Hm."), "Two ", "words."])
    answer = await helper_of(server).ask("Say something.", 50)
    assert (answer.text, answer.finish) == ("Two words.", "stop")
    (request,) = server.requests
    assert [(message.role, message.text) for message in request.messages] == [("user", "Say something.")]
    assert request.options == {"temperature": 0.3, "max_tokens": 50, "num_ctx": 4_096}
    assert request.think is None
    assert request.tools == ()


async def test_server_with_fixed_window_is_not_asked_for_another():
    server = scripted("Yes.")
    await helper_of(server, sets_window=False).ask("?", 50)
    assert "num_ctx" not in server.requests[0].options


async def test_thinking_is_disabled_in_every_supported_way():
    server = scripted("Yes.")
    await helper_of(server, thinks=True).ask("Say something.", 50)
    (request,) = server.requests
    assert request.think is False
    assert request.extra == {"openai": {"chat_template_kwargs": {"enable_thinking": False}}}
    assert request.messages[0].text == "Say something."


async def test_qwen_is_told_in_the_text_as_well():
    server = scripted("Yes.", "Qwen3:4b")
    await replace(helper_of(server, thinks=True), name="Qwen3:4b").ask("Say something.", 50)
    assert server.requests[0].messages[0].text == "Say something.\n/no_think"


async def test_a_grammar_goes_only_to_servers_that_take_one():
    plain, llama = scripted("Yes."), Llama(["Yes."], models=[ModelInfo("small", running_window=4_096)])
    for server in (plain, llama):
        await helper_of(server).ask("?", 50, grammar="root ::= [a-z]+")
    assert plain.requests[0].extra == {}
    assert llama.requests[0].extra == {"openai": {"grammar": "root ::= [a-z]+"}}


@pytest.mark.parametrize("before", [[], ["A few words first. "], [Thinking("Hm. ")]])
async def test_silence_ends_it_however_much_was_said_before(before):
    server = scripted([*before, asyncio.Event()])
    with pytest.raises(CutOff, match="said nothing"):
        await helper_of(server, stall=0.02).ask("?", 50)
    assert server.aborted == 1


class OurTime(asyncio.SelectorEventLoop):
    """A loop whose time passes when we say so."""

    now = 0.0

    def time(self):
        return self.now


def slowly(loop, words):
    """Says a word every forty seconds."""
    for word in words:
        tick = asyncio.Event()
        loop.call_soon(tick.set)
        loop.now += 40.0
        yield tick
        yield word


def test_who_goes_on_talking_may_take_as_long_as_it_takes():
    async def ask():
        steps = slowly(asyncio.get_running_loop(), [f"{number} " for number in range(12)])
        return await helper_of(scripted(steps), stall=60.0).ask("?", 500)

    with asyncio.Runner(loop_factory=OurTime) as runner:
        assert runner.run(ask()).text.split() == [str(number) for number in range(12)]
        assert runner.get_loop().time() == 480.0


@pytest.mark.parametrize("answer", ["word " * 5_000, [Thinking("word " * 5_000), "Yes."]])
async def test_who_does_not_stop_is_stopped(answer):
    server = scripted(answer)
    text = await helper_of(server).ask("?", 20)
    assert text.finish == "length"
    assert len(text.text) < 400
    assert server.aborted == 1


async def test_errors_of_the_server_are_the_callers():
    with pytest.raises(Unreachable):
        await helper_of(scripted(["Half", Unreachable("gone")])).ask("?", 50)


async def test_an_answer_that_goes_in_circles_is_not_waited_for():
    endless = ["The port is 8080. "] * 1_000
    answer = await helper_of(scripted(endless)).ask("?", 4_000, hopeless=is_hopeless)
    assert answer.finish == "length"
    assert len(answer.text) < 2_000
    good = [f"Point {number}: file_{number}.py was changed at {number} o'clock. " for number in range(60)]
    answer = await helper_of(scripted(good)).ask("?", 4_000, hopeless=is_hopeless)
    assert answer.text == "".join(good)
