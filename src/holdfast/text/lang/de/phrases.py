"""German: patterns of several words, each name alternatives of one regular expression. Data only."""

# --- Questions ----------------------------------------------------------------------------------------------

# What asks for a number, for a time; how a thing is done at all: "wie heiße ich" and "wie oft war ich da" ask
# for a fact instead.
ASKS_NUMBER = (
    r"\bwie ?viele?\b|\bwie (?:lange|oft|alt|weit|groß|hoch)\b|\b(?:anzahl|preis|kostet|kosten|summe|höhe)\b"
)
ASKS_TIME = (
    r"\bwann\b|\bwelche[mnrs]? (?:tag|datum|wochentag|uhrzeit|jahr|monat)\b|\bwie ?viel uhr\b|\bfrist\b"
    r"|\btermin\b"
)
HOW_TO = (
    r"\bwie (?!(?:hei(?:ß|ss)|hie(?:ß|ss)|nenn|bin|war|hab|hatt|wünsch|möcht|woll|mag|oft|viel|lang|alt|groß"
    r"|weit|hoch|schwer|spät|früh|teuer|schnell)\w{0,3}\b)[^?.!\n]{0,40}?\b(?:ich|man|wir)\b"
)
# How it is done here; which one of mine; what the assistant said.
OURS = r"\bunser\w{0,2}\b"
WHICH_OF_MINE = ""
SAID_BY_YOU = (
    r"\b(?:hast|hattest|hattet|haben) (?:du|sie)\b"
    r"(?=[^?.!\n]{0,80} (?:\w{0,9}ge|be|emp|ent|er|ver)\w{2,16}(?:t|en)\b)"
    r"|\b(?:du|sie) (?:hast|hattest|haben|hatten)\b"
    r"|\bdein(?:e|en|er|em)? (?:vorschlag|antwort|rat|empfehlung|liste)\b"
)
# Whom something is told.
TELLS_ME = (
    r"(?:erklär|schreib|gib|gebt|zeig|nenn|sag|mach|hilf|empfiehl|erzähl|such|stell|bring)(?:e|en sie)?"
    r" (?:mir|uns)"
    r"|(?:kannst|könntest|würdest|kann|magst) du (?:mir|uns)|(?:können|könnten|würden) sie (?:mir|uns)"
)
WHAT_ABOUT = r"was ist mit|wie sieht es mit"
# What stands for something said before. A noun behind "das" says it itself, "gibt es" stands for nothing.
LEANS_BACK = (
    r"(?<!gibt )(?<!gab )es(?! gibt\b)(?! gab\b)|dies\w{0,2}|dort|damit|davon|dazu|darüber|ihn|ihm|ihnen"
    r"|das(?!(?-i:(?: [a-zäöü]\w{1,20})? [A-ZÄÖÜ]))"
    r"|(?:der|die|das|den) (?:erste|zweite|dritte|letzte|andere)n?(?!(?-i: [A-ZÄÖÜ]))"
)
# "Was gehört zu X dazu": the adverb repeats what is named.
NAMED_TWICE = (
    r"\b(?:zu[mr]?\b.{1,80}?\bdazu|mit\b.{1,80}?\bdamit|vo[nm]\b.{1,80}?\bdavon|über\b.{1,80}?\bdarüber)\b"
)
# What asks as one word; a kind is a thing otherwise, and long a quality.
ASKS_AS_ONE = (
    r"\bwelche[rnms]? (?:Art|Sorte)\b"
    r"|\bwie (?:lange?|weit|hoch|groß|alt|schnell|schwer|teuer|tief|breit|spät|früh|bald|gut)\b"
)
# Before the name of the assistant, and of the user, in a system prompt.
CALLS_ASSISTANT = r"Du bist|Du heißt|Dein Name ist|Sie sind"
CALLS_USER = (
    r"Du (?:sprichst|chattest|redest) mit|[Dd]er (?:Nutzer|Benutzer|Anwender) heißt|Name des Nutzers:"
)

