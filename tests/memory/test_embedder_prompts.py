"""What models want to read before a question and a text: known by name, sent, and part of the identity."""

from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ConfigError
from holdfast.memory.embedder_choice import ChosenEmbedder, EmbedderOptions, open_embedder
from holdfast.memory.embedder_local import GgufEmbedder
from holdfast.memory.embedders import (
    NO_PROMPTS,
    EmbedderIdentity,
    EmbeddingPrompts,
    ValidatedEmbedder,
    parse_prompts,
    prompts_for,
)
from holdfast.testing.embedders import FakeOpenAI
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel
from tests.memory.tiny_model import write_model

NOMIC = EmbeddingPrompts("search_query: ", "search_document: ")
GEMMA = EmbeddingPrompts("task: search result | query: ", "title: none | text: ")
SENTENCE = EmbeddingPrompts("Represent this sentence for searching relevant passages: ")
E5 = EmbeddingPrompts("query: ", "passage: ")
TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"


@pytest.mark.parametrize(
    ("name", "prompts"),
    [
        ("nomic-embed-text", NOMIC),
        ("nomic-embed-text:latest", NOMIC),
        ("nomic-embed-text-v2-moe", NOMIC),
        ("hf.co/nomic-ai/nomic-embed-text-v1.5-GGUF:Q8_0", NOMIC),
        ("text-embedding-nomic-embed-text-v1.5@q8_0", NOMIC),
        ("nomic-embed-text-v1.5.Q4_K_M.gguf", NOMIC),
        ("/models/Nomic-Embed-Text-v1.5.f16.gguf", NOMIC),
        ("intfloat/multilingual-e5-small", E5),
        ("jeffh/intfloat-multilingual-e5-large:q8_0", E5),
        ("e5_base_v2-q8_0.gguf", E5),
        ("intfloat/multilingual-e5-large-instruct", EmbeddingPrompts(f"{TASK} ")),
        ("text-embedding-multilingual-e5-large-instruct", EmbeddingPrompts(f"{TASK} ")),
        ("e5-mistral-7b-instruct", EmbeddingPrompts(f"{TASK} ")),
        ("BAAI/bge-small-en-v1.5", SENTENCE),
        ("bge-large:335m-en-v1.5-fp16", SENTENCE),
        ("CompendiumLabs/bge-base-en-v1.5-gguf", SENTENCE),
        ("bge-m3", NO_PROMPTS),
        ("BAAI/bge-m3:latest", NO_PROMPTS),
        ("text-embedding-bge-m3@q4_k_m", NO_PROMPTS),
        ("BAAI/bge-large-zh-v1.5", EmbeddingPrompts("为这个句子生成表示以用于检索相关文章：")),
        ("embeddinggemma", GEMMA),
        ("embeddinggemma-300M-Q8_0.gguf", GEMMA),
        ("google/embeddinggemma-300m", GEMMA),
        ("mxbai-embed-large", SENTENCE),
        ("mixedbread-ai/mxbai-embed-large-v1", SENTENCE),
        ("mixedbread-ai/deepset-mxbai-embed-de-large-v1", E5),
        ("snowflake-arctic-embed", SENTENCE),
        ("snowflake-arctic-embed:22m", SENTENCE),
        ("snowflake-arctic-embed:335m", SENTENCE),
        ("Snowflake/snowflake-arctic-embed-m-v1.5", SENTENCE),
        ("snowflake-arctic-embed2:latest", EmbeddingPrompts("query: ")),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", EmbeddingPrompts("query: ")),
        ("snowflake-arctic-embed-m-v2.0-q8_0.gguf", EmbeddingPrompts("query: ")),
        ("qwen3-embedding:0.6b", EmbeddingPrompts(TASK)),
        ("Qwen/Qwen3-Embedding-8B-GGUF", EmbeddingPrompts(TASK)),
        ("text-embedding-qwen3-embedding-4b", EmbeddingPrompts(TASK)),
        ("Alibaba-NLP/gte-Qwen2-1.5B-instruct", EmbeddingPrompts(f"{TASK} ")),
        ("thenlper/gte-large", NO_PROMPTS),
        ("Alibaba-NLP/gte-multilingual-base", NO_PROMPTS),
        ("all-minilm:33m", NO_PROMPTS),
        ("sentence-transformers/all-MiniLM-L6-v2", NO_PROMPTS),
        ("paraphrase-multilingual", NO_PROMPTS),
        ("granite-embedding:278m", NO_PROMPTS),
        ("jinaai/jina-embeddings-v2-base-de", NO_PROMPTS),
        ("jina-embeddings-v3-q8_0.gguf", EmbeddingPrompts(
            "Represent the query for retrieving evidence documents: ",
            "Represent the document for retrieval: ",
        )),
        ("jinaai/jina-embeddings-v5-text-small", EmbeddingPrompts("Query: ", "Document: ")),
        ("text-embedding-3-small", NO_PROMPTS),
        ("somebody/my-model", NO_PROMPTS),
        ("e5/own-model", NO_PROMPTS),
        ("", NO_PROMPTS),
    ],
)  # fmt: skip
def test_a_model_is_known_by_every_spelling_of_its_name(name, prompts):
    assert prompts_for(name) == prompts


