"""`python -m evals.reliability --part fuzz [--minutes M] [--seed S] [--json] [--write]`

Does anything that comes from elsewhere cause an internal error, a hang or growth? Every parser of others'
data (GGUF, notes, profiles in YAML, findings, references, requests of each protocol, streams as SSE and as
lines of JSON, exports of other tools, backups, Markdown for the page) starts from right examples that are
cut, spliced, repeated, nested and sprinkled with words that mean something to it. Each case may end in a
result or in one of Holdfast's own errors. Then requests to every route of a running server, MCP among them,
are changed the same way.

Half of the time goes to the parsers, half to the routes; how many cases that is depends on the machine.
`FUZZ_EXAMPLES=200 pytest tests/server/test_fuzz.py` drives the routes by schemathesis as well.
"""

import argparse
import asyncio
import io
import json
import resource
import tempfile
import time
import zipfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import httpx

from evals.reliability_borders import open_world, send, settle_owner
from evals.reliability_checks import PartResult
from evals.reliability_routes import ENDLESS, Attempt, Route, list_routes, make_attempts
from evals.window_rows import Row, none_of, progress
from holdfast.errors import HoldfastError
from holdfast.files.references import find_references
from holdfast.memory.exchange import read_entries
from holdfast.memory.items import read_memories
from holdfast.memory.notes import parse_summary
from holdfast.memory.profile import parse as parse_profile
from holdfast.messages import Scope
from holdfast.protocols import anthropic, ollama, openai_chat, openai_responses
from holdfast.protocols.wire import iter_lines, iter_sse, parse_object, parse_server_payload
from holdfast.research.repository import find_addresses, parse_note
from holdfast.server.pages.markdown import render_html
from holdfast.tokens.vocabulary import encode_metadata, parse_metadata
from holdfast.transfer.backup import check as check_backup
from holdfast.transfer.formats import open_source
from holdfast.transfer.imports import Unreadable

PART = "fuzz"
# Seconds of processor that one case may take.
_LONGEST = 5.0
# Growth of the process over the second half of a run, in megabytes.
_GROWTH = 64
_MEANT = (501, 502, 503)

_CHAT = {
    "model": "fake",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Look."}]},
        {
            "role": "assistant",
            "content": "Yes.",
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "empty"},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    "stream": False,
}
_ITEMS = {
    "model": "fake",
    "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look."}]},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "empty"},
    ],
    "reasoning": {"effort": "low"},
}
_BLOCKS = {
    "model": "fake",
    "max_tokens": 5,
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Look."}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "empty"}]},
    ],
}
_NOTE = (
    b"# Facts\n\n- The ferry leaves at noon. <!-- m_01 {'kind': 'fact', 'at': 1} -->\n- ~~Old~~ new\n\n"
    b"## Rules\n\n* x\n"
)
_YAML = b"name: Ada\nproducts: [a, b]\n# x\npreferences:\n  style: |\n    a\n"
_TABLE = b"# A\n\n- [a](b) ![c](d)\n\n|a|b|\n|-|-|\n|1|2|\n\n```py\nx\n```\n<b>"
_FINDING = (
    b"---\nid: r_01\nquestion: Which?\nmode: quick\n---\n\n# Which?\n\nSummary\n\n"
    b"## 1. A\n\nhttps://a.example\n\ntext\n"
)
_LINES = b'{"message":{"content":"Hi"},"done":false}\n{"done":true}\n'
_ADDRESSES = b"See (https://a.example/b_(c)), http://[::1]/ and www.x.example."
_REFERENCES = b'See @a/b.py:3-9 and @"c d.md"#h or `@x` and @<y>.'
_TRANSCRIPT = (
    b'{"type":"session","id":"s"}\n{"type":"message","id":"a","message":{"role":"user","content":"Hi"}}\n'
)
_EXPORT = [
    {
        "title": "Birds",
        "create_time": 1700000000.5,
        "mapping": {
            "a": {"id": "a", "message": None, "parent": None, "children": ["b"]},
            "b": {
                "id": "b",
                "parent": "a",
                "children": [],
                "message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Hi"]}},
            },
        },
    }
]
_SSE = b'event: x\ndata: {"choices":[{"delta":{"content":"Hi"}}]}\n\n: ping\n\ndata: [DONE]\n\n'
_TOKENS = (
    b"\x00", b"\xff", b"\xf0\x9f\x99\x82", b"\n\n", b"```", b"---", b"{", b"}", b"[", b"]", b'"', b"\\",
    b"&a", b"*a", b"<!--", b"-->", b"@", b"![", b"](", b"http://", b"1e999", b"-1", b"NaN", b"null",
    b"true", b"data:", b"GGUF", b"PK\x03\x04", b"\xed\xa0\x80", b"9" * 40, b"A" * 300, b"\r",
    b"<script>", b"!!python/object", b"%00", b"../",
)  # fmt: skip


