"""Nearest by meaning: a seam, the one that needs no server, and those who have one.

The store keeps every vector; whatever else finds them follows it, and can be thrown away and filled again.
"""

from holdfast.memory.searching.vectors.base import VectorIndex
from holdfast.memory.searching.vectors.stored import StoredVectors

__all__ = ["StoredVectors", "VectorIndex"]
