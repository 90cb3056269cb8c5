"""Answers continued, messages deleted and reworded, other models asked, two of them side by side."""

import re

from playwright.sync_api import expect

from tests.browser.accessible import faults
from tests.browser.test_chat import answers, ask, project, questions  # noqa: F401
from tests.waiting import wait_until


def choose(window, message, item):
    """An item of the menu of a message."""
    message.get_by_role("button", name="More actions").click()
    window.get_by_role("menuitem", name=item).click()


def test_an_answer_that_reached_its_limit_goes_on_in_place(page, server, project):  # noqa: F811
    server.upstream.answers += ["One, two, three, four.", " three, four.", "Fine."]
    headers = {"X-Holdfast-Project": project}
    turn = {"model": "fake:latest", "text": "Count.", "options": {"max_tokens": 2}}
    told = server.client.post("/api/chats/turns", json=turn, headers=headers).text
    chat = re.search(r"c_[0-9a-z]{26}", told).group()
    server.client.put(f"/api/chats/{chat}/options", json={}, headers=headers)
    window = page(f"/c/{chat}", project=project)
    expect(answers(window).locator(".facts")).to_contain_text("the limit of the answer was reached")
    window.get_by_role("button", name="Continue").click()
    for _ in range(2):
        expect(answers(window)).to_have_count(1)
        expect(answers(window).locator(".markdown")).to_have_text("One, two, three, four.")
        expect(window.get_by_role("button", name="Continue")).to_have_count(0)
        expect(questions(window)).to_have_text("Count.")
        window.reload()
    ask(window, "Thanks.")
    expect(answers(window)).to_have_count(2)
    # The model went on by itself: nobody asked it to.
    extension, last = (call.body["messages"] for call in server.upstream.fake.calls[-2:])
    assert (extension[-1]["role"], extension[-1]["content"]) == ("assistant", "One, two,")
    assert "One, two, three, four." in [message["content"] for message in last]


def test_two_models_write_at_the_same_time_and_are_compared(page, start):
    own = start(parallel=2)
    own.upstream.answers += ["Cats.", "Dogs.", "Yes."]
    window = page("/", at=own.url)
    window.locator("#model").select_option("fake:latest")
    window.get_by_role("button", name="Ask a second model as well").click()
    window.get_by_role("menuitem", name="small:latest").click()
    own.upstream.hold()
    ask(window, "Cats or dogs?")
    columns = window.locator(".pair .version")
    expect(columns.locator("h2")).to_have_text(["fake:latest", "small:latest"])
    wait_until(lambda: len(own.upstream.fake.calls) == 2)
    expect(window.locator(".pair .writing")).to_have_count(2)
    assert faults(window) == []
    own.upstream.release()
    go_on = columns.get_by_role("button", name="Go on with this answer")
    expect(go_on).to_have_count(2)
    assert faults(window) == []
    columns.filter(has_text="Dogs.").get_by_role("button", name="Go on with this answer").click()
    expect(answers(window)).to_have_text(re.compile("Dogs."))
    expect(window.locator(".versions")).to_have_text(re.compile("/2"))
    # A second click gives the second model up.
    window.get_by_role("button", name="a click ends that").click()
    ask(window, "Sure?")
    expect(answers(window)).to_have_count(2)
    expect(answers(window).last).to_contain_text("Yes.")


def test_answer_that_comes_out_the_same_says_so(page, server, project):  # noqa: F811
    server.upstream.answers += ["Four."] * 2
    window = page("/", project=project)
    ask(window, "Two and two?")
    expect(answers(window)).to_have_count(1)
    answers(window).get_by_role("button", name="Regenerate").click()
    expect(answers(window)).to_contain_text("The same answer again, word for word.")
    expect(window.locator(".versions")).to_have_count(0)


def test_a_single_message_is_deleted_and_brought_back(page, server, project):  # noqa: F811
    window = page("/", project=project)
    for number, text in enumerate(("Cats?", "Dogs?", "Birds?"), 1):
        ask(window, text)
        expect(answers(window)).to_have_count(number)
    choose(window, window.locator(".message.user").nth(1), "Delete")
    expect(questions(window)).to_have_text(["Cats?", "Birds?"])
    expect(answers(window)).to_have_count(3)
    undo = window.get_by_role("button", name="Undo")
    expect(undo).to_be_focused()
    assert faults(window) == []
    undo.click()
    expect(questions(window)).to_have_text(["Cats?", "Dogs?", "Birds?"])
    expect(undo).to_have_count(0)
    choose(window, answers(window).nth(1), "Delete")
    expect(answers(window)).to_have_count(2)
    window.reload()
    expect(answers(window)).to_have_text([re.compile("Cats"), re.compile("Birds")])
    expect(window.locator(".versions")).to_have_count(0)


def test_question_and_answer_are_reworded_without_asking(page, server, project):  # noqa: F811
    window = page("/", project=project)
    ask(window, "Cats?")
    expect(answers(window)).to_have_count(1)
    asked = len(server.upstream.asked)
    window.get_by_role("button", name="Edit").click()
    window.get_by_label("Your question in other words").fill("Kittens?")
    window.get_by_role("button", name="Save only").click()
    expect(questions(window)).to_have_text("Kittens?")
    expect(answers(window)).to_contain_text("You said: Cats?")
    choose(window, answers(window), "Edit")
    window.get_by_label("The answer in your words").fill("They are **small**.")
    assert faults(window) == []
    window.get_by_role("button", name="Save", exact=True).click()
    expect(answers(window).locator("strong")).to_have_text("small")
    assert len(server.upstream.asked) == asked
    answers(window).get_by_role("button", name="Earlier version").click()
    expect(answers(window)).to_contain_text("You said: Cats?")


def test_two_models_answer_side_by_side_and_one_goes_on(page, server, project):  # noqa: F811
    server.upstream.answers += ["Of the large one.", "Of the small one.", "Going on."]
    window = page("/", project=project)
    window.locator("#model").select_option("fake:latest")
    ask(window, "Which is better?")
    expect(answers(window)).to_contain_text("Of the large one.")
    choose(window, answers(window), "Another model")
    dialog = window.get_by_role("dialog")
    expect(dialog.get_by_label("Who answers")).to_have_value("small:latest")
    dialog.get_by_role("button", name="Side by side").click()
    columns = window.locator(".pair .version")
    expect(columns).to_have_count(2)
    expect(columns.nth(0)).to_contain_text("Of the large one.")
    expect(columns.nth(1)).to_contain_text("Of the small one.")
    expect(columns.locator("h2")).to_have_text(["fake:latest", "small:latest"])
    assert faults(window) == []
    columns.nth(0).get_by_role("button", name="Go on with this answer").click()
    expect(answers(window)).to_have_text(re.compile("Of the large one."))
    expect(window.get_by_role("group", name="Version 1 of 2")).to_be_visible()
    # The chat is held with the model whose answer was chosen.
    expect(window.locator("#model")).to_have_value("fake:latest")
    choose(window, answers(window), "Versions side by side")
    expect(columns).to_have_count(2)
    ask(window, "And then?")
    expect(answers(window).last).to_contain_text("Going on.")
    assert [call.model for call in server.upstream.fake.calls] == [
        "fake:latest",
        "small:latest",
        "fake:latest",
    ]
