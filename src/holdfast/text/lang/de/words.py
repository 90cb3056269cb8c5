"""German: lists of words. Data only; the same names exist in every language."""

# Words for the same thing in everyday talk and work: what one sentence calls one, another calls another.
CONCEPTS = {
    "meeting": (
        "besprechung treffen teamtreffen meeting termin jour fixe standup stand-up daily weekly "
        "sitzung runde call"
    ),
    "release": (
        "release deployment deployen deployt veröffentlichung launch go-live livegang auslieferung "
        "ausliefern rollout"
    ),
    "money": (
        "geld budget betrag summe preis kosten kostet gehalt honorar stundensatz gebühr beitrag zahlen "
        "bezahlen zahle rechnung"
    ),
    "invoice": "rechnung rechnungen fakturiert fakturieren faktura abrechnung abgerechnet",
    "rent": "miete vermieter vermieterin mietvertrag",
    "home": "wohnung haus zuhause wohnen wohne wohnt lebe lebt leben adresse umzug umgezogen gezogen",
    "renovation": "bad badezimmer renovierung umbau sanierung renovieren küche",
    "train": "zug bahn abfahrt ice nachtzug gleis",
    "flight": "flug flieger abflug fliegen flughafen",
    "travel": "reise urlaub ferien trip",
    "memory": "ram speicher arbeitsspeicher",
    "disk": "platte festplatte ssd speicherplatz",
    "answer": "antwort antworten antworte texte text erklärungen schreibstil fass",
    "test": "test tests testsuite testen getestet unittests",
    "search": "suche gesucht suchen suchmaschine",
    "cache": "cache caching gecacht zwischenspeicher",
    "database": "datenbank db postgres postgresql mysql mariadb sqlite mongodb",
    "production": "produktion prod produktiv live produktivsystem produktivserver",
    "staging": "staging testumgebung testsystem testserver",
    "hosting": "hosting server cluster hoster rechenzentrum",
    "interface": "api schnittstelle endpunkt",
    "request": "anfragen requests aufrufe calls",
    "boss": "chef chefin vorgesetzter vorgesetzte vorgesetzten leiterin leiter teamleiter führungskraft",
    "contact": "ansprechpartner ansprechpartnerin kontakt kontaktperson zuständig betreuer betreuerin",
    "doctor": "arzt ärztin hausarzt hausärztin zahnarzt zahnärztin praxis",
    "name": "name heißt heiße heißen genannt nenn nenne namens umbenannt",
    "class": "klasse schule schuljahr stufe",
    "job": "job stelle arbeit arbeite arbeitet arbeitgeber firma beruf angestellt",
    "diet": "fleisch fisch hähnchen huhn wurst vegetarier vegetarisch vegan veganer esse isst",
    "drink": "kaffee tee wasser trinke trinkt milch",
    "sport": "marathon halbmarathon lauf laufe laufen joggen training trainiere fitness sport verein",
    "car": "auto wagen pkw fahre fahrzeug",
    "phone": "telefon handy nummer telefonnummer mobilnummer",
    "mail": "mail e-mail email mailadresse",
    "opening": "öffnungszeiten öffnet schließt geöffnet geschlossen",
    "course": "kurs unterricht stunde probe chorprobe training",
    "deadline": "frist abgabe abgabetermin deadline stichtag fällig",
    "backup": "backup sicherung datensicherung gesichert",
    "password": "passwort kennwort schlüssel key zugang",
    "editor": "editor ide",
    "branch": "branch zweig hauptzweig",
    "allergy": "allergie allergisch vertrage verträgt unverträglichkeit intoleranz",
    "colour": "farbe blau rot grün grau gelb schwarz weiß dunkelblau",
    "size": "größe maße",
    "team": "team mannschaft kollegen leute mitarbeiter",
    "supplier": "lieferant lieferanten zulieferer spedition paketdienst",
    "insurance": "versicherung versichert krankenkasse",
    "bank": "bank sparkasse konto",
    "shift": "schicht dienst bereitschaft rufbereitschaft",
    "homeoffice": "homeoffice büro büroplatz",
    "holiday": "urlaubstage urlaub",
    "task": "zuständig verantwortlich leitet leitung betreut kümmert übernimmt übernommen",
    "father": "vater papa",
    "mother": "mutter mama",
}
# What a statement may be changed by without being about something else.
EXCLAMATIONS = (
    "ach quatsch mist moment sorry nee nein halt stopp korrektur fehler nachricht entschuldigung mensch"
)
GENERIC = (
    "montag dienstag mittwoch donnerstag freitag samstag sonntag woche monat jahr tag uhr stunde minute"
    " ende anfang"
    " grund seite stand ding sache moment mal woche richtung frau herr herrn dr"
)

