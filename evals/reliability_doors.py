"""`python -m evals.reliability --part doors [--seed S] [--json] [--write]`

What can somebody do who has no right to come in, or sends what is made to do harm? Holdfast as `holdfast
serve` wires it, without a key on loopback, as most people have it, in front of the public fake of Ollama:

- every route under names that are not ours (DNS rebinding), and from pages of other origins with whatever a
  browser sends unasked (plain text, forms, no type), with and without what it says of the site (forgery);
- research on a service of this machine, in every spelling of its address, by userinfo and by redirects
  (inside);
- notes, `@file` and pages by paths that lead out of their folder, and by links;
- YAML, zipped documents and JSON that are small and become large (bombs);
- sessions that were known before somebody signed in, and those that ended;
- keys and passwords in logs, errors, settings, `doctor` and backups; who may read the files.

Hostile archives and imports are in `tests/transfer`, pages with hostile texts in a real browser in
`tests/browser/test_hostile_pages.py`.
"""

import argparse
import base64
import contextlib
import io
import json
import logging
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route as Page

from evals.reliability_borders import World, make_word, open_world
from evals.reliability_checks import PartResult
from evals.reliability_routes import ENDLESS, Route, list_routes
from evals.window_rows import Row, none_of, progress
from holdfast.messages import Scope
from holdfast.store.access import password_digest
from holdfast.testing.provider import serve_app
from holdfast.transfer.backup import create
from holdfast.transfer.staging import DataFolder

PART = "doors"
_BROWSER = {
    "user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36",
    "accept-language": "en-US,en;q=0.9",
}
_STRANGE_NAMES = (
    "cafe.internal",
    "nas.local",
    "evil.example",
    "localhost.evil.example",
    "0.0.0.0",
    "2130706433",
)
_OTHER_PAGES = ("http://localhost:3000", "http://127.0.0.1:3000", "app://obsidian.md", "file://", "null")
_SITES: tuple[Mapping[str, str], ...] = (
    {},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "cross-site"},
)
# What a browser sends without asking the server first.
_UNASKED = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "")
# Paths that need nobody's right: whether the server is alive, and signing in.
_OPEN = ("/health", "/api/login", "/login", "/static")
# What a small text may become at most: seconds, and bytes of memory.
_BOMB_SECONDS = 20.0


@dataclass(slots=True)
class DoorReport:
    """What was tried of each kind, and what went through."""

    tried: dict[str, int] = field(default_factory=dict)
    found: list[str] = field(default_factory=list)
    slowest: float = 0.0

    def count(self, kind: str) -> None:
        self.tried[kind] = self.tried.get(kind, 0) + 1

    def add(self, kind: str, what: str) -> None:
        self.found.append(f"{kind}: {what}")
        progress(f"{PART}: {kind}: {what[:300]}")


def try_rebinding(report: DoorReport, world: World, routes: Sequence[Route]) -> None:
    """No route answers under a name that somebody else pointed here."""
    port = httpx.URL(world.url).port
    with world.connect(_BROWSER) as http:
        for number, route in enumerate(routes):
            name = _STRANGE_NAMES[number % len(_STRANGE_NAMES)]
            head = {"host": f"{name}:{port}", "referer": f"http://{name}:{port}/"}
            if route.changes:
                head["origin"] = f"http://{name}:{port}"
            path = route.fill(dict.fromkeys(route.places, "a"))
            answer = http.request(route.method, path, headers=head, content=b"{}" if route.changes else None)
            report.count("rebinding")
            allowed = (200,) if route.path == "/health" else (400,)
            if answer.status_code not in allowed or "set-cookie" in answer.headers:
                report.add("rebinding", f"{route.method} {route.path} as {name}: {answer.status_code}")


def try_forgery(report: DoorReport, world: World, routes: Sequence[Route], random: Random) -> None:
    """No page of another origin changes anything with what a browser sends unasked."""
    with world.connect(_BROWSER) as http:
        # The cookies of our own page are sent along, since browsers do not tell ports apart.
        http.get("/settings", headers={"accept": "text/html", "sec-fetch-mode": "navigate"})
        for route in routes:
            if not route.changes or route.path.startswith(_OPEN):
                continue
            for kind in _UNASKED:
                origin, site = random.choice(_OTHER_PAGES), random.choice(_SITES)
                path = route.fill(dict.fromkeys(route.places, "a"))
                head = {"origin": origin, **site, **({"content-type": kind} if kind else {})}
                answer = http.request(route.method, path, headers=head, content=b'{"model": "fake"}')
                report.count("forgery")
                if answer.status_code not in (400, 403):
                    case = f"{route.method} {route.path} by {origin} {site} as {kind or 'no type'}"
                    report.add("forgery", f"{case}: {answer.status_code}")


