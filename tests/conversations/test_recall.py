"""What the window left out comes back when the talk returns to it, and only then."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.conversations.search import best_passage
from holdfast.i18n import banner
from holdfast.messages import Message, Text, ToolCall, ToolResult
from holdfast.recall import Evidence, Need, Snippet, recall_over
from holdfast.store import NewMessage
from tests.conversations.builders import answer, user

# Words that nothing else has.
LETTERS = [first + second + "xo" for first in "bcdfghjklmnprstvw" for second in "aeiouäöüy"]
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

    def look_up(self, question: str, *, room: int = 200, share: int | None = None, **options) -> Evidence:
        fields = {"head": self.kept[-1].id, "present": self.within, **options}
        need = Need(
            question,
            self.conversation.scope,
            self.conversation.tree,
            conversation=self.conversation.id,
            remembers=False,
            **fields,
        )
        return recall_over(self.store, None).bring(need, room, tokens, share)

    def asked(self, question: str, **options) -> list[Snippet]:
        """What is brought, the likeliest first."""
        snippets = self.look_up(question, **options).snippets
        return sorted(snippets, key=lambda snippet: -snippet.score)


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


def test_a_snippet_says_what_it_is_and_what_speaks_for_it(past):
    snippet = past.asked("What was the wifi password?")[0]
    stored = past.kept[0]
    assert (snippet.id, snippet.role, snippet.at) == (stored.id, "user", stored.created_at)
    assert (snippet.origin, snippet.whole) == ("here", True)
    assert snippet.parts["words"] > 0
    report = past.look_up("What was the wifi password?").to_json()
    assert report["searched"] == ["What was the wifi password?"]
    assert report["brought"][0]["id"] == stored.id
    assert 0 < report["likely"] <= 1


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
def test_news_sharing_a_word_brings_at_most_one_snippet(past, text):
    assert len(past.asked(text)) <= 1


def test_news_that_resemble_much_of_the_talk_bring_nothing(talk):
    past = Past(
        talk,
        user("Thanks, Mel! Your kind words about my painting mean so much to me."),
        user("We painted the lake at sunset, Mel, and your kind words about it mean a lot to us."),
        user("My family loves the lake at sunset, and so do I."),
        user("I am so thankful for the kind words of my family about our painting."),
        user("Our painting of the sunset over the lake hangs in my kitchen, Mel."),
    )
    news = "Thanks, Mel! My family painted our lake at sunset again, and your kind words mean so much to us."
    assert past.asked(news) == []
    assert past.asked(f"{news} Where does our painting hang?") != []


LOG = [f"2026-02-11 02:{at:02}:52 INFO box {at}: {at + 180} pages, ok" for at in range(1, 60)]
LOG[16] = "2026-02-11 02:17:52 ERROR box 17: feeder jammed, error E-4471, 112 pages lost"
JAMMED = "What was the error when the feeder jammed at box 17?"


def test_complete_line_in_long_paste_outranks_partial_short_messages(talk):
    text = [user("Here is the log of the night:\n" + "\n".join(LOG))]
    text += [
        user("Jonas cleaned the feeder."),
        user("Put the jammed drawer into a box."),
        answer("An error?"),
    ]
    snippet = Past(talk, *text).asked(JAMMED, room=400)[0]
    assert LOG[16] in snippet.text
    assert not snippet.whole


def test_a_question_is_not_quoted_where_something_else_answers(talk):
    text = [
        user("At which box did we have the error E-4471?"),
        answer("The feeder jammed at box 17, by error."),
    ]
    assert Past(talk, *text).asked(JAMMED)[0].text == text[1].text


def test_what_was_never_said_brings_nothing_back(past):
    assert past.asked("What is the capital of Mongolia?") == []


def test_a_question_that_is_mostly_about_something_else_brings_little(past):
    assert len(past.asked("Which passwords did the Bulgarian embassy issue for visas in Nairobi?")) <= 2


def test_what_is_in_the_window_is_not_quoted(past):
    past.within = {message.id for message in past.kept}
    assert past.asked("What was the wifi password?") == []


@pytest.mark.parametrize(
    ("question", "answered"),
    [("What was the wifi password?", True), ("What is the capital of Mongolia?", False)],
)
def test_logged_question_is_not_returned_as_its_own_answer(past, question, answered):
    end = past.kept[-1].id
    (newest,) = past.store.log.append(
        past.conversation.id, [NewMessage(user(question))], parent=end, expect=end
    )
    snippets = past.asked(question, head=newest.id, present={*past.within, newest.id})
    assert [snippet.id for snippet in snippets[:1]] == ([past.kept[0].id] if answered else [])


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
    texts = [snippet.text for snippet in past.asked("What is the wifi password?")]
    assert texts[0] == "The wifi password is swordfish, I think."
    assert "What is the wifi password?" not in texts


def test_of_a_long_message_the_sentence_that_answers_comes_back(talk):
    long = " ".join(FILLER * 20) + " The wifi password is swordfish. " + " ".join(FILLER * 20)
    (snippet, *_) = Past(talk, user(long)).asked("What is the wifi password?", room=160)
    assert "The wifi password is swordfish." in snippet.text
    assert not snippet.whole
    assert tokens(snippet.text) <= 160


def test_tool_calls_and_results_come_back(talk):
    call = ToolCall("read", '{"path": "config/valve.toml"}', "1")
    result = Message("tool", (ToolResult((Text("relief_pressure = 17"),), call_id="1"),))
    snippets = Past(talk, answer("", call), result).asked("What is relief_pressure in valve.toml?")
    assert any("relief_pressure = 17" in snippet.text for snippet in snippets)


def test_all_snippets_together_stay_within_the_room_and_use_it(talk):
    chance = random.Random(3)
    users = [
        user(f"The wifi password number {n} is {chance.getrandbits(40):x}. " + FILLER[n % 6])
        for n in range(20)
    ]
    past = Past(talk, *users)
    for room in (0, 1, 5, 20, 60, 400):
        snippets = past.asked("Which wifi password did I use?", room=room)
        assert sum(tokens(snippet.text) for snippet in snippets) <= room
    assert len(past.asked("Which wifi password did I use?", room=400)) > 8, "the room is used"
    texts = past.look_up("Which wifi password did I use?", room=400).snippets
    assert [each.place for each in texts] == sorted(each.place for each in texts), "in the order of time"


def test_free_room_stays_free_where_the_answer_is_certain(talk):
    rumours = (user(f"Somebody mentioned the cabin on day {number} again.") for number in range(20))
    past = Past(talk, user("The wifi password of the cabin of Mrs Halloran is Tr0ub4dor."), *rumours)
    question = "What is the wifi password of the cabin of Mrs Halloran?"
    certain, filled = past.look_up(question, room=200, share=60), past.look_up(question, room=200)
    assert any("Tr0ub4dor" in snippet.text for snippet in certain.snippets)
    assert sum(tokens(snippet.text) for snippet in certain.snippets) <= 60
    assert len(certain.snippets) < len(filled.snippets)


def test_what_something_brought_says_word_for_word_takes_no_room_twice(talk):
    content = [user("The wifi password is swordfish."), user("Again: the wifi password is swordfish.")]
    texts = [snippet.text for snippet in Past(talk, *content).asked("What is the wifi password?")]
    assert sum("swordfish" in text for text in texts) == 1


def test_what_only_asks_waits_until_the_others_had_their_turn(talk):
    users = [user(f"Does the wifi password of the cabin on lake {number} still work?") for number in range(9)]
    past = Past(talk, *users, user("Swordfish opens the wifi in the cabin."))
    texts = [snippet.text for snippet in past.asked("What is the wifi password of the cabin?", room=60)]
    assert "Swordfish opens the wifi in the cabin." in texts


def test_a_question_that_tells_something_too_keeps_its_place(talk):
    told = "My wifi password of the cabin is due in August 2024, can you help me to plan that?"
    others = [user(f"Somebody mentioned the cabin on day {number}.") for number in range(9)]
    past = Past(talk, user(told), *others)
    texts = [snippet.text for snippet in past.asked("When is my wifi password of the cabin due?", room=50)]
    assert told in texts


@pytest.mark.parametrize(
    ("told", "correction", "question", "value"),
    [
        (
            "Die Weiterleitungen stehen in config/redirects.map, das sind 418 Stück.",
            "Nee warte, ich hab Quatsch erzählt, nicht 418, es sind 481.",
            "Wie viele Weiterleitungen stehen in config/redirects.map?",
            "481",
        ),
        (
            "Für den Umzug können wir 8.500 Euro ausgeben.",
            "Leider sind es jetzt 7.200 statt 8.500 Euro.",
            "Wie viel können wir für den Umzug ausgeben?",
            "7.200",
        ),
        (
            "We want to switch the shop over on 15 January, that's a Friday.",
            "15 January is off the table, we are closed then, it has to be 2 February.",
            "When do we want to switch the shop over?",
            "2 February",
        ),
    ],
)
def test_a_correction_that_names_only_the_old_value_is_brought(talk, told, correction, question, value):
    subject = next(word for word in ("shop", "Weiterleitungen", "Umzug") if word in told)
    others = [user(f"Somebody read about the {subject} of {letter}.") for letter in LETTERS]
    past = Past(
        talk, user(told), *others[:9], *map(user, FILLER), user(correction), *map(user, FILLER), *others
    )
    texts = " ".join(snippet.text for snippet in past.asked(question, room=90))
    assert value in texts


def test_the_same_message_with_other_numbers_is_no_evidence(talk):
    letters = [f"Hello, this is letter {number} of day 7. How are you?" for number in range(30)]
    past = Past(talk, *map(user, letters), user("Letter 40 came from Anna, who lives in Kiel."))
    texts = {snippet.text for snippet in past.asked("Hello, this is letter 40 of day 8. How are you?")}
    assert "Letter 40 came from Anna, who lives in Kiel." in texts
    assert texts.isdisjoint(letters)


def test_the_best_ones_are_told_apart_by_rank_whatever_their_time(past):
    snippets = past.look_up("Who owns the cabin, and which database did we choose?").snippets
    assert sorted(each.rank for each in snippets) == list(range(len(snippets)))
    assert min(snippets, key=lambda each: each.rank).score == max(each.score for each in snippets)


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
    texts = [snippet.text for snippet in past.asked("Where is the zebra factory in Quakenbrück")]
    assert texts[0] == "The zebra factory lies behind the station."
    assert before not in texts


@pytest.mark.parametrize(
    ("before", "question"),
    [
        ("Anna paid the rent to Bob.", "Did Bob pay the rent to Anna?"),
        ("Is port 8080 of the printer open?", "Which port of the printer was open?"),
        ("The zebra factory moved. Where is it?", "Where is the zebra factory?"),
    ],
)
def test_what_says_more_than_the_question_is_quoted(talk, before, question):
    assert before in [snippet.text for snippet in Past(talk, user(before)).asked(question)]


def test_a_question_in_the_window_is_no_answer_to_itself(talk):
    asked = [user("What is in vault_11.cfg, please?"), user("What is in vault_11.cfg again?")]
    past = Past(talk, user("The key of alpha is in vault_11.cfg, under the name zz."), *asked)
    past.within |= {message.id for message in past.kept[1:3]}
    assert past.asked("What is in vault_11.cfg?")[0].id == past.kept[0].id


def test_our_notices_in_answers_are_neither_found_nor_quoted(talk):
    report = banner("the model thought until its limit; this answer is without thinking")
    past = Past(talk, answer(f"{report}\n\nThe zebra factory lies in Quakenbrück."))
    snippets = past.asked("Where was the zebra factory?")
    assert snippets[0].text == "The zebra factory lies in Quakenbrück."
    every = past.asked("What was it that Holdfast said about the limit of thinking?", room=2_000)
    assert all(report not in snippet.text for snippet in every)


def test_what_was_deleted_is_not_quoted(talk):
    past = Past(talk, user("The wifi password is swordfish"))
    assert past.asked("wifi password?") != []
    past.store.log.delete(past.conversation.id)
    assert past.asked("wifi password?") == []


def test_a_question_as_long_as_a_book_does_no_harm(past):
    book = "valve.py " + " ".join(f"word{number}" for number in range(20_000))
    assert "valve.py" in past.asked(book)[0].text


UPDATES = [
    (
        "The budget for the bathroom is 16,000 euros.",
        "Good news, the budget for the bathroom is now 18,500 euros.",
        "How high is the budget for the bathroom?",
        "later",
    ),
    (
        "Betriebsferien sind vom 22. Juli bis 9. August.",
        "Die Betriebsferien haben sich verschoben, jetzt 29. Juli bis 16. August.",
        "Wann sind die Betriebsferien?",
        "später",
    ),
]


@pytest.mark.parametrize(("old", "new", "question", "word"), UPDATES)
def test_a_newer_value_ranks_before_the_one_it_replaces(talk, old, new, question, word):
    """Where not all of it fits, the old one must not be what stays."""
    past = Past(talk, user(old), answer("Ok."), user(new))
    ranks = {snippet.text: snippet.rank for snippet in past.asked(question)}
    assert ranks[new] < ranks[old]


@pytest.mark.parametrize(("old", "new", "question", "word"), UPDATES)
def test_outdated_snippet_is_quoted_with_its_newer_value(talk, old, new, question, word):
    """The newer one stands in the window, where the old one read after it would seem to be the last word."""
    past = Past(talk, user(old), answer("Ok."), user(new))
    snippets = past.asked(question, present={*past.within, past.kept[2].id})
    assert [snippet.text for snippet in snippets if snippet.id == past.kept[0].id] == [
        f"{old} ({word}: {new})"
    ]


@pytest.mark.parametrize(
    ("old", "new", "other", "question"),
    [
        (
            "We agreed on a budget of 16,000 euros for the renovation of the bathroom.",
            "The bathroom now has a budget of 18,500 euros.",
            "The renovation of house {} needs a budget.",
            "Which budget did we agree on for the renovation?",
        ),
        (
            "Wir haben für die Sanierung vom Bad ein Budget von 16.000 Euro vereinbart.",
            "Das Bad hat jetzt ein Budget von 18.500 Euro.",
            "Die Sanierung von Haus {} braucht ein Budget.",
            "Welches Budget haben wir für die Sanierung vereinbart?",
        ),
    ],
)
def test_where_little_fits_the_current_value_comes_with_the_old_one(talk, old, new, other, question):
    """By the words of the question alone the newer one would come last."""
    past = Past(
        talk, user(old), answer("Ok."), user(new), *(user(other.format(name)) for name in "ABCDEFGHKLMNOP")
    )
    report = 0
    for room in range(60, 150, 5):
        texts = [snippet.text for snippet in past.look_up(question, room=room).snippets]
        value = [text for text in texts if old in text or new in text]
        report += bool(value)
        assert not value or new in value[-1], room
        assert sum(map(tokens, texts)) <= room
    assert report


@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        (
            "The budget for the kitchen is 9,000 euros.",
            "The roof of the shed took 3 days.",
            "How high is the budget for the kitchen?",
        ),
        (
            "Das Budget für die Küche liegt bei 9.000 Euro.",
            "Das Dach vom Schuppen hat 3 Tage gedauert.",
            "Wie hoch ist das Budget für die Küche?",
        ),
    ],
)
def test_what_is_about_something_else_is_no_later_value(talk, old, new, question):
    past = Past(talk, user(old), answer("Ok."), user(new))
    snippets = past.asked(question, present={*past.within, past.kept[2].id})
    assert [snippet.text for snippet in snippets if snippet.id == past.kept[0].id] == [old]


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([*FILLER, "```\nx = 1\n\ny = 2\n```", "- item", "word " * 80, "\n", "end."])),
    st.integers(0, 40),
)
def test_a_passage_never_takes_more_room_than_there_is(pieces, room):
    text = "\n".join(pieces)
    assert tokens(best_passage(text, {"pian": 2.0, "fenc": 1.0, "x": 1.0}, room, tokens)) <= room
