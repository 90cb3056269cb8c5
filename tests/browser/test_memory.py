"""The memory page: what is remembered is found, corrected, forgotten and taken along, by mouse and by key."""

import json
import re
import time

import pytest
from playwright.sync_api import expect

from holdfast.memory.base import Memory
from holdfast.memory.items import add_items
from holdfast.memory.scopes import memory_file
from holdfast.messages import Scope
from tests.browser.accessible import faults
from tests.browser.conftest import PHONE

MANY = 400


class Place:
    """A project of a test's own on the shared server, so that nobody else's memories get in its way."""

    def __init__(self, server, name):
        self.server, self.name = server, name
        self.headers = {"x-holdfast-project": name}
        self.folder = server.home / "workspace" / "default" / "projects" / name

    def keep(self, text, **more):
        response = self.server.client.post("/api/memory", json={"text": text, **more}, headers=self.headers)
        return response.json()["memory"]

    def listed(self, **asked):
        got = self.server.client.get("/api/memory/list", params=asked, headers=self.headers)
        return [memory for memory in got.json()["memories"] if memory["scope"]["project"] == self.name]

    def address(self, part=""):
        return f"/settings/memory?project={self.name}{part}"


@pytest.fixture
def place(server, request):
    return Place(server, re.sub(r"\W+", "-", request.node.name)[:40].strip("-"))


def memory_of(window, text):
    return window.get_by_role("article").filter(has_text=text)


def button(where, name):
    return where.get_by_role("button", name=name, exact=True)


def test_a_memory_is_added_corrected_pinned_forgotten_and_brought_back(page, place):
    window = page(place.address())
    button(window, "Remember something").click()
    window.get_by_label("Text", exact=True).fill("The kestrel nests on the tower")
    window.locator("form").get_by_label("Kind").select_option("decision")
    button(window, "Remember").click()
    row = memory_of(window, "kestrel")
    expect(row).to_contain_text("Decision")
    expect(row).to_contain_text("Written down by you")
    button(row, "Edit").click()
    window.get_by_label("Text", exact=True).fill("The falcon nests on the tower")
    window.keyboard.press("Control+Enter")
    row = memory_of(window, "falcon")
    expect(button(row, "Edit")).to_be_focused()
    button(row, "Pin").click()
    expect(row).to_contain_text("Pinned")
    (before,) = place.listed()
    assert (before["text"], before["pinned"]) == ("The falcon nests on the tower", True)
    button(row, "Forget").click()
    expect(row).to_have_count(0)
    assert place.listed() == []
    button(window, "Undo").click()
    expect(row).to_have_count(1)
    assert place.listed() == [before]


def test_searching_as_one_types_says_why_each_hit_was_found(page, place):
    place.keep("The pump in Kiel is called arion")
    place.keep("Valve 77-A leaks")
    (place.folder / "garden.md").write_text("# Garden\n\nThe greenhouse needs a heron against the frogs.\n")
    window = page(place.address())
    box = window.get_by_role("searchbox")
    box.press_sequentially("77-A")
    row = memory_of(window, "Valve")
    expect(row).to_contain_text("Exactly this name")
    expect(row).to_contain_text(re.compile(r"Your words \d+ %"))
    expect(row.locator("mark").first).to_have_text("77")
    box.fill("heron")
    window.get_by_role("link", name=re.compile(r"garden\.md")).click()
    expect(window.get_by_role("textbox", name=re.compile("garden"))).to_have_value(re.compile("greenhouse"))
    window.get_by_role("tab", name="Memories").click()
    box.fill("ario")
    expect(memory_of(window, "arion")).to_be_visible()
    expect(window.get_by_text("with these letters")).to_be_visible()
    box.press("Escape")
    expect(window.get_by_role("article").filter(has_text="Valve")).to_be_visible()


