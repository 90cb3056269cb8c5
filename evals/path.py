"""`python -m evals.path`: every file and function that one warm message visits. See results/path.md.

Runs the server in this process in front of a model server that answers at once, sends a chat, and follows its
last message from the moment the server calls the app until the app returns. Whatever the message causes is
followed into other threads; work that runs in the background at the same time is not.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import asdict, dataclass, field
from inspect import CO_ASYNC_GENERATOR, CO_GENERATOR
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

import holdfast
from evals.overhead_client import OLLAMA, OPENAI, Line, chat_of, free_port
from evals.overhead_upstream import Answers, serve
from holdfast.config import Settings
from holdfast.server.app import create_app
from holdfast.testing.provider import serve_app
from holdfast.wiring import build_engine
from tests.test_structure import level_of

RESULTS = Path(__file__).parent / "results" / "path.md"
SOURCE = Path(holdfast.__file__).parent
# What the figures should come to: files, functions, generators for each chunk.
AIMS = {"files": 50, "functions": 250, "generators": 7}
_TURNS, _WORDS = 4, 40
_ABOUT = """# What does one message visit?

`python -m evals.path [--case CASE] [--json]` sends a chat of four turns through the server as it is by
default (embedder off), in front of a model server that answers at once, and follows the last message: every
function of `src/holdfast` that is called, until the answer is sent and recorded. A call is a pair of
functions, counted once; one *back up* goes into a layer above (`tests/test_structure.py`), also by
iterating a generator that was handed down. A generator counts for a chunk when the chunk passes through it.
Background work that runs at the same time is not counted.

Files and functions are not what they should come to: the aims are older than recall, which looks every
question up in all that was said and noted. The column without memory shows how much of it that is.
"""
CASES = {"/api/chat": (OLLAMA, True), "/v1": (OPENAI, True), "/api/chat, memory off": (OLLAMA, False)}
_IN_TURN: ContextVar[bool] = ContextVar("in_turn", default=False)
_GENERATOR = CO_GENERATOR | CO_ASYNC_GENERATOR


@dataclass(frozen=True, slots=True, order=True)
class Function:
    """Where it is defined, relative to the package, and its qualified name."""

    file: str
    name: str

    @property
    def level(self) -> int:
        return level_of(self.file.split("/")[0].removesuffix(".py"))


@dataclass(slots=True)
class Route:
    """The functions in the order of their first visit, who called whom, and the generators of each chunk."""

    functions: list[Function] = field(default_factory=list)
    # Caller and callee, each pair once, in order.
    calls: list[tuple[Function, Function]] = field(default_factory=list)
    # How many generators each chunk passed through: ours, and those of libraries.
    generators: int = 0
    foreign_generators: int = 0

    @property
    def files(self) -> list[str]:
        return list(dict.fromkeys(function.file for function in self.functions))

    @property
    def cross_file(self) -> list[tuple[Function, Function]]:
        return [(caller, callee) for caller, callee in self.calls if caller.file != callee.file]

    @property
    def upward(self) -> list[tuple[Function, Function]]:
        """Calls into a layer above: callbacks, and iterated generators that were handed down."""
        return [(caller, callee) for caller, callee in self.calls if caller.level < callee.level]


class Tracer:
    """An ASGI app around another one: while `armed`, it notes what is called to answer a request."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.armed = False
        self.finished = threading.Event()
        self._running = False
        self._loop_thread = 0
        self._functions: dict[CodeType, Function] = {}
        self._visited: dict[Function, None] = {}
        self._calls: dict[tuple[Function, Function], None] = {}
        # Chunks sent so far, and the largest stack of generators on the way to one of them.
        self._chunks = 0
        self._generators: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self.armed or scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def count(message: Message) -> None:
            await send(message)
            if message["type"] == "http.response.body":
                self._chunks += bool(message.get("more_body"))

        self.armed, self._running, self._loop_thread = False, True, threading.get_ident()
        token = _IN_TURN.set(True)
        try:
            await self.app(scope, receive, count)
        finally:
            self._running = False
            _IN_TURN.reset(token)
            self.finished.set()

    @contextmanager
    def install(self) -> Iterator[None]:
        """Threads that start in this context report their calls, and know for which request they work."""
        plain = ThreadPoolExecutor.submit

        def in_context(pool: ThreadPoolExecutor, call: Any, /, *arguments: Any, **named: Any) -> Any:
            return plain(pool, copy_context().run, call, *arguments, **named)

        threading.setprofile(self._profile)
        ThreadPoolExecutor.submit = in_context  # type: ignore[assignment, method-assign]
        try:
            yield
        finally:
            ThreadPoolExecutor.submit = plain  # type: ignore[method-assign]
            threading.setprofile(None)

    def _profile(self, frame: FrameType, event: str, _: object) -> None:
        if not self._running or event != "call" or not _IN_TURN.get():
            return
        code = frame.f_code
        if self._chunks and code.co_flags & _GENERATOR and threading.get_ident() == self._loop_thread:
            self._generators = max(self._generators, stack_of(frame), key=len)
        if self._is_ours(code):
            self._note(frame)

    def _note(self, frame: FrameType) -> None:
        callee = self._function(frame.f_code)
        self._visited.setdefault(callee)
        caller = frame.f_back
        while caller is not None and not self._is_ours(caller.f_code):
            caller = caller.f_back
        if caller is not None:
            self._calls.setdefault((self._function(caller.f_code), callee))

    def _is_ours(self, code: CodeType) -> bool:
        return code.co_filename.startswith(str(SOURCE)) and not code.co_name.startswith("<")

    def _function(self, code: CodeType) -> Function:
        if code not in self._functions:
            file = Path(code.co_filename).relative_to(SOURCE).as_posix()
            self._functions[code] = Function(file, code.co_qualname.replace(".<locals>", ""))
        return self._functions[code]

    def path(self) -> Route:
        ours = sum(file.startswith(str(SOURCE)) for file in self._generators)
        return Route(list(self._visited), list(self._calls), ours, len(self._generators) - ours)


