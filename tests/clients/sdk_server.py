"""Holdfast between unmodified clients and an Ollama that answers what a test tells it to.

One server for all tests of a module, each test in a project of its own; what was kept is read from the store.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from holdfast.messages import Message, Scope
from holdfast.store import Store
from holdfast.upstreams.http import Connection
from holdfast.upstreams.ollama import Ollama
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeReply, ModelCall
from tests.server.conftest import running

MODEL = "fake:latest"
# The smallest picture there is: one pixel.
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

# What is left of a talk in which two files were looked into by a tool, after the question for it.
LOOKED = [
    ("assistant", "Looking.", (("look", '{"path":"a"}'), ("look", '{"path":"b"}'))),
    ("tool", "a is empty"),
    ("tool", "b is empty"),
    ("assistant", "Both are empty."),
    ("user", "Thanks!"),
    ("assistant", "You are welcome."),
]


@dataclass
class Table:
    """Where a test sits: the address, what the model says next, what it was asked, and what was kept."""

    url: str
    store: Store
    project: str
    answers: deque[str | FakeReply]
    fake: FakeOllama

    @property
    def headers(self) -> dict[str, str]:
        return {"X-Holdfast-Project": self.project}

    def asked(self) -> list[dict[str, Any]]:
        """The chats that the model was asked for; probes of its template are not among them."""
        return [
            body
            for path, body in self.fake.requests
            if path == "/api/chat" and body.get("messages") and "_debug_render_only" not in body
        ]

    def kept(self) -> list[list[tuple[Any, ...]]]:
        """Every conversation of the project, the oldest first, as the log has it."""
        rows = self.store.log.recent(Scope(project=self.project), 100)
        return [[told(item.message) for item in self.store.log.path(row.head)] for row in reversed(rows)]


def told(message: Message) -> tuple[Any, ...]:
    """Who spoke, the words, and, where there are any, the names of calls and the number of pictures."""
    calls = tuple((call.name, call.arguments) for call in message.tool_calls)
    more = [*([calls] if calls else []), *([len(message.images)] if message.images else [])]
    return (message.role, message.text, *more)


@contextmanager
def tables(folder: Path) -> Iterator[Callable[..., Table]]:
    """Gives every test its table; the project is the default one if the client can send no header."""
    answers: deque[str | FakeReply] = deque()

    def answer(call: ModelCall) -> str | FakeReply:
        return answers.popleft() if answers else f"You said: {call.said}"

    fake, numbers = FakeOllama(answer), count()
    with fake.served() as upstream, running(folder, Ollama(Connection(upstream))) as holdfast:

        def table(project: str = "") -> Table:
            answers.clear()
            fake.requests.clear()
            return Table(holdfast.url, holdfast.store, project or f"p{next(numbers)}", answers, fake)

        yield table
