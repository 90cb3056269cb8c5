"""The set-up: from scratch to the first chat, taken up again, skipped, and by keyboard alone."""

import pytest
from playwright.sync_api import expect

from tests.browser.accessible import faults
from tests.browser.conftest import PHONE
from tests.browser.upstream import Upstream
from tests.waiting import wait_until

# What stands in each step when all of it is there.
READY = {
    1: ".points",
    2: "[aria-pressed]",
    3: "#password-why:not(:empty)",
    4: ".server",
    5: ".model",
    6: ".chosen",
}


@pytest.fixture
def fresh(start):
    """A server on which nobody has done anything yet."""
    return start(fresh=True)


def status(server):
    return server.client.get("/api/system/setup-status").json()


def at(window, heading):
    expect(window.get_by_role("heading", name=heading, exact=True)).to_be_visible()


def onward(window, name="Next"):
    window.get_by_role("button", name=name, exact=True).click()


def test_first_run_is_one_card_in_the_chat(page, fresh):
    window = page("/", at=fresh.url, language="de")
    card = window.locator("#connection")
    expect(card.get_by_role("heading")).to_have_text("Ollama gefunden, 2 Modelle")
    expect(card.get_by_role("link", name="Ein Passwort setzen")).to_have_attribute("href", "/setup#3")
    assert faults(window) == []
    card.get_by_label("Modell für den Anfang").select_option("small:latest")
    expect(window.locator("#model")).to_have_value("small:latest")
    card.get_by_role("button", name="Zum Chat").click()
    expect(window.locator("#text")).to_be_focused()
    expect(card).to_be_hidden()
    wait_until(lambda: status(fresh)["skipped"])
    window.reload()
    expect(window.locator("#starters")).to_be_visible()
    expect(card).to_be_hidden()


def test_first_run_without_server_takes_an_address_and_goes_on(page, start):
    fresh = start(fresh=True, upstream=None)
    assert fresh.client.put("/api/settings", json={"upstream": "http://127.0.0.1:9"}).status_code == 200
    window = page("/", at=fresh.url, size=PHONE, theme="dark")
    card = window.locator("#connection")
    expect(card.get_by_role("heading")).to_have_text("No model server answers yet")
    with Upstream().served() as location:
        card.get_by_label("Address of the model server").fill(location)
        card.get_by_role("button", name="Test").click()
        expect(card.get_by_role("status")).to_contain_text("fake:latest, small:latest")
        assert faults(window) == []
        assert window.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        card.get_by_role("button", name="Use this server").click()
        expect(card.get_by_role("heading")).to_have_text("Ollama found, 2 models")
        # Who just asks has begun, too.
        window.locator("#text").fill("Hello?")
        window.locator("#text").press("Enter")
        expect(window.locator(".message.assistant[data-message]")).to_contain_text("You said: Hello?")
        window.goto("/")
        expect(window.locator("#starters")).to_be_visible()
        expect(card).to_be_hidden()


def test_from_scratch_to_the_first_chat(page, fresh):
    window = page("/", at=fresh.url)
    window.get_by_role("link", name="Set up for a team").click()
    at(window, "Welcome")
    onward(window, "Let's begin")
    window.get_by_role("textbox", name="What is your company called?").fill("Anders")
    window.get_by_role("button", name="… Ltd").click()
    window.get_by_role("button", name="Health & medicine").click()
    window.get_by_role("button", name="6–20").click()
    window.get_by_role("button", name="Consulting", exact=True).click()
    window.get_by_role("textbox", name="What are your main products or services?").press("End")
    window.get_by_role("textbox", name="What are your main products or services?").type(", Diving bells")
    window.get_by_role("button", name="Short & to the point").click()
    onward(window)
    window.get_by_label("New password").fill("correct horse battery")
    window.get_by_label("Once more").fill("correct horse")
    onward(window)
    expect(window.get_by_role("alert")).to_have_text("The two are not the same.")
    window.get_by_label("Once more").fill("correct horse battery")
    onward(window)
    expect(window.locator("#servers")).to_contain_text("Answers, 2 models")
    expect(window.locator("#pastes")).to_contain_text(f"OLLAMA_HOST={fresh.url}")
    onward(window)
    small = window.get_by_role("article").filter(has_text="small:latest")
    small.get_by_role("button", name="Use the recommended 8,192").click()
    expect(small).to_contain_text("set by you")
    window.get_by_placeholder("qwen3:4b").fill("new-one:1b")
    window.get_by_role("button", name="Get it").click()
    expect(window.get_by_role("article").filter(has_text="new-one:1b")).to_be_visible()
    onward(window)
    expect(window.locator("#summary")).to_contain_text("products: Consulting, Diving bells")
    onward(window, "Start chatting")
    window.wait_for_url(f"{fresh.url}/")
    fields = fresh.client.get("/api/memory/profile").json()["fields"]
    assert (fields["company"], fields["industry"], fields["team_size"]) == (
        "Anders Ltd", "Health & medicine", "6–20",
    )  # fmt: skip
    assert fields["preferences"] == {"answer_length": "short"}
    assert fresh.client.get("/api/login").json()["password"] is True
    assert status(fresh)["completed"]


