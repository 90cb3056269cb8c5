"""The chat page, used as people use it: asking, reading, changing their mind, coming back, and bad days."""

import base64
import re
from itertools import count

import pytest
from playwright.sync_api import Page, expect

from holdfast.messages import Message, Scope
from holdfast.store import NewMessage
from tests.browser.accessible import faults
from tests.browser.conftest import PATIENCE, PHONE
from tests.browser.tcp_proxy import wire
from tests.fakes.ollama_runner import FakeReply
from tests.waiting import wait_until

expect.set_options(timeout=PATIENCE)

NUMBERS = count()
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
HOSTILE = "<script>window.bad = 1</script><img src=x onerror='window.bad = 1'> [go](javascript:window.bad=1)"


@pytest.fixture
def project() -> str:
    """Of the test's own: what others said in the shared server is not there."""
    return f"chat-{next(NUMBERS)}"


def ask(window: Page, text: str) -> None:
    window.locator("#text").fill(text)
    window.locator("#text").press("Enter")


def answers(window: Page):
    return window.locator(".message.assistant[data-message]")


def questions(window: Page):
    return window.locator(".message.user[data-message] .words")


# What was remembered of a question


def kept(window: Page):
    return window.locator(".message.assistant .kept")


def known(server, project):
    answer = server.client.get("/api/memory/list", headers={"X-Holdfast-Project": project}).json()
    return [memory["text"] for memory in answer["memories"]]


def test_memories_beside_answer_can_be_corrected_forgotten_and_undone(page, server, project):
    window = page("/", project=project)
    ask(window, "Remember that the server in Kiel is called arion.")
    line = kept(window).locator("summary")
    expect(line).to_have_text("Remembered: The server in Kiel is called arion. · wrong?")
    assert faults(window) == []
    line.click()
    window.get_by_role("button", name="Correct").click()
    window.get_by_label("What is remembered").fill("The server in Kiel is called borea.")
    window.get_by_role("button", name="Save").click()
    expect(line).to_contain_text("borea")
    assert known(server, project) == ["The server in Kiel is called borea."]
    kept(window).get_by_role("button", name="Undo").click()
    expect(line).to_contain_text("arion")
    kept(window).get_by_role("button", name="Forget").click()
    expect(line).to_have_text("Not remembered any more: The server in Kiel is called arion.")
    assert known(server, project) == []
    kept(window).get_by_role("button", name="Undo").click()
    expect(line).to_have_text("Remembered: The server in Kiel is called arion. · wrong?")
    assert known(server, project) == ["The server in Kiel is called arion."]
    window.reload()
    expect(line).to_have_text("Remembered: The server in Kiel is called arion. · wrong?")
    ask(window, "Forget the server in Kiel again.")
    expect(line).to_have_text("Not remembered any more: The server in Kiel is called arion.")
    assert known(server, project) == []
    line.click()
    kept(window).get_by_role("button", name="Undo").click()
    expect(line).to_have_text("Remembered: The server in Kiel is called arion. · wrong?")
    assert known(server, project) == ["The server in Kiel is called arion."]


def test_a_value_that_took_the_place_of_another_is_taken_back(page, server, project):
    window = page("/", project=project, language="de")
    ask(window, "Merk dir: Der Server in Kiel heißt arion.")
    expect(kept(window)).to_contain_text("Gemerkt: Der Server in Kiel heißt arion. · falsch?")
    ask(window, "Merk dir: Der Server in Kiel heißt borea.")
    # What no longer holds is not told any more.
    expect(kept(window)).to_have_count(1)
    expect(kept(window)).to_contain_text("borea. · falsch?")
    kept(window).locator("summary").click()
    expect(kept(window)).to_contain_text("statt: Der Server in Kiel heißt arion.")
    window.get_by_role("button", name="Zurücknehmen").click()
    expect(kept(window).first).to_contain_text("Gemerkt: Der Server in Kiel heißt arion.")
    expect(kept(window).nth(1)).to_contain_text("Nicht mehr gemerkt: Der Server in Kiel heißt borea.")
    assert known(server, project) == ["Der Server in Kiel heißt arion."]
    window.reload()
    expect(kept(window)).to_have_count(1)
    expect(kept(window)).to_contain_text("arion")


