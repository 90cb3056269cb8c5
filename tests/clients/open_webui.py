"""Open WebUI: tasks beside every chat, pages around the newest question, branches, chats that are not kept.

It sends the chat's id only where its administrator switched that on; so the same traffic is here twice.
"""

from dataclasses import replace

from tests.clients.script import Client, Message, Script, Wire, assistant, call, calling, system, tool, user

AGENT = {"user-agent": "Python/3.11 aiohttp/3.13.2", "x-openwebui-user-id": "u-17"}


def chat_id(name: str) -> dict[str, str]:
    return {"x-openwebui-chat-id": name}


def task(order: str, history: list[Wire], shape: str) -> list[Wire]:
    text = "\n".join(f"{message['role'].upper()}: {message['content']}" for message in history)
    guide = "### Guidelines:\n- Use the chat's language.\n- Answer in JSON.\n### Output:\n"
    return [
        user(
            f"### Task:\n{order}\n{guide}{shape}\n### Chat History:\n<chat_history>\n{text}\n</chat_history>"
        )
    ]


def tasks(script: Script, chat: str, history: list[Wire]) -> None:
    """What it asks for itself after an answer."""
    for order, shape, answer in (
        (
            "Suggest 3-5 follow-up questions the user might ask next.",
            '{"follow_ups": []}',
            '{"follow_ups": []}',
        ),
        ("Generate a concise title of 3-5 words with an emoji.", '{"title": ""}', '{"title": "🌿 Kräuter"}'),
        ("Generate 1-3 broad tags for the themes of the chat.", '{"tags": []}', '{"tags": ["Garten"]}'),
    ):
        script.aside(task(order, history, shape), answer, stream=False, headers=chat_id(chat))


def page(question: str) -> Wire:
    """A question as it goes out when a file is attached: inside a template, with what the file says."""
    text = "\n".join(
        f'<source id="{n}">Kapitel {n}: Schnittlauch treibt im März aus.</source>' for n in (1, 2)
    )
    order = "### Task:\nRespond to the user query using the provided context, with citations like [1].\n"
    return user(f"{order}\n<context>\n{text}\n</context>\n\n{question}")


def herbs(script: Script) -> None:
    """A chat with everything: thinking, an answer wanted again, an edit, and an answer that goes on."""
    to = {"headers": chat_id("c-herbs")}
    q1, a1 = "Welche Kräuter wachsen auf einer Fensterbank?", "Basilikum und Minze gedeihen dort gut."
    q2, thought = (
        "Wie oft soll ich gießen?",
        "<think>\nDer Boden zählt.\n</think>\n\nWenn die Erde trocken ist.",
    )
    q3, a3 = "Und im Winter?", "\n\n  Halb so viel.\n- morgens\n- abends nie\n\n"
    script.ask("herbs", [user(q1)], a1, **to)
    tasks(script, "c-herbs", [user(q1), assistant(a1)])
    script.ask("herbs", [user(q1), assistant(a1), user(q2)], thought, **to)
    # Thinking comes back as an empty line, white space is trimmed.
    then = [user(q1), assistant(a1), user(q2), assistant("\nWenn die Erde trocken ist.")]
    script.ask("herbs", [*then, user(q3)], a3, **to)
    then += [user(q3), assistant("Halb so viel.\n- morgens\n- abends nie")]
    script.ask("herbs", [*then, user("Danke. Und Petersilie?")], "Sie braucht drei Wochen zum Keimen.", **to)
    script.ask(
        "herbs", [*then, user("Danke. Und Petersilie?")], "Petersilie keimt langsam.", by_hand=True, **to
    )
    branch = [user(q1), assistant(a1), user("Wie viel Licht brauchen sie?")]
    script.ask("herbs", branch, "Sechs Stunden am Tag sind gut.", by_hand=True, **to)
    branch.append(assistant("Sechs Stunden am Tag sind gut."))
    script.ask("herbs", branch, "An der Nordseite hilft eine Lampe.", **to)
    glued = "Sechs Stunden am Tag sind gut.An der Nordseite hilft eine Lampe."
    last = [*branch[:-1], assistant(glued), user("Welche Lampe?")]
    script.ask("herbs", last, "Eine mit vollem Spektrum.", **to)


def almanac(script: Script) -> None:
    """A file in the chat: the newest question is wrapped in pages, and bare again on the next turn."""
    to = {"headers": chat_id("c-almanac")}
    q1, a1 = "What does the almanac say about chives?", "They come up in March [1]."
    q2, a2 = "And about sage?", "Sage wants sun and dry soil [2]."
    search = task("Analyze the chat history for necessary search queries.", [user(q1)], '{"queries": []}')
    script.aside(search, '{"queries": ["chives"]}', stream=False, **to)
    script.ask("almanac", [page(q1)], a1, **to)
    tasks(script, "c-almanac", [user(q1), assistant(a1)])
    script.ask("almanac", [user(q1), assistant(a1), page(q2)], a2, **to)
    history = [user(q1), assistant(a1), user(q2), assistant(a2)]
    script.ask("almanac", [*history, page("When is it cut?")], "In June, before it flowers [1].", **to)


