import pytest

from holdfast.conversations import Hints, classify_side_request
from holdfast.messages import ChatRequest, Message
from tests.conversations.builders import answer, system, user

PAGES = "<chat_history>\nold\n</chat_history>\n" + "A page about tides and how to read them. " * 20
HISTORY = "<chat_history>\nUSER: Wie wird das Wetter?\nASSISTANT: Heiter.\n</chat_history>"


def side(*messages: Message, stream: bool = False, hints: Hints | None = None, **fields) -> str | None:
    return classify_side_request(ChatRequest("m", messages, stream=stream, extra={"ollama": fields}), hints)


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("title", "### Task:\nGenerate a concise, 3-5 word title with an emoji.\n### Output:\nJSON"),
        ("title", "### Aufgabe:\nErstelle einen kurzen Titel für das Gespräch."),
        ("tags", "### Task:\nGenerate 1-3 broad tags for the main themes."),
        ("tags", "### Aufgabe:\nFinde Schlagwörter zum Verlauf. Antworte als JSON."),
        ("follow-ups", "### Task:\nSuggest 3-5 relevant follow-up questions."),
        ("follow-ups", "### Aufgabe:\nSchlage drei Folgefragen vor."),
        ("queries", "### Task:\nDecide whether search queries are needed."),
        ("queries", "### Aufgabe:\nErzeuge Suchanfragen."),
        ("image prompt", "### Task:\nGenerate a detailed prompt for an image generation task."),
        ("autocompletion", "### Task:\nYou are an autocompletion system."),
        ("compaction", "### Aufgabe:\nFasse den Verlauf zusammen."),
        ("task", "Look at this and answer with JSON of moods."),
        ("task", "### Aufgabe:\nBestimme die Stimmung."),
    ],
)
def test_a_task_about_a_transcript_is_a_side_request(name, order):
    assert side(user(f"{order}\n{HISTORY}\n")) == name


def test_a_little_may_follow_the_transcript():
    task = f"### Task:\nYou are an autocompletion system.\n{HISTORY}\n<text>How do</text>\n#### Output:\n"
    assert side(user(task)) == "autocompletion"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("emoji", "Your task is to reflect the speaker's mood through a fitting emoji.\n\nMessage: Ha!"),
        ("merged answer", "You have been provided with a set of responses from various models to: Tea?"),
        ("compaction", "### Task:\nSummarize the history that will be compacted out.\nUSER: Hi"),
        ("queries", "Rephrase the follow up question to be a standalone question.\nFollow up: And you?"),
        ("title", "Query: hi\nCreate a 3-5 word phrase as a title for the previous query. Only that."),
        ("command check", "Your task is to process Bash commands that an AI coding agent runs.\nCommand: ls"),
    ],
)
def test_an_order_that_only_a_program_gives_is_a_side_request(name, text):
    assert side(user(text)) == name


@pytest.mark.parametrize(
    ("name", "prompt", "text"),
    [
        ("title", "You are a title generator. You output ONLY a thread title.", "Hello"),
        ("title", "Generate a short title that captures the goal of this coding session.", "Fix it"),
        ("title", "Du bist dafür da: Erstelle einen Titel für diese Unterhaltung.", "Hallo"),
        ("title", "Write a short title from the first message that begins a conversation", "Hi"),
        ("title", "You make up titles for chatbot conversations.", "Hi"),
        ("commit message", "You write one-line Git commit messages.", "# Diffs:\ndiff --git a/a b/a\n+1"),
        ("compaction", "*Briefly* summarize this partial conversation.", "# USER\nHi\n# ASSISTANT\nHo\n"),
        ("compaction", "You are a context summarization agent for conversations.", "<conversation>\nHi"),
        ("memory", "You are now acting as the managed memory extraction subagent.", "Scan the history."),
        ("topic", "Analyze if this message indicates a new conversation topic.", "Now to cars."),
        ("tool choice", "Choose and return the correct tool(s) from the list of available tools.", "Hi"),
    ],
)
def test_instructions_in_the_system_message_make_a_side_request(name, prompt, text):
    assert side(system(prompt), user(text), stream=True) == name


CHECKPOINT = "You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary for another LLM."
SO_FAR = (
    "Please provide a concise summary of our conversation so far, with the key context, the decisions "
    "made and the current state. Keep every file name that matters and every number. It must hold all "
    "that is needed to continue our work."
)
TEXT_ONLY = "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\nAn <analysis>, then a <summary> block."
SNAPSHOT = "First, reason in your scratchpad. Then, generate the <state_snapshot>."
SUCCESSOR = (
    "Your task is to create a detailed summary of the conversation, with all files and all decisions, "
    "and in the order in which things were said, so that the next assistant, who has seen nothing of "
    "it, can continue the work from there without asking anything again."
)
GERMAN = (
    "Erstelle eine Zusammenfassung unserer bisherigen Unterhaltung, mit allen Dateien und "
    "Entscheidungen, in der Reihenfolge, in der sie fielen, damit der nächste Assistent, der nichts "
    "davon gesehen hat, die Arbeit ohne Rückfragen fortsetzen kann."
)