# --- Statements and their values ----------------------------------------------------------------------------

# A verb, as far as its ending and what follows it tell.
FINITE_VERB = (
    r"(?<!mit )(?<!auf )(?<!in )(?<!per )(?<!via )(?<!ohne )(?<!als )(?<!für )(?<!bei )"
    r"\b(?!nicht|jetzt|seit|mit|statt|heut|laut|dort|fast|bereits|meist|erst)[a-zäöüß]{3,}t\b"
)
# Names in a sentence. Nouns are capital as well: a name stands without an article.
NAME_IN_SENTENCE = (
    r"(?i:\b(?:in|auf|mit|bei|nach|aus|von|nehmen|per|heißt|heiße|heißen|ist|statt|über|als"
    r"|durch|für|an|namens|namen?|stadt|firma|marke|modell"
    r"|jetzt|wir|bin|gegen) (?:doch |noch |nur |ja |auch |jetzt |nun )?)[A-ZÄÖÜ][\wäöüß-]+"
    r"|(?i:eine?n?|den) [A-ZÄÖÜ][\wäöüß-]+ [A-ZÄÖÜ][\wäöüß-]+"
)
# Names that a statement is about.
STATED_NAME = (
    r"\b(?:[Ff]rau|[Hh]errn?|Dr\.) ([A-ZÄÖÜ]\w+)"
    r"|(?i:\b(?:heißt|heiße|heißen|ist|auf|in|bei|mit|über|an|nach|prüft|zu|wir|nehmen|nutzen"
    r"|verwenden) (?:jetzt |nun |nur |schon |doch |wieder )*)([A-ZÄÖÜ][\w-]+)"
    r"|^([A-ZÄÖÜ]\w+)(?= (?:hat|ist|geht|wohnt|lebt|arbeitet|heißt)\b)"
)
# What a sentence begins with behind an article.
SENTENCE_HEAD = r"(?:(?i:der|die|das|unsere?|meine?|eine?) )((?:[a-zäöüß]+e[nrs]? ){0,2}[A-ZÄÖÜ][\w-]+)(?= )"
SUBJECT_VERBS = r"hat|ist|wohnt|lebt|arbeitet|heißt|läuft|geht"
# Before a name that is given as a value, titles before it, and what makes it new.
CALLED_BEFORE = (
    r"doktor|springt|heißt|heiße|namens|name (?:\S+ ){0,4}?(?:ist|lautet)|nenn mich|chef ist|frau|herrn?"
)
TITLES = r"frau|herrn?|doktor"
NOW_BEFORE = r"jetzt|nun|inzwischen|mittlerweile|neuerdings|künftig|ab sofort|seit \w+"
OF_MINE = r"ist (?:mein|unser)"
CALLED_ANYTHING = r"heißt"
NOT_BUT = r"sondern"
RENAMED, RENAMED_TO = r"umbenannt", r"in|heißt"
VALUE_VERBS = r"ist|lautet"
BACK_AGAIN = "zurück"
DIRECTIONS = "von nach aus vor hin her"
# What means that something is not to be without saying so.
DENIES = r"verboten|untersagt|tabu"
NEW_ONE = r"neue[nmrs]?"
FREQUENCIES = (
    r"(?:vierteljähr|halbjähr|zweiwöchent|täg|wöchent|monat|jähr|stünd)lich"
    r"|jede[nrs]? (?:zweite[nrs]? )?(?:tag|woche|monat|jahr|nacht|wochenende)"
    r"|alle (?:zwei|drei|vier|\d+) (?:tage|wochen|monate|jahre)"
)
EVERY_SECOND = r"jede[nrs]? (?:zweite|dritte)[nrs]?"
END_OF_MONTH = r"\bmonats(?:ende|letzte[nr]?)\b|\bende des monats\b"
SHORT_ANSWERS = r"kurz\w*|knapp\w*|bündig"
LONG_ANSWERS = r"ausführlich\w*|lang|lange|detailliert\w*"
VALUE_WORDS = r"kurz\w*|knapp\w*|ausführlich\w*|lang|deutsch\w*|englisch\w*"
CLOCK_WORDS = r"uhr|halb|euro"
# A change is told by when it holds, by its verb, or by what it ends. `<day>` and `<month>` are their names.
CHANGES = (
    r"jetzt|nun|neuerdings|inzwischen|mittlerweile|nicht mehr|kein\w* (?:\S+ ){0,3}mehr"
    r"|ab (?:dem |der )?(?:nächste\w* \w+|jetzt|sofort|heute|morgen|<day>|<month>)|seit (?:heute|gestern"
    r"|kurzem|neuestem"
    r"|dem|der|<day>|<month>|anfang|ende|letzte\w+)|statt|stattdessen|doch|verschoben|verlegt|gelegt"
    r"|umgestellt|umgestiegen|gewechselt"
    r"|umgezogen|(?:nach|ins|in die) \S+ gezogen|ersetzt|abgelöst|umbenannt|erhöht|gesenkt"
    r"|verzögert|erst (?:am|ab|im|in|um)"
    r"|nur noch|bloß noch|ausweichen|ausgewichen|weich(?:en|e|t) (?:\S+ ){1,5}?aus|verschieb\w+|verleg\w+"
    r"|springt (?:\S+ ){1,4}?ein|einspring\w+|übernimmt"
    r"|ich meinte|meinte ich|quatsch|verguckt|vertan|vertippt|verlesen|verrechnet|korrektur|abgesagt"
    r"|aufge\w+t|umge\w+t|verkürzt|verlängert|erneuert|künftig|ab sofort|auf (?:\S+ ){1,3}?\w*ge\w{3,}(?:t"
    r"|en)|angehoben|reduziert|war(?:en)? zu \w+|vom tisch|geh(?:en|e|t) (?:hoch|rauf|runter) auf"
)
# How people say who they are.
WHO_I_AM = (
    r"[Ii]ch (?:bin (?=[A-ZÄÖÜ]|ein|der|die)|heiße|arbeite|wohne|lebe|leite|studiere|komme aus)"
    r"|[Mm]ein Name ist"
)
# Somebody has a sum of money.
OWN_MONEY = (
    r"wir (?:\S+ )?haben|haben wir|ich (?:\S+ )?habe|habe ich|hab ich|(?:uns|mir) bleib(?:t|en)|zur verfügung"
)
# Who takes somebody's place.
STEPS_IN = r"springt|übernimmt|vertritt|ersetzt"
# A change that names what it leaves and then what it takes; one that names only what it takes. `<name>` is a
# name.
_MOVED = r"(?:gewechselt|umgestiegen|umgestellt|umgezogen|migriert|gezogen)"
REPLACEMENTS = (
    rf"\bvon <name> (?:auf|zu|nach) <name>.{{0,40}}? {_MOVED}",
    r"\b(?:wechsel|umstieg|migration|zieh|zog|stieg|stell)\w* .{0,40}?von <name> (?:auf|zu|nach) <name>",
    r"<first><name> durch <name> (?:ersetzt|abgelöst)",
)
ADOPTIONS = r"\b(?:auf|zu) <name> (?:gewechselt|umgestiegen|umgestellt|migriert)"
# Behind what somebody prefers.
PREFERRED_TO = r"als|über"
# What a secret is called in front of its value.
KEYED_PREFIXES, KEYED_NAMES, KEYED_ALONE = r"zugriffs", r"schlüssel", r"geheimnis"

