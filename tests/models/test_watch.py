"""A server's own count teaches the counter, or shows that the server cut a request and told nobody."""

import asyncio
from contextlib import ExitStack

import pytest

from holdfast.errors import Overflow
from holdfast.messages import ChatRequest, Message
from holdfast.models.knowledge import Models
from holdfast.providers.discovery import connect
from holdfast.providers.fake_ollama import FakeModel, FakeOllama
from holdfast.store import open_store
from holdfast.tokens.tokenizer import Tokenizer
from holdfast.tokens.vocabulary import Vocabulary

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def vocabulary(weights) -> Vocabulary:
    return Vocabulary.from_gguf(weights)


@pytest.fixture
def serve(vocabulary):
    """An Ollama of the old kind, which cuts silently; it counts with SmolLM2's tokens."""
    tokenizer = Tokenizer(vocabulary)
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


@pytest.fixture
def ask(tmp_path):
    """Sends texts one after the other; gives what the counter says of the last one afterwards."""

    async def main(fake, texts):
        with open_store(f"sqlite:///{tmp_path / 'db'}") as store:
            models, provider = Models(store, tmp_path), await connect(fake.address)
            try:
                await models.vocabularies.tokenizer(provider, "fake")
                for text in texts:
                    request = ChatRequest(
                        "fake", (Message.of("user", text),), options={"num_ctx": fake.window}
                    )
                    watch = models.watch(provider, request, fake.window)
                    try:
                        async for chunk in provider.chat(request):
                            await watch.see(chunk)
                    finally:
                        await watch.close()
                counter = await models.counters.counter(provider, "fake")
                return counter.count_request(request), len(counter.calibration.answers)
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


def test_a_cut_teaches_nothing(serve, ask):
    fake = serve(facts=True)
    with pytest.raises(Overflow):
        ask(fake, "so many words " * 200)
    _, learned = ask(fake, QUESTIONS[0])
    assert learned == 1


def test_a_server_that_shows_what_it_renders_teaches_its_template_at_once(serve, ask):
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
