"""Bad days on the chat page: nothing a person wrote or read is lost, and what went wrong says what helps."""

import json
import re

from playwright.sync_api import expect

from holdfast.messages import Message, Scope
from holdfast.store import NewMessage
from tests.browser.accessible import faults
from tests.browser.conftest import PATIENCE
from tests.browser.test_chat import answers, ask, project, questions  # noqa: F401  # `project` is a fixture
from tests.browser.upstream import Upstream
from tests.fakes.ollama_runner import FakeReply

expect.set_options(timeout=PATIENCE)


# What the model server does


def test_a_wrong_key_of_the_upstream_signs_nobody_out(page, start):
    own = start()
    own.upstream.refuses = 401
    refused = own.client.get("/api/models/installed")
    assert (refused.status_code, refused.json()["code"]) == (502, "upstream_key")
    assert own.client.post("/v1/chat/completions", json={"model": "fake", "messages": []}).status_code != 401
    window = page("/", at=own.url)
    note = window.locator("#note")
    expect(note).to_contain_text("does not accept the key of Holdfast (401)")
    expect(window).to_have_url(re.compile(r"/$"))
    ask(window, "Is anybody there?")
    expect(note).to_be_visible()
    expect(window.locator("#text")).to_have_value("Is anybody there?")
    assert faults(window) == []
    note.get_by_role("link", name="Settings of the model servers").click()
    expect(window.locator("#servers .wrong").first).to_contain_text("does not accept the key")


def test_models_return_with_their_server_and_errors_stand_beside_the_field(page, start):
    own = start()
    own.upstream.refuses = 503
    window = page(at=own.url)
    window.clock.install()
    window.goto("/")
    note = window.locator("#note")
    expect(note).to_contain_text("not for you")
    expect(window.locator(".toast")).to_have_count(0)
    expect(window.locator("#send")).to_be_disabled()
    own.upstream.refuses = 0
    window.clock.fast_forward("00:10")
    expect(window.locator("#model")).to_contain_text("fake:latest")
    expect(note).to_be_hidden()
    expect(window.locator("#send")).to_be_enabled()


def test_without_a_model_nothing_is_sent_and_one_is_offered(page, start):
    own = start(behind=Upstream(models=()))
    window = page("/", at=own.url, language="de")
    send, note = window.locator("#send"), window.locator("#note")
    expect(send).to_be_disabled()
    expect(note).to_contain_text("Es gibt noch kein Modell, das man fragen kann.")
    expect(window.locator("#connection")).to_contain_text("Der Server antwortet, hat aber noch kein Modell.")
    ask(window, "Ist jemand da?")
    expect(window.locator("#text")).to_have_value("Ist jemand da?")
    assert faults(window) == []
    note.get_by_role("link", name="Ein Modell holen").click()
    expect(window).to_have_url(re.compile("/settings/models"))


def test_an_error_stays_with_its_question(page, server, project):  # noqa: F811
    server.upstream.answers += [FakeReply("", error="the model crashed"), "All is well."]
    window = page("/", project=project)
    ask(window, "Is all well?")
    trouble = window.locator("#messages .trouble")
    expect(trouble).to_contain_text("the model crashed")
    assert faults(window) == []
    window.locator("#new").click()
    expect(trouble).to_have_count(0)
    window.go_back()
    expect(trouble).to_contain_text("the model crashed")
    window.reload()
    expect(trouble).to_contain_text("the model crashed")
    trouble.get_by_role("button", name="Try again").click()
    expect(answers(window)).to_contain_text("All is well.")
    expect(trouble).to_have_count(0)


# Versions, models and drafts


