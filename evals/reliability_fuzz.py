"""`python -m evals.reliability --part fuzz [--minutes M] [--seed S] [--json] [--write]`

Does anything that comes from elsewhere cause an internal error, a hang or growth? Every parser of others'
data (GGUF, notes, profiles in YAML, findings, references, requests of each protocol, streams as SSE and as
lines of JSON, the chunks of model servers, memories that a model wrote, exports of other tools, saved chats,
backups, configurations of clients, pages of the web, files that are shortened, Markdown for the page) starts
from right examples that are cut, spliced, repeated, nested and sprinkled with words that mean something to
it; in JSON, values are also exchanged, so that it stays JSON. Each case may end in a result or in one of
Holdfast's own errors. Then requests to every route of a running server, MCP among them, are changed the same
way.

Half of the time goes to the parsers, half to the routes; how many cases that is depends on the machine,
unless `--cases` says how many the parsers get.
`FUZZ_EXAMPLES=200 pytest tests/server/test_fuzz.py` drives the routes by schemathesis as well.
"""

import argparse
import asyncio
import contextlib
import copy
import json
import math
import resource
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import httpx

from evals.reliability_borders import open_world, send, settle_owner
from evals.reliability_checks import PartResult
from evals.reliability_routes import ENDLESS, Attempt, Route, list_routes, make_attempts
from evals.window_rows import Row, none_of, progress
from holdfast.clients.base import Entry, Format
from holdfast.clients.documents import apply_entries, read_earlier, revert_entries
from holdfast.compaction.flush import parse_memory_lines
from holdfast.errors import HoldfastError
from holdfast.files.digests import build_digest
from holdfast.files.references import find_references
from holdfast.memory.base import Memory, SummaryNote
from holdfast.memory.exchange import read_entries
from holdfast.memory.items import add_items, read_memories
from holdfast.memory.notes import format_summary, parse_summary
from holdfast.memory.profile import parse as parse_profile
from holdfast.messages import Chunk, JsonObject, Scope
from holdfast.protocols import anthropic, ollama, openai_chat, openai_responses
from holdfast.protocols.wire import iter_lines, iter_sse, parse_object, parse_server_payload
from holdfast.research.extract import decode_page, strip_page
from holdfast.research.fetch import parse_address
from holdfast.research.finding import Finding, ResearchSource
from holdfast.research.repository import find_addresses, format_note, parse_note
from holdfast.server.pages.markdown import render_html
from holdfast.store import open_store
from holdfast.tokens.vocabulary import encode_metadata, parse_metadata
from holdfast.transfer.backup import check as check_backup
from holdfast.transfer.backup import create as create_backup
from holdfast.transfer.formats import open_source
from holdfast.transfer.imports import Unreadable
from holdfast.transfer.staging import DataFolder
from holdfast.upstreams.base import AnswerReader

