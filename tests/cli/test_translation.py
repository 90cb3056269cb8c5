"""What is said in English below is told in German, and the table has nothing that nobody says any more."""

import re
from pathlib import Path

import pytest

import holdfast
from holdfast.cli.translation import ERROR_SENTENCES, translate
from holdfast.i18n import speak


@pytest.mark.parametrize(
    ("below", "german"),
    [
        ("conversation 'c_1' not found", "Das Gespräch 'c_1' gibt es hier nicht."),
        ("nothing was shortened or left out in c_1", "In c_1 wurde nichts gekürzt oder weggelassen."),
        (
            "Only words were compared: There is no embedder.",
            "Nur Wörter wurden verglichen: Es gibt keinen Embedder.",
        ),
        (
            "message 'm_1' not found in c_1. `holdfast conversations show c_1` has the ids, and so has /api.",
            "Die Nachricht 'm_1' gibt es nicht. `holdfast conversations show c_1` nennt die Ids.",
        ),
        (
            "no model server answers at http://127.0.0.1:9. Start it, or check the address.",
            "Unter http://127.0.0.1:9 antwortet kein Modellserver. Ihn starten oder die Adresse prüfen.",
        ),
        ("the usual prices of text", "nach den üblichen Preisen für Text"),
        ("set by you, but trained for no more", "selbst gesetzt, aber für mehr ist es nicht trainiert"),
        ("Nobody foresaw this: 100 %.", "Nobody foresaw this: 100 %."),
    ],
)
def test_what_people_meet_is_told_in_their_language(below, german):
    assert translate(below) == below
    speak("de")
    assert translate(below) == german
    # What is German already stays as it is.
    assert translate(german) == german


def test_every_sentence_of_the_table_is_still_said_somewhere():
    sources = Path(holdfast.__file__).parent.rglob("*.py")
    said = "".join(path.read_text() for path in sources if path.name != "told.py")
    for english, _ in ERROR_SENTENCES:
        plain = max(re.split(r"\(.*?\)\S?|\\[bdSw.+]\S*|[$^]", english), key=len).strip()
        assert plain in said, english
