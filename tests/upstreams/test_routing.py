"""Several model servers: which one gets a request, who stands in, and how each of them is."""

import asyncio

import pytest

from holdfast.config import load
from holdfast.errors import ConfigError, ModelMissing, Unreachable, UpstreamError
from holdfast.messages import ChatRequest, Message, Text
from holdfast.testing.provider import ScriptedProvider
from holdfast.upstreams.base import ModelInfo
from holdfast.upstreams.discovery import parse_keys, parse_upstreams
from holdfast.upstreams.routing import Upstreams, UpstreamSlot
from holdfast.wiring import build_upstreams
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel
from tests.upstreams.hostile import hostile, response

pytestmark = pytest.mark.anyio

ASK = (Message("user", (Text("Hello"),)),)


def server(*models, answers=(), says="Yes."):
    return ScriptedProvider(answers, fallback=says, models=[ModelInfo(name) for name in models])


def at(name, results, look_again=10.0):
    """A place with a server, or with the error that one meets there; `found` may be made anew each time."""

    async def find():
        here = results() if callable(results) else results
        if isinstance(here, Exception):
            raise here
        return here

    return UpstreamSlot(find, name=name, location=f"http://{name}", look_again=look_again)


def several(**results):
    return Upstreams([at(name, here) for name, here in results.items()], ScriptedProvider())


async def ask_model(upstreams, model):
    async def ask(provider):
        return "".join([chunk.text async for chunk in provider.chat(ChatRequest(model, ASK))])

    return await upstreams.call(model, ask)


async def test_a_model_goes_to_the_server_that_has_it():
    upstreams = several(one=server("a", says="one"), two=server("b:latest", says="two"))
    assert await ask_model(upstreams, "a") == "one"
    assert (await upstreams.route("b")).location == "scripted:"
    assert [model.name for model in await upstreams.models()] == ["a", "b:latest"]


async def test_model_on_two_servers_uses_first_unless_server_is_named():
    first, second = server("a", says="first"), server("a", "b", says="second")
    upstreams = several(one=first, two=second)
    assert await ask_model(upstreams, "a") == "first"
    assert await ask_model(upstreams, "two/a") == "second"
    assert second.requests[-1].model == "a"
    assert [model.name for model in await upstreams.models()] == ["a", "two/a", "b"]


async def test_slash_without_server_name_belongs_to_model_name():
    upstreams = several(one=server("a"), two=server("hf.co/org/b", says="two"))
    assert await ask_model(upstreams, "hf.co/org/b") == "two"


@pytest.mark.parametrize(
    "trouble",
    [Unreachable("nobody there"), UpstreamError("busy", status=503), UpstreamError("no", status=429)],
)
async def test_failover_happens_before_first_chunk_and_pauses_failing_server(trouble):
    first, second = server("a", answers=[trouble]), server("a", says="second")
    upstreams = several(one=first, two=second)
    assert await ask_model(upstreams, "a") == "second"
    assert await ask_model(upstreams, "a") == "second"
    assert len(first.requests) == 1
    item, two = upstreams.states()
    assert (item.well, two.well) == (False, True)
    assert trouble.message in item.error


async def test_another_server_stands_in_for_what_has_one_answer_too():
    class Away(ScriptedProvider):
        async def embed(self, model, texts):
            raise Unreachable("nobody there")

    upstreams = several(one=Away(models=[ModelInfo("a")]), two=server("a"))
    response = await upstreams.call("a", lambda provider: provider.embed("a", ["text"]))
    assert len(response.vectors) == 1


async def test_who_names_a_server_gets_that_one_or_its_trouble():
    second = server("a")
    upstreams = several(one=server("a", answers=[Unreachable("nobody there")]), two=second)
    with pytest.raises(Unreachable):
        await ask_model(upstreams, "one/a")
    assert second.requests == []


async def test_request_refusal_does_not_trigger_failover():
    second = server("a")
    upstreams = several(one=server("a", answers=[UpstreamError("bad", status=400)]), two=second)
    with pytest.raises(UpstreamError, match="bad"):
        await ask_model(upstreams, "a")
    assert second.requests == []
    assert upstreams.states()[0].well


async def test_when_all_are_away_the_last_trouble_is_told():
    away = Unreachable("nobody there")
    upstreams = several(one=server("a", answers=[away]), two=server("a", answers=[away]))
    with pytest.raises(Unreachable):
        await ask_model(upstreams, "a")


async def test_server_unavailable_at_start_costs_others_nothing_and_is_found_later():
    value = []
    late = at("late", lambda: value[0] if value else Unreachable("nobody there"), look_again=-1.0)
    upstreams = Upstreams([late, at("one", server("a", says="one"))], ScriptedProvider())
    assert await ask_model(upstreams, "a") == "one"
    with pytest.raises(ModelMissing, match="late"):
        await upstreams.route("b")
    value.append(server("b", says="late"))
    assert await ask_model(upstreams, "b") == "late"
    assert [state.well for state in upstreams.states()] == [True, True]


async def test_unlisted_model_is_refused_by_first_server():
    upstreams = several(one=server("a"), two=server("b"))
    with pytest.raises(ModelMissing):
        await ask_model(upstreams, "c")


async def test_a_model_that_was_just_pulled_is_found():
    names = [ModelInfo("a")]

    class GrowingProvider(ScriptedProvider):
        async def models(self):
            return list(names)

    upstreams = several(one=server("x"), two=GrowingProvider(models=names))
    assert await ask_model(upstreams, "a") == "Yes."
    names.append(ModelInfo("new"))
    upstreams.invalidate()
    assert (await upstreams.route("new")).label == "two"