PART = "fuzz"
# Seconds of processor that one case may take.
_LONGEST = 5.0
# Growth of the process over the second half of a run, in megabytes.
_GROWTH = 64
_MEANT = (501, 502, 503)
# Cases in a round for a parser that takes less than a tenth of a millisecond.
_QUICK = 20
# How often JSON is changed as such, and the most bytes of a case.
_AS_JSON, _LARGEST = 0.6, 20_000
# Values of every kind, in places where another kind is expected.
_ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**70, 1e308, 0.5, "", "x", "\x00", "\ud800", "user", "function", "../../etc",
    "1e999", "9" * 400, [], {}, [[]], [None], {"": None}, {"type": "text", "text": None}, [{"type": "x"}],
)  # fmt: skip

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
_OLLAMA = {
    "model": "fake",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Look.", "images": ["iVBORw0KGgo="]},
        {
            "role": "assistant",
            "content": "Yes.",
            "thinking": "Hm.",
            "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}],
        },
        {"role": "tool", "tool_name": "f", "content": "empty"},
    ],
    "tools": _CHAT["tools"],
    "options": {"num_ctx": 2048, "stop": ["x"]},
    "think": "low",
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
_SUMMARY = SummaryNote("m_01", "c_01", "Birds", "The ferry.", Scope(), 4, "msg_1", "msg_4", 1.5e9, "en")
_SOURCES = (
    ResearchSource("https://a.example/b", "A", "The ferry leaves at noon.", 1.5e9),
    ResearchSource("b.pdf", "B", "", 1.5e9, "too large"),
)
_FINDING = Finding("r_01", Scope(), "Which?", "quick", _SOURCES, "At noon [1].", "daily", 1.5e9, 1.6e9)
_MEMORY = Memory("m_01", "fact", "The ferry leaves at noon.", Scope(), conversation="c_01", messages=("m",))
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
_SAVED = {
    "chat": {"id": "c_01", "title": "Birds", "created_at": 1.5},
    "messages": [
        {"role": "user", "content": "Hi", "created_at": 1.5},
        {
            "role": "assistant",
            "content": "Hello",
            "model": "fake",
            "tool_calls": [{"name": "f", "arguments": {}}],
        },
    ],
}
_SAVED_TEXT = (
    b"# Birds\n\n## You <!-- holdfast user 1700000000 -->\n\nHi\n\n"
    b"## fake <!-- holdfast assistant 1 fake -->\n\nHello\n"
)
_OLLAMA_CHUNK = {
    "model": "fake",
    "message": {
        "role": "assistant",
        "content": "Hi",
        "thinking": "Hm",
        "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}],
    },
    "done": True,
    "done_reason": "stop",
    "prompt_eval_count": 7,
    "eval_count": 2,
    "logprobs": [{"token": "Hi", "logprob": -0.1}],
}
_OPENAI_CHUNK = {
    "id": "c",
    "choices": [
        {
            "index": 0,
            "delta": {
                "content": "Hi",
                "reasoning_content": "Hm",
                "tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}],
            },
            "finish_reason": "stop",
            "logprobs": {"content": [{"token": "Hi", "logprob": -0.1}]},
        }
    ],
    "usage": {"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1}},
}
_MEMORIES = (
    b"FACT: The ferry leaves at noon.\n- DECISION: We take the train.\n```\n"
    b"ENTSCHEIDUNG: Wir nehmen den Zug.\n```\nNONE\n"
)
_PAGE = (
    b'<!doctype html><html><head><meta charset="utf-8"><title>A &amp; B</title><style>p{}</style></head>'
    b"<body><nav>x</nav><p>Hi &#128578; <a href='b'>c</a><script>1</script><pre>a\n b</pre><!-- d --></body>"
)
_JSONC = b'// mine\n{\n  "a": {"b": [1, 2,],}, /* c */\n  "mcp": {}\n}\n'
_TOML = b'# mine\nmodel = "a"\n[mcp_servers.x]\ncommand = "y"\n[[a]]\nb = 1\n'
_ENV = b"# mine\nexport A='b c'\nB=\"d\"\n"
_CODE = b"import os\n\n\nclass A:\n    def b(self, c: int) -> str:\n        return str(c)\n" * 40
_SSE = b'event: x\ndata: {"choices":[{"delta":{"content":"Hi"}}]}\n\n: ping\n\ndata: [DONE]\n\n'
_TOKENS = (
    b"\x00", b"\xff", b"\xf0\x9f\x99\x82", b"\n\n", b"```", b"---", b"{", b"}", b"[", b"]", b'"', b"\\",
    b"&a", b"*a", b"<!--", b"-->", b"@", b"![", b"](", b"http://", b"1e999", b"-1", b"NaN", b"null",
    b"true", b"data:", b"GGUF", b"PK\x03\x04", b"\xed\xa0\x80", b"9" * 40, b"A" * 300, b"\r",
    b"<script>", b"!!python/object", b"%00", b"../",
)  # fmt: skip


def list_places(value: Any) -> list[tuple[Any, Any]]:
    """Return every place inside a JSON value: a list or an object, and the index or name in it."""
    places: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        steps = holder if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        for step in steps:
            places.append((holder, step))
            waiting.append(holder[step])
    return places


def change_json(data: bytes, random: Random) -> bytes:
    """Return JSON, or lines of it, with one to four values that are missing, others, doubled or wrapped."""
    lines = data.split(b"\n") if data.count(b"\n{") else [data]
    at = random.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except ValueError:
        return data
    for _ in range(random.randint(1, 4)):
        places = list_places(value)
        if not places:
            break
        holder, step = random.choice(places)
        match random.randrange(4):
            case 0:
                del holder[step]
            case 1:
                holder[step] = [copy.deepcopy(holder[step]) for _ in range(random.choice((1, 2, 20)))]
            case 2:
                other, place = random.choice(places)
                holder[step] = copy.deepcopy(other[place]) if place in _steps(other) else None
            case _:
                holder[step] = copy.deepcopy(random.choice(_ODD))
    lines[at] = json.dumps(value, ensure_ascii=random.random() < 0.5).encode("utf-8", "replace")
    return b"\n".join(lines)


def _steps(holder: Any) -> Any:
    return holder if isinstance(holder, dict) else range(len(holder))


def mutate(data: bytes, others: Sequence[bytes], random: Random) -> bytes:
    """Return a text like this one with one to six faults."""
    if data[:1] in (b"{", b"[") and random.random() < _AS_JSON:
        return change_json(data, random)[:_LARGEST]
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
    return bytes(changed[:_LARGEST])


async def _pieces(data: bytes) -> AsyncIterator[bytes]:
    for at in range(0, len(data), 17):
        yield data[at : at + 17]


async def _read_sse(data: bytes) -> None:
    async for event in iter_sse(_pieces(data)):
        if event != "[DONE]":
            parse_server_payload(event)


async def _read_lines(data: bytes) -> None:
    async for line in iter_lines(_pieces(data)):
        parse_server_payload(line.decode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class Parser:
    """Something that reads what others wrote, and examples that are right."""

    name: str
    read: Callable[[bytes], object]
    examples: tuple[bytes, ...]
    # Cases in a round: many for what is quick.
    share: int = 1


def make_parsers(folder: Path) -> list[Parser]:
    def text(read: Callable[[str], object]) -> Callable[[bytes], object]:
        return lambda data: read(data.decode("utf-8", "replace"))

    def of_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes], object]:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)

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
    history = dump({"messages": [{"role": "user", "content": "Hi", "timestamp": "2026-01-01T00:00:00"}]})
    return [
        Parser("GGUF", parse_metadata, (encode_metadata(metadata),), _QUICK),
        Parser(
            "notes",
            text(lambda given: read_memories(given, Scope(), by_hand=True)),
            (_NOTE, add_items("# Mine\n", [_MEMORY]).encode()),
        ),
        Parser(
            "summaries",
            text(lambda given: list(parse_summary(given, Scope()))),
            (format_summary(_SUMMARY).encode(),),
            _QUICK,
        ),
        Parser("profiles (YAML)", text(parse_profile), (_YAML,)),
        Parser(
            "findings",
            text(lambda given: parse_note(given, "r_01", Scope())),
            (format_note(_FINDING).encode(),),
            _QUICK,
        ),
        Parser("references", text(find_references), (_REFERENCES,), _QUICK),
        Parser("addresses", text(find_addresses), (_ADDRESSES,), _QUICK),
        Parser("Markdown", text(render_html), (_TABLE,)),
        Parser(
            "exports of memories",
            text(lambda given: list(read_entries(given, Scope(), []))),
            (dump({"memories": [{"text": "A"}]}), b"- A\n- B\n"),
        ),
        Parser("SSE", lambda data: asyncio.run(_read_sse(data)), (_SSE,)),
        Parser("lines of JSON", lambda data: asyncio.run(_read_lines(data)), (_LINES,)),
        Parser(
            "Ollama requests", lambda data: ollama.parse_request(parse_object(data)), (dump(_OLLAMA),), _QUICK
        ),
        Parser(
            "OpenAI requests",
            lambda data: openai_chat.parse_request(parse_object(data)),
            (dump(_CHAT),),
            _QUICK,
        ),
        Parser(
            "OpenAI responses",
            lambda data: openai_responses.parse_request(parse_object(data)),
            (dump(_ITEMS),),
            _QUICK,
        ),
        Parser(
            "Anthropic requests",
            lambda data: anthropic.parse_request(parse_object(data)),
            (dump(_BLOCKS),),
            _QUICK,
        ),
        Parser("exports of ChatGPT", of_file("conversations.json", _read_source), (dump(_EXPORT),)),
        Parser(
            "transcripts of OpenClaw",
            of_file("openclaw/sessions/s.jsonl", lambda path: _read_source(path.parents[1])),
            (_TRANSCRIPT,),
        ),
        Parser(
            "databases of Ollama's prompt",
            of_file("prompt.db", _read_source),
            (make_prompt_database(folder, history).read_bytes(),),
        ),
        Parser(
            "sessions of Ollama's prompt",
            lambda data: _read_source(make_prompt_database(folder, data)),
            (history,),
        ),
        Parser("Markdown files", of_file("a.md", _read_source), (_NOTE,)),
        Parser("saved chats", of_file("chat.json", _read_source), (dump(_SAVED), dump({"chats": [_SAVED]}))),
        Parser("saved chats as text", of_file("chat.md", _read_source), (_SAVED_TEXT,)),
        Parser("chunks of Ollama", _read_chunk(ollama.parse_chunk), (dump(_OLLAMA_CHUNK),), _QUICK),
        Parser("chunks of OpenAI", _read_chunk(openai_chat.parse_chunk), (dump(_OPENAI_CHUNK),), _QUICK),
        Parser("memories that a model wrote", text(parse_memory_lines), (_MEMORIES,), _QUICK),
        Parser("pages", lambda data: strip_page(decode_page(data)), (_PAGE,), _QUICK),
        Parser(
            "addresses to fetch",
            text(parse_address),
            (b"https://a.example:80/b?c#d", b"http://[::1]/"),
            _QUICK,
        ),
        Parser("configurations in JSON", text(_configure("json")), (_JSONC, dump({"a": {"b": [1]}}))),
        Parser("configurations in TOML", text(_configure("toml")), (_TOML,)),
        Parser(
            "configurations in YAML",
            text(_configure("yaml")),
            (_YAML, b"models:\n  - name: a\n    b: {c: d}\n"),
        ),
        Parser("variables of an environment", text(_configure("env")), (_ENV,), _QUICK),
        Parser("code that is shortened", text(lambda given: build_digest("a.py", given)), (_CODE,)),
        Parser(
            "data that is shortened",
            text(lambda given: build_digest("a.json", given)),
            (dump([_SAVED] * 20),),
        ),
        Parser("backups", of_file("a.holdfast", check_backup), (make_backup(folder),)),
    ]