def test_a_memory_leads_to_its_chat_and_to_what_it_replaced(page, place):
    chat = place.server.engine.store.log.create(Scope(), title="About servers")
    learned = {"text": "Backups run at night", "kind": "fact", "conversation": chat.id}
    gone = {"text": "The gate opens at six", "kind": "fact", "conversation": "c_gone"}
    place.server.client.post("/api/memory/import", json={"memories": [learned, gone]}, headers=place.headers)
    place.keep("The server in Kiel is called arion")
    place.keep("The server in Kiel is called borea")
    window = page(place.address())
    link = memory_of(window, "Backups").get_by_role("link")
    expect(link).to_have_text("From “About servers”")
    assert link.get_attribute("href") == f"/c/{chat.id}"
    expect(memory_of(window, "gate")).to_contain_text("a chat that was deleted")
    newer = memory_of(window, "borea")
    button(newer, "History").click()
    past = newer.get_by_role("group", name="History").get_by_role("listitem")
    expect(past).to_have_count(2)
    expect(past.nth(0)).to_contain_text(re.compile("since .*borea"))
    expect(past.nth(1)).to_contain_text(re.compile(r"\d to .*\d .*arion"))
    expect(past.nth(1).locator("s")).to_have_text("The server in Kiel is called arion")
    window.get_by_label("Which ones").select_option("former")
    expect(window.get_by_role("article")).to_have_count(1)
    expect(window.get_by_role("article")).to_contain_text("arion")