def test_versions_are_there_at_once(page, server, project):  # noqa: F811
    server.upstream.answers += ["About cats.", "About dogs.", "More about dogs."]
    window = page("/", project=project)
    ask(window, "Cats?")
    expect(answers(window)).to_contain_text("About cats.")
    server.upstream.hold()
    window.get_by_role("button", name="Edit").click()
    window.get_by_label("Your question in other words").fill("Dogs?")
    window.get_by_role("button", name="Ask anew").click()
    version = window.get_by_role("group", name="Version 2 of 2")
    expect(window.locator(".message.user").locator(version)).to_have_count(1)
    server.upstream.release()
    expect(answers(window)).to_contain_text("About dogs.")
    server.upstream.hold()
    answers(window).get_by_role("button", name="Regenerate").click()
    expect(window.locator(".writing").locator(version)).to_have_count(1)
    assert faults(window) == []
    server.upstream.release()
    expect(answers(window)).to_contain_text("More about dogs.")
    expect(answers(window).locator(version)).to_have_count(1)
    answers(window).get_by_role("button", name="Earlier version").click()
    expect(answers(window).locator(".markdown")).to_have_text("About dogs.")


def test_a_chat_keeps_its_model(page, server, project):  # noqa: F811
    window = page("/", project=project)
    expect(window.locator("#model")).to_contain_text("small:latest")
    window.locator("#model").select_option("small:latest")
    ask(window, "Hello there")
    expect(answers(window)).to_have_count(1)
    chat = window.url
    window.locator("#new").click()
    window.locator("#model").select_option("fake:latest")
    window.goto(chat)
    expect(answers(window)).to_have_count(1)
    expect(window.locator("#model")).to_have_value("small:latest")
    window.locator("#new").click()
    expect(window.locator("#model")).to_have_value("fake:latest")


def test_a_reload_shows_an_answer_as_it_was_written(page, server, project):  # noqa: F811
    server.upstream.answers.append(
        "# A heading\n\nA word.\n\n- one\n- two\n\n```python\nprint()\n```\n\nThe end."
    )
    window = page("/", project=project)
    ask(window, "Tell me")
    expect(answers(window).get_by_role("button", name="Regenerate")).to_be_visible()
    expect(answers(window).locator(".facts .ring")).to_be_visible()
    read = "(element) => [element.innerText, element.offsetHeight]"
    shown = answers(window).evaluate(read)
    window.reload()
    expect(answers(window).locator(".facts .ring")).to_be_visible()
    assert answers(window).evaluate(read) == shown


def test_a_draft_and_its_files_stay_with_their_chat(page, server, project):  # noqa: F811
    window = page("/", project=project)
    ask(window, "First chat")
    expect(answers(window)).to_have_count(1)
    chat = window.url
    window.locator("#text").fill("half a thought")
    window.locator("#files").set_input_files(
        {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"the kestrel nests on the tower"}
    )
    expect(window.locator("#chips li")).to_have_count(1)
    window.locator("#new").click()
    expect(window.locator("#text")).to_have_value("")
    expect(window.locator("#chips li")).to_have_count(0)
    window.goto(chat)
    expect(window.locator("#text")).to_have_value("half a thought")
    expect(window.locator("#chips li")).to_contain_text("notes.txt")
    window.locator("#text").press("Enter")
    expect(answers(window)).to_have_count(2)
    assert "kestrel" in server.upstream.asked[-1]
    window.reload()
    expect(questions(window)).to_have_count(2)
    expect(window.locator("#chips li")).to_have_count(0)


def test_binary_file_is_rejected_on_selection_and_drops_outside_field_work(page, server, project):  # noqa: F811
    window = page("/", project=project)
    window.locator("#files").set_input_files(
        {"name": "tool.bin", "mimeType": "application/octet-stream", "buffer": bytes(range(256)) * 40}
    )
    expect(window.locator("#note")).to_contain_text("tool.bin was not attached")
    expect(window.locator("#chips li")).to_have_count(0)
    window.evaluate(
        """() => {
            const given = new DataTransfer();
            given.items.add(new File(["the kestrel nests"], "dropped.txt", { type: "text/plain" }));
            const event = { bubbles: true, cancelable: true, dataTransfer: given };
            document.getElementById("side").dispatchEvent(new DragEvent("drop", event));
        }"""
    )
    expect(window.locator("#chips li")).to_contain_text("dropped.txt")