def _read_chunk(parse: Callable[[JsonObject, str], Chunk]) -> Callable[[bytes], object]:
    def read(data: bytes) -> None:
        with AnswerReader(parse, where="a server") as reader:
            reader.read(data)

    return read


def _configure(format_: Format) -> Callable[[str], object]:
    """Put an entry into a client's configuration, and take it out again."""
    path = ("HOLDFAST_KEY",) if format_ == "env" else ("mcp", "servers", "holdfast")
    entries = (Entry(path, "x" if format_ == "env" else {"command": "holdfast", "args": ["mcp"]}),)

    def edit(given: str) -> object:
        earlier = read_earlier(given, format_, entries)
        return revert_entries(apply_entries(given, format_, entries), format_, entries, earlier)

    return edit


def _read_source(path: Path) -> object:
    return list(open_source([path]).items)


def make_prompt_database(folder: Path, history: bytes) -> Path:
    """Write a database as that tool has it, with this history of a session."""
    path = folder / "sessions.db"
    path.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "PRAGMA page_size = 512; CREATE TABLE sessions (session_id TEXT, context TEXT, created_at TEXT,"
            " last_used TEXT, history_json TEXT, model_name TEXT, system_prompt TEXT)"
        )
        row = ("s", "User: Hi", "2026-01-01", "2026-01-02", history.decode("utf-8", "replace"), "fake", "")
        connection.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        connection.commit()
    return path


