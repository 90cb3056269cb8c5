"""The chat doors: both protocols, streaming and not, in front of a scripted model, over real HTTP."""

import asyncio
import json
import socket
import threading

import httpx
import pytest

from holdfast.errors import CutOff, Overflow, UpstreamError
from holdfast.messages import Scope, Thinking, ToolCall
from holdfast.testing.provider import ScriptedProvider
from tests.waiting import wait_until

USER = {"role": "user", "content": "What is the file called?"}
ANSWER = "It is called notes.md"


def ollama(*messages, stream=False, **rest):
    return {"model": "scripted", "messages": list(messages), "stream": stream, **rest}


openai = ollama
ROUTES = ["/api/chat", "/v1/chat/completions"]


def text_of(route, response):
    """What the model said, out of a whole response or a stream of either protocol."""
    content_type = response.headers["content-type"]
    if "ndjson" in content_type:
        return "".join(json.loads(line)["message"]["content"] for line in response.text.splitlines())
    if "event-stream" in content_type:
        data = [line[6:] for line in response.text.splitlines() if line.startswith("data: ")]
        assert data[-1] == "[DONE]"
        events = [json.loads(item) for item in data[:-1]]
        return "".join(event["choices"][0]["delta"].get("content") or "" for event in events)
    body = response.json()
    return body["message"]["content"] if route == "/api/chat" else body["choices"][0]["message"]["content"]


def conversations(running):
    return running.store.log.recent(Scope())


def said(running, conversation):
    return [
        (stored.message.role, stored.message.text) for stored in running.store.log.path(conversation.head)
    ]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("route", ROUTES)
def test_an_answer_comes_in_the_clients_shape_and_is_kept(serve, route, stream):
    holdfast = serve(ScriptedProvider([ANSWER]))
    response = holdfast.client.post(route, json=ollama(USER, stream=stream))
    assert response.status_code == 200
    assert text_of(route, response) == ANSWER
    (conversation,) = conversations(holdfast)
    assert response.headers["x-holdfast-conversation"] == conversation.id
    assert conversation.title == USER["content"]
    assert said(holdfast, conversation) == [("user", USER["content"]), ("assistant", ANSWER)]


@pytest.mark.parametrize("route", ROUTES)
def test_three_turns_are_one_conversation(serve, route):
    holdfast = serve(ScriptedProvider(["one", "two", "three"]))
    history = []
    for question in ("first?", "second?", "third?"):
        history.append({"role": "user", "content": question})
        response = holdfast.client.post(route, json=ollama(*history))
        history.append({"role": "assistant", "content": text_of(route, response)})
    (conversation,) = conversations(holdfast)
    assert said(holdfast, conversation) == [(message["role"], message["content"]) for message in history]


def test_the_request_reaches_the_model_as_it_came(serve):
    holdfast = serve(ScriptedProvider([ANSWER]))
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    system = {"role": "system", "content": "Be brief."}
    body = ollama(system, USER, tools=[tool], options={"temperature": 0.5}, think=True)
    assert holdfast.client.post("/api/chat", json=body).status_code == 200
    (request,) = holdfast.provider.requests
    assert [message.role for message in request.messages] == ["system", "user"]
    assert request.tools == (tool,)
    assert request.options == {"temperature": 0.5}
    assert request.think is True


def test_system_prompts_are_kept_beside_the_conversation(serve):
    holdfast = serve(ScriptedProvider([ANSWER]))
    holdfast.client.post("/api/chat", json=ollama({"role": "system", "content": "Be brief."}, USER))
    (job,) = holdfast.store.jobs.recent()
    assert [message.text for message in holdfast.store.prompts.get(job.prompt).system] == ["Be brief."]
    assert job.status == "done"
    assert job.usage.completion == 4
    assert job.window == 8192


def test_thinking_and_tool_calls_reach_both_kinds_of_client(serve):
    script = [Thinking("hm"), "Looking. ", ToolCall("look", '{"path":"a"}', "c1")]
    holdfast = serve(ScriptedProvider([script, script]))
    message = holdfast.client.post("/api/chat", json=ollama(USER)).json()["message"]
    assert message["thinking"] == "hm"
    assert message["tool_calls"][0]["function"]["arguments"] == {"path": "a"}
    choice = holdfast.client.post("/v1/chat/completions", json=openai(USER)).json()["choices"][0]
    assert choice["message"]["reasoning_content"] == "hm"
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"path":"a"}'}
    assert choice["finish_reason"] == "tool_calls"


