"""What an embedding model wants to read before a question and before a text, by the name it goes by.

Many models were trained with such words and find less without them. Names are matched as servers and files
spell them: `nomic-embed-text:latest`, `hf.co/nomic-ai/nomic-embed-text-v1.5-GGUF:Q8_0`,
`text-embedding-nomic-embed-text-v1.5@q8_0`, `nomic-embed-text-v1.5.f16.gguf`. Knows no server.
"""

import re
from dataclasses import dataclass

from holdfast.errors import ConfigError

OFF = "off"


@dataclass(frozen=True, slots=True)
class Prompts:
    """What goes before a question (`query`) and before a text that may answer it (`text`)."""

    query: str = ""
    text: str = ""

    def __str__(self) -> str:
        """As the setting writes it; empty where nothing is added. It tells prompts apart in an identity."""
        given = (("query", self.query), ("text", self.text))
        return "|".join(f"{name}={words}" for name, words in given if words).replace("\n", "\\n")


NONE = Prompts()

_SEARCH = Prompts(query="Represent this sentence for searching relevant passages: ")
_PREFIXES = Prompts("query: ", "passage: ")
_TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
_INSTRUCT = Prompts(f"{_TASK} ")

# What the models' cards say, the first that fits: a variant stands before its family.
_FAMILIES = tuple(
    (re.compile(rf"(?<![a-z0-9]){pattern}"), prompts)
    for pattern, prompts in (
        (r"nomic-embed-text|modernbert-embed", Prompts("search_query: ", "search_document: ")),
        (r"nomic-embed-code", Prompts("Represent this query for searching relevant code: ")),
        (r"e5-(?:[a-z0-9.]{1,20}-){0,6}instruct", _INSTRUCT),
        (r"e5-", _PREFIXES),
        (r"bge-(?:m3|multilingual|reranker|en-icl|code)", NONE),
        (r"bge-(?:[a-z]+-)?zh", Prompts("为这个句子生成表示以用于检索相关文章：")),
        (r"bge-", _SEARCH),
        (r"embedding-?gemma", Prompts("task: search result | query: ", "title: none | text: ")),
        # German and English; the others of the house are told what the sentence is for.
        (r"deepset-mxbai-embed-de", _PREFIXES),
        (r"mxbai-embed-(?:large|2d)", _SEARCH),
        (r"(?:snowflake-)?arctic-embed-?(?:2(?![0-9])|(?:[a-z]+-)?v2)", Prompts("query: ")),
        (r"(?:snowflake-)?arctic-embed", _SEARCH),
        # Without a space after the colon, unlike the others that are given an instruction.
        (r"qwen3-(?:vl-)?embedding", Prompts(_TASK)),
        (r"gte-qwen", _INSTRUCT),
        (r"jina-embeddings-v3", Prompts(
            "Represent the query for retrieving evidence documents: ",
            "Represent the document for retrieval: ",
        )),
        (r"jina-embeddings-v4", Prompts("Query: ", "Passage: ")),
        (r"jina-embeddings-v5", Prompts("Query: ", "Document: ")),
        (r"llama-(?:3\.2-)?(?:nv-embedqa|nemotron-embed)|nv-embedqa-e5", _PREFIXES),
    )
)  # fmt: skip
# How the setting begins, and what stands between its two halves. A prompt may have a bar of its own.
_HALVES = re.compile(r"(?:^|\|)(query|text)=")


def prompts_for(*names: str) -> Prompts:
    """What the model with one of these names wants; nothing for one that is not known, or wants nothing."""
    for name in names:
        # The organisation before a name may be called like a family that the model is none of.
        plain = re.sub(r"[_\s]", "-", name.lower().rpartition("/")[2])
        for pattern, prompts in _FAMILIES:
            if pattern.search(plain):
                return prompts
    return NONE


def prompts_from(setting: str, *names: str) -> Prompts:
    r"""What the setting says: `off`, or `query=…|text=…` with `\n` for a new line. Empty: by the names."""
    if not setting.strip():
        return prompts_for(*names)
    if setting.strip() == OFF:
        return NONE
    halves = _HALVES.split(setting)
    given = dict(zip(halves[1::2], halves[2::2], strict=True))
    if halves[0].strip() or len(given) != len(halves) // 2:
        raise ConfigError(
            f"embedder_prompts is {setting!r}.",
            hint="Write off, or what goes before each, like query=search_query: |text=search_document: .",
        )
    return Prompts(**{name: words.replace("\\n", "\n") for name, words in given.items()})
