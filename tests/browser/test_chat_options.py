"""Options of a chat: set on the page, sent with every question, saved as presets for other chats."""

import json

from playwright.sync_api import expect

from tests.browser.accessible import faults
from tests.browser.conftest import PHONE
from tests.browser.test_chat import answers, ask, project  # noqa: F401


def sent(server):
    """The newest chat request as the model server got it: its instructions and its options."""
    body = [body for path, body in server.upstream.fake.requests if path == "/api/chat"][-1]
    system = [message["content"] for message in body["messages"] if message["role"] == "system"]
    options = {name: body["options"].get(name) for name in ("temperature", "num_predict", "stop")}
    return "".join(system), options


def test_options_hold_for_their_chat_and_go_along_as_preset(page, server, project):  # noqa: F811
    server.upstream.answers += ["Ahoy.", "Aye aye, captain."]
    window = page("/", project=project)
    options = window.locator("#options")
    dialog = window.get_by_role("dialog")
    options.click()
    dialog.get_by_label("Instructions (system prompt)").fill("Answer like a pirate.")
    dialog.get_by_label("Temperature").fill("0.3")
    dialog.get_by_label("Longest answer, in tokens").fill("77")
    dialog.get_by_text("More options").click()
    dialog.get_by_label("Stop at these words").fill("END, FIN")
    dialog.get_by_label("Name for these options").fill("Pirate")
    dialog.get_by_role("button", name="Save as preset").click()
    expect(dialog.get_by_role("combobox", name="Preset", exact=True)).to_have_value("Pirate")
    assert faults(window) == []
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(options).to_have_accessible_name("Options of this chat (some are set)")
    ask(window, "Ahoy?")
    expect(answers(window)).to_have_count(1)
    system, values = sent(server)
    assert "Answer like a pirate." in system
    assert values == {"temperature": 0.3, "num_predict": 77, "stop": ["END", "FIN"]}
    # They are the chat's, on the server, and hold for another version of an answer as well.
    window.reload()
    expect(options).to_have_accessible_name("Options of this chat (some are set)")
    answers(window).get_by_role("button", name="Regenerate").click()
    expect(answers(window)).to_contain_text("Aye aye, captain.")
    assert sent(server) == (system, values)
    # What is emptied is as the model has it again.
    options.click()
    expect(dialog.get_by_label("Temperature")).to_have_value("0.3")
    dialog.get_by_label("Instructions (system prompt)").fill("")
    dialog.get_by_label("Temperature").fill("")
    dialog.get_by_role("button", name="Save", exact=True).click()
    ask(window, "And now?")
    expect(answers(window)).to_have_count(2)
    system, values = sent(server)
    assert "pirate" not in json.dumps(system)
    assert values["temperature"] is None
    # Another chat has none, and takes those that have a name.
    window.locator("#new").click()
    expect(options).to_have_accessible_name("Options of this chat")
    options.click()
    dialog.get_by_role("combobox", name="Preset", exact=True).select_option("Pirate")
    expect(dialog.get_by_label("Longest answer, in tokens")).to_have_value("77")
    dialog.get_by_role("button", name="Save", exact=True).click()
    ask(window, "Ship?")
    expect(answers(window)).to_have_count(1)
    assert "Answer like a pirate." in sent(server)[0]


def test_options_fit_a_phone_and_speak_german(page, server, project):  # noqa: F811
    window = page("/", project=project, size=PHONE, language="de", theme="dark")
    window.get_by_role("button", name="Optionen dieses Chats").click()
    dialog = window.get_by_role("dialog")
    expect(dialog.get_by_label("Temperatur")).to_be_visible()
    dialog.get_by_text("Weitere Optionen").click()
    assert faults(window) == []
    assert window.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