# Sentence cues: the phrases by which a sentence shows what it does. An underscore is a space.
OPENERS = "bitte und also dann jetzt nun gut hallo ja nein aber"
COMMANDS = """
    analysiere? aktualisiere? ändere? bau baue berechne? beschreibe? behebe? benenne bring bringe entferne?
    ergänze? erkläre? erstelle? erweitere? erzähl fass fasse finde? formuliere? füge? generiere? gib hilf
    implementiere? installiere? kürze? lies liste? lösche? mach mache nenne? nimm öffne passe? plane? prüfe?
    rechne refaktoriere? richte? schau schreibe? setze? sortiere? stelle? suche? teste? übersetze?
    vergleiche? verbessere? verschiebe? wandle zeige?
"""
ASKS = """
    (?:kannst|könntest|würdest|magst)_du (?:können|könnten|würden)_sie bitte hilf_mir
    ich_(?:möchte|brauche|hätte_gern|hätte_gerne|bräuchte|will) wir_(?:brauchen|sollten|müssen)
"""
AIMS = """
    (?:das|mein|unser)_(?:haupt|gesamt)?ziel_(?:ist|dabei|dieses) ziel_ist es_geht_(?:mir_)?(?:um|darum)
    (?:ich|wir)_(?:möchten?|wollen|will|versuchen?|planen?|bauen?|entwickeln?|arbeiten?_(?:gerade_)?an)
"""
GOALS = "(?:das_|mein_|unser_|neues_)?(?:haupt|gesamt)?ziel_(?:ist|bleibt|lautet)"
REPORTS = r"""
    wurden?_(?:\w+_){0,6}(?:ge\w+|\w+iert|(?:er|be|ver|ent)\w+t)
    (?:ich|wir)_(?:habe|haben|hab) (?:habe|haben)_(?:ich|wir) worden (?:ist|sind)_(?:jetzt|nun|fertig)
    erledigt behoben entschieden beschlossen umgesetzt abgeschlossen läuft_(?:jetzt|nun|wieder)
    tests?_(?:laufen|sind_grün|bestehen) (?:das_ergebnis|die_ursache|der_grund|das_problem)_(?:ist|war|lag)
"""
# Reports only at the beginning of a sentence.
REPORT_OPENINGS = "fertig angelegt geändert gelöscht ergänzt"
OPEN_POINTS = """
    noch_(?:offen|nicht|zu|fehlt|fehlen|machen|klären|ausstehend) offene?_(?:punkte?|fragen?|aufgaben?)
    (?:steht|stehen|fehlt|fehlen|muss|müssen|müssen_wir)_noch nächste[rn]?_schritte? als_nächstes ausstehend
    warten?_(?:noch_)?auf bis_(?:morgen|montag|dienstag|mittwoch|donnerstag|freitag) zu_klären ungeklärt
    (?:bleibt|ist)_offen
"""
FAILURES = r"""
    (?:funktioniert|klappt|geht|läuft|hilft|ging|lief|reicht|passt)_(?:so_|leider_|immer_noch_|auch_)*nicht
    nicht_(?:funktioniert|geklappt|geholfen|gegangen|möglich|gelöst|unterstützt|erlaubt|kompatibel|mehr)
    nichts_(?:gebracht|geholfen|genützt) gleiche[rn]?_fehler immer_noch_(?:\w+_)?(?:fehler|kaputt|falsch)
    fehlgeschlagen schlägt_fehl schlug_fehl scheiterte?t? gescheitert ohne_erfolg erfolglos vergeblich
    rückgängig zurückgerollt verworfen sackgasse
"""
PROHIBITION_OPENINGS = "nicht keine?[nr]? niemals nie vermeide auf_keinen_fall lass_(?:die|das|den)"
PROHIBITIONS = r"(?:darf|dürfen|darfst|sollst)_(?:\w+_){0,4}(?:nicht|keine?n?|nie|niemals)"
COURTESIES = """
    perfekt gerne? natürlich klar danke super selbstverständlich hier_(?:ist|sind) ich_hoffe viel_erfolg
    lass_mich_wissen wenn_du_(?:noch|weitere|möchtest) falls_du gern_geschehen kein_problem sag_bescheid
    melde_dich ich_helfe du_kannst du_könntest damit_kannst
"""

