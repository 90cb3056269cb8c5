"""opencode: a session id on everything, titles and subagents too, and its own summary after an overflow."""

from tests.clients.script import Client, Script, assistant, call, calling, system, tool, user

PROMPT = system("You are opencode, a tool for software engineering.\n<env>Today is Sunday.</env>")
TITLER = system(
    "You are a title generator. You output ONLY a thread title.\nMake it short, to find this conversation."
)
SUMMARISER = system(
    "You are a context summarization agent. You are given a conversation between a user and an agent."
)


def _work(script: Script) -> None:
    to = {"headers": {"x-session-id": "ses_one", "x-session-affinity": "ses_one"}}
    q1, a1 = "Have a look at the repository.", "A small library for tide tables."
    script.aside([TITLER, user("Generate a title for this conversation:\n"), user(q1)], "Tide tables", **to)
    look = call("call_a", "read", filePath="/project/tides.py")
    script.ask("tides", [PROMPT, user(q1)], calling("Reading.", look), **to)
    loop = [PROMPT, user(q1), assistant("Reading.", look), tool("call_a", "def high_water(): ...")]
    script.ask("tides", loop, a1, **to)
    history = [*loop, assistant(a1), user("Fasse den Stand in einem Satz zusammen.")]
    # The server refuses; the client summarises and asks again.
    script.ask("tides", history, None, **to)
    text = f"The conversation so far:\n\n<conversation>\n[User]: {q1}\n\n[Assistant]: {a1}\n</conversation>"
    script.aside(
        [SUMMARISER, user(text)], "Goal: look at the repository. Found: tide tables in tides.py.", **to
    )
    summary = [
        user("What did we do so far?"),
        assistant("Goal: look at the repository. Found: tide tables in tides.py."),
    ]
    again = [PROMPT, *summary, user("Fasse den Stand in einem Satz zusammen.")]
    script.ask("tides", again, "Eine Bibliothek für Gezeiten, noch ohne Tests.", **to)
    more = [*again, assistant("Eine Bibliothek für Gezeiten, noch ohne Tests."), user("Danke.")]
    script.ask("tides", more, "Gern.", **to)


def _same_words(script: Script) -> None:
    """Another session with the same first words; it sends out a subagent."""
    to = {"headers": {"x-session-id": "ses_two"}}
    child = {"headers": {"x-session-id": "ses_child", "x-parent-session-id": "ses_two"}}
    q1 = "Have a look at the repository."
    send = call("call_b", "task", prompt="List the modules.")
    script.ask("survey", [PROMPT, user(q1)], calling("I will delegate this.", send), **to)
    script.ask("modules", [PROMPT, user("List the modules.")], "tides and tables.", **child)
    loop = [PROMPT, user(q1), assistant("I will delegate this.", send), tool("call_b", "tides and tables.")]
    script.ask("survey", loop, "It has two modules.", **to)


def _client() -> Client:
    script = Script("/v1/chat/completions", {"user-agent": "opencode/1.18.33 runtime/bun"}, {"stream": True})
    _work(script)
    _same_words(script)
    return Client(
        "opencode",
        tuple(script.sent),
        {
            "tides": (
                "Have a look at the repository.", "Reading.", "A small library for tide tables.",
                "Fasse den Stand in einem Satz zusammen.", "Eine Bibliothek für Gezeiten, noch ohne Tests.",
                "Danke.", "Gern.",
            ),
            "survey": ("Have a look at the repository.", "I will delegate this.", "It has two modules."),
            "modules": ("List the modules.", "tides and tables."),
        },
    )  # fmt: skip


CLIENT = _client()
