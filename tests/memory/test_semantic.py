"""Nearness of every embedder comes onto one scale, in its order, and is weighed by what it knows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.memory.embedders import EmbedderIdentity
from holdfast.memory.semantic import (
    REFERENCE_NEARNESS,
    has_common_scale,
    mean_nearness,
    meaning_factor,
    rescale,
    soft_maximum,
)

E5 = EmbedderIdentity("ollama", "e5-small", 4)
INSIDE = EmbedderIdentity("embedded", "use-multilingual-3", 512)
VALUES = st.lists(st.integers(-1000, 1000).map(lambda value: value / 1000), min_size=2, max_size=50)


@given(VALUES, st.floats(0.0, 0.95))
def test_rescaling_keeps_order_and_maps_usual_to_reference(values, usual):
    moved = rescale(np.array(values), usual)
    assert np.all(np.diff(moved[np.argsort(values, kind="stable")]) >= -1e-9)
    assert rescale(usual, usual) == pytest.approx(REFERENCE_NEARNESS)
    assert rescale(1.0, usual) == pytest.approx(1.0)


def test_uniform_embedder_considers_nothing_near():
    same = np.ones((3, 4), np.float32) / 2
    assert mean_nearness(same) == pytest.approx(1.0)
    assert rescale(0.9, 1.0) == 0.0


def test_transformer_outweighs_built_in_encoder_and_hashing_weighs_less():
    hashing = EmbedderIdentity("hashing", "words", 64)
    assert meaning_factor(hashing) < meaning_factor(INSIDE) == 1 < meaning_factor(E5)
    assert [has_common_scale(each) for each in (hashing, INSIDE, E5)] == [True, True, False]


def test_many_near_examples_outweigh_one_that_is_slightly_nearer():
    many, single = np.array([0.45, 0.44, 0.43, 0.1]), np.array([0.48, 0.1, 0.1, 0.1])
    assert soft_maximum(many) > soft_maximum(single) > soft_maximum(single - 0.1)
