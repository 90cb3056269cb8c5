"""A question about a day brings what was said on that day first, or what names it."""

from datetime import UTC, datetime, timedelta

import pytest

from holdfast.recall import Evidence, Need, recall_over
from holdfast.store import NewMessage
from tests.conversations.builders import user

# A Wednesday, at noon.
NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)


def tokens(text: str) -> int:
    return len(text.split())


class Diary:
    """A conversation in which something was said on many days, all of it about alike."""

    def __init__(self, talk) -> None:
        self._store, self._scope = talk.store, talk.scope
        self._conversation = self._store.log.create(talk.scope)
        self._head: str | None = None

    def say(self, text: str, days_ago: float) -> None:
        at = (NOW - timedelta(days_ago)).timestamp()
        new = [NewMessage(user(text))]
        (stored,) = self._store.log.append(
            self._conversation.id, new, parent=self._head, expect=self._head, now=at
        )
        self._head = stored.id

    def ask(self, question: str) -> Evidence:
        need = Need(
            question,
            self._scope,
            self._conversation.tree,
            self._head,
            remembers=False,
            at=NOW.timestamp(),
        )
        return recall_over(self._store, None).bring(need, 120, tokens)

    def best(self, question: str) -> str:
        snippets = self.ask(question).snippets
        return max(snippets, key=lambda snippet: snippet.score).text if snippets else ""


ROOMS = {
    200: "Küche",
    60: "Keller",
    14: "Garage",
    7: "Balkon",
    5: "Speicher",
    4: "Bad",
    3: "Diele",
    2: "Flur",
    1: "Büro",
}
ENGLISH = {
    200: "kitchen",
    60: "cellar",
    14: "garage",
    7: "balcony",
    5: "attic",
    4: "bathroom",
    3: "hall",
    2: "corridor",
    1: "office",
}


@pytest.fixture
def german(talk):
    diary = Diary(talk)
    for days, room in ROOMS.items():
        diary.say(f"Wir haben beschlossen: {room} wird als Nächstes gestrichen.", days)
    return diary


@pytest.fixture
def english(talk):
    diary = Diary(talk)
    for days, room in ENGLISH.items():
        diary.say(f"We decided that the {room} will be painted next.", days)
    return diary


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("Was haben wir vorgestern beschlossen?", 2),
        ("Was haben wir gestern beschlossen?", 1),
        ("Was haben wir am Wochenende beschlossen?", 4),
        ("Was haben wir letzten Freitag beschlossen?", 5),
        ("Was haben wir vor zwei Wochen beschlossen?", 14),
        ("Was haben wir im September beschlossen?", 60),
        ("Was haben wir am 2. Mai beschlossen?", 200),
    ],
)
def test_the_decision_of_that_day_comes_first_in_german(german, question, days):
    assert ROOMS[days] in german.best(question)


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("What did we decide the day before yesterday?", 2),
        ("What did we decide yesterday?", 1),
        ("What did we decide last Friday?", 5),
        ("What did we decide two weeks ago?", 14),
        ("What did we decide in September?", 60),
        ("What did we decide last May?", 200),
        ("What did we decide on 2 May 2026?", 200),
    ],
)
def test_the_decision_of_that_day_comes_first_in_english(english, question, days):
    assert ENGLISH[days] in english.best(question)


def test_what_names_the_day_counts_as_what_was_said_on_it(english):
    english.say("On 4 February the painter will bring the ladder.", 100)
    english.say("One day the painter will bring the brushes.", 99)
    assert "ladder" in english.best("What will the painter bring on February 4?")


@pytest.mark.parametrize(
    ("heading", "other", "question"),
    [
        ("[8 May 2023]", "[2 August 2023]", "Which colour did we choose in May 2023?"),
        ("[2023-05-08]", "[2023-08-02]", "Welche Farbe haben wir im Mai 2023 ausgesucht?"),
    ],
)
def test_in_a_transcript_the_date_above_counts(talk, heading, other, question):
    """What was pasted today may be old: each day holds until the next heading."""
    diary = Diary(talk)
    for date, colour in ((heading, "Grün / green"), (other, "Blau / blue")):
        diary.say(f"{date} Hello there!", 0.1)
        diary.say(f"Farbe / colour, ausgesucht: we choose {colour}.", 0.1)
    places = {
        colour: snippet.score
        for snippet in diary.ask(question).snippets
        for colour in ("green", "blue")
        if colour in snippet.text
    }
    assert places["green"] > places.get("blue", 0.0)


def test_relative_day_words_do_not_match_messages_from_other_days(talk):
    diary = Diary(talk)
    diary.say("Vorgestern war ich im Kino.", 30)
    diary.say("Im Kino lief der neue Film mit Anna.", 2)
    assert "Anna" in diary.best("Was lief vorgestern im Kino?")


def test_small_talk_with_a_day_in_it_brings_nothing(german, english):
    assert german.ask("Puh, bin ich heute müde.").snippets == ()
    assert english.ask("I am so tired today.").snippets == ()