def test_a_title_request_is_answered_and_not_kept(serve):
    holdfast = serve(ScriptedProvider([ANSWER, "Files"]))
    holdfast.client.post("/api/chat", json=ollama(USER))
    title = (
        "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n"
        '### Output:\nJSON format: { "title": "your concise title here" }\n'
        "### Chat History:\n<chat_history>\nUSER: What is the file called?\n</chat_history>"
    )
    response = holdfast.client.post("/api/chat", json=ollama({"role": "user", "content": title}))
    assert response.json()["message"]["content"] == "Files"
    assert len(conversations(holdfast)) == 1
    assert {job.kind for job in holdfast.store.jobs.recent()} == {"main", "side"}


def test_generate_goes_on_with_its_context(serve):
    holdfast = serve(ScriptedProvider(["one", "two"]))
    first = holdfast.client.post(
        "/api/generate", json={"model": "scripted", "prompt": "first?", "stream": False}
    )
    body = {"model": "scripted", "prompt": "second?", "stream": False, "context": first.json()["context"]}
    second = holdfast.client.post("/api/generate", json=body)
    assert (first.json()["response"], second.json()["response"]) == ("one", "two")
    assert [message.text for message in holdfast.provider.requests[-1].messages] == [
        "first?",
        "one",
        "second?",
    ]
    (conversation,) = conversations(holdfast)
    assert len(said(holdfast, conversation)) == 4


def test_broken_answer_is_reported_in_stream_and_partially_kept(serve):
    holdfast = serve(ScriptedProvider([["It is ", CutOff("the server died")]] * 2))
    lines = holdfast.client.post("/api/chat", json=ollama(USER, stream=True)).text.splitlines()
    assert "the server died" in json.loads(lines[-1])["error"]
    (conversation,) = conversations(holdfast)
    last = holdfast.store.log.path(conversation.head)[-1]
    assert (last.message.text, last.finish) == ("It is ", "cut")
    events = holdfast.client.post("/v1/chat/completions", json=openai(USER, stream=True)).text.split("\n\n")
    assert "the server died" in json.loads(events[-2].removeprefix("data: "))["error"]["message"]


def test_a_client_that_leaves_stops_the_model_and_loses_nothing(serve):
    never = asyncio.Event()
    provider = ScriptedProvider([["It is ", never]])
    holdfast = serve(provider)
    with holdfast.client.stream("POST", "/api/chat", json=ollama(USER, stream=True)) as response:
        next(response.iter_lines())
    job = wait_until(lambda: next((job for job in holdfast.store.jobs.recent() if job.status == "cut"), None))
    assert provider.aborted == 1
    last = holdfast.store.log.path(holdfast.store.log.get(job.conversation).head)[-1]
    assert (last.message.text, last.finish) == ("It is ", "cut")


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Overflow("too long", prompt_tokens=9, window=8), 400, "context_length_exceeded"),
        (UpstreamError("bad", status=418, body={"error": {"message": "teapot", "code": "t"}}), 418, "t"),
        (CutOff("gone"), 502, None),
    ],
)
def test_trouble_before_the_first_byte_has_a_status_of_its_own(serve, error, status, code):
    # What is too large is tried once more, smaller.
    holdfast = serve(ScriptedProvider([error] * 4))
    response = holdfast.client.post("/v1/chat/completions", json=openai(USER, stream=True))
    assert response.status_code == status
    assert response.json()["error"]["code"] == code
    response = holdfast.client.post("/api/chat", json=ollama(USER, stream=True))
    assert response.status_code == status
    assert isinstance(response.json()["error"], str)
    # The question is not lost by it, and asking it once more does not begin another conversation.
    assert [said(holdfast, row) for row in conversations(holdfast)] == [[("user", USER["content"])]]


BAD = [
    ("/api/chat", b"{", 400),
    ("/api/chat", b"[]", 400),
    ("/api/chat", b"\xff", 400),
    ("/api/chat", json.dumps({"messages": [USER]}).encode(), 400),
    ("/api/chat", json.dumps(ollama({"role": "wizard", "content": "hi"})).encode(), 400),
    ("/api/chat", json.dumps(ollama({"role": "tool", "content": "4"})).encode(), 400),
    ("/api/chat", json.dumps(ollama({**USER, "images": ["aGVsbG8="]})).encode(), 400),
    ("/api/chat", json.dumps({**ollama(USER), "model": "nobody"}).encode(), 404),
    ("/v1/chat/completions", b"{", 400),
    ("/v1/chat/completions", json.dumps(openai()).encode(), 400),
    ("/v1/chat/completions", json.dumps(openai({"role": "wizard"})).encode(), 400),
    ("/v1/chat/completions", json.dumps({**openai(USER), "model": "nobody"}).encode(), 404),
    ("/v1/chat/completions", json.dumps({**openai(USER), "model": 7}).encode(), 400),
    ("/v1/chat/completions", json.dumps(openai({"role": "user", "content": 1e9})).encode(), 400),
    ("/v1/chat/completions", b'{"model":"scripted","messages":[],"seed":1e400}', 400),
    ("/v1/chat/completions", json.dumps(openai({"role": "tool", "tool_call_id": 7})).encode(), 400),
    ("/v1/nothing", b"{}", 404),
    ("/api/nothing", b"{}", 404),
]


