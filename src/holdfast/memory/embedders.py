"""What an embedder is, which prompts models want, and the base class that validates what they answer.

Prompts are chosen by the model's name, as servers and files spell it: `nomic-embed-text:latest`,
`hf.co/nomic-ai/nomic-embed-text-v1.5-GGUF:Q8_0`, `nomic-embed-text-v1.5.f16.gguf`. Models that were trained
with them find less without.
"""

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import ConfigError, EmbedderError
from holdfast.messages import canonical

Vectors = NDArray[np.float32]

PROMPTS_OFF = "off"
_TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
# How the setting begins, and what stands between its two halves. A prompt may have a bar of its own.
_HALVES = re.compile(r"(?:^|\|)(query|text)=")
# Servers refuse a text of nothing or answer it with zeros. This stands for it, and means as little.
_NOTHING = "."


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
    """The embedder cannot be asked at the moment: unreachable or overloaded. No text is to blame."""


class BatchJobGone(EmbedderError):
    """The server does not know the batch job."""


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
        """Release what the next text brings back, such as a process; returns whether there was anything."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class EmbeddingPrompts:
    """What goes before a question (`query`) and before a text that may answer it (`text`)."""

    query: str = ""
    text: str = ""

    def __str__(self) -> str:
        """As the setting writes it; empty where nothing is added. It tells prompts apart in an identity."""
        given = (("query", self.query), ("text", self.text))
        return "|".join(f"{name}={words}" for name, words in given if words).replace("\n", "\\n")


NO_PROMPTS = EmbeddingPrompts()

_SEARCH = EmbeddingPrompts(query="Represent this sentence for searching relevant passages: ")
_PREFIXES = EmbeddingPrompts("query: ", "passage: ")
_INSTRUCT = EmbeddingPrompts(f"{_TASK} ")

# What the models' cards say, the first that fits: a variant stands before its family.
_FAMILIES = tuple(
    (re.compile(rf"(?<![a-z0-9]){pattern}"), prompts)
    for pattern, prompts in (
        (r"nomic-embed-text|modernbert-embed", EmbeddingPrompts("search_query: ", "search_document: ")),
        (r"nomic-embed-code", EmbeddingPrompts("Represent this query for searching relevant code: ")),
        (r"e5-(?:[a-z0-9.]{1,20}-){0,6}instruct", _INSTRUCT),
        (r"e5-", _PREFIXES),
        (r"bge-(?:m3|multilingual|reranker|en-icl|code)", NO_PROMPTS),
        (r"bge-(?:[a-z]+-)?zh", EmbeddingPrompts("为这个句子生成表示以用于检索相关文章：")),
        (r"bge-", _SEARCH),
        (r"embedding-?gemma", EmbeddingPrompts("task: search result | query: ", "title: none | text: ")),
        # German and English; the others of the house are told what the sentence is for.
        (r"deepset-mxbai-embed-de", _PREFIXES),
        (r"mxbai-embed-(?:large|2d)", _SEARCH),
        (r"(?:snowflake-)?arctic-embed-?(?:2(?![0-9])|(?:[a-z]+-)?v2)", EmbeddingPrompts("query: ")),
        (r"(?:snowflake-)?arctic-embed", _SEARCH),
        # Without a space after the colon, unlike the others that are given an instruction.
        (r"qwen3-(?:vl-)?embedding", EmbeddingPrompts(_TASK)),
        (r"gte-qwen", _INSTRUCT),
        (r"jina-embeddings-v3", EmbeddingPrompts(
            "Represent the query for retrieving evidence documents: ",
            "Represent the document for retrieval: ",
        )),
        (r"jina-embeddings-v4", EmbeddingPrompts("Query: ", "Passage: ")),
        (r"jina-embeddings-v5", EmbeddingPrompts("Query: ", "Document: ")),
        (r"llama-(?:3\.2-)?(?:nv-embedqa|nemotron-embed)|nv-embedqa-e5", _PREFIXES),
    )
)  # fmt: skip


def prompts_for(*names: str) -> EmbeddingPrompts:
    """What the model with one of these names wants; nothing for one that is not known, or wants nothing."""
    for name in names:
        # The organisation before a name may be called like a family that the model is none of.
        plain = re.sub(r"[_\s]", "-", name.lower().rpartition("/")[2])
        for pattern, prompts in _FAMILIES:
            if pattern.search(plain):
                return prompts
    return NO_PROMPTS


def parse_prompts(setting: str, *names: str) -> EmbeddingPrompts:
    r"""What the setting says: `off`, or `query=…|text=…` with `\n` for a new line. Empty: by the names."""
    if not setting.strip():
        return prompts_for(*names)
    if setting.strip() == PROMPTS_OFF:
        return NO_PROMPTS
    halves = _HALVES.split(setting)
    given = dict(zip(halves[1::2], halves[2::2], strict=True))
    if halves[0].strip() or len(given) != len(halves) // 2:
        raise ConfigError(
            f"embedder_prompts is {setting!r}.",
            hint="Write off, or what goes before each, like query=search_query: |text=search_document: .",
        )
    return EmbeddingPrompts(**{name: words.replace("\\n", "\n") for name, words in given.items()})


class ValidatedEmbedder(ABC):
    """An embedder whose answers can be relied on: as many as asked for, all numbers, of length one.

    Of a text that is longer than `longest` characters, only its beginning is read. At most `batch` texts with
    `together` characters in all go out at once. `prompts` is what the model wants before each; the identity
    has it, too.
    """

    longest: int = 4_000
    batch: int = 16
    together: int = 1_000_000

    def __init__(self, identity: EmbedderIdentity, prompts: EmbeddingPrompts = NO_PROMPTS) -> None:
        self._identity = identity
        self._prompts = prompts

    @property
    def identity(self) -> EmbedderIdentity:
        return self._identity

    @property
    def batches(self) -> BatchApi | None:
        """No batch jobs by default."""
        return None

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._embed_parts(texts, self._vectors, self._prompts.text)

    def question(self, text: str) -> Vectors:
        return self._embed_parts([text], self._vectors, self._prompts.query)

    def rest(self) -> bool:
        """Nothing to release by default."""
        return False

    @abstractmethod
    def _vectors(self, texts: Sequence[str]) -> Any:
        """Rows of numbers for at most `batch` texts, as they came."""

    @abstractmethod
    def close(self) -> None: ...

    def _embed_parts(
        self, texts: Sequence[str], ask: Callable[[Sequence[str]], Any], prompt: str = ""
    ) -> Vectors:
        parts = [
            validate_vectors(ask(part), len(part), self._identity) for part in self._parts(texts, prompt)
        ]
        return np.concatenate(parts) if parts else np.empty((0, self._identity.dimensions), np.float32)

    def _parts(self, texts: Sequence[str], prompt: str) -> Iterator[list[str]]:
        part: list[str] = []
        for text in (prompt + self._fit(text) for text in texts):
            full = len(part) == self.batch or sum(map(len, part)) + len(text) > self.together
            if part and full:
                yield part
                part = []
            part.append(text)
        if part:
            yield part

    def _fit(self, text: str) -> str:
        return prepare_text(text, self.longest)


def prepare_text(text: str, longest: int) -> str:
    """The beginning of a text, with nothing in it that cannot be sent, and never nothing at all."""
    return text[:longest].encode("utf-8", "replace").decode().strip() or _NOTHING


def validate_vectors(answer: Any, count: int, identity: EmbedderIdentity) -> Vectors:
    """The vectors in an answer, each brought to length one; EmbedderError if it is no good answer."""
    try:
        rows = np.asarray([] if answer is None else answer, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise _bad_answer(identity, "something that is no table of numbers") from None
    if rows.ndim != 2 or rows.size == 0:
        raise _bad_answer(identity, "nothing" if rows.size == 0 else "something that is no table of numbers")
    if len(rows) != count:
        raise _bad_answer(identity, f"{len(rows)} vectors for {count} texts")
    if rows.shape[1] != identity.dimensions:
        raise EmbedderError(
            f"{identity} answered with {rows.shape[1]} dimensions in the place of {identity.dimensions}.",
            hint="The model behind this name has changed: start Holdfast anew, and the index is built again.",
        )
    if not np.isfinite(rows).all():
        raise _bad_answer(identity, "numbers that are none (NaN or infinite)")
    # By the largest number first: the square of a very small or very large one has no place in a float.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    if not largest.all():
        raise _bad_answer(identity, "zeros")
    scaled = rows / largest
    unit: Vectors = (scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).astype(np.float32)
    return unit


def dimensions_of(answer: Any, wanted: int = 0) -> int:
    """How long the first row of an answer is; 0 where there is none, which `validate_vectors` then refuses.

    `wanted` is how long it was to be.
    """
    match answer:
        case [list(row), *_]:
            if wanted and len(row) != wanted:
                raise EmbedderError(
                    f"the model makes vectors of {len(row)} dimensions, and {wanted} were asked for.",
                    hint="Leave the setting `embedder_dimensions` at 0, or give a number that the model has.",
                )
            return len(row)
        case _:
            return 0


def _bad_answer(identity: EmbedderIdentity, content: str) -> EmbedderError:
    where = "Look at the server's log, or name" if identity.endpoint else "Name"
    return EmbedderError(
        f"{identity} answered with {content}.",
        hint=f"{where} another embedding model in the settings `embedder` and `embedder_model`.",
    )