# --- Requests to remember something -------------------------------------------------------------------------

# Any word by which a message may ask for it, and what it may be said with, before and behind.
REMEMBER_HINTS = (
    r"\bmerk|vergiss|speicher|notier|denke? (?:\w+ )?da?ran|behalt|schreibe? (?:\w+ )?(?:dir|auf)|festhalt"
    r"|halte? |für später|abspeicher|gedächtnis|fürs protokoll|erinnere? |hinterleg|präge? |zum merken"
    r"|trage? (?:\w+ )?ein"
)
REMEMBER_OPENINGS = (
    r"bitte|und|auch|ach|noch was|noch etwas|kannst du|könntest du"
    r"|würdest du|du sollst|ach ja|übrigens|wichtig|so|also"
)
REMEMBER_FOR = (
    r"dauerhaft|für immer|für später|für die zukunft|fürs nächste mal|bitte|doch|mal|gut|unbedingt|auch|noch"
)
REMEMBER_PLACES = r" in(?: deine[mn]|s|m)? (?:gedächtnis|speicher)"
REMEMBER_ENDS = r"für mich|für später|gut|bitte|ok|okay|irgendwo"
# References without content. An article with its noun, or a whole sentence about "das", has content.
EMPTY_REFERENCES = r"(?i:was|wie|wer|wo|zu)\b|(?i:das|dies|es)\b(?! (?:[a-zäöüß]+ )?[A-ZÄÖÜ])(?!(?: \S+){4})"
# The requests themselves, each with what follows it: a sentence, a clause with its verb at the end, a
# statement, or only a thing. `<later>` is REMEMBER_FOR, `<where>` REMEMBER_PLACES. Then requests that only
# point at something.
_REMEMBER = (
    r"(?:merke? dir|merken sie sich|dir (?:bitte )?merken|notiere? dir|speichere?(?: dir)?(?: ab)?|notiere?"
    r"|behalte?(?: dir)?|vergiss(?: bitte)? nicht|denke? (?:bitte )?da?ran|schreibe? dir(?: bitte)? auf"
    r"|halte? fest|erinnere? dich(?: bitte)? daran|präge? dir(?: bitte)? ein|hinterlege?(?: bitte| mal)*"
    r"|(?:nimm|nehmen sie)(?: bitte)? in (?:dein|ihr) gedächtnis auf|trage? bitte ein"
    r"|behalte? (?:bitte )?im (?:hinter)?kopf)"
)
_THIS = r"(?: (?:das|dies|folgendes|es|alles))"
REMEMBER_REQUESTS = (
    ("sentence", r"(?:merke|(?:nur )?zum merken|für später|fürs protokoll): ?"),
    (
        "sentence",
        rf"(?:lege?|speichere?|nimm){_THIS}(?: bitte)? (?:in(?: dein|s|m)?|im) gedächtnis(?: ab| auf)?: ?",
    ),
    ("clause", rf"{_REMEMBER}<later><where>,? dass "),
    ("sentence", rf"{_REMEMBER}<later>{_THIS}?<later><where>: ?"),
    (
        "statement",
        rf"{_REMEMBER}<later>, (?=(?:ich|wir|meine?|unsere?|bei uns|der|die|das|[A-ZÄÖÜ]\w+) )",
    ),
    # "merk dir meinen Geburtstag: 3. Mai"
    ("thing", r"merke? dir<later> (?=(?:den|die|das|meine?n?|unsere?n?) .*\d)"),
)
# Who asks this way speaks of old times.
REMINISCENCES = r"(?:weißt|erinnerst) du (?:noch|dich)\b"
REMEMBER_REFERENCES = (
    rf"{_REMEMBER}<later>{_THIS}?<where>|(?:das|dies)(?: bitte)? merken"
    rf"|schreibe? dir{_THIS}(?: bitte)? auf"
    rf"|halte?{_THIS}(?: bitte)? fest|behalte?{_THIS}(?: bitte)? im (?:hinter)?kopf"
    rf"|dir{_THIS}(?: bitte)? (?:merken|notieren|aufschreiben)|notiere?{_THIS}"
)
# A clause with its verb at the end: its subject, the forms of that verb, verbs that come apart, what follows
# a complete clause, and what goes on with the subject.
CLAUSE_PRONOUNS = r"ich|wir|er|es|man"
CLAUSE_SUBJECTS = (
    rf"(?i:{CLAUSE_PRONOUNS})|(?i:meine?|unsere?|der|die|das|eine?) (?:[a-zäöüß]+ )?[A-ZÄÖÜ][\w-]+"
    r"|(?:Frau|Herr|Dr\.|Prof\.) [A-ZÄÖÜ][\w-]+|[A-ZÄÖÜ][a-zäöüß]+"
)
CLAUSE_VERBS = r"[a-zäöüß]+(?:t|e|st|en)|bin|sind|war|kann|muss|darf|soll|will|mag|wird"
CLAUSE_SEPARABLE = (
    r"(?:ab|an|auf|aus|bei|ein|fest|her|hin|los|mit|nach|um|vor|weg|zu|zurück|zusammen|teil"
    r"|statt)[a-zäöüß]{3,}"
)
CLAUSE_ADDITIONS = (
    r"weil|da|denn|wegen|damit|obwohl|trotz|außer|ausgenommen|wenn|falls|solange|sobald|seit|bis|um"
    r"|ohne|und zwar|nämlich|es sei denn"
)
CLAUSE_GOES_ON = (
    r"von|vom|des|der|aus|für|bei|im|in|am|an|auf|mit|und|oder|zur|zum|unserer|meiner|unseres|meines"
)

