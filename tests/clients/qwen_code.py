"""qwen-code: a made-up exchange in front, a memory agent over the same history, a summary without a mark."""

from tests.clients.script import Client, Script, assistant, call, calling, system, tool, user

PROMPT = system("You are Qwen Code, a CLI agent for software engineering.")
MEMORY = system("You are now acting as the managed memory extraction subagent for an AI coding assistant.")
SUMMARISER = system("You are the component that summarizes internal chat history into a given structure.")
SNAPSHOT = user("First, reason in your scratchpad. Then, generate the <state_snapshot>.")


def context(day: str) -> list[dict]:
    text = f"This is the Qwen Code. This is the context.\nToday's date is {day}.\n/project/\n├───app.py"
    return [user(text), assistant("Got it. Thanks for the context!")]


def _session(script: Script) -> None:
    q1, a1 = "Was tut dieses Projekt?", "Es verwaltet ein kleines Lager."
    q2, a2 = "Was gibt total() für ein leeres Lager?", "Null, denn es summiert über nichts."
    start = [*context("Sunday, 15 November"), user(q1)]
    look = call("call_q1", "read_file", path="app.py")
    script.ask("stock", [PROMPT, *start], calling("Ich lese die Dateien.", look))
    loop = [*start, assistant("Ich lese die Dateien.", look), tool("call_q1", "class Inventory")]
    script.ask("stock", [PROMPT, *loop], a1)
    script.ask("stock", [PROMPT, *loop, assistant(a1), user(q2)], a2)
    history = [*loop, assistant(a1), user(q2), assistant(a2)]
    script.aside(
        [MEMORY, *history, user("Scan the recent conversation and update the memory.")], "Nothing to keep."
    )
    # The next question is refused; the client summarises all but the last exchange.
    script.ask("stock", [PROMPT, *history, user("Was fehlt noch?")], None)
    summary = "Ziel: das Projekt verstehen. Gelesen: app.py. Offen: was fehlt noch."
    script.aside([SUMMARISER, *loop, assistant(a1), SNAPSHOT], summary, stream=False)
    record = [user(summary), assistant("Got it. Thanks for the additional context!"), user(q2), assistant(a2)]
    script.ask("stock", [PROMPT, *record, user("Was fehlt noch?")], "Eine Prüfung auf negative Mengen.")
    # The answer comes back doubled, with the made-up exchange in front again, a day later.
    doubled = assistant("Eine Prüfung auf negative Mengen." * 2)
    later = [
        *context("Monday, 16 November"),
        *record,
        user("Was fehlt noch?"),
        doubled,
        user("Baust du sie ein?"),
    ]
    script.ask("stock", [PROMPT, *later], "Ja, in add().")


def _other(script: Script) -> None:
    start = [*context("Monday, 16 November"), user("Was tut dieses Projekt?")]
    script.ask("other", [PROMPT, *start], "Lagerverwaltung, recht schlicht.")
    more = [*start, assistant("Lagerverwaltung, recht schlicht."), user("Gibt es Tests?")]
    script.ask("other", [PROMPT, *more], "Keinen einzigen.")


def _client() -> Client:
    script = Script("/v1/chat/completions", {"user-agent": "QwenCode/0.15.10 (linux; x64)"}, {"stream": True})
    _session(script)
    _other(script)
    return Client(
        "qwen-code",
        tuple(script.sent),
        {
            "stock": (
                "Was tut dieses Projekt?", "Ich lese die Dateien.", "Es verwaltet ein kleines Lager.",
                "Was gibt total() für ein leeres Lager?", "Null, denn es summiert über nichts.",
                "Was fehlt noch?", "Eine Prüfung auf negative Mengen.", "Baust du sie ein?", "Ja, in add().",
            ),
            "other": (
                "Was tut dieses Projekt?", "Lagerverwaltung, recht schlicht.",
                "Gibt es Tests?", "Keinen einzigen.",
            ),
        },
    )  # fmt: skip


CLIENT = _client()
