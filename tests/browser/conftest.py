"""A real Chromium in front of a running Holdfast: one browser and one server for nearly all of these tests.

The browser reaches nothing but loopback. Whatever a page's scripts complain of fails the test that opened it.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from holdfast.config import load
from holdfast.server.app import create_app
from holdfast.testing.provider import serve_app
from holdfast.turn import TurnEngine
from holdfast.wiring import build_engine
from tests.browser import chromium
from tests.browser.upstream import Upstream

DESKTOP, PHONE = (1280, 800), (360, 740)
# How long, in milliseconds, a page may take for anything before a test gives it up.
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)

FLAGS = (
    "--no-sandbox",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-gpu",
)


# Before xdist looks for groups.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.real)
            # One worker has all of them, and so one browser.
            item.add_marker(pytest.mark.xdist_group("browser"))
            # On a busy machine a key may be pressed before the page is where the test believes it to be.
            # What is broken fails twice; the report lists what was run again, so that it can be mended.
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Not for the whole session: while Playwright runs, other tests of this worker could not use asyncio."""
    path = chromium.browser()
    if path is None:
        missing = "no Chromium on this machine; `make test` or `python -m tests.browser.chromium` gets one"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=str(path), args=FLAGS)
        yield launched
        launched.close()


@dataclass
class Server:
    """A running Holdfast, a client for what a test prepares by REST, and the model server behind it."""

    url: str
    client: httpx.Client
    engine: TurnEngine
    upstream: Upstream
    home: Path


@contextmanager
def serving(
    home: Path, *, fresh: bool = False, behind: Upstream | None = None, **settings: object
) -> Iterator[Server]:
    """Wired as `holdfast serve` does it, but for the embedder, which takes seconds to start.

    Unless it is to be `fresh`, nobody is led to the set-up. `behind` it is a server of models.
    """
    upstream = behind or Upstream()
    with upstream.served() as location:
        given = {"home": str(home), "upstream": location, "embedder": "off", "titles": False, **settings}
        given = {name: value for name, value in given.items() if value is not None}
        loaded = load(given, environ={}).settings
        engine = build_engine(loaded)
        with (
            serve_app(create_app(engine, loaded)) as url,
            httpx.Client(base_url=url, timeout=120, trust_env=False) as client,
        ):
            if not fresh:
                client.post("/api/system/setup-complete", json={"skipped": True})
            yield Server(url, client, engine, upstream, home)


@pytest.fixture(scope="package")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("holdfast")) as running:
        # Else every window would begin with the set-up.
        running.client.post("/api/system/setup-complete", json={"skipped": True})
        yield running


@pytest.fixture
def server(shared_server: Server) -> Server:
    """The one that tests share: what others left in it is there. A project of its own keeps a test apart."""
    shared_server.upstream.clear()
    return shared_server


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts a server of a test's own, on an empty data folder, with the settings it names."""
    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(serving(tmp_path / "home", **settings))


@pytest.fixture
def page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens windows, each like a browser of its own: `page("/settings/memory", language="de")`.

    They go to the shared server unless `at` is another's address. With `project` everything a window asks for
    is asked in that project. `page.complaints` is what scripts and the browser found wrong, in all windows.
    """
    complaints: list[str] = []
    with ExitStack() as stack:

        def opened(
            path: str = "",
            *,
            language: str = "en",
            theme: str = "light",
            size: tuple[int, int] = DESKTOP,
            project: str = "",
            at: str = "",
        ) -> Page:
            url = at or request.getfixturevalue("server").url
            context = context_of(browser, url, language, theme, size, project)
            stack.callback(context.close)
            _listen(context, complaints)
            made = context.new_page()
            if path:
                made.goto(path)
            return made

        opened.complaints = complaints  # type: ignore[attr-defined]
        yield opened
    assert complaints == []


def context_of(
    browser: Browser,
    url: str,
    language: str,
    theme: str,
    size: tuple[int, int],
    project: str,
    service_workers: Literal["allow", "block"] = "block",
) -> BrowserContext:
    """A browser of its own; without service workers, since routes of a test do not see what they fetch."""
    context = browser.new_context(
        base_url=url,
        locale="de-DE" if language == "de" else "en-GB",
        color_scheme="dark" if theme == "dark" else "light",
        viewport={"width": size[0], "height": size[1]},
        reduced_motion="reduce",
        service_workers=service_workers,
        extra_http_headers={"X-Holdfast-Project": project} if project else {},
    )
    context.set_default_timeout(PATIENCE)
    context.add_cookies(
        [
            {"name": "holdfast_language", "value": language, "url": url},
            {"name": "holdfast_theme", "value": theme, "url": url},
        ]
    )
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=url)
    return context


def _listen(context: BrowserContext, complaints: list[str]) -> None:
    def said(message: ConsoleMessage) -> None:
        # A refusal that the page deals with is none of its faults; the browser mentions each.
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            complaints.append(message.text)

    context.on("console", said)
    context.on("weberror", lambda error: complaints.append(str(error.error)))
    context.on(
        "request",
        lambda asked: (
            None
            if urlsplit(asked.url).hostname in ("127.0.0.1", "localhost", None)
            else complaints.append(f"asked for {asked.url}")
        ),
    )