# Words in pasted text: headers, separators and greetings of mails, and what introduces a pasted document.
MAIL_HEADERS = "Von An Gesendet Betreff Datum"
MAIL_SEPARATORS = "Ursprüngliche_Nachricht Weitergeleitet"
MAIL_QUOTE_OPENINGS, MAIL_QUOTE_VERBS = "Am", "schrieb"
MAIL_GREETINGS = "Sehr_geehrte[rs]? Liebe[rs]?"
DOCUMENTS = """
    artikel dokument ausgabe nachricht protokoll absatz brief gedicht seite webseite
    beitrag beiträge kommentare? auszug zitat (?:such)?ergebnisse treffer transkript quelle
"""
# Verbs that ask for work on a text, and those that ask to look at one; words that point at it.
TEXT_TASKS = (
    "fass(?:e|t)? zusammenfass\\w* übersetz\\w* korrekturles\\w* umformulier\\w* formulier\\w*"
    " kürz(?:e|t|en)? korrigier(?:e|en)?"
)
READING_TASKS = """
    erklär(?:e|t|en)? prüf(?:e|t|en)? lies bewerte? analysiere? korrigier(?:e|en)? bedeutet heißt
    meinst hältst schau(?:e|t)? kommentiere? überarbeite? verbessere?
"""
TEXT_POINTERS = "das dies(?:e[rsn]?)? den es text seite artikel folgend\\w* oben unten"
POINTS_UP = "oben obige[nrs]?"
# Verbs of what others said, and words for how something came to the person.
REPORTS_SPEECH = """
    sagt sagte schrieb schreibt steht lautet meint meinte behauptet berichtet gesagt geschrieben geantwortet
"""
RECEIVED = "gefunden kopiert eingefügt erhalten weitergeleitet"
# Words of a sentence that holds from now on, and of one whose speaker is the person.
STANDING = "immer nie niemals ab_(?:jetzt|sofort) künftig merk(?:e)?_dir"
FIRST_PERSON_SPEAKERS = "ich wir"
# Styles of headings in documents, as files name them (sometimes without letters that are not Latin).
TITLE_STYLES, HEADING_STYLES = "titel", "überschrift berschrift"
# Abbreviations whose dot does not end a sentence, as they are written.
DOTTED = "bzw usw ggf evtl ca Nr inkl"
# Words of a program's output that say an error, and those before them that deny it.
ERRORS = "fehler fehlgeschlagen gescheitert abgebrochen"
ERROR_COUNTS, ERROR_DENIALS = "fehler", "keine ohne"

# Letters beside those of the Latin alphabet.
CAPITAL_LETTERS, SMALL_LETTERS = "ÄÖÜ", "äöüß"

# Words of clocks and calendars as they are written; months and weekdays in their order.
MONTHS = (
    "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober",
    "November", "Dezember",
)  # fmt: skip
MONTH_ABBREVIATIONS = (
    "Jan Jänner", "Feb", "Mär", "Apr", "", "Jun", "Jul", "Aug", "Sept Sep", "Okt", "Nov", "Dez",
)  # fmt: skip
# How a month begins behind the number of its day, where a dot stands between them.
MONTHS_AFTER_DAY = "Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez"
WEEKDAYS = (
    "Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag Sonnabend", "Sonntag",
)  # fmt: skip
# Short names of weekdays that mean nothing else, and those that are one only before a date.
WEEKDAY_ABBREVIATIONS, WEEKDAY_INITIALS = "", "Mo Di Mi Do Fr Sa So"
# The weekend, and what of it makes a sentence a dated one.
DATED_WEEKEND = "wochenende"
WEEKEND = "wochenende"
# The numbers from nought on, and "one" where it counts days.
NUMBER_WORDS = (
    "null", "eins ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf",
    "zwölf",
)  # fmt: skip
ONE_OF_UNITS = "einem einer"
# The month that a season begins with, the days from today, and how many days a stretch of time has.
SEASONS = {"frühling": 3, "frühjahr": 3, "sommer": 6, "herbst": 9, "winter": 12}
RELATIVE_DAYS = {"vorgestern": -2, "gestern": -1, "heute": 0, "morgen": 1, "übermorgen": 2}
UNIT_DAYS = {"tag": 1, "woche": 7, "monat": 30, "jahr": 365}
NEXT_ONE = "nächste[nrsm]? kommende[nrsm]?"
LAST_ONE = "letzte[nrsm]? vergangene[nrsm]? vorige[nrsm]?"
THIS_ONE = "diese[nrsm]?"
THIS_MORNING = "heute_(?:morgen|früh)"
PERIODS = "woche monats? jahr(?:es)?"
WEEKEND_FORMS = "wochenendes?"
DURATIONS = "laufzeit dauert? verbleibend"
TIME_ZONES = r"Mitteleuropäische_(?:Normal|Sommer|Winter)?[Zz]eit"
# Units with the sign that stands for them.
UNITS = {
    "gb": "gb gigabyte", "mb": "mb megabyte", "tb": "tb terabyte", "km": "km kilometer", "kg": "kg kilo",
    "%": "% prozent", "l": "liter", "cm": "cm", "m": "m", "s": "sekunden sekunde", "ms": "ms millisekunden",
    "min": "minuten minute", "h": "stunden", "d": "tage", "w": "wochen", "mo": "monate", "y": "jahre",
}  # fmt: skip
UNIT_NAMES = {
    "€": "euro eur", "$": "dollar usd", "%": "prozent", "s": "sek sek. sekunde sekunden",
    "min": "min minute minuten", "h": "std std. stunde stunden", "d": "tag tage tagen",
}  # fmt: skip
# Languages as they are spelled in every language, each with the German word.
LANGUAGE_NAMES = {
    "deutsch": "deutsch", "englisch": "englisch", "französisch": "französisch", "spanisch": "spanisch",
    "italienisch": "italienisch",
}  # fmt: skip

