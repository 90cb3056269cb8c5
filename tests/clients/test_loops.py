"""Fifty tool calls in one turn, in a window of 8k: pairs stay whole, the task and what it forbids stay."""

from itertools import pairwise

import pytest

from evals.window_loop_traffic import CLIENTS, TASK, Round, output, path_of
from holdfast.messages import Scope
from holdfast.upstreams.http import Connection
from holdfast.upstreams.ollama import Ollama
from holdfast.window.presets import preset_named
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel, FakeReply
from tests.server.conftest import running

WINDOW = 8_192
CALLS = 50
# What the person asked for, and what they forbade.
FIND, FORBIDDEN = TASK.split(" Never")[0], "Never change anything under vendor/."


class Agent:
    """A model that reads file after file; asked for anything else, it has nothing to say."""

    def __init__(self):
        self.number = 0

    def __call__(self, call):
        if not call.body.get("tools"):
            return FakeReply("Noted.")
        self.number += 1
        return FakeReply(calls=[("read", {"path": path_of(self.number)})])


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_fifty_calls_in_one_turn_lose_neither_task_nor_pairs(client, tmp_path):
    agent = Agent()
    fake = FakeOllama(agent, models=[FakeModel(num_ctx=WINDOW, trained_window=WINDOW)])
    project = {"x-holdfast-project": "harbour"}
    with (
        fake.served() as url,
        running(tmp_path, Ollama(Connection(url)), preset=preset_named("balanced")) as holdfast,
    ):
        rounds, record = [], []
        for _ in range(CALLS):
            body = {"model": "fake:latest", **client.body(rounds)}
            response = holdfast.client.post(client.path, json=body, headers=client.headers | project)
            assert response.status_code == 200, response.text
            record.append(response.headers["x-holdfast-prefix"] == "kept")
            rounds.append(Round(client.call(response.json()), path_of(agent.number), output(agent.number)))
        (row,) = holdfast.store.log.recent(Scope(project="harbour"))
        assert holdfast.store.summaries.latest(row.head) is not None
    requests = [body["messages"] for path, body in fake.requests if path == "/api/chat" and body.get("tools")]
    assert len(requests) == CALLS
    for number, messages in enumerate(requests):
        text = "\n".join(message.get("content") or "" for message in messages)
        assert FIND in text
        assert FORBIDDEN in text
        calls = check_pairs(messages)
        # What is no longer there word for word is in a summary, which begins the window.
        assert calls == number or "Summary of the conversation so far:" in messages[0]["content"]
        assert number == 0 or messages[-1]["content"] == output(number)
    assert sum(record) >= 0.8 * CALLS


def check_pairs(messages):
    """Return how many calls there are; each is followed by its result, and no result stands alone."""
    calls = 0
    for before, message in pairwise(messages):
        if message["role"] == "tool":
            assert before["role"] == "assistant"
            assert len(before["tool_calls"]) == 1
        elif before["role"] == "assistant":
            raise AssertionError("a call without its result")
        calls += len(message.get("tool_calls") or ())
    return calls
