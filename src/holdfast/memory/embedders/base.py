"""What an embedder is: texts in, vectors out, and a name for the space those vectors live in.

Some servers also take many texts as one job and do them in their own time. Knows no model and no server.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import EmbedderError
from holdfast.messages import canonical

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Whose vectors these are. Only vectors of equal identity may be compared.

    `endpoint` is the server's address without any password; empty for what runs in a process of ours.
    `prompts` is what texts and questions are sent with: without it the same words have other vectors.
    """

    provider: str
    model: str
    dimensions: int
    endpoint: str = ""
    prompts: str = ""

    @property
    def key(self) -> str:
        """A short name for it, the same on every machine and in every version."""
        parts = astuple(self)
        # Vectors from before there were prompts are still those of a model that gets none.
        return hashlib.sha256(canonical(parts if self.prompts else parts[:-1]).encode()).hexdigest()[:16]

    def __str__(self) -> str:
        return f"{self.model} ({self.endpoint or self.provider})"


class EmbedderBusy(EmbedderError):
    """It cannot be asked at the moment: nobody is there, or it has too much to do. No text is to blame."""


class BatchJobGone(EmbedderError):
    """The server knows nothing of what it was asked about."""


@dataclass(frozen=True, slots=True)
class BatchJob:
    """How far a job is that was handed in. `output` are the files with what came of it so far.

    `trouble` is why it ended without all of it; `litter` are the files that are of no use afterwards.
    """

    over: bool = False
    trouble: str = ""
    output: tuple[str, ...] = ()
    litter: tuple[str, ...] = ()


class BatchApi(Protocol):
    """A server's way of making many vectors in its own time, for less money than at once."""

    # Texts in one job.
    most: int

    def submit(self, texts: Mapping[str, str]) -> str:
        """Hand in texts, each by a name; the job is named by the answer. Nothing is tried twice."""

    def look(self, job: str) -> BatchJob:
        """How far it is. Gone if the server does not know it."""

    def rows(self, job: BatchJob) -> Iterator[tuple[str, Any]]:
        """The numbers for each text that has some, by its name, as they came."""

    def cancel(self, job: str) -> None:
        """It is not needed any more."""

    def tidy(self, job: BatchJob) -> None:
        """Take away its files, which have people's notes in them."""


class Embedder(Protocol):
    """May be used by several threads at once. Whatever goes wrong is an EmbedderError with its remedy."""

    @property
    def identity(self) -> EmbedderIdentity: ...

    @property
    def batches(self) -> BatchApi | None:
        """Its way of doing many texts as one job, if it has one."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of length one for each text, in their order: for what is kept and found."""

    def question(self, text: str) -> Vectors:
        """The row for what is asked. Some models make another one of it than of the same words in a text."""

    def rest(self) -> bool:
        """Let go of what comes back with the next text, such as a process; whether there was anything."""

    def close(self) -> None: ...
