"""Ctrl+K: chats, pages, commands and settings from one box, with the keyboard alone."""

import re

from playwright.sync_api import Page, expect

from holdfast.messages import Message, Scope
from holdfast.store import NewMessage
from tests.browser.accessible import faults
from tests.browser.conftest import PATIENCE, PHONE

expect.set_options(timeout=PATIENCE)


def choose(window: Page, typed: str, label: str | re.Pattern[str]) -> None:
    """Opens the box, types, waits for the entry, moves to it and presses Enter."""
    window.keyboard.press("Control+k")
    box = window.get_by_role("combobox", name="Chats, pages and commands")
    expect(box).to_be_focused()
    window.keyboard.type(typed)
    entry = window.get_by_role("option", name=label).first
    expect(entry).to_be_visible()
    for _ in range(50):
        if entry.get_attribute("aria-selected") == "true":
            break
        window.keyboard.press("ArrowDown")
    expect(entry).to_have_attribute("aria-selected", "true")
    window.keyboard.press("Enter")


def test_keyboard_alone_reaches_chats_pages_commands_and_settings(page, server):
    store = server.engine.store
    for title, question in (
        ("Über die Alpen", "Which pass is lowest?"),
        ("Bread", "How long does rye proof?"),
    ):
        store.log.begin(
            Scope(project="palette"),
            [NewMessage(Message.of("user", question)), NewMessage(Message.of("assistant", "Twelve hours."))],
            title=title,
        )
    window = page("/", project="palette")
    expect(window.get_by_role("link", name="Bread")).to_be_visible()
    window.keyboard.press("Control+k")
    expect(window.get_by_role("option", name=re.compile("^Bread"))).to_be_visible()
    assert faults(window) == []
    window.keyboard.press("Escape")
    expect(window.locator("dialog")).to_have_count(0)
    # A title in whatever case, and words inside a message.
    choose(window, "über DIE", re.compile("^Über die Alpen"))
    expect(window.locator("#title")).to_have_text("Über die Alpen")
    choose(window, "rye proof", re.compile("^Bread.*rye proof"))
    expect(window.locator("#title")).to_have_text("Bread")
    with window.expect_download() as download:
        choose(window, "save json", "Save as JSON")
    assert download.value.suggested_filename == "Bread.json"
    choose(window, "theme dark", "Theme: dark")
    expect(window.locator("html")).to_have_attribute("data-theme", "dark")
    choose(window, "new", "New chat")
    expect(window.locator("#title")).to_have_text("New chat")
    expect(window.locator("#text")).to_be_focused()
    window.locator("#scroll").focus()
    window.keyboard.press("?")
    expect(window.get_by_role("dialog")).to_contain_text("Ctrl+K")
    window.keyboard.press("Escape")
    choose(window, "retention_days", re.compile("retention_days"))
    expect(window).to_have_url(re.compile(r"/settings#row-retention_days$"))
    expect(window.locator("#set-retention_days")).to_be_focused()
    # From any page back into a chat, and to another page.
    choose(window, "rye", re.compile("^Bread.*rye"))
    expect(window.locator("#title")).to_have_text("Bread")
    choose(window, "statis", "Statistics")
    expect(window).to_have_url(re.compile(r"/statistics$"))


def test_the_box_fits_a_phone_and_speaks_german(page):
    window = page("/statistics", language="de", theme="dark", size=PHONE)
    expect(window.locator("h1")).to_be_visible()
    window.keyboard.press("Control+k")
    expect(window.get_by_role("combobox", name="Chats, Seiten und Befehle")).to_be_focused()
    expect(window.get_by_role("option", name="Neuer Chat")).to_be_visible()
    assert faults(window) == []
    window.keyboard.type("zzqx")
    expect(window.get_by_text("So etwas gibt es nicht.")).to_be_visible()
