"""Many clients of every protocol talking at once, and what must have been kept of it in the end.

`python -m tests.server.crowd --clients 50 --turns 20` holds the whole of it and tells how long it took. Knows
no store: it compares what people saw with what the server says was kept.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from holdfast.messages import ChatRequest
from holdfast.store import Key
from holdfast.testing.provider import ScriptedProvider
from tests.server.conftest import running

MODEL = "scripted"
USERS = ("ada", "bob", "eve")
PROJECTS = ("garden", "house")
# Everybody begins with the same words: tabs of one browser, and people who greet alike.
GREETING = "Hello!"

Talk = tuple[tuple[str, str], ...]


def answer(request: ChatRequest) -> str:
    """The same words for the same question, so that equal beginnings stay equal."""
    return f"You said: {request.messages[-1].text}"


@dataclass
class Person:
    """One client with its own history; `turn` sends what its protocol sends and reads the answer."""

    number: int
    protocol: "Protocol"
    headers: dict[str, str]
    scope: tuple[str, str]
    seen: list[tuple[str, str]] = field(default_factory=list)
    # What an earlier answer gave for going on without the history.
    handle: Any = None

    @property
    def stream(self) -> bool:
        return self.number % 2 == 0

    async def say(self, client: httpx.AsyncClient, words: str) -> None:
        path, body = self.protocol.ask(self, words)
        response = await client.post(
            path, json={"model": MODEL, "stream": self.stream, **body}, headers=self.headers
        )
        assert response.status_code == 200, response.text
        hear = self.protocol.hear(self, response)
        self.seen += [("user", words), ("assistant", hear)]

    def history(self, words: str) -> list[dict[str, str]]:
        return [{"role": role, "content": text} for role, text in (*self.seen, ("user", words))]


@dataclass(frozen=True)
class Protocol:
    client: str
    ask: Callable[[Person, str], tuple[str, dict[str, Any]]]
    hear: Callable[[Person, httpx.Response], str]


def _lines(response: httpx.Response) -> Iterator[dict[str, Any]]:
    """The pieces of a stream of any protocol, or the whole answer as the only one."""
    kind = response.headers["content-type"]
    for line in response.text.splitlines() if "json" not in kind or "ndjson" in kind else [response.text]:
        data = line.removeprefix("data: ")
        if data.startswith("{"):
            yield json.loads(data)


def _hear_chat(_: Person, response: httpx.Response) -> str:
    return "".join(piece["message"]["content"] for piece in _lines(response))


def _hear_generate(person: Person, response: httpx.Response) -> str:
    pieces = list(_lines(response))
    person.handle = pieces[-1]["context"]
    return "".join(piece["response"] for piece in pieces)


def _hear_openai(_: Person, response: httpx.Response) -> str:
    choices = [piece["choices"][0] for piece in _lines(response)]
    return "".join((choice.get("delta") or choice.get("message"))["content"] or "" for choice in choices
                   if (choice.get("delta") or choice.get("message") or {}).get("content"))  # fmt: skip


def _hear_responses(person: Person, response: httpx.Response) -> str:
    last = list(_lines(response))[-1]
    whole = last.get("response", last)
    person.handle = whole["id"]
    (message,) = [item for item in whole["output"] if item["type"] == "message"]
    return "".join(part["text"] for part in message["content"])


def _hear_anthropic(_: Person, response: httpx.Response) -> str:
    pieces = list(_lines(response))
    if "content" in pieces[0]:
        return "".join(block["text"] for block in pieces[0]["content"])
    return "".join(piece["delta"].get("text", "") for piece in pieces if "delta" in piece)


def _ask_generate(person: Person, words: str) -> tuple[str, dict[str, Any]]:
    return "/api/generate", {"prompt": words, **({"context": person.handle} if person.handle else {})}


def _ask_responses(person: Person, words: str) -> tuple[str, dict[str, Any]]:
    before = {"previous_response_id": person.handle} if person.handle else {}
    return "/v1/responses", {"input": words, **before}


PROTOCOLS = (
    Protocol("chatter", lambda person, words: ("/api/chat", {"messages": person.history(words)}), _hear_chat),
    Protocol(
        "completer",
        lambda person, words: ("/v1/chat/completions", {"messages": person.history(words)}),
        _hear_openai,
    ),
    Protocol(
        "messenger",
        lambda person, words: ("/v1/messages", {"messages": person.history(words), "max_tokens": 100}),
        _hear_anthropic,
    ),
    Protocol("responder", _ask_responses, _hear_responses),
    Protocol("generator", _ask_generate, _hear_generate),
)


def people(count: int, keys: dict[str, str]) -> list[Person]:
    """Spread over users (by their keys), projects (by the header) and protocols, as evenly as it goes.

    Always two of a scope have the same client: nothing but their words tells them apart.
    """
    scopes = [(user, project) for user in USERS for project in PROJECTS]
    result = []
    for number in range(count):
        place, pair = number % len(scopes), number // (2 * len(scopes))
        user, project = scopes[place]
        protocol = PROTOCOLS[(place + pair) % len(PROTOCOLS)]
        headers = {
            "Authorization": f"Bearer {keys[user]}",
            "User-Agent": f"{protocol.client}/1.0",
            "X-Holdfast-Project": project,
        }
        result.append(Person(number, protocol, headers, (user, project)))
    return result


async def talk(url: str, crowd: list[Person], turns: int) -> None:
    """Everybody talks as fast as they are answered, all at once."""
    limits = httpx.Limits(max_connections=len(crowd))
    async with httpx.AsyncClient(base_url=url, timeout=600, trust_env=False, limits=limits) as client:

        async def whole(person: Person) -> None:
            await person.say(client, GREETING)
            for turn in range(1, turns):
                await person.say(client, f"This is turn {turn} of person {person.number}.")

        await asyncio.gather(*map(whole, crowd))


def seen(crowd: list[Person]) -> dict[tuple[str, str], Counter[Talk]]:
    """The conversations that ought to be there, by scope; equal ones are counted."""
    results: dict[tuple[str, str], Counter[Talk]] = {}
    for person in crowd:
        results.setdefault(person.scope, Counter())[tuple(person.seen)] += 1
    return results


def kept(client: httpx.Client, crowd: list[Person]) -> dict[tuple[str, str], Counter[Talk]]:
    """The conversations that the server has, by scope, each as its person would read it."""
    results: dict[tuple[str, str], Counter[Talk]] = {}
    for scope, headers in {person.scope: person.headers for person in crowd}.items():
        talks: Counter[Talk] = Counter()
        for chat in client.get("/api/chats?limit=500", headers=headers).json()["chats"]:
            shown = client.get(f"/api/chats/{chat['id']}/messages", headers=headers).json()["messages"]
            talks[tuple((item["role"], item["content"]) for item in shown)] += 1
        results[scope] = talks
    return results


def mixed(requests: list[ChatRequest]) -> list[list[str]]:
    """What a model was asked that has the words of more than one person in it."""
    results = []
    for request in requests:
        own = {
            text.rpartition(" person ")[2].rstrip(".")
            for text in (message.text for message in request.messages)
            if " person " in text
        }
        if len(own) > 1:
            results.append([message.text for message in request.messages])
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--turns", type=int, default=20)
    asked = parser.parse_args()
    provider = ScriptedProvider(fallback=answer)
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), provider) as holdfast:
        keys = {user: holdfast.store.keys.create(Key(user=user))[1] for user in USERS}
        crowd = people(asked.clients, keys)
        begun = time.monotonic()
        asyncio.run(talk(holdfast.url, crowd, asked.turns))
        took = time.monotonic() - begun
        same = seen(crowd) == kept(holdfast.client, crowd)
        asked_of_model = [request for request in provider.requests if request.messages]
        print(
            f"{asked.clients} clients, {asked.turns} turns: {took:.1f} s,"
            f" {asked.clients * asked.turns / took:.0f} turns/s;"
            f" every turn kept once, in order: {same}; mixed requests: {len(mixed(asked_of_model))}"
        )


if __name__ == "__main__":
    main()
