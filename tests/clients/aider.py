"""aider: no request is the beginning of the next; files and maps rewritten, reminders that vanish."""

from tests.clients.script import Client, Script, Wire, assistant, system, user

EXAMPLES = [
    user("Change area() to use math.pi"),
    assistant("Only `shapes.py`:\n\nshapes.py\n```\n<<<<<<< SEARCH\n3.14\n=======\npi\n>>>>>>> REPLACE\n```"),
    user("We are in another code base now. Forget the files above."),
    assistant("Ok."),
]  # fmt: skip
PROMPT = "Act as an expert software developer.\nAnswer with *SEARCH/REPLACE blocks*."
REMINDER = (
    "\n\n# *SEARCH/REPLACE block* Rules:\n\nEvery block needs the full path alone on a line.\n- Be exact.\n"
)
COMMITTER = "You are an expert engineer that writes one-line Git commit messages for the diffs you are given."
SUMMARISER = "*Briefly* summarize this partial conversation about programming. Less about old parts."


def repo_map(*names: str) -> list[Wire]:
    listing = "Here are summaries of some files in my git repository:\n\n" + "\n".join(names)
    return [user(listing), assistant("Ok, I won't edit those files without asking first.")]


def files(**contents: str) -> list[Wire]:
    text = "\n\n".join(f"{name}.py\n```\n{body}\n```" for name, body in contents.items())
    held = f"I have *added these files to the chat*. Trust this as their true contents.\n\n{text}"
    return [user(held), assistant("Ok, any changes I propose will be to those files.")]


def committed(change: str) -> list[Wire]:
    return [
        user(f"I committed the changes with git hash {change} & commit msg: feat: greet"),
        assistant("Ok."),
    ]


def question(text: str) -> Wire:
    return user(text + REMINDER)


def _session(script: Script) -> None:
    start = [system(PROMPT), *EXAMPLES]
    q1, a1 = "Was macht dieser Code?", "Er grüßt und zählt zwei Zahlen zusammen."
    q2, a2 = (
        "add a docstring to greet",
        "Adding it.\n\napp.py\n```\n<<<<<<< SEARCH\ndef greet():\n>>>>>>> REPLACE\n```\n",
    )
    q3, a3 = (
        "Write a shout function",
        "Into util.py.\n\nutil.py\n```\n<<<<<<< SEARCH\n=======\ndef shout(s):\n>>>>>>> REPLACE\n```\n",
    )
    before, after = files(app="def greet(): ..."), files(app='def greet():\n    """Hi."""')
    script.ask("work", [*start, *repo_map("util.py"), *before, question(q1)], a1)
    done = [user(q1), assistant(a1)]
    script.ask("work", [*start, *repo_map("util.py"), *before, *done, question(q2)], a2)
    diff = f'USER: {q1}\n\nASSISTANT: {a1}\n\n# Diffs:\ndiff --git a/app.py b/app.py\n+    """Hi."""\n'
    script.aside([system(COMMITTER), user(diff)], "feat: greet", stream=False)
    done += [user(q2), assistant(a2.strip()), *committed("a1b2c3")]
    script.ask("work", [*start, *repo_map("README.md"), *done, *after, question(q3)], a3)
    done += [user(q3), assistant(a3.strip()), *committed("d4e5f6")]
    # In another mode the examples are gone and the wrapping is different.
    asked = user("Is greet used anywhere?\n\nReply in English.\n")
    mode = [system("Act as a code analyst."), *repo_map("README.md", "util.py"), *done, *after, asked]
    script.ask("work", mode, "Only in the main block of app.py.")
    done += [user("Is greet used anywhere?"), assistant("Only in the main block of app.py.")]
    text = f"# USER\n{q1}\n# ASSISTANT\n{a1}\n"
    script.aside(
        [system(SUMMARISER), user(text)], "I asked you about the code and you explained it.", stream=False
    )
    script.ask(
        "work",
        [*start, *repo_map("README.md"), *done, *after, question("Danke!")],
        "Gern geschehen, jederzeit.",
    )


def _another(script: Script) -> None:
    """Another process in the same folder, with the same first question."""
    start = [system(PROMPT), *EXAMPLES, *repo_map("util.py"), *files(app="def greet(): ...")]
    q1, a1 = "Was macht dieser Code?", "Eine kleine Vorführung mit einer Funktion."
    script.ask("again", [*start, question(q1)], a1)
    changed = [*EXAMPLES, *repo_map("util.py"), *files(app="def greet(): pass  # by hand")]
    then = [system(PROMPT), *changed, user(q1), assistant(a1), question("Und jetzt?")]
    script.ask("again", then, "Jetzt tut sie nichts mehr.")


def _client() -> Client:
    script = Script("/v1/chat/completions", {"user-agent": "OpenAI/Python 2.20.0"}, {"stream": True})
    _session(script)
    _another(script)
    return Client(
        "aider",
        tuple(script.sent),
        {
            "work": (
                "Was macht dieser Code?", "Er grüßt und zählt zwei Zahlen zusammen.",
                "add a docstring to greet", "Adding it.",
                "Write a shout function", "Into util.py.",
                "Is greet used anywhere?", "Only in the main block of app.py.",
                "Danke!", "Gern geschehen, jederzeit.",
            ),
            "again": (
                "Was macht dieser Code?", "Eine kleine Vorführung mit einer Funktion.",
                "Und jetzt?", "Jetzt tut sie nichts mehr.",
            ),
        },
    )  # fmt: skip


CLIENT = _client()