# Asking and reading


def test_a_question_is_answered_and_is_there_after_coming_back(page, server, project):
    server.upstream.answers.append("Look:\n\n```python\nprint('hop')\n```\n\n*Done.*")
    window = page("/", project=project)
    expect(window.locator("#welcome")).to_be_visible()
    ask(window, "How does one hop?")
    expect(answers(window)).to_have_count(1)
    expect(window).to_have_url(re.compile(r"/c/c_"))
    expect(window.locator("h1")).to_have_text("How does one hop?")
    expect(window.locator("#chats a[aria-current]")).to_have_text("How does one hop?")
    window.locator(".code").get_by_role("button", name="Copy").click()
    # The button says so only for a moment, and after the clipboard has it.
    window.wait_for_function("async () => (await navigator.clipboard.readText()) === \"print('hop')\\n\"")
    expect(answers(window).locator(".facts")).to_contain_text("fake:latest")
    expect(answers(window).get_by_role("img", name=re.compile("8,192"))).to_be_visible()
    assert faults(window) == []
    window.reload()
    expect(answers(window).locator("em")).to_have_text("Done.")
    expect(answers(window).locator(".code-head > span")).to_have_text("python")
    expect(answers(window).get_by_role("img", name=re.compile("8,192"))).to_be_visible()


def test_a_hostile_message_is_shown_harmlessly(page, server, project):
    server.upstream.answers.append(HOSTILE)
    window = page("/", project=project)
    ask(window, HOSTILE)
    expect(answers(window)).to_have_count(1)
    for _ in range(2):
        expect(questions(window)).to_have_text(HOSTILE)
        expect(answers(window).locator(".markdown")).to_contain_text("<script>")
        expect(
            window.locator("#messages script, #messages img, #messages a[href^='javascript']")
        ).to_have_count(0)
        expect(window.locator("#chats")).to_contain_text("<script>")
        assert window.evaluate("window.bad") is None
        window.reload()


def test_every_script_keeps_its_direction_and_hundreds_of_chunks_arrive(page, server, project):
    many = " ".join(f"word{number}" for number in range(400))
    server.upstream.answers += ["שלום, זה עובד.", many]
    window = page("/", project=project)
    ask(window, "مرحبا بالعالم 👩‍👩‍👧 Ǻ𝔘𠀀 Z̷a̸l̴g̵o̶")
    expect(answers(window)).to_have_count(1)
    for text in (questions(window).first, answers(window).locator(".markdown p").first):
        expect(text).to_have_css("direction", "rtl")
    expect(questions(window)).to_have_text("مرحبا بالعالم 👩‍👩‍👧 Ǻ𝔘𠀀 Z̷a̸l̴g̵o̶")
    ask(window, "And now all of it")
    expect(answers(window).nth(1)).to_contain_text("word399")


def test_thinking_and_tools_are_folded(page, server, project):
    server.upstream.answers.append(
        FakeReply("It is 4.", thinking="two and two", calls=[("add", {"a": 2, "b": 2})])
    )
    window = page("/", project=project)
    ask(window, "How much?")
    for _ in range(2):
        # An answer that is still being written is drawn anew at its end, folded.
        expect(answers(window)).to_have_count(1)
        expect(window.locator(".thinking")).to_have_js_property("open", False)
        window.locator(".thinking summary").click()
        expect(window.locator(".thinking .words")).to_have_text("two and two")
        expect(window.get_by_text("Tool: add")).to_be_visible()
        window.reload()


