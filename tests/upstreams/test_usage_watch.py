"""A server's own count teaches the counter, or shows that the server cut a request and told nobody."""

import asyncio
from contextlib import ExitStack

import pytest

from holdfast.errors import Overflow
from holdfast.messages import ChatRequest, Image, Message, Text, Thinking, Usage
from holdfast.store import open_store
from holdfast.testing.provider import ScriptedProvider
from holdfast.tokens.estimate import Estimate
from holdfast.tokens.tokenizer import Tokenizer
from holdfast.tokens.vocabulary import Vocabulary
from holdfast.upstreams.discovery import connect
from holdfast.upstreams.models import ModelRegistry
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def vocabulary(weights) -> Vocabulary:
    return Vocabulary.from_gguf(weights)


@pytest.fixture(scope="module")
def tokenizer(vocabulary) -> Tokenizer:
    return Tokenizer(vocabulary)


@pytest.fixture
def serve(vocabulary, tokenizer):
    """An Ollama of the old kind, which cuts silently; it counts with SmolLM2's tokens."""
    with ExitStack() as stack:

        def start(*, facts, window=256, old=True):
            model = FakeModel(trained_window=window, facts=vocabulary.to_metadata() if facts else {})
            fake = FakeOllama(
                models=[model],
                tokenize=lambda text: [str(token) for token in tokenizer.encode(text)],
                old=old,
            )
            fake.address, fake.window = stack.enter_context(fake.served()), window
            return fake

        yield start


async def estimate_of(models, provider, request):
    counter = await models.counters.counter(provider, request.model)
    return counter.estimate(counter.request_features(request))


@pytest.fixture
def ask(tmp_path):
    """Sends texts one after the other; gives what the counter says of the last one afterwards."""

    async def main(fake, texts):
        with open_store(f"sqlite:///{tmp_path / 'db'}") as store:
            models, provider = ModelRegistry(store, tmp_path), await connect(fake.address)
            try:
                await models.vocabularies.tokenizer(provider, "fake")
                for text in texts:
                    request = ChatRequest(
                        "fake", (Message.of("user", text),), options={"num_ctx": fake.window}
                    )
                    watch = models.watch(
                        provider, request, fake.window, await estimate_of(models, provider, request)
                    )
                    try:
                        async for chunk in provider.chat(request):
                            if chunk.usage is not None:
                                await watch.see(chunk.usage)
                    finally:
                        watch.close()
                counter = await models.counters.counter(provider, "fake")
                return counter.count_request(request), len(counter.calibration.samples)
            finally:
                await models.aclose()
                await provider.aclose()

    return lambda fake, *texts: asyncio.run(main(fake, texts))


def test_a_silent_cut_is_an_overflow(serve, ask):
    with pytest.raises(Overflow) as caught:
        ask(serve(facts=True), "so many words " * 200)
    assert caught.value.window == 256
    assert caught.value.prompt_tokens is None, "the server did not say how many it would have been"


QUESTIONS = [f"A question about number {n}, and some more words. " * (1 + n % 4) for n in range(12)]


def test_what_fits_is_no_overflow_and_teaches(serve, ask):
    fake = serve(facts=True)
    count, learned = ask(fake, *QUESTIONS)
    assert (count.method, learned) == ("exact", 12)
    assert abs(count.tokens - len(fake.calls[-1].prompt)) <= 1


def test_an_estimate_learns_too(serve, ask):
    fake = serve(facts=False, window=4096)
    texts = [f"Eine Frage zur Größe der Straße Nummer {n}. " * (1 + n % 5) for n in range(20)]
    count, learned = ask(fake, *texts)
    true = len(fake.calls[-1].prompt)
    assert (count.method, learned) == ("estimate", 20)
    assert count.low <= true <= count.high
    assert abs(count.tokens - true) <= 0.1 * true + 3


def test_what_was_learned_survives_a_restart(serve, ask):
    fake = serve(facts=True)
    ask(fake, *QUESTIONS)
    count, learned = ask(fake, QUESTIONS[0])
    assert learned == 13
    assert abs(count.tokens - len(fake.calls[-1].prompt)) <= 1


def test_first_count_after_a_restart_is_exact(serve, ask, tmp_path, monkeypatch):
    # However busy the machine is.
    monkeypatch.setattr("holdfast.upstreams.models._PATIENCE", 60.0)
    fake = serve(facts=True)
    ask(fake, QUESTIONS[0])

    async def first_counter():
        with open_store(f"sqlite:///{tmp_path / 'db'}") as store:
            models, provider = ModelRegistry(store, tmp_path), await connect(fake.address)
            try:
                return await models.counters.counter(provider, "fake")
            finally:
                await models.aclose()
                await provider.aclose()

    counter = asyncio.run(first_counter())
    assert (counter.method, len(counter.calibration.samples)) == ("exact", 1)


def test_a_cut_teaches_nothing(serve, ask):
    fake = serve(facts=True)
    with pytest.raises(Overflow):
        ask(fake, "so many words " * 200)
    _, learned = ask(fake, QUESTIONS[0])
    assert learned == 1


def test_server_that_renders_prompts_calibrates_template_immediately(serve, ask):
    fake = serve(facts=True, old=False, window=4096)
    count, learned = ask(fake, QUESTIONS[0])
    assert learned == 5, "the answer, and four chats that were only rendered"
    assert count.tokens == len(fake.calls[-1].prompt)
    assert len(fake.calls) == 1, "nothing was generated for it"
    assert len(fake.loads) == 1, "and nothing loaded"
    assert {body["options"]["num_ctx"] for path, body in fake.requests if path == "/api/chat"} == {4096}


