"""Whatever text came from elsewhere, it is text on every page: in a real browser nothing of it runs.

The pages are watched by the fixture too: an attempt that only the Content-Security-Policy stopped is an error
in the console, and fails the test.
"""

import base64

from playwright.sync_api import expect

from tests.browser.upstream import Upstream
from tests.fakes.ollama_runner import FakeModel

RUN = "window.taken=1"
PAYLOADS = (
    f"<script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f"<svg onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f"<details open ontoggle={RUN}>",
    f"<math><mtext><style><img src=x onerror={RUN}></style></mtext></math>",
    f"<a href='javascript:{RUN}'>a</a> [b](javascript:{RUN}) [c](<java\nscript:{RUN}>)",
    f"![x](x'onerror='{RUN}) <javascript:{RUN}> [d]: data:text/html,<script>{RUN}</script>",
    f"[e](data:text/html;base64,{base64.b64encode(f'<script>{RUN}</script>'.encode()).decode()})",
    f"</textarea></title></script><script>{RUN}</script>",
    f"\"><img src=x onerror={RUN}> ' onmouseover={RUN} autofocus onfocus={RUN} x='",
    f"${{{RUN}}} {{{{constructor.constructor('{RUN}')()}}}} `{RUN}`",
    f'```x" onmouseover={RUN} y="\n<img src=x onerror={RUN}>\n```',
    f"| <img src=x onerror={RUN}> |\n|---|\n| <script>{RUN}</script> |",
    f"$$\\href{{javascript:{RUN}}}{{x}}$$ $\\htmlData{{onclick={RUN}}}{{y}}$ $\\includegraphics{{x}}$",
)
NAME = f"<img src=x onerror={RUN}>"
# Elements that would run something, had a text become one.
ACTIVE = r"""() => {
    const places = ["href", "src", "srcdoc", "action", "formaction", "xlink:href"];
    const runs = found => found.name.startsWith("on")
        || (places.includes(found.name) && /^\s*(javascript|vbscript|data:text)/i.test(found.value));
    return [...document.querySelectorAll("*")].filter(each => [...each.attributes].some(runs))
        .map(each => each.outerHTML);
}"""


def fill_with_hostile_texts(server):
    """Bring the texts in through every door that shows them somewhere; return the conversation."""
    client, model, words = server.client, f"{NAME}:latest", "\n\n".join(PAYLOADS)
    call = {
        "id": NAME,
        "type": "function",
        "function": {"name": NAME, "arguments": f'{{"{NAME}": "{NAME}"}}'},
    }
    messages = [
        {"role": "user", "content": words},
        {"role": "assistant", "content": words, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": NAME, "content": words},
        {"role": "user", "content": f"Mark. {words}"},
    ]
    server.upstream.answers.append(f"Mark. {words}")
    answer = client.post(
        "/v1/chat/completions",
        json={"model": model, "messages": messages, "stream": False},
        headers={"user-agent": NAME, "x-title": NAME},
    )
    assert answer.status_code == 200, answer.text
    chat = answer.headers["x-holdfast-conversation"]
    client.patch(f"/api/chats/{chat}", json={"title": f"Mark {NAME}"}).raise_for_status()
    for payload in PAYLOADS:
        client.post("/api/memory", json={"text": f"Mark {payload}"}).raise_for_status()
        source = {"url": f"javascript:{RUN}", "title": payload, "text": payload}
        body = {
            "question": f"Mark {payload}?",
            "sources": [source, {**source, "url": f"https://a.example/{NAME}"}],
        }
        client.post("/api/research", json=body).raise_for_status()
    client.patch("/api/memory/profile", json={"company": NAME, "products": [NAME]}).raise_for_status()
    (server.home / "workspace" / "default" / f"{NAME.replace('/', '')}.md").write_text(words)
    data = base64.b64encode(words.encode()).decode()
    question = {"model": model, "conversation": chat, "text": "Mark", "files": [{"name": NAME, "data": data}]}
    server.upstream.answers.append(words)
    client.post("/api/chats/turns", json=question).raise_for_status()
    return chat


def test_no_text_from_elsewhere_runs_on_any_page(page, start):
    server = start(behind=Upstream([FakeModel(f"{NAME}:latest", num_ctx=32_768)]))
    chat = fill_with_hostile_texts(server)
    shows = {
        f"/c/{chat}": "onerror",
        f"/c/{chat}/context": "onerror",
        "/settings/memory": "Mark",
        "/research": "Mark",
        "/statistics": "onerror",
        "/settings": "log_level",
        "/": "onerror",
    }
    window = page("/settings", at=server.url)
    for path, mark in shows.items():
        window.goto(path)
        expect(window.locator("body")).to_contain_text(mark)
        # Moving over everything and opening what is folded would start what waits for that.
        window.locator("details").evaluate_all("all => all.forEach(each => { each.open = true; })")
        window.evaluate(
            "() => document.querySelectorAll('main *').forEach(each => ['mouseover', 'focus', 'toggle']"
            ".forEach(name => each.dispatchEvent(new Event(name))))"
        )
        assert window.evaluate(ACTIVE) == [], path
        assert window.evaluate("window.taken") is None, path