def mutate(data: bytes, others: Sequence[bytes], random: Random) -> bytes:
    """Return a text like this one with one to six faults."""
    changed = bytearray(data)
    for _ in range(random.randint(1, 6)):
        start = random.randint(0, len(changed))
        end = min(len(changed), start + random.choice((0, 1, 4, 40)))
        match random.randrange(7):
            case 0:
                changed[start:end] = b""
            case 1:
                changed[start:start] = random.choice(_TOKENS)
            case 2:
                changed[start:end] = random.randbytes(random.randint(0, 8))
            case 3:
                changed[start:start] = changed[start:end] * random.choice((2, 20, 200))
            case 4:
                del changed[start:]
            case 5:
                other = random.choice(others)
                changed[start:] = other[random.randint(0, len(other)) :]
            case _:
                changed[start:start] = random.choice((b"[", b"{", b"(", b">", b"- ")) * random.choice(
                    (3, 300)
                )
    # No parser needs more to fail, and all would be slower.
    return bytes(changed[:20_000])


async def _pieces(data: bytes) -> AsyncIterator[bytes]:
    for at in range(0, len(data), 17):
        yield data[at : at + 17]


async def _read_sse(data: bytes) -> None:
    async for event in iter_sse(_pieces(data)):
        parse_server_payload(event)


async def _read_lines(data: bytes) -> None:
    async for line in iter_lines(_pieces(data)):
        parse_server_payload(line)


@dataclass(frozen=True, slots=True)
class Parser:
    """Something that reads what others wrote, and examples that are right."""

    name: str
    read: Callable[[bytes], object]
    examples: tuple[bytes, ...]


def make_parsers(folder: Path) -> list[Parser]:
    def text(read: Callable[[str], object]) -> Callable[[bytes], object]:
        return lambda data: read(data.decode("utf-8", "replace"))

    def of_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes], object]:
        path = folder / name

        def call(data: bytes) -> object:
            path.write_bytes(data)
            return read(path)

        return call

    def dump(value: object) -> bytes:
        return json.dumps(value).encode()

    metadata = {
        "general.architecture": "llama",
        "llama.context_length": 8192,
        "tokenizer.ggml.tokens": ["a", "b"],
    }
    prompts = dump({"Topics": {"t": {"name": "Birds", "messages": [{"role": "user", "content": "Hi"}]}}})
    return [
        Parser("GGUF", parse_metadata, (encode_metadata(metadata),)),
        Parser("notes", text(lambda given: read_memories(given, Scope(), by_hand=True)), (_NOTE,)),
        Parser("summaries", text(lambda given: list(parse_summary(given, Scope()))), (_NOTE,)),
        Parser("profiles (YAML)", text(parse_profile), (_YAML,)),
        Parser("findings", text(lambda given: parse_note(given, "r_01", Scope())), (_FINDING,)),
        Parser("references", text(find_references), (_REFERENCES,)),
        Parser("addresses", text(find_addresses), (_ADDRESSES,)),
        Parser("Markdown", text(render_html), (_TABLE,)),
        Parser(
            "exports of memories",
            text(lambda given: list(read_entries(given, Scope(), []))),
            (dump({"memories": [{"text": "A"}]}), b"- A\n- B\n"),
        ),
        Parser("SSE", lambda data: asyncio.run(_read_sse(data)), (_SSE,)),
        Parser("lines of JSON", lambda data: asyncio.run(_read_lines(data)), (_LINES,)),
        Parser("Ollama requests", lambda data: ollama.parse_request(parse_object(data)), (dump(_CHAT),)),
        Parser("OpenAI requests", lambda data: openai_chat.parse_request(parse_object(data)), (dump(_CHAT),)),
        Parser(
            "OpenAI responses",
            lambda data: openai_responses.parse_request(parse_object(data)),
            (dump(_ITEMS),),
        ),
        Parser(
            "Anthropic requests", lambda data: anthropic.parse_request(parse_object(data)), (dump(_BLOCKS),)
        ),
        Parser("exports of ChatGPT", of_file("conversations.json", _read_source), (dump(_EXPORT),)),
        Parser("transcripts of OpenClaw", of_file("s.jsonl", _read_source), (_TRANSCRIPT,)),
        Parser(
            "prompts of Ollama",
            of_file("prompts.json", _read_source),
            (prompts, b"Bird Watching\n>>> Hi\nHello\n"),
        ),
        Parser("Markdown files", of_file("a.md", _read_source), (_NOTE,)),
        Parser("backups", of_file("a.holdfast", check_backup), (_make_zip(),)),
    ]


def _read_source(path: Path) -> object:
    return list(open_source([path]).items)


def _make_zip() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("manifest.json", '{"format": 1, "version": "0.1.0", "members": {}}')
        archive.writestr("store.db", b"SQLite format 3\x00")
    return content.getvalue()


@dataclass(slots=True)
class FuzzReport:
    """How many cases each reader had, and which of them failed."""

    cases: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    rounds: int = 0
    slowest: float = 0.0
    growth: float = 0.0

    def add(self, name: str, what: str) -> None:
        line = f"{name}: {what}"
        # One of each kind is enough.
        if not any(known.split(" of ")[0] == line.split(" of ")[0] for known in self.failures):
            self.failures.append(line)
            progress(f"{PART}: {line[:600]}")


