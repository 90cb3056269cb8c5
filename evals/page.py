"""`python -m evals.page`: how quickly the pages paint, take keys, list, search, stream. See results/page.md.

A real Chromium in front of a running server on this machine, with a chat of 500 messages, 5,000 memories and
2,000 chats in it. Every figure is taken in the page, by its own clock and by PerformanceObserver.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

from holdfast.memory.base import Kind
from holdfast.messages import Message, Scope
from holdfast.store import NewMessage
from tests.browser import chromium
from tests.browser.conftest import DESKTOP, FLAGS, Server, context_of, serving
from tests.browser.upstream import Upstream
from tests.fakes.ollama_runner import FakeModel, ModelCall

RESULTS = Path(__file__).parent / "results" / "page.md"
MESSAGES, MEMORIES, CHATS = 500, 5_000, 2_000
ROUNDS = 5
# Tokens a second of the answer that is streamed, and how many it has.
PACE, TOKENS = 100, 1_000
PATIENCE = 60_000

_ABOUT = f"""# How quick are the pages?

`python -m evals.page [--rounds N] [--json]` opens the pages in a real Chromium (headless, without a
graphics card), each time in a browser profile of its own, in front of a server on the same machine: a chat
of {MESSAGES} messages, {MEMORIES:,} memories, {CHATS:,} chats. Median and best of the rounds: on a machine
that others use, the best is nearer to what the pages need themselves. *First paint* is
first-contentful-paint; *ready* is when what was asked for is shown (the last messages, the first memories);
*first keystroke* is from the key to the next painted frame, right after that. Lists and searches are from
the request to the changed page. While an answer of {TOKENS:,} tokens streams at {PACE} tokens a second,
long tasks are what PerformanceObserver calls so: the main thread busy for more than 50 ms.
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured in each round, in milliseconds, and what it should be at most."""

    name: str
    values: tuple[float, ...]
    aim: float | None = None

    @property
    def value(self) -> float:
        return median(self.values)

    @property
    def verdict(self) -> str:
        if self.aim is None:
            return ""
        return (
            "met"
            if self.value <= self.aim
            else "met at best"
            if min(self.values) <= self.aim
            else "**missed**"
        )


_WORDS = (
    "The harbour of Kiel is *open* and `ferry --list` has **42** lines, see the table and the notes of May. "
)
_ANSWER = f"## Ferries\n\n{_WORDS}\n\n- {_WORDS}\n- {_WORDS}\n\n```python\nprint('ferry', 42)\n```\n\n"


class Pacer(Upstream):
    """A model server that writes a long answer at a steady pace."""

    def __init__(self) -> None:
        super().__init__([FakeModel("fake:latest", num_ctx=32_768)])
        self._due = 0.0

    async def _turn(self) -> None:
        self._due = max(self._due + 1 / PACE, time.monotonic())
        await asyncio.sleep(max(0.0, self._due - time.monotonic()))

    def _answer(self, _: ModelCall) -> str:
        words = (_ANSWER * 40).split(" ")
        return " ".join(words[:TOKENS])


def fill(server: Server) -> str:
    """Put chats, messages and memories into the store; return the id of the long chat."""
    store, now = server.engine.store, time.time()

    def begin_chats() -> str:
        for number in range(CHATS):
            question = f"Question {number} about ferry {number % 97} to harbour {number % 31}?"
            answer = Message.of("assistant", f"Answer {number}. {_WORDS}")
            said = [NewMessage(Message.of("user", question)), NewMessage(answer, model="fake:latest")]
            title, then = f"Ferry {number % 97}, trip {number}", now - 900 * (CHATS - number)
            store.log.begin(Scope(), said, title=title, now=then)
        # Everybody asks something else, or it would be the same message.
        talk = [
            Message.of("assistant", f"{_ANSWER}{at}") if at % 2 else Message.of("user", f"Question {at}?")
            for at in range(MESSAGES)
        ]
        return store.log.begin(Scope(), [*map(NewMessage, talk)], title="The long one", now=now)[0].id

    chat = store.atomically(begin_chats)
    facts: list[tuple[Kind, str]] = [
        ("fact", f"Ship {number} berths at quay {number % 83} and carries cargo {number * 7}.")
        for number in range(MEMORIES)
    ]
    assert server.engine.remembering is not None
    server.engine.remembering.library.add_each(Scope(), facts)
    while store.texts.catch_up(500):
        pass
    return chat


@contextmanager
def open_page(browser: Browser, url: str) -> Iterator[Page]:
    context = context_of(browser, url, "en", "light", DESKTOP, "")
    context.set_default_timeout(PATIENCE)
    try:
        yield context.new_page()
    finally:
        context.close()


def measure_opening(page: Page, path: str, shown: str, field: str) -> dict[str, float]:
    """First paint, when `shown` is there, and how long the first key in `field` takes to the next frame."""
    page.goto(path)
    page.locator(shown).first.wait_for()
    ready = page.evaluate("performance.now()")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    page.locator(field).focus()
    page.evaluate(
        """() => addEventListener('keydown', (event) => requestAnimationFrame(() => {
            const channel = new MessageChannel();
            channel.port1.onmessage = () => { window.keyLatency = performance.now() - event.timeStamp; };
            channel.port2.postMessage(0);
        }), { once: true, capture: true })"""
    )
    page.keyboard.press("a")
    page.wait_for_function("() => window.keyLatency !== undefined")
    return {"paint": paint, "ready": ready, "key": page.evaluate("window.keyLatency")}


# Resolves with the milliseconds from the first request for a path to the change of the list after its answer.
_FROM_REQUEST = """([path, text]) => new Promise((resolve) => {
    const list = document.getElementById('chats'), field = document.getElementById('find');
    performance.clearResourceTimings();
    new MutationObserver((_, self) => {
        const asked = performance.getEntriesByType('resource').filter((entry) => entry.name.includes(path));
        if (!asked.length) return;
        self.disconnect();
        resolve(performance.now() - Math.min(...asked.map((entry) => entry.startTime)));
    }).observe(list, { childList: true });
    field.value = text;
    field.dispatchEvent(new Event('input'));
})"""


def measure_list(page: Page, words: str) -> dict[str, float]:
    page.goto("/")
    page.locator("#chats li").first.wait_for()
    first = page.evaluate(
        """() => Math.max(...performance.getEntriesByType('resource')
            .filter((entry) => entry.name.includes('/api/chats')).map((entry) => entry.duration))"""
    )
    # The first one is asked for while the page is still loading, the others are what one types then.
    times = [
        page.evaluate(_FROM_REQUEST, ["/api/chats/search", f"{text}{words}"])
        for text in ("", "harbour ", "question ", "trip ")
    ]
    return {"list": first, "search": times[0], "searches": median(times[1:])}


def measure_work(server: Server, words: str) -> dict[str, float]:
    """Processor time for a list and a search over REST, server and client together: others do not count."""
    work = {}
    for name, path in (
        ("list", "/api/chats?pinned=false&folder=&limit=50"),
        ("search", f"/api/chats/search?limit=30&q={words}"),
    ):
        before = time.process_time()
        server.client.get(path).raise_for_status()
        work[name] = 1000 * (time.process_time() - before)
    return work


def measure_stream(page: Page, path: str) -> dict[str, float]:
    """Ask in the long chat, and watch the main thread until the answer is complete."""
    page.goto(path)
    page.locator(".message.assistant[data-message]").first.wait_for()
    page.evaluate(
        """() => { window.tasks = []; new PerformanceObserver((list) =>
            window.tasks.push(...list.getEntries().map((entry) => entry.duration))
        ).observe({ type: 'longtask' }); }"""
    )
    page.locator("#text").fill("Tell me about ferries at length.")
    page.locator("#text").press("Enter")
    page.locator("#stop").wait_for(state="visible")
    page.locator("#stop").wait_for(state="hidden")
    tasks = [float(task) for task in page.evaluate("window.tasks")]
    return {"longest": max(tasks, default=0.0), "count": float(len(tasks))}


def measure(rounds: int) -> list[Figure]:
    path = chromium.browser()
    if path is None:
        raise SystemExit("no Chromium on this machine; `make browser` gets one")
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder) / "home", behind=Pacer(), memory_limit=2 * MEMORIES) as server,
        sync_playwright() as playwright,
    ):
        chat = f"/c/{fill(server)}"
        browser = playwright.chromium.launch(executable_path=str(path), args=FLAGS)
        runs: dict[str, list[dict[str, float]]] = {
            "chat": [],
            "memory": [],
            "list": [],
            "work": [],
            "stream": [],
        }
        for number in range(rounds):
            with open_page(browser, server.url) as page:
                runs["chat"].append(measure_opening(page, chat, ".message.assistant[data-message]", "#text"))
            with open_page(browser, server.url) as page:
                runs["memory"].append(measure_opening(page, "/settings/memory", "#feed article", "#search"))
            with open_page(browser, server.url) as page:
                runs["list"].append(measure_list(page, f"ferry {number}"))
            runs["work"].append(measure_work(server, f"ferry {number}"))
            with open_page(browser, server.url) as page:
                runs["stream"].append(measure_stream(page, chat))
        browser.close()

    def figure(name: str, run: str, key: str, aim: float | None = None) -> Figure:
        return Figure(name, tuple(round_of[key] for round_of in runs[run]), aim)

    return [
        figure(f"chat of {MESSAGES} messages: first paint", "chat", "paint"),
        figure("… ready (the last messages)", "chat", "ready"),
        figure("… first keystroke in the field", "chat", "key", 100),
        figure(f"{MEMORIES:,} memories: first paint", "memory", "paint"),
        figure("… ready (the first memories)", "memory", "ready"),
        figure("… first keystroke in the search", "memory", "key", 100),
        figure(f"list at {CHATS:,} chats", "list", "list", 100),
        figure("… processor time of it", "work", "list"),
        figure(f"search at {CHATS:,} chats, while the page is still loading", "list", "search"),
        figure(f"search at {CHATS:,} chats", "list", "searches", 100),
        figure("… processor time of it", "work", "search"),
        figure(f"longest task while {PACE} tokens a second stream", "stream", "longest", 100),
        figure("… number of tasks longer than 50 ms", "stream", "count"),
    ]


def render(figures: Sequence[Figure], load: tuple[float, float]) -> str:
    rows = [
        f"| {figure.name} | {figure.value:,.0f} | {min(figure.values):,.0f} |"
        f" {'' if figure.aim is None else f'{figure.aim:,.0f}'} | {figure.verdict} |"
        for figure in figures
    ]
    machine = (
        f"{len(figures[0].values)} rounds on {os.cpu_count()} cores. Waiting for a core (load average) were"
        f" {load[0]:.0f} at the beginning and {load[1]:.0f} at the end, this measurement included.\n"
    )
    return "\n".join((_ABOUT, machine, "| | ms | best | at most | |", "|---|---|---|---|---|", *rows, ""))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.page", description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each page is opened")
    parser.add_argument("--json", action="store_true", help="figures as JSON, nothing written")
    parser.add_argument("--output", type=Path, default=RESULTS, help="where the page is written")
    chosen = parser.parse_args(arguments)
    before = os.getloadavg()[0]
    figures = measure(chosen.rounds)
    if chosen.json:
        print(json.dumps({figure.name: figure.values for figure in figures}, indent=2, ensure_ascii=False))
        return 0
    report = render(figures, (before, os.getloadavg()[0]))
    print(report)
    chosen.output.write_text(report, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
