"""The research page: findings with age, sources and expiry, searched as one types, and forgotten."""

import pytest
from playwright.sync_api import expect

PROJECT = "research"
HEADERS = {"X-Holdfast-Project": PROJECT}
HOSTILE = "<b>Bold</b> claims about roses"


@pytest.fixture(scope="module")
def findings(shared_server):
    def found(question, *urls):
        text = f"About {question} this is known: on Saturday 14 degrees and rain are expected everywhere."
        sources = [{"url": url, "title": f"Page of {question}", "text": text} for url in urls]
        body = {"question": question, "sources": sources}
        answer = shared_server.client.post("/api/research", json=body, headers=HEADERS)
        assert answer.status_code == 201, answer.text
        return answer.json()

    return [
        found(
            "What is the weather in Kassel tomorrow?",
            "https://weather.example/kassel",
            "https://sky.example/",
        ),
        found("When was Rome founded?", "https://history.example/rome"),
        found(HOSTILE, "javascript:document.title='taken'"),
    ]


def test_findings_have_age_expiry_summary_and_sources_and_markup_stays_text(page, findings):
    window = page("/research", project=PROJECT)
    expect(window.locator("[data-finding]")).to_have_count(3)
    weather = window.locator(f"#{findings[0]['id']}")
    expect(weather.get_by_role("heading")).to_have_text("What is the weather in Kassel tomorrow?")
    expect(weather).to_contain_text("holds until")
    expect(weather).to_contain_text("14 degrees")
    links = weather.get_by_role("link")
    assert [link.get_attribute("href") for link in links.all()] == [
        "https://weather.example/kassel",
        "https://sky.example/",
    ]
    weather.get_by_text("What was read").click()
    expect(weather.locator("code")).to_contain_text(f"research/{findings[0]['id']}.md")
    # Only web addresses become links.
    hostile = window.locator(f"#{findings[2]['id']}")
    expect(hostile.get_by_role("heading")).to_have_text(HOSTILE)
    expect(hostile.get_by_role("link")).to_have_count(0)


def test_search_shows_what_matches_as_one_types(page, findings):
    window = page("/research", project=PROJECT, language="de")
    window.get_by_role("searchbox").press_sequentially("rome")
    expect(window.locator("[data-finding]")).to_have_count(1)
    expect(window.locator("#count")).to_have_text("1 Recherche")
    window.get_by_role("searchbox").press_sequentially(" xyz")
    expect(window.locator("#findings")).to_have_text("Nichts passt dazu.")


def test_a_finding_is_forgotten_only_after_a_question(page, findings, shared_server):
    window = page("/research", project=PROJECT)
    button = window.get_by_role("button", name="Forget: When was Rome founded?")
    button.click()
    asked = window.get_by_role("dialog")
    expect(asked).to_be_visible()
    window.keyboard.press("Escape")
    expect(asked).to_have_count(0)
    expect(window.locator("[data-finding]")).to_have_count(3)
    button.click()
    asked.get_by_role("button", name="Forget").click()
    expect(window.locator("[data-finding]")).to_have_count(2)
    client = shared_server.client.get(f"/api/research/{findings[1]['id']}", headers=HEADERS)
    assert client.status_code == 404
