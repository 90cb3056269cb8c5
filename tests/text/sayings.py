"""Sentences as people type them, by what they state, German and English. Data for `test_statements`."""

# What should be kept: whatever the kind, something is.
KEPT_GERMAN = """
rule|Kleiner Hinweis vorweg: Releases macht bei uns nur die Petra.
rule|Bevor etwas an die Presse geht, muss es über meinen Tisch.
rule|Nachts werden bei uns keine Server neu gestartet.
rule|Fremde Lizenzen kommen mir nicht ins Projekt.
rule|Ab nächster Woche bitte alle Tickets mit Schätzung anlegen.
rule|Rabatte über zehn Prozent gibt's nur mit Unterschrift vom Vertrieb.
rule|Variablennamen bitte durchgängig auf Englisch.
rule|Jede Rechnung wird vor dem Versand gegengelesen.
rule|In der Küche wird grundsätzlich nicht geraucht.
rule|Unsere Azubis dürfen unter keinen Umständen alleine an die Presse.
rule|Die Kinder schauen unter der Woche nicht fern.
rule|Überschriften ohne Punkt am Ende.
rule|Vor jedem Deployment muss ein Backup gezogen werden.
rule|Ganz wichtig noch: Kundendaten niemals per Mail verschicken.
rule|Antworten bitte nie länger als fünf Sätze.
rule|Bei uns gilt: wer das Build kaputt macht, repariert es.
rule|Fass die Migrationen nicht an.
rule|Keine neuen Abhängigkeiten ohne Absprache.
rule|Bitte nicht direkt auf den Hauptzweig pushen.
rule|Schuhe bleiben bei uns im Flur.
decision|So, wir haben lange diskutiert und nehmen jetzt doch Vue.
decision|Der Umzug wird auf das Frühjahr verschoben.
decision|Ich habe zugesagt, ab März arbeite ich in Teilzeit.
decision|Das alte Forum wird zum Jahresende abgeschaltet.
decision|Wir steigen von Jenkins auf GitLab CI um.
decision|Also abgemacht: die Feier ist im Garten.
decision|Beim Urlaub bleibt es bei Kroatien.
decision|Für den Shop wird es Shopware, das steht jetzt fest.
decision|Die Mobilversion lassen wir erst einmal weg und machen zuerst das Web.
decision|Wir haben uns gegen den Kredit entschieden.
preference|Könntest du mir in Zukunft immer gleich ein Beispiel dazuschreiben?
preference|Tabellen sind mir lieber als lange Absätze.
preference|Ich kann Rosinen nicht ausstehen.
preference|Am liebsten telefoniere ich vormittags.
preference|Mir wäre es lieb, wenn du mich duzt.
preference|Ich stehe total auf Krimis aus Skandinavien.
preference|Beim Wandern mag ich keine überlaufenen Wege.
preference|Wären Sie so freundlich, künftig kürzer zu antworten?
preference|Lange Einleitungen nerven mich.
preference|Ich trinke Kaffee nur mit Milch.
fact|Unsere Hausnummer ist 17, nicht 71.
fact|Der Testserver hat die Adresse 10.0.4.12.
fact|Meine Mutter wohnt seit letztem Herbst in Lübeck.
fact|Die Jahreshauptversammlung ist am 14. Mai.
fact|Wir sind vier Leute in der Buchhaltung.
fact|Ich bin von Beruf Schreinerin.
fact|Mein Bruder hat Zöliakie.
fact|Montags habe ich immer bis 20 Uhr Training.
fact|Unser Lieferant für Schrauben ist die Firma Wegener.
fact|Der Vertrag mit dem Vermieter läuft bis Ende 2028.
fact|Für die Renovierung stehen uns 8.000 Euro zur Verfügung.
fact|Frau Özdemir kümmert sich um die Personalakten.
fact|Unsere Datenbank heißt kunden_prod und läuft auf MariaDB 10.6.
fact|Kannst du das umrechnen? Mein Auto verbraucht 6,2 Liter.
fact|Die Kita schließt um 16:30 Uhr.
fact|Ich hab Höhenangst, das solltest du bei den Touren bedenken.
fact|Unser Hund heißt Balu und ist acht Jahre alt.
fact|Der Zug fährt jeden Tag um 6:12 Uhr.
fact|Mein Arbeitgeber ist die Stadt Münster.
fact|Wir heizen mit Pellets, der Kessel ist von 2015.
fact|Das Passwort-Team sitzt in Gebäude C.
"""