def test_interrupted_setup_resumes_with_entered_values(page, fresh):
    window = page("/setup", at=fresh.url, language="de")
    onward(window, "Los geht's")
    window.get_by_role("textbox", name="Wie heißt Ihr Unternehmen?").fill("Nordlicht e.K.")
    expect(window.get_by_role("button", name="… e.K.")).to_have_attribute("aria-pressed", "true")
    window.reload()
    at(window, "Ihr KI-Profil")
    expect(window.get_by_role("textbox", name="Wie heißt Ihr Unternehmen?")).to_have_value("Nordlicht e.K.")
    # The place is noted a moment after its step is shown.
    with window.expect_response(lambda got: got.url.endswith("/setup-step") and got.ok):
        onward(window, "Weiter")
    at(window, "Ein Passwort")
    # Another browser finds the place, too, and the answer in the profile.
    other = page("/setup", at=fresh.url, language="de")
    at(other, "Ein Passwort")
    onward(other, "Zurück")
    expect(other.get_by_role("textbox", name="Wie heißt Ihr Unternehmen?")).to_have_value("Nordlicht e.K.")
    # What is emptied leaves the profile.
    other.get_by_role("textbox", name="Wie heißt Ihr Unternehmen?").fill("")
    onward(other, "Weiter")
    at(other, "Ein Passwort")
    assert status(fresh)["aiProfile"]["companyName"] is None


def test_skipped_setup_is_not_offered_again_but_stays_reachable(page, fresh):
    window = page("/setup", at=fresh.url)
    window.get_by_role("button", name="Skip the set-up").click()
    window.wait_for_url(f"{fresh.url}/")
    assert status(fresh)["skipped"]
    window.goto("/")
    assert window.url == f"{fresh.url}/"
    window.goto("/setup#4")
    at(window, "Network")
    window.go_back()
    window.go_forward()
    at(window, "Network")


def test_the_keyboard_is_enough(page, server):
    window = page("/setup#2")
    expect(window.get_by_role("textbox", name="Which industry are you in?")).to_be_visible()
    expect(window.get_by_role("button", name="IT & software")).to_be_visible()
    window.get_by_role("textbox", name="Which industry are you in?").press("Tab")
    window.keyboard.press("Space")
    expect(window.get_by_role("textbox", name="Which industry are you in?")).to_have_value("IT & software")
    window.keyboard.press("Space")
    expect(window.get_by_role("textbox", name="Which industry are you in?")).to_have_value("")
    window.get_by_role("textbox", name="Which industry are you in?").press("Enter")
    expect(window.get_by_role("heading", name="A password")).to_be_focused()


@pytest.mark.parametrize(("theme", "language"), [("light", "en"), ("dark", "de")])
def test_nobody_is_kept_out_of_a_step(page, server, theme, language):
    window = page(theme=theme, language=language, size=PHONE)
    for step in range(1, 7):
        window.goto(f"/setup#{step}")
        window.reload()
        expect(window.locator(f"section[data-step='{step}'] {READY[step]}").first).to_be_visible()
        assert faults(window) == [], step
        assert window.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


def test_how_long_a_model_stays_is_set_here_or_shown(page, start):
    fresh = start(fresh=True)
    window = page("/setup#5", at=fresh.url)
    window.get_by_label("How long a model stays").fill("two days")
    window.get_by_role("button", name="Set how long").click()
    expect(window.locator("#toasts")).to_contain_text("keep_alive")
    window.get_by_label("How long a model stays").fill("2h")
    window.get_by_label("How long a model stays").press("Enter")
    expect(window.get_by_role("status").filter(has_text="after the next start")).to_be_visible()
    window.reload()
    expect(window.get_by_label("How long a model stays")).to_have_value("2h")


def test_a_larger_embedder_is_got_and_set_with_one_button(page, start):
    fresh = start(fresh=True, embedder="auto")
    window = page("/setup#5", at=fresh.url)
    window.get_by_role("button", name="Get embeddinggemma and use it").click()
    expect(window.get_by_role("article").filter(has_text="embeddinggemma")).to_be_visible()
    expect(window.get_by_role("status").filter(has_text="after the next start")).to_be_visible()
    rows = {row["name"]: row["value"] for row in fresh.client.get("/api/settings").json()["settings"]}
    (server,) = fresh.client.get("/api/upstreams").json()["upstreams"]
    assert rows["embedder"] == f"ollama+{server['location']}"
    assert rows["embedder_model"] == "embeddinggemma"


def test_who_named_an_embedder_is_offered_none(page, fresh):
    window = page("/setup#5", at=fresh.url)
    expect(window.locator(".model").first).to_be_visible()
    expect(window.get_by_role("heading", name="Get a model")).to_be_visible()
    expect(window.get_by_role("heading", name="Finding by meaning")).to_be_hidden()