def test_the_first_name_that_is_known_counts():
    assert prompts_for("model.gguf", "Nomic Embed Text v1.5") == NOMIC
    assert prompts_for("e5-small.gguf", "nomic-embed-text") == E5


def test_the_setting_says_otherwise():
    assert parse_prompts("", "e5-small-v2") == E5
    assert parse_prompts(" off ", "e5-small-v2") == NO_PROMPTS
    assert parse_prompts("query=Frage: |text=Text: ", "e5-small-v2") == EmbeddingPrompts("Frage: ", "Text: ")
    assert parse_prompts("text=Text: ", "e5-small-v2") == EmbeddingPrompts("", "Text: ")
    gemma = parse_prompts("query=task: search result | query: |text=title: none | text: ")
    assert gemma == prompts_for("embeddinggemma")
    assert parse_prompts(r"query=Instruct: find it\nQuery:") == EmbeddingPrompts("Instruct: find it\nQuery:")


@pytest.mark.parametrize("nonsense", ["on", "search_query: ", "query=a|query=b", "x|query=a", "question=a"])
def test_a_setting_that_cannot_be_read_is_said_at_once(nonsense):
    with pytest.raises(ConfigError, match="embedder_prompts") as caught:
        ChosenEmbedder(EmbedderOptions("off", prompts=nonsense))
    assert "query=" in caught.value.hint


WORDS = st.text("ab: |\nä").filter(lambda words: "|query=" not in words and "|text=" not in words)


@given(WORDS, WORDS)
def test_what_an_identity_says_of_prompts_can_be_read_again(query, text):
    prompts = EmbeddingPrompts(query, text)
    assert parse_prompts(str(prompts) or "off") == prompts


def test_prompts_make_other_vectors_and_none_make_those_there_were():
    plain = EmbedderIdentity("ollama", "nomic-embed-text", 768, "http://127.0.0.1:11434")
    with_prompts = EmbedderIdentity("ollama", "nomic-embed-text", 768, "http://127.0.0.1:11434", str(NOMIC))
    assert plain.key == "e4309ccf0f07e28f"
    assert (
        len({plain.key, with_prompts.key, EmbedderIdentity("ollama", "nomic-embed-text", 768, "x").key}) == 3
    )


class RecordingEmbedder(ValidatedEmbedder):
    longest = 10

    def __init__(self):
        super().__init__(EmbedderIdentity("test", "recording", 3), NOMIC)
        self.asked = []

    def _vectors(self, texts):
        self.asked += texts
        return [[1.0, 2.0, 3.0]] * len(texts)

    def close(self):
        pass


def test_a_long_text_is_cut_and_its_prompt_is_not():
    embedder = RecordingEmbedder()
    embedder.embed(["longer than ten", ""])
    embedder.question("longer than ten")
    assert embedder.asked == ["search_document: longer tha", "search_document: .", "search_query: longer tha"]


def test_ollama_is_sent_them():
    fake = FakeOllama(models=[FakeModel("nomic-embed-text:latest")])
    with (
        fake.served() as url,
        closing(open_embedder(EmbedderOptions(f"ollama+{url}"))) as embedder,
        closing(open_embedder(EmbedderOptions(f"ollama+{url}", prompts="off"))) as plain,
    ):
        embedder.embed(["arion is in Kiel"])
        embedder.question("where is arion")
        plain.question("where is arion")
    inputs = [body["input"] for path, body in fake.requests if path == "/api/embed"]
    assert ["search_document: arion is in Kiel"] in inputs
    assert ["search_query: where is arion"] in inputs
    assert ["where is arion"] in inputs
    assert embedder.identity != plain.identity
    assert embedder.identity.key != plain.identity.key


def test_ollama_keeps_the_model_as_long_as_it_is_told():
    fake = FakeOllama(models=[FakeModel("nomic-embed-text:latest")])
    with (
        fake.served() as url,
        closing(open_embedder(EmbedderOptions(f"ollama+{url}", keep_alive="2h"))) as embedder,
    ):
        embedder.question("where is arion")
    keep_alives = [body.get("keep_alive") for path, body in fake.requests if path == "/api/embed"]
    assert keep_alives == ["2h", "2h"]


def test_openai_compatible_servers_get_prompts_in_batch_jobs_too():
    fake, model = FakeOpenAI(), "intfloat/multilingual-e5-small"
    with (
        fake.served() as url,
        closing(open_embedder(EmbedderOptions(f"openai+{url}/v1", model))) as embedder,
    ):
        embedder.embed(["arion is in Kiel"])
        embedder.question("where is arion")
        embedder.batches.submit({"one": "arion is in Kiel"})
    inputs = [request.body["input"] for request in fake.requests if request.path == "/v1/embeddings"]
    assert inputs[1:] == [["passage: arion is in Kiel"], ["query: where is arion"]]
    (file,) = fake.jobs.files.values()
    assert b'"passage: arion is in Kiel"' in file


def test_a_file_is_known_by_its_name(tmp_path):
    path = write_model(tmp_path / "multilingual-e5-small-q8_0.gguf")
    known = GgufEmbedder.open(path, log=tmp_path / "log")
    report = GgufEmbedder.open(path, log=tmp_path / "log", prompts="off")
    assert (known.identity.prompts, report.identity.prompts) == (str(E5), "")
