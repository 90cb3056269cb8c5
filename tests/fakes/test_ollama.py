"""The fake Ollama does what the real one does: above all, it cuts what is too long and does not say so."""

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import (
    DoesNotFit,
    FakeModel,
    FakeReply,
    ModelLoad,
    PromptLimits,
    chat_tokens,
    cut_prompt,
    render_tokens,
    split_words,
)

pytestmark = pytest.mark.slow


@pytest.fixture
def serve():
    from contextlib import ExitStack

    with ExitStack() as stack:

        def start(*arguments, **options):
            fake = FakeOllama(*arguments, **options)
            url = stack.enter_context(fake.served())
            client = stack.enter_context(httpx.Client(base_url=url, trust_env=False, timeout=120))
            return fake, client

        yield start


def user(text):
    return {"role": "user", "content": text}


def chat(client, messages, **rest):
    body = {"model": "fake", "messages": messages, "stream": False, **rest}
    return client.post("/api/chat", json=body)


def test_it_says_what_it_is(serve):
    _, client = serve()
    assert client.get("/").text == "Ollama is running"
    assert client.head("/").status_code == 200
    assert client.get("/api/version").json() == {"version": "0.30.0"}
    assert client.get("/nowhere").text == "404 page not found"


def test_huge_message_is_truncated_in_middle_and_visible_in_count(serve):
    fake, client = serve()
    answer = chat(client, [user("word " * 9000)])
    assert answer.status_code == 200
    assert answer.json()["prompt_eval_count"] == 4096 - (4096 - 4) // 2 == 2050
    assert answer.json()["done_reason"] == "stop"
    assert fake.calls[0].prompt[0] == "<user>"


def test_older_servers_fill_the_whole_window_and_ignore_truncate(serve):
    _, client = serve(old=True)
    answer = chat(client, [user("word " * 9000)], truncate=False)
    assert answer.json()["prompt_eval_count"] == 4096
    assert "prompt_eval_cached_count" not in answer.json()


def test_long_chat_drops_oldest_messages_and_keeps_system_prompt(serve):
    fake, client = serve()
    history = [{"role": "system", "content": "rule"}]
    history += [user(f"question{number} " + "word " * 50) for number in range(20)]
    chat(client, history, options={"num_ctx": 300})
    prompt = fake.calls[0].prompt
    assert prompt[:3] == ["<system>", "rule", "<end>"]
    assert "question19" in prompt
    assert "question0" not in prompt
    assert len(prompt) <= 300


def test_truncate_false_is_refused_with_numbers(serve):
    _, client = serve()
    answer = chat(client, [user("word " * 5000)], truncate=False)
    assert answer.status_code == 400
    assert "(5003 tokens) exceeds the available context size (4096 tokens)" in answer.json()["error"]


def test_the_v1_imitation_always_cuts(serve):
    fake, client = serve()
    body = {"model": "fake", "messages": [user("word " * 5000)], "truncate": False, "max_tokens": 5}
    answer = client.post("/v1/chat/completions", json=body).json()
    assert answer["usage"]["prompt_tokens"] == 2050
    assert answer["usage"]["completion_tokens"] == 5
    assert answer["choices"][0]["finish_reason"] == "length"
    assert fake.loads == [ModelLoad("fake:latest", 4096, True)]


def test_another_window_or_shift_loads_the_model_again(serve):
    fake, client = serve(models=[FakeModel(num_ctx=1024)])
    for options, shift in [
        ({}, True),
        ({"num_ctx": 1024}, True),
        ({"num_ctx": 2048}, True),
        ({}, True),
        ({}, False),
    ]:
        chat(client, [user("hi")], options=options, shift=shift)
    assert [(load.num_ctx, load.shift) for load in fake.loads] == [
        (1024, True),
        (2048, True),
        (1024, True),
        (1024, False),
    ]
    assert client.get("/api/ps").json()["models"][0]["context_length"] == 1024


def test_a_window_is_never_larger_than_what_was_trained(serve):
    fake, client = serve(models=[FakeModel(trained_window=512)])
    chat(client, [user("hi")], options={"num_ctx": 100_000})
    assert fake.loads[0].num_ctx == 512


def test_seen_prefix_is_cached_until_model_reload(serve):
    _, client = serve()
    first = [user("a b c")]
    longer = [*first, {"role": "assistant", "content": "d"}, user("e")]
    counts = [
        chat(client, messages, options=options).json()["prompt_eval_cached_count"]
        for messages, options in [(first, {}), (longer, {}), (longer, {"num_ctx": 512})]
    ]
    # Role, three words and end are the same; then the assistant begins to speak, and goes on.
    assert counts == [0, 6, 0]


def test_without_shift_the_answer_ends_where_the_window_does(serve):
    _, client = serve(lambda call: FakeReply("la", endless=True))
    answer = chat(client, [user("hi")], options={"num_ctx": 64}, shift=False).json()
    assert answer["done_reason"] == "length"
    assert answer["prompt_eval_count"] + answer["eval_count"] == 64


def test_empty_requests_load_and_unload(serve):
    fake, client = serve()
    assert chat(client, []).json()["done_reason"] == "load"
    assert len(client.get("/api/ps").json()["models"]) == 1
    assert chat(client, [], keep_alive=0).json()["done_reason"] == "unload"
    assert client.get("/api/ps").json() == {"models": []}
    assert client.post("/api/generate", json={"model": "fake"}).json()["done_reason"] == "load"
    assert len(fake.loads) == 2


