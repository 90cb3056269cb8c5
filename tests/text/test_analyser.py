"""The analyser: what is written one way is found when it is asked for in another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.analyser import language_of, parts, sentences, spelled, telling, terms


def share(text: str, other: str) -> set[str]:
    return set(terms(text)) & set(terms(other))


@pytest.mark.parametrize(
    ("kept", "asked"),
    [
        ("die Strasse", "Straße"),
        ("Herr Müller", "Mueller"),
        ("die Häuser", "ein Haus"),
        ("Datenbanken", "Datenbank"),
        ("we deployed it", "deploying"),
        ("two databases", "the database"),
        ("CAFÉ", "cafe"),
        ("ﬁle", "file"),
        ("Caroline's dog", "Caroline"),
        ("my E-Mail", "email"),
    ],
)
def test_spellings_and_forms_of_one_word_are_one_term(kept, asked):
    assert share(kept, asked)


@pytest.mark.parametrize(
    ("text", "whole", "words"),
    [
        ("see src/holdfast/words.py", "src/holdfast/words.py", {"words.py", "holdfast"}),
        ("call get_user_name", "get_user_name", {"user"}),
        ("call getUserName", "getusername", {"user"}),
        ("an HTTPServer", "httpserver", {"http"}),
        ("holdfast.store.texts", "holdfast.store.texts", {"holdfast"}),
        ("commit a828e60", "a828e60", set()),
        ("ERR_CONN_RESET", "err_conn_reset", {"conn"}),
        ("version v1.2.3", "1.2.3", set()),
        ("20 GB of it", "20gb", {"20"}),
        ("20GB of it", "20gb", {"20"}),
        ("1.000 Zeilen", "1000", set()),
        ("bob@example.org", "bob@example.org", {"bob"}),
        ("C:\\Users\\Bob\\notes.txt", "notes.txt", {"bob"}),
    ],
)
def test_a_name_is_kept_whole_and_in_its_words(text, whole, words):
    assert {whole, *words} <= set(terms(text))


def test_a_hash_is_not_taken_apart():
    assert terms("a828e60") == ["a828e60"]


def test_words_without_a_meaning_of_their_own_are_left_out():
    assert terms("What is this and why don't we have it? Und warum haben wir das nicht für uns?") == []


def test_compound_shares_parts_with_its_component_words():
    assert {"datenbank", "wahl"} <= set(parts("Datenbankwahl")) & set(terms("Wahl der Datenbank"))
    assert set(terms("Versicherung")) & set(parts("Krankenversicherung"))


def test_separable_verb_matches_its_split_form():
    assert set(terms("Wann fand es statt?")) & set(parts("als es stattfand"))
    assert set(terms("Was führte er darauf zurück?")) & set(parts("das wurde zurückgeführt"))
    assert parts("Abwehr another answer") == []


def test_english_words_and_short_ones_have_no_parts():
    assert parts("information understanding running house Wahl") == []


def test_names_numbers_and_quotes_are_telling_and_plain_words_are_not():
    results = telling('Open app/main.py, error E1234 in GPU 3 with 20 GB: "broken pipe", said the plumber')
    assert {"app/main.py", "e1234", "gpu", "20gb", *terms("broken pipe")} <= results
    assert not {"open", "plumber", "error", "3"} & results
    assert telling("thanks, go on please") == frozenset()


@given(st.text())
def test_what_is_telling_is_among_the_terms(text):
    assert telling(text) <= set(terms(text))


def test_a_term_knows_how_it_was_spelled():
    assert spelled("Die Häuser, das Haus und main.py") == {
        "haus": "Häuser",
        "main.py": "main.py",
        "main": "main.py",
        "py": "main.py",
    }


@given(st.text(st.characters()))
def test_any_text_can_be_read(text):
    assert all(term and " " not in term for term in terms(text))
    assert terms(text) == terms(text)
    assert set(spelled(text)) == set(terms(text))
    parts(text)
    language_of(text)


@pytest.mark.parametrize(
    "text",
    ["\ud800", "x\udfffy", "...!?-- ()", "", "\x00\x01", "x" * 1_000_000, "a." * 200_000, "e\u0301" * 50_000],
)
def test_odd_texts_do_no_harm(text):
    assert all(len(term) <= 100 for term in terms(text))
    sentences(text)
    telling(text)


def test_text_without_spaces_is_found_by_pairs_of_signs():
    assert share("我们的数据库选择", "数据库")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Wir haben das für den Kunden gemacht.", "de"),
        ("We have done this for the customer.", "en"),
        ("PostgreSQL 16", ""),
        ("", ""),
        ("Wir und the customer and wir", ""),
    ],
)
def test_the_language_is_told_by_small_words(text, language):
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Das ist z. B. so. Und Dr. Meier kam.", ["Das ist z. B. so.", "Und Dr. Meier kam."]),
        (
            "Am 3. Mai um 3.5 Uhr. Dann app.py v1.2 starten.",
            ["Am 3. Mai um 3.5 Uhr.", "Dann app.py v1.2 starten."],
        ),
        ("- one. Two\n- three\n\n1. four", ["- one.", "Two", "- three", "1. four"]),
        ("It was in 2023. Then more.", ["It was in 2023.", "Then more."]),
        ('He said "go." Then left.', ['He said "go."', "Then left."]),
        ("See:\n```py\nx = 1. \ny = 2\n```\nDone.", ["See:", "```py\nx = 1. \ny = 2\n```", "Done."]),
        ("```\nnever closed. At all", ["```\nnever closed. At all"]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text, expected):
    assert sentences(text) == expected


@given(st.text())
def test_no_word_is_lost_between_sentences(text):
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
