"""Everything people read has a German translation that fits, and the catalogue holds nothing else."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import NotFound
from holdfast.i18n import (
    CONTEXT_END,
    LANGUAGES,
    in_all_languages,
    lazy,
    lazy_context,
    lazy_plural,
    load_catalogue,
    localize_number,
    ngettext,
    pgettext,
    pick,
    read_po,
    speak,
    translate,
)
from holdfast.i18n import gettext as _
from tests.catalogue import (
    find_messages,
    find_placeholders,
    find_plain_errors,
    load_file,
    load_translations,
)

# What a German sentence leaves out on purpose, because it says the same without it.
LEFT_OUT: dict[str, set[str]] = {
    "message '{message}' not found in {conversation}.": {"conversation"},
    "decision '{decision}' not found in {conversation}": {"conversation"},
    "{name!r} is no name for a {what}.": {"what"},
}


def test_every_message_has_a_translation():
    assert find_messages() - load_translations().keys() == set(), (
        "`make catalogue` adds these; then translate them"
    )
    assert [english for english, german in load_translations().items() if not all(german)] == []


def test_no_error_says_a_plain_english_sentence():
    assert list(find_plain_errors()) == [], "wrap them in lazy(): f-strings cannot be translated"


def test_no_translation_is_stale():
    assert load_translations().keys() - find_messages() == set(), "`make catalogue` drops these"


def test_no_translation_is_fuzzy():
    assert [entry.id for entry in load_file() if entry.id and entry.fuzzy] == []


def test_placeholders_are_those_of_the_english_text():
    texts = [
        pair
        for message, german in load_translations().items()
        for pair in zip(message[1], german, strict=True)
    ]
    wrong = [
        pair
        for pair in texts
        if find_placeholders(pair[0]) - LEFT_OUT.get(pair[0], set()) != find_placeholders(pair[1])
    ]
    assert wrong == []


def test_the_reader_agrees_with_babel():
    read = load_catalogue("de")
    assert len(read) == len(load_translations())
    for (context, english), german in load_translations().items():
        assert read[f"{context}{CONTEXT_END}{english[0]}" if context else english[0]] == german


def test_fuzzy_empty_and_obsolete_entries_are_not_read():
    text = """\
msgid ""
msgstr "Language: de\\n"

#, fuzzy, python-brace-format
msgid "guess"
msgstr "Vermutung"

msgid "empty"
msgstr ""

#~ msgid "gone"
#~ msgstr "weg"

msgctxt "menu"
msgid ""
"long "
"\\"text\\""
msgstr ""
"langer\\n"
"Text"

msgid "{n} file"
msgid_plural "{n} files"
msgstr[0] "{n} Datei"
msgstr[1] "{n} Dateien"
"""
    assert dict(read_po(text.splitlines())) == {
        'menu\x04long "text"': ("langer\nText",),
        "{n} file": ("{n} Datei", "{n} Dateien"),
    }


def test_a_message_is_said_in_the_language_of_the_context():
    assert _("Options") == "Options"
    speak("de")
    assert (_("Options"), pgettext("download", "Stop"), _("Stop")) == ("Optionen", "Anhalten", "Stopp")
    assert (_("Nobody translated this."), pgettext("x", "Options")) == ("Nobody translated this.", "Options")


@pytest.mark.parametrize(("number", "said"), [(0, "0 Zeilen"), (1, "1 Zeile"), (2, "2 Zeilen")])
def test_a_number_decides_on_the_form(number, said):
    singular, plural = "{path} has only {number:,} line.", "{path} has only {number:,} lines."
    text = lazy_plural(singular, plural, number, path="a.py", number=number)
    english = "line" if number == 1 else "lines"
    assert text == ngettext(singular, plural, number).format(path="a.py", number=number)
    assert text == f"a.py has only {number} {english}."
    speak("de")
    assert translate(text) == f"a.py hat nur {said}."
    assert ngettext("{n} thing", "{n} things", number) == ("{n} thing" if number == 1 else "{n} things")


def test_a_lazy_text_is_english_until_it_is_translated():
    inner = lazy("model '{model}' not found", model="{x}")
    text = lazy("{name} needs {what}.", name="/save", what=lazy("a file"))
    speak("de")
    assert (text, translate(text)) == ("/save needs a file.", "/save braucht eine Datei.")
    assert (inner, translate(inner)) == ("model '{x}' not found", "Das Modell '{x}' gibt es nicht.")
    assert translate(lazy_context("download", "Stop")) == "Anhalten"
    assert translate("not a message {") == "not a message {"


@pytest.mark.parametrize("again", [copy.deepcopy, lambda text: pickle.loads(pickle.dumps(text))])
def test_a_lazy_text_survives_a_copy(again):
    error = NotFound(lazy("{name} needs {what}.", name="/save", what=lazy("a file")), hint=lazy("Options"))
    speak("de")
    assert translate(again(error.message)) == "/save braucht eine Datei."
    assert translate(again(str(error))) == "/save braucht eine Datei. Optionen"


def test_error_message_and_hint_are_two_sentences_in_each_language():
    error = NotFound(lazy("model '{model}' not found", model="m"), hint="Try another.")
    assert str(error) == "model 'm' not found. Try another."
    speak("de")
    assert translate(str(error)) == "Das Modell 'm' gibt es nicht. Try another."


def test_what_is_stored_is_picked_by_its_reader():
    stored = in_all_languages(lazy("{path} was not found.", path="a"))
    assert (pick(stored), len(stored)) == ("a was not found.", len(LANGUAGES))
    speak("de")
    assert pick(stored) == "a wurde nicht gefunden."


@given(st.integers(), st.floats(0, 1e6))
def test_marks_of_numbers_are_the_languages_own(whole, share):
    text = f"{whole:,} {share:,.1f}"
    speak("en")
    assert localize_number(text) == text
    speak("de")
    assert localize_number(localize_number(text)) == text
    assert localize_number("1,234.5 s") == "1.234,5 s"
