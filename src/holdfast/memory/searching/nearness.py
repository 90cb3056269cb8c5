"""How much nearness by meaning is worth beside words, whatever embedder it comes from.

Embedders differ in their scales: of texts that have nothing to do with each other one model says 0.2 and
another 0.75, and what is near is 0.45 there and 0.82 here. And they differ in how well they know. So nearness
is counted in standard deviations from what is usual for the question, and weighed by the kind of embedder.
Works on numbers; evals/results/retrieval.md has how they were come by.
"""

import numpy as np
from numpy.typing import NDArray

from holdfast.memory.embedders.base import Identity

# On this scale the nearness of most texts to a question was, with the embedder inside: its middle and spread.
_USUAL = 0.35
_SPREAD = 0.12
# The one inside averages over words; terms that are merely hashed say little that words have not said before.
_WEIGHTS = {"embedded": 0.5, "hashing": 0.25}
_TRANSFORMER = 0.75


def meaning_weight(identity: Identity) -> float:
    """What nearness on the common scale is worth, own words being 1."""
    return _WEIGHTS.get(identity.provider, _TRANSFORMER)


def standardise(near: NDArray[np.float64]) -> NDArray[np.float64]:
    """Nearness to one question on the scale that all embedders share; no number stays no number."""
    known = near[~np.isnan(near)]
    spread = float(known.std()) if known.size else 0.0
    if not spread:
        return np.where(np.isnan(near), near, _USUAL)
    scaled: NDArray[np.float64] = _USUAL + _SPREAD * (near - known.mean()) / spread
    return scaled
