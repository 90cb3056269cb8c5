"""The surest way to count that there is: the model's vocabulary, then the server, then an estimate."""

import asyncio

import pytest

from holdfast.errors import UpstreamError
from holdfast.messages import ChatRequest, Message
from holdfast.store import open_store
from holdfast.testing.provider import ScriptedProvider
from holdfast.tokens.counter import Count
from holdfast.tokens.tokenizer import Tokenizer
from holdfast.tokens.vocabulary import Vocabulary
from holdfast.upstreams.models import ModelRegistry

TEXT = "Straße Nr. 7, and some more words"
REQUEST = ChatRequest("scripted", (Message.of("user", TEXT),))


class Server(ScriptedProvider):
    """Cuts texts at blanks if it `cuts`, and counts whole requests by words if it `counts`."""

    def __init__(self, *, cuts=False, counts=False, **rest):
        super().__init__(**rest)
        self.cuts, self.counts = cuts, counts

    async def tokenize(self, model, text):
        return list(range(len(text.split()))) if self.cuts else None

    async def count(self, request):
        return await super().count(request) if self.counts else None


@pytest.fixture
def count_both(tmp_path):
    """What `provider` makes of the text alone and of the whole request."""

    async def main(provider):
        with open_store(f"sqlite:///{tmp_path / 'db'}") as store:
            models = ModelRegistry(store, tmp_path)
            text = await models.counters.count_text(provider, "scripted", TEXT)
            whole = await models.counters.count_request(provider, REQUEST)
            await models.aclose()
            return text, whole

    return lambda provider: asyncio.run(main(provider))


def test_a_vocabulary_is_exact(count_both, weights):
    vocabulary = Vocabulary.from_gguf(weights)
    text, whole = count_both(Server(cuts=True, vocabulary=vocabulary))
    exact = Tokenizer(vocabulary).count(TEXT)
    assert (text.tokens, text.method) == (exact, "exact")
    assert whole.method == "exact"
    assert whole.tokens > exact, "a template adds something"


def test_a_server_that_counts_is_believed(count_both):
    text, whole = count_both(Server(cuts=True, counts=True))
    assert text == Count.from_server(7, "scripted at scripted:")
    assert whole == Count.from_server(7, "scripted at scripted:")


def test_otherwise_it_is_an_estimate_with_bounds(count_both):
    for count in count_both(Server()):
        assert count.method == "estimate"
        assert count.low < count.tokens < count.high


def test_a_missing_route_for_counting_means_an_estimate(count_both):
    class Without(Server):
        async def tokenize(self, model, text):
            raise UpstreamError("404 page not found", status=404)

    text, _whole = count_both(Without())
    assert text.method == "estimate"
    assert 0 < text.low <= text.tokens <= text.high
