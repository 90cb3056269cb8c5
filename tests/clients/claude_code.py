"""claude-code over Anthropic's messages: reminders in the first message, content now text and now blocks."""

from typing import Any

from tests.clients.script import Client, Script, Wire, call, calling

SYSTEM = [{"type": "text", "text": "You are an interactive agent that helps with software engineering."}]
TITLER = [
    {
        "type": "text",
        "text": "Generate a concise title (3-7 words) that captures the goal of this coding session.",
    }
]
CONTINUED = (
    "This session is being continued from a previous conversation that ran out of context.\n\nSummary:\n"
)
COMPACT = (
    "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n- You have all you need above.\n"
    "Write an <analysis> block followed by a <summary> block about everything that was done."
)


def text(value: str, **more: Any) -> Wire:
    return {"type": "text", "text": value, **more}


def reminder(day: str) -> Wire:
    return text(f"<system-reminder>\n# currentDate\nToday's date is {day}.\n</system-reminder>\n")


def person(*blocks: Wire) -> Wire:
    return {"role": "user", "content": list(blocks)}


def model(*blocks: Wire) -> Wire:
    return {"role": "assistant", "content": list(blocks)}


def uses(call_id: str, name: str, **given: Any) -> Wire:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(call_id: str, value: str) -> Wire:
    return person({"type": "tool_result", "tool_use_id": call_id, "content": value})


def _session(script: Script) -> None:
    to = {"headers": {"x-claude-code-session-id": "cc-1"}}
    q1, a1 = "What is in this folder?", "A parser for bird ring numbers."
    q2, a2 = "Welche Funktion zuerst?", "parse_ring, dort fehlt eine Prüfung."
    script.aside(
        [person(text(f"<session>\n{q1}\n</session>"))], '{"title":"Folder overview"}', system=TITLER, **to
    )
    start = [
        person(reminder("2026-11-15"), text(q1)),
        {"role": "system", "content": "Agents you may use: explore."},
    ]
    script.ask("birds", start, calling("Let me see.", call("toolu_1", "Read", path="ring.py")), **to)
    loop = [
        *start,
        model(text("Let me see."), uses("toolu_1", "Read", path="ring.py")),
        result("toolu_1", "def parse_ring"),
    ]
    script.ask("birds", loop, a1, **to)
    # The newest question is a block with a cache mark, on the next turn it is plain text.
    asked = person(text(q2, cache_control={"type": "ephemeral"}))
    script.ask("birds", [*loop, model(text(a1)), asked], a2, **to)
    later = [*loop, model(text(a1)), {"role": "user", "content": q2}, model(text(a2))]
    script.ask("birds", [*later, person(text("Is there a test?"))], None, **to)
    script.aside(
        [*later[:-1], person(text(q2), text(COMPACT))], "<summary>Looked at ring.py.</summary>", **to
    )
    summary = person(reminder("2026-11-16"), text(CONTINUED + "Looked at ring.py, parse_ring lacks a check."))
    record = [summary, *later[-3:], person(text("Is there a test?"))]
    script.ask("birds", record, "Not a single one so far.", **to)
    script.ask(
        "birds", [*record, model(text("Not a single one so far.")), person(text("Write one."))],
        "Written: test_ring.py.", **to,
    )  # fmt: skip


def _subagent(script: Script) -> None:
    """A subagent works under the same session id, with a history of its own."""
    to = {"headers": {"x-claude-code-session-id": "cc-2"}}
    start = [person(reminder("2026-11-16"), text("Delegate a survey."))]
    script.ask(
        "survey", start, calling("I will delegate.", call("toolu_2", "Agent", prompt="List the files.")), **to
    )
    script.ask(
        "child",
        [person(reminder("2026-11-16"), text("List the files."))],
        "Only ring.py.",
        system=TITLER[:0],
        **to,
    )
    back = [
        *start,
        model(text("I will delegate."), uses("toolu_2", "Agent", prompt="List the files.")),
        result("toolu_2", "Only ring.py."),
    ]
    script.ask("survey", back, "The survey found one file.", **to)


def _client() -> Client:
    script = Script(
        "/v1/messages", {"user-agent": "claude-cli/2.1.197 (external)"},
        {"stream": True, "max_tokens": 4096, "system": SYSTEM},
    )  # fmt: skip
    _session(script)
    _subagent(script)
    return Client(
        "claude-code",
        tuple(script.sent),
        {
            "birds": (
                "What is in this folder?", "Let me see.", "A parser for bird ring numbers.",
                "Welche Funktion zuerst?", "parse_ring, dort fehlt eine Prüfung.",
                "Is there a test?", "Not a single one so far.", "Write one.", "Written: test_ring.py.",
            ),
            "survey": ("Delegate a survey.", "I will delegate.", "The survey found one file."),
            "child": ("List the files.", "Only ring.py."),
        },
    )  # fmt: skip


CLIENT = _client()
