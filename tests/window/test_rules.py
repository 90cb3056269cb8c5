"""Rules and decisions are found where a person stated them; stories, questions and pastes are left alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.window.rules import decisions_in, rules_in

ENGLISH_RULES = """
Never push to main.
Always answer in German.
Please never use tabs.
And always run the tests before you commit.
You must not delete any files without asking me.
You must never log passwords!
Do not ever touch the production database.
Don't ever call me by my first name again.
Don't use emojis again.
Do NOT change the public API.
From now on, answer in two sentences.
From now on please write all comments in English.
Going forward, use pnpm instead of npm.
Make sure you never commit secrets.
Make sure not to change the file names.
Under no circumstances share my address.
Only use the standard library.
Use only metric units.
Use spaces, never tabs.
Call me Max from now on.
Run the linter every time you change a file.
Whenever I send a file, summarize it first.
When you write Python, always add type hints.
I want you to always cite your sources.
Important: never deploy on a Friday.
Rule 1: always write a test first.
Passwords must never be stored in plain text.
The API must not return stack traces.
Every answer must always name its source.
Never say "sorry".
You should always use prepared statements.
Write dates with the month as a word.
Round prices to full euros.
Keep the tone friendly with the neighbours.
Leave the signature as it is.
You are not allowed to rename modules.
No emojis, ever.
In future, write the dates like 2026-11-15.
Never use `eval` in this project.
- Never amend commits
"""
GERMAN_RULES = """
Bleib im Ton freundlich gegenüber den Nachbarn.
Lass die Unterschrift so, wie sie ist.
Pushe nie auf main.
Antworte immer auf Deutsch.
Bitte nie Emojis verwenden.
Niemals Passwörter loggen.
Nutze ab jetzt nur noch pnpm.
Ab jetzt antwortest du auf Englisch.
Ab sofort bitte keine Tabs mehr.
Ab jetzt nur noch Deutsch sprechen.
Du darfst nicht auf main pushen.
Du sollst immer zuerst die Tests laufen lassen.
Auf keinen Fall die Datenbank löschen!
Auf keinen Fall dürfen Passwörter im Log landen.
Verwende ausschließlich metrische Einheiten.
Verwenden Sie niemals globale Variablen.
Immer Tests schreiben.
Schreib Kommentare immer auf Englisch.
Ändere niemals die Migrationen.
Wichtig: lösche nie etwas ohne Rückfrage.
Regel: Immer zuerst den Plan zeigen.
Passwörter dürfen niemals im Klartext gespeichert werden.
Ich möchte, dass du immer die Quelle nennst.
Ich will nicht, dass du jemals auf main pushst.
Wenn du Code schreibst, füge immer Typen hinzu.
Jedes Mal, wenn ich dir einen Text schicke, fasse ihn zuerst zusammen.
Künftig bitte kurze Antworten.
In Zukunft nutze bitte Leerzeichen statt Tabs.
Nenne mich ab jetzt Max.
Achte darauf, dass die Tests immer grün sind.
Bitte verwende nie wieder das Wort Synergie.
Unter keinen Umständen Kundendaten weitergeben.
Und sag niemals, dass du ein Mensch bist.
Du darfst keine Dateien löschen.
Führe grundsätzlich erst die Tests aus.
"""
ENGLISH_ORDERS = """
Don't delete anything in the archive folder.
Do not mention the Hartmann project to anyone.
Do not call anybody before nine.
Don't use any abbreviations.
Don't use the word cheap in letters to customers.
From now on, sign my letters with Dr. Weber.
From now on, double-check the totals before you show them.
Answer with bullet points only.
Use British spelling in all letters.
Please keep every answer under five paragraphs.
Do not share my phone number with anyone.
Reply in French only.
Write all dates as day, month, year.
Add a docstring to every function you write.
Do not invent anything.
Don't give anyone my address.
Don't schedule meetings before ten.
Use metric units everywhere.
From this point on, track my expenses in euros.
Don't run migrations unless I tell you to.
Stop using semicolons.
Ask me before you delete files.
No abbreviations, please.
Only book direct flights.
Keep your answers short.
Cite a source for every claim you make.
"""
GERMAN_ORDERS = """
Schicke niemals etwas ohne meine Freigabe ab.
Schlage mir niemals Restaurants mit Fleisch vor.
Sieh immer zuerst in den Kalender, bevor du einen Termin zusagst.
Schicken Sie niemals Rechnungen ohne Anhang.
Lösche nichts im Ordner Archiv.
Benutze keine Abkürzungen.
Ruf niemanden vor neun Uhr an.
Verwende keine Fremdwörter in Briefen an Kunden.
Erwähne das Projekt Hartmann niemandem gegenüber.
Ab sofort unterschreibst du mit meinem vollen Namen.
Ab jetzt kürzt du lange Berichte auf eine Seite.
Antworte nur in Stichpunkten.
Verwende bitte überall metrische Einheiten.
Beginne jeden Brief mit dem Datum.
Iss niemals vor der Kamera.
Sprechen Sie Kunden stets mit Nachnamen an.
Schreibe alle Briefe in der Sie-Form.
Pushe nicht ohne Rückfrage auf main.
Ruf mich nicht vor neun Uhr an.
Frag mich, bevor du Dateien löschst.
Bitte keine Emojis.
Verzichte auf Anglizismen.
Buche nur Direktflüge.
Bezahle Rechnungen nicht, außer ich sage es dir.
Setze in jedem Brief meinen Titel vor den Namen.
"""
ENGLISH_DECISIONS = """
We decided to use PostgreSQL.
Let's use tabs for this.
Let's go with option B.
We'll go with the blue design.
Agreed: two reviews for every change.
Decision: we keep the old API until May.
We've agreed on a weekly release.
We have decided against Kubernetes.
Okay, let's stick with SQLite.
I've decided to go with FastAPI.
We settled on four spaces.
I'll go with the second one.
We're going with Qdrant.
We chose Rust over Go for the parser.
"""
GERMAN_DECISIONS = """
Wir nehmen PostgreSQL.
Entscheidung: Wir bleiben bei SQLite.
Entschieden: Release am Montag.
Wir haben uns für Qdrant entschieden.
Wir haben beschlossen, den Termin zu verschieben.
Dann nehmen wir die zweite Variante.
Okay, wir verwenden vier Leerzeichen.
Lass uns FastAPI nehmen.
Wir haben uns auf zwei Reviews geeinigt.
Ich habe mich gegen Kubernetes entschieden.
Es bleibt bei Freitag.
Vereinbart: Jeder prüft seinen Teil.
"""
ENGLISH_NEITHER = """
People always say that.
Everybody only sees the price.
Write names in the table.
Write numbers to the file.
Keep the language in mind.
Leave me alone.
I never liked Java.
It always crashes when I open the file.
Why does it never finish?
Should I always use HTTPS?
Never mind.
Never heard of it.
Always wanted to try that.
Always happy to help.
My boss always says that tests are a waste of time.
We always go to Italy in summer.
He told me to never give up.
I will never forget that day.
She must not have seen the message.
You never know what happens.
You must be tired.
It was now or never.
I don't know if I will ever use it again.
Never been there before.
The server never answered.
That never works for me.
Better late than never.
As always, thank you.
Could you make sure it works?
If we used Postgres, it would be faster.
Maybe we decided too early.
Should we go with option B?
Let's say we use Kafka.
We haven't decided to move yet.
Let's keep going!
He said "Never push to main."
The manual says: "Always wear gloves."
Don't worry about it.
Please fix the login page.
What if we'll use Redis?
"""
GERMAN_NEITHER = """
Sieht man überall.
Bei uns hört man das nie.
Man merkt das immer erst hinterher.
Lass die Kirche im Dorf.
Lass uns die Datei ansehen.
Das habe ich noch nie gesehen.
Ich war noch nie in Rom.
Soll ich immer HTTPS nehmen?
Warum stürzt es immer ab?
Es ist immer dasselbe mit den Druckern.
Immer noch nicht fertig.
Immer wieder kommt dieser Fehler.
Nie habe ich so etwas gelesen.
Mein Chef sagt immer, dass Tests Zeit kosten.
Wir fahren immer nach Italien.
Das geht auf keinen Fall schneller.
Ich werde das nie vergessen.
Er darf nicht mitkommen.
Sie hat mir nie geschrieben.
Wie immer danke ich dir.
Immer wenn ich speichere, stürzt es ab.
Ab jetzt gehe ich jeden Tag joggen.
Nehmen wir Postgres oder SQLite?
Nehmen wir an, der Server fällt aus.
Wenn wir Kafka nehmen, wird es teuer.
Wir nutzen seit Jahren Jira.
Vielleicht nehmen wir Qdrant.
Wir haben uns noch nicht entschieden.
Wir würden Postgres nehmen.
Im Handbuch steht: „Immer Handschuhe tragen.“
Danke, das hilft mir immer sehr.
Heute ist das Wetter wie immer schlecht.
Ich habe immer Tabs benutzt.
Man soll nie aufgeben.
Bitte behebe den Fehler im Login.
Der Server antwortet nie.
Ob wir uns dafür entschieden haben, weiß ich nicht.
"""

# Said once, of the thing at hand, or told of oneself: nothing that binds what is done later.
NO_STANDING_ORDERS = """
Delete the file.
Write a function that returns all users.
Don't worry about anything.
Don't forget the milk.
List all countries in Europe.
Use all the ingredients from the list.
Do not know anyone there.
Don't have any idea.
Don't think anyone noticed.
Don't change that file.
Don't tell me you forgot everything.
Show me every step of the proof.
Write a story about a man who never answers letters.
Create a table with all dates of the conference.
From now on I will go jogging every morning.
Check all files in this folder for typos.
Add all the numbers in the column.
Lass uns alle Dateien ansehen.
Nenne mir alle Länder in Europa.
Schreibe eine Funktion, die alle Nutzer liefert.
Leute kommen immer zu spät.
Hatte noch nie so viel Spaß.
Suche seit Tagen, finde aber nichts.
Diese Lösung braucht keine Datenbank.
Erzähle mir von einem König, der niemandem traute.
Schreibe eine Mail an alle Kunden.
Hab keine Angst.
Sowas habe ich nie gesagt.
Grüße, wie immer aus Berlin.
Sprache ist niemandem angeboren.
Beide Varianten ändern nichts.
Don't change anything in this function yet.
Write emails to all customers.
Write every possible combination of the letters A, B and C.
Use each word in a sentence.
Suche nur ein Hotel in Rom.
"""


def sentences(*tables):
    return [line for table in tables for line in table.strip().split("\n")]


@pytest.mark.parametrize("sentence", sentences(ENGLISH_RULES, GERMAN_RULES, ENGLISH_ORDERS, GERMAN_ORDERS))
def test_this_is_a_rule(sentence):
    assert rules_in(sentence) == (sentence.removeprefix("- "),)


@pytest.mark.parametrize("sentence", sentences(ENGLISH_DECISIONS, GERMAN_DECISIONS))
def test_this_is_a_decision(sentence):
    assert decisions_in(sentence) == (sentence,)
    assert rules_in(sentence) == ()


@pytest.mark.parametrize(
    "sentence", ["The budget is now 9,900 euros.", "Die Versandtage sind ab jetzt Dienstag und Freitag."]
)
def test_a_value_that_changed_is_carried_like_a_decision(sentence):
    assert decisions_in(f"Hello! {sentence}") == (sentence,)


@pytest.mark.parametrize("sentence", sentences(ENGLISH_NEITHER, GERMAN_NEITHER))
def test_this_is_neither(sentence):
    assert rules_in(sentence) == ()
    assert decisions_in(sentence) == ()


@pytest.mark.parametrize("sentence", sentences(NO_STANDING_ORDERS))
def test_a_task_or_a_story_is_no_rule(sentence):
    assert rules_in(sentence) == ()


@pytest.mark.parametrize(
    "paste",
    [
        "> Never push to main.",
        "```\nNever push to main.\n```",
        "Look at this: `never push to main`",
        "~~~ text\nAlways answer in German.\n~~~",
        "<file>\nNever push to main.\n</file>",
        "| rule | text |\n| 1 | Never push to main. |",
        "2026-11-15 10:42:07 WARN Never push to main.",
        'Traceback (most recent call last):\nFile "a.py", line 3\nE   Never push to main.',
        "What do you think?\n\nFrom: Ann\nSubject: rules\n\nNever push to main.",
        "Was meinst du?\n\nAm 15.11.2026 schrieb Anna Berg:\nAb jetzt nutze immer Tabs.",
        "Translate this text:\n\nNever push to main. Always be careful.",
        "Fasse diese Nachricht zusammen:\nPushe nie auf main.",
        "+ Never push to main.",
        "// Never push to main.",
        "Paragraph one of a long document. " * 15
        + "\n\n"
        + "\n\n".join(["Another paragraph of it. " * 10] * 8 + ["Never push to main. " + "More. " * 130])
        + "\n\nSummarise it.",
    ],
)
def test_what_somebody_else_said_is_no_rule(paste):
    assert rules_in(paste) == ()
    assert decisions_in(paste.replace("Never push to main", "Let's use Rust")) == ()


def test_a_rule_is_found_among_other_words_and_around_a_paste():
    text = (
        "I have a problem with the login. Never store passwords\nin plain text. Can you look?\n\n"
        "```\nAlways red\n```\n\n1. Always add a test.\n2. Fix it"
    )
    assert rules_in(text) == ("Never store passwords in plain text.", "Always add a test.")


def test_a_long_paste_does_not_hide_the_rule_before_it():
    paste = "\n\n".join(["A paragraph out of some document, which goes on for a while. " * 4] * 20)
    assert rules_in(f"Ab jetzt antwortest du auf Deutsch.\n\n{paste}") == (
        "Ab jetzt antwortest du auf Deutsch.",
    )


def test_sentence_of_two_hundred_characters_is_not_a_rule():
    assert rules_in("Never " + "push it " * 30) == ()


def test_the_same_rule_counts_once():
    assert rules_in("Never push to main. Thanks!\n\nNever push to main.") == ("Never push to main.",)


def test_an_ordinal_does_not_end_a_sentence():
    assert rules_in("Wer ist die neue Leiterin der 10. Abteilung im Haus?") == ()
    assert rules_in("Schreib im 2. Absatz immer kurz. Danke.") == ("Schreib im 2. Absatz immer kurz.",)
    assert rules_in("Ich wohne in Haus 3. Bitte nie klingeln.") == ("Bitte nie klingeln.",)


def test_an_abbreviation_does_not_end_a_rule():
    assert rules_in("Never use e.g. tabs here.") == ("Never use e.g. tabs here.",)
    assert rules_in("Nutze nie z. B. Tabs.") == ("Nutze nie z. B. Tabs.",)


@given(st.text())
@settings(deadline=None)
def test_any_text_can_be_read_and_what_is_found_was_written(text):
    collapsed = " ".join(text.split())
    for results in (*rules_in(text), *decisions_in(text)):
        assert results in collapsed
        assert len(results) < 200


def test_a_rule_may_stand_behind_several_openings_and_in_bold():
    assert rules_in("Ok, and please no emojis, ever.") == ("Ok, and please no emojis, ever.",)
    assert rules_in("Important: **Do not call anybody before nine.**") == (
        "Important: **Do not call anybody before nine.**",
    )


def test_a_curly_apostrophe_is_an_apostrophe():
    assert rules_in("Don’t delete anything in the archive.") == ("Don’t delete anything in the archive.",)


@pytest.mark.parametrize(
    "piece",
    [
        "never ",
        "`",
        '"',
        "<a>",
        "Always use x, ",
        "x" * 50,
        "please ",
        "- \n",
        "Don't use any ",
        "Ruf den alten ",
    ],
)
def test_a_large_text_is_read_in_one_go(piece):
    rules_in(piece * 20_000 + "never")
    decisions_in(piece * 20_000 + "let's use")
