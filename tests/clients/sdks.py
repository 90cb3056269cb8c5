"""The plain libraries of OpenAI and Ollama, as people write their own scripts with them."""

from tests.clients.script import Client, Script, assistant, call, calling, system, user


def _openai() -> Client:
    script = Script("/v1/chat/completions", {"user-agent": "OpenAI/JS 6.49.0"}, {"stream": True})
    start = [system("You are a helpful assistant."), user("Hello, what can you do?")]
    script.ask("hello", start, "Explain, count and look things up.")
    history = [*start, assistant("Explain, count and look things up.")]
    script.ask("hello", [*history, user("Tell me about Python.")], "A language named after comedians.")
    script.ask(
        "hello", [*history, user("Tell me about Rust.")], "A language named after a fungus.", by_hand=True
    )
    script.ask("again", start, "Whatever you need.")
    # Only the new words, and the id of the answer before.
    responses = {"path": "/v1/responses", "instructions": "Be brief."}
    script.ask("brief", [user("Hello, what can you do?")], "Much.", **responses)
    script.ask(
        "brief",
        [user("Explain a hash map.")],
        "Keys to places.",
        previous_response_id="resp_of_theirs",
        **responses,
    )
    return Client(
        "openai-sdk",
        tuple(script.sent),
        {
            "hello": (
                "Hello, what can you do?", "Explain, count and look things up.",
                "Tell me about Rust.", "A language named after a fungus.",
            ),
            "again": ("Hello, what can you do?", "Whatever you need."),
            "brief": ("Hello, what can you do?", "Much.", "Explain a hash map.", "Keys to places."),
        },
    )  # fmt: skip


def _ollama() -> Client:
    script = Script("/api/chat", {"user-agent": "ollama-js/0.6.4 (x64 linux)"}, {"stream": True})
    q1, a1 = "Hallo, was kannst du?", "Erklären, zählen und nachsehen."
    script.ask("hallo", [user(q1)], a1)
    history = [user(q1), assistant(a1), user("Sieh in die Datei.")]
    response = call("call_made_up", "read_file", path="a.txt")
    back = {"function": {"name": "read_file", "arguments": {"path": "a.txt"}}}
    script.ask("hallo", history, calling("Ich sehe nach.", response))
    loop = [*history, {**assistant("Ich sehe nach."), "tool_calls": [back]}]
    loop.append({"role": "tool", "tool_name": "read_file", "content": "leer"})
    script.ask("hallo", loop, "Die Datei ist leer.", stream=False)
    script.ask("hallo", [*loop, assistant("Die Datei ist leer."), user("Fass zusammen.")], None)
    script.ask("hallo", [*loop, assistant("Die Datei ist leer."), user("Danke, tschüss.")], "Bis bald!")
    script.ask("tool", [user("Titel für meinen Roman über den Deich?")], "Der Deich hält.", stream=False)
    return Client(
        "ollama-sdk",
        tuple(script.sent),
        {
            "hallo": (
                q1, a1, "Sieh in die Datei.", "Ich sehe nach.", "Die Datei ist leer.",
                "Danke, tschüss.", "Bis bald!",
            ),
            "tool": ("Titel für meinen Roman über den Deich?", "Der Deich hält."),
        },
    )  # fmt: skip


OPENAI = _openai()
OLLAMA = _ollama()
