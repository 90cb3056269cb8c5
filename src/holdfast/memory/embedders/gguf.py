"""A model of one's own: a GGUF file with an embedding model, in a process of ours with llama.cpp.

Nothing is fetched for it. Knows what the file says of itself and how the worker is asked, no more.
"""

import hashlib
import importlib.util
import sys
from pathlib import Path
from typing import Self

from holdfast.errors import EmbedderError
from holdfast.memory.embedders.base import EmbedderIdentity
from holdfast.memory.embedders.prompts import EmbeddingPrompts, parse_prompts
from holdfast.memory.embedders.worked import SubprocessEmbedder
from holdfast.memory.embedders.worker import WorkerProcess
from holdfast.tokens.gguf import VocabularyError, read_metadata

GGUF_PACKAGE = "xllamacpp"

# More than one piece of a text has, whatever it is written in.
_WINDOW = 2_048
# A file is known by its beginning, where it says what it is, its end and its size: to read gigabytes for
# that at every start would take too long.
_READ = 1 << 20


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
        # -P: a file called json.py in the current folder is none of our business.
        command = [sys.executable, "-P", "-m", "holdfast.memory.embedders.gguf_worker"]
        command += ["--model", str(path), "--window", str(window)]
        worker = WorkerProcess(command, label=f"llama.cpp with {path.name}", log=log, seconds=seconds)
        super().__init__(identity, worker, prompts)

    @classmethod
    def open(cls, path: Path, *, log: Path, seconds: float = 300.0, prompts: str = "") -> Self:
        """Reads what the file says of itself; nothing is started yet. `prompts` is the setting."""
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
    """Other weights under the same name make other vectors."""
    with path.open("rb") as file:
        size = path.stat().st_size
        read = file.read(_READ)
        file.seek(max(0, size - _READ))
        return hashlib.sha256(b"%d %b %b" % (size, read, file.read(_READ))).hexdigest()[:8]