# Words between a name and its number that carry no meaning.
FILLER_WORDS = """
    ist sind war beträgt liegt lautet wird auf um am bei von mit ab bis ca etwa rund genau mindestens
    höchstens maximal kostet kosten für im der die das ein eine zu zum zur pro und oder als hat haben
    dauert gesetzt dann jetzt nur über unter wie es jahr jahre tage stunden minuten
"""
# Words that any two texts may share.
WEAK_WORDS = """
    zeit tag tage woche wochen monat jahr jahre stunde stunden minute minuten uhr neu neue gut gute beste groß
    klein viel viele gehen gehe brauche möchte kommen schreib schreibe schreiben gibt sagen grund frage
    antwort quelle quellen heute morgen gestern lohnt spät zeile name liste danke ersten erste zweite letzte
    nächste prozent euro kurz hat
"""

# memory: words by which statements that a person made are compared, and secrets are told from their
# descriptions.
# What a statement means the same without, when its value is compared, and when the whole is compared.
FILLERS = "der die das den dem jetzt nun inzwischen mittlerweile derzeit aktuell neuerdings"
HARMLESS = (
    "der die das den dem des ein eine einen einem einer eines ist sind dass bitte auch ja doch halt eben sehr"
)
# Words without which a statement means something else.
TURNS = (
    "nie niemals kaum selten manchmal oft immer fast beinahe ehemalige ehemaliger früher alt alte alter alten"
    " altes neu neue neuer neuen neues geplant vielleicht vermutlich wahrscheinlich außer bis seit etwa rund"
    " nur mindestens höchstens wohl eventuell"
)
# Verbs whose value is one at a time: when it is a number, when it is one of several rivals, when it is a
# place.
MEASURE_VERBS = (
    "ist sind hat haben kostet kosten dauert braucht nutzt läuft laufen lauscht hört beginnt endet schließt"
    " öffnet beträgt umfasst lautet liegt steht findet"
)
RIVAL_VERBS = "wohne wohnt lebe lebt läuft liegt sitzt steht"
PLACE_VERBS = "wohne wohnt lebe lebt liegt sitzt steht"
PLACE_WORDS = "in im bei"
EMPLOYMENT = "arbeite/bei arbeitet/bei"
NAMING_VERBS = "heißt lautet"
WISH_VERBS = "soll sollen sollte muss müssen bevorzugt bevorzuge bevorzugen"
BE = "ist sind"
# What may stand between a verb and its number.
BEFORE_NUMBER = (
    "um am auf nach bei für bis ab von mit seit im in zu alle etwa rund nur maximal mindestens höchstens"
)
NUMBERED = "stufe"
ONE_OF_MANY = "ein eine einen einem einer eines noch"
USE_VERBS = (
    "nutzen nutzt nutze benutzen benutzt benutze verwenden verwendet verwende setzen setzt läuft laufen"
    " wohnt wohnen lebt leben"
    " arbeitet arbeiten ist sind bleiben bleibt entschieden einsetzen speichern"
)
NEGATIONS = "nicht kein keine keinen keinem keiner nie niemals"
WITHOUT = "ohne"
# What comes with a negation, and what with its absence, and means nothing else there.
WITH_NEGATION = "mehr"
AROUND_NEGATION = "ein eine einen einem einer"
ROLE_WORDS = "als für in im auf bei"
FOR = "für"
LANGUAGES = "englisch deutsch französisch spanisch italienisch niederländisch polnisch portugiesisch"
COUNTRIES = """
    deutschland österreich schweiz frankreich italien spanien polen dänemark schweden norwegen finnland island
    irland belgien niederlande holland luxemburg schottland griechenland türkei kroatien ungarn rumänien
    bulgarien russland tschechien slowakei slowenien estland lettland litauen serbien kanada mexiko brasilien
    argentinien indien indonesien ägypten marokko australien
"""
REGIONS = """
    europa asien afrika skandinavien bayern sachsen hessen thüringen brandenburg saarland niedersachsen
    sachsen-anhalt schleswig-holstein mecklenburg-vorpommern baden-württemberg nordrhein-westfalen
    rheinland-pfalz tirol
"""
OPPOSITES = """
    kurz/lang kurz/ausführlich knapp/ausführlich kurz/detailliert knapp/detailliert formell/locker
    förmlich/locker aktiviert/deaktiviert an/aus offen/geschlossen öffentlich/privat erlaubt/verboten
    aktiv/inaktiv kostenlos/kostenpflichtig dunkel/hell
"""
# Said of a password instead of the password.
VALUE_DESCRIPTIONS = """
    nicht kein keine ein eine der die das zu falsch richtig korrekt ungültig gültig abgelaufen nötig
    notwendig leer gesetzt unbekannt geändert sicher unsicher schwach stark verschlüsselt gespeichert geheim
    weg vergessen verloren da hier dort im am noch schon siehe wie so auch immer nie nur standard hinterlegt
    bekannt pflicht erforderlich
"""
# What a preference says of a field of the profile: values with the patterns of their words.
ANSWER_LENGTHS = {
    "kurz": r"kurz\w*|knapp\w*|prägnant\w*",
    "ausführlich": r"ausführlich\w*|detailliert\w*|lang(?:e|en|er)?",
}
# Patterns of what a preference denies, what answers are called, and how a person gives their name.
DENIALS = r"nicht|kein\w*|nie"
ANSWERS = r"antwort|erklärung"
INTRODUCTIONS = r"nenn mich|ich heiße|mein name ist"
# What names the thing that was left, and the new one before it.
INSTEAD = "statt anstatt anstelle_von an_stelle_von"
# What a text has that may have a key with its name.
KEYED_HINTS = "schlüssel geheimnis"
# What a key for something is called, as a pattern; and the words between it and its value.
KEY_NAMES = r"passwort|passwörter|kennwort|zugangscode|losungswort"
KEY_PREPOSITIONS = "für vom von zum zur zu des der beim im am an"
KEY_VERBS = "ist war lautet heißt heisst jetzt"
KEY_ADVERBS = "jetzt noch nun"