def test_files_and_pictures_are_attached_and_a_huge_paste_is_one(page, server, project):
    window = page("/", project=project)
    window.locator("#files").set_input_files(
        [
            {"name": "dot.png", "mimeType": "image/png", "buffer": PNG},
            {"name": "שלום.txt", "mimeType": "text/plain", "buffer": b"the kestrel nests on the tower"},
        ]
    )
    expect(window.locator("#chips li")).to_have_count(2)
    window.evaluate("navigator.clipboard.writeText('long line of text\\n'.repeat(3000))")
    window.locator("#text").focus()
    window.keyboard.press("Control+V")
    expect(window.locator("#chips li")).to_have_count(3)
    expect(window.locator("#text")).to_have_value("")
    window.get_by_role("button", name="Remove pasted-1.txt").click()
    expect(window.locator("#chips li")).to_have_count(2)
    ask(window, "What nests where?")
    expect(answers(window)).to_have_count(1)
    assert "kestrel" in server.upstream.asked[-1]
    for _ in range(2):
        expect(window.locator(".attached li")).to_contain_text("שלום.txt")
        expect(questions(window)).to_have_text("What nests where?")
        expect(window.locator(".pictures img")).to_have_js_property("naturalWidth", 1)
        window.reload()


# Changing one's mind


def test_an_edit_and_another_answer_stand_beside_the_first_ones(page, server, project):
    server.upstream.answers += ["About cats.", "About dogs.", "More about dogs."]
    window = page("/", project=project)
    ask(window, "Cats?")
    expect(answers(window)).to_contain_text("About cats.")
    window.get_by_role("button", name="Edit").click()
    window.get_by_label("Your question in other words").fill("Dogs?")
    window.get_by_role("button", name="Ask anew").click()
    expect(answers(window)).to_contain_text("About dogs.")
    answers(window).get_by_role("button", name="Regenerate").click()
    expect(answers(window)).to_contain_text("More about dogs.")
    window.reload()
    expect(window.get_by_role("group", name="Version 2 of 2")).to_have_count(2)
    window.locator(".message.user").get_by_role("button", name="Earlier version").click()
    expect(questions(window)).to_have_text("Cats?")
    expect(answers(window)).to_contain_text("About cats.")


def test_a_stopped_answer_is_kept_as_far_as_it_came(page, server, project):
    server.upstream.answers.append("one two three four five")
    server.upstream.hold()
    window = page("/", project=project)
    ask(window, "Count.")
    server.upstream.let(3)
    expect(window.locator(".writing .markdown")).to_contain_text("one two")
    window.keyboard.press("Escape")
    expect(answers(window)).to_have_count(1)
    expect(answers(window).locator(".facts")).to_contain_text("stopped early")
    expect(window.locator("#send")).to_be_visible()
    server.upstream.release()


def test_where_the_model_fails_it_is_said_and_tried_again(page, server, project):
    server.upstream.answers += [FakeReply("", error="the model crashed"), "All is well."]
    window = page("/", project=project)
    ask(window, "Is all well?")
    expect(window.get_by_role("alert")).to_contain_text("the model crashed")
    expect(questions(window)).to_have_text("Is all well?")
    window.get_by_role("button", name="Try again").click()
    expect(answers(window)).to_contain_text("All is well.")
    expect(questions(window)).to_have_count(1)


# Coming back


def test_reload_during_stream_resumes_and_two_tabs_stay_in_sync(page, server, project):
    server.upstream.answers.append("alpha beta gamma delta")
    server.upstream.hold()
    first = page("/", project=project)
    ask(first, "Letters?")
    server.upstream.let(2)
    expect(first.locator(".writing .markdown")).to_contain_text("alpha beta")
    first.reload()
    expect(first.locator(".writing .markdown")).to_contain_text("alpha beta")
    second = page(first.url, project=project)
    expect(second.locator(".writing .markdown")).to_contain_text("alpha beta")
    expect(second.locator("#stop")).to_be_visible()
    server.upstream.release()
    for window in (first, second):
        expect(answers(window).locator(".markdown")).to_have_text("alpha beta gamma delta")
    ask(first, "Once more?")
    expect(questions(second)).to_have_count(2)
    expect(answers(second)).to_have_count(2)