def make_backup(folder: Path) -> bytes:
    """Return a backup of an empty store with one note."""
    home = folder / "home"
    store = f"sqlite:///{home / 'holdfast.db'}"
    (home / "workspace").mkdir(parents=True)
    (home / "workspace" / "MEMORY.md").write_bytes(_NOTE)
    with open_store(store):
        pass
    create_backup(DataFolder(home, store), folder / "made.zip")
    return (folder / "made.zip").read_bytes()


@dataclass(slots=True)
class FuzzReport:
    """How many cases each reader had, in how many it found something to read, and which of them failed."""

    cases: dict[str, int] = field(default_factory=dict)
    results: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    rounds: int = 0
    # Seconds of processor, and which parser took them.
    slowest: tuple[float, str] = (0.0, "")
    growth: float = 0.0

    def add(self, name: str, what: str, case: object) -> None:
        """Add a failure with the case that caused it; one of each kind is enough."""
        line = f"{name}: {what} by "
        if not any(known.startswith(line) for known in self.failures):
            self.failures.append(f"{line}{case!r}")
            progress(f"{PART}: {self.failures[-1][:600]}")


def memory_used() -> float:
    """The largest size of this process so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def try_parsers(report: FuzzReport, random: Random, seconds: float, rounds: int = 0) -> None:
    """Give every parser a case in turn, for so many seconds, or at most so many rounds."""
    with tempfile.TemporaryDirectory() as folder:
        parsers = make_parsers(Path(folder))
        for parser in parsers:
            for example in parser.examples:
                parser.read(example)
        others = [example for parser in parsers for example in parser.examples]
        began, half = time.monotonic(), 0.0
        while time.monotonic() < began + seconds and (not rounds or report.rounds < rounds):
            report.rounds += 1
            for parser in parsers:
                for _ in range(parser.share):
                    _try_case(report, parser, mutate(random.choice(parser.examples), others, random))
            share = report.rounds / rounds if rounds else (time.monotonic() - began) / seconds
            if not half and share > 0.5:
                half = memory_used()
        report.growth = memory_used() - half if half else 0.0


def _try_case(report: FuzzReport, parser: Parser, data: bytes) -> None:
    report.cases[parser.name] = report.cases.get(parser.name, 0) + 1
    began = time.thread_time()
    try:
        parser.read(data)
        report.results[parser.name] += 1
    except (HoldfastError, Unreadable):
        pass
    except Exception as error:  # noqa: BLE001 - which errors there are is the question
        report.add(parser.name, f"{type(error).__name__}: {str(error)[:200]}", data[:300])
    took = time.thread_time() - began
    report.slowest = max(report.slowest, (took, parser.name))
    if took > _LONGEST:
        report.add(parser.name, "too slow", (round(took, 1), data[:300]))


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
            "/api/chat": _OLLAMA,
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
        report.add(door, type(error).__name__, attempt.text[:300])
        return
    report.cases["routes"] = report.cases.get("routes", 0) + 1
    if answer.status_code >= 500 and answer.status_code not in _MEANT:
        report.add(door, f"{answer.status_code} {answer.text[:200]}", attempt.text[:300])


def rows(report: FuzzReport) -> Iterator[Row]:
    for name, number in report.cases.items():
        case = f"{name}, {report.results[name]:,} with a result" if name in report.results else name
        yield Row(PART, "cases", case, number)
    yield Row(PART, "cases", "all", sum(report.cases.values()))
    yield none_of(PART, "internal errors and hangs", "all", len(report.failures))
    yield Row(
        PART,
        "slowest case of a parser",
        f"{report.slowest[1]}, its processor",
        report.slowest[0],
        "s",
        "under 5 s",
        report.slowest[0] < _LONGEST,
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
    parser.add_argument("--cases", type=int, default=0, help="of the parsers, however long they take")


def run(options: argparse.Namespace, folder: Path) -> PartResult:
    report, seconds = FuzzReport(), options.minutes * 30
    if options.cases:
        rounds = math.ceil(options.cases / sum(parser.share for parser in make_parsers(folder)))
        try_parsers(report, Random(options.seed), math.inf, rounds)
    else:
        try_parsers(report, Random(options.seed), seconds)
    try_routes(report, options.seed, folder, seconds)
    return PartResult(list(rows(report)), report.failures)
