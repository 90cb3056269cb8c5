"""Two statements of one person, the older first: what the newer one does to it. Data for `test_slots`."""

REPLACES = """
Das Training ist montags um 18 Uhr.|Das Training haben wir auf Donnerstag verlegt.
Unsere Ansprechpartnerin bei der Bank ist Frau Vogel.|Frau Vogel ist in Rente, zuständig ist jetzt Herr Tietz.
Der Newsletter geht wöchentlich raus.|Der Newsletter geht ab Mai nur noch monatlich raus.
Ich zahle 780 Euro Miete.|Die Miete ist zum Januar auf 830 Euro erhöht worden.
Für Logs benutzen wir Graylog.|Graylog ist abgeschaltet, die Logs liegen jetzt in Loki.
Ich arbeite bei Siemens.|Ich habe den Job gewechselt und arbeite jetzt bei Bosch.
Unser Meeting ist um 9 Uhr.|Das Meeting findet neuerdings erst um 11 Uhr statt.
Das Budget für die Küche liegt bei 12.000 Euro.|Für die Küche haben wir inzwischen 15.500 Euro eingeplant.
Antworte bitte immer kurz.|Schreib ab jetzt lieber ausführliche Antworten.
Mein Flug nach Rom geht um 7:15 Uhr.|Der Flug nach Rom wurde verschoben, Abflug ist jetzt 9:40 Uhr.
Der Testserver hat 8 GB RAM.|Wir haben den Testserver auf 16 GB aufgerüstet.
Wir deployen donnerstags.|Wir deployen nicht mehr donnerstags, sondern montags.
The team lunch is on Tuesdays.|We've moved the team lunch to Fridays.
Our account manager is Ms Vogel.|Ms Vogel retired, our account manager is now Mr Tietz.
The newsletter goes out weekly.|From May the newsletter only goes out monthly.
My rent is 780 euros.|The rent was raised to 830 euros in January.
We use Graylog for logs.|Graylog is gone, the logs are in Loki now.
I work at Siemens.|I changed jobs and work for Bosch now.
Our meeting is at 9 am.|The meeting has been moved to 11 am.
The kitchen budget is 12,000 euros.|By now we've set aside 15,500 euros for the kitchen.
Please keep your answers short.|From now on write detailed answers.
My flight to Rome leaves at 7:15.|The flight to Rome was rescheduled, it now leaves at 9:40.
The test server has 8 GB of RAM.|We upgraded the test server to 16 GB.
We deploy on Thursdays.|We no longer deploy on Thursdays, it's Mondays now.
Elif ist im Team für das Design zuständig.|Fürs Design ist jetzt Marek zuständig.
Seit 2020 ist unsere Kinderärztin Frau Dr. Meier.|Unsere neue Kinderärztin heißt Dr. Sommer.
Der Timeout liegt bei 30 Sekunden.|Wir haben den Timeout auf 60 Sekunden erhöht.
Ich arbeite bei Siemens.|Seit Mai arbeite ich bei Bosch.
Wir haben zwei Katzen.|Wir haben jetzt drei Katzen.
Elif is in charge of design.|Marek is in charge of design now.
Our paediatrician is Dr. Miller.|Our new paediatrician is called Dr. Summers.
The timeout is 30 seconds.|We raised the timeout to 60 seconds.
The server is called arion.|We renamed the server, it's triton now.
I live in Leeds.|I moved to Bristol last week.
Unser Testsystem heißt zitrone.|Das Testsystem heißt nicht mehr zitrone, sondern limette.
Our test system is called zitrone.|The test system is no longer called zitrone but limette.
Die Miete liegt bei 950 Euro.|Ab Juli kostet die Miete 1.020 Euro.
Unser Mailserver heißt brieftaube.|Den Mailserver haben wir in eilbote umbenannt.
Als Datenbank nehmen wir SQLite.|Als Datenbank nehmen wir jetzt doch PostgreSQL.
We're taking SQLite as the database.|We're now taking PostgreSQL as the database after all.
The wedding is in Regensburg.|The wedding is not in Regensburg but in Passau.
Das Treffen mit der Agentur ist am 3. Dezember.|Das Agenturtreffen wurde auf den 10. Dezember verschoben.
Für die Kampagne haben wir 6.200 Euro.|Die Leitung hat aufgestockt, es sind jetzt 7.900 Euro für die Kampagne.
The meeting with the agency is on Thursday, 3 December.|The agency meeting has been put back to 10 December.
"""