async def test_lists_are_merged_without_the_servers_that_are_away():
    upstreams = several(one=Unreachable("nobody there"), two=server("b"))
    assert [model.name for model in await upstreams.models()] == ["b"]
    with pytest.raises(Unreachable):
        await several(one=Unreachable("nobody there"), two=Unreachable("neither")).models()


def settings(tmp_path, **given):
    return load({"home": tmp_path, **given}, {}).settings


async def test_named_servers_have_their_own_keys_and_only_theirs(tmp_path):
    tags = response(b'{"models":[]}')
    with hostile([tags]) as server, hostile([tags]) as two:
        given = settings(
            tmp_path,
            upstreams=f"gpu=ollama+{server.url}, ollama+{two.url}",
            upstream_keys="gpu=s3cret",
        )
        upstreams = build_upstreams(given)
        await upstreams.models()
        await upstreams.aclose()
    assert any(b"Bearer s3cret" in request for request in server.requests)
    assert not any(b"s3cret" in request for request in two.requests)
    assert [state.name for state in upstreams.states()] == ["gpu", two.url.removeprefix("http://")]


async def test_one_server_and_several_can_be_named_together(tmp_path):
    tags = response(b'{"models":[]}')
    with hostile([tags]) as server, hostile([tags]) as two:
        given = settings(
            tmp_path,
            upstream=f"ollama+{server.url}",
            upstream_key="s3cret",
            upstreams=f"two=ollama+{two.url}, embedded",
        )
        upstreams = build_upstreams(given)
        await upstreams.models()
        assert [state.name for state in upstreams.states()] == [server.url[7:], "two", "embedded"]
        await upstreams.aclose()
    assert any(b"Bearer s3cret" in request for request in server.requests)
    assert not any(b"s3cret" in request for request in two.requests)


async def test_holdfast_itself_is_none_of_several_servers(tmp_path):
    upstreams = build_upstreams(
        settings(tmp_path, upstreams="a=http://127.0.0.1:11435, b=http://127.0.0.1:9")
    )
    with pytest.raises(ConfigError, match="own address"):
        await upstreams.main()
    await upstreams.aclose()


async def test_two_real_servers_with_one_of_them_gone(tmp_path):
    here = FakeOllama(models=[FakeModel("a"), FakeModel("b")])
    with here.served() as address:
        gone = FakeOllama(models=[FakeModel("a")])
        with gone.served() as other:
            upstreams = build_upstreams(settings(tmp_path, upstreams=f"one={other}, two={address}"))
            assert (await upstreams.route("a")).label == "one"
        assert "You said: Hello" in await ask_model(upstreams, "a")
        assert (await upstreams.route("a")).label == "two"
        assert upstreams.states()[0].error
        assert upstreams.states()[1].last_seen
        await upstreams.aclose()


async def test_server_that_never_lists_models_does_not_block_others():
    class Silent(ScriptedProvider):
        async def models(self):
            await asyncio.Event().wait()

    places = [at("silent", Silent()), at("one", server("a"))]
    upstreams = Upstreams(places, ScriptedProvider(), patience=0.05)
    assert await ask_model(upstreams, "a") == "Yes."
    assert [model.name for model in await upstreams.models()] == ["a"]
    await upstreams.aclose()


async def test_server_of_another_kind_at_same_address_is_detected():
    class Other(ScriptedProvider):
        name = "other"

    before, after = server("a", answers=[Unreachable("nobody there")]), Other(models=[ModelInfo("b")])
    value = [before]
    place = at("", lambda: value[0], look_again=-1.0)
    upstreams = Upstreams([place], ScriptedProvider())
    with pytest.raises(Unreachable):
        await ask_model(upstreams, "a")
    value[0] = after
    assert (await upstreams.main()).name == "other"
    assert await ask_model(upstreams, "b") == "Yes."


async def test_many_at_once_ask_a_server_for_its_list_once():
    listed = []

    class CountingProvider(ScriptedProvider):
        async def models(self):
            listed.append(1)
            await asyncio.sleep(0)
            return await super().models()

    upstreams = several(one=CountingProvider(models=[ModelInfo("a")]), two=server("b"))
    await asyncio.gather(*(upstreams.route("a") for _ in range(5)))
    assert len(listed) == 1


def test_places_are_read_from_one_line():
    assert parse_upstreams(" gpu=http://10.0.0.5:11434 ,http://127.0.0.1:8080/v1, embedded ") == {
        "gpu": "http://10.0.0.5:11434",
        "127.0.0.1:8080": "http://127.0.0.1:8080/v1",
        "embedded": "embedded",
    }
    assert parse_upstreams("") == {}
    assert parse_keys("gpu=a=b", ["gpu"]) == {"gpu": "a=b"}


@pytest.mark.parametrize(
    "text", ["a=", "=http://x", "a=http://x, a=http://y", "http://x, http://x", "a=ftp://x/y:z"]
)
def test_nonsense_in_place_of_servers_is_refused(text):
    with pytest.raises(ConfigError):
        parse_upstreams(text)


def test_a_key_for_nobody_is_refused_without_telling_it():
    with pytest.raises(ConfigError) as refused:
        parse_keys("other=s3cret", ["gpu"])
    assert "s3cret" not in str(refused.value)
