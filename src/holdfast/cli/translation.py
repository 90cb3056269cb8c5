"""German for sentences that exist in English only: those of Typer, and errors raised below the command line.

A table of patterns, applied only where German is used; anything else is passed on as it is.
"""

import re

from holdfast.i18n import say

# What the library of the command line says.
TYPER_SENTENCES = (
    (r"^Error: ", "Fehler: "),
    (r"Try '(.*)' for help\.", r"Hilfe gibt '\1'."),
    (r"No such command '(.*?)'\.", r"Den Befehl '\1' gibt es nicht."),
    (r"No such option: (\S+)", r"Die Option \1 gibt es nicht."),
    (r"Did you mean (?:one of: )?(.+?)\?", r"Gemeint ist vielleicht \1."),
    (r"\(Possible options: (.+?)\)", r"Gemeint ist vielleicht \1."),
    (r"Missing (?:argument|option|parameter) ('.*?')\.", r"Es fehlt \1."),
    (r"Got unexpected extra argument(?:\(s\)|s)? \((.*)\)", r"Das ist zu viel: \1"),
    (r"Option ('.*?') requires an argument\.", r"Zur Option \1 fehlt der Wert."),
    (r"Option ('.*?') does not take a value\.", r"Die Option \1 nimmt keinen Wert."),
    (r"Invalid value for (.+?): ", r"Das geht nicht für \1: "),
    (r"Input should be a valid integer.*", "Es muss eine ganze Zahl sein."),
    (r"Input should be a valid number.*", "Es muss eine Zahl sein."),
    (r"Input should be less than or equal to (\S+)", r"Es darf höchstens \1 sein."),
    (r"Input should be greater than or equal to (\S+)", r"Es muss mindestens \1 sein."),
    (r"(?:Value error, )?('[^']*') is not one of (.+)\.", r"\1 ist keins von \2."),
    (r"^Aborted!$", "Abgebrochen."),
)
# What the parts below say. A test sees to it that they still do.
ERROR_SENTENCES = (
    # What is not there
    (r"conversation '(.*?)' not found\.?", r"Das Gespräch '\1' gibt es hier nicht."),
    (r"Several conversations begin with '(.*?)'\.", r"Mehrere Gespräche beginnen mit '\1'."),
    (r"Give more of the id\.", "Mehr von der Id angeben."),
    (r"message '(.*?)' not found(?: in (\w+))?\.?", r"Die Nachricht '\1' gibt es nicht."),
    (r"(\w+) has no message number (\d+)\.", r"\1 hat keine Nachricht Nummer \2."),
    (r"It has (\d+) messages\.", r"Es hat \1 Nachrichten."),
    (
        r"(`holdfast \w+ (?:show )?\w+`) has (?:the|their) ids, and so has \S+?(?:;.*)?$",
        r"\1 nennt die Ids.",
    ),
    (r"no decision '(.*?)' is in force in (\w+)\.", r"In \2 gilt keine Entscheidung '\1'."),
    (r"decision '(.*?)' not found(?: in (\w+))?\.?", r"Die Entscheidung '\1' gibt es nicht."),
    (r"nothing was shortened or left out in (\w+)\.?", r"In \1 wurde nichts gekürzt oder weggelassen."),
    (r"nothing of (\w+) was sent to a model yet\.", r"Von \1 wurde noch nichts an ein Modell geschickt."),
    (
        r"There is a window once something was asked in it\.",
        "Ein Fenster gibt es, sobald darin etwas gefragt wurde.",
    ),
    (r"(\w+) had no window of (\d+) tokens\.", r"\1 hatte kein Fenster von \2 Token."),
    (r"There are these: ", "Es gibt: "),
    (r"There is no memory ('.*?') here\.", r"Die Erinnerung \1 gibt es hier nicht."),
    (r"See the list for those there are\.", "`holdfast memory list` nennt, welche es gibt."),
    (r"There is no note (.+?)\.(?= |$)", r"Die Notiz \1 gibt es nicht."),
    (r"There is no finding (.+?)\.(?= |$)", r"Die Recherche \1 gibt es nicht."),
    (r"There is no proposal (.+?)\.(?= |$)", r"Den Vorschlag \1 gibt es nicht."),
    (r"See which ones (?:there are|are open)\.", "Die Liste nennt, welche es gibt."),
    (r"There is no key (.+?)\.(?= |$)", r"Den Schlüssel \1 gibt es nicht."),
    (r"`holdfast keys list` has their ids\.", "`holdfast keys list` nennt die Ids."),
    # Names
    (r"('.*?') is no name for a (?:user|project)\.", r"\1 ist hier kein Name."),
    (
        r"Up to 99 letters, digits, spaces, and \. @ \+ - _; a letter or digit first\.",
        "Bis zu 99 Buchstaben, Ziffern, Leerzeichen und . @ + - _; zuerst ein Buchstabe oder eine Ziffer.",
    ),
    # Models and their servers
    (r"model '(.*?)' not found\.?", r"Das Modell '\1' gibt es nicht."),
    (r"`holdfast models` lists what the server has\.", "`holdfast models` nennt, was der Server hat."),
    (
        r"No model server was found; the only model here is '(.*?)'\.",
        r"Kein Modellserver wurde gefunden; das einzige Modell hier ist '\1'.",
    ),
    (r"The model server has no models\.", "Der Modellserver hat keine Modelle."),
    (r"Get one first: ", "Erst eins holen: "),
    (r"no model server answers at (\S+)\.(?= |$)", r"Unter \1 antwortet kein Modellserver."),
    (r"Start it, or check the address\.", "Ihn starten oder die Adresse prüfen."),
    (r"(\S+) hung up without an answer\.", r"\1 hat ohne Antwort aufgelegt."),
    (r"Look at the model server's log\.", "Das Log des Modellservers ansehen."),
    (r"the usual prices of text", "nach den üblichen Preisen für Text"),
    (r"^the prices of (\w+)$", r"nach den Preisen von \1"),
    # Where a window comes from
    (r"^set by you\b", "selbst gesetzt"),
    (r"^the running server\b", "der laufende Server"),
    (r"^the Modelfile\b", "das Modelfile"),
    (r"^the client\b", "das Programm"),
    (r"^the model itself\b", "das Modell selbst"),
    (r"^known of (\S+?)(?=,|$)", r"bekannt von \1"),
    (r"^usual for (\S+) parameters", r"üblich bei \1 Parametern"),
    (r"^nothing is known of this model", "über das Modell ist nichts bekannt"),
    (r"^trained for no more$", "für mehr ist es nicht trainiert"),
    (r", but trained for no more$", ", aber für mehr ist es nicht trainiert"),
    # Searching
    (r"Only words were compared: ", "Nur Wörter wurden verglichen: "),
    (r"There is no embedder\.", "Es gibt keinen Embedder."),
    (r"The embedder is starting\.", "Der Embedder startet."),
    (r"(\d+%) of the vectors of (.+?) are made\.", r"\1 der Vektoren von \2 sind gemacht."),
)


def translate(text: str) -> str:
    """Translate the sentences of a text that are in the tables, if the language is German."""
    german = text
    for english, meant in (*TYPER_SENTENCES, *ERROR_SENTENCES) if say("en", "de") == "de" else ():
        german = re.sub(english, meant, german, flags=re.MULTILINE)
    return german
