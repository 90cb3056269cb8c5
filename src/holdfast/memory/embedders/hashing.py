"""An embedder for tests: texts with common words are near to each other, and nothing else is known of them.

Needs no model and no process, and gives the same vectors everywhere.
"""

import hashlib
from collections.abc import Sequence

import numpy as np

from holdfast.memory.embedders.base import EmbedderIdentity, Vectors
from holdfast.memory.embedders.checked import ValidatedEmbedder
from holdfast.words import terms


class HashingEmbedder(ValidatedEmbedder):
    """Each term of a text goes to one of the dimensions, up or down; both are told by its hash."""

    longest = 100_000
    batch = 256

    def __init__(self, dimensions: int = 256) -> None:
        super().__init__(EmbedderIdentity("hashing", "terms", dimensions))

    def close(self) -> None:
        """There is nothing to let go of."""

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.identity.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for term in terms(text):
                digest = hashlib.sha256(term.encode()).digest()
                place = int.from_bytes(digest[:8]) % len(row)
                row[place] += 1 if digest[8] % 2 else -1
            if not row.any():
                # No terms, or terms that undo each other.
                row[0] = 1
        return rows