@contextlib.contextmanager
def serve_canary() -> Iterator[tuple[str, list[str]]]:
    """A service on this machine that nobody may reach: its address, and who came nevertheless."""
    visits: list[str] = []

    async def answer(request: Request) -> Response:
        visits.append(str(request.url))
        return PlainTextResponse("The canary sings.")

    with serve_app(Starlette(routes=[Page("/{path:path}", answer)])) as url:
        yield url, visits


@contextlib.contextmanager
def serve_redirects(target: str) -> Iterator[tuple[str, list[str]]]:
    """A service that may be reached, and leads everybody to another one: its address, and who came."""
    visits: list[str] = []

    async def lead(request: Request) -> Response:
        visits.append(str(request.url))
        status = int(request.path_params["status"])
        return RedirectResponse(target, status)

    with serve_app(Starlette(routes=[Page("/robots.txt", lead_nowhere), Page("/{status:int}", lead)])) as url:
        yield url, visits


async def lead_nowhere(_: Request) -> Response:
    return PlainTextResponse("", 404)


def spell_address(port: int) -> Iterator[str]:
    """Return this machine in every spelling that some resolver or library understands."""
    hosts = (
        "127.0.0.1", "localhost", "localhost.", "LOCALHOST", "a.localhost", "127.1", "127.0.1",
        "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001", "00000177.1", "0",
        "0.0.0.0", "127.255.255.254", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::127.0.0.1]",
        "[fe80::1%25lo]", "１２７.0.0.1", "127。0。0。1", "ⓛocalhost",
    )  # fmt: skip
    for host in hosts:
        yield f"http://{host}:{port}/"
    for userinfo in ("example.com@", "user:word@", "example.com:80@", "example.com%23@", "127.0.0.1%2f@"):
        yield f"http://{userinfo}127.0.0.1:{port}/"
    yield f"http://example.com\\@127.0.0.1:{port}/"
    yield f"http://127.0.0.1:{port}#@example.com/"
    yield f"http:127.0.0.1:{port}/"
    yield f"//127.0.0.1:{port}/"
    yield f"file:///etc/passwd#http://127.0.0.1:{port}"
    yield f"gopher://127.0.0.1:{port}/_x"
    yield f"https://127.0.0.1:{port}/"


def try_inside(report: DoorReport, folder: Path) -> None:
    """Nothing of this machine is fetched, however its address is written or whoever leads there."""
    with (
        serve_canary() as (canary, visits),
        serve_redirects(canary) as (front, led),
        open_world(folder, require_key=False, research_private=front.removeprefix("http://")) as world,
        world.connect({}) as http,
    ):
        port = httpx.URL(canary).port or 0
        addresses = [*spell_address(port), *(f"{front}/{status}" for status in (301, 302, 303, 307, 308))]
        for address in addresses:
            before = len(visits)
            body = {"question": f"What is at {len(visits)}?", "urls": [address], "fresh": True}
            answer = http.post("/api/research", json=body)
            report.count("inside")
            if len(visits) > before or "canary sings" in answer.text:
                report.add("inside", f"{address} was fetched")
            if answer.status_code >= 500 and answer.status_code != 502:
                report.add("inside", f"{address}: {answer.status_code} {answer.text[:200]}")
        if not led:
            report.add("inside", "no redirect was tried: the place that may be reached was not")


def spell_paths(folder: str, secret: Path) -> Iterator[str]:
    """Return paths that lead from a folder to a file that lies elsewhere."""
    up = "../" * 12
    inside = f"{up}{str(secret).lstrip('/')}"
    yield from (str(secret), inside, f"{folder}/{inside}", f"./{inside}", f"{folder}/./{inside}")
    yield from (inside.replace("/", "\\"), quote(inside, safe=""), quote(quote(inside, safe=""), safe=""))
    yield from (
        f"{inside}\0.md",
        f"{inside}%00.md",
        f"....//....//{inside}",
        f"~/{inside}",
        f"file://{secret}",
    )
    yield from (f"{folder}/link.md", f"{folder}/linked/{secret.name}", f"/{folder}/../../{secret.name}")


