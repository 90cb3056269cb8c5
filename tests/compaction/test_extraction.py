"""What a person says of their world is found by rules; questions, tasks, small talk and pastes are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.compaction.extraction import ExtractedMemory, extract
from holdfast.compaction.flush import collect_by_rules
from holdfast.compaction.requests import read_memory_requests
from holdfast.messages import Message, Text, ToolResult
from holdfast.window.items import Item

SAID = [
    ("fact", "My name is Ada Novak and I run a bakery in Leeds."),
    ("fact", "By the way, my boss is Helen Carter."),
    ("fact", "We use PostgreSQL 16 on all our servers."),
    ("fact", "Our staging server is called nora-02."),
    ("fact", "I work as a nurse at St. Mary's Hospital."),
    ("fact", "I'm allergic to peanuts."),
    ("fact", "My daughter's birthday is on 14 June."),
    ("fact", "The contract with Lindner ends on 31 March 2027."),
    ("fact", "We have 14 delivery vans and 22 drivers."),
    ("fact", "Our monthly budget for cloud hosting is $1,200."),
    ("fact", "Tom Baxter is our accountant."),
    ("fact", "Maria Lopez leads the purchasing department."),
    ("fact", "I moved to Bristol in 2019."),
    ("fact", "I have two kids, Ben and Lucy."),
    ("fact", "I live in Edinburgh with my partner."),
    ("fact", "We deploy to production every Thursday at 6 pm."),
    ("fact", "Our company is based in Rotterdam."),
    ("fact", "I bought a used Volvo V60 for $18,500 in March."),
    ("fact", "Our API rate limit is 300 requests per minute."),
    ("fact", "My flight to Oslo leaves on 3 May at 07:40."),
    ("decision", "We decided to use Redis for the session cache because Postgres was too slow."),
    ("decision", "Let's go with option B, the blue logo from Studio Kern."),
    ("decision", "Decision: invoices are sent on the first Monday of the month."),
    ("decision", "We agreed to drop Internet Explorer support."),
    ("preference", "I prefer short answers without bullet points."),
    ("preference", "From now on, always answer in British English."),
    ("preference", "I'd rather have tabs than spaces in Go code."),
    ("preference", "I love jazz and hate country music."),
    ("preference", "My favourite editor is Helix."),
    ("preference", "Never use emojis in mails to customers."),
    ("fact", "Ich heiße Jonas Weber und wohne in Graz."),
    ("fact", "Mein Chef heißt Thomas Lindner."),
    ("fact", "Frau Schmidt leitet den Einkauf."),
    ("fact", "Wir setzen PostgreSQL 16 auf allen Servern ein."),
    ("fact", "Unser Server heißt nora-02."),
    ("fact", "Ich arbeite bei Siemens als Elektriker."),
    ("fact", "Ich bin allergisch gegen Nüsse."),
    ("fact", "Meine Tochter hat am 14. Juni Geburtstag."),
    ("fact", "Der Vertrag mit Lindner läuft am 31. März 2027 aus."),
    ("fact", "Wir haben 14 Lieferwagen und 22 Fahrer."),
    ("fact", "Unser Budget beträgt 5.000 Euro im Monat."),
    ("fact", "Herr Baxter ist unser Steuerberater."),
    ("fact", "Ich bin 2019 nach Bremen gezogen."),
    ("fact", "Ich habe zwei Kinder, Ben und Lucie."),
    ("fact", "Ich bin Krankenpfleger im Klinikum Nord."),
    ("fact", "Übrigens: unsere Firma sitzt in Rosenheim."),
    ("fact", "Am 3. Mai fliege ich nach Oslo."),
    ("fact", "Die Abgabe der Masterarbeit ist am 15.09.2026."),
    ("fact", "Meine Frau arbeitet als Lehrerin in Köln."),
    ("fact", "Unser Drucker ist ein HP LaserJet 4200."),
    ("decision", "Wir haben uns für Redis entschieden, weil Postgres zu langsam war."),
    ("decision", "Wir haben beschlossen, die Rechnungen immer am Monatsersten zu verschicken."),
    ("decision", "Entscheidung: Wir nehmen das Angebot von Kern."),
    ("decision", "Gut, dann nehmen wir den Tarif mit 24 Monaten Laufzeit."),
    ("preference", "Ich bevorzuge kurze Antworten ohne Aufzählungen."),
    ("preference", "Antworte ab jetzt immer auf Deutsch."),
    ("preference", "Ich mag lieber Tee als Kaffee."),
    ("preference", "Mein Lieblingseditor ist Helix."),
    ("preference", "Mir sind Tabellen lieber als Fließtext."),
    ("preference", "Verwende nie Emojis in Mails an Kunden."),
]
NO_MEMORIES = [
    "Write me a function that sorts a list of 200 numbers.",
    "Can you help me plan a trip to Rome in May?",
    "Hello, how are you?",
    "Thanks, that's great!",
    "If I had 5,000 euros, I would buy a car.",
    "What is the capital of France?",
    "My code is not working.",
    "I have a question about Python 3.11.",
    "I like the second version better.",
    "I'm a bit confused by this.",
    "Let's go with that.",
    "The Battle of Hastings was in 1066.",
    "I'm getting an error in line 42.",
    "I think we should maybe use Redis.",
    "Suppose my boss is Ada.",
    "I want you to act as a lawyer.",
    "Schreib mir eine Funktion, die 200 Zahlen sortiert.",
    "Kannst du mir helfen, eine Reise nach Rom zu planen?",
    "Hallo, wie geht's?",
    "Danke, das ist super!",
    "Wenn ich 5.000 Euro hätte, würde ich ein Auto kaufen.",
    "Was ist die Hauptstadt von Frankreich?",
    "Mein Code geht nicht.",
    "Ich habe eine Frage zu Python 3.11.",
    "Mir gefällt die zweite Version besser.",
    "Ich bin etwas verwirrt.",
    "Angenommen, mein Chef heißt Ada.",
    "Ich bekomme einen Fehler in Zeile 42.",
    "Die Schlacht bei Hastings war 1066.",
    "Ich brauche bis morgen drei Vorschläge.",
    "Ich bin mir nicht sicher.",
    "Mach die Schrift 14 px groß.",
    "Ich arbeite gerade an einem Skript, das CSV-Dateien einliest.",
    "Wir verwenden in dem Beispiel eine Schleife.",
    "I love their work.",
    "I attended her baby shower in February.",
    "I'm a huge fan of this genre!",
    "I sold my previous one for $200.",
    "The appointment is tomorrow at 10.",
    "Übersetze ins Englische: Ich wohne in Berlin und habe zwei Katzen.",
    "Translate to German: I live in Leeds and have two cats.",
    "Write a story in which I am a doctor in Rome. My name is Ada.",
    "> I live in Berlin",
    'My friend wrote "I work at Siemens".',
    "```\nmy name is Ada\n```",
    "My name is Ada?",
]


def said(*texts: str) -> list[ExtractedMemory]:
    return extract([Item(f"m{n}", Message.of("user", text)) for n, text in enumerate(texts)])


def told(*turns: tuple[str, str]) -> list[ExtractedMemory]:
    return extract([Item(f"m{n}", Message.of(role, text)) for n, (role, text) in enumerate(turns)])


@pytest.mark.parametrize(("kind", "sentence"), SAID)
def test_a_plain_statement_is_remembered_as_what_it_is(kind, sentence):
    (memory,) = said(sentence)
    assert memory.kind == kind
    assert memory.messages == ("m0",)
    # Nothing but how it begins is changed.
    assert memory.text.rstrip(".").casefold() in sentence.casefold()


@pytest.mark.parametrize("text", NO_MEMORIES)
def test_questions_tasks_small_talk_and_pastes_are_no_memories(text):
    assert said(text) == []


def test_decisions_and_rules_outweigh_preferences_which_outweigh_facts():
    weights = [
        said(text)[0].importance
        for text in (
            "We decided to use Redis for sessions.",
            "I prefer short answers.",
            "We use PostgreSQL 16.",
        )
    ]
    assert weights == sorted(weights, reverse=True)
    assert weights == [0.8, 0.7, 0.5]
    (stressed,) = said("Important: we use PostgreSQL 16.")
    assert 0.5 < stressed.importance <= 1


@pytest.mark.parametrize(
    ("text", "memory"),
    [
        ("By the way, my boss is Helen Carter.", "My boss is Helen Carter."),
        ("I work at Siemens, can you help me with a mail?", "I work at Siemens."),
        ("Ich esse kein Fleisch, was kann ich heute kochen?", "Ich esse kein Fleisch."),
        ("Übrigens: unsere Firma sitzt in Rosenheim.", "Unsere Firma sitzt in Rosenheim."),
        ("I'm looking for a gift, and my sister lives in Rome.", "My sister lives in Rome."),
        ("I met Carla at a festival on January 15, 2023, but I'm not sure how to go on.",
         "I met Carla at a festival on January 15, 2023."),
    ],
)  # fmt: skip
def test_statement_is_kept_without_trailing_question(text, memory):
    assert [results.text for results in said(text)] == [memory]


def test_a_no_at_the_beginning_is_never_lost():
    (memory,) = said("No deploys on Fridays, ever!")
    assert memory.text == "No deploys on Fridays, ever!"


def test_a_decision_keeps_its_reason():
    (memory,) = said("We decided to use Redis for sessions. Because Postgres was too slow. And it rains.")
    assert memory.text == "We decided to use Redis for sessions. Because Postgres was too slow."


@pytest.mark.parametrize(
    ("texts", "memory"),
    [
        (["Selling online over Ticketino did not work. Never do that again."], 0),
        (["Der Online-Verkauf über Ticketino hat nicht geklappt. Das probieren wir nicht nochmal."], 0),
        (["Am 21. ist dort eine Hochzeit. Wir müssen auf den 28. März ausweichen."], 0),
        (["Frauke hat abgesagt. Für sie springt Marit Oevermann ein."], 0),
        (["Die Dachziegel kosten 8.400 Euro.", "Ach Quatsch, 9.200 Euro, hatte mich verguckt."], 1),
        (["The tiles cost 8,400 euros.", "Oops, I meant 9,200 euros."], 1),
    ],
)
def test_a_statement_is_kept_with_what_it_leans_on(texts, memory):
    assert said(*texts)[memory].text == " ".join(texts)


def test_long_quotes_of_others_are_no_statements_of_the_person():
    post = (
        "Unser Budget lag bei 9.800 Euro. Nehmt niemals ein E-Piano. Wir verkaufen Karten für 22 Euro. " * 5
    )
    assert said(f'hab das in einem Forum gefunden, interessant oder? "{post.strip()}"') == []


def test_own_words_between_two_short_quotes_are_not_lost():
    own = "Our server is called arion. Never push to main. " + "It rained again and again all day. " * 12
    texts = [memory.text for memory in said(f'Look at this. "Foo" is odd. {own}The other one is "Bar"')]
    assert {"Our server is called arion.", "Never push to main."} <= set(texts)


def test_what_is_said_twice_is_one_memory_with_both_sources():
    (memory,) = said("We use PostgreSQL 16.", "Thanks!", "we use PostgreSQL 16")
    assert memory.messages == ("m0", "m2")


def test_confirmed_decision_counts_only_if_user_named_it():
    (memory,) = told(
        ("user", "PostgreSQL then, please."), ("assistant", "Agreed: PostgreSQL is our main database.")
    )
    assert (memory.kind, memory.messages) == ("decision", ("m0", "m1"))
    assert (
        told(("user", "Is PostgreSQL any good?"), ("assistant", "We'll use PostgreSQL 16 for storage.")) == []
    )
    assert told(("user", "Which one?"), ("assistant", "Agreed: PostgreSQL is our main database.")) == []


def test_assistant_and_tool_statements_do_not_become_memories():
    assert told(("user", "Hi"), ("assistant", "My name is Ada and I live in Leeds. I prefer tea.")) == []
    result = ToolResult((Text("My name is Ada and I live in Leeds."),), call_id="c")
    assert extract([Item("a", Message("user", (result,))), Item("b", Message("tool", (result,)))]) == []


@pytest.mark.parametrize(
    ("text", "memories"),
    [
        ("Remember that my dog is called Rex.", [("fact", "My dog is called Rex.")]),
        ("Please remember: the deploy key lives in vault 7.", [("fact", "The deploy key lives in vault 7.")]),
        ("Please remember I'm vegetarian.", [("fact", "I'm vegetarian.")]),
        ("Can you remember that our office closes at 6 pm?", [("fact", "Our office closes at 6 pm.")]),
        ("Don’t forget that we use PostgreSQL 16.", [("fact", "We use PostgreSQL 16.")]),
        ("Note for later: the customer number is K-4711.", [("fact", "The customer number is K-4711.")]),
        ("Keep in mind that I prefer short answers.", [("preference", "I prefer short answers.")]),
        ("Remember to always answer in German.", [("preference", "Always answer in German.")]),
        ("Save this to memory: our VAT rate is 19 %.", [("fact", "Our VAT rate is 19 %.")]),
        ("remember the number 4711", [("fact", "Remember the number 4711.")]),
        ("Merk dir, dass der Server Nora heißt.", [("fact", "Der Server heißt Nora.")]),
        ("Merke dir bitte, dass ich Vegetarier bin!", [("fact", "Ich bin Vegetarier.")]),
        ("merk dir: meine Katze heißt Minka", [("fact", "Meine Katze heißt Minka.")]),
        ("Vergiss nicht, dass Frau Schmidt den Einkauf leitet.",
         [("fact", "Frau Schmidt leitet den Einkauf.")]),
        ("Kannst du dir merken, dass unser Budget 5.000 Euro beträgt?",
         [("fact", "Unser Budget beträgt 5.000 Euro.")]),
        ("Speichere, dass wir am 3. Mai umziehen.", [("fact", "Speichere, dass wir am 3. Mai umziehen.")]),
        ("Merk dir, dass die Frau von Peter Anna heißt.",
         [("fact", "Merk dir, dass die Frau von Peter Anna heißt.")]),
        ("Übrigens, merk dir bitte, dass ich mittwochs nicht im Büro bin, wegen meines Kurses.",
         [("fact", "Ich bin mittwochs nicht im Büro, wegen meines Kurses.")]),
        ("Und noch etwas: Merk dir doch bitte, dass wir montags geschlossen haben, weil der Chef segelt.",
         [("fact", "Wir haben montags geschlossen, weil der Chef segelt.")]),
        ("Ach übrigens, könntest du dir bitte merken, dass ich in Kiel wohne?",
         [("fact", "Ich wohne in Kiel.")]),
        ("Übrigens, merk dir, dass ich gern lange, ruhige Wege gehe.",
         [("preference", "Merk dir, dass ich gern lange, ruhige Wege gehe.")]),
        ("Merk dir, dass ich kein Fleisch esse, aber Fisch mag.",
         [("preference", "Merk dir, dass ich kein Fleisch esse, aber Fisch mag.")]),
        ("Speichere dir: Antworte immer auf Deutsch.", [("preference", "Antworte immer auf Deutsch.")]),
        ("Notiere dir, dass ich lieber Tee als Kaffee trinke.",
         [("preference", "Ich trinke lieber Tee als Kaffee.")]),
        ("Merk dir die Kundennummer K-4711.", [("fact", "Merk dir die Kundennummer K-4711.")]),
        ("Thanks! Remember that Ada is away. And remember: Bob is back.",
         [("fact", "Ada is away."), ("fact", "Bob is back.")]),
    ],
)  # fmt: skip
def test_memory_request_becomes_complete_sentence(text, memories):
    assert read_memory_requests(text) == memories
    assert said(text) == [], "it was written at once, and not again at the flush"


@pytest.mark.parametrize(
    ("text", "memory"),
    [
        ("Merk dir, dass das Backup freitags läuft.", "Das Backup läuft freitags."),
        ("Merk dir: das neue Büro ist in Kiel.", "Das neue Büro ist in Kiel."),
        ("Remember that this project uses tabs.", "This project uses tabs."),
    ],
)
def test_an_article_is_no_empty_word(text, memory):
    assert [report for _, report in read_memory_requests(text)] == [memory]


@pytest.mark.parametrize("text", ["Merk dir das für später.", "Merk dir das bitte.", "Remember that please."])
def test_what_only_points_at_something_is_no_wish(text):
    assert read_memory_requests(text) == []


@pytest.mark.parametrize(
    ("text", "memory"),
    [
        ("The gate code is 7788. Merk dir das.", "The gate code is 7788."),
        ("The gate code is 7788. Please remember that.", "The gate code is 7788."),
        ("The gate code is 7788, please remember that.", "The gate code is 7788."),
        ("Der Torcode ist 7788, merk dir das bitte.", "Der Torcode ist 7788."),
        ("Note this down. The gate code is 7788.", "The gate code is 7788."),
        ("Save this: the gate code is 7788.", "The gate code is 7788."),
        ("Don't forget we ship on Tuesdays.", "We ship on Tuesdays."),
        ("For the record: the gate code is 7788.", "The gate code is 7788."),
        ("Für später: der Torcode ist 7788.", "Der Torcode ist 7788."),
        ("Notier dir das: der Torcode ist 7788.", "Der Torcode ist 7788."),
        ("Schreib dir auf: der Torcode ist 7788.", "Der Torcode ist 7788."),
        ('"Merk dir, dass der Torcode 7788 ist."', "Der Torcode ist 7788."),
        ("<user_query>\nRemember that the gate code is 7788.\n</user_query>", "The gate code is 7788."),
    ],
)
def test_there_are_many_ways_to_ask(text, memory):
    assert [report for _, report in read_memory_requests(text)] == [memory]


@pytest.mark.parametrize(
    "wish", ["Merk dir das!", "Please remember that.", "Note this down.", "Schreib dir das auf."]
)
def test_this_may_be_what_was_said_in_the_message_before(wish):
    before = ["Hello there!", "My sister's dog is called Rex. Nice weather, isn't it?"]
    assert [report for _, report in read_memory_requests(wish, before)] == ["My sister's dog is called Rex."]
    assert read_memory_requests(wish) == []


def test_what_a_later_message_takes_back_is_not_remembered():
    assert said("We're going with Kafka for the events.", "Hm, forget the Kafka idea again.") == []
    (memory,) = said("We're going with Redis for the cache.", "Hm, forget the Kafka idea again.")
    assert "Redis" in memory.text


def test_a_long_wish_is_kept_whole():
    places = ", ".join(f"house {number} in the street of the {number}th of May" for number in range(1, 12))
    assert read_memory_requests(f"Please remember that the parcels go to {places}.") == [
        ("fact", f"The parcels go to {places}.")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Remember when we went to Rome?", "Do you remember that day?", "I remember that we talked about it.",
        "Note that the array is sorted.", "Speichere die Datei unter test.py.", "Merk dir das.",
        "Save the file.", "Remember that time in Paris?", "Don't forget to add tests.",
        'He said "remember that I am king".',
        "Can you remember what I said?", "Ich kann mir nicht merken, dass es so ist.",
        "Notiere die Ergebnisse in einer Tabelle.", "Denk daran, die Tests laufen zu lassen.",
        "Add this to the file: import os", "```\nremember that x is 3\n```", "> Merk dir, dass ich gehe.",
    ],
)  # fmt: skip
def test_talk_about_remembering_is_no_wish(text):
    assert read_memory_requests(text) == []


PIECES = [
    "I",
    "my boss is",
    "Ada",
    "on 3 May",
    "wir nutzen",
    "merk dir, dass",
    ",",
    ".",
    "?",
    "if",
    "\n",
    "remember that",
    "$5",
]


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join), max_size=4))
def test_any_text_gives_clean_memories_and_the_same_again(texts):
    results = said(*texts)
    assert results == said(*texts)
    for memory in results:
        assert memory.text
        assert memory.text == memory.text.strip()
        assert 0 <= memory.importance <= 1
        assert memory.messages
    assert len({memory.text for memory in results}) == len(results)


def test_a_memory_is_dated_by_when_it_was_said():
    words = ["The budget is 4,200 euros.", "The server is called arion."]
    items = [Item(f"m_{at}", Message("user", (Text(text),)), at=100.0 + at) for at, text in enumerate(words)]
    assert [memory.at for memory in collect_by_rules(items)] == [100.0, 101.0]


@pytest.mark.parametrize(
    "text",
    [
        "Meine IBAN ist DE89 3704 0044 0532 0130 00.",
        "Our account for invoices is AT61 1904 3002 3457 3201.",
        "My credit card number is 4111 1111 1111 1111.",
        "Doch lieber auf DE89 3704 0044 0532 0130 00 statt auf das Konto 4711.",
    ],
)
def test_account_numbers_are_not_remembered_unasked(text):
    assert said(text) == []


def test_an_account_number_is_remembered_on_request():
    assert read_memory_requests("Merk dir: Meine IBAN ist DE89 3704 0044 0532 0130 00.") == [
        ("fact", "Meine IBAN ist DE89 3704 0044 0532 0130 00.")
    ]


def test_what_shall_not_be_tried_again_is_remembered_with_what_failed():
    [memory] = said("Bumping stripe broke everything. We won't try that again.")
    assert memory.text == "Bumping stripe broke everything. We won't try that again."


def test_a_new_value_alone_is_only_a_correction():
    (memory,) = said("Make it 450 instead of 300.")
    assert memory.corrects
    assert said("What if we make it 450 instead of 300?") == []
    assert not any(memory.corrects for memory in said("Our budget is now 4,200 euros."))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Hast du mit ihr gesprochen? Die heißt übrigens Frau Thomsen, Durchwahl 77 23.", False),
        (
            "Ich hab mit der Steuerberaterin telefoniert. Die heißt übrigens Frau Thomsen, Durchwahl 77 23.",
            True,
        ),
        ("Die Artikel sind fertig. Die liegen in export/artikel.csv.", True),
    ],
)
def test_a_fact_that_points_back_is_kept_with_its_object(text, kept):
    assert (text in [memory.text for memory in said(text)]) is kept
