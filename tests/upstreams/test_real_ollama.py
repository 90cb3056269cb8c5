"""A real Ollama, where there is one: what we believe of it, and whether the fake behaves the same.

Runs when `ollama` is on the PATH or HOLDFAST_TEST_OLLAMA names it. It is never needed.
"""

import json
import os
import shutil
import socket
import subprocess
import time
from contextlib import ExitStack

import httpx
import ollama
import openai
import pytest

from holdfast.errors import ModelMissing
from holdfast.messages import Answer, ChatRequest, Message, Scope
from holdfast.tokens.calibration import is_truncated
from holdfast.tokens.estimate import Estimate
from holdfast.upstreams.discovery import connect
from holdfast.upstreams.http import Connection
from holdfast.upstreams.ollama import Ollama
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel
from tests.server.conftest import running
from tests.waiting import PATIENCE

OLLAMA = os.environ.get("HOLDFAST_TEST_OLLAMA") or shutil.which("ollama")

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.real,
    pytest.mark.skipif(not OLLAMA, reason="no ollama on the PATH, none in HOLDFAST_TEST_OLLAMA"),
]

MODEL = "smollm2:135m"
WINDOW = 256
# The window that Holdfast uses.
ROOM = 512
# One thread: when all cores are busy, more of them only wait for each other.
# Of the newest versions only.
NEWEST = {"prompt_eval_cached_count"}
MODELFILE = "FROM {}\nPARAMETER temperature 0\nPARAMETER num_ctx {}\nPARAMETER num_thread 1\n"


@pytest.fixture(scope="module")
def real(weights, tmp_path_factory):
    """The address of a real server with SmolLM2, and with nothing of the user's own."""
    folder = tmp_path_factory.mktemp("ollama")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    own = {"HOME": str(folder), "OLLAMA_MODELS": str(folder / "models"), "OLLAMA_HOST": f"127.0.0.1:{port}"}
    environment = {**os.environ, **own}
    modelfile = folder / "Modelfile"
    modelfile.write_text(MODELFILE.format(weights, WINDOW))
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([OLLAMA, "serve"], env=environment, stdout=log, stderr=log)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for(url)
        subprocess.run(
            [OLLAMA, "create", MODEL, "-f", modelfile], env=environment, check=True, capture_output=True
        )
        yield url
    finally:
        process.terminate()
        process.wait(60)


def _wait_for(url):
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            httpx.get(url, trust_env=False)
        except httpx.ConnectError:
            assert time.monotonic() < deadline, "ollama did not start"
            time.sleep(0.1)
        else:
            return


@pytest.fixture(scope="module")
def both(real):
    """A client for the real server and one for the fake that should be like it."""
    with ExitStack() as stack:
        client = stack.enter_context(httpx.Client(base_url=real, trust_env=False, timeout=300))
        client.post("/api/generate", json={"model": MODEL})
        old = "context_length" not in client.get("/api/ps").json()["models"][0]
        model = FakeModel(MODEL, num_ctx=WINDOW, trained_window=8192, capabilities=("completion",))
        fake = FakeOllama(lambda call: "Hello there", models=[model], old=old)
        url = stack.enter_context(fake.served())
        yield client, stack.enter_context(httpx.Client(base_url=url, trust_env=False, timeout=60))


def user(text):
    return {"role": "user", "content": text}


def body(**rest):
    return {"model": MODEL, "options": {"num_predict": 2}, "stream": False, **rest}


async def collect_answer(provider, request):
    answer = Answer()
    async for chunk in provider.chat(request):
        answer.add(chunk)
    return answer


