"""English sentences that come as plain text, or from parts that know no reader, are shown in German."""

import pytest

from holdfast.cli.shared import translate_source, translate_usage
from holdfast.i18n import gettext as _
from holdfast.i18n import lazy, speak
from holdfast.window import sentences

USAGE = [
    ("Error: No such command 'sned'.", "Fehler: Den Befehl 'sned' gibt es nicht."),
    (
        "No such option: --jsn Did you mean --json?",
        "Die Option --jsn gibt es nicht. Gemeint ist vielleicht --json.",
    ),
    ("Try 'holdfast --help' for help.", "Hilfe gibt 'holdfast --help'."),
    ("Missing option '--to'.", "Es fehlt '--to'."),
    ("Got unexpected extra argument(s) (a {b})", "Das ist zu viel: a {b}"),
    (
        "Invalid value for '--port': Input should be a valid integer, unable to parse",
        "Das geht nicht für '--port': Es muss eine ganze Zahl sein.",
    ),
    ("Nobody foresaw this: 100 %.", "Nobody foresaw this: 100 %."),
]


@pytest.mark.parametrize(("text", "german"), USAGE)
def test_usage_errors_of_typer_are_translated(text, german):
    assert translate_usage(text) == text
    speak("de")
    assert translate_usage(text) == german


@pytest.mark.parametrize(
    ("source", "german"),
    [
        ("set by you", "selbst gesetzt"),
        ("set by you, but trained for no more", "selbst gesetzt, aber für mehr ist es nicht trainiert"),
        (
            "known of qwen3, but trained for no more",
            "bekannt von qwen3, aber für mehr ist es nicht trainiert",
        ),
        ("usual for 4B parameters", "üblich bei 4B Parametern"),
        (lazy("known of {family}", family="qwen3"), "bekannt von qwen3"),
        ("a server of its own", "a server of its own"),
    ],
)
def test_sources_of_windows_are_translated_from_the_database_too(source, german):
    assert translate_source(source) == source
    speak("de")
    assert translate_source(source) == german


@pytest.mark.parametrize(
    ("reason", "german"),
    [
        ("history had 992 of 1,760 tokens", "der Verlauf hatte 992 von 1.760 Token"),
        ("ahead of need", "im Voraus, bevor es eng wird"),
        ("the prices of qwen", "nach Erfahrungswerten für qwen"),
        ("a reason of its own {", "a reason of its own {"),
    ],
)
def test_stored_reasons_of_decisions_are_translated(reason, german):
    assert sentences.reason(reason) == reason
    speak("de")
    assert sentences.reason(reason) == german


def test_german_sentences_write_numbers_as_german_does():
    sentence = "{before:,} tokens become {after:,}, {savings} % saved"
    speak("de")
    assert _(sentence).format(before=4096, after=1234, savings=70).startswith("aus 4.096 Token werden 1.234")
