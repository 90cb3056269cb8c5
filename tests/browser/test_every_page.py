"""What holds for all pages alike: small, nothing from elsewhere, both languages, no complaints of scripts."""

import pytest
from playwright.sync_api import expect

from tests.browser.accessible import faults
from tests.browser.conftest import DESKTOP, PATIENCE, PHONE
from tests.browser.tcp_proxy import wire

# In bytes, with all that a page loads before anybody has done anything.
FIRST_LOAD = 200_000
# Bytes of what a page is made of; what it asks the server for is not part of it.
WEIGHT = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .filter((entry) => !entry.name.includes("/api/")).map((entry) => [entry.name, entry.decodedBodySize])"""
# So often, and so many milliseconds apart, it is looked whether a page is complete.
_BETWEEN = 100
_LOOKS = PATIENCE // _BETWEEN


PAGES = (
    "/",
    "/settings/memory",
    "/settings/models",
    "/research",
    "/statistics",
    "/settings",
    "/setup",
    "/login",
)


@pytest.mark.parametrize("path", PAGES[:-1])
def test_a_page_is_small_and_speaks_the_language_that_was_chosen(page, path):
    window = page(language="de")
    window.goto(path, wait_until="load")
    window.wait_for_function("() => !document.querySelector('[aria-busy=true]')")
    sizes = window.evaluate(WEIGHT)
    assert sum(size for _, size in sizes) < FIRST_LOAD, sizes
    assert window.locator("html").get_attribute("lang") == "de"
    assert window.locator("h1").count() == 1


@pytest.mark.parametrize(("language", "theme", "size"), [("en", "light", DESKTOP), ("de", "dark", PHONE)])
@pytest.mark.parametrize("path", [*PAGES, "context"])
def test_nothing_keeps_people_from_using_a_page(page, server, path, language, theme, size):
    if path == "context":
        body = {"model": "fake:latest", "messages": [{"role": "user", "content": "Hello!"}], "stream": False}
        response = server.client.post("/api/chat", json=body)
        path = f"/c/{response.headers['x-holdfast-conversation']}/context"
    window = page(language=language, theme=theme, size=size)
    window.goto(path, wait_until="load")
    expect(window.locator("h1")).to_have_count(1)
    # What scripts bring comes after the page itself.
    for _ in range(_LOOKS):
        if not (results := faults(window)):
            break
        window.wait_for_timeout(_BETWEEN)
    assert results == []


def test_a_tab_that_is_older_than_the_server_says_so(page, server):
    with wire(server.url) as line:
        window = page("/research", at=line.url)
        expect(window.locator("h1")).to_be_visible()
        window.route("**/health", lambda route: route.fulfill(json={"status": "ok", "version": "99.0"}))
        line.cut()
        expect(window.locator("#banner")).to_contain_text("does not answer")
        line.mend()
        expect(window.locator("#banner")).to_contain_text("was updated")
        expect(window.locator("#banner").get_by_role("button", name="Reload")).to_be_visible()
        window.goto("about:blank")


def test_accessibility_check_detects_known_faults(page):
    window = page()
    window.set_content(
        "<html lang=en><title>Bad</title><main><h1>One</h1><h3 id=a>Three</h3><button id=a></button><input>"
        "<img src=data:,><p style='color:#aaa;background:#fff'>Pale</p><label for=gone>Who</label>"
        "<div aria-hidden=true><a href=x>Hidden</a></div><p style='width:3000px'>Wide</p></main>"
    )
    text = "\n".join(faults(window))
    for fault in (
        "id used 2 times",
        "level 3 after one of level 1",
        "no name",
        "no label",
        "no text instead",
        "contrast",
        "leads nowhere",
        "hidden but reachable",
        "wider than the window",
    ):
        assert fault in text
