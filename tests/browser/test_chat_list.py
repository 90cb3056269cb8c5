"""The list of conversations: pins, folders, the archive, several at once, and files that come back."""

import json
import re

from playwright.sync_api import Page, expect

from holdfast.messages import Message, Scope
from holdfast.store import NewMessage
from tests.browser.accessible import faults
from tests.browser.conftest import PATIENCE, PHONE
from tests.browser.test_chat import answers, ask
from tests.waiting import wait_until

expect.set_options(timeout=PATIENCE)


def say(server, project: str, *titles: str) -> None:
    for title in titles:
        messages = [
            NewMessage(Message.of("user", f"What about {title}?")),
            NewMessage(Message.of("assistant", f"## Of {title}\n\nIt is well."), model="fake:latest"),
        ]
        server.engine.store.log.begin(Scope(project=project), messages, title=title)


def menu(window: Page, title: str, name: str) -> None:
    window.get_by_role("button", name=re.compile(f"^(More|Mehr): {title}")).first.click()
    window.get_by_role("menuitem", name=name, exact=True).click()


def titles(server, project: str, **which: str) -> list[str]:
    reply = server.client.get("/api/chats", params=which, headers={"X-Holdfast-Project": project})
    return sorted(chat["title"] for chat in reply.json()["chats"])


def listed(window: Page):
    return window.locator("#chats a[data-chat]")


def test_pins_folders_and_archive_last_and_can_be_undone(page, server):
    say(server, "shelf", "Apples", "Bees", "Clocks")
    window = page("/", project="shelf")
    menu(window, "Apples", "Pin")
    section = window.get_by_role("region", name="Pinned")
    expect(section.get_by_role("link", name="Apples")).to_be_visible()
    menu(window, "Bees", "Move to a folder")
    window.get_by_label("Folder; empty is none").fill("Garden")
    window.get_by_role("button", name="Move", exact=True).click()
    folder = window.locator(".folder", has_text="Garden")
    expect(window.get_by_role("link", name="Bees")).to_have_count(0)
    folder.locator("summary").click()
    expect(folder.get_by_role("link", name="Bees")).to_be_visible()
    menu(window, "Clocks", "Archive")
    expect(window.get_by_role("link", name="Clocks")).to_have_count(0)
    assert titles(server, "shelf") == ["Apples", "Bees"]
    window.get_by_text("Archived: it is at the end").locator("xpath=..").get_by_role("button").click()
    expect(window.get_by_role("link", name="Clocks")).to_be_visible()
    menu(window, "Clocks", "Archive")
    window.locator(".folder", has_text="Archive").locator("summary").click()
    expect(window.locator(".folder", has_text="Archive").get_by_role("link", name="Clocks")).to_be_visible()
    assert faults(window) == []
    window.reload()
    expect(section.get_by_role("link", name="Apples")).to_be_visible()
    expect(folder.get_by_role("link", name="Bees")).to_be_visible()
    # What is archived or in a folder is still found by its title.
    window.get_by_role("searchbox").fill("clock")
    expect(window.get_by_role("link", name="Clocks").first).to_be_visible()
    window.get_by_role("searchbox").fill("")
    menu(window, "Garden", "Dissolve the folder")
    expect(folder).to_have_count(0)
    assert titles(server, "shelf", folder="") == ["Apples", "Bees"]


