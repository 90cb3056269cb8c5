"""The JavaScript libraries of Ollama and OpenAI, unmodified, with an Ollama behind Holdfast."""

import pytest

from tests.clients.sdk_server import LOOKED, MODEL, PICTURE, tables
from tests.fakes.ollama_runner import FakeReply

# In one group with the tests of a real model: the libraries are got once.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("embedded")]

CALLS = [["look", {"path": "a"}], ["look", {"path": "b"}]]
PARAMETERS = {"type": "object", "properties": {"path": {"type": "string"}}}
TOOLS = [{"type": "function", "function": {"name": "look", "description": "Read.", "parameters": PARAMETERS}}]
TALKS = [
    [("user", "Look into a and b.", 1), *LOOKED],
    [
        ("user", "I am Ada."),
        ("assistant", "Hello Ada."),
        ("user", "Who am I?"),
        ("assistant", "You are Ada."),
    ],
]


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    with tables(tmp_path_factory.mktemp("served")) as store:
        yield store


@pytest.fixture
def table(make):
    result = make()
    looking = FakeReply("Looking.", thinking="Two files.", calls=[(name, path) for name, path in CALLS])
    result.answers += [looking, "Both are empty.", "You are welcome.", "Hello Ada.", "You are Ada."]
    return result


def given(table):
    return {"url": table.url, "model": MODEL, "headers": table.headers}


ANSWERS = ["Both are empty.", "You are welcome.", "Hello Ada.", "You are Ada."]


def test_ollama_for_javascript(table, node):
    seen = node("talk_ollama.mjs", tools=TOOLS, picture=PICTURE, **given(table))
    assert seen["missing"][0] == 404
    assert "not found" in seen["missing"][1]
    del seen["missing"]
    assert {"tools", "vision"} <= set(seen.pop("capabilities"))
    assert seen == {
        "done": True,
        "thinking": "Two files.",
        "calls": CALLS,
        "answers": ANSWERS,
        "models": [MODEL, "use-multilingual"],
        "running": [MODEL],
        "vectors": 2,
    }
    assert table.kept() == TALKS
    assert table.asked()[0]["messages"][0]["images"] == [PICTURE]


def test_openai_for_javascript(table, node):
    seen = node("talk_openai.mjs", tools=TOOLS, picture=PICTURE, **given(table))
    usage = seen.pop("usage")
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 0
    assert seen == {
        "calls": CALLS,
        "answers": ANSWERS,
        "models": [MODEL, "use-multilingual"],
        "vectors": [16, 16],
        "end": "response.completed",
        "missing": [404, "model_not_found"],
    }
    assert table.kept() == TALKS
    assert table.asked()[0]["messages"][0]["images"] == [PICTURE]
