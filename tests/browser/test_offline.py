"""Reading without the server: the chats that were read last, for who read them and nobody after them."""

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import expect

from holdfast.messages import Message, Scope
from holdfast.store import NewMessage
from holdfast.store.access import password_digest
from tests.browser.conftest import DESKTOP, PATIENCE, context_of
from tests.browser.tcp_proxy import wire

expect.set_options(timeout=PATIENCE)
PASSWORD = "correct horse battery"


def sign_in(window):
    window.get_by_label("Password").fill(PASSWORD)
    window.keyboard.press("Enter")


def test_a_chat_is_read_offline_until_somebody_signs_out(browser, start):
    server = start(require_key=True)
    server.engine.store.sessions.set_password("default", password_digest(PASSWORD))
    said = [NewMessage(Message.of("user", "Where is it?")), NewMessage(Message.of("assistant", "In *Kiel*."))]
    row, _ = server.engine.store.log.begin(Scope(), said, title="The ferry")
    with wire(server.url) as line:
        context = context_of(browser, line.url, "en", "light", DESKTOP, "", service_workers="allow")
        context.set_default_timeout(PATIENCE)
        window = context.new_page()
        window.goto(f"/c/{row.id}")
        sign_in(window)
        expect(window.locator(".message.assistant")).to_contain_text("In Kiel.")
        window.wait_for_function("() => navigator.serviceWorker.controller !== null")
        # From now on what is read is kept.
        window.reload()
        expect(window.locator(".message.assistant")).to_contain_text("In Kiel.")
        expect(window.get_by_role("link", name="The ferry")).to_be_visible()
        line.cut()
        window.reload()
        expect(window.locator(".message.assistant")).to_contain_text("In Kiel.")
        expect(window.get_by_role("link", name="The ferry")).to_be_visible()
        expect(window.locator("#banner")).to_contain_text("does not answer")
        line.mend()
        window.reload()
        window.get_by_role("button", name="Sign out").click()
        window.wait_for_url("**/login")
        assert "holdfast-private" not in window.evaluate("caches.keys()")
        line.cut()
        with pytest.raises(PlaywrightError, match="net::"):
            window.goto(f"/c/{row.id}")
        context.close()