# Searching: words without a meaning of their own, as they are folded (ae, oe, ue), words that tell the
# language though another one has them too, and words that do not tell it though only this one has them.
STOP_WORDS = """
    aber alle allem allen aller alles als also am an andere anderem anderen anderer anderes auch auf aus
    bei beim bin bis bist bitte da damit dann das dass dazu dein deine deinem deinen deiner dem den denn
    der deren des dessen dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine
    einem einen einer eines einige einigem einigen einiger einiges einmal er es etwas euch euer eure eurem
    euren eurer fuer gegen gewesen habe haben habt hast hatte hatten hier hin hinter ich ihm ihn ihnen ihr
    ihre ihrem ihren ihrer im in indem ins ist jede jedem jeden jeder jedes jene jenem jenen jener jenes
    jetzt kann kannst kein keine keinem keinen keiner koennen koennte machen mein meine meinem meinen
    meiner mich mir mit muss musste nach nicht nichts noch nun nur ob oder ohne sag sage sehr sein seine
    seinem seinen seiner selbst sich sie sind so solche solchem solchen solcher soll sollte sondern sonst
    ueber um und uns unser unsere unserem unseren unserer unter viel vom von vor waehrend wann waren warum
    was weg weil weiter welche welchem welchen welcher welches wenn wer werde werden wie wieder wieso wir
    wird wirst wo wollen wollte wuerde wuerden zu zum zur zwar zwischen
"""
TELLING_WORDS = "war hat man"
UNTELLING_WORDS = ""
# How letters are spelled where they are missing on a keyboard.
SPELLINGS = {"ä": "ae", "ö": "oe", "ü": "ue"}
# Abbreviations whose dot ends no sentence, in small letters.
ABBREVIATIONS = """
    z.b d.h u.a u.u o.ä i.d.r z.t bzw ca usw etc evtl ggf inkl exkl max min nr abs art bd dr prof hr fr st
    str tel vgl sog bspw mio mrd jan feb mär apr jun jul aug sep sept okt nov dez
"""

