"""Servers that speak the protocols of Gemini, Voyage and OpenAI for embeddings, for tests and demonstrations.

    with FakeGemini(key="secret").served() as url: ...

They have the limits of the real ones and refuse in their words. Vectors are those of the hashing embedder, so
that texts with common words are near to each other; batch jobs go as far as they are told to.
"""

from holdfast.memory.embedders.fakes.gemini import FakeGemini
from holdfast.memory.embedders.fakes.jobs import FakeJobs, FakeJobState
from holdfast.memory.embedders.fakes.openai import FakeOpenAI
from holdfast.memory.embedders.fakes.voyage import FakeVoyage

__all__ = ["FakeGemini", "FakeJobState", "FakeJobs", "FakeOpenAI", "FakeVoyage"]
