"""llm: exact prefixes, several conversations by turns, and tool calls that lose their ids over Ollama."""

from tests.clients.script import Client, Script, assistant, call, calling, system, user

OPENAI = {"path": "/v1/chat/completions", "headers": {"user-agent": "OpenAI/Python 3.49.0"}}


def _by_turns(script: Script) -> None:
    q1, ours, theirs = "Which herbs like shade?", "Woodruff and mint do.", "Parsley gets by with little sun."
    script.ask("first", [user(q1)], ours)
    script.ask("second", [user(q1)], theirs)
    script.ask("second", [user(q1), assistant(theirs), user("And in winter?")], "Then it sleeps.")
    script.ask("first", [user(q1), assistant(ours), user("And in winter?")], "Mint dies back to the root.")
    # The same prompt once more is a new conversation: nothing says otherwise.
    script.ask("third", [user(q1)], "Sweet cicely, if you have the room.")


def _tools(script: Script) -> None:
    response = call("call_made_up", "llm_time")
    back = {"function": {"name": "llm_time", "arguments": {}}}
    asked = [system("Sei kurz."), user("Wie spät ist es?")]
    script.ask("time", asked, calling("", response))
    loop = [
        *asked,
        {**assistant(None), "tool_calls": [back]},
        {"role": "tool", "tool_name": "llm_time", "content": "12:00"},
    ]
    script.ask("time", loop, "Genau Mittag.")
    # Continued with another model, through another door, and without the system prompt.
    moved = [
        user("Wie spät ist es?"),
        assistant(None, response),
        {"role": "tool", "tool_call_id": "", "content": "12:00"},
    ]
    script.ask("time", [*moved, assistant("Genau Mittag."), user("Danke.")], "Gern geschehen.", **OPENAI)


def _client() -> Client:
    script = Script("/api/chat", {"user-agent": "ollama-python/0.6.3 (x86_64 linux)"}, {"stream": True})
    _by_turns(script)
    _tools(script)
    return Client(
        "llm",
        tuple(script.sent),
        {
            "first": (
                "Which herbs like shade?", "Woodruff and mint do.",
                "And in winter?", "Mint dies back to the root.",
            ),
            "second": (
                "Which herbs like shade?", "Parsley gets by with little sun.",
                "And in winter?", "Then it sleeps.",
            ),
            "third": ("Which herbs like shade?", "Sweet cicely, if you have the room."),
            "time": ("Wie spät ist es?", "Genau Mittag.", "Danke.", "Gern geschehen."),
        },
    )  # fmt: skip


CLIENT = _client()