# Reading questions. Numbers and times that may answer one; how one begins, joins another, leans on another.
ANSWER_NUMBERS = """
    zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dutzend hundert tausend halb einmal
"""
ANSWER_TIMES = """
    gestern vorgestern heute morgen übermorgen vor letzte[nmrs]? nächste[nmrs]? woche wochenende monat jahr
    uhr
"""
QUESTION_WORDS = """
    wer wen wem wessen was wann wo wohin woher womit wofür wovon worauf woran worüber welche[rsmn]? warum
    wieso weshalb wie wieviele?
"""
QUESTION_OPENERS = "und aber also nun bitte"
GOES_BACK = r"zurück_zu[rm]? erinner\w{0,5} vorhin damals bezüglich nochmal sag_mir sag_mal"
OWN_PRONOUNS = r"ich mir mich mein\w{0,2} wir uns unser\w{0,2}"
# Who speaks of themselves alone, and what a team has together.
PERSONAL_PRONOUNS = r"ich mir mich mein\w{0,2}"
REPOSITORY_WORDS = r"repos? repositor\w{1,3} projekt\w{0,2} codebasis quellcode"
DEFINITE_WORDS = r"der die das den dem des dies\w{1,2} im am zum zur beim vom ins ans"
# Things of which the world has one.
ONLY_ONES = "welt erde himmel mond sonne"
# What comes before anything at large that has something, and what says whose it is.
OF_ANYTHING = "von zwischen"
OTHERS_OWN = r"dein\w{0,2} ihr\w{0,2} sein\w{0,2}"
# The most of its kind, and yet one that both sides know.
NEWEST = r"nächste\w? neueste\w? aktuellste\w?"
QUESTION_VERBS = """
    kann können darf dürfen muss müssen soll sollen ist sind war waren wird werden hat habe haben gibt
"""
QUESTION_SUBJECTS = r"ich du er sie es wir man der die das mein\w{0,2} unser\w{0,2}"
AND, AS_WELL, AND_OR, PLAIN_AND = "und sowie", "", "und oder", "und"
ELLIPTIC_OPENERS = "und oder aber dann"
QUESTION_FINITE = """
    ist sind war waren hat haben hatte hatten kann können wird werden wurde soll sollte muss heißt macht gibt
"""
# Words that only ask, and would be looked for as if they were the subject.
ASKING_WORDS = """
    viel viele vielen oft war waren hat hatte hatten man wurde wurden worden wem wen wessen woher wohin
    wozu womit wovon worauf worum woran worin wodurch wofür wogegen wobei wonach worüber woraus weshalb
    weswegen inwiefern inwieweit wieviel heißt heißen hieß hießen lautet lautete nennt nannte genannt
    bezeichnet darf dürfen durfte durften konnte konnten könnten müssen mussten mag mögen möchte sollen
    sollten wollten wäre wären hätte hätten ab neben seit trotz wegen außer statt innerhalb außerhalb laut
    gemäß manche manchen mancher mehrere mehreren beide beiden dabei dafür daran darauf daraus darin
    darüber darum davon davor dadurch danach daher deshalb deswegen jedoch sowie sowohl weder entweder
    falls bevor nachdem obwohl bereits schon etwa ungefähr meist meisten mehr
"""
# Questions about the world, one a line: what is near to one of them is seldom about the people talking.
GENERAL_QUESTIONS = """
    Wie heißt die Hauptstadt von Norwegen?
    Welcher Fluss ist der längste in Europa?
    Wie viele Menschen leben in Indien?
    In welchem Land liegt der Titicacasee?
    Wann endete der Zweite Weltkrieg?
    Wer entdeckte Amerika?
    Welcher König baute Versailles?
    Wer schrieb Hamlet, und wann?
    Wer malte die Sternennacht?
    Welche Tonart hat die neunte Sinfonie?
    Wie entsteht ein Regenbogen?
    Warum ist Meerwasser salzig?
    Wie schwer ist ein Elefant?
    Was fressen Igel?
    Welche Farbe hat Kupfersulfat?
    Bei welcher Temperatur schmilzt Eisen?
    Wie funktioniert ein Elektromotor?
    Was ist ein schwarzes Loch?
    Wie berechnet man die Fläche eines Kreises?
    Wie viel ist 15 mal 12?
    Was ist die Wurzel aus 144?
    Wie lange kocht man Reis?
    Wie macht man Mayonnaise selbst?
    Welches Gewürz passt zu Kürbis?
    Wie entferne ich Grasflecken?
    Wie wechselt man einen Fahrradschlauch?
    Was hilft gegen Kopfschmerzen?
    Wie viele Stunden Schlaf braucht ein Erwachsener?
    Wie lese ich in JavaScript eine Datei ein?
    Was macht der Befehl grep?
    Was ist der Unterschied zwischen einer Klasse und einem Objekt?
    Wie heißt Schmetterling auf Spanisch?
    Was bedeutet das Wort Empathie?
    Wann benutzt man den Konjunktiv?
    Wie schreibt man eine Bewerbung?
    Was ist die Mehrwertsteuer?
    Wie funktioniert eine Aktie?
    Welche Regeln gibt es beim Tennis?
    Erzähl mir eine kurze Geschichte.
    Wie ist das Wetter?
    Wie geht es dir?
    Was kannst du alles?
    Kannst du das einfacher sagen?
"""
# Questions about the affairs of somebody, one a line: what is nearer to one of them than to one about the
# world may be answered by what was said.
OWN_QUESTIONS = """
    Wann ist der Termin?
    Wann fängt der Kurs an?
    Wann kommen die Gäste?
    Bis wann muss das Formular abgegeben werden?
    Bis wann ist sie im Urlaub?
    Seit wann sind sie verheiratet?
    Wie lange gilt der Vertrag?
    Was hat die Reparatur gekostet?
    Wie viel Miete zahlen sie?
    Wie viele Stühle werden gebraucht?
    Wie viele Urlaubstage sind noch übrig?
    Wie alt ist die Tochter?
    Wie schwer darf das Paket sein?
    Wer ist für die Buchhaltung zuständig?
    Wer füttert am Sonntag die Katze?
    Von wem hat sie den Ring?
    Wer kommt zur Feier?
    Von welcher Bank ist der Kredit?
    Auf welche Schule gehen die Kinder?
    Welchen Zug haben sie genommen?
    Welches Medikament nimmt er?
    Welche Kollegin ist krank?
    Wo liegen die Schlüssel?
    Wo haben sie die Ferien verbracht?
    Wo steht das Fahrrad?
    In welcher Schublade sind die Pässe?
    Wie heißt der Nachbar?
    Wie lautet die Nummer der Bestellung?
    Was hat die Ärztin gesagt?
    Was hat sie zum Geburtstag bekommen?
    Was wurde in der Sitzung beschlossen?
    Was war der Grund für die Verspätung?
    Was darf nicht vergessen werden?
    Was fehlt noch für die Reise?
    Was steht als Nächstes an?
    Warum wurde das Konzert abgesagt?
    Warum hat er die Stelle gewechselt?
    Wie ist die Prüfung gelaufen?
    Wie möchte die Chefin den Bericht?
    Ist die Fahrkarte bezahlt?
    Ist das Auto versichert?
    Isst sie Fisch?
    Ist das Paket angekommen?
    In welcher Sprache ist die App geschrieben?
    In welchem Branch ist die Korrektur?
    Wie lautet die Adresse des Testservers?
    Wer führt die Pull Requests zusammen?
    Wann endet die Ausschreibung?
    Welcher Lieferant hat die Ersatzteile?
    Wie hoch ist der Rabatt für Stammkunden?
    Welche Farbe hat die Haustür?
    Welches Format haben die Fliesen?
    Welches Zimmer bekommt neue Fenster?
    Wer mäht den Rasen?
    Wie heißt der Bruder der Heldin?
    In welchem Jahr beginnt der Roman?
    Wie viele Kapitel sind fertig?
    Was für ein Ende wollte die Lektorin?
    Bei welcher Fluglinie haben sie gebucht?
    Von welchem Gate geht der Flug?
    Worüber beschwert sich der Kunde?
    Welche Dosis hat die Tierärztin verschrieben?
    Wie weit ist die Wohnung vom Bahnhof entfernt?
"""
# What stands behind "You are" and is no name.
NO_NAMES = "ein eine der die das experte assistent"
# Sections of a summary that say what was wanted, not what is so.
WISH_HEADINGS = "anfragen ziel"

