"""What an embedding model wants to read before a question and before a text, by the name it goes by.

Many models were trained with such words and find less without them. Names are matched as servers and files
spell them: `nomic-embed-text:latest`, `hf.co/nomic-ai/nomic-embed-text-v1.5-GGUF:Q8_0`,
`text-embedding-nomic-embed-text-v1.5@q8_0`, `nomic-embed-text-v1.5.f16.gguf`. Knows no server.
"""

import re
from dataclasses import dataclass

from holdfast.errors import ConfigError

PROMPTS_OFF = "off"


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
_TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
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
# How the setting begins, and what stands between its two halves. A prompt may have a bar of its own.
_HALVES = re.compile(r"(?:^|\|)(query|text)=")


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
