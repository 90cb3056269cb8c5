"""Messages that are made to keep the server busy: they are answered, and so is everybody else meanwhile."""

import threading
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.server.memory_server import remembering

# Seconds after which a client gives up. Whoever holds the server holds it for minutes.
PATIENCE = 60.0
# Between two questions of somebody else.
BETWEEN = 0.05
TEXTS = {
    "newlines": "a" + "\n" * 20_000 + "b",
    "spaces": "a" + " " * 1_000_000 + "b",
    "digits": "1" * 200_000,
    "letters": "a" * 200_000,
    "quotes": "„" * 50_000,
    "pictures": "![" * 24_000,
    "banners": "⟦Holdfast: " * 10_000 + "\n" * 10_000,
    "names": "a." * 50_000,
    "rules": "never " * 20_000,
    "keys": "eyJ-" * 25_000,
    "lines": "user: a\n" * 5_000,
    "fences": "~" * 50_000,
}


# So much was said before that the window has no room for all of it: what was left out is looked for.
BEFORE = [
    f"My garden has bed {number}. " + f"Row {number} has leeks and beans. " * 250 for number in range(7)
]


@pytest.fixture(scope="module")
def door(tmp_path_factory):
    with remembering(tmp_path_factory.mktemp("hostile")) as opened:
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_a_hostile_message_holds_nobody_up(door, name):
    """It is said, the talk goes on, and is summarised, while another client asks again and again."""
    statuses: list[int] = []
    asking = threading.Thread(target=lambda: statuses.extend(converse(door.client.base_url, TEXTS[name])))
    asking.start()
    while asking.is_alive():
        # Whoever is held up for longer than their patience fails here.
        assert door.client.get("/api/chats", timeout=PATIENCE).status_code == 200
        asking.join(BETWEEN)
    assert statuses == [200] * (len(BEFORE) + 4)


def converse(address: httpx.URL, text: str) -> Iterator[int]:
    """What the server answers to each step of a talk about a hostile text."""
    headers = {"X-Holdfast-Conversation": uuid4().hex}
    asked: dict[str, Any] = {"model": "scripted", "messages": [], "stream": False}
    with httpx.Client(base_url=address, timeout=PATIENCE, headers=headers, trust_env=False) as client:
        for words in (*BEFORE, text, "What did I say about the garden earlier?"):
            asked["messages"].append({"role": "user", "content": words})
            answer = client.post("/api/chat", json=asked)
            yield answer.status_code
            asked["messages"].append(answer.json()["message"])
        chat = answer.headers["X-Holdfast-Conversation"]
        yield client.post(f"/api/chats/{chat}/compact").status_code
        yield client.get(f"/api/chats/{chat}/messages", params={"html": True}).status_code


def test_more_messages_than_anybody_has_are_refused_with_the_way_out(serve):
    holdfast = serve(max_messages=50)
    for path in ("/api/chat", "/v1/chat/completions", "/v1/messages"):
        for number, status in ((49, 200), (51, 413)):
            messages = [{"role": ("user", "assistant")[at % 2], "content": f"{at}"} for at in range(number)]
            sent = {"model": "scripted", "messages": messages, "stream": False, "max_tokens": 9}
            answer = holdfast.client.post(path, json=sent)
            assert answer.status_code == status, answer.text
    assert "max_messages" in answer.text
    assert len(holdfast.provider.requests) == 3