def test_a_lost_connection_is_told_and_the_answer_taken_up_again(page, server):
    server.upstream.answers.append("red green blue")
    server.upstream.hold()
    with wire(server.url) as line:
        window = page("/", at=line.url, project="wire")
        ask(window, "Colours?")
        server.upstream.let(1)
        expect(window.locator(".writing .markdown")).to_contain_text("red")
        line.cut()
        expect(window.locator("#banner")).to_be_visible()
        server.upstream.release()
        line.mend()
        expect(answers(window).locator(".markdown")).to_have_text("red green blue")
        expect(window.locator("#banner")).to_be_hidden()
        window.goto("about:blank")


def test_who_waits_sees_their_place_in_the_line(page, server, project):
    server.upstream.hold()
    first, second = page("/", project=project), page("/", project=project)
    ask(first, "First?")
    expect(first.locator(".writing")).to_be_visible()
    expect.soft(first.locator(".live")).to_contain_text("reading")
    ask(second, "Second?")
    expect(second.locator(".live")).to_contain_text("Waiting: 1 in line")
    server.upstream.release()
    for window in (first, second):
        expect(answers(window)).to_have_count(1)


# The window


def test_summary_is_shown_in_place_and_can_be_undone(page, server, project):
    window = page("/", project=project, language="de")
    for number, subject in enumerate(("lighthouse", "harbour", "ferry", "market", "bakery")):
        ask(
            window,
            f"Number {number}: tell me about the {subject}. " + f"The old {subject} stands by the sea. " * 20,
        )
        expect(answers(window)).to_have_count(number + 1)
    chat = window.url.rpartition("/")[2]
    done = server.client.post(f"/api/chats/{chat}/compact", headers={"X-Holdfast-Project": project})
    assert done.status_code == 200, done.text
    banner = window.locator(".compaction")
    expect(banner).to_be_visible()
    expect(window.locator(".message.user").first).to_be_visible()
    window.reload()
    expect(banner).to_contain_text(
        re.compile(r"Kontext zusammengefasst: [\d.]+ → [\d.]+ Token, \d+ % gespart")
    )
    first = window.locator(".message.user").first
    expect(first).to_be_hidden()
    banner.get_by_role("button", name=re.compile("Originale zeigen")).click()
    expect(first).to_be_visible()
    expect(first).to_contain_text("Number 0")
    banner.get_by_role("button", name="Rückgängig").click()
    expect(banner).to_have_count(0)
    expect(window.locator(".message.user")).to_have_count(5)


def test_a_memory_is_used_corrected_and_forgotten(page, server, project):
    headers = {"X-Holdfast-Project": project}
    text = "The boiler in the cellar was repaired by Ms Kestrel."
    memory = server.client.post("/api/memory", json={"text": text}, headers=headers).json()["memory"]
    window = page("/", project=project)
    ask(window, "Who repaired the boiler in the cellar?")
    expect(answers(window)).to_have_count(1)
    expect(window.get_by_text("1 memory")).to_be_visible()
    window.reload()
    expect(answers(window)).to_have_count(1)
    window.get_by_text("1 memory").click()
    expect(window.locator(".used li")).to_contain_text(text)
    window.get_by_role("button", name="Correct").click()
    window.get_by_label("What is remembered").fill("Mr Heron repaired the boiler.")
    window.get_by_role("button", name="Save").click()
    expect(window.locator(".used li")).to_contain_text("Mr Heron")
    assert (
        server.client.get(f"/api/memory/{memory['id']}", headers=headers)
        .json()["text"]
        .startswith("Mr Heron")
    )
    window.get_by_role("button", name="Forget").click()
    expect(window.locator(".used li")).to_have_count(0)
    assert server.client.get(f"/api/memory/{memory['id']}", headers=headers).status_code == 404