async def test_the_provider_speaks_with_it(real):
    provider = await connect(real)
    assert provider.name == "ollama"
    request = ChatRequest(MODEL, (Message.of("user", "Say hi"),), options={"max_tokens": 4})
    answer = await collect_answer(provider, request)
    assert (answer.finish, answer.usage.prompt, answer.usage.completion) == ("length", 11, 4)
    (listed,) = await provider.models()
    info = await provider.describe(MODEL)
    assert (info.family, info.parameter_size, info.quantization) == ("llama", "134.52M", "Q4_1")
    assert (info.trained_window, info.default_num_ctx) == (8192, WINDOW)
    assert info.running_window in (WINDOW, None)
    assert info.digest == listed.digest
    assert len((await provider.embed(MODEL, ["Hello", "Goodbye"])).vectors) == 2
    with pytest.raises(ModelMissing):
        await collect_answer(provider, ChatRequest("nope", request.messages))
    await provider.aclose()


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/api/chat", body(messages=[user("Say hi")])),
        ("/api/chat", body(messages=[])),
        ("/api/chat", body(messages=[], keep_alive=0)),
        ("/api/generate", body(prompt="Say hi")),
        ("/api/generate", body(prompt="Say hi", raw=True)),
        ("/api/generate", body()),
        ("/api/show", {"model": MODEL}),
        ("/api/embed", {"model": MODEL, "input": ["a"]}),
        ("/api/embed", {"model": MODEL, "input": ""}),
        ("/v1/chat/completions", {"model": MODEL, "messages": [user("Hi")], "max_tokens": 2}),
    ],
)
def test_whole_answers_have_the_same_fields(both, path, sent):
    real, fake = (client.post(path, json=sent) for client in both)
    assert (real.status_code, fake.status_code) == (200, 200)
    known, ours = real.json(), fake.json()
    assert set(known) - set(ours) <= {"tensors", "license", "system", "messages"}
    assert set(ours) - NEWEST <= set(known)
    if not {known.get("done_reason"), ours.get("done_reason")} <= {"stop", "length"}:
        assert known.get("done_reason") == ours.get("done_reason")


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/api/chat", body(messages=[user("Say hi")], stream=True)),
        ("/api/generate", body(prompt="Say hi", stream=True)),
    ],
)
def test_streamed_lines_have_the_same_fields_in_the_same_order(both, path, sent):
    real, fake = (client.post(path, json=sent) for client in both)
    assert real.headers["content-type"] == fake.headers["content-type"]
    known, ours = ([json.loads(line) for line in answer.text.splitlines()] for answer in (real, fake))
    assert list(known[0]) == list(ours[0])
    assert set(known[-1]) | NEWEST == set(ours[-1]) | NEWEST


@pytest.mark.parametrize("path", ["/api/tags", "/v1/models"])
def test_lists_have_the_same_fields(both, path):
    real, fake = (client.get(path).json() for client in both)
    field = "models" if path == "/api/tags" else "data"
    assert set(real[field][0]) == set(fake[field][0])


def test_what_runs_has_the_same_fields(both):
    for client in both:
        client.post("/api/generate", json=body())
    real, fake = (client.get("/api/ps").json()["models"][0] for client in both)
    assert set(real) == set(fake)


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/api/chat", b""),
        ("/api/chat", b"{"),
        ("/api/chat", b"{}"),
        ("/api/chat", b'{"model":"nope","messages":[]}'),
        ("/api/generate", b'{"model":"nope"}'),
        ("/api/show", b'{"model":"nope"}'),
        ("/api/show", b"{}"),
        ("/api/embed", b'{"model":"nope","input":""}'),
        ("/api/nothing", b"{}"),
        ("/v1/chat/completions", b'{"model":"smollm2:135m","messages":[]}'),
        ("/v1/chat/completions", b'{"model":"nope","messages":[{"role":"user","content":"x"}]}'),
        ("/api/chat", b'{"model":"smollm2:135m","messages":[{"role":"user","content":"x"}],"think":true}'),
        ("/api/generate", b'{"model":"smollm2:135m","prompt":"x","suffix":"y"}'),
    ],
)
def test_errors_have_the_same_status_and_shape(both, path, content):
    real, fake = (client.post(path, content=content) for client in both)
    assert real.status_code == fake.status_code
    if path == "/api/nothing":
        assert real.text == fake.text
        return
    known, ours = real.json()["error"], fake.json()["error"]
    assert type(known) is type(ours)
    if "nope" in content.decode() or content == b"":
        assert known == ours


