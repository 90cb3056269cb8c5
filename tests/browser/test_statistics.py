"""The statistics page: numbers of the last days, what runs now, and ending it."""

import threading

import httpx
from playwright.sync_api import expect

from holdfast.messages import Scope, Usage
from tests.browser.conftest import PHONE


def test_the_last_days_are_drawn_and_stand_in_tables(page, start):
    running = start()
    store = running.engine.store
    job = store.jobs.start(Scope(), model="tiny")
    store.jobs.end(
        job.id, "done", usage=Usage(900, 40, 600), first_token_at=job.queued_at + 2, now=job.queued_at + 6
    )
    chat = store.log.create(Scope())
    store.compactions.record(
        chat.id, lane="l", level=3, strategy="", messages=2, tokens_before=800, tokens_after=80
    )
    window = page("/statistics", at=running.url, size=PHONE)
    expect(window.locator("#plots svg")).to_have_count(5)
    expect(window.locator(".sums")).to_contain_text("67 %")
    expect(window.locator(".sums")).to_contain_text("720")
    expect(window.locator("#models tr")).to_contain_text("tiny")
    tokens = window.get_by_role("figure").filter(has_text="Tokens per day")
    tokens.get_by_text("As a table").click()
    assert tokens.locator("tbody tr").last.locator("td").all_inner_texts() == ["300", "600", "40"]
    assert window.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    window.get_by_label("Time span").select_option("7")
    expect(tokens.locator("rect.hit")).to_have_count(7)


def test_what_runs_is_listed_and_can_be_cancelled(page, server):
    server.upstream.hold()
    body = {"model": "fake:latest", "messages": [{"role": "user", "content": "Take your time."}]}

    def ask():
        with httpx.stream(
            "POST", f"{server.url}/api/chat", json=body, timeout=120, trust_env=False
        ) as answer:
            answer.read()

    window = page("/statistics", language="de")
    expect(window.locator("#jobs")).to_contain_text("Keine Anfrage läuft")
    asking = threading.Thread(target=ask)
    asking.start()
    # Nobody reloads: the page hears of it.
    expect(window.locator("#jobs")).to_contain_text("fake:latest")
    window.get_by_role("button", name="Die Anfrage an fake:latest abbrechen").click()
    expect(window.locator("#jobs")).to_contain_text("Keine Anfrage läuft")
    asking.join(60)
    assert not asking.is_alive()


def test_model_servers_are_told_with_their_health(page, server):
    window = page("/statistics")
    expect(window.locator("#servers li")).to_contain_text("well")
    expect(window.locator("#servers li")).to_contain_text("ollama")
