"""Pictures and files of a question, and what the browser can do: dictation, reading aloud, notifications."""

import base64

from playwright.sync_api import expect

from tests.browser.accessible import faults
from tests.browser.test_chat import PNG, answers, ask, project  # noqa: F401
from tests.browser.upstream import Upstream
from tests.fakes.ollama_runner import FakeModel

BLIND = FakeModel("blind:latest", num_ctx=8192, capabilities=("completion",))
SEEING = FakeModel("seeing:latest", num_ctx=8192, capabilities=("completion", "vision"))
# As a person pastes or drops a picture: the event with a file in it.
HAND_OVER = """([kind, data]) => {
  const transfer = new DataTransfer();
  const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
  transfer.items.add(new File([bytes], "dot.png", { type: "image/png" }));
  const given = kind === "paste"
    ? new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true })
    : new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true });
  document.querySelector(kind === "paste" ? "#text" : "#messages").dispatchEvent(given);
}"""
# What a headless browser lacks.
SPEECH = """
  globalThis.spoken = [];
  Object.defineProperty(globalThis, "speechSynthesis", { value: {
    speaking: false, getVoices: () => [{ name: "Ann" }], cancel() {}, speak: (said) => spoken.push(said.text),
  }});
  globalThis.SpeechRecognition = class extends EventTarget {
    start() { globalThis.recogniser = this; }
    stop() { this.dispatchEvent(new Event("end")); }
    hear(text) {
      const result = Object.assign([{ transcript: text }], { isFinal: true });
      this.dispatchEvent(Object.assign(new Event("result"), { results: [result], resultIndex: 0 }));
    }
  };
"""
NOTIFICATIONS = """
  globalThis.shown = [];
  globalThis.Notification = class {
    static permission = "default";
    static async requestPermission() { return Notification.permission = "granted"; }
    constructor(title, { body }) { shown.push([title, body]); }
  };
"""


def test_pictures_are_pasted_dropped_and_refused_by_the_blind(page, start):
    own = start(behind=Upstream(models=(BLIND, SEEING)))
    window = page("/", at=own.url)
    window.locator("#model").select_option("blind:latest")
    data = base64.b64encode(PNG).decode()
    window.evaluate(HAND_OVER, ["paste", data])
    expect(window.locator("#chips li")).to_have_count(1)
    expect(window.locator("#note")).to_contain_text("blind:latest cannot see pictures")
    assert faults(window) == []
    window.locator("#model").select_option("seeing:latest")
    expect(window.locator("#note")).to_be_hidden()
    window.evaluate(HAND_OVER, ["drop", data])
    expect(window.locator("#chips li")).to_have_count(2)
    window.locator("#chips").get_by_role("button", name="dot.png", exact=True).first.click()
    expect(window.get_by_role("dialog").get_by_role("img", name="dot.png")).to_be_visible()
    window.get_by_role("button", name="Close", exact=True).click()
    ask(window, "What is it?")
    expect(answers(window)).to_have_count(1)
    (*_, call) = own.upstream.fake.calls
    assert len(call.body["messages"][-1]["images"]) == 2


def test_an_attached_file_opens_before_and_after_it_is_sent(page, server, project):  # noqa: F811
    window = page("/", project=project)
    text = "The kestrel nests\n```\non the tower\n```\nby the sea"
    window.locator("#files").set_input_files(
        {"name": "birds.md", "mimeType": "text/markdown", "buffer": text.encode()}
    )
    dialog = window.get_by_role("dialog")
    window.get_by_role("button", name="birds.md", exact=True).click()
    expect(dialog.locator("pre")).to_have_text(text, use_inner_text=True)
    dialog.get_by_role("button", name="Close").click()
    ask(window, "What nests where?")
    expect(answers(window)).to_have_count(1)
    window.locator(".attached").get_by_role("button").click()
    expect(dialog.get_by_role("heading")).to_have_text("birds.md")
    expect(dialog.locator("pre")).to_have_text(text, use_inner_text=True)
    assert faults(window) == []


def test_dictation_and_reading_aloud_where_the_browser_has_them(page, server, project):  # noqa: F811
    bare = page(project=project)
    bare.add_init_script("delete globalThis.webkitSpeechRecognition; delete globalThis.SpeechRecognition")
    bare.goto("/")
    expect(bare.locator("#send")).to_be_visible()
    expect(bare.locator("#dictate")).to_be_hidden()
    window = page(project=project)
    window.add_init_script(SPEECH)
    window.goto("/")
    window.get_by_role("button", name="Dictate").click()
    expect(window.locator("#dictate")).to_have_attribute("aria-pressed", "true")
    window.evaluate("recogniser.hear('Where do')")
    window.evaluate("recogniser.hear('kestrels nest?')")
    expect(window.locator("#text")).to_have_value("Where do kestrels nest?")
    window.locator("#dictate").click()
    expect(window.locator("#dictate")).to_have_attribute("aria-pressed", "false")
    server.upstream.answers.append("On **towers**.")
    window.locator("#text").press("Enter")
    expect(answers(window)).to_have_count(1)
    answers(window).get_by_role("button", name="More actions").click()
    window.get_by_role("menuitem", name="Read aloud").click()
    assert window.evaluate("spoken") == ["On towers."]


def test_who_wants_it_is_notified_of_a_long_answer(page, server, project):  # noqa: F811
    server.upstream.answers.append("one two three")
    server.upstream.hold()
    window = page(project=project)
    window.add_init_script(NOTIFICATIONS)
    window.clock.install()
    window.goto("/")
    ask(window, "Count to three.")
    expect(window.locator(".message.writing")).to_be_visible()
    window.clock.fast_forward("00:10")
    # It is offered once an answer takes long, and the browser asks only then.
    window.get_by_role("button", name="Notify me when it is done").click()
    expect(window.get_by_role("button", name="Notify me when it is done")).to_have_count(0)
    window.evaluate("Object.defineProperty(document, 'hidden', { get: () => true })")
    server.upstream.release()
    expect(answers(window)).to_have_count(1)
    window.wait_for_function("() => shown.length")
    assert window.evaluate("shown") == [["The answer is there", "Count to three."]]
