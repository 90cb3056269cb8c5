"""A language has what every other has: the same names, of the same shape."""

import re

import pytest

from holdfast.text.lang import LANGUAGES, any_phrase, any_word, by_language, merged_rows, rows_of, word_set

NAMES = sorted({name for language in LANGUAGES.values() for name in vars(language) if name.isupper()})


@pytest.mark.parametrize("name", NAMES)
def test_every_language_has_the_same_names(name):
    values = by_language(name)
    assert len({type(value) for value in values.values()}) == 1
    if name == "CUES":
        for part in ("cues", "begins", "values"):
            assert len({frozenset(getattr(data, part)) for data in values.values()}) == 1


@pytest.mark.parametrize("name", [name for name in NAMES if isinstance(by_language(name)["en"], str)])
def test_a_list_or_phrase_makes_a_pattern_in_every_language(name):
    for text in by_language(name).values():
        re.compile(text)


def test_words_of_all_languages_are_asked_for_by_one_name():
    assert rows_of("MONTHS")[2:4] == ("März March", "April")
    assert {"montag", "monday"} <= word_set("WEEKDAYS")
    assert re.fullmatch(any_word("INSTEAD"), "anstelle von")
    assert re.fullmatch(any_phrase("WHICH_OF_MINE"), "") is None
    assert merged_rows("UNITS")["s"] == "sekunden sekunde seconds second"