SAME = """
Unser Büro öffnet um 8 Uhr.|Ab 8 Uhr ist unser Büro geöffnet.
Rechnungen gehen am Monatsende raus.|Zum Ende des Monats werden die Rechnungen verschickt.
Die API erlaubt 500 Anfragen pro Stunde.|Mehr als 500 Requests pro Stunde lässt die Schnittstelle nicht zu.
Ich bevorzuge kurze Antworten.|Kurze Antworten sind mir am liebsten.
Our office opens at 8 am.|From 8 am our office is open.
Invoices go out at the end of the month.|The invoices are sent at month-end.
The API allows 500 requests per hour.|The interface won't take more than 500 calls per hour.
I prefer short answers.|Brief replies are what I like best.
Deployt wird bei uns donnerstags.|Unser Deployment-Tag ist der Donnerstag.
Ich bin gegen Nüsse allergisch.|Nüsse vertrage ich nicht, ich habe eine Allergie.
Meine Tochter heißt Mila.|Mila ist meine Tochter.
Mein Vater ist 71 Jahre alt.|Mein Vater ist 71.
I'm allergic to nuts.|I can't eat nuts, I have an allergy.
My daughter is called Mila.|Mila is my daughter.
My father is 71 years old.|My dad is 71.
Mrs. Nowak is my boss.|My manager is Mrs. Nowak.
"""

APART = """
Der Webserver hat 8 GB RAM.|Der Datenbankserver hat 16 GB RAM.
Lena hat am 4. Juli Geburtstag.|Jonas hat am 14. Juli Geburtstag.
Das Lager schließt um 17 Uhr.|Das Büro schließt um 18 Uhr.
Das Budget für Werbung ist 5.000 Euro.|Das Budget für Reisen ist 2.000 Euro.
Montags ist Chorprobe.|Mittwochs ist Yoga.
Anna wohnt in Kiel.|Peter wohnt jetzt in Bonn.
The web server has 8 GB of RAM.|The database server has 16 GB of RAM.
Lena's birthday is July 4.|Jonas's birthday is July 14.
The warehouse closes at 5 pm.|The office closes at 6 pm.
The budget for ads is 5,000 euros.|The budget for travel is 2,000 euros.
Choir practice is on Mondays.|Yoga is on Wednesdays.
Anna lives in Kiel.|Peter lives in Bonn now.
Drei von uns können helfen: Jonas, Frau Yilmaz und ich.|Frau Yilmaz hat montags Zeit, von zwei bis fünf.
Ich habe einen Garten in Potsdam.|In Potsdam regnet es seit gestern.
Wir haben zwei Katzen.|Die Katzen bekommen jetzt neues Futter.
Mein Zahnarzt ist in der Goethestraße.|In der Goethestraße ist seit Montag eine Baustelle.
Three of us can help: Jonas, Mrs. Yilmaz and me.|Mrs. Yilmaz has time on Mondays, from two to five.
The printer is on the second floor.|From Monday the second floor is being painted.
I don't drink alcohol.|We now order water from Huber's.
My dentist is on Baker Street.|There's been a building site on Baker Street since Monday.
The flight to Oslo leaves at 7:40.|The flight back from Oslo leaves at 18:15.
Mr. Peters brings the boxes.|Mr. Peters is on holiday from Wednesday.
I take my coffee black.|I take my tea with milk.
Das Treffen mit der Agentur ist am 3. Dezember.|Das Kundentreffen wurde auf den 10. Dezember verschoben.
I have a 1TB portable hard drive that works great for me.|I started working on a 1/16 scale diorama of a tank.
"""

UNSURE = """
Der Kurs kostet 120 Euro.|Der Kurs in Bonn kostet 135 Euro.
Frau Berg ist meine Steuerberaterin.|Herr Kaya ist mein Steuerberater.
The course costs 120 euros.|The course in Bath costs 135 euros.
Mrs. Berg is my accountant.|Mr. Kaya is my accountant.
"""


def pairs(table: str) -> list[tuple[str, str]]:
    return [(old, new) for old, _, new in (line.partition("|") for line in table.strip().split("\n"))]
