"""How near questions are to each other by their vectors, on one scale whatever embedder made them.

One embedder finds all texts far apart, another finds all of them near: what is usual between questions that
have nothing to do with each other is measured, and thresholds hold for every one of them. Pure.
"""

import numpy as np

from holdfast.memory.embedders.base import Vectors

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
MEASURED = 0.117


def usual_nearness(vectors: Vectors) -> float:
    """How near the vectors of unrelated questions are to each other, on average."""
    count = len(vectors)
    products = vectors @ vectors.T
    return float((products.sum() - np.trace(products)) / (count * (count - 1)))


def on_scale(near: float, usual: float) -> float:
    """A nearness by some embedder as the encoder inside would have it."""
    if usual >= 1.0:
        # To this embedder all texts are the same.
        return 0.0
    return MEASURED + (1 - MEASURED) * (near - usual) / (1 - usual)
