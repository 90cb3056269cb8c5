"""pydantic-ai: tool loops with parallel calls, a clock in the instructions, thinking spaced otherwise."""

from tests.clients.script import Client, Script, Wire, assistant, call, calling, system, tool, user

AGENT = {"user-agent": "pydantic-ai/2.66.0"}


def weather(call_id: str, city: str) -> Wire:
    return call(call_id, "get_weather", city=city)


def reading(call_id: str, city: str, at: str) -> Wire:
    return tool(call_id, f'{{"city":"{city}","temp_c":12.5,"at":"{at}"}}')


def _weather(script: Script) -> None:
    q1, a1 = "How is the weather in Kiel and Lübeck?", "Mild in both; take a light coat."
    both = (weather("call_k", "Kiel"), weather("call_l", "Lübeck"))
    script.ask("north", [system("It is 10:00:00."), user(q1)], calling("", *both))
    loop = [
        user(q1),
        assistant(None, *both),
        reading("call_k", "Kiel", "10:00:01"),
        reading("call_l", "Lübeck", "10:00:01"),
    ]
    script.ask("north", [system("It is 10:00:02."), *loop], a1)
    history = [*loop, assistant(a1), user("And Husum?")]
    third = weather("call_h", "Husum")
    script.ask("north", [system("It is 10:05:00."), *history], calling("One moment.", third))
    after = [*history, assistant("One moment.", third), reading("call_h", "Husum", "10:05:01")]
    script.ask("north", [system("It is 10:05:02."), *after], "Windy, as always in Husum.")
    edited = [*loop, assistant(a1), user("Only Bremen, please.")]
    script.ask("north", [system("It is 10:06:00."), *edited], "Bremen is grey today.", by_hand=True)
    # Only the last exchange of the first branch is kept.
    trimmed = [*after[-3:], assistant("Windy, as always in Husum."), user("And tomorrow?")]
    script.ask("north", [system("It is 10:07:00."), *trimmed], "More wind tomorrow.")


def _same_time(script: Script) -> None:
    """Two runs at once, with the same question and the same calls; only the ids differ."""
    q = "How is the weather in Kiel?"
    for run in ("left", "right"):
        script.ask(run, [user(q)], calling("", weather(f"call_{run}", "Kiel")))
    for run in ("right", "left"):
        loop = [
            user(q),
            assistant(None, weather(f"call_{run}", "Kiel")),
            reading(f"call_{run}", "Kiel", "11:00:00"),
        ]
        script.ask(run, loop, f"Fine, says the {run} station.")
    for run in ("left", "right"):
        loop = [
            user(q),
            assistant(None, weather(f"call_{run}", "Kiel")),
            reading(f"call_{run}", "Kiel", "11:00:00"),
        ]
        script.ask(
            run,
            [*loop, assistant(f"Fine, says the {run} station."), user(f"And {run} of it?")],
            f"Sunny {run}.",
        )


def _thinking(script: Script) -> None:
    thought = "<think>\nA list, then.\n</think>\n\nMonday, then Tuesday."
    respaced = "<think>\n\nA list, then.\n\n</think>\n\n\n\nMonday, then Tuesday."
    script.ask("days", [user("List two days.")], thought)
    script.ask(
        "days", [user("List two days."), assistant(respaced), user("Two more?")], "Wednesday, Thursday."
    )


def _client() -> Client:
    script = Script("/v1/chat/completions", AGENT, {"stream": False})
    _weather(script)
    _same_time(script)
    _thinking(script)
    return Client(
        "pydantic-ai",
        tuple(script.sent),
        {
            "north": (
                "How is the weather in Kiel and Lübeck?", "Mild in both; take a light coat.",
                "And Husum?", "One moment.", "Windy, as always in Husum.",
                "And tomorrow?", "More wind tomorrow.",
            ),
            "left": (
                "How is the weather in Kiel?", "Fine, says the left station.",
                "And left of it?", "Sunny left.",
            ),
            "right": (
                "How is the weather in Kiel?", "Fine, says the right station.",
                "And right of it?", "Sunny right.",
            ),
            "days": (
                "List two days.", "<think>\nA list, then.\n</think>\n\nMonday, then Tuesday.",
                "Two more?", "Wednesday, Thursday.",
            ),
        },
    )  # fmt: skip


CLIENT = _client()
