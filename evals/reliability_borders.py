"""`python -m evals.reliability --part borders [--seed S] [--json] [--write]`

Does anything of one person reach another? Holdfast, as `holdfast serve` wires it, stands in front of the
public fake of Ollama. Ada has a chat, a memory, a note, a profile, a finding, an answer by `/v1/responses`, a
job and a key in three scopes: her own, a project and a group. Each of them holds a topic, by which it can be
searched, and a secret word. Then others come through every door: every route of the server, filled in from
its own description with the ids of Ada's things, the chat protocols with each way to name a conversation,
MCP's tools and resources, and the stream of events. They are another user, that user naming Ada's project,
keys of Ada's that are bound to another project or have no memory, a group, a program that speaks for others,
a revoked key, and nobody at all. Memories are made by themselves, as they are by default: what Ada said in
her chats was remembered before the others come, and what they say in theirs is remembered before it is looked
at what she has.

Nothing crosses if no answer has a secret word, or an id that the request did not have, that its sender may
not see; if a model is told none; and if all that Ada has is as it was. That Ada herself finds her things
through the same doors shows that they were there.
"""

import argparse
import contextlib
import json
import re
import string
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx
from fastapi import FastAPI

from evals.reliability_checks import PartResult
from evals.reliability_routes import ENDLESS, Attempt, Route, list_routes, make_attempts, make_example
from evals.window_rows import Row, none_of, progress
from holdfast.config import Settings
from holdfast.server.app import create_app
from holdfast.store import Key
from holdfast.testing.provider import serve_app
from holdfast.turn import TurnEngine
from holdfast.wiring import build_engine
from tests.fakes.ollama import FakeOllama