def test_summary_shows_its_rules_and_decision_figures(
    page,
    server,
    project,  # noqa: F811
):
    window = page("/", project=project)
    for number, subject in enumerate(("lighthouse", "harbour", "ferry", "market", "bakery")):
        rule = "Never paint the boat red! Always answer in two sentences." if not number else ""
        ask(window, f"{rule} Number {number}: the {subject}. " + f"The {subject} stands by the sea. " * 20)
        expect(answers(window)).to_have_count(number + 1)
    headers = {"X-Holdfast-Project": project}
    chat = window.url.rpartition("/")[2]
    made = server.client.post(f"/api/chats/{chat}/compact", headers=headers).json()
    window.reload()
    banner = window.locator(".compaction")
    (decision,) = (entry for entry in made["decisions"] if entry["kind"] == "summarise")
    expect(banner).to_contain_text(f"{decision['tokens_before']:,} → {decision['tokens_after']:,}")
    banner.get_by_text("What the model reads instead").click()
    sentence = banner.locator(".markdown li", has_text="Never paint the boat red!")
    expect(sentence.last).to_be_visible()
    expect(banner.locator(".markdown li", has_text="Always answer in two sentences.").last).to_be_visible()
    expect(banner.locator(".markdown p").last).not_to_have_css("font-weight", "600")
    expect(sentence.last).to_have_css("font-weight", "400")
    assert faults(window) == []
    # The next one says how much of its figures was the one before, and hides what both cover.
    for number, subject in enumerate(("anchor", "beacon", "current"), 5):
        ask(window, f"Number {number}: the {subject}. " + f"The {subject} stands by the sea. " * 20)
        expect(answers(window)).to_have_count(number + 1)
    again = server.client.post(f"/api/chats/{chat}/compact", headers=headers).json()
    window.reload()
    last = window.locator(".compaction:not(.covered)")
    expect(last).to_contain_text(f"{again['tokens_before']:,} → {again['tokens_after']:,}")
    expect(last).to_contain_text(
        f"{made['tokens_after']:,} of the {again['tokens_before']:,} were the summary"
    )
    expect(banner.first).to_be_hidden()
    expect(window.locator(".message.user").first).to_be_hidden()
    last.get_by_role("button", name="Show originals").click()
    expect(banner.first).to_be_visible()
    # Whatever is scrolled to, the frame of the page stays where it is.
    last.evaluate("(element) => element.scrollIntoView()")
    assert window.locator("main").evaluate("(element) => element.scrollTop") == 0
    # Its rules are the person's own, in every project: other tests shall not meet them.
    server.client.delete(f"/api/chats/{chat}?memories=forget", headers=headers).raise_for_status()


# The memory page


def test_what_makes_room_is_said_and_rules_never_do(page, start, tmp_path):
    own = start(memory_limit=3)
    rule = {"text": "Never deploy on a Friday.", "kind": "preference", "importance": 0.1}
    towns = ("Kiel", "Bonn", "Ulm", "Trier", "Hagen")
    facts = [{"text": f"The depot in {town} has {len(town)} gates.", "kind": "fact"} for town in towns]
    export = tmp_path / "memories.json"
    export.write_text(json.dumps({"memories": [rule, *facts]}))
    window = page("/settings/memory#statistics", at=own.url)
    window.locator("#import-file").set_input_files(export)
    expect(window.locator("#imported")).to_contain_text("3 memories were moved to the archive to make room.")
    assert faults(window) == []
    listed = own.client.get("/api/memory/list").json()["memories"]
    assert len(listed) == 3
    assert rule["text"] in [memory["text"] for memory in listed]
    window.goto("/settings/memory")
    expect(window.locator("#room")).to_contain_text("The limit of 3 memories is reached")
    window.get_by_role("button", name="Remember something").click()
    window.get_by_label("Text", exact=True).fill("The kestrel nests on the tower")
    window.keyboard.press("Control+Enter")
    expect(window.locator("#room")).to_contain_text("1 memory was moved to the archive to make room.")
    assert faults(window) == []
    window.get_by_role("link", name="Raise the limit").click()
    expect(window.locator("#set-memory_limit")).to_be_in_viewport()


