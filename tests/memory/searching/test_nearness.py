"""Nearness by meaning counts the same on every embedder's scale, and more where the embedder knows more."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.memory.embedders.base import Identity
from holdfast.memory.searching.nearness import meaning_weight, standardise

# As fine as vectors of single precision tell it.
NEAR = st.lists(st.integers(-9_999, 9_999).map(lambda near: near / 10_000), min_size=2, max_size=30).filter(
    lambda near: np.std(near) > 1e-3
)


@given(NEAR, st.floats(0.01, 3), st.floats(-1, 1))
def test_the_scale_of_an_embedder_makes_no_difference(near, stretch, shift):
    column = np.array(near)
    assert standardise(column * stretch + shift) == pytest.approx(standardise(column), abs=1e-6)
    assert (np.argsort(standardise(column), kind="stable") == np.argsort(column, kind="stable")).all()


def test_what_nobody_can_tell_stays_unknown():
    column = standardise(np.array([0.2, np.nan, 0.4]))
    assert np.isnan(column).tolist() == [False, True, False]
    assert np.isnan(standardise(np.array([np.nan]))).all()
    assert standardise(np.array([0.3, 0.3])).tolist() == [0.35, 0.35]


def test_who_knows_more_counts_more():
    hashing = meaning_weight(Identity("hashing", "terms", 256))
    inside = meaning_weight(Identity("embedded", "use-multilingual-3", 512))
    served = meaning_weight(Identity("ollama", "embeddinggemma", 768, "http://127.0.0.1:11434"))
    assert 0 < hashing < inside < served
