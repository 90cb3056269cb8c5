"""The prompt library: saved once, inserted with a slash, its variables asked for; everybody has their own."""

from playwright.sync_api import expect

from tests.browser.accessible import faults
from tests.browser.conftest import PATIENCE, PHONE

expect.set_options(timeout=PATIENCE)


def test_a_saved_prompt_is_inserted_with_its_variables(page, server):
    window = page("/", project="prompts")
    field = window.locator("#text")
    field.press_sequentially("/")
    window.get_by_role("option", name="Manage prompts …").click()
    dialog = window.get_by_role("dialog")
    dialog.get_by_label("Name: letters, digits and hyphens").fill("two words")
    dialog.get_by_label("Text").fill("Translate into {{language}}: {{text}} ({{language}} only)")
    dialog.get_by_role("button", name="Save the prompt").click()
    expect(dialog.get_by_role("alert")).to_contain_text("no spaces")
    dialog.get_by_label("Name: letters, digits and hyphens").fill("translate")
    dialog.get_by_role("button", name="Save the prompt").click()
    expect(dialog.get_by_role("list", name="Prompt library")).to_contain_text("/translate")
    assert faults(window) == []
    window.keyboard.press("Escape")
    expect(field).to_have_value("")
    field.press_sequentially("/tr")
    expect(window.get_by_role("option", name="/translate")).to_be_visible()
    window.keyboard.press("Enter")
    window.get_by_role("dialog").get_by_label("language").fill("Danish")
    window.get_by_role("dialog").get_by_label("text").fill("Good evening")
    window.get_by_role("button", name="Insert").click()
    expect(field).to_have_value("Translate into Danish: Good evening (Danish only)")
    expect(field).to_be_focused()
    window.keyboard.press("Enter")
    expect(window.locator(".message.user")).to_contain_text("Translate into Danish")
    # It is there on every device of this person, and for nobody else.
    phone = page("/", project="prompts", language="de", theme="dark", size=PHONE)
    phone.locator("#text").press_sequentially("/")
    expect(phone.get_by_role("option", name="/translate")).to_be_visible()
    assert faults(phone) == []
    assert [saved.name for saved in server.engine.store.saved_prompts.all("ada")] == []
    server.engine.store.saved_prompts.put("ada", "hers", "Secret {{x}}")
    assert server.client.delete("/api/prompts/hers").status_code == 404
    assert "hers" not in server.client.get("/api/prompts").text
    assert server.client.delete("/api/prompts/translate").status_code == 204
    assert server.client.get("/api/prompts").json() == {"prompts": []}