def test_an_edited_memory_shows_what_it_said_before(page, server, project):  # noqa: F811
    headers = {"X-Holdfast-Project": project}
    new = {"text": "The server in Kiel is called arion.", "scope": "project"}
    memory = server.client.post("/api/memory", json=new, headers=headers).json()["memory"]
    changed = {"text": "The server in Kiel is called borea."}
    server.client.put(f"/api/memory/{memory['id']}", json=changed, headers=headers)
    window = page(f"/settings/memory?project={project}", project=project)
    row = window.get_by_role("article").filter(has_text="borea")
    row.get_by_role("button", name="History").click()
    expect(row.locator(".past")).to_contain_text("arion")
    assert faults(window) == []


# The set-up


def test_setup_can_be_left_and_accepts_address_and_key(page, start):
    # Set on the page, where the set-up may change it; nothing is there.
    own = start(upstream=None)
    assert own.client.put("/api/settings", json={"upstream": "http://127.0.0.1:9"}).status_code == 200
    window = page("/statistics", at=own.url)
    window.goto("/setup")
    expect(window).to_have_url(re.compile(r"/setup#1$"))
    window.go_back()
    expect(window).to_have_url(re.compile(r"/statistics$"))
    window.goto("/setup#4")
    fields = window.locator("#own-server")
    expect(fields.get_by_label("Address of the model server")).to_be_visible()
    fields.get_by_label("Address of the model server").fill("http://127.0.0.1:9")
    fields.get_by_role("button", name="Test").click()
    expect(fields.locator(".wrong")).to_be_visible()
    assert faults(window) == []
    with Upstream().served() as location:
        fields.get_by_label("Address of the model server").fill(location)
        fields.get_by_label("Its key, if it asks for one").fill("secret")
        fields.get_by_label("Its key, if it asks for one").press("Enter")
        expect(fields.get_by_role("status")).to_contain_text("fake:latest, small:latest")
        fields.get_by_role("button", name="Use this server").click()
        expect(window.locator("#servers")).to_contain_text("Answers, 2 models")
        assert own.client.get("/api/settings").json()["restart"]["needed"] is False
        own.client.put("/api/settings", json={"upstream": "http://127.0.0.1:9"})
        window.goto("/")
        card = window.locator("#connection")
        card.get_by_label("Address of the model server").fill(location)
        assert faults(window) == []
        card.get_by_role("button", name="Use this server").click()
        expect(window.locator("#model")).to_contain_text("fake:latest")
        expect(card).to_be_hidden()
        expect(window.locator("#note")).to_be_hidden()


# Small things that cost trust


def test_all_of_a_long_chat_is_printed(page, server, project):  # noqa: F811
    said = [Message.of("user" if at % 2 == 0 else "assistant", f"message {at}.") for at in range(600)]
    scope = Scope(project=project)
    row, _ = server.engine.store.log.begin(scope, [NewMessage(one) for one in said], title="Long")
    window = page(f"/c/{row.id}", project=project)
    expect(window.locator(".message").last).to_contain_text("message 599")
    window.evaluate("""() => addEventListener("beforeprint", () => {
      const entries = [...document.getElementById("paper").children];
      window.paper = entries.map((entry) => entry.textContent).join(" ");
    })""")
    pages = window.pdf().count(b"/Type /Page\n")
    numbers = {int(number) for number in re.findall(r"message (\d+)\.", window.evaluate("paper"))}
    assert numbers == set(range(600))
    assert pages > 10
    expect(window.locator("#paper")).to_have_count(0)


def test_unknown_address_shows_page_and_disabled_scripts_show_notice(page, server, browser):
    window = page("/nowhere")
    expect(window.get_by_role("heading", level=1)).to_have_text("There is nothing at this address")
    assert faults(window) == []
    assert server.client.get("/nowhere").json()["error"].startswith("there is nothing at")
    context = browser.new_context(base_url=server.url, java_script_enabled=False)
    bare = context.new_page()
    bare.goto("/")
    expect(bare.locator("noscript p")).to_be_visible()
    context.close()


