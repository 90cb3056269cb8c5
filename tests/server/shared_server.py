"""One running Holdfast for all tests of a module, each test in a project of its own."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import anthropic
import httpx
import openai

from holdfast.messages import ChatRequest, Scope
from holdfast.store import Store
from holdfast.testing.provider import Script, Scripted, ScriptedProvider
from tests.server.conftest import running


@dataclass
class Door:
    """What a test says the model answers, what the model was asked, and what was kept."""

    http: httpx.Client
    openai: openai.OpenAI
    anthropic: anthropic.Anthropic
    store: Store
    project: str
    answers: deque[Scripted]
    requests: list[ChatRequest]

    def kept(self) -> list[list[tuple[str, str, tuple[str, ...]]]]:
        """Each conversation in order: who spoke, the words, the calls."""
        rows = self.store.log.recent(Scope(project=self.project))
        return [
            [
                (item.message.role, item.message.text, tuple(call.id for call in item.message.tool_calls))
                for item in self.store.log.path(row.head)
            ]
            for row in rows
        ]


@contextmanager
def doors(folder: Path) -> Iterator[Callable[[], Door]]:
    """Makes a door for each test; the clients are the same, since making one takes longer than a test."""
    answers: deque[Scripted] = deque()

    def answer(request: ChatRequest) -> Script:
        popleft = answers.popleft() if answers else "Yes."
        return popleft(request) if callable(popleft) else popleft

    provider, numbers = ScriptedProvider(fallback=answer), count()
    rest = {"api_key": "none", "max_retries": 0}
    with (
        running(folder, provider) as holdfast,
        openai.OpenAI(base_url=f"{holdfast.url}/v1", **rest) as client,
        anthropic.Anthropic(base_url=holdfast.url, **rest) as other,
    ):

        def door() -> Door:
            answers.clear()
            provider.requests.clear()
            project = f"p{next(numbers)}"
            headers = {"X-Holdfast-Project": project}
            holdfast.client.headers.update(headers)
            return Door(
                holdfast.client,
                client.with_options(default_headers=headers),
                other.with_options(default_headers=headers),
                holdfast.store,
                project,
                answers,
                provider.requests,
            )

        yield door