def clock(script: Script) -> None:
    """Tools, with text beside the calls that does not come back, and a clock in the system prompt."""
    to = {"headers": chat_id("c-clock")}
    first = call("call_1", "get_time", zone="UTC")
    # Ollama's clients have arguments as objects.
    back = {"function": {"name": "get_time", "arguments": {"zone": "UTC"}}, "id": "call_1", "index": 0}
    text: Message = calling("Let me look at the clock.", first)
    start = [system("Now is 09:00:01."), user("What time is it?")]
    script.ask("clock", start, text, **to)
    loop = [assistant("", back), tool("call_1", "09:00")]
    script.ask("clock", [system("Now is 09:00:03."), user("What time is it?"), *loop], "Nine sharp.", **to)
    later = [system("Now is 09:00:20."), user("What time is it?"), *loop, assistant("Nine sharp.")]
    script.ask("clock", [*later, user("Is that early?")], "For a Sunday it is.", **to)


def the_rest(script: Script) -> None:
    """A new chat with the old first words, and chats that are not kept, which share one id."""
    q1 = "Welche Kräuter wachsen auf einer Fensterbank?"
    to = {"headers": chat_id("c-again")}
    script.ask("again", [user(q1)], "Thymian verzeiht am meisten.", **to)
    script.ask(
        "again", [user(q1), assistant("Thymian verzeiht am meisten."), user("Wie oft soll ich gießen?")],
        "Selten.", **to,
    )  # fmt: skip
    hidden = {"headers": chat_id("local:Zk3")}
    script.ask("secret", [user("A secret about roses?")], "They like coffee grounds.", **hidden)
    script.ask("boats", [user("A word about boats?")], "Keep the water outside.", **hidden)
    secret = [user("A secret about roses?"), assistant("They like coffee grounds."), user("And tulips?")]
    script.ask("secret", secret, "Plant them deep.", **hidden)


def shortened(script: Script) -> None:
    """Its own compaction: a summary in the system message and the newest question, nothing else."""
    to = {"headers": chat_id("c-long")}
    script.ask("long", [user("Tell me all about basil.")], "Basil is a summer herb. It hates the cold.", **to)
    order = (
        "### Task:\nSummarize the conversation history that will be compacted out of the chat context.\n\n"
    )
    text = f"{order}### History:\nUSER: Tell me all about basil.\n\n### Current Message:\nUSER: And mint."
    script.aside(
        [user(text)], "The user asked about basil, a summer herb that hates cold.", stream=False, **to
    )
    note = system("[CONVERSATION SUMMARY]\nThe user asked about basil, a summer herb that hates cold.")
    script.ask("long", [note, user("And all about mint.")], "Mint takes over the garden.", **to)


def loose_tasks(script: Script) -> None:
    """Side requests outside of any chat."""
    script.aside(
        [user("Your task is to reflect the speaker's mood through a fitting emoji.\n\nMessage: ```Ha!```")],
        "😄", stream=False,
    )  # fmt: skip
    script.aside(
        [user("### Task:\nYou are an autocompletion system. Continue the text in `<text>`.\n"
              "<chat_history>\n\n</chat_history>\n<type>general</type>\n<text>How</text>\n#### Output:\n")],
        '{"text": " prune sage?"}', stream=False,
    )  # fmt: skip


SEEN = {
    "herbs": (
        "Welche Kräuter wachsen auf einer Fensterbank?", "Basilikum und Minze gedeihen dort gut.",
        "Wie viel Licht brauchen sie?", "Sechs Stunden am Tag sind gut.",
        "An der Nordseite hilft eine Lampe.", "Welche Lampe?", "Eine mit vollem Spektrum.",
    ),
    "almanac": (
        "What does the almanac say about chives?", "They come up in March [1].",
        "And about sage?", "Sage wants sun and dry soil [2].",
        "When is it cut?", "In June, before it flowers [1].",
    ),
    "clock": (
        "What time is it?", "Let me look at the clock.", "Nine sharp.",
        "Is that early?", "For a Sunday it is.",
    ),
    "again": (
        "Welche Kräuter wachsen auf einer Fensterbank?", "Thymian verzeiht am meisten.",
        "Wie oft soll ich gießen?", "Selten.",
    ),
    "secret": ("A secret about roses?", "They like coffee grounds.", "And tulips?", "Plant them deep."),
    "boats": ("A word about boats?", "Keep the water outside."),
    "long": (
        "Tell me all about basil.", "Basil is a summer herb. It hates the cold.",
        "And all about mint.", "Mint takes over the garden.",
    ),
}  # fmt: skip


def _with_ids() -> Client:
    script = Script("/api/chat", AGENT, {"stream": True})
    for part in (herbs, almanac, clock, the_rest, shortened, loose_tasks):
        part(script)
    return Client("open-webui", tuple(script.sent), SEEN)


def _without_ids() -> Client:
    """Nothing ties a summary to its chat then, so that part is left out."""
    script = Script("/api/chat", AGENT, {"stream": True})
    for part in (herbs, almanac, clock, the_rest, loose_tasks):
        part(script)
    bare = tuple(replace(sent, headers={"user-agent": AGENT["user-agent"]}) for sent in script.sent)
    return Client("open-webui without ids", bare, {name: SEEN[name] for name in SEEN if name != "long"})


WITH_IDS = _with_ids()
WITHOUT_IDS = _without_ids()