# --- Summaries ----------------------------------------------------------------------------------------------

# What stands for an empty section; what a model says around a summary, behind it and before it.
NOTHING = (
    r"keine?s?|nichts(?: offen)?|entfällt|nicht (?:angegeben|genannt)|leer|keine (?:\w+ )?(?:angaben?"
    r"|punkte|aufgaben)"
)
REMARKS = (
    r"lass(?:en sie)? (?:es )?mich wissen|ich hoffe|wenn (?:du|sie) (?:noch|weitere|möchte|etwas)"
    r"|falls (?:du|sie)|gib(?: mir)? bescheid|sag(?:en sie)? (?:mir )?bescheid|diese zusammenfassung"
    r"|möchte(?:st du|n sie)|soll ich|kann ich (?:dir|ihnen)|ende der zusammenfassung"
)
PREAMBLES = (
    r"klar|gerne?|natürlich|hier (?:ist|kommt|folgt)|folgende|im folgenden|nachfolgend|die zusammenfassung"
    r"|zusammenfassung"
)
SPEAKER_LABELS = r"nutzer|benutzer|assistent|mensch|ki"
# Small words that never end a sentence.
UNFINISHED = (
    r"aber|als|am|an|auf|aus|bei|bis|da|damit|das|dass|dem|den|der|des|die|durch|eine?[mnr]?|für|hat|ist|im"
    r"|mit|nach|nicht|oder|sich|sie|sind|sondern|um|und|vom|von|war|weil|wenn|werden|wird|wurde|zu|zum|zur"
    r"|über"
)
NO_MEMORIES, NO_MEMORY = r"KEINE[\s_-]?MEMOR(?:IES|Y|IEN)", r"KEINE[\s_-]?MEMOR\w+|keine?|nichts|unbekannt"

