"""What people state is told from what they ask, suppose, joke or want this once, in German as in English."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.statements import statements_in
from holdfast.window.rules import forbidden_in, own_sentences, rules_in
from tests.text.sayings import (
    KEPT_ENGLISH,
    KEPT_GERMAN,
    NOTHING_ENGLISH,
    NOTHING_GERMAN,
    lines,
)

# Rules and preferences have a soft border.
_BINDS = {"rule", "prohibition", "preference"}


def stated(text):
    """The kinds and the words of what a message states for good."""
    sentences = list(own_sentences(text, 300))
    return [
        (statement.kind, sentences[statement.sentence][0][statement.start : statement.end])
        for statement in statements_in(tuple(masked for _, masked in sentences))
        if statement.lasting and statement.kind != "failure"
    ]


def share(results, wanted):
    return sum(results) / len(wanted)


@pytest.mark.parametrize("table", [KEPT_GERMAN, KEPT_ENGLISH], ids=["German", "English"])
def test_statements_worth_keeping_are_mostly_kept_and_classified_correctly(table):
    rows = [line.split("|") for line in lines(table)]
    kinds = [{kind for kind, _ in stated(text)} for _, text in rows]
    assert [text for (_, text), results in zip(rows, kinds, strict=True) if not results][1:] == []
    alike = [
        kind in matches or (kind in _BINDS and bool(matches & _BINDS))
        for (kind, _), matches in zip(rows, kinds, strict=True)
    ]
    assert share(alike, rows) >= 0.85


@pytest.mark.parametrize("text", [*lines(NOTHING_GERMAN), *lines(NOTHING_ENGLISH)])
def test_this_states_nothing(text):
    assert stated(text) == []


@pytest.mark.parametrize(
    "said",
    [
        "Do not use webpack.",
        "Please don't push to main",
        "Don't touch packages/legacy",
        "Avoid axios",
        "Fass legacy.ts nicht an",
        "Keine neuen Abhängigkeiten",
        "Kein axios verwenden!",
        "Hands off the billing module.",
        "Finger weg von der Abrechnung.",
        "Don't change that file.",
        "bumping stripe failed with ERR_REQUIRE_ESM, do not try that again",
        "Das Update auf Node 22 ist fehlgeschlagen.",
        "Moving to pnpm broke the pipeline, let's not do that again.",
        "The survey by post went wrong. We won't do that again.",
        "Die Umfrage war ein Reinfall. Das machen wir nicht nochmal.",
        "Bitte nichts an der Datenbank ändern.",
        "You mustn't rename the tables.",
    ],
)
def test_what_is_forbidden_or_failed_is_noticed(said):
    assert forbidden_in(said) == (said,)


@pytest.mark.parametrize(
    "said",
    [
        "Don't worry about it.",
        "Mach dir keine Sorgen.",
        "No problem!",
        "Kein Problem.",
        "Is it not allowed?",
        "Ich darf heute keinen Kaffee trinken.",
        "I don't know anyone there.",
    ],
)
def test_a_no_that_forbids_nothing_is_none(said):
    assert forbidden_in(said) == ()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Wir nehmen Kafka. Ach, vergiss Kafka wieder.", []),
        ("We're going with Kafka. Scratch that.", []),
        ("Wir nehmen Rust. Quatsch, kein Rust.", []),
        ("The appointment is on Friday. Sorry, wrong chat, please disregard.", []),
        ("We're buying the estate car. Just kidding!", []),
        ("Wir kaufen den Kombi. Kommando zurück!", []),
        ("Schreib ab jetzt alles klein. Quatsch, lass es so wie bisher.", []),
        ("Wir nehmen Rust. Vergiss das mit Kafka.", ["Wir nehmen Rust."]),
        ("Let's use Redis for sessions. Forget the Kafka idea.", ["Let's use Redis for sessions."]),
    ],
)
def test_what_a_nearby_sentence_takes_back_is_not_stated(text, kept):
    assert [words for _, words in stated(text)] == kept


def test_two_things_in_one_sentence_are_two_statements():
    results = stated("Überschriften bitte auf Deutsch, die Bildtexte dürfen englisch bleiben.")
    assert [words for _, words in results] == [
        "Überschriften bitte auf Deutsch",
        "die Bildtexte dürfen englisch bleiben.",
    ]


def test_what_was_and_what_is_now_stay_together():
    (results,) = stated("Our caterer moved away, these days we order from Kim.")
    assert results[1] == "Our caterer moved away, these days we order from Kim."


@pytest.mark.parametrize(
    "text",
    [
        "Der Server, auf dem das läuft, heißt priel und steht bei Hetzner.",
        "Die Designerin ist Wiebke Harms, die erreichst du unter wiebke@harms.example.",
        "Den Versand am Freitag haben wir probiert, hat gar nichts gebracht, lassen wir künftig.",
        "Die Leitung hat aufgestockt, es sind jetzt 7.900 Euro für die Kampagne.",
        "Ich bin übrigens Vegetarierin, falls es mal ums Catering geht.",
        "I have an appointment with my new doctor, Dr. Johnson, on April 1st.",
        "Sending on Fridays is something we tried, it brought nothing at all, we're dropping that.",
    ],
)
def test_what_only_the_whole_sentence_says_is_kept_whole(text):
    assert [words for _, words in stated(text)] == [text]


def test_an_announcement_is_no_decision_of_its_own():
    ((kind, words),) = stated("Right, we've agreed: the newsletter goes out via Brevo, not Mailchimp.")
    assert (kind, words) == ("decision", "the newsletter goes out via Brevo, not Mailchimp.")


def test_a_name_between_commas_begins_no_statement():
    assert stated("I got a new bed for my dog, Max, about three weeks ago, and it seems to help.") == []


def test_a_question_with_a_part_behind_its_comma_states_nothing():
    assert stated("Wer entscheidet, wie Land oder Eigentum genutzt werden darf?") == []


def test_a_wish_behind_a_fact_is_no_part_of_it():
    ((kind, words),) = stated("Ich esse kein Fleisch, was kann ich heute kochen?")
    assert (kind, words) == ("preference", "Ich esse kein Fleisch")


@pytest.mark.parametrize(
    "text",
    [
        'Im Vertrag steht: "Ab sofort immer zuerst fragen."',
        "> We decided to use Rust.",
        "```\nNever push to main.\n```",
        "Translate: Our server is called arion.",
        "Übersetze das: Unser Server heißt arion.",
    ],
)
def test_other_peoples_words_state_nothing(text):
    assert stated(text) == []
    assert rules_in(text) == ()


PIECES = [
    "wir",
    "nehmen",
    "nicht",
    "never",
    "use",
    "please",
    ",",
    ".",
    "?",
    "jetzt",
    "Ada",
    "if",
    "5432",
    ":",
    ";)",
]


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join), max_size=5))
def test_any_words_give_parts_of_their_sentences(sentences):
    for statement in statements_in(tuple(sentences)):
        assert 0 <= statement.start < statement.end <= len(sentences[statement.sentence])


@pytest.mark.parametrize(
    "piece", ["never ", "wird ", "ja, ", "kein ", "wir nehmen ", "x" * 50, "auf a ", "do not "]
)
def test_a_long_sentence_is_read_in_one_go(piece):
    statements_in((piece * 4_000,))


@pytest.mark.parametrize(
    ("text", "joint"),
    [
        ("Unser Budget ist 42.500 Euro und der Server heißt arion.", " und "),
        ("Mein Hund heißt Bruno und meine Katze heißt Mia.", " und "),
        ("The contact is Eva Lindner and the deadline is 3 May.", " and "),
        ("The budget is 4,000 euros and we meet on Tuesdays.", " and "),
    ],
)
def test_facts_joined_by_and_are_two_since_each_may_change(text, joint):
    assert [words for _, words in stated(text)] == text.split(joint)


@pytest.mark.parametrize(
    "text",
    [
        "Der Drucker und der Scanner sind in Raum 4.",
        "Nach dem Vergleich mit Mollie und Adyen ist die Wahl auf Stripe gefallen.",
        "Der Server heißt arion und läuft unter Debian 12.",
    ],
)
def test_two_nouns_or_two_verbs_are_one_fact(text):
    assert [words for _, words in stated(text)] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Auf keinen Fall die Live-Datenbank anfassen, bevor ich das Backup bestätigt habe.",
        "Unter keinen Umständen den Stecker ziehen.",
        "Auf keinen Fall darf der Chef davon erfahren.",
        "Under no circumstances touch the live database.",
        "On no account open the kiln before it is cold.",
        "Please don't, under any circumstances, email Bob until I've spoken to him.",
        "Schreib mir bitte nie mehr als fünf Sätze, außer ich frag ausdrücklich nach.",
        "Schick bitte nix an den Großhandel raus, bevor ich drübergeschaut hab.",
    ],
)
def test_a_prohibition_keeps_its_negation_and_exception(text):
    assert stated(text) == [("prohibition", text)]


def test_a_standing_wish_that_was_agreed_on_is_a_rule():
    text = "Bitte künftig alle Commit-Nachrichten auf Deutsch, Enno und ich haben uns da drauf geeinigt."
    assert stated(text) == [("rule", text)]


@pytest.mark.parametrize(
    "text",
    [
        "SSH läuft auf Port 22.",
        "HTTPS uses port 443 by default.",
        "Wasser kocht bei 100 Grad.",
        "Penguins can't fly.",
        "Napoleon ist 1821 gestorben.",
        "Mein Chef ist ein Idiot.",
        "Our landlord is a nightmare.",
        "Meine Mutter sagt immer, man soll nie mit vollem Magen schwimmen.",
        "My uncle claims the shop will be closed on Mondays.",
        "Only give me the first three lines.",
        "We meet at eight. Oh nonsense, that was last week.",
    ],
)
def test_what_everybody_knows_or_others_say_is_not_kept(text):
    assert not [one for one in statements_in(tuple(text.split(". "))) if one.lasting]


@pytest.mark.parametrize(
    "text",
    [
        "Unser SSH läuft auf Port 2222.",
        "Die Hausverwaltung schreibt, Fahrräder dürfen nicht in den Flur.",
        "Meine Chefin sagt, wir dürfen keine Kundendaten kopieren.",
        "Die Heizung darf nachts nicht unter 16 Grad fallen.",
        "Hunde dürfen nicht auf das Gelände.",
    ],
)
def test_what_holds_for_the_speaker_is_kept(text):
    assert [one for one in statements_in((text,)) if one.lasting]