def test_several_are_exported_deleted_with_undo_and_imported_again(page, server):
    say(server, "many", "Dunes", "Elms", "Foxes")
    window = page("/", project="many", language="de", theme="dark", size=PHONE)
    window.get_by_role("button", name="Gespräche und Menü").click()
    window.get_by_role("button", name="Auswählen, Prompts, importieren").click()
    window.get_by_role("menuitem", name="Mehrere auswählen").click()
    window.get_by_label("Auswählen: Dunes").check()
    window.get_by_label("Auswählen: Elms").check()
    expect(window.locator("#select-bar")).to_contain_text("2 ausgewählt")
    assert faults(window) == []
    window.get_by_role("button", name="Exportieren").click()
    with window.expect_download() as download:
        window.get_by_role("menuitem", name="Als JSON speichern").click()
    saved = download.value.path().read_text()
    assert sorted(chat["chat"]["title"] for chat in json.loads(saved)["chats"]) == ["Dunes", "Elms"]
    for again in (True, False):
        window.get_by_role("button", name="Auswählen, Prompts, importieren").click()
        window.get_by_role("menuitem", name="Mehrere auswählen").click()
        window.get_by_label("Auswählen: Dunes").check()
        window.get_by_label("Auswählen: Elms").check()
        window.locator("#select-bar").get_by_role("button", name="Löschen").click()
        window.get_by_role("button", name="Löschen, Erinnerungen behalten").click()
        expect(window.get_by_role("link", name="Elms")).to_have_count(0)
        if again:
            window.get_by_role("button", name="Rückgängig").click()
            expect(window.get_by_role("link", name="Elms")).to_be_visible()
            assert titles(server, "many") == ["Dunes", "Elms", "Foxes"]
    # Who leaves the page cannot undo it any more.
    window.goto("/statistics")
    wait_until(lambda: titles(server, "many") == ["Foxes"])
    window.goto("/")
    with window.expect_download() as download:
        window.get_by_role("button", name="Gespräche und Menü").click()
        menu(window, "Foxes", "Als Markdown speichern")
    markdown = download.value.path().read_text()
    window.locator("#import").set_input_files(
        [
            {"name": "chats.json", "mimeType": "application/json", "buffer": saved.encode()},
            {"name": "Foxes.md", "mimeType": "text/markdown", "buffer": markdown.encode()},
        ]
    )
    expect(window.get_by_text("3 Chats importiert; 0 waren schon da.")).to_be_visible()
    assert titles(server, "many") == ["Dunes", "Elms", "Foxes", "Foxes"]
    # A heading inside an answer begins no message.
    window.get_by_role("link", name="Foxes").first.click()
    expect(window.locator(".message.assistant h2")).to_have_text("Of Foxes")
    expect(window.locator(".message[data-message]")).to_have_count(2)


def test_nobody_arranges_or_deletes_the_chats_of_others(server):
    say(server, "mine", "Own")
    row = server.engine.store.log.begin(Scope(user="ada"), [NewMessage(Message.of("user", "Hi"))])[0]
    own = server.engine.store.log.recent(Scope(project="mine"))[0]
    for change in ({"archived": True}, {"delete": "keep"}):
        reply = server.client.post("/api/chats/batch", json={"chats": [own.id, row.id], **change})
        assert reply.status_code == 404
    # All of them or none.
    assert not server.engine.store.log.get(own.id).archived
    assert server.engine.store.log.get(row.id).title == ""


def test_chats_belong_to_a_project_that_is_chosen_and_seen(page, start):
    own = start()
    window = page("/", at=own.url)
    ask(window, "Outside of all projects.")
    expect(answers(window)).to_have_count(1)
    # Who has no projects is not asked to choose one.
    chooser, mark = window.locator("#project"), window.locator("#project-mark")
    expect(chooser).to_be_hidden()
    window.get_by_role("button", name="Select, prompts, import").click()
    window.get_by_role("menuitem", name="New project").click()
    window.get_by_label("Name of the project").fill("Über/See")
    assert faults(window) == []
    window.get_by_role("button", name="Create").click()
    expect(chooser).to_have_value("Über See")
    expect(mark).to_have_text("Über See")
    expect(listed(window)).to_have_count(0)
    ask(window, "When do the ferries go?")
    expect(answers(window)).to_have_count(1)
    expect(listed(window)).to_have_text(["When do the ferries go?"])
    (chat,) = own.client.get("/api/chats", params={"project": "Über See"}).json()["chats"]
    window.reload()
    expect(mark).to_have_text("Über See")
    chooser.select_option("All projects")
    expect(listed(window)).to_have_count(2)
    expect(mark).to_be_hidden()
    # A chat shows where it belongs, wherever it is opened from.
    window.goto(f"/c/{chat['id']}")
    expect(mark).to_have_text("Über See")
    window.locator("#find").fill("ferries")
    expect(window.locator("#chats .hit")).to_have_count(2)
    window.locator("#find").fill("")
    chooser.select_option("Without a project")
    expect(listed(window)).to_have_text(["Outside of all projects."])
    assert faults(window) == []
    # It can be moved to another one, while it is open, and back.
    listed(window).click()
    menu(window, "Outside", "Move to a project")
    window.get_by_role("dialog").get_by_role("button", name="Über See").click()
    assert faults(window) == []
    window.get_by_role("button", name="Move", exact=True).click()
    expect(mark).to_have_text("Über See")
    expect(listed(window)).to_have_count(0)
    assert len(own.client.get("/api/chats", params={"project": "Über See"}).json()["chats"]) == 2
    window.get_by_text("Moved to the project “Über See”.").locator("xpath=..").get_by_role("button").click()
    expect(listed(window)).to_have_text(["Outside of all projects."])
    expect(mark).to_be_hidden()
