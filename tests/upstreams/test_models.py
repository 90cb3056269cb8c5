"""What is known of models is asked once, settled once, and changed only by the user."""

import asyncio

import pytest

from holdfast.errors import BadRequest, ModelMissing
from holdfast.store import open_store
from holdfast.testing.provider import ScriptedProvider
from holdfast.upstreams.discovery import connect
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.windows import Figure
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel


@pytest.fixture
def ask(tmp_path):
    """Runs `work(models, provider)` against a fake Ollama with a store on disk; the clock is in our hands."""
    fake = FakeOllama(models=[FakeModel("qwen3:8b", parameter_size="8B", trained_window=40_960)])
    clock = [0.0]

    def run(work):
        async def main():
            with open_store(f"sqlite:///{tmp_path / 'db'}") as store:
                provider = await connect(address)
                try:
                    return await work(ModelRegistry(store, tmp_path, lambda: clock[0]), provider)
                finally:
                    await provider.aclose()

        return asyncio.run(main())

    with fake.served() as address:
        run.fake, run.clock, run.folder = fake, clock, tmp_path
        yield run


def shows(fake):
    return sum(path == "/api/show" for path, _ in fake.requests)


def test_the_first_window_is_settled_whatever_clients_name_later(ask):
    async def work(models, provider):
        first = await models.settle_windows(provider, "qwen3:8b", asked=5_000)
        second = await models.settle_windows(provider, "qwen3:8b", asked=6_000)
        return first.used, second.used

    assert ask(work) == (Figure(5_000, "the client"), Figure(5_000, "the client"))

    async def after_a_restart(models, provider):
        return (await models.windows(provider, "qwen3:8b")).used

    assert ask(after_a_restart) == Figure(5_000, "the client")


def test_without_any_wish_the_recommended_window_is_taken(ask):
    async def work(models, provider):
        return await models.settle_windows(provider, "qwen3:8b")

    windows = ask(work)
    assert windows.used == windows.recommended == Figure(16_384, "known of qwen3")
    assert windows.trained == Figure(40_960, "the model itself")


def test_what_the_user_sets_holds_until_it_is_taken_back(ask):
    async def work(models, provider):
        await models.settle_windows(provider, "qwen3:8b", asked=5_000)
        fixed = await models.set_window(provider, "qwen3:8b", num_ctx=8_000)
        settled = await models.settle_windows(provider, "qwen3:8b", asked=6_000)
        freed = await models.set_window(provider, "qwen3:8b", num_ctx=0)
        return fixed.used, settled.used, freed.used

    mine = Figure(8_000, "set by you")
    assert ask(work) == (mine, mine, Figure(16_384, "known of qwen3"))


def test_unusably_small_window_or_missing_model_is_rejected(ask):
    async def too_small(models, provider):
        await models.set_window(provider, "qwen3:8b", num_ctx=10)

    async def missing(models, provider):
        await models.set_window(provider, "nobody", num_ctx=8_000)

    with pytest.raises(BadRequest, match="10 tokens"):
        ask(too_small)
    with pytest.raises(ModelMissing):
        ask(missing)


def test_a_server_is_asked_again_only_after_ten_minutes_or_trouble(ask):
    async def work(models, provider):
        for _ in range(3):
            await models.windows(provider, "qwen3:8b")
        asked = [shows(ask.fake)]
        ask.clock[0] = 601.0
        await models.windows(provider, "qwen3:8b")
        asked.append(shows(ask.fake))
        models.look_again(provider, "qwen3:8b")
        await models.windows(provider, "qwen3:8b")
        return [*asked, shows(ask.fake)]

    assert ask(work) == [1, 2, 3]


def test_a_server_with_a_window_of_its_own_is_believed(tmp_path):
    async def main():
        with open_store(f"sqlite:///{tmp_path / 'db'}") as store:
            return await ModelRegistry(store, tmp_path).settle_windows(
                ScriptedProvider(), "scripted", asked=100_000
            )

    assert asyncio.run(main()).used == Figure(8_192, "the running server")


def test_the_recommendation_can_be_changed(ask):
    async def work(models, provider):
        changed = await models.set_window(provider, "qwen3:8b", recommended=12_000)
        back = await models.set_window(provider, "qwen3:8b", recommended=0)
        return changed.recommended, changed.used, back.recommended

    mine = Figure(12_000, "set by you")
    assert ask(work) == (mine, mine, Figure(16_384, "known of qwen3"))


def test_a_model_has_one_window_whatever_it_is_called(ask):
    async def work(models, provider):
        await models.set_window(provider, "latest-one", num_ctx=9_000)
        return (await models.windows(provider, "latest-one:latest")).used

    with FakeOllama(models=[FakeModel("latest-one:latest")]).served() as address:

        async def main(tmp):
            with open_store(f"sqlite:///{tmp}") as store:
                provider = await connect(address)
                try:
                    return await work(ModelRegistry(store, tmp.parent), provider)
                finally:
                    await provider.aclose()

        assert asyncio.run(main(ask.folder / "other.db")) == Figure(9_000, "set by you")


@pytest.mark.parametrize("asked", [256, 511, -1, 0])
def test_a_window_that_holds_no_conversation_is_never_settled(ask, asked):
    async def work(models, provider):
        first = await models.settle_windows(provider, "qwen3:8b", asked=asked)
        second = await models.settle_windows(provider, "qwen3:8b", asked=5_000)
        return first.used, second.used, len(first.warnings)

    recommended = Figure(16_384, "known of qwen3")
    assert ask(work) == (recommended, recommended, 1)


def test_one_that_was_settled_before_is_replaced(ask):
    async def work(models, provider):
        info = {"settled": {"tokens": 256, "source": "the client"}}
        await models._store.run(models._store.models.put, provider.location, "qwen3:8b", info=info)
        await models.settle_windows(provider, "qwen3:8b", asked=5_000)
        return (await models.windows(provider, "qwen3:8b")).used

    assert ask(work) == Figure(5_000, "the client")