# Research. How a question is put, not what it asks for; the same only where the language is known.
MANNER_WORDS = """
    bitte eigentlich ungefähr etwa mal denn genau aktuell aktuelle aktueller aktuellen aktuelles gerade
    momentan derzeit derzeitige heutige lautet steht voraussichtlich danke wem wen wurde wurden worden
"""
MANNER_WORDS_ALONE = "hat war man hatte"
# Small words that turn what is asked around, which a search may leave out.
TURNING_WORDS = """
    nicht kein keine keinen keiner ohne nie außer muss müssen soll sollte darf dürfen vor seit bis über unter
    als mehr weniger nur alle andere anderen gegen zwischen
"""
PAST_VERBS = "war waren hatte hatten"
# What verbs leave behind at the end of a sentence: what is switched on is not switched off.
LEFT_BEHIND = "an aus auf zu ab ein weg hin her um"
# The same turn in every language, by its English word.
SAME_TURNS = {
    "not": "nicht kein keine keinen keiner", "without": "ohne", "never": "nie", "except": "außer",
    "must": "muss müssen", "should": "soll sollte", "may": "darf dürfen", "before": "vor", "since": "seit",
    "until": "bis", "over": "über", "under": "unter", "than": "als", "more": "mehr", "less": "weniger",
    "only": "nur", "all": "alle", "other": "andere anderen", "against": "gegen", "between": "zwischen",
    "off": "aus", "on": "ein an", "to": "zu",
}  # fmt: skip
# Words that ask for the same thing in every language, by a German word.
SAME_SUBJECTS = {
    "wetter": "wettervorhersage wetterbericht wetterlage wetteraussichten wetterprognose",
    "vorhersage": "prognose aussichten",
    "preis": "kosten kostet",
    "kurs": "",
    "nachrichten": "neuigkeiten schlagzeilen",
    "öffnungszeiten": "öffnungszeit geöffnet öffnet",
    "einwohner": "einwohnerzahl bevölkerung",
    "hauptstadt": "",
    "höchste": "höchster höchsten",
    "definition": "bedeutung bedeutet",
    "erfunden": "erfinder erfand",
    "geschrieben": "schrieb autor",
    "installieren": "installiere installiert",
    "temperatur": "temperaturen",
    "regen": "regnet",
}
# What says nothing more beside such a word; what is wanted where only the word is named.
BESIDE_SUBJECTS = {"wetter": "vorhersage", "öffnungszeiten": "zeiten"}
IMPLIED_QUESTIONS = {
    "preis": "how many",
    "kurs": "how many",
    "öffnungszeiten": "when",
    "einwohner": "how many",
    "erfunden": "who",
    "geschrieben": "who",
    "wetter": "how",
    "nachrichten": "how",
    "hauptstadt": "how",
    "installieren": "how",
    "temperatur": "how",
    "definition": "how",
}
# What the end of a compound asks for: the Bitcoinkurs is the price of Bitcoin.
COMPOUND_ENDS = "kurs preis preise wetter nachrichten temperatur öffnungszeiten einwohnerzahl"
# Small words that say what the next word is to the question.
LEADING_WORDS = {"von": "from", "aus": "from", "ab": "from", "nach": "to", "zu": "to"}
# Plans that depend on the weather, and the words for it.
WEATHER_WORDS = "wetter wettervorhersage wetterbericht niederschlag regen"
WEATHER_PLANS = """
    wandern wanderung grillen picknick ausflug outdoor draußen zelten camping radtour fahrradtour joggen
    schwimmen baden freibad strand garten regenschirm schirm jacke nass sonnencreme segeln gießen biergarten
    spaziergang spazieren skifahren
"""
# Words for how soon an answer is out of date.
VOLATILITIES = {
    "stündlich": "hourly",
    "täglich": "daily",
    "wöchentlich": "weekly",
    "monatlich": "monthly",
    "dauerhaft": "permanent",
}
# What makes a text of this language that has none of the small words by which it is known.
TELLING_SUBJECTS = "kostet kosten wetter preise? kurs"

# Values of the profile with the patterns of their words, and the languages that answers may be wanted in.
TONES = {
    "formal": r"formell\w*|förmlich\w*",
    "locker": r"locker\w*|ungezwungen\w*",
    "Sie": r"gesiezt|siezen|per Sie",
    "du": r"geduzt|duzen|per du",
}
ANSWER_LANGUAGES = "Englisch Deutsch Französisch Spanisch Italienisch"
