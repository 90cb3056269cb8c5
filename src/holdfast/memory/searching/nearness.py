"""Nearness by meaning on one scale, whatever embedder it comes from.

Embedders differ in their scales: of texts that have nothing to do with each other one model says 0.2 and
another 0.75, and what is near is 0.45 there and 0.82 here. What is usual between unrelated questions is
measured for each, and moved to what the encoder inside says of them, for which all thresholds and weights
were fitted. And they differ in how well they know, which `meaning_factor` tells. Works on numbers;
evals/results/retrieval.md has how they were come by.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast.memory.embedders.base import EmbedderIdentity, Vectors

# Nobody who asks the one wants to know the other.
UNRELATED = (
    "Wie binde ich eine Krawatte?",
    "What time does the museum open?",
    "Schreib einen Test für den Parser",
    "Who won the match last night?",
    "Welche Steuerklasse habe ich nach der Hochzeit?",
    "How deep is the ocean?",
    "Der Drucker meldet einen Papierstau",
    "My cat refuses to eat",
)
# How near these are on average by the encoder inside, for which thresholds were measured.
REFERENCE_NEARNESS = 0.117
# Beside the encoder inside, which averages over words: terms that are merely hashed say little that words
# have not
# said before, a transformer says more.
_FACTORS = {"embedded": 1.0, "hashing": 0.5}
_TRANSFORMER = 1.5

Nearness = TypeVar("Nearness", float, NDArray[np.float64])


def meaning_factor(identity: EmbedderIdentity) -> float:
    """What nearness on the common scale is worth, that of the encoder inside being 1."""
    return _FACTORS.get(identity.provider, _TRANSFORMER)


def has_common_scale(identity: EmbedderIdentity) -> bool:
    """Whether an embedder's nearness is on the scale of the encoder inside anyway."""
    return identity.provider in _FACTORS


def mean_nearness(vectors: Vectors) -> float:
    """How near the vectors of unrelated questions are to each other, on average."""
    count = len(vectors)
    products = vectors @ vectors.T
    return float((products.sum() - np.trace(products)) / (count * (count - 1)))


def rescale(near: Nearness, usual: float) -> Nearness:
    """A nearness by some embedder as the encoder inside would have it."""
    if usual >= 1.0:
        # To this embedder all texts are the same.
        return near * 0.0
    return REFERENCE_NEARNESS + (1 - REFERENCE_NEARNESS) * (near - usual) / (1 - usual)
