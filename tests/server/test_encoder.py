"""The encoder behind `use-multilingual`: the one of memories where they use it, one of its own otherwise."""

import pytest

from holdfast.memory.embedder_choice import ChosenEmbedder, EmbedderOptions
from holdfast.server.embeddings import DIMENSIONS, EmbeddedEncoder

pytestmark = pytest.mark.anyio


async def test_there_is_one_process_for_memories_and_clients(tmp_path):
    chosen = ChosenEmbedder(EmbedderOptions("embedded", log=tmp_path / "chosen.log"))
    encoder = EmbeddedEncoder(chosen, tmp_path / "own.log")
    try:
        assert (await encoder.embed(["Hello"])).shape == (1, DIMENSIONS)
        assert chosen.ready() is not None, "it was the one of memories that answered"
        assert not (tmp_path / "own.log").exists()
    finally:
        await encoder.close()
        chosen.close()


async def test_without_memories_it_has_a_process_of_its_own(tmp_path):
    encoder = EmbeddedEncoder(ChosenEmbedder(EmbedderOptions("off")), tmp_path / "own.log")
    try:
        assert (await encoder.embed([])).shape == (0, DIMENSIONS)
        assert not (tmp_path / "own.log").exists(), "nothing is started for nothing"
        assert (await encoder.embed(["Hello", ""])).shape == (2, DIMENSIONS)
        assert (tmp_path / "own.log").exists()
    finally:
        await encoder.close()
