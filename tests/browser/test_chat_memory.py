"""Memory in the chat: proposals for the profile under their answer, and chats without any memory."""

from playwright.sync_api import expect

from holdfast.messages import Scope
from tests.browser.accessible import faults
from tests.browser.test_chat import answers, ask, kept


def test_profile_learns_in_the_chat_and_unlearns(page, start):
    own = start()
    window = page("/", at=own.url)

    def length():
        fields = own.client.get("/api/memory/profile").json()["fields"]
        return (fields.get("preferences") or {}).get("answer_length")

    before = length()
    ask(window, "Remember: I always want short answers.")
    line = window.locator(".message.assistant .proposal-line")
    expect(line).to_contain_text("For your profile: answer length: short?")
    assert faults(window) == []
    # It is there as long as nobody has decided.
    window.reload()
    line.get_by_role("button", name="Add it").click()
    expect(line).to_contain_text("In your profile: answer length: short")
    assert length() == "short"
    line.get_by_role("button", name="Undo").click()
    expect(line).to_have_count(0)
    assert length() == before
    ask(window, "Remember: please always answer in German.")
    line.get_by_role("button", name="Edit").click()
    window.get_by_label("What the profile shall say").fill("Low German")
    window.get_by_role("button", name="Save").click()
    expect(line).to_contain_text("Low German")
    assert "Low German" in str(own.client.get("/api/memory/profile").json()["fields"])


def test_a_temporary_chat_remembers_nothing(page, server):
    headers = {"X-Holdfast-Project": "temporary"}
    window = page("/", project="temporary")
    window.get_by_role("button", name="Without memory").click()
    expect(window.locator("#forgetful-mark")).to_be_visible()
    ask(window, "Remember that the server in Kiel is called arion.")
    expect(answers(window)).to_have_count(1)
    chat = window.url.rpartition("/")[2]
    assert (
        server.client.get(f"/api/chats/{chat}/messages?html=true", headers=headers).json()["memory"] is False
    )
    window.reload()
    expect(window.locator("#forgetful-mark")).to_be_visible()
    assert faults(window) == []
    # Another chat remembers again, and so does this one if it is wanted.
    window.get_by_role("button", name="Without memory").click()
    expect(window.locator("#forgetful-mark")).to_be_hidden()
    ask(window, "Remember that the server in Bonn is called borea.")
    expect(kept(window)).to_contain_text("borea")
    known = server.client.get("/api/memory/list", headers=headers).json()["memories"]
    servers = [memory["text"] for memory in known if "The server in" in memory["text"]]
    assert servers == ["The server in Bonn is called borea."]
    window.locator("#new").click()
    expect(window.get_by_role("button", name="Without memory")).to_have_attribute("aria-pressed", "false")


def test_an_archived_memory_is_brought_back_in_the_chat(page, start):
    own = start()
    window = page("/", at=own.url)
    ask(window, "Remember that the server in Kiel is called arion.")
    line = kept(window)
    expect(line).to_contain_text("arion")
    (memory,) = own.client.get("/api/memory/list").json()["memories"]
    assert own.engine.remembering is not None
    own.engine.remembering.library.archive(Scope(), memory["id"])
    expect(line).to_contain_text("Moved to the archive")
    line.locator("summary").click()
    assert faults(window) == []
    line.get_by_role("button", name="Undo").click()
    expect(line.locator("summary")).to_contain_text("Remembered: ")
    (back,) = own.client.get("/api/memory/list").json()["memories"]
    assert (back["id"], back["pinned"]) == (memory["id"], True), "what is pinned is not archived again"
