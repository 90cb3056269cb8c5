"""A newcomer's first minutes with the model that comes along: set-up by keys, a chat, a memory."""

import re

import pytest
from playwright.sync_api import Page, expect

# The embedded model starts with the first question, and this machine may have other things to do.
STARTING = 60_000
# Never so many keys away, wherever one is on a page.
FAR = 60


@pytest.fixture
def fresh(start, weights):
    """Nobody has done anything yet, and no other model server is there."""
    return start(fresh=True, upstream="embedded", embedded_model=str(weights), embedded_window=2048)


def press(window: Page, name: str) -> None:
    """The button or link of this name, reached and pressed by keys alone."""
    for _ in range(FAR):
        window.keyboard.press("Tab")
        # After the last one nothing has the focus, and then the first one.
        if window.evaluate("document.activeElement.innerText?.trim()") == name:
            window.keyboard.press("Enter")
            return
    pytest.fail(f"no key leads to {name!r}")


def stopped(window: Page) -> str:
    """Enough is told: what the model said until then."""
    said = window.locator(".message.assistant .markdown").last
    expect(said).to_have_text(re.compile(r"\w+\W+\w+"), timeout=STARTING)
    window.keyboard.press("Escape")
    expect(window.locator(".message.assistant[data-message] .facts").last).to_be_visible()
    return said.inner_text()


def test_from_nothing_to_a_memory_that_is_used_corrected_and_forgotten(page, fresh):
    window = page("/", at=fresh.url)
    expect(window.get_by_role("heading", name="Trying the demonstration model")).to_be_visible()
    press(window, "Set up for a team, step by step")
    headings = ("Welcome", "Your AI profile", "A password", "Network", "Models", "All set")
    for heading in headings:
        expect(window.get_by_role("heading", name=heading, exact=True)).to_be_visible()
        if heading == "Your AI profile":
            window.keyboard.press("Tab")
            window.keyboard.type("Rowing club Northwind")
        if heading == "Models":
            expect(window.get_by_role("article").filter(has_text="embedded")).to_contain_text("2,048")
        press(window, {"Welcome": "Let's begin", "All set": "Start chatting"}.get(heading, "Next"))
    expect(window.locator("#text")).to_be_focused()
    expect(window.locator("#demonstration")).to_be_visible()

    # The answer is being written while the page is left and comes back.
    window.keyboard.type("Tell me a very long story about all lighthouses of the world.")
    window.keyboard.press("Enter")
    story = window.locator(".message.assistant .markdown")
    expect(story).to_have_text(re.compile(r"\w+\W+\w+"), timeout=STARTING)
    first = story.inner_text().split()[0]
    window.reload()
    expect(story).to_contain_text(first)
    told = stopped(window)
    window.reload()
    expect(story).to_have_text(told, use_inner_text=True)

    # What is written down once is known in the next chat.
    press(window, "Memory")
    expect(window.get_by_role("heading", name="Memory", exact=True)).to_be_visible()
    press(window, "Remember something")
    expect(window.get_by_label("Text", exact=True)).to_be_focused()
    window.keyboard.type("The boat house of Northwind has nine boats.")
    window.keyboard.press("Control+Enter")
    expect(window.get_by_role("article")).to_contain_text("nine boats")
    press(window, "Chat")
    expect(window.locator("#text")).to_be_focused()
    window.keyboard.type("How many boats has the boat house of Northwind?")
    window.keyboard.press("Enter")
    stopped(window)
    window.get_by_text("1 memory").click()
    expect(window.locator(".used li")).to_contain_text("nine boats")
    window.get_by_role("button", name="Correct").click()
    window.get_by_label("What is remembered").fill("The boat house of Northwind has ten boats.")
    window.get_by_role("button", name="Save").click()
    expect(window.locator(".used li")).to_contain_text("ten boats")

    # Another language and the dark are one click away, and stay.
    window.get_by_role("button", name="Deutsch").click()
    expect(window.locator("html")).to_have_attribute("lang", "de")
    window.locator("#theme").click()
    expect(window.locator("html")).to_have_attribute("data-theme", "dark")
    window.get_by_role("link", name="Erinnerungen").click()
    expect(window.locator("html")).to_have_attribute("data-theme", "dark")
    expect(window.get_by_role("article")).to_contain_text("ten boats")
    window.get_by_role("button", name="Vergessen", exact=True).click()
    expect(window.get_by_role("article")).to_have_count(0)
    assert fresh.client.get("/api/memory/list").json()["total"] == 0
    assert fresh.client.get("/api/memory/profile").json()["fields"]["company"] == "Rowing club Northwind"