def test_long_memory_list_scrolls_to_end_with_virtual_rows(page, place):
    scope, now = Scope(project=place.name), time.time()
    days: dict = {}
    for number in range(MANY):
        at = now - number * 3600
        memory = Memory(f"y_{number:05}", "note", f"Entry number {number}", scope, valid_from=round(at, 6))
        days.setdefault(memory_file(scope, "note", at), []).append(memory)
    for file, memories in days.items():
        path = place.server.home / "workspace" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(add_items("", memories))
    window = page(place.address())
    button(window, "Notes").click()
    expect(window.get_by_text(f"{MANY} memories")).to_be_visible()
    last = window.get_by_role("article", name=f"Entry number {MANY - 1}", exact=True)
    most = 0
    for page_number in range(1, MANY // 50 + 1):
        expect(window.locator(".block").nth(page_number - 1)).to_be_attached()
        most = max(most, window.get_by_role("article").count())
        window.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(last).to_be_visible()
    assert last.get_attribute("aria-posinset") == str(MANY)
    assert most < MANY / 2
    window.evaluate("scrollTo(0, 0)")
    expect(window.get_by_role("article", name="Entry number 0", exact=True)).to_be_visible()


def test_profile_editor_shows_errors_and_model_preview(page, start):
    server = start()
    window = page("/settings/memory#profile", at=server.url)
    # The usual fields are a form; the file behind it has all.
    window.get_by_label("Your name").fill("Anna")
    window.get_by_label("Products or services").fill("tea, honey")
    button(window, "Save").click()
    expect(window.locator("#profile-told")).to_contain_text("honey")
    assert server.client.get("/api/memory/profile").json()["fields"]["products"] == ["tea", "honey"]
    window.get_by_label("Products or services").fill("")
    button(window, "Save").click()
    expect(window.locator("#profile-text")).to_have_value("name: Anna\n")
    assert faults(window) == []
    window.get_by_text("As a file (YAML)").click()
    box = window.get_by_label("Profile", exact=True).and_(window.get_by_role("textbox"))
    box.fill("name: Anna\nteam: [1, 2\nrole: x\n")
    expect(window.get_by_role("alert")).to_contain_text("line 3")
    expect(button(window, "Save the file")).to_be_disabled()
    box.fill("name: Anna\ncompany: Muster GmbH\n")
    expect(window.locator("#profile-told")).to_contain_text("company: Muster GmbH")
    expect(window.get_by_text(re.compile(r"About \d+ of at most 200 tokens"))).to_be_visible()
    button(window, "Save the file").click()
    expect(window.get_by_text("Saved.")).to_be_visible()
    # Somebody else is quicker.
    server.client.patch("/api/memory/profile", json={"name": "Bea"})
    box.fill("name: Cleo\n")
    button(window, "Save the file").click()
    asked = window.get_by_role("dialog")
    expect(asked.get_by_label("The version that is there now")).to_have_value(re.compile("name: Bea"))
    expect(asked.get_by_label("Your version")).to_have_value("name: Cleo\n")
    with window.expect_response(lambda got: got.request.method == "PUT" and got.ok):
        button(asked, "Keep mine").click()
    expect(window.locator("#profile-told")).to_contain_text("Cleo")
    assert server.client.get("/api/memory/profile").json()["fields"] == {"name": "Cleo"}
    # What was said is proposed, and taken over at one click.
    server.client.post("/api/memory", json={"text": "Please answer in German", "kind": "preference"})
    window.reload()
    button(window, "Accept").click()
    expect(window.locator("#profile-text")).to_have_value(re.compile("language"))


def test_note_editor_saves_and_never_overwrites_unseen_changes(page, place):
    place.keep("The pump in Kiel is called arion")
    window = page(place.address("#notes"))
    button(window, "New note").click()
    window.get_by_role("dialog").get_by_role("textbox").fill("ideas")
    window.keyboard.press("Enter")
    box = window.get_by_role("textbox", name=re.compile(r"ideas\.md"))
    box.fill("# Ideas\n")
    box.press("Control+s")
    expect(window.get_by_text("Saved.")).to_be_visible()
    file = place.folder / "ideas.md"
    assert file.read_text() == "# Ideas\n"
    file.write_text("# Theirs\n")
    box.fill("# Mine\n")
    button(window, "Save").click()
    asked = window.get_by_role("dialog")
    expect(asked.get_by_label("The version that is there now")).to_have_value("# Theirs\n")
    assert file.read_text() == "# Theirs\n"
    asked.get_by_label("Your version").fill("# Theirs and mine\n")
    with window.expect_response(lambda got: got.request.method == "PUT" and got.ok):
        button(asked, "Keep mine").click()
    expect(box).to_have_value("# Theirs and mine\n")
    assert file.read_text() == "# Theirs and mine\n"
    expect(box).to_be_focused()
    button(window, "Delete").click()
    with window.expect_response(lambda got: got.request.method == "DELETE" and got.ok):
        button(window.get_by_role("dialog"), "Delete").click()
    expect(window.get_by_text("Choose a file.")).to_be_visible()
    expect(window.get_by_role("link", name="ideas.md")).to_have_count(0)
    assert not file.exists()


def test_everything_is_taken_out_forgotten_and_brought_in_again(page, place, tmp_path):
    place.keep("The pump in Kiel is called arion")
    place.keep("We deploy on Thursdays", kind="decision")
    before = place.listed()
    window = page(place.address("#statistics"))
    expect(window.get_by_role("row", name=re.compile("Decisions 1"))).to_be_visible()
    with window.expect_download() as saved:
        button(window, "Export as JSON").click()
    saved.value.save_as(tmp_path / "memories.json")
    rows = json.loads((tmp_path / "memories.json").read_text())["memories"]
    assert {row["id"] for row in before} <= {row["id"] for row in rows}
    button(window, "Forget all memories …").click()
    asked = window.get_by_role("dialog")
    asked.get_by_role("textbox").fill("default/projects")
    expect(button(asked, "Forget all")).to_be_disabled()
    asked.get_by_role("textbox").fill(f"default/projects/{place.folder.name}")
    button(asked, "Forget all").click()
    expect(window.get_by_text("2 memories were forgotten.")).to_be_visible()
    assert place.listed() == []
    window.get_by_label("File to import").set_input_files(tmp_path / "memories.json")
    expect(window.get_by_text(re.compile("2 added"))).to_be_visible()
    assert place.listed() == before
    button(window, "Build it anew").click()
    expect(window.get_by_text("The index is new.")).to_be_visible()
    window.get_by_role("tab", name="Memories").click()
    expect(memory_of(window, "arion")).to_be_visible()


def test_what_others_wrote_is_shown_as_text_and_nothing_else(page, place):
    hostile = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\"> **bold**"
    place.keep(hostile)
    place.keep("السلام عليكم ورحمة الله")
    (place.folder / "<b>bold<br>.md").write_text(hostile)
    window = page(place.address())
    row = window.get_by_role("article", name=re.compile("^<script>"))
    expect(row).to_contain_text(hostile)
    expect(window.get_by_text("السلام")).to_have_css("direction", "rtl")
    window.get_by_role("searchbox").fill("<script> title")
    expect(row).to_contain_text("Your words")
    window.get_by_role("tab", name="Notes").click()
    link = window.locator("#tree a", has_text="<b>bold<br>.md")
    expect(link).to_have_count(1)
    # The project's folder is folded where the person has notes of their own beside it.
    window.locator("#tree details").evaluate_all("folders => folders.forEach(each => { each.open = true; })")
    link.click()
    expect(window.get_by_role("textbox", name=re.compile("<b>bold<br>"))).to_have_value(hostile)
    assert window.title() == "Memory · Holdfast"


def test_all_of_it_can_be_done_with_the_keyboard(page, place):
    window = page(place.address(), language="de")
    window.get_by_role("tab", name="Erinnerungen").focus()
    for name in ("Profil", "Notizen", "Statistik", "Erinnerungen"):
        window.keyboard.press("ArrowRight")
        expect(window.get_by_role("tab", name=re.compile(name))).to_be_focused()
    expect(window.get_by_role("searchbox")).to_be_visible()
    button(window, "Etwas merken").focus()
    window.keyboard.press("Enter")
    expect(window.get_by_label("Text", exact=True)).to_be_focused()
    window.keyboard.type("Wir liefern donnerstags")
    window.keyboard.press("Control+Enter")
    expect(memory_of(window, "donnerstags")).to_contain_text("Fakt")
    button(memory_of(window, "donnerstags"), "Bearbeiten").press("Enter")
    expect(window.get_by_label("Text", exact=True)).to_be_focused()
    window.keyboard.press("Escape")
    expect(button(memory_of(window, "donnerstags"), "Bearbeiten")).to_be_focused()
    button(memory_of(window, "donnerstags"), "Vergessen").press("Enter")
    expect(window.get_by_text("Vergessen: Wir liefern donnerstags")).to_be_visible()


def test_what_happens_elsewhere_appears_by_itself_unless_somebody_is_writing(page, place):
    place.keep("The pump in Kiel is called arion")
    window = page(place.address())
    edit = button(memory_of(window, "arion"), "Edit")
    edit.focus()
    place.keep("Somebody else kept this")
    expect(memory_of(window, "Somebody else kept this")).to_be_visible()
    expect(edit).to_be_focused()
    edit.click()
    window.get_by_label("Text", exact=True).fill("Half a sentence")
    place.keep("And this, too")
    expect(button(window, "Memories have changed meanwhile: show them")).to_be_visible()
    expect(window.get_by_label("Text", exact=True)).to_have_value("Half a sentence")


@pytest.mark.parametrize(("theme", "size"), [("light", (1280, 800)), ("dark", PHONE)])
def test_nothing_keeps_people_from_using_it(page, place, theme, size):
    place.keep("The pump in Kiel is called arion")
    (place.folder / "ideas.md").write_text("# Ideas\n")
    window = page(place.address(), theme=theme, size=size)
    window.get_by_role("searchbox").fill("pump")
    expect(memory_of(window, "arion")).to_contain_text("Your words")
    button(window, "Remember something").click()
    expect(window.get_by_label("Text", exact=True)).to_be_visible()
    assert faults(window) == []
    for name, shown in (("Profile", "#profile-told"), ("Notes", "#tree a"), ("Statistics", "#numbers table")):
        window.get_by_role("tab", name=name).click()
        expect(window.locator(shown).first).to_be_visible()
        assert faults(window) == []


def test_an_archived_memory_is_taken_out_again(page, place):
    memory = place.keep("The kestrel nests on the tower")
    remembering = place.server.engine.remembering
    remembering.library.archive(Scope(project=place.name), memory["id"])
    window = page(place.address())
    window.get_by_label("Which ones").select_option("archived")
    row = memory_of(window, "kestrel")
    button(row, "Take out of the archive").click()
    expect(row).to_have_count(0)
    window.get_by_label("Which ones").select_option("")
    expect(row).to_contain_text("Pinned")
    assert [entry["pinned"] for entry in place.listed()] == [True]