def test_research_shows_its_sources_and_says_what_it_lacks(page, server, project):
    headers = {"X-Holdfast-Project": project}
    source = {
        "url": "https://birds.example/kestrel",
        "title": "Of kestrels",
        "text": "The kestrel nests on towers.",
    }
    new = {"question": "Where do kestrels nest?", "sources": [source]}
    finding = server.client.post("/api/research", json=new, headers=headers).json()["id"]
    turn = {"model": "fake:latest", "text": "Where do kestrels nest?", "research": finding}
    text = server.client.post("/api/chats/turns", json=turn, headers=headers).text
    chat = re.search(r"c_[0-9a-z]{26}", text).group()
    window = page(f"/c/{chat}", project=project)
    window.locator("summary", has_text="Sources").click()
    expect(window.get_by_role("link", name="Of kestrels")).to_have_attribute("href", source["url"])
    window.get_by_role("button", name="Research").click()
    ask(window, "And herons?")
    expect(window.locator("#note")).to_contain_text("searxng")
    expect(window.locator("#text")).to_have_value("And herons?")
    expect(questions(window)).to_have_count(1)


def test_five_thousand_messages_are_read_from_the_end(page, server, project):
    messages = [Message.of("user" if at % 2 == 0 else "assistant", f"message {at}") for at in range(5_000)]
    log = server.engine.store.log
    row, record = log.begin(Scope(project=project), [NewMessage(item) for item in messages], title="Long")
    window = page(f"/c/{row.id}", project=project)
    expect(window.locator(".message").last).to_contain_text("message 4999")
    assert window.locator(".message").count() < 100
    first = window.locator(".message").first
    was = first.get_attribute("data-message")
    window.locator("#scroll").evaluate("(place) => { place.scrollTop = 0; }")
    expect(window.locator(".message").first).not_to_have_attribute("data-message", was)
    expect(window.locator(f"[data-message='{was}']")).to_be_in_viewport()
    window.goto("about:blank")
    window.goto(f"/c/{row.id}#{record[4321].id}")
    expect(window.locator(".sought")).to_contain_text("message 4321")
    expect(window.locator(".sought")).to_be_in_viewport()


# The side bar


def test_conversations_are_found_renamed_forked_and_deleted_by_keyboard_alone(page, server, project):
    window = page("/", project=project)
    expect(window.locator("#text")).to_be_focused()
    window.keyboard.type("Where does the kestrel nest?")
    window.keyboard.press("Enter")
    expect(answers(window)).to_have_count(1)
    window.locator("#find").focus()
    window.keyboard.type("kestrel")
    expect(window.locator("#chats .day")).to_have_text(["Titles", "In messages"])
    expect(window.locator("#chats .hit").first).to_contain_text("kestrel")
    window.keyboard.press("Escape")
    expect(window.locator("#chats .day")).to_have_text(["Today"])
    window.keyboard.press("Tab")
    window.keyboard.press("Tab")
    expect(window.get_by_role("button", name="More: Where does")).to_be_focused()
    window.keyboard.press("Enter")
    expect(window.get_by_role("menuitem", name="Rename")).to_be_focused()
    window.keyboard.press("Enter")
    expect(window.get_by_role("dialog").get_by_role("textbox")).to_be_focused()
    window.keyboard.press("Control+A")
    window.keyboard.type("Birds")
    window.keyboard.press("Enter")
    expect(window.locator("h1")).to_have_text("Birds")
    more = window.get_by_role("button", name="More: Birds")
    more.focus()
    window.keyboard.press("Enter")
    expect(window.get_by_role("menuitem", name="Rename")).to_be_focused()
    for _ in range(5):
        window.keyboard.press("ArrowDown")
    expect(window.get_by_role("menuitem", name="Fork")).to_be_focused()
    window.keyboard.press("Enter")
    expect(window.locator("#chats li")).to_have_count(2)
    # The fork is opened only now: until then the focus could still move to the field.
    expect(window.locator("#text")).to_be_focused()
    more.first.focus()
    window.keyboard.press("Enter")
    expect(window.get_by_role("menuitem", name="Rename")).to_be_focused()
    window.keyboard.press("ArrowUp")
    expect(window.get_by_role("menuitem", name="Delete")).to_be_focused()
    window.keyboard.press("Enter")
    window.get_by_role("button", name="Delete, keep memories").press("Enter")
    expect(window.locator("#chats li")).to_have_count(1)
    expect(window).to_have_url(re.compile(r"/$"))


