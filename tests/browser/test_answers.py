"""What answers look like: code, formulas, tables, tasks, notes, thinking; live and loaded again alike."""

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import faults
from tests.browser.test_chat import answers, ask
from tests.fakes.ollama_runner import FakeReply

RICH = r"""<think>
First I think **hard**.
</think>

# Heading

Euler: $e^{i\pi} + 1 = 0$, for $5 and $10. Also \(a^2\) and https://example.org/a_(b).

$$
\begin{aligned} a &= b \\[2pt] \boxed{c} &= \sqrt{\frac{1}{2}} \end{aligned}
$$

Wrong: $\frac{1}{$ and \[\nosuchcommand{x}\] but \(\pmb{x}\) and \(\fcolorbox{red}{white}{$y$}\).

| name | price |
|:-----|------:|
| rake | 12.50 |

- [x] dig
- [ ] sow[^1]

```python
def hop(n: int) -> str:
    return "hop" * n  # comment
```

```mermaid
graph TD; A-->B
```

```dockerfile
FROM python:3.11
```

[^1]: Only in *spring*.
"""


@pytest.fixture
def project(request) -> str:
    return request.node.name[:60]


def rich(window: Page) -> Page:
    """The page once everything that an answer has is set: colours and formulas come after the text."""
    expect(window.locator(".hljs-keyword").first).to_be_visible()
    expect(window.locator(".katex").nth(3)).to_be_visible()
    return window


def shape(window: Page) -> str:
    """The HTML of the answer, without the numbers by which footnotes are told apart."""
    html = answers(window).locator(".markdown").inner_html()
    return window.evaluate("(html) => html.replace(/note-\\d+/g, 'note')", html)


def test_an_answer_is_the_same_live_and_loaded_again(page, server, project):
    server.upstream.answers.append(RICH)
    window = page(project=project)
    window.add_init_script(
        "window.refused = []; document.addEventListener('securitypolicyviolation', (event) =>"
        " window.refused.push(event.violatedDirective + ' ' + event.blockedURI))"
    )
    window.goto("/")
    ask(window, "Show me everything")
    expect(answers(window)).to_have_count(1)
    live = shape(rich(window))
    assert faults(window) == []
    assert window.evaluate("window.refused") == []
    window.reload()
    assert shape(rich(window)) == live
    assert window.evaluate("window.refused") == []


def test_an_answer_has_what_people_know_from_others(page, server, project):
    server.upstream.answers.append(RICH)
    window = page("/", project=project)
    ask(window, "Show me everything")
    body = rich(window).locator(".message.assistant .markdown")
    expect(body.locator("details.thinking summary")).to_have_text("Thinking")
    expect(body.locator("details.thinking .words")).to_be_hidden()
    expect(body).to_contain_text("for $5 and $10")
    expect(body.locator(".katex-display")).to_have_count(1)
    # A formula that cannot be read stays as it was written.
    expect(body.locator(".math.raw")).to_have_text([r"\frac{1}{", r"\nosuchcommand{x}"])
    expect(body.locator("td").nth(1)).to_have_css("text-align", "end")
    expect(body.locator("li.task input").nth(0)).to_be_checked()
    expect(body.locator("li.task input").nth(1)).not_to_be_checked()
    expect(body.get_by_role("link", name="https://example.org/a_(b)")).to_have_attribute("target", "_blank")
    expect(body.locator("code.language-mermaid")).to_have_text("graph TD; A-->B\n")
    expect(body.locator("code.language-dockerfile .hljs-keyword")).to_have_text("FROM")
    body.get_by_role("link", name="Footnote 1").click()
    expect(body.locator("ol.footnotes li")).to_be_focused()
    window.get_by_role("button", name="Copy").last.click()
    copied = window.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("# Heading")


def test_thinking_in_the_text_is_folded_while_it_is_written(page, server, project):
    server.upstream.answers.append("<think>\nI weigh it. And again.\n</think>\n\nIt is four.")
    server.upstream.hold()
    window = page("/", project=project)
    ask(window, "How much?")
    server.upstream.let(4)
    fold = window.locator(".writing details.thinking")
    expect(fold).to_be_visible()
    expect(window.locator(".writing .markdown")).not_to_contain_text("<think>")
    fold.locator("summary").click()
    server.upstream.let(2)
    expect(fold.locator(".words")).to_be_visible()
    server.upstream.release()
    expect(answers(window).locator(".markdown > p")).to_have_text("It is four.")
    expect(answers(window).locator("details.thinking .words")).to_have_text("I weigh it. And again.")


def test_libraries_are_loaded_only_for_an_answer_that_needs_them(page, server, project):
    server.upstream.answers += ["Plain words.", FakeReply("`code` and\n\n```python\npass\n```")]
    window = page(project=project)
    vendored: list[str] = []
    window.on("request", lambda sent: vendored.append(sent.url) if "/vendor/" in sent.url else None)
    window.goto("/")
    ask(window, "Something plain")
    expect(answers(window)).to_have_count(1)
    assert [url for url in vendored if not url.endswith(".svg")] == []
    ask(window, "Some code")
    expect(window.locator(".hljs-keyword")).to_have_text("pass")
    assert not any("katex" in url for url in vendored)


