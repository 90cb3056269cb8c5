"""What is said again, what no longer holds, and what makes room: decided with care, in two languages."""

from dataclasses import replace
from itertools import combinations

import pytest

from holdfast.memory.base import Memory, MemorySource
from holdfast.memory.profile import ProfileTrait, read_trait
from holdfast.memory.tidy import (
    KnownMemories,
    hash_words,
    judge,
    least_useful,
    may_mean_the_same,
    merge,
    same,
    same_digests,
    supersedes,
)
from holdfast.messages import Scope
from holdfast.store import MemoryUse
from tests.memory.statements import BOTH_HOLD, ONE_AT_A_TIME, pairs, statements

DAY = 86_400.0


def memory(text, name="m_1", **changes):
    return replace(Memory(name, "fact", text, Scope(), valid_from=100.0), **changes)


# The same


def test_no_two_different_statements_are_ever_taken_for_one():
    wrong = [(item, other) for item, other in combinations(statements(), 2) if may_mean_the_same(item, other)]
    assert wrong == []


@pytest.mark.parametrize(
    "spelling", [str.lower, str.upper, lambda text: text.rstrip("."), lambda text: f" {text}\n"]
)
def test_another_spelling_says_the_same(spelling):
    every = statements()
    assert [text for text in every if not same(text, spelling(text))] == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The server in Kiel is called arion.", "Server in Kiel is called arion"),
        ("Das Team mag kurze Antworten.", "Das Team mag auch kurze Antworten."),
        (
            "The backups of the shop run every night at 3 and stay for a month on arion.",
            "The backups of the shop run every single night at 3 and stay for a month on arion.",
        ),
    ],
)
def test_a_word_without_weight_makes_no_difference(one, other):
    assert same(one, other)
    assert same_digests(hash_words(one), hash_words(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We use Docker.", "We do not use Docker."),
        ("Anna eats meat.", "Anna never eats meat."),
        ("Wir nutzen Docker.", "Wir nutzen Docker nicht."),
        ("Anna reports to Ben.", "Ben reports to Anna."),
        ("The dog bit the man.", "The man bit the dog."),
        ("My brother lives in Kiel.", "Her brother lives in Kiel."),
        ("The test is green.", "The test was green."),
        ("Deploy with tests.", "Deploy without tests."),
        ("", ""),
    ],
)
def test_small_words_and_order_can_make_all_the_difference(one, other):
    assert not may_mean_the_same(one, other)


def test_long_texts_are_the_same_only_if_they_are_equal():
    begin = "The handbook says: " + "water the roses every day. " * 120
    item, other = f"{begin}The pump is red.", f"{begin}The pump is blue."
    assert same(item, f" {item}\n")
    assert not same(item, other)
    assert not may_mean_the_same(item, f"{item} And so on.")
    assert not same_digests(hash_words(item), hash_words(f"{item} Port 4711."))


def test_vectors_decide_only_where_words_allow_it():
    old = memory("The shop is open in the morning.")
    new = memory("In the morning the shop is open.", "m_2")
    other = memory("The shop is closed in the morning.", "m_3")
    asked = []

    def similar(text, others):
        asked.extend(others)
        return [0.95] * len(others)

    assert judge(new, [other, old]).action == "add"
    assert judge(new, [other, old], similar).others == (old,)
    assert asked == [old.text]
    assert judge(new, [old], lambda text, others: [0.3]).action == "add"


def test_said_again_adds_date_and_source_and_takes_nothing_away():
    old = memory("The server is called arion.", conversation="c_1", messages=("n_1",), importance=0.9)
    new = memory(
        "The server is called arion.",
        "m_2",
        conversation="c_2",
        messages=("n_5",),
        valid_from=900.0,
        importance=0.2,
    )
    both = merge(old, new)
    assert (both.id, both.valid_from, both.date, both.importance) == ("m_1", 100.0, 900.0, 0.9)
    assert both.sources == (MemorySource("c_1", ("n_1",)), MemorySource("c_2", ("n_5",)))
    assert merge(both, new) == both


# What no longer holds


def test_a_new_value_takes_the_place_of_the_old_one():
    assert [pair for pair in pairs(ONE_AT_A_TIME) if not supersedes(pair[1], pair[0])] == []