def test_loading_conversation_or_changing_list_does_not_steal_focus(page, server, project):
    window = page("/", project=project)
    ask(window, "Where does the kestrel nest?")
    expect(answers(window)).to_have_count(1)
    held = []
    window.route("**/messages?*", lambda route: held.append(route))
    window.locator("#chats a").click()
    more = window.get_by_role("button", name="More: Where does")
    more.focus()
    wait_until(lambda: window.wait_for_timeout(20) or held)
    for item in held:
        item.continue_()
    expect(answers(window)).to_have_count(1)
    expect(more).to_be_focused()
    turn = {"model": "fake:latest", "text": "From another program", "kind": "private"}
    server.client.post("/api/chats/turns", json=turn, headers={"X-Holdfast-Project": project})
    expect(window.locator("#chats li")).to_have_count(2)
    expect(more).to_be_focused()


def test_a_group_is_apart_and_marked_as_such(page, server, project):
    window = page("/", project=project)
    window.get_by_role("button", name="Group").click()
    expect(window.get_by_role("button", name="Group")).to_have_attribute("aria-pressed", "true")
    window.locator("#files").set_input_files({"name": "a.png", "mimeType": "image/png", "buffer": PNG})
    ask(window, "Hello everybody")
    expect(answers(window)).to_have_count(1)
    expect(window.locator("#mark")).to_be_visible()
    window.get_by_role("button", name="Private").click()
    expect(window.locator("#chats")).to_contain_text("No conversations yet.")
    window.go_back()
    expect(window.locator("#mark")).to_be_visible()
    expect(window.locator(".pictures img")).to_have_js_property("naturalWidth", 1)


def test_names_of_files_are_completed_after_an_at(page, start, tmp_path):
    (tmp_path / "things").mkdir()
    (tmp_path / "things" / "a plan.md").write_text("Climb the tower.")
    own = start(file_roots=str(tmp_path / "things"), file_references=True)
    own.client.post("/api/system/setup-complete", json={"skipped": True})
    window = page("/", at=own.url)
    window.locator("#text").press_sequentially("Look at @a")
    expect(window.locator("#names").get_by_role("option")).to_have_text("a plan.md")
    window.keyboard.press("Enter")
    expect(window.locator("#text")).to_have_value('Look at @"a plan.md" ')
    window.keyboard.press("Enter")
    expect(answers(window)).to_have_count(1)
    assert "Climb the tower." in own.upstream.asked[-1]


def test_phone_layout_opens_list_and_never_scrolls_sideways(page, server, project):
    server.upstream.answers.append(
        "| a | b |\n|---|---|\n| " + "x" * 300 + " | y |\n\n```\n" + "z" * 300 + "\n```"
    )
    window = page("/", project=project, size=PHONE)
    ask(window, "Wide?")
    expect(answers(window)).to_have_count(1)
    assert window.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # No gap is left for the buttons of a question, which show themselves where one points.
    question, answer = window.locator(".message.user").bounding_box(), answers(window).bounding_box()
    assert answer["y"] - question["y"] - question["height"] < 20
    questions(window).hover()
    expect(window.locator(".message.user > .foot")).to_have_css("opacity", "1")
    ask(window, "And now?")
    expect(answers(window)).to_have_count(2)
    first, foot = answers(window).first, answers(window).first.locator(".foot")
    assert foot.bounding_box()["height"] < 45
    first.hover(position={"x": 5, "y": 5})
    expect(foot.locator(".actions")).to_have_css("opacity", "1")
    window.locator("#side-open").click()
    expect(window.locator("#find")).to_be_focused()
    window.keyboard.press("Escape")
    expect(window.locator("#find")).to_be_hidden()
    expect(window.locator("#side-open")).to_be_focused()