def stack_of(frame: FrameType | None) -> list[str]:
    """The generators that wait for each other when the innermost of them runs, by their files."""
    files = []
    while frame is not None:
        if frame.f_code.co_flags & _GENERATOR:
            files.append(frame.f_code.co_filename)
        frame = frame.f_back
    return files


@contextmanager
def instant_upstream(words: int) -> Iterator[str]:
    """The address of a model server that answers at once, each chunk in a write of its own."""
    port, loop = free_port(), asyncio.new_event_loop()
    ready = threading.Event()

    def run() -> None:
        task = loop.create_task(serve(port, Answers(words, apart=True)))
        loop.call_later(0.05, ready.set)
        try:
            loop.run_until_complete(task)
        except asyncio.CancelledError:
            loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    ready.wait()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(loop)])
        thread.join()


def follow(door: str, memory: bool, *, turns: int = _TURNS, words: int = _WORDS) -> Route:
    """The way of the last message of a chat, through one of the doors."""
    with tempfile.TemporaryDirectory() as folder, instant_upstream(words) as upstream:
        home = Path(folder)
        # The embedder is a process of its own and takes seconds to start; what is asked of it is little code.
        settings = Settings(
            home=home,
            store=f"sqlite:///{home / 'holdfast.db'}",
            upstream=upstream,
            embedder="off",
            memory=memory,
        )
        tracer = Tracer(create_app(build_engine(settings), settings))
        with tracer.install(), serve_app(tracer) as url, Line(url) as line:
            for number, messages in enumerate(chat_of(7, turns, words), 1):
                tracer.armed = number == turns
                line.chat(door, messages, words)
            tracer.finished.wait(20)
    return tracer.path()


def figures(path: Route) -> dict[str, int]:
    return {
        "files": len(path.files),
        "functions": len(path.functions),
        "cross-file calls": len(path.cross_file),
        "calls back up": len(path.upward),
        "generators": path.generators,
        "generators of libraries": path.foreign_generators,
    }


def table(paths: dict[str, Route]) -> str:
    """The figures of each case beside what they should come to."""
    measured = {case: figures(path) for case, path in paths.items()}
    rows = ["| | " + " | ".join(f"{case}" for case in paths) + " | aim |", "|---" * (len(paths) + 2) + "|"]
    for name in next(iter(measured.values())):
        label = f"{name} for each chunk" if name.startswith("generators") else name
        numbers = " | ".join(str(each[name]) for each in measured.values())
        rows.append(f"| {label} | {numbers} | {AIMS.get(name, '–')} |")
    return "\n".join(rows)


def listing(path: Route) -> str:
    """The functions in the order of their first visit, under their files, and the calls back up."""
    lines: list[str] = []
    file = ""
    for function in path.functions:
        if function.file != file:
            file = function.file
            lines.append(file)
        lines.append(f"    {function.name}")
    lines += ["", "Calls back up:"]
    lines += [f"    {a.file}:{a.name} -> {b.file}:{b.name}" for a, b in path.upward]
    return "\n".join(lines)


def page(paths: dict[str, Route]) -> str:
    case, path = next(iter(paths.items()))
    return f"{_ABOUT}\n{table(paths)}\n\n## The way through {case}\n\n```\n{listing(path)}\n```\n"


def as_json(paths: dict[str, Route]) -> str:
    numbers: dict[str, Any] = {
        case: {
            **figures(path),
            "visited": [asdict(function) for function in path.functions],
            "upward": [[asdict(caller), asdict(callee)] for caller, callee in path.upward],
        }
        for case, path in paths.items()
    }
    return json.dumps(numbers, indent=2)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.path", description=__doc__.partition("\n")[0])
    parser.add_argument("--case", action="append", choices=CASES, help="only this case; may be repeated")
    parser.add_argument("--json", action="store_true", help="figures and functions as JSON, nothing written")
    parser.add_argument("--output", type=Path, default=RESULTS, help="where the page is written")
    chosen = parser.parse_args(arguments)
    paths = {case: follow(*CASES[case]) for case in chosen.case or CASES}
    if chosen.json:
        print(as_json(paths))
        return 0
    for case, path in paths.items():
        print(f"{case}\n\n{listing(path)}\n")
    print(table(paths))
    chosen.output.write_text(page(paths))
    return 0


if __name__ == "__main__":
    sys.exit(main())