def test_forks_have_titles_of_their_own_and_one_is_not_many(page, server, project):  # noqa: F811
    window = page("/", project=project)
    ask(window, "Where does the kestrel nest?")
    expect(answers(window)).to_have_count(1)
    for number in (2, 3):
        answers(window).get_by_role("button", name="Fork").click()
        expect(window.locator("h1")).to_have_text(f"Where does the kestrel nest? ({number})")
        expect(answers(window)).to_have_count(1)
    expect(window.locator("#chats li")).to_have_count(3)
    shown = window.evaluate(
        """async () => {
            const core = document.querySelector('script[src$="core.js"]').src;
            const { ngettext } = await import(core);
            return [1, "2"].map((n) => ngettext("1 token", "{n} tokens", { n }));
        }"""
    )
    assert shown == ["1 token", "2 tokens"]


def test_search_marks_its_matches_forgives_a_typo_and_finds_no_nonsense(page, server, project):  # noqa: F811
    window = page("/", project=project)
    ask(window, "Where does the kestrel nest?")
    expect(answers(window)).to_have_count(1)
    find, chats = window.locator("#find"), window.locator("#chats")
    find.fill("kestrel")
    expect(chats.locator(".hit mark").first).to_have_text("kestrel")
    assert faults(window) == []
    find.fill("kestrle")
    expect(chats).to_contain_text("Found for “kestrel”:")
    expect(chats.locator(".hit mark").first).to_have_text("kestrel")
    find.fill("zzzz")
    expect(chats).to_have_text("Nothing found for “zzzz”.")


# Daily comfort


def test_next_question_is_queued_and_up_edits_the_last(page, server, project):  # noqa: F811
    server.upstream.answers += ["First answer.", "Second answer.", "Third answer."]
    server.upstream.hold()
    window = page("/", project=project)
    ask(window, "First?")
    expect(window.locator(".writing")).to_be_visible()
    ask(window, "Second?")
    expect(window.locator("#note")).to_contain_text("This is asked as soon as the answer is there.")
    assert faults(window) == []
    server.upstream.release()
    expect(questions(window)).to_have_text(["First?", "Second?"])
    expect(answers(window).locator(".markdown")).to_have_text(["First answer.", "Second answer."])
    expect(window.locator("#text")).to_have_value("")
    expect(window.locator("#send")).to_be_visible()
    window.locator("#text").press("ArrowUp")
    editor = window.get_by_label("Your question in other words")
    expect(editor).to_have_value("Second?")
    editor.fill("Third?")
    editor.press("Enter")
    expect(answers(window).locator(".markdown")).to_have_text(["First answer.", "Third answer."])


def test_a_chat_is_saved_as_a_file_and_shortcuts_are_listed(page, server, project):  # noqa: F811
    server.upstream.answers.append("On *towers*.")
    window = page("/", project=project)
    ask(window, "Where does the kestrel nest?")
    expect(answers(window)).to_have_count(1)
    saved = {}
    for name in ("Save as Markdown", "Save as JSON"):
        window.get_by_role("button", name="More: Where does").click()
        with window.expect_download() as download:
            window.get_by_role("menuitem", name=name).click()
        saved[name] = download.value.suggested_filename, download.value.path().read_text()
    name, text = saved["Save as Markdown"]
    assert name == "Where does the kestrel nest.md"
    assert text.startswith("# Where does the kestrel nest?\n\n## You")
    assert text.endswith("\n\nOn *towers*.\n")
    kept = json.loads(saved["Save as JSON"][1])
    assert [entry["role"] for entry in kept["messages"]] == ["user", "assistant"]
    window.locator("#scroll").focus()
    window.keyboard.press("?")
    expect(window.get_by_role("dialog")).to_contain_text("edit the last question")
    assert faults(window) == []
    window.keyboard.press("Escape")
    window.keyboard.press("Control+Shift+O")
    expect(window).to_have_url(re.compile(r"/$"))