def test_what_can_hold_together_stays_together():
    assert [pair for pair in pairs(BOTH_HOLD) if supersedes(pair[1], pair[0])] == []


def test_only_the_same_subject_gives_way():
    templates = {
        sentence.format(value): sentence
        for sentence, values in (*ONE_AT_A_TIME, *BOTH_HOLD)
        for value in values.split()
    }
    wrong = [
        (old, new)
        for old in templates
        for new in templates
        if templates[old] != templates[new] and supersedes(new, old)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We use Postgres.", "We switched to SQLite."),
        ("We use Postgres.", "We switched from Postgres to SQLite last week."),
        ("Wir nutzen Postgres.", "Wir sind von Postgres auf SQLite umgestiegen."),
        ("Wir verwenden MongoDB.", "PostgreSQL statt MongoDB für das Projekt."),
        ("Anna lives in Kiel.", "Anna moved from Kiel to Berlin."),
        ("The database runs on port 5432.", "The database now runs on port 5433."),
        ("Die Datenbank läuft auf Port 5432.", "Die Datenbank läuft jetzt auf Port 5433."),
        ("We use Docker.", "We no longer use Docker."),
        ("Wir nutzen Docker.", "Wir nutzen Docker nicht mehr."),
        ("We don't use Docker.", "We use Docker."),
        ("Anna arbeitet bei Siemens.", "Anna arbeitet bei Bosch."),
        ("The team has 3 cats.", "The team has 4 cats."),
        ("I prefer tabs.", "I prefer spaces."),
        ("My brother lives in Germany.", "My brother lives in France."),
        ("Das Büro schließt um 18 Uhr.", "Das Büro schließt um 17 Uhr."),
    ],
)
def test_a_change_that_is_told_is_understood(old, new):
    assert supersedes(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ben lives in Kiel.", "Anna moved from Kiel to Berlin."),
        ("We use Postgres for the shop.", "We switched to SQLite."),
        ("Wir nutzen Postgres für den Shop.", "Wir sind auf SQLite für die Tests umgestiegen."),
        ("We do not use Postgres.", "We switched from Postgres to SQLite."),
        ("In 2024 we had 20 employees.", "In 2025 we had 30 employees."),
        ("The server has 2 CPUs.", "The server has 64 GB."),
        ("Wir brauchen Server.", "Wir brauchen mehr Server."),
        ("Anna arbeitet an Atlas.", "Anna arbeitet an Zephyr."),
        ("We pay Hetzner for hosting.", "We pay OVH for hosting."),
        ("We use Postgres.", "We use Postgres in Kiel and Berlin with 3 replicas."),
        ("Der Nutzer bevorzugt Tee.", "Der Nutzer bevorzugt Linux."),
        ("I prefer Python.", "I prefer Thai."),
        ("The API must return JSON.", "The API must return XML."),
        ("Jeder Bericht soll Grafiken haben.", "Jeder Bericht soll Tabellen haben."),
        ("In der Küche steht Kaffee.", "In der Küche steht Tee."),
        ("Backup runs on server 1.", "Backup runs on server 2."),
        ("Die Firma hat Raum 12.", "Die Firma hat Raum 14."),
        ("The endpoint needs header 1.", "The endpoint needs header 2."),
        ("Backups run at 02:00 and 03:00.", "Backups run at 02:00 and 04:00."),
        ("Das Training ist montags und Mittwoch.", "Das Training ist montags und Freitag."),
        ("A ticket costs 5 euros.", "A ticket costs 9 euros."),
        ("Max has a son named Paul.", "Max has a son named Tim."),
        ("Ich habe eine Tochter, die heißt Anna.", "Ich habe eine Tochter, die heißt Berta."),
        ("We have a cat called Momo.", "We have a cat called Mimi."),
        ("My brother lives in Kiel.", "My brother lives in Germany."),
        ("Mein Bruder wohnt in Bayern.", "Mein Bruder wohnt in Deutschland."),
        ("The app is for Windows.", "The app is for macOS."),
        ("x " * 1_000, "y " * 1_000),
    ],
)
def test_in_doubt_both_stay(old, new):
    assert not supersedes(new, old)


