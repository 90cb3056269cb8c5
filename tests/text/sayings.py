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
rule|Kurz zur Info: Urlaub wird hier immer in Absprache mit der Kollegin geplant.
rule|Bei Bestellungen über 500 Euro muss vorher der Meister gefragt werden.
rule|Ab heute alle Protokolle im Wiki, nicht mehr per Mail.
rule|Pull Requests werden ausnahmslos von einer zweiten Person freigegeben.
rule|Zitate bitte immer mit Seitenzahl.
rule|Meine Ärztin besteht darauf, dass ich zweimal am Tag messe.
rule|Das hätt ich vielleicht eher erwähnen sollen, aber im Stall darf auf keinen Fall offenes Feuer sein.
rule|Ich bitte darum, mich nicht vor neun anzurufen.
rule|Kein Fließtext in der Tabelle.
rule|Wenn du Mails für mich schreibst, dann bitte nie mit Ausrufezeichen, ja?
rule|Gläser gehören nicht in die Spülmaschine.
rule|Dateinamen grundsätzlich klein und mit Unterstrich.
rule|Ferienwohnung heißt bei uns: Samstag ist Wechseltag, anreisen kann man ab 15 Uhr.
rule|Sonntags wird bei uns nicht gearbeitet, Punkt.
rule|Denk dran, dass jede Änderung am Schema ein Ticket braucht.
rule|Für Rechnungen gilt: Zahlungsziel 14 Tage, kein Skonto.
rule|Im Treppenhaus dürfen keine Fahrräder abgestellt werden.
decision|Wir haben hin und her überlegt und machen den Kurs jetzt doch online.
decision|Es wird das blaue Sofa, die Kinder haben abgestimmt.
decision|Na gut, wir ziehen die Veröffentlichung auf Mai vor.
decision|Den Chatbot streichen wir aus dem Konzept.
decision|Mit dem Team besprochen: wir bleiben bei zwei Standups pro Woche.
decision|Seit gestern ist es offiziell: die Filiale in Trier schließt Ende Juni.
decision|Hab mich jetzt für das Studium in Jena eingeschrieben.
decision|Der Zuschlag geht an die Firma Hartwig.
decision|Unsere Große macht ab August ein Freiwilliges Soziales Jahr in Kiel.
decision|Überredet, dann nehmen wir halt TypeScript.
preference|Magst du mir künftig Quellen dazuschreiben?
preference|Mir hilft es, wenn du Schritt für Schritt vorgehst.
preference|Lieber zwei kurze Mails als eine lange.
preference|Mit Fachjargon kannst du mich jagen.
preference|Ich fahr am liebsten mit der Bahn.
preference|Bei Filmen bin ich eher für Dokus zu haben.
preference|Wenn möglich vegetarische Rezepte.
preference|Horrorfilme sind nichts für mich.
fact|Wieso klappt der Login nicht? Der Proxy läuft doch auf 3128.
fact|Mein Sohn heißt Emil und ist im März sechs geworden.
fact|Wir wohnen jetzt in der Goethestraße 8, Hinterhaus.
fact|Wichtig zu wissen: im Stall gibt es nur einen Stromkreis mit 16 Ampere.
fact|Für das Fest rechnen wir mit 120 Gästen.
fact|Unser Hausmeister ist Herr Petrovic.
fact|Die Behörde hat mitgeteilt, dass die Frist am 30. September endet.
fact|Ich hab eine Laktoseintoleranz.
fact|Der Mietwagen muss am 9. Mai zurück sein.
fact|Mein Gehalt liegt bei 3.400 Euro brutto.
fact|Zum Chor gehören 42 Leute, seit Ostern auch Frau Demir.
fact|Die Datenbank fasst maximal 10 GB.
fact|Das Repo liegt unter git.intern/shop/frontend.
fact|Donnerstags bin ich nie im Büro.
fact|Geprobt wird im alten Feuerwehrhaus.
fact|Meine Eltern leben auf Rügen.
rule|Wer neue Felder anlegt, dokumentiert sie auch.
rule|Externe Links müssen in einem neuen Tab aufgehen.
rule|Ins Schlafzimmer kommt kein Fernseher.
rule|Jeder neue Endpunkt braucht einen Integrationstest.
preference|Oliven finde ich widerlich.
preference|Mit Podcasts kann ich nichts anfangen.
decision|Ich hab mich für die Ausbildung zum Rettungssanitäter angemeldet.
decision|Beschlossene Sache: der Verein bekommt eine neue Satzung.
fact|Das Backend spricht GraphQL.
fact|Ich wohne im dritten Stock ohne Aufzug.
fact|Ich lerne seit einem Jahr Japanisch.
rule|Bevor ich's vergesse: die Prüfungsordnung schreibt Arial 11 vor.
rule|Nochmal zur Sicherheit: gestrichen wird in unserem Haus nur mit lösungsmittelfreier Farbe.
rule|Passwörter gehören ausschließlich in den Tresor.
rule|Einrückung: zwei Leerzeichen, keine Tabs.
fact|Abgabetermin: 30. September.
preference|Ginge es, dass du ab sofort Gewichte in Gramm angibst?
prohibition|Lass niemanden die Admin-Seite sehen.
prohibition|Bloß kein jQuery!
prohibition|Emojis haben in den Commit-Nachrichten nichts verloren.
prohibition|Von Telemetrie will ich in diesem Projekt nichts sehen.
prohibition|Hör auf, jede Antwort mit einem Kompliment zu beginnen.
prohibition|Die API-Schlüssel bleiben bitte aus dem Repo raus.
fact|Ich bin letzten Monat nach Kassel gezogen.
prohibition|Es werden keine Cookies gesetzt.
prohibition|Unterlass es, meine Sätze umzuformulieren.
prohibition|Dass mir keiner an die Sicherungen geht!
prohibition|Keinerlei Werbung!
prohibition|Weder Tabs noch CRLF in den Quelldateien.
prohibition|Es darf niemand außer mir auf main pushen.
prohibition|Ich will keine Vorschläge mit Aluminium.
rule|Tests grundsätzlich mit pytest.
rule|Reservierungen nur telefonisch.
rule|Wichtig ist, dass Bestellungen vor zwölf Uhr rausgehen.
rule|Am Wochenende möchte ich nicht an die Arbeit erinnert werden.
preference|Ich ziehe dunkle Themes hellen vor.
preference|Mir gefallen schlichte Layouts besser als bunte.
decision|Wir haben beschlossen, die Garage abzureißen.
decision|Das Dach wird rot gedeckt, so ist es beschlossen.
decision|Der Etat wurde auf 21.000 Euro erhöht.
fact|Ein Punkt zur Sicherheit: der Hauptschalter sitzt hinter der Kellertür.
fact|Die interne Bibliothek heißt quarkmix.
fact|Korrektur: das Budget beträgt jetzt 42.500 Euro.
rule|Wer den Transporter nimmt, trägt sich vorher in die Liste ein.
rule|Jede Messung wird dreimal wiederholt, bevor sie ins Protokoll kommt.
rule|Rechnungen über 500 Euro unterschreibt nur die Geschäftsführung.
rule|Ab sofort dokumentierst du jede Funktion mit einem Beispiel.
rule|Bitte keine Rosinen in irgendeinem Rezept.
rule|Es dürfen keine Daten an Dritte weitergegeben werden.
rule|Ich will in Berichten keine Tortendiagramme sehen.
rule|Pip install ist auf dem Server untersagt.
decision|Die Wahl ist auf Leinen statt Baumwolle gefallen.
decision|Wir stellen den Betrieb auf Vier-Tage-Woche um.
decision|Als Trainer nehmen wir Luca Ferrante.
preference|Ich kann Koriander nicht ausstehen.
preference|Wenn du mir Bücher empfiehlst, dann am liebsten unter 300 Seiten.
preference|Geht das, dass du Mengen künftig in Gramm angibst?
fact|Der Serverraum ist im zweiten Untergeschoss.
fact|Ich habe seit 2019 ein Hörgerät.
fact|Unser Betrieb macht im August drei Wochen zu.
fact|Abgabe der Steuererklärung ist bei mir der 31. Juli.
fact|Frau Özkan leitet bei uns die Buchhaltung.
fact|Der Stammtisch ist jetzt donnerstags, nicht mehr dienstags.
fact|Die Abteilung heißt seit Januar Kundendienst.
rule|Der Generalschlüssel verlässt das Haus nicht.
rule|Interne Zahlen gehen nicht nach draußen.
fact|Die Kiste, auf der das läuft, heißt skerry.
fact|Schau mal in kosten.xlsx, da stehen bei uns die Zahlen drin.
preference|Bei Musik bin ich eher der Jazztyp.
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
rule|Just for info: vacation here is always planned together with the colleague.
rule|For orders above 500 euros the foreman has to be asked first.
rule|From today all minutes go into the wiki, no longer by email.
rule|Pull requests are approved by a second person without exception.
rule|Quotes always with page number, please.
rule|My doctor insists that I measure twice a day.
rule|I might have mentioned it sooner, but there must be no open fire in the attic under any circumstances.
rule|I'd ask you not to call me before nine.
rule|No running text in the table.
rule|When you write emails for me, please never with exclamation marks, okay?
rule|Glasses don't go in the dishwasher.
rule|File names in lower case with underscores as a rule.
rule|Saturday is changeover day with us, guests can arrive from 3 pm.
rule|We don't work on Sundays, full stop.
rule|Keep in mind that every schema change needs a ticket.
rule|For invoices: payment within 14 days, no discount.
rule|Bicycles must not be left in the stairwell.
decision|We went back and forth and we're doing the course online after all.
decision|It's going to be the blue sofa, the kids voted.
decision|Fine, we're bringing the release forward to May.
decision|We're dropping the chatbot from the concept.
decision|Discussed with the team: we're keeping two stand-ups a week.
decision|It's official since yesterday: the Trier branch closes at the end of June.
decision|I've enrolled at the university in Jena.
decision|The contract goes to Hartwig Ltd.
decision|Our eldest is doing a voluntary year in Kiel from August.
decision|You talked me into it, let's take TypeScript then.
preference|Could you add sources from now on?
preference|It helps me when you go step by step.
preference|I'd rather get two short emails than one long one.
preference|I can't stand technical jargon.
preference|I like going by train best.
preference|When it comes to films I'm more into documentaries.
preference|Vegetarian recipes if possible.
preference|Horror films aren't for me.
fact|Why does the login fail? The proxy runs on 3128 after all.
fact|My son is called Emil and turned six in March.
fact|We live at 8 Goethe Street now, in the back building.
fact|Good to know: the barn only has one circuit with 16 amps.
fact|We're expecting 120 guests for the party.
fact|Our caretaker is Mr Petrovic.
fact|The authority informed us that the deadline ends on September 30.
fact|I have a lactose intolerance.
fact|The rental car has to be back on May 9.
fact|My salary is 3,400 euros gross.
fact|There are 42 people in the choir, since Easter including Ms Demir.
fact|The database holds 10 GB at most.
fact|The repo is at git.intern/shop/frontend.
fact|I'm never in the office on Thursdays.
fact|Rehearsals are in the old fire station.
fact|My parents live on Rügen.
rule|Whoever adds new fields documents them too.
rule|External links have to open in a new tab.
rule|No TV goes into the bedroom.
rule|Every new endpoint needs an integration test.
preference|I find olives disgusting.
preference|Podcasts don't do anything for me.
decision|I've signed up for paramedic training.
decision|It's a done deal: the club is getting new statutes.
fact|The backend speaks GraphQL.
fact|I live on the third floor without a lift.
fact|I've been learning Japanese for a year.
rule|Before I forget: the exam regulations require Arial 11.
rule|Just to be clear: invoices over 500 euros are only approved by Ms Behrens.
rule|Variable names in snake_case, please.
rule|Indentation: two spaces, no tabs.
fact|Deadline: 30 September.
preference|Would it be possible for you to give weights in grams from now on?
prohibition|Never let people see the admin page.
prohibition|Absolutely no jQuery!
prohibition|Emojis have no place in the commit messages.
prohibition|I don't want to see any telemetry in this project.
prohibition|Nothing may be written to the vendor folder.
prohibition|The API keys stay out of the repo, please.
fact|I moved to Kassel last month.
prohibition|No cookies are set.
prohibition|Refrain from rephrasing my sentences.
prohibition|Nobody touches the fuses!
prohibition|No advertising whatsoever!
prohibition|Neither tabs nor CRLF in the source files.
prohibition|Nobody but me may push to main.
prohibition|I don't want any suggestions with aluminium.
rule|Tests always with pytest.
rule|Headings without a full stop at the end.
rule|Images no larger than 500 kilobytes.
rule|Safety glasses are always to be worn when welding.
rule|The basic rule here: photos only after the parents have consented.
rule|I don't want to be reminded of work at the weekend.
preference|I'm not interested in crime novels.
preference|Is it okay if you only use metric units from now on?
decision|We have renamed the mail server to eilbote.
decision|The roof will be tiled in red, that's been decided.
fact|You should take this to heart: we accept returns for 14 days at most.
fact|The internal library is called quarkmix.
rule|Whoever takes the van signs the list beforehand.
rule|Every measurement is repeated three times before it goes into the log.
rule|Invoices above 500 euros are signed by management only.
rule|From now on, document every function with an example.
rule|Please no raisins in any recipe.
rule|No data may be passed on to third parties.
rule|I don't want to see pie charts in reports.
rule|Pip install is prohibited on the server.
decision|The choice fell on linen instead of cotton.
decision|We're switching the company to a four-day week.
decision|We're taking Luca Ferrante as coach.
preference|I can't stand coriander.
preference|When you recommend books to me, preferably under 300 pages.
preference|Is it possible that you give quantities in grams in future?
fact|The server room is on the second basement level.
fact|I have had a hearing aid since 2019.
fact|Our company closes for three weeks in August.
fact|My tax return is due on 31 July.
fact|Ms Özkan heads our accounting.
fact|The regulars' table is now on Thursdays, no longer on Tuesdays.
fact|The department has been called Customer Care since January.
rule|The master key does not leave the building.
rule|Internal figures do not go outside.
fact|The machine it runs on is called skerry.
fact|Have a look at kosten.xlsx, that's where we keep the numbers.
preference|With music I'm more of a jazz person.
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
Was haltet ihr von TypeScript?
Ist Port 3128 nicht eigentlich für Squid reserviert?
Darf man im Treppenhaus überhaupt Fahrräder abstellen?
Welche Frist gilt bei Kündigungen?
Lohnt sich ein Wechsel zu MariaDB?
Gesetzt den Fall, wir hätten 200 Gäste, reicht dann der Saal?
Wäre ich zehn Jahre jünger, würde ich nach Neuseeland auswandern.
Wenn alle Stricke reißen, könnten wir immer noch Excel nehmen.
Vielleicht machen wir nächstes Jahr ein Sabbatical, wer weiß.
Wir überlegen noch, ob wir den Kredit nehmen.
Ob der Umbau im Herbst fertig wird, kann keiner sagen.
Nö, den Vorschlag mit der App finde ich nicht gut.
Vergiss die Idee mit dem Wintergarten.
Nein danke, eine Versicherung brauche ich nicht.
Ach Quatsch, natürlich kein COBOL.
Demnächst stempeln wir uns noch auf der Toilette ein, haha.
Mein Drucker hat beschlossen, Künstler zu werden 😂
Na klar, und die Rechnung zahlt der Osterhase.
Erste Regel im Fight Club: man redet nicht darüber ;)
In der Mail vom Vermieter steht: "Ab sofort ist Grillen verboten." Muss ich mich daran halten?
Auf der Packung steht „Vor Gebrauch immer schütteln.“ Warum eigentlich?
Kannst du das übersetzen? "We have decided to close the office."
Meldung lautet: "You must restart your computer." Und nun?
Mann, bin ich heute geschafft.
Sitze gerade im Stau, melde mich gleich.
Mir platzt gleich der Kragen.
Der Server ist gerade nicht erreichbar.
Ich hab noch fünf Minuten bis zum nächsten Call.
Formulier das bitte freundlicher.
Kannst du das noch kürzer fassen?
Bitte diesmal ohne Emojis.
Setz für den Test einfach mal 42 ein.
Schreib mir ein Gedicht über den Herbst.
Prima, vielen Dank für die schnelle Hilfe!
Passt so, danke.
Nichts davon ist schon beschlossen.
Ein Termin steht noch nicht fest.
Früher waren wir freitags immer im Kino.
Bis vor zwei Jahren haben wir SVN benutzt.
Die alte Regelung mit den Papierformularen ist zum Glück abgeschafft.
Was meinst du, sollte ich kündigen?
Welche Bibliothek wir nehmen, entscheiden wir nächste Woche.
Als Kind hab ich jeden Tag Fußball gespielt.
Das meiste davon ist Papier.
Das Internet ist bei uns seit einer Stunde weg.
Vergleich mal bitte Kaffee und Tee.
Wir nehmen Angular. Ach nein, doch nicht.
Über einen Umzug nach Köln haben wir kurz geredet, kommt aber nicht infrage.
Mein Kollege meinte, wir sollten nie wieder Java nehmen.
Braucht man immer.
Schreib künftig alles klein. Quatsch, war nicht ernst gemeint.
Der Test läuft immer noch, nie gesehen, dass das so lange dauert.
Falls der Chef zustimmt, streichen wir den Freitag.
Sollte das Wetter schlecht sein, bleiben wir zu Hause.
Wenn das klappt, ziehen wir im Mai um.
Antworte hier mal auf Französisch.
Gib mir fünf Vorschläge, keine mit Fisch.
Nur heute darfst du mich duzen.
Der Code ist 9911. Moment, das war der falsche, ignorier das.
Ich bin allergisch gegen Hunde. Quatsch, das war gelogen.
Meine Tante findet, man dürfe nie im Bett essen.
HTTP läuft normalerweise auf Port 80.
Die Erde dreht sich in 24 Stunden einmal um sich selbst.
Spinnen haben acht Beine.
Am Samstag waren wir wandern.
Vor zehn Jahren hatte ich einen Hund namens Rex.
Ein Wintergarten wäre nett, aber nein.
Schreib eine Regel für Kinder, die nie aufräumen.
Hey Jana, klingt super! Wir waren am Montag in Ulm. Und du?
Suche nur ein Hotel in Rom.
Nutzt ihr eigentlich auch Grafana?
Sollen wir lieber den Donnerstag nehmen?
Wozu ist die Datei tsconfig.json da?
Muss ich die Garantie innerhalb von 14 Tagen melden?
Man könnte den Termin auch auf den 12. legen.
Nehmen wir einmal an, das Budget beträgt 10.000 Euro.
Falls der Zug ausfällt, fahren wir mit dem Auto.
Wenn ich im Lotto gewinne, kaufe ich ein Boot.
Nein, Terraform ist mir dafür zu groß.
Die Idee mit dem Food-Truck hat niemand gut gefunden.
Svelte hatten wir uns angeschaut und dann sein lassen.
Das mit dem Abo überzeugt mich ehrlich gesagt gar nicht.
Ich heirate dann mal meine Kaffeemaschine, kleiner Scherz.
Unser Hund ist jetzt offiziell der Abteilungsleiter, lol.
Regel Nummer eins: der Chef hat immer recht ;)
Klar, und nächste Woche fliegen wir alle zum Mond.
„Nie wieder Krieg“ war das Motto der Ausstellung.
Mein Lieblingszitat im Kalender heute: „Iss jeden Tag einen Apfel.“
Der Roman beginnt mit „Ich heiße Ismael und wohne am Hafen“.
Im Forum stand: „Verwendet auf keinen Fall Version 3!“
Laut irgendeinem Blog soll man Tomaten nie in den Kühlschrank legen.
Irgendwer meinte, der Kurs sei schon voll.
Ich habe gehört, dass die Bibliothek montags zu hat.
Die Zeitung behauptet, das Stadion koste 90 Millionen.
Gib mir fünf Namen für ein Segelboot, keinen davon auf Englisch.
Kannst du die Tabelle kurz nach Datum sortieren?
Mach aus dem Text eine Liste mit höchstens sechs Punkten.
Nur für diese Aufgabe: rechne mit drei Nachkommastellen.
Puh, ich habe überhaupt keine Lust mehr auf dieses Formular.
Ich freue mich total auf das Wochenende.
Mir brummt der Schädel.
Irgendwie fühle ich mich zurzeit etwas verloren.
Heute Morgen habe ich zwei Stunden im Stau gestanden.
Draußen schneit es schon wieder.
Wir waren gestern im Zoo und haben die Pinguine gesehen.
Der Kaffee hier ist schon wieder kalt.
Schreib ab jetzt alles klein. Quatsch, lass es so wie bisher.
Unser Budget ist 5.000 Euro. Moment, das war der Wert vom Vorjahr, ignorier das.
Wir fahren nach Portugal, oder nein, doch nicht.
Ab sofort nur noch Tee! Nee, war ein Witz.
Python wurde von Guido van Rossum entwickelt.
Bienen können ultraviolettes Licht sehen.
HTTP 404 bedeutet, dass die Seite nicht gefunden wurde.
Ein Marathon ist 42,195 Kilometer lang.
Die Lehrerin meiner Nichte mag keine Kreide.
Elon Musk findet Meetings überflüssig.
Die meisten Leute hassen Montage.
Der Kollege aus dem dritten Stock trinkt seinen Kaffee mit Salz.
Früher haben wir Releases freitags gemacht.
Meine erste Katze hieß Minka und ist lange tot.
Ich war mal Vegetarier, das ist aber lange her.
Der alte Server lief noch auf Port 8000.
Tu so, als wärst du mein Zahnarzt.
In meiner Geschichte heißt die Heldin Elara und hasst Drachen.
Stell dir vor, ich sei ein Kunde, der nie pünktlich zahlt.
Meine Figur ist ein Zwerg, der immer die Wahrheit sagt.
Testdaten: name = "Anna", age = 30, city = "Bonn".
Ein Zug fährt um 8 Uhr in Ulm los und braucht drei Stunden.
Beispielsatz: Ich wohne seit zehn Jahren in Lyon.
Angabe: Das Rechteck ist 5 cm breit und 8 cm lang.
Bitte auf Englisch: Wir liefern nie am Wochenende.
Was heißt „no smoking allowed“ auf Deutsch?
Korrigiere: Ich habe gestern nach Hause gegangen und immer müde.
Kannst du „Unser Büro ist im dritten Stock“ ins Polnische übertragen?
Ich bin Veganer. War ein Test, ob du aufpasst.
Mein Name ist Bond. Nein, Moment, ich heiße anders.
Aus dem Rezept: Teig immer über Nacht ruhen lassen. Reicht auch eine Stunde?
Elternbrief: Bitte immer Hausschuhe mitgeben. Formulier das netter.
Du bist jetzt ein mürrischer Pirat und ich bin dein Kapitän namens Bert.
Bau mir eine Klasse, die CSV liest und Zeilen ohne Datum überspringt.
Wir müssen noch die Getränke für Samstag besorgen.
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
What do you all think of TypeScript?
Isn't port 3128 actually reserved for Squid?
Are you even allowed to leave bicycles in the stairwell?
What notice period applies to cancellations?
Is it worth switching to MariaDB?
Suppose we had 200 guests, would the hall be big enough?
If I were ten years younger I'd emigrate to New Zealand.
If all else fails we could still use Excel.
Maybe we'll do a sabbatical next year, who knows.
We're still thinking about whether to take the loan.
Nobody can say whether the conversion will be finished in autumn.
Nah, I don't like the app suggestion.
Forget the conservatory idea.
No thanks, I don't need insurance.
Oh nonsense, of course no COBOL.
Next thing we'll be clocking in on the toilet, haha.
My printer has decided to become an artist 😂
Sure, and the Easter bunny pays the bill.
First rule of fight club: you don't talk about it ;)
The landlord's mail says: "Barbecues are forbidden with immediate effect." Do I have to comply?
The package says "Always shake before use." Why actually?
Can you translate this? "Wir haben beschlossen, das Büro zu schließen."
The message is: "You must restart your computer." And now?
Man, I'm beat today.
Stuck in traffic right now, will get back to you in a bit.
I'm about to lose it.
The server is unreachable right now.
I've got five minutes left until the next call.
Please phrase that in a friendlier way.
Can you make that even shorter?
Without emojis this time, please.
Just put in 42 for the test.
Write me a poem about autumn.
Great, thanks a lot for the quick help!
That works, thanks.
None of that has been decided yet.
There's no date set yet.
We used to go to the cinema on Fridays.
Until two years ago we used SVN.
The old rule with the paper forms has been abolished, luckily.
What do you think, should I quit?
Which library we'll take we'll decide next week.
As a child I played football every day.
I'm trying to get the import to work.
I can't wait to see what happens!
I'll definitely keep those tips in mind.
Especially with my new kitchen mat in front of the sink.
Family time means a lot to me.
I went to a castle on my trip last Friday.
We're going with Angular. Oh no, scratch that.
We briefly talked about moving to Cologne, but it's out of the question.
My colleague said we should never use Java again.
One always needs that.
Thanks for the examples and the reminder to review my mistakes.
I'm using the following code:
Have game nights at my place.
Once I have HTTPS set up.
I love listening to it on my new turntable.
Here's another recipe I like.
If the boss agrees, we'll drop the Friday.
Nothing formal for this mail, please.
No lists in this answer, please.
Correct this: "My name is Hans and I lives in Ulm."
The code is 9911. Wait, that was the wrong one, ignore that.
I'm allergic to dogs. Nonsense, that was a lie.
My aunt feels you must never eat in bed.
The neighbour told me he has 80 chickens.
Water boils at 100 degrees.
HTTP normally runs on port 80.
Goethe was born in 1749.
Spiders have eight legs.
We had a barbecue on Saturday, it was great.
Our old server was called Pluto.
Ten years ago I had a dog called Rex.
Write a rule for children who never tidy up.
Nice one, Gina! You never shy away from a challenge and always try something new.
Agreed, nature has a way of being so inspiring!
Must've taken you ages to design it.
Hey John! I met back up with my teammates on the 15th and it was amazing! How have you been?
Good to hear that you're finding comfort in the good times you had with Max.
Do you people use Grafana too?
Should we take Thursday instead?
What is the file tsconfig.json for?
Do I have to register the warranty within 14 days?
One could also put the appointment on the 12th.
Let's assume the budget is 10,000 euros.
If the train is cancelled we'll take the car.
When I win the lottery I'm buying a boat.
No, Terraform is too big for that.
Nobody liked the idea with the food truck.
We had a look at Svelte and then let it be.
Honestly, the subscription thing doesn't convince me at all.
I'll go and marry my coffee machine then, just kidding.
Our dog is officially head of department now, lol.
Rule number one: the boss is always right ;)
Sure, and next week we're all flying to the moon.
"Never again war" was the motto of the exhibition.
Today's quote in the calendar: "Eat an apple every day."
The novel begins with "My name is Ismael and I live by the harbour".
The forum said: "Do not use version 3 under any circumstances!"
According to some blog you should never put tomatoes in the fridge.
Somebody said the course was already full.
I heard that the library is closed on Mondays.
The paper claims the stadium costs 90 million.
Give me five names for a sailing boat, none of them in English.
Can you quickly sort the table by date?
Turn the text into a list with six points at most.
Just for this task: calculate with three decimals.
Phew, I really don't feel like doing this form any more.
I'm really looking forward to the weekend.
My head is pounding.
Somehow I'm feeling a bit lost at the moment.
This morning I was stuck in traffic for two hours.
It's snowing outside again.
We were at the zoo yesterday and saw the penguins.
The coffee here is cold again.
Write everything in lower case from now on. Nonsense, leave it as it was.
Our budget is 5,000 euros. Wait, that was last year's figure, ignore that.
We're going to Portugal, or no, actually we're not.
Only tea from now on! Nah, that was a joke.
Python was developed by Guido van Rossum.
Bees can see ultraviolet light.
HTTP 404 means that the page was not found.
A marathon is 42.195 kilometres long.
My niece's teacher doesn't like chalk.
Elon Musk finds meetings superfluous.
Most people hate Mondays.
The colleague from the third floor takes his coffee with salt.
We used to do releases on Fridays.
My first cat was called Minka and died long ago.
I was a vegetarian once, but that's long ago.
The old server still ran on port 8000.
Pretend to be my dentist.
In my story the heroine is called Elara and hates dragons.
Imagine I'm a customer who never pays on time.
My character is a dwarf who always tells the truth.
Test data: name = "Anna", age = 30, city = "Bonn".
A train leaves Ulm at 8 and takes three hours.
Example sentence: I have lived in Lyon for ten years.
Given: the rectangle is 5 cm wide and 8 cm long.
In German please: We never deliver on weekends.
What does "Rauchen verboten" mean in English?
Correct: I has gone home yesterday and always tired.
Can you put "Our office is on the third floor" into Polish?
I'm vegan. That was a test whether you're paying attention.
The meeting is at three. Oh no, no idea, I'm mixing that up.
From the recipe: always let the dough rest overnight. Is an hour enough, too?
The message reads: You must not call this method twice.
You are my German teacher Mr Krause from now on, I'm the lazy pupil.
We still have to get the drinks for Saturday.
No small talk today please, I'm in a hurry.
"""


def lines(table: str) -> list[str]:
    return table.strip().split("\n")