# --- Side requests of clients -------------------------------------------------------------------------------

TALKS = r"unterhaltung\w*|gespräch\w*|konversation\w*|sitzung\w*|\w*verlauf\w*"
OUR_TALK_POINTERS = r"dies\w*|unser\w*|obig\w*"
OUR_TALKS = r"(?:das|dem|des|der) (?:gespräch\w*|unterhaltung)"
TALK_OF_OTHERS = r"zwischen|mit|von"
MAKE_VERBS = r"(?:erstell|generier|erzeug|schreib|formulier|nenn|fass)\w{0,20}|gib"
TITLE_NAMES = r"titel|überschrift"
DESCRIPTION_NAMES = r"beschreibung"
FEW_NUMBERS, FEW_UNITS = r"zwei|drei|vier|fünf|sechs", r"wörter\w*|zeichen"
NOTHING_ELSE = r"nur|nichts sonst|ohne|keine (?:anführ|satz|erklär)|direkt"
SUMMARISE = r"(?:zusammenfass|verdicht)\w{0,20}|fass\w{0,20} .{0,60}zusammen"
SUCCESSORS = r"(?:ander|nächst)\w{0,20}"
CONTINUE = r"(?:fortsetz|fortzu|weiterarbeit|ersetz)\w{0,20}"
TASK_LABELS = r"aufgabe"
COMPLETE_TASKS = r"vervollständig\w*"
IMAGE_TASKS = r"bildbeschreibung|bildgenerierung"
QUERY_TASKS = r"suchanfrage\w*|suchbegriff\w*"
FOLLOW_UP_TASKS = r"(?:folge|anschluss)fragen"
TAG_TASKS = r"schlagw\w+|kategorien"
SUMMARY_OPENINGS = (
    r"(?:(?:Dies|Hier) ist )?(?:eine )?Zusammenfassung (?:de[rs]|unsere[rs]) (?:bisherigen |früheren )?"
    r"(?:Gespräch|Unterhaltung|Chat|Verlauf)"
)