def test_generate_answers_a_prompt_and_gives_a_context_unless_raw(serve):
    _, client = serve(lambda call: f"{call.said}!")
    body = {"model": "fake", "prompt": "Say hi", "stream": False}
    answer = client.post("/api/generate", json=body).json()
    assert answer["response"] == "Say hi!"
    assert answer["context"]
    assert "context" not in client.post("/api/generate", json=body | {"raw": True}).json()


def test_streamed_lines_and_the_whole_answer_say_the_same(serve):
    _, client = serve(lambda call: FakeReply("a b", thinking="hm", calls=[("f", {"x": 1})]))
    streamed = [
        line
        for line in client.post("/api/chat", json={"model": "fake", "messages": [user("x")]}).text.split("\n")
        if line
    ]
    whole = chat(client, [user("x")]).json()
    assert len(streamed) == 5
    assert whole["message"]["content"] == "a b"
    assert whole["message"]["thinking"] == "hm"
    assert whole["message"]["tool_calls"] == [{"function": {"name": "f", "arguments": {"x": 1}}}]


def test_the_v1_imitation_streams_with_usage_when_asked(serve):
    _, client = serve(lambda call: FakeReply("a", calls=[("f", {})]))
    body = {
        "model": "fake",
        "messages": [user("x")],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    events = client.post("/v1/chat/completions", json=body).text
    assert events.endswith("data: [DONE]\n\n")
    assert '"finish_reason":"tool_calls"' in events
    assert '"prompt_tokens":4' in events
    assert '"system_fingerprint":"fp_ollama"' in events


def test_verbose_shows_the_vocabulary_and_brief_only_its_name(serve):
    _, client = serve(models=[FakeModel(facts={"tokenizer.ggml.tokens": ["a", "b"]})])
    brief = client.post("/api/show", json={"model": "fake"}).json()
    verbose = client.post("/api/show", json={"model": "fake", "verbose": True}).json()
    assert brief["model_info"]["tokenizer.ggml.tokens"] is None
    assert verbose["model_info"]["tokenizer.ggml.tokens"] == ["a", "b"]


@pytest.mark.parametrize(
    ("path", "content", "status", "told"),
    [
        ("/api/chat", b"", 400, "missing request body"),
        ("/api/chat", b"{", 400, "JSON"),
        ("/api/chat", b"[]", 400, "unmarshal"),
        ("/api/chat", b"{}", 400, "model is required"),
        ("/api/chat", b'{"model":"fake","messages":"x"}', 400, "unmarshal"),
        ("/api/chat", b'{"model":"nope","messages":[]}', 404, "model 'nope' not found"),
        ("/api/chat", b'{"model":"fake","messages":[{"role":"user","images":["%"]}]}', 400, "base64"),
        ("/api/generate", b'{"model":"nope"}', 404, "model 'nope' not found"),
        ("/api/show", b'{"model":"nope"}', 404, "model 'nope' not found"),
        ("/v1/chat/completions", b'{"model":"fake","messages":[]}', 400, "too short"),
        (
            "/v1/chat/completions",
            b'{"model":"nope","messages":[{"role":"user","content":"x"}]}',
            404,
            "not found",
        ),
    ],
)
def test_bad_requests_are_refused_in_ollamas_words(serve, path, content, status, told):
    _, client = serve()
    answer = client.post(path, content=content)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert told in (error["message"] if path.startswith("/v1") else error)


def test_v1_models_are_the_same_ones(serve):
    _, client = serve()
    assert [item["id"] for item in client.get("/v1/models").json()["data"]] == ["fake:latest"]
    assert client.get("/v1/models/fake").json()["object"] == "model"
    assert client.get("/v1/models/nope").status_code == 404


sizes = st.integers(16, 200)


@given(st.lists(st.integers(0, 80), min_size=1, max_size=12), sizes, st.booleans())
def test_truncated_chat_always_fits_and_keeps_its_end(lengths, window, old):
    messages = [user("word " * length + "last") for length in lengths]
    left = chat_tokens(messages, [], split_words, PromptLimits(window, before_llama_server=old))
    assert len(left) <= window
    assert left[-3:] == ["last", "<end>", "<assistant>"]


@given(st.integers(0, 400), sizes)
def test_the_cut_has_its_signature(length, window):
    tokens = [str(number) for number in range(length)]
    left = cut_prompt(tokens, PromptLimits(window))
    if length <= window:
        assert left == tokens
    else:
        assert len(left) == window - (window - 4) // 2
        assert left[:4] == tokens[:4]
        assert left[4:] == tokens[-(len(left) - 4) :]


@given(st.integers(0, 400), sizes)
def test_without_truncation_a_prompt_is_whole_or_refused(length, window):
    tokens = ["x"] * length
    if length < window:
        assert cut_prompt(tokens, PromptLimits(window, truncate=False)) == tokens
    else:
        with pytest.raises(DoesNotFit):
            cut_prompt(tokens, PromptLimits(window, truncate=False))


def test_pictures_count_and_are_never_cut():
    picture = {"role": "user", "content": "look", "images": ["AAAA"]}
    assert len(render_tokens([picture], [], split_words)) == 768 + 4
    with pytest.raises(DoesNotFit):
        chat_tokens([picture], [], split_words, PromptLimits(512))