def memory_used() -> float:
    """The largest size of this process so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def try_parsers(report: FuzzReport, random: Random, seconds: float, rounds: int = 0) -> None:
    """Give every parser a case in turn, for so many seconds, or at most so many rounds."""
    with tempfile.TemporaryDirectory() as folder:
        parsers = make_parsers(Path(folder))
        for parser in parsers:
            for example in parser.examples:
                with suppress(HoldfastError, Unreadable):
                    parser.read(example)
        others = [example for parser in parsers for example in parser.examples]
        began, half = time.monotonic(), 0.0
        while time.monotonic() < began + seconds and (not rounds or report.rounds < rounds):
            report.rounds += 1
            for parser in parsers:
                data = mutate(random.choice(parser.examples), others, random)
                _try_case(report, parser, data)
            if not half and time.monotonic() > began + seconds / 2:
                half = memory_used()
        report.growth = memory_used() - half if half else 0.0


def _try_case(report: FuzzReport, parser: Parser, data: bytes) -> None:
    report.cases[parser.name] = report.cases.get(parser.name, 0) + 1
    began = time.thread_time()
    try:
        parser.read(data)
    except (HoldfastError, Unreadable):
        pass
    except Exception as error:  # noqa: BLE001 - which errors there are is the question
        report.add(parser.name, f"{type(error).__name__}: {str(error)[:200]} of {data[:300]!r}")
    took = time.thread_time() - began
    report.slowest = max(report.slowest, took)
    if took > _LONGEST:
        report.add(parser.name, f"{took:.1f} s of {data[:300]!r}")


def change_attempt(attempt: Attempt, random: Random) -> Attempt:
    """Return the request with faults in its body, its arguments or its path."""
    others = [token * 3 for token in _TOKENS]
    content, query, path = attempt.content, dict(attempt.query), attempt.path
    if content and random.random() < 0.8:
        content = mutate(content, [content, *others], random)
    elif query:
        name = random.choice(list(query))
        query[name] = mutate(str(query[name]).encode(), others, random)[:2_000].decode("utf-8", "replace")
    else:
        step = random.randrange(len(path))
        path = path[: step + 1] + random.choice(
            ("%00", "..", "%ff", "a" * 300, "%F0%9F%99%82", "//", "?a=%", "'")
        )
    return replace(attempt, content=content, query=query, path=path)


def try_routes(report: FuzzReport, seed: int, folder: Path, seconds: float) -> None:
    """Send changed requests to all routes of a running server, as its administrator."""
    random, closed = Random(seed), ("/api/system/restart", "/api/password", "/api/login", "/api/logout")
    with open_world(folder) as world:
        estate, _ = settle_owner(world, seed)
        bodies: Mapping[str, Any] = {
            "/api/chat": _CHAT,
            "/v1/chat/completions": _CHAT,
            "/v1/responses": _ITEMS,
            "/v1/messages": _BLOCKS,
            "/mcp": {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": "x", "arguments": {}},
            },
        }
        attempts: list[Attempt] = []
        for route in list_routes(world.app):
            if route.path in ENDLESS or route.path in closed:
                continue
            attempts += make_attempts(route, estate.places, estate.values, 2)
        for path, body in bodies.items():
            head = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
            whole = Attempt(Route("POST", path), path, {}, json.dumps(body).encode(), head)
            attempts += [whole] * 20
        with world.connect(world.make_key(user="ada", admin=True)) as http:
            limit = time.monotonic() + seconds
            while time.monotonic() < limit:
                _try_request(report, http, change_attempt(random.choice(attempts), random))


def _try_request(report: FuzzReport, http: httpx.Client, attempt: Attempt) -> None:
    door = f"{attempt.route.method} {attempt.route.path}"
    try:
        answer = send(http, attempt)
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError):
        return
    except httpx.HTTPError as error:
        report.add(door, f"{type(error).__name__} of {attempt.text[:300]!r}")
        return
    report.cases["routes"] = report.cases.get("routes", 0) + 1
    if answer.status_code >= 500 and answer.status_code not in _MEANT:
        report.add(door, f"{answer.status_code} {answer.text[:200]} of {attempt.text[:300]!r}")


def rows(report: FuzzReport) -> Iterator[Row]:
    for name, number in report.cases.items():
        yield Row(PART, "cases", name, number)
    yield Row(PART, "cases", "all", sum(report.cases.values()))
    yield none_of(PART, "internal errors and hangs", "all", len(report.failures))
    yield Row(
        PART,
        "slowest case of a parser",
        "its processor",
        report.slowest,
        "s",
        "under 5 s",
        report.slowest < _LONGEST,
    )
    yield Row(
        PART,
        "growth",
        "second half of the parsers' time",
        report.growth,
        "MB",
        f"under {_GROWTH} MB",
        report.growth < _GROWTH,
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--minutes", type=float, default=10.0, help="of all together")


def run(options: argparse.Namespace, folder: Path) -> PartResult:
    report, seconds = FuzzReport(), options.minutes * 30
    try_parsers(report, Random(options.seed), seconds)
    try_routes(report, options.seed, folder, seconds)
    return PartResult(list(rows(report)), report.failures)