def test_what_is_pinned_or_newer_does_not_give_way():
    old = memory("The database runs on port 5432.")
    new = memory("The database runs on port 5433.", "m_2", valid_from=200.0)
    assert judge(new, [old]).action == "supersede"
    assert judge(new, [replace(old, pinned=True)]).action == "add"
    assert judge(new, [replace(old, seen=300.0)]).action == "add"
    assert judge(replace(new, kind="note"), [old]).action == "add"


def test_history_told_again_from_the_same_message_stays_history():
    old = memory("We use Postgres.", superseded_by="m_2", valid_until=500.0, messages=("n_1",))
    assert judge(memory("We use Postgres.", "m_3", valid_from=400.0), [old]).action == "known"
    assert judge(memory("We use Postgres.", "m_3", valid_from=900.0), [old]).action == "add"
    assert (
        judge(memory("We use Postgres.", "m_3", valid_from=900.0, messages=("n_1",)), [old]).action == "known"
    )


# Room


def test_the_least_useful_make_room_and_pinned_ones_never():
    now = 1_000 * DAY
    record = [
        memory("important", "m_1", importance=1.0, valid_from=now - 700 * DAY),
        memory("new", "m_2", valid_from=now),
        memory("recalled", "m_3", valid_from=now - 700 * DAY),
        memory("pinned", "m_4", importance=0.0, valid_from=DAY, pinned=True),
    ]
    old = memory("old", "m_5", valid_from=now - 700 * DAY)
    dull = memory("dull", "m_6", importance=0.2, valid_from=now)
    uses = {"m_3": MemoryUse(recalls=7, used_at=now - 10 * DAY)}
    assert least_useful([*record, old, dull], uses, now, limit=4) == [old, dull]
    assert least_useful(record, uses, now, limit=4) == []
    assert least_useful([replace(item, pinned=True) for item in record], uses, now, limit=1) == []


# Traits


@pytest.mark.parametrize(
    ("text", "trait"),
    [
        ("I like short answers.", ProfileTrait("preferences.answer_length", "short")),
        ("Bitte immer kurze Antworten.", ProfileTrait("preferences.answer_length", "kurz")),
        ("Antworte ausführlich.", ProfileTrait("preferences.answer_length", "ausführlich")),
        ("Always answer in German.", ProfileTrait("language", "German")),
        ("Antworten bitte auf Deutsch.", ProfileTrait("language", "Deutsch")),
        ("Code examples should be in Python.", ProfileTrait("preferences.code_language", "Python")),
        ("Please call me Kim.", ProfileTrait("name", "Kim")),
        ("Ich möchte geduzt werden.", ProfileTrait("preferences.formality", "du")),
        ("I do not like short answers.", None),
        ("Please call me later.", None),
        ("CALL ME Kim.", ProfileTrait("name", "Kim")),
        ("I like tea.", None),
        ("Short answers in English, detailed answers in German.", None),
    ],
)
def test_a_preference_may_speak_of_a_field(text, trait):
    assert read_trait(text) == trait


# Of thousands


def test_of_thousands_none_is_overlooked_that_a_new_one_concerns():
    texts = [*statements(), "We no longer use Docker.", "word " * 500, " word" * 500]
    texts += [f"Also {text}" for text in texts[::3]]
    texts += [
        "We switched from Docker to Podman.",
        "Wir nutzen jetzt MySQL.",
        "We moved to SQLite for the shop.",
    ]
    known = KnownMemories(memory(text, f"m_{number}") for number, text in enumerate(texts))
    # Another text in the place of the first one is found by its own words.
    texts[0] = "We use Docker."
    known.put(memory(texts[0], "m_0"))
    for new in texts:
        alike = {item for item in texts if same(item, new) or may_mean_the_same(item, new)}
        assert alike <= {each.text for each in known.find_comparable(new)}
        replaced = {item for item in texts if supersedes(new, item)}
        assert replaced <= {each.text for each in known.find_replaceable(new)}
    changes = {(new, old) for new in texts for old in texts if supersedes(new, old)}
    assert ("We no longer use Docker.", "We use Docker.") in changes
    assert ("We switched from Docker to Podman.", "We use Docker.") in changes
    assert ("Our rent is 1100 euros a month.", "Our rent is 1250 euros a month.") in changes
