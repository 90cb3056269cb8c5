"""Continue's command line: no ids, errors that drop the question, requests that are nothing but a summary."""

from tests.clients.script import Client, Script, assistant, call, calling, system, tool, user

PROMPT = system("You are an agent in the Continue CLI.\n<env>Today's date: 2026-11-15</env>")
SUMMARISE = user(
    "Please provide a concise summary of our conversation so far, with key context and decisions. Format it "
    "as a single message. Make clear what was being worked on prior to compaction so that you can continue "
    "exactly where you left off."
)


def _session(script: Script) -> None:
    q1, a1 = "Look at the mill house plan.", "Three rooms and a water wheel."
    look = call("call_c1", "Read", filepath="plan.md")
    script.ask("mill", [PROMPT, user(q1)], calling("Reading the plan.", look))
    loop = [PROMPT, user(q1), assistant("Reading the plan.", look), tool("call_c1", "rooms: 3")]
    script.ask("mill", loop, a1)
    history = [*loop, assistant(a1)]
    # Refused, and the question is dropped as if it had never been asked.
    script.ask("mill", [*history, user("Summarise our findings.")], None)
    script.ask("mill", [*history, user("How old is the wheel?")], "About two hundred years.")
    history += [user("How old is the wheel?"), assistant("About two hundred years.")]
    summary = "We read the plan of the mill house: three rooms, a wheel two hundred years old."
    script.aside([*history, SUMMARISE], summary)
    # The summary, as an answer, is all that is sent.
    script.ask("mill", [PROMPT, assistant(summary)], "Shall I go on with the roof?")
    more = [PROMPT, assistant(summary), assistant("Shall I go on with the roof?"), user("Yes, the roof.")]
    script.ask("mill", more, "It has slate on the north side.")


def _tools_in_the_summary(script: Script) -> None:
    """Asked for a summary, the model calls a tool; what follows from that is not the conversation either."""
    q1, a1 = "Look at the mill house plan.", "A plan with many corrections."
    script.ask("corrections", [PROMPT, user(q1)], a1)
    again = call("call_c2", "Read", filepath="plan.md")
    history = [PROMPT, user(q1), assistant(a1)]
    script.ask(None, [*history, SUMMARISE], calling("I read it once more.", again))
    loop = [*history, assistant("I read it once more.", again), tool("call_c2", "rooms: 3")]
    script.aside(loop, "The plan has three rooms and many corrections in red ink.")
    summed = assistant("The plan has three rooms and many corrections in red ink.")
    script.ask("corrections", [PROMPT, summed, user("Who made them?")], "The miller, by the handwriting.")


def _client() -> Client:
    script = Script("/v1/chat/completions", {"user-agent": "ls/JS 5.23.2"}, {"stream": True})
    _session(script)
    _tools_in_the_summary(script)
    return Client(
        "continue",
        tuple(script.sent),
        {
            "mill": (
                "Look at the mill house plan.", "Reading the plan.", "Three rooms and a water wheel.",
                "How old is the wheel?", "About two hundred years.", "Shall I go on with the roof?",
                "Yes, the roof.", "It has slate on the north side.",
            ),
            "corrections": (
                "Look at the mill house plan.", "A plan with many corrections.",
                "Who made them?", "The miller, by the handwriting.",
            ),
        },
    )  # fmt: skip


CLIENT = _client()
