"""What the window left out comes back when the talk returns to it, and only then."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.conversations.passages import passage
from holdfast.conversations.recall import Snippet, bring_back
from holdfast.language import banner
from holdfast.messages import Message, Text, ToolCall, ToolResult
from holdfast.store import NewMessage
from tests.conversations.kept import answer, user

FILLER = (
    "We could paint the fence green or blue, both look friendly.",
    "My sister bakes bread on Sundays with her neighbours.",
    "Die Katze schläft gern auf dem Sofa in der Sonne.",
    "The train was late again because of snow on the tracks.",
    "Ein Spaziergang am Fluss tut nach der Arbeit gut.",
    "Learning the piano takes patience and a good teacher.",
)


def tokens(text: str) -> int:
    return len(text.split())


class Past:
    """A conversation of which only the last few messages are in the window."""

    def __init__(self, talk, *messages: Message, window: int = 4) -> None:
        self.store = talk.store
        filler = [user(FILLER[number % len(FILLER)] + f" Day {number}.") for number in range(30)]
        new = [NewMessage(message) for message in (*messages, *filler)]
        self.conversation = self.store.log.create(talk.scope)
        self.kept = self.store.log.append(self.conversation.id, new, parent=None, expect=None)
        self.within = {message.id for message in self.kept[-window:]}

    def asked(self, question: str, *, room: int = 200, **options) -> list[Snippet]:
        fields = {"head": self.kept[-1].id, "within": self.within, **options}
        return bring_back(
            self.store, self.conversation.tree, user(question), room=room, count=tokens, **fields
        )


@pytest.fixture
def past(talk):
    return Past(
        talk,
        user("Remember: the wifi password of the cabin is Tr0ub4dor, the owner is Mrs Halloran."),
        answer("I will."),
        user("The crash happens in src/engine/valve.py with error E4711 when the pressure is above 20 bar."),
        answer("Look at the relief valve then."),
        user("Wir haben uns bei der Datenbank für PostgreSQL 16 entschieden, weil Anna es kennt."),
        answer("Verstanden."),
    )


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("What was the wifi password again?", "Tr0ub4dor"),
        ("Who owns the cabin?", "Halloran"),
        ("Back to valve.py please", "src/engine/valve.py"),
        ("I see E4711 once more", "E4711"),
        ("Welche Datenbank hatten wir gewählt?", "PostgreSQL 16"),
        ("Wie war das mit der Datenbankentscheidung?", "PostgreSQL 16"),
    ],
)
def test_what_is_pointed_at_comes_back(past, question, quoted):
    snippets = past.asked(question)
    assert quoted in snippets[0].text


def test_a_quote_says_what_it_is_and_why_it_came(past):
    quote = past.asked("What was the wifi password?")[0]
    stored = past.kept[0]
    assert (quote.message, quote.role, quote.at) == (stored.id, "user", stored.created_at)
    assert set(quote.why.split(", ")) == {"wifi", "password"}


@pytest.mark.parametrize(
    "text",
    [
        "Thanks!",
        "thank you so much, that was great",
        "go on",
        "ok",
        "yes please",
        "Can you explain that in more detail?",
        "make it shorter",
        "What do you mean?",
        "Danke, das hat super geklappt",
        "mach bitte weiter",
        "Kannst du das noch einmal anders erklären?",
        "Warum?",
        "hello",
        "",
        "🙂",
        "???",
    ],
)
def test_small_talk_brings_nothing_back(past, text):
    assert past.asked(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Our owner has 20 bars of soap now.",
        "Mrs Smith has a cabin by the lake.",
        "The crash of the market came at 20 past four.",
        "Anna hat 16 Stühle und ein Fahrrad aus Bremen bestellt.",
    ],
)
def test_news_that_share_a_word_with_what_was_said_bring_nothing_back(past, text):
    assert past.asked(text) == []


@pytest.mark.parametrize(
    ("text", "quoted"),
    [("The wifi password of the cabin changed.", "Tr0ub4dor"), ("E4711 came up in the new build.", "E4711")],
)
def test_news_about_a_thing_bring_back_what_was_said_of_it(past, text, quoted):
    assert quoted in past.asked(text)[0].text


LOG = [f"2026-02-11 02:{at:02}:52 INFO box {at}: {at + 180} pages, ok" for at in range(1, 60)]
LOG[16] = "2026-02-11 02:17:52 ERROR box 17: feeder jammed, error E-4471, 112 pages lost"
JAMMED = "What was the error when the feeder jammed at box 17?"


def test_one_line_of_a_long_paste_that_has_it_all_comes_before_short_messages_with_a_word_of_it(talk):
    said = [user("Here is the log of the night:\n" + "\n".join(LOG))]
    said += [
        user("Jonas cleaned the feeder."),
        user("Put the jammed drawer into a box."),
        answer("An error?"),
    ]
    quote = Past(talk, *said).asked(JAMMED)[0]
    assert quote.text == LOG[16], "and without the lines around it"
    assert quote.share == 1.0


def test_a_question_is_not_quoted_where_something_else_answers(talk):
    said = [
        user("At which box did we have the error E-4471?"),
        answer("The feeder jammed at box 17, by error."),
    ]
    assert [quote.text for quote in Past(talk, *said).asked(JAMMED)] == [said[1].text]


def test_what_was_never_said_brings_nothing_back(past):
    assert past.asked("What is the capital of Mongolia?") == []


def test_a_question_that_is_mostly_about_something_else_brings_nothing_back(past):
    assert past.asked("Which passwords did the Bulgarian embassy issue for visas in Nairobi?") == []


def test_what_is_in_the_window_is_not_quoted(past):
    past.within = {message.id for message in past.kept}
    assert past.asked("What was the wifi password?") == []


def test_a_question_the_window_answers_better_brings_nothing_back(talk):
    past = Past(talk, user("Someone spoke of a password for some wifi in passing while we talked of the sea"))
    better = [NewMessage(user("The wifi password is swordfish"))]
    (newest,) = past.store.log.append(
        past.conversation.id, better, parent=past.kept[-1].id, expect=past.kept[-1].id
    )
    inside = {"head": newest.id, "within": {newest.id}}
    assert past.asked("What is the wifi password?", **inside) == []
    assert past.asked("What is the wifi password?", **{**inside, "within": set()}) != []


@pytest.mark.parametrize(
    ("question", "answered"),
    [("What was the wifi password?", True), ("What is the capital of Mongolia?", False)],
)
def test_a_question_that_is_in_the_log_already_is_not_its_own_answer(past, question, answered):
    end = past.kept[-1].id
    (newest,) = past.store.log.append(
        past.conversation.id, [NewMessage(user(question))], parent=end, expect=end
    )
    quotes = past.asked(question, head=newest.id, within={*past.within, newest.id})
    assert [quote.message for quote in quotes] == ([past.kept[0].id] if answered else [])


def test_an_abandoned_branch_is_not_quoted(talk):
    past = Past(talk, user("apples"))
    log, root = past.store.log, past.kept[0]
    (gone,) = log.append(
        past.conversation.id, [NewMessage(user("The wifi password is swordfish"))], parent=root.id,
        expect=past.kept[-1].id,
    )  # fmt: skip
    assert past.asked("What is the wifi password?") == []
    assert past.asked("What is the wifi password?", head=gone.id) != []


def test_the_same_question_asked_before_is_no_answer(talk):
    past = Past(talk, user("What is the wifi password?"), answer("The wifi password is swordfish, I think."))
    assert [quote.text for quote in past.asked("What is the wifi password?")] == [
        "The wifi password is swordfish, I think."
    ]


def test_of_a_long_message_the_sentence_that_answers_comes_back(talk):
    long = " ".join(FILLER * 20) + " The wifi password is swordfish. " + " ".join(FILLER * 20)
    (quote, *_) = Past(talk, user(long)).asked("What is the wifi password?", room=60)
    assert "The wifi password is swordfish." in quote.text
    assert tokens(quote.text) <= 60


def test_of_a_block_of_code_the_lines_that_matter_come_back_in_their_fence(talk):
    code = "\n".join([*(f"line_{number} = {number}" for number in range(200)), "max_pressure = 42"])
    past = Past(talk, answer(f"Here it is:\n```python\n{code}\nlast = 1\n```\nDone."))
    (quote, *_) = past.asked("what is max_pressure set to?", room=40)
    assert "max_pressure = 42" in quote.text
    assert quote.text.startswith("```python")
    assert quote.text.endswith("```")
    assert tokens(quote.text) <= 40


def test_tool_calls_and_results_come_back(talk):
    call = ToolCall("read", '{"path": "config/valve.toml"}', "1")
    result = Message("tool", (ToolResult((Text("relief_pressure = 17"),), call_id="1"),))
    snippets = Past(talk, answer("", call), result).asked("What is relief_pressure in valve.toml?")
    assert any("relief_pressure = 17" in quote.text for quote in snippets)


def test_all_quotes_together_stay_within_the_room_and_the_limit(talk):
    chance = random.Random(3)
    said = [
        user(f"The wifi password number {n} is {chance.getrandbits(40):x}. " + FILLER[n % 6])
        for n in range(20)
    ]
    past = Past(talk, *said)
    for room in (0, 1, 5, 20, 60, 400):
        for limit in (1, 3):
            snippets = past.asked("Which wifi password did I use?", room=room, limit=limit)
            assert len(snippets) <= limit
            assert sum(tokens(quote.text) for quote in snippets) <= room
    assert len(past.asked("Which wifi password did I use?", room=400)) == 3


def test_the_same_question_brings_back_the_same(past):
    assert past.asked("What was the wifi password?") == past.asked("What was the wifi password?")


@pytest.mark.parametrize(
    "before",
    [
        "Where is the zebra factory?",
        "where is the zebra factory in Quakenbrück",
        "Where is the zebra factory in Quakenbrück? Where?",
        "Can you tell me where the zebra factory in Quakenbrück is, please?",
    ],
)
def test_a_question_that_asks_the_same_is_not_quoted(talk, before):
    past = Past(talk, user(before), answer("The zebra factory lies behind the station."))
    quotes = past.asked("Where is the zebra factory in Quakenbrück")
    assert [quote.text for quote in quotes] == ["The zebra factory lies behind the station."]


@pytest.mark.parametrize(
    ("before", "question"),
    [
        ("Anna paid the rent to Bob.", "Did Bob pay the rent to Anna?"),
        ("Is port 8080 of the printer open?", "Which port of the printer was open?"),
        ("The zebra factory moved. Where is it?", "Where is the zebra factory?"),
    ],
)
def test_what_says_more_than_the_question_is_quoted(talk, before, question):
    assert [quote.text for quote in Past(talk, user(before)).asked(question)] == [before]


def test_a_question_in_the_window_is_no_answer_to_itself(talk):
    asked = [user("What is in vault_11.cfg, please?"), user("What is in vault_11.cfg again?")]
    past = Past(talk, user("The key of alpha is in vault_11.cfg, under the name zz."), *asked)
    past.within |= {message.id for message in past.kept[1:3]}
    assert [quote.message for quote in past.asked("What is in vault_11.cfg?")] == [past.kept[0].id]


def test_what_we_told_people_in_an_answer_is_neither_found_nor_quoted(talk):
    told = banner("the model thought until its limit; this answer is without thinking")
    past = Past(talk, answer(f"{told}\n\nThe zebra factory lies in Quakenbrück."))
    quotes = past.asked("Where was the zebra factory?")
    assert [quote.text for quote in quotes] == ["The zebra factory lies in Quakenbrück."]
    assert past.asked("What was it that Holdfast said about the limit of thinking?") == []


def test_what_was_deleted_is_not_quoted(talk):
    past = Past(talk, user("The wifi password is swordfish"))
    assert past.asked("wifi password?") != []
    past.store.log.delete(past.conversation.id)
    assert past.asked("wifi password?") == []


def test_a_question_as_long_as_a_book_does_no_harm(past):
    book = "valve.py " + " ".join(f"word{number}" for number in range(20_000))
    assert "valve.py" in past.asked(book)[0].text


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([*FILLER, "```\nx = 1\n\ny = 2\n```", "- item", "word " * 80, "\n", "end."])),
    st.integers(0, 40),
)
def test_a_passage_never_takes_more_room_than_there_is(pieces, room):
    text = "\n".join(pieces)
    assert tokens(passage(text, {"pian": 2.0, "fenc": 1.0, "x": 1.0}, room, tokens)) <= room
