"""What models want to read before a question and a text: known by name, sent, and part of the identity."""

from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ConfigError
from holdfast.memory.embedders.base import Identity
from holdfast.memory.embedders.checked import Checked
from holdfast.memory.embedders.choice import ChosenEmbedder, EmbedderOptions, open_embedder
from holdfast.memory.embedders.fakes import FakeOpenAI
from holdfast.memory.embedders.gguf import Gguf
from holdfast.memory.embedders.prompts import NONE, Prompts, prompts_for, prompts_from
from holdfast.upstreams.fake_ollama import FakeModel, FakeOllama
from tests.memory.embedders.tiny import write_model

NOMIC = Prompts("search_query: ", "search_document: ")
SENTENCE = Prompts("Represent this sentence for searching relevant passages: ")
E5 = Prompts("query: ", "passage: ")
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
        ("intfloat/multilingual-e5-large-instruct", Prompts(f"{TASK} ")),
        ("text-embedding-multilingual-e5-large-instruct", Prompts(f"{TASK} ")),
        ("e5-mistral-7b-instruct", Prompts(f"{TASK} ")),
        ("BAAI/bge-small-en-v1.5", SENTENCE),
        ("bge-large:335m-en-v1.5-fp16", SENTENCE),
        ("CompendiumLabs/bge-base-en-v1.5-gguf", SENTENCE),
        ("bge-m3", NONE),
        ("BAAI/bge-m3:latest", NONE),
        ("text-embedding-bge-m3@q4_k_m", NONE),
        ("BAAI/bge-large-zh-v1.5", Prompts("为这个句子生成表示以用于检索相关文章：")),
        ("embeddinggemma", Prompts("task: search result | query: ", "title: none | text: ")),
        ("embeddinggemma-300M-Q8_0.gguf", Prompts("task: search result | query: ", "title: none | text: ")),
        ("google/embeddinggemma-300m", Prompts("task: search result | query: ", "title: none | text: ")),
        ("mxbai-embed-large", SENTENCE),
        ("mixedbread-ai/mxbai-embed-large-v1", SENTENCE),
        ("mixedbread-ai/deepset-mxbai-embed-de-large-v1", E5),
        ("snowflake-arctic-embed", SENTENCE),
        ("snowflake-arctic-embed:22m", SENTENCE),
        ("snowflake-arctic-embed:335m", SENTENCE),
        ("Snowflake/snowflake-arctic-embed-m-v1.5", SENTENCE),
        ("snowflake-arctic-embed2:latest", Prompts("query: ")),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", Prompts("query: ")),
        ("snowflake-arctic-embed-m-v2.0-q8_0.gguf", Prompts("query: ")),
        ("qwen3-embedding:0.6b", Prompts(TASK)),
        ("Qwen/Qwen3-Embedding-8B-GGUF", Prompts(TASK)),
        ("text-embedding-qwen3-embedding-4b", Prompts(TASK)),
        ("Alibaba-NLP/gte-Qwen2-1.5B-instruct", Prompts(f"{TASK} ")),
        ("thenlper/gte-large", NONE),
        ("Alibaba-NLP/gte-multilingual-base", NONE),
        ("all-minilm:33m", NONE),
        ("sentence-transformers/all-MiniLM-L6-v2", NONE),
        ("paraphrase-multilingual", NONE),
        ("granite-embedding:278m", NONE),
        ("jinaai/jina-embeddings-v2-base-de", NONE),
        ("jina-embeddings-v3-q8_0.gguf", Prompts(
            "Represent the query for retrieving evidence documents: ",
            "Represent the document for retrieval: ",
        )),
        ("jinaai/jina-embeddings-v5-text-small", Prompts("Query: ", "Document: ")),
        ("text-embedding-3-small", NONE),
        ("somebody/my-model", NONE),
        ("e5/own-model", NONE),
        ("", NONE),
    ],
)  # fmt: skip
def test_a_model_is_known_by_every_spelling_of_its_name(name, prompts):
    assert prompts_for(name) == prompts


def test_the_first_name_that_is_known_counts():
    assert prompts_for("model.gguf", "Nomic Embed Text v1.5") == NOMIC
    assert prompts_for("e5-small.gguf", "nomic-embed-text") == E5


def test_the_setting_says_otherwise():
    assert prompts_from("", "e5-small-v2") == E5
    assert prompts_from(" off ", "e5-small-v2") == NONE
    assert prompts_from("query=Frage: |text=Text: ", "e5-small-v2") == Prompts("Frage: ", "Text: ")
    assert prompts_from("text=Text: ", "e5-small-v2") == Prompts("", "Text: ")
    gemma = prompts_from("query=task: search result | query: |text=title: none | text: ")
    assert gemma == prompts_for("embeddinggemma")
    assert prompts_from(r"query=Instruct: find it\nQuery:") == Prompts("Instruct: find it\nQuery:")


@pytest.mark.parametrize("nonsense", ["on", "search_query: ", "query=a|query=b", "x|query=a", "question=a"])
def test_a_setting_that_cannot_be_read_is_said_at_once(nonsense):
    with pytest.raises(ConfigError, match="embedder_prompts") as caught:
        ChosenEmbedder(EmbedderOptions("off", prompts=nonsense))
    assert "query=" in caught.value.hint


WORDS = st.text("ab: |\nä").filter(lambda words: "|query=" not in words and "|text=" not in words)


@given(WORDS, WORDS)
def test_what_an_identity_says_of_prompts_can_be_read_again(query, text):
    prompts = Prompts(query, text)
    assert prompts_from(str(prompts) or "off") == prompts


def test_prompts_make_other_vectors_and_none_make_those_there_were():
    plain = Identity("ollama", "nomic-embed-text", 768, "http://127.0.0.1:11434")
    with_prompts = Identity("ollama", "nomic-embed-text", 768, "http://127.0.0.1:11434", str(NOMIC))
    assert plain.key == "e4309ccf0f07e28f"
    assert len({plain.key, with_prompts.key, Identity("ollama", "nomic-embed-text", 768, "x").key}) == 3


class Recording(Checked):
    longest = 10

    def __init__(self):
        super().__init__(Identity("test", "recording", 3), NOMIC)
        self.asked = []

    def _vectors(self, texts):
        self.asked += texts
        return [[1.0, 2.0, 3.0]] * len(texts)

    def close(self):
        pass


def test_a_long_text_is_cut_and_its_prompt_is_not():
    embedder = Recording()
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
    told = [body.get("keep_alive") for path, body in fake.requests if path == "/api/embed"]
    assert told == ["2h", "2h"]


def test_servers_that_speak_like_openai_are_sent_them_in_batch_jobs_too():
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
    known = Gguf.open(path, log=tmp_path / "log")
    told = Gguf.open(path, log=tmp_path / "log", prompts="off")
    assert (known.identity.prompts, told.identity.prompts) == (str(E5), "")
