"""What an embedder is: texts in, vectors out, and a name for the space those vectors live in.

Knows no model and no server.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.messages import canonical

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose vectors these are. Only vectors of equal identity may be compared.

    `endpoint` is the server's address without any password; empty for what runs in a process of ours.
    """

    provider: str
    model: str
    dimensions: int
    endpoint: str = ""

    @property
    def key(self) -> str:
        """A short name for it, the same on every machine and in every version."""
        return hashlib.sha256(canonical(astuple(self)).encode()).hexdigest()[:16]

    def __str__(self) -> str:
        return f"{self.model} ({self.endpoint or self.provider})"


class Embedder(Protocol):
    """May be used by several threads at once. Whatever goes wrong is an EmbedderError with its remedy."""

    @property
    def identity(self) -> Identity: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of length one for each text, in their order."""

    def rest(self) -> bool:
        """Let go of what comes back with the next text, such as a process; whether there was anything."""

    def close(self) -> None: ...
