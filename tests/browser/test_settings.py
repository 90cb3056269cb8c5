"""The settings page: changed, refused, taken back; servers, keys, the password, and coming in with it."""

import re
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import expect

from holdfast.store.access import password_digest
from tests.browser.accessible import faults
from tests.browser.conftest import PHONE
from tests.browser.upstream import Upstream
from tests.fakes.ollama_runner import FakeModel
from tests.waiting import wait_until

PASSWORD = "correct horse battery"


@pytest.fixture
def settings(server):
    """The page's own settings are empty before and after."""
    yield server
    rows = server.client.get("/api/settings").json()["settings"]
    back = {row["name"]: None for row in rows if row["source"] == "page"}
    server.client.put("/api/settings", json=back).raise_for_status()


def value(server, name):
    rows = server.client.get("/api/settings").json()["settings"]
    return next(row for row in rows if row["name"] == name)


def setting(window, name):
    """The field of a setting; where it is folded away with others, they are unfolded."""
    field = window.locator(f"#set-{name}")
    field.evaluate("field => field.closest('details')?.setAttribute('open', '')")
    return field


def save(window):
    window.get_by_role("button", name="Save", exact=True).click()


def test_a_preset_is_previewed_saved_and_taken_back(page, settings):
    window = page("/settings")
    expect(window.locator("#preview")).to_contain_text("In force")
    window.get_by_role("radio", name="Room for long answers").check()
    expect(window.locator("#preview")).to_contain_text("With these settings")
    expect(window.locator(".figures")).to_contain_text("8,192")
    assert value(settings, "preset")["source"] == "default", "looking changes nothing"
    setting(window, "reserve").fill("900")
    expect(window.locator("#changed")).to_have_text("2 changes")
    save(window)
    expect(window.locator("#restart")).to_contain_text("after a restart")
    expect(window.locator("#savebar")).to_be_hidden()
    assert value(settings, "preset")["value"] == "long-answers"
    expect(window.locator("#row-reserve")).to_contain_text("after a restart; now 0")
    window.locator("#row-reserve").get_by_role("button", name="Take it back").click()
    save(window)
    expect(window.locator("#row-reserve")).to_contain_text("default")
    expect(window.locator("#savebar")).to_be_hidden()
    assert value(settings, "reserve")["source"] == "default"


def test_what_is_wrong_stands_beside_its_field_and_nothing_is_changed(page, settings):
    window = page("/settings")
    setting(window, "level_1").fill("95%")
    setting(window, "memory_gate").fill("whatever")
    setting(window, "unread").fill("20")
    save(window)
    expect(window.locator("#wrong-memory_gate")).to_contain_text("address=on")
    expect(window.locator("#wrong-level_1")).to_contain_text("level_2")
    expect(setting(window, "level_1")).to_have_attribute("aria-invalid", "true")
    assert value(settings, "unread")["source"] == "default"
    window.get_by_role("button", name="Discard").click()
    expect(setting(window, "unread")).to_have_value("60")
    expect(window.locator("#savebar")).to_be_hidden()


def test_what_is_set_elsewhere_can_be_seen_and_not_changed(page, settings):
    window = page("/settings", language="de")
    expect(setting(window, "upstream")).to_be_disabled()
    expect(window.locator("#row-upstream")).to_contain_text("beim Start des Servers gesetzt")
    window.get_by_label("Einstellung suchen").fill("modellserver")
    expect(setting(window, "upstream")).to_be_visible()
    expect(setting(window, "retention_days")).to_be_hidden()
    expect(window.locator("#found")).to_contain_text("Einstellungen")


def test_a_server_is_told_memories_or_not(page, settings):
    window = page("/settings")
    gate = window.get_by_role("switch", name="memories may be sent to it")
    expect(gate).to_be_checked()
    gate.uncheck()
    save(window)
    expect(window.locator("#row-memory_gate")).to_contain_text("set here")
    assert value(settings, "memory_gate")["value"].endswith("=off")
    window.reload()
    expect(gate).not_to_be_checked()


def test_deleting_what_is_old_is_asked_about(page, settings):
    window = page("/settings")
    setting(window, "retention_days").fill("30")
    save(window)
    expect(window.get_by_role("dialog")).to_contain_text("30 days")
    window.keyboard.press("Escape")
    assert value(settings, "retention_days")["value"] == 0


def test_a_key_is_made_shown_once_and_revoked(page, start):
    server = start()
    window = page("/settings", at=server.url)
    window.get_by_role("button", name="New key …").click()
    # Without a password nobody makes keys; who sets one is signed in at once.
    window.get_by_role("dialog").get_by_role("button", name="Set one …").click()
    window.get_by_label("New password").fill(PASSWORD)
    window.get_by_label("Once more").fill(PASSWORD)
    window.get_by_role("button", name="Set the password").click()
    expect(window.get_by_role("button", name="Sign out")).to_be_visible()
    window.get_by_role("button", name="New key …").click()
    window.get_by_label("Name, to tell it apart").fill("laptop")
    window.get_by_label("Only this project").fill("garden")
    window.get_by_role("button", name="Make it").click()
    secret = window.locator("#new-secret code").inner_text()
    # Only then the list has it, and the page is left in peace.
    expect(window.locator("#keys")).to_contain_text("laptop")
    headers = {"authorization": f"Bearer {secret}"}
    assert server.client.get("/api/login", headers=headers).json()["project"] == "garden"
    window.reload()
    expect(window.locator("#keys")).to_contain_text("laptop")
    assert secret not in window.content()
    window.get_by_role("button", name="Revoke the key laptop").click()
    window.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(window.locator("#keys")).not_to_contain_text("laptop")
    assert server.client.get("/api/login", headers=headers).status_code == 401