def test_one_line_under_an_answer_unfolds_the_rest(page, start):
    # Its own server: what is known of a person from other tests would be counted, too.
    own = start()
    fact = "The boiler in the cellar was repaired by Ms Kestrel."
    own.client.post("/api/memory", json={"text": fact}).raise_for_status()
    window = page("/", at=own.url)
    ask(window, "Who repaired the boiler in the cellar?")
    line = answers(window).locator(".facts")
    for _ in range(2):
        expect(line).to_contain_text("fake:latest")
        expect(line).to_contain_text("1 memory")
        expect(
            line.get_by_role("img", name=re.compile(r"\d+% of the window .* of 8,192 tokens"))
        ).to_be_visible()
        expect(answers(window).locator(".about-all")).to_have_count(0)
        line.click()
        expect(answers(window).locator(".about-all")).to_contain_text(fact)
        expect(answers(window).locator(".about-all")).to_contain_text("of 8,192 tokens")
        for name in ("Copy", "Regenerate", "Fork"):
            expect(answers(window).get_by_role("button", name=name)).to_be_visible()
        assert faults(window) == []
        window.reload()


def test_the_gauge_counts_draft_and_attachments_before_they_are_sent(page, server, project):
    window = page("/", project=project)
    gauge = window.locator("#gauge summary")
    share = gauge.locator("span")
    expect(share).to_have_text("0%")
    window.locator("#text").fill("some words " * 400)
    expect(share).not_to_have_text("0%")
    written = int(share.inner_text().rstrip("%"))
    chosen = {"name": "long.txt", "mimeType": "text/plain", "buffer": b"other words here " * 600}
    window.locator("#files").set_input_files(chosen)
    window.wait_for_function(
        "(before) => parseInt(document.querySelector('#gauge span').textContent) > before", arg=written
    )
    gauge.click()
    expect(window.locator("#gauge-all")).to_contain_text("of 8,192 tokens")
    expect(window.locator("#gauge-all .legend")).to_contain_text("your draft")
    assert faults(window) == []
    window.keyboard.press("Escape")
    expect(window.locator("#gauge-all")).to_be_hidden()
    window.locator("#model").select_option("small:latest")
    window.wait_for_function("() => parseInt(document.querySelector('#gauge span').textContent) > 100")
    window.get_by_role("button", name="Remove long.txt").click()
    window.locator("#text").fill("")
    expect(share).to_have_text("0%")


def test_all_pages_name_the_same_size_of_a_window(page, server, project):
    window = page("/", project=project)
    ask(window, "Hello, how large are you?")
    used = re.compile(r"[\d,]+ of 8,192 tokens")
    line = answers(window).locator(".facts")
    expect(line.get_by_role("img")).to_have_attribute("aria-label", used)
    expect(window.locator("#gauge summary")).to_have_attribute("title", used)
    window.locator("#context").click()
    expect(window.locator("#facts")).to_contain_text(used)


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_phone_has_one_header_row_and_a_drawer(page, server, project, language):
    server.upstream.answers.append(RICH)
    window = page("/", project=project, language=language, size=(390, 844))
    ask(window, "Show me everything")
    rich(window)
    assert window.evaluate("document.documentElement.scrollWidth") <= 390
    # Above the conversation there is its head alone.
    assert window.locator("#scroll").bounding_box()["y"] < 64
    composer = window.locator("#composer").bounding_box()
    assert composer["y"] + composer["height"] <= 844
    window.locator("#side-open").click()
    expect(window.locator("#side")).to_be_visible()
    expect(window.locator(".menu a")).to_have_count(5)
    for link in window.locator(".menu a").all():
        expect(link).to_be_in_viewport(ratio=1)
    assert faults(window) == []
    window.keyboard.press("Escape")
    expect(window.locator("#side")).to_be_hidden()
    # The keyboard takes half of the screen, and the composer stays above it.
    window.set_viewport_size({"width": 390, "height": 420})
    composer = window.locator("#composer").bounding_box()
    assert composer["y"] + composer["height"] <= 420


def test_other_pages_of_a_phone_have_the_menu_in_a_drawer(page, server):
    window = page("/statistics", size=(390, 844))
    expect(window.locator(".menu a").first).to_be_hidden()
    window.get_by_role("button", name="Main menu").click()
    expect(window.get_by_role("link", name="Memory")).to_be_visible()
    assert faults(window) == []
    window.keyboard.press("Escape")
    expect(window.locator(".menu a").first).to_be_hidden()
    expect(window.get_by_role("button", name="Main menu")).to_be_focused()


@pytest.mark.parametrize(
    "path", ["/settings/memory", "/research", "/statistics", "/settings", "/setup", "context"]
)
def test_no_page_is_wider_than_a_phone(page, server, project, path):
    if path == "context":
        server.upstream.answers.append(RICH)
        body = {"model": "fake:latest", "messages": [{"role": "user", "content": "Hello!"}], "stream": False}
        response = server.client.post("/api/chat", json=body)
        path = f"/c/{response.headers['x-holdfast-conversation']}/context"
    window = page(path, language="de", size=(390, 844))
    expect(window.locator("h1")).to_be_visible()
    window.wait_for_function("() => !document.querySelector('[aria-busy=true]')")
    window.wait_for_function("() => document.documentElement.scrollWidth <= 390")
    for tab in window.get_by_role("tab").all():
        expect(tab).to_be_in_viewport(ratio=1)


def test_the_page_can_be_installed_as_an_app(page, server):
    window = page("/")
    devtools = window.context.new_cdp_session(window)
    answer = devtools.send("Page.getAppManifest")
    assert answer["errors"] == []
    manifest = json.loads(answer["data"])
    assert manifest["display"] == "standalone"
    for icon in manifest["icons"]:
        loaded = window.evaluate(
            "async ([src, base]) => { const got = await fetch(new URL(src, base));"
            " return [got.ok, got.headers.get('content-type')]; }",
            [icon["src"], answer["url"]],
        )
        assert loaded == [True, icon["type"]]
    # Windows of the tests are private ones, in which nothing is installed.
    errors = devtools.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert [error["errorId"] for error in errors if error["errorId"] != "in-incognito"] == []