def try_paths(report: DoorReport, world: World, home: Path, outside: Path, word: str) -> None:
    """Neither notes nor `@file` nor pages lead to a file outside of their folders."""
    secret = outside / "secret.md"
    secret.write_text(f"The word is {word}.")
    workspace, roots = home / "workspace" / "default", outside / "opened"
    for place in (workspace, roots):
        place.mkdir(parents=True, exist_ok=True)
        (place / "link.md").symlink_to(secret)
        (place / "linked").symlink_to(outside)
    (roots / "open.txt").write_text("The door is open.")
    with world.connect({}) as http:
        for path in spell_paths("default", secret):
            doors = [f"/api/notes/{quote(path)}", f"/api/notes/{path}", f"/static/1/{quote(path)}"]
            doors += [f"/static/1/{path}", f"/api/files/complete?q={quote(path)}"]
            for door in doors:
                with contextlib.suppress(httpx.InvalidURL, httpx.UnsupportedProtocol):
                    answer = http.get(door)
                    report.count("paths")
                    if word in answer.text or answer.status_code >= 500:
                        report.add("paths", f"GET {door}: {answer.status_code}")
            sent = len(world.upstream.requests)
            names = f"@{path} and @{roots}/link.md and @<{path}> and @{roots}/open.txt"
            said = {"role": "user", "content": f"What is in {names}?"}
            http.post("/api/chat", json={"model": "fake", "stream": False, "messages": [said]})
            report.count("paths")
            told = json.dumps(world.upstream.requests[sent:])
            if word in told:
                report.add("paths", f"@{path} was told to a model")
            if "The door is open." not in told:
                report.add("paths", f"a file that may be named was not told beside @{path}")
            wrote = http.put(f"/api/notes/{quote(path)}", content=b"mine", headers={"if-match": "*"})
            http.delete(f"/api/notes/{quote(path)}", headers={"if-match": "*"})
            if secret.read_text() != f"The word is {word}." or wrote.status_code >= 500:
                report.add("paths", f"PUT {path}: {wrote.status_code}")