def test_bad_input_gets_protocol_error_and_server_keeps_running(serve):
    holdfast = serve(ScriptedProvider([ANSWER]))
    for route, body, status in BAD:
        response = holdfast.client.post(route, content=body)
        assert response.status_code == status, (route, body, response.text)
        error = response.json()["error"]
        if route.startswith("/v1"):
            assert set(error) == {"message", "type", "param", "code"}
        else:
            assert isinstance(error, str)
    assert text_of("/api/chat", holdfast.client.post("/api/chat", json=ollama(USER))) == ANSWER


def test_ten_megabytes_of_text_are_kept_and_sent(serve):
    holdfast = serve(ScriptedProvider([ANSWER]))
    text = "wörter " * 1_500_000
    response = holdfast.client.post("/api/chat", json=ollama({"role": "user", "content": text}))
    assert response.status_code == 200
    (conversation,) = conversations(holdfast)
    assert said(holdfast, conversation)[0] == ("user", text)


def test_more_than_the_limit_is_refused_in_the_protocols_shape(serve):
    holdfast = serve(ScriptedProvider([ANSWER]), max_request_mb=1)
    response = holdfast.client.post("/api/chat", json=ollama({"role": "user", "content": "x" * 1_000_001}))
    assert response.status_code == 413
    assert "1 MB" in response.json()["error"]

    def dribble():
        for _ in range(20):
            yield b"x" * 100_000

    assert holdfast.client.post("/v1/chat/completions", content=dribble()).status_code == 413


def test_concurrent_first_messages_are_conversations_of_their_own(serve):
    holdfast = serve(ScriptedProvider(fallback=lambda request: f"Answer to {request.messages[-1].text}"))

    async def ask_all():
        async with httpx.AsyncClient(base_url=holdfast.url, timeout=120, trust_env=False) as client:
            bodies = [ollama({"role": "user", "content": f"Question {n % 3}"}) for n in range(12)]
            return await asyncio.gather(*(client.post("/api/chat", json=body) for body in bodies))

    responses = asyncio.run(ask_all())
    assert [response.status_code for response in responses] == [200] * 12
    rows = conversations(holdfast)
    assert len(rows) == 12
    for row in rows:
        (_, question), (_, answer) = said(holdfast, row)
        assert answer == f"Answer to {question}"


def test_unusual_but_harmless_fields_are_taken(serve):
    client = serve(ScriptedProvider(fallback=ANSWER)).client
    for extra in ({"stream_options": "x"}, {"response_format": {"type": "json_schema", "json_schema": "x"}}):
        assert client.post("/v1/chat/completions", json={**openai(USER), **extra}).status_code == 200
    assert client.post("/api/chat", json={**ollama(USER), "stream": None}).status_code == 200


def test_a_call_without_a_name_does_not_make_a_conversation_unreadable(serve):
    script = [ToolCall("", "{}", "c1")]
    holdfast = serve(ScriptedProvider([script, ANSWER]))
    first = holdfast.client.post("/v1/chat/completions", json=openai(USER))
    conversation = first.headers["x-holdfast-conversation"]
    assert holdfast.client.get(f"/api/chats/{conversation}/messages").status_code == 200


def test_other_methods_are_refused_in_the_protocols_shape(serve):
    client = serve().client
    assert client.get("/v1/chat/completions").status_code == 405
    assert "message" in client.get("/v1/chat/completions").json()["error"]
    assert isinstance(client.get("/api/chat").json()["error"], str)
    assert client.head("/api/tags").status_code == 200


def test_a_client_that_hangs_up_before_the_answer_stops_the_model(serve):
    started, never = threading.Event(), asyncio.Event()

    def script(request):
        started.set()
        return ["", never]

    provider = ScriptedProvider([script])
    holdfast = serve(provider)
    with socket.create_connection(("127.0.0.1", int(holdfast.url.rpartition(":")[2]))) as connection:
        body = json.dumps(ollama(USER)).encode()
        head = f"POST /api/chat HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        assert started.wait(60)
    assert wait_until(lambda: provider.aborted) == 1