PART = "borders"
OWNER, OTHER = "ada", "bob"
# Ada's scopes: her own, a project, a group.
PROJECT, GROUP, BOUND = "garden", "club", "school"
SCOPES: Mapping[str, Mapping[str, str]] = {
    "own": {},
    "project": {"x-holdfast-project": PROJECT},
    "group": {"x-holdfast-project": GROUP, "x-holdfast-kind": "group"},
}
KINDS_OF_IDS = ("conversation", "memory", "finding", "job", "message")
_MODEL = "fake"
_PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
# Seconds until what was said is remembered, at most; and the name of that work.
_PATIENCE, _REMEMBERING = 120.0, "memories of "
# How many ids a place in a path is filled with, at most.
_PLACES = 4
_BIRDS = (
    "kestrel", "plover", "heron", "magpie", "swallow", "lapwing", "osprey", "siskin", "wagtail", "nuthatch",
    "bittern", "curlew", "dunlin", "fulmar", "gannet", "hoopoe", "jackdaw", "linnet", "merlin", "nightjar",
    "oriole", "pintail", "quail", "redstart", "shrike", "teal", "whimbrel", "wryneck", "yellowhammer",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Secret:
    """A word that stands in one thing of Ada's: in which scope, and in what kind of thing."""

    word: str
    scope: str
    kind: str


@dataclass(slots=True)
class Estate:
    """All that Ada has: her secrets, and the ids of her things by the names that paths have for them."""

    secrets: list[Secret] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    ids: dict[str, list[str]] = field(default_factory=dict)
    outside: dict[str, str] = field(default_factory=dict)

    def add(self, kind: str, name: str) -> None:
        self.ids.setdefault(kind, []).append(name)

    @property
    def places(self) -> dict[str, list[str]]:
        """What a place in a path may be filled with; a place of an unknown name gets everything."""
        ids = self.ids
        everything = [name for names in ids.values() for name in names]
        return {
            **ids,
            "name": [*ids["job"], *ids["response"]],
            "proposal": ids["memory"],
            "number": ["0"],
            "digest": ["sha256:" + "0" * 64],
            "version": ["1"],
            "*": everything,
        }

    @property
    def values(self) -> dict[str, str]:
        """What arguments and bodies are filled with, by their names."""
        return {
            "text": " ".join(self.topics[:9]),
            "q": " ".join(self.topics[:9]),
            "question": self.topics[0],
            "conversation": self.ids["conversation"][0],
            "conversation_id": self.ids["conversation"][0],
            "memory": self.ids["memory"][0],
            "memory_id": self.ids["memory"][0],
            "id": self.ids["memory"][0],
            "message": self.ids["message"][0],
            "head": self.ids["message"][0],
            "edit": self.ids["message"][0],
            "regenerate": "",
            "research": self.ids["finding"][0],
            "finding": self.ids["finding"][0],
            "path": self.ids["path"][0],
            "model": _MODEL,
            "name": _MODEL,
            "confirm": OWNER,
            "url": "http://127.0.0.1:9/",
            "urls": "http://127.0.0.1:9/",
            "data": "",
            "images": _PICTURE,
        }


@dataclass(frozen=True, slots=True)
class Actor:
    """Somebody who tries: the head of their requests, and which of Ada's secrets they may see."""

    name: str
    headers: Mapping[str, str]
    may_see: Callable[[Secret], bool] = lambda _: False
    # Kinds of Ada's things whose ids are nothing new to them, since it is Ada's own key.
    known_ids: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class BorderCrossing:
    """Something that went over a border: what was seen or changed, by whom, and through which door."""

    actor: str
    door: str
    what: str


@dataclass(slots=True)
class Report:
    """What a campaign tried and saw."""

    attempts: dict[str, int] = field(default_factory=dict)
    crossings: list[BorderCrossing] = field(default_factory=list)
    failures: list[BorderCrossing] = field(default_factory=list)
    # How many memories were made of what somebody said, in their own scope.
    remembered: dict[str, int] = field(default_factory=dict)
    routes: int = 0
    doors_of_owner: set[str] = field(default_factory=set)

    def add(self, crossing: BorderCrossing) -> None:
        if crossing not in self.crossings:
            self.crossings.append(crossing)
            progress(f"{PART}: {crossing.actor}: {crossing.door}: {crossing.what[:300]}")


class World:
    """A running server with all parts, and clients for it."""

    def __init__(self, app: FastAPI, url: str, engine: TurnEngine, upstream: FakeOllama) -> None:
        self.app, self.url, self.store, self.upstream = app, url, engine.store, upstream
        self._idle = engine.background.idle

    def connect(self, headers: Mapping[str, str]) -> httpx.Client:
        return httpx.Client(base_url=self.url, headers=dict(headers), timeout=60, trust_env=False)

    def make_key(self, **rights: Any) -> dict[str, str]:
        _, secret = self.store.keys.create(Key(**rights))
        return {"authorization": f"Bearer {secret}"}

    def wait_for_memories(self) -> None:
        """Wait until what was said so far is remembered, which is done a little after each answer."""
        limit = time.monotonic() + _PATIENCE
        while any(name.startswith(_REMEMBERING) for name in (*self._idle.waiting, self._idle.running or "")):
            if time.monotonic() > limit:
                raise TimeoutError(f"what was said is not remembered after {_PATIENCE:.0f} s")
            time.sleep(0.05)


@contextlib.contextmanager
def open_world(home: Path, **settings: Any) -> Iterator[World]:
    """Serve Holdfast on a folder, with keys needed and no embedder, unless the settings say otherwise."""
    # About as many tokens as a real model server counts, or its answers are not believed.
    upstream = FakeOllama(lambda _: "Yes.", tokenize=lambda text: re.findall(r"\w{1,2}|\W", text))
    with upstream.served() as behind:
        chosen = Settings(
            **{
                "home": home,
                "store": f"sqlite:///{home / 'holdfast.db'}",
                "upstream": behind,
                "require_key": True,
                "embedder": "off",
                **settings,
            }
        )
        engine = build_engine(chosen)
        app = create_app(engine, chosen)
        with serve_app(app) as url:
            yield World(app, url, engine, upstream)


def make_word(random: Random) -> str:
    return "".join(random.choices(string.ascii_lowercase, k=12))


class Settler:
    """Gives Ada her things, each with a topic and a secret."""

    def __init__(self, http: httpx.Client, estate: Estate, random: Random) -> None:
        self._http, self._estate, self._random = http, estate, random

    def settle(self, scope: str, head: Mapping[str, str]) -> None:
        self._http.headers.update(head)
        self._chat(scope)
        self._remember(scope)
        self._research(scope)
        for name in head:
            del self._http.headers[name]

    def sentence(self, scope: str, kind: str) -> str:
        topic, word = _BIRDS[len(self._estate.topics)], make_word(self._random)
        self._estate.secrets.append(Secret(word, scope, kind))
        self._estate.topics.append(topic)
        return f"The {topic} is called {word}."

    def _chat(self, scope: str) -> None:
        estate, http = self._estate, self._http
        told = {"role": "user", "content": self.sentence(scope, "chat"), "images": [_PICTURE]}
        answer = http.post("/api/chat", json={"model": _MODEL, "stream": False, "messages": [told]})
        chat = self._expect(answer).headers["x-holdfast-conversation"]
        estate.add("conversation", chat)
        http.patch(f"/api/chats/{chat}", json={"title": self.sentence(scope, "title")}).raise_for_status()
        for row in http.get(f"/api/chats/{chat}/messages").json()["messages"]:
            estate.add("message", row["id"])
        body = {"model": _MODEL, "input": self.sentence(scope, "chat"), "stream": False}
        response: str = self._expect(http.post("/v1/responses", json=body)).json()["id"]
        estate.add("response", response)
        estate.add("job", response.removeprefix("resp_"))
        session = make_word(self._random)
        estate.outside[scope] = session
        named = {"role": "user", "content": self.sentence(scope, "chat")}
        body = {
            "model": _MODEL,
            "stream": False,
            "messages": [named],
            "metadata": {"conversation_id": session},
        }
        self._expect(http.post("/v1/chat/completions", json=body))

    def _remember(self, scope: str) -> None:
        estate, http = self._estate, self._http
        memory = self._expect(http.post("/api/memory", json={"text": self.sentence(scope, "memory")})).json()
        estate.add("memory", memory["memory"]["id"])
        paths = [note["path"] for note in http.get("/api/notes").json()["notes"]]
        folder = max((path for path in paths if path.endswith("MEMORY.md")), key=len).removesuffix(
            "MEMORY.md"
        )
        text = self.sentence(scope, "note")
        self._expect(http.put(f"/api/notes/{folder}birds.md", content=f"# Birds\n\n{text}\n"))
        for name in ("MEMORY.md", "birds.md"):
            estate.add("path", f"{folder}{name}")
        if scope == "own":
            self._expect(http.patch("/api/memory/profile", json={"company": self.sentence(scope, "profile")}))

    def _research(self, scope: str) -> None:
        source = {"url": "https://example.com/a", "title": "Birds", "text": self.sentence(scope, "finding")}
        body = {"question": f"Which bird is {make_word(self._random)}?", "sources": [source]}
        finding = self._expect(self._http.post("/api/research", json=body)).json()
        self._estate.add("finding", finding["id"])

    def _expect(self, answer: httpx.Response) -> httpx.Response:
        if answer.is_error:
            raise RuntimeError(f"{answer.request.method} {answer.request.url}: {answer.text[:500]}")
        return answer


def settle_owner(world: World, seed: int) -> tuple[Estate, dict[str, str]]:
    """Give Ada her things in all scopes; return them and the head of her requests."""
    estate, head = Estate(), world.make_key(user=OWNER, name="ada's laptop")
    estate.ids["key"] = [key.id for key in world.store.keys.all()]
    with world.connect(head) as http:
        settler = Settler(http, estate, Random(seed))
        for scope, scope_head in SCOPES.items():
            settler.settle(scope, scope_head)
        world.wait_for_memories()
        note_memories(http, estate)
    return estate, head


def note_memories(http: httpx.Client, estate: Estate) -> None:
    """Add what was remembered of Ada's chats: their secrets stand in memories now, too."""
    chats = [secret for secret in estate.secrets if secret.kind == "chat"]
    for scope, head in SCOPES.items():
        for memory in http.post("/api/memory/export", headers=head).json()["memories"]:
            for secret in chats:
                if secret.word in memory["text"] and memory["id"] not in estate.ids["memory"]:
                    estate.secrets.append(Secret(secret.word, scope, "memory"))
                    estate.add("memory", memory["id"])


def make_actors(world: World, owner: Mapping[str, str]) -> list[Actor]:
    """All who try; each has a key of their own, so that none uses up what another needs."""
    other = world.make_key(user=OTHER)
    bound = world.make_key(user=OWNER, project=BOUND)
    blind = world.make_key(user=OWNER, memory=False)
    forwarder = world.make_key(user=OWNER, forwarder=True)
    revoked, secret = world.store.keys.create(Key(user=OWNER))
    world.store.keys.revoke(revoked.id)
    group = {"x-holdfast-kind": "group"}
    notes = ("memory", "note", "profile")
    chats = [kind for kind in KINDS_OF_IDS if kind != "memory"]
    return [
        Actor("another user", other),
        Actor("another user, naming the project", {**other, "x-holdfast-project": PROJECT}),
        Actor("another user, in the group", {**other, **group, "x-holdfast-project": GROUP}, in_group),
        Actor(
            "a group of the project's name",
            {**owner, **group, "x-holdfast-project": PROJECT},
            known_ids=KINDS_OF_IDS,
        ),
        Actor(
            "the owner, in the group",
            {**owner, **group, "x-holdfast-project": GROUP},
            in_group,
            KINDS_OF_IDS,
        ),
        Actor("a key for another project", bound, reads_own_notes),
        Actor("a key without memory", blind, lambda secret: secret.kind not in notes, chats),
        Actor("a forwarder that names nobody", forwarder),
        Actor("a forwarder that names the owner", {**forwarder, "x-holdfast-user": OWNER}),
        Actor("a revoked key", {"authorization": f"Bearer {secret}"}),
        Actor("nobody", {}),
    ]


def reads_own_notes(secret: Secret) -> bool:
    """What a key that is bound to a project may read of its person, and never change."""
    return secret.scope == "own" and secret.kind in ("memory", "note", "profile", "finding")


def in_group(secret: Secret) -> bool:
    return secret.scope == "group"


def chat_attempts(estate: Estate, statement: str) -> Iterator[Attempt]:
    """Each chat protocol with each way to name somebody else's conversation: something is said and asked."""
    question = f"{statement} What do you know of {' and '.join(estate.topics[::2])}?"
    messages = [{"role": "user", "content": question}]
    plain = {"model": _MODEL, "stream": False}
    bodies: dict[str, dict[str, Any]] = {
        "/api/chat": {**plain, "messages": messages},
        "/v1/chat/completions": {**plain, "messages": messages},
        "/v1/messages": {**plain, "messages": messages, "max_tokens": 500},
        "/v1/responses": {**plain, "input": question},
        "/v1/completions": {**plain, "prompt": question},
        "/api/generate": {**plain, "prompt": question},
    }
    for path, body in bodies.items():
        route = Route("POST", path)

        def attempt(more: Mapping[str, Any] = {}, head: Mapping[str, str] = {}) -> Attempt:
            content = json.dumps({**body, **more}).encode()  # noqa: B023
            return Attempt(route, path, {}, content, {"content-type": "application/json", **head})  # noqa: B023

        yield attempt()
        for chat in estate.ids["conversation"]:
            yield attempt(head={"x-holdfast-conversation": chat})
        for session in estate.outside.values():
            yield attempt({"metadata": {"conversation_id": session, "user_id": OWNER}, "user": OWNER})
        if path == "/v1/chat/completions":
            for finding in estate.ids["finding"]:
                yield attempt({"metadata": {"research": finding}}, {"x-holdfast-research": finding})
        if path == "/api/generate":
            for chat in estate.ids["conversation"]:
                yield attempt({"context": [72, 70, *chat.encode()]})
        for response in estate.ids["response"] if path == "/v1/responses" else ():
            yield attempt({"previous_response_id": response})
            item = {"type": "item_reference", "id": f"msg_{response.removeprefix('resp_')}_0"}
            yield attempt({"input": [item, {"role": "user", "content": question}]})


def turn_attempts(estate: Estate) -> Iterator[Attempt]:
    """The page's own way to ask, in each of the owner's conversations, and to ask or answer once more."""
    route = Route("POST", "/api/chats/turns")
    for chat in estate.ids["conversation"]:
        for kind in (None, "group"):
            message = estate.ids["message"][0]
            for way in (
                {"text": "Go on."},
                {"regenerate": message},
                {"edit": message, "text": "Never mind."},
            ):
                body = {"model": _MODEL, "conversation": chat, "kind": kind, **way}
                head = {"content-type": "application/json"}
                yield Attempt(route, route.path, {}, json.dumps(body).encode(), head)


def mcp_attempts(http: httpx.Client, estate: Estate) -> Iterator[Attempt]:
    """Every tool and resource that this caller is offered, with the ids and topics of the owner."""
    route = Route("POST", "/mcp")
    accept = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    version = {"mcp-protocol-version": "2025-06-18"}

    def attempt(method: str, arguments: Mapping[str, Any]) -> Attempt:
        call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": arguments}
        return Attempt(route, "/mcp", {}, json.dumps(call).encode(), {**accept, **version})

    listing = attempt("tools/list", {})
    yield listing
    answer = http.post("/mcp", content=listing.content, headers=dict(listing.headers))
    tools = answer.json().get("result", {}).get("tools", ()) if answer.status_code == 200 else ()
    for tool in tools:
        for whole in (False, True):
            arguments = make_example(tool["inputSchema"], "", estate.values, whole=whole)
            yield attempt("tools/call", {"name": tool["name"], "arguments": arguments})
        for kind in ("memory", "path", "conversation", "finding"):
            for name in estate.ids[kind][:3]:
                values = dict.fromkeys(estate.values, name)
                arguments = make_example(tool["inputSchema"], "", values, whole=False)
                yield attempt("tools/call", {"name": tool["name"], "arguments": arguments})
    for method in ("resources/list", "resources/templates/list", "prompts/list"):
        yield attempt(method, {})
    for path in estate.ids["path"]:
        yield attempt("resources/read", {"uri": f"holdfast://notes/{path}"})
    yield attempt("resources/read", {"uri": "holdfast://brief"})


def send(http: httpx.Client, attempt: Attempt) -> httpx.Response:
    return http.request(
        attempt.route.method,
        attempt.path,
        params=dict(attempt.query),
        content=attempt.content,
        headers=dict(attempt.headers),
    )


def find_secrets(estate: Estate, actor: Actor, asked: str, text: str) -> Iterator[str]:
    """Return what an answer has that its reader may not know; `asked` is all that its reader ever sent."""
    # What was said in a chat may stand in a memory, too: whoever may read one of them may know the word.
    known = {secret.word for secret in estate.secrets if actor.may_see(secret)}
    for secret in estate.secrets:
        if secret.word in text and secret.word not in known:
            yield f"{secret.kind} of the {secret.scope} scope"
    if known and not actor.known_ids:
        # Ids are not told apart by scope; who may see a part is judged by the words.
        return
    for kind in KINDS_OF_IDS:
        for name in estate.ids[kind] if kind not in actor.known_ids else ():
            if len(name) > 4 and name in text and name not in asked:
                yield f"the id of a {kind}"


# Lists of things, and the names they have there and among the ids of an estate.
_LISTS = (
    ("/api/chats", "chats", "conversation"),
    ("/api/notes", "notes", "path"),
    ("/api/research", "findings", "finding"),
)


def take_inventory(http: httpx.Client, estate: Estate) -> dict[str, str]:
    """Return all that Ada has, as she finds it, by the place where it was found."""
    inventory: dict[str, str] = {}
    for scope in SCOPES.values():
        for path, list_name, kind in _LISTS:
            listed = http.get(path, headers=scope).json()[list_name]
            known = [row for row in listed if row["path" if kind == "path" else "id"] in estate.ids[kind]]
            inventory[f"{scope} {path}"] = json.dumps(known)
        inventory[f"{scope} profile"] = http.get("/api/memory/profile", headers=scope).text
        exported = http.post("/api/memory/export", headers=scope)
        inventory[f"{scope} export"] = exported.text
        for chat in estate.ids["conversation"]:
            inventory[f"{scope} {chat}"] = http.get(f"/api/chats/{chat}/messages", headers=scope).text
        for path in estate.ids["path"]:
            inventory[f"{scope} {path}"] = http.get(f"/api/notes/{path}", headers=scope).text
    for response in estate.ids["response"]:
        inventory[response] = http.get(f"/v1/responses/{response}").text
    return inventory


def compare(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    return [place for place in before if strip_volatile(before[place]) != strip_volatile(after[place])]


def strip_volatile(text: str) -> Any:
    """Return a listing without what reading it changes, or what time does."""
    try:
        return _without(json.loads(text))
    except ValueError:
        return text


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        volatile = ("exported_at", "age", "used_at", "uses", "recalled_at", "expired")
        return {name: _without(inner) for name, inner in value.items() if name not in volatile}
    return [_without(inner) for inner in value] if isinstance(value, list) else value


class Campaign:
    """Tries every door as every actor."""

    def __init__(self, world: World, seed: int, places: int = _PLACES) -> None:
        self._world, self.report, self._places = world, Report(), places
        self.estate, self._owner = settle_owner(world, seed)
        self._routes = [route for route in list_routes(world.app) if route.path not in ENDLESS]
        self.report.routes = len(self._routes)
        self.actors = make_actors(world, self._owner)
        # What came through each key so far: an id that somebody sent may come back from anywhere.
        self._asked: dict[str, str] = {}
        self._random = Random(f"{seed} words of others")

    def run(self, actors: int = 99) -> Report:
        del self.actors[actors:]
        self._try_as_owner()
        for actor in self.actors:
            self._try_as(actor)
            progress(f"{PART}: {actor.name}: {self.report.attempts[actor.name]} requests")
        self._follow_events()
        return self.report

    def _attempts(self, http: httpx.Client, statement: str) -> Iterator[Attempt]:
        # Lists first, while no id was named yet.
        for route in sorted(self._routes, key=lambda route: (bool(route.places), route.changes)):
            yield from make_attempts(route, self.estate.places, self.estate.values, self._places)
        yield from chat_attempts(self.estate, statement)
        yield from turn_attempts(self.estate)
        yield from mcp_attempts(http, self.estate)

    def _try_as_owner(self) -> None:
        """Count the doors through which the owner finds her things: they are there to be found."""
        scopes: tuple[dict[str, str], ...] = ({}, {"x-holdfast-project": PROJECT})
        for scope in scopes:
            with self._world.connect({**self._owner, **scope}) as http:
                for route in self._routes:
                    if route.changes:
                        continue
                    for attempt in make_attempts(route, self.estate.places, self.estate.values, self._places):
                        text = send(http, attempt).text
                        if any(secret.word in text for secret in self.estate.secrets):
                            self.report.doors_of_owner.add(route.path)

    def _try_as(self, actor: Actor) -> None:
        report, world = self.report, self._world
        report.attempts[actor.name] = 0
        word = make_word(self._random)
        with world.connect(actor.headers) as http, world.connect(self._owner) as owner:
            before = take_inventory(owner, self.estate)
            for attempt in self._attempts(http, f"The otter is called {word}."):
                sent = len(world.upstream.requests)
                answer = send(http, attempt)
                report.attempts[actor.name] += 1
                told = json.dumps(world.upstream.requests[sent:], ensure_ascii=False)
                self._judge(actor, attempt, answer, told)
            world.wait_for_memories()
            memories = http.post("/api/memory/export", headers=actor.headers)
            report.remembered[actor.name] = int(memories.is_success and word in memories.text)
            for place in compare(before, take_inventory(owner, self.estate)):
                if not self._may_change(actor, place):
                    report.add(BorderCrossing(actor.name, "one of the doors", f"{place} was changed"))

    def _judge(self, actor: Actor, attempt: Attempt, answer: httpx.Response, told: str) -> None:
        door = f"{attempt.route.method} {attempt.route.path}"
        head = " ".join(f"{name}: {value}" for name, value in answer.headers.items())
        # A description of the server is the same for all; a list of models, too.
        key = actor.headers.get("authorization", "")
        asked = self._asked[key] = f"{self._asked.get(key, '')}\n{attempt.text}"
        for what in find_secrets(self.estate, actor, asked, f"{answer.text}\n{head}"):
            self.report.add(BorderCrossing(actor.name, door, f"{what} was shown ({attempt.path})"))
        for what in find_secrets(self.estate, actor, asked, told):
            self.report.add(BorderCrossing(actor.name, door, f"{what} was told to a model"))
        if answer.status_code >= 500 and answer.status_code not in (501, 502, 503):
            failure = BorderCrossing(actor.name, door, f"{answer.status_code} {answer.text[:200]}")
            self.report.failures.append(failure)
            progress(f"{PART}: {failure}")

    def _may_change(self, actor: Actor, place: str) -> bool:
        """A group belongs to all who name it, and a key without memory is still its owner's for chats."""
        if actor.may_see is in_group:
            return "'group'" in place
        if actor.name == "a key without memory":
            return "notes" not in place and "export" not in place and ".md" not in place
        return False

    def _follow_events(self) -> None:
        """Follow all events that are remembered, as each who may, until one's own comes."""
        for actor in self.actors:
            if actor.name in ("nobody", "a revoked key"):
                continue
            queries: tuple[dict[str, str], ...] = ({}, {"kind": "group"})
            for query in queries:
                if query and actor.known_ids:
                    continue
                text = read_events(self._world, actor.headers, {"after": 0, **query})
                self.report.attempts[actor.name] += 1
                asked = self._asked[actor.headers["authorization"]]
                for what in find_secrets(self.estate, actor, asked, text):
                    self.report.add(BorderCrossing(actor.name, "GET /api/events", f"{what} was shown"))


def read_events(world: World, headers: Mapping[str, str], query: Mapping[str, Any]) -> str:
    """Return what a follower is sent within a second of reading from the oldest event on."""
    lines: list[str] = []
    with world.connect(headers) as http, contextlib.suppress(httpx.ReadTimeout):
        timeout = httpx.Timeout(60, read=0.7)
        with http.stream("GET", "/api/events", params=dict(query), timeout=timeout) as stream:
            if stream.status_code == 200:
                timer = threading.Timer(2.0, stream.close)
                timer.start()
                with contextlib.suppress(httpx.HTTPError, httpx.StreamError):
                    lines.extend(stream.iter_lines())
                timer.cancel()
    return "\n".join(lines)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--actors", type=int, default=99, help="only so many of those who try")


def run(options: argparse.Namespace, folder: Path) -> PartResult:
    with open_world(folder) as world:
        report = Campaign(world, options.seed).run(options.actors)
    return PartResult(list(rows(report)), list_findings(report))


def rows(report: Report) -> Iterator[Row]:
    yield Row(PART, "routes", "from the table of the server", report.routes)
    yield Row(
        PART, "doors through which the owner finds a secret", "reading only", len(report.doors_of_owner)
    )
    for actor, number in report.attempts.items():
        crossed = sum(crossing.actor == actor for crossing in report.crossings)
        yield none_of(PART, "crossed", f"{actor}, {number:,} requests", crossed)
    said = [actor for actor, number in report.remembered.items() if number]
    yield Row(PART, "remembered in their own scope what they said", ", ".join(said), len(said))
    yield none_of(PART, "internal errors", "all of them", len(report.failures))


def list_findings(report: Report) -> Sequence[str]:
    return [f"{row.actor}: {row.door}: {row.what}" for row in (*report.crossings, *report.failures)]