# --- Research -----------------------------------------------------------------------------------------------

# How somebody begins to ask; "just now"; what asks for a price.
RESEARCH_OPENINGS = (
    r"bitte|hallo|ich (?:möchte|will|würde gerne?) (?:gerne? )?wissen|kannst du (?:mir sagen|herausfinden)"
    r"|sage? mir|finden? (?:sie )?heraus|recherchiere|suche? nach|zeige? mir|gib mir|erkläre?(?: mir)?"
    r"|informationen (?:über|zu)"
)
JUST_NOW = r"im moment"
HOW_EXPENSIVE = r"wie teuer"
# What is wanted, by the first of such words.
WANTED = {
    "many": r"wie ?viele?", "long": r"wie lange", "often": r"wie oft", "far": r"wie weit",
    "who": r"wer|wen|wem|wessen", "where": r"wo|wohin|woher", "when": r"wann",
    "why": r"warum|wieso|weshalb", "how": r"wie", "what": r"was|welche[nrsm]?",
}  # fmt: skip
# What is the most of something may be the least by its meaning; what begins or ends so may be its opposite.
SUPERLATIVES = r"\b\w{2,}[sß]te[nrsm]?\b"
OPPOSITE_FORMS = r"\bent\w+iert\w*|\blos\b|\b\w{3,}(?:los|lose[nrsm]?|frei|freie[nrsm]?)\b"
# A name in a question: behind a bare preposition.
ASKED_NAME = r"\b(?:in|aus|von|nach|bei)\s+([A-ZÄÖÜ][\w-]+)"
# How soon an answer is out of date, by what is asked for.
WEATHER = r"wetter\w*|temperatur\w*|regnet|regen\w*|schneit|sonnig\w*"
NOW = r"jetzt|gerade|momentan\w*|derzeit\w*|im moment|aktuell\w*"
HOURLY = (
    r"\b(?!nobel|friedens|literatur|film)\w*(?:preise?|kurse?)n?\b|\bkostet\b"
    r"|\b(?:wechselkurs|börse|aktien?|krypto\w*)\b"
    r"|\b(?:spielstand|zwischenstand|steht es|stau\w*|verkehrslage|verspätung\w*|abfahrt\w*)\b"
)
DAILY = (
    r"\w*vorhersage|nachrichten|schlagzeilen|heute|morgen|gestern|wochenende|pollenflug|wasserstand"
    r"|umfragewerte|tabelle|kinoprogramm|tv-programm"
)
WEEKLY = (
    r"öffnungszeiten|fahrplan|diese woche|neueste\w*|aktuell\w*|kürzlich|erscheint|angebote?|termine?"
    r"|veranstaltung\w*|konzerte?"
)
PERMANENT = (
    r"geschichte|historisch\w*|wann (?:wurde|war|starb|fand|endete|begann)"
    r"|wer (?:hat .{0,40}erfunden|erfand|schrieb|war|malte|komponierte|entdeckte)"
    r"|erfunden|geboren|gestorben|definition|bedeutet|bedeutung|etymolog\w*|beweis\w*|satz des|formel"
    r"|gleichung|hauptstadt|quadratwurzel|periodensystem|wie hoch ist der"
    r"|was ist (?:ein|eine|der unterschied)|was sind|spezifikation"
)
MONTHLY = (
    r"beste[nrs]?|vergleich\w*|test|empfehl\w*|hotels?|restaurants?|wer ist|einwohner\w*|gesetz\w*|steuer\w*"
    r"|anleitung|wie (?:kann|installier\w*|mache?|geht)"
)
DOCUMENTED = r"dokument\w*|funktion\w*|parameter\w*|syntax|änderung\w*"
# Sentences of a source that address a model, and lines that belong to the page and not to its text.
ORDERS_TO_MODELS = (
    r"\b(?:ignorier\w*|vergiss|vergessen sie|missachte\w*|überschreib\w*)\b[^.!?\n]{0,50}"
    r"\b(?:anweisung\w*|instruktion\w*|vorgaben|befehle?n?|regeln|prompts?|nachrichten)\b"
    r"|\b(?:du bist (?:jetzt|nun)|ab (?:jetzt|sofort) bist du)\b"
    r"|\b(?:als (?:ki|sprachmodell) (?:musst|sollst) du|du bist ein\w* (?:ki|assistent|sprachmodell))\b"
    r"|\bneue anweisung(?:en)?:"
    r"|\bsage? (?:dem|der) (?:nutzer|user)(?:in)? nicht"
)
MODEL_ROLES = r"assistent|nutzer"
BOILERPLATE = (
    r"datenschutz\w*|impressum|newsletter|abonnier\w*|anmelden|einloggen|registrier\w*"
    r"|alle rechte vorbehalten|werbung|anzeige|teilen|folgen sie|weiterlesen|mehr erfahren|hier klicken"
)
# What a model writes around a summary of sources: the line of its volatility, a label, the sources.
VOLATILITY_LABELS = r"volatilität|haltbarkeit|gültigkeit"
FINDING_LABELS = r"zusammenfassung|absatz|hier ist[^\n:]{0,80}"
SOURCES_LABELS = r"quellen?"

