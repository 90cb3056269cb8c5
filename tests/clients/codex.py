"""codex over responses: developer items anywhere, a turn in several items, questions left without answers."""

import json

from tests.clients.script import Client, Script, Wire, call, calling

DEVELOPER = {
    "type": "message",
    "role": "developer",
    "content": [{"type": "input_text", "text": "You are a coding agent."}],
}
CHECKPOINT = "You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary for another LLM."
HANDED = "Another language model started to solve this problem and produced a summary of its thinking:\n"


def said(text: str) -> Wire:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def answered(text: str) -> Wire:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def ran(call_id: str, command: str, output: str) -> list[Wire]:
    return [
        {
            "type": "function_call",
            "name": "exec",
            "arguments": json.dumps({"cmd": command}),
            "call_id": call_id,
        },
        {"type": "function_call_output", "call_id": call_id, "output": output},
    ]


def environment(day: str) -> Wire:
    return said(f"<environment_context>\n<cwd>/project</cwd>\n<date>{day}</date>\n</environment_context>")


def headers(session: str, kind: str = "turn") -> dict[str, str]:
    return {
        "session-id": session,
        "thread-id": session,
        "x-codex-turn-metadata": json.dumps({"session_id": session, "request_kind": kind}),
    }


def _session(script: Script) -> None:
    to = {"headers": headers("th-1"), "prompt_cache_key": "th-1"}
    q1, a1 = "Schau dir das Repository an.", "Zwei Dateien, noch keine Tests."
    start = [DEVELOPER, environment("2026-11-15"), said(q1)]
    script.ask("code", start, calling("Ich sehe nach.", call("call_x", "exec", cmd="ls")), **to)
    loop = [*start, answered("Ich sehe nach."), *ran("call_x", "ls", "app.py util.py")]
    script.ask("code", loop, a1, **to)
    # Refused: the question stays in the history without an answer, and the next one follows it.
    asked = [*loop, answered(a1), said("Fass zusammen.")]
    script.ask("code", asked, None, **to)
    script.ask("code", [*asked, DEVELOPER, said("Und was fehlt?")], "Eine Prüfung auf negative Mengen.", **to)
    history = [*asked, DEVELOPER, said("Und was fehlt?"), answered("Eine Prüfung auf negative Mengen.")]
    compaction = {"headers": headers("th-1", "compaction"), "prompt_cache_key": "th-1", "tools": []}
    script.aside(
        [*history, said(CHECKPOINT)],
        "Two files were read; a check for negative amounts is missing.",
        **compaction,
    )
    record = [DEVELOPER, environment("2026-11-15"), said(q1), said("Fass zusammen."), said("Und was fehlt?")]
    summary = said(HANDED + "Two files were read; a check for negative amounts is missing.")
    script.ask("code", [*record, summary, said("Dann bau sie ein.")], "Eingebaut, mit ValueError.", **to)


def _other(script: Script) -> None:
    to = {"headers": headers("th-2"), "prompt_cache_key": "th-2"}
    start = [DEVELOPER, environment("2026-11-16"), said("Schau dir das Repository an.")]
    script.ask("other", start, "Da ist nicht viel zu sehen.", **to)
    script.ask(
        "other",
        [*start, answered("Da ist nicht viel zu sehen."), said("Und in util.py?")],
        "Zwei Helfer.",
        **to,
    )


def _client() -> Client:
    script = Script(
        "/v1/responses", {"user-agent": "codex_exec/0.166.0 (Debian)"}, {"stream": True, "store": False}
    )
    _session(script)
    _other(script)
    return Client(
        "codex",
        tuple(script.sent),
        {
            "code": (
                "Schau dir das Repository an.", "Ich sehe nach.", "Zwei Dateien, noch keine Tests.",
                "Fass zusammen.", "Und was fehlt?", "Eine Prüfung auf negative Mengen.",
                "Dann bau sie ein.", "Eingebaut, mit ValueError.",
            ),
            "other": (
                "Schau dir das Repository an.", "Da ist nicht viel zu sehen.",
                "Und in util.py?", "Zwei Helfer.",
            ),
        },
    )  # fmt: skip


CLIENT = _client()