def make_bombs() -> Iterator[tuple[str, str, Any]]:
    """Return small texts that become large, and where each is sent: the method, the path and the body."""
    laughs = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 12))
    yaml = f"l0: &l0 [ha, ha, ha]\n{laughs}\nname: *l11\n"
    yield "PUT", "/api/memory/profile", {"text": yaml}
    yield "POST", "/api/memory/profile/preview", {"text": yaml}
    yield "PUT", "/api/memory/profile", {"text": "a: " + "[" * 50_000}
    yield "PUT", "/api/memory/profile", {"text": "? " * 50_000}
    yield "POST", "/api/memory/import", {"memories": [{"text": "x" * 1_000_000}]}
    document = io.BytesIO()
    with zipfile.ZipFile(document, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", b"<w:t>" + b" " * 300_000_000 + b"</w:t>")
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    xml = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "ha">{entities}]><w:document>&l9;</w:document>'
    entity = io.BytesIO()
    with zipfile.ZipFile(entity, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", xml)
    for data in (document, entity):
        encoded = base64.b64encode(data.getvalue()).decode()
        yield "POST", "/api/files/check", {"name": "a.docx", "data": encoded}
    yield "POST", "/api/chat", "[" * 200_000
    yield "POST", "/api/chat", '{"a":' * 200_000
    yield "POST", "/v1/messages", '{"model": "fake", "max_tokens": 1e999, "messages": []}'


def try_bombs(report: DoorReport, world: World) -> None:
    """What is small is refused or read in seconds, and the server still answers others."""
    with world.connect({}) as http:
        for method, path, body in make_bombs():
            content = body if isinstance(body, str) else json.dumps(body)
            began = time.perf_counter()
            answer = http.request(
                method, path, content=content, headers={"content-type": "application/json"}, timeout=120
            )
            took = time.perf_counter() - began
            report.count("bombs")
            report.slowest = max(report.slowest, took)
            if answer.status_code >= 500 or len(answer.content) > 5_000_000:
                report.add("bombs", f"{method} {path}: {answer.status_code}, {len(answer.content)} bytes")
            if took > _BOMB_SECONDS:
                report.add("bombs", f"{method} {path}: {took:.0f} s")


def try_sessions(report: DoorReport, world: World, password: str) -> None:
    """A session that was known before is not the one of who signs in; one that ended is nobody's."""
    world.store.sessions.set_password(Scope().user, password_digest(password))
    # As from another machine, through a proxy: the session alone decides.
    page = {"origin": world.url, "sec-fetch-site": "same-origin", "x-forwarded-for": "203.0.113.5"}
    planted = "planted-by-somebody-else"
    with world.connect(page) as http:
        http.cookies.set("holdfast_session", planted)
        answer = http.post("/api/login", json={"password": password})
        mine = answer.cookies.get("holdfast_session", "")
        report.count("sessions")
        if answer.status_code != 200 or not mine or mine == planted:
            report.add("sessions", f"a session was taken over: {answer.status_code}")
        attributes = answer.headers.get("set-cookie", "").lower()
        if "httponly" not in attributes or "samesite=strict" not in attributes:
            report.add("sessions", f"the cookie can be read or sent by others: {attributes}")
    for name, token, known in (("planted", planted, False), ("mine", mine, True)):
        with world.connect({**page, "cookie": f"holdfast_session={token}"}) as http:
            report.count("sessions")
            if (http.get("/api/settings").status_code == 200) != known:
                report.add("sessions", f"the session {name} was judged wrongly")
    with world.connect({**page, "cookie": f"holdfast_session={mine}"}) as http:
        http.post("/api/logout")
        report.count("sessions")
        if http.get("/api/settings").status_code == 200:
            report.add("sessions", "a session goes on after it ended")
    world.store.sessions.set_password(Scope().user, None)


class LogCollector(logging.Handler):
    """Keeps every line that is logged, at every level that people use."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


def try_secrets(report: DoorReport, world: World, home: Path, words: Mapping[str, str], log: str) -> None:
    """Neither logs nor errors, settings, `doctor` nor backups tell a key, a password or what was said."""
    places: dict[str, bytes] = {"log": log.encode()}
    with world.connect({"authorization": f"Bearer {words['admin key']}"}) as http:
        for path in ("/api/settings", "/api/keys", "/health", "/api/upstreams", "/metrics", "/openapi.json"):
            places[path] = http.get(path).content
        places["an error"] = http.get("/api/chats/none").content
    with world.connect({"authorization": f"Bearer {words['admin key'][:-1]}x"}) as http:
        places["a refusal"] = http.get("/api/chats").content
    environment = {**os.environ, "HOLDFAST_HOME": str(home), "HOLDFAST_UPSTREAM_KEY": words["upstream key"]}
    for command in ("doctor", "config"):
        answer = subprocess.run(
            [sys.executable, "-m", "holdfast", command, "--json"],
            env=environment,
            capture_output=True,
            timeout=180,
            check=False,
        )
        places[command] = answer.stdout + answer.stderr
    file = home / "try.holdfast"
    create(DataFolder(home, f"sqlite:///{home / 'holdfast.db'}"), file)
    with zipfile.ZipFile(file) as archive:
        places["backup"] = b"".join(archive.read(name) for name in archive.namelist())
    for place, content in places.items():
        for name, word in words.items():
            report.count("secrets")
            if word.encode() in content:
                report.add("secrets", f"{place} has the {name}")


def check_permissions(report: DoorReport, home: Path) -> None:
    """What lies in the data folder is for its owner, unless its folder is closed to others anyway."""
    for path in (home, *home.rglob("*")):
        if path.is_symlink():
            continue
        report.count("permissions")
        closed = any(
            not parent.stat().st_mode & 0o077 for parent in path.parents if home in (parent, *parent.parents)
        )
        if path.stat().st_mode & 0o077 and not closed:
            report.add("permissions", f"{path.relative_to(home)} is {path.stat().st_mode & 0o777:o}")


def run(options: argparse.Namespace, folder: Path) -> PartResult:
    report, random, collector = DoorReport(), Random(options.seed), LogCollector()
    # Not made here: what the server makes it must close itself.
    home, outside = folder / "new" / "home", folder / "outside"
    outside.mkdir()
    words = {"password": make_word(random), "upstream key": make_word(random)}
    root = logging.getLogger()
    root.addHandler(collector)
    previous = root.level
    root.setLevel(logging.INFO)
    try:
        opened: dict[str, Any] = {"file_roots": str(outside / "opened"), "file_references": True}
        with open_world(home, require_key=False, upstream_key=words["upstream key"], **opened) as world:
            routes = [route for route in list_routes(world.app) if route.path not in ENDLESS]
            if not options.quick:
                try_rebinding(report, world, routes)
                try_forgery(report, world, routes, random)
            try_paths(report, world, home, outside, make_word(random))
            try_bombs(report, world)
            try_sessions(report, world, words["password"])
            words["admin key"] = world.make_key(admin=True)["authorization"].removeprefix("Bearer ")
            try_secrets(report, world, home, words, "\n".join(collector.lines))
            check_permissions(report, home)
    finally:
        root.removeHandler(collector)
        root.setLevel(previous)
    try_inside(report, folder / "inside")
    return PartResult(list(rows(report)), report.found)


def rows(report: DoorReport) -> Iterator[Row]:
    for kind, number in report.tried.items():
        found = sum(line.startswith(f"{kind}:") for line in report.found)
        yield none_of(PART, kind, f"{number:,} tries", found)
    yield Row(PART, "slowest text that becomes large", "until it was answered", report.slowest, "s")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--quick", action="store_true", help="leave out what tests/server/test_rebinding.py tries"
    )