def test_too_long_a_message_is_cut_silently_with_a_known_signature(both):
    for client in both:
        sent = body(messages=[user("word " * 700)])
        count = client.post("/api/chat", json=sent).json()["prompt_eval_count"]
        assert is_truncated(Estimate(700, 700, 700), count, WINDOW)
        # By its version a server keeps the whole window or half of it.
        assert count == WINDOW or count == pytest.approx(WINDOW / 2, abs=3)


def test_of_too_long_a_chat_the_oldest_messages_go(both):
    history = [user("word " * 30) for _ in range(20)]
    for client in both:
        count = client.post("/api/chat", json=body(messages=history)).json()["prompt_eval_count"]
        assert WINDOW - 40 <= count <= WINDOW


@pytest.fixture(scope="module")
def holdfast(real, tmp_path_factory):
    with running(tmp_path_factory.mktemp("holdfast"), Ollama(Connection(real))) as server:
        # The first window that is asked for stays; the Modelfile's is too small to hold a talk in.
        first = {"messages": [user("Hi")], "options": {"num_ctx": ROOM, "num_predict": 1}}
        answer = server.client.post("/api/chat", json={"model": MODEL, **first}, timeout=300)
        assert answer.headers["x-holdfast-window"] == str(ROOM)
        yield server


def stored_messages(holdfast, project):
    (row,) = holdfast.store.log.recent(Scope(project=project))
    return [(item.message.role, item.message.text) for item in holdfast.store.log.path(row.head)]


def test_its_own_library_talks_to_it_through_holdfast(holdfast):
    headers = {"X-Holdfast-Project": "ollama"}
    options = {"num_predict": 6}
    history = [user("Name a colour.")]
    with ollama.Client(holdfast.url, headers=headers, trust_env=False) as client:
        assert [model.model for model in client.list().models] == [MODEL, "use-multilingual"]
        assert client.show(MODEL).modelinfo["llama.context_length"] == 8192
        first = client.chat(MODEL, history, options=options)
        assert 0 < first.prompt_eval_count < ROOM
        history += [first.message.model_dump(exclude_none=True), user("Another one?")]
        pieces = list(client.chat(MODEL, history, stream=True, options=options))
        assert pieces[-1].done
        assert [model.model for model in client.ps().models] == [MODEL]
        begun = client.generate(MODEL, "Name an animal.", options=options)
        goes_on = client.generate(MODEL, "Why?", context=begun.context, options=options)
    text = "".join(piece.message.content for piece in pieces)
    rows = holdfast.store.log.recent(Scope(project="ollama"))
    talks = [[item.message.text for item in holdfast.store.log.path(row.head)] for row in reversed(rows)]
    assert talks == [
        ["Name a colour.", first.message.content, "Another one?", text],
        ["Name an animal.", begun.response, "Why?", goes_on.response],
    ]


def test_openai_library_works_and_long_history_fits_and_is_recorded(holdfast):
    headers, history = {"X-Holdfast-Project": "openai"}, []
    with openai.OpenAI(
        base_url=f"{holdfast.url}/v1", api_key="none", max_retries=0, default_headers=headers
    ) as client:
        for turn in range(4):
            history.append(user(f"Number {turn}: " + "word " * 120))
            pieces = client.chat.completions.create(
                model=MODEL,
                messages=history,
                max_tokens=4,
                stream=True,
                stream_options={"include_usage": True},
            )
            text = ""
            for piece in pieces:
                text += piece.choices[0].delta.content or "" if piece.choices else ""
                usage = piece.usage
            history.append({"role": "assistant", "content": text})
            assert usage.prompt_tokens + usage.completion_tokens <= ROOM
    assert stored_messages(holdfast, "openai") == [(item["role"], item["content"]) for item in history]
