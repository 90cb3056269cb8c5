"""The context page: what the model sees of a conversation, why, and taking decisions back."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.accessible import faults
from tests.browser.conftest import PHONE
from tests.context.engine_client import filler

HOSTILE = '<img src=x onerror="document.title=`taken`"><script>document.title="taken"</script>'
PROJECT = "context"
HEADERS = {"X-Holdfast-Project": PROJECT}


@pytest.fixture(scope="module")
def talk(shared_server):
    """The page of a conversation that outgrew a small window, and was once asked in a larger one."""
    shared_server.upstream.clear()
    content = [{"role": "system", "content": "Be kind."}]
    for at in range(11):
        text = HOSTILE if at == 10 else filler(at)
        content.append({"role": "user", "content": text})
        for model in ("small:latest", "fake:latest")[: 2 if at == 0 else 1]:
            body = {"model": model, "messages": content, "stream": False}
            answer = shared_server.client.post("/api/chat", json=body, headers=HEADERS)
            assert answer.status_code == 200, answer.text
        content.append(answer.json()["message"])
    return f"/c/{answer.headers['x-holdfast-conversation']}/context"


@pytest.fixture
def rest(shared_server, talk):
    """What REST tells of that conversation."""
    chat = talk.removeprefix("/c/").removesuffix("/context")
    return lambda path: shared_server.client.get(f"/api/chats/{chat}/{path}", headers=HEADERS).json()


def tab(window, name):
    window.get_by_role("tab", name=name).click()


def test_the_meter_tells_each_section_and_where_levels_begin(page, talk, rest):
    window = page(talk, project=PROJECT)
    report = rest("window")
    # The report comes after the page: its bar is drawn at once, as a whole.
    expect(window.locator('.bar [data-section="reserve"]')).to_be_attached()
    shown = window.locator(".meter .bar > span").evaluate_all("all => all.map((one) => one.dataset.section)")
    sections = {row["name"] for row in report["sections"] if row["tokens"]}
    assert set(shown) == sections | {"free"}
    assert shown[-2:] == ["free", "reserve"]
    expect(window.get_by_role("img", name=f"Window of {report['window']:,} tokens")).to_be_visible()
    expect(window.locator(".marks > span")).to_have_count(len(report["history"]["marks"]))
    whole = window.locator(".meter .bar").bounding_box()
    used = sum(row["tokens"] for row in report["sections"] if row["name"] != "reserve")
    free = window.locator('.bar [data-section="free"]').bounding_box()
    assert free["x"] - whole["x"] == pytest.approx(whole["width"] * used / report["window"], abs=6)


def test_messages_are_filtered_by_state_with_reason_and_can_be_pinned(page, talk, rest):
    window = page(talk, project=PROJECT)
    counts = rest("window/messages")["counts"]
    window.get_by_role("button", name=f"Left out ({counts['out']})").click()
    expect(window.locator(".story .entry")).to_have_count(counts["out"])
    expect(window.locator(".story .entry:is(.out, .summarised)")).to_have_count(counts["out"])
    assert all(window.locator(".entry .why").all_text_contents())
    window.get_by_role("button", name=f"All ({sum(counts.values())})").click()
    expect(window.locator(".story .entry")).to_have_count(sum(counts.values()))
    newest = window.locator(".story .entry").last
    newest.get_by_role("button", name="Pin").click()
    expect(newest.get_by_role("button", name="Unpin")).to_be_focused()
    assert [row["pinned"] for row in rest("window/messages?limit=2")["messages"]] == [True, False]
    newest.get_by_role("button", name="Unpin").click()
    expect(newest.get_by_role("button", name="Pin")).to_have_attribute("aria-pressed", "false")


def test_turns_show_tokens_compactions_and_the_prefix(page, talk, rest):
    window = page(f"{talk}#turns", project=PROJECT)
    report = rest("turns")
    expect(window.locator(".turns tbody tr")).to_have_count(len(report["turns"]))
    # Turns of one minute have numbers below them, not the same time again and again.
    expect(window.locator("#turns svg .hit title").first).to_contain_text("Turn 1, ")
    below = window.locator("#turns svg text[text-anchor=middle]").all_text_contents()
    assert len(set(below)) == len(below) > 1
    expect(window.locator("#turns svg .event")).to_have_count(len(report["compactions"]))
    window.locator("#turns").get_by_text("As a table").click()
    first = window.locator("#turns .figure tbody tr").first.locator("td")
    counted = report["turns"][0]["tokens"]
    cached = counted["cached"] or 0
    expect(first.nth(0)).to_have_text(str(cached))
    expect(first.nth(1)).to_have_text(str(counted["prompt"] - cached))
    expect(window.locator(".turns tbody tr").last).to_contain_text("this is the first request")
    expect(window.locator("#turns")).to_contain_text("stepped in")


def test_the_story_is_told_in_order_beside_what_the_model_gets(page, talk, rest):
    window = page(talk, project=PROJECT)
    rows = rest("window/messages")["messages"][::-1]
    entries = window.locator(".story .entry")
    expect(entries).to_have_count(len(rows))
    assert entries.evaluate_all("all => all.map((one) => one.dataset.message)") == [row["id"] for row in rows]
    gone = next(at for at, row in enumerate(rows) if row["state"] == "out")
    expect(entries.nth(gone).locator(".seen")).to_contain_text("Nothing of it.")
    expect(window.locator("section.summarised")).to_contain_text(rest("window")["summary"][:40])
    assert faults(window) == []


def test_a_click_on_a_turn_leads_to_its_question(page, talk, rest):
    window = page(talk, project=PROJECT)
    asked = rest("turns")["turns"][2]["question"]
    window.locator("#messages svg .pick").nth(2).click()
    expect(window.locator(f'[data-message="{asked}"]')).to_be_focused()
    expect(window.locator(f'[data-message="{asked}"]')).to_be_in_viewport()


def test_words_that_went_and_came_are_marked(page, server):
    """A long message that had to be shortened, and what came of each of its words."""
    headers = {"X-Holdfast-Project": "shortened"}
    rows = "\n".join(f"2026-11-16 12:00:{at:02} INFO worker {at} did its part" for at in range(60))
    text = [{"role": "user", "content": f"Look at this log:\n```\n{rows}\n```"}]
    body = {"model": "small:latest", "messages": text, "stream": False}
    answer = server.client.post("/api/chat", json=body, headers=headers)
    chat = answer.headers["x-holdfast-conversation"]
    listed = server.client.get(f"/api/chats/{chat}/window/messages", headers=headers).json()["messages"]
    short = next(row for row in listed if row["state"] == "shortened")
    window = page(f"/c/{chat}/context", project="shortened")
    entry = window.locator(f'[data-message="{short["id"]}"]')
    entry.scroll_into_view_if_needed()
    expect(entry.locator(".said del").first).to_be_visible()
    full = server.client.get(f"/api/chats/{chat}/messages/{short['id']}", headers=headers).json()["content"]
    assert entry.locator(".said .text").evaluate("(one) => one.textContent") == full
    assert entry.locator(".seen .text").evaluate("(one) => one.textContent") == short["shown"]
    assert faults(window) == []


def test_what_was_recalled_says_where_it_is_from(page, server):
    headers = {"X-Holdfast-Project": "recalling"}
    fact = "The boiler in the cellar was repaired by Ms Kestrel."
    server.client.post("/api/memory", json={"text": fact}, headers=headers).raise_for_status()
    text = [{"role": "user", "content": "Who repaired the boiler in the cellar?"}]
    body = {"model": "fake:latest", "messages": text, "stream": False}
    chat = server.client.post("/api/chat", json=body, headers=headers).headers["x-holdfast-conversation"]
    window = page(f"/c/{chat}/context", project="recalling")
    recalled = window.locator('.addition[data-section="recalled"]')
    recalled.locator("summary").click()
    place = recalled.locator(".places li", has_text=fact)
    expect(place).to_be_visible()
    expect(recalled).to_contain_text("because the conversation began")
    expect(place.get_by_role("link")).to_have_attribute("href", "/settings/memory")
    assert faults(window) == []


def test_hostile_message_is_escaped_and_request_matches_server_bytes(page, talk, rest):
    window = page(talk, project=PROJECT)
    question = window.locator(".story .entry").nth(-2)
    expect(question.locator(".said .text")).to_have_text(HOSTILE)
    expect(question.locator(".seen .text")).to_have_text(HOSTILE)
    tab(window, "Request")
    expect(window.locator(".verdict")).to_contain_text("byte for byte")
    shown = window.locator("#request pre").evaluate("one => JSON.parse(one.textContent)")
    assert shown == rest("request")["body"]
    assert shown["messages"][-1]["content"] == HOSTILE
    assert window.locator("main img, main script").count() == 0
    assert "taken" not in window.title()


def test_tabs_are_reached_by_arrow_keys_and_windows_by_their_size(page, talk):
    window = page(talk, project=PROJECT)
    window.get_by_role("tab", name="Messages").focus()
    window.keyboard.press("ArrowLeft")
    expect(window.get_by_role("tab", name="Request")).to_be_focused()
    expect(window.locator("#request")).to_be_visible()
    window.keyboard.press("Home")
    expect(window.locator("#messages")).to_be_visible()
    window.get_by_label("Window of", exact=True).select_option("8192")
    expect(window.get_by_role("img", name="Window of 8,192 tokens")).to_be_visible()
    window.reload()
    expect(window.get_by_role("img", name="Window of 8,192 tokens")).to_be_visible()


def test_on_a_phone_nothing_sticks_out(page, talk):
    window = page(talk, project=PROJECT, language="de", theme="dark", size=PHONE)
    shown = {
        "Im Zeitverlauf": ".turns tbody tr",
        "Entscheidungen": ".decision",
        "Anfrage": "#request pre",
        "Nachrichten": ".entry",
    }
    for name, part in shown.items():
        tab(window, name)
        expect(window.locator(part).first).to_be_visible()
        assert window.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


def test_a_decision_that_is_undone_brings_its_messages_back(page, talk, rest):
    window = page(f"{talk}#decisions", project=PROJECT)
    before = rest("window")["decisions"]
    expect(window.locator(".decision")).to_have_count(len(before))
    window.locator(".decision").first.get_by_role("button", name="Undo").click()
    expect(window.get_by_role("heading", name="Undone, not to be done again")).to_be_visible()
    expect(window.locator(".toast")).to_contain_text("come back")
    after = rest("window")
    assert [vetoe["id"] for vetoe in after["vetoes"]] == [before[-1]["id"]]
    assert len(after["decisions"]) == len(before) - 1
    # What the last request was is not changed by that.
    tab(window, "Request")
    expect(window.locator(".verdict")).to_contain_text("byte for byte")
    assert faults(window) == []
    # What was undone is redone, one by one or as a whole.
    window.locator("#redo-last").click()
    expect(window.locator("#deed-state")).to_contain_text("Redone.")
    assert rest("window")["decisions"] == before
    expect(window.locator("#redo-last")).to_be_disabled()


def test_the_older_part_is_summarised_undone_and_redone_at_will(page, start):
    # What it is remembered for is nobody else's.
    own = start()
    said = []
    for at in range(5):
        said.append({"role": "user", "content": filler(at)})
        body = {"model": "fake:latest", "messages": said, "stream": False}
        answer = own.client.post("/api/chat", json=body)
        said.append(answer.json()["message"])
    chat = answer.headers["x-holdfast-conversation"]

    def summaries():
        report = own.client.get(f"/api/chats/{chat}/window").json()
        return [decision["rule"] for decision in report["decisions"] if decision["kind"] == "summarise"]

    window = page(f"/c/{chat}/context", at=own.url, language="de")
    state = window.locator("#deed-state")
    expect(window.get_by_role("button", name="Rückgängig", exact=True)).to_be_disabled()
    window.get_by_role("button", name="Jetzt zusammenfassen").click()
    expect(state).to_contain_text("Zusammengefasst: ")
    assert faults(window) == []
    assert len(summaries()) == 1
    window.locator("#undo-last").click()
    expect(state).to_contain_text("Rückgängig gemacht")
    assert summaries() == []
    window.locator("#redo-last").click()
    expect(state).to_contain_text("Wiederhergestellt")
    assert len(summaries()) == 1


def test_a_conversation_that_was_never_sent_says_so(page, server):
    window = page("/c/c_nothing/context", language="de")
    expect(window.locator("#none")).to_contain_text("noch nichts")


def test_files_and_findings_in_window_show_what_model_received(page, start, tmp_path):
    folder = tmp_path / "garden"
    folder.mkdir()
    (folder / "beds.md").write_text("# Beds\n\nBed 4711 is full of tulips.\n")
    running = start(file_references="on", file_roots=str(folder))
    text = [{"role": "user", "content": "Hello, how are the gardens of Kassel?"}]
    body = {"model": "fake:latest", "messages": text, "stream": False}
    answer = running.client.post("/api/chat", json=body)
    chat = answer.headers["x-holdfast-conversation"]
    results = {"url": "https://weather.example/kassel", "text": "In Kassel 14 degrees and rain are expected."}
    question = "What is the weather in Kassel tomorrow?"
    research = {"question": question, "sources": [results], "conversation": chat}
    assert running.client.post("/api/research", json=research).status_code == 201
    text += [answer.json()["message"], {"role": "user", "content": f"{question} And see @./beds.md please."}]
    running.client.post("/api/chat", json=body)
    window = page(f"/c/{chat}/context#brought", at=running.url)
    file = window.locator("#brought li").filter(has_text="beds.md")
    file.get_by_text("What the model sees of it").click()
    expect(file.locator("pre")).to_contain_text("Bed 4711 is full of tulips.")
    source = window.locator("#brought li").filter(has_text="14 degrees")
    expect(source.get_by_role("link")).to_have_attribute("href", re.compile("/research#r_"))