def test_what_opens_folders_is_set_by_who_signed_in(page, start):
    server = start()
    server.engine.store.sessions.set_password("default", password_digest(PASSWORD))
    window = page("/settings", at=server.url)
    expect(window.locator("#row-file_roots")).to_contain_text("only after signing in")
    expect(setting(window, "file_roots")).to_be_disabled()
    window.get_by_role("button", name="New key …").click()
    window.get_by_role("dialog").get_by_role("button", name="Sign in").click()
    window.get_by_label("Password").fill(PASSWORD)
    window.keyboard.press("Enter")
    window.wait_for_url(f"{server.url}/settings")
    setting(window, "file_roots").fill(str(server.home))
    save(window)
    expect(window.locator("#row-file_roots")).to_contain_text("set here")


def test_coming_in_with_the_password_and_going_out_again(page, start):
    server = start(require_key=True)
    server.engine.store.sessions.set_password("default", password_digest(PASSWORD))
    window = page("/settings", at=server.url)
    expect(window).to_have_url(re.compile(r"/login\?next="))
    window.get_by_label("Password").fill("wrong one")
    window.get_by_role("button", name="Sign in").click()
    expect(window.get_by_role("alert")).to_have_text("This is not the password.")
    assert faults(window) == []
    window.get_by_label("Password").fill(PASSWORD)
    window.keyboard.press("Enter")
    window.wait_for_url(f"{server.url}/settings")
    # Whoever changes it shows that they know it, and stays in.
    window.get_by_role("button", name="Change it …").click()
    window.get_by_label("The password in use").fill(PASSWORD)
    window.get_by_label("New password").fill("another good one")
    window.get_by_label("Once more").fill("another good one")
    window.get_by_role("button", name="Set the password").click()
    expect(window.locator(".toast")).to_contain_text("The password is set.")
    window.get_by_role("button", name="Sign out").click()
    window.wait_for_url(f"{server.url}/login")
    with httpx.Client(base_url=server.url, trust_env=False) as stranger:
        assert stranger.get("/api/settings").status_code == 401


def test_servers_are_tested_added_and_removed_on_cards(page, start):
    server, one, two = start(upstream="embedded"), *(Upstream([FakeModel(f"{n}:latest")]) for n in "ab")
    with one.served() as location, two.served() as second:
        window = page("/settings#servers", at=server.url)
        window.get_by_role("button", name="Add a server").click()
        window.get_by_label("Address of the model server").fill(location)
        window.get_by_role("button", name="Test", exact=True).click()
        expect(window.locator("#server-new")).to_contain_text("models: a:latest")
        assert faults(window) == []
        window.get_by_role("button", name="Add this server").click()
        card = window.locator("#upstreams .server", has_text=location)
        expect(card).to_contain_text("Answers, 1 model")
        assert "a:latest" in installed(server)
        # A second one stands beside it, and a key is never shown again.
        window.get_by_label("Address of the model server").fill(second)
        window.get_by_role("button", name="Add this server").click()
        expect(window.locator("#upstreams .server", has_text=second)).to_contain_text("Answers")
        window.get_by_role("button", name=f"Key of {urlsplit(second).netloc}").click()
        window.get_by_label("Its key; empty takes it away").fill("sesame-17")
        window.get_by_role("button", name="Save", exact=True).click()
        expect(window.get_by_role("dialog")).to_have_count(0)
        wait_until(lambda: value(server, "upstream_keys")["value"])
        assert "sesame" not in server.client.get("/api/settings").text
        window.get_by_role("button", name=f"Remove the server {urlsplit(location).netloc}").click()
        window.get_by_role("dialog").get_by_role("button", name="Remove").click()
        expect(card).to_have_count(0)
        assert "a:latest" not in installed(server)
        assert "b:latest" in installed(server)


def installed(server):
    return " ".join(model["name"] for model in server.client.get("/api/models/installed").json()["models"])


def test_models_are_got_with_progress_and_deleted(page, start):
    server = start()
    window = page("/settings/models", at=server.url)
    model = window.locator(".model", has_text="small:latest")
    expect(model).to_contain_text("1,024")
    suited = window.locator("#recommended li").first
    name = suited.locator("strong").inner_text()
    suited.get_by_role("button", name=f"Get {name}").click()
    expect(suited.get_by_text("Installed")).to_be_visible()
    expect(window.locator(".model", has_text=name)).to_be_visible()
    assert faults(window) == []
    window.get_by_role("button", name="Delete small:latest from the server").click()
    window.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(model).to_have_count(0)
    assert "small:latest" not in installed(server)


@pytest.mark.parametrize(("theme", "language", "size"), [("light", "en", (1280, 800)), ("dark", "de", PHONE)])
def test_nobody_is_kept_out_of_the_settings(page, server, theme, language, size):
    window = page("/settings", theme=theme, language=language, size=size)
    expect(window.locator(".figures")).to_be_visible()
    for part in ("#upstreams .server", "#keys li"):
        expect(window.locator(part).first).to_be_visible()
    assert faults(window) == []
    assert window.evaluate("document.documentElement.scrollWidth") <= size[0]