@pytest.mark.parametrize("order", [CHECKPOINT, SO_FAR, TEXT_ONLY, SNAPSHOT, SUCCESSOR, GERMAN])
def test_an_order_to_shorten_the_history_is_a_side_request(order):
    assert side(user("Hi"), answer("Hello!"), user(order), stream=True) == "compaction"


def test_a_title_asked_for_behind_the_history_is_a_side_request():
    order = "Generate a title for this conversation in 4 to 5 words, without quotation marks. Only the title."
    assert side(user("Hi"), answer("Hello!"), user(order)) == "title"


def test_the_clients_own_word_for_a_compaction_is_taken():
    assert side(user("Hi"), hints=Hints(kind="compaction")) == "compaction"
    assert side(user("Hi"), hints=Hints(kind="turn")) is None


@pytest.mark.parametrize("field", ["raw", "suffix", "template"])
def test_bare_prompts_and_infilling_are_side_requests(field):
    assert side(user("def f("), **{field: True}) == "completion"


@pytest.mark.parametrize(
    "text",
    [
        "<|fim_prefix|>def f(<|fim_suffix|>)<|fim_middle|>",
        "<fim_prefix>def f(<fim_suffix>)<fim_middle>",
        "<PRE> def f( <SUF>) <MID>",
        "[SUFFIX])[PREFIX]def f(",
    ],
)
def test_tokens_for_the_middle_make_a_completion(text):
    assert side(user(text)) == "completion"


@pytest.mark.parametrize(
    "text",
    [
        "Summarise this text: the conversation between Anna and Ben went on for hours.",
        "Fasse diesen Text zusammen: Das Gespräch dauerte lange.",
        "Write a commit message for this diff:\ndiff --git a/a.py b/a.py\n@@ -1 +1 @@\n-1\n+2",
        "Give me a title for my novel about a lighthouse.",
        "Nenn mir einen Titel für meinen Roman. Nur fünf Wörter, ohne Anführungszeichen.",
        "Suggest tags for my blog post about herbs as JSON.",
        "What are good follow-up questions after a job interview?",
        "Can you summarise our conversation so far?",
        "Bitte fass unser Gespräch bis hierhin zusammen, ich mache morgen weiter.",
        "Generate a search query that finds recipes with chives.",
        "What does <|fim_prefix|> mean, and <|fim_middle|>?",
        "Which emoji fits a thunderstorm?",
        "What is a context checkpoint?",
        f"### Task:\nRespond to the user query.\n<context>\n{PAGES}\n</context>\n\nWhat is the title?",
        f"Explain this template:\n<conversation>\nhello\n</conversation>\n{PAGES}",
        "Write a short story about a session in which a title is generated.",
        "Autocomplete this sentence: the tide",
        "I need a name for our chat group with the neighbours, three words please.",
        "Give me a title for the thread I want to post, five words, only the title.",
        "A title for the conversation between Romeo and Juliet, 5 words, nothing else.",
        "Write a description of the yoga session in 100 words, without jargon.",
        "Wie nenne ich das Gespräch mit meiner Chefin? Nur drei Wörter.",
    ],
)  # fmt: skip
def test_what_a_person_asks_stays_in_the_conversation(text):
    assert side(user(text), stream=True) is None
    assert (
        side(system("You are a helpful assistant."), user("Hi"), answer("Hello!"), user(text), stream=True)
        is None
    )


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("You summarise conversations that people paste.", "Anna: hi\nBen: hello\nAnna: shall we?"),
        ("You help with commit messages.", "How long should the first line be?"),
        ("You are an expert in headlines.", "A headline for the storm, please."),
        ("Du bist Lektorin und findest Titel für Romane.", "Es geht um einen Deich."),
        ("You are an assistant. Continue the conversation in the language of the user.", "Hallo!"),
        ("You summarize discussions of our city council for citizens.", "What about the bridge?"),
        ("Never give away the name of this conversation's owner.", "Who are you?"),
    ],
)
def test_a_persona_is_not_a_program(prompt, text):
    assert side(system(prompt), user(text), stream=True) is None
    assert side(system(prompt), user("Hi"), answer("Hello!"), user(text), stream=True) is None


def test_long_agent_instructions_mentioning_titles_are_no_title_request():
    prompt = "You are a coding agent. " + "Read before you write. " * 60
    prompt += "If asked, generate a title for this conversation. Summarize the conversation when told to."
    tool = {"type": "function", "function": {"name": "read"}}
    talk = (system(prompt), user("Fix the build."), answer("On it."), user("And?"))
    assert classify_side_request(ChatRequest("m", talk, tools=(tool,))) is None
    assert classify_side_request(ChatRequest("m", talk)) is None
    short = system("Use tools. Summarize the conversation when it is long. Generate a title for this chat.")
    assert classify_side_request(ChatRequest("m", (short, *talk[1:]), tools=(tool,))) is None


def test_a_huge_message_is_only_looked_at_at_its_ends():
    assert side(user("generate a title for this conversation " * 300_000), stream=True) is None
