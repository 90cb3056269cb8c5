"""Answers of embedders are verified in one place: what is no good is refused with its remedy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from holdfast.errors import EmbedderError
from holdfast.memory.embedder_local import HashingEmbedder
from holdfast.memory.embedders import EmbedderIdentity, ValidatedEmbedder, validate_vectors

HERE = EmbedderIdentity("ollama", "small", 3, "http://127.0.0.1:11434")
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (None, "nothing"),
        ([], "nothing"),
        ([[], []], "nothing"),
        ([[1, 2, 3]], "1 vectors for 2 texts"),
        ([[1, 2, 3]] * 3, "3 vectors for 2 texts"),
        ([[1, 2], [3, 4]], "2 dimensions in the place of 3"),
        ([[1, 2, 3], [1, 2]], "no table of numbers"),
        ([1, 2, 3], "no table of numbers"),
        ([["a", "b", "c"]] * 2, "no table of numbers"),
        ([{"a": 1}] * 2, "no table of numbers"),
        ([[[1, 2, 3]]] * 2, "no table of numbers"),
        ("vectors", "no table of numbers"),
        ([[1, 2, 10**400]] * 2, "no table of numbers"),
        ([[1, 2, 3], [1, NAN, 3]], "NaN or infinite"),
        ([[1, 2, 3], [1, None, 3]], "NaN or infinite"),
        ([[1, 2, 3], [1, INF, 3]], "NaN or infinite"),
        ([[0, 0, 0]] * 2, "zeros"),
        ([[1, 2, 3], [0, 0, 0]], "zeros"),
    ],
)
def test_invalid_vectors_are_rejected_with_embedder_name_and_remedy(answer, says):
    with pytest.raises(EmbedderError, match="small") as caught:
        validate_vectors(answer, 2, HERE)
    assert says in caught.value.message
    assert caught.value.hint


@settings(max_examples=50)
@given(arrays(np.float64, (2, 3), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_whatever_is_numbers_and_not_zero_comes_out_with_length_one(rows):
    if not rows.any(axis=1).all():
        with pytest.raises(EmbedderError):
            validate_vectors(rows, 2, HERE)
    else:
        assert np.linalg.norm(validate_vectors(rows, 2, HERE), axis=1) == pytest.approx([1, 1], abs=1e-5)


class RecordingEmbedder(ValidatedEmbedder):
    longest = 10
    batch = 2

    def __init__(self):
        super().__init__(HERE)
        self.asked = []

    def _vectors(self, texts):
        self.asked.append(list(texts))
        return [[1.0, 2.0, 3.0]] * len(texts)

    def close(self):
        pass


def test_an_empty_list_costs_nothing():
    embedder = RecordingEmbedder()
    assert embedder.embed([]).shape == (0, 3)
    assert embedder.asked == []


def test_texts_go_out_in_batches_cut_and_with_real_characters_only():
    embedder = RecordingEmbedder()
    embedder.embed(["  short ", "longer than ten", "", "half \ud800", "last"])
    assert embedder.asked == [["short", "longer tha"], [".", "half ?"], ["last"]]


def test_identities_differ_by_everything_that_changes_vectors():
    others = [
        EmbedderIdentity("openai", "small", 3, "http://127.0.0.1:11434"),
        EmbedderIdentity("ollama", "large", 3, "http://127.0.0.1:11434"),
        EmbedderIdentity("ollama", "small", 4, "http://127.0.0.1:11434"),
        EmbedderIdentity("ollama", "small", 3, "http://127.0.0.1:11435"),
    ]
    assert len({HERE.key, *(other.key for other in others)}) == 5
    assert EmbedderIdentity("embedded", "use-multilingual-3", 512).key == "8a6364987d1dd0b9"


def test_hashing_is_the_same_everywhere():
    item, two = (
        HashingEmbedder(64).embed(["a note about arion"]),
        HashingEmbedder(64).embed(["a note about arion"]),
    )
    assert (item == two).all()
    assert np.flatnonzero(item[0]).tolist() == [22, 29]