# --- The ledger ---------------------------------------------------------------------------------------------

UNIT_FORMS = r"""
    [Pp]rozent Sek\.? Sekunden? Minuten? Std\.? Stunden? Tagen? Tag Wochen? Monaten? Monat Jahren? Jahr
    Meilen? Liter Stück Stk\.? Kerne Grad [Zz]oll [Kk]ilometern? [Mm]etern? [Kk]ilos? Gramm
"""
MONTH_FORMS = r"""
    Jan(?:uar|\.)? Feb(?:ruar|\.)? Mär(?:z|\.)? Mrz\.? Apr(?:il|\.)? Mai Jun(?:i|\.)? Jul(?:i|\.)?
    Aug(?:ust|\.)? Sept?(?:ember|\.)? Okt(?:ober|\.)? Nov(?:ember|\.)? Dez(?:ember|\.)?
"""
STREETS = r"[Ss]traße|[Ss]tr\.|weg|[Pp]latz|[Aa]llee|gasse|ring|damm|ufer"
NUMBER_LABELS = r"[Nn]ummer|[Kk]ennung|[Ss]chlüssel|[Zz]eichen"
# Small words between a count and what is counted.
SMALL_WORDS = """
    was der die das des dem den dies dieses eines als und oder von vom mit aus bis ins uns alles etwas
    bereits links rechts pro über unter nach vor bei durch gegen sind wird hat war ist sowie sondern wurde
    wurden haben hatte oft nur noch auch
"""

# How a model speaks of the person it talks with.
PERSON_REFERENCES = (
    r"(?:der |die )?(?:be)?nutzer(?:in)? "
    r"(?:bevorzugt|mag|möchte|will|wohnt|arbeitet als|spricht|heißt|besitzt)"
)