KEPT_ENGLISH = """
rule|Quick heads-up: only Petra does releases here.
rule|Anything that goes to the press has to cross my desk first.
rule|We don't restart servers at night.
rule|Third-party licences must not end up in the project.
rule|From next week on please create all tickets with an estimate.
rule|Discounts above ten percent require a signature from sales.
rule|Variable names in English throughout, please.
rule|Every invoice gets proofread before it goes out.
rule|As a rule there's no smoking in the kitchen.
rule|Our trainees must under no circumstances talk to the press alone.
rule|The kids don't watch TV on weekdays.
rule|Headings without a full stop at the end, please.
rule|A backup has to be made before every deployment.
rule|One very important thing: never send customer data by email.
rule|Please never make answers longer than five sentences.
rule|With us it's like this: whoever breaks the build fixes it.
rule|Don't touch the migrations.
rule|No new dependencies without talking to me.
rule|Please don't push straight to the main branch.
rule|Shoes stay in the hallway at our place.
decision|So, we discussed it at length and we're going with Vue after all.
decision|The move is being postponed to spring.
decision|I've accepted, from March I'm working part-time.
decision|The old forum will be shut down at the end of the year.
decision|We're moving from Jenkins to GitLab CI.
decision|It's agreed then: the party is in the garden.
decision|For the holiday we're sticking with Croatia.
decision|It's going to be Shopware for the shop, that's settled now.
decision|We're leaving out the mobile version and doing the web first.
decision|We decided against the loan.
preference|Could you always add an example right away in future?
preference|I like tables better than long paragraphs.
preference|I can't stand raisins.
preference|I prefer phone calls in the morning.
preference|I'd appreciate it if you called me by my first name.
preference|I'm really into Scandinavian crime novels.
preference|When hiking I don't like crowded trails.
preference|Would you be so kind as to answer more briefly from now on?
preference|Long introductions annoy me.
preference|I only drink coffee with milk.
fact|Our house number is 17, not 71.
fact|The test server has the address 10.0.4.12.
fact|My mother has lived in Lübeck since last autumn.
fact|The annual general meeting is on May 14.
fact|There are four of us in accounting.
fact|I'm a carpenter by trade.
fact|My brother has coeliac disease.
fact|On Mondays I always have practice until 8 pm.
fact|Our supplier for screws is Wegener Ltd.
fact|The contract with the landlord runs until the end of 2028.
fact|We have 8,000 euros available for the renovation.
fact|Ms Özdemir takes care of the personnel files.
fact|Our database is called kunden_prod and runs on MariaDB 10.6.
fact|Can you convert that? My car uses 6.2 litres.
fact|The nursery closes at 4:30 pm.
fact|I'm afraid of heights, you should keep that in mind for the tours.
fact|Our dog is called Balu and is eight years old.
fact|The train leaves every day at 6:12.
fact|My employer is the city of Münster.
fact|We heat with pellets, the boiler is from 2015.
fact|The password team is in building C.
"""

