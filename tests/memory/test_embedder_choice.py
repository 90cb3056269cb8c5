"""Which embedder is used: local unless another was named, and never a silent nothing."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.config import load
from holdfast.errors import ConfigError, EmbedderError
from holdfast.memory.embedder_choice import (
    ChosenEmbedder,
    EmbedderLocation,
    EmbedderOptions,
    open_embedder,
    open_first,
    parse_embedder_location,
    parse_headers,
)
from holdfast.memory.embedder_local import HashingEmbedder, UniversalSentenceEncoder
from holdfast.server.settings import find_problems
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel
from tests.upstreams.fake_servers import server


@pytest.fixture(scope="module")
def ollama():
    with FakeOllama(models=[FakeModel("nomic-embed-text:latest"), FakeModel("bge-m3")]).served() as url:
        yield url


def embeddings(body):
    return {"data": [{"index": place, "embedding": [1, 2]} for place, _ in enumerate(body["input"])]}


def opened(location, **options):
    embedder = open_embedder(EmbedderOptions(location, **options))
    assert embedder is not None
    embedder.close()
    return embedder.identity


@pytest.mark.parametrize("location", ["auto", "", " embedded "])
def test_automatic_means_the_embedded_one_and_starts_nothing_yet(location, tmp_path):
    embedder = open_embedder(EmbedderOptions(location, log=tmp_path / "log"))
    assert isinstance(embedder, UniversalSentenceEncoder)
    assert embedder.pid is None
    embedder.close()


def test_off_is_none_and_no_trouble():
    assert open_embedder(EmbedderOptions("off")) is None
    chosen = ChosenEmbedder(EmbedderOptions("off"))
    assert (chosen.off, chosen.current(), chosen.trouble) == (True, None, "")


def test_address_is_probed_for_its_protocol_unless_kind_is_named(ollama):
    assert opened(ollama).provider == "ollama"
    assert opened(f"ollama+{ollama}", model="bge-m3").model == "bge-m3"
    assert opened(ollama).model == "nomic-embed-text"
    with server({"/v1/embeddings": embeddings, "/api/version": {"version": "1", "holdfast": "1"}}) as value:
        results = opened(value.url)
        assert (results.provider, results.model) == ("openai", "text-embedding-3-small")
        assert results.endpoint == f"{value.url}/v1"
        assert opened(f"openai+{value.url}/v1", model="m").model == "m"
        assert opened(f"lmstudio+{value.url}").dimensions == 2


def test_first_working_embedder_is_chosen_and_failure_of_preferred_reported():
    def fails(words):
        def way():
            raise EmbedderError(words)

        return way

    hashing = HashingEmbedder()
    assert open_first(fails("not installed"), lambda: hashing) is hashing
    with pytest.raises(EmbedderError, match="not installed"):
        open_first(fails("not installed"), fails("nobody there"))


def test_nonsense_is_refused_before_anybody_searches():
    for location in ("telnet+http://x", "http://:99999", "http://"):
        with pytest.raises(ConfigError):
            ChosenEmbedder(EmbedderOptions(location))


def test_headers_are_read_and_nonsense_is_refused_without_telling_it():
    assert parse_headers(" X-Team: search; X-Url: http://a ;") == {"X-Team": "search", "X-Url": "http://a"}
    assert parse_headers("") == {}
    with pytest.raises(ConfigError) as caught:
        parse_headers("my-secret")
    assert "my-secret" not in str(caught.value)


def test_settings_have_local_defaults_and_hide_keys_and_headers(tmp_path):
    environ = {
        "HOLDFAST_HOME": str(tmp_path),
        "HOLDFAST_EMBEDDER_KEY": "sk-hush",
        "HOLDFAST_EMBEDDER_HEADERS": "X-Team: team-hush",
    }
    config = load(environ=environ)
    assert (config.settings.embedder, config.settings.embedder_model) == ("auto", "")
    assert "hush" not in str(config.shown())


def test_trouble_is_told_and_nobody_waits_for_it_twice():
    now = [0.0]
    answers = [(400, {"error": "no"}), embeddings({"input": ["?"]}), (400, {"error": "broken"})]
    reaction = lambda body: answers.pop(0) if answers else embeddings(body)  # noqa: E731
    with server({"/v1/embeddings": reaction}) as value:
        options = EmbedderOptions(f"openai+{value.url}", model="m")
        chosen = ChosenEmbedder(options, look_again=30, clock=lambda: now[0])
        assert chosen.current() is None
        assert "refused (400): no" in chosen.trouble
        now[0] = 29
        assert chosen.current() is None
        assert len(value.requests) == 1

        now[0] = 31
        embedder = chosen.current()
        assert embedder.identity.dimensions == 2
        with pytest.raises(EmbedderError):
            embedder.embed(["one"])
        assert "broken" in chosen.trouble
        assert chosen.current() is None

        now[0] = 62
        assert chosen.current().embed(["one"]).shape == (1, 2)
        assert chosen.trouble == ""
        chosen.close()


def test_nobody_waits_while_another_one_opens_the_embedder():
    asked, answer = threading.Event(), threading.Event()

    def slow(body):
        asked.set()
        assert answer.wait(60)
        return embeddings(body)

    with server({"/v1/embeddings": slow}) as value, ThreadPoolExecutor(1) as pool:
        chosen = ChosenEmbedder(EmbedderOptions(f"openai+{value.url}", model="m"))
        first = pool.submit(chosen.current)
        assert asked.wait(60)
        assert (chosen.current(), chosen.trouble) == (None, "The embedder is starting.")
        answer.set()
        assert first.result() is not None
        assert chosen.current() is not None
        assert chosen.trouble == ""
        assert len(value.requests) == 1
        chosen.close()


def test_embedder_is_ready_after_answering_and_readiness_check_starts_nothing(tmp_path):
    now = [0.0]
    answers = {"/v1/embeddings": embeddings}
    with server({"/v1/embeddings": lambda body: answers["/v1/embeddings"](body)}) as value:
        options = EmbedderOptions(f"openai+{value.url}", model="m")
        chosen = ChosenEmbedder(options, look_again=30, clock=lambda: now[0])
        assert chosen.ready() is None
        assert value.requests == []
        embedder = chosen.current()
        assert chosen.ready() is None
        embedder.embed(["one"])
        assert chosen.ready().identity == embedder.identity
        answers["/v1/embeddings"] = lambda _: (400, {"error": "no"})
        with pytest.raises(EmbedderError):
            embedder.embed(["one"])
        assert chosen.ready() is None
        now[0] = 31
        assert chosen.ready() is not None
        chosen.close()


class Restful(HashingEmbedder):
    def rest(self):
        return True


class Chosen(ChosenEmbedder):
    """One that is told which embedder there is."""

    def _open(self):
        self._opened = Restful()


def test_unused_embedder_sleeps_and_is_not_ready_until_woken():
    now = [0.0]
    chosen = Chosen(EmbedderOptions("embedded"), clock=lambda: now[0])
    assert not chosen.rest(), "there is nothing to let go of"
    chosen.wake()
    assert chosen.ready() is not None
    now[0] = 59.0
    assert not chosen.rest(60.0)
    now[0] = 60.0
    assert chosen.rest(60.0)
    assert (chosen.ready(), chosen.rests, chosen.trouble) == (None, True, "")
    chosen.wake()
    assert (chosen.ready() is not None, chosen.rests) == (True, False)
    chosen.close()


class Slow(HashingEmbedder):
    """Answers when it may."""

    def __init__(self):
        super().__init__()
        self.begun, self.may = threading.Event(), threading.Event()

    def embed(self, texts):
        self.begun.set()
        assert self.may.wait(60)
        return super().embed(texts)


def test_urgent_requests_skip_waking_embedder_and_others_wait():
    chosen, slow = ChosenEmbedder(EmbedderOptions("embedded")), Slow()
    chosen._opened = slow
    with ThreadPoolExecutor(1) as pool:
        woken = pool.submit(chosen.wake)
        assert slow.begun.wait(60)
        assert (chosen.awake(), chosen.ready()) == (None, None)
        assert "starting" in chosen.trouble
        assert chosen.current() is not None
        slow.may.set()
        woken.result()
    assert (chosen.awake() is not None, chosen.trouble) == (True, "")


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("", EmbedderLocation("auto")),
        (" auto ", EmbedderLocation("auto")),
        ("off", EmbedderLocation("off")),
        ("embedded", EmbedderLocation("embedded")),
        ("ollama", EmbedderLocation("ollama", "http://127.0.0.1:11434", "/v1")),
        ("openai", EmbedderLocation("openai", "https://api.openai.com", "/v1")),
        ("gemini", EmbedderLocation("gemini", "https://generativelanguage.googleapis.com", "/v1beta")),
        ("voyage", EmbedderLocation("voyage", "https://api.voyageai.com", "/v1")),
        ("gemini+http://h/g/v1alpha/", EmbedderLocation("gemini", "http://h/g", "/v1alpha")),
        ("gemini+http://h:1", EmbedderLocation("gemini", "http://h:1", "/v1beta")),
        ("voyage+http://h:1", EmbedderLocation("voyage", "http://h:1", "/v1")),
        ("http://h:1", EmbedderLocation("server", "http://h:1", "/v1")),
        ("lmstudio+http://h:1", EmbedderLocation("openai", "http://h:1", "/v1")),
        ("/models/e5.gguf", EmbedderLocation("gguf", file=Path("/models/e5.gguf"))),
        ("gguf:models/e5", EmbedderLocation("gguf", file=Path("models/e5"))),
        ("~/e5.gguf", EmbedderLocation("gguf", file=Path.home() / "e5.gguf")),
    ],
)
def test_a_location_means_one_thing(text, means):
    assert parse_embedder_location(text) == means


@pytest.mark.parametrize(
    "text", ["gemini+telnet://x", "voyage+", "cohere+https://x", "http://", "http://h:0"]
)
def test_nonsense_is_refused_with_a_remedy(text):
    with pytest.raises(ConfigError) as caught:
        parse_embedder_location(text)
    assert caught.value.hint


def test_the_page_of_settings_takes_no_nonsense(tmp_path):
    for text, wrong in [("cohere+https://x", {"embedder"}), ("gemini", set()), ("~/e5.gguf", set())]:
        settings = load(environ={"HOLDFAST_HOME": str(tmp_path), "HOLDFAST_EMBEDDER": text}).settings
        assert find_problems(settings, {"embedder"}, password=False).keys() == wrong
