"""Pictures of every page for the documents, in both languages and both themes: `make pictures`.

They are taken of a Holdfast with a life of its own (`life`), in the Chromium that the tests use.
"""

import io
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser import chromium
from tests.browser.conftest import FLAGS, PHONE, Server, context_of, serving
from tests.browser.sample_data import Narrator, live, lived

FOLDER = Path(__file__).parents[2] / "docs" / "images"
SIZE = (1200, 800)
# In bytes: they are looked at in a browser, and kept for ever.
LARGEST = 135_000
# The moving picture of a chat: its size, milliseconds between two frames, and how long the last stays.
MOVIE, MOVIE_SIZE, LARGEST_MOVIE = FOLDER / "chat.webp", (960, 620), 1_500_000
_FRAME, _LAST, _MOST_FRAMES = 250, 4_000, 400


@dataclass(frozen=True, slots=True)
class Picture:
    """A page at `path`, once `ready` is to be seen on it, with `top` at the top, or from `away`."""

    name: str
    path: str
    ready: str
    size: tuple[int, int] = SIZE
    top: str = ""
    away: bool = False


def pictures(conversation: str) -> Iterator[Picture]:
    chat = f"/c/{conversation}"
    yield Picture("chat", chat, ".message.assistant:last-of-type .facts .ring")
    yield Picture("summary", chat, ".compaction", top=".compaction")
    yield Picture("phone", chat, ".message.assistant:last-of-type .facts .ring", PHONE)
    yield Picture("context", f"{chat}/context", ".entry")
    yield Picture("memory", "/settings/memory", "main article")
    yield Picture("research", "/research", "[data-finding]")
    yield Picture("statistics", "/statistics", "#plots svg")
    yield Picture("settings", "/settings", ".figures")
    yield Picture("models", "/settings/models", "#recommended li")
    yield Picture("setup", "/setup#2", "[aria-pressed]")
    yield Picture("login", "/login", "input[type=password]", away=True)


def main() -> None:
    path = chromium.browser()
    if path is None:
        raise SystemExit("no Chromium on this machine; `make browser` gets one")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=str(path), args=FLAGS)
        for language in ("en", "de"):
            life = lived(language)
            with (
                tempfile.TemporaryDirectory() as folder,
                serving(Path(folder), behind=Narrator(life), language=language) as server,
            ):
                conversation = live(server, life)
                for theme, picture in product(("light", "dark"), pictures(conversation)):
                    take(launched, server, picture, language, theme)
                if language == "en":
                    film(launched, server, life)
        launched.close()


def take(browser: Browser, server: Server, picture: Picture, language: str, theme: str) -> None:
    context = context_of(browser, server.url, language, theme, picture.size, project="")
    if picture.away:
        # As if a proxy had passed it on: nobody is let in just for sitting at this machine.
        context.set_extra_http_headers({"Via": "1.1 proxy"})
    window = context.new_page()
    window.goto(picture.path)
    expect(window.locator(picture.ready).first).to_be_visible()
    settled(window)
    if picture.top:
        window.locator(picture.top).first.evaluate("(one) => one.scrollIntoView()")
    path = FOLDER / f"{picture.name}-{language}-{theme}.png"
    window.screenshot(path=path, animations="disabled", caret="hide")
    context.close()
    size = path.stat().st_size
    print(f"{path.name}\t{size // 1024} KB" + ("\ttoo large" if size > LARGEST else ""))


def film(browser: Browser, server: Server, life: dict[str, Any]) -> None:
    """Take a moving picture of a chat: a question is typed, and its answer written."""
    from PIL import Image

    context = context_of(browser, server.url, "en", "light", MOVIE_SIZE, project="")
    window, frames = context.new_page(), []

    def shoot() -> None:
        frames.append(Image.open(io.BytesIO(window.screenshot(caret="hide"))).convert("RGB"))

    window.goto("/")
    expect(window.locator("#chats a").first).to_be_visible()
    settled(window)
    shoot()
    question, _ = life["chats"][0]["turns"][0]
    for at in range(0, len(question), 6):
        window.locator("#text").press_sequentially(question[at : at + 6])
        shoot()
    window.locator("#text").press("Enter")
    for _ in range(_MOST_FRAMES):
        if window.locator(".message.assistant .facts .ring").count():
            break
        shoot()
        window.wait_for_timeout(_FRAME // 2)
    settled(window)
    shoot()
    durations = [_FRAME] * (len(frames) - 1) + [_LAST]
    first, *rest = frames
    first.save(MOVIE, save_all=True, append_images=rest, duration=durations, loop=0, quality=70, method=4)
    context.close()
    print(f"{MOVIE.name}\t{MOVIE.stat().st_size // 1024} KB, {len(frames)} frames")


def settled(window: Page) -> None:
    """Nothing is on its way to the page any more, but for the events that it goes on listening to."""
    window.wait_for_function("() => !document.querySelector('[aria-busy=true]')")
    window.evaluate("document.fonts.ready")
    window.wait_for_timeout(300)


if __name__ == "__main__":
    main()