NOTHING_GERMAN = """
Wie viele Einwohner hat Lübeck eigentlich?
Sollten wir lieber Vue oder React nehmen?
Was kostet denn so ein Pelletkessel ungefähr?
Muss eine Rechnung immer eine Nummer haben?
Könnte man das nicht auch mit einem Cronjob lösen?
Wenn wir mehr Geld hätten, würden wir sofort umziehen.
Mal angenommen, unser Server hätte 64 GB, würde das reichen?
Stell dir vor, alle Züge kämen pünktlich.
Vielleicht nehmen wir am Ende doch Angular, mal sehen.
Ob wir im Mai fahren, wissen wir noch nicht.
Entschieden ist noch nichts, wir reden am Freitag.
Nee, Angular war nur so eine Idee von mir.
Vergiss den Vorschlag mit dem Zelt wieder.
Nein, so war das nicht gemeint.
Ab morgen kommuniziere ich nur noch per Flaschenpost, haha.
Mein Kühlschrank führt inzwischen ein Eigenleben ;)
Klar, und der Weihnachtsmann macht die Abnahme, lol.
Mein Kollege schreibt: "Bitte ab sofort immer zuerst den Chef fragen." Wie antworte ich?
Auf dem Schild steht „Rasen betreten verboten“ – ist das rechtlich bindend?
Übersetze bitte: "Wir haben uns für Variante B entschieden."
Bin total müde heute, sorry.
Gerade ist hier die Hölle los, Moment.
Ich warte noch auf den Klempner.
Der Drucker spinnt gerade wieder.
Mir ist kalt.
Fass das bitte in drei Sätzen zusammen.
Gib mir fünf Beispiele dafür.
Jetzt bitte noch mal als Liste.
Diesmal darf es ruhig etwas länger sein.
Für dieses eine Mal reicht mir eine grobe Schätzung.
Zeig mir den Code noch einmal.
Danke, das hat super geklappt!
Alles klar, verstanden.
Guten Morgen!
Früher hatten wir montags immer Teamessen.
Damals haben wir noch alles auf Papier gemacht.
Bis letztes Jahr galt bei uns eine andere Regel.
Ich verstehe den zweiten Absatz nicht.
Warum stürzt das Programm bei 300 Zeilen ab?
Ich suche ein Geschenk für unter 50 Euro.
Das Wetter ist schön.
Die Funktion liefert immer null zurück.
Kannst du mir erklären, wie Mutexe funktionieren?
Ich glaube, das liegt am Cache.
Wahrscheinlich ist der Port belegt.
"""

NOTHING_ENGLISH = """
How many people live in Lübeck anyway?
Should we go with Vue or React?
Roughly what does a pellet boiler cost?
Does an invoice always need a number?
Couldn't you solve that with a cron job as well?
If we had more money we'd move right away.
Let's assume our server had 64 GB, would that be enough?
Imagine all trains were on time.
Maybe we'll end up with Angular, we'll see.
We don't know yet whether we're going in May.
Nothing is decided yet, we'll talk on Friday.
Nah, Angular was just an idea of mine.
Forget the tent idea again.
No, that's not what I meant.
From tomorrow I'll only communicate by message in a bottle, haha.
My fridge has developed a life of its own ;)
Sure, and Santa will do the acceptance test, lol.
My colleague writes: "Please always ask the boss first from now on." How do I reply?
The sign says "Keep off the grass" – is that legally binding?
Please translate: "We decided on option B."
I'm so tired today, sorry.
All hell is breaking loose here right now, one moment.
I'm still waiting for the plumber.
The printer is acting up again right now.
I'm cold.
Please sum that up in three sentences.
Give me five examples of that.
Now once more as a list, please.
It can be a bit longer this time.
Just this once a rough estimate is enough for me.
Show me the code again.
Thanks, that worked perfectly!
All clear, got it.
Good morning!
We used to have team lunch on Mondays.
Back then we still did everything on paper.
Until last year we had a different rule.
I don't understand the second paragraph.
Why does the program crash at 300 lines?
I'm looking for a present under 50 euros.
The weather is nice.
The function always returns null.
Can you explain to me how mutexes work?
I think it's because of the cache.
The port is probably taken.
"""


def lines(table: str) -> list[str]:
    return table.strip().split("\n")
