"""What answers look like: code, formulas, tables, tasks, notes, thinking; live and loaded again alike."""

import pytest
from playwright.sync_api import Page, expect

from holdfast.testing.ollama_runner import FakeReply
from tests.browser.accessible import faults
from tests.browser.test_chat import answers, ask

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
    expect(body.locator("ol.notes li")).to_be_focused()
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