def test_a_server_that_cannot_show_it_is_asked_once(serve, ask):
    fake = serve(facts=True)
    ask(fake, *QUESTIONS)
    probes = [body for path, body in fake.requests if body.get("_debug_render_only")]
    assert len(probes) == 1
    assert probes[0]["options"]["num_predict"] == 1


def give_less(fake, asked=8192):
    """The server is asked for more than it has, and says nothing about it."""
    fake.window = asked
    return fake


@pytest.mark.parametrize("facts", [True, False])
def test_truncation_far_below_window_is_detected_after_similar_requests(serve, ask, facts):
    fake = give_less(serve(facts=facts, window=700))
    _, learned = ask(fake, *QUESTIONS)
    assert learned == len(QUESTIONS), "none of them was cut, and none was taken for it"
    with pytest.raises(Overflow, match="cut the request to 700 "):
        ask(fake, "so many words " * 400)


def test_until_then_too_few_tokens_prove_nothing(serve, ask):
    fake = give_less(serve(facts=True, window=700))
    _, learned = ask(fake, *QUESTIONS[:3], "so many words " * 400)
    assert learned == 3


@pytest.mark.parametrize("real", [2048, 4096])
def test_truncation_to_common_window_size_is_detected_on_first_request(serve, ask, real):
    with pytest.raises(Overflow):
        ask(give_less(serve(facts=True, window=real)), "so many words " * 2000)


class ReportingServer:
    """An Ollama that reports what it is told to, and what is made of that."""

    def __init__(self, folder, window=8192):
        self._folder, self._window = folder, window

    def cuts(self, *turns):
        """For each pair of messages and a number of tokens, whether it was taken for a cut."""

        async def main():
            provider, found = ScriptedProvider(), []
            provider.dialect = "ollama"
            with open_store(f"sqlite:///{self._folder / 'db'}") as store:
                models = ModelRegistry(store, self._folder)
                for messages, reported in turns:
                    request = ChatRequest("scripted", tuple(messages))
                    expected = await estimate_of(models, provider, request)
                    watch = models.watch(provider, request, self._window, expected)
                    try:
                        await watch.see(Usage(prompt=reported))
                        found.append(False)
                    except Overflow:
                        found.append(True)
                    watch.close()
                await models.aclose()
            return found

        return asyncio.run(main())


WORDS = "Tell me something about gardens, rivers and towns. "


def turns_of(count, *more, words=1):
    talk = [Message.of("user" if at % 2 == 0 else "assistant", WORDS * words) for at in range(count)]
    return [*talk, *more]


def cost(messages):
    return sum(5 + 10 * message.text.count(WORDS) for message in messages) + 10


def lessons(count=3):
    """Chats with a history, each reported as it is."""
    return [(talk, cost(talk)) for talk in (turns_of(count, words=words) for words in range(1, 13))]


def test_a_template_that_drops_the_history_is_no_cut(tmp_path):
    single = [([Message.of("user", WORDS * words)], 15 + 10 * words) for words in range(1, 13)]
    talks = [(turns_of(count, words=10), 115) for count in range(3, 40, 2)]
    assert not any(ReportingServer(tmp_path).cuts(*single, *talks))


def test_a_template_that_drops_the_instructions_is_no_cut(tmp_path):
    long = Message.of("system", "Be kind to everybody you meet, whatever they may say. " * 100)
    talks = [([long, *turns_of(3, words=words)], cost(turns_of(3, words=words))) for words in range(1, 13)]
    assert not any(ReportingServer(tmp_path).cuts(*lessons(), *talks))


def test_thinking_and_pictures_prove_nothing(tmp_path):
    thought = Message("assistant", (Thinking(WORDS * 60), Text("So be it.")))
    seen = Message("user", (Text(WORDS * 60), Image(data="iVBORw0KGgo=")))
    told = Message.of("user", WORDS * 60)
    reporting = ReportingServer(tmp_path)
    assert not any(reporting.cuts(*lessons()))
    assert reporting.cuts((turns_of(3, told), 300)) == [True], "so few would be a cut"
    assert reporting.cuts((turns_of(3, thought), 300), (turns_of(3, seen), 300)) == [False, False]


def test_answers_that_end_at_once_all_teach_the_next_count(tmp_path):
    talks = [turns_of(count) for count in (1, 3, 5, 7)]

    async def main():
        provider = ScriptedProvider()
        with open_store(f"sqlite:///{tmp_path / 'db'}") as store:
            models, expected = ModelRegistry(store, tmp_path), Estimate(20, 1, 8000)
            for talk in talks:
                watch = models.watch(provider, ChatRequest("scripted", tuple(talk)), 8192, expected)
                await watch.see(Usage(prompt=cost(talk)))
                watch.close()
            counter = await models.counters.counter(provider, "scripted")
            learned = len(counter.calibration.samples)
            await models.aclose()
            kept = await ModelRegistry(store, tmp_path).counters.counter(provider, "scripted")
            return learned, len(kept.calibration.samples)

    assert asyncio.run(main()) == (len(talks), len(talks))


def test_what_is_being_learned_at_the_end_is_kept(tmp_path):
    talk = turns_of(3)

    async def main():
        provider = ScriptedProvider()
        with open_store(f"sqlite:///{tmp_path / 'db'}") as store:
            models = ModelRegistry(store, tmp_path)
            watch = models.watch(provider, ChatRequest("scripted", tuple(talk)), 8192, Estimate(20, 1, 8000))
            await watch.see(Usage(prompt=cost(talk)))
            watch.close()
            await models.aclose()
            kept = await ModelRegistry(store, tmp_path).counters.counter(provider, "scripted")
            return len(kept.calibration.samples)

    assert asyncio.run(main()) == 1
