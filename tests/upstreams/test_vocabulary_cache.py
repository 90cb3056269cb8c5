"""Vocabularies are fetched once, kept on disk, and never stand in the way of a request."""

import asyncio

import pytest

from holdfast.testing.provider import ScriptedProvider
from holdfast.tokens.vocabulary import Vocabulary, VocabularyError
from holdfast.upstreams.base import ModelInfo
from holdfast.upstreams.models import VocabularyCache

TEXT = "Straße 7"


class CountingProvider(ScriptedProvider):
    """Remembers how often it was asked for its vocabulary, and may give a bad one."""

    def __init__(self, vocabulary, *, broken=False):
        models = [ModelInfo("scripted", digest="sha256:abc"), ModelInfo("other")]
        super().__init__(models=models, vocabulary=vocabulary)
        self.asked = 0
        self.broken = broken

    async def vocabulary(self, model):
        self.asked += 1
        if self.broken:
            raise VocabularyError("merge 7 does not join two tokens")
        return await super().vocabulary(model)


@pytest.fixture(scope="module")
def vocabulary(weights) -> Vocabulary:
    return Vocabulary.from_gguf(weights)


def test_nobody_waits_and_the_next_one_finds_it(tmp_path, vocabulary):
    async def main():
        known, provider = VocabularyCache(tmp_path), CountingProvider(vocabulary)
        assert known.at_hand(provider, "scripted") is None
        tokenizer = await known.tokenizer(provider, "scripted")
        assert known.at_hand(provider, "scripted") is tokenizer
        return tokenizer.count(TEXT), provider.asked

    count, asked = asyncio.run(main())
    assert count > 0
    assert asked == 1


def test_restart_loads_vocabulary_from_disk_and_refetches_damaged_file(tmp_path, vocabulary):
    def fetch_count():
        async def main():
            provider = CountingProvider(vocabulary)
            tokenizer = await VocabularyCache(tmp_path).tokenizer(provider, "scripted")
            return provider.asked, tokenizer.count(TEXT)

        return asyncio.run(main())

    first, again = fetch_count(), fetch_count()
    assert (first[0], again[0]) == (1, 0)
    assert first[1] == again[1]
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:1000])
    assert fetch_count() == first


def test_unusable_vocabulary_is_explained_and_not_fetched_again(tmp_path):
    async def main():
        known, provider = VocabularyCache(tmp_path), CountingProvider(None, broken=True)
        assert await known.tokenizer(provider, "scripted") is None
        assert known.at_hand(provider, "scripted") is None
        return known.why_not(provider, "scripted"), provider.asked

    assert asyncio.run(main()) == ("merge 7 does not join two tokens", 1)


def test_a_server_that_keeps_it_to_itself_is_said_to(tmp_path):
    async def main():
        known, provider = VocabularyCache(tmp_path), CountingProvider(None)
        assert await known.tokenizer(provider, "scripted") is None
        return known.why_not(provider, "scripted")

    assert "does not give" in asyncio.run(main())


def test_a_model_that_is_missing_may_be_there_next_time(tmp_path, vocabulary):
    async def main():
        known, provider = VocabularyCache(tmp_path), CountingProvider(vocabulary)
        assert await known.tokenizer(provider, "nobody") is None
        return known.why_not(provider, "nobody")

    assert asyncio.run(main()) == ""


def test_a_folder_that_cannot_be_written_costs_nothing_but_a_fetch(tmp_path, vocabulary):
    (tmp_path / "file").write_text("in the way")

    async def main():
        return await VocabularyCache(tmp_path / "file").tokenizer(CountingProvider(vocabulary), "scripted")

    assert asyncio.run(main()) is not None


def test_closing_ends_what_is_being_loaded(tmp_path, vocabulary):
    async def main():
        known = VocabularyCache(tmp_path)
        known.at_hand(CountingProvider(vocabulary), "scripted")
        await known.aclose()

    asyncio.run(main())
